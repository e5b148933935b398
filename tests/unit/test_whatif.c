/* The what-if screen's numbers of a launch in a database, without a GPU. */
#include <unistd.h>

#include "test.h"
#include "file.h"

#include "store_samples.h"
#include "trace/record.h"
#include "screens/whatif.h"
#include "store/query.h"

#define H200                                                                   \
    "INSERT INTO TARGET_INFO_GPU (runId, id, cuDevice, name, computeMajor, "   \
    "computeMinor, smCount, threadsPerWarp, maxWarpsPerSm, maxBlocksPerSm, "   \
    "maxRegistersPerSm, maxShmemPerSm, maxShmemPerBlockOptin) VALUES (1, 0, "  \
    "0, 'NVIDIA H200', 9, 0, 132, 32, 64, 32, 65536, 233472, 232448);"

/* Two iterations of two steps; two launches of each execution, of 128 threads
 * with 40 registers and 1,088 bytes of shared memory; and `sql` after that. */
static enum lab_status load(const char *sql, int64_t row,
                            struct lab_occupancy_args *out)
{
    const struct lab_database_options options = {.read_only = true};
    const char *path = sample_path("runs.db");
    struct lab_database *db;
    int64_t run;
    assert_ok(sample_run(path, 2, 2, &run));
    assert_int_equal(run, 1);
    sample_sql(path, sql);
    assert_ok(lab_database_open(&db, path, &options));
    enum lab_status st = lab_whatif_stored(db, run, row, (double)NAN, out);
    lab_database_close(db);
    return st;
}

static bool compute(const struct lab_occupancy_args *args,
                    const struct lab_launch *launch, struct lab_occupancy *out)
{
    const struct lab_occupancy_launch l = {.launch = *launch};
    return !lab_occupancy_compute(out, &args->gpu, &l) &&
           out->active_blocks_per_sm > 0;
}

/* 40 * 32 registers a warp: 12 warps a quarter, 48 of the 64. */
TEST_CASE_WITH(a_stored_launch, NULL, sample_cleanup)
{
    struct lab_occupancy_args args;
    struct lab_occupancy a;
    assert_ok(load(H200, 3, &args));
    assert_string_equal(args.kernel, "void matmul<float>(float*)");
    assert_string_equal(args.device, "NVIDIA H200");
    assert_string_equal(args.note, "");
    assert_true(isnan(args.achieved_pct));
    assert_int_equal(args.gpu.max_threads_per_block, 1024);
    assert_int_equal(args.gpu.shared_per_block_optin_bytes, 232448);
    struct lab_launch t = args.launch;
    assert_int_equal(t.block[0], 128);
    assert_int_equal(t.registers_per_thread, 40);
    assert_int_equal(lab_launch_shared(&t), 1088);
    assert_int_equal(t.grid[0], 6);
    assert_true(compute(&args, &t, &a));
    assert_float_equal((float)a.occupancy_pct, 75, 1e-6);
    assert_int_equal(a.active_blocks_per_sm, 12);
    assert_int_equal(args.gpu.max_warps_per_sm, 64);
    assert_int_equal(a.blocks_by_registers, 12);
    assert_int_equal(a.blocks_by_warps, 16);
    assert_int_equal(a.blocks_by_shared,
                     107); /* 1,088 and the driver's 1,024 */
    assert_float_equal((float)a.waves, 6 / (12 * 132.0), 1e-6);
    t.registers_per_thread = 32; /* and what if */
    assert_true(compute(&args, &t, &a));
    assert_float_equal((float)a.occupancy_pct, 100, 1e-6);
    t.block[0] = 2048;
    assert_false(compute(&args, &t, &a));
}

/* A wave holds whole clusters: 12 * 132 blocks are 226 of 7. */
TEST_CASE_WITH(its_cluster, NULL, sample_cleanup)
{
    struct lab_occupancy_args args;
    struct lab_occupancy a;
    assert_ok(load(H200 "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET clusterX "
                        "= 7, clusterY = 1, clusterZ = 1",
                   3, &args));
    assert_true(compute(&args, &args.launch, &a));
    assert_float_equal((float)a.waves, 6 / (226 * 7.0), 1e-7);
}

/* The second kernel of the second execution was counted, the first was too. */
TEST_CASE_WITH(counted_values_are_beside_the_model, NULL, sample_cleanup)
{
    struct lab_occupancy_args args;
    assert_ok(load(H200
                   "INSERT INTO StringIds (id, value) VALUES (9000, "
                   "'sm__warps_active.avg.pct_of_peak_sustained_active');"
                   "INSERT INTO metric_value (runId, stepExec, kernelOrdinal, "
                   "metricId, value) VALUES (1, 2, 0, 9000, 11.5), (1, 2, 1, "
                   "9000, 22.5)",
                   4, &args));
    assert_float_equal((float)args.achieved_pct, 22.5, 1e-6);
}

TEST_CASE_WITH(what_is_missing_is_named, NULL, sample_cleanup)
{
    static const struct {
        const char *sql;
        enum lab_status status;
        const char *error;
    } cases[] = {
        {"", LAB_E_NOTFOUND,
         "[run.no-limits] limits of the GPU of run 1 were not recorded"},
        {H200 "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET registersPerThread = NULL",
         LAB_E_UNSUPPORTED,
         "[screen.whatif-missing] not recorded: registers of a thread"},
        {H200 "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET blockY = NULL, "
              "dynamicSharedMemory = NULL",
         LAB_E_UNSUPPORTED,
         "[screen.whatif-missing] recorded: the block, dynamic shared memory"},
        {H200 "UPDATE TARGET_INFO_GPU SET maxWarpsPerSm = NULL, "
              "maxShmemPerSm = NULL",
         LAB_E_UNSUPPORTED,
         "[screen.whatif-missing] recorded: warps of a multiprocessor, shared "
         "memory of a multipro"},
        {H200 "UPDATE TARGET_INFO_GPU SET computeMajor = NULL",
         LAB_E_UNSUPPORTED,
         "[screen.whatif-missing] recorded: the GPU's compute capability"},
        {H200 "UPDATE TARGET_INFO_GPU SET computeMajor = 3", LAB_E_UNSUPPORTED,
         "[occupancy.capability] compute capability 3.0 is not known"},
        {H200 "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET blockX = 1 << 62, blockY "
              "= 4",
         LAB_E_UNSUPPORTED, "[screen.whatif-missing] recorded: the block"},
        {H200 "UPDATE TARGET_INFO_GPU SET maxWarpsPerSm = 1 << 62",
         LAB_E_UNSUPPORTED,
         "[screen.whatif-missing] recorded: warps of a multiprocessor"},
    };
    struct lab_occupancy_args args;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(load(cases[i].sql, 3, &args), cases[i].status);
        if (!error_is(cases[i].error))
            fail_msg("%s", lab_error());
        sample_dir_remove();
    }
    assert_int_equal(load(H200, 99, &args), LAB_E_NOTFOUND);
}

/* Without a grid there are no waves; all else is there. */
TEST_CASE_WITH(what_is_not_needed_may_be_missing, NULL, sample_cleanup)
{
    struct lab_occupancy_args args;
    struct lab_occupancy a;
    assert_ok(load(H200
                   "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = NULL, "
                   "clusterX = NULL; UPDATE TARGET_INFO_GPU SET name = NULL, "
                   "smCount = NULL, threadsPerWarp = NULL, maxBlocksPerSm = "
                   "NULL, maxShmemPerBlockOptin = NULL",
                   3, &args));
    assert_string_equal(args.device, "an unnamed GPU");
    assert_int_equal(args.gpu.shared_per_block_optin_bytes, 48 << 10);
    assert_true(compute(&args, &args.launch, &a));
    assert_float_equal((float)a.occupancy_pct, 75, 1e-6);
    assert_true(isnan(a.waves));
}

/* What a database calls its things goes to a terminal. */
TEST_CASE_WITH(texts_from_outside_are_made_visible, NULL, sample_cleanup)
{
    struct lab_occupancy_args args;
    assert_ok(
        load(H200 "UPDATE StringIds SET value = 'ker' || char(27) || '[31mnel' "
                  "WHERE value LIKE 'void matmul%'; UPDATE TARGET_INFO_GPU SET "
                  "name = 'GPU' || char(7)",
             3, &args));
    assert_null(strchr(args.kernel, '\033'));
    assert_non_null(strstr(args.kernel, "[31mnel"));
    assert_null(strchr(args.device, '\a'));
}

/* ---- a step that runs here ---- */

static void push_kernel(struct lab_live *live, int threads, int64_t time_ns)
{
    struct lab_sink sink = lab_live_tee(live, NULL);
    struct lab_record r = sample_kernel(7, 1000 * threads, time_ns);
    r.u.kernel.launch.block[0] = threads;
    assert_true(sink.push(sink.user, &r));
}

static struct lab_ui *scripted(const char *script)
{
    const char *path = sample_path("whatif.keys");
    const struct lab_ui_options options = {.script = path};
    struct lab_ui *ui;
    test_write(path, script);
    assert_ok(lab_ui_new(&ui, &options));
    return ui;
}

/* As the stepper opens it: the longest of the step's three kernels. */
TEST_CASE_WITH(the_longest_kernel_of_a_step, NULL, sample_cleanup)
{
    struct lab_live *live;
    struct lab_step_status step = {.exec = 7};
    struct lab_snapshot snap = {
        .steps = &step,
        .device = {.name = "NVIDIA H200",
                   .compute_major = 9,
                   .sm_count = 132,
                   .warp_size = 32,
                   .max_threads_per_sm = 2048,
                   .max_registers_per_sm = 65536,
                   .max_shared_per_sm_bytes = 233472,
                   .max_shared_per_block_optin_bytes = 232448}};
    assert_ok(lab_live_new(&live, NULL));
    push_kernel(live, 64, 100);
    push_kernel(live, 128, 300);
    push_kernel(live, 256, 200);
    struct lab_ui *ui = scripted("resize 80 24\n"
                                 "expect void matmul<float>(float*)\n"
                                 "expect on NVIDIA H200\n"
                                 "expect 128   as it ran\n"
                                 "expect occupancy 75.0 %: 12 blocks\n"
                                 "absent counted:\n"
                                 "key Right\nexpect it ran with 128\n");
    assert_ok(lab_whatif_open(live, ui, &snap, 0));
    assert_ok(lab_ui_run(ui));
    lab_ui_free(ui);
    snap.device.max_registers_per_sm = 0;
    assert_int_equal(lab_whatif_open(live, NULL, &snap, 0), LAB_E_UNSUPPORTED);
    assert_true(
        error_is("[screen.whatif-missing] recorded: registers of a multipr"));
    step.exec = 8;
    assert_int_equal(lab_whatif_open(live, NULL, &snap, 0), LAB_E_STATE);
    snap.device.compute_major = 0;
    assert_int_equal(lab_whatif_open(live, NULL, &snap, 0), LAB_E_UNSUPPORTED);
    assert_true(error_is("[screen.whatif-cpu] "));
    lab_live_free(live);
}

/* ---- every run that ships ---- */

enum { RUNS = 1024, EACH = 8 };

struct shipped {
    struct lab_database *db;
    int64_t run[RUNS];
    int runs;
    int64_t row[EACH];
    double occupancy[EACH];
    int rows;
    int compared;
};

static bool take_run(void *user, const struct lab_run_row *r)
{
    struct shipped *s = user;
    s->run[s->runs++] = r->id;
    return s->runs < RUNS;
}

static bool take_kernel(void *user, const struct lab_kernel_row *k)
{
    struct shipped *s = user;
    if (isnan(k->occupancy_pct))
        return true;
    s->row[s->rows] = k->row;
    s->occupancy[s->rows++] = k->occupancy_pct;
    return s->rows < EACH;
}

static void compare_kernels(struct shipped *s, int64_t run)
{
    static const struct lab_kernel_filter longest = {
        .sort = LAB_KERNEL_BY_TIME, .descending = true, .limit = EACH};
    struct lab_occupancy_args args;
    struct lab_occupancy a;
    s->rows = 0;
    assert_ok(lab_query_kernels(s->db, run, &longest, take_kernel, s));
    for (int i = 0; i < s->rows; i++, s->compared++) {
        assert_ok(lab_whatif_stored(s->db, run, s->row[i], 0, &args));
        assert_true(compute(&args, &args.launch, &a));
        if (fabs(a.occupancy_pct - s->occupancy[i]) > 1e-9)
            fail_msg("run %d, %s: %g, recorded %g", (int)run, args.kernel,
                     a.occupancy_pct, s->occupancy[i]);
    }
}

/* As it ran, the screen states what the recorder did where the kernel ran. */
TEST_CASE_WITH(recorded_runs_have_their_occupancy, NULL, sample_cleanup)
{
    static struct shipped s;
    const struct lab_database_options options = {.read_only = true};
    const char *path = LAB_SOURCE_DIR "/profiles/recorded/h200.db";
    if (access(path, R_OK))
        skip(); /* not made yet */
    assert_ok(lab_database_open(&s.db, path, &options));
    assert_ok(lab_query_runs(s.db, take_run, &s));
    for (int i = 0; i < s.runs; i++)
        compare_kernels(&s, s.run[i]);
    lab_database_close(s.db);
    assert_true(s.compared > 100);
}

RUN_TESTS()
