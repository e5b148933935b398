/* Tensors of a ladder: numbers in, numbers out, and whether they are right. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ladder_priv.h"
#include "random.h"

enum {
    GUARD = 256, /* floats before and after: keeps the alignment */
    CHUNK = 1 << 20,
    ALL_UP_TO = 1 << 17, /* elements: all are compared */
    SAMPLES = 64
};
static const uint32_t GUARD_WORD = 0x5afe5afeu;
static const uint32_t POISON = 0x7fc0dead; /* a NaN */

enum lab_status lab_ladder_numbers_make(struct lab_ladder_numbers *out,
                                        uint64_t seed)
{
    float *p = lab_alloc_array(LAB_LADDER_PERIOD, sizeof(*p));
    if (!p)
        return lab_fail(LAB_E_NOMEM, "no memory for random numbers");
    for (uint64_t i = 0; i < LAB_LADDER_PERIOD; i++)
        p[i] = lab_random_unit(lab_random_word(seed, 0, 0, i)) - 0.5f;
    out->period = p;
    return LAB_OK;
}

void lab_ladder_numbers_release(struct lab_ladder_numbers *numbers)
{
    lab_free(numbers->period);
    numbers->period = NULL;
}

/* Each tensor starts somewhere else in the period. */
static int64_t place(int tensor, int64_t i)
{
    return (i + (int64_t)tensor * 333667) % LAB_LADDER_PERIOD;
}

static double number(const struct lab_ladder_numbers *n, int tensor, int64_t i)
{
    return (double)n->period[place(tensor, i)];
}

/* ---- memory ---- */

static bool is_saxpy(const struct lab_ladder *l)
{
    return strcmp(l->name, "saxpy") == 0;
}

static int inputs_of(const struct lab_ladder *l)
{
    return strcmp(l->name, "vector_add") == 0 || strcmp(l->name, "gemm") == 0
               ? 2
               : 1;
}

enum lab_status lab_ladder_tensors_make(struct lab_ladder_tensors *t,
                                        struct lab_backend *be,
                                        const struct lab_ladder *ladder,
                                        const struct lab_ladder_size *size,
                                        const struct lab_ladder_numbers *n)
{
    enum lab_status st = LAB_OK;
    *t = (struct lab_ladder_tensors){.be = be,
                                     .ladder = ladder,
                                     .size = size,
                                     .numbers = n,
                                     .n_in = inputs_of(ladder)};
    for (int k = 0; k < LAB_LADDER_TENSORS && !st; k++) {
        struct lab_view *v = &t->view[k];
        v->dim[1] = 1;
        v->rank = lab_ladder_tensor_shape(ladder, size, k, v->dim);
        if (v->rank == 0)
            break;
        v->dtype = LAB_F32;
        v->count = v->dim[0] * v->dim[1];
        t->n_out += k >= t->n_in;
        size_t floats = (size_t)v->count + 2 * (size_t)GUARD;
        st = lab_backend_alloc(be, floats * sizeof(float), &t->memory[k]);
        if (!st)
            v->data = (char *)t->memory[k] + GUARD * sizeof(float);
    }
    if (st)
        lab_ladder_tensors_release(t);
    return st;
}

void lab_ladder_tensors_release(struct lab_ladder_tensors *t)
{
    for (int k = 0; k < LAB_LADDER_TENSORS; k++) {
        if (t->memory[k])
            lab_backend_free(t->be, t->memory[k]);
        t->memory[k] = NULL;
    }
}

/* ---- filling ---- */

static enum lab_status fill_words(struct lab_backend *be, char *to,
                                  int64_t count, uint32_t word)
{
    enum lab_status st = LAB_OK;
    int64_t most = count < CHUNK ? count : CHUNK;
    uint32_t *host = lab_alloc_array((size_t)most, sizeof(*host));
    if (!host)
        return lab_fail(LAB_E_NOMEM, "no memory to fill a tensor");
    for (int64_t i = 0; i < most; i++)
        host[i] = word;
    for (int64_t at = 0; at < count && !st; at += most) {
        size_t n = (size_t)(count - at < most ? count - at : most);
        st = lab_backend_upload(be, to + at * 4, host, n * sizeof(*host));
    }
    if (!st)
        st = lab_backend_sync(be);
    lab_free(host);
    return st;
}

static enum lab_status fill_numbers(const struct lab_ladder_tensors *t, int k)
{
    const struct lab_view *v = &t->view[k];
    enum lab_status st = LAB_OK;
    for (int64_t at = 0; at < v->count && !st;) {
        int64_t from = place(k, at);
        int64_t n = LAB_LADDER_PERIOD - from;
        if (n > v->count - at)
            n = v->count - at;
        st = lab_backend_upload(t->be, (char *)v->data + at * 4,
                                t->numbers->period + from,
                                (size_t)n * sizeof(float));
        at += n;
    }
    return st;
}

enum lab_status lab_ladder_tensors_fill(struct lab_ladder_tensors *t)
{
    enum lab_status st = LAB_OK;
    for (int k = 0; k < t->n_in + t->n_out && !st; k++) {
        const struct lab_view *v = &t->view[k];
        char *start = t->memory[k];
        st = fill_words(t->be, start, GUARD, GUARD_WORD);
        if (!st)
            st = fill_words(t->be, start + (GUARD + v->count) * 4, GUARD,
                            GUARD_WORD);
        if (!st && (k < t->n_in || is_saxpy(t->ladder)))
            st = fill_numbers(t, k);
        else if (!st)
            st = fill_words(t->be, v->data, v->count, POISON);
    }
    return st ? st : lab_backend_sync(t->be);
}

enum lab_status lab_ladder_tensors_run(struct lab_ladder_tensors *t,
                                       const struct lab_rung *rung)
{
    const struct lab_variant variant = {.name = rung->name, .run = rung->run};
    struct lab_call call = {.in = t->view,
                            .n_in = t->n_in,
                            .out = t->view + t->n_in,
                            .n_out = t->n_out};
    return lab_backend_run(t->be, &variant, &call);
}

/* ---- reference ---- */

struct sum {
    double value;
    double squares;
    int64_t terms;
};

static void add_term(struct sum *s, double term)
{
    s->value += term;
    s->squares += term * term;
    s->terms++;
}

struct lab_ladder_element lab_ladder_element(const struct lab_ladder *l,
                                             const struct lab_ladder_size *s,
                                             const struct lab_ladder_numbers *n,
                                             int64_t i)
{
    const double u = 1.0 / 16777216;
    struct sum sum = {0};
    if (strcmp(l->name, "transpose") == 0) {
        int64_t R = s->dim[0];
        return (struct lab_ladder_element){
            number(n, 0, i % R * s->dim[1] + i / R), 0};
    }
    if (strcmp(l->name, "gemm") == 0) {
        for (int64_t k = 0; k < s->dim[2]; k++)
            add_term(&sum, number(n, 0, i / s->dim[1] * s->dim[2] + k) *
                               number(n, 1, k * s->dim[1] + i % s->dim[1]));
    } else if (strcmp(l->name, "reduction") == 0) {
        for (int64_t k = 0; k < s->dim[0]; k++)
            add_term(&sum, number(n, 0, k));
    } else {
        bool twice = is_saxpy(l);
        add_term(&sum, (twice ? (double)LAB_SAXPY_A : 1) * number(n, 0, i));
        add_term(&sum, number(n, 1, i));
    }
    return (struct lab_ladder_element){
        sum.value, 16 * u * sqrt((double)sum.terms * sum.squares)};
}

/* ---- comparing ---- */

static enum lab_status compare_one(const struct lab_ladder_tensors *t,
                                   int64_t i, float got, double *worst)
{
    struct lab_ladder_element e =
        lab_ladder_element(t->ladder, t->size, t->numbers, i);
    double error = fabs((double)got - e.value);
    double part = error == 0 ? 0 : e.allowed > 0 ? error / e.allowed : HUGE_VAL;
    if (!(part <= 1)) /* a NaN is wrong too */
        return lab_fail(LAB_E_CHECK,
                        "size %s: element %lld is %.9g and should be %.9g, "
                        "within %.2g",
                        t->size->text, (long long)i, (double)got, e.value,
                        e.allowed);
    *worst = part > *worst ? part : *worst;
    return LAB_OK;
}

static enum lab_status compare_all(const struct lab_ladder_tensors *t,
                                   const struct lab_view *v, double *worst)
{
    float *host = lab_alloc_array((size_t)v->count, sizeof(*host));
    if (!host)
        return lab_fail(LAB_E_NOMEM, "no memory to compare a result");
    enum lab_status st = lab_backend_download(t->be, host, v->data,
                                              (size_t)v->count * sizeof(*host));
    for (int64_t i = 0; i < v->count && !st; i++)
        st = compare_one(t, i, host[i], worst);
    lab_free(host);
    return st;
}

/* The corners, and places drawn at random. */
static enum lab_status compare_some(const struct lab_ladder_tensors *t,
                                    const struct lab_view *v, double *worst)
{
    enum lab_status st = LAB_OK;
    for (uint64_t k = 0; k < SAMPLES && !st; k++) {
        uint64_t word = (uint64_t)lab_random_word(1, 7, 0, 2 * k) << 32 |
                        lab_random_word(1, 7, 0, 2 * k + 1);
        int64_t i = k == 0   ? 0
                    : k == 1 ? v->count - 1
                             : (int64_t)(word % (uint64_t)v->count);
        float got;
        st = lab_backend_download(t->be, &got, (char *)v->data + i * 4, 4);
        if (!st)
            st = compare_one(t, i, got, worst);
    }
    return st;
}

static enum lab_status look_at_guard(const struct lab_ladder_tensors *t,
                                     const char *at, const char *where)
{
    uint32_t words[GUARD];
    enum lab_status st = lab_backend_download(t->be, words, at, sizeof(words));
    for (int i = 0; i < GUARD && !st; i++) {
        if (words[i] != GUARD_WORD)
            st = lab_fail(LAB_E_CHECK, "size %s: it writes %s its result",
                          t->size->text, where);
    }
    return st;
}

enum lab_status lab_ladder_tensors_compare(const struct lab_ladder_tensors *t,
                                           double *error)
{
    double worst = 0;
    const struct lab_view *v = &t->view[t->n_in];
    enum lab_status st = lab_backend_sync(t->be);
    if (!st)
        st = v->count <= ALL_UP_TO ? compare_all(t, v, &worst)
                                   : compare_some(t, v, &worst);
    for (int k = t->n_in; k < t->n_in + t->n_out && !st; k++) {
        const char *start = t->memory[k];
        st = look_at_guard(t, start, "before");
        if (!st)
            st = look_at_guard(t, start + (GUARD + t->view[k].count) * 4,
                               "after");
    }
    if (!st)
        *error = worst;
    return st;
}
