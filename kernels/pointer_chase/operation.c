/* at = next[at], ACCESSES times, through a footprint of BYTES; y (1) is the
 * line where it ends. A size is BYTES, ACCESSES. */
#include "labs/shapes.h"

#include <stddef.h>

#include "pointer_chase/chase.h"

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    (void)p;
    if (dim[0] % LAB_CHASE_BYTES != 0 || dim[0] > (int64_t)1 << 31) {
        lab_fail(LAB_E_USAGE,
                 "[lab.footprint] the footprint is a multiple of %d bytes, at "
                 "most 2147483648: "
                 "65536x4096",
                 LAB_CHASE_BYTES);
        return 0;
    }
    if (dim[1] > LAB_CHASE_ACCESSES) {
        lab_fail(LAB_E_USAGE, "[lab.accesses] 1 to %d accesses: 65536x4096",
                 LAB_CHASE_ACCESSES);
        return 0;
    }
    out[0] = (struct lab_bench_tensor){LAB_ROLE_IN, LAB_I32, 1, {dim[0] / 4}};
    out[1] = (struct lab_bench_tensor){LAB_ROLE_OUT, LAB_F32, 1, {1}};
    return 2;
}

/* 4 of each line, at most as many lines as there are. */
static double bytes(const int64_t *dim, enum lab_precision p)
{
    (void)p;
    return 4 * (double)dim[1];
}

static double items(const int64_t *dim)
{
    return (double)dim[1];
}

/* ---- the cycle ----
 *
 * The numbers below 2^bits are put into another order by a function that can be
 * undone: multiplying by an odd number and folding high bits down. A line's
 * successor is found by undoing it, counting one up, and doing it again, until
 * the number is one of a line. */

static uint64_t times(uint64_t v, uint64_t mask)
{
    return v * 0x9e3779b97f4a7c15u & mask; /* odd: 2^64 over the golden ratio */
}

/* The inverse of the factor, modulo 2^64, by Newton's steps. */
static uint64_t untimes(uint64_t v, uint64_t mask)
{
    const uint64_t f = 0x9e3779b97f4a7c15u;
    uint64_t inverse = f;
    for (int i = 0; i < 6; i++)
        inverse *= 2 - f * inverse;
    return v * inverse & mask;
}

static uint64_t fold(uint64_t v, int by)
{
    return v ^ v >> by;
}

static uint64_t unfold(uint64_t v, int by, int bits)
{
    uint64_t whole = v;
    for (int at = by; at < bits; at += by)
        whole = v ^ whole >> by;
    return whole;
}

static uint64_t scatter(uint64_t v, int bits)
{
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    int by = bits / 2 + 1;
    return times(fold(times(fold(v, by), mask), by), mask);
}

static uint64_t gather(uint64_t v, int bits)
{
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    int by = bits / 2 + 1;
    return unfold(untimes(unfold(untimes(v, mask), by, bits), mask), by, bits);
}

int64_t lab_chase_next(int64_t line, int64_t lines)
{
    int bits = 1;
    while ((int64_t)1 << bits < lines)
        bits++;
    uint64_t mask = ((uint64_t)1 << bits) - 1;
    uint64_t place = gather((uint64_t)line, bits);
    uint64_t next;
    do {
        place = (place + 1) & mask;
        next = scatter(place, bits);
    } while (next >= (uint64_t)lines);
    return (int64_t)next;
}

static bool fill(const int64_t *dim, int k,
                 const struct lab_bench_tensor *tensor, uint64_t seed,
                 void *host)
{
    int64_t lines = dim[0] / LAB_CHASE_BYTES;
    int32_t *next = host;
    (void)k;
    (void)tensor;
    (void)seed;
    for (int64_t line = 0; line < lines; line++) {
        for (int i = 1; i < LAB_CHASE_LINE; i++)
            next[line * LAB_CHASE_LINE + i] = 0;
        next[line * LAB_CHASE_LINE] =
            (int32_t)(lab_chase_next(line, lines) * LAB_CHASE_LINE);
    }
    return true;
}

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    int64_t at = 0;
    (void)n;
    (void)out;
    (void)i;
    for (int64_t k = 0; k < dim[1]; k++)
        at = lab_chase_next(at, dim[0] / LAB_CHASE_BYTES);
    return (struct lab_ladder_element){(double)at, 0};
}

static const char *const checks[] = {"128x1",     "256x7",       "384x10",
                                     "4096x1000", "65536x511",   "640x6",
                                     "8320x65",   "262144x3000", NULL};

const struct lab_operation lab_operation_pointer_chase = {
    .name = "pointer_chase",
    .title = "at = next[at]: the latency of a level of memory",
    .shape = "BYTESxACCESSES",
    .dims = 2,
    .unit = LAB_UNIT_TIME,
    .item = "access",
    .sizes_cpu = "4096x100000,32768x100000,262144x100000,2097152x100000,"
                 "16777216x100000",
    .sizes_gpu = "4096x16384,32768x16384,65536x16384,131072x16384,"
                 "262144x16384,1048576x16384,8388608x16384,33554432x16384,"
                 "67108864x16384,268435456x16384,1073741824x16384",
    .checks = checks,
    .tensors = tensors,
    .names = "next y",
    .flop = lab_bench_no_flop,
    .bytes = bytes,
    .items = items,
    .element = element,
    .fill = fill,
};
