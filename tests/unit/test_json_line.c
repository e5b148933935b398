/* Lines of JSON: NaN and infinity are null, every digit of a number reads back,
 * and a line may be written in pieces. */
#include "test.h"

#include "base/unknown.h"
#include "report/json_line.h"

/* The line that is written has these members, one behind the other. */
static void has(json_t *object, const char *members)
{
    char text[256];
    FILE *to = fmemopen(text, sizeof(text), "w");
    assert_non_null(to);
    assert_ok(lab_json_write(to, object));
    assert_int_equal(fclose(to), 0);
    if (!strstr(text, members))
        fail_msg("%s is not in %s", members, text);
}

/* JSON has no NaN and no infinities. What is unknown is null; what was computed and
 * is no finite number is a word. */
TEST_CASE(what_json_has_no_number_for)
{
    static const double v[] = {1.5, NAN, INFINITY, -INFINITY};
    json_t *o = lab_json_new("t");
    lab_json_real(o, "unknown", NAN);
    lab_json_real(o, "infinite", INFINITY);
    lab_json_value(o, "computed", NAN);
    lab_json_value(o, "low", -INFINITY);
    lab_json_reals(o, "list", v, 4);
    lab_json_ints(o, "ints", (const int64_t[]){3, LAB_UNKNOWN}, 2);
    has(o, "\"unknown\":null,\"infinite\":\"inf\",\"computed\":\"nan\",\"low\":"
           "\"-inf\",\"list\":[1.5,null,\"inf\",\"-inf\"],\"ints\":[3,null]");
    json_t *array = json_array();
    for (size_t i = 0; i < 4; i++)
        json_array_append_new(array, lab_json_number(v[i]));
    o = lab_json_new("t");
    json_object_set_new(o, "list", array);
    has(o, "\"list\":[1.5,\"nan\",\"inf\",\"-inf\"]");
}

static void line_of(char text[256], json_t *object,
                    const struct lab_json_member *m, int n)
{
    FILE *to = fmemopen(text, 256, "w");
    assert_non_null(to);
    assert_ok(object ? lab_json_write(to, object)
                     : lab_json_write_numbers(to, "t", m, n));
    assert_int_equal(fclose(to), 0);
}

static void same_without_object(double v, int64_t whole)
{
    char by_object[256];
    char plain[256];
    const struct lab_json_member m[] = {
        {.key = "n", .whole = whole, .is_whole = true},
        {.key = "v", .value = v}};
    json_t *o = lab_json_new("t");
    lab_json_int(o, "n", whole);
    lab_json_value(o, "v", v);
    line_of(by_object, o, NULL, 0);
    line_of(plain, NULL, m, 2);
    assert_string_equal(by_object, plain);
}

/* A line of numbers is the same with and without an object. */
TEST_CASE(a_line_of_numbers)
{
    static const double v[] = {
        0,      -0.0,        1,       -17,    2.5,      1e15,    1e16,
        1e17,   123456789e8, 1e22,    1e-4,   1e-5,     1.25e-7, 3e-300,
        -1e300, 0.1,         2.0 / 3, 5e-324, -2.5e-10, 1e100,   65536.0};
    for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++)
        same_without_object(v[i], (int64_t)i - 3);
}

/* Powers of ten and the numbers beside them, halfway cases, and numbers of all
 * magnitudes, those of 32 bits too. */
TEST_CASE(every_digit_of_a_line)
{
    uint64_t random = 1;
    for (int power = -12; power <= 18; power++) {
        char ten[8];
        snprintf(ten, sizeof(ten), "1e%d", power);
        double v = strtod(ten, NULL);
        same_without_object(nextafter(v, 0), power);
        same_without_object(v, power);
        same_without_object(-nextafter(v, INFINITY), power);
    }
    for (int i = 1; i < 60; i++) { /* ends in 5 behind 17 digits */
        same_without_object(ldexp(3, i) + ldexp(1, i - 51), i);
        same_without_object(1 + ldexp(1, -i), i);
    }
    for (int i = 0; i < 20000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        double v = ldexp((double)(random >> 11), (int)(random % 97) - 97);
        same_without_object(i % 2 ? (double)(float)v : v, i);
    }
}

/* A tensor's elements are no objects: a finite number is as in other lines. */
TEST_CASE(a_line_in_pieces)
{
    static const double v[] = {0.1, -1e-30, NAN, INFINITY, -INFINITY};
    char text[256];
    struct lab_str line;
    FILE *to = fmemopen(text, sizeof(text), "w");
    lab_str_init(&line);
    lab_json_begin(&line, lab_json_new("t"));
    lab_str_add(&line, ",\"data\":[");
    lab_json_add_number(&line, -7, true);
    for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
        lab_str_add(&line, ",");
        lab_json_add_number(&line, v[i], false);
    }
    lab_str_add(&line, "]");
    assert_ok(lab_json_end(to, &line));
    assert_int_equal(fclose(to), 0);
    assert_string_equal(text,
                        "{\"type\":\"t\",\"data\":[-7,0.10000000000000001,"
                        "-1.0000000000000001e-30,\"nan\",\"inf\",\"-inf\"],"
                        "\"format\":1}\n");
}

RUN_TESTS()
