/* Every variant of every step of one small network against the reference.
 *
 * The network is built twice, in float and in double. The double plan is walked
 * on the CPU; before each step its inputs are handed, rounded, to every variant
 * of that step, and what the variant writes is compared with what the reference
 * then writes. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "engine/stats.h"
#include "plan/plan_priv.h"
#include "common/random.h"
#include "variant_check.h"
#include "test_network.h"

/* ---- memory ---- */

static enum lab_status take_memory(struct lab_variant_test_network *c)
{
    int64_t most = 1;
    for (int i = 0; i < c->plan->n_tensors; i++) {
        if (c->plan->tensors[i].count > most)
            most = c->plan->tensors[i].count;
    }
    c->before = lab_alloc(c->truth.plan->persistent_bytes + 1);
    c->first = lab_alloc(c->truth.plan->persistent_bytes + 1);
    c->host = lab_alloc_array((size_t)most, sizeof(*c->host));
    if (!c->before || !c->first || !c->host)
        return lab_fail(LAB_E_NOMEM, "no memory to check the variants");
    return lab_backend_alloc(c->be, c->plan->arena_bytes, &c->arena);
}

static void release(struct lab_variant_test_network *c)
{
    if (c->plan)
        lab_backend_free(c->be, c->arena);
    lab_plan_free(c->plan);
    lab_reference_run_close(&c->truth);
    lab_free(c->before);
    lab_free(c->first);
    lab_free(c->host);
}

static void fill_truth(struct lab_variant_test_network *c)
{
    const struct lab_plan *plan = c->truth.plan;
    for (int t = 0; t < plan->n_tensors; t++) {
        const struct lab_tensor *tensor = &plan->tensors[t];
        void *at = lab_reference_run_data(&c->truth, t);
        if (tensor->persistent)
            lab_plan_init_tensor(plan, t, at);
        if (tensor->role != LAB_TENSOR_DATA)
            continue;
        for (int64_t i = 0; i < tensor->count; i++) {
            uint32_t word = lab_random_word(9, (uint32_t)t, 1, (uint64_t)i);
            if (tensor->dtype == LAB_I32)
                ((int32_t *)at)[i] = (int32_t)(word % LAB_TRIAL_UNITS);
            else
                ((double *)at)[i] = 3.0 * lab_random_unit(word) - 1.5;
        }
    }
}

static enum lab_status run_truth(struct lab_variant_test_network *c, int i)
{
    memcpy(c->before, c->truth.arena, c->truth.plan->persistent_bytes);
    return lab_reference_run_step(&c->truth, i, 0);
}

/* ---- one variant ---- */

static enum lab_status hand_over(struct lab_variant_test_network *c, int tensor,
                                 bool poison)
{
    if (tensor < 0)
        return LAB_OK;
    const struct lab_tensor *t = &c->plan->tensors[tensor];
    const struct lab_tensor *from = &c->truth.plan->tensors[tensor];
    const char *base = c->truth.arena;
    if (poison && t->persistent)
        base = c->group ? c->first : c->before; /* in place: as it was */
    for (int64_t i = 0; i < t->count; i++) {
        double v = lab_element_value(base + from->offset, from->dtype, i);
        if (poison && !t->persistent)
            v = NAN;
        if (t->dtype == LAB_I32)
            ((int32_t *)(void *)c->host)[i] =
                isnan(v) ? INT32_MIN : (int32_t)v; /* no id */
        else
            c->host[i] = (float)v;
    }
    return lab_backend_upload(c->be, (char *)c->arena + t->offset, c->host,
                              (size_t)t->count * sizeof(float));
}

/* Largest difference from the truth, as a multiple of what is allowed. */
static enum lab_status compare(struct lab_variant_test_network *c, int tensor,
                               double *worst)
{
    const struct lab_tensor *t = &c->plan->tensors[tensor];
    const void *want = lab_reference_run_data(&c->truth, tensor);
    enum lab_dtype want_type = c->truth.plan->tensors[tensor].dtype;
    enum lab_status st =
        lab_backend_download(c->be, c->host, (char *)c->arena + t->offset,
                             (size_t)t->count * sizeof(float));
    double largest = 0;
    double off = 0;
    for (int64_t i = 0; i < t->count && !st; i++) {
        double a = lab_element_value(want, want_type, i);
        double b = lab_element_value(c->host, t->dtype, i);
        double d = fabs(a - b);
        largest = fmax(largest, fabs(a));
        if (isnan(b) || isnan(d))
            off = INFINITY;
        else if (d > off)
            off = d;
    }
    *worst = fmax(*worst, off / (1e-5 * (1 + largest)));
    return st;
}

static enum lab_status try_variant(struct lab_variant_test_network *c,
                                   const struct lab_step *s,
                                   const struct lab_variant *v, double *worst)
{
    struct lab_view in[LAB_STEP_IN];
    struct lab_view out[LAB_STEP_OUT];
    enum lab_status st = LAB_OK;
    for (int i = 0; i < s->n_in && !st; i++) {
        in[i] = lab_plan_view(c->plan, s->in[i], c->arena);
        st = hand_over(c, s->in[i], false);
    }
    for (int i = 0; i < s->n_out && !st; i++) {
        bool alias = s->out[i] >= 0 &&
                     c->plan->tensors[s->out[i]].alias_of >= 0 &&
                     !c->plan->tensors[s->out[i]].slice;
        out[i] = lab_plan_view(c->plan, s->out[i], c->arena);
        if (!alias)
            st = hand_over(c, s->out[i], true);
    }
    struct lab_call call = {.in = in,
                            .n_in = s->n_in,
                            .out = out,
                            .n_out = s->n_out,
                            .params = s->params,
                            .training = true,
                            .seed = c->plan->seed,
                            .node = (uint32_t)s->node};
    if (!st)
        st = lab_backend_prepare(c->be, v, &call);
    if (!st)
        st = lab_backend_run(c->be, v, &call);
    if (!st)
        st = lab_backend_sync(c->be);
    for (int i = 0; i < s->n_out && !st; i++) {
        if (s->out[i] >= 0)
            st = compare(c, s->out[i], worst);
    }
    return st;
}

static void judge(struct lab_variant_test_network *c, const struct lab_step *s,
                  const struct lab_variant *v)
{
    double worst = 0;
    if (lab_variant_disabled(v))
        return;
    enum lab_status st = try_variant(c, s, v, &worst);
    bool refused = st == LAB_E_UNSUPPORTED && v->prepare;
    if (v->prepare)
        lab_variant_tally(v, !refused);
    if (refused || (!st && worst <= 1))
        return; /* who chooses it for a shape that it refuses is told so */
    lab_variant_withdraw(v);
    lab_str_addf(c->said, "%s %s %s, variant %s: ", s->op->name,
                 v->step ? v->step : "(group)", lab_phase_name(v->phase),
                 v->name);
    if (st)
        lab_str_addf(c->said, "failed (%s); withdrawn\n", lab_error());
    else
        lab_str_addf(c->said,
                     "is %.2g times the tolerance off the reference; "
                     "withdrawn\n",
                     worst);
}

/* activation: the group is called with one, which some cannot take in. */
static void judge_all(struct lab_variant_test_network *c,
                      const struct lab_step *s, const char *kernel,
                      bool activation)
{
    int n = 0;
    const struct lab_kernel_set *const *sets =
        c->be->ops->sets(c->be, LAB_F32, &n);
    for (int i = 0; i < n; i++) {
        if (strcmp(sets[i]->op, s->op->name) != 0)
            continue;
        for (int k = 0; k < sets[i]->count; k++) {
            const struct lab_variant *v = &sets[i]->variants[k];
            bool same = kernel && v->step ? strcmp(kernel, v->step) == 0
                                          : kernel == v->step;
            const struct lab_node *node = &c->plan->nodes[s->node];
            if (s->group && lab_node_unserved(node, v))
                continue;
            if (v->phase == s->phase && same &&
                (v->absorbs_activation || !activation))
                judge(c, s, v);
        }
    }
}

/* ---- groups: judged when the steps that they hide have run ---- */

static enum lab_status judge_group(struct lab_variant_test_network *c,
                                   const struct lab_node *node,
                                   enum lab_phase phase,
                                   const struct lab_node *absorbed)
{
    struct lab_group_step g = {.def = {.name = node->op->name}};
    struct lab_step s = {
        .op = node->op, .node = (int)(node - c->plan->nodes), .group = true};
    node->op->group(c->plan, node, phase, absorbed, &g);
    g.def.phase = phase;
    enum lab_status st = lab_step_fill(&s, c->plan, &g.def, node->id, true);
    if (st)
        return st;
    c->group = true;
    judge_all(c, &s, NULL, absorbed != NULL);
    c->group = false;
    lab_step_release(&s);
    return LAB_OK;
}

/* Only then may the op be asked for the step of its group. A node whose parts
 * another reads runs by steps. */
static bool has_group(struct lab_variant_test_network *c,
                      const struct lab_node *node, enum lab_phase phase)
{
    int n = 0;
    const struct lab_kernel_set *const *sets =
        c->be->ops->sets(c->be, LAB_F32, &n);
    if (!node->op->group || node->n_steps[phase] == 0)
        return false;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < sets[i]->count; k++) {
            const struct lab_variant *v = &sets[i]->variants[k];
            if (strcmp(sets[i]->op, node->op->name) == 0 && !v->step &&
                v->phase == phase && !lab_node_unserved(node, v))
                return true;
        }
    }
    return false;
}

static enum lab_status judge_groups(struct lab_variant_test_network *c,
                                    enum lab_phase phase)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < c->plan->loss_node && !st; i++) {
        const struct lab_node *node = &c->plan->nodes[i];
        const struct lab_node *next = node + 1;
        if (!has_group(c, node, phase))
            continue;
        st = judge_group(c, node, phase, NULL);
        if (!st && phase == LAB_FORWARD && next->op->activation &&
            next->in[0] == node->out)
            st = judge_group(c, node, phase, next);
    }
    return st;
}

static enum lab_status walk_truth(struct lab_variant_test_network *c)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < c->plan->n_steps && !st; i++) {
        const struct lab_step *s = &c->plan->steps[i];
        if (i == 0 || s->phase != s[-1].phase)
            memcpy(c->first, c->truth.arena, c->truth.plan->persistent_bytes);
        st = run_truth(c, i);
        if (!st)
            judge_all(c, s, s->kernel, false);
        /* Before the update changes parameters. */
        bool last = i + 1 == c->plan->n_steps ||
                    c->plan->steps[i + 1].phase != s->phase;
        if (!st && last &&
            (s->phase == LAB_FORWARD || s->phase == LAB_BACKWARD))
            st = judge_groups(c, s->phase);
    }
    return st;
}

enum lab_status lab_variant_verify(struct lab_variant_test_network *c)
{
    enum lab_status st = lab_plan_build(&c->plan, &c->spec, NULL, LAB_F32);
    if (!st)
        st = lab_reference_run_open(&c->truth, &c->spec, NULL);
    if (!st)
        st = take_memory(c);
    if (!st) {
        fill_truth(c);
        st = walk_truth(c);
    }
    release(c);
    return st;
}
