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

RUN_TESTS()
