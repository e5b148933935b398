/* Checking rungs, timing them, and going on when one cannot. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/quantile.h"
#include "ladder_priv.h"

enum { FLUSH_PIECES = 8, WARM_UP = 3 };

/* ---- checking ---- */

/* What the device lacks for a rung, before anything of it is called. */
static enum lab_status check_capability(const struct lab_device_info *info,
                                        const struct lab_variant *rung)
{
    int major = rung->capability / 10;
    int minor = rung->capability % 10;
    int has = info->compute_major * 10 + info->compute_minor;
    bool fits = rung->capability_only ? info->compute_major == major
                                      : has >= rung->capability;
    bool hopper = major == 9 && rung->capability_only;
    if (!fits)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "it needs a %sGPU (compute capability %d.%d%s); this "
                        "is %s (%d.%d)",
                        hopper ? "Hopper " : "", major, minor,
                        rung->capability_only ? "" : " or later", info->name,
                        has / 10, has % 10);
    if (!rung->run)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "this build has no code of it: it needs a CUDA "
                        "compiler of version 12 or later");
    return LAB_OK;
}

static enum lab_status check_tensors(struct lab_ladder_tensors *t,
                                     const struct lab_variant *rung,
                                     double *error)
{
    enum lab_status st = lab_ladder_tensors_fill(t);
    if (!st)
        st = lab_ladder_tensors_prepare(t, rung);
    if (st)
        return st;
    st = lab_ladder_tensors_run(t, rung);
    if (!st)
        st = lab_ladder_tensors_compare(t, error);
    lab_ladder_tensors_done(t, rung);
    return st;
}

static enum lab_status check_size(struct lab_backend *be,
                                  const struct lab_operation *l,
                                  const struct lab_variant *rung,
                                  struct lab_ladder_numbers *n,
                                  const char *text, double *worst)
{
    struct lab_ladder_size size;
    struct lab_ladder_tensors t;
    double error = 0;
    enum lab_status st = lab_ladder_size(l, text, strlen(text), &size);
    if (!st)
        st = lab_ladder_tensors_make(&t, be, l, &size, rung->precision, n);
    if (st)
        return st;
    st = check_tensors(&t, rung, &error);
    lab_ladder_tensors_release(&t);
    *worst = error > *worst ? error : *worst;
    return st;
}

/* A size that the rung refuses is left out, as long as it serves another. */
static enum lab_status check_rung(struct lab_backend *be,
                                  const struct lab_operation *l,
                                  const struct lab_variant *rung,
                                  struct lab_ladder_numbers *n, double *error)
{
    struct lab_device_info info;
    double worst = 0;
    int served = 0;
    lab_backend_info(be, &info);
    enum lab_status st = check_capability(&info, rung);
    enum lab_status refused = LAB_OK;
    for (int i = 0; l->checks[i] && !st; i++) {
        st = check_size(be, l, rung, n, l->checks[i], &worst);
        served += st == LAB_OK;
        if (st == LAB_E_UNSUPPORTED) {
            refused = st;
            st = LAB_OK;
        }
    }
    if (!st && served == 0)
        return refused
                   ? refused
                   : lab_fail(LAB_E_STATE, "%s has no sizes to check", l->name);
    if (!st)
        *error = worst;
    return st == LAB_E_CHECK
               ? lab_fail_context(st, "%s is wrong and is not timed",
                                  rung->name)
               : st;
}

enum lab_status lab_ladder_check(struct lab_backend *be,
                                 const struct lab_operation *l,
                                 const struct lab_variant *rung, uint64_t seed,
                                 double *error)
{
    struct lab_ladder_numbers n;
    enum lab_status st = lab_ladder_numbers_make(&n, seed);
    if (st)
        return st;
    st = check_rung(be, l, rung, &n, error);
    lab_ladder_numbers_release(&n);
    return st;
}

/* ---- timing ---- */

struct climb {
    const struct lab_ladder_run *c;
    struct lab_ladder_numbers numbers;
    void *flush; /* FLUSH_PIECES pieces to read, and one to write */
    double *ns;
    double *sorted;
    double *errors; /* of the rungs' checks; NaN: wrong, or not to be had */
    enum lab_status *states;
    char (*reasons)[LAB_LADDER_TEXT];
};

static void tell(const struct lab_ladder_run *c, const struct lab_variant *rung,
                 const struct lab_ladder_size *size)
{
    if (c->doing)
        c->doing(c->user, rung, size);
}

static bool stopped(const struct lab_ladder_run *c)
{
    return c->stop && c->stop(c->user);
}

/* Reads twice what the last cache holds, in pieces that are all written to one
 * place. A copy as long as the cache would leave it full of numbers that have
 * to be written to memory first, and a kernel that only reads would pay for
 * them: 6 of 72 microseconds for a sum of 256 MiB on an H200. */
static enum lab_status flush(const struct climb *w)
{
    const size_t piece = 2 * w->c->machine->flush_bytes / FLUSH_PIECES;
    char *at = w->flush;
    enum lab_status st = LAB_OK;
    for (int i = 0; i < FLUSH_PIECES && !st; i++)
        st = lab_backend_copy(w->c->backend, at + FLUSH_PIECES * piece,
                              at + (size_t)i * piece, piece);
    return st;
}

/* One repeat. On a GPU the copies are still running when the kernel is queued,
 * so that the time between the two events holds no waiting for the host. */
static enum lab_status time_once(struct climb *w, struct lab_ladder_tensors *t,
                                 const struct lab_variant *rung, double *out)
{
    struct lab_backend *be = w->c->backend;
    int64_t ns = 0;
    enum lab_status st = flush(w);
    if (st)
        return st;
    enum lab_status events =
        be->host_memory ? LAB_E_UNSUPPORTED : lab_backend_time_begin(be);
    int64_t start = lab_clock_monotonic_ns();
    st = lab_ladder_tensors_run(t, rung);
    if (!st && !events)
        st = lab_backend_time_end(be, &ns);
    else if (!st)
        st = lab_backend_sync(be);
    *out = (double)(events ? lab_clock_monotonic_ns() - start : ns);
    return st;
}

/* Seconds an item, or the work of a second and its share of the best. */
static void set_rate(const struct lab_ladder_run *c, struct lab_ladder_row *row)
{
    const struct lab_operation *op = c->ladder;
    double seconds = row->median_ns / 1e9;
    if (op->unit == LAB_UNIT_TIME) {
        row->rate = seconds / op->items(row->size.dim);
        return;
    }
    bool flops = op->unit == LAB_UNIT_FLOPS;
    double best = flops ? c->machine->flops[row->rung->precision]
                        : c->machine->copy_bytes_s;
    row->rate = seconds > 0 ? (flops ? row->flop : row->bytes) / seconds : NAN;
    row->share = row->rate / best;
}

static void summarize(struct climb *w, struct lab_ladder_row *row)
{
    int n = row->repeats;
    memcpy(w->sorted, w->ns, (size_t)n * sizeof(*w->ns));
    lab_sort_reals(w->sorted, (size_t)n);
    row->ns = w->ns;
    row->min_ns = w->sorted[0];
    row->quarter_ns = lab_quantile(w->sorted, (size_t)n, 0.25);
    row->median_ns = lab_quantile(w->sorted, (size_t)n, 0.5);
    row->three_quarters_ns = lab_quantile(w->sorted, (size_t)n, 0.75);
    row->max_ns = w->sorted[n - 1];
    set_rate(w->c, row);
}

static enum lab_status time_repeats(struct climb *w,
                                    struct lab_ladder_tensors *t,
                                    struct lab_ladder_row *row)
{
    const struct lab_device_info *info = &w->c->machine->info;
    enum lab_status st = lab_ladder_tensors_run(t, row->ran);
    if (!st)
        st = lab_ladder_tensors_compare(t, &row->sample_error);
    if (!st && t->n_errors > 0)
        row->error = sqrt(t->error_squares / (double)t->n_errors);
    for (int i = 1; i < WARM_UP && !st; i++)
        st = time_once(w, t, row->ran, &w->ns[0]);
    if (st)
        return st;
    lab_device_state_read(info, &row->before);
    for (int i = 0; i < w->c->repeats && !st; i++) {
        if (stopped(w->c))
            return lab_fail(LAB_E_CANCELLED, "stopped");
        st = time_once(w, t, row->ran, &w->ns[i]);
    }
    lab_device_state_read(info, &row->after);
    if (st)
        return st;
    row->repeats = w->c->repeats;
    summarize(w, row);
    return LAB_OK;
}

static enum lab_status time_rung(struct climb *w, struct lab_ladder_tensors *t,
                                 struct lab_ladder_row *row)
{
    enum lab_status st = lab_ladder_tensors_fill(t);
    if (!st)
        st = lab_ladder_tensors_prepare(t, row->ran);
    if (st)
        return st;
    st = row->ran->wrong_on_purpose ? lab_ladder_show_wrong(t, row)
                                    : time_repeats(w, t, row);
    if (!st && row->ran->note) {
        struct lab_call call = lab_ladder_tensors_call(t);
        row->ran->note(&call, &row->note);
    }
    lab_ladder_tensors_done(t, row->ran);
    return st;
}

/* ---- rows ---- */

static void start_row(const struct climb *w, int r, int s,
                      struct lab_ladder_row *row)
{
    const struct lab_ladder_run *c = w->c;
    const struct lab_device_state unknown = {NAN, NAN, NAN, NAN};
    *row = (struct lab_ladder_row){.rung = c->rungs[r],
                                   .ran = c->rungs[r],
                                   .size = c->sizes[s],
                                   .status = w->states[r],
                                   .check_error = w->errors[r],
                                   .sample_error = NAN,
                                   .error = NAN,
                                   .min_ns = NAN,
                                   .quarter_ns = NAN,
                                   .median_ns = NAN,
                                   .three_quarters_ns = NAN,
                                   .max_ns = NAN,
                                   .rate = NAN,
                                   .gain = NAN,
                                   .gain_model = NAN,
                                   .share = NAN,
                                   .note = {"", -1},
                                   .before = unknown,
                                   .after = unknown};
    row->flop = c->ladder->flop(row->size.dim);
    row->bytes = c->ladder->bytes(row->size.dim, row->rung->precision);
    row->traffic = lab_ladder_traffic(c->ladder, row->rung, &row->size);
    row->rate_model =
        lab_ladder_model(c->machine, c->ladder, row->rung, &row->size);
    memcpy(row->reason, w->reasons[r], sizeof(row->reason));
}

/* What the rung gains over the one before it: measured, and promised. The first
 * of a precision has none before it: the kernel of another precision computes
 * something else. A library's is set beside our last kernel in any case. */
static void set_gain(const struct lab_operation *op, struct lab_ladder_row *row,
                     const struct lab_ladder_row *last)
{
    bool less = op->unit == LAB_UNIT_TIME;
    if (!last->rung || (!row->rung->model.library &&
                        last->rung->precision != row->rung->precision))
        return;
    row->gain = less ? last->rate / row->rate : row->rate / last->rate;
    if (row->rung->gain > 0)
        row->gain_model = row->rung->gain;
    else
        row->gain_model = less ? last->rate_model / row->rate_model
                               : row->rate_model / last->rate_model;
}

/* The tensors of a size, for rungs of one precision after the other. */
struct room {
    struct lab_ladder_tensors t;
    enum lab_status status;
    bool made;
    char why[LAB_LADDER_TEXT];
};

static void make_tensors(struct climb *w, int s, enum lab_precision p,
                         struct room *room)
{
    const struct lab_ladder_run *c = w->c;
    if (room->made && room->t.precision == p)
        return;
    lab_ladder_tensors_release(&room->t);
    room->status = lab_ladder_has_room(c->backend, &c->machine->info, c->ladder,
                                       &c->sizes[s], p);
    if (!room->status)
        room->status = lab_ladder_tensors_make(&room->t, c->backend, c->ladder,
                                               &c->sizes[s], p, &w->numbers);
    snprintf(room->why, sizeof(room->why), "%s",
             room->status ? lab_error() : "");
    room->t.precision = p;
    room->made = true;
}

/* The row that is run for a tuned rung is checked too, and its model counts. */
static enum lab_status find_stand_in(struct climb *w,
                                     struct lab_ladder_row *row)
{
    const struct lab_ladder_run *c = w->c;
    if (!row->rung->tuned || !c->resolve_tuned)
        return LAB_OK;
    const struct lab_variant *found =
        c->resolve_tuned(c->user, row->rung, &row->size, &row->note);
    if (!found)
        return LAB_OK;
    row->ran = found;
    row->traffic = lab_ladder_traffic(c->ladder, found, &row->size);
    row->rate_model =
        lab_ladder_model(c->machine, c->ladder, found, &row->size);
    return check_rung(c->backend, c->ladder, found, &w->numbers,
                      &row->check_error);
}

/* The row of one rung; `last` is the one that it is compared with. */
static enum lab_status climb_rung(struct climb *w, int r, int s,
                                  struct room *room,
                                  struct lab_ladder_row *last)
{
    struct lab_ladder_row row;
    start_row(w, r, s, &row);
    if (!row.status) {
        tell(w->c, row.rung, &row.size);
        make_tensors(w, s, row.rung->precision, room);
        row.status = room->status;
        snprintf(row.reason, sizeof(row.reason), "%s", room->why);
    }
    if (!row.status) {
        row.status = find_stand_in(w, &row);
        if (!row.status)
            row.status = time_rung(w, &room->t, &row);
        if (row.status == LAB_E_CANCELLED)
            return row.status;
        if (row.status)
            snprintf(row.reason, sizeof(row.reason), "%s", lab_error());
    }
    if (!row.status) {
        set_gain(w->c->ladder, &row, last);
        if (!row.rung->model.library)
            *last = row;
    }
    return w->c->row(w->c->user, &row);
}

static enum lab_status climb_size(struct climb *w, int s)
{
    const struct lab_ladder_run *c = w->c;
    struct room room = {.t = {.be = c->backend}};
    struct lab_ladder_row last = {.rung = NULL};
    enum lab_status st = LAB_OK;
    for (int r = 0; r < c->n_rungs && !st; r++)
        st = stopped(c) ? lab_fail(LAB_E_CANCELLED, "stopped")
                        : climb_rung(w, r, s, &room, &last);
    lab_ladder_tensors_release(&room.t);
    return st;
}

static enum lab_status check_rungs(struct climb *w)
{
    const struct lab_ladder_run *c = w->c;
    for (int r = 0; r < c->n_rungs; r++) {
        w->errors[r] = NAN;
        if (stopped(c))
            return lab_fail(LAB_E_CANCELLED, "stopped");
        tell(c, c->rungs[r], NULL);
        if (c->rungs[r]->wrong_on_purpose)
            w->states[r] = check_capability(&c->machine->info, c->rungs[r]);
        else
            w->states[r] = check_rung(c->backend, c->ladder, c->rungs[r],
                                      &w->numbers, &w->errors[r]);
        if (w->states[r])
            snprintf(w->reasons[r], sizeof(w->reasons[r]), "%s%s%s",
                     lab_error(), c->rungs[r]->needs ? "; it needs " : "",
                     c->rungs[r]->needs ? c->rungs[r]->needs : "");
    }
    return LAB_OK;
}

static enum lab_status make_room(struct climb *w)
{
    const struct lab_ladder_run *c = w->c;
    size_t rungs = (size_t)c->n_rungs;
    w->ns = lab_alloc_array((size_t)c->repeats, sizeof(*w->ns));
    w->sorted = lab_alloc_array((size_t)c->repeats, sizeof(*w->sorted));
    w->errors = lab_alloc_array(rungs, sizeof(*w->errors));
    w->states = lab_alloc_array(rungs, sizeof(*w->states));
    w->reasons = lab_alloc_array(rungs, sizeof(*w->reasons));
    if (!w->ns || !w->sorted || !w->errors || !w->states || !w->reasons)
        return lab_fail(LAB_E_NOMEM, "no memory for a lab's times");
    enum lab_status st = lab_ladder_numbers_make(&w->numbers, c->seed);
    if (!st)
        st = lab_backend_alloc(c->backend,
                               2 * c->machine->flush_bytes / FLUSH_PIECES *
                                   (FLUSH_PIECES + 1),
                               &w->flush);
    return st;
}

enum lab_status lab_ladder_run(const struct lab_ladder_run *climb)
{
    struct climb w = {.c = climb};
    enum lab_status st = make_room(&w);
    if (!st)
        st = check_rungs(&w);
    for (int s = 0; s < climb->n_sizes && !st; s++)
        st = climb_size(&w, s);
    if (w.flush)
        lab_backend_free(climb->backend, w.flush);
    lab_ladder_numbers_release(&w.numbers);
    lab_free(w.ns);
    lab_free(w.sorted);
    lab_free(w.errors);
    lab_free(w.states);
    lab_free(w.reasons);
    return st;
}
