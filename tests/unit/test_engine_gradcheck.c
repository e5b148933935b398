/* The gradient check: right gradients pass, wrong ones do not. */
#include "test.h"

#include "base/mem.h"
#include "unit/net.h"

static struct lab_check_result *check(struct net *n, const char *parameter,
                                      int *count)
{
    struct lab_check_result *r;
    assert_ok(lab_gradcheck(n->walk, &n->spec, parameter, LAB_CHECK_ELEMENTS,
                            NULL, NULL, &r, count));
    return r;
}

static void all_pass(struct net *n, bool from_walk)
{
    int count;
    struct lab_check_result *r = check(n, NULL, &count);
    int parameters = 0;
    for (int t = 0; t < n->plan->n_tensors; t++)
        parameters += n->plan->tensors[t].role == LAB_TENSOR_PARAM;
    assert_int_equal(count, parameters);
    for (int i = 0; i < count; i++) {
        if (!r[i].passed)
            fail_msg("%s: off by %g (%g allowed) at %lld: %g, and the slope "
                     "is %g",
                     r[i].parameter, r[i].max_error, r[i].tolerance,
                     (long long)r[i].worst, r[i].analytic, r[i].numeric);
        assert_int_equal(r[i].from_walk, from_walk);
        assert_int_equal(r[i].of, net_at(n, r[i].parameter)->count);
        assert_int_equal(r[i].elements, r[i].of < LAB_CHECK_ELEMENTS
                                            ? r[i].of
                                            : LAB_CHECK_ELEMENTS);
    }
    lab_free(r);
}

/* One op between two dense layers, so that its gradient reaches a parameter. */
static void sandwich(struct net *n, const char *node, const char *loss)
{
    net_init(n);
    net_tensor(n, "x 4,5", NULL);
    if (strcmp(loss, "softmax_cross_entropy") == 0)
        net_labels(n, "y 4", 3);
    else
        net_tensor(n, "y 4,3", NULL);
    net_nodes(n, "fc1 dense units=7", node, "fc2 dense units=3");
    net_train(n, loss, "adam lr=0.05");
    net_walk(n, "cpu");
}

TEST_CASE(every_op_passes)
{
    static const char *const node[] = {"op relu",
                                       "op leaky_relu slope=0.1",
                                       "op sigmoid",
                                       "op tanh",
                                       "op gelu",
                                       "op gelu approximate=erf",
                                       "op softplus",
                                       "op swish",
                                       "op softmax",
                                       "op flatten",
                                       "op dropout p=0.4",
                                       "op layer_norm",
                                       "op dense units=6 bias=false"};
    static const char *const loss[] = {
        "softmax_cross_entropy", "mse", "mse reduction=half_sum",
        "mse reduction=half_sum_per_sample", "weighted_sum"};
    for (int i = 0; i < 13; i++) {
        struct net n;
        sandwich(&n, node[i], loss[i % 5]);
        all_pass(&n, false); /* before the backward pass: in double */
        net_steps(&n, lab_walk_schedule(n.walk)->phase_first[LAB_UPDATE]);
        all_pass(&n, true);
        while (!lab_walk_at_end(n.walk))
            net_steps(&n, 1);
        all_pass(&n, true); /* the update has changed the parameters */
        net_iterate(&n, 2);
        all_pass(&n, true); /* at speed, in another iteration */
        net_free(&n);
    }
}

NET_CASE(every_op_at_once_passes)
{
    net_every_op(n, "softmax_cross_entropy", "adamw lr=0.05");
    net_walk(n, "cpu");
    net_steps(n, n->plan->n_steps);
    all_pass(n, true);
}

/* What one parameter's check leaves behind is not in the next one's slopes. */
NET_CASE(all_at_once_are_as_one_by_one)
{
    int count;
    int one;
    net_every_op(n, "softmax_cross_entropy", "adamw lr=0.05");
    net_walk(n, "cpu");
    struct lab_check_result *all = check(n, NULL, &count);
    assert_true(count > 10);
    for (int i = 0; i < count; i++) {
        struct lab_check_result *r = check(n, all[i].parameter, &one);
        assert_int_equal(one, 1);
        assert_true(r->numeric == all[i].numeric);
        assert_true(r->analytic == all[i].analytic);
        assert_int_equal(r->worst, all[i].worst);
        assert_int_equal(r->corners, all[i].corners);
        lab_free(r);
    }
    lab_free(all);
}

NET_CASE(a_corrupted_gradient_fails)
{
    int count;
    sandwich(n, "op tanh", "mse");
    net_steps(n, lab_walk_schedule(n->walk)->phase_first[LAB_UPDATE]);
    double was = net_get(n, "fc1.W.grad", 11);
    net_put(n, "fc1.W.grad", 11, was + 1e-3);
    struct lab_check_result *r = check(n, NULL, &count);
    for (int i = 0; i < count; i++) {
        bool hit = strcmp(r[i].parameter, "fc1.W") == 0;
        assert_int_equal(r[i].passed, !hit);
        if (!hit)
            continue;
        assert_int_equal(r[i].worst, 11);
        assert_true(fabs(r[i].max_error - 1e-3) < 1e-5);
        assert_true(fabs(r[i].numeric - was) < 1e-5);
        assert_true(fabs(r[i].analytic - was - 1e-3) < 1e-6);
    }
    lab_free(r);
    net_put(n, "fc1.W.grad", 11, NAN);
    r = check(n, "fc1.W", &count);
    assert_int_equal(count, 1);
    assert_false(r->passed);
    assert_int_equal(r->worst, 11);
    assert_true(isnan(r->analytic));
    lab_free(r);
    net_put(n, "fc1.W.grad", 11, was);
    all_pass(n, true);
}

NET_CASE(a_check_changes_nothing)
{
    int count;
    sandwich(n, "op dropout p=0.5", "mse");
    for (int k = 0; k < 3; k++) {
        net_steps(n, 5);
        struct net_moment *before = net_keep(n);
        lab_free(check(n, NULL, &count));
        net_still(n, "after a check", before);
        net_moment_free(before);
    }
}

NET_CASE(a_parameter_that_the_loss_does_not_see)
{
    int count;
    net_tensor(n, "x 4,5", NULL);
    net_labels(n, "y 4", 3);
    net_nodes(n, "dead dense units=2", "fc dense units=3 from=x");
    net_loss(n, "softmax_cross_entropy");
    net_walk(n, "cpu");
    struct lab_check_result *r = check(n, "dead.W", &count);
    assert_int_equal(count, 1);
    assert_true(r->passed);
    assert_int_equal(r->elements, 10);
    assert_true(r->analytic == 0 && r->numeric == 0);
    lab_free(r);
}

NET_CASE(a_large_parameter_is_sampled)
{
    int count;
    net_tensor(n, "x 2,40", NULL);
    net_labels(n, "y 2", 10);
    net_node(n, "fc dense units=10");
    net_loss(n, "softmax_cross_entropy");
    net_walk(n, "cpu");
    struct lab_check_result *r = check(n, "fc.W", &count);
    assert_int_equal(r->of, 400);
    assert_int_equal(r->elements, LAB_CHECK_ELEMENTS);
    assert_true(r->passed);
    lab_free(r);
}

NET_CASE(unknown_parameters_are_refused)
{
    int count = -1;
    struct lab_check_result *r = NULL;
    sandwich(n, "op relu", "mse");
    static const char *const bad[] = {"fc1.w", "fc1.out", "x"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(lab_gradcheck(n->walk, &n->spec, bad[i],
                                       LAB_CHECK_ELEMENTS, NULL, NULL, &r,
                                       &count),
                         LAB_E_NOTFOUND);
        assert_true(error_is("[session.check-parameter] "));
        assert_non_null(strstr(lab_error(), bad[i]));
    }
    assert_null(r);
    assert_int_equal(count, -1);
}

NET_CASE(a_network_without_parameters_has_nothing_to_check)
{
    int count = -1;
    struct lab_check_result *r = NULL;
    net_init(n);
    net_tensor(n, "x 4,5", NULL);
    net_tensor(n, "y 4,5", NULL);
    net_node(n, "op relu");
    net_train(n, "mse", "sgd lr=0.05");
    net_walk(n, "cpu");
    assert_int_equal(lab_gradcheck(n->walk, &n->spec, NULL, LAB_CHECK_ELEMENTS,
                                   NULL, NULL, &r, &count),
                     LAB_E_NOTFOUND);
    assert_true(error_is("[session.check-none] "));
    assert_null(r);
}

static bool after_some(void *user, int64_t done, int64_t of)
{
    int *left = user;
    assert_int_equal(done, 5 - *left); /* one by one */
    assert_true(of > 5);
    return --*left < 0;
}

NET_CASE(a_check_can_be_cancelled)
{
    int count = -1;
    int left = 5;
    struct lab_check_result *r = NULL;
    sandwich(n, "op relu", "mse");
    assert_int_equal(lab_gradcheck(n->walk, &n->spec, NULL, LAB_CHECK_ELEMENTS,
                                   after_some, &left, &r, &count),
                     LAB_E_CANCELLED);
    assert_int_equal(left, -1);
    assert_null(r);
}

/* Inputs of 0 and biases of 0: every relu is at its corner, where the
 * central difference is half of the slope to the right. */
NET_CASE(a_corner_is_no_error)
{
    static const double zeros[20];
    int count;
    net_tensor(n, "x 4,5", zeros);
    net_tensor(n, "y 4,3", NULL);
    net_nodes(n, "fc1 dense units=7", "relu1 relu", "fc2 dense units=3");
    net_train(n, "mse", "sgd lr=0.1");
    net_walk(n, "cpu");
    struct lab_check_result *r = check(n, "fc1.b", &count);
    assert_true(r[0].passed && r[0].corners == 7 && r[0].elements == 7);
    lab_free(r);
    /* What lies outside of the two slopes is wrong all the same. */
    net_steps(n, net_steps_of(n));
    net_put(n, "fc1.b.grad", 2, 50);
    r = check(n, "fc1.b", &count);
    assert_true(!r[0].passed && r[0].worst == 2 && r[0].corners == 6);
    lab_free(r);
}

RUN_TESTS()
