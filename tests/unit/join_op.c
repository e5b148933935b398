/* An op with two inputs that only tests have, with CPU kernels, so that
 * gradients of a tensor with two readers are tested; see join_op.h. */
#include "unit/join_op.h"

#include "test.h"

static enum lab_status join_forward(const struct lab_call *call)
{
    const float *a = call->in[0].data;
    const float *b = call->in[1].data;
    float *out = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        out[i] = a[i] + 2 * b[i];
    return LAB_OK;
}

static enum lab_status join_backward(const struct lab_call *call)
{
    const float *dout = call->in[0].data;
    float *da = call->out[0].data;
    float *db = call->out[1].data;
    for (int64_t i = 0; i < call->in[0].count; i++) {
        if (da)
            da[i] = dout[i];
        if (db)
            db[i] = 2 * dout[i];
    }
    return LAB_OK;
}

static const struct lab_variant variants[] = {
    {.name = "naive",
     .step = "join",
     .phase = LAB_FORWARD,
     .run = join_forward},
    {.name = "naive",
     .step = "join",
     .phase = LAB_BACKWARD,
     .run = join_backward},
};

static const struct lab_kernel_set join_set = {"join", variants, 2};

static void build_forward(struct lab_builder *b)
{
    struct lab_shape shape = lab_build_shape(b, lab_build_input(b, 0));
    lab_build_step(b, &(struct lab_step_def){
                          .name = "join",
                          LAB_IN(lab_build_input(b, 0), lab_build_input(b, 1)),
                          LAB_OUT(lab_build_out(b, &shape)),
                          .formula = "$o0 = $i0 + 2 $i1"});
}

static void build_backward(struct lab_builder *b)
{
    lab_build_step(b,
                   &(struct lab_step_def){.name = "join",
                                          LAB_IN(lab_build_out_grad(b)),
                                          LAB_OUT(lab_build_input_grad(b, 0),
                                                  lab_build_input_grad(b, 1)),
                                          .formula = "$i0 to both"});
}

const struct lab_op_def join_op = {.name = "join",
                                   .kind = LAB_KIND_LAYER,
                                   .min_inputs = 2,
                                   .max_inputs = 2,
                                   .forward = build_forward,
                                   .backward = build_backward};

/* ---- the CPU backend and more ---- */

enum { MOST_SETS = 160 };
static const struct lab_kernel_set *sets[MOST_SETS];
static const struct lab_kernel_set *added;

static const struct lab_kernel_set *const *
all_sets(struct lab_backend *be, enum lab_dtype real, int *count)
{
    int n = 0;
    const struct lab_kernel_set *const *cpu =
        lab_backend_cpu.sets(be, real, &n);
    if (real != LAB_F32) {
        *count = n;
        return cpu;
    }
    assert_true(n + 2 <= MOST_SETS);
    memcpy(sets, cpu, (size_t)n * sizeof(*cpu));
    sets[n++] = &join_set;
    if (added)
        sets[n++] = added;
    *count = n;
    return sets;
}

void join_backend_add(const struct lab_kernel_set *set)
{
    added = set;
}

struct lab_backend *join_backend(void)
{
    static struct lab_backend_ops ops;
    struct lab_backend *be;
    ops = lab_backend_cpu;
    ops.sets = all_sets;
    assert_ok(lab_backend_open(&be, "cpu", 0));
    be->ops = &ops;
    return be;
}

void net_join(struct net *n, const char *text)
{
    char node[160];
    char id[64];
    int used = 0;
    assert_int_equal(sscanf(text, "%63s%n", id, &used), 1);
    snprintf(node, sizeof(node), "%s relu%s", id, text + used);
    net_node(n, node);
    n->spec.nodes[n->spec.n_nodes - 1].op = &join_op;
}
