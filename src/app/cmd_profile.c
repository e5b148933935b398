#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/datadir.h"
#include "cmd.h"
#include "profile_cmd.h"
#include "profile_print.h"
#include "runs_model.h"
#include "store/compare.h"
#include "text_table.h"

enum {
    KEY_DB = 256,
    KEY_JSON,
    KEY_PLAIN,
    KEY_SORT,
    KEY_REVERSE,
    KEY_LIMIT,
    KEY_ASCII,
    KEY_COLOR,
    KEY_FAIL_ABOVE,
    KEY_REMOVE,
    KEY_RECORDED,
    KEY_FORMAT,
    KEY_OUTPUT,
    KEY_FORCE,
    KEY_TABLE,
    KEY_LABEL,
    KEY_DRY_RUN,
    KEY_BACKEND,
    KEY_DEVICE,
    KEY_ITERATION
};

static const char help[] =
    "What recorded runs took, from the database of runs.\v"
    "Commands:\n"
    "  list               the runs, newest first\n"
    "  show RUN           one run: its facts, and its steps with their times\n"
    "  kernels RUN        the kernels of a run\n"
    "  timeline RUN       what happened when, in one iteration\n"
    "  compare RUN RUN... every run against the first: steps and kernels, and\n"
    "                     which differences are more than noise\n"
    "  ceilings           measures what this device can do at best, and keeps "
    "it\n"
    "  roofline RUN       steps and kernels under the roofs of their device: "
    "what\n"
    "                     bounds them\n"
    "  baseline [NAME [RUN]]  names a run, to compare with; alone: the names\n"
    "  export RUN         the run as a file: --format and --output\n"
    "  import FILE        the runs of another database, or of an SQLite "
    "export\n"
    "                     of Nsight Systems\n"
    "  merge FILE...      the same for many files\n"
    "  delete RUN...      removes runs and everything recorded of them\n\n"
    "RUN is a number of `list`, the word last, or baseline:NAME.\n";

static const struct argp_option argp_options[] = {
    {"db", KEY_DB, "FILE", 0, "The database, instead of the usual one", 0},
    {"json", KEY_JSON, NULL, 0, "JSON Lines, one object a line", 0},
    {"plain", KEY_PLAIN, NULL, 0, "Lines of text (the default here)", 0},
    {"ascii", KEY_ASCII, NULL, 0, "No character outside ASCII", 0},
    {"color", KEY_COLOR, "WHEN", OPTION_HIDDEN, "Taken, and without effect", 0},
    {"sort", KEY_SORT, "COLUMN", 0,
     "show: index, name, phase, variant, count, median, min, max, total, flop, "
     "bytes, gflop_per_s, gbyte_per_s, kernels. kernels: row, start, time, "
     "name, step, grid, block, registers, shared, occupancy. compare: "
     "difference, share, index, name, p",
     0},
    {"reverse", KEY_REVERSE, NULL, 0, "The largest first", 0},
    {"limit", KEY_LIMIT, "N", 0,
     "kernels, compare: at most N of each. timeline: the N longest of a kind",
     0},
    {"iteration", KEY_ITERATION, "N", 0,
     "timeline: which one; else the last that has kernels", 0},
    {"fail-above", KEY_FAIL_ABOVE, "SHARE", 0,
     "compare: exit 1 when something is slower by more than SHARE (5% or "
     "0.05) and that is more than noise",
     0},
    {"format", KEY_FORMAT, "FORMAT", 0,
     "export: csv, jsonl (JSON Lines), trace (Perfetto, chrome://tracing), "
     "nsys (SQLite with the tables of Nsight Systems), html (a report)",
     0},
    {"output", KEY_OUTPUT, "FILE", 0,
     "export: where to; - is the standard "
     "output",
     0},
    {"force", KEY_FORCE, NULL, 0, "export: overwrite the file", 0},
    {"table", KEY_TABLE, "TABLE", 0,
     "export as csv: steps, kernels or losses alone, instead of all", 0},
    {"label", KEY_LABEL, "NAME", 0, "import, merge: whose runs they are", 0},
    {"dry-run", KEY_DRY_RUN, NULL, 0,
     "import, merge: only say what would be copied", 0},
    {"backend", KEY_BACKEND, "BACKEND", 0, "ceilings: auto, cpu or cuda", 0},
    {"device", KEY_DEVICE, "N", 0, "ceilings: which GPU, from 0", 0},
    {"recorded", KEY_RECORDED, NULL, 0,
     "The runs that ship with the program instead of your own: only read", 0},
    {"remove", KEY_REMOVE, NULL, 0, "baseline: forget the name", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

static bool parse_number(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno || end == text || *end || v < 0)
        return false;
    *out = v;
    return true;
}

static bool parse_share(const char *text, double *out)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text)
        return false;
    if (*end == '%') {
        v /= 100;
        end++;
    }
    *out = v;
    return *end == '\0' && v >= 0 && v < 1e6;
}

static error_t parse_argument(struct lab_profile_options *o, char *arg,
                              struct argp_state *state)
{
    if (!o->command)
        o->command = arg;
    else if (o->n_words < LAB_PROFILE_WORDS)
        o->words[o->n_words++] = arg;
    else
        argp_error(state, "too many words at once");
    return 0;
}

static error_t parse_place(int key, char *arg, struct argp_state *state)
{
    struct lab_profile_options *o = state->input;
    int64_t device = 0;
    if (key == KEY_DEVICE) {
        if (!parse_number(arg, &device) || device > INT_MAX)
            argp_error(state, "--device takes a number, not '%s'", arg);
        o->device = (int)device;
        return 0;
    }
    if (key != KEY_BACKEND)
        return ARGP_ERR_UNKNOWN;
    o->backend = arg;
    if (strcmp(arg, "auto") != 0 && strcmp(arg, "cpu") != 0 &&
        strcmp(arg, "cuda") != 0)
        argp_error(state, "--backend takes auto, cpu or cuda, not '%s'", arg);
    return 0;
}

/* Options that are a word, a number, or there. */
static error_t parse_more(int key, char *arg, struct argp_state *state)
{
    struct lab_profile_options *o = state->input;
    switch (key) {
    case KEY_LIMIT:
        if (!parse_number(arg, &o->limit))
            argp_error(state, "--limit takes a number, not '%s'", arg);
        return 0;
    case KEY_ITERATION:
        if (!parse_number(arg, &o->iteration))
            argp_error(state, "--iteration takes a number, not '%s'", arg);
        return 0;
    case KEY_FAIL_ABOVE:
        if (!parse_share(arg, &o->fail_above))
            argp_error(state,
                       "--fail-above takes a share such as 5%%, not "
                       "'%s'",
                       arg);
        return 0;
    case KEY_REMOVE:
        o->remove = true;
        return 0;
    case KEY_RECORDED:
        o->recorded = true;
        return 0;
    case KEY_LABEL:
        o->label = arg;
        return 0;
    case KEY_DRY_RUN:
        o->dry_run = true;
        return 0;
    case KEY_FORMAT:
        o->format = arg;
        return 0;
    case KEY_OUTPUT:
        o->output = arg;
        return 0;
    case KEY_FORCE:
        o->force = true;
        return 0;
    case KEY_TABLE:
        o->table = arg;
        return 0;
    default:
        return parse_place(key, arg, state);
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct lab_profile_options *o = state->input;
    switch (key) {
    case KEY_DB:
        o->db = arg;
        return 0;
    case KEY_JSON:
        o->json = true;
        return 0;
    case KEY_PLAIN:
    case KEY_COLOR:
        return 0;
    case KEY_ASCII:
        o->ascii = true;
        return 0;
    case KEY_SORT:
        o->sort = arg;
        return 0;
    case KEY_REVERSE:
        o->reverse = true;
        return 0;
    case ARGP_KEY_ARG:
        return parse_argument(o, arg, state);
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which one: list, show, kernels, compare, ...?");
        return 0;
    default:
        return parse_more(key, arg, state);
    }
}

/* A run that is still recorded is a matter of the database here. */
static int exit_code(enum lab_status st)
{
    return st == LAB_E_STATE ? LAB_EXIT_INPUT : lab_exit_code(st);
}

/* An older database is brought up to date, which needs the right to write. */
static enum lab_status open_database(const char *path, bool write,
                                     struct lab_database **out)
{
    struct lab_database_options o = {.read_only = !write};
    enum lab_status st = lab_database_open(out, path, &o);
    if (st != LAB_E_STATE || write)
        return st;
    o.read_only = false;
    st = lab_database_open(out, path, &o);
    if (st == LAB_OK && lab_time_sums_keep_all(*out)) {
        lab_database_close(*out);
        return LAB_E_DB;
    }
    return st;
}

enum lab_status lab_profile_find_run(struct lab_database *db, const char *word,
                                     int64_t *run)
{
    if (strcmp(word, "last") == 0)
        return lab_query_last_run(db, run);
    if (strncmp(word, "baseline:", 9) == 0)
        return lab_baseline_find(db, word + 9, run);
    if (parse_number(word, run))
        return LAB_OK;
    return lab_fail(LAB_E_USAGE,
                    "'%s' is not a run: give a number of `lapenna-lab profile "
                    "list`, last, or baseline:NAME",
                    word);
}

static enum lab_status find_sort(const struct lab_profile_options *o,
                                 bool kernels, int *out)
{
    const char *names[LAB_STEP_SORT_COUNT + LAB_KERNEL_SORT_COUNT];
    int n = kernels ? LAB_KERNEL_SORT_COUNT : LAB_STEP_SORT_COUNT;
    *out = 0;
    if (!o->sort)
        return LAB_OK;
    for (int i = 0; i < n; i++) {
        names[i] = kernels ? lab_kernel_sort_name((enum lab_kernel_sort)i)
                           : lab_step_sort_name((enum lab_step_sort)i);
        if (strcmp(names[i], o->sort) == 0) {
            *out = i;
            return LAB_OK;
        }
    }
    const char *near = lab_nearest(o->sort, names, (size_t)n);
    return lab_fail(LAB_E_USAGE,
                    "no column '%s' to sort by%s%s%s; --help lists "
                    "them",
                    o->sort, near ? ": did you mean '" : "", near ? near : "",
                    near ? "'?" : "");
}

static enum lab_status show_runs(const struct lab_profile_options *o,
                                 struct lab_database *db)
{
    struct lab_profile_print print = {
        .db = db, .json = o->json, .ascii = o->ascii};
    bool kernels = strcmp(o->command, "kernels") == 0;
    int sort;
    int64_t run;
    enum lab_status st = find_sort(o, kernels, &sort);
    print.descending = o->reverse;
    if (kernels)
        print.kernels = (struct lab_kernel_filter){
            .step_index = LAB_UNKNOWN,
            .iteration = LAB_UNKNOWN,
            .sort = (enum lab_kernel_sort)sort,
            .limit = o->limit,
        };
    else
        print.step_sort = (enum lab_step_sort)sort;
    for (int i = 0; i < o->n_words && st == LAB_OK; i++) {
        st = lab_profile_find_run(db, o->words[i], &run);
        if (st == LAB_OK)
            st = kernels ? lab_profile_print_kernels(&print, run)
                         : lab_profile_print_run(&print, run);
    }
    return st;
}

static enum lab_status list_runs(const struct lab_profile_options *o,
                                 struct lab_database *db)
{
    struct lab_profile_print print = {
        .db = db, .json = o->json, .ascii = o->ascii};
    return lab_profile_print_list(&print);
}

static const struct command {
    const char *name;
    enum lab_status (*run)(const struct lab_profile_options *o,
                           struct lab_database *db);
    int least; /* words after it */
    int most;
    bool writes;
    const char *takes; /* after the name, in a message */
} commands[] = {
    {"list", list_runs, 0, 0, false, "takes no run"},
    {"show", show_runs, 1, 1, false, "takes one run"},
    {"kernels", show_runs, 1, 1, false, "takes one run"},
    {"timeline", lab_profile_timeline, 1, 1, false, "takes one run"},
    {"compare", lab_profile_compare, 2, LAB_PROFILE_WORDS, false,
     "takes two runs or more"},
    {"ceilings", lab_profile_ceilings, 0, 0, true, "takes no run"},
    {"roofline", lab_profile_roofline, 1, 1, false, "takes one run"},
    {"baseline", lab_profile_baseline, 0, 2, true, "takes a name and a run"},
    {"export", lab_profile_export, 1, 1, false, "takes one run"},
    {"import", lab_profile_import, 1, 1, true, "takes one file"},
    {"merge", lab_profile_import, 1, LAB_PROFILE_WORDS, true, "takes files"},
    {"delete", lab_profile_delete, 1, LAB_PROFILE_WORDS, true, "takes runs"},
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static enum lab_status find_command(const struct lab_profile_options *o,
                                    const struct command **out)
{
    const char *names[COMMANDS];
    for (int i = 0; i < COMMANDS; i++) {
        names[i] = commands[i].name;
        if (strcmp(o->command, names[i]) != 0)
            continue;
        *out = &commands[i];
        if (o->n_words < commands[i].least && commands[i].most == 1 &&
            commands[i].run != lab_profile_import)
            return lab_fail(LAB_E_USAGE,
                            "%s needs a run: a number of `lapenna-lab profile "
                            "list`, or last",
                            o->command);
        if (o->n_words < commands[i].least || o->n_words > commands[i].most)
            return lab_fail(LAB_E_USAGE, "%s %s", o->command,
                            commands[i].takes);
        return LAB_OK;
    }
    const char *near = lab_nearest(o->command, names, COMMANDS);
    return lab_fail(LAB_E_USAGE,
                    "no command '%s'%s%s%s; `lapenna-lab profile --help` lists "
                    "them",
                    o->command, near ? ": did you mean '" : "",
                    near ? near : "", near ? "'?" : "");
}

/* A message may hold names from a lesson, a database, the command line. */
void lab_profile_complain(bool ascii)
{
    struct lab_str text;
    const char *error = lab_error();
    lab_str_init(&text);
    lab_str_add_visible(&text, error, strlen(error), false);
    if (ascii)
        lab_table_make_ascii(&text);
    fprintf(stderr, "lapenna-lab: profile: %s\n", lab_str_text(&text));
    lab_str_release(&text);
}

static enum lab_status run_command(const struct lab_profile_options *o,
                                   const struct command *command,
                                   const char *path)
{
    struct lab_database *db = NULL;
    bool makes = command->run == lab_profile_import ||
                 command->run == lab_profile_ceilings;
    if (!makes && access(path, F_OK)) {
        if (command->run == list_runs && !o->db) {
            /* nothing recorded yet is no error */
            lab_fail(LAB_E_NOTFOUND, "no run has been recorded yet (%s)", path);
            lab_profile_complain(o->ascii);
            return LAB_OK;
        }
        return lab_fail(LAB_E_NOTFOUND, "%s: %s", path, strerror(errno));
    }
    enum lab_status st = open_database(path, command->writes, &db);
    if (st)
        return st;
    st = command->run(o, db);
    if (st == LAB_E_NOTFOUND && !makes)
        lab_fail(st, "%s; `lapenna-lab profile list` shows what there is",
                 lab_error());
    lab_database_close(db);
    return st;
}

int lab_cmd_profile(int argc, char **argv)
{
    static char name[] = "lapenna-lab profile";
    const struct argp argp = {
        argp_options, parse_option, "COMMAND [RUN...|FILE...]", help, NULL,
        NULL,         NULL};
    struct lab_profile_options o = {.fail_above = NAN,
                                    .iteration = LAB_UNKNOWN};
    const struct command *command = NULL;
    struct lab_str path;
    enum lab_status st;
    argp_err_exit_status = LAB_EXIT_USAGE;
    argv[0] = name;
    if (argp_parse(&argp, argc, argv, 0, NULL, &o))
        return LAB_EXIT_USAGE;
    o.ascii |= !lab_table_locale_is_utf8();
    lab_str_init(&path);
    st = find_command(&o, &command);
    if (st == LAB_OK && o.recorded && (o.db || command->writes))
        st =
            lab_fail(LAB_E_USAGE,
                     "--recorded only reads the runs that ship with the "
                     "program, and takes no --db; `profile import` brings them "
                     "into a database of yours");
    if (st == LAB_OK && o.recorded)
        st = lab_data_path(LAB_RECORDED_RUNS, &path);
    else if (st == LAB_OK && o.db)
        lab_str_add(&path, o.db);
    else if (st == LAB_OK)
        st = lab_database_default_path(&path);
    if (st == LAB_OK)
        st = run_command(&o, command, lab_str_text(&path));
    lab_str_release(&path);
    if (st)
        lab_profile_complain(o.ascii);
    return exit_code(st);
}
