/* lapenna-lab lab NAME: a ladder of kernels, checked, timed, and recorded. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cmd.h"
#include "json_line.h"
#include "lab.h"
#include "lab_feed.h"
#include "say.h"
#include "signals.h"
#include "sweep.h"
#include "lesson/catalog.h"
#include "trace/metric.h"

enum {
    KEY_SIZES = 256,
    KEY_VARIANTS,
    KEY_PRECISION,
    KEY_REPEAT,
    KEY_PREDICT,
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
     "a time, 3.5ms), memory, arithmetic or latency, and an occupancy (50%), "
     "with colons between; VARIANT best is the fastest",
     1},
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
    {"list", KEY_LIST, NULL, 0, "The operations that have a ladder", 3},
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
    "lists them all), or a lesson of kind lab. Exit status: 0 done, 1 a rung "
    "is wrong, 2 wrong usage, 3 bad "
    "input, 4 the machine lacks what was asked for.";

/* A whole number of [least, most], or the end with a word. */
static long long number(const char *arg, const char *option, long long least,
                        long long most, struct argp_state *state)
{
    char *end = NULL;
    errno = 0;
    long long v = strtoll(arg, &end, 10);
    if (end == arg || *end || errno || v < least || v > most)
        argp_error(state, "--%s %s: a whole number from %lld to %lld", option,
                   arg, least, most);
    return v;
}

static void take_backend(struct lab_lab_options *o, const char *arg,
                         struct argp_state *state)
{
    if (strcmp(arg, "auto") && strcmp(arg, "cpu") && strcmp(arg, "cuda"))
        argp_error(state, "--backend is auto, cpu or cuda");
    o->backend = arg;
}

static void which_lab(struct argp_state *state)
{
    struct lab_str names;
    lab_str_init(&names);
    for (int i = 0; lab_ladder_at(i); i++)
        lab_str_addf(&names, "%s%s", i ? ", " : "", lab_ladder_at(i)->name);
    argp_error(state, "which lab? %s", lab_str_text(&names));
    lab_str_release(&names);
}

static void take_precision(struct lab_lab_options *o, const char *arg,
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

/* `tune` or the name of a sweep has been given. */
static bool has_word(const struct lab_lab_options *o)
{
    return o->tune || o->sweep != LAB_SWEEP_KINDS;
}

static void take_counters(struct lab_lab_options *o, const char *arg,
                          struct argp_state *state)
{
    if (lab_counter_set_find(arg) == LAB_COUNTERS_COUNT)
        argp_error(state, "--counters is off, basic or full");
    o->counters = arg;
}

/* A word that is no option: what is measured, and of what. */
static void take_word(struct lab_lab_options *o, const char *arg,
                      struct argp_state *state)
{
    if (o->name)
        argp_error(state, "one lab at a time: %s or %s", o->name, arg);
    else if (!has_word(o) && strcmp(arg, "tune") == 0)
        o->tune = true;
    else if (!has_word(o) && lab_sweep_find(arg) != LAB_SWEEP_KINDS)
        o->sweep = (int)lab_sweep_find(arg);
    else
        o->name = arg;
}

static void check_words(const struct lab_lab_options *o,
                        struct argp_state *state)
{
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

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct lab_lab_options *o = state->input;
    if (key == KEY_SIZES)
        o->sizes = arg;
    else if (key == KEY_VARIANTS)
        o->variants = arg;
    else if (key == KEY_PRECISION)
        take_precision(o, arg, state);
    else if (key == KEY_REPEAT)
        o->repeat = (int)number(arg, "repeat", LAB_LADDER_REPEATS_MIN,
                                LAB_LADDER_REPEATS_MAX, state);
    else if (key == KEY_PREDICT)
        o->predict = arg;
    else if (key == KEY_BACKEND)
        take_backend(o, arg, state);
    else if (key == KEY_DEVICE)
        o->device = (int)number(arg, "device", 0, 1023, state);
    else if (key == KEY_COUNTERS)
        take_counters(o, arg, state);
    else if (key == KEY_SEED)
        o->seed = (uint64_t)number(arg, "seed", 0, INT64_MAX, state);
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
    return 0;
}

/* ---- the climb ---- */

static enum lab_status take_row(void *user, const struct lab_ladder_row *row)
{
    struct lab_lab *lab = user;
    lab_lab_record_row(lab, row);
    lab_feed_row(&lab->ui, 0, lab, row);
    if (!row->status && lab_lab_trace_later(lab, row))
        return LAB_E_NOMEM;
    lab->place++;
    if (lab->options->json)
        return lab_lab_json_row(lab, row);
    lab->rows[lab->n_rows++] = *row;
    if (lab->n_rows < lab->n_rungs)
        return LAB_OK;
    enum lab_status st = lab_lab_print_size(lab);
    lab->n_rows = 0;
    return st;
}

/* A wrong rung is a failed check; where nothing at all was timed, the machine
 * lacks what was asked for. */
static void note_worst(const struct lab_ladder_row *row, enum lab_status *worst)
{
    if (row->status == LAB_E_CHECK || !*worst)
        *worst = row->status;
}

struct watch {
    struct lab_lab *lab;
    lab_lab_see_fn *see;
    void *user;
};

static enum lab_status see_row(void *user, const struct lab_ladder_row *row)
{
    struct watch *w = user;
    note_worst(row, &w->lab->worst);
    if (w->see)
        w->see(w->user, row);
    return take_row(w->lab, row);
}

static const struct lab_rung *stands(void *user, const struct lab_rung *tuned,
                                     const struct lab_ladder_size *size,
                                     struct lab_rung_note *note)
{
    struct watch *w = user;
    return lab_lab_stands(w->lab, tuned, size, note);
}

static bool stop(void *user)
{
    (void)user;
    return lab_signals_caught() != 0;
}

enum lab_status lab_lab_climb(struct lab_lab *lab, int first, int n,
                              lab_lab_see_fn *see, void *user)
{
    struct watch watch = {lab, see, user};
    struct lab_ladder_climb c = {.backend = lab->backend,
                                 .ladder = lab->ladder,
                                 .machine = &lab->machine,
                                 .rungs = lab->rungs,
                                 .n_rungs = lab->n_rungs,
                                 .sizes = lab->sizes + first,
                                 .n_sizes = n,
                                 .repeats = lab->repeats,
                                 .seed = lab->options->seed,
                                 .stands = stands,
                                 .row = see_row,
                                 .stop = stop,
                                 .user = &watch};
    enum lab_status st = lab_ladder_climb(&c);
    /* What an interrupted size has is told too. */
    if (st && lab->n_rows > 0)
        lab_lab_print_size(lab);
    return st;
}

/* What is beside the rows. */
static enum lab_status tell_rest(struct lab_lab *lab)
{
    /* CPU and GPU in one picture: what was measured here earlier; and without a
     * GPU what was recorded on one. Neither need be there. */
    if (lab_feed_earlier(&lab->ui, lab) && lab->backend->host_memory)
        lab_feed_recorded(&lab->ui, lab);
    lab_feed_beside(&lab->ui, lab->ladder);
    if (lab->options->json)
        return lab_lab_json_slides(lab);
    lab_lab_print_occupancy(lab);
    enum lab_status st = lab_lab_print_recorded(lab);
    lab_lab_print_slides(lab);
    return st ? st : lab_lab_print_chart(lab);
}

static enum lab_status run(struct lab_lab *lab)
{
    bool tune = lab->options->tune;
    enum lab_status st = lab_lab_ask(lab);
    if (!st && tune)
        st = lab_lab_tune_kept(lab);
    if (st || (tune && !lab->to_tune))
        return st;
    unsigned precisions = 0;
    for (int i = 0; i < lab->n_rungs; i++)
        precisions |= 1u << lab->rungs[i]->precision;
    lab_ladder_measure(lab->backend, precisions, &lab->machine);
    if (lab->options->predict) /* those that were asked for */
        lab_feed_said(&lab->ui, 0, lab->said, lab->n_said);
    lab_feed_ceilings(&lab->ui, 0, lab);
    st = lab_lab_record_begin(lab);
    if (!st && lab->options->json)
        st = lab_lab_json_run(lab);
    else if (!st)
        lab_lab_print_head(lab);
    if (!st && tune)
        st = lab_lab_tune(lab);
    else if (!st)
        st = lab_lab_climb(lab, 0, lab->n_sizes, NULL, NULL);
    if (!st && !tune)
        st = lab_lab_trace(lab);
    if (!st && !tune)
        st = tell_rest(lab);
    char why[LAB_LADDER_TEXT];
    snprintf(why, sizeof(why), "%s", lab_error());
    lab_lab_record_end(lab, st);
    return st ? lab_fail(st, "%s", why) : LAB_OK;
}

static enum lab_status list_labs(const struct lab_lab_options *o)
{
    enum lab_status st = LAB_OK;
    const struct lab_operation *op;
    for (int i = 0; !st && (op = lab_ladder_at(i)); i++) {
        if (!o->json) {
            lab_say(stdout, "%-16s %-12s %s\n", op->name, op->shape, op->title);
            continue;
        }
        char unit[LAB_LAB_UNIT];
        json_t *line = lab_json_new("operation");
        lab_ladder_unit(op, unit, sizeof(unit));
        lab_json_text(line, "lab", op->name);
        lab_json_text(line, "title", op->title);
        lab_json_text(line, "shape", op->shape);
        lab_json_text(line, "unit", unit);
        st = lab_json_print(line);
    }
    if (!st && fflush(stdout))
        st = lab_fail(LAB_E_IO, "cannot write");
    return st;
}

/* A lesson of kind lab that measures something else than a ladder: the same as
 * the words and options that it stands for. *lesson must outlive `o`. */
static enum lab_status follow_lesson(struct lab_lab_options *o,
                                     struct lab_lesson **lesson)
{
    const struct lab_operation *op = NULL;
    struct lab_str path;
    if (has_word(o) || !lab_ladder_find(o->name, &op))
        return LAB_OK;
    lab_str_init(&path);
    if (lab_lesson_find(o->name, &path)) {
        lab_str_release(&path);
        return LAB_OK; /* told when it is opened */
    }
    enum lab_status st = lab_lesson_load(lesson, lab_str_text(&path));
    lab_str_release(&path);
    if (st)
        return st;
    const struct lab_lesson_lab *lab = &(*lesson)->lab;
    if ((*lesson)->kind != LAB_LESSON_LAB ||
        lab->measures == LAB_MEASURE_LADDER)
        return LAB_OK;
    if (lab->measures == LAB_MEASURE_TUNE) {
        o->tune = true;
        return LAB_OK;
    }
    o->sweep = (int)lab->measures - LAB_MEASURE_BATCH;
    o->name = lab->of;
    o->lesson_sizes = lab->sizes;
    o->lesson_cpu_sizes = lab->cpu_sizes;
    if (o->repeat == 0)
        o->repeat = (int)lab->repeat;
    return LAB_OK;
}

static int climb_or_tune(const struct lab_lab_options *o)
{
    struct lab_lab *lab = lab_alloc(sizeof(*lab));
    enum lab_status st = lab ? lab_lab_open(lab, o)
                             : lab_fail(LAB_E_NOMEM, "no memory for a lab");
    if (!st) {
        st = run(lab);
        if (!st && !o->json && lab->run)
            lab_say(stdout,
                    "\nrecorded as run %lld: lapenna-lab profile show %lld\n",
                    (long long)lab->run, (long long)lab->run);
        bool measured = !o->tune || lab->to_tune > 0;
        if (!st && measured && (lab->worst == LAB_E_CHECK || lab->timed == 0))
            st = lab_fail(lab->worst ? lab->worst : LAB_E_CHECK,
                          "not everything was timed: the rows say why");
        lab_lab_close(lab);
    }
    lab_free(lab);
    return lab_exit_error(st);
}

int lab_cmd_lab(int argc, char **argv)
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
    static char program[] = "lapenna-lab lab";
    struct lab_lab_options o = {.backend = "auto",
                                .seed = 1,
                                .counters = "off",
                                .sweep = LAB_SWEEP_KINDS};
    if (argc > 0)
        argv[0] = program;
    argp_err_exit_status = LAB_EXIT_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    if (o.ascii)
        lab_say_ascii(true);
    if (o.list)
        return lab_exit_error(list_labs(&o));
    lab_signals_catch();
    struct lab_lesson *lesson = NULL;
    enum lab_status st = follow_lesson(&o, &lesson);
    int code = st ? lab_exit_error(st)
               : o.sweep != LAB_SWEEP_KINDS
                   ? lab_sweep_run(&o, (enum lab_sweep_kind)o.sweep)
                   : climb_or_tune(&o);
    lab_lesson_free(lesson);
    return code;
}
