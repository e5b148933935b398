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

/* The advice of that rule; without it rule is LAB_ADVICE_COUNT. */
static struct lab_advice advice(const struct lab_advice_facts *f,
                                enum lab_advice_rule rule)
{
    struct lab_advice all[LAB_ADVICE_COUNT];
    struct lab_advice found = {.rule = LAB_ADVICE_COUNT};
    int n = lab_advise(f, all);
    for (int i = 0; i < n; i++) {
        assert_in_range((int64_t)(all[i].weight * 1000), 0, 1000);
        assert_true(i == 0 || all[i].weight <= all[i - 1].weight);
        found = all[i].rule == rule ? all[i] : found;
    }
    return found;
}

/* The advice's sentence, the value of it at `at`, and its remedy. */
#define HAS(kind, stated, at, value, todo)                                     \
    do {                                                                       \
        struct lab_advice a = advice(&f, LAB_ADVICE_##kind);                   \
        assert_int_equal(a.evidence.id, LAB_SENTENCE_##stated);                \
        assert_true(fabs(a.evidence.x[at] - (value)) <= 0.005 * (value));      \
        assert_int_equal(a.remedy, LAB_SENTENCE_TRY_##todo);                   \
    } while (0)
#define HAS_NOT(kind)                                                          \
    assert_int_equal(advice(&f, LAB_ADVICE_##kind).rule, LAB_ADVICE_COUNT)

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
    HAS(LOW_OCCUPANCY, LOW_OCCUPANCY, 1, LAB_LIMIT_REGISTERS, FEWER_REGISTERS);
    f.occupancy_limit = LAB_LIMIT_SHARED;
    HAS(LOW_OCCUPANCY, LOW_OCCUPANCY, 1, LAB_LIMIT_SHARED, LESS_SHARED);
    struct lab_str text;
    struct lab_advice low = advice(&f, LAB_ADVICE_LOW_OCCUPANCY);
    lab_str_init(&text);
    lab_advice_add(&text, &low);
    assert_string_equal(lab_str_text(&text),
                        "low-occupancy: 25 % of an SM's warps can be there at "
                        "once, because of its shared memory. Try less shared "
                        "memory a block: smaller tiles, or one buffer less.");
    lab_str_release(&text);
    f.occupancy_pct = 50;
    HAS_NOT(LOW_OCCUPANCY);
}

TEST_CASE(blocks_for_every_multiprocessor)
{
    struct lab_advice_facts f = good();
    f.blocks = 100;
    HAS(FEW_BLOCKS, FEW_BLOCKS, 2, 32, MORE_BLOCKS);
    f.blocks = 128; /* 4 idle ones are 3 % */
    HAS_NOT(FEW_BLOCKS);
    f.blocks = 132;
    HAS_NOT(FEW_BLOCKS);
}

TEST_CASE(a_nearly_empty_last_wave)
{
    struct lab_advice_facts f = good();
    f.blocks = 8 * 132 + 10; /* 1.01 waves */
    HAS(TAIL, TAIL, 3, 100 * 10 / 1056.0, WHOLE_WAVES);
    f.blocks = 20 * 8 * 132 + 10; /* 20.01: one in 21 is little */
    HAS_NOT(TAIL);
    f.blocks = 2 * 8 * 132 - 1;
    HAS_NOT(TAIL);
}

TEST_CASE(requests_that_are_spread)
{
    struct lab_advice_facts f = good();
    f.counters.sectors_per_load = 32;
    HAS(UNCOALESCED, SPREAD_LOAD, 0, 32, NEIGHBOURS);
    f = good();
    f.counters.sectors_per_store = 17;
    HAS(UNCOALESCED, SPREAD_STORE, 0, 17, NEIGHBOURS);
    f.counters.sectors_per_store = 8; /* doubles side by side */
    HAS_NOT(UNCOALESCED);
}

TEST_CASE(launches_that_cost_more_than_the_work)
{
    struct lab_advice_facts f = good();
    f.time_ns = 1800;
    f.wall_ns = 12000;
    HAS(LAUNCH_BOUND, SLOW_LAUNCH, 1, 12000, GRAPH);
    f.fusable = true;
    HAS(LAUNCH_BOUND, SLOW_LAUNCH, 0, 1800, GRAPH_OR_FUSED);
    f.kernels = 4; /* 3 us each */
    HAS_NOT(LAUNCH_BOUND);
}

TEST_CASE(many_short_kernels_of_a_step)
{
    struct lab_advice_facts f = good();
    f.time_ns = 1800;
    f.kernels = 19;
    HAS(MANY_LAUNCHES, SHORT_LAUNCHES, 0, 19, ONE_KERNEL);
    f.kernels = 4;
    HAS_NOT(MANY_LAUNCHES);
    f.kernels = LAB_UNKNOWN;
    HAS_NOT(MANY_LAUNCHES);
    f.kernels = 19;
    f.time_ns = 2e4; /* each has work enough */
    HAS_NOT(MANY_LAUNCHES);
}

TEST_CASE(products_off_the_tensor_cores)
{
    struct lab_advice_facts f = good();
    f.counters.tensor_flop = 0;
    HAS(IDLE_TENSOR, NO_TENSOR_CORES, 0, 2e10, TENSOR_CORES);
    f.bytes = 1e10; /* two operations a byte: no product */
    HAS_NOT(IDLE_TENSOR);
    f = good();
    f.counters.tensor_flop = NAN;
    HAS_NOT(IDLE_TENSOR);
}

TEST_CASE(operands_fetched_again)
{
    struct lab_advice_facts f = good();
    f.counters.dram_read_bytes = 9e8; /* 190 us at 4.8 TB/s */
    HAS(SMALL_TILES, FETCHED_AGAIN, 1, 18.4, LARGER_TILES);
    f.time_ns = 2e6; /* it does not limit */
    HAS_NOT(SMALL_TILES);
}

/* Every brace of every wording is one that is known, and has a value. */
TEST_CASE(sentences_have_words)
{
    struct lab_str text;
    lab_str_init(&text);
    for (int i = 0; i < LAB_SENTENCE_COUNT; i++) {
        struct lab_sentence s = {(enum lab_sentence_id)i, {1, 1, 1, 1, 1}};
        lab_str_clear(&text);
        lab_sentence_add(&text, &s);
        assert_true(text.len > 3);
        assert_null(strpbrk(lab_str_text(&text), "{}"));
    }
    lab_str_release(&text);
}

TEST_CASE(rules_have_names)
{
    for (int i = 0; i < LAB_ADVICE_COUNT; i++)
        assert_true(lab_advice_name((enum lab_advice_rule)i)[0] != '\0');
    assert_string_equal(lab_advice_name(LAB_ADVICE_COUNT), "");
}

RUN_TESTS()
