/* kernels/attention_cudnn.cu -- the group of attention by NVIDIA's cuDNN:
 * cudnnMultiHeadAttn, with the projections left out.
 *
 * q, k and v are projected already, and lie as (N, T, H, E). cuDNN's heads are
 * for projections of one input; ours have an input each. So a head is one of
 * cuDNN's beams, which each have their own keys and values (ONE_TO_ONE), and
 * nothing is copied. The mask is a window of keys for every query.
 *
 * Backward needs what forward left in cuDNN's reserve: the one of this
 * iteration, once; otherwise forward runs again, as for recurrent layers. */
#include "attention.h"
#include "base/mem.h"
#include "cudnn_entry.cuh"

enum { Q, K, V, O, ATTENTION };

struct attention_plan {
    size_t work_bytes;
    size_t reserve_bytes;
    size_t ctx_at;   /* in the workspace: forward's result, once more */
    size_t spare_at; /* and room for gradients that nobody wants */
    size_t total;
    int *from; /* first key of each query, and one behind its last */
    int *to;
    bool filled;
    uint64_t iteration;
    uint64_t seed;
    const void *q;
};

struct attention_job {
    const struct lab_call *call;
    struct lab_attention_dims d;
    bool causal;
    struct lab_cudnn *dnn;
    struct lab_cudnn_entry *entry;
    struct attention_plan *plan;
    const struct lab_view *in; /* q, k, v */
};

static const char text[] = "attention cudnn";

static enum lab_status judge(const struct attention_job *j, int status)
{
    return cudnn_judge(j->call, status, text);
}

/* (N, T, H, width), every sequence of full length. */
static int describe(const struct attention_job *j, int which, int64_t T,
                    int64_t width, const int *length)
{
    enum { TIME = 0, BATCH = 1, BEAM = 2, VECTOR = 3 };
    const int axes[] = {BATCH, TIME, BEAM, VECTOR};
    const int dim[] = {(int)T, (int)j->d.N, (int)j->d.H, (int)width};
    return j->dnn->seq_set(j->entry->descriptor[which], LAB_CUDNN_FLOAT, 4, dim,
                           axes, (size_t)(j->d.N * j->d.H), length, nullptr);
}

static enum lab_status describe_all(const struct attention_job *j,
                                    const int *q_length, const int *k_length)
{
    enum { ONE_TO_ONE = 1 };
    const struct lab_attention_dims *d = &j->d;
    struct attention_plan *p = j->plan;
    void *self = j->entry->descriptor[ATTENTION];
    size_t weights = 0;
    int status = describe(j, Q, d->Tq, d->E, q_length);
    if (!status)
        status = describe(j, K, d->Tk, d->E, k_length);
    if (!status)
        status = describe(j, V, d->Tk, d->F, k_length);
    if (!status)
        status = describe(j, O, d->Tq, d->F, q_length);
    if (!status)
        status = j->dnn->attn_set(self, ONE_TO_ONE, 1, 1.0 / sqrt((double)d->E),
                                  LAB_CUDNN_FLOAT, LAB_CUDNN_FLOAT,
                                  LAB_CUDNN_FMA, nullptr, nullptr, (int)d->E,
                                  (int)d->E, (int)d->F, 0, 0, 0, 0, (int)d->Tq,
                                  (int)d->Tk, (int)d->N, (int)d->H);
    if (!status)
        status = j->dnn->attn_room(j->dnn->handle, self, &weights,
                                   &p->work_bytes, &p->reserve_bytes);
    return judge(j, status);
}

/* The entry's memory: the lengths of the queries' sequences, those of the
 * keys', then the reserve. */
static size_t lengths_bytes(const struct attention_job *j)
{
    return cudnn_round((size_t)(j->d.N * j->d.H) * sizeof(int));
}

static char *memory(const struct attention_job *j, int part)
{
    return static_cast<char *>(j->entry->memory) +
           (size_t)part * lengths_bytes(j);
}

static enum lab_status make_lengths(const struct attention_job *j, int *length)
{
    int64_t n = j->d.N * j->d.H;
    const int64_t T[] = {j->d.Tq, j->d.Tk};
    for (int part = 0; part < 2; part++) {
        for (int64_t i = 0; i < n; i++)
            length[part * n + i] = (int)T[part];
    }
    enum lab_status st = describe_all(j, length, length + n);
    if (!st)
        st = cudnn_memory(j->call, j->entry,
                          2 * lengths_bytes(j) + j->plan->reserve_bytes);
    for (int part = 0; part < 2 && !st; part++) {
        cudaError_t err =
            cudaMemcpy(memory(j, part), length + part * n,
                       (size_t)n * sizeof(int), cudaMemcpyHostToDevice);
        if (err != cudaSuccess)
            st =
                lab_fail(LAB_E_DEVICE, "%s: %s", text, cudaGetErrorString(err));
    }
    return st;
}

static enum lab_status make(const struct attention_job *j)
{
    const struct lab_cudnn *dnn = j->dnn;
    struct lab_cudnn_entry *e = j->entry;
    struct attention_plan *p = j->plan;
    const struct lab_attention_dims *d = &j->d;
    const int64_t sizes[] = {d->N * d->H, d->Tq * d->E * d->H,
                             d->Tk * d->E * d->H, d->Tk * d->F * d->H};
    if (!dnn->attn_backward || !dnn->attn_forward || !dnn->attn_set ||
        !dnn->seq_set || !cudnn_fits(sizes, 4))
        return lab_fail(LAB_E_UNSUPPORTED,
                        "%s: cuDNN has it not, or not for these sizes", text);
    for (int i = Q; i <= O; i++) {
        if (!cudnn_descriptor(e, dnn->seq_create, dnn->seq_destroy))
            return lab_fail(LAB_E_NOMEM, "no memory for cuDNN's descriptors");
    }
    int *length = static_cast<int *>(
        lab_alloc_array((size_t)(2 * d->N * d->H), sizeof(*length)));
    if (!length || !cudnn_descriptor(e, dnn->attn_create, dnn->attn_destroy)) {
        lab_free(length);
        return lab_fail(LAB_E_NOMEM, "no memory for cuDNN's descriptors");
    }
    enum lab_status st = make_lengths(j, length);
    lab_free(length);
    for (int64_t i = 0; i < d->Tq && !st; i++)
        p->to[i] = (int)(j->causal && i + 1 < d->Tk ? i + 1 : d->Tk);
    p->ctx_at = cudnn_round(p->work_bytes);
    p->spare_at = p->ctx_at + cudnn_round((size_t)(d->N * d->Tq * d->H * d->F) *
                                          sizeof(float));
    p->total = p->spare_at +
               cudnn_round((size_t)j->in[0].count * sizeof(float)) +
               cudnn_round((size_t)j->in[1].count * sizeof(float)) +
               cudnn_round((size_t)j->in[2].count * sizeof(float));
    return st;
}

/* q, k and v stand from in[at] on. */
static enum lab_status job_of(const struct lab_call *call, int at,
                              struct attention_job *j)
{
    const auto *params = lab_params<lab_attention_params>(call);
    *j = {};
    j->call = call;
    j->in = &call->in[at];
    j->d = lab_attention_sizes(&j->in[0], &j->in[1], &j->in[2], params->heads);
    j->causal = params->causal;
    j->dnn = call->exec->cudnn;
    const struct lab_attention_dims *d = &j->d;
    struct cudnn_key key = {{CUDNN_ATTENTION, call->node, j->causal, d->N, d->H,
                             d->Tq, d->Tk, d->E, d->F}};
    size_t windows = (size_t)d->Tq * sizeof(int);
    enum lab_status st = cudnn_entry_of(
        call, key, sizeof(struct attention_plan) + 2 * windows, &j->entry);
    if (st)
        return st;
    j->plan = static_cast<struct attention_plan *>(j->entry->plan);
    if (!j->entry->ready) {
        j->plan->from = reinterpret_cast<int *>(j->plan + 1);
        j->plan->to = j->plan->from + d->Tq;
        st = cudnn_entry_made(call, j->entry, make(j));
    }
    return st ? st : cudnn_workspace(call, j->plan->total);
}

static enum lab_status run(const struct attention_job *j, void *ctx)
{
    struct attention_plan *p = j->plan;
    void **d = j->entry->descriptor;
    int status = j->dnn->attn_forward(
        j->dnn->handle, d[ATTENTION], -1, p->from, p->to,
        reinterpret_cast<int *>(memory(j, 0)),
        reinterpret_cast<int *>(memory(j, 1)), d[Q], j->in[0].data, nullptr,
        d[K], j->in[1].data, d[V], j->in[2].data, d[O], ctx, 0, nullptr,
        p->work_bytes, j->dnn->workspace, p->reserve_bytes, memory(j, 2));
    p->filled = status == 0;
    p->iteration = j->call->iteration;
    p->seed = j->call->seed;
    p->q = j->in[0].data;
    return judge(j, status);
}

static enum lab_status attend_forward(const struct lab_call *call)
{
    struct attention_job j;
    enum lab_status st = job_of(call, 0, &j);
    return st ? st : run(&j, call->out[0].data);
}

/* Where a gradient goes: out, or room that nobody reads. */
static void *target(const struct attention_job *j, int i)
{
    char *at = static_cast<char *>(j->dnn->workspace) + j->plan->spare_at;
    if (j->call->out[i].data)
        return j->call->out[i].data;
    for (int k = 0; k < i; k++)
        at += cudnn_round((size_t)j->in[k].count * sizeof(float));
    return at;
}

static enum lab_status attend_backward(const struct lab_call *call)
{
    struct attention_job j;
    enum lab_status st = job_of(call, 1, &j);
    if (st)
        return st;
    struct attention_plan *p = j.plan;
    void **d = j.entry->descriptor;
    bool there = p->filled && p->iteration == call->iteration &&
                 p->seed == call->seed && p->q == j.in[0].data;
    if (!there)
        st = run(&j, static_cast<char *>(j.dnn->workspace) + p->ctx_at);
    p->filled = false;
    if (st)
        return st;
    return judge(&j, j.dnn->attn_backward(
                         j.dnn->handle, d[ATTENTION], p->from, p->to,
                         reinterpret_cast<int *>(memory(&j, 0)),
                         reinterpret_cast<int *>(memory(&j, 1)), d[O],
                         call->in[0].data, d[Q], target(&j, 0), j.in[0].data,
                         d[K], target(&j, 1), j.in[1].data, d[V], target(&j, 2),
                         j.in[2].data, 0, nullptr, p->work_bytes,
                         j.dnn->workspace, p->reserve_bytes, memory(&j, 2)));
}

static enum lab_status prepare(const struct lab_call *call, int at)
{
    struct attention_job j;
    enum lab_status st = job_of(call, at, &j);
    if (!st)
        j.plan->filled = false;
    return st;
}

static enum lab_status prepare_forward(const struct lab_call *call)
{
    return prepare(call, 0);
}

static enum lab_status prepare_backward(const struct lab_call *call)
{
    return prepare(call, 1);
}

static const char source[] = "kernels/attention_cudnn.cu";

static const struct lab_variant variants[] = {
    lab_row("cudnn", nullptr, LAB_FORWARD, attend_forward, source,
            "attend_forward", false, prepare_forward),
    lab_row("cudnn", nullptr, LAB_BACKWARD, attend_backward, source,
            "attend_backward", false, prepare_backward),
};

const struct lab_kernel_set lab_cudnn_attention =
    lab_set("attention", variants);
const struct lab_kernel_set lab_cudnn_scaled_dot_attention =
    lab_set("scaled_dot_attention", variants);
