/* kernels/recurrent_cudnn.cu -- a whole rnn or lstm in one call of NVIDIA's
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
#include "base/mem.h"
#include "cudnn_entry.cuh"
#include "sequence.cuh"

enum { PIECES = 12 };

/* A block of cuDNN's weights: rows x cols, from `at` on; ours are the rows from
 * `first` on of weights, recurrent weights or bias (0, 1, 2), or those turned. */
struct piece {
    int64_t at;
    int64_t first;
    int64_t rows;
    int64_t cols;
    int which;
    bool turned;
};

struct pieces {
    struct piece piece[PIECES];
    int count;
    int64_t most; /* elements of the largest */
};

struct plan {
    int64_t N;
    int64_t T;
    int64_t D;
    int64_t H;
    size_t weight_bytes;
    size_t work_bytes;
    size_t reserve_bytes;
    size_t weights_at; /* bytes into the workspace */
    size_t dweights_at;
    size_t work_at;
    size_t x_at;
    size_t y_at;
    size_t dx_at;
    size_t total;
    struct pieces pieces;
    /* What the reserve is of. */
    bool filled;
    uint64_t iteration;
    uint64_t seed;
    const void *x;
};

enum { X, Y, STATE, MATRIX, BIAS, DROPOUT, RNN };

struct job {
    const struct lab_call *call;
    struct lab_cudnn *dnn;
    struct lab_cudnn_entry *entry;
    struct plan *plan;
    bool lstm;
    bool bias;
    int at; /* input that x is: 0 forward, 1 backward */
    const char *what;
};

/* back: from cuDNN's buffer, gradients. */
static __global__ void recurrent_weights_cudnn(float *theirs, float *W,
                                               float *U, float *b,
                                               struct pieces all, bool back)
{
    struct piece p = all.piece[blockIdx.y];
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

/* ---- a layer, once ---- */

static enum lab_status judge(const struct job *j, int status)
{
    return cudnn_judge(j->call, status, j->what);
}

static enum lab_status create(const struct job *j)
{
    const struct lab_cudnn *dnn = j->dnn;
    struct lab_cudnn_entry *e = j->entry;
    bool made =
        cudnn_descriptor(e, dnn->rnn_data_create, dnn->rnn_data_destroy) &&
        cudnn_descriptor(e, dnn->rnn_data_create, dnn->rnn_data_destroy) &&
        cudnn_descriptor(e, dnn->tensor_create, dnn->tensor_destroy) &&
        cudnn_descriptor(e, dnn->tensor_create, dnn->tensor_destroy) &&
        cudnn_descriptor(e, dnn->tensor_create, dnn->tensor_destroy) &&
        cudnn_descriptor(e, dnn->dropout_create, dnn->dropout_destroy) &&
        cudnn_descriptor(e, dnn->rnn_create, dnn->rnn_destroy);
    if (made)
        return LAB_OK;
    return lab_fail(LAB_E_NOMEM, "no memory for cuDNN's descriptors");
}

static enum lab_status describe_data(const struct job *j)
{
    const struct plan *p = j->plan;
    void **d = j->entry->descriptor;
    int *length =
        static_cast<int *>(lab_alloc_array((size_t)p->N, sizeof(*length)));
    if (!length)
        return lab_fail(LAB_E_NOMEM, "no memory for cuDNN's descriptors");
    for (int64_t n = 0; n < p->N; n++)
        length[n] = (int)p->T;
    int status =
        j->dnn->rnn_data_set(d[X], LAB_CUDNN_FLOAT, LAB_CUDNN_RNN_PACKED,
                             (int)p->T, (int)p->N, (int)p->D, length, nullptr);
    if (!status)
        status = j->dnn->rnn_data_set(d[Y], LAB_CUDNN_FLOAT,
                                      LAB_CUDNN_RNN_PACKED, (int)p->T,
                                      (int)p->N, (int)p->H, length, nullptr);
    lab_free(length);
    const int dim[] = {1, (int)p->N, (int)p->H};
    const int stride[] = {(int)(p->N * p->H), (int)p->H, 1};
    if (!status)
        status = j->dnn->tensor_nd(d[STATE], LAB_CUDNN_FLOAT, 3, dim, stride);
    return judge(j, status);
}

static enum lab_status describe_layer(const struct job *j)
{
    enum { STANDARD = 0, ONE_WAY = 0, LINEAR = 0, UNPADDED = 0 };
    struct plan *p = j->plan;
    void **d = j->entry->descriptor;
    size_t inference = 0;
    size_t none = 0;
    int status =
        j->dnn->dropout_set(d[DROPOUT], j->dnn->handle, 0.0f, nullptr, 0, 0);
    if (!status)
        status = j->dnn->rnn_set(
            d[RNN], STANDARD, j->lstm ? LAB_CUDNN_LSTM : LAB_CUDNN_RNN_TANH,
            j->bias ? LAB_CUDNN_RNN_INPUT_BIAS : LAB_CUDNN_RNN_NO_BIAS, ONE_WAY,
            LINEAR, LAB_CUDNN_FLOAT, LAB_CUDNN_FLOAT, LAB_CUDNN_FMA,
            (int32_t)p->D, (int32_t)p->H, (int32_t)p->H, 1, d[DROPOUT],
            UNPADDED);
    if (!status)
        status = j->dnn->rnn_weights(j->dnn->handle, d[RNN], &p->weight_bytes);
    if (!status)
        status = j->dnn->rnn_room(j->dnn->handle, d[RNN], LAB_CUDNN_INFERENCE,
                                  d[X], &inference, &none);
    if (!status)
        status = j->dnn->rnn_room(j->dnn->handle, d[RNN], LAB_CUDNN_TRAINING,
                                  d[X], &p->work_bytes, &p->reserve_bytes);
    if (inference > p->work_bytes)
        p->work_bytes = inference;
    return judge(j, status);
}

static void lay_out(struct plan *p)
{
    size_t rows = (size_t)(p->T * p->N) * sizeof(float);
    p->dweights_at = cudnn_round(p->weight_bytes);
    p->work_at = p->dweights_at + cudnn_round(p->weight_bytes);
    p->x_at = p->work_at + cudnn_round(p->work_bytes);
    p->y_at = p->x_at + cudnn_round(rows * (size_t)p->D);
    p->dx_at = p->y_at + cudnn_round(rows * (size_t)p->H);
    p->total = p->dx_at + rows * (size_t)p->D;
}

static char *room(const struct job *j, size_t at)
{
    return static_cast<char *>(j->dnn->workspace) + at;
}

static void add_piece(struct pieces *all, const struct piece &p)
{
    all->piece[all->count++] = p;
    if (p.rows * p.cols > all->most)
        all->most = p.rows * p.cols;
}

/* Where a gate's matrices and bias stand in cuDNN's buffer. */
static enum lab_status find_pieces(const struct job *j)
{
    static const int order[] = {1, 2, 0, 3}; /* i, f, a, o among a, i, f, o */
    struct plan *p = j->plan;
    void **d = j->entry->descriptor;
    char *base = room(j, p->weights_at);
    int gates = j->lstm ? 4 : 1;
    int status = 0;
    for (int k = 0; k < 2 * gates && !status; k++) {
        void *matrix = nullptr;
        void *bias = nullptr;
        int64_t first = j->lstm ? order[k % 4] * p->H : 0;
        bool recurrent = k >= gates;
        status = j->dnn->rnn_part(j->dnn->handle, d[RNN], 0, p->weight_bytes,
                                  base, k, d[MATRIX], &matrix, d[BIAS], &bias);
        if (status || !matrix)
            break;
        int64_t at = (static_cast<char *>(matrix) - base) / 4;
        add_piece(&p->pieces, {at, first, p->H, recurrent ? p->H : p->D,
                               recurrent, !j->lstm});
        at = bias ? (static_cast<char *>(bias) - base) / 4 : 0;
        if (bias && !recurrent)
            add_piece(&p->pieces, {at, first, p->H, 1, 2, false});
    }
    return judge(j, status);
}

static enum lab_status make(const struct job *j)
{
    struct plan *p = j->plan;
    const int64_t sizes[] = {p->N, p->T, p->D, 4 * p->H, p->N * p->H};
    if (!cudnn_fits(sizes, 5))
        return lab_fail(LAB_E_UNSUPPORTED,
                        "%s: cuDNN counts to 2^31 - 1 numbers", j->what);
    enum lab_status st = create(j);
    if (!st)
        st = describe_data(j);
    if (!st)
        st = describe_layer(j);
    if (st)
        return st;
    lay_out(p);
    st = cudnn_memory(j->call, j->entry, p->reserve_bytes);
    if (!st)
        st = cudnn_workspace(j->call, p->total);
    return st ? st : find_pieces(j);
}

/* x, W, U, b, h0, c0 stand from in[at] on; h: (T, N, H). */
static enum lab_status job_of(const struct lab_call *call, int at,
                              const struct lab_view *h, struct job *j)
{
    const struct lab_view *x = &call->in[at];
    *j = {};
    j->call = call;
    j->dnn = call->exec->cudnn;
    j->at = at;
    j->lstm = call->in[at + 5].count > 0;
    j->bias = call->in[at + 3].count > 0;
    j->what = j->lstm ? "lstm cudnn" : "rnn cudnn";
    struct cudnn_key key = {{CUDNN_RNN, j->lstm, j->bias, call->node, x->dim[0],
                             x->dim[1], x->dim[2], h->dim[2]}};
    enum lab_status st =
        cudnn_entry_of(call, key, sizeof(struct plan), &j->entry);
    if (st)
        return st;
    j->plan = static_cast<struct plan *>(j->entry->plan);
    if (!j->entry->ready) {
        j->plan->N = x->dim[0];
        j->plan->T = x->dim[1];
        j->plan->D = x->dim[2];
        j->plan->H = h->dim[2];
        st = cudnn_entry_made(call, j->entry, make(j));
    }
    return st ? st : cudnn_workspace(call, j->plan->total);
}

/* ---- a step ---- */

static float *numbers(const struct job *j, size_t at)
{
    return reinterpret_cast<float *>(room(j, at));
}

/* To (B, A, C). */
static void turn(const struct job *j, float *to, const float *from, int64_t A,
                 int64_t B, int64_t C)
{
    sequence_turn<<<lab_blocks(A * B * C), LAB_BLOCK, 0, lab_stream(j->call)>>>(
        to, from, A, B, C);
}

static void carry_weights(const struct job *j, float *theirs, float *W,
                          float *U, float *b, bool back)
{
    const struct pieces *all = &j->plan->pieces;
    dim3 grid(lab_blocks(all->most), (unsigned)all->count);
    recurrent_weights_cudnn<<<grid, LAB_BLOCK, 0, lab_stream(j->call)>>>(
        theirs, W, U, b, *all, back);
}

/* x and the weights, as cuDNN has them. */
static void carry_inputs(const struct job *j)
{
    const struct lab_view *in = &j->call->in[j->at];
    const struct plan *p = j->plan;
    turn(j, numbers(j, p->x_at), static_cast<float *>(in[0].data), p->N, p->T,
         p->D);
    carry_weights(j, numbers(j, p->weights_at),
                  static_cast<float *>(in[1].data),
                  static_cast<float *>(in[2].data),
                  static_cast<float *>(in[3].data), false);
}

static enum lab_status run(const struct job *j, float *h, bool training)
{
    const struct lab_view *in = &j->call->in[j->at];
    struct plan *p = j->plan;
    void **d = j->entry->descriptor;
    int status = j->dnn->rnn_forward(
        j->dnn->handle, d[RNN],
        training ? LAB_CUDNN_TRAINING : LAB_CUDNN_INFERENCE, nullptr, d[X],
        room(j, p->x_at), d[Y], h, d[STATE], in[4].data, nullptr, d[STATE],
        j->lstm ? in[5].data : nullptr, nullptr, p->weight_bytes,
        room(j, p->weights_at), p->work_bytes, room(j, p->work_at),
        training ? p->reserve_bytes : 0, training ? j->entry->memory : nullptr);
    if (training) {
        p->filled = status == 0;
        p->iteration = j->call->iteration;
        p->seed = j->call->seed;
        p->x = in[0].data;
    }
    return judge(j, status);
}

static bool has_reserve(const struct job *j)
{
    const struct plan *p = j->plan;
    return p->filled && p->iteration == j->call->iteration &&
           p->seed == j->call->seed && p->x == j->call->in[j->at].data;
}

static enum lab_status recurrent_forward(const struct lab_call *call)
{
    struct job j;
    enum lab_status st = job_of(call, 0, &call->out[1], &j);
    if (st)
        return st;
    const struct plan *p = j.plan;
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
static enum lab_status carry_gradient(const struct job *j, const void **dhy)
{
    const struct plan *p = j->plan;
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

static enum lab_status gradients(const struct job *j, const void *dhy)
{
    const struct lab_call *call = j->call;
    const struct lab_view *in = &call->in[j->at];
    const struct plan *p = j->plan;
    void **d = j->entry->descriptor;
    const float *h = lab_in(call, 7);
    enum lab_status st = judge(
        j, j->dnn->rnn_backward_data(
               j->dnn->handle, d[RNN], nullptr, d[Y], h, room(j, p->y_at), d[X],
               room(j, p->dx_at), d[STATE], in[4].data, dhy, call->out[4].data,
               d[STATE], j->lstm ? in[5].data : nullptr, nullptr,
               j->lstm ? call->out[5].data : nullptr, p->weight_bytes,
               room(j, p->weights_at), p->work_bytes, room(j, p->work_at),
               p->reserve_bytes, j->entry->memory));
    if (st)
        return st;
    /* It adds to what it finds. */
    (void)cudaMemsetAsync(room(j, p->dweights_at), 0, p->weight_bytes,
                          lab_stream(call));
    return judge(j,
                 j->dnn->rnn_backward_weights(
                     j->dnn->handle, d[RNN], 0, nullptr, d[X], room(j, p->x_at),
                     d[STATE], in[4].data, d[Y], h, p->weight_bytes,
                     room(j, p->dweights_at), p->work_bytes,
                     room(j, p->work_at), p->reserve_bytes, j->entry->memory));
}

static enum lab_status recurrent_backward(const struct lab_call *call)
{
    struct job j;
    const void *dhy;
    enum lab_status st = job_of(call, 1, &call->in[7], &j);
    if (st)
        return st;
    struct plan *p = j.plan;
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
    struct job j;
    enum lab_status st = job_of(call, at, h, &j);
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

static const char source[] = "kernels/recurrent_cudnn.cu";

static const struct lab_variant variants[] = {
    lab_row("cudnn", nullptr, LAB_FORWARD, recurrent_forward, source,
            "recurrent_forward", false, prepare_forward),
    lab_row("cudnn", nullptr, LAB_BACKWARD, recurrent_backward, source,
            "recurrent_backward", false, prepare_backward),
};

const struct lab_kernel_set lab_cudnn_rnn = lab_set("rnn", variants);
const struct lab_kernel_set lab_cudnn_lstm = lab_set("lstm", variants);
