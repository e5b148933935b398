#include "engine/walk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "walk_priv.h"

/* have: what the device has, 0: it has no room left for an unknown reason. */
static enum lab_status too_large(const struct lab_plan *plan, int64_t have)
{
    const struct lab_tensor *large = &plan->tensors[0];
    char shape[LAB_SHAPE_TEXT];
    char room[64] = "there is no room for them";
    for (int i = 1; i < plan->n_tensors; i++) {
        if (plan->tensors[i].count > large->count)
            large = &plan->tensors[i];
    }
    if (have > 0)
        snprintf(room, sizeof(room), "the device has %.1f MiB",
                 (double)have / 1048576.0);
    return lab_fail(have > 0 ? LAB_E_RANGE : LAB_E_NOMEM,
                    "the lesson's tensors need %.1f MiB and %s; the largest "
                    "is %s %s: make it or the batch smaller",
                    (double)plan->arena_bytes / 1048576.0, room, large->name,
                    lab_shape_text(&large->shape, shape));
}

static enum lab_status alloc_tables(struct lab_walk *w)
{
    const struct lab_plan *plan = w->plan;
    size_t steps = (size_t)plan->n_steps;
    size_t tensors = (size_t)plan->n_tensors;
    size_t most = 1;
    for (int i = 0; i < plan->n_tensors; i++) {
        const struct lab_tensor *t = &plan->tensors[i];
        size_t bytes = (size_t)t->count * lab_dtype_bytes(t->dtype);
        bool staged = t->role == LAB_TENSOR_DATA || t->persistent;
        if (staged && bytes > most)
            most = bytes;
    }
    w->step_exec = lab_alloc_array(steps, sizeof(*w->step_exec));
    w->step_ns = lab_alloc_array(steps, sizeof(*w->step_ns));
    w->step_ran = lab_alloc_array(steps, sizeof(*w->step_ran));
    w->written = lab_alloc_array(tensors, sizeof(*w->written));
    w->generation = lab_alloc_array(tensors, sizeof(*w->generation));
    w->staging = lab_alloc(most);
    if (!w->step_exec || !w->step_ns || !w->step_ran || !w->written ||
        !w->generation || !w->staging)
        return lab_fail(LAB_E_NOMEM, "no memory for the stepper");
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
    size_t each = w->plan->persistent_bytes ? w->plan->persistent_bytes : 1;
    size_t fit = copies_budget / each;
    w->n_copies = fit > LAB_WALK_COPIES ? LAB_WALK_COPIES : (int)fit;
    if (w->n_copies < 2)
        w->n_copies = 2;
    return st;
}

enum lab_status lab_walk_new(struct lab_walk **out, const struct lab_plan *plan,
                             struct lab_backend *be, struct lab_data *data)
{
    struct lab_walk *w = lab_alloc(sizeof(*w));
    if (!w)
        return lab_fail(LAB_E_NOMEM, "no memory for the stepper");
    w->plan = plan;
    w->be = be;
    w->open_phase = w->open_node = -1;
    w->speed.data_of = -1;
    for (int i = 0; i < LAB_WALK_COPIES; i++)
        w->copy[i].iteration = -1;
    enum lab_status st = check_size(w);
    if (!st)
        st = alloc_tables(w);
    if (!st)
        st = alloc_device(w);
    if (!st)
        st = lab_schedule_make(&w->schedule, plan, be, NULL, 0);
    if (!st)
        st = lab_walk_reserve_switch(w);
    w->data = data;
    if (!st)
        st = lab_walk_restart(w);
    if (st) {
        w->data = NULL; /* the caller keeps both */
        struct lab_backend *kept = be;
        for (int i = 0; i < LAB_WALK_COPIES; i++)
            lab_backend_free(kept, w->copy[i].memory);
        lab_backend_free(kept, w->arena);
        w->arena = NULL;
        w->be = NULL;
        memset(w->copy, 0, sizeof(w->copy));
        lab_walk_free(w);
        return st;
    }
    *out = w;
    return LAB_OK;
}

void lab_walk_free(struct lab_walk *w)
{
    if (!w)
        return;
    lab_walk_speed_release(w);
    for (int i = 0; i < LAB_WALK_COPIES; i++)
        lab_backend_free(w->be, w->copy[i].memory);
    lab_backend_free(w->be, w->arena);
    lab_backend_free(w->be, w->eval_arena);
    lab_decoder_free(w->decoder);
    lab_backend_close(w->be);
    lab_data_free(w->data);
    lab_schedule_release(w->schedule);
    lab_walk_forget_switches(w);
    lab_free(w->switches);
    lab_free(w->step_exec);
    lab_free(w->step_ns);
    lab_free(w->step_ran);
    lab_free(w->written);
    lab_free(w->generation);
    lab_free(w->staging);
    lab_free(w);
}

enum lab_status lab_walk_observe(struct lab_walk *w,
                                 const struct lab_observer *o)
{
    if (w->n_observers == LAB_MAX_OBSERVERS)
        return lab_fail(LAB_E_ARG, "at most %d observers", LAB_MAX_OBSERVERS);
    w->observers[w->n_observers++] = *o;
    return LAB_OK;
}

void lab_walk_time_with_events(struct lab_walk *w, bool on)
{
    w->use_events = on;
}

void lab_walk_stop_when(struct lab_walk *w, const struct lab_stop *stop)
{
    w->stop = *stop;
}

enum lab_status lab_walk_look_for_stop(const struct lab_walk *w)
{
    return lab_stop_asked(&w->stop) ? lab_fail(LAB_E_CANCELLED, "stopped")
                                    : LAB_OK;
}

enum lab_status lab_walk_choose(struct lab_walk *w,
                                const struct lab_variant_choice *choices, int n)
{
    struct lab_schedule *next;
    enum lab_status st = lab_walk_drain(w);
    if (!st)
        st = lab_walk_reserve_switch(w);
    if (!st)
        st = lab_schedule_make(&next, w->plan, w->be, choices, n);
    if (st)
        return st;
    int position = lab_walk_position_of(next, lab_walk_place(w).at);
    /* A group that has run in part: its steps have not run. */
    int at = lab_walk_plan_step(w, next, position);
    while (!st && w->position > 0 &&
           w->schedule->steps[w->position - 1].hides_from >= at) {
        st = lab_walk_need_copy(w); /* at speed none was kept */
        if (!st)
            st = lab_walk_undo(w, --w->position);
    }
    if (st) {
        lab_schedule_release(next);
        return st;
    }
    next = lab_walk_share_schedule(w, next);
    lab_schedule_release(w->schedule);
    w->schedule = next;
    w->position = position;
    lab_walk_note_schedule(w);
    return LAB_OK;
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
    *exec = w->step_exec[at];
    *time_ns = w->step_ns[at];
}

const char *lab_walk_step_ran(const struct lab_walk *w, int i)
{
    int at = w->schedule->steps[i].hides_from;
    return w->step_exec[at] > 0 && w->step_ran[at] ? w->step_ran[at]->name
                                                   : NULL;
}

static bool writes(const struct lab_step *s, int tensor)
{
    for (int i = 0; i < s->n_out; i++) {
        if (s->out[i] == tensor)
            return true;
    }
    return false;
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

enum lab_status lab_walk_begin(struct lab_walk *w)
{
    enum lab_status st = lab_walk_drain(w);
    if (st || !lab_walk_at_end(w))
        return st;
    return lab_walk_next_iteration(w, true);
}

enum lab_status lab_walk_step(struct lab_walk *w)
{
    enum lab_status st = lab_walk_begin(w);
    if (st)
        return st;
    st = lab_walk_run_at(w, w->position, true);
    if (st)
        return st;
    w->position++;
    return lab_walk_at_end(w) ? lab_walk_finish_iteration(w) : LAB_OK;
}

enum lab_status lab_walk_sync(struct lab_walk *w)
{
    enum lab_status st = lab_backend_sync(w->be);
    if (!st)
        st = lab_walk_drain(w);
    for (int i = 0; i < w->n_observers && !st && !w->muted; i++) {
        if (w->observers[i].synced)
            w->observers[i].synced(w->observers[i].user);
    }
    return st;
}

static enum lab_status device_address(struct lab_walk *w, int tensor, bool old,
                                      const void **out)
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    const char *base = w->arena;
    if (old && t->persistent) {
        enum lab_status st = lab_walk_need_copy(w);
        if (st)
            return st;
        base = lab_walk_copy_of(w, w->iteration)->memory;
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
              : lab_backend_download(w->be, out, from,
                                     (size_t)t->count *
                                         lab_dtype_bytes(t->dtype));
}

enum lab_status lab_walk_write(struct lab_walk *w, int tensor, const void *in)
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    w->generation[tensor]++;
    if (t->role == LAB_TENSOR_DATA)
        w->speed.data_of = -1;
    return lab_backend_upload(w->be, (char *)w->arena + t->offset, in,
                              (size_t)t->count * lab_dtype_bytes(t->dtype));
}

/* ---- explanations: tensors are read whole, once each ---- */

struct reader {
    struct lab_walk *w;
    void *owned[2 * (LAB_STEP_IN + LAB_STEP_OUT)];
    int n;
};

static enum lab_status read_for_explain(void *user, int tensor, bool old,
                                        const void **data)
{
    struct reader *r = user;
    const struct lab_tensor *t = &r->w->plan->tensors[tensor];
    if (r->w->be->host_memory)
        return device_address(r->w, tensor, old, data);
    void *copy = lab_alloc_array((size_t)t->count, lab_dtype_bytes(t->dtype));
    if (!copy)
        return lab_fail(LAB_E_NOMEM, "no memory to read %s", t->name);
    enum lab_status st = lab_walk_read(r->w, tensor, old, copy);
    if (st) {
        lab_free(copy);
        return st;
    }
    r->owned[r->n++] = copy;
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

/* Takes `text`, the right-hand side from now on. */
static enum lab_status say(struct lab_explanation *e, char *text)
{
    if (!text) {
        lab_explanation_release(e);
        return lab_fail(LAB_E_NOMEM, "no memory to explain");
    }
    lab_free(e->symbolic);
    e->symbolic = text;
    return LAB_OK;
}

static enum lab_status say_instead(struct lab_explanation *e, const char *what)
{
    return say(e, lab_strdup(what));
}

static enum lab_status say_word(struct lab_explanation *e, const char *word)
{
    struct lab_str s;
    lab_str_init(&s);
    lab_str_addf(&s, "from the data, the word %s", word);
    return say(e, lab_str_detach(&s));
}

enum lab_status lab_walk_explain(struct lab_walk *w, int tensor, int64_t index,
                                 struct lab_explanation *out)
{
    struct reader r = {.w = w};
    struct lab_explanation e;
    int from = tensor;
    int64_t at = index;
    if (tensor >= 0 && tensor < w->plan->n_tensors)
        lab_walk_find_written(w, &from, &at);
    int step = explaining_step(w, from);
    enum lab_status st = lab_explain(
        &e, w->plan, step >= 0 ? w->schedule->steps[step].step : NULL, tensor,
        index, w->iteration, read_for_explain, &r);
    for (int i = 0; i < r.n; i++)
        lab_free(r.owned[i]);
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
        st = say_instead(&e, "not written: the variant chosen computes it on "
                             "its way");
    else if (!e.unwritten && step < 0 && computed)
        st = say_instead(&e, "computed in one with other steps, by the variant "
                             "that was chosen then");
    const char *word =
        lab_data_word_at(w->data, w->plan, tensor, index, e.shown);
    if (!st && word)
        st = say_word(&e, word);
    if (!st)
        *out = e;
    return st;
}
