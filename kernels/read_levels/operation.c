/* y (1) = the largest of the numbers in a footprint of BYTES that is read TIMES
 * times, all multiprocessors together; a size is BYTES, TIMES. The largest
 * number is the same however often it is read, so a variant also states through how
 * many rounds its loop has gone, in chunks: chunks (1), at most as many as were
 * wanted. That finds a wrong number of rounds. It does not find loads that a
 * compiler has moved out of the loop: for those look at the rate, and at the
 * machine code. */
#include "labs/shapes.h"

#include <math.h>
#include <stddef.h>

#include "read_levels/levels.h"

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    (void)p;
    if (dim[0] % LAB_LEVELS_CHUNK != 0) {
        lab_fail(LAB_E_USAGE,
                 "[lab.read-footprint] the footprint is a multiple of %d "
                 "bytes: 65536x1000",
                 LAB_LEVELS_CHUNK);
        return 0;
    }
    if (dim[1] > LAB_LEVELS_BYTES / dim[0]) {
        lab_fail(
            LAB_E_USAGE,
            "[lab.read-times] BYTES times TIMES is at most %lld: 65536x1000",
            (long long)LAB_LEVELS_BYTES);
        return 0;
    }
    out[0] = (struct lab_bench_tensor){LAB_ROLE_IN, LAB_F32, 1, {dim[0] / 4}};
    out[1] = (struct lab_bench_tensor){LAB_ROLE_OUT, LAB_F32, 1, {1}};
    out[2] = (struct lab_bench_tensor){LAB_ROLE_OUT, LAB_I32, 1, {1}};
    out[3] = (struct lab_bench_tensor){
        LAB_ROLE_SCRATCH, LAB_F32, 1, {LAB_LEVELS_SCRATCH}};
    out[4] = (struct lab_bench_tensor){
        LAB_ROLE_SCRATCH, LAB_I32, 1, {LAB_LEVELS_SCRATCH}};
    return 5;
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    (void)p;
    return (double)dim[0] * (double)dim[1];
}

/* Numbers repeat after a period: the largest of one is that of all. */
static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    double v = -INFINITY;
    int64_t count = dim[0] / 4;
    (void)i;
    if (out == 1)
        return lab_bench_exact((double)lab_levels_chunks(dim), LAB_I32);
    if (!(n->host && n->host[0]) && count > n->period_count)
        count = n->period_count;
    for (int64_t k = 0; k < count; k++)
        v = fmax(v, lab_bench_number(n, 0, k));
    return lab_bench_exact(v, n->tensor[1 + out].dtype);
}

static const char *const checks[] = {"16384x1",  "16384x300", "49152x5",
                                     "212992x3", "1048576x2", "5242880x1",
                                     NULL};

const struct lab_operation lab_operation_read_levels = {
    .name = "read_levels",
    .title = "the largest number, read over and over: a level's bandwidth",
    .shape = "BYTESxTIMES",
    .dims = 2,
    .unit = LAB_UNIT_BYTES,
    .sizes_cpu = "16384x16384,262144x1024,4194304x64,67108864x4",
    .sizes_gpu = "16384x524288,65536x131072,196608x43690,1048576x8192,"
                 "8388608x1024,33554432x256,67108864x128,268435456x32,"
                 "1073741824x8",
    .checks = checks,
    .tensors = tensors,
    .names = "x y chunks part read",
    .flop = lab_bench_no_flop,
    .bytes = bytes,
    .element = element,
};
