/* Iterations that are captured and launched as one: the same bits as walked, in
 * every family of networks, whatever happens in between. On a backend that does
 * what is launched later, and on the GPU where there is one. */
#include <unistd.h>

#include "test.h"

#include "unit/late_backend.h"
#include "unit/net.h"

typedef void family_fn(struct net *n);

static void mlp(struct net *n)
{
    n->spec.data.source = LAB_DATA_DIGITS;
    n->spec.data.batch = 7;
    n->spec.data.shuffle = true;
    net_nodes(n, "fc1 dense units=6", "act gelu", "drop dropout p=0.4",
              "ln layer_norm", "fc2 dense units=10");
    net_train(n, "softmax_cross_entropy", "adamw lr=0.01 weight_decay=0.1");
}

static void every_op(struct net *n)
{
    net_every_op(n, "mse", "sgd lr=0.01 momentum=0.9");
}

static void cnn(struct net *n)
{
    n->spec.data.source = LAB_DATA_DIGITS;
    n->spec.data.batch = 5;
    net_nodes(n, "conv1 conv2d filters=3 kernel=3,3 padding=same", "act relu",
              "pool max_pool2d size=2,2", "bn batch_norm", "flat flatten",
              "fc dense units=10");
    net_train(n, "softmax_cross_entropy", "adam lr=0.01");
}

static void lstm(struct net *n)
{
    net_labels(n, "x 3,5", 7);
    net_labels(n, "y 3,5", 7);
    net_nodes(n, "emb embedding vocab=7 dim=4", "rnn1 rnn hidden=5",
              "lstm1 lstm hidden=3", "fc dense units=7");
    net_train(n, "softmax_cross_entropy", "adam lr=0.01");
}

static void transformer(struct net *n)
{
    net_labels(n, "x 2,5", 7);
    net_labels(n, "y 2,5", 7);
    net_nodes(n, "emb embedding vocab=7 dim=6",
              "pos positional_embedding max_length=5",
              "block transformer_block heads=2 ff=8 causal=true",
              "fc dense units=7");
    net_train(n, "softmax_cross_entropy", "adamw lr=0.01");
}

/* A rate that is another one in each iteration, and gradients that are cut. */
static void scheduled(struct net *n)
{
    n->spec.data.source = LAB_DATA_DIGITS;
    n->spec.data.batch = 7;
    net_nodes(n, "fc1 dense units=6", "act gelu", "fc2 dense units=10");
    net_train(n, "softmax_cross_entropy",
              "adamw lr=0.01 weight_decay=0.1 schedule=cosine over=40 warmup=5 "
              "clip_norm=0.5");
}

static family_fn *const families[] = {mlp,  every_op,    cnn,
                                      lstm, transformer, scheduled};
enum { FAMILIES = sizeof(families) / sizeof(families[0]) };

/* false: this machine has no such backend. */
static bool open_net(struct net *n, family_fn *family, const char *backend)
{
    struct lab_backend *be = NULL;
    if (strcmp(backend, "late") == 0) {
        assert_ok(late_backend_open(&be));
    } else if (lab_backend_open(&be, backend, 0)) {
        print_message("%s\n", lab_error());
        /* A device that is there and cannot be used is a failure. */
        assert_int_not_equal(access("/dev/nvidia0", F_OK), 0);
        return false;
    }
    net_init(n);
    family(n);
    net_walk_on(n, be);
    return true;
}

static void iterate(struct net *n, int count)
{
    net_iterate(n, count);
}

static void same(struct net *a, struct net *b, const char *what)
{
    assert_ok(lab_walk_drain(a->walk));
    assert_ok(lab_walk_drain(b->walk));
    net_alike(a, what, b);
}

/* `a` at speed beside `b`, whose every step is queued by itself. */
static void both(struct net *a, struct net *b, int count, const char *what)
{
    iterate(a, count);
    iterate(b, count);
    same(a, b, what);
}

static void changed_in_between(family_fn *family, const char *backend)
{
    struct net a;
    struct net b;
    if (!open_net(&a, family, backend))
        skip();
    assert_true(open_net(&b, family, backend));
    lab_walk_use_graph(b.walk, false);
    both(&a, &b, 9, "after nine iterations");
    net_steps(&a, 2);
    net_steps(&b, 2);
    both(&a, &b, 3, "an iteration that began as a walk, and two more");
    assert_ok(lab_walk_back(a.walk, 5));
    assert_ok(lab_walk_back(b.walk, 5));
    both(&a, &b, 7, "gone back inside an iteration");
    int far = 4 * net_steps_of(&a);
    assert_ok(lab_walk_back(a.walk, far));
    assert_ok(lab_walk_back(b.walk, far));
    both(&a, &b, 6, "gone back over iterations");
    struct lab_variant_choice choice = {
        "dense", strcmp(backend, "cuda") == 0 ? "tiled" : "blas"};
    assert_ok(lab_walk_choose(a.walk, &choice, 1));
    assert_ok(lab_walk_choose(b.walk, &choice, 1));
    both(&a, &b, 5, "after a switch of variants");
    assert_ok(lab_walk_restart(a.walk));
    assert_ok(lab_walk_restart(b.walk));
    both(&a, &b, 5, "after a restart");
    net_free(&a);
    net_free(&b);
}

TEST_CASE(the_same_bits_as_step_by_step)
{
    for (int i = 0; i < FAMILIES; i++)
        changed_in_between(families[i], "late");
}

TEST_CASE(the_same_bits_on_the_gpu)
{
    for (int i = 0; i < FAMILIES; i++)
        changed_in_between(families[i], "cuda");
}

/* Beside walked iterations: at speed most are not observed, and their calls are made
 * once for a schedule. */
static void many_iterations(family_fn *family)
{
    struct net a;
    struct net b;
    assert_true(open_net(&a, family, "cpu"));
    assert_true(open_net(&b, family, "cpu"));
    for (int part = 0; part < 4; part++) {
        iterate(&a, 30);
        net_steps(&b, 30 * net_steps_of(&b));
        same(&a, &b, "thirty more");
        if (part == 0) {
            assert_ok(lab_walk_set_lr(a.walk, 0.003));
            assert_ok(lab_walk_set_lr(b.walk, 0.003));
        } else if (part == 1) {
            net_choose(&a, "dense", "blas");
            net_choose(&b, "dense", "blas");
        } else if (part == 2) {
            assert_ok(lab_walk_back(a.walk, 40 * net_steps_of(&a)));
            assert_ok(lab_walk_back(b.walk, 40 * net_steps_of(&b)));
        }
    }
    assert_ok(lab_walk_restart(a.walk));
    assert_ok(lab_walk_restart(b.walk));
    iterate(&a, 40);
    net_steps(&b, 40 * net_steps_of(&b));
    same(&a, &b, "after a restart");
    net_free(&a);
    net_free(&b);
}

TEST_CASE(the_same_bits_as_walked)
{
    for (int i = 0; i < FAMILIES; i++)
        many_iterations(families[i]);
}

/* Of some iterations that are not observed the steps are timed. */
NET_CASE(some_iterations_are_timed)
{
    enum { COUNT = 120 };
    struct lab_iteration_progress news;
    int timed = 0;
    assert_true(open_net(n, mlp, "cpu"));
    for (int i = 0; i < COUNT; i++) {
        iterate(n, 1);
        assert_true(lab_walk_poll(n->walk, &news));
        if (news.steps_ns < 0)
            continue;
        timed++;
        assert_false(lab_walk_samples(i));
        assert_true(news.readings_ns > 0);
        assert_true(news.steps_ns + news.readings_ns / 2 <=
                    news.end_ns - news.start_ns);
    }
    assert_in_range(timed, 5, COUNT / 7 + 1);
}

/* What the observers hear. */
struct heard {
    int64_t iterations[64];
    double losses[64];
    int n;
    int steps;
    int64_t last_end_ns;
};

static void hear_done(void *user, int64_t iteration, double loss,
                      int64_t start_ns, int64_t end_ns)
{
    struct heard *h = user;
    assert_true(start_ns >= h->last_end_ns && end_ns >= start_ns);
    h->last_end_ns = end_ns;
    h->iterations[h->n] = iteration;
    h->losses[h->n++] = loss;
}

static void hear_end(void *user, int64_t iteration, double loss)
{
    struct heard *h = user;
    h->iterations[h->n] = iteration;
    h->losses[h->n++] = loss;
}

static void hear_step(void *user, const struct lab_step_event *e)
{
    (void)e;
    ((struct heard *)user)->steps++;
}

/* `heard` hears of whole iterations or, without iteration_done, of their ends. */
static void hear_in_order(struct heard *heard, const struct lab_observer *o)
{
    enum { COUNT = 20 };
    struct net a;
    struct net b;
    struct lab_iteration_progress news;
    assert_true(open_net(&a, mlp, "late"));
    assert_true(open_net(&b, mlp, "cpu"));
    lab_walk_observe(a.walk, o);
    late_counts = (struct late_counts){0};
    iterate(&a, COUNT);
    assert_int_equal(late_counts.captures, 1);
    assert_int_equal(late_counts.launches, COUNT - 1); /* the first is walked */
    assert_int_equal(late_counts.most_waiting, LAB_GRAPH_AHEAD);
    /* fc2's and fc1's W and b, ln's gamma and beta in one call */
    assert_int_equal(late_counts.beside, 5);
    assert_true(isnan(lab_walk_loss(a.walk)));
    assert_int_equal(heard->n, COUNT - LAB_GRAPH_AHEAD);
    assert_ok(lab_walk_drain(a.walk));
    assert_int_equal(heard->n, COUNT);
    for (int i = 0; i < COUNT; i++) {
        iterate(&b, 1);
        assert_int_equal(heard->iterations[i], i);
        assert_true(heard->losses[i] == lab_walk_loss(b.walk));
        assert_true(lab_walk_poll(a.walk, &news));
        assert_int_equal(news.iteration, i);
        assert_true(news.loss == lab_walk_loss(b.walk));
    }
    assert_false(lab_walk_poll(a.walk, &news));
    assert_true(lab_walk_loss(a.walk) == lab_walk_loss(b.walk));
    net_free(&a);
    net_free(&b);
}

TEST_CASE(every_loss_is_reported_in_order)
{
    struct heard heard = {.n = 0};
    struct heard plain = {.n = 0};
    hear_in_order(&heard, &(struct lab_observer){.user = &heard,
                                                 .iteration_end = hear_end,
                                                 .iteration_done = hear_done});
    hear_in_order(&plain, &(struct lab_observer){.user = &plain,
                                                 .iteration_end = hear_end});
}

/* Who hears of steps hears of those of every sampled iteration. */
TEST_CASE(sampled_iterations_are_walked)
{
    enum { COUNT = 60 };
    struct net n;
    struct heard heard = {.n = 0};
    assert_true(open_net(&n, mlp, "late"));
    struct lab_observer o = {
        .user = &heard, .iteration_done = hear_done, .step_end = hear_step};
    lab_walk_observe(n.walk, &o);
    late_counts = (struct late_counts){0};
    iterate(&n, COUNT);
    assert_ok(lab_walk_drain(n.walk));
    int sampled = 0;
    for (int i = 0; i < COUNT; i++)
        sampled += lab_walk_samples(i);
    assert_true(sampled < COUNT);
    assert_int_equal(late_counts.launches, COUNT - sampled);
    assert_int_equal(heard.n, COUNT - sampled);
    assert_int_equal(heard.steps, sampled * net_steps_of(&n));
    net_free(&n);
}

TEST_CASE(what_cannot_be_captured_runs_step_by_step)
{
    struct net a;
    struct net b;
    assert_true(open_net(&a, mlp, "late"));
    assert_true(open_net(&b, mlp, "cpu"));
    late_counts = (struct late_counts){0};
    late_failures = 1;
    assert_null(lab_walk_graph_refused(a.walk));
    both(&a, &b, 6, "without a graph");
    assert_int_equal(late_counts.launches, 0);
    /* The reason is reported once. */
    const char *why = lab_walk_graph_refused(a.walk);
    assert_non_null(why);
    assert_string_equal(why, "no capture, on purpose");
    assert_null(lab_walk_graph_refused(a.walk));
    /* Another schedule gets another chance. */
    struct lab_variant_choice choice = {"dense", "blas"};
    assert_ok(lab_walk_choose(a.walk, &choice, 1));
    assert_ok(lab_walk_choose(b.walk, &choice, 1));
    both(&a, &b, 6, "with one");
    assert_int_equal(late_counts.captures, 1);
    net_free(&a);
    net_free(&b);
}

static void count_begin(void *user, int64_t iteration, int64_t start_ns)
{
    struct heard *h = user;
    (void)iteration;
    (void)start_ns;
    h->steps++;
}

static void count_end(void *user, int64_t iteration, double loss)
{
    struct heard *h = user;
    (void)iteration;
    (void)loss;
    h->n++;
}

static enum lab_status fail_run(struct lab_backend *be,
                                const struct lab_variant *v,
                                struct lab_call *call)
{
    (void)be;
    (void)v;
    (void)call;
    return lab_fail(LAB_E_INTERNAL, "no run, on purpose");
}

/* An iteration that failed in its first step is open, and goes on at speed. */
TEST_CASE(an_iteration_that_failed_begins_once)
{
    struct net n;
    struct heard heard = {.n = 0};
    assert_true(open_net(&n, mlp, "late"));
    struct lab_observer o = {.user = &heard,
                             .iteration_begin = count_begin,
                             .iteration_end = count_end};
    lab_walk_observe(n.walk, &o);
    late_failures = 1; /* it runs step by step */
    iterate(&n, 1);
    while (lab_walk_samples(lab_walk_iteration(n.walk) + 1))
        iterate(&n, 1);
    struct lab_backend *be = lab_walk_backend(n.walk);
    const struct lab_backend_ops *ops = be->ops;
    struct lab_backend_ops failing = *ops;
    failing.run = fail_run;
    be->ops = &failing;
    assert_int_equal(lab_walk_step(n.walk), LAB_E_INTERNAL);
    be->ops = ops;
    assert_int_equal(lab_walk_position(n.walk), 0);
    assert_int_equal(heard.steps, heard.n + 1);
    iterate(&n, 1);
    assert_int_equal(heard.steps, heard.n);
    net_free(&n);
}

struct nodes_heard {
    int64_t exec; /* of the graph that is open or was reported last */
    int graphs;
    int done;
    int walked;
    int unreported;
    bool open; /* unreported_begin, and no unreported_end */
};

static void hear_unreported(void *user)
{
    struct nodes_heard *h = user;
    assert_false(h->open);
    h->open = true;
    h->unreported++;
}

static void hear_unreported_end(void *user)
{
    struct nodes_heard *h = user;
    assert_true(h->open);
    h->open = false;
}

static void hear_walked_step(void *user, const struct lab_step_event *e)
{
    (void)e;
    ((struct nodes_heard *)user)->walked++;
}

static void hear_graph(void *user, const struct lab_graph_event *e)
{
    struct nodes_heard *h = user;
    assert_false(h->open);
    h->exec = e->exec;
    h->graphs++;
    assert_true(e->first_node == 1); /* late_backend.c */
    for (int i = 0; i < e->n_steps; i++)
        assert_true(e->node_end[i] == i + 2);
}

static void hear_node_step(void *user, const struct lab_step_event *e)
{
    struct nodes_heard *h = user;
    assert_true(e->exec == h->exec + e->index);
    assert_non_null(e->variant);
    h->done++;
}

/* With nodes asked for, recorded iterations are launched too, and their steps
 * are reported afterwards; the numbers stay. */
TEST_CASE(recorded_iterations_may_be_graphs)
{
    enum { COUNT = 40 };
    struct net a;
    struct net b;
    struct nodes_heard heard = {0};
    struct lab_observer o = {.user = &heard,
                             .step_begin = hear_walked_step,
                             .graph_begin = hear_graph,
                             .step_done = hear_node_step,
                             .unreported_begin = hear_unreported,
                             .unreported_end = hear_unreported_end};
    assert_true(open_net(&a, mlp, "late"));
    assert_true(open_net(&b, mlp, "cpu"));
    late_counts = (struct late_counts){0};
    lab_walk_graph_nodes(a.walk, true);
    lab_walk_observe(a.walk, &o);
    both(&a, &b, COUNT, "with nodes");
    int steps = net_steps_of(&a);
    int sampled = 0;
    for (int i = 0; i < COUNT; i++)
        sampled += lab_walk_samples(i);
    assert_int_equal(late_counts.launches, COUNT - 1); /* the first is walked */
    assert_int_equal(heard.walked, steps);
    assert_int_equal(heard.graphs, sampled - 1);
    assert_int_equal(heard.done, (sampled - 1) * steps);
    assert_int_equal(heard.unreported, COUNT - sampled);
    assert_false(heard.open);
    net_free(&a);
    net_free(&b);
}

/* A batch that was overwritten is not taken for the lesson's. */
TEST_CASE(data_that_was_changed_comes_back)
{
    struct net a;
    struct net b;
    assert_true(open_net(&a, every_op, "late"));
    assert_true(open_net(&b, every_op, "cpu"));
    both(&a, &b, 4, "one batch");
    net_put(&a, "x", 2, 0);
    net_put(&b, "x", 2, 0);
    both(&a, &b, 4, "the batch is sent again");
    net_free(&a);
    net_free(&b);
}

TEST_CASE(an_evaluation_in_between_changes_nothing)
{
    struct net a;
    struct net b;
    double accuracy;
    double loss;
    assert_true(open_net(&a, mlp, "late"));
    assert_true(open_net(&b, mlp, "cpu"));
    for (int i = 0; i < 4; i++) {
        iterate(&a, 5);
        assert_ok(lab_walk_evaluate(a.walk, &accuracy, &loss));
        iterate(&b, 5);
    }
    same(&a, &b, "with evaluations");
    net_free(&a);
    net_free(&b);
}

TEST_CASE(another_seed)
{
    struct net a;
    struct net b;
    assert_true(open_net(&a, mlp, "late"));
    assert_true(open_net(&b, mlp, "late"));
    lab_walk_use_graph(b.walk, false);
    both(&a, &b, 9, "before");
    struct net *all[] = {&a, &b};
    for (int i = 0; i < 2; i++) { /* as lab_session_restart() */
        all[i]->plan->seed = 99;
        lab_data_reseed(lab_walk_data(all[i]->walk), 99);
        assert_ok(lab_walk_restart(all[i]->walk));
    }
    both(&a, &b, 5, "after a restart with another seed");
    net_free(&a);
    net_free(&b);
}

RUN_TESTS()
