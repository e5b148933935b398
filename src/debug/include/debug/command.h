/* ui/command.h -- the words of the stepper, as gdb's users know them.
 *
 * A pure function from a line to a struct, shared by the screen's `:` line and
 * by the plain stepper: no curses, no engine. A word may be shortened as far
 * as it is unambiguous; s, n, c, b, p and q are what they are in gdb.
 * Names are not looked up here. Threads: any. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"

enum lab_ui_command_kind {
    LAB_COMMAND_NONE, /* an empty line */
    LAB_COMMAND_STEP, /* n times (1), into groups */
    LAB_COMMAND_NEXT, /* n times (1), over groups */
    LAB_COMMAND_FINISH,
    LAB_COMMAND_CONTINUE,
    LAB_COMMAND_INTO,    /* the kernels of the next step, or of step `arg` in
                            `phase` or any (-1) */
    LAB_COMMAND_RUN,     /* to step `arg`, in `phase` or any (-1) */
    LAB_COMMAND_BREAK,   /* see `when` */
    LAB_COMMAND_DELETE,  /* breakpoint n, or all (LAB_COMMAND_ALL) */
    LAB_COMMAND_WATCH,   /* tensor `arg` */
    LAB_COMMAND_UNWATCH, /* tensor `arg`, or "" all */
    LAB_COMMAND_PRINT,   /* tensor `arg`, element or slice `index` */
    LAB_COMMAND_EXPLAIN, /* the same, one element */
    LAB_COMMAND_BACK,    /* n times (1) */
    LAB_COMMAND_RESTART, /* from the same seed, with learning rate `value` (NaN: as
                            it is) */
    LAB_COMMAND_SEED,    /* restart with seed n */
    LAB_COMMAND_LR,   /* the learning rate is `value` from now on; NaN: which is
                            it? */
    LAB_COMMAND_SAVE, /* the network into the file `arg`; over another one where
                            `arg2` is "force" */
    LAB_COMMAND_LOAD, /* restart with the parameters in the file `arg` */
    LAB_COMMAND_EXPORT,  /* the screen as a picture into the file `arg` */
    LAB_COMMAND_THEME,   /* the screens' colours are those of theme `arg` */
    LAB_COMMAND_VARIANT, /* node `arg` takes variant `arg2` */
    LAB_COMMAND_NEAR,    /* the neighbours of the words `arg` */
    LAB_COMMAND_CHECK,   /* the gradient of parameter `arg` */
    LAB_COMMAND_COUNT,   /* counters of "step" (""), "node" or "iteration" */
    LAB_COMMAND_TRACE,   /* "off", "kernels", "on", "" its state */
    LAB_COMMAND_TRAIN,   /* n iterations, or the lesson's (ALL) */
    LAB_COMMAND_STOP,    /* the training */
    LAB_COMMAND_SAMPLE,  /* n characters (ALL), temperature `value` (NaN: not
                            given), `top_k` (0), going on from `arg` */
    LAB_COMMAND_LIST,    /* "", or what: steps, breaks, tensors ... */
    LAB_COMMAND_HELP,    /* "", or a word */
    LAB_COMMAND_QUIT,
    LAB_COMMAND_KIND_COUNT
};

enum lab_ui_break_when {
    LAB_WHEN_HERE,  /* `break` alone: at the stepper's position */
    LAB_WHEN_STEP,  /* step `arg`, in `phase` or any (-1) */
    LAB_WHEN_PHASE, /* at the start of `phase` */
    LAB_WHEN_NAN,
    LAB_WHEN_INF,
    LAB_WHEN_LOSS /* loss above `value` */
};

enum { LAB_COMMAND_INDICES = 8, LAB_COMMAND_ARG_BYTES = 128 };
#define LAB_COMMAND_ALL INT64_MIN /* no number given */
#define LAB_INDEX_ALL INT64_MIN   /* `:` in an index: the whole axis */

struct lab_ui_command {
    enum lab_ui_command_kind kind;
    char arg[LAB_COMMAND_ARG_BYTES];
    char arg2[LAB_COMMAND_ARG_BYTES];
    int64_t n;
    double value;
    int64_t top_k;
    int phase; /* enum lab_phase, or -1 */
    enum lab_ui_break_when when;
    int64_t index[LAB_COMMAND_INDICES]; /* negative ones count from the end */
    int index_count;                    /* 0: the whole tensor */
};

/* One row for help pages and completion. */
struct lab_ui_command_word {
    enum lab_ui_command_kind kind;
    const char *word;
    const char *usage; /* "break STEP [PHASE]" */
    const char *help;  /* one line */
};

LAB_C_BEGIN
/* What `lr` alone answers: the optimizer's rate, and where a schedule makes it
 * another one that of this iteration. lr NaN: nothing is updated. */
enum { LAB_COMMAND_LR_TEXT = 128 };
const char *lab_ui_command_lr_text(double lr, double rate,
                                   char out[LAB_COMMAND_LR_TEXT]);
/* What `lr X` answers; `fresh`: nothing has run yet. */
const char *lab_ui_command_lr_set_text(double lr, bool fresh,
                                       char out[LAB_COMMAND_LR_TEXT]);
/* Errors (LAB_E_PARSE): the message names the word, what was expected, and the
 * nearest word that exists. *out is untouched then. */
enum lab_status lab_ui_command_parse(const char *line,
                                     struct lab_ui_command *out);
/* The row of the command that this line would be, whatever it goes on with; NULL:
 * of none, or of several. */
const struct lab_ui_command_word *lab_ui_command_typed(const char *line);
/* The table, in the order of help; *count rows. A kind may have several. */
const struct lab_ui_command_word *lab_ui_command_words(size_t *count);
const char *lab_ui_command_name(enum lab_ui_command_kind kind);
/* Whether an empty line after it means "again", as in gdb. */
bool lab_ui_command_repeats(enum lab_ui_command_kind kind);
/* Whether a screen without commands of its own has this one: its colours, a
 * picture of it, help, the way out. */
bool lab_ui_command_everywhere(enum lab_ui_command_kind kind);
LAB_C_END
