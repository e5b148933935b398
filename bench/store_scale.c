/* store_scale [RUNS [KERNELS [DIRECTORY]]] -- a database of RUNS runs with
 * KERNELS kernels each (10 and 1,000,000), made by the writer, and what its
 * queries take.
 *
 * Two kernels to a step, 30 steps to an iteration, eight kernel names. Each
 * query opens the database anew, seven times: the first time, when the file's
 * pages may not be in memory yet, the least, and the least of the processor's
 * time, which other programs do not lengthen. The memory is the program's
 * largest so far: that of making the database too, unless it is used again. With
 * KEEP in the environment the file is left behind; one that is there is used
 * again; with ONLY those are measured that have its text in their names. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/quantile.h"
#include "store/compare.h"
#include "store/query.h"
#include "store/timeline.h"
#include "trace/intern.h"

enum { PER_STEP = 2, STEPS = 30, NAMES = 8, REPEATS = 7 };

static uint32_t kernel_names[NAMES];
static uint32_t step_names[STEPS];
static uint32_t words[4];

static void make_names(void)
{
    char text[64];
    for (int i = 0; i < NAMES; i++) {
        snprintf(text, sizeof(text), "void gemm_%d<float, 128, 8>(float*)", i);
        kernel_names[i] = lab_intern(text);
    }
    for (int i = 0; i < STEPS; i++) {
        snprintf(text, sizeof(text), "fc%d.matmul", i);
        step_names[i] = lab_intern(text);
    }
    words[0] = lab_intern("fc");
    words[1] = lab_intern("dense");
    words[2] = lab_intern("tiled");
    words[3] = lab_intern("cuda");
}

static void push_kernel(const struct lab_sink *sink, int64_t i, double factor)
{
    struct lab_record r = {.kind = LAB_RECORD_KERNEL};
    struct lab_kernel_record *k = &r.u.kernel;
    uint64_t noise = (uint64_t)(i + 1) * UINT64_C(0x9E3779B97F4A7C15);
    k->exec = i / PER_STEP + 1;
    k->start_ns = INT64_C(1760000000000000000) + i * 5000;
    k->end_ns = k->start_ns + (int64_t)(factor * 2000) +
                (int64_t)(noise >> 54) * 2 + i % STEPS * 40;
    k->context_id = 1;
    k->stream_id = 7;
    k->correlation_id = (uint32_t)(i * 3);
    k->demangled_name = k->short_name = k->mangled_name =
        kernel_names[i / PER_STEP % STEPS % NAMES];
    k->launch.registers_per_thread = 32 + (int32_t)(i % 7);
    k->launch.grid[0] = 1 + (int32_t)(i % 100);
    k->launch.grid[1] = k->launch.grid[2] = 1;
    k->launch.block[0] = 256;
    k->launch.block[1] = k->launch.block[2] = 1;
    k->launch.static_shared_bytes = 4096;
    k->occupancy_pct = 62.5;
    k->occupancy_limit = LAB_LIMIT_REGISTERS;
    k->active_blocks_per_sm = 5;
    sink->push(sink->user, &r);
}

static void push_step(const struct lab_sink *sink, int64_t exec)
{
    struct lab_record r = {.kind = LAB_RECORD_STEP};
    struct lab_step_record *s = &r.u.step;
    s->exec = exec;
    s->iteration = (exec - 1) / STEPS;
    s->index = (int32_t)((exec - 1) % STEPS);
    s->phase = s->index < 10 ? 0 : s->index < 12 ? 1 : s->index < 24 ? 2 : 3;
    s->name = step_names[s->index];
    s->node = words[0];
    s->op = words[1];
    s->variant = words[2];
    s->backend = words[3];
    s->time_source = LAB_TIME_CUPTI;
    s->start_ns = INT64_C(1760000000000000000) + exec * 10000;
    s->end_ns = s->start_ns + 9000;
    s->time_ns = LAB_UNKNOWN;
    s->flop = 1e6;
    s->bytes = 1e5;
    sink->push(sink->user, &r);
    if (s->index != STEPS - 1)
        return;
    r = (struct lab_record){.kind = LAB_RECORD_LOSS};
    r.u.loss.iteration = (exec - 1) / STEPS;
    r.u.loss.loss = 1.0 / (double)exec;
    r.u.loss.accuracy = NAN;
    sink->push(sink->user, &r);
}

static enum lab_status make_run(const char *path, int64_t kernels, int nth)
{
    struct lab_writer *writer;
    struct lab_run_info info;
    struct lab_run_summary summary;
    lab_run_info_init(&info);
    lab_run_summary_init(&summary);
    info.row.lesson = "bench";
    info.row.backend = "cuda";
    info.device.name = "NVIDIA H200";
    enum lab_status st = lab_writer_new(&writer, path, &info, NULL);
    if (st)
        return st;
    const struct lab_sink sink = lab_writer_sink(writer);
    make_names();
    for (int64_t i = 0; i < kernels; i++) {
        push_kernel(&sink, i, 1 + 0.1 * nth);
        if (i % PER_STEP == PER_STEP - 1)
            push_step(&sink, i / PER_STEP + 1);
    }
    int64_t pushed = lab_clock_monotonic_ns();
    st = lab_writer_finish(writer, &summary);
    int64_t ended = lab_clock_monotonic_ns();
    printf("run %d: finished %.3f s after its last record\n", nth + 1,
           (double)(ended - pushed) * 1e-9);
    lab_writer_free(writer);
    return st;
}

/* ---- what is measured ---- */

struct bench {
    const char *path;
    int64_t run; /* the last one */
    int64_t far; /* its last iteration but one */
    int64_t rows;
};

static bool count_run(void *user, const struct lab_run_row *row)
{
    struct bench *b = user;
    b->run = row->id > b->run ? row->id : b->run;
    b->rows++;
    return true;
}

static bool count_step(void *user, const struct lab_time_sum *row)
{
    (void)row;
    ((struct bench *)user)->rows++;
    return true;
}

static bool count_kernel(void *user, const struct lab_kernel_row *row)
{
    (void)row;
    ((struct bench *)user)->rows++;
    return true;
}

static enum lab_status list_runs(struct bench *b, struct lab_database *db)
{
    return lab_query_runs(db, count_run, b);
}

static enum lab_status show_run(struct bench *b, struct lab_database *db)
{
    struct lab_time_sums sums;
    enum lab_status st =
        lab_query_steps(db, b->run, LAB_STEP_BY_MEDIAN, true, count_step, b);
    if (st == LAB_OK)
        st = lab_time_sums_load(&sums, db, b->run, 1u << LAB_SUM_KERNEL);
    if (st == LAB_OK) {
        b->rows += (int64_t)sums.count;
        lab_time_sums_release(&sums);
    }
    return st;
}

static enum lab_status kernels(struct bench *b, struct lab_database *db,
                               enum lab_kernel_sort sort, int64_t limit)
{
    const struct lab_kernel_filter f = {
        .sort = sort, .descending = true, .limit = limit};
    return lab_query_kernels(db, b->run, &f, count_kernel, b);
}

/* The first 50, and as many as `profile kernels` prints by default. */
#define SORT(name, sort)                                                       \
    static enum lab_status name(struct bench *b, struct lab_database *db)      \
    {                                                                          \
        return kernels(b, db, sort, 50);                                       \
    }                                                                          \
    static enum lab_status name##_1000(struct bench *b,                        \
                                       struct lab_database *db)                \
    {                                                                          \
        return kernels(b, db, sort, 1000);                                     \
    }
SORT(sort_row, LAB_KERNEL_BY_ROW)
SORT(sort_start, LAB_KERNEL_BY_START)
SORT(sort_time, LAB_KERNEL_BY_TIME)
SORT(sort_name, LAB_KERNEL_BY_NAME)
SORT(sort_step, LAB_KERNEL_BY_STEP)
SORT(sort_grid, LAB_KERNEL_BY_GRID)
SORT(sort_block, LAB_KERNEL_BY_BLOCK)
SORT(sort_registers, LAB_KERNEL_BY_REGISTERS)
SORT(sort_shared, LAB_KERNEL_BY_SHARED)
SORT(sort_occupancy, LAB_KERNEL_BY_OCCUPANCY)

static enum lab_status compare(struct bench *b, struct lab_database *db)
{
    struct lab_comparison c;
    enum lab_status st = lab_comparison_load(&c, db, b->run, b->run - 1);
    if (st == LAB_OK) {
        b->rows += (int64_t)c.count;
        lab_comparison_release(&c);
    }
    return st;
}

static bool count_pass(void *user, const struct lab_iteration_row *row)
{
    (void)row;
    ((struct bench *)user)->rows++;
    return true;
}

static enum lab_status iterations(struct bench *b, struct lab_database *db)
{
    return lab_query_iterations(db, b->run, count_pass, b);
}

static enum lab_status timeline_of(struct bench *b, struct lab_database *db,
                                   int64_t iteration)
{
    struct lab_iteration_row of;
    struct lab_timeline *t;
    enum lab_status st = lab_query_iteration(db, b->run, iteration, &of);
    if (st == LAB_OK)
        st = lab_timeline_load(&t, db, b->run, &of, NULL);
    if (st == LAB_OK) {
        b->rows += t->count;
        lab_timeline_free(t);
    }
    return st;
}

/* The last one, as the screen opens. */
static enum lab_status timeline(struct bench *b, struct lab_database *db)
{
    return timeline_of(b, db, LAB_UNKNOWN);
}

static enum lab_status timeline_near(struct bench *b, struct lab_database *db)
{
    return timeline_of(b, db, 3);
}

static enum lab_status timeline_far(struct bench *b, struct lab_database *db)
{
    return timeline_of(b, db, b->far);
}

static bool count_loss(void *user, const struct lab_loss_row *row)
{
    (void)row;
    ((struct bench *)user)->rows++;
    return true;
}

static enum lab_status losses(struct bench *b, struct lab_database *db)
{
    return lab_query_losses(db, b->run, count_loss, b);
}

static double cpu_ms(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e3 +
           (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e-3;
}

static enum lab_status measure(struct bench *b, const char *what,
                               enum lab_status (*does)(struct bench *,
                                                       struct lab_database *))
{
    const struct lab_database_options reader = {.read_only = true};
    double ms[REPEATS];
    double cpu[REPEATS];
    struct lab_database *db;
    for (int i = 0; i < REPEATS; i++) {
        int64_t begin = lab_clock_monotonic_ns();
        double cpu_begin = cpu_ms();
        b->rows = 0;
        enum lab_status st = lab_database_open(&db, b->path, &reader);
        if (st == LAB_OK)
            st = does(b, db);
        if (st)
            return st;
        lab_database_close(db);
        ms[i] = (double)(lab_clock_monotonic_ns() - begin) * 1e-6;
        cpu[i] = cpu_ms() - cpu_begin;
    }
    double first = ms[0];
    lab_sort_reals(ms, REPEATS);
    lab_sort_reals(cpu, REPEATS);
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%-28s %7.1f ms first, %7.1f ms, %6.1f ms of processor, %5lld rows, "
           "%4.0f MB\n",
           what, first, ms[0], cpu[0], (long long)b->rows,
           (double)used.ru_maxrss / 1024);
    return LAB_OK;
}

static enum lab_status measure_all(struct bench *b)
{
    static const struct {
        const char *what;
        enum lab_status (*does)(struct bench *, struct lab_database *);
    } all[] = {
        {"open, list of runs", list_runs},
        {"open, a run's screen", show_run},
        {"kernels as recorded", sort_row},
        {"kernels as recorded, 1,000", sort_row_1000},
        {"kernels by start", sort_start},
        {"kernels by start, 1,000", sort_start_1000},
        {"kernels by time", sort_time},
        {"kernels by time, 1,000", sort_time_1000},
        {"kernels by name", sort_name},
        {"kernels by name, 1,000", sort_name_1000},
        {"kernels by step", sort_step},
        {"kernels by step, 1,000", sort_step_1000},
        {"kernels by grid", sort_grid},
        {"kernels by grid, 1,000", sort_grid_1000},
        {"kernels by block", sort_block},
        {"kernels by block, 1,000", sort_block_1000},
        {"kernels by registers", sort_registers},
        {"kernels by registers, 1,000", sort_registers_1000},
        {"kernels by shared", sort_shared},
        {"kernels by shared, 1,000", sort_shared_1000},
        {"kernels by occupancy", sort_occupancy},
        {"kernels by occupancy, 1,000", sort_occupancy_1000},
        {"compare two runs", compare},
        {"losses of a run", losses},
        {"iterations of a run", iterations},
        {"timeline of the last", timeline},
        {"timeline of an early one", timeline_near},
        {"timeline of a far one", timeline_far},
    };
    enum lab_status st = LAB_OK;
    const char *only = getenv("ONLY");
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && st == LAB_OK; i++)
        if (i == 0 || !only || strstr(all[i].what, only))
            st = measure(b, all[i].what, all[i].does);
    return st;
}

int main(int argc, char **argv)
{
    int runs = argc > 1 ? atoi(argv[1]) : 10;
    int64_t kernel_count = argc > 2 ? atoll(argv[2]) : 1000000;
    const char *directory = argc > 3 ? argv[3] : "/tmp";
    char path[4096];
    struct stat info;
    enum lab_status st = LAB_OK;
    if (runs < 2 || kernel_count < 2 * PER_STEP * STEPS) {
        fprintf(stderr, "usage: store_scale [RUNS [KERNELS [DIRECTORY]]]\n");
        return 2;
    }
    snprintf(path, sizeof(path), "%s/store_scale.%d.%lld.db", directory, runs,
             (long long)kernel_count);
    bool kept = stat(path, &info) == 0; /* by KEEP, of an earlier time */
    for (int i = 0; !kept && st == LAB_OK && i < runs; i++)
        st = make_run(path, kernel_count, i);
    struct bench b = {.path = path,
                      .far = kernel_count / (PER_STEP * STEPS) - 2};
    if (st == LAB_OK && stat(path, &info) == 0)
        printf("%s: %.0f MB\n", path, (double)info.st_size / 1e6);
    if (st == LAB_OK)
        st = measure_all(&b);
    if (!getenv("KEEP"))
        unlink(path);
    if (st) {
        fprintf(stderr, "store_scale: %s\n", lab_error());
        return 1;
    }
    lab_intern_release();
    return 0;
}
