#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "json_line.h"
#include "profile_print.h"
#include "profile_timeline.h"
#include "text_table.h"

enum { MAX_RUNS = 256 };
enum {
    KEY_DB = 256,
    KEY_JSON,
    KEY_PLAIN,
    KEY_SORT,
    KEY_REVERSE,
    KEY_LIMIT,
    KEY_ITERATION,
    KEY_ASCII,
    KEY_COLOR
};

struct options {
    const char *db;
    bool json;
    bool ascii;
    const char *sort;
    bool reverse;
    int64_t limit;
    int64_t iteration; /* LAB_UNKNOWN: not said */
    const char *command;
    const char *runs[MAX_RUNS];
    int n_runs;
};

static const char help[] =
    "What recorded runs took, from the database of runs.\v"
    "Commands:\n"
    "  list          the runs, newest first\n"
    "  show RUN      one run: its facts, and its steps with their times\n"
    "  kernels RUN   the kernels of a run\n"
    "  timeline RUN  what happened when, in one iteration\n"
    "  delete RUN... removes runs and everything recorded of them\n\n"
    "RUN is a number of `list`, or the word last.\n";

static const struct argp_option argp_options[] = {
    {"db", KEY_DB, "FILE", 0, "The database, instead of the usual one", 0},
    {"json", KEY_JSON, NULL, 0, "JSON Lines, one object a line", 0},
    {"plain", KEY_PLAIN, NULL, 0, "Lines of text (the default here)", 0},
    {"ascii", KEY_ASCII, NULL, 0, "No character outside ASCII", 0},
    {"color", KEY_COLOR, "WHEN", OPTION_HIDDEN, "Taken, and without effect", 0},
    {"sort", KEY_SORT, "COLUMN", 0,
     "show: index, name, phase, variant, count, median, min, max, total, flop, "
     "bytes, gflop_per_s, gbyte_per_s, kernels. kernels: row, start, time, "
     "name, step, grid, block, registers, shared, occupancy",
     0},
    {"reverse", KEY_REVERSE, NULL, 0, "The largest first", 0},
    {"limit", KEY_LIMIT, "N", 0,
     "kernels: at most N of them. timeline: the N longest of each kind", 0},
    {"iteration", KEY_ITERATION, "N", 0,
     "timeline: which one; else the last that has kernels", 0},
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

static error_t parse_argument(struct options *o, char *arg,
                              struct argp_state *state)
{
    if (!o->command)
        o->command = arg;
    else if (o->n_runs < MAX_RUNS)
        o->runs[o->n_runs++] = arg;
    else
        argp_error(state, "too many runs at once");
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
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
    case KEY_LIMIT:
        if (!parse_number(arg, &o->limit))
            argp_error(state, "--limit takes a number, not '%s'", arg);
        return 0;
    case KEY_ITERATION:
        if (!parse_number(arg, &o->iteration))
            argp_error(state, "--iteration takes a number, not '%s'", arg);
        return 0;
    case ARGP_KEY_ARG:
        return parse_argument(o, arg, state);
    case ARGP_KEY_NO_ARGS:
        argp_error(state,
                   "which one: list, show, kernels, timeline or delete?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
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
    return lab_database_open(out, path, &o);
}

static enum lab_status find_run(struct lab_database *db, const char *word,
                                int64_t *run)
{
    if (strcmp(word, "last") == 0)
        return lab_query_last_run(db, run);
    if (parse_number(word, run))
        return LAB_OK;
    return lab_fail(LAB_E_USAGE,
                    "'%s' is not a run: give a number of `lapenna-lab profile "
                    "list`, or last",
                    word);
}

static enum lab_status find_sort(const struct options *o, bool kernels,
                                 int *out)
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

static enum lab_status show_runs(const struct options *o,
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
    for (int i = 0; i < o->n_runs && st == LAB_OK; i++) {
        st = find_run(db, o->runs[i], &run);
        if (st == LAB_OK)
            st = kernels ? lab_profile_print_kernels(&print, run)
                         : lab_profile_print_run(&print, run);
    }
    return st;
}

static enum lab_status show_timeline(const struct options *o,
                                     struct lab_database *db)
{
    const struct lab_profile_timeline what = {.db = db,
                                              .iteration = o->iteration,
                                              .most = o->limit,
                                              .json = o->json,
                                              .ascii = o->ascii};
    int64_t run;
    enum lab_status st = find_run(db, o->runs[0], &run);
    return st ? st : lab_profile_print_timeline(&what, run);
}

static enum lab_status print_deleted(const struct options *o, int64_t run,
                                     const struct lab_deleted *d)
{
    if (o->json) {
        json_t *line = lab_json_new("deleted");
        lab_json_int(line, "run", run);
        lab_json_int(line, "steps", d->steps);
        lab_json_int(line, "kernels", d->kernels);
        lab_json_int(line, "rows", d->rows);
        return lab_json_print(line);
    }
    if (printf("deleted run %lld: %lld steps, %lld kernels, %lld rows in all\n",
               (long long)run, (long long)d->steps, (long long)d->kernels,
               (long long)d->rows) < 0)
        return lab_fail(LAB_E_IO, "cannot write the output");
    return LAB_OK;
}

static enum lab_status delete_runs(const struct options *o,
                                   struct lab_database *db)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < o->n_runs && st == LAB_OK; i++) {
        struct lab_deleted deleted;
        int64_t run;
        st = find_run(db, o->runs[i], &run);
        if (st == LAB_OK)
            st = lab_run_delete(db, run, &deleted);
        if (st == LAB_OK)
            st = print_deleted(o, run, &deleted);
    }
    return st;
}

static enum lab_status check_usage(const struct options *o)
{
    static const char *const commands[] = {"list", "show", "kernels",
                                           "timeline", "delete"};
    static const char *const later[] = {"compare", "export", "import", "merge"};
    for (size_t i = 0; i < 4; i++)
        if (strcmp(o->command, later[i]) == 0)
            return lab_fail(LAB_E_USAGE, "%s is not built yet", o->command);
    bool known = false;
    for (size_t i = 0; i < 5; i++)
        known |= strcmp(o->command, commands[i]) == 0;
    if (!known) {
        const char *near = lab_nearest(o->command, commands, 5);
        return lab_fail(LAB_E_USAGE,
                        "no command '%s'%s%s%s; there are list, show, kernels, "
                        "timeline and delete",
                        o->command, near ? ": did you mean '" : "",
                        near ? near : "", near ? "'?" : "");
    }
    bool list = strcmp(o->command, "list") == 0;
    if (list && o->n_runs)
        return lab_fail(LAB_E_USAGE, "list takes no run");
    if (!list && o->n_runs == 0)
        return lab_fail(LAB_E_USAGE,
                        "%s needs a run: a number of `lapenna-lab profile "
                        "list`, or last",
                        o->command);
    if (strcmp(o->command, "delete") != 0 && o->n_runs > 1)
        return lab_fail(LAB_E_USAGE, "%s takes one run", o->command);
    return LAB_OK;
}

/* A message may hold names from a lesson, a database, the command line. */
static void print_error(bool ascii)
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

static enum lab_status run_command(const struct options *o, const char *path)
{
    struct lab_database *db = NULL;
    bool list = strcmp(o->command, "list") == 0;
    bool remove = strcmp(o->command, "delete") == 0;
    if (access(path, F_OK)) {
        if (list && !o->db) { /* nothing recorded yet is no error */
            lab_fail(LAB_E_NOTFOUND, "no run has been recorded yet (%s)", path);
            print_error(o->ascii);
            return LAB_OK;
        }
        return lab_fail(LAB_E_NOTFOUND, "%s: %s", path, strerror(errno));
    }
    enum lab_status st = open_database(path, remove, &db);
    if (st)
        return st;
    if (list) {
        struct lab_profile_print print = {
            .db = db, .json = o->json, .ascii = o->ascii};
        st = lab_profile_print_list(&print);
    } else {
        bool timeline = strcmp(o->command, "timeline") == 0;
        st = remove     ? delete_runs(o, db)
             : timeline ? show_timeline(o, db)
                        : show_runs(o, db);
    }
    if (st == LAB_E_NOTFOUND)
        lab_fail(st, "%s; `lapenna-lab profile list` shows what there is",
                 lab_error());
    lab_database_close(db);
    return st;
}

int lab_cmd_profile(int argc, char **argv)
{
    static char name[] = "lapenna-lab profile";
    const struct argp argp = {
        argp_options, parse_option, "COMMAND [RUN...]", help, NULL, NULL, NULL};
    struct options o = {.iteration = LAB_UNKNOWN};
    struct lab_str path;
    enum lab_status st;
    argp_err_exit_status = LAB_EXIT_USAGE;
    argv[0] = name;
    if (argp_parse(&argp, argc, argv, 0, NULL, &o))
        return LAB_EXIT_USAGE;
    o.ascii |= !lab_table_locale_is_utf8();
    lab_str_init(&path);
    st = check_usage(&o);
    if (st == LAB_OK && o.db)
        lab_str_add(&path, o.db);
    else if (st == LAB_OK)
        st = lab_database_default_path(&path);
    if (st == LAB_OK)
        st = run_command(&o, lab_str_text(&path));
    lab_str_release(&path);
    if (st)
        print_error(o.ascii);
    return exit_code(st);
}
