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

/* Names of the variants that a node can take: lab_session_variant_names(). */
typedef int lab_variant_names_fn(void *user, int node, const char **names,
                                 int max);

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
/* Adds what `list` shows to `out`, a line a row; *title is what it is. `what`
 * may be shortened, "" means steps; `names` may be NULL. LAB_E_PARSE: there is
 * no such list. LAB_E_STATE: the lesson has none. LAB_E_NOMEM. */
enum lab_status lab_debugger_list(const struct lab_snapshot *snap,
                                  const char *what, lab_variant_names_fn *names,
                                  void *user, const char **title,
                                  struct lab_str *out);
/* What `sample` leaves out stays as it was. */
void lab_sample_request_take(struct lab_sample_request *how,
                             const struct lab_ui_command *c);
struct lab_command
lab_sample_request_command(const struct lab_sample_request *how);
LAB_C_END
