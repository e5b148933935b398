#include "engine/decode.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "walk_priv.h"

struct lab_decoder {
    int tensor;     /* the decoder's input, i32 [N,T] */
    bool *again;    /* by schedule step: it depends on that input */
    bool *tainted;  /* by tensor */
    int32_t *input; /* N*T: what it reads, and in the end its answers */
    int32_t *want;  /* N*T: y */
    int32_t *said;  /* N*T */
    int32_t *from;  /* N*T of x, or fewer */
    int64_t T;
    int64_t T_from;
    int64_t rows; /* so far */
    int64_t exact;
    int64_t right;
    struct lab_decoded result;
    int n_examples;
    int32_t *example; /* LAB_DECODED_EXAMPLES of x, said, y */
};

void lab_decoder_free(struct lab_decoder *d)
{
    if (!d)
        return;
    lab_free(d->again);
    lab_free(d->tainted);
    lab_free(d->input);
    lab_free(d->want);
    lab_free(d->said);
    lab_free(d->from);
    lab_free(d->example);
    lab_free(d);
}

static int64_t example_size(const struct lab_decoder *d)
{
    return d->T_from + 2 * d->T;
}

static struct lab_decoder *decoder_new(const struct lab_plan *plan)
{
    struct lab_decoder *d = lab_alloc(sizeof(*d));
    if (!d)
        return NULL;
    d->tensor = lab_plan_tensor(plan, "decoder");
    const struct lab_shape *x = &plan->tensors[plan->x].shape;
    const struct lab_shape *y = &plan->tensors[plan->y].shape;
    size_t n = (size_t)plan->tensors[plan->y].count;
    d->T = y->dim[y->rank - 1];
    d->T_from = x->dim[x->rank - 1];
    d->result = (struct lab_decoded){NAN, NAN};
    d->tainted = lab_alloc_array((size_t)plan->n_tensors, sizeof(bool));
    d->again = lab_alloc_array((size_t)plan->n_steps, sizeof(bool));
    d->input = lab_alloc_array(n, sizeof(*d->input));
    d->want = lab_alloc_array(n, sizeof(*d->want));
    d->said = lab_alloc_array(n, sizeof(*d->said));
    d->from =
        lab_alloc_array((size_t)plan->tensors[plan->x].count, sizeof(*d->from));
    d->example = lab_alloc_array(
        (size_t)(LAB_DECODED_EXAMPLES * example_size(d)), sizeof(*d->example));
    if (d->tainted && d->again && d->input && d->want && d->said && d->from &&
        d->example)
        return d;
    lab_decoder_free(d);
    return NULL;
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

enum lab_status lab_walk_decode_begin(struct lab_walk *w)
{
    const struct lab_plan *plan = w->plan;
    if (!w->decoder)
        w->decoder = decoder_new(plan);
    struct lab_decoder *d = w->decoder;
    if (!d)
        return lab_fail(LAB_E_NOMEM, "no memory to decode");
    find_dependent(d, w);
    d->rows = d->exact = d->right = 0;
    d->n_examples = 0;
    return LAB_OK;
}

static enum lab_status run_again(struct lab_walk *w)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < w->schedule->n_steps && !st; i++) {
        if (!w->decoder->again[i])
            continue;
        st = lab_walk_look_for_stop(w);
        if (!st)
            st = lab_walk_run_schedule_step(w, &w->schedule->steps[i],
                                            w->eval_arena, false);
    }
    return st;
}

/* Place t of every row: run, read, choose. A row that computes NaN says -1,
 * which is no symbol; the next place reads 0 then. */
static enum lab_status say_place(struct lab_walk *w, int64_t t, void *out)
{
    struct lab_decoder *d = w->decoder;
    const struct lab_plan *plan = w->plan;
    const struct lab_tensor *in = &plan->tensors[d->tensor];
    const struct lab_shape *shape = &plan->tensors[plan->out].shape;
    int64_t classes = shape->dim[shape->rank - 1];
    enum lab_status st =
        lab_backend_upload(w->be, (char *)w->eval_arena + in->offset, d->input,
                           (size_t)in->count * sizeof(*d->input));
    if (!st)
        st = run_again(w);
    if (!st)
        st = lab_walk_read_eval(w, plan->out, out);
    for (int64_t n = 0; n < plan->batch && !st; n++) {
        int64_t at = n * d->T + t;
        int best = lab_walk_best_class(out, plan->real, at, classes);
        d->said[at] = best;
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
    memcpy(to + d->T_from, d->said + row * d->T, each);
    memcpy(to + d->T_from + d->T, d->want + row * d->T, each);
}

static void count_rows(struct lab_decoder *d, int64_t rows)
{
    for (int64_t n = 0; n < rows; n++) {
        int64_t right = 0;
        for (int64_t t = 0; t < d->T; t++)
            right += d->said[n * d->T + t] == d->want[n * d->T + t];
        d->rows++;
        d->right += right;
        d->exact += right == d->T;
        if (d->n_examples < LAB_DECODED_EXAMPLES)
            keep_example(d, n);
    }
}

enum lab_status lab_walk_decode_batch(struct lab_walk *w, int64_t first,
                                      int64_t rows, void *out)
{
    struct lab_decoder *d = w->decoder;
    const struct lab_plan *plan = w->plan;
    int32_t begin = lab_data_begin_id(w->data);
    enum lab_status st = LAB_OK;
    lab_data_fill_held(w->data, plan, plan->y, first, d->want);
    lab_data_fill_held(w->data, plan, plan->x, first, d->from);
    for (int64_t i = 0; i < plan->batch * d->T; i++)
        d->input[i] = i % d->T == 0 ? begin : 0;
    for (int64_t t = 0; t < d->T && !st; t++)
        st = say_place(w, t, out);
    if (!st)
        count_rows(d, rows);
    return st;
}

void lab_walk_decode_end(struct lab_walk *w)
{
    struct lab_decoder *d = w->decoder;
    d->result.exact = (double)d->exact / (double)d->rows;
    d->result.right = (double)d->right / (double)(d->rows * d->T);
}

void lab_walk_decoded(const struct lab_walk *w, struct lab_decoded *out)
{
    *out = (struct lab_decoded){NAN, NAN};
    if (w->decoder)
        *out = w->decoder->result;
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
    const struct lab_decoder *d = w->decoder;
    if (!d || i < 0 || i >= d->n_examples)
        return false;
    const int32_t *from = d->example + i * example_size(d);
    const int32_t *said = from + d->T_from;
    const int32_t *want = said + d->T;
    add_symbols(w, out, from, d->T_from);
    lab_str_add(out, " -> ");
    add_symbols(w, out, said, d->T);
    if (memcmp(said, want, (size_t)d->T * sizeof(*said)) != 0) {
        lab_str_add(out, ", not ");
        add_symbols(w, out, want, d->T);
    }
    return !out->failed;
}
