/* runs_model_priv.h -- what the files of the runs screen's data share. */
#pragma once
#include "compare_model.h"
#include "roofline_model.h"
#include "runs_model.h"
#include "store/counted.h"
#include "store/time_sum.h"
#include "timeline_model.h"
#include "whatif_model.h"

/* Rows of one kind, with the texts that they point to. */
struct rows {
    void *items;
    int64_t n;
    size_t room;
    char **texts;
    int64_t n_texts;
    size_t text_room;
    bool failed;
};

struct lab_runs_source {
    struct lab_runs_model model;
    char *path;
    char *db;      /* as it was named; NULL: the usual place */
    bool recorded; /* the runs that ship with the program */
    struct rows runs;
    struct rows last;
    struct rows steps;
    struct rows kernels;
    struct lab_counted_run counted; /* while rows are read */
    struct lab_compare_model compared;
    struct lab_roofline_model roofline;
    struct lab_timeline_model timeline;
    struct lab_time_sums sums; /* of the kernels, for lab_ui_kernel_row.place */
    struct lab_whatif whatif;
    int most; /* for the query that runs now */
};

/* *db NULL: there is none yet. */
enum lab_status lab_runs_source_open(struct lab_runs_source *s, bool write,
                                     struct lab_database **db);
