/* The product in compiler vectors against one in double: odd sides, both orders of
 * both factors, sums, scales, parts of larger matrices, threads. And attention in
 * bands, and its way back in one step, against the reference. */
#include "test.h"

#include <math.h>
#include <stdlib.h>

#include "attention/attention.h"
#include "base/parallel.h"
#include "cpu/product.h"
#include "ops/kernel_rig.h"

enum { MOST = 520, GAP = 3 };
enum { FAR = 1024 - GAP }; /* rows a page apart */
static float a_room[MOST * MOST];
static float b_room[MOST * MOST];
static float c_room[MOST * MOST];

struct sides {
    int64_t rows;
    int64_t cols;
    int64_t inner;
};

static void fill(float *room, unsigned seed)
{
    for (int i = 0; i < MOST * MOST; i++)
        room[i] =
            (float)((seed = seed * 1103515245 + 12345) >> 16 & 255) / 256 -
            0.5f;
}

static struct lab_matrix matrix(float *room, int64_t rows, int64_t cols,
                                bool flip)
{
    return (struct lab_matrix){room + GAP, (flip ? rows : cols) + GAP, flip};
}

static double at(const struct lab_matrix *m, int64_t row, int64_t col)
{
    return (double)m->data[m->flip ? col * m->ld + row : row * m->ld + col];
}

/* beta 0: with and without a bias. */
static void check(const struct sides *s, bool flip_a, bool flip_b, float beta)
{
    static const float bias[MOST] = {1, -2, 3, -4, 5, -6, 7, -8, 9, -10};
    bool biased = beta == 0 && (s->cols & 1) == 0;
    struct lab_matrix a = matrix(a_room, s->rows, s->inner, flip_a);
    struct lab_matrix b = matrix(b_room, s->inner, s->cols, flip_b);
    struct lab_matrix c = matrix(c_room, s->rows, s->cols, false);
    static float before[MOST * MOST];
    fill(a_room, 1);
    fill(b_room, 2);
    fill(c_room, 3);
    memcpy(before, c_room, sizeof(before));
    if (beta == 0) /* what is overwritten is not read */
        for (int64_t r = 0; r < s->rows; r++)
            for (int64_t k = 0; k < s->cols; k++)
                c.data[r * c.ld + k] = NAN;
    c.bias = biased ? bias : NULL;
    lab_vector_multiply(c, a, b, s->rows, s->cols, s->inner, 0.75f, beta);
    for (int64_t i = 0; i < MOST * MOST; i++) {
        int64_t row = (i - GAP) / c.ld;
        int64_t col = (i - GAP) % c.ld;
        double want = (double)before[i];
        if (i >= GAP && row < s->rows && col < s->cols) {
            want = want * (double)beta + (biased ? (double)bias[col] : 0);
            for (int64_t p = 0; p < s->inner; p++)
                want += 0.75 * at(&a, row, p) * at(&b, p, col);
        }
        if (!(fabs((double)c_room[i] - want) <= 2e-5))
            fail_msg("%lld x %lld x %lld, %d %d, beta %g: [%lld,%lld] is %g, "
                     "not %g",
                     (long long)s->rows, (long long)s->cols,
                     (long long)s->inner, flip_a, flip_b, (double)beta,
                     (long long)row, (long long)col, (double)c_room[i], want);
    }
}

TEST_CASE(every_side_and_order)
{
    static const struct sides sides[] = {
        {1, 1, 1},      {6, 16, 8},
        {7, 17, 9},     {5, 3, 300},
        {16, 64, 33},   {48, 32, 20},
        {16, 258, 70},  {100, 32, 30},
        {97, 257, 257}, /* one more than a block, of each side */
        {3, 100, 0},    {100, 10, 5},
        {200, 270, 30}, {0, 4, 4},
        {13, 31, 50},   {24, 48, 7},
        {14, 100, FAR}, {31, 45, FAR}, /* of threads that share the sum */
        {380, 16, 380}};               /* of threads that share the rows */
    for (int turn = 0; turn < 4; turn++) {
        lab_threads_set(turn & 1 ? 3 : 1);
        lab_vector_lanes_set(turn & 2 ? 16 : 8);
        for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++)
            for (int k = 0; k < 8; k++)
                check(&sides[i], k & 1, k & 2, k & 4 ? 1 : 0);
    }
    lab_threads_set(1);
}

/* `inner` sums. Threads begin and end within a row, and in rows that lie apart. */
TEST_CASE(sums_are_added_once_in_their_order)
{
    static const struct sides sides[] = {
        {1, 40000, 2}, {3, 13001, 2}, {700, 37, 2}, {5, 9, 3}};
    static float want[MOST * MOST];
    lab_threads_set(3);
    for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
        const struct sides *s = &sides[i];
        struct lab_matrix c = matrix(c_room, s->rows, s->cols, false);
        fill(b_room, 2);
        fill(c_room, 3);
        for (int k = 0; k < MOST * MOST;
             k++) /* the order is in the last bits */
            b_room[k] *= 0.37f;
        memcpy(want, c_room, sizeof(want));
        for (int64_t k = 0; k < s->inner * s->rows * s->cols; k++) {
            int64_t at = k % (s->rows * s->cols);
            want[GAP + at / s->cols * c.ld + at % s->cols] += b_room[k];
        }
        lab_sums_add(c, b_room, s->inner, s->rows, s->cols);
        assert_memory_equal(want, c_room, sizeof(want));
    }
    lab_threads_set(1);
}

static void of_a_head(const void *arg, int64_t from, int64_t to)
{
    const struct sides *s = arg;
    for (int64_t i = from; i < to; i++)
        lab_vector_multiply((struct lab_matrix){c_room + i * MOST, s->cols},
                            (struct lab_matrix){a_room, s->rows, true},
                            (struct lab_matrix){b_room, s->cols}, s->rows,
                            s->cols, s->inner, 1, 0);
}

/* As of heads of attention: its sum is not cut for threads that have other heads. */
TEST_CASE(a_product_within_a_part_is_that_of_one_thread)
{
    enum { HEADS = 8 };
    static const struct sides s = {22, 23, 1500};
    static float one[MOST * MOST];
    fill(a_room, 1);
    fill(b_room, 2);
    for (int i = 0; i < MOST * MOST; i++) /* sums are rounded */
        a_room[i] *= 0.37f;
    lab_threads_set(1);
    lab_parallel(HEADS, 1, of_a_head, &s);
    memcpy(one, c_room, sizeof(one));
    lab_threads_set(3);
    lab_parallel(HEADS, 1, of_a_head, &s);
    assert_memory_equal(one, c_room, HEADS * MOST * sizeof(*one));
    of_a_head(&s, 0, 1); /* alone its sum is cut: other bits */
    assert_memory_not_equal(one, c_room,
                            (size_t)(s.rows * s.cols) * sizeof(*one));
    lab_threads_set(1);
}

/* A machine with longer vectors trains to the same weights. */
TEST_CASE(longer_vectors_give_the_same_bits)
{
    static const struct sides s = {61, 143, 301};
    static float eight[MOST * MOST];
    fill(a_room, 1);
    fill(b_room, 2);
    for (int lanes = 8; lanes <= 16; lanes += 8) {
        lab_vector_lanes_set(lanes);
        if (lab_vector_lanes() != lanes)
            skip(); /* this processor has none */
        lab_vector_multiply((struct lab_matrix){c_room, s.cols},
                            (struct lab_matrix){a_room, s.inner},
                            (struct lab_matrix){b_room, s.cols}, s.rows, s.cols,
                            s.inner, 1, 0);
        if (lanes == 8)
            memcpy(eight, c_room, sizeof(eight));
    }
    assert_memory_equal(eight, c_room,
                        (size_t)(s.rows * s.cols) * sizeof(*eight));
}

/* More steps than a band has rows; the hidden shares are 0, as softmax leaves
 * them. */
TEST_CASE(attention_in_bands)
{
    static const struct lab_attention_params causal = {.heads = 2,
                                                       .causal = true};
    static const struct {
        const char *step;
        enum lab_phase phase;
        const char *outs;
        const char *ins;
        const char *compare[2];
    } steps[] = {
        {"softmax", LAB_FORWARD, "probs", "scores", {"probs"}},
        {"context", LAB_FORWARD, "ctx", "probs v", {"ctx"}},
        {"context",
         LAB_BACKWARD,
         "dprobs dv",
         "dctx probs v",
         {"dprobs", "dv"}},
        {"softmax", LAB_BACKWARD, "dscores", "dprobs probs", {"dscores"}},
        {"scores", LAB_BACKWARD, "dq dk", "dscores q k", {"dq", "dk"}}};
    enum { T = 75 };
    const int64_t rows[] = {2, T, 6};
    const int64_t square[] = {2, 2, T, T};
    static const enum rig_kind kinds[] = {RIG_VECTOR, RIG_BLAS};
    for (int k = 0; k < 2; k++) {
        struct rig *got = rig_new(kinds[k]);
        struct rig *ref = rig_new(RIG_REF_F32);
        struct rig *both[] = {got, ref};
        for (int i = 0; i < 2; i++) {
            static const char *const wide[] = {"q",    "k",  "v",  "ctx",
                                               "dctx", "dq", "dk", "dv"};
            static const char *const squares[] = {"scores", "probs", "dprobs",
                                                  "dscores"};
            for (int n = 0; n < 8; n++) {
                rig_add(both[i], wide[n], 3, rows);
                rig_random(both[i], wide[n], 5 + (unsigned)n, -1, 1);
            }
            for (int n = 0; n < 4; n++)
                rig_add(both[i], squares[n], 4, square);
            rig_random(both[i], "scores", 4, -2, 2);
        }
        for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
            for (int i = 0; i < 2; i++)
                rig_run(both[i], "attention", steps[s].step, steps[s].phase,
                        steps[s].outs, steps[s].ins, &causal);
            for (int n = 0; n < 2 && steps[s].compare[n]; n++)
                rig_compare_rigs(rig_name(kinds[k]), got, ref,
                                 steps[s].compare[n], 1e-5);
        }
        rig_free(got);
        rig_free(ref);
    }
}

/* Several tiles of queries and keys, the last in part, heads wider than what is turned,
 * causality with other sides, too. A gradient that is not wanted changes none of the
 * others. */
TEST_CASE(attention_in_one_step_each_way)
{
    static const struct {
        int64_t Tq;
        int64_t Tk;
        int64_t E; /* of two heads */
        int64_t F;
        bool causal;
    } cases[] = {{150, 150, 64, 64, true}, {150, 150, 10, 6, true},
                 {40, 300, 64, 34, false}, {33, 33, 2, 64, false},
                 {1, 1, 6, 2, true},       {131, 131, 262, 264, true},
                 {40, 131, 10, 6, true},   {131, 40, 10, 6, true}};
    static const char *const outs[] = {"dq dk dv", "- dk dv", "dq - dv",
                                       "- - dv", "dq dk -"};
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        const struct lab_attention_params params = {.heads = 2,
                                                    .causal = cases[c].causal};
        const int64_t q[] = {2, cases[c].Tq, cases[c].E};
        const int64_t k[] = {2, cases[c].Tk, cases[c].E};
        const int64_t v[] = {2, cases[c].Tk, cases[c].F};
        const int64_t ctx[] = {2, cases[c].Tq, cases[c].F};
        const int64_t square[] = {2, 2, cases[c].Tq, cases[c].Tk};
        const struct {
            const char *name;
            const int64_t *dim;
            int rank;
        } tensors[] = {{"q", q, 3},           {"k", k, 3},
                       {"v", v, 3},           {"dctx", ctx, 3},
                       {"ctx", ctx, 3},       {"dq", q, 3},
                       {"dk", k, 3},          {"dv", v, 3},
                       {"scores", square, 4}, {"probs", square, 4},
                       {"dprobs", square, 4}, {"dscores", square, 4}};
        struct rig *both[] = {rig_new(RIG_VECTOR), rig_new(RIG_REF_F32)};
        for (int i = 0; i < 2; i++) {
            struct rig *r = both[i];
            for (size_t n = 0; n < sizeof(tensors) / sizeof(tensors[0]); n++) {
                rig_add(r, tensors[n].name, tensors[n].rank, tensors[n].dim);
                if (n < 4)
                    rig_random(r, tensors[n].name, 5 + n, -1, 1);
            }
        }
        struct rig *got = both[0];
        struct rig *ref = both[1];
        rig_run(got, "attention", NULL, LAB_FORWARD, "ctx probs", "q k v",
                &params);
        rig_run(ref, "attention", "scores", LAB_FORWARD, "scores", "q k",
                &params);
        rig_run(ref, "attention", "softmax", LAB_FORWARD, "probs", "scores",
                &params);
        rig_run(ref, "attention", "context", LAB_FORWARD, "ctx", "probs v",
                &params);
        rig_compare_rigs("forward", got, ref, "ctx", 1e-5);
        rig_compare_rigs("forward", got, ref, "probs", 1e-5);
        rig_run(ref, "attention", "context", LAB_BACKWARD, "dprobs dv",
                "dctx probs v", &params);
        rig_run(ref, "attention", "softmax", LAB_BACKWARD, "dscores",
                "dprobs probs", &params);
        rig_run(ref, "attention", "scores", LAB_BACKWARD, "dq dk",
                "dscores q k", &params);
        for (size_t o = 0; o < sizeof(outs) / sizeof(outs[0]); o++) {
            rig_run(got, "attention", NULL, LAB_BACKWARD, outs[o],
                    "dctx q k v ctx probs", &params);
            for (int n = 5; n < 8; n++) {
                if (strstr(outs[o], tensors[n].name))
                    rig_compare_rigs(outs[o], got, ref, tensors[n].name, 1e-5);
            }
        }
        rig_free(got);
        rig_free(ref);
    }
}

RUN_TESTS()
