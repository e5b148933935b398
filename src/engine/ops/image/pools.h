/* ops/pools.h -- what max_pool2d and avg_pool2d share. */
#pragma once
#include "engine/explain.h"
#include "pool/pool.h"
#include "window.h"

enum { LAB_POOL_KEYS = 3 };
extern const struct lab_key_def lab_pool_keys[LAB_POOL_KEYS];

struct lab_pool_node {
    struct lab_pool_params params;
    struct lab_shape in;
    struct lab_shape out;
    double elements; /* of the result, times those of a window */
};

/* false: the node was refused. */
bool lab_pool_of(struct lab_builder *b, struct lab_pool_node *out);
/* How the op's variants are checked at start. */
bool lab_pool_check(int turn, struct lab_op_check *c);

/* An element of an image tensor: coordinates of a flat index and back. */
struct lab_pixel {
    int64_t n;
    int64_t c;
    int64_t h;
    int64_t w;
};
static inline struct lab_pixel lab_pixel_of(const struct lab_image *image,
                                            int64_t index)
{
    struct lab_pixel p = {.n = index / image->sn,
                          .c = index / image->sc % image->C,
                          .h = index / image->sh % image->H,
                          .w = index / image->sw % image->W};
    return p;
}

static inline int64_t lab_pixel_index(const struct lab_image *image,
                                      struct lab_pixel p)
{
    return p.n * image->sn + p.c * image->sc + p.h * image->sh +
           p.w * image->sw;
}

/* Walks the elements of the window of output `index` that lie in the image.
 * Start with *k = 0; false: there are no more. */
bool lab_pool_next(const struct lab_window *win, const struct lab_image *x,
                   struct lab_pixel out, int64_t *k, int64_t *index);
/* The windows that read element `index` of the input, for an explanation of its
 * gradient, which states which they are: out_slot is dx, input 0 dy. */
struct lab_pool_readers {
    struct lab_image x;
    struct lab_image y;
    struct lab_pixel at; /* the element */
    int64_t rows[2];     /* of y, the first and the last */
    int64_t cols[2];
    char text[64]; /* "0,oh,ow,3" */
};
void lab_pool_readers_of(struct lab_explainer *ex, int out_slot, int64_t index,
                         struct lab_pool_readers *out);
/* The window of output `index`, for an explanation of it: input 0 is x. */
struct lab_pool_window {
    const struct lab_window *win;
    struct lab_image x;
    struct lab_pixel at;       /* the output */
    char text[LAB_SHAPE_TEXT]; /* "0,2..3,4..5,1": what lies in the image */
};
void lab_pool_window_of(struct lab_explainer *ex, int out_slot, int64_t index,
                        struct lab_pool_window *out);
