/* Sequences that follow Fibonacci's rule: each term is the sum of the two
 * before it. The first sample is his own, 1, 1, 2, 3, 5 ...; the others begin
 * with two random numbers. All are divided by the largest that could come next,
 * so that numbers lie between 0 and 1. */
#include "base/mem.h"
#include "data_priv.h"
#include "common/random.h"

enum { ROWS = 512, LEAST = 2, MOST = 64, DEFAULT_TERMS = 8 };

/* Not of the lesson's seed: every run learns from the same samples. */
static double start(int64_t row, int64_t which)
{
    const uint32_t stream = 0x4649424Fu; /* "FIBO" */
    uint32_t word =
        lab_random_word(1202, stream, 0, (uint64_t)(row * 2 + which));
    return row == 0 ? 1 : (double)lab_random_unit(word);
}

static void fill_row(struct lab_samples *t, int64_t row)
{
    double one = start(row, 0);
    double two = start(row, 1);
    double largest_one = 1;
    double largest_two = 1;
    for (int64_t i = 2; i <= t->features; i++) {
        double next = largest_one + largest_two;
        largest_one = largest_two;
        largest_two = next;
    }
    for (int64_t i = 0; i < t->features; i++) {
        double next = one + two;
        t->x[row * t->features + i] = (float)(one / largest_two);
        one = two;
        two = next;
    }
    t->target[row] = (float)(one / largest_two);
}

enum lab_status lab_fibonacci_make(struct lab_samples *t,
                                   const struct lab_network_spec *spec)
{
    int64_t terms = spec->data.context ? spec->data.context : DEFAULT_TERMS;
    if (terms < LEAST || terms > MOST)
        return lab_network_fail(spec, spec->data.place, LAB_E_RANGE,
                                "context %lld: a sample of source fibonacci "
                                "shows %d to %d terms",
                                (long long)terms, LEAST, MOST);
    t->rows = ROWS;
    t->features = t->steps = terms;
    enum lab_status st = lab_samples_alloc(t, false, "fibonacci");
    for (int64_t row = 0; row < ROWS && !st; row++)
        fill_row(t, row);
    return st;
}
