/* options.h -- the options of all commands, their values, and how they are read.
 * options.def is the table. Threads: one. */
#pragma once
#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/str.h"
#include "debug/config.h"
#include "engine/setup.h"

enum { LAB_MAX_OPTION_CHOICES = 32, LAB_MAX_OPTION_TEXTS = 64 };

/* The commands that options belong to, a bit each of a uint64_t. */
enum lab_for {
    LAB_FOR_LESSON = 1 << 0,
    LAB_FOR_STEP = 1 << 1,
    LAB_FOR_RUN = 1 << 2,
    LAB_FOR_SCREEN = 1 << 3, /* the home screen, LESSON, both with --plain */
    LAB_FOR_DOCTOR = 1 << 4,
    LAB_FOR_WALKS = LAB_FOR_STEP | LAB_FOR_RUN | LAB_FOR_SCREEN,
    /* Each knows the options of the others, to refuse them by name. */
    LAB_FOR_SHARED = LAB_FOR_WALKS | LAB_FOR_DOCTOR,

    LAB_FOR_LAB = 1 << 5, /* before it is known what is measured */
    LAB_FOR_LADDER = 1 << 6,
    LAB_FOR_TUNE = 1 << 7,
    LAB_FOR_SIZED = 1 << 8,       /* batch-size, network-size */
    LAB_FOR_PARTS = 1 << 9,       /* products, backward */
    LAB_FOR_CALLS = 1 << 10,      /* a lesson about cuDNN's */
    LAB_FOR_ONE_KERNEL = 1 << 11, /* hello, scalar_add */
    LAB_FOR_VECTORS = 1 << 12,
    LAB_FOR_INDEX = 1 << 13,
    LAB_FOR_LIST = 1 << 14, /* lab --list */
    LAB_FOR_MEASURED =
        LAB_FOR_LADDER | LAB_FOR_TUNE | LAB_FOR_SIZED | LAB_FOR_PARTS,
    LAB_FOR_LAUNCHED = LAB_FOR_ONE_KERNEL | LAB_FOR_VECTORS | LAB_FOR_INDEX,
    LAB_FOR_PLACED = LAB_FOR_MEASURED | LAB_FOR_LAUNCHED,
    LAB_FOR_LABS = LAB_FOR_PLACED | LAB_FOR_CALLS | LAB_FOR_LIST,
    LAB_FOR_GFLOPS = 1 << 15, /* lab gflops */
    LAB_FOR_LAB_CALLS = 1 << 16,
    LAB_FOR_OFFSETS = 1 << 17,
    LAB_FOR_DEMOS = LAB_FOR_GFLOPS | LAB_FOR_LAB_CALLS | LAB_FOR_OFFSETS,

    LAB_FOR_PROFILE = 1 << 18, /* before a command of it is known */
    LAB_FOR_RUNS = 1 << 19,    /* profile list */
    LAB_FOR_SHOW = 1 << 20,
    LAB_FOR_KERNELS = 1 << 21,
    LAB_FOR_TIMELINE = 1 << 22,
    LAB_FOR_COMPARE = 1 << 23,
    LAB_FOR_ROOFLINE = 1 << 24,
    LAB_FOR_EXPORT = 1 << 25,
    LAB_FOR_CEILINGS = 1 << 26,
    LAB_FOR_BASELINE = 1 << 27,
    LAB_FOR_IMPORT = 1 << 28, /* and merge */
    LAB_FOR_DELETE = 1 << 29, /* and vacuum */
    LAB_FOR_SIM = 1 << 30,
    LAB_FOR_READERS = LAB_FOR_RUNS | LAB_FOR_SHOW | LAB_FOR_KERNELS |
                      LAB_FOR_TIMELINE | LAB_FOR_COMPARE | LAB_FOR_ROOFLINE |
                      LAB_FOR_EXPORT,
    LAB_FOR_PROFILES = LAB_FOR_PROFILE | LAB_FOR_READERS | LAB_FOR_CEILINGS |
                       LAB_FOR_BASELINE | LAB_FOR_IMPORT | LAB_FOR_DELETE
};
/* More than an enumerator can be. */
#define LAB_FOR_TABLE (UINT64_C(1) << 32)
#define LAB_FOR_COURSE (UINT64_C(1) << 33)
#define LAB_FOR_CONFIG (UINT64_C(1) << 34)
#define LAB_FOR_LAYERS (UINT64_C(1) << 35)    /* lab layers */
#define LAB_FOR_INFERENCE (UINT64_C(1) << 36) /* lab inference */
#define LAB_FOR_MIXING (UINT64_C(1) << 37)    /* lab mixing */
#define LAB_FOR_NETWORKS (LAB_FOR_LAYERS | LAB_FOR_INFERENCE | LAB_FOR_MIXING)
/* Print lines of text without styles: --plain and --color are taken, so that one
 * command line serves all commands, and change nothing. */
#define LAB_FOR_TEXT                                                           \
    (LAB_FOR_STEP | LAB_FOR_RUN | LAB_FOR_DOCTOR | LAB_FOR_LAB |               \
     LAB_FOR_LABS | LAB_FOR_DEMOS | LAB_FOR_NETWORKS | LAB_FOR_SIM |           \
     LAB_FOR_TABLE | LAB_FOR_COURSE | LAB_FOR_CONFIG)

/* What an option's value is. Text is not checked here. */
enum lab_option_kind {
    LAB_KIND_FLAG,      /* no value */
    LAB_KIND_TEXT,      /* any text; Tab offers .values */
    LAB_KIND_WORD,      /* one of .values, checked by the command */
    LAB_KIND_CHOICE,    /* one of .values, two or three */
    LAB_KIND_FILE,      /* Tab completes files */
    LAB_KIND_DIRECTORY, /* and directories */
    LAB_KIND_NUMBER,    /* int64_t from .least to .most, 0: no bound */
    LAB_KIND_INT,       /* the same as int */
    LAB_KIND_SEED,      /* uint64_t */
    LAB_KIND_REAL,      /* double from .least to .most */
    LAB_KIND_RATE,      /* double: a learning rate */
    LAB_KIND_SHARE,     /* double: 5% or 0.05 */
    LAB_KIND_TEXTS,     /* texts, repeatable */
    LAB_KIND_VARIANTS   /* NODE=VARIANT, repeatable */
};

struct lab_option {
    const char *name; /* without dashes; NULL: a help of the option before it */
    enum lab_option_kind kind;
    size_t field; /* offsets in struct lab_options */
    size_t given;
    const char *values; /* separated by spaces; NULL: none */
    const char *man;
    bool setting; /* the configuration file may have a default of it */
    /* A setting: what holds where nothing sets it, in words; NULL: the value that
     * lab_options_init() gives. */
    const char *without;
    bool trains; /* nothing but a training does it: the refusal states that */
    int64_t least;
    int64_t most;
    /* of a help; least and most, too, where they are other ones */
    uint64_t commands;
    int group;
    const char *arg;
    const char *help;     /* NULL: taken, and not shown */
    const char *needs;    /* another option that has to be given with it */
    uint64_t needing;     /* to these commands; 0: to all */
    const char *not_with; /* others, separated by spaces, that exclude it */
};

#define LAB_FIELD_FLAG(f) bool f;
#define LAB_FIELD_TEXT(f) const char *f;
#define LAB_FIELD_WORD(f) const char *f;
#define LAB_FIELD_CHOICE(f) const char *f;
#define LAB_FIELD_FILE(f) const char *f;
#define LAB_FIELD_DIRECTORY(f) const char *f;
#define LAB_FIELD_NUMBER(f) int64_t f;
#define LAB_FIELD_INT(f) int f;
#define LAB_FIELD_SEED(f) uint64_t f;
#define LAB_FIELD_REAL(f) double f;
#define LAB_FIELD_RATE(f) double f;
#define LAB_FIELD_SHARE(f) double f;
#define LAB_FIELD_TEXTS(f)                                                     \
    const char *f[LAB_MAX_OPTION_TEXTS];                                       \
    int n_##f;
#define LAB_FIELD_VARIANTS(f)                                                  \
    struct lab_variant_choice f[LAB_MAX_OPTION_CHOICES];                       \
    int n_##f;

/* What was not given is zero or NULL, but what lab_options_init() sets. The
 * texts are those of the command line. */
struct lab_options {
#define LAB_OPTION(field, name, kind, ...) LAB_FIELD_##kind(field)
#define LAB_HELP(...)
#include "debug/options.def"
    struct {
#define LAB_OPTION(field, ...) bool field;
#define LAB_HELP(...)
#include "debug/options.def"
    } given; /* which options were written, or come from the configuration */
    struct {
#define LAB_OPTION(field, ...) bool field;
#define LAB_HELP(...)
#include "debug/options.def"
    } configured;        /* of these, which come from it */
    const char *command; /* of lesson and profile */
    const char *lesson; /* id or path, of lab also a ladder; NULL: none given */
    char **words;       /* the words that are no options, after `command` */
    int n_words;
    bool no_trace;      /* --trace off: CUPTI stays away */
    bool trace_kernels; /* --trace kernels: and copies, no calls */
    bool trace_asked;   /* --trace was written, and not off */
    bool walks_once;    /* step: too little to measure variants for */
    /* lab: its words, and what the lesson has */
    unsigned precisions;      /* 1 << enum lab_precision for each; 0: all */
    bool tune;                /* measure candidates, keep the fastest */
    int sweep;                /* enum lab_sweep_kind; LAB_SWEEP_KINDS: none */
    const char *lesson_sizes; /* of a sweep, or NULL */
    const char *lesson_cpu_sizes;
};

LAB_C_BEGIN
void lab_options_init(struct lab_options *o);

struct lab_command_line {
    const char *name; /* "lapenna-lab run" */
    uint64_t
        commands;   /* the options of these are taken, and --help shows them */
    uint64_t knows; /* of these, too, are known: refused, with what uses them */
    const char *args;
    const char *doc; /* argp's */
    /* After the last word: reads o->words. NULL: one LESSON. */
    void (*check)(struct lab_options *o, struct argp_state *state);
};

/* Reads a command's arguments. On wrong usage prints what is wrong and exits
 * with LAB_EXIT_USAGE, without memory with LAB_EXIT_MACHINE. Messages and
 * --help name the command as people have to type it (base/command.h), and show
 * control characters of the words. The words that are no options come to the
 * front of `argv`, and stay in use. --ascii holds from now on (report/print.h).
 * Not while another one runs. */
void lab_options_parse(struct lab_options *o, int argc, char **argv,
                       const struct lab_command_line *line);

/* Wrong usage, in a check(): prints what is wrong and exits. The format begins
 * with an id (base/error.h). */
void lab_usage_error(struct argp_state *state, const char *fmt, ...)
    LAB_PRINTF(2, 3);

/* The table; after the last row one without a name and without commands. */
extern const struct lab_option lab_option_rows[];
/* The help of an option for the first of the commands that has one; NULL. */
const struct lab_option *lab_option_help(const struct lab_option *option,
                                         uint64_t commands);
/* The option that --help of the commands shows after `at`, or the first after
 * NULL; NULL after the last. */
const struct lab_option *lab_option_next(const struct lab_option *at,
                                         uint64_t commands);
/* "--db, --json": what the commands take. */
void lab_options_list(struct lab_str *out, uint64_t commands);
/* All settings of the configuration file are options that may be set there, with
 * values that they take, and but variants are set once; names that `known` accepts
 * are left to others, `other` (of 0, 1, ...; NULL after the last) proposes them.
 * LAB_E_PARSE with file and line. */
enum lab_status
lab_options_check_config(bool (*known)(const char *name),
                         const char *(*other)(int i, const char **value));
/* The value of an option as text; "": none. Up to `cap` bytes. */
const char *lab_option_text(const struct lab_options *o,
                            const struct lab_option *option, char *out,
                            size_t cap);
/* The name of an option that was written and is none of the commands; NULL. */
const char *lab_options_foreign(const struct lab_options *o, uint64_t commands);
/* --device-model was written, and the backend is not the simulator. */
enum lab_status lab_options_check_model(const struct lab_options *o);
/* Is the word after this one its value? --name=value is one word; a name may be
 * short of its end, as for argp. */
bool lab_options_takes_next(const char *word, uint64_t commands);

/* A whole number from 0, where the caller reports what is wrong. */
bool lab_arg_is_number(const char *text, int64_t *out);
LAB_C_END
