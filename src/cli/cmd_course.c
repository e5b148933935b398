/* cmd_course.c -- lapenna-lab course: every row of the course with the lesson,
 * lab, table or command that serves it; --check runs the commands and looks for
 * what they have to show. The rows are facts, profiles/course.csv; what begins
 * with "later: " there is planned and not a gap; with "not recorded: ", a GPU shows
 * it and no run that ships. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/datadir.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "base/signals.h"
#include "base/unknown.h"
#include "cmd.h"
#include "debug/options.h"
#include "engine/backend.h"
#include "report/exit.h"
#include "report/json_line.h"
#include "report/print.h"
#include "report/suggest.h"
#include "store/fact_table.h"

/* A command has so many seconds of each core, and WAITED times as many by the clock: a
 * machine that does other work fails no row. */
enum { MOST_WORDS = 40, MOST_OUTPUT = 8 << 20, MOST_SECONDS = 300, WAITED = 4 };

/* Any number of rows. */
static void take_rows(struct lab_options *o, struct argp_state *state)
{
    (void)o;
    (void)state;
}

static const struct lab_command_line usage = {
    .name = "lapenna-lab course",
    .commands = LAB_FOR_COURSE,
    .args = "[ROW...]",
    .doc =
        "Every row of the course, with the lesson, lab, table or command that "
        "serves it, or what is missing.\v"
        "ROW is an id: A12, B04. --check runs each row's command and looks for "
        "what it has to show: works; needs a GPU (then the recorded run that "
        "shows it is looked at instead); in part; later; missing; or "
        "fails. The runs that it makes are not kept.\n\n"
        "Exit status: 0 done, 1 a row fails, 2 wrong usage, 3 no such row.",
    .check = take_rows};

/* A column of the table; NULL: nothing there. */
struct course {
    struct lab_fact_table *t;
    int what;
    int served_by;
    int command;
    int shows;
    int gpu;
    int missing;
    bool has_gpu;
    struct lab_str recorded; /* the database of runs that ship; "": none */
    char state[512];         /* directory for what the commands write; "" */
    const struct lab_options *o;
    char **output; /* of each row's command, once it ran; NULL */
    int *code;     /* as run_one() has it */
    int counts[6];
};

enum state { WORKS, NEEDS_GPU, IN_PART, LATER, MISSING, FAILS };
static const char *const state_text[] = {"works", "needs a GPU", "in part",
                                         "later", "missing",     "fails"};
static const char later[] = "later: ";
static const char not_recorded[] = "not recorded: ";

static const char *text_of(const struct course *c, int row, int column)
{
    const char *text = lab_fact_at(c->t, row, column)->text;
    return text && text[0] ? text : NULL;
}

/* ---- a command, run ---- */

/* Splits at blanks; a part in single quotes is one word. */
static int split(char *text, char *words[], int most)
{
    int n = 0;
    while (*text && n < most - 1) {
        while (*text == ' ')
            text++;
        if (!*text)
            break;
        bool quoted = *text == '\'';
        text += quoted;
        words[n++] = text;
        text += strcspn(text, quoted ? "'" : " ");
        if (*text)
            *text++ = '\0';
    }
    words[n] = NULL;
    return n;
}

static void limit(int what, rlim_t most)
{
    struct rlimit to;
    if (getrlimit(what, &to) == 0 && to.rlim_cur > most) {
        to.rlim_cur = most;
        setrlimit(what, &to);
    }
}

static void become(const struct course *c, char *words[], int out)
{
    int nothing = open("/dev/null", O_RDWR);
    setenv("XDG_STATE_HOME", c->state, 1);
    dup2(nothing, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, MOST_SECONDS * (rlim_t)lab_cores());
    alarm(MOST_SECONDS * WAITED);
    execv("/proc/self/exe", words);
    _exit(127);
}

/* All that comes, up to a bound; what is more is read and dropped. A signal ends
 * the command, too. */
static void read_output(int from, pid_t pid, struct lab_str *out)
{
    char chunk[8192];
    ssize_t n = 1;
    while (n > 0 || (n < 0 && errno == EINTR)) {
        if (!lab_signals_wait_input(from)) {
            kill(pid, SIGTERM);
            return;
        }
        n = read(from, chunk, sizeof(chunk));
        if (n > 0 && out->len < MOST_OUTPUT)
            lab_str_add_bytes(out, chunk, (size_t)n);
    }
}

/* A TERM that read_output() sends ends the child also before it is the command: our
 * handler would only note it. */
static pid_t fork_for_command(void)
{
    sigset_t term;
    sigset_t old;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &term, &old);
    pid_t pid = fork();
    if (pid == 0)
        signal(SIGTERM, SIG_DFL);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return pid;
}

/* The exit code, or less than zero: which signal ended it. */
static int run_one(const struct course *c, const char *command,
                   struct lab_str *out)
{
    char *words[MOST_WORDS] = {(char[]){"lapenna-lab"}};
    char *text = lab_strdup(command);
    int ends[2];
    int status = 0;
    int code = LAB_EXIT_MACHINE;
    if (!text || pipe(ends) != 0) {
        lab_free(text);
        return code;
    }
    split(text, words + 1, MOST_WORDS - 1);
    pid_t pid = fork_for_command();
    if (pid == 0) {
        close(ends[0]);
        become(c, words, ends[1]);
    }
    close(ends[1]);
    if (pid > 0) {
        read_output(ends[0], pid, out);
        close(ends[0]);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    } else {
        close(ends[0]);
    }
    lab_free(text);
    return code;
}

/* Several are divided by " ; "; the first that fails is the last that is run. */
static int run_command(const struct course *c, const char *command,
                       struct lab_str *out)
{
    char one[512];
    int code = 0;
    while (code == 0 && *command) {
        size_t n = strcspn(command, ";");
        snprintf(one, sizeof(one), "%.*s", (int)n, command);
        code = run_one(c, one, out);
        command += n + (command[n] == ';');
    }
    return code;
}

/* Lines are broken and columns are as wide as they come: blanks are one. */
static void squeeze(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        bool blank = *from == ' ' || *from == '\n';
        if (!blank)
            *to++ = *from;
        else if (to > text && to[-1] != ' ')
            *to++ = ' ';
    }
    *to = '\0';
}

/* Parts between '|': the first that is not in the output; NULL: all are. */
static const char *find_absent(const char *shows, const char *output,
                               char part[], size_t cap)
{
    while (shows && *shows) {
        size_t n = strcspn(shows, "|");
        snprintf(part, cap, "%.*s", (int)n, shows);
        squeeze(part);
        if (!strstr(output, part))
            return part;
        shows += n + (shows[n] == '|');
    }
    return NULL;
}

/* ---- a row ---- */

struct verdict {
    enum state state;
    bool recorded; /* recorded runs are looked at, for want of a GPU */
    int64_t run;   /* the first of them; LAB_UNKNOWN: one is not there */
    char why[1024];
    char show[512]; /* the commands that show them */
};

/* The recorded run that a lesson is shown by; LAB_UNKNOWN. */
static int64_t recorded_run(const struct course *c, const char *lesson,
                            const char *backend)
{
    int64_t run = LAB_UNKNOWN;
    if (!c->recorded.len || lab_fact_recorded_run(lab_str_text(&c->recorded),
                                                  lesson, backend, &run))
        return LAB_UNKNOWN;
    return run;
}

static void append(char *out, size_t cap, const char *fmt, ...)
    LAB_PRINTF(3, 4);
static void append(char *out, size_t cap, const char *fmt, ...)
{
    size_t n = strlen(out);
    va_list args;
    va_start(args, fmt);
    if (n < cap)
        vsnprintf(out + n, cap - n, fmt, args);
    va_end(args);
}

static void name_run(struct verdict *v, const char *lesson, const char *where,
                     int64_t run)
{
    append(v->why, sizeof(v->why), "%srecorded run %lld, %s%s",
           v->why[0] ? "; " : "", (long long)run, lesson, where);
    append(v->show, sizeof(v->show), "%sprofile show --recorded %lld",
           v->show[0] ? " ; " : "", (long long)run);
}

/* The run of each lesson of `gpu`, names with spaces between, that is shown for it, and
 * the CPU's where one ships. */
static void find_recorded(const struct course *c, const char *gpu,
                          struct verdict *v)
{
    char lesson[64];
    v->state = NEEDS_GPU;
    while (*gpu) {
        size_t n = strcspn(gpu, " ");
        snprintf(lesson, sizeof(lesson), "%.*s", (int)n, gpu);
        gpu += n + strspn(gpu + n, " ");
        int64_t run = recorded_run(c, lesson, "cuda");
        if (run == LAB_UNKNOWN) {
            snprintf(v->why, sizeof(v->why), "no recorded run of %s", lesson);
            v->run = LAB_UNKNOWN;
            return;
        }
        if (!v->show[0])
            v->run = run;
        name_run(v, lesson, "", run);
        run = recorded_run(c, lesson, "cpu");
        if (run != LAB_UNKNOWN)
            name_run(v, lesson, " on a CPU", run);
    }
}

/* What a row is without running anything. */
static struct verdict look(const struct course *c, int row)
{
    struct verdict v = {.state = WORKS, .run = LAB_UNKNOWN};
    const char *gpu = text_of(c, row, c->gpu);
    const char *missing = text_of(c, row, c->missing);
    bool unrecorded =
        missing && strncmp(missing, not_recorded, strlen(not_recorded)) == 0;
    v.recorded = gpu && !c->has_gpu;
    if (v.recorded)
        find_recorded(c, gpu, &v);
    if (unrecorded) {
        if (v.recorded)
            append(v.why, sizeof(v.why), "; %s", missing);
    } else if (missing) {
        bool planned = strncmp(missing, later, strlen(later)) == 0;
        v.state = planned                       ? LATER
                  : text_of(c, row, c->command) ? IN_PART
                                                : MISSING;
        append(v.why, sizeof(v.why), "%s%s%s", v.why[0] ? "; " : "",
               planned ? "" : "missing: ", missing);
    }
    return v;
}

static void fail(struct verdict *v, const char *command, const char *what)
{
    v->state = FAILS;
    snprintf(v->why, sizeof(v->why), "%.120s: %s", command, what);
}

/* Its output, by this row or one before it with the same command. */
static const char *output_of(struct course *c, int row, const char *command,
                             int *code)
{
    for (int i = 0; i < row; i++) {
        const char *other = text_of(c, i, c->command);
        if (c->output[i] && other && strcmp(other, command) == 0) {
            *code = c->code[i];
            return c->output[i];
        }
    }
    struct lab_str out;
    lab_str_init(&out);
    *code = c->code[row] = run_command(c, command, &out);
    lab_free(c->output[row]);
    c->output[row] = lab_str_detach(&out);
    if (c->output[row])
        squeeze(c->output[row]);
    return c->output[row] ? c->output[row] : "";
}

static void check(struct course *c, int row, struct verdict *v)
{
    char command[512];
    char part[400];
    char what[440];
    int code = 0;
    if (!text_of(c, row, c->command)) /* nothing to run */
        return;
    if (v->recorded && v->run == LAB_UNKNOWN) {
        v->state = FAILS;
        return;
    }
    if (v->recorded)
        snprintf(command, sizeof(command), "%s", v->show);
    else
        snprintf(command, sizeof(command), "%s", text_of(c, row, c->command));
    const char *output = output_of(c, row, command, &code);
    if (code != 0) {
        if (code == -SIGXCPU)
            snprintf(what, sizeof(what), "too much CPU time, %d s at most",
                     (int)MOST_SECONDS * lab_cores());
        else if (code == -SIGALRM)
            snprintf(what, sizeof(what), "too long, %d s at most",
                     (int)MOST_SECONDS * (int)WAITED);
        else
            snprintf(what, sizeof(what), "%s %d",
                     code < 0 ? "ended by signal" : "exit code",
                     code < 0 ? -code : code);
        fail(v, command, what);
        return;
    }
    if (find_absent(text_of(c, row, c->shows), output, part, sizeof(part))) {
        snprintf(what, sizeof(what), "does not show \"%s\"", part);
        fail(v, command, what);
    }
}

/* ---- shown ---- */

/* Without --check nothing was seen to work. */
static const char *state_of(const struct course *c, const struct verdict *v)
{
    return v->state == WORKS && !c->o->check ? "served" : state_text[v->state];
}

static enum lab_status print_json(const struct course *c, int row,
                                  const struct verdict *v)
{
    json_t *line = lab_json_new("row");
    lab_json_text(line, "id", lab_fact_key(c->t, row));
    lab_json_text(line, "what", text_of(c, row, c->what));
    lab_json_text(line, "served_by", text_of(c, row, c->served_by));
    lab_json_text(line, "command", text_of(c, row, c->command));
    lab_json_text(line, "state", state_of(c, v));
    lab_json_int(line, "run", v->run);
    lab_json_word(line, "detail", v->why);
    lab_json_bool(line, "checked", c->o->check);
    return lab_json_print(line);
}

static enum lab_status print_text(const struct course *c, int row,
                                  const struct verdict *v)
{
    const char *command = text_of(c, row, c->command);
    const char *what = text_of(c, row, c->what);
    struct lab_str text;
    lab_str_init(&text);
    lab_str_addf(&text, "%-7s %-11s %s", lab_fact_key(c->t, row),
                 state_of(c, v), what ? what : "");
    for (const char *sign = ": "; command && *command; sign = ", ") {
        size_t n = strcspn(command, ";");
        bool more = command[n] == ';';
        lab_str_addf(&text, "%s`lapenna-lab %.*s`", sign,
                     (int)n - (more && n > 0), command);
        command += n + (more ? strspn(command + n, "; ") : 0);
    }
    if (v->why[0])
        lab_str_addf(&text, " (%s)", v->why);
    lab_str_add_char(&text, '\n');
    lab_print_wrap(lab_print_columns(), 20);
    lab_print_lines(&text);
    lab_print_wrap(0, 0);
    fflush(stdout);
    enum lab_status st = lab_str_check(&text, "the output");
    lab_str_release(&text);
    return st ? st : lab_print_check();
}

static bool is_wanted(const struct course *c, int row)
{
    for (int i = 0; i < c->o->n_words; i++)
        if (strcasecmp(c->o->words[i], lab_fact_key(c->t, row)) == 0)
            return true;
    return c->o->n_words == 0;
}

static enum lab_status show_rows(struct course *c)
{
    enum lab_status st = LAB_OK;
    for (int row = 0; !st && row < c->t->rows; row++) {
        if (!is_wanted(c, row))
            continue;
        struct verdict v = look(c, row);
        if (c->o->check)
            check(c, row, &v);
        if (c->o->check && lab_signals_caught())
            return LAB_E_CANCELLED;
        c->counts[v.state]++;
        st = c->o->json ? print_json(c, row, &v) : print_text(c, row, &v);
    }
    if (st || c->o->json)
        return st;
    lab_print_wrap(lab_print_columns(), 0);
    lab_printf(
        stdout, "%d %s, %d need a GPU, %d in part, %d come later, %d missing",
        c->counts[WORKS], c->o->check ? "work" : "served", c->counts[NEEDS_GPU],
        c->counts[IN_PART], c->counts[LATER], c->counts[MISSING]);
    lab_printf(stdout, c->o->check ? ", %d fail\n" : "; --check runs them\n",
               c->counts[FAILS]);
    lab_print_wrap(0, 0);
    return lab_print_check();
}

/* ---- opened and closed ---- */

static enum lab_status find_columns(struct course *c)
{
    const struct {
        const char *name;
        int *at;
    } columns[] = {{"what", &c->what},       {"served_by", &c->served_by},
                   {"command", &c->command}, {"shows", &c->shows},
                   {"gpu", &c->gpu},         {"missing", &c->missing}};
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        *columns[i].at = lab_fact_column(c->t, columns[i].name);
        if (*columns[i].at < 0)
            return lab_fail(LAB_E_PARSE,
                            "[course.column] %s: the column %s is missing",
                            c->t->path, columns[i].name);
    }
    return LAB_OK;
}

static enum lab_status find_words(const struct course *c)
{
    for (int i = 0; i < c->o->n_words; i++) {
        bool found = false;
        for (int row = 0; row < c->t->rows; row++)
            found = found ||
                    strcasecmp(c->o->words[i], lab_fact_key(c->t, row)) == 0;
        if (!found)
            return lab_fail(
                LAB_E_NOTFOUND,
                "[course.row] the course has no row \"%s\": A01 to E14",
                c->o->words[i]);
    }
    return LAB_OK;
}

static enum lab_status make_state(struct course *c)
{
    const char *place = getenv("TMPDIR");
    place = place && *place ? place : "/tmp";
    int n = snprintf(c->state, sizeof(c->state), "%s/lab-course-XXXXXX", place);
    if (n > 0 && (size_t)n < sizeof(c->state) && mkdtemp(c->state))
        return LAB_OK;
    c->state[0] = '\0'; /* there is nothing to remove */
    return lab_fail(
        LAB_E_IO, "[course.scratch] %s: no directory can be made there", place);
}

static enum lab_status open_course(struct course *c)
{
    struct lab_str path;
    struct lab_backend *be = NULL;
    lab_str_init(&path);
    enum lab_status st = lab_data_path("profiles/course.csv", &path);
    if (!st)
        st = lab_fact_read(&c->t, lab_str_text(&path), NULL);
    lab_str_release(&path);
    if (!st)
        st = find_columns(c);
    if (!st)
        st = find_words(c);
    if (st)
        return st;
    if (lab_data_path(LAB_RECORDED_RUNS, &c->recorded))
        lab_str_clear(&c->recorded);
    c->has_gpu = lab_backend_open(&be, "cuda", 0) == LAB_OK;
    lab_backend_close(be);
    c->output = lab_alloc_array((size_t)c->t->rows, sizeof(*c->output));
    c->code = lab_alloc_array((size_t)c->t->rows, sizeof(*c->code));
    if (!c->output || !c->code)
        return lab_no_memory("the course");
    return c->o->check ? make_state(c) : LAB_OK;
}

/* What the commands have written: their database and its companions. */
static void remove_state(const struct course *c)
{
    static const char *const files[] = {"profiles.db", "profiles.db-wal",
                                        "profiles.db-shm", "progress", ""};
    char path[sizeof(c->state) + 40];
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(path, sizeof(path), "%s/lapenna-lab/%s", c->state, files[i]);
        if (files[i][0])
            unlink(path);
        else
            rmdir(path);
    }
    rmdir(c->state);
}

static int cmd_course(int argc, char **argv)
{
    struct lab_options o;
    struct course c = {.o = &o};
    lab_options_parse(&o, argc, argv, &usage);
    lab_str_init(&c.recorded);
    if (o.check)
        lab_signals_catch();
    enum lab_status st = open_course(&c);
    if (!st)
        st = show_rows(&c);
    if (!st && c.counts[FAILS])
        st = lab_fail(LAB_E_CHECK, "[course.rows-fail] %d rows fail",
                      c.counts[FAILS]);
    int code = st == LAB_E_CANCELLED ? LAB_EXIT_SIGNAL + lab_signals_caught()
                                     : lab_exit_error(st);
    if (c.state[0])
        remove_state(&c);
    for (int i = 0; c.output && i < c.t->rows; i++)
        lab_free(c.output[i]);
    lab_free(c.output);
    lab_free(c.code);
    lab_str_release(&c.recorded);
    lab_fact_free(c.t);
    return code;
}

const struct lab_cmd lab_cmd_course = {
    .name = "course",
    .run = cmd_course,
    .help = "[ROW...]: the course, and what serves each row"};
