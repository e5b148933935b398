/* The pane of steps: what has run, what is next, where the walk will stop. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "trace/record.h"
#include "base/format.h"
#include "stepper_priv.h"

/* ---- the line above ---- */

static bool loss_known(const struct lab_snapshot *snap)
{
    const struct lab_schedule *s = snap->schedule;
    int end = s->phase_first[LAB_LOSS + 1];
    return end > s->phase_first[LAB_LOSS] && snap->steps[end - 1].done;
}

static const char *doing(const struct lab_snapshot *snap)
{
    switch (snap->state) {
    case LAB_SESSION_STARTING:
        return "starting";
    case LAB_SESSION_WALKING:
        return "running ...";
    case LAB_SESSION_TRAINING:
        return "training ... (t shows it, Esc stops)";
    case LAB_SESSION_CHECKING:
        return "checking gradients ... (Esc stops)";
    case LAB_SESSION_FAILED:
        return "failed";
    default:
        return "";
    }
}

/* The check to name: of those that failed, else of all, the largest error. */
static const struct lab_check_result *worst_check(const struct lab_snapshot *s)
{
    const struct lab_check_result *worst = &s->checks[0];
    for (int i = 1; i < s->n_checks; i++) {
        const struct lab_check_result *k = &s->checks[i];
        bool larger = isnan(k->max_error) || k->max_error > worst->max_error;
        if (k->passed == worst->passed ? larger : worst->passed)
            worst = k;
    }
    return worst;
}

/* What the checks came to, in half a line of a small terminal; those that
 * failed are counted. */
static int checks_of(const struct lab_snapshot *snap, char *out, size_t cap)
{
    const struct lab_check_result *worst = worst_check(snap);
    int n = snap->n_checks;
    int bad = 0;
    for (int i = 0; i < n; i++)
        bad += !snap->checks[i].passed;
    if (n == 1)
        snprintf(out, cap, "gradient of %.40s %s, worst error %.1e",
                 worst->parameter, bad ? "is wrong" : "agrees",
                 worst->max_error);
    else if (bad)
        snprintf(out, cap, "%d of %d gradients wrong, worst error %.1e, %.24s",
                 bad, n, worst->max_error, worst->parameter);
    else
        snprintf(out, cap, "%d gradients agree, worst error %.1e, %.24s", n,
                 worst->max_error, worst->parameter);
    return bad;
}

/* What runs, or nothing. */
static void busy_text(const struct lab_snapshot *snap, char *out, size_t cap)
{
    if (snap->state == LAB_SESSION_CHECKING && snap->check_of > 0)
        snprintf(out, cap, "checking gradients: %lld of %lld (Esc stops)",
                 (long long)snap->check_done, (long long)snap->check_of);
    else
        snprintf(out, cap, "%s", doing(snap));
}

static void idle_text(const struct lab_snapshot *snap, struct lab_canvas *c,
                      int y, int x)
{
    const struct lab_schedule *s = snap->schedule;
    if (snap->position < s->n_steps)
        lab_canvas_textf(c, y, x, -1, LAB_ROLE_DIM, "next: %s",
                         s->steps[snap->position].step->name);
    else
        lab_canvas_text(c, y, x, -1, LAB_ROLE_GOOD, "done: s goes on");
}

/* What runs, or what was last found out; returns the columns used. */
static int first_words(const struct lab_snapshot *snap, struct lab_canvas *c,
                       struct lab_rect r)
{
    char text[160];
    busy_text(snap, text, sizeof(text));
    if (text[0])
        return lab_canvas_textf(c, r.y, r.x, r.w, LAB_ROLE_WARN, "%s   ", text);
    if (!snap->n_checks)
        return 0;
    int bad = checks_of(snap, text, sizeof(text));
    return lab_canvas_textf(c, r.y, r.x, r.w,
                            bad ? LAB_ROLE_BAD : LAB_ROLE_GOOD, "%s   ", text);
}

/* What is news goes first: a narrow line is cut at its end. */
void lab_stepper_state_line(const struct lab_stepper *v, struct lab_canvas *c,
                            struct lab_rect r)
{
    const struct lab_snapshot *snap = &v->snap;
    char loss[LAB_FORMAT_BYTES] = "not known yet";
    if (lab_rect_empty(r))
        return;
    if (loss_known(snap) || !isnan(snap->loss))
        lab_format_value(snap->loss, 8, loss, sizeof(loss));
    int x = r.x + first_words(snap, c, r);
    x += lab_canvas_textf(c, r.y, x, -1, LAB_ROLE_NORMAL,
                          "iteration %lld   step %d of %d   loss %s",
                          (long long)snap->iteration, snap->position,
                          snap->schedule->n_steps, loss);
    if (!doing(snap)[0])
        idle_text(snap, c, r.y, x + 3);
}

/* ---- breakpoints ---- */

static bool any_break(const struct lab_snapshot *snap, int first, int end)
{
    if (snap->n_breaks == 0)
        return false;
    for (int i = first; i < end; i++)
        if (lab_stepper_breaks_at(snap, i))
            return true;
    return false;
}

/* A watch stops behind one of these steps. */
static bool any_watch(const struct lab_snapshot *snap, int first, int end)
{
    for (int i = first; i < end; i++) {
        const struct lab_step *step = snap->schedule->steps[i].step;
        for (int k = 0; k < snap->n_breaks; k++)
            for (int o = 0; o < step->n_out && snap->breaks[k].watch; o++)
                if (step->out[o] >= 0 &&
                    strcmp(snap->plan->tensors[step->out[o]].name,
                           snap->breaks[k].step) == 0)
                    return true;
    }
    return false;
}

/* ---- rows ---- */

/* Time of the steps that ran, NaN when none did. */
static double time_of(const struct lab_snapshot *snap, int first, int end)
{
    double sum = NAN;
    for (int i = first; i < end; i++) {
        const struct lab_step_status *s = &snap->steps[i];
        if (s->exec > 0 && s->time_ns != LAB_UNKNOWN)
            sum = (isnan(sum) ? 0 : sum) + (double)s->time_ns;
    }
    return sum;
}

static bool all_done(const struct lab_snapshot *snap, int first, int end)
{
    for (int i = first; i < end; i++)
        if (!snap->steps[i].done)
            return false;
    return end > first;
}

/* Returns the columns it took. */
static int row_time(const struct lab_stepper *v, struct lab_canvas *c,
                    struct lab_rect row, const struct lab_tree_item *item)
{
    char text[LAB_FORMAT_BYTES];
    double ns = time_of(&v->snap, item->first, item->end);
    if (isnan(ns))
        return 0;
    lab_format_ns(ns, text, sizeof(text));
    int w = lab_canvas_columns(c, text);
    if (w + 10 >= row.w)
        return 0;
    lab_canvas_text(c, row.y, row.x + row.w - w, w, LAB_ROLE_DIM, text);
    return w + 1;
}

static void draw_row(const struct lab_stepper *v, struct lab_canvas *c,
                     struct lab_rect row, int index)
{
    const struct lab_snapshot *snap = &v->snap;
    const struct lab_tree_item *item = &v->tree.items[index];
    bool header = item->step < 0;
    bool in_sight = !header || item->folded; /* else a row below says it */
    bool next = snap->position >= item->first && snap->position < item->end;
    bool done = all_done(snap, item->first, item->end);
    int time_w = row_time(v, c, row, item);
    int x = row.x;
    lab_canvas_text(c, row.y, x, 1, LAB_ROLE_TITLE,
                    next && in_sight ? ">" : " ");
    if (in_sight && any_break(snap, item->first, item->end))
        lab_canvas_text(c, row.y, x + 1, 1, LAB_ROLE_BAD, "B");
    else if (in_sight && any_watch(snap, item->first, item->end))
        lab_canvas_text(c, row.y, x + 1, 1, LAB_ROLE_WARN, "W");
    if (done)
        lab_canvas_text(c, row.y, x + 2, 1, LAB_ROLE_GOOD, "✓");
    x += 3 + item->depth;
    if (header)
        lab_canvas_text(c, row.y, x, 1, LAB_ROLE_DIM, item->folded ? "+" : "-");
    x += 2;
    enum lab_role role = header                         ? LAB_ROLE_HEADING
                         : item->step == snap->position ? LAB_ROLE_TITLE
                                                        : LAB_ROLE_NORMAL;
    int room = row.x + row.w - x - time_w;
    lab_canvas_text_cut(c, row.y, x, room, role, item->name);
    if (index == v->item)
        lab_canvas_paint(c, row,
                         v->focus == LAB_PANE_STEPS ? LAB_ROLE_SELECTED
                                                    : LAB_ROLE_CURSOR);
}

void lab_stepper_draw_steps(struct lab_stepper *v, struct lab_canvas *c,
                            struct lab_rect r)
{
    const struct lab_step_tree *t = &v->tree;
    int chosen = lab_step_tree_row(t, v->item);
    if (chosen < v->tree_top) {
        v->tree_top = chosen; /* with the headers that it stands under */
        while (v->tree_top > 0 && t->items[t->rows[v->tree_top]].parent ==
                                      t->rows[v->tree_top - 1])
            v->tree_top--;
    }
    if (chosen >= v->tree_top + r.h)
        v->tree_top = chosen - r.h + 1;
    if (v->tree_top > t->n_rows - r.h)
        v->tree_top = t->n_rows - r.h;
    if (v->tree_top < 0)
        v->tree_top = 0;
    for (int y = 0; y < r.h && v->tree_top + y < t->n_rows; y++)
        draw_row(v, c, (struct lab_rect){r.y + y, r.x, 1, r.w},
                 t->rows[v->tree_top + y]);
    if (t->n_rows == 0)
        lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_DIM, "no steps");
}

/* ---- keys ---- */

static void go_row(struct lab_stepper *v, int64_t row)
{
    const struct lab_step_tree *t = &v->tree;
    if (t->n_rows == 0)
        return;
    row = row < 0 ? 0 : row >= t->n_rows ? t->n_rows - 1 : row;
    lab_stepper_choose_item(v, t->rows[row]);
}

/* Left: fold, or up to the header. Right: unfold, or down into it. */
static void sideways(struct lab_stepper *v, bool left)
{
    const struct lab_tree_item *item = &v->tree.items[v->item];
    bool header = item->step < 0;
    if (left && header && !item->folded)
        lab_step_tree_fold(&v->tree, v->item, true);
    else if (left && item->parent >= 0)
        lab_stepper_choose_item(v, item->parent);
    else if (!left && header && item->folded)
        lab_step_tree_fold(&v->tree, v->item, false);
    else if (!left && header)
        lab_stepper_choose_item(v, v->item + 1);
}

static void open_item(struct lab_stepper *v)
{
    const struct lab_tree_item *item = &v->tree.items[v->item];
    if (item->step < 0)
        lab_step_tree_fold(&v->tree, v->item, !item->folded);
    else
        lab_stepper_focus(v, LAB_PANE_TENSOR);
}

bool lab_stepper_steps_action(struct lab_stepper *v, int action)
{
    int64_t row = lab_step_tree_row(&v->tree, v->item);
    int64_t page =
        v->view_h[LAB_PANE_STEPS] > 1 ? v->view_h[LAB_PANE_STEPS] - 1 : 1;
    if (v->item < 0)
        return false;
    switch (action) {
    case LAB_ACT_UP:
        go_row(v, row - 1);
        return true;
    case LAB_ACT_DOWN:
        go_row(v, row + 1);
        return true;
    case LAB_ACT_PAGE_UP:
        go_row(v, row - page);
        return true;
    case LAB_ACT_PAGE_DOWN:
        go_row(v, row + page);
        return true;
    case LAB_ACT_FIRST:
        go_row(v, 0);
        return true;
    case LAB_ACT_LAST:
        go_row(v, v->tree.n_rows - 1);
        return true;
    case LAB_ACT_LEFT:
    case LAB_ACT_RIGHT:
        sideways(v, action == LAB_ACT_LEFT);
        return true;
    case LAB_ACT_OPEN:
        open_item(v);
        return true;
    default:
        return false;
    }
}
