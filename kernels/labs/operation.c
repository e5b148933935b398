/* The list of operations, and what their references share. */
#include "labs/operation.h"

#include <math.h>
#include <string.h>

#include "common/random.h"

#define LAB_OPERATION(name)                                                    \
    extern const struct lab_operation lab_operation_##name;
#include "labs/labs.def"
#undef LAB_OPERATION

static const struct lab_operation *const operations[] = {
#define LAB_OPERATION(name) &lab_operation_##name,
#include "labs/labs.def"
#undef LAB_OPERATION
};

const struct lab_operation *lab_operation_at(int i)
{
    enum { COUNT = sizeof(operations) / sizeof(operations[0]) };
    return i >= 0 && i < COUNT ? operations[i] : NULL;
}

double lab_bench_random(uint64_t seed, uint32_t stream_a, uint32_t stream_b,
                        int64_t i)
{
    uint64_t at = 2 * (uint64_t)i;
    return lab_random_double(
               lab_random_word(seed, stream_a, stream_b, at),
               lab_random_word(seed, stream_a, stream_b, at + 1)) -
           0.5;
}

void lab_bench_repeat(void *host, int64_t own, int64_t count, size_t each)
{
    char *at = host;
    for (int64_t done = own; done < count; done += own) {
        int64_t left = count - done < own ? count - done : own;
        memcpy(at + (size_t)done * each, at, (size_t)left * each);
    }
}

/* Each tensor starts somewhere else in the period, a prime number long, so that
 * no row of a matrix is another one's. */
double lab_bench_number(const struct lab_bench_numbers *n, int tensor,
                        int64_t i)
{
    enum lab_dtype dtype = n->tensor[tensor].dtype;
    if (n->reads)
        ++*n->reads;
    if (n->host && n->host[tensor])
        return lab_number_at(n->host[tensor], dtype, i);
    int64_t at = (i + (int64_t)tensor * LAB_BENCH_APART) % n->period_count;
    return lab_number_at(n->period[dtype], dtype, at);
}

void lab_bench_add(struct lab_bench_sum *sum, double term)
{
    sum->value += term;
    sum->squares += term * term;
    sum->terms++;
}

/* A unit in the last place of `dtype` near v, subnormal numbers included. */
static double last_place(double v, enum lab_dtype dtype)
{
    if (dtype == LAB_BFLOAT16)
        return ldexp(fabs(v), -8);
    if (dtype == LAB_F16)
        return ldexp(fabs(v), -11) + ldexp(1, -25);
    return 0;
}

struct lab_ladder_element lab_bench_sum_element(const struct lab_bench_sum *sum,
                                                enum lab_precision p,
                                                enum lab_dtype dtype)
{
    double u = ldexp(1, p == LAB_FP64 ? -53 : -24);
    struct lab_ladder_element e = {.value = sum->value,
                                   .allowed = 16 * u *
                                              sqrt(sum->terms * sum->squares)};
    if (p == LAB_TF32)
        e.allowed += 8 * ldexp(1, -11) * sqrt(sum->squares);
    e.allowed += last_place(sum->value, dtype);
    return e;
}

struct lab_ladder_element lab_bench_exact(double value, enum lab_dtype dtype)
{
    double as[1];
    lab_number_put(as, dtype, 0, value);
    return (struct lab_ladder_element){.value = lab_number_at(as, dtype, 0)};
}

enum lab_dtype lab_bench_dtype(enum lab_precision p)
{
    return p == LAB_BF16   ? LAB_BFLOAT16
           : p == LAB_FP16 ? LAB_F16
           : p == LAB_FP64 ? LAB_F64
                           : LAB_F32;
}
