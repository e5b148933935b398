/* What a lab measured, as `profile show` and `profile export` have it. */
#include "test.h"

#include "export_sample.h"
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

TEST_CASE_WITH(csv_has_rungs_and_what_was_said, NULL, export_cleanup)
{
    const char *db = make_lab(true, true);
    assert_int_equal(profile(db, "export 1 --format csv --output - @"), 0);
    int width = commas(output);
    for (const char *p = output; *p; p = strchr(p, '\n') + 1)
        assert_int_equal(commas(p), width);
    assert_int_equal(count(output, "\nrung,1,"), 3);
    assert_int_equal(count(output, "\nsaid,1,"), 1);
    assert_int_equal(count(output, "\ntuned,1,"), 1);
    assert_int_equal(count(output, "\nsweep,1,"), 1);
    assert_non_null(strstr(output, ",lab,lab_size,lab_rung,"));
    assert_int_equal(
        profile(db, "export 1 --format csv --table rungs --output - @"), 0);
    assert_int_equal(strncmp(output, "run,lab_place,lab,lab_size,", 27), 0);
    assert_non_null(strstr(output, ",lab_three_quarters_ns,"));
    assert_non_null(strstr(output, "\n1,1,gemm,64,tile,fp32,done,,\"'=1+1,<b>\""
                                   ",20,,,1500,1700,,FLOP/s,2000000000000,"));
    assert_non_null(
        strstr(output, "\n1,2,gemm,128,tile,fp32,refused,no room,"));
    assert_int_equal(
        profile(db, "export 1 --format csv --table said --output - @"), 0);
    assert_non_null(strstr(output, "\n1,0,best,,,3500000000000,,memory,50\r"));
    assert_int_equal(
        profile(db, "export 1 --format csv --table tuned --output - @"), 0);
    assert_non_null(strstr(output, "\n1,gemm,small,fp32,128x64x8,64,1400,"));
    assert_int_equal(
        profile(db, "export 1 --format csv --table sweeps --output - @"), 0);
    assert_non_null(strstr(output, "\n1,0,batch-size,mlp,cpu,,16,done,,7,,"));
}

/* Of a run that is no lab nothing changes. */
TEST_CASE_WITH(csv_of_a_lesson_has_no_such_columns, NULL, export_cleanup)
{
    const char *db = make_lab(false, false);
    assert_int_equal(profile(db, "export 1 --format csv --output - @"), 0);
    assert_null(strstr(output, "lab_"));
    assert_non_null(strstr(output, ",l1_hit_pct,l2_hit_pct\r\n"));
    char *html = export_as(db, "html", "x.html");
    assert_null(strstr(html, "Ladder"));
    test_free(html);
}

TEST_CASE_WITH(lines_have_every_row, NULL, export_cleanup)
{
    static const char *const types[] = {"lab_row",  "lab_row",   "lab_row",
                                        "lab_said", "lab_tuned", "sweep_row"};
    const char *db = make_lab(true, true);
    int at = 0;
    assert_int_equal(profile(db, "export 1 --format jsonl --output - @"), 0);
    json_t *o;
    for (int n = 0; (o = line_object(n)); n++) {
        const char *type = text_of(o, "type");
        if (strstr(type, "lab_") == type || strcmp(type, "sweep_row") == 0)
            assert_string_equal(type, types[at++]);
        if (strcmp(type, "lab_said") == 0) {
            assert_string_equal(text_of(o, "variant"), "best");
            assert_string_equal(text_of(o, "bound"), "memory");
            assert_true(json_is_null(json_object_get(o, "time_ns")));
        }
        if (strcmp(type, "lab_tuned") == 0)
            assert_string_equal(text_of(o, "candidate"), "128x64x8");
        json_decref(o);
    }
    assert_int_equal(at, 6);
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
         "gain_model,check_error,sample_error,flop,bytes,traffic_bytes,"
         "workspace_bytes,flush_bytes,ceiling_copy_bytes_per_s,"
         "ceiling_fp32_flop_per_s,"
         "sm_clock_before_hz,sm_clock_after_hz,memory_clock_hz,temperature_c,"
         "power_w,traced_exec"},
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
         "parameters,flop,loss_equal_samples,loss_equal_iterations,share"},
    };
    const char *db = make_lab(true, true);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        char keys[1000];
        char args[100];
        assert_int_equal(profile(db, "export 1 --format jsonl --output - @"),
                         0);
        keys_of(kinds[i].type, keys, sizeof(keys));
        assert_string_equal(keys, kinds[i].keys);
        snprintf(args, sizeof(args),
                 "export 1 --format csv --table %s --output - @",
                 kinds[i].table);
        assert_int_equal(profile(db, args), 0);
        assert_int_equal(commas(output) + 1 - kinds[i].twice,
                         commas(keys)); /* without the type */
    }
}

TEST_CASE_WITH(show_says_what_was_expected, NULL, export_cleanup)
{
    const char *db = make_lab(true, false);
    assert_int_equal(profile(db, "show 1 @"), 0);
    const char *said = strstr(output, "expected of");
    assert_non_null(said);
    assert_non_null(strstr(said, "GFLOP/s"));
    assert_non_null(strstr(said, "best"));
    assert_non_null(strstr(said, "3500"));
    assert_non_null(strstr(said, "memory"));
    assert_non_null(strstr(said, "50 %"));
}

TEST_CASE_WITH(show_says_why_a_model_is_passed, NULL, export_cleanup)
{
    const char *db = make_lab(true, false);
    sample_sql(db, "UPDATE lab_row SET rateModel = 2.1e12 WHERE rung = 'tile'");
    assert_int_equal(profile(db, "show 1 @"), 0);
    assert_null(strstr(output, "passed"));
    sample_sql(db, "UPDATE lab_row SET rateModel = 1.9e12 WHERE rung = 'tile'");
    assert_int_equal(profile(db, "show 1 @"), 0);
    assert_non_null(strstr(output, "=1+1,<b>; passed: the model counts each"));
    sample_sql(db, "UPDATE lab_row SET unit = 'B/s', bytes = 8, traffic_bytes "
                   "= 64");
    assert_int_equal(profile(db, "show 1 @"), 0);
    assert_non_null(strstr(output, "passed: caches serve a part"));
}

TEST_CASE_WITH(show_says_what_was_tuned, NULL, export_cleanup)
{
    const char *db = make_lab(true, false);
    assert_int_equal(profile(db, "show 1 @"), 0);
    const char *tuned = strstr(output, "fastest");
    assert_non_null(tuned);
    assert_non_null(strstr(tuned, "GFLOP/s"));
    const char *row = strstr(tuned, "gemm");
    assert_non_null(row);
    assert_non_null(strstr(row, "small"));
    assert_non_null(strstr(row, "128x64x8"));
    assert_non_null(strstr(row, "1.40 us"));
    assert_non_null(strstr(row, "2100"));
    assert_int_equal(count(output, "fastest"), 1);
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
    assert_int_equal(sample_int(here, "SELECT count(*) FROM lab_tuned"), 1);
}

TEST_CASE_WITH(show_of_a_sweep_has_no_winners, NULL, export_cleanup)
{
    const char *db = make_lab(false, true);
    assert_int_equal(profile(db, "show 1 @"), 0);
    assert_non_null(strstr(output, "samples/s"));
    assert_null(strstr(output, "fastest"));
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
    assert_non_null(strstr(ladder, "<h3>gemm, 64</h3>"));
    assert_non_null(strstr(ladder, "<h3>gemm, 128</h3>"));
    assert_non_null(strstr(ladder, "<td class=\"n\">2.00 TFLOP/s</td>"
                                   "<td class=\"n\">25.0 %</td>"
                                   "<td class=\"n\">2.00 x</td>"));
    assert_non_null(strstr(ladder, "aria-label=\"gemm, 64\""));
    assert_null(strstr(ladder, "aria-label=\"gemm, 128\"")); /* no rate */
    assert_non_null(strstr(ladder, "2.00 TFLOP/s, 25 %</text>"));
    assert_non_null(strstr(ladder, "=1+1,&lt;b&gt;"));
    assert_non_null(strstr(ladder, "<h3>Expected before</h3>"));
    assert_non_null(strstr(ladder, ">GFLOP/s</th><th class=\"n\">time</th>"));
    assert_non_null(strstr(ladder, "128x64x8"));
    assert_non_null(strstr(ladder, "<h3>batch-size of mlp</h3>"));
    assert_null(strstr(html, "nan"));
    test_free(html);
}

RUN_TESTS()
