/* What a kernel's source changes where no assignment of it is read. */
#include "test.h"

#include "sim/variable.h"

/* Of the function in `text`: is `name` changed elsewhere? */
static bool changes(const char *text, const char *name)
{
    struct lab_sim_statements s;
    bool found = false;
    bool elsewhere = false;
    assert_ok(lab_sim_statements_read(text, strlen(text), &s));
    for (size_t i = 0; i < s.declared_count; i++)
        if (strcmp(s.declared[i].name, name) == 0) {
            found = true;
            elsewhere = elsewhere || s.declared[i].elsewhere;
        }
    lab_sim_statements_release(&s);
    assert_true(found);
    return elsewhere;
}

static bool after(const char *statement)
{
    char text[256];
    snprintf(text, sizeof(text),
             "__global__ void k(float *out, int m)\n{\n    int n = m;\n"
             "    %s\n    out[n] = 0;\n}\n",
             statement);
    assert_false(changes(text, "m"));
    return changes(text, "n");
}

TEST_CASE(a_reference_changes_what_it_is_of)
{
    assert_true(after("int &r = n;"));
    assert_true(after("int &r(n);"));
    assert_true(after("int &r{n};"));
    assert_true(after("const std::pair<int, int> &r(n);"));
    assert_true(after("auto &&r(n);"));
    assert_true(after("if (m) { int &r(n); }"));
}

TEST_CASE(an_and_before_a_call_is_no_reference)
{
    assert_false(after("bool b = m && valid(n);"));
    assert_false(after("int b = m & mask(n);"));
    assert_false(after("if (m && valid(n)) {}"));
    assert_false(after("return m & mask(n);"));
    assert_false(after("out[0] = m & mask(n);"));
}

RUN_TESTS()
