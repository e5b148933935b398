#include "ui_priv.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "ui/view_help.h"

enum { EVENTS_A_FRAME = 64 };

struct lab_ui_entry *lab_ui_top(const struct lab_ui *ui)
{
    return ui->depth > 0 ? (struct lab_ui_entry *)&ui->stack[ui->depth - 1]
                         : NULL;
}

const struct lab_binding *lab_ui_bindings(const struct lab_screen *s)
{
    return s->ops->bindings_now ? s->ops->bindings_now(s) : s->ops->bindings;
}

struct lab_screen *lab_ui_screen(const struct lab_ui *ui, int depth)
{
    if (depth < 0 || depth >= ui->depth)
        return NULL;
    return (struct lab_screen *)&ui->stack[ui->depth - 1 - depth].screen;
}

static bool sees(void *user, const char *text)
{
    struct lab_ui *ui = user;
    char *dump = lab_canvas_dump(&ui->canvas);
    bool found = dump && strstr(dump, text) != NULL;
    lab_free(dump);
    return found;
}

static enum lab_status open_canvas(struct lab_ui *ui, int h, int w,
                                   const struct lab_ui_options *options)
{
    bool ascii = ui->terminal ? lab_terminal_ascii(ui->terminal)
                              : options->terminal.ascii;
    enum lab_status st = lab_canvas_init(&ui->canvas, h, w, ascii);
    if (!st)
        ui->canvas.blocks = ui->terminal && lab_terminal_blocks(ui->terminal);
    return st;
}

enum lab_status lab_ui_new(struct lab_ui **out,
                           const struct lab_ui_options *options)
{
    int h = 0;
    int w = 0;
    enum lab_status st;
    struct lab_ui *ui = lab_alloc(sizeof(*ui));
    if (!ui)
        return lab_fail(LAB_E_NOMEM, "the user interface");
    lab_ui_badge(ui, options->badge ? options->badge : "");
    ui->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (ui->wake_fd < 0) {
        st = lab_fail(LAB_E_IO, "eventfd: %s", strerror(errno));
        goto out_ui;
    }
    if (options->script)
        st = lab_script_open(&ui->script, options->script, sees, ui);
    else
        st = lab_terminal_open(&ui->terminal, &options->terminal);
    if (st)
        goto out_fd;
    if (ui->script)
        lab_script_size(ui->script, &h, &w);
    else
        lab_terminal_size(ui->terminal, &h, &w);
    st = open_canvas(ui, h, w, options);
    if (st)
        goto out_terminal;
    *out = ui;
    return LAB_OK;

out_terminal:
    lab_terminal_close(ui->terminal);
    lab_script_close(ui->script);
out_fd:
    close(ui->wake_fd);
out_ui:
    lab_free(ui);
    return st;
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
    lab_script_close(ui->script);
    lab_canvas_release(&ui->canvas);
    close(ui->wake_fd);
    lab_free(ui);
}

enum lab_status lab_ui_push(struct lab_ui *ui, const struct lab_screen_ops *ops,
                            const void *args)
{
    if (ui->depth == LAB_UI_STACK)
        return lab_fail(LAB_E_STATE, "too many screens are open");
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
        lab_free(state);
        memset(e, 0, sizeof(*e));
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

void lab_ui_quit(struct lab_ui *ui)
{
    for (int i = 0; i < ui->depth; i++)
        ui->stack[i].closing = true;
}

/* Screens are freed here and nowhere else, so that one may close itself in the
 * middle of its own function. */
static void close_marked(struct lab_ui *ui)
{
    bool any = false;
    for (int i = ui->depth - 1; i >= 0; i--) {
        if (!ui->stack[i].closing)
            continue;
        close_entry(&ui->stack[i]);
        memmove(&ui->stack[i], &ui->stack[i + 1],
                (size_t)(ui->depth - 1 - i) * sizeof(ui->stack[0]));
        ui->depth--;
        any = true;
    }
    struct lab_ui_entry *top = lab_ui_top(ui);
    if (!any || !top)
        return;
    ui->dirty = true;
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
    struct lab_ui_entry *top = lab_ui_top(ui);
    if (top)
        top->tick_ms = ms;
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
    ui->asking = LAB_ASK_YES;
    ui->asking_id = id;
    lab_ui_message(ui, LAB_ROLE_WARN, "%s (y/n)", question);
}

void lab_ui_help(struct lab_ui *ui)
{
    struct lab_screen *s = lab_ui_screen(ui, 0);
    if (s->ops == &lab_view_help)
        return;
    if (lab_ui_push(ui, &lab_view_help, s))
        lab_ui_error(ui);
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
    lab_canvas_release(&ui->canvas);
    ui->canvas = next;
}

static void end_with(struct lab_ui *ui, enum lab_status st)
{
    ui->result = st;
    snprintf(ui->result_text, sizeof(ui->result_text), "%s", lab_error());
    lab_ui_quit(ui);
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
        end_with(ui, lab_fail(LAB_E_IO, "%s: %s", path, strerror(errno)));
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
    struct lab_screen *s = &lab_ui_top(ui)->screen;
    return s->ops->waits && s->ops->waits(s, key);
}

static struct lab_event *ahead_at(struct lab_ui *ui, int i)
{
    return &ui->ahead[(ui->ahead_first + i) % LAB_UI_AHEAD];
}

static struct lab_event take_ahead(struct lab_ui *ui)
{
    struct lab_event e = *ahead_at(ui, 0);
    ui->ahead_first = (ui->ahead_first + 1) % LAB_UI_AHEAD;
    ui->ahead_count--;
    return e;
}

/* Esc that need not wait cancels what the keys before it wait for. */
static void skip_to_esc(struct lab_ui *ui)
{
    for (int i = 0; i < ui->ahead_count; i++) {
        const struct lab_event *e = ahead_at(ui, i);
        if (e->kind != LAB_EVENT_KEY || e->key != LAB_KEY_ESC ||
            must_wait(ui, LAB_KEY_ESC))
            continue;
        ui->ahead_first = (ui->ahead_first + i) % LAB_UI_AHEAD;
        ui->ahead_count -= i;
        return;
    }
}

/* Handles what need not wait any more, in the order in which it came. */
static void deliver(struct lab_ui *ui)
{
    skip_to_esc(ui);
    while (ui->ahead_count > 0 && running(ui)) {
        const struct lab_event *first = ahead_at(ui, 0);
        if (must_wait(ui, first->kind == LAB_EVENT_KEY ? first->key : 0))
            return;
        /* A key moves in what is drawn: the news that it need not wait for any
         * more may have changed how many elements a cell covers. */
        if (ui->dirty && lab_ui_top(ui)->screen.ops->waits) {
            ui->dirty = false;
            lab_ui_draw(ui);
        }
        struct lab_event e = take_ahead(ui);
        if (e.kind == LAB_EVENT_KEY)
            lab_ui_handle_key(ui, e.key);
        else
            lab_ui_handle_mouse(ui, &e);
        close_marked(ui);
    }
}

static void type_ahead(struct lab_ui *ui, const struct lab_event *e)
{
    if (ui->ahead_count == LAB_UI_AHEAD) {
        lab_ui_message(ui, LAB_ROLE_WARN, "too many keys wait: some are lost");
        return;
    }
    *ahead_at(ui, ui->ahead_count++) = *e;
    deliver(ui);
}

static void handle(struct lab_ui *ui, const struct lab_event *e)
{
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
    case LAB_EVENT_STOP:
        lab_terminal_suspend(ui->terminal);
        ui->dirty = true;
        break;
    case LAB_EVENT_RESUME:
        lab_terminal_resume(ui->terminal);
        ui->dirty = true;
        break;
    case LAB_EVENT_SHOT:
        write_screen(ui, e->text);
        break;
    case LAB_EVENT_END:
        end_with(ui, lab_script_result(ui->script));
        break;
    case LAB_EVENT_NONE:
        break;
    }
}

/* When the top screen's tick is due: a moment, or INT64_MAX for never. */
static int64_t tick_due(const struct lab_ui *ui)
{
    const struct lab_ui_entry *top = lab_ui_top(ui);
    int64_t due = INT64_MAX;
    if (!top->screen.ops->tick)
        return ui->woken ? 0 : due;
    if (top->tick_ms > 0)
        due = top->last_tick_ns + (int64_t)top->tick_ms * 1000000;
    if (ui->woken && ui->ahead_count > 0)
        return 0; /* keys wait for the news */
    if (ui->woken && top->last_tick_ns + LAB_UI_FRAME_NS < due)
        due = top->last_tick_ns + LAB_UI_FRAME_NS;
    return due;
}

static void tick_if_due(struct lab_ui *ui)
{
    int64_t now = lab_clock_monotonic_ns();
    struct lab_ui_entry *top = lab_ui_top(ui);
    if (now < tick_due(ui))
        return;
    ui->woken = false;
    top->last_tick_ns = now;
    if (top->screen.ops->tick && top->screen.ops->tick(&top->screen, now))
        ui->dirty = true;
}

static void wait_event(struct lab_ui *ui, int timeout_ms, struct lab_event *e)
{
    int wake_fd = ui->woken ? -1 : ui->wake_fd; /* known already */
    if (ui->script)
        lab_script_wait(ui->script, timeout_ms, wake_fd, ui->ahead_count > 0,
                        e);
    else
        lab_terminal_wait(ui->terminal, timeout_ms, wake_fd, e);
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

static void say_stand_in(struct lab_ui *ui)
{
    const char *type =
        ui->terminal ? lab_terminal_stand_in(ui->terminal) : NULL;
    if (type)
        lab_ui_message(ui, LAB_ROLE_WARN,
                       "TERM=%s is not known to this machine: used as %s",
                       getenv("TERM"), type);
}

enum lab_status lab_ui_run(struct lab_ui *ui)
{
    struct lab_event e;
    ui->dirty = true;
    say_stand_in(ui);
    while (running(ui)) {
        tick_if_due(ui);
        close_marked(ui);
        if (running(ui))
            deliver(ui);
        if (!running(ui))
            break;
        if (ui->dirty) {
            ui->dirty = false;
            lab_ui_draw(ui);
        }
        wait_event(ui, timeout_ms(ui), &e);
        handle(ui, &e);
        close_marked(ui);
        /* A held-down key must not queue frames: take what is there first. A
         * script's tokens need each frame. */
        for (int i = 0; !ui->script && i < EVENTS_A_FRAME && running(ui); i++) {
            wait_event(ui, 0, &e);
            if (e.kind == LAB_EVENT_NONE)
                break;
            handle(ui, &e);
            close_marked(ui);
        }
    }
    if (ui->signal)
        return lab_fail(LAB_E_CANCELLED, "ended by signal %d", ui->signal);
    return ui->result ? lab_fail(ui->result, "%s", ui->result_text) : LAB_OK;
}

int lab_ui_signal(const struct lab_ui *ui)
{
    return ui->signal;
}
