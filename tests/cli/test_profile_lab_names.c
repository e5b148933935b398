/* Runs of labs wherever `profile` names their steps and kernels: by the rung,
 * its precision and its size; $LAB_EXE is the program. */
#include "test.h"

#include "export_sample.h"
#include "lab_samples.h"
#include "profile_program.h"
#include "store_samples.h"

/* The same kernels in two precisions, and a name that every format escapes. */
static const struct sample_rung both[] = {{"mma", "tf32", "64", 30000},
                                          {"mma", "bf16", "64", 15000},
                                          {"wg\"<mma>", "bf16", "64", 10000}};
static const struct sample_rung half[] = {{"wg\"<mma>", "bf16", "64", 10000},
                                          {"mma", "bf16", "64", 7500}};

static const char *make_labs(void)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_lab(db, both, 3, true, NULL));
    assert_ok(sample_lab(db, half, 2, true, NULL));
    return db;
}

static bool has(const char *text, const char *what)
{
    return strstr(text, what) != NULL;
}

/* ---- kernels, show ---- */

TEST_CASE_WITH(kernels_say_their_rung, NULL, export_cleanup)
{
    const char *db = make_labs();
    assert_int_equal(profile(db, "kernels 1 @"), 0);
    assert_true(has(output, "  mma tf32 64, traced "));
    assert_true(has(output, "  mma bf16 64, traced "));
    assert_true(has(output, "  wg\"<mma> bf16 64, traced "));
    assert_false(has(output, "gemm 64"));
    assert_int_equal(profile(db, "kernels 1 --json @"), 0);
    json_t *o = line_object(1);
    assert_string_equal(text_of(o, "step"), "gemm 64, traced");
    assert_string_equal(text_of(o, "rung"), "mma");
    assert_string_equal(text_of(o, "precision"), "bf16");
    assert_string_equal(text_of(o, "size"), "64");
    json_decref(o);
}

TEST_CASE_WITH(steps_say_their_rung, NULL, export_cleanup)
{
    const char *db = make_labs();
    int steps = 0;
    json_t *o;
    assert_int_equal(profile(db, "show 1 --sort name @"), 0);
    assert_true(has(output, "  mma tf32 64 "));
    assert_false(has(output, "gemm 64"));
    assert_int_equal(profile(db, "show 1 --json @"), 0);
    for (int n = 0; (o = line_object(n)); n++) {
        if (strcmp(text_of(o, "type"), "step") == 0 && steps++ == 2) {
            assert_string_equal(text_of(o, "name"), "gemm 64");
            assert_string_equal(text_of(o, "rung"), "wg\"<mma>");
            assert_string_equal(text_of(o, "precision"), "bf16");
        }
        json_decref(o);
    }
    assert_int_equal(steps, 6);
}

/* ---- compare ---- */

TEST_CASE_WITH(rungs_stand_beside_themselves, NULL, export_cleanup)
{
    const char *db = make_labs();
    assert_int_equal(profile(db, "compare 1 2 @"), 0);
    const char *row = strstr(output, "\nmma bf16 64 ");
    assert_non_null(row);
    char line[128];
    snprintf(line, sizeof(line), "%.*s", (int)strcspn(row + 1, "\n"), row + 1);
    assert_true(has(line, "15.0 us") && has(line, "7.50 us"));
    assert_true(has(line, "2.00x") && has(line, "faster"));
    assert_true(has(output, "\nmma tf32 64 "));
    assert_true(has(output, "\nmma bf16 64, traced: gemm "));
    /* a repeat is no iteration */
    assert_false(has(output, "\nforward"));
    assert_int_equal(profile(db, "compare 2 1 --fail-above 5% @"), 1);
    assert_true(has(errors, ": 1 rows, the worst is step mma bf16 64 with"));
}

TEST_CASE_WITH(rungs_are_keys_of_a_comparison, NULL, export_cleanup)
{
    const char *db = make_labs();
    int rows = 0;
    json_t *o;
    assert_int_equal(profile(db, "compare 1 2 --json @"), 0);
    for (int n = 0; (o = line_object(n)); n++) {
        bool pair = !json_is_null(json_object_get(o, "run_a")) &&
                    !json_is_null(json_object_get(o, "run_b"));
        if (strcmp(text_of(o, "type"), "comparison") == 0) {
            rows++;
            assert_int_equal(strncmp(text_of(o, "name"), "gemm 64", 7), 0);
            assert_string_equal(text_of(o, "size"), "64");
            bool tf32 = strcmp(text_of(o, "precision"), "tf32") == 0;
            assert_int_equal(pair, !tf32);
        }
        json_decref(o);
    }
    assert_int_equal(rows, 6); /* three rungs, and a kernel of each */
}

/* ---- exports ---- */

/* Which column of a head has this name; -1: none. */
static int column(const char *head, const char *name)
{
    size_t n = strlen(name);
    int at = 0;
    for (const char *p = head; *p != '\r'; p++) {
        bool begins = p == head || p[-1] == ',';
        if (begins && strncmp(p, name, n) == 0 && strchr(",\r", p[n]))
            return at;
        at += *p == ',';
    }
    return -1;
}

static void field(const char *line, int nth, char out[64])
{
    bool quoted = false;
    int at = 0;
    size_t n = 0;
    for (; *line != '\r' && at <= nth; line++) {
        quoted ^= *line == '"';
        if (*line == ',' && !quoted)
            at++;
        else if (at == nth && n < 63)
            out[n++] = *line;
    }
    out[n] = '\0';
}

/* Step or kernel `nth` of the table has these. */
static void row_is_of(const char *csv, int nth, const char *size,
                      const char *rung, const char *precision)
{
    static const char *const names[] = {"lab_size", "lab_rung",
                                        "lab_precision"};
    const char *const wanted[] = {size, rung, precision};
    const char *line = csv;
    for (int i = 0; i <= nth; i++)
        line = strchr(line, '\n') + 1;
    for (int i = 0; i < 3; i++) {
        char found[64];
        int at = column(csv, names[i]);
        assert_true(at > 0);
        field(line, at, found);
        assert_string_equal(found, wanted[i]);
    }
}

TEST_CASE_WITH(csv_has_columns_of_the_rung, NULL, export_cleanup)
{
    const char *db = make_labs();
    assert_int_equal(profile(db, "export 1 --format csv --output - @"), 0);
    row_is_of(output, 0, "64", "mma", "tf32");
    row_is_of(output, 4, "64", "mma", "bf16"); /* its traced step */
    row_is_of(output, 7, "64", "mma", "bf16"); /* its kernel */
    assert_true(has(output, "kernel,1,"));
    assert_int_equal(
        profile(db, "export 1 --format csv --table steps --output - @"), 0);
    row_is_of(output, 2, "64", "\"wg\"\"<mma>\"", "bf16");
    assert_int_equal(
        profile(db, "export 1 --format csv --table kernels --output - @"), 0);
    row_is_of(output, 1, "64", "mma", "bf16");
    /* of a lesson nothing changes */
    assert_ok(sample_run(db, 1, 1, NULL));
    assert_int_equal(
        profile(db, "export 3 --format csv --table kernels --output - @"), 0);
    assert_int_equal(column(output, "lab_rung"), -1);
    assert_true(has(output, ",l1_hit_pct,l2_hit_pct\r\n"));
}

TEST_CASE_WITH(lines_have_keys_of_the_rung, NULL, export_cleanup)
{
    const char *db = make_labs();
    int kernels = 0;
    json_t *o;
    assert_int_equal(profile(db, "export 2 --format jsonl --output - @"), 0);
    for (int n = 0; (o = line_object(n)); n++) {
        if (strcmp(text_of(o, "type"), "kernel") == 0 && kernels++ == 1)
            assert_string_equal(text_of(o, "rung"), "mma");
        json_decref(o);
    }
    assert_int_equal(kernels, 2);
}

TEST_CASE_WITH(trace_has_slices_of_the_rung, NULL, export_cleanup)
{
    const char *db = make_labs();
    int steps = 0;
    int kernels = 0;
    char *text = export_as(db, "trace", "x.json");
    json_t *all = json_loads(text, 0, NULL);
    assert_non_null(all);
    size_t i;
    json_t *e;
    json_array_foreach(json_object_get(all, "traceEvents"), i, e)
    {
        const json_t *args = json_object_get(e, "args");
        bool step = strcmp(text_of(e, "cat"), "cpu_op") == 0;
        bool kernel = strcmp(text_of(e, "cat"), "kernel") == 0;
        if (!step && !kernel)
            continue;
        assert_string_equal(text_of(args, "size"), "64");
        if (strcmp(text_of(args, "rung"), "mma") != 0 ||
            strcmp(text_of(args, "precision"), "bf16") != 0)
            continue;
        steps += step;
        kernels += kernel;
        if (step)
            assert_int_equal(strncmp(text_of(e, "name"), "mma bf16 64", 11), 0);
    }
    assert_int_equal(steps, SAMPLE_REPEATS + 1);
    assert_int_equal(kernels, 1);
    assert_false(has(text, "\"name\":\"gemm 64"));
    json_decref(all);
    test_free(text);
}

/* nsys has no column for it: the range of the launch says it. */
TEST_CASE_WITH(nsys_has_ranges_of_the_rung, NULL, export_cleanup)
{
    const char *db = make_labs();
    sample_sql(db, "UPDATE run SET pid = 77");
    test_free(export_as(db, "nsys", "x.sqlite"));
    const char *path = sample_path("x.sqlite");
    assert_int_equal(sample_int(path, "SELECT count(*) FROM NVTX_EVENTS"), 3);
    assert_int_equal(
        sample_int(path, "SELECT count(*) FROM NVTX_EVENTS AS n JOIN StringIds "
                         "AS s ON s.id = n.textId JOIN ThreadNames AS t ON "
                         "t.globalTid = n.globalTid WHERE n.text = s.value AND "
                         "n.text = 'mma bf16 64, traced' AND n.eventType = 59 "
                         "AND n.globalTid = (77 << 24) + 77"),
        1);
    /* from where the step's launch began to where it ended */
    assert_int_equal(
        sample_int(path, "SELECT count(*) FROM NVTX_EVENTS AS n JOIN "
                         "CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.start BETWEEN "
                         "n.start AND n.end"),
        3);
    assert_int_equal(sample_int(path, "SELECT group_concat(name, ',') = "
                                      "'start,end,eventType,rangeId,category,"
                                      "color,text,globalTid,endGlobalTid,"
                                      "textId,domainId,uint64Value,int64Value,"
                                      "doubleValue,uint32Value,int32Value,"
                                      "floatValue,jsonTextId,jsonText,"
                                      "binaryData' FROM "
                                      "pragma_table_info('NVTX_EVENTS')"),
                     1);
}

TEST_CASE_WITH(page_has_rows_of_the_rung, NULL, export_cleanup)
{
    const char *db = make_labs();
    char *html = export_as(db, "html", "x.html");
    const char *steps = strstr(html, "<h2>Steps</h2>");
    assert_non_null(steps);
    assert_true(has(steps, "<td class=\"w\">mma bf16 64</td>"));
    assert_true(has(steps, ">mma bf16 64</text>"));
    const char *kernels = strstr(steps, "<h2>Kernels</h2>");
    assert_non_null(kernels);
    assert_true(has(kernels, ">mma tf32 64, traced</td>"));
    assert_true(has(kernels, ">wg&quot;&lt;mma&gt; bf16 64, traced</td>"));
    /* a lab has no loss, and its repeats are no iterations */
    assert_false(has(html, "No loss was recorded"));
    assert_false(has(html, "Phases of an iteration"));
    test_free(html);
}

/* ---- roofline ---- */

TEST_CASE_WITH(points_have_keys_of_the_rung, NULL, export_cleanup)
{
    const char *db = make_labs();
    int points = 0;
    json_t *o;
    assert_int_equal(profile(db, "roofline 2 --json @"), 0);
    for (int n = 0; (o = line_object(n)); n++) {
        if (strcmp(text_of(o, "type"), "point") == 0 && points++ == 0) {
            assert_string_equal(text_of(o, "rung"), "wg\"<mma>");
            assert_string_equal(text_of(o, "precision"), "bf16");
            assert_string_equal(text_of(o, "size"), "64");
        }
        json_decref(o);
    }
    assert_int_equal(points, 6); /* two rungs, traced, and a kernel of each */
}

RUN_TESTS()
