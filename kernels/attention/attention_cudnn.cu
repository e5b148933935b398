/* kernels/attention/attention_cudnn.cu -- the group of attention by NVIDIA's cuDNN:
 * cudnnMultiHeadAttn, with the projections left out.
 *
 * q, k and v are projected already, and lie as (N, T, H, E). cuDNN's heads are
 * for projections of one input; ours have an input each. So a head is one more
 * sequence of cuDNN's batch, which has to have it in one piece: (N, H, T, E).
 * One head lies so already; several are copied, in and out. The mask is a window
 * of keys for every query.
 *
 * Backward needs what forward left in cuDNN's reserve: the one of this
 * iteration, once; otherwise forward runs again, as for recurrent layers. */
#include "attention/attention.h"
#include "base/mem.h"
#include "library/cudnn_entry.cuh"
#include "common/launch.cuh"

enum { Q, K, V, O, ATTENTION };

struct attention_plan {
    size_t work_bytes;
    size_t reserve_bytes;
    size_t in_at[4];   /* in the workspace: copies of q, k, v and ctx or dctx */
    size_t grad_at[3]; /* dq, dk, dv */
    size_t total;
    int *from; /* first key of each query, and one behind its last */
    int *to;
    bool filled;
    bool captured; /* ... by a call that only a graph makes */
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

/* (N, A, B, width) -> (N, B, A, width) */
static __global__ void attend_turn_cudnn(float *to, const float *from,
                                         int64_t A, int64_t B, int64_t width,
                                         int64_t count)
{
    int64_t i = lab_element();
    if (i >= count)
        return;
    int64_t e = i % width;
    int64_t a = i / width % A;
    int64_t b = i / width / A % B;
    int64_t n = i / width / A / B;
    to[i] = from[((n * A + a) * B + b) * width + e];
}

/* N*H sequences of full length. */
static int describe(const struct attention_job *j, int which, int64_t T,
                    int64_t width, const int *length)
{
    enum { TIME = 0, BATCH = 1, BEAM = 2, VECTOR = 3 };
    const int axes[] = {BATCH, TIME, BEAM, VECTOR};
    const int dim[] = {(int)T, (int)(j->d.N * j->d.H), 1, (int)width};
    return j->dnn->seq_set(j->entry->descriptor[which], LAB_CUDNN_FLOAT, 4, dim,
                           axes, (size_t)(j->d.N * j->d.H), length, nullptr);
}

static enum lab_status describe_all(const struct attention_job *j,
                                    const int *q_length, const int *k_length)
{
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
        status = j->dnn->attn_set(self, 0, 1, 1.0 / sqrt((double)d->E),
                                  LAB_CUDNN_FLOAT, LAB_CUDNN_FLOAT,
                                  LAB_CUDNN_FMA, nullptr, nullptr, (int)d->E,
                                  (int)d->E, (int)d->F, 0, 0, 0, 0, (int)d->Tq,
                                  (int)d->Tk, (int)(d->N * d->H), 1);
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
        cudaError_t err = cudaMemcpyAsync(
            memory(j, part), length + part * n, (size_t)n * sizeof(int),
            cudaMemcpyHostToDevice, lab_stream(j->call));
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
                        "[launch.cudnn-attention] %s: cuDNN has it not, or not "
                        "for these sizes",
                        text);
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
    const int64_t count[] = {
        d->N * d->Tq * d->H * d->E, d->N * d->Tk * d->H * d->E,
        d->N * d->Tk * d->H * d->F, d->N * d->Tq * d->H * d->F};
    p->total = cudnn_round(p->work_bytes);
    for (int i = 0; i < 7; i++) {
        (i < 4 ? p->in_at[i] : p->grad_at[i - 4]) = p->total;
        p->total += cudnn_round((size_t)count[i % 4] * sizeof(float));
    }
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

static void *room(const struct attention_job *j, size_t at)
{
    return static_cast<char *>(j->dnn->workspace) + at;
}

static void turn(const struct attention_job *j, void *to, const void *from,
                 int64_t A, int64_t B, int64_t width)
{
    int64_t count = j->d.N * A * B * width;
    attend_turn_cudnn<<<lab_blocks(count), LAB_BLOCK, 0, lab_stream(j->call)>>>(
        static_cast<float *>(to), static_cast<const float *>(from), A, B, width,
        count);
}

/* Sizes of what Q, K, V or O describes. */
static int64_t time_of(const struct attention_job *j, int which)
{
    return which == Q || which == O ? j->d.Tq : j->d.Tk;
}

static int64_t width_of(const struct attention_job *j, int which)
{
    return which == Q || which == K ? j->d.E : j->d.F;
}

/* The tensor as cuDNN is to have it. */
static const void *given(const struct attention_job *j, int which,
                         const void *data)
{
    if (j->d.H == 1)
        return data;
    void *copy = room(j, j->plan->in_at[which]);
    turn(j, copy, data, time_of(j, which), j->d.H, width_of(j, which));
    return copy;
}

static void give_back(const struct attention_job *j, int which, void *out,
                      const void *copy)
{
    if (out && out != copy)
        turn(j, out, copy, j->d.H, time_of(j, which), width_of(j, which));
}

/* q, k and v, as cuDNN has them, into ctx. */
static enum lab_status run(const struct attention_job *j,
                           const void *const given[3], void *ctx)
{
    struct attention_plan *p = j->plan;
    void **d = j->entry->descriptor;
    int status = j->dnn->attn_forward(
        j->dnn->handle, d[ATTENTION], -1, p->from, p->to,
        reinterpret_cast<int *>(memory(j, 0)),
        reinterpret_cast<int *>(memory(j, 1)), d[Q], given[Q], nullptr, d[K],
        given[K], d[V], given[V], d[O], ctx, 0, nullptr, p->work_bytes,
        j->dnn->workspace, p->reserve_bytes, memory(j, 2));
    p->filled = status == 0;
    p->captured = j->call->exec->iteration != nullptr;
    p->iteration = j->call->iteration;
    p->seed = j->call->seed;
    p->q = j->in[0].data;
    return judge(j, status);
}

static enum lab_status attend_forward(const struct lab_call *call)
{
    struct attention_job j;
    enum lab_status st = job_of(call, 0, &j);
    if (st)
        return st;
    void *out = call->out[0].data;
    void *ctx = j.d.H == 1 ? out : room(&j, j.plan->in_at[O]);
    const void *const all[] = {given(&j, Q, j.in[Q].data),
                               given(&j, K, j.in[K].data),
                               given(&j, V, j.in[V].data)};
    st = run(&j, all, ctx);
    if (st)
        return st;
    give_back(&j, O, out, ctx);
    return lab_launched("attend_turn_cudnn");
}

/* Where cuDNN writes a gradient: where it is wanted, or into the workspace. */
static void *target(const struct attention_job *j, int i)
{
    void *out = j->call->out[i].data;
    return out && j->d.H == 1 ? out : room(j, j->plan->grad_at[i]);
}

static enum lab_status attend_backward(const struct lab_call *call)
{
    struct attention_job j;
    enum lab_status st = job_of(call, 1, &j);
    if (st)
        return st;
    struct attention_plan *p = j.plan;
    void **d = j.entry->descriptor;
    const void *const all[] = {given(&j, Q, j.in[Q].data),
                               given(&j, K, j.in[K].data),
                               given(&j, V, j.in[V].data)};
    bool there = p->filled &&
                 p->captured == (call->exec->iteration != nullptr) &&
                 p->iteration == call->iteration && p->seed == call->seed &&
                 p->q == j.in[0].data;
    if (!there)
        st = run(&j, all, room(&j, p->in_at[O]));
    p->filled = false;
    if (st)
        return st;
    const void *dctx = given(&j, O, call->in[0].data);
    st = judge(&j, j.dnn->attn_backward(
                       j.dnn->handle, d[ATTENTION], p->from, p->to,
                       reinterpret_cast<int *>(memory(&j, 0)),
                       reinterpret_cast<int *>(memory(&j, 1)), d[O], dctx, d[Q],
                       target(&j, Q), all[Q], d[K], target(&j, K), all[K], d[V],
                       target(&j, V), all[V], 0, nullptr, p->work_bytes,
                       j.dnn->workspace, p->reserve_bytes, memory(&j, 2)));
    for (int i = Q; i <= V && !st; i++)
        give_back(&j, i, call->out[i].data, target(&j, i));
    return st ? st : lab_launched("attend_turn_cudnn");
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

static const char source[] = "kernels/attention/attention_cudnn.cu";

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
