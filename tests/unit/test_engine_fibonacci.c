/* The samples of source fibonacci, and that a small rnn learns their rule. */
#include "test.h"

#include "base/mem.h"
#include "unit/net.h"

static void describe(struct net *n, int64_t context, int64_t batch)
{
    net_init(n);
    n->spec.data.source = LAB_DATA_FIBONACCI;
    n->spec.data.context = context;
    n->spec.data.batch = batch;
    n->spec.data.shuffle = false;
    net_nodes(n, "r1 rnn hidden=8 return=last", "fc1 dense units=1");
    net_train(n, "mse", "adam lr=0.001");
}

TEST_CASE(terms_follow_the_rule)
{
    static const int64_t lengths[] = {2, 3, 8, 64};
    struct net n;
    for (int k = 0; k < 4; k++) {
        int64_t terms = lengths[k];
        describe(&n, terms, 400);
        net_walk(&n, "cpu");
        const struct lab_tensor *x = net_at(&n, "x");
        assert_int_equal(x->shape.rank, 3);
        assert_int_equal(x->shape.dim[0], 400);
        assert_int_equal(x->shape.dim[1], terms);
        assert_int_equal(x->shape.dim[2], 1);
        double *v = net_read(&n, "x");
        double *y = net_read(&n, "y");
        for (int64_t row = 0; row < 400; row++) {
            const double *term = v + row * terms;
            assert_true(y[row] > 0 && y[row] <= 1);
            for (int64_t i = 2; i <= terms; i++) {
                double next = i < terms ? term[i] : y[row];
                assert_float_equal(next, term[i - 1] + term[i - 2], 2e-7);
            }
        }
        /* The first is 1, 1, 2, 3 ... over the largest. */
        assert_true(v[0] == v[1] && v[0] > 0 && y[0] == 1);
        assert_true(v[terms] != v[terms + 1]);
        lab_free(v);
        lab_free(y);
        net_free(&n);
    }
}

NET_CASE(eight_terms_by_default_in_batches_of_32)
{
    struct lab_data_facts facts;
    describe(n, 0, 0);
    net_walk(n, "cpu");
    assert_int_equal(net_at(n, "x")->shape.dim[1], 8);
    lab_data_get_facts(lab_walk_data(n->walk), &facts);
    assert_int_equal(facts.batch, 32);
    assert_int_equal(facts.train_rows, 409);
    assert_int_equal(facts.held_rows, 103);
}

TEST_CASE(too_few_or_too_many_terms)
{
    static const int64_t bad[] = {1, 65};
    struct net n;
    for (int k = 0; k < 2; k++) {
        describe(&n, bad[k], 0);
        assert_int_equal(net_build(&n), LAB_E_RANGE);
        assert_true(error_is("[data.fibonacci.context] net.md:9:3: "));
        net_free(&n);
    }
}

/* The largest distance from the next term on rows that were held back. */
static double worst_held(struct net *n)
{
    struct lab_data *data = lab_walk_data(n->walk);
    struct lab_data_facts facts;
    float x[64 * 8];
    float y[64];
    double worst = 0;
    lab_data_get_facts(data, &facts);
    for (int64_t first = 0; first < facts.held_rows; first += 64) {
        lab_data_fill_held(data, n->plan, net_id(n, "x"), first, x);
        lab_data_fill_held(data, n->plan, net_id(n, "y"), first, y);
        assert_ok(lab_walk_back(n->walk, lab_walk_position(n->walk)));
        assert_ok(lab_walk_write(n->walk, net_id(n, "x"), x));
        net_steps(n, lab_walk_schedule(n->walk)->phase_first[LAB_LOSS]);
        for (int i = 0; i < 64; i++)
            worst = fmax(worst, fabs(net_get(n, "fc1.out", i) - y[i]));
    }
    return worst;
}

NET_CASE(an_rnn_learns_the_rule)
{
    describe(n, 8, 64);
    n->spec.data.shuffle = true;
    net_walk(n, "cpu");
    net_iterate(n, 24000);
    net_steps(n, 1); /* into the next iteration: nothing more is learnt */
    double worst = worst_held(n);
    print_message("held back: off by at most %.4f\n", worst);
    assert_true(worst < 0.01);
}

RUN_TESTS()
