/* The pictures of the HTML report, of files that hold what no recording writes. */
#include "test.h"

#include "base/str.h"
#include "export_sample.h"
#include "store_samples.h"

/* Run 1, with `variants` of one size; %d in `name` is a variant's number. */
static const char *make_lab(int variants, const char *name)
{
    char sql[600];
    const char *path = sample_path("runs.db");
    record_gpu_run(path);
    snprintf(sql, sizeof(sql),
             "UPDATE run SET title = 'a lab';"
             "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
             "LIMIT %d) INSERT INTO lab_row (runId, place, lab, size, rung, "
             "precision, status, unit, rate, ceilingCopy_B_s) SELECT 1, i, "
             "'copy', '64', printf('%s', i), 'fp32', 'done', 'B/s', 1e12 + i * "
             "1e9, 4e12 FROM n",
             variants, name);
    sample_sql(path, sql);
    return path;
}

static int count(const char *from, const char *to, const char *what)
{
    int n = 0;
    for (const char *p = from; (p = strstr(p, what)) && p < to; p++)
        n++;
    return n;
}

/* The ladder's picture. */
static const char *picture(const char *html, const char **end)
{
    const char *p = strstr(html, "<h2>Ladder</h2>");
    assert_non_null(p);
    assert_non_null(p = strstr(p, "<svg "));
    assert_non_null(*end = strstr(p, "</svg>"));
    return p;
}

static void no_attribute_is_no_number(const char *html)
{
    static const char *const bad[] = {"\"nan", "\"-nan", "\"inf", "\"-inf",
                                      "Mnan",  "Lnan",   "Minf",  "Linf"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (strstr(html, bad[i]))
            fail_msg("%.60s", strstr(html, bad[i]));
}

TEST_CASE_WITH(a_peak_without_an_end_is_none, NULL, export_cleanup)
{
    const char *db = make_lab(2, "variant %d");
    const char *end;
    sample_sql(db, "UPDATE lab_row SET ceilingCopy_B_s = 9e999;"
                   "UPDATE run SET device = 'a chip of my own';"
                   "INSERT INTO ceiling (backend, device, name, best_per_s) "
                   "VALUES ('cuda', 'a chip of my own', 'copy', 9e999)");
    char *html = export_as(db, "html", "x.html");
    const char *svg = picture(html, &end);
    no_attribute_is_no_number(html);
    assert_int_equal(count(svg, end, "<rect"), 2);
    assert_int_equal(count(svg, end, "<line"), 0);
    assert_non_null(strstr(html, "<td class=\"n\">1.00 TB/s</td>"
                                 "<td class=\"n\">n/a</td>"));
    test_free(html);
}

/* The axes of a roofline end where its points do. */
TEST_CASE_WITH(a_rate_without_an_end_is_no_point, NULL, export_cleanup)
{
    const char *db = make_lab(2, "variant %d");
    sample_sql(db, "UPDATE run SET summed = NULL; DELETE FROM time_sum;"
                   "UPDATE step SET flop = 9e999, bytes = 64 WHERE stepIndex = "
                   "0;"
                   "UPDATE step SET flop = 1e300, bytes = 1e-300 WHERE "
                   "stepIndex = 1;"
                   "UPDATE step SET flop = 64, bytes = 9e999 WHERE stepIndex = "
                   "2;"
                   "UPDATE step SET flop = 1e6, bytes = 1e6 WHERE stepIndex = "
                   "3");
    char *html = export_as(db, "html", "x.html");
    const char *roofline = strstr(html, "<h2>Roofline</h2>");
    assert_non_null(roofline);
    no_attribute_is_no_number(html);
    assert_int_equal(count(roofline, html + strlen(html), "<circle"), 1);
    test_free(html);
}

/* A name is cut between characters, with a mark. */
TEST_CASE_WITH(a_long_name_is_cut_between_characters, NULL, export_cleanup)
{
    const char *db =
        make_lab(1, "x\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"
                    "\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC"
                    "\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC"
                    "\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC"
                    "\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC"
                    "\xE2\x82\xAC\xE2\x82\xAC");
    const char *end;
    char *html = export_as(db, "html", "x.html");
    const char *svg = picture(html, &end);
    assert_int_equal(lab_utf8_check(html, strlen(html)), (size_t)-1);
    assert_null(strstr(html, "\\x")); /* nor made visible byte by byte */
    assert_int_equal(count(svg, end, "\xE2\x82\xAC"), 24 - 7);
    assert_int_equal(count(svg, end, "\xE2\x82\xAC\xE2\x80\xA6 fp32<"), 1);
    test_free(html);
}

TEST_CASE_WITH(what_is_left_out_is_named, NULL, export_cleanup)
{
    const char *end;
    char *html = export_as(make_lab(70, "variant %d"), "html", "x.html");
    const char *svg = picture(html, &end);
    assert_int_equal(count(html, svg, "<p>The first 60 of 70, in the order "),
                     1);
    assert_int_equal(count(svg, end, "<rect"), 60);
    assert_int_equal(count(svg, end, "<line class=\"box\""), 60);
    assert_int_equal(count(html, svg, "<td class=\"w\">variant "), 70);
    test_free(html);
}

/* ---- roofs ---- */

static void has(const char *html, const char *what)
{
    if (!strstr(html, what))
        fail_msg("the page has no %s", what);
}

static void has_not(const char *html, const char *what)
{
    if (strstr(html, what))
        fail_msg("the page has %.80s", strstr(html, what));
}

/* What was measured on the very device that run 1 ran on. */
static void measure(const char *db)
{
    sample_sql(db,
               "UPDATE TARGET_INFO_GPU SET uuid = 'GPU-1';"
               "INSERT INTO ceiling (backend, device, uuid, name, best_per_s, "
               "measured, measured_ns) SELECT 'cuda', 'NVIDIA H200', 'GPU-1', "
               "column1, column2, '2026-01-02', 5 FROM (VALUES ('copy', 2e12), "
               "('fp32', 5e13), ('bf16', 8e14))");
}

/* Where the text that ends with `what` is. */
static double height_of(const char *html, const char *what)
{
    const char *at = strstr(html, what);
    const char *y = NULL;
    assert_non_null(at);
    for (const char *p = html; (p = strstr(p, " y=\"")) && p < at; p++)
        y = p;
    assert_non_null(y);
    return strtod(y + 4, NULL);
}

/* Those of `profile roofline`: what was measured, else the data sheet's. */
PROFILE_CASE(roofs_are_those_of_roofline)
{
    char *html = export_as(db, "html", "x.html");
    has_not(html, "class=\"sheet\"");
    test_free(html);
    measure(db);
    html = export_as(db, "html", "y.html");
    has(html, "class=\"sheet\"");
    test_free(html);
    /* one height, two lines of text */
    sample_sql(db, "UPDATE run SET precision = 'bf16, fp16'; UPDATE ceiling "
                   "SET name = 'fp16', best_per_s = 989.5e12 WHERE name = "
                   "'bf16'");
    html = export_as(db, "html", "w.html");
    assert_true(height_of(html, " fp16 (measured)") >=
                height_of(html, " bf16 (NVIDIA") + 13);
    no_attribute_is_no_number(html);
    test_free(html);
}

/* Rates of 1 and 1.001 TB/s; the lab itself measured 4 TB/s. */
TEST_CASE_WITH(a_ladder_has_the_same_roof, NULL, export_cleanup)
{
    const char *db = make_lab(2, "variant %d");
    const char *end;
    char *html = export_as(db, "html", "x.html");
    has(picture(html, &end), "1.00 TB/s, 25 %</text>");
    has(html, "<td class=\"w\">copy</td><td class=\"n\">4.00 TB/s</td><td "
              "class=\"w\">measured by this run</td>");
    has(html, ">4.00 TB/s copy (measured by this run)</text>");
    test_free(html);
    measure(db); /* the larger one is the roof */
    sample_sql(db, "UPDATE lab_row SET ceilingCopy_B_s = 1.5e12");
    html = export_as(db, "html", "y.html");
    has(picture(html, &end), "1.00 TB/s, 50 %</text>");
    has(html, ">2.00 TB/s copy (measured)</text>");
    test_free(html);
}

/* ---- counters ---- */

/* ---- bars and words ---- */

static int names_in(const char *svg, const char *end, char first)
{
    char name[32];
    snprintf(name, sizeof(name), ">%c.", first);
    return count(svg, end, name);
}

/* Short steps come first; three of those of one length have room. */
PROFILE_CASE(bars_are_the_longest)
{
    sample_sql(
        db, "UPDATE run SET summed = NULL; DELETE FROM time_sum;"
            "DELETE FROM step; DELETE FROM op_kernel;"
            "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
            "LIMIT 80) INSERT INTO StringIds (value) SELECT printf('%s.%d', "
            "iif(i < 10, 's', iif(i < 23, 'e', 'l')), i) FROM n;"
            "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n "
            "LIMIT 80) INSERT INTO step (runId, exec, iteration, stepIndex, "
            "phase, nameId, timeSource, time_ns) SELECT 1, 100 + i, 0, i, 0, "
            "(SELECT id FROM StringIds WHERE value GLOB '[sel].' || i), 1, "
            "iif(i < 10, 100, iif(i < 23, 200, 1000 + i)) FROM n");
    char *html = export_as(db, "html", "x.html");
    const char *svg = strstr(html, "aria-label=\"median time of each step\"");
    assert_non_null(svg);
    const char *end = strstr(svg, "</svg>");
    has(html, "<p>The longest 60 of 80, in the order they ran; the table has "
              "all.</p>");
    assert_int_equal(count(svg, end, "<rect"), 60);
    assert_int_equal(names_in(svg, end, 's'), 0);
    assert_int_equal(names_in(svg, end, 'e'), 3);
    assert_int_equal(names_in(svg, end, 'l'), 57);
    assert_true(strstr(svg, ">e.12<") < strstr(svg, ">l.23<"));
    assert_true(strstr(svg, ">l.23<") < strstr(svg, ">l.79<"));
    test_free(html);
}

/* The longest step is not the one whose times reach furthest. */
PROFILE_CASE(the_widest_half_has_room)
{
    static const char edge[] = "x2=\"";
    sample_sql(db, "UPDATE run SET summed = NULL; DELETE FROM time_sum;"
                   "UPDATE step SET time_ns = iif(stepIndex <> 0, 200, "
                   "iif(iteration = 2, 50000, 100))");
    char *html = export_as(db, "html", "x.html");
    const char *svg = strstr(html, "aria-label=\"median time of each step\"");
    assert_non_null(svg);
    const char *end = strstr(svg, "</svg>");
    for (const char *p = svg; (p = strstr(p, edge)) && p < end; p++)
        assert_true(strtod(p + strlen(edge), NULL) < 860);
    assert_int_equal(count(svg, end, edge), 4);
    test_free(html);
}

RUN_TESTS()
