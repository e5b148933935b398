/* `profile export` in every format; $LAB_EXE is the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile_program.h"
#include "store/export.h"
#include "store_samples.h"
#include "trace/intern.h"

static const char evil[] = "a\",b<script>&'\\\033[2J\n=1";

static int cleanup(void **state)
{
    (void)state;
    sample_dir_remove();
    lab_intern_release();
    return 0;
}

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("no file %s", path);
    char *text = test_malloc(4 << 20);
    text[fread(text, 1, (4 << 20) - 1, f)] = '\0';
    fclose(f);
    return text;
}

/* A GPU run with a call, a copy, a memset and a range for each step, and names
 * that mean something in every format. */
static void record(const char *path)
{
    struct lab_run_info info;
    struct lab_run_summary summary;
    struct lab_writer *writer;
    int64_t exec = 1;
    lab_run_info_init(&info);
    lab_run_summary_init(&summary);
    info.lesson = "mlp-digits";
    info.title = evil;
    info.backend = "cuda";
    info.variants = evil;
    info.device.name = "NVIDIA H200";
    info.device.gpu = true;
    info.device.device_id = 0;
    assert_int_equal(lab_writer_new(&writer, path, &info, NULL), LAB_OK);
    struct lab_sink sink = lab_writer_sink(writer);
    for (int64_t i = 0; i < 3; i++)
        sample_iteration(&sink, i, 4, &exec);
    for (exec = 1; exec <= 12; exec++) {
        struct lab_record r = {.kind = LAB_RECORD_API};
        r.u.api = (struct lab_api_record){
            .exec = exec,
            .start_ns = exec * 10000 - 900,
            .end_ns = exec * 10000 - 100,
            .name = lab_intern("cudaLaunchKernel_v7000"),
            .correlation_id = (uint32_t)(exec * 10000),
            .global_tid = INT64_C(77) << 24 | 78,
        };
        sink.push(sink.user, &r);
        r = (struct lab_record){.kind = LAB_RECORD_MEMCPY};
        r.u.memcpy_ = (struct lab_memcpy_record){
            .exec = exec,
            .start_ns = exec * 10000 + 3000,
            .end_ns = exec * 10000 + 3100,
            .bytes = 4096,
            .stream_id = 7,
            .copy_kind = 1,
            .src_kind = 1,
            .dst_kind = 3,
        };
        sink.push(sink.user, &r);
        r = (struct lab_record){.kind = LAB_RECORD_RANGE};
        r.u.range = (struct lab_range_record){
            .start_ns = exec * 10000 - 1000,
            .end_ns = exec * 10000 + 4000,
            .text = lab_intern(evil),
            .level = 4,
            .global_tid = INT64_C(77) << 24 | 78,
        };
        sink.push(sink.user, &r);
    }
    struct lab_record last = sample_kernel(LAB_UNKNOWN, 200000, 700);
    last.u.kernel.demangled_name = lab_intern(evil);
    sink.push(sink.user, &last);
    assert_int_equal(lab_writer_finish(writer, &summary), LAB_OK);
    lab_writer_free(writer);
}

/* Exports run 1 into `name` and returns its text. */
static char *export_as(const char *db, const char *format, const char *name)
{
    char args[1024];
    snprintf(args, sizeof(args), "export 1 --format %s --output '%s' @", format,
             sample_path(name));
    if (profile(db, args) != 0)
        fail_msg("%s: %s", format, errors);
    assert_string_equal(output, "");
    return read_file(sample_path(name));
}

static void no_control_byte(const char *text)
{
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20 && *p != '\n' && *p != '\r')
            fail_msg("byte %02X", (unsigned char)*p);
}

/* ---- CSV ---- */

/* Fields of one record; returns where the next begins. */
static char *read_record(char *p, char **field, int most, int *n)
{
    *n = 0;
    for (;;) {
        char *to = p;
        assert_true(*n < most);
        field[(*n)++] = p;
        if (*p == '"') {
            for (p++; *p && (*p != '"' || p[1] == '"'); p++) {
                p += *p == '"';
                *to++ = *p;
            }
            assert_int_equal(*p, '"');
            p++;
        } else {
            p += strcspn(p, ",\r");
            to = p;
        }
        char end = *p;
        *to = '\0';
        if (end != ',') {
            assert_int_equal(end, '\r');
            assert_int_equal(p[1], '\n');
            return p + 2;
        }
        p++;
    }
}

static int column(char **head, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(head[i], name) == 0)
            return i;
    fail_msg("no column %s", name);
    return 0;
}

static void csv_has_one_width(void **state)
{
    enum { MOST = 80 };
    const char *db = sample_path("runs.db");
    char *head[MOST];
    char *field[MOST];
    int columns;
    int n;
    int rows[3] = {0, 0, 0};
    (void)state;
    record(db);
    char *text = export_as(db, "csv", "x.csv");
    no_control_byte(text);
    char *p = read_record(text, head, MOST, &columns);
    while (*p) {
        p = read_record(p, field, MOST, &n);
        assert_int_equal(n, columns);
        int kind = !strcmp(field[0], "step")     ? 0
                   : !strcmp(field[0], "kernel") ? 1
                                                 : 2;
        rows[kind]++;
        assert_string_equal(field[1], "1");
        if (kind == 0 && rows[0] == 2) {
            assert_string_equal(field[column(head, n, "step")], "fc1.matmul");
            assert_string_equal(field[column(head, n, "median_ns")], "1501");
        }
        if (kind == 1 && rows[1] == 25) /* what was a name stays one field */
            assert_string_equal(field[column(head, n, "kernel")],
                                "a\",b<script>&'\\^[[2J^J=1");
    }
    assert_int_equal(rows[0], 4);
    assert_int_equal(rows[1], 25);
    assert_int_equal(rows[2], 3);
    test_free(text);
    assert_int_equal(
        profile(db, "export 1 --format csv --table losses --output - @"), 0);
    assert_non_null(strstr(output, "run,loss_iteration,loss,accuracy"));
    assert_non_null(strstr(output, "\r\n1,1,0.5,"));
}

/* ---- JSON Lines ---- */

static void lines_are_those_of_show(void **state)
{
    const char *db = sample_path("runs.db");
    char shown[1 << 16];
    int n = 0;
    (void)state;
    record(db);
    assert_int_equal(profile(db, "show 1 --json @"), 0);
    assert_true(strlen(output) < sizeof(shown));
    strcpy(shown, output);
    assert_int_equal(profile(db, "export 1 --format jsonl --output - @"), 0);
    assert_int_equal(strncmp(output, shown, strlen(shown)), 0);
    for (json_t *o; (o = line_object(n)); n++)
        json_decref(o);
    assert_int_equal(n, 1 + 4 + 3 + 25);
}

/* ---- the trace ---- */

struct slice {
    int64_t pid;
    int64_t tid;
    double start;
    double end;
};

static double number_of(const json_t *o, const char *key)
{
    const json_t *v = json_object_get(o, key);
    if (!json_is_number(v))
        fail_msg("%s is not a number", key);
    return json_number_value(v);
}

static void check_slice(const json_t *e, struct slice *s)
{
    s->pid = int_of(e, "pid");
    s->tid = int_of(e, "tid");
    s->start = number_of(e, "ts");
    s->end = s->start + number_of(e, "dur");
    assert_true(s->start >= 0 && s->end >= s->start);
    assert_true(json_is_string(json_object_get(e, "name")));
    assert_true(json_is_string(json_object_get(e, "cat")));
    const json_t *args = json_object_get(e, "args");
    assert_true(!args || json_is_object(args));
}

static const struct slice *slice_at(const struct slice *s, size_t n,
                                    const json_t *e)
{
    double at = number_of(e, "ts");
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

/* What the format's description asks of each kind of event. */
static void trace_is_what_viewers_read(void **state)
{
    enum { MOST = 400 };
    const char *db = sample_path("runs.db");
    struct slice slices[MOST];
    size_t n = 0;
    size_t i;
    int flows = 0;
    int names = 0;
    json_t *e;
    json_error_t error;
    (void)state;
    record(db);
    /* steps of this sample lie where their kernels are */
    sample_sql(db, "UPDATE step SET start_ns = exec * 10000, end_ns = exec * "
                   "10000 + 5000");
    char *text = export_as(db, "trace", "x.json");
    no_control_byte(text);
    json_t *root = json_loads(text, 0, &error);
    if (!root)
        fail_msg("line %d: %s", error.line, error.text);
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
    json_array_foreach(events, i, e)
    {
        if (!strchr("sf", *text_of(e, "ph")))
            continue;
        check_flow(events, slices, n, e);
        flows++;
    }
    /* steps, kernels, copies and calls; iterations, phases and nodes */
    assert_int_equal(n, 12 + 25 + 12 + 12 + 3 + 12 + 12);
    assert_int_equal(flows, 2 * 24);
    assert_true(names >= 5 + 4);
    json_decref(root);
    test_free(text);
}

/* ---- nsys ---- */

static void check_columns(const char *path, const char *table,
                          const char *columns)
{
    char sql[1024];
    snprintf(sql, sizeof(sql),
             "SELECT (SELECT group_concat(name, ',') FROM "
             "pragma_table_info('%s')) = '%s'",
             table, columns);
    if (sample_int(path, sql) != 1)
        fail_msg("%s has other columns", table);
}

static void nsys_has_its_tables(void **state)
{
    static const struct {
        const char *name;
        const char *columns;
    } tables[] = {
        {"CUPTI_ACTIVITY_KIND_KERNEL",
         "start,end,deviceId,contextId,greenContextId,streamId,correlationId,"
         "globalPid,demangledName,shortName,mangledName,launchType,cacheConfig,"
         "registersPerThread,gridX,gridY,gridZ,blockX,blockY,blockZ,"
         "staticSharedMemory,dynamicSharedMemory,localMemoryPerThread,"
         "localMemoryTotal,gridId,sharedMemoryExecuted,graphNodeId,"
         "sharedMemoryLimitConfig,graphId,clusterX,clusterY,clusterZ,"
         "clusterSchedulingPolicy,maxPotentialClusterSize,maxActiveClusters"},
        {"CUPTI_ACTIVITY_KIND_RUNTIME",
         "start,end,eventClass,globalTid,correlationId,nameId,returnValue,"
         "callchainId"},
        {"TARGET_INFO_CUDA_DEVICE", "gpuId,cudaId,pid,uuid,numMultiprocessors"},
        {"StringIds", "id,value"},
        {"META_DATA_EXPORT", "name,value"},
        {"META_DATA_CAPTURE", "name,value"},
    };
    const char *db = sample_path("runs.db");
    (void)state;
    assert_int_equal(sample_run(db, 2, 2, NULL), LAB_OK); /* another run */
    record(db);
    assert_int_equal(profile(db, "export 2 --format nsys --output - @"), 2);
    char args[1024];
    const char *path = sample_path("x.sqlite");
    snprintf(args, sizeof(args), "export 2 --format nsys --output '%s' @",
             path);
    assert_int_equal(profile(db, args), 0);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        check_columns(path, tables[i].name, tables[i].columns);
    assert_int_equal(sample_int(path, "PRAGMA user_version"), 0);
    assert_int_equal(sample_int(path, "PRAGMA application_id"), 0);
    /* nothing of ours: no column, no table */
    assert_int_equal(
        sample_int(path, "SELECT count(*) FROM sqlite_master AS m, "
                         "pragma_table_info(m.name) AS c WHERE c.name IN "
                         "('runId', 'kernelRow', 'memcpyRow', 'memsetRow')"),
        0);
    assert_int_equal(sample_int(path, "SELECT count(*) FROM sqlite_master "
                                      "WHERE name IN ('run', 'step', 'loss', "
                                      "'op_kernel', 'baseline', 'time_sum') OR "
                                      "name LIKE 'ENUM_LAB%'"),
                     0);
    /* tables without rows are not made */
    assert_int_equal(sample_int(path, "SELECT count(*) FROM sqlite_master "
                                      "WHERE name = "
                                      "'CUPTI_ACTIVITY_KIND_MEMSET'"),
                     0);
    assert_int_equal(
        sample_int(path, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL"),
        25);
    assert_int_equal(sample_int(path, "SELECT count(*) FROM META_DATA_EXPORT "
                                      "WHERE name = 'EXPORT_SCHEMA_VERSION' "
                                      "AND value = '3.24.14'"),
                     1);
    /* moments count from the start: 20000 is that of the second step */
    assert_int_equal(sample_int(path, "SELECT min(start) >= 0 FROM "
                                      "CUPTI_ACTIVITY_KIND_RUNTIME"),
                     1);
    assert_int_equal(sample_int(path, "SELECT count(*) FROM StringIds WHERE "
                                      "value = 'fc1.matmul'"),
                     0); /* names that nothing here uses stay away */
}

/* A GPU's name is found by way of the CUDA device. */
static void nsys_names_the_gpu(const char *path)
{
    assert_int_equal(
        sample_int(path, "SELECT count(*) FROM TARGET_INFO_GPU AS g JOIN "
                         "TARGET_INFO_CUDA_DEVICE AS c ON g.id = c.gpuId JOIN "
                         "CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.deviceId = "
                         "c.cudaId WHERE g.name = 'NVIDIA H200'"),
        25);
}

/* Recipes that are written for exports of Nsight Systems: its own report
 * cuda_gpu_kern_sum, and two of its manual's examples. */
static void nsys_recipes_run(void **state)
{
    const char *db = sample_path("runs.db");
    (void)state;
    record(db);
    test_free(export_as(db, "nsys", "x.sqlite"));
    const char *path = sample_path("x.sqlite");
    nsys_names_the_gpu(path);
    assert_int_equal(
        sample_int(
            path, "WITH summary AS (SELECT shortName AS nameId, count(*) AS "
                  "num, sum(end - start) AS total, min(end - start) AS least, "
                  "max(end - start) AS most FROM CUPTI_ACTIVITY_KIND_KERNEL "
                  "GROUP BY 1) SELECT summary.total FROM summary JOIN "
                  "StringIds AS ids ON ids.id = summary.nameId WHERE ids.value "
                  "= 'matmul' AND summary.num = 25"),
        3 * (1000 + 1001 + 1002 + 1003) + 12 * 500 + 700);
    /* kernel names onto the calls that launched them */
    sample_sql(path,
               "ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME ADD COLUMN name TEXT;"
               "ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME ADD COLUMN kernelName "
               "TEXT;"
               "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET kernelName = (SELECT "
               "value FROM StringIds JOIN CUPTI_ACTIVITY_KIND_KERNEL AS "
               "cuda_gpu ON cuda_gpu.shortName = StringIds.id AND "
               "CUPTI_ACTIVITY_KIND_RUNTIME.correlationId = "
               "cuda_gpu.correlationId);"
               "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET name = (SELECT value "
               "FROM StringIds WHERE nameId = StringIds.id)");
    assert_int_equal(
        sample_int(path, "SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME "
                         "WHERE kernelName = 'matmul' AND name LIKE "
                         "'cudaLaunchKernel%' AND globalTid / 0x1000000 % "
                         "0x1000000 = 77 AND globalTid % 0x1000000 = 78"),
        12);
    /* the ranges of a thread, whose text is in text or in textId */
    assert_int_equal(
        sample_int(path,
                   "SELECT count(*) FROM NVTX_EVENTS AS e LEFT JOIN StringIds "
                   "AS s ON s.id = e.textId WHERE e.eventType = 59 AND "
                   "coalesce(e.text, s.value) IS NOT NULL AND e.end > e.start"),
        12);
}

/* The SQL of docs/profiles.md: every block runs on the database, and those on
 * the tables of nsys on an export too; with rows. */
static void recipes_of_the_docs_run(void **state)
{
    const char *db = sample_path("runs.db");
    int blocks = 0;
    int exported = 0;
    (void)state;
    record(db);
    char args[1024];
    snprintf(args, sizeof(args), "export 1 --format nsys --output '%s' @",
             sample_path("x.sqlite"));
    assert_int_equal(profile(db, args), 0);
    char *text = read_file(LAB_SOURCE_DIR "/docs/profiles.md");
    for (char *p = text; (p = strstr(p, "```sql\n")); blocks++) {
        char sql[4096];
        char *begin = p + 7;
        char *end = strstr(begin, ";\n```");
        assert_non_null(end);
        p = end + 1;
        *end = '\0';
        snprintf(sql, sizeof(sql), "SELECT count(*) FROM (%s)", begin);
        for (char *twelve; (twelve = strstr(sql, "runId = 12"));)
            memcpy(twelve, "runId = +1", 10);
        if (sample_int(db, sql) < 1)
            fail_msg("no row: %s", begin);
        if (strstr(begin, "runId") || strstr(begin, "FROM run"))
            continue;
        exported++;
        if (sample_int(sample_path("x.sqlite"), sql) < 1)
            fail_msg("no row in the export: %s", begin);
    }
    assert_int_equal(blocks, 6);
    assert_int_equal(exported, 3);
    test_free(text);
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

static void html_stands_alone(void **state)
{
    static const char *const never[] = {"<script", "http:", "https:",
                                        "src=",    "url(",  "href",
                                        "@import", "onload"};
    const char *db = sample_path("runs.db");
    (void)state;
    record(db);
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
    assert_non_null(strstr(html, "peaks of this device are not known"));
    test_free(html);
}

/* A loss that stays, is one point, or is no number makes no broken picture. */
static void odd_losses_are_drawn(void **state)
{
    static const char *const losses[] = {
        "UPDATE loss SET loss = 1.5", "DELETE FROM loss WHERE iteration > 0",
        "UPDATE loss SET loss = NULL", "DELETE FROM loss"};
    const char *db = sample_path("runs.db");
    (void)state;
    record(db);
    for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++) {
        sample_sql(db, losses[i]);
        assert_int_equal(profile(db, "export 1 --format html --output - @"), 0);
        check_tags(output);
        assert_null(strstr(output, "nan"));
        assert_null(strstr(output, "inf"));
    }
}

/* ---- files ---- */

static int files_there(void)
{
    char command[600];
    int n = -1;
    snprintf(command, sizeof(command), "ls -A '%s' | grep -vc -e db -e stderr",
             sample_dir());
    FILE *p = popen(command, "r");
    assert_non_null(p);
    assert_int_equal(fscanf(p, "%d", &n), 1);
    pclose(p);
    return n;
}

static void nothing_is_overwritten(void **state)
{
    const char *db = sample_path("runs.db");
    char args[1024];
    (void)state;
    record(db);
    static const char *const formats[] = {"csv", "nsys"};
    for (int i = 0; i < 2; i++) {
        FILE *f = fopen(sample_path("mine"), "w");
        assert_non_null(f);
        fputs("precious", f);
        fclose(f);
        snprintf(args, sizeof(args), "export 1 --format %s --output '%s' @",
                 formats[i], sample_path("mine"));
        assert_int_equal(profile(db, args), 3);
        assert_non_null(strstr(errors, "--force"));
        char *text = read_file(sample_path("mine"));
        assert_string_equal(text, "precious");
        test_free(text);
        strcat(args, " --force");
        assert_int_equal(profile(db, args), 0);
        text = read_file(sample_path("mine"));
        assert_null(strstr(text, "precious"));
        test_free(text);
        assert_int_equal(files_there(), 1); /* nothing is left beside it */
    }
    assert_int_equal(profile(db, "export 1 --format csv --output /nowhere/x @"),
                     3);
    snprintf(args, sizeof(args), "export 1 --format csv --output '%s' @",
             sample_dir());
    assert_int_equal(profile(db, args), 3);
    assert_non_null(strstr(errors, "directory"));
    assert_int_equal(
        profile(db, "export 1 --format csv --output - @ >/dev/full"), 3);
}

static void half_a_file_never_shows(void **state)
{
    struct lab_export_file file;
    const char *path = sample_path("half");
    (void)state;
    assert_int_equal(lab_export_open(&file, path, true, false), LAB_OK);
    fputs("half", file.stream);
    fflush(file.stream);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(lab_export_close(&file, LAB_E_DB), LAB_E_DB);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(files_there(), 0);
    /* somebody else makes the file in the meantime */
    assert_int_equal(lab_export_open(&file, path, true, false), LAB_OK);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
    assert_int_equal(lab_export_close(&file, LAB_OK), LAB_E_IO);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 0);
    assert_int_equal(files_there(), 1);
}

static void wrong_usage_is_two(void **state)
{
    static const struct {
        const char *args;
        int status;
        const char *word;
    } cases[] = {
        {"export 1 @", 2, "--format"},
        {"export 1 --format csv @", 2, "--output"},
        {"export 1 --format jsonn --output - @", 2, "did you mean 'jsonl'"},
        {"export 1 --format csv --table step --output - @", 2,
         "did you mean 'steps'"},
        {"export 1 --format html --table steps --output - @", 2, "--table"},
        {"export 1 2 --format csv --output - @", 2, "takes one run"},
        {"export 9 --format csv --output - @", 3, "there is no run 9"},
        {"export 9 --format nsys --output /tmp/never @", 3, "no run 9"},
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
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(csv_has_one_width, cleanup),
        cmocka_unit_test_teardown(lines_are_those_of_show, cleanup),
        cmocka_unit_test_teardown(trace_is_what_viewers_read, cleanup),
        cmocka_unit_test_teardown(nsys_has_its_tables, cleanup),
        cmocka_unit_test_teardown(nsys_recipes_run, cleanup),
        cmocka_unit_test_teardown(recipes_of_the_docs_run, cleanup),
        cmocka_unit_test_teardown(html_stands_alone, cleanup),
        cmocka_unit_test_teardown(odd_losses_are_drawn, cleanup),
        cmocka_unit_test_teardown(nothing_is_overwritten, cleanup),
        cmocka_unit_test_teardown(half_a_file_never_shows, cleanup),
        cmocka_unit_test_teardown(wrong_usage_is_two, cleanup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
