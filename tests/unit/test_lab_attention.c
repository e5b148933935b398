/* The labs' attention: the reference and the CPU's kernels against values that
 * one works out by hand, with and without the causal mask. */
#include "test.h"

#include "attention/operation.h"
#include "common/kernel.h"

extern const struct lab_operation lab_operation_attention;
extern const struct lab_operation lab_operation_attention_causal;

enum { B = 1, H = 2, T = 3, D = 2, COUNT = B * H * T * D };

static const int64_t dim[] = {B, H, T, D};

/* Head 0: no query prefers a key. Head 1: scores of query i are i + 1 times
 * those of the keys, ln 2, 0 and ln 4 after the division by sqrt(2). */
static void inputs(float *q, float *k, float *v)
{
    const double key[T] = {log(2), 0, log(4)};
    for (int i = 0; i < COUNT; i++) {
        int head = i / (T * D);
        int row = i / D % T;
        int col = i % D;
        q[i] = head == 1 && col == 0 ? (float)(row + 1) : 0;
        k[i] = col == 0 ? (float)(key[row] * sqrt(D)) : 7;
        v[i] = (float)(10 * head + row * row - 3 * col);
    }
}

/* The shares of head 1 are powers of 2, 1 and 4. */
static double expected(int i, bool causal)
{
    const double power[T] = {2, 1, 4};
    int head = i / (T * D);
    int row = i / D % T;
    double sum = 0;
    double value = 0;
    for (int j = 0; j < (causal ? row + 1 : T); j++) {
        double share = head == 1 ? pow(power[j], row + 1) : 1;
        sum += share;
        value += share * (10 * head + j * j - 3 * (i % D));
    }
    return value / sum;
}

static void both(const struct lab_operation *op, lab_kernel_fn *const *run,
                 bool causal)
{
    float q[COUNT];
    float k[COUNT];
    float v[COUNT];
    float o[COUNT];
    struct lab_bench_tensor tensor[LAB_BENCH_TENSORS];
    struct lab_view view[4];
    float *data[] = {q, k, v, o};
    inputs(q, k, v);
    assert_int_equal(op->tensors(dim, LAB_FP32, tensor), 4);
    for (int t = 0; t < 4; t++)
        view[t] =
            (struct lab_view){data[t], tensor[t].dtype, 4, {B, H, T, D}, COUNT};
    const void *const host[] = {q, k, v, NULL};
    struct lab_bench_numbers n = {
        .precision = LAB_FP32, .tensor = tensor, .host = host};
    struct lab_call call = {.in = view, .n_in = 3, .out = view + 3, .n_out = 1};
    for (int i = 0; i < COUNT; i++) {
        struct lab_ladder_element e = op->element(&n, dim, 0, i);
        assert_true(fabs(e.value - expected(i, causal)) < 1e-5);
        assert_true(e.allowed >= 0 && e.allowed < 1e-4);
    }
    for (int r = 0; r < 2; r++) {
        for (int i = 0; i < COUNT; i++)
            o[i] = NAN;
        assert_ok(run[r](&call));
        for (int i = 0; i < COUNT; i++)
            assert_true(fabs(o[i] - expected(i, causal)) < 1e-5);
    }
}

TEST_CASE(without_a_mask_all_keys_count)
{
    static lab_kernel_fn *const run[] = {lab_attention_cpu_naive,
                                         lab_attention_cpu_online};
    both(&lab_operation_attention, run, false);
}

TEST_CASE(with_the_mask_no_later_key_counts)
{
    static lab_kernel_fn *const run[] = {lab_attention_causal_cpu_naive,
                                         lab_attention_causal_cpu_online};
    both(&lab_operation_attention_causal, run, true);
}

TEST_CASE(the_mask_leaves_half_and_half_a_row)
{
    assert_true(lab_operation_attention.flop(dim) == 4.0 * B * H * T * T * D);
    assert_true(lab_operation_attention_causal.flop(dim) ==
                4.0 * B * H * D * (1 + 2 + 3));
}

/* Scores have to differ, or a wrong softmax would not be seen. */
TEST_CASE(queries_and_keys_have_variance_one)
{
    enum { N = 4096 };
    const int64_t large[] = {1, 1, N / 64, 64};
    static float x[2][N];
    const struct lab_bench_tensor t = {LAB_ROLE_IN, LAB_F32, 4, {1, 1, 64, 64}};
    for (int k = 0; k < 2; k++) {
        double sum = 0;
        double squares = 0;
        assert_true(lab_attention_fill(large, k, &t, 7, x[k]));
        for (int i = 0; i < N; i++) {
            sum += (double)x[k][i];
            squares += (double)x[k][i] * (double)x[k][i];
        }
        assert_true(fabs(sum / N) < 0.06);
        assert_true(fabs(squares / N - 1) < 0.06);
    }
    assert_true(x[0][5] != x[1][5]);
    assert_false(lab_attention_fill(large, 2, &t, 7, x[0]));
}

/* Numbers that a grid of 2^-24 does not hold: near 0 an fp32 has more bits. */
TEST_CASE(queries_and_keys_have_all_their_bits)
{
    enum { N = 4096 };
    const int64_t size[] = {1, 1, N / 64, 64};
    const struct lab_bench_tensor t = {LAB_ROLE_IN, LAB_F32, 4, {1, 1, 64, 64}};
    static float x[N];
    int small = 0;
    int apart = 0;
    assert_true(lab_attention_fill(size, 0, &t, 7, x));
    for (int i = 0; i < N; i++) {
        double steps = ldexp((double)x[i] / sqrt(12), 24);
        if (fabs(steps) > ldexp(0.05, 24))
            continue;
        small++;
        apart += fabs(steps - nearbyint(steps)) > 0.1;
    }
    assert_true(small > 100);
    assert_true(apart > small / 2);
}

/* cuBLAS's scores are written, read, written and read: four times 4 bytes. */
TEST_CASE(a_librarys_scores_are_its_own_bytes)
{
    const struct lab_operation *op = &lab_operation_attention;
    const double scores = (double)B * H * T * T;
    double bytes = op->library_traffic(dim, LAB_FP32, "cublas");
    assert_true(bytes == op->bytes(dim, LAB_FP32) + 16 * scores);
    assert_true(isnan(op->library_traffic(dim, LAB_BF16, "cudnn")));
    assert_true(lab_operation_attention_causal.library_traffic(
                    dim, LAB_FP32, "cublas") == bytes);
}

RUN_TESTS()
