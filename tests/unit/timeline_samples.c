/* Records runs with spans at known microseconds, for the timeline's tests. */
#include "timeline_samples.h"

#include "store_samples.h"
#include "trace/intern.h"

#define AT(us) (SAMPLE_TIMELINE_START + INT64_C(1000) * (us))

static void push(const struct lab_sink *sink, const struct lab_record *r)
{
    sink->push(sink->user, r);
}

static void step(const struct lab_sink *sink, int64_t exec, int64_t iteration,
                 const char *name, int phase, int64_t start, int64_t end)
{
    struct lab_record r = sample_step(exec, iteration, (int32_t)(exec % 4),
                                      LAB_TIME_CUPTI, LAB_UNKNOWN);
    r.u.step.name = lab_intern(name);
    r.u.step.phase = phase;
    r.u.step.start_ns = start;
    r.u.step.end_ns = end;
    push(sink, &r);
}

static void range(const struct lab_sink *sink, int level, const char *text,
                  int64_t start, int64_t end)
{
    struct lab_record r = {.kind = LAB_RECORD_RANGE};
    r.u.range = (struct lab_range_record){.start_ns = start,
                                          .end_ns = end,
                                          .text = lab_intern(text),
                                          .level = level,
                                          .global_tid = (9 << 24) | 77,
                                          .number = LAB_UNKNOWN};
    push(sink, &r);
}

static void call(const struct lab_sink *sink, const char *name,
                 uint32_t correlation, int64_t start, int64_t end)
{
    struct lab_record r = {.kind = LAB_RECORD_API};
    r.u.api = (struct lab_api_record){.exec = LAB_UNKNOWN,
                                      .start_ns = start,
                                      .end_ns = end,
                                      .name = lab_intern(name),
                                      .correlation_id = correlation,
                                      .global_tid = (9 << 24) | 77};
    push(sink, &r);
}

static void kernel(const struct lab_sink *sink, int64_t exec, const char *name,
                   uint32_t correlation, int stream, int64_t node,
                   int64_t start, int64_t end)
{
    struct lab_record r = sample_kernel(exec, start, end - start);
    r.u.kernel.short_name = lab_intern(name);
    r.u.kernel.correlation_id = correlation;
    r.u.kernel.stream_id = stream;
    r.u.kernel.graph_node_id = node;
    push(sink, &r);
}

static void memory(const struct lab_sink *sink, enum lab_record_kind kind,
                   int64_t exec, uint32_t correlation, int64_t start,
                   int64_t end)
{
    struct lab_record r = {.kind = kind};
    r.u.memcpy_ = (struct lab_memcpy_record){.exec = exec,
                                             .start_ns = start,
                                             .end_ns = end,
                                             .bytes = 4096,
                                             .stream_id = 7,
                                             .correlation_id = correlation,
                                             .copy_kind = 1};
    push(sink, &r);
}

static void first_iteration(const struct lab_sink *s)
{
    struct lab_record loss = sample_loss(0, 2.0, 0.5);
    call(s, "cudaLaunchKernel", 1, AT(980), AT(982));
    range(s, 4, "fc1.matmul", AT(959), AT(986));
    step(s, 1, 0, "fc1.matmul", 0, AT(960), AT(985));
    kernel(s, 1, "gemm_tiled", 1, 7, 0, AT(990), AT(1014));
    range(s, 1, "iteration 0", AT(0), AT(995));
    push(s, &loss);
}

static void forward(const struct lab_sink *s)
{
    call(s, "cudaMemcpyAsync", 2, AT(1012), AT(1016));
    memory(s, LAB_RECORD_MEMCPY, LAB_UNKNOWN, 2, AT(1018), AT(1028));
    call(s, "cudaLaunchKernel", 3, AT(1022), AT(1026));
    call(s, "cudaLaunchKernel", 4, AT(1028), AT(1031));
    kernel(s, 2, "gemm_tiled", 3, 7, 0, AT(1030), AT(1050));
    kernel(s, 2, "add_bias", 4, 7, 0, AT(1050), AT(1058));
    range(s, 4, "fc1.matmul", AT(1019), AT(1041));
    step(s, 2, 1, "fc1.matmul", 0, AT(1020), AT(1040));
    call(s, "cudaLaunchKernel", 5, AT(1052), AT(1055));
    kernel(s, 3, "relu", 5, 7, 0, AT(1070), AT(1075));
    range(s, 4, "relu", AT(1049), AT(1061));
    step(s, 3, 1, "relu", 0, AT(1050), AT(1060));
    range(s, 2, "forward", AT(1010), AT(1200));
}

static void update(const struct lab_sink *s)
{
    call(s, "cudaGraphLaunch", 6, AT(1212), AT(1220));
    call(s, "cudaMemsetAsync", 7, AT(1221), AT(1224));
    memory(s, LAB_RECORD_MEMSET, 4, 7, AT(1226), AT(1228));
    kernel(s, 4, "sgd_weights", 6, 7, 101, AT(1230), AT(1260));
    kernel(s, 4, "sgd_bias", 6, 13, 102, AT(1235), AT(1255));
    kernel(s, 4, "sgd_weights", 6, 7, 103, AT(1262), AT(1300));
    kernel(s, 4, "lost", 9, 7, 0, 0, 0);
    call(s, "cudaStreamSynchronize", 8, AT(1225), AT(1385));
    range(s, 4, "sgd", AT(1209), AT(1389));
    step(s, 4, 1, "sgd", 3, AT(1210), AT(1388));
    range(s, 2, "update", AT(1205), AT(1390));
    range(s, 1, "iteration 1", AT(1000), AT(1400));
}

static enum lab_status begin(struct lab_writer **writer, const char *path,
                             const char *backend, int64_t *run)
{
    struct lab_run_info info;
    lab_run_info_init(&info);
    info.row.lesson = "mlp-digits";
    info.row.backend = backend;
    info.device.name = "NVIDIA H200";
    enum lab_status st = lab_writer_new(writer, path, &info, NULL);
    if (st == LAB_OK && run)
        *run = lab_writer_run(*writer);
    return st;
}

static enum lab_status end(struct lab_writer *writer)
{
    struct lab_run_summary summary;
    lab_run_summary_init(&summary);
    enum lab_status st = lab_writer_finish(writer, &summary);
    lab_writer_free(writer);
    return st;
}

enum lab_status sample_timeline_run(const char *path, int64_t *run)
{
    struct lab_writer *writer;
    struct lab_record loss = sample_loss(1, 1.0, 0.5);
    enum lab_status st = begin(&writer, path, "cuda", run);
    if (st)
        return st;
    const struct lab_sink sink = lab_writer_sink(writer);
    first_iteration(&sink);
    forward(&sink);
    update(&sink);
    push(&sink, &loss);
    step(&sink, 5, 2, "fc1.matmul", 0, LAB_UNKNOWN, LAB_UNKNOWN);
    range(&sink, 0, "run", AT(-5), AT(2100));
    return end(writer);
}

enum lab_status sample_timeline_cpu(const char *path, int64_t *run)
{
    static const char *const names[] = {"fc1.matmul", "relu", "sgd"};
    struct lab_writer *writer;
    enum lab_status st = begin(&writer, path, "cpu", run);
    if (st)
        return st;
    const struct lab_sink sink = lab_writer_sink(writer);
    for (int i = 0; i < 3; i++)
        step(&sink, i + 1, 0, names[i], i, AT(20 * i), AT(20 * i + 10 + i));
    return end(writer);
}

enum lab_status sample_timeline_foreign(const char *path, int64_t *run)
{
    int64_t id;
    enum lab_status st = sample_timeline_run(path, &id);
    if (st)
        return st;
    sample_sql(path,
               "DELETE FROM step; DELETE FROM op_memory;"
               "DELETE FROM loss; UPDATE op_kernel SET stepExec = NULL;"
               "UPDATE NVTX_EVENTS SET category = NULL;"
               "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = 9 << 24;"
               "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET globalPid = 9 << 24;"
               "UPDATE CUPTI_ACTIVITY_KIND_MEMSET SET globalPid = 9 << "
               "24");
    if (run)
        *run = id;
    return LAB_OK;
}

enum lab_status sample_timeline_empty(const char *path, int64_t *run)
{
    struct lab_writer *writer;
    enum lab_status st = begin(&writer, path, "cuda", run);
    return st ? st : end(writer);
}

enum lab_status sample_timeline_many(const char *path, int64_t iterations,
                                     int64_t kernels, int64_t *run)
{
    struct lab_writer *writer;
    uint32_t correlation = 1;
    int64_t us = 0;
    enum lab_status st = begin(&writer, path, "cuda", run);
    if (st)
        return st;
    const struct lab_sink sink = lab_writer_sink(writer);
    for (int64_t i = 0; i < iterations; i++) {
        int64_t from = us;
        for (int64_t k = 0; k < kernels; k++, us += 3, correlation++) {
            call(&sink, "cudaLaunchKernel", correlation, AT(us), AT(us + 1));
            kernel(&sink, i + 1, k % 2 ? "odd" : "even", correlation, 7, 0,
                   AT(us + 1), AT(us + 3));
        }
        step(&sink, i + 1, i, "fc1.matmul", 0, AT(from), AT(us));
        range(&sink, 1, "iteration", AT(from), AT(us));
        us += 5;
    }
    return end(writer);
}
