/* The profile command where something is not there, or is not what it should
 * be; $LAB_EXE is the program. */
#include "test.h"

#include <sys/stat.h>

#include "lab_samples.h"
#include "profile_program.h"
#include "store_samples.h"
#include "trace/intern.h"

/* Only the command that can help is named, for the same database. */
TEST_CASE_WITH(what_is_missing_is_shown_by_the_right_command, NULL,
               sample_cleanup)
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
    assert_ok(sample_run(db, 1, 1, NULL));
    assert_ok(sample_run(db, 1, 1, NULL));
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

/* What is wrong is the missing format: whether there is such a run was not
 * looked up. */
TEST_CASE_WITH(a_wrong_option_sends_to_no_list, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_run(db, 1, 1, NULL));
    assert_int_equal(profile(db, "export 99 @"), 2);
    assert_non_null(strstr(errors, "export needs --format"));
    assert_null(strstr(errors, "shows what there is"));
    assert_int_equal(profile(db, "export none @"), 2);
    assert_non_null(strstr(errors, "profile list --db "));
}

TEST_CASE_WITH(no_baselines_are_told, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_run(db, 1, 1, NULL));
    assert_int_equal(profile(db, "baseline @"), 0);
    assert_string_equal(output, "");
    assert_non_null(strstr(errors, "baseline NAME RUN"));
    assert_int_equal(profile(db, "baseline best 1 @"), 0);
    assert_int_equal(profile(db, "baseline @"), 0);
    assert_non_null(strstr(output, "best"));
    assert_string_equal(errors, "");
}

/* A pipe nobody writes into would be waited for. */
TEST_CASE_WITH(a_pipe_is_no_database, NULL, sample_cleanup)
{
    const char *pipe = sample_path("pipe.db");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_int_equal(profile(pipe, "list @"), 3);
    assert_non_null(strstr(errors, "pipe.db: not a file"));
    assert_int_equal(profile(pipe, "show 1 @"), 3);
    assert_non_null(strstr(errors, "pipe.db: not a file"));
}

/* A text where a moment should be is no moment, and not 0 either. */
TEST_CASE_WITH(a_text_is_no_time, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_run(db, 1, 1, NULL));
    sample_sql(db, "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'abc'");
    assert_int_equal(profile(db, "kernels 1 --json @"), 0);
    json_t *o = line_object(0);
    assert_true(json_is_null(json_object_get(o, "start_ns")));
    assert_true(json_is_null(json_object_get(o, "time_ns")));
    json_decref(o);
}

/* ---- nothing is empty without a word ---- */

static const struct sample_rung rung = {"mma", "tf32", "64", 30000};

static void drop_rows(const char *db, int run, const char *more)
{
    char sql[1024];
    snprintf(
        sql, sizeof(sql),
        "DELETE FROM op_kernel WHERE runId = %d; DELETE FROM "
        "CUPTI_ACTIVITY_KIND_KERNEL WHERE runId = %d; DELETE FROM time_sum "
        "WHERE runId = %d; UPDATE run SET summed = NULL, kernelRowFirst = "
        "1, kernelRowLast = 0, %s WHERE id = %d",
        run, run, run, more, run);
    sample_sql(db, sql);
}

static void drop_steps(const char *db, int run, const char *more)
{
    char sql[128];
    snprintf(sql, sizeof(sql), "DELETE FROM step WHERE runId = %d", run);
    sample_sql(db, sql);
    drop_rows(db, run, more);
}

enum {
    SWEEP = 1,
    EMPTY,
    STOPPED,
    RUNNING,
    FOREIGN,
    CPU,
    UNTRACED,
    LAB,
    LAB_INTERRUPTED,
    WHOLE
};

/* Runs of every kind that lack something, and one that lacks nothing. */
static const char *make_runs(void)
{
    const char *db = sample_path("runs.db");
    for (int i = SWEEP; i <= UNTRACED; i++)
        assert_ok(sample_run(db, 1, 1, NULL));
    drop_steps(db, SWEEP, "kind = 'lab'");
    sample_sql(db, "INSERT INTO sweep_row (runId, place) VALUES (1, 0)");
    drop_steps(db, EMPTY, "lesson = 'rnn-fibonacci'");
    drop_steps(db, STOPPED, "status = 'cancelled'");
    drop_steps(db, RUNNING, "status = 'running', hostname = 'elsewhere'");
    sample_sql(db, "DELETE FROM step WHERE runId = 5;"
                   "DELETE FROM time_sum WHERE runId = 5;"
                   "UPDATE run SET kind = NULL, summed = NULL WHERE id = 5");
    drop_rows(db, CPU, "backend = 'cpu'");
    drop_rows(db, UNTRACED, "traceState = 'never'");
    for (int i = LAB; i <= LAB_INTERRUPTED; i++)
        assert_ok(sample_lab(db, &rung, 1, false, NULL));
    sample_sql(db, "UPDATE run SET status = 'interrupted' WHERE id = 9");
    assert_ok(sample_lab(db, &rung, 1, true, NULL));
    return db;
}

static const struct {
    int run;
    bool steps;
    bool kernels;
    const char *why; /* no kernels, and what to do */
    const char *instead;
} lacking[] = {
    {SWEEP, false, false, "a sweep times whole iterations", "`profile show`"},
    {EMPTY, false, false, "nothing was recorded of it",
     "lab run rnn-fibonacci --db "},
    {STOPPED, false, false, "it was cancelled before", "to its end"},
    {RUNNING, false, false, "still being recorded", "look again"},
    {FOREIGN, false, true, "imported from an nsys export", "`profile kernels`"},
    {CPU, true, false, "it ran on the CPU", "--backend cuda"},
    {UNTRACED, true, false, "timed without tracing", "--trace on"},
    {LAB, true, false, "not traced", "`lapenna-lab doctor --db "},
    {LAB_INTERRUPTED, true, false, "it was interrupted, and a lab's kernels",
     "to its end"},
    {WHOLE, true, true, NULL, NULL},
};
enum { LACKING = sizeof(lacking) / sizeof(lacking[0]) };

/* What a file calls its lesson is no part of a command that is to be pasted. */
TEST_CASE_WITH(a_name_is_no_command, NULL, sample_cleanup)
{
    static const char *const names[] = {
        "x; touch pwned; `id`",    "--help", "$(id)", "../x", "no-such-lesson",
        "lessons/20-mlp-digits.md"};
    const char *db = sample_path("runs.db");
    char sql[160];
    assert_ok(sample_run(db, 1, 1, NULL));
    drop_rows(db, 1, "traceState = 'never'");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(sql, sizeof(sql), "UPDATE run SET lesson = '%s'", names[i]);
        sample_sql(db, sql);
        assert_int_equal(profile(db, "kernels 1 @"), 0);
        assert_non_null(strstr(errors, "lab run LESSON --trace on"));
        assert_null(strstr(errors, names[i]));
    }
}

/* What a command that wants `wanted` (0: steps, 1: kernels) says of a run. */
static void told(int i, const char *args, bool wanted_kernels)
{
    bool there = wanted_kernels ? lacking[i].kernels : lacking[i].steps;
    const char *named =
        !lacking[i].steps && !lacking[i].kernels && wanted_kernels
            ? "has no steps and no kernels: "
        : wanted_kernels ? "has no kernels: "
                         : "has no steps: ";
    if (there && errors[0])
        fail_msg("%s: %s", args, errors);
    if (!there && (!strstr(errors, named) || !strstr(errors, lacking[i].why) ||
                   !strstr(errors, lacking[i].instead)))
        fail_msg("%s: %s", args, errors);
    /* a line, and no more */
    if (!there && strchr(errors, '\n')[1])
        fail_msg("%s: %s", args, errors);
}

static int command(const char *db, const char *what, int i, char *args,
                   size_t bytes)
{
    snprintf(args, bytes, what, lacking[i].run);
    return profile(db, args);
}

TEST_CASE_WITH(what_a_run_lacks_is_told, NULL, sample_cleanup)
{
    static const struct {
        const char *args;
        bool kernels;
        bool empty; /* without them there is no output */
    } commands[] = {
        {"kernels %d @", true, true},
        {"kernels %d --json @", true, true},
        {"roofline %d @", false, false},
        {"roofline %d --json @", false, false},
        {"export %d --format trace --output - @", true, false},
        {"export %d --format csv --table steps --output - @", false, false},
        {"export %d --format csv --table kernels --output - @", true, false},
    };
    const char *db = make_runs();
    char args[128];
    for (size_t k = 0; k < sizeof(commands) / sizeof(commands[0]); k++) {
        for (int i = 0; i < LACKING; i++) {
            int status = command(db, commands[k].args, i, args, sizeof(args));
            if (status != 0)
                fail_msg("%s: exit %d, %s", args, status, errors);
            told(i, args, commands[k].kernels);
            bool there =
                commands[k].kernels ? lacking[i].kernels : lacking[i].steps;
            if (commands[k].empty)
                assert_int_equal(output[0] == '\0', !there);
        }
    }
}

/* An nsys export goes into a file; it is there, and valid. */
TEST_CASE_WITH(an_nsys_export_says_what_it_lacks, NULL, sample_cleanup)
{
    const char *db = make_runs();
    char args[1024];
    char what[900];
    snprintf(what, sizeof(what),
             "export %%d --format nsys --force --output '%s' @",
             sample_path("x.sqlite"));
    for (int i = 0; i < LACKING; i++) {
        assert_int_equal(command(db, what, i, args, sizeof(args)), 0);
        told(i, args, true);
        assert_int_equal(
            sample_int(sample_path("x.sqlite"),
                       "SELECT count(*) FROM sqlite_master WHERE name = "
                       "'CUPTI_ACTIVITY_KIND_KERNEL'"),
            lacking[i].kernels);
    }
}

/* A table with a head alone is no answer. */
TEST_CASE_WITH(tables_are_not_empty, NULL, sample_cleanup)
{
    const char *db = make_runs();
    char args[128];
    for (int i = 0; i < LACKING; i++) {
        assert_int_equal(command(db, "show %d @", i, args, sizeof(args)), 0);
        assert_int_equal(strstr(output, "  kernels\n") != NULL,
                         lacking[i].steps);
        if (lacking[i].run != SWEEP) /* its places are shown */
            told(i, args, false);
        assert_int_equal(command(db, "roofline %d @", i, args, sizeof(args)),
                         0);
        assert_int_equal(strstr(output, "step, kernel") != NULL,
                         lacking[i].steps);
        /* an iteration that is not there is none; what is there is shown */
        bool some = lacking[i].steps || lacking[i].kernels;
        int status = command(db, "timeline %d @", i, args, sizeof(args));
        assert_int_equal(status, some ? 0 : 3);
        if (!some)
            told(i, args, true);
        else
            assert_string_equal(errors, "");
    }
    assert_int_equal(profile(db, "compare 1 1 @"), 0);
    told(0, "compare 1 1", true);
    assert_int_equal(profile(db, "compare 10 10 @"), 0);
    assert_string_equal(errors, "");
}

TEST_CASE_WITH(tables_of_labs_are_told, NULL, sample_cleanup)
{
    static const struct {
        const char *table;
        const char *words;
        bool of_sweep;
        bool of_lab;
    } tables[] = {
        {"losses", "has no losses: only a lesson", false, false},
        {"rungs", "has no rungs: only a lab", false, true},
        {"sweeps", "has no places of a sweep: only a sweep", true, false},
        {"said", "has no predictions: nothing was predicted", false, false},
        {"tuned", "has no winners of a tuning: nothing was", false, false},
        {"all", "", true, true},
    };
    const char *db = make_runs();
    sample_sql(db, "DELETE FROM loss");
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        for (int lab = 0; lab < 2; lab++) {
            char args[128];
            snprintf(args, sizeof(args),
                     "export %d --format csv --table %s --output - @",
                     lab ? WHOLE : SWEEP, tables[i].table);
            assert_int_equal(profile(db, args), 0);
            if (lab ? tables[i].of_lab : tables[i].of_sweep)
                assert_string_equal(errors, "");
            else if (!strstr(errors, tables[i].words))
                fail_msg("%s: %s", args, errors);
        }
    }
}

TEST_CASE_WITH(a_database_without_runs_is_told, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_run(db, 1, 1, NULL));
    assert_int_equal(profile(db, "list @"), 0);
    assert_string_equal(errors, "");
    assert_int_equal(profile(db, "delete 1 @"), 0);
    for (int json = 0; json < 2; json++) {
        assert_int_equal(profile(db, json ? "list --json @" : "list @"), 0);
        assert_string_equal(output, "");
        assert_non_null(strstr(errors, "no run is in "));
    }
}

RUN_TESTS()
