/* Starts a program on a pseudo-terminal, sends keys and waits for text on its
 * screen; pty_session.h has the calls. */
#include "pty_session.h"

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>
#include "test.h"

#include "base/clock.h"

enum { BYTES = 4 << 20, PATIENCE_MS = 60000 };

/* `env` holds NAME=VALUE up to NULL, over a clean environment. */
void pty_start(struct pty_session *s, const char *program,
               const char *const *env, const char *option)
{
    struct winsize size = {.ws_row = 24, .ws_col = 80};
    s->bytes = test_malloc(BYTES);
    s->n = 0;
    /* The modes are noted before the program can change them. */
    int slave;
    assert_int_equal(openpty(&s->master, &slave, NULL, NULL, &size), 0);
    assert_int_equal(tcgetattr(slave, &s->before), 0);
    s->pid = fork();
    assert_true(s->pid >= 0);
    if (s->pid == 0) {
        close(s->master);
        login_tty(slave);
        setenv("TERM", "xterm-256color", 1);
        setenv("LC_ALL", "C.UTF-8", 1);
        unsetenv("NO_COLOR");
        unsetenv("COLORTERM");
        unsetenv("LAPENNA_LAB_SCRIPT");
        unsetenv("LINES");
        unsetenv("COLUMNS");
        for (; env && *env; env++)
            putenv((char *)(uintptr_t)*env);
        execl(program, program, option, (char *)NULL);
        _exit(127);
    }
    close(slave);
}

bool pty_pump(struct pty_session *s, int ms)
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
double pty_await(struct pty_session *s, size_t from, const char *text)
{
    int64_t t0 = lab_clock_monotonic_ns();
    for (;;) {
        double ms = (double)(lab_clock_monotonic_ns() - t0) / 1e6;
        s->bytes[s->n] = '\0';
        if (strstr(s->bytes + from, text))
            return ms;
        if (ms > PATIENCE_MS)
            fail_msg("no \"%s\" in:\n%s", text, s->bytes + from);
        pty_pump(s, 50);
    }
}

void pty_type(struct pty_session *s, const char *keys)
{
    assert_int_equal(write(s->master, keys, strlen(keys)),
                     (ssize_t)strlen(keys));
}

void pty_show(struct pty_session *s, const char *keys, const char *text)
{
    pty_type(s, keys);
    pty_await(s, 0, text);
}

/* The exit status as a shell tells it; reads on until the program ends. */
int pty_finish(struct pty_session *s)
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
        pty_pump(s, 20);
    }
    while (pty_pump(s, 50))
        continue;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void pty_leave(struct pty_session *s)
{
    close(s->master);
    test_free(s->bytes);
}

/* The last word on each of these must be the sane one. */
void pty_assert_sane(struct pty_session *s)
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

void pty_end(struct pty_session *s, const char *keys, int status)
{
    pty_type(s, keys);
    assert_int_equal(pty_finish(s), status);
    pty_assert_sane(s);
    pty_leave(s);
}

void pty_resize(struct pty_session *s, int h, int w)
{
    struct winsize size = {.ws_row = (unsigned short)h,
                           .ws_col = (unsigned short)w};
    assert_int_equal(ioctl(s->master, TIOCSWINSZ, &size), 0);
}
