/* import_sample.h -- importing a file, and what became of it. */
#pragma once
#include "store/import.h"
#include "store_samples.h"

struct seen {
    int imported;
    int skipped;
    int64_t as;
    int64_t steps;
    int64_t kernels;
    char uuid[96];
    char reason[64];
    char user[64];
};

/* A test of two databases that are not there yet, with the `seen` of an import. */
#define IMPORT_CASE(name)                                                      \
    TEST_CASE_OF(name, import_setup, sample_cleanup, struct seen *s)
extern const char *here;
extern const char *theirs;
int import_setup(void **state);
void see_import(void *user, const struct lab_imported *run); /* struct seen */
/* Imports `file` into the database at `db_path`. `options` and `seen` may be
 * NULL. */
enum lab_status import(const char *db_path, const char *file,
                       const struct lab_import_options *options,
                       struct seen *seen);
/* A number for what is in a database: all rows of all tables. */
int64_t size_of(const char *path);
