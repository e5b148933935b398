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

static void as_jansson(double v)
{
    struct lab_str line;
    json_t *number = lab_json_number(v);
    char *wanted = json_dumps(number, JSON_ENCODE_ANY);
    lab_str_init(&line);
    lab_json_add_number(&line, v, false);
    assert_non_null(wanted);
    if (strcmp(lab_str_text(&line), wanted) != 0)
        fail_msg("%a is %s, and %s by jansson", v, lab_str_text(&line), wanted);
    lab_str_release(&line);
    json_decref(number);
    free(wanted);
}

/* Numbers of tensors are put together by hand, to the last of 17 digits: beside powers
 * of ten, halfway between two last digits, of all exponents of fp32 and of fp64. */
TEST_CASE(numbers_of_a_tensor)
{
    for (int ten = -46; ten <= 39; ten++) {
        const float f = (float)pow(10, ten);
        const double d = pow(10, ten);
        const double near[] = {f,
                               nextafterf(f, 0),
                               nextafterf(f, INFINITY),
                               d,
                               nextafter(d, 0),
                               nextafter(d, INFINITY),
                               5 * d,
                               -d};
        for (size_t i = 0; i < sizeof(near) / sizeof(near[0]); i++)
            as_jansson(near[i]);
    }
    for (int k = 1; k < 400; k++) /* .25 and .75 have a digit too many */
        as_jansson(1e15 + 0.125 * k);
    uint64_t bits = 1;
    for (int i = 0; i < 40000; i++) {
        union {
            uint32_t bits;
            float v;
        } f;
        union {
            uint64_t bits;
            double v;
        } d = {bits};
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        f.bits = (uint32_t)(bits >> 32);
        as_jansson(f.v);
        as_jansson(d.v);
        as_jansson(fmod(f.v, 8)); /* of the size of activations */
    }
}

TEST_CASE(a_line_in_pieces)
{
    char text[256];
    struct lab_str line;
    json_t *o = lab_json_new("t");
    FILE *to = fmemopen(text, sizeof(text), "w");
    lab_str_init(&line);
    lab_json_begin(&line, o);
    lab_str_add(&line, ",\"data\":[");
    lab_json_add_number(&line, -7, true);
    lab_str_add(&line, ",");
    lab_json_add_number(&line, NAN, false);
    lab_str_add(&line, "]");
    assert_ok(lab_json_end(to, &line));
    assert_int_equal(fclose(to), 0);
    assert_string_equal(
        text, "{\"type\":\"t\",\"data\":[-7,\"nan\"],\"format\":1}\n");
}

RUN_TESTS()
