/* onednn/onednn_layer.h -- rnn and lstm, a whole sequence in one primitive.
 *
 * oneDNN keeps a layer's gates in a workspace of its own form between forward
 * and backward. A kernel keeps nothing between calls, so the way back runs
 * forward again for its workspace: three parts of work instead of two.
 * Threads: any; a lock lets one call in at a time. */
#pragma once
#include "onednn_run.h"

struct onednn_layer_sizes {
    bool lstm;
    int64_t N;
    int64_t T;
    int64_t D;
    int64_t H;
};

/* Row-major, as kernels/recurrent/sequence.h has them; c0, dc0: lstm only; b, db, dx may
 * be NULL. Forward writes h; backward the gradients. */
struct onednn_layer_data {
    const float *x;
    const float *W;
    const float *U;
    const float *b;
    const float *h0;
    const float *c0;
    const float *dh; /* (T, N, H): what comes back to h */
    float *h;
    float *dx;
    float *dW;
    float *dU;
    float *db;
    float *dh0;
    float *dc0;
};

/* No size may be 0. LAB_E_DEVICE when oneDNN refuses, LAB_E_NOMEM. */
enum lab_status onednn_layer_forward(const struct onednn_layer_sizes *s,
                                     const struct onednn_layer_data *data);
enum lab_status onednn_layer_backward(const struct onednn_layer_sizes *s,
                                      const struct onednn_layer_data *data);
