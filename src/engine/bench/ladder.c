/* The ladders: names, sizes, what they cost, and what a model promises. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "engine/ceiling.h"
#include "ladder_priv.h"

/* Images and heads have sides of several kinds: one number for all of them
 * would be no size that anybody means. */
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
        return lab_fail(LAB_E_NOTFOUND, "no lab %s; did you mean %s?", name,
                        near);
    lab_str_init(&all);
    for (int i = 0; i < n; i++)
        lab_str_addf(&all, "%s%s", i ? ", " : "", names[i]);
    enum lab_status st = lab_fail(LAB_E_NOTFOUND, "no lab %s; there are %s",
                                  name, lab_str_text(&all));
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
    return lab_fail(LAB_E_USAGE, "size %s: %s; a size of %s is %s%s", text, why,
                    l->name, l->shape,
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

int64_t lab_ladder_count(const struct lab_bench_tensor *t)
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

enum lab_status lab_ladder_shapes(const struct lab_operation *op,
                                  const struct lab_ladder_size *size,
                                  enum lab_precision p,
                                  struct lab_bench_tensor *out, int *count)
{
    memset(out, 0, LAB_BENCH_TENSORS * sizeof(*out));
    *count = op->tensors(size->dim, p, out);
    if (*count <= 0) {
        char why[LAB_LADDER_TEXT];
        snprintf(why, sizeof(why), "%s", lab_error());
        return lab_fail(LAB_E_UNSUPPORTED, "size %s in %s: %s", size->text,
                        lab_precision_name(p), why);
    }
    if (*count > LAB_BENCH_TENSORS || !in_order(out, *count))
        return lab_fail(LAB_E_STATE,
                        "%s: its tensors are not inputs, outputs, scratch, at "
                        "most %d",
                        op->name, LAB_BENCH_TENSORS);
    return LAB_OK;
}

bool lab_ladder_fills(const struct lab_operation *l,
                      const struct lab_bench_tensor *tensor)
{
    bool starts = tensor->role == LAB_ROLE_IN || tensor->role == LAB_ROLE_INOUT;
    return starts && (l->fill || tensor->dtype == LAB_I32);
}

/* Of all tensors, or only of those that are filled on the host. */
static size_t sum_bytes(const struct lab_operation *l,
                        const struct lab_ladder_size *s, enum lab_precision p,
                        bool filled)
{
    struct lab_bench_tensor t[LAB_BENCH_TENSORS];
    int n = 0;
    size_t all = 0;
    if (lab_ladder_shapes(l, s, p, t, &n))
        return 0;
    for (int k = 0; k < n; k++) {
        size_t bytes;
        int64_t count = lab_ladder_count(&t[k]);
        if (filled && !lab_ladder_fills(l, &t[k]))
            continue;
        if (count == 0 ||
            !lab_mul_size((size_t)count, lab_dtype_bytes(t[k].dtype), &bytes) ||
            !lab_add_size(all, bytes, &all))
            return 0;
    }
    return all;
}

size_t lab_ladder_memory(const struct lab_operation *l,
                         const struct lab_ladder_size *s, enum lab_precision p)
{
    return sum_bytes(l, s, p, false);
}

size_t lab_ladder_host_memory(const struct lab_operation *l,
                              const struct lab_ladder_size *s,
                              enum lab_precision p)
{
    return sum_bytes(l, s, p, true);
}

/* ---- rungs and models ---- */

int lab_ladder_rungs(struct lab_backend *be, const struct lab_operation *l,
                     const struct lab_variant **out, int max)
{
    const struct lab_variant *rung;
    int n = 0;
    for (int i = 0; n < max && (rung = lab_backend_rung(be, l->name, i)); i++) {
        if (!rung->family)
            out[n++] = rung;
    }
    return n;
}

int lab_ladder_candidates(struct lab_backend *be, const struct lab_operation *l,
                          const struct lab_variant *tuned,
                          const struct lab_variant **out, int max)
{
    const struct lab_variant *rung;
    int n = 0;
    for (int i = 0; n < max && (rung = lab_backend_rung(be, l->name, i)); i++) {
        if (rung->family && strcmp(rung->family, tuned->name) == 0 &&
            rung->precision == tuned->precision)
            out[n++] = rung;
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
                          const struct lab_variant *rung,
                          const struct lab_ladder_size *s)
{
    const struct lab_kernel_model *m = &rung->model;
    if (m->library)
        return l->library_traffic
                   ? l->library_traffic(s->dim, rung->precision, rung->name)
                   : (double)NAN;
    if (l->traffic)
        return l->traffic(s->dim, rung->precision, m);
    return m->traffic > 0 ? m->traffic * l->bytes(s->dim, rung->precision)
                          : NAN;
}

/* A multiprocessor issues 4 instructions of a warp a cycle, has arithmetic for
 * 4 multiply-adds of a warp, and takes one access of 128 bytes. Its cycles are
 * counted from the peak of the data sheet: 4 * 32 * 2 operations each. Without
 * counted pipes the arithmetic is bounded by the product that was measured. */
static double busy_seconds(const struct lab_ladder_machine *m,
                           const struct lab_variant *rung, double flop)
{
    const struct lab_kernel_model *model = &rung->model;
    if (model->accesses == 0) {
        double best = m->flops[rung->precision];
        return best > 0 ? flop / best : 0;
    }
    double cycles = fmax(fmax(1, model->instructions) / 4, model->accesses);
    return m->info.peak_fp32_flops > 0
               ? flop / m->info.peak_fp32_flops * 4 * cycles
               : NAN;
}

double lab_ladder_model(const struct lab_ladder_machine *m,
                        const struct lab_operation *l,
                        const struct lab_variant *rung,
                        const struct lab_ladder_size *s)
{
    const struct lab_kernel_model *model = &rung->model;
    double needed = l->bytes(s->dim, rung->precision);
    double traffic = lab_ladder_traffic(l, rung, s);
    if (l->unit == LAB_UNIT_TIME)
        return model->item_ns > 0 ? model->item_ns / 1e9 : NAN;
    if (model->library || isnan(traffic))
        return NAN;
    bool flops = l->unit == LAB_UNIT_FLOPS;
    /* Tiles are shared through L2, whose speed is not measured: where the pipes
     * are counted, memory is taken to move each tensor once at least. */
    double seconds =
        (flops && model->accesses > 0 ? needed : traffic) / m->copy_bytes_s;
    if (model->share > 0 && m->info.sm_count > 0)
        seconds *= m->info.sm_count / model->share;
    if (!flops)
        return needed / seconds;
    double busy = busy_seconds(m, rung, l->flop(s->dim));
    return isnan(busy) ? NAN : l->flop(s->dim) / fmax(seconds, busy);
}

void lab_ladder_measure(struct lab_backend *be, unsigned precisions,
                        struct lab_ladder_machine *out)
{
    static const enum lab_ceiling ceiling_of[LAB_PRECISION_COUNT] = {
        [LAB_FP32] = LAB_CEILING_FP32,
        [LAB_TF32] = LAB_CEILING_TF32,
        [LAB_BF16] = LAB_CEILING_BF16,
        [LAB_FP16] = LAB_CEILING_FP16,
        [LAB_FP64] = LAB_CEILING_COUNT};
    enum { MIB = 1 << 20, HOST_FLUSH = 64 };
    struct lab_ceiling_result r;
    *out = (struct lab_ladder_machine){.copy_bytes_s = NAN};
    lab_backend_info(be, &out->info);
    if (!lab_backend_ceiling(be, LAB_CEILING_COPY, &r))
        out->copy_bytes_s = r.median;
    for (int p = 0; p < LAB_PRECISION_COUNT; p++) {
        out->flops[p] = NAN;
        if ((p == LAB_FP32 || precisions >> p & 1) &&
            ceiling_of[p] != LAB_CEILING_COUNT &&
            !lab_backend_ceiling(be, ceiling_of[p], &r))
            out->flops[p] = r.median;
    }
    out->fp32_by_fma = !lab_backend_ceiling(be, LAB_CEILING_FMA, &r) &&
                       !(out->flops[LAB_FP32] >= r.median);
    if (out->fp32_by_fma)
        out->flops[LAB_FP32] = r.median;
    /* Of a processor's cache that is larger something may stay; the head of
     * the table states how much is read. */
    out->flush_bytes = (size_t)HOST_FLUSH * MIB;
    if (!be->host_memory && out->info.l2_bytes > 0)
        out->flush_bytes = (size_t)out->info.l2_bytes;
}
