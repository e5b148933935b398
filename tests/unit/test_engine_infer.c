/* Networks for inference: which layers fusing leaves, that the fused network in fp32
 * gives the scores of the engine, that INT8 is near them, that a network pruned by
 * 2:4 gives the scores of the same weights, dense; and what is refused. */
#include "test.h"

#include "base/mem.h"
#include "engine/infer.h"
#include "unit/net.h"

enum { ROWS = 3, CLASSES = 5 };

static void describe(struct net *n, bool nhwc, const char *x,
                     const char *const *nodes)
{
    net_init(n);
    n->spec.layout = nhwc ? LAB_NHWC : LAB_NCHW;
    net_tensor(n, x, NULL);
    net_labels(n, "y 3", CLASSES);
    net_nodes_of(n, nodes);
    net_train(n, "softmax_cross_entropy", "sgd lr=0.1");
}

/* Everything that is served: a norm to fold, two branches to join, a sum, and a
 * permuted flatten in nhwc. */
static const char *const nchw_nodes[] = {
    "a conv2d filters=4 kernel=3,2 stride=1 padding=same bias=false",
    "an batch_norm",
    "ar relu",
    "b conv2d filters=4 kernel=1,1 from=ar",
    "bt tanh",
    "c conv2d filters=4 kernel=1,1 from=ar",
    "ct tanh",
    "s add from=bt,ct",
    "g conv2d filters=6 kernel=3,3 dilation=2 groups=2 padding=same",
    "ge elu alpha=0.5",
    "p max_pool2d size=2,2",
    "f flatten",
    "d dropout p=0.5",
    "fc dense units=5",
    NULL};
static const char *const nhwc_nodes[] = {
    "a conv2d filters=4 kernel=3,3 padding=1",
    "ar leaky_relu",
    "p avg_pool2d size=3,2 stride=2 padding=same",
    "f flatten order=channel_first",
    "fc1 dense units=7",
    "n1 batch_norm",
    "g gelu approximate=erf",
    "fc dense units=5",
    NULL};

static const struct {
    bool nhwc;
    const char *x;
    const char *const *nodes;
    int idle, folded, vertical, horizontal, left;
} networks[] = {
    /* b and c are computed as one; their sum comes behind functions: it stays */
    {false, "x 3,3,6,5", nchw_nodes, 2, 1, 4, 1, 7},
    {true, "x 3,6,5,3", nhwc_nodes, 0, 1, 2, 0, 6},
};

/* Some iterations, so that running statistics are no longer 0 and 1. */
static struct lab_infer *infer_of(struct net *n)
{
    struct lab_infer *f = NULL;
    net_walk(n, "cpu");
    for (int i = 0; i < 5; i++)
        assert_int_equal(lab_walk_iterate(n->walk), LAB_OK);
    assert_int_equal(lab_infer_new(&f, n->walk), LAB_OK);
    return f;
}

static void scores_of_engine(struct net *n, const float *x, float *out)
{
    const struct lab_walk_input in = {n->plan->x, x};
    assert_int_equal(lab_walk_forward(n->walk, &in, 1, n->plan->out, out),
                     LAB_OK);
}

static void read_x(struct net *n, float *x)
{
    assert_int_equal(lab_walk_read(n->walk, n->plan->x, false, x), LAB_OK);
}

/* The largest difference of all rows, over the largest score of its row. */
static double worst(struct lab_infer *f, enum lab_infer_form form,
                    const float *x, int64_t width, const float *want)
{
    double most = 0;
    for (int r = 0; r < ROWS; r++) {
        const float *got;
        int64_t classes;
        assert_int_equal(lab_infer_row(f, form, x + r * width, &got, &classes),
                         LAB_OK);
        assert_int_equal(classes, CLASSES);
        double off = lab_infer_difference(want + r * CLASSES, got, CLASSES);
        assert_false(isnan(off));
        most = fmax(most, off);
    }
    return most;
}

TEST_CASE(layers_that_are_left)
{
    for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++) {
        struct net n;
        struct lab_fused f;
        describe(&n, networks[i].nhwc, networks[i].x, networks[i].nodes);
        assert_int_equal(net_build(&n), LAB_OK);
        assert_int_equal(lab_fuse(&f, n.plan), LAB_OK);
        assert_int_equal(f.idle, networks[i].idle);
        assert_int_equal(f.folded, networks[i].folded);
        assert_int_equal(f.vertical, networks[i].vertical);
        assert_int_equal(f.horizontal, networks[i].horizontal);
        assert_int_equal(f.left, networks[i].left);
        lab_fused_release(&f);
        net_free(&n);
    }
}

TEST_CASE(branches_of_one_input_are_joined)
{
    static const char *const nodes[] = {
        "a conv2d filters=2 kernel=1,1",
        "ar relu",
        "b conv2d filters=3 kernel=1,1 from=x",
        "br relu",
        "c conv2d filters=2 kernel=3,3 padding=same from=x",
        "cr relu",
        "e conv2d filters=2 kernel=1,1 from=x",
        "et tanh",
        "j concat from=ar,br,cr,et",
        "f flatten",
        "fc dense units=5",
        NULL};
    struct net n;
    struct lab_fused f;
    describe(&n, false, "x 3,2,4,4", nodes);
    assert_int_equal(net_build(&n), LAB_OK);
    assert_int_equal(lab_fuse(&f, n.plan), LAB_OK);
    assert_int_equal(f.horizontal, 1); /* not another window, nor another
                                          function */
    assert_int_equal(f.joined, 1);
    assert_int_equal(f.left, 5); /* a|b, c, e, fc, softmax */
    const char *const joined[][2] = {{"a", "ar"}, {"b", "br"}};
    for (int i = 0, k = 0; i < 2; i++, k = f.layers[k].next) {
        const struct lab_fused_layer *l = &f.layers[k];
        assert_string_equal(n.plan->nodes[l->node].id, joined[i][0]);
        assert_string_equal(n.plan->nodes[l->activation].id, joined[i][1]);
        assert_true(l->norm < 0 && l->sum < 0 && (l->next < 0) == (i == 1));
    }
    lab_fused_release(&f);
    net_free(&n);
}

TEST_CASE(fused_scores_are_those_of_the_engine)
{
    for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++) {
        struct net n;
        float x[ROWS * 90];
        float want[ROWS * CLASSES];
        describe(&n, networks[i].nhwc, networks[i].x, networks[i].nodes);
        struct lab_infer *f = infer_of(&n);
        read_x(&n, x);
        scores_of_engine(&n, x, want);
        assert_true(worst(f, LAB_INFER_FP32, x, 90, want) < 1e-5);
        const float *scores;
        int64_t classes;
        assert_int_equal(lab_infer_row(f, LAB_INFER_INT8, x, &scores, &classes),
                         LAB_E_STATE);
        assert_int_equal(lab_infer_calibrate(f, x, 0), LAB_E_USAGE);
        assert_int_equal(lab_infer_calibrate(f, x, ROWS), LAB_OK);
        double off = worst(f, LAB_INFER_INT8, x, 90, want);
        assert_true(off > 0 && off < 0.1);
        lab_infer_free(f);
        net_free(&n);
    }
}

/* A plain product in place of a GPU's; calls are counted. */
static enum lab_status plain_product(void *user, const struct lab_gemm_int8 *g)
{
    ++*(int *)user;
    for (int64_t i = 0; i < g->M * g->N; i++) {
        int32_t sum = 0;
        for (int64_t k = 0; k < 4 * g->words; k++)
            sum +=
                lab_int8_of(g->a[i / g->N * g->words + k / 4], (int)(k % 4)) *
                lab_int8_of(g->w[i % g->N * g->words + k / 4], (int)(k % 4));
        g->c[i] = (float)sum * g->scale[i % g->N];
    }
    return LAB_OK;
}

static enum lab_status no_product(void *user, const struct lab_gemm_int8 *g)
{
    (void)user;
    (void)g;
    return lab_fail(LAB_E_DEVICE, "gone");
}

/* Convolutions, groups of filters, branches that are joined, dense layers. */
TEST_CASE(int8_elsewhere_gives_the_same_scores)
{
    for (size_t i = 0; i < sizeof(networks) / sizeof(networks[0]); i++) {
        struct net n;
        float x[ROWS * 90];
        float here[ROWS * CLASSES];
        int calls = 0;
        const float *got;
        int64_t classes;
        describe(&n, networks[i].nhwc, networks[i].x, networks[i].nodes);
        struct lab_infer *f = infer_of(&n);
        read_x(&n, x);
        assert_int_equal(lab_infer_calibrate(f, x, ROWS), LAB_OK);
        for (int r = 0; r < ROWS; r++) {
            assert_int_equal(
                lab_infer_row(f, LAB_INFER_INT8, x + r * 90, &got, &classes),
                LAB_OK);
            memcpy(here + r * CLASSES, got, CLASSES * sizeof(*got));
        }
        lab_infer_int8_by(f, plain_product, &calls);
        assert_true(worst(f, LAB_INFER_INT8, x, 90, here) < 1e-5);
        assert_true(calls >= ROWS * 3);
        lab_infer_int8_by(f, no_product, NULL);
        assert_int_equal(lab_infer_row(f, LAB_INFER_INT8, x, &got, &classes),
                         LAB_E_DEVICE);
        lab_infer_int8_by(f, NULL, NULL);
        assert_true(worst(f, LAB_INFER_INT8, x, 90, here) < 1e-9);
        lab_infer_free(f);
        net_free(&n);
    }
}

/* Zeros written into the engine's weights give the scores of the compressed ones. */
TEST_CASE(two_of_four)
{
    struct net n;
    float x[ROWS * 90];
    float want[ROWS * CLASSES];
    int pruned = 0;
    describe(&n, false, networks[0].x, nchw_nodes);
    struct lab_infer *f = infer_of(&n);
    for (int t = 0; t < n.plan->n_tensors; t++) {
        const struct lab_tensor *p = &n.plan->tensors[t];
        if (p->role != LAB_TENSOR_PARAM)
            continue;
        float *v = lab_alloc_array((size_t)p->count, sizeof(*v));
        unsigned char *mask = lab_alloc((size_t)p->count);
        assert_int_equal(lab_walk_read(n.walk, t, false, v), LAB_OK);
        if (lab_infer_depth(n.plan, t) >= 4) {
            int64_t kept = 0;
            assert_int_equal(lab_infer_prune(f, t, v, mask), LAB_OK);
            for (int64_t k = 0; k < p->count; k++) {
                kept += mask[k];
                assert_true(mask[k] || v[k] == 0);
            }
            assert_true(2 * kept >= p->count);
            assert_true(kept < p->count);
            assert_int_equal(lab_walk_write(n.walk, t, v), LAB_OK);
            pruned++;
        }
        lab_free(v);
        lab_free(mask);
    }
    assert_int_equal(pruned, 5);
    read_x(&n, x);
    scores_of_engine(&n, x, want);
    assert_true(worst(f, LAB_INFER_SPARSE, x, 90, want) < 1e-5);
    assert_true(worst(f, LAB_INFER_FP32, x, 90, want) > 1e-3);
    lab_infer_free(f);
    net_free(&n);
}

static const char *const one_dense[] = {"fc dense units=5", NULL};

/* Weight k of the first filter. */
enum { FILTER = CLASSES };

/* Before calibration. */
TEST_CASE(the_two_largest_of_four_are_kept)
{
    static const double W[] = {1, -4, 3, 2, 0, 0, 0, 0};
    static const unsigned char want[] = {0, 1, 1, 0, 1, 1, 0, 0};
    struct net n;
    unsigned char mask[8 * FILTER];
    float values[8 * FILTER] = {0};
    describe(&n, false, "x 3,8", one_dense);
    struct lab_infer *f = infer_of(&n);
    int t = lab_plan_tensor(n.plan, "fc.W");
    for (int i = 0; i < 8; i++)
        values[i * FILTER] = (float)W[i];
    assert_int_equal(lab_infer_prune(f, t, values, mask), LAB_OK);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(mask[i * FILTER], want[i]);
        assert_true(values[i * FILTER] == (float)(want[i] ? W[i] : 0));
    }
    assert_int_equal(
        lab_infer_prune(f, lab_plan_tensor(n.plan, "fc.b"), values, mask),
        LAB_E_RANGE);
    assert_true(error_is("[network.not-pruned] fc.b"));
    lab_infer_free(f);
    net_free(&n);
}

/* Without memory nothing is pruned, and that is reported: a mask of zeros would be taken
 * for one that keeps no weight. */
TEST_CASE(pruning_without_memory_fails)
{
    static const float W[] = {1, -4, 3, 2, 5, 6, -7, 8};
    struct net n;
    unsigned char mask[8 * FILTER] = {0};
    float values[8 * FILTER] = {0};
    describe(&n, false, "x 3,8", one_dense);
    struct lab_infer *f = infer_of(&n);
    int t = lab_plan_tensor(n.plan, "fc.W");
    for (int i = 0; i < 8; i++)
        values[i * FILTER] = W[i];
    lab_mem_fail_from(INT64_MAX);
    assert_int_equal(lab_infer_prune(f, t, values, mask), LAB_OK);
    int64_t tried = lab_mem_count();
    assert_true(tried >= 2);
    for (int i = 0; i < 8; i++)
        values[i * FILTER] = W[i];
    for (int64_t nth = 1; nth <= tried; nth++) {
        lab_mem_fail_from(nth);
        enum lab_status st = lab_infer_prune(f, t, values, mask);
        lab_mem_fail_from(0);
        assert_int_equal(st, LAB_E_NOMEM);
        for (int i = 0; i < 8; i++)
            assert_true(values[i * FILTER] == W[i]);
    }
    lab_infer_free(f);
    net_free(&n);
}

/* The first input is three times the second: what is lost with the one, the other takes
 * over. A weight of a small input costs less than a smaller one of a large input. */
TEST_CASE(what_is_kept_makes_up_for_what_is_lost)
{
    enum { SEEN = 64 };
    static const float W[] = {2.5F, 1, 3, 2.8F};
    struct net n;
    unsigned char mask[4 * FILTER];
    float values[4 * FILTER] = {0};
    unsigned char kept[4];
    float x[SEEN * 4];
    double plain = 0;
    double pruned = 0;
    describe(&n, false, "x 3,4", one_dense);
    struct lab_infer *f = infer_of(&n);
    for (int i = 0; i < SEEN; i++) {
        x[4 * i] = 3 * (float)(i % 7);
        x[4 * i + 1] = (float)(i % 7);
        x[4 * i + 2] = (float)(i % 5) / 10;
        x[4 * i + 3] = (float)(i % 3);
    }
    for (int k = 0; k < 4; k++)
        values[k * FILTER] = W[k];
    assert_int_equal(lab_infer_calibrate(f, x, SEEN), LAB_OK);
    assert_int_equal(
        lab_infer_prune(f, lab_plan_tensor(n.plan, "fc.W"), values, mask),
        LAB_OK);
    for (int k = 0; k < 4; k++)
        kept[k] = mask[k * FILTER];
    assert_int_equal(kept[0] + kept[1] + kept[2] + kept[3], 2);
    assert_true(kept[0]); /* by magnitude 3 and 2.8 stay */
    for (int i = 0; i < SEEN; i++) {
        double want = 0;
        double by_mask = 0;
        double now = 0;
        for (int k = 0; k < 4; k++) {
            want += (double)W[k] * x[4 * i + k];
            by_mask += kept[k] ? (double)W[k] * x[4 * i + k] : 0;
            now += (double)values[k * FILTER] * x[4 * i + k];
        }
        plain += (by_mask - want) * (by_mask - want);
        pruned += (now - want) * (now - want);
    }
    assert_true(pruned < .8 * plain);
    lab_infer_free(f);
    net_free(&n);
}

TEST_CASE(what_is_not_served_is_named)
{
    static const char *const nodes[] = {"ln layer_norm", "fc dense units=5",
                                        NULL};
    struct net n;
    struct lab_infer *f = NULL;
    describe(&n, false, "x 3,7", nodes);
    net_walk(&n, "cpu");
    assert_int_equal(lab_infer_new(&f, n.walk), LAB_E_UNSUPPORTED);
    assert_true(error_is("[network.inference-op] ln (layer_norm)"));
    net_free(&n);
}

/* What it joins would be written in place, which inference does not do. */
TEST_CASE(a_concat_is_named)
{
    static const char *const nodes[] = {"a conv2d filters=2 kernel=1,1",
                                        "b conv2d filters=3 kernel=1,1 from=x",
                                        "j concat from=a,b",
                                        "f flatten",
                                        "fc dense units=5",
                                        NULL};
    struct net n;
    struct lab_infer *f = NULL;
    describe(&n, false, "x 3,2,4,4", nodes);
    net_walk(&n, "cpu");
    assert_int_equal(lab_infer_new(&f, n.walk), LAB_E_UNSUPPORTED);
    assert_true(error_is("[network.inference-op] j (concat)"));
    net_free(&n);
}

/* 140,000 products of 127 and 127 are more than 32 bits hold. */
TEST_CASE(int8_sums_many_products)
{
    enum { WIDE = 140000 };
    static const char *const nodes[] = {"fc dense units=5", NULL};
    struct net n;
    struct lab_infer *f = NULL;
    const float *got;
    int64_t classes;
    float *ones = lab_alloc_array((size_t)WIDE * CLASSES, sizeof(*ones));
    for (int i = 0; i < WIDE * CLASSES; i++)
        ones[i] = 1;
    describe(&n, false, "x 3,140000", nodes);
    net_walk(&n, "cpu");
    assert_int_equal(
        lab_walk_write(n.walk, lab_plan_tensor(n.plan, "fc.W"), ones), LAB_OK);
    assert_int_equal(lab_infer_new(&f, n.walk), LAB_OK);
    assert_int_equal(lab_infer_calibrate(f, ones, 1), LAB_OK);
    assert_int_equal(lab_infer_row(f, LAB_INFER_INT8, ones, &got, &classes),
                     LAB_OK);
    for (int c = 0; c < CLASSES; c++)
        assert_true(fabs(got[c] - WIDE) < 1);
    lab_infer_int8_by(f, no_product, NULL);
    assert_int_equal(lab_infer_row(f, LAB_INFER_INT8, ones, &got, &classes),
                     LAB_E_RANGE);
    lab_infer_free(f);
    net_free(&n);
    lab_free(ones);
}

static struct lab_infer *infer_dense(struct net *n, const char *x,
                                     const float *W)
{
    static const char *const nodes[] = {"fc dense units=5", NULL};
    struct lab_infer *f = NULL;
    describe(n, false, x, nodes);
    net_walk(n, "cpu");
    assert_int_equal(
        lab_walk_write(n->walk, lab_plan_tensor(n->plan, "fc.W"), W), LAB_OK);
    assert_int_equal(lab_infer_new(&f, n->walk), LAB_OK);
    return f;
}

/* Sixteenths from 0 to 1, or from -1/4: a step of the largest over 127 misses most of
 * them, the best one none. Weights are whole already. */
TEST_CASE(int8_finds_a_step_that_holds_all_numbers)
{
    enum { K = 16 };
    float W[K * CLASSES];
    float x[ROWS * K];
    float want[ROWS * CLASSES];
    for (int i = 0; i < K * CLASSES; i++)
        W[i] = (float)(i < CLASSES ? 127 : 37 * i % 255 - 127);
    for (int low = 0; low < 2; low++) {
        struct net n;
        for (int i = 0; i < ROWS * K; i++)
            x[i] = (float)(i % (17 + 4 * low) - 4 * low) / 16;
        struct lab_infer *f = infer_dense(&n, "x 3,16", W);
        scores_of_engine(&n, x, want);
        assert_int_equal(lab_infer_calibrate(f, x, ROWS), LAB_OK);
        assert_true(worst(f, LAB_INFER_INT8, x, K, want) < 1e-5);
        lab_infer_free(f);
        net_free(&n);
    }
}

/* Of many numbers and one that is far out, the many have the step; and what was never
 * anything but 0, or was infinite, has one that does no harm. */
TEST_CASE(int8_steps_of_odd_numbers)
{
    enum { K = 64 };
    static const float odd[] = {0, 1, INFINITY};
    float W[K * CLASSES];
    float x[ROWS * K];
    float want[ROWS * CLASSES];
    for (int i = 0; i < K * CLASSES; i++)
        W[i] = (float)(i < CLASSES ? 127 : 37 * i % 255 - 127);
    for (int i = 0; i < ROWS * K; i++)
        x[i] = (float)(29 * i % 97) / 97;
    x[5] = 1.25F;
    struct net n;
    struct lab_infer *f = infer_dense(&n, "x 3,64", W);
    scores_of_engine(&n, x, want);
    assert_int_equal(lab_infer_calibrate(f, x, ROWS), LAB_OK);
    double off = worst(f, LAB_INFER_INT8, x, K, want);
    assert_true(off > 0 && off < 0.01);
    for (int i = 0; i < 3; i++) {
        const float *got;
        int64_t classes;
        float same[K];
        for (int k = 0; k < K; k++)
            same[k] = odd[i];
        assert_int_equal(lab_infer_calibrate(f, same, 1), LAB_OK);
        assert_int_equal(lab_infer_row(f, LAB_INFER_INT8, same, &got, &classes),
                         LAB_OK);
        for (int c = 0; c < CLASSES; c++)
            assert_true(i == 2 ? isnan(got[c]) : isfinite(got[c]));
    }
    lab_infer_free(f);
    net_free(&n);
}

/* Numbers from -1 to -0.6, around which a convolution puts zeros: these are 0 in 8 bits,
 * too, though a finer step without them holds all that the layer reads. */
TEST_CASE(int8_holds_the_zeros_of_padding)
{
    static const char *const nodes[] = {
        "c conv2d filters=4 kernel=3,3 padding=same bias=false", "f flatten",
        "fc dense units=5", NULL};
    enum { WIDTH = 2 * 4 * 4 };
    struct net n;
    struct lab_infer *f = NULL;
    float x[ROWS * WIDTH];
    float want[ROWS * CLASSES];
    for (int i = 0; i < ROWS * WIDTH; i++) {
        const float part = (float)(29 * i % 97) / 96;
        x[i] = -0.6F - 0.4F * part * part;
    }
    describe(&n, false, "x 3,2,4,4", nodes);
    net_walk(&n, "cpu");
    assert_ok(lab_infer_new(&f, n.walk));
    scores_of_engine(&n, x, want);
    assert_ok(lab_infer_calibrate(f, x, ROWS));
    double off = worst(f, LAB_INFER_INT8, x, WIDTH, want);
    print_message("off by %.4f of the largest score\n", off);
    assert_true(off < 0.04);
    lab_infer_free(f);
    net_free(&n);
}

/* A NaN that the network reads reaches its scores in every form. */
TEST_CASE(nan_is_not_hidden)
{
    static const char *const nodes[] = {"p max_pool2d size=2,2", "f flatten",
                                        "fc dense units=5", NULL};
    static const float numbers[] = {1, 2};
    static const float unknown[] = {1, NAN};
    struct net n;
    struct lab_infer *f = NULL;
    float x[32];
    float broken[32];
    describe(&n, false, "x 3,2,4,4", nodes);
    net_walk(&n, "cpu");
    for (int i = 0; i < 32; i++)
        x[i] = broken[i] = (float)i;
    broken[0] = NAN;
    assert_int_equal(lab_infer_new(&f, n.walk), LAB_OK);
    assert_int_equal(lab_infer_calibrate(f, x, 1), LAB_OK);
    for (int form = 0; form < LAB_INFER_SPARSE; form++) {
        const float *got;
        int64_t classes;
        assert_int_equal(
            lab_infer_row(f, (enum lab_infer_form)form, broken, &got, &classes),
            LAB_OK);
        for (int c = 0; c < CLASSES; c++)
            assert_true(isnan(got[c]));
    }
    int calls = 0;
    const float *got;
    int64_t classes;
    lab_infer_int8_by(f, plain_product, &calls);
    assert_int_equal(lab_infer_row(f, LAB_INFER_INT8, broken, &got, &classes),
                     LAB_OK);
    assert_true(isnan(got[0]) && calls > 0);
    assert_true(isnan(lab_infer_difference(numbers, unknown, 2)));
    assert_true(isnan(lab_infer_difference(unknown, numbers, 2)));
    assert_float_equal(lab_infer_difference(numbers, numbers, 2), 0, 0);
    lab_infer_free(f);
    net_free(&n);
}

RUN_TESTS()
