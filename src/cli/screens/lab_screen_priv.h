/* lab_screen_priv.h -- the state of a lab's screen, shared by lab_screen.c (the
 * UI's thread) and lab_worker.c (the thread that measures).
 *
 * Under `lock`: ui, want, quit, ended, screen. The labs belong to the worker while
 * ui.running is a set or nothing is opened yet, else to the UI's thread. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "bench/lab.h"
#include "bench/lab_feed.h"
#include "lab_screen.h"

enum { LAB_SCREEN_LABS = 2 };

struct lab_bench_screen {
    struct lab_lesson *lesson;
    struct lab_bench_model model;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct lab_ui_lab ui;
    struct lab_ui *screen; /* NULL: it is gone */
    int want;              /* a set that shall be run, or -1 */
    bool quit;
    bool ended; /* the thread is through, and can be joined at once */
    atomic_bool stop;
    struct lab_bench_options options[LAB_SCREEN_LABS];
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

/* Under the lock: there is something new to see. */
void lab_bench_screen_changed(struct lab_bench_screen *s);
/* Under the lock: how far the climb at hand came, for the lesson's progress.
 * One of whose rows none was timed counts for nothing. */
void lab_bench_screen_count(struct lab_bench_screen *s);
/* The thread's function; takes the struct above. */
void *lab_bench_worker(void *user);
