/* What a lesson says of parameters, steps and tensors, held against the plan
 * that was built from it. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "plan_priv.h"

static struct lab_place no_place;

static struct lab_param_init *find_init(struct lab_plan *plan, int tensor)
{
    for (int i = 0; i < plan->n_inits; i++) {
        if (plan->inits[i].tensor == tensor)
            return &plan->inits[i];
    }
    return NULL;
}

/* params_only: the tensor must be a parameter. */
static void no_tensor(struct lab_builder *b, struct lab_place place,
                      const char *what, const char *name, bool params_only)
{
    const char *names[256];
    size_t count = 0;
    for (int i = 0; i < b->plan->n_tensors && count < 256; i++) {
        if (!params_only || find_init(b->plan, i))
            names[count++] = b->plan->tensors[i].name;
    }
    const char *near = lab_nearest(name, names, count);
    b->status = lab_network_fail(
        b->spec, place, LAB_E_NOTFOUND,
        "%s names '%s', and this network has no such "
        "%s%s%s%s",
        what, name, params_only ? "parameter" : "tensor",
        near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static void apply_parameter(struct lab_builder *b,
                            const struct lab_tensor_spec *p)
{
    int id = lab_plan_tensor(b->plan, p->name);
    struct lab_param_init *init = find_init(b->plan, id);
    if (id < 0 || !init) {
        no_tensor(b, p->place, "parameters:", p->name, true);
        return;
    }
    const struct lab_tensor *t = &b->plan->tensors[id];
    if (!lab_shape_equal(&t->shape, &p->shape)) {
        char want[LAB_SHAPE_TEXT];
        char got[LAB_SHAPE_TEXT];
        b->status = lab_network_fail(
            b->spec, p->place, LAB_E_SHAPE,
            "parameter %s is %s in this network, the lesson gives %s", p->name,
            lab_shape_text(&t->shape, want), lab_shape_text(&p->shape, got));
        return;
    }
    if (!p->values) {
        init->filled = true;
        init->fill = p->fill;
        return;
    }
    lab_free(init->values); /* a lesson that gives it twice: the last one */
    init->values = lab_alloc_array((size_t)t->count, sizeof(double));
    if (!init->values) {
        b->status = lab_network_fail(b->spec, p->place, LAB_E_NOMEM,
                                     "no memory for the parameter");
        return;
    }
    memcpy(init->values, p->values, (size_t)t->count * sizeof(double));
}

static bool step_exists(const struct lab_plan *plan, const char *name)
{
    return lab_plan_step(plan, name) >= 0 || lab_plan_node(plan, name) >= 0;
}

static void check_step_name(struct lab_builder *b, struct lab_place place,
                            const char *name)
{
    const char *names[256];
    size_t count = 0;
    if (step_exists(b->plan, name))
        return;
    for (int i = 0; i < b->plan->n_steps && count < 256; i++)
        names[count++] = b->plan->steps[i].name;
    const char *near = lab_nearest(name, names, count);
    b->status = lab_network_fail(
        b->spec, place, LAB_E_NOTFOUND,
        "break: names the step '%s', and this network has none of that "
        "name%s%s%s",
        name, near ? "; did you mean '" : "", near ? near : "",
        near ? "'?" : "");
}

/* The values stand in a row from `at`, and must not run over the tensor. */
static void check_printed(struct lab_builder *b,
                          const struct lab_course_values_spec *p)
{
    int id = lab_plan_tensor(b->plan, p->tensor);
    if (id < 0) {
        no_tensor(b, p->place, "printed:", p->tensor, false);
        return;
    }
    const struct lab_tensor *t = &b->plan->tensors[id];
    char shape[LAB_SHAPE_TEXT];
    char at[LAB_SHAPE_TEXT];
    int64_t first = 0;
    if (p->at.rank > 0)
        first = lab_shape_ravel(&t->shape, p->at.dim, p->at.rank);
    if (first >= 0 && p->n_values <= t->count - first)
        return;
    b->status = lab_network_fail(
        b->spec, p->place, LAB_E_SHAPE,
        "printed: gives %d value%s of %s from %s, and %s is %s", p->n_values,
        p->n_values == 1 ? "" : "s", p->tensor,
        p->at.rank > 0 ? lab_shape_text(&p->at, at) : "its first element",
        p->tensor, lab_shape_text(&t->shape, shape));
}

/* Names of variants on any backend, this machine's or another's: a lesson may
 * choose one that is not to be had here, but not one that nobody knows. */
static const char *const known_variants[] = {"naive",
                                             "blas",
                                             "onednn",
                                             "tiled",
                                             "blocked",
                                             "cublas",
                                             "fused",
                                             "warp",
                                             "block",
                                             "tile",
                                             "split",
                                             "vector",
                                             "cudnn",
                                             "cudnn_implicit_gemm",
                                             "cudnn_precomp_gemm",
                                             "cudnn_gemm",
                                             "cudnn_fft",
                                             "cudnn_fft_tiling",
                                             "cudnn_winograd",
                                             "cudnn_winograd_nonfused"};
enum { N_KNOWN = sizeof(known_variants) / sizeof(known_variants[0]) };

static bool names_node(const struct lab_plan *plan, const char *target)
{
    size_t n = strlen(target);
    for (int i = 0; i < plan->n_nodes; i++) {
        const char *id = plan->nodes[i].id;
        /* A block's id stands for its inner nodes, "block1.attn". */
        if (strncmp(id, target, n) == 0 && (id[n] == '\0' || id[n] == '.'))
            return true;
    }
    return lab_op_find(target, LAB_KIND_LAYER) ||
           lab_op_find(target, LAB_KIND_LOSS) ||
           lab_op_find(target, LAB_KIND_OPTIMIZER);
}

static void check_variant(struct lab_builder *b,
                          const struct lab_variant_spec *v)
{
    for (int i = 0; i < N_KNOWN; i++) {
        if (strcmp(known_variants[i], v->variant) != 0)
            continue;
        if (!names_node(b->plan, v->target))
            b->status = lab_network_fail(
                b->spec, v->place, LAB_E_NOTFOUND,
                "variants: '%s' is no node of this network and no op",
                v->target);
        return;
    }
    const char *near = lab_nearest(v->variant, known_variants, N_KNOWN);
    b->status = lab_network_fail(b->spec, v->place, LAB_E_NOTFOUND,
                                 "variants: no backend has a variant "
                                 "'%s'%s%s%s",
                                 v->variant, near ? "; did you mean '" : "",
                                 near ? near : "", near ? "'?" : "");
}

void lab_builder_check_names(struct lab_builder *b)
{
    const struct lab_network_spec *spec = b->spec;
    for (int i = 0; i < spec->n_parameters && !b->status; i++)
        apply_parameter(b, &spec->parameters[i]);
    for (int i = 0; i < spec->n_watch && !b->status; i++) {
        if (lab_plan_tensor(b->plan, spec->watch[i]) < 0)
            no_tensor(b, no_place, "watch:", spec->watch[i], false);
    }
    for (int i = 0; i < spec->n_breaks && !b->status; i++) {
        if (spec->breaks[i].kind == LAB_BREAK_STEP)
            check_step_name(b, spec->breaks[i].place, spec->breaks[i].step);
    }
    for (int i = 0; i < spec->n_variants && !b->status; i++)
        check_variant(b, &spec->variants[i]);
    for (int i = 0; i < spec->n_printed && !b->status; i++)
        check_printed(b, &spec->printed[i]);
}
