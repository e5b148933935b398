/* lapenna-lab lab gflops: the rate of a square matrix product against its size,
 * on the CPU and on the GPU, in one table: the course's LAB 2, Problem 4.
 *
 * A pivot of results of the lab gemm (or dgemm): the libraries, and on a GPU our
 * last variants. Nothing is recorded, `lab gemm` does that. */
#include "commands.h"
#include "bench/demo.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/mem.h"
#include "base/signals.h"
#include "debug/options.h"
#include "lesson/catalog.h"
#include "lesson/lesson.h"
#include "report/exit.h"
#include "report/json_line.h"
#include "report/print.h"
#include "report/text_table.h"

enum {
    SIZES = 24,
    OWN = 2,        /* how many of our own variants are tried */
    CPU_REPEATS = 3 /* a large product takes seconds there */
};

enum { CPU, GPU, MACHINES };
enum column { CPU_ONE, CPU_ALL, GPU_OWN, GPU_LIBRARY, COLUMNS };

static const char *const column_names[COLUMNS] = {
    "cpu_one_thread", "cpu_all_cores", "gpu_own", "gpu_library"};

static const char gpu_sizes[] = "2000,4000,6000,8000,12000";

struct gflops {
    const char *name; /* of the operation */
    const char *sizes[MACHINES];
    struct lab_options o;
    const struct lab_operation *operation;
    struct lab_options options[MACHINES];
    struct lab_bench *labs[MACHINES]; /* NULL: not measured */
    struct lab_ladder_size size[SIZES];
    int n_sizes;
    double rate[SIZES][COLUMNS]; /* FLOP/s; NaN: not measured */
    const char *own[SIZES];      /* the variant of GPU_OWN */
};

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
        return lab_fail(
            LAB_E_USAGE,
            "[demo.gflops-sizes-together] --cpu-sizes and --sizes: more "
            "than %d sizes together",
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
        return lab_fail(
            LAB_E_USAGE,
            "[demo.gflops-size-missing] %s: a size is missing between "
            "two commas, or before or after one",
            option);
    if (lab_ladder_size(g->operation, text, bytes, out))
        return lab_fail(LAB_E_USAGE,
                        "[demo.gflops-size] %s: size %.*s: a size is one whole "
                        "number, N for a product of N x N matrices: 2000,4000",
                        option, shown, text);
    if (out->dim[0] == out->dim[1] && out->dim[0] == out->dim[2])
        return LAB_OK;
    return lab_fail(
        LAB_E_USAGE,
        "[demo.gflops-size-square] %s: size %s: the table is of square "
        "products: "
        "one number; `lapenna-lab lab %s --sizes %s` measures this one",
        option, out->text, g->operation->name, out->text);
}

/* Before anything is measured, for minutes. */
static enum lab_status check_sizes(struct gflops *g, int machine)
{
    const char *option = machine == GPU ? "--sizes" : "--cpu-sizes";
    const char *list = g->sizes[machine];
    enum lab_status st = LAB_OK;
    for (int n = 0; list && !st; n++) {
        struct lab_ladder_size size;
        size_t bytes = strcspn(list, ",");
        int row = 0;
        if (n == SIZES)
            return lab_fail(LAB_E_USAGE,
                            "[demo.gflops-sizes] %s: more than %d sizes",
                            option, SIZES);
        st = read_size(g, option, list, bytes, &size);
        if (!st)
            st = row_of(g, &size, &row);
        list = list[bytes] ? list + bytes + 1 : NULL;
    }
    return st;
}

/* ---- measuring ---- */

/* Each variant at each size: once to check it, once to warm up, then its repeats; by the
 * rate that multiply-adds have here. */
static void print_estimate(const struct gflops *g, const struct lab_bench *lab)
{
    double top = lab->machine.flops[LAB_FP32];
    double flop = 0;
    for (int i = 0; i < lab->n_sizes; i++)
        flop += 2 * pow((double)lab->sizes[i].dim[0], 3);
    double s = flop * (lab->repeats + 2) * lab->n_variants / top;
    if (s >= 5 && !g->o.json)
        lab_printf(stdout,
                   "  about %s on one core; --cpu-sizes takes "
                   "smaller ones\n",
                   LAB_NS_TEXT(s * 1e9));
}

struct measuring {
    struct gflops *g;
    int machine;
};

/* A large product takes minutes: each is printed before the table. */
static enum lab_status take(void *user, const struct lab_bench_result *r)
{
    const struct measuring *m = user;
    struct gflops *g = m->g;
    struct lab_ladder_size size;
    int i = 0;
    enum column c = m->machine == GPU ? r->library ? GPU_LIBRARY : GPU_OWN
                    : strcmp(r->variant, "threads") == 0 ? CPU_ALL
                                                         : CPU_ONE;
    enum lab_status st =
        lab_ladder_size(g->operation, r->size, strlen(r->size), &size);
    if (!st)
        st = row_of(g, &size, &i);
    if (st)
        return st;
    if (r->state == LAB_BENCH_FAILED) {
        lab_warn("%s of %s: %s", r->variant, r->size, r->reason);
        return LAB_OK;
    }
    if (!g->o.json) {
        lab_printf(stdout, "  %s of %s: %s\n", r->variant, r->size,
                   LAB_AMOUNT_TEXT(r->rate, "FLOP/s"));
        fflush(stdout);
    }
    if (!(g->rate[i][c] > r->rate)) { /* the faster; NaN: the first */
        g->rate[i][c] = r->rate;
        g->own[i] = c == GPU_OWN ? r->variant : g->own[i];
    }
    return LAB_OK;
}

static bool stop(void *user)
{
    (void)user;
    return lab_signals_caught() != 0;
}

/* The libraries, and on a GPU our last variants, the last first. */
static void choose(struct lab_bench *lab, int machine)
{
    const struct lab_variant *chosen[LAB_BENCH_VARIANTS];
    int own = 0;
    int n = 0;
    for (int i = lab->n_variants - 1; i >= 0; i--) {
        const struct lab_variant *r = lab->variants[i];
        if (!r->tuned && (r->model.library || (machine == GPU && own++ < OWN)))
            chosen[n++] = r;
    }
    memcpy(lab->variants, chosen, (size_t)n * sizeof(*chosen));
    lab->n_variants = n;
}

static enum lab_status open_machine(struct gflops *g, int machine)
{
    bool gpu = machine == GPU;
    struct lab_bench *lab = lab_alloc(sizeof(*lab));
    if (!lab)
        return lab_no_memory("a table");
    g->options[machine] = (struct lab_options){
        .lesson = g->name,
        .sizes = g->sizes[machine],
        .precisions = 1u << (strcmp(g->name, "dgemm") ? LAB_FP32 : LAB_FP64),
        .backend = gpu ? "cuda" : "cpu",
        .counters = "off",
        .device = gpu ? g->o.device : 0,
        .seed = 1};
    enum lab_status st = lab_bench_open(lab, &g->options[machine]);
    if (st) {
        lab_free(lab);
        return st;
    }
    lab->repeats = gpu ? g->o.repeat : CPU_REPEATS;
    choose(lab, machine);
    g->labs[machine] = lab;
    return LAB_OK;
}

/* None need be there with `auto`. Known before the CPU is measured. */
static enum lab_status open_gpu(struct gflops *g)
{
    enum lab_status st = open_machine(g, GPU);
    if (st != LAB_E_UNSUPPORTED || strcmp(g->o.backend, "auto") != 0)
        return st;
    lab_warn("without the GPU's columns: %s", lab_error());
    if (g->sizes[GPU] != gpu_sizes)
        lab_warn("no GPU: --sizes is for its columns, --cpu-sizes for "
                 "the CPU's");
    return LAB_OK;
}

static enum lab_status measure(struct gflops *g, int machine)
{
    struct lab_bench *lab = g->labs[machine];
    struct measuring m = {g, machine};
    if (!lab)
        return LAB_OK;
    lab_ladder_measure(lab->backend, lab->ladder, 0, &lab->machine);
    if (!g->o.json)
        lab_printf(stdout, "%s: %s\n", machine == GPU ? "GPU" : "CPU",
                   lab->machine.info.name);
    if (machine == CPU)
        print_estimate(g, lab);
    fflush(stdout);
    lab->observer =
        (struct lab_bench_observer){.user = &m, .stop = stop, .result = take};
    return lab_bench_climb(lab, 0, lab->n_sizes);
}

/* ---- output ---- */

static enum lab_status print_table(const struct gflops *g)
{
    static const char *const heads[] = {
        ">N",           ">CPU, 1 thread", ">CPU, all cores", ">GPU, our best",
        ">GPU, vendor", ">GPU / CPU",     "our best",        NULL};
    struct lab_text_table t;
    lab_text_table_init(&t, heads);
    for (int i = 0; i < g->n_sizes; i++) {
        lab_text_table_add(&t, g->size[i].text);
        for (int c = 0; c < COLUMNS; c++)
            lab_text_table_add_real(&t, g->rate[i][c] / 1e9, 4);
        lab_text_table_add_real(
            &t, g->rate[i][GPU_LIBRARY] / g->rate[i][CPU_ONE], 3);
        lab_text_table_add(&t, g->own[i] ? g->own[i] : "");
    }
    lab_printf(stdout, "\nGFLOP/s, 2 N^3 operations in the median time\n");
    return lab_text_table_put(&t, "");
}

/* ---- the course's figures, and a GPU's where there is none ---- */

/* What this command has measured at the size of a figure; NaN: nothing. */
static double rate_beside(const struct gflops *g,
                          const struct lab_lesson_slide *s)
{
    bool gpu = s->variant && strcmp(s->variant, "cublas") == 0;
    for (int i = 0; i < g->n_sizes; i++) {
        const double *rate = g->rate[i];
        if (strcmp(g->size[i].text, s->size) == 0)
            return gpu ? rate[GPU_LIBRARY] : fmax(rate[CPU_ONE], rate[CPU_ALL]);
    }
    return NAN;
}

static void print_figures(const struct gflops *g,
                          const struct lab_bench_data *data)
{
    for (int i = 0; i < data->slide_count; i++) {
        const struct lab_bench_slide *s = &data->slides[i];
        double rate = rate_beside(g, s->course);
        char text[LAB_BENCH_SLIDE_TEXT];
        if (isnan(rate))
            lab_printf(stdout, "%s%s\n", i ? "" : "\n",
                       lab_bench_slide_text(s, text, sizeof(text)));
        else
            lab_printf(stdout,
                       "%s%s at %s: slide, %s: %.6g %s; this machine: %.4g "
                       "GFLOP/s\n",
                       i ? "" : "\n", s->course->label, s->course->size,
                       s->course->machine, s->course->value, s->course->unit,
                       rate / 1e9);
    }
}

/* The best of ours and the vendor's, of a recorded run. */
static enum lab_status print_recorded(const struct lab_bench_data *data)
{
    static const char *const heads[] = {">N", ">GPU, our best", ">GPU, vendor",
                                        "our best", NULL};
    struct lab_text_table t;
    lab_text_table_init(&t, heads);
    for (int k = 0; k < data->size_count; k++) {
        double best[2] = {NAN, NAN};
        const char *own = "";
        for (int64_t i = 0; i < data->row_count; i++) {
            const struct lab_bench_result *r = &data->rows[i];
            if (r->state != LAB_BENCH_DONE ||
                strcmp(r->precision, "fp32") != 0 ||
                strcmp(r->size, data->sizes[k].text) != 0 ||
                best[r->library] >= r->rate)
                continue;
            best[r->library] = r->rate;
            own = r->library ? own : r->variant;
        }
        lab_text_table_add(&t, data->sizes[k].text);
        lab_text_table_add_real(&t, best[false] / 1e9, 4);
        lab_text_table_add_real(&t, best[true] / 1e9, 4);
        lab_text_table_add(&t, own);
    }
    lab_printf(stdout, "\nrecorded on %s, %s, GFLOP/s\n", data->sets[0].device,
               data->sets[0].note);
    return lab_text_table_put(&t, "");
}

/* Of the lesson of this table; what cannot be read is left out with a warning. */
static enum lab_status print_beside(const struct gflops *g)
{
    struct lab_lesson *lesson = NULL;
    struct lab_bench *bare = lab_alloc(sizeof(*bare));
    struct lab_bench_data *data = lab_alloc(sizeof(*data));
    enum lab_status st = bare && data ? LAB_OK : lab_no_memory("a table");
    if (!st)
        lab_bench_data_init(data);
    if (!st && lab_lesson_open(&lesson, "lab-gflops")) {
        lab_warn("without the course's figures: %s", lab_error());
    } else if (!st) {
        bare->lesson = lesson;
        bare->ladder = g->operation;
        bool read = !lab_bench_model_recorded(data, bare);
        st = lab_bench_model_slides(data, bare);
        if (read && !st && lab_bench_model_slides_recorded(data, bare))
            lab_warn("the recorded results cannot be read: %s", lab_error());
        lab_bench_model_beside(data, g->operation);
        if (read && !st && !g->labs[GPU])
            st = print_recorded(data);
        if (!st)
            print_figures(g, data);
    }
    if (data)
        lab_bench_data_release(data);
    lab_free(data);
    lab_free(bare);
    lab_lesson_free(lesson);
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

static enum lab_status show(struct gflops *g)
{
    bool gpu = strcmp(g->o.backend, "cpu") != 0;
    bool cpu = strcmp(g->o.backend, "cuda") != 0;
    if (strcmp(g->o.backend, "sim") == 0)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[demo.gflops-sim] --backend sim: this measures times "
                        "alone, and a simulated GPU has none: use auto, cpu or "
                        "cuda");
    enum lab_status st = lab_ladder_find(g->name, &g->operation);
    if (!st && cpu)
        st = check_sizes(g, CPU);
    if (!st && gpu)
        st = check_sizes(g, GPU);
    g->n_sizes = 0; /* only what is measured has a row */
    if (!st && gpu)
        st = open_gpu(g);
    if (!st && cpu)
        st = open_machine(g, CPU);
    for (int m = 0; m < MACHINES && !st; m++)
        st = measure(g, m);
    if (st)
        return st;
    st = g->o.json ? print_json(g) : print_table(g);
    if (!st && !g->o.json && strcmp(g->name, "gemm") == 0)
        st = print_beside(g);
    bool any = false;
    for (int i = 0; i < g->n_sizes * COLUMNS; i++)
        any = any || !isnan(g->rate[i / COLUMNS][i % COLUMNS]);
    if (!st && !any)
        st = lab_fail(LAB_E_UNSUPPORTED,
                      "[demo.gflops-nothing] nothing was timed: the lines "
                      "above have the reasons");
    return st;
}

static void refuse_words(struct lab_options *o, struct argp_state *state)
{
    if (o->n_words > 0)
        lab_usage_error(state, "[usage.gflops] %s: --sizes takes the sizes",
                        o->words[0]);
}

static int cmd_gflops(int argc, char **argv)
{
    static const struct lab_command_line line = {
        .name = "lapenna-lab lab gflops",
        .commands = LAB_FOR_GFLOPS,
        .doc = "The rate of a square matrix product against its size, on the "
               "CPU and on the GPU, in one table (the course's LAB 2, Problem "
               "4).",
        .check = refuse_words};
    struct gflops *g = lab_alloc(sizeof(*g));
    if (!g)
        return lab_exit_error(lab_no_memory("a table"));
    struct lab_options *o = &g->o;
    lab_options_parse(o, argc, argv, &line);
    if (!o->repeat)
        o->repeat = LAB_LADDER_REPEATS_MIN;
    g->name = o->as_double ? "dgemm" : "gemm";
    g->sizes[CPU] = o->cpu_sizes ? o->cpu_sizes : "2000,4000,6000";
    g->sizes[GPU] = o->sizes ? o->sizes : gpu_sizes;
    lab_signals_catch();
    lab_signals_say(LAB_SIGNALS_STOPPING);
    enum lab_status st = show(g);
    int code = lab_exit_error(st);
    for (int m = 0; m < MACHINES; m++) {
        if (g->labs[m])
            lab_bench_close(g->labs[m]);
        lab_free(g->labs[m]);
    }
    lab_free(g);
    return code;
}

const struct lab_demo_row lab_demo_row_gflops = {
    .word = "gflops",
    .takes = "N",
    .text = "the rate of a square product against its size",
    .run = cmd_gflops};
