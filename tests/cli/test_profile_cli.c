/* The profile command on databases made here; $LAB_EXE is the program. */
#include "test.h"

#include <jansson.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile_program.h"
#include "store_samples.h"
#include "trace/intern.h"

TEST_CASE_WITH(lists_runs, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_run(db, 1, 2, NULL));
    assert_ok(sample_run(db, 2, 2, NULL));
    assert_int_equal(profile(db, "list --json @"), 0);
    assert_string_equal(errors, "");
    for (int i = 0; i < 2; i++) {
        json_t *o = line_object(i);
        assert_string_equal(text_of(o, "type"), "run");
        assert_int_equal(int_of(o, "run"), 2 - i);
        assert_string_equal(text_of(o, "lesson"), "mlp-digits");
        assert_string_equal(text_of(o, "backend"), "cuda");
        assert_string_equal(text_of(o, "device"), "NVIDIA H200");
        assert_int_equal(strlen(text_of(o, "started")), 24);
        assert_true(json_is_null(json_object_get(o, "accuracy")));
        json_decref(o);
    }
    assert_null(line_object(2));
    assert_int_equal(profile(db, "list @"), 0);
    assert_non_null(strstr(output, "started (UTC)"));
    assert_non_null(strstr(output, "NVIDIA H200\n"));
}

TEST_CASE_WITH(the_list_has_the_gpu_time, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_run(db, 3, 2, NULL));
    sample_sql(db, "UPDATE run SET iterations = 3, iterationMedian_ns = "
                   "25771000, samples_per_s = 620");
    assert_int_equal(profile(db, "list --json @"), 0);
    json_t *o = line_object(0);
    assert_int_equal(int_of(o, "gpu_ns"), 2 * 1500 + 1);
    assert_int_equal(int_of(o, "iteration_median_ns"), 25771000);
    json_decref(o);
    assert_int_equal(profile(db, "list @"), 0);
    assert_non_null(strstr(output, "   median  GPU time "));
    assert_non_null(strstr(output, "  25.8 ms   3.00 us "));
    assert_null(strstr(output, "first"));
    /* a lab has no iterations */
    sample_sql(db, "UPDATE run SET kind = 'lab'");
    assert_int_equal(profile(db, "list --json @"), 0);
    o = line_object(0);
    assert_true(json_is_null(json_object_get(o, "gpu_ns")));
    json_decref(o);
    sample_sql(db, "UPDATE run SET kind = 'lesson'");
    /* a CPU's steps are in its wall time; one iteration is a start */
    sample_sql(db, "UPDATE run SET backend = 'cpu', iterations = 1");
    assert_int_equal(profile(db, "list --json @"), 0);
    o = line_object(0);
    assert_true(json_is_null(json_object_get(o, "gpu_ns")));
    json_decref(o);
    assert_int_equal(profile(db, "list @"), 0);
    assert_non_null(strstr(output, "  first: 25.8 ms       n/a "));
    assert_non_null(strstr(output, "\nfirst: the wall time of the only "
                                   "iteration; on a GPU"));
}

/* A rate of a few iterations is one of a start, as their median is. */
TEST_CASE_WITH(few_iterations_are_said, NULL, sample_cleanup)
{
    static const char with[] = " (of 4 iterations, the first among them: "
                               "loading kernels and libraries is in that "
                               "one)\n";
    const char *db = sample_path("runs.db");
    char expected[120];
    assert_ok(sample_run(db, 3, 2, NULL));
    sample_sql(db, "UPDATE run SET iterations = 4, iterationMedian_ns = "
                   "25771000, samples_per_s = 620");
    assert_int_equal(profile(db, "show 1 @"), 0);
    snprintf(expected, sizeof(expected), " 25.8 ms%s", with);
    assert_non_null(strstr(output, expected));
    snprintf(expected, sizeof(expected), " 620%s", with);
    assert_non_null(strstr(output, expected));
    sample_sql(db, "UPDATE run SET iterations = 5");
    assert_int_equal(profile(db, "show 1 @"), 0);
    assert_non_null(strstr(output, " 620\n"));
    assert_null(strstr(output, "the first"));
}

TEST_CASE_WITH(shows_steps_and_kernels, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_run(db, 3, 2, NULL));
    assert_int_equal(profile(db, "show last --json @"), 0);
    json_t *o = line_object(0);
    assert_string_equal(text_of(o, "type"), "run");
    json_decref(o);
    o = line_object(2);
    assert_string_equal(text_of(o, "type"), "step");
    assert_string_equal(text_of(o, "name"), "fc1.matmul");
    assert_int_equal(int_of(o, "median_ns"), 1501);
    assert_int_equal(int_of(o, "count"), 3);
    assert_int_equal(int_of(o, "kernels"), 2);
    json_decref(o);
    o = line_object(3);
    assert_string_equal(text_of(o, "type"), "loss");
    json_decref(o);
    assert_int_equal(profile(db, "kernels 1 --json @"), 0);
    int64_t sum = 0;
    int n = 0;
    for (; (o = line_object(n)); n++) {
        assert_string_equal(text_of(o, "type"), "kernel");
        assert_string_equal(text_of(o, "short_name"), "matmul");
        assert_string_equal(text_of(o, "occupancy_limit"), "registers+shared");
        assert_int_equal(json_array_size(json_object_get(o, "grid")), 3);
        assert_true(json_is_null(json_object_get(o, "shared_executed_bytes")));
        sum += int_of(o, "time_ns");
        json_decref(o);
    }
    assert_int_equal(n, 12);
    assert_int_equal(sum, 3 * (1000 + 1001 + 2 * 500));
    assert_int_equal(
        profile(db, "kernels 1 --sort time --reverse --limit 3 --json @"), 0);
    o = line_object(0);
    assert_int_equal(int_of(o, "time_ns"), 1001);
    json_decref(o);
    assert_null(line_object(3));
    assert_int_equal(profile(db, "show 1 @"), 0);
    assert_non_null(strstr(output, "fc1.matmul"));
    assert_non_null(strstr(output, "1.50 us"));
    assert_int_equal(profile(db, "kernels 1 @"), 0);
    assert_non_null(strstr(output, "3x2"));
}

static void merges(const char *db)
{
    char args[1600];
    json_t *o;
    /* a bad file in the middle keeps nobody out */
    snprintf(args, sizeof(args), "merge '%s' '%s' '%s' --json @",
             sample_path("anna.db"), sample_path("bad.db"),
             sample_path("ben.db"));
    assert_int_equal(profile(db, args), 3);
    assert_non_null(strstr(errors, "bad.db"));
    o = line_object(0);
    assert_true(json_is_true(json_object_get(o, "skipped")));
    json_decref(o);
    o = line_object(1);
    assert_int_equal(int_of(o, "as"), 2);
    json_decref(o);
    o = line_object(2);
    assert_string_equal(text_of(o, "type"), "summary");
    assert_int_equal(int_of(o, "imported"), 1);
    assert_int_equal(int_of(o, "skipped"), 1);
    assert_int_equal(int_of(o, "refused"), 1);
    json_decref(o);
    assert_int_equal(profile(db, "show 1 @"), 0);
    assert_non_null(strstr(output, "anna.db"));
    assert_int_equal(profile(db, "compare 1 2 @"), 0);
    assert_int_equal(profile(db, "import /nowhere/x.db @"), 3);
    assert_int_equal(profile(db, "import @"), 2);
    snprintf(args, sizeof(args), "import '%s' '%s' @", sample_path("anna.db"),
             sample_path("ben.db"));
    assert_int_equal(profile(db, args), 2);
}

TEST_CASE_WITH(imports_and_merges, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    char args[1600];
    json_t *o;
    assert_ok(sample_run(sample_path("anna.db"), 1, 2, NULL));
    assert_ok(sample_run(sample_path("ben.db"), 2, 2, NULL));
    FILE *f = fopen(sample_path("bad.db"), "w");
    assert_non_null(f);
    fputs("\033[2Jnot a database, whatever its name says", f);
    fclose(f);
    /* the database is made */
    snprintf(args, sizeof(args), "import '%s' --label anna --dry-run @",
             sample_path("anna.db"));
    assert_int_equal(profile(db, args), 0);
    assert_non_null(strstr(output, "would be copied, 2 steps, 4 kernels"));
    assert_non_null(strstr(output, "would copy 1 run, skipped 0"));
    snprintf(args, sizeof(args), "import '%s' --label anna --json @",
             sample_path("anna.db"));
    assert_int_equal(profile(db, args), 0);
    o = line_object(0);
    assert_string_equal(text_of(o, "type"), "imported");
    assert_string_equal(text_of(o, "user"), "anna");
    assert_int_equal(int_of(o, "as"), 1);
    json_decref(o);
    assert_int_equal(profile(db, "list @"), 0); /* whose they are */
    assert_non_null(strstr(output, "user"));
    assert_non_null(strstr(output, "anna"));
    merges(db);
}

TEST_CASE_WITH(deletes_runs, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_run(db, 1, 2, NULL));
    assert_ok(sample_run(db, 1, 2, NULL));
    /* a wrong word deletes nothing, and nothing goes twice */
    assert_int_equal(profile(db, "delete last 7 @"), 3);
    assert_int_equal(sample_int(db, "SELECT count(*) FROM run"), 2);
    assert_int_equal(profile(db, "delete 1 1 @"), 0);
    assert_non_null(strstr(output, "deleted run 1: 2 steps, 4 kernels"));
    assert_int_equal(profile(db, "delete 1 @"), 3);
    assert_non_null(strstr(errors, "profile list"));
    assert_int_equal(profile(db, "list --json @"), 0);
    assert_null(line_object(1));
    assert_int_equal(profile(db, "delete 2 --json @"), 0);
    json_t *o = line_object(0);
    assert_string_equal(text_of(o, "type"), "deleted");
    assert_int_equal(int_of(o, "kernels"), 4);
    json_decref(o);
}

TEST_CASE_WITH(vacuum_gives_the_room_of_deleted_runs_back, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_run(db, 1, 2, NULL));
    assert_ok(sample_run(db, 3000, 2, NULL));
    assert_int_equal(profile(db, "delete 2 @"), 0);
    assert_non_null(strstr(output, "of the file are free for new runs; "));
    assert_non_null(strstr(output, "profile vacuum --db "));
    assert_true(sample_int(db, "PRAGMA freelist_count") > 10);
    assert_int_equal(profile(db, "vacuum 1 @"), 2);
    assert_int_equal(profile(db, "vacuum --json @"), 0);
    json_t *o = line_object(0);
    assert_string_equal(text_of(o, "type"), "vacuum");
    assert_true(int_of(o, "after_bytes") * 2 < int_of(o, "before_bytes"));
    json_decref(o);
    assert_int_equal(sample_int(db, "PRAGMA freelist_count"), 0);
    assert_int_equal(sample_int(db, "SELECT count(*) FROM run"), 1);
    /* Nothing is free now: nothing is said of it. */
    assert_int_equal(profile(db, "vacuum @"), 0);
    assert_non_null(strstr(output, "the file was "));
}

static const struct {
    const char *args;
    int status;
    const char *word;
} wrong_usage[] = {
    {"@", 2, "list, show"},
    {"compare 1 @", 2, "takes two runs"},
    {"compare 1 2 --sort time @", 2, "difference, share"},
    {"compare 1 1 --fail-above x @", 2, "--fail-above"},
    {"compare 1 7 @", 3, "there is no run 7"},
    {"compare 1 baseline:none @", 3, "there is no baseline 'none'"},
    {"compare 1 baseline:../x @", 2, "no name for a baseline"},
    {"baseline a/b 1 @", 2, "no name for a baseline"},
    {"baseline best 7 @", 3, "there is no run 7"},
    {"baseline best --remove @", 3, "there is no baseline 'best'"},
    {"shwo 1 @", 2, "did you mean show"},
    {"list 1 @", 2, "takes no run"},
    {"show @", 2, "needs a run"},
    {"show 1 1 @", 2, "takes one run"},
    {"show one @", 2, "'one' is not a run"},
    {"show @ -- -1", 2, "not a run"},
    {"show 1 --sort medain @", 2, "did you mean median"},
    {"kernels 1 --limit x @", 2, "--limit"},
    {"list --frobnicate @", 2, "frobnicate"},
    {"show 7 @", 3, "there is no run 7"},
    {"kernels 7 --json @", 3, "there is no run 7"},
    {"list --db /nowhere/at/all.db", 3, "/nowhere/at/all.db"},
    {"list --limit 2 @", 2, "no --limit here: it takes --db, --json"},
    {"list --sort name @", 2, "no --sort here"},
    {"list --format csv @", 2, "no --format here"},
    {"--limit 2 list @", 2, "no --limit here"},
    {"show 1 --limit 2 @", 2, "--reverse, --recorded"},
    {"kernels 1 --fail-above 5 @", 2, "no --fail-above here"},
    {"--lim 2 kernels 1 --fail-above 5 @", 2, "no --fail-above here"},
    {"timeline 1 --sort time @", 2, "--limit, --iteration"},
    {"export 1 --json --format csv --output - @", 2, "no --json here"},
    {"delete 1 --force @", 2, "no --force here"},
};

TEST_CASE_WITH(wrong_usage_is_two_bad_input_three, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_run(db, 1, 1, NULL));
    for (size_t i = 0; i < sizeof(wrong_usage) / sizeof(wrong_usage[0]); i++) {
        int status = profile(db, wrong_usage[i].args);
        if (status != wrong_usage[i].status ||
            !strstr(errors, wrong_usage[i].word))
            fail_msg("%s: exit %d, %s", wrong_usage[i].args, status, errors);
        assert_string_equal(output, "");
    }
    assert_int_equal(profile(db, "--help"), 0);
    assert_non_null(strstr(output, "compare"));
}

TEST_CASE_WITH(nothing_recorded_is_no_error, NULL, sample_cleanup)
{
    setenv("XDG_STATE_HOME", sample_dir(), 1);
    assert_int_equal(profile("", "list --json"), 0);
    assert_string_equal(output, "");
    assert_non_null(strstr(errors, "profiles.db"));
    assert_int_equal(profile("", "show last"), 3);
    assert_non_null(strstr(errors, "no run has been recorded yet"));
    assert_int_equal(profile("", "baseline"), 0);
    assert_non_null(strstr(errors, "no run has been recorded yet"));
    assert_int_equal(profile("", "baseline best"), 3);
    assert_int_equal(access(sample_path("lapenna-lab"), F_OK), -1);
}

TEST_CASE_WITH(hostile_names_are_only_shown, NULL, sample_cleanup)
{
    static const char evil[] = "\033]0;owned\007\033[2J\xc2\x9b"
                               "31m\xff\r";
    const char *db = sample_path("runs.db");
    struct lab_run_summary summary;
    struct lab_run_info info;
    struct lab_writer *writer;
    lab_run_info_init(&info);
    lab_run_summary_init(&summary);
    info.lesson = info.title = info.lesson_path = info.backend = evil;
    info.device.name = info.variants = info.commit = evil;
    assert_ok(lab_writer_new(&writer, db, &info, NULL));
    struct lab_sink sink = lab_writer_sink(writer);
    struct lab_record r = sample_step(1, 0, 0, LAB_TIME_CUPTI, LAB_UNKNOWN);
    r.u.step.name = r.u.step.variant = lab_intern(evil);
    sink.push(sink.user, &r);
    r = sample_kernel(1, 5, 5);
    r.u.kernel.demangled_name = r.u.kernel.short_name = lab_intern(evil);
    sink.push(sink.user, &r);
    assert_ok(lab_writer_finish(writer, &summary));
    lab_writer_free(writer);
    static const char *const args[] = {"list @",
                                       "show 1 @",
                                       "kernels 1 @",
                                       "show 1 --ascii @",
                                       "list @ --json",
                                       "show 1 @ --json",
                                       "kernels 1 @ --json",
                                       "compare 1 1 @",
                                       "compare 1 1 @ --json"};
    for (size_t i = 0; i < sizeof(args) / sizeof(args[0]); i++) {
        assert_int_equal(profile(db, args[i]), 0);
        assert_true(strlen(output) > 0);
        for (const char *p = output; *p; p++) {
            if ((unsigned char)*p < 0x20 && *p != '\n')
                fail_msg("%s: byte %02X", args[i], (unsigned char)*p);
            if ((unsigned char)*p == 0x9b || (unsigned char)*p == 0xff)
                fail_msg("%s: byte %02X", args[i], (unsigned char)*p);
        }
    }
    sample_sql(db, "UPDATE run SET device = 'Caf\xc3\xa9'");
    setenv("LC_ALL", "C", 1);
    assert_int_equal(profile(db, "show 1 @"), 0);
    setenv("LC_ALL", "C.UTF-8", 1);
    assert_non_null(strstr(output, "Caf?"));
}

RUN_TESTS()
