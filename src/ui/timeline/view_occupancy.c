/* Theoretical occupancy, played with: another block size, other registers,
 * other shared memory, and how many warps fit over each of them. */
#include "ui/view_occupancy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ui/chart.h"
#include "base/format.h"
#include "ui/views.h"

enum knob { KNOB_THREADS, KNOB_REGISTERS, KNOB_SHARED, KNOBS };
enum { TEXT = 160, MAX_REGISTERS = 255 };

struct state {
    struct lab_occupancy_args args;
    struct lab_launch now;
    int knob;
    struct lab_rect stairs[KNOBS]; /* as last drawn */
};

static enum lab_status init(struct lab_screen *s, const void *args)
{
    struct state *st = s->state;
    st->args = *(const struct lab_occupancy_args *)args;
    st->now = st->args.launch;
    return LAB_OK;
}

/* ---- knobs ---- */

struct range {
    int64_t least;
    int64_t most;
    int64_t step;
};

static struct range range_of(const struct state *st, int knob)
{
    if (knob == KNOB_THREADS)
        return (struct range){32, st->args.gpu.max_threads_per_block, 32};
    if (knob == KNOB_REGISTERS)
        return (struct range){16, MAX_REGISTERS, 8};
    return (struct range){0, st->args.gpu.shared_per_block_optin_bytes, 1024};
}

static int64_t knob_value(const struct lab_launch *t, int knob)
{
    return knob == KNOB_THREADS     ? t->block[0]
           : knob == KNOB_REGISTERS ? t->registers_per_thread
                                    : lab_launch_shared(t);
}

/* The grid covers the same work: with other block sizes it has other blocks.
 * Less shared memory is less of the dynamic part, and then of the static. */
static void set_knob(const struct state *st, struct lab_launch *t, int knob,
                     int64_t value)
{
    const struct lab_launch *ran = &st->args.launch;
    if (knob == KNOB_SHARED) {
        int64_t fixed = ran->static_shared_bytes;
        t->static_shared_bytes = fixed < value ? fixed : value;
        t->dynamic_shared_bytes = value - t->static_shared_bytes;
    } else if (knob == KNOB_REGISTERS) {
        t->registers_per_thread = value;
    } else {
        t->block[0] = value;
        if (ran->grid[0] > 0)
            t->grid[0] = (ran->grid[0] * ran->block[0] + value - 1) / value;
    }
}

static enum lab_status turn(struct lab_screen *s, int by)
{
    struct state *st = s->state;
    struct range r = range_of(st, st->knob);
    int64_t v = knob_value(&st->now, st->knob);
    /* From a value between two steps to the next step. */
    int64_t to = by > 0 ? v / r.step * r.step + by * r.step
                        : (v + r.step - 1) / r.step * r.step + by * r.step;
    to = to < r.least ? r.least : to > r.most ? r.most : to;
    set_knob(st, &st->now, st->knob, to);
    return LAB_OK;
}

static enum lab_status reset(struct lab_screen *s)
{
    struct state *st = s->state;
    st->now = st->args.launch;
    return LAB_OK;
}

static bool action(struct lab_screen *s, int what)
{
    struct state *st = s->state;
    switch (what) {
    case LAB_ACT_UP:
    case LAB_ACT_PREV_PANE:
        st->knob = (st->knob + KNOBS - 1) % KNOBS;
        return true;
    case LAB_ACT_DOWN:
    case LAB_ACT_NEXT_PANE:
        st->knob = (st->knob + 1) % KNOBS;
        return true;
    default:
        return false;
    }
}

/* ---- drawing ---- */

/* False: such a launch cannot run. */
static bool compute(const struct state *st, const struct lab_launch *launch,
                    struct lab_occupancy *out)
{
    const struct lab_occupancy_launch l = {.launch = *launch};
    *out = (struct lab_occupancy){0};
    return !lab_occupancy_compute(out, &st->args.gpu, &l) &&
           out->active_blocks_per_sm > 0;
}

/* Blocks that the grid gives one multiprocessor at most; INT32_MAX: unknown. */
static int by_grid(const struct state *st)
{
    int64_t blocks = st->now.grid[0];
    int sms = st->args.gpu.sm_count;
    int64_t each = blocks > 0 && sms > 0 ? (blocks - 1) / sms + 1 : INT32_MAX;
    return each < INT32_MAX ? (int)each : INT32_MAX;
}

struct page {
    struct lab_canvas *c;
    struct lab_rect r;
    int y; /* the next line */
};

static void knob_text(int knob, int64_t v, char *out, size_t cap)
{
    if (knob == KNOB_SHARED)
        lab_format_bytes((double)v, out, cap);
    else
        snprintf(out, cap, "%lld", (long long)v);
}

static void draw_knobs(const struct state *st, struct page *p)
{
    static const char *const names[KNOBS] = {
        "threads a block", "registers a thread", "shared memory a block"};
    for (int k = 0; k < KNOBS; k++, p->y++) {
        char now[LAB_FORMAT_BYTES];
        char ran[LAB_FORMAT_BYTES];
        int64_t v = knob_value(&st->now, k);
        int64_t was = knob_value(&st->args.launch, k);
        knob_text(k, v, now, sizeof(now));
        knob_text(k, was, ran, sizeof(ran));
        lab_canvas_textf(p->c, p->y, p->r.x, p->r.w, LAB_ROLE_NORMAL,
                         "%s %-22s %10s   %s%s", k == st->knob ? ">" : " ",
                         names[k], now, v == was ? "as it ran" : "it ran with ",
                         v == was ? "" : ran);
        if (k == st->knob)
            lab_canvas_paint(p->c, (struct lab_rect){p->y, p->r.x, 1, p->r.w},
                             LAB_ROLE_SELECTED);
    }
    p->y++;
}

static void resource(struct page *p, const char *name, int blocks, int least)
{
    if (blocks == INT32_MAX)
        lab_canvas_textf(p->c, p->y++, p->r.x, p->r.w, LAB_ROLE_DIM,
                         "  %-16s any number of blocks", name);
    else
        lab_canvas_textf(p->c, p->y++, p->r.x, p->r.w,
                         blocks == least ? LAB_ROLE_WARN : LAB_ROLE_NORMAL,
                         "  %-16s %d block%s%s", name, blocks,
                         blocks == 1 ? "" : "s",
                         blocks == least ? "   <- the limit" : "");
}

static void draw_answer(const struct state *st, struct page *p)
{
    int max_warps = st->args.gpu.max_warps_per_sm;
    int grid = by_grid(st);
    struct lab_occupancy o;
    char line[TEXT];
    if (!compute(st, &st->now, &o)) {
        lab_occupancy_limit_text(line, sizeof(line), o.limit);
        lab_canvas_textf(p->c, p->y++, p->r.x, p->r.w, LAB_ROLE_BAD,
                         "this launch fails: %s", line);
        return;
    }
    int n = snprintf(line, sizeof(line),
                     "occupancy %.1f %%: %d block%s, %d of %d warps on an SM",
                     o.occupancy_pct, o.active_blocks_per_sm,
                     o.active_blocks_per_sm == 1 ? "" : "s",
                     o.active_warps_per_sm, max_warps);
    if (o.waves > 0 && o.waves < 0.01 && n > 0 && n < TEXT)
        snprintf(line + n, sizeof(line) - (size_t)n, ", under 0.01 waves");
    else if (!isnan(o.waves) && n > 0 && n < TEXT)
        snprintf(line + n, sizeof(line) - (size_t)n, ", %.2f waves", o.waves);
    lab_gauge_draw(p->c, p->y++, p->r.x, p->r.w, o.occupancy_pct / 100,
                   LAB_ROLE_SERIES_1, line);
    if (!isnan(st->args.achieved_pct))
        lab_canvas_textf(p->c, p->y++, p->r.x, p->r.w, LAB_ROLE_DIM,
                         "as it ran, counted: %.1f %% achieved",
                         st->args.achieved_pct);
    bool small = grid < o.active_blocks_per_sm;
    int least = small ? grid : o.active_blocks_per_sm;
    if (small)
        lab_canvas_textf(
            p->c, p->y++, p->r.x, p->r.w, LAB_ROLE_WARN,
            "this grid is too small for it: %d block%s, %d of %d warps on an "
            "SM at most",
            least, least == 1 ? "" : "s",
            o.active_warps_per_sm / o.active_blocks_per_sm * least, max_warps);
    resource(p, "warps", o.blocks_by_warps, least);
    resource(p, "blocks", o.blocks_by_blocks, least);
    resource(p, "registers", o.blocks_by_registers, least);
    resource(p, "shared memory", o.blocks_by_shared, least);
    resource(p, "grid", grid, least);
    p->y++;
}

/* ---- the staircases ---- */

static const char *const OVER[KNOBS] = {"threads a block", "registers a thread",
                                        "KiB of shared memory"};

/* Warps on an SM where the knob is turned to `value` and all else is as now; 0:
 * such a launch fails. */
static int warps_at(const struct state *st, int knob, int64_t value)
{
    struct lab_launch t = st->now;
    struct lab_occupancy o;
    set_knob(st, &t, knob, value);
    return compute(st, &t, &o) ? o.active_warps_per_sm : 0;
}

/* The column of a value; -1: not in the range. */
static int column_of(struct range r, int64_t value, int w)
{
    if (value < r.least || value > r.most || w < 1)
        return -1;
    int64_t span = r.most - r.least + r.step;
    int x = (int)((double)(value - r.least) * w / (double)span);
    return x < w ? x : w - 1;
}

/* What is marked of a plot. */
struct marked {
    const char *sign;
    int64_t value;
    enum lab_role role;
};

/* Under the axis: both ends, and the sign of a value with its number. */
static void draw_below(const struct state *st, struct lab_canvas *c,
                       struct lab_rect r, int knob, const struct marked *m)
{
    struct range range = range_of(st, knob);
    char text[LAB_FORMAT_BYTES + 8];
    char ends[2][LAB_FORMAT_BYTES];
    int64_t unit = knob == KNOB_SHARED ? 1024 : 1;
    int at = column_of(range, m->value, r.w);
    snprintf(text, sizeof(text), "%s %lld", m->sign,
             (long long)(m->value / unit));
    int least = snprintf(ends[0], sizeof(ends[0]), "%lld ",
                         (long long)(range.least / unit));
    int most = snprintf(ends[1], sizeof(ends[1]), " %lld",
                        (long long)(range.most / unit));
    int w = lab_canvas_columns(c, text);
    at = at + w <= r.w ? at : r.w - w;
    if (at < 0 || at >= least)
        lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_DIM, ends[0]);
    if (at < 0 || at + w <= r.w - most)
        lab_canvas_text(c, r.y, r.x + r.w - most, most, LAB_ROLE_DIM, ends[1]);
    if (at >= 0)
        lab_canvas_text(c, r.y, r.x + at, w, m->role, text);
}

/* The value that a column of the plot was computed for. */
static int64_t value_at(struct range r, int x, int w)
{
    int64_t points = (r.most - r.least) / r.step + 1;
    return r.least + x * points / w * r.step;
}

/* Warps over one knob: every column is a value that was computed. */
static void draw_stairs(struct state *st, struct lab_canvas *c,
                        struct lab_rect r, int knob)
{
    enum { AXIS = 4, LEAST_H = 5 };
    struct range range = range_of(st, knob);
    int max_warps = st->args.gpu.max_warps_per_sm;
    const struct marked now = {"▲", knob_value(&st->now, knob), LAB_ROLE_WARN};
    char title[TEXT];
    if (r.h < LEAST_H || r.w < 20 || max_warps < 1)
        return;
    snprintf(title, sizeof(title), "Warps over %s: %d at %s %lld", OVER[knob],
             warps_at(st, knob, now.value), c->ascii ? "^" : "▲",
             (long long)(now.value / (knob == KNOB_SHARED ? 1024 : 1)));
    lab_canvas_heading(c, &r, title, knob == st->knob);
    struct lab_rect below = lab_rect_cut_bottom(&r, 1);
    struct lab_rect axis = lab_rect_cut_left(&r, AXIS);
    lab_rect_cut_left(&below, AXIS);
    int marked = column_of(range, now.value, r.w);
    st->stairs[knob] = r;
    for (int x = 0; x < r.w; x++) {
        int64_t value = value_at(range, x, r.w);
        int warps = warps_at(st, knob, x == marked ? now.value : value);
        int eighths = (int)((double)warps / max_warps * r.h * 8 + 0.5);
        enum lab_role role = x == marked ? LAB_ROLE_WARN : LAB_ROLE_SERIES_1;
        for (int y = 0; y < r.h; y++)
            lab_column_draw(c, r.y + r.h - 1 - y, r.x + x, eighths - 8 * y,
                            role);
        if (x == marked) /* down from the top, where no warp is */
            for (int y = 0; y < r.h && eighths <= 8 * (r.h - 1 - y); y++)
                lab_canvas_text(c, r.y + y, r.x + x, 1, LAB_ROLE_WARN, "┊");
    }
    lab_canvas_textf(c, axis.y, axis.x, AXIS, LAB_ROLE_DIM, "%3d", max_warps);
    if (axis.h > 4)
        lab_canvas_textf(c, axis.y + axis.h / 2, axis.x, AXIS, LAB_ROLE_DIM,
                         "%3d", max_warps / 2);
    lab_canvas_textf(c, axis.y + axis.h - 1, axis.x, AXIS, LAB_ROLE_DIM, "%3d",
                     0);
    draw_below(st, c, below, knob, &now);
}

/* All three side by side, or that of the chosen knob. */
static void draw_curves(struct state *st, struct page *p)
{
    enum { WIDE = 120 };
    struct lab_rect at = {p->y, p->r.x, p->r.y + p->r.h - p->y, p->r.w};
    if (at.w < WIDE) {
        draw_stairs(st, p->c, at, st->knob);
        return;
    }
    for (int k = 0; k < KNOBS; k++) {
        struct lab_rect part = lab_rect_cut_left(&at, at.w / (KNOBS - k));
        lab_rect_cut_right(&part, k + 1 < KNOBS);
        draw_stairs(st, p->c, part, k);
    }
}

static void draw(struct lab_screen *s, struct lab_canvas *c,
                 struct lab_rect body)
{
    struct state *st = s->state;
    struct page p = {c, body, body.y};
    memset(st->stairs, 0, sizeof(st->stairs));
    lab_canvas_textf(c, p.y++, body.x, body.w, LAB_ROLE_CODE, "%s",
                     st->args.kernel);
    lab_canvas_textf(c, p.y++, body.x, body.w, LAB_ROLE_DIM, "on %s%s%s",
                     st->args.device, st->args.note[0] ? "; " : "",
                     st->args.note);
    draw_knobs(st, &p);
    draw_answer(st, &p);
    draw_curves(st, &p);
}

/* A click on a staircase turns its knob to the value there. */
static bool mouse(struct lab_screen *s, enum lab_mouse what, int y, int x)
{
    struct state *st = s->state;
    for (int k = 0; what == LAB_MOUSE_CLICK && k < KNOBS; k++) {
        const struct lab_rect *r = &st->stairs[k];
        if (!lab_rect_has(*r, y, x))
            continue;
        st->knob = k;
        set_knob(st, &st->now, k, value_at(range_of(st, k), x - r->x, r->w));
        return true;
    }
    return false;
}

static const struct lab_binding BINDINGS[] = {
    {"Left h", true, "less", "a smaller value", LAB_ACT_LEFT, NULL, turn, -1},
    {"Right l", true, "more", "a larger value", LAB_ACT_RIGHT, NULL, turn, 1},
    {"PgUp +", false, "much more", "8 steps up", LAB_ACT_PAGE_UP, NULL, turn,
     8},
    {"PgDn -", false, "much less", "8 steps down", LAB_ACT_PAGE_DOWN, NULL,
     turn, -8},
    {"r", true, "as it ran", "the numbers of the launch again", LAB_ACT_OWN,
     reset},
    {NULL}};

const struct lab_screen_ops lab_view_occupancy = {
    .name = "what if",
    .title = "What if",
    .state_bytes = sizeof(struct state),
    .bindings = BINDINGS,
    .sideways = true,
    .init = init,
    .draw = draw,
    .action = action,
    .mouse = mouse,
};

/* Of a kernel in a store. */
static enum lab_status init_stored(struct lab_screen *s, const void *args)
{
    const struct lab_run_args *of = args;
    struct lab_occupancy_args out;
    if (!of->model->load_occupancy)
        return lab_fail(
            LAB_E_STATE,
            "[screen.no-occupancy] nothing here computes an occupancy");
    enum lab_status st = of->model->load_occupancy(
        of->model->user, of->run.id, of->kernel, of->launch, &out);
    return st ? st : init(s, &out);
}

const struct lab_screen_ops lab_view_what_if = {
    .name = "what if",
    .title = "What if",
    .state_bytes = sizeof(struct state),
    .bindings = BINDINGS,
    .sideways = true,
    .init = init_stored,
    .draw = draw,
    .action = action,
    .mouse = mouse,
};
