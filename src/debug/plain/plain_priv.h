/* plain_priv.h -- the stepper as text. One thread: the one that reads the
 * commands. */
#pragma once
#include "engine/session.h"
#include "debug/debugger.h"
#include "debug/lesson_run.h"
#include "debug/lesson_text.h"

struct lab_plain {
    struct lab_lesson_run run;
    struct lab_snapshot snap; /* after the last command */
    struct lab_reader reader;
    struct lab_ui_command last; /* what an empty line repeats */
    bool interactive;           /* standard input is a terminal */
    int64_t last_exec;          /* executions that have been shown */
    int64_t trained_to;         /* iteration up to which progress was told */
    int64_t progress_ns;        /* when, of the monotonic clock */
    int64_t walked; /* most steps of an iteration that were walked */
    bool trained;   /* as long as the lesson asks for */
    bool leaving;
    int signal;   /* that ends the session, 0: none */
    bool opening; /* the session starts: INT ends the program, too */
};

/* plain_print.c asks the session and prints; plain.c reads the commands. */

/* Posts the command and waits for its end; then p->snap is new. The status is
 * the command's own. While it runs, INT cancels it, and training prints its
 * progress. */
enum lab_status lab_plain_run(struct lab_plain *p, const struct lab_command *c);
/* Waits for what runs. A signal cancels it; any but INT ends the program, too. */
void lab_plain_wait(struct lab_plain *p, bool training);

void lab_plain_print_start(struct lab_plain *p);
/* What ran since the last call, why it stopped, what comes next with its text
 * in the lesson. */
void lab_plain_print_move(struct lab_plain *p);
/* Nothing that ran so far is shown any more: after going back. */
void lab_plain_forget_moves(struct lab_plain *p);
void lab_plain_print_where(struct lab_plain *p);
void lab_plain_print_progress(struct lab_plain *p,
                              const struct lab_snapshot *snap);
void lab_plain_print_trained(struct lab_plain *p);

enum lab_status lab_plain_print_tensor(struct lab_plain *p,
                                       const struct lab_ui_command *c);
enum lab_status lab_plain_explain(struct lab_plain *p,
                                  const struct lab_ui_command *c);

enum lab_status lab_plain_list(struct lab_plain *p, const char *what);
enum lab_status lab_plain_help(const char *word);
enum lab_status lab_plain_print_checks(struct lab_plain *p);

/* What was counted, for every kernel of this iteration. */
void lab_plain_print_counters(struct lab_plain *p);
