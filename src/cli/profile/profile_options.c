/* The options of `profile`, and what --help says of each of its commands. */
#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug/args.h"
#include "cmd.h"
#include "profile_cmd.h"

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
    KEY_ALL,
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
    "  delete RUN...      removes runs and everything recorded of them\n"
    "  vacuum             makes the file smaller after runs were deleted\n\n"
    "COMMAND --help has a command's own options and an example. RUN is a "
    "number of `list`, the word last, or baseline:NAME.\n";

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
     "kernels, compare: at most N of each (a table of kernels: 1000; 0: all). "
     "timeline: the N longest of a kind. roofline: sentences of the N longest "
     "(10)",
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
    {"all", KEY_ALL, NULL, 0,
     "export: what was recorded outside of the iterations too (set-up, "
     "evaluation)",
     0},
    {"force", KEY_FORCE, NULL, 0, "export: overwrite the file", 0},
    {"table", KEY_TABLE, "TABLE", 0,
     "export as csv: steps, kernels, losses, rungs, sweeps, said or tuned "
     "alone, instead of all",
     0},
    {"label", KEY_LABEL, "NAME", 0,
     "import, merge: the user whose runs they are", 0},
    {"dry-run", KEY_DRY_RUN, NULL, 0,
     "import, merge: only say what would be copied", 0},
    {"backend", KEY_BACKEND, "BACKEND", 0, "ceilings: auto, cpu or cuda", 0},
    {"device", KEY_DEVICE, "N", 0, "ceilings: which GPU, from 0", 0},
    {"recorded", KEY_RECORDED, NULL, 0,
     "The runs that ship with the program instead of your own: only read", 0},
    {"remove", KEY_REMOVE, NULL, 0, "baseline: forget the name", 0},
    {NULL, 0, NULL, 0, NULL, 0},
};

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
    if (key == KEY_DEVICE)
        o->device = lab_arg_device(arg, state);
    else if (key == KEY_BACKEND)
        o->backend = lab_arg_backend(arg, state);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

/* Options that are a word, a number, or there. */
static error_t parse_more(int key, char *arg, struct argp_state *state)
{
    struct lab_profile_options *o = state->input;
    switch (key) {
    case KEY_LIMIT:
        o->limit = lab_arg_number(arg, "limit", 0, INT64_MAX, state);
        o->limit_given = true;
        return 0;
    case KEY_ITERATION:
        o->iteration = lab_arg_number(arg, "iteration", 0, INT64_MAX, state);
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
    case KEY_ALL:
        o->all = true;
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

/* An option of another command would change nothing: the one who gave it shall
 * know. Those that are hidden in the command's --help are not its own; what
 * says --recorded is told later, with what to do. */
static void refuse_foreign(const struct argp_option *all, int key,
                           const struct argp_state *state)
{
    const struct argp_option *o = all;
    char list[400] = "";
    if (!all || key == KEY_COLOR || key == KEY_PLAIN || key == KEY_RECORDED)
        return;
    while (o->name && o->key != key)
        o++;
    if (!o->name || !(o->flags & OPTION_HIDDEN))
        return;
    for (const struct argp_option *own = all; own->name; own++) {
        size_t n = strlen(list);
        if (!(own->flags & OPTION_HIDDEN))
            snprintf(list + n, sizeof(list) - n, "%s--%s", n ? ", " : "",
                     own->name);
    }
    argp_error(state, "no --%s here: it takes %s", o->name, list);
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

/* Input of the parser. */
struct reading {
    struct lab_profile_options *out;
    const struct argp_option *own; /* a command's; NULL: no command's */
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
    struct reading *r = state->input;
    refuse_foreign(r->own, key, state);
    state->input = r->out;
    error_t wrong = parse_option(key, arg, state);
    state->input = r;
    return wrong;
}

/* ---- --help of one command ---- */

enum {
    MOST_OPTIONS = 8,
    ALL_OPTIONS = sizeof(argp_options) / sizeof(argp_options[0])
};

/* An option of a command; text NULL: as in the list of all. */
struct own_option {
    int key;
    const char *text;
};

/* What --help of a command says; all of them have the options of `common`. */
static const struct command_help {
    const char *name;
    const char *args; /* NULL: none */
    const char *doc;  /* what it does, \v, an example */
    struct own_option options[MOST_OPTIONS];
} helps[] = {
    {"list",
     NULL,
     "The runs, newest first.\vExample:\n"
     "  lapenna-lab profile list --json\n",
     {{KEY_RECORDED, NULL}}},
    {"show",
     "RUN",
     "One run: its facts, and its steps with their times; of a lab its rows."
     "\vExample:\n  lapenna-lab profile show last --sort total --reverse\n",
     {{KEY_SORT,
       "The steps by: index, name, phase, variant, count, median, min, max, "
       "total, flop, bytes, gflop_per_s, gbyte_per_s, kernels (index)"},
      {KEY_REVERSE, NULL},
      {KEY_RECORDED, NULL}}},
    {"kernels",
     "RUN",
     "The kernels of a run: when, how long, with which launch, of which step."
     "\vExample:\n"
     "  lapenna-lab profile kernels last --sort time --reverse --limit 10\n",
     {{KEY_SORT, "By: row, start, time, name, step, grid, block, registers, "
                 "shared, occupancy (row)"},
      {KEY_REVERSE, NULL},
      {KEY_LIMIT, "At most N kernels (1000; 0: all)"},
      {KEY_RECORDED, NULL}}},
    {"timeline",
     "RUN",
     "What happened when, in one iteration: steps, launches, kernels, copies, "
     "and the gaps between them.\vExample:\n"
     "  lapenna-lab profile timeline last --iteration 3\n",
     {{KEY_ITERATION, "Which one; else the last that has kernels"},
      {KEY_LIMIT, "The N longest of a kind"},
      {KEY_RECORDED, NULL}}},
    {"compare",
     "RUN RUN...",
     "Every run against the first: where an iteration's wall time goes, steps "
     "and kernels, and which differences are more than noise.\vExample, in a "
     "script:\n"
     "  lapenna-lab profile compare baseline:good last --fail-above 5%\n",
     {{KEY_SORT, "By: difference, share (the largest first), index, name, p "
                 "(difference)"},
      {KEY_REVERSE, "The other way round"},
      {KEY_LIMIT, "At most N steps, and N kernels"},
      {KEY_FAIL_ABOVE,
       "Exit 1 when something is slower by more than SHARE (5% or 0.05) and "
       "that is more than noise"},
      {KEY_RECORDED, NULL}}},
    {"ceilings",
     NULL,
     "Measures what this device can do at best, and keeps it: a copy of "
     "memory, and products in every precision.\vExample:\n"
     "  lapenna-lab profile ceilings --backend cuda --device 1\n",
     {{KEY_BACKEND, "auto, cpu or cuda (auto)"},
      {KEY_DEVICE, "Which GPU, from 0"}}},
    {"roofline",
     "RUN",
     "Steps and kernels under the roofs of their device: what bounds them."
     "\vExample:\n  lapenna-lab profile roofline last\n",
     {{KEY_LIMIT, "Sentences of the N that take longest (10; 0: all)"},
      {KEY_RECORDED, NULL}}},
    {"baseline",
     "[NAME [RUN]]",
     "Names a run, to compare with. Without a run: what the name stands for; "
     "alone: the names that there are.\vExample:\n"
     "  lapenna-lab profile baseline good 17\n"
     "  lapenna-lab profile compare baseline:good last\n",
     {{KEY_REMOVE, "Forget the name"}}},
    {"export",
     "RUN",
     "The run as a file, for another program or a reader.\vExample:\n"
     "  lapenna-lab profile export last --format trace --output run.json\n",
     {{KEY_FORMAT,
       "csv, jsonl (JSON Lines), trace (Perfetto, chrome://tracing), nsys "
       "(SQLite with the tables of Nsight Systems), html (a report)"},
      {KEY_OUTPUT, "Where to; - is the standard output"},
      {KEY_FORCE, "Overwrite the file"},
      {KEY_ALL, "Set-up and evaluation too"},
      {KEY_TABLE, "With csv: steps, kernels, losses, rungs, sweeps, said or "
                  "tuned alone, instead of all"},
      {KEY_RECORDED, NULL}}},
    {"import",
     "FILE",
     "The runs of another database, or of an SQLite export of Nsight Systems."
     "\vExample:\n"
     "  lapenna-lab profile import report.sqlite --label laptop\n",
     {{KEY_LABEL, "Whose runs they are"},
      {KEY_DRY_RUN, "Only say what would be copied"}}},
    {"merge",
     "FILE...",
     "The runs of many databases, or SQLite exports of Nsight Systems."
     "\vExample:\n"
     "  lapenna-lab profile merge a.db b.db --db all.db --dry-run\n",
     {{KEY_LABEL, "Whose runs they are"},
      {KEY_DRY_RUN, "Only say what would be copied"}}},
    {"delete",
     "RUN...",
     "Removes runs and everything recorded of them.\vExample:\n"
     "  lapenna-lab profile delete 3 4\n",
     {{0, NULL}}},
    {"vacuum",
     NULL,
     "Makes the database file as small as what it holds: deleting a run frees "
     "its room inside the file only.\vExample:\n"
     "  lapenna-lab profile vacuum\n",
     {{0, NULL}}},
};

static const int common[] = {KEY_DB, KEY_ASCII, KEY_JSON, KEY_PLAIN};
enum { COMMON = sizeof(common) / sizeof(common[0]), COMMON_OF_FILES = 2 };

/* Is the word after this one its value? --name=value is one word; a name may be
 * short of its end, as for argp. */
static bool takes_next(const char *word)
{
    size_t n = strlen(word);
    const struct argp_option *o = argp_options;
    if (n <= 2 || strncmp(word, "--", 2) != 0)
        return false;
    while (o->name && strncmp(o->name, word + 2, n - 2) != 0)
        o++;
    return o->name && o->arg;
}

/* The first word that is neither an option nor an option's value. */
static const struct command_help *find_help(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1]) {
            i += takes_next(argv[i]);
            continue;
        }
        for (size_t k = 0; k < sizeof(helps) / sizeof(helps[0]); k++) {
            if (strcmp(helps[k].name, argv[i]) == 0)
                return &helps[k];
        }
        return NULL;
    }
    return NULL;
}

/* The options of all commands; those that are not this one's are hidden. */
static void own_options(const struct command_help *h,
                        struct argp_option shown[ALL_OPTIONS])
{
    /* What goes into a file is not told in lines as well. */
    int n = strcmp(h->name, "export") == 0 ? (int)COMMON_OF_FILES : COMMON;
    memcpy(shown, argp_options, sizeof(argp_options));
    for (struct argp_option *o = shown; o->name; o++) {
        bool listed = false;
        for (int i = 0; i < n; i++)
            listed = listed || common[i] == o->key;
        for (int i = 0; i < MOST_OPTIONS; i++) {
            if (h->options[i].key != o->key)
                continue;
            listed = true;
            if (h->options[i].text)
                o->doc = h->options[i].text;
        }
        if (!listed)
            o->flags |= OPTION_HIDDEN;
    }
}

/* getopt() would call -1 an option. */
static void refuse_negative(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        bool number =
            argv[i][0] == '-' && argv[i][1] >= '0' && argv[i][1] <= '9';
        if (takes_next(argv[i])) {
            i++;
        } else if (number) {
            lab_warn("'%s' is not a run: a run is a number of "
                     "`lapenna-lab profile list`",
                     argv[i]);
            exit(LAB_EXIT_USAGE);
        }
    }
}

int lab_profile_parse(int argc, char **argv, struct lab_profile_options *o)
{
    static const char all[] = "lapenna-lab profile";
    const struct command_help *h = find_help(argc, argv);
    struct argp_option shown[ALL_OPTIONS];
    struct reading reading = {.out = o};
    struct argp argp = {argp_options, parse_own, "COMMAND [RUN...|FILE...]",
                        help,         NULL,      NULL,
                        NULL};
    char name[sizeof(all) + 16];
    *o = (struct lab_profile_options){.fail_above = NAN,
                                      .iteration = LAB_UNKNOWN};
    snprintf(name, sizeof(name), "%s", all);
    if (h) {
        own_options(h, shown);
        reading.own = shown;
        argp.options = shown;
        argp.args_doc = h->args;
        argp.doc = h->doc;
        snprintf(name, sizeof(name), "%s %s", all, h->name);
    }
    refuse_negative(argc, argv);
    return lab_args_parse(&argp, argc, argv, name, &reading);
}
