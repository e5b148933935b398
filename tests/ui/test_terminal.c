/* The program on a real pseudo-terminal: what it sends, how it ends, and in
 * which state it leaves the terminal. No tmux, no curses on this side. */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "ui/terminal.h"

#define DEMO LAB_BINARY_DIR "/bin/ui_demo"
enum { BYTES = 4 << 20, PATIENCE_MS = 20000 };

struct session {
    int master;
    pid_t pid;
    struct termios before;
    char *bytes; /* all that came from the program */
    size_t n;
};

/* `env` holds NAME=VALUE up to NULL, over a clean environment. */
static void start(struct session *s, const char *const *env, const char *option)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    s->bytes = test_malloc(BYTES);
    s->n = 0;
    s->pid = forkpty(&s->master, NULL, NULL, &size);
    assert_true(s->pid >= 0);
    if (s->pid == 0) {
        setenv("TERM", "xterm-256color", 1);
        setenv("LC_ALL", "C.UTF-8", 1);
        unsetenv("NO_COLOR");
        unsetenv("LAPENNA_LAB_SCRIPT");
        unsetenv("LINES");
        unsetenv("COLUMNS");
        for (; env && *env; env++)
            putenv((char *)(uintptr_t)*env);
        execl(DEMO, DEMO, option, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(tcgetattr(s->master, &s->before), 0);
}

static bool pump(struct session *s, int ms)
{
    struct pollfd fd = {.fd = s->master, .events = POLLIN};
    if (poll(&fd, 1, ms) <= 0)
        return false;
    ssize_t n = read(s->master, s->bytes + s->n, BYTES - 1 - s->n);
    if (n <= 0)
        return false;
    for (ssize_t i = 0; i < n; i++) /* so that strstr() sees all */
        if (s->bytes[s->n + (size_t)i] == '\0')
            s->bytes[s->n + (size_t)i] = ' ';
    s->n += (size_t)n;
    s->bytes[s->n] = '\0';
    return true;
}

/* Waits for `text` after byte `from`; the time that it took, in ms. */
static double await(struct session *s, size_t from, const char *text)
{
    int64_t t0 = lab_clock_monotonic_ns();
    for (;;) {
        double ms = (double)(lab_clock_monotonic_ns() - t0) / 1e6;
        s->bytes[s->n] = '\0';
        if (strstr(s->bytes + from, text))
            return ms;
        if (ms > PATIENCE_MS)
            fail_msg("no \"%s\" in:\n%s", text, s->bytes + from);
        pump(s, 50);
    }
}

static void type(struct session *s, const char *keys)
{
    assert_int_equal(write(s->master, keys, strlen(keys)),
                     (ssize_t)strlen(keys));
}

/* The exit status as a shell tells it; reads on until the program ends. */
static int finish(struct session *s)
{
    int status = 0;
    int64_t t0 = lab_clock_monotonic_ns();
    for (;;) {
        pid_t done = waitpid(s->pid, &status, WNOHANG);
        if (done == s->pid)
            break;
        if (lab_clock_monotonic_ns() - t0 > PATIENCE_MS * 1000000LL) {
            kill(s->pid, SIGKILL);
            waitpid(s->pid, &status, 0);
            fail_msg("it did not end");
        }
        pump(s, 20);
    }
    while (pump(s, 50))
        continue;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void leave(struct session *s)
{
    close(s->master);
    test_free(s->bytes);
}

/* The last word on each of these must be the sane one. */
static void assert_sane(struct session *s)
{
    struct termios after;
    assert_int_equal(tcgetattr(s->master, &after), 0);
    assert_int_equal(after.c_lflag, s->before.c_lflag);
    assert_int_equal(after.c_iflag, s->before.c_iflag);
    assert_int_equal(after.c_oflag, s->before.c_oflag);
    const char *shown = NULL;
    const char *hidden = NULL;
    const char *main_screen = NULL;
    const char *other_screen = NULL;
    for (const char *p = s->bytes; (p = strchr(p, '\033')); p++) {
        if (strncmp(p, "\033[?25h", 6) == 0 ||
            strncmp(p, "\033[?12l\033[?25h", 12) == 0)
            shown = p;
        if (strncmp(p, "\033[?25l", 6) == 0)
            hidden = p;
        if (strncmp(p, "\033[?1049l", 8) == 0)
            main_screen = p;
        if (strncmp(p, "\033[?1049h", 8) == 0)
            other_screen = p;
    }
    assert_true(other_screen && main_screen > other_screen);
    assert_true(!hidden || shown > hidden);
}

static void quitting_leaves_a_sane_terminal(void **state)
{
    (void)state;
    struct session s;
    start(&s, NULL, NULL);
    await(&s, 0, "Last runs");
    type(&s, "q");
    assert_int_equal(finish(&s), 0);
    assert_sane(&s);
    leave(&s);
}

static void signals_end_it_cleanly(void **state)
{
    (void)state;
    const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++) {
        struct session s;
        start(&s, NULL, NULL);
        await(&s, 0, "Last runs");
        type(&s, "\r"); /* a screen with a thread */
        await(&s, 0, "BEATS");
        kill(s.pid, signals[i]);
        assert_int_equal(finish(&s), 128 + signals[i]);
        assert_sane(&s);
        leave(&s);
    }
}

static void ctrl_c_ends_it_even_in_a_prompt(void **state)
{
    (void)state;
    struct session s;
    start(&s, NULL, NULL);
    await(&s, 0, "Last runs");
    type(&s, "/abc");
    await(&s, 0, "abc");
    type(&s, "\003");
    assert_int_equal(finish(&s), 130);
    assert_sane(&s);
    leave(&s);
}

static void a_loop_that_hangs_can_be_ended(void **state)
{
    (void)state;
    struct session s;
    struct timespec pause = {0, 100000000};
    start(&s, NULL, NULL);
    await(&s, 0, "Last runs");
    type(&s, "\r");
    await(&s, 0, "BEATS");
    type(&s, "Z");
    for (int i = 0; i < 3; i++) {
        nanosleep(&pause, NULL);
        kill(s.pid, SIGTERM);
    }
    int64_t t0 = lab_clock_monotonic_ns();
    assert_int_equal(finish(&s), 143);
    assert_true(lab_clock_monotonic_ns() - t0 < 5000000000LL);
    assert_sane(&s);
    leave(&s);
}

static void a_lost_terminal_ends_it(void **state)
{
    (void)state;
    struct session s;
    int status = 0;
    start(&s, NULL, NULL);
    await(&s, 0, "Last runs");
    close(s.master);
    for (int i = 0; i < 200 && waitpid(s.pid, &status, WNOHANG) == 0; i++)
        poll(NULL, 0, 50);
    assert_true(WIFEXITED(status) || WIFSIGNALED(status));
    assert_int_equal(
        WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), 129);
    test_free(s.bytes);
}

static void a_crash_restores_and_dies_of_it(void **state)
{
    (void)state;
    const char *const keys[] = {"X", "A"};
    const int signals[] = {SIGSEGV, SIGABRT};
    const char *const no_cores[] = {
        "ASAN_OPTIONS=handle_segv=0:handle_abort=0:detect_leaks=0", NULL};
    for (int i = 0; i < 2; i++) {
        struct session s;
        start(&s, no_cores, NULL);
        await(&s, 0, "Last runs");
        type(&s, "\r");
        await(&s, 0, "BEATS");
        type(&s, keys[i]);
        assert_int_equal(finish(&s), 128 + signals[i]);
        assert_sane(&s);
        if (i == 1) /* what the library said comes through */
            assert_non_null(strstr(s.bytes, "assertion of a library failed"));
        leave(&s);
    }
}

static void stderr_of_libraries_waits_for_the_end(void **state)
{
    (void)state;
    struct session s;
    start(&s, NULL, NULL);
    await(&s, 0, "Last runs");
    type(&s, "\r");
    await(&s, 0, "BEATS");
    type(&s, "E");
    await(&s, 0, "noise made");
    assert_null(strstr(s.bytes, "a library says"));
    type(&s, "qq");
    assert_int_equal(finish(&s), 0);
    const char *said = strstr(s.bytes, "a library says ^[[31mhello^[[0m");
    assert_non_null(said);
    assert_true(said > strstr(s.bytes, "\033[?1049l"));
    leave(&s);
}

/* Whether an SGR sequence in the bytes sets a colour. */
static bool sends_colour(const char *bytes)
{
    for (const char *p = bytes; (p = strstr(p, "\033[")); p += 2) {
        const char *q = p + 2;
        bool sgr = q[strspn(q, "0123456789;:")] == 'm';
        while (sgr && *q != 'm') {
            int code = atoi(q);
            if ((code >= 30 && code <= 38) || (code >= 40 && code <= 48) ||
                (code >= 90 && code <= 107))
                return true;
            q += strcspn(q, ";m");
            q += *q == ';';
        }
    }
    return false;
}

static bool colour_with(const char *const *env, const char *option)
{
    struct session s;
    start(&s, env, option);
    await(&s, 0, "Last runs");
    type(&s, "q");
    assert_int_equal(finish(&s), 0);
    bool colour = sends_colour(s.bytes);
    leave(&s);
    return colour;
}

static void colour_is_sent_only_where_wanted(void **state)
{
    (void)state;
    const char *const no_color[] = {"NO_COLOR=1", NULL};
    const char *const empty[] = {"NO_COLOR=", NULL};
    const char *const plain[] = {"TERM=xterm", NULL};
    const char *const mono[] = {"TERM=xterm-mono", NULL};
    assert_true(colour_with(NULL, NULL));
    assert_true(colour_with(plain, NULL));
    assert_true(colour_with(empty, NULL));
    assert_true(colour_with(no_color, "--color=always"));
    assert_false(colour_with(no_color, NULL));
    assert_false(colour_with(NULL, "--color=never"));
    assert_false(colour_with(mono, NULL));
    assert_false(sends_colour("\033[1;7mx\033[0m\033[3;5Hy\033[31n"));
    assert_true(sends_colour("\033[0;1;38;5;37mx"));
}

static void ascii_sends_no_high_byte(void **state)
{
    (void)state;
    const char *const c_locale[] = {"LC_ALL=C", NULL};
    for (int i = 0; i < 2; i++) {
        struct session s;
        start(&s, i ? c_locale : NULL, i ? NULL : "--ascii");
        await(&s, 0, "Last runs");
        type(&s, "\xC3\xA9"); /* and takes one without harm */
        type(&s, "\r");
        await(&s, 0, "BEATS");
        type(&s, "o");
        await(&s, 0, "blockIdx");
        type(&s, "qqq");
        assert_int_equal(finish(&s), 0);
        for (size_t k = 0; k < s.n; k++)
            assert_true((unsigned char)s.bytes[k] < 0x80);
        leave(&s);
    }
}

static void no_screen_is_said_in_one_line(void **state)
{
    (void)state;
    const char *const terms[] = {"TERM=dumb", "TERM=no-such-terminal", "TERM="};
    for (int i = 0; i < 3; i++) {
        const char *const env[] = {terms[i], NULL};
        struct session s;
        start(&s, env, NULL);
        assert_int_equal(finish(&s), 4);
        assert_non_null(strstr(s.bytes, "--plain"));
        assert_null(strchr(s.bytes, '\033'));
        assert_ptr_equal(strchr(s.bytes, '\n') + 1, s.bytes + s.n);
        leave(&s);
    }
    FILE *f = popen(DEMO " 2>&1 </dev/null | cat", "r");
    char line[512] = "";
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof(line), f));
    assert_non_null(strstr(line, "--plain"));
    assert_null(fgets(line, sizeof(line), f));
    pclose(f);
}

static void resize_to(struct session *s, int h, int w)
{
    struct winsize size = {.ws_row = (unsigned short)h,
                           .ws_col = (unsigned short)w};
    assert_int_equal(ioctl(s->master, TIOCSWINSZ, &size), 0);
}

static void resizing_loses_nothing(void **state)
{
    (void)state;
    struct session s;
    start(&s, NULL, NULL);
    await(&s, 0, "Last runs");
    resize_to(&s, 60, 200);
    await(&s, s.n, "About");
    type(&s, "jj"); /* on the broken one */
    await(&s, 0, "untis");
    size_t from = s.n;
    resize_to(&s, 1, 1);
    poll(NULL, 0, 200);
    pump(&s, 100);
    resize_to(&s, 10, 50);
    await(&s, from, "Too small: 50x10");
    from = s.n;
    resize_to(&s, 24, 80);
    await(&s, from, "untis"); /* the cursor is where it was */
    type(&s, "q");
    assert_int_equal(finish(&s), 0);
    assert_sane(&s);
    leave(&s);
}

static void typing_is_utf8_and_forgives(void **state)
{
    (void)state;
    struct session s;
    start(&s, NULL, NULL);
    await(&s, 0, "Last runs");
    type(&s, "\r");
    await(&s, 0, "BEATS");
    /* A stray byte, a cut character and an overlong one on the way. */
    type(&s, "p\025\xFF"
             "a\xE6\x97"
             "b\xC0\x80"
             "c\xE6\x97\xA5\xC3\xA9\r");
    await(&s, 0, "answer 1: abc日é");
    type(&s, "\033OP"); /* F1 */
    await(&s, 0, "Keys of this screen");
    type(&s, "qqq");
    assert_int_equal(finish(&s), 0);
    leave(&s);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* While a thread wakes the loop a thousand times a second. */
static void a_key_shows_within_50_ms(void **state)
{
    (void)state;
    enum { TRIES = 15 };
    double ms[TRIES];
    struct session s;
    start(&s, NULL, NULL);
    await(&s, 0, "Last runs");
    type(&s, "\r");
    await(&s, 0, "BEATS");
    for (int i = 0; i < TRIES; i++) {
        size_t from = s.n;
        type(&s, "p");
        ms[i] = await(&s, from, "name: ");
        type(&s, "\033");
        while (pump(&s, 150))
            continue;
    }
    qsort(ms, TRIES, sizeof(ms[0]), compare_doubles);
    if (ms[TRIES / 2] >= 50)
        fail_msg("the median key took %.1f ms", ms[TRIES / 2]);
    type(&s, "qq");
    assert_int_equal(finish(&s), 0);
    leave(&s);
}

/* Ticks of 10 ms that the process has used. */
static long used_ticks(pid_t pid)
{
    char path[64];
    char text[1024] = "";
    long user = 0;
    long kernel = 0;
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(text, sizeof(text), f));
    fclose(f);
    const char *p = strrchr(text, ')');
    assert_non_null(p);
    assert_int_equal(sscanf(p + 2,
                            "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
                            "%ld %ld",
                            &user, &kernel),
                     2);
    return user + kernel;
}

static void it_sleeps_when_nothing_happens(void **state)
{
    (void)state;
    struct session s;
    start(&s, NULL, NULL);
    await(&s, 0, "Last runs");
    while (pump(&s, 200))
        continue;
    long before = used_ticks(s.pid);
    assert_false(pump(&s, 3000)); /* and sends nothing */
    long used = used_ticks(s.pid) - before;
    if (used > 3 * sysconf(_SC_CLK_TCK) / 100)
        fail_msg("%ld ticks in 3 s", used);
    type(&s, "q");
    assert_int_equal(finish(&s), 0);
    leave(&s);
}

static void colour_rules_are_pure(void **state)
{
    (void)state;
    assert_true(lab_color_wanted(LAB_COLOR_AUTO, true, NULL, "xterm"));
    assert_true(lab_color_wanted(LAB_COLOR_AUTO, true, "", "xterm"));
    assert_false(lab_color_wanted(LAB_COLOR_AUTO, true, "0", "xterm"));
    assert_false(lab_color_wanted(LAB_COLOR_AUTO, false, NULL, "xterm"));
    assert_false(lab_color_wanted(LAB_COLOR_AUTO, true, NULL, "dumb"));
    assert_false(lab_color_wanted(LAB_COLOR_AUTO, true, NULL, NULL));
    assert_true(lab_color_wanted(LAB_COLOR_ALWAYS, false, "1", "xterm"));
    assert_false(lab_color_wanted(LAB_COLOR_NEVER, true, NULL, "xterm"));
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quitting_leaves_a_sane_terminal),
        cmocka_unit_test(signals_end_it_cleanly),
        cmocka_unit_test(ctrl_c_ends_it_even_in_a_prompt),
        cmocka_unit_test(a_loop_that_hangs_can_be_ended),
        cmocka_unit_test(a_lost_terminal_ends_it),
        cmocka_unit_test(a_crash_restores_and_dies_of_it),
        cmocka_unit_test(stderr_of_libraries_waits_for_the_end),
        cmocka_unit_test(colour_is_sent_only_where_wanted),
        cmocka_unit_test(ascii_sends_no_high_byte),
        cmocka_unit_test(no_screen_is_said_in_one_line),
        cmocka_unit_test(resizing_loses_nothing),
        cmocka_unit_test(typing_is_utf8_and_forgives),
        cmocka_unit_test(a_key_shows_within_50_ms),
        cmocka_unit_test(it_sleeps_when_nothing_happens),
        cmocka_unit_test(colour_rules_are_pure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
