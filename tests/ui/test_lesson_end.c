/* The program itself on a terminal: it ends in the middle of a training. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pty_session.h"

static void start_training(struct pty_session *s)
{
    const char *program = getenv("LAB_EXE");
    assert_non_null(program);
    pty_start(s, program, NULL, "mlp-digits");
    pty_await(s, 0, "step 0 of");
    pty_type(s, ":train 50000000\r");
    pty_await(s, 0, "samples/s");
}

/* The newest run, as the program itself lists it. */
static void assert_cancelled(void)
{
    char line[4096] = "";
    char command[1024];
    snprintf(command, sizeof(command), "'%s' profile list --json",
             getenv("LAB_EXE"));
    FILE *list = popen(command, "r");
    assert_non_null(list);
    assert_non_null(fgets(line, sizeof(line), list));
    while (fgetc(list) != EOF)
        continue;
    assert_int_equal(pclose(list), 0);
    assert_non_null(strstr(line, "\"status\":\"cancelled\""));
}

/* The engine's thread outlives the screen and must not wake it. */
static void a_signal_ends_a_training_run(void **state)
{
    static const int signals[] = {SIGTERM, SIGHUP};
    (void)state;
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        struct pty_session s;
        start_training(&s);
        kill(s.pid, signals[i]);
        assert_int_equal(pty_finish(&s), 128 + signals[i]);
        pty_assert_sane(&s);
        assert_null(strstr(s.bytes, "AddressSanitizer"));
        assert_cancelled();
        pty_leave(&s);
    }
}

static void a_lesson_is_left_in_a_training_run(void **state)
{
    struct pty_session s;
    (void)state;
    start_training(&s);
    pty_type(&s, ":quit\r");
    assert_int_equal(pty_finish(&s), 0);
    pty_assert_sane(&s);
    assert_cancelled();
    pty_leave(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_ends_a_training_run),
        cmocka_unit_test(a_lesson_is_left_in_a_training_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
