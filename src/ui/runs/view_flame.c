/* view_flame.c -- where the time of a run goes, as a flame graph that hangs down:
 * the run, its nodes, their steps, and the kernels of each, as wide as their share
 * of the time. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/mem.h"
#include "flame.h"
#include "profiler/roofline.h"
#include "report/palette.h"
#include "ui/chart.h"
#include "ui/layout.h"
#include "ui/ui.h"
#include "ui/views.h"

enum level { LEVEL_RUN, LEVEL_NODE, LEVEL_STEP, LEVEL_KERNEL, LEVELS };

/* A part of the run, and of the block above it. */
struct block {
    const struct lab_time_sum *sum; /* of a step or a kernel; else NULL */
    const char *name;
    enum level level;
    int32_t above; /* -1: the run */
    double ns;
    double x0; /* 0 to 1 of the run: its place and its width */
    double x1;
};

struct flame_state {
    struct lab_run_args args;
    struct block *blocks; /* the run first; those of one block side by side, the
                             longest first */
    int32_t count;
    int32_t chosen;
    int32_t root; /* fills the width */
    bool by_bound;
    char search[128];
    char title[96];
    struct lab_rect at[LEVELS]; /* of the last drawing */
};

/* ---- the blocks ---- */

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* A step without a node is of the one that its name begins with. */
static size_t node_bytes(const struct lab_time_sum *s)
{
    return s->node ? strlen(s->node) : s->name ? strcspn(s->name, ".") : 0;
}

static const char *node_text(const struct lab_time_sum *s)
{
    return s->node ? s->node : s->name ? s->name : "";
}

static int32_t add_block(struct flame_state *st, const struct block *b)
{
    st->blocks[st->count] = *b;
    return st->count++;
}

/* The node of a step; a new one where there is none yet. */
static int32_t node_of(struct flame_state *st, const struct lab_time_sum *s)
{
    const char *text = node_text(s);
    size_t n = node_bytes(s);
    for (int32_t i = 0; i < st->count; i++) {
        const struct block *b = &st->blocks[i];
        if (b->level == LEVEL_NODE && node_bytes(b->sum) == n &&
            strncmp(node_text(b->sum), text, n) == 0)
            return i;
    }
    return add_block(
        st, &(struct block){
                .sum = s, .name = text, .level = LEVEL_NODE, .above = 0});
}

static bool is_of(const struct lab_time_sum *kernel,
                  const struct lab_time_sum *step)
{
    return step->level == LAB_SUM_STEP &&
           kernel->step_index == step->step_index &&
           kernel->phase_id == step->phase_id &&
           same(kernel->name, step->name) &&
           same(kernel->variant, step->variant) &&
           same(kernel->backend, step->backend);
}

static double known(double ns)
{
    return ns > 0 ? ns : 0;
}

/* Steps first, so that a kernel finds its own. What a step's kernels take may be
 * more than the step, where they run after it: then it is as wide as they. */
static void take_sums(struct flame_state *st, const struct lab_time_sum *rows,
                      int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (rows[i].level == LAB_SUM_STEP)
            add_block(st,
                      &(struct block){.sum = &rows[i],
                                      .name = lab_time_sum_step(&rows[i]),
                                      .level = LEVEL_STEP,
                                      .above = node_of(st, &rows[i]),
                                      .ns = known(lab_time_sum_ns(&rows[i]))});
    int32_t steps = st->count;
    for (int64_t i = 0; i < count; i++) {
        const struct lab_time_sum *k = &rows[i];
        int32_t above = 0; /* of no step: another tool's run */
        if (k->level != LAB_SUM_KERNEL)
            continue;
        for (int32_t b = 0; b < steps && above == 0; b++)
            if (st->blocks[b].level == LEVEL_STEP &&
                is_of(k, st->blocks[b].sum))
                above = b;
        add_block(st, &(struct block){
                          .sum = k,
                          .name = k->kernel_short ? k->kernel_short : k->kernel,
                          .level = above ? LEVEL_KERNEL : LEVEL_NODE,
                          .above = above,
                          .ns = known(lab_time_sum_ns(k))});
    }
}

/* From the kernels up: no block is narrower than what it is made of. */
static void add_up(struct flame_state *st)
{
    for (int level = LEVEL_KERNEL; level > LEVEL_RUN; level--) {
        double *sum = NULL;
        for (int32_t i = 0; i < st->count; i++)
            if ((int)st->blocks[i].level == level - 1)
                st->blocks[i].x0 = 0; /* what the blocks below take */
        for (int32_t i = 0; i < st->count; i++)
            if ((int)st->blocks[i].level == level) {
                sum = &st->blocks[st->blocks[i].above].x0;
                *sum += st->blocks[i].ns;
            }
        for (int32_t i = 0; i < st->count; i++) {
            struct block *b = &st->blocks[i];
            if ((int)b->level == level - 1 && b->x0 > b->ns)
                b->ns = b->x0;
        }
    }
}

/* By level, then below the same block, then the longest first; for qsort_r() of
 * places. */
static int compare_blocks(const void *a, const void *b, void *blocks)
{
    const struct block *list = blocks;
    const struct block *x = &list[*(const int32_t *)a];
    const struct block *y = &list[*(const int32_t *)b];
    if (x->level != y->level)
        return x->level < y->level ? -1 : 1;
    if (x->above != y->above)
        return x->above < y->above ? -1 : 1;
    return (x->ns < y->ns) - (x->ns > y->ns);
}

/* Level by level, so that those above are placed and numbered anew first. */
static enum lab_status put_in_order(struct flame_state *st)
{
    size_t n = (size_t)st->count;
    struct block *fresh = lab_alloc_array(n, sizeof(*fresh));
    int32_t *order = lab_alloc_array(2 * n, sizeof(*order));
    if (!fresh || !order) {
        lab_free(fresh);
        lab_free(order);
        return lab_no_memory("a flame graph");
    }
    int32_t *moved = order + n; /* where a block has gone */
    int32_t done = 0;
    for (int level = 0; level < LEVELS; level++) {
        int32_t from = done;
        for (int32_t i = 0; i < st->count; i++)
            if ((int)st->blocks[i].level == level) {
                if (level > 0)
                    st->blocks[i].above = moved[st->blocks[i].above];
                order[done++] = i;
            }
        qsort_r(order + from, (size_t)(done - from), sizeof(*order),
                compare_blocks, st->blocks);
        for (int32_t i = from; i < done; i++) {
            moved[order[i]] = i;
            fresh[i] = st->blocks[order[i]];
        }
    }
    lab_free(st->blocks);
    lab_free(order);
    st->blocks = fresh;
    return LAB_OK;
}

/* Those of one block lie side by side in it, from its left. */
static void place_blocks(struct flame_state *st)
{
    double at = 0;
    st->blocks[0].x0 = 0;
    st->blocks[0].x1 = 1;
    for (int32_t i = 1; i < st->count; i++) {
        struct block *b = &st->blocks[i];
        const struct block *above = &st->blocks[b->above];
        double width = above->x1 - above->x0;
        bool first = b->above != st->blocks[i - 1].above ||
                     b->level != st->blocks[i - 1].level;
        at = first ? above->x0 : at;
        b->x0 = at;
        b->x1 = at += above->ns > 0 ? b->ns / above->ns * width : 0;
    }
}

/* The step that the view was opened at. */
static void choose_step(struct flame_state *st)
{
    for (int32_t i = 0; st->args.step && i < st->count; i++) {
        const struct block *b = &st->blocks[i];
        if (b->level == LEVEL_STEP && same(b->name, st->args.step) &&
            (!st->args.phase || same(b->sum->phase, st->args.phase))) {
            st->chosen = i;
            return;
        }
    }
}

static enum lab_status flame_init(struct lab_screen *s, const void *args)
{
    struct flame_state *st = s->state;
    const struct lab_time_sum *rows = NULL;
    char lesson[64];
    int64_t count = 0;
    st->args = *(const struct lab_run_args *)args;
    const struct lab_runs_model *m = st->args.model;
    if (!m->load_work)
        return lab_fail(LAB_E_STATE,
                        "[screen.no-flame] there is no flame graph here");
    enum lab_status status =
        m->load_work(m->user, st->args.run.id, &rows, &count);
    if (status)
        return status;
    /* The run, and of each row a block and perhaps a node. */
    st->blocks = lab_alloc_array(2 * (size_t)count + 1, sizeof(*st->blocks));
    if (!st->blocks)
        return lab_no_memory("a flame graph");
    const char *name =
        lab_run_lesson_text(&st->args.run, lesson, sizeof(lesson));
    int n = snprintf(st->title, sizeof(st->title), "run %" PRId64 "%s%s",
                     st->args.run.id, name ? " " : "", name ? name : "");
    if (st->args.run.iterations > 1 && n < (int)sizeof(st->title))
        snprintf(st->title + n, sizeof(st->title) - (size_t)n,
                 ", steps of %" PRId64 " iterations", st->args.run.iterations);
    add_block(st, &(struct block){.name = st->title, .above = -1});
    take_sums(st, rows, count);
    add_up(st);
    if (!(st->blocks[0].ns > 0))
        return lab_fail(LAB_E_STATE,
                        "[screen.no-times] run %" PRId64
                        " has no times of steps "
                        "or kernels",
                        st->args.run.id);
    status = put_in_order(st);
    if (status)
        return status;
    place_blocks(st);
    choose_step(st);
    return LAB_OK;
}

static void flame_release(struct lab_screen *s)
{
    struct flame_state *st = s->state;
    lab_free(st->blocks);
}

/* ---- drawing ---- */

struct paint {
    enum lab_role role;
    enum lab_tint tint;
    char letter; /* of what the colour means */
};

static bool is_match(const struct flame_state *st, int32_t i)
{
    return st->search[0] && st->blocks[i].name &&
           strcasestr(st->blocks[i].name, st->search);
}

/* A node has steps of all phases, and kernels without a step have none. */
static struct paint paint_of(const struct flame_state *st, int32_t i)
{
    const struct block *b = &st->blocks[i];
    struct paint p = {LAB_ROLE_NORMAL, LAB_TINT_CURSOR, '\0'};
    if (is_match(st, i))
        return (struct paint){LAB_ROLE_MARK, LAB_TINT_MARK, '*'};
    if (b->level < LEVEL_STEP)
        return p;
    if (!st->by_bound && b->sum->phase_id >= 0 &&
        b->sum->phase_id < LAB_PHASE_COUNT) {
        p.role = lab_role_of_phase((enum lab_phase)b->sum->phase_id);
        p.letter = lab_phase_letter((enum lab_phase)b->sum->phase_id)[0];
    } else if (st->by_bound && b->sum->bound) {
        enum lab_roofline_verdict v = lab_roofline_verdict_find(b->sum->bound);
        p.role = lab_role_of_verdict(v);
        p.letter = lab_verdict_letter(v)[0];
    } else {
        p.letter = '?';
    }
    enum lab_tint tint = lab_tint_of_role(p.role);
    p.tint = tint ? tint : LAB_TINT_OTHER;
    return p;
}

static bool is_above(const struct flame_state *st, int32_t above, int32_t i)
{
    while (i > above)
        i = st->blocks[i].above;
    return i == above;
}

/* Its columns where the root fills `w`; false: out of sight, or too narrow. */
static bool columns_of(const struct flame_state *st, int32_t i, int w,
                       int *first, int *end)
{
    const struct block *root = &st->blocks[st->root];
    const struct block *b = &st->blocks[i];
    double span = root->x1 - root->x0;
    if (i < st->root || !is_above(st, st->root, i)) {
        *first = 0;
        *end = w;
        return is_above(st, i, st->root); /* those above the root are whole */
    }
    *first = (int)lround((b->x0 - root->x0) / span * w);
    *end = (int)lround((b->x1 - root->x0) / span * w);
    return *end > *first;
}

/* Without its node's name, which is above it. */
static const char *own_name(const struct block *b)
{
    size_t n = b->level == LEVEL_STEP ? node_bytes(b->sum) : 0;
    if (n > 0 && strncmp(b->name, node_text(b->sum), n) == 0 &&
        b->name[n] == '.')
        return b->name + n + 1;
    return b->name ? b->name : "?";
}

/* "F matmul", and below it what it takes, where there is room. */
static void draw_words(const struct flame_state *st, struct lab_canvas *c,
                       struct lab_rect in, int32_t i, const struct paint *p)
{
    const struct block *b = &st->blocks[i];
    char text[160];
    if (in.w < 2)
        return;
    if (p->letter)
        snprintf(text, sizeof(text), "%c %s", p->letter, own_name(b));
    else
        snprintf(text, sizeof(text), "%s", own_name(b));
    size_t bytes = b->level == LEVEL_NODE && b->sum->level == LAB_SUM_STEP
                       ? node_bytes(b->sum)
                       : strlen(text);
    if (!p->letter && bytes < strlen(text))
        text[bytes] = '\0';
    lab_canvas_text_cut(c, in.y, in.x, in.w, p->role, text);
    const char *const more[] = {LAB_NS_TEXT(b->ns),
                                LAB_SHARE_TEXT(b->ns / st->blocks[0].ns),
                                b->level >= LEVEL_STEP ? b->sum->phase : NULL,
                                b->level == LEVEL_STEP ? b->sum->variant : NULL,
                                b->level >= LEVEL_STEP ? b->sum->bound : NULL};
    int row = 1;
    for (size_t k = 0; k < sizeof(more) / sizeof(more[0]) && row < in.h; k++)
        if (more[k] && lab_canvas_columns(c, more[k]) <= in.w)
            lab_canvas_text(c, in.y + row++, in.x, in.w, p->role, more[k]);
}

static void draw_block(const struct flame_state *st, struct lab_canvas *c,
                       struct lab_rect r, int32_t i)
{
    struct paint p = paint_of(st, i);
    bool chosen = i == st->chosen;
    bool tints = c->tints;
    struct lab_rect in = {r.y, r.x + 1, r.h, r.w - (tints ? 1 : 2)};
    /* Without tints edges alone: a block is high, and its rows are alike. */
    lab_canvas_fill(c, r, !tints && p.letter == '*' ? "*" : " ", p.role);
    lab_canvas_paper(c, r, chosen ? LAB_TINT_SELECTED : p.tint);
    for (int y = r.y; y < r.y + r.h; y++) {
        const char *begin = tints       ? "▏"
                            : chosen    ? ">"
                            : !c->ascii ? "▏"
                            : r.w > 1   ? "["
                                        : "|";
        lab_canvas_text(c, y, r.x, 1, p.role, begin);
        if (!tints && r.w > 1)
            lab_canvas_text(c, y, r.x + r.w - 1, 1, p.role,
                            c->ascii ? "]" : "▕");
    }
    draw_words(st, c, in, i, &p);
    if (!chosen)
        return;
    lab_canvas_paint(c, r, LAB_ROLE_SELECTED);
    lab_canvas_focus(c, r.y, r.x);
}

static void draw_level(struct flame_state *st, struct lab_canvas *c, int level)
{
    struct lab_rect r = st->at[level];
    for (int32_t i = 0; i < st->count; i++) {
        int first;
        int end;
        if ((int)st->blocks[i].level != level ||
            !columns_of(st, i, r.w, &first, &end))
            continue;
        draw_block(st, c, (struct lab_rect){r.y, r.x + first, r.h, end - first},
                   i);
    }
}

/* The chosen part: its name, its time and its shares. */
static void draw_details(const struct flame_state *st, struct lab_canvas *c,
                         struct lab_rect r)
{
    const struct block *b = &st->blocks[st->chosen];
    const struct lab_time_sum *s = b->level >= LEVEL_STEP ? b->sum : NULL;
    char text[320];
    if (r.h < 2)
        return;
    bool node = b->level == LEVEL_NODE && b->sum->level == LAB_SUM_STEP;
    snprintf(text, sizeof(text), "%.*s%s%s",
             node ? (int)node_bytes(b->sum) : 200, b->name ? b->name : "?",
             s && s->phase ? ", " : "", s && s->phase ? s->phase : "");
    lab_canvas_heading(c, &r, text, true);
    int n = snprintf(text, sizeof(text), "%s of the run",
                     LAB_SHARE_TEXT(b->ns / st->blocks[0].ns));
    if (b->above > 0)
        n += snprintf(text + n, sizeof(text) - (size_t)n,
                      ", %s of what it is in",
                      LAB_SHARE_TEXT(b->ns / st->blocks[b->above].ns));
    snprintf(text + n, sizeof(text) - (size_t)n, "; %s in all",
             LAB_NS_TEXT(b->ns));
    lab_canvas_text_cut(c, r.y, r.x, r.w, LAB_ROLE_NORMAL, text);
    lab_rect_cut_top(&r, 1);
    if (!s || r.h < 1)
        return;
    n = snprintf(text, sizeof(text), "median %s, %" PRId64 " time%s",
                 LAB_NS_TEXT(s->median_ns), s->count, s->count == 1 ? "" : "s");
    if (s->variant)
        n +=
            snprintf(text + n, sizeof(text) - (size_t)n, "; %.40s", s->variant);
    if (s->bound)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "; %s", s->bound);
    if (!isnan(s->of_roof))
        snprintf(text + n, sizeof(text) - (size_t)n, ", %s of its roof",
                 LAB_SHARE_TEXT(s->of_roof));
    lab_canvas_text_cut(c, r.y, r.x, r.w, LAB_ROLE_NORMAL, text);
}

static bool has_kernels(const struct flame_state *st)
{
    for (int32_t i = 0; i < st->count; i++)
        if (st->blocks[i].level == LEVEL_KERNEL)
            return true;
    return false;
}

void lab_flame_draw(struct lab_screen *flame, struct lab_canvas *c,
                    struct lab_rect r)
{
    struct flame_state *st = flame->state;
    struct lab_share parts[LEVELS] = {
        {1, 1, 3}, {1, 3, 2}, {1, 4, 0}, {1, 4, 1}};
    int rows[LEVELS];
    if (!has_kernels(st)) /* a run on a CPU: the rows are the steps' */
        parts[LEVEL_KERNEL].drop = LAB_SHARE_ABSENT;
    lab_layout_share(r.h, parts, LEVELS, rows);
    for (int level = 0; level < LEVELS; level++)
        st->at[level] = lab_rect_cut_top(&r, rows[level]);
    for (int level = 0; level < LEVELS; level++)
        if (!lab_rect_empty(st->at[level]))
            draw_level(st, c, level);
}

static int by_time(const void *a, const void *b, void *user)
{
    const struct block *blocks = user;
    const double x = blocks[*(const int32_t *)a].ns;
    const double y = blocks[*(const int32_t *)b].ns;
    return (x < y) - (x > y);
}

static void draw_time_row(const struct flame_state *st, struct lab_canvas *c,
                          struct lab_rect row, int32_t i, double most)
{
    enum { NAME_W = 44, APART = 2 };
    const struct block *b = &st->blocks[i];
    const struct paint p = paint_of(st, i);
    const bool here = i == st->chosen;
    char text[160];
    snprintf(text, sizeof(text), "%c%c %s", here ? '>' : ' ',
             p.letter ? p.letter : ' ', b->name ? b->name : "?");
    lab_canvas_text_cut(c, row.y, row.x, NAME_W,
                        here ? LAB_ROLE_TITLE : LAB_ROLE_NORMAL, text);
    lab_rect_cut_left(&row, NAME_W + APART);
    lab_canvas_add(c, &row, here ? LAB_ROLE_TITLE : LAB_ROLE_NORMAL,
                   "%9s  %6s  ", LAB_NS_TEXT(b->ns),
                   LAB_SHARE_TEXT(b->ns / st->blocks[0].ns));
    lab_bar_draw(c, row.y, row.x, row.w, b->ns, 0, most, p.role);
}

/* The steps that are in sight, or where a kernel is chosen the kernels, the longest
 * first. */
static int32_t find_by_time(const struct flame_state *st, int32_t *list)
{
    const enum level level = st->blocks[st->chosen].level == LEVEL_KERNEL
                                 ? LEVEL_KERNEL
                                 : LEVEL_STEP;
    int32_t n = 0;
    for (int32_t i = st->root; i < st->count; i++)
        if (st->blocks[i].level == level && is_above(st, st->root, i))
            list[n++] = i;
    qsort_r(list, (size_t)n, sizeof(*list), by_time, st->blocks);
    return n;
}

/* Below blocks that have room for all their words: as many as there are rows, which
 * `body` loses. */
static void draw_by_time(const struct flame_state *st, struct lab_canvas *c,
                         struct lab_rect *body)
{
    enum { WORDS = 6, LEAST = 4 };
    const int left = body->h - LEVELS * WORDS;
    if (left < LEAST)
        return;
    int32_t *list = lab_alloc_array((size_t)st->count, sizeof(*list));
    const int32_t n = list ? find_by_time(st, list) : 0;
    if (n > 0) {
        struct lab_rect r =
            lab_rect_cut_bottom(body, n + 1 < left ? (int)n + 1 : left);
        lab_canvas_heading(c, &r,
                           st->blocks[list[0]].level == LEVEL_KERNEL
                               ? "kernels by time"
                               : "steps by time",
                           false);
        for (int k = 0; k < n && k < r.h; k++)
            draw_time_row(st, c, (struct lab_rect){r.y + k, r.x, 1, r.w},
                          list[k], st->blocks[list[0]].ns);
    }
    lab_free(list);
}

static void flame_draw(struct lab_screen *s, struct lab_canvas *c,
                       struct lab_rect body)
{
    enum { DETAILS = 3 };
    const struct flame_state *st = s->state;
    struct lab_rect details = lab_rect_cut_bottom(&body, DETAILS);
    draw_by_time(st, c, &body);
    lab_flame_draw(s, c, body);
    draw_details(st, c, details);
}

/* ---- keys ---- */

/* The block comes into sight: the root is one that has it. */
static void choose(struct flame_state *st, int32_t i)
{
    st->chosen = i;
    while (st->root > 0 && !is_above(st, st->root, i))
        st->root = st->blocks[st->root].above;
}

void lab_flame_choose(struct lab_screen *flame, const struct lab_time_sum *step,
                      const struct lab_time_sum *kernel, bool by_bound)
{
    struct flame_state *st = flame->state;
    st->by_bound = by_bound;
    st->root = 0;
    for (int32_t i = 0; i < st->count; i++) {
        const struct block *b = &st->blocks[i];
        if (b->level == LEVEL_STEP && is_of(step, b->sum))
            st->chosen = i;
        if (kernel && b->level == LEVEL_KERNEL && b->above == st->chosen &&
            same(b->sum->kernel, kernel->kernel))
            st->chosen = i;
    }
}

/* The next of its level, to one side or the other. */
static void go_aside(struct flame_state *st, int by)
{
    int32_t i = st->chosen + by;
    if (i >= 0 && i < st->count &&
        st->blocks[i].level == st->blocks[st->chosen].level)
        choose(st, i);
}

static void go_down(struct flame_state *st)
{
    for (int32_t i = st->chosen + 1; i < st->count; i++)
        if (st->blocks[i].above == st->chosen) {
            choose(st, i); /* the longest */
            return;
        }
}

/* It fills the width; where it does, it shrinks again. */
static enum lab_status zoom(struct lab_screen *s)
{
    struct flame_state *st = s->state;
    const struct block *b = &st->blocks[st->chosen];
    bool whole = st->root == st->chosen;
    if (!(b->x1 > b->x0)) {
        lab_ui_message(s->ui, LAB_ROLE_DIM,
                       "no time was measured here: there is nothing to zoom");
        return LAB_OK;
    }
    st->root = whole && st->root > 0 ? st->blocks[st->root].above : st->chosen;
    return LAB_OK;
}

static enum lab_status fit(struct lab_screen *s)
{
    struct flame_state *st = s->state;
    st->root = 0;
    return LAB_OK;
}

static enum lab_status turn_colors(struct lab_screen *s)
{
    struct flame_state *st = s->state;
    st->by_bound = !st->by_bound;
    return LAB_OK;
}

static bool act(struct lab_screen *s, int action)
{
    struct flame_state *st = s->state;
    int32_t at = st->chosen;
    switch (action) {
    case LAB_ACT_LEFT:
    case LAB_ACT_RIGHT:
        go_aside(st, action == LAB_ACT_LEFT ? -1 : 1);
        return true;
    case LAB_ACT_UP:
        if (at > 0)
            choose(st, st->blocks[at].above);
        return true;
    case LAB_ACT_DOWN:
        go_down(st);
        return true;
    case LAB_ACT_FIRST:
        choose(st, 0);
        return true;
    case LAB_ACT_CANCEL:
        if (st->search[0])
            st->search[0] = '\0';
        else if (st->root > 0)
            st->root = st->blocks[st->root].above;
        else
            lab_ui_pop(s->ui);
        return true;
    default:
        return false;
    }
}

/* All matches are marked until Esc. */
static bool flame_search(struct lab_screen *s, const char *text, int dir)
{
    struct flame_state *st = s->state;
    int32_t all = 0;
    int32_t found = -1;
    if (text[0])
        snprintf(st->search, sizeof(st->search), "%s", text);
    double ns = 0;
    for (int32_t k = 1; k <= st->count && st->search[0]; k++) {
        int32_t i =
            ((st->chosen + dir * k) % st->count + st->count) % st->count;
        if (!is_match(st, i))
            continue;
        found = found < 0 ? i : found;
        all++;
        int32_t above = st->blocks[i].above;
        while (above >= 0 && !is_match(st, above))
            above = st->blocks[above].above;
        ns += above < 0 ? st->blocks[i].ns : 0; /* each time once */
    }
    if (found < 0) {
        if (text[0])
            st->search[0] = '\0';
        return false;
    }
    choose(st, found);
    lab_ui_message(s->ui, LAB_ROLE_NORMAL,
                   "\"%s\": %d, %s of the run; n next, N before, Esc ends",
                   st->search, all, LAB_SHARE_TEXT(ns / st->blocks[0].ns));
    return true;
}

static bool mouse(struct lab_screen *s, enum lab_mouse what, int y, int x)
{
    struct flame_state *st = s->state;
    if (what != LAB_MOUSE_CLICK)
        return false;
    for (int32_t i = 0; i < st->count; i++) {
        const struct lab_rect *r = &st->at[st->blocks[i].level];
        int first;
        int end;
        if (!lab_rect_has(*r, y, x) || !columns_of(st, i, r->w, &first, &end) ||
            x - r->x < first || x - r->x >= end)
            continue;
        if (st->chosen == i)
            return zoom(s) == LAB_OK;
        choose(st, i);
        return true;
    }
    return false;
}

/* The chosen step, or that of the chosen kernel. */
static enum lab_status subject(struct lab_screen *s, enum lab_subject of,
                               struct lab_run_args *out)
{
    const struct flame_state *st = s->state;
    const struct block *b = &st->blocks[st->chosen];
    bool kernel = b->sum && b->sum->level == LAB_SUM_KERNEL;
    *out = st->args;
    out->kernel = kernel ? b->sum : NULL;
    if (of == LAB_OF_KERNEL && !kernel)
        return lab_fail(LAB_E_STATE, "[screen.whatif-kernel-below] what if is "
                                     "asked of a kernel: choose one below");
    if (b->level == LEVEL_KERNEL)
        b = &st->blocks[b->above];
    out->step = b->level == LEVEL_STEP ? b->name : NULL;
    out->phase = b->level == LEVEL_STEP ? b->sum->phase : NULL;
    return LAB_OK;
}

static void title(struct lab_screen *s, char *out, size_t cap)
{
    const struct flame_state *st = s->state;
    snprintf(out, cap, "Flame graph by %s", st->by_bound ? "bound" : "phase");
}

static const struct lab_binding BINDINGS[] = {
    {"Enter", true, "zoom", "it fills the width, or shrinks again",
     LAB_ACT_OPEN, zoom},
    {"z", true, "fit", "the whole run", LAB_ACT_OWN, fit},
    {"b F8", true, "bound", "colours by what holds a step back, or by phase",
     LAB_ACT_OWN, turn_colors},
    {"/ F3", true, "search", "mark all with a name; Esc ends it",
     LAB_ACT_SEARCH},
    LAB_VIEWS_OF_KERNEL,
    LAB_VIEWS_OF_STEP,
    {"Left h", false, "left", "the one at its left", LAB_ACT_LEFT},
    {"Right l", false, "right", "the one at its right", LAB_ACT_RIGHT},
    {"Up k", false, "up", "what it is a part of", LAB_ACT_UP},
    {"Down j", false, "down", "the longest of its parts", LAB_ACT_DOWN},
    {"Esc", false, "back", "out of a search, out of a zoom, or close",
     LAB_ACT_CANCEL},
    {NULL}};

static const struct lab_sign SIGNS[] = {
    {"the rows",
     "the run, its nodes, their steps, the kernels of each: as wide as "
     "their share, the longest at the left"},
    {"F L B U", "a step forward, of the loss, backward, of the update"},
    {"M C L H ?",
     "after b: memory or cache, compute, latency, launches by the host, "
     "unknown"},
    {"*", "what a search has found"},
    {">", "the chosen one, where there are no colours"},
    {NULL, NULL}};

const struct lab_screen_ops lab_view_flame = {
    .name = "flame",
    .title = "Flame graph",
    .state_bytes = sizeof(struct flame_state),
    .bindings = BINDINGS,
    .sideways = true,
    .init = flame_init,
    .release = flame_release,
    .draw = flame_draw,
    .action = act,
    .search = flame_search,
    .place = "run",
    .subject = subject,
    .mouse = mouse,
    .title_now = title,
    .signs = SIGNS,
};
