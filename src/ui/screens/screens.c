/* screens.c -- the program on a terminal: the home screen and everything opened
 * from it. */
#include "ui/models.h"
#include "ui/screens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "report/exit.h"
#include "ui/doctor.h"
#include "lesson/catalog.h"
#include "lesson/lesson.h"
#include "screens/lab_screen.h"
#include "screens/lesson_screen.h"
#include "screens/gpu_detect.h"
#include "screens/runs_model.h"
#include "debug/progress.h"
#include "base/signals.h"
#include "trace/record.h"
#include "ui/views.h"
#include "debug/walkthrough.h"
#include "base/mem.h"
#include "report/fact_machine.h"
#include "store/database.h"

/* ---- the tables of facts, read once and kept in the database ---- */

struct tables_source {
    struct lab_tables_model model;
    const char *db; /* NULL: the usual one; must outlive this */
    struct lab_fact_table **tables;
    int count;
};

/* One more table into the list, which takes a copy: it is read anew. */
static enum lab_status take(void *user, struct lab_fact_table *t)
{
    struct tables_source *s = user;
    struct lab_fact_table *copy = NULL;
    struct lab_str note;
    size_t room = (size_t)s->count;
    lab_str_init(&note);
    enum lab_status st = lab_grow(&s->tables, (size_t)s->count, &room,
                                  sizeof(*s->tables), "the tables");
    if (!st)
        st = lab_fact_read(&copy, t->path);
    if (!st)
        st = lab_fact_add_machine(copy, s->db, &note);
    lab_str_release(&note);
    if (st) {
        lab_fact_free(copy);
        return st;
    }
    s->tables[s->count++] = copy;
    return LAB_OK;
}

/* They are shown where there is no database to keep them in, too. */
static void keep(const struct tables_source *s)
{
    struct lab_str usual;
    struct lab_database *db = NULL;
    lab_str_init(&usual);
    enum lab_status st = s->db ? LAB_OK : lab_database_default_path(&usual);
    if (!st)
        st = lab_database_open(&db, s->db ? s->db : lab_str_text(&usual), NULL);
    for (int i = 0; !st && i < s->count; i++)
        st = lab_fact_store(db, s->tables[i]);
    lab_database_close(db);
    lab_str_release(&usual);
}

static void tables_release(struct tables_source *s)
{
    for (int i = 0; i < s->count; i++)
        lab_fact_free(s->tables[i]);
    lab_free(s->tables);
    s->tables = NULL;
    s->count = 0;
}

static enum lab_status
tables_load(void *user, struct lab_fact_table *const **tables, int *count)
{
    struct tables_source *s = user;
    if (!s->tables) {
        enum lab_status st = lab_fact_all(take, s);
        if (st) {
            tables_release(s);
            return st;
        }
        keep(s);
    }
    *tables = s->tables;
    *count = s->count;
    return LAB_OK;
}

static enum lab_status tables_open(void *user, const char *name,
                                   struct lab_fact_table **out,
                                   struct lab_str *note)
{
    const struct tables_source *s = user;
    struct lab_fact_table *t = NULL;
    enum lab_status st = lab_fact_find(&t, name);
    if (!st)
        st = lab_fact_add_machine(t, s->db, note);
    if (st) {
        lab_fact_free(t);
        return st;
    }
    *out = t;
    return LAB_OK;
}

static void tables_init(struct tables_source *s, const char *db)
{
    *s = (struct tables_source){.db = db};
    s->model = (struct lab_tables_model){s, tables_load, tables_open};
}

enum { LAST_RUNS = 8 };

struct screens {
    const struct lab_options *options;
    struct lab_gpu_state machine;
    struct lab_catalog *catalog;
    struct lab_home_model home;
    struct lab_runs_source *runs;
    struct lab_runs_source *recorded; /* NULL: none ship */
    struct tables_source tables;
    struct lab_progress progress;
    char busy[LAB_SESSION_TEXT + 80]; /* what is in the background */
    enum lab_background background;   /* as last seen */
    struct lab_lesson_screen *open;   /* the lesson that is on the screen ... */
    struct lab_bench_screen *lab;     /* ... or the lab */
    struct lab_bench_screen
        *leaving; /* labs that were left, and are stopping */
    struct lab_ui *ui;
    int signal;           /* that ended the program, 0: none */
    struct lab_str notes; /* for standard error, afterwards */
};

/* ---- progress ---- */

static void seen(void *user, const char *lesson, int64_t steps_seen,
                 int64_t steps_total, bool finished)
{
    struct screens *s = user;
    (void)lab_seen_note(&s->progress, lesson, steps_seen, steps_total,
                        finished);
}

static void load_progress(struct screens *s)
{
    char path[LAB_PROGRESS_PATH_BYTES];
    if (lab_progress_path(path, sizeof(path)) ||
        lab_progress_load(&s->progress, path))
        lab_str_addf(&s->notes, "progress is not kept: %s\n", lab_error());
}

static void save_progress(struct screens *s)
{
    if (s->progress.path[0] && lab_progress_save(&s->progress))
        lab_str_addf(&s->notes, "progress is not kept: %s\n", lab_error());
}

/* ---- home ---- */

/* Not what trains in the background, or has stopped there at something to look
 * at, unless the program `ends`. */
static void close_lesson(struct screens *s, bool ends)
{
    lab_bench_screen_reap(&s->leaving, false);
    s->background =
        lab_lesson_screen_background(s->open, s->busy, sizeof(s->busy));
    if (!ends && (s->background == LAB_BACKGROUND_RUNS ||
                  s->background == LAB_BACKGROUND_STOPPED))
        return;
    if (!s->open && !s->lab)
        return;
    lab_lesson_screen_close(s->open, &s->notes);
    if (lab_bench_screen_leave(s->lab, &s->leaving) && s->ui)
        lab_ui_message(s->ui, LAB_ROLE_DIM,
                       "the lab stops as soon as the call that runs has ended");
    s->open = NULL;
    s->lab = NULL;
    save_progress(s);
}

static enum lab_status refresh(void *user, struct lab_home_model *home)
{
    struct screens *s = user;
    bool had_stopped = home->stopped;
    close_lesson(s, false);
    home->waiting = s->leaving || s->open;
    home->busy = s->open ? s->busy : NULL;
    home->stopped = s->background == LAB_BACKGROUND_STOPPED;
    if (s->background == LAB_BACKGROUND_DONE)
        lab_ui_message(s->ui, LAB_ROLE_GOOD,
                       "the training in the background is done");
    else if (home->stopped && !had_stopped)
        lab_ui_message(s->ui, LAB_ROLE_WARN, "%s", s->busy);
    lab_ui_badge(s->ui, s->machine.badge);
    home->runs_unread = lab_runs_source_last(s->runs, LAST_RUNS, &home->runs,
                                             &home->run_count) != LAB_OK;
    if (home->runs_unread) {
        home->run_count = 0; /* the lessons work without the runs */
        lab_ui_error(s->ui);
    }
    return LAB_OK;
}

/* Whether a lesson (id or path) is a lab. One that cannot be read is none. */
static bool is_lab(const char *name)
{
    struct lab_lesson *lesson = NULL;
    if (lab_lesson_open(&lesson, name))
        return false;
    bool is = lesson->kind == LAB_LESSON_LAB;
    lab_lesson_free(lesson);
    return is;
}

static enum lab_status open_by_kind(struct screens *s, const char *name,
                                    bool home)
{
    if (is_lab(name))
        return lab_bench_screen_open(&s->lab, s->ui, s->options, name, seen, s);
    return lab_lesson_screen_open(&s->open, s->ui, s->options, name, home, seen,
                                  s);
}

static enum lab_status open_lesson(void *user, struct lab_ui *ui,
                                   const char *id)
{
    struct screens *s = user;
    (void)ui;
    close_lesson(s, false);
    if (s->open && lab_lesson_screen_is(s->open, id))
        return lab_lesson_screen_again(s->open, s->ui);
    if (s->background == LAB_BACKGROUND_STOPPED)
        return lab_fail(LAB_E_STATE,
                        "a training stopped in the background: go back to it "
                        "and leave it first");
    if (s->open)
        return lab_fail(LAB_E_STATE,
                        "a training runs in the background: go back to it and "
                        "stop it, or wait until it is done");
    return open_by_kind(s, id, true);
}

static void write_line(void *user, const struct lab_finding_line *f)
{
    struct lab_doc *out = user;
    static const enum lab_role roles[] = {LAB_ROLE_GOOD, LAB_ROLE_BAD,
                                          LAB_ROLE_WARN};
    enum { STATE_X = 19, DETAIL_X = 28 };
    lab_doc_para(out, 0, DETAIL_X, true);
    lab_doc_addf(out, LAB_ROLE_HEADING, "%-*s", STATE_X, f->name);
    lab_doc_addf(out, roles[f->state], "%-*s", DETAIL_X - STATE_X,
                 lab_doctor_state_text[f->state]);
    lab_doc_add(out, LAB_ROLE_NORMAL, f->detail);
    if (!f->remedy)
        return;
    lab_doc_para(out, DETAIL_X, DETAIL_X, true);
    lab_doc_addf(out, LAB_ROLE_NORMAL, "remedy: %s", f->remedy);
}

static enum lab_status write_doctor(void *user, struct lab_doc *out)
{
    const struct screens *s = user;
    struct lab_doctor doctor = {write_line, out, true};
    lab_doctor_examine(&doctor, s->options->db);
    return LAB_OK;
}

static enum lab_status start_home(struct screens *s)
{
    enum lab_status st = lab_catalog_load(&s->catalog, NULL);
    if (st)
        return st;
    s->home =
        (struct lab_home_model){.user = s,
                                .machine = s->machine.line,
                                .note = s->progress.note,
                                .catalog = s->catalog,
                                .progress = &s->progress,
                                .start = LAB_DEFAULT_LESSON,
                                .refresh = refresh,
                                .open_lesson = open_lesson,
                                .write_doctor = write_doctor,
                                .all_runs = lab_runs_source_model(s->runs)};
    tables_init(&s->tables, s->options->db);
    s->home.tables = &s->tables.model;
    if (lab_runs_source_recorded(&s->recorded) == LAB_OK)
        s->home.recorded = lab_runs_source_model(s->recorded);
    return lab_ui_push(s->ui, &lab_view_home, &s->home);
}

/* ---- all ---- */

static enum lab_status open_ui(struct screens *s)
{
    const struct lab_options *o = s->options;
    struct lab_ui_settings settings;
    enum lab_status st = lab_options_check_config(lab_ui_setting_known);
    if (!st)
        st = lab_ui_settings_read(&settings);
    if (st)
        return st;
    struct lab_ui_options options = {
        .settings = &settings,
        .terminal = {.color = o->color,
                     .theme = settings.theme,
                     .ascii = o->ascii,
                     .mouse = !o->no_mouse,
                     .graphics = o->graphics ? o->graphics : "auto"},
        .script = getenv("LAPENNA_LAB_SCRIPT"),
        .replay = o->replay,
        .record = o->record,
        .cast = o->cast,
        .picture = o->picture,
        .badge = s->machine.badge};
    return lab_ui_new(&s->ui, &options);
}

static enum lab_status start(struct screens *s)
{
    /* Before the terminal's own and after them, while all is closed. */
    lab_signals_catch();
    enum lab_status st = lab_runs_source_new(&s->runs, s->options->db);
    if (!st)
        st = open_ui(s);
    if (!st && s->options->lesson)
        st = open_by_kind(s, s->options->lesson, false);
    else if (!st)
        st = start_home(s);
    return st;
}

static void finish(struct screens *s)
{
    lab_lesson_screen_detach_ui(s->open);
    bool lab = s->lab != NULL;
    lab_bench_screen_leave(s->lab, &s->leaving);
    s->lab = NULL;
    lab_ui_free(s->ui); /* the terminal is the shell's again */
    s->ui = NULL;
    if (s->signal)
        lab_signals_end_now(s->signal);
    close_lesson(s, true);
    if (lab)
        save_progress(s);
    lab_bench_screen_reap(&s->leaving, true);
    lab_runs_source_free(s->runs);
    lab_runs_source_free(s->recorded);
    tables_release(&s->tables);
    lab_catalog_free(s->catalog);
    lab_progress_release(&s->progress);
    if (s->notes.len)
        lab_warn_lines(lab_str_text(&s->notes));
    lab_str_release(&s->notes);
}

int lab_open_screens(const struct lab_options *o)
{
    struct screens s = {.options = o};
    lab_str_init(&s.notes);
    lab_gpu_detect(&s.machine, o->backend);
    load_progress(&s);
    enum lab_status st = start(&s);
    if (!st && !lab_signals_caught()) {
        st = lab_ui_run(s.ui);
        s.signal = lab_ui_signal(s.ui);
    }
    /* The error's text must outlive the clean-up. */
    struct lab_kept_error why;
    lab_error_keep(&why);
    finish(&s);
    if (!s.signal)
        s.signal = lab_signals_caught();
    if (st && !s.signal)
        lab_error_again(st, &why);
    return s.signal ? LAB_EXIT_SIGNAL + s.signal : lab_exit_error(st);
}
