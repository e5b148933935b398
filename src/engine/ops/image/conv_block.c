/* conv_block: a convolution without a bias, batch norm, relu: the three layers that
 * most networks for images are built of. It represents three nodes. */
#include "engine/op.h"

static const char *const paddings[] = {"same", "valid", NULL};

static const struct lab_key_def keys[] = {
    {"filters", LAB_KEY_INT, true, 0, 1, 1 << 30},
    {"kernel", LAB_KEY_INTS, true, 0, 1, 1 << 30, .min_items = 2,
     .max_items = 2},
    {"stride", LAB_KEY_INTS, false, 1, 1, 1 << 30, .min_items = 1,
     .max_items = 2},
    {"padding", LAB_KEY_PADDING, false, 0, 0, 1 << 30, .choices = paddings},
};

static void expand(struct lab_expansion *e)
{
    lab_expand_node(e, "conv", "conv2d", "", NULL);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        lab_expand_key(e, keys[i].name, keys[i].name);
    lab_expand_int(e, "bias", 0);
    lab_expand_node(e, "norm", "batch_norm", ".conv", NULL);
    lab_expand_node(e, NULL, "relu", ".norm", NULL);
}

const struct lab_op_def lab_op_conv_block = {.name = "conv_block",
                                             .kind = LAB_KIND_LAYER,
                                             LAB_KEYS(keys),
                                             .min_inputs = 1,
                                             .max_inputs = 1,
                                             .takes_images = true,
                                             .expand = expand};
