/* The thread that measures for a lab's screen. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "report/suggest.h"
#include "bench/lab_first.h"
#include "lab_screen_priv.h"
#include "lesson/catalog.h"
#include "lesson/lesson.h"
#include "ui/ui.h"

/* ---- opening ---- */

static struct lab_bench *open_lab(struct lab_bench_screen *s, int i,
                                  const char *backend)
{
    struct lab_bench *lab = lab_alloc(sizeof(*lab));
    struct lab_bench_options *o = &s->options[i];
    if (!lab) {
        lab_fail(LAB_E_NOMEM, "no memory for a lab");
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

static enum lab_status add_set(struct lab_ui_lab *ui, struct lab_bench *lab,
                               struct lab_bench **labs)
{
    struct lab_device_info info;
    bool gpu = !lab->backend->host_memory;
    lab_backend_info(lab->backend, &info);
    int set = lab_bench_model_add_set(ui, gpu ? "GPU" : "CPU", info.name);
    struct lab_ui_lab_set *to = &ui->sets[set];
    labs[set] = lab;
    to->runs = true;
    snprintf(to->badge, sizeof(to->badge), "%s", gpu ? to->device : "CPU");
    snprintf(to->note, sizeof(to->note), "%d repeats each", lab->repeats);
    write_sizes(lab, to->sizes, sizeof(to->sizes));
    return lab_bench_model_plan(ui, set, lab);
}

/* The recorded results need no backend, only the ladder. */
static void add_recorded(struct lab_ui_lab *ui, struct lab_lesson *lesson)
{
    struct lab_bench *bare = lab_alloc(sizeof(*bare));
    if (!bare)
        return;
    bare->lesson = lesson;
    if (!lab_ladder_find(lesson->lab.ladder, &bare->ladder)) {
        lab_bench_model_recorded(ui, bare);
        lab_bench_model_slides(ui, bare);
        lab_bench_model_beside(ui, bare->ladder);
    }
    lab_free(bare);
}

/* What measures it in the shell. The convolutions of cuDNN, call by call, are
 * not recorded. */
static struct lab_str shell_command(const struct lab_bench_screen *s)
{
    const struct lab_lesson *lesson = s->lesson;
    struct lab_str path;
    if (lesson->lab.measures == LAB_MEASURE_CALLS)
        return lab_suggest_command_text(NULL, LAB_WORDS("lab", "calls"));
    lab_str_init(&path);
    bool found = !lab_lesson_find(lesson->id, &path) &&
                 strcmp(lab_str_text(&path), lesson->path) == 0;
    lab_str_release(&path);
    return lab_suggest_command_text(
        s->options[0].db, LAB_WORDS("lab", found ? lesson->id : lesson->path));
}

/* Tuning and sweeps of a network have tables of their own in the shell. */
static bool climbs(struct lab_bench_screen *s)
{
    const struct lab_lesson_lab *lab = &s->lesson->lab;
    bool first = lab->ladder && lab_first_is(lab->ladder);
    if (lab->measures == LAB_MEASURE_LADDER && !first)
        return true;
    struct lab_str command = shell_command(s);
    pthread_mutex_lock(&s->lock);
    snprintf(s->ui.command, sizeof(s->ui.command), "%s",
             lab_str_text(&command));
    lab_bench_screen_changed(s);
    pthread_mutex_unlock(&s->lock);
    lab_str_release(&command);
    return false;
}

/* What was opened, in the place of the empty tables. */
static void show(struct lab_bench_screen *s, struct lab_ui_lab *filled,
                 struct lab_bench *const *labs)
{
    pthread_mutex_lock(&s->lock);
    filled->version = s->ui.version;
    lab_ui_lab_release(&s->ui);
    s->ui = *filled;
    memcpy(s->labs, labs, sizeof(s->labs));
    lab_bench_screen_changed(s);
    pthread_mutex_unlock(&s->lock);
}

/* The tables are filled in a copy: recorded runs are read from a file, and the
 * screen, which takes the lock for each key, would wait for it. Until there is
 * a set nobody else changes them. */
static void fill(struct lab_bench_screen *s, struct lab_bench *const *found,
                 const char *why)
{
    struct lab_bench *labs[LAB_SCREEN_LABS] = {NULL, NULL};
    struct lab_ui_lab ui;
    lab_ui_lab_init(&ui);
    for (int i = 0; i < LAB_SCREEN_LABS; i++) {
        if (found[i] && add_set(&ui, found[i], labs)) {
            ui.problem_set = ui.set_count - 1;
            snprintf(ui.problem, sizeof(ui.problem), "%s", lab_error());
        }
    }
    add_recorded(&ui, s->lesson);
    if (!found[0] && !found[1])
        snprintf(ui.problem, sizeof(ui.problem), "%s", why);
    show(s, &ui, labs);
}

/* The GPU first, where there is one and nobody asked for the CPU alone. */
static void open_all(struct lab_bench_screen *s)
{
    static const char *const backends[LAB_SCREEN_LABS] = {"cuda", "cpu"};
    const char *asked = s->options[0].backend;
    struct lab_bench *found[LAB_SCREEN_LABS] = {NULL, NULL};
    char why[LAB_UI_LAB_TEXT] = "";
    for (int i = 0; i < LAB_SCREEN_LABS; i++) {
        if (strcmp(asked, "auto") != 0 && strcmp(asked, backends[i]) != 0)
            continue;
        found[i] = open_lab(s, i, backends[i]);
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

static int size_index(const struct lab_ui_lab *ui, int set, const char *text)
{
    for (int i = 0; i < ui->size_count; i++)
        if (ui->sizes[i].set == set && strcmp(ui->sizes[i].text, text) == 0)
            return i;
    return -1;
}

static void doing(void *user, const struct lab_rung *rung,
                  const struct lab_ladder_size *size)
{
    struct climbing *w = user;
    struct lab_ui_lab *ui = &w->s->ui;
    const char *precision = lab_precision_name(rung->precision);
    pthread_mutex_lock(&w->s->lock);
    for (int64_t i = 0; i < ui->row_count; i++)
        if (ui->rows[i].set == w->set &&
            ui->rows[i].state == LAB_UI_LAB_CHECKING)
            ui->rows[i].state = LAB_UI_LAB_WAITING;
    lab_bench_model_state(ui, w->set, rung->name, precision,
                          size ? size->text : NULL,
                          size ? LAB_UI_LAB_TIMING : LAB_UI_LAB_CHECKING);
    if (size) {
        ui->at_size = size_index(ui, w->set, size->text);
        snprintf(ui->doing, sizeof(ui->doing), "timing %s at %s, %s",
                 rung->name, size->text, precision);
    } else {
        snprintf(ui->doing, sizeof(ui->doing),
                 "checking %s, %s, against double", rung->name, precision);
    }
    lab_bench_screen_changed(w->s);
    pthread_mutex_unlock(&w->s->lock);
}

static enum lab_status take_row(void *user, const struct lab_ladder_row *row)
{
    struct climbing *w = user;
    lab_bench_record_row(w->lab, row);
    if (!row->status && lab_bench_trace_later(w->lab, row))
        return LAB_E_NOMEM;
    w->lab->place++;
    pthread_mutex_lock(&w->s->lock);
    lab_bench_model_row(&w->s->ui, w->set, w->lab, row);
    lab_bench_model_beside(&w->s->ui, w->lab->ladder);
    w->s->ui.done++;
    w->s->timed += !row->status;
    w->s->ui.elapsed_ns = lab_clock_monotonic_ns() - w->start_ns;
    lab_bench_screen_changed(w->s);
    pthread_mutex_unlock(&w->s->lock);
    return LAB_OK;
}

static void take_kernel(void *user, const struct lab_timed_row *row,
                        const struct lab_kernel_record *kernel,
                        const struct lab_counters *counters)
{
    struct climbing *w = user;
    pthread_mutex_lock(&w->s->lock);
    lab_bench_model_kernel(&w->s->ui, w->set, w->lab, row, kernel, counters);
    lab_bench_screen_changed(w->s);
    pthread_mutex_unlock(&w->s->lock);
}

static const struct lab_rung *stands(void *user, const struct lab_rung *tuned,
                                     const struct lab_ladder_size *size,
                                     struct lab_rung_note *note)
{
    struct climbing *w = user;
    return lab_bench_resolve_tuned(w->lab, tuned, size, note);
}

static bool stopped(void *user)
{
    struct climbing *w = user;
    return atomic_load(&w->s->stop);
}

static void say_doing(struct lab_bench_screen *s, const char *text)
{
    pthread_mutex_lock(&s->lock);
    snprintf(s->ui.doing, sizeof(s->ui.doing), "%s", text);
    lab_bench_screen_changed(s);
    pthread_mutex_unlock(&s->lock);
}

static void measure(struct climbing *w)
{
    unsigned precisions = 0;
    if (w->s->measured[w->set])
        return;
    say_doing(w->s, "measuring what the machine can do at best");
    for (int i = 0; i < w->lab->n_rungs; i++)
        precisions |= 1u << w->lab->rungs[i]->precision;
    lab_ladder_measure(w->lab->backend, precisions, &w->lab->machine);
    w->s->measured[w->set] = true;
}

static enum lab_status climb(struct climbing *w)
{
    struct lab_bench *lab = w->lab;
    struct lab_ladder_run c = {.backend = lab->backend,
                               .ladder = lab->ladder,
                               .machine = &lab->machine,
                               .rungs = lab->rungs,
                               .n_rungs = lab->n_rungs,
                               .sizes = lab->sizes,
                               .n_sizes = lab->n_sizes,
                               .repeats = lab->repeats,
                               .seed = lab->options->seed,
                               .stands = stands,
                               .row = take_row,
                               .stop = stopped,
                               .doing = doing,
                               .user = w};
    measure(w);
    pthread_mutex_lock(&w->s->lock);
    lab_bench_model_ceilings(&w->s->ui, w->set, lab);
    pthread_mutex_unlock(&w->s->lock);
    lab->place = 0;
    lab->timed = 0;
    lab->traced = take_kernel;
    lab->traced_user = w;
    lab->stop = stopped;
    lab->stop_user = w;
    enum lab_status st =
        stopped(w) ? lab_fail(LAB_E_CANCELLED, "stopped") : LAB_OK;
    if (!st)
        st = lab_bench_record_begin(lab);
    if (st)
        return st;
    w->start_ns = lab_clock_monotonic_ns();
    st = lab_ladder_run(&c);
    if (!st) {
        say_doing(w->s, "looking at the kernels");
        st = lab_bench_trace(lab);
    }
    char why[LAB_LADDER_TEXT];
    snprintf(why, sizeof(why), "%s", lab_error());
    lab_bench_record_end(lab, st);
    return st ? lab_fail(st, "%s", why) : LAB_OK;
}

/* Rows that were under way wait again. */
static void come_to_rest(struct climbing *w, enum lab_status st)
{
    struct lab_bench_screen *s = w->s;
    struct lab_ui_lab *ui = &s->ui;
    struct lab_ui_lab_set *set = &ui->sets[w->set];
    for (int64_t i = 0; i < ui->row_count; i++)
        if (ui->rows[i].state == LAB_UI_LAB_TIMING ||
            ui->rows[i].state == LAB_UI_LAB_CHECKING)
            ui->rows[i].state = LAB_UI_LAB_WAITING;
    ui->problem_set = w->set;
    ui->problem[0] = '\0';
    if (st == LAB_E_CANCELLED && ui->done < ui->total)
        snprintf(ui->problem, sizeof(ui->problem),
                 "stopped after %lld of %lld rows", (long long)ui->done,
                 (long long)ui->total);
    else if (st == LAB_E_CANCELLED)
        snprintf(ui->problem, sizeof(ui->problem),
                 "stopped after all %lld rows, before all of their kernels",
                 (long long)ui->total);
    else if (st)
        snprintf(ui->problem, sizeof(ui->problem), "%s", lab_error());
    int n = snprintf(set->note, sizeof(set->note), "%d repeats each",
                     w->lab->repeats);
    if (w->lab->run)
        snprintf(set->note + n, sizeof(set->note) - (size_t)n,
                 ", recorded as run %lld", (long long)w->lab->run);
    lab_bench_screen_count(s);
    ui->running = -1;
    ui->at_size = -1;
    ui->doing[0] = '\0';
    lab_bench_screen_changed(s);
}

/* A lab that was left may still be in its last call, and two at once would
 * disturb each other's times. False: stopped while waiting. */
static bool take_turn(struct climbing *w)
{
    const struct timespec moment = {.tv_nsec = 10000000};
    bool mine = pthread_mutex_trylock(&turn) == 0;
    if (!mine)
        say_doing(w->s, "waiting for the lab before, which is stopping");
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

void *lab_bench_worker(void *user)
{
    struct lab_bench_screen *s = user;
    if (climbs(s))
        open_all(s);
    for (;;) {
        pthread_mutex_lock(&s->lock);
        while (s->want < 0 && !s->quit)
            pthread_cond_wait(&s->changed, &s->lock);
        int want = s->want;
        bool quit = s->quit;
        s->want = -1;
        pthread_mutex_unlock(&s->lock);
        if (quit)
            break;
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
