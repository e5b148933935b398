/* profile timeline on databases made here; $LAB_EXE is the program. */
#include "test.h"

#include "profile_program.h"
#include "store_samples.h"
#include "timeline_samples.h"
#include "trace/intern.h"

/* The nth span of a name among the lines; NULL: there is none. */
static json_t *span_object(const char *name, int nth)
{
    json_t *o;
    for (int i = 1; (o = line_object(i)); i++) {
        assert_string_equal(text_of(o, "type"), "span");
        if (strcmp(text_of(o, "name"), name) == 0 && nth-- == 0)
            return o;
        json_decref(o);
    }
    return NULL;
}

/* All spans count, also those that are left out. */
static void the_time_is_told_apart(const json_t *o)
{
    assert_int_equal(int_of(o, "kernel_ns"), 115000);
    assert_int_equal(int_of(o, "copy_ns"), 12000);
    assert_int_equal(int_of(o, "launch_ns"), 36000);
    assert_int_equal(int_of(o, "in_steps_ns"), 90000);
    assert_int_equal(int_of(o, "between_ns"), 147000);
    assert_int_equal(int_of(o, "end_ns") - int_of(o, "start_ns"), 400000);
}

TEST_CASE_WITH(a_timeline_as_lines, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_timeline_run(db, NULL));
    assert_int_equal(profile(db, "timeline 1 --iteration 1 --json @"), 0);
    json_t *o = line_object(0);
    assert_string_equal(text_of(o, "type"), "timeline");
    assert_int_equal(int_of(o, "iteration"), 1);
    assert_int_equal(int_of(o, "busy_ns"), 127000);
    the_time_is_told_apart(o);
    assert_int_equal(int_of(o, "gap_longest_ns"), 151000);
    assert_string_equal(text_of(o, "gap_longest_after"), "relu");
    assert_int_equal(int_of(o, "launches"), 5);
    assert_int_equal(int_of(o, "left_out"), 0);
    json_decref(o);
    o = span_object("gemm_tiled", 1);
    assert_string_equal(text_of(o, "lane"), "kernels, stream 7");
    assert_int_equal(int_of(o, "start_ns"), SAMPLE_TIMELINE_START + 1030000);
    assert_int_equal(int_of(o, "latency_ns"), 8000);
    assert_int_equal(int_of(o, "gap_ns"), 16000);
    assert_string_equal(text_of(o, "call"), "cudaLaunchKernel");
    assert_string_equal(text_of(o, "step"), "fc1.matmul");
    assert_string_equal(text_of(o, "phase"), "forward");
    assert_true(json_is_null(json_object_get(o, "graph_node")));
    json_decref(o);
    o = span_object("lost", 0);
    assert_true(json_is_null(json_object_get(o, "start_ns")));
    assert_true(json_is_null(json_object_get(o, "latency_ns")));
    json_decref(o);
    o = span_object("cudaStreamSynchronize", 0);
    assert_int_equal(int_of(o, "thread"), 77);
    json_decref(o);
    assert_int_equal(
        profile(db, "timeline last --iteration 1 --limit 2 --json @"), 0);
    o = line_object(0);
    assert_int_equal(int_of(o, "left_out"), 6 + 5 + 1 + 4);
    the_time_is_told_apart(o);
    assert_int_equal(int_of(o, "latency_median_ns"), 20000);
    assert_int_equal(int_of(o, "latency_max_ns"), 50000);
    json_decref(o);
    assert_null(span_object("relu", 0));
    o = span_object("sgd_weights", 0); /* its step's span need not be listed */
    assert_string_equal(text_of(o, "step"), "sgd");
    assert_false(json_is_null(json_object_get(o, "gap_ns")));
    json_decref(o);
    assert_int_equal(profile(db, "timeline last --iteration 1 --limit 1 @"), 0);
    assert_non_null(
        strstr(output, "kernels, stream 7: 7, busy 125 us; 1 listed"));
    assert_non_null(strstr(output, "\nThe longest of each kind is listed "
                                   "(--limit); the figures are of all.\n"));
    assert_null(strstr(output, "left out"));
}

/* Between the launches of two rungs lie copies and calls that set up and check:
 * they are no part of what is listed, and the time until the next launch is no
 * gap. */
TEST_CASE_WITH(a_lab_is_without_its_set_up, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_timeline_run(db, NULL));
    sample_sql(db, "UPDATE run SET kind = 'lab';"
                   "INSERT INTO lab_row (runId, place, lab, size, rung, "
                   "precision) VALUES (1, 0, 'gemm', '64', 'mma', 'tf32')");
    assert_int_equal(profile(db, "timeline 1 --iteration 1 --json @"), 0);
    json_t *o = line_object(0);
    assert_int_equal(int_of(o, "set_up"), 3); /* and an earlier kernel */
    assert_int_equal(int_of(o, "copies"), 1); /* the memset of a step */
    assert_int_equal(int_of(o, "gaps"), 2);
    assert_int_equal(int_of(o, "gap_sum_ns"), 4000);
    assert_int_equal(int_of(o, "busy_ns"), 127000 - 10000 - 14000);
    json_decref(o);
    assert_null(span_object("Host-to-Device", 0));
    assert_null(span_object("cudaMemcpyAsync", 0));
    o = span_object("relu", 0);
    assert_true(json_is_null(json_object_get(o, "gap_ns")));
    json_decref(o);
    assert_int_equal(profile(db, "timeline 1 --iteration 1 @"), 0);
    assert_non_null(strstr(output, "3 launches of rungs traced: 7 kernels, 103 "
                                   "us on the GPU; 3 spans of set-up and "
                                   "checks between them left out\n"));
}

TEST_CASE_WITH(a_timeline_as_text, NULL, sample_cleanup)
{
    static const char *const says[] = {
        "run 1, iteration 1\n400 us, GPU busy 31.8 %, 7 kernels",
        "\n6 gaps on the GPU, 173 us; longest 151 us: relu to memset\n",
        "\nkernels, stream 7: 7, busy 125 us\n",
        "\n+70.0 us  5.00 us  12.0 us  18.0 us  relu         relu ",
        " sgd_weights  sgd                103\n",
        "    n/a      n/a      n/a      n/a  lost  ",
        "Host-to-Device  -      4096\n"};
    const char *db = sample_path("runs.db");
    assert_ok(sample_timeline_run(db, NULL));
    /* The last iteration with kernels, when none is named. */
    assert_int_equal(profile(db, "timeline 1 --ascii @"), 0);
    for (size_t i = 0; i < sizeof(says) / sizeof(says[0]); i++)
        if (!strstr(output, says[i]))
            fail_msg("no \"%s\" in\n%s", says[i], output);
    assert_int_equal(profile(db, "timeline 1 --iteration 2 @"), 0);
    assert_non_null(strstr(output, "n/a, 1 step, no kernels recorded\n"));
    assert_int_equal(profile(db, "timeline 1 --iteration 7 @"), 3);
    assert_non_null(strstr(errors, "iteration 7 of run 1 was not recorded"));
    assert_ok(sample_timeline_cpu(db, NULL));
    assert_int_equal(profile(db, "timeline 2 @"), 0);
    assert_non_null(strstr(output, "\nsteps: 3, busy 33.0 us\n"));
    assert_null(strstr(output, "kernels, "));
    assert_ok(sample_timeline_empty(db, NULL));
    assert_int_equal(profile(db, "timeline 3 @"), 3);
    assert_non_null(strstr(errors, "no steps and no kernels: "));
}

/* As a run with --trace kernels leaves it. */
TEST_CASE_WITH(without_calls_there_is_no_latency, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_timeline_run(db, NULL));
    assert_int_equal(profile(db, "timeline 1 --ascii @"), 0);
    assert_null(strstr(output, "no CUDA calls"));
    sample_sql(db, "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME");
    sample_sql(db, "DELETE FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION");
    assert_int_equal(profile(db, "timeline 1 --ascii @"), 0);
    assert_non_null(
        strstr(output, "\nlaunch latency n/a: no CUDA calls recorded\n"));
    assert_non_null(strstr(output, "\nkernels, stream 7: 7, busy 125 us\n"));
    assert_null(strstr(output, "\nCUDA calls"));
}

TEST_CASE_WITH(wrong_usage_is_two_bad_input_three, NULL, sample_cleanup)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_timeline_cpu(db, NULL));
    assert_int_equal(profile(db, "timeline @"), 2);
    assert_non_null(strstr(errors, "needs a run"));
    assert_int_equal(profile(db, "timeline 1 1 @"), 2);
    assert_non_null(strstr(errors, "takes one run"));
    assert_int_equal(profile(db, "timeline 1 --iteration x @"), 2);
    assert_non_null(strstr(errors, "--iteration"));
    assert_int_equal(profile(db, "timeline 7 --json @"), 3);
    assert_string_equal(output, "");
    assert_non_null(strstr(errors, "there is no run 7"));
    assert_int_equal(profile(db, "timelien 1 @"), 2);
    assert_non_null(strstr(errors, "did you mean timeline"));
}

RUN_TESTS()
