/* kernels/library/onednn.h -- oneDNN on the CPU: the tables of
 * kernels/<op>/<name>_onednn.c, and how one of its primitives is made for one
 * shape, kept and run.
 *
 * oneDNN compiles machine code for a shape when a primitive is made: far
 * dearer than running it once. Primitives are kept in a table, by what they do
 * and for which sizes; when the table is full the oldest goes.
 * Threads: any; a lock lets one call in at a time. */
#pragma once
#include <dnnl.h>
#include <dnnl_debug.h>
#include "common/image.h"
#include "common/kernel.h"
#include "library/onednn_abi.h"

/* The ops that have rows. Not here: what oneDNN has no primitive for (dropout,
 * embedding, the losses). */
#define LAB_ONEDNN_SETS(F)                                                     \
    F(dense)                                                                   \
    F(conv2d)                                                                  \
    F(relu)                                                                    \
    F(leaky_relu)                                                              \
    F(sigmoid)                                                                 \
    F(tanh)                                                                    \
    F(gelu)                                                                    \
    F(softplus)                                                                \
    F(swish)                                                                   \
    F(softmax)                                                                 \
    F(max_pool2d)                                                              \
    F(avg_pool2d)                                                              \
    F(batch_norm)                                                              \
    F(layer_norm)                                                              \
    F(add)                                                                     \
    F(lstm)                                                                    \
    F(rnn)                                                                     \
    F(gemm_int8)

LAB_C_BEGIN
#define LAB_ONEDNN_SET(op) extern const struct lab_kernel_set lab_onednn_##op;
LAB_ONEDNN_SETS(LAB_ONEDNN_SET)
#undef LAB_ONEDNN_SET

/* ---- a primitive's shape ---- */

/* Images and the windows over them, as conv2d and the pools have them. */
struct onednn_windows {
    int64_t N;
    int64_t C;     /* channels of x */
    int64_t M;     /* and of y */
    int64_t in[2]; /* rows, columns */
    int64_t out[2];
    struct lab_window win;
};

struct onednn_recipe;
struct onednn_key;
typedef dnnl_status_t onednn_recipe_fn(struct onednn_recipe *r,
                                       const struct onednn_key *key,
                                       dnnl_engine_t engine);

enum onednn_way { ONEDNN_FORWARD, ONEDNN_BACKWARD, ONEDNN_WEIGHTS };

/* Build it with onednn_key(): the table compares the bytes, padding too. What
 * the members mean is up to the recipe. */
struct onednn_key {
    onednn_recipe_fn *recipe; /* makes the primitive */
    enum onednn_way way;
    dnnl_alg_kind_t alg;
    float alpha;
    bool flip_a; /* a product: the first factor is stored transposed */
    bool flip_b; /* the second */
    bool bias;   /* a product: adds a row of m numbers */
    bool batch;  /* a norm: over a channel, not over a row */
    int64_t n;   /* rows, or elements */
    int64_t m;   /* columns, or channels */
    int64_t k;
    struct onednn_windows windows;
};

/* A key of zeros but for these. */
struct onednn_key onednn_key(onednn_recipe_fn *recipe, enum onednn_way way);
/* Sets key->windows. */
void onednn_set_windows(struct onednn_key *key, const struct lab_image *x,
                        const struct lab_image *y,
                        const struct lab_window *win);

/* ---- recipes ---- */

enum { ONEDNN_MAX_ARGS = 5 };

/* A primitive's descriptor, and one memory description for each argument, in
 * the order of onednn_run()'s data. */
struct onednn_recipe {
    dnnl_primitive_desc_t desc;
    int n_args;
    int id[ONEDNN_MAX_ARGS];
    dnnl_memory_desc_t md[ONEDNN_MAX_ARGS];
};

void onednn_add_arg(struct onednn_recipe *r, int id,
                    const dnnl_memory_desc_t *md);
/* r->desc from an operation's descriptor. A backward one needs the forward one as
 * a hint: describe that first. */
dnnl_status_t onednn_describe(struct onednn_recipe *r, const void *operation,
                              dnnl_engine_t engine);

/* Tensors as they lie in memory. `flip`: memory has the matrix's transpose. */
dnnl_status_t onednn_vector(dnnl_memory_desc_t *md, int64_t count);
dnnl_status_t onednn_matrix(dnnl_memory_desc_t *md, int64_t rows, int64_t cols,
                            bool flip);
/* What oneDNN calls [A, B, H, W]; strides in elements. */
dnnl_status_t onednn_tensor4(dnnl_memory_desc_t *md, int64_t A, int64_t B,
                             const int64_t side[2], const int64_t strides[4]);

/* x, y and the steps of the windows; lists as long as oneDNN declares them, of
 * which two numbers count. `after` is the padding below and to the right. */
struct onednn_images {
    dnnl_memory_desc_t x;
    dnnl_memory_desc_t y;
    dnnl_dims_t stride;
    dnnl_dims_t size;
    dnnl_dims_t before;
    dnnl_dims_t after;
};
dnnl_status_t onednn_images(struct onednn_images *out,
                            const struct onednn_windows *w);

/* ---- running ---- */

/* Runs the primitive and waits. `data` is in the order in which the recipe adds
 * its arguments. No size may be 0. LAB_E_DEVICE when oneDNN refuses. */
enum lab_status onednn_run(const struct onednn_key *key, void *const *data);

/* Reports a failure to the program; returns `st`. Every function of a table
 * ends with it. */
enum lab_status onednn_finish(enum lab_status st);

/* Between the two the caller alone uses oneDNN, on one thread. leave() turns
 * oneDNN's code into ours: "oneDNN: <what> failed: ...". */
struct onednn_place {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
};
void onednn_enter(struct onednn_place *out);
enum lab_status onednn_leave(dnnl_status_t code, const char *what);

/* ---- shared by rows of several ops ---- */

/* No NaN and no infinity: some primitives lose them. */
bool onednn_all_finite(const struct lab_view *v);

/* activation_onednn.c: y = f(x), elementwise, for a layer that takes its
 * activation in; one of enum lab_activation, not none. */
enum lab_status onednn_activate(const struct lab_view *y,
                                const struct lab_view *x, int activation,
                                double slope);
LAB_C_END

/* A row of a table; `step_name` NULL: the group. */
#define ONEDNN_ROW(file, step_name, phase_id, fn)                              \
    {                                                                          \
        .name = "onednn", .step = step_name, .phase = phase_id, .run = fn,     \
        .source = "kernels/" file, .symbol = #fn                               \
    }
