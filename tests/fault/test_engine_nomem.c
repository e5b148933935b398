/* Memory ends at the Nth allocation, for every N, and stays short until it is
 * given back: each call returns LAB_E_NOMEM or works, nothing crashes, nothing
 * leaks (the sanitized build sees that), and afterwards the walk goes on. */

#include "test.h"
#include "place.h"

#include "base/mem.h"
#include "unit/net.h"
#include "backend/variant_disabled.h"

static int make_place(void **state)
{
    if (place_make(state))
        return -1;
    FILE *f = fopen("rows.csv", "w");
    if (!f)
        return -1;
    for (int i = 0; i < 30; i++)
        fprintf(f, "%d,%d,%d\n", i % 7, i % 5, i % 3);
    return fclose(f);
}

static void describe(struct net *n)
{
    net_init(n);
    n->spec.data.source = LAB_DATA_CSV;
    n->spec.data.path = "rows.csv";
    n->spec.data.batch = 4;
    net_nodes(n, "fc1 dense units=3", "act relu", "drop dropout p=0.25",
              "fc2 dense units=3");
    net_param(n, "fc2.W 3,3", NULL);
    net_train(n, "softmax_cross_entropy", "adam lr=0.1");
}

/* Runs `work` with memory for 0, 1, 2 ... allocations until it succeeds. The
 * work gets a fresh net and returns what its last call returned. */
static void with_ever_more(enum lab_status (*work)(struct net *n))
{
    for (int64_t nth = 1;; nth++) {
        struct net n;
        describe(&n);
        lab_mem_fail_from(nth);
        enum lab_status st = work(&n);
        int64_t used = lab_mem_count();
        lab_mem_fail_from(0);
        if (st != LAB_OK && st != LAB_E_NOMEM)
            fail_msg("allocation %lld: status %d, %s", (long long)nth, st,
                     lab_error());
        if (st == LAB_E_NOMEM)
            assert_true(lab_error()[0] != '\0');
        net_free(&n);
        if (st == LAB_OK && used < nth) {
            assert_true(nth > 3);
            return;
        }
        assert_true(nth < 5000);
    }
}

static enum lab_status open_and_build(struct net *n)
{
    enum lab_status st = net_build(n);
    if (!n->data || !n->plan)
        assert_int_equal(st, LAB_E_NOMEM);
    return st;
}

TEST_CASE(data_and_plan)
{
    with_ever_more(open_and_build);
}

static enum lab_status start(struct net *n)
{
    struct lab_backend *be = NULL;
    enum lab_status st = net_build(n);
    if (!st)
        st = lab_backend_open(&be, "cpu", 0);
    if (st) {
        assert_null(be);
        return st;
    }
    st = lab_walk_new(&n->walk, n->plan, be, n->data, NULL);
    if (st) { /* both are still the caller's */
        assert_null(n->walk);
        lab_backend_close(be);
    }
    return st;
}

TEST_CASE(a_walk)
{
    with_ever_more(start);
}

TEST_CASE(inline_data)
{
    for (int64_t nth = 1;; nth++) {
        struct net n;
        net_init(&n);
        net_every_op(&n, "mse", "sgd lr=0.1 momentum=0.5");
        net_param(&n, "dense0.W 7,3", NULL);
        lab_mem_fail_from(nth);
        enum lab_status st = start(&n);
        int64_t used = lab_mem_count();
        lab_mem_fail_from(0);
        assert_true(st == LAB_OK || st == LAB_E_NOMEM);
        net_free(&n);
        if (st == LAB_OK && used < nth)
            return;
        assert_true(nth < 5000);
    }
}

/* One call on a walk that exists, with ever more memory; `again` is the same
 * call with memory enough: it must work, on the same walk. */
static void on_a_walk(int steps, enum lab_status (*call)(struct net *n))
{
    for (int64_t nth = 1;; nth++) {
        struct net n;
        describe(&n);
        net_walk(&n, "cpu");
        net_iterate(&n, 3);
        net_steps(&n, steps);
        struct net_moment *before = net_keep(&n);
        lab_mem_fail_from(nth);
        enum lab_status st = call(&n);
        int64_t used = lab_mem_count();
        lab_mem_fail_from(0);
        if (st != LAB_OK && st != LAB_E_NOMEM)
            fail_msg("allocation %lld: status %d, %s", (long long)nth, st,
                     lab_error());
        if (st) {
            net_still(&n, "after a failure", before);
            assert_ok(call(&n));
        }
        net_moment_free(before);
        net_free(&n);
        if (st == LAB_OK && used < nth)
            return;
        assert_true(nth < 5000);
    }
}

static enum lab_status explain(struct net *n)
{
    static const char *const tensor[] = {"fc1.xW",    "act.out", "loss",
                                         "drop.mask", "x",       "fc1.W"};
    enum lab_status st = LAB_OK;
    for (int i = 0; i < 6 && !st; i++) {
        struct lab_explanation e;
        st = lab_walk_explain(n->walk, net_id(n, tensor[i]), 0, &e);
        if (st)
            break;
        assert_true(e.agrees);
        lab_explanation_release(&e);
    }
    return st;
}

TEST_CASE(an_explanation)
{
    on_a_walk(0, explain); /* after training at speed, without a copy */
    on_a_walk(3, explain);
}

static enum lab_status check(struct net *n)
{
    struct lab_check_result *r = NULL;
    int count = -1;
    enum lab_status st = lab_gradcheck(
        n->walk, &n->spec, "fc2.b", LAB_CHECK_ELEMENTS, NULL, NULL, &r, &count);
    if (st) {
        assert_null(r);
        assert_int_equal(count, -1);
        return st;
    }
    assert_true(r->passed);
    lab_free(r);
    return LAB_OK;
}

TEST_CASE(a_gradient_check)
{
    on_a_walk(0, check);
    on_a_walk(4, check);
}

static enum lab_status evaluate(struct net *n)
{
    double accuracy;
    double loss;
    return lab_walk_evaluate(n->walk, &accuracy, &loss);
}

TEST_CASE(an_evaluation)
{
    on_a_walk(4, evaluate);
}

static enum lab_status choose_nothing(struct net *n)
{
    return lab_walk_choose(n->walk, NULL, 0);
}

static enum lab_status choose_groups(struct net *n)
{
    struct lab_variant_choice c = {"*", "onednn"};
    enum lab_status st = lab_walk_choose(n->walk, &c, 1);
    return st == LAB_E_NOTFOUND ? choose_nothing(n) : st;
}

TEST_CASE(a_switch)
{
    on_a_walk(4, choose_groups);
    on_a_walk(1, choose_nothing);
}

static enum lab_status old_value(struct net *n)
{
    float W[6];
    return lab_walk_read(n->walk, net_id(n, "fc1.W"), true, W);
}

TEST_CASE(an_old_value)
{
    on_a_walk(0, old_value);
}

/* No memory for copies: steps go on, and back is as exact as ever. */
TEST_CASE(back_without_copies)
{
    struct net n;
    struct net other;
    describe(&n);
    describe(&other);
    net_walk(&n, "cpu");
    net_walk(&other, "cpu");
    int steps = net_steps_of(&n);
    lab_mem_fail_from(1);
    net_steps(&n, 3 * steps + 5);
    assert_ok(lab_walk_back(n.walk, 2 * steps));
    lab_mem_fail_from(0);
    net_steps(&other, steps + 5);
    net_alike(&n, "back without memory", &other);
    net_free(&n);
    net_free(&other);
}

/* All variants are checked, with memory for nth - 1 allocations; how many it asked for. */
static int64_t check_variants(struct lab_backend *be, int64_t nth,
                              enum lab_status *st)
{
    struct lab_str report;
    lab_str_init(&report);
    lab_mem_fail_from(nth);
    *st = lab_backend_check(be, NULL, &report);
    int64_t used = lab_mem_count();
    lab_mem_fail_from(0);
    assert_string_equal(lab_str_text(&report), "");
    assert_false(report.failed);
    assert_non_null(lab_backend_variant(be, LAB_F32, "dense", "matmul",
                                        LAB_FORWARD, "blas"));
    lab_str_release(&report);
    return used;
}

/* What was not finished is not forgotten: the next check goes as far as its memory, and
 * the first that has enough does all. */
TEST_CASE(the_variant_check)
{
    struct lab_backend *be;
    enum lab_status st;
    lab_variant_withdraw(NULL);
    assert_ok(lab_backend_open(&be, "cpu", 0));
    check_variants(be, INT64_MAX, &st); /* has first uses */
    assert_ok(st);
    assert_int_equal(check_variants(be, INT64_MAX, &st), 0); /* it is done */
    lab_variant_withdraw(NULL);
    const int64_t all = check_variants(be, INT64_MAX, &st);
    assert_true(all > 1000);
    lab_variant_withdraw(NULL);
    for (int64_t nth = 1; nth <= all; nth += nth < 12 ? 1 : 61) {
        assert_true(check_variants(be, nth, &st) >= nth);
        assert_int_equal(st, LAB_E_NOMEM);
    }
    assert_int_equal(check_variants(be, all + 1, &st), all);
    assert_ok(st);
    lab_backend_close(be);
}

RUN_TESTS_IN(make_place, place_remove)
