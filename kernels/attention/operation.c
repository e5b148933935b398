/* kernels/attention/operation.c -- the operations attention and attention_causal:
 * sizes, costs, and the reference in double. dim is B, H, T, D. */
#include <math.h>
#include <string.h>

#include "attention/operation.h"
#include "common/kernel.h"

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    for (int k = 0; k < 4; k++)
        out[k] = (struct lab_bench_tensor){k < 3 ? LAB_ROLE_IN : LAB_ROLE_OUT,
                                           lab_bench_dtype(p),
                                           4,
                                           {dim[0], dim[1], dim[2], dim[3]}};
    return 4;
}

/* Numbers of each of the four tensors. */
static double numbers_of(const int64_t *dim)
{
    return (double)dim[0] * (double)dim[1] * (double)dim[2] * (double)dim[3];
}

static double flop(const int64_t *dim)
{
    return 4 * numbers_of(dim) * (double)dim[2];
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    return 4 * (double)lab_dtype_bytes(lab_bench_dtype(p)) * numbers_of(dim);
}

/* tile_m queries a block: K and V are read again for each block. With tile_n
 * the scores stand in memory: made by tiles (Q and K read for each), read three
 * times and written by the softmax, read with V for each tile of the result. */
static double traffic(const int64_t *dim, enum lab_precision p,
                      const struct lab_kernel_model *model)
{
    double each = (double)lab_dtype_bytes(lab_bench_dtype(p));
    double numbers = numbers_of(dim);
    double T = (double)dim[2];
    double scores = numbers / (double)dim[3] * T;
    if (model->tile_m == 0)
        return model->traffic > 0 ? model->traffic * bytes(dim, p) : NAN;
    double tiles = ceil(T / model->tile_m);
    if (model->tile_n == 0)
        return each * numbers * (2 + 2 * tiles);
    return each * numbers * (1 + 3 * tiles) +
           4 * scores * (5 + ceil((double)dim[3] / model->tile_n));
}

/* cublas.cu: the scores are written by a product, read and written by the
 * softmax, read by the second product. cuDNN's attention keeps them on the chip.
 */
static double library_traffic(const int64_t *dim, enum lab_precision p,
                              const char *variant)
{
    double scores = numbers_of(dim) / (double)dim[3] * (double)dim[2];
    return strcmp(variant, "cublas") == 0 ? bytes(dim, p) + 4 * 4 * scores
                                          : (double)NAN;
}

/* The softmax of a row so far, undivided, and what errors are judged by. */
struct row {
    double top;
    double sum;     /* of the shares */
    double value;   /* of share times v */
    double size;    /* of share times |v| */
    double squares; /* of (share times v)^2 */
    double largest; /* of the scores' sums of squares */
};

static void add_key(struct row *r, double score, double v)
{
    if (score > r->top) {
        double shrink = exp(r->top - score);
        r->top = score;
        r->sum *= shrink;
        r->value *= shrink;
        r->size *= shrink;
        r->squares *= shrink * shrink;
    }
    double share = exp(score - r->top);
    r->sum += share;
    r->value += share * v;
    r->size += share * fabs(v);
    r->squares += share * v * share * v;
}

/* Errors of fp32: of a score (a sum of D terms), of 2^x of up to some tens, of
 * sums of T terms, as random walks; an order above what one gets. With 16 bits
 * every share is rounded, and the result. */
static double allowed(const struct row *r, const int64_t *dim,
                      enum lab_dtype dtype)
{
    double u = ldexp(1, -24);
    double D = (double)dim[3];
    double size = r->size / r->sum;
    double walk = sqrt(r->squares) / r->sum;
    double e = u * size * (16 + 2 * sqrt(D * r->largest) / sqrt(D)) +
               16 * u * sqrt((double)dim[2]) * walk;
    if (dtype == LAB_F32)
        return e;
    u = ldexp(1, dtype == LAB_BFLOAT16 ? -8 : -11);
    return e + u * (8 * walk + fabs(r->value / r->sum)) + ldexp(1, -25);
}

static struct lab_ladder_element element_of(const struct lab_bench_numbers *n,
                                            const int64_t *dim, int64_t i,
                                            bool causal)
{
    enum { Q, K, V, O };
    int64_t T = dim[2];
    int64_t D = dim[3];
    int64_t query = i / D;
    int64_t key = query / T * T; /* the head's first */
    int64_t keys = causal ? query % T + 1 : T;
    struct row r = {.top = -HUGE_VAL};
    for (int64_t j = key; j < key + keys; j++) {
        double score = 0;
        double squares = 0;
        for (int64_t e = 0; e < D; e++) {
            double term = lab_bench_number(n, Q, query * D + e) *
                          lab_bench_number(n, K, j * D + e);
            score += term;
            squares += term * term;
        }
        r.largest = fmax(r.largest, squares);
        add_key(&r, score / sqrt((double)D),
                lab_bench_number(n, V, j * D + i % D));
    }
    return (struct lab_ladder_element){r.value / r.sum,
                                       allowed(&r, dim, n->tensor[O].dtype)};
}

/* Q and K have variance 1, so that scores have it too and softmax is neither
 * flat nor a single key's; V is random as usual. A prime number of different
 * numbers, over and over. */
bool lab_attention_fill(const int64_t *dim, int k,
                        const struct lab_bench_tensor *tensor, uint64_t seed,
                        void *host)
{
    enum { PERIOD = 1048573 };
    int64_t count = dim[0] * dim[1] * dim[2] * dim[3];
    int64_t own = count < PERIOD ? count : PERIOD;
    if (k > 1)
        return false;
    for (int64_t i = 0; i < own; i++) {
        double v = lab_bench_random(seed, 0, 11 + (uint32_t)k, i);
        lab_number_put(host, tensor->dtype, i, v * sqrt(12));
    }
    lab_bench_repeat(host, own, count, lab_dtype_bytes(tensor->dtype));
    return true;
}

/* One query; fewer and more than a tile; heads narrower than a tile; rows that
 * are no multiple of 16 bytes. Large enough to be compared in places: about
 * D = 64, 96 and 128, also with so many keys that a ring of tiles is filled
 * again. More tiles than multiprocessors. */
static const char *const checks[] = {
    "2x3x1x64",    "1x2x7x8",    "1x1x200x16",  "1x3x33x13",   "1x1x65x40",
    "3x6x127x64",  "2x4x200x96", "1x6x190x128", "1x5x1000x64", "1x2x513x128",
    "1x2x1025x96", "8x40x3x8",   "4x70x300x8",  NULL};

/* The members of both operations that are alike. */
#define MEMBERS                                                                \
    .shape = "BxHxTxD", .dims = 4, .unit = LAB_UNIT_FLOPS,                     \
    .sizes_cpu = "1x4x256x64,1x4x512x64",                                      \
    .sizes_gpu = "4x16x1024x64,4x16x4096x64", .checks = checks,                \
    .tensors = tensors, .names = "Q K V O", .bytes = bytes,                    \
    .traffic = traffic, .library_traffic = library_traffic,                    \
    .fill = lab_attention_fill

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    (void)out;
    return element_of(n, dim, i, false);
}

static struct lab_ladder_element
element_causal(const struct lab_bench_numbers *n, const int64_t *dim, int out,
               int64_t i)
{
    (void)out;
    return element_of(n, dim, i, true);
}

/* T (T + 1) / 2 pairs of query and key instead of T^2. */
static double flop_causal(const int64_t *dim)
{
    double T = (double)dim[2];
    return flop(dim) * (T + 1) / (2 * T);
}

const struct lab_operation lab_operation_attention = {
    .name = "attention",
    .title = "O = softmax(Q K^T / sqrt(D)) V",
    MEMBERS,
    .flop = flop,
    .element = element,
};

const struct lab_operation lab_operation_attention_causal = {
    .name = "attention_causal",
    .folder = "attention",
    .title = "O = softmax(Q K^T / sqrt(D)) V, a query sees no later key",
    MEMBERS,
    .flop = flop_causal,
    .element = element_causal,
};
