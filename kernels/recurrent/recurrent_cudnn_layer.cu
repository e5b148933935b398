/* kernels/recurrent/recurrent_cudnn_layer.cu -- an rnn or lstm, once: how cuDNN is to have
 * it, and where in its buffer the weights of each gate stand. */
#include "base/mem.h"
#include "recurrent/recurrent_cudnn.cuh"

enum lab_status recurrent_judge(const struct recurrent_job *j, int status)
{
    return cudnn_judge(j->call, status, j->what);
}

static enum lab_status create(const struct recurrent_job *j)
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

static enum lab_status describe_data(const struct recurrent_job *j)
{
    const struct recurrent_plan *p = j->plan;
    void **d = j->entry->descriptor;
    int *length =
        static_cast<int *>(lab_alloc_array((size_t)p->N, sizeof(*length)));
    if (!length)
        return lab_fail(LAB_E_NOMEM, "no memory for cuDNN's descriptors");
    for (int64_t n = 0; n < p->N; n++)
        length[n] = (int)p->T;
    int status = j->dnn->rnn_data_set(d[RECURRENT_X], LAB_CUDNN_FLOAT,
                                      LAB_CUDNN_RNN_PACKED, (int)p->T,
                                      (int)p->N, (int)p->D, length, nullptr);
    if (!status)
        status = j->dnn->rnn_data_set(d[RECURRENT_Y], LAB_CUDNN_FLOAT,
                                      LAB_CUDNN_RNN_PACKED, (int)p->T,
                                      (int)p->N, (int)p->H, length, nullptr);
    lab_free(length);
    const int dim[] = {1, (int)p->N, (int)p->H};
    const int stride[] = {(int)(p->N * p->H), (int)p->H, 1};
    if (!status)
        status = j->dnn->tensor_nd(d[RECURRENT_STATE], LAB_CUDNN_FLOAT, 3, dim,
                                   stride);
    return recurrent_judge(j, status);
}

static enum lab_status describe_layer(const struct recurrent_job *j)
{
    enum { STANDARD = 0, ONE_WAY = 0, LINEAR = 0, UNPADDED = 0 };
    struct recurrent_plan *p = j->plan;
    void **d = j->entry->descriptor;
    size_t inference = 0;
    size_t none = 0;
    int status = j->dnn->dropout_set(d[RECURRENT_DROPOUT], j->dnn->handle, 0.0f,
                                     nullptr, 0, 0);
    if (!status)
        status = j->dnn->rnn_set(
            d[RECURRENT_LAYER], STANDARD,
            j->lstm ? LAB_CUDNN_LSTM : LAB_CUDNN_RNN_TANH,
            j->bias ? LAB_CUDNN_RNN_INPUT_BIAS : LAB_CUDNN_RNN_NO_BIAS, ONE_WAY,
            LINEAR, LAB_CUDNN_FLOAT, LAB_CUDNN_FLOAT, LAB_CUDNN_FMA,
            (int32_t)p->D, (int32_t)p->H, (int32_t)p->H, 1,
            d[RECURRENT_DROPOUT], UNPADDED);
    if (!status)
        status = j->dnn->rnn_weights(j->dnn->handle, d[RECURRENT_LAYER],
                                     &p->weight_bytes);
    if (!status)
        status = j->dnn->rnn_room(j->dnn->handle, d[RECURRENT_LAYER],
                                  LAB_CUDNN_INFERENCE, d[RECURRENT_X],
                                  &inference, &none);
    if (!status)
        status = j->dnn->rnn_room(j->dnn->handle, d[RECURRENT_LAYER],
                                  LAB_CUDNN_TRAINING, d[RECURRENT_X],
                                  &p->work_bytes, &p->reserve_bytes);
    if (inference > p->work_bytes)
        p->work_bytes = inference;
    return recurrent_judge(j, status);
}

static void lay_out(struct recurrent_plan *p)
{
    size_t rows = (size_t)(p->T * p->N) * sizeof(float);
    p->dweights_at = cudnn_round(p->weight_bytes);
    p->work_at = p->dweights_at + cudnn_round(p->weight_bytes);
    p->x_at = p->work_at + cudnn_round(p->work_bytes);
    p->y_at = p->x_at + cudnn_round(rows * (size_t)p->D);
    p->dx_at = p->y_at + cudnn_round(rows * (size_t)p->H);
    p->total = p->dx_at + rows * (size_t)p->D;
}

static void add_piece(struct recurrent_pieces *all,
                      const struct recurrent_piece &p)
{
    all->piece[all->count++] = p;
    if (p.rows * p.cols > all->most)
        all->most = p.rows * p.cols;
}

/* Where a gate's matrices and bias stand in cuDNN's buffer. */
static enum lab_status find_pieces(const struct recurrent_job *j)
{
    static const int order[] = {1, 2, 0, 3}; /* i, f, a, o among a, i, f, o */
    struct recurrent_plan *p = j->plan;
    void **d = j->entry->descriptor;
    char *base = recurrent_room(j, p->weights_at);
    int gates = j->lstm ? 4 : 1;
    int status = 0;
    for (int k = 0; k < 2 * gates && !status; k++) {
        void *matrix = nullptr;
        void *bias = nullptr;
        int64_t first = j->lstm ? order[k % 4] * p->H : 0;
        bool recurrent = k >= gates;
        status = j->dnn->rnn_part(j->dnn->handle, d[RECURRENT_LAYER], 0,
                                  p->weight_bytes, base, k, d[RECURRENT_MATRIX],
                                  &matrix, d[RECURRENT_BIAS], &bias);
        if (status || !matrix)
            break;
        int64_t at = (static_cast<char *>(matrix) - base) / 4;
        add_piece(&p->pieces, {at, first, p->H, recurrent ? p->H : p->D,
                               recurrent, !j->lstm});
        at = bias ? (static_cast<char *>(bias) - base) / 4 : 0;
        if (bias && !recurrent)
            add_piece(&p->pieces, {at, first, p->H, 1, 2, false});
    }
    return recurrent_judge(j, status);
}

static enum lab_status make(const struct recurrent_job *j)
{
    struct recurrent_plan *p = j->plan;
    const int64_t sizes[] = {p->N, p->T, p->D, 4 * p->H, p->N * p->H};
    if (!cudnn_fits(sizes, 5))
        return lab_fail(
            LAB_E_UNSUPPORTED,
            "[launch.cudnn-size] %s: cuDNN counts to 2^31 - 1 numbers",
            j->what);
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

enum lab_status recurrent_job_of(const struct lab_call *call, int at,
                                 const struct lab_view *h,
                                 struct recurrent_job *j)
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
        cudnn_entry_of(call, key, sizeof(struct recurrent_plan), &j->entry);
    if (st)
        return st;
    j->plan = static_cast<struct recurrent_plan *>(j->entry->plan);
    if (!j->entry->ready) {
        j->plan->N = x->dim[0];
        j->plan->T = x->dim[1];
        j->plan->D = x->dim[2];
        j->plan->H = h->dim[2];
        st = cudnn_entry_made(call, j->entry, make(j));
    }
    return st ? st : cudnn_workspace(call, j->plan->total);
}
