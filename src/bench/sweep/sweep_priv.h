/* sweep_priv.h -- a sweep while it runs, for sweep_cmd.c and sweep_kinds.c. */
#pragma once
#include "bench/sweep.h"

enum { LAB_SWEEP_ROWS = 512 };

struct lab_sweep_kept {
    struct lab_sweep_row row; /* its texts are the lesson's, or below */
    struct lab_sweep_result result;
    char lesson[64]; /* of a recorded row, and `name` */
    char name[16];
};

struct lab_sweep {
    const struct lab_bench_options *options;
    enum lab_sweep_kind kind;
    const char *lesson_id; /* NULL: several lessons */
    const char *backends[2];
    int n_backends;
    int64_t sizes[LAB_BENCH_SIZES];
    int n_sizes;
    struct lab_sweep_kept rows[LAB_SWEEP_ROWS];
    int n_rows;
    int measured;
    bool tried_to_record;
    struct lab_writer *writer;
    struct lab_database *db;
    int64_t run;
    bool recorded; /* the rows are of a run elsewhere, `run` */
};

/* A row of what was measured; x, name and share are the kind's. */
struct lab_sweep_row lab_sweep_row_of(const char *lesson, const char *backend,
                                      const struct lab_sweep_result *r);
/* Stores the row, tells it where lines are JSON, and keeps it. */
enum lab_status lab_sweep_take(struct lab_sweep *s, struct lab_sweep_row *row,
                               const struct lab_sweep_result *r);

/* sweep_kinds.c: the rows of one lesson, and all rows as a table and a chart. */
enum lab_status lab_sweep_lesson(struct lab_sweep *s,
                                 const struct lab_lesson *lesson);
enum lab_status lab_sweep_print(const struct lab_sweep *s);
