/* transformer_block: pre-norm, r = x + attn(ln1(x)), then out = r +
 * ff2(gelu(ff1(ln2(r)))). The block has no step of its own: it represents eight
 * nodes, which the learner walks one by one. */
#include "engine/op.h"

static const char *const gelus[] = {"tanh", "erf", NULL};

#define MANY 1073741824.0

static const struct lab_key_def keys[] = {
    {"heads", LAB_KEY_INT, true, 0, 1, MANY},
    {"ff", LAB_KEY_INT, true, 0, 1, MANY},
    {"causal", LAB_KEY_BOOL, false, 0},
    {"gelu", LAB_KEY_CHOICE, false, 0, .choices = gelus},
    {"eps", LAB_KEY_FLOAT, false, 1e-5, 0, 1},
};

static void expand(struct lab_expansion *e)
{
    lab_expand_node(e, "ln1", "layer_norm", "", NULL);
    lab_expand_key(e, "eps", "eps");
    lab_expand_node(e, "attn", "attention", ".ln1", NULL);
    lab_expand_key(e, "heads", "heads");
    lab_expand_key(e, "causal", "causal");
    lab_expand_node(e, "=r", "add", "", ".attn");
    lab_expand_node(e, "ln2", "layer_norm", ".r", NULL);
    lab_expand_key(e, "eps", "eps");
    lab_expand_node(e, "ff1", "dense", ".ln2", NULL);
    lab_expand_key(e, "units", "ff");
    lab_expand_node(e, "gelu", "gelu", ".ff1", NULL);
    lab_expand_key(e, "approximate", "gelu");
    lab_expand_node(e, "ff2", "dense", ".gelu", NULL);
    lab_expand_width(e, ".r");
    lab_expand_node(e, NULL, "add", ".r", ".ff2");
}

const struct lab_op_def lab_op_transformer_block = {.name = "transformer_block",
                                                    .kind = LAB_KIND_LAYER,
                                                    LAB_KEYS(keys),
                                                    .min_inputs = 1,
                                                    .max_inputs = 1,
                                                    .expand = expand};
