/* kernels/recurrent/recurrent_cudnn.cu -- a whole rnn or lstm in one call of NVIDIA's
 * cuDNN: the group of a layer's steps, see sequence.h.
 *
 * cuDNN overlaps what the steps one by one cannot: the products with x of many
 * time steps are one product, and the launches of a time step are few. What it
 * computes in between stays inside.
 *
 *   layout    sequences as (T, N, D) there, (N, T, D) here: turned both ways
 *   weights   cuDNN's buffer has a matrix a gate, in the order i, f, a, o; ours
 *             are a, i, f, o. An rnn's (D, H) are turned: cuDNN has (H, D).
 *   bias      one, added to the product with x
 *
 * Backward needs what forward left in cuDNN's reserve, which belongs to the
 * layer's entry. It is used when the same iteration's forward has filled it, and
 * once: backward writes over it. Otherwise (the learner goes back one step, a
 * schedule was made between the two) forward runs once more, into nowhere. The
 * result is the same. */
#include "recurrent/recurrent_cudnn.cuh"
#include "recurrent/sequence.cuh"

/* back: from cuDNN's buffer, gradients. */
static __global__ void recurrent_weights_cudnn(float *theirs, float *W,
                                               float *U, float *b,
                                               struct recurrent_pieces all,
                                               bool back)
{
    struct recurrent_piece p = all.piece[blockIdx.y];
    int64_t e = lab_element();
    if (e >= p.rows * p.cols)
        return;
    int64_t row = p.first + e / p.cols;
    int64_t i =
        p.turned ? e % p.cols * p.rows + row : row * p.cols + e % p.cols;
    float *ours = (p.which == 0 ? W : p.which == 1 ? U : b) + i;
    float *other = theirs + p.at + e;
    *(back ? ours : other) = *(back ? other : ours);
}

/* ---- a step ---- */

static float *numbers(const struct recurrent_job *j, size_t at)
{
    return reinterpret_cast<float *>(recurrent_room(j, at));
}

/* To (B, A, C). */
static void turn(const struct recurrent_job *j, float *to, const float *from,
                 int64_t A, int64_t B, int64_t C)
{
    sequence_turn<<<lab_blocks(A * B * C), LAB_BLOCK, 0, lab_stream(j->call)>>>(
        to, from, A, B, C);
}

static void carry_weights(const struct recurrent_job *j, float *theirs,
                          float *W, float *U, float *b, bool back)
{
    const struct recurrent_pieces *all = &j->plan->pieces;
    dim3 grid(lab_blocks(all->most), (unsigned)all->count);
    recurrent_weights_cudnn<<<grid, LAB_BLOCK, 0, lab_stream(j->call)>>>(
        theirs, W, U, b, *all, back);
}

/* x and the weights, as cuDNN has them. */
static void carry_inputs(const struct recurrent_job *j)
{
    const struct lab_view *in = &j->call->in[j->at];
    const struct recurrent_plan *p = j->plan;
    turn(j, numbers(j, p->x_at), static_cast<float *>(in[0].data), p->N, p->T,
         p->D);
    carry_weights(j, numbers(j, p->weights_at),
                  static_cast<float *>(in[1].data),
                  static_cast<float *>(in[2].data),
                  static_cast<float *>(in[3].data), false);
}

static enum lab_status run(const struct recurrent_job *j, float *h,
                           bool training)
{
    const struct lab_view *in = &j->call->in[j->at];
    struct recurrent_plan *p = j->plan;
    void **d = j->entry->descriptor;
    int status = j->dnn->rnn_forward(
        j->dnn->handle, d[RECURRENT_LAYER],
        training ? LAB_CUDNN_TRAINING : LAB_CUDNN_INFERENCE, nullptr,
        d[RECURRENT_X], recurrent_room(j, p->x_at), d[RECURRENT_Y], h,
        d[RECURRENT_STATE], in[4].data, nullptr, d[RECURRENT_STATE],
        j->lstm ? in[5].data : nullptr, nullptr, p->weight_bytes,
        recurrent_room(j, p->weights_at), p->work_bytes,
        recurrent_room(j, p->work_at), training ? p->reserve_bytes : 0,
        training ? j->entry->memory : nullptr);
    if (training) {
        p->filled = status == 0;
        p->captured = j->call->exec->iteration != nullptr;
        p->iteration = j->call->iteration;
        p->seed = j->call->seed;
        p->x = in[0].data;
    }
    return recurrent_judge(j, status);
}

static bool has_reserve(const struct recurrent_job *j)
{
    const struct recurrent_plan *p = j->plan;
    return p->filled && p->captured == (j->call->exec->iteration != nullptr) &&
           p->iteration == j->call->iteration && p->seed == j->call->seed &&
           p->x == j->call->in[j->at].data;
}

static enum lab_status recurrent_forward(const struct lab_call *call)
{
    struct recurrent_job j;
    enum lab_status st = recurrent_job_of(call, 0, &call->out[1], &j);
    if (st)
        return st;
    const struct recurrent_plan *p = j.plan;
    float *h = lab_out(call, 1);
    carry_inputs(&j);
    st = run(&j, h, call->training);
    if (st)
        return st;
    if (call->out[0].rank == 3) {
        turn(&j, lab_out(call, 0), h, p->T, p->N, p->H);
    } else {
        int64_t last = p->N * p->H;
        turn(&j, lab_out(call, 0), h + (p->T - 1) * last, 1, 1, last);
    }
    return lab_launched("recurrent_cudnn");
}

/* dy (T, N, H) into the workspace; what comes back to the last h alone goes in
 * by another way. */
static enum lab_status carry_gradient(const struct recurrent_job *j,
                                      const void **dhy)
{
    const struct recurrent_plan *p = j->plan;
    float *dy = numbers(j, p->y_at);
    *dhy = nullptr;
    if (j->call->in[0].rank == 3) {
        turn(j, dy, lab_in(j->call, 0), p->N, p->T, p->H);
        return lab_launched("sequence_turn");
    }
    *dhy = lab_in(j->call, 0);
    cudaError_t err =
        cudaMemsetAsync(dy, 0, (size_t)(p->T * p->N * p->H) * sizeof(float),
                        lab_stream(j->call));
    return err == cudaSuccess ? LAB_OK : lab_launched("memset");
}

static enum lab_status gradients(const struct recurrent_job *j, const void *dhy)
{
    const struct lab_call *call = j->call;
    const struct lab_view *in = &call->in[j->at];
    const struct recurrent_plan *p = j->plan;
    void **d = j->entry->descriptor;
    const float *h = lab_in(call, 7);
    enum lab_status st = recurrent_judge(
        j,
        j->dnn->rnn_backward_data(
            j->dnn->handle, d[RECURRENT_LAYER], nullptr, d[RECURRENT_Y], h,
            recurrent_room(j, p->y_at), d[RECURRENT_X],
            recurrent_room(j, p->dx_at), d[RECURRENT_STATE], in[4].data, dhy,
            call->out[4].data, d[RECURRENT_STATE],
            j->lstm ? in[5].data : nullptr, nullptr,
            j->lstm ? call->out[5].data : nullptr, p->weight_bytes,
            recurrent_room(j, p->weights_at), p->work_bytes,
            recurrent_room(j, p->work_at), p->reserve_bytes, j->entry->memory));
    if (st)
        return st;
    /* It adds to what it finds. */
    st = lab_zero(call, recurrent_room(j, p->dweights_at), p->weight_bytes);
    if (st)
        return st;
    return recurrent_judge(
        j,
        j->dnn->rnn_backward_weights(
            j->dnn->handle, d[RECURRENT_LAYER], 0, nullptr, d[RECURRENT_X],
            recurrent_room(j, p->x_at), d[RECURRENT_STATE], in[4].data,
            d[RECURRENT_Y], h, p->weight_bytes,
            recurrent_room(j, p->dweights_at), p->work_bytes,
            recurrent_room(j, p->work_at), p->reserve_bytes, j->entry->memory));
}

static enum lab_status recurrent_backward(const struct lab_call *call)
{
    struct recurrent_job j;
    const void *dhy;
    enum lab_status st = recurrent_job_of(call, 1, &call->in[7], &j);
    if (st)
        return st;
    struct recurrent_plan *p = j.plan;
    carry_inputs(&j);
    if (!has_reserve(&j))
        st = run(&j, numbers(&j, p->y_at), true);
    if (!st)
        st = carry_gradient(&j, &dhy);
    if (!st)
        st = gradients(&j, dhy);
    p->filled = false; /* cuDNN writes over it on the way back */
    if (st)
        return st;
    carry_weights(&j, numbers(&j, p->dweights_at), lab_out(call, 1),
                  lab_out(call, 2), lab_out(call, 3), true);
    if (lab_out(call, 0))
        turn(&j, lab_out(call, 0), numbers(&j, p->dx_at), p->T, p->N, p->D);
    return lab_launched("recurrent_weights_cudnn");
}

/* A schedule that is made anew may come between forward and backward. */
static enum lab_status prepare(const struct lab_call *call, int at,
                               const struct lab_view *h)
{
    struct recurrent_job j;
    enum lab_status st = recurrent_job_of(call, at, h, &j);
    if (!st)
        j.plan->filled = false;
    return st;
}

static enum lab_status prepare_forward(const struct lab_call *call)
{
    return prepare(call, 0, &call->out[1]);
}

static enum lab_status prepare_backward(const struct lab_call *call)
{
    return prepare(call, 1, &call->in[7]);
}

static const char source[] = "kernels/recurrent/recurrent_cudnn.cu";

static const struct lab_variant variants[] = {
    lab_row("cudnn", nullptr, LAB_FORWARD, recurrent_forward, source,
            "recurrent_forward", false, prepare_forward),
    lab_row("cudnn", nullptr, LAB_BACKWARD, recurrent_backward, source,
            "recurrent_backward", false, prepare_backward),
};

const struct lab_kernel_set lab_cudnn_rnn = lab_set("rnn", variants);
const struct lab_kernel_set lab_cudnn_lstm = lab_set("lstm", variants);
