/* What a lab measured, as `profile export` has it for programs: keys, slices and
 * ranges. golden/profile_*.txt have the texts. */
#include "test.h"

#include "export_sample.h"
#include "lab_samples.h"
#include "profile_program.h"
#include "store_samples.h"

static const char *make_lab(bool ladder, bool sweep)
{
    const char *path = sample_path("runs.db");
    assert_ok(sample_run(path, 1, 2, NULL));
    if (ladder)
        sample_ladder(path);
    if (sweep)
        sample_sweep(path);
    return path;
}

static int count(const char *text, const char *what)
{
    int n = 0;
    for (const char *p = text; (p = strstr(p, what)); p += strlen(what))
        n++;
    return n;
}

/* Fields of a line: no field of these samples has a comma but the note. */
static int commas(const char *line)
{
    int n = 0;
    bool quoted = false;
    for (; *line && *line != '\r'; line++) {
        quoted ^= *line == '"';
        n += *line == ',' && !quoted;
    }
    return n;
}

static void keys_of(const char *type, char *out, size_t bytes)
{
    json_t *o;
    int n = 0;
    while ((o = line_object(n++)) && strcmp(text_of(o, "type"), type) != 0)
        json_decref(o);
    assert_non_null(o);
    *out = '\0';
    for (void *i = json_object_iter(o); i; i = json_object_iter_next(o, i)) {
        strncat(out, *out ? "," : "", bytes - strlen(out) - 1);
        strncat(out, json_object_iter_key(i), bytes - strlen(out) - 1);
    }
    json_decref(o);
}

/* The keys of a line, in their order, are what programs read: a new column may
 * come in between, or else at the end, and is in both formats. */
TEST_CASE_WITH(lines_have_every_column, NULL, export_cleanup)
{
    static const struct {
        const char *type;
        const char *table;
        int twice; /* columns of the file that are one key */
        const char *keys;
    } kinds[] = {
        {"lab_row", "rungs", 0,
         "type,run,place,lab,size,variant,precision,status,reason,note,"
         "repeats,min_ns,quarter_ns,median_ns,"
         "three_quarters_ns,max_ns,unit,rate,rate_model,rate_predicted,gain,"
         "gain_model,check_error,sample_error,error,flop,bytes,"
         "traffic_bytes,"
         "workspace_bytes,flush_bytes,ceiling_copy_bytes_per_s,"
         "ceiling_fp32_flop_per_s,"
         "sm_clock_before_hz,sm_clock_after_hz,memory_clock_hz,temperature_c,"
         "power_w,traced_exec,idea"},
        {"lab_said", "said", 0,
         "type,run,place,variant,precision,size,rate,time_ns,bound,"
         "occupancy_pct"},
        {"lab_tuned", "tuned", 1,
         "type,run,lab,size_class,precision,candidate,size,median_ns,rate,unit,"
         "candidates,backend,device,uuid,hostname,driver,version,measured_ns,"
         "measured"},
        {"sweep_row", "sweeps", 0,
         "type,run,place,sweep,lesson,backend,name,x,status,reason,iterations,"
         "samples,"
         "median_ns,quarter_ns,three_quarters_ns,samples_per_s,memory_bytes,"
         "parameters,flop,loss_equal_samples,loss_equal_iterations,share,"
         "variants_from,variants"},
    };
    const char *db = make_lab(true, true);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        char keys[1000];
        char want[1000];
        char args[100];
        assert_int_equal(profile(db, "export 1 --format jsonl --output - @"),
                         0);
        keys_of(kinds[i].type, keys, sizeof(keys));
        snprintf(want, sizeof(want), "%s,format", kinds[i].keys);
        assert_string_equal(keys, want);
        snprintf(args, sizeof(args),
                 "export 1 --format csv --table %s --output - @",
                 kinds[i].table);
        assert_int_equal(profile(db, args), 0);
        assert_int_equal(commas(output) + 1 - kinds[i].twice,
                         commas(kinds[i].keys)); /* without the type */
    }
}

/* The winner comes along with its run, once, however often the file comes. */
TEST_CASE_WITH(winners_are_merged, NULL, export_cleanup)
{
    const char *theirs = make_lab(true, false);
    const char *here = sample_path("merged.db");
    char args[600];
    snprintf(args, sizeof(args), "import '%s' @", theirs);
    assert_int_equal(profile(here, args), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(profile(here, "show 1 @"), 0);
        assert_int_equal(count(output, "fastest"), 1);
        assert_int_equal(count(output, "128x64x8"), 1);
        snprintf(args, sizeof(args), "merge '%s' '%s' @", theirs, theirs);
        assert_int_equal(profile(here, args), 0);
    }
    assert_rows(here, 1, "lab_tuned");
}

TEST_CASE_WITH(page_has_the_ladder, NULL, export_cleanup)
{
    const char *db = make_lab(true, true);
    char *html = export_as(db, "html", "x.html");
    const char *ladder = strstr(html, "<h2>Ladder</h2>");
    assert_non_null(ladder);
    assert_int_equal(count(html, "<table"), count(html, "</table>"));
    assert_int_equal(count(html, "<svg "), count(html, "</svg>"));
    assert_int_equal(count(html, "<div"), count(html, "</div>"));
    assert_non_null(strstr(ladder, "aria-label=\"gemm, 64\""));
    assert_null(strstr(ladder, "aria-label=\"gemm, 128\"")); /* no rate */
    assert_null(strstr(html, "nan"));
    test_free(html);
}

/* The same kernels in two precisions, and a name that every format escapes. */
static const struct sample_variant both[] = {
    {"mma", "tf32", "64", 30000},
    {"mma", "bf16", "64", 15000},
    {"wg\"<mma>", "bf16", "64", 10000}};

static const char *make_labs(void)
{
    const char *db = sample_path("runs.db");
    assert_ok(sample_lab(db, both, 3, true, NULL));
    return db;
}

TEST_CASE_WITH(trace_has_slices_of_the_variant, NULL, export_cleanup)
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
    assert_null(strstr(text, "\"name\":\"gemm 64"));
    json_decref(all);
    test_free(text);
}

/* nsys has no column for it: the range of the launch has it. */
TEST_CASE_WITH(nsys_has_ranges_of_the_variant, NULL, export_cleanup)
{
    const char *db = make_labs();
    sample_sql(db, "UPDATE run SET pid = 77");
    test_free(export_as(db, "nsys", "x.sqlite"));
    const char *path = sample_path("x.sqlite");
    assert_rows(path, 3, "NVTX_EVENTS");
    assert_rows(path, 1,
                "NVTX_EVENTS AS n JOIN StringIds AS s ON s.id = n.textId JOIN "
                "ThreadNames AS t ON t.globalTid = n.globalTid WHERE n.text = "
                "s.value AND n.text = 'mma bf16 64, traced' AND n.eventType = "
                "59 AND n.globalTid = (77 << 24) + 77");
    /* from where the step's launch began to where it ended */
    assert_rows(path, 3,
                "NVTX_EVENTS AS n JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON "
                "k.start BETWEEN n.start AND n.end");
    assert_sql(path, 1,
               "SELECT group_concat(name, ',') = "
               "'start,end,eventType,rangeId,category,color,text,globalTid,"
               "endGlobalTid,textId,domainId,uint64Value,int64Value,"
               "doubleValue,uint32Value,int32Value,floatValue,jsonTextId,"
               "jsonText,binaryData' FROM pragma_table_info('NVTX_EVENTS')");
}

RUN_TESTS()
