/* kernels/add/add_onednn.c -- the sum of two tensors by oneDNN. Its backward is a
 * copy, which oneDNN has no primitive for. */
#include "library/onednn.h"

static dnnl_status_t recipe(struct onednn_recipe *r,
                            const struct onednn_key *key, dnnl_engine_t engine)
{
    dnnl_memory_desc_t md;
    dnnl_binary_desc_t desc;
    dnnl_status_t code = onednn_vector(&md, key->n);
    if (!code)
        code = dnnl_binary_desc_init(&desc, dnnl_binary_add, &md, &md, &md);
    if (code)
        return code;
    onednn_add_arg(r, DNNL_ARG_DST, &md);
    onednn_add_arg(r, DNNL_ARG_SRC_0, &md);
    onednn_add_arg(r, DNNL_ARG_SRC_1, &md);
    return onednn_describe(r, &desc, engine);
}

static enum lab_status add_forward(const struct lab_call *call)
{
    struct onednn_key key = onednn_key(recipe, ONEDNN_FORWARD);
    void *data[ONEDNN_MAX_ARGS] = {call->out[0].data, call->in[0].data,
                                   call->in[1].data};
    key.n = call->out[0].count;
    return onednn_finish(key.n > 0 ? onednn_run(&key, data) : LAB_OK);
}

static const struct lab_variant rows[] = {
    ONEDNN_ROW("add/add_onednn.c", "add", LAB_FORWARD, add_forward),
};

const struct lab_kernel_set lab_onednn_add = {"add", rows, 1};
