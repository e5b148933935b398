/* bottleneck: the residual block of deep networks: 1 x 1 to few channels, 3 x 3 there,
 * 1 x 1 to four times as many, and the sum with what went in; `project` sends that
 * through a 1 x 1 convolution of its own, where stride or channels change. K. He, X.
 * Zhang, S. Ren, J. Sun, arXiv:1512.03385. It represents 10 or 12 nodes. */
#include "engine/op.h"

static const struct lab_key_def keys[] = {
    {"filters", LAB_KEY_INT, true, 0, 1, 1 << 28},
    {"stride", LAB_KEY_INT, false, 1, 1, 1 << 30},
    {"project", LAB_KEY_BOOL, false, 0},
};

/* A convolution and its batch norm. */
static void convolve(struct lab_expansion *e, const char *conv,
                     const char *norm, const char *from, int side,
                     int64_t filters, int64_t stride)
{
    lab_expand_node(e, conv, "conv2d", from, NULL);
    lab_expand_int(e, "filters", filters);
    lab_expand_int(e, "kernel", side);
    lab_expand_int(e, "stride", stride);
    lab_expand_int(e, "padding", side / 2);
    lab_expand_int(e, "bias", 0);
    lab_expand_node(e, norm, "batch_norm", conv, NULL);
}

static void expand(struct lab_expansion *e)
{
    int64_t filters = lab_expand_attr(e, "filters")->i;
    int64_t stride = lab_expand_attr(e, "stride")->i;
    bool project = lab_expand_attr(e, "project")->b;
    convolve(e, ".conv1", ".norm1", "", 1, filters, stride);
    lab_expand_node(e, ".relu1", "relu", ".norm1", NULL);
    convolve(e, ".conv2", ".norm2", ".relu1", 3, filters, 1);
    lab_expand_node(e, ".relu2", "relu", ".norm2", NULL);
    if (project)
        convolve(e, ".conv4", ".norm4", "", 1, 4 * filters, stride);
    convolve(e, ".conv3", ".norm3", ".relu2", 1, 4 * filters, 1);
    lab_expand_node(e, ".sum", "add", project ? ".norm4" : "", ".norm3");
    lab_expand_node(e, NULL, "relu", ".sum", NULL);
}

const struct lab_op_def lab_op_bottleneck = {.name = "bottleneck",
                                             .kind = LAB_KIND_LAYER,
                                             LAB_KEYS(keys),
                                             .min_inputs = 1,
                                             .max_inputs = 1,
                                             .takes_images = true,
                                             .expand = expand};
