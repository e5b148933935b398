/* ladder.c -- the ladders: an operation's variants checked on odd sizes, then
 * timed.
 *
 * * First names, sizes, costs and what a model promises; then the tensors of a
 * size with guards around them; the climb; last one launch, and a variant that is
 * wrong on purpose. */
#include "engine/ladder.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/str.h"
#include "engine/ceiling.h"
#include "common/random.h"
#include "base/clock.h"
#include "base/format.h"
#include "base/quantile.h"

/* Random numbers of a tensor: those of a period, over and over. The period is
 * a prime, so that no row of a matrix is another one's. */
enum { LAB_LADDER_PERIOD = 1048573 };

struct lab_ladder_numbers {
    /* LAB_LADDER_PERIOD numbers, drawn from [-0.5, 0.5) with 53 bits and then
     * rounded to the dtype, for each that was wanted so far. */
    void *period[LAB_DTYPE_COUNT];
    uint64_t seed;
    struct reference *kept; /* what results should be; newest first */
    size_t kept_bytes;
};

/* The tensors of one size in one precision, on the device. */
struct lab_ladder_tensors {
    struct lab_backend *be;
    const struct lab_operation *operation;
    const struct lab_ladder_size *size;
    enum lab_precision precision;
    struct lab_ladder_numbers *numbers;
    struct lab_exec *exec; /* of the last run, for the variant's note */
    struct lab_bench_tensor tensor[LAB_BENCH_TENSORS];
    void *memory[LAB_BENCH_TENSORS]; /* with a guard before and after */
    void *host[LAB_BENCH_TENSORS];   /* what the operation's fill() made */
    struct lab_view view[LAB_BENCH_TENSORS];
    int n; /* inputs first, then outputs, then scratch */
    int n_in;
    int n_out; /* with scratch */
    /* Of the last comparison, where the operation has an error. */
    double error_squares;
    double scale_squares;
};

/* The ladders: names, sizes, what they cost, and what a model promises. */

/* Images and heads have sides of several kinds: one number for all of them
 * would be a size that has no use. */
enum { ONE_FOR_ALL = 3 };
enum lab_status lab_ladder_find(const char *name,
                                const struct lab_operation **out)
{
    enum { MOST = 64 };
    const char *names[MOST];
    const struct lab_operation *op;
    struct lab_str all;
    int n = 0;
    for (; n < MOST && (op = lab_operation_at(n)); n++) {
        names[n] = op->name;
        if (strcmp(name, op->name) == 0) {
            *out = op;
            return LAB_OK;
        }
    }
    const char *near = lab_nearest(name, names, n);
    if (near)
        return lab_fail(LAB_E_NOTFOUND,
                        "[lab.unknown] no lab %s; did you mean %s?", name,
                        near);
    lab_str_init(&all);
    for (int i = 0; i < n; i++)
        lab_str_addf(&all, "%s%s", i ? ", " : "", names[i]);
    enum lab_status st =
        lab_fail(LAB_E_NOTFOUND, "[lab.unknown] no lab %s; there are %s", name,
                 lab_str_text(&all));
    lab_str_release(&all);
    return st;
}

void lab_ladder_unit(const struct lab_operation *l, char *out, size_t size)
{
    if (l->unit == LAB_UNIT_TIME)
        snprintf(out, size, "s/%s", l->item);
    else
        snprintf(out, size, "%s", l->unit == LAB_UNIT_FLOPS ? "FLOP/s" : "B/s");
}

/* ---- sizes ---- */

static enum lab_status wrong_size(const struct lab_operation *l,
                                  const char *text, const char *why)
{
    return lab_fail(LAB_E_USAGE, "[lab.size] size %s: %s; a size of %s is %s%s",
                    text, why, l->name, l->shape,
                    l->dims > 1 && l->dims <= ONE_FOR_ALL
                        ? ", or one number for all sides"
                        : "");
}

static const char *read_side(const char *at, char **end, int64_t *out)
{
    errno = 0;
    long long v = strtoll(at, end, 10);
    if (*end == at || (*at != '-' && (*at < '0' || *at > '9')))
        return "not a number";
    if (**end == 'e' || **end == 'E' || **end == '.')
        return "whole numbers in decimal";
    if (errno || v > INT32_MAX * 64LL)
        return "larger than any memory";
    if (v <= 0)
        return "a side is 1 or more";
    *out = v;
    return NULL;
}

static enum lab_status check_meaning(const struct lab_operation *l,
                                     const struct lab_ladder_size *s)
{
    struct lab_bench_tensor tensors[LAB_BENCH_TENSORS];
    if (l->tensors(s->dim, LAB_FP32, tensors) > 0)
        return LAB_OK;
    char why[LAB_LADDER_TEXT];
    snprintf(why, sizeof(why), "%s", lab_error());
    return wrong_size(l, s->text, why);
}

enum lab_status lab_ladder_size(const struct lab_operation *ladder,
                                const char *text, size_t bytes,
                                struct lab_ladder_size *out)
{
    struct lab_ladder_size s = {.dim = {1, 1, 1, 1, 1, 1, 1, 1}};
    char *at = s.text;
    int n = 0;
    snprintf(s.text, sizeof(s.text), "%.*s", (int)(bytes > 100 ? 100 : bytes),
             text);
    if (bytes >= sizeof(s.text))
        return wrong_size(ladder, s.text, "too long");
    for (;;) {
        if (n == ladder->dims)
            return wrong_size(ladder, s.text, "too many sides");
        const char *why = read_side(at, &at, &s.dim[n++]);
        if (why)
            return wrong_size(ladder, s.text, why);
        if (*at != 'x')
            break;
        at++;
    }
    if (*at)
        return wrong_size(ladder, s.text, "not a number");
    if (n < ladder->dims && (n > 1 || ladder->dims > ONE_FOR_ALL))
        return wrong_size(ladder, s.text,
                          n > 1 ? "a side is missing" : "only one side");
    for (int i = n; i < ladder->dims; i++)
        s.dim[i] = s.dim[0];
    enum lab_status st = check_meaning(ladder, &s);
    if (!st)
        *out = s;
    return st;
}

/* ---- shapes ---- */

static int64_t ladder_count(const struct lab_bench_tensor *t)
{
    size_t n = 1;
    for (int i = 0; i < t->rank; i++) {
        if (t->dim[i] <= 0 || !lab_mul_size(n, (size_t)t->dim[i], &n))
            return 0;
    }
    return n <= INT64_MAX / 16 ? (int64_t)n : 0;
}

/* Inputs, outputs, scratch, in this order, and something to compare. */
static bool in_order(const struct lab_bench_tensor *t, int n)
{
    bool result = false;
    int last = 0;
    for (int k = 0; k < n; k++) {
        int rank = t[k].role == LAB_ROLE_IN        ? 0
                   : t[k].role == LAB_ROLE_SCRATCH ? 2
                                                   : 1;
        if (rank < last || t[k].rank < 0 || t[k].rank > LAB_MAX_RANK)
            return false;
        result = result || rank == 1;
        last = rank;
    }
    return result;
}

static enum lab_status ladder_shapes(const struct lab_operation *op,
                                     const struct lab_ladder_size *size,
                                     enum lab_precision p,
                                     struct lab_bench_tensor *out, int *count)
{
    memset(out, 0, LAB_BENCH_TENSORS * sizeof(*out));
    *count = op->tensors(size->dim, p, out);
    if (*count <= 0) {
        char why[LAB_LADDER_TEXT];
        snprintf(why, sizeof(why), "%s", lab_error());
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[lab.size-tensors] size %s in %s: %s", size->text,
                        lab_precision_name(p), why);
    }
    if (*count > LAB_BENCH_TENSORS || !in_order(out, *count))
        return lab_fail(LAB_E_STATE,
                        "[lab.tensors] %s: its tensors are not inputs, "
                        "outputs, scratch, at most %d",
                        op->name, LAB_BENCH_TENSORS);
    return LAB_OK;
}

static bool ladder_fills(const struct lab_operation *l,
                         const struct lab_bench_tensor *tensor)
{
    bool starts = tensor->role == LAB_ROLE_IN || tensor->role == LAB_ROLE_INOUT;
    return starts && (l->fill || tensor->dtype == LAB_I32);
}

size_t lab_ladder_memory(const struct lab_operation *l,
                         const struct lab_ladder_size *s, enum lab_precision p,
                         bool host)
{
    struct lab_bench_tensor t[LAB_BENCH_TENSORS];
    int n = 0;
    size_t all = 0;
    if (ladder_shapes(l, s, p, t, &n))
        return 0;
    for (int k = 0; k < n; k++) {
        size_t bytes;
        int64_t count = ladder_count(&t[k]);
        if (host && !ladder_fills(l, &t[k]))
            continue;
        if (count == 0 ||
            !lab_mul_size((size_t)count, lab_dtype_bytes(t[k].dtype), &bytes) ||
            !lab_add_size(all, bytes, &all))
            return 0;
    }
    return all;
}

/* ---- variants and models ---- */

int lab_ladder_variants(struct lab_backend *be, const struct lab_operation *l,
                        const struct lab_variant *tuned,
                        const struct lab_variant **out, int max)
{
    const struct lab_variant *variant;
    int n = 0;
    for (int i = 0;
         n < max && (variant = lab_backend_variant_at(be, l->name, i)); i++) {
        bool candidate = tuned && variant->family &&
                         strcmp(variant->family, tuned->name) == 0 &&
                         variant->precision == tuned->precision;
        if (tuned ? candidate : !variant->family)
            out[n++] = variant;
    }
    return n;
}

void lab_ladder_size_class(const struct lab_operation *l,
                           const struct lab_ladder_size *s, char *out,
                           size_t bytes)
{
    double sum = 0;
    for (int i = 0; i < l->dims; i++)
        sum += log2((double)s->dim[i]);
    snprintf(out, bytes, "~%.0f", exp2(round(sum / l->dims)));
}

double lab_ladder_traffic(const struct lab_operation *l,
                          const struct lab_variant *variant,
                          const struct lab_ladder_size *s)
{
    const struct lab_kernel_model *m = &variant->model;
    if (m->library)
        return l->library_traffic
                   ? l->library_traffic(s->dim, variant->precision,
                                        variant->name)
                   : (double)NAN;
    if (l->traffic)
        return l->traffic(s->dim, variant->precision, m);
    return m->traffic > 0 ? m->traffic * l->bytes(s->dim, variant->precision)
                          : NAN;
}

/* A multiprocessor issues 4 instructions of a warp a cycle, has arithmetic for
 * 4 multiply-adds of a warp, and takes one access of 128 bytes. Its cycles are
 * counted from the peak of the data sheet: 4 * 32 * 2 operations each. Without
 * counted pipes the arithmetic is bounded by the product that was measured. */
static double busy_seconds(const struct lab_ladder_machine *m,
                           const struct lab_variant *variant, double flop)
{
    const struct lab_kernel_model *model = &variant->model;
    if (model->accesses == 0) {
        double best = m->flops[variant->precision];
        return best > 0 ? flop / best : 0;
    }
    double cycles = fmax(fmax(1, model->instructions) / 4, model->accesses);
    return m->info.peak_fp32_flops > 0
               ? flop / m->info.peak_fp32_flops * 4 * cycles
               : NAN;
}

double lab_ladder_model(const struct lab_ladder_machine *m,
                        const struct lab_operation *l,
                        const struct lab_variant *variant,
                        const struct lab_ladder_size *s)
{
    const struct lab_kernel_model *model = &variant->model;
    double needed = l->bytes(s->dim, variant->precision);
    double traffic = lab_ladder_traffic(l, variant, s);
    if (l->unit == LAB_UNIT_TIME)
        return model->item_ns > 0 ? model->item_ns / 1e9 : NAN;
    if (model->library || isnan(traffic))
        return NAN;
    bool flops = l->unit == LAB_UNIT_FLOPS;
    /* Tiles are shared through L2, and its speed is not measured: where the
     * pipes are counted, memory is taken to move each tensor once at least. */
    double seconds =
        (flops && model->accesses > 0 ? needed : traffic) / m->copy_bytes_s;
    if (model->share > 0 && m->info.sm_count > 0)
        seconds *= m->info.sm_count / model->share;
    if (!flops)
        return needed / seconds;
    double busy = busy_seconds(m, variant, l->flop(s->dim));
    return isnan(busy) ? NAN : l->flop(s->dim) / fmax(seconds, busy);
}

const char *lab_ladder_precision(const struct lab_operation *l,
                                 enum lab_precision p)
{
    return l->arithmetic && p == LAB_FP32 ? l->arithmetic
                                          : lab_precision_name(p);
}

void lab_ladder_measure(struct lab_backend *be, const struct lab_operation *l,
                        unsigned precisions, struct lab_ladder_machine *out)
{
    const enum lab_ceiling ceiling_of[LAB_PRECISION_COUNT] = {
        [LAB_FP32] = l->arithmetic ? LAB_CEILING_INT8 : LAB_CEILING_FP32,
        [LAB_TF32] = LAB_CEILING_TF32,
        [LAB_BF16] = LAB_CEILING_BF16,
        [LAB_FP16] = LAB_CEILING_FP16,
        [LAB_FP64] = LAB_CEILING_COUNT};
    enum { MIB = 1 << 20, HOST_FLUSH = 64 };
    struct lab_ceiling_result r;
    *out = (struct lab_ladder_machine){.copy_bytes_s = NAN};
    lab_backend_info(be, &out->info);
    for (int p = 0; p < LAB_PRECISION_COUNT && be->untimed; p++)
        out->flops[p] = NAN;
    if (be->untimed) /* nothing can be measured, and no cache is emptied */
        return;
    if (!lab_backend_ceiling(be, LAB_CEILING_COPY, &r))
        out->copy_bytes_s = r.median;
    for (int p = 0; p < LAB_PRECISION_COUNT; p++) {
        out->flops[p] = NAN;
        if ((p == LAB_FP32 || precisions >> p & 1) &&
            ceiling_of[p] != LAB_CEILING_COUNT &&
            !lab_backend_ceiling(be, ceiling_of[p], &r))
            out->flops[p] = r.median;
    }
    out->fp32_by_fma = !l->arithmetic &&
                       !lab_backend_ceiling(be, LAB_CEILING_FMA, &r) &&
                       !(out->flops[LAB_FP32] >= r.median);
    if (out->fp32_by_fma)
        out->flops[LAB_FP32] = r.median;
    /* Of a processor's cache that is larger something may stay; the head of
     * the table states how much is read. */
    out->flush_bytes = (size_t)(lab_bench_quick() ? 1 : HOST_FLUSH) * MIB;
    if (!be->host_memory && out->info.l2_bytes > 0)
        out->flush_bytes = (size_t)out->info.l2_bytes;
}

/* Tensors of a ladder: numbers in, numbers out, and whether they are right. */

enum {
    GUARD = 1024, /* bytes before and after: keeps the alignment */
    CHUNK = 1 << 20,
    ALL_UP_TO = 1 << 17, /* elements: all are compared */
    ALL_READS = 1 << 28, /* numbers that the reference reads for all of them */
    SAMPLES = 64,
    KEPT_BYTES = 64 << 20 /* of references: beyond it the kept ones go */
};
static const unsigned char GUARD_BYTE = 0x5a;

/* The right values of a result at the elements that are compared, from their
 * definition: they depend on the size, the precision and the numbers in, so that one
 * computation serves all variants. */
struct reference {
    struct reference *next;
    int64_t dim[LAB_BENCH_DIMS];
    enum lab_precision precision;
    int out;
    bool all; /* elements 0, 1, 2 ...; else those of at[] */
    int64_t count;
    int64_t at[SAMPLES];
    struct lab_ladder_element element[];
};

static void references_release(struct lab_ladder_numbers *n)
{
    while (n->kept) {
        struct reference *r = n->kept;
        n->kept = r->next;
        lab_free(r);
    }
    n->kept_bytes = 0;
}

static enum lab_status ladder_numbers_want(struct lab_ladder_numbers *n,
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

static enum lab_status ladder_numbers_make(struct lab_ladder_numbers *out,
                                           uint64_t seed)
{
    *out = (struct lab_ladder_numbers){.seed = seed};
    return ladder_numbers_want(out, LAB_F32);
}

static void ladder_numbers_release(struct lab_ladder_numbers *numbers)
{
    for (int d = 0; d < LAB_DTYPE_COUNT; d++) {
        lab_free(numbers->period[d]);
        numbers->period[d] = NULL;
    }
    references_release(numbers);
}

static struct lab_bench_numbers
ladder_numbers_of(const struct lab_ladder_tensors *t)
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
    if (!isinf(bytes))
        return lab_format_size(bytes, out, AMOUNT);
    snprintf(out, AMOUNT, "more than 16 EiB");
    return out;
}

static enum lab_status ladder_has_room(const struct lab_backend *be,
                                       const struct lab_device_info *info,
                                       const struct lab_operation *op,
                                       const struct lab_ladder_size *s,
                                       enum lab_precision p)
{
    bool one = be->host_memory;
    size_t tensors = lab_ladder_memory(op, s, p, false);
    double need = tensors ? (double)tensors : HUGE_VAL;
    double copies = (double)lab_ladder_memory(op, s, p, true);
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

/* Word k of the operation's names is what a simulation calls tensor k. */
static void label_tensor(const struct lab_ladder_tensors *t, int k)
{
    const char *at = t->operation->names ? t->operation->names : "";
    char name[32];
    for (int i = 0; i < k; i++) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    size_t n = strcspn(at, " ");
    if (n == 0 || n >= sizeof(name))
        return;
    memcpy(name, at, n);
    name[n] = '\0';
    lab_backend_label(t->be, t->memory[k], GUARD, name, true);
}

static enum lab_status make_tensor(struct lab_ladder_tensors *t, int k)
{
    const struct lab_bench_tensor *spec = &t->tensor[k];
    struct lab_view *v = &t->view[k];
    v->rank = spec->rank;
    v->dtype = spec->dtype;
    memcpy(v->dim, spec->dim, sizeof(v->dim));
    v->count = ladder_count(spec);
    t->n_in += spec->role == LAB_ROLE_IN;
    t->n_out += spec->role != LAB_ROLE_IN;
    if (v->count == 0)
        return lab_fail(LAB_E_NOMEM, "size %s: more elements than any memory",
                        t->size->text);
    enum lab_status st = lab_backend_alloc(
        t->be, bytes_of(v) + 2 * (size_t)GUARD, &t->memory[k]);
    if (st)
        return st;
    v->data = (char *)t->memory[k] + GUARD;
    label_tensor(t, k);
    return LAB_OK;
}

/* What the operation fills itself; a copy stays for the reference. */
static enum lab_status make_host(struct lab_ladder_tensors *t, int k)
{
    const struct lab_bench_tensor *spec = &t->tensor[k];
    if (!ladder_fills(t->operation, spec))
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
               ? lab_fail(LAB_E_STATE,
                          "[lab.integers] %s fills no integers into tensor %d",
                          t->operation->name, k)
               : LAB_OK;
}

static void ladder_tensors_release(struct lab_ladder_tensors *t)
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

static enum lab_status ladder_tensors_make(struct lab_ladder_tensors *t,
                                           struct lab_backend *be,
                                           const struct lab_operation *op,
                                           const struct lab_ladder_size *size,
                                           enum lab_precision p,
                                           struct lab_ladder_numbers *n)
{
    *t = (struct lab_ladder_tensors){
        .be = be, .operation = op, .size = size, .precision = p, .numbers = n};
    enum lab_status st = ladder_shapes(op, size, p, t->tensor, &t->n);
    for (int k = 0; k < t->n && !st; k++) {
        st = ladder_numbers_want(n, t->tensor[k].dtype);
        if (!st)
            st = make_tensor(t, k);
        if (!st)
            st = make_host(t, k);
    }
    if (st)
        ladder_tensors_release(t);
    return st;
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

/* Fills a tensor with a period of numbers, again and again, from its number
 * `from` on. */
static enum lab_status fill_with(const struct lab_ladder_tensors *t, int k,
                                 const char *period, int64_t length,
                                 int64_t from)
{
    const struct lab_view *v = &t->view[k];
    size_t each = lab_dtype_bytes(v->dtype);
    enum lab_status st = LAB_OK;
    for (int64_t at = 0; at < v->count && !st;) {
        int64_t first = (from + at) % length;
        int64_t n = length - first;
        if (n > v->count - at)
            n = v->count - at;
        st =
            lab_backend_upload(t->be, (char *)v->data + (size_t)at * each,
                               period + (size_t)first * each, (size_t)n * each);
        at += n;
    }
    return st ? st : lab_backend_sync(t->be);
}

/* With NaN; an integer that no result is. */
static enum lab_status fill_poison(const struct lab_ladder_tensors *t, int k)
{
    const struct lab_view *v = &t->view[k];
    int64_t most = v->count < CHUNK ? v->count : CHUNK;
    void *host = lab_alloc_array((size_t)most, lab_dtype_bytes(v->dtype));
    if (!host)
        return lab_fail(LAB_E_NOMEM, "no memory to fill a tensor");
    for (int64_t i = 0; i < most; i++)
        lab_number_put(host, v->dtype, i,
                       v->dtype == LAB_I32 ? (double)INT32_MIN : NAN);
    enum lab_status st = fill_with(t, k, host, most, 0);
    lab_free(host);
    return st;
}

static enum lab_status ladder_tensors_fill(struct lab_ladder_tensors *t)
{
    enum lab_status st = LAB_OK;
    for (int k = 0; k < t->n && !st; k++) {
        enum lab_bench_role role = t->tensor[k].role;
        st = mark_guards(t, k);
        if (!st && t->host[k])
            st = lab_backend_upload(t->be, t->view[k].data, t->host[k],
                                    bytes_of(&t->view[k]));
        else if (!st && (role == LAB_ROLE_IN || role == LAB_ROLE_INOUT))
            /* As lab_bench_number() has them. */
            st = fill_with(t, k, t->numbers->period[t->view[k].dtype],
                           LAB_LADDER_PERIOD, (int64_t)k * LAB_BENCH_APART);
        else if (!st)
            st = fill_poison(t, k);
    }
    return st ? st : lab_backend_sync(t->be);
}

/* ---- running ---- */

static struct lab_call ladder_tensors_call(const struct lab_ladder_tensors *t)
{
    return (struct lab_call){.in = t->view,
                             .n_in = t->n_in,
                             .out = t->view + t->n_in,
                             .n_out = t->n_out,
                             .params = t->size->dim,
                             .seed = t->numbers->seed,
                             .exec = t->exec};
}

static enum lab_status run_as(struct lab_ladder_tensors *t,
                              const struct lab_variant *variant,
                              lab_kernel_fn *run)
{
    const struct lab_variant stage = {
        .name = variant->name, .run = run, .release = variant->release};
    struct lab_call call = ladder_tensors_call(t);
    enum lab_status st = lab_backend_run(t->be, &stage, &call);
    t->exec = call.exec;
    return st;
}

static enum lab_status ladder_tensors_run(struct lab_ladder_tensors *t,
                                          const struct lab_variant *variant)
{
    return run_as(t, variant, variant->run);
}

/* Before the first run; ladder_tensors_done() comes after the last. */
static enum lab_status ladder_tensors_ready(struct lab_ladder_tensors *t,
                                            const struct lab_variant *variant)
{
    enum lab_status st = ladder_tensors_fill(t);
    if (!st && variant->prepare)
        st = run_as(t, variant, variant->prepare);
    return st;
}

static void ladder_tensors_done(struct lab_ladder_tensors *t,
                                const struct lab_variant *variant)
{
    if (variant->prepare && variant->release) {
        (void)lab_backend_sync(t->be);
        (void)run_as(t, variant, variant->release);
    }
}

/* ---- comparing ---- */

/* Whether every element is compared: a reference that reads whole rows for one
 * of them, as attention's and softmax's do, would take minutes. The last
 * element reads as much as any: with a causal mask the first one sees one key
 * only. */
static bool compares_all(const struct lab_ladder_tensors *t, int out)
{
    int64_t count = t->view[t->n_in + out].count;
    int64_t reads = 0;
    struct lab_bench_numbers n = ladder_numbers_of(t);
    if (count > ALL_UP_TO)
        return false;
    n.reads = &reads;
    (void)t->operation->element(&n, t->size->dim, out, count - 1);
    return reads <= ALL_READS / count;
}

/* By several threads: an element of attention or of a solution reads whole
 * matrices. */
struct wanted {
    const struct lab_ladder_tensors *t;
    struct reference *into;
};

static void want_part(const void *arg, int64_t from, int64_t to)
{
    const struct wanted *w = arg;
    struct reference *r = w->into;
    struct lab_bench_numbers n = ladder_numbers_of(w->t);
    for (int64_t i = from; i < to; i++)
        r->element[i] = w->t->operation->element(&n, w->t->size->dim, r->out,
                                                 r->all ? i : r->at[i]);
}

/* All elements, or the corners and places drawn at random. NULL: no memory. */
static struct reference *reference_make(struct lab_ladder_tensors *t, int out)
{
    enum { GRAIN = 64 };
    struct lab_ladder_numbers *n = t->numbers;
    int64_t elements = t->view[t->n_in + out].count;
    bool all = compares_all(t, out);
    int64_t count = all ? elements : SAMPLES;
    size_t bytes = sizeof(struct reference) +
                   (size_t)count * sizeof(struct lab_ladder_element);
    if (n->kept_bytes + bytes > KEPT_BYTES)
        references_release(n);
    struct reference *r = lab_alloc(bytes);
    if (!r)
        return NULL;
    *r = (struct reference){.next = n->kept,
                            .precision = t->precision,
                            .out = out,
                            .all = all,
                            .count = count};
    memcpy(r->dim, t->size->dim, sizeof(r->dim));
    for (uint64_t k = 0; k < SAMPLES && !all; k++) {
        uint64_t word = (uint64_t)lab_random_word(1, 7, 0, 2 * k) << 32 |
                        lab_random_word(1, 7, 0, 2 * k + 1);
        r->at[k] = k == 0   ? 0
                   : k == 1 ? elements - 1
                            : (int64_t)(word % (uint64_t)elements);
    }
    lab_parallel(count, all ? GRAIN : 1, want_part,
                 &(struct wanted){.t = t, .into = r});
    n->kept = r;
    n->kept_bytes += bytes;
    return r;
}

static const struct reference *reference_of(struct lab_ladder_tensors *t,
                                            int out)
{
    const struct reference *r = t->numbers->kept;
    while (r && (r->precision != t->precision || r->out != out ||
                 memcmp(r->dim, t->size->dim, sizeof(r->dim)) != 0))
        r = r->next;
    return r ? r : reference_make(t, out);
}

static enum lab_status compare_one(struct lab_ladder_tensors *t, int out,
                                   int64_t i, double got,
                                   const struct lab_ladder_element *e,
                                   double *worst)
{
    double error = fabs(got - e->value);
    double part = error == 0       ? 0
                  : e->allowed > 0 ? error / e->allowed
                                   : HUGE_VAL;
    if (!(part <= 1)) /* a NaN is wrong too */
        return lab_fail(LAB_E_CHECK,
                        "[lab.values] size %s: element %lld%s is %.9g and "
                        "should be %.9g, within %.2g",
                        t->size->text, (long long)i,
                        out > 0 ? " of a later result" : "", got, e->value,
                        e->allowed);
    *worst = part > *worst ? part : *worst;
    if (e->scale > 0) {
        t->error_squares += error * error;
        t->scale_squares += e->scale * e->scale;
    }
    return LAB_OK;
}

static enum lab_status compare_result(struct lab_ladder_tensors *t, int out,
                                      double *worst)
{
    const struct lab_view *v = &t->view[t->n_in + out];
    size_t each = lab_dtype_bytes(v->dtype);
    const struct reference *r = reference_of(t, out);
    int64_t count = r ? r->count : 0;
    char *got = r ? lab_alloc_array((size_t)count, each) : NULL;
    enum lab_status st =
        !got     ? lab_fail(LAB_E_NOMEM, "no memory to compare a result")
        : r->all ? lab_backend_download(t->be, got, v->data, bytes_of(v))
                 : LAB_OK;
    for (int64_t i = 0; i < count && !st && !r->all; i++)
        st = lab_backend_download(t->be, got + (size_t)i * each,
                                  (char *)v->data + (size_t)r->at[i] * each,
                                  each);
    for (int64_t i = 0; i < count && !st; i++)
        st =
            compare_one(t, out, r->all ? i : r->at[i],
                        lab_number_at(got, v->dtype, i), &r->element[i], worst);
    lab_free(got);
    return st;
}

static enum lab_status look_at_guard(const struct lab_ladder_tensors *t,
                                     const char *at, const char *where)
{
    unsigned char bytes[GUARD];
    enum lab_status st = lab_backend_download(t->be, bytes, at, sizeof(bytes));
    for (int i = 0; i < GUARD && !st; i++) {
        if (bytes[i] != GUARD_BYTE)
            st = lab_fail(
                LAB_E_CHECK,
                "[lab.writes-outside] size %s: it writes %s its result",
                t->size->text, where);
    }
    return st;
}

static enum lab_status ladder_tensors_compare(struct lab_ladder_tensors *t,
                                              double *error)
{
    double worst = 0;
    enum lab_status st = lab_backend_sync(t->be);
    t->error_squares = 0;
    t->scale_squares = 0;
    for (int out = 0; out < t->n_out && !st; out++) {
        if (t->tensor[t->n_in + out].role != LAB_ROLE_SCRATCH)
            st = compare_result(t, out, &worst);
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

/* Of the operation's residual(), which sees whole results; NaN without memory for
 * their copies. */
static double residual_of(const struct lab_ladder_tensors *t)
{
    struct lab_bench_numbers n = ladder_numbers_of(t);
    void *out[LAB_BENCH_TENSORS] = {NULL};
    bool all = true;
    double error = NAN;
    for (int k = t->n_in; k < t->n && all; k++) {
        const struct lab_view *v = &t->view[k];
        void **host = &out[k - t->n_in];
        if (t->tensor[k].role == LAB_ROLE_SCRATCH)
            continue;
        *host = lab_alloc_array((size_t)v->count, lab_dtype_bytes(v->dtype));
        all =
            *host && !lab_backend_download(t->be, *host, v->data, bytes_of(v));
    }
    if (all)
        error =
            t->operation->residual(&n, t->size->dim, (const void *const *)out);
    for (int k = 0; k < LAB_BENCH_TENSORS; k++)
        lab_free(out[k]);
    return error;
}

/* Of what was compared last; NaN: the operation has none. */
static double ladder_tensors_error(const struct lab_ladder_tensors *t)
{
    if (t->operation->residual)
        return residual_of(t);
    return t->scale_squares > 0 ? sqrt(t->error_squares / t->scale_squares)
                                : (double)NAN;
}

/* Variants that are wrong on purpose: run, counted, never timed. */

struct found {
    int64_t wrong;
    int64_t first; /* the first wrong element */
    double got;
    double wanted;
};

static void count_wrong(const struct lab_ladder_tensors *t, const void *host,
                        int64_t count, struct found *f)
{
    struct lab_bench_numbers n = ladder_numbers_of(t);
    for (int64_t i = 0; i < count; i++) {
        struct lab_ladder_element e =
            t->operation->element(&n, t->size->dim, 0, i);
        double got = lab_number_at(host, t->view[t->n_in].dtype, i);
        if (fabs(got - e.value) <= e.allowed)
            continue;
        if (f->wrong++ == 0) {
            f->first = i;
            f->got = got;
            f->wanted = e.value;
        }
    }
}

static enum lab_status report_found(const struct lab_variant *variant,
                                    const struct found *f, int64_t count)
{
    if (f->wrong == 0)
        return lab_fail(LAB_E_CHECK,
                        "[lab.wrong-by-luck] wrong on purpose (%s), and right "
                        "this time: none of %lld elements is wrong, by luck",
                        variant->wrong_on_purpose, (long long)count);
    return lab_fail(
        LAB_E_CHECK,
        "[lab.wrong-on-purpose] wrong on purpose (%s): %lld of %lld elements "
        "are wrong, the first is %lld: %.6g, and should be %.6g; not timed",
        variant->wrong_on_purpose, (long long)f->wrong, (long long)count,
        (long long)f->first, f->got, f->wanted);
}

/* Runs a variant that is wrong on purpose once, and counts the elements of its
 * first result that are wrong. Returns LAB_E_CHECK, with what was found in the
 * row and in the detail, also when nothing was; another status when it could
 * not be run. */
static enum lab_status ladder_show_wrong(struct lab_ladder_tensors *t,
                                         struct lab_ladder_row *row)
{
    const struct lab_view *v = &t->view[t->n_in];
    const int64_t most = 1 << 20;
    int64_t count = v->count < most ? v->count : most;
    struct found found = {0};
    size_t each = lab_dtype_bytes(v->dtype);
    void *host = lab_alloc_array((size_t)count, each);
    if (!host)
        return lab_fail(LAB_E_NOMEM, "no memory to count wrong elements");
    enum lab_status st = ladder_tensors_run(t, row->ran);
    if (!st)
        st = lab_backend_sync(t->be);
    if (st == LAB_E_CHECK)
        st = lab_fail_context(st, "wrong on purpose (%s), and found",
                              row->variant->wrong_on_purpose);
    if (!st)
        st = lab_backend_download(t->be, host, v->data, (size_t)count * each);
    if (!st) {
        count_wrong(t, host, count, &found);
        row->wrong = found.wrong;
        row->compared = count;
        st = report_found(row->variant, &found, count);
    }
    lab_free(host);
    return st;
}

/* Checking variants, timing them, and going on when one cannot. */

enum { FLUSH_PIECES = 8, WARM_UP = 3 };

/* ---- checking ---- */

enum lab_status lab_ladder_serves(const struct lab_device_info *info,
                                  const struct lab_variant *variant)
{
    int major = variant->capability / 10;
    int minor = variant->capability % 10;
    int has = info->compute_major * 10 + info->compute_minor;
    bool fits = variant->capability_only ? info->compute_major == major
                                         : has >= variant->capability;
    bool hopper = major == 9 && variant->capability_only;
    if (!fits)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[lab.capability] it needs a %sGPU (compute capability "
                        "%d.%d%s); this is %s (%d.%d)",
                        hopper ? "Hopper " : "", major, minor,
                        variant->capability_only ? "" : " or later", info->name,
                        has / 10, has % 10);
    if (!variant->run)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[lab.no-code] this build has no code of it: it needs "
                        "a CUDA compiler of version 12 or later");
    return LAB_OK;
}

static enum lab_status check_tensors(struct lab_ladder_tensors *t,
                                     const struct lab_variant *variant,
                                     double *error)
{
    enum lab_status st = ladder_tensors_ready(t, variant);
    if (st)
        return st;
    st = ladder_tensors_run(t, variant);
    if (!st)
        st = ladder_tensors_compare(t, error);
    ladder_tensors_done(t, variant);
    return st;
}

static enum lab_status check_size(struct lab_backend *be,
                                  const struct lab_operation *l,
                                  const struct lab_variant *variant,
                                  struct lab_ladder_numbers *n,
                                  const char *text, double *worst)
{
    struct lab_ladder_size size;
    struct lab_ladder_tensors t;
    double error = 0;
    enum lab_status st = lab_ladder_size(l, text, strlen(text), &size);
    if (!st)
        st = ladder_tensors_make(&t, be, l, &size, variant->precision, n);
    if (st)
        return st;
    st = check_tensors(&t, variant, &error);
    ladder_tensors_release(&t);
    *worst = error > *worst ? error : *worst;
    return st;
}

double lab_ladder_work(const struct lab_operation *l,
                       const struct lab_ladder_size *s)
{
    double flop = l->flop ? l->flop(s->dim) : 0;
    double bytes = l->bytes ? l->bytes(s->dim, LAB_FP32) : 0;
    return fmax(flop, bytes / 4);
}

/* Thread by thread on the CPU, a size of more work than this takes minutes. */
static bool is_too_long(const struct lab_backend *be,
                        const struct lab_operation *l, const char *text)
{
    const double most_flop = 3e8;
    struct lab_ladder_size size;
    return be->untimed && l->flop &&
           lab_ladder_size(l, text, strlen(text), &size) == LAB_OK &&
           l->flop(size.dim) > most_flop;
}

/* A size that the variant refuses is left out, as long as it serves another. */
static enum lab_status check_variant(struct lab_backend *be,
                                     const struct lab_operation *l,
                                     const struct lab_variant *variant,
                                     struct lab_ladder_numbers *n,
                                     double *error)
{
    struct lab_device_info info;
    double worst = 0;
    int served = 0;
    lab_backend_info(be, &info);
    enum lab_status st = lab_ladder_serves(&info, variant);
    enum lab_status refused = LAB_OK;
    for (int i = 0; l->checks[i] && !st; i++) {
        if (is_too_long(be, l, l->checks[i]))
            continue;
        st = check_size(be, l, variant, n, l->checks[i], &worst);
        served += st == LAB_OK;
        if (st == LAB_E_UNSUPPORTED) {
            refused = st;
            st = LAB_OK;
        }
    }
    if (!st && served == 0)
        return refused
                   ? refused
                   : lab_fail(LAB_E_STATE,
                              "[lab.no-check-sizes] %s has no sizes to check",
                              l->name);
    if (!st)
        *error = worst;
    return st == LAB_E_CHECK
               ? lab_fail_context(st, "%s is wrong and is not timed",
                                  variant->name)
               : st;
}

enum lab_status lab_ladder_check(struct lab_backend *be,
                                 const struct lab_operation *l,
                                 const struct lab_variant *variant,
                                 uint64_t seed, double *error)
{
    struct lab_ladder_numbers n;
    enum lab_status st = ladder_numbers_make(&n, seed);
    if (st)
        return st;
    st = check_variant(be, l, variant, &n, error);
    ladder_numbers_release(&n);
    return st;
}

/* ---- timing ---- */

struct variant_check {
    double error; /* NaN: wrong, or not to be had */
    enum lab_status status;
    char reason[LAB_LADDER_TEXT];
};

struct climb {
    const struct lab_ladder_run *c;
    struct lab_ladder_numbers numbers;
    void *flush;             /* FLUSH_PIECES pieces to read, and one to write */
    struct lab_arena memory; /* owns what follows */
    double *ns;
    double *sorted;
    struct variant_check *checks;
};

static void tell(const struct lab_ladder_run *c,
                 const struct lab_variant *variant,
                 const struct lab_ladder_size *size)
{
    if (c->doing)
        c->doing(c->user, variant, size);
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
                                 const struct lab_variant *variant, double *out)
{
    struct lab_backend *be = w->c->backend;
    int64_t ns = 0;
    enum lab_status st = flush(w);
    if (st)
        return st;
    enum lab_status events =
        be->host_memory ? LAB_E_UNSUPPORTED : lab_backend_time_begin(be);
    int64_t start = lab_clock_monotonic_ns();
    st = ladder_tensors_run(t, variant);
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
    double best = flops ? c->machine->flops[row->variant->precision]
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

/* A variant with its tensors, for one who looks at it. */
struct launch {
    struct lab_ladder_tensors *t;
    const struct lab_variant *variant;
};

static enum lab_status run_again(void *launch)
{
    struct launch *l = launch;
    return ladder_tensors_run(l->t, l->variant);
}

static enum lab_status run_first(struct climb *w, struct lab_ladder_tensors *t,
                                 const struct lab_variant *variant)
{
    struct launch l = {t, variant};
    return w->c->look && w->c->backend->untimed
               ? w->c->look(w->c->user, run_again, &l)
               : run_again(&l);
}

static enum lab_status time_repeats(struct climb *w,
                                    struct lab_ladder_tensors *t,
                                    struct lab_ladder_row *row)
{
    const struct lab_device_info *info = &w->c->machine->info;
    const bool once = w->c->once && !w->c->backend->untimed;
    if (once)
        lab_device_state_read(info, &row->before);
    enum lab_status st =
        once ? time_once(w, t, row->ran, &w->ns[0]) : run_first(w, t, row->ran);
    if (once)
        lab_device_state_read(info, &row->after);
    if (!st)
        st = ladder_tensors_compare(t, &row->sample_error);
    if (!st)
        row->error = ladder_tensors_error(t);
    if (w->c->backend->untimed)
        return st;
    if (once && !st) {
        row->repeats = 1;
        summarize(w, row);
    }
    if (once)
        return st;
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

static enum lab_status time_variant(struct climb *w,
                                    struct lab_ladder_tensors *t,
                                    struct lab_ladder_row *row)
{
    enum lab_status st = ladder_tensors_ready(t, row->ran);
    if (st)
        return st;
    st = row->ran->wrong_on_purpose ? ladder_show_wrong(t, row)
                                    : time_repeats(w, t, row);
    if (!st && row->ran->note) {
        struct lab_call call = ladder_tensors_call(t);
        row->ran->note(&call, &row->note);
    }
    ladder_tensors_done(t, row->ran);
    return st;
}

/* ---- rows ---- */

static void start_row(const struct climb *w, int r, int s,
                      struct lab_ladder_row *row)
{
    const struct lab_ladder_run *c = w->c;
    const struct lab_device_state unknown = {NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    *row = (struct lab_ladder_row){.variant = c->variants[r],
                                   .ran = c->variants[r],
                                   .size = c->sizes[s],
                                   .status = w->checks[r].status,
                                   .check_error = w->checks[r].error,
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
    row->bytes = c->ladder->bytes(row->size.dim, row->variant->precision);
    row->traffic = lab_ladder_traffic(c->ladder, row->variant, &row->size);
    row->rate_model =
        lab_ladder_model(c->machine, c->ladder, row->variant, &row->size);
    memcpy(row->reason, w->checks[r].reason, sizeof(row->reason));
}

/* What the variant gains over the one before it: measured, and promised. The first
 * of a precision has none before it: the kernel of another precision computes
 * something else. A library's is set beside our last kernel in any case. */
static void set_gain(const struct lab_operation *op, struct lab_ladder_row *row,
                     const struct lab_ladder_row *last)
{
    bool less = op->unit == LAB_UNIT_TIME;
    if (!last->variant || (!row->variant->model.library &&
                           last->variant->precision != row->variant->precision))
        return;
    row->gain = less ? last->rate / row->rate : row->rate / last->rate;
    if (row->variant->gain > 0)
        row->gain_model = row->variant->gain;
    else
        row->gain_model = less ? last->rate_model / row->rate_model
                               : row->rate_model / last->rate_model;
}

/* The tensors of a size, for variants of one precision after the other. */
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
    ladder_tensors_release(&room->t);
    room->status = ladder_has_room(c->backend, &c->machine->info, c->ladder,
                                   &c->sizes[s], p);
    if (!room->status)
        room->status = ladder_tensors_make(&room->t, c->backend, c->ladder,
                                           &c->sizes[s], p, &w->numbers);
    snprintf(room->why, sizeof(room->why), "%s",
             room->status ? lab_error() : "");
    room->t.precision = p;
    room->made = true;
}

/* The row that is run for a tuned variant is checked too, and its model counts. */
static enum lab_status find_stand_in(struct climb *w,
                                     struct lab_ladder_row *row)
{
    const struct lab_ladder_run *c = w->c;
    if (!row->variant->tuned || !c->resolve_tuned)
        return LAB_OK;
    const struct lab_variant *found =
        c->resolve_tuned(c->user, row->variant, &row->size, &row->note);
    if (!found)
        return LAB_OK;
    row->ran = found;
    row->traffic = lab_ladder_traffic(c->ladder, found, &row->size);
    row->rate_model =
        lab_ladder_model(c->machine, c->ladder, found, &row->size);
    return check_variant(c->backend, c->ladder, found, &w->numbers,
                         &row->check_error);
}

/* The row of one variant; `last` is the one that it is compared with. */
static enum lab_status climb_variant(struct climb *w, int r, int s,
                                     struct room *room,
                                     struct lab_ladder_row *last)
{
    struct lab_ladder_row row;
    start_row(w, r, s, &row);
    if (!row.status) {
        tell(w->c, row.variant, &row.size);
        make_tensors(w, s, row.variant->precision, room);
        row.status = room->status;
        snprintf(row.reason, sizeof(row.reason), "%s", room->why);
    }
    if (!row.status) {
        row.status = find_stand_in(w, &row);
        if (!row.status)
            row.status = time_variant(w, &room->t, &row);
        if (row.status == LAB_E_CANCELLED)
            return row.status;
        if (row.status)
            snprintf(row.reason, sizeof(row.reason), "%s", lab_error());
        if (row.status && w->c->failed)
            w->c->failed(w->c->user, row.variant, row.status);
    }
    if (!row.status) {
        set_gain(w->c->ladder, &row, last);
        if (!row.variant->model.library)
            *last = row;
    }
    return w->c->row(w->c->user, &row);
}

static enum lab_status climb_size(struct climb *w, int s)
{
    const struct lab_ladder_run *c = w->c;
    struct room room = {.t = {.be = c->backend}};
    struct lab_ladder_row last = {.variant = NULL};
    enum lab_status st = LAB_OK;
    for (int r = 0; r < c->n_variants && !st; r++)
        st = stopped(c) ? lab_fail(LAB_E_CANCELLED, "stopped")
                        : climb_variant(w, r, s, &room, &last);
    ladder_tensors_release(&room.t);
    return st;
}

static enum lab_status check_variants(struct climb *w)
{
    const struct lab_ladder_run *c = w->c;
    for (int r = 0; r < c->n_variants; r++) {
        const struct lab_variant *variant = c->variants[r];
        struct variant_check *check = &w->checks[r];
        check->error = NAN;
        if (stopped(c))
            return lab_fail(LAB_E_CANCELLED, "stopped");
        tell(c, variant, NULL);
        check->status = variant->wrong_on_purpose
                            ? lab_ladder_serves(&c->machine->info, variant)
                            : check_variant(c->backend, c->ladder, variant,
                                            &w->numbers, &check->error);
        if (check->status)
            snprintf(check->reason, sizeof(check->reason), "%s%s%s",
                     lab_error(), variant->needs ? "; it needs " : "",
                     variant->needs ? variant->needs : "");
        if (check->status && c->failed)
            c->failed(c->user, variant, check->status);
    }
    return LAB_OK;
}

static enum lab_status make_room(struct climb *w)
{
    const struct lab_ladder_run *c = w->c;
    struct lab_arena *m = &w->memory;
    w->ns = lab_arena_array(m, (size_t)c->repeats, sizeof(*w->ns));
    w->sorted = lab_arena_array(m, (size_t)c->repeats, sizeof(*w->sorted));
    w->checks = lab_arena_array(m, (size_t)c->n_variants, sizeof(*w->checks));
    if (!w->ns || !w->sorted || !w->checks)
        return lab_fail(LAB_E_NOMEM, "no memory for a lab's times");
    enum lab_status st = ladder_numbers_make(&w->numbers, c->seed);
    if (!st && c->machine->flush_bytes)
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
        st = check_variants(&w);
    for (int s = 0; s < climb->n_sizes && !st; s++)
        st = climb_size(&w, s);
    if (w.flush)
        lab_backend_free(climb->backend, w.flush);
    ladder_numbers_release(&w.numbers);
    lab_arena_release(&w.memory);
    return st;
}

/* A variant at one size, observed: traces it, counts it.
 *
 * Once before `look`: what a library does at its first call is not the
 * variant's work. */
static enum lab_status with_tensors(struct launch *l, lab_ladder_look_fn *look,
                                    void *user)
{
    enum lab_status st = ladder_tensors_ready(l->t, l->variant);
    if (st)
        return st;
    st = run_again(l);
    if (!st)
        st = lab_backend_sync(l->t->be);
    if (!st)
        st = look(user, run_again, l);
    ladder_tensors_done(l->t, l->variant);
    return st;
}

enum lab_status lab_ladder_launch(struct lab_backend *be,
                                  const struct lab_operation *op,
                                  const struct lab_variant *variant,
                                  const struct lab_ladder_size *size,
                                  uint64_t seed, lab_ladder_look_fn *look,
                                  void *user)
{
    struct lab_ladder_numbers n;
    struct lab_ladder_tensors t;
    struct launch l = {&t, variant};
    enum lab_status st = ladder_numbers_make(&n, seed);
    if (!st)
        st = ladder_tensors_make(&t, be, op, size, variant->precision, &n);
    if (!st) {
        st = with_tensors(&l, look, user);
        ladder_tensors_release(&t);
    }
    ladder_numbers_release(&n);
    return st;
}
