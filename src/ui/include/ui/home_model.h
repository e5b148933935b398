/* ui/home_model.h -- what the home screen shows: as ui/models.h. */
#pragma once
#include "ui/models.h"

struct lab_catalog;
struct lab_lesson;
struct lab_progress;
struct lab_ui;

struct lab_home_model {
    void *user;
    const char *machine; /* one line under the title */
    const char *note;    /* a warning in the status line at the start */
    const struct lab_catalog *catalog;   /* the lessons */
    const struct lab_progress *progress; /* in them */
    const char *start; /* id: the lesson to start with; NULL: the first */
    const struct lab_run_row *runs; /* newest first, the last few */
    int64_t run_count;
    bool runs_unread; /* they could not be read: maybe there are some */
    /* A run that was left is still ending: refresh() is called again and again
     * until it is not, so that the list never shows a run as running that has
     * ended meanwhile. */
    bool waiting;
    const char *busy; /* what is in the background; NULL: nothing */
    bool stopped;     /* ... and has stopped: nothing runs */
    /* Brings the fields above up to date: at the start, and whenever the home
     * screen comes back. May be NULL. */
    enum lab_status (*refresh)(void *user, struct lab_home_model *model);
    /* Opens a lesson's screen with lab_ui_push(). */
    enum lab_status (*open_lesson)(void *user, struct lab_ui *ui,
                                   const char *id);
    enum lab_status (*write_doctor)(void *user, struct lab_doc *out);
    /* How a lesson begins: `most` lines of `columns`, or some more. May be NULL. */
    enum lab_status (*write_lesson)(void *user, const struct lab_lesson *lesson,
                                    int columns, int most, struct lab_doc *out);
    const struct lab_runs_model *all_runs; /* NULL: no store */
    /* Runs of another machine that ship with the program; NULL: none do. */
    const struct lab_runs_model *recorded;
    const struct lab_tables_model *tables; /* NULL: none */
};
