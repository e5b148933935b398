/* A lab on the screen: the model that the screen reads, on the UI's thread, and
 * the thread that opens the backends and measures.
 *
 * Under `lock`: data, output_full, want, quit, ended, screen. The labs belong to the worker
 * while data.running is a set or nothing is opened yet, else to the UI's
 * thread. */
#include "screens/lab_screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/signals.h"
#include "base/thread.h"
#include "bench/bench.h"
#include "debug/kernel_walk.h"
#include "report/exit.h"
#include "lesson/catalog.h"
#include "lesson/lesson.h"
#include "screens/lesson_doc.h"
#include "report/suggest.h"
#include "trace/intern.h"
#include "ui/ui.h"
#include "ui/views.h"

enum { LAB_SCREEN_LABS = 2 };
/* Of a lab that is a command: what is kept of its output, and its lines. */
enum { MOST_OUTPUT = 1 << 20, OUTPUT_COLUMNS = 78 };

struct lab_bench_screen {
    struct lab_lesson *lesson;
    struct lab_bench_model model;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct lab_bench_data data;
    struct lab_ui *screen;          /* NULL: it is gone */
    int want;                       /* a set that shall be run, or -1 */
    const struct lab_variant *into; /* alone of that set, at size `into_size`,
                                       to be walked; or NULL */
    int into_size;
    bool output_full; /* of a command: it printed more than is kept */
    bool quit;
    bool ended; /* the thread is through, and can be joined at once */
    atomic_bool stop;
    struct lab_options options[LAB_SCREEN_LABS];
    char budget[24];                         /* of --budget, as text */
    struct lab_bench *labs[LAB_SCREEN_LABS]; /* NULL: not to be had; of set i */
    bool measured[LAB_SCREEN_LABS];          /* its ceilings */
    int64_t timed;                           /* rows of the climb at hand */
    int64_t most; /* rows that were through at once */
    int64_t rows; /* of that climb */
    struct lab_str source;
    lab_lesson_progress_fn *seen;
    void *seen_user;
    struct lab_bench_screen *next; /* of those that were left before */
};

/* Under the lock. */
static void changed(struct lab_bench_screen *s)
{
    s->data.version++;
    if (s->screen)
        lab_ui_wake(s->screen);
}

/* Under the lock: how far the run at hand came, for the lesson's progress. One
 * without a timed result counts for nothing. */
static void count(struct lab_bench_screen *s)
{
    if (s->timed == 0 || (s->data.done <= s->most && s->rows > 0))
        return;
    s->most = s->data.done;
    s->rows = s->data.total;
}

/* ---- opening ---- */

static struct lab_bench *open_lab(struct lab_bench_screen *s, int i,
                                  const char *backend)
{
    struct lab_bench *lab = lab_alloc(sizeof(*lab));
    struct lab_options *o = &s->options[i];
    if (!lab) {
        lab_no_memory("a lab");
        return NULL;
    }
    o->backend = backend;
    if (lab_bench_open(lab, o)) {
        lab_free(lab);
        return NULL;
    }
    return lab;
}

/* As --sizes would have them. */
static void write_sizes(const struct lab_bench *lab, char *out, size_t cap)
{
    size_t n = 0;
    out[0] = '\0';
    for (int i = 0; i < lab->n_sizes && n < cap; i++)
        n += (size_t)snprintf(out + n, cap - n, "%s%s", i ? "," : "",
                              lab->sizes[i].text);
}

static int put_repeats(struct lab_bench_set *set, int repeats)
{
    if (set->untimed)
        return snprintf(set->note, sizeof(set->note),
                        "instructions counted, no times");
    return snprintf(set->note, sizeof(set->note), "%d repeats each", repeats);
}

static enum lab_status add_set(struct lab_bench_data *data,
                               struct lab_bench *lab, struct lab_bench **labs)
{
    struct lab_device_info info;
    bool gpu = !lab->backend->host_memory;
    lab_backend_info(lab->backend, &info);
    bool untimed = lab->backend->untimed;
    int set = lab_bench_model_add_set(data,
                                      untimed ? "simulated"
                                      : gpu   ? "GPU"
                                              : "CPU",
                                      info.name);
    struct lab_bench_set *to = &data->sets[set];
    labs[set] = lab;
    to->runs = true;
    snprintf(to->badge, sizeof(to->badge), "%s", gpu ? info.name : "CPU");
    to->untimed = untimed;
    put_repeats(to, lab->repeats);
    write_sizes(lab, to->sizes, sizeof(to->sizes));
    return lab_bench_model_plan(data, set, lab);
}

/* The recorded results need no backend, only the ladder. */
static void add_recorded(struct lab_bench_data *data, struct lab_lesson *lesson)
{
    struct lab_bench *bare = lab_alloc(sizeof(*bare));
    if (!bare)
        return;
    bare->lesson = lesson;
    if (!lab_ladder_find(lesson->lab.ladder, &bare->ladder)) {
        lab_bench_model_recorded(data, bare);
        lab_bench_model_slides(data, bare);
        lab_bench_model_slides_recorded(data, bare);
        lab_bench_model_beside(data, bare->ladder);
    }
    lab_free(bare);
}

/* The word behind `lab` that measures it. */
static const char *command_word(const struct lab_bench_screen *s)
{
    const struct lab_lesson *lesson = s->lesson;
    struct lab_str path;
    if (lesson->lab.measures == LAB_MEASURE_CALLS)
        return "calls";
    lab_str_init(&path);
    bool found = !lab_lesson_find(lesson->id, &path) &&
                 strcmp(lab_str_text(&path), lesson->path) == 0;
    lab_str_release(&path);
    return found ? lesson->id : lesson->path;
}

/* Single kernels are not recorded. */
static const char *command_db(const struct lab_bench_screen *s)
{
    const struct lab_lesson_lab *lab = &s->lesson->lab;
    bool one = lab->ladder && lab_bench_is_one_kernel(lab->ladder);
    return one ? NULL : s->options[0].db;
}

/* What measures it in the shell, with the backend and the GPU that were given. */
enum { COMMAND_WORDS = 11 };
static void command_words(const struct lab_bench_screen *s, const char *db,
                          const char *words[COMMAND_WORDS])
{
    const struct lab_options *o = &s->options[0];
    int n = 0;
    words[n++] = "lab";
    words[n++] = command_word(s);
    if (o->given.backend) {
        words[n++] = "--backend";
        words[n++] = o->backend;
    }
    if (o->given.device_model) {
        words[n++] = "--device-model";
        words[n++] = o->device_model;
    }
    if (o->given.budget) {
        words[n++] = "--budget";
        words[n++] = s->budget;
    }
    if (db) {
        words[n++] = "--db";
        words[n++] = db;
    }
    words[n] = NULL;
}

static struct lab_str shell_command(const struct lab_bench_screen *s)
{
    const char *words[COMMAND_WORDS];
    command_words(s, NULL, words);
    return lab_suggest_command_text(command_db(s), words);
}

/* Tuning and sweeps of a network have tables of their own in the shell. */
static bool climbs(struct lab_bench_screen *s)
{
    const struct lab_lesson_lab *lab = &s->lesson->lab;
    bool first = lab->ladder && lab_bench_is_one_kernel(lab->ladder);
    if (lab->measures == LAB_MEASURE_LADDER && !first)
        return true;
    struct lab_str command = shell_command(s);
    pthread_mutex_lock(&s->lock);
    snprintf(s->data.command, sizeof(s->data.command), "%s",
             lab_str_text(&command));
    changed(s);
    pthread_mutex_unlock(&s->lock);
    lab_str_release(&command);
    return false;
}

/* What was opened, in the place of the empty tables. */
static void show(struct lab_bench_screen *s, struct lab_bench_data *filled,
                 struct lab_bench *const *labs)
{
    pthread_mutex_lock(&s->lock);
    filled->version = s->data.version;
    lab_bench_data_release(&s->data);
    s->data = *filled;
    memcpy(s->labs, labs, sizeof(s->labs));
    changed(s);
    pthread_mutex_unlock(&s->lock);
}

/* The tables are filled in a copy: recorded runs are read from a file, and the
 * screen, which takes the lock for each key, would wait for it. Until there is
 * a set no other thread changes them. */
static void fill(struct lab_bench_screen *s, struct lab_bench *const *found,
                 const char *why)
{
    struct lab_bench *labs[LAB_SCREEN_LABS] = {NULL, NULL};
    struct lab_bench_data data;
    lab_bench_data_init(&data);
    for (int i = 0; i < LAB_SCREEN_LABS; i++) {
        if (found[i] && add_set(&data, found[i], labs)) {
            data.problem_set = data.set_count - 1;
            snprintf(data.problem, sizeof(data.problem), "%s", lab_error());
        }
    }
    add_recorded(&data, s->lesson);
    if (!found[0] && !found[1])
        snprintf(data.problem, sizeof(data.problem), "%s", why);
    show(s, &data, labs);
}

/* The GPU first, where there is one unless --backend cpu was given; the simulator
 * where it was. */
static void open_all(struct lab_bench_screen *s)
{
    static const char *const backends[LAB_SCREEN_LABS] = {"cuda", "cpu"};
    const char *asked = s->options[0].backend;
    struct lab_bench *found[LAB_SCREEN_LABS] = {NULL, NULL};
    char why[LAB_BENCH_TEXT] = "";
    bool simulated = strcmp(asked, "sim") == 0;
    snprintf(why, sizeof(why), "backend %s has no labs", asked);
    for (int i = 0; i < LAB_SCREEN_LABS; i++) {
        const char *backend = simulated && i == 0 ? "sim" : backends[i];
        if (strcmp(asked, "auto") != 0 && strcmp(asked, backend) != 0)
            continue;
        found[i] = open_lab(s, i, backend);
        if (!found[i])
            snprintf(why, sizeof(why), "%s", lab_error());
    }
    fill(s, found, why);
}

/* ---- a climb ---- */

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER; /* to measure */

struct climbing {
    struct lab_bench_screen *s;
    struct lab_bench *lab;
    int set;
    int64_t start_ns; /* of the first check */
};

static void doing(void *user, const struct lab_variant *variant,
                  const struct lab_ladder_size *size)
{
    struct climbing *w = user;
    struct lab_bench_data *data = &w->s->data;
    const char *precision = lab_precision_name(variant->precision);
    pthread_mutex_lock(&w->s->lock);
    for (int64_t i = 0; i < data->row_count; i++)
        if (data->rows[i].set == w->set &&
            data->rows[i].state == LAB_BENCH_CHECKING)
            data->rows[i].state = LAB_BENCH_WAITING;
    lab_bench_model_state(data, w->set, variant, size ? size->text : NULL,
                          size ? LAB_BENCH_TIMING : LAB_BENCH_CHECKING);
    if (size) {
        data->at_size = lab_bench_size_find(data, w->set, size->text);
        snprintf(data->doing, sizeof(data->doing), "%s %s at %s, %s",
                 data->sets[w->set].untimed ? "simulating" : "timing",
                 variant->name, size->text, precision);
    } else {
        snprintf(data->doing, sizeof(data->doing),
                 "checking %s, %s, against double", variant->name, precision);
    }
    changed(w->s);
    pthread_mutex_unlock(&w->s->lock);
}

static enum lab_status take_result(void *user,
                                   const struct lab_bench_result *result)
{
    struct climbing *w = user;
    struct lab_bench_data *data = &w->s->data;
    pthread_mutex_lock(&w->s->lock);
    lab_bench_model_put(data, w->set, w->lab, result);
    lab_bench_model_beside(data, w->lab->ladder);
    data->done++;
    w->s->timed += result->state == LAB_BENCH_DONE;
    data->elapsed_ns = lab_clock_monotonic_ns() - w->start_ns;
    changed(w->s);
    pthread_mutex_unlock(&w->s->lock);
    return LAB_OK;
}

static void take_kernel(void *user, const struct lab_timed_row *row,
                        const struct lab_kernel_record *kernel,
                        const struct lab_counters *counters)
{
    struct climbing *w = user;
    pthread_mutex_lock(&w->s->lock);
    lab_bench_model_kernel(&w->s->data, w->set, w->lab, row, kernel, counters);
    changed(w->s);
    pthread_mutex_unlock(&w->s->lock);
}

static bool stopped(void *user)
{
    struct climbing *w = user;
    return atomic_load(&w->s->stop);
}

static void show_doing(struct lab_bench_screen *s, const char *text)
{
    pthread_mutex_lock(&s->lock);
    snprintf(s->data.doing, sizeof(s->data.doing), "%s", text);
    changed(s);
    pthread_mutex_unlock(&s->lock);
}

static enum lab_status climb_and_trace(struct lab_bench *lab)
{
    struct climbing *w = lab->observer.user;
    w->start_ns = lab_clock_monotonic_ns();
    enum lab_status st = lab_bench_climb(lab, 0, lab->n_sizes);
    if (st)
        return st;
    show_doing(w->s, "looking at the kernels");
    return lab_bench_trace(lab);
}

static enum lab_status climb(struct climbing *w)
{
    struct lab_bench *lab = w->lab;
    if (!w->s->measured[w->set]) {
        show_doing(w->s, "measuring what the machine can do at best");
        lab_bench_measure_ceilings(lab);
        w->s->measured[w->set] = true;
    }
    pthread_mutex_lock(&w->s->lock);
    lab_bench_model_ceilings(&w->s->data, w->set, lab);
    pthread_mutex_unlock(&w->s->lock);
    lab->place = 0;
    lab->timed = 0;
    lab->observer = (struct lab_bench_observer){.user = w,
                                                .stop = stopped,
                                                .doing = doing,
                                                .result = take_result,
                                                .traced = take_kernel};
    return stopped(w) ? lab_fail(LAB_E_CANCELLED, "stopped")
                      : lab_bench_recorded(lab, climb_and_trace);
}

/* Rows that were under way wait again. */
static void come_to_rest(struct climbing *w, enum lab_status st)
{
    struct lab_bench_screen *s = w->s;
    struct lab_bench_data *data = &s->data;
    struct lab_bench_set *set = &data->sets[w->set];
    for (int64_t i = 0; i < data->row_count; i++)
        if (data->rows[i].state == LAB_BENCH_TIMING ||
            data->rows[i].state == LAB_BENCH_CHECKING)
            data->rows[i].state = LAB_BENCH_WAITING;
    data->problem_set = w->set;
    data->problem[0] = '\0';
    if (st == LAB_E_CANCELLED && data->done < data->total)
        snprintf(data->problem, sizeof(data->problem),
                 "stopped after %lld of %lld rows", (long long)data->done,
                 (long long)data->total);
    else if (st == LAB_E_CANCELLED)
        snprintf(data->problem, sizeof(data->problem),
                 "stopped after all %lld rows, before all of their kernels",
                 (long long)data->total);
    else if (st)
        snprintf(data->problem, sizeof(data->problem), "%s", lab_error());
    int n = put_repeats(set, w->lab->repeats);
    if (w->lab->run)
        snprintf(set->note + n, sizeof(set->note) - (size_t)n,
                 ", recorded as run %lld", (long long)w->lab->run);
    count(s);
    data->running = -1;
    data->doing[0] = '\0';
    changed(s);
}

/* A lab that was left may still be in its last call, and two at once would
 * disturb each other's times. False: stopped while waiting. */
static bool take_turn(struct climbing *w)
{
    const struct timespec moment = {.tv_nsec = 10000000};
    bool mine = pthread_mutex_trylock(&turn) == 0;
    if (!mine)
        show_doing(w->s, "waiting for the lab before, which is stopping");
    while (!mine && !stopped(w)) {
        nanosleep(&moment, NULL);
        mine = pthread_mutex_trylock(&turn) == 0;
    }
    return mine;
}

static void run_set(struct lab_bench_screen *s, int set)
{
    struct climbing w = {.s = s, .lab = s->labs[set], .set = set};
    enum lab_status st = lab_fail(LAB_E_CANCELLED, "stopped");
    w.lab->run = 0;
    if (take_turn(&w)) {
        st = climb(&w);
        pthread_mutex_unlock(&turn);
    }
    pthread_mutex_lock(&s->lock);
    come_to_rest(&w, st);
    pthread_mutex_unlock(&s->lock);
}

/* A variant that a screen walks; what its checks find is shown. */
static void run_into(struct lab_bench_screen *s, int set,
                     const struct lab_variant *variant, int size)
{
    struct climbing w = {.s = s, .lab = s->labs[set], .set = set};
    enum lab_status st = lab_fail(LAB_E_CANCELLED, "stopped");
    if (take_turn(&w)) {
        st = lab_bench_launch(w.lab, variant, size);
        pthread_mutex_unlock(&turn);
    }
    pthread_mutex_lock(&s->lock);
    s->data.problem_set = set;
    snprintf(s->data.problem, sizeof(s->data.problem), "%s",
             st && st != LAB_E_CANCELLED ? lab_error() : "");
    s->data.running = -1;
    s->data.doing[0] = '\0';
    changed(s);
    pthread_mutex_unlock(&s->lock);
}

/* ---- a lab that is a command: this program as a process of its own, so that
 * what it prints is not written over the screen ---- */

extern char **environ;

enum { MOMENT_MS = 50 };
static const int64_t PATIENCE_NS = 5000000000;

static void add_output(struct lab_bench_screen *s, const char *bytes, size_t n)
{
    pthread_mutex_lock(&s->lock);
    if (!s->output_full && s->data.output.len + n <= MOST_OUTPUT) {
        lab_str_add_bytes(&s->data.output, bytes, n);
        changed(s);
    } else if (!s->output_full) {
        s->output_full = true;
        lab_str_addf(&s->data.output,
                     "\n... the rest is left out: `%s` prints it\n",
                     s->data.command);
        changed(s);
    }
    pthread_mutex_unlock(&s->lock);
}

/* The environment with COLUMNS; NULL: no memory. The strings stay where they are. */
static char **environment(char *columns)
{
    size_t n = 0;
    size_t k = 0;
    while (environ[n])
        n++;
    char **out = lab_alloc_array(n + 2, sizeof(*out));
    for (size_t i = 0; i < n && out; i++)
        if (strncmp(environ[i], "COLUMNS=", 8) != 0)
            out[k++] = environ[i];
    if (out)
        out[k] = columns;
    return out;
}

static int spawn(const char *const command[COMMAND_WORDS], int to, char **env,
                 pid_t *pid)
{
    const char *words[COMMAND_WORDS + 1] = {"lapenna-lab"};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none;
    for (int i = 0; command[i]; i++)
        words[i + 1] = command[i];
    int wrong = posix_spawn_file_actions_init(&files);
    if (wrong)
        return wrong;
    wrong = posix_spawnattr_init(&how);
    if (wrong) {
        posix_spawn_file_actions_destroy(&files);
        return wrong;
    }
    sigemptyset(&none);
    wrong =
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    for (int fd = 1; fd <= 2 && !wrong; fd++)
        wrong = posix_spawn_file_actions_adddup2(&files, to, fd);
    if (!wrong)
        wrong = posix_spawnattr_setsigmask(&how, &none);
    if (!wrong)
        wrong = posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
    if (!wrong)
        wrong = posix_spawn(pid, "/proc/self/exe", &files, &how,
                            (char **)(uintptr_t)words, env);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return wrong;
}

/* True: it was stopped; one that does not end by itself then is killed. */
static bool read_all(struct lab_bench_screen *s, int from, pid_t pid)
{
    char chunk[4096];
    struct pollfd p = {.fd = from, .events = POLLIN};
    int64_t stopped = 0; /* when */
    for (;;) {
        int ready = poll(&p, 1, MOMENT_MS);
        if (!stopped && atomic_load(&s->stop)) {
            stopped = lab_clock_monotonic_ns();
            kill(pid, SIGTERM);
        } else if (stopped &&
                   lab_clock_monotonic_ns() - stopped > PATIENCE_NS) {
            kill(pid, SIGKILL);
            return true;
        }
        if (ready == 0 || (ready < 0 && errno == EINTR))
            continue;
        ssize_t n = read(from, chunk, sizeof(chunk));
        if (n > 0)
            add_output(s, chunk, (size_t)n);
        else if (n == 0 || errno != EINTR)
            return stopped != 0;
    }
}

/* Until it has ended: *code is its exit status, 128 and the signal's number where one
 * ended it. LAB_E_CANCELLED: stopped. LAB_E_IO: it cannot be started. */
static enum lab_status run_words(struct lab_bench_screen *s,
                                 const char *const words[COMMAND_WORDS],
                                 int *code)
{
    char columns[32];
    int ends[2];
    int state = 0;
    pid_t pid = -1;
    snprintf(columns, sizeof(columns), "COLUMNS=%d", OUTPUT_COLUMNS);
    char **env = environment(columns);
    if (!env)
        return lab_no_memory("a lab's output");
    if (pipe2(ends, O_CLOEXEC)) {
        lab_free(env);
        return lab_fail(LAB_E_IO, "[screen.lab-pipe] cannot make a pipe: %s",
                        strerror(errno));
    }
    int wrong = spawn(words, ends[1], env, &pid);
    lab_free(env);
    close(ends[1]);
    bool stopped = !wrong && read_all(s, ends[0], pid);
    close(ends[0]);
    if (wrong)
        return lab_fail(LAB_E_IO, "[screen.lab-start] cannot start %s: %s",
                        "the lab's command", strerror(wrong));
    while (waitpid(pid, &state, 0) < 0 && errno == EINTR)
        ;
    *code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    return stopped ? lab_fail(LAB_E_CANCELLED, "stopped") : LAB_OK;
}

/* Sweeps of a network, the calls of a convolution, candidates of a tuning. */
static bool has_picture(const struct lab_lesson_lab *lab)
{
    return lab->measures == LAB_MEASURE_CALLS ||
           lab->measures == LAB_MEASURE_TUNE ||
           lab->measures >= LAB_MEASURE_BATCH;
}

/* The candidates of both runs, as a ladder's variants. */
static void read_tuning(const struct lab_bench_screen *s,
                        struct lab_bench_data *out)
{
    struct lab_bench *bare = lab_alloc(sizeof(*bare));
    if (!bare)
        return;
    bare->lesson = s->lesson;
    bare->options = &s->options[0];
    if (!lab_ladder_find(s->lesson->lab.ladder, &bare->ladder)) {
        out->unit = bare->ladder->unit;
        out->item = bare->ladder->item;
        out->arithmetic = bare->ladder->arithmetic;
        out->error_is = bare->ladder->error_is;
        (void)lab_bench_model_earlier(out, bare);
        for (int i = 0; i < out->set_count; i++)
            out->sets[i].runs = true;
        (void)lab_bench_model_recorded(out, bare);
    }
    lab_free(bare);
}

/* The newest run of this machine, and the recorded one. What cannot be read is left
 * out: the command reports why. */
static void read_picture(const struct lab_bench_screen *s,
                         struct lab_bench_data *out)
{
    const struct lab_lesson_lab *lab = &s->lesson->lab;
    const char *sweep = lab_measure_name(lab->measures);
    bool calls = lab->measures == LAB_MEASURE_CALLS;
    bool all = !calls && strcmp(lab->of, "all") == 0;
    const char *lesson = calls ? s->lesson->id : all ? NULL : lab->of;
    struct lab_str path;
    lab_str_init(&path);
    if (!lab_bench_db_path(&s->options[0], &path))
        (void)lab_bench_model_sweep(out, sweep, lesson, lab_str_text(&path),
                                    false);
    lab_str_release(&path);
    (void)lab_bench_model_sweep(out, sweep, lesson, NULL, true);
}

/* Its rows, in the place of those that are shown. Files are read without the lock. */
static void show_picture(struct lab_bench_screen *s)
{
    struct lab_bench_data read;
    if (!has_picture(&s->lesson->lab))
        return;
    lab_bench_data_init(&read);
    if (s->lesson->lab.measures == LAB_MEASURE_TUNE)
        read_tuning(s, &read);
    else
        read_picture(s, &read);
    pthread_mutex_lock(&s->lock);
    struct lab_bench_data old = s->data;
    s->data.sizes = read.sizes;
    s->data.size_count = read.size_count;
    s->data.rows = read.rows;
    s->data.row_count = read.row_count;
    memcpy(s->data.sets, read.sets, sizeof(read.sets));
    s->data.set_count = read.set_count;
    s->data.unit = read.unit;
    s->data.item = read.item;
    s->data.arithmetic = read.arithmetic;
    s->data.error_is = read.error_is;
    s->data.size_name = read.size_name;
    s->data.by_size = read.by_size;
    s->data.far_apart = read.far_apart;
    changed(s);
    pthread_mutex_unlock(&s->lock);
    read.sizes = old.sizes;
    read.rows = old.rows;
    lab_bench_data_release(&read);
}

static void run_command(struct lab_bench_screen *s)
{
    const char *words[COMMAND_WORDS];
    command_words(s, command_db(s), words);
    int code = 0;
    enum lab_status st = run_words(s, words, &code);
    struct lab_kept_error why;
    lab_error_keep(&why);
    show_picture(s);
    (void)lab_error_again(st, &why);
    pthread_mutex_lock(&s->lock);
    s->data.running = -1;
    s->data.doing[0] = '\0';
    snprintf(s->data.problem, sizeof(s->data.problem), "%s",
             st ? lab_error() : "");
    if (!st && code == LAB_EXIT_MACHINE && s->data.output.len > 0)
        snprintf(s->data.problem, sizeof(s->data.problem),
                 "this machine lacks what it needs");
    else if (!st && code)
        snprintf(s->data.problem, sizeof(s->data.problem),
                 "it ended with exit status %d", code);
    changed(s);
    pthread_mutex_unlock(&s->lock);
}

static void *worker(void *user)
{
    struct lab_bench_screen *s = user;
    if (climbs(s))
        open_all(s);
    else
        show_picture(s);
    for (;;) {
        pthread_mutex_lock(&s->lock);
        while (s->want < 0 && !s->quit)
            pthread_cond_wait(&s->changed, &s->lock);
        int want = s->want;
        bool quit = s->quit;
        const struct lab_variant *variant = s->into;
        int size = s->into_size;
        s->want = -1;
        s->into = NULL;
        pthread_mutex_unlock(&s->lock);
        if (quit)
            break;
        if (s->data.command[0]) /* no other thread writes it */
            run_command(s);
        else if (variant)
            run_into(s, want, variant, size);
        else
            run_set(s, want);
    }
    for (int i = 0; i < LAB_SCREEN_LABS; i++) {
        if (s->labs[i])
            lab_bench_close(s->labs[i]);
        lab_free(s->labs[i]);
    }
    pthread_mutex_lock(&s->lock);
    s->ended = true;
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* ---- the screen's side ---- */

static int64_t version(void *user)
{
    struct lab_bench_screen *s = user;
    pthread_mutex_lock(&s->lock);
    int64_t v = s->data.version;
    pthread_mutex_unlock(&s->lock);
    return v;
}

static enum lab_status snapshot(void *user, struct lab_bench_data *out)
{
    struct lab_bench_screen *s = user;
    pthread_mutex_lock(&s->lock);
    enum lab_status st = lab_bench_data_copy(out, &s->data);
    pthread_mutex_unlock(&s->lock);
    return st;
}

/* The lab of a set, when the UI's thread may touch it. Under the lock. */
static enum lab_status take_lab(struct lab_bench_screen *s, int set,
                                struct lab_bench **out)
{
    if (s->data.running >= 0)
        return lab_fail(LAB_E_STATE,
                        "[screen.lab-runs] it is running: x stops it");
    if (set < 0 || set >= s->data.set_count || !s->data.sets[set].runs)
        return lab_fail(LAB_E_STATE,
                        "[screen.lab-recorded] these are recorded results");
    *out = s->labs[set];
    return LAB_OK;
}

static enum lab_status run(void *user, int set)
{
    struct lab_bench_screen *s = user;
    struct lab_bench *lab = NULL;
    pthread_mutex_lock(&s->lock);
    if (s->data.command[0] && s->data.running < 0) {
        s->data.running = s->want = 0;
        s->data.problem[0] = '\0';
        lab_str_clear(&s->data.output);
        s->output_full = false;
        atomic_store(&s->stop, false);
        changed(s);
        pthread_cond_signal(&s->changed);
        pthread_mutex_unlock(&s->lock);
        return LAB_OK;
    }
    enum lab_status st = take_lab(s, set, &lab);
    if (!st)
        st = lab_bench_model_plan(&s->data, set, lab);
    if (!st) {
        s->data.running = set;
        s->data.done = 0;
        s->timed = 0;
        s->data.elapsed_ns = 0;
        s->data.total = lab_bench_total(lab);
        s->data.problem[0] = '\0';
        s->want = set;
        atomic_store(&s->stop, false);
        changed(s);
        pthread_cond_signal(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return st;
}

static enum lab_status into(void *user, const struct lab_bench_result *row)
{
    struct lab_bench_screen *s = user;
    struct lab_bench *lab = NULL;
    pthread_mutex_lock(&s->lock);
    enum lab_status st = take_lab(s, row->set, &lab);
    if (!st && !lab->backend->untimed)
        st = lab_kernel_walk_possible(lab->backend->ops->name);
    for (int i = 0; !st && i < lab->n_variants; i++)
        if (strcmp(lab->variants[i]->name, row->variant) == 0 &&
            strcmp(lab_precision_name(lab->variants[i]->precision),
                   row->precision) == 0)
            s->into = lab->variants[i];
    for (int i = 0; !st && i < lab->n_sizes; i++)
        if (strcmp(lab->sizes[i].text, row->size) == 0)
            s->into_size = i;
    if (!st && s->into) {
        s->data.running = s->want = row->set;
        s->data.problem[0] = '\0';
        snprintf(s->data.doing, sizeof(s->data.doing), "inside %s at %s",
                 row->variant, row->size);
        atomic_store(&s->stop, false);
        changed(s);
        pthread_cond_signal(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return st;
}

static void stop(void *user)
{
    struct lab_bench_screen *s = user;
    atomic_store(&s->stop, true);
    pthread_mutex_lock(&s->lock);
    if (s->data.running >= 0)
        snprintf(s->data.doing, sizeof(s->data.doing),
                 "stopping after this call");
    changed(s);
    pthread_mutex_unlock(&s->lock);
}

static enum lab_status sizes(void *user, int set, const char *list)
{
    struct lab_bench_screen *s = user;
    struct lab_bench *lab = NULL;
    pthread_mutex_lock(&s->lock);
    enum lab_status st = take_lab(s, set, &lab);
    if (!st)
        st = lab_bench_take_sizes(lab, list);
    if (!st)
        st = lab_bench_model_plan(&s->data, set, lab);
    if (!st) {
        snprintf(s->data.sets[set].sizes, sizeof(s->data.sets[set].sizes), "%s",
                 list);
        lab_bench_model_beside(&s->data, lab->ladder);
        changed(s);
    }
    pthread_mutex_unlock(&s->lock);
    return st;
}

static enum lab_status predict(void *user, int set, const char *variant,
                               const char *size, const char *text)
{
    struct lab_bench_screen *s = user;
    struct lab_bench *lab = NULL;
    struct lab_prediction p;
    pthread_mutex_lock(&s->lock);
    enum lab_status st = take_lab(s, set, &lab);
    if (!st)
        st = lab_prediction_parse(s->data.unit, text, &p);
    if (!st) {
        p.variant = lab_intern_text(lab_intern(variant ? variant : "best"));
        p.size = lab_intern_text(lab_intern(size));
        st = lab_bench_predict(lab, &p);
    }
    if (!st) {
        lab_bench_model_predict(&s->data, set, lab->predictions,
                                lab->n_predictions);
        changed(s);
    }
    pthread_mutex_unlock(&s->lock);
    return st;
}

static enum lab_status source(void *user, const char *file, const char **text,
                              size_t *bytes)
{
    struct lab_bench_screen *s = user;
    if (!file[0])
        return lab_fail(LAB_E_NOTFOUND,
                        "[screen.rung-source] the source of "
                        "this variant is not known here: the CUDA "
                        "module has its table");
    lab_str_release(&s->source);
    lab_str_init(&s->source);
    enum lab_status st = lab_lesson_source(file, &s->source);
    if (st)
        return st;
    *text = lab_str_text(&s->source);
    *bytes = s->source.len;
    return LAB_OK;
}

static enum lab_status write_text(void *user, struct lab_doc *out)
{
    struct lab_bench_screen *s = user;
    return lab_lesson_doc(s->lesson, s->screen && lab_ui_is_ascii(s->screen),
                          NULL, out);
}

/* ---- life ---- */

static void fill_model(struct lab_bench_screen *s)
{
    s->model = (struct lab_bench_model){.user = s,
                                        .title = s->lesson->title,
                                        .version = version,
                                        .snapshot = snapshot,
                                        .run = run,
                                        .stop = stop,
                                        .into = into,
                                        .sizes = sizes,
                                        .predict = predict,
                                        .source = source,
                                        .write_text = write_text};
}

static enum lab_status start(struct lab_bench_screen *s,
                             const struct lab_options *o)
{
    for (int i = 0; i < LAB_SCREEN_LABS; i++)
        s->options[i] =
            (struct lab_options){.lesson = s->lesson->path,
                                 .backend = o->backend,
                                 .db = o->db,
                                 .device = o->device,
                                 .device_model = o->device_model,
                                 .given.backend = o->given.backend,
                                 .given.device_model = o->given.device_model,
                                 .budget = o->budget,
                                 .given.budget = o->given.budget,
                                 .seed = 1,
                                 .counters = o->counters,
                                 .ascii = o->ascii};
    snprintf(s->budget, sizeof(s->budget), "%lld", (long long)o->budget);
    for (int i = 0; i < LAB_SCREEN_LABS && o->given.seed; i++)
        s->options[i].seed = o->seed;
    if (lab_thread_start(&s->thread, worker, s))
        return lab_fail(LAB_E_NOMEM, "no thread for the lab");
    s->started = true;
    return LAB_OK;
}

bool lab_bench_screen_leave(struct lab_bench_screen *s,
                            struct lab_bench_screen **leaving)
{
    if (!s)
        return false;
    pthread_mutex_lock(&s->lock);
    bool running = s->data.running >= 0;
    if (running)
        count(s);
    int64_t most = s->most;
    int64_t rows = s->rows;
    s->screen = NULL;
    s->quit = true;
    atomic_store(&s->stop, true);
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    if (s->seen && most > 0)
        s->seen(s->seen_user, s->lesson->id, most, rows, most == rows);
    s->next = *leaving;
    *leaving = s;
    return running;
}

static bool has_ended(struct lab_bench_screen *s)
{
    pthread_mutex_lock(&s->lock);
    bool ended = s->ended || !s->started;
    pthread_mutex_unlock(&s->lock);
    return ended;
}

/* A kernel that runs cannot be ended, only waited for: the wait is reported, and a
 * signal ends it. */
static void report_wait(struct lab_bench_screen *leaving)
{
    const struct timespec moment = {.tv_nsec = 10000000};
    lab_signals_end_now(lab_signals_caught());
    for (int i = 0; i < 20 && leaving; i++) { /* most calls are short */
        while (leaving && has_ended(leaving))
            leaving = leaving->next;
        if (leaving)
            nanosleep(&moment, NULL);
    }
    if (leaving)
        lab_warn("waiting for the call that runs; Ctrl-C ends now");
}

static void end(struct lab_bench_screen *s)
{
    if (s->started)
        pthread_join(s->thread, NULL);
    lab_bench_data_release(&s->data);
    lab_str_release(&s->source);
    lab_lesson_free(s->lesson);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    lab_free(s);
}

void lab_bench_screen_reap(struct lab_bench_screen **leaving, bool wait)
{
    if (wait && *leaving)
        report_wait(*leaving);
    while (*leaving) {
        struct lab_bench_screen *s = *leaving;
        if (!wait && !has_ended(s)) {
            leaving = &s->next;
            continue;
        }
        *leaving = s->next;
        end(s);
    }
}

enum lab_status lab_bench_screen_open(struct lab_bench_screen **out,
                                      struct lab_ui *ui,
                                      const struct lab_options *options,
                                      const char *lesson,
                                      lab_lesson_progress_fn *seen, void *user)
{
    struct lab_bench_screen *s = lab_alloc(sizeof(*s));
    if (!s)
        return lab_no_memory("the lab");
    s->seen = seen;
    s->seen_user = user;
    s->want = -1;
    s->screen = ui;
    lab_bench_data_init(&s->data);
    lab_str_init(&s->source);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    enum lab_status st = lab_lesson_open(&s->lesson, lesson);
    if (!st)
        st = start(s, options);
    if (!st) {
        fill_model(s);
        st = lab_ui_push(ui, &lab_view_lab, &s->model);
    }
    if (st) {
        struct lab_bench_screen *failed = NULL;
        lab_bench_screen_leave(s, &failed);
        end(failed);
        return st;
    }
    *out = s;
    return LAB_OK;
}
