/* view_kernel.c -- inside a kernel: one warp of one block, walked on the simulator by
 * line, instruction and barrier, and back. The step's launch waits meanwhile. What
 * may take long runs on a thread of its own, so that Esc can stop it; the walk
 * belongs to that thread until it ends. */
#include "kernel_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ui/layout.h"
#include "ui/ui.h"

enum {
    ASK_THREAD = 1,
    ASK_BLOCK,
    ASK_ELEMENT,
    ASK_ACCESS,
    SOON_NS = 40000000 /* a move this short shows no "runs" */
};

/* ---- where it is ---- */

/* The source line of the warp in focus, and the cursor on it. */
static void look(struct kernel_state *st)
{
    enum { BANKS = 32, ABOVE = 2 };
    struct lab_sim_warp_view v;
    struct lab_sim_access_view a;
    lab_sim_debug_warp(st->at->debug, kernel_focus(st), &v);
    if (v.place >= 0) {
        const struct lab_ptx_place *p = &st->at->ptx->places[v.place];
        st->file = p->file;
        st->line = p->line;
        st->cursor = p->line;
    } else
        st->line = 0;
    /* The picture of shared memory follows what was touched. */
    lab_sim_debug_access(st->at->debug, kernel_focus(st), &a);
    if (a.lanes && a.space == LAB_PTX_SHARED)
        st->top =
            (int64_t)(a.address[__builtin_ctz(a.lanes)] / 4 / BANKS) - ABOVE;
}

static void note_stop(struct kernel_state *st, const struct lab_sim_stop *stop)
{
    static const char *const why[] = {
        [LAB_SIM_STOPPED_MOVED] = "",
        [LAB_SIM_STOPPED_LINE] = "breakpoint; ",
        [LAB_SIM_STOPPED_ACCESS] = "the element was touched; ",
        [LAB_SIM_STOPPED_FINDING] = "",
        [LAB_SIM_STOPPED_WARP_DONE] = "the warp has ended; ",
        [LAB_SIM_STOPPED_END] = "all warps of the block have ended; "};
    int32_t n;
    const struct lab_sim_finding *f = lab_sim_debug_findings(st->at->debug, &n);
    if (stop->reason == LAB_SIM_STOPPED_FINDING && n > 0) {
        snprintf(st->note, sizeof(st->note), "%s: %s",
                 lab_sim_check_id(f[n - 1].check), f[n - 1].message);
        st->finding = 0;
        for (int32_t i = 0; i < n; i = kernel_same_finding(f, n, i))
            st->finding = i; /* the last of another line */
    } else
        snprintf(st->note, sizeof(st->note),
                 "%s%" PRId64 " instructions of warps in this block",
                 why[stop->reason], stop->executed);
    look(st);
}

static bool ready(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    if (!st->at)
        lab_ui_message(s->ui, LAB_ROLE_DIM, "no kernel waits to be walked yet");
    return st->at != NULL;
}

/* ---- work on a thread of its own ---- */

static bool goes_on(void *user)
{
    struct kernel_work *w = user;
    return !atomic_load(&w->ends);
}

static enum lab_status do_work(struct lab_sim_debug *d, struct kernel_work *w)
{
    switch (w->job) {
    case KERNEL_MOVE:
        return lab_sim_debug_move(d, w->move, &w->stop);
    case KERNEL_BACK:
        return lab_sim_debug_back(d, &w->stop);
    case KERNEL_WRITER:
        return lab_sim_debug_writer(d, w->p, w->bytes, &w->stop, &w->lane);
    case KERNEL_BLOCK:
        return lab_sim_debug_block(d, w->block);
    case KERNEL_FINDING: {
        enum lab_status st = lab_sim_debug_block(d, w->block);
        return st ? st : lab_sim_debug_move(d, LAB_SIM_CONTINUE, &w->stop);
    }
    default:
        return lab_kernel_elements_add(&w->text, d, w->warp, w->lane, "; ");
    }
}

static void *work(void *arg)
{
    struct lab_screen *s = arg;
    struct kernel_state *st = s->state;
    struct kernel_work *w = &st->work;
    enum lab_status status = do_work(st->at->debug, w);
    pthread_mutex_lock(&w->lock);
    w->status = status;
    snprintf(w->error, sizeof(w->error), "%s", status ? lab_error() : "");
    w->done = true;
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->lock);
    lab_ui_wake(s->ui);
    return NULL;
}

/* What was done is shown. */
static void work_ended(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    struct kernel_work *w = &st->work;
    pthread_join(w->thread, NULL);
    w->running = false;
    bool stopped = w->status == LAB_E_CANCELLED;
    if (w->job == KERNEL_ELEMENTS && !w->status) {
        snprintf(st->note, sizeof(st->note), "%.*s",
                 w->text.len > 2 ? (int)w->text.len - 2 : 0,
                 lab_str_text(&w->text));
        return;
    }
    if (w->job == KERNEL_WRITER && !w->status)
        st->lane = w->lane;
    if (w->job == KERNEL_BLOCK)
        w->stop = (struct lab_sim_stop){.executed = 0};
    if (!w->status || (stopped && w->job <= KERNEL_BACK))
        note_stop(st, &w->stop);
    else
        look(st);
    if (stopped)
        lab_ui_message(s->ui, LAB_ROLE_WARN,
                       w->job == KERNEL_MOVE ? "stopped here; c goes on"
                                             : "stopped");
    else if (w->status) {
        (void)lab_fail(w->status, "%s", w->error);
        lab_ui_error(s->ui);
    }
}

static bool work_done(struct kernel_work *w)
{
    pthread_mutex_lock(&w->lock);
    bool done = w->done;
    pthread_mutex_unlock(&w->lock);
    return done;
}

/* Waits a moment: most moves are over at once. */
static enum lab_status start_work(struct lab_screen *s, enum kernel_job job)
{
    struct kernel_state *st = s->state;
    struct kernel_work *w = &st->work;
    struct timespec until;
    w->job = job;
    w->done = false;
    atomic_store(&w->ends, false);
    lab_str_clear(&w->text);
    lab_sim_debug_poll(st->at->debug, goes_on, w);
    if (pthread_create(&w->thread, NULL, work, s))
        return lab_fail(LAB_E_NOMEM, "no thread to walk a kernel");
    w->running = true;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += SOON_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&w->lock);
    while (!w->done &&
           pthread_cond_timedwait(&w->ended, &w->lock, &until) != ETIMEDOUT)
        ;
    bool done = w->done;
    pthread_mutex_unlock(&w->lock);
    if (done)
        work_ended(s);
    return LAB_OK;
}

static void stop_work(struct kernel_work *w)
{
    atomic_store(&w->ends, true);
}

/* ---- opening and closing ---- */

static enum lab_status init(struct lab_screen *s, const void *args)
{
    struct kernel_state *st = s->state;
    st->of = *(const struct lab_kernel_args *)args;
    st->file = -1;
    lab_kernel_source_init(&st->source, NULL);
    lab_str_init(&st->work.text);
    pthread_mutex_init(&st->work.lock, NULL);
    pthread_cond_init(&st->work.ended, NULL);
    lab_kernel_pause_arm(lab_ui_wake, s->ui);
    return LAB_OK;
}

static void release(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    struct kernel_work *w = &st->work;
    if (w->running) {
        stop_work(w);
        lab_sim_debug_leave(st->at->debug);
        pthread_join(w->thread, NULL);
    }
    lab_kernel_pause_disarm();
    lab_kernel_source_release(&st->source);
    lab_str_release(&w->text);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->ended);
}

/* The launch of the finding that the screen was opened for; others run. */
static void go_to_goal(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    struct lab_kernel_goal *goal = &st->of.goal;
    if (strcmp(goal->name, st->at->name) != 0) {
        st->at = NULL;
        lab_kernel_pause_next();
        return;
    }
    memcpy(st->work.block, goal->block, sizeof(goal->block));
    goal->name[0] = '\0';
    st->tab = KERNEL_FOUND;
    if (start_work(s, KERNEL_FINDING))
        lab_ui_error(s->ui);
}

/* A launch waits now, or the step is over, or a move is. */
static bool tick(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    if (st->work.running) {
        bool done = work_done(&st->work);
        if (done)
            work_ended(s);
        return done;
    }
    const struct lab_kernel_pause *now = lab_kernel_pause_now();
    if (now && (st->at != now || st->number != now->number)) {
        st->at = now;
        st->number = now->number;
        st->lane = 0;
        st->top = 0;
        st->finding = 0;
        snprintf(st->note, sizeof(st->note), "before its first instruction");
        look(st);
        if (st->of.goal.name[0])
            go_to_goal(s);
        return true;
    }
    if (!now && st->number > 0 && st->at) {
        st->at = NULL;
        return true;
    }
    if (!now && !st->of.running(st->of.user)) {
        lab_ui_message(s->ui, LAB_ROLE_NORMAL, "the %s %s", st->of.what,
                       st->number > 0 ? "has run"
                                      : "launched no kernel of ours");
        lab_ui_pop(s->ui);
        return true;
    }
    return false;
}

static void draw(struct lab_screen *s, struct lab_canvas *c,
                 struct lab_rect body)
{
    struct kernel_state *st = s->state;
    if (!st->at)
        lab_canvas_textf(c, body.y, body.x, body.w, LAB_ROLE_DIM,
                         "the %s runs; its next kernel stops here ...",
                         st->of.what);
    else if (st->work.running)
        lab_canvas_text(c, body.y, body.x, body.w, LAB_ROLE_WARN,
                        "the block runs ... Esc stops it");
    else
        kernel_draw(st, c, body);
}

/* Esc and q need not wait for a move. */
static bool waits(struct lab_screen *s, int key)
{
    struct kernel_state *st = s->state;
    return st->work.running && key != LAB_KEY_ESC && key != 'q';
}

/* ---- keys ---- */

static enum lab_status move(struct lab_screen *s, int how)
{
    struct kernel_state *st = s->state;
    st->work.move = (enum lab_sim_move)how;
    return start_work(s, KERNEL_MOVE);
}

static enum lab_status back(struct lab_screen *s)
{
    return start_work(s, KERNEL_BACK);
}

static enum lab_status break_here(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    struct lab_sim_debug *d = st->at->debug;
    if (st->file >= 0 && lab_sim_debug_breaks(d, st->file, st->cursor)) {
        lab_sim_debug_unbreak(d, st->file, st->cursor);
        lab_ui_message(s->ui, LAB_ROLE_NORMAL, "no breakpoint at line %d",
                       st->cursor);
        return LAB_OK;
    }
    enum lab_status failed = lab_sim_debug_break(
        d, st->file >= 0 ? st->at->ptx->files[st->file] : NULL, st->cursor);
    if (!failed)
        lab_ui_message(s->ui, LAB_ROLE_NORMAL,
                       "c stops where a warp comes to line %d", st->cursor);
    return failed;
}

static enum lab_status break_thread(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    uint32_t thread[3];
    lab_sim_debug_thread_of(st->at->debug, kernel_focus(st), st->lane, thread);
    enum lab_status failed = lab_sim_debug_break_thread(st->at->debug, thread);
    if (!failed)
        lab_ui_message(s->ui, LAB_ROLE_NORMAL,
                       "c stops at each line that thread (%u,%u,%u) comes to",
                       thread[0], thread[1], thread[2]);
    return failed;
}

static enum lab_status clear_breaks(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    lab_sim_debug_clear(st->at->debug);
    lab_ui_message(s->ui, LAB_ROLE_NORMAL, "no breakpoints any more");
    return LAB_OK;
}

static enum lab_status to_warp(struct kernel_state *st, int warp)
{
    enum lab_status failed = lab_sim_debug_focus(st->at->debug, warp);
    if (!failed)
        look(st);
    return failed;
}

static enum lab_status next_warp(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    uint32_t block[3];
    int warps;
    int warp;
    lab_sim_debug_where(st->at->debug, block, &warp, &warps);
    return to_warp(st, (warp + 1) % warps);
}

static enum lab_status next_lane(struct lab_screen *s, int by)
{
    struct kernel_state *st = s->state;
    st->lane = (st->lane + by + KERNEL_LANES) % KERNEL_LANES;
    return LAB_OK;
}

static enum lab_status elements(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    st->work.warp = kernel_focus(st);
    st->work.lane = st->lane;
    return start_work(s, KERNEL_ELEMENTS);
}

static enum lab_status ask(struct lab_screen *s, int what)
{
    static const char *const labels[] = {
        [ASK_THREAD] = "thread x,y,z: ",
        [ASK_BLOCK] = "block x,y,z: ",
        [ASK_ELEMENT] = "which thread writes (fc1.xW[3,2]): ",
        [ASK_ACCESS] = "stop when this is touched (fc1.W[3,2]): "};
    const struct kernel_state *st = s->state;
    bool element = what == ASK_ELEMENT || what == ASK_ACCESS;
    lab_ui_prompt(s->ui, what, labels[what], element ? st->of.element : NULL);
    return LAB_OK;
}

static enum lab_status next_kernel(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    st->at = NULL;
    lab_kernel_pause_next();
    lab_ui_redraw(s->ui);
    return LAB_OK;
}

static enum lab_status show_tab(struct lab_screen *s, int tab)
{
    struct kernel_state *st = s->state;
    st->tab = (enum kernel_tab)tab;
    return LAB_OK;
}

static enum lab_status next_tab(struct lab_screen *s, int by)
{
    struct kernel_state *st = s->state;
    return show_tab(s, ((int)st->tab + by + KERNEL_TABS) % KERNEL_TABS);
}

static enum lab_status find(struct kernel_state *st, const char *text)
{
    return lab_sim_debug_find(st->at->debug, text, &st->work.p,
                              &st->work.bytes);
}

static enum lab_status watch(struct lab_screen *s, const char *text)
{
    struct kernel_state *st = s->state;
    enum lab_status failed = find(st, text);
    if (failed)
        return failed;
    lab_sim_debug_watch(st->at->debug, st->work.p, st->work.bytes);
    return move(s, LAB_SIM_CONTINUE);
}

static enum lab_status take_answer(struct lab_screen *s, int id,
                                   const char *text)
{
    struct kernel_state *st = s->state;
    uint32_t three[3];
    enum lab_status failed = LAB_OK;
    if (id == ASK_ACCESS)
        return watch(s, text);
    if (id == ASK_ELEMENT) {
        failed = find(st, text);
        return failed ? failed : start_work(s, KERNEL_WRITER);
    }
    failed = lab_kernel_read_three(text, three);
    if (!failed && id == ASK_THREAD)
        failed = lab_sim_debug_thread(st->at->debug, three, &st->lane);
    if (failed || id == ASK_THREAD) {
        look(st);
        return failed;
    }
    memcpy(st->work.block, three, sizeof(three));
    return start_work(s, KERNEL_BLOCK);
}

static void answer(struct lab_screen *s, int id, const char *text)
{
    struct kernel_state *st = s->state;
    if (text && st->at && take_answer(s, id, text))
        lab_ui_error(s->ui);
}

/* The line of a finding, and its warp. */
static bool go_to_finding(struct kernel_state *st)
{
    int32_t n;
    const struct lab_sim_finding *f = lab_sim_debug_findings(st->at->debug, &n);
    if (st->finding >= n)
        return false;
    f += st->finding;
    (void)lab_sim_debug_thread(st->at->debug, f->at.thread, &st->lane);
    int32_t place = lab_ptx_user_place(st->at->ptx, f->at.place);
    look(st);
    if (f->at.place >= 0 && place >= 0) {
        st->file = st->at->ptx->places[place].file;
        st->cursor = st->at->ptx->places[place].line;
    }
    return true;
}

static void next_finding(struct kernel_state *st, int by)
{
    int32_t n;
    int32_t before = 0;
    const struct lab_sim_finding *f = lab_sim_debug_findings(st->at->debug, &n);
    int32_t next = st->finding < n ? kernel_same_finding(f, n, st->finding) : n;
    if (by > 0) {
        st->finding = next < n ? next : st->finding;
        return;
    }
    for (int32_t i = 0; i < st->finding; i = kernel_same_finding(f, n, i))
        before = i;
    st->finding = before;
}

static void scroll(struct kernel_state *st, int by)
{
    if (st->tab == KERNEL_FOUND)
        next_finding(st, by);
    else
        st->top += by;
}

static enum lab_status scroll_pane(struct lab_screen *s, int by)
{
    scroll(s->state, by);
    return LAB_OK;
}

static bool action(struct lab_screen *s, int act)
{
    struct kernel_state *st = s->state;
    if (act == LAB_ACT_CANCEL && st->work.running) {
        stop_work(&st->work);
        return true;
    }
    if (!st->at || st->work.running)
        return false;
    if (act == LAB_ACT_OPEN)
        return st->tab == KERNEL_FOUND && go_to_finding(st);
    int64_t to = lab_action_move(act, st->cursor - 1, st->source.lines, 16);
    if (to >= 0)
        st->cursor = (int32_t)to + 1;
    return to >= 0;
}

/* ---- the mouse ---- */

static bool click_thread(struct kernel_state *st, int y, int x)
{
    uint32_t block[3];
    uint32_t thread[3];
    int warp;
    int warps;
    lab_sim_debug_where(st->at->debug, block, &warp, &warps);
    lab_sim_debug_thread_of(st->at->debug, warp, st->lane, thread);
    thread[0] = (uint32_t)((x - st->threads.x) * st->per_cell[0]);
    thread[1] = (uint32_t)((y - st->threads.y) * st->per_cell[1]);
    if (!lab_sim_debug_thread(st->at->debug, thread, &st->lane))
        look(st);
    return true;
}

static bool click_block(struct lab_screen *s, int y, int x)
{
    struct kernel_state *st = s->state;
    st->work.block[0] = (uint32_t)((x - st->blocks.x) * st->blocks_per_cell[0]);
    st->work.block[1] = (uint32_t)((y - st->blocks.y) * st->blocks_per_cell[1]);
    st->work.block[2] = 0;
    if (start_work(s, KERNEL_BLOCK))
        lab_ui_error(s->ui);
    return true;
}

static bool click_warp(struct kernel_state *st, int y, int x)
{
    enum { W = 26 };
    int columns = st->warps.w / W > 0 ? st->warps.w / W : 1;
    int column = (x - st->warps.x) / W;
    return column < columns &&
           to_warp(st, (y - st->warps.y) * columns + column) == LAB_OK;
}

static bool click(struct lab_screen *s, int y, int x)
{
    struct kernel_state *st = s->state;
    for (int i = 0; i < KERNEL_TABS; i++) {
        if (lab_rect_has(st->tabs[i], y, x)) {
            st->tab = (enum kernel_tab)i;
            return true;
        }
    }
    if (lab_rect_has(st->lanes, y, x)) {
        st->lane = x - st->lanes.x;
        return true;
    }
    if (lab_rect_has(st->threads, y, x))
        return click_thread(st, y, x);
    if (lab_rect_has(st->blocks, y, x))
        return click_block(s, y, x);
    if (lab_rect_has(st->lines, y, x)) {
        int32_t line = st->first_line + y - st->lines.y;
        st->cursor = line < st->source.lines ? line : st->source.lines;
        return true;
    }
    if (st->tab == KERNEL_WARPS && lab_rect_has(st->warps, y, x))
        return click_warp(st, y, x);
    return st->tab == KERNEL_FOUND && lab_rect_has(st->pane, y, x) &&
           go_to_finding(st);
}

static bool mouse(struct lab_screen *s, enum lab_mouse what, int y, int x)
{
    enum { LINES = 3 };
    struct kernel_state *st = s->state;
    int by = what == LAB_MOUSE_WHEEL_UP ? -1 : 1;
    if (!st->at || st->work.running)
        return false;
    if (what == LAB_MOUSE_CLICK)
        return click(s, y, x);
    if (!lab_rect_has(st->lines, y, x)) {
        scroll(st, by);
        return true;
    }
    int64_t line = st->cursor + by * LINES;
    line = line < 1 ? 1 : line;
    st->cursor = (int32_t)(line < st->source.lines ? line : st->source.lines);
    return true;
}

static const struct lab_binding bindings[] = {
    {"l F7", true, "line", "to the next source line of this warp", LAB_ACT_OWN,
     NULL, move, LAB_SIM_LINE},
    {"s F8", true, "instr", "the next instruction of this warp", LAB_ACT_OWN,
     NULL, move, LAB_SIM_INSTRUCTION},
    {"b", true, "barrier", "past this warp's next barrier", LAB_ACT_OWN, NULL,
     move, LAB_SIM_BARRIER_NEXT},
    {"c F5", true, "cont", "to a breakpoint, a finding, or the block's end",
     LAB_ACT_OWN, NULL, move, LAB_SIM_CONTINUE},
    {"r Backspace", true, "back", "to the stop before, exactly", LAB_ACT_OWN,
     back},
    {"B F9", true, "break",
     "a breakpoint at the line under the cursor, or none any more", LAB_ACT_OWN,
     break_here},
    {"w", true, "warp", "the next warp of the block", LAB_ACT_OWN, next_warp},
    {"e", true, "element", "go to the thread that writes an element",
     LAB_ACT_OWN, NULL, ask, ASK_ELEMENT},
    {"g", true, "thread", "look at a thread", LAB_ACT_OWN, NULL, ask,
     ASK_THREAD},
    {"n", true, "kernel", "the next kernel", LAB_ACT_OWN, next_kernel},
    {"Tab", true, "pane", "the next pane below the source", LAB_ACT_NEXT_PANE,
     NULL, next_tab, 1},
    {"BackTab", false, "pane before", "the pane before", LAB_ACT_PREV_PANE,
     NULL, next_tab, -1},
    {"1", false, "access", "what the warp touched last, as sectors or banks",
     LAB_ACT_OWN, NULL, show_tab, KERNEL_ACCESS},
    {"2", false, "shared",
     "shared memory: a column a bank, each word as the warp that wrote it",
     LAB_ACT_OWN, NULL, show_tab, KERNEL_SHARED},
    {"3", false, "grid", "grid, block, warp and thread, and FLOP a number",
     LAB_ACT_OWN, NULL, show_tab, KERNEL_PLACE},
    {"4", false, "warps", "where the block's warps are", LAB_ACT_OWN, NULL,
     show_tab, KERNEL_WARPS},
    {"5", false, "findings",
     "what the checks have found here; Enter goes to the line", LAB_ACT_OWN,
     NULL, show_tab, KERNEL_FOUND},
    {"[", false, "up", "the pane: up by a row", LAB_ACT_OWN, NULL, scroll_pane,
     -1},
    {"]", false, "down", "the pane: down by a row", LAB_ACT_OWN, NULL,
     scroll_pane, 1},
    {"a", false, "access to", "go on until an element is touched", LAB_ACT_OWN,
     NULL, ask, ASK_ACCESS},
    {"E", false, "elements", "what this thread reads and writes in all",
     LAB_ACT_OWN, elements},
    {"T", false, "follow", "stop at each line that this thread comes to",
     LAB_ACT_OWN, break_thread},
    {"G", false, "block", "go to the beginning of another block", LAB_ACT_OWN,
     NULL, ask, ASK_BLOCK},
    {"Left", false, "lane", "the lane before", LAB_ACT_LEFT, NULL, next_lane,
     -1},
    {"Right", false, "lane", "the next lane", LAB_ACT_RIGHT, NULL, next_lane,
     1},
    {"D", false, "clear", "no breakpoints any more", LAB_ACT_OWN, clear_breaks},
    {NULL}};

static void title_now(struct lab_screen *s, char *out, size_t cap)
{
    const struct kernel_state *st = s->state;
    snprintf(out, cap, "Kernel%s%s", st->at ? " " : "",
             st->at ? st->at->name : "");
}

static const struct lab_sign drawn_with[] = {
    {"#", "a lane that runs, a word of a sector that is used, this warp"},
    {"-", "a lane that waits"},
    {".", "a lane that has ended; a word that is not used, or not written"},
    {"0-9 a-v", "a warp of the block: the thread's, or the writer's"},
    {"@", "the thread in focus"},
    {"!", "more sectors or passes than the bytes need"},
    {"*", "a breakpoint"},
    {NULL, NULL}};

const struct lab_screen_ops lab_view_kernel = {
    .name = "kernel",
    .title = "Kernel",
    .state_bytes = sizeof(struct kernel_state),
    .bindings = bindings,
    .sideways = true,
    .init = init,
    .release = release,
    .draw = draw,
    .action = action,
    .ready = ready,
    .tick = tick,
    .waits = waits,
    .answer = answer,
    .mouse = mouse,
    .title_now = title_now,
    .signs = drawn_with,
};
