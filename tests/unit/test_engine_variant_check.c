/* A variant that disagrees with the reference is withdrawn, whatever is wrong
 * with it; one that agrees is not. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "test.h"

#include "attention/attention.h"
#include "dense/dense.h"
#include "unit/join_op.h"
#include "backend/variant_disabled.h"

static int back_to_start(void **state)
{
    (void)state;
    lab_variant_withdraw(NULL);
    join_backend_add(NULL);
    return 0;
}

TEST_CASE_WITH(what_ships_is_never_withdrawn, back_to_start, back_to_start)
{
    struct lab_backend *be;
    struct lab_str report;
    lab_str_init(&report);
    assert_ok(lab_backend_open(&be, "cpu", 0));
    assert_ok(lab_backend_check(be, NULL, &report));
    assert_string_equal(lab_str_text(&report), "");
    int n;
    const struct lab_kernel_set *const *sets = be->ops->sets(be, LAB_F32, &n);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < sets[i]->count; k++)
            assert_false(lab_variant_disabled(&sets[i]->variants[k]));
    }
    lab_str_release(&report);
    lab_backend_close(be);
}

/* ---- wrong in one way each ---- */

static enum lab_status relu_leaks(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        y[i] = x[i] > 0 ? x[i] : 1e-3f * x[i];
    return LAB_OK;
}

static enum lab_status relu_forgets_the_last(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    for (int64_t i = 0; i + 1 < call->out[0].count; i++)
        y[i] = x[i] > 0 ? x[i] : 0;
    return LAB_OK;
}

static enum lab_status relu_refuses(const struct lab_call *call)
{
    (void)call;
    return lab_fail(LAB_E_DEVICE, "no such luck");
}

static enum lab_status relu_is_right(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        y[i] = x[i] > 0 ? x[i] : 0;
    return LAB_OK;
}

static enum lab_status relu_slope_is_half(const struct lab_call *call)
{
    const float *dy = call->in[0].data;
    float *dx = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        dx[i] = 0.5f * dy[i];
    return LAB_OK;
}

static const struct lab_variant relu_rows[] = {
    {.name = "leaks", .step = "relu", .phase = LAB_FORWARD, .run = relu_leaks},
    {.name = "forgets",
     .step = "relu",
     .phase = LAB_FORWARD,
     .run = relu_forgets_the_last},
    {.name = "refuses",
     .step = "relu",
     .phase = LAB_FORWARD,
     .run = relu_refuses},
    {.name = "right",
     .step = "relu",
     .phase = LAB_FORWARD,
     .run = relu_is_right},
    {.name = "right",
     .step = "relu",
     .phase = LAB_BACKWARD,
     .run = relu_slope_is_half},
};
static const struct lab_kernel_set relu_set = {"relu", relu_rows, 5};

/* ---- sizes that a variant may refuse ---- */

static int prepared;

static enum lab_status prepare_every_second(const struct lab_call *call)
{
    (void)call;
    if (++prepared % 2 == 0)
        return lab_fail(LAB_E_UNSUPPORTED, "not the even ones");
    return LAB_OK;
}

static enum lab_status prepare_nothing(const struct lab_call *call)
{
    (void)call;
    return lab_fail(LAB_E_UNSUPPORTED, "not on this device");
}

static enum lab_status prepare_breaks(const struct lab_call *call)
{
    (void)call;
    return lab_fail(LAB_E_DEVICE, "no luck");
}

static enum lab_status relu_when_prepared(const struct lab_call *call)
{
    if (prepared % 2 == 0)
        return lab_fail(LAB_E_INTERNAL, "runs what it has refused");
    return relu_is_right(call);
}

static const struct lab_variant selective_rows[] = {
    {.name = "selective",
     .step = "relu",
     .phase = LAB_FORWARD,
     .run = relu_when_prepared,
     .prepare = prepare_every_second},
    {.name = "never",
     .step = "relu",
     .phase = LAB_FORWARD,
     .run = relu_is_right,
     .prepare = prepare_nothing},
    {.name = "breaks",
     .step = "relu",
     .phase = LAB_FORWARD,
     .run = relu_is_right,
     .prepare = prepare_breaks},
};
static const struct lab_kernel_set selective_set = {"relu", selective_rows, 3};

/* Some sizes refused: still offered. All of them: not, and nothing is reported. Any
 * other failure is one. */
TEST_CASE_WITH(a_variant_may_refuse_sizes, back_to_start, back_to_start)
{
    struct lab_str report;
    prepared = 0;
    join_backend_add(&selective_set);
    struct lab_backend *be = join_backend();
    lab_str_init(&report);
    assert_ok(lab_backend_check(be, NULL, &report));
    assert_true(prepared > 1);
    assert_false(lab_variant_disabled(&selective_rows[0]));
    assert_true(lab_variant_disabled(&selective_rows[1]));
    assert_true(lab_variant_disabled(&selective_rows[2]));
    assert_null(strstr(lab_str_text(&report), "selective"));
    assert_null(strstr(lab_str_text(&report), "never"));
    assert_non_null(
        strstr(lab_str_text(&report), "variant breaks: failed (no luck)"));
    lab_str_release(&report);
    lab_backend_close(be);
}

static bool room;
static int asked;

static enum lab_status prepare_with_room(const struct lab_call *call)
{
    (void)call;
    asked++;
    return room ? LAB_OK : lab_fail(LAB_E_NOMEM, "no room");
}

static const struct lab_variant large_rows[] = {
    {.name = "large",
     .step = "relu",
     .phase = LAB_FORWARD,
     .run = relu_is_right,
     .prepare = prepare_with_room},
};
static const struct lab_kernel_set large_set = {"relu", large_rows, 1};

/* Without memory the check fails and withdraws nothing; the next one asks the
 * variant again. */
TEST_CASE_WITH(no_memory_is_no_verdict, back_to_start, back_to_start)
{
    struct lab_str report;
    room = false;
    join_backend_add(&large_set);
    struct lab_backend *be = join_backend();
    lab_str_init(&report);
    assert_int_equal(lab_backend_check(be, NULL, &report), LAB_E_NOMEM);
    assert_false(lab_variant_disabled(&large_rows[0]));
    assert_string_equal(lab_str_text(&report), "");
    room = true;
    asked = 0;
    assert_ok(lab_backend_check(be, NULL, &report));
    assert_true(asked > 0);
    assert_false(lab_variant_disabled(&large_rows[0]));
    lab_str_release(&report);
    lab_backend_close(be);
}

/* However many are wrong, or serve no shape here, all of them are withdrawn. */
TEST_CASE_WITH(any_number_is_withdrawn, back_to_start, back_to_start)
{
    enum { MANY = 700 };
    static struct lab_variant rows[MANY];
    static char names[MANY][16];
    const struct lab_kernel_set set = {"relu", rows, MANY};
    struct lab_str printed;
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i], sizeof(names[i]), "row%d", i);
        rows[i] = (struct lab_variant){
            .name = names[i],
            .step = "relu",
            .phase = LAB_FORWARD,
            .run = i % 2 ? relu_is_right : relu_forgets_the_last,
            .prepare = i % 2 ? prepare_nothing : NULL};
    }
    join_backend_add(&set);
    struct lab_backend *be = join_backend();
    lab_str_init(&printed);
    assert_ok(lab_backend_check(be, NULL, &printed));
    for (int i = 0; i < MANY; i++)
        assert_true(lab_variant_disabled(&rows[i]));
    assert_null(lab_backend_variant(be, LAB_F32, "relu", "relu", LAB_FORWARD,
                                    names[MANY - 1]));
    lab_str_release(&printed);
    lab_backend_close(be);
}

static const char *variant_of(struct net *n, const char *step)
{
    struct lab_schedule *s = lab_walk_schedule(n->walk);
    int i = lab_schedule_find(s, n->plan, step, LAB_FORWARD, 0);
    assert_true(i >= 0);
    return s->steps[i].variant->name;
}

/* A schedule prepares its steps; what is refused leaves the old one in place. */
TEST_CASE_WITH(a_schedule_is_refused_with_the_step, back_to_start,
               back_to_start)
{
    struct net n;
    const struct lab_variant_choice choice[] = {{"relu1", "never"},
                                                {"relu1", "selective"}};
    join_backend_add(&selective_set);
    net_init(&n);
    net_tensor(&n, "x 2,3", NULL);
    net_tensor(&n, "y 2,3", NULL);
    net_nodes(&n, "relu1 relu", "relu2 relu");
    net_train(&n, "mse", "sgd lr=0.1");
    net_walk_on(&n, join_backend());
    assert_int_equal(lab_walk_choose(n.walk, choice, 1), LAB_E_UNSUPPORTED);
    assert_true(error_is("[unsupported] step relu1"));
    assert_true(error_is("[unsupported] not on this device"));
    assert_string_equal(variant_of(&n, "relu1"), "naive");
    prepared = 0;
    assert_ok(lab_walk_choose(n.walk, choice + 1, 1));
    assert_int_equal(prepared, 1);
    /* Named by its op, a step that is not served runs as it did; a choice that
     * serves nothing at all is still an error. */
    const struct lab_variant_choice by_op[] = {{"*", "selective"},
                                               {"relu", "never"}};
    assert_int_equal(lab_walk_choose(n.walk, by_op + 1, 1), LAB_E_UNSUPPORTED);
    assert_true(error_is("[unsupported] not on this device"));
    prepared = 0;
    assert_ok(lab_walk_choose(n.walk, by_op, 1));
    assert_string_equal(variant_of(&n, "relu1"), "selective");
    assert_string_equal(variant_of(&n, "relu2"), "naive");
    net_free(&n);
}

TEST_CASE_WITH(wrong_steps_are_withdrawn, back_to_start, back_to_start)
{
    struct lab_str report;
    join_backend_add(&relu_set);
    struct lab_backend *be = join_backend();
    lab_str_init(&report);
    assert_ok(lab_backend_check(be, NULL, &report));
    const bool want[] = {true, true, true, false, true};
    for (int i = 0; i < 5; i++)
        assert_int_equal(lab_variant_disabled(&relu_rows[i]), want[i]);
    static const char *const words[] = {
        "relu relu forward, variant leaks: is ",
        "relu relu forward, variant forgets: is ",
        "relu relu forward, variant refuses: failed (no such luck)",
        "relu relu backward, variant right: is "};
    int lines = 0;
    for (int i = 0; i < 4; i++)
        assert_non_null(strstr(lab_str_text(&report), words[i]));
    for (const char *p = lab_str_text(&report); *p; p++)
        lines += *p == '\n';
    assert_int_equal(lines, 4);
    /* Not offered again, by name or in a list. */
    assert_null(
        lab_backend_variant(be, LAB_F32, "relu", "relu", LAB_FORWARD, "leaks"));
    assert_non_null(
        lab_backend_variant(be, LAB_F32, "relu", "relu", LAB_FORWARD, "right"));
    const char *names[16];
    int n = lab_backend_variant_names(be, LAB_F32, "relu", names, 16);
    for (int i = 0; i < n; i++) {
        assert_string_not_equal(names[i], "leaks");
        assert_string_not_equal(names[i], "forgets");
    }
    /* Once a process: nothing more is reported. */
    lab_str_clear(&report);
    assert_ok(lab_backend_check(be, NULL, &report));
    assert_string_equal(lab_str_text(&report), "");
    lab_str_release(&report);
    lab_backend_close(be);
}

static void plan_of(struct net *n, const char *middle)
{
    net_init(n);
    net_tensor(n, "x 2,3", NULL);
    net_tensor(n, "y 2,3", NULL);
    net_nodes(n, middle, "fc1 dense units=3");
    net_train(n, "mse", "sgd lr=0.1");
    net_walk_on(n, join_backend());
}

/* A walk waits for the ops of its plan only; another plan's are judged when it comes,
 * in the same way. */
TEST_CASE_WITH(only_the_ops_of_a_plan_are_judged, back_to_start, back_to_start)
{
    struct net without;
    struct net with;
    struct lab_str report;
    lab_str_init(&report);
    join_backend_add(&relu_set);
    struct lab_backend *be = join_backend();
    plan_of(&without, "act1 tanh");
    plan_of(&with, "act1 relu");
    assert_ok(lab_backend_check(be, without.plan, &report));
    assert_string_equal(lab_str_text(&report), "");
    for (int i = 0; i < 5; i++)
        assert_false(lab_variant_disabled(&relu_rows[i]));
    const bool want[] = {true, true, true, false, true};
    assert_ok(lab_backend_check(be, with.plan, &report));
    for (int i = 0; i < 5; i++)
        assert_int_equal(lab_variant_disabled(&relu_rows[i]), want[i]);
    assert_non_null(
        strstr(lab_str_text(&report), "relu relu forward, variant leaks: is "));
    /* Once a process, an op, whichever plan asks; the rest when all are asked for. */
    lab_str_clear(&report);
    assert_ok(lab_backend_check(be, with.plan, &report));
    assert_ok(lab_backend_check(be, NULL, &report));
    assert_string_equal(lab_str_text(&report), "");
    lab_str_release(&report);
    net_free(&without);
    net_free(&with);
    lab_backend_close(be);
}

/* An op with no network of its own is judged in those of others: the gradients that
 * grad_sum adds up, and images that flatten reads. */
static enum lab_status sum_zeroes(const struct lab_call *call)
{
    memset(call->out[0].data, 0, (size_t)call->out[0].count * sizeof(float));
    return LAB_OK;
}

/* Wrong for images only, which the chain of dense layers has not. */
static enum lab_status flatten_zeroes(const struct lab_call *call)
{
    size_t bytes = (size_t)call->out[0].count * sizeof(float);
    if (call->out[0].rank == 4)
        return sum_zeroes(call);
    memcpy(call->out[0].data, call->in[0].data, bytes);
    return LAB_OK;
}

static const struct lab_variant flatten_rows[] = {{.name = "zeroes",
                                                   .step = "flatten",
                                                   .phase = LAB_BACKWARD,
                                                   .run = flatten_zeroes}};
static const struct lab_kernel_set flatten_set = {"flatten", flatten_rows, 1};
static const struct lab_variant sum_rows[] = {{.name = "zeroes",
                                               .step = "sum",
                                               .phase = LAB_BACKWARD,
                                               .run = sum_zeroes}};
static const struct lab_kernel_set sum_set = {"grad_sum", sum_rows, 1};

TEST_CASE_WITH(ops_without_a_network_are_judged, back_to_start, back_to_start)
{
    const struct lab_kernel_set *const sets[] = {&flatten_set, &sum_set};
    for (int i = 0; i < 2; i++) {
        struct net n;
        struct lab_str report;
        lab_str_init(&report);
        back_to_start(NULL);
        join_backend_add(sets[i]);
        struct lab_backend *be = join_backend();
        net_init(&n);
        net_tensor(&n, "x 2,3", NULL);
        net_tensor(&n, "y 2,3", NULL);
        net_nodes(&n, "flat1 flatten", "fc0 dense units=3", "fc1 dense units=3",
                  "fc2 dense units=3 from=fc0", "add1 add from=fc1,fc2");
        net_train(&n, "mse", "sgd lr=0.1");
        net_walk_on(&n, join_backend());
        assert_ok(lab_backend_check(be, n.plan, &report));
        assert_true(lab_variant_disabled(&sets[i]->variants[0]));
        lab_str_release(&report);
        net_free(&n);
        lab_backend_close(be);
    }
}

/* A group: right without an activation, wrong for one of them. */
static enum lab_status group(const struct lab_call *call, bool with_tanh)
{
    const struct lab_dense_params *p = call->params;
    const float *x = call->in[0].data;
    const float *W = call->in[1].data;
    const float *b = call->in[2].data;
    float *out = call->out[0].data;
    float *act = call->out[1].data;
    int64_t K = lab_view_cols(&call->in[0]);
    int64_t M = lab_view_cols(&call->in[1]);
    for (int64_t i = 0; i < call->out[0].count; i++) {
        double z = b ? (double)b[i % M] : 0;
        for (int64_t k = 0; k < K; k++)
            z += (double)x[i / M * K + k] * (double)W[k * M + i % M];
        out[i] = (float)z;
        if (!act)
            continue;
        double a = z > 0 ? z : 0;
        if (p->activation == LAB_ACT_LEAKY_RELU)
            a = z > 0 ? z : p->slope * z;
        else if (p->activation == LAB_ACT_SIGMOID)
            a = 1 / (1 + exp(-z));
        else if (p->activation == LAB_ACT_TANH)
            a = with_tanh ? tanh(z) : z;
        else if (p->activation == LAB_ACT_GELU_TANH)
            a = 0.5 * z *
                (1 + tanh(0.7978845608028654 * (z + 0.044715 * z * z * z)));
        else if (p->activation == LAB_ACT_GELU_ERF)
            a = 0.5 * z * erfc(-z / sqrt(2.0));
        else if (p->activation == LAB_ACT_SOFTPLUS)
            a = log1p(exp(z));
        else if (p->activation == LAB_ACT_SWISH)
            a = z / (1 + exp(-z));
        act[i] = (float)a;
    }
    return LAB_OK;
}

static enum lab_status group_right(const struct lab_call *call)
{
    return group(call, true);
}

static enum lab_status group_without_tanh(const struct lab_call *call)
{
    return group(call, false);
}

static const struct lab_variant group_rows[] = {
    {.name = "whole",
     .phase = LAB_FORWARD,
     .run = group_right,
     .absorbs_activation = true},
    {.name = "holed",
     .phase = LAB_FORWARD,
     .run = group_without_tanh,
     .absorbs_activation = true},
};
static const struct lab_kernel_set group_set = {"dense", group_rows, 2};

TEST_CASE_WITH(wrong_groups_are_withdrawn, back_to_start, back_to_start)
{
    struct lab_str report;
    join_backend_add(&group_set);
    struct lab_backend *be = join_backend();
    lab_str_init(&report);
    assert_ok(lab_backend_check(be, NULL, &report));
    if (lab_variant_disabled(&group_rows[0]))
        fail_msg("%s", lab_str_text(&report));
    assert_true(lab_variant_disabled(&group_rows[1]));
    assert_non_null(
        strstr(lab_str_text(&report), "dense (group) forward, variant holed"));
    lab_str_release(&report);
    lab_backend_close(be);
}

/* A group that cannot take the activation in is called without one. */
static enum lab_status group_alone(const struct lab_call *call)
{
    if (call->out[1].data)
        return lab_fail(LAB_E_ARG, "takes no activation");
    return group(call, true);
}

static const struct lab_variant alone_rows[] = {
    {.name = "alone", .phase = LAB_FORWARD, .run = group_alone}};
static const struct lab_kernel_set alone_set = {"dense", alone_rows, 1};

TEST_CASE_WITH(a_group_without_activations_stays, back_to_start, back_to_start)
{
    struct lab_str report;
    join_backend_add(&alone_set);
    struct lab_backend *be = join_backend();
    lab_str_init(&report);
    assert_ok(lab_backend_check(be, NULL, &report));
    if (lab_variant_disabled(&alone_rows[0]))
        fail_msg("%s", lab_str_text(&report));
    lab_str_release(&report);
    lab_backend_close(be);
}

/* Attention in one, and right, but it knows of no mask. */
static enum lab_status attend_at_once(const struct lab_call *call)
{
    const struct lab_attention_params *p = call->params;
    const struct lab_view *in = call->in;
    struct lab_attention_dims d =
        lab_attention_sizes(&in[0], &in[1], &in[2], p->heads);
    for (int64_t row = 0; row < d.N * d.Tq; row++) {
        const float *q = (const float *)in[0].data + row * d.E;
        float *out = (float *)call->out[0].data + row * d.F;
        double total = 0;
        double mix[17] = {0};
        for (int64_t j = 0; j < d.Tk; j++) {
            int64_t at = row / d.Tq * d.Tk + j;
            double score = 0;
            if (p->causal && j > row % d.Tq)
                break;
            for (int64_t e = 0; e < d.E; e++)
                score +=
                    (double)q[e] * ((const float *)in[1].data)[at * d.E + e];
            score = exp(score / sqrt((double)d.E));
            total += score;
            for (int64_t f = 0; f < d.F; f++)
                mix[f] += score * ((const float *)in[2].data)[at * d.F + f];
        }
        for (int64_t f = 0; f < d.F; f++)
            out[f] = (float)(mix[f] / total);
    }
    return LAB_OK;
}

static const struct lab_variant attend_rows[] = {
    {.name = "whole", .phase = LAB_FORWARD, .run = attend_at_once}};
static const struct lab_kernel_set attend_set = {"scaled_dot_attention",
                                                 attend_rows, 1};

TEST_CASE_WITH(a_group_is_not_judged_where_it_does_not_serve, back_to_start,
               back_to_start)
{
    struct lab_str report;
    join_backend_add(&attend_set);
    struct lab_backend *be = join_backend();
    lab_str_init(&report);
    assert_ok(lab_backend_check(be, NULL, &report));
    if (lab_variant_disabled(&attend_rows[0]))
        fail_msg("%s", lab_str_text(&report));
    lab_str_release(&report);
    lab_backend_close(be);
}

TEST_CASE_WITH(the_null_backend_is_not_judged, back_to_start, back_to_start)
{
    struct lab_backend *be;
    struct lab_str report;
    lab_str_init(&report);
    assert_ok(lab_backend_open(&be, "null", 0));
    assert_ok(lab_backend_check(be, NULL, &report));
    assert_string_equal(lab_str_text(&report), "");
    assert_non_null(
        lab_backend_variant(be, LAB_F32, "relu", "relu", LAB_FORWARD, NULL));
    lab_backend_close(be);
    lab_str_release(&report);
}

static atomic_int check_ended;

static void *check_too(void *user)
{
    int *ended_before = user;
    uint64_t ops = 2;
    bool mine = lab_variant_check_begin(&lab_backend_null, &ops);
    *ended_before = atomic_load(&check_ended);
    if (mine)
        lab_variant_check_end(&lab_backend_null, ops);
    return mine ? user : NULL;
}

/* Two threads that open one backend: the second waits for the first's check,
 * and checks itself only when that one was not whole. */
TEST_CASE_WITH(a_check_in_progress_is_waited_for, back_to_start, back_to_start)
{
    for (int whole = 0; whole < 2; whole++) {
        const struct timespec moment = {.tv_nsec = 20000000};
        pthread_t thread;
        void *checked = NULL;
        int ended_before = -1;
        uint64_t ops = 3;
        lab_variant_withdraw(NULL);
        atomic_store(&check_ended, 0);
        assert_true(lab_variant_check_begin(&lab_backend_null, &ops));
        assert_int_equal(ops, 3);
        assert_int_equal(
            pthread_create(&thread, NULL, check_too, &ended_before), 0);
        nanosleep(&moment, NULL);
        atomic_store(&check_ended, 1);
        lab_variant_check_end(&lab_backend_null, whole ? ops : 0);
        assert_int_equal(pthread_join(thread, &checked), 0);
        assert_int_equal(ended_before, 1);
        assert_int_equal(checked == NULL, whole);
    }
}

/* A variant that refused the shapes of a check that failed may serve those that the
 * check did not reach: nothing of it counts at the end of the next check, of other ops. */
TEST_CASE_WITH(a_failed_check_withdraws_nothing_later, back_to_start,
               back_to_start)
{
    static const struct lab_variant refused = {.name = "refused"};
    static const struct lab_variant other = {.name = "other"};
    uint64_t ops = 1;
    lab_variant_withdraw(NULL);
    assert_true(lab_variant_check_begin(&lab_backend_null, &ops));
    lab_variant_tally(&refused, false);
    lab_variant_check_end(&lab_backend_null, 0);
    ops = 2;
    assert_true(lab_variant_check_begin(&lab_backend_null, &ops));
    lab_variant_tally(&other, false);
    lab_variant_check_end(&lab_backend_null, ops);
    assert_false(lab_variant_disabled(&refused));
    assert_true(lab_variant_disabled(&other));
}

RUN_TESTS()
