/* What counters mean: sums, shares weighted with time, ratios, and everything
 * that is unknown. */
#include "test.h"

#include "trace/metric.h"

#define INST "smsp__sass_thread_inst_executed_op_"

TEST_CASE(sets_are_named_and_nested)
{
    const char *const *basic;
    const char *const *full;
    int n = lab_counter_metrics(LAB_COUNTERS_BASIC, &basic);
    int m = lab_counter_metrics(LAB_COUNTERS_FULL, &full);
    assert_true(n > 0 && n < m && m <= LAB_MAX_METRICS);
    for (int i = 0; i < n; i++)
        assert_string_equal(basic[i], full[i]);
    for (int i = 0; i < m; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(full[i], full[k]);
    assert_int_equal(lab_counter_metrics(LAB_COUNTERS_OFF, &full), 0);
    for (int s = 0; s < LAB_COUNTERS_COUNT; s++)
        assert_int_equal(
            lab_counter_set_find(lab_counter_set_name((enum lab_counter_set)s)),
            s);
    assert_int_equal(lab_counter_set_find("many"), LAB_COUNTERS_COUNT);
}

TEST_CASE(kernels_are_summed_and_averaged)
{
    static const char *const names[] = {
        "sm__warps_active.avg.pct_of_peak_sustained_active",
        "gpu__time_duration.sum",
        INST "fadd_pred_on.sum",
        INST "ffma_pred_on.sum",
        "dram__bytes_read.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        "something__else.sum"};
    /* Two kernels of 8 metrics, in rows of 10. */
    static const double v[] = {50, 300, 7, 10, 1000, 64, 16, 1, -1, -1,
                               90, 100, 3, 20, 24,   8,  8,  1, -1, -1};
    struct lab_counters c;
    lab_counters_compute(&c, names, 8, v, 10, 2);
    assert_float_equal(c.achieved_occupancy_pct, (50 * 300 + 90 * 100) / 400.0,
                       1e-12);
    assert_float_equal(c.time_ns, 400, 0);
    assert_float_equal(c.fp32_flop, 7 + 3 + 2 * 30, 0);
    assert_float_equal(c.dram_read_bytes, 1024, 0);
    assert_float_equal(c.sectors_per_load, 72 / 24.0, 1e-12);
    assert_true(isnan(c.dram_write_bytes));
    assert_true(isnan(c.tensor_flop));
    assert_true(isnan(c.sectors_per_store));
}

/* A simulation's counters: sums and ratios of the same values, over two kernels. */
TEST_CASE(simulated_counters_have_a_meaning)
{
    static const char *const names[] = {
        LAB_COUNTER_SIM "inst_executed.sum",
        LAB_COUNTER_SIM "thread_inst_executed.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"};
    static const double v[] = {10, 320, 8, 2, 0, 30, 320, 4, 2, 7};
    struct lab_counters c;
    lab_counters_compute(&c, names, 5, v, 5, 2);
    assert_float_equal(c.warp_inst, 40, 0);
    assert_float_equal(c.thread_inst, 640, 0);
    assert_float_equal(c.lanes_per_inst, 16, 1e-12);
    assert_float_equal(c.load_sectors, 12, 0);
    assert_float_equal(c.sectors_per_load, 3, 1e-12);
    assert_float_equal(c.bank_conflicts, 7, 0);
    assert_true(isnan(c.shared_wavefronts));
    assert_true(lab_counter_is_simulated(names[0]));
    assert_false(lab_counter_is_simulated(names[2]));
    assert_true(lab_counter_is_sum(offsetof(struct lab_counters, warp_inst)));
    assert_false(
        lab_counter_is_sum(offsetof(struct lab_counters, lanes_per_inst)));
}

TEST_CASE(unknown_stays_unknown)
{
    static const char *const names[] = {
        INST "fadd_pred_on.sum", INST "ffma_pred_on.sum",
        "sm__ops_path_tensor_src_tf32_dst_fp32.sum",
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
        "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"};
    const double v[] = {NAN, 10, 2048, 0, 0};
    struct lab_counters c;
    lab_counters_compute(&c, names, 5, v, 5, 1);
    assert_true(isnan(c.fp32_flop)); /* a part of it is unknown */
    assert_float_equal(c.tensor_flop, 2048, 0);
    assert_true(isnan(c.sectors_per_store)); /* no stores: no ratio */
    lab_counters_compute(&c, names, 5, v, 5, 0);
    assert_true(isnan(c.tensor_flop));
}

/* What they computed is not asked for then, and 0 all the same. HFMA2 is on their
 * pipe and none of their work. */
TEST_CASE(idle_tensor_cores_computed_nothing)
{
    static const char *const names[] = {
        "sm__inst_executed_pipe_tensor_op_hmma.sum",
        "sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum",
        "sm__inst_executed_pipe_tensor_op_gmma.sum"};
    const double idle[] = {7, 7, 0, 5, 5, 0};
    const double busy[] = {7, 7, 1, 5, 5, 0};
    struct lab_counters c;
    lab_counters_compute(&c, names, 3, idle, 3, 2);
    assert_float_equal(c.tensor_inst, 0, 0);
    assert_float_equal(c.tensor_flop, 0, 0);
    lab_counters_compute(&c, names, 3, busy, 3, 2);
    assert_float_equal(c.tensor_inst, 1, 0);
    assert_true(isnan(c.tensor_flop));
}

/* What was not counted may be the rest of the formula's work. */
TEST_CASE(less_than_the_formula_may_be_a_part)
{
    struct lab_counters c;
    lab_counters_init(&c);
    assert_true(isnan(lab_counters_flop_beside(&c, 100)));
    c.fp32_flop = 60;
    assert_true(isnan(lab_counters_flop_beside(&c, 100)));
    assert_float_equal(lab_counters_flop_beside(&c, 60.5), 60, 0);
    assert_float_equal(lab_counters_flop_beside(&c, 20), 60, 0);
    assert_float_equal(lab_counters_flop_beside(&c, NAN), 60, 0);
    c.fp64_flop = 0;
    assert_true(isnan(lab_counters_flop_beside(&c, 100)));
    c.fp16_flop = 0; /* all was counted: it is less */
    assert_float_equal(lab_counters_flop_beside(&c, 100), 60, 0);
}

/* Compilers load constants with HFMA2: alone, it is no work of a kernel in fp32. */
TEST_CASE(hfma2_alone_may_load_constants)
{
    static const char *const names[] = {
        "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
        "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum",
        "smsp__sass_thread_inst_executed_op_hmul_pred_on.sum",
        "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum",
        "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum",
        "sim__ptx_inst_executed.sum"};
    const double moves[] = {50, 0, 0, 20, 0, 9};
    const double halves[] = {50, 1, 0, 20, 0, 9};
    struct lab_counters c;
    lab_counters_compute(&c, names, 5, moves, 6, 1);
    assert_true(isnan(c.fp16_flop));
    assert_float_equal(c.fp16_fma_flop, 40, 0);
    assert_float_equal(lab_counters_flop(&c), 100, 0);
    assert_float_equal(lab_counters_flop_beside(&c, 200), 100, 0);
    assert_true(isnan(lab_counters_flop_beside(&c, 140))); /* HFMA2's, or not */
    lab_counters_compute(&c, names, 5, halves, 6, 1);
    assert_float_equal(c.fp16_flop, 41, 0);
    lab_counters_compute(&c, names, 6, moves, 6, 1); /* a simulation's */
    assert_float_equal(c.fp16_flop, 40, 0);
}

RUN_TESTS()
