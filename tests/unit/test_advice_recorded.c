/* Advice on the kernel of a recorded run: from its launch, its step and the run's
 * device; none from what is not known. */
#include "test.h"

#include "base/mem.h"
#include "base/str.h"
#include "report/advise.h"

static void add(void *to, const char *text)
{
    lab_str_addf(to, "%s\n", text);
}

static char *advice_on(const struct lab_time_sum *kernel, int64_t sm_count,
                       int64_t warps)
{
    const struct lab_roofline r = {.sm_count = sm_count,
                                   .max_warps_per_sm = warps};
    const struct lab_time_sum step = {.kernels = 1, .flop = NAN, .bytes = NAN};
    struct lab_str text;
    lab_str_init(&text);
    lab_advise_sum(&r, &step, kernel, add, &text);
    return lab_str_detach(&text);
}

static struct lab_time_sum kernel_of(int64_t blocks, double occupancy_pct)
{
    struct lab_time_sum k = {
        .launch = {.grid = {blocks, 1, 1}, .block = {256, 1, 1}},
        .occupancy_pct = occupancy_pct,
        .occupancy_limit = LAB_UNKNOWN,
        .median_ns = 1e6};
    lab_counters_init(&k.counters);
    return k;
}

static void states(const struct lab_time_sum *kernel, int64_t sm_count,
                   int64_t warps, const char *want)
{
    char *have = advice_on(kernel, sm_count, warps);
    assert_non_null(have);
    if (want[0] ? !strstr(have, want) : have[0])
        fail_msg("not '%s': %s", want, have);
    lab_free(have);
}

TEST_CASE(a_recorded_kernel_has_advice)
{
    struct lab_time_sum k = kernel_of(4, 100);
    states(&k, 132, 64, "few-blocks: 4 blocks on 132 SMs");
    states(&k, LAB_UNKNOWN, 64, "");
    /* 8 blocks of 8 warps on each SM: 1056 at once. */
    k = kernel_of(1200, 100);
    states(&k, 132, 64, "tail: 1200 blocks are 1.14 waves of 1056");
    states(&k, 132, LAB_UNKNOWN, "");
    k.occupancy_pct = 50; /* 4 blocks: 528 */
    states(&k, 132, 64, "waves of 528");
    k = kernel_of(1056, 100);
    states(&k, 132, 64, "");
    k.occupancy_pct = NAN;
    k.launch.grid[0] = LAB_UNKNOWN;
    states(&k, 132, 64, "");
}

RUN_TESTS()
