/* The profile command on databases made here; $LAB_EXE is the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store_samples.h"
#include "timeline_samples.h"
#include "trace/intern.h"

static char output[1 << 20];
static char errors[1 << 16];

static int cleanup(void **state)
{
    (void)state;
    sample_dir_remove();
    lab_intern_release();
    return 0;
}

/* Runs `lapenna-lab profile ARGS`; @ in ARGS is the database. */
static int profile(const char *db, const char *args)
{
    char command[4096];
    size_t n = (size_t)snprintf(command, sizeof(command), "'%s' profile ",
                                getenv("LAB_EXE"));
    for (; *args && n < sizeof(command) - 600; args++) {
        if (*args == '@')
            n += (size_t)snprintf(command + n, 512, "--db '%s'", db);
        else
            command[n++] = *args;
    }
    snprintf(command + n, sizeof(command) - n, " </dev/null 2>'%s'",
             sample_path("stderr"));
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    output[fread(output, 1, sizeof(output) - 1, pipe)] = '\0';
    int status = pclose(pipe);
    FILE *f = fopen(sample_path("stderr"), "r");
    assert_non_null(f);
    errors[fread(errors, 1, sizeof(errors) - 1, f)] = '\0';
    fclose(f);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* The nth line of the output as an object; NULL after the last. */
static json_t *line_object(int nth)
{
    const char *line = output;
    json_error_t error;
    for (; nth > 0 && line; nth--) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    if (!line || !*line)
        return NULL;
    size_t length = strcspn(line, "\n");
    json_t *object = json_loadb(line, length, 0, &error);
    if (!json_is_object(object))
        fail_msg("not an object: %.*s", (int)length, line);
    return object;
}

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "(none)";
}

static int64_t int_of(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    if (!json_is_integer(v))
        fail_msg("%s is not an integer", key);
    return json_integer_value(v);
}

static void lists_runs(void **state)
{
    const char *db = sample_path("runs.db");
    (void)state;
    assert_int_equal(sample_run(db, 1, 2, NULL), LAB_OK);
    assert_int_equal(sample_run(db, 2, 2, NULL), LAB_OK);
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

static void shows_steps_and_kernels(void **state)
{
    const char *db = sample_path("runs.db");
    (void)state;
    assert_int_equal(sample_run(db, 3, 2, NULL), LAB_OK);
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

static void a_timeline_as_lines(void **state)
{
    const char *db = sample_path("runs.db");
    (void)state;
    assert_int_equal(sample_timeline_run(db, NULL), LAB_OK);
    assert_int_equal(profile(db, "timeline 1 --iteration 1 --json @"), 0);
    json_t *o = line_object(0);
    assert_string_equal(text_of(o, "type"), "timeline");
    assert_int_equal(int_of(o, "iteration"), 1);
    assert_int_equal(int_of(o, "busy_ns"), 127000);
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
    json_decref(o);
    assert_null(span_object("relu", 0));
}

static void a_timeline_as_text(void **state)
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
    (void)state;
    assert_int_equal(sample_timeline_run(db, NULL), LAB_OK);
    /* The last iteration with kernels, when none is named. */
    assert_int_equal(profile(db, "timeline 1 --ascii @"), 0);
    for (size_t i = 0; i < sizeof(says) / sizeof(says[0]); i++)
        if (!strstr(output, says[i]))
            fail_msg("no \"%s\" in\n%s", says[i], output);
    assert_int_equal(profile(db, "timeline 1 --iteration 2 @"), 0);
    assert_non_null(strstr(output, "n/a, 1 step, no kernels recorded\n"));
    assert_int_equal(profile(db, "timeline 1 --iteration 7 @"), 3);
    assert_non_null(strstr(errors, "iteration 7 of run 1 was not recorded"));
    assert_int_equal(sample_timeline_cpu(db, NULL), LAB_OK);
    assert_int_equal(profile(db, "timeline 2 @"), 0);
    assert_non_null(strstr(output, "\nsteps: 3, busy 33.0 us\n"));
    assert_null(strstr(output, "kernels, "));
    assert_int_equal(sample_timeline_empty(db, NULL), LAB_OK);
    assert_int_equal(profile(db, "timeline 3 @"), 3);
    assert_non_null(strstr(errors, "no recorded steps"));
}

static void deletes_runs(void **state)
{
    const char *db = sample_path("runs.db");
    (void)state;
    assert_int_equal(sample_run(db, 1, 2, NULL), LAB_OK);
    assert_int_equal(sample_run(db, 1, 2, NULL), LAB_OK);
    assert_int_equal(profile(db, "delete 1 @"), 0);
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

static void wrong_usage_is_two_bad_input_three(void **state)
{
    static const struct {
        const char *args;
        int status;
        const char *word;
    } cases[] = {
        {"@", 2, "list, show"},
        {"shwo 1 @", 2, "did you mean 'show'"},
        {"compare 1 2 @", 2, "not built yet"},
        {"export 1 @", 2, "not built yet"},
        {"list 1 @", 2, "takes no run"},
        {"timeline @", 2, "needs a run"},
        {"timeline 1 2 @", 2, "takes one run"},
        {"timeline 1 --iteration x @", 2, "--iteration"},
        {"timeline 7 @", 3, "there is no run 7"},
        {"show @", 2, "needs a run"},
        {"show 1 1 @", 2, "takes one run"},
        {"show one @", 2, "'one' is not a run"},
        {"show @ -- -1", 2, "not a run"},
        {"show 1 --sort medain @", 2, "did you mean 'median'"},
        {"kernels 1 --limit x @", 2, "--limit"},
        {"list --frobnicate @", 2, "frobnicate"},
        {"show 7 @", 3, "there is no run 7"},
        {"kernels 7 --json @", 3, "there is no run 7"},
        {"list --db /nowhere/at/all.db", 3, "/nowhere/at/all.db"},
    };
    const char *db = sample_path("runs.db");
    (void)state;
    assert_int_equal(sample_run(db, 1, 1, NULL), LAB_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int status = profile(db, cases[i].args);
        if (status != cases[i].status || !strstr(errors, cases[i].word))
            fail_msg("%s: exit %d, %s", cases[i].args, status, errors);
        assert_string_equal(output, "");
    }
    assert_int_equal(profile(db, "--help"), 0);
    assert_null(strstr(output, "compare"));
}

static void nothing_recorded_is_no_error(void **state)
{
    (void)state;
    setenv("XDG_STATE_HOME", sample_dir(), 1);
    assert_int_equal(profile("", "list --json"), 0);
    assert_string_equal(output, "");
    assert_non_null(strstr(errors, "profiles.db"));
    assert_int_equal(profile("", "show last"), 3);
    assert_int_equal(access(sample_path("lapenna-lab"), F_OK), -1);
}

static void hostile_names_are_only_shown(void **state)
{
    static const char evil[] = "\033]0;owned\007\033[2J\xc2\x9b"
                               "31m\xff\r";
    const char *db = sample_path("runs.db");
    struct lab_run_summary summary;
    struct lab_run_info info;
    struct lab_writer *writer;
    (void)state;
    lab_run_info_init(&info);
    lab_run_summary_init(&summary);
    info.lesson = info.title = info.lesson_path = info.backend = evil;
    info.device.name = info.variants = info.commit = evil;
    assert_int_equal(lab_writer_new(&writer, db, &info, NULL), LAB_OK);
    struct lab_sink sink = lab_writer_sink(writer);
    struct lab_record r = sample_step(1, 0, 0, LAB_TIME_CUPTI, LAB_UNKNOWN);
    r.u.step.name = r.u.step.variant = lab_intern(evil);
    sink.push(sink.user, &r);
    r = sample_kernel(1, 5, 5);
    r.u.kernel.demangled_name = r.u.kernel.short_name = lab_intern(evil);
    sink.push(sink.user, &r);
    assert_int_equal(lab_writer_finish(writer, &summary), LAB_OK);
    lab_writer_free(writer);
    static const char *const args[] = {"list @",
                                       "show 1 @",
                                       "kernels 1 @",
                                       "show 1 --ascii @",
                                       "list @ --json",
                                       "show 1 @ --json",
                                       "kernels 1 @ --json"};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(lists_runs, cleanup),
        cmocka_unit_test_teardown(shows_steps_and_kernels, cleanup),
        cmocka_unit_test_teardown(a_timeline_as_lines, cleanup),
        cmocka_unit_test_teardown(a_timeline_as_text, cleanup),
        cmocka_unit_test_teardown(deletes_runs, cleanup),
        cmocka_unit_test_teardown(wrong_usage_is_two_bad_input_three, cleanup),
        cmocka_unit_test_teardown(nothing_recorded_is_no_error, cleanup),
        cmocka_unit_test_teardown(hostile_names_are_only_shown, cleanup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
