/* ui.c -- the stack of screens: events in, frames out, prompts, the bar of
 * keys. Events come from the terminal or from a script (script.h). */
#include "ui/ui.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "ui/event.h"
#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"
#include "ui/keymap.h"
#include "ui/pager.h"
#include "ui/picture.h"
#include "ui/prompt.h"
#include "ui/table.h"
#include "ui/view_text.h"
#include "ui/models.h"
#include "ui/layout.h"
#include "base/file.h"

/* ---- keys from a file, played with or without a terminal, and keys of a session
 * written to one: the loop asks for events here where it would ask the terminal.
 *
 * One token a line; empty lines and lines that start with '#' are skipped:
 *   key NAME...      keys by their names: j, Enter, F5, ^L, Space
 *   text TEXT        the rest of the line, typed
 *   enter TEXT       the same, then the key Enter
 *   resize W H       the size, as in "resize 80 24" (the default)
 *   click Y X        a click of the mouse
 *   wheel-up Y X     its wheel; wheel-down Y X
 *   drag Y X TO_Y TO_X  after a click at Y X: it is released elsewhere
 *   wait MS          let time pass: ticks and wakes go on
 *   caption TEXT     text over the bottom of the screen until the next caption;
 *                    alone, it goes
 *   await MS TEXT    wait until TEXT is on the screen; fails after MS
 *   expect TEXT      TEXT must be on the screen now
 *   absent TEXT      it must not
 *   screen FILE      write the screen to FILE as text; not in a recording
 *   quit             end; the end of the file means the same, but on a terminal,
 *                    where the learner goes on ---- */

enum token_kind {
    TOKEN_KEY,
    TOKEN_TEXT,
    TOKEN_ENTER, /* read as a TEXT and a KEY */
    TOKEN_RESIZE,
    TOKEN_CLICK,
    TOKEN_WHEEL_UP,
    TOKEN_WHEEL_DOWN,
    TOKEN_DRAG,
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
    int to[2];        /* DRAG */
    const char *text; /* "": none */
    struct token *next;
};

struct script {
    char path[256];
    bool played;             /* a recording: it writes no files */
    bool no_memory;          /* for the line that is read */
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
    [TOKEN_ENTER] = "enter",       [TOKEN_RESIZE] = "resize",
    [TOKEN_CLICK] = "click",       [TOKEN_DRAG] = "drag",
    [TOKEN_WHEEL_UP] = "wheel-up", [TOKEN_WHEEL_DOWN] = "wheel-down",
    [TOKEN_WAIT] = "wait",         [TOKEN_CAPTION] = "caption",
    [TOKEN_AWAIT] = "await",       [TOKEN_EXPECT] = "expect",
    [TOKEN_ABSENT] = "absent",     [TOKEN_SCREEN] = "screen",
    [TOKEN_QUIT] = "quit"};

static bool is_input(const struct token *t)
{
    return t->kind <= TOKEN_DRAG && t->kind != TOKEN_RESIZE;
}

/* Another token of the same line; NULL: no memory. */
static struct token *add_token(struct script *s, struct token *t)
{
    t->next = lab_arena_take(&s->memory, sizeof(*t));
    s->no_memory = !t->next;
    if (t->next)
        *t->next = (struct token){.line = t->line, .text = ""};
    return t->next;
}

/* What follows the word; false when it is not what the word takes. */
static bool read_rest(struct script *s, struct token *t, const char *rest)
{
    char after = '\0';
    int offset = 0;
    switch (t->kind) {
    case TOKEN_KEY: /* a token each */
        t->a = lab_key_next(&rest);
        while (t->a != LAB_KEY_NONE && *rest) {
            t = add_token(s, t);
            if (!t)
                return false;
            t->a = lab_key_next(&rest);
        }
        return t->a != LAB_KEY_NONE;
    case TOKEN_ENTER:
        t->kind = TOKEN_TEXT;
        if (!add_token(s, t))
            return false;
        t->next->a = LAB_KEY_ENTER;
        break;
    case TOKEN_RESIZE:
        return sscanf(rest, "%d %d%c", &t->b, &t->a, &after) == 2 &&
               t->a >= 0 && t->b >= 0 && t->a <= 1000 && t->b <= 1000;
    case TOKEN_CLICK:
    case TOKEN_WHEEL_UP:
    case TOKEN_WHEEL_DOWN:
        return sscanf(rest, "%d %d%c", &t->a, &t->b, &after) == 2;
    case TOKEN_DRAG:
        return sscanf(rest, "%d %d %d %d%c", &t->a, &t->b, &t->to[0], &t->to[1],
                      &after) == 4;
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
    t->text = lab_arena_text(&s->memory, rest, strlen(rest));
    s->no_memory = !t->text;
    return t->text && (rest[0] != '\0' || t->kind == TOKEN_CAPTION);
}

/* *out becomes the token of a line. */
static enum lab_status read_line(struct script *s, const char *line, int number,
                                 struct token **out)
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
        !read_rest(s, t, line + len + (line[len] == ' ')))
        return s->no_memory
                   ? lab_no_memory("the script")
                   : lab_fail(LAB_E_PARSE,
                              "[recording.line] %s:%d: \"%s\" is no line of a "
                              "recording, such as: key Enter, text abc, click "
                              "Y X, resize 80 24, wait MS, caption TEXT",
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

static enum lab_status read_file(struct script *s, FILE *f)
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
        for (; *end; end = &(*end)->next)
            s->all += is_input(*end);
    }
    s->at = s->first;
    if (!st && ferror(f))
        st = lab_fail(LAB_E_IO, "[recording.open] %s: %s", s->path,
                      strerror(errno));
    return st;
}

static void script_close(struct script *s)
{
    if (s)
        lab_arena_release(&s->memory);
    lab_free(s);
}

static enum lab_status start_script(struct script **out, const char *path,
                                    const struct lab_canvas *canvas)
{
    struct script *s = *out = lab_alloc(sizeof(*s));
    if (!s)
        return lab_fail(LAB_E_NOMEM, "the script");
    snprintf(s->path, sizeof(s->path), "%s", path);
    s->canvas = canvas;
    s->caption = "";
    return LAB_OK;
}

/* Keys wait until a screen is ready, and the end of a script until keys are done:
 * Ctrl-L is a key that changes nothing. */
static enum lab_status
script_still(struct script **out, const struct lab_canvas *canvas, int h, int w)
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

/* Reads a file. `canvas` is the screen that await, expect and absent look at; it
 * must outlive the script. `played` refuses `screen`: a recording comes from
 * others and must write no file. *out is for script_close(), on failure too.
 * Errors: LAB_E_IO, LAB_E_PARSE (with file and line), LAB_E_NOMEM. */
static enum lab_status script_open(struct script **out, const char *path,
                                   const struct lab_canvas *canvas, bool played)
{
    enum lab_status st = start_script(out, path, canvas);
    if (st)
        return st;
    struct script *s = *out;
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

/* The size of the first `resize`, else 80x24. */
static void script_size(const struct script *s, int *h, int *w)
{
    *h = 24;
    *w = 80;
    if (s->first && s->first->kind == TOKEN_RESIZE) {
        *h = s->first->a;
        *w = s->first->b;
    }
}

/* The size that the recording has now; whether the mouse was used in it. */
static bool script_has_mouse(const struct script *s, int *h, int *w)
{
    bool mouse = false;
    bool played = true;
    script_size(s, h, w);
    for (const struct token *t = s->first; t; t = t->next) {
        played = played && t != s->at;
        if (played && t->kind == TOKEN_RESIZE) {
            *h = t->a;
            *w = t->b;
        }
        mouse |= t->kind == TOKEN_CLICK || t->kind == TOKEN_WHEEL_UP ||
                 t->kind == TOKEN_WHEEL_DOWN || t->kind == TOKEN_DRAG;
    }
    return mouse;
}

static void fail_token(struct script *s, const struct token *t,
                       const char *what, struct lab_event *out)
{
    snprintf(s->why, sizeof(s->why), "%s:%d: %s: \"%s\"", s->path, t->line,
             what, t->text);
    out->kind = LAB_EVENT_END;
}

/* Milliseconds that are left of a wait of `ms`, which begins at the first call;
 * 0: it is over. */
static int wait_left(struct script *s, int ms)
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

static bool type_char(struct script *s, const struct token *t,
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
static int run_token(struct script *s, const struct token *t,
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
    case TOKEN_DRAG:
        *out = (struct lab_event){.kind = LAB_EVENT_MOUSE,
                                  .mouse = LAB_MOUSE_DRAG,
                                  .from_y = t->a,
                                  .from_x = t->b,
                                  .y = t->to[0],
                                  .x = t->to[1]};
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
    case TOKEN_ENTER:
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

/* Runs the next token that is due into *out and returns 0, or returns after how
 * many milliseconds at most to ask again. `keys_wait`: keys are typed ahead, so
 * that looking at the screen would be too early. */
static int script_next(struct script *s, bool keys_wait, struct lab_event *out)
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

/* Waits for that as lab_terminal_wait() does. */
static void script_wait(struct script *s, int timeout_ms, int wake_fd,
                        bool keys_wait, struct lab_event *out)
{
    int left = script_next(s, keys_wait, out);
    if (left <= 0)
        return;
    if (timeout_ms >= 0)
        left = at_most(left, timeout_ms);
    struct pollfd fd = {.fd = wake_fd, .events = POLLIN};
    if (poll(&fd, 1, left) > 0)
        out->kind = LAB_EVENT_WAKE;
}

/* Ends a `wait` now. */
static void script_skip_wait(struct script *s)
{
    while (s->at && s->at->kind == TOKEN_WAIT) {
        s->at = s->at->next;
        s->until_ns = 0;
    }
}

/* Whether it is a recording, which must write no files. */
static bool script_played(const struct script *s)
{
    return s->played;
}

/* The caption now; "": none. Valid as long as the script. */
static const char *script_caption(const struct script *s)
{
    return s->caption;
}

/* Keys and clicks that were played, of how many. */
static void script_progress(const struct script *s, int *done, int *all)
{
    *done = s->done;
    *all = s->all;
}

/* LAB_OK: it came to its end, *quit when a `quit` ended it. LAB_E_CHECK: a token
 * failed. */
static enum lab_status script_result(const struct script *s, bool *quit)
{
    *quit = s->quit;
    return s->why[0] ? lab_fail(LAB_E_CHECK, "%s", s->why) : LAB_OK;
}

/* ---- the other way: keys of a session into a file ---- */

struct key_log {
    char path[256];
    FILE *file;
    int h; /* the size that was written last */
    int w;
    int64_t last_ns;
    bool failed; /* a write did, with `error` */
    int error;
};

/* Creates a file that must not exist yet, and writes the size of the screen.
 * Errors: LAB_E_IO, LAB_E_NOMEM. */
static enum lab_status key_log_open(struct key_log **out, const char *path,
                                    int h, int w)
{
    struct key_log *r = lab_alloc(sizeof(*r));
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

/* Adds a key, a click, the wheel or a new size, with the time since the last. */
static void key_log_add(struct key_log *r, const struct lab_event *e)
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
    else if (e->mouse == LAB_MOUSE_DRAG)
        fprintf(r->file, "drag %d %d %d %d\n", e->from_y, e->from_x, e->y,
                e->x);
    else
        fprintf(r->file, "%s %d %d\n", MOUSE[e->mouse], e->y, e->x);
    /* What was typed must be there after a crash. */
    if (fflush(r->file) != 0 && !r->failed) {
        r->failed = true;
        r->error = errno;
    }
}

/* Closes the file. NULL is allowed. Errors: LAB_E_IO, also of an earlier write. */
static enum lab_status key_log_close(struct key_log *r)
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

/* ---- prompts: a line with a history ---- */

enum {
    CTRL_A = 1,
    CTRL_B = 2,
    CTRL_E = 5,
    CTRL_F = 6,
    CTRL_K = 11,
    CTRL_L = 12,
    CTRL_U = 21,
    CTRL_W = 23
};

void lab_history_add(struct lab_history *h, const char *line)
{
    if (!line[0] || (h->count > 0 && strcmp(h->line[h->count - 1], line) == 0))
        return;
    if (h->count == LAB_HISTORY_LINES) {
        memmove(h->line[0], h->line[1],
                sizeof(h->line[0]) * (LAB_HISTORY_LINES - 1));
        h->count--;
    }
    snprintf(h->line[h->count++], LAB_PROMPT_BYTES, "%s", line);
}

static void set_text(struct lab_prompt *p, const char *text)
{
    snprintf(p->text, sizeof(p->text), "%s", text);
    p->at = strlen(p->text);
}

void lab_prompt_start(struct lab_prompt *p, const char *label,
                      const char *initial, struct lab_history *history)
{
    *p = (struct lab_prompt){.history = history};
    snprintf(p->label, sizeof(p->label), "%s", label);
    set_text(p, initial ? initial : "");
}

static size_t before(const struct lab_prompt *p, size_t at)
{
    if (at == 0)
        return 0;
    at--;
    while (at > 0 && ((unsigned char)p->text[at] & 0xC0) == 0x80)
        at--;
    return at;
}

static size_t after(const struct lab_prompt *p, size_t at)
{
    unsigned code;
    size_t len = lab_utf8_next(p->text + at, strlen(p->text + at), &code);
    return at + (len ? len : p->text[at] != '\0');
}

static void cut(struct lab_prompt *p, size_t from, size_t to)
{
    memmove(p->text + from, p->text + to, strlen(p->text + to) + 1);
    p->at = from;
}

static void insert(struct lab_prompt *p, const char *bytes)
{
    size_t n = strlen(bytes);
    size_t have = strlen(p->text);
    if (have + n >= sizeof(p->text))
        return; /* full: typing has no effect */
    memmove(p->text + p->at + n, p->text + p->at, have - p->at + 1);
    memcpy(p->text + p->at, bytes, n);
    p->at += n;
}

static size_t prompt_word(const struct lab_prompt *p)
{
    size_t at = p->at;
    while (at > 0 && p->text[at - 1] != ' ')
        at--;
    return at;
}

void lab_prompt_complete(struct lab_prompt *p, const char *word)
{
    cut(p, prompt_word(p), p->at);
    insert(p, word);
}

static void walk_history(struct lab_prompt *p, int step)
{
    int back = p->back + step;
    if (!p->history || back < 0 || back > p->history->count)
        return;
    if (p->back == 0)
        snprintf(p->draft, sizeof(p->draft), "%s", p->text);
    p->back = back;
    set_text(p,
             back == 0 ? p->draft : p->history->line[p->history->count - back]);
}

static void cut_word(struct lab_prompt *p)
{
    size_t from = p->at;
    while (from > 0 && p->text[from - 1] == ' ')
        from--;
    while (from > 0 && p->text[from - 1] != ' ')
        from--;
    cut(p, from, p->at);
}

enum lab_prompt_result lab_prompt_key(struct lab_prompt *p, int key)
{
    char name[LAB_KEY_NAME_BYTES];
    switch (key) {
    case LAB_KEY_ENTER:
        if (p->history)
            lab_history_add(p->history, p->text);
        return LAB_PROMPT_DONE;
    case LAB_KEY_ESC:
        return LAB_PROMPT_CANCELLED;
    case LAB_KEY_BACKSPACE:
        if (p->text[0] == '\0')
            return LAB_PROMPT_CANCELLED;
        cut(p, before(p, p->at), p->at);
        break;
    case LAB_KEY_UP:
        walk_history(p, 1);
        break;
    case LAB_KEY_DOWN:
        walk_history(p, -1);
        break;
    case LAB_KEY_LEFT:
    case CTRL_B:
        p->at = before(p, p->at);
        break;
    case LAB_KEY_RIGHT:
    case CTRL_F:
        p->at = after(p, p->at);
        break;
    case LAB_KEY_HOME:
    case CTRL_A:
        p->at = 0;
        break;
    case LAB_KEY_END:
    case CTRL_E:
        p->at = strlen(p->text);
        break;
    case LAB_KEY_DELETE:
        cut(p, p->at, after(p, p->at));
        break;
    case CTRL_K:
        p->text[p->at] = '\0';
        break;
    case CTRL_U:
        cut(p, 0, p->at);
        break;
    case CTRL_W:
        cut_word(p);
        break;
    default:
        if (key == ' ')
            insert(p, " ");
        else if (key > ' ' && key < LAB_KEY_UP)
            insert(p, lab_key_name(key, name));
    }
    return LAB_PROMPT_MORE;
}

void lab_prompt_draw(const struct lab_prompt *p, struct lab_canvas *c,
                     struct lab_rect row)
{
    char left[LAB_PROMPT_BYTES];
    int used = lab_canvas_text(c, row.y, row.x, row.w, LAB_ROLE_KEY, p->label);
    int room = row.w - used - 1; /* the cursor is after the last one */
    size_t from = 0;
    if (room < 1)
        return;
    memcpy(left, p->text, p->at);
    left[p->at] = '\0';
    while (lab_canvas_columns(c, left + from) > room)
        from = after(p, from);
    lab_canvas_text(c, row.y, row.x + used, room + 1, LAB_ROLE_NORMAL,
                    p->text + from);
    lab_canvas_cursor(c, row.y,
                      row.x + used + lab_canvas_columns(c, left + from));
}

/* ---- the stack of screens: events in, frames out, the bar of keys ---- */

enum {
    LAB_UI_STACK = 16,
    LAB_UI_BAR_ITEMS = 32,
    LAB_UI_KEYS_MOST = 96,
    LAB_UI_HISTORIES = 8,
    LAB_UI_OFFERS = 64, /* words that a prompt lists */
    LAB_UI_FRAME_NS = 33 * 1000 * 1000,
    EVENTS_A_FRAME = 64
};

struct lab_ui_entry {
    struct lab_screen screen;
    int tick_ms;
    int64_t last_tick_ns;
    bool closing;
};

enum lab_ui_asking { LAB_ASK_NOTHING, LAB_ASK_LINE, LAB_ASK_YES };

struct lab_ui_history {
    int id; /* 0: free */
    struct lab_history lines;
};

struct lab_ui {
    struct lab_terminal *terminal; /* one of the two, or both: a replay */
    struct script *script;
    bool paused;               /* the replay is */
    struct key_log *recording; /* NULL: none */
    struct lab_cast *cast;     /* NULL: none */
    enum lab_theme theme;
    const char *picture; /* the file for the last frame, or NULL */
    struct lab_canvas canvas;
    struct lab_ui_entry stack[LAB_UI_STACK];
    int depth;
    bool dirty;
    bool woken; /* a wake waits for the next frame */
    int signal;
    enum lab_status result;
    struct lab_kept_error why; /* of `result` */
    int wake_fd;
    atomic_int wake;
    struct lab_ui_settings settings;

    struct lab_event *ahead; /* typed ahead */
    int ahead_count;
    size_t ahead_room;

    char message[512];
    char hint[320]; /* over the prompt: what may be typed; "": nothing */
    enum lab_role message_role;
    char badge[64];

    enum lab_ui_asking asking;
    int asking_id;
    char letters[8]; /* that answer a question */
    struct lab_prompt prompt;
    struct lab_ui_history histories[LAB_UI_HISTORIES];

    struct { /* what may be typed, as last drawn, for clicks */
        struct lab_rect at;
        int nth;
    } offers[LAB_UI_OFFERS];
    int n_offers;
    int offers_top; /* of those that are commands: the first one shown */
    int offers_page;
    bool offers_more;

    bool matching; /* n and N go to matches, whatever else they are here */

    struct { /* where the bar's items are, for clicks */
        int x;
        int w;
        int key;
    } bar[LAB_UI_BAR_ITEMS];
    int bar_count;
};

struct lab_frame lab_frame_layout(int h, int w)
{
    struct lab_frame f = {0};
    f.body = (struct lab_rect){0, 0, h < 0 ? 0 : h, w < 0 ? 0 : w};
    f.small = h < LAB_SCREEN_MIN_H || w < LAB_SCREEN_MIN_W;
    if (f.small)
        return f;
    f.title = lab_rect_cut_top(&f.body, 1);
    f.bar = lab_rect_cut_bottom(&f.body, 1);
    f.status = lab_rect_cut_bottom(&f.body, 1);
    return f;
}

/* NULL: none */
static struct lab_ui_entry *ui_top(const struct lab_ui *ui)
{
    return ui->depth > 0 ? (struct lab_ui_entry *)&ui->stack[ui->depth - 1]
                         : NULL;
}

/* The screen's keys after a search: n and N go to its matches, which the bar
 * shows; any other key ends that. */
static const struct lab_binding *with_matches(const struct lab_binding *own)
{
    static struct lab_binding rows[LAB_UI_KEYS_MOST];
    const struct lab_binding *n = lab_keymap_find(own, 'n');
    size_t count = 0;
    if (!n || n->action == LAB_ACT_SEARCH_NEXT)
        return own;
    rows[count++] = (struct lab_binding){
        n->keys, true, "next match", "to the next match", LAB_ACT_SEARCH_NEXT};
    rows[count++] = (struct lab_binding){
        "N", true, "match before", "to the match before", LAB_ACT_SEARCH_PREV};
    rows[count++] = (struct lab_binding){
        "Esc", true, "end search", "n and N as before it", LAB_ACT_CANCEL};
    for (; own->keys && count < LAB_UI_KEYS_MOST - 1; own++)
        if (own != n)
            rows[count++] = *own;
    rows[count] = (struct lab_binding){NULL};
    return rows;
}

static const struct lab_binding *own_keys(const struct lab_screen *s)
{
    return s->ops->bindings_now ? s->ops->bindings_now(s) : s->ops->bindings;
}

const struct lab_binding *lab_ui_keys(const struct lab_screen *s)
{
    return s->ui->matching ? with_matches(own_keys(s)) : own_keys(s);
}

static void close_all(struct lab_ui *ui)
{
    for (int i = 0; i < ui->depth; i++)
        ui->stack[i].closing = true;
}

static void ui_help(struct lab_ui *ui)
{
    struct lab_screen *s = &ui_top(ui)->screen;
    if (s->ops != &lab_view_help && lab_ui_push(ui, &lab_view_help, s))
        lab_ui_error(ui);
}

enum { BADGE_W = 40 };

static void draw_small(struct lab_ui *ui, struct lab_rect body)
{
    struct lab_canvas *c = &ui->canvas;
    char text[80];
    lab_rect_cut_top(&body, body.h > 4 ? body.h / 2 - 1 : 0);
    snprintf(text, sizeof(text), "Too small: %dx%d, needs %dx%d", c->w, c->h,
             LAB_SCREEN_MIN_W, LAB_SCREEN_MIN_H);
    lab_rect_cut_top(&body, lab_canvas_paragraph(c, body, LAB_ROLE_WARN, text));
    lab_canvas_paragraph(c, body, LAB_ROLE_NORMAL,
                         "Make it larger, or press q.");
}

static const char program[] = "lapenna-lab";
static const char arrow[] = " > ";
static const char left_out[] = "…";

static const char *title_of(struct lab_ui *ui, int i, char *text, size_t cap)
{
    struct lab_screen *s = &ui->stack[i].screen;
    snprintf(text, cap, "%s", s->ops->title);
    if (s->ops->title_now)
        s->ops->title_now(s, text, cap);
    return text;
}

/* The first screen of the path that is named in `room` columns: the one on top
 * always is, for its name may be a file's or a place in a text. */
static int first_title(struct lab_ui *ui, int room)
{
    const struct lab_canvas *c = &ui->canvas;
    char text[256];
    int first = ui->depth;
    int all = lab_canvas_columns(c, program);
    int used =
        all + lab_canvas_columns(c, arrow) + lab_canvas_columns(c, left_out);
    for (int i = ui->depth - 1; i >= 0; i--) {
        int w = lab_canvas_columns(c, arrow) +
                lab_canvas_columns(c, title_of(ui, i, text, sizeof(text)));
        all += w;
        used += w;
        if (used <= room || i == ui->depth - 1)
            first = i;
    }
    return all <= room ? 0 : first;
}

static void draw_title(struct lab_ui *ui, struct lab_rect row)
{
    struct lab_canvas *c = &ui->canvas;
    char text[256];
    if (ui->badge[0]) {
        int w = lab_canvas_columns(c, ui->badge) + 2;
        w = w > BADGE_W ? BADGE_W : w;
        struct lab_rect badge = lab_rect_cut_right(&row, w);
        lab_canvas_textf(c, badge.y, badge.x, badge.w, LAB_ROLE_BADGE, "[%s]",
                         ui->badge);
        lab_rect_cut_right(&row, 1);
    }
    struct lab_rect old = lab_canvas_clip(c, row);
    int first = first_title(ui, row.w);
    lab_canvas_add(c, &row, LAB_ROLE_TITLE, "%s", program);
    if (first > 0)
        lab_canvas_add(c, &row, LAB_ROLE_DIM, "%s%s", arrow, left_out);
    for (int i = first; i < ui->depth; i++) {
        bool top = i == ui->depth - 1;
        lab_canvas_add(c, &row, LAB_ROLE_DIM, "%s", arrow);
        lab_canvas_add(c, &row, top ? LAB_ROLE_TITLE : LAB_ROLE_NORMAL, "%s",
                       title_of(ui, i, text, sizeof(text)));
    }
    lab_canvas_unclip(c, old);
}

static int item_columns(const struct lab_canvas *c, const struct lab_binding *b)
{
    return (int)strcspn(b->keys, " ") + 1 + lab_canvas_columns(c, b->name);
}

/* Returns the columns used, 0 when there is no room for the whole item. */
static int draw_item(struct lab_ui *ui, struct lab_rect row, int x,
                     const struct lab_binding *b)
{
    struct lab_canvas *c = &ui->canvas;
    const char *keys = b->keys;
    int w = item_columns(c, b);
    if (x + w > row.x + row.w || ui->bar_count == LAB_UI_BAR_ITEMS)
        return 0;
    ui->bar[ui->bar_count].x = x;
    ui->bar[ui->bar_count].w = w;
    ui->bar[ui->bar_count++].key = lab_key_next(&keys);
    int used = lab_canvas_textf(c, row.y, x, -1, LAB_ROLE_KEY, "%.*s",
                                (int)(keys - b->keys), b->keys);
    lab_canvas_text(c, row.y, x + used + 1, -1, LAB_ROLE_NORMAL, b->name);
    return w + 2;
}

static void draw_bar(struct lab_ui *ui, struct lab_rect row)
{
    struct lab_screen *s = &ui_top(ui)->screen;
    const struct lab_binding *own = lab_ui_keys(s);
    const struct lab_binding *all = lab_global_keymap(s->ops->sideways);
    ui->bar_count = 0;
    if (ui->asking != LAB_ASK_NOTHING) {
        bool completes = ui->asking_id == LAB_PROMPT_COMMAND;
        lab_canvas_textf(&ui->canvas, row.y, row.x, row.w, LAB_ROLE_DIM,
                         ui->asking == LAB_ASK_YES && ui->letters[1]
                             ? "any other key: stay here"
                         : ui->asking == LAB_ASK_YES
                             ? "y yes   any other key no"
                             : "Enter done   Esc cancel   Up Down history%s",
                         completes ? "   Tab complete" : "");
        return;
    }
    /* What works everywhere keeps its room: a reader must find help and the
     * way out. */
    int keep = 0;
    for (const struct lab_binding *b = all; b->keys; b++)
        if (b->bar && !lab_keymap_action(own, b->action))
            keep += item_columns(&ui->canvas, b) + 2;
    for (const struct lab_binding *b = own; b && b->keys; b++)
        if (b->bar && b->action == LAB_ACT_BACK)
            keep += item_columns(&ui->canvas, b) + 2;
    struct lab_rect left = row;
    struct lab_rect right = lab_rect_cut_right(&left, keep);
    int x = left.x;
    for (const struct lab_binding *b = own; b && b->keys; b++)
        if (b->bar && b->action != LAB_ACT_BACK)
            x += draw_item(ui, left, x, b);
    right.w += right.x - x;
    right.x = x;
    for (const struct lab_binding *b = own; b && b->keys; b++)
        if (b->bar && b->action == LAB_ACT_BACK)
            x += draw_item(ui, right, x, b);
    for (const struct lab_binding *b = all; b->keys; b++)
        if (b->bar && !lab_keymap_action(own, b->action))
            x += draw_item(ui, right, x, b);
}

/* A long text goes on upwards, over the body: its end has the remedy. `row` is
 * its last one. */
static void draw_upwards(struct lab_canvas *c, struct lab_rect row,
                         enum lab_role role, const char *text)
{
    enum { MOST = 4 };
    int rows = lab_canvas_paragraph_rows(c, row.w, MOST, text);
    if (rows == 0)
        return;
    row.y -= rows - 1;
    row.h = rows;
    lab_canvas_fill(c, row, " ", LAB_ROLE_NORMAL);
    lab_canvas_paragraph(c, row, role, text);
}

/* ---- what may be typed behind the colon ---- */

enum { CANDIDATES_MOST = 10000 };

static bool has_command(const struct lab_ui *ui, enum lab_ui_command_kind kind)
{
    return ui->stack[ui->depth - 1].screen.ops->command ||
           lab_ui_command_everywhere(kind);
}

/* The row of the command that Enter would run; NULL: of none that this screen has. */
static const struct lab_ui_command_word *typed_command(const struct lab_ui *ui)
{
    const struct lab_ui_command_word *word =
        lab_ui_command_typed(ui->prompt.text);
    return word && has_command(ui, word->kind) ? word : NULL;
}

/* The nth candidate for the word under the cursor. */
static const char *candidate(struct lab_ui *ui, int nth)
{
    struct lab_screen *s = &ui_top(ui)->screen;
    size_t count;
    const struct lab_ui_command_word *words = lab_ui_command_words(&count);
    if (prompt_word(&ui->prompt) == 0)
        return nth < (int)count ? words[nth].word : NULL;
    const struct lab_ui_command_word *word = typed_command(ui);
    if (word && word->kind == LAB_COMMAND_THEME)
        return nth < LAB_THEMES    ? lab_theme_name((enum lab_theme)nth)
               : nth == LAB_THEMES ? "auto"
                                   : NULL;
    return word && s->ops->complete ? s->ops->complete(s, word->kind, nth)
                                    : NULL;
}

/* The word under the cursor, as far as it is typed. */
static void typed_word(const struct lab_ui *ui, char out[LAB_PROMPT_BYTES])
{
    size_t from = prompt_word(&ui->prompt);
    snprintf(out, LAB_PROMPT_BYTES, "%.*s", (int)(ui->prompt.at - from),
             ui->prompt.text + from);
}

/* Not offered: what this screen lacks, and a command by another word until one
 * begins to type it. */
static bool is_kept_back(const struct lab_ui *ui, int nth, bool typed)
{
    size_t count;
    const struct lab_ui_command_word *words = lab_ui_command_words(&count);
    return prompt_word(&ui->prompt) == 0 &&
           (!has_command(ui, words[nth].kind) || (!typed && !words[nth].help));
}

/* The first candidates with this start, each once, as a step is in two phases:
 * their numbers; returns how many fit or are there, and in *more whether there
 * are others. */
static int find_offers(struct lab_ui *ui, int *nth, int most, bool *more)
{
    char start[LAB_PROMPT_BYTES];
    int n = 0;
    *more = false;
    typed_word(ui, start);
    for (int i = 0; i < CANDIDATES_MOST; i++) {
        const char *word = candidate(ui, i);
        bool listed = false;
        if (!word)
            break;
        if (strncmp(word, start, strlen(start)) != 0 ||
            is_kept_back(ui, i, start[0]))
            continue;
        for (int k = 0; k < n && !listed; k++)
            listed = strcmp(candidate(ui, nth[k]), word) == 0;
        if (listed)
            continue;
        if (n == most) {
            *more = true;
            break;
        }
        nth[n++] = i;
    }
    return n;
}

/* As much as all candidates agree on. */
static void complete(struct lab_ui *ui)
{
    char common[LAB_PROMPT_BYTES] = "";
    char start[LAB_PROMPT_BYTES];
    const char *word;
    bool one = true;
    int found = 0;
    typed_word(ui, start);
    for (int i = 0; i < CANDIDATES_MOST && (word = candidate(ui, i)); i++) {
        size_t same = 0;
        if (strncmp(word, start, strlen(start)) != 0 ||
            is_kept_back(ui, i, true))
            continue;
        if (found++ == 0)
            snprintf(common, sizeof(common), "%s", word);
        one = one && strcmp(common, word) == 0;
        while (common[same] && common[same] == word[same])
            same++;
        common[same] = '\0';
    }
    if (found == 0)
        return;
    if (one)
        strncat(common, " ", sizeof(common) - strlen(common) - 1);
    lab_prompt_complete(&ui->prompt, common);
}

static void keep_offer(struct lab_ui *ui, struct lab_rect r, int nth)
{
    if (ui->n_offers < LAB_UI_OFFERS) {
        ui->offers[ui->n_offers].at = r;
        ui->offers[ui->n_offers++].nth = nth;
    }
}

/* Commands: a row each, with what it takes and does; PgUp, PgDn, the wheel and a
 * click on the sign of more go on in them. */
static void draw_command_offers(struct lab_ui *ui, struct lab_rect r,
                                const int *nth, int n)
{
    enum { USAGE_W = 34 };
    const char *sign = ui->offers_top > 0 && ui->offers_more ? " ▲▼more"
                       : ui->offers_more                     ? " ▼more"
                       : ui->offers_top > 0                  ? " ▲more"
                                                             : "";
    struct lab_canvas *c = &ui->canvas;
    size_t count;
    const struct lab_ui_command_word *words = lab_ui_command_words(&count);
    for (int i = 0; i < n && r.h > 0; i++) {
        struct lab_rect row = lab_rect_cut_top(&r, 1);
        const struct lab_ui_command_word *w = &words[nth[i]];
        int width = r.w < 3 * USAGE_W ? USAGE_W * 2 / 3 : USAGE_W;
        char other[64];
        keep_offer(ui, row, nth[i]);
        lab_canvas_text_cut(c, row.y, row.x + 1, width - 1, LAB_ROLE_KEY,
                            w->usage);
        snprintf(other, sizeof(other), "the same as %s",
                 lab_ui_command_name(w->kind));
        lab_canvas_text_cut(c, row.y, row.x + width + 1, row.w - width - 1,
                            LAB_ROLE_DIM, w->help ? w->help : other);
        int w_sign = lab_canvas_columns(c, sign);
        if (i == n - 1)
            lab_canvas_text(c, row.y, row.x + row.w - w_sign, w_sign,
                            LAB_ROLE_KEY, sign);
    }
}

/* What the command takes, and words for its argument in lines. */
static void draw_argument_offers(struct lab_ui *ui, struct lab_rect r,
                                 const int *nth, int n, bool more)
{
    const struct lab_ui_command_word *w = typed_command(ui);
    struct lab_canvas *c = &ui->canvas;
    struct lab_rect row = lab_rect_cut_top(&r, 1);
    int x = r.x + 1;
    lab_canvas_add(c, &row, LAB_ROLE_KEY, " %s", w ? w->usage : "?");
    lab_canvas_add(c, &row, LAB_ROLE_DIM, "   %s", w && w->help ? w->help : "");
    for (int i = 0; i < n && r.h > 0; i++) {
        const char *word = candidate(ui, nth[i]);
        int columns = lab_canvas_columns(c, word);
        if (x + columns > r.x + r.w && x > r.x + 1) {
            lab_rect_cut_top(&r, 1);
            x = r.x + 1;
        }
        if (r.h < 1)
            return;
        keep_offer(ui, (struct lab_rect){r.y, x, 1, columns}, nth[i]);
        x += lab_canvas_text(c, r.y, x, r.x + r.w - x, LAB_ROLE_NORMAL, word);
        x += 2;
    }
    if (more && r.h > 0)
        lab_canvas_text(c, r.y, x, r.x + r.w - x, LAB_ROLE_DIM, "...");
}

/* A list over the prompt while a command is typed; `row` is the one above it. */
static void draw_offers(struct lab_ui *ui, struct lab_rect row)
{
    struct lab_canvas *c = &ui->canvas;
    int nth[LAB_UI_OFFERS];
    bool more;
    bool first = prompt_word(&ui->prompt) == 0;
    int most = c->h / 3 < 12 ? c->h / 3 : 12;
    ui->n_offers = 0;
    if (ui->asking_id != LAB_PROMPT_COMMAND)
        return;
    int n = find_offers(ui, nth, LAB_UI_OFFERS, &more);
    if (first && n == 0)
        return;
    if (first) {
        int last = n > most ? n - most : 0;
        ui->offers_page = most;
        ui->offers_top = ui->offers_top < last ? ui->offers_top : last;
        ui->offers_more = ui->offers_top < last;
        n = n < most ? n : most;
    }
    int h = first ? n : n == 0 ? 1 : n <= 6 ? 2 : most < 4 ? most : 4;
    struct lab_rect r = {row.y - h + 1, row.x, h, row.w};
    lab_canvas_fill(c, r, " ", LAB_ROLE_NORMAL);
    lab_canvas_paper(c, r, LAB_TINT_PANEL);
    if (!c->tints) {
        struct lab_rect line = {r.y - 1, r.x, 1, r.w};
        lab_canvas_rule(c, line, false);
    }
    if (first)
        draw_command_offers(ui, r, nth + ui->offers_top, n);
    else
        draw_argument_offers(ui, r, nth, n, more);
}

/* False: the line is no list of commands. */
static bool turn_offers(struct lab_ui *ui, int by)
{
    if (ui->asking_id != LAB_PROMPT_COMMAND || prompt_word(&ui->prompt) != 0)
        return false;
    if (by < 0 || ui->offers_more)
        ui->offers_top += by;
    ui->offers_top = ui->offers_top < 0 ? 0 : ui->offers_top;
    return true;
}

/* A click on one takes it; at the sign of more it goes on. */
static void click_offer(struct lab_ui *ui, int y, int x)
{
    enum { SIGN_W = 7 };
    char word[LAB_PROMPT_BYTES];
    const struct lab_rect *end =
        &ui->offers[ui->n_offers > 0 ? ui->n_offers - 1 : 0].at;
    if (ui->n_offers > 0 && ui->offers_more && y == end->y &&
        x >= end->x + end->w - SIGN_W && turn_offers(ui, ui->offers_page))
        return;
    for (int i = 0; i < ui->n_offers; i++) {
        if (!lab_rect_has(ui->offers[i].at, y, x))
            continue;
        const char *offered = candidate(ui, ui->offers[i].nth);
        if (!offered) /* the line has changed since the last frame */
            return;
        snprintf(word, sizeof(word), "%.*s ", LAB_PROMPT_BYTES - 2, offered);
        lab_prompt_complete(&ui->prompt, word);
        return;
    }
}

static void draw_status(struct lab_ui *ui, struct lab_rect row)
{
    if (ui->asking != LAB_ASK_LINE) {
        draw_upwards(&ui->canvas, row, ui->message_role, ui->message);
        return;
    }
    lab_prompt_draw(&ui->prompt, &ui->canvas, row);
    row.y--;
    draw_upwards(&ui->canvas, row, LAB_ROLE_DIM, ui->hint);
    draw_offers(ui, row);
}

/* A recording's caption lies over the bottom of the body, and on a terminal a
 * line with the keys that steer the replay. */
static void draw_caption(struct lab_ui *ui, struct lab_rect body)
{
    enum { MOST = 6 };
    struct lab_canvas *c = &ui->canvas;
    const char *text = ui->script ? script_caption(ui->script) : "";
    char title[96] = "caption";
    char other[96];
    int done;
    int all;
    int h;
    int w;
    if (!ui->script || (!text[0] && !ui->terminal))
        return;
    if (ui->terminal && !text[0] && script_has_mouse(ui->script, &h, &w) &&
        (h != c->h || w != c->w)) {
        snprintf(other, sizeof(other),
                 "Recorded at %dx%d: here, at %dx%d, its clicks may miss.", w,
                 h, c->w, c->h);
        text = other;
    }
    int rows = lab_canvas_paragraph_rows(c, body.w - 2, MOST, text);
    if (ui->terminal) {
        script_progress(ui->script, &done, &all);
        snprintf(title, sizeof(title),
                 "key %d of %d%s: Space %s, Right takes the next, another "
                 "ends it",
                 done, all, ui->paused ? ", paused" : "",
                 ui->paused ? "goes on" : "pauses");
    }
    struct lab_rect box = lab_rect_cut_bottom(&body, rows + 1);
    lab_canvas_fill(c, box, " ", LAB_ROLE_NORMAL);
    lab_canvas_heading(c, &box, title, true);
    lab_rect_cut_left(&box, 1);
    lab_rect_cut_right(&box, 1);
    lab_canvas_paragraph(c, box, LAB_ROLE_NORMAL, text);
}

static void ui_draw(struct lab_ui *ui)
{
    struct lab_canvas *c = &ui->canvas;
    struct lab_frame f = lab_frame_layout(c->h, c->w);
    struct lab_ui_entry *top = ui_top(ui);
    lab_canvas_clear(c);
    if (!top)
        return;
    if (f.small) {
        draw_small(ui, f.body);
    } else {
        struct lab_rect old = lab_canvas_clip(c, f.body);
        top->screen.ops->draw(&top->screen, c, f.body);
        draw_caption(ui, f.body);
        lab_canvas_unclip(c, old);
        lab_canvas_paper(c, f.title, LAB_TINT_PANEL);
        lab_canvas_paper(c, f.bar, LAB_TINT_PANEL);
        draw_title(ui, f.title); /* may name the place in the body */
        draw_status(ui, f.status);
        draw_bar(ui, f.bar);
    }
    if (ui->terminal)
        lab_terminal_show(ui->terminal, c);
    if (ui->cast)
        lab_cast_frame(ui->cast, c, ui->theme);
}

static bool too_small(const struct lab_ui *ui)
{
    return lab_frame_layout(ui->canvas.h, ui->canvas.w).small;
}

static bool may_close(struct lab_screen *s)
{
    return !s->ops->may_close || s->ops->may_close(s);
}

/* A screen that stays open may ask a question: those over it close first. */
static void quit(struct lab_ui *ui)
{
    for (int i = ui->depth - 1; i >= 0; i--) {
        struct lab_screen *s = &ui->stack[i].screen;
        if (may_close(s))
            continue;
        for (int k = i + 1; k < ui->depth; k++)
            ui->stack[k].closing = true;
        return;
    }
    close_all(ui);
}

static struct lab_pane *panes_of(struct lab_screen *s, struct lab_panes *out)
{
    *out = (struct lab_panes){.count = 1};
    s->ops->panes(s, out);
    return &out->at[out->chosen ? *out->chosen : 0];
}

/* "" looks for the last text again. Lists are searched from beside them too. */
static void search(struct lab_screen *s, const char *text, int dir)
{
    struct lab_panes p = {.count = 0};
    struct lab_pane *at = s->ops->panes ? panes_of(s, &p) : &p.at[0];
    struct lab_table *t = at->table ? at->table : p.at[0].table;
    bool found = s->ops->search ? s->ops->search(s, text, dir)
                 : t            ? lab_table_search(t, text, dir)
                                : lab_pager_search(at->pager, text, dir);
    if (!found && text[0])
        lab_ui_message(s->ui, LAB_ROLE_WARN, "\"%s\" is not in this %s", text,
                       s->ops->place ? s->ops->place
                       : t           ? "list"
                                     : "text");
    else if (!found)
        lab_ui_message(s->ui, LAB_ROLE_WARN, "search with / first");
    s->ui->matching = found;
}

static bool searches(const struct lab_screen *s)
{
    return s->ops->search || s->ops->panes;
}

static void use_answer(struct lab_screen *s, int id, const char *text)
{
    if (id == LAB_PROMPT_SEARCH && s->ops->filter &&
        s->ops->filter(s, text ? text : ""))
        ;
    else if (id == LAB_PROMPT_SEARCH && searches(s) && text)
        search(s, text, 1);
    else if (s->ops->answer)
        s->ops->answer(s, id, text);
    if (s->ops->after)
        s->ops->after(s);
}

static void set_theme(struct lab_ui *ui, const char *name)
{
    if (!lab_theme_find(name, getenv("COLORFGBG"), &ui->theme)) {
        lab_ui_message(ui, LAB_ROLE_WARN,
                       "theme '%s': use auto, dark, light, contrast or "
                       "terminal",
                       name);
        return;
    }
    if (ui->terminal && lab_terminal_theme(ui->terminal, name)) {
        struct lab_terminal_facts facts;
        lab_terminal_get_facts(ui->terminal, &facts);
        ui->theme = facts.theme;
    }
    lab_ui_message(ui, LAB_ROLE_GOOD,
                   "theme %s; for all sessions: theme = %s in the "
                   "configuration file",
                   lab_theme_name(ui->theme), name);
}

static void run_command(struct lab_ui *ui, const char *line)
{
    struct lab_ui_command cmd;
    struct lab_screen *s = &ui_top(ui)->screen;
    if (s->ops->line && s->ops->line(s, line))
        return;
    if (lab_ui_command_parse(line, &cmd)) {
        lab_ui_error(ui);
        return;
    }
    if (cmd.kind == LAB_COMMAND_NONE)
        return;
    if ((cmd.kind == LAB_COMMAND_EXPORT || cmd.kind == LAB_COMMAND_SAVE) &&
        ui->script && script_played(ui->script)) {
        lab_ui_message(ui, LAB_ROLE_WARN,
                       "a recording that is played writes no files: %s is "
                       "left out",
                       lab_ui_command_name(cmd.kind));
        return;
    }
    if (cmd.kind == LAB_COMMAND_EXPORT) {
        const int px_h = ui->canvas.px_h;
        const int px_w = ui->canvas.px_w;
        lab_picture_size(cmd.arg, &ui->canvas);
        ui_draw(ui); /* without the prompt */
        enum lab_status st = lab_picture_write(cmd.arg, &ui->canvas, ui->theme);
        ui->canvas.px_h = px_h; /* its images were drawn in the other size */
        ui->canvas.px_w = px_w;
        if (st)
            lab_ui_error(ui);
        else
            lab_ui_message(ui, LAB_ROLE_GOOD, "the screen is kept in %s",
                           cmd.arg);
        return;
    }
    if (cmd.kind == LAB_COMMAND_THEME) {
        set_theme(ui, cmd.arg);
        return;
    }
    if (s->ops->command && s->ops->command(s, &cmd)) {
        if (s->ops->after)
            s->ops->after(s);
        return;
    }
    if (cmd.kind == LAB_COMMAND_HELP) {
        ui_help(ui);
        s = &ui_top(ui)->screen; /* help itself, unless memory is short */
        if (cmd.arg[0])
            use_answer(s, LAB_PROMPT_SEARCH, cmd.arg);
    } else if (cmd.kind == LAB_COMMAND_QUIT) {
        quit(ui);
    } else {
        lab_ui_message(ui, LAB_ROLE_WARN, "\"%s\" means nothing on this screen",
                       lab_ui_command_name(cmd.kind));
    }
}

static void finish_asking(struct lab_ui *ui, const char *answer)
{
    char text[LAB_PROMPT_BYTES];
    struct lab_screen *s = &ui_top(ui)->screen;
    int id = ui->asking_id;
    ui->asking = LAB_ASK_NOTHING;
    if (answer)
        snprintf(text, sizeof(text), "%s", answer); /* it may ask again */
    if (id == LAB_PROMPT_COMMAND) {
        if (answer)
            run_command(ui, text);
    } else {
        use_answer(s, id, answer ? text : NULL);
    }
}

static void key_while_asking(struct lab_ui *ui, int key)
{
    if (ui->asking == LAB_ASK_YES) {
        int lower = key >= 'A' && key <= 'Z' ? key - 'A' + 'a' : key;
        char text[2] = {(char)lower, '\0'};
        bool one = lower >= 'a' && lower <= 'z' && strchr(ui->letters, lower);
        ui->message[0] = '\0';
        finish_asking(ui, one ? text : NULL);
        return;
    }
    if ((key == LAB_KEY_PAGE_DOWN && turn_offers(ui, ui->offers_page)) ||
        (key == LAB_KEY_PAGE_UP && turn_offers(ui, -ui->offers_page)))
        return;
    ui->offers_top = 0; /* another list */
    if (key == LAB_KEY_TAB) {
        if (ui->asking_id == LAB_PROMPT_COMMAND)
            complete(ui);
        return;
    }
    enum lab_prompt_result r = lab_prompt_key(&ui->prompt, key);
    if (r == LAB_PROMPT_DONE)
        finish_asking(ui, ui->prompt.text);
    else if (r == LAB_PROMPT_CANCELLED)
        finish_asking(ui, NULL);
    else if (ui->asking_id == LAB_PROMPT_SEARCH &&
             ui_top(ui)->screen.ops->filter)
        ui_top(ui)->screen.ops->filter(&ui_top(ui)->screen, ui->prompt.text);
}

/* What an action means when the screen does not want it. */
static bool act_everywhere(struct lab_ui *ui, int action)
{
    struct lab_screen *s = &ui_top(ui)->screen;
    switch (action) {
    case LAB_ACT_COMMAND:
        ui->offers_top = 0;
        lab_ui_prompt(ui, LAB_PROMPT_COMMAND, ":", NULL);
        return true;
    case LAB_ACT_SEARCH:
        if (!s->ops->answer && !searches(s))
            return false;
        lab_ui_prompt(ui, LAB_PROMPT_SEARCH, "/", NULL);
        return true;
    case LAB_ACT_HELP:
        ui_help(ui);
        return true;
    case LAB_ACT_BACK:
        if (may_close(s))
            lab_ui_pop(ui);
        return true;
    case LAB_ACT_CANCEL: /* nothing to cancel: the screen; the last one stays */
        if (ui->depth > 1 && may_close(s))
            lab_ui_pop(ui);
        return true;
    case LAB_ACT_REDRAW:
        if (ui->terminal)
            lab_terminal_redraw(ui->terminal);
        return true;
    default:
        return false;
    }
}

static bool act_in_panes(struct lab_screen *s, int action)
{
    struct lab_panes p;
    if (!s->ops->panes)
        return false;
    struct lab_pane *at = panes_of(s, &p);
    struct lab_table *t = at->table ? at->table : p.at[0].table;
    switch (action) {
    case LAB_ACT_NEXT_PANE:
    case LAB_ACT_PREV_PANE:
        if (p.chosen)
            *p.chosen += action == LAB_ACT_NEXT_PANE ? 1 : p.count - 1;
        if (p.chosen)
            *p.chosen %= p.count;
        return p.chosen != NULL;
    case LAB_ACT_SORT:
    case LAB_ACT_SORT_TURN:
        return t && lab_table_action(t, action);
    default:
        return at->table ? lab_table_action(at->table, action)
                         : lab_pager_action(at->pager, action);
    }
}

static enum lab_status open_view(struct lab_screen *s,
                                 const struct lab_binding *b)
{
    struct lab_run_args of = {.launch = LAB_UNKNOWN};
    enum lab_status st = s->ops->subject(s, (enum lab_subject)b->with, &of);
    return st ? st : lab_ui_push(s->ui, b->view, &of);
}

static bool act(struct lab_ui *ui, struct lab_screen *s,
                const struct lab_binding *b)
{
    bool used = true;
    if (b->act || b->act_with || b->view) {
        if (s->ops->ready && !s->ops->ready(s))
            return true;
        if (b->view  ? open_view(s, b)
            : b->act ? b->act(s)
                     : b->act_with(s, b->with))
            lab_ui_error(ui);
    } else if (searches(s) && (b->action == LAB_ACT_SEARCH_NEXT ||
                               b->action == LAB_ACT_SEARCH_PREV)) {
        search(s, "", b->action == LAB_ACT_SEARCH_NEXT ? 1 : -1);
    } else {
        used = (s->ops->action && s->ops->action(s, b->action)) ||
               act_in_panes(s, b->action);
    }
    if (used && s->ops->after)
        s->ops->after(s);
    return used || act_everywhere(ui, b->action);
}

/* A click chooses a row and its pane. */
static bool click(struct lab_ui *ui, struct lab_screen *s, int y, int x)
{
    struct lab_panes p = {.count = 0};
    const struct lab_binding *open =
        lab_keymap_action(lab_ui_keys(s), LAB_ACT_OPEN);
    if (s->ops->panes)
        panes_of(s, &p);
    for (int i = 0; i < p.count; i++) {
        struct lab_table *t = p.at[i].table;
        if (!t || !lab_rect_has(t->view, y, x))
            continue;
        bool again = !p.chosen || *p.chosen == i;
        if (p.chosen)
            *p.chosen = i;
        int64_t before = lab_table_row(t);
        if (lab_table_click(t, y, x) == before && again && before >= 0 &&
            p.click_opens && open)
            act(ui, s, open);
        else if (s->ops->after)
            s->ops->after(s);
        return true;
    }
    return false;
}

static void ui_handle_key(struct lab_ui *ui, int key)
{
    struct lab_screen *s = &ui_top(ui)->screen;
    char name[LAB_KEY_NAME_BYTES];
    ui->dirty = true;
    if (too_small(ui)) {
        /* What cannot be seen must not happen; the way out stays. */
        if (ui->asking != LAB_ASK_NOTHING) {
            if (key == 'q' || key == LAB_KEY_ESC)
                finish_asking(ui, NULL);
        } else if (key == 'q' && may_close(s)) {
            lab_ui_pop(ui);
        }
        return;
    }
    if (ui->asking != LAB_ASK_NOTHING) {
        key_while_asking(ui, key);
        return;
    }
    ui->message[0] = '\0';
    const struct lab_binding *b = lab_keymap_find(lab_ui_keys(s), key);
    if (!b)
        b = lab_keymap_find(lab_global_keymap(s->ops->sideways), key);
    bool ends = key == LAB_KEY_ESC && lab_ui_keys(s) != own_keys(s);
    if (!b ||
        (b->action != LAB_ACT_SEARCH_NEXT && b->action != LAB_ACT_SEARCH_PREV))
        ui->matching = false;
    if (ends || (b && act(ui, s, b)))
        return;
    if (!b && s->ops->key && s->ops->key(s, key))
        return;
    lab_ui_message(ui, LAB_ROLE_WARN, "%s does nothing here: press ? for help",
                   lab_key_name(key, name));
}

static void ui_handle_mouse(struct lab_ui *ui, const struct lab_event *e)
{
    struct lab_screen *s = &ui_top(ui)->screen;
    struct lab_frame f = lab_frame_layout(ui->canvas.h, ui->canvas.w);
    ui->dirty = true;
    if (ui->asking == LAB_ASK_LINE && e->mouse == LAB_MOUSE_CLICK)
        click_offer(ui, e->y, e->x);
    else if (ui->asking == LAB_ASK_LINE && e->mouse != LAB_MOUSE_DRAG)
        turn_offers(ui, e->mouse == LAB_MOUSE_WHEEL_DOWN ? 1 : -1);
    if (f.small || ui->asking != LAB_ASK_NOTHING)
        return;
    if (e->mouse == LAB_MOUSE_DRAG) {
        if (s->ops->drag && lab_rect_has(f.body, e->from_y, e->from_x)) {
            s->ops->drag(s, e->from_y, e->from_x, e->y, e->x);
            if (s->ops->after)
                s->ops->after(s);
        }
        return;
    }
    if (lab_rect_has(f.bar, e->y, e->x) && e->mouse == LAB_MOUSE_CLICK) {
        for (int i = 0; i < ui->bar_count; i++) {
            if (e->x >= ui->bar[i].x && e->x < ui->bar[i].x + ui->bar[i].w) {
                ui_handle_key(ui, ui->bar[i].key);
                return;
            }
        }
    } else if (lab_rect_has(f.body, e->y, e->x)) {
        ui->matching = ui->matching && e->mouse != LAB_MOUSE_CLICK;
        if (s->ops->mouse && s->ops->mouse(s, e->mouse, e->y, e->x)) {
            if (s->ops->after)
                s->ops->after(s);
        } else if (e->mouse == LAB_MOUSE_CLICK) {
            click(ui, s, e->y, e->x);
        } else if (e->mouse == LAB_MOUSE_WHEEL_UP) {
            ui_handle_key(ui, LAB_KEY_UP);
        } else {
            ui_handle_key(ui, LAB_KEY_DOWN);
        }
    }
}

/* What the events come from. */
static enum lab_status open_source(struct lab_ui *ui,
                                   const struct lab_ui_options *o)
{
    enum { PICTURE_H = 40, PICTURE_W = 120 };
    const char *path = o->script ? o->script : o->replay;
    enum lab_status st = LAB_OK;
    if (path)
        st = script_open(&ui->script, path, &ui->canvas, !o->script);
    else if (o->picture)
        st = script_still(&ui->script, &ui->canvas, PICTURE_H, PICTURE_W);
    if (!st && !o->script && !o->picture)
        st = lab_terminal_open(&ui->terminal, &o->terminal);
    return st;
}

static enum lab_status open_files(struct lab_ui *ui,
                                  const struct lab_ui_options *o)
{
    const struct lab_canvas *c = &ui->canvas;
    enum lab_status st = LAB_OK;
    if (o->record)
        st = key_log_open(&ui->recording, o->record, c->h, c->w);
    if (!st && o->cast)
        st = lab_cast_open(&ui->cast, o->cast, c, ui->theme);
    return st;
}

enum lab_status lab_ui_new(struct lab_ui **out,
                           const struct lab_ui_options *options)
{
    const char *color = options->terminal.color;
    const bool mono = color && strcmp(color, "never") == 0;
    /* A script without a terminal has backgrounds where the options ask for them. */
    const bool always = color && strcmp(color, "always") == 0;
    struct lab_terminal_facts facts = {.ascii = options->terminal.ascii,
                                       .tints = (options->picture && !mono) ||
                                                always};
    enum lab_status st = LAB_OK;
    struct lab_ui *ui = lab_alloc(sizeof(*ui));
    if (!ui)
        return lab_fail(LAB_E_NOMEM, "the user interface");
    if (options->settings)
        ui->settings = *options->settings;
    lab_ui_badge(ui, options->badge ? options->badge : "");
    ui->picture = options->picture;
    if (!lab_theme_find(options->terminal.theme, getenv("COLORFGBG"),
                        &ui->theme))
        ui->theme = LAB_THEME_DARK;
    ui->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (ui->wake_fd < 0)
        st =
            lab_fail(LAB_E_IO, "[screen.eventfd] eventfd: %s", strerror(errno));
    else
        st = open_source(ui, options);
    if (!st && ui->terminal)
        lab_terminal_get_facts(ui->terminal, &facts);
    else if (!st)
        script_size(ui->script, &facts.h, &facts.w);
    if (!st)
        st = lab_canvas_init(&ui->canvas, facts.h, facts.w, facts.ascii);
    ui->canvas.blocks = facts.blocks;
    ui->canvas.tints = facts.tints;
    ui->canvas.mono = mono;
    ui->canvas.px_h = facts.px_h;
    ui->canvas.px_w = facts.px_w;
    if (ui->picture)
        lab_picture_size(ui->picture, &ui->canvas);
    if (!st)
        st = open_files(ui, options);
    if (st) {
        lab_ui_free(ui);
        return st;
    }
    *out = ui;
    return LAB_OK;
}

static void close_entry(struct lab_ui_entry *e)
{
    if (e->screen.ops->release)
        e->screen.ops->release(&e->screen);
    lab_free(e->screen.state);
    memset(e, 0, sizeof(*e));
}

void lab_ui_free(struct lab_ui *ui)
{
    if (!ui)
        return;
    /* The terminal first: closing a screen may wait for its thread. */
    lab_terminal_close(ui->terminal);
    while (ui->depth > 0)
        close_entry(&ui->stack[--ui->depth]);
    script_close(ui->script);
    key_log_close(ui->recording);
    lab_cast_close(ui->cast);
    lab_canvas_release(&ui->canvas);
    lab_free(ui->ahead);
    if (ui->wake_fd >= 0)
        close(ui->wake_fd);
    lab_free(ui);
}

enum lab_status lab_ui_push(struct lab_ui *ui, const struct lab_screen_ops *ops,
                            const void *args)
{
    if (ui->depth == LAB_UI_STACK)
        return lab_fail(LAB_E_STATE, "[screen.many] too many screens are open");
    struct lab_ui_entry *e = &ui->stack[ui->depth];
    void *state = lab_alloc(ops->state_bytes);
    if (!state)
        return lab_fail(LAB_E_NOMEM, "the screen \"%s\"", ops->name);
    *e = (struct lab_ui_entry){.screen = {ops, state, ui}};
    ui->depth++;
    ui->dirty = true;
    enum lab_status st = ops->init ? ops->init(&e->screen, args) : LAB_OK;
    if (st) {
        ui->depth--;
        close_entry(e);
    }
    return st;
}

void lab_ui_pop(struct lab_ui *ui)
{
    for (int i = ui->depth - 1; i >= 0; i--) {
        if (!ui->stack[i].closing) {
            ui->stack[i].closing = true;
            return;
        }
    }
}

static void end_with(struct lab_ui *ui, enum lab_status st)
{
    ui->result = st;
    lab_error_keep(&ui->why);
    close_all(ui);
}

/* A recording that leaves the last screen ends there, as with `quit`: the picture
 * has that screen. */
static void picture_of_last(struct lab_ui *ui)
{
    bool leaves = ui->picture && ui->depth > 0 && !ui->result && !ui->signal;
    for (int i = 0; leaves && i < ui->depth; i++)
        leaves = ui->stack[i].closing;
    if (!leaves)
        return;
    ui_draw(ui);
    enum lab_status st = lab_picture_write(ui->picture, &ui->canvas, ui->theme);
    ui->picture = NULL;
    if (st)
        end_with(ui, st);
}

/* Screens are freed here and nowhere else, so that one may close itself in the
 * middle of its own function. */
static void close_marked(struct lab_ui *ui)
{
    bool any = false;
    picture_of_last(ui);
    for (int i = ui->depth - 1; i >= 0; i--) {
        if (!ui->stack[i].closing)
            continue;
        close_entry(&ui->stack[i]);
        memmove(&ui->stack[i], &ui->stack[i + 1],
                (size_t)(ui->depth - 1 - i) * sizeof(ui->stack[0]));
        ui->depth--;
        any = true;
    }
    struct lab_ui_entry *top = ui_top(ui);
    if (!any || !top)
        return;
    ui->dirty = true;
    ui->woken = true; /* for what came while another screen was in front */
    if (top->screen.ops->shown)
        top->screen.ops->shown(&top->screen);
}

void lab_ui_wake(void *user)
{
    struct lab_ui *ui = user;
    uint64_t one = 1;
    int saved = errno;
    if (atomic_exchange(&ui->wake, 1) == 0) {
        ssize_t n = write(ui->wake_fd, &one, sizeof(one));
        (void)n; /* full: it is awake */
    }
    errno = saved;
}

void lab_ui_tick_every(struct lab_ui *ui, int ms)
{
    struct lab_ui_entry *top = ui_top(ui);
    if (top)
        top->tick_ms = ms;
}

const struct lab_pane_sizes *lab_ui_pane_sizes(const struct lab_ui *ui)
{
    return &ui->settings.panes;
}

bool lab_ui_is_ascii(const struct lab_ui *ui)
{
    return ui->canvas.ascii;
}

void lab_ui_redraw(struct lab_ui *ui)
{
    ui->dirty = true;
}

void lab_ui_message(struct lab_ui *ui, enum lab_role role, const char *fmt, ...)
{
    char text[sizeof(ui->message)];
    va_list args;
    va_start(args, fmt);
    if ((size_t)vsnprintf(text, sizeof(text), fmt, args) >= sizeof(text))
        lab_utf8_trim(text);
    va_end(args);
    lab_visible_copy(ui->message, sizeof(ui->message), text);
    ui->message_role = role;
    ui->dirty = true;
}

void lab_ui_error(struct lab_ui *ui)
{
    lab_ui_message(ui, LAB_ROLE_BAD, "%s", lab_error());
}

void lab_ui_badge(struct lab_ui *ui, const char *text)
{
    snprintf(ui->badge, sizeof(ui->badge), "%s", text);
    ui->dirty = true;
}

static struct lab_history *history_of(struct lab_ui *ui, int id)
{
    struct lab_ui_history *h = ui->histories;
    for (int i = 0; i < LAB_UI_HISTORIES; i++, h++) {
        if (h->id == id || h->id == 0) {
            h->id = id;
            return &h->lines;
        }
    }
    return NULL;
}

void lab_ui_prompt(struct lab_ui *ui, int id, const char *label,
                   const char *initial)
{
    ui->asking = LAB_ASK_LINE;
    ui->asking_id = id;
    ui->hint[0] = '\0';
    lab_prompt_start(&ui->prompt, label, initial, history_of(ui, id));
    ui->dirty = true;
}

void lab_ui_hint(struct lab_ui *ui, const char *text)
{
    snprintf(ui->hint, sizeof(ui->hint), "%s", text);
    ui->dirty = true;
}

void lab_ui_ask(struct lab_ui *ui, int id, const char *question)
{
    char text[sizeof(ui->message)];
    snprintf(text, sizeof(text), "%s (y/n)", question);
    lab_ui_ask_which(ui, id, text, "y");
}

void lab_ui_ask_which(struct lab_ui *ui, int id, const char *question,
                      const char *letters)
{
    ui->asking = LAB_ASK_YES;
    ui->asking_id = id;
    snprintf(ui->letters, sizeof(ui->letters), "%s", letters);
    lab_ui_message(ui, LAB_ROLE_WARN, "%s", question);
}

static void resize(struct lab_ui *ui, int h, int w)
{
    struct lab_canvas next;
    ui->dirty = true;
    if (lab_canvas_init(&next, h, w, ui->canvas.ascii)) {
        lab_ui_error(ui); /* the old size is better than none */
        return;
    }
    next.blocks = ui->canvas.blocks;
    next.tints = ui->canvas.tints;
    next.mono = ui->canvas.mono;
    next.px_h = ui->canvas.px_h;
    next.px_w = ui->canvas.px_w;
    if (ui->terminal) {
        struct lab_terminal_facts facts;
        lab_terminal_get_facts(ui->terminal, &facts);
        next.px_h = facts.px_h;
        next.px_w = facts.px_w;
        next.tints = facts.tints;
        ui->theme = facts.theme;
    }
    lab_canvas_release(&ui->canvas);
    ui->canvas = next;
}

static void write_screen(struct lab_ui *ui, const char *path)
{
    char *dump = lab_canvas_dump(&ui->canvas);
    FILE *f = dump ? fopen(path, "we") : NULL;
    bool ok = f && fputs(dump, f) >= 0;
    if (f && fclose(f) != 0)
        ok = false;
    lab_free(dump);
    if (!ok)
        end_with(ui, lab_fail(LAB_E_IO, "[screen.write] %s: %s", path,
                              strerror(errno)));
}

static void handle_wake(struct lab_ui *ui)
{
    uint64_t count;
    ssize_t n = read(ui->wake_fd, &count, sizeof(count));
    (void)n;
    atomic_store(&ui->wake, 0);
    ui->woken = true;
}

/* ---- keys typed ahead ---- */

static bool running(const struct lab_ui *ui)
{
    return ui->depth > 0 && ui->signal == 0;
}

static bool must_wait(struct lab_ui *ui, int key)
{
    struct lab_screen *s = &ui_top(ui)->screen;
    return s->ops->waits && s->ops->waits(s, key);
}

static void drop_ahead(struct lab_ui *ui, int n)
{
    if (n == 0)
        return;
    ui->ahead_count -= n;
    memmove(ui->ahead, ui->ahead + n,
            (size_t)ui->ahead_count * sizeof(ui->ahead[0]));
}

/* Esc that need not wait cancels what the keys before it wait for. */
static void skip_to_esc(struct lab_ui *ui)
{
    for (int i = 0; i < ui->ahead_count; i++) {
        const struct lab_event *e = &ui->ahead[i];
        if (e->kind != LAB_EVENT_KEY || e->key != LAB_KEY_ESC ||
            must_wait(ui, LAB_KEY_ESC))
            continue;
        drop_ahead(ui, i);
        return;
    }
}

/* What a key means by the configuration file. Typed text stays as it is. */
static int meant(const struct lab_ui *ui, int key)
{
    const struct lab_key_setting *set =
        ui->asking ? NULL
                   : lab_ui_setting_key(&ui->settings,
                                        ui_top(ui)->screen.ops->name, key);
    return set ? set->to : key;
}

/* Handles what need not wait any more, in the order in which it came. */
static void deliver(struct lab_ui *ui)
{
    skip_to_esc(ui);
    while (ui->ahead_count > 0 && running(ui)) {
        const struct lab_event e = ui->ahead[0];
        int key = e.kind == LAB_EVENT_KEY ? meant(ui, e.key) : 0;
        if (must_wait(ui, key))
            return;
        /* A key moves in what is drawn: what it need not wait for any more may
         * have changed how many elements a cell covers. */
        if (ui->dirty && ui_top(ui)->screen.ops->waits) {
            ui->dirty = false;
            ui_draw(ui);
        }
        drop_ahead(ui, 1);
        if (e.kind == LAB_EVENT_KEY)
            ui_handle_key(ui, key);
        else
            ui_handle_mouse(ui, &e);
        close_marked(ui);
    }
}

/* Room for one more that waits. */
static bool grow_ahead(struct lab_ui *ui)
{
    enum lab_status st =
        lab_grow(&ui->ahead, (size_t)ui->ahead_count, &ui->ahead_room,
                 sizeof(*ui->ahead), "the keys that wait");
    if (st)
        lab_ui_error(ui);
    return !st;
}

static void type_ahead(struct lab_ui *ui, const struct lab_event *e)
{
    if (!grow_ahead(ui))
        return;
    ui->ahead[ui->ahead_count++] = *e;
    deliver(ui);
}

void lab_ui_press(struct lab_ui *ui, int key)
{
    if (!grow_ahead(ui))
        return;
    memmove(ui->ahead + 1, ui->ahead,
            (size_t)ui->ahead_count * sizeof(ui->ahead[0]));
    ui->ahead[0] = (struct lab_event){.kind = LAB_EVENT_KEY, .key = key};
    ui->ahead_count++;
}

/* The replay is over: the screens stay, and the user goes on. */
static void end_replay(struct lab_ui *ui)
{
    script_close(ui->script);
    ui->script = NULL;
    ui->paused = false;
    ui->dirty = true;
}

static void script_ended(struct lab_ui *ui)
{
    bool quit = false;
    enum lab_status st = script_result(ui->script, &quit);
    if (!ui->terminal || (quit && !st)) {
        end_with(ui, st);
        return;
    }
    if (st)
        lab_ui_error(ui);
    else
        lab_ui_message(ui, LAB_ROLE_GOOD,
                       "The recording ends here: go on yourself.");
    end_replay(ui);
}

static void handle(struct lab_ui *ui, const struct lab_event *e)
{
    if (ui->recording)
        key_log_add(ui->recording, e);
    switch (e->kind) {
    case LAB_EVENT_KEY:
    case LAB_EVENT_MOUSE:
        type_ahead(ui, e);
        break;
    case LAB_EVENT_RESIZE:
        resize(ui, e->h, e->w);
        break;
    case LAB_EVENT_WAKE:
        handle_wake(ui);
        break;
    case LAB_EVENT_SIGNAL:
        /* The screens stay open: closing one may wait for its thread, and the
         * terminal must be right before that. lab_ui_free() closes them. */
        ui->signal = e->signal;
        break;
    case LAB_EVENT_SHOT:
        write_screen(ui, e->text);
        break;
    case LAB_EVENT_CAPTION:
        ui->dirty = true;
        break;
    case LAB_EVENT_END:
        script_ended(ui);
        break;
    case LAB_EVENT_NONE:
        break;
    }
}

/* When the top screen's tick is due: a moment, or INT64_MAX for never. */
static int64_t tick_due(const struct lab_ui *ui)
{
    const struct lab_ui_entry *top = ui_top(ui);
    int64_t due = INT64_MAX;
    if (!top->screen.ops->tick)
        return ui->woken ? 0 : due;
    if (top->tick_ms > 0)
        due = top->last_tick_ns + (int64_t)top->tick_ms * 1000000;
    if (ui->woken && ui->ahead_count > 0)
        return 0; /* keys wait for what has come */
    if (ui->woken && top->last_tick_ns + LAB_UI_FRAME_NS < due)
        due = top->last_tick_ns + LAB_UI_FRAME_NS;
    return due;
}

static void tick_if_due(struct lab_ui *ui)
{
    int64_t now = lab_clock_monotonic_ns();
    struct lab_ui_entry *top = ui_top(ui);
    if (now < tick_due(ui))
        return;
    ui->woken = false;
    top->last_tick_ns = now;
    if (top->screen.ops->tick && top->screen.ops->tick(&top->screen))
        ui->dirty = true;
}

/* A key or a click while a replay is played. What ends it counts as itself, so
 * that the user may simply go on. */
static void steer_replay(struct lab_ui *ui, struct lab_event *e)
{
    const struct lab_event nothing = {.kind = LAB_EVENT_NONE};
    if (e->kind == LAB_EVENT_KEY && e->key == ' ') {
        ui->paused = !ui->paused;
        ui->dirty = true;
        *e = nothing;
    } else if (e->kind == LAB_EVENT_KEY && e->key == LAB_KEY_RIGHT) {
        script_skip_wait(ui->script);
        script_next(ui->script, ui->ahead_count > 0, e);
    } else {
        lab_ui_message(ui, LAB_ROLE_WARN,
                       "The recording has stopped: go on yourself.");
        drop_ahead(ui, ui->ahead_count); /* its keys that still wait */
        end_replay(ui);
        if (e->kind == LAB_EVENT_KEY && e->key == LAB_KEY_ESC)
            *e = nothing;
    }
}

static void wait_in_replay(struct lab_ui *ui, int timeout_ms, int wake_fd,
                           struct lab_event *e)
{
    int left = -1;
    lab_terminal_wait(ui->terminal, 0, -1, true, e);
    if (e->kind == LAB_EVENT_NONE && !ui->paused)
        left = script_next(ui->script, ui->ahead_count > 0, e);
    if (e->kind == LAB_EVENT_RESIZE &&
        left == 0) /* the terminal's size holds */
        e->kind = LAB_EVENT_NONE;
    if (left == 0)
        return;
    if (e->kind == LAB_EVENT_NONE) {
        if (left > 0 && (timeout_ms < 0 || left < timeout_ms))
            timeout_ms = left;
        lab_terminal_wait(ui->terminal, timeout_ms, wake_fd, true, e);
    }
    if (e->kind == LAB_EVENT_KEY || e->kind == LAB_EVENT_MOUSE)
        steer_replay(ui, e);
}

static void wait_event(struct lab_ui *ui, int timeout_ms, bool images,
                       struct lab_event *e)
{
    int wake_fd = ui->woken ? -1 : ui->wake_fd; /* known already */
    /* A picture shows what the keys have done, so it waits for that too. */
    bool keys_wait =
        ui->ahead_count > 0 || (ui->picture && must_wait(ui, CTRL_L));
    if (!ui->terminal)
        script_wait(ui->script, timeout_ms, wake_fd, keys_wait, e);
    else if (ui->script)
        wait_in_replay(ui, timeout_ms, wake_fd, e);
    else
        lab_terminal_wait(ui->terminal, timeout_ms, wake_fd, images, e);
}

static int timeout_ms(const struct lab_ui *ui)
{
    int64_t due = tick_due(ui);
    int64_t now = lab_clock_monotonic_ns();
    if (due == INT64_MAX)
        return -1;
    int64_t ms = due > now ? (due - now + 999999) / 1000000 : 0;
    return ms > 60000 ? 60000 : (int)ms;
}

/* What the run comes to, once its files are closed. */
static enum lab_status ended(struct lab_ui *ui)
{
    enum lab_status st = key_log_close(ui->recording);
    enum lab_status cast = lab_cast_close(ui->cast);
    ui->recording = NULL;
    ui->cast = NULL;
    if (ui->signal)
        return lab_fail(LAB_E_CANCELLED, "ended by signal %d", ui->signal);
    if (!ui->result && (st || cast))
        return st ? st : cast;
    return lab_error_again(ui->result, &ui->why);
}

enum lab_status lab_ui_run(struct lab_ui *ui)
{
    struct lab_event e;
    struct lab_terminal_facts facts = {.stand_in = NULL};
    if (ui->terminal)
        lab_terminal_get_facts(ui->terminal, &facts);
    if (facts.stand_in)
        lab_ui_message(ui, LAB_ROLE_WARN,
                       "TERM=%s is not known to this machine: used as %s",
                       getenv("TERM"), facts.stand_in);
    ui->dirty = true;
    while (running(ui)) {
        tick_if_due(ui);
        close_marked(ui);
        if (running(ui))
            deliver(ui);
        if (!running(ui))
            break;
        if (ui->dirty) {
            ui->dirty = false;
            ui_draw(ui);
        }
        wait_event(ui, timeout_ms(ui), true, &e);
        handle(ui, &e);
        close_marked(ui);
        /* A held-down key must not queue frames: take what is there first. What the
         * keys have changed is shown before more of an image is sent. A script's
         * tokens need each frame. */
        for (int i = 0; !ui->script && i < EVENTS_A_FRAME && running(ui); i++) {
            wait_event(ui, 0, !ui->dirty, &e);
            if (e.kind == LAB_EVENT_NONE)
                break;
            handle(ui, &e);
            close_marked(ui);
        }
    }
    return ended(ui);
}

int lab_ui_signal(const struct lab_ui *ui)
{
    return ui->signal;
}
