/* Records the runs of export_sample.h through the program's own writer, so that
 * exports read what a run would have left. */
#include "export_sample.h"

#include "test.h"
#include "file.h"

#include "profile_program.h"
#include "store/bench.h"
#include "store/tuned.h"
#include "store_samples.h"
#include "trace/intern.h"

static const char evil[] = "a\",b<script>&'\\\033[2J\n=1";

int export_cleanup(void **state)
{
    (void)state;
    sample_dir_remove();
    lab_intern_release();
    return 0;
}

/* What a step brings besides its kernels. */
static void push_others(const struct lab_sink *sink, int64_t exec)
{
    struct lab_record r = {.kind = LAB_RECORD_API};
    r.u.api = (struct lab_api_record){
        .exec = exec,
        .start_ns = exec * 10000 - 900,
        .end_ns = exec * 10000 - 100,
        .name = lab_intern("cudaLaunchKernel_v7000"),
        .correlation_id = (uint32_t)(exec * 10000),
        .global_tid = INT64_C(77) << 24 | 78,
    };
    sink->push(sink->user, &r);
    r = (struct lab_record){.kind = LAB_RECORD_MEMCPY};
    r.u.memcpy_ = (struct lab_memcpy_record){
        .exec = exec,
        .start_ns = exec * 10000 + 3000,
        .end_ns = exec * 10000 + 3100,
        .bytes = 4096,
        .stream_id = 7,
        .copy_kind = 1,
        .src_kind = 1,
        .dst_kind = 3,
    };
    sink->push(sink->user, &r);
    r = (struct lab_record){.kind = LAB_RECORD_RANGE};
    r.u.range = (struct lab_range_record){
        .start_ns = exec * 10000 - 1000,
        .end_ns = exec * 10000 + 4000,
        .text = lab_intern(evil),
        .level = 4,
        .global_tid = INT64_C(77) << 24 | 78,
        .number = LAB_UNKNOWN,
    };
    sink->push(sink->user, &r);
}

void record_gpu_run(const char *path)
{
    struct lab_run_info info;
    struct lab_run_summary summary;
    struct lab_writer *writer;
    int64_t exec = 1;
    lab_run_info_init(&info);
    lab_run_summary_init(&summary);
    info.row.lesson = "mlp-digits";
    info.row.title = evil;
    info.row.backend = "cuda";
    info.row.variants = evil;
    info.device.name = "NVIDIA H200";
    info.device.gpu = true;
    info.device.device_id = 0;
    assert_ok(lab_writer_new(&writer, path, &info, NULL));
    struct lab_sink sink = lab_writer_sink(writer);
    for (int64_t i = 0; i < 3; i++)
        sample_iteration(&sink, i, 4, &exec);
    for (exec = 1; exec <= 12; exec++)
        push_others(&sink, exec);
    struct lab_record last = sample_kernel(LAB_UNKNOWN, 200000, 700);
    last.u.kernel.demangled_name = lab_intern(evil);
    sink.push(sink.user, &last);
    assert_ok(lab_writer_finish(writer, &summary));
    lab_writer_free(writer);
    /* Steps lie where their kernels and calls do, in the same process. */
    sample_sql(path,
               "UPDATE step SET start_ns = exec * 10000 - 1000, end_ns = exec "
               "* 10000 + 8000;"
               "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = 77 << 24");
}

int export_setup(void **state)
{
    int failed = sample_setup(state);
    record_gpu_run(*state);
    return failed;
}

static struct lab_bench_result variant(int64_t place, const char *name,
                                       double rate)
{
    struct lab_bench_result r;
    lab_bench_result_init(&r);
    r.place = place;
    r.lab = "gemm";
    r.size = place < 2 ? "64" : "128";
    r.variant = name;
    r.precision = "fp32";
    r.status = isnan(rate) ? "refused" : "done";
    r.reason = isnan(rate) ? "no room" : NULL;
    r.unit = "FLOP/s";
    r.repeats = 20;
    r.check_error = 0.25;
    r.median_ns = isnan(rate) ? rate : 1500;
    r.three_quarters_ns = 1700;
    r.flop = 524288;
    r.rate = rate;
    r.gain = place == 1 ? 2 : (double)NAN;
    r.ceiling_fp32 = 8e12;
    r.note = "=1+1,<b>";
    return r;
}

void sample_ladder(const char *path)
{
    struct lab_database *db;
    const struct lab_bench_result rows[] = {variant(0, "naive", 1e12),
                                            variant(1, "tile", 2e12),
                                            variant(2, "tile", (double)NAN)};
    const struct lab_prediction prediction = {.place = 0,
                                              .variant = "best",
                                              .rate = 3.5e12,
                                              .time_ns = NAN,
                                              .bound = "memory",
                                              .occupancy_pct = 50};
    const struct lab_tuned_row tuned = {.backend = "cuda",
                                        .device = "NVIDIA H200",
                                        .lab = "gemm",
                                        .size_class = "small",
                                        .precision = "fp32",
                                        .candidate = "128x64x8",
                                        .size = "64",
                                        .unit = "FLOP/s",
                                        .median_ns = 1400,
                                        .rate = 2.1e12,
                                        .candidates = 9,
                                        .run = 1,
                                        .measured_ns = 1000};
    assert_ok(lab_database_open(&db, path, NULL));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_ok(lab_bench_result_add(db, 1, &rows[i]));
    assert_ok(lab_prediction_add(db, 1, &prediction));
    assert_ok(lab_tuned_add(db, &tuned));
    lab_database_close(db);
}

void sample_sweep(const char *path)
{
    struct lab_database *db;
    const struct lab_sweep_row row = {.place = 0,
                                      .sweep = "batch-size",
                                      .lesson = "mlp",
                                      .backend = "cpu",
                                      .status = "done",
                                      .iterations = 7,
                                      .samples = LAB_UNKNOWN,
                                      .memory_bytes = 4096,
                                      .parameters = 10,
                                      .x = 16,
                                      .median_ns = 2000,
                                      .quarter_ns = NAN,
                                      .three_quarters_ns = NAN,
                                      .samples_per_s = 8e6,
                                      .flop = NAN,
                                      .loss = NAN,
                                      .loss_iterations = 0.5,
                                      .share = NAN};
    assert_ok(lab_database_open(&db, path, NULL));
    assert_ok(lab_sweep_row_add(db, 1, &row));
    lab_database_close(db);
}

char *export_as(const char *db, const char *format, const char *name)
{
    char args[1024];
    snprintf(args, sizeof(args), "export 1 --format %s --output '%s' @", format,
             sample_path(name));
    if (profile(db, args) != 0)
        fail_msg("%s: %s", format, errors);
    assert_string_equal(output, "");
    return test_read(sample_path(name));
}

void no_control_byte(const char *text)
{
    for (const char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20 && *p != '\n' && *p != '\r')
            fail_msg("byte %02X", (unsigned char)*p);
}
