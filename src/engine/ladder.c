/* The ladders: names, sizes, what they cost, and what a model promises. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/ceiling.h"
#include "ladder_priv.h"

enum ladder_id { VECTOR_ADD, SAXPY, TRANSPOSE, REDUCTION, GEMM, LADDERS };

static const struct lab_ladder ladders[LADDERS] = {
    [VECTOR_ADD] = {"vector_add", "C = A + B", "N", 1, false, "50000,4000000",
                    "50000,1000000,67108864"},
    [SAXPY] = {"saxpy", "y = 2 x + y", "N", 1, false, "100000,4000000",
               "1000000,20971520,134217728"},
    [TRANSPOSE] = {"transpose", "a matrix turned", "RxC", 2, false, "500,2000",
                   "1024,8192,8191x8193"},
    [REDUCTION] = {"reduction", "the sum of a vector", "N", 1, false,
                   "100000,4000000", "1000000,67108864"},
    [GEMM] = {"gemm", "C = A B", "MxNxK", 3, true, "128,256,500",
              "1024,2048,4096,6000"},
};

const struct lab_ladder *lab_ladder_at(int i)
{
    return i >= 0 && i < LADDERS ? &ladders[i] : NULL;
}

static enum ladder_id id_of(const struct lab_ladder *l)
{
    return (enum ladder_id)(l - ladders);
}

enum lab_status lab_ladder_find(const char *name, const struct lab_ladder **out)
{
    const char *names[LADDERS];
    for (int i = 0; i < LADDERS; i++) {
        names[i] = ladders[i].name;
        if (strcmp(name, names[i]) == 0) {
            *out = &ladders[i];
            return LAB_OK;
        }
    }
    const char *near = lab_nearest(name, names, LADDERS);
    return lab_fail(LAB_E_NOTFOUND, "no lab %s; %s%s%s", name,
                    near ? "did you mean "
                         : "there are vector_add, saxpy, "
                           "transpose, reduction and gemm",
                    near ? near : "", near ? "?" : "");
}

/* ---- sizes ---- */

static enum lab_status wrong_size(const struct lab_ladder *l, const char *text,
                                  const char *why)
{
    return lab_fail(LAB_E_USAGE,
                    "size %s: %s; a size of %s is %s, or one number for all "
                    "sides",
                    text, why, l->name, l->shape);
}

static const char *read_side(const char *at, char **end, int64_t *out)
{
    errno = 0;
    long long v = strtoll(at, end, 10);
    if (*end == at || (*at != '-' && (*at < '0' || *at > '9')))
        return "not a number";
    if (errno || v > INT32_MAX * 64LL)
        return "larger than any memory";
    if (v <= 0)
        return "a side is 1 or more";
    *out = v;
    return NULL;
}

enum lab_status lab_ladder_size(const struct lab_ladder *ladder,
                                const char *text, size_t bytes,
                                struct lab_ladder_size *out)
{
    struct lab_ladder_size s = {.dim = {1, 1, 1}};
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
    if (n > 1 && n < ladder->dims)
        return wrong_size(ladder, s.text, "a side is missing");
    for (int i = n; i < ladder->dims; i++)
        s.dim[i] = s.dim[0];
    *out = s;
    return LAB_OK;
}

/* ---- shapes and costs ---- */

int lab_ladder_tensor_shape(const struct lab_ladder *l,
                            const struct lab_ladder_size *s, int k,
                            int64_t *dim)
{
    const int64_t *d = s->dim;
    switch (id_of(l)) {
    case VECTOR_ADD:
        dim[0] = d[0];
        return k < 3;
    case SAXPY:
        dim[0] = d[0];
        return k < 2;
    case TRANSPOSE:
        dim[0] = d[k == 0 ? 0 : 1];
        dim[1] = d[k == 0 ? 1 : 0];
        return k < 2 ? 2 : 0;
    case REDUCTION:
        dim[0] = k == 0 ? d[0] : k == 1 ? 1 : LAB_LAB_SCRATCH;
        return k < 3;
    default: /* C (M, N) = A (M, K) B (K, N); a size is M, N, K */
        dim[0] = k == 1 ? d[2] : d[0];
        dim[1] = k == 0 ? d[2] : d[1];
        return k < 3 ? 2 : 0;
    }
}

double lab_ladder_flop(const struct lab_ladder *l,
                       const struct lab_ladder_size *s)
{
    double n = (double)s->dim[0];
    switch (id_of(l)) {
    case VECTOR_ADD:
        return n;
    case SAXPY:
        return 2 * n;
    case TRANSPOSE:
        return 0;
    case REDUCTION:
        return n - 1;
    default:
        return 2 * n * (double)s->dim[1] * (double)s->dim[2];
    }
}

double lab_ladder_bytes(const struct lab_ladder *l,
                        const struct lab_ladder_size *s)
{
    const double m = (double)s->dim[0];
    const double n = (double)s->dim[1];
    const double k = (double)s->dim[2];
    switch (id_of(l)) {
    case VECTOR_ADD:
    case SAXPY:
        return 12 * m;
    case TRANSPOSE:
        return 8 * m * n;
    case REDUCTION:
        return 4 * m;
    default:
        return 4 * (m * k + k * n + m * n);
    }
}

size_t lab_ladder_memory(const struct lab_ladder *l,
                         const struct lab_ladder_size *s)
{
    size_t all = 0;
    for (int k = 0; k < LAB_LADDER_TENSORS; k++) {
        int64_t dim[2] = {0, 1};
        size_t bytes;
        if (!lab_ladder_tensor_shape(l, s, k, dim))
            continue;
        if (!lab_mul_size((size_t)dim[0], (size_t)dim[1], &bytes) ||
            !lab_mul_size(bytes, sizeof(float), &bytes) ||
            !lab_add_size(all, bytes, &all))
            return 0;
    }
    return all;
}

/* ---- rungs and models ---- */

int lab_ladder_rungs(struct lab_backend *be, const struct lab_ladder *l,
                     const struct lab_rung **out, int max)
{
    const struct lab_rung *rung;
    int n = 0;
    for (int i = 0; (rung = lab_backend_rung(be, i)); i++) {
        if (strcmp(rung->ladder, l->name) == 0 && n < max)
            out[n++] = rung;
    }
    return n;
}

double lab_ladder_traffic(const struct lab_ladder *l,
                          const struct lab_rung *rung,
                          const struct lab_ladder_size *s)
{
    const struct lab_rung_model *m = &rung->model;
    if (m->library || (m->traffic == 0 && m->tile_m == 0))
        return NAN;
    if (m->tile_m == 0)
        return m->traffic * lab_ladder_bytes(l, s);
    double M = (double)s->dim[0];
    double N = (double)s->dim[1];
    double K = (double)s->dim[2];
    return 4 *
           (M * K * ceil(N / m->tile_n) + K * N * ceil(M / m->tile_m) + M * N);
}

/* A multiprocessor issues 4 instructions of a warp a cycle, has arithmetic for
 * 4 multiply-adds of a warp, and takes one access of 128 bytes. Its cycles are
 * counted from the peak of the data sheet: 4 * 32 * 2 operations each. */
double lab_ladder_model(const struct lab_ladder_machine *m,
                        const struct lab_ladder *l, const struct lab_rung *rung,
                        const struct lab_ladder_size *s)
{
    const struct lab_rung_model *model = &rung->model;
    double work =
        l->arithmetic ? lab_ladder_flop(l, s) : lab_ladder_bytes(l, s);
    if (model->library || (model->traffic == 0 && model->tile_m == 0))
        return NAN;
    /* Tiles are shared through L2, whose speed is not measured: where the pipes
     * are counted, memory is taken to move each tensor once at least. */
    double bytes = l->arithmetic && model->accesses > 0
                       ? lab_ladder_bytes(l, s)
                       : lab_ladder_traffic(l, rung, s);
    double seconds = bytes / m->copy_bytes_s;
    if (model->share > 0 && m->info.sm_count > 0)
        seconds *= m->info.sm_count / model->share;
    if (!l->arithmetic || model->accesses == 0)
        return work / seconds;
    if (m->info.peak_fp32_flops <= 0)
        return NAN;
    double cycles = fmax(fmax(1, model->instructions) / 4, model->accesses);
    double busy = work / m->info.peak_fp32_flops * 4 * cycles;
    return work / fmax(seconds, busy);
}

void lab_ladder_measure(struct lab_backend *be, struct lab_ladder_machine *out)
{
    enum { MIB = 1 << 20, HOST_FLUSH = 64 };
    struct lab_ceiling_result r;
    *out = (struct lab_ladder_machine){.copy_bytes_s = NAN, .fp32_flops = NAN};
    lab_backend_info(be, &out->info);
    if (!lab_backend_ceiling(be, LAB_CEILING_COPY, &r))
        out->copy_bytes_s = r.median;
    if (!lab_backend_ceiling(be, LAB_CEILING_FP32, &r))
        out->fp32_flops = r.median;
    /* Of a processor's cache that is larger something may stay; the head of
     * the table says how much is copied. */
    out->flush_bytes = (size_t)HOST_FLUSH * MIB;
    if (!be->host_memory && out->info.l2_bytes > 0)
        out->flush_bytes = (size_t)out->info.l2_bytes;
}
