/* Matrices with known LU factors: see witness.h. */
#include "lu/witness.h"

#include "base/mem.h"
#include "common/random.h"

/* A number of [least, least + range) with a random sign. */
static double signed_number(uint64_t seed, uint32_t row, int64_t i,
                            double least, double range)
{
    uint32_t high = lab_random_word(seed, row, 0, 2 * (uint64_t)i);
    uint32_t low = lab_random_word(seed, row, 0, 2 * (uint64_t)i + 1);
    double unit = lab_random_double(high, low << 1);
    bool minus = low >> 31;
    return (minus ? -1 : 1) * (least + range * unit);
}

/* Pivoting undoes a shuffle by exchanges: in LAPACK's list step k exchanges row
 * k with itself or a later one. */
static void shuffle(double *w, int64_t n, uint64_t seed)
{
    double *pivot = w + LAB_WITNESS_PIVOT * n;
    double *place = w + LAB_WITNESS_PLACE * n;
    for (int64_t k = 0; k < n; k++) {
        uint64_t word =
            lab_random_word(seed, LAB_WITNESS_PIVOT, 0, (uint64_t)k);
        pivot[k] = (double)(k + (int64_t)(word % (uint64_t)(n - k)) + 1);
        place[k] = (double)k;
    }
    /* Exchange 0, then 1 ... make L U of A, so A's rows stand as the last one,
     * then the one before it ... leave those of L U; in this order the
     * exchanges give the inverse: where each row of L U goes. */
    for (int64_t k = 0; k < n; k++) {
        int64_t other = (int64_t)pivot[k] - 1;
        double row = place[k];
        place[k] = place[other];
        place[other] = row;
    }
}

void lab_witness_fill(double *w, int64_t n, uint64_t seed)
{
    for (int64_t i = 0; i < n; i++) {
        for (uint32_t row = LAB_WITNESS_P; row < LAB_WITNESS_D; row++)
            w[row * n + i] = signed_number(seed, row, i, 0.3, 0.65);
        w[LAB_WITNESS_D * n + i] =
            signed_number(seed, LAB_WITNESS_D, i, 1.0, 1.0);
    }
    shuffle(w, n, seed);
}

double *lab_witness_new(int64_t n, uint64_t seed)
{
    double *w = lab_alloc_array((size_t)n, LAB_WITNESS_ROWS * sizeof(*w));
    if (w)
        lab_witness_fill(w, n, seed);
    return w;
}

double lab_witness_factor(const double *w, int64_t n, int64_t i, int64_t j)
{
    if (i > j)
        return w[LAB_WITNESS_P * n + i] * w[LAB_WITNESS_Q * n + j];
    if (i < j)
        return w[LAB_WITNESS_R * n + i] * w[LAB_WITNESS_S * n + j];
    return w[LAB_WITNESS_D * n + i];
}

/* (L U)[i,j] = p[i] s[j] sum of q[k] r[k] for k < min(i, j), and the term in
 * which one factor is on its diagonal. */
void lab_witness_column(const double *w, int64_t n, int64_t j, double *column)
{
    const double *p = w + LAB_WITNESS_P * n;
    const double *q = w + LAB_WITNESS_Q * n;
    const double *r = w + LAB_WITNESS_R * n;
    const double *s = w + LAB_WITNESS_S * n;
    const double *d = w + LAB_WITNESS_D * n;
    const double *place = w + LAB_WITNESS_PLACE * n;
    double sum = 0;
    for (int64_t at = 0; at < n; at++)
        column[at] = 0;
    for (int64_t i = 0; i < n; i++) {
        double v = p[i] * s[j] * sum;
        v += i > j ? p[i] * q[j] * d[j] : i < j ? r[i] * s[j] : d[i];
        if (i < j)
            sum += q[i] * r[i];
        column[(int64_t)place[i]] = v;
    }
}
