/* The plan of a network: its tensors, steps, gradients, FLOPs and bytes. */
#include "test.h"

#include "base/mem.h"
#include "unit/join_op.h"

/* x [5,4] -> fc1 [5,6] -> relu -> fc2 [5,3] -> cross-entropy, sgd */
static void mlp(struct net *n)
{
    net_init(n);
    net_tensor(n, "x 5,4", NULL);
    net_labels(n, "y 5", 3);
    net_nodes(n, "fc1 dense units=6", "relu1 relu", "fc2 dense units=3");
    net_train(n, "softmax_cross_entropy", "sgd lr=0.1");
}

static void built(struct net *n)
{
    assert_ok(net_build(n));
}

NET_CASE(steps_stand_in_order)
{
    static const char *const want[] = {
        "fc1.matmul forward", "fc1.bias forward",    "relu1.relu forward",
        "fc2.matmul forward", "fc2.bias forward",    "loss.softmax loss",
        "loss.sample loss",   "loss.mean loss",      "loss.softmax backward",
        "fc2.bias backward",  "fc2.matmul backward", "relu1.relu backward",
        "fc1.bias backward",  "fc1.matmul backward", "fc1.W update",
        "fc1.b update",       "fc2.W update",        "fc2.b update"};
    mlp(n);
    built(n);
    assert_int_equal(n->plan->n_steps, 18);
    for (int i = 0; i < 18; i++) {
        char have[96];
        const struct lab_step *s = &n->plan->steps[i];
        snprintf(have, sizeof(have), "%s %s", s->name,
                 lab_phase_name(s->phase));
        assert_string_equal(have, want[i]);
    }
}

static void shape_is(const struct net *n, const char *tensor, const char *want)
{
    char text[LAB_SHAPE_TEXT];
    assert_string_equal(lab_shape_text(&net_at(n, tensor)->shape, text), want);
}

NET_CASE(tensors_have_shapes_and_roles)
{
    mlp(n);
    built(n);
    shape_is(n, "x", "[5,4]");
    shape_is(n, "y", "[5]");
    shape_is(n, "fc1.W", "[4,6]");
    shape_is(n, "fc1.W.grad", "[4,6]");
    shape_is(n, "fc1.out", "[5,6]");
    shape_is(n, "fc2.b", "[3]");
    shape_is(n, "loss.probs", "[5,3]");
    shape_is(n, "loss.sample", "[5]");
    shape_is(n, "loss", "[]");
    assert_int_equal(net_at(n, "y")->dtype, LAB_I32);
    assert_int_equal(net_at(n, "fc1.W")->role, LAB_TENSOR_PARAM);
    assert_int_equal(net_at(n, "fc1.W.grad")->role, LAB_TENSOR_GRADIENT);
    assert_int_equal(net_at(n, "fc1.W.grad")->gradient_of, net_id(n, "fc1.W"));
    assert_int_equal(n->plan->out, net_id(n, "fc2.out"));
    assert_int_equal(n->plan->batch, 5);
    assert_int_equal(n->plan->parameter_count, 4 * 6 + 6 + 6 * 3 + 3);
    /* It was not asked for. */
    assert_int_equal(lab_plan_tensor(n->plan, "x.grad"), -1);
    assert_int_equal(lab_plan_tensor(n->plan, "fc1.W.velocity"), -1);
}

static size_t bytes_of(const struct lab_tensor *t)
{
    return (size_t)t->count * lab_dtype_bytes(t->dtype);
}

NET_CASE(no_two_tensors_share_memory_but_aliases)
{
    net_every_op(n, "softmax_cross_entropy", "adam lr=0.1");
    built(n);
    for (int i = 0; i < n->plan->n_tensors; i++) {
        const struct lab_tensor *a = &n->plan->tensors[i];
        assert_int_equal(a->offset % 256, 0);
        assert_true(a->offset + bytes_of(a) <= n->plan->arena_bytes);
        if (a->persistent)
            assert_true(a->offset + bytes_of(a) <= n->plan->persistent_bytes);
        else
            assert_true(a->offset >= n->plan->persistent_bytes);
        for (int k = 0; k < i; k++) {
            const struct lab_tensor *b = &n->plan->tensors[k];
            bool apart = a->offset + bytes_of(a) <= b->offset ||
                         b->offset + bytes_of(b) <= a->offset;
            bool alias = a->alias_of == k || b->alias_of == i ||
                         (a->alias_of >= 0 && a->alias_of == b->alias_of);
            if (apart == alias)
                fail_msg("%s and %s", a->name, b->name);
        }
    }
}

static double bytes_back(const struct net *n, const char *step)
{
    for (int i = 0; i < n->plan->n_steps; i++) {
        const struct lab_step *s = &n->plan->steps[i];
        if (s->phase == LAB_BACKWARD && strcmp(s->name, step) == 0)
            return s->bytes;
    }
    fail_msg("no step %s", step);
    return 0;
}

/* The first layer's W is not read on the way back, unless the gradient of x is
 * wanted; of x and y an activation reads the one that its slope needs. */
TEST_CASE(bytes_are_of_what_a_step_reads)
{
    struct net n;
    for (int wanted = 0; wanted < 2; wanted++) {
        mlp(&n);
        n.spec.data.gradient = wanted;
        built(&n);
        double both = 4 * (4 * 6 + 5 * 4); /* W and dx, or x and dW */
        assert_float_equal(bytes_back(&n, "fc1.matmul"),
                           4 * 5 * 6 + both + (wanted ? both : 0), 0);
        assert_float_equal(bytes_back(&n, "relu1.relu"), 3 * 4 * 5 * 6, 0);
        net_free(&n);

        net_init(&n);
        n.spec.data.gradient = wanted;
        net_tensor(&n, "x 2,1,4,4", NULL);
        net_tensor(&n, "y 2,3,3,3", NULL);
        net_nodes(&n, "conv1 conv2d filters=3 kernel=2,2 bias=false",
                  "tanh1 tanh");
        net_train(&n, "mse", "sgd lr=0.1");
        built(&n);
        double pair = 4 * (2 * 16 + 3 * 4);
        assert_float_equal(bytes_back(&n, "conv1.conv"),
                           4 * 54 + pair + (wanted ? pair : 0), 0);
        assert_float_equal(bytes_back(&n, "tanh1.tanh"), 3 * 4 * 54, 0);
        /* Of dy, x and y the way back of tanh reads dy and y. */
        const struct lab_step *tanh = net_step(&n, "tanh1.tanh", LAB_BACKWARD);
        assert_int_equal(tanh->n_in, 3);
        for (int i = 0; i < 3; i++)
            assert_true(lab_step_tensor_bytes(n.plan, tanh, i) ==
                        (i == 1 ? 0 : 4 * 54));
        net_free(&n);
    }
}

TEST_CASE(every_formula_names_its_tensors)
{
    static const char *const losses[] = {"softmax_cross_entropy",
                                         "mse reduction=half_sum_per_sample",
                                         "weighted_sum"};
    static const char *const optimizers[] = {
        "sgd lr=0.1 momentum=0.9 nesterov=true weight_decay=0.1",
        "adamw lr=0.1", "adam lr=0.1"};
    for (int k = 0; k < 3; k++) {
        struct net n;
        net_init(&n);
        n.spec.data.gradient = k == 1;
        net_every_op(&n, losses[k], optimizers[k]);
        built(&n);
        for (int i = 0; i < n.plan->n_steps; i++) {
            const struct lab_step *s = &n.plan->steps[i];
            if (strchr(s->formula, '$') ||
                strchr(s->formula, '?') != strstr(s->formula, "? 1/(1-p)"))
                fail_msg("%s: %s", s->name, s->formula);
            /* Every tensor that the step writes is named. */
            for (int o = 0; o < s->n_out; o++) {
                if (s->out[o] < 0)
                    continue;
                const char *name = n.plan->tensors[s->out[o]].name;
                if (!strstr(s->formula, name) && s->out[o] >= 0)
                    fail_msg("%s: %s is not in '%s'", s->name, name,
                             s->formula);
            }
            assert_true(s->bytes > 0);
            assert_true(s->flop >= 0);
            /* Its tensors have all bytes, but for a table of which it reads
             * some rows. */
            double bytes = 0;
            for (int t = 0; t < s->n_in + s->n_out; t++)
                bytes += lab_step_tensor_bytes(n.plan, s, t);
            if (strcmp(s->op->name, "embedding") == 0 &&
                s->phase == LAB_FORWARD)
                assert_true(bytes > s->bytes);
            else
                assert_true(bytes == s->bytes);
        }
        net_free(&n);
    }
}

struct work {
    const char *step;
    enum lab_phase phase;
    double flop;
    double bytes;
};

static void check_work(const struct net *n, const struct work *w, int count)
{
    for (int i = 0; i < count; i++) {
        const struct lab_step *s = net_step(n, w[i].step, w[i].phase);
        if (s->flop != w[i].flop || s->bytes != w[i].bytes)
            fail_msg("%s (%s): %g flop and %g bytes, not %g and %g", w[i].step,
                     lab_phase_name(w[i].phase), s->flop, s->bytes, w[i].flop,
                     w[i].bytes);
    }
}

/* N = 5, in = 4, units = 6 and 3; 4 bytes an element, each read or written
 * once, parameters in an update twice. */
NET_CASE(work_by_hand)
{
    const struct work w[] = {
        {"fc1.matmul", LAB_FORWARD, 2 * 5 * 4 * 6, 4 * (20 + 24 + 30)},
        {"fc1.bias", LAB_FORWARD, 5 * 6, 4 * (30 + 6 + 30)},
        {"relu1.relu", LAB_FORWARD, 30, 4 * (30 + 30)},
        {"fc2.matmul", LAB_FORWARD, 2 * 5 * 6 * 3, 4 * (30 + 18 + 15)},
        {"loss.softmax", LAB_LOSS, 5 * 15, 4 * (15 + 15)},
        {"loss.mean", LAB_LOSS, 5, 4 * (5 + 1)},
        {"loss.softmax", LAB_BACKWARD, 2 * 15, 4 * (15 + 5 + 15)},
        /* reads d out, writes d b; d xW is the same memory: nothing moves */
        {"fc2.bias", LAB_BACKWARD, 15, 4 * (15 + 3)},
        /* reads d xW, x, W; writes d W and d x */
        {"fc2.matmul", LAB_BACKWARD, 2 * 2 * 5 * 6 * 3,
         4 * (15 + 30 + 18 + 18 + 30)},
        {"relu1.relu", LAB_BACKWARD, 30, 4 * (30 + 30 + 30)},
        /* d x is not wanted, so W is not read */
        {"fc1.matmul", LAB_BACKWARD, 2 * 5 * 4 * 6, 4 * (30 + 20 + 24)},
        {"fc1.W", LAB_UPDATE, 2 * 24, 4 * (24 + 2 * 24)},
        {"fc2.b", LAB_UPDATE, 2 * 3, 4 * (3 + 2 * 3)},
    };
    mlp(n);
    built(n);
    check_work(n, w, sizeof(w) / sizeof(w[0]));
}

NET_CASE(work_of_momentum_and_layer_norm)
{
    const struct work w[] = {
        {"ln.stats", LAB_FORWARD, 4 * 20, 4 * (20 + 5 + 5)},
        {"ln.normalize", LAB_FORWARD, 2 * 20, 4 * (20 + 5 + 5 + 20)},
        {"ln.scale", LAB_FORWARD, 2 * 20, 4 * (20 + 4 + 4 + 20)},
        {"drop.dropout", LAB_FORWARD, 2 * 20, 4 * (20 + 20 + 20)},
        {"drop.dropout", LAB_BACKWARD, 20, 4 * (20 + 20 + 20)},
        {"loss.sample", LAB_LOSS, 3 * 20, 4 * (20 + 20 + 5)},
        {"ln.gamma", LAB_UPDATE, 6 * 4, 4 * (4 + 2 * 4 + 2 * 4)},
    };
    net_tensor(n, "x 5,4", NULL);
    net_tensor(n, "y 5,4", NULL);
    net_nodes(n, "ln layer_norm", "drop dropout p=0.5");
    net_train(n, "mse", "sgd lr=0.1 momentum=0.5 nesterov=true");
    built(n);
    check_work(n, w, sizeof(w) / sizeof(w[0]));
}

NET_CASE(a_dead_branch_gets_no_gradient)
{
    n->spec.data.gradient = true;
    net_tensor(n, "x 5,4", NULL);
    net_labels(n, "y 5", 3);
    net_nodes(n, "dead dense units=2", "deader relu",
              "fc dense units=3 from=x");
    net_loss(n, "softmax_cross_entropy");
    built(n);
    net_id(n, "dead.out");
    net_id(n, "deader.out");
    assert_int_equal(lab_plan_tensor(n->plan, "dead.W.grad"), -1);
    assert_int_equal(lab_plan_tensor(n->plan, "dead.out.grad"), -1);
    assert_int_equal(lab_plan_tensor(n->plan, "deader.out.grad"), -1);
    /* Only one live reader: no sum. */
    net_id(n, "x.grad");
    assert_int_equal(lab_plan_node(n->plan, "x"), -1);
    for (int i = 0; i < n->plan->n_steps; i++) {
        const struct lab_step *s = &n->plan->steps[i];
        bool dead = strncmp(s->name, "dead", 4) == 0;
        assert_true(!dead || s->phase == LAB_FORWARD);
    }
}

/* out = relu(x) + 2 sigmoid(relu(x)), through the test's own op. */
static void fan_out(struct net *n)
{
    net_init(n);
    net_tensor(n, "x 3,4", NULL);
    net_tensor(n, "y 3,4", NULL);
    net_nodes(n, "a dense units=4", "s sigmoid from=a");
    net_join(n, "j from=a,s");
    net_loss(n, "weighted_sum");
}

NET_CASE(two_readers_get_their_gradients_summed)
{
    fan_out(n);
    net_walk_on(n, join_backend());
    net_steps(n, n->plan->n_steps);
    const struct lab_step *sum = net_step(n, "a.sum", LAB_BACKWARD);
    assert_string_equal(sum->formula, "a.out.grad = a.out.grad.j + "
                                      "a.out.grad.s");
    assert_int_equal(sum->n_in, 2);
    assert_true(sum->flop == 12 && sum->bytes == 4 * 3 * 12);
    double *a = net_read(n, "a.out");
    double *y = net_read(n, "y");
    double *g = net_read(n, "a.out.grad");
    for (int i = 0; i < 12; i++) {
        double s = 1 / (1 + exp(-a[i]));
        double want = y[i] + 2 * y[i] * s * (1 - s);
        if (fabs(g[i] - want) > 1e-6)
            fail_msg("a.out.grad[%d] is %g, not %g", i, g[i], want);
    }
    lab_free(a);
    lab_free(y);
    lab_free(g);
    /* The sum comes before the node's own backward steps, and is not one. */
    const struct lab_node *node = &n->plan->nodes[0];
    assert_int_equal(node->n_steps[LAB_BACKWARD], 2);
    assert_ptr_equal(&n->plan->steps[node->first_step[LAB_BACKWARD] - 1], sum);
    struct lab_explanation e;
    assert_ok(lab_walk_explain(n->walk, net_id(n, "a.out.grad"), 5, &e));
    assert_true(e.agrees);
    assert_int_equal(e.n_terms, 2);
    lab_explanation_release(&e);
}

NET_CASE(data_with_two_readers_gets_a_node_for_its_sum)
{
    n->spec.data.gradient = true;
    net_tensor(n, "x 3,4", NULL);
    net_tensor(n, "y 3,4", NULL);
    net_nodes(n, "s sigmoid from=x", "r tanh from=x");
    net_join(n, "j from=s,r");
    net_loss(n, "weighted_sum");
    net_walk_on(n, join_backend());
    net_steps(n, n->plan->n_steps);
    int node = lab_plan_node(n->plan, "x");
    assert_true(node > n->plan->loss_node);
    net_step(n, "x.sum", LAB_BACKWARD);
    for (int i = 0; i < 12; i++) {
        double x = net_get(n, "x", i);
        double y = net_get(n, "y", i);
        double s = 1 / (1 + exp(-x));
        double t = tanh(x);
        double want = y * s * (1 - s) + 2 * y * (1 - t * t);
        if (fabs(net_get(n, "x.grad", i) - want) > 1e-6)
            fail_msg("x.grad[%d] is %g, not %g", i, net_get(n, "x.grad", i),
                     want);
    }
}

/* One node that reads a tensor twice, and another reader: three gradients. */
NET_CASE(one_node_may_read_a_tensor_twice)
{
    n->spec.data.gradient = true;
    net_tensor(n, "x 3,4", NULL);
    net_tensor(n, "y 3,4", NULL);
    net_join(n, "j from=x,x");
    net_join(n, "k from=j,x");
    net_loss(n, "weighted_sum");
    net_walk_on(n, join_backend());
    net_steps(n, n->plan->n_steps);
    assert_int_equal(net_step(n, "x.sum", LAB_BACKWARD)->n_in, 3);
    for (int i = 0; i < 12; i++) { /* k = (x + 2 x) + 2 x */
        double want = 5 * net_get(n, "y", i);
        assert_true(fabs(net_get(n, "x.grad", i) - want) < 1e-5);
    }
}

TEST_CASE(initial_values_come_from_seed_and_name)
{
    struct net a;
    struct net b;
    float wa[24];
    float wb[24];
    double sum = 0;
    mlp(&a);
    built(&a);
    /* Another layer in front: fc1 keeps its numbers. */
    net_init(&b);
    net_tensor(&b, "x 5,4", NULL);
    net_labels(&b, "y 5", 6);
    net_nodes(&b, "fc0 dense units=4", "fc1 dense units=6");
    net_loss(&b, "softmax_cross_entropy");
    built(&b);
    assert_ok(lab_plan_init_tensor(a.plan, net_id(&a, "fc1.W"), wa, NULL));
    assert_ok(lab_plan_init_tensor(b.plan, net_id(&b, "fc1.W"), wb, NULL));
    assert_memory_equal(wa, wb, sizeof(wa));
    for (int i = 0; i < 24; i++)
        sum += (double)wa[i] * (double)wa[i];
    /* standard deviation sqrt(1/4): 24 squares sum to 6, give or take */
    assert_true(sum > 2 && sum < 12);
    net_free(&b);
    mlp(&b);
    b.spec.seed = 8;
    built(&b);
    assert_ok(lab_plan_init_tensor(b.plan, net_id(&b, "fc1.W"), wb, NULL));
    assert_true(memcmp(wa, wb, sizeof(wa)) != 0);
    net_free(&a);
    net_free(&b);
}

NET_CASE(the_lesson_gives_parameters)
{
    const double W[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,
                        10, 11, 12, 13, 14, 15, 16, 17, 18};
    float got[18];
    mlp(n);
    net_param(n, "fc2.W 6,3", W);
    net_param(n, "fc1.b 6", NULL);
    n->spec.parameters[1].values = NULL;
    n->spec.parameters[1].fill = -0.5;
    built(n);
    assert_ok(lab_plan_init_tensor(n->plan, net_id(n, "fc2.W"), got, NULL));
    for (int i = 0; i < 18; i++)
        assert_true(got[i] == (float)W[i]);
    assert_ok(lab_plan_init_tensor(n->plan, net_id(n, "fc1.b"), got, NULL));
    for (int i = 0; i < 6; i++)
        assert_true(got[i] == -0.5f);
}

RUN_TESTS()
