/* `profile compare` on databases made here; $LAB_EXE is the program. */
#include "test.h"

#include <jansson.h>

#include "profile_program.h"
#include "store_samples.h"

/* Makes run 2 a third slower in one step, and adds it up anew. */
static void make_slower(const char *db)
{
    sample_sql(db, "UPDATE step SET time_ns = time_ns * 4 / 3 WHERE runId = 2 "
                   "AND stepIndex = 1;"
                   "DELETE FROM time_sum WHERE runId = 2;"
                   "UPDATE run SET summed = NULL, variants = 'fc=other' WHERE "
                   "id = 2");
}

static void lines_fit_80_columns(void)
{
    for (const char *p = output; *p;) {
        size_t n = strcspn(p, "\n");
        if (n > 80)
            fail_msg("%zu columns: %.*s", n, (int)n, p);
        p += n + (p[n] == '\n');
    }
}

TEST_CASE_WITH(compares_runs, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_run(db, 20, 4, NULL));
    assert_ok(sample_run(db, 20, 4, NULL));
    assert_int_equal(profile(db, "compare 1 2 --fail-above 5% @"), 0);
    assert_null(strstr(output, "slower"));
    make_slower(db);
    assert_int_equal(profile(db, "compare 1 2 @"), 0);
    /* what had to be added up is kept for the next time */
    assert_int_equal(sample_int(db, "SELECT summed FROM run WHERE id = 2"), 1);
    assert_non_null(strstr(output, "slower"));
    assert_non_null(strstr(output, "  other\n")); /* of "fc=other" */
    assert_non_null(strstr(output, "all steps"));
    assert_non_null(strstr(output, "0.75x"));
    lines_fit_80_columns();
    assert_int_equal(profile(db, "compare 1 2 --fail-above 5% @"), 1);
    assert_non_null(strstr(errors, "slower by more than 5 %"));
    assert_int_equal(profile(db, "compare 1 2 --fail-above 0.4 @"), 0);
    /* the second is faster: nothing to fail for */
    assert_int_equal(profile(db, "compare 2 1 --fail-above 5% @"), 0);
    /* a long name is cut in its middle */
    sample_sql(db, "UPDATE StringIds SET value = 'encoder.layer17.attention."
                   "self.query_key_value.matmul' WHERE value = 'fc1.matmul'");
    setenv("COLUMNS", "80", 1);
    assert_int_equal(profile(db, "compare 1 2 1 @"), 0);
    lines_fit_80_columns();
    unsetenv("COLUMNS");
    /* where the variants are the same the first node that differs is shown */
    sample_sql(db, "UPDATE run SET variants = CASE id WHEN 1 THEN "
                   "'conv1=fused fc1=fused fc2=warp' ELSE "
                   "'conv1=fused fc1=warp fc2=fused conv3=fused' END");
    assert_int_equal(profile(db, "compare 1 2 @"), 0);
    assert_non_null(strstr(output, "  fc1=fused fc2=warp "));
    assert_non_null(strstr(output, "  fc1=warp fc2=fused conv3=fused"));
}

/* In the text: what is known, and of what is not why. */
TEST_CASE_WITH(compare_says_where_the_time_goes, NULL, sample_cleanup)
{
    static const char *const lines[] = {
        "wall time             1    share        2    share      diff\n",
        "kernels ",
        "launch latency        -        -        -        -         -\n",
        "all of it",
        "Iteration 1 of run 1, the median of 3 recorded.\n",
        "- of run 2: it ran on the CPU:\n"
        "    kernels, copies, sets, launch latency\n"};
    const char *db = sample_path("runs.db");
    assert_ok(sample_run(db, 3, 2, NULL));
    assert_ok(sample_run(db, 3, 2, NULL));
    sample_sql(db, "UPDATE run SET backend = 'cpu' WHERE id = 2;"
                   "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE runId = 2;"
                   "DELETE FROM op_kernel WHERE runId = 2;");
    assert_int_equal(profile(db, "compare 1 2 @"), 0);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        if (!strstr(output, lines[i]))
            fail_msg("no \"%s\" in\n%s", lines[i], output);
    lines_fit_80_columns();
    assert_int_equal(profile(db, "compare 1 1 @"), 0);
    assert_non_null(strstr(output, "- of both runs: no CUDA call"));
    sample_sql(db, "UPDATE run SET kind = 'lab'");
    assert_int_equal(profile(db, "compare 1 2 @"), 0);
    assert_non_null(strstr(output, "time goes:\n- of both runs: a lab's "
                                   "repeats are no iterations\n\n"));
    assert_null(strstr(output, "launch latency"));
}

/* Two steps of long names never become the same row, and a file has room. */
TEST_CASE_WITH(compared_names_differ, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_run(db, 5, 2, NULL));
    assert_ok(sample_run(db, 5, 2, NULL));
    sample_sql(db, "UPDATE StringIds SET value = 'encoder.layer17.attention."
                   "self.output' WHERE value = 'fc0.matmul';"
                   "UPDATE StringIds SET value = 'encoder.layer18.attention."
                   "self.output' WHERE value = 'fc1.matmul';"
                   "UPDATE step SET phase = 0; DELETE FROM time_sum;"
                   "UPDATE run SET summed = NULL");
    setenv("COLUMNS", "80", 1);
    assert_int_equal(profile(db, "compare 1 2 @"), 0);
    unsetenv("COLUMNS");
    lines_fit_80_columns();
    assert_non_null(strstr(output, "layer17.."));
    assert_non_null(strstr(output, "layer18.."));
    assert_int_equal(profile(db, "compare 1 2 @"), 0);
    assert_non_null(strstr(output, "encoder.layer17.attention.self.output "));
    assert_null(strstr(output, ".."));
    sample_sql(db, "DELETE FROM step WHERE runId = 1 AND stepIndex = 1;"
                   "DELETE FROM time_sum; UPDATE run SET summed = NULL");
    assert_int_equal(profile(db, "compare 1 2 @"), 0);
    assert_non_null(strstr(output, "only 2\n"));
    assert_null(strstr(output, "only b"));
}

/* A script must not take silence for approval. */
TEST_CASE_WITH(what_cannot_be_judged_does_not_pass, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_run(db, 2, 2, NULL));
    assert_ok(sample_run(db, 2, 2, NULL));
    assert_int_equal(profile(db, "compare 1 2 @"), 0);
    assert_non_null(strstr(output, "too few"));
    assert_non_null(strstr(output, "-  too few")); /* no p without a test */
    assert_int_equal(profile(db, "compare 1 2 --fail-above 5% @"), 3);
    assert_non_null(strstr(errors, "more iterations, 4 at the least"));
    assert_int_equal(profile(db, "compare 1 2 --fail-above 5% --json @"), 3);
    assert_non_null(strstr(output, "\"failed\":null"));
    assert_non_null(strstr(output, "\"p\":null"));
}

/* From line `first` on; returns how many there are. */
static int wall_lines_add_up(int first)
{
    static const char *const sides[] = {"ns_a", "ns_b"};
    int64_t sum[2] = {0, 0};
    json_t *o;
    int n = 0;
    bool all = false;
    for (; !all && (o = line_object(first + n)); n++) {
        assert_string_equal(text_of(o, "type"), "wall");
        all = strcmp(text_of(o, "part"), "all") == 0;
        for (int i = 0; i < 2; i++) {
            bool known = json_is_integer(json_object_get(o, sides[i]));
            const char *why = text_of(o, i ? "why_b" : "why_a");
            assert_int_equal(known, strcmp(why, "(none)") == 0);
            if (all)
                assert_int_equal(int_of(o, sides[i]), sum[i]);
            else if (known)
                sum[i] += int_of(o, sides[i]);
        }
        json_decref(o);
    }
    assert_true(all && sum[0] > 0 && sum[1] > 0);
    return n;
}

TEST_CASE_WITH(compare_lines_are_json, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    json_t *o;
    bool step_seen = false;
    assert_ok(sample_run(db, 20, 4, NULL));
    assert_ok(sample_run(db, 20, 4, NULL));
    make_slower(db);
    assert_int_equal(profile(db, "baseline first 2 @"), 0);
    assert_string_equal(errors, "");
    assert_int_equal(profile(db, "baseline first 1 @"), 0);
    assert_non_null(strstr(errors, "first was run 2 and is now run 1"));
    assert_int_equal(profile(db, "baseline --json @"), 0);
    o = line_object(0);
    assert_string_equal(text_of(o, "name"), "first");
    assert_int_equal(int_of(o, "run"), 1);
    json_decref(o);
    assert_int_equal(
        profile(db, "compare baseline:first last --fail-above 5% --json @"), 1);
    o = line_object(0);
    assert_string_equal(text_of(o, "type"), "compare");
    assert_string_equal(text_of(o, "test"), "mann-whitney-u");
    assert_int_equal(int_of(o, "least_count"), 4);
    json_decref(o);
    o = line_object(1);
    assert_string_equal(text_of(o, "type"), "difference");
    assert_string_equal(text_of(o, "what"), "variants");
    json_decref(o);
    int n = 2 + wall_lines_add_up(2);
    for (; (o = line_object(n)) && !strcmp(text_of(o, "type"), "comparison");
         n++) {
        if (!strcmp(text_of(o, "name"), "fc1.matmul") &&
            !strcmp(text_of(o, "level"), "step")) {
            step_seen = true;
            assert_string_equal(text_of(o, "verdict"), "slower");
            assert_true(json_real_value(json_object_get(o, "p")) < 0.001);
            assert_int_equal(int_of(json_object_get(o, "run_b"), "timed"), 20);
        }
        json_decref(o);
    }
    assert_true(step_seen);
    assert_string_equal(text_of(o, "type"), "verdict");
    assert_true(json_is_true(json_object_get(o, "failed")));
    json_decref(o);
    assert_null(line_object(n + 1));
    sample_sql(db, "UPDATE run SET lesson = 'cnn-digits' WHERE id = 2");
    assert_int_equal(profile(db, "compare 1 2 --json @"), 3);
    assert_string_equal(output, "");
    assert_non_null(strstr(errors, "cnn-digits"));
}

/* Times that were taken under another state of the trace are not the same. */
TEST_CASE_WITH(compare_warns_of_the_trace, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_run(db, 3, 2, NULL));
    assert_ok(sample_run(db, 3, 2, NULL));
    assert_int_equal(profile(db, "compare 1 2 @"), 0);
    assert_null(strstr(errors, "tracing"));
    sample_sql(db, "UPDATE run SET traceState = 'on'");
    assert_int_equal(profile(db, "compare 1 2 @"), 0);
    assert_null(strstr(errors, "tracing"));
    sample_sql(db, "UPDATE run SET traceState = 'never' WHERE id = 2");
    assert_int_equal(profile(db, "compare 1 2 @"), 0);
    assert_non_null(strstr(errors, "run 1 was timed with tracing on, run 2 "
                                   "without tracing"));
    assert_int_equal(profile(db, "show 2 @"), 0);
    assert_non_null(strstr(output, "without tracing"));
    assert_int_equal(profile(db, "list --json @"), 0);
    json_t *o = line_object(0);
    assert_string_equal(text_of(o, "trace"), "never");
    json_decref(o);
    sample_sql(db, "UPDATE run SET traceState = 'kernels' WHERE id = 2");
    assert_int_equal(profile(db, "compare 1 2 @"), 0);
    assert_non_null(strstr(errors, "run 1 was timed with tracing on, run 2 "
                                   "with kernels traced and no calls"));
    assert_int_equal(profile(db, "show 2 @"), 0);
    assert_non_null(strstr(output, "with kernels traced and no calls"));
}

RUN_TESTS()
