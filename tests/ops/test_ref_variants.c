/* The CPU's faster kernels against the reference: odd shapes, empty ones,
 * large numbers, and NaN, which a debugger must not lose on the way. */
#include <pthread.h>

#include "test.h"

#include "activation/activation.h"
#include "dense/dense.h"
#include "base/parallel.h"
#include "ops/step_table.h"

static const enum rig_kind kinds[] = {RIG_VECTOR, RIG_BLAS, RIG_ONEDNN};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* Runs `c` with the kind and with the reference on the same numbers. */
static void run_both(enum rig_kind kind, const struct step_case *c,
                     const struct step_sizes *sizes, uint64_t seed,
                     struct rig **got, struct rig **ref)
{
    *got = rig_new(kind);
    *ref = rig_new(RIG_REF_F32);
    step_fill(*got, c, sizes, seed);
    step_fill(*ref, c, sizes, seed);
}

static void finish_both(const struct step_case *c,
                        const struct step_sizes *sizes, struct rig *got,
                        struct rig *ref, double tolerance)
{
    char what[160];
    step_describe(what, sizeof(what), c, sizes);
    step_run(got, c);
    step_run(ref, c);
    step_compare(what, c, got, ref, tolerance);
    rig_free(got);
    rig_free(ref);
}

static void skip_without(enum rig_kind kind)
{
#ifdef LAB_HAVE_ONEDNN
    if (!rig_available(kind))
        fail_msg("the module was built and does not open: %s", lab_error());
#else
    if (!rig_available(kind)) {
        print_message("%s is left out: %s\n", rig_name(kind), lab_error());
        skip();
    }
#endif
}

static void variants_match(enum rig_kind kind, int least)
{
    int found = 0;
    skip_without(kind);
    for (int i = 0; i < step_case_count; i++) {
        const struct step_case *c = &step_cases[i];
        if (!rig_has(kind, c->op, c->step, c->phase))
            continue;
        found++;
        for (int s = 0; s < step_size_count; s++) {
            struct rig *got;
            struct rig *ref;
            run_both(kind, c, &step_sizes[s], (uint64_t)(10 * i + s), &got,
                     &ref);
            finish_both(c, &step_sizes[s], got, ref, 1e-5);
        }
    }
    assert_true(found >= least); /* or nothing was compared */
}

TEST_CASE(vector_matches_the_reference)
{
    variants_match(RIG_VECTOR, 40);
}

/* Large enough for several parts, of lengths that no part divides. */
TEST_CASE(parts_match_the_reference)
{
    static const struct step_sizes large = {531, 197, 67};
    int compared = 0;
    for (int k = 0; k < N_KINDS; k++)
        for (int threads = 1; rig_available(kinds[k]) && threads <= 3;
             threads += 2)
            for (int i = 0; i < step_case_count; i++) {
                const struct step_case *c = &step_cases[i];
                struct rig *got;
                struct rig *ref;
                if (!rig_has(kinds[k], c->op, c->step, c->phase))
                    continue;
                lab_threads_set(threads);
                run_both(kinds[k], c, &large, (uint64_t)i, &got, &ref);
                finish_both(c, &large, got, ref, 1e-5);
                compared++;
            }
    assert_true(compared > 80);
}

TEST_CASE(blas_matches_the_reference)
{
    variants_match(RIG_BLAS, 15);
}

TEST_CASE(onednn_matches_the_reference)
{
    variants_match(RIG_ONEDNN, 10);
}

/* dense of no rows, no units, no inputs: the last is an empty sum, 0. */
TEST_CASE(empty_products)
{
    static const struct step_sizes none[] = {{0, 3, 2}, {2, 3, 0}, {2, 0, 3}};
    for (int k = 0; k < N_KINDS; k++) {
        if (!rig_available(kinds[k]))
            continue;
        for (int i = 0; i < step_case_count; i++) {
            const struct step_case *c = &step_cases[i];
            if (!rig_has(kinds[k], c->op, c->step, c->phase))
                continue;
            for (int s = 0; s < 3; s++) {
                struct rig *got;
                struct rig *ref;
                run_both(kinds[k], c, &none[s], 1, &got, &ref);
                finish_both(c, &none[s], got, ref, 1e-5);
            }
        }
    }
}

static void put_everywhere(struct rig *r, const char *name, double value)
{
    bool number = rig_view(r, name)->dtype != LAB_I32; /* an id is not NaN */
    for (int64_t i = 0; number && i < rig_size(r, name); i += 3)
        rig_put(r, name, i, value);
}

/* One NaN or infinity among the inputs reaches the same outputs. */
TEST_CASE(nan_and_inf_go_the_same_way)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY};
    static const struct step_sizes sizes = {5, 33, 17};
    for (int k = 0; k < N_KINDS; k++) {
        if (!rig_available(kinds[k]))
            continue;
        for (int i = 0; i < step_case_count; i++) {
            const struct step_case *c = &step_cases[i];
            if (!rig_has(kinds[k], c->op, c->step, c->phase) ||
                c->phase == LAB_BACKWARD)
                continue;
            char input[24];
            assert_int_equal(sscanf(c->ins, "%23[^: ]", input), 1);
            for (int j = 0; j < 3; j++) {
                struct rig *got;
                struct rig *ref;
                run_both(kinds[k], c, &sizes, 2, &got, &ref);
                put_everywhere(got, input, odd[j]);
                put_everywhere(ref, input, odd[j]);
                finish_both(c, &sizes, got, ref, 1e-5);
            }
        }
    }
}

/* The input of `c` that a network's numbers come in by; NULL without one. */
static const char *network_input(const struct step_case *c)
{
    char word[24];
    int used;
    for (const char *p = c->ins; sscanf(p, " %23s%n", word, &used) == 1;
         p += used) {
        if (strncmp(word, "x:", 2) == 0)
            return "x";
        if (strncmp(word, "z:", 2) == 0)
            return "z";
    }
    return NULL;
}

TEST_CASE(large_numbers_agree)
{
    static const double large[] = {50, -50, 100, -100, 1e4, -1e4};
    static const struct step_sizes sizes = {5, 33, 17};
    for (int k = 0; k < N_KINDS; k++) {
        if (!rig_available(kinds[k]))
            continue;
        for (int i = 0; i < step_case_count; i++) {
            const struct step_case *c = &step_cases[i];
            if (!rig_has(kinds[k], c->op, c->step, c->phase))
                continue;
            for (size_t j = 0; j < sizeof(large) / sizeof(large[0]); j++) {
                struct rig *got;
                struct rig *ref;
                run_both(kinds[k], c, &sizes, 2, &got, &ref);
                const char *input = network_input(c);
                if (input) {
                    put_everywhere(got, input, large[j]);
                    put_everywhere(ref, input, large[j]);
                }
                finish_both(c, &sizes, got, ref, 1e-5);
            }
        }
    }
}

struct group_case {
    enum lab_activation activation;
    const char *op;
    const void *params;
};

static const struct lab_leaky_relu_params leaky = {0.2};
static const struct lab_gelu_params gelu_tanh = {true};
static const struct lab_gelu_params gelu_erf = {false};
static const struct group_case groups[] = {
    {LAB_ACT_NONE, NULL, NULL},
    {LAB_ACT_RELU, "relu", NULL},
    {LAB_ACT_LEAKY_RELU, "leaky_relu", &leaky},
    {LAB_ACT_SIGMOID, "sigmoid", NULL},
    {LAB_ACT_TANH, "tanh", NULL},
    {LAB_ACT_GELU_TANH, "gelu", &gelu_tanh},
    {LAB_ACT_GELU_ERF, "gelu", &gelu_erf},
    {LAB_ACT_SOFTPLUS, "softplus", NULL},
    {LAB_ACT_SWISH, "swish", NULL},
};

static void check_group(const struct group_case *g,
                        const struct step_sizes *sizes, bool bias,
                        bool with_nan)
{
    const struct step_case shapes = {
        .op = "dense",
        .outs = "",
        .ins = "x:NK W:KM b:M xW:NM out:NM activated:NM"};
    const struct lab_dense_params params = {g->activation, 0.2};
    struct rig *got;
    struct rig *ref;
    run_both(RIG_ONEDNN, &shapes, sizes, 3, &got, &ref);
    if (with_nan) {
        rig_put(got, "x", 0, NAN);
        rig_put(ref, "x", 0, NAN);
    }
    rig_run(got, "dense", NULL, LAB_FORWARD, g->op ? "out activated" : "out -",
            bias ? "x W b" : "x W -", &params);
    rig_run(ref, "dense", "matmul", LAB_FORWARD, bias ? "xW" : "out", "x W",
            NULL);
    if (bias)
        rig_run(ref, "dense", "bias", LAB_FORWARD, "out", "xW b", NULL);
    rig_compare_rigs("group", got, ref, "out", 1e-5);
    if (g->op) {
        rig_run(ref, g->op, g->op, LAB_FORWARD, "activated", "out", g->params);
        rig_compare_rigs(g->op, got, ref, "activated", 1e-5);
    }
    rig_free(got);
    rig_free(ref);
}

TEST_CASE(onednn_group_is_matmul_bias_activation)
{
    skip_without(RIG_ONEDNN);
    assert_true(rig_has(RIG_ONEDNN, "dense", NULL, LAB_FORWARD));
    for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
        for (int s = 0; s < step_size_count; s++) {
            check_group(&groups[i], &step_sizes[s], true, s == 3);
            check_group(&groups[i], &step_sizes[s], false, false);
        }
    }
}

/* The same bits at every run, on any thread, while others are busy. */
struct worker {
    enum rig_kind kind;
    float out[65 * 17];
};

static void *multiply_again(void *arg)
{
    struct worker *w = arg;
    const struct step_sizes sizes = {65, 33, 17};
    for (int times = 0; times < 20; times++) {
        struct rig *r = rig_new(w->kind);
        step_fill(r, &step_cases[0], &sizes, 3);
        step_run(r, &step_cases[0]);
        memcpy(w->out, rig_view(r, "xW")->data, sizeof(w->out));
        rig_free(r);
    }
    return NULL;
}

TEST_CASE(threads_get_the_same_bits)
{
    for (int k = 0; k < N_KINDS; k++) {
        enum { THREADS = 4 };
        static struct worker workers[THREADS];
        pthread_t thread[THREADS];
        if (!rig_available(kinds[k]))
            continue;
        for (int t = 0; t < THREADS; t++) {
            workers[t].kind = kinds[k];
            assert_int_equal(
                pthread_create(&thread[t], NULL, multiply_again, &workers[t]),
                0);
        }
        for (int t = 0; t < THREADS; t++)
            pthread_join(thread[t], NULL);
        for (int t = 1; t < THREADS; t++)
            assert_memory_equal(workers[t].out, workers[0].out,
                                sizeof(workers[0].out));
    }
}

/* More shapes than oneDNN's primitives are kept for: the old ones go. */
TEST_CASE(many_shapes_take_turns)
{
    skip_without(RIG_ONEDNN);
    for (int round = 0; round < 2; round++) {
        for (int64_t n = 1; n <= 150; n++) {
            const struct step_sizes sizes = {n, 3, 2};
            struct rig *got;
            struct rig *ref;
            run_both(RIG_ONEDNN, &step_cases[0], &sizes, 2, &got, &ref);
            finish_both(&step_cases[0], &sizes, got, ref, 1e-5);
        }
    }
}

RUN_TESTS()
