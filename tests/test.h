/* test.h -- what every cmocka test includes.
 *
 * A TEST_CASE registers itself, and RUN_TESTS() is a main() that runs all of its
 * file in their order: no list that a case could be missing from. */
#pragma once
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* needs those above */

#include "base/error.h"

enum { TESTS_MOST = 128 }; /* of a file */

static struct CMUnitTest test_list[TESTS_MOST];
static int test_lines[TESTS_MOST];
static int test_count;

/* Constructors run in any order: sorted by line. */
static inline void test_add(int line, struct CMUnitTest test)
{
    int at = test_count++;
    if (at == TESTS_MOST)
        abort();
    for (; at > 0 && test_lines[at - 1] > line; at--) {
        test_list[at] = test_list[at - 1];
        test_lines[at] = test_lines[at - 1];
    }
    test_list[at] = test;
    test_lines[at] = line;
}

static inline int test_run_all(CMFixtureFunction setup,
                               CMFixtureFunction teardown)
{
    return _cmocka_run_group_tests("tests", test_list, (size_t)test_count,
                                   setup, teardown);
}

/* It is LAB_OK; else the error's text is printed. */
#define assert_ok(status)                                                      \
    do {                                                                       \
        if (status)                                                            \
            fail_msg("%s", lab_error());                                       \
    } while (0)

/* They differ by `tolerance` at most; else both are printed. NaN is near nothing. */
#define assert_near(got, want, tolerance)                                      \
    do {                                                                       \
        const double near_got = (got);                                         \
        const double near_want = (want);                                       \
        if (!(fabs(near_got - near_want) <= (tolerance)))                      \
            fail_msg("%.17g is not %.17g", near_got, near_want);               \
    } while (0)

/* The last error has this id, and its text this part: "[db.locked] run 3"; "[db.locked] "
 * for the id alone. Else what it is is printed. */
static inline bool error_is(const char *expected)
{
    char id[LAB_ERROR_ID_BYTES];
    const char *part = lab_error_wording(expected, id);
    if (strcmp(lab_error_id(), id) == 0 && strstr(lab_error(), part))
        return true;
    print_error("%s: [%s] %s\n", expected, lab_error_id(), lab_error());
    return false;
}

#define TEST_CASE(name) TEST_CASE_WITH(name, NULL, NULL)
/* With fixtures of its own; NULL: none. */
#define TEST_CASE_WITH(name, setup, teardown)                                  \
    static void name(void **state);                                            \
    __attribute__((constructor)) static void test_add_##name(void)             \
    {                                                                          \
        test_add(__LINE__,                                                     \
                 (struct CMUnitTest){#name, name, setup, teardown, NULL});     \
    }                                                                          \
    static void name(void **state __attribute__((unused)))

/* The same, with the fixture as a parameter: `struct kept *k`. */
#define TEST_CASE_OF(name, setup, teardown, fixture)                           \
    static void name##_of(fixture);                                            \
    TEST_CASE_WITH(name, setup, teardown)                                      \
    {                                                                          \
        name##_of(*state);                                                     \
    }                                                                          \
    static void name##_of(fixture __attribute__((unused)))

#define RUN_TESTS() RUN_TESTS_IN(NULL, NULL)
/* In that folder, which file names then begin from; needs unistd.h. */
#define RUN_TESTS_FROM(folder)                                                 \
    int main(void)                                                             \
    {                                                                          \
        return chdir(folder) ? 1 : test_run_all(NULL, NULL);                   \
    }
/* With fixtures around all of them. */
#define RUN_TESTS_IN(setup, teardown)                                          \
    int main(void)                                                             \
    {                                                                          \
        return test_run_all(setup, teardown);                                  \
    }
