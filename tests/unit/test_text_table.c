/* Tables in text: how numbers are written, and tables that are wider than the
 * terminal, in parts. */
#include "test.h"

#include "report/text_table.h"

static const char *real(double v, int digits)
{
    static const char *const heads[] = {">v", NULL};
    static char text[64];
    struct lab_text_table t;
    struct lab_str out;
    lab_text_table_init(&t, heads);
    lab_text_table_add_real(&t, v, digits);
    lab_str_init(&out);
    assert_ok(lab_text_table_format(&t, &out));
    lab_text_table_release(&t);
    const char *line = strchr(lab_str_text(&out), '\n') + 1;
    line += strspn(line, " ");
    size_t n = strcspn(line, "\n");
    assert_true(n < sizeof(text));
    memcpy(text, line, n);
    text[n] = '\0';
    lab_str_release(&out);
    return text;
}

/* A learner reads 4112, not 4.11e+03; beyond a million the power is easier to read. */
TEST_CASE(reals_have_no_power_where_they_need_none)
{
    assert_string_equal(real(4112.3, 3), "4112");
    assert_string_equal(real(999.6, 3), "1000");
    assert_string_equal(real(-25053, 3), "-25053");
    assert_string_equal(real(999999, 3), "999999");
    assert_string_equal(real(1234567, 3), "1.23e+06");
    assert_string_equal(real(85.34, 3), "85.3");
    assert_string_equal(real(0.00012345, 3), "0.000123");
    assert_string_equal(real(0, 3), "0");
    assert_string_equal(real(NAN, 3), "n/a");
    assert_string_equal(real(INFINITY, 3), "inf");
}

static void put_wide(struct lab_text_table *t, size_t most, const char *want)
{
    static const char *const heads[] = {">#",     "step", ">time",
                                        ">bytes", "by",   NULL};
    struct lab_str out;
    lab_text_table_init(t, heads);
    t->most = most;
    for (int i = 0; i < 2; i++) {
        lab_text_table_add_int(t, i);
        lab_text_table_add(t, i ? "fc1.bias" : "fc1");
        lab_text_table_add(t, "1.25 us");
        lab_text_table_add(t, "4.00 KiB");
        lab_text_table_add(t, "cpu");
    }
    lab_str_init(&out);
    assert_ok(lab_text_table_format(t, &out));
    assert_string_equal(lab_str_text(&out), want);
    lab_str_release(&out);
}

/* No line is longer than the terminal, but where one column alone is. */
TEST_CASE(a_wide_table_comes_in_parts)
{
    struct lab_text_table t;
    put_wide(&t, 80,
             "#  step         time     bytes  by\n"
             "0  fc1       1.25 us  4.00 KiB  cpu\n"
             "1  fc1.bias  1.25 us  4.00 KiB  cpu\n");
    put_wide(&t, 30,
             "#  step         time     bytes\n"
             "0  fc1       1.25 us  4.00 KiB\n"
             "1  fc1.bias  1.25 us  4.00 KiB\n"
             "\n"
             "#  step      by\n"
             "0  fc1       cpu\n"
             "1  fc1.bias  cpu\n");
    put_wide(&t, 29,
             "#  step         time\n"
             "0  fc1       1.25 us\n"
             "1  fc1.bias  1.25 us\n"
             "\n"
             "#  step         bytes  by\n"
             "0  fc1       4.00 KiB  cpu\n"
             "1  fc1.bias  4.00 KiB  cpu\n");
}

/* Rows of one size each, that differ in their second column; those that have nothing in a
 * later part are not in it. */
TEST_CASE(a_part_names_its_rows)
{
    static const char *const heads[] = {"size",  "variant", "in",
                                        ">time", "note",    NULL};
    struct lab_text_table t;
    struct lab_str out;
    lab_text_table_init(&t, heads);
    t.most = 30;
    for (int i = 0; i < 3; i++) {
        lab_text_table_add(&t, i < 2 ? "1024" : "4096");
        lab_text_table_add(&t, i == 1 ? "tile" : "direct");
        lab_text_table_add(&t, "fp32");
        lab_text_table_add(&t, "1.25 ms");
        lab_text_table_add(&t, i == 1 ? "workspace" : "");
    }
    lab_str_init(&out);
    assert_ok(lab_text_table_format(&t, &out));
    assert_string_equal(lab_str_text(&out), "size  variant  in       time\n"
                                            "1024  direct   fp32  1.25 ms\n"
                                            "1024  tile     fp32  1.25 ms\n"
                                            "4096  direct   fp32  1.25 ms\n"
                                            "\n"
                                            "size  variant  note\n"
                                            "1024  tile     workspace\n");
    lab_str_release(&out);
}

/* A last column of text is broken between words, where a part has room for some. */
TEST_CASE(a_long_text_is_broken)
{
    static const char *const heads[] = {"name", ">n", "what", NULL};
    struct lab_text_table t;
    struct lab_str out;
    lab_text_table_init(&t, heads);
    t.most = 42;
    lab_text_table_add(&t, "bsp");
    lab_text_table_add_int(&t, 5);
    lab_text_table_add(&t, "the cost of a superstep, and of its \u00e9nd");
    lab_text_table_add(&t, "path");
    lab_text_table_add_int(&t, 12);
    lab_text_table_add(&t, "/a/word/that/is/longer/than/the/terminal/has/room");
    lab_str_init(&out);
    assert_ok(lab_text_table_format(&t, &out));
    assert_string_equal(
        lab_str_text(&out),
        "name   n  what\n"
        "bsp    5  the cost of a superstep, and of\n"
        "          its \u00e9nd\n"
        "path  12  /a/word/that/is/longer/than/the/terminal/has/"
        "room\n");
    lab_str_release(&out);
}

RUN_TESTS()
