/* plain_priv.h -- what plain.c, plain_do.c, plain_print.c, plain_tensor.c and
 * plain_list.c share. One thread: the one that reads the commands. */
#pragma once
#include "engine/session.h"
#include "debug/options.h"
#include "debug/lesson_text.h"
#include "debug/recording.h"
#include "debug/command.h"

struct lab_plain {
    const struct lab_options *options;
    struct lab_lesson *lesson;
    struct lab_network_spec spec;
    struct lab_recording *recording;
    struct lab_session *session;
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

/* plain.c: posts the command and waits for its end; then p->snap is new. The
 * status is the command's own. While it runs, INT cancels it, and training
 * tells how far it is. */
enum lab_status lab_plain_run(struct lab_plain *p, const struct lab_command *c);

/* plain_do.c: one line of input. What goes wrong is said; the session lives. */
void lab_plain_line(struct lab_plain *p, const char *line);
void lab_plain_do(struct lab_plain *p, const struct lab_ui_command *c);

/* plain_print.c */
void lab_plain_print_start(struct lab_plain *p);
/* What ran since the last call, why it stopped, what comes next with its text
 * in the lesson. */
void lab_plain_print_move(struct lab_plain *p);
/* Nothing that ran so far is shown any more: after going back. */
void lab_plain_forget_moves(struct lab_plain *p);
void lab_plain_print_where(struct lab_plain *p);
/* What was withdrawn or left out; false: nothing. */
bool lab_plain_print_notes(const struct lab_plain *p);
void lab_plain_print_progress(struct lab_plain *p,
                              const struct lab_snapshot *snap);
void lab_plain_print_trained(struct lab_plain *p);

/* plain_tensor.c */
enum lab_status lab_plain_tensor(struct lab_plain *p, const char *name,
                                 int *out);
enum lab_status lab_plain_print_tensor(struct lab_plain *p,
                                       const struct lab_ui_command *c);
enum lab_status lab_plain_explain(struct lab_plain *p,
                                  const struct lab_ui_command *c);
/* Shape and figures of a whole tensor. */
enum lab_status lab_plain_print_stats(struct lab_plain *p, int tensor);

/* plain_list.c */
enum lab_status lab_plain_list(struct lab_plain *p, const char *what);
enum lab_status lab_plain_help(const char *word);
enum lab_status lab_plain_print_checks(struct lab_plain *p);

/* plain_counters.c: what was counted, for every kernel of this iteration. */
void lab_plain_print_counters(struct lab_plain *p);
