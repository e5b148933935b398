/* The updates over all elements, several at a time and on all threads
 * (cpu/vector.h): sgd reads and writes 3 to 5 numbers an element, adam and adamw
 * 7, so that memory bounds them. */
#include "cpu/vector.h"
#include "optimizer/optimizer.h"

#define LAB_VECTOR_FILE "kernels/optimizer/optimizer_vector.c"

static float scale_of(const struct lab_call *call, double clip)
{
    return call->n_in > 1 && call->in[1].data
               ? (float)lab_clip_scale(*(const float *)call->in[1].data, clip)
               : 1;
}

LAB_VECTOR static void sgd_part(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    const struct lab_sgd_params *params = call->params;
    const float *g = call->in[0].data;
    float *p = call->out[0].data;
    float lr = (float)params->lr;
    float decay = (float)params->weight_decay;
    float scale = scale_of(call, params->clip);
#pragma omp simd
    for (int64_t i = from; i < to; i++)
        p[i] -= lr * (scale * g[i] + decay * p[i]);
}

/* velocity = momentum velocity + d; p -= lr velocity, or with nesterov
 * lr (d + momentum velocity) */
LAB_VECTOR static void momentum_part(const void *arg, int64_t from, int64_t to)
{
    const struct lab_call *call = arg;
    const struct lab_sgd_params *params = call->params;
    const float *g = call->in[0].data;
    float *p = call->out[0].data;
    float *velocity = call->out[1].data;
    float lr = (float)params->lr;
    float momentum = (float)params->momentum;
    float decay = (float)params->weight_decay;
    float scale = scale_of(call, params->clip);
    bool nesterov = params->nesterov;
#pragma omp simd
    for (int64_t i = from; i < to; i++) {
        float d = scale * g[i] + decay * p[i];
        velocity[i] = momentum * velocity[i] + d;
        float ahead = d + momentum * velocity[i];
        p[i] -= lr * (nesterov ? ahead : velocity[i]);
    }
}

static enum lab_status sgd_update(const struct lab_call *call)
{
    return lab_each_element(call, call->out[1].data ? momentum_part : sgd_part);
}

/* What is the same for all elements of an update. */
struct adam {
    const float *g;
    float *p;
    float *m;
    float *v;
    float lr;
    float beta1;
    float beta2;
    float rest1; /* 1 - beta, subtracted in double */
    float rest2;
    float correct1; /* 1/(1 - beta^t) */
    float correct2;
    float eps;
    float scale;  /* of the gradient, by clipping */
    bool apart;   /* adamw: the decay does not go through the gradient, but */
    float shrink; /* is what is left of a parameter */
    float decay;  /* adam: added to the gradient */
};

static struct adam adam_of(const struct lab_call *call, bool decay_apart)
{
    const struct lab_adam_params *params = call->params;
    double t = (double)call->iteration + 1;
    double decay = params->weight_decay;
    return (struct adam){
        .g = call->in[0].data,
        .p = call->out[0].data,
        .m = call->out[1].data,
        .v = call->out[2].data,
        .lr = (float)params->lr,
        .beta1 = (float)params->beta1,
        .beta2 = (float)params->beta2,
        .rest1 = (float)(1 - params->beta1),
        .rest2 = (float)(1 - params->beta2),
        .correct1 = (float)(1 / (1 - pow(params->beta1, t))),
        .correct2 = (float)(1 / (1 - pow(params->beta2, t))),
        .eps = (float)params->eps,
        .scale = scale_of(call, params->clip),
        .apart = decay_apart,
        .decay = (float)decay,
        .shrink = decay_apart ? (float)(1 - params->lr * decay) : 1,
    };
}

LAB_VECTOR static void adam_part(const void *arg, int64_t from, int64_t to)
{
    const struct adam a = *(const struct adam *)arg;
#pragma omp simd
    for (int64_t i = from; i < to; i++) {
        float g = a.scale * a.g[i];
        float pulled = g + a.decay * a.p[i];
        float d = a.apart ? g : pulled;
        a.m[i] = a.beta1 * a.m[i] + a.rest1 * d;
        a.v[i] = a.beta2 * a.v[i] + a.rest2 * d * d;
        float step =
            a.lr * (a.m[i] * a.correct1) / (sqrtf(a.v[i] * a.correct2) + a.eps);
        a.p[i] = a.shrink * a.p[i] - step;
    }
}

/* A part a thread: each core has its moments from the iteration before. */
static enum lab_status adam_any(const struct lab_call *call, bool decay_apart)
{
    struct adam a = adam_of(call, decay_apart);
    int64_t share = call->out[0].count / lab_threads();
    lab_parallel(call->out[0].count, share > LAB_GRAIN ? share : LAB_GRAIN,
                 adam_part, &a);
    return LAB_OK;
}

static enum lab_status adam_update(const struct lab_call *call)
{
    return adam_any(call, false);
}

static enum lab_status adamw_update(const struct lab_call *call)
{
    return adam_any(call, true);
}

#define TABLE(op)                                                              \
    static const struct lab_variant op##_rows[] = {                            \
        LAB_VECTOR_ROW("update", LAB_UPDATE, op##_update)};                    \
    const struct lab_kernel_set lab_vector_##op = {#op, op##_rows, 1};

TABLE(sgd)
TABLE(adam)
TABLE(adamw)
