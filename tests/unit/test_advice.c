/* Every rule on a kernel that shows it, and on one that does not; and silence
 * where nothing is known. */
#include "test.h"

#include "profiler/advice.h"
#include "trace/record.h"

/* A kernel that does everything well, on a device of 132 SMs: 2 full waves of
 * 8 blocks a SM, every load side by side, on tensor cores. */
static struct lab_advice_facts good(void)
{
    struct lab_advice_facts f;
    lab_advice_facts_init(&f);
    f.blocks = 2 * 8 * 132;
    f.sm_count = 132;
    f.occupancy_pct = 100;
    f.occupancy_limit = LAB_LIMIT_WARPS;
    f.active_blocks_per_sm = 8;
    f.time_ns = 200e3;
    f.wall_ns = 210e3;
    f.kernels = 1;
    f.flop = 2e10;
    f.bytes = 5e7;
    f.peak_dram_bytes_s = 4.8e12;
    f.counters.sectors_per_load = 4;
    f.counters.sectors_per_store = 4;
    f.counters.tensor_flop = 2e10;
    f.counters.dram_read_bytes = 4e7;
    f.counters.dram_write_bytes = 2e7;
    return f;
}

static bool says(const struct lab_advice_facts *f, enum lab_advice_rule rule,
                 const char *evidence)
{
    struct lab_advice all[LAB_ADVICE_COUNT];
    int n = lab_advise(f, all);
    for (int i = 0; i < n; i++) {
        assert_in_range((int64_t)(all[i].weight * 1000), 0, 1000);
        assert_true(i == 0 || all[i].weight <= all[i - 1].weight);
        assert_true(all[i].remedy[0] != '\0');
        if (all[i].rule == rule) {
            assert_non_null(strstr(all[i].evidence, evidence));
            return true;
        }
    }
    return false;
}

static bool remedies(const struct lab_advice_facts *f,
                     enum lab_advice_rule rule, const char *remedy)
{
    struct lab_advice all[LAB_ADVICE_COUNT];
    int n = lab_advise(f, all);
    for (int i = 0; i < n; i++)
        if (all[i].rule == rule)
            return strstr(all[i].remedy, remedy) != NULL;
    return false;
}

TEST_CASE(a_good_kernel_needs_no_advice)
{
    struct lab_advice all[LAB_ADVICE_COUNT];
    struct lab_advice_facts f = good();
    assert_int_equal(lab_advise(&f, all), 0);
}

TEST_CASE(what_is_unknown_is_not_judged)
{
    struct lab_advice all[LAB_ADVICE_COUNT];
    struct lab_advice_facts f;
    lab_advice_facts_init(&f);
    assert_int_equal(lab_advise(&f, all), 0);
}

TEST_CASE(occupancy_and_its_reason)
{
    struct lab_advice_facts f = good();
    f.occupancy_pct = 25;
    f.occupancy_limit = LAB_LIMIT_REGISTERS;
    assert_true(says(&f, LAB_ADVICE_LOW_OCCUPANCY, "registers"));
    f.occupancy_limit = LAB_LIMIT_SHARED;
    assert_true(says(&f, LAB_ADVICE_LOW_OCCUPANCY, "shared memory"));
    f.occupancy_pct = 50;
    assert_false(says(&f, LAB_ADVICE_LOW_OCCUPANCY, ""));
}

TEST_CASE(blocks_for_every_multiprocessor)
{
    struct lab_advice_facts f = good();
    f.blocks = 100;
    assert_true(says(&f, LAB_ADVICE_FEW_BLOCKS, "32 SMs"));
    f.blocks = 128; /* 4 idle ones are 3 % */
    assert_false(says(&f, LAB_ADVICE_FEW_BLOCKS, ""));
    f.blocks = 132;
    assert_false(says(&f, LAB_ADVICE_FEW_BLOCKS, ""));
}

TEST_CASE(a_nearly_empty_last_wave)
{
    struct lab_advice_facts f = good();
    f.blocks = 8 * 132 + 10; /* 1.01 waves */
    assert_true(says(&f, LAB_ADVICE_TAIL, "1 % full"));
    f.blocks = 20 * 8 * 132 + 10; /* 20.01: one in 21 is little */
    assert_false(says(&f, LAB_ADVICE_TAIL, ""));
    f.blocks = 2 * 8 * 132 - 1;
    assert_false(says(&f, LAB_ADVICE_TAIL, ""));
}

TEST_CASE(requests_that_are_spread)
{
    struct lab_advice_facts f = good();
    f.counters.sectors_per_load = 32;
    assert_true(says(&f, LAB_ADVICE_UNCOALESCED, "load touches 32.0"));
    f = good();
    f.counters.sectors_per_store = 17;
    assert_true(says(&f, LAB_ADVICE_UNCOALESCED, "store touches 17.0"));
    f.counters.sectors_per_store = 8; /* doubles side by side */
    assert_false(says(&f, LAB_ADVICE_UNCOALESCED, ""));
}

TEST_CASE(launches_that_cost_more_than_the_work)
{
    struct lab_advice_facts f = good();
    f.time_ns = 1800;
    f.wall_ns = 12000;
    assert_true(says(&f, LAB_ADVICE_LAUNCH_BOUND, "12.0 us"));
    assert_false(remedies(&f, LAB_ADVICE_LAUNCH_BOUND, "fused"));
    f.fusable = true;
    assert_true(remedies(&f, LAB_ADVICE_LAUNCH_BOUND, "a fused variant"));
    f.kernels = 4; /* 3 us each */
    assert_false(says(&f, LAB_ADVICE_LAUNCH_BOUND, ""));
}

TEST_CASE(many_short_kernels_of_a_step)
{
    struct lab_advice_facts f = good();
    f.time_ns = 1800;
    f.kernels = 19;
    assert_true(says(&f, LAB_ADVICE_MANY_LAUNCHES, "19 launches"));
    assert_true(remedies(&f, LAB_ADVICE_MANY_LAUNCHES, "one kernel"));
    f.kernels = 4;
    assert_false(says(&f, LAB_ADVICE_MANY_LAUNCHES, ""));
    f.kernels = LAB_UNKNOWN;
    assert_false(says(&f, LAB_ADVICE_MANY_LAUNCHES, ""));
    f.kernels = 19;
    f.time_ns = 2e4; /* each has work enough */
    assert_false(says(&f, LAB_ADVICE_MANY_LAUNCHES, ""));
}

TEST_CASE(products_off_the_tensor_cores)
{
    struct lab_advice_facts f = good();
    f.counters.tensor_flop = 0;
    assert_true(says(&f, LAB_ADVICE_IDLE_TENSOR, "2e+10"));
    f.bytes = 1e10; /* two operations a byte: no product */
    assert_false(says(&f, LAB_ADVICE_IDLE_TENSOR, ""));
    f = good();
    f.counters.tensor_flop = NAN;
    assert_false(says(&f, LAB_ADVICE_IDLE_TENSOR, ""));
}

TEST_CASE(operands_fetched_again)
{
    struct lab_advice_facts f = good();
    f.counters.dram_read_bytes = 9e8; /* 190 us at 4.8 TB/s */
    assert_true(says(&f, LAB_ADVICE_SMALL_TILES, "18.4 times"));
    f.time_ns = 2e6; /* it does not limit */
    assert_false(says(&f, LAB_ADVICE_SMALL_TILES, ""));
}

TEST_CASE(rules_have_names)
{
    for (int i = 0; i < LAB_ADVICE_COUNT; i++)
        assert_true(lab_advice_name((enum lab_advice_rule)i)[0] != '\0');
    assert_string_equal(lab_advice_name(LAB_ADVICE_COUNT), "");
}

RUN_TESTS()
