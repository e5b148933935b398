/* The rows of two compared runs, for ui_fixture.c. */
#include "ui_fixture_compare.h"

#include <math.h>
#include <stdio.h>

/* As the store would have them: by level, then as they run. */
#define SIDE(level_, name_, phase_, kernel_, timed_, median_, mad_, flop_,     \
             variant_)                                                         \
    &(const struct lab_time_sum)                                               \
    {                                                                          \
        .level = LAB_SUM_##level_, .name = name_, .node = name_,               \
        .phase = phase_, .kernel = kernel_, .timed = timed_,                   \
        .median_ns = median_, .mad_ns = mad_, .flop = flop_,                   \
        .bench_name = variant_                                                 \
    }
/* A step of another name than its node. */
#define PART(name_, node_, median_)                                            \
    &(const struct lab_time_sum)                                               \
    {                                                                          \
        .level = LAB_SUM_STEP, .name = name_, .node = node_,                   \
        .phase = "backward", .timed = 145, .median_ns = median_, .mad_ns = 90, \
        .flop = NAN                                                            \
    }
/* Both sides are known: times, medians, their spread, and the work of each. */
#define BOTH(level_, name_, phase_, n_a, n_b, a, b, mad_a, mad_b, flop_, x, p, \
             verdict_)                                                         \
    {                                                                          \
        LAB_SUM_##level_,                                                      \
            {SIDE(level_, name_, phase_, NULL, n_a, a, mad_a, flop_, NULL),    \
             SIDE(level_, name_, phase_, NULL, n_b, b, mad_b, flop_, NULL)},   \
            (b) - (a), NAN, x, p, LAB_VERDICT_##verdict_,                      \
        {                                                                      \
            11, 12                                                             \
        }                                                                      \
    }
/* A part of the wall time, which has neither count nor spread. */
#define WALL(name_, a, b, x)                                                   \
    BOTH(WALL, name_, NULL, LAB_UNKNOWN, LAB_UNKNOWN, a, b, NAN, NAN, NAN, x,  \
         NAN, UNKNOWN)
/* One side alone. */
#define ONE(level_, a, b, verdict_)                                            \
    {                                                                          \
        LAB_SUM_##level_, {a, b}, NAN, NAN, NAN, NAN, LAB_VERDICT_##verdict_,  \
        {                                                                      \
            11, 12                                                             \
        }                                                                      \
    }
static const struct lab_compare_row COMPARED[] = {
    BOTH(ITERATION, "iteration", NULL, 145, 145, 412000, 218000, 3100, 2200,
         24000000.0, 1.8899, 1e-40, FASTER),
    BOTH(NODE, "fc1", "forward", 145, 145, 120500, 31200, 800, 310, 8100000.0,
         3.862, 1e-44, FASTER),
    BOTH(NODE, "norm", "backward", 145, 145, 9000, 5100, 90, 80, NAN, 1.7647,
         1e-40, FASTER),
    ONE(STEP, PART("norm.mean", "norm", 3000), NULL, ONLY_A),
    ONE(STEP, PART("norm.scale", "norm", 6000), NULL, ONLY_A),
    ONE(STEP, NULL, PART("norm.fused", "norm", 5100), ONLY_B),
    BOTH(STEP, "scale.scale", "forward", 145, 145, 1210, 1209, 11, 12, 50000.0,
         1.0008, 0.82, SAME),
    BOTH(STEP, "fc1.matmul", "forward", 145, 145, 118200, 29100, 700, 290,
         8000000.0, 4.0619, 1e-44, FASTER),
    BOTH(STEP, "fc1.bias", "forward", 145, 145, 2310, 2290, 30, 28, 100000.0,
         1.0087, 0.31, SAME),
    BOTH(STEP, "fc2.matmul", "backward", 145, 145, 4310, 5020, 50, 61, 400000.0,
         0.8586, 0.0004, SLOWER),
    BOTH(STEP, "fc1.W", "update", 2, 3, 900, 1200, 10, 12, 50000.0, 0.75, 0.4,
         FEW),
    ONE(STEP,
        SIDE(STEP, "relu1.relu", "forward", NULL, 145, 1900, 21, 30000.0,
             (&(const struct lab_bench_name){.own = "relu1",
                                             .name = "relu1.relu"})),
        NULL, ONLY_A),
    ONE(KERNEL, NULL,
        SIDE(KERNEL, "fc1.matmul", "forward", "dense_tiled\033[31m", 145, 28000,
             200, NAN, NULL),
        ONLY_B),
    WALL("kernels", 301000, 300900, 1.0003),
    WALL("launch latency", 410000, 92000, 4.4565),
    ONE(WALL, NULL,
        SIDE(WALL, "between steps", NULL, NULL, LAB_UNKNOWN, 12000, NAN, NAN,
             NULL),
        UNKNOWN),
    WALL("all of it", 711000, 404900, 1.756),
};
enum { COMPARED_COUNT = sizeof(COMPARED) / sizeof(COMPARED[0]) };

/* More nodes than the screen takes: each longer than the one before it. */
enum { NODES = 70 };

static const struct lab_compare_row *many_nodes(void)
{
    static struct lab_time_sum sum[NODES];
    static struct lab_compare_row row[NODES];
    static char name[NODES][16];
    for (int i = 0; i < NODES; i++) {
        snprintf(name[i], sizeof(name[i]), "node %d", i);
        sum[i] = (struct lab_time_sum){.level = LAB_SUM_NODE,
                                       .name = name[i],
                                       .node = name[i],
                                       .phase = "forward",
                                       .timed = 9,
                                       .median_ns = 1000.0 * (i + 1),
                                       .mad_ns = 1,
                                       .flop = NAN};
        row[i] = (struct lab_compare_row)ONE(NODE, &sum[i], NULL, ONLY_A);
    }
    return row;
}

enum lab_status fixture_load_compare(void *user, const int64_t run[2],
                                     const struct lab_compare_row **rows,
                                     int64_t *count, struct lab_doc *facts)
{
    (void)user;
    if (run[0] == 9 || run[1] == 9)
        return lab_fail(LAB_E_RANGE, "run %d is of the lesson softmax-digits",
                        9);
    const bool many = run[0] == 4 || run[1] == 4;
    lab_doc_add(facts, LAB_ROLE_NORMAL, "variants  fc1=naive -> fc1=tiled\n");
    lab_doc_add(facts, LAB_ROLE_NORMAL, "machine   lab-3 -> lab-7");
    *rows = many ? many_nodes() : COMPARED;
    *count = many ? NODES : COMPARED_COUNT;
    return LAB_OK;
}

/* As of a program that was called with --db. */
void fixture_hint(void *user, const char *const *words, struct lab_str *out)
{
    (void)user;
    lab_str_add(out, "lapenna-lab");
    for (int i = 0; words[i]; i++)
        lab_str_addf(out, " %s", words[i]);
    lab_str_add(out, " --db 'my runs.db'");
}
