/* bench_tracing [REPEATS]: what tracing adds to a launch of an empty kernel and
 * to a node of a CUDA graph.
 *
 *     cmake --build build/default --target bench_tracing
 *     build/default/bin/bench_tracing
 *
 * Each state in processes of its own, taking turns, because CUPTI leaves traces
 * of itself:
 *   bare       no CUPTI in the process
 *   cupti      CONCURRENT_KERNEL records and nothing else, read and dropped: the
 *              least that a tool can do
 *   calls      the same with the records of the runtime's and the driver's calls
 *   ours       the program's trace: a step around every two launches, records
 *              of kernels and calls written to a database
 *   kernels    as ours, without the records of calls: `--trace kernels`
 *   off again  as ours after tracing was taken off, in the same process
 *   nodes      as ours, with a record of each node of a graph
 * Prints microseconds, the best and the median of the repeats, and what each
 * adds to bare, in all and as a multiple of what bare CUPTI adds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/quantile.h"
#include "bench_tracing.h"
#include "profiler/gpu.h"
#include "profiler/join.h"
#include "cupti_api.h"
#include "store/writer.h"

enum { LAUNCHES = 40000, ROUNDS = 3, PER_STEP = 2, NODES = 30, GRAPHS = 2000 };
enum { MOST_REPEATS = 32 };

enum state { BARE, CUPTI, CALLS, OURS, KERNELS, OFF_AGAIN, NODE_TIMES, STATES };
static const char *const names[STATES] = {
    "bare", "cupti", "calls", "ours", "kernels", "off again", "nodes"};

struct figures {
    double launch;
    double node; /* of a graph */
};

/* ---- bare CUPTI ---- */

static const struct lab_cupti *cupti;

static void CUPTIAPI requested(uint8_t **buffer, size_t *size, size_t *most)
{
    *size = 8 << 20;
    *most = 0;
    *buffer = lab_alloc_aligned(*size);
}

static void CUPTIAPI completed(CUcontext context, uint32_t stream,
                               uint8_t *buffer, size_t size, size_t valid)
{
    CUpti_Activity *record = NULL;
    (void)context;
    (void)stream;
    (void)size;
    while (cupti->cuptiActivityGetNextRecord(buffer, valid, &record) ==
           CUPTI_SUCCESS)
        ;
    lab_free(buffer);
}

static int start_cupti(bool calls)
{
    static const CUpti_ActivityKind kinds[] = {
        CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_RUNTIME,
        CUPTI_ACTIVITY_KIND_DRIVER};
    if (lab_cupti_load(&cupti)) {
        fprintf(stderr, "bench_tracing: %s\n", lab_error());
        return 0;
    }
    if (cupti->cuptiActivityRegisterCallbacks(requested, completed) !=
        CUPTI_SUCCESS)
        return 0;
    for (int i = 0; i < (calls ? 3 : 1); i++) {
        if (cupti->cuptiActivityEnable(kinds[i]) != CUPTI_SUCCESS)
            return 0;
    }
    return 1;
}

/* ---- ours ---- */

static const struct lab_gpu_profiler_ops *const ops = &lab_gpu_profiler_cupti;
static struct lab_writer *writer;
static struct lab_join *join;
static char database[] = "/tmp/bench_tracing.XXXXXX";

static int start_ours(enum state s)
{
    struct lab_gpu_sink to;
    struct lab_run_info info;
    struct lab_gpu_trace_options options = {
        .records = s == KERNELS ? LAB_GPU_RECORDS_KERNELS : LAB_GPU_RECORDS_ALL,
        .graph_nodes = s == NODE_TIMES};
    int fd = mkstemp(database);
    lab_run_info_init(&info);
    info.row.lesson = "bench_tracing";
    info.row.backend = "cuda";
    if (fd < 0 || lab_writer_new(&writer, database, &info, NULL)) {
        fprintf(stderr, "bench_tracing: %s\n", lab_error());
        return 0;
    }
    close(fd);
    struct lab_sink sink = lab_writer_sink(writer);
    if (lab_join_new(&join, &sink))
        return 0;
    lab_join_gpu_sink(join, &to);
    if (ops->start(&to, &options) == LAB_OK)
        return 1;
    fprintf(stderr, "bench_tracing: %s\n", lab_error());
    return 0;
}

static void end_ours(void)
{
    struct lab_run_summary summary;
    struct lab_join_stats stats;
    lab_run_summary_init(&summary);
    ops->stop();
    lab_join_get_stats(join, &stats);
    if (stats.kernels_without_step > 3)
        fprintf(stderr, "bench_tracing: %llu of %llu kernels have no step\n",
                (unsigned long long)stats.kernels_without_step,
                (unsigned long long)stats.kernels);
    lab_writer_finish(writer, &summary);
    lab_writer_free(writer);
    lab_join_free(join);
    unlink(database);
}

/* ---- one process ---- */

static int measure(enum state s, struct figures *out)
{
    bool ours = s >= OURS;
    bool pushes = ours && s != OFF_AGAIN;
    int failed = 0;
    if (((s == CUPTI || s == CALLS) && !start_cupti(s == CALLS)) ||
        (ours && !start_ours(s)) || !bench_open())
        return 0;
    if (s == OFF_AGAIN) { /* it was on */
        bench_launches(LAUNCHES, PER_STEP, ops->push, ops->pop);
        if (ops->set_records(LAB_GPU_RECORDS_NONE))
            return 0;
    }
    out->launch = 1e30;
    for (int i = 0; i < ROUNDS; i++) {
        double each =
            bench_launches(LAUNCHES, PER_STEP, pushes ? ops->push : NULL,
                           pushes ? ops->pop : NULL);
        out->launch = each < out->launch ? each : out->launch;
    }
    if (pushes)
        ops->push(LAB_EXEC_BETWEEN);
    out->node = bench_graph(NODES, GRAPHS, &failed);
    if (pushes)
        ops->pop();
    if (ours)
        end_ours();
    return !failed;
}

static int in_child(enum state s, struct figures *out)
{
    int ends[2];
    int status;
    if (pipe(ends))
        return 0;
    pid_t child = fork();
    if (child == 0) {
        struct figures f = {0};
        int ok = measure(s, &f) && write(ends[1], &f, sizeof(f)) == sizeof(f);
        _exit(ok ? 0 : 1);
    }
    close(ends[1]);
    int ok = child > 0 && read(ends[0], out, sizeof(*out)) == sizeof(*out);
    close(ends[0]);
    return waitpid(child, &status, 0) == child && status == 0 && ok;
}

static void print_row(const char *what, double values[STATES][MOST_REPEATS],
                      int repeats)
{
    for (int s = 0; s < STATES; s++)
        lab_sort_reals(values[s], (size_t)repeats);
    double bare = values[BARE][0];
    double least = values[CUPTI][0] - bare;
    for (int s = 0; s < STATES; s++) {
        double adds = values[s][0] - bare;
        if (values[s][0] <= 0) /* it failed */
            continue;
        printf("%-12s %-10s best %6.3f  median %6.3f us   adds %6.3f us", what,
               names[s], values[s][0], values[s][repeats / 2], adds);
        if (s > CUPTI && least > 0)
            printf("   %5.2f times bare CUPTI", adds / least);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    static double launch[STATES][MOST_REPEATS];
    static double node[STATES][MOST_REPEATS];
    int repeats = argc > 1 ? atoi(argv[1]) : 5;
    int failed = 0;
    if (repeats < 1 || repeats > MOST_REPEATS) {
        fprintf(stderr, "usage: bench_tracing [REPEATS]\n");
        return 2;
    }
    for (int r = 0; r < repeats; r++) {
        for (int s = 0; s < STATES; s++) {
            struct figures f;
            if (!in_child((enum state)s, &f)) {
                fprintf(stderr, "bench_tracing: %s failed\n", names[s]);
                failed = 1;
                continue;
            }
            launch[s][r] = f.launch;
            node[s][r] = f.node;
            printf("%d: %-10s launch %.3f us, graph node %.3f us\n", r + 1,
                   names[s], f.launch, f.node);
            fflush(stdout);
        }
    }
    print_row("launch", launch, repeats);
    print_row("graph node", node, repeats);
    return failed;
}
