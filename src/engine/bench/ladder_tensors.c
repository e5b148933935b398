/* Tensors of a ladder: numbers in, numbers out, and whether they are right. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "ladder_priv.h"
#include "common/random.h"

enum {
    GUARD = 1024, /* bytes before and after: keeps the alignment */
    CHUNK = 1 << 20,
    ALL_UP_TO = 1 << 17, /* elements: all are compared */
    ALL_READS = 1 << 28, /* numbers that the reference reads for all of them */
    SAMPLES = 64
};
static const unsigned char GUARD_BYTE = 0x5a;

enum lab_status lab_ladder_numbers_make(struct lab_ladder_numbers *out,
                                        uint64_t seed)
{
    *out = (struct lab_ladder_numbers){.seed = seed};
    return lab_ladder_numbers_want(out, LAB_F32);
}

enum lab_status lab_ladder_numbers_want(struct lab_ladder_numbers *n,
                                        enum lab_dtype dtype)
{
    if (n->period[dtype] || dtype == LAB_I32)
        return LAB_OK;
    void *p = lab_alloc_array(LAB_LADDER_PERIOD, lab_dtype_bytes(dtype));
    if (!p)
        return lab_fail(LAB_E_NOMEM, "no memory for random numbers");
    for (int64_t i = 0; i < LAB_LADDER_PERIOD; i++)
        lab_number_put(p, dtype, i, lab_bench_random(n->seed, 0, 0, i));
    n->period[dtype] = p;
    return LAB_OK;
}

void lab_ladder_numbers_release(struct lab_ladder_numbers *numbers)
{
    for (int d = 0; d < LAB_DTYPE_COUNT; d++) {
        lab_free(numbers->period[d]);
        numbers->period[d] = NULL;
    }
}

struct lab_bench_numbers
lab_ladder_numbers_of(const struct lab_ladder_tensors *t)
{
    return (struct lab_bench_numbers){
        .precision = t->precision,
        .period = (const void *const *)t->numbers->period,
        .period_count = LAB_LADDER_PERIOD,
        .tensor = t->tensor,
        .host = (const void *const *)t->host,
    };
}

/* ---- memory ---- */

enum { AMOUNT = 32 };

static const char *amount(double bytes, char out[AMOUNT])
{
    double gib = bytes / 1073741824.0;
    if (isinf(bytes))
        snprintf(out, AMOUNT, "more than 16 EiB");
    else if (gib >= 1000)
        snprintf(out, AMOUNT, "%.4g TiB", gib / 1024);
    else
        snprintf(out, AMOUNT, "%.4g GiB", gib);
    return out;
}

enum lab_status lab_ladder_has_room(const struct lab_backend *be,
                                    const struct lab_device_info *info,
                                    const struct lab_operation *op,
                                    const struct lab_ladder_size *s,
                                    enum lab_precision p)
{
    bool one = be->host_memory;
    size_t tensors = lab_ladder_memory(op, s, p);
    double need = tensors ? (double)tensors : HUGE_VAL;
    double copies = (double)lab_ladder_host_memory(op, s, p);
    double has = (double)info->memory_bytes;
    double host_has = one ? has : (double)lab_host_memory();
    double host_need = one ? need + copies : copies;
    char a[AMOUNT];
    char b[AMOUNT];
    char c[AMOUNT];
    if (isinf(need) || (has > 0 && need > 0.9 * has))
        return lab_fail(LAB_E_NOMEM,
                        "size %s takes %s, %s has %s: take a smaller one",
                        s->text, amount(need, a), info->name, amount(has, b));
    if (host_has > 0 && host_need > 0.9 * host_has)
        return lab_fail(LAB_E_NOMEM,
                        "size %s takes %s of the host's memory, %s of them for "
                        "copies of its inputs, and the host has %s: take a "
                        "smaller one",
                        s->text, amount(host_need, a), amount(copies, b),
                        amount(host_has, c));
    return LAB_OK;
}

static size_t bytes_of(const struct lab_view *v)
{
    return (size_t)v->count * lab_dtype_bytes(v->dtype);
}

static enum lab_status make_tensor(struct lab_ladder_tensors *t, int k)
{
    const struct lab_bench_tensor *spec = &t->tensor[k];
    struct lab_view *v = &t->view[k];
    v->rank = spec->rank;
    v->dtype = spec->dtype;
    memcpy(v->dim, spec->dim, sizeof(v->dim));
    v->count = lab_ladder_count(spec);
    t->n_in += spec->role == LAB_ROLE_IN;
    t->n_out += spec->role != LAB_ROLE_IN;
    if (v->count == 0)
        return lab_fail(LAB_E_NOMEM, "size %s: more elements than any memory",
                        t->size->text);
    enum lab_status st = lab_backend_alloc(
        t->be, bytes_of(v) + 2 * (size_t)GUARD, &t->memory[k]);
    if (!st)
        v->data = (char *)t->memory[k] + GUARD;
    return st;
}

/* What the operation fills itself; a copy stays for the reference. */
static enum lab_status make_host(struct lab_ladder_tensors *t, int k)
{
    const struct lab_bench_tensor *spec = &t->tensor[k];
    if (!lab_ladder_fills(t->operation, spec))
        return LAB_OK;
    void *host =
        lab_alloc_array((size_t)t->view[k].count, lab_dtype_bytes(spec->dtype));
    if (!host)
        return lab_fail(LAB_E_NOMEM, "no memory for an input's numbers");
    if (t->operation->fill &&
        t->operation->fill(t->size->dim, k, spec, t->numbers->seed, host)) {
        t->host[k] = host;
        return LAB_OK;
    }
    lab_free(host);
    return spec->dtype == LAB_I32
               ? lab_fail(LAB_E_STATE, "%s fills no integers into tensor %d",
                          t->operation->name, k)
               : LAB_OK;
}

enum lab_status lab_ladder_tensors_make(struct lab_ladder_tensors *t,
                                        struct lab_backend *be,
                                        const struct lab_operation *op,
                                        const struct lab_ladder_size *size,
                                        enum lab_precision p,
                                        struct lab_ladder_numbers *n)
{
    *t = (struct lab_ladder_tensors){
        .be = be, .operation = op, .size = size, .precision = p, .numbers = n};
    enum lab_status st = lab_ladder_shapes(op, size, p, t->tensor, &t->n);
    for (int k = 0; k < t->n && !st; k++) {
        st = lab_ladder_numbers_want(n, t->tensor[k].dtype);
        if (!st)
            st = make_tensor(t, k);
        if (!st)
            st = make_host(t, k);
    }
    if (st)
        lab_ladder_tensors_release(t);
    return st;
}

void lab_ladder_tensors_release(struct lab_ladder_tensors *t)
{
    for (int k = 0; k < LAB_BENCH_TENSORS; k++) {
        if (t->memory[k])
            lab_backend_free(t->be, t->memory[k]);
        lab_free(t->host[k]);
        t->memory[k] = NULL;
        t->host[k] = NULL;
    }
    t->n = 0;
}

/* ---- filling ---- */

static enum lab_status mark_guards(const struct lab_ladder_tensors *t, int k)
{
    unsigned char marks[GUARD];
    char *start = t->memory[k];
    memset(marks, GUARD_BYTE, sizeof(marks));
    enum lab_status st = lab_backend_upload(t->be, start, marks, GUARD);
    if (!st)
        st = lab_backend_upload(t->be, start + GUARD + bytes_of(&t->view[k]),
                                marks, GUARD);
    return st ? st : lab_backend_sync(t->be);
}

/* A NaN; an integer that no result is. */
static void poison(void *host, enum lab_dtype dtype, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        lab_number_put(host, dtype, i,
                       dtype == LAB_I32 ? (double)INT32_MIN : NAN);
}

static enum lab_status fill_poison(const struct lab_ladder_tensors *t, int k)
{
    const struct lab_view *v = &t->view[k];
    size_t each = lab_dtype_bytes(v->dtype);
    int64_t most = v->count < CHUNK ? v->count : CHUNK;
    enum lab_status st = LAB_OK;
    void *host = lab_alloc_array((size_t)most, each);
    if (!host)
        return lab_fail(LAB_E_NOMEM, "no memory to fill a tensor");
    poison(host, v->dtype, most);
    for (int64_t at = 0; at < v->count && !st; at += most) {
        int64_t n = v->count - at < most ? v->count - at : most;
        st = lab_backend_upload(t->be, (char *)v->data + (size_t)at * each,
                                host, (size_t)n * each);
    }
    if (!st)
        st = lab_backend_sync(t->be);
    lab_free(host);
    return st;
}

/* As lab_bench_number() has them: the period, again and again. */
static enum lab_status fill_random(const struct lab_ladder_tensors *t, int k)
{
    const struct lab_view *v = &t->view[k];
    size_t each = lab_dtype_bytes(v->dtype);
    const char *period = t->numbers->period[v->dtype];
    int64_t start = (int64_t)k * LAB_BENCH_APART;
    enum lab_status st = LAB_OK;
    for (int64_t at = 0; at < v->count && !st;) {
        int64_t from = (start + at) % LAB_LADDER_PERIOD;
        int64_t n = LAB_LADDER_PERIOD - from;
        if (n > v->count - at)
            n = v->count - at;
        st = lab_backend_upload(t->be, (char *)v->data + (size_t)at * each,
                                period + (size_t)from * each, (size_t)n * each);
        at += n;
    }
    return st;
}

enum lab_status lab_ladder_tensors_fill(struct lab_ladder_tensors *t)
{
    enum lab_status st = LAB_OK;
    for (int k = 0; k < t->n && !st; k++) {
        enum lab_bench_role role = t->tensor[k].role;
        st = mark_guards(t, k);
        if (!st && t->host[k])
            st = lab_backend_upload(t->be, t->view[k].data, t->host[k],
                                    bytes_of(&t->view[k]));
        else if (!st && (role == LAB_ROLE_IN || role == LAB_ROLE_INOUT))
            st = fill_random(t, k);
        else if (!st)
            st = fill_poison(t, k);
    }
    return st ? st : lab_backend_sync(t->be);
}

/* ---- running ---- */

struct lab_call lab_ladder_tensors_call(const struct lab_ladder_tensors *t)
{
    return (struct lab_call){.in = t->view,
                             .n_in = t->n_in,
                             .out = t->view + t->n_in,
                             .n_out = t->n_out,
                             .params = t->size->dim,
                             .seed = t->numbers->seed,
                             .exec = t->exec};
}

static enum lab_status run_as(struct lab_ladder_tensors *t, const char *name,
                              lab_kernel_fn *run)
{
    const struct lab_variant variant = {.name = name, .run = run};
    struct lab_call call = lab_ladder_tensors_call(t);
    enum lab_status st = lab_backend_run(t->be, &variant, &call);
    t->exec = call.exec;
    return st;
}

enum lab_status lab_ladder_tensors_run(struct lab_ladder_tensors *t,
                                       const struct lab_variant *rung)
{
    return run_as(t, rung->name, rung->run);
}

enum lab_status lab_ladder_tensors_prepare(struct lab_ladder_tensors *t,
                                           const struct lab_variant *rung)
{
    return rung->prepare ? run_as(t, rung->name, rung->prepare) : LAB_OK;
}

void lab_ladder_tensors_done(struct lab_ladder_tensors *t,
                             const struct lab_variant *rung)
{
    if (rung->prepare && rung->release) {
        (void)lab_backend_sync(t->be);
        (void)run_as(t, rung->name, rung->release);
    }
}

/* ---- comparing ---- */

static enum lab_status compare_one(struct lab_ladder_tensors *t, int out,
                                   int64_t i, double got, double *worst)
{
    struct lab_bench_numbers n = lab_ladder_numbers_of(t);
    struct lab_ladder_element e =
        t->operation->element(&n, t->size->dim, out, i);
    double error = fabs(got - e.value);
    double part = error == 0 ? 0 : e.allowed > 0 ? error / e.allowed : HUGE_VAL;
    if (!(part <= 1)) /* a NaN is wrong too */
        return lab_fail(LAB_E_CHECK,
                        "size %s: element %lld%s is %.9g and should be %.9g, "
                        "within %.2g",
                        t->size->text, (long long)i,
                        out > 0 ? " of a later result" : "", got, e.value,
                        e.allowed);
    *worst = part > *worst ? part : *worst;
    if (e.scale > 0) {
        t->error_squares += error / e.scale * (error / e.scale);
        t->n_errors++;
    }
    return LAB_OK;
}

static enum lab_status compare_all(struct lab_ladder_tensors *t, int out,
                                   double *worst)
{
    const struct lab_view *v = &t->view[t->n_in + out];
    void *host = lab_alloc_array((size_t)v->count, lab_dtype_bytes(v->dtype));
    if (!host)
        return lab_fail(LAB_E_NOMEM, "no memory to compare a result");
    enum lab_status st =
        lab_backend_download(t->be, host, v->data, bytes_of(v));
    for (int64_t i = 0; i < v->count && !st; i++)
        st = compare_one(t, out, i, lab_number_at(host, v->dtype, i), worst);
    lab_free(host);
    return st;
}

/* The corners, and places drawn at random. */
static enum lab_status compare_some(struct lab_ladder_tensors *t, int out,
                                    double *worst)
{
    const struct lab_view *v = &t->view[t->n_in + out];
    size_t each = lab_dtype_bytes(v->dtype);
    enum lab_status st = LAB_OK;
    for (uint64_t k = 0; k < SAMPLES && !st; k++) {
        uint64_t word = (uint64_t)lab_random_word(1, 7, 0, 2 * k) << 32 |
                        lab_random_word(1, 7, 0, 2 * k + 1);
        int64_t i = k == 0   ? 0
                    : k == 1 ? v->count - 1
                             : (int64_t)(word % (uint64_t)v->count);
        double got;
        st = lab_backend_download(t->be, &got,
                                  (char *)v->data + (size_t)i * each, each);
        if (!st)
            st =
                compare_one(t, out, i, lab_number_at(&got, v->dtype, 0), worst);
    }
    return st;
}

/* Whether every element is compared: a reference that reads whole rows for one
 * of them, as attention's and softmax's do, would take minutes. The last element
 * reads as much as any: with a causal mask the first one sees one key only. */
static bool compares_all(const struct lab_ladder_tensors *t, int out)
{
    int64_t count = t->view[t->n_in + out].count;
    int64_t reads = 0;
    struct lab_bench_numbers n = lab_ladder_numbers_of(t);
    if (count > ALL_UP_TO)
        return false;
    n.reads = &reads;
    (void)t->operation->element(&n, t->size->dim, out, count - 1);
    return reads <= ALL_READS / count;
}

static enum lab_status look_at_guard(const struct lab_ladder_tensors *t,
                                     const char *at, const char *where)
{
    unsigned char bytes[GUARD];
    enum lab_status st = lab_backend_download(t->be, bytes, at, sizeof(bytes));
    for (int i = 0; i < GUARD && !st; i++) {
        if (bytes[i] != GUARD_BYTE)
            st = lab_fail(LAB_E_CHECK, "size %s: it writes %s its result",
                          t->size->text, where);
    }
    return st;
}

enum lab_status lab_ladder_tensors_compare(struct lab_ladder_tensors *t,
                                           double *error)
{
    double worst = 0;
    enum lab_status st = lab_backend_sync(t->be);
    t->error_squares = 0;
    t->n_errors = 0;
    for (int out = 0; out < t->n_out && !st; out++) {
        if (t->tensor[t->n_in + out].role != LAB_ROLE_SCRATCH)
            st = compares_all(t, out) ? compare_all(t, out, &worst)
                                      : compare_some(t, out, &worst);
    }
    for (int k = t->n_in; k < t->n && !st; k++) {
        const char *start = t->memory[k];
        st = look_at_guard(t, start, "before");
        if (!st)
            st = look_at_guard(t, start + GUARD + bytes_of(&t->view[k]),
                               "after");
    }
    if (!st)
        *error = worst;
    return st;
}
