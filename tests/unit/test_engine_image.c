/* Convolution, pools, batch norm and residual sums in the engine: what they
 * refuse, how much work they count, that every number of theirs explains
 * itself, that the gradient is the slope of the loss, and that the running
 * statistics go back exactly. */
#include "test.h"

#include "base/mem.h"
#include "unit/explained.h"
#include "unit/net.h"

/* "nodes ..." separated by ';'. */
static void describe(struct net *n, bool nhwc, const char *x, const char *nodes)
{
    char copy[512];
    net_init(n);
    n->spec.layout = nhwc ? LAB_NHWC : LAB_NCHW;
    net_tensor(n, x, NULL);
    net_labels(n, "y 2", 3);
    n->spec.data.gradient = true;
    snprintf(copy, sizeof(copy), "%s", nodes);
    for (char *one = copy; one;) {
        char *next = strchr(one, ';');
        if (next)
            *next++ = '\0';
        net_node(n, one + strspn(one, " "));
        one = next;
    }
    net_train(n, "softmax_cross_entropy", "sgd lr=0.1");
}

#define HEAD "; f flatten; fc dense units=3"

static const struct {
    bool nhwc;
    const char *x;
    const char *nodes;
} networks[] = {
    {false, "x 2,3,7,6",
     "c conv2d filters=4 kernel=3,2 stride=2,1 padding=same; r tanh; p "
     "max_pool2d size=2,2 stride=1" HEAD},
    {true, "x 2,7,6,3",
     "c conv2d filters=4 kernel=3,2 stride=2,1 padding=same; r tanh; p "
     "max_pool2d size=2,2 stride=1" HEAD},
    {true, "x 2,5,4,2",
     "c conv2d filters=2 kernel=4,4 stride=3 padding=2 bias=false; p "
     "avg_pool2d size=3,2 stride=2 padding=same" HEAD},
    {false, "x 2,2,5,4",
     "c conv2d filters=2 kernel=4,4 stride=3 padding=2 bias=false; p "
     "avg_pool2d size=3,2 stride=2 padding=1" HEAD},
    {false, "x 2,3,3,2", "b batch_norm momentum=0.3; r sigmoid" HEAD},
    {true, "x 2,3,2,3", "c conv2d filters=3 kernel=1,1; b batch_norm" HEAD},
    {true, "x 2,5",
     "fc1 dense units=4; b batch_norm eps=0.01; fc dense "
     "units=3"},
    /* A residual block: a is read by b1 and by the sum. */
    {false, "x 2,2,4,4",
     "a conv2d filters=3 kernel=3,3 padding=same; b1 conv2d filters=3 "
     "kernel=3,3 padding=same; t tanh; s add from=a,t; p max_pool2d "
     "size=2,2" HEAD},
    {false, "x 2,5",
     "s add from=x,x; q tanh; u add from=s,q; v add from=u,s; "
     "fc dense units=3"},
    {false, "x 2,4,5,4",
     "c conv2d filters=6 kernel=3,2 groups=2 stride=2 padding=1; e elu "
     "alpha=0.7; l local_response_norm size=3 alpha=0.5" HEAD},
    {true, "x 2,5,6,2",
     "c conv2d filters=4 kernel=3,2 dilation=2 groups=2 padding=same; l "
     "local_response_norm alpha=0.5" HEAD},
    {false, "x 2,2,4,3",
     "a conv2d filters=3 kernel=3,3 padding=same; b conv2d filters=3 "
     "kernel=1,1 from=x; m multiply from=a,b; j concat from=m,x,b" HEAD},
    {false, "x 2,3,5,4",
     "c conv2d filters=2 kernel=1,1; l local_contrast_norm eps=0.1" HEAD},
    {true, "x 2,5,4,2",
     "c conv2d filters=3 kernel=1,1; l local_contrast_norm size=5 "
     "eps=0.1" HEAD},
    {true, "x 2,4,3,2", "c conv_block filters=3 kernel=3,3 stride=2" HEAD},
    {false, "x 2,3,4,4",
     "c bottleneck filters=1 stride=2 project=true; d bottleneck "
     "filters=1" HEAD},
};
enum { N_NETWORKS = sizeof(networks) / sizeof(networks[0]) };

TEST_CASE(every_number_explains_itself)
{
    for (int i = 0; i < N_NETWORKS; i++) {
        struct net n;
        describe(&n, networks[i].nhwc, networks[i].x, networks[i].nodes);
        net_walk(&n, "cpu");
        for (int iteration = 0; iteration < 2; iteration++) {
            for (int k = 0; k < n.plan->n_steps; k++) {
                net_steps(&n, 1);
                net_explain_all(&n, true);
            }
        }
        net_free(&n);
    }
}

TEST_CASE(gradients_are_slopes)
{
    for (int i = 0; i < N_NETWORKS; i++) {
        struct net n;
        struct lab_check_result *results = NULL;
        int count = 0;
        describe(&n, networks[i].nhwc, networks[i].x, networks[i].nodes);
        net_walk(&n, "cpu");
        assert_ok(lab_gradcheck(n.walk, &n.spec, NULL, LAB_CHECK_ELEMENTS, NULL,
                                NULL, &results, &count));
        assert_true(count >= 2);
        for (int k = 0; k < count; k++) {
            if (!results[k].passed)
                fail_msg("network %d: %s: %g, the slope is %g", i,
                         results[k].parameter, results[k].analytic,
                         results[k].numeric);
            assert_true(results[k].elements > 0);
        }
        lab_free(results);
        net_free(&n);
    }
}

TEST_CASE(back_and_forth_gives_the_same_bits)
{
    for (int i = 0; i < N_NETWORKS; i++) {
        struct net n;
        describe(&n, networks[i].nhwc, networks[i].x, networks[i].nodes);
        net_walk(&n, "cpu");
        int steps = n.plan->n_steps;
        net_steps(&n, steps + 3);
        struct net_moment *before = net_keep(&n);
        net_steps(&n, steps - 1);
        assert_ok(lab_walk_back(n.walk, steps - 1));
        struct net_moment *after = net_keep(&n);
        net_same(&n, "back within and over an iteration", before, after);
        assert_ok(lab_walk_back(n.walk, steps + 2));
        net_steps(&n, steps + 2);
        net_moment_free(after);
        net_still(&n, "back over an iteration and forward", before);
        net_moment_free(before);
        net_free(&n);
    }
}

/* running = (1-m) running + m stat, the variance over E - 1; and one step back
 * it is what it was. */
NET_CASE(running_statistics_move_and_go_back)
{
    const double x[] = {1, 10, 3, 30, 5, 20};
    net_tensor(n, "x 3,2", x);
    net_labels(n, "y 3", 2);
    net_node(n, "b batch_norm momentum=0.25");
    net_loss(n, "softmax_cross_entropy");
    net_walk(n, "cpu");
    assert_true(net_get(n, "b.running_mean", 0) == 0);
    assert_true(net_get(n, "b.running_var", 1) == 1);
    net_steps(n, 1);
    assert_float_equal(net_get(n, "b.mean", 0), 3, 1e-6);
    assert_float_equal(net_get(n, "b.running_mean", 0), 0.75, 1e-6);
    assert_float_equal(net_get(n, "b.running_mean", 1), 5, 1e-6);
    assert_float_equal(net_get(n, "b.running_var", 0), 0.75 + 0.25 * 4, 1e-6);
    assert_float_equal(net_get(n, "b.running_var", 1), 0.75 + 0.25 * 100, 1e-5);
    assert_ok(lab_walk_back(n->walk, 1));
    assert_true(net_get(n, "b.running_mean", 0) == 0);
    assert_true(net_get(n, "b.running_var", 1) == 1);
}

/* A tensor that two live nodes read gets the sum of two gradients. */
NET_CASE(a_residual_sums_its_gradients)
{
    describe(n, false, networks[7].x, networks[7].nodes);
    net_walk(n, "cpu");
    net_steps(n, n->plan->n_steps);
    const struct lab_step *sum = net_step(n, "a.sum", LAB_BACKWARD);
    assert_string_equal(sum->op->name, "grad_sum");
    for (int64_t i = 0; i < net_at(n, "a.out")->count; i++) {
        double around = net_get(n, "a.out.grad.s", i);
        double through = net_get(n, "a.out.grad.b1", i);
        assert_float_equal(net_get(n, "a.out.grad", i), around + through, 1e-6);
        assert_true(around == net_get(n, "s.out.grad", i));
    }
}

/* Work by hand: a 3 x 3 kernel over 4 x 4, same: of the 16 places, 4 corners
 * see 4 numbers, 8 edges 6, 4 inner ones 9. */
NET_CASE(work_counts_what_is_inside)
{
    describe(n, true, "x 2,4,4,3",
             "c conv2d filters=5 kernel=3,3 padding=same" HEAD);
    assert_ok(net_build(n));
    double products = 2.0 * 3 * 5 * (4 * 4 + 8 * 6 + 4 * 9);
    assert_true(net_step(n, "c.conv", LAB_FORWARD)->flop == 2 * products);
    assert_true(net_step(n, "c.conv", LAB_BACKWARD)->flop == 4 * products);
    assert_true(net_step(n, "c.bias", LAB_FORWARD)->flop == 2 * 16 * 5);
    assert_true(net_step(n, "c.conv", LAB_FORWARD)->bytes ==
                4.0 * (2 * 16 * 3 + 9 * 15 + 2 * 16 * 5));
    assert_int_equal(n->plan->parameter_count, 9 * 15 + 5 + 80 * 3 + 3);
}

TEST_CASE(shapes_of_same_valid_and_numbers)
{
    static const struct {
        const char *keys;
        int64_t rows;
        int64_t columns;
    } cases[] = {{"kernel=3,3", 5, 4},
                 {"kernel=3,3 padding=same", 7, 6},
                 {"kernel=2,4 padding=same stride=2", 4, 3},
                 {"kernel=7,6", 1, 1},
                 {"kernel=3,3 stride=3", 2, 2},
                 {"kernel=9,8 padding=1", 1, 1},
                 {"kernel=1,1 padding=2 stride=1,4", 11, 3}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct net n;
        char text[256];
        snprintf(text, sizeof(text), "c conv2d filters=2 %s" HEAD,
                 cases[i].keys);
        describe(&n, false, "x 2,3,7,6", text);
        assert_ok(net_build(&n));
        const struct lab_shape *out = &net_at(&n, "c.out")->shape;
        assert_int_equal(out->dim[1], 2);
        assert_int_equal(out->dim[2], cases[i].rows);
        assert_int_equal(out->dim[3], cases[i].columns);
        net_free(&n);
    }
}

TEST_CASE(what_does_not_fit_is_refused)
{
    static const struct {
        const char *x;
        const char *node;
        const char *error; /* and what else it names; NULL: nothing */
        const char *names;
    } cases[] = {
        {"x 2,3,7,6", "c conv2d filters=1 kernel=8,2",
         "[op.window.large] 8 x 2", "[2,3,7,6]"},
        {"x 2,3,7,6", "c conv2d filters=1 kernel=2,11 padding=2",
         "[op.window.large] 2 x 11", "2 of padding"},
        {"x 2,3", "c conv2d filters=1 kernel=1,1", "[op.window.shape] [2,3]",
         "[N,C,H,W]"},
        {"x 2,3,7,6", "c max_pool2d size=8,1", "[op.window.large] 8 x 1",
         "[2,3,7,6]"},
        {"x 2,3,7,6", "c avg_pool2d size=2,2 padding=2",
         "[op.pool.padding] padding 2", "2 x 2"},
        {"x 2,4,6,6", "c conv2d filters=6 kernel=1,1 groups=4",
         "[op.conv2d.groups] 4 channels", "6 filters into 4"},
        {"x 2,4,6,6", "c conv2d filters=6 kernel=2,2 dilation=2 stride=2",
         "[op.conv2d.dilation] ", NULL},
        {"x 2,4,6,6", "c local_response_norm size=4",
         "[op.local-norm.size] size is 4", NULL},
        {"x 2,4,6,6", "c local_contrast_norm size=2",
         "[op.contrast-norm.size] size is 2", NULL},
        {"x 2,4", "c local_contrast_norm", "[op.contrast-norm.shape] [2,4]",
         NULL},
        {"x 2,3", "c max_pool2d size=1,1", "[op.window.shape] [2,3]", NULL},
        {"x 2,3,4", "c batch_norm", "[op.batch-norm.shape] [2,3,4]",
         "[N,C,H,W]"},
        {"x 1,3", "c batch_norm", "[op.batch-norm.variance] [1,3]", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct net n;
        describe(&n, false, cases[i].x, cases[i].node);
        assert_int_equal(net_build(&n), LAB_E_SHAPE);
        assert_true(error_is(cases[i].error));
        assert_ptr_equal(strstr(lab_error(), "net.md:100:5: c ("), lab_error());
        if (cases[i].names && !strstr(lab_error(), cases[i].names))
            fail_msg("%s is not in: %s", cases[i].names, lab_error());
        net_free(&n);
    }
    struct net n;
    describe(&n, false, "x 2,4", "a dense units=3; s add from=x,a");
    assert_int_equal(net_build(&n), LAB_E_SHAPE);
    assert_true(
        error_is("[op.add.shape] net.md:101:5: s (add): adds [2,4] and [2,3]"));
    net_free(&n);
}

RUN_TESTS()
