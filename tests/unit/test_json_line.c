#include "test.h"

#include "base/unknown.h"
#include "report/json_line.h"

static const char *written(json_t *object)
{
    static char text[256];
    FILE *to = fmemopen(text, sizeof(text), "w");
    assert_non_null(to);
    assert_ok(lab_json_write(to, object));
    assert_int_equal(fclose(to), 0);
    return text;
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
    assert_string_equal(written(o),
                        "{\"type\":\"t\",\"unknown\":null,\"infinite\":\"inf\","
                        "\"computed\":\"nan\",\"low\":\"-inf\",\"list\":[1.5,"
                        "null,\"inf\",\"-inf\"],\"ints\":[3,null]}\n");
    json_t *array = json_array();
    for (size_t i = 0; i < 4; i++)
        json_array_append_new(array, lab_json_number(v[i]));
    o = lab_json_new("t");
    json_object_set_new(o, "list", array);
    assert_string_equal(
        written(o),
        "{\"type\":\"t\",\"list\":[1.5,\"nan\",\"inf\",\"-inf\"]}\n");
}

RUN_TESTS()
