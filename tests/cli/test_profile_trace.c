/* `profile export` as a trace and as a page; $LAB_EXE is the program. */
#include "test.h"

#include "export_sample.h"
#include "profile_program.h"
#include "store_samples.h"

/* ---- the trace ---- */

struct slice {
    int64_t pid;
    int64_t tid;
    double start;
    double end;
};

static void check_slice(const json_t *e, struct slice *s)
{
    s->pid = int_of(e, "pid");
    s->tid = int_of(e, "tid");
    s->start = real_of(e, "ts");
    s->end = s->start + real_of(e, "dur");
    assert_true(s->start >= 0 && s->end >= s->start);
    assert_true(json_is_string(json_object_get(e, "name")));
    assert_true(json_is_string(json_object_get(e, "cat")));
    const json_t *args = json_object_get(e, "args");
    assert_true(!args || json_is_object(args));
}

static const struct slice *slice_at(const struct slice *s, size_t n,
                                    const json_t *e)
{
    double at = real_of(e, "ts");
    for (size_t i = 0; i < n; i++)
        if (s[i].pid == int_of(e, "pid") && s[i].tid == int_of(e, "tid") &&
            s[i].start <= at && at <= s[i].end)
            return &s[i];
    return NULL;
}

/* Slices of one lane lie in one another or beside one another. */
static void check_lanes(const struct slice *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            if (s[i].pid != s[k].pid || s[i].tid != s[k].tid)
                continue;
            bool apart =
                s[i].end <= s[k].start + 1e-6 || s[k].end <= s[i].start + 1e-6;
            bool inside = (s[i].start >= s[k].start && s[i].end <= s[k].end) ||
                          (s[k].start >= s[i].start && s[k].end <= s[i].end);
            assert_true(apart || inside);
        }
}

static void check_flow(const json_t *events, const struct slice *s, size_t n,
                       const json_t *e)
{
    size_t i;
    json_t *other;
    bool start = strcmp(text_of(e, "ph"), "s") == 0;
    int pairs = 0;
    assert_non_null(slice_at(s, n, e));
    if (!start)
        assert_string_equal(text_of(e, "bp"), "e");
    json_array_foreach(events, i, other)
    {
        pairs += strcmp(text_of(other, "ph"), start ? "f" : "s") == 0 &&
                 int_of(other, "id") == int_of(e, "id");
    }
    assert_int_equal(pairs, 1);
}

static int check_flows(const json_t *events, const struct slice *s, size_t n)
{
    size_t i;
    json_t *e;
    int flows = 0;
    json_array_foreach(events, i, e)
    {
        if (!strchr("sf", *text_of(e, "ph")))
            continue;
        check_flow(events, s, n, e);
        flows++;
    }
    return flows;
}

/* Run 1 as a trace; json_decref() it. */
static json_t *load_trace(const char *db, const char *format, const char *name)
{
    json_error_t error;
    char *text = export_as(db, format, name);
    json_t *root = json_loads(text, 0, &error);
    if (!root)
        fail_msg("line %d: %s", error.line, error.text);
    no_control_byte(text);
    test_free(text);
    return root;
}

/* What the format's description asks of each kind of event. */
PROFILE_CASE(trace_is_what_viewers_read)
{
    enum { MOST = 400 };
    struct slice slices[MOST];
    size_t n = 0;
    size_t i;
    int flows;
    int names = 0;
    json_t *e;
    /* steps of this sample lie where their kernels are */
    sample_sql(db, "UPDATE step SET start_ns = exec * 10000 - 1000, end_ns = "
                   "exec * 10000 + 5000");
    json_t *root = load_trace(db, "trace", "x.json");
    assert_string_equal(text_of(root, "displayTimeUnit"), "ns");
    assert_string_equal(text_of(json_object_get(root, "otherData"), "lesson"),
                        "mlp-digits");
    const json_t *events = json_object_get(root, "traceEvents");
    assert_true(json_is_array(events));
    json_array_foreach(events, i, e)
    {
        const char *ph = text_of(e, "ph");
        assert_true(strlen(ph) == 1 && strchr("XMsf", *ph));
        if (*ph == 'X') {
            assert_true(n < MOST);
            check_slice(e, &slices[n++]);
        }
        names +=
            *ph == 'M' &&
            json_is_string(json_object_get(json_object_get(e, "args"), "name"));
    }
    check_lanes(slices, n);
    flows = check_flows(events, slices, n);
    /* steps, kernels, copies and calls; iterations, phases and nodes */
    assert_int_equal(n, 12 + 25 + 12 + 12 + 3 + 12 + 12);
    assert_int_equal(flows, 2 * 24);
    assert_true(names >= 5 + 4);
    json_decref(root);
}

static int lanes_named(const json_t *events, const char *name, int64_t tid)
{
    size_t i;
    json_t *e;
    int lanes = 0;
    json_array_foreach(events, i, e)
    {
        if (*text_of(e, "ph") != 'M' ||
            strcmp(text_of(e, "name"), "thread_name") != 0)
            continue;
        lanes += int_of(e, "tid") == tid &&
                 strcmp(text_of(json_object_get(e, "args"), "name"), name) == 0;
    }
    return lanes;
}

/* Perfetto drops the later of two slices of a lane that cross: they go to rows
 * of their own, and the arrows with them. */
PROFILE_CASE(crossing_slices_have_rows)
{
    enum { MOST = 400, ROW = 1 << 27 };
    struct slice slices[MOST];
    size_t n = 0;
    size_t second = 0;
    size_t i;
    json_t *e;
    sample_sql(db, "UPDATE step SET start_ns = exec * 10000, end_ns = exec * "
                   "10000 + CASE exec % 4 WHEN 1 THEN 12000 ELSE 5000 END;"
                   "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start + 7000");
    json_t *root = load_trace(db, "trace", "x.json");
    const json_t *events = json_object_get(root, "traceEvents");
    assert_true(json_is_array(events));
    json_array_foreach(events, i, e)
    {
        if (*text_of(e, "ph") != 'X')
            continue;
        assert_true(n < MOST);
        check_slice(e, &slices[n]);
        second += slices[n].pid == 1 && slices[n].tid == 4 + ROW;
        n++;
    }
    check_lanes(slices, n);
    /* one step of four ends inside the next, and that one goes down */
    assert_int_equal(second, 3);
    assert_int_equal(lanes_named(events, "steps", 4), 1);
    assert_int_equal(lanes_named(events, "steps (row 2)", 4 + ROW), 1);
    assert_int_equal(check_flows(events, slices, n), 2 * 24);
    json_decref(root);
}

/* Of two steps that begin together the one that encloses the other comes first,
 * whichever was made first: both fit on one row. */
PROFILE_CASE(enclosing_steps_come_first)
{
    int64_t last = -1;
    int steps = 0;
    size_t i;
    json_t *e;
    sample_sql(db, "UPDATE step SET start_ns = (exec + 1) / 2 * 100000, end_ns "
                   "= (exec + 1) / 2 * 100000 + CASE exec % 2 WHEN 1 THEN 1000 "
                   "ELSE 5000 END");
    json_t *root = load_trace(db, "trace", "x.json");
    json_array_foreach(json_object_get(root, "traceEvents"), i, e)
    {
        if (*text_of(e, "ph") != 'X' ||
            strcmp(text_of(e, "cat"), "cpu_op") != 0)
            continue;
        int64_t exec = int_of(json_object_get(e, "args"), "exec");
        assert_int_equal(int_of(e, "tid"), 4); /* the first row */
        if (steps++ % 2)
            assert_int_equal(exec, last - 1);
        last = exec;
    }
    assert_int_equal(steps, 12);
    json_decref(root);
}

static int slices_of(const json_t *events, const char *category)
{
    size_t i;
    json_t *e;
    int n = 0;
    json_array_foreach(events, i, e)
    {
        n += *text_of(e, "ph") == 'X' &&
             strcmp(text_of(e, "cat"), category) == 0;
    }
    return n;
}

/* What readers of a PyTorch trace look for. */
PROFILE_CASE(slices_have_the_names_of_pytorch)
{
    size_t i;
    json_t *e;
    int steps = 0;
    json_t *root = load_trace(db, "trace", "x.json");
    const json_t *events = json_object_get(root, "traceEvents");
    assert_int_equal(slices_of(events, "cpu_op"), 12);
    assert_int_equal(slices_of(events, "cuda_runtime"), 12);
    assert_int_equal(slices_of(events, "gpu_memcpy"), 12);
    json_array_foreach(events, i, e)
    {
        const json_t *args = json_object_get(e, "args");
        if (*text_of(e, "ph") != 'X')
            continue;
        steps += strncmp(text_of(e, "name"), "ProfilerStep#", 13) == 0;
        if (strcmp(text_of(e, "cat"), "cuda_runtime") == 0)
            assert_string_equal(text_of(e, "name"), "cudaLaunchKernel");
        if (strcmp(text_of(e, "cat"), "gpu_memcpy") == 0)
            assert_true(fabs(real_of(args, "memory bandwidth (GB/s)") -
                             4096.0 / 100) < 1e-9);
        if (strcmp(text_of(e, "cat"), "kernel") != 0 &&
            strcmp(text_of(e, "cat"), "gpu_memcpy") != 0)
            continue;
        assert_int_equal(int_of(args, "device"), 0);
        assert_true(int_of(args, "stream") >= 0);
        assert_true(int_of(args, "correlation") >= 0);
    }
    assert_int_equal(steps, 3);
    json_decref(root);
}

/* An evaluation is no part, unless it is asked for. */
PROFILE_CASE(what_lies_outside_of_iterations_stays_away)
{
    sample_sql(db, "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET start = 9000000, "
                   "end = 9000100 WHERE correlationId >= 70000;"
                   "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET start = 9000000, "
                   "end = 9000100 WHERE start > 40000");
    for (int i = 0; i < 2; i++) {
        json_t *root = load_trace(db, i ? "trace --all" : "trace",
                                  i ? "all.json" : "x.json");
        const json_t *events = json_object_get(root, "traceEvents");
        assert_int_equal(slices_of(events, "kernel"), 25);
        assert_int_equal(slices_of(events, "cuda_runtime"), i ? 12 : 6);
        assert_int_equal(slices_of(events, "gpu_memcpy"), i ? 12 : 3);
        json_decref(root);
    }
}

/* Its kernels, calls, copies and range, all of them or none. */
PROFILE_CASE(an_evaluation_is_whole_or_away)
{
    const char *nsys = sample_path("x.sqlite");
    char args[1024];
    sample_sql(
        db,
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL (kernelRow, runId, start, end, "
        "deviceId, streamId, correlationId) SELECT 1 + max(kernelRow), 1, "
        "9000200, 9000300, 0, 7, 99 FROM CUPTI_ACTIVITY_KIND_KERNEL;"
        "INSERT INTO op_kernel (kernelRow, runId, stepExec) SELECT "
        "max(kernelRow), 1, -1 FROM CUPTI_ACTIVITY_KIND_KERNEL;"
        "UPDATE run SET kernelRowLast = (SELECT max(kernelRow) FROM op_kernel);"
        "INSERT INTO NVTX_EVENTS (runId, start, end, eventType, category, "
        "globalTid, text) VALUES (1, 9000000, 9000400, 59, 5, 77 << 24, "
        "'evaluation')");
    for (int i = 0; i < 2; i++) {
        json_t *root = load_trace(db, i ? "trace --all" : "trace",
                                  i ? "all.json" : "x.json");
        const json_t *events = json_object_get(root, "traceEvents");
        assert_int_equal(slices_of(events, "kernel"), i ? 26 : 25);
        assert_int_equal(slices_of(events, "range"), i);
        json_decref(root);
        char *text = export_as(
            db, i ? "csv --table kernels --all" : "csv --table kernels",
            i ? "all.csv" : "x.csv");
        int lines = 0;
        for (const char *p = text; *p; p++)
            lines += *p == '\n';
        assert_int_equal(lines, i ? 27 : 26);
        test_free(text);
        snprintf(args, sizeof(args),
                 "export 1 --format nsys --force%s --output '%s' @",
                 i ? " --all" : "", nsys);
        assert_int_equal(profile(db, args), 0);
        assert_rows(nsys, i ? 26 : 25, "CUPTI_ACTIVITY_KIND_KERNEL");
        assert_rows(nsys, i, "NVTX_EVENTS WHERE text = 'evaluation'");
    }
    assert_int_equal(profile(db, "kernels 1 --json @"), 0);
    int listed = 0;
    for (const char *p = output; *p; p++)
        listed += *p == '\n';
    assert_int_equal(listed, 25);
}

/* NVTX ranges have what the steps have: they are there when there is no step, as
 * in a run that was imported from Nsight Systems. */
PROFILE_CASE(ranges_stand_for_steps)
{
    for (int steps = 1; steps >= 0; steps--) {
        size_t i;
        json_t *e;
        int ranges = 0;
        if (!steps)
            sample_sql(db, "DELETE FROM step");
        json_t *root = load_trace(db, "trace", steps ? "x.json" : "y.json");
        const json_t *events = json_object_get(root, "traceEvents");
        json_array_foreach(events, i, e)
        {
            ranges += *text_of(e, "ph") == 'X' &&
                      strcmp(text_of(e, "cat"), "range") == 0;
        }
        assert_int_equal(ranges, steps ? 0 : 12);
        assert_int_equal(
            lanes_named(events, "ranges of thread 78", (1 << 26) + 78),
            steps ? 0 : 1);
        json_decref(root);
    }
}

/* ---- HTML ---- */

static void check_tags(const char *html)
{
    static const char *const alone[] = {"!DOCTYPE", "meta", "line", "rect",
                                        "path"};
    char open[64][16];
    int depth = 0;
    for (const char *p = strchr(html, '<'); p; p = strchr(p + 1, '<')) {
        char name[16];
        bool end = p[1] == '/';
        size_t n = strcspn(p + 1 + end, " >/\n");
        snprintf(name, sizeof(name), "%.*s", (int)n, p + 1 + end);
        bool single = false;
        for (size_t i = 0; i < sizeof(alone) / sizeof(alone[0]); i++)
            single |= strcmp(name, alone[i]) == 0;
        if (single)
            continue;
        if (!end) {
            assert_true(depth < 64);
            memcpy(open[depth++], name, sizeof(name));
        } else {
            assert_true(depth > 0);
            assert_string_equal(open[--depth], name);
        }
    }
    assert_int_equal(depth, 0);
}

PROFILE_CASE(html_needs_no_other_file)
{
    static const char *const never[] = {"<script", "http:", "https:",
                                        "src=",    "url(",  "href",
                                        "@import", "onload"};
    char *html = export_as(db, "html", "x.html");
    no_control_byte(html);
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
        if (strstr(html, never[i]))
            fail_msg("the page has %s", never[i]);
    assert_non_null(strstr(html, "a&quot;,b&lt;script&gt;&amp;&#39;"));
    check_tags(html);
    int pictures = 0;
    for (const char *p = html; (p = strstr(p, "<svg ")); p++)
        pictures++;
    assert_int_equal(pictures, 4); /* loss, phases, steps, roofline */
    assert_non_null(strstr(html, "TFLOP/s fp32 (NVIDIA H200"));
    assert_non_null(strstr(html, "fc1.matmul"));
    assert_non_null(strstr(html, "void matmul&lt;float&gt;(float*)"));
    assert_null(strstr(html, "nan"));
    assert_null(strstr(html, "inf"));
    test_free(html);
    /* a run without anything is a page too */
    sample_sql(db, "DELETE FROM step; DELETE FROM loss; DELETE FROM op_kernel;"
                   "DELETE FROM time_sum; UPDATE run SET summed = NULL, device "
                   "= 'Card of tomorrow'");
    html = export_as(db, "html", "y.html");
    check_tags(html);
    assert_non_null(strstr(html, "No loss was recorded"));
    assert_non_null(strstr(html, "peaks of this device are not known; "
                                 "`lapenna-lab profile ceilings`"));
    test_free(html);
}

/* Names of any length: the bars show their beginning, the tables all. */
PROFILE_CASE(long_names_stay_readable)
{
    sample_sql(db, "UPDATE StringIds SET value = 'first' || "
                   "replace(hex(zeroblob(500)), '0', 'ab') || 'last' WHERE "
                   "value = 'fc1.matmul'");
    char *html = export_as(db, "html", "x.html");
    check_tags(html);
    assert_non_null(
        strstr(html, ">firstababababababababababababa\xE2\x80\xA6<"));
    assert_non_null(strstr(html, "<td class=\"k\"><div>firstabab"));
    assert_non_null(strstr(html, "abablast</div></td><td class=\"w\">"));
    test_free(html);
}

/* A loss that stays, is one point, or is no number makes no broken picture; a
 * point without neighbours is a dot, for a line of one point is none. */
PROFILE_CASE(odd_losses_are_drawn)
{
    static const struct {
        const char *sql;
        int dots;
    } losses[] = {{"UPDATE loss SET loss = 1.5", 0},
                  {"UPDATE loss SET loss = NULL WHERE iteration = 1", 2},
                  {"DELETE FROM loss WHERE iteration > 0", 1},
                  {"UPDATE loss SET loss = NULL", 0},
                  {"DELETE FROM loss", 0}};
    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
        int dots = 0;
        sample_sql(db, losses[i].sql);
        assert_int_equal(profile(db, "export 1 --format html --output - @"), 0);
        for (const char *p = output; (p = strstr(p, "r=\"3\"")); p++)
            dots++;
        assert_int_equal(dots, losses[i].dots);
        check_tags(output);
        assert_null(strstr(output, "nan"));
        assert_null(strstr(output, "inf"));
    }
}

RUN_TESTS()
