/* The profile command where something is not there, or is not what it should
 * be; $LAB_EXE is the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/stat.h>

#include "profile_program.h"
#include "store_samples.h"
#include "trace/intern.h"

static int cleanup(void **state)
{
    (void)state;
    sample_dir_remove();
    lab_intern_release();
    return 0;
}

/* Only the command that can help is named, for the same database. */
static void what_is_missing_is_shown_by_the_right_command(void **state)
{
    static const struct {
        const char *args;
        const char *command; /* NULL: none */
    } cases[] = {
        {"show 7 @", "profile list --db "},
        {"compare 1 7 @", "profile list --db "},
        {"baseline best 7 @", "profile list --db "},
        {"compare 1 baseline:none @", "profile baseline --db "},
        {"baseline none @", "profile baseline --db "},
        {"baseline none --remove @", "profile baseline --db "},
        {"timeline 1 --iteration 99 @", NULL},
        {"timeline 2 @", NULL},
        {"show 999999 --recorded", "profile list --recorded` shows"},
    };
    const char *db = sample_path("runs.db");
    (void)state;
    assert_int_equal(sample_run(db, 1, 1, NULL), LAB_OK);
    assert_int_equal(sample_run(db, 1, 1, NULL), LAB_OK);
    sample_sql(
        db,
        "DELETE FROM step WHERE runId = 2; DELETE FROM op_kernel "
        "WHERE runId = 2; DELETE FROM time_sum WHERE runId = 2; DELETE FROM "
        "CUPTI_ACTIVITY_KIND_KERNEL WHERE runId = 2");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *command = cases[i].command;
        int status = profile(db, cases[i].args);
        bool shown = strstr(errors, "shows what there is");
        if (status != 3 || shown != (command != NULL) ||
            (command && !strstr(errors, command)))
            fail_msg("%s: exit %d, %s", cases[i].args, status, errors);
    }
}

static void no_baselines_are_told(void **state)
{
    const char *db = sample_path("runs.db");
    (void)state;
    assert_int_equal(sample_run(db, 1, 1, NULL), LAB_OK);
    assert_int_equal(profile(db, "baseline @"), 0);
    assert_string_equal(output, "");
    assert_non_null(strstr(errors, "baseline NAME RUN"));
    assert_int_equal(profile(db, "baseline best 1 @"), 0);
    assert_int_equal(profile(db, "baseline @"), 0);
    assert_non_null(strstr(output, "best"));
    assert_string_equal(errors, "");
}

/* A pipe nobody writes into would be waited for. */
static void a_pipe_is_no_database(void **state)
{
    const char *pipe = sample_path("pipe.db");
    (void)state;
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(profile(pipe, "list @"), 3);
    assert_non_null(strstr(errors, "pipe.db: not a file"));
    assert_int_equal(profile(pipe, "show 1 @"), 3);
    assert_non_null(strstr(errors, "pipe.db: not a file"));
}

/* A text where a moment should be is no moment, and not 0 either. */
static void a_text_is_no_time(void **state)
{
    const char *db = sample_path("runs.db");
    (void)state;
    assert_int_equal(sample_run(db, 1, 1, NULL), LAB_OK);
    sample_sql(db, "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'abc'");
    assert_int_equal(profile(db, "kernels 1 --json @"), 0);
    json_t *o = line_object(0);
    assert_true(json_is_null(json_object_get(o, "start_ns")));
    assert_true(json_is_null(json_object_get(o, "time_ns")));
    json_decref(o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(what_is_missing_is_shown_by_the_right_command,
                                  cleanup),
        cmocka_unit_test_teardown(no_baselines_are_told, cleanup),
        cmocka_unit_test_teardown(a_pipe_is_no_database, cleanup),
        cmocka_unit_test_teardown(a_text_is_no_time, cleanup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
