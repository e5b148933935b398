/* walk.c -- walks a plan: runs one step or many, back and forward again with
 * the same bits, evaluation, and whole iterations at speed. */
#include "engine/tune.h"
#include "engine/walk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/clock.h"
#include "base/format.h"
#include "engine/backend.h"
#include "optimizer/optimizer.h"
#include "softmax/softmax.h"

/* Parameters and state as an iteration found them. */
struct lab_walk_copy {
    int64_t iteration; /* -1: empty */
    void *memory;      /* persistent_bytes on the device */
};

enum { LAB_WALK_COPIES = 64 };

/* All tensors as an iteration left them. */
struct past {
    int64_t iteration; /* -1: empty */
    void *memory;      /* arena_bytes on the device */
    bool *written;     /* by tensor; in `tables` */
};

enum { LAB_WALK_NEWS = 64, LAB_WALK_REFUSAL = 256 };

/* The last execution of a plan step. */
struct execution {
    int64_t exec; /* 0: not in this iteration */
    int64_t ns;
    const struct lab_variant *as;
};

/* Iterations as graphs. */
struct lab_walk_speed {
    bool off;                /* asked for */
    struct lab_schedule *of; /* of what follows, a reference; NULL: none yet */
    bool warm;               /* it has run, a step at a time */
    bool failed;             /* it cannot be captured */
    char refusal[LAB_WALK_REFUSAL]; /* why; "" */
    bool refusal_reported;
    bool nodes;         /* recorded iterations, too */
    int64_t first_node; /* the first of a step's */
    int64_t *node_end;  /* of each step of the schedule; NULL: unknown */
    struct lab_graph *graph;
    void *slot[LAB_GRAPH_AHEAD]; /* pinned; batches of launched iterations */
    int64_t launched;
    int64_t reported;
    int64_t queued_ns[LAB_GRAPH_AHEAD]; /* when each was launched */
    int64_t last_end_ns;                /* of the one reported last */
    int64_t synced_ns;       /* when the observers heard of it last */
    int64_t clock_offset_ns; /* host's less device's */
    bool clock_known;
    int64_t data_of; /* the iteration of the arena's data; -1: none */
    struct lab_ready_call *ready; /* of the schedule's steps; NULL: not made */
    struct execution *ready_ran;  /* by plan step: what they leave in `ran` */
    int *ready_out;               /* the tensors that they write, in order */
    int n_ready_out;
    struct lab_arena ready_memory; /* owns these */
    int64_t quiet_ns; /* the last that ran by these calls took; 0: unknown */
    struct lab_iteration_progress news[LAB_WALK_NEWS]; /* a ring */
    int64_t news_first;
    int64_t news_end;
};

/* A copy of an optimizer's parameters, with the rate of the iteration. */
union lab_rated {
    double lr;
    struct lab_sgd_params sgd;
    struct lab_adam_params adam;
};

/* The call of a step in the walk's arena, made once for many iterations. */
struct lab_ready_call {
    struct lab_call call; /* its iteration, and the rate, are set each time */
    union lab_rated rated;
};

/* Before plan step `at` of an iteration; n_steps of the plan: its end. */
struct lab_walk_place {
    int64_t iteration;
    int at;
};

/* The schedule and the base learning rate that held from a place on, until the
 * next switch. */
struct lab_walk_switch {
    struct lab_walk_place from;
    double lr;
    struct lab_schedule *schedule; /* a reference */
};

/* Sequences out of an evaluation, a symbol at a time. */
struct lab_decoder {
    struct lab_arena memory; /* owns the rest; empty until it is needed */
    int tensor;              /* the decoder's input, i32 [N,T] */
    bool *again;             /* by schedule step: it depends on that input */
    bool *tainted;           /* by tensor */
    int32_t *input;  /* N*T: what it reads, and in the end its answers */
    int32_t *want;   /* N*T: y */
    int32_t *output; /* N*T */
    int32_t *from;   /* N*T of x, or fewer */
    int64_t T;
    int64_t T_from;
    int64_t rows; /* so far */
    int64_t exact;
    int64_t right;
    struct lab_decoded result;
    int n_examples;
    int32_t *example; /* LAB_DECODED_EXAMPLES of x, output, y */
};

struct lab_walk {
    const struct lab_plan *plan;
    struct lab_backend *be;
    struct lab_data *data;
    struct lab_schedule *schedule;
    double lr; /* the base rate that holds now; NaN: nothing is updated */
    struct lab_tuning *tuning;        /* NULL: none */
    struct lab_walk_switch *switches; /* in order; the last has `schedule` */
    int n_switches;                   /* the first is from the seed on */
    size_t switch_room;
    struct lab_observer observer; /* zeroed: none */
    bool muted;                   /* a replay: the observer is not called */
    bool quiet; /* at speed: only the iteration and its loss are reported */
    bool use_events;
    bool time_in_graph;
    bool cut; /* the open iteration was stopped at speed */
    struct lab_stop stop;
    struct lab_row_watch rows; /* zeroed: none */
    void *arena;
    struct lab_decoder decoder;
    void *eval_arena;  /* activations of an evaluation; NULL until the first */
    size_t eval_bytes; /* of that: up to the last tensor of forward and loss */
    struct lab_walk_copy copy[LAB_WALK_COPIES];
    int64_t newest_copy; /* no copy is of a later iteration */
    int n_copies;        /* slots in use: fewer when parameters are large */
    int next_copy;
    int marked
        [LAB_WALK_MARKS]; /* index of the copy that it is reached from; -1 */
    struct lab_walk_place mark[LAB_WALK_MARKS]; /* iteration -1: none */
    struct past past[LAB_WALK_PAST];
    int n_past;    /* slots in use; 0: none is kept */
    void *origin;  /* persistent_bytes that it began with; NULL: the seed's */
    int64_t first; /* the iteration that it began with */
    int64_t start_ns; /* that the last restart took */
    int64_t iteration;
    int position;
    int64_t exec;     /* of the last step that ran */
    int64_t steps_ns; /* of the host, within the steps since it was set to 0 */
    double loss;
    int64_t evaluations;   /* since run_begin */
    struct execution *ran; /* by plan step */
    bool *written;         /* by tensor */
    bool *there_first;     /* by tensor: written before the first step */
    int *data_tensors;     /* their ids: the tensors of data */
    int n_data_tensors;
    int64_t *generation;
    void *staging;           /* host memory for the largest data tensor */
    struct lab_arena tables; /* owns those before */
    bool open_iteration;
    int open_phase; /* -1: none */
    int open_node;
    struct lab_walk_speed speed;
};

/* ---- copies of what is kept over iterations ---- */

static bool is_marked(const struct lab_walk *w, int copy)
{
    bool marked = false;
    for (int i = 0; i < LAB_WALK_MARKS; i++)
        marked |= w->marked[i] == copy;
    return marked;
}

/* Copies the persistent part of the arena aside. When memory for a copy
 * cannot be had, going back runs further from an older one. */
static void walk_keep_copy(struct lab_walk *w)
{
    struct lab_walk_copy *slot = NULL;
    size_t bytes = w->plan->persistent_bytes;
    for (int i = 0; i < w->n_copies; i++) {
        if (w->copy[i].iteration == w->iteration)
            slot = &w->copy[i];
    }
    if (!slot) {
        for (int i = 0; i < w->n_copies && is_marked(w, w->next_copy); i++)
            w->next_copy = (w->next_copy + 1) % w->n_copies;
        slot = &w->copy[w->next_copy];
        w->next_copy = (w->next_copy + 1) % w->n_copies;
    }
    slot->iteration = -1;
    if (!slot->memory &&
        lab_backend_alloc(w->be, bytes ? bytes : 1, &slot->memory))
        return;
    if (lab_backend_copy(w->be, slot->memory, w->arena, bytes) == LAB_OK)
        slot->iteration = w->iteration;
    if (w->newest_copy < w->iteration)
        w->newest_copy = w->iteration;
}

static void walk_drop_copy(struct lab_walk *w, int64_t iteration)
{
    for (int i = 0; i < w->n_copies && iteration <= w->newest_copy; i++) {
        if (w->copy[i].iteration == iteration)
            w->copy[i].iteration = -1;
    }
}

static const struct lab_walk_copy *walk_copy_of(const struct lab_walk *w,
                                                int64_t iteration)
{
    for (int i = 0; i < w->n_copies; i++) {
        if (w->copy[i].iteration == iteration)
            return &w->copy[i];
    }
    return NULL;
}

/* The newest at or before an iteration. */
static const struct lab_walk_copy *walk_copy_before(const struct lab_walk *w,
                                                    int64_t iteration)
{
    const struct lab_walk_copy *best = NULL;
    for (int i = 0; i < w->n_copies; i++) {
        const struct lab_walk_copy *c = &w->copy[i];
        if (c->iteration >= 0 && c->iteration <= iteration &&
            (!best || c->iteration > best->iteration))
            best = c;
    }
    return best;
}

/* ---- past iterations ---- */

/* The iteration has run its last step. Without memory for it, it is not kept. */
static void keep_past(struct lab_walk *w)
{
    /* Its own, an empty one, or the oldest. */
    struct past *slot = &w->past[0];
    for (int i = 1; i < w->n_past && slot->iteration != w->iteration; i++)
        if (w->past[i].iteration == w->iteration ||
            w->past[i].iteration < slot->iteration)
            slot = &w->past[i];
    slot->iteration = -1;
    if (!slot->written)
        slot->written = lab_arena_array(&w->tables, (size_t)w->plan->n_tensors,
                                        sizeof(*slot->written));
    if (!slot->written ||
        (!slot->memory &&
         lab_backend_alloc(w->be, w->plan->arena_bytes, &slot->memory)))
        return;
    for (int i = 0; i < w->plan->n_tensors; i++)
        slot->written[i] = lab_walk_written(w, i);
    if (lab_backend_copy(w->be, slot->memory, w->arena, w->plan->arena_bytes) ==
        LAB_OK)
        slot->iteration = w->iteration;
}

/* What an iteration left that runs again, and those after it, may be other numbers. */
static void drop_past(struct lab_walk *w)
{
    for (int i = 0; i < w->n_past; i++)
        if (w->past[i].iteration >= w->iteration)
            w->past[i].iteration = -1;
}

void lab_walk_keep_past(struct lab_walk *w)
{
    const size_t budget = (size_t)64 << 20;
    const size_t each = w->plan->arena_bytes ? w->plan->arena_bytes : 1;
    const size_t fit = budget / each;
    w->n_past = fit > LAB_WALK_PAST ? LAB_WALK_PAST : (int)fit;
}

static double element_of(struct lab_walk *w, const void *arena,
                         const struct lab_tensor *t, int64_t index)
{
    double room; /* of any type's size, and aligned for it */
    const size_t bytes = lab_dtype_bytes(t->dtype);
    const char *from = (const char *)arena + t->offset + (size_t)index * bytes;
    return lab_backend_download(w->be, &room, from, bytes)
               ? NAN
               : lab_number_at(&room, t->dtype, 0);
}

int lab_walk_past(struct lab_walk *w, int tensor, int64_t index,
                  int64_t iteration[LAB_WALK_PAST + 1],
                  double value[LAB_WALK_PAST + 1])
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    int n = 0;
    for (;;) {
        const struct past *next = NULL;
        for (int i = 0; i < w->n_past; i++) {
            const struct past *p = &w->past[i];
            if (p->iteration >= 0 && p->iteration < w->iteration &&
                p->written[tensor] &&
                (n == 0 || p->iteration > iteration[n - 1]) &&
                (!next || p->iteration < next->iteration))
                next = p;
        }
        if (!next)
            break;
        iteration[n] = next->iteration;
        value[n++] = element_of(w, next->memory, t, index);
    }
    if (lab_walk_written(w, tensor)) {
        iteration[n] = w->iteration;
        value[n++] = element_of(w, w->arena, t, index);
    }
    return n;
}

/* ---- schedules: a replay runs what ran then, and steps back are
 * counted as they ran ---- */

/* Index of the first step of `s` that reaches past plan step `at`. */
static int walk_position_of(const struct lab_schedule *s, int at)
{
    int low = 0;
    int high = s->n_steps;
    while (low < high) {
        int mid = low + (high - low) / 2;
        if (s->steps[mid].hides_from + s->steps[mid].hides_count > at)
            high = mid;
        else
            low = mid + 1;
    }
    return low;
}

static int walk_plan_step(const struct lab_walk *w,
                          const struct lab_schedule *s, int position)
{
    return position < s->n_steps ? s->steps[position].hides_from
                                 : w->plan->n_steps;
}

static struct lab_walk_place lab_walk_place(const struct lab_walk *w)
{
    return (struct lab_walk_place){w->iteration,
                                   walk_plan_step(w, w->schedule, w->position)};
}

/* ---- the history ---- */

static bool is_before(struct lab_walk_place a, struct lab_walk_place b)
{
    return a.iteration != b.iteration ? a.iteration < b.iteration : a.at < b.at;
}

/* Index of the switch that holds at a place. */
static int switch_at(const struct lab_walk *w, struct lab_walk_place place)
{
    int i = w->n_switches - 1;
    while (i > 0 && is_before(place, w->switches[i].from))
        i--;
    return i;
}

static bool same_rate(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static struct lab_schedule *walk_schedule_at(const struct lab_walk *w,
                                             struct lab_walk_place place)
{
    return w->switches[switch_at(w, place)].schedule;
}

static bool same_schedule(const struct lab_schedule *a,
                          const struct lab_schedule *b)
{
    if (a->n_steps != b->n_steps)
        return false;
    for (int i = 0; i < a->n_steps; i++) {
        const struct lab_schedule_step *x = &a->steps[i];
        const struct lab_schedule_step *y = &b->steps[i];
        if (x->variant != y->variant || x->by != y->by ||
            x->hides_from != y->hides_from || x->hides_count != y->hides_count)
            return false;
    }
    return true;
}

/* Takes `s` and gives it back, or the same one from the history. */
static struct lab_schedule *walk_share_schedule(const struct lab_walk *w,
                                                struct lab_schedule *s)
{
    for (int i = 0; i < w->n_switches; i++) {
        struct lab_schedule *known = w->switches[i].schedule;
        if (!same_schedule(known, s))
            continue;
        lab_schedule_release(s);
        return lab_schedule_retain(known);
    }
    return s;
}

static enum lab_status walk_reserve_switch(struct lab_walk *w)
{
    return lab_grow(&w->switches, (size_t)w->n_switches, &w->switch_room,
                    sizeof(*w->switches), "the variants that ran");
}

/* The room is there: either a place was reserved, or one is given up first,
 * because the newest switch always has the schedule that holds now. */
static void walk_note_schedule(struct lab_walk *w)
{
    struct lab_walk_place now = lab_walk_place(w);
    while (w->n_switches > 0 &&
           !is_before(w->switches[w->n_switches - 1].from, now))
        lab_schedule_release(w->switches[--w->n_switches].schedule);
    const struct lab_walk_switch *last =
        w->n_switches > 0 ? &w->switches[w->n_switches - 1] : NULL;
    if (last && last->schedule == w->schedule && same_rate(last->lr, w->lr))
        return;
    w->switches[w->n_switches++] =
        (struct lab_walk_switch){now, w->lr, lab_schedule_retain(w->schedule)};
}

static void walk_forget_switches(struct lab_walk *w)
{
    for (int i = 0; i < w->n_switches; i++)
        lab_schedule_release(w->switches[i].schedule);
    w->n_switches = 0;
}

/* ---- counting back ---- */

/* First plan step of the step of `s` that holds plan step `at`. */
static int start_of(const struct lab_schedule *s, int at)
{
    return s->steps[walk_position_of(s, at)].hides_from;
}

/* A place inside an iteration where a step begins, in what ran then as in what
 * would run now: nothing can stand in the middle of a group. */
static int settle(const struct lab_walk *w, struct lab_walk_place p)
{
    for (;;) {
        int ran = start_of(walk_schedule_at(w, p), p.at);
        int now = start_of(w->schedule, ran);
        if (now == p.at)
            return now;
        p.at = now;
    }
}

/* Are all steps from the start of `iteration` to its end those of now? */
static bool ran_as_now(const struct lab_walk *w, int64_t iteration)
{
    int first = switch_at(w, (struct lab_walk_place){iteration, 0});
    int last =
        switch_at(w, (struct lab_walk_place){iteration, w->plan->n_steps - 1});
    return first == last && w->switches[first].schedule == w->schedule;
}

/* `n` steps before the present place, as they ran; the start at the most. */
static struct lab_walk_place walk_place_before(const struct lab_walk *w,
                                               int64_t n)
{
    struct lab_walk_place p = lab_walk_place(w);
    while (n > 0) {
        if (p.at > 0) {
            p.at--;
            p.at = settle(w, p);
            n--;
        } else if (p.iteration == w->first) {
            break;
        } else {
            p.iteration--;
            if (n >= w->schedule->n_steps && ran_as_now(w, p.iteration))
                n -= w->schedule->n_steps;
            else
                p.at = w->plan->n_steps;
        }
    }
    return p;
}

/* Running steps: the call, the observers, the iteration's start and end. */

static void tell_phase(struct lab_walk *w, int phase, bool begin)
{
    const struct lab_observer *o = &w->observer;
    void (*tell)(void *, enum lab_phase) =
        begin ? o->phase_begin : o->phase_end;
    if (tell && !w->muted)
        tell(o->user, (enum lab_phase)phase);
}

static void tell_node(struct lab_walk *w, int node, bool begin)
{
    const struct lab_observer *o = &w->observer;
    void (*tell)(void *, const char *) = begin ? o->node_begin : o->node_end;
    if (tell && !w->muted)
        tell(o->user, w->plan->nodes[node].id);
}

static void close_node(struct lab_walk *w)
{
    if (w->open_node >= 0)
        tell_node(w, w->open_node, false);
    w->open_node = -1;
}

static void close_phase(struct lab_walk *w)
{
    close_node(w);
    if (w->open_phase >= 0)
        tell_phase(w, w->open_phase, false);
    w->open_phase = -1;
}

static void tell_rate(struct lab_walk *w, int64_t iteration)
{
    if (w->observer.rate)
        w->observer.rate(w->observer.user, lab_walk_rate(w, iteration));
}

static void tell_iteration_end(struct lab_walk *w)
{
    const struct lab_observer *o = &w->observer;
    if (!w->muted && !w->cut)
        tell_rate(w, w->iteration);
    if (!w->muted && w->cut && o->iteration_cut)
        o->iteration_cut(o->user, w->iteration);
    else if (!w->muted && o->iteration_end)
        o->iteration_end(o->user, w->iteration, w->cut ? NAN : w->loss);
    w->open_iteration = w->cut = false;
}

static void walk_close_ranges(struct lab_walk *w)
{
    close_phase(w);
    if (w->open_iteration)
        tell_iteration_end(w);
}

/* The observer's unreported_begin, or unreported_end. */
static void walk_report_unobserved(struct lab_walk *w, bool begin)
{
    const struct lab_observer *o = &w->observer;
    void (*tell)(void *) = begin ? o->unreported_begin : o->unreported_end;
    if (tell)
        tell(o->user);
}

static void open_iteration(struct lab_walk *w, int64_t start_ns)
{
    if (w->observer.iteration_begin)
        w->observer.iteration_begin(w->observer.user, w->iteration, start_ns);
    w->open_iteration = true;
}

/* Closes what the step is not in and opens what it is in. */
static void enter(struct lab_walk *w, const struct lab_step *s)
{
    if (w->muted)
        return;
    if (!w->open_iteration)
        open_iteration(w, lab_clock_monotonic_ns());
    if (w->open_phase != (int)s->phase) {
        close_phase(w);
        w->open_phase = (int)s->phase;
        tell_phase(w, w->open_phase, true);
    }
    if (w->open_node != s->node) {
        close_node(w);
        w->open_node = s->node;
        tell_node(w, w->open_node, true);
    }
}

static void tell_step(struct lab_walk *w, const struct lab_step_event *e,
                      bool begin)
{
    const struct lab_observer *o = &w->observer;
    void (*tell)(void *, const struct lab_step_event *) =
        begin ? o->step_begin : o->step_end;
    if (tell && !w->muted)
        tell(o->user, e);
}

/* The step's parameters, or `room` with them where they hold a learning rate. */
static const void *params_now(const struct lab_walk *w,
                              const struct lab_step *s, union lab_rated *room)
{
    if (s->op->kind != LAB_KIND_OPTIMIZER)
        return s->params;
    memcpy(room, s->params, s->params_bytes);
    room->lr = lab_rate_at(&w->plan->rate, w->lr, w->iteration);
    return room;
}

static enum lab_status run_call(struct lab_walk *w,
                                const struct lab_schedule_step *s,
                                struct lab_call *call)
{
    enum lab_status st = lab_backend_run(w->be, s->variant, call);
    return st ? lab_fail_context(st, "step %s, variant %s", s->step->name,
                                 s->variant->name)
              : LAB_OK;
}

/* `base` is another arena during an evaluation. Computes the outputs whose bits are
 * set in `wanted`: all of them, but for a row that can leave some out
 * (lab_variant.apart). */
static enum lab_status run_outputs(struct lab_walk *w,
                                   const struct lab_schedule_step *s,
                                   void *base, bool training, unsigned wanted)
{
    struct lab_step_call c;
    union lab_rated room;
    lab_step_call(&c, w->plan, s->step, w->arena, base);
    for (int i = 0; i < s->step->n_out; i++) {
        if (!(wanted >> i & 1))
            c.out[i].data = NULL;
    }
    c.call.params = params_now(w, s->step, &room);
    c.call.training = training;
    c.call.iteration = (uint64_t)w->iteration;
    return run_call(w, s, &c.call);
}

static enum lab_status walk_run_schedule_step(struct lab_walk *w,
                                              const struct lab_schedule_step *s,
                                              void *base, bool training)
{
    return run_outputs(w, s, base, training, ~0u);
}

static enum lab_status read_loss(struct lab_walk *w)
{
    double value = 0;
    enum lab_status st = lab_walk_read(w, w->plan->loss, false, &value);
    if (!st)
        w->loss = lab_number_at(&value, w->plan->real, 0);
    return st;
}

/* What a step has written, and when. */
static void walk_mark_written(struct lab_walk *w,
                              const struct lab_schedule_step *s, int64_t ns)
{
    for (int i = 0; i < s->step->n_out; i++) {
        int t = s->step->out[i];
        if (t < 0)
            continue;
        w->written[t] = true;
        w->generation[t]++;
    }
    bool reported = !w->muted && !w->quiet;
    for (int k = 0; k < s->hides_count; k++) {
        w->ran[s->hides_from + k] = (struct execution){
            reported ? w->exec : LAB_EXEC_UNOBSERVED, ns, s->variant};
    }
}

static bool writes(const struct lab_step *s, int tensor)
{
    for (int i = 0; i < s->n_out; i++) {
        if (s->out[i] == tensor)
            return true;
    }
    return false;
}

static struct lab_step_event event_of(const struct lab_walk *w, int index,
                                      int64_t exec)
{
    const struct lab_schedule_step *s = &w->schedule->steps[index];
    return (struct lab_step_event){.exec = exec,
                                   .iteration = w->iteration,
                                   .index = index,
                                   .step = s->step,
                                   .node = w->plan->nodes[s->step->node].id,
                                   .op = s->step->op->name,
                                   .variant = s->variant->name,
                                   .backend = w->be->ops->name,
                                   .device_ns = LAB_EVENT_NO_TIME};
}

/* NULL: the backend has none. */
static const struct lab_graph_ops *graphs(const struct lab_walk *w)
{
    return w->be->ops->graph;
}

static enum lab_status judge(const struct lab_walk *w, enum lab_status st)
{
    return lab_backend_judge(w->be->ops, st);
}

static const void *loss_address(const struct lab_walk *w)
{
    return (char *)w->arena + w->plan->tensors[w->plan->loss].offset;
}

/* The least time of a launch that runs the step `times` times, per run. */
static enum lab_status launch_timed(struct lab_walk *w, struct lab_graph *g,
                                    int times, int64_t *ns)
{
    enum { LAUNCHES = 3 };
    enum lab_status st = LAB_OK;
    *ns = INT64_MAX;
    for (int i = 0; i < LAUNCHES && !st; i++) {
        struct lab_graph_report r;
        bool reported = false;
        st = judge(w, graphs(w)->launch(
                          w->be, g, (uint64_t)w->iteration,
                          lab_rate_at(&w->plan->rate, w->lr, w->iteration)));
        if (!st)
            st = judge(w, graphs(w)->report(w->be, true, &r, &reported));
        if (!st && reported && (r.end_ns - r.start_ns) / times < *ns)
            *ns = (r.end_ns - r.start_ns) / times;
    }
    return st;
}

/* The device's time of a step as training has it, in a graph: a launch of its own
 * would be timed with the host's way to the device, and a library's with the
 * host's work. *ns holds the host's time of a run, and then that. */
static enum lab_status time_in_graph(struct lab_walk *w,
                                     const struct lab_schedule_step *s,
                                     int64_t *ns)
{
    enum { TIMES = 16, LONG_NS = 500000 };
    int times = *ns < LONG_NS ? TIMES : 1;
    struct lab_graph *g = NULL;
    enum lab_status st = judge(w, graphs(w)->begin(w->be));
    for (int i = 0; i < times && !st; i++)
        st = walk_run_schedule_step(w, s, w->arena, true);
    enum lab_status ended =
        graphs(w)->end(w->be, loss_address(w), st ? NULL : &g);
    if (!st)
        st = judge(w, ended);
    if (!st)
        st = launch_timed(w, g, times, ns);
    if (g)
        graphs(w)->free(w->be, g);
    return st;
}

/* ---- steps at speed: nothing but their calls ---- */

static void forget_ready(struct lab_walk_speed *s)
{
    lab_arena_release(&s->ready_memory);
    s->ready = NULL;
    s->quiet_ns = 0;
}

static bool make_ready_call(struct lab_walk *w, const struct lab_step *step,
                            struct lab_ready_call *out)
{
    struct lab_step_call c;
    lab_step_call(&c, w->plan, step, w->arena, w->arena);
    size_t n_in = (size_t)step->n_in;
    size_t n_out = (size_t)step->n_out;
    struct lab_view *views =
        lab_arena_array(&w->speed.ready_memory, n_in + n_out, sizeof(*views));
    if (!views)
        return false;
    memcpy(views, c.in, n_in * sizeof(*views));
    memcpy(views + n_in, c.out, n_out * sizeof(*views));
    out->call = c.call;
    out->call.in = views;
    out->call.out = views + n_in;
    out->call.params = params_now(w, step, &out->rated);
    return true;
}

/* What walk_mark_written() writes of each step, for all of them. */
static bool make_ready_marks(struct lab_walk *w)
{
    struct lab_walk_speed *s = &w->speed;
    int n_out = 0;
    for (int i = 0; i < w->schedule->n_steps; i++)
        n_out += w->schedule->steps[i].step->n_out;
    s->n_ready_out = 0;
    s->ready_out = lab_arena_array(&s->ready_memory, (size_t)n_out + 1,
                                   sizeof(*s->ready_out));
    s->ready_ran = lab_arena_array(
        &s->ready_memory, (size_t)w->plan->n_steps + 1, sizeof(*s->ready_ran));
    for (int i = 0; i < w->schedule->n_steps && s->ready_out && s->ready_ran;
         i++) {
        const struct lab_schedule_step *of = &w->schedule->steps[i];
        for (int k = 0; k < of->step->n_out; k++)
            if (of->step->out[k] >= 0)
                s->ready_out[s->n_ready_out++] = of->step->out[k];
        for (int k = 0; k < of->hides_count; k++)
            s->ready_ran[of->hides_from + k] = (struct execution){
                LAB_EXEC_UNOBSERVED, LAB_EVENT_NO_TIME, of->variant};
    }
    return s->ready_out && s->ready_ran;
}

/* Every step has run by its ready call. */
static void mark_ready_written(struct lab_walk *w)
{
    const struct lab_walk_speed *s = &w->speed;
    for (int i = 0; i < s->n_ready_out; i++) {
        w->written[s->ready_out[i]] = true;
        w->generation[s->ready_out[i]]++;
    }
    memcpy(w->ran, s->ready_ran, (size_t)w->plan->n_steps * sizeof(*w->ran));
}

/* The time that a reading of the clock takes now, the least of some: half as much
 * again where another machine has the other half of the core. */
enum { CLOCK_READINGS = 4 };
static int64_t clock_reading_ns(void)
{
    int64_t least = INT64_MAX;
    int64_t before = lab_clock_monotonic_ns();
    for (int i = 1; i < CLOCK_READINGS; i++) {
        int64_t now = lab_clock_monotonic_ns();
        least = now - before < least ? now - before : least;
        before = now;
    }
    return least;
}

/* Makes the calls where there are none. */
static enum lab_status ready_calls(struct lab_walk *w)
{
    struct lab_walk_speed *s = &w->speed;
    int n = w->schedule->n_steps;
    bool made = s->ready != NULL;
    if (!made)
        s->ready =
            lab_arena_array(&s->ready_memory, (size_t)n + 1, sizeof(*s->ready));
    bool whole = s->ready != NULL;
    for (int i = 0; i < n && whole && !made; i++)
        whole = make_ready_call(w, w->schedule->steps[i].step, &s->ready[i]);
    if (whole && !made)
        whole = make_ready_marks(w);
    if (!whole) {
        forget_ready(s);
        return lab_no_memory("the calls of the steps");
    }
    return LAB_OK;
}

static enum lab_status walk_run_at(struct lab_walk *w, int index, bool walking)
{
    const struct lab_schedule_step *s = &w->schedule->steps[index];
    if (!w->muted)
        w->exec++;
    struct lab_step_event e = event_of(w, index, w->exec);
    bool events = w->use_events && !w->muted;
    enter(w, s->step);
    tell_step(w, &e, true);
    if (events)
        events = lab_backend_time_begin(w->be) == LAB_OK;
    int64_t start = lab_clock_monotonic_ns();
    enum lab_status st = walk_run_schedule_step(w, s, w->arena, true);
    if (!st && events)
        st = lab_backend_time_end(w->be, &e.device_ns);
    if (!st && walking)
        st = lab_backend_sync(w->be);
    int64_t ns = lab_clock_monotonic_ns() - start;
    if (events)
        ns = e.device_ns;
    if (w->be->untimed)
        ns = LAB_EVENT_NO_TIME;
    if (!st && w->time_in_graph && graphs(w))
        st = time_in_graph(w, s, &ns);
    tell_step(w, &e, false);
    if (st)
        return st;
    walk_mark_written(w, s, ns);
    if (w->n_past > 0 && index == w->schedule->n_steps - 1)
        keep_past(w);
    if (walking && writes(s->step, w->plan->loss))
        st = read_loss(w);
    if (walking && !st)
        st = lab_walk_sync(w);
    return st;
}

static enum lab_status walk_finish_iteration(struct lab_walk *w)
{
    enum lab_status st = LAB_OK;
    close_phase(w);
    w->cut = false;
    if (isnan(w->loss)) /* at speed it was not read on the way */
        st = read_loss(w);
    if (w->open_iteration)
        tell_iteration_end(w);
    return st;
}

/* The iteration stays between two steps that ran at speed. */
static enum lab_status walk_cut_iteration(struct lab_walk *w)
{
    enum lab_status st = lab_backend_sync(w->be);
    if (!st && lab_walk_written(w, w->plan->loss))
        st = read_loss(w);
    w->cut = w->open_iteration;
    return st;
}

static enum lab_status upload(struct lab_walk *w, void *base, int tensor,
                              const void *values)
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    return lab_backend_upload(w->be, (char *)base + t->offset, values,
                              lab_tensor_bytes(t));
}

enum { TRAINED = -2, ZEROS = -1 };

/* The data tensors of an arena: this iteration's, zeros, or the held-back rows
 * from `held` on. */
static enum lab_status load_data(struct lab_walk *w, void *base, int64_t held)
{
    const struct lab_plan *plan = w->plan;
    bool there = held == TRAINED && w->speed.data_of >= 0 &&
                 lab_data_same(w->data, w->speed.data_of, w->iteration);
    enum lab_status st = LAB_OK;
    for (int k = 0; k < w->n_data_tensors && !st; k++) {
        int i = w->data_tensors[k];
        w->generation[i] += held == TRAINED;
        if (there)
            continue;
        if (held == TRAINED)
            st = lab_data_fill(w->data, plan, i, w->iteration, w->staging);
        else if (held == ZEROS) /* ids must be within the vocabulary */
            memset(w->staging, 0, lab_tensor_bytes(&plan->tensors[i]));
        else
            lab_data_fill_held(w->data, plan, i, held, w->staging);
        if (!st)
            st = upload(w, base, i, w->staging);
    }
    if (held == TRAINED)
        w->speed.data_of = st ? -1 : w->iteration;
    return st;
}

static void walk_begin_iteration(struct lab_walk *w, bool keep_copy)
{
    const struct lab_plan *plan = w->plan;
    w->position = 0;
    w->loss = NAN;
    for (int i = 0; i < plan->n_steps; i++)
        w->ran[i].exec = 0;
    memcpy(w->written, w->there_first,
           (size_t)plan->n_tensors * sizeof(*w->written));
    drop_past(w);
    if (keep_copy)
        walk_keep_copy(w);
    else /* one from before the learner went back, perhaps of other numbers */
        walk_drop_copy(w, w->iteration);
}

static enum lab_status walk_load_iteration(struct lab_walk *w, bool keep_copy)
{
    walk_close_ranges(w);
    walk_begin_iteration(w, keep_copy);
    return load_data(w, w->arena, TRAINED);
}

static enum lab_status walk_next_iteration(struct lab_walk *w, bool keep_copy)
{
    walk_close_ranges(w);
    w->iteration++;
    enum lab_status st = load_data(w, w->arena, TRAINED);
    if (st)
        w->iteration--;
    else
        walk_begin_iteration(w, keep_copy);
    return st;
}

void lab_walk_run_begin(struct lab_walk *w, const char *name)
{
    w->evaluations = 0;
    if (w->observer.run_begin)
        w->observer.run_begin(w->observer.user, name);
}

void lab_walk_run_end(struct lab_walk *w)
{
    (void)lab_walk_drain(w); /* a failed device has been reported before */
    walk_close_ranges(w);
    if (w->observer.run_end)
        w->observer.run_end(w->observer.user);
}

/* Tensors that are slices of others: what is written, and by what name. */

/* A whole that no step writes holds numbers when all its slices do. */
static bool slices_written(const struct lab_walk *w, int tensor)
{
    const struct lab_plan *plan = w->plan;
    bool any = false;
    for (int i = 0; i < plan->n_tensors && plan->tensors[tensor].sliced; i++) {
        if (plan->tensors[i].alias_of != tensor || !plan->tensors[i].slice)
            continue;
        if (!w->written[i])
            return false;
        any = true;
    }
    return any;
}

bool lab_walk_written(const struct lab_walk *w, int tensor)
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    if (t->alias_of >= 0 && w->written[t->alias_of])
        return true;
    if (lab_tensor_is_alias(t))
        return false;
    return w->written[tensor] || slices_written(w, tensor);
}

int64_t lab_walk_generation(const struct lab_walk *w, int tensor)
{
    const struct lab_plan *plan = w->plan;
    const struct lab_tensor *t = &plan->tensors[tensor];
    if (t->alias_of >= 0)
        return w->generation[t->alias_of] +
               (t->slice ? w->generation[tensor] : 0);
    int64_t sum = w->generation[tensor];
    for (int i = 0; i < plan->n_tensors && t->sliced; i++) {
        if (plan->tensors[i].alias_of == tensor && plan->tensors[i].slice)
            sum += w->generation[i];
    }
    return sum;
}

static void walk_find_written(const struct lab_walk *w, int *tensor,
                              int64_t *index)
{
    const struct lab_plan *plan = w->plan;
    const struct lab_tensor *t = &plan->tensors[*tensor];
    if (w->written[*tensor] || *index < 0 || *index >= t->count)
        return;
    if (t->slice && w->written[t->alias_of]) {
        *index += t->first;
        *tensor = t->alias_of;
        return;
    }
    for (int i = 0; i < plan->n_tensors && t->sliced; i++) {
        const struct lab_tensor *part = &plan->tensors[i];
        if (part->slice && part->alias_of == *tensor && w->written[i] &&
            *index >= part->first && *index < part->first + part->count) {
            *index -= part->first;
            *tensor = i;
            return;
        }
    }
}

/* Going back, exactly. */

static enum lab_status walk_init_parameters(struct lab_walk *w,
                                            const struct lab_stop *stop)
{
    if (w->origin)
        return lab_backend_upload(w->be, w->arena, w->origin,
                                  w->plan->persistent_bytes);
    for (int i = 0; i < w->plan->n_tensors; i++) {
        if (!w->plan->tensors[i].persistent)
            continue;
        enum lab_status st = lab_plan_init_tensor(w->plan, i, w->staging, stop);
        if (!st)
            st = lab_walk_write(w, i, w->staging);
        if (st)
            return st;
    }
    return LAB_OK;
}

static enum lab_status restore_tensor(struct lab_walk *w, int tensor,
                                      const struct lab_walk_copy *copy)
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    w->generation[tensor]++;
    return lab_backend_copy(w->be, (char *)w->arena + t->offset,
                            (const char *)copy->memory + t->offset,
                            lab_tensor_bytes(t));
}

/* What a step has written has not been written. */
static enum lab_status forget_results(struct lab_walk *w,
                                      const struct lab_step *step,
                                      const struct lab_walk_copy *copy)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < step->n_out && !st; i++) {
        int t = step->out[i];
        if (t < 0)
            continue;
        if (!w->plan->tensors[t].persistent)
            w->written[t] = false;
        else if (copy)
            st = restore_tensor(w, t, copy);
        else
            st = lab_fail(LAB_E_STATE,
                          "[walk.no-copy] no copy of %s to go back to",
                          w->plan->tensors[t].name);
        if (t == w->plan->loss)
            w->loss = NAN;
    }
    return st;
}

/* Forgets what a schedule step of this iteration has written. */
static enum lab_status walk_undo(struct lab_walk *w, int index)
{
    const struct lab_walk_copy *copy = walk_copy_of(w, w->iteration);
    const struct lab_schedule_step *s = &w->schedule->steps[index];
    enum lab_status st = forget_results(w, s->step, copy);
    /* A group's steps may have run one by one, before it was chosen. */
    for (int k = 0; k < s->hides_count; k++) {
        const struct lab_step *hidden = &w->plan->steps[s->hides_from + k];
        if (!st && hidden != s->step)
            st = forget_results(w, hidden, copy);
        w->ran[s->hides_from + k].exec = 0;
    }
    return st;
}

/* Runs the iteration, from its start to plan step `until`, as it ran then. It
 * may be stopped where a copy of the start is there to begin anew from. */
static enum lab_status run_again(struct lab_walk *w, int until, bool walking)
{
    enum lab_status st = LAB_OK;
    struct lab_walk_place p = {w->iteration, 0};
    while (!st && p.at < until) {
        if (walk_copy_of(w, w->iteration))
            st = lab_walk_look_for_stop(w);
        if (st)
            break;
        w->schedule = walk_schedule_at(w, p);
        w->lr = w->switches[switch_at(w, p)].lr;
        int i = walk_position_of(w->schedule, p.at);
        const struct lab_schedule_step *s = &w->schedule->steps[i];
        st = walk_run_at(w, i, walking);
        if (!st)
            p.at = s->hides_from + s->hides_count;
    }
    return st;
}

/* copy NULL: from where the walk began. */
static enum lab_status start_from(struct lab_walk *w,
                                  const struct lab_walk_copy *copy)
{
    enum lab_status st = LAB_OK;
    w->iteration = copy ? copy->iteration : w->first;
    if (copy)
        st = lab_backend_copy(w->be, w->arena, copy->memory,
                              w->plan->persistent_bytes);
    else
        st = walk_init_parameters(w, NULL);
    for (int i = 0; i < w->plan->n_tensors; i++)
        w->generation[i]++;
    return st ? st : walk_load_iteration(w, true);
}

/* Starts iteration `target` as it was: from the newest copy at or before it,
 * or from where the walk began, and forward. */
static enum lab_status replay_to(struct lab_walk *w, int64_t target)
{
    enum lab_status st = start_from(w, walk_copy_before(w, target));
    while (!st && w->iteration < target) {
        st = run_again(w, w->plan->n_steps, false);
        if (!st)
            st = walk_next_iteration(w, true);
    }
    return st;
}

/* To a place, without a word to the observer: steps that run again are not new
 * executions. Afterwards the present schedule holds again. */
static enum lab_status replay(struct lab_walk *w, struct lab_walk_place to)
{
    struct lab_schedule *now = w->schedule;
    double lr = w->lr;
    w->muted = true;
    walk_report_unobserved(w, true);
    enum lab_status st = replay_to(w, to.iteration);
    if (!st)
        st = run_again(w, to.at, true);
    if (st == LAB_E_CANCELLED) {
        st = start_from(w, walk_copy_of(w, w->iteration));
        if (!st)
            st = lab_fail(LAB_E_CANCELLED,
                          "stopped on the way, at the start of iteration %lld",
                          (long long)w->iteration);
    }
    walk_report_unobserved(w, false);
    w->muted = false;
    w->schedule = now;
    w->lr = lr;
    w->position = st ? 0 : walk_position_of(now, to.at);
    return st;
}

static bool has_changed_parameters(const struct lab_walk *w)
{
    for (int i = 0; i < w->position; i++) {
        const struct lab_step *s = w->schedule->steps[i].step;
        for (int k = 0; k < s->n_out; k++) {
            if (s->out[k] >= 0 && w->plan->tensors[s->out[k]].persistent)
                return true;
        }
    }
    return false;
}

/* Training at speed keeps few copies: the iteration runs again from the last
 * one, to the same bits, and what was measured of it stays. */
static enum lab_status replay_for_copy(struct lab_walk *w)
{
    size_t bytes = (size_t)w->plan->n_steps * sizeof(*w->ran);
    struct execution *ran = lab_alloc(bytes);
    struct lab_stop stop = w->stop;
    if (!ran)
        return lab_fail(LAB_E_NOMEM, "no memory to run the iteration again");
    memcpy(ran, w->ran, bytes);
    lab_walk_stop_when(w, &(struct lab_stop){0}); /* it must come back */
    enum lab_status st = replay(w, lab_walk_place(w));
    lab_walk_stop_when(w, &stop);
    for (int i = 0; i < w->plan->n_steps; i++) {
        w->ran[i].exec = ran[i].exec;
        w->ran[i].ns = ran[i].ns;
    }
    lab_free(ran);
    return st;
}

static enum lab_status walk_need_copy(struct lab_walk *w)
{
    enum lab_status st = lab_walk_drain(w);
    if (st || walk_copy_of(w, w->iteration))
        return st;
    if (has_changed_parameters(w))
        st = replay_for_copy(w);
    else
        walk_keep_copy(w);
    if (!st && !walk_copy_of(w, w->iteration))
        st = lab_fail(LAB_E_NOMEM, "no memory to keep the parameters as the "
                                   "iteration found them");
    return st;
}

enum lab_status lab_walk_back(struct lab_walk *w, int64_t n)
{
    enum lab_status st = lab_walk_drain(w);
    if (st)
        return st;
    walk_close_ranges(w);
    struct lab_walk_place to = walk_place_before(w, n);
    if (to.iteration < w->iteration || !walk_copy_of(w, w->iteration)) {
        st = replay(w, to);
    } else {
        while (!st && lab_walk_place(w).at > to.at) {
            w->position--;
            st = walk_undo(w, w->position);
        }
        if (!st)
            st = lab_backend_sync(w->be);
    }
    walk_note_schedule(w);
    return st;
}

void lab_walk_set_mark(struct lab_walk *w, int number)
{
    const struct lab_walk_copy *from = walk_copy_before(w, w->iteration);
    if (w->n_copies <= LAB_WALK_MARKS) /* one that no mark holds */
        w->n_copies = LAB_WALK_MARKS + 1;
    w->marked[number] = from ? (int)(from - w->copy) : -1;
    w->mark[number] = (struct lab_walk_place){
        w->iteration, w->position > 0 ? w->plan->n_steps : 0};
}

enum lab_status lab_walk_to_mark(struct lab_walk *w, int number)
{
    enum lab_status st = lab_walk_drain(w);
    struct lab_walk_place mark = w->mark[number];
    if (st || mark.iteration < 0 || !is_before(mark, lab_walk_place(w)))
        return st;
    walk_close_ranges(w);
    st = replay(w, mark);
    if (st == LAB_E_CANCELLED) { /* halfway is no place to stay */
        struct lab_stop stop = w->stop;
        lab_walk_stop_when(w, &(struct lab_stop){0});
        st = replay(w, mark);
        lab_walk_stop_when(w, &stop);
    }
    walk_note_schedule(w);
    return st;
}

/* Steps that have run, once more and to the same bits: for whoever has to see
 * them several times, as hardware counters do.
 *
 * A step reads what it read then: activations are still there, data too, and
 * what is kept over iterations is put back to the iteration's start before each
 * pass. Afterwards all memory is as it was, byte for byte, whatever a kernel
 * that is not quite repeatable may have written. */

static enum lab_status check_range(const struct lab_walk *w, int from, int to)
{
    if (from < 0 || from >= to || to > w->schedule->n_steps)
        return lab_fail(LAB_E_ARG, "[walk.steps] there are no steps %d to %d",
                        from, to);
    for (int i = from; i < to; i++) {
        const struct lab_schedule_step *s = &w->schedule->steps[i];
        if (i >= w->position)
            return lab_fail(LAB_E_STATE,
                            "[walk.not-run] step %s has not run in this "
                            "iteration: run it first",
                            s->step->name);
        if (w->ran[s->hides_from].as != s->variant)
            return lab_fail(LAB_E_STATE,
                            "[walk.other-variant] step %s ran as %s and would "
                            "now run as %s: run it again first",
                            s->step->name,
                            w->ran[s->hides_from].as
                                ? w->ran[s->hides_from].as->name
                                : "another variant",
                            s->variant->name);
    }
    return LAB_OK;
}

static enum lab_status one_pass(struct lab_walk *w, int from, int to,
                                const struct lab_walk_copy *start,
                                const struct lab_rerun *r, bool *again)
{
    enum lab_status st = lab_backend_copy(w->be, w->arena, start->memory,
                                          w->plan->persistent_bytes);
    if (!st)
        st = lab_backend_sync(w->be);
    if (!st)
        st = r->pass_begin(r->user);
    for (int i = from; i < to && !st; i++) {
        r->step_begin(r->user, i);
        st = walk_run_schedule_step(w, &w->schedule->steps[i], w->arena, true);
        r->step_end(r->user, i);
    }
    if (!st)
        st = lab_backend_sync(w->be);
    return st ? st : r->pass_end(r->user, again);
}

enum lab_status lab_walk_rerun(struct lab_walk *w, int from, int to,
                               const struct lab_rerun *r)
{
    void *saved = NULL;
    size_t bytes = w->plan->arena_bytes;
    bool again = true;
    enum lab_status st = check_range(w, from, to);
    if (!st)
        st = walk_need_copy(w);
    if (!st)
        st = lab_backend_alloc(w->be, bytes ? bytes : 1, &saved);
    if (st)
        return st;
    const struct lab_walk_copy *start = walk_copy_of(w, w->iteration);
    st = lab_backend_copy(w->be, saved, w->arena, bytes);
    while (!st && again)
        st = one_pass(w, from, to, start, r, &again);
    enum lab_status back = lab_backend_copy(w->be, w->arena, saved, bytes);
    if (!back)
        back = lab_backend_sync(w->be);
    lab_backend_free(w->be, saved);
    return st ? st : back;
}

/* Training at speed: iterations of which no observer wants the steps are
 * captured once and launched as one (engine/walk.h, lab_walk_iterate). */

bool lab_walk_samples(int64_t iteration)
{
    int shift = 0;
    while (iteration >> shift >= 32)
        shift++;
    return (iteration & (((int64_t)1 << shift) - 1)) == 0;
}

void lab_walk_graph_nodes(struct lab_walk *w, bool on)
{
    w->speed.nodes = on;
}

static void walk_nodes_forget(struct lab_walk *w)
{
    lab_free(w->speed.node_end);
    w->speed.node_end = NULL;
}

/* of a capture */
static enum lab_status walk_nodes_begin(struct lab_walk *w)
{
    struct lab_walk_speed *s = &w->speed;
    walk_nodes_forget(w);
    if (!s->nodes)
        return LAB_OK;
    s->node_end =
        lab_alloc_array((size_t)w->schedule->n_steps, sizeof(*s->node_end));
    if (!s->node_end)
        return lab_no_memory("a graph's nodes");
    return judge(w, graphs(w)->count(w->be, &s->first_node));
}

static enum lab_status walk_nodes_step(struct lab_walk *w, int index)
{
    struct lab_walk_speed *s = &w->speed;
    return s->nodes ? judge(w, graphs(w)->count(w->be, &s->node_end[index]))
                    : LAB_OK;
}

void lab_walk_use_graph(struct lab_walk *w, bool on)
{
    w->speed.off = !on;
}

/* The graph is that of the present schedule, or none. */
static void follow_schedule(struct lab_walk *w, struct lab_schedule *schedule)
{
    struct lab_walk_speed *s = &w->speed;
    if (s->of == schedule)
        return;
    if (s->graph)
        graphs(w)->free(w->be, s->graph);
    lab_schedule_release(s->of);
    walk_nodes_forget(w);
    forget_ready(s);
    s->graph = NULL;
    s->of = lab_schedule_retain(schedule);
    s->warm = s->failed = false;
}

/* The next iterations at speed are captured anew: the seed is in the graph. */
static void walk_speed_forget(struct lab_walk *w)
{
    follow_schedule(w, NULL);
}

enum lab_status lab_walk_recapture(struct lab_walk *w)
{
    enum lab_status st = lab_walk_drain(w);
    walk_speed_forget(w);
    return st;
}

/* At the start of the walk's first iteration. Stopped, parameters are missing. */
static enum lab_status walk_start(struct lab_walk *w,
                                  const struct lab_stop *stop)
{
    int64_t begin = lab_clock_monotonic_ns();
    walk_close_ranges(w);
    for (int i = 0; i < LAB_WALK_COPIES; i++)
        w->copy[i].iteration = -1;
    for (int i = 0; i < LAB_WALK_MARKS; i++)
        w->marked[i] = (int)(w->mark[i].iteration = -1);
    for (int i = 0; i < LAB_WALK_PAST; i++)
        w->past[i].iteration = -1;
    walk_speed_forget(w); /* the seed may be another */
    enum lab_status st = walk_init_parameters(w, stop);
    w->iteration = w->first;
    w->position = 0;
    w->lr = lab_plan_lr(w->plan);
    walk_forget_switches(w);
    walk_note_schedule(w);
    for (int i = 0; i < w->plan->n_tensors; i++)
        w->generation[i]++;
    if (!st)
        st = walk_load_iteration(w, true);
    w->start_ns = lab_clock_monotonic_ns() - begin;
    return st;
}

enum lab_status lab_walk_restart(struct lab_walk *w)
{
    enum lab_status st = lab_walk_drain(w);
    return st ? st : walk_start(w, NULL);
}

enum lab_status lab_walk_restart_or_stop(struct lab_walk *w)
{
    enum lab_status st = lab_walk_drain(w);
    return st ? st : walk_start(w, &w->stop);
}

int64_t lab_walk_start_ns(const struct lab_walk *w)
{
    return w->start_ns;
}

/* Parameters and state as the caller gives them, the others as the seed has
 * them. */
static enum lab_status make_origin(const struct lab_walk *w,
                                   const struct lab_walk_start *from,
                                   void *origin)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < w->plan->n_tensors && !st; i++) {
        const struct lab_tensor *t = &w->plan->tensors[i];
        if (!t->persistent || t->alias_of >= 0)
            continue;
        st = lab_plan_init_tensor(w->plan, i, (char *)origin + t->offset,
                                  &w->stop);
        if (!st)
            st = from->fill(from->user, t, (char *)origin + t->offset);
    }
    return st;
}

enum lab_status lab_walk_start_from(struct lab_walk *w,
                                    const struct lab_walk_start *from)
{
    size_t bytes = w->plan->persistent_bytes;
    void *origin = NULL;
    enum lab_status st = lab_walk_drain(w);
    if (!st && from && !(origin = lab_alloc(bytes ? bytes : 1)))
        st = lab_no_memory("the parameters to begin with");
    if (!st && from)
        st = make_origin(w, from, origin);
    if (st) {
        lab_free(origin);
        return st;
    }
    if (from && from->ready.call)
        from->ready.call(from->ready.user);
    lab_free(w->origin);
    w->origin = origin;
    w->first = from ? from->iteration : 0;
    return walk_start(w, NULL);
}

int64_t lab_walk_first(const struct lab_walk *w)
{
    return w->first;
}

bool lab_walk_was_given(const struct lab_walk *w)
{
    return w->origin != NULL;
}

/* ---- news ---- */

static void add_news(struct lab_walk *w, const struct lab_iteration_progress *n)
{
    struct lab_walk_speed *s = &w->speed;
    s->news[s->news_end++ % LAB_WALK_NEWS] = *n;
    if (s->news_end - s->news_first > LAB_WALK_NEWS)
        s->news_first++;
}

/* Once a walk: another schedule that is refused too is refused for the same. */
static enum lab_status refuse_graph(struct lab_walk_speed *s,
                                    enum lab_status st)
{
    if (st && !s->refusal[0])
        snprintf(s->refusal, sizeof(s->refusal), "%s", lab_error());
    return st;
}

const char *lab_walk_graph_refused(struct lab_walk *w)
{
    struct lab_walk_speed *s = &w->speed;
    if (!s->refusal[0] || s->refusal_reported)
        return NULL;
    s->refusal_reported = true;
    return s->refusal;
}

bool lab_walk_poll(struct lab_walk *w, struct lab_iteration_progress *out)
{
    struct lab_walk_speed *s = &w->speed;
    if (s->news_first == s->news_end)
        return false;
    *out = s->news[s->news_first++ % LAB_WALK_NEWS];
    return true;
}

static void tell_done(struct lab_walk *w,
                      const struct lab_iteration_progress *n)
{
    const struct lab_observer *o = &w->observer;
    tell_rate(w, n->iteration);
    if (o->iteration_done) {
        o->iteration_done(o->user, n->iteration, n->loss, n->start_ns,
                          n->end_ns);
        return;
    }
    if (o->iteration_begin)
        o->iteration_begin(o->user, n->iteration, n->start_ns);
    if (o->iteration_end)
        o->iteration_end(o->user, n->iteration, n->loss);
}

/* The device's moment on the host's clock. The host hears of it late, now more
 * and now less: the smallest difference is the nearest to the truth. */
static int64_t host_moment(struct lab_walk_speed *s, int64_t device_ns)
{
    int64_t now = lab_clock_monotonic_ns();
    if (!s->clock_known || now - device_ns < s->clock_offset_ns)
        s->clock_offset_ns = now - device_ns;
    s->clock_known = true;
    return device_ns + s->clock_offset_ns;
}

/* Tells the oldest launch when it is done; `wait`: waits for it. */
static enum lab_status collect(struct lab_walk *w, bool wait, bool *reported)
{
    struct lab_walk_speed *s = &w->speed;
    struct lab_graph_report r;
    enum lab_status st = judge(w, graphs(w)->report(w->be, wait, &r, reported));
    if (st || !*reported)
        return st;
    int64_t queued = s->queued_ns[s->reported++ % LAB_GRAPH_AHEAD];
    struct lab_iteration_progress n = {.iteration = (int64_t)r.iteration,
                                       .loss = r.loss,
                                       .end_ns = host_moment(s, r.end_ns),
                                       .steps_ns = -1};
    n.start_ns = queued > s->last_end_ns ? queued : s->last_end_ns;
    if (n.end_ns < n.start_ns)
        n.end_ns = n.start_ns;
    s->last_end_ns = n.end_ns;
    if (n.iteration == w->iteration)
        w->loss = n.loss;
    tell_done(w, &n);
    add_news(w, &n);
    return LAB_OK;
}

enum lab_status lab_walk_drain(struct lab_walk *w)
{
    enum lab_status st = LAB_OK;
    bool reported = true;
    while (!st && reported && w->speed.reported < w->speed.launched)
        st = collect(w, true, &reported);
    w->speed.clock_known = false;
    return st;
}

/* ---- the graph ---- */

static bool wants_steps(const struct lab_walk *w)
{
    return w->observer.step_begin || w->observer.step_end;
}

/* The iteration that iterate() is to run, -1: one that has begun as a walk. */
static int64_t next_iteration(const struct lab_walk *w)
{
    if (lab_walk_at_end(w))
        return w->iteration + 1;
    return w->position == 0 ? w->iteration : -1;
}

static bool may_launch(const struct lab_walk *w)
{
    const struct lab_walk_speed *s = &w->speed;
    int64_t next = next_iteration(w);
    if (s->off || s->failed || !s->warm || next < 0 || !graphs(w) ||
        w->plan->real != LAB_F32)
        return false;
    return s->nodes || !lab_walk_samples(next - w->first) || !wants_steps(w);
}

static enum lab_status alloc_slots(struct lab_walk *w)
{
    size_t bytes = 0;
    for (int i = 0; i < w->plan->n_tensors; i++) {
        const struct lab_tensor *t = &w->plan->tensors[i];
        if (t->role == LAB_TENSOR_DATA)
            bytes += lab_tensor_bytes(t);
    }
    for (int i = 0; i < LAB_GRAPH_AHEAD; i++) {
        if (w->speed.slot[i])
            continue;
        enum lab_status st =
            judge(w, graphs(w)->host_alloc(w->be, bytes ? bytes : 1,
                                           &w->speed.slot[i]));
        if (st)
            return st;
    }
    return LAB_OK;
}

/* Updates of different parameters do not wait for each other; norms do. */
static bool stands_alone(const struct lab_schedule_step *s)
{
    return s->step->op->kind == LAB_KIND_OPTIMIZER;
}

/* Does a step after `index` and before the update write, or else read, a byte of
 * any of the tensors? */
static bool used_later(const struct lab_walk *w, int index, bool write,
                       const int *tensors, int n)
{
    const struct lab_tensor *all = w->plan->tensors;
    for (int i = index + 1; i < w->schedule->phase_first[LAB_UPDATE]; i++) {
        const struct lab_step *s = w->schedule->steps[i].step;
        const int *used = write ? s->out : s->in;
        for (int k = 0; k < (write ? s->n_out : s->n_in) * n; k++) {
            int a = used[k / n];
            int b = tensors[k % n];
            if (a >= 0 && b >= 0 &&
                all[a].offset < all[b].offset + lab_tensor_bytes(&all[b]) &&
                all[b].offset < all[a].offset + lab_tensor_bytes(&all[a]))
                return true;
        }
    }
    return false;
}

static bool is_written(const struct lab_walk *w, const struct lab_step *s,
                       int i)
{
    return s->out[i] >= 0 && !lab_tensor_is_alias(&w->plan->tensors[s->out[i]]);
}

/* The outputs of a step of the backward pass that may be computed beside those
 * that follow: parameters' gradients, a bit each. */
static unsigned waits_for_update(const struct lab_walk *w, int index)
{
    const struct lab_schedule_step *s = &w->schedule->steps[index];
    unsigned found = 0;
    if (!s->variant->apart || s->step->phase != LAB_BACKWARD ||
        used_later(w, index, true, s->step->in, s->step->n_in))
        return 0;
    for (int i = 0; i < s->step->n_out; i++) {
        if (is_written(w, s->step, i) &&
            !used_later(w, index, false, &s->step->out[i], 1))
            found |= 1u << i;
    }
    return found;
}

static enum lab_status capture_step(struct lab_walk *w, int index)
{
    const struct lab_schedule_step *s = &w->schedule->steps[index];
    /* Nodes are launched for their times, which would overlap beside others. */
    unsigned later = w->speed.nodes ? 0 : waits_for_update(w, index);
    bool now = !later;
    enum lab_status st = LAB_OK;
    for (int i = 0; i < s->step->n_out; i++)
        now |= is_written(w, s->step, i) && !(later >> i & 1);
    if (later)
        st = judge(w, graphs(w)->beside(w->be, true));
    if (!st && later)
        st = run_outputs(w, s, w->arena, true, later);
    if (!st && later)
        st = judge(w, graphs(w)->beside(w->be, false));
    if (!st && now)
        st = run_outputs(w, s, w->arena, true, ~later);
    return st ? st : walk_nodes_step(w, index);
}

static enum lab_status capture_steps(struct lab_walk *w)
{
    enum lab_status st = LAB_OK;
    int lane = -1;
    for (int i = 0; i < w->schedule->n_steps && !st; i++) {
        int before = lane;
        lane = stands_alone(&w->schedule->steps[i])
                   ? (lane + 1) % LAB_GRAPH_LANES
                   : -1;
        if (i == w->schedule->phase_first[LAB_UPDATE])
            st = judge(w, graphs(w)->join(w->be));
        if (!st && lane != before)
            st = judge(w, graphs(w)->lane(w->be, lane));
        if (!st)
            st = capture_step(w, i);
    }
    if (!st && lane >= 0)
        st = judge(w, graphs(w)->lane(w->be, -1));
    return st ? st : judge(w, graphs(w)->join(w->be));
}

static enum lab_status capture(struct lab_walk *w)
{
    const void *loss = loss_address(w);
    enum lab_status st = alloc_slots(w);
    if (st)
        return st;
    st = judge(w, graphs(w)->begin(w->be));
    if (!st)
        st = walk_nodes_begin(w);
    if (!st)
        st = capture_steps(w);
    if (st) {
        (void)graphs(w)->end(w->be, loss, NULL);
        return st;
    }
    return judge(w, graphs(w)->end(w->be, loss, &w->speed.graph));
}

/* The batch of an iteration: the host fills one while the device reads others.
 */
static enum lab_status send_data(struct lab_walk *w, int64_t iteration)
{
    const struct lab_plan *plan = w->plan;
    char *at = w->speed.slot[w->speed.launched % LAB_GRAPH_AHEAD];
    enum lab_status st = LAB_OK;
    if (w->speed.data_of >= 0 &&
        lab_data_same(w->data, w->speed.data_of, iteration))
        return LAB_OK;
    for (int i = 0; i < plan->n_tensors && !st; i++) {
        const struct lab_tensor *t = &plan->tensors[i];
        size_t bytes = lab_tensor_bytes(t);
        if (t->role != LAB_TENSOR_DATA)
            continue;
        st = lab_data_fill(w->data, plan, i, iteration, at);
        if (!st)
            st = judge(w, graphs(w)->upload(w->be, (char *)w->arena + t->offset,
                                            at, bytes));
        w->generation[i]++;
        at += bytes;
    }
    w->speed.data_of = st ? -1 : iteration;
    return st;
}

static enum lab_status launch(struct lab_walk *w, int64_t iteration, bool keep)
{
    struct lab_walk_speed *s = &w->speed;
    bool reported = true;
    bool loaded = !lab_walk_at_end(w); /* as after a restart */
    enum lab_status st = LAB_OK;
    if (s->launched - s->reported == LAB_GRAPH_AHEAD)
        st = collect(w, true, &reported);
    if (!st && !loaded)
        st = send_data(w, iteration);
    if (st)
        return st;
    walk_close_ranges(w);
    w->iteration = iteration;
    walk_begin_iteration(w, keep || loaded);
    s->queued_ns[s->launched % LAB_GRAPH_AHEAD] = lab_clock_monotonic_ns();
    st = judge(w, graphs(w)->launch(w->be, s->graph, (uint64_t)iteration,
                                    lab_walk_rate(w, iteration)));
    if (st)
        return st;
    s->launched++;
    w->quiet = true;
    for (int i = 0; i < w->schedule->n_steps; i++)
        walk_mark_written(w, &w->schedule->steps[i], 0);
    w->quiet = false;
    w->position = w->schedule->n_steps;
    while (!st && reported && s->reported < s->launched)
        st = collect(w, false, &reported);
    return st;
}

/* A recorded iteration: which of the graph's nodes are of which step. */
static enum lab_status launch_nodes(struct lab_walk *w, int64_t iteration,
                                    bool keep)
{
    struct lab_graph_event e = {.exec = w->exec + 1,
                                .n_steps = w->schedule->n_steps,
                                .first_node = w->speed.first_node,
                                .node_end = w->speed.node_end};
    const struct lab_observer *o = &w->observer;
    enum lab_status st = lab_walk_drain(w);
    if (st)
        return st;
    w->exec += e.n_steps;
    if (o->graph_begin)
        o->graph_begin(o->user, &e);
    st = launch(w, iteration, keep);
    if (o->graph_end)
        o->graph_end(o->user, &e);
    if (!st)
        st = lab_walk_sync(w); /* the nodes' records have come */
    for (int i = 0; i < w->schedule->n_steps && !st && o->step_done; i++) {
        struct lab_step_event step = event_of(w, i, e.exec + i);
        o->step_done(o->user, &step);
    }
    return st;
}

/* Of a graph that is traced as a whole no kernel is recorded. */
static enum lab_status launch_unreported(struct lab_walk *w, int64_t iteration,
                                         bool keep)
{
    if (w->speed.nodes)
        walk_report_unobserved(w, true);
    enum lab_status st = launch(w, iteration, keep);
    if (w->speed.nodes)
        walk_report_unobserved(w, false);
    return st;
}

/* Records may be collected: that takes a tracer about a millisecond, and so it
 * is not done after every short iteration. */
static enum lab_status sync_now_and_then(struct lab_walk *w)
{
    const int64_t patience_ns = 50000000;
    int64_t now = lab_clock_monotonic_ns();
    if (now - w->speed.synced_ns < patience_ns)
        return lab_backend_sync(w->be);
    enum lab_status st = lab_walk_sync(w);
    w->speed.synced_ns = lab_clock_monotonic_ns();
    return st;
}

/* A short iteration comes to its end, so that training stops between two; a
 * long one is cut. *until: when patience ends, 0: no stop has been seen. */
static enum lab_status look_for_cut(const struct lab_walk *w, int64_t *until)
{
    const int64_t patience_ns = 20000000;
    enum lab_status st = lab_walk_look_for_stop(w);
    int64_t now = st ? lab_clock_monotonic_ns() : 0;
    if (st && *until == 0)
        *until = now + patience_ns;
    return st && now >= *until ? st : LAB_OK;
}

/* The steps by their ready calls, of an iteration that began at start_ns. Between those of
 * a short one, which comes to its end (look_for_cut()), nothing asks for a stop; as short
 * as the last one. */
static enum lab_status run_ready(struct lab_walk *w, int64_t start_ns,
                                 bool timed)
{
    const int64_t short_ns = 5000000;
    const bool looks = w->speed.quiet_ns == 0 || w->speed.quiet_ns > short_ns;
    const double lr = lab_rate_at(&w->plan->rate, w->lr, w->iteration);
    const struct lab_schedule_step *s = w->schedule->steps;
    const int n = w->schedule->n_steps;
    struct lab_ready_call *ready = w->speed.ready;
    int64_t steps_ns = 0;
    int64_t until = 0;
    enum lab_status st = LAB_OK;
    int i = 0;
    while (!st && i < n) {
        ready[i].call.iteration = (uint64_t)w->iteration;
        ready[i].rated.lr = lr;
        int64_t start = timed ? lab_clock_monotonic_ns() : 0;
        st = run_call(w, &s[i], &ready[i].call);
        if (timed)
            steps_ns += lab_clock_monotonic_ns() - start;
        i += st == LAB_OK;
        if (looks && !st && i < n)
            st = look_for_cut(w, &until);
    }
    w->position = i;
    w->steps_ns = steps_ns;
    if (st && !w->open_iteration)
        open_iteration(w, start_ns); /* it goes on as a walk */
    /* All at once: between kernels each would wait for memory. */
    if (i == n)
        mark_ready_written(w);
    for (int k = 0; k < i && i < n; k++)
        walk_mark_written(w, &s[k], LAB_EVENT_NO_TIME);
    return st;
}

static enum lab_status run_observed(struct lab_walk *w)
{
    int64_t until = 0;
    enum lab_status st = LAB_OK;
    while (!st && !lab_walk_at_end(w)) {
        st = walk_run_at(w, w->position, false);
        w->position += st == LAB_OK;
        if (!st && !lab_walk_at_end(w))
            st = look_for_cut(w, &until);
    }
    return st;
}

/* A step at a time, as when walking, but without waiting after each. Of every
 * seventh iteration that is not observed the steps are timed: by that a copy for going
 * back, which every sixteenth makes, has its share. */
static enum lab_status by_steps(struct lab_walk *w, bool keep)
{
    enum { TIMED_EVERY = 7 };
    int64_t start = lab_clock_monotonic_ns();
    enum lab_status st = lab_walk_look_for_stop(w);
    if (!st && lab_walk_at_end(w))
        st = walk_next_iteration(w, keep);
    if (st)
        return st;
    bool whole = w->position == 0;
    w->steps_ns = 0;
    /* An iteration that began as a walk goes on as one. */
    w->quiet = whole && !lab_walk_samples(w->iteration - w->first);
    bool timed = w->quiet && !graphs(w) && w->iteration % TIMED_EVERY == 0;
    if (w->quiet) {
        st = ready_calls(w);
        walk_report_unobserved(w, true);
        /* Open: its first step has failed before. */
        if (!st && graphs(w) && !w->open_iteration)
            open_iteration(w, start);
    }
    if (!st)
        st = w->quiet ? run_ready(w, start, timed) : run_observed(w);
    bool opened = w->open_iteration;
    if (!st)
        st = walk_finish_iteration(w);
    bool observed = !w->quiet;
    w->quiet = false;
    if (!observed)
        walk_report_unobserved(w, false);
    if (st == LAB_E_CANCELLED && walk_cut_iteration(w) == LAB_OK)
        return lab_walk_look_for_stop(w);
    if (!st && observed)
        st = sync_now_and_then(w);
    if (st)
        return st;
    w->speed.warm |= whole;
    int64_t reading_ns = timed ? clock_reading_ns() : 0;
    struct lab_iteration_progress n = {.iteration = w->iteration,
                                       .loss = w->loss,
                                       .start_ns = start,
                                       .end_ns = lab_clock_monotonic_ns(),
                                       .steps_ns = -1};
    if (timed) { /* from the start of a reading to that of the next is its time, too */
        n.steps_ns = w->steps_ns - w->schedule->n_steps * reading_ns;
        n.readings_ns =
            (2 * w->schedule->n_steps + CLOCK_READINGS) * reading_ns;
    }
    if (!opened)
        tell_done(w, &n);
    if (!observed)
        w->speed.quiet_ns = n.end_ns - start;
    w->speed.last_end_ns = n.end_ns;
    add_news(w, &n);
    return LAB_OK;
}

/* What is between two copies runs again on the way back: of short iterations more
 * are, where that takes no longer than two frames. */
static int64_t copy_every(const struct lab_walk *w)
{
    enum { FEWEST = 16, MOST = 256 };
    const int64_t patience_ns = 32000000;
    int64_t every = FEWEST;
    while (every < MOST && w->speed.quiet_ns > 0 &&
           2 * every * w->speed.quiet_ns <= patience_ns)
        every *= 2;
    return every;
}

enum lab_status lab_walk_iterate(struct lab_walk *w)
{
    int64_t next = next_iteration(w);
    bool keep = next % copy_every(w) == 0;
    follow_schedule(w, w->schedule);
    if (may_launch(w)) {
        if (!w->speed.graph)
            w->speed.failed = refuse_graph(&w->speed, capture(w)) != LAB_OK;
        bool reported = w->speed.nodes && wants_steps(w) &&
                        lab_walk_samples(next - w->first);
        if (!w->speed.failed && reported)
            return launch_nodes(w, next, keep);
        if (!w->speed.failed)
            return launch_unreported(w, next, keep);
    }
    enum lab_status st = lab_walk_drain(w);
    return st ? st : by_steps(w, keep);
}

/* have: what the device has, 0: it has no room left for an unknown reason. The place
 * in the lesson is that of the largest tensor's node. */
static enum lab_status too_large(const struct lab_plan *plan, int64_t have)
{
    const struct lab_tensor *large = &plan->tensors[0];
    enum lab_status st = have > 0 ? LAB_E_RANGE : LAB_E_NOMEM;
    char shape[LAB_SHAPE_TEXT];
    char room[64] = "there is no room for them";
    for (int i = 1; i < plan->n_tensors; i++) {
        if (plan->tensors[i].count > large->count)
            large = &plan->tensors[i];
    }
    if (have > 0)
        snprintf(room, sizeof(room), "the device has %s",
                 LAB_BYTES_TEXT((double)have));
    lab_fail(st,
             "[walk.memory] the lesson's tensors need %s and %s; the largest "
             "is %s %s: make it or the batch smaller",
             LAB_BYTES_TEXT((double)plan->arena_bytes), room, large->name,
             lab_shape_text(&large->shape, shape));
    struct lab_place at =
        large->node < 0 ? plan->data_place : plan->nodes[large->node].place;
    if (plan->file && at.line > 0)
        lab_fail_context(st, "%s:%d:%d", plan->file, at.line, at.column);
    return st;
}

static enum lab_status alloc_tables(struct lab_walk *w)
{
    const struct lab_plan *plan = w->plan;
    size_t steps = (size_t)plan->n_steps;
    size_t tensors = (size_t)plan->n_tensors;
    size_t most = 1;
    for (int i = 0; i < plan->n_tensors; i++) {
        const struct lab_tensor *t = &plan->tensors[i];
        size_t bytes = lab_tensor_bytes(t);
        bool staged = t->role == LAB_TENSOR_DATA || t->persistent;
        if (staged && bytes > most)
            most = bytes;
    }
    w->ran = lab_arena_array(&w->tables, steps, sizeof(*w->ran));
    w->written = lab_arena_array(&w->tables, tensors, sizeof(*w->written));
    w->there_first =
        lab_arena_array(&w->tables, tensors, sizeof(*w->there_first));
    w->data_tensors =
        lab_arena_array(&w->tables, tensors, sizeof(*w->data_tensors));
    w->generation =
        lab_arena_array(&w->tables, tensors, sizeof(*w->generation));
    w->staging = lab_arena_take(&w->tables, most);
    if (!w->ran || !w->written || !w->there_first || !w->data_tensors ||
        !w->generation || !w->staging)
        return lab_no_memory("the stepper");
    for (int i = 0; i < plan->n_tensors; i++) {
        const struct lab_tensor *t = &plan->tensors[i];
        w->there_first[i] = t->role == LAB_TENSOR_DATA || t->persistent;
        if (t->role == LAB_TENSOR_DATA)
            w->data_tensors[w->n_data_tensors++] = i;
    }
    return LAB_OK;
}

/* Before anything is taken: a machine that promises more memory than it has
 * would fail later, and not so kindly. */
static enum lab_status check_size(const struct lab_walk *w)
{
    struct lab_device_info info;
    lab_backend_info(w->be, &info);
    if (info.memory_bytes > 0 &&
        w->plan->arena_bytes > (size_t)info.memory_bytes)
        return too_large(w->plan, info.memory_bytes);
    return LAB_OK;
}

static enum lab_status alloc_device(struct lab_walk *w)
{
    const size_t copies_budget = (size_t)256 << 20;
    enum lab_status st =
        lab_backend_alloc(w->be, w->plan->arena_bytes, &w->arena);
    if (st == LAB_E_NOMEM)
        return too_large(w->plan, 0);
    for (int i = 0; i < w->plan->n_tensors && !st; i++)
        lab_backend_label(w->be, w->arena, w->plan->tensors[i].offset,
                          w->plan->tensors[i].name,
                          w->plan->tensors[i].persistent);
    size_t each = w->plan->persistent_bytes ? w->plan->persistent_bytes : 1;
    size_t fit = copies_budget / each;
    w->n_copies = fit > LAB_WALK_COPIES ? LAB_WALK_COPIES : (int)fit;
    if (w->n_copies < 2)
        w->n_copies = 2;
    return st;
}

static void walk_release(struct lab_walk *w)
{
    follow_schedule(w, NULL);
    for (int i = 0; i < LAB_GRAPH_AHEAD; i++)
        if (w->speed.slot[i])
            graphs(w)->host_free(w->be, w->speed.slot[i]);
    for (int i = 0; i < LAB_WALK_COPIES; i++)
        lab_backend_free(w->be, w->copy[i].memory);
    for (int i = 0; i < LAB_WALK_PAST; i++)
        lab_backend_free(w->be, w->past[i].memory);
    lab_backend_free(w->be, w->arena);
    lab_backend_free(w->be, w->eval_arena);
    lab_free(w->origin);
    lab_arena_release(&w->decoder.memory);
    lab_schedule_release(w->schedule);
    lab_tuning_free(w->tuning);
    walk_forget_switches(w);
    lab_free(w->switches);
    lab_arena_release(&w->tables);
    lab_free(w);
}

enum lab_status lab_walk_new(struct lab_walk **out, const struct lab_plan *plan,
                             struct lab_backend *be, struct lab_data *data,
                             const struct lab_stop *stop)
{
    struct lab_walk *w = lab_alloc(sizeof(*w));
    if (!w)
        return lab_no_memory("the stepper");
    w->plan = plan;
    w->be = be;
    w->data = data;
    if (stop)
        lab_walk_stop_when(w, stop);
    w->open_phase = w->open_node = -1;
    w->decoder.result = (struct lab_decoded){NAN, NAN};
    w->speed.data_of = -1;
    for (int i = 0; i < LAB_WALK_COPIES; i++)
        w->copy[i].iteration = -1;
    enum lab_status st = check_size(w);
    if (!st)
        st = alloc_tables(w);
    if (!st)
        st = alloc_device(w);
    if (!st)
        st = lab_schedule_make(&w->schedule, plan, be, NULL, 0, NULL);
    if (!st)
        st = walk_reserve_switch(w);
    if (!st)
        st = lab_walk_restart_or_stop(w);
    if (st)
        walk_release(w); /* the caller keeps backend and data */
    else
        *out = w;
    return st;
}

void lab_walk_free(struct lab_walk *w)
{
    if (!w)
        return;
    struct lab_backend *be = w->be;
    struct lab_data *data = w->data;
    walk_release(w);
    lab_backend_close(be);
    lab_data_free(data);
}

void lab_walk_observe(struct lab_walk *w, const struct lab_observer *o)
{
    w->observer = *o;
}

void lab_walk_time_with_events(struct lab_walk *w, bool on)
{
    w->use_events = on;
}

void lab_walk_time_in_graph(struct lab_walk *w, bool on)
{
    w->time_in_graph = on;
}

struct lab_stop lab_walk_stop_when(struct lab_walk *w,
                                   const struct lab_stop *stop)
{
    const struct lab_stop before = w->stop;
    w->stop = *stop;
    lab_backend_stop_when(w->be, stop);
    return before;
}

enum lab_status lab_walk_look_for_stop(const struct lab_walk *w)
{
    return lab_stop_asked(&w->stop) ? lab_fail(LAB_E_CANCELLED, "stopped")
                                    : LAB_OK;
}

void lab_walk_tune_with(struct lab_walk *w, struct lab_tuning *t)
{
    lab_tuning_free(w->tuning);
    w->tuning = t;
}

const struct lab_tuning *lab_walk_tuning(const struct lab_walk *w)
{
    return w->tuning;
}

enum lab_status lab_walk_choose(struct lab_walk *w,
                                const struct lab_variant_choice *choices, int n)
{
    struct lab_schedule *next;
    enum lab_status st = lab_walk_drain(w);
    if (!st)
        st = walk_reserve_switch(w);
    if (!st)
        st = lab_schedule_make(&next, w->plan, w->be, choices, n, w->tuning);
    if (st)
        return st;
    int position = walk_position_of(next, lab_walk_place(w).at);
    /* A group that has run in part: its steps have not run. */
    int at = walk_plan_step(w, next, position);
    while (!st && w->position > 0 &&
           w->schedule->steps[w->position - 1].hides_from >= at) {
        st = walk_need_copy(w); /* at speed none was kept */
        if (!st)
            st = walk_undo(w, --w->position);
    }
    if (st) {
        lab_schedule_release(next);
        return st;
    }
    next = walk_share_schedule(w, next);
    lab_schedule_release(w->schedule);
    w->schedule = next;
    w->position = position;
    walk_note_schedule(w);
    return LAB_OK;
}

enum lab_status lab_walk_set_lr(struct lab_walk *w, double lr)
{
    enum lab_status st = lab_walk_drain(w);
    if (!st)
        st = walk_reserve_switch(w);
    if (st)
        return st;
    w->lr = lr;
    walk_note_schedule(w);
    return LAB_OK;
}

double lab_walk_lr(const struct lab_walk *w)
{
    return w->lr;
}

double lab_walk_rate(const struct lab_walk *w, int64_t iteration)
{
    const struct lab_walk_place end = {iteration, w->plan->n_steps - 1};
    return lab_rate_at(&w->plan->rate, w->switches[switch_at(w, end)].lr,
                       iteration);
}

const struct lab_plan *lab_walk_plan(const struct lab_walk *w)
{
    return w->plan;
}

struct lab_backend *lab_walk_backend(const struct lab_walk *w)
{
    return w->be;
}

struct lab_data *lab_walk_data(const struct lab_walk *w)
{
    return w->data;
}

struct lab_schedule *lab_walk_schedule(const struct lab_walk *w)
{
    return w->schedule;
}

int lab_walk_position(const struct lab_walk *w)
{
    return w->position;
}

int64_t lab_walk_iteration(const struct lab_walk *w)
{
    return w->iteration;
}

double lab_walk_loss(const struct lab_walk *w)
{
    return w->loss;
}

void lab_walk_step_status(const struct lab_walk *w, int i, int64_t *exec,
                          int64_t *time_ns)
{
    int at = w->schedule->steps[i].hides_from;
    *exec = w->ran[at].exec;
    *time_ns = w->ran[at].ns;
}

const char *lab_walk_step_ran(const struct lab_walk *w, int i)
{
    const struct execution *e = &w->ran[w->schedule->steps[i].hides_from];
    return e->exec > 0 && e->as ? e->as->name : NULL;
}

int lab_walk_writer(const struct lab_walk *w, int tensor)
{
    for (int i = w->position - 1; i >= 0; i--) {
        if (writes(w->schedule->steps[i].step, tensor))
            return i;
    }
    return -1;
}

bool lab_walk_at_end(const struct lab_walk *w)
{
    return w->position >= w->schedule->n_steps;
}

static enum lab_status walk_begin(struct lab_walk *w, bool keep_copy)
{
    enum lab_status st = lab_walk_drain(w);
    if (st || !lab_walk_at_end(w))
        return st;
    return walk_next_iteration(w, keep_copy);
}

enum lab_status lab_walk_begin(struct lab_walk *w)
{
    return walk_begin(w, true);
}

enum lab_status lab_walk_begin_uncopied(struct lab_walk *w)
{
    if (w->position > 0)
        w->position = w->schedule->n_steps;
    return walk_begin(w, false);
}

enum lab_status lab_walk_step(struct lab_walk *w)
{
    enum lab_status st = lab_walk_begin(w);
    if (st)
        return st;
    st = walk_run_at(w, w->position, true);
    if (st)
        return st;
    w->position++;
    return lab_walk_at_end(w) ? walk_finish_iteration(w) : LAB_OK;
}

enum lab_status lab_walk_sync(struct lab_walk *w)
{
    enum lab_status st = lab_backend_sync(w->be);
    if (!st)
        st = lab_walk_drain(w);
    if (!st && !w->muted && w->observer.synced)
        w->observer.synced(w->observer.user);
    return st;
}

static enum lab_status device_address(struct lab_walk *w, int tensor, bool old,
                                      const void **out)
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    const char *base = w->arena;
    if (old && t->persistent) {
        enum lab_status st = walk_need_copy(w);
        if (st)
            return st;
        base = walk_copy_of(w, w->iteration)->memory;
    }
    *out = base + t->offset;
    return LAB_OK;
}

enum lab_status lab_walk_read(struct lab_walk *w, int tensor, bool old,
                              void *out)
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    const void *from;
    enum lab_status st = device_address(w, tensor, old, &from);
    return st ? st
              : lab_backend_download(w->be, out, from, lab_tensor_bytes(t));
}

enum lab_status lab_walk_write(struct lab_walk *w, int tensor, const void *in)
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    w->generation[tensor]++;
    if (t->role == LAB_TENSOR_DATA)
        w->speed.data_of = -1;
    return upload(w, w->arena, tensor, in);
}

/* ---- explanations: tensors are read whole, once each ---- */

struct reader {
    struct lab_walk *w;
    struct {
        void *copy; /* owned */
        int tensor;
        bool old;
    } read[2 * (LAB_STEP_IN + LAB_STEP_OUT)];
    int n;
};

static enum lab_status read_for_explain(void *user, int tensor, bool old,
                                        const void **data)
{
    struct reader *r = user;
    const struct lab_tensor *t = &r->w->plan->tensors[tensor];
    if (r->w->be->host_memory)
        return device_address(r->w, tensor, old, data);
    for (int i = 0; i < r->n; i++) {
        if (r->read[i].tensor == tensor && r->read[i].old == old) {
            *data = r->read[i].copy;
            return LAB_OK;
        }
    }
    void *copy = lab_alloc_array((size_t)t->count, lab_dtype_bytes(t->dtype));
    if (!copy)
        return lab_fail(LAB_E_NOMEM, "no memory to read %s", t->name);
    enum lab_status st = lab_walk_read(r->w, tensor, old, copy);
    if (st) {
        lab_free(copy);
        return st;
    }
    r->read[r->n].copy = copy;
    r->read[r->n].tensor = tensor;
    r->read[r->n++].old = old;
    *data = copy;
    return LAB_OK;
}

static bool has_read_inputs(const struct lab_walk *w, const struct lab_step *s)
{
    for (int i = 0; i < s->n_in; i++) {
        if (s->in[i] >= 0 && !lab_walk_written(w, s->in[i]))
            return false;
    }
    return true;
}

/* The step that explains the tensor, as an index into the schedule; -1: none.
 * After a switch of variants a tensor may have been written by a group that
 * has been taken apart since, and its step's inputs never. */
static int explaining_step(const struct lab_walk *w, int tensor)
{
    if (tensor < 0 || tensor >= w->plan->n_tensors ||
        !lab_walk_written(w, tensor))
        return -1;
    int writer = lab_walk_writer(w, tensor);
    if (writer < 0 || !has_read_inputs(w, w->schedule->steps[writer].step))
        return -1;
    return writer;
}

/* The right-hand side from now on. */
static enum lab_status explain(struct lab_explanation *e, const char *what,
                               const char *word)
{
    struct lab_str s;
    lab_str_init(&s);
    lab_str_addf(&s, "%s%s", what, word);
    lab_free(e->symbolic);
    e->symbolic = lab_str_detach(&s);
    if (e->symbolic)
        return LAB_OK;
    lab_explanation_release(e);
    return lab_fail(LAB_E_NOMEM, "no memory to explain");
}

enum lab_status lab_walk_explain(struct lab_walk *w, int tensor, int64_t index,
                                 struct lab_explanation *out)
{
    struct reader r = {.w = w};
    struct lab_explanation e;
    int from = tensor;
    int64_t at = index;
    if (tensor >= 0 && tensor < w->plan->n_tensors)
        walk_find_written(w, &from, &at);
    int step = explaining_step(w, from);
    const struct lab_schedule_step *s =
        step >= 0 ? &w->schedule->steps[step] : NULL;
    const struct lab_variant *ran = s ? w->ran[s->hides_from].as : NULL;
    /* With the learning rate of its iteration. */
    union lab_rated room;
    struct lab_step rated;
    if (s) {
        rated = *s->step;
        if (rated.op->kind == LAB_KIND_OPTIMIZER) {
            memcpy(&room, rated.params, rated.params_bytes);
            room.lr = lab_walk_rate(w, w->iteration);
            rated.params = &room;
        }
    }
    enum lab_status st =
        lab_explain(&e, w->plan, s ? &rated : NULL, tensor, index, w->iteration,
                    ran ? ran->precision : LAB_FP32, read_for_explain, &r);
    for (int i = 0; i < r.n; i++)
        lab_free(r.read[i].copy);
    if (st)
        return st;
    e.step = step;
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    bool computed =
        t->role == LAB_TENSOR_ACTIVATION || t->role == LAB_TENSOR_GRADIENT;
    e.unwritten = computed && !lab_walk_written(w, tensor);
    if (e.unwritten)
        e.value = e.shown = NAN;
    if (e.unwritten && lab_schedule_hider(w->schedule, w->plan, tensor) >= 0)
        st = explain(
            &e, "not written: the variant chosen computes it on its way", "");
    else if (!e.unwritten && step < 0 && computed)
        st =
            explain(&e,
                    "computed in one with other steps, by the variant that was "
                    "chosen then",
                    "");
    const char *word =
        lab_data_word_at(w->data, w->plan, tensor, index, e.shown);
    if (!st && word)
        st = explain(&e, "from the data, the word ", word);
    if (!st)
        *out = e;
    return st;
}

/* Held-back rows through the network, beside the iteration that is shown: the
 * activations go to memory of their own. */

struct tally {
    int64_t right;
    int64_t rows; /* text: characters */
    double loss;
};

static size_t tensor_end(const struct lab_plan *plan, int tensor)
{
    const struct lab_tensor *t = &plan->tensors[tensor];
    return t->offset + lab_tensor_bytes(t);
}

static size_t step_end(const struct lab_plan *plan, const struct lab_step *s)
{
    size_t end = 0;
    for (int i = 0; i < s->n_in + s->n_out; i++) {
        int t = i < s->n_in ? s->in[i] : s->out[i - s->n_in];
        if (t >= 0 && tensor_end(plan, t) > end)
            end = tensor_end(plan, t);
    }
    return end;
}

/* The bytes of an arena up to the last tensor that an evaluation reads or writes:
 * gradients are behind them, and their pages need not be made. */
static size_t eval_end(const struct lab_walk *w, int tensor)
{
    const struct lab_plan *plan = w->plan;
    const struct lab_schedule *schedule = w->schedule;
    size_t end = tensor < 0 ? 0 : tensor_end(plan, tensor);
    for (int i = 0; i < plan->n_tensors; i++) {
        if (plan->tensors[i].role == LAB_TENSOR_DATA &&
            tensor_end(plan, i) > end)
            end = tensor_end(plan, i);
    }
    for (int i = 0; i < plan->n_steps + schedule->n_steps; i++) {
        const struct lab_step *s =
            i < plan->n_steps ? &plan->steps[i]
                              : schedule->steps[i - plan->n_steps].step;
        if (s->phase <= LAB_LOSS && step_end(plan, s) > end)
            end = step_end(plan, s);
    }
    const size_t align = 256; /* as tensors have it */
    return (end + align - 1) / align * align;
}

/* Names alone: a network that answers may leave what only training reads. */
static void label_tensors(const struct lab_walk *w, void *arena, size_t bytes)
{
    for (int i = 0; i < w->plan->n_tensors; i++)
        if (tensor_end(w->plan, i) <= bytes)
            lab_backend_label(w->be, arena, w->plan->tensors[i].offset,
                              w->plan->tensors[i].name, true);
}

/* `tensor` is read afterwards, too; -1: none but those of forward and loss. */
static enum lab_status eval_memory(struct lab_walk *w, int tensor)
{
    void *arena = NULL;
    size_t bytes = eval_end(w, tensor);
    enum lab_status st =
        lab_walk_drain(w); /* what was launched is reported first */
    if (st || (w->eval_arena && bytes <= w->eval_bytes))
        return st;
    st = lab_backend_alloc(w->be, bytes, &arena);
    if (!st)
        st = load_data(w, arena, ZEROS);
    if (st) {
        lab_backend_free(w->be, arena);
        return st;
    }
    label_tensors(w, arena, bytes);
    lab_backend_free(w->be, w->eval_arena);
    w->eval_arena = arena;
    w->eval_bytes = bytes;
    return LAB_OK;
}

static enum lab_status walk_read_eval(struct lab_walk *w, int tensor, void *out)
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    return lab_backend_download(w->be, out, (char *)w->eval_arena + t->offset,
                                lab_tensor_bytes(t));
}

/* -1: one of them is NaN. */
static int walk_best_class(const void *out, enum lab_dtype dtype, int64_t row,
                           int64_t classes)
{
    if (dtype == LAB_F32)
        return (int)lab_softmax_largest((const float *)out + row * classes,
                                        classes);
    int best = 0;
    double top = lab_number_at(out, dtype, row * classes);
    if (isnan(top))
        return -1;
    for (int64_t c = 1; c < classes; c++) {
        double v = lab_number_at(out, dtype, row * classes + c);
        if (isnan(v))
            return -1;
        if (v > top) {
            top = v;
            best = (int)c;
        }
    }
    return best;
}

/* ---- sequences out of an evaluation, a symbol at a time ---- */

static int64_t example_size(const struct lab_decoder *d)
{
    return d->T_from + 2 * d->T;
}

static enum lab_status decoder_make(struct lab_decoder *d,
                                    const struct lab_plan *plan)
{
    struct lab_arena *m = &d->memory;
    const struct lab_shape *x = &plan->tensors[plan->x].shape;
    const struct lab_shape *y = &plan->tensors[plan->y].shape;
    size_t n = (size_t)plan->tensors[plan->y].count;
    size_t n_from = (size_t)plan->tensors[plan->x].count;
    d->tensor = lab_plan_tensor(plan, "decoder");
    d->T = y->dim[y->rank - 1];
    d->T_from = x->dim[x->rank - 1];
    size_t examples = (size_t)(LAB_DECODED_EXAMPLES * example_size(d));
    d->tainted = lab_arena_array(m, (size_t)plan->n_tensors, sizeof(bool));
    d->again = lab_arena_array(m, (size_t)plan->n_steps, sizeof(bool));
    d->input = lab_arena_array(m, n, sizeof(*d->input));
    d->want = lab_arena_array(m, n, sizeof(*d->want));
    d->output = lab_arena_array(m, n, sizeof(*d->output));
    d->from = lab_arena_array(m, n_from, sizeof(*d->from));
    d->example = lab_arena_array(m, examples, sizeof(*d->example));
    if (d->tainted && d->again && d->input && d->want && d->output && d->from &&
        d->example)
        return LAB_OK;
    lab_arena_release(m);
    return lab_fail(LAB_E_NOMEM, "no memory to decode");
}

/* A slice and its whole share memory. */
static bool *taint_of(struct lab_decoder *d, const struct lab_plan *plan, int t)
{
    return &d->tainted[plan->tensors[t].alias_of >= 0
                           ? plan->tensors[t].alias_of
                           : t];
}

/* The schedule may have changed since the last evaluation. */
static void find_dependent(struct lab_decoder *d, const struct lab_walk *w)
{
    const struct lab_plan *plan = w->plan;
    memset(d->tainted, 0, (size_t)plan->n_tensors * sizeof(bool));
    d->tainted[d->tensor] = true;
    for (int i = 0; i < w->schedule->n_steps; i++) {
        const struct lab_step *s = w->schedule->steps[i].step;
        d->again[i] = false;
        if (s->phase != LAB_FORWARD)
            continue;
        for (int k = 0; k < s->n_in; k++)
            d->again[i] =
                d->again[i] || (s->in[k] >= 0 && *taint_of(d, plan, s->in[k]));
        for (int k = 0; k < s->n_out && d->again[i]; k++) {
            if (s->out[k] >= 0)
                *taint_of(d, plan, s->out[k]) = true;
        }
    }
}

static enum lab_status walk_decode_begin(struct lab_walk *w)
{
    struct lab_decoder *d = &w->decoder;
    enum lab_status st = LAB_OK;
    if (!d->memory.head)
        st = decoder_make(d, w->plan);
    if (st)
        return st;
    find_dependent(d, w);
    d->rows = d->exact = d->right = 0;
    d->n_examples = 0;
    return LAB_OK;
}

static enum lab_status decode_again(struct lab_walk *w)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < w->schedule->n_steps && !st; i++) {
        if (!w->decoder.again[i])
            continue;
        st = lab_walk_look_for_stop(w);
        if (!st)
            st = walk_run_schedule_step(w, &w->schedule->steps[i],
                                        w->eval_arena, false);
    }
    return st;
}

/* Place t of every row: run, read, choose. A row that computes NaN gives -1,
 * which is no symbol; the next place reads 0 then. */
static enum lab_status report_place(struct lab_walk *w, int64_t t, void *out)
{
    struct lab_decoder *d = &w->decoder;
    const struct lab_plan *plan = w->plan;
    const struct lab_shape *shape = &plan->tensors[plan->out].shape;
    int64_t classes = shape->dim[shape->rank - 1];
    enum lab_status st = upload(w, w->eval_arena, d->tensor, d->input);
    if (!st)
        st = decode_again(w);
    if (!st)
        st = walk_read_eval(w, plan->out, out);
    for (int64_t n = 0; n < plan->batch && !st; n++) {
        int64_t at = n * d->T + t;
        int best = walk_best_class(out, plan->real, at, classes);
        d->output[at] = best;
        if (t + 1 < d->T)
            d->input[at + 1] = best < 0 ? 0 : best;
    }
    return st;
}

static void keep_example(struct lab_decoder *d, int64_t row)
{
    int32_t *to = d->example + d->n_examples++ * example_size(d);
    size_t each = (size_t)d->T * sizeof(*to);
    memcpy(to, d->from + row * d->T_from, (size_t)d->T_from * sizeof(*to));
    memcpy(to + d->T_from, d->output + row * d->T, each);
    memcpy(to + d->T_from + d->T, d->want + row * d->T, each);
}

static void count_rows(struct lab_decoder *d, int64_t rows)
{
    for (int64_t n = 0; n < rows; n++) {
        int64_t right = 0;
        for (int64_t t = 0; t < d->T; t++)
            right += d->output[n * d->T + t] == d->want[n * d->T + t];
        d->rows++;
        d->right += right;
        d->exact += right == d->T;
        if (d->n_examples < LAB_DECODED_EXAMPLES)
            keep_example(d, n);
    }
}

static enum lab_status walk_decode_batch(struct lab_walk *w, int64_t first,
                                         int64_t rows, void *out)
{
    struct lab_decoder *d = &w->decoder;
    const struct lab_plan *plan = w->plan;
    int32_t begin = lab_data_begin_id(w->data);
    enum lab_status st = LAB_OK;
    lab_data_fill_held(w->data, plan, plan->y, first, d->want);
    lab_data_fill_held(w->data, plan, plan->x, first, d->from);
    for (int64_t i = 0; i < plan->batch * d->T; i++)
        d->input[i] = i % d->T == 0 ? begin : 0;
    for (int64_t t = 0; t < d->T && !st; t++)
        st = report_place(w, t, out);
    if (!st)
        count_rows(d, rows);
    return st;
}

static void walk_decode_end(struct lab_walk *w)
{
    struct lab_decoder *d = &w->decoder;
    d->result.exact = (double)d->exact / (double)d->rows;
    d->result.right = (double)d->right / (double)(d->rows * d->T);
}

void lab_walk_decoded(const struct lab_walk *w, struct lab_decoded *out)
{
    *out = w->decoder.result;
}

static void add_symbols(const struct lab_walk *w, struct lab_str *out,
                        const int32_t *id, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        lab_str_add(out, lab_data_symbol(w->data, id[i]));
}

bool lab_walk_decoded_example(const struct lab_walk *w, int i,
                              struct lab_str *out)
{
    const struct lab_decoder *d = &w->decoder;
    if (i < 0 || i >= d->n_examples)
        return false;
    const int32_t *from = d->example + i * example_size(d);
    const int32_t *output = from + d->T_from;
    const int32_t *want = output + d->T;
    add_symbols(w, out, from, d->T_from);
    lab_str_add(out, " -> ");
    add_symbols(w, out, output, d->T);
    if (memcmp(output, want, (size_t)d->T * sizeof(*output)) != 0) {
        lab_str_add(out, ", not ");
        add_symbols(w, out, want, d->T);
    }
    return !out->failed;
}

/* ---- evaluation ---- */

/* One row of a batch: its places, but for those that an earlier row has. */
static void count_row(const struct lab_walk *w, int64_t i, int64_t row,
                      const void *out, const void *sample, struct tally *t)
{
    const struct lab_plan *plan = w->plan;
    const struct lab_tensor *scores = &plan->tensors[plan->out];
    int64_t each = plan->tensors[plan->loss_sample].count / plan->batch;
    bool text = lab_data_text(w->data) != NULL;
    int64_t places = text ? each : 1;
    int64_t classes = scores->count / plan->batch / places;
    int64_t skip = lab_data_held_skip(w->data, row);
    for (int64_t k = skip; k < places; k++) {
        int label = text ? lab_data_held_next(w->data, row, k)
                         : lab_data_held_label(w->data, row);
        t->rows++;
        if (label < 0)
            continue;
        int answer = walk_best_class(out, plan->real, i * places + k, classes);
        t->right += answer == label;
        if (w->rows.row && each == places)
            w->rows.row(w->rows.user, row, label, answer,
                        lab_number_at(sample, plan->real, i * each + k));
    }
    for (int64_t k = skip; k < each; k++)
        t->loss += lab_number_at(sample, plan->real, i * each + k) *
                   (double)places / (double)each;
}

static enum lab_status count_batch(struct lab_walk *w, int64_t first,
                                   int64_t rows, void *out, void *sample,
                                   struct tally *t)
{
    const struct lab_plan *plan = w->plan;
    enum lab_status st = walk_read_eval(w, plan->out, out);
    if (!st)
        st = walk_read_eval(w, plan->loss_sample, sample);
    for (int64_t i = 0; i < rows && !st; i++)
        count_row(w, i, first + i, out, sample, t);
    return st;
}

/* Forward, and the loss too when that is the last phase. */
static enum lab_status run_phases(struct lab_walk *w, enum lab_phase last)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < w->schedule->n_steps && !st; i++) {
        const struct lab_schedule_step *s = &w->schedule->steps[i];
        if (s->step->phase > last)
            continue;
        st = lab_walk_look_for_stop(w);
        if (!st)
            st = walk_run_schedule_step(w, s, w->eval_arena, false);
    }
    return st;
}

enum lab_status lab_walk_forward(struct lab_walk *w,
                                 const struct lab_walk_input *in, int n_in,
                                 int tensor, void *out)
{
    enum lab_status st = eval_memory(w, tensor);
    for (int i = 0; i < n_in && !st; i++) {
        st = upload(w, w->eval_arena, in[i].tensor, in[i].values);
    }
    if (!st)
        st = run_phases(w, LAB_FORWARD);
    return st ? st : walk_read_eval(w, tensor, out);
}

static enum lab_status evaluate_batch(struct lab_walk *w,
                                      const struct lab_data_facts *facts,
                                      int64_t first, int64_t end, void *out,
                                      void *sample, struct tally *t)
{
    int64_t rows = end - first;
    if (rows > facts->batch)
        rows = facts->batch;
    enum lab_status st = load_data(w, w->eval_arena, first);
    if (!st)
        st = run_phases(w, LAB_LOSS);
    if (!st)
        st = count_batch(w, first, rows, out, sample, t);
    if (!st && facts->decodes)
        st = walk_decode_batch(w, first, rows, out);
    return st;
}

/* Held-back rows first .. end-1. */
static enum lab_status evaluate(struct lab_walk *w,
                                const struct lab_data_facts *facts,
                                int64_t first, int64_t end, struct tally *t)
{
    const struct lab_plan *plan = w->plan;
    enum lab_status st = eval_memory(w, -1);
    if (!st && facts->decodes)
        st = walk_decode_begin(w);
    void *out = lab_alloc_array((size_t)plan->tensors[plan->out].count, 8);
    void *sample =
        lab_alloc_array((size_t)plan->tensors[plan->loss_sample].count, 8);
    if (!st && (!out || !sample))
        st = lab_fail(LAB_E_NOMEM, "no memory to evaluate");
    for (; first < end && !st; first += facts->batch)
        st = evaluate_batch(w, facts, first, end, out, sample, t);
    lab_free(out);
    lab_free(sample);
    return st;
}

static enum lab_status evaluate_rows(struct lab_walk *w, int64_t first,
                                     int64_t end, double *accuracy,
                                     double *loss)
{
    const struct lab_observer *o = &w->observer;
    struct lab_data_facts facts;
    struct tally t = {0};
    lab_data_get_facts(w->data, &facts);
    if (first >= end) {
        *accuracy = *loss = NAN;
        return LAB_OK;
    }
    if (o->between_begin)
        o->between_begin(o->user, "evaluation");
    bool reported = lab_walk_samples(w->evaluations++);
    if (!reported)
        walk_report_unobserved(w, true);
    enum lab_status st = evaluate(w, &facts, first, end, &t);
    if (!reported)
        walk_report_unobserved(w, false);
    if (o->between_end)
        o->between_end(o->user);
    if (st)
        return st;
    *accuracy = facts.classes > 0 ? (double)t.right / (double)t.rows : NAN;
    if (facts.decodes) {
        struct lab_decoded decoded;
        walk_decode_end(w);
        lab_walk_decoded(w, &decoded);
        *accuracy = decoded.right;
    }
    *loss = t.loss / (double)t.rows;
    return LAB_OK;
}

enum lab_status lab_walk_evaluate(struct lab_walk *w, double *accuracy,
                                  double *loss)
{
    const struct lab_observer *o = &w->observer;
    struct lab_data_facts f;
    lab_data_get_facts(w->data, &f);
    enum lab_status st = evaluate_rows(
        w, 0, f.valid_rows > 0 ? f.valid_rows : f.held_rows, accuracy, loss);
    if (!st && f.held_rows > 0 && o->evaluation)
        o->evaluation(o->user, w->iteration, *loss, *accuracy);
    return st;
}

void lab_walk_watch_rows(struct lab_walk *w, const struct lab_row_watch *watch)
{
    w->rows = watch ? *watch : (struct lab_row_watch){0};
}

enum lab_status lab_walk_test(struct lab_walk *w, double *accuracy,
                              double *loss)
{
    struct lab_data_facts f;
    lab_data_get_facts(w->data, &f);
    return evaluate_rows(w, f.valid_rows,
                         f.valid_rows > 0 ? f.held_rows : f.valid_rows,
                         accuracy, loss);
}

struct lab_view lab_walk_view(const struct lab_walk *w, int tensor)
{
    return lab_plan_view(w->plan, tensor, w->arena);
}
