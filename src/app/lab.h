/* lab.h -- the parts of the command `lab` among themselves. */
#pragma once
#include "engine/ladder.h"
#include "store/database.h"
#include "store/writer.h"

enum {
    LAB_LAB_SIZES = 64,
    LAB_LAB_RUNGS = 96,
    LAB_LAB_SAID = 32,
    LAB_LAB_UNIT = 32
};

struct lab_lab_options {
    const char *name; /* a ladder, or a lesson of kind lab */
    const char *sizes;
    const char *variants;
    unsigned precisions; /* 1 << enum lab_precision for each; 0: all */
    const char *backend; /* auto, cpu, cuda */
    const char *predict; /* "ask", or RUNG=VALUE,... */
    const char *db;
    int device;
    int repeat; /* 0: the lesson's, or the default */
    uint64_t seed;
    bool json;
    bool ascii;
};

/* What somebody expects of a rung. */
struct lab_said {
    char rung[32];
    double rate; /* in the ladder's unit */
};

/* A lab as it is going to run. Texts belong to lesson and ladder. */
struct lab_lab {
    const struct lab_lab_options *options;
    struct lab_lesson *lesson; /* NULL: only a ladder was named */
    const char *title;
    const struct lab_operation *ladder;
    char unit[LAB_LAB_UNIT]; /* FLOP/s, B/s, s/access */
    struct lab_backend *backend;
    struct lab_ladder_machine machine;
    struct lab_ladder_size sizes[LAB_LAB_SIZES];
    int n_sizes;
    const struct lab_rung *rungs[LAB_LAB_RUNGS];
    int n_rungs;
    struct lab_said said[LAB_LAB_SAID];
    int n_said;
    int repeats;
    struct lab_ladder_row rows[LAB_LAB_RUNGS]; /* of the size at hand */
    int n_rows;
    int64_t place; /* rows so far */
    int64_t timed;
    struct lab_writer *writer; /* NULL: not recorded */
    struct lab_database *db;
    int64_t run;
    int64_t exec;
};

/* A person's unit: "GFLOP/s", "GB/s", "ns/access"; its parts in one. */
void lab_lab_shown_unit(const struct lab_lab *lab, char *out, size_t size);
double lab_lab_scale(const struct lab_lab *lab);
/* What was said of a rung, in the ladder's unit; NaN: nothing. */
double lab_lab_said(const struct lab_lab *lab, const struct lab_rung *rung);

/* The precisions of the chosen rungs: "fp32, bf16"; returns `out`. */
const char *lab_lab_precisions(const struct lab_lab *lab, char *out,
                               size_t size);

/* lab_setup.c: everything that can be wrong before anything is measured. */
enum lab_status lab_lab_open(struct lab_lab *lab,
                             const struct lab_lab_options *options);
void lab_lab_close(struct lab_lab *lab);
/* Asks for predictions on the terminal. */
enum lab_status lab_lab_ask(struct lab_lab *lab);

/* lab_store.c: a run of its own, a step for each repeat, a row for each rung.
 * A database that refuses ends recording, not the lab: a line on stderr. */
enum lab_status lab_lab_record_begin(struct lab_lab *lab);
void lab_lab_record_row(struct lab_lab *lab, const struct lab_ladder_row *row);
void lab_lab_record_end(struct lab_lab *lab, enum lab_status st);

/* lab_print.c */
void lab_lab_print_head(const struct lab_lab *lab);
enum lab_status lab_lab_print_size(const struct lab_lab *lab);
enum lab_status lab_lab_json_run(const struct lab_lab *lab);
enum lab_status lab_lab_json_row(const struct lab_lab *lab,
                                 const struct lab_ladder_row *row);
