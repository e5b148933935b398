/* Held-back rows through the network, beside the iteration that is shown: the
 * activations go to memory of their own. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "walk_priv.h"

struct tally {
    int64_t right;
    int64_t rows; /* text: characters */
    double loss;
};

/* Data tensors begin as zeros: ids must be within the vocabulary. */
static enum lab_status clear_data(struct lab_walk *w, char *arena)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < w->plan->n_tensors && !st; i++) {
        const struct lab_tensor *t = &w->plan->tensors[i];
        size_t bytes = (size_t)t->count * lab_dtype_bytes(t->dtype);
        if (t->role != LAB_TENSOR_DATA)
            continue;
        memset(w->staging, 0, bytes);
        st = lab_backend_upload(w->be, arena + t->offset, w->staging, bytes);
    }
    return st;
}

static enum lab_status eval_memory(struct lab_walk *w)
{
    void *arena = NULL;
    enum lab_status st =
        lab_walk_drain(w); /* what was launched is told first */
    if (st || w->eval_arena)
        return st;
    st = lab_backend_alloc(w->be, w->plan->arena_bytes, &arena);
    if (!st)
        st = clear_data(w, arena);
    if (st)
        lab_backend_free(w->be, arena);
    else
        w->eval_arena = arena;
    return st;
}

enum lab_status lab_walk_load_held(struct lab_walk *w, int64_t first)
{
    for (int i = 0; i < w->plan->n_tensors; i++) {
        const struct lab_tensor *t = &w->plan->tensors[i];
        if (t->role != LAB_TENSOR_DATA)
            continue;
        lab_data_fill_held(w->data, w->plan, i, first, w->staging);
        enum lab_status st = lab_backend_upload(
            w->be, (char *)w->eval_arena + t->offset, w->staging,
            (size_t)t->count * lab_dtype_bytes(t->dtype));
        if (st)
            return st;
    }
    return LAB_OK;
}

enum lab_status lab_walk_read_eval(struct lab_walk *w, int tensor, void *out)
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    return lab_backend_download(w->be, out, (char *)w->eval_arena + t->offset,
                                (size_t)t->count * lab_dtype_bytes(t->dtype));
}

int lab_walk_best_class(const void *out, enum lab_dtype dtype, int64_t row,
                        int64_t classes)
{
    int best = 0;
    double top = lab_element_value(out, dtype, row * classes);
    if (isnan(top))
        return -1;
    for (int64_t c = 1; c < classes; c++) {
        double v = lab_element_value(out, dtype, row * classes + c);
        if (isnan(v))
            return -1;
        if (v > top) {
            top = v;
            best = (int)c;
        }
    }
    return best;
}

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
        t->right +=
            label >= 0 && lab_walk_best_class(out, plan->real, i * places + k,
                                              classes) == label;
    }
    for (int64_t k = skip; k < each; k++)
        t->loss += lab_element_value(sample, plan->real, i * each + k) *
                   (double)places / (double)each;
}

static enum lab_status count_batch(struct lab_walk *w, int64_t first,
                                   int64_t rows, void *out, void *sample,
                                   struct tally *t)
{
    const struct lab_plan *plan = w->plan;
    enum lab_status st = lab_walk_read_eval(w, plan->out, out);
    if (!st)
        st = lab_walk_read_eval(w, plan->loss_sample, sample);
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
            st = lab_walk_run_schedule_step(w, s, w->eval_arena, false);
    }
    return st;
}

enum lab_status lab_walk_forward(struct lab_walk *w,
                                 const struct lab_walk_input *in, int n_in,
                                 int tensor, void *out)
{
    enum lab_status st = eval_memory(w);
    for (int i = 0; i < n_in && !st; i++) {
        const struct lab_tensor *t = &w->plan->tensors[in[i].tensor];
        st = lab_backend_upload(w->be, (char *)w->eval_arena + t->offset,
                                in[i].values,
                                (size_t)t->count * lab_dtype_bytes(t->dtype));
    }
    if (!st)
        st = run_phases(w, LAB_FORWARD);
    return st ? st : lab_walk_read_eval(w, tensor, out);
}

static enum lab_status evaluate_batch(struct lab_walk *w,
                                      const struct lab_data_facts *facts,
                                      int64_t first, void *out, void *sample,
                                      struct tally *t)
{
    int64_t rows = facts->held_rows - first;
    if (rows > facts->batch)
        rows = facts->batch;
    enum lab_status st = lab_walk_load_held(w, first);
    if (!st)
        st = run_phases(w, LAB_LOSS);
    if (!st)
        st = count_batch(w, first, rows, out, sample, t);
    if (!st && facts->decodes)
        st = lab_walk_decode_batch(w, first, rows, out);
    return st;
}

static enum lab_status evaluate(struct lab_walk *w,
                                const struct lab_data_facts *facts,
                                struct tally *t)
{
    const struct lab_plan *plan = w->plan;
    enum lab_status st = eval_memory(w);
    if (!st && facts->decodes)
        st = lab_walk_decode_begin(w);
    void *out = lab_alloc_array((size_t)plan->tensors[plan->out].count, 8);
    void *sample =
        lab_alloc_array((size_t)plan->tensors[plan->loss_sample].count, 8);
    if (!st && (!out || !sample))
        st = lab_fail(LAB_E_NOMEM, "no memory to evaluate");
    for (int64_t first = 0; first < facts->held_rows && !st;
         first += facts->batch)
        st = evaluate_batch(w, facts, first, out, sample, t);
    lab_free(out);
    lab_free(sample);
    return st;
}

enum lab_status lab_walk_evaluate(struct lab_walk *w, double *accuracy,
                                  double *loss)
{
    struct lab_data_facts facts;
    struct tally t = {0};
    lab_data_get_facts(w->data, &facts);
    if (facts.held_rows == 0) {
        *accuracy = *loss = NAN;
        return LAB_OK;
    }
    for (int i = 0; i < w->n_observers; i++) {
        if (w->observers[i].between_begin)
            w->observers[i].between_begin(w->observers[i].user, "evaluation");
    }
    bool told = lab_walk_samples(w->evaluations++);
    if (!told)
        lab_walk_report_unobserved(w, true);
    enum lab_status st = evaluate(w, &facts, &t);
    if (!told)
        lab_walk_report_unobserved(w, false);
    for (int i = 0; i < w->n_observers; i++) {
        if (w->observers[i].between_end)
            w->observers[i].between_end(w->observers[i].user);
    }
    if (st)
        return st;
    *accuracy = facts.classes > 0 ? (double)t.right / (double)t.rows : NAN;
    if (facts.decodes) {
        struct lab_decoded decoded;
        lab_walk_decode_end(w);
        lab_walk_decoded(w, &decoded);
        *accuracy = decoded.right;
    }
    *loss = t.loss / (double)t.rows;
    for (int i = 0; i < w->n_observers; i++) {
        if (w->observers[i].evaluation)
            w->observers[i].evaluation(w->observers[i].user, w->iteration,
                                       *loss, *accuracy);
    }
    return LAB_OK;
}
