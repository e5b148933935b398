/* test.h -- what every cmocka test includes.
 *
 * A test is static: one that RUN_TESTS() does not name does not compile. */
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h> /* after the four above, which it needs */

#define TEST_CASE(name) static void name(void **state __attribute__((unused)))

/* RUN_TESTS(cmocka_unit_test(a), cmocka_unit_test_setup(b, open)) is main(). */
#define RUN_TESTS(...)                                                         \
    int main(void)                                                             \
    {                                                                          \
        const struct CMUnitTest tests[] = {__VA_ARGS__};                       \
        return cmocka_run_group_tests(tests, NULL, NULL);                      \
    }
