/* kernels/conv2d_cudnn_measure.cu -- which of cuDNN's algorithms is the fastest
 * for a convolution, by trying them.
 *
 * When a schedule is made, and the work is worth it, each of cuDNN's list is run
 * a few times on scratch memory, with the copies that it needs, and one that is
 * a tenth faster than the best before it is taken. The choice holds as long as
 * the backend is open: a step that runs again gives the same bits. */
#include "conv2d_cudnn.cuh"

enum { TRIES = 3 };

/* Below this many multiplications and additions there is nothing to gain. */
static const double worth_measuring = 1e8;

/* A call of the same sizes on memory of its own. */
struct trial {
    struct lab_call call;
    struct lab_view in[3];
    struct lab_view out[2];
    cudaEvent_t begin;
    cudaEvent_t end;
    char *memory;
    size_t bytes;
};

static size_t views_bytes(const struct lab_view *views, int n)
{
    size_t bytes = 0;
    for (int i = 0; i < n; i++)
        bytes += cudnn_round((size_t)views[i].count * sizeof(float));
    return bytes;
}

static char *place(struct lab_view *to, const struct lab_view *from, int n,
                   char *at)
{
    for (int i = 0; i < n; i++) {
        to[i] = from[i];
        to[i].data = at;
        at += cudnn_round((size_t)from[i].count * sizeof(float));
    }
    return at;
}

/* Where there is no room, the first of the list stays: no error. */
static bool trial_open(struct trial *t, const struct conv_job *j,
                       size_t workspace)
{
    const struct lab_call *call = j->call;
    int n_in = j->dir == CONV_FORWARD ? 2 : 3;
    int n_out = j->dir == CONV_FORWARD ? 1 : 2;
    t->bytes =
        views_bytes(call->in, n_in) + views_bytes(call->out, n_out) + workspace;
    t->call = *call;
    if (cudaMalloc(&t->memory, t->bytes) != cudaSuccess) {
        (void)cudaGetLastError();
        return false;
    }
    char *at = place(t->in, call->in, n_in, t->memory);
    place(t->out, call->out, n_out, at);
    t->call.in = t->in;
    t->call.out = t->out;
    return cudaEventCreate(&t->begin) == cudaSuccess &&
           cudaEventCreate(&t->end) == cudaSuccess &&
           cudaMemsetAsync(t->memory, 0, t->bytes, lab_stream(call)) ==
               cudaSuccess;
}

static void trial_close(struct trial *t, const struct conv_job *j)
{
    (void)cudaStreamSynchronize(lab_stream(j->call));
    if (t->begin)
        (void)cudaEventDestroy(t->begin);
    if (t->end)
        (void)cudaEventDestroy(t->end);
    if (t->memory)
        (void)cudaFree(t->memory);
    (void)cudaGetLastError();
}

/* The shortest of a few runs; false: it does not run after all. */
static bool time_one(const struct trial *t, const struct conv_job *j,
                     float *best)
{
    struct conv_job on_trial = *j;
    on_trial.call = &t->call;
    *best = 0.0f;
    for (int i = 0; i <= TRIES; i++) { /* the first loads the kernels */
        float ms = 0.0f;
        (void)cudaEventRecord(t->begin, lab_stream(j->call));
        if (conv_execute(&on_trial) ||
            cudaEventRecord(t->end, lab_stream(j->call)) != cudaSuccess ||
            cudaEventSynchronize(t->end) != cudaSuccess ||
            cudaEventElapsedTime(&ms, t->begin, t->end) != cudaSuccess)
            return false;
        if (i == 1 || (i > 1 && ms < *best))
            *best = ms;
    }
    return true;
}

static int fastest(const struct trial *t, const struct conv_job *j,
                   const struct conv_candidate *listed, int n)
{
    int best = -1;
    float best_ms = 0.0f;
    for (int i = 0; i < n; i++) {
        float ms;
        if (!conv_take(j, listed[i]) || !time_one(t, j, &ms))
            continue;
        if (best < 0 || ms < 0.9f * best_ms) {
            best = i;
            best_ms = ms;
        }
    }
    return best;
}

enum lab_status conv_measure(struct conv_job *j)
{
    struct conv_candidate listed[CONV_CANDIDATES];
    struct lab_cudnn *dnn = j->dnn;
    double work = 2.0 * (double)(j->s.y.N * j->s.y.H * j->s.y.W) *
                  (double)conv_weights(j);
    if (j->plan->measured || work < worth_measuring)
        return LAB_OK;
    j->plan->measured = true;
    struct conv_plan first = *j->plan;
    int n = conv_list(j, listed);
    size_t most = 0;
    for (int i = 0; i < n; i++) {
        if (conv_take(j, listed[i]) && j->plan->total > most)
            most = j->plan->total;
    }
    struct trial t = {};
    int best = -1;
    if (n > 1 && trial_open(&t, j, most)) {
        void *workspace = dnn->workspace;
        dnn->workspace = t.memory + t.bytes - most;
        best = fastest(&t, j, listed, n);
        dnn->workspace = workspace;
    }
    trial_close(&t, j);
    if (best < 0 || !conv_take(j, listed[best]))
        conv_take(j, {first.mode, first.algorithm});
    return cudnn_workspace(j->call, j->plan->total);
}
