/* bench_writer [ROWS [REPEATS [DIRECTORY]]] -- kernel records through ring and
 * writer into a fresh database.
 *
 * Two mixes: kernels alone, and kernels as a traced training run brings them
 * (one step for every two kernels, one launch call for each, an iteration's end
 * every 30 steps). The clock runs from the first push until
 * lab_writer_finish() returns, with everything committed and checkpointed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/writer.h"
#include "trace/intern.h"

enum { MAX_REPEATS = 99, PER_STEP = 2, STEPS = 30 };

struct result {
    double seconds;
    double push_seconds; /* until the last push returned */
    struct lab_writer_state state;
};

static struct lab_record kernel_record(int64_t i, const uint32_t *names)
{
    struct lab_record r = {.kind = LAB_RECORD_KERNEL};
    struct lab_kernel_record *k = &r.u.kernel;
    k->exec = i / PER_STEP + 1;
    k->start_ns = INT64_C(1760000000000000000) + i * 5000;
    k->end_ns = k->start_ns + 2000 + i % 1000;
    k->context_id = 1;
    k->stream_id = 7;
    k->correlation_id = (uint32_t)(i * 3);
    k->demangled_name = names[i % 8];
    k->short_name = names[8 + i % 8];
    k->mangled_name = names[16 + i % 8];
    k->launch.registers_per_thread = 32 + (int32_t)(i % 7);
    k->launch.grid[0] = 1 + (int32_t)(i % 100);
    k->launch.grid[1] = k->launch.grid[2] = 1;
    k->launch.block[0] = 256;
    k->launch.block[1] = k->launch.block[2] = 1;
    k->launch.static_shared_bytes = 4096;
    k->facts.shared_executed_bytes = 8192;
    k->grid_id = i + 1;
    k->occupancy_pct = 62.5;
    k->occupancy_limit = LAB_LIMIT_REGISTERS;
    k->active_blocks_per_sm = 5;
    return r;
}

static struct lab_record step_record(int64_t exec, const uint32_t *names)
{
    struct lab_record r = {.kind = LAB_RECORD_STEP};
    struct lab_step_record *s = &r.u.step;
    s->exec = exec;
    s->iteration = exec / STEPS;
    s->index = (int32_t)(exec % STEPS);
    s->phase = s->index / 10;
    s->name = names[exec % 8];
    s->node = names[8];
    s->op = names[9];
    s->variant = names[10];
    s->backend = names[11];
    s->time_source = LAB_TIME_CUPTI;
    s->start_ns = INT64_C(1760000000000000000) + exec * 10000;
    s->end_ns = s->start_ns + 9000;
    s->time_ns = LAB_UNKNOWN;
    s->flop = 1e6;
    s->bytes = 1e5;
    return r;
}

static void push_all(struct lab_sink sink, int64_t rows, int mixed)
{
    uint32_t names[24];
    for (int i = 0; i < 24; i++) {
        char text[64];
        snprintf(text, sizeof(text), "kernel_name_%d<float, 128, 8>", i);
        names[i] = lab_intern(text);
    }
    for (int64_t i = 0; i < rows; i++) {
        struct lab_record r = kernel_record(i, names);
        sink.push(sink.user, &r);
        if (!mixed)
            continue;
        struct lab_record api = {.kind = LAB_RECORD_API};
        api.u.api.start_ns = r.u.kernel.start_ns - 4000;
        api.u.api.end_ns = r.u.kernel.start_ns - 1000;
        api.u.api.name = names[12];
        api.u.api.correlation_id = r.u.kernel.correlation_id;
        sink.push(sink.user, &api);
        if (i % PER_STEP != PER_STEP - 1)
            continue;
        r = step_record(i / PER_STEP + 1, names);
        sink.push(sink.user, &r);
        if (r.u.step.index == STEPS - 1) {
            struct lab_record loss = {.kind = LAB_RECORD_LOSS};
            loss.u.loss.iteration = r.u.step.iteration;
            loss.u.loss.loss = 1.0 / (double)(1 + r.u.step.iteration);
            loss.u.loss.accuracy = NAN;
            sink.push(sink.user, &loss);
        }
    }
}

static enum lab_status measure(const char *path, int64_t rows, int mixed,
                               struct result *out)
{
    struct lab_writer *writer;
    struct lab_run_info info;
    struct lab_run_summary summary;
    lab_run_info_init(&info);
    lab_run_summary_init(&summary);
    info.row.lesson = "bench";
    info.row.backend = "cuda";
    unlink(path);
    enum lab_status st = lab_writer_new(&writer, path, &info, NULL);
    if (st)
        return st;
    int64_t begin = lab_clock_monotonic_ns();
    push_all(lab_writer_sink(writer), rows, mixed);
    int64_t pushed = lab_clock_monotonic_ns();
    st = lab_writer_finish(writer, &summary);
    int64_t end = lab_clock_monotonic_ns();
    lab_writer_get_state(writer, &out->state);
    lab_writer_free(writer);
    unlink(path);
    out->push_seconds = (double)(pushed - begin) * 1e-9;
    out->seconds = (double)(end - begin) * 1e-9;
    return st;
}

static int compare_results(const void *a, const void *b)
{
    double x = ((const struct result *)a)->seconds;
    double y = ((const struct result *)b)->seconds;
    return (x > y) - (x < y);
}

static enum lab_status bench(const char *path, int64_t rows, int repeats,
                             int mixed)
{
    struct result r[MAX_REPEATS];
    for (int i = 0; i < repeats; i++) {
        enum lab_status st = measure(path, rows, mixed, &r[i]);
        if (st)
            return st;
    }
    qsort(r, (size_t)repeats, sizeof(r[0]), compare_results);
    const struct result *m = &r[repeats / 2];
    printf("%-16s median %.3f s (min %.3f, max %.3f; last push %.3f s), "
           "%.0f kernel rows/s, %llu records stored, %llu lost, "
           "%llu dropped, %llu waits of %.3f s in all, high water %zu\n",
           mixed ? "traced run" : "kernels alone", m->seconds, r[0].seconds,
           r[repeats - 1].seconds, m->push_seconds, (double)rows / m->seconds,
           (unsigned long long)m->state.stored,
           (unsigned long long)m->state.lost,
           (unsigned long long)m->state.ring.dropped,
           (unsigned long long)m->state.ring.waits,
           (double)m->state.ring.wait_ns * 1e-9, m->state.ring.high_water);
    return LAB_OK;
}

int main(int argc, char **argv)
{
    int64_t rows = argc > 1 ? atoll(argv[1]) : 1000000;
    int repeats = argc > 2 ? atoi(argv[2]) : 5;
    const char *directory = argc > 3 ? argv[3] : "/tmp";
    char path[4096];
    if (rows < 1 || repeats < 1 || repeats > MAX_REPEATS) {
        fprintf(stderr, "usage: bench_writer [ROWS [REPEATS [DIRECTORY]]]\n");
        return 2;
    }
    snprintf(path, sizeof(path), "%s/bench_writer.%d.db", directory,
             (int)getpid());
    enum lab_status st = bench(path, rows, repeats, 0);
    if (st == LAB_OK)
        st = bench(path, rows, repeats, 1);
    if (st) {
        fprintf(stderr, "bench_writer: %s\n", lab_error());
        return 1;
    }
    lab_intern_release();
    return 0;
}
