/* Recurrent layers that start from the last state of another: encoder and
 * decoder. Gradients against differences, every number explained, every
 * variant, attention between them, and what is refused. */
#include "test.h"

#include "base/mem.h"
#include "unit/explained.h"
#include "unit/net.h"

/* Encoder, decoder, and what comes after: the encoder's result is read too, or
 * its state alone. */
struct pair {
    const char *nodes[6];
    const char *y;
};

static const struct pair pairs[] = {
    {{"enc lstm hidden=3 from=x", "dec lstm hidden=3 from=d,enc",
      "fc dense units=2 from=dec"},
     "y 2,3,2"},
    {{"enc rnn hidden=3 from=x", "dec rnn hidden=3 bias=false from=d,enc",
      "fc dense units=2 from=dec"},
     "y 2,3,2"},
    /* rnn takes the h of an lstm; the last step alone returns. */
    {{"enc lstm hidden=3 return=last from=x",
      "dec rnn hidden=3 return=last from=d,enc", "fc dense units=2 from=dec"},
     "y 2,2"},
    {{"enc lstm hidden=3 from=x", "dec lstm hidden=3 from=d,enc",
      "att scaled_dot_attention from=dec,enc,enc", "sum add from=dec,att",
      "fc dense units=2 from=sum"},
     "y 2,3,2"},
    {{"enc lstm hidden=4 from=x", "mid lstm hidden=4 from=d,enc",
      "dec lstm hidden=4 from=d,mid", "sum add from=mid,dec",
      "fc dense units=2 from=sum"},
     "y 2,3,2"},
};
enum { PAIRS = sizeof(pairs) / sizeof(pairs[0]) };

static void begin(struct net *n, int which)
{
    net_init(n);
    n->spec.data.gradient = true;
    net_tensor(n, "x 2,4,5", NULL);
    net_tensor(n, "d 2,3,2", NULL);
    for (int i = 0; i < 6 && pairs[which].nodes[i]; i++)
        net_node(n, pairs[which].nodes[i]);
    net_loss(n, "mse reduction=half_sum");
    net_tensor(n, pairs[which].y, NULL);
    net_optimizer(n, "sgd lr=0.1");
}

TEST_CASE(gradients_flow_into_the_encoder)
{
    for (int i = 0; i < PAIRS; i++) {
        struct net n;
        struct lab_check_result *result = NULL;
        int count = 0;
        bool encoder = false;
        begin(&n, i);
        net_walk(&n, "cpu");
        assert_ok(lab_gradcheck(n.walk, &n.spec, NULL, LAB_CHECK_ELEMENTS, NULL,
                                NULL, &result, &count));
        for (int k = 0; k < count; k++) {
            if (!result[k].passed || result[k].elements == 0)
                fail_msg("pair %d, %s: %g instead of %g", i,
                         result[k].parameter, result[k].analytic,
                         result[k].numeric);
            encoder =
                encoder || (strncmp(result[k].parameter, "enc.", 4) == 0 &&
                            result[k].analytic != 0);
        }
        assert_true(encoder);
        lab_free(result);
        net_free(&n);
    }
}

TEST_CASE(every_number_is_explained)
{
    for (int s = 0; s < PAIRS; s++) {
        struct net n;
        begin(&n, s);
        net_walk(&n, "cpu");
        net_steps(&n, net_steps_of(&n));
        for (int i = 0; i < n.plan->n_steps; i++) {
            const char *p = n.plan->steps[i].formula;
            if (strchr(p, '$') || strchr(p, '?'))
                fail_msg("%s: %s", n.plan->steps[i].name, p);
        }
        for (int t = 0; t < n.plan->n_tensors; t++)
            assert_true(lab_walk_written(n.walk, t));
        net_explain_all(&n, false);
        net_free(&n);
    }
}

NET_CASE(the_state_is_the_encoders_last)
{
    begin(n, 0);
    net_walk(n, "cpu");
    assert_true(lab_plan_tensor(n->plan, "enc.h0") >= 0);
    assert_int_equal(lab_plan_tensor(n->plan, "dec.h0"), -1);
    assert_int_equal(lab_plan_tensor(n->plan, "dec.c0"), -1);
    const struct lab_step *gates = net_step(n, "dec.gates.0", LAB_FORWARD);
    assert_int_equal(gates->in[1], net_id(n, "enc.h.3"));
    const struct lab_step *cell = net_step(n, "dec.cell.0", LAB_FORWARD);
    assert_int_equal(cell->in[1], net_id(n, "enc.c.3"));
    /* The encoder's last step, back: from the decoder alone, and unscaled. */
    const struct lab_step *last = net_step(n, "enc.cell.3", LAB_BACKWARD);
    assert_int_equal(last->in[0], -1);
    assert_int_equal(last->in[1], net_id(n, "enc.h.3.grad.dec"));
    assert_int_equal(last->in[2], net_id(n, "enc.c.3.grad.dec"));
    assert_int_equal(last->in[3], -1);
}

/* A number put into the encoder's last input comes out of the decoder. */
TEST_CASE(what_is_encoded_arrives)
{
    for (int s = 0; s < PAIRS; s++) {
        struct net a;
        struct net b;
        begin(&a, s);
        begin(&b, s);
        net_walk(&a, "cpu");
        net_walk(&b, "cpu");
        net_steps(&a, 1);
        net_steps(&b, 1);
        assert_ok(lab_walk_back(b.walk, 1));
        net_put(&b, "x", 0, net_get(&b, "x", 0) + 1);
        net_steps(&a, a.plan->n_steps - 1);
        net_steps(&b, b.plan->n_steps);
        assert_true(net_get(&a, "dec.h.0", 0) != net_get(&b, "dec.h.0", 0));
        net_free(&a);
        net_free(&b);
    }
}

TEST_CASE(variants_give_the_same_numbers)
{
    for (int s = 0; s < PAIRS; s++) {
        struct net naive;
        struct net blas;
        begin(&naive, s);
        begin(&blas, s);
        net_walk(&naive, "cpu");
        net_walk(&blas, "cpu");
        net_choose(&naive, "*", "naive");
        net_choose(&blas, "*", "blas");
        net_steps(&naive, net_steps_of(&naive));
        net_steps(&blas, net_steps_of(&blas));
        assert_int_equal(net_agree(&naive, &blas), naive.plan->n_tensors);
        net_free(&naive);
        net_free(&blas);
    }
}

/* A group that keeps the parts serves both layers: the encoder's last state, and
 * what comes back to it. */
TEST_CASE(a_group_that_keeps_parts_serves_both)
{
    for (int s = 0; s < PAIRS; s++) {
        struct net naive;
        struct net group;
        if (!strstr(pairs[s].nodes[0], "lstm"))
            continue;
        begin(&naive, s);
        begin(&group, s);
        net_walk(&naive, "cpu");
        net_walk(&group, "cpu");
        net_choose(&naive, "*", "naive");
        net_choose(&group, "*", "sequence");
        const struct lab_schedule *sched = lab_walk_schedule(group.walk);
        int groups = 0;
        for (int i = 0; i < sched->n_steps; i++)
            groups += sched->steps[i].step->group &&
                      strcmp(sched->steps[i].variant->name, "sequence") == 0;
        int layers = 0;
        for (int i = 0; i < group.plan->loss_node; i++)
            layers += strcmp(group.plan->nodes[i].op->name, "lstm") == 0;
        assert_int_equal(groups, 2 * layers);
        net_steps(&naive, net_steps_of(&naive));
        net_steps(&group, sched->n_steps);
        assert_true(net_agree(&naive, &group) > naive.plan->n_tensors / 3);
        assert_true(lab_walk_written(group.walk, net_id(&group, "enc.W.grad")));
        net_explain_all(&group, true);
        net_free(&naive);
        net_free(&group);
    }
}

NET_CASE(back_and_forward_give_the_same_bits)
{
    begin(n, 3);
    net_walk(n, "cpu");
    net_back_and_forth(n);
}

static void refused(const char *encoder, const char *decoder, const char *third,
                    enum lab_status want, const char *error)
{
    struct net n;
    net_init(&n);
    net_tensor(&n, "x 2,4,5", NULL);
    net_tensor(&n, "d 2,3,2", NULL);
    net_tensor(&n, "other 3,3,2", NULL);
    net_nodes(&n, encoder, decoder);
    if (third)
        net_node(&n, third);
    net_loss(&n, "mse");
    net_tensor(&n, "y 2,3,3", NULL);
    assert_int_equal(net_build(&n), want);
    assert_true(error_is(error));
    assert_ptr_equal(strstr(lab_error(), "net.md:10"), lab_error());
    net_free(&n);
}

TEST_CASE(what_does_not_fit_is_refused)
{
    refused(
        "enc lstm hidden=4 from=x", "dec lstm hidden=3 from=d,enc", NULL,
        LAB_E_SHAPE,
        "[op.recurrent.state-shape] dec (lstm): starts from 'enc', with the "
        "last state [2,4]; this layer's is [2,3]");
    refused("enc lstm hidden=3 from=x", "dec lstm hidden=3 from=other,enc",
            NULL, LAB_E_SHAPE,
            "[op.recurrent.state-shape] [2,3]; this layer's is [3,3]");
    refused("enc rnn hidden=3 from=x", "dec lstm hidden=3 from=d,enc", NULL,
            LAB_E_PARSE, "[op.recurrent.state-kind] 'enc'");
    refused("enc dense units=3 from=x", "dec lstm hidden=3 from=d,enc", NULL,
            LAB_E_PARSE, "[op.recurrent.no-state] 'enc'");
    refused("enc lstm hidden=3 from=x", "dec rnn hidden=3 from=d,x", NULL,
            LAB_E_PARSE, "[op.recurrent.no-state] 'x'");
    refused("enc lstm hidden=3 from=x", "dec lstm hidden=3 from=d,enc",
            "more lstm hidden=3 from=d,enc", LAB_E_UNSUPPORTED,
            "[network.state-twice] more (lstm): starts from enc");
}

TEST_CASE(no_memory_is_an_error_and_nothing_is_lost)
{
    enum lab_status st = LAB_E_NOMEM;
    int64_t fails = 1;
    for (; st == LAB_E_NOMEM; fails++) {
        struct net n;
        struct lab_plan *plan = NULL;
        begin(&n, 3);
        lab_mem_fail_from(fails);
        st = lab_plan_build(&plan, &n.spec, NULL, LAB_F32);
        lab_mem_fail_from(0);
        assert_true((st == LAB_OK) == (plan != NULL));
        lab_plan_free(plan);
        net_free(&n);
    }
    assert_ok(st);
    assert_true(fails > 100);
}

RUN_TESTS()
