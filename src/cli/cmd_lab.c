/* lapenna-lab lab NAME: a ladder of kernels, checked, timed, and recorded.
 *
 * Reads the words (a ladder, a sweep, a first kernel, `tune`, `index`), refuses
 * options that these do not use, and hands on: ladders to bench/run.h, sweeps
 * to bench/sweep.h, first kernels to bench/demo. A lesson of kind lab is the
 * same words kept in a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cmd.h"
#include "report/suggest.h"
#include "report/json_line.h"
#include "bench/bench.h"
#include "bench/demo.h"
#include "debug/kernel_walk.h"
#include "debug/options.h"
#include "labs/cpu_variants.h"
#include "report/print.h"
#include "base/signals.h"
#include "lesson/catalog.h"
#include "report/text_table.h"
#include "ui/lab_chart.h"

enum { USUAL_COLUMNS = 80, MOST_COLUMNS = 120 };

/* ---- the command line ---- */

static void which_lab(struct argp_state *state)
{
    struct lab_str names;
    lab_str_init(&names);
    for (int i = 0; lab_operation_at(i); i++)
        lab_str_addf(&names, "%s%s", i ? ", " : "", lab_operation_at(i)->name);
    for (int i = 0; lab_cpu_variant("first", i); i++)
        lab_str_addf(&names, ", %s", lab_cpu_variant("first", i)->name);
    lab_usage_error(state, "[usage.lab] which lab? %s", lab_str_text(&names));
    lab_str_release(&names);
}

static void take_precision(struct lab_options *o, const char *arg,
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
            lab_usage_error(state,
                            "[option.precisions] --precision is a list of "
                            "fp32, tf32, bf16, fp16 and fp64, or all, not %s",
                            arg);
        o->precisions |= found;
        at = at[n] ? at + n + 1 : NULL;
    }
}

static enum lab_sweep_kind find_sweep(const char *word)
{
    int k = 0;
    while (k < LAB_SWEEP_KINDS &&
           strcmp(lab_sweep_name((enum lab_sweep_kind)k), word) != 0)
        k++;
    return (enum lab_sweep_kind)k;
}

static bool has_word(const struct lab_options *o)
{
    return o->tune || o->sweep != LAB_SWEEP_KINDS;
}

/* A word that is no option: what is measured, and of what. */
static void take_word(struct lab_options *o, const char *arg,
                      struct argp_state *state)
{
    if (o->lesson)
        lab_usage_error(state, "[usage.labs] one lab at a time: %s or %s",
                        o->lesson, arg);
    else if (!has_word(o) && strcmp(arg, "tune") == 0)
        o->tune = true;
    else if (!has_word(o) && find_sweep(arg) != LAB_SWEEP_KINDS)
        o->sweep = (int)find_sweep(arg);
    else
        o->lesson = arg;
}

static void check_words(const struct lab_options *o, struct argp_state *state)
{
    if (o->lesson && o->list)
        lab_usage_error(
            state, "[usage.list] --list names all of them: %s is one too many",
            o->lesson);
    if (!o->lesson && !o->list && o->sweep == LAB_SWEEP_KINDS)
        which_lab(state);
}

/* An option that this does not use is a usage error. */
static enum lab_status refuse_unused(const struct lab_options *o, unsigned kind,
                                     const char *name)
{
    const char *wrong = lab_options_foreign(o, kind | LAB_FOR_LAB);
    struct lab_str list;
    lab_str_init(&list);
    lab_options_list(&list, kind);
    enum lab_status st =
        wrong
            ? lab_fail(LAB_E_USAGE,
                       "[option.foreign-lab] %s does not use --%s: it takes %s",
                       name, wrong, lab_str_text(&list))
            : LAB_OK;
    lab_str_release(&list);
    return st ? st : lab_options_check_model(o);
}

static void take_words(struct lab_options *o, struct argp_state *state)
{
    o->sweep = LAB_SWEEP_KINDS;
    for (int i = 0; i < o->n_words; i++)
        take_word(o, o->words[i], state);
    if (o->precision)
        take_precision(o, o->precision, state);
    check_words(o, state);
}

static const struct lab_command_line usage = {
    .name = "lapenna-lab lab",
    .commands = LAB_FOR_LAB | LAB_FOR_LABS,
    .args = "NAME\ntune NAME\nbatch-size|network-size LESSON\n"
            "products|backward LESSON|all\nlayers|inference|mixing LESSON",
    .doc =
        "Climb a ladder of kernels: the same operation, from the first kernel "
        "that works to the fastest. Every variant is compared with double on "
        "odd shapes before it is timed, and everything is recorded. With tune "
        "the candidates of a variant that is tuned are measured, and the "
        "fastest "
        "is kept for the device and the size. batch-size, network-size, "
        "products "
        "and backward measure a lesson's network: several batches, several "
        "widths, the part of matrix products, and of the backward pass.\v"
        "NAME is an operation that has a ladder, as gemm or saxpy (a wrong "
        "name lists them all), one of the first kernels hello, scalar_add, "
        "vectors and index, or a lesson of kind lab. No ladders, with a --help "
        "of their own: offsets (of image tensors), gflops (of a product "
        "against its size, CPU and GPU), calls (of cuDNN for one convolution), "
        "layers (of a network, counted and fused), inference (a trained "
        "network "
        "in 8 bits, and pruned), mixing (of positions of a sequence, by "
        "layer). "
        "Exit status: 0 done, 1 a variant is wrong, 2 wrong usage, 3 bad "
        "input, 4 the machine lacks what was asked for.",
    .check = take_words};

/* ---- a ladder ---- */

static bool stop(void *user)
{
    (void)user;
    return lab_signals_caught() != 0;
}

static int columns_of_terminal(void)
{
    size_t columns = lab_print_columns();
    return columns == 0             ? USUAL_COLUMNS
           : columns < MOST_COLUMNS ? (int)columns
                                    : MOST_COLUMNS;
}

static enum lab_status print_chart(const struct lab_bench *lab)
{
    struct lab_str text;
    if (!lab->options->chart && !isatty(STDOUT_FILENO))
        return LAB_OK;
    lab_str_init(&text);
    lab_str_add(&text, "\n");
    enum lab_status st = lab_bench_chart_text(
        &lab->data, 0, columns_of_terminal(), lab_print_is_ascii(), &text);
    if (!st && text.len > 1)
        return lab_print_str(&text);
    lab_str_release(&text);
    return st;
}

/* What is beside the results. CPU and GPU in one picture: what was measured here
 * earlier; and without a GPU what was recorded on one. Neither need be there. */
static enum lab_status print_rest(struct lab_bench *lab)
{
    if (lab_bench_model_earlier(&lab->data, lab) && lab->backend->host_memory) {
        enum lab_status read = lab_bench_model_recorded(&lab->data, lab);
        if (!read)
            read = lab_bench_model_slides_recorded(&lab->data, lab);
        if (read && read != LAB_E_NOTFOUND)
            lab_warn("the recorded results cannot be read: %s", lab_error());
    }
    lab_bench_model_beside(&lab->data, lab->ladder);
    enum lab_status st = lab_bench_print_rest(lab);
    return st || lab->options->json ? st : print_chart(lab);
}

static enum lab_status climb(struct lab_bench *lab)
{
    enum lab_status st = lab_bench_climb(lab, 0, lab->n_sizes);
    if (st)
        lab_bench_print_left(lab);
    if (!st)
        st = lab_bench_trace(lab);
    return st ? st : print_rest(lab);
}

static enum lab_status work(struct lab_bench *lab)
{
    enum lab_status st = lab_bench_print_run(lab);
    if (st)
        return st;
    if (!lab->options->tune)
        return climb(lab);
    return lab_bench_tune(lab);
}

static enum lab_status run(struct lab_bench *lab)
{
    bool tune = lab->options->tune;
    enum lab_status st = lab_bench_ask(lab);
    if (!st && tune)
        st = lab_bench_tune_kept(lab);
    if (!st && tune)
        st = lab_bench_tune_recorded(lab); /* before what takes a minute */
    if (st || (tune && !lab->to_tune))
        return st;
    if (lab->however_long && lab->course_from == lab->n_sizes)
        lab_warn("--sizes all: these are the lab's own sizes: %s",
                 lab->backend->host_memory
                     ? "it has no figures of the course's CPU"
                     : "those of the course's CPU, where it has figures of it, "
                       "need --backend cpu");
    lab_bench_measure_ceilings(lab);
    if (lab->options->predict) /* those that were asked for */
        lab_bench_model_predict(&lab->data, 0, lab->predictions,
                                lab->n_predictions);
    lab_bench_model_ceilings(&lab->data, 0, lab);
    return lab_bench_recorded(lab, work);
}

/* ---- what else ---- */

static enum lab_status list_labs(const struct lab_options *o)
{
    enum lab_status st = LAB_OK;
    const struct lab_operation *op;
    lab_print_wrap(lab_print_columns(), 32); /* as LAB_BENCH_LINE has it */
    for (int i = 0; !st && (op = lab_operation_at(i)); i++) {
        if (!o->json) {
            lab_printf(stdout, LAB_BENCH_LINE, op->name, op->shape, op->title);
            continue;
        }
        char unit[LAB_BENCH_UNIT];
        json_t *line = lab_json_new("operation");
        lab_ladder_unit(op, unit, sizeof(unit));
        lab_json_text(line, "lab", op->name);
        lab_json_text(line, "title", op->title);
        lab_json_text(line, "shape", op->shape);
        lab_json_text(line, "unit", unit);
        st = lab_json_print(line);
    }
    if (!st)
        st = lab_demo_list(o->json);
    lab_print_wrap(0, 0);
    return st ? st : lab_print_check();
}

/* A lesson of kind lab that measures something else than a ladder: the same as
 * the words and options that it is short for. *lesson must outlive `o`. */
static enum lab_status follow_lesson(struct lab_options *o,
                                     struct lab_lesson **lesson)
{
    const struct lab_operation *op = NULL;
    struct lab_str path;
    if (has_word(o) || !lab_ladder_find(o->lesson, &op))
        return LAB_OK;
    lab_str_init(&path);
    if (lab_lesson_find(o->lesson, &path)) {
        lab_str_release(&path);
        return LAB_OK; /* reported when it is opened */
    }
    enum lab_status st = lab_lesson_load(lesson, lab_str_text(&path));
    lab_str_release(&path);
    if (st)
        return st;
    const struct lab_lesson_lab *lab = &(*lesson)->lab;
    if ((*lesson)->kind != LAB_LESSON_LAB ||
        lab->measures == LAB_MEASURE_LADDER)
        return LAB_OK;
    if (lab->measures == LAB_MEASURE_CALLS) {
        o->calls = true;
        o->lesson_sizes = lab->sizes;
        return LAB_OK;
    }
    if (lab->measures == LAB_MEASURE_TUNE) {
        o->tune = true;
        return LAB_OK;
    }
    o->sweep = (int)lab->measures - LAB_MEASURE_BATCH;
    o->lesson = lab->of;
    o->lesson_sizes = lab->sizes;
    o->lesson_cpu_sizes = lab->cpu_sizes;
    if (o->repeat == 0)
        o->repeat = (int)lab->repeat;
    return LAB_OK;
}

/* --into VARIANT: its kernels by words, and no ladder. */
static enum lab_status walk_into(struct lab_bench *lab)
{
    const struct lab_variant *variant = lab->variants[0];
    struct lab_device_info info;
    lab_backend_info(lab->backend, &info);
    enum lab_status st =
        lab_kernel_walk_launches(lab->backend, true, isatty(STDIN_FILENO) != 0);
    if (st)
        return st;
    lab_printf(stdout, "%s, variant %s in %s, size %s, on %s\n",
               lab->ladder->name, variant->name,
               lab_precision_name(variant->precision), lab->sizes[0].text,
               info.name);
    st = lab_bench_launch(lab, variant, 0);
    (void)lab_kernel_walk_launches(lab->backend, false, false);
    return st ? st : lab_print_check();
}

static int climb_or_tune(const struct lab_options *o)
{
    struct lab_bench *lab = lab_alloc(sizeof(*lab));
    lab_signals_say(LAB_SIGNALS_STOPPING);
    enum lab_status st = !lab      ? lab_no_memory("a lab")
                         : o->into ? lab_kernel_walk_option(o->backend, o->json)
                                   : LAB_OK;
    if (!st)
        st = lab_bench_open(lab, o);
    if (!st && o->into) {
        st = walk_into(lab);
        lab_bench_close(lab);
        lab_free(lab);
        return lab_exit_error(st);
    }
    if (!st && o->device > 0 && lab->backend->host_memory)
        lab_warn("--device %d is not used: this is measured on the CPU",
                 o->device);
    if (!st) {
        lab->observer = (struct lab_bench_observer){
            .user = lab, .stop = stop, .result = lab_bench_print_result};
        st = run(lab);
        if (!st && !o->json && lab->run) {
            lab_printf(stdout, "\n");
            lab_print_recorded(o->db, lab->run, true);
        }
        bool measured = !o->tune || lab->to_tune > 0;
        if (!st && measured && (lab->worst == LAB_E_CHECK || lab->timed == 0))
            st = lab_fail(
                lab->worst ? lab->worst : LAB_E_CHECK,
                lab->backend->untimed && lab->worst != LAB_E_CHECK
                    ? "[lab.not-run] no variant ran: the rows have the "
                      "reasons"
                : lab->backend->untimed
                    ? "[lab.not-whole] not every variant is right: the "
                      "rows have the reasons"
                    : "[lab.untimed] not everything was timed: the "
                      "rows have the reasons");
        lab_bench_close(lab);
    }
    lab_free(lab);
    return lab_exit_error(st);
}

static unsigned kind_of(const struct lab_options *o, const char *kernel)
{
    if (o->list)
        return LAB_FOR_LIST;
    if (kernel[0])
        return strcmp(kernel, "index") == 0     ? LAB_FOR_INDEX
               : strcmp(kernel, "vectors") == 0 ? LAB_FOR_VECTORS
                                                : LAB_FOR_ONE_KERNEL;
    if (o->calls)
        return LAB_FOR_CALLS;
    if (o->sweep != LAB_SWEEP_KINDS)
        return o->sweep <= LAB_SWEEP_NETWORK ? LAB_FOR_SIZED : LAB_FOR_PARTS;
    return o->tune ? LAB_FOR_TUNE : LAB_FOR_LADDER;
}

static int measure(const struct lab_options *o, unsigned kind,
                   const char *kernel)
{
    bool timed = kind == LAB_FOR_TUNE || kind == LAB_FOR_CALLS ||
                 kind == LAB_FOR_SIZED || kind == LAB_FOR_PARTS;
    if (timed && o->backend && strcmp(o->backend, "sim") == 0)
        return lab_exit_error(lab_fail(
            LAB_E_UNSUPPORTED,
            "[lab.backend-sim] --backend sim: this measures times alone, and a "
            "simulated GPU has none: use cpu or cuda here, or a ladder as "
            "`lapenna-lab lab gemm --backend sim`, which counts"));
    switch (kind) {
    case LAB_FOR_LIST:
        return lab_exit_error(list_labs(o));
    case LAB_FOR_ONE_KERNEL:
    case LAB_FOR_VECTORS:
    case LAB_FOR_INDEX:
        return lab_exit_error(lab_demo_run(o, kernel));
    case LAB_FOR_CALLS:
        return lab_demo_calls(o);
    case LAB_FOR_SIZED:
    case LAB_FOR_PARTS:
        return lab_sweep_run(o, (enum lab_sweep_kind)o->sweep);
    default:
        return climb_or_tune(o);
    }
}

static int cmd_lab(int argc, char **argv)
{
    struct lab_options o;
    int code = 0;
    if (lab_demo_word(argc, argv, &code))
        return code;
    lab_options_parse(&o, argc, argv, &usage);
    lab_signals_catch();
    struct lab_lesson *lesson = NULL;
    char kernel[32] = "";
    const char *name = o.list   ? "--list"
                       : o.tune ? "tune"
                       : o.sweep != LAB_SWEEP_KINDS
                           ? lab_sweep_name((enum lab_sweep_kind)o.sweep)
                           : o.lesson;
    enum lab_status st = LAB_OK;
    if (!o.list && !o.lesson)
        return lab_exit_error(lab_fail(
            LAB_E_USAGE,
            "[usage.lab-lesson] %s of which LESSON? `lapenna-lab lesson list` "
            "shows them; products and backward take `all` too",
            name));
    if (!o.list &&
        (has_word(&o) || !lab_demo_of(o.lesson, kernel, sizeof(kernel))))
        st = follow_lesson(&o, &lesson);
    unsigned kind = kind_of(&o, kernel);
    if (!st)
        st = refuse_unused(&o, kind, name);
    code = st ? lab_exit_error(st) : measure(&o, kind, kernel);
    lab_lesson_free(lesson);
    return code;
}

const struct lab_cmd lab_cmd_lab = {
    .name = "lab",
    .run = cmd_lab,
    .help = "NAME: a ladder of kernels, checked and timed"};
