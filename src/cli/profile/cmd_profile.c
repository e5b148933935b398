/* cmd_profile.c -- `lapenna-lab profile`: parses the words and calls the
 * function of each subcommand. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/datadir.h"
#include "cmd.h"
#include "report/suggest.h"
#include "debug/options.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/format.h"
#include "report/json_line.h"
#include "store/delete.h"
#include "store/import.h"
#include "profile_cmd.h"
#include "report/print.h"
#include "store/compare.h"
#include "report/text_table.h"

/* A run that is still recorded is a matter of the database here. */
static int exit_code(enum lab_status st)
{
    return st == LAB_E_STATE ? LAB_EXIT_INPUT : lab_exit_code(st);
}

/* An older database is brought up to date, which needs the right to write. */
static enum lab_status open_database(const char *path, bool write,
                                     bool recorded, struct lab_database **out)
{
    struct lab_database_options o = {.read_only = !write,
                                     .traced_first = recorded};
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

static bool look_no_further(void *user, const struct lab_run_row *r)
{
    (void)user;
    (void)r;
    return false;
}

/* Whether there is such a run: a number may be of none. */
static enum lab_status check_run(struct lab_database *db, int64_t run)
{
    return lab_query_run(db, run, look_no_further, NULL);
}

/* A line of text on standard output. */
static enum lab_status put(const char *fmt, ...) LAB_PRINTF(1, 2);
static enum lab_status put(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    return lab_print_check();
}

/* ---- delete, vacuum ---- */

static enum lab_status print_deleted(const struct lab_options *o, int64_t run,
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
    return put("deleted run %lld: %lld steps, %lld kernels, %lld rows in all\n",
               (long long)run, (long long)d->steps, (long long)d->kernels,
               (long long)d->rows);
}

/* The file keeps its size: SQLite fills the room with what comes next. */
static enum lab_status print_free(const struct lab_options *o,
                                  struct lab_database *db)
{
    int64_t room;
    enum lab_status st = lab_database_free_bytes(db, &room);
    if (st || room == 0 || o->json)
        return st;
    struct lab_str command =
        lab_suggest_command_text(o->db, LAB_WORDS("profile", "vacuum"));
    st =
        put("%s of the file are free for new runs; `%s` gives them back to the "
            "disk\n",
            LAB_BYTES_TEXT((double)room), lab_str_text(&command));
    lab_str_release(&command);
    return st;
}

struct named {
    int64_t run;
    struct lab_str names; /* its baselines: "a, b" */
};

static bool add_name(void *user, const char *name, int64_t run)
{
    struct named *n = user;
    if (run == n->run)
        lab_str_addf(&n->names, "%s%s", n->names.len ? ", " : "", name);
    return true;
}

/* A baseline goes with its run. Its name is used elsewhere: a warning. */
static enum lab_status delete_run(const struct lab_options *o,
                                  struct lab_database *db, int64_t run)
{
    struct lab_deleted deleted;
    struct named named = {.run = run};
    lab_str_init(&named.names);
    enum lab_status st = lab_baseline_list(db, add_name, &named);
    if (st == LAB_OK)
        st = lab_run_delete(db, run, &deleted);
    if (st == LAB_OK)
        st = print_deleted(o, run, &deleted);
    if (st == LAB_OK && named.names.len)
        lab_warn("run %lld was the baseline %s: that name is gone too",
                 (long long)run, lab_str_text(&named.names));
    lab_str_release(&named.names);
    return st;
}

/* All of them, each once, before the first is gone: a wrong word deletes
 * nothing, and `last` means the same for all. */
static enum lab_status find_runs(const struct lab_options *o,
                                 struct lab_database *db, int64_t *runs, int *n)
{
    enum lab_status st = LAB_OK;
    *n = 0;
    for (int i = 0; i < o->n_words && st == LAB_OK; i++) {
        int before = 0;
        st = lab_profile_find_run(db, o->words[i], &runs[*n]);
        if (st == LAB_OK)
            st = check_run(db, runs[*n]);
        while (st == LAB_OK && before < *n && runs[before] != runs[*n])
            before++;
        *n += st == LAB_OK && before == *n;
    }
    return st;
}

static enum lab_status delete_runs(const struct lab_options *o,
                                   struct lab_database *db)
{
    int n = 0;
    int64_t *runs = lab_alloc_array((size_t)o->n_words + 1, sizeof(*runs));
    if (!runs)
        return lab_no_memory("a list of runs");
    enum lab_status st = find_runs(o, db, runs, &n);
    for (int i = 0; i < n && st == LAB_OK; i++)
        st = delete_run(o, db, runs[i]);
    lab_free(runs);
    return st == LAB_OK ? print_free(o, db) : st;
}

static enum lab_status count_file(struct lab_database *db, int64_t *bytes)
{
    struct stat file;
    if (stat(lab_database_path(db), &file))
        return lab_fail(LAB_E_IO, "[profile.delete] %s: %s",
                        lab_database_path(db), strerror(errno));
    *bytes = (int64_t)file.st_size;
    return LAB_OK;
}

static enum lab_status vacuum(const struct lab_options *o,
                              struct lab_database *db)
{
    int64_t before;
    int64_t after;
    enum lab_status st = count_file(db, &before);
    if (st == LAB_OK)
        st = lab_database_vacuum(db);
    if (st == LAB_OK)
        st = count_file(db, &after);
    if (st)
        return st;
    if (o->json) {
        json_t *line = lab_json_new("vacuum");
        lab_json_int(line, "before_bytes", before);
        lab_json_int(line, "after_bytes", after);
        return lab_json_print(line);
    }
    return put("the file was %s and is %s\n", LAB_BYTES_TEXT((double)before),
               LAB_BYTES_TEXT((double)after));
}

/* ---- import, merge ---- */

struct files {
    const struct lab_options *options;
    const char *path;
    int64_t imported;
    int64_t skipped;
    enum lab_status st; /* of printing */
};

/* Names come from files of other people. */
static void add_visible(struct lab_str *s, const char *before, const char *text)
{
    if (!text)
        return;
    lab_str_add(s, before);
    lab_str_add_visible(s, text, strlen(text), false);
}

static enum lab_status print_import(const struct files *f,
                                    const struct lab_imported *r)
{
    struct lab_str s;
    lab_str_init(&s);
    add_visible(&s, "", f->path);
    if (r->run != LAB_UNKNOWN)
        lab_str_addf(&s, ": run %lld", (long long)r->run);
    else
        lab_str_add(&s, ": its run");
    add_visible(&s, ", ", r->lesson);
    add_visible(&s, ", of ", r->user);
    add_visible(&s, " on ", r->hostname);
    if (r->skipped)
        lab_str_addf(&s, ": skipped, %s", r->reason);
    else if (f->options->dry_run)
        lab_str_add(&s, ": would be copied");
    else
        lab_str_addf(&s, ": is now run %lld", (long long)r->as);
    if (r->skipped && r->as != LAB_UNKNOWN)
        lab_str_addf(&s, " (run %lld)", (long long)r->as);
    if (!r->skipped)
        lab_str_addf(&s, ", %lld steps, %lld kernels", (long long)r->steps,
                     (long long)r->kernels);
    lab_str_add_char(&s, '\n');
    return lab_print_str(&s);
}

static enum lab_status print_import_json(const struct files *f,
                                         const struct lab_imported *r)
{
    bool made = !r->skipped && f->options->dry_run;
    json_t *o = lab_json_new("imported");
    lab_json_text(o, "file", f->path);
    lab_json_int(o, "run", r->run);
    lab_json_int(o, "as", made ? LAB_UNKNOWN : r->as);
    lab_json_bool(o, "skipped", r->skipped);
    lab_json_bool(o, "dry_run", f->options->dry_run);
    lab_json_text(o, "reason", r->reason);
    lab_json_text(o, "uuid", r->uuid);
    lab_json_text(o, "lesson", r->lesson);
    lab_json_text(o, "user", r->user);
    lab_json_text(o, "hostname", r->hostname);
    lab_json_int(o, "steps", r->steps);
    lab_json_int(o, "kernels", r->kernels);
    return lab_json_print(o);
}

static void note_run(void *user, const struct lab_imported *r)
{
    struct files *f = user;
    f->imported += !r->skipped;
    f->skipped += r->skipped;
    if (f->st == LAB_OK)
        f->st = f->options->json ? print_import_json(f, r) : print_import(f, r);
}

static enum lab_status print_imports(const struct files *f, int bad)
{
    const struct lab_options *o = f->options;
    if (o->json) {
        json_t *line = lab_json_new("summary");
        lab_json_int(line, "files", o->n_words);
        lab_json_int(line, "refused", bad);
        lab_json_int(line, "imported", f->imported);
        lab_json_int(line, "skipped", f->skipped);
        lab_json_bool(line, "dry_run", o->dry_run);
        return lab_json_print(line);
    }
    char refused[64] = "";
    if (bad)
        snprintf(refused, sizeof(refused), "; %d of %d files refused", bad,
                 o->n_words);
    return put("%s %lld run%s, skipped %lld%s\n",
               o->dry_run ? "would copy" : "copied", (long long)f->imported,
               f->imported == 1 ? "" : "s", (long long)f->skipped, refused);
}

/* A file that is refused does not keep the others from being read: a class's
 * files come from many people. The first error is the command's. */
static enum lab_status import_files(const struct lab_options *o,
                                    struct lab_database *db)
{
    const struct lab_import_options options = {.label = o->label,
                                               .dry_run = o->dry_run};
    struct files f = {.options = o};
    enum lab_status first = LAB_OK;
    struct lab_kept_error error;
    int bad = 0;
    for (int i = 0; i < o->n_words && f.st == LAB_OK; i++) {
        f.path = o->words[i];
        enum lab_status st =
            lab_import_file(db, f.path, &options, note_run, &f);
        if (st == LAB_OK)
            continue;
        bad++;
        if (first)
            lab_warn("%s", lab_error());
        else
            lab_error_keep(&error);
        first = first ? first : st;
    }
    enum lab_status st = f.st;
    if (st == LAB_OK && o->n_words > bad)
        st = print_imports(&f, bad);
    if (st)
        return st;
    return first ? lab_error_again(first, &error) : LAB_OK;
}

/* ---- baselines ---- */

static bool print_baseline(const struct lab_options *o, const char *name,
                           int64_t run)
{
    if (!o->json)
        return put("%-20s run %lld\n", name, (long long)run) == LAB_OK;
    json_t *line = lab_json_new("baseline");
    lab_json_text(line, "name", name);
    lab_json_int(line, "run", run);
    return lab_json_print(line) == LAB_OK;
}

struct names {
    const struct lab_options *options;
    int n;
};

static bool list_baseline(void *user, const char *name, int64_t run)
{
    struct names *names = user;
    names->n++;
    return print_baseline(names->options, name, run);
}

/* The command that copies the runs that ship with the program. */
static enum lab_status suggest_import(struct lab_str *out)
{
    struct lab_str from;
    lab_str_init(&from);
    enum lab_status st = lab_data_path(LAB_RECORDED_RUNS, &from);
    if (st == LAB_OK)
        *out = lab_suggest_command_text(
            NULL, LAB_WORDS("profile", "import", lab_str_text(&from)));
    lab_str_release(&from);
    return st;
}

static enum lab_status list_baselines(const struct lab_options *o,
                                      struct lab_database *db)
{
    struct names names = {.options = o};
    enum lab_status st = lab_baseline_list(db, list_baseline, &names);
    if (st || names.n > 0)
        return st;
    struct lab_str next;
    if (o->recorded)
        st = suggest_import(&next);
    else
        next = lab_suggest_command_text(
            o->db, LAB_WORDS("profile", "baseline", "NAME", "RUN"));
    if (st)
        return st;
    lab_warn(o->recorded
                 ? "no run that ships with the program has a name; "
                   "`%s` brings them into yours, where they can be named"
                 : "no run has a name yet; `%s` gives it one",
             lab_str_text(&next));
    lab_str_release(&next);
    return LAB_OK;
}

static enum lab_status baseline(const struct lab_options *o,
                                struct lab_database *db)
{
    int64_t run;
    enum lab_status st;
    if (o->n_words == 0)
        return list_baselines(o, db);
    const char *name = o->words[0];
    if (strncmp(name, "baseline:", 9) == 0)
        name += 9;
    if (o->remove)
        return lab_baseline_remove(db, name);
    if (o->n_words == 1) {
        st = lab_baseline_find(db, name, &run);
        if (st == LAB_OK)
            print_baseline(o, name, run);
        return st;
    }
    int64_t before;
    bool moved = lab_baseline_find(db, name, &before) == LAB_OK;
    st = lab_profile_find_run(db, o->words[1], &run);
    if (st == LAB_OK)
        st = lab_baseline_set(db, name, run);
    if (st == LAB_OK && moved && before != run)
        lab_warn("%s was run %lld and is now run %lld", name, (long long)before,
                 (long long)run);
    return st;
}

static const struct lab_profile_command command_baseline = {
    .name = "baseline",
    .run = baseline,
    .most = 2,
    .writes = true,
    .takes = "takes a name and a run",
    .options = LAB_FOR_BASELINE,
    .args = "[NAME [RUN]]",
    .doc = "Names a run, to compare with. Without a run: the run of the name; "
           "alone: "
           "the names that there are.\vExample:\n"
           "  lapenna-lab profile baseline good 17\n"
           "  lapenna-lab profile compare baseline:good last\n"};

static const struct lab_profile_command command_import = {
    .name = "import",
    .run = import_files,
    .least = 1,
    .most = 1,
    .writes = true,
    .takes = "takes one file",
    .options = LAB_FOR_IMPORT,
    .args = "FILE",
    .doc = "The runs of another database, or of an SQLite export of Nsight "
           "Systems."
           "\vExample:\n"
           "  lapenna-lab profile import report.sqlite --label laptop\n"};

static const struct lab_profile_command command_merge = {
    .name = "merge",
    .run = import_files,
    .least = 1,
    .most = INT_MAX,
    .writes = true,
    .takes = "takes files",
    .options = LAB_FOR_IMPORT,
    .args = "FILE...",
    .doc = "The runs of many databases, or SQLite exports of Nsight Systems."
           "\vExample:\n"
           "  lapenna-lab profile merge a.db b.db --db all.db --dry-run\n"};

static const struct lab_profile_command command_delete = {
    .name = "delete",
    .run = delete_runs,
    .least = 1,
    .most = INT_MAX,
    .writes = true,
    .takes = "takes runs",
    .options = LAB_FOR_DELETE,
    .args = "RUN...",
    .doc = "Removes runs and everything recorded of them.\vExample:\n"
           "  lapenna-lab profile delete 3 4\n"};

static const struct lab_profile_command command_vacuum = {
    .name = "vacuum",
    .run = vacuum,
    .writes = true,
    .takes = "takes no run",
    .options = LAB_FOR_DELETE,
    .doc = "Makes the database file as small as what it holds: deleting a run "
           "frees "
           "its room inside the file only.\vExample:\n"
           "  lapenna-lab profile vacuum\n"};

/* In the order of messages. */
static const struct lab_profile_command *const commands[] = {
    &lab_profile_list,     &lab_profile_show,    &lab_profile_kernels,
    &lab_profile_timeline, &lab_profile_compare, &lab_profile_ceilings,
    &lab_profile_roofline, &command_baseline,    &lab_profile_export,
    &command_import,       &command_merge,       &command_delete,
    &command_vacuum};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

/* Another command for the same runs. */
static struct lab_str beside(const struct lab_options *o, const char *command)
{
    return lab_suggest_command_text(
        o->db,
        LAB_WORDS("profile", command, o->recorded ? "--recorded" : NULL));
}

static enum lab_status needs_run(const struct lab_options *o)
{
    struct lab_str list = beside(o, "list");
    enum lab_status st = lab_fail(
        LAB_E_USAGE,
        "[profile.run-missing] %s needs a run: a number of `%s`, or last",
        o->command, lab_str_text(&list));
    lab_str_release(&list);
    return st;
}

static enum lab_status find_command(const struct lab_options *o,
                                    const struct lab_profile_command **out)
{
    const char *names[COMMANDS];
    int at;
    for (int i = 0; i < COMMANDS; i++)
        names[i] = commands[i]->name;
    enum lab_status st =
        lab_find_word("command", o->command, names, COMMANDS,
                      "`lapenna-lab profile --help` lists them", &at);
    if (st)
        return st;
    const struct lab_profile_command *c = *out = commands[at];
    if (o->n_words < c->least && c->most == 1 && c->run != import_files)
        return needs_run(o);
    if (o->n_words < c->least || o->n_words > c->most)
        return lab_fail(LAB_E_USAGE, "[profile.words] %s %s", o->command,
                        c->takes);
    return LAB_OK;
}

/* The command that shows what there is instead of a word that names nothing;
 * NULL: what is not found is no run and no baseline. */
static const char *shown_by(const struct lab_options *o,
                            struct lab_database *db, enum lab_status why)
{
    bool names = strcmp(o->command, "baseline") == 0;
    if (names && o->n_words < 2)
        return "baseline";
    for (int i = names; i < o->n_words; i++) {
        int64_t run;
        enum lab_status st = lab_profile_find_run(db, o->words[i], &run);
        if (st == LAB_OK) {
            if (why == LAB_E_NOTFOUND && check_run(db, run))
                return "list";
        } else if (st == LAB_E_USAGE) {
            return "list";
        } else if (strncmp(o->words[i], "baseline:", 9) == 0) {
            return "baseline";
        }
    }
    return NULL;
}

static enum lab_status fail_where(const struct lab_options *o,
                                  struct lab_database *db, enum lab_status st)
{
    struct lab_kept_error why;
    lab_error_keep(&why);
    const char *command = shown_by(o, db, st);
    if (!command)
        return lab_error_again(st, &why);
    struct lab_str shows = beside(o, command);
    lab_fail(st, "[profile.run-unknown] %s; `%s` shows what there is", why.text,
             lab_str_text(&shows));
    lab_str_release(&shows);
    return st;
}

/* Nothing recorded yet is an error only where something was asked for. */
static enum lab_status no_database(const struct lab_options *o,
                                   const struct lab_profile_command *command,
                                   const char *path)
{
    bool lists = command == &lab_profile_list ||
                 (command == &command_baseline && o->n_words == 0);
    if (o->db || o->recorded || errno != ENOENT)
        return lab_fail(LAB_E_NOTFOUND, "[profile.database] %s: %s", path,
                        strerror(errno));
    lab_fail(LAB_E_NOTFOUND,
             "[profile.no-runs] no run has been recorded yet (%s)", path);
    if (!lists)
        return LAB_E_NOTFOUND;
    lab_warn("%s", lab_error());
    return LAB_OK;
}

/* Names of baselines are only read where none is given or taken away. */
static bool writes(const struct lab_options *o,
                   const struct lab_profile_command *command)
{
    bool asks = command == &command_baseline && o->n_words < 2;
    return command->writes && (!asks || o->remove);
}

static enum lab_status run_command(const struct lab_options *o,
                                   const struct lab_profile_command *command,
                                   const char *path)
{
    struct lab_database *db = NULL;
    bool makes =
        command->run == import_files || command == &lab_profile_ceilings;
    if (!makes && access(path, F_OK))
        return no_database(o, command, path);
    enum lab_status st =
        open_database(path, writes(o, command), o->recorded, &db);
    if (st)
        return st;
    st = command->run(o, db);
    if ((st == LAB_E_NOTFOUND || st == LAB_E_USAGE) && !makes)
        fail_where(o, db, st);
    lab_database_close(db);
    return st;
}

/* The runs that ship with the program are only read. */
static enum lab_status
refuse_recorded(const struct lab_options *o,
                const struct lab_profile_command *command)
{
    struct lab_str import;
    if (o->db)
        return lab_fail(LAB_E_USAGE, "[profile.two-databases] --recorded and "
                                     "--db name two databases: give one");
    if (command == &lab_profile_ceilings)
        return lab_fail(LAB_E_USAGE,
                        "[profile.ceilings-recorded] ceilings are measured on "
                        "this machine, and "
                        "kept in a database of yours: leave out --recorded");
    enum lab_status st = suggest_import(&import);
    if (st)
        return st;
    st = lab_fail(
        LAB_E_USAGE,
        "[profile.read-only] --recorded only reads the runs that ship with the "
        "program, and %s changes a database; `%s` brings them into yours",
        o->command, lab_str_text(&import));
    lab_str_release(&import);
    return st;
}

/* ---- the command line ---- */

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

/* The first word that is neither an option nor an option's value. A number below
 * 0 is no run, and getopt() would call it an option. */
static const struct lab_profile_command *named_command(int argc, char **argv)
{
    const struct lab_profile_command *found = NULL;
    bool first = true;
    bool options = true;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (options && lab_options_takes_next(word, LAB_FOR_PROFILES)) {
            i++;
        } else if (options && strcmp(word, "--") == 0) {
            options = false;
        } else if (options && word[0] == '-' &&
                   isdigit((unsigned char)word[1])) {
            exit(lab_exit_error(
                lab_fail(LAB_E_USAGE,
                         "[usage.not-a-run] '%s' is not a run: a run is a "
                         "number of `lapenna-lab profile list`",
                         word)));
        } else if (first && (word[0] != '-' || !word[1])) {
            first = false;
            for (int k = 0; k < COMMANDS; k++)
                found = strcmp(commands[k]->name, word) ? found : commands[k];
        }
    }
    return found;
}

static void take_command(struct lab_options *o, struct argp_state *state)
{
    if (o->n_words == 0)
        lab_usage_error(state, "[usage.profile-command] which one: list, show, "
                               "kernels, compare, ...?");
    o->command = *o->words++;
    o->n_words--;
}

static void read_options(int argc, char **argv, struct lab_options *o)
{
    const struct lab_profile_command *c = named_command(argc, argv);
    char name[64];
    snprintf(name, sizeof(name), "lapenna-lab profile%s%s", c ? " " : "",
             c ? c->name : "");
    lab_options_parse(
        o, argc, argv,
        &(struct lab_command_line){
            .name = name,
            .commands = c ? c->options : (uint64_t)LAB_FOR_PROFILE,
            .knows = LAB_FOR_PROFILES,
            .args = c ? c->args : "COMMAND [RUN...|FILE...]",
            .doc = c ? c->doc : help,
            .check = take_command});
}

static int cmd_profile(int argc, char **argv)
{
    struct lab_options o;
    const struct lab_profile_command *command = NULL;
    struct lab_str path;
    enum lab_status st;
    read_options(argc, argv, &o);
    lab_str_init(&path);
    st = find_command(&o, &command);
    if (st == LAB_OK && o.recorded && (o.db || writes(&o, command)))
        st = refuse_recorded(&o, command);
    if (st == LAB_OK && o.recorded)
        st = lab_data_path(LAB_RECORDED_RUNS, &path);
    else if (st == LAB_OK && o.db)
        lab_str_add(&path, o.db);
    else if (st == LAB_OK)
        st = lab_database_default_path(&path);
    if (st == LAB_OK && path.failed)
        st = lab_no_memory("a path");
    if (st == LAB_OK)
        st = run_command(&o, command, lab_str_text(&path));
    lab_str_release(&path);
    return st ? lab_exit_with(exit_code(st)) : LAB_EXIT_DONE;
}

const struct lab_cmd lab_cmd_profile = {
    .name = "profile",
    .run = cmd_profile,
    .help = "recorded runs: list, compare, export ..."};
