/* Every number of every tensor, explained from the numbers it came from. */
#include "test.h"

#include "base/mem.h"
#include "unit/explained.h"

static const char *const losses[] = {
    "softmax_cross_entropy", "mse", "mse reduction=half_sum",
    "mse reduction=half_sum_per_sample", "weighted_sum"};
static const char *const optimizers[] = {
    "sgd lr=0.1", "sgd lr=0.1 momentum=0.9 weight_decay=0.1",
    "sgd lr=0.1 momentum=0.9 nesterov=true", "adam lr=0.01 weight_decay=0.1",
    "adamw lr=0.01 weight_decay=0.1"};

static void explain_network(const char *loss, const char *optimizer,
                            bool gradient)
{
    struct net n;
    net_init(&n);
    n.spec.data.gradient = gradient;
    net_every_op(&n, loss, optimizer);
    net_walk(&n, "cpu");
    const int *first = lab_walk_schedule(n.walk)->phase_first;
    net_explain_all(&n, true); /* before the first step */
    for (int phase = 1; phase <= LAB_PHASE_COUNT; phase++) {
        net_steps(&n, first[phase] - lab_walk_position(n.walk));
        net_explain_all(&n, true);
    }
    /* With an optimizer's history behind it, and after an iteration at speed
     * that kept no copy of its start. */
    net_iterate(&n, 3);
    net_explain_all(&n, false);
    net_steps(&n, 5);
    net_explain_all(&n, true);
    net_free(&n);
}

TEST_CASE(every_element_of_every_op_agrees)
{
    for (int i = 0; i < 5; i++)
        explain_network(losses[i], optimizers[i], i % 2 == 0);
}

/* Elements of a tensor where a value that is a thousandth off is noticed. */
static int wrong_noticed(struct net *n, const char *name)
{
    int id = net_id(n, name);
    int noticed = 0;
    for (int64_t i = 0; i < n->plan->tensors[id].count; i++) {
        struct lab_explanation e;
        double value = net_get(n, name, i);
        if (value == 0)
            continue;
        net_put(n, name, i, value * 1.001);
        assert_ok(lab_walk_explain(n->walk, id, i, &e));
        noticed += !e.agrees;
        lab_explanation_release(&e);
        net_put(n, name, i, value);
        assert_ok(lab_walk_explain(n->walk, id, i, &e));
        assert_true(e.agrees);
        lab_explanation_release(&e);
    }
    return noticed;
}

/* Small gradients beside large values: what rounding allows goes with what was
 * added up, not with the largest number around. */
NET_CASE(a_wrong_value_is_noticed)
{
    double x[2 * 1 * 5 * 5];
    double y[2 * 2 * 4 * 4];
    for (int i = 0; i < 50; i++)
        x[i] = 2000.0 * ((i * 7) % 11 - 5);
    for (int i = 0; i < 64; i++)
        y[i] = 1e-7 * ((i * 5) % 13);
    net_tensor(n, "x 2,1,5,5", x);
    net_tensor(n, "y 2,2,4,4", y);
    net_nodes(n, "conv1 conv2d filters=2 kernel=2,2", "norm1 batch_norm",
              "relu1 relu");
    net_train(n, "weighted_sum", "sgd lr=0.1");
    net_walk(n, "cpu");
    int update = lab_walk_schedule(n->walk)->phase_first[LAB_UPDATE];
    net_steps(n, update);
    assert_in_range(wrong_noticed(n, "norm1.out.grad"), 20, 64);
    assert_in_range(wrong_noticed(n, "conv1.out.grad"), 58, 64);
    assert_in_range(wrong_noticed(n, "conv1.W.grad"), 2, 8);
}

/* The gradient of a bias before a batch norm is 0, but for rounding. */
NET_CASE(a_sum_that_cancels_is_marked)
{
    struct lab_explanation e;
    struct lab_str text;
    net_tensor(n, "x 8,1,5,5", NULL);
    net_tensor(n, "y 8,2,4,4", NULL);
    net_nodes(n, "conv1 conv2d filters=2 kernel=2,2", "norm1 batch_norm");
    net_train(n, "weighted_sum", "sgd lr=0.1");
    net_walk(n, "cpu");
    net_steps(n, lab_walk_schedule(n->walk)->phase_first[LAB_UPDATE]);
    assert_ok(lab_walk_explain(n->walk, net_id(n, "conv1.b.grad"), 0, &e));
    assert_true(e.agrees);
    assert_true(e.cancels);
    lab_str_init(&text);
    lab_explanation_text(&e, 3, &text);
    assert_non_null(strstr(lab_str_text(&text), "0 but for rounding"));
    lab_str_release(&text);
    lab_explanation_release(&e);
    assert_ok(lab_walk_explain(n->walk, net_id(n, "norm1.beta.grad"), 0, &e));
    assert_false(e.cancels);
    lab_explanation_release(&e);
}

NET_CASE(every_written_element_has_a_step)
{
    struct lab_explanation e;
    n->spec.data.gradient = true;
    net_every_op(n, "mse", "adam lr=0.01");
    net_walk(n, "cpu");
    net_steps(n, n->plan->n_steps);
    for (int t = 0; t < n->plan->n_tensors; t++) {
        assert_ok(lab_walk_explain(n->walk, t, 0, &e));
        bool data = n->plan->tensors[t].role == LAB_TENSOR_DATA;
        if (data != (e.step < 0))
            fail_msg("%s is explained by step %d", e.name, e.step);
        lab_explanation_release(&e);
    }
}

TEST_CASE(groups_explain_themselves)
{
    struct net n;
    net_init(&n);
    net_every_op(&n, "softmax_cross_entropy", "sgd lr=0.1");
    net_walk(&n, "cpu");
    if (!lab_backend_variant(lab_walk_backend(n.walk), LAB_F32, "dense", NULL,
                             LAB_FORWARD, "onednn")) {
        net_free(&n);
        skip();
    }
    net_choose(&n, "*", "onednn");
    net_iterate(&n, 2);
    net_explain_all(&n, true);
    /* Taken apart afterwards: nothing is explained from memory that was not written. */
    net_choose(&n, NULL, NULL);
    net_explain_all(&n, true);
    struct lab_explanation e;
    int out = net_id(&n, "dense0.out");
    assert_ok(lab_walk_explain(n.walk, out, 0, &e));
    assert_non_null(strstr(e.symbolic, "variant"));
    lab_explanation_release(&e);
    net_free(&n);
}

TEST_CASE(a_wrong_number_is_called_wrong)
{
    static const char *const tensor[] = {
        "fc1.xW", "fc1.out", "act.out",    "fc1.W.grad", "fc1.out.grad",
        "fc1.W",  "fc1.W.m", "loss.probs", "loss"};
    for (size_t k = 0; k < sizeof(tensor) / sizeof(tensor[0]); k++) {
        struct net n;
        struct lab_explanation e;
        net_init(&n);
        net_tensor(&n, "x 3,4", NULL);
        net_labels(&n, "y 3", 3);
        net_nodes(&n, "fc1 dense units=3", "act sigmoid");
        net_train(&n, "softmax_cross_entropy", "adam lr=0.01");
        net_walk(&n, "cpu");
        net_steps(&n, n.plan->n_steps);
        int id = net_id(&n, tensor[k]);
        int64_t last = n.plan->tensors[id].count - 1;
        double was = net_get(&n, tensor[k], last);
        net_put(&n, tensor[k], last, was + 2e-3);
        assert_ok(lab_walk_explain(n.walk, id, last, &e));
        if (e.agrees)
            fail_msg("%s: %g is taken for %g", tensor[k], e.shown, e.value);
        assert_true(fabs(e.shown - was - 2e-3) < 1e-5);
        assert_true(fabs(e.value - was) < 1e-5);
        struct lab_str text;
        lab_str_init(&text);
        lab_explanation_text(&e, 2, &text);
        assert_non_null(strstr(lab_str_text(&text), "the tensor holds"));
        lab_str_release(&text);
        lab_explanation_release(&e);
        net_free(&n);
    }
}

NET_CASE(the_words_are_the_contracts)
{
    struct lab_explanation e;
    struct lab_str text;
    const double x[] = {0.25, 0.5, 2, -1};
    const double y[] = {-0.5, 0.25};
    const double W[] = {1, 2};
    net_tensor(n, "x 2,2", x);
    net_tensor(n, "y 2,1", y);
    net_node(n, "fc1 dense units=1 bias=false");
    net_param(n, "fc1.W 2,1", W);
    net_loss(n, "weighted_sum");
    net_walk(n, "cpu");
    net_steps(n, n->plan->n_steps);
    lab_str_init(&text);
    assert_ok(lab_walk_explain(n->walk, net_id(n, "fc1.W.grad"), 0, &e));
    lab_explanation_text(&e, 9, &text);
    /* 0.25 * -0.5 + 2 * 0.25, the larger first */
    assert_string_equal(lab_str_text(&text),
                        "fc1.W.grad[0,0] = sum_n x[n,0] * fc1.out.grad[n,0] "
                        "= 2*0.25 + 0.25*-0.5 = 0.375");
    assert_int_equal(e.terms[0].source[0].tensor, net_id(n, "x"));
    assert_int_equal(e.terms[0].source[0].index, 2);
    assert_int_equal(e.terms[0].source[1].tensor, net_id(n, "fc1.out.grad"));
    assert_int_equal(e.terms[0].source[1].index, 1);
    lab_str_clear(&text);
    lab_explanation_text(&e, 1, &text);
    assert_string_equal(lab_str_text(&text),
                        "fc1.W.grad[0,0] = sum_n x[n,0] * fc1.out.grad[n,0] "
                        "= 2*0.25 + (1 smaller: -0.125) = 0.375");
    lab_explanation_release(&e);
    lab_str_clear(&text);
    assert_ok(lab_walk_explain(n->walk, net_id(n, "loss"), 0, &e));
    assert_string_equal(e.name, "loss");
    lab_explanation_release(&e);
    assert_ok(lab_walk_explain(n->walk, net_id(n, "x"), 3, &e));
    lab_explanation_text(&e, 3, &text);
    assert_string_equal(lab_str_text(&text), "x[1,1] = from the data = -1");
    lab_explanation_release(&e);
    lab_str_release(&text);
}

/* 1000 products: the largest 256 are kept, the rest is one number. */
NET_CASE(a_long_sum_keeps_its_largest_terms)
{
    struct lab_explanation e;
    double all = 0;
    net_tensor(n, "x 1,1000", NULL);
    net_tensor(n, "y 1,1", NULL);
    net_node(n, "fc1 dense units=1 bias=false");
    net_loss(n, "mse");
    net_walk(n, "cpu");
    net_steps(n, 1);
    double *x = net_read(n, "x");
    double *W = net_read(n, "fc1.W");
    assert_ok(lab_walk_explain(n->walk, net_id(n, "fc1.out"), 0, &e));
    assert_int_equal(e.n_terms_all, 1000);
    assert_int_equal(e.n_terms, 256);
    double least = fabs(e.terms[255].value);
    int larger = 0;
    for (int i = 0; i < 1000; i++) {
        all += x[i] * W[i];
        larger += fabs(x[i] * W[i]) > least;
    }
    assert_int_equal(larger, 255);
    assert_true(fabs(e.value - all) < 1e-9);
    for (int i = 0; i < 256; i++) {
        const struct lab_term *t = &e.terms[i];
        all -= t->value;
        assert_int_equal(t->n_sources, 2);
        assert_int_equal(t->source[0].index, t->source[1].index);
        double product = x[t->source[0].index] * W[t->source[1].index];
        assert_true(fabs(product - t->value) < 1e-12);
    }
    assert_true(fabs(e.rest - all) < 1e-9);
    lab_free(x);
    lab_free(W);
    lab_explanation_release(&e);
}

/* Of 300 terms one is no number: it must be kept, and come first. */
NET_CASE(the_term_that_is_not_a_number_comes_first)
{
    struct lab_explanation e;
    net_tensor(n, "x 1,300", NULL);
    net_tensor(n, "y 1,1", NULL);
    net_node(n, "fc1 dense units=1 bias=false");
    net_loss(n, "mse");
    net_walk(n, "cpu");
    net_put(n, "x", 299, NAN);
    net_steps(n, 1);
    assert_ok(lab_walk_explain(n->walk, net_id(n, "fc1.out"), 0, &e));
    assert_true(isnan(e.value) && isnan(e.shown) && e.agrees);
    assert_true(isnan(e.terms[0].value));
    assert_int_equal(e.terms[0].source[0].index, 299);
    assert_true(isfinite(e.terms[1].value) && isfinite(e.rest));
    lab_explanation_release(&e);
}

NET_CASE(before_a_step_there_is_nothing_to_explain)
{
    struct lab_explanation e = {.tensor = -9};
    net_tensor(n, "x 3,4", NULL);
    net_tensor(n, "y 3,4", NULL);
    net_node(n, "ln layer_norm");
    net_loss(n, "mse");
    net_walk(n, "cpu");
    assert_ok(lab_walk_explain(n->walk, net_id(n, "ln.out"), 0, &e));
    assert_string_equal(e.symbolic, "not computed yet");
    assert_int_equal(e.step, -1);
    assert_true(e.unwritten && isnan(e.value) && isnan(e.shown));
    struct lab_str text;
    lab_str_init(&text);
    lab_explanation_text(&e, 3, &text);
    assert_string_equal(lab_str_text(&text), "ln.out[0,0] = not computed yet");
    lab_str_release(&text);
    lab_explanation_release(&e);
    assert_ok(lab_walk_explain(n->walk, net_id(n, "ln.gamma"), 0, &e));
    assert_string_equal(e.symbolic, "the initial value");
    assert_true(!e.unwritten && e.shown == 1);
    lab_explanation_release(&e);
    /* Gone back, a tensor is no longer written. */
    net_steps(n, 3);
    assert_ok(lab_walk_back(n->walk, 3));
    assert_ok(lab_walk_explain(n->walk, net_id(n, "ln.out"), 0, &e));
    assert_string_equal(e.symbolic, "not computed yet");
    lab_explanation_release(&e);
    /* The next iteration starts with what this one left. */
    net_steps(n, n->plan->n_steps + 1);
    assert_ok(lab_walk_explain(n->walk, net_id(n, "ln.gamma"), 0, &e));
    assert_string_equal(e.symbolic, "as the last iteration left it");
    lab_explanation_release(&e);
}

NET_CASE(what_is_not_there_is_refused)
{
    struct lab_explanation e = {.tensor = -9};
    net_tensor(n, "x 3,4", NULL);
    net_tensor(n, "y 3,4", NULL);
    net_node(n, "act relu");
    net_loss(n, "mse");
    net_walk(n, "cpu");
    assert_int_equal(lab_walk_explain(n->walk, -1, 0, &e), LAB_E_ARG);
    assert_int_equal(lab_walk_explain(n->walk, n->plan->n_tensors, 0, &e),
                     LAB_E_ARG);
    assert_int_equal(lab_walk_explain(n->walk, net_id(n, "x"), 12, &e),
                     LAB_E_RANGE);
    assert_true(error_is("[formula.element] [3,4]"));
    assert_int_equal(lab_walk_explain(n->walk, net_id(n, "x"), -1, &e),
                     LAB_E_RANGE);
    assert_int_equal(e.tensor, -9); /* untouched */
}

/* NaN and infinities flow through without a false alarm. */
NET_CASE(not_a_number_agrees_with_itself)
{
    net_tensor(n, "x 3,4", NULL);
    net_tensor(n, "y 3,4", NULL);
    net_nodes(n, "fc1 dense units=4", "act relu");
    net_loss(n, "mse");
    net_walk(n, "cpu");
    net_put(n, "x", 1, NAN);
    net_put(n, "x", 7, INFINITY);
    net_put(n, "x", 9, 3e38);
    net_put(n, "x", 10, 3e38);
    net_steps(n, lab_walk_schedule(n->walk)->phase_first[LAB_LOSS]);
    for (int64_t i = 0; i < 12; i++) {
        net_explain(n, net_id(n, "fc1.xW"), i);
        net_explain(n, net_id(n, "fc1.out"), i);
        net_explain(n, net_id(n, "act.out"), i);
    }
}

RUN_TESTS()
