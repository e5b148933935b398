/* lapenna-lab lab: its options, as they are written. */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug/args.h"
#include "base/mem.h"
#include "base/str.h"
#include "report/exit.h"
#include "bench/bench.h"
#include "labs/cpu_rungs.h"
#include "profiler/roofline.h"
#include "report/print.h"
#include "lesson/catalog.h"

enum {
    KEY_SIZES = 256,
    KEY_VARIANTS,
    KEY_PRECISION,
    KEY_REPEAT,
    KEY_PREDICT,
    KEY_GRID,
    KEY_BLOCK,
    KEY_AT,
    KEY_ELEMENTS,
    KEY_BACKEND,
    KEY_DEVICE,
    KEY_SEED,
    KEY_COUNTERS,
    KEY_RETUNE,
    KEY_LIST,
    KEY_DB,
    KEY_JSON,
    KEY_ASCII,
    KEY_CHART
};

static const struct argp_option argp_options[] = {
    {"sizes", KEY_SIZES, "LIST", 0,
     "Sizes, separated by commas: 4096 or 4096x2048x512 (the lab's)", 1},
    {"variants", KEY_VARIANTS, "LIST", 0,
     "Rungs, separated by commas: naive,tile,cublas (all)", 1},
    {"precision", KEY_PRECISION, "LIST", 0,
     "Only rungs that compute in these: fp32,tf32,bf16,fp16,fp64, or all (all)",
     1},
    {"repeat", KEY_REPEAT, "N", 0, "Times of each, 20 to 1000 (21)", 1},
    {"predict", KEY_PREDICT, "WHAT", 0,
     "What you expect, kept beside the result: ask, or "
     "VARIANT[@SIZE]=WORDS,... "
     "of a number in GFLOP/s, GB/s or ns an item, as the table has it (8.2T, "
     "or "
     "a time, 3.5ms), " LAB_ROOFLINE_WORDS ", and an occupancy (50%), "
     "with colons between; VARIANT best is the fastest",
     1},
    {"grid", KEY_GRID, "SIDES", 0,
     "hello, scalar_add, vectors, index: blocks, 10 or 3x2", 1},
    {"block", KEY_BLOCK, "SIDES", 0, "The same: threads of a block, 256 or 4x3",
     1},
    {"at", KEY_AT, "PLACE", 0,
     "index: a thread, its block's place first: 2,1,3,2", 1},
    {"elements", KEY_ELEMENTS, "N", 0,
     "index, vectors: elements that the threads share", 1},
    {"retune", KEY_RETUNE, NULL, 0,
     "With tune: measure again where a winner is kept", 1},
    {"backend", KEY_BACKEND, "NAME", 0, "auto, cpu or cuda", 2},
    {"device", KEY_DEVICE, "N", 0, "The GPU's number (0)", 2},
    {"counters", KEY_COUNTERS, "SET", 0,
     "Hardware counters of each rung, taken after the times: off, basic or "
     "full (off)",
     2},
    {"seed", KEY_SEED, "S", 0, "Of the random inputs (1)", 2},
    {"db", KEY_DB, "FILE", 0, "The database of runs, instead of the usual one",
     3},
    {"list", KEY_LIST, NULL, 0,
     "What can be measured: ladders, first kernels, tables, sweeps", 3},
    {"json", KEY_JSON, NULL, 0, "JSON Lines on standard output", 3},
    {"chart", KEY_CHART, NULL, 0,
     "Pictures below the table, on a pipe too (a terminal gets them)", 3},
    {"ascii", KEY_ASCII, NULL, 0, "No character beyond ASCII", 3},
    {0}};

static const char argp_doc[] =
    "Climb a ladder of kernels: the same operation, from the first kernel that "
    "works to the fastest. Every rung is compared with double on odd shapes "
    "before it is timed, and everything is recorded. With tune the candidates "
    "of a rung that is tuned are measured, and the fastest is kept for the "
    "device and the size. batch-size, network-size, products and backward "
    "measure a lesson's network: several batches, several widths, the part of "
    "matrix products, and of the backward pass.\v"
    "NAME is an operation that has a ladder, as gemm or saxpy (a wrong name "
    "lists them all), one of the first kernels hello, scalar_add, vectors and "
    "index, or a lesson of kind lab. No ladders, with a --help of "
    "their own: offsets (of image tensors), gflops (of a product against its "
    "size, CPU and GPU), calls (of cuDNN for one convolution). Exit status: 0 "
    "done, 1 a rung is wrong, 2 wrong usage, 3 bad "
    "input, 4 the machine lacks what was asked for.";

static void which_lab(struct argp_state *state)
{
    struct lab_str names;
    lab_str_init(&names);
    for (int i = 0; lab_operation_at(i); i++)
        lab_str_addf(&names, "%s%s", i ? ", " : "", lab_operation_at(i)->name);
    for (int i = 0; lab_cpu_rung("first", i); i++)
        lab_str_addf(&names, ", %s", lab_cpu_rung("first", i)->name);
    argp_error(state, "which lab? %s", lab_str_text(&names));
    lab_str_release(&names);
}

static void take_precision(struct lab_bench_options *o, const char *arg,
                           struct argp_state *state)
{
    const char *at = arg;
    unsigned all = (1u << LAB_PRECISION_COUNT) - 1;
    o->precisions = 0;
    while (at) {
        size_t n = strcspn(at, ",");
        unsigned found = n == 3 && memcmp(at, "all", n) == 0 ? all : 0;
        for (int p = 0; p < LAB_PRECISION_COUNT; p++) {
            const char *name = lab_precision_name((enum lab_precision)p);
            if (strlen(name) == n && memcmp(at, name, n) == 0)
                found = 1u << p;
        }
        if (!found)
            argp_error(state,
                       "--precision is a list of fp32, tf32, bf16, fp16 and "
                       "fp64, or all, not %s",
                       arg);
        o->precisions |= found;
        at = at[n] ? at + n + 1 : NULL;
    }
}

const char *lab_sweep_name(enum lab_sweep_kind kind)
{
    return lab_measure_name((enum lab_measure)(LAB_MEASURE_BATCH + (int)kind));
}

enum lab_sweep_kind lab_sweep_find(const char *word)
{
    int k = 0;
    while (k < LAB_SWEEP_KINDS &&
           strcmp(lab_sweep_name((enum lab_sweep_kind)k), word) != 0)
        k++;
    return (enum lab_sweep_kind)k;
}

bool lab_bench_has_word(const struct lab_bench_options *o)
{
    return o->tune || o->sweep != LAB_SWEEP_KINDS;
}

/* A word that is no option: what is measured, and of what. */
static void take_word(struct lab_bench_options *o, const char *arg,
                      struct argp_state *state)
{
    if (o->name)
        argp_error(state, "one lab at a time: %s or %s", o->name, arg);
    else if (!lab_bench_has_word(o) && strcmp(arg, "tune") == 0)
        o->tune = true;
    else if (!lab_bench_has_word(o) && lab_sweep_find(arg) != LAB_SWEEP_KINDS)
        o->sweep = (int)lab_sweep_find(arg);
    else
        o->name = arg;
}

static void check_words(const struct lab_bench_options *o,
                        struct argp_state *state)
{
    if (o->name && o->list)
        argp_error(state, "--list names all of them: %s is one too many",
                   o->name);
    if (o->name || o->list)
        return;
    if (o->sweep == LAB_SWEEP_KINDS)
        which_lab(state);
    else
        argp_error(state,
                   "%s of which LESSON? `lapenna-lab lesson list` shows "
                   "them; products and backward take `all` too",
                   lab_sweep_name((enum lab_sweep_kind)o->sweep));
}

/* ---- which options a lab takes ---- */

#define BIT(key) (1u << ((key)-KEY_SIZES))

enum {
    OUTPUT = BIT(KEY_JSON) | BIT(KEY_ASCII),
    PLACE = BIT(KEY_BACKEND) | BIT(KEY_DEVICE) | OUTPUT,
    RUN = PLACE | BIT(KEY_REPEAT) | BIT(KEY_SEED) | BIT(KEY_DB),
    LAUNCH = PLACE | BIT(KEY_GRID) | BIT(KEY_BLOCK)
};

static const unsigned takes[LAB_BENCH_KINDS] = {
    [LAB_BENCH_LADDER] = RUN | BIT(KEY_SIZES) | BIT(KEY_VARIANTS) |
                         BIT(KEY_PRECISION) | BIT(KEY_PREDICT) |
                         BIT(KEY_COUNTERS) | BIT(KEY_CHART),
    [LAB_BENCH_TUNE] =
        RUN | BIT(KEY_SIZES) | BIT(KEY_PRECISION) | BIT(KEY_RETUNE),
    [LAB_BENCH_SIZED] = RUN | BIT(KEY_SIZES),
    [LAB_BENCH_PARTS] = RUN,
    [LAB_BENCH_CALLS] = OUTPUT | BIT(KEY_SIZES) | BIT(KEY_DEVICE),
    [LAB_BENCH_ONE_KERNEL] = LAUNCH,
    [LAB_BENCH_VECTORS] = LAUNCH | BIT(KEY_ELEMENTS),
    [LAB_BENCH_INDEX] = LAUNCH | BIT(KEY_ELEMENTS) | BIT(KEY_AT),
    [LAB_BENCH_LIST] = OUTPUT};

enum lab_status lab_bench_refuse_unused(const struct lab_bench_options *o,
                                        enum lab_bench_kind kind,
                                        const char *name)
{
    const char *wrong = NULL;
    struct lab_str list;
    lab_str_init(&list);
    for (int i = 0; argp_options[i].name; i++) {
        unsigned bit = BIT(argp_options[i].key);
        if (!wrong && o->given & bit & ~takes[kind])
            wrong = argp_options[i].name;
        if (takes[kind] & bit)
            lab_str_addf(&list, "%s--%s", list.len ? ", " : "",
                         argp_options[i].name);
    }
    enum lab_status st =
        wrong ? lab_fail(LAB_E_USAGE, "%s does not use --%s: it takes %s", name,
                         wrong, lab_str_text(&list))
              : LAB_OK;
    lab_str_release(&list);
    return st;
}

/* ---- reading ---- */

static void take_first(struct lab_bench_options *o, int key, const char *arg)
{
    if (key == KEY_GRID)
        o->grid = arg;
    else if (key == KEY_BLOCK)
        o->block = arg;
    else if (key == KEY_AT)
        o->at = arg;
    else
        o->elements = arg;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct lab_bench_options *o = state->input;
    if (key == KEY_SIZES)
        o->sizes = arg;
    else if (key == KEY_VARIANTS)
        o->variants = arg;
    else if (key == KEY_PRECISION)
        take_precision(o, arg, state);
    else if (key == KEY_REPEAT)
        o->repeat = (int)lab_arg_number(arg, "repeat", LAB_LADDER_REPEATS_MIN,
                                        LAB_LADDER_REPEATS_MAX, state);
    else if (key == KEY_PREDICT)
        o->predict = arg;
    else if (key >= KEY_GRID && key <= KEY_ELEMENTS)
        take_first(o, key, arg);
    else if (key == KEY_BACKEND)
        o->backend = lab_arg_backend(arg, state);
    else if (key == KEY_DEVICE)
        o->device = lab_arg_device(arg, state);
    else if (key == KEY_COUNTERS)
        o->counters = lab_arg_counters(arg, state);
    else if (key == KEY_SEED)
        o->seed = lab_arg_seed(arg, state);
    else if (key == KEY_LIST)
        o->list = true;
    else if (key == KEY_DB)
        o->db = arg;
    else if (key == KEY_JSON)
        o->json = true;
    else if (key == KEY_ASCII)
        o->ascii = true;
    else if (key == KEY_CHART)
        o->chart = true;
    else if (key == KEY_RETUNE)
        o->retune = true;
    else if (key == ARGP_KEY_ARG)
        take_word(o, arg, state);
    else if (key == ARGP_KEY_END)
        check_words(o, state);
    else
        return ARGP_ERR_UNKNOWN;
    o->seed_given = o->seed_given || key == KEY_SEED;
    if (key >= KEY_SIZES && key <= KEY_CHART && key != KEY_LIST)
        o->given |= BIT(key);
    return 0;
}

void lab_bench_parse(int argc, char **argv, struct lab_bench_options *o)
{
    static const struct argp argp = {
        argp_options,
        parse_option,
        "NAME\ntune NAME\nbatch-size|network-size LESSON\n"
        "products|backward LESSON|all",
        argp_doc,
        NULL,
        NULL,
        NULL};
    *o = (struct lab_bench_options){.backend = "auto",
                                    .seed = 1,
                                    .counters = "off",
                                    .sweep = LAB_SWEEP_KINDS};
    lab_args_parse(&argp, argc, argv, "lapenna-lab lab", o);
}
