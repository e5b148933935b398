/* onednn/onednn_run.h -- one oneDNN primitive for one shape, kept for reuse.
 *
 * oneDNN compiles machine code for a shape when a primitive is made: far
 * dearer than running it once. Primitives are kept in a table, by what they do
 * and for which sizes; when the table is full the oldest goes.
 * Threads: any; a lock lets one call in at a time. */
#pragma once
#include <stdbool.h>
#include <dnnl.h>
#include <dnnl_debug.h>
#include "base/status.h"

enum onednn_kind {
    ONEDNN_MATMUL, /* n = rows, m = columns of the result, k = summed over */
    ONEDNN_ELTWISE_FORWARD, /* n = elements */
    ONEDNN_ELTWISE_BACKWARD,
    ONEDNN_SOFTMAX_FORWARD, /* n = rows, m = columns */
    ONEDNN_SOFTMAX_BACKWARD,
    ONEDNN_CONV_FORWARD, /* the sizes stand in conv */
    ONEDNN_CONV_WEIGHTS,
    ONEDNN_CONV_DATA,
    ONEDNN_POOL_FORWARD, /* the sizes stand in conv, M unused */
    ONEDNN_POOL_BACKWARD,
    ONEDNN_NORM_FORWARD, /* (n, m, k): m channels with batch_norm, else m
                            columns and k is 1 */
    ONEDNN_NORM_BACKWARD,
    ONEDNN_ADD /* n = elements */
};

struct onednn_conv {
    bool nhwc;
    int64_t N;
    int64_t C;
    int64_t M;
    int64_t in[2]; /* rows, columns */
    int64_t out[2];
    int64_t kernel[2];
    int64_t stride[2];
    int64_t pad[2]; /* above, to the left */
};

struct onednn_recipe;
struct onednn_key;
typedef dnnl_status_t onednn_recipe_fn(struct onednn_recipe *r,
                                       const struct onednn_key *key,
                                       dnnl_engine_t engine);

/* Build it with onednn_key(): the table compares the bytes, padding too. */
struct onednn_key {
    enum onednn_kind kind;
    onednn_recipe_fn *recipe; /* of conv, pool and norm; NULL: onednn_run.c's */
    dnnl_alg_kind_t alg;      /* eltwise and pool */
    float alpha;              /* eltwise only */
    bool flip_a;     /* matmul: the first factor is stored transposed */
    bool flip_b;     /* matmul: the second */
    bool bias;       /* matmul: adds a row of m numbers */
    bool batch_norm; /* norm: over a channel, not over a row */
    int64_t n;
    int64_t m;
    int64_t k;
    struct onednn_conv conv;
};

enum { ONEDNN_MAX_ARGS = 5 };

/* Starts oneDNN, once. LAB_E_DEVICE with oneDNN's code. */
enum lab_status onednn_start(void);

/* Between the two the caller alone uses oneDNN, on one thread. leave() turns
 * oneDNN's code into ours: "oneDNN: <what> failed: ...". */
struct onednn_place {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
};
void onednn_enter(struct onednn_place *out);
enum lab_status onednn_leave(dnnl_status_t code, const char *what);

/* A key of zeros but for `kind`. */
struct onednn_key onednn_key(enum onednn_kind kind);

/* Runs it and waits. `data` in this order:
 *   matmul              C, A, B, bias (when key->bias)
 *   eltwise forward     y, x
 *   eltwise backward    dx, dy, and x, or y where alg ends in use_dst_for_bwd
 *   softmax forward     y, x
 *   softmax backward    dx, dy, y
 *   conv forward        conv, x, Wt
 *   conv weights        dWt, x, dconv
 *   conv data           dx, Wt, dconv
 *   norm forward        xhat, x, mean, variance (eps is 0)
 *   norm backward       dx, x, mean, variance, dxhat
 *   add                 y, a, b
 *   pool forward        y, x, and for max the winners' places in the windows
 *   pool backward       dx, dy, and for max those places
 * No size may be 0. LAB_E_DEVICE when oneDNN refuses. */
enum lab_status onednn_run(const struct onednn_key *key, void *const *data);
/* Reports a failure to the program; returns `st`. Every function of a table
 * ends with it. */
enum lab_status onednn_finish(enum lab_status st);
