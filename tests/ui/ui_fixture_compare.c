#include "ui_fixture_compare.h"

#include <math.h>

/* As the store would have them: by level, then as they run. */
#define SIDE(level_, name_, phase_, kernel_, timed_, median_, mad_, flop_,     \
             ...)                                                              \
    &(const struct lab_time_sum)                                               \
    {                                                                          \
        .level = LAB_SUM_##level_, .name = name_, .node = name_,               \
        .phase = phase_, .kernel = kernel_, .timed = timed_,                   \
        .median_ns = median_, .mad_ns = mad_, .flop = flop_, __VA_ARGS__       \
    }
static const struct lab_compare_row COMPARED[] = {
    {LAB_SUM_ITERATION,
     {SIDE(ITERATION, "iteration", NULL, NULL, 145, 412000, 3100, 24000000.0,
           .rung = NULL),
      SIDE(ITERATION, "iteration", NULL, NULL, 145, 218000, 2200, 24000000.0,
           .rung = NULL)},
     -194000,
     NAN,
     1.8899,
     1e-40,
     LAB_VERDICT_FASTER,
     {11, 12}},
    {LAB_SUM_NODE,
     {SIDE(NODE, "fc1", "forward", NULL, 145, 120500, 800, 8100000.0,
           .rung = NULL),
      SIDE(NODE, "fc1", "forward", NULL, 145, 31200, 310, 8100000.0,
           .rung = NULL)},
     -89300,
     NAN,
     3.862,
     1e-44,
     LAB_VERDICT_FASTER,
     {11, 12}},
    {LAB_SUM_STEP,
     {SIDE(STEP, "scale.scale", "forward", NULL, 145, 1210, 11, 50000.0,
           .rung = NULL),
      SIDE(STEP, "scale.scale", "forward", NULL, 145, 1209, 12, 50000.0,
           .rung = NULL)},
     -1,
     NAN,
     1.0008,
     0.82,
     LAB_VERDICT_SAME,
     {11, 12}},
    {LAB_SUM_STEP,
     {SIDE(STEP, "fc1.matmul", "forward", NULL, 145, 118200, 700, 8000000.0,
           .rung = NULL),
      SIDE(STEP, "fc1.matmul", "forward", NULL, 145, 29100, 290, 8000000.0,
           .rung = NULL)},
     -89100,
     NAN,
     4.0619,
     1e-44,
     LAB_VERDICT_FASTER,
     {11, 12}},
    {LAB_SUM_STEP,
     {SIDE(STEP, "fc1.bias", "forward", NULL, 145, 2310, 30, 100000.0,
           .rung = NULL),
      SIDE(STEP, "fc1.bias", "forward", NULL, 145, 2290, 28, 100000.0,
           .rung = NULL)},
     -20,
     NAN,
     1.0087,
     0.31,
     LAB_VERDICT_SAME,
     {11, 12}},
    {LAB_SUM_STEP,
     {SIDE(STEP, "fc2.matmul", "backward", NULL, 145, 4310, 50, 400000.0,
           .rung = NULL),
      SIDE(STEP, "fc2.matmul", "backward", NULL, 145, 5020, 61, 400000.0,
           .rung = NULL)},
     710,
     NAN,
     0.8586,
     0.0004,
     LAB_VERDICT_SLOWER,
     {11, 12}},
    {LAB_SUM_STEP,
     {SIDE(STEP, "fc1.W", "update", NULL, 2, 900, 10, 50000.0, .rung = NULL),
      SIDE(STEP, "fc1.W", "update", NULL, 3, 1200, 12, 50000.0, .rung = NULL)},
     300,
     NAN,
     0.75,
     0.4,
     LAB_VERDICT_FEW,
     {11, 12}},
    {LAB_SUM_STEP,
     {SIDE(STEP, "relu1.relu", "forward", NULL, 145, 1900, 21, 30000.0,
           .rung = &(const struct lab_bench_name){.own = "relu1",
                                                  .name = "relu1.relu"}),
      NULL},
     NAN,
     NAN,
     NAN,
     NAN,
     LAB_VERDICT_ONLY_A,
     {11, 12}},
    {LAB_SUM_KERNEL,
     {NULL, SIDE(KERNEL, "fc1.matmul", "forward", "dense_tiled\033[31m", 145,
                 28000, 200, NAN, .rung = NULL)},
     NAN,
     NAN,
     NAN,
     NAN,
     LAB_VERDICT_ONLY_B,
     {11, 12}},
    {LAB_SUM_WALL,
     {SIDE(WALL, "kernels", NULL, NULL, LAB_UNKNOWN, 301000, NAN, NAN,
           .rung = NULL),
      SIDE(WALL, "kernels", NULL, NULL, LAB_UNKNOWN, 300900, NAN, NAN,
           .rung = NULL)},
     -100,
     NAN,
     1.0003,
     NAN,
     LAB_VERDICT_UNKNOWN,
     {11, 12}},
    {LAB_SUM_WALL,
     {SIDE(WALL, "launch latency", NULL, NULL, LAB_UNKNOWN, 410000, NAN, NAN,
           .rung = NULL),
      SIDE(WALL, "launch latency", NULL, NULL, LAB_UNKNOWN, 92000, NAN, NAN,
           .rung = NULL)},
     -318000,
     NAN,
     4.4565,
     NAN,
     LAB_VERDICT_UNKNOWN,
     {11, 12}},
    {LAB_SUM_WALL,
     {NULL, SIDE(WALL, "between steps", NULL, NULL, LAB_UNKNOWN, 12000, NAN,
                 NAN, .rung = NULL)},
     NAN,
     NAN,
     NAN,
     NAN,
     LAB_VERDICT_UNKNOWN,
     {11, 12}},
    {LAB_SUM_WALL,
     {SIDE(WALL, "all of it", NULL, NULL, LAB_UNKNOWN, 711000, NAN, NAN,
           .rung = NULL),
      SIDE(WALL, "all of it", NULL, NULL, LAB_UNKNOWN, 404900, NAN, NAN,
           .rung = NULL)},
     -306100,
     NAN,
     1.756,
     NAN,
     LAB_VERDICT_UNKNOWN,
     {11, 12}},
};
enum { COMPARED_COUNT = sizeof(COMPARED) / sizeof(COMPARED[0]) };

enum lab_status fixture_load_compare(void *user, const int64_t run[2],
                                     const struct lab_compare_row **rows,
                                     int64_t *count, struct lab_doc *facts)
{
    (void)user;
    if (run[0] == 9 || run[1] == 9)
        return lab_fail(LAB_E_RANGE, "run %d is of the lesson softmax-digits",
                        9);
    lab_doc_add(facts, LAB_ROLE_NORMAL, "variants  fc1=naive -> fc1=tiled\n");
    lab_doc_add(facts, LAB_ROLE_NORMAL, "machine   lab-3 -> lab-7");
    *rows = COMPARED;
    *count = COMPARED_COUNT;
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
