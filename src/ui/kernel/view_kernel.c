/* view_kernel.c -- inside a kernel: one warp of one block, walked on the simulator by
 * line, instruction and barrier, and back. The step's launch waits meanwhile. */
#include "ui/kernel.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "debug/kernel_pause.h"
#include "debug/kernel_text.h"
#include "ui/layout.h"
#include "ui/ui.h"

enum { LANES = 32, SECTOR = 32, BANKS = 32, WORD = 4, COUNT_W = 9, LINE_W = 6 };
enum { ASK_THREAD = 1, ASK_BLOCK, ASK_ELEMENT };

struct kernel_state {
    struct lab_kernel_args of;
    const struct lab_kernel_pause *at; /* NULL: none waits now */
    int number;                        /* of the launch that is shown */
    struct lab_kernel_source source;
    int32_t file;
    int32_t line;   /* of the next instruction; 0: not known */
    int32_t cursor; /* the line under the cursor */
    int lane;
    char note[160]; /* why it stopped */
};

/* ---- where it is ---- */

static int warp_of(const struct kernel_state *st, int *warps, uint32_t block[3])
{
    int warp;
    lab_sim_debug_where(st->at->debug, block, &warp, warps);
    return warp;
}

static int focus(const struct kernel_state *st)
{
    uint32_t block[3];
    int warps;
    return warp_of(st, &warps, block);
}

/* The source line of the warp in focus, and the cursor on it. */
static void look(struct kernel_state *st)
{
    struct lab_sim_warp_view v;
    lab_sim_debug_warp(st->at->debug, focus(st), &v);
    if (v.place >= 0) {
        const struct lab_ptx_place *p = &st->at->ptx->places[v.place];
        st->file = p->file;
        st->line = p->line;
        st->cursor = p->line;
    } else
        st->line = 0;
}

static bool ready(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    if (!st->at)
        lab_ui_message(s->ui, LAB_ROLE_DIM, "no kernel waits to be walked yet");
    return st->at != NULL;
}

static enum lab_status init(struct lab_screen *s, const void *args)
{
    struct kernel_state *st = s->state;
    st->of = *(const struct lab_kernel_args *)args;
    st->file = -1;
    lab_kernel_source_init(&st->source, NULL);
    lab_kernel_pause_arm(lab_ui_wake, s->ui);
    return LAB_OK;
}

static void release(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    lab_kernel_pause_disarm();
    lab_kernel_source_release(&st->source);
}

/* A launch waits now, or the step is over. */
static bool tick(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    const struct lab_kernel_pause *now = lab_kernel_pause_now();
    if (now && (st->at != now || st->number != now->number)) {
        st->at = now;
        st->number = now->number;
        st->lane = 0;
        snprintf(st->note, sizeof(st->note), "before its first instruction");
        look(st);
        return true;
    }
    if (!now && st->number > 0 && st->at) {
        st->at = NULL;
        return true;
    }
    if (!now && !st->of.running(st->of.user)) {
        lab_ui_message(s->ui, LAB_ROLE_NORMAL, "%s",
                       st->number > 0 ? "the step has run"
                                      : "the step launched no kernel of ours");
        lab_ui_pop(s->ui);
        return true;
    }
    return false;
}

/* ---- drawing ---- */

static void draw_head(const struct kernel_state *st, struct lab_canvas *c,
                      struct lab_rect row)
{
    uint32_t block[3];
    int warps;
    int warp = warp_of(st, &warps, block);
    struct lab_sim_warp_view v;
    lab_sim_debug_warp(st->at->debug, warp, &v);
    lab_canvas_add(c, &row, LAB_ROLE_HEADING, "%s", st->at->name);
    lab_canvas_add(c, &row, LAB_ROLE_NORMAL,
                   "  block (%u,%u,%u)  warp %d of %d  ", block[0], block[1],
                   block[2], warp, warps);
    if (v.done)
        lab_canvas_add(c, &row, LAB_ROLE_DIM, "has ended");
    else if (v.at_barrier)
        lab_canvas_add(c, &row, LAB_ROLE_WARN, "waits at a barrier");
    else if (v.waiting)
        lab_canvas_add(c, &row, LAB_ROLE_WARN, "waits for memory");
    else
        lab_canvas_add(c, &row, LAB_ROLE_NORMAL, "%d of %d lanes run",
                       __builtin_popcount(v.active),
                       __builtin_popcount(v.lanes));
}

/* "lanes ####....": which run the next instruction. */
static void draw_lanes(const struct kernel_state *st, struct lab_canvas *c,
                       struct lab_rect row)
{
    struct lab_sim_warp_view v;
    uint32_t thread[3];
    int warp = focus(st);
    lab_sim_debug_warp(st->at->debug, warp, &v);
    lab_canvas_add(c, &row, LAB_ROLE_DIM, "lanes ");
    for (int l = 0; l < LANES; l++) {
        bool there = v.lanes >> l & 1;
        bool alive = v.alive >> l & 1;
        bool active = v.active >> l & 1;
        enum lab_role role = l == st->lane ? LAB_ROLE_CURSOR
                             : active      ? LAB_ROLE_GOOD
                                           : LAB_ROLE_DIM;
        lab_canvas_add(c, &row, role, "%s",
                       !there   ? " "
                       : !alive ? "."
                       : active ? "#"
                                : "-");
    }
    lab_sim_debug_thread_of(st->at->debug, warp, st->lane, thread);
    lab_canvas_add(c, &row, LAB_ROLE_DIM,
                   "  lane %d is thread (%u,%u,%u)   # runs  - waits  . ended",
                   st->lane, thread[0], thread[1], thread[2]);
}

static void draw_line(struct kernel_state *st, struct lab_canvas *c,
                      struct lab_rect row, int32_t line)
{
    size_t n;
    struct lab_str text;
    const char *at =
        lab_kernel_source_line(&st->source, st->at->ptx, st->file, line, &n);
    struct lab_sim_counts counts;
    lab_sim_debug_counts(st->at->debug, st->file, line, &counts);
    int64_t ran = counts.warp_instructions;
    bool here = line == st->line;
    lab_str_init(&text);
    for (size_t i = 0; i < n; i++) {
        if (at[i] == '\t')
            lab_str_add(&text, "    ");
        else
            lab_str_add_visible(&text, at + i, 1, false);
    }
    if (ran > 0)
        lab_canvas_textf(c, row.y, row.x, COUNT_W, LAB_ROLE_DIM,
                         "%8" PRId64 " ", ran);
    lab_canvas_textf(c, row.y, row.x + COUNT_W, LINE_W,
                     here ? LAB_ROLE_TITLE : LAB_ROLE_DIM, "%c%4d ",
                     here ? '>' : ' ', line);
    lab_canvas_text_cut(
        c, row.y, row.x + COUNT_W + LINE_W, row.w - COUNT_W - LINE_W,
        here ? LAB_ROLE_TITLE : LAB_ROLE_CODE, lab_str_text(&text));
    if (line == st->cursor) {
        struct lab_rect cells = {row.y, row.x + COUNT_W, 1, row.w - COUNT_W};
        lab_canvas_paint(c, cells, LAB_ROLE_SELECTED);
        lab_canvas_focus(c, row.y, row.x + COUNT_W);
    }
    lab_str_release(&text);
}

static void draw_source(struct kernel_state *st, struct lab_canvas *c,
                        struct lab_rect r)
{
    if (st->file < 0) {
        lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_DIM,
                        "the kernel has no source lines");
        return;
    }
    /* Reads the file, so that its length is known. */
    size_t n;
    (void)lab_kernel_source_line(&st->source, st->at->ptx, st->file, 1, &n);
    lab_canvas_heading(c, &r, lab_kernel_source_name(st->at->ptx, st->file),
                       false);
    int32_t top = st->cursor - r.h / 2;
    if (top > st->source.lines - r.h + 1)
        top = st->source.lines - r.h + 1;
    if (top < 1)
        top = 1;
    for (int32_t i = 0; i < r.h && top + i <= st->source.lines; i++) {
        struct lab_rect row = {r.y + i, r.x, 1, r.w};
        draw_line(st, c, row, top + i);
    }
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;
    return (*x > *y) - (*x < *y);
}

/* Each piece of 32 bytes that the lanes touched, its eight words filled or not. */
static void draw_sectors(const struct lab_sim_access_view *v,
                         struct lab_canvas *c, struct lab_rect r)
{
    uint64_t sectors[LANES];
    int n = 0;
    for (int l = 0; l < LANES; l++)
        if (v->lanes >> l & 1)
            sectors[n++] = v->address[l] / SECTOR;
    qsort(sectors, (size_t)n, sizeof(*sectors), by_number);
    int x = r.x;
    int y = r.y;
    uint64_t last = UINT64_MAX;
    for (int i = 0; i < n && y < r.y + r.h; i++) {
        if (sectors[i] == last)
            continue;
        last = sectors[i];
        char cells[SECTOR / WORD + 1];
        for (int k = 0; k < SECTOR / WORD; k++) {
            uint64_t at = last * SECTOR + (uint64_t)(k * WORD);
            bool touched = false;
            for (int l = 0; l < LANES; l++)
                touched = touched ||
                          (v->lanes >> l & 1 && v->address[l] < at + WORD &&
                           at < v->address[l] + (uint64_t)v->bytes);
            cells[k] = touched ? '#' : '.';
        }
        cells[SECTOR / WORD] = '\0';
        lab_canvas_textf(c, y, x, SECTOR / WORD + 1, LAB_ROLE_SERIES_1, "%s",
                         cells);
        x += SECTOR / WORD + 1;
        if (x + SECTOR / WORD > r.x + r.w) {
            x = r.x;
            y++;
        }
    }
}

/* How many lanes went to each of the 32 banks of shared memory. */
static void draw_banks(const struct lab_sim_access_view *v,
                       struct lab_canvas *c, struct lab_rect row)
{
    lab_canvas_add(c, &row, LAB_ROLE_DIM, "banks ");
    for (int b = 0; b < BANKS; b++) {
        uint64_t words[LANES];
        int n = 0;
        for (int l = 0; l < LANES; l++) {
            uint64_t word = v->address[l] / WORD;
            bool seen = !(v->lanes >> l & 1) || word % BANKS != (uint64_t)b;
            for (int i = 0; i < n; i++)
                seen = seen || words[i] == word;
            if (!seen)
                words[n++] = word;
        }
        lab_canvas_add(c, &row, n > 1 ? LAB_ROLE_BAD : LAB_ROLE_SERIES_1, "%s",
                       n == 0   ? "."
                       : n == 1 ? "1"
                       : n < 10 ? (const char *[]){"2", "3", "4", "5", "6", "7",
                                                   "8", "9"}[n - 2]
                                : "+");
    }
    lab_canvas_add(c, &row, LAB_ROLE_DIM,
                   "  different words of a bank: more than 1 is a conflict");
}

static void draw_access(const struct kernel_state *st, struct lab_canvas *c,
                        struct lab_rect r)
{
    struct lab_sim_access_view v;
    struct lab_str text;
    lab_sim_debug_access(st->at->debug, focus(st), &v);
    if (v.lanes == 0) {
        lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_DIM,
                        "the warp has touched no memory yet");
        return;
    }
    lab_str_init(&text);
    lab_kernel_access_add(&text, st->at->debug, st->at->ptx, &v);
    lab_canvas_text_cut(c, r.y, r.x, r.w, LAB_ROLE_NORMAL, lab_str_text(&text));
    lab_str_clear(&text);
    lab_rect_cut_top(&r, 1);
    if (v.lanes >> st->lane & 1) {
        struct lab_rect row = lab_rect_cut_top(&r, 1);
        lab_kernel_place_add(&text, st->at->debug, &v, st->lane);
        lab_canvas_add(c, &row, LAB_ROLE_DIM, "lane %d: %s", st->lane,
                       lab_str_text(&text));
    }
    lab_str_release(&text);
    if (lab_kernel_is_global(&v))
        draw_sectors(&v, c, r);
    else if (v.space == LAB_PTX_SHARED)
        draw_banks(&v, c, lab_rect_cut_top(&r, 1));
}

/* Where the block's warps are, where there is room. */
static void draw_warps(struct kernel_state *st, struct lab_canvas *c,
                       struct lab_rect r)
{
    uint32_t block[3];
    int warps;
    int warp = warp_of(st, &warps, block);
    lab_canvas_heading(c, &r, "warps", false);
    for (int i = 0; i < warps && i < r.h; i++) {
        struct lab_sim_warp_view v;
        struct lab_rect row = {r.y + i, r.x, 1, r.w};
        lab_sim_debug_warp(st->at->debug, i, &v);
        lab_canvas_add(c, &row, i == warp ? LAB_ROLE_TITLE : LAB_ROLE_NORMAL,
                       "%c%2d ", i == warp ? '>' : ' ', i);
        if (v.done)
            lab_canvas_add(c, &row, LAB_ROLE_DIM, "ended");
        else if (v.place >= 0)
            lab_canvas_add(c, &row, LAB_ROLE_NORMAL, "%s:%d",
                           lab_kernel_source_name(
                               st->at->ptx, st->at->ptx->places[v.place].file),
                           st->at->ptx->places[v.place].line);
        if (v.at_barrier)
            lab_canvas_add(c, &row, LAB_ROLE_WARN, " barrier");
    }
}

static void draw(struct lab_screen *s, struct lab_canvas *c,
                 struct lab_rect body)
{
    enum { WARPS_W = 30, WIDE = 110, ACCESS_H = 5 };
    struct kernel_state *st = s->state;
    if (!st->at) {
        lab_canvas_text(c, body.y, body.x, body.w, LAB_ROLE_DIM,
                        "the step runs; its next kernel stops here ...");
        return;
    }
    draw_head(st, c, lab_rect_cut_top(&body, 1));
    draw_lanes(st, c, lab_rect_cut_top(&body, 1));
    struct lab_rect note = lab_rect_cut_bottom(&body, 1);
    struct lab_rect access = lab_rect_cut_bottom(&body, ACCESS_H);
    if (body.w >= WIDE) {
        struct lab_rect right = lab_rect_cut_right(&body, WARPS_W);
        draw_warps(st, c, right);
        lab_rect_cut_right(&body, 2);
    }
    draw_source(st, c, body);
    lab_canvas_heading(c, &access, "the warp's last access", false);
    draw_access(st, c, access);
    lab_canvas_text_cut(c, note.y, note.x, note.w, LAB_ROLE_NORMAL, st->note);
}

/* ---- keys ---- */

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
    if (stop->reason == LAB_SIM_STOPPED_FINDING && n > 0)
        snprintf(st->note, sizeof(st->note), "%s: %s",
                 lab_sim_check_id(f[n - 1].check), f[n - 1].message);
    else
        snprintf(st->note, sizeof(st->note),
                 "%s%" PRId64 " instructions of warps in this block",
                 why[stop->reason], stop->executed);
    look(st);
}

static enum lab_status move(struct lab_screen *s, int how)
{
    struct kernel_state *st = s->state;
    struct lab_sim_stop stop;
    enum lab_status st_ =
        lab_sim_debug_move(st->at->debug, (enum lab_sim_move)how, &stop);
    if (!st_)
        note_stop(st, &stop);
    return st_;
}

static enum lab_status back(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    struct lab_sim_stop stop;
    enum lab_status failed = lab_sim_debug_back(st->at->debug, &stop);
    if (!failed)
        note_stop(st, &stop);
    return failed;
}

static enum lab_status break_here(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    enum lab_status failed = lab_sim_debug_break(
        st->at->debug, st->file >= 0 ? st->at->ptx->files[st->file] : NULL,
        st->cursor);
    if (!failed)
        lab_ui_message(s->ui, LAB_ROLE_NORMAL,
                       "c stops where a warp comes to line %d", st->cursor);
    return failed;
}

static enum lab_status clear_breaks(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    lab_sim_debug_clear(st->at->debug);
    lab_ui_message(s->ui, LAB_ROLE_NORMAL, "no breakpoints any more");
    return LAB_OK;
}

static enum lab_status next_warp(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    uint32_t block[3];
    int warps;
    int warp = warp_of(st, &warps, block);
    enum lab_status failed =
        lab_sim_debug_focus(st->at->debug, (warp + 1) % warps);
    if (!failed)
        look(st);
    return failed;
}

static enum lab_status next_lane(struct lab_screen *s, int by)
{
    struct kernel_state *st = s->state;
    st->lane = (st->lane + by + LANES) % LANES;
    return LAB_OK;
}

static enum lab_status ask(struct lab_screen *s, int what)
{
    static const char *const labels[] = {
        [ASK_THREAD] = "thread x,y,z: ",
        [ASK_BLOCK] = "block x,y,z: ",
        [ASK_ELEMENT] = "which thread writes (fc1.xW[3,2]): "};
    lab_ui_prompt(s->ui, what, labels[what], NULL);
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

static bool read_three(const char *text, uint32_t out[3])
{
    int end = 0;
    out[1] = out[2] = 0;
    int n = sscanf(text, "%u%n,%u%n,%u%n", &out[0], &end, &out[1], &end,
                   &out[2], &end);
    return n >= 1 && text[end] == '\0';
}

static enum lab_status go_to_writer(struct kernel_state *st, const char *text)
{
    void *p;
    size_t bytes;
    struct lab_sim_stop stop;
    enum lab_status failed =
        lab_sim_debug_find(st->at->debug, text, &p, &bytes);
    if (!failed)
        failed =
            lab_sim_debug_writer(st->at->debug, p, bytes, &stop, &st->lane);
    if (!failed)
        note_stop(st, &stop);
    return failed;
}

static void answer(struct lab_screen *s, int id, const char *text)
{
    struct kernel_state *st = s->state;
    uint32_t three[3];
    enum lab_status failed = LAB_OK;
    if (!text || !st->at)
        return;
    if (id == ASK_ELEMENT)
        failed = go_to_writer(st, text);
    else if (!read_three(text, three))
        failed = lab_fail(LAB_E_PARSE,
                          "'%s': one to three numbers, as 3 or 3,1", text);
    else if (id == ASK_THREAD)
        failed = lab_sim_debug_thread(st->at->debug, three, &st->lane);
    else
        failed = lab_sim_debug_block(st->at->debug, three);
    if (failed)
        lab_ui_error(s->ui);
    else
        look(st);
}

static bool action(struct lab_screen *s, int act)
{
    struct kernel_state *st = s->state;
    int64_t to =
        st->at ? lab_action_move(act, st->cursor - 1, st->source.lines, 16)
               : -1;
    if (to >= 0)
        st->cursor = (int32_t)to + 1;
    return to >= 0;
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
    {"B F9", true, "break", "a breakpoint at the line under the cursor",
     LAB_ACT_OWN, break_here},
    {"w", true, "warp", "the next warp of the block", LAB_ACT_OWN, next_warp},
    {"e", true, "element", "go to the thread that writes an element",
     LAB_ACT_OWN, NULL, ask, ASK_ELEMENT},
    {"g", true, "thread", "look at a thread", LAB_ACT_OWN, NULL, ask,
     ASK_THREAD},
    {"G", false, "block", "begin again in another block", LAB_ACT_OWN, NULL,
     ask, ASK_BLOCK},
    {"n", true, "kernel", "the step's next kernel", LAB_ACT_OWN, next_kernel},
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
    .answer = answer,
    .title_now = title_now,
};
