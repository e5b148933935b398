/* lapenna-lab lab gflops: the rate of a square matrix product against its size,
 * on the CPU and on the GPU, in one table: the course's LAB 2, Problem 4.
 *
 * The rungs are those of the lab gemm (or dgemm), compared with double and timed
 * as there; nothing is recorded, `lab gemm` does that. */
#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug/args.h"
#include "base/mem.h"
#include "report/exit.h"
#include "engine/ladder.h"
#include "report/json_line.h"
#include "demo_priv.h"
#include "report/print.h"
#include "base/signals.h"
#include "report/text_table.h"

enum {
    KEY_SIZES = 256,
    KEY_CPU_SIZES,
    KEY_DOUBLE,
    KEY_REPEAT,
    KEY_BACKEND,
    KEY_DEVICE,
    KEY_JSON,
    KEY_ASCII,
    SIZES = 24,
    RUNGS = 96,
    OWN = 2 /* how many of our own rungs are tried: the last of the ladder */
};

enum column { CPU_ONE, CPU_ALL, GPU_OWN, GPU_LIBRARY, COLUMNS };

static const char *const column_names[COLUMNS] = {
    "cpu_one_thread", "cpu_all_cores", "gpu_own", "gpu_library"};

static const char gpu_sizes[] = "2000,4000,6000,8000,12000";

struct options {
    const char *sizes;
    const char *cpu_sizes;
    const char *operation;
    const char *backend;
    int repeat;
    int device;
    bool json;
};

struct gflops {
    const struct options *options;
    const struct lab_operation *operation;
    struct lab_ladder_size size[SIZES];
    int n_sizes;
    double rate[SIZES][COLUMNS]; /* FLOP/s; NaN: not measured */
    const char *own[SIZES];      /* the rung of GPU_OWN */
    bool gpu;                    /* whose rows come now */
};

static const struct argp_option argp_options[] = {
    {"sizes", KEY_SIZES, "LIST", 0, "N on the GPU (2000,4000,6000,8000,12000)",
     1},
    {"cpu-sizes", KEY_CPU_SIZES, "LIST", 0, "N on the CPU (2000,4000,6000)", 1},
    {"double", KEY_DOUBLE, NULL, 0, "dgemm instead of sgemm", 1},
    {"repeat", KEY_REPEAT, "N", 0,
     "Times of each on the GPU, 1 to 1000 (20); a CPU takes 3", 1},
    {"backend", KEY_BACKEND, "NAME", 0,
     "auto (both, where there is a GPU), "
     "cpu or cuda",
     2},
    {"device", KEY_DEVICE, "N", 0, "The GPU's number (0)", 2},
    {"json", KEY_JSON, NULL, 0, "JSON Lines on standard output", 3},
    {"ascii", KEY_ASCII, NULL, 0, "No character beyond ASCII", 3},
    {0}};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    if (key == KEY_SIZES)
        o->sizes = arg;
    else if (key == KEY_CPU_SIZES)
        o->cpu_sizes = arg;
    else if (key == KEY_DOUBLE)
        o->operation = "dgemm";
    else if (key == KEY_REPEAT)
        o->repeat = (int)lab_arg_number(arg, "repeat", 1,
                                        LAB_LADDER_REPEATS_MAX, state);
    else if (key == KEY_BACKEND)
        o->backend = lab_arg_backend(arg, state);
    else if (key == KEY_DEVICE)
        o->device = lab_arg_device(arg, state);
    else if (key == KEY_JSON)
        o->json = true;
    else if (key == KEY_ASCII)
        lab_print_ascii(true);
    else if (key == ARGP_KEY_ARG)
        argp_error(state, "%s: sizes are told by --sizes", arg);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

/* ---- sizes ---- */

/* The row of a size, a new one at the end. */
static enum lab_status row_of(struct gflops *g,
                              const struct lab_ladder_size *size, int *out)
{
    int i = 0;
    while (i < g->n_sizes &&
           memcmp(g->size[i].dim, size->dim, sizeof(size->dim)) != 0)
        i++;
    if (i == SIZES)
        return lab_fail(LAB_E_USAGE,
                        "--cpu-sizes and --sizes: more than %d sizes together",
                        SIZES);
    if (i == g->n_sizes) {
        g->size[i] = *size;
        for (int c = 0; c < COLUMNS; c++)
            g->rate[i][c] = NAN;
        g->n_sizes++;
    }
    *out = i;
    return LAB_OK;
}

/* One size of the list of `option`: the table is of 2 N^3 operations. */
static enum lab_status read_size(const struct gflops *g, const char *option,
                                 const char *text, size_t bytes,
                                 struct lab_ladder_size *out)
{
    int shown = bytes > 40 ? 40 : (int)bytes;
    if (bytes == 0)
        return lab_fail(LAB_E_USAGE,
                        "%s: a size is missing between two commas, or before "
                        "or after one",
                        option);
    if (lab_ladder_size(g->operation, text, bytes, out))
        return lab_fail(LAB_E_USAGE,
                        "%s: size %.*s: a size is one whole number, N for a "
                        "product of N x N matrices: 2000,4000",
                        option, shown, text);
    if (out->dim[0] == out->dim[1] && out->dim[0] == out->dim[2])
        return LAB_OK;
    return lab_fail(LAB_E_USAGE,
                    "%s: size %s: the table is of square products: one number; "
                    "`lapenna-lab lab %s --sizes %s` measures this one",
                    option, out->text, g->operation->name, out->text);
}

static enum lab_status read_sizes(const struct gflops *g, bool gpu,
                                  struct lab_ladder_size *out, int *n)
{
    const char *option = gpu ? "--sizes" : "--cpu-sizes";
    const char *list = gpu ? g->options->sizes : g->options->cpu_sizes;
    enum lab_status st = LAB_OK;
    for (*n = 0; !st; (*n)++) {
        size_t bytes = strcspn(list, ",");
        if (*n == SIZES)
            return lab_fail(LAB_E_USAGE, "%s: more than %d sizes", option,
                            SIZES);
        st = read_size(g, option, list, bytes, &out[*n]);
        if (!list[bytes])
            break;
        list += bytes + 1;
    }
    *n += 1;
    return st;
}

/* The rows of a list. */
static enum lab_status add_sizes(struct gflops *g, bool gpu,
                                 struct lab_ladder_size *sizes, int *n)
{
    enum lab_status st = read_sizes(g, gpu, sizes, n);
    for (int i = 0; i < *n && !st; i++) {
        int row = 0;
        st = row_of(g, &sizes[i], &row);
    }
    return st;
}

/* Both lists, before one of them is measured for minutes. */
static enum lab_status check_sizes(struct gflops *g)
{
    struct lab_ladder_size sizes[SIZES];
    const char *backend = g->options->backend;
    enum lab_status st = LAB_OK;
    int n = 0;
    if (strcmp(backend, "cuda") != 0)
        st = add_sizes(g, false, sizes, &n);
    if (!st && strcmp(backend, "cpu") != 0)
        st = add_sizes(g, true, sizes, &n);
    g->n_sizes = 0; /* only what is measured has a row */
    return st;
}

/* ---- measuring ---- */

static enum column column_of(const struct gflops *g,
                             const struct lab_rung *rung)
{
    if (g->gpu)
        return rung->model.library ? GPU_LIBRARY : GPU_OWN;
    return strcmp(rung->name, "threads") == 0 ? CPU_ALL : CPU_ONE;
}

/* A large product takes minutes: what is done is printed before the table. */
static void say_row(const struct gflops *g, const struct lab_ladder_row *row)
{
    if (g->options->json)
        return;
    lab_printf(stdout, "  %s of %s: %.4g GFLOP/s\n", row->rung->name,
               row->size.text, row->rate / 1e9);
    fflush(stdout);
}

static enum lab_status take(void *user, const struct lab_ladder_row *row)
{
    struct gflops *g = user;
    enum column c = column_of(g, row->rung);
    int i = 0;
    enum lab_status st = row_of(g, &row->size, &i);
    if (st)
        return st;
    if (row->status) {
        lab_warn("%s of %s: %s", row->rung->name, row->size.text, row->reason);
        return LAB_OK;
    }
    say_row(g, row);
    if (!(g->rate[i][c] > row->rate)) { /* the faster; NaN: the first */
        g->rate[i][c] = row->rate;
        g->own[i] = c == GPU_OWN ? row->rung->name : g->own[i];
    }
    return LAB_OK;
}

static bool stop(void *user)
{
    (void)user;
    return lab_signals_caught() != 0;
}

/* The libraries, and on a GPU our last rungs. */
static int choose(struct lab_backend *be, const struct gflops *g,
                  const struct lab_rung **out)
{
    const struct lab_rung *all[RUNGS];
    int count = lab_ladder_rungs(be, g->operation, all, RUNGS);
    int own = 0;
    int n = 0;
    enum lab_precision wanted =
        strcmp(g->operation->name, "dgemm") == 0 ? LAB_FP64 : LAB_FP32;
    for (int i = count - 1; i >= 0; i--) {
        if (all[i]->precision != wanted || all[i]->tuned)
            continue;
        if (all[i]->model.library || (g->gpu && own++ < OWN))
            out[n++] = all[i];
    }
    return n;
}

static enum lab_status measure(struct gflops *g, struct lab_backend *be,
                               int repeats)
{
    const struct lab_rung *rungs[RUNGS];
    struct lab_ladder_size sizes[SIZES];
    struct lab_ladder_machine machine;
    int n_sizes = 0;
    g->gpu = !be->host_memory;
    enum lab_status st = add_sizes(g, g->gpu, sizes, &n_sizes);
    if (st)
        return st;
    lab_ladder_measure(be, 0, &machine);
    if (!g->options->json)
        lab_printf(stdout, "%s: %s\n", g->gpu ? "GPU" : "CPU",
                   machine.info.name);
    fflush(stdout);
    struct lab_ladder_run climb = {.backend = be,
                                   .ladder = g->operation,
                                   .machine = &machine,
                                   .rungs = rungs,
                                   .n_rungs = choose(be, g, rungs),
                                   .sizes = sizes,
                                   .n_sizes = n_sizes,
                                   .repeats = repeats,
                                   .seed = 1,
                                   .row = take,
                                   .stop = stop,
                                   .user = g};
    return lab_ladder_run(&climb);
}

static enum lab_status measure_cpu(struct gflops *g)
{
    struct lab_backend *be = NULL;
    enum lab_status st = lab_backend_open(&be, "cpu", 0);
    if (!st)
        st = measure(g, be, 3);
    lab_backend_close(be);
    return st;
}

/* NULL without a failure: there is none, and it need not be there. Known before
 * the CPU is measured for minutes. */
static enum lab_status open_gpu(const struct options *o,
                                struct lab_backend **out)
{
    enum lab_status st = lab_backend_open(out, "cuda", o->device);
    if (st != LAB_E_UNSUPPORTED || strcmp(o->backend, "auto") != 0)
        return st;
    lab_warn("without the GPU's columns: %s", lab_error());
    if (o->sizes != gpu_sizes)
        lab_warn("no GPU: --sizes is for its columns, --cpu-sizes for "
                 "the CPU's");
    *out = NULL;
    return LAB_OK;
}

/* ---- output ---- */

static enum lab_status print_table(const struct gflops *g)
{
    static const char *const heads[] = {
        ">N",           ">CPU, 1 thread", ">CPU, all cores", ">GPU, our best",
        ">GPU, vendor", ">GPU / CPU",     "our best",        NULL};
    struct lab_text_table t;
    struct lab_str text;
    lab_str_init(&text);
    lab_text_table_init(&t, heads);
    for (int i = 0; i < g->n_sizes; i++) {
        lab_text_table_add(&t, g->size[i].text);
        for (int c = 0; c < COLUMNS; c++)
            lab_text_table_add_real(&t, g->rate[i][c] / 1e9, 4);
        lab_text_table_add_real(
            &t, g->rate[i][GPU_LIBRARY] / g->rate[i][CPU_ONE], 3);
        lab_text_table_add(&t, g->own[i] ? g->own[i] : "");
    }
    enum lab_status st = lab_text_table_format(&t, &text);
    if (!st)
        lab_printf(stdout, "\nGFLOP/s, 2 N^3 operations in the median time\n");
    if (!st && lab_print_is_ascii())
        lab_table_make_ascii(&text);
    if (!st && (fputs(lab_str_text(&text), stdout) < 0 || fflush(stdout)))
        st = lab_fail(LAB_E_IO, "cannot write");
    lab_text_table_release(&t);
    lab_str_release(&text);
    return st;
}

static enum lab_status print_json(const struct gflops *g)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < g->n_sizes && !st; i++) {
        json_t *line = lab_json_new("gflops");
        lab_json_text(line, "operation", g->operation->name);
        lab_json_text(line, "size", g->size[i].text);
        for (int c = 0; c < COLUMNS; c++)
            lab_json_real(line, column_names[c], g->rate[i][c] / 1e9);
        lab_json_text(line, "own", g->own[i]);
        st = lab_json_print(line);
    }
    return st;
}

static bool any_rate(const struct gflops *g)
{
    for (int i = 0; i < g->n_sizes; i++)
        for (int c = 0; c < COLUMNS; c++)
            if (!isnan(g->rate[i][c]))
                return true;
    return false;
}

static enum lab_status show(struct gflops *g)
{
    const struct options *o = g->options;
    struct lab_backend *gpu = NULL;
    enum lab_status st = lab_ladder_find(o->operation, &g->operation);
    if (!st)
        st = check_sizes(g);
    if (!st && strcmp(o->backend, "cpu") != 0)
        st = open_gpu(o, &gpu);
    if (!st && strcmp(o->backend, "cuda") != 0)
        st = measure_cpu(g);
    if (!st && gpu)
        st = measure(g, gpu, o->repeat);
    lab_backend_close(gpu);
    if (st)
        return st;
    st = o->json ? print_json(g) : print_table(g);
    if (!st && !any_rate(g))
        st = lab_fail(LAB_E_UNSUPPORTED,
                      "nothing was timed: the lines above say why");
    return st;
}

int lab_demo_cmd_gflops(int argc, char **argv)
{
    static const struct argp argp = {
        argp_options,
        parse_option,
        NULL,
        "The rate of a square matrix product against its size, on the CPU and "
        "on the GPU, in one table (the course's LAB 2, Problem 4).",
        NULL,
        NULL,
        NULL};
    struct options o = {.sizes = gpu_sizes,
                        .cpu_sizes = "2000,4000,6000",
                        .operation = "gemm",
                        .backend = "auto",
                        .repeat = LAB_LADDER_REPEATS_MIN};
    lab_args_parse(&argp, argc, argv, "lapenna-lab lab gflops", &o);
    lab_signals_catch();
    lab_signals_say(LAB_SIGNALS_STOPPING);
    struct gflops *g = lab_alloc(sizeof(*g));
    if (!g)
        return lab_exit_error(lab_fail(LAB_E_NOMEM, "no memory for a table"));
    g->options = &o;
    enum lab_status st = show(g);
    lab_free(g);
    return lab_exit_error(st);
}
