/* session_priv.h -- a session: session_core.c is the floor (snapshots, curves,
 * errors), session_walk.c, session_train.c and session_change.c have what each
 * command does, session.c the thread and the table of them. Everything but the part under `lock` belongs to the engine's thread. */
#pragma once
#include <pthread.h>
#include <stdatomic.h>

#include "engine/session.h"
#include "engine/walk.h"

struct lab_queued {
    struct lab_command command;
    bool stopped; /* a stop was asked for after it */
    struct lab_queued *next;
};

struct lab_owned_choice {
    char target[LAB_COMMAND_TEXT];
    char variant[LAB_COMMAND_TEXT];
};

enum { LAB_MAX_CHOICES = 64, LAB_CURVE_POINTS = 2048 };

/* A curve that halves its density when it is full. */
struct lab_curve_buffer {
    int64_t iteration[LAB_CURVE_POINTS];
    double value[LAB_CURVE_POINTS];
    int n;
    int64_t every; /* one point of so many is kept */
    int64_t seen;
    int64_t last_iteration; /* of the newest value, kept or not */
    double last_value;
};

struct lab_session {
    /* The configuration; fixed after the start. */
    struct lab_network_spec spec; /* a view: the caller owns what it names */
    struct lab_setup setup;       /* its spec, backend and data are these: */
    char backend[16];
    char *data;
    struct lab_session_hooks hooks;
    /* Runs the queued commands that may run while another one does. */
    void (*serve_quick)(struct lab_session *s);
    void (*wake)(void *user);
    void *wake_user;

    /* The engine's thread. */
    struct lab_plan *plan;
    struct lab_walk *walk;
    struct lab_owned_choice choices[LAB_MAX_CHOICES];
    int n_choices;
    struct lab_break_info breaks[LAB_MAX_BREAKS];
    int n_breaks;
    int next_break;
    bool passing; /* the lesson's own stops are passed */
    bool showing;
    struct lab_show show;
    bool explaining;
    struct lab_element element;
    struct lab_check_result *checks;
    int n_checks;
    struct lab_neighbours near;
    int64_t check_done;
    int64_t check_of;
    enum lab_session_state state;
    char stop_reason[LAB_SESSION_TEXT];
    char error[LAB_SESSION_TEXT];
    enum lab_status error_code;
    char notice[LAB_SESSION_TEXT];
    int64_t train_target;
    int64_t train_done;
    int64_t train_start_ns;
    int64_t last_publish_ns;
    struct lab_curve_buffer losses;
    struct lab_curve_buffer accuracies;
    struct lab_curve_buffer held; /* validation loss */
    double accuracy;
    struct lab_curve_buffer bits;
    double bits_per_char;
    double bits_order3; /* NaN: not known */
    bool bits_counted;  /* it was tried */
    struct lab_str sample;
    int64_t sample_iteration;
    int64_t samples; /* drawn since the start */
    bool sampling;
    double exact;
    char decoded[LAB_SESSION_TEXT];
    int64_t finished;     /* short commands that no snapshot shows yet */
    double *iteration_ms; /* of the last iterations, a ring */
    int64_t n_iteration_ms;

    /* Shared; under `lock`. */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a command came, or all are done */
    pthread_t thread;
    int64_t pending; /* short commands posted and not in `latest` */
    struct lab_queued *first;
    struct lab_queued *last;
    bool busy;
    atomic_bool quit;
    atomic_bool cancel;
    struct lab_snapshot latest;
    atomic_llong version;
};

enum { LAB_TIMES_KEPT = 512 };

/* session_core.c */
void lab_session_begin_run(struct lab_session *s); /* for the observers */
void lab_session_publish(struct lab_session *s);
/* Puts a failure where the snapshot shows it. */
void lab_session_fail(struct lab_session *s, enum lab_status st);
void lab_curve_add(struct lab_curve_buffer *c, int64_t iteration, double value);

/* session_walk.c */
enum lab_status lab_session_add_break(struct lab_session *s,
                                      const struct lab_break_info *b);
/* Reason to stop after the loss of an iteration at speed; NULL: none. */
const struct lab_break_info *lab_session_loss_break(struct lab_session *s);
void lab_session_move(struct lab_session *s, const struct lab_command *c);
void lab_session_back(struct lab_session *s, const struct lab_command *c);
void lab_session_break(struct lab_session *s, const struct lab_command *c);
void lab_session_delete(struct lab_session *s, const struct lab_command *c);
void lab_session_show(struct lab_session *s, const struct lab_command *c);
void lab_session_explain(struct lab_session *s, const struct lab_command *c);
void lab_session_near(struct lab_session *s, const struct lab_command *c);

/* session_change.c */
enum lab_status lab_session_apply_choices(struct lab_session *s);
void lab_session_choose(struct lab_session *s, const struct lab_command *c);
void lab_session_count(struct lab_session *s, const struct lab_command *c);
void lab_session_trace(struct lab_session *s, const struct lab_command *c);
void lab_session_check(struct lab_session *s, const struct lab_command *c);
void lab_session_restart(struct lab_session *s, const struct lab_command *c);

/* session_train.c */
void lab_session_train(struct lab_session *s, const struct lab_command *c);
void lab_session_sample(struct lab_session *s, const struct lab_command *c);

/* plane_labels.c: fills the labels of a plane that holds its values; without
 * memory there are none. */
void lab_plane_label(struct lab_walk *walk, struct lab_plane *p);
