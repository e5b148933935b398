/* run_preview.c -- draws a run small, beside the list of runs: its losses and
 * those of the runs to compare, its time by phase, by bound and by step, its network
 * with each node's share; of a lab its bars and rates. */
#include "ui/run_preview.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/mem.h"
#include "bench/model.h"
#include "report/palette.h"
#include "ui/chart.h"
#include "ui/diagram.h"
#include "ui/lab_chart.h"
#include "ui/pager.h"

/* ---- its data ---- */

bool lab_run_preview_room(struct lab_curve *c, int most)
{
    c->iteration = lab_alloc_array((size_t)most, sizeof(*c->iteration));
    c->value = lab_alloc_array((size_t)most, sizeof(*c->value));
    return c->iteration && c->value;
}

static void curve_release(struct lab_curve *c)
{
    lab_free(c->iteration);
    lab_free(c->value);
}

void lab_run_preview_release(struct lab_run_preview *p)
{
    curve_release(&p->loss);
    curve_release(&p->held);
    curve_release(&p->accuracy);
    if (p->lab)
        lab_bench_data_release(p->lab);
    lab_free(p->lab);
    *p = (struct lab_run_preview){0};
}

/* ---- the picture ---- */

enum { WIDE = 110, CHART_LEAST = 5 };

/* ---- losses ---- */

static struct lab_series series_of(const struct lab_curve *c, const char *name,
                                   int k)
{
    return (struct lab_series){.y = c->value,
                               .n = c->n,
                               .name = name,
                               .role = (enum lab_role)(LAB_ROLE_SERIES_1 + k),
                               .at = c->iteration};
}

/* A loss that falls to a tenth is a line at the bottom of a linear scale. */
static bool is_log(const struct lab_preview_picture *p)
{
    bool far = false;
    for (int i = 0; i < p->count; i++) {
        const struct lab_curve *c = &p->of[i]->loss;
        double last = c->n ? c->value[c->n - 1] : (double)NAN;
        if (c->n && !(last > 0))
            return false;
        far = far || (c->n && c->value[0] / last >= 10);
    }
    return far;
}

struct curves {
    struct lab_series series[2 * LAB_PREVIEW_RUNS];
    char name[2 * LAB_PREVIEW_RUNS][64];
    int n;
};

/* One point is no curve: the list has it. */
static bool is_curve(const struct lab_curve *c)
{
    return c->n > 1;
}

/* `run` is in the name where there are several. */
static void add_curve(struct curves *to, int64_t run, const struct lab_curve *c,
                      const char *what)
{
    char *name = to->name[to->n];
    if (c->n == 0)
        return;
    if (run > 0)
        snprintf(name, sizeof(to->name[0]), "run %" PRId64 "%s", run, what);
    else
        snprintf(name, sizeof(to->name[0]), "%s", what);
    to->series[to->n] = series_of(c, name, to->n);
    to->n++;
}

static void draw_curves(struct lab_canvas *c, struct lab_rect r,
                        const char *title, const struct curves *of, bool log_y)
{
    const struct lab_chart chart = {.x_name = "iteration",
                                    .zero_x = true,
                                    .series = of->series,
                                    .count = of->n,
                                    .y_min = NAN,
                                    .y_max = NAN,
                                    .log_y = log_y};
    lab_canvas_heading(c, &r, title, false);
    lab_chart_draw(c, r, &chart);
}

/* Losses, and below them the accuracy where both have room. Of three runs the names
 * of validation losses have no room beside those of training. */
void lab_run_preview_losses(struct lab_canvas *c, struct lab_rect r,
                            const struct lab_preview_picture *p)
{
    enum { WITH_HELD = 2 };
    struct curves losses = {.n = 0};
    struct curves right = {.n = 0};
    bool several = p->count > 1;
    for (int i = 0; i < p->count; i++) {
        const struct lab_run_preview *of = p->of[i];
        int64_t run = several ? of->run : 0;
        add_curve(&losses, run, &of->loss, several ? "" : "training");
        if (p->count <= WITH_HELD)
            add_curve(&losses, 0, &of->held,
                      several ? "its validation" : "validation");
        if (is_curve(&of->accuracy))
            add_curve(&right, run, &of->accuracy, several ? "" : "validation");
    }
    if (right.n > 0 && r.h >= 2 * (CHART_LEAST + 1))
        draw_curves(c, lab_rect_cut_bottom(&r, r.h * 2 / 5),
                    several ? "Validation accuracy of these runs" : "Accuracy",
                    &right, false);
    char title[64];
    bool log_y = is_log(p);
    snprintf(title, sizeof(title), "Loss%s%s", several ? " of these runs" : "",
             log_y ? " (log scale)" : "");
    draw_curves(c, r, title, &losses, log_y);
}

bool lab_run_preview_has_losses(const struct lab_preview_picture *p)
{
    for (int i = 0; i < p->count; i++)
        if (is_curve(&p->of[i]->loss))
            return true;
    return false;
}

/* ---- where the time goes ---- */

enum { NAME_LEAST = 14, SHARE_W = 7, TIME_W = 9 };

static void draw_bar(struct lab_canvas *c, struct lab_rect row,
                     const char *name, const char *time, double share,
                     double most, enum lab_role role)
{
    char text[LAB_FORMAT_BYTES];
    lab_format_share(share, text, sizeof(text));
    int name_w = row.w / 3 > NAME_LEAST ? row.w / 3 : NAME_LEAST;
    struct lab_rect words = lab_rect_cut_left(&row, name_w);
    struct lab_rect end = lab_rect_cut_right(&row, SHARE_W + TIME_W);
    lab_canvas_text_cut(c, words.y, words.x + 1, words.w - 2, LAB_ROLE_NORMAL,
                        name);
    lab_bar_draw(c, row.y, row.x, row.w, share, 0, most, role);
    lab_canvas_textf(c, end.y, end.x, end.w, LAB_ROLE_NORMAL, "%*s%*s", SHARE_W,
                     text, TIME_W, time);
}

/* Sums of shares by a kind that a step has; -1: not known. */
enum { KINDS = 8 };
struct kind {
    const char *name;
    enum lab_role role;
    double share;
};

static int fill_phases(const struct lab_preview_picture *p,
                       struct kind out[KINDS])
{
    for (int i = 0; i < LAB_PHASE_COUNT; i++)
        out[i] = (struct kind){lab_phase_name((enum lab_phase)i),
                               lab_role_of_phase((enum lab_phase)i), 0};
    for (int64_t i = 0; i < p->n_steps; i++) {
        const struct lab_time_sum *s = &p->steps[i];
        if (s->phase_id >= 0 && s->phase_id < LAB_PHASE_COUNT && s->share > 0)
            out[s->phase_id].share += s->share;
    }
    return LAB_PHASE_COUNT;
}

/* 0: of no step it is known. */
static int fill_bounds(const struct lab_preview_picture *p,
                       struct kind out[KINDS])
{
    bool any = false;
    for (int i = 0; i < LAB_ROOFLINE_VERDICTS; i++) {
        enum lab_roofline_verdict v = (enum lab_roofline_verdict)i;
        out[i] = (struct kind){v == LAB_ROOFLINE_UNKNOWN
                                   ? "not known"
                                   : lab_roofline_verdict_name(v),
                               lab_role_of_verdict(v), 0};
    }
    for (int64_t i = 0; i < p->n_steps; i++) {
        const struct lab_time_sum *s = &p->steps[i];
        any = any || s->bound;
        if (s->share > 0)
            out[s->bound ? lab_roofline_verdict_find(s->bound)
                         : LAB_ROOFLINE_UNKNOWN]
                .share += s->share;
    }
    return any ? LAB_ROOFLINE_VERDICTS : 0;
}

_Static_assert((int)LAB_PHASE_COUNT <= KINDS &&
                   (int)LAB_ROOFLINE_VERDICTS <= KINDS,
               "kinds of both");

/* Those that take any time; nothing where they have no room. */
static void draw_kinds(struct lab_canvas *c, struct lab_rect *r,
                       const char *title, const struct kind *kinds, int n)
{
    int rows = 0;
    for (int i = 0; i < n; i++)
        rows += kinds[i].share > 0;
    if (rows == 0 || r->h < rows + 1)
        return;
    struct lab_rect part = lab_rect_cut_top(r, rows + 1);
    lab_canvas_heading(c, &part, title, false);
    for (int i = 0; i < n; i++)
        if (kinds[i].share > 0)
            draw_bar(c, lab_rect_cut_top(&part, 1), kinds[i].name, "",
                     kinds[i].share, 1, kinds[i].role);
}

/* The row below `before` in the order of time, the first of equal ones; -1. */
static int64_t next_step(const struct lab_preview_picture *p, int64_t before)
{
    int64_t best = -1;
    for (int64_t i = 0; i < p->n_steps; i++) {
        double share = p->steps[i].share;
        if (!(share > 0) || i == before)
            continue;
        if (before >= 0 && (share > p->steps[before].share ||
                            (share >= p->steps[before].share && i < before)))
            continue;
        if (best < 0 || share > p->steps[best].share)
            best = i;
    }
    return best;
}

/* The steps that take longest, at most `rows` of them, and their median. */
static void draw_steps(struct lab_canvas *c, struct lab_rect *r,
                       const struct lab_preview_picture *p, int rows)
{
    int64_t at = next_step(p, -1);
    double most = at < 0 ? 0 : p->steps[at].share;
    if (at < 0 || rows < 2 || r->h < 2)
        return;
    lab_canvas_heading(c, r, "Steps that take longest: share, median", false);
    for (int i = 1; i < rows && at >= 0 && r->h > 0; i++) {
        const struct lab_time_sum *s = &p->steps[at];
        const char *step = lab_time_sum_step(s);
        char name[64];
        bool phase =
            !s->bench_name && s->phase_id >= 0 && s->phase_id < LAB_PHASE_COUNT;
        snprintf(name, sizeof(name), "%s %.48s",
                 phase ? lab_phase_letter((enum lab_phase)s->phase_id) : " ",
                 step ? step : "");
        draw_bar(c, lab_rect_cut_top(r, 1), name, LAB_NS_TEXT(s->median_ns),
                 s->share, most,
                 phase ? lab_role_of_phase((enum lab_phase)s->phase_id)
                       : LAB_ROLE_SERIES_1);
        at = next_step(p, at);
    }
}

static void draw_facts(struct lab_canvas *c, struct lab_rect r,
                       const struct lab_preview_picture *p)
{
    if (r.h < 2)
        return;
    lab_canvas_heading(c, &r, "Facts", false);
    lab_pager_draw(p->facts, c, r);
}

/* The rest of the rows is shared by steps and facts: these first. */
static void draw_time(struct lab_canvas *c, struct lab_rect r,
                      const struct lab_preview_picture *p)
{
    struct kind kinds[KINDS];
    int facts = (int)lab_pager_lines(p->facts, r.w, c->ascii) + 1;
    if (p->steps) {
        draw_kinds(c, &r, "Time by phase", kinds, fill_phases(p, kinds));
        draw_kinds(c, &r, "Time by what bounds it", kinds,
                   fill_bounds(p, kinds));
        draw_steps(c, &r, p, r.h - facts < 4 ? r.h / 2 : r.h - facts);
    } else if (!p->of[0]->summed && p->of[0]->run == p->run->id && r.h > 0) {
        lab_rect_cut_top(
            &r, lab_canvas_paragraph(
                    c, r, LAB_ROLE_DIM,
                    " Its times have not been added up: Enter does that."));
    }
    draw_facts(c, r, p);
}

/* ---- its network ---- */

/* "fc1" of a step of that node, or of one named "fc1.matmul". */
static void node_name(const struct lab_time_sum *s, char *out, size_t cap)
{
    const char *text = s->node ? s->node : s->name ? s->name : "";
    int n = (int)(s->node ? strlen(text) : strcspn(text, "."));
    snprintf(out, cap, "%.*s", n, text);
}

static struct lab_diagram_box *box_of(struct lab_diagram *d, const char *name)
{
    for (int i = 0; i < d->n; i++)
        if (strcmp(d->box[i].name, name) == 0)
            return &d->box[i];
    return NULL;
}

/* The medians of its steps, added up; NaN: of none is one known. */
static double time_of(const struct lab_preview_picture *p, const char *node)
{
    double sum = NAN;
    for (int64_t i = 0; i < p->n_steps; i++) {
        const struct lab_time_sum *s = &p->steps[i];
        char name[sizeof(((struct lab_diagram_box *)0)->name)];
        node_name(s, name, sizeof(name));
        if (!s->bench_name && strcmp(name, node) == 0 && !isnan(s->median_ns))
            sum = (isnan(sum) ? 0 : sum) + s->median_ns;
    }
    return sum;
}

/* The nodes as they ran, with what all of their phases take together. What reads
 * what is not recorded: no lines. */
static void fill_network(struct lab_diagram *d,
                         const struct lab_preview_picture *p)
{
    for (int64_t i = 0; i < p->n_steps; i++) {
        const struct lab_time_sum *s = &p->steps[i];
        char name[sizeof(d->box->name)];
        node_name(s, name, sizeof(name));
        if (!name[0] || s->bench_name)
            continue;
        struct lab_diagram_box *b = box_of(d, name);
        if (!b && (b = lab_diagram_add(d, name))) {
            b->share = 0;
            snprintf(b->text[0], sizeof(b->text[0]), "%s", s->op ? s->op : "");
        }
        if (b && s->share > 0)
            b->share += s->share;
    }
    d->lit = -1;
    for (int i = 0; i < d->n; i++) {
        snprintf(d->box[i].text[1], sizeof(d->box[i].text[1]), "%s",
                 LAB_NS_TEXT(time_of(p, d->box[i].name)));
        if (d->lit < 0 || d->box[i].share > d->box[d->lit].share)
            d->lit = i;
    }
}

static void draw_network(struct lab_canvas *c, struct lab_rect *r,
                         const struct lab_preview_picture *p)
{
    struct lab_diagram d = {.n = 0};
    fill_network(&d, p);
    int rows = lab_diagram_rows(&d);
    if (rows > 0 && r->h >= 4 * (rows + 1)) {
        struct lab_rect part = lab_rect_cut_bottom(r, rows + 1);
        lab_canvas_heading(
            c, &part,
            "Nodes as they run: medians of their steps added up, and the share",
            false);
        lab_diagram_draw(c, part, &d, LAB_ROLE_TITLE);
    }
    lab_diagram_release(&d);
}

/* ---- a lab ---- */

/* Bars of the first set's sizes, from the last one, mostly the largest, as many as
 * have room above the facts. */
static void draw_bars(struct lab_canvas *c, struct lab_rect *r,
                      struct lab_bench_chart *chart, int facts)
{
    const struct lab_bench_data *lab = chart->lab;
    bool first = true;
    for (int i = lab->size_count - 1; i >= 0; i--) {
        int room = r->h - facts > r->h / 2 || !first ? r->h - facts : r->h / 2;
        if (lab->sizes[i].set != chart->set)
            continue;
        chart->size = i;
        int rows = lab_bench_bars_rows(chart) + lab_bench_lanes_rows(chart);
        if (!first && rows > room)
            return;
        lab_bench_bars_draw(c, lab_rect_cut_top(r, rows < room ? rows : room),
                            chart);
        if (lab->by_size)
            return;
        first = false;
    }
}

static void draw_lab(struct lab_canvas *c, struct lab_rect r,
                     const struct lab_preview_picture *p)
{
    const struct lab_bench_data *lab = p->of[0]->lab;
    struct lab_bench_chart chart = {.lab = lab, .chosen = -1, .log = true};
    struct lab_rect rates = {0};
    bool wide = r.w >= WIDE;
    int sizes = 0;
    for (int i = 0; i < lab->size_count; i++)
        sizes += lab->sizes[i].set == chart.set;
    if (lab->row_count == 0) {
        lab_canvas_text(c, r.y, r.x + 1, r.w - 1, LAB_ROLE_DIM,
                        "It measured nothing that can be drawn.");
        lab_rect_cut_top(&r, 2);
    } else if (sizes > 1) {
        rates = wide ? lab_rect_cut_left(&r, r.w / 2 - 1)
                     : lab_rect_cut_top(&r, r.h / 2);
        lab_rect_cut_left(&r, wide ? 2 : 0);
        chart.size = lab->size_count - 1;
        lab_bench_rates_draw(c, rates, &chart);
    }
    chart.log = lab->far_apart;
    draw_bars(c, &r, &chart, (int)lab_pager_lines(p->facts, r.w, c->ascii) + 1);
    draw_facts(c, r, p);
}

/* ---- all ---- */

void lab_run_preview_draw(struct lab_canvas *c, struct lab_rect r,
                          const struct lab_preview_picture *p)
{
    char text[128];
    char title[192];
    const char *lesson = lab_run_lesson_text(p->run, text, sizeof(text));
    snprintf(title, sizeof(title), "Run %" PRId64 " %s%s%s", p->run->id,
             lesson ? lesson : "", p->run->status ? ", " : "",
             p->run->status ? p->run->status : "");
    lab_canvas_heading(c, &r, title, false);
    if (p->problem[0]) {
        lab_canvas_paragraph(c, r, LAB_ROLE_BAD, p->problem);
        return;
    }
    if (p->of[0]->lab) {
        draw_lab(c, r, p);
        return;
    }
    if (p->steps)
        draw_network(c, &r, p);
    if (lab_run_preview_has_losses(p)) {
        bool wide = r.w >= WIDE;
        lab_run_preview_losses(c,
                               wide ? lab_rect_cut_left(&r, r.w / 2 - 1)
                                    : lab_rect_cut_top(&r, r.h / 2),
                               p);
        lab_rect_cut_left(&r, wide ? 2 : 0);
    }
    draw_time(c, r, p);
}
