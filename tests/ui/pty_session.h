/* tests/ui/pty_session.h -- a program on a pseudo-terminal of 80x24, watched
 * from the other side. Failures are cmocka's. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>

struct pty_session {
    int master;
    pid_t pid;
    struct termios before;
    char *bytes; /* all that came from the program, NUL-terminated */
    size_t n;
};

/* Runs `program` with one option (NULL: none) in a UTF-8 locale and
 * xterm-256color. `env` holds more NAME=VALUE up to NULL, or is NULL. */
void pty_start(struct pty_session *s, const char *program,
               const char *const *env, const char *option);
/* Takes what comes within `ms`; false when nothing did. */
bool pty_pump(struct pty_session *s, int ms);
/* Waits for `text` after byte `from`; the milliseconds that it took. */
double pty_await(struct pty_session *s, size_t from, const char *text);
void pty_type(struct pty_session *s, const char *keys);
/* Types keys, and waits for a text of any time. */
void pty_show(struct pty_session *s, const char *keys, const char *text);
/* Waits for its end; the exit status as a shell tells it. */
int pty_finish(struct pty_session *s);
/* Echo, canonical mode, cursor and main screen are as before the start. */
void pty_assert_sane(struct pty_session *s);
void pty_leave(struct pty_session *s);
/* Types keys, after which it ends so, with a sane terminal; and leaves it. */
void pty_end(struct pty_session *s, const char *keys, int status);
void pty_resize(struct pty_session *s, int h, int w);
