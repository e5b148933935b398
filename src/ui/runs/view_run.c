/* view_run.c -- the screen of one run: steps, kernels, losses.
 *
 * Opened by Enter in the list of runs. It loads through the model that the
 * program gives it (ui/models.h), never from the database itself, and opens the
 * flame graph, the facts of the run, and what-if of the row under the cursor. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "flame.h"
#include "record_list.h"
#include "profiler/roofline.h"
#include "report/palette.h"
#include "ui/layout.h"
#include "ui/pager.h"
#include "ui/ui.h"
#include "ui/views.h"

enum { PANE_STEPS, PANE_KERNELS, PANE_FACTS, PANE_COUNT };

struct run_state {
    struct lab_run_args args;
    const struct lab_time_sum *step_rows;
    const struct lab_time_sum *kernel_rows;
    struct lab_record_list step_list;
    struct lab_record_list kernel_list;
    struct lab_table steps;
    struct lab_table kernels;
    struct lab_doc doc;
    struct lab_pager facts;
    int pane;
    int64_t kernels_of; /* the step of the kernels shown, or -1: all */
    bool all_kernels;
    bool counted;         /* hardware counters were taken */
    bool simulated;       /* counted by simulation */
    int64_t most_kernels; /* that a step launches, or the run without steps */
    struct lab_str no_steps;
    bool by_bound;           /* what colours mean; else the phase */
    struct lab_screen flame; /* below the lists; no state: there is none */
    struct lab_rect flame_at;
};

/* Kinds of lists of steps and kernels. */
enum { COUNTED = 1, SIMULATED_STEPS = 2, ALL_STEPS = 2, SIMULATED_KERNELS = 4 };

static enum lab_role color_of(const void *user, const void *row, char *letter)
{
    const struct run_state *st = user;
    const struct lab_time_sum *s = row;
    if (st->by_bound) {
        enum lab_roofline_verdict v = s->bound
                                          ? lab_roofline_verdict_find(s->bound)
                                          : LAB_ROOFLINE_UNKNOWN;
        *letter = s->bound ? lab_verdict_letter(v)[0] : '?';
        return lab_role_of_verdict(v);
    }
    if (s->phase_id < 0 || s->phase_id >= LAB_PHASE_COUNT)
        return LAB_ROLE_SERIES_1;
    *letter = lab_phase_letter((enum lab_phase)s->phase_id)[0];
    return lab_role_of_phase((enum lab_phase)s->phase_id);
}

/* Those of 95 % of the time are the ones to look at. */
static bool is_little(const void *user, const void *row)
{
    const struct lab_time_sum *s = row;
    (void)user;
    return s->cumulative - s->share >= 0.95;
}

/* When it fails there are none: those that were shown are gone. */
static enum lab_status load_kernels(struct run_state *st)
{
    const struct lab_runs_model *m = st->args.model;
    const struct lab_time_sum *rows = NULL;
    int64_t count = 0;
    int64_t step = st->all_kernels ? -1 : lab_table_row(&st->steps);
    enum lab_status status =
        m->load_kernels(m->user, st->args.run.id,
                        step < 0 ? NULL : &st->step_rows[step], &rows, &count);
    st->kernels_of = step;
    lab_record_list_turn(&st->kernel_list,
                         st->simulated ? SIMULATED_KERNELS + (step < 0)
                                       : (st->counted ? COUNTED : 0) |
                                             (step < 0 ? ALL_STEPS : 0));
    st->kernels.count = 0;
    st->kernel_list.rows = st->kernel_rows = status ? NULL : rows;
    lab_record_list_scale(&st->kernel_list, status ? 0 : count);
    return status ? status : lab_table_set_count(&st->kernels, count);
}

static bool is_text(const char *a, const char *b)
{
    return a && strcmp(a, b) == 0;
}

/* The cursor onto the step that is asked for. */
static void select_step(struct run_state *st, const struct lab_run_args *at)
{
    for (int64_t i = 0; at->step && i < st->steps.count; i++) {
        const struct lab_time_sum *row = &st->step_rows[i];
        if (is_text(lab_time_sum_step(row), at->step) &&
            (!at->phase || is_text(row->phase, at->phase))) {
            lab_table_select(&st->steps, i);
            return;
        }
    }
}

static enum lab_status load(struct run_state *st)
{
    const struct lab_runs_model *m = st->args.model;
    int64_t count = 0;
    enum lab_status status =
        m->load_steps(m->user, st->args.run.id, &st->step_rows, &count);
    st->step_list.rows = st->step_rows;
    lab_record_list_scale(&st->step_list, status ? 0 : count);
    if (!status)
        status = lab_table_set_count(&st->steps, count);
    for (int64_t i = 0; i < count && !status; i++) {
        const struct lab_time_sum *row = &st->step_rows[i];
        if (row->kernels > st->most_kernels)
            st->most_kernels = row->kernels;
        st->counted =
            st->counted || !isnan(row->counters.achieved_occupancy_pct);
        st->simulated = st->simulated || row->counters.warp_inst > 0;
    }
    if (st->counted || st->simulated)
        lab_record_list_turn(&st->step_list,
                             st->simulated ? SIMULATED_STEPS : COUNTED);
    if (!st->simulated) { /* what takes longest comes first */
        lab_table_sort(&st->steps,
                       lab_record_list_column(&st->step_list, LAB_SHOW_BAR),
                       true);
        lab_table_sort(&st->kernels,
                       lab_record_list_column(&st->kernel_list, LAB_SHOW_BAR),
                       true);
        lab_table_action(&st->steps, LAB_ACT_FIRST);
    }
    if (!status)
        select_step(st, &st->args);
    if (!status)
        status = load_kernels(st);
    if (!status && count == 0) /* another tool's run has kernels of no step */
        st->most_kernels = st->kernels.count;
    if (!status)
        status = m->write_facts(m->user, st->args.run.id, &st->doc);
    return status ? status : lab_doc_check(&st->doc);
}

static void close_flame(struct run_state *st)
{
    if (st->flame.state)
        lab_view_flame.release(&st->flame);
    lab_free(st->flame.state);
    st->flame.state = NULL;
}

/* Without times, or memory, there is none. */
static void open_flame(struct lab_screen *s)
{
    struct run_state *st = s->state;
    close_flame(st);
    st->flame = (struct lab_screen){
        &lab_view_flame, lab_alloc(lab_view_flame.state_bytes), s->ui};
    if (st->flame.state && lab_view_flame.init(&st->flame, &st->args))
        close_flame(st);
}

static void run_release(struct lab_screen *s)
{
    struct run_state *st = s->state;
    close_flame(st);
    lab_table_release(&st->steps);
    lab_table_release(&st->kernels);
    lab_str_release(&st->no_steps);
    lab_pager_release(&st->facts);
    lab_doc_release(&st->doc);
}

/* A lab's repeats are timed without the trace, each variant is traced once more
 * afterwards, and a sweep has rows of its own instead of steps. */
static void report_empty(struct run_state *st)
{
    const struct lab_runs_model *m = st->args.model;
    bool lab = lab_run_is_lab(&st->args.run);
    char number[32];
    snprintf(number, sizeof(number), "%" PRId64, st->args.run.id);
    lab_str_add(&st->no_steps, "This lab has no steps: its rows are in `");
    m->hint(m->user, (const char *const[]){"profile", "show", number, NULL},
            &st->no_steps);
    lab_str_add(&st->no_steps, "`.");
    st->steps.empty =
        lab ? lab_str_text(&st->no_steps) : "This run has no steps.";
    st->kernels.empty =
        lab && st->most_kernels > 0
            ? "No kernels: a lab's repeats are timed without the trace. The "
              "steps named \"traced\", below these, have them."
            : "No kernels: the step ran on the CPU, or the run recorded none.";
}

static enum lab_status run_init(struct lab_screen *s, const void *args)
{
    struct run_state *st = s->state;
    st->args = *(const struct lab_run_args *)args;
    lab_record_list_init(&st->step_list, &lab_step_fields, 0);
    lab_record_list_init(&st->kernel_list, &lab_kernel_sum_fields, 0);
    lab_table_init(&st->steps, &st->step_list.ops, &st->step_list);
    lab_table_init(&st->kernels, &st->kernel_list.ops, &st->kernel_list);
    st->step_list.color = st->kernel_list.color = color_of;
    st->step_list.faint = st->kernel_list.faint = is_little;
    st->step_list.color_user = st->kernel_list.color_user = st;
    lab_doc_init(&st->doc);
    lab_pager_init(&st->facts, &st->doc);
    enum lab_status status = load(st);
    report_empty(st);
    if (!status)
        open_flame(s);
    return status;
}

enum { WIDE = 180, MOST_ROWS = 10000, HEADS = 2 };

/* Of both lists with their headings. */
static int lists_rows(const struct lab_run_want *want, bool wide)
{
    int steps =
        (want->steps < MOST_ROWS ? (int)want->steps : MOST_ROWS) + HEADS;
    int kernels =
        (want->kernels < MOST_ROWS ? (int)want->kernels : MOST_ROWS) + HEADS;
    return !wide ? steps + kernels : steps > kernels ? steps : kernels;
}

/* Two lines of facts at least, where there are no kernels four. */
static int facts_rows(struct lab_rect body, const struct lab_run_want *want,
                      bool wide)
{
    enum { LEAST = 3, LEAST_CPU = 5 };
    int facts = (want->facts < MOST_ROWS ? (int)want->facts : MOST_ROWS) + 1;
    int lists = lists_rows(want, wide);
    int room = body.h - lists > body.h / 5 ? body.h - lists : body.h / 5;
    facts = facts < room ? facts : room;
    int least = want->kernels > 0 ? LEAST : LEAST_CPU;
    return facts > least ? facts : least;
}

enum { LEAST_FLAME = 12, LEAST_STEPS = 3, LEAST_KERNELS = 2 };

static int flame_rows(int left)
{
    return left >= LEAST_FLAME ? left : 0;
}

/* Rows below lists that are whole; none where these are too few for a picture. */
static int left_over(struct lab_rect body, const struct lab_run_want *want)
{
    struct lab_run_want least = *want;
    least.steps = want->steps > LEAST_STEPS ? want->steps : LEAST_STEPS;
    least.kernels =
        want->kernels > LEAST_KERNELS ? want->kernels : LEAST_KERNELS;
    return flame_rows(body.h - lists_rows(&least, body.w >= WIDE) - 1);
}

/* The same below the kernels alone, where they are beside many steps. */
static int below_kernels(struct lab_rect body, const struct lab_run_want *want)
{
    const struct lab_run_want kernels = {0, LEAST_STEPS, want->kernels, true};
    return flame_rows(body.h - lists_rows(&kernels, true) - 1);
}

/* Without the text of what bounds a step. */
static struct lab_run_layout lay_out_lists(struct lab_rect body,
                                           const struct lab_run_want *want)
{
    struct lab_run_layout l = {0};
    int rows[3];
    bool wide = body.w >= WIDE;
    bool gpu = want->kernels > 0;
    /* A step has one or two kernels. */
    const struct lab_share parts[3] = {{facts_rows(body, want, wide), 0, 2},
                                       {5, gpu ? 2 : 1, 0},
                                       {gpu ? 4 : 2, gpu ? 1 : 0, gpu ? 1 : 2}};
    lab_layout_share(body.h, parts, 3, rows);
    l.facts = lab_rect_cut_top(&body, rows[0]);
    l.flame =
        lab_rect_cut_bottom(&body, want->flame ? left_over(body, want) : 0);
    if (wide) {
        l.steps = lab_rect_cut_left(&body, body.w * 9 / 20);
        if (want->flame && l.flame.h == 0)
            l.flame = lab_rect_cut_bottom(&body, below_kernels(body, want));
        l.kernels = body;
        return l;
    }
    if (l.flame.h > 0) {
        int kernels =
            want->kernels > LEAST_KERNELS ? (int)want->kernels : LEAST_KERNELS;
        l.kernels = lab_rect_cut_bottom(&body, kernels + HEADS);
        l.steps = body;
        return l;
    }
    l.steps = lab_rect_cut_top(&body, rows[1]);
    l.kernels = lab_rect_cut_top(&body, rows[2]);
    return l;
}

struct lab_run_layout lab_run_layout(struct lab_rect body,
                                     const struct lab_run_want *want)
{
    const int kernels =
        want->kernels > LEAST_KERNELS ? (int)want->kernels : LEAST_KERNELS;
    struct lab_run_layout l = lay_out_lists(body, want);
    const int spare = l.kernels.h - kernels - HEADS;
    if (want->why == 0)
        return l;
    if (body.w >= WIDE && spare >= want->why) {
        l.why = lab_rect_cut_bottom(&l.kernels, spare);
        return l;
    }
    const struct lab_rect why = lab_rect_cut_bottom(&body, want->why);
    l = lay_out_lists(body, want);
    l.why = why;
    return l;
}

/* The chosen kernel, or of the chosen step that of most time; NULL: none is listed. */
static const struct lab_time_sum *kernel_of(const struct run_state *st)
{
    int64_t at = lab_table_row(&st->kernels);
    if (st->pane != PANE_KERNELS && st->kernels_of < 0)
        return NULL;
    for (int64_t i = 0; st->pane != PANE_KERNELS && i < st->kernels.count; i++)
        if (st->kernel_rows[i].share > st->kernel_rows[at].share)
            at = i;
    return at < 0 ? NULL : &st->kernel_rows[at];
}

static const struct lab_time_sum *step_of(const struct run_state *st,
                                          const struct lab_time_sum *kernel)
{
    for (int64_t i = 0; kernel && i < st->steps.count; i++)
        if (st->step_rows[i].step_index == kernel->step_index)
            return &st->step_rows[i];
    return NULL;
}

/* What holds back the chosen step, or the chosen kernel, and what to try. */
static void draw_why(const struct run_state *st, struct lab_canvas *c,
                     struct lab_rect r)
{
    const struct lab_runs_model *m = st->args.model;
    bool kernel = st->pane == PANE_KERNELS && st->kernels.count > 0;
    int64_t at = lab_table_row(kernel ? &st->kernels : &st->steps);
    char title[160];
    struct lab_str text;
    if (at < 0 || lab_rect_empty(r))
        return;
    const struct lab_time_sum *s =
        kernel ? &st->kernel_rows[at] : &st->step_rows[at];
    const char *name = !kernel           ? lab_time_sum_step(s)
                       : s->kernel_short ? s->kernel_short
                                         : s->kernel;
    snprintf(title, sizeof(title), "What bounds %.100s%s%s", name ? name : "it",
             s->phase ? ", " : "", s->phase ? s->phase : "");
    lab_canvas_heading(c, &r, title, false);
    lab_str_init(&text);
    lab_str_addf(&text, "%s\n",
                 s->why ? s->why
                        : "Not known: no roofs of this device, or no formula "
                          "and no counters.");
    const struct lab_time_sum *k = kernel_of(st);
    if (m->add_advice && step_of(st, k))
        m->add_advice(m->user, st->args.run.id, step_of(st, k), k, &text);
    lab_canvas_paragraph(c, r, LAB_ROLE_NORMAL, lab_str_text(&text));
    lab_str_release(&text);
}

/* Where the time goes, the chosen step or kernel marked. */
static void draw_flame(struct run_state *st, struct lab_canvas *c,
                       struct lab_rect r)
{
    int64_t step = lab_table_row(&st->steps);
    int64_t kernel =
        st->pane == PANE_KERNELS ? lab_table_row(&st->kernels) : -1;
    st->flame_at = r;
    if (lab_rect_empty(r))
        return;
    lab_canvas_heading(c, &r, "Where the time goes: nodes, steps, kernels",
                       false);
    if (step >= 0)
        lab_flame_choose(&st->flame, &st->step_rows[step],
                         kernel < 0 ? NULL : &st->kernel_rows[kernel],
                         st->by_bound);
    lab_flame_draw(&st->flame, c, r);
}

/* Rows of what bounds any of the steps: the picture does not jump with the
 * cursor. */
static int why_rows(const struct run_state *st, const struct lab_canvas *c,
                    int w)
{
    enum { MOST = 3 };
    int rows = 1;
    for (int64_t i = 0; i < st->steps.count && rows < MOST; i++) {
        const char *why = st->step_rows[i].why;
        int n = why ? lab_canvas_paragraph_rows(c, w, MOST, why) : 1;
        rows = n > rows ? n : rows;
    }
    return rows + 1;
}

static void run_draw(struct lab_screen *s, struct lab_canvas *c,
                     struct lab_rect body)
{
    enum { WHY = 6, WITH_WHY = 40, WITH_SHORT = 20 };
    struct run_state *st = s->state;
    int why = body.h >= WITH_WHY     ? WHY
              : body.h >= WITH_SHORT ? why_rows(st, c, body.w)
                                     : 0;
    const struct lab_run_want want = {
        (int64_t)lab_pager_lines(&st->facts, body.w, c->ascii), st->steps.count,
        st->all_kernels ? st->kernels.count : st->most_kernels,
        st->flame.state != NULL,
        st->steps.count > 0 && !st->simulated ? why : 0};
    struct lab_run_layout l = lab_run_layout(body, &want);
    char title[160] = "Kernels";
    if (st->kernels_of < 0 && st->steps.count > 0)
        snprintf(title, sizeof(title), "Kernels of all steps");
    if (st->kernels_of >= 0)
        snprintf(title, sizeof(title), "Kernels of %s, %s",
                 lab_time_sum_step(&st->step_rows[st->kernels_of]),
                 st->step_rows[st->kernels_of].phase);
    if (l.facts.h > 0) {
        lab_canvas_heading(c, &l.facts, "Run", st->pane == PANE_FACTS);
        lab_pager_draw(&st->facts, c, l.facts);
    }
    draw_flame(st, c, l.flame);
    draw_why(st, c, l.why);
    lab_canvas_heading(c, &l.steps,
                       st->by_bound ? "Steps, colours by bound"
                                    : "Steps, colours by phase",
                       st->pane == PANE_STEPS);
    lab_table_draw(&st->steps, c, l.steps, st->pane == PANE_STEPS);
    if (l.kernels.h > 0) {
        lab_canvas_heading(c, &l.kernels, title, st->pane == PANE_KERNELS);
        if (st->most_kernels > 0)
            lab_table_draw(&st->kernels, c, l.kernels,
                           st->pane == PANE_KERNELS);
        else
            lab_canvas_text(c, l.kernels.y, l.kernels.x + 1, -1, LAB_ROLE_DIM,
                            st->steps.count == 0
                                ? "none: this run has no steps"
                                : "none: the steps ran on the CPU, or the run "
                                  "recorded no kernels");
    }
}

static void run_panes(struct lab_screen *s, struct lab_panes *out)
{
    struct run_state *st = s->state;
    *out = (struct lab_panes){
        .at = {[PANE_STEPS] = {.table = &st->steps},
               [PANE_KERNELS] = {.table = &st->kernels},
               [PANE_FACTS] = {.pager = &st->facts}},
        .count = PANE_COUNT,
        .chosen = &st->pane,
    };
}

/* The kernels follow the cursor in the steps. */
static void follow(struct lab_screen *s)
{
    struct run_state *st = s->state;
    int64_t step = st->all_kernels ? -1 : lab_table_row(&st->steps);
    if (step != st->kernels_of && load_kernels(st))
        lab_ui_error(s->ui);
}

/* The flame graph's rows are the model's, which the screen above had its own of. */
static void run_shown(struct lab_screen *s)
{
    open_flame(s);
}

/* A click on a block chooses its step. */
static bool run_mouse(struct lab_screen *s, enum lab_mouse what, int y, int x)
{
    struct run_state *st = s->state;
    struct lab_run_args at;
    if (what != LAB_MOUSE_CLICK || !lab_rect_has(st->flame_at, y, x))
        return false;
    if (lab_view_flame.mouse(&st->flame, what, y, x) &&
        !lab_view_flame.subject(&st->flame, LAB_OF_STEP, &at))
        select_step(st, &at);
    return true;
}

/* The chosen step, and the chosen kernel; without kernels the model has the
 * reason. */
static enum lab_status run_subject(struct lab_screen *s, enum lab_subject of,
                                   struct lab_run_args *out)
{
    const struct run_state *st = s->state;
    int64_t step = lab_table_row(&st->steps);
    int64_t kernel = lab_table_row(&st->kernels);
    if (of == LAB_OF_KERNEL && kernel < 0 && st->most_kernels > 0)
        return lab_fail(LAB_E_STATE, "%s", st->kernels.empty);
    *out = st->args;
    out->step = step < 0 ? NULL : lab_time_sum_step(&st->step_rows[step]);
    out->phase = step < 0 ? NULL : st->step_rows[step].phase;
    out->kernel = kernel < 0 ? NULL : &st->kernel_rows[kernel];
    return LAB_OK;
}

static enum lab_status open_what_if(struct lab_screen *s)
{
    struct lab_run_args args;
    enum lab_status st = run_subject(s, LAB_OF_KERNEL, &args);
    return st ? st : lab_ui_push(s->ui, &lab_view_what_if, &args);
}

static enum lab_status write_facts(void *user, struct lab_doc *out)
{
    struct run_state *st = user;
    const struct lab_runs_model *m = st->args.model;
    return m->write_facts(m->user, st->args.run.id, out);
}

/* From a step to its kernels, from a kernel to other numbers of its launch; the
 * facts on a screen of their own. */
static enum lab_status open_chosen(struct lab_screen *s)
{
    struct run_state *st = s->state;
    const struct lab_text_args facts = {"Facts", st, write_facts};
    if (st->pane == PANE_FACTS)
        return lab_ui_push(s->ui, &lab_view_text, &facts);
    if (st->pane == PANE_KERNELS || st->kernels.count == 0)
        return open_what_if(s);
    st->pane = PANE_KERNELS;
    return LAB_OK;
}

static enum lab_status turn_all_kernels(struct lab_screen *s)
{
    struct run_state *st = s->state;
    st->all_kernels = !st->all_kernels;
    return LAB_OK;
}

static enum lab_status turn_colors(struct lab_screen *s)
{
    struct run_state *st = s->state;
    st->by_bound = !st->by_bound;
    return LAB_OK;
}

static void run_title(struct lab_screen *s, char *out, size_t cap)
{
    struct run_state *st = s->state;
    char text[128];
    const char *lesson = lab_run_lesson_text(&st->args.run, text, sizeof(text));
    snprintf(out, cap, "Run %" PRId64 " %s", st->args.run.id,
             lesson ? lesson : "");
}

static const struct lab_binding BINDINGS[] = {
    {"Enter", true, "open", "a step's kernels, a kernel's what if, all facts",
     LAB_ACT_OPEN, open_chosen},
    LAB_VIEWS_OF_KERNEL,
    LAB_VIEWS_OF_RUN,
    LAB_VIEWS_OF_STEP,
    {"b F8", true, "bound", "colours by what holds a step back, or by phase",
     LAB_ACT_OWN, turn_colors},
    {"a F7", true, "all", "the kernels of all steps, or of the chosen one",
     LAB_ACT_OWN, turn_all_kernels},
    {"Tab", true, "pane", "steps, kernels or facts", LAB_ACT_NEXT_PANE},
    {"s F6", true, "sort", "sort by the next column", LAB_ACT_SORT},
    {"S", true, "reverse", "turn the order", LAB_ACT_SORT_TURN},
    {"/ F3", true, "search", "search for text", LAB_ACT_SEARCH},
    {"Esc", false, "back", "close this screen", LAB_ACT_CANCEL},
    {NULL}};

static const struct lab_sign SIGNS[] = {
    {"F L B U", "the bar is of a step forward, of the loss, backward, of the "
                "update"},
    {"M C L H ?", "after b: memory or cache, compute, latency, launches by the "
                  "host, unknown"},
    {"share", "of the time of all: the median, as often as it ran"},
    {"cum.", "its share with those of all that take longer; beyond 95 % rows "
             "are faint"},
    {NULL, NULL}};

const struct lab_screen_ops lab_view_run = {
    .name = "run",
    .title = "Run",
    .state_bytes = sizeof(struct run_state),
    .bindings = BINDINGS,
    .init = run_init,
    .release = run_release,
    .draw = run_draw,
    .panes = run_panes,
    .subject = run_subject,
    .mouse = run_mouse,
    .shown = run_shown,
    .after = follow,
    .title_now = run_title,
    .signs = SIGNS,
};
