/* script.c -- keys from a file, played with or without a terminal, and keys of a
 * session written to one. script.h has the format; ui.c asks it for events where
 * it would ask the terminal. */
#include "script.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/file.h"
#include "base/str.h"
#include "ui/keymap.h"

enum token_kind {
    TOKEN_KEY,
    TOKEN_TEXT,
    TOKEN_RESIZE,
    TOKEN_CLICK,
    TOKEN_WHEEL_UP,
    TOKEN_WHEEL_DOWN,
    TOKEN_WAIT,
    TOKEN_CAPTION,
    TOKEN_AWAIT,
    TOKEN_EXPECT,
    TOKEN_ABSENT,
    TOKEN_SCREEN,
    TOKEN_QUIT,
    TOKEN_COUNT
};

struct token {
    enum token_kind kind;
    int line;
    int a;
    int b;
    const char *text; /* "": none */
    struct token *next;
};

struct lab_script {
    char path[256];
    bool played;             /* a recording: it writes no files */
    struct lab_arena memory; /* of the tokens */
    struct token *first;
    struct token *at;                /* NULL: the end */
    size_t text_at;                  /* bytes of a TEXT token already typed */
    int64_t until_ns;                /* end of a running wait, 0 none */
    const struct lab_canvas *canvas; /* the screen */
    const char *caption;             /* "": none */
    int done;                        /* keys and clicks that were played */
    int all;
    bool quit;     /* by a token */
    char why[512]; /* it failed; "": it did not */
};

static const char *const WORDS[TOKEN_COUNT] = {
    [TOKEN_KEY] = "key",           [TOKEN_TEXT] = "text",
    [TOKEN_RESIZE] = "resize",     [TOKEN_CLICK] = "click",
    [TOKEN_WHEEL_UP] = "wheel-up", [TOKEN_WHEEL_DOWN] = "wheel-down",
    [TOKEN_WAIT] = "wait",         [TOKEN_CAPTION] = "caption",
    [TOKEN_AWAIT] = "await",       [TOKEN_EXPECT] = "expect",
    [TOKEN_ABSENT] = "absent",     [TOKEN_SCREEN] = "screen",
    [TOKEN_QUIT] = "quit"};

static bool is_input(const struct token *t)
{
    return t->kind <= TOKEN_WHEEL_DOWN && t->kind != TOKEN_RESIZE;
}

/* What follows the word; false when it is not what the word takes. */
static bool read_rest(struct lab_arena *memory, struct token *t,
                      const char *rest)
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
    case TOKEN_WHEEL_UP:
    case TOKEN_WHEEL_DOWN:
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
    case TOKEN_CAPTION:
        t->text = lab_arena_text(memory, rest, strlen(rest));
        return t->text;
    default:
        break;
    }
    t->text = lab_arena_text(memory, rest, strlen(rest));
    return rest[0] != '\0' && t->text;
}

/* *out becomes the token of a line. */
static enum lab_status read_line(struct lab_script *s, const char *line,
                                 int number, struct token **out)
{
    struct token *t = lab_arena_take(&s->memory, sizeof(*t));
    size_t len = strcspn(line, " ");
    int kind = 0;
    if (!t)
        return lab_no_memory("the script");
    while (kind < TOKEN_COUNT &&
           (strncmp(WORDS[kind], line, len) != 0 || WORDS[kind][len] != '\0'))
        kind++;
    *t = (struct token){
        .kind = (enum token_kind)kind, .line = number, .text = ""};
    if (kind == TOKEN_COUNT ||
        !read_rest(&s->memory, t, line + len + (line[len] == ' ')))
        return lab_fail(LAB_E_PARSE,
                        "[recording.line] %s:%d: \"%s\" is no line of a "
                        "recording, such as: "
                        "key Enter, text abc, click Y X, resize 80 24, wait "
                        "MS, caption TEXT",
                        s->path, number, line);
    if (kind == TOKEN_SCREEN && s->played)
        return lab_fail(LAB_E_PARSE,
                        "[recording.file] %s:%d: a recording that is played "
                        "writes no files: "
                        "take the line \"%s\" out",
                        s->path, number, line);
    *out = t;
    return LAB_OK;
}

static enum lab_status read_file(struct lab_script *s, FILE *f)
{
    char line[1024];
    struct token **end = &s->first;
    enum lab_status st = LAB_OK;
    for (int number = 1; !st && fgets(line, sizeof(line), f); number++) {
        size_t len = strcspn(line, "\r\n");
        if (!line[len] && len + 1 == sizeof(line))
            return lab_fail(
                LAB_E_PARSE,
                "[recording.long-line] %s:%d: longer than %zu bytes", s->path,
                number, sizeof(line) - 2);
        line[len] = '\0';
        if (!line[0] || line[0] == '#')
            continue;
        st = read_line(s, line, number, end);
        if (st)
            break;
        s->all += is_input(*end);
        end = &(*end)->next;
    }
    s->at = s->first;
    if (!st && ferror(f))
        st = lab_fail(LAB_E_IO, "[recording.open] %s: %s", s->path,
                      strerror(errno));
    return st;
}

void lab_script_close(struct lab_script *s)
{
    if (s)
        lab_arena_release(&s->memory);
    lab_free(s);
}

static enum lab_status start_script(struct lab_script **out, const char *path,
                                    const struct lab_canvas *canvas)
{
    struct lab_script *s = *out = lab_alloc(sizeof(*s));
    if (!s)
        return lab_fail(LAB_E_NOMEM, "the script");
    snprintf(s->path, sizeof(s->path), "%s", path);
    s->canvas = canvas;
    s->caption = "";
    return LAB_OK;
}

/* Keys wait until a screen is ready, and the end of a script until keys are done:
 * Ctrl-L is a key that changes nothing. */
enum lab_status lab_script_still(struct lab_script **out,
                                 const struct lab_canvas *canvas, int h, int w)
{
    static const char *const LINES[] = {"key ^L", "quit"};
    char size[64];
    struct token **end;
    enum lab_status st = start_script(out, "picture", canvas);
    if (st)
        return st;
    snprintf(size, sizeof(size), "resize %d %d", w, h);
    end = &(*out)->first;
    st = read_line(*out, size, 1, end);
    for (size_t i = 0; !st && i < sizeof(LINES) / sizeof(LINES[0]); i++) {
        end = &(*end)->next;
        st = read_line(*out, LINES[i], (int)i + 2, end);
    }
    (*out)->at = (*out)->first;
    return st;
}

enum lab_status lab_script_open(struct lab_script **out, const char *path,
                                const struct lab_canvas *canvas, bool played)
{
    enum lab_status st = start_script(out, path, canvas);
    if (st)
        return st;
    struct lab_script *s = *out;
    s->played = played;
    int64_t bytes;
    int fd;
    st = lab_file_open(path, &fd, &bytes);
    if (st)
        return st;
    FILE *f = fdopen(fd, "r");
    if (!f) {
        close(fd);
        return lab_no_memory("the script");
    }
    st = read_file(s, f);
    fclose(f);
    return st;
}

void lab_script_size(const struct lab_script *s, int *h, int *w)
{
    *h = 24;
    *w = 80;
    if (s->first && s->first->kind == TOKEN_RESIZE) {
        *h = s->first->a;
        *w = s->first->b;
    }
}

static void fail_token(struct lab_script *s, const struct token *t,
                       const char *what, struct lab_event *out)
{
    snprintf(s->why, sizeof(s->why), "%s:%d: %s: \"%s\"", s->path, t->line,
             what, t->text);
    out->kind = LAB_EVENT_END;
}

/* Milliseconds that are left of a wait of `ms`, which begins at the first call;
 * 0: it is over. */
static int wait_left(struct lab_script *s, int ms)
{
    int64_t now = lab_clock_monotonic_ns();
    if (s->until_ns == 0)
        s->until_ns = now + (int64_t)ms * 1000000;
    int64_t left = (s->until_ns - now + 999999) / 1000000;
    if (left > 0)
        return (int)left;
    s->until_ns = 0;
    return 0;
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

static bool sees(const struct lab_canvas *c, const char *text)
{
    char *dump = lab_canvas_dump(c);
    bool found = dump && strstr(dump, text) != NULL;
    lab_free(dump);
    return found;
}

static int at_most(int ms, int most)
{
    return ms < most ? ms : most;
}

enum { LOOK_MS = 20, STAY = -1 };

/* Runs a token into *out. Returns 0 when the script may go on to the next, STAY
 * when this one gave an event and is not done, else when to ask again, in ms. */
static int run_token(struct lab_script *s, const struct token *t,
                     struct lab_event *out)
{
    int left;
    switch (t->kind) {
    case TOKEN_KEY:
        *out = (struct lab_event){.kind = LAB_EVENT_KEY, .key = t->a};
        return 0;
    case TOKEN_TEXT:
        return type_char(s, t, out) ? 0 : STAY;
    case TOKEN_RESIZE:
        *out =
            (struct lab_event){.kind = LAB_EVENT_RESIZE, .h = t->a, .w = t->b};
        return 0;
    case TOKEN_CLICK:
    case TOKEN_WHEEL_UP:
    case TOKEN_WHEEL_DOWN:
        *out = (struct lab_event){
            .kind = LAB_EVENT_MOUSE,
            .mouse = t->kind == TOKEN_CLICK      ? LAB_MOUSE_CLICK
                     : t->kind == TOKEN_WHEEL_UP ? LAB_MOUSE_WHEEL_UP
                                                 : LAB_MOUSE_WHEEL_DOWN,
            .y = t->a,
            .x = t->b};
        return 0;
    case TOKEN_WAIT:
        return wait_left(s, t->a);
    case TOKEN_CAPTION:
        s->caption = t->text;
        out->kind = LAB_EVENT_CAPTION;
        return 0;
    case TOKEN_AWAIT:
        if (sees(s->canvas, t->text)) {
            s->until_ns = 0;
            return 0;
        }
        left = wait_left(s, t->a);
        if (left > 0)
            return at_most(left, LOOK_MS);
        fail_token(s, t, "did not come", out);
        return STAY;
    case TOKEN_EXPECT:
        if (!sees(s->canvas, t->text))
            fail_token(s, t, "not on the screen", out);
        return 0;
    case TOKEN_ABSENT:
        if (sees(s->canvas, t->text))
            fail_token(s, t, "on the screen", out);
        return 0;
    case TOKEN_SCREEN:
        *out = (struct lab_event){.kind = LAB_EVENT_SHOT, .text = t->text};
        return 0;
    case TOKEN_QUIT:
        s->quit = true;
        out->kind = LAB_EVENT_END;
        return 0;
    case TOKEN_COUNT:
        break;
    }
    return 0;
}

/* Looking at the screen, or leaving it: that comes after the keys before it. */
static bool wants_keys_done(const struct token *t)
{
    return t->kind == TOKEN_EXPECT || t->kind == TOKEN_ABSENT ||
           t->kind == TOKEN_SCREEN || t->kind == TOKEN_QUIT;
}

int lab_script_next(struct lab_script *s, bool keys_wait, struct lab_event *out)
{
    enum { PATIENCE_MS = 60000 };
    const struct token *t = s->at;
    *out = (struct lab_event){.kind = LAB_EVENT_NONE};
    if (s->why[0] || (!t && !keys_wait)) {
        out->kind = LAB_EVENT_END;
        return 0;
    }
    if (keys_wait && (!t || wants_keys_done(t))) {
        int left = wait_left(s, PATIENCE_MS);
        if (left > 0)
            return at_most(left, LOOK_MS);
        static const struct token end = {.kind = TOKEN_QUIT, .text = "end"};
        t = t ? t : &end;
        fail_token(s, t, "keys before it still wait", out);
        return 0;
    }
    if (wants_keys_done(t))
        s->until_ns = 0;
    int left = run_token(s, t, out);
    if (left > 0)
        return left;
    if (left == 0) {
        s->at = t->next;
        s->done += is_input(t);
    }
    return 0;
}

void lab_script_wait(struct lab_script *s, int timeout_ms, int wake_fd,
                     bool keys_wait, struct lab_event *out)
{
    int left = lab_script_next(s, keys_wait, out);
    if (left <= 0)
        return;
    if (timeout_ms >= 0)
        left = at_most(left, timeout_ms);
    struct pollfd fd = {.fd = wake_fd, .events = POLLIN};
    if (poll(&fd, 1, left) > 0)
        out->kind = LAB_EVENT_WAKE;
}

void lab_script_skip_wait(struct lab_script *s)
{
    while (s->at && s->at->kind == TOKEN_WAIT) {
        s->at = s->at->next;
        s->until_ns = 0;
    }
}

bool lab_script_played(const struct lab_script *s)
{
    return s->played;
}

const char *lab_script_caption(const struct lab_script *s)
{
    return s->caption;
}

void lab_script_progress(const struct lab_script *s, int *done, int *all)
{
    *done = s->done;
    *all = s->all;
}

enum lab_status lab_script_result(const struct lab_script *s, bool *quit)
{
    *quit = s->quit;
    return s->why[0] ? lab_fail(LAB_E_CHECK, "%s", s->why) : LAB_OK;
}

/* ---- the other way: keys of a session into a file ---- */

struct lab_key_log {
    char path[256];
    FILE *file;
    int h; /* the size that was written last */
    int w;
    int64_t last_ns;
    bool failed; /* a write did, with `error` */
    int error;
};

enum lab_status lab_key_log_open(struct lab_key_log **out, const char *path,
                                 int h, int w)
{
    struct lab_key_log *r = lab_alloc(sizeof(*r));
    if (!r)
        return lab_fail(LAB_E_NOMEM, "the recording");
    snprintf(r->path, sizeof(r->path), "%s", path);
    enum lab_status st = lab_file_create(path, &r->file);
    if (st) {
        lab_free(r);
        return st;
    }
    fprintf(r->file,
            "# Keys of a session of lapenna-lab; --replay plays them. A line\n"
            "# \"caption TEXT\" shows a text.\n"
            "resize %d %d\n",
            w, h);
    r->h = h;
    r->w = w;
    r->last_ns = lab_clock_monotonic_ns();
    *out = r;
    return LAB_OK;
}

void lab_key_log_add(struct lab_key_log *r, const struct lab_event *e)
{
    static const char *const MOUSE[] = {
        [LAB_MOUSE_CLICK] = "click",
        [LAB_MOUSE_WHEEL_UP] = "wheel-up",
        [LAB_MOUSE_WHEEL_DOWN] = "wheel-down",
    };
    char name[LAB_KEY_NAME_BYTES];
    if (e->kind != LAB_EVENT_KEY && e->kind != LAB_EVENT_MOUSE &&
        e->kind != LAB_EVENT_RESIZE)
        return;
    if (e->kind == LAB_EVENT_KEY &&
        lab_key_parse(lab_key_name(e->key, name)) != e->key)
        return; /* no name, no effect */
    if (e->kind == LAB_EVENT_RESIZE && e->h == r->h && e->w == r->w)
        return;
    int64_t now = lab_clock_monotonic_ns();
    int64_t ms = (now - r->last_ns) / 1000000;
    if (ms > 0) {
        fprintf(r->file, "wait %lld\n",
                (long long)(ms < 3600000 ? ms : 3600000));
        r->last_ns += ms * 1000000;
    }
    if (e->kind == LAB_EVENT_KEY)
        fprintf(r->file, "key %s\n", lab_key_name(e->key, name));
    else if (e->kind == LAB_EVENT_RESIZE)
        fprintf(r->file, "resize %d %d\n", r->w = e->w, r->h = e->h);
    else
        fprintf(r->file, "%s %d %d\n", MOUSE[e->mouse], e->y, e->x);
    /* What was typed must be there after a crash. */
    if (fflush(r->file) != 0 && !r->failed) {
        r->failed = true;
        r->error = errno;
    }
}

enum lab_status lab_key_log_close(struct lab_key_log *r)
{
    if (!r)
        return LAB_OK;
    enum lab_status st = LAB_OK;
    if (fclose(r->file) != 0 && !r->failed) {
        r->failed = true;
        r->error = errno;
    }
    if (r->failed)
        st = lab_fail(LAB_E_IO,
                      "[recording.write] %s: %s: the recording is not whole",
                      r->path, strerror(r->error));
    lab_free(r);
    return st;
}
