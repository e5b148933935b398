/* Times every variant of a few steps at realistic sizes on the GPU: medians of
 * 20 runs between two events, after 5 that are not counted.
 *
 *     cmake --build build/default --target bench_kernels
 *     build/default/bin/bench_kernels [PART OF A CASE'S NAME]
 *
 * One line a variant: case, variant, milliseconds, or why it does not serve the
 * sizes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention/attention.h"
#include "base/mem.h"
#include "base/quantile.h"
#include "conv2d/conv2d.h"
#include "engine/backend.h"
#include "pool/pool.h"
#include "common/random.h"

enum { WARM = 5, RUNS = 20, MOST = 8 };

struct shape {
    int rank;
    int64_t dim[4];
};

struct bench {
    const char *name;
    const char *op;
    const char *step; /* NULL: the group */
    enum lab_phase phase;
    struct shape in[MOST];
    struct shape out[MOST];
    const void *params;
};

static const struct lab_conv2d_params nchw = {
    {.size = {3, 3}, .stride = {1, 1}, .pad = {1, 1}}};
static const struct lab_conv2d_params nhwc = {
    {.nhwc = true, .size = {3, 3}, .stride = {1, 1}, .pad = {1, 1}}};
static const struct lab_attention_params attention = {6, true};
static const struct lab_pool_params pool = {{.size = {2, 2}, .stride = {2, 2}}};

#define X_NCHW                                                                 \
    {                                                                          \
        4,                                                                     \
        {                                                                      \
            128, 128, 14, 14                                                   \
        }                                                                      \
    }
#define W_NCHW                                                                 \
    {                                                                          \
        4,                                                                     \
        {                                                                      \
            128, 128, 3, 3                                                     \
        }                                                                      \
    }
#define X_NHWC                                                                 \
    {                                                                          \
        4,                                                                     \
        {                                                                      \
            128, 14, 14, 128                                                   \
        }                                                                      \
    }
#define W_NHWC                                                                 \
    {                                                                          \
        4,                                                                     \
        {                                                                      \
            3, 3, 128, 128                                                     \
        }                                                                      \
    }
#define FIRST                                                                  \
    {                                                                          \
        4,                                                                     \
        {                                                                      \
            128, 1, 28, 28                                                     \
        }                                                                      \
    }
#define FIRST_W                                                                \
    {                                                                          \
        4,                                                                     \
        {                                                                      \
            32, 1, 3, 3                                                        \
        }                                                                      \
    }
#define FIRST_Y                                                                \
    {                                                                          \
        4,                                                                     \
        {                                                                      \
            128, 32, 28, 28                                                    \
        }                                                                      \
    }
#define HALF                                                                   \
    {                                                                          \
        4,                                                                     \
        {                                                                      \
            128, 32, 14, 14                                                    \
        }                                                                      \
    }
#define SEQUENCE                                                               \
    {                                                                          \
        3,                                                                     \
        {                                                                      \
            64, 128, 512                                                       \
        }                                                                      \
    }
#define TURNED                                                                 \
    {                                                                          \
        3,                                                                     \
        {                                                                      \
            128, 64, 512                                                       \
        }                                                                      \
    }
#define GATES                                                                  \
    {                                                                          \
        2,                                                                     \
        {                                                                      \
            2048, 512                                                          \
        }                                                                      \
    }
#define HEADS                                                                  \
    {                                                                          \
        3,                                                                     \
        {                                                                      \
            64, 256, 384                                                       \
        }                                                                      \
    }
#define STATE                                                                  \
    {                                                                          \
        2,                                                                     \
        {                                                                      \
            64, 512                                                            \
        }                                                                      \
    }

static const struct bench benches[] = {
    {"conv 128x128x14x14",
     "conv2d",
     "conv",
     LAB_FORWARD,
     {X_NCHW, W_NCHW},
     {X_NCHW},
     &nchw},
    {"conv 128x128x14x14 back",
     "conv2d",
     "conv",
     LAB_BACKWARD,
     {X_NCHW, X_NCHW, W_NCHW},
     {W_NCHW, X_NCHW},
     &nchw},
    {"conv nhwc 128x14x14x128",
     "conv2d",
     "conv",
     LAB_FORWARD,
     {X_NHWC, W_NHWC},
     {X_NHWC},
     &nhwc},
    {"conv nhwc 128x14x14x128 back",
     "conv2d",
     "conv",
     LAB_BACKWARD,
     {X_NHWC, X_NHWC, W_NHWC},
     {W_NHWC, X_NHWC},
     &nhwc},
    {"conv first 128x1x28x28",
     "conv2d",
     "conv",
     LAB_FORWARD,
     {FIRST, FIRST_W},
     {FIRST_Y},
     &nchw},
    {"conv first 128x1x28x28 back",
     "conv2d",
     "conv",
     LAB_BACKWARD,
     {FIRST_Y, FIRST, FIRST_W},
     {FIRST_W},
     &nchw},
    {"avg_pool", "avg_pool2d", "pool", LAB_FORWARD, {FIRST_Y}, {HALF}, &pool},
    {"max_pool steps",
     "max_pool2d",
     "pool",
     LAB_FORWARD,
     {FIRST_Y},
     {HALF, HALF},
     &pool},
    {"max_pool group",
     "max_pool2d",
     NULL,
     LAB_FORWARD,
     {FIRST_Y},
     {HALF},
     &pool},
    {"softmax 8192x1024",
     "softmax",
     "softmax",
     LAB_FORWARD,
     {{2, {8192, 1024}}},
     {{2, {8192, 1024}}},
     NULL},
    {"lstm 64x128x512",
     "lstm",
     NULL,
     LAB_FORWARD,
     {SEQUENCE, GATES, GATES, {1, {2048}}, STATE, STATE},
     {SEQUENCE, TURNED},
     NULL},
    {"lstm 64x128x512 both ways",
     "lstm",
     NULL,
     LAB_BACKWARD,
     {SEQUENCE, SEQUENCE, GATES, GATES, {1, {2048}}, STATE, STATE, TURNED},
     {SEQUENCE, GATES, GATES, {1, {2048}}, STATE, STATE},
     NULL},
    {"attention 64x256x384",
     "attention",
     NULL,
     LAB_FORWARD,
     {HEADS, HEADS, HEADS},
     {HEADS},
     &attention},
    {"attention 64x256x384 back",
     "attention",
     NULL,
     LAB_BACKWARD,
     {HEADS, HEADS, HEADS, HEADS, HEADS},
     {HEADS, HEADS, HEADS},
     &attention},
};

struct tensors {
    struct lab_view view[MOST];
    int n;
};

/* NULL data where the shape has no rank. */
static enum lab_status take(struct lab_backend *be, const struct shape *shapes,
                            struct tensors *out)
{
    *out = (struct tensors){.n = 0};
    for (int i = 0; i < MOST; i++) {
        struct lab_view *v = &out->view[i];
        if (shapes[i].rank > 0)
            out->n = i + 1;
        v->rank = shapes[i].rank;
        v->count = v->rank > 0;
        for (int d = 0; d < v->rank; d++) {
            v->dim[d] = shapes[i].dim[d];
            v->count *= v->dim[d];
        }
        if (v->rank == 0)
            continue;
        size_t bytes = (size_t)v->count * sizeof(float);
        float *host = lab_alloc(bytes);
        if (!host)
            return lab_fail(LAB_E_NOMEM, "no memory for %zu bytes", bytes);
        for (int64_t k = 0; k < v->count; k++)
            host[k] = (float)(lab_random_unit(lab_random_word(7, (uint32_t)i, 0,
                                                              (uint64_t)k)) /
                                  10 -
                              0.05);
        enum lab_status st = lab_backend_alloc(be, bytes, &v->data);
        if (!st)
            st = lab_backend_upload(be, v->data, host, bytes);
        lab_free(host);
        if (st)
            return st;
    }
    return LAB_OK;
}

static void give_back(struct lab_backend *be, struct tensors *t)
{
    for (int i = 0; i < t->n; i++)
        lab_backend_free(be, t->view[i].data);
}

/* A recurrent layer's way back follows its forward, and is timed with it. */
static enum lab_status run_pair(struct lab_backend *be,
                                const struct lab_variant *v,
                                struct lab_call *call)
{
    if (v->step || v->phase != LAB_BACKWARD || call->n_in < 8)
        return lab_backend_run(be, v, call);
    const struct lab_variant *first =
        lab_backend_variant(be, LAB_F32, "lstm", NULL, LAB_FORWARD, v->name);
    struct lab_view out[] = {call->in[0], call->in[7]};
    struct lab_call forward = *call;
    forward.in = call->in + 1;
    forward.n_in = 6;
    forward.out = out;
    forward.n_out = 2;
    enum lab_status st = lab_backend_run(be, first, &forward);
    return st ? st : lab_backend_run(be, v, call);
}

static enum lab_status time_variant(struct lab_backend *be,
                                    const struct lab_variant *v,
                                    struct lab_call *call, double *ms)
{
    int64_t ns;
    double times[RUNS];
    enum lab_status st = lab_backend_prepare(be, v, call);
    for (int i = 0; i < WARM && !st; i++)
        st = run_pair(be, v, call);
    for (int i = 0; i < RUNS && !st; i++) {
        st = lab_backend_sync(be);
        if (!st)
            st = lab_backend_time_begin(be);
        if (!st)
            st = run_pair(be, v, call);
        if (!st)
            st = lab_backend_time_end(be, &ns);
        times[i] = (double)ns / 1e6;
    }
    if (st)
        return st;
    lab_sort_reals(times, RUNS);
    *ms = lab_quantile(times, RUNS, 0.5);
    return LAB_OK;
}

static void time_all(struct lab_backend *be, const struct bench *b,
                     struct lab_call *call)
{
    int n = 0;
    const struct lab_kernel_set *const *sets = be->ops->sets(be, LAB_F32, &n);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < sets[i]->count; k++) {
            const struct lab_variant *v = &sets[i]->variants[k];
            double ms = 0;
            if (strcmp(sets[i]->op, b->op) != 0 || v->phase != b->phase ||
                !v->step != !b->step ||
                (b->step && strcmp(v->step, b->step) != 0))
                continue;
            if (time_variant(be, v, call, &ms))
                printf("%-32s %-26s %s\n", b->name, v->name, lab_error());
            else
                printf("%-32s %-26s %.4f ms\n", b->name, v->name, ms);
            fflush(stdout);
        }
    }
}

static enum lab_status run_bench(struct lab_backend *be, const struct bench *b)
{
    struct tensors in;
    struct tensors out = {.n = 0};
    enum lab_status st = take(be, b->in, &in);
    if (!st)
        st = take(be, b->out, &out);
    struct lab_call call = {.in = in.view,
                            .n_in = in.n,
                            .out = out.view,
                            .n_out = out.n,
                            .params = b->params,
                            .training = true};
    if (!st)
        time_all(be, b, &call);
    give_back(be, &in);
    give_back(be, &out);
    return st;
}

int main(int argc, char **argv)
{
    struct lab_backend *be = NULL;
    if (lab_backend_open(&be, "cuda", 0)) {
        fprintf(stderr, "bench_kernels: %s\n", lab_error());
        return 1;
    }
    int failed = 0;
    for (size_t i = 0; i < sizeof(benches) / sizeof(benches[0]); i++) {
        if (argc > 1 && !strstr(benches[i].name, argv[1]))
            continue;
        if (run_bench(be, &benches[i])) {
            fprintf(stderr, "bench_kernels: %s\n", lab_error());
            failed = 1;
        }
    }
    lab_backend_close(be);
    return failed;
}
