/* What operations of one shape share. */
#include "labs/shapes.h"

#include <math.h>
#include <stddef.h>

double lab_bench_no_flop(const int64_t *dim)
{
    (void)dim;
    return 0;
}

int lab_bench_map_tensors(const int64_t *dim, enum lab_precision p,
                          struct lab_bench_tensor *out)
{
    enum lab_dtype t = lab_bench_dtype(p);
    out[0] = (struct lab_bench_tensor){LAB_ROLE_IN, t, 1, {dim[0]}};
    out[1] = (struct lab_bench_tensor){LAB_ROLE_OUT, t, 1, {dim[0]}};
    return 2;
}

double lab_bench_map_bytes(const int64_t *dim, enum lab_precision p)
{
    return 2 * (double)lab_dtype_bytes(lab_bench_dtype(p)) * (double)dim[0];
}

struct lab_ladder_element
lab_bench_copy_element(const struct lab_bench_numbers *n, const int64_t *dim,
                       int out, int64_t i)
{
    (void)dim;
    return lab_bench_exact(lab_bench_number(n, 0, i), n->tensor[1 + out].dtype);
}

struct lab_ladder_element lab_bench_recurrence(double v, double a, double c,
                                               int64_t steps, double rounded)
{
    double most = fabs(v);
    for (int64_t s = 0; s < steps; s++) {
        v = v * a + c;
        most = fmax(most, fabs(v));
    }
    return (struct lab_ladder_element){v,
                                       ldexp(16, -24) * sqrt(rounded) * most};
}

const char *const lab_bench_vector_checks[] = {
    "1", "31", "257", "1000", "4099", "65537", "100003", NULL};

int lab_bench_product_tensors(const int64_t *dim, enum lab_dtype t,
                              struct lab_bench_tensor *out)
{
    out[0] = (struct lab_bench_tensor){LAB_ROLE_IN, t, 2, {dim[0], dim[2]}};
    out[1] = (struct lab_bench_tensor){LAB_ROLE_IN, t, 2, {dim[2], dim[1]}};
    out[2] = (struct lab_bench_tensor){LAB_ROLE_OUT, t, 2, {dim[0], dim[1]}};
    return 3;
}

double lab_bench_product_flop(const int64_t *dim)
{
    return 2 * (double)dim[0] * (double)dim[1] * (double)dim[2];
}

double lab_bench_product_numbers(const int64_t *dim)
{
    double M = (double)dim[0];
    double N = (double)dim[1];
    double K = (double)dim[2];
    return M * K + K * N + M * N;
}

struct lab_bench_sum lab_bench_product_sum(const struct lab_bench_numbers *n,
                                           const int64_t *dim, int64_t i)
{
    struct lab_bench_sum sum = {0};
    int64_t N = dim[1];
    int64_t K = dim[2];
    for (int64_t k = 0; k < K; k++)
        lab_bench_add(&sum, lab_bench_number(n, 0, i / N * K + k) *
                                lab_bench_number(n, 1, k * N + i % N));
    return sum;
}

const char *const lab_bench_row_checks[] = {
    "1",       "7x1",     "5x3",      "33x100",   "3x129",
    "3x260",   "9x516",   "130x1023", "129x1028", "65x2052",
    "33x4100", "17x8188", "17x8193",  "13x10244", "9x16388",
    "7x20476", "5x32764", "5x32769",  NULL};
