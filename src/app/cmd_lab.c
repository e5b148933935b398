/* lapenna-lab lab NAME: a ladder of kernels, checked, timed, and recorded. */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cmd.h"
#include "lab.h"
#include "say.h"
#include "signals.h"

enum {
    KEY_SIZES = 256,
    KEY_VARIANTS,
    KEY_PRECISION,
    KEY_REPEAT,
    KEY_PREDICT,
    KEY_BACKEND,
    KEY_DEVICE,
    KEY_SEED,
    KEY_DB,
    KEY_JSON,
    KEY_ASCII
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
     "What you expect, kept beside the result: ask, or VARIANT=NUMBER,... in "
     "GFLOP/s, GB/s or ns an item, as the table has it",
     1},
    {"backend", KEY_BACKEND, "NAME", 0, "auto, cpu or cuda", 2},
    {"device", KEY_DEVICE, "N", 0, "The GPU's number (0)", 2},
    {"seed", KEY_SEED, "S", 0, "Of the random inputs (1)", 2},
    {"db", KEY_DB, "FILE", 0, "The database of runs, instead of the usual one",
     3},
    {"json", KEY_JSON, NULL, 0, "JSON Lines on standard output", 3},
    {"ascii", KEY_ASCII, NULL, 0, "No character beyond ASCII", 3},
    {0}};

static const char argp_doc[] =
    "Climb a ladder of kernels: the same operation, from the first kernel that "
    "works to the fastest. Every rung is compared with double on odd shapes "
    "before it is timed, and everything is recorded.\v"
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
    else if (key == KEY_SEED)
        o->seed = (uint64_t)number(arg, "seed", 0, INT64_MAX, state);
    else if (key == KEY_DB)
        o->db = arg;
    else if (key == KEY_JSON)
        o->json = true;
    else if (key == KEY_ASCII)
        o->ascii = true;
    else if (key == ARGP_KEY_ARG && !o->name)
        o->name = arg;
    else if (key == ARGP_KEY_ARG)
        argp_error(state, "one lab at a time: %s or %s", o->name, arg);
    else if (key == ARGP_KEY_NO_ARGS)
        which_lab(state);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

/* ---- the climb ---- */

static enum lab_status take_row(void *user, const struct lab_ladder_row *row)
{
    struct lab_lab *lab = user;
    lab_lab_record_row(lab, row);
    lab->place++;
    lab->timed += !row->status;
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
    enum lab_status worst;
};

static enum lab_status see_row(void *user, const struct lab_ladder_row *row)
{
    struct watch *w = user;
    note_worst(row, &w->worst);
    return take_row(w->lab, row);
}

static bool stop(void *user)
{
    (void)user;
    return lab_signals_caught() != 0;
}

static enum lab_status climb(struct lab_lab *lab, enum lab_status *worst)
{
    struct watch watch = {.lab = lab};
    struct lab_ladder_climb c = {.backend = lab->backend,
                                 .ladder = lab->ladder,
                                 .machine = &lab->machine,
                                 .rungs = lab->rungs,
                                 .n_rungs = lab->n_rungs,
                                 .sizes = lab->sizes,
                                 .n_sizes = lab->n_sizes,
                                 .repeats = lab->repeats,
                                 .seed = lab->options->seed,
                                 .row = see_row,
                                 .stop = stop,
                                 .user = &watch};
    enum lab_status st = lab_ladder_climb(&c);
    /* What an interrupted size has is told too. */
    if (st && lab->n_rows > 0)
        lab_lab_print_size(lab);
    *worst = watch.worst;
    return st;
}

static enum lab_status run(struct lab_lab *lab, enum lab_status *worst)
{
    enum lab_status st = lab_lab_ask(lab);
    if (st)
        return st;
    unsigned precisions = 0;
    for (int i = 0; i < lab->n_rungs; i++)
        precisions |= 1u << lab->rungs[i]->precision;
    lab_ladder_measure(lab->backend, precisions, &lab->machine);
    st = lab_lab_record_begin(lab);
    if (!st && lab->options->json)
        st = lab_lab_json_run(lab);
    else if (!st)
        lab_lab_print_head(lab);
    if (!st)
        st = climb(lab, worst);
    char why[LAB_LADDER_TEXT];
    snprintf(why, sizeof(why), "%s", lab_error());
    lab_lab_record_end(lab, st);
    return st ? lab_fail(st, "%s", why) : LAB_OK;
}

int lab_cmd_lab(int argc, char **argv)
{
    static const struct argp argp = {
        argp_options, parse_option, "NAME", argp_doc, NULL, NULL, NULL};
    static char program[] = "lapenna-lab lab";
    struct lab_lab_options o = {.backend = "auto", .seed = 1};
    enum lab_status worst = LAB_OK;
    if (argc > 0)
        argv[0] = program;
    argp_err_exit_status = LAB_EXIT_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    if (o.ascii)
        lab_say_ascii(true);
    lab_signals_catch();
    struct lab_lab *lab = lab_alloc(sizeof(*lab));
    enum lab_status st = lab ? lab_lab_open(lab, &o)
                             : lab_fail(LAB_E_NOMEM, "no memory for a lab");
    if (!st) {
        st = run(lab, &worst);
        if (!st && !o.json && lab->run)
            lab_say(stdout,
                    "\nrecorded as run %lld: lapenna-lab profile show %lld\n",
                    (long long)lab->run, (long long)lab->run);
        if (!st && (worst == LAB_E_CHECK || lab->timed == 0))
            st = lab_fail(worst ? worst : LAB_E_CHECK,
                          "not everything was timed: the rows say why");
        lab_lab_close(lab);
    }
    lab_free(lab);
    return lab_exit_error(st);
}
