/* Attention with a mask for padding: shares, gradients, explanations, groups,
 * and what is refused. */
#include "test.h"

#include "base/mem.h"
#include "unit/explained.h"
#include "unit/join_op.h"
#include "unit/net.h"

/* Padding: a sample of two keys, one where the first of all is hidden, and one
 * that is hidden whole. */
static void masked_net(struct net *n, bool causal)
{
    const double mask[] = {1, 1, 0, 0, 0, 0, 0.5, 1, -2, 1, 0, 0, 0, 0, 0};
    net_init(n);
    n->spec.data.gradient = true;
    net_tensor(n, "x 3,3,4", NULL);
    net_tensor(n, "k 3,5,4", NULL);
    net_tensor(n, "mask 3,5", mask);
    net_nodes(n, "fc dense units=4 from=x", "key dense units=4 from=k",
              causal ? "dot scaled_dot_attention from=fc,key,key,mask "
                       "causal=true"
                     : "dot scaled_dot_attention from=fc,key,key,mask");
    net_loss(n, "weighted_sum");
    net_tensor(n, "y 3,3,4", NULL);
}

static void to_update(struct net *n)
{
    const struct lab_schedule *s = lab_walk_schedule(n->walk);
    net_steps(n, s->phase_first[LAB_UPDATE] - lab_walk_position(n->walk));
}

TEST_CASE(numbers_and_gradients_agree)
{
    for (int causal = 0; causal < 2; causal++) {
        struct net n;
        struct lab_check_result *r = NULL;
        int count = 0;
        masked_net(&n, causal == 1);
        net_walk(&n, "cpu");
        to_update(&n);
        net_explain_all(&n, false);
        assert_ok(lab_gradcheck(n.walk, &n.spec, NULL, LAB_CHECK_ELEMENTS, NULL,
                                NULL, &r, &count));
        assert_int_equal(count, 4);
        for (int i = 0; i < count; i++)
            assert_true(r[i].passed && r[i].elements > 0);
        lab_free(r);
        net_free(&n);
    }
}

NET_CASE(padding_gets_no_share)
{
    masked_net(n, false);
    net_walk(n, "cpu");
    to_update(n);
    for (int i = 0; i < 3; i++) {
        double sum[3] = {0};
        for (int j = 0; j < 5; j++) {
            for (int s = 0; s < 3; s++) {
                double share = net_get(n, "dot.probs", (s * 3 + i) * 5 + j);
                bool seen = net_get(n, "mask", s * 5 + j) > 0;
                assert_true(seen ? share > 0 : share == 0);
                sum[s] += share;
                assert_true(net_get(n, "dot.scores", (s * 3 + i) * 5 + j) != 0);
            }
        }
        assert_float_equal(sum[0], 1, 1e-6);
        assert_float_equal(sum[1], 1, 1e-6);
        assert_true(sum[2] == 0);
    }
    /* What is hidden has no way back either. */
    for (int e = 0; e < 4; e++)
        assert_true(net_get(n, "key.out.grad", 3 * 4 + e) == 0);
    assert_int_equal(lab_plan_tensor(n->plan, "mask.grad"), -1);
}

/* It is scheduled here and never run. */
static enum lab_status run_at_once(const struct lab_call *call)
{
    (void)call;
    return LAB_OK;
}

static const struct lab_variant at_once[] = {
    {.name = "whole", .phase = LAB_FORWARD, .run = run_at_once},
    {.name = "whole", .phase = LAB_BACKWARD, .run = run_at_once},
};

TEST_CASE(no_group_serves_a_mask)
{
    static const struct lab_kernel_set whole = {"scaled_dot_attention", at_once,
                                                2};
    const struct lab_variant_choice here = {"dot", "whole"};
    const struct lab_variant_choice all = {"*", "whole"};
    struct net n;
    join_backend_add(&whole);
    net_init(&n);
    net_tensor(&n, "x 3,3,4", NULL);
    net_nodes(&n, "dot scaled_dot_attention from=x,x,x", "fc dense units=4");
    net_loss(&n, "weighted_sum");
    net_tensor(&n, "y 3,3,4", NULL);
    net_walk_on(&n, join_backend());
    net_choose(&n, "dot", "whole");
    assert_int_equal(net_hidden_at(&n, "dot.softmax", LAB_FORWARD), 3);
    net_free(&n);
    masked_net(&n, false);
    net_walk_on(&n, join_backend());
    assert_int_equal(lab_walk_choose(n.walk, &here, 1), LAB_E_NOTFOUND);
    assert_true(error_is("[variant.group] dot: variant 'whole' "));
    assert_int_equal(lab_walk_choose(n.walk, &all, 1), LAB_E_NOTFOUND);
    assert_int_equal(net_hidden_at(&n, "dot.softmax", LAB_FORWARD), 1);
    net_free(&n);
    join_backend_add(NULL);
}

TEST_CASE(a_mask_that_does_not_fit)
{
    struct net n;
    masked_net(&n, false);
    n.spec.data.tensors[2].shape.dim[1] = 3;
    n.spec.data.tensors[2].count = 9;
    assert_int_equal(net_build(&n), LAB_E_SHAPE);
    assert_true(error_is(
        "[op.scaled-dot-attention.mask-shape] dot (scaled_dot_attention): "
        "reads keys [3,5,4] and the mask [3,3]"));
    net_free(&n);
    net_init(&n);
    net_tensor(&n, "x 3,3,4", NULL);
    net_nodes(&n, "fc dense units=4 from=x",
              "dot scaled_dot_attention from=x,x,x,fc");
    net_loss(&n, "weighted_sum");
    net_tensor(&n, "y 3,3,4", NULL);
    assert_int_equal(net_build(&n), LAB_E_PARSE);
    assert_true(error_is("[op.scaled-dot-attention.mask] 'fc' "));
    net_free(&n);
}

RUN_TESTS()
