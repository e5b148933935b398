/* Steps that run again, as for counters: whatever range, however often, nothing
 * changes, bit for bit, and what they compute meanwhile is what they computed
 * before. */
#include "test.h"

#include "unit/net.h"

/* Parameters, moments of Adam, running statistics and masks all take part. */
static void describe(struct net *n)
{
    net_digits_of(n, 7, "adam lr=0.01", "conv conv2d filters=3 kernel=3",
                  "norm batch_norm", "flat flatten", "drop dropout p=0.4",
                  "fc dense units=10");
    net_walk(n, "cpu");
}

static bool net_is(struct net *n, const struct net_moment *want)
{
    struct net_moment *now = net_keep(n);
    bool same = net_is_same(n, want, now);
    net_moment_free(now);
    return same;
}

struct watch {
    struct net *net;
    int passes;
    int wanted;
    int began;
    int first; /* step of the range that was seen first, last */
    int last;
    int fails_at; /* the pass that fails, from 1; 0: none */
    const struct net_moment *truth;
    bool same; /* what the passes computed */
};

static enum lab_status pass_begin(void *user)
{
    struct watch *w = user;
    w->began = 0;
    w->first = -1;
    return LAB_OK;
}

static void step_begin(void *user, int index)
{
    struct watch *w = user;
    if (w->first < 0)
        w->first = index;
    w->last = index;
    w->began++;
}

static void step_end(void *user, int index)
{
    struct watch *w = user;
    assert_int_equal(index, w->last);
}

static enum lab_status pass_end(void *user, bool *again)
{
    struct watch *w = user;
    w->passes++;
    if (w->passes == w->fails_at)
        return lab_fail(LAB_E_DEVICE, "no counters today");
    *again = w->passes < w->wanted;
    if (w->truth)
        w->same = w->same && net_is(w->net, w->truth);
    return LAB_OK;
}

static enum lab_status rerun(struct watch *w, int from, int to)
{
    struct lab_rerun r = {.user = w,
                          .pass_begin = pass_begin,
                          .step_begin = step_begin,
                          .step_end = step_end,
                          .pass_end = pass_end};
    w->passes = 0;
    return lab_walk_rerun(w->net->walk, from, to, &r);
}

NET_CASE(every_range_leaves_every_bit)
{
    describe(n);
    int steps = net_steps_of(n);
    net_steps(n, 2 * steps); /* the moments are not zero any more */
    struct net_moment *before = net_keep(n);
    for (int from = 0; from < steps; from += 3) {
        for (int to = from + 1; to <= steps; to += 4) {
            struct watch w = {.net = n, .wanted = 3};
            assert_ok(rerun(&w, from, to));
            assert_int_equal(w.passes, 3);
            assert_int_equal(w.first, from);
            assert_int_equal(w.last, to - 1);
            assert_int_equal(w.began, to - from);
            assert_true(net_is(n, before));
        }
    }
    net_moment_free(before);
}

NET_CASE(passes_compute_what_was_computed)
{
    describe(n);
    int steps = net_steps_of(n);
    net_steps(n, 2 * steps);
    struct net_moment *before = net_keep(n);
    struct watch w = {.net = n, .wanted = 2, .truth = before, .same = true};
    assert_ok(rerun(&w, 0, steps));
    assert_true(w.same);
    net_moment_free(before);
}

NET_CASE(in_the_middle_of_an_iteration)
{
    describe(n);
    int steps = net_steps_of(n);
    net_steps(n, steps + steps / 2);
    struct net_moment *before = net_keep(n);
    struct watch w = {.net = n, .wanted = 2};
    assert_ok(rerun(&w, 0, steps / 2));
    assert_true(net_is(n, before));
    assert_int_equal(rerun(&w, 0, steps / 2 + 1), LAB_E_STATE);
    assert_true(error_is("[walk.not-run] "));
    assert_int_equal(w.passes, 0);
    net_moment_free(before);
}

NET_CASE(a_failing_pass_leaves_every_bit)
{
    describe(n);
    int steps = net_steps_of(n);
    net_steps(n, steps);
    struct net_moment *before = net_keep(n);
    struct watch w = {.net = n, .wanted = 3, .fails_at = 2};
    assert_int_equal(rerun(&w, 0, steps), LAB_E_DEVICE);
    assert_int_equal(w.passes, 2);
    assert_true(net_is(n, before));
    net_moment_free(before);
}

NET_CASE(another_variant_is_not_what_ran)
{
    describe(n);
    net_choose(n, "fc", "naive");
    int steps = net_steps_of(n);
    net_steps(n, steps);
    net_choose(n, "fc", "blas");
    struct watch w = {.net = n, .wanted = 1};
    assert_int_equal(rerun(&w, 0, steps), LAB_E_STATE);
    assert_true(error_is("[walk.other-variant] ran as naive"));
}

NET_CASE(nonsense_is_refused)
{
    describe(n);
    net_steps(n, 3);
    struct watch w = {.net = n, .wanted = 1};
    assert_int_equal(rerun(&w, 2, 2), LAB_E_ARG);
    assert_int_equal(rerun(&w, -1, 2), LAB_E_ARG);
    assert_int_equal(rerun(&w, 0, 1000000), LAB_E_ARG);
}

RUN_TESTS()
