/* Back over switches of variants is exact: what runs again runs as it ran
 * then. Every place is compared with a fresh walk that did the same. */
#include "test.h"

#include "unit/net.h"

enum { MAX_ACTIONS = 400 };

/* A step (NULL), or a choice of a variant for everything that has it. */
struct script {
    const char *action[MAX_ACTIONS];
    int n;
    /* What has run when all is done: after how many actions each step had. */
    int after[MAX_ACTIONS];
    int ran;
};

static void describe(struct net *n)
{
    net_digits_of(n, 7, "adam lr=0.02", "fc1 dense units=5", "act relu",
                  "drop dropout p=0.4", "fc2 dense units=10");
    net_walk(n, "cpu");
}

static bool has_variants(void)
{
    struct net n;
    describe(&n);
    struct lab_backend *be = lab_walk_backend(n.walk);
    bool has =
        lab_backend_variant(be, LAB_F32, "dense", "matmul", LAB_FORWARD,
                            "blas") &&
        lab_backend_variant(be, LAB_F32, "dense", NULL, LAB_FORWARD, "onednn");
    net_free(&n);
    return has;
}

static void steps(struct script *s, int n)
{
    for (int i = 0; i < n; i++)
        s->action[s->n++] = NULL;
}

static void choose(struct script *s, const char *variant)
{
    s->action[s->n++] = variant;
}

static void act(struct net *n, const char *action)
{
    if (action)
        net_choose(n, "dense", action);
    else
        net_steps(n, 1);
}

/* Whole iterations at speed where the script has no switch in them. */
static void play(struct net *n, const struct script *s, int from, bool fast)
{
    int i = from;
    while (i < s->n) {
        int each = net_steps_of(n);
        int at = lab_walk_at_end(n->walk) ? 0 : lab_walk_position(n->walk);
        int run = 0;
        while (fast && at == 0 && i + run < s->n && !s->action[i + run])
            run++;
        if (run >= each) {
            assert_ok(lab_walk_iterate(n->walk));
            i += each;
        } else {
            act(n, s->action[i++]);
        }
    }
}

/* Fills in what has run: a switch may undo half a group. */
static void learn(struct script *s)
{
    struct net n;
    int64_t place[MAX_ACTIONS];
    describe(&n);
    int64_t all = n.plan->n_steps;
    for (int i = 0; i < s->n; i++) {
        act(&n, s->action[i]);
        const struct lab_schedule *now = lab_walk_schedule(n.walk);
        int position = lab_walk_position(n.walk);
        int64_t at =
            lab_walk_at_end(n.walk) ? all : now->steps[position].hides_from;
        at += lab_walk_iteration(n.walk) * all;
        while (s->ran > 0 && place[s->ran - 1] > at)
            s->ran--;
        if (s->action[i])
            continue;
        place[s->ran] = at;
        s->after[s->ran++] = i + 1;
    }
    net_free(&n);
}

/* The walk as it was when `ran` steps had run, every step taken apart. */
static struct net_moment *truth(const struct script *s, int ran)
{
    struct net n;
    describe(&n);
    int until = ran > 0 ? s->after[ran - 1] : 0;
    for (int i = 0; i < until; i++)
        act(&n, s->action[i]);
    assert_ok(lab_walk_begin(n.walk));
    net_choose(&n, "dense", "naive");
    struct net_moment *m = net_keep(&n);
    net_free(&n);
    return m;
}

static void compare(const struct script *s, struct net *n, int ran)
{
    char what[64];
    struct net_moment *want = truth(s, ran);
    struct net_moment *got = net_keep(n);
    snprintf(what, sizeof(what), "after %d steps", ran);
    net_same(n, what, want, got);
    net_moment_free(want);
    net_moment_free(got);
}

/* The same steps and switches again, from where `ran` steps had run. */
static void go_on(const struct script *s, struct net *n, int ran, bool fast)
{
    int from = ran > 0 ? s->after[ran - 1] : 0;
    for (int i = from - 1; i >= 0; i--) {
        if (s->action[i]) {
            act(n, s->action[i]);
            break;
        }
    }
    play(n, s, from, fast);
}

/* Back by any number, and forward again: the same bits everywhere. */
static void back_and_forth(struct script *s, bool fast, int stride)
{
    struct net first;
    learn(s);
    describe(&first);
    play(&first, s, 0, fast);
    struct net_moment *end = net_keep(&first);
    for (int back = 1; back <= s->ran; back += stride) {
        struct net n;
        describe(&n);
        play(&n, s, 0, fast);
        net_choose(&n, "dense", "naive");
        assert_ok(lab_walk_back(n.walk, back));
        compare(s, &n, s->ran - back);
        go_on(s, &n, s->ran - back, fast);
        net_still(&n, "forward again", end);
        net_free(&n);
    }
    net_moment_free(end);
    net_free(&first);
}

/* Over three iterations: in the middle of forward, of backward and of the
 * update, half through a group, between two iterations. */
static void write_walk(struct script *s)
{
    steps(s, 3);
    choose(s, "blas");
    steps(s, 8);
    choose(s, "naive");
    steps(s, 2);
    choose(s, "blas");
    while (s->n < 30)
        steps(s, 1);
    choose(s, "onednn");
    steps(s, 16);
    choose(s, "blas");
    steps(s, 7);
    choose(s, "onednn");
    steps(s, 5);
}

TEST_CASE(every_place_is_as_it_was)
{
    struct script s = {.n = 0};
    if (!has_variants())
        skip();
    write_walk(&s);
    back_and_forth(&s, false, 1);
}

/* Without the switches the walk ends with other bits: the comparison sees
 * them. */
TEST_CASE(the_switches_show_in_the_bits)
{
    struct script s = {.n = 0};
    struct net a;
    struct net b;
    if (!has_variants())
        skip();
    write_walk(&s);
    describe(&a);
    play(&a, &s, 0, false);
    net_choose(&a, "dense", "naive");
    describe(&b);
    while (lab_walk_iteration(b.walk) < lab_walk_iteration(a.walk) ||
           lab_walk_position(b.walk) < lab_walk_position(a.walk))
        net_steps(&b, 1);
    struct net_moment *with = net_keep(&a);
    struct net_moment *without = net_keep(&b);
    assert_false(net_is_same(&a, with, without));
    net_moment_free(with);
    net_moment_free(without);
    net_free(&a);
    net_free(&b);
}

/* At speed few copies are kept: the way leads over switches from an old one,
 * or from the seed. */
TEST_CASE(after_training_at_speed)
{
    struct script s = {.n = 0};
    struct net n;
    if (!has_variants())
        skip();
    describe(&n);
    int each = n.plan->n_steps;
    net_free(&n);
    steps(&s, 4 * each);
    choose(&s, "blas");
    steps(&s, 3 * each + 2);
    choose(&s, "naive");
    steps(&s, 3 * each - 2);
    choose(&s, "blas");
    steps(&s, 2 * each + each / 2);
    back_and_forth(&s, true, 11);
}

/* Back one step at a time, from the end to the seed. */
TEST_CASE(one_by_one)
{
    struct script s = {.n = 0};
    struct net n;
    if (!has_variants())
        skip();
    write_walk(&s);
    learn(&s);
    describe(&n);
    play(&n, &s, 0, false);
    net_choose(&n, "dense", "naive");
    for (int ran = s.ran - 1; ran >= 0; ran--) {
        assert_ok(lab_walk_back(n.walk, 1));
        compare(&s, &n, ran);
    }
    assert_int_equal(lab_walk_iteration(n.walk), 0);
    assert_int_equal(lab_walk_position(n.walk), 0);
    net_free(&n);
}

/* A group that ran is gone back over as one, also where its steps are shown
 * apart now: between them there is nothing that has run. */
NET_CASE(a_group_that_ran_is_one_step_back)
{
    if (!has_variants())
        skip();
    describe(n);
    struct net_moment *start = net_keep(n);
    net_choose(n, "dense", "onednn");
    net_steps(n, 1); /* fc1 with its relu */
    net_choose(n, "dense", "naive");
    assert_int_equal(lab_walk_position(n->walk), 3);
    assert_ok(lab_walk_back(n->walk, 1));
    struct net_moment *back = net_keep(n);
    net_same(n, "before the group", start, back);
    /* And steps that ran apart are forgotten with the group that they are. */
    net_steps(n, 3);
    assert_true(lab_walk_written(n->walk, net_id(n, "fc1.xW")));
    net_choose(n, "dense", "onednn");
    assert_int_equal(lab_walk_position(n->walk), 1);
    assert_ok(lab_walk_back(n->walk, 1));
    assert_false(lab_walk_written(n->walk, net_id(n, "fc1.xW")));
    net_moment_free(start);
    net_moment_free(back);
}

/* What is chosen holds for all that runs from then on: also after going back
 * to before it was chosen. */
NET_CASE(a_choice_outlives_going_back)
{
    if (!has_variants())
        skip();
    describe(n);
    net_steps(n, 5);
    net_choose(n, "dense", "blas");
    assert_ok(lab_walk_back(n->walk, 5));
    net_steps(n, 1);
    assert_string_equal(lab_walk_step_ran(n->walk, 0), "blas");
}

RUN_TESTS()
