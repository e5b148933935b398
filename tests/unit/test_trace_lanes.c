/* Lanes of a trace: which row a slice goes to, and what many lanes cost. */
#include "test.h"

#include "base/mem.h"
#include "timeline/trace_lanes.h"

static int place(struct lab_lanes *lanes, uint64_t lane, int64_t start,
                 int64_t end)
{
    int row = -1;
    assert_ok(lab_lanes_place(lanes, (int64_t)(lane >> 32),
                              (int64_t)(lane & 0xFFFFFFFF), start, end, &row));
    return row;
}

TEST_CASE(what_would_cross_goes_down)
{
    struct lab_lanes lanes = {0};
    assert_int_equal(place(&lanes, 7, 0, 100), 0);
    assert_int_equal(place(&lanes, 7, 0, 50), 0);  /* inside */
    assert_int_equal(place(&lanes, 7, 40, 60), 1); /* crosses the second */
    assert_int_equal(place(&lanes, 8, 40, 60), 0); /* another thread */
    assert_int_equal(place(&lanes, UINT64_C(1) << 32 | 7, 40, 60), 0);
    assert_int_equal(place(&lanes, 7, 100, 120), 0); /* beside */
    assert_int_equal(lab_lanes_rows(&lanes, 0, 7), 2);
    assert_int_equal(lab_lanes_rows(&lanes, 0, 8), 1);
    assert_int_equal(lab_lanes_rows(&lanes, 1, 7), 1);
    assert_int_equal(lab_lanes_rows(&lanes, 1, 8), 0);
    lab_lanes_release(&lanes);
    assert_int_equal(lab_lanes_rows(&lanes, 0, 7), 0);
}

TEST_CASE(all_rows_full_is_the_last_one)
{
    struct lab_lanes lanes = {0};
    for (int i = 0; i < LAB_LANE_ROWS + 5; i++)
        assert_int_equal(place(&lanes, 1, i, 1000 + i),
                         i < LAB_LANE_ROWS ? i : LAB_LANE_ROWS - 1);
    assert_int_equal(lab_lanes_rows(&lanes, 0, 1), LAB_LANE_ROWS);
    lab_lanes_release(&lanes);
}

/* ---- many ---- */

enum { LANES = 1 << 17 };
static const uint64_t factor = UINT64_C(0x9E3779B97F4A7C15);

/* The lane whose scattered key is `bits`: with the factor one can choose it. */
static uint64_t lane_of_bits(uint64_t bits)
{
    uint64_t inverse = factor;
    for (int i = 0; i < 6; i++)
        inverse *= 2 - factor * inverse;
    assert_true(inverse * factor == 1);
    return bits * inverse;
}

static uint64_t one_process(uint64_t i)
{
    return i;
}

static uint64_t many_processes(uint64_t i)
{
    return (1000 + i % 10000) << 32 | i / 10000;
}

static uint64_t chosen_to_begin_alike(uint64_t i)
{
    return lane_of_bits(UINT64_C(0xABCDEF1234) << 24 | i);
}

/* Each ends where the one before ends, one bit later. */
static uint64_t chosen_to_be_a_chain(uint64_t i)
{
    return lane_of_bits(UINT64_C(1) << (63 - i % 64));
}

/* As many lanes as a file may name cost each slice at most the 64 bits of a
 * lane's number. */
TEST_CASE(no_file_makes_lanes_slow)
{
    static uint64_t (*const kinds[])(uint64_t) = {one_process, many_processes,
                                                  chosen_to_begin_alike,
                                                  chosen_to_be_a_chain};
    for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
        struct lab_lanes lanes = {0};
        for (int round = 0; round < 2; round++)
            for (uint64_t i = 0; i < LANES; i++)
                place(&lanes, kinds[k](i), (int64_t)(round * LANES + i),
                      (int64_t)(round * LANES + i + 1));
        assert_true(lanes.compared > LANES);
        assert_true(lanes.compared <= 64 * (size_t)2 * LANES);
        for (uint64_t i = 0; i < LANES; i += 1001) {
            uint64_t lane = kinds[k](i);
            assert_int_equal(lab_lanes_rows(&lanes, (int64_t)(lane >> 32),
                                            (int64_t)(lane & 0xFFFFFFFF)),
                             1);
        }
        lab_lanes_release(&lanes);
    }
}

TEST_CASE(memory_may_fail)
{
    int row = -1;
    for (uint64_t n = 0; n < 2; n++) {
        struct lab_lanes lanes = {0};
        lab_mem_fail_from(n + 1);
        assert_int_equal(lab_lanes_place(&lanes, 1, 2, 0, 10, &row),
                         LAB_E_NOMEM);
        lab_mem_fail_from(0);
        assert_int_equal(row, -1);
        assert_int_equal(lab_lanes_rows(&lanes, 1, 2), 0);
        assert_ok(lab_lanes_place(&lanes, 1, 2, 0, 10, &row));
        assert_int_equal(row, 0);
        row = -1;
        lab_lanes_release(&lanes);
    }
}

RUN_TESTS()
