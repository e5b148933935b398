/* Attention, the transformer block and ids through the whole engine: names,
 * explanations, gradients, the group, and what is refused. */
#include "test.h"

#include "attention/attention.h"
#include "base/mem.h"
#include "unit/join_op.h"
#include "unit/explained.h"
#include "unit/net.h"

/* ---- networks ---- */

static void block_net(struct net *n)
{
    net_init(n);
    net_labels(n, "x 2,5", 7);
    net_nodes(n, "emb embedding vocab=7 dim=6",
              "pos positional_embedding max_length=8",
              "block1 transformer_block heads=3 ff=10 causal=true",
              "block2 transformer_block heads=2 ff=4 gelu=erf",
              "head dense units=7");
    net_loss(n, "softmax_cross_entropy");
    net_labels(n, "y 2,5", 7);
}

static void bahdanau_net(struct net *n)
{
    net_init(n);
    n->spec.data.gradient = true;
    net_tensor(n, "s 3,4", NULL);
    net_tensor(n, "h 3,5,2", NULL);
    net_node(n, "att bahdanau_attention from=s,h align=3");
    net_loss(n, "weighted_sum");
    net_tensor(n, "y 3,2", NULL);
}

static void dot_net(struct net *n, bool gradient)
{
    net_init(n);
    n->spec.data.gradient = gradient;
    net_tensor(n, "q 2,3,4", NULL);
    net_tensor(n, "k 2,5,4", NULL);
    net_tensor(n, "v 2,5,2", NULL);
    net_node(n, "dot scaled_dot_attention from=q,k,v causal=true");
    net_loss(n, "weighted_sum");
    net_tensor(n, "y 2,3,2", NULL);
}

/* One tensor feeds all three: its gradient is a sum of three. */
static void same_net(struct net *n)
{
    net_init(n);
    net_tensor(n, "x 2,4,3", NULL);
    net_nodes(n, "fc dense units=4", "dot scaled_dot_attention from=fc,fc,fc",
              "att attention heads=2 bias=false");
    net_loss(n, "weighted_sum");
    net_tensor(n, "y 2,4,4", NULL);
}

/* ---- every number and every gradient ---- */

/* Runs forward, loss and backward, and stops before the update. */
static void to_update(struct net *n)
{
    const struct lab_schedule *s = lab_walk_schedule(n->walk);
    net_steps(n, s->phase_first[LAB_UPDATE] - lab_walk_position(n->walk));
}

static void check_gradients(struct net *n, int least)
{
    struct lab_check_result *r = NULL;
    int count = 0;
    assert_ok(lab_gradcheck(n->walk, &n->spec, NULL, LAB_CHECK_ELEMENTS, NULL,
                            NULL, &r, &count));
    assert_true(count >= least);
    for (int i = 0; i < count; i++) {
        if (!r[i].passed)
            fail_msg("%s: %g off", r[i].parameter, r[i].max_error);
        assert_true(r[i].elements > 0);
    }
    lab_free(r);
}

static void walk_and_check(struct net *n, int parameters)
{
    net_walk(n, "cpu");
    to_update(n);
    net_explain_all(n, true);
    if (parameters > 0)
        check_gradients(n, parameters);
    net_free(n);
}

TEST_CASE(numbers_and_gradients_agree)
{
    struct net n;
    block_net(&n);
    walk_and_check(&n, 36);
    bahdanau_net(&n);
    walk_and_check(&n, 4);
    dot_net(&n, true);
    walk_and_check(&n, 0);
    same_net(&n);
    walk_and_check(&n, 6);
}

/* ---- names ---- */

NET_CASE(a_block_has_its_nodes)
{
    static const char *const ids[] = {
        "block1.ln1",  "block1.attn", "block1.r", "block1.ln2", "block1.ff1",
        "block1.gelu", "block1.ff2",  "block1",   "block2.ln1"};
    static const char *const tensors[] = {
        "block1.ln1.out",    "block1.attn.scores", "block1.attn.Wq",
        "block1.attn.ctx",   "block1.r",           "block1.r.grad",
        "block1.ff1.W",      "block1.out",         "block1.out.grad",
        "block1.attn.v.grad"};
    block_net(n);
    net_walk(n, "cpu");
    int first = lab_plan_node(n->plan, ids[0]);
    assert_int_equal(first, 2);
    for (int i = 0; i < 9; i++)
        assert_string_equal(n->plan->nodes[first + i].id, ids[i]);
    for (size_t i = 0; i < sizeof(tensors) / sizeof(tensors[0]); i++)
        net_id(n, tensors[i]);
    assert_int_equal(net_at(n, "block1.ff2.W")->shape.dim[1], 6);
    assert_int_equal(net_at(n, "x")->dtype, LAB_I32);
    /* A variant for the block, or for its op, is one for its inner nodes. */
    net_choose(n, "block1", "blas");
    const struct lab_schedule *s = lab_walk_schedule(n->walk);
    int at = lab_schedule_find(s, n->plan, "block1.attn.q", LAB_FORWARD, 0);
    assert_string_equal(s->steps[at].variant->name, "blas");
    at = lab_schedule_find(s, n->plan, "block2.attn.q", LAB_FORWARD, 0);
    assert_string_equal(s->steps[at].variant->name, "naive");
    at = lab_schedule_find(s, n->plan, "block1", -1, 0);
    assert_string_equal(s->steps[at].step->name, "block1.ln1.stats");
}

/* ---- the group ---- */

static lab_kernel_fn *reference(const char *step, enum lab_phase phase)
{
    extern const struct lab_kernel_set lab_ref_f32_attention;
    for (int i = 0; i < lab_ref_f32_attention.count; i++) {
        const struct lab_variant *v = &lab_ref_f32_attention.variants[i];
        if (strcmp(v->step, step) == 0 && v->phase == phase)
            return v->run;
    }
    fail_msg("no step %s", step);
    return NULL;
}

/* Runs one step of the reference on views. */
static void step(const struct lab_call *call, const char *name,
                 enum lab_phase phase, const struct lab_view *in,
                 const struct lab_view *out)
{
    struct lab_call one = *call;
    one.in = in;
    one.out = out;
    assert_ok(reference(name, phase)(&one));
}

enum { ROOM = 512 };

/* [N*H,Tq,Tk] in `memory`, from q and k. */
static struct lab_view scores_view(const struct lab_call *call, int q,
                                   float *memory)
{
    const struct lab_attention_params *p = call->params;
    struct lab_attention_dims d =
        lab_attention_sizes(&call->in[q], &call->in[q + 1], NULL, p->heads);
    struct lab_view v = {.data = memory,
                         .dtype = LAB_F32,
                         .rank = 3,
                         .dim = {d.N * d.H, d.Tq, d.Tk},
                         .count = d.N * d.H * d.Tq * d.Tk};
    assert_true(v.count <= ROOM);
    return v;
}

/* The three steps one after the other: what a fused kernel must give. */
static enum lab_status fused_forward(const struct lab_call *call)
{
    float memory[2][ROOM];
    struct lab_view scores = scores_view(call, 0, memory[0]);
    struct lab_view probs = scores_view(call, 0, memory[1]);
    step(call, "scores", LAB_FORWARD, call->in, &scores);
    step(call, "softmax", LAB_FORWARD, &scores, &probs);
    step(call, "context", LAB_FORWARD, (struct lab_view[]){probs, call->in[2]},
         call->out);
    return LAB_OK;
}

static enum lab_status fused_backward(const struct lab_call *call)
{
    float memory[4][ROOM];
    struct lab_view scores = scores_view(call, 1, memory[0]);
    struct lab_view probs = scores_view(call, 1, memory[1]);
    struct lab_view dprobs = scores_view(call, 1, memory[2]);
    struct lab_view dscores = scores_view(call, 1, memory[3]);
    step(call, "scores", LAB_FORWARD, &call->in[1], &scores);
    step(call, "softmax", LAB_FORWARD, &scores, &probs);
    step(call, "context", LAB_BACKWARD,
         (struct lab_view[]){call->in[0], probs, call->in[3]},
         (struct lab_view[]){dprobs, call->out[2]});
    step(call, "softmax", LAB_BACKWARD, (struct lab_view[]){dprobs, probs},
         &dscores);
    step(call, "scores", LAB_BACKWARD,
         (struct lab_view[]){dscores, call->in[1], call->in[2]}, call->out);
    return LAB_OK;
}

static const struct lab_variant fused[] = {
    {.name = "whole", .phase = LAB_FORWARD, .run = fused_forward},
    {.name = "whole", .phase = LAB_BACKWARD, .run = fused_backward},
};

TEST_CASE(the_group_hides_three_steps_both_ways)
{
    static const struct lab_kernel_set whole = {"attention", fused, 2};
    static const struct lab_kernel_set half = {"attention", fused, 1};
    struct net n;
    join_backend_add(&whole);
    block_net(&n);
    net_walk_on(&n, join_backend());
    to_update(&n);
    double *want = net_read(&n, "emb.W.grad");
    net_choose(&n, "block1.attn", "whole");
    assert_int_equal(net_hidden_at(&n, "block1.attn.softmax", LAB_FORWARD), 3);
    assert_int_equal(net_hidden_at(&n, "block1.attn.softmax", LAB_BACKWARD), 3);
    assert_int_equal(net_hidden_at(&n, "block1.attn.q", LAB_FORWARD), 1);
    assert_int_equal(net_hidden_at(&n, "block2.attn.softmax", LAB_FORWARD), 1);
    net_steps(&n, 0);
    assert_ok(lab_walk_restart(n.walk));
    to_update(&n);
    net_explain_all(&n, true);
    double *got = net_read(&n, "emb.W.grad");
    for (int64_t i = 0; i < net_at(&n, "emb.W.grad")->count; i++)
        assert_true(want[i] == got[i]);
    lab_free(want);
    lab_free(got);
    net_free(&n);
    /* A way forward without the way back would leave probs unwritten. */
    join_backend_add(&half);
    block_net(&n);
    net_walk_on(&n, join_backend());
    struct lab_variant_choice choice = {"block1.attn", "whole"};
    struct lab_schedule *s = NULL;
    lab_schedule_make(&s, n.plan, lab_walk_backend(n.walk), &choice, 1, NULL);
    for (int i = 0; s && i < s->n_steps; i++)
        assert_int_equal(s->steps[i].hides_count, 1);
    lab_schedule_release(s);
    net_free(&n);
    join_backend_add(NULL);
}

/* Each way as one step: the way back reads the shares that forward has written. */
NET_CASE(each_way_is_a_group_of_its_own)
{
    block_net(n);
    net_walk(n, "cpu");
    to_update(n);
    double *want = net_read(n, "emb.W.grad");
    net_choose(n, "attention", "fused");
    assert_int_equal(net_hidden_at(n, "block1.attn.softmax", LAB_FORWARD), 3);
    assert_int_equal(net_hidden_at(n, "block1.attn.q", LAB_FORWARD), 1);
    assert_int_equal(net_hidden_at(n, "block1.attn.softmax", LAB_BACKWARD), 3);
    assert_int_equal(net_hidden_at(n, "block2.attn.k", LAB_BACKWARD), 1);
    net_steps(n, 0);
    assert_ok(lab_walk_restart(n->walk));
    to_update(n);
    assert_true(lab_walk_written(n->walk, net_id(n, "block1.attn.probs")));
    assert_false(lab_walk_written(n->walk, net_id(n, "block1.attn.scores")));
    assert_false(
        lab_walk_written(n->walk, net_id(n, "block1.attn.probs.grad")));
    net_explain_all(n, true);
    double *got = net_read(n, "emb.W.grad");
    for (int64_t i = 0; i < net_at(n, "emb.W.grad")->count; i++)
        assert_true(fabs(want[i] - got[i]) <= 1e-6 * (1 + fabs(want[i])));
    lab_free(want);
    lab_free(got);
}

/* Queries and keys that are data have no gradients: the group is one step, and hides
 * no step of another node. */
NET_CASE(a_group_hides_steps_of_its_node_alone)
{
    net_tensor(n, "q 2,3,4", NULL);
    net_tensor(n, "k 2,5,4", NULL);
    net_tensor(n, "v 2,5,2", NULL);
    net_nodes(n, "fc dense units=2 from=v",
              "dot scaled_dot_attention from=q,k,fc");
    net_loss(n, "weighted_sum");
    net_tensor(n, "y 2,3,2", NULL);
    net_walk(n, "cpu");
    to_update(n);
    double *want = net_read(n, "fc.b.grad");
    net_choose(n, "dot", "fused");
    assert_int_equal(net_hidden_at(n, "dot.context", LAB_BACKWARD), 1);
    net_steps(n, 0);
    assert_ok(lab_walk_restart(n->walk));
    to_update(n);
    net_explain_all(n, true);
    double *got = net_read(n, "fc.b.grad");
    for (int64_t i = 0; i < net_at(n, "fc.b.grad")->count; i++)
        assert_true(fabs(want[i] - got[i]) <= 1e-6 * (1 + fabs(want[i])));
    lab_free(want);
    lab_free(got);
}

/* ---- refusals ---- */

static void refused(struct net *n, enum lab_status want, const char *a,
                    const char *b)
{
    enum lab_status st = net_build(n);
    if (st != want)
        fail_msg("status %d (%s), not %d", st, st ? lab_error() : "built",
                 want);
    assert_true(error_is(a));
    if (!strstr(lab_error(), b))
        fail_msg("%s is not in: %s", b, lab_error());
    net_free(n);
}

static void one_node(struct net *n, const char *node)
{
    net_init(n);
    net_tensor(n, "x 2,5,6", NULL);
    net_tensor(n, "k 2,4,6", NULL);
    net_tensor(n, "short 2,4,3", NULL);
    net_tensor(n, "s 3,6", NULL);
    net_nodes(n, "f flatten", node);
    net_loss(n, "weighted_sum");
    net_tensor(n, "y 2,5,6", NULL);
}

TEST_CASE(shapes_that_do_not_fit)
{
    static const char *const bad[][3] = {
        {"a attention heads=4 from=x", "[op.attention.heads] a (attention)",
         "4 heads"},
        {"b transformer_block heads=5 ff=3 from=x",
         "[op.attention.heads] b.attn (attention)", "[2,5,6]"},
        {"p positional_embedding max_length=4 from=x",
         "[op.positional-embedding.length] p (positional_embedding)",
         "max_length 4"},
        {"d scaled_dot_attention from=x,short,k",
         "[op.scaled-dot-attention.shape] d (scaled_dot_attention)",
         "k [2,4,3]"},
        {"d scaled_dot_attention from=x,k,x",
         "[op.scaled-dot-attention.shape] q [2,5,6]", "v [2,5,6]"},
        {"h bahdanau_attention from=s,k align=2",
         "[op.bahdanau-attention.shape] s [3,6]", "h [2,4,6]"},
        {"e embedding vocab=4 dim=2 from=f",
         "[network.from-real] node 'e' reads 'f.out'", "embedding"},
        {"b transformer_block heads=2 ff=3 from=x,k",
         "[network.inputs-inner] b (transformer_block)", "1 input"},
        {"b.c transformer_block heads=2 ff=3 from=x",
         "[network.id-dot-inner] b.c", "b.c"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct net n;
        one_node(&n, bad[i][0]);
        enum lab_status st = net_build(&n);
        assert_true(st == LAB_E_SHAPE || st == LAB_E_PARSE);
        assert_true(error_is(bad[i][1]));
        assert_ptr_equal(strstr(lab_error(), "net.md:101:"), lab_error());
        if (!strstr(lab_error(), bad[i][2]))
            fail_msg("%s is not in: %s", bad[i][2], lab_error());
        net_free(&n);
    }
}

TEST_CASE(ids_that_are_none)
{
    struct net n;
    for (int kind = 0; kind < 3; kind++) {
        static const double beyond[] = {0, 3, 4, 1};
        static const double below[] = {0, -1, 2, 1};
        net_init(&n);
        net_tensor(&n, "x 2,2", kind == 0 ? beyond : below);
        n.spec.data.tensors[0].integers = kind < 2;
        net_node(&n, "e embedding vocab=4 dim=3");
        net_loss(&n, "weighted_sum");
        net_tensor(&n, "y 2,2,3", NULL);
        if (kind == 0)
            refused(&n, LAB_E_RANGE, "[data.id] net.md:10:3: x[1,0] is 4",
                    "0 to 3");
        else if (kind == 1)
            refused(&n, LAB_E_RANGE, "[data.id] net.md:10:3: x[0,1] is -1",
                    "has 4");
        else
            refused(&n, LAB_E_PARSE, "[network.fractions] net.md:10:3: x ",
                    "ids");
    }
    net_init(&n);
    net_labels(&n, "x 2,3", 3);
    net_nodes(&n, "e embedding vocab=4 dim=3", "fc dense units=3 from=x");
    net_loss(&n, "weighted_sum");
    net_tensor(&n, "y 2,3", NULL);
    refused(&n, LAB_E_PARSE, "[network.from-labels] 'fc'", "'x'");
}

/* Memory that runs out at any moment is reported, and nothing is lost. */
TEST_CASE(memory_runs_out)
{
    struct net n;
    enum lab_status st = LAB_E_NOMEM;
    for (long nth = 1; st == LAB_E_NOMEM && nth < 5000; nth++) {
        struct lab_plan *plan = NULL;
        block_net(&n);
        lab_mem_fail_from(nth);
        st = lab_plan_build(&plan, &n.spec, NULL, LAB_F32);
        lab_mem_fail_from(0);
        assert_true(st == LAB_OK || !plan);
        lab_plan_free(plan);
        net_free(&n);
    }
    assert_ok(st);
}

RUN_TESTS()
