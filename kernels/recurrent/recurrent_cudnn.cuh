/* kernels/recurrent/recurrent_cudnn.cuh -- an rnn or lstm by cuDNN, in two files:
 *   recurrent_cudnn_layer.cu  a layer, once: descriptors, memory, the places of
 *                             its weights
 *   recurrent_cudnn.cu        the copies around it, the steps and their table */
#pragma once
#include "library/cudnn_entry.cuh"
#include "recurrent/sequence.h"

enum { RECURRENT_PIECES = 12 };

/* A block of cuDNN's weights: rows x cols, from `at` on; ours are the rows from
 * `first` on of weights, recurrent weights or bias (0, 1, 2), or those turned. */
struct recurrent_piece {
    int64_t at;
    int64_t first;
    int64_t rows;
    int64_t cols;
    int which;
    bool turned;
};

struct recurrent_pieces {
    struct recurrent_piece piece[RECURRENT_PIECES];
    int count;
    int64_t most; /* elements of the largest */
};

struct recurrent_plan {
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
    struct recurrent_pieces pieces;
    /* What the reserve is of. */
    bool filled;
    bool captured; /* ... by a call that only a graph makes */
    uint64_t iteration;
    uint64_t seed;
    const void *x;
};

/* Descriptors of an entry. */
enum {
    RECURRENT_X,
    RECURRENT_Y,
    RECURRENT_STATE,
    RECURRENT_MATRIX,
    RECURRENT_BIAS,
    RECURRENT_DROPOUT,
    RECURRENT_LAYER
};

struct recurrent_job {
    const struct lab_call *call;
    struct lab_cudnn *dnn;
    struct lab_cudnn_entry *entry;
    struct recurrent_plan *plan;
    bool lstm;
    bool bias;
    int at; /* input that x is: 0 forward, 1 backward */
    const char *what;
};

/* x, W, U, b, h0, c0 stand from in[at] on; h: (T, N, H). With the workspace. */
enum lab_status recurrent_job_of(const struct lab_call *call, int at,
                                 const struct lab_view *h,
                                 struct recurrent_job *j);
enum lab_status recurrent_judge(const struct recurrent_job *j, int status);

static inline char *recurrent_room(const struct recurrent_job *j, size_t at)
{
    return static_cast<char *>(j->dnn->workspace) + at;
}
