/* The pictures of the HTML report, of files that hold what no recording writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "export_sample.h"
#include "profile_program.h"
#include "store_samples.h"

/* Run 1, with `rungs` of one size; %d in `name` is a rung's number. */
static const char *make_lab(int rungs, const char *name)
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
             rungs, name);
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

static void a_peak_without_an_end_is_none(void **state)
{
    const char *db = make_lab(2, "rung %d");
    const char *end;
    (void)state;
    sample_sql(db, "UPDATE lab_row SET ceilingCopy_B_s = 9e999;"
                   "INSERT INTO ceiling (backend, device, name, best_per_s) "
                   "VALUES ('cuda', 'NVIDIA H200', 'copy', 9e999)");
    char *html = export_as(db, "html", "x.html");
    const char *svg = picture(html, &end);
    no_attribute_is_no_number(html);
    assert_int_equal(count(svg, end, "<rect"), 2);
    assert_int_equal(count(svg, end, "<line"), 0);
    assert_non_null(strstr(html, "<td class=\"n\">1 TB/s</td>"
                                 "<td class=\"n\">n/a</td>"));
    test_free(html);
}

/* The axes of a roofline end where its points do. */
static void a_rate_without_an_end_is_no_point(void **state)
{
    const char *db = make_lab(2, "rung %d");
    (void)state;
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

/* A name is cut between characters, and says so. */
static void a_long_name_is_cut_between_characters(void **state)
{
    const char *db =
        make_lab(1, "x\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9"
                    "\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC"
                    "\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC"
                    "\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC"
                    "\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC"
                    "\xE2\x82\xAC\xE2\x82\xAC");
    const char *end;
    (void)state;
    char *html = export_as(db, "html", "x.html");
    const char *svg = picture(html, &end);
    assert_int_equal(lab_utf8_check(html, strlen(html)), (size_t)-1);
    assert_null(strstr(html, "\\x")); /* nor made visible byte by byte */
    assert_int_equal(count(svg, end, "\xE2\x82\xAC"), 24 - 7);
    assert_int_equal(count(svg, end, "\xE2\x82\xAC\xE2\x80\xA6 fp32<"), 1);
    test_free(html);
}

static void what_is_left_out_is_said(void **state)
{
    const char *end;
    (void)state;
    char *html = export_as(make_lab(70, "rung %d"), "html", "x.html");
    const char *svg = picture(html, &end);
    assert_int_equal(count(html, svg, "<p>The first 60 of 70.</p>"), 1);
    assert_int_equal(count(svg, end, "<rect"), 60);
    assert_int_equal(count(svg, end, "<line class=\"box\""), 60);
    assert_int_equal(count(html, svg, "<td class=\"w\">rung "), 70);
    test_free(html);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_peak_without_an_end_is_none,
                                  export_cleanup),
        cmocka_unit_test_teardown(a_rate_without_an_end_is_no_point,
                                  export_cleanup),
        cmocka_unit_test_teardown(a_long_name_is_cut_between_characters,
                                  export_cleanup),
        cmocka_unit_test_teardown(what_is_left_out_is_said, export_cleanup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
