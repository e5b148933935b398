/* session.c -- the session: its thread and queue, what each command does,
 * and the snapshot that it publishes. */
#include "engine/session.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/format.h"
#include "base/arena.h"
#include "base/mem.h"
#include "engine/text.h"
#include "base/clock.h"
#include "engine/board.h"
#include "engine/generate.h"
#include "engine/inspect.h"
#include "base/thread.h"
#include "engine/setup.h"
#include "engine/sim_backend.h"
#include "engine/walk.h"

struct lab_queued {
    struct lab_command command;
    bool stopped; /* a stop was asked for after it */
    struct lab_queued *next;
};

struct lab_owned_choice {
    char target[LAB_COMMAND_TEXT];
    char variant[LAB_COMMAND_TEXT];
    bool optional;
};

enum { LAB_CURVE_POINTS = 2048, LAB_CURVE_RECENT = 256, LAB_TIMES_KEPT = 512 };

/* A curve that halves its density when it is full. */
struct lab_curve_buffer {
    int64_t iteration[LAB_CURVE_POINTS];
    double value[LAB_CURVE_POINTS];
    int n;
    int64_t every; /* one point of so many is kept */
    int64_t seen;
    int64_t last_iteration; /* of the newest value, kept or not */
    double last_value;
    /* The newest values by iteration, whatever thinning keeps; iteration + 1. */
    int64_t recent_of[LAB_CURVE_RECENT];
    double recent[LAB_CURVE_RECENT];
};

/* What the copies of one snapshot share; the last one frees it. */
struct lab_snapshot_shared {
    atomic_int refs;
    struct lab_arena memory; /* of all but the schedule and the explanation */
    struct lab_snapshot all;
};

struct lab_session {
    /* The configuration; fixed after the start. */
    struct lab_network_spec spec; /* a view: the caller owns what it names */
    struct lab_setup setup;       /* its spec, backend and data are these: */
    char *data;
    struct lab_session_hooks hooks;
    void (*wake)(void *user);
    void *wake_user;
    int64_t epochs;
    const struct lab_tune_keeper *tune; /* the caller's, or NULL */
    struct lab_tune_keeper watched;     /* that one, shown and stopped */

    /* The engine's thread. */
    struct lab_snapshot now; /* what the next snapshot shows; owns nothing */
    struct lab_plan *plan;
    struct lab_walk *walk;
    struct lab_owned_choice choices[LAB_MAX_CHOICES];
    int n_choices;
    int next_break;
    bool passing;         /* the lesson's own stops are passed */
    struct lab_show show; /* tensor -1: none is shown */
    struct lab_show board[LAB_BOARD_PARTS]; /* shown beside it */
    int n_board;
    struct lab_element element; /* tensor -1: none is explained */
    struct lab_check_result *checks;
    int64_t train_start_ns;
    int64_t last_publish_ns;
    struct {
        struct lab_curve_buffer losses;
        struct lab_curve_buffer accuracies;
        struct lab_curve_buffer held; /* validation loss */
        struct lab_curve_buffer bits;
        struct lab_curve_buffer rates;
    } curves;
    /* Over all trainings from where the walk began: its best network is marked. */
    struct lab_patience patience;
    struct lab_inspector *inspector;
    bool bits_counted; /* bits_order3 was tried */
    struct lab_str sample;
    float *sample_p; /* for each byte of it */
    size_t sample_room;
    int64_t samples;  /* drawn since the start */
    int64_t finished; /* short commands that no snapshot shows yet */
    double iteration_ms[LAB_TIMES_KEPT]; /* of the last ones, a ring */
    int64_t n_iteration_ms;

    /* Shared; under `lock`. */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a command came, or all are done */
    pthread_t thread;
    int64_t pending;  /* short commands posted and not in `latest` */
    int64_t since_ns; /* of the short command that runs; 0: none does */
    struct lab_queued *first;
    struct lab_queued *last;
    bool busy;
    bool lost; /* there was no memory for the newest snapshot */
    atomic_bool quit;
    atomic_bool cancel;
    struct lab_snapshot_shared *latest;
    atomic_llong version;
};

static void serve_quick(struct lab_session *s);

/* Labels of the rows and columns of a plane: the symbols of the sequence, where
 * an axis counts its places. */

enum { MOST_LABELS = 16384 };

/* The axis of a part of a node that the op declares; -1: it counts no places.
 * Else the tensor that has these places. */
static int declared(const struct lab_plan *plan, const struct lab_tensor *t,
                    int axis)
{
    const struct lab_node *node = &plan->nodes[t->node];
    size_t n = strlen(node->id);
    if (strncmp(t->name, node->id, n) != 0 || t->name[n] != '.')
        return -1;
    for (int i = 0; i < node->op->n_axes; i++) {
        const struct lab_part_axis *a = &node->op->axes[i];
        if (a->from_last == t->shape.rank - axis &&
            strcmp(a->part, t->name + n + 1) == 0)
            return node->in[a->input];
    }
    return -1;
}

/* The ids that a sequence was made of: back along the first inputs, as long as
 * they have as many places. -1: there are none. */
static int ids_of(const struct lab_plan *plan, int tensor, int64_t places)
{
    for (int i = 0; tensor >= 0 && i <= plan->n_nodes; i++) {
        const struct lab_tensor *t = &plan->tensors[tensor];
        const struct lab_shape *s = &t->shape;
        if (t->role == LAB_TENSOR_DATA)
            return t->dtype == LAB_I32 && s->rank == 2 && s->dim[1] == places
                       ? tensor
                       : -1;
        if (s->rank != 3 || s->dim[1] != places || t->node < 0)
            return -1;
        const struct lab_node *node = &plan->nodes[t->node];
        tensor = node->n_in > 0 ? node->in[0] : -1;
    }
    return -1;
}

static void number(struct lab_label *out, int64_t n)
{
    snprintf(out->text, sizeof(out->text), "%lld", (long long)n);
}

/* A character of a text. What is no ink is named, so that it can be seen. */
static void name_character(const struct lab_text *text, int32_t id,
                           struct lab_label *out)
{
    struct lab_str s;
    lab_str_init(&s);
    lab_text_add(text, id, &s);
    const char *c = lab_str_text(&s);
    if (strcmp(c, " ") == 0)
        snprintf(out->text, sizeof(out->text), "' '");
    else if (strcmp(c, "\n") == 0)
        snprintf(out->text, sizeof(out->text), "\\n");
    else if (strcmp(c, "\t") == 0)
        snprintf(out->text, sizeof(out->text), "\\t");
    else
        snprintf(out->text, sizeof(out->text), "%s", c);
    lab_str_release(&s);
}

static void name_id(const struct lab_plan *plan, const struct lab_data *d,
                    int data, int64_t place, int32_t id, struct lab_label *out)
{
    const struct lab_text *text = lab_data_text(d);
    const char *symbol = lab_data_symbol(d, id);
    out->symbol = true;
    if (!symbol)
        symbol = lab_data_word_at(d, plan, data, place, id);
    if (symbol)
        snprintf(out->text, sizeof(out->text), "%s", symbol);
    else if (text && id >= 0 && id < text->vocab)
        name_character(text, id, out);
    else
        number(out, id);
}

/* Of classes that are characters or symbols; NULL: numbers are the best names. */
static struct lab_label *class_names(const struct lab_data *d, int n,
                                     struct lab_arena *memory)
{
    const struct lab_text *text = lab_data_text(d);
    const bool characters = text && n == text->vocab;
    struct lab_label *name =
        n > 0 && (characters || lab_data_symbol(d, 0))
            ? lab_arena_array(memory, (size_t)n, sizeof(*name))
            : NULL;
    for (int i = 0; name && i < n; i++) {
        const char *symbol = characters ? NULL : lab_data_symbol(d, i);
        if (characters)
            name_character(text, i, &name[i]);
        else
            snprintf(name[i].text, sizeof(name[i].text), "%s",
                     symbol ? symbol : "");
    }
    return name;
}

/* Of n places from `first` on, the symbols that the samples have there: those of
 * sample `from` first, then of `samples - 1` more. */
static void name_ids(struct lab_walk *walk, int data, int64_t from,
                     int64_t samples, int64_t first, int64_t n,
                     struct lab_label *out)
{
    const struct lab_tensor *t = &lab_walk_plan(walk)->tensors[data];
    int32_t *id = lab_alloc_array((size_t)t->count, sizeof(*id));
    bool known = id && lab_walk_read(walk, data, false, id) == LAB_OK;
    for (int64_t k = 0; known && k < samples; k++) {
        for (int64_t i = 0; i < n; i++) {
            int64_t place = (from + k) * t->shape.dim[1] + first + i;
            name_id(lab_walk_plan(walk), lab_walk_data(walk), data, place,
                    id[place], out++);
        }
    }
    lab_free(id);
}

/* Labels of `axis`, from place `first` on, for each slice of a contact sheet; NULL:
 * it has none. Which sample's symbols they are must be clear: the axis of samples is
 * not in the picture. */
static struct lab_label *label_axis(struct lab_arena *memory,
                                    struct lab_walk *walk,
                                    const struct lab_plane *p, int axis,
                                    int64_t first, int64_t n)
{
    const struct lab_show *show = &p->show;
    const struct lab_plan *plan = lab_walk_plan(walk);
    const struct lab_tensor *t = &plan->tensors[show->tensor];
    while (t->gradient_of >= 0)
        t = &plan->tensors[t->gradient_of];
    if (axis < 0 || t->node < 0 || n < 1 || n * p->tiles > MOST_LABELS)
        return NULL;
    int64_t places = t->shape.dim[axis];
    int from = declared(plan, t, axis);
    bool own = from < 0 && t->shape.rank == 3 && axis == 1 &&
               plan->nodes[t->node].out == t - plan->tensors;
    int data = ids_of(plan, own ? (int)(t - plan->tensors) : from, places);
    if (from < 0 && data < 0)
        return NULL;
    const int64_t all = p->tiles * n;
    struct lab_label *out = lab_arena_array(memory, (size_t)all, sizeof(*out));
    bool fixed = t->shape.rank > 1 && show->row_axis != 0 &&
                 show->col_axis != 0 && data >= 0 &&
                 plan->tensors[data].shape.dim[0] == t->shape.dim[0];
    for (int64_t i = 0; out && i < all; i++)
        number(&out[i], first + i % n);
    if (!out || !fixed)
        return out;
    const bool samples = show->sheet == 1;
    name_ids(walk, data, samples ? show->tile_first : show->fixed[0],
             samples ? p->tiles : 1, first, n, out);
    for (int64_t i = n; i < all && !samples; i++)
        out[i] = out[i - n];
    return out;
}

/* The class with the highest score in row i of the network's result. */
static int64_t answer_of(const struct lab_tensor *out, const void *scores,
                         int64_t i)
{
    int64_t classes = out->shape.dim[1];
    int64_t best = 0;
    for (int64_t c = 1; c < classes; c++)
        if (lab_number_at(scores, out->dtype, i * classes + c) >
            lab_number_at(scores, out->dtype, i * classes + best))
            best = c;
    return best;
}

/* What each sample of the batch is and comes out as, where the slices of a contact
 * sheet are samples and these have classes. */
static struct lab_label *label_tiles(struct lab_arena *memory,
                                     struct lab_walk *walk,
                                     const struct lab_show *show, int64_t n)
{
    const struct lab_plan *plan = lab_walk_plan(walk);
    const struct lab_shape *shape = &plan->tensors[show->tensor].shape;
    if (show->sheet != 1 || plan->y < 0 || shape->dim[0] != plan->batch)
        return NULL;
    const struct lab_tensor *y = &plan->tensors[plan->y];
    const struct lab_tensor *out = &plan->tensors[plan->out];
    if (y->dtype != LAB_I32 || y->count != plan->batch)
        return NULL;
    struct lab_label *list = lab_arena_array(memory, (size_t)n, sizeof(*list));
    int32_t *label = lab_alloc_array((size_t)y->count, sizeof(*label));
    void *scores =
        lab_alloc_array((size_t)out->count, lab_dtype_bytes(out->dtype));
    bool ok = list && label && scores &&
              lab_walk_read(walk, plan->y, false, label) == LAB_OK;
    bool known = ok && out->shape.rank == 2 &&
                 lab_walk_written(walk, plan->out) &&
                 lab_walk_read(walk, plan->out, false, scores) == LAB_OK;
    for (int64_t i = 0; ok && i < n; i++) {
        const int64_t sample = show->tile_first + i;
        const int32_t is = label[sample];
        int64_t answer = known ? answer_of(out, scores, sample) : is;
        if (answer == is)
            snprintf(list[i].text, sizeof(list[i].text), "%d%s", is,
                     known ? " ✓" : "");
        else
            snprintf(list[i].text, sizeof(list[i].text), "%d, as %lld", is,
                     (long long)answer);
    }
    lab_free(label);
    lab_free(scores);
    return ok ? list : NULL;
}

/* ---- errors and reasons ---- */

static void keep_error(struct lab_snapshot *out, enum lab_status st)
{
    out->error_code = st;
    snprintf(out->error, sizeof(out->error), "%s", st ? lab_error() : "");
    snprintf(out->error_id, sizeof(out->error_id), "%s",
             st ? lab_error_id() : "");
}

static void session_fail(struct lab_session *s, enum lab_status st)
{
    keep_error(&s->now, st);
}

static void stop_because(struct lab_session *s, const char *fmt, ...)
    LAB_PRINTF(2, 3);
static void stop_because(struct lab_session *s, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(s->now.stop_reason, sizeof(s->now.stop_reason), fmt, args);
    va_end(args);
}

/* Lines of their own. */
static void add_notice_lines(struct lab_session *s, const char *text)
{
    size_t used = strlen(s->now.notice);
    bool line = used > 0 && s->now.notice[used - 1] != '\n';
    snprintf(s->now.notice + used, sizeof(s->now.notice) - used, "%s%s",
             line ? "\n" : "", text);
}

/* A line of its own: "what: why". */
static void add_notice(struct lab_session *s, const char *what, const char *why)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_str_addf(&text, "%s: %s\n", what, why);
    add_notice_lines(s, lab_str_text(&text));
    lab_str_release(&text);
}

static void session_begin_run(struct lab_session *s)
{
    lab_walk_run_begin(s->walk, s->spec.title ? s->spec.title : "lesson");
}

/* ---- curves and times ---- */

static void curve_cut(struct lab_curve_buffer *c, int64_t from)
{
    if (c->n == 0 || c->last_iteration < from)
        return;
    while (c->n > 0 && c->iteration[c->n - 1] >= from)
        c->n--;
    c->seen = c->n * c->every;
    c->last_iteration = c->n > 0 ? c->iteration[c->n - 1] : 0;
    c->last_value = c->n > 0 ? c->value[c->n - 1] : NAN;
}

static void curve_add(struct lab_curve_buffer *c, int64_t iteration,
                      double value)
{
    if (c->n > 0 && c->iteration[c->n - 1] >= iteration)
        curve_cut(c, iteration); /* the walk has gone back: it is run anew */
    if (c->every == 0)
        c->every = 1;
    c->last_iteration = iteration;
    c->last_value = value;
    c->recent_of[iteration % LAB_CURVE_RECENT] = iteration + 1;
    c->recent[iteration % LAB_CURVE_RECENT] = value;
    if (c->seen++ % c->every != 0)
        return;
    if (c->n == LAB_CURVE_POINTS) { /* keep every other point from now on */
        for (int i = 0; i < LAB_CURVE_POINTS / 2; i++) {
            c->iteration[i] = c->iteration[2 * i];
            c->value[i] = c->value[2 * i];
        }
        c->n /= 2;
        c->every *= 2;
        if ((c->seen - 1) % c->every != 0)
            return;
    }
    c->iteration[c->n] = iteration;
    c->value[c->n++] = value;
}

/* The rate that was set last holds from `iteration` on, wherever on the way that was
 * left it was set. */
static void leave_rates(struct lab_session *s, int64_t iteration)
{
    struct lab_lr_change *list = s->now.lr_changes;
    const int n = s->now.n_lr_changes;
    const double lr = n > 0 ? list[n - 1].lr : NAN;
    int kept = 0;
    for (int i = 0; i < n; i++)
        if (list[i].iteration <= iteration)
            list[kept++] = list[i];
    if (kept == n)
        return;
    if (kept > 0 && list[kept - 1].iteration == iteration)
        kept--;
    list[kept++] = (struct lab_lr_change){iteration, lr};
    s->now.n_lr_changes = kept;
}

static double newest(const struct lab_curve_buffer *c)
{
    return c->n > 0 ? c->last_value : NAN;
}

/* The walk has gone back and runs `iteration` anew, with the same loss and rate or with
 * others: what was evaluated on the way that was left goes, and a best network that it
 * had. */
static void leave_way(struct lab_session *s, int64_t iteration, bool same)
{
    const int64_t from = iteration + same;
    if (s->curves.losses.n == 0 || from > s->curves.losses.last_iteration)
        return;
    const int64_t evaluated = s->curves.held.last_iteration;
    curve_cut(&s->curves.held, from);
    curve_cut(&s->curves.accuracies, from);
    curve_cut(&s->curves.bits, from);
    if (s->curves.held.last_iteration != evaluated) {
        s->now.accuracy = newest(&s->curves.accuracies);
        s->now.bits_per_char = newest(&s->curves.bits);
        s->now.exact = s->now.test_accuracy = NAN;
    }
    if (!same)
        leave_rates(s, iteration);
    if (from <= s->patience.best_iteration)
        lab_patience_init(&s->patience, s->spec.early_stop);
}

static bool has_point(const struct lab_curve_buffer *c, int64_t iteration,
                      double value)
{
    int i = c->n - 1;
    if (c->recent_of[iteration % LAB_CURVE_RECENT] == iteration + 1)
        return c->recent[iteration % LAB_CURVE_RECENT] == value;
    while (i >= 0 && c->iteration[i] > iteration)
        i--;
    return i >= 0 && c->iteration[i] == iteration && c->value[i] == value;
}

/* An iteration's loss, and the rate that it was run with. Run again with both as they
 * were, a step back and a step on, it keeps what was evaluated behind it. */
static void curve_iteration(struct lab_session *s, int64_t iteration,
                            double loss)
{
    double rate = lab_walk_rate(s->walk, iteration);
    bool same = has_point(&s->curves.losses, iteration, loss) &&
                (isnan(rate) || has_point(&s->curves.rates, iteration, rate));
    leave_way(s, iteration, same);
    curve_add(&s->curves.losses, iteration, loss);
    if (!isnan(rate))
        curve_add(&s->curves.rates, iteration, rate);
}

static double median_ms(const struct lab_session *s)
{
    double sorted[LAB_TIMES_KEPT];
    int64_t n =
        s->n_iteration_ms < LAB_TIMES_KEPT ? s->n_iteration_ms : LAB_TIMES_KEPT;
    memcpy(sorted, s->iteration_ms, (size_t)n * sizeof(*sorted));
    return lab_median(sorted, (size_t)n);
}

/* ---- snapshots ---- */

/* The curve always ends with the newest value: thinning must not make a view
 * show an older one as the last. */
static void fill_curve(struct lab_arena *memory, struct lab_curve *out,
                       const struct lab_curve_buffer *c)
{
    size_t n = (size_t)c->n;
    bool tail = n > 0 && c->iteration[n - 1] != c->last_iteration;
    out->iteration = lab_arena_array(memory, n + 1, sizeof(*out->iteration));
    out->value = lab_arena_array(memory, n + 1, sizeof(*out->value));
    if (!out->iteration || !out->value)
        return;
    memcpy(out->iteration, c->iteration, n * sizeof(*out->iteration));
    memcpy(out->value, c->value, n * sizeof(*out->value));
    out->iteration[n] = c->last_iteration;
    out->value[n] = c->last_value;
    out->n = c->n + tail;
}

/* Coordinates of the plane's element (r, c), as a flat index. */
static int64_t plane_index(const struct lab_shape *shape,
                           const struct lab_show *show, int64_t r, int64_t c)
{
    int64_t at[LAB_MAX_RANK];
    memcpy(at, show->fixed, sizeof(at));
    if (show->row_axis >= 0)
        at[show->row_axis] = show->row_first + r;
    if (show->col_axis >= 0)
        at[show->col_axis] = show->col_first + c;
    return lab_shape_ravel(shape, at, shape->rank);
}

static int64_t extent(const struct lab_shape *shape, int axis, int64_t first,
                      int64_t most)
{
    if (axis < 0)
        return 1;
    int64_t n = shape->dim[axis] - first;
    return n < 0 ? 0 : n > most ? most : n;
}

/* Slices of a contact sheet, as many as a plane has room for. */
static int64_t tiles_of(const struct lab_shape *shape,
                        const struct lab_show *show, int64_t elements)
{
    const int64_t room = lab_show_room(elements);
    const int64_t n =
        show->sheet ? shape->dim[show->sheet - 1] - show->tile_first : 1;
    return n < 0 ? 0 : n > room ? room : n;
}

static void copy_plane(struct lab_session *s, struct lab_arena *memory,
                       struct lab_plane *p, const void *data)
{
    const struct lab_tensor *t = &s->plan->tensors[p->tensor];
    p->cols = extent(&t->shape, p->show.col_axis, p->show.col_first,
                     LAB_PLANE_ELEMENTS);
    p->rows = extent(&t->shape, p->show.row_axis, p->show.row_first,
                     LAB_PLANE_ELEMENTS / (p->cols ? p->cols : 1));
    p->tiles = tiles_of(&t->shape, &p->show, p->rows * p->cols);
    p->value = lab_arena_array(memory, (size_t)(p->tiles * p->rows * p->cols),
                               sizeof(double));
    if (!p->value) {
        p->rows = p->cols = p->tiles = 0;
        return;
    }
    struct lab_show show = p->show;
    double *to = p->value;
    for (int64_t k = 0; k < p->tiles; k++) {
        if (show.sheet)
            show.fixed[show.sheet - 1] = show.tile_first + k;
        for (int64_t r = 0; r < p->rows; r++) {
            for (int64_t c = 0; c < p->cols; c++) {
                int64_t i = plane_index(&t->shape, &show, r, c);
                *to++ = i < 0 ? NAN : lab_number_at(data, t->dtype, i);
            }
        }
    }
}

/* What the memory holds is not the tensor: of another iteration, or none. */
static void forget_values(struct lab_plane *p)
{
    p->stats = (struct lab_stats){.count = p->stats.count,
                                  .min = NAN,
                                  .max = NAN,
                                  .mean = NAN,
                                  .std = NAN};
    for (int64_t i = 0; i < p->tiles * p->rows * p->cols && p->value; i++)
        p->value[i] = NAN;
}

/* A tensor as it was read last: planes of one tensor follow each other. */
struct reading {
    int tensor; /* -1: none */
    void *data;
    struct lab_stats stats;
};

static void forget_reading(struct reading *r)
{
    lab_free(r->data);
    *r = (struct reading){.tensor = -1};
}

/* Reads it unless that is what was read last. */
static bool take_reading(struct lab_session *s, int tensor, struct reading *r)
{
    const struct lab_tensor *t = &s->plan->tensors[tensor];
    if (r->tensor == tensor)
        return true;
    forget_reading(r);
    r->data = lab_alloc_array((size_t)t->count, lab_dtype_bytes(t->dtype));
    if (!r->data || lab_walk_read(s->walk, tensor, false, r->data) != LAB_OK)
        return false;
    r->tensor = tensor;
    lab_stats_compute(&r->stats, r->data, t->dtype, t->count);
    return true;
}

static void fill_plane(struct lab_session *s, struct lab_arena *memory,
                       const struct lab_show *show, struct lab_plane *p,
                       struct reading *from)
{
    p->tensor = -1;
    if (show->tensor < 0 || !take_reading(s, show->tensor, from))
        return;
    p->tensor = show->tensor;
    p->show = *show;
    p->written = lab_walk_written(s->walk, p->tensor);
    p->generation = lab_walk_generation(s->walk, p->tensor);
    p->stats = from->stats;
    copy_plane(s, memory, p, from->data);
    if (!p->value)
        p->tensor = -1; /* as without memory for its values */
    if (!p->written)
        forget_values(p);
    if (p->value) {
        p->tile_label = label_tiles(memory, s->walk, &p->show, p->tiles);
        p->row_label = label_axis(memory, s->walk, p, p->show.row_axis,
                                  p->show.row_first, p->rows);
        p->col_label = label_axis(memory, s->walk, p, p->show.col_axis,
                                  p->show.col_first, p->cols);
    }
}

/* Not while training: the numbers are gone before they are compared. The parts of
 * what was read last come first, and those of each tensor follow each other. */
static void fill_board(struct lab_session *s, struct lab_snapshot *out,
                       struct reading *from)
{
    bool filled[LAB_BOARD_PARTS] = {false};
    if (s->now.state == LAB_SESSION_TRAINING)
        return;
    for (int i = -1; i < s->n_board; i++) {
        const int tensor = i < 0 ? from->tensor : s->board[i].tensor;
        for (int k = 0; k < s->n_board; k++) {
            if (filled[k] || s->board[k].tensor != tensor)
                continue;
            filled[k] = true;
            fill_plane(s, &out->shared->memory, &s->board[k], &out->board[k],
                       from);
        }
    }
    out->n_board = s->n_board;
}

static void fill_steps(struct lab_session *s, struct lab_snapshot *out)
{
    const struct lab_schedule *schedule = out->schedule;
    out->steps = lab_arena_array(
        &out->shared->memory, (size_t)schedule->n_steps, sizeof(*out->steps));
    for (int i = 0; out->steps && i < schedule->n_steps; i++) {
        struct lab_step_status *st = &out->steps[i];
        lab_walk_step_status(s->walk, i, &st->exec, &st->time_ns);
        st->ran = lab_walk_step_ran(s->walk, i);
        st->done = i < out->position;
    }
}

/* Not while training: the numbers are gone before they are read, and an
 * explanation may have to run the iteration again. */
static void fill_explanation(struct lab_session *s, struct lab_snapshot *out)
{
    if (s->element.tensor < 0 || s->now.state == LAB_SESSION_TRAINING)
        return;
    enum lab_status st = lab_walk_explain(s->walk, s->element.tensor,
                                          s->element.index, &out->explanation);
    if (st && !out->error_code) /* the command's own error goes first */
        keep_error(out, st);
}

/* The tensor whose elements are the gradients of this one's, or of which this one's are
 * the gradients; -1: none. */
static int partner_of(const struct lab_plan *plan, int tensor)
{
    if (plan->tensors[tensor].gradient_of >= 0)
        return plan->tensors[tensor].gradient_of;
    for (int i = 0; i < plan->n_tensors; i++)
        if (plan->tensors[i].gradient_of == tensor)
            return i;
    return -1;
}

static void fill_past(struct lab_session *s, struct lab_snapshot *out)
{
    struct lab_arena *memory = &out->shared->memory;
    int64_t iteration[LAB_WALK_PAST + 1];
    double value[LAB_WALK_PAST + 1];
    if (s->element.tensor < 0 || s->now.state == LAB_SESSION_TRAINING)
        return;
    for (int i = 0; i < 2; i++) {
        const int tensor =
            i ? partner_of(s->plan, s->element.tensor) : s->element.tensor;
        const int n = tensor < 0
                          ? 0
                          : lab_walk_past(s->walk, tensor, s->element.index,
                                          iteration, value);
        struct lab_curve *c = &out->past[i].values;
        c->iteration =
            lab_arena_array(memory, (size_t)n, sizeof(*c->iteration));
        c->value = lab_arena_array(memory, (size_t)n, sizeof(*c->value));
        if (n < 1 || !c->iteration || !c->value)
            continue;
        memcpy(c->iteration, iteration, (size_t)n * sizeof(*iteration));
        memcpy(c->value, value, (size_t)n * sizeof(*value));
        c->n = n;
        out->past[i].element = (struct lab_element){tensor, s->element.index};
    }
}

static void fill_walk(struct lab_session *s, struct lab_snapshot *out)
{
    struct lab_data_facts facts;
    lab_data_get_facts(lab_walk_data(s->walk), &facts);
    out->plan = s->plan;
    out->lr = lab_walk_lr(s->walk);
    out->rate = lab_rate_changes(&s->plan->rate)
                    ? lab_walk_rate(s->walk, lab_walk_iteration(s->walk))
                    : out->lr;
    out->words = lab_data_words(lab_walk_data(s->walk));
    out->schedule = lab_schedule_retain(lab_walk_schedule(s->walk));
    out->iteration = lab_walk_iteration(s->walk);
    out->first_iteration = lab_walk_first(s->walk);
    out->given = lab_walk_was_given(s->walk);
    out->position = lab_walk_position(s->walk);
    out->loss = lab_walk_loss(s->walk);
    out->iterations_per_epoch = facts.batches_per_epoch;
    out->text = facts.text;
    if (facts.batches_per_epoch > 0)
        out->epoch =
            (out->iteration - (out->position == 0 && out->iteration > 0)) /
                facts.batches_per_epoch +
            1;
    fill_steps(s, out);
    if (atomic_load(&s->quit))
        return; /* they may take many iterations, and the screen has gone */
    struct reading last = {.tensor = -1};
    fill_plane(s, &out->shared->memory, &s->show, &out->plane, &last);
    fill_board(s, out, &last);
    forget_reading(&last);
    fill_explanation(s, out);
    fill_past(s, out);
}

static void fill_training(struct lab_session *s, struct lab_snapshot *out)
{
    struct lab_arena *memory = &out->shared->memory;
    double seconds =
        (double)(lab_clock_monotonic_ns() - s->train_start_ns) / 1e9;
    int64_t batch = s->plan ? s->plan->batch : 0;
    bool untimed = s->walk && lab_walk_backend(s->walk)->untimed;
    out->samples_per_s = out->seconds_left = NAN;
    if (out->train_done > 0 && seconds > 0 &&
        out->state == LAB_SESSION_TRAINING) {
        double rate = (double)out->train_done / seconds;
        if (!untimed)
            out->samples_per_s = rate * (double)batch;
        out->seconds_left =
            (double)(out->train_target - out->train_done) / rate;
    }
    out->step_ms_median = untimed ? NAN : median_ms(s);
    fill_curve(memory, &out->losses, &s->curves.losses);
    fill_curve(memory, &out->accuracies, &s->curves.accuracies);
    fill_curve(memory, &out->bits, &s->curves.bits);
    fill_curve(memory, &out->held, &s->curves.held);
    fill_curve(memory, &out->rates, &s->curves.rates);
    if (!s->inspector)
        return;
    if (s->now.inspects) {
        lab_inspector_figures(s->inspector, memory, &out->figures,
                              &out->n_figures, &out->figures_of);
        lab_inspector_looks(s->inspector, memory, &out->looks);
        lab_inspector_result(s->inspector, memory, &out->result);
    }
    lab_inspector_confusion(s->inspector, memory, &out->confusion);
    out->confusion.name =
        class_names(lab_walk_data(s->walk), out->confusion.classes, memory);
}

static void fill_sample(struct lab_session *s, struct lab_snapshot *out)
{
    struct lab_arena *memory = &out->shared->memory;
    size_t n = s->sample.len;
    out->sample_p = lab_arena_array(memory, n, sizeof(*out->sample_p));
    if (!out->sample_p)
        return;
    memcpy(out->sample_p, s->sample_p, n * sizeof(*out->sample_p));
    out->sample = lab_arena_text(memory, lab_str_text(&s->sample), n);
}

static void snapshot_unref(struct lab_snapshot_shared *shared)
{
    if (!shared || atomic_fetch_sub(&shared->refs, 1) > 1)
        return;
    lab_schedule_release(shared->all.schedule);
    lab_explanation_release(&shared->all.explanation);
    lab_arena_release(&shared->memory);
    lab_free(shared);
}

static struct lab_snapshot_shared *make_snapshot(struct lab_session *s)
{
    struct lab_snapshot_shared *shared = lab_alloc(sizeof(*shared));
    if (!shared)
        return NULL;
    struct lab_snapshot *next = &shared->all;
    atomic_init(&shared->refs, 1);
    *next = s->now;
    next->shared = shared;
    if (next->state == LAB_SESSION_STARTING)
        next->backend[0] = '\0'; /* which it is shows when the walk is open */
    size_t checks = (size_t)next->n_checks;
    next->checks =
        lab_arena_array(&shared->memory, checks, sizeof(*next->checks));
    if (!next->checks)
        next->n_checks = 0;
    else if (checks)
        memcpy(next->checks, s->checks, checks * sizeof(*next->checks));
    if (s->walk)
        fill_walk(s, next);
    fill_training(s, next);
    if (s->sample.len)
        fill_sample(s, next);
    return shared;
}

static void session_publish(struct lab_session *s)
{
    struct lab_snapshot_shared *old = NULL;
    struct lab_snapshot_shared *next = make_snapshot(s);
    s->last_publish_ns = lab_clock_monotonic_ns();
    pthread_mutex_lock(&s->lock);
    int64_t version = atomic_load(&s->version) + 1;
    s->lost = !next;
    if (next) {
        next->all.version = version;
        old = s->latest;
        s->latest = next;
    }
    s->pending -= s->finished;
    s->finished = 0;
    atomic_store(&s->version, version);
    pthread_mutex_unlock(&s->lock);
    snapshot_unref(old);
    if (s->wake)
        s->wake(s->wake_user);
}

void lab_snapshot_release(struct lab_snapshot *snap)
{
    snapshot_unref(snap->shared);
    *snap = (struct lab_snapshot){0};
    snap->plane.tensor = snap->explanation.tensor = -1;
}

enum lab_status lab_session_snapshot(struct lab_session *s,
                                     struct lab_snapshot *out)
{
    pthread_mutex_lock(&s->lock);
    const struct lab_snapshot *latest = &s->latest->all;
    bool whole = !s->lost && (!latest->schedule || latest->steps);
    if (whole) {
        *out = *latest;
        atomic_fetch_add(&s->latest->refs, 1);
    }
    pthread_mutex_unlock(&s->lock);
    return whole ? LAB_OK : lab_no_memory("a snapshot");
}

int64_t lab_session_version(struct lab_session *s)
{
    return atomic_load(&s->version);
}

/* The debugger's words: what each command does to the walk. */

/* ---- breakpoints ---- */

static enum lab_status session_add_break(struct lab_session *s,
                                         const struct lab_break_info *b)
{
    const struct lab_schedule *schedule = lab_walk_schedule(s->walk);
    if (s->now.n_breaks == LAB_MAX_BREAKS)
        return lab_fail(LAB_E_STATE,
                        "[session.breaks] at most %d breakpoints: delete some",
                        LAB_MAX_BREAKS);
    if (b->watch && lab_plan_tensor(s->plan, b->step) < 0)
        return lab_fail(LAB_E_NOTFOUND,
                        "[session.tensor] this network has no tensor '%s'",
                        b->step);
    if (!b->watch && b->kind == LAB_BREAK_STEP &&
        lab_schedule_find(schedule, s->plan, b->step, b->phase, 0) < 0)
        return lab_fail(
            LAB_E_NOTFOUND, "[session.step] this network has no step '%s'%s%s",
            b->step, b->phase >= 0 ? " in phase " : "",
            b->phase >= 0 ? lab_phase_name((enum lab_phase)b->phase) : "");
    s->now.breaks[s->now.n_breaks] = *b;
    s->now.breaks[s->now.n_breaks].number = s->next_break++;
    s->now.breaks[s->now.n_breaks].hits = 0;
    s->now.n_breaks++;
    return LAB_OK;
}

static enum lab_status session_break(struct lab_session *s,
                                     const struct lab_command *c)
{
    struct lab_break_info info = {.kind = c->break_kind,
                                  .phase = c->phase,
                                  .value = c->value,
                                  .watch = c->kind == LAB_DO_WATCH};
    memcpy(info.step, c->text, sizeof(info.step));
    return session_add_break(s, &info);
}

static enum lab_status session_delete(struct lab_session *s,
                                      const struct lab_command *c)
{
    bool watches = c->kind == LAB_DO_UNWATCH;
    int n = s->now.n_breaks;
    int kept = 0;
    for (int i = 0; i < n; i++) {
        const struct lab_break_info *b = &s->now.breaks[i];
        bool gone =
            watches ? b->watch && (!c->text[0] || strcmp(c->text, b->step) == 0)
                    : c->n == 0 || b->number == c->n;
        if (!gone)
            s->now.breaks[kept++] = *b;
    }
    s->now.n_breaks = kept;
    return kept < n ? LAB_OK
                    : lab_fail(LAB_E_NOTFOUND,
                               "[session.delete] nothing to delete: there is "
                               "no such breakpoint or watch");
}

static void hit(struct lab_session *s, struct lab_break_info *b,
                const char *what)
{
    char remove[LAB_COMMAND_TEXT + 16];
    b->hits++;
    if (b->watch)
        snprintf(remove, sizeof(remove), "unwatch %s", b->step);
    else
        snprintf(remove, sizeof(remove), "delete %d", b->number);
    stop_because(s,
                 b->lesson ? "this lesson pauses here (%s %d: %s); %s goes on, "
                             "%s removes it"
                           : "%s %d: %s; %s goes on, %s removes it",
                 b->watch ? "watch" : "breakpoint", b->number, what,
                 s->now.state == LAB_SESSION_TRAINING ? "train" : "c", remove);
}

/* Does something stop the walk before the step at the position? */
static bool stops_before(struct lab_session *s)
{
    const struct lab_schedule *schedule = lab_walk_schedule(s->walk);
    int at = lab_walk_position(s->walk);
    if (at >= schedule->n_steps)
        return false;
    const struct lab_step *step = schedule->steps[at].step;
    for (int i = 0; i < s->now.n_breaks; i++) {
        struct lab_break_info *b = &s->now.breaks[i];
        if (b->watch || (s->passing && b->lesson) ||
            (b->phase >= 0 && b->phase != (int)step->phase))
            continue;
        bool here =
            b->kind == LAB_BREAK_STEP &&
            lab_schedule_find(schedule, s->plan, b->step, b->phase, at) == at;
        bool phase_starts = b->kind == LAB_BREAK_PHASE &&
                            schedule->phase_first[step->phase] == at;
        /* A node's id means its first step of the phase. */
        if (here && at > 0 && strcmp(step->name, b->step) != 0 &&
            schedule->steps[at - 1].step->node == step->node &&
            schedule->steps[at - 1].step->phase == step->phase)
            here = false;
        if (!here && !phase_starts)
            continue;
        hit(s, b, here ? step->name : lab_phase_name(step->phase));
        return true;
    }
    return false;
}

static bool step_wrote(const struct lab_session *s, const struct lab_step *step,
                       const char *name)
{
    for (int i = 0; i < step->n_out; i++) {
        if (step->out[i] >= 0 &&
            strcmp(s->plan->tensors[step->out[i]].name, name) == 0)
            return true;
    }
    return false;
}

/* First element of the step's results that is NaN (or infinite). */
static bool find_bad(struct lab_session *s, const struct lab_step *step,
                     bool nan, char *where, size_t size)
{
    for (int k = 0; k < step->n_out; k++) {
        if (step->out[k] < 0)
            continue;
        const struct lab_tensor *t = &s->plan->tensors[step->out[k]];
        void *data =
            lab_alloc_array((size_t)t->count, lab_dtype_bytes(t->dtype));
        bool bad = false;
        if (data && !lab_walk_read(s->walk, step->out[k], false, data)) {
            for (int64_t i = 0; i < t->count && !bad; i++) {
                double v = lab_number_at(data, t->dtype, i);
                char at[LAB_SHAPE_TEXT];
                bad = nan ? isnan(v) : isinf(v);
                if (bad)
                    snprintf(where, size, "%s[%s] is %s", t->name,
                             lab_explain_at(&t->shape, i, at),
                             nan ? "NaN" : "infinite");
            }
        }
        lab_free(data);
        if (bad)
            return true;
    }
    return false;
}

static bool stops_after(struct lab_session *s, const struct lab_step *step)
{
    char what[LAB_SESSION_TEXT / 2];
    for (int i = 0; i < s->now.n_breaks; i++) {
        struct lab_break_info *b = &s->now.breaks[i];
        bool stop = false;
        if (s->passing && b->lesson)
            continue;
        if (b->watch) {
            stop = step_wrote(s, step, b->step);
            snprintf(what, sizeof(what), "%s was written by %s", b->step,
                     step->name);
        } else if (b->kind == LAB_BREAK_NAN || b->kind == LAB_BREAK_INF) {
            stop =
                find_bad(s, step, b->kind == LAB_BREAK_NAN, what, sizeof(what));
        } else if (b->kind == LAB_BREAK_LOSS_ABOVE) {
            double loss = lab_walk_loss(s->walk);
            stop = step_wrote(s, step, "loss") && !(loss <= b->value);
            snprintf(what, sizeof(what), "the loss is %s, above %g",
                     LAB_DIGITS_TEXT(loss, 6), b->value);
        }
        if (stop) {
            hit(s, b, what);
            return true;
        }
    }
    return false;
}

static const struct lab_break_info *session_loss_break(struct lab_session *s)
{
    double loss = lab_walk_loss(s->walk);
    for (int i = 0; i < s->now.n_breaks; i++) {
        struct lab_break_info *b = &s->now.breaks[i];
        char what[128];
        bool stop = (b->kind == LAB_BREAK_NAN && isnan(loss)) ||
                    (b->kind == LAB_BREAK_INF && isinf(loss)) ||
                    (b->kind == LAB_BREAK_LOSS_ABOVE && !(loss <= b->value));
        if (b->watch || !stop)
            continue;
        snprintf(what, sizeof(what), "the loss is %s",
                 LAB_DIGITS_TEXT(loss, 6));
        hit(s, b, what);
        return b;
    }
    return NULL;
}

/* ---- moving ---- */

/* One step; true when the walk may go on. */
static bool one_step(struct lab_session *s)
{
    const struct lab_schedule *schedule = lab_walk_schedule(s->walk);
    int at = lab_walk_position(s->walk);
    if (at >= schedule->n_steps)
        at = 0; /* the next iteration's first */
    const struct lab_step *step = schedule->steps[at].step;
    enum lab_status st = lab_walk_step(s->walk);
    /* A launch that was cut short is no step that has run: where it was is shown. */
    const bool stopped = st == LAB_E_CANCELLED;
    if (stopped)
        st = lab_sim_backend_stopped(lab_walk_backend(s->walk));
    if (st)
        session_fail(s, st);
    else if (stopped)
        stop_because(s, "stopped");
    if (st || stopped)
        return false;
    if (lab_walk_at_end(s->walk))
        curve_iteration(s, lab_walk_iteration(s->walk), lab_walk_loss(s->walk));
    return !stops_after(s, step);
}

enum bound { BOUND_NODE, BOUND_PHASE, BOUND_ITERATION };

static bool beyond(const struct lab_session *s, const struct lab_step *first,
                   enum bound bound)
{
    const struct lab_schedule *schedule = lab_walk_schedule(s->walk);
    int at = lab_walk_position(s->walk);
    if (at >= schedule->n_steps)
        return true;
    const struct lab_step *next = schedule->steps[at].step;
    if (bound == BOUND_ITERATION)
        return false;
    return next->phase != first->phase ||
           (bound == BOUND_NODE && next->node != first->node);
}

static bool is_cancelled(struct lab_session *s)
{
    bool cancelled = atomic_load(&s->cancel);
    if (cancelled)
        stop_because(s, "stopped");
    return cancelled;
}

/* Does something stop the walk between two steps: a cancel, a breakpoint? At an
 * iteration's end that is before the first step of the next one. */
static bool stops_between(struct lab_session *s)
{
    if (is_cancelled(s))
        return true;
    enum lab_status st = lab_walk_begin(s->walk);
    if (st) {
        session_fail(s, st);
        return true;
    }
    if (stops_before(s))
        return true;
    if (lab_clock_monotonic_ns() - s->last_publish_ns > 50000000)
        session_publish(s);
    return false;
}

/* Runs until the next step lies beyond the bound, a stop, or a cancel. */
static void run_to_bound(struct lab_session *s, enum bound bound)
{
    const struct lab_schedule *schedule = lab_walk_schedule(s->walk);
    int at = lab_walk_position(s->walk);
    bool fresh = at >= schedule->n_steps;
    const struct lab_step *first = schedule->steps[fresh ? 0 : at].step;
    s->now.state = LAB_SESSION_WALKING;
    if (fresh ? stops_between(s) : is_cancelled(s))
        return;
    while (one_step(s) && !beyond(s, first, bound)) {
        if (stops_between(s))
            return;
    }
    if (!s->now.stop_reason[0] && lab_walk_at_end(s->walk))
        stop_because(s, "the iteration is done");
}

static enum lab_status run_to_index(struct lab_session *s, int64_t index)
{
    const struct lab_schedule *schedule = lab_walk_schedule(s->walk);
    if (index < 0 || index > schedule->n_steps)
        return lab_fail(LAB_E_RANGE, "[session.step-number] no such step");
    int64_t goal = lab_walk_iteration(s->walk);
    goal += lab_walk_position(s->walk) >= index;
    s->now.state = LAB_SESSION_WALKING;
    for (;;) {
        bool fresh = lab_walk_at_end(s->walk);
        if (fresh ? stops_between(s) : is_cancelled(s) || !one_step(s))
            return LAB_OK;
        if (lab_walk_iteration(s->walk) == goal &&
            lab_walk_position(s->walk) == index)
            return LAB_OK;
        if (!lab_walk_at_end(s->walk) && !fresh && stops_between(s))
            return LAB_OK;
    }
}

static void repeat(struct lab_session *s, int64_t n, bool over_node)
{
    s->now.state = LAB_SESSION_WALKING;
    for (int64_t i = 0; i < (n > 0 ? n : 1); i++) {
        if (i > 0 ? stops_between(s) : is_cancelled(s))
            return;
        if (over_node)
            run_to_bound(s, BOUND_NODE);
        else
            one_step(s);
        if (s->now.stop_reason[0] || s->now.error_code)
            return;
    }
}

/* What fails on the way is kept where it fails: the steps before it count. */
static enum lab_status session_move(struct lab_session *s,
                                    const struct lab_command *c)
{
    enum lab_status st = LAB_OK;
    switch (c->kind) {
    case LAB_DO_FINISH:
        run_to_bound(s, BOUND_PHASE);
        break;
    case LAB_DO_CONTINUE:
        run_to_bound(s, BOUND_ITERATION);
        break;
    case LAB_DO_RUN_TO:
        s->passing = true; /* the learner has named where to stop */
        st = run_to_index(s, c->n);
        s->passing = false;
        break;
    default:
        repeat(s, c->n, c->kind == LAB_DO_NEXT);
    }
    return st;
}

static int64_t steps_walked(const struct lab_session *s)
{
    return lab_walk_iteration(s->walk) * lab_walk_schedule(s->walk)->n_steps +
           lab_walk_position(s->walk);
}

static enum lab_status session_back(struct lab_session *s,
                                    const struct lab_command *c)
{
    static const char begins[] = "the walk begins here";
    int64_t n = c->n > 0 ? c->n : 1;
    int64_t before = steps_walked(s);
    enum lab_status st = lab_walk_back(s->walk, n);
    if (!st && lab_walk_position(s->walk) == 0 &&
        before - steps_walked(s) < n && !strstr(s->now.notice, begins))
        add_notice(s, begins, "no step is before this one");
    return st;
}

/* ---- looking ---- */

/* Within the tensor; LAB_E_RANGE: it has no such axes. */
static enum lab_status take_show(const struct lab_session *s,
                                 struct lab_show show, struct lab_show *out)
{
    if (show.tensor < 0 || show.tensor >= s->plan->n_tensors) {
        out->tensor = -1;
        return LAB_OK;
    }
    const struct lab_shape *shape = &s->plan->tensors[show.tensor].shape;
    if (show.row_axis >= shape->rank || show.col_axis >= shape->rank ||
        (show.row_axis >= 0 && show.row_axis == show.col_axis) ||
        show.sheet < 0 || show.sheet > shape->rank ||
        (show.sheet > 0 &&
         (show.sheet - 1 == show.row_axis || show.sheet - 1 == show.col_axis)))
        return lab_fail(LAB_E_RANGE, "[session.axis] no such axis");
    for (int i = 0; i < shape->rank; i++) {
        int64_t *at = &show.fixed[i];
        *at = *at < 0 ? 0 : *at >= shape->dim[i] ? shape->dim[i] - 1 : *at;
    }
    if (show.sheet == 0 || show.tile_first < 0 ||
        show.tile_first >= shape->dim[show.sheet - 1])
        show.tile_first = 0;
    if (show.row_first < 0)
        show.row_first = 0;
    if (show.col_first < 0)
        show.col_first = 0;
    *out = show;
    return LAB_OK;
}

static enum lab_status session_show(struct lab_session *s,
                                    const struct lab_command *c)
{
    return take_show(s, c->show, &s->show);
}

static enum lab_status session_board(struct lab_session *s,
                                     const struct lab_command *c)
{
    enum lab_status st = LAB_OK;
    s->n_board = 0;
    for (int i = 0; i < c->n_board && i < LAB_BOARD_PARTS && !st; i++)
        st = take_show(s, c->board[i], &s->board[s->n_board++]);
    if (st)
        s->n_board = 0;
    return st;
}

static enum lab_status session_explain(struct lab_session *s,
                                       const struct lab_command *c)
{
    const struct lab_element *e = &c->element;
    s->element.tensor = -1;
    if (e->tensor < 0)
        return LAB_OK;
    if (e->tensor >= s->plan->n_tensors || e->index < 0 ||
        e->index >= s->plan->tensors[e->tensor].count)
        return lab_fail(LAB_E_RANGE, "[session.element] no such element");
    s->element = *e;
    lab_walk_keep_past(s->walk);
    return LAB_OK;
}

static enum lab_status session_near(struct lab_session *s,
                                    const struct lab_command *c)
{
    int64_t asked = s->now.near.asked;
    enum lab_status st = lab_near_ask(s->walk, c->text, &s->now.near);
    if (!st)
        s->now.near.asked = asked + 1;
    return st;
}

/* Training over many iterations, with cancel, curves and evaluation; and text
 * from the network, as it is at this moment. */

int64_t lab_train_iterations(const struct lab_network_spec *spec,
                             const struct lab_data_facts *facts, int64_t epochs,
                             int64_t iterations)
{
    enum { DEFAULT_ITERATIONS = 100, DEFAULT_EPOCHS = 10 };
    int64_t each = facts->batches_per_epoch > 0 ? facts->batches_per_epoch : 1;
    if (iterations > 0)
        return iterations;
    if (epochs > 0)
        return epochs > INT64_MAX / each ? INT64_MAX : epochs * each;
    if (spec->iterations > 0)
        return spec->iterations;
    if (spec->epochs > 0)
        return spec->epochs > INT64_MAX / each ? INT64_MAX
                                               : spec->epochs * each;
    return facts->batches_per_epoch > 0 ? DEFAULT_EPOCHS * each
                                        : DEFAULT_ITERATIONS;
}

void lab_patience_init(struct lab_patience *p, int64_t most)
{
    *p = (struct lab_patience){.most = most, .best = NAN};
}

bool lab_patience_ends(struct lab_patience *p, int64_t iteration, double loss)
{
    if (loss < p->best || (isnan(p->best) && !isnan(loss))) {
        p->best = loss;
        p->best_iteration = iteration;
        p->since = 0;
        return false;
    }
    p->since++;
    return p->most > 0 && p->since >= p->most;
}

static void keep_decoded(struct lab_session *s)
{
    struct lab_decoded decoded;
    struct lab_str text;
    lab_walk_decoded(s->walk, &decoded);
    s->now.exact = decoded.exact;
    lab_str_init(&text);
    for (int i = 0; lab_walk_decoded_example(s->walk, i, &text); i++)
        lab_str_add(&text, "\n");
    snprintf(s->now.decoded, sizeof(s->now.decoded), "%s", lab_str_text(&text));
    lab_str_release(&text);
}

/* Counting takes a moment and is of the text alone: once. */
static void keep_bits(struct lab_session *s, double loss)
{
    const struct lab_data *data = lab_walk_data(s->walk);
    struct lab_data_facts facts;
    lab_data_get_facts(data, &facts);
    if (!facts.text)
        return;
    s->now.bits_per_char = lab_data_bits(&facts, loss);
    if (s->bits_counted)
        return;
    s->bits_counted = true;
    /* A text too long to be counted leaves the line to beat unknown. */
    if (lab_text_order3_bits(lab_data_text(data), &s->now.bits_order3))
        s->now.bits_order3 = NAN;
}

/* The test rows, once, when the training is over. */
static enum lab_status test(struct lab_session *s)
{
    double loss;
    return lab_walk_test(s->walk, &s->now.test_accuracy, &loss);
}

static enum lab_status evaluate(struct lab_session *s, double *held_loss)
{
    double accuracy;
    double loss;
    enum lab_status st =
        s->inspector ? lab_inspector_evaluate(s->inspector, &accuracy, &loss)
                     : lab_walk_evaluate(s->walk, &accuracy, &loss);
    *held_loss = st ? NAN : loss;
    if (!st && !isnan(loss))
        curve_add(&s->curves.held, lab_walk_iteration(s->walk), loss);
    if (!st && !isnan(accuracy)) {
        s->now.accuracy = accuracy;
        keep_decoded(s);
        curve_add(&s->curves.accuracies, lab_walk_iteration(s->walk), accuracy);
        keep_bits(s, loss);
        if (!isnan(s->now.bits_per_char))
            curve_add(&s->curves.bits, lab_walk_iteration(s->walk),
                      s->now.bits_per_char);
    }
    return st;
}

/* What the network of now answers; its numbers are in the curves already. */
static enum lab_status evaluate_again(struct lab_session *s)
{
    double accuracy;
    double loss;
    enum lab_status st =
        s->inspector ? lab_inspector_evaluate(s->inspector, &accuracy, &loss)
                     : lab_walk_evaluate(s->walk, &accuracy, &loss);
    s->now.accuracy = NAN;
    if (!st && !isnan(accuracy)) {
        s->now.accuracy = accuracy;
        keep_decoded(s);
        keep_bits(s, loss);
    }
    return st;
}

/* A step at a time, to the iteration's end. */
static enum lab_status walk_to_end(struct lab_session *s)
{
    enum lab_status st;
    do {
        st = lab_walk_look_for_stop(s->walk);
        if (!st)
            st = lab_walk_step(s->walk);
    } while (!st && !lab_walk_at_end(s->walk));
    return st;
}

/* The losses that have come: those of iterations at speed come late. */
static void take_news(struct lab_session *s)
{
    struct lab_iteration_progress n;
    while (lab_walk_poll(s->walk, &n)) {
        s->iteration_ms[s->n_iteration_ms++ % LAB_TIMES_KEPT] =
            (double)(n.end_ns - n.start_ns) / 1e6;
        curve_iteration(s, n.iteration, n.loss);
    }
}

/* Nothing that is only looked at ends a training. */
static void stop_inspecting(struct lab_session *s)
{
    add_notice(s, "gradients and updates are not looked at", lab_error());
    s->now.inspects = false;
}

/* Of a training that ended before its last iteration: the figures are of the network
 * that it left, as are loss and accuracy. */
static void inspect_end(struct lab_session *s)
{
    if (s->now.inspects && lab_walk_at_end(s->walk) &&
        lab_inspector_after(s->inspector))
        stop_inspecting(s);
}

static enum lab_status one_iteration(struct lab_session *s, bool last)
{
    bool looks =
        s->now.inspects &&
        (last || lab_inspector_due(s->inspector, lab_clock_monotonic_ns()));
    enum lab_status st = looks ? lab_walk_drain(s->walk) : LAB_OK;
    if (!st && looks && lab_inspector_before(s->inspector)) {
        stop_inspecting(s);
        looks = false;
    }
    if (st)
        return st;
    /* The last one is walked, so that its steps can be looked at and undone. */
    if (last) {
        st = walk_to_end(s);
    } else {
        st = lab_walk_iterate(s->walk);
        const char *why = lab_walk_graph_refused(s->walk);
        if (why)
            add_notice(s,
                       "the iterations go step by step, not as one CUDA graph",
                       why);
        /* A break on the loss sees each one before the next iteration. */
        if (!st && s->now.n_breaks > 0)
            st = lab_walk_drain(s->walk);
    }
    if (!st && looks)
        st = lab_walk_drain(s->walk);
    if (!st && looks && lab_inspector_after(s->inspector))
        stop_inspecting(s);
    take_news(s);
    if (!st && last) /* a walked one has another cost: no time of it */
        curve_iteration(s, lab_walk_iteration(s->walk), lab_walk_loss(s->walk));
    return st;
}

static bool epoch_ended(struct lab_session *s)
{
    struct lab_data_facts facts;
    lab_data_get_facts(lab_walk_data(s->walk), &facts);
    return facts.held_rows > 0 && facts.batches_per_epoch > 0 &&
           (lab_walk_iteration(s->walk) + 1) % facts.batches_per_epoch == 0;
}

/* Within an iteration the walk stays before a step, as after any stop. */
static void report_stopped(struct lab_session *s)
{
    const struct lab_schedule *schedule = lab_walk_schedule(s->walk);
    int at = lab_walk_position(s->walk);
    bool within = at > 0 && at < schedule->n_steps;
    stop_because(s, "training stopped after %lld iteration%s%s%s",
                 (long long)s->now.train_done,
                 s->now.train_done == 1 ? "" : "s",
                 within ? ", in the next one before " : "",
                 within ? schedule->steps[at].step->name : "");
}

enum { OF_TRAINING, OF_SESSION }; /* marks of the walk */

/* At the end of an iteration: is its network the best? True: the patience is over. */
static bool take_held_loss(struct lab_session *s, struct lab_patience *p,
                           int mark, double held_loss)
{
    int64_t done = lab_walk_iteration(s->walk) + lab_walk_at_end(s->walk);
    bool ends = lab_patience_ends(p, done - 1, held_loss);
    if (p->most > 0 && p->since == 0 && !isnan(p->best))
        lab_walk_set_mark(s->walk, mark);
    return ends;
}

/* Nothing has run. */
static bool is_fresh(const struct lab_session *s)
{
    return lab_walk_iteration(s->walk) == lab_walk_first(s->walk) &&
           lab_walk_position(s->walk) == 0;
}

/* A training begins: what is best of a way that was left counts no more. The network
 * of a file that it goes on from is one of an earlier training. */
static enum lab_status begin_best(struct lab_session *s)
{
    struct lab_patience *p = &s->patience;
    double accuracy;
    double loss;
    if (p->most > 0 && !isnan(p->best) &&
        p->best_iteration <= lab_walk_iteration(s->walk))
        return LAB_OK;
    lab_patience_init(p, s->spec.early_stop);
    if (p->most == 0 || lab_walk_first(s->walk) == 0 || !is_fresh(s))
        return LAB_OK;
    enum lab_status st = lab_walk_evaluate(s->walk, &accuracy, &loss);
    if (!st && !isnan(loss))
        (void)take_held_loss(s, p, OF_SESSION, loss);
    return st;
}

/* Which network it is now, after `made` iterations. */
static void report_back(struct lab_session *s, const struct lab_patience *own,
                        bool ended, int64_t made)
{
    const struct lab_patience *all = &s->patience;
    const struct lab_patience *p = ended ? all : own;
    bool earlier = all->best_iteration < own->best_iteration;
    char lower[96] = "";
    if (earlier && !ended)
        snprintf(lower, sizeof(lower),
                 "; an earlier training had %.4g after %lld", all->best,
                 (long long)all->best_iteration + 1);
    stop_because(s,
                 "%s %lld iterations: the validation loss was lowest, %.4g, "
                 "after %lld%s; the network is that one again%s",
                 ended ? "stopped early after" : "trained", (long long)made,
                 p->best, (long long)p->best_iteration + 1,
                 earlier && ended ? ", in an earlier training" : "", lower);
}

static enum lab_status session_train(struct lab_session *s,
                                     const struct lab_command *c)
{
    struct lab_data_facts facts;
    lab_data_get_facts(lab_walk_data(s->walk), &facts);
    s->now.state = LAB_SESSION_TRAINING;
    s->now.train_target =
        lab_train_iterations(&s->spec, &facts, s->epochs, c->n);
    s->now.train_done = 0;
    s->now.train_whole = false;
    s->n_iteration_ms = 0;
    s->train_start_ns = lab_clock_monotonic_ns();
    session_publish(s);
    bool walked = lab_walk_position(s->walk) > 0 && !lab_walk_at_end(s->walk);
    enum lab_status st = begin_best(s);
    if (!st && walked)
        st = walk_to_end(s);
    if (!st && walked)
        curve_iteration(s, lab_walk_iteration(s->walk), lab_walk_loss(s->walk));
    bool evaluated = false;
    double held_loss = NAN;
    bool ends = false;
    struct lab_patience own; /* of this training: what ends it */
    lab_patience_init(&own, s->spec.early_stop);
    s->now.test_accuracy = NAN;
    while (!st && !ends && s->now.train_done < s->now.train_target) {
        st = lab_walk_look_for_stop(s->walk);
        if (!st)
            st = one_iteration(s, s->now.train_done + 1 == s->now.train_target);
        if (st)
            break;
        s->now.train_done++;
        evaluated = epoch_ended(s);
        /* News that came after it would take it for one of a way that was left. */
        if (evaluated) {
            st = lab_walk_drain(s->walk);
            take_news(s);
        }
        if (!st && evaluated)
            st = evaluate(s, &held_loss);
        if (!st && evaluated) {
            ends = take_held_loss(s, &own, OF_TRAINING, held_loss);
            (void)take_held_loss(s, &s->patience, OF_SESSION, held_loss);
        }
        if (!st && s->now.n_breaks > 0 && session_loss_break(s))
            break;
        if (!st && lab_clock_monotonic_ns() - s->last_publish_ns > 30000000) {
            st = lab_walk_drain(s->walk); /* the snapshot shows the loss */
            take_news(s);
            serve_quick(s);
            session_publish(s);
        }
    }
    if (!st || st == LAB_E_CANCELLED) {
        enum lab_status settled = lab_walk_drain(s->walk);
        st = settled ? settled : st;
    }
    take_news(s);
    if (!st && !evaluated) {
        st = evaluate(s, &held_loss);
        if (!st) {
            (void)take_held_loss(s, &own, OF_TRAINING, held_loss);
            (void)take_held_loss(s, &s->patience, OF_SESSION, held_loss);
        }
    }
    int64_t made = lab_walk_iteration(s->walk) + 1;
    /* A break is there to look at the network as it is. */
    s->now.train_whole = !st && !s->now.stop_reason[0];
    /* Where the patience is over it is the best of all trainings that is kept. A
     * training that ends before its patience keeps its own: trained on bit by bit a network
     * would not come past its first epoch without a gain. */
    const struct lab_patience *best = ends ? &s->patience : &own;
    bool back = s->now.train_whole && best->most > 0 && !isnan(best->best) &&
                best->best_iteration + 1 < made;
    if (back) {
        st = lab_walk_to_mark(s->walk, ends ? OF_SESSION : OF_TRAINING);
        if (!st)
            inspect_end(s);
        if (!st)
            st = evaluate_again(s);
    } else if (!st && s->now.train_done < s->now.train_target) {
        inspect_end(s);
    }
    if (!st)
        st = test(s);
    if (st == LAB_E_CANCELLED && back) {
        st = LAB_OK; /* the network is there, its numbers are not */
    } else if (st == LAB_E_CANCELLED) {
        s->now.train_whole = false;
        report_stopped(s);
        return LAB_OK;
    }
    s->now.train_whole = s->now.train_whole && !st;
    if (!st && back)
        report_back(s, &own, ends, made);
    if (!st && !s->now.stop_reason[0])
        stop_because(s, "trained %lld iteration%s%s",
                     (long long)s->now.train_done,
                     s->now.train_done == 1 ? "" : "s",
                     s->spec.early_stop > 0 && (facts.held_rows == 0 ||
                                                facts.batches_per_epoch == 0)
                         ? "; early_stop had no loss to watch: no rows are "
                           "held back"
                         : "");
    return st;
}

/* ---- text from the network ---- */

enum { DEFAULT_CHARACTERS = 200, MOST_CHARACTERS = 100000 };

/* For the bytes of the text from `from` on. */
static enum lab_status keep_probability(struct lab_session *s, size_t from,
                                        double p)
{
    if (s->sample.failed)
        return lab_no_memory("the text");
    for (size_t i = from; i < s->sample.len; i++) {
        enum lab_status st = lab_grow(&s->sample_p, i, &s->sample_room,
                                      sizeof(*s->sample_p), "the text");
        if (st) {
            s->sample.len = from;
            return st;
        }
        s->sample_p[i] = (float)p;
    }
    return LAB_OK;
}

static enum lab_status write_on(struct lab_session *s, struct lab_generator *g,
                                int64_t n)
{
    const int64_t patience_ns = 50000000;
    enum lab_status st = LAB_OK;
    for (int64_t i = 0; i < n && !st && !atomic_load(&s->cancel); i++) {
        size_t from = s->sample.len;
        st = lab_generator_next(g, &s->sample);
        if (!st)
            st = keep_probability(s, from, lab_generator_probability(g));
        if (!st && lab_clock_monotonic_ns() - s->last_publish_ns > patience_ns)
            session_publish(s);
    }
    return st;
}

/* Every text has a seed of its own, which follows from the lesson's. */
static enum lab_status draw(struct lab_session *s, const struct lab_command *c)
{
    struct lab_generator *g = NULL;
    struct lab_sampling how = {.temperature = c->value,
                               .top_k = c->top_k,
                               .seed = s->plan->seed + (uint64_t)s->samples};
    int64_t n = c->n > 0 ? c->n : DEFAULT_CHARACTERS;
    if (c->seed_given)
        how.seed = c->seed;
    if (n > MOST_CHARACTERS)
        return lab_fail(LAB_E_RANGE,
                        "[session.characters] at most %d characters at a time",
                        MOST_CHARACTERS);
    enum lab_status st = lab_generator_new(&g, s->walk);
    if (!st)
        st = lab_generator_begin(g, c->text, &how);
    if (!st) {
        s->samples++;
        s->now.sample_iteration =
            lab_walk_iteration(s->walk) + lab_walk_at_end(s->walk);
        lab_str_release(&s->sample);
        lab_str_add(&s->sample, c->text);
        st = keep_probability(s, 0, NAN);
        s->now.sampling = true;
        if (!st)
            st = write_on(s, g, n);
        s->now.sampling = false;
    }
    lab_generator_free(g);
    return st;
}

static enum lab_status session_sample(struct lab_session *s,
                                      const struct lab_command *c)
{
    int64_t start = lab_clock_monotonic_ns();
    enum lab_status st = draw(s, c);
    /* It is no part of the training that it interrupts. */
    s->train_start_ns += lab_clock_monotonic_ns() - start;
    return st;
}

/* What changes what is walked, or measures it: variants, the gradient check,
 * hardware counters, the trace, a restart. */

/* ---- variants ---- */

static void own_choice(struct lab_owned_choice *to, const char *target,
                       const char *variant)
{
    snprintf(to->target, sizeof(to->target), "%s", target);
    snprintf(to->variant, sizeof(to->variant), "%s", variant);
    to->optional = false;
}

static void list_choices(const struct lab_session *s,
                         struct lab_variant_choice *out)
{
    for (int i = 0; i < s->n_choices; i++)
        out[i] = (struct lab_variant_choice){s->choices[i].target,
                                             s->choices[i].variant,
                                             s->choices[i].optional};
}

static bool is_target(const struct lab_plan *plan, const char *text)
{
    bool found = strcmp(text, "*") == 0 || lab_plan_node(plan, text) >= 0;
    for (int i = 0; i < plan->n_nodes && !found; i++) {
        const struct lab_node *node = &plan->nodes[i];
        found = strcmp(node->op->name, text) == 0 ||
                (node->outer && strcmp(node->outer->name, text) == 0);
    }
    return found;
}

/* "auto" where nothing was chosen for the target itself. */
static enum lab_status nothing_to_drop(const struct lab_session *s,
                                       const char *target)
{
    const struct lab_schedule *now = lab_walk_schedule(s->walk);
    int node = lab_plan_node(s->plan, target);
    if (!is_target(s->plan, target))
        return lab_fail(LAB_E_NOTFOUND,
                        "[session.node] this network has no node or op '%s'",
                        target);
    for (int i = 0; i < now->n_steps; i++) {
        if (now->steps[i].depth_node == node && now->steps[i].by == LAB_BY_HAND)
            return lab_fail(
                LAB_E_STATE,
                "[session.variant-none] %s: a choice for its op, for what it "
                "is a part of, or for `*` holds, and none of its own",
                target);
    }
    return LAB_OK;
}

static enum lab_status session_choose(struct lab_session *s,
                                      const struct lab_command *c)
{
    struct lab_owned_choice kept[LAB_MAX_CHOICES];
    struct lab_variant_choice list[LAB_MAX_CHOICES];
    int n = s->n_choices;
    memcpy(kept, s->choices, sizeof(kept));
    int at = 0; /* a new choice for the same target replaces the old one */
    for (int i = 0; i < n; i++) {
        if (strcmp(kept[i].target, c->text) != 0)
            s->choices[at++] = kept[i];
    }
    bool drops = strcmp(c->text2, LAB_VARIANT_AUTO) == 0;
    enum lab_status st = LAB_OK;
    if (drops && at == n) {
        st = nothing_to_drop(s, c->text);
    } else if (!drops && at == LAB_MAX_CHOICES) {
        st = lab_fail(LAB_E_STATE,
                      "[session.variants] too many variants chosen");
    } else {
        if (!drops)
            own_choice(&s->choices[at++], c->text, c->text2);
        s->n_choices = at;
        list_choices(s, list);
        st = lab_walk_choose(s->walk, list, s->n_choices);
    }
    if (st) {
        memcpy(s->choices, kept, sizeof(kept));
        s->n_choices = n;
    }
    return st;
}

/* ---- gradient check ---- */

static bool check_cancelled(void *user, int64_t done, int64_t of)
{
    struct lab_session *s = user;
    s->now.check_done = done;
    s->now.check_of = of;
    if (lab_clock_monotonic_ns() - s->last_publish_ns > 30000000) {
        serve_quick(s);
        session_publish(s);
    }
    return atomic_load(&s->cancel);
}

static enum lab_status session_check(struct lab_session *s,
                                     const struct lab_command *c)
{
    struct lab_check_result *list = NULL;
    int n = 0;
    s->now.state = LAB_SESSION_CHECKING;
    s->now.check_done = s->now.check_of = 0;
    session_publish(s);
    enum lab_status st =
        lab_gradcheck(s->walk, &s->spec, c->text, LAB_CHECK_ELEMENTS,
                      check_cancelled, s, &list, &n);
    s->now.check_done = s->now.check_of = 0;
    if (st)
        return st;
    lab_free(s->checks);
    s->checks = list;
    s->now.n_checks = n;
    return LAB_OK;
}

/* ---- counters and trace: the hooks do it ---- */

/* The steps around `at` that belong to its node, in its phase. */
static void widen_to_node(const struct lab_schedule *s, int *from, int *to)
{
    const struct lab_schedule_step *at = &s->steps[*from];
    while (*from > 0 && s->steps[*from - 1].depth_node == at->depth_node &&
           s->steps[*from - 1].step->phase == at->step->phase)
        --*from;
    while (*to < s->n_steps && s->steps[*to].depth_node == at->depth_node &&
           s->steps[*to].step->phase == at->step->phase)
        ++*to;
}

static enum lab_status find_range(struct lab_session *s,
                                  const struct lab_command *c, int *from,
                                  int *to)
{
    const struct lab_schedule *schedule = lab_walk_schedule(s->walk);
    if (strcmp(c->text, "iteration") == 0) {
        *from = 0;
        *to = lab_walk_position(s->walk);
        return *to > 0 ? LAB_OK
                       : lab_fail(LAB_E_STATE,
                                  "[session.count-first] nothing of this "
                                  "iteration has run: step first, then count");
    }
    if (c->n < 0 || c->n >= schedule->n_steps)
        return lab_fail(LAB_E_RANGE,
                        "[session.count-step] there is no such step");
    *from = (int)c->n;
    *to = *from + 1;
    if (strcmp(c->text, "node") == 0)
        widen_to_node(schedule, from, to);
    if (*to > lab_walk_position(s->walk) && *from < lab_walk_position(s->walk))
        *to = lab_walk_position(s->walk);
    return LAB_OK;
}

static enum lab_status session_count(struct lab_session *s,
                                     const struct lab_command *c)
{
    char report[LAB_SESSION_TEXT] = "";
    int from = 0;
    int to = 0;
    if (!s->hooks.count)
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[session.no-counters] this session takes no hardware counters");
    enum lab_status st = find_range(s, c, &from, &to);
    if (st)
        return st;
    s->now.state = LAB_SESSION_CHECKING;
    session_publish(s);
    st = s->hooks.count(s->hooks.user, s->walk, from, to, report,
                        sizeof(report));
    if (!st)
        stop_because(s, "%s", report);
    return st;
}

static enum lab_status session_trace(struct lab_session *s,
                                     const struct lab_command *c)
{
    char report[LAB_SESSION_TEXT] = "";
    if (!s->hooks.trace)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[session.no-trace] this session traces no kernels");
    enum lab_status st =
        s->hooks.trace(s->hooks.user, s->walk, c->text, report, sizeof(report));
    if (!st)
        stop_because(s, "%s", report);
    return st;
}

static enum lab_status session_save(struct lab_session *s,
                                    const struct lab_command *c)
{
    char report[LAB_SESSION_TEXT] = "";
    if (!s->hooks.save)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[session.no-keep] this session keeps no networks");
    enum lab_status st = s->hooks.save(s->hooks.user, s->walk, c->text,
                                       c->n != 0, report, sizeof(report));
    if (!st && s->now.state != LAB_SESSION_TRAINING)
        stop_because(s, "%s", report);
    return st;
}

/* ---- restart ---- */

/* What was recorded belongs to the walk that ends here. */
static void end_run(void *session)
{
    struct lab_session *s = session;
    lab_walk_run_end(s->walk);
    enum lab_status st = lab_walk_sync(s->walk);
    if (st)
        session_fail(s, st);
    /* Only this thread writes `latest`: it needs no lock to read it. */
    if (s->hooks.restarted)
        s->hooks.restarted(s->hooks.user, s->walk, s->spec.seed,
                           &s->latest->all);
}

static enum lab_status session_restart(struct lab_session *s,
                                       const struct lab_command *c);

static enum lab_status session_lr(struct lab_session *s,
                                  const struct lab_command *c)
{
    struct lab_lr_change *list = s->now.lr_changes;
    if (isnan(lab_plan_lr(s->plan)))
        return lab_fail(LAB_E_STATE, "[session.no-rate] nothing is updated "
                                     "here: there is no learning rate");
    /* The rate is that of the run which begins. */
    if (is_fresh(s) && s->now.state != LAB_SESSION_TRAINING) {
        const struct lab_command anew = {.kind = LAB_DO_RESTART, .lr = c->lr};
        return session_restart(s, &anew);
    }
    enum lab_status st = lab_walk_set_lr(s->walk, c->lr);
    if (st)
        return st;
    if (s->now.n_lr_changes == LAB_LR_CHANGES) {
        memmove(list, list + 1, (LAB_LR_CHANGES - 1) * sizeof(*list));
        s->now.n_lr_changes--;
    }
    list[s->now.n_lr_changes++] = (struct lab_lr_change){
        lab_walk_iteration(s->walk) + lab_walk_at_end(s->walk), c->lr};
    return LAB_OK;
}

static enum lab_status session_inspect(struct lab_session *s,
                                       const struct lab_command *c)
{
    bool ended = s->now.state != LAB_SESSION_TRAINING &&
                 lab_walk_at_end(s->walk) && !s->now.inspects;
    s->now.inspects = c->n != 0 && s->inspector;
    return ended && s->now.inspects ? lab_inspector_after(s->inspector)
                                    : LAB_OK;
}

static enum lab_status session_restart(struct lab_session *s,
                                       const struct lab_command *c)
{
    const struct lab_walk_ready ready = {s, end_run};
    if (c->text[0]) {
        struct lab_str notice;
        lab_str_init(&notice);
        enum lab_status st =
            s->hooks.load
                ? s->hooks.load(s->hooks.user, s->walk, c->text, &ready,
                                &notice)
                : lab_fail(LAB_E_UNSUPPORTED,
                           "[session.no-load] this session loads no networks");
        if (!st && notice.len > 0)
            add_notice_lines(s, lab_str_text(&notice));
        lab_str_release(&notice);
        if (st)
            return st;
    }
    if (c->seed_given)
        s->spec.seed = c->seed;
    if (c->lr > 0) {
        lab_network_set_lr(&s->spec, c->lr);
        lab_plan_set_lr(s->plan, c->lr);
    }
    if (!c->text[0])
        end_run(s);
    memset(&s->curves, 0, sizeof(s->curves));
    lab_patience_init(&s->patience, s->spec.early_stop);
    if (s->inspector)
        lab_inspector_reset(s->inspector);
    s->now.n_lr_changes = 0;
    s->now.accuracy = s->now.exact = s->now.bits_per_char = NAN;
    s->now.test_accuracy = NAN;
    lab_str_clear(&s->sample);
    s->samples = 0;
    s->now.decoded[0] = '\0';
    s->now.near = (struct lab_neighbours){.asked = s->now.near.asked};
    s->now.train_done = s->now.train_target = 0;
    s->n_iteration_ms = 0;
    if (c->seed_given) {
        /* Data order and masks follow the spec's and the plan's seed. */
        s->plan->seed = c->seed;
        lab_data_reseed(lab_walk_data(s->walk), c->seed);
    }
    enum lab_status st = c->seed_given ? lab_walk_start_from(s->walk, NULL)
                                       : lab_walk_restart(s->walk);
    session_begin_run(s);
    return st;
}

typedef enum lab_status handler_fn(struct lab_session *s,
                                   const struct lab_command *c);

/* What each command does; what it returns is the command's error. A quick one
 * also runs in the middle of a slow one, a long one shows in the state and
 * holds no keys up. LAB_DO_STOP waits in no queue. */
static const struct {
    handler_fn *run;
    bool quick;
    bool takes_long;
} handlers[LAB_DO_STOP] = {
    [LAB_DO_STEP] = {session_move},
    [LAB_DO_NEXT] = {session_move},
    [LAB_DO_FINISH] = {session_move},
    [LAB_DO_CONTINUE] = {session_move},
    [LAB_DO_RUN_TO] = {session_move},
    [LAB_DO_BACK] = {session_back},
    [LAB_DO_RESTART] = {session_restart},
    [LAB_DO_TRAIN] = {session_train, .takes_long = true},
    [LAB_DO_BREAK] = {session_break, .quick = true},
    [LAB_DO_DELETE] = {session_delete, .quick = true},
    [LAB_DO_WATCH] = {session_break, .quick = true},
    [LAB_DO_UNWATCH] = {session_delete, .quick = true},
    [LAB_DO_VARIANT] = {session_choose},
    [LAB_DO_SHOW] = {session_show, .quick = true},
    [LAB_DO_BOARD] = {session_board, .quick = true},
    [LAB_DO_EXPLAIN] = {session_explain, .quick = true},
    [LAB_DO_NEAR] = {session_near, .quick = true},
    [LAB_DO_CHECK] = {session_check, .takes_long = true},
    [LAB_DO_SAMPLE] = {session_sample, .quick = true, .takes_long = true},
    [LAB_DO_COUNT] = {session_count, .takes_long = true},
    [LAB_DO_SAVE] = {session_save, .quick = true},
    [LAB_DO_TRACE] = {session_trace},
    [LAB_DO_LR] = {session_lr, .quick = true},
    [LAB_DO_INSPECT] = {session_inspect, .quick = true},
};

/* ---- start ---- */

static void add_lesson_breaks(struct lab_session *s)
{
    for (int i = 0; i < s->spec.n_breaks; i++) {
        const struct lab_break_spec *b = &s->spec.breaks[i];
        struct lab_break_info info = {.kind = b->kind,
                                      .phase = b->phase,
                                      .value = b->value,
                                      .lesson = true};
        snprintf(info.step, sizeof(info.step), "%s", b->step ? b->step : "");
        if (session_add_break(s, &info))
            add_notice(s, "the lesson's breakpoint is left out", lab_error());
    }
    for (int i = 0; i < s->spec.n_watch; i++) {
        struct lab_break_info info = {
            .watch = true, .phase = -1, .lesson = true};
        snprintf(info.step, sizeof(info.step), "%s", s->spec.watch[i]);
        if (session_add_break(s, &info))
            add_notice(s, "the lesson's watch is left out", lab_error());
    }
}

/* A stop while variants are measured ends that, and not the opening. */
static bool is_stopped(void *user)
{
    struct lab_session *s = user;
    return s->now.measure_of > 0 ? atomic_load(&s->quit)
                                 : atomic_load(&s->cancel);
}

/* ---- the caller's keeper of times, shown and stopped ---- */

static enum lab_status load_times(void *user, struct lab_backend *be,
                                  struct lab_tuning *t)
{
    const struct lab_tune_keeper *to = ((struct lab_session *)user)->tune;
    return to->load ? to->load(to->user, be, t) : LAB_OK;
}

static void keep_time(void *user, const struct lab_tune_time *time)
{
    const struct lab_tune_keeper *to = ((struct lab_session *)user)->tune;
    if (to->keep)
        to->keep(to->user, time);
}

static void show_measuring(void *user, const char *variant, int done, int total)
{
    struct lab_session *s = user;
    if (s->tune->progress)
        s->tune->progress(s->tune->user, variant, done, total);
    snprintf(s->now.measured, sizeof(s->now.measured), "%s", variant);
    s->now.measure_done = done;
    s->now.measure_of = total;
    session_publish(s);
}

static bool measuring_stopped(void *user)
{
    struct lab_session *s = user;
    return atomic_load(&s->cancel) || lab_stop_asked(&s->tune->stop);
}

static void watch_measuring(struct lab_session *s)
{
    s->tune = s->setup.tune;
    if (!s->tune)
        return;
    s->watched = *s->tune;
    s->watched.user = s;
    s->watched.load = load_times;
    s->watched.keep = keep_time;
    s->watched.progress = show_measuring;
    s->watched.stop = (struct lab_stop){measuring_stopped, s};
    s->setup.tune = &s->watched;
}

static enum lab_status open_walk(struct lab_session *s)
{
    struct lab_variant_choice given[LAB_MAX_CHOICES];
    struct lab_variant_choice kept[LAB_MAX_CHOICES];
    struct lab_owned_choice owned[LAB_MAX_CHOICES];
    struct lab_str notice;
    list_choices(s, given);
    watch_measuring(s);
    s->setup.choices = given;
    s->setup.kept = kept;
    s->setup.n_kept = &s->n_choices;
    lab_str_init(&notice);
    enum lab_status st = lab_setup_open(&s->setup, &s->walk, &s->plan, &notice);
    s->now.measure_of = 0;
    snprintf(s->now.notice, sizeof(s->now.notice), "%s", lab_str_text(&notice));
    lab_str_release(&notice);
    if (st)
        return st;
    for (int i = 0; i < s->n_choices; i++) {
        own_choice(&owned[i], kept[i].target, kept[i].variant);
        owned[i].optional = kept[i].optional;
    }
    memcpy(s->choices, owned, (size_t)s->n_choices * sizeof(*owned));
    snprintf(s->now.backend, sizeof(s->now.backend), "%s",
             lab_walk_backend(s->walk)->ops->name);
    lab_backend_info(lab_walk_backend(s->walk), &s->now.device);
    if (s->hooks.opened)
        s->hooks.opened(s->hooks.user, s->walk);
    /* The network can be walked without it. */
    if (lab_inspector_new(&s->inspector, s->walk))
        add_notice(s, "gradients and updates are not looked at", lab_error());
    return LAB_OK;
}

static void start(struct lab_session *s)
{
    enum lab_status st = open_walk(s);
    if (st) {
        session_fail(s, st);
        s->now.state = LAB_SESSION_FAILED;
        session_publish(s);
        return;
    }
    add_lesson_breaks(s);
    session_begin_run(s);
    s->now.state = LAB_SESSION_IDLE;
    session_publish(s);
}

/* ---- the queue ---- */

static bool take(struct lab_session *s, bool quick_only,
                 struct lab_command *out)
{
    struct lab_queued *before = NULL;
    struct lab_queued *q = s->first;
    while (q && quick_only && !handlers[q->command.kind].quick) {
        before = q;
        q = q->next;
    }
    if (!q)
        return false;
    if (before)
        before->next = q->next;
    else
        s->first = q->next;
    if (s->last == q)
        s->last = before;
    *out = q->command;
    /* Here, under the lock: a stop or the session's end that comes from now on
     * is meant for this command and must not be wiped away by its start. */
    if (!quick_only)
        atomic_store(&s->cancel, q->stopped);
    if (!quick_only)
        s->since_ns =
            handlers[out->kind].takes_long || handlers[out->kind].quick
                ? 0
                : lab_clock_monotonic_ns();
    lab_free(q);
    return true;
}

static void perform(struct lab_session *s, const struct lab_command *c)
{
    if (!handlers[c->kind].quick)
        s->now.stop_reason[0] = '\0';
    enum lab_status st = handlers[c->kind].run(s, c);
    if (st)
        session_fail(s, st);
    s->finished += !handlers[c->kind].takes_long;
}

/* Commands that may run while something else does (looking, breaks); the others
 * stay queued. */
static void serve_quick(struct lab_session *s)
{
    struct lab_command c;
    bool any = false;
    for (;;) {
        pthread_mutex_lock(&s->lock);
        bool got = take(s, true, &c);
        pthread_mutex_unlock(&s->lock);
        if (!got)
            break;
        any = true;
        perform(s, &c);
    }
    if (any)
        session_publish(s);
}

static void *engine_main(void *user)
{
    struct lab_session *s = user;
    if (s->wake) /* there is a screen */
        lab_thread_yield();
    start(s);
    pthread_mutex_lock(&s->lock);
    while (!atomic_load(&s->quit)) {
        struct lab_command c;
        if (!take(s, false, &c)) {
            s->busy = false;
            pthread_cond_broadcast(&s->changed);
            pthread_cond_wait(&s->changed, &s->lock);
            continue;
        }
        s->busy = true;
        pthread_mutex_unlock(&s->lock);
        if (s->now.state != LAB_SESSION_FAILED) {
            session_fail(s, LAB_OK);
            if (!handlers[c.kind].quick)
                s->now.n_checks = 0; /* they were of the state that it leaves */
            perform(s, &c);
            s->now.state = LAB_SESSION_IDLE;
            session_publish(s);
            if (c.kind == LAB_DO_TRAIN && s->now.train_whole &&
                s->hooks.trained)
                s->hooks.trained(s->hooks.user, &s->latest->all);
        }
        pthread_mutex_lock(&s->lock);
        s->since_ns = 0;
        if (s->now.state == LAB_SESSION_FAILED)
            s->pending = 0;
    }
    pthread_mutex_unlock(&s->lock);
    if (s->walk)
        lab_walk_run_end(s->walk);
    if (s->walk && s->hooks.closing)
        s->hooks.closing(s->hooks.user, s->walk);
    pthread_mutex_lock(&s->lock);
    s->busy = false;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* What runs looks at the flag; a command that waits learns of it when it is
 * taken. */
static void stop(struct lab_session *s)
{
    pthread_mutex_lock(&s->lock);
    for (struct lab_queued *q = s->first; q; q = q->next)
        q->stopped = true;
    atomic_store(&s->cancel, true);
    pthread_mutex_unlock(&s->lock);
}

enum lab_status lab_session_post(struct lab_session *s,
                                 const struct lab_command *command)
{
    if (command->kind == LAB_DO_STOP) {
        stop(s);
        return LAB_OK;
    }
    struct lab_queued *q = lab_alloc(sizeof(*q));
    if (!q)
        return lab_no_memory("a command");
    q->command = *command;
    pthread_mutex_lock(&s->lock);
    if (atomic_load(&s->quit)) {
        pthread_mutex_unlock(&s->lock);
        lab_free(q);
        return lab_fail(LAB_E_STATE, "[session.ended] the session has ended");
    }
    if (s->last)
        s->last->next = q;
    else
        s->first = q;
    s->last = q;
    s->busy = true;
    s->pending += !handlers[command->kind].takes_long;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return LAB_OK;
}

enum lab_status lab_session_wait(struct lab_session *s, int64_t timeout_ns)
{
    struct timespec until;
    int64_t now = lab_clock_monotonic_ns();
    int64_t end = timeout_ns > INT64_MAX - now ? INT64_MAX : now + timeout_ns;
    int rc = 0;
    until.tv_sec = (time_t)(end / 1000000000);
    until.tv_nsec = (long)(end % 1000000000);
    pthread_mutex_lock(&s->lock);
    while (s->busy && rc != ETIMEDOUT) {
        if (timeout_ns < 0)
            pthread_cond_wait(&s->changed, &s->lock);
        else
            rc = pthread_cond_timedwait(&s->changed, &s->lock, &until);
    }
    bool busy = s->busy;
    pthread_mutex_unlock(&s->lock);
    return busy ? lab_fail(LAB_E_CANCELLED, "still busy") : LAB_OK;
}

bool lab_session_pending(struct lab_session *s)
{
    pthread_mutex_lock(&s->lock);
    bool pending = s->pending > 0;
    pthread_mutex_unlock(&s->lock);
    return pending;
}

int64_t lab_session_busy_ns(struct lab_session *s)
{
    pthread_mutex_lock(&s->lock);
    int64_t since = s->since_ns;
    pthread_mutex_unlock(&s->lock);
    return since > 0 ? lab_clock_monotonic_ns() - since : 0;
}

int lab_session_candidates(struct lab_session *s, int node,
                           const struct lab_schedule_step *at,
                           struct lab_candidate *out, int max)
{
    pthread_mutex_lock(&s->lock);
    const struct lab_plan *plan = s->latest->all.plan;
    pthread_mutex_unlock(&s->lock);
    if (!plan || node < 0 || node >= plan->n_nodes)
        return 0;
    /* Tables, plan and times are fixed once the first snapshot has them. */
    return lab_candidates(plan, lab_walk_backend(s->walk),
                          lab_walk_tuning(s->walk), node, at, out, max);
}

/* ---- life ---- */

static void configure(struct lab_session *s, const struct lab_session_config *c)
{
    s->spec = *c->setup.spec;
    s->epochs = c->epochs;
    s->setup = c->setup;
    s->setup.spec = &s->spec;
    s->setup.backend = s->now.backend;
    s->setup.data = s->data;
    s->setup.stop = (struct lab_stop){is_stopped, s};
    snprintf(s->now.backend, sizeof(s->now.backend), "%s", c->setup.backend);
    s->hooks = c->hooks;
    s->wake = c->wake;
    s->wake_user = c->wake_user;
    s->now.loss = s->now.accuracy = s->now.exact = NAN;
    s->now.test_accuracy = NAN;
    s->now.bits_per_char = s->now.bits_order3 = NAN;
    s->now.plane.tensor = s->now.explanation.tensor = -1;
    s->now.figures_of = s->now.result.iteration = s->now.confusion.after = -1;
    s->now.explanation.step = s->show.tensor = s->element.tensor = -1;
    s->next_break = 1;
    for (int i = 0; i < c->setup.n_choices; i++) {
        struct lab_owned_choice *own = &s->choices[s->n_choices++];
        own_choice(own, c->setup.choices[i].target,
                   c->setup.choices[i].variant);
        own->optional = c->setup.choices[i].optional;
    }
}

static void destroy(struct lab_session *s)
{
    struct lab_command ignored;
    while (take(s, false, &ignored))
        continue;
    lab_inspector_free(s->inspector);
    lab_walk_free(s->walk);
    snapshot_unref(s->latest);
    lab_plan_free(s->plan);
    lab_free(s->checks);
    lab_free(s->data);
    lab_str_release(&s->sample);
    lab_free(s->sample_p);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
    lab_free(s);
}

/* It waits on the clock that is never set. */
static void init_changed(pthread_cond_t *changed)
{
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(changed, &attr);
    pthread_condattr_destroy(&attr);
}

enum lab_status lab_session_new(struct lab_session **out,
                                const struct lab_session_config *config)
{
    if (config->setup.n_choices + config->setup.spec->n_variants >
        LAB_MAX_CHOICES)
        return lab_fail(LAB_E_USAGE,
                        "[session.variant-count] more than %d variants chosen",
                        LAB_MAX_CHOICES);
    struct lab_session *s = lab_alloc(sizeof(*s));
    if (!s)
        return lab_no_memory("a session");
    pthread_mutex_init(&s->lock, NULL);
    init_changed(&s->changed);
    if (config->setup.data)
        s->data = lab_strdup(config->setup.data);
    configure(s, config);
    s->latest = make_snapshot(s);
    s->busy = true; /* until it has started */
    bool ready = s->latest && (s->data || !config->setup.data);
    if (!ready || lab_thread_start(&s->thread, engine_main, s)) {
        destroy(s);
        return lab_fail(LAB_E_NOMEM, "cannot start the engine's thread");
    }
    *out = s;
    return LAB_OK;
}

void lab_session_end(struct lab_session *s)
{
    pthread_mutex_lock(&s->lock);
    bool ended = atomic_exchange(&s->quit, true);
    atomic_store(&s->cancel, true);
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (!ended)
        pthread_join(s->thread, NULL);
}

void lab_session_free(struct lab_session *s)
{
    if (!s)
        return;
    lab_session_end(s);
    destroy(s);
}
