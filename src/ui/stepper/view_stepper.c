/* view_stepper.c -- the stepper's screen: the list of steps, one tensor as a
 * picture or as numbers, the panes of text beside it, the keys, and the typed
 * commands. */
#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/format.h"
#include "base/mem.h"
#include "base/quantile.h"
#include "base/str.h"
#include "engine/formula.h"
#include "engine/board.h"
#include "board.h"
#include "engine/setup.h"
#include "labels.h"
#include "engine/sim_backend.h"
#include "report/counters_text.h"
#include "report/doc.h"
#include "step_tree.h"
#include "stepper_priv.h"
#include "trace/intern.h"
#include "trace/record.h"
#include "ui/chart.h"
#include "ui/diagram.h"
#include "ui/heat.h"
#include "ui/pager.h"
#include "ui/stepper.h"
#include "debug/kernel_walk.h"
#include "ui/kernel.h"
#include "ui/ui.h"
#include "ui/views.h"

static int largest(int a, int b)
{
    return a > b ? a : b;
}

/* ==== the boxes of the plan's network: the data, its nodes, the loss; a block or a
 * recurrence as one box, or opened as those in it ==== */

void lab_network_release(struct lab_network *n)
{
    lab_diagram_release(&n->picture);
    lab_free(n->items);
    lab_free(n->of_step);
    lab_free(n->open);
    memset(n, 0, sizeof(*n));
}

/* ---- what belongs together ---- */

static int last_node(const struct lab_plan *plan)
{
    return plan->loss_node >= 0 && plan->loss_node < plan->n_nodes
               ? plan->loss_node
               : plan->n_nodes - 1;
}

/* Behind the last inner node of the block that begins at `node`. */
static int block_end(const struct lab_plan *plan, int node)
{
    const struct lab_node *first = &plan->nodes[node];
    size_t n = strcspn(first->id, ".");
    int end = node + 1;
    while (first->outer && end < plan->n_nodes && plan->nodes[end].outer &&
           strncmp(plan->nodes[end].id, first->id, n) == 0 &&
           strchr(".", plan->nodes[end].id[n]))
        end++;
    return end;
}

/* The number that ends the name of a step, "gates.3"; -1: none. */
static int number_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    if (!dot || dot[1] < '0' || dot[1] > '9')
        return -1;
    return atoi(dot + 1);
}

/* Steps in time of a node's forward phase; 0: it has none. */
static int times_of(const struct lab_schedule *s, int node)
{
    int most = 0;
    for (int i = 0; i < s->phase_first[LAB_FORWARD + 1]; i++) {
        int k = s->steps[i].depth_node == node
                    ? number_of(s->steps[i].step->name)
                    : -1;
        most = k + 1 > most ? k + 1 : most;
    }
    return most;
}

/* ---- texts ---- */

static double parameters_of(const struct lab_plan *plan, int first, int end)
{
    double sum = 0;
    for (int i = 0; i < plan->n_tensors; i++)
        if (plan->tensors[i].role == LAB_TENSOR_PARAM &&
            plan->tensors[i].node >= first && plan->tensors[i].node < end)
            sum += (double)plan->tensors[i].count;
    return sum;
}

/* "8x6x24" */
static void dims_text(const struct lab_shape *s, char *out, size_t cap)
{
    size_t used = 0;
    for (int i = 0; i < s->rank && used < cap; i++)
        used += (size_t)snprintf(out + used, cap - used, "%s%lld", i ? "x" : "",
                                 (long long)s->dim[i]);
}

static bool add_box(struct lab_network *n, const struct lab_plan *plan,
                    const char *name, struct lab_network_item item)
{
    size_t at = (size_t)n->picture.n;
    struct lab_network_item *more =
        lab_realloc_array(n->items, at + 1, sizeof(*more));
    if (!more)
        return false;
    n->items = more;
    n->items[at] = item;
    struct lab_diagram_box *b = lab_diagram_add(&n->picture, name);
    if (!b)
        return false;
    int out = item.first < 0 ? plan->x : plan->nodes[item.end - 1].out;
    if (out >= 0 && item.at < 0)
        dims_text(&plan->tensors[out].shape, b->text[0], sizeof(b->text[0]));
    if (item.times > 0)
        snprintf(b->name, sizeof(b->name), "%.30s x%d", name, item.times);
    b->folded = item.times > 0 || item.end - item.first > 1;
    return true;
}

/* ---- boxes ---- */

static bool add_times(struct lab_network *n, const struct lab_plan *plan,
                      int node, int times)
{
    for (int t = 0; t < times; t++) {
        char name[40];
        snprintf(name, sizeof(name), "%.28s[%d]", plan->nodes[node].id, t);
        if (!add_box(n, plan, name,
                     (struct lab_network_item){node, node + 1, t, 0, node}))
            return false;
    }
    return true;
}

static bool add_node(struct lab_network *n, const struct lab_plan *plan,
                     const struct lab_schedule *s, int node, const char *name,
                     int part_of)
{
    int times = times_of(s, node);
    if (times > 1 && n->open[node] && part_of < 0)
        return add_times(n, plan, node, times);
    return add_box(
        n, plan, name,
        (struct lab_network_item){
            node, node + 1, -1, times > 1 && part_of < 0 ? times : 0, part_of});
}

static bool add_nodes(struct lab_network *n, const struct lab_plan *plan,
                      const struct lab_schedule *s)
{
    const char *data = plan->x >= 0 ? plan->tensors[plan->x].name : "data";
    if (!add_box(n, plan, data, (struct lab_network_item){-1, -1, -1, 0, -1}))
        return false;
    for (int i = 0; i <= last_node(plan);) {
        int end = block_end(plan, i);
        char name[40];
        snprintf(name, sizeof(name), "%s", plan->nodes[i].id);
        if (end == i + 1) {
            if (!add_node(n, plan, s, i, name, -1))
                return false;
        } else if (n->open[i]) {
            for (int k = i; k < end; k++)
                if (!add_node(n, plan, s, k, plan->nodes[k].id, i))
                    return false;
        } else {
            name[strcspn(name, ".")] = '\0';
            if (!add_box(n, plan, name,
                         (struct lab_network_item){i, end, -1, 0, -1}))
                return false;
        }
        i = end;
    }
    return true;
}

/* The last box of a node. */
static int box_of(const struct lab_network *n, int node)
{
    for (int i = n->picture.n - 1; i >= 0; i--)
        if (node >= n->items[i].first && node < n->items[i].end)
            return i;
    return 0; /* data */
}

static void join_boxes(struct lab_network *n, const struct lab_plan *plan)
{
    for (int i = 1; i < n->picture.n; i++) {
        const struct lab_network_item *item = &n->items[i];
        if (item->at > 0) { /* reads the step in time before it */
            lab_diagram_join(&n->picture, i - 1, i);
            continue;
        }
        for (int node = item->first; node < item->end; node++)
            for (int k = 0; k < plan->nodes[node].n_in; k++) {
                int t = plan->nodes[node].in[k];
                int from = t < 0 ? -1 : plan->tensors[t].node;
                if (t >= 0 && (from < item->first || from >= item->end))
                    lab_diagram_join(&n->picture,
                                     from < 0 ? 0 : box_of(n, from), i);
            }
    }
}

static void map_steps(struct lab_network *n, const struct lab_schedule *s)
{
    for (int i = 0; i < s->n_steps; i++) {
        int node = s->steps[i].depth_node;
        int t = number_of(s->steps[i].step->name);
        n->of_step[i] = -1;
        for (int k = 0; k < n->picture.n; k++) {
            const struct lab_network_item *item = &n->items[k];
            if (node >= item->first && node < item->end &&
                (item->at < 0 || item->at == t || n->of_step[i] < 0))
                n->of_step[i] = k;
        }
    }
}

enum lab_status lab_network_build(struct lab_network *n,
                                  const struct lab_plan *plan,
                                  const struct lab_schedule *schedule)
{
    lab_diagram_clear(&n->picture);
    if (n->n_nodes != plan->n_nodes) {
        lab_free(n->open);
        n->n_nodes = 0;
        n->open = lab_alloc_array((size_t)plan->n_nodes + 1, sizeof(*n->open));
        if (!n->open)
            return lab_no_memory("the network's picture");
        n->n_nodes = plan->n_nodes;
    }
    lab_free(n->of_step);
    n->of_step =
        lab_alloc_array((size_t)schedule->n_steps + 1, sizeof(*n->of_step));
    if (!n->of_step || !add_nodes(n, plan, schedule)) {
        lab_diagram_clear(&n->picture);
        return lab_no_memory("the network's picture");
    }
    join_boxes(n, plan);
    map_steps(n, schedule);
    for (int i = 0; i < n->picture.n; i++) {
        double params =
            n->items[i].first < 0 || n->items[i].at > 0
                ? 0
                : parameters_of(plan, n->items[i].first, n->items[i].end);
        const char *text = LAB_AMOUNT_TEXT(params, "");
        int digits = (int)strlen(text);
        digits -= digits > 0 && text[digits - 1] == ' ';
        if (params > 0)
            snprintf(n->picture.box[i].text[1],
                     sizeof(n->picture.box[i].text[1]), "%.*s par", digits,
                     text);
    }
    return LAB_OK;
}

/* Opens the box, or closes what it is a part of; false: it is one node. */
static bool lab_network_turn(struct lab_network *n, int box)
{
    const struct lab_network_item *item = &n->items[box];
    if (item->first < 0)
        return false;
    if (n->picture.box[box].folded) {
        n->open[item->first] = true;
        return true;
    }
    if (item->part_of >= 0)
        n->open[item->part_of] = false;
    return item->part_of >= 0;
}

/* ---- what changes while it runs ---- */

/* Shares of the time, and which box is lit: that of the schedule's step. */
static void lab_network_update(struct lab_network *n,
                               const struct lab_snapshot *snap, int step)
{
    double all = 0;
    struct lab_diagram *d = &n->picture;
    int steps = snap->schedule->n_steps;
    d->lit = step >= 0 && step < steps && d->n ? n->of_step[step] : -1;
    d->backward = step >= 0 && step < steps &&
                  snap->schedule->steps[step].step->phase == LAB_BACKWARD;
    for (int i = 0; i < d->n; i++)
        d->box[i].share = NAN;
    for (int i = 0; i < steps && d->n; i++) {
        double ns = lab_to_real(snap->steps[i].time_ns);
        int k = n->of_step[i];
        if (k < 0 || snap->steps[i].exec <= 0 || isnan(ns))
            continue;
        all += ns;
        d->box[k].share = (isnan(d->box[k].share) ? 0 : d->box[k].share) + ns;
    }
    for (int i = 0; i < d->n && all > 0; i++)
        d->box[i].share /= all;
}

/* The schedule's step to go to for a box: its first in `phase`, else in any; -1:
 * none. */
static int lab_network_step(const struct lab_network *n,
                            const struct lab_schedule *s, int box, int phase)
{
    int any = -1;
    for (int i = 0; i < s->n_steps; i++) {
        if (n->of_step[i] != box)
            continue;
        if ((int)s->steps[i].step->phase == phase)
            return i;
        any = any < 0 ? i : any;
    }
    return any;
}

/* ---- the state ---- */

enum { ASK_RESTART = 1, ASK_LEAVE, ASK_SAVE };
/* What is drawn where room is left: see `fillers`. */
enum filler {
    FILL_PAST,
    FILL_PAIR,
    FILL_TERMS,
    FILL_SUM,
    FILL_CURVE,
    FILL_TRAFFIC,
    FILL_LETTERS,
    FILL_ORDER,
    FILL_LARGEST,
    FILLERS
};
enum { TAKEN = 64 }; /* drawings of a frame with blanks that are theirs */
enum { TENSORS = LAB_STEP_IN + LAB_STEP_OUT, KERNELS = 64, NUMBER_W = 10 };
enum {
    BOARD_H = 15, /* the least that a blackboard takes */
    BOARD_W = 56,
    BOARD_AROUND = 4 /* rows of the screen around it */
};

/* How a tensor is looked at; kept for each, so that it comes back so. */
struct look {
    bool set;
    bool picture; /* one row, folded to a square */
    bool sheeted; /* its contact sheet was open */
    int hidden;   /* axis that [ and ] move along, -1: none */
    struct lab_show show;
    int64_t row; /* the cursor, in the plane shown */
    int64_t col;
};

/* Of a contact sheet, where the picture of a slice is, its rows' and its columns' labels. */
struct tile {
    struct lab_rect side; /* empty: none */
    struct lab_rect above;
    struct lab_rect cells;
};

/* What the lesson's pane shows when it is no step's text. */
enum { TEXT_NONE = -2, TEXT_OPENING = -1 };

struct lab_stepper {
    struct lab_ui *ui;
    struct lab_stepper_model model;
    struct lab_train_left train_left;
    struct lab_snapshot snap; /* version 0: none yet */
    enum lab_stepper_pane focus;
    enum lab_stepper_pane tab; /* of the shared place */
    bool zoom;
    struct lab_pane_sizes sizes;      /* the configuration's, then by keys */
    struct lab_stepper_layout layout; /* as last drawn */
    struct lab_stepper_needs needs;   /* of the panes, for step `needs_of` */
    int needs_of;
    int64_t needs_done; /* steps that have run then */
    int needs_w;        /* columns of the explanation when they were measured */
    bool numbers;       /* the tensor as numbers, else as a heat map */
    bool stay;          /* the next stop is at a step not run yet */
    bool goes_into;     /* the kernels of step `into`, once the walk is there */
    int into;
    bool was_inside;  /* kernels of a step were walked */
    char found[1024]; /* a finding that stopped the walk, shown; "": none */
    struct lab_kernel_goal goal; /* where it is */
    bool pinned; /* the source of an explained number is looked at */
    bool walked; /* a command of ours has been posted since */
    int refused; /* commands that met a training */

    struct lab_network network;
    bool on_network;      /* the keys move in its picture */
    struct lab_rect body; /* of the frame that was drawn last */
    struct lab_step_tree tree;
    int item; /* chosen item of the tree */
    int64_t tree_top;
    int step;             /* chosen step, -1: none */
    int tensors[TENSORS]; /* of the chosen step: in, then out */
    int n_tensors;
    int n_in;
    int tensor;         /* looked at, -1: none */
    struct look *looks; /* plan->n_tensors of them */
    int n_looks;
    int64_t asked_ns;      /* when: monotonic */
    bool long_step;        /* what is at work takes long */
    struct lab_str launch; /* the simulated one that runs, "": none */
    bool held;             /* a frame waits for the plane that belongs to it */
    struct lab_show asked; /* last posted */
    struct lab_element explained; /* last posted; tensor -1: none */
    int64_t *marks; /* source elements in the plane shown, ascending */
    int64_t n_marks;
    int64_t cursor;  /* in the plane, as last drawn; -1: not in it */
    int64_t num_top; /* scroll of the numbers */
    int64_t num_left;
    struct lab_rect cells;     /* the picture or the numbers, as last drawn */
    struct lab_heat_room room; /* of the picture, or of each of a sheet */
    struct {
        int64_t first;   /* slice at the top left, as last drawn */
        int64_t per_row; /* 0: no sheet is shown */
        int64_t rows;
        int tile_h; /* with its title and the space between two */
        int tile_w;
        struct tile at; /* below the title of one at the top left */
    } sheet;
    struct {
        bool off;  /* the tensor alone, by choice */
        bool room; /* as last drawn */
        int step;  /* of the schedule, that `slot` is of */
        int slot;  /* output */
        struct lab_board_view view;
        struct lab_show asked[LAB_BOARD_PARTS]; /* last posted */
        int n_asked;
    } board;
    struct {
        bool on;        /* where the tensor is a part of an lstm */
        int64_t sample; /* of the batch */
    } gates;
    struct lab_rect tabs[LAB_PANE_COUNT]; /* their titles; w 0: not drawn */
    struct lab_rect chips[TENSORS];

    struct lab_rect explain_at; /* the explanation, as last drawn */
    size_t first_term;          /* the paragraph of its first term */
    int term;                   /* chosen term of the explanation */
    bool brief;                 /* terms are short: the pane is narrow */
    int source;                 /* chosen source of that term */
    struct lab_doc doc[LAB_PANE_COUNT]; /* of the panes of text */
    struct lab_pager pager[LAB_PANE_COUNT];

    struct {
        const struct lab_variant *of; /* that `doc` is of; NULL: none */
        struct lab_doc doc;
        struct lab_pager pager;
        bool shown;               /* in this frame */
    } source_text;                /* of the step, where a board leaves room */
    unsigned filled[FILLERS];     /* in this frame: a bit for each tensor */
    struct lab_rect taken[TAKEN]; /* in this frame */
    int n_taken;
    const struct lab_plane
        *listed[LAB_BOARD_PARTS]; /* a line of it is in sight */
    int n_listed;

    struct lab_stepper_kernel *kernels;
    int n_kernels;      /* -1: not known */
    int64_t kernels_of; /* exec they were read for */
    int text_step;      /* the lesson's: TEXT_NONE, TEXT_OPENING or a step */
    int text_columns;
    int text_rows;

    struct {
        int node;
        int step; /* of the schedule, that the times are of; -1: none */
        struct lab_candidate list[LAB_CANDIDATES];
        int n; /* 0: the list is closed; with the two rows that are none */
        int cursor;
        int first;             /* the row on top, as last drawn */
        struct lab_rect inner; /* and where the rows are */
    } variants;
    char search[64];
    struct lab_command again; /* the restart that is asked about */
    struct lab_command save;  /* the file that is asked about */
    bool ends_training;       /* for a restart: its message stays */
};

/* What the lesson's text is about now; all NULL: its introduction. */
struct topic {
    const char *step;
    const char *node;
    const char *phase;
};

/* ---- which part of a tensor is looked at ---- */

/* Further than any tensor reaches, and small enough to multiply. */
#define FAR ((int64_t)1 << 40)

static const struct lab_tensor *tensor_of(const struct lab_stepper *v)
{
    return &v->snap.plan->tensors[v->tensor];
}

static struct look *look_now(const struct lab_stepper *v)
{
    return v->tensor >= 0 ? &v->looks[v->tensor] : NULL;
}

static int64_t axis_size(const struct lab_shape *s, int axis)
{
    return axis >= 0 && axis < s->rank ? s->dim[axis] : 1;
}

static bool same_show(const struct lab_show *a, const struct lab_show *b)
{
    if (a->tensor != b->tensor || a->row_axis != b->row_axis ||
        a->col_axis != b->col_axis || a->row_first != b->row_first ||
        a->col_first != b->col_first || a->sheet != b->sheet ||
        a->tile_first != b->tile_first)
        return false;
    /* Which slice of a sheet is chosen makes no difference. */
    for (int i = 0; i < LAB_MAX_RANK; i++)
        if (a->fixed[i] != b->fixed[i] && i != a->sheet - 1)
            return false;
    return true;
}

/* What of an axis a plane can hold. */
static int64_t extent(const struct lab_shape *s, int axis, int64_t first,
                      int64_t most)
{
    int64_t n = axis_size(s, axis) - first;
    return n < 1 ? 1 : n > most ? most : n;
}

/* The first row (or column) of a window of `n` out of `all` that has `at`;
 * stays where it is when it can. */
static int64_t window(int64_t first, int64_t n, int64_t all, int64_t at)
{
    if (at >= first && at < first + n)
        return first;
    first = at - n / 2;
    return first < 0 ? 0 : first > all - n ? all - n : first;
}

/* A very large plane comes in pieces: the one with the cursor in it. */
static void cut_to_window(const struct lab_shape *shape, struct look *look)
{
    struct lab_show *show = &look->show;
    int64_t rows = axis_size(shape, show->row_axis);
    int64_t cols = axis_size(shape, show->col_axis);
    if (rows <= LAB_PLANE_ELEMENTS / (cols < LAB_PLANE_ELEMENTS ? cols : 1) &&
        cols <= LAB_PLANE_ELEMENTS) {
        show->row_first = 0;
        show->col_first = 0;
        return;
    }
    int64_t w = cols < LAB_PLANE_ELEMENTS ? cols : LAB_PLANE_ELEMENTS;
    show->col_first = window(show->col_first, w, cols, look->col);
    w = extent(shape, show->col_axis, show->col_first, LAB_PLANE_ELEMENTS);
    int64_t h = LAB_PLANE_ELEMENTS / w;
    h = h < rows ? h : rows;
    show->row_first = window(show->row_first, h, rows, look->row);
}

/* Of many slices as many as a sheet has room for, the chosen one among them. */
static void cut_to_tiles(const struct lab_shape *shape, struct lab_show *show)
{
    const int64_t cols =
        extent(shape, show->col_axis, show->col_first, LAB_PLANE_ELEMENTS);
    const int64_t rows = extent(shape, show->row_axis, show->row_first,
                                LAB_PLANE_ELEMENTS / cols);
    const int64_t room = lab_show_room(rows * cols);
    show->tile_first =
        show->sheet ? show->fixed[show->sheet - 1] / room * room : 0;
}

/* for the plane looked at */
static void ask_plane(struct lab_stepper *v)
{
    struct look *look = look_now(v);
    if (look)
        cut_to_window(&tensor_of(v)->shape, look);
    if (look)
        cut_to_tiles(&tensor_of(v)->shape, &look->show);
    if (!look || same_show(&look->show, &v->asked))
        return;
    struct lab_command cmd = {.kind = LAB_DO_SHOW, .show = look->show};
    v->asked = look->show;
    v->asked_ns = lab_clock_monotonic_ns();
    v->num_top = 0;
    v->num_left = 0;
    if (v->model.post(v->model.session, &cmd))
        lab_ui_error(v->ui);
}

static bool is_shown(const struct lab_show *show, int axis)
{
    return axis == show->row_axis || axis == show->col_axis;
}

/* The first axis from `from` on, going `dir`, that is not shown; -1: none. */
static int hidden_axis(const struct look *look, int rank, int from, int dir)
{
    for (int i = 0; i < rank; i++) {
        int axis = ((from + dir * i) % rank + rank) % rank;
        if (!is_shown(&look->show, axis))
            return axis;
    }
    return -1;
}

/* As a tensor opens. */
static void look_first(const struct lab_plan *plan, int tensor,
                       struct look *look)
{
    memset(look, 0, sizeof(*look));
    look->set = true;
    lab_show_first(plan, tensor, &look->show);
    look->hidden = hidden_axis(look, plan->tensors[tensor].shape.rank, 0, 1);
}

static void look_at(struct lab_stepper *v, int tensor)
{
    v->tensor = tensor;
    struct look *look = look_now(v);
    if (!look)
        return;
    if (!look->set)
        look_first(v->snap.plan, tensor, look);
    ask_plane(v);
}

/* Whether the snapshot holds the plane that is asked for. */
static bool plane_ready(const struct lab_stepper *v)
{
    const struct lab_plane *p = &v->snap.plane;
    const struct look *look = look_now(v);
    return look && p->tensor == v->tensor && p->value &&
           same_show(&p->show, &look->show);
}

/* Coordinates of the cursor, and its row or column in them. */
static void cursor_place(const struct look *look, int64_t at[LAB_MAX_RANK])
{
    memcpy(at, look->show.fixed, sizeof(look->show.fixed));
    if (look->show.row_axis >= 0)
        at[look->show.row_axis] = look->row;
    if (look->show.col_axis >= 0)
        at[look->show.col_axis] = look->col;
}

static int64_t along(const int64_t at[LAB_MAX_RANK], int axis)
{
    return axis >= 0 ? at[axis] : 0;
}

/* The element under the cursor; index -1: none. */
static struct lab_element cursor_element(const struct lab_stepper *v)
{
    int64_t at[LAB_MAX_RANK];
    const struct lab_shape *shape = &tensor_of(v)->shape;
    cursor_place(&v->looks[v->tensor], at);
    return (struct lab_element){v->tensor,
                                lab_shape_ravel(shape, at, shape->rank)};
}

static void goto_element(struct lab_stepper *v, struct lab_element e)
{
    int64_t at[LAB_MAX_RANK];
    if (e.tensor < 0 || e.tensor >= v->n_looks)
        return;
    look_at(v, e.tensor);
    struct look *look = look_now(v);
    const struct lab_shape *shape = &tensor_of(v)->shape;
    lab_shape_unravel(shape, e.index, at);
    for (int i = 0; i < shape->rank; i++)
        if (!is_shown(&look->show, i))
            look->show.fixed[i] = at[i];
    look->row = along(at, look->show.row_axis);
    look->col = along(at, look->show.col_axis);
    ask_plane(v);
}

static void explain_cursor(struct lab_stepper *v)
{
    struct lab_command cmd = {.kind = LAB_DO_EXPLAIN};
    if (v->tensor < 0)
        return;
    cmd.element = cursor_element(v);
    if (cmd.element.index < 0)
        return;
    v->explained = cmd.element;
    v->term = 0;
    v->source = 0;
    lab_pager_action(&v->pager[LAB_PANE_EXPLAIN], LAB_ACT_FIRST);
    if (v->model.post(v->model.session, &cmd))
        lab_ui_error(v->ui);
}

/* ---- source elements ---- */

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Rows and columns of the plane that is asked for. */
static void plane_size(const struct lab_stepper *v, int64_t *rows,
                       int64_t *cols)
{
    const struct lab_show *show = &v->looks[v->tensor].show;
    const struct lab_shape *shape = &tensor_of(v)->shape;
    *cols = extent(shape, show->col_axis, show->col_first, LAB_PLANE_ELEMENTS);
    *rows = extent(shape, show->row_axis, show->row_first,
                   LAB_PLANE_ELEMENTS / *cols);
}

/* Index of (row, col) in the plane that is asked for, -1: not in it. */
static int64_t in_plane(const struct lab_stepper *v, int64_t row, int64_t col)
{
    const struct lab_show *show = &v->looks[v->tensor].show;
    int64_t rows;
    int64_t cols;
    plane_size(v, &rows, &cols);
    row -= show->row_first;
    col -= show->col_first;
    bool inside = row >= 0 && row < rows && col >= 0 && col < cols;
    return inside ? row * cols + col : -1;
}

/* Place of a flat index in the plane, -1: it is in another slice. */
static int64_t place_in_plane(const struct lab_stepper *v, int64_t flat)
{
    int64_t at[LAB_MAX_RANK];
    const struct lab_show *show = &look_now(v)->show;
    const struct lab_shape *shape = &tensor_of(v)->shape;
    lab_shape_unravel(shape, flat, at);
    for (int i = 0; i < shape->rank; i++)
        if (!is_shown(show, i) && at[i] != show->fixed[i])
            return -1;
    return in_plane(v, along(at, show->row_axis), along(at, show->col_axis));
}

static void mark_sources(struct lab_stepper *v)
{
    const struct lab_explanation *e = &v->snap.explanation;
    v->n_marks = 0;
    if (e->tensor < 0 || v->tensor < 0 || e->n_terms < 1)
        return;
    int64_t *more = lab_realloc_array(
        v->marks, (size_t)e->n_terms * LAB_TERM_SOURCES, sizeof(*more));
    if (!more)
        return; /* no marks are better than no screen */
    v->marks = more;
    for (int64_t i = 0; i < e->n_terms; i++) {
        for (int k = 0; k < e->terms[i].n_sources; k++) {
            const struct lab_element *s = &e->terms[i].source[k];
            int64_t place =
                s->tensor == v->tensor ? place_in_plane(v, s->index) : -1;
            if (place >= 0)
                v->marks[v->n_marks++] = place;
        }
    }
    qsort(v->marks, (size_t)v->n_marks, sizeof(*v->marks), by_value);
}

/* ---- keys ---- */

static int64_t clamp(int64_t n, int64_t most)
{
    return n < 0 ? 0 : n > most ? most : n;
}

/* Elements in a row of the picture when one row is folded; 0: as it fits. */
static int64_t fold_of(const struct lab_stepper *v)
{
    const struct look *look = look_now(v);
    int64_t n = axis_size(&tensor_of(v)->shape, look->show.col_axis);
    return look->picture ? (int64_t)ceil(sqrt((double)n)) : 0;
}

/* Whether the step's blackboard is in the tensor's pane. */
static bool board_shown(const struct lab_stepper *v)
{
    return v->board.room && !v->board.off && !v->numbers;
}

/* The part of the blackboard that the cursor is in; -1: none, or it is not
 * shown. */
static int board_part_now(const struct lab_stepper *v)
{
    return board_shown(v) ? lab_board_part_of(&v->board.view, v->tensor) : -1;
}

/* The picture as it is on the screen: one key moves one cell, and a cell
 * of the heat map may hold several elements. */
static struct lab_heat_grid grid_now(const struct lab_stepper *v)
{
    int64_t rows;
    int64_t cols;
    int part = board_part_now(v);
    plane_size(v, &rows, &cols);
    if (part >= 0)
        return lab_board_grid(&v->board.view, part, rows, cols);
    return v->numbers
               ? lab_heat_fold(rows, cols, fold_of(v), v->cells.w / NUMBER_W)
               : lab_heat_fit(rows, cols, fold_of(v), &v->room);
}

/* The explanation follows the cursor, unless the cursor has gone to look at
 * where an explained number came from. */
static void cursor_moved(struct lab_stepper *v)
{
    ask_plane(v);
    if (!v->pinned)
        explain_cursor(v);
    if (!v->pinned && v->tab == LAB_PANE_TEXT)
        v->tab = LAB_PANE_EXPLAIN;
    mark_sources(v);
}

/* Where the cell begins that is `by` cells from one of the n rows or columns from `first`
 * on, those of a plane, which may be a piece of the `all` that there are. Where some cells
 * have one and some two, each of these is a step. */
static int64_t cells_from(int64_t at, int64_t by, int64_t first, int64_t n,
                          int cells, int64_t all)
{
    const int64_t cell = lab_heat_cell(n, cells, at - first) + by;
    return n < 2 * cells ? clamp(at + by, all - 1)
           : by == 0     ? at
                     : clamp(first + lab_heat_first(n, cells, cell), all - 1);
}

static void move(struct lab_stepper *v, int64_t down, int64_t right)
{
    struct look *look = look_now(v);
    const struct lab_shape *shape = &tensor_of(v)->shape;
    struct lab_heat_grid g = grid_now(v);
    if (g.folded) { /* down is a whole piece of the one row, while there is one */
        const int64_t above = look->col / g.cols;
        const int64_t last = axis_size(shape, look->show.col_axis) - 1;
        const int64_t below = last / g.cols - look->col / g.cols;
        down *= (g.rows + g.cells_h - 1) / g.cells_h;
        down = down < -above ? -above : down > below ? below : down;
        right *= (g.cols + g.cells_w - 1) / g.cells_w;
        look->col = clamp(look->col + right + down * g.cols, last);
    } else {
        look->row =
            cells_from(look->row, down, look->show.row_first, g.rows, g.cells_h,
                       axis_size(shape, look->show.row_axis));
        look->col =
            cells_from(look->col, right, look->show.col_first, g.cols,
                       g.cells_w, axis_size(shape, look->show.col_axis));
    }
    cursor_moved(v);
}

/* Looking at another tensor keeps the explanation: its sources may be there.
 * Back on the explained tensor it follows the cursor again. */
static void turn_to(struct lab_stepper *v, int tensor)
{
    look_at(v, tensor);
    v->pinned = v->explained.tensor >= 0 && v->explained.tensor != v->tensor;
    mark_sources(v);
}

/* A key has no effect here: the reason. */
static enum lab_status refuse(const struct lab_stepper *v, const char *why)
{
    lab_ui_message(v->ui, LAB_ROLE_DIM, "%s", why);
    return LAB_OK;
}

static enum lab_status next_tensor(struct lab_screen *s, int by)
{
    struct lab_stepper *v = s->state;
    int at = by > 0 ? -1 : 0;
    for (int i = 0; i < v->n_tensors; i++)
        if (v->tensors[i] == v->tensor)
            at = i;
    if (v->n_tensors > 0 && v->tensor >= 0)
        turn_to(v, v->tensors[(at + by + v->n_tensors) % v->n_tensors]);
    return LAB_OK;
}

/* Which of the plane's slices is chosen in a contact sheet; 0 without one. */
static int64_t tile_now(const struct lab_stepper *v)
{
    const struct lab_show *show = &look_now(v)->show;
    int64_t at =
        show->sheet ? show->fixed[show->sheet - 1] - show->tile_first : 0;
    return at >= 0 && at < v->snap.plane.tiles ? at : 0;
}

/* One slice of a contact sheet, as a plane: its values and its labels. */
static struct lab_plane slice_of(const struct lab_plane *p, int64_t tile)
{
    struct lab_plane one = *p;
    one.tiles = 1;
    one.value += tile * p->rows * p->cols;
    if (one.row_label)
        one.row_label += tile * p->rows;
    if (one.col_label)
        one.col_label += tile * p->cols;
    return one;
}

/* The values of the plane, of a sheet those of the chosen slice. */
static const double *values_now(const struct lab_stepper *v)
{
    return slice_of(&v->snap.plane, tile_now(v)).value;
}

/* In a sheet the arrows go to another slice. */
static void move_tile(struct lab_stepper *v, int64_t down, int64_t right)
{
    struct look *look = look_now(v);
    int64_t *at = &look->show.fixed[look->show.sheet - 1];
    int64_t n = axis_size(&tensor_of(v)->shape, look->show.sheet - 1);
    *at = clamp(*at + down * v->sheet.per_row + right, n - 1);
    cursor_moved(v);
}

static bool click_sheet(struct lab_stepper *v, int y, int x)
{
    struct look *look = look_now(v);
    int64_t row = (y - v->cells.y) / v->sheet.tile_h;
    int64_t col = (x - v->cells.x) / v->sheet.tile_w;
    int64_t tile = v->sheet.first + row * v->sheet.per_row + col;
    if (!lab_rect_has(v->cells, y, x) || col >= v->sheet.per_row ||
        tile >= v->snap.plane.tiles)
        return false;
    look->show.fixed[look->show.sheet - 1] = look->show.tile_first + tile;
    cursor_moved(v);
    return true;
}

static bool click_tensor(struct lab_stepper *v, int y, int x)
{
    struct look *look = look_now(v);
    for (int i = 0; i < v->n_tensors; i++) {
        if (lab_rect_has(v->chips[i], y, x)) {
            turn_to(v, v->tensors[i]);
            return true;
        }
    }
    struct lab_element hit = {-1, -1};
    if (board_shown(v))
        hit = lab_board_hit(&v->board.view, y, x);
    if (hit.tensor >= 0) {
        if (hit.tensor != v->tensor)
            turn_to(v, hit.tensor);
        goto_element(v, hit);
        cursor_moved(v);
        return true;
    }
    if (look && plane_ready(v) && look->show.sheet && v->sheet.per_row)
        return click_sheet(v, y, x);
    if (!look || !plane_ready(v) || !lab_rect_has(v->cells, y, x))
        return false;
    struct lab_heat_grid g = grid_now(v);
    y -= v->cells.y;
    x -= v->cells.x;
    int64_t index = v->numbers ? lab_heat_index(&g, v->num_top + y,
                                                v->num_left + x / NUMBER_W)
                               : lab_heat_at(&g, y, x);
    if (index < 0)
        return false;
    int64_t cols = v->snap.plane.cols;
    look->row = look->show.row_first + index / cols;
    look->col = look->show.col_first + index % cols;
    cursor_moved(v);
    return true;
}

static bool gates_shown(const struct lab_stepper *v);
static const struct lab_schedule_step *step_now(const struct lab_stepper *v);
static enum lab_status next_sample(struct lab_stepper *v, int by);

static enum lab_status next_slice(struct lab_screen *s, int by)
{
    struct lab_stepper *v = s->state;
    struct look *look = look_now(v);
    int axis = look ? look->hidden : -1;
    if (!look)
        return LAB_OK;
    if (gates_shown(v))
        return next_sample(v, by);
    if (axis < 0 || is_shown(&look->show, axis))
        return refuse(v, "all of this tensor is in sight: no slice to change");
    look->show.fixed[axis] = clamp(look->show.fixed[axis] + by,
                                   axis_size(&tensor_of(v)->shape, axis) - 1);
    cursor_moved(v);
    return LAB_OK;
}

static bool tensor_action(struct lab_stepper *v, int action)
{
    int64_t page = v->cells.h > 1 ? v->cells.h - 1 : 1;
    bool back = action == LAB_ACT_UP || action == LAB_ACT_LEFT ||
                action == LAB_ACT_PAGE_UP || action == LAB_ACT_FIRST;
    int64_t by = back ? -1 : 1;
    if (v->tensor < 0)
        return false;
    if (look_now(v)->show.sheet && v->sheet.per_row) {
        if (action == LAB_ACT_OPEN)
            look_now(v)->show.sheet = 0;
        else if (action == LAB_ACT_UP || action == LAB_ACT_DOWN)
            move_tile(v, by, 0);
        else if (action == LAB_ACT_LEFT || action == LAB_ACT_RIGHT)
            move_tile(v, 0, by);
        else if (action == LAB_ACT_FIRST || action == LAB_ACT_LAST)
            move_tile(v, 0, by * FAR);
        else
            return false;
        ask_plane(v);
        return true;
    }
    if (action == LAB_ACT_UP || action == LAB_ACT_DOWN)
        move(v, by, 0);
    else if (action == LAB_ACT_LEFT || action == LAB_ACT_RIGHT)
        move(v, 0, by);
    else if (action == LAB_ACT_PAGE_UP || action == LAB_ACT_PAGE_DOWN)
        move(v, by * page, 0);
    else if (action == LAB_ACT_FIRST || action == LAB_ACT_LAST)
        move(v, by * FAR, by * FAR);
    else
        return false;
    return true;
}

static bool reads(const struct lab_step *step, int tensor)
{
    for (int i = 0; i < step->n_in; i++)
        if (step->in[i] == tensor)
            return true;
    return false;
}

static bool writes(const struct lab_step *step, int tensor)
{
    for (int i = 0; i < step->n_out; i++)
        if (step->out[i] == tensor)
            return true;
    return false;
}

/* Has the update of a parameter run in this iteration? */
static bool is_updated(const struct lab_stepper *v, int tensor)
{
    const struct lab_schedule *s = v->snap.schedule;
    for (int i = 0; s && v->snap.steps && i < s->n_steps; i++)
        if (s->steps[i].step->phase == LAB_UPDATE && v->snap.steps[i].done &&
            writes(s->steps[i].step, tensor))
            return true;
    return false;
}

/* What course material prints for an element: flat index `index` of a tensor,
 * counted from the spec's place on. */
static bool printed_value(const struct lab_stepper *v, int tensor,
                          int64_t index, double *value,
                          const struct lab_course_values_spec **spec)
{
    const struct lab_tensor *t = &v->snap.plan->tensors[tensor];
    for (int i = 0; i < v->model.n_printed && !v->snap.given; i++) {
        const struct lab_course_values_spec *p = &v->model.printed[i];
        if (strcmp(p->tensor, t->name) != 0)
            continue;
        if (t->persistent && p->updated != is_updated(v, tensor))
            continue; /* the printed value is another one */
        int64_t first = 0;
        if (p->at.rank == t->shape.rank && p->at.rank > 0)
            first = lab_shape_ravel(&t->shape, p->at.dim, p->at.rank);
        if (first < 0 || index < first || index >= first + p->n_values)
            continue;
        *value = p->values[index - first];
        *spec = p;
        return true;
    }
    return false;
}

/* An input of the blackboard has the axes that the formula gives it: with others
 * it is looked at alone. */
static void leave_board(struct lab_stepper *v)
{
    int part = board_part_now(v);
    if (part >= 0 && v->board.view.board.part[part].place != LAB_BOARD_RESULT)
        v->board.off = true;
}

/* Other axes (-1: none), with the cursor on the same element. */
static void look_along(struct lab_stepper *v, int row_axis, int col_axis)
{
    struct look *look = &v->looks[v->tensor];
    struct lab_show *show = &look->show;
    int rank = tensor_of(v)->shape.rank;
    int64_t at[LAB_MAX_RANK];
    cursor_place(look, at);
    *show = (struct lab_show){
        .tensor = v->tensor, .row_axis = row_axis, .col_axis = col_axis};
    for (int i = 0; i < rank; i++)
        if (!is_shown(show, i))
            show->fixed[i] = at[i];
    look->row = along(at, row_axis);
    look->col = along(at, col_axis);
    look->picture = false;
    if (look->hidden < 0 || is_shown(show, look->hidden))
        look->hidden = hidden_axis(look, rank, 0, 1);
    ask_plane(v);
    mark_sources(v);
}

/* The hidden axis that [ and ] move along: the next, or the one before. */
static enum lab_status next_hidden(struct lab_screen *s, int by)
{
    struct lab_stepper *v = s->state;
    struct look *look = look_now(v);
    if (!look)
        return LAB_OK;
    if (look->hidden < 0)
        return refuse(v, "all of this tensor is in sight: no axis is hidden");
    const int next =
        hidden_axis(look, tensor_of(v)->shape.rank, look->hidden + by, by);
    if (next == look->hidden)
        return refuse(v, "one axis alone is hidden: [ and ] move along it");
    look->hidden = next;
    if (look->show.sheet) {
        look->show.sheet = look->hidden + 1;
        ask_plane(v);
    }
    return LAB_OK;
}

static enum lab_status turn_axis(struct lab_screen *s, int rows)
{
    struct lab_stepper *v = s->state;
    struct look *look = look_now(v);
    if (!look)
        return LAB_OK;
    int row = look->show.row_axis;
    int col = look->show.col_axis;
    int rank = tensor_of(v)->shape.rank;
    int *mine = rows ? &row : &col;
    int *other = rows ? &col : &row;
    if (rank < 2 || look->picture)
        return refuse(v, "this picture has one axis only");
    leave_board(v);
    int next = (*mine + 1) % rank;
    if (next == *other && *mine < 0)
        next = (next + 1) % rank; /* a slice of one axis gets a second */
    else if (next == *other)
        *other = *mine;
    *mine = next;
    look_along(v, row, col);
    return LAB_OK;
}

/* A tensor of images has its pictures as they are. */
static bool turn_image(struct lab_stepper *v)
{
    const struct lab_show *show = &look_now(v)->show;
    const struct lab_tensor *t = tensor_of(v);
    struct lab_show first;
    if (!lab_holds_pictures(v->snap.plan, t))
        return false;
    lab_show_first(v->snap.plan, v->tensor, &first);
    if (show->row_axis == first.row_axis && show->col_axis == first.col_axis)
        refuse(v, "this is the picture: [ and ] go to another, { and } "
                  "say along what");
    else
        look_along(v, first.row_axis, first.col_axis);
    return true;
}

static enum lab_status turn_picture(struct lab_screen *s);

/* ---- the gates of an lstm over time ---- */

enum { GATES = 6 };
static const struct {
    char letter;
    const char *name;
    bool share; /* from 0 to 1 */
} gate_parts[GATES] = {{'a', "candidate", false},  {'i', "input gate", true},
                       {'f', "forget gate", true}, {'o', "output gate", true},
                       {'c', "cell", false},       {'h', "output", false}};

/* The tensors [time, sample, unit] of the lstm that the tensor looked at is a part
 * of; false: it is none. */
static bool find_gates(const struct lab_stepper *v, int tensors[GATES])
{
    const struct lab_plan *plan = v->snap.plan;
    const struct lab_tensor *t = v->tensor >= 0 ? tensor_of(v) : NULL;
    const struct lab_node *node =
        t && t->node >= 0 ? &plan->nodes[t->node] : NULL;
    size_t n = node ? strlen(node->id) : 0;
    bool part = false;
    if (!node || strcmp(node->op->name, "lstm") != 0 ||
        strncmp(t->name, node->id, n) != 0 || t->name[n] != '.' ||
        strstr(t->name, ".grad"))
        return false;
    for (int i = 0; i < GATES; i++) {
        char name[128];
        snprintf(name, sizeof(name), "%s.%c", node->id, gate_parts[i].letter);
        tensors[i] = lab_plan_tensor(plan, name);
        if (tensors[i] < 0 || plan->tensors[tensors[i]].shape.rank != 3)
            return false;
        part = part || (t->name[n + 1] == gate_parts[i].letter &&
                        (!t->name[n + 2] || t->name[n + 2] == '.'));
    }
    return part;
}

static bool gates_shown(const struct lab_stepper *v)
{
    int tensors[GATES];
    return v->gates.on && !v->numbers && find_gates(v, tensors);
}

static enum lab_status next_sample(struct lab_stepper *v, int by)
{
    int tensors[GATES];
    if (!find_gates(v, tensors))
        return LAB_OK;
    v->gates.sample = clamp(v->gates.sample + by,
                            v->snap.plan->tensors[tensors[0]].shape.dim[1] - 1);
    return LAB_OK;
}

/* Units down, time steps across, of one sample. */
static void show_gates(const struct lab_stepper *v, struct lab_command *cmd)
{
    int tensors[GATES];
    if (!find_gates(v, tensors))
        return;
    for (int i = 0; i < GATES; i++)
        cmd->board[cmd->n_board++] =
            (struct lab_show){.tensor = tensors[i],
                              .row_axis = 2,
                              .col_axis = 0,
                              .fixed = {0, v->gates.sample, 0}};
}

/* How many side by side give the largest pictures. */
static int gates_across(const struct lab_canvas *c, struct lab_rect r,
                        const struct lab_plane *p)
{
    double best = -1;
    int across = 1;
    for (int k = 1; k <= GATES; k++) {
        int rows = (GATES + k - 1) / k;
        struct lab_heat_room room = lab_heat_room(
            c, (struct lab_rect){0, 0, r.h / rows - 1, r.w / k - 1});
        if (room.h < 1 || room.w < 14)
            continue;
        struct lab_heat_grid g = lab_heat_fit(p->rows, p->cols, 0, &room);
        double size = (double)g.cell_h * g.cells_h * g.cell_w * g.cells_w;
        if (size > best) {
            best = size;
            across = k;
        }
    }
    return across;
}

/* The time step of the tensor looked at, a slice of `whole`; -1: all of them. */
static int64_t time_of_slice(const struct lab_stepper *v, int whole)
{
    const struct lab_tensor *t = tensor_of(v);
    const struct lab_shape *s = &v->snap.plan->tensors[whole].shape;
    return t->slice ? t->first / (s->dim[1] * s->dim[2]) : -1;
}

static void draw_gate(const struct lab_stepper *v, struct lab_canvas *c,
                      struct lab_rect r, int gate, const struct lab_plane *p)
{
    int64_t now = time_of_slice(v, p->tensor);
    struct lab_heat_room room;
    bool mine =
        tensor_of(v)
            ->name[strlen(v->snap.plan->nodes[tensor_of(v)->node].id) + 1] ==
        gate_parts[gate].letter;
    struct lab_rect head = lab_rect_cut_top(&r, 1);
    lab_canvas_add(c, &head, mine ? LAB_ROLE_TITLE : LAB_ROLE_DIM,
                   mine ? "[%c %s]" : " %c %s ", gate_parts[gate].letter,
                   gate_parts[gate].name);
    if (!p->written) {
        lab_canvas_text(c, r.y, r.x + 1, r.w - 1, LAB_ROLE_DIM,
                        "not computed yet");
        return;
    }
    room = lab_heat_room(c, r);
    struct lab_heat m = {.grid = lab_heat_fit(p->rows, p->cols, 0, &room),
                         .value = p->value,
                         .most =
                             gate_parts[gate].share
                                 ? 1
                                 : lab_heat_scale(p->value, p->rows * p->cols),
                         .diverging = !gate_parts[gate].share,
                         .cursor = -1};
    lab_heat_draw(c, r.y, r.x, &m);
    lab_rect_cut_left(&head, 1);
    lab_heat_legend(c, head, &m);
    if (now >= 0 && now < p->cols)
        lab_heat_outline(c, r.y, r.x, &m.grid, 0, now, p->rows, 1);
}

/* All gates of the sample; false: they are not shown. */
static bool draw_gates(const struct lab_stepper *v, struct lab_canvas *c,
                       struct lab_rect r)
{
    const struct lab_plane *p = v->snap.board;
    int tensors[GATES];
    if (!gates_shown(v) || !find_gates(v, tensors))
        return false;
    bool there = v->snap.n_board == GATES && p[0].tensor == tensors[0];
    struct lab_rect head = lab_rect_cut_top(&r, 1);
    lab_canvas_textf(c, head.y, head.x, head.w, LAB_ROLE_DIM,
                     "sample %lld of %lld ([ ]): units down, time across; "
                     "gates 0 to 1",
                     (long long)v->gates.sample,
                     (long long)v->snap.plan->tensors[tensors[0]].shape.dim[1]);
    if (!there)
        return true; /* it is on the way, or a training runs */
    int across = gates_across(c, r, p);
    int rows = (GATES + across - 1) / across;
    for (int i = 0; i < GATES; i++)
        draw_gate(v, c,
                  (struct lab_rect){r.y + i / across * (r.h / rows),
                                    r.x + i % across * (r.w / across),
                                    r.h / rows, r.w / across - 1},
                  i, &p[i]);
    return true;
}

/* A parameter, or something of one: its first axis counts filters, not samples. */
static bool is_weight(const struct lab_stepper *v)
{
    const struct lab_tensor *t = tensor_of(v);
    while (t->gradient_of >= 0)
        t = &v->snap.plan->tensors[t->gradient_of];
    return t->role == LAB_TENSOR_PARAM || t->role == LAB_TENSOR_STATE;
}

/* The axis along which slices come first: the one that [ and ] change, but of feature maps
 * and of attention the channels and the heads: the samples are one key away. */
static int axis_of_slices(const struct lab_stepper *v)
{
    const struct look *look = look_now(v);
    const int rank = tensor_of(v)->shape.rank;
    bool samples = look->hidden == 0 && rank > 3 && !is_weight(v);
    return samples ? hidden_axis(look, rank, 1, 1) : look->hidden;
}

/* All slices, side by side; where there is one, those along the next axis that has
 * more. */
static enum lab_status turn_sheet(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    struct look *look = look_now(v);
    if (!look)
        return LAB_OK;
    const struct lab_shape *shape = &tensor_of(v)->shape;
    int tensors[GATES];
    if (find_gates(v, tensors)) {
        v->gates.on = !v->gates.on;
        v->numbers = false;
        return LAB_OK;
    }
    if (!look->sheeted)
        look->hidden = axis_of_slices(v);
    look->sheeted = true;
    for (int i = 0; i < shape->rank && look->hidden >= 0 &&
                    axis_size(shape, look->hidden) == 1;
         i++)
        look->hidden = hidden_axis(look, shape->rank, look->hidden + 1, 1);
    bool rows = shape->rank == 2 && v->tensor == v->snap.plan->x;
    if (rows && !look->show.sheet && !look->picture)
        turn_picture(s); /* of data, rows are what is worth seeing */
    if (look->show.sheet) {
        look->show.sheet = 0;
    } else if (look->hidden < 0 || is_shown(&look->show, look->hidden)) {
        return refuse(v, "all of this tensor is in sight: it has no slices (I "
                         "makes pictures of rows)");
    } else {
        leave_board(v);
        v->numbers = false;
        look->show.sheet = look->hidden + 1;
    }
    ask_plane(v);
    mark_sources(v);
    return LAB_OK;
}

/* From one row as a square back to the axes that the tensor opens with. */
static void leave_picture(struct lab_stepper *v)
{
    struct lab_show first;
    lab_show_first(v->snap.plan, v->tensor, &first);
    look_along(v, first.row_axis, first.col_axis);
}

/* One row as a square: a digit of 64 pixels is 8 by 8. */
static enum lab_status turn_picture(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    struct look *look = look_now(v);
    if (!look)
        return LAB_OK;
    int row = look->show.row_axis;
    int col = look->show.col_axis;
    leave_board(v);
    if (col < 0) {
        refuse(v, "one number has no picture");
    } else if (look->picture) {
        leave_picture(v);
    } else if (!turn_image(v)) {
        look_along(v, -1, col);
        if (row >= 0)
            look->hidden = row;
        look->picture = true;
    }
    return LAB_OK;
}

/* ---- the lines about the plane ---- */

static void draw_cursor_labels(const struct lab_stepper *v,
                               struct lab_canvas *c, struct lab_rect *row)
{
    const struct lab_plane p = slice_of(&v->snap.plane, tile_now(v));
    int64_t cols = p.cols > 0 ? p.cols : 1;
    for (int k = 0; k < 2; k++) {
        const struct lab_label *label =
            k             ? p.col_label ? &p.col_label[v->cursor % cols] : NULL
            : p.row_label ? &p.row_label[v->cursor / cols]
                          : NULL;
        const char *quote = label && label->symbol ? "\"" : "";
        if (label)
            lab_canvas_add(c, row, LAB_ROLE_NORMAL, "%s%s%s%s",
                           k && p.row_label ? ", " : "  at ", quote,
                           label->text, quote);
    }
}

static bool is_watched(const struct lab_snapshot *snap, int tensor)
{
    for (int i = 0; tensor >= 0 && i < snap->n_breaks; i++)
        if (snap->breaks[i].watch &&
            strcmp(snap->breaks[i].step, snap->plan->tensors[tensor].name) == 0)
            return true;
    return false;
}

/* ---- which tensors, and which part ---- */

static int list_columns(const struct lab_stepper *v, const struct lab_canvas *c,
                        int *at)
{
    int w = 10;
    *at = -1;
    for (int i = 0; i < v->n_tensors; i++) {
        w += 2 +
             lab_canvas_columns(c, v->snap.plan->tensors[v->tensors[i]].name);
        if (v->tensors[i] == v->tensor)
            *at = i;
    }
    return w;
}

/* Returns what is left of the row. */
static struct lab_rect draw_list(struct lab_stepper *v, struct lab_canvas *c,
                                 struct lab_rect row)
{
    int at;
    if (list_columns(v, c, &at) > row.w && at >= 0) {
        lab_canvas_add(c, &row, LAB_ROLE_TITLE, "%s [%s]",
                       at < v->n_in ? "in" : "out", tensor_of(v)->name);
        struct lab_rect *next = &v->chips[(at + 1) % v->n_tensors];
        *next = row;
        next->w =
            lab_canvas_add(c, &row, LAB_ROLE_DIM, "  %d of %d, x the next",
                           at + 1, v->n_tensors);
        return (struct lab_rect){0};
    }
    for (int i = 0; i < v->n_tensors; i++) {
        bool shown = v->tensors[i] == v->tensor;
        if (i == 0 && v->n_in > 0)
            lab_canvas_add(c, &row, LAB_ROLE_DIM, "in ");
        if (i == v->n_in)
            lab_canvas_add(c, &row, LAB_ROLE_DIM, i ? " out " : "out ");
        v->chips[i] = row;
        v->chips[i].w = lab_canvas_add(
            c, &row, shown ? LAB_ROLE_TITLE : LAB_ROLE_NORMAL,
            shown ? "[%s]" : " %s ", v->snap.plan->tensors[v->tensors[i]].name);
    }
    if (at < 0) /* not of this step: a source, or asked for by name */
        lab_canvas_add(c, &row, LAB_ROLE_TITLE, "  [%s]", tensor_of(v)->name);
    return row;
}

/* "fc1.xW[2,v,>]": v runs down, > runs across, numbers are fixed; what [ and ]
 * change is in angle brackets. */
static void add_slice(const struct lab_stepper *v, struct lab_canvas *c,
                      struct lab_rect *row)
{
    const enum lab_role role = LAB_ROLE_HEADING;
    const struct look *look = look_now(v);
    int rank = tensor_of(v)->shape.rank;
    lab_canvas_add(c, row, role, "%s%s", tensor_of(v)->name, rank ? "[" : "");
    for (int i = 0; i < rank; i++) {
        const char *end = i + 1 < rank ? "," : "]";
        if (is_shown(&look->show, i))
            lab_canvas_add(c, row, role, "%s%s",
                           i == look->show.row_axis ? "↓" : "→", end);
        else if (i == look->show.sheet - 1)
            lab_canvas_add(c, row, role, "<*>%s", end);
        else
            lab_canvas_add(c, row, role,
                           i == look->hidden ? "<%lld>%s" : "%lld%s",
                           (long long)look->show.fixed[i], end);
    }
}

/* Whether { and } turn a contact sheet to other slices. */
static bool has_other_slices(const struct lab_stepper *v)
{
    const struct lab_show *show = &look_now(v)->show;
    const struct lab_shape *shape = &tensor_of(v)->shape;
    bool any = false;
    for (int i = 0; i < shape->rank && show->sheet; i++)
        any = any ||
              (!is_shown(show, i) && i != show->sheet - 1 && shape->dim[i] > 1);
    return any;
}

/* Whether the plane is only a piece of what its two axes hold. */
static bool is_cut(const struct lab_stepper *v)
{
    const struct lab_plane *p = &v->snap.plane;
    const struct lab_shape *s = &tensor_of(v)->shape;
    if (!plane_ready(v))
        return false;
    return (p->show.row_axis >= 0 && p->rows < s->dim[p->show.row_axis]) ||
           (p->show.col_axis >= 0 && p->cols < s->dim[p->show.col_axis]);
}

/* "activation [10,16] f32" */
static const char *kind_text(const struct lab_tensor *t, char *out, size_t cap)
{
    static const char *const roles[] = {"data", "parameter", "optimizer state",
                                        "activation", "gradient"};
    char shape[LAB_SHAPE_TEXT] = "one number";
    if (t->shape.rank)
        lab_shape_text(&t->shape, shape);
    snprintf(out, cap, "%s %s %s", roles[t->role], shape,
             lab_dtype_name(t->dtype));
    return out;
}

static void draw_head(const struct lab_stepper *v, struct lab_canvas *c,
                      struct lab_rect row)
{
    char kind[LAB_SHAPE_TEXT + 64];
    add_slice(v, c, &row);
    lab_canvas_add(c, &row, LAB_ROLE_DIM, "  %s",
                   kind_text(tensor_of(v), kind, sizeof(kind)));
    if (is_cut(v))
        lab_canvas_add(c, &row, LAB_ROLE_DIM, ", a part from [%lld,%lld] on",
                       (long long)v->snap.plane.show.row_first,
                       (long long)v->snap.plane.show.col_first);
    if (is_watched(&v->snap, v->tensor))
        lab_canvas_add(c, &row, LAB_ROLE_WARN, "  watched");
    if (has_other_slices(v))
        lab_canvas_add(c, &row, LAB_ROLE_DIM, "  } slices along the next axis");
}

/* ---- the plane ---- */

/* Rows and columns of the picture that hold sources of the explained number.
 * An axis that is a source all along has no marks: they would mean nothing. */
struct edges {
    bool rows;
    bool cols;
};

static bool source_in(const struct lab_stepper *v,
                      const struct lab_heat_grid *g, bool down, int64_t first,
                      int64_t end)
{
    for (int64_t i = 0; i < v->n_marks; i++) {
        int64_t row;
        int64_t col;
        lab_heat_place(g, v->marks[i], &row, &col);
        int64_t at = down ? row : col;
        if (at >= first && at < end)
            return true;
    }
    return false;
}

static struct edges edges_of(const struct lab_stepper *v,
                             const struct lab_heat_grid *g)
{
    struct edges e = {false, false};
    for (int64_t i = 0; v->n_marks > 0 && i < g->rows && !e.rows; i++)
        e.rows = !source_in(v, g, true, i, i + 1);
    for (int64_t i = 0; v->n_marks > 0 && i < g->cols && !e.cols; i++)
        e.cols = !source_in(v, g, false, i, i + 1);
    return e;
}

static void draw_edges(const struct lab_stepper *v, struct lab_canvas *c,
                       struct lab_rect r, const struct lab_heat_grid *g,
                       struct edges e)
{
    for (int y = 0; e.rows && y < g->cells_h; y++)
        if (source_in(v, g, true, lab_heat_first(g->rows, g->cells_h, y),
                      lab_heat_first(g->rows, g->cells_h, y + 1)))
            for (int k = y * g->cell_h / 2; 2 * k < (y + 1) * g->cell_h; k++)
                lab_canvas_text(c, r.y + k, r.x - 1, 1, LAB_ROLE_WARN, "▸");
    for (int x = 0; e.cols && x < g->cells_w; x++)
        if (source_in(v, g, false, lab_heat_first(g->cols, g->cells_w, x),
                      lab_heat_first(g->cols, g->cells_w, x + 1)))
            lab_canvas_text(c, r.y - 1, r.x + x * g->cell_w + g->cell_w / 2, 1,
                            LAB_ROLE_WARN, "▾");
}

/* Where the sources are a part of the plane without gaps, as those of a product or
 * of a window are, they get an outline. */
static void outline_sources(const struct lab_stepper *v, struct lab_canvas *c,
                            struct lab_rect r, const struct lab_heat_grid *g)
{
    int64_t top = INT64_MAX;
    int64_t left = INT64_MAX;
    int64_t bottom = -1;
    int64_t right = -1;
    int64_t n = 0;
    for (int64_t i = 0; i < v->n_marks; i++) {
        int64_t row;
        int64_t col;
        if (i > 0 && v->marks[i] == v->marks[i - 1])
            continue;
        lab_heat_place(g, v->marks[i], &row, &col);
        top = row < top ? row : top;
        bottom = row > bottom ? row : bottom;
        left = col < left ? col : left;
        right = col > right ? col : right;
        n++;
    }
    if (n > 0 && n < g->count && n == (bottom - top + 1) * (right - left + 1))
        lab_heat_outline(c, r.y, r.x, g, top, left, bottom - top + 1,
                         right - left + 1);
}

/* A tensor that is a picture keeps its shape and fades when it is made smaller. */
static bool is_picture(const struct lab_stepper *v)
{
    return look_now(v)->picture ||
           lab_holds_pictures(v->snap.plan, tensor_of(v));
}

static struct lab_heat_room room_of(const struct lab_stepper *v,
                                    const struct lab_canvas *c,
                                    struct lab_rect r)
{
    struct lab_heat_room room = lab_heat_room(c, r);
    room.square = is_picture(v);
    room.mean =
        (room.square && v->snap.plane.stats.min >= 0) ||
        lab_board_mean(v->snap.plan, v->tensor, v->snap.plane.stats.min);
    return room;
}

static struct lab_heat heat_now(const struct lab_stepper *v)
{
    const struct lab_plane *p = &v->snap.plane;
    const int part = board_part_now(v);
    bool board = part >= 0 && lab_board_plane(&v->board.view, part);
    return (struct lab_heat){
        .grid = grid_now(v),
        .value = values_now(v),
        .most = board ? lab_board_scale(&v->board.view, part)
                      : lab_heat_scale_alone(p->value,
                                             p->tiles * p->rows * p->cols),
        .diverging =
            lab_board_signed(v->snap.plan, v->tensor, !(p->stats.min >= 0)),
        .cursor = v->cursor};
}

static void draw_heat(struct lab_stepper *v, struct lab_canvas *c,
                      struct lab_rect r)
{
    const struct lab_plane *p = &v->snap.plane;
    struct lab_rect above;
    struct lab_rect side = {0};
    int gutter = lab_labels_width(p, c);
    above = lab_rect_cut_top(&r, lab_labels_height(p, r.h));
    if (gutter > 0 && r.w >= 4 * gutter)
        side = lab_rect_cut_left(&r, gutter);
    v->room = room_of(v, c, r);
    struct lab_heat_grid g = grid_now(v);
    struct edges e = edges_of(v, &g);
    if (e.rows)
        lab_rect_cut_left(&r, 1);
    if (e.cols)
        lab_rect_cut_top(&r, 1);
    v->cells = r;
    v->room = room_of(v, c, r);
    struct lab_heat m = heat_now(v);
    if (!m.grid.folded)
        lab_labels_draw(c, p, r, &m.grid, side, above, v->cursor);
    draw_edges(v, c, r, &m.grid, e);
    lab_heat_draw(c, r.y, r.x, &m);
    outline_sources(v, c, r, &m.grid);
    if (v->cursor >= 0 && v->focus == LAB_PANE_TENSOR) {
        int64_t row;
        int64_t col;
        const struct lab_heat_grid *at = &m.grid;
        lab_heat_place(at, v->cursor, &row, &col);
        lab_canvas_cursor(
            c, r.y + lab_heat_cell(at->rows, at->cells_h, row) * at->cell_h / 2,
            r.x + lab_heat_cell(at->cols, at->cells_w, col) * at->cell_w);
    }
}

enum { SHEET_LEAST_H = 3 }; /* rows of a slice, with its title */

/* Columns of the longest title of a slice, "[12] 7, as 9", and a blank. */
static int tile_title_width(const struct lab_plane *p,
                            const struct lab_canvas *c)
{
    int most = 0;
    for (int64_t i = 0; p->tile_label && i < p->tiles; i++) {
        int w = lab_canvas_columns(c, p->tile_label[i].text);
        most = w > most ? w : most;
    }
    const int64_t last = p->show.tile_first + p->tiles - 1;
    return snprintf(NULL, 0, "[%lld] ", (long long)last) + most + (most > 0);
}

static struct tile tile_at(const struct lab_plane *p,
                           const struct lab_canvas *c, struct lab_rect r)
{
    enum { LABELS = 4 }; /* times as wide as its labels */
    const int gutter = lab_labels_width(p, c);
    struct tile t = {.cells = r};
    t.above = lab_rect_cut_top(&t.cells, lab_labels_height(p, r.h));
    if (gutter > 0 && r.w >= LABELS * gutter)
        t.side = lab_rect_cut_left(&t.cells, gutter);
    return t;
}

/* The area that an element has; where elements share cells, and have more height than
 * width or less, the picture is out of shape, and counts as one with less. */
static double size_of_element(const struct lab_heat_grid *g)
{
    const double h = (double)g->cell_h * g->cells_h / (double)g->rows;
    const double w = (double)g->cell_w * g->cells_w / (double)g->cols;
    const double longer = h > w ? h / w : w / h;
    return h * w / (lab_heat_is_shared(g) ? longer : 1);
}

/* The number of slices in a row that gives the largest pictures; where not all
 * have room, the smallest that still show something. */
static void fit_sheet(struct lab_stepper *v, const struct lab_canvas *c,
                      struct lab_rect r)
{
    const struct lab_plane *p = &v->snap.plane;
    const int title_w = tile_title_width(p, c);
    double best = -1;
    for (int64_t k = 1; k <= p->tiles && k <= r.w / (title_w + 1); k++) {
        int64_t rows = (p->tiles + k - 1) / k;
        int64_t most = r.h / SHEET_LEAST_H > 0 ? r.h / SHEET_LEAST_H : 1;
        rows = rows > most ? most : rows;
        const struct tile tile = tile_at(
            p, c,
            (struct lab_rect){0, 0, r.h / (int)rows - 1, r.w / (int)k - 1});
        struct lab_heat_room room = room_of(v, c, tile.cells);
        struct lab_heat_grid g =
            lab_heat_fit(p->rows, p->cols, fold_of(v), &room);
        double all = (double)(rows * k < p->tiles ? rows * k : p->tiles);
        double size = all * size_of_element(&g);
        if (size <= best)
            continue;
        best = size;
        v->room = room;
        v->sheet.per_row = k;
        v->sheet.rows = rows;
        v->sheet.at = tile;
        v->sheet.tile_h = tile.cells.y + lab_heat_height(&g) + 1;
        v->sheet.tile_w =
            largest(tile.cells.x + g.cells_w * g.cell_w + 1, title_w);
    }
}

static struct lab_rect moved(struct lab_rect r, int y, int x)
{
    r.y += y;
    r.x += x;
    return r;
}

/* One slice below its title, with labels where there is room. */
static void draw_tile(const struct lab_stepper *v, struct lab_canvas *c, int y,
                      int x, int64_t tile, struct lab_heat *m)
{
    const struct lab_plane p = slice_of(&v->snap.plane, tile);
    const struct tile *at = &v->sheet.at;
    const struct lab_rect cells = moved(at->cells, y, x);
    m->value = p.value;
    m->cursor = tile == tile_now(v) ? v->cursor : -1;
    if (!m->grid.folded)
        lab_labels_draw(c, &p, cells, &m->grid, moved(at->side, y, x),
                        moved(at->above, y, x), m->cursor);
    lab_heat_draw(c, cells.y, cells.x, m);
}

/* All slices, the chosen one's number in brackets; one scale for all. */
static void draw_sheet(struct lab_stepper *v, struct lab_canvas *c,
                       struct lab_rect r)
{
    const struct lab_plane *p = &v->snap.plane;
    fit_sheet(v, c, r);
    int64_t page = v->sheet.per_row * v->sheet.rows;
    int64_t chosen = tile_now(v);
    const int64_t all = axis_size(&tensor_of(v)->shape, p->show.sheet - 1);
    struct lab_rect more = {0};
    if (page < all && r.h > SHEET_LEAST_H) {
        more = lab_rect_cut_bottom(&r, 1);
        fit_sheet(v, c, r);
        page = v->sheet.per_row * v->sheet.rows;
    }
    v->cells = r;
    if (page < 1)
        return;
    v->sheet.first = chosen / page * page;
    int64_t end = v->sheet.first + page;
    end = p->show.tile_first + (end < p->tiles ? end : p->tiles);
    if (!lab_rect_empty(more))
        lab_canvas_textf(c, more.y, more.x, more.w, LAB_ROLE_DIM,
                         "slices %lld to %lld of %lld: the arrows go on",
                         (long long)(p->show.tile_first + v->sheet.first),
                         (long long)end - 1, (long long)all);
    struct lab_heat m = heat_now(v);
    for (int64_t i = 0; i < page && v->sheet.first + i < p->tiles; i++) {
        int64_t tile = v->sheet.first + i;
        int y = r.y + (int)(i / v->sheet.per_row) * v->sheet.tile_h;
        int x = r.x + (int)(i % v->sheet.per_row) * v->sheet.tile_w;
        int used =
            lab_canvas_textf(c, y, x, v->sheet.tile_w,
                             tile == chosen ? LAB_ROLE_TITLE : LAB_ROLE_DIM,
                             tile == chosen ? "[%lld] " : " %lld  ",
                             (long long)(p->show.tile_first + tile));
        if (p->tile_label) /* a class beside another one is an error */
            lab_canvas_text(c, y, x + used, v->sheet.tile_w - used,
                            strchr(p->tile_label[tile].text, ',')
                                ? LAB_ROLE_WARN
                                : LAB_ROLE_NORMAL,
                            p->tile_label[tile].text);
        draw_tile(v, c, y + 1, x, tile, &m);
        if (tile == chosen && v->focus == LAB_PANE_TENSOR)
            lab_canvas_cursor(c, y, x);
    }
}

/* Brings `at` into a window of `page` that starts at *top. */
static void into_sight(int64_t at, int64_t page, int64_t *top)
{
    if (at < *top)
        *top = at;
    if (at >= *top + page)
        *top = at - page + 1;
    if (*top < 0)
        *top = 0;
}

static void draw_number(struct lab_stepper *v, struct lab_canvas *c, int y,
                        int x, int64_t index)
{
    bool cursor = index == v->cursor;
    double value = v->snap.plane.value[index];
    enum lab_role role = isfinite(value) ? LAB_ROLE_NORMAL : LAB_ROLE_BAD;
    lab_canvas_textf(c, y, x, NUMBER_W, cursor ? LAB_ROLE_CURSOR : role,
                     cursor ? "[%*s]" : " %*s ", NUMBER_W - 2,
                     LAB_VALUE_TEXT(value, NUMBER_W - 2));
    if (cursor && v->focus == LAB_PANE_TENSOR)
        lab_canvas_cursor(c, y, x);
}

/* "3:the" at the right end of a place; the index alone where that is all that
 * is known of it. */
static void draw_place(struct lab_canvas *c, struct lab_rect r, int64_t index,
                       const struct lab_label *label)
{
    char text[64];
    snprintf(text, sizeof(text), label && label->symbol ? "%lld:%s" : "%lld",
             (long long)index, label ? label->text : "");
    int w = lab_canvas_columns(c, text);
    lab_canvas_text(c, r.y, r.x + (w < r.w ? r.w - w : 0), r.w, LAB_ROLE_DIM,
                    text);
}

/* A table with the indices beside it; folded rows show their first index. */
static void draw_numbers(struct lab_stepper *v, struct lab_canvas *c,
                         struct lab_rect r)
{
    const struct lab_plane *p = &v->snap.plane;
    const struct look *look = look_now(v);
    int64_t last = p->rows > 1 ? look->show.row_first + p->rows - 1
                               : look->show.col_first + p->cols - 1;
    int label = 1 + snprintf(NULL, 0, "%lld", (long long)last);
    label += lab_labels_width(p, c);
    int64_t wide = (r.w - label) / NUMBER_W;
    wide = wide < 1 ? 1 : wide;
    struct lab_heat_grid g =
        lab_heat_fold(p->rows, p->cols, fold_of(v), (int)wide);
    struct edges e = edges_of(v, &g);
    struct lab_rect head = lab_rect_cut_top(&r, 1);
    int64_t row;
    int64_t col;
    lab_heat_place(&g, v->cursor, &row, &col);
    into_sight(row, r.h, &v->num_top);
    into_sight(col, wide, &v->num_left);
    v->cells = (struct lab_rect){r.y, r.x + label, r.h, r.w - label};
    for (int64_t j = 0; j < wide && v->num_left + j < g.cols; j++) {
        if (e.cols && source_in(v, &g, false, v->num_left + j, 1))
            lab_canvas_text(c, head.y,
                            head.x + label + (int)(j + 1) * NUMBER_W - 1, 1,
                            LAB_ROLE_MARK, "▾");
        draw_place(c,
                   (struct lab_rect){head.y, head.x + label + (int)j * NUMBER_W,
                                     1, NUMBER_W - 1},
                   look->show.col_first + v->num_left + j,
                   p->col_label && !g.folded ? &p->col_label[v->num_left + j]
                                             : NULL);
    }
    for (int64_t i = 0; i < r.h && v->num_top + i < g.rows; i++) {
        int y = r.y + (int)i;
        int64_t first = v->num_top + i;
        draw_place(c, (struct lab_rect){y, r.x, 1, label - 1},
                   g.folded ? look->show.col_first + first * g.cols
                            : look->show.row_first + first,
                   p->row_label && !g.folded ? &p->row_label[first] : NULL);
        if (e.rows && source_in(v, &g, true, first, 1))
            lab_canvas_text(c, y, r.x + label - 1, 1, LAB_ROLE_MARK, "▸");
        for (int64_t j = 0; j < wide; j++) {
            int64_t index = lab_heat_index(&g, v->num_top + i, v->num_left + j);
            if (index >= 0)
                draw_number(v, c, y, r.x + label + (int)j * NUMBER_W, index);
        }
    }
}

/* ---- what is below ---- */

/* "fc1.W[3,5]" */
static const char *element_name(const struct lab_stepper *v,
                                const struct lab_element *e, char *out,
                                size_t cap)
{
    const struct lab_tensor *t = &v->snap.plan->tensors[e->tensor];
    struct lab_shape place = {.rank = t->shape.rank};
    char text[LAB_SHAPE_TEXT];
    lab_shape_unravel(&t->shape, e->index, place.dim);
    snprintf(out, cap, "%s%s", t->name,
             place.rank ? lab_shape_text(&place, text) : "");
    return out;
}

/* The cursor's element and the legend; where these two have no room together the
 * legend begins the row of statistics. */
static void draw_cursor_line(const struct lab_stepper *v, struct lab_canvas *c,
                             struct lab_rect row, struct lab_rect *stats)
{
    enum { APART = 2, DIGITS = 10, FEW = 7 };
    const struct lab_plane *p = &v->snap.plane;
    const struct lab_element here = cursor_element(v);
    const struct lab_course_values_spec *printed;
    char name[256];
    double value;
    if (v->cursor < 0 || v->cursor >= p->rows * p->cols)
        return;
    struct lab_heat m = heat_now(v);
    element_name(v, &here, name, sizeof(name));
    int room = row.w - lab_canvas_columns(c, name) - 3 - APART -
               lab_heat_legend_least(c, &m);
    lab_canvas_add(c, &row, LAB_ROLE_TITLE, "%s = %s", name,
                   LAB_VALUE_TEXT(values_now(v)[v->cursor],
                                  v->numbers || room >= DIGITS ? DIGITS : FEW));
    if (printed_value(v, v->tensor, here.index, &value, &printed)) {
        lab_canvas_add(c, &row, LAB_ROLE_WARN, "   printed %.7g", value);
        return;
    }
    draw_cursor_labels(v, c, &row);
    if (v->numbers)
        return;
    lab_rect_cut_left(&row, APART);
    if (lab_heat_legend(c, row, &m) == 0)
        lab_rect_cut_left(stats, APART + lab_heat_legend(c, *stats, &m));
}

/* Writes what fits whole, with a blank behind it; false: it does not. */
static bool put_whole(struct lab_canvas *c, struct lab_rect *row,
                      enum lab_role role, const char *text)
{
    if (lab_canvas_columns(c, text) > row->w)
        return false;
    lab_canvas_add(c, row, role, "%s", text);
    lab_rect_cut_left(row, 1);
    return true;
}

/* Figures: in a row as long as they fit, then one a line of `side`. */
struct figures {
    struct lab_rect row;
    struct lab_rect side;
};

static void put_figure(struct lab_canvas *c, struct figures *f,
                       enum lab_role role, const char *text)
{
    if (put_whole(c, &f->row, role, text) || lab_rect_empty(f->side))
        return;
    struct lab_rect line = lab_rect_cut_top(&f->side, 1);
    put_whole(c, &line, role, text);
}

static void put_stat(struct lab_canvas *c, struct figures *f, int width,
                     const char *name, double v)
{
    char both[64];
    snprintf(both, sizeof(both), "%s %s%s", name,
             isnan(v) ? LAB_NA : LAB_VALUE_TEXT(v, width),
             width > 6 ? " " : "");
    put_figure(c, f, LAB_ROLE_NORMAL, both);
}

static void put_count(struct lab_canvas *c, struct figures *f, const char *name,
                      int64_t n, enum lab_role role)
{
    char text[64];
    snprintf(text, sizeof(text), "%s %lld ", name, (long long)n);
    put_figure(c, f, role, text);
}

static void draw_stats(const struct lab_stats *s, struct lab_canvas *c,
                       struct lab_rect row, struct lab_rect side)
{
    struct figures f = {row, side};
    int width = row.w < 80 ? 6 : 9;
    /* What is wrong comes first: there may be no room for all. */
    if (s->nan_count)
        put_count(c, &f, "NaN", s->nan_count, LAB_ROLE_BAD);
    if (s->inf_count)
        put_count(c, &f, "Inf", s->inf_count, LAB_ROLE_BAD);
    put_stat(c, &f, width, "min", s->min);
    put_stat(c, &f, width, "max", s->max);
    put_stat(c, &f, width, "mean", s->mean);
    put_stat(c, &f, width, "std", s->std);
    if (!s->nan_count)
        put_count(c, &f, "NaN", 0, LAB_ROLE_DIM);
    put_count(c, &f, "zeros", s->zero_count, LAB_ROLE_DIM);
}

/* The bins are all as wide as one another, or share columns. Returns the columns used. */
static int draw_bins(const struct lab_stats *s, struct lab_canvas *c,
                     struct lab_rect r)
{
    double bins[LAB_HISTOGRAM_BINS];
    for (int i = 0; i < LAB_HISTOGRAM_BINS; i++)
        bins[i] = (double)s->bin[i];
    if (r.w > LAB_HISTOGRAM_BINS)
        r.w -= r.w % LAB_HISTOGRAM_BINS;
    lab_histogram_draw(c, r, bins, LAB_HISTOGRAM_BINS, LAB_ROLE_SERIES_1);
    return r.w;
}

static void draw_histogram(const struct lab_stats *s, struct lab_canvas *c,
                           struct lab_rect r)
{
    if (isnan(s->min) || lab_rect_empty(r))
        return;
    int y = r.y + r.h - 1;
    int used = 1 + lab_canvas_text(c, y, r.x, 8, LAB_ROLE_DIM,
                                   LAB_VALUE_TEXT(s->min, 7));
    const int w = draw_bins(
        s, c, (struct lab_rect){r.y, r.x + used, r.h, r.w - used - 9});
    lab_canvas_text(c, y, r.x + used + w + 1, 8, LAB_ROLE_DIM,
                    LAB_VALUE_TEXT(s->max, 7));
}

static void draw_unwritten(const struct lab_stepper *v, struct lab_canvas *c,
                           struct lab_rect r)
{
    const struct lab_schedule *s = v->snap.schedule;
    int hider = lab_schedule_hider(s, v->snap.plan, v->tensor);
    const char *why = "Not computed yet in this iteration.";
    const char *what = "s runs the next step.";
    if (hider >= 0) {
        why = "Not written: the step computes it on its way.";
        what = "v chooses a variant that takes it apart.";
        lab_canvas_textf(c, r.y + 2, r.x, -1, LAB_ROLE_DIM, "The step: %s, %s",
                         s->steps[hider].step->name,
                         s->steps[hider].variant->name);
    }
    lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_DIM, why);
    lab_canvas_text(c, r.y + 1, r.x, r.w, LAB_ROLE_DIM, what);
}

/* Whether a picture that has the screen for itself gets larger cells without
 * the figures below it. */
static bool alone_is_larger(const struct lab_stepper *v,
                            const struct lab_canvas *c, struct lab_rect r)
{
    const struct lab_plane *p = &v->snap.plane;
    enum { FIGURES = 2 };
    if (v->numbers || !v->zoom || !is_picture(v))
        return false;
    struct lab_heat_room room = room_of(v, c, r);
    room.h = r.h - 1;
    int alone = lab_heat_fit(p->rows, p->cols, fold_of(v), &room).cell_h;
    room.h -= FIGURES;
    return alone > lab_heat_fit(p->rows, p->cols, fold_of(v), &room).cell_h;
}

enum { NAMED_MOST = 64, SPREAD_MOST = 14 /* rows of a spread, at most */ };

/* Whether the plane is a whole tensor of so few values that each has a bar in
 * `h` rows of `w` columns; their histogram would only show some single bars. Beside the
 * table of numbers it is what is new. */
static bool has_few_values(const struct lab_stepper *v,
                           const struct lab_plane *p, int h, int w)
{
    enum { VALUE_W = 20 }; /* columns for name, number and bar */
    const int64_t n = p->rows * p->cols;
    const int across = w / VALUE_W > 1 ? w / VALUE_W : 1;
    return !v->numbers && p->tiles == 1 &&
           n == v->snap.plan->tensors[p->tensor].count &&
           n <= (int64_t)h * across && n <= NAMED_MOST;
}

/* A value with the name of its place. */
struct named_value {
    char name[32];
    double value;
};

/* A NaN goes first: it is what is looked for, and compares with nothing. */
static int by_size(const void *a, const void *b)
{
    const double x = fabs(((const struct named_value *)a)->value);
    const double y = fabs(((const struct named_value *)b)->value);
    if (isnan(x) || isnan(y))
        return (isnan(y) != 0) - (isnan(x) != 0);
    return (x < y) - (x > y);
}

/* A row, or several where there is room, for each: name, value, and its bar beside
 * those of `all`. `sizes`: bars of |value| from one side on, as what is in the order of
 * size is compared; the sign is the number's and the colour's. */
static void draw_named(struct lab_canvas *c, struct lab_rect r,
                       const struct named_value *of, int n,
                       const struct named_value *all, int n_all, bool sizes)
{
    enum { APART = 2, DIGITS = 8 };
    const int each = r.h / n;
    const int thick = each > 2 ? each - 1 : each;
    int name_w = 0;
    double least = 0;
    double most = 0;
    for (int i = 0; i < n_all; i++) {
        name_w = largest(name_w, lab_canvas_columns(c, all[i].name));
        lab_bar_widen(sizes ? fabs(all[i].value) : all[i].value, &least, &most);
    }
    name_w = name_w < r.w / 3 ? name_w : r.w / 3;
    for (int i = 0; i < n; i++) {
        const double value = of[i].value;
        struct lab_rect bar = lab_rect_cut_top(&r, each);
        const int y = bar.y + (thick - 1) / 2;
        lab_canvas_text_cut(c, y, bar.x, name_w, LAB_ROLE_DIM, of[i].name);
        lab_rect_cut_left(&bar, name_w + 1);
        lab_canvas_textf(c, y, bar.x, bar.w,
                         isfinite(value) ? LAB_ROLE_NORMAL : LAB_ROLE_BAD,
                         "%*s", DIGITS, LAB_VALUE_TEXT(value, DIGITS));
        lab_rect_cut_left(&bar, DIGITS + APART);
        for (int k = 0; k < thick; k++)
            lab_bar_draw(c, bar.y + k, bar.x, bar.w,
                         !isfinite(value) ? NAN
                         : sizes          ? fabs(value)
                                          : value,
                         least, most,
                         value < 0 ? LAB_ROLE_NEGATIVE : LAB_ROLE_POSITIVE);
    }
}

/* Element (row, col) of a plane: its symbols, or its indices in the plane. */
static void name_element(const struct lab_plane *p, int64_t row, int64_t col,
                         struct named_value *out)
{
    const struct lab_label *symbol = p->rows > 1 && p->cols > 1 ? NULL
                                     : p->cols > 1              ? p->col_label
                                                                : p->row_label;
    out->value = p->value[row * p->cols + col];
    const long long at_row = (long long)(p->show.row_first + row);
    const long long at_col = (long long)(p->show.col_first + col);
    if (symbol)
        snprintf(out->name, sizeof(out->name), "%.31s",
                 symbol[p->cols > 1 ? col : row].text);
    else if (p->show.row_axis >= 0 && p->show.col_axis >= 0)
        snprintf(out->name, sizeof(out->name), "[%lld,%lld]", at_row, at_col);
    else
        snprintf(out->name, sizeof(out->name), "[%lld]",
                 p->cols > 1 ? at_col : at_row);
}

/* In columns where there are more than rows. Returns the rows used. */
static int draw_in_columns(struct lab_canvas *c, struct lab_rect r,
                           const struct named_value *of, int n, bool sizes)
{
    enum { APART = 2 };
    const int across = (n + r.h - 1) / r.h;
    const int down = (n + across - 1) / across;
    const int w = (r.w + APART) / across;
    for (int k = 0; k * down < n; k++)
        draw_named(c, (struct lab_rect){r.y, r.x + k * w, r.h, w - APART},
                   of + k * down, n - k * down < down ? n - k * down : down, of,
                   n, sizes);
    return r.h / down * down;
}

static void draw_values(struct lab_canvas *c, struct lab_rect r,
                        const struct lab_plane *p)
{
    struct named_value of[NAMED_MOST];
    const int n = (int)(p->rows * p->cols);
    for (int i = 0; i < n; i++)
        name_element(p, i / p->cols, i % p->cols, &of[i]);
    draw_in_columns(c, r, of, n, false);
}

/* The blanks of what is drawn there are its own. */
static void take(struct lab_stepper *v, struct lab_rect r)
{
    if (v->n_taken < TAKEN)
        v->taken[v->n_taken++] = r;
}

enum { DISTINCT = 10 };

/* How often each value of a whole tensor occurs. Returns how many values there are; 0:
 * more than DISTINCT, or some are no numbers. */
static int count_values(const struct lab_stepper *v, const struct lab_plane *p,
                        struct named_value of[DISTINCT])
{
    enum { MOST = 1 << 12 };
    double value[DISTINCT];
    int n = 0;
    const int64_t all = p->rows * p->cols;
    if (p->tiles != 1 || all > MOST ||
        all != v->snap.plan->tensors[p->tensor].count)
        return 0;
    for (int64_t i = 0; i < all; i++) {
        int k = 0;
        while (k < n && value[k] < p->value[i])
            k++;
        if (!isfinite(p->value[i]) ||
            (n == DISTINCT && (k == n || value[k] != p->value[i])))
            return 0;
        if (k == n || value[k] != p->value[i]) {
            memmove(value + k + 1, value + k, (size_t)(n - k) * sizeof(*value));
            memmove(of + k + 1, of + k, (size_t)(n - k) * sizeof(*of));
            value[k] = p->value[i];
            of[k].value = 0;
            n++;
        }
        of[k].value++;
    }
    for (int k = 0; k < n; k++)
        snprintf(of[k].name, sizeof(of[k].name), "n of %s",
                 LAB_VALUE_TEXT(value[k], 8));
    return n;
}

/* One tensor: name and statistics in a line, its values or their histogram, from least
 * to most, below; beside it the figures that the line has no room for, or at its ends
 * the least and the most. */
static void draw_spread(struct lab_stepper *v, struct lab_canvas *c,
                        struct lab_rect r, const struct lab_plane *p)
{
    enum { APART = 2, SIDE_W = APART + 9, COUNT_W = 30 };
    struct named_value counts[DISTINCT];
    struct lab_rect row = lab_rect_cut_top(&r, 1);
    lab_canvas_add(c, &row, LAB_ROLE_HEADING, "%s",
                   v->snap.plan->tensors[p->tensor].name);
    lab_rect_cut_left(&row, 2);
    struct lab_rect side = {0};
    const bool values = has_few_values(v, p, r.h, r.w);
    const int n = values ? 0 : count_values(v, p, counts);
    if (values) {
        draw_values(c, r, p);
        take(v, r);
    } else if (n > 0 && n <= r.h * largest(r.w / COUNT_W, 1)) {
        draw_in_columns(c, r, counts, n, false);
        take(v, r);
    } else if (r.w < LAB_HISTOGRAM_BINS + SIDE_W) {
        draw_histogram(&p->stats, c, r);
        take(v, r);
    } else {
        side = r;
        struct lab_rect bins =
            lab_rect_cut_left(&side, draw_bins(&p->stats, c, r));
        take(v, bins);
        lab_rect_cut_left(&side, APART);
    }
    draw_stats(&p->stats, c, row, side);
}

/* Columns that a picture or a table leaves at the right of `r` where these have room
 * for the spread of the values; else none. */
static int left_by_plane(const struct lab_stepper *v,
                         const struct lab_canvas *c, struct lab_rect r)
{
    enum { LEAST_H = 20, LEAST_W = 34, APART = 3 };
    const struct lab_plane *p = &v->snap.plane;
    const struct lab_heat_room room = room_of(v, c, r);
    const int64_t last = p->rows > 1 ? look_now(v)->show.row_first + p->rows
                                     : look_now(v)->show.col_first + p->cols;
    int64_t used = lab_labels_width(p, c) + APART;
    if (r.h < LEAST_H || look_now(v)->show.sheet)
        return 0;
    if (v->numbers) {
        used += snprintf(NULL, 0, "%lld", (long long)last);
        used +=
            NUMBER_W *
            lab_heat_fold(p->rows, p->cols, fold_of(v), r.w / NUMBER_W).cols;
    } else {
        const struct lab_heat_grid g =
            lab_heat_fit(p->rows, p->cols, fold_of(v), &room);
        used += (int64_t)g.cells_w * g.cell_w;
    }
    return r.w - used >= LEAST_W ? (int)(r.w - used) : 0;
}

/* What computes the step, from its function on; false: it is not at hand, or there
 * is no room. */
static bool draw_source(struct lab_stepper *v, struct lab_canvas *c,
                        struct lab_rect r)
{
    enum { LEAST_H = 5, LEAST_W = 44 };
    const struct lab_schedule_step *now = step_now(v);
    const struct lab_variant *variant = now ? now->variant : NULL;
    if (r.h < LEAST_H || r.w < LEAST_W || !v->model.source_for || !variant ||
        !variant->source)
        return false;
    if (v->source_text.of != variant) {
        lab_doc_clear(&v->source_text.doc);
        v->model.source_for(v->model.user, variant->source, variant->symbol,
                            &v->source_text.doc);
        lab_pager_show(&v->source_text.pager, &v->source_text.doc);
        v->source_text.of = variant;
    }
    if (v->source_text.doc.para_count == 0)
        return false;
    struct lab_rect head = lab_rect_cut_top(&r, 1);
    lab_canvas_add(c, &head, LAB_ROLE_HEADING, "%s", variant->source);
    lab_canvas_add(c, &head, LAB_ROLE_DIM, "  o opens it");
    v->source_text.shown = true;
    lab_pager_goto(&v->source_text.pager, v->source_text.doc.first);
    lab_pager_draw(&v->source_text.pager, c, r);
    return true;
}

/* What the picture that was drawn last leaves of `r` below it. */
static struct lab_rect below_heat(const struct lab_stepper *v,
                                  struct lab_rect r)
{
    const struct lab_heat_grid g = grid_now(v);
    const int used = v->cells.y - r.y + lab_heat_height(&g);
    lab_rect_cut_top(&r, used < r.h ? used : r.h);
    return r;
}

/* Columns of a value below a row of cells, and of the index before a line of them. */
enum { ROW_VALUE_W = 8, ROW_INDEX_W = 5 };

/* Values in a line of `w` columns below a row of cells; 0: they have none, as of a
 * matrix, or as they have their numbers inside. */
static int64_t row_values_across(const struct lab_stepper *v, int w)
{
    const struct lab_plane *p = &v->snap.plane;
    const struct lab_heat_grid g = grid_now(v);
    const bool none = p->rows != 1 || p->tiles > 1 || w < ROW_INDEX_W ||
                      lab_heat_has_numbers(g.cell_h, g.cell_w);
    return none ? 0 : (w - ROW_INDEX_W) / ROW_VALUE_W;
}

/* A value of the cursor's plane in a column of a table. */
static void draw_table_value(const struct lab_stepper *v, struct lab_canvas *c,
                             int y, int x, int w, int64_t index)
{
    const double value = v->snap.plane.value[index];
    lab_canvas_textf(c, y, x, w,
                     index == v->cursor ? LAB_ROLE_CURSOR
                     : isfinite(value)  ? LAB_ROLE_NORMAL
                                        : LAB_ROLE_BAD,
                     "%*s", w - 1, LAB_VALUE_TEXT(value, w - 1));
}

/* The values with the index of the first of a line; where not all have room, those
 * around the cursor. */
static void draw_row_values(const struct lab_stepper *v, struct lab_canvas *c,
                            struct lab_rect r)
{
    const struct lab_plane *p = &v->snap.plane;
    const int64_t across = row_values_across(v, r.w);
    if (across < 1 || r.h < 1)
        return;
    const int64_t page = across * r.h;
    const int64_t first = p->cols <= page ? 0 : v->cursor / page * page;
    for (int64_t i = first; i < p->cols && i < first + page; i++) {
        const int64_t at = i - first;
        const int y = r.y + (int)(at / across);
        if (at % across == 0)
            lab_canvas_textf(c, y, r.x, ROW_INDEX_W, LAB_ROLE_DIM, "%*lld",
                             ROW_INDEX_W - 1,
                             (long long)(p->show.col_first + i));
        draw_table_value(v, c, y,
                         r.x + ROW_INDEX_W + (int)(at % across) * ROW_VALUE_W,
                         ROW_VALUE_W, i);
    }
}

/* Below a picture: of a row its values, then what computes the step, which has half
 * of the rows where not all values have room. false: the source is not there. */
static bool draw_below(struct lab_stepper *v, struct lab_canvas *c,
                       struct lab_rect r)
{
    r = below_heat(v, r);
    const int64_t across = row_values_across(v, r.w);
    const int64_t lines =
        across > 0 ? (v->snap.plane.cols + across - 1) / across : 0;
    struct lab_rect rest = r;
    struct lab_rect values =
        lab_rect_cut_top(&rest, lines < r.h / 2 ? (int)lines : r.h / 2);
    lab_rect_cut_top(&rest, rest.h > 0 ? 1 : 0);
    const bool source = draw_source(v, c, rest);
    draw_row_values(v, c, source ? values : r);
    return source;
}

enum { SLICES_W = 24 }; /* columns of slices, at least */

/* The plane of the slices beside the board or the picture, NULL: there is none, or not yet. */
static const struct lab_plane *slices_plane(const struct lab_stepper *v)
{
    for (int i = 0; i < v->snap.n_board; i++) {
        const struct lab_plane *p = &v->snap.board[i];
        if (p->show.sheet && p->tensor == v->tensor && p->value && p->written &&
            p->tiles > 1)
            return p;
    }
    return NULL;
}

/* The other channels, samples or heads of the cursor's tensor, with the chosen one's
 * number bright: as many as have room. `r` loses the rows. *next is the first one of the
 * place, and then of the next place; -1: the first place, which has the chosen one.
 * Returns the columns used. */
static int draw_slices(const struct lab_stepper *v, struct lab_canvas *c,
                       struct lab_rect *r, int64_t *next)
{
    enum { LEAST_H = 4, TITLE_W = 4, SHRUNK_LEAST = 12 /* rows of cells */ };
    char colours[40];
    const struct lab_plane *p = slices_plane(v);
    if (!p || r->h < LEAST_H || r->w < SLICES_W)
        return 0;
    const int64_t before = p->show.tile_first;
    const int64_t chosen = look_now(v)->show.fixed[p->show.sheet - 1] - before;
    if (chosen < 0 || chosen >= p->tiles) /* others are on their way */
        return 0;
    const int64_t left = p->tiles - (*next > 0 ? *next : 0);
    struct lab_heat m = {
        .most = lab_heat_scale(p->value, p->tiles * p->rows * p->cols),
        .diverging =
            lab_board_signed(v->snap.plan, p->tensor, !(p->stats.min >= 0)),
        .cursor = -1};
    struct lab_heat_room room = {.halves = c->tints && !c->ascii,
                                 .square = is_picture(v)};
    room.mean = room.square && !m.diverging;
    const bool alone = *next >= 0; /* else one alone is there already */
    int64_t most = alone ? 0 : 1;
    int64_t best = 0;
    int64_t across = 1;
    int64_t down = 1;
    /* As many as there are whole; else pictures up to half as large, which fill most. */
    for (int shrunk = 0; best == 0 && shrunk <= room.square; shrunk++)
        for (int64_t k = 1; k <= left && k <= r->w / (TITLE_W + 1); k++)
            for (int64_t rows = 1;
                 rows <= (left + k - 1) / k && (r->h - 1) / rows > 1; rows++) {
                room.h = (int)((r->h - 1) / rows) - 1;
                room.w = (int)(r->w / k) - 1;
                const struct lab_heat_grid g =
                    lab_heat_fit(p->rows, p->cols, 0, &room);
                const int64_t all = rows * k < left ? rows * k : left;
                const int64_t area =
                    all * g.cells_h * g.cell_h * g.cells_w * g.cell_w;
                const bool small =
                    shrunk ? g.cells_h * 2 < g.rows || g.cells_h < SHRUNK_LEAST
                           : lab_heat_is_shared(&g);
                const bool more =
                    shrunk ? area > best
                           : all > most || (all == most && area > best);
                if (small || all < (alone ? 1 : 2) || !more)
                    continue;
                most = all;
                best = area;
                across = k;
                down = rows;
                m.grid = g;
            }
    if (best == 0)
        return 0;
    const int64_t page = across * down;
    const int64_t first = *next < 0 ? chosen / page * page : *next;
    *next = first + page;
    const int tile_h = lab_heat_height(&m.grid) + 1;
    const int tile_w = largest(m.grid.cells_w * m.grid.cell_w + 1, TITLE_W + 1);
    struct lab_rect head = lab_rect_cut_top(r, 1);
    lab_canvas_add(c, &head, LAB_ROLE_HEADING, "%s", tensor_of(v)->name);
    for (int i = 0; i < tensor_of(v)->shape.rank; i++) {
        lab_canvas_add(c, &head, LAB_ROLE_HEADING, i ? "," : "[");
        if (is_shown(&p->show, i))
            lab_canvas_add(c, &head, LAB_ROLE_HEADING,
                           i == p->show.row_axis ? "↓" : "→");
        else if (i == p->show.sheet - 1)
            lab_canvas_add(c, &head, LAB_ROLE_HEADING, "*");
        else
            lab_canvas_add(c, &head, LAB_ROLE_HEADING, "%lld",
                           (long long)p->show.fixed[i]);
    }
    lab_canvas_add(c, &head, LAB_ROLE_HEADING, "]");
    lab_canvas_add(
        c, &head, LAB_ROLE_DIM, "  * %lld to %lld of %lld",
        (long long)(before + first),
        (long long)(before +
                    (first + page < p->tiles ? first + page : p->tiles)) -
            1,
        (long long)axis_size(&tensor_of(v)->shape, p->show.sheet - 1));
    snprintf(colours, sizeof(colours), "  colours %s%.3g",
             !m.diverging ? "0 to "
             : c->ascii   ? "+-"
                          : "±",
             m.most);
    put_whole(c, &head, LAB_ROLE_DIM, colours);
    int used = 0;
    for (int64_t i = 0; i < page && first + i < p->tiles; i++) {
        const int64_t tile = first + i;
        const int y = r->y + (int)(i / across) * tile_h;
        const int x = r->x + (int)(i % across) * tile_w;
        m.value = p->value + tile * p->rows * p->cols;
        lab_canvas_textf(
            c, y, x, tile_w, tile == chosen ? LAB_ROLE_TITLE : LAB_ROLE_DIM,
            tile == chosen ? "[%lld]" : " %lld", (long long)(before + tile));
        lab_heat_draw(c, y + 1, x, &m);
        used = y + tile_h - r->y;
    }
    lab_rect_cut_top(r, used + 1);
    return (int)(across < left ? across : left) * tile_w;
}

/* Columns that a picture alone leaves at the right for two others of its tensor, whole
 * and below a line each; else none. `r` is without the lines below the picture. */
static int left_for_slices(const struct lab_stepper *v,
                           const struct lab_canvas *c, struct lab_rect r)
{
    enum { LINES = 2, APART = 2 };
    const struct lab_plane *p = &v->snap.plane;
    struct lab_heat_room room = room_of(v, c, r);
    if (v->numbers || look_now(v)->show.sheet || !slices_plane(v))
        return 0;
    const struct lab_heat_grid g =
        lab_heat_fit(p->rows, p->cols, fold_of(v), &room);
    const int left =
        r.w - lab_labels_width(p, c) - g.cells_w * g.cell_w - 1 - APART;
    room.h = r.h - LINES;
    room.w = left / 2 - 1;
    if (left < SLICES_W || room.h < 1)
        return 0;
    const struct lab_heat_grid one = lab_heat_fit(p->rows, p->cols, 0, &room);
    return lab_heat_is_shared(&one) ? 0 : left;
}

/* ---- what fills the holes ---- */

enum { HOLE_H = 5, HOLE_W = 26 }; /* the least that has something to show */

/* The first, the last, the least and the largest, as many as have room. false: they are
 * one number. */
static bool draw_range(struct lab_canvas *c, struct lab_rect row,
                       const struct lab_curve *of)
{
    enum { DIGITS = 8 };
    struct figures f = {.row = row};
    double least = NAN;
    double most = NAN;
    for (int i = 0; i < of->n; i++) {
        least = fmin(least, of->value[i]);
        most = fmax(most, of->value[i]);
    }
    if (least == most) {
        put_stat(c, &f, DIGITS, "always", least);
        return false;
    }
    put_stat(c, &f, DIGITS, "first", of->value[0]);
    put_stat(c, &f, DIGITS, "last", of->value[of->n - 1]);
    put_stat(c, &f, DIGITS, "least", least);
    put_stat(c, &f, DIGITS, "largest", most);
    return true;
}

/* The series, without a legend, over all that they reach. */
static void draw_series(struct lab_canvas *c, struct lab_rect r,
                        const char *x_name, const struct lab_series *series,
                        int count)
{
    const struct lab_chart chart = {.x_name = x_name,
                                    .series = series,
                                    .count = count,
                                    .y_min = NAN,
                                    .y_max = NAN,
                                    .unlisted = true};
    lab_chart_draw(c, r, &chart);
}

/* The explained element over the iterations, and below it its gradient or what it is the
 * gradient of. Returns the rows used. */
static int draw_past(const struct lab_stepper *v, struct lab_canvas *c,
                     struct lab_rect r, const struct lab_plane *p)
{
    (void)p;
    enum { MOST_H = 20, APART = 2, FIGURES_W = 30 };
    const int top = r.y;
    for (int i = 0; i < 2; i++) {
        const struct lab_curve *of = &v->snap.past[i].values;
        const struct lab_series series = {.y = of->value,
                                          .at = of->iteration,
                                          .n = of->n,
                                          .name = "",
                                          .role = i ? LAB_ROLE_SERIES_2
                                                    : LAB_ROLE_SERIES_1};
        char name[256];
        if (of->n < 2 || r.h < HOLE_H)
            continue;
        const int h = i == 0 && r.h > 2 * HOLE_H ? (r.h - 1) / 2 : r.h;
        struct lab_rect row = lab_rect_cut_top(&r, 1);
        lab_canvas_add(
            c, &row, LAB_ROLE_HEADING, "%s",
            element_name(v, &v->snap.past[i].element, name, sizeof(name)));
        int used = 1;
        lab_rect_cut_left(&row, APART);
        if (row.w < FIGURES_W && h > HOLE_H) { /* on a line of their own */
            row = lab_rect_cut_top(&r, 1);
            used++;
        }
        if (draw_range(c, row, of))
            draw_series(c,
                        lab_rect_cut_top(&r, (h < MOST_H ? h : MOST_H) - used),
                        "iteration", &series, 1);
        lab_rect_cut_top(&r, 1);
    }
    return r.y > top ? r.y - 1 - top : 0;
}

/* An input and an output of the step of the same shape, both whole: each element is a
 * point, that of the cursor bright. false: the step has none that differ. */
static bool find_pair(const struct lab_stepper *v,
                      const struct lab_plane **from,
                      const struct lab_plane **to)
{
    enum { MOST = 1 << 14 };
    const struct lab_board_view *b = &v->board.view;
    const struct lab_tensor *all = v->snap.plan->tensors;
    const struct lab_schedule_step *now = step_now(v);
    for (int k = 0; now && k < b->board.n * b->board.n; k++) {
        const struct lab_plane *p = lab_board_plane(b, k % b->board.n);
        const struct lab_plane *q = lab_board_plane(b, k / b->board.n);
        if (p && q && p->value && q->value && p->written && q->written &&
            reads(now->step, p->tensor) && writes(now->step, q->tensor) &&
            p->tensor != q->tensor &&
            lab_shape_equal(&all[p->tensor].shape, &all[q->tensor].shape) &&
            p->tiles == 1 && q->tiles == 1 && p->rows == q->rows &&
            p->cols == q->cols && p->show.row_axis == q->show.row_axis &&
            p->show.col_axis == q->show.col_axis &&
            memcmp(p->show.fixed, q->show.fixed, sizeof(p->show.fixed)) == 0 &&
            p->rows * p->cols <= MOST && p->stats.min < p->stats.max &&
            q->stats.min < q->stats.max) {
            *from = p;
            *to = q;
            return true;
        }
    }
    return false;
}

static int draw_pair(const struct lab_stepper *v, struct lab_canvas *c,
                     struct lab_rect r, const struct lab_plane *p)
{
    (void)p;
    enum { MOST_H = 20, FAR_W = 3 };
    const struct lab_plane *x;
    const struct lab_plane *y;
    if (!find_pair(v, &x, &y))
        return 0;
    const int64_t n = x->rows * x->cols;
    const bool one = v->cursor >= 0 && v->cursor < n &&
                     (v->tensor == x->tensor || v->tensor == y->tensor);
    const struct lab_series series[] = {{.x = x->value,
                                         .y = y->value,
                                         .n = n,
                                         .role = LAB_ROLE_SERIES_1,
                                         .points = true},
                                        {.x = x->value + (one ? v->cursor : 0),
                                         .y = y->value + (one ? v->cursor : 0),
                                         .n = one ? 1 : 0,
                                         .role = LAB_ROLE_MARK,
                                         .points = true}};
    const char *const x_name = v->snap.plan->tensors[x->tensor].name;
    r.h = r.h < MOST_H ? r.h : MOST_H;
    struct lab_rect plot = r;
    struct lab_rect row = lab_rect_cut_top(&plot, 1);
    lab_canvas_add(c, &row, LAB_ROLE_HEADING, "%s",
                   v->snap.plan->tensors[y->tensor].name);
    lab_canvas_add(c, &row, LAB_ROLE_DIM, " by %s, of each element", x_name);
    draw_series(c, plot, x_name, series, 2);
    return r.h;
}

static bool is_sum(const struct lab_explanation *e, int64_t least_terms)
{
    return e->tensor >= 0 && !e->unwritten && e->n_terms_all >= least_terms &&
           e->n_terms >= least_terms;
}

/* The sum of the largest term, of the largest two, and so on: how many matter, and what
 * cancels. Returns the rows used; 0: no sum of several terms is explained. */
static int draw_sum(const struct lab_stepper *v, struct lab_canvas *c,
                    struct lab_rect r, const struct lab_plane *p)
{
    (void)p;
    enum { LEAST = 4, MOST_H = 14 };
    const struct lab_explanation *e = &v->snap.explanation;
    double *sum = is_sum(e, LEAST)
                      ? lab_alloc_array((size_t)e->n_terms + 1, sizeof(*sum))
                      : NULL;
    if (!sum)
        return 0;
    sum[0] = 0;
    for (int64_t k = 0; k < e->n_terms; k++)
        sum[k + 1] = sum[k] + e->terms[k].value;
    const struct lab_series series = {
        .y = sum, .n = e->n_terms + 1, .name = "", .role = LAB_ROLE_SERIES_1};
    r.h = r.h < MOST_H ? r.h : MOST_H;
    struct lab_rect plot = r;
    struct lab_rect row = lab_rect_cut_top(&plot, 1);
    lab_canvas_add(c, &row, LAB_ROLE_HEADING, "%s", e->name ? e->name : "?");
    put_whole(c, &row, LAB_ROLE_DIM, ", sum of the largest");
    draw_series(c, plot, "terms", &series, 1);
    lab_free(sum);
    return r.h;
}

enum { BRIEF_TEXT = 2 * LAB_TERM_TEXT };

/* "0.70375*-0.086874" with four digits a number; those in names stay. */
static const char *brief_text(const char *text, char out[BRIEF_TEXT])
{
    size_t at = 0;
    out[0] = '\0';
    while (*text && at < BRIEF_TEXT) {
        bool name = false;
        size_t n = 0;
        while (text[n] && (name || !isdigit((unsigned char)text[n]))) {
            name = isalnum((unsigned char)text[n]) || text[n] == '_';
            n++;
        }
        at += (size_t)snprintf(out + at, BRIEF_TEXT - at, "%.*s", (int)n, text);
        text += n;
        if (!*text || at >= BRIEF_TEXT)
            break;
        char *end = NULL;
        const double number = strtod(text, &end);
        at +=
            (size_t)snprintf(out + at, BRIEF_TEXT - at,
                             number == floor(number) ? "%.9g" : "%.4g", number);
        text = end;
    }
    return out;
}

/* The terms of the explained element with their bars, the largest first, where its own
 * pane has no room for all. Returns the rows used; 0: it is no such sum. */
static int draw_terms(const struct lab_stepper *v, struct lab_canvas *c,
                      struct lab_rect r, const struct lab_plane *p)
{
    (void)p;
    enum { COLUMN_W = 40, FORMULA_H = 4 }; /* that pane's title and head */
    const struct lab_explanation *e = &v->snap.explanation;
    struct named_value of[NAMED_MOST];
    char text[BRIEF_TEXT];
    char name[160];
    if (!is_sum(e, 2) ||
        e->n_terms_all + FORMULA_H <= v->layout.pane[LAB_PANE_EXPLAIN].h)
        return 0;
    struct lab_rect row = lab_rect_cut_top(&r, 1);
    int64_t n = (int64_t)r.h * largest(r.w / COLUMN_W, 1);
    n = n < e->n_terms ? n : e->n_terms;
    n = n < NAMED_MOST ? n : NAMED_MOST;
    for (int64_t i = 0; i < n; i++) {
        const struct lab_term *t = &e->terms[i];
        const char *as = brief_text(t->text, text);
        if (t->n_sources > 0 &&
            strcmp(t->text, LAB_VALUE_TEXT(t->value, 9)) == 0)
            as = element_name(v, &t->source[0], name, sizeof(name));
        of[i].value = t->value;
        snprintf(of[i].name, sizeof(of[i].name), "%.31s", as);
    }
    lab_canvas_add(c, &row, LAB_ROLE_HEADING, "%s", e->name ? e->name : "?");
    snprintf(text, sizeof(text),
             n < e->n_terms_all ? ", the largest %lld of %lld terms"
                                : ", its %lld terms",
             (long long)n, (long long)e->n_terms_all);
    put_whole(c, &row, LAB_ROLE_DIM, text);
    return 1 + draw_in_columns(c, r, of, (int)n, false);
}

/* A name, a bar of `share`, and a text at the right. */
static void draw_share(struct lab_canvas *c, struct lab_rect row,
                       const char *name, double share, enum lab_role role,
                       const char *text)
{
    enum { NAME_W = 17, TEXT_W = 8 };
    lab_canvas_text_cut(c, row.y, row.x + 1, NAME_W, LAB_ROLE_NORMAL, name);
    lab_bar_draw(c, row.y, row.x + NAME_W + 2, row.w - NAME_W - 3 - TEXT_W,
                 share, 0, 1, role);
    lab_canvas_text(c, row.y, row.x + row.w - lab_canvas_columns(c, text),
                    TEXT_W, LAB_ROLE_DIM, text);
}

/* What a step reads and writes, and what it computes for each byte; 0: not all tensors have
 * room, or it reads a part of one alone. */
static int draw_traffic(const struct lab_stepper *v, struct lab_canvas *c,
                        struct lab_rect r, const struct lab_plane *p)
{
    enum { MOST = LAB_STEP_IN + LAB_STEP_OUT };
    const struct lab_schedule_step *now = step_now(v);
    const struct lab_step *step = now ? now->step : NULL;
    const int n = step ? step->n_in + step->n_out : 0;
    double bytes[MOST];
    double most = 0;
    double all = 0;
    int rows = 0;
    (void)p;
    for (int i = 0; i < n; i++) {
        bytes[i] = lab_step_tensor_bytes(v->snap.plan, step, i);
        most = fmax(most, bytes[i]);
        all += bytes[i];
        rows += bytes[i] > 0;
    }
    if (rows < 2 || rows >= r.h || all != step->bytes)
        return 0;
    struct lab_rect row = lab_rect_cut_top(&r, 1);
    lab_canvas_add(c, &row, LAB_ROLE_HEADING, "r: read, w: written");
    if (step->flop > 0) {
        char text[32];
        snprintf(text, sizeof(text), "  %s FLOP a byte",
                 LAB_DIGITS_TEXT(step->flop / all, 3));
        put_whole(c, &row, LAB_ROLE_DIM, text);
    }
    for (int i = 0; i < n; i++) {
        if (!(bytes[i] > 0))
            continue;
        const bool out = i >= step->n_in;
        const struct lab_tensor *t =
            &v->snap.plan
                 ->tensors[out ? step->out[i - step->n_in] : step->in[i]];
        char name[64];
        snprintf(name, sizeof(name), "%s %.60s",
                 !out            ? "r"
                 : t->persistent ? "rw"
                                 : "w",
                 t->name);
        draw_share(c, lab_rect_cut_top(&r, 1), name, bytes[i] / most,
                   out ? LAB_ROLE_SERIES_2 : LAB_ROLE_SERIES_1,
                   LAB_BYTES_TEXT(bytes[i]));
    }
    return 1 + rows;
}

/* What the letters of the step's formula run over. */
static int draw_letters(const struct lab_stepper *v, struct lab_canvas *c,
                        struct lab_rect r, const struct lab_plane *p)
{
    const struct lab_schedule_step *now = step_now(v);
    struct lab_formula f;
    unsigned bound[LAB_FORMULA_REFS];
    unsigned summed = 0;
    int64_t most = 1;
    int used = 0;
    int all = 0;
    (void)p;
    if (!now || now->step->group || !now->step->source ||
        lab_formula_of(&f, v->snap.plan, now->step))
        return 0;
    for (int i = 0; i < f.n_statements; i++) {
        lab_formula_bound(&f, i, bound);
        for (int k = 0; k < f.n_refs; k++)
            summed |= bound[k];
    }
    for (int i = 0; i < f.n_letters; i++)
        most = f.letters[i].extent > most ? f.letters[i].extent : most;
    struct lab_rect row = lab_rect_cut_top(&r, 1);
    for (int i = 0; i < f.n_letters; i++) {
        const int64_t n = f.letters[i].extent;
        char name[64];
        char text[24];
        if (n < 1 || f.letters[i].name[0] == '\0')
            continue;
        all++;
        if (r.h < 1)
            continue;
        snprintf(name, sizeof(name), "%s %s", f.letters[i].name,
                 summed >> i & 1U ? "summed" : "each");
        snprintf(text, sizeof(text), n > 1 ? "0..%lld" : "0", (long long)n - 1);
        draw_share(c, lab_rect_cut_top(&r, 1), name, (double)n / (double)most,
                   summed >> i & 1U ? LAB_ROLE_SERIES_2 : LAB_ROLE_SERIES_1,
                   text);
        used++;
    }
    if (used > 0)
        lab_canvas_add(c, &row, LAB_ROLE_HEADING, "letters of the formula");
    if (used < all) {
        char text[32];
        snprintf(text, sizeof(text), ", %d of %d", used, all);
        put_whole(c, &row, LAB_ROLE_DIM, text);
    }
    return used > 0 ? used + 1 : 0;
}

/* The name of a plane's tensor, and in weak colour what is shown of it, and whether the
 * plane is not all of it. */
static void head_of(const struct lab_stepper *v, struct lab_canvas *c,
                    struct lab_rect *r, const struct lab_plane *p,
                    const char *what)
{
    const struct lab_tensor *t = &v->snap.plan->tensors[p->tensor];
    char text[96];
    snprintf(text, sizeof(text), "%s%s",
             p->rows * p->cols < t->count ? ", this slice" : "", what);
    struct lab_rect row = lab_rect_cut_top(r, 1);
    const int room = largest(row.w - lab_canvas_columns(c, text), row.w / 2);
    lab_rect_cut_left(&row, lab_canvas_text_cut(c, row.y, row.x, room,
                                                LAB_ROLE_HEADING, t->name));
    put_whole(c, &row, LAB_ROLE_DIM, text);
}

/* A vector over its index. */
static int draw_curve(const struct lab_stepper *v, struct lab_canvas *c,
                      struct lab_rect r, const struct lab_plane *p)
{
    enum { LEAST = 16, MOST_H = 16 };
    const int64_t n = p->rows * p->cols;
    if ((p->rows != 1 && p->cols != 1) || n < LEAST || p->tiles != 1 ||
        !(p->stats.min < p->stats.max))
        return 0;
    const struct lab_series series = {
        .y = p->value, .n = n, .name = "", .role = LAB_ROLE_SERIES_2};
    r.h = r.h < MOST_H ? r.h : MOST_H;
    struct lab_rect plot = r;
    head_of(v, c, &plot, p, " over its index");
    draw_series(c, plot, "index", &series, 1);
    return r.h;
}

/* All values by size: where half of them lies, how far the ends reach. */
static int draw_order(const struct lab_stepper *v, struct lab_canvas *c,
                      struct lab_rect r, const struct lab_plane *p)
{
    enum { LEAST = 8, MOST = 1 << 12, POINTS = 64, MOST_H = 16 };
    const int64_t all = p->rows * p->cols;
    double share[POINTS];
    double value[POINTS];
    int64_t n = 0;
    double *sorted = all >= LEAST && all <= MOST && p->tiles == 1
                         ? lab_alloc_array((size_t)all, sizeof(*sorted))
                         : NULL;
    if (!sorted)
        return 0;
    for (int64_t i = 0; i < all; i++)
        if (isfinite(p->value[i]))
            sorted[n++] = p->value[i];
    lab_sort_reals(sorted, (size_t)n);
    for (int i = 0; i < POINTS; i++) {
        const double q = (double)i / (POINTS - 1);
        share[i] = 100 * q;
        value[i] = lab_quantile(sorted, (size_t)n, q);
    }
    const double median = lab_quantile(sorted, (size_t)n, 0.5);
    lab_free(sorted);
    if (n < LEAST || value[0] == value[POINTS - 1])
        return 0;
    const struct lab_series series = {.x = share,
                                      .y = value,
                                      .n = POINTS,
                                      .name = "",
                                      .role = LAB_ROLE_SERIES_3};
    char what[64];
    r.h = r.h < MOST_H ? r.h : MOST_H;
    struct lab_rect plot = r;
    snprintf(what, sizeof(what), " by size, median %s",
             LAB_VALUE_TEXT(median, 7));
    head_of(v, c, &plot, p, what);
    draw_series(c, plot, "% of the values", &series, 1);
    return r.h;
}

/* The elements that are furthest from zero. */
static int draw_largest_elements(const struct lab_stepper *v,
                                 struct lab_canvas *c, struct lab_rect r,
                                 const struct lab_plane *p)
{
    enum { LEAST = 32, COLUMN_W = 28 };
    const int64_t all = p->rows * p->cols;
    struct named_value of[NAMED_MOST];
    struct named_value one;
    int n = 0;
    bool listed = false;
    for (int i = 0; i < v->n_listed; i++)
        listed = listed || v->listed[i] == p;
    if (all < LEAST || p->tiles != 1 ||
        (listed && (p->rows == 1 || p->cols == 1)))
        return 0;
    head_of(v, c, &r, p, ", the largest");
    int most = r.h * largest(r.w / COLUMN_W, 1);
    most = most < NAMED_MOST ? most : NAMED_MOST;
    for (int64_t i = 0; i < all; i++) {
        one.value = p->value[i];
        if (n == most && by_size(&one, &of[n - 1]) >= 0)
            continue;
        name_element(p, i / p->cols, i % p->cols, &one);
        int at = n < most ? n++ : n - 1;
        for (; at > 0 && by_size(&one, &of[at - 1]) < 0; at--)
            of[at] = of[at - 1];
        of[at] = one;
    }
    return 1 + draw_in_columns(c, r, of, n, true);
}

/* What fills holes, in this order, the largest hole first: what draws it (0 rows: there
 * is nothing to show), its least place, the columns that it uses at most (0: all), and
 * whether each tensor in sight has one. */
static const struct {
    int (*draw)(const struct lab_stepper *v, struct lab_canvas *c,
                struct lab_rect r, const struct lab_plane *p);
    int h;
    int w;
    int most_w;
    bool each;
} fillers[FILLERS] = {
    [FILL_PAST] = {draw_past, HOLE_H, HOLE_W, 0, false},
    [FILL_PAIR] = {draw_pair, HOLE_H, HOLE_W, 0, false},
    [FILL_TERMS] = {draw_terms, HOLE_H, HOLE_W, 0, false},
    [FILL_SUM] = {draw_sum, HOLE_H, HOLE_W, 0, false},
    [FILL_CURVE] = {draw_curve, 6, HOLE_W, 0, true},
    [FILL_TRAFFIC] = {draw_traffic, 3, 34, 48, false},
    [FILL_LETTERS] = {draw_letters, 3, 30, 48, false},
    [FILL_ORDER] = {draw_order, 6, HOLE_W, 60, true},
    [FILL_LARGEST] = {draw_largest_elements, 4, 18, 60, true},
};

static bool is_blank(const struct lab_cell *cell)
{
    return strcmp(cell->text, " ") == 0 && cell->paper == LAB_TINT_NONE &&
           cell->image == 0;
}

/* Which of the w cells from (y, x) on are in one of n rectangles. */
static void find_taken(int y, int x, int w, const struct lab_rect *taken, int n,
                       bool *out)
{
    memset(out, 0, (size_t)w * sizeof(*out));
    for (int i = 0; i < n; i++)
        for (int at = largest(taken[i].x, x);
             lab_rect_has(taken[i], y, at) && at < x + w; at++)
            out[at - x] = true;
}

/* The largest rectangle of blank cells of `r` outside of n rectangles, with a line and
 * some columns left to what is above and at its left; h 0: none has the least size. */
static struct lab_rect find_hole(const struct lab_canvas *c, struct lab_rect r,
                                 const struct lab_rect *taken, int n,
                                 int least_h, int least_w)
{
    enum { APART = 2, MOST_W = 512 };
    struct lab_rect best = {r.y, r.x, 0, 0};
    int free_h[MOST_W + 1] = {0}; /* rows of a column from this one up */
    bool is_taken[MOST_W];
    struct {
        int x;
        int h;
    } open[MOST_W + 1]; /* what goes on to the right, the lowest first */
    const int w = r.w < MOST_W ? r.w : MOST_W;
    for (int y = r.y; y < r.y + r.h; y++) {
        const struct lab_cell *cells = c->cells + y * c->w + r.x;
        int n_open = 0;
        find_taken(y, r.x, w, taken, n, is_taken);
        for (int x = 0; x <= w; x++) {
            if (x < w)
                free_h[x] =
                    !is_taken[x] && is_blank(&cells[x]) ? free_h[x] + 1 : 0;
            int from = x;
            while (n_open > 0 && open[n_open - 1].h >= free_h[x]) {
                const int h = open[--n_open].h;
                from = open[n_open].x;
                struct lab_rect one = {y + 1 - h, r.x + from, h, x - from};
                lab_rect_cut_top(&one, one.y > r.y ? 1 : 0);
                lab_rect_cut_left(&one, from > 0 ? APART : 0);
                if (one.h >= least_h && one.w >= least_w &&
                    one.h * one.w > best.h * best.w)
                    best = one;
            }
            open[n_open].x = from;
            open[n_open++].h = free_h[x];
        }
    }
    return best;
}

/* Draws it in the upper left of *r, unless this frame has it. `k`, p: the tensor. *r:
 * what it takes. Returns whether it is there. */
static bool fill(struct lab_stepper *v, struct lab_canvas *c,
                 struct lab_rect *r, enum filler what, int k,
                 const struct lab_plane *p)
{
    const unsigned bit = 1U << k;
    const int most = fillers[what].most_w;
    if (v->filled[what] & bit || r->h < fillers[what].h ||
        r->w < fillers[what].w)
        return false;
    r->w = most > 0 && r->w > most ? most : r->w;
    r->h = fillers[what].draw(v, c, *r, p);
    if (r->h == 0)
        return false;
    v->filled[what] |= bit;
    take(v, *r);
    return true;
}

/* An element's past, in the right half of a wide place or the upper half of another, or
 * in all of it; *r loses that part. */
static void fill_side(struct lab_stepper *v, struct lab_canvas *c,
                      struct lab_rect *r)
{
    enum { WIDE = 28, APART = 2 };
    struct lab_rect rest = *r;
    const bool wide = r->w >= 2 * WIDE + APART;
    struct lab_rect at =
        wide ? lab_rect_cut_right(&rest, (r->w - APART) / 2) : rest;
    if (!wide && r->h > 2 * HOLE_H)
        at.h = r->h / 2;
    if (at.h < HOLE_H || at.w < HOLE_W)
        return;
    if (!fill(v, c, &at, FILL_PAST, 0, NULL))
        return;
    if (wide)
        lab_rect_cut_right(&rest, APART);
    else
        lab_rect_cut_top(&rest, at.h + 1);
    *r = rest;
}

/* The planes of the board whose values have a distribution: that of the cursor's
 * tensor, then from the result back. */
static int spread_planes(const struct lab_stepper *v,
                         const struct lab_plane *out[LAB_BOARD_PARTS])
{
    const struct lab_board_view *b = &v->board.view;
    int n = 0;
    for (int mine = 1; mine >= 0; mine--)
        for (int i = b->board.n - 1; i >= 0; i--) {
            const struct lab_plane *p = lab_board_plane(b, i);
            if (p && p->written && !isnan(p->stats.min) &&
                p->stats.min < p->stats.max &&
                (p->tensor == v->tensor) == (mine == 1))
                out[n++] = p;
        }
    return n;
}

/* The tensors that fillers are of. */
static int planes_in_sight(const struct lab_stepper *v,
                           const struct lab_plane *out[LAB_BOARD_PARTS])
{
    if (v->board.view.layout.fits)
        return spread_planes(v, out);
    out[0] = &v->snap.plane;
    return 1;
}

/* In what is left of `r`: what has not been drawn in this frame. */
static void fill_holes(struct lab_stepper *v, struct lab_canvas *c,
                       struct lab_rect r)
{
    const struct lab_plane *plane[LAB_BOARD_PARTS];
    const int n = planes_in_sight(v, plane);
    struct lab_rect largest_now = {0}; /* since the last that was drawn */
    bool known = false;
    for (enum filler i = 0; i < FILLERS; i++)
        for (int k = 0; k < (fillers[i].each ? n : 1); k++) {
            if (v->filled[i] >> k & 1U)
                continue;
            if (!known || largest_now.h < fillers[i].h ||
                largest_now.w < fillers[i].w)
                largest_now = find_hole(c, r, v->taken, v->n_taken,
                                        fillers[i].h, fillers[i].w);
            known = largest_now.h > 0;
            if (!known)
                break;
            struct lab_rect hole = largest_now;
            known = !fill(v, c, &hole, i, k, n > 0 ? plane[k] : NULL);
        }
}

/* Lists one below the other: of a column too narrow for charts. false: none. */
static bool fill_column(struct lab_stepper *v, struct lab_canvas *c,
                        struct lab_rect r)
{
    const struct lab_plane *plane[LAB_BOARD_PARTS];
    const int n = planes_in_sight(v, plane);
    bool any = false;
    for (int k = 0; k < n; k++)
        for (enum filler i = 0; i < FILLERS; i++) {
            struct lab_rect one = r;
            if (!fillers[i].each || !fill(v, c, &one, i, k, plane[k]))
                continue;
            any = true;
            lab_rect_cut_top(&r, one.h + 1 < r.h ? one.h + 1 : r.h);
        }
    return any;
}

static void draw_plane(struct lab_stepper *v, struct lab_canvas *c,
                       struct lab_rect r)
{
    enum { MOST_H = 20, BELOW_H = 2 }; /* of a histogram; cursor and figures */
    if (!plane_ready(v)) {
        lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_DIM, "reading ...");
        return;
    }
    if (!v->snap.plane.written) {
        draw_unwritten(v, c, r);
        return;
    }
    const struct look *look = look_now(v);
    v->cursor = in_plane(v, look->row, look->col);
    v->sheet.per_row = 0;
    bool larger = alone_is_larger(v, c, r);
    struct lab_rect beside =
        lab_rect_cut_right(&r, larger ? 0 : left_by_plane(v, c, r));
    struct lab_rect picture = r;
    lab_rect_cut_bottom(&picture, r.h > BELOW_H ? BELOW_H : 0);
    const int slices_w =
        larger || beside.w > 0 ? 0 : left_for_slices(v, c, picture);
    /* The pictures need the rows. */
    bool alone = larger || look->show.sheet || beside.w > 0 || slices_w > 0;
    struct lab_rect histogram = lab_rect_cut_bottom(&r, alone       ? 0
                                                        : r.h >= 20 ? 4
                                                        : r.h >= 6  ? 1
                                                                    : 0);
    struct lab_rect stats =
        lab_rect_cut_bottom(&r, !larger && r.h >= 3 ? 1 : 0);
    struct lab_rect cursor = lab_rect_cut_bottom(&r, r.h >= 2 ? 1 : 0);
    struct lab_rect slices = lab_rect_cut_right(&r, slices_w);
    int64_t next = -1;
    draw_slices(v, c, &slices, &next);
    if (v->numbers)
        draw_numbers(v, c, r);
    else if (look->show.sheet)
        draw_sheet(v, c, r);
    else
        draw_heat(v, c, r);
    const bool below = !v->numbers && !look->show.sheet;
    bool source = below && draw_below(v, c, r);
    if (below)
        fill_holes(v, c, below_heat(v, r));
    if (!lab_rect_empty(cursor))
        draw_cursor_line(v, c, cursor, &stats);
    if (!lab_rect_empty(stats))
        draw_stats(&v->snap.plane.stats, c, stats, (struct lab_rect){0});
    draw_histogram(&v->snap.plane.stats, c, histogram);
    struct lab_rect spread =
        lab_rect_cut_top(&beside, beside.h > MOST_H ? MOST_H : beside.h);
    if (!lab_rect_empty(spread))
        draw_spread(v, c, spread, &v->snap.plane);
    lab_rect_cut_top(&beside, 1);
    if (!source)
        draw_source(v, c, beside);
    fill_holes(v, c, beside);
}

/* ---- what a unit sees of an image ---- */

enum { PIXELS_LEAST = 64, PIXELS_MOST = 1024 };

/* A slice of a part of the board, of which each element belongs to a pixel. */
struct pixels {
    char name[64];
    enum lab_board_place place;
    double value[PIXELS_MOST];
};

/* The side of the images that are the rows of the data; 0: they are none. Ids are
 * no pixels. */
static int64_t side_of_images(const struct lab_plan *plan)
{
    const struct lab_tensor *x = plan->x >= 0 ? &plan->tensors[plan->x] : NULL;
    int64_t n =
        x && x->shape.rank == 2 && x->id_limit == 0 ? x->shape.dim[1] : 0;
    int64_t side = (int64_t)lround(sqrt((double)n));
    return n >= PIXELS_LEAST && n <= PIXELS_MOST && side * side == n ? side : 0;
}

/* The axis of a tensor that runs over the pixels of an image: that of the data's
 * features, and that of the weights that they meet. -1: none, whatever its length. */
static int axis_of_pixels(const struct lab_board_view *b, int tensor)
{
    const struct lab_plan *plan = b->snap->plan;
    if (tensor == plan->x)
        return 1;
    bool meets = false;
    for (int i = 0; i < b->board.n; i++)
        meets = meets || b->board.part[i].tensor == plan->x;
    const struct lab_tensor *t = &plan->tensors[tensor];
    bool weights = t->role == LAB_TENSOR_PARAM && t->shape.rank == 2;
    return meets && weights ? 0 : -1;
}

/* The row or the column of a part that has a number for each of n pixels and
 * belongs to the cursor's element; false: there is no such one, or it is outside the
 * plane, which a large tensor does not fit into. */
static bool take_pixels(const struct lab_board_view *b, int part, int64_t n,
                        struct pixels *out)
{
    const struct lab_plane *p = lab_board_plane(b, part);
    struct lab_reach rows;
    struct lab_reach cols;
    if (!p || !p->written || p->tiles > 1 ||
        !lab_board_lit(&b->board.part[part], &rows, &cols))
        return false;
    const int64_t row = rows.first - p->show.row_first;
    const int64_t col = cols.first - p->show.col_first;
    if (row < 0 || row >= p->rows || col < 0 || col >= p->cols)
        return false;
    const int axis = axis_of_pixels(b, p->tensor);
    bool across = axis >= 0 && axis == p->show.col_axis && p->cols == n &&
                  rows.first == rows.last;
    bool down = axis >= 0 && axis == p->show.row_axis && p->rows == n &&
                cols.first == cols.last;
    const char *name = b->snap->plan->tensors[p->tensor].name;
    if (!across && !down)
        return false;
    for (int64_t i = 0; i < n; i++)
        out->value[i] =
            across ? p->value[row * p->cols + i] : p->value[i * p->cols + col];
    bool turned = p->show.row_axis > p->show.col_axis;
    snprintf(out->name, sizeof(out->name),
             across != turned ? "%.40s[%lld,:]" : "%.40s[:,%lld]", name,
             (long long)(across ? rows.first : cols.first));
    out->place = b->board.part[part].place;
    return true;
}

/* The product of an image and the weights of a unit, pixel by pixel: its sum is the
 * element. false: the two are not a product's operands. */
static bool multiply(const struct lab_board_view *b, const struct pixels *a,
                     const struct pixels *w, int64_t n, struct pixels *out)
{
    double sum = 0;
    if (!b->board.cross || a->place != LAB_BOARD_LEFT ||
        w->place != LAB_BOARD_ABOVE)
        return false;
    for (int64_t i = 0; i < n; i++)
        sum += out->value[i] = a->value[i] * w->value[i];
    snprintf(out->name, sizeof(out->name), "product, sum %.3g", sum);
    return true;
}

/* At the top of `r`, which loses these rows: the slices that have a number for each
 * pixel, as images. */
static void draw_pixels(const struct lab_stepper *v, struct lab_canvas *c,
                        struct lab_rect *r)
{
    enum { IMAGES = 3, LEAST_H = 9, LEAST_W = 18, APART = 1 };
    const struct lab_board_view *b = &v->board.view;
    const int64_t side = side_of_images(v->snap.plan);
    struct pixels image[IMAGES];
    int n = 0;
    if (side == 0 || r->h < LEAST_H || r->w < IMAGES * LEAST_W)
        return;
    for (int i = 0; i < b->board.n && n < IMAGES; i++)
        n += take_pixels(b, i, side * side, &image[n]);
    if (n == 2)
        n += multiply(b, &image[0], &image[1], side * side, &image[2]);
    if (n == 0)
        return;
    int w = (r->w + APART) / IMAGES;
    int h = 0;
    for (int i = 0; i < n; i++) {
        struct lab_rect at = {r->y + 1, r->x + i * w, r->h - 1, w - APART};
        lab_canvas_text_cut(c, r->y, at.x, at.w, LAB_ROLE_HEADING,
                            image[i].name);
        struct lab_heat_grid g =
            lab_heat_picture(c, at, image[i].value, side, side, true);
        h = largest(h, lab_heat_height(&g));
    }
    lab_rect_cut_top(r, h + 2);
}

/* ---- the row of an element, and the slices beside the plane ---- */

enum {
    LIT_LEAST = 2
}; /* values that are a line, and rows of a place for one */

/* A row of a plane, or a column. */
struct lit_line {
    const struct lab_plane *plane;
    int64_t at;
    bool down;
    int64_t n; /* values */
};

static double lit_value(const struct lit_line *l, int64_t i)
{
    const int64_t cols = l->plane->cols;
    return l->plane->value[l->down ? i * cols + l->at : l->at * cols + i];
}

/* Of a part, the row that belongs to the cursor's element, or the column where that
 * is what belongs to it. false: nothing of it is lit, a window is, all are one number,
 * or its tensor's few values are in sight. */
static bool find_lit_line(const struct lab_stepper *v, int part,
                          struct lit_line *out)
{
    const struct lab_plane *p = lab_board_plane(&v->board.view, part);
    struct lab_reach rows;
    struct lab_reach cols;
    if (!p || !p->written || p->value == NULL ||
        !lab_board_lit(&v->board.view.board.part[part], &rows, &cols))
        return false;
    const int64_t row = rows.first - p->show.row_first;
    const int64_t col = cols.first - p->show.col_first;
    const bool down = rows.last > rows.first;
    *out = (struct lit_line){.plane = p,
                             .at = down ? col : row,
                             .down = down,
                             .n = down ? p->rows : p->cols};
    if ((down && cols.last > cols.first) || row < 0 || row >= p->rows ||
        col < 0 || col >= p->cols || out->n < LIT_LEAST ||
        has_few_values(v, p, SPREAD_MOST, 0))
        return false;
    bool differ = false;
    for (int64_t i = 1; i < out->n && !differ; i++)
        differ = lit_value(out, i) != lit_value(out, 0);
    return differ;
}

/* All its values, else as many of the largest as there is room for. Returns the rows
 * used, 0: there is none. */
static int draw_lit_line(struct lab_stepper *v, struct lab_canvas *c,
                         struct lab_rect r, int part)
{
    enum { COLUMN_W = 24 /* name, value and bar */, NAME_LEAST = 3 };
    struct lit_line line;
    if (r.h <= LIT_LEAST || !find_lit_line(v, part, &line))
        return 0;
    const struct lab_plane *p = line.plane;
    const bool down = line.down;
    const int64_t n = line.n;
    struct named_value *of = lab_alloc_array((size_t)n, sizeof(*of));
    if (!of)
        return 0;
    for (int64_t i = 0; i < n; i++) {
        const struct lab_label *symbol = down ? p->row_label : p->col_label;
        of[i].value = lit_value(&line, i);
        snprintf(of[i].name, sizeof(of[i].name),
                 symbol ? "%lld:%.20s" : "[%lld]", (long long)i,
                 symbol ? symbol[i].text : "");
    }
    struct lab_rect head = lab_rect_cut_top(&r, 1);
    const int64_t room = (int64_t)r.h * largest(r.w / COLUMN_W, 1);
    const int sight = (int)(n < room ? n : room);
    const char *name = v->snap.plan->tensors[p->tensor].name;
    const char *sizes = sight < n ? ", the largest" : "";
    char which[32];
    snprintf(which, sizeof(which), down ? ", column %lld" : ", row %lld",
             (long long)line.at);
    /* Where there is no room for all, fewer words, then the name is cut. */
    const int left = head.w - lab_canvas_columns(c, which);
    if (sight < n &&
        lab_canvas_columns(c, name) + lab_canvas_columns(c, sizes) > left)
        sizes = ", largest";
    if (left - lab_canvas_columns(c, sizes) < NAME_LEAST)
        sizes = "";
    const int name_w = left - lab_canvas_columns(c, sizes);
    lab_rect_cut_left(&head, lab_canvas_text_cut(c, head.y, head.x,
                                                 largest(name_w, NAME_LEAST),
                                                 LAB_ROLE_HEADING, name));
    lab_canvas_add(c, &head, LAB_ROLE_HEADING, "%s", which);
    lab_canvas_add(c, &head, LAB_ROLE_DIM, "%s", sizes);
    if (sight < n)
        qsort(of, (size_t)n, sizeof(*of), by_size);
    const int used = draw_in_columns(c, r, of, sight, sight < n);
    take(v, (struct lab_rect){r.y, r.x, used, r.w});
    if (v->n_listed < LAB_BOARD_PARTS)
        v->listed[v->n_listed++] = p;
    lab_free(of);
    return 1 + used;
}

/* ---- the values around the cursor ---- */

/* Of n rows or columns the first of a page of `room` with `at` in its middle. */
static int64_t page_around(int64_t at, int64_t n, int64_t room)
{
    const int64_t first = at - room / 2;
    return n <= room || first < 0 ? 0 : first > n - room ? n - room : first;
}

/* Columns of a value in the table: fewer than usual where all are short. */
static int table_value_width(const struct lab_plane *p)
{
    enum { MOST = 512, LEAST_W = 4, APART = 2 };
    const int64_t n = p->rows * p->cols;
    int w = n > MOST ? ROW_VALUE_W : LEAST_W;
    for (int64_t i = 0; i < n && w < ROW_VALUE_W; i++)
        w = largest(w, APART + (int)strlen(LAB_VALUE_TEXT(p->value[i],
                                                          ROW_VALUE_W - 1)));
    return w < ROW_VALUE_W ? w : ROW_VALUE_W;
}

/* The cursor's element and its neighbours as numbers, where the cells have none: of a
 * vector in lines. `r` loses the rows; false: it has no room, or they are there. */
static bool draw_table(const struct lab_stepper *v, struct lab_canvas *c,
                       struct lab_rect *r)
{
    enum { LEAST_H = 4, LEAST_W = 5, FEW = 3 }; /* w in values */
    const struct lab_plane *p = &v->snap.plane;
    const int part = board_part_now(v);
    const int value_w =
        plane_ready(v) && p->written ? table_value_width(p) : ROW_VALUE_W;
    const int64_t across = (r->w - ROW_INDEX_W) / value_w;
    const int64_t n = p->rows * p->cols;
    if (part < 0 || !plane_ready(v) || !p->written || p->tiles > 1 ||
        v->cursor < 0 || n < FEW || r->h < LEAST_H || across < LEAST_W ||
        lab_heat_has_numbers(v->board.view.layout.at[part].cell_h,
                             v->board.view.layout.at[part].cell_w))
        return false;
    const bool vector = p->rows == 1 || p->cols == 1;
    const int64_t cols = vector ? across : p->cols;
    const int64_t rows = (n + cols - 1) / cols;
    const int64_t row = v->cursor / cols;
    const int64_t left = page_around(v->cursor % cols, cols, across);
    struct lab_rect head = lab_rect_cut_top(r, 1);
    lab_canvas_add(c, &head, LAB_ROLE_HEADING, "%s", tensor_of(v)->name);
    put_whole(c, &head, LAB_ROLE_DIM, ", values around the cursor");
    head = lab_rect_cut_top(r, vector ? 0 : 1);
    const int64_t top = page_around(row, rows, r->h);
    for (int64_t j = 0; !vector && j < across && left + j < cols; j++)
        lab_canvas_textf(c, head.y, head.x + ROW_INDEX_W + (int)j * value_w,
                         value_w, LAB_ROLE_DIM, "%*lld", value_w - 1,
                         (long long)(p->show.col_first + left + j));
    int used = 0;
    for (; used < r->h && top + used < rows; used++) {
        const int64_t first = (top + used) * cols + left;
        const int64_t index = !vector       ? p->show.row_first + top + used
                              : p->cols > 1 ? p->show.col_first + first
                                            : p->show.row_first + first;
        lab_canvas_textf(c, r->y + used, r->x, ROW_INDEX_W, LAB_ROLE_DIM,
                         "%*lld", ROW_INDEX_W - 1, (long long)index);
        for (int64_t j = 0; j < across && left + j < cols && first + j < n; j++)
            draw_table_value(v, c, r->y + used,
                             r->x + ROW_INDEX_W + (int)j * value_w, value_w,
                             first + j);
    }
    lab_rect_cut_top(r, used + 1 < r->h ? used + 1 : r->h);
    return true;
}

/* ---- what a board leaves ---- */

enum { SPREAD_H = 5, SPREAD_W = 46 }; /* of a spread beside others */

/* How many spreads a place has room for. */
static int spreads_in(int h, int w)
{
    return largest((h + 1) / SPREAD_H, 1) * largest(w / SPREAD_W, 1);
}

/* The rows that so many spreads need at least to be read. */
static int rows_of_spreads(struct lab_rect to, int n)
{
    enum { LEAST_H = 6 };
    const int across = largest(to.w / SPREAD_W, 1);
    return (n + across - 1) / across * LEAST_H;
}

/* How the values of the planes from *at on spread, as many as the place has room
 * for; `to` loses the rows. */
static void draw_some_spreads(struct lab_stepper *v, struct lab_canvas *c,
                              struct lab_rect *to,
                              const struct lab_plane *const *plane, int n,
                              int *at)
{
    enum { APART = 2 };
    const int left = n - *at;
    if (to->h < SPREAD_H - 1 || left == 0)
        return;
    int across = largest(to->w / SPREAD_W, 1);
    across = across < left ? across : left;
    int down = (left + across - 1) / across;
    const int most = largest((to->h + 1) / SPREAD_H, 1);
    down = down < most ? down : most;
    across =
        (left + down - 1) / down < across ? (left + down - 1) / down : across;
    int h = (to->h + 1) / down;
    h = h < SPREAD_MOST + 1 ? h : SPREAD_MOST + 1;
    const int w = (to->w + APART) / across;
    for (int k = 0; k < down * across && *at < n; k++) {
        const struct lab_rect one = {to->y + k / across * h,
                                     to->x + k % across * w, h - 1, w - APART};
        draw_spread(v, c, one, plane[(*at)++]);
    }
    lab_rect_cut_top(to, down * h);
}

/* Rows or columns of the parts from *part back that the cursor's element belongs to, one
 * below the other: `halve`, each half of a tall place. false: there is none. */
static bool draw_lines(struct lab_stepper *v, struct lab_canvas *c,
                       struct lab_rect *r, bool halve, int *part)
{
    enum { LEAST_H = 4, TALL = 16 };
    bool drawn = false;
    while (r->h >= LEAST_H && *part >= 0) {
        struct lab_rect one = *r;
        if (halve && r->h >= TALL && *part > 0)
            one.h /= 2;
        const int used = draw_lit_line(v, c, one, (*part)--);
        if (used > 0)
            lab_rect_cut_top(r, used + 1 < r->h ? used + 1 : r->h);
        drawn = drawn || used > 0;
    }
    return drawn;
}

/* The same, side by side where there is room. */
static void draw_some_lines(struct lab_stepper *v, struct lab_canvas *c,
                            struct lab_rect *to, int *part)
{
    enum { WIDE = 24, APART = 2 };
    struct lit_line line;
    int all = 0;
    for (int i = *part; i >= 0; i--)
        all += find_lit_line(v, i, &line);
    const int most = largest(to->w / WIDE, 1);
    const int across = all < 1 ? 1 : all < most ? all : most;
    const int w = (to->w + APART) / across;
    int left = to->h;
    int drawn = 0;
    for (; drawn < across; drawn++) {
        struct lab_rect r = {to->y, to->x + drawn * w, to->h, w - APART};
        if (!draw_lines(v, c, &r, false, part))
            break;
        left = r.h < left ? r.h : left;
    }
    lab_rect_cut_top(to, to->h - left);
}

/* At the right of `to`, which loses these columns, rows or columns as above, one beside
 * the other as long as the left has room for as many of n spreads as before. */
static void draw_lines_beside(struct lab_stepper *v, struct lab_canvas *c,
                              struct lab_rect *to, int n, int *part)
{
    enum { LEAST_W = 24, MOST_W = 36, LEFT_W = 36, APART = 2 };
    for (;;) {
        const int room = to->w - APART - SPREAD_W;
        const int w = room > MOST_W ? MOST_W : largest(room, LEAST_W);
        const int left = to->w - APART - w;
        const int had = spreads_in(to->h, to->w);
        if (left < LEFT_W || spreads_in(to->h, left) < (had < n ? had : n))
            return;
        struct lab_rect r = {to->y, to->x + left + APART, to->h, w};
        /* Where the spreads need less the rows below are for what is wider. */
        const bool tall = rows_of_spreads(*to, n) * 2 > to->h;
        if (!draw_lines(v, c, &r, false, part) &&
            !(tall && fill_column(v, c, r)))
            return;
        to->w = left;
    }
}

/* In what the pictures leave: images, the other slices of the tensor, how the values
 * of the step's tensors spread, those beside the element's, or the source. What is
 * narrow has lists. Last, the numbers around the cursor, and the source. */
static void draw_rest(struct lab_stepper *v, struct lab_canvas *c,
                      struct lab_rect r)
{
    enum { LIST_W = 16, LEAST_W = 24, WIDE = 44, TALL = 16, APART = 2 };
    bool source = false;
    bool table = false;
    const struct lab_plane *plane[LAB_BOARD_PARTS];
    struct lab_rect
        place[2 * LAB_BOARD_FREE]; /* the second half beside slices */
    int n = spread_planes(v, plane);
    const int boards = lab_board_free(&v->board.view, r, place);
    struct lab_rect whole[LAB_BOARD_FREE];
    memcpy(whole, place, sizeof(whole));
    int places = boards;
    int at = 0;
    int line = v->board.view.board.n - 1;
    int64_t slice = -1;
    for (int i = 0; i < boards; i++) {
        struct lab_rect *to = &place[i];
        if (i == 0 && to->w >= LEAST_W)
            draw_pixels(v, c, to);
        if (i > 0 && to->w >= LIST_W && to->w < WIDE)
            draw_lines(v, c, to, true, &line);
        if (to->w >= LEAST_W && (i == 0 || is_picture(v))) {
            struct lab_rect slices = *to;
            slices.h = i == 0 && to->h >= TALL && n > 0 ? to->h * 2 / 3 : to->h;
            const int w = draw_slices(v, c, &slices, &slice);
            struct lab_rect beside = lab_rect_cut_top(to, slices.y - to->y);
            lab_rect_cut_left(&beside, w + APART);
            lab_rect_cut_bottom(&beside, 1);
            if (w > 0 && beside.w >= LEAST_W)
                place[places++] = beside;
        }
        if (i == 0 && to->w >= LIST_W && to->w < WIDE)
            draw_lines(v, c, to, true, &line);
    }
    for (int i = 0; i < places; i++) {
        struct lab_rect to = place[i];
        if (to.w < LEAST_W)
            continue;
        fill_side(v, c, &to);
        if (at < n)
            draw_lines_beside(v, c, &to, n - at, &line);
        struct lab_rect spreads = to;
        if (rows_of_spreads(to, n - at) * 2 <= to.h) /* half has room */
            spreads.h = to.h / 2;
        draw_some_spreads(v, c, &spreads, plane, n, &at);
        lab_rect_cut_top(&to, spreads.y - to.y);
        draw_some_lines(v, c, &to, &line);
        table = table || draw_table(v, c, &to);
        if (!source && draw_source(v, c, to)) {
            source = true;
        } else if (at < n) {
            draw_some_spreads(v, c, &to, plane, n, &at);
        }
    }
    for (int i = 0; i < boards; i++)
        fill_holes(v, c, whole[i]);
}

/* All tensors of the step, and the line of the cursor's element. false: they are
 * not shown, or there is no room. */
static bool draw_board(struct lab_stepper *v, struct lab_canvas *c,
                       struct lab_rect r)
{
    struct lab_board_view *b = &v->board.view;
    b->snap = &v->snap;
    b->focused = v->focus == LAB_PANE_TENSOR;
    b->hidden = look_now(v)->hidden;
    v->board.room = r.h >= BOARD_H && r.w >= BOARD_W;
    if (!board_shown(v) || b->board.n < 2)
        return false;
    struct lab_rect stats = lab_rect_cut_bottom(&r, r.h >= 24 ? 1 : 0);
    struct lab_rect cursor = lab_rect_cut_bottom(&r, 1);
    if (!lab_board_draw(b, c, r))
        return false;
    if (!plane_ready(v))
        return true;
    if (v->snap.plane.written) {
        v->cursor = in_plane(v, look_now(v)->row, look_now(v)->col);
        draw_cursor_line(v, c, cursor, &stats);
        if (!lab_rect_empty(stats))
            draw_stats(&v->snap.plane.stats, c, stats, (struct lab_rect){0});
    }
    draw_rest(v, c, r);
    return true;
}

static void draw_tensor(struct lab_stepper *v, struct lab_canvas *c,
                        struct lab_rect r)
{
    if (v->tensor < 0) {
        lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_DIM,
                        "this step has no tensors");
        return;
    }
    struct lab_rect list = lab_rect_cut_top(&r, 1);
    memset(v->filled, 0, sizeof(v->filled));
    v->n_taken = 0;
    v->n_listed = 0;
    list = draw_list(v, c, list);
    if (draw_gates(v, c, r))
        return;
    if (draw_board(v, c, r)) {
        enum { APART = 2 };
        char kind[LAB_SHAPE_TEXT + 64];
        lab_rect_cut_left(&list, APART);
        put_whole(c, &list, LAB_ROLE_DIM,
                  kind_text(tensor_of(v), kind, sizeof(kind)));
        return;
    }
    v->board.view.layout.fits = false;
    if (r.h >= 4 && !(v->zoom && look_now(v)->picture && r.h < 20))
        draw_head(v, c, lab_rect_cut_top(&r, 1));
    if (!lab_rect_empty(r))
        draw_plane(v, c, r);
}

/* ---- the step under the cursor, and commands to the session ---- */

static const struct lab_schedule_step *step_now(const struct lab_stepper *v)
{
    const struct lab_schedule *s = v->snap.schedule;
    return s && v->step >= 0 && v->step < s->n_steps ? &s->steps[v->step]
                                                     : NULL;
}

static const char *node_of(const struct lab_stepper *v, int step)
{
    const struct lab_schedule *s = v->snap.schedule;
    return v->snap.plan->nodes[s->steps[step].depth_node].id;
}

/* A step is at work for long: no snapshot shows that. The kernel's screen holds a
 * launch up, which is none of the launch's time. */
static bool runs_long(struct lab_stepper *v)
{
    enum { LONG_NS = 500 * 1000 * 1000 };
    int64_t ns = v->model.busy_ns ? v->model.busy_ns(v->model.session) : 0;
    int64_t launch_ns = 0;
    lab_str_clear(&v->launch);
    if (ns > 0 && v->model.running && v->model.running(&v->launch, &launch_ns))
        ns = v->was_inside ? launch_ns : ns;
    else if (v->was_inside)
        ns = 0;
    return ns > LONG_NS;
}

static bool is_busy(const struct lab_stepper *v)
{
    enum lab_session_state state = v->snap.state;
    return v->long_step || state == LAB_SESSION_WALKING ||
           state == LAB_SESSION_TRAINING || state == LAB_SESSION_CHECKING;
}

/* What a session takes only when nothing runs. */
static bool waits_for_training(enum lab_command_kind kind)
{
    return kind <= LAB_DO_BACK || kind == LAB_DO_VARIANT ||
           kind == LAB_DO_CHECK || kind == LAB_DO_COUNT || kind == LAB_DO_TRACE;
}

static void post(struct lab_stepper *v, const struct lab_command *cmd)
{
    if (v->snap.state == LAB_SESSION_TRAINING &&
        waits_for_training(cmd->kind)) {
        v->refused++;
        lab_ui_message(v->ui, LAB_ROLE_WARN,
                       "a training runs: Esc stops it, t shows it");
        return;
    }
    if (v->model.post(v->model.session, cmd))
        lab_ui_error(v->ui);
}

/* A breakpoint that stops in front of this step. A node's stops at its first
 * step of each phase, a phase's at the first of the phase. */
static bool breaks_at(const struct lab_snapshot *snap, int step)
{
    const struct lab_schedule *s = snap->schedule;
    const struct lab_schedule_step *at = &s->steps[step];
    const char *node = snap->plan->nodes[at->depth_node].id;
    int phase = (int)at->step->phase;
    bool first = step == 0 || s->steps[step - 1].depth_node != at->depth_node ||
                 (int)s->steps[step - 1].step->phase != phase;
    for (int i = 0; i < snap->n_breaks; i++) {
        const struct lab_break_info *b = &snap->breaks[i];
        if (b->watch || (b->phase >= 0 && b->phase != phase))
            continue;
        if (b->kind == LAB_BREAK_PHASE && step == s->phase_first[phase])
            return true;
        if (b->kind == LAB_BREAK_STEP &&
            (strcmp(b->step, at->step->name) == 0 ||
             (first && strcmp(b->step, node) == 0)))
            return true;
    }
    return false;
}

/* ---- following the session: the step chosen, its tensors, its kernels ---- */

static void add_tensor(struct lab_stepper *v, int tensor)
{
    if (tensor < 0 || tensor >= v->snap.plan->n_tensors ||
        v->n_tensors == TENSORS)
        return;
    for (int i = 0; i < v->n_tensors; i++)
        if (v->tensors[i] == tensor)
            return;
    v->tensors[v->n_tensors++] = tensor;
}

/* Inputs first, then outputs; what a step changes in place counts as out. */
static void list_tensors(struct lab_stepper *v)
{
    const struct lab_step *step = step_now(v)->step;
    v->n_tensors = 0;
    for (int i = 0; i < step->n_in; i++)
        if (!writes(step, step->in[i]))
            add_tensor(v, step->in[i]);
    v->n_in = v->n_tensors;
    for (int i = 0; i < step->n_out; i++)
        add_tensor(v, step->out[i]);
}

static void choose_step(struct lab_stepper *v, int step)
{
    const struct lab_schedule *s = v->snap.schedule;
    if (!s || step < 0 || step >= s->n_steps)
        return;
    bool same = step == v->step;
    v->step = step;
    v->item = v->tree.of_step ? v->tree.of_step[step] : -1;
    list_tensors(v);
    if (same && v->tensor >= 0)
        return;
    v->pinned = false;
    lab_pager_action(&v->pager[LAB_PANE_KERNELS], LAB_ACT_FIRST);
    /* What a step made, or before it has run, what it will start from. */
    bool ran = v->snap.steps[step].done && v->n_in < v->n_tensors;
    int first = ran ? v->n_in : 0;
    look_at(v, v->n_tensors ? v->tensors[first] : -1);
    explain_cursor(v);
}

static void choose_item(struct lab_stepper *v, int item)
{
    if (item < 0 || item >= v->tree.count)
        return;
    int step = v->tree.items[item].step;
    if (step >= 0)
        choose_step(v, step);
    else /* a header represents its first step */
        choose_step(v, v->tree.items[item].first);
    v->item = item;
}

static void focus_pane(struct lab_stepper *v, enum lab_stepper_pane pane)
{
    v->on_network = false;
    v->focus = pane;
    if (pane >= LAB_PANE_EXPLAIN)
        v->tab = pane;
}

/* Rows of a pane below its title. */
static int page_of(const struct lab_stepper *v, enum lab_stepper_pane pane)
{
    return v->layout.pane[pane].h - 1;
}

/* ---- the blackboard of the step ---- */

/* A larger tensor is not read for a picture of it. */
enum { BOARD_ELEMENTS = 1 << 22 };

static void look_of(void *user, int tensor, struct lab_show *show)
{
    const struct lab_stepper *v = user;
    const struct look *look = &v->looks[tensor];
    if (!look->set || look->picture)
        return;
    *show = look->show;
    show->row_first = show->col_first = 0;
}

static bool has_part(const struct lab_board *b, int tensor)
{
    for (int i = 0; i < b->n; i++)
        if (b->part[i].tensor == tensor)
            return true;
    return false;
}

/* Makes the board of an output; false: the tensor looked at is no part of it. */
static bool make_board_of(struct lab_stepper *v,
                          struct lab_board_choice *choice, int slot)
{
    struct lab_board *b = &v->board.view.board;
    choice->out_slot = slot;
    if (lab_board_make(b, v->snap.plan, step_now(v)->step, choice))
        b->n = 0;
    return has_part(b, v->tensor);
}

/* Of an output that is looked at, the board of the one that shows the most of what
 * it goes into: of a gate the whole cell. Of an input, the board before, or the
 * first that is computed from it. */
static bool make_board(struct lab_stepper *v)
{
    const struct lab_step *step = step_now(v)->step;
    struct lab_board *b = &v->board.view.board;
    struct lab_board_choice choice = {.cursor = cursor_element(v),
                                      .look = look_of,
                                      .user = v,
                                      .explanation = &v->snap.explanation};
    if (v->board.step != v->step)
        v->board.slot = 0;
    v->board.step = v->step;
    int slot = v->board.slot;
    for (int i = 0; i < step->n_out; i++)
        if (step->out[i] == v->tensor)
            slot = i;
    bool out = slot < step->n_out && step->out[slot] == v->tensor;
    int most = make_board_of(v, &choice, slot) ? b->n : 0;
    for (int i = 0; i < step->n_out && (out || most == 0); i++) {
        if (!make_board_of(v, &choice, i) || b->n <= most)
            continue;
        most = b->n;
        slot = i;
    }
    if (make_board_of(v, &choice, slot)) {
        v->board.slot = slot;
        v->board.view.cursor = choice.cursor;
    }
    for (int i = 0; i < b->n; i++)
        if (v->snap.plan->tensors[b->part[i].tensor].count > BOARD_ELEMENTS)
            b->n = 0;
    return b->n > 1 && has_part(b, v->tensor);
}

/* The slices that are seen first; where there is one, those along the next axis that
 * has more. */
static void add_slices(const struct lab_stepper *v, const struct lab_show *mine,
                       struct lab_command *cmd)
{
    const struct lab_shape *shape = &tensor_of(v)->shape;
    int axis = axis_of_slices(v);
    int left = shape->rank;
    while (left > 0 &&
           (axis < 0 || axis >= shape->rank || axis == mine->row_axis ||
            axis == mine->col_axis || shape->dim[axis] == 1)) {
        axis = axis < 0 || axis + 1 >= shape->rank ? 0 : axis + 1;
        left--;
    }
    if (left == 0 || shape->rank < 3 || cmd->n_board >= LAB_BOARD_PARTS)
        return;
    struct lab_show *show = &cmd->board[cmd->n_board++];
    *show = *mine;
    show->sheet = axis + 1;
    cut_to_tiles(shape, show);
}

/* Asks for the planes of the board, when they are others than before; where it has no
 * room, for the slices beside the picture. */
static void ask_board(struct lab_stepper *v)
{
    struct lab_command cmd = {.kind = LAB_DO_BOARD};
    struct lab_board *b = &v->board.view.board;
    bool shown = v->board.room && !v->board.off && !v->numbers &&
                 v->tensor >= 0 && step_now(v) && v->looks[v->tensor].set &&
                 !v->looks[v->tensor].show.sheet &&
                 !v->looks[v->tensor].picture;
    b->n = 0;
    if (gates_shown(v)) {
        show_gates(v, &cmd);
    } else if (shown && make_board(v)) {
        int part = 0;
        for (int i = 0; i < b->n; i++) {
            cmd.board[cmd.n_board++] = b->part[i].show;
            part = b->part[i].tensor == v->tensor ? i : part;
        }
        const struct lab_show *mine = &b->part[part].show;
        const struct lab_show *now = &look_now(v)->show;
        add_slices(v, mine, &cmd);
        if (mine->row_axis != now->row_axis || mine->col_axis != now->col_axis)
            look_along(v, mine->row_axis, mine->col_axis);
    } else {
        b->n = 0;
        if (v->tensor >= 0 && v->looks[v->tensor].set && !v->board.room &&
            !v->numbers && !look_now(v)->show.sheet && !look_now(v)->picture)
            add_slices(v, &look_now(v)->show, &cmd);
    }
    bool same = cmd.n_board == v->board.n_asked;
    for (int i = 0; same && i < cmd.n_board; i++)
        same = same_show(&cmd.board[i], &v->board.asked[i]);
    if (same)
        return;
    memcpy(v->board.asked, cmd.board, sizeof(cmd.board));
    v->board.n_asked = cmd.n_board;
    v->asked_ns = lab_clock_monotonic_ns();
    if (v->model.post(v->model.session, &cmd))
        lab_ui_error(v->ui);
}

/* Whether the snapshot has all that the board shows. */
static bool board_ready(const struct lab_stepper *v)
{
    for (int i = 0; i < v->board.view.board.n; i++)
        if (!lab_board_plane(&v->board.view, i))
            return false;
    return true;
}

/* Whether the walk stopped because of a breakpoint at the step that is next. */
static bool broke_at_next(const struct lab_snapshot *snap)
{
    return snap->stop_reason[0] && snap->position < snap->schedule->n_steps &&
           breaks_at(snap, snap->position);
}

/* After a walk the step that ran last is shown: its numbers are new. Where the
 * walk stopped in front of a step on purpose, that step is shown instead. */
static int step_to_show(const struct lab_stepper *v)
{
    const struct lab_snapshot *snap = &v->snap;
    int last = snap->schedule->n_steps - 1;
    int at = snap->position - 1;
    if (snap->position == 0 || v->stay || broke_at_next(snap))
        at = snap->position;
    return at > last ? last : at;
}

static void follow(struct lab_stepper *v)
{
    int step = step_to_show(v);
    v->step = -1; /* look again: the tensors are new */
    choose_step(v, step);
    lab_step_tree_reveal(&v->tree, v->item);
    if (!is_busy(v))
        v->stay = false;
}

static void read_kernels(struct lab_stepper *v)
{
    int64_t exec = 0;
    if (v->step >= 0 && v->snap.steps)
        exec = v->snap.steps[v->step].exec;
    /* A GPU's records come later than the step, and not all at once. */
    bool complete = v->n_kernels >= 0 && strcmp(v->snap.backend, "cuda") != 0;
    if (exec == v->kernels_of && complete)
        return;
    v->kernels_of = exec;
    v->n_kernels = -1;
    if (exec > 0 && v->model.kernels)
        v->n_kernels =
            v->model.kernels(v->model.user, exec, v->kernels, KERNELS);
}

static void report_progress(struct lab_stepper *v,
                            const struct lab_snapshot *old)
{
    const struct lab_snapshot *snap = &v->snap;
    bool trained = old->state == LAB_SESSION_TRAINING ||
                   snap->state == LAB_SESSION_TRAINING ||
                   snap->train_done != old->train_done;
    bool past_end = old->plan && snap->iteration > old->iteration;
    if (v->model.progress && v->walked && !trained)
        v->model.progress(v->model.user,
                          past_end ? snap->schedule->n_steps : snap->position,
                          snap->schedule->n_steps);
}

/* What a new schedule needs: its tree, and room for the tensors' looks. */
static bool adopt_schedule(struct lab_stepper *v)
{
    int n = v->snap.plan->n_tensors;
    if (lab_step_tree_build(&v->tree, v->snap.plan, v->snap.schedule) ||
        lab_network_build(&v->network, v->snap.plan, v->snap.schedule))
        return false;
    v->text_step = TEXT_NONE;
    if (v->n_looks != n) {
        struct look *looks = lab_alloc_array((size_t)n + 1, sizeof(*looks));
        if (!looks) {
            lab_fail(LAB_E_NOMEM, "no memory to show %d tensors", n);
            return false;
        }
        lab_free(v->looks);
        v->looks = looks;
        v->n_looks = n;
        v->tensor = -1;
    }
    return true;
}

/* What the checks found is a stop like a breakpoint. */
static void show_found(struct lab_stepper *v)
{
    struct lab_str text;
    lab_str_init(&text);
    if (v->model.found && v->model.found(&text, &v->goal))
        snprintf(v->found, sizeof(v->found), "%s", lab_str_text(&text));
    lab_str_release(&text);
}

/* Keys that were typed while it trained have done nothing: that would be lost in
 * the message of the end. */
static void show_stop(struct lab_stepper *v, const char *reason)
{
    if (v->refused)
        lab_ui_message(v->ui, LAB_ROLE_WARN,
                       "%s; %d command%s refused while it trained", reason,
                       v->refused, v->refused == 1 ? " was" : "s were");
    else
        lab_ui_message(v->ui, LAB_ROLE_WARN, "%s", reason);
}

static void show_news(struct lab_stepper *v, const struct lab_snapshot *old)
{
    const struct lab_snapshot *snap = &v->snap;
    if (snap->state == LAB_SESSION_FAILED)
        return; /* the screen shows it */
    if (snap->error_code == LAB_E_CHECK &&
        (old->error_code != LAB_E_CHECK || v->was_inside))
        show_found(v);
    v->was_inside = false;
    if (v->found[0])
        return;
    if (snap->error[0] && strcmp(snap->error, old->error) != 0)
        lab_ui_message(v->ui, LAB_ROLE_BAD, "%s", snap->error);
    else if (snap->near.asked != old->near.asked)
        lab_train_show_near(v->ui, snap);
    else if (snap->stop_reason[0] && old->version &&
             (strcmp(snap->stop_reason, old->stop_reason) != 0 ||
              snap->position != old->position) &&
             !v->ends_training)
        show_stop(v, snap->stop_reason);
    if (snap->state != LAB_SESSION_TRAINING) {
        v->ends_training = false;
        v->refused = 0;
    }
}

/* Where the lesson really runs. */
static void show_badge(struct lab_stepper *v)
{
    const char *name = v->snap.backend;
    if (strcmp(name, "cpu") == 0)
        name = "CPU";
    else if (strcmp(name, "cuda") == 0)
        name = v->snap.device.name[0] ? v->snap.device.name : "GPU";
    lab_ui_badge(v->ui, name);
}

/* What was withdrawn or left out, or has come since: its first line, and where
 * the rest is. */
static void show_notice(struct lab_stepper *v, const char *notice, bool more)
{
    int n = (int)strcspn(notice, "\n");
    if (n)
        lab_ui_message(v->ui, LAB_ROLE_WARN, "%s%.*s",
                       more ? "(:list notes shows all) " : "", n, notice);
}

static void show_notices(struct lab_stepper *v, const struct lab_snapshot *old)
{
    size_t n = strlen(old->notice);
    const char *more = v->snap.notice + n;
    if (!old->plan) {
        const char *rest = lab_setup_notice_rest(v->snap.notice);
        const char *end = strchr(rest, '\n');
        show_notice(v, rest, end && end[1]);
    } else if (strncmp(v->snap.notice, old->notice, n) == 0 && *more) {
        more += *more == '\n';
        const char *end = strchr(more, '\n');
        show_notice(v, more, end && end[1]);
    }
}

static void take_in(struct lab_stepper *v, const struct lab_snapshot *old)
{
    const struct lab_snapshot *snap = &v->snap;
    if (!snap->plan || !snap->schedule)
        return;
    bool renewed = snap->schedule != old->schedule;
    bool moved = renewed || snap->position != old->position ||
                 snap->iteration != old->iteration;
    bool settled = old->state == LAB_SESSION_TRAINING &&
                   snap->state != LAB_SESSION_TRAINING;
    if (!old->plan)
        show_badge(v);
    show_notices(v, old);
    if (renewed && !adopt_schedule(v)) {
        lab_ui_error(v->ui);
        v->snap.schedule = NULL; /* nothing can be drawn of it */
        return;
    }
    if ((moved && snap->state != LAB_SESSION_TRAINING) || settled ||
        v->step < 0)
        follow(v);
    if (moved)
        report_progress(v, old);
    mark_sources(v);
    if (v->term >= snap->explanation.n_terms)
        v->term = 0;
}

static bool refresh_once(struct lab_stepper *v)
{
    if (v->model.version(v->model.session) == v->snap.version) {
        int before = v->n_kernels;
        read_kernels(v); /* records come later than the step they are of */
        return v->n_kernels != before;
    }
    struct lab_snapshot next;
    memset(&next, 0, sizeof(next));
    if (v->model.snapshot(v->model.session, &next)) {
        lab_ui_error(v->ui);
        return true;
    }
    struct lab_snapshot old = v->snap;
    v->snap = next;
    take_in(v, &old);
    show_news(v, &old);
    if (old.version)
        v->model.snapshot_release(&old);
    read_kernels(v);
    return true;
}

/* Following a walk asks for another tensor; where the answer is there at once,
 * it belongs to the same frame. */
static bool refresh(struct lab_stepper *v)
{
    bool changed = refresh_once(v);
    for (int i = 0; i < 3; i++) {
        if (v->snap.plan && v->snap.schedule && v->step >= 0)
            ask_board(v);
        if (v->model.version(v->model.session) != v->snap.version)
            changed = refresh_once(v) || changed;
    }
    return changed;
}

/* ---- the panes' rectangles: a pure function ---- */

enum {
    FULL_W = 150, /* from here on all panes are in sight at once */
    FULL_H = 36,
    GAP = 1,            /* the line between two columns */
    NETWORK_LEAVES = 16 /* rows that its picture leaves to the rest */
};

static int set_or(int set, int without)
{
    return set ? set : without;
}

/* With the configuration's columns, unless they leave no room for the rest. */
static int steps_width(const struct lab_pane_sizes *set, int w, int without)
{
    return set->steps && set->steps <= w / 2 ? set->steps : without;
}

/* Rows of the upper of two panes: its share, or what the lower one, which needs
 * `rows` below its title, leaves. */
static int upper_rows(int h, int share, int rows)
{
    enum { LEAST = 4 };
    int mine = h * share / 100;
    int rest = h - largest(rows + 1, LEAST);
    return rows > 0 ? largest(mine, rest) : mine;
}

/* A line of text is read best up to some width: the rest is the tensor's. */
static int text_width(int w)
{
    enum { SHARE = 42, LINE = 60, LEAST_SHARE = 30 };
    int most = largest(LINE, w * LEAST_SHARE / 100);
    return w * SHARE / 100 < most ? w * SHARE / 100 : most;
}

static void place_full(struct lab_stepper_layout *l, struct lab_rect r,
                       const struct lab_pane_sizes *set,
                       const struct lab_stepper_needs *needs)
{
    l->pane[LAB_PANE_STEPS] = lab_rect_cut_left(&r, steps_width(set, r.w, 36));
    lab_rect_cut_left(&r, GAP);
    struct lab_rect right = lab_rect_cut_right(
        &r, set->text ? r.w * set->text / 100 : text_width(r.w));
    lab_rect_cut_right(&r, GAP);
    l->pane[LAB_PANE_TENSOR] =
        lab_rect_cut_top(&r, upper_rows(r.h, set_or(set->tensor, 58),
                                        set->tensor ? 0 : needs->explain));
    l->pane[LAB_PANE_EXPLAIN] = r;
    l->pane[LAB_PANE_TEXT] =
        lab_rect_cut_top(&right, upper_rows(right.h, 55, needs->kernels));
    l->pane[LAB_PANE_KERNELS] = right;
}

static void place_tabs(struct lab_stepper_layout *l, struct lab_rect r,
                       enum lab_stepper_pane tab,
                       const struct lab_pane_sizes *set)
{
    int steps = r.w >= 110 ? 32 : r.w >= 80 ? 25 : 20;
    l->tabs = true;
    l->pane[LAB_PANE_STEPS] =
        lab_rect_cut_left(&r, steps_width(set, r.w, steps));
    lab_rect_cut_left(&r, GAP);
    l->pane[LAB_PANE_TENSOR] =
        lab_rect_cut_top(&r, (r.h + 1) * set_or(set->tensor, 60) / 100);
    l->pane[tab] = r;
}

/* The sizes while the pane in focus grows; `w` columns in all. */
static struct lab_pane_sizes grown(const struct lab_pane_sizes *set,
                                   enum lab_stepper_pane focus, int w)
{
    struct lab_pane_sizes to = *set;
    bool beside = focus == LAB_PANE_TEXT || focus == LAB_PANE_KERNELS;
    if (set->focus == 0)
        return to;
    if (focus == LAB_PANE_STEPS)
        to.steps = largest(set->steps, w * set->focus / 200);
    else if (focus == LAB_PANE_TENSOR)
        to.tensor = largest(set->tensor, set->focus);
    else
        to.tensor = 100 - largest(set->focus, 100 - set_or(set->tensor, 60));
    if (beside)
        to.text = largest(set->text, set->focus < 60 ? set->focus : 60);
    return to;
}

struct lab_stepper_layout
lab_stepper_layout(struct lab_rect body, enum lab_stepper_pane focus,
                   enum lab_stepper_pane tab, bool zoom, int network,
                   bool chosen, const struct lab_pane_sizes *set,
                   const struct lab_stepper_needs *needs)
{
    static const struct lab_pane_sizes none;
    static const struct lab_stepper_needs unknown;
    struct lab_pane_sizes sizes = grown(set ? set : &none, focus, body.w);
    struct lab_stepper_layout l = {0};
    bool full = body.w >= FULL_W && body.h >= FULL_H;
    if (network > 0 && !full && !chosen)
        network = 1;
    if (network > body.h - NETWORK_LEAVES)
        network = body.h > NETWORK_LEAVES ? 1 : 0;
    if (!zoom || chosen)
        l.network = lab_rect_cut_top(&body, network);
    l.state = lab_rect_cut_top(&body, 1);
    l.step = lab_rect_cut_top(&body, 1);
    if (zoom)
        l.pane[focus] = body;
    else if (full)
        place_full(&l, body, &sizes, needs ? needs : &unknown);
    else
        place_tabs(&l, body, tab, &sizes);
    return l;
}

/* ---- the line above the panes ---- */

static bool loss_known(const struct lab_snapshot *snap)
{
    const struct lab_schedule *s = snap->schedule;
    int end = s->phase_first[LAB_LOSS + 1];
    return end > s->phase_first[LAB_LOSS] && snap->steps[end - 1].done;
}

static const char *doing(const struct lab_snapshot *snap)
{
    static const char *const words[] = {
        [LAB_SESSION_STARTING] = "starting",
        [LAB_SESSION_IDLE] = "",
        [LAB_SESSION_WALKING] = "running ...",
        [LAB_SESSION_TRAINING] = "training ... (t shows it, Esc stops)",
        [LAB_SESSION_CHECKING] = "checking gradients ... (Esc stops)",
        [LAB_SESSION_FAILED] = "failed"};
    return words[snap->state];
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

/* A part of a line, and three columns behind it. One that has no room is left out,
 * but for the first, `whole` the line's width, which is cut. */
static void add_part(struct lab_canvas *c, struct lab_rect *row, int whole,
                     enum lab_role role, const char *text)
{
    enum { APART = 3 };
    if (row->w < whole && lab_canvas_columns(c, text) > row->w)
        return;
    lab_canvas_add(c, row, role, "%s", text);
    lab_rect_cut_left(row, APART);
}

/* What has changed goes first: a narrow line has no room for its end. */
static void state_line(const struct lab_stepper *v, struct lab_canvas *c,
                       struct lab_rect row)
{
    const struct lab_snapshot *snap = &v->snap;
    const struct lab_schedule *s = snap->schedule;
    const char *busy = v->long_step ? "running ... Esc stops it" : doing(snap);
    bool known = loss_known(snap) || !isnan(snap->loss);
    const int w = row.w;
    char text[256];
    if (snap->state == LAB_SESSION_CHECKING && snap->check_of > 0) {
        snprintf(text, sizeof(text),
                 "checking gradients: %lld of %lld (Esc stops)",
                 (long long)snap->check_done, (long long)snap->check_of);
        add_part(c, &row, w, LAB_ROLE_WARN, text);
    } else if (v->long_step && v->launch.len > 0) {
        snprintf(text, sizeof(text), "running, Esc stops it: %s",
                 lab_str_text(&v->launch));
        add_part(c, &row, w, LAB_ROLE_WARN, text);
    } else if (busy[0]) {
        add_part(c, &row, w, LAB_ROLE_WARN, busy);
    } else if (snap->n_checks) {
        int bad = checks_of(snap, text, sizeof(text));
        add_part(c, &row, w, bad ? LAB_ROLE_BAD : LAB_ROLE_GOOD, text);
    }
    snprintf(text, sizeof(text), "iteration %lld", (long long)snap->iteration);
    add_part(c, &row, w, LAB_ROLE_NORMAL, text);
    if (snap->state != LAB_SESSION_TRAINING) { /* it flickers, and takes room */
        snprintf(text, sizeof(text), "step %d of %d", snap->position,
                 s->n_steps);
        add_part(c, &row, w, LAB_ROLE_NORMAL, text);
    }
    snprintf(text, sizeof(text), "loss %s",
             known ? LAB_VALUE_TEXT(snap->loss, 8) : "not known yet");
    add_part(c, &row, w, LAB_ROLE_NORMAL, text);
    if (!busy[0] && snap->position < s->n_steps) {
        snprintf(text, sizeof(text), "next: %s",
                 s->steps[snap->position].step->name);
        add_part(c, &row, w, LAB_ROLE_DIM, text);
    } else if (!busy[0]) {
        add_part(c, &row, w, LAB_ROLE_GOOD, "done: s goes on");
    }
}

/* ---- breakpoints ---- */

static bool any_break(const struct lab_snapshot *snap, int first, int end)
{
    for (int i = first; snap->n_breaks && i < end; i++)
        if (breaks_at(snap, i))
            return true;
    return false;
}

/* A watch stops behind one of these steps. */
static bool any_watch(const struct lab_snapshot *snap, int first, int end)
{
    for (int i = first; snap->n_breaks && i < end; i++) {
        const struct lab_step *step = snap->schedule->steps[i].step;
        for (int o = 0; o < step->n_out; o++)
            if (is_watched(snap, step->out[o]))
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
        double ns = lab_to_real(snap->steps[i].time_ns);
        if (snap->steps[i].exec > 0 && !isnan(ns))
            sum = (isnan(sum) ? 0 : sum) + ns;
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

/* Of the steps that ran, the time of the longest; NaN when none did. */
static double longest_time(const struct lab_snapshot *snap)
{
    double most = NAN;
    for (int i = 0; i < snap->schedule->n_steps; i++)
        most = fmax(most, time_of(snap, i, i + 1));
    return most;
}

enum { TIME_COLUMNS = 9, SHAPES_FROM = 34 };

/* The step's time, in a wide pane with a column that is as high as its share of
 * the longest. Returns the columns it took. */
static int row_time(const struct lab_stepper *v, struct lab_canvas *c,
                    struct lab_rect row, const struct lab_tree_item *item,
                    double most)
{
    double ns = time_of(&v->snap, item->first, item->end);
    const char *text = LAB_NS_TEXT(ns);
    int w = lab_canvas_columns(c, text);
    if (isnan(ns) || w + 10 >= row.w)
        return 0;
    lab_canvas_text(c, row.y, row.x + row.w - w, w, LAB_ROLE_DIM, text);
    if (row.w < SHAPES_FROM || item->step < 0)
        return w + 1;
    enum lab_phase phase = v->snap.schedule->steps[item->step].step->phase;
    lab_column_draw(c, row.y, row.x + row.w - TIME_COLUMNS,
                    (int)lround(fmax(1, ns / most * 8)),
                    lab_role_of_phase(phase));
    return TIME_COLUMNS + 1;
}

/* "8x6x24", what the step writes, before the column of the times; 0: there is no
 * room for it behind a name of `name_w` columns. */
static int row_shape(const struct lab_stepper *v, struct lab_canvas *c,
                     struct lab_rect row, const struct lab_tree_item *item,
                     int before)
{
    if (item->step < 0 || row.w < SHAPES_FROM)
        return 0;
    const struct lab_step *step = v->snap.schedule->steps[item->step].step;
    int out = step->n_out > 0 ? step->out[0] : -1;
    char text[LAB_SHAPE_TEXT];
    if (out < 0 || v->snap.plan->tensors[out].shape.rank == 0)
        return 0;
    dims_text(&v->snap.plan->tensors[out].shape, text, sizeof(text));
    int w = lab_canvas_columns(c, text);
    if (before + w + TIME_COLUMNS + 2 > row.w)
        return 0;
    lab_canvas_text(c, row.y, row.x + row.w - TIME_COLUMNS - 1 - w, w,
                    LAB_ROLE_DIM, text);
    return TIME_COLUMNS + 2 + w;
}

static void draw_row(const struct lab_stepper *v, struct lab_canvas *c,
                     struct lab_rect row, int index, double most)
{
    const struct lab_snapshot *snap = &v->snap;
    const struct lab_tree_item *item = &v->tree.items[index];
    bool header = item->step < 0;
    bool in_sight = !header || item->folded; /* else a row below states it */
    bool next = snap->position >= item->first && snap->position < item->end;
    bool done = all_done(snap, item->first, item->end);
    int time_w = row_time(v, c, row, item, most);
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
    enum lab_role phase =
        lab_role_of_phase(snap->schedule->steps[item->first].step->phase);
    enum lab_role role = header && item->depth == 0     ? phase
                         : header                       ? LAB_ROLE_HEADING
                         : item->step == snap->position ? LAB_ROLE_TITLE
                                                        : LAB_ROLE_NORMAL;
    int name_w = lab_canvas_columns(c, item->name);
    int shape_w = row_shape(v, c, row, item, x - row.x + name_w);
    int room = row.x + row.w - x - largest(time_w, shape_w);
    lab_canvas_text_cut(c, row.y, x, room, role, item->name);
    if (index == v->item)
        lab_canvas_paint(c, row,
                         v->focus == LAB_PANE_STEPS ? LAB_ROLE_SELECTED
                                                    : LAB_ROLE_CURSOR);
}

/* ---- what is below the steps ---- */

enum { LONGEST_STEPS = 12, REST_LEAST = 5 };

/* What steps are listed by. */
enum measure { BY_TIME, BY_WORK, BY_BYTES, BY_DENSITY };
static const char *const measure_heads[] = {
    [BY_TIME] = "longest steps, share of the time",
    [BY_WORK] = "steps with the most work, FLOP",
    [BY_BYTES] = "steps that move most, bytes",
    [BY_DENSITY] = "most FLOP for a byte moved"};

/* NaN where the step has not run, or its formula gives none. */
static double size_of_step(const struct lab_snapshot *snap, int step,
                           enum measure by)
{
    const struct lab_step *s = snap->schedule->steps[step].step;
    return by == BY_TIME    ? time_of(snap, step, step + 1)
           : by == BY_WORK  ? s->flop
           : by == BY_BYTES ? s->bytes
           : s->bytes > 0   ? s->flop / s->bytes
                            : (double)NAN;
}

/* The steps with the most of it, the first has the most; returns how many, at most
 * `most`. */
static int largest_steps(const struct lab_snapshot *snap, enum measure by,
                         int *out, int most)
{
    int n = 0;
    for (int i = 0; i < snap->schedule->n_steps; i++) {
        double size = size_of_step(snap, i, by);
        int at = n;
        if (!(size > 0))
            continue;
        while (at > 0 && size_of_step(snap, out[at - 1], by) < size)
            at--;
        if (at >= most)
            continue;
        n = n < most ? n + 1 : n;
        memmove(out + at + 1, out + at, (size_t)(n - 1 - at) * sizeof(*out));
        out[at] = i;
    }
    return n;
}

/* An amount without a prefix ends in a blank. */
static void size_text(enum measure by, double size, double all, char *out,
                      size_t cap)
{
    const char *amount =
        by == BY_DENSITY ? LAB_VALUE_TEXT(size, 4) : LAB_AMOUNT_TEXT(size, "");
    size_t used = strlen(amount);
    used -= used > 0 && amount[used - 1] == ' ';
    if (by == BY_TIME)
        snprintf(out, cap, "%3.0f %%", size / all * 100);
    else
        snprintf(out, cap, "%.*s", (int)used, amount);
}

/* The steps with the most of it, as many as have room, and a blank row; nothing of one
 * step alone. `r` loses the rows. */
static void draw_largest(const struct lab_stepper *v, struct lab_canvas *c,
                         struct lab_rect *r, enum measure by, int most)
{
    const struct lab_snapshot *snap = &v->snap;
    int step[LONGEST_STEPS];
    const int n = largest_steps(snap, by, step,
                                most < LONGEST_STEPS ? most : LONGEST_STEPS);
    double all = 0;
    if (n < 2)
        return;
    for (int i = 0; i < snap->schedule->n_steps; i++)
        all += fmax(0, size_of_step(snap, i, by));
    struct lab_rect row = lab_rect_cut_top(r, 1);
    lab_canvas_text_cut(c, row.y, row.x + 1, row.w - 1, LAB_ROLE_HEADING,
                        measure_heads[by]);
    for (int i = 0; i < n; i++) {
        const struct lab_step *s = snap->schedule->steps[step[i]].step;
        const double size = size_of_step(snap, step[i], by);
        char text[LAB_FORMAT_BYTES];
        char with_phase[LAB_FORMAT_BYTES + 2];
        size_text(by, size, all, text, sizeof(text));
        snprintf(with_phase, sizeof(with_phase), "%s %c", text,
                 toupper((unsigned char)lab_phase_name(s->phase)[0]));
        draw_share(c, lab_rect_cut_top(r, 1), s->name,
                   size / size_of_step(snap, step[0], by),
                   lab_role_of_phase(s->phase), with_phase);
    }
    lab_rect_cut_top(r, 1);
}

/* What tensors are for. */
static const struct {
    const char *name;
    enum lab_role bar;
} memory_kinds[] = {[LAB_TENSOR_DATA] = {"data", LAB_ROLE_SERIES_1},
                    [LAB_TENSOR_PARAM] = {"parameters", LAB_ROLE_SERIES_2},
                    [LAB_TENSOR_STATE] = {"optimizer state", LAB_ROLE_UPDATE},
                    [LAB_TENSOR_ACTIVATION] = {"activations", LAB_ROLE_FORWARD},
                    [LAB_TENSOR_GRADIENT] = {"gradients", LAB_ROLE_BACKWARD}};

/* Bytes of the tensors by what they are for; those that share another one's memory
 * are not counted. `r` loses the rows. */
static void draw_memory(const struct lab_stepper *v, struct lab_canvas *c,
                        struct lab_rect *r)
{
    enum { KINDS = sizeof(memory_kinds) / sizeof(memory_kinds[0]) };
    const struct lab_plan *plan = v->snap.plan;
    double bytes[KINDS] = {0};
    double most = 0;
    for (int i = 0; i < plan->n_tensors; i++)
        if (plan->tensors[i].alias_of < 0)
            bytes[plan->tensors[i].role] +=
                (double)lab_tensor_bytes(&plan->tensors[i]);
    for (int i = 0; i < KINDS; i++)
        most = fmax(most, bytes[i]);
    struct lab_rect row = lab_rect_cut_top(r, 1);
    lab_canvas_text_cut(c, row.y, row.x + 1, row.w - 1, LAB_ROLE_HEADING,
                        "memory of the tensors");
    for (int i = 0; i < KINDS && r->h > 0; i++)
        if (bytes[i] > 0)
            draw_share(c, lab_rect_cut_top(r, 1), memory_kinds[i].name,
                       bytes[i] / most, memory_kinds[i].bar,
                       LAB_BYTES_TEXT(bytes[i]));
}

/* The tensors with the most bytes, the first has the most, and a blank row. */
static void draw_largest_tensors(const struct lab_stepper *v,
                                 struct lab_canvas *c, struct lab_rect *r)
{
    const struct lab_plan *plan = v->snap.plan;
    int largest_of[LONGEST_STEPS];
    int n = 0;
    int most = r->h - 1 < LONGEST_STEPS ? r->h - 1 : LONGEST_STEPS;
    for (int i = 0; i < plan->n_tensors; i++) {
        const double bytes = (double)lab_tensor_bytes(&plan->tensors[i]);
        int at = n;
        if (plan->tensors[i].alias_of >= 0)
            continue;
        while (at > 0 && (double)lab_tensor_bytes(
                             &plan->tensors[largest_of[at - 1]]) < bytes)
            at--;
        if (at >= most)
            continue;
        n = n < most ? n + 1 : n;
        memmove(largest_of + at + 1, largest_of + at,
                (size_t)(n - 1 - at) * sizeof(*largest_of));
        largest_of[at] = i;
    }
    if (n == 0)
        return;
    struct lab_rect row = lab_rect_cut_top(r, 1);
    lab_canvas_text_cut(c, row.y, row.x + 1, row.w - 1, LAB_ROLE_HEADING,
                        "largest tensors");
    const double all = (double)lab_tensor_bytes(&plan->tensors[largest_of[0]]);
    for (int i = 0; i < n; i++) {
        const struct lab_tensor *t = &plan->tensors[largest_of[i]];
        const double bytes = (double)lab_tensor_bytes(t);
        draw_share(c, lab_rect_cut_top(r, 1), t->name,
                   all > 0 ? bytes / all : 0, memory_kinds[t->role].bar,
                   LAB_BYTES_TEXT(bytes));
    }
    lab_rect_cut_top(r, 1);
}

static void draw_loss_so_far(const struct lab_stepper *v, struct lab_canvas *c,
                             struct lab_rect r)
{
    const struct lab_curve *losses = &v->snap.losses;
    const struct lab_series series = {.y = losses->value,
                                      .at = losses->iteration,
                                      .n = losses->n,
                                      .name = "loss",
                                      .role = LAB_ROLE_SERIES_1};
    const struct lab_chart chart = {.title = "loss of each iteration",
                                    .series = &series,
                                    .count = 1,
                                    .y_min = NAN,
                                    .y_max = NAN,
                                    .unlisted = true};
    lab_chart_draw(c, r, &chart);
}

/* Where the list of the steps leaves rows: which of them took the time, the losses,
 * the memory, and which have the most to compute and to move. */
static void draw_below_steps(const struct lab_stepper *v, struct lab_canvas *c,
                             struct lab_rect r)
{
    enum { CHART_LEAST = 8, CHART_MOST = 16, NARROW = 32, MEMORY = 6 };
    bool losses = v->snap.losses.n > 1;
    if (r.h <= REST_LEAST || r.w < NARROW)
        return;
    lab_rect_cut_top(&r, 1);
    draw_largest(v, c, &r, BY_TIME,
                 losses && r.h > REST_LEAST + CHART_LEAST
                     ? r.h - 2 - CHART_LEAST
                     : r.h - 1);
    if (losses && r.h >= CHART_LEAST) {
        draw_loss_so_far(
            v, c, lab_rect_cut_top(&r, r.h < CHART_MOST ? r.h : CHART_MOST));
        lab_rect_cut_top(&r, 1);
    }
    if (r.h >= MEMORY) {
        draw_memory(v, c, &r);
        lab_rect_cut_top(&r, 1);
    }
    draw_largest(v, c, &r, BY_WORK, r.h - 1);
    if (r.h > REST_LEAST)
        draw_largest_tensors(v, c, &r);
    draw_largest(v, c, &r, BY_BYTES, r.h - 1);
    draw_largest(v, c, &r, BY_DENSITY, r.h - 1);
}

static void draw_steps(struct lab_stepper *v, struct lab_canvas *c,
                       struct lab_rect r)
{
    const struct lab_step_tree *t = &v->tree;
    const double most = longest_time(&v->snap);
    int chosen = lab_step_tree_row(t, v->item);
    if (chosen < v->tree_top) {
        v->tree_top = chosen; /* with the headers above it */
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
                 t->rows[v->tree_top + y], most);
    if (t->n_rows > 0 && t->n_rows < r.h) {
        lab_rect_cut_top(&r, t->n_rows);
        draw_below_steps(v, c, r);
    }
    if (t->n_rows == 0)
        lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_DIM, "no steps");
}

/* ---- keys ---- */

/* Left: fold, or up to the header. Right: unfold, or down into it. */
static void sideways(struct lab_stepper *v, bool left)
{
    const struct lab_tree_item *item = &v->tree.items[v->item];
    bool header = item->step < 0;
    if (left && header && !item->folded)
        lab_step_tree_fold(&v->tree, v->item, true);
    else if (left && item->parent >= 0)
        choose_item(v, item->parent);
    else if (!left && header && item->folded)
        lab_step_tree_fold(&v->tree, v->item, false);
    else if (!left && header)
        choose_item(v, v->item + 1);
}

static void open_item(struct lab_stepper *v)
{
    const struct lab_tree_item *item = &v->tree.items[v->item];
    if (item->step < 0)
        lab_step_tree_fold(&v->tree, v->item, !item->folded);
    else
        focus_pane(v, LAB_PANE_TENSOR);
}

static bool steps_action(struct lab_stepper *v, int action)
{
    const struct lab_step_tree *t = &v->tree;
    int64_t row = lab_action_move(action, lab_step_tree_row(t, v->item),
                                  t->n_rows, page_of(v, LAB_PANE_STEPS));
    if (row >= 0 && t->n_rows > 0)
        choose_item(v, t->rows[row]);
    else if (action == LAB_ACT_LEFT || action == LAB_ACT_RIGHT)
        sideways(v, action == LAB_ACT_LEFT);
    else if (action == LAB_ACT_OPEN)
        open_item(v);
    else
        return row >= 0;
    return true;
}

/* ---- the pane that explains a number ---- */

enum { HANG = 2 };

static void add_value(struct lab_doc *d, const struct lab_explanation *e)
{
    bool both_nan = isnan(e->value) && isnan(e->shown);
    if (e->unwritten)
        return; /* what the memory holds is not a value of the tensor */
    lab_doc_para(d, 0, HANG, true);
    if (e->step >= 0 && !e->agrees && !both_nan) {
        lab_doc_addf(d, LAB_ROLE_BAD,
                     "= %.7g on the screen, but %.10g in double precision: "
                     "they differ by %.2g, more than %.1g",
                     e->shown, e->value, fabs(e->shown - e->value),
                     e->tolerance);
        return;
    }
    lab_doc_addf(d, LAB_ROLE_TITLE, "= %.7g%s", e->shown,
                 e->cancels ? ", 0 but for rounding" : "");
    if (e->step >= 0)
        lab_doc_addf(d, LAB_ROLE_DIM, "  (in double precision %.10g)",
                     e->value);
}

static void add_printed(struct lab_doc *d, const struct lab_stepper *v)
{
    const struct lab_explanation *e = &v->snap.explanation;
    const struct lab_course_values_spec *p;
    double printed;
    if (e->unwritten || !printed_value(v, e->tensor, e->index, &printed, &p))
        return;
    double off = e->shown - printed;
    bool claimed = !isnan(p->tolerance);
    bool fits = fabs(off) <= p->tolerance;
    lab_doc_para(d, 0, HANG, true);
    lab_doc_addf(d, fits || !claimed ? LAB_ROLE_GOOD : LAB_ROLE_WARN,
                 "printed %.8g, difference %+.2g%s%s%s%s%s%s", printed, off,
                 !claimed ? ""
                 : fits   ? ", within what was printed"
                          : ", OUTSIDE what was printed",
                 p->where ? " (" : "", p->where ? p->where : "",
                 p->where ? ")" : "", p->note ? ": " : "",
                 p->note ? p->note : "");
}

enum { BRIEF_W = 7, TINY_W = 8, TERM_W = 9 };

static bool has_exponent(double v)
{
    return strchr(LAB_VALUE_TEXT(v, BRIEF_W), 'e') != NULL;
}

/* Of the values of the terms: three digits of a tiny one, "3.59e-05". */
static int value_width(const struct lab_stepper *v)
{
    const struct lab_explanation *e = &v->snap.explanation;
    if (!v->brief)
        return TERM_W;
    for (int64_t k = 0; k < e->n_terms; k++)
        if (has_exponent(e->terms[k].value))
            return TINY_W;
    return BRIEF_W;
}

/* A term, its value, and the elements it came from; the chosen source in
 * brackets. In a narrow pane (v->brief) these are in the order of the formula above,
 * by their indices, and '>' is at the chosen one. */
static void add_term(struct lab_doc *d, const struct lab_stepper *v, int k,
                     bool silent)
{
    const struct lab_term *term = &v->snap.explanation.terms[k];
    const int w = value_width(v);
    const bool tiny = v->brief && has_exponent(term->value);
    const char *value = LAB_VALUE_TEXT(tiny ? fabs(term->value) : term->value,
                                       v->brief && !tiny ? BRIEF_W : w);
    lab_doc_para(d, 0, 0, false);
    if (!silent) {
        lab_doc_addf(d, LAB_ROLE_NORMAL, "%c %*s", term->value < 0 ? '-' : '+',
                     w, value[0] == '-' ? value + 1 : value);
        if (strcmp(term->text, LAB_VALUE_TEXT(term->value, 9)) != 0) {
            lab_doc_add(d, LAB_ROLE_FORMULA, v->brief ? " = " : "  = ");
            char text[BRIEF_TEXT];
            lab_doc_add(d, LAB_ROLE_FORMULA,
                        v->brief ? brief_text(term->text, text) : term->text);
        }
    }
    lab_doc_add(d, LAB_ROLE_DIM, silent ? "from " : v->brief ? " " : "  from ");
    for (int i = 0; i < term->n_sources; i++) {
        char name[160];
        bool chosen = k == v->term && i == v->source;
        element_name(v, &term->source[i], name, sizeof(name));
        const char *index = strchr(name, '[');
        if (v->brief && index)
            lab_doc_addf(d, LAB_ROLE_MARK, "%s%s", chosen ? ">" : " ", index);
        else
            lab_doc_addf(d, LAB_ROLE_MARK, chosen ? "[%s]" : " %s ", name);
    }
}

static void add_terms(struct lab_doc *d, struct lab_stepper *v)
{
    const struct lab_explanation *e = &v->snap.explanation;
    bool silent = e->n_terms_all == 0;
    if (!silent && e->n_terms_all > 1) {
        lab_doc_para(d, 0, 0, true);
        lab_doc_addf(d, LAB_ROLE_DIM,
                     "%lld terms, largest first:", (long long)e->n_terms_all);
    }
    v->first_term = d->para_count;
    for (int64_t k = 0; k < e->n_terms; k++)
        add_term(d, v, (int)k, silent);
    if (e->n_terms_all > e->n_terms) {
        lab_doc_para(d, 0, 0, true);
        lab_doc_addf(d, LAB_ROLE_DIM, "and %lld smaller ones, together %.6g",
                     (long long)(e->n_terms_all - e->n_terms), e->rest);
    }
}

/* Nothing where there is no text. */
static void add_line(struct lab_doc *d, enum lab_role role, const char *before,
                     const char *text)
{
    if (!text || !text[0])
        return;
    lab_doc_para(d, 0, HANG, true);
    lab_doc_add(d, role, before);
    lab_doc_add(d, role, text);
}

static void add_explanation(struct lab_doc *d, struct lab_stepper *v)
{
    const struct lab_explanation *e = &v->snap.explanation;
    add_line(d, LAB_ROLE_FORMULA, "", e->name ? e->name : "?");
    if (e->symbolic && e->symbolic[0]) {
        lab_doc_add(d, LAB_ROLE_FORMULA, " = ");
        lab_doc_add(d, LAB_ROLE_FORMULA, e->symbolic);
    }
    add_line(d, LAB_ROLE_NORMAL, "= ", e->numeric);
    add_value(d, e);
    add_line(d, LAB_ROLE_DIM, "where ", e->where);
    add_printed(d, v);
    if (e->n_terms > 0)
        add_terms(d, v);
}

static void add_checks(struct lab_doc *d, const struct lab_snapshot *snap)
{
    for (int i = 0; i < snap->n_checks; i++) {
        const struct lab_check_result *k = &snap->checks[i];
        lab_doc_para(d, 0, HANG, true);
        lab_doc_addf(d, k->passed ? LAB_ROLE_GOOD : LAB_ROLE_BAD,
                     "gradient check of %s: %s. %lld elements against central "
                     "differences; the worst, element %lld, is %.6g here and "
                     "%.6g by differences (relative error %.1e).%s",
                     k->parameter, k->passed ? "agrees" : "DISAGREES",
                     (long long)k->elements, (long long)k->worst, k->analytic,
                     k->numeric, k->max_error,
                     k->corners ? " Where the loss has a corner the gradient "
                                  "lies between its two slopes."
                                : "");
    }
}

/* The pane's doc, to be written anew. */
static struct lab_doc *renew(struct lab_stepper *v, enum lab_stepper_pane pane)
{
    lab_doc_clear(&v->doc[pane]);
    lab_pager_renew(&v->pager[pane]);
    return &v->doc[pane];
}

enum { BARS_LEAST = 9, BARS_MOST = 41, BARS_APART = 2 };

/* Columns of the longest term, 0: no sum is explained. */
static int terms_width(const struct lab_stepper *v, bool ascii)
{
    const struct lab_explanation *e = &v->snap.explanation;
    const struct lab_doc *d = &v->doc[LAB_PANE_EXPLAIN];
    int most = 0;
    if (v->first_term == SIZE_MAX || e->n_terms < 2 || e->n_terms_all == 0 ||
        lab_doc_check(d))
        return 0;
    for (int64_t k = 0; k < e->n_terms; k++) {
        const struct lab_doc_para *p = &d->paras[v->first_term + (size_t)k];
        int w = lab_text_columns(lab_str_text(&d->text) + p->start,
                                 p->end - p->start, ascii);
        most = w > most ? w : most;
    }
    return most;
}

/* Beside the terms that are in sight, where the pane has room: a bar for each. */
static void draw_term_bars(const struct lab_stepper *v, struct lab_canvas *c,
                           struct lab_rect r)
{
    const struct lab_explanation *e = &v->snap.explanation;
    double least = 0;
    double most = 0;
    int text_w = terms_width(v, c->ascii);
    if (text_w == 0)
        return;
    for (int64_t k = 0; k < e->n_terms; k++)
        lab_bar_widen(e->terms[k].value, &least, &most);
    int w = r.w - 2 - text_w - BARS_APART; /* without the column of "more" */
    w = w > BARS_MOST ? BARS_MOST : w;
    for (int y = 0; w >= BARS_LEAST && y < r.h; y++) {
        size_t para = lab_pager_para(&v->pager[LAB_PANE_EXPLAIN], y);
        if (para == SIZE_MAX || para < v->first_term ||
            para - v->first_term >= (size_t)e->n_terms)
            continue;
        double value = e->terms[para - v->first_term].value;
        lab_bar_draw(c, r.y + y, r.x + text_w + BARS_APART, w,
                     isfinite(value) ? value : NAN, least, most,
                     value < 0 ? LAB_ROLE_NEGATIVE : LAB_ROLE_POSITIVE);
    }
}

static void write_explanation(struct lab_stepper *v)
{
    const struct lab_explanation *e = &v->snap.explanation;
    struct lab_doc *d = renew(v, LAB_PANE_EXPLAIN);
    v->first_term = SIZE_MAX;
    if (e->tensor >= 0)
        add_explanation(d, v);
    else
        lab_doc_add(
            d, LAB_ROLE_DIM,
            v->snap.state == LAB_SESSION_TRAINING
                ? "Numbers are not explained while training: they change "
                  "too fast. The explanation is back when it stops."
                : "Point at a number in the tensor (2, then the arrows) "
                  "to see where it comes from.");
    add_checks(d, &v->snap);
}

/* With short terms where bars beside the long ones have no room. */
static void write_explain(struct lab_stepper *v, int columns, bool ascii)
{
    v->brief = false;
    write_explanation(v);
    v->brief = terms_width(v, ascii) + BARS_APART + BARS_LEAST > columns - 2;
    if (v->brief)
        write_explanation(v);
}

/* ---- beside a short explanation: which steps write and read the tensor ---- */

/* Columns of a row of `r` up to the last that has something. */
static int columns_used(const struct lab_canvas *c, struct lab_rect r, int y)
{
    const struct lab_cell *row = &c->cells[y * c->w];
    int used = r.w;
    while (used > 0 && strcmp(row[r.x + used - 1].text, " ") == 0)
        used--;
    return used;
}

/* The rows of `r` below its last line that has something. */
static struct lab_rect below_lines(const struct lab_canvas *c,
                                   struct lab_rect r)
{
    struct lab_rect out = {r.y + r.h, r.x, 0, r.w};
    while (out.y > r.y && columns_used(c, r, out.y - 1) == 0) {
        out.y--;
        out.h++;
    }
    return out;
}

/* What the lines of `r` leave free from the one on below which all leave a third of
 * it, or at least so many columns; h 0: there is none. */
static struct lab_rect right_of_lines(const struct lab_canvas *c,
                                      struct lab_rect r, int least_w)
{
    enum { APART = 3 };
    const int w = largest(least_w, r.w / 3);
    struct lab_rect out = {r.y + r.h, r.x, 0, r.w};
    int most = 0;
    while (out.y > r.y) {
        const int used = largest(most, columns_used(c, r, out.y - 1) + APART);
        if (used + w > r.w)
            break;
        most = used;
        out.y--;
        out.h++;
    }
    lab_rect_cut_left(&out, most);
    return out;
}

/* What a step does with the tensor, its name in `name_w` columns, and its formula. */
static void draw_use(const struct lab_stepper *v, struct lab_canvas *c,
                     struct lab_rect row, int step, const char *what,
                     int name_w)
{
    enum { LEAST = 20 }; /* columns in which a formula is readable */
    const struct lab_step *s = v->snap.schedule->steps[step].step;
    lab_canvas_add(c, &row, LAB_ROLE_DIM, "%-11s", what);
    lab_canvas_add(c, &row, lab_role_of_phase(s->phase), "%-*s ", name_w,
                   s->name);
    if (s->formula && row.w >= LEAST)
        lab_canvas_text_cut(c, row.y, row.x, row.w, LAB_ROLE_DIM, s->formula);
}

static int count_uses(const struct lab_stepper *v)
{
    const struct lab_schedule *s = v->snap.schedule;
    int n = 0;
    for (int i = 0; v->tensor >= 0 && i < s->n_steps; i++)
        n += writes(s->steps[i].step, v->tensor) ||
             reads(s->steps[i].step, v->tensor);
    return n;
}

static void draw_uses(const struct lab_stepper *v, struct lab_canvas *c,
                      struct lab_rect r)
{
    const struct lab_schedule *s = v->snap.schedule;
    const char *before = "";
    int name_w = 0;
    lab_canvas_textf(c, r.y, r.x, r.w, LAB_ROLE_HEADING, "steps of %s",
                     v->snap.plan->tensors[v->tensor].name);
    lab_rect_cut_top(&r, 1);
    for (int i = 0; i < s->n_steps; i++)
        if (writes(s->steps[i].step, v->tensor) ||
            reads(s->steps[i].step, v->tensor))
            name_w = largest(name_w, (int)strlen(s->steps[i].step->name));
    for (int i = 0; i < s->n_steps && r.h > 0; i++) {
        const struct lab_step *step = s->steps[i].step;
        const char *what = writes(step, v->tensor)  ? "written by"
                           : reads(step, v->tensor) ? "read by"
                                                    : NULL;
        if (!what)
            continue;
        draw_use(v, c, lab_rect_cut_top(&r, 1), i, what == before ? "" : what,
                 name_w);
        before = what;
    }
}

static void draw_explain(struct lab_stepper *v, struct lab_canvas *c,
                         struct lab_rect r)
{
    enum { USES_W = 36, USES_H = 2, USES_BELOW = 4 };
    struct lab_pager *p = &v->pager[LAB_PANE_EXPLAIN];
    v->explain_at = r;
    write_explain(v, r.w, c->ascii);
    bool chosen = v->focus == LAB_PANE_EXPLAIN && v->first_term != SIZE_MAX;
    p->chosen = chosen ? v->first_term + (size_t)v->term : SIZE_MAX;
    if (chosen && v->term == 0)
        p->top = 0; /* the formula stays in sight */
    lab_pager_draw(p, c, r);
    draw_term_bars(v, c, r);
    if (v->tensor < 0)
        return;
    /* On lines of their own, where these have them or a part that is enough. */
    struct lab_rect uses = below_lines(c, r);
    if (uses.h <= count_uses(v) && uses.h < USES_BELOW)
        uses = right_of_lines(c, r, USES_W);
    if (uses.h >= USES_H)
        draw_uses(v, c, uses);
}

/* ---- keys ---- */

static void jump_to_source(struct lab_stepper *v)
{
    const struct lab_explanation *e = &v->snap.explanation;
    if (v->term >= e->n_terms || v->source >= e->terms[v->term].n_sources) {
        refuse(v, "this number comes from no other element");
        return;
    }
    goto_element(v, e->terms[v->term].source[v->source]);
    v->pinned = true;
    mark_sources(v);
    focus_pane(v, LAB_PANE_TENSOR);
    lab_ui_message(v->ui, LAB_ROLE_DIM,
                   "an input of %s (y: back to it, e: explain this)",
                   e->name ? e->name : "the number");
}

static void choose_term(struct lab_stepper *v, int64_t term)
{
    v->term = (int)term;
    v->source = 0;
}

static void click_explain(struct lab_stepper *v, int y, int x)
{
    size_t para =
        lab_pager_para(&v->pager[LAB_PANE_EXPLAIN], y - v->explain_at.y);
    int64_t term = (int64_t)(para - v->first_term);
    if (v->first_term == SIZE_MAX || para == SIZE_MAX ||
        !lab_rect_has(v->explain_at, y, x) || para < v->first_term ||
        term >= v->snap.explanation.n_terms)
        return;
    if (term == v->term)
        jump_to_source(v);
    else
        choose_term(v, term);
}

static bool explain_action(struct lab_stepper *v, int action)
{
    const struct lab_explanation *e = &v->snap.explanation;
    if (e->tensor < 0 || e->n_terms < 1)
        return false;
    /* A page of terms is the pane's height. */
    int64_t to = lab_action_move(action, v->term, e->n_terms,
                                 page_of(v, LAB_PANE_EXPLAIN) + 1);
    if (to >= 0)
        choose_term(v, to);
    else if (action == LAB_ACT_LEFT)
        v->source -= v->source > 0;
    else if (action == LAB_ACT_RIGHT)
        v->source += v->source + 1 < e->terms[v->term].n_sources;
    else if (action == LAB_ACT_OPEN)
        jump_to_source(v);
    else
        return false;
    return true;
}

/* ---- the panes of kernels, variants and the lesson's text ---- */

enum { NAME_W = 9 };

static void LAB_PRINTF(3, 4)
    add_pair(struct lab_doc *d, const char *name, const char *fmt, ...)
{
    char value[256];
    va_list args;
    va_start(args, fmt);
    vsnprintf(value, sizeof(value), fmt, args);
    va_end(args);
    lab_doc_para(d, 0, NAME_W, true);
    lab_doc_addf(d, LAB_ROLE_DIM, "%-*s", NAME_W, name);
    lab_doc_add(d, LAB_ROLE_NORMAL, value);
}

/* ---- the step as a whole ---- */

static double kernel_ns(const struct lab_kernel_record *k)
{
    return k->start_ns == LAB_UNKNOWN || k->end_ns == LAB_UNKNOWN
               ? NAN
               : (double)(k->end_ns - k->start_ns);
}

/* Device time: the kernels' sum where they are known, else the step's time. */
static double step_ns(const struct lab_stepper *v)
{
    const struct lab_step_status *s = &v->snap.steps[v->step];
    double sum = 0;
    for (int i = 0; i < v->n_kernels && i < KERNELS; i++)
        sum += kernel_ns(&v->kernels[i].record);
    if (v->n_kernels > 0 && v->n_kernels <= KERNELS && !isnan(sum))
        return sum;
    return s->exec > 0 ? lab_to_real(s->time_ns) : NAN;
}

static const char *untimed(const struct lab_step_status *s)
{
    return s->exec == LAB_EXEC_UNOBSERVED ? "not recorded" : "not run yet";
}

static void add_time(const struct lab_stepper *v, struct lab_doc *d, double ns)
{
    const struct lab_step_status *s = &v->snap.steps[v->step];
    const char *note = v->model.time_note ? v->model.time_note : "";
    if (s->exec <= 0)
        add_pair(d, "time", "%s", untimed(s));
    else if (v->n_kernels > 0)
        add_pair(d, "time", "%s in kernels, %s around the step",
                 LAB_NS_TEXT(ns), LAB_NS_TEXT(lab_to_real(s->time_ns)));
    else
        add_pair(d, "time", note[0] ? "%s (%s)" : "%s", LAB_NS_TEXT(ns), note);
}

/* Shares of a peak are small for small tensors: two digits, however small. What
 * was measured comes before the peak that the device's attributes give. */
static void add_share(struct lab_doc *d, double rate, double measured,
                      const char *what, double peak, const char *what_peak)
{
    bool known = measured > 0;
    double share = 100 * rate / (known ? measured : peak);
    if (isnan(rate))
        return;
    if (!known && !(peak > 0))
        lab_doc_addf(d, LAB_ROLE_NORMAL, ", %s n/a here", what_peak);
    else
        lab_doc_addf(d, LAB_ROLE_NORMAL,
                     share >= 99.5 ? ", %.0f %% of %s" : ", %.2g %% of %s",
                     share, known ? what : what_peak);
}

static void add_work(const struct lab_stepper *v, struct lab_doc *d,
                     const struct lab_step *step, double ns)
{
    const struct lab_device_info *device = &v->snap.device;
    struct lab_stepper_roofs roofs = {NAN, NAN, ""};
    double flop = step->flop > 0 ? step->flop : NAN;
    double bytes = step->bytes > 0 ? step->bytes : NAN;
    const char *sep = isnan(ns) ? "" : ", ";
    char rate[LAB_FORMAT_BYTES] = "";
    char products[64];
    if (v->model.roofs)
        v->model.roofs(v->model.user, &v->snap, &roofs);
    snprintf(products, sizeof(products), "what products in %.8s reach",
             roofs.precision);
    if (!isnan(ns))
        lab_format_flops(flop, ns, rate, sizeof(rate));
    add_pair(d, "work", "%s by its formula%s%s", LAB_FLOP_TEXT(step->flop), sep,
             rate);
    add_share(d, flop / ns * 1e9, roofs.flop_per_s, products,
              device->peak_fp32_flops, "peak fp32");
    if (!isnan(ns))
        lab_format_rate(bytes, ns, rate, sizeof(rate));
    add_pair(d, "memory", "%s at least%s%s", LAB_BYTES_TEXT(step->bytes), sep,
             rate);
    add_share(d, bytes / ns * 1e9, roofs.bytes_per_s, "a copy's rate",
              device->peak_dram_bytes_s, "peak memory");
}

static void add_variant(const struct lab_stepper *v, struct lab_doc *d,
                        const struct lab_schedule_step *s)
{
    struct lab_candidate list[LAB_CANDIDATES];
    int n = 0;
    if (v->model.candidates)
        n = v->model.candidates(v->model.user, s->depth_node, NULL, list,
                                LAB_CANDIDATES);
    const char *now = s->variant ? s->variant->name : "?";
    const char *ran = v->snap.steps[v->step].ran;
    bool other = ran && strcmp(ran, now) != 0;
    add_pair(d, "variant",
             other ? "%s on %s; what is shown ran as %s" : "%s on %s", now,
             v->snap.backend, ran);
    if (n > 1)
        lab_doc_add(d, LAB_ROLE_DIM, "  v:");
    for (int i = 0; i < n && n > 1; i++)
        lab_doc_addf(d, LAB_ROLE_KEY, " %s", list[i].name);
    if (s->variant && s->variant->source) {
        add_pair(d, "source", "%s", s->variant->source);
        lab_doc_add(d, LAB_ROLE_DIM, "  o opens it");
    }
    if (s->step->group)
        add_pair(d, "fused", "one kernel for %d steps", s->hides_count);
}

/* ---- kernels ---- */

/* An occupancy and what limits it, as advice on it. */
static void add_occupancy(struct lab_doc *d, const struct lab_kernel_record *k)
{
    static const struct {
        int bit;
        const char *name;
    } names[] = {
        {LAB_LIMIT_REGISTERS, "registers"}, {LAB_LIMIT_SHARED, "shared memory"},
        {LAB_LIMIT_BLOCKS, "blocks"},       {LAB_LIMIT_BARRIERS, "barriers"},
        {LAB_LIMIT_GRID, "too few blocks"}, {LAB_LIMIT_WARPS, "warps: full"},
    };
    const char *sep = "";
    if (isnan(k->occupancy_pct)) {
        lab_doc_add(d, LAB_ROLE_NORMAL, LAB_NA);
        return;
    }
    lab_doc_addf(d, LAB_ROLE_NORMAL, "%.0f %% (limit: ", k->occupancy_pct);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!(k->occupancy_limit & names[i].bit))
            continue;
        lab_doc_addf(d, LAB_ROLE_NORMAL, "%s%s", sep, names[i].name);
        sep = ", ";
    }
    lab_doc_add(d, LAB_ROLE_NORMAL, sep[0] ? ")" : "none)");
}

static void add_kernel(struct lab_doc *d, const struct lab_kernel_record *k)
{
    lab_doc_para(d, 0, 0, false);
    lab_doc_addf(d, LAB_ROLE_CODE, "%10s  %s", LAB_NS_TEXT(kernel_ns(k)),
                 lab_intern_text(k->short_name));
    lab_doc_para(d, 0, NAME_W, true);
    lab_doc_addf(d, LAB_ROLE_NORMAL,
                 "grid %s, block %s, registers %s, shared %s, occupancy ",
                 LAB_DIMS_TEXT(k->launch.grid), LAB_DIMS_TEXT(k->launch.block),
                 LAB_INT_TEXT(k->launch.registers_per_thread),
                 LAB_BYTES_TEXT(lab_to_real(lab_launch_shared(&k->launch))));
    add_occupancy(d, k);
}

static void add_counted(void *doc, const char *name, const char *text)
{
    lab_doc_para(doc, 0, NAME_W, true);
    lab_doc_addf(doc, LAB_ROLE_NORMAL, "%-*s %s", NAME_W - 1, name, text);
}

/* Counters are beside a formula where the step is one kernel. */
static void add_counters(const struct lab_stepper *v, struct lab_doc *d,
                         const struct lab_stepper_kernel *k)
{
    const struct lab_schedule_step *s = step_now(v);
    bool alone = v->n_kernels == 1 && s;
    struct lab_counters_beside beside = {
        .occupancy_pct = k->record.occupancy_pct,
        .flop = alone ? s->step->flop : NAN,
        .bytes = alone ? s->step->bytes : NAN,
        .update = s && s->step->phase == LAB_UPDATE};
    lab_counters_lines(&k->counters, &beside, add_counted, d);
}

static void add_advice(void *doc, const char *text)
{
    lab_doc_para(doc, 0, NAME_W, true);
    lab_doc_addf(doc, LAB_ROLE_NORMAL, "%-*s%s", NAME_W, "advice", text);
}

static void add_kernels(const struct lab_stepper *v, struct lab_doc *d)
{
    bool cpu = strcmp(v->snap.backend, "cpu") == 0;
    bool counted = false;
    const struct lab_step_status *s = &v->snap.steps[v->step];
    if (v->n_kernels <= 0) {
        add_pair(d, "kernels", "%s",
                 cpu                 ? "none: a C function ran, no GPU"
                 : s->exec <= 0      ? untimed(s)
                 : v->n_kernels == 0 ? "no launch was recorded"
                                     : "records not there yet");
        if (!cpu)
            add_pair(d, "counters", "n/a: no kernel is known");
        return;
    }
    add_pair(d, "kernels", "%d launch%s", v->n_kernels,
             v->n_kernels == 1 ? "" : "es");
    for (int i = 0; i < v->n_kernels && i < KERNELS; i++) {
        const struct lab_stepper_kernel *k = &v->kernels[i];
        counted = counted || k->counted;
        add_kernel(d, &k->record);
        if (k->counted)
            add_counters(v, d, k);
        if (v->model.advise)
            v->model.advise(v->model.user, &v->snap, v->step, i, add_advice, d);
    }
    if (v->n_kernels > KERNELS)
        add_pair(d, "", "... and more");
    const char *missing = strcmp(v->snap.backend, "sim") == 0
                              ? lab_sim_backend_registers_missing()
                              : NULL;
    if (missing)
        add_pair(d, "registers", "n/a: %s", missing);
    if (!counted)
        add_pair(d, "counters",
                 "not taken: m takes those of this step, M of all "
                 "that has run");
}

static void write_kernels(struct lab_stepper *v)
{
    const struct lab_schedule_step *s = step_now(v);
    struct lab_doc *d = renew(v, LAB_PANE_KERNELS);
    if (!s)
        return;
    double ns = step_ns(v);
    add_time(v, d, ns);
    add_work(v, d, s->step, ns);
    add_variant(v, d, s);
    add_kernels(v, d);
}

static void draw_kernels(struct lab_stepper *v, struct lab_canvas *c,
                         struct lab_rect r)
{
    write_kernels(v);
    if (!step_now(v))
        return;
    lab_pager_draw(&v->pager[LAB_PANE_KERNELS], c, r);
    const size_t rows =
        lab_pager_lines(&v->pager[LAB_PANE_KERNELS], r.w, c->ascii);
    lab_rect_cut_top(&r, rows < (size_t)r.h ? (int)rows + 1 : r.h);
    draw_source(v, c, r);
}

/* ---- the list of variants ---- */

/* The step that the list is about; NULL: none of the node's own. */
static const struct lab_schedule_step *listed_step(const struct lab_stepper *v)
{
    int i = v->variants.step;
    return i >= 0 && i < v->snap.schedule->n_steps ? &v->snap.schedule->steps[i]
                                                   : NULL;
}

static enum lab_status open_variants(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    const struct lab_schedule_step *now = step_now(v);
    if (!now || !v->model.candidates)
        return refuse(v, "nothing can be switched here");
    int node = now->depth_node;
    v->variants.node = node;
    v->variants.step = lab_debugger_step_of(&v->snap, node, v->step);
    const struct lab_schedule_step *at = listed_step(v);
    int n = v->model.candidates(v->model.user, node, at, v->variants.list,
                                LAB_CANDIDATES - 2);
    if (n == 0)
        return refuse(v, "this node has one implementation");
    v->variants.cursor = 0;
    for (int i = 0; i < n && at; i++)
        if (strcmp(v->variants.list[i].name, at->variant->name) == 0)
            v->variants.cursor = i;
    v->variants.list[n].name = LAB_VARIANT_DEFAULT;
    v->variants.list[n + 1].name = LAB_VARIANT_AUTO;
    v->variants.n = n + 2;
    return LAB_OK;
}

static enum lab_status take_variant(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    struct lab_command cmd = {.kind = LAB_DO_VARIANT};
    const char *node = v->snap.plan->nodes[v->variants.node].id;
    const char *name = v->variants.list[v->variants.cursor].name;
    const struct lab_schedule_step *at = listed_step(v);
    /* The two behind the candidates are no implementations. */
    bool serves = v->variants.cursor >= v->variants.n - 2 || !at ||
                  v->variants.list[v->variants.cursor].serves;
    char text[LAB_SESSION_TEXT];
    snprintf(cmd.text, sizeof(cmd.text), "%s", node);
    snprintf(cmd.text2, sizeof(cmd.text2), "%s", name);
    v->variants.n = 0;
    if (serves)
        lab_ui_message(v->ui, LAB_ROLE_NORMAL, "%s; r steps back to compare",
                       lab_variant_chosen_text(node, name, text));
    else
        lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                       "%s where it can; %s has no %s and stays as it is",
                       lab_variant_chosen_text(node, name, text),
                       at->step->name, name);
    post(v, &cmd);
    return LAB_OK;
}

static enum lab_status close_variants(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    v->variants.n = 0;
    return LAB_OK;
}

static void click_variants(struct lab_screen *s, int y, int x)
{
    struct lab_stepper *v = s->state;
    int row = v->variants.first + y - v->variants.inner.y;
    if (!lab_rect_has(v->variants.inner, y, x)) {
        v->variants.n = 0;
    } else if (row < v->variants.n) {
        v->variants.cursor = row;
        take_variant(s);
    }
}

static bool variants_action(struct lab_stepper *v, int action)
{
    int64_t to = lab_action_move(action, v->variants.cursor, v->variants.n,
                                 v->variants.n);
    if (to >= 0)
        v->variants.cursor = (int)to;
    if (action == LAB_ACT_BACK)
        v->variants.n = 0;
    return to >= 0 || action == LAB_ACT_BACK;
}

/* The rows after the candidates are other ways to choose. */
static void draw_variant(const struct lab_stepper *v, struct lab_canvas *c,
                         struct lab_rect row, int i)
{
    const struct lab_candidate *one = &v->variants.list[i];
    char note[LAB_CANDIDATE_NOTE];
    const char *text = i == v->variants.n - 2 ? "by the fixed table"
                       : i == v->variants.n - 1
                           ? "no choice: by measuring, else by the table"
                           : lab_candidate_note(one, listed_step(v), note);
    bool number = i < v->variants.n - 2 && !isnan(one->ns);
    lab_canvas_textf(c, row.y, row.x, row.w, LAB_ROLE_NORMAL,
                     "%s %-12s %8s  %s", i == v->variants.cursor ? ">" : " ",
                     one->name, number ? LAB_NS_TEXT(one->ns) : "", text);
    if (i == v->variants.cursor)
        lab_canvas_paint(c, row, LAB_ROLE_SELECTED);
}

static void draw_variants(struct lab_stepper *v, struct lab_canvas *c,
                          struct lab_rect body)
{
    const struct lab_node *node = &v->snap.plan->nodes[v->variants.node];
    const struct lab_schedule_step *at = listed_step(v);
    char title[192];
    int h = v->variants.n + 2 < body.h ? v->variants.n + 2 : body.h;
    int w = body.w < 78 ? body.w : 78;
    struct lab_rect r = {body.y + (body.h - h) / 2, body.x + (body.w - w) / 2,
                         h, w};
    snprintf(title, sizeof(title), "how %s (%s) runs%s%s %s", node->id,
             node->op ? node->op->name : "?", at ? ", times of " : "",
             at ? at->step->name : "",
             at ? lab_phase_name(at->step->phase) : "");
    r = lab_canvas_box(c, r, title);
    int first = v->variants.cursor >= r.h ? v->variants.cursor - r.h + 1 : 0;
    v->variants.first = first;
    v->variants.inner = r;
    for (int y = 0; y < r.h && first + y < v->variants.n; y++) {
        struct lab_rect row = {r.y + y, r.x, 1, r.w};
        draw_variant(v, c, row, first + y);
    }
}

static enum lab_status open_source(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    const struct lab_schedule_step *now = step_now(v);
    if (now && now->variant && now->variant->source && v->model.open_source)
        return v->model.open_source(v->model.user, v->ui, now->variant->source,
                                    now->variant->symbol);
    return refuse(v, "the source of this step is not at hand");
}

/* The pane with the lesson's text: its introduction until a step has run, then
 * that of the chosen step in its phase. */

static struct topic topic_now(const struct lab_stepper *v)
{
    const struct lab_schedule_step *s = step_now(v);
    bool opening =
        v->step <= 0 && v->snap.position == 0 && v->snap.iteration == 0;
    if (opening || !s)
        return (struct topic){0};
    return (struct topic){s->step->name, node_of(v, v->step),
                          lab_phase_name(s->step->phase)};
}

static void write_topic(const struct lab_stepper *v, struct topic t,
                        int columns, struct lab_doc *out)
{
    if (v->model.text_for)
        v->model.text_for(v->model.user, t.step, t.node, t.phase, columns, out);
}

/* Where the text of the pane leaves room: the lesson's text on the steps that
 * follow, behind the last step those of the next iteration, and then the introduction,
 * as long as there is room; the last one scrolls. Steps may share one. */
static void add_next_texts(struct lab_stepper *v, int columns, int rows,
                           bool ascii, struct lab_doc *d)
{
    enum {
        LEAST = 3,    /* a blank row, the step's name, a row of text */
        CUT_LEAST = 6 /* of a text that is not whole */
    };
    const struct lab_schedule *plan = v->snap.schedule;
    struct lab_doc text;
    struct lab_pager measure;
    lab_doc_init(&text);
    lab_pager_init(&measure, &text);
    size_t left = (size_t)rows;
    size_t used = lab_pager_lines(&v->pager[LAB_PANE_TEXT], columns + 2, ascii);
    left -= used < left ? used : left;
    const int first = topic_now(v).step ? v->step + 1 : 0;
    for (int k = 0; k < plan->n_steps && left >= LEAST; k++) {
        const int i = (first + k) % plan->n_steps;
        const struct lab_step *step = plan->steps[i].step;
        const struct topic topic = {step->name, node_of(v, i),
                                    lab_phase_name(step->phase)};
        lab_doc_clear(&text);
        write_topic(v, topic, columns, &text);
        if (text.para_count == 0 ||
            strstr(lab_str_text(&d->text), lab_str_text(&text.text)))
            continue;
        lab_pager_renew(&measure);
        used = 2 + lab_pager_lines(&measure, columns + 2, ascii);
        if (used > left && left < CUT_LEAST)
            break;
        left -= used < left ? used : left;
        lab_doc_blank(d);
        lab_doc_para(d, 0, 0, false);
        lab_doc_addf(d, lab_role_of_phase(step->phase), "%s", step->name);
        write_topic(v, topic, columns, d);
    }
    if (left >= CUT_LEAST && topic_now(v).step) {
        lab_doc_blank(d);
        lab_doc_para(d, 0, 0, false);
        lab_doc_add(d, LAB_ROLE_HEADING, "the lesson");
        write_topic(v, (struct topic){0}, columns, d);
    }
    lab_pager_release(&measure);
    lab_pager_renew(&v->pager[LAB_PANE_TEXT]);
    lab_doc_release(&text);
}

static void fetch(struct lab_stepper *v, int columns, int rows, bool ascii)
{
    struct topic topic = topic_now(v);
    int step = topic.step ? v->step : TEXT_OPENING;
    if (v->text_step == step && v->text_columns == columns &&
        v->text_rows == rows)
        return;
    struct lab_doc *d = renew(v, LAB_PANE_TEXT);
    if (v->text_step != step)
        v->pager[LAB_PANE_TEXT].top = 0;
    v->text_step = step;
    v->text_columns = columns;
    v->text_rows = rows;
    write_topic(v, topic, columns, d);
    if (d->para_count == 0)
        lab_doc_add(
            d, LAB_ROLE_DIM,
            "This lesson has no text about this step. Its formula is above; "
            "point at a number to see where it comes from.");
    add_next_texts(v, columns, rows, ascii, d);
}

static void draw_text(struct lab_stepper *v, struct lab_canvas *c,
                      struct lab_rect r)
{
    fetch(v, r.w - 2, r.h,
          c->ascii); /* the last column shows that there is more */
    const size_t lines =
        lab_pager_lines(&v->pager[LAB_PANE_TEXT], r.w, c->ascii);
    lab_pager_draw(&v->pager[LAB_PANE_TEXT], c, r);
    if (lines + 1 >= (size_t)r.h || v->source_text.shown)
        return;
    lab_rect_cut_top(&r, (int)lines + 1);
    draw_source(v, c, r);
}

/* ---- `list`: what there is, as a text that scrolls ---- */

struct lab_list {
    struct lab_str text;
    bool wraps; /* sentences */
};

static enum lab_status write_list(void *user, struct lab_doc *d)
{
    const struct lab_list *list = user;
    const char *line = lab_str_text(&list->text);
    while (line[0]) {
        int n = (int)strcspn(line, "\n");
        lab_doc_para(d, 0, 0, list->wraps);
        lab_doc_addf(d, LAB_ROLE_NORMAL, "%.*s", n, line);
        line += line[n] ? n + 1 : n;
    }
    return LAB_OK;
}

/* `node`: what that can run as, in place of the list `what`. */
static void show_list(struct lab_stepper *v, const char *what, const char *node)
{
    struct lab_list list = {.wraps = what[0] == 'n'};
    struct lab_text_args args = {
        .user = &list, .write = write_list, .title = node};
    lab_str_init(&list.text);
    enum lab_status st =
        node ? lab_debugger_variants(&v->snap, node, v->model.candidates,
                                     v->model.user, &list.text)
             : lab_debugger_list(&v->snap, what, v->model.candidates,
                                 v->model.user, &args.title, &list.text);
    if (st || lab_ui_push(v->ui, &lab_view_text, &args))
        lab_ui_error(v->ui);
    lab_str_release(&list.text);
}

/* ---- typed commands ---- */

/* The axes that an index takes whole run down and across. One alone runs
 * across and is shown by itself; of more than two the last two do, unless two
 * of them are. */
static void show_whole(struct lab_stepper *v,
                       const struct lab_tensor_part *part)
{
    const struct lab_show *now = &look_now(v)->show;
    int n = part->n_whole;
    int seen = 0;
    if (n == 0)
        return;
    for (int i = 0; i < n; i++)
        seen += is_shown(now, part->whole[i]);
    int last = part->whole[n - 1];
    bool alone = now->row_axis < 0 && now->col_axis == last;
    if ((n == 1 && alone) || (n > 2 && seen == 2))
        return;
    look_along(v, n > 1 ? part->whole[n - 2] : -1, last);
}

/* Which step computes a tensor that has no values yet. */
static void show_how_to_get(struct lab_stepper *v, int tensor)
{
    const struct lab_schedule *s = v->snap.schedule;
    enum lab_tensor_role role = v->snap.plan->tensors[tensor].role;
    int found = -1;
    if (role != LAB_TENSOR_ACTIVATION && role != LAB_TENSOR_GRADIENT)
        return;
    for (int i = s->n_steps - 1; i >= 0; i--) {
        if (!writes(s->steps[i].step, tensor))
            continue;
        if (v->snap.steps[i].done)
            return;
        found = i;
    }
    if (found >= 0)
        lab_ui_message(v->ui, LAB_ROLE_WARN,
                       "%s is not computed yet: `:run %s %s`, then s",
                       v->snap.plan->tensors[tensor].name,
                       s->steps[found].step->name,
                       lab_phase_name(s->steps[found].step->phase));
}

static void show(struct lab_stepper *v, const struct lab_ui_command *cmd)
{
    struct lab_tensor_part part;
    if (lab_debugger_part(&v->snap, cmd, &part)) {
        lab_ui_error(v->ui);
        return;
    }
    int64_t flat = lab_shape_ravel(&part.shape, part.at, part.shape.rank);
    goto_element(v, (struct lab_element){part.tensor, flat});
    show_how_to_get(v, part.tensor);
    if (cmd->index_count > 0) {
        if (part.n_whole > 0)
            leave_board(v);
        show_whole(v, &part);
    }
    v->pinned = false;
    explain_cursor(v);
    if (v->tab == LAB_PANE_TEXT)
        v->tab = LAB_PANE_EXPLAIN;
    focus_pane(v, cmd->kind == LAB_COMMAND_EXPLAIN ? LAB_PANE_EXPLAIN
                                                   : LAB_PANE_TENSOR);
}

/* What a command has done, where the screen does not show it by itself. */
static void confirm(struct lab_stepper *v, const struct lab_ui_command *cmd)
{
    const enum lab_role role = LAB_ROLE_NORMAL;
    switch (cmd->kind) {
    case LAB_COMMAND_BREAK:
        lab_ui_message(
            v->ui, role,
            "breakpoint set; list breaks shows all, delete removes one");
        break;
    case LAB_COMMAND_DELETE:
        lab_ui_message(v->ui, role,
                       cmd->n > 0 ? "number %lld is removed"
                                  : "all breakpoints and watches are removed",
                       (long long)cmd->n);
        break;
    case LAB_COMMAND_WATCH:
        lab_ui_message(v->ui, role,
                       v->snap.state == LAB_SESSION_TRAINING
                           ? "a walk stops when %s has been written, this "
                             "training does not; unwatch %s removes it"
                           : "stops when %s has been written; unwatch %s "
                             "removes it",
                       cmd->arg, cmd->arg);
        break;
    case LAB_COMMAND_UNWATCH:
        lab_ui_message(v->ui, role,
                       cmd->arg[0] ? "%s is not watched any more"
                                   : "nothing is watched any more",
                       cmd->arg);
        break;
    case LAB_COMMAND_VARIANT:
        lab_ui_message(v->ui, role, "%s",
                       lab_variant_chosen_text(cmd->arg, cmd->arg2,
                                               (char[LAB_SESSION_TEXT]){0}));
        break;
    default:
        break;
    }
}

static void train(struct lab_stepper *v, const struct lab_ui_command *cmd)
{
    struct lab_stepper_model model = v->model;
    if (cmd->n != LAB_COMMAND_ALL)
        model.train_iterations = cmd->n;
    if (lab_ui_push(v->ui, &lab_view_train, &model))
        lab_ui_error(v->ui);
}

/* On the training screen, where there is room for the text. */
static void sample(struct lab_stepper *v, const struct lab_ui_command *cmd)
{
    struct lab_stepper_model model = v->model;
    if (!v->snap.text) {
        refuse(v, lab_train_sample_not_here);
        return;
    }
    model.train_waits = true;
    lab_sample_request_take(&model.sampling, cmd);
    struct lab_command out = lab_sample_request_command(&model.sampling);
    post(v, &out);
    if (lab_ui_push(v->ui, &lab_view_train, &model))
        lab_ui_error(v->ui);
}

static void restart_now(struct lab_stepper *v)
{
    const struct lab_command stop = {.kind = LAB_DO_STOP, .phase = -1};
    const struct lab_command *how = &v->again;
    v->ends_training = v->snap.state == LAB_SESSION_TRAINING;
    if (v->ends_training)
        post(v, &stop);
    post(v, how);
    v->walked = true;
    if (how->seed_given)
        lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                       "iteration 0 again, from seed %llu",
                       (unsigned long long)how->seed);
    else if (how->lr > 0)
        lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                       "iteration 0 again, with learning rate %g", how->lr);
    else if (how->text[0])
        lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                       "iteration 0 again, with the parameters of %s",
                       how->text);
    else
        lab_ui_message(v->ui, LAB_ROLE_NORMAL, "iteration 0 again");
}

static void ask_restart(struct lab_stepper *v, const struct lab_command *how,
                        bool asks)
{
    v->again = *how;
    if (v->snap.state == LAB_SESSION_TRAINING)
        lab_ui_ask(v->ui, ASK_RESTART,
                   "The training goes on: stop it and start again?");
    else if (asks && v->snap.iteration > 0)
        lab_ui_ask(v->ui, ASK_RESTART,
                   "Start again from the seed? What was trained is lost.");
    else
        restart_now(v);
}

/* What the session does. */
static void run(struct lab_stepper *v, const struct lab_ui_command *cmd)
{
    struct lab_command out;
    if (lab_debugger_command(&v->snap, cmd, v->step, &out)) {
        lab_ui_error(v->ui);
        return;
    }
    if (out.kind == LAB_DO_RESTART) {
        ask_restart(v, &out, false);
        return;
    }
    if (out.kind == LAB_DO_SAVE) {
        v->save = out;
        if (lab_train_asks_to_save(v->ui, ASK_SAVE, cmd))
            return;
    }
    v->stay = v->stay || out.kind == LAB_DO_RUN_TO;
    v->walked = v->walked || out.kind <= LAB_DO_BACK;
    confirm(v, cmd);
    post(v, &out);
}

static void show_lr(struct lab_stepper *v)
{
    char text[LAB_COMMAND_LR_TEXT];
    lab_ui_message(v->ui, LAB_ROLE_NORMAL, "%s",
                   lab_ui_command_lr_text(v->snap.lr, v->snap.rate, text));
}

static void set_lr(struct lab_stepper *v, const struct lab_ui_command *cmd)
{
    char text[LAB_COMMAND_LR_TEXT];
    bool fresh = v->snap.position == 0 &&
                 v->snap.iteration == v->snap.first_iteration &&
                 v->snap.state != LAB_SESSION_TRAINING;
    run(v, cmd);
    lab_ui_message(v->ui, LAB_ROLE_NORMAL, "%s",
                   lab_ui_command_lr_set_text(cmd->value, fresh, text));
}

static void post_walk(struct lab_stepper *v, enum lab_command_kind kind,
                      int64_t n)
{
    struct lab_command cmd = {.kind = kind, .n = n, .phase = -1};
    v->walked = true;
    /* Walking is for reading on; a pane of kernels that is open stays. */
    if (v->focus == LAB_PANE_STEPS && v->tab == LAB_PANE_EXPLAIN)
        v->tab = LAB_PANE_TEXT;
    post(v, &cmd);
}

static bool is_running(void *user)
{
    struct lab_stepper *v = user;
    return v->model.pending && v->model.pending(v->model.session);
}

/* An element that the next step writes: that under the cursor, or its first. */
static void offer_element(const struct lab_stepper *v, char *out, size_t cap)
{
    char at[LAB_SHAPE_TEXT];
    const struct lab_snapshot *snap = &v->snap;
    int next = snap->position < snap->schedule->n_steps ? snap->position : 0;
    const struct lab_step *s = snap->schedule->steps[next].step;
    struct lab_element e = {s->out[0], 0};
    for (int i = 0; i < s->n_out; i++)
        if (v->tensor >= 0 && s->out[i] == v->tensor)
            e = cursor_element(v);
    out[0] = '\0';
    if (s->n_out == 0 || e.tensor < 0 || e.index < 0)
        return;
    const struct lab_tensor *t = &snap->plan->tensors[e.tensor];
    if (t->shape.rank > 0)
        snprintf(out, cap, "%s[%s]", t->name,
                 lab_explain_at(&t->shape, e.index, at));
}

/* The screen arms the pause before the step is asked for. `goal` may be NULL. */
static void open_kernel_at(struct lab_stepper *v,
                           const struct lab_kernel_goal *goal)
{
    struct lab_kernel_args args = {
        .running = is_running, .user = v, .what = "step"};
    if (goal)
        args.goal = *goal;
    offer_element(v, args.element, sizeof(args.element));
    if (lab_kernel_walk_possible(v->snap.backend) ||
        lab_ui_push(v->ui, &lab_view_kernel, &args))
        lab_ui_error(v->ui);
    else {
        v->was_inside = true;
        post_walk(v, LAB_DO_STEP, 1);
    }
}

static void open_kernel(struct lab_stepper *v)
{
    open_kernel_at(v, NULL);
}

/* `into STEP` runs to the step first, whose kernels alone wait for a reader. */
static void into(struct lab_stepper *v, const struct lab_ui_command *cmd)
{
    struct lab_command to;
    if (lab_debugger_into(&v->snap, cmd, &to)) {
        lab_ui_error(v->ui);
        return;
    }
    if (!cmd->arg[0] || to.n == v->snap.position) {
        open_kernel(v);
        return;
    }
    v->goes_into = true;
    v->into = (int)to.n;
    v->stay = v->walked = true;
    post(v, &to);
}

/* The walk has come to the step, or a breakpoint stopped it before. */
static void go_into(struct lab_stepper *v)
{
    if (!v->goes_into || is_running(v) || is_busy(v))
        return;
    v->goes_into = false;
    if (v->snap.position == v->into)
        open_kernel(v);
}

/* Hardware counters of "step" (the one under the cursor), "node" or
 * "iteration". */
static void take_counters(struct lab_stepper *v, const char *what)
{
    struct lab_command cmd = {.kind = LAB_DO_COUNT, .n = v->step, .phase = -1};
    if (strcmp(v->snap.backend, "sim") == 0) {
        refuse(v, "a simulated step is counted as it runs: nothing is to be "
                  "taken");
        return;
    }
    if (strcmp(v->snap.backend, "cuda") != 0) {
        refuse(v, "hardware counters need a GPU: this walk runs on the CPU");
        return;
    }
    snprintf(cmd.text, sizeof(cmd.text), "%s", what);
    lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                   "counting: the steps run again, and nothing changes");
    post(v, &cmd);
}

static bool stepper_command(struct lab_screen *s,
                            const struct lab_ui_command *cmd)
{
    struct lab_stepper *v = s->state;
    if (!v->snap.plan || !v->snap.schedule || v->step < 0)
        return false;
    switch (cmd->kind) {
    case LAB_COMMAND_NONE:
    case LAB_COMMAND_HELP:
    case LAB_COMMAND_QUIT:
        return false;
    case LAB_COMMAND_COUNT:
        take_counters(v, cmd->arg[0] ? cmd->arg : "step");
        break;
    case LAB_COMMAND_PRINT:
    case LAB_COMMAND_EXPLAIN:
        show(v, cmd);
        break;
    case LAB_COMMAND_LR:
        if (isnan(cmd->value) || isnan(v->snap.lr))
            show_lr(v);
        else
            set_lr(v, cmd);
        break;
    case LAB_COMMAND_TRAIN:
        train(v, cmd);
        break;
    case LAB_COMMAND_INTO:
        into(v, cmd);
        break;
    case LAB_COMMAND_SAMPLE:
        sample(v, cmd);
        break;
    case LAB_COMMAND_LIST:
        show_list(v, cmd->arg, NULL);
        break;
    case LAB_COMMAND_VARIANT:
        if (cmd->arg2[0])
            run(v, cmd);
        else
            show_list(v, "", cmd->arg);
        break;
    default:
        run(v, cmd);
        break;
    }
    return true;
}

static const char *stepper_complete(struct lab_screen *s,
                                    enum lab_ui_command_kind kind, int nth)
{
    const struct lab_stepper *v = s->state;
    const struct lab_plan *plan = v->snap.plan;
    const struct lab_schedule *schedule = v->snap.schedule;
    const struct lab_vocabulary *words = v->snap.words;
    if (!plan || !schedule)
        return NULL;
    switch (kind) {
    case LAB_COMMAND_INTO:
    case LAB_COMMAND_RUN:
    case LAB_COMMAND_BREAK:
        return nth < schedule->n_steps ? schedule->steps[nth].step->name : NULL;
    case LAB_COMMAND_CHECK:
        if (nth-- == 0)
            return "all";
        return nth < plan->n_tensors ? plan->tensors[nth].name : NULL;
    case LAB_COMMAND_WATCH:
    case LAB_COMMAND_UNWATCH:
    case LAB_COMMAND_PRINT:
    case LAB_COMMAND_EXPLAIN:
        return nth < plan->n_tensors ? plan->tensors[nth].name : NULL;
    case LAB_COMMAND_NEAR:
        return words && nth + 1 < words->n ? lab_vocabulary_word(words, nth + 1)
                                           : NULL;
    case LAB_COMMAND_VARIANT:
        return nth < plan->n_nodes ? plan->nodes[nth].id : NULL;
    default:
        return NULL;
    }
}

/* The stepper's frame: the two lines with the state of the walk, the titles
 * of the panes, and lines of text that scroll. */

static const char *const pane_names[LAB_PANE_COUNT] = {
    "1 steps", "2 tensor", "3 explain", "4 kernels", "5 lesson, L: all"};

/* As much of a pane's name as fits whole: "5 lesson" without what L does. */
static int name_bytes(const struct lab_canvas *c, int pane, int room)
{
    const char *name = pane_names[pane];
    return (int)(lab_canvas_columns(c, name) <= room ? strlen(name)
                                                     : strcspn(name, ","));
}

/* The line at the top of a pane, which is taken off it, for its title. */
static struct lab_rect title_line(struct lab_canvas *c, struct lab_rect *r,
                                  bool focused)
{
    struct lab_rect row = lab_rect_cut_top(r, 1);
    lab_canvas_rule(c, row, focused);
    lab_rect_cut_left(&row, 1);
    return row;
}

static void pane_title(struct lab_canvas *c, struct lab_rect *r,
                       const char *title, bool focused)
{
    struct lab_rect row = title_line(c, r, focused);
    if (row.w > 3)
        lab_canvas_textf(c, row.y, row.x, row.w - 1,
                         focused ? LAB_ROLE_TITLE : LAB_ROLE_HEADING, " %s ",
                         title);
}

/* The title line of the shared place: its three tabs, the open one in
 * brackets. */
static void tab_title(struct lab_stepper *v, struct lab_canvas *c,
                      struct lab_rect *r)
{
    struct lab_rect row = title_line(c, r, v->focus == v->tab);
    for (int i = LAB_PANE_EXPLAIN; i < LAB_PANE_COUNT && row.w > 6; i++) {
        bool open = (int)v->tab == i;
        v->tabs[i] = row;
        v->tabs[i].w =
            lab_canvas_add(c, &row, open ? LAB_ROLE_TITLE : LAB_ROLE_HEADING,
                           open ? "[%.*s]" : " %.*s ",
                           name_bytes(c, i, row.w - 3), pane_names[i]);
    }
}

static void draw_pane(struct lab_stepper *v, struct lab_canvas *c, int pane,
                      struct lab_rect r, bool tabs)
{
    static void (*const draw[LAB_PANE_COUNT])(
        struct lab_stepper *, struct lab_canvas *, struct lab_rect) = {
        draw_steps, draw_tensor, draw_explain, draw_kernels, draw_text};
    if (tabs && pane >= LAB_PANE_EXPLAIN)
        tab_title(v, c, &r);
    else
        pane_title(c, &r, pane_names[pane], (int)v->focus == pane);
    if (lab_rect_empty(r))
        return;
    struct lab_rect old = lab_canvas_clip(c, r);
    draw[pane](v, c, r);
    lab_canvas_unclip(c, old);
}

/* The lines between columns of panes. */
static void draw_gaps(struct lab_canvas *c, const struct lab_stepper_layout *l)
{
    for (int i = LAB_PANE_STEPS; i <= LAB_PANE_TENSOR; i++) {
        struct lab_rect p = l->pane[i];
        int x = p.x + p.w;
        int h = i == LAB_PANE_STEPS
                    ? p.h
                    : l->pane[LAB_PANE_TEXT].h + l->pane[LAB_PANE_KERNELS].h;
        if (lab_rect_empty(p) || (i == LAB_PANE_TENSOR && l->tabs) || x >= c->w)
            continue;
        lab_canvas_fill(c, (struct lab_rect){p.y, x, h, 1}, "│",
                        LAB_ROLE_BORDER);
    }
}

static void step_line(const struct lab_stepper *v, struct lab_canvas *c,
                      struct lab_rect row)
{
    const struct lab_schedule_step *s = step_now(v);
    char right[128];
    if (!s)
        return;
    const struct lab_step_status *status = &v->snap.steps[v->step];
    bool ran = status->exec > 0;
    const char *now = s->variant ? s->variant->name : "?";
    const char *last = ran && status->ran ? status->ran : now;
    bool other = strcmp(last, now) != 0; /* the time is not the choice's */
    lab_canvas_add(c, &row, LAB_ROLE_TITLE, "%s", s->step->name);
    lab_rect_cut_left(&row, 2);
    lab_canvas_add(c, &row, lab_role_of_phase(s->step->phase), "%s",
                   lab_phase_name(s->step->phase));
    lab_rect_cut_left(&row, 2);
    snprintf(right, sizeof(right), "  %s, %s%s%s", last,
             ran ? LAB_NS_TEXT(lab_to_real(status->time_ns)) : untimed(status),
             other ? ", next " : "", other ? now : "");
    int w = lab_canvas_columns(c, right);
    enum { FORMULA_LEAST = 24 }; /* the rest is in the explanation */
    if (w + FORMULA_LEAST <= row.w)
        lab_canvas_text(c, row.y, row.x + row.w - w, w, LAB_ROLE_DIM, right);
    if (w + FORMULA_LEAST <= row.w)
        lab_rect_cut_right(&row, w);
    const char *formula = s->step->formula;
    int used =
        lab_canvas_text_cut(c, row.y, row.x, row.w, LAB_ROLE_FORMULA, formula);
    lab_rect_cut_left(&row, used);
    if (s->variant && s->variant->wrong_on_purpose)
        lab_canvas_add(c, &row, LAB_ROLE_DIM, ", but %s: %s", now,
                       s->variant->wrong_on_purpose);
}

static void draw_network(struct lab_stepper *v, struct lab_canvas *c,
                         struct lab_rect r)
{
    struct lab_diagram *d = &v->network.picture;
    const struct lab_schedule_step *now = step_now(v);
    enum lab_role lit =
        now ? lab_role_of_phase(now->step->phase) : LAB_ROLE_TITLE;
    d->focused = v->on_network;
    if (r.h > 1)
        lab_diagram_draw(c, r, d, lit);
    else
        lab_diagram_line(c, r, d, lit);
}

static void draw_waiting(const struct lab_stepper *v, struct lab_canvas *c,
                         struct lab_rect body)
{
    const struct lab_snapshot *snap = &v->snap;
    int y = body.y + body.h / 3;
    if (snap->state == LAB_SESSION_FAILED) {
        lab_canvas_text(c, y, body.x + 2, body.w - 4, LAB_ROLE_BAD,
                        "This lesson could not be started:");
        struct lab_rect r = {y + 2, body.x + 2, body.h, body.w - 4};
        lab_canvas_paragraph(c, r, LAB_ROLE_NORMAL, snap->error);
        return;
    }
    if (snap->measure_of == 0) {
        lab_canvas_text(c, y, body.x + 2, body.w - 4, LAB_ROLE_NORMAL,
                        "Reading the data and building the network ...");
        return;
    }
    lab_canvas_textf(c, y, body.x + 2, body.w - 4, LAB_ROLE_NORMAL,
                     "Measuring variants: %s, %d of %d", snap->measured,
                     snap->measure_done + 1, snap->measure_of);
    struct lab_rect r = {y + 2, body.x + 2, body.h - y, body.w - 4};
    lab_canvas_paragraph(
        c, r, LAB_ROLE_DIM,
        "Each variant runs a few iterations, and then the fastest of each step "
        "is used. Esc goes on without: by the fixed table of variants.");
}

static void draw_found(const struct lab_stepper *v, struct lab_canvas *c,
                       struct lab_rect body)
{
    enum { W = 76 };
    int w = body.w < W ? body.w : W;
    int rows = lab_canvas_paragraph_rows(c, w - 2, body.h - 2, v->found);
    struct lab_rect r = {body.y + (body.h - rows - 2) / 2,
                         body.x + (body.w - w) / 2, rows + 2, w};
    lab_canvas_paragraph(c, lab_canvas_box(c, r, "found in this step"),
                         LAB_ROLE_BAD, v->found);
}

/* The explanation in the snapshot is of the element that was asked for last. */
static bool explanation_ready(const struct lab_stepper *v)
{
    const struct lab_explanation *e = &v->snap.explanation;
    return e->tensor == v->explained.tensor && e->index == v->explained.index;
}

/* Rows that the explanation and the kernels take in panes of these widths: of one
 * step the most so far, so that the picture does not jump with the cursor. While
 * the explanation is still that of the last step, so are its rows. */
static void measure_needs(struct lab_stepper *v,
                          const struct lab_stepper_layout *l, bool ascii)
{
    enum { USES_MOST = 4 }; /* rows of the steps of the tensor */
    int width = l->pane[LAB_PANE_EXPLAIN].w;
    int kernels = l->pane[LAB_PANE_KERNELS].w;
    bool ready = explanation_ready(v);
    if (l->tabs || width == 0 || kernels == 0)
        return;
    if (v->needs_w != width)
        v->needs = (struct lab_stepper_needs){0};
    const int64_t done =
        v->snap.iteration * v->snap.schedule->n_steps + v->snap.position;
    const bool same = v->needs_of == v->step && v->needs_done == done;
    if (!same && ready)
        v->needs.explain = 0;
    if (!same)
        v->needs.kernels = 0;
    v->needs_w = width;
    if (ready) {
        v->needs_of = v->step;
        v->needs_done = done;
    }
    write_kernels(v);
    kernels = (int)lab_pager_lines(&v->pager[LAB_PANE_KERNELS], kernels, ascii);
    v->needs.kernels = largest(v->needs.kernels, kernels);
    if (!ready && v->needs.explain > 0)
        return;
    write_explain(v, width, ascii);
    int explain =
        (int)lab_pager_lines(&v->pager[LAB_PANE_EXPLAIN], width, ascii);
    int uses = 1 + count_uses(v);
    explain = largest(explain, uses < USES_MOST ? uses : USES_MOST);
    v->needs.explain = largest(v->needs.explain, explain);
}

static void stepper_draw(struct lab_screen *s, struct lab_canvas *c,
                         struct lab_rect body)
{
    struct lab_stepper *v = s->state;
    if (!v->snap.plan || !v->snap.schedule) {
        draw_waiting(v, c, body);
        return;
    }
    lab_network_update(&v->network, &v->snap, v->step);
    v->body = body;
    v->on_network = v->on_network && body.h > NETWORK_LEAVES;
    int network = lab_diagram_rows(&v->network.picture);
    struct lab_stepper_layout l =
        lab_stepper_layout(body, v->focus, v->tab, v->zoom, network,
                           v->on_network, &v->sizes, NULL);
    measure_needs(v, &l, c->ascii);
    if (!l.tabs && !v->zoom)
        l = lab_stepper_layout(body, v->focus, v->tab, false, network,
                               v->on_network, &v->sizes, &v->needs);
    v->layout = l;
    v->source_text.shown = false;
    memset(v->tabs, 0, sizeof(v->tabs));
    memset(v->chips, 0, sizeof(v->chips));
    memset(&v->cells, 0, sizeof(v->cells));
    draw_network(v, c, l.network);
    state_line(v, c, l.state);
    step_line(v, c, l.step);
    draw_gaps(c, &l);
    for (int i = 0; i < LAB_PANE_COUNT; i++)
        if (!lab_rect_empty(l.pane[i]))
            draw_pane(v, c, i, l.pane[i], l.tabs);
    if (v->variants.n)
        draw_variants(v, c, body);
    else if (v->found[0])
        draw_found(v, c, body);
}

/* ---- keys ---- */

static enum lab_status walk(struct lab_screen *s, int kind)
{
    post_walk(s->state, (enum lab_command_kind)kind, 1);
    return LAB_OK;
}

static enum lab_status step_into(struct lab_screen *s)
{
    open_kernel(s->state);
    return LAB_OK;
}

static enum lab_status run_until(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    v->stay = true;
    post_walk(v, LAB_DO_RUN_TO, v->step);
    return LAB_OK;
}

static enum lab_status toggle_break(struct lab_screen *screen)
{
    struct lab_stepper *v = screen->state;
    const struct lab_schedule_step *s = step_now(v);
    struct lab_command cmd = {.kind = LAB_DO_BREAK,
                              .break_kind = LAB_BREAK_STEP};
    if (!s)
        return LAB_OK;
    cmd.phase = (int)s->step->phase;
    snprintf(cmd.text, sizeof(cmd.text), "%s", s->step->name);
    for (int i = 0; i < v->snap.n_breaks; i++) {
        const struct lab_break_info *b = &v->snap.breaks[i];
        if (b->watch || b->kind != LAB_BREAK_STEP ||
            strcmp(b->step, cmd.text) != 0 ||
            (b->phase >= 0 && b->phase != cmd.phase))
            continue;
        cmd.kind = LAB_DO_DELETE;
        cmd.n = b->number;
    }
    post(v, &cmd);
    lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                   cmd.kind == LAB_DO_DELETE ? "no breakpoint at %s any more"
                                             : "breakpoint at %s",
                   s->step->name);
    return LAB_OK;
}

static enum lab_status toggle_watch(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    bool watched = is_watched(&v->snap, v->tensor);
    struct lab_command cmd = {.kind = watched ? LAB_DO_UNWATCH : LAB_DO_WATCH,
                              .phase = -1};
    if (v->tensor < 0)
        return LAB_OK;
    snprintf(cmd.text, sizeof(cmd.text), "%s", tensor_of(v)->name);
    post(v, &cmd);
    lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                   watched ? "%s is no longer watched"
                           : "stops when %s has been written",
                   tensor_of(v)->name);
    return LAB_OK;
}

/* The parameter shown, or that of the gradient shown. */
static enum lab_status check_gradient(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    const struct lab_plan *plan = v->snap.plan;
    struct lab_command cmd = {.kind = LAB_DO_CHECK, .phase = -1};
    int t = v->tensor;
    if (t >= 0 && plan->tensors[t].gradient_of >= 0)
        t = plan->tensors[t].gradient_of;
    if (t < 0 || plan->tensors[t].role != LAB_TENSOR_PARAM)
        return refuse(v,
                      "show a parameter or its gradient first (x), or :check");
    snprintf(cmd.text, sizeof(cmd.text), "%s", plan->tensors[t].name);
    lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                   "comparing the gradient of %s with central differences",
                   cmd.text);
    post(v, &cmd);
    return LAB_OK;
}

static enum lab_status count(struct lab_screen *s, int all)
{
    take_counters(s->state, all ? "iteration" : "step");
    return LAB_OK;
}

static enum lab_status open_occupancy(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    if (v->model.open_occupancy)
        return v->model.open_occupancy(v->model.user, v->ui, &v->snap, v->step);
    return refuse(v, "there is no GPU to ask about");
}

static enum lab_status restart(struct lab_screen *s)
{
    const struct lab_command again = {.kind = LAB_DO_RESTART, .phase = -1};
    ask_restart(s->state, &again, true);
    return LAB_OK;
}

static enum lab_status open_training(struct lab_screen *s)
{
    const struct lab_stepper *v = s->state;
    return lab_ui_push(v->ui, &lab_view_train, &v->model);
}

/* ---- search ---- */

static bool step_matches(const struct lab_stepper *v, int i, int *tensor)
{
    const struct lab_step *step = v->snap.schedule->steps[i].step;
    const struct lab_plan *plan = v->snap.plan;
    *tensor = -1;
    if (strcasestr(step->name, v->search))
        return true;
    for (int k = 0; k < step->n_out + step->n_in; k++) {
        int t = k < step->n_out ? step->out[k] : step->in[k - step->n_out];
        if (t >= 0 && strcasestr(plan->tensors[t].name, v->search)) {
            *tensor = t;
            return true;
        }
    }
    return false;
}

/* The next step that has, in its name or in that of one of its tensors, the
 * text, around the end; a new text from the cursor's own step on. */
static bool search_steps(struct lab_screen *s, const char *text, int dir)
{
    struct lab_stepper *v = s->state;
    int n = v->snap.schedule ? v->snap.schedule->n_steps : 0;
    int tensor;
    if (text[0])
        snprintf(v->search, sizeof(v->search), "%s", text);
    for (int i = text[0] ? 0 : 1; v->search[0] && i <= n; i++) {
        int at = v->step + dir * i;
        at = ((at % n) + n) % n;
        if (!step_matches(v, at, &tensor))
            continue;
        choose_step(v, at);
        lab_step_tree_reveal(&v->tree, v->item);
        if (tensor >= 0) {
            look_at(v, tensor);
            explain_cursor(v);
        }
        lab_ui_message(v->ui, LAB_ROLE_DIM,
                       "/%s   any other key ends the search", v->search);
        return true;
    }
    return false;
}

/* ---- actions ---- */

static enum lab_status to_explained(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    goto_element(v, v->explained);
    v->pinned = false;
    mark_sources(v);
    return LAB_OK;
}

static enum lab_status stop_or_close(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    if (is_busy(v)) {
        post_walk(v, LAB_DO_STOP, 0);
        lab_ui_message(v->ui, LAB_ROLE_NORMAL, "stopping");
    } else if (v->on_network) {
        v->on_network = false;
    } else if (v->zoom) {
        v->zoom = false;
    } else if (v->pinned) {
        to_explained(s);
    }
    return LAB_OK;
}

static enum lab_status fold_all(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    bool any = false;
    for (int i = 0; i < v->tree.count; i++)
        any = any || v->tree.items[i].folded;
    lab_step_tree_fold_all(&v->tree, !any);
    int row = lab_step_tree_row(&v->tree, v->item);
    if (row >= 0)
        v->item = v->tree.rows[row];
    return LAB_OK;
}

/* ---- the network's picture ---- */

static void choose_box(struct lab_stepper *v, int box)
{
    const struct lab_schedule_step *now = step_now(v);
    int step = box < 0 || box >= v->network.picture.n
                   ? -1
                   : lab_network_step(&v->network, v->snap.schedule, box,
                                      now ? (int)now->step->phase : 0);
    if (step < 0)
        return;
    choose_step(v, step);
    lab_step_tree_reveal(&v->tree, v->item);
}

static enum lab_status to_network(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    if (!v->on_network && v->body.h <= NETWORK_LEAVES)
        return refuse(v, "no room for the picture of the network: make the "
                         "terminal higher");
    v->on_network = !v->on_network;
    if (v->on_network)
        lab_ui_message(v->ui, LAB_ROLE_DIM,
                       "arrows: to another node   Space: into a block, a "
                       "recurrence, or back   Enter: to its steps");
    return LAB_OK;
}

static void turn_box(struct lab_stepper *v, int box)
{
    if (box < 0 || !lab_network_turn(&v->network, box))
        refuse(v, "this box is one node");
    else if (lab_network_build(&v->network, v->snap.plan, v->snap.schedule))
        lab_ui_error(v->ui);
}

static bool network_action(struct lab_stepper *v, int action)
{
    const struct lab_diagram *d = &v->network.picture;
    int64_t to = lab_action_move(action, d->lit, d->n, d->n);
    if (action == LAB_ACT_LEFT || action == LAB_ACT_RIGHT)
        to = d->lit + (action == LAB_ACT_LEFT ? -1 : 1);
    if (action == LAB_ACT_OPEN)
        focus_pane(v, LAB_PANE_STEPS);
    else if (to >= 0)
        choose_box(v, (int)to);
    else
        return action == LAB_ACT_LEFT;
    return true;
}

static enum lab_status fold_here(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    if (v->on_network) {
        turn_box(v, v->network.picture.lit);
        return LAB_OK;
    }
    const struct lab_tree_item *item = &v->tree.items[v->item];
    int header = item->step < 0 ? v->item : item->parent;
    lab_step_tree_fold(&v->tree, header, !v->tree.items[header].folded);
    v->item = header;
    return LAB_OK;
}

static enum lab_status open_lesson(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    struct topic at = topic_now(v);
    if (v->model.open_lesson)
        return v->model.open_lesson(v->model.user, v->ui, at.step, at.node,
                                    at.phase);
    return refuse(v, "the lesson has no text");
}

static enum lab_status explain(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    v->pinned = false;
    explain_cursor(v);
    focus_pane(v, LAB_PANE_EXPLAIN);
    return LAB_OK;
}

static enum lab_status to_current(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    choose_step(v, v->snap.position < v->snap.schedule->n_steps
                       ? v->snap.position
                       : v->snap.position - 1);
    lab_step_tree_reveal(&v->tree, v->item);
    return LAB_OK;
}

static enum lab_status to_pane(struct lab_screen *s, int pane)
{
    focus_pane(s->state, (enum lab_stepper_pane)pane);
    return LAB_OK;
}

static enum lab_status turn_digits(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    v->numbers = !v->numbers;
    if (look_now(v))
        look_now(v)->show.sheet = 0;
    ask_plane(v);
    mark_sources(v);
    return LAB_OK;
}

static enum lab_status turn_zoom(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    v->zoom = !v->zoom;
    return LAB_OK;
}

/* Where the pane has no room for it, the blackboard has the screen. */
static int64_t within(int64_t n, int64_t least, int64_t most)
{
    return n < least ? least : n > most ? most : n;
}

/* Of the tensor's pane in the height that it has with the one below it: as it is
 * on the screen where no number was chosen. */
static int tensor_share(const struct lab_stepper *v)
{
    const struct lab_rect *pane = v->layout.pane;
    int h = pane[LAB_PANE_TENSOR].h;
    int both = h + pane[v->layout.tabs ? v->tab : LAB_PANE_EXPLAIN].h;
    return v->sizes.tensor ? v->sizes.tensor : both > 0 ? 100 * h / both : 60;
}

/* The pane in focus gets more or less of the room. */
static enum lab_status resize_pane(struct lab_screen *s, int by)
{
    struct lab_stepper *v = s->state;
    struct lab_pane_sizes *to = &v->sizes;
    const struct lab_rect *pane = v->layout.pane;
    bool beside = !v->layout.tabs &&
                  (v->focus == LAB_PANE_TEXT || v->focus == LAB_PANE_KERNELS);
    int step = v->focus == LAB_PANE_TENSOR ? by : -by;
    if (v->zoom)
        return refuse(v, "this pane has all the room: z gives it back");
    if (v->focus == LAB_PANE_STEPS)
        to->steps =
            (int)within(pane[LAB_PANE_STEPS].w + 4 * by, 16, v->body.w / 2);
    else if (beside)
        to->text = (int)within(set_or(to->text, 42) + 4 * by, 20, 60);
    else
        to->tensor = (int)within(tensor_share(v) + 6 * step, 20, 80);
    return LAB_OK;
}

/* Whether the pane that the keys go to is the largest. */
static enum lab_status turn_grow(struct lab_screen *s)
{
    enum { GROWN = 75 };
    struct lab_stepper *v = s->state;
    v->sizes.focus = v->sizes.focus ? 0 : GROWN;
    lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                   v->sizes.focus ? "the pane in focus grows; = ends it"
                                  : "panes keep their sizes");
    return LAB_OK;
}

static enum lab_status turn_board(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    struct look *look = look_now(v);
    bool shown = board_shown(v) && v->board.view.board.n > 1;
    if (v->body.h < BOARD_H + BOARD_AROUND || v->body.w < BOARD_W)
        return refuse(v, "no room for all tensors of the step: make the "
                         "terminal larger, 60x22 at least");
    focus_pane(v, LAB_PANE_TENSOR);
    if (look && look->picture) /* a row as a square has no place there */
        leave_picture(v);
    if (look && look->show.sheet) {
        look->show.sheet = 0;
        ask_plane(v);
    }
    v->board.off = shown;
    v->numbers = false;
    if (shown || !v->board.room)
        v->zoom = !shown;
    v->board.room = v->board.room || v->zoom;
    return LAB_OK;
}

/* The first click goes to a box, the next one opens it. */
static bool click_network(struct lab_stepper *v, int y, int x)
{
    int box = lab_diagram_hit(&v->network.picture, y, x);
    if (box < 0)
        return false;
    if (box == v->network.picture.lit)
        turn_box(v, box);
    else
        choose_box(v, box);
    return true;
}

static bool in_pane(struct lab_screen *s, int action)
{
    struct lab_stepper *v = s->state;
    if (v->on_network && action != LAB_ACT_PAGE_UP &&
        action != LAB_ACT_PAGE_DOWN)
        return network_action(v, action);
    switch (v->focus) {
    case LAB_PANE_STEPS:
        return steps_action(v, action);
    case LAB_PANE_TENSOR:
        if (tensor_action(v, action))
            return true;
        return action == LAB_ACT_OPEN && explain(s) == LAB_OK;
    case LAB_PANE_EXPLAIN:
        return explain_action(v, action) ||
               lab_pager_action(&v->pager[v->focus], action);
    default:
        return lab_pager_action(&v->pager[v->focus], action);
    }
}

static bool stepper_action(struct lab_screen *s, int action)
{
    struct lab_stepper *v = s->state;
    bool forward = action == LAB_ACT_NEXT_PANE;
    if (!v->snap.plan || !v->snap.schedule || v->item < 0)
        return false;
    if (v->variants.n)
        return variants_action(v, action);
    switch (action) {
    case LAB_ACT_NEXT_PANE:
    case LAB_ACT_PREV_PANE:
        focus_pane(v, ((int)v->focus + (forward ? 1 : LAB_PANE_COUNT - 1)) %
                          LAB_PANE_COUNT);
        return true;
    default:
        return in_pane(s, action);
    }
}

/* A lesson that could not be started has its text, one that is measured can go
 * on without; elsewhere Esc waits with the rest. */
static bool ready(struct lab_screen *s)
{
    const struct lab_stepper *v = s->state;
    bool failed = v->snap.state == LAB_SESSION_FAILED;
    bool walks = v->snap.plan && v->snap.schedule && v->item >= 0;
    bool measures = v->snap.measure_of > 0;
    if (!walks && !failed && !measures)
        refuse(v, "there is nothing to walk yet");
    return walks || failed || measures;
}

static enum lab_status stop_measuring(struct lab_screen *s)
{
    const struct lab_command stop = {.kind = LAB_DO_STOP};
    struct lab_stepper *v = s->state;
    post(v, &stop);
    lab_ui_message(v->ui, LAB_ROLE_NORMAL,
                   "no measuring: variants by the fixed table");
    return LAB_OK;
}

static void after(struct lab_screen *s)
{
    refresh(s->state);
}

/* A click goes to a pane or its tab, in the list to a step, in the tensor to an
 * element or to another tensor, in the explanation to a term; the wheel moves
 * in it. In the list of variants it takes one. */
static bool stepper_mouse(struct lab_screen *s, enum lab_mouse what, int y,
                          int x)
{
    struct lab_stepper *v = s->state;
    if (!v->snap.schedule || v->item < 0)
        return false;
    if (v->variants.n && what == LAB_MOUSE_CLICK) {
        click_variants(s, y, x);
        return true;
    }
    if (v->variants.n)
        return false;
    if (what == LAB_MOUSE_CLICK && click_network(v, y, x))
        return true;
    for (int i = 0; i < LAB_PANE_COUNT; i++) {
        struct lab_rect r = v->layout.pane[i];
        if (!lab_rect_has(r, y, x))
            continue;
        int pane = i;
        for (int k = 0; what == LAB_MOUSE_CLICK && k < LAB_PANE_COUNT; k++)
            if (lab_rect_has(v->tabs[k], y, x))
                pane = k;
        focus_pane(v, (enum lab_stepper_pane)pane);
        int64_t row = v->tree_top + y - r.y - 1;
        if (what == LAB_MOUSE_CLICK && i == LAB_PANE_STEPS && y > r.y &&
            row < v->tree.n_rows)
            choose_item(v, v->tree.rows[row]);
        if (what == LAB_MOUSE_CLICK && i == LAB_PANE_TENSOR)
            click_tensor(v, y, x);
        if (what == LAB_MOUSE_CLICK && pane == LAB_PANE_EXPLAIN)
            click_explain(v, y, x);
        return what == LAB_MOUSE_CLICK; /* the wheel: as the arrows */
    }
    return false;
}

static void stepper_answer(struct lab_screen *s, int id, const char *text)
{
    struct lab_stepper *v = s->state;
    if (!text)
        return;
    if (id == ASK_RESTART) {
        restart_now(v);
    } else if (id == ASK_SAVE) {
        v->save.n = 1;
        post(v, &v->save);
    } else if (id == ASK_LEAVE) {
        if (text[0] == 'b')
            v->model.leave_running(v->model.user);
        lab_ui_pop(v->ui);
    }
}

/* ---- the screen ---- */

/* For a moment after a step its tensor is on the way: the old frame is better
 * than one with a hole in it. */
static bool plane_is_coming(const struct lab_stepper *v)
{
    enum { PATIENCE_NS = 100 * 1000 * 1000 };
    return v->tensor >= 0 && (!plane_ready(v) || !board_ready(v)) &&
           lab_clock_monotonic_ns() - v->asked_ns < PATIENCE_NS;
}

static enum lab_status init(struct lab_screen *s, const void *args)
{
    struct lab_stepper *v = s->state;
    v->ui = s->ui;
    v->model = *(const struct lab_stepper_model *)args;
    if (!v->model.left)
        v->model.left = &v->train_left;
    v->sizes = *lab_ui_pane_sizes(s->ui);
    v->focus = LAB_PANE_STEPS;
    v->tab = LAB_PANE_TEXT;
    v->step = -1;
    v->item = -1;
    v->tensor = -1;
    v->asked.tensor = -1;
    lab_str_init(&v->launch);
    v->explained.tensor = -1;
    v->text_step = TEXT_NONE;
    v->n_kernels = -1;
    v->board.step = -1;
    v->board.view.snap = &v->snap;
    for (int i = 0; i < LAB_PANE_COUNT; i++) {
        lab_doc_init(&v->doc[i]);
        lab_pager_init(&v->pager[i], &v->doc[i]);
        v->pager[i].upright = true;
    }
    lab_doc_init(&v->source_text.doc);
    lab_pager_init(&v->source_text.pager, &v->source_text.doc);
    v->source_text.pager.upright = true;
    v->kernels = lab_alloc_array(KERNELS, sizeof(*v->kernels));
    if (!v->kernels)
        return lab_no_memory("the stepper");
    /* Records of kernels arrive without a new snapshot. */
    lab_ui_tick_every(s->ui, 200);
    refresh(v);
    return LAB_OK;
}

static void release(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    if (v->snap.version)
        v->model.snapshot_release(&v->snap);
    lab_step_tree_release(&v->tree);
    lab_network_release(&v->network);
    lab_str_release(&v->launch);
    for (int i = 0; i < LAB_PANE_COUNT; i++) {
        lab_pager_release(&v->pager[i]);
        lab_doc_release(&v->doc[i]);
    }
    lab_pager_release(&v->source_text.pager);
    lab_doc_release(&v->source_text.doc);
    lab_free(v->kernels);
    lab_free(v->looks);
    lab_free(v->marks);
}

static bool tick(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    bool was_long = v->long_step;
    v->long_step = runs_long(v);
    bool changed = refresh(v) || v->held || v->long_step || was_long;
    go_into(v);
    v->held = changed && plane_is_coming(v);
    return changed && !v->held;
}

/* A key acts on what the reader expects to see: on the step that was asked for
 * before it, and on its numbers. Long work does not hold keys up. */
static bool waits(struct lab_screen *s, int key)
{
    struct lab_stepper *v = s->state;
    if (!v->model.pending)
        return false;
    bool pending = v->model.pending(v->model.session);
    if (!pending) {
        if (refresh(v)) /* may ask for the numbers of a step */
            lab_ui_redraw(v->ui);
        pending = v->model.pending(v->model.session);
    }
    enum lab_session_state state = v->snap.state;
    if (state == LAB_SESSION_STARTING)
        return key != 'q' && key != LAB_KEY_ESC && key != '?';
    v->long_step = pending && runs_long(v);
    if (key == LAB_KEY_ESC && is_busy(v))
        return false;
    return pending && state != LAB_SESSION_TRAINING &&
           state != LAB_SESSION_CHECKING && state != LAB_SESSION_FAILED;
}

/* A training that goes on is not ended by a slip of the finger. */
static bool may_close(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    refresh(v);
    if (v->snap.state != LAB_SESSION_TRAINING)
        return true;
    if (v->model.leave_running)
        lab_ui_ask_which(
            v->ui, ASK_LEAVE,
            "The training goes on: y stops it and leaves, b leaves "
            "it running in the background",
            "yb");
    else
        lab_ui_ask(v->ui, ASK_LEAVE,
                   "The training goes on: stop it and leave?");
    return false;
}

static void title_now(struct lab_screen *s, char *out, size_t cap)
{
    const struct lab_stepper *v = s->state;
    const char *title = v->model.title;
    snprintf(out, cap, "%s", title && title[0] ? title : "stepper");
}

/* The stepper's keys: what gdb's users expect, and what moves the eye. */

static const struct lab_binding stepper_keys[] = {
    {"s F7", true, "step", "run one step", LAB_ACT_OWN, NULL, walk,
     LAB_DO_STEP},
    {"n F8", true, "next",
     "run the rest of this node; in a search the next match", LAB_ACT_OWN, NULL,
     walk, LAB_DO_NEXT},
    {"c F5", true, "cont",
     "continue to a breakpoint, or to the end of the iteration", LAB_ACT_OWN,
     NULL, walk, LAB_DO_CONTINUE},
    {"r Backspace B", true, "back", "one step back, bit for bit", LAB_ACT_OWN,
     NULL, walk, LAB_DO_BACK},
    {"v", true, "variant",
     "choose how this node runs: naive, tiled, a library ..., with the times "
     "that were measured",
     LAB_ACT_OWN, open_variants},
    {"e", true, "explain",
     "explain the number under the cursor, and go to its terms", LAB_ACT_OWN,
     explain},
    {"t", true, "train", "train over many iterations, with curves", LAB_ACT_OWN,
     open_training},
    {"d", true, "digits",
     "the tensor as numbers, or as a heat map, where ~0 is below 0.05 of its "
     "scale's end",
     LAB_ACT_OWN, turn_digits},
    {"A", false, "slices",
     "all slices of the tensor side by side: channels, heads, samples (arrows "
     "go to another, Enter opens it); of an lstm all gates over time",
     LAB_ACT_OWN, turn_sheet},
    {"a", false, "board",
     "all tensors of the step as one writes them, what belongs to the number "
     "under the cursor marked in each; or the tensor alone",
     LAB_ACT_OWN, turn_board},
    {"D", false, "diagram",
     "to the picture of the network: arrows to another node, Space into a "
     "block "
     "or a recurrence, Enter to its steps",
     LAB_ACT_OWN, to_network},
    {"x", true, "tensor", "the next tensor of this step: inputs, then outputs",
     LAB_ACT_OWN, NULL, next_tensor, 1},
    {"b F9", true, "break",
     "set or remove a breakpoint at the step under the cursor", LAB_ACT_OWN,
     toggle_break},
    {"f", true, "finish", "run to the end of this phase", LAB_ACT_OWN, NULL,
     walk, LAB_DO_FINISH},
    {"u", true, "until", "run to the step under the cursor", LAB_ACT_OWN,
     run_until},
    {"X", false, "tensor back", "the tensor before", LAB_ACT_OWN, NULL,
     next_tensor, -1},
    {"o", true, "source", "read the source of the step's kernel", LAB_ACT_OWN,
     open_source},
    {"L", true, "lesson", "read the whole text of the lesson", LAB_ACT_OWN,
     open_lesson},
    {"w", false, "watch",
     "stop when the tensor shown has been written, or no longer", LAB_ACT_OWN,
     toggle_watch},
    {"C", false, "check",
     "compare the gradient of the parameter shown with central differences",
     LAB_ACT_OWN, check_gradient},
    {"m", false, "counters",
     "take the hardware counters of this step's kernels (a GPU's)", LAB_ACT_OWN,
     NULL, count, false},
    {"M", false, "all counters",
     "take the counters of every step that has run in this iteration",
     LAB_ACT_OWN, NULL, count, true},
    {"O", false, "occupancy",
     "what if the kernel's block, registers or shared memory were others",
     LAB_ACT_OWN, open_occupancy},
    {"R", false, "restart", "back to the first iteration, with the same seed",
     LAB_ACT_OWN, restart},
    {"y", false, "to explained",
     "from a source back to the number that is explained", LAB_ACT_OWN,
     to_explained},
    {".", false, "here", "go to the current step", LAB_ACT_OWN, to_current},
    {"[", false, "slice back",
     "the slice before, of a tensor with more than two axes", LAB_ACT_OWN, NULL,
     next_slice, -1},
    {"]", false, "slice", "the next slice", LAB_ACT_OWN, NULL, next_slice, 1},
    {"{", false, "axis back", "[ and ] move along the hidden axis before",
     LAB_ACT_OWN, NULL, next_hidden, -1},
    {"}", false, "axis", "[ and ] move along the next hidden axis", LAB_ACT_OWN,
     NULL, next_hidden, 1},
    {"<", false, "axis down", "choose the row axis", LAB_ACT_OWN, NULL,
     turn_axis, true},
    {">", false, "axis across", "choose the column axis", LAB_ACT_OWN, NULL,
     turn_axis, false},
    {"i", false, "into",
     "run one step and walk through its kernels, thread by thread (with "
     "--backend sim)",
     LAB_ACT_OWN, step_into},
    {"I", false, "picture",
     "one row as a square picture; of images, the image again", LAB_ACT_OWN,
     turn_picture},
    {"Space", false, "fold", "fold or unfold this group of steps", LAB_ACT_OWN,
     fold_here},
    {"-", false, "fold all", "fold every node, or unfold them all", LAB_ACT_OWN,
     fold_all},
    {"z F2", false, "zoom", "this pane alone on the screen, or all again",
     LAB_ACT_OWN, turn_zoom},
    {"+", false, "larger", "this pane takes more of the screen", LAB_ACT_OWN,
     NULL, resize_pane, 1},
    {"_", false, "smaller", "this pane takes less of the screen", LAB_ACT_OWN,
     NULL, resize_pane, -1},
    {"=", false, "grow", "the pane in focus grows, or panes keep their sizes",
     LAB_ACT_OWN, turn_grow},
    {"1", false, "steps", "to the list of steps", LAB_ACT_OWN, NULL, to_pane,
     LAB_PANE_STEPS},
    {"2", false, "tensor", "to the tensor", LAB_ACT_OWN, NULL, to_pane,
     LAB_PANE_TENSOR},
    {"3", false, "explain", "to the explanation", LAB_ACT_OWN, NULL, to_pane,
     LAB_PANE_EXPLAIN},
    {"4", false, "kernels", "to the kernels", LAB_ACT_OWN, NULL, to_pane,
     LAB_PANE_KERNELS},
    {"5", false, "lesson", "to the lesson's text", LAB_ACT_OWN, NULL, to_pane,
     LAB_PANE_TEXT},
    {"Esc", false, "stop",
     "stop what runs; else close a list, a search, a zoom", LAB_ACT_OWN,
     stop_or_close},
    {NULL}};

static enum lab_status close_found(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    v->found[0] = '\0';
    return LAB_OK;
}

static enum lab_status go_to_found(struct lab_screen *s)
{
    struct lab_stepper *v = s->state;
    v->found[0] = '\0';
    open_kernel_at(v, &v->goal);
    return LAB_OK;
}

static const struct lab_binding found_keys[] = {
    {"Enter i", true, "kernel", "into the kernel, to this place", LAB_ACT_OPEN,
     go_to_found},
    {"Esc q", true, "close", "back to the step", LAB_ACT_CANCEL, close_found},
    {NULL}};

static const struct lab_binding variant_keys[] = {
    {"Enter", true, "take", "run the node so", LAB_ACT_OPEN, take_variant},
    {"Esc q v", true, "close", "leave it as it is", LAB_ACT_CANCEL,
     close_variants},
    {NULL}};

/* A lesson that could not be started has its text, and nothing to walk. */
static const struct lab_binding failed_keys[] = {
    {"L", true, "lesson", "read the whole text of the lesson", LAB_ACT_OWN,
     open_lesson},
    {NULL}};

static const struct lab_binding measuring_keys[] = {
    {"Esc", true, "no measuring", "go on with the fixed table of variants",
     LAB_ACT_OWN, stop_measuring},
    {NULL}};

/* While a training runs the bar has the keys that act, its own two first. */
static const struct lab_binding *stepper_bindings(const struct lab_screen *s)
{
    static struct lab_binding
        training_keys[sizeof(stepper_keys) / sizeof(stepper_keys[0])];
    static struct lab_binding
        walking_keys[sizeof(stepper_keys) / sizeof(stepper_keys[0])];
    const struct lab_stepper *v = s->state;
    if (v->snap.state == LAB_SESSION_FAILED && !v->snap.schedule)
        return failed_keys;
    if (v->snap.measure_of > 0)
        return measuring_keys;
    if (v->variants.n)
        return variant_keys;
    if (v->found[0])
        return found_keys;
    if (v->snap.state == LAB_SESSION_TRAINING)
        return lab_keymap_bar(stepper_keys, "EtdboL", training_keys); /* Esc */
    return strcmp(v->snap.backend, "sim") == 0
               ? lab_keymap_bar(stepper_keys, "snicrvetdxbfuoL", walking_keys)
               : stepper_keys;
}

const struct lab_screen_ops lab_view_stepper = {
    .name = "stepper",
    .title = "stepper",
    .state_bytes = sizeof(struct lab_stepper),
    .bindings = stepper_keys,
    .sideways = true,
    .init = init,
    .release = release,
    .draw = stepper_draw,
    .action = stepper_action,
    .mouse = stepper_mouse,
    .search = search_steps,
    .place = "network",
    .tick = tick,
    .command = stepper_command,
    .answer = stepper_answer,
    .complete = stepper_complete,
    .title_now = title_now,
    .bindings_now = stepper_bindings,
    .waits = waits,
    .may_close = may_close,
    .shown = after,
    .ready = ready,
    .after = after,
};
