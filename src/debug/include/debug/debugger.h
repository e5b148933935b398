/* debug/debugger.h -- the debugger's model: what a typed command (command.h)
 * means in front of the session's last snapshot. The screen and --plain find
 * steps and tensors here and get the command that they post.
 *
 * Pure functions: nothing is posted. Threads: any. */
#pragma once
#include "base/str.h"
#include "debug/command.h"
#include "engine/session.h"

/* What an index names: some coordinates are given, some axes are whole. */
struct lab_tensor_part {
    int tensor;
    struct lab_shape shape;
    int64_t at[LAB_MAX_RANK]; /* whole axes: 0 */
    int whole[LAB_MAX_RANK];  /* axes, ascending */
    int n_whole;
};

/* How a network that was trained on text writes some. */
struct lab_sample_request {
    int64_t n;                     /* characters; 0: the session's own number */
    double temperature;            /* 0: always the likeliest */
    int64_t top_k;                 /* 0: all */
    char prompt[LAB_COMMAND_TEXT]; /* the text begins with it */
};

/* What a node can run as: lab_session_candidates(). */
typedef int lab_candidates_fn(void *user, int node,
                              const struct lab_schedule_step *at,
                              struct lab_candidate *out, int max);
enum { LAB_CANDIDATES = 32, LAB_CANDIDATE_NOTE = 96 };

LAB_C_BEGIN
/* What `print` and `explain` name. LAB_E_NOTFOUND, LAB_E_RANGE. */
enum lab_status lab_debugger_part(const struct lab_snapshot *snap,
                                  const struct lab_ui_command *c,
                                  struct lab_tensor_part *out);
/* The session's command for a word that moves, stops, restarts or measures.
 * `here`: the schedule index that `break` alone and `count` are about.
 * LAB_E_NOTFOUND: a name in it is none. `print`, `explain`, `sample` and the
 * words that stay on this side of the session are LAB_E_ARG. */
enum lab_status lab_debugger_command(const struct lab_snapshot *snap,
                                     const struct lab_ui_command *c, int here,
                                     struct lab_command *out);
/* A step by its name, and the phase where it is not -1: from position `from` on, else
 * from the start; a node's name: its first step. LAB_E_NOTFOUND with the nearest name,
 * or with `list`, the command that lists them. */
enum lab_status lab_debugger_find_step(const struct lab_schedule *s,
                                       const struct lab_plan *plan,
                                       const char *name, int phase, int from,
                                       const char *list, int *out);
/* The session's command that goes to the step of `into`: the next step where it
 * names none. LAB_E_UNSUPPORTED: not on this backend. LAB_E_NOTFOUND. */
enum lab_status lab_debugger_into(const struct lab_snapshot *snap,
                                  const struct lab_ui_command *c,
                                  struct lab_command *out);
/* Adds what `list` shows to `out`, a line a row; *title is what it is. `what`
 * may be shortened, "" means steps; `candidates` may be NULL. LAB_E_PARSE: there
 * is no such list. LAB_E_STATE: the lesson has none. LAB_E_NOMEM. */
enum lab_status lab_debugger_list(const struct lab_snapshot *snap,
                                  const char *what,
                                  lab_candidates_fn *candidates, void *user,
                                  const char **title, struct lab_str *out);
/* The same of what a node can run as, with measured times. LAB_E_NOTFOUND. */
enum lab_status lab_debugger_variants(const struct lab_snapshot *snap,
                                      const char *node,
                                      lab_candidates_fn *candidates, void *user,
                                      struct lab_str *out);
/* The step that a node is shown by: the schedule's step `index` where it is
 * one of the node's own op, which an update step is not, else its first; -1. */
int lab_debugger_step_of(const struct lab_snapshot *snap, int node, int index);
/* "fastest, runs now (measured)": what is known of a candidate beside
 * its time. */
const char *lab_candidate_note(const struct lab_candidate *c,
                               const struct lab_schedule_step *at,
                               char out[LAB_CANDIDATE_NOTE]);
/* "fc1 runs as blas from now on". */
const char *lab_variant_chosen_text(const char *target, const char *variant,
                                    char out[LAB_SESSION_TEXT]);
/* What `sample` leaves out stays as it was. */
void lab_sample_request_take(struct lab_sample_request *how,
                             const struct lab_ui_command *c);
struct lab_command
lab_sample_request_command(const struct lab_sample_request *how);
LAB_C_END
