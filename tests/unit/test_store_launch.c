/* One launch of a run, and the limits of its GPU. */
#include "test.h"

#include "store/launch.h"
#include "store_samples.h"

static const char KERNEL[] = "void matmul<float>(float*)";

static struct lab_database *open_sample(void)
{
    const struct lab_database_options options = {.read_only = true};
    struct lab_database *db;
    assert_ok(lab_database_open(&db, sample_path("runs.db"), &options));
    return db;
}

/* Two iterations of three steps: rows 1 to 12, two of each execution. */
static void make_sample(void)
{
    int64_t run;
    assert_ok(sample_run(sample_path("runs.db"), 2, 3, &run));
    assert_int_equal(run, 1);
}

static bool take(void *user, const struct lab_kernel_row *row)
{
    struct lab_kernel_row *out = user;
    *out = *row;
    assert_string_equal(row->name, KERNEL);
    return true;
}

TEST_CASE_WITH(a_launch_by_its_row, NULL, sample_cleanup)
{
    struct lab_kernel_row k;
    make_sample();
    sample_sql(sample_path("runs.db"),
               "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET blockX = 96, clusterX = "
               "2 WHERE kernelRow = 9");
    struct lab_database *db = open_sample();
    assert_ok(lab_query_launch(db, 1, 9, take, &k));
    assert_int_equal(k.row, 9);
    assert_int_equal(k.step_index, 1);
    assert_int_equal(k.launch.block[0], 96);
    assert_int_equal(k.launch.cluster[0], 2);
    assert_int_equal(k.launch.registers_per_thread, 40);
    assert_int_equal(k.shared_bytes, 1088);
    assert_int_equal(lab_query_launch(db, 1, 13, take, &k), LAB_E_NOTFOUND);
    assert_int_equal(lab_query_launch(db, 2, 9, take, &k), LAB_E_NOTFOUND);
    lab_database_close(db);
}

/* The step at place 1 ran as "tiled", in the rows 3, 4 and 9, 10. */
TEST_CASE_WITH(the_newest_launch_of_a_kernel, NULL, sample_cleanup)
{
    int64_t row = -7;
    make_sample();
    struct lab_database *db = open_sample();
    assert_ok(lab_launch_last(db, 1, 1, "tiled", KERNEL, &row));
    assert_int_equal(row, 10);
    assert_ok(lab_launch_last(db, 1, 0, "naive", KERNEL, &row));
    assert_int_equal(row, 8);
    const struct {
        int64_t step;
        const char *variant;
        const char *kernel;
    } none[] = {{1, "naive", KERNEL},      {1, NULL, KERNEL},
                {1, "of no run", KERNEL},  {1, "tiled", "other"},
                {LAB_UNKNOWN, NULL, NULL}, {LAB_UNKNOWN, NULL, KERNEL},
                {9, "tiled", KERNEL}};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_int_equal(lab_launch_last(db, 1, none[i].step, none[i].variant,
                                         none[i].kernel, &row),
                         LAB_E_NOTFOUND);
    assert_int_equal(row, 8);
    lab_database_close(db);
}

/* Another tool's run has kernels of no step. */
TEST_CASE_WITH(a_kernel_of_no_step, NULL, sample_cleanup)
{
    int64_t row;
    make_sample();
    sample_sql(sample_path("runs.db"),
               "DELETE FROM step; UPDATE op_kernel SET stepExec = NULL");
    struct lab_database *db = open_sample();
    assert_ok(lab_launch_last(db, 1, LAB_UNKNOWN, NULL, KERNEL, &row));
    assert_int_equal(row, 12);
    lab_database_close(db);
}

/* stepExec is -1 for a kernel between steps (of an evaluation), NULL for one
 * whose step is not known: the kernels of no step are those with NULL. */
TEST_CASE_WITH(a_kernel_between_steps, NULL, sample_cleanup)
{
    int64_t row;
    make_sample();
    sample_sql(sample_path("runs.db"),
               "UPDATE op_kernel SET stepExec = NULL WHERE kernelRow = 5; "
               "UPDATE op_kernel SET stepExec = -1 WHERE kernelRow IN (6, 12)");
    struct lab_database *db = open_sample();
    assert_ok(lab_launch_last(db, 1, LAB_UNKNOWN, NULL, KERNEL, &row));
    assert_int_equal(row, 5);
    lab_database_close(db);
    sample_sql(sample_path("runs.db"),
               "UPDATE op_kernel SET stepExec = -1 WHERE kernelRow = 5");
    db = open_sample();
    assert_int_equal(lab_launch_last(db, 1, LAB_UNKNOWN, NULL, KERNEL, &row),
                     LAB_E_NOTFOUND);
    lab_database_close(db);
}

TEST_CASE_WITH(the_gpu_of_a_run, NULL, sample_cleanup)
{
    struct lab_run_device gpu = {.name = "as before"};
    char name[LAB_GPU_NAME];
    make_sample();
    struct lab_database *db = open_sample();
    assert_int_equal(lab_run_gpu_read(db, 1, 0, &gpu, name), LAB_E_NOTFOUND);
    assert_string_equal(gpu.name, "as before");
    lab_database_close(db);
    sample_sql(sample_path("runs.db"),
               "INSERT INTO TARGET_INFO_GPU (runId, id, cuDevice, name, "
               "computeMajor, computeMinor, smCount, maxRegistersPerSm) VALUES "
               "(1, 4, 0, 'first', 9, 0, 132, 65536)");
    db = open_sample();
    assert_ok(lab_run_gpu_read(db, 1, 3, &gpu, name)); /* the only */
    assert_string_equal(gpu.name, "first");
    assert_int_equal(gpu.compute_major, 9);
    assert_int_equal(gpu.compute_minor, 0);
    assert_int_equal(gpu.sm_count, 132);
    assert_int_equal(gpu.max_registers_per_sm, 65536);
    assert_int_equal(gpu.max_warps_per_sm, LAB_UNKNOWN);
    lab_database_close(db);
    sample_sql(sample_path("runs.db"),
               "INSERT INTO TARGET_INFO_GPU (runId, id, cuDevice, name) VALUES "
               "(1, 0, 1, 'second')");
    db = open_sample();
    assert_ok(lab_run_gpu_read(db, 1, 1, &gpu, name));
    assert_string_equal(gpu.name, "second");
    assert_ok(lab_run_gpu_read(db, 1, 0, &gpu, name));
    assert_string_equal(gpu.name, "first");
    assert_int_equal(lab_run_gpu_read(db, 1, 3, &gpu, name), LAB_E_NOTFOUND);
    lab_database_close(db);
}

RUN_TESTS()
