/* ui/run_preview.h -- a run small, beside the list of runs: its losses, where its
 * time goes, its network; of a lab its rates. Threads: the UI's. */
#pragma once
#include "engine/snapshot.h"
#include "store/database.h"
#include "store/query.h"
#include "ui/canvas.h"

struct lab_bench_data;
struct lab_pager;

enum { LAB_PREVIEW_POINTS = 256, LAB_PREVIEW_RUNS = 3 };

struct lab_run_preview { /* zeros: nothing is known */
    int64_t run;         /* 0: of none */
    struct lab_curve loss;
    struct lab_curve held; /* of validation */
    struct lab_curve accuracy;
    bool summed; /* its times were added up: its steps are a few rows */
    struct lab_bench_data *lab; /* what it measured; NULL: it is no lab's */
};

struct lab_preview_picture {
    const struct lab_run_row *run;
    /* Of that run, then of those to compare with it. */
    const struct lab_run_preview *of[LAB_PREVIEW_RUNS];
    int count;
    const char *problem;              /* why it cannot be read; "": it was */
    const struct lab_time_sum *steps; /* with shares; NULL: not read yet */
    int64_t n_steps;
    struct lab_pager *facts;
};

LAB_C_BEGIN
/* Reads neither kernels nor steps. Errors: LAB_E_DB, LAB_E_NOTFOUND, LAB_E_NOMEM;
 * *out is released then. */
enum lab_status lab_run_preview_load(struct lab_run_preview *out,
                                     struct lab_database *db,
                                     const struct lab_run_row *run);
/* Makes it zeros. */
void lab_run_preview_release(struct lab_run_preview *p);
/* Room for `most` points; false: no memory. */
bool lab_run_preview_room(struct lab_curve *c, int most);
void lab_run_preview_draw(struct lab_canvas *c, struct lab_rect r,
                          const struct lab_preview_picture *p);
/* The losses of `of` alone, over one another, and their accuracies; whether any has some. */
void lab_run_preview_losses(struct lab_canvas *c, struct lab_rect r,
                            const struct lab_preview_picture *p);
bool lab_run_preview_has_losses(const struct lab_preview_picture *p);
LAB_C_END
