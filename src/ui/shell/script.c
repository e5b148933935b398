/* script.c -- keys from a file instead of a terminal, for tests. */
#include "script.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "ui/keymap.h"

enum token_kind {
    TOKEN_KEY,
    TOKEN_TEXT,
    TOKEN_RESIZE,
    TOKEN_CLICK,
    TOKEN_WAIT,
    TOKEN_AWAIT,
    TOKEN_EXPECT,
    TOKEN_ABSENT,
    TOKEN_SCREEN,
    TOKEN_QUIT
};

struct token {
    enum token_kind kind;
    int line;
    int a;
    int b;
    char *text; /* owned; may be NULL */
};

struct lab_script {
    char path[256];
    struct token *tokens;
    size_t count;
    size_t cap;
    size_t at;
    size_t text_at;   /* bytes of a TEXT token already typed */
    int64_t until_ns; /* end of a running wait, 0 none */
    lab_script_sees_fn *sees;
    void *user;
    bool failed;
    char why[512];
};

static const char *const WORDS[] = {
    [TOKEN_KEY] = "key",       [TOKEN_TEXT] = "text",
    [TOKEN_RESIZE] = "resize", [TOKEN_CLICK] = "click",
    [TOKEN_WAIT] = "wait",     [TOKEN_AWAIT] = "await",
    [TOKEN_EXPECT] = "expect", [TOKEN_ABSENT] = "absent",
    [TOKEN_SCREEN] = "screen", [TOKEN_QUIT] = "quit"};
enum { WORD_COUNT = sizeof(WORDS) / sizeof(WORDS[0]) };

/* What follows the word; false when it is not what the word takes. */
static bool read_rest(struct token *t, const char *rest)
{
    char after = '\0';
    int offset = 0;
    switch (t->kind) {
    case TOKEN_KEY:
        t->a = lab_key_parse(rest);
        return t->a != LAB_KEY_NONE;
    case TOKEN_RESIZE:
        return sscanf(rest, "%d %d%c", &t->b, &t->a, &after) == 2 &&
               t->a >= 0 && t->b >= 0 && t->a <= 1000 && t->b <= 1000;
    case TOKEN_CLICK:
        return sscanf(rest, "%d %d%c", &t->a, &t->b, &after) == 2;
    case TOKEN_WAIT:
        return sscanf(rest, "%d%c", &t->a, &after) == 1 && t->a >= 0;
    case TOKEN_AWAIT:
        if (sscanf(rest, "%d %n", &t->a, &offset) != 1 || t->a < 0)
            return false;
        rest += offset;
        break;
    case TOKEN_QUIT:
        return rest[0] == '\0';
    default:
        break;
    }
    t->text = lab_strdup(rest);
    return rest[0] != '\0' && t->text;
}

static enum lab_status add_line(struct lab_script *s, char *line, int number)
{
    struct token t = {.line = number};
    char *rest = strchr(line, ' ');
    size_t len = rest ? (size_t)(rest - line) : strlen(line);
    rest = rest ? rest + 1 : line + len;
    int kind = 0;
    while (kind < WORD_COUNT &&
           (strncmp(WORDS[kind], line, len) != 0 || WORDS[kind][len] != '\0'))
        kind++;
    t.kind = (enum token_kind)kind;
    if (kind == WORD_COUNT || !read_rest(&t, rest)) {
        lab_free(t.text);
        return lab_fail(LAB_E_PARSE, "%s:%d: \"%s\" is not a token", s->path,
                        number, line);
    }
    if (lab_grow(&s->tokens, s->count, &s->cap, sizeof(*s->tokens),
                 "the script")) {
        lab_free(t.text);
        return LAB_E_NOMEM;
    }
    s->tokens[s->count++] = t;
    return LAB_OK;
}

static enum lab_status read_file(struct lab_script *s, FILE *f)
{
    char line[1024];
    enum lab_status st = LAB_OK;
    for (int number = 1; !st && fgets(line, sizeof(line), f); number++) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] && line[0] != '#')
            st = add_line(s, line, number);
    }
    if (!st && ferror(f))
        st = lab_fail(LAB_E_IO, "%s: %s", s->path, strerror(errno));
    return st;
}

enum lab_status lab_script_open(struct lab_script **out, const char *path,
                                lab_script_sees_fn *sees, void *user)
{
    struct lab_script *s = lab_alloc(sizeof(*s));
    if (!s)
        return lab_fail(LAB_E_NOMEM, "the script");
    snprintf(s->path, sizeof(s->path), "%s", path);
    s->sees = sees;
    s->user = user;
    FILE *f = fopen(path, "re");
    enum lab_status st =
        f ? read_file(s, f)
          : lab_fail(LAB_E_IO, "%s: %s", path, strerror(errno));
    if (f)
        fclose(f);
    if (st)
        lab_script_close(s);
    else
        *out = s;
    return st;
}

void lab_script_close(struct lab_script *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++)
        lab_free(s->tokens[i].text);
    lab_free(s->tokens);
    lab_free(s);
}

void lab_script_size(const struct lab_script *s, int *h, int *w)
{
    *h = 24;
    *w = 80;
    if (s->count > 0 && s->tokens[0].kind == TOKEN_RESIZE) {
        *h = s->tokens[0].a;
        *w = s->tokens[0].b;
    }
}

static void fail_token(struct lab_script *s, const struct token *t,
                       const char *what, struct lab_event *out)
{
    snprintf(s->why, sizeof(s->why), "%s:%d: %s: \"%s\"", s->path, t->line,
             what, t->text);
    s->failed = true;
    out->kind = LAB_EVENT_END;
}

/* Sleeps for part of a wait; true when the wait is over. */
static bool sleep_some(struct lab_script *s, int ms, int timeout_ms,
                       int wake_fd, struct lab_event *out)
{
    int64_t now = lab_clock_monotonic_ns();
    if (s->until_ns == 0)
        s->until_ns = now + (int64_t)ms * 1000000;
    int left = (int)((s->until_ns - now + 999999) / 1000000);
    if (left <= 0) {
        s->until_ns = 0;
        return true;
    }
    if (timeout_ms >= 0 && timeout_ms < left)
        left = timeout_ms;
    struct pollfd fd = {.fd = wake_fd, .events = POLLIN};
    if (poll(&fd, 1, left) > 0)
        out->kind = LAB_EVENT_WAKE;
    return false;
}

static bool type_char(struct lab_script *s, const struct token *t,
                      struct lab_event *out)
{
    unsigned code = '?';
    const char *rest = t->text + s->text_at;
    size_t len = lab_utf8_next(rest, strlen(rest), &code);
    s->text_at += len ? len : 1;
    out->kind = LAB_EVENT_KEY;
    out->key = (int)code;
    if (t->text[s->text_at] != '\0')
        return false;
    s->text_at = 0;
    return true;
}

/* Runs a token into *out; true when the script may go on to the next. */
static bool run_token(struct lab_script *s, const struct token *t,
                      int timeout_ms, int wake_fd, struct lab_event *out)
{
    switch (t->kind) {
    case TOKEN_KEY:
        *out = (struct lab_event){.kind = LAB_EVENT_KEY, .key = t->a};
        return true;
    case TOKEN_TEXT:
        return type_char(s, t, out);
    case TOKEN_RESIZE:
        *out =
            (struct lab_event){.kind = LAB_EVENT_RESIZE, .h = t->a, .w = t->b};
        return true;
    case TOKEN_CLICK:
        *out =
            (struct lab_event){.kind = LAB_EVENT_MOUSE, .y = t->a, .x = t->b};
        return true;
    case TOKEN_WAIT:
        return sleep_some(s, t->a, timeout_ms, wake_fd, out);
    case TOKEN_AWAIT:
        if (s->sees(s->user, t->text)) {
            s->until_ns = 0;
            return true;
        }
        if (timeout_ms < 0 || timeout_ms > 20)
            timeout_ms = 20;
        if (sleep_some(s, t->a, timeout_ms, wake_fd, out))
            fail_token(s, t, "did not come", out);
        return false;
    case TOKEN_EXPECT:
        if (!s->sees(s->user, t->text))
            fail_token(s, t, "not on the screen", out);
        return true;
    case TOKEN_ABSENT:
        if (s->sees(s->user, t->text))
            fail_token(s, t, "on the screen", out);
        return true;
    case TOKEN_SCREEN:
        *out = (struct lab_event){.kind = LAB_EVENT_SHOT, .text = t->text};
        return true;
    case TOKEN_QUIT:
        out->kind = LAB_EVENT_END;
        return true;
    }
    return true;
}

/* Looking at the screen, or leaving it: that comes after the keys before it. */
static bool wants_keys_done(const struct token *t)
{
    return t->kind == TOKEN_EXPECT || t->kind == TOKEN_ABSENT ||
           t->kind == TOKEN_SCREEN || t->kind == TOKEN_QUIT;
}

void lab_script_wait(struct lab_script *s, int timeout_ms, int wake_fd,
                     bool keys_wait, struct lab_event *out)
{
    enum { PATIENCE_MS = 60000 };
    *out = (struct lab_event){.kind = LAB_EVENT_NONE};
    if (s->at >= s->count || s->failed) {
        out->kind = LAB_EVENT_END;
        return;
    }
    if (wants_keys_done(&s->tokens[s->at]) && keys_wait) {
        if (timeout_ms < 0 || timeout_ms > 20)
            timeout_ms = 20;
        if (sleep_some(s, PATIENCE_MS, timeout_ms, wake_fd, out))
            fail_token(s, &s->tokens[s->at], "keys before it still wait", out);
        return;
    }
    if (wants_keys_done(&s->tokens[s->at]))
        s->until_ns = 0;
    if (run_token(s, &s->tokens[s->at], timeout_ms, wake_fd, out))
        s->at++;
}

enum lab_status lab_script_result(const struct lab_script *s)
{
    return s->failed ? lab_fail(LAB_E_CHECK, "%s", s->why) : LAB_OK;
}
