/* Back is exact: wherever the walk has been, every bit at a place is what a
 * fresh walk has there. */
#include "test.h"

#include "base/mem.h"
#include "common/random.h"
#include "unit/net.h"

enum { ITERATIONS = 6, MOVES = 1000 };

/* What a fresh walk holds at every place of the first iterations. */
struct truth {
    struct net net;
    int steps;
    struct net_moment **at; /* iteration * steps + position */
    int count;
    struct net_moment *end[ITERATIONS]; /* after an iteration's last step */
};

/* Shuffled batches, a dropout mask an iteration, momentum or Adam's state. */
static void describe(struct net *n, const char *optimizer)
{
    net_digits_of(n, 7, optimizer, "fc1 dense units=5", "act gelu",
                  "drop dropout p=0.4", "ln layer_norm", "fc2 dense units=10");
    net_walk(n, "cpu");
}

static void learn(struct truth *t, const char *optimizer)
{
    describe(&t->net, optimizer);
    t->steps = lab_walk_schedule(t->net.walk)->n_steps;
    t->count = ITERATIONS * t->steps;
    t->at = lab_alloc_array((size_t)t->count, sizeof(*t->at));
    assert_non_null(t->at);
    for (int i = 0; i < t->count; i++) {
        if (i > 0 && i % t->steps == 0) {
            /* The end of an iteration is the start of the next: into it. */
            net_steps(&t->net, 1);
            assert_ok(lab_walk_back(t->net.walk, 1));
            assert_int_equal(lab_walk_position(t->net.walk), 0);
        }
        t->at[i] = net_keep(&t->net);
        net_steps(&t->net, 1);
        if (lab_walk_at_end(t->net.walk))
            t->end[i / t->steps] = net_keep(&t->net);
    }
}

static void forget(struct truth *t)
{
    for (int i = 0; i < t->count; i++)
        net_moment_free(t->at[i]);
    for (int i = 0; i < ITERATIONS; i++)
        net_moment_free(t->end[i]);
    lab_free(t->at);
    net_free(&t->net);
}

static int place(struct net *n, int steps)
{
    return (int)lab_walk_iteration(n->walk) * steps +
           lab_walk_position(n->walk);
}

static void compare(const struct truth *t, struct net *n, const char *what)
{
    const struct net_moment *want;
    if (lab_walk_at_end(n->walk))
        want = t->end[lab_walk_iteration(n->walk)];
    else
        want = t->at[place(n, t->steps)];
    net_still(n, what, want);
}

static void random_moves(const char *optimizer, uint64_t seed)
{
    struct truth t = {0};
    struct net n;
    char what[96];
    learn(&t, optimizer);
    describe(&n, optimizer);
    for (int move = 0; move < MOVES; move++) {
        uint32_t r = lab_random_word(seed, 1, 2, (uint64_t)move);
        int count = 1 + (int)(r / 8 % 9);
        int at = place(&n, t.steps);
        int left = t.count - 1 - at;
        snprintf(what, sizeof(what), "%s, move %d (%u of %d)", optimizer, move,
                 r % 8, count);
        switch (r % 8) {
        case 0:
        case 1:
        case 2:
            net_steps(&n, count < left ? count : left);
            break;
        case 3: /* to the end of the iteration, at speed */
            if (left > 2 * t.steps)
                assert_ok(lab_walk_iterate(n.walk));
            break;
        case 4:
            if (r / 8 % 50 == 0)
                assert_ok(lab_walk_restart(n.walk));
            break;
        case 5: /* over the start of an iteration, or of the run */
            assert_ok(lab_walk_back(n.walk, 3 * count));
            break;
        default:
            assert_ok(lab_walk_back(n.walk, count));
            assert_int_equal(place(&n, t.steps), at > count ? at - count : 0);
        }
        compare(&t, &n, what);
    }
    net_free(&n);
    forget(&t);
}

TEST_CASE(adam_at_random)
{
    random_moves("adam lr=0.02 weight_decay=0.1", 1);
}

TEST_CASE(schedule_at_random)
{
    random_moves("sgd lr=0.2 momentum=0.9 schedule=cosine over=5 warmup=2 "
                 "clip_norm=0.3",
                 7);
}

TEST_CASE(momentum_at_random)
{
    random_moves("sgd lr=0.1 momentum=0.9 nesterov=true", 2);
}

/* At speed over a hundred iterations, and back by any number of them. */
NET_CASE(far_back)
{
    struct net fresh;
    const int64_t targets[] = {99, 97, 96, 95, 64, 63, 33, 32, 31, 1, 0};
    describe(n, "adam lr=0.02");
    int64_t steps = net_steps_of(n);
    net_iterate(n, 100);
    struct net_moment *last = net_keep(n);
    for (size_t k = 0; k < sizeof(targets) / sizeof(targets[0]); k++) {
        int64_t target = targets[k];
        int64_t now =
            lab_walk_iteration(n->walk) * steps + lab_walk_position(n->walk);
        assert_ok(lab_walk_back(n->walk, now - (target * steps + 4)));
        describe(&fresh, "adam lr=0.02");
        net_iterate(&fresh, target);
        net_steps(&fresh, 4);
        net_alike(n, "far back", &fresh);
        net_free(&fresh);
    }
    while (lab_walk_iteration(n->walk) < 99)
        assert_ok(lab_walk_iterate(n->walk));
    if (!lab_walk_at_end(n->walk))
        assert_ok(lab_walk_iterate(n->walk));
    net_still(n, "forward again", last);
    net_moment_free(last);
}

/* A copy that was taken under one variant must not come back under another. */
TEST_CASE(a_switched_variant_does_not_bring_old_weights_back)
{
    struct net n;
    struct net fresh;
    describe(&n, "sgd lr=0.5");
    if (!lab_backend_variant(lab_walk_backend(n.walk), LAB_F32, "dense",
                             "matmul", LAB_BACKWARD, "blas")) {
        net_free(&n);
        skip();
    }
    int steps = net_steps_of(&n);
    net_steps(&n, 12 * steps);
    assert_ok(lab_walk_back(n.walk, 11 * steps));
    describe(&fresh, "sgd lr=0.5");
    assert_ok(lab_walk_back(n.walk, 100 * steps));
    net_choose(&n, "dense", "blas");
    net_choose(&fresh, "dense", "blas");
    net_iterate(&n, 9);
    net_steps(&fresh, 9 * steps);
    /* In the update: what goes back are this iteration's weights. */
    assert_ok(lab_walk_back(n.walk, 2));
    assert_ok(lab_walk_back(fresh.walk, 2));
    net_alike(&n, "after a switch", &fresh);
    net_free(&n);
    net_free(&fresh);
}

/* `old` is what the iteration found, also where no copy was kept. */
NET_CASE(old_values_are_there_after_training_at_speed)
{
    float was[320];
    float old[320];
    describe(n, "adam lr=0.02");
    int W = net_id(n, "fc1.W");
    for (int i = 0; i < 21; i++) {
        assert_ok(lab_walk_read(n->walk, W, false, was));
        assert_ok(lab_walk_iterate(n->walk));
    }
    struct net_moment *before = net_keep(n);
    assert_ok(lab_walk_read(n->walk, W, true, old));
    assert_memory_equal(was, old, sizeof(was));
    net_still(n, "after reading an old value", before);
    net_moment_free(before);
    /* Before the update old and new are one. */
    net_steps(n, 3);
    assert_ok(lab_walk_read(n->walk, W, true, old));
    assert_ok(lab_walk_read(n->walk, W, false, was));
    assert_memory_equal(was, old, sizeof(was));
}

static bool count_asked(void *user)
{
    ++*(int *)user;
    return false;
}

static bool always(void *user)
{
    (void)user;
    return true;
}

/* Its copy stays, though more have been made since than are kept. */
NET_CASE(a_mark_is_reached_from_its_own_copy)
{
    int asked = 0;
    const struct lab_stop stop = {count_asked, &asked};
    describe(n, "adam lr=0.02");
    int steps = net_steps_of(n);
    net_steps(n, 40 * steps);
    struct net_moment *want = net_keep(n);
    lab_walk_set_mark(n->walk, 0);
    assert_ok(lab_walk_to_mark(n->walk, 0)); /* it is there */
    net_steps(n, 100 * steps);
    net_iterate(n, 50);
    lab_walk_stop_when(n->walk, &stop);
    assert_ok(lab_walk_to_mark(n->walk, 0));
    lab_walk_stop_when(n->walk, &(struct lab_stop){0});
    assert_int_equal(lab_walk_iteration(n->walk), 39);
    assert_true(lab_walk_at_end(n->walk));
    assert_in_range(asked, 1, 2 * steps);
    net_still(n, "at the mark", want);
    net_steps(n, 3 * steps);
    assert_ok(lab_walk_to_mark(n->walk, 0));
    net_still(n, "at the mark again", want);
    /* Who asks to stop on the way finds it at the mark, too. */
    net_steps(n, 30 * steps);
    lab_walk_stop_when(n->walk, &(struct lab_stop){always, NULL});
    assert_ok(lab_walk_to_mark(n->walk, 0));
    lab_walk_stop_when(n->walk, &(struct lab_stop){0});
    net_still(n, "at the mark, asked to stop", want);
    net_moment_free(want);
    /* A new beginning has no mark; its own start can have one. */
    assert_ok(lab_walk_restart(n->walk));
    want = net_keep(n);
    lab_walk_set_mark(n->walk, 1);
    net_steps(n, 70 * steps + 1);
    assert_ok(lab_walk_to_mark(n->walk, 1));
    assert_int_equal(lab_walk_iteration(n->walk), 0);
    assert_int_equal(lab_walk_position(n->walk), 0);
    net_still(n, "at the start", want);
    net_moment_free(want);
    net_steps(n, 45 * steps);
    assert_ok(lab_walk_to_mark(n->walk, 0));
    assert_int_equal(lab_walk_iteration(n->walk), 44);
}

/* Of parameters so large that the budget has room for two copies alone. */
NET_CASE(every_mark_of_a_large_network_keeps_its_copy)
{
    int asked = 0;
    const struct lab_stop stop = {count_asked, &asked};
    net_digits_of(n, 1, "sgd lr=0.001", "fc1 dense units=4800",
                  "fc2 dense units=4800", "fc3 dense units=10");
    net_walk(n, "cpu");
    assert_in_range(n->plan->persistent_bytes, (256 << 20) / 3 + 1,
                    (256 << 20) / 2);
    int steps = net_steps_of(n);
    for (int i = 0; i < LAB_WALK_MARKS; i++) {
        net_steps(n, steps);
        lab_walk_set_mark(n->walk, i);
    }
    struct net_moment *want = net_keep(n);
    net_steps(n, 2 * steps);
    lab_walk_stop_when(n->walk, &stop);
    assert_ok(lab_walk_to_mark(n->walk, LAB_WALK_MARKS - 1));
    lab_walk_stop_when(n->walk, &(struct lab_stop){0});
    assert_int_equal(lab_walk_iteration(n->walk), LAB_WALK_MARKS - 1);
    assert_in_range(asked, 1, steps); /* not from the start */
    net_still(n, "at the last mark", want);
    net_moment_free(want);
}

/* What the walk keeps of an element is what the screen showed at the ends of its
 * iterations: `want` from iteration `first` on. */
static void same_past(struct net *n, const char *tensor, int64_t index,
                      int first, int end, const double *want)
{
    int64_t iteration[LAB_WALK_PAST + 1];
    double value[LAB_WALK_PAST + 1];
    const int count =
        lab_walk_past(n->walk, net_id(n, tensor), index, iteration, value);
    const bool now = lab_walk_written(n->walk, net_id(n, tensor));
    assert_int_equal(count, end - first + now);
    for (int i = 0; i < end - first; i++) {
        assert_int_equal(iteration[i], first + i);
        assert_true(value[i] == want[first + i]);
    }
    if (now) {
        assert_int_equal(iteration[count - 1], lab_walk_iteration(n->walk));
        assert_true(value[count - 1] == net_get(n, tensor, index));
    }
}

NET_CASE(an_element_has_a_past)
{
    enum { LONG = LAB_WALK_PAST + 9 };
    static const char *const names[] = {"fc1.W", "fc1.W.grad", "act.out", "x"};
    static const int64_t at_index[] = {103, 103, 3, 20}; /* a pixel with ink */
    enum { NAMES = sizeof(names) / sizeof(names[0]) };
    double want[NAMES][LONG];
    describe(n, "adam lr=0.02");
    const int steps = net_steps_of(n);
    net_steps(n, steps);
    same_past(n, names[0], at_index[0], 0, 0, NULL); /* not asked for */
    assert_ok(lab_walk_restart(n->walk));
    lab_walk_keep_past(n->walk);
    for (int i = 0; i < LONG; i++) {
        const int first = i < LAB_WALK_PAST ? 0 : i - LAB_WALK_PAST;
        net_steps(n, 1);
        for (int k = 0; k < NAMES; k++)
            same_past(n, names[k], at_index[k], first, i, want[k]);
        net_steps(n, steps - 1);
        for (int k = 0; k < NAMES; k++)
            want[k][i] = net_get(n, names[k], at_index[k]);
    }
    for (int k = 0; k < NAMES; k++) {
        int differ = 0;
        for (int i = 1; i < LONG; i++)
            differ += want[k][i] != want[k][0];
        assert_true(differ > 0);
    }
    /* Back, and on with another rate: what was is the same, what follows is new. */
    assert_ok(lab_walk_back(n->walk, 5 * steps));
    const int at = (int)lab_walk_iteration(n->walk);
    same_past(n, names[0], at_index[0], LONG - LAB_WALK_PAST, at, want[0]);
    /* To and fro loses no older one. */
    for (int i = 0; i < LAB_WALK_PAST; i++) {
        assert_ok(lab_walk_back(n->walk, 1));
        net_steps(n, 2);
        assert_ok(lab_walk_back(n->walk, 1));
    }
    same_past(n, names[0], at_index[0], LONG - LAB_WALK_PAST, at, want[0]);
    assert_ok(lab_walk_set_lr(n->walk, 0.5));
    net_steps(n, 2 * steps - lab_walk_position(n->walk) + 1);
    int64_t iteration[LAB_WALK_PAST + 1];
    double value[LAB_WALK_PAST + 1];
    const int count = lab_walk_past(n->walk, net_id(n, names[0]), at_index[0],
                                    iteration, value);
    assert_int_equal(count, at + 2 - (LONG - LAB_WALK_PAST) + 1);
    assert_int_equal(iteration[count - 1], at + 2);
    assert_int_equal(iteration[count - 2], at + 1);
    assert_true(value[count - 2] == value[count - 1]); /* not updated since */
    assert_true(value[count - 2] != want[0][at + 1]);
    /* Anew: no step has written the gradient. */
    assert_ok(lab_walk_restart(n->walk));
    same_past(n, names[0], at_index[0], 0, 0, NULL);
    same_past(n, names[1], at_index[1], 0, 0, NULL);
}

/* What is not kept when it runs again at speed is no longer there as it was walked. */
NET_CASE(a_walked_past_ends_where_it_runs_at_speed)
{
    enum { WALKED = 50, AGAIN = 12 };
    int64_t iteration[LAB_WALK_PAST + 1];
    double value[LAB_WALK_PAST + 1];
    describe(n, "adam lr=0.02");
    lab_walk_keep_past(n->walk);
    net_steps(n, WALKED * net_steps_of(n));
    assert_ok(lab_walk_back(n->walk, AGAIN * net_steps_of(n)));
    const int64_t at = lab_walk_iteration(n->walk);
    assert_ok(lab_walk_set_lr(n->walk, 0.5));
    net_iterate(n, WALKED);
    const int count =
        lab_walk_past(n->walk, net_id(n, "fc1.W"), 103, iteration, value);
    int again = 0;
    for (int i = 0; i < count - 1; i++) {
        again += iteration[i] > at && iteration[i] < WALKED;
        assert_true(iteration[i] <= at || lab_walk_samples(iteration[i]));
    }
    assert_true(again > 0 && again < AGAIN - 1);
}

/* At speed those iterations are kept whose steps run one by one. */
NET_CASE(a_past_of_training_at_speed)
{
    int64_t iteration[LAB_WALK_PAST + 1];
    double value[LAB_WALK_PAST + 1];
    describe(n, "adam lr=0.02");
    lab_walk_keep_past(n->walk);
    net_iterate(n, 100);
    const int count =
        lab_walk_past(n->walk, net_id(n, "fc1.W"), 103, iteration, value);
    assert_true(value[0] != value[count - 1]);
    int samples = 1; /* as it is now */
    for (int i = 0; i < 99; i++)
        samples += lab_walk_samples(i);
    assert_int_equal(count, samples);
    for (int i = 0; i < count; i += 7) {
        struct net fresh;
        describe(&fresh, "adam lr=0.02");
        net_iterate(&fresh, iteration[i] + 1);
        assert_true(value[i] == net_get(&fresh, "fc1.W", 103));
        net_free(&fresh);
    }
}

RUN_TESTS()
