/* Writes a lab's run with steps, traced launches and rows of results through
 * the program's writer, for tests of the store and of the screens. */
#include "lab_samples.h"

#include <math.h>
#include <stdio.h>

#include "store/bench.h"
#include "store_samples.h"
#include "trace/intern.h"

static void push_step(const struct lab_sink *sink,
                      const struct sample_variant *r, int32_t index,
                      int64_t exec, int i, bool traced)
{
    char name[64];
    snprintf(name, sizeof(name), "gemm %s%s", r->size,
             traced ? ", traced" : "");
    struct lab_record record =
        sample_step(exec, traced ? SAMPLE_REPEATS : i, index,
                    traced ? LAB_TIME_CUPTI : LAB_TIME_CUDA_EVENTS,
                    traced ? LAB_UNKNOWN : r->time_ns + (i * 7 + index) % 9);
    record.u.step.phase = 0;
    record.u.step.name = lab_intern(name);
    record.u.step.node = record.u.step.name;
    record.u.step.op = lab_intern("gemm");
    record.u.step.variant = lab_intern(r->name);
    sink->push(sink->user, &record);
}

static void push_launch(const struct lab_sink *sink,
                        const struct sample_variant *r, int32_t index,
                        int64_t exec)
{
    push_step(sink, r, index, exec, 0, true);
    struct lab_record k =
        sample_kernel(exec, 1005000 + exec * 10000, r->time_ns);
    k.u.kernel.short_name = lab_intern("gemm");
    sink->push(sink->user, &k);
}

static struct lab_bench_result row_of(const struct sample_variant *r,
                                      int64_t place)
{
    struct lab_bench_result row = {.place = place,
                                   .lab = "gemm",
                                   .size = r->size,
                                   .variant = r->name,
                                   .precision = r->precision,
                                   .status = "done",
                                   .unit = "FLOP/s",
                                   .repeats = SAMPLE_REPEATS,
                                   .flush_bytes = LAB_UNKNOWN,
                                   .median_ns = (double)r->time_ns,
                                   .rate = 1e12,
                                   .workspace_bytes = LAB_UNKNOWN,
                                   .traced_exec = LAB_UNKNOWN};
    row.ceiling_copy = row.ceiling_fp32 = NAN;
    return row;
}

/* The variants' rows are the lab's own; everything else is the writer's. */
static enum lab_status record_variants(struct lab_writer *writer,
                                       struct lab_database *db,
                                       const struct sample_variant *variants,
                                       int n, bool traced)
{
    const struct lab_sink sink = lab_writer_sink(writer);
    int64_t run = lab_writer_run(writer);
    int64_t exec = 0;
    enum lab_status st = LAB_OK;
    for (int p = 0; p < n && !st; p++) {
        const struct lab_bench_result row = row_of(&variants[p], p);
        for (int i = 0; i < SAMPLE_REPEATS; i++)
            push_step(&sink, &variants[p], p, ++exec, i, false);
        st = lab_writer_flush(writer);
        st = st ? st : lab_bench_result_add(db, run, &row);
    }
    for (int p = 0; p < n && traced && !st; p++) {
        push_launch(&sink, &variants[p], n + p, ++exec);
        st = lab_writer_flush(writer);
        st = st ? st : lab_bench_result_traced(db, run, p, exec);
    }
    return st;
}

enum lab_status sample_lab(const char *path,
                           const struct sample_variant *variants, int n,
                           bool traced, int64_t *run)
{
    struct lab_writer *writer;
    struct lab_database *db = NULL;
    struct lab_run_info info;
    struct lab_run_summary summary;
    lab_run_info_init(&info);
    lab_run_summary_init(&summary);
    info.row.kind = "lab";
    info.row.lesson = "lab-gemm";
    info.row.backend = "cuda";
    info.device.name = "NVIDIA H200";
    enum lab_status st = lab_writer_new(&writer, path, &info, NULL);
    if (st)
        return st;
    if (run)
        *run = lab_writer_run(writer);
    st = lab_database_open(&db, path, NULL);
    if (!st)
        st = record_variants(writer, db, variants, n, traced);
    lab_database_close(db);
    summary.iterations = SAMPLE_REPEATS;
    enum lab_status ended = lab_writer_finish(writer, &summary);
    lab_writer_free(writer);
    return st ? st : ended;
}
