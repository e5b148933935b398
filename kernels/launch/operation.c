/* y (N) = x (N) with BLOCK threads a block and SHARED bytes of shared memory
 * asked for; a size is N, BLOCK, SHARED. */
#include "labs/shapes.h"

#include <stddef.h>

enum { MOST_THREADS = 1024, MOST_SHARED = 1 << 20 };

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    if (dim[1] > MOST_THREADS || dim[2] > MOST_SHARED) {
        lab_fail(LAB_E_USAGE,
                 "[lab.launch-size] a block has 1 to %d threads, and asks for "
                 "1 to %d bytes of "
                 "shared memory: 1000000x256x1",
                 MOST_THREADS, MOST_SHARED);
        return 0;
    }
    return lab_bench_map_tensors(dim, p, out);
}

static const char *const checks[] = {
    "1x32x1",      "31x1x1",      "257x33x1",     "1000x96x100",
    "4099x7x4096", "65537x256x1", "33000x1024x1", NULL};

const struct lab_operation lab_operation_launch = {
    .name = "launch",
    .title = "y = x with any size of block",
    .shape = "NxBLOCKxSHARED",
    .dims = 3,
    .unit = LAB_UNIT_BYTES,
    .sizes_cpu = "4000000x32x1,4000000x1024x1",
    .sizes_gpu = "67108864x32x1,67108864x64x1,67108864x128x1,67108864x256x1,"
                 "67108864x512x1,67108864x768x1,67108864x1024x1,"
                 "67108864x256x24576,67108864x256x49152,67108864x256x98304,"
                 "67108864x256x196608",
    .checks = checks,
    .tensors = tensors,
    .names = "x y",
    .flop = lab_bench_no_flop,
    .bytes = lab_bench_map_bytes,
    .element = lab_bench_copy_element,
};
