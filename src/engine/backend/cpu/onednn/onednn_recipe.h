/* onednn/onednn_recipe.h -- how a primitive is made: onednn_run.c and the files
 * that know one kind of it. */
#pragma once
#include "onednn_run.h"

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

/* An image's description as it lies in memory; the padding that is left over
 * below (axis 0) and to the right. */
dnnl_status_t onednn_image(dnnl_memory_desc_t *md, bool nhwc, int64_t N,
                           int64_t C, const int64_t side[2]);
int64_t onednn_pad_after(const struct onednn_conv *c, int axis);

/* Normalising by given statistics, and its gradient. */
onednn_recipe_fn onednn_norm_recipe;
/* The poolings, forward and back. */
onednn_recipe_fn onednn_pool_recipe;
/* The convolution, forward and its two gradients. */
onednn_recipe_fn onednn_conv_recipe;
