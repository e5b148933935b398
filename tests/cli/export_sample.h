/* export_sample.h -- a run with a bit of everything, for the tests of exports. */
#pragma once

/* A GPU run of three iterations of four steps, with a call, a copy and a range
 * for each step, and names that mean something in every format. */
void record_gpu_run(const char *path);
/* Adds to run 1 a ladder of three variants, with what was expected of it and a winner
 * of a tuning; and a sweep of one place. */
void sample_ladder(const char *path);
void sample_sweep(const char *path);
/* Exports run 1 of `db` into the sample file `name`; its text (test_free). */
char *export_as(const char *db, const char *format, const char *name);
/* Fails the test when there is one besides line ends. */
void no_control_byte(const char *text);
int export_setup(void **state);
int export_cleanup(void **state);
/* A test with these fixtures and the path `db` of a database with that GPU run. */
#define PROFILE_CASE(name)                                                     \
    TEST_CASE_OF(name, export_setup, export_cleanup, const char *db)
