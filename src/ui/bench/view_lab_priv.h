/* view_lab_priv.h -- the lab's screen: its state, for view_lab.c and its test.
 * Threads: the UI's. */
#pragma once
#include "ui/lab_chart.h"
#include "bench/model.h"
#include "ui/layout.h"
#include "ui/pager.h"
#include "ui/screen.h"
#include "ui/table.h"

/* What a narrow screen has below the table. */
enum lab_bench_lower {
    LAB_LOWER_BARS,
    LAB_LOWER_RATES,
    LAB_LOWER_KERNEL,
    LAB_LOWER_PROFILE,
    LAB_LOWER_SLIDE,
    LAB_LOWERS
};

struct lab_bench_layout {
    bool wide; /* table, pictures and source side by side */
    struct lab_rect facts;
    struct lab_rect table;
    struct lab_rect words; /* of the chosen variant */
    struct lab_rect lower; /* narrow: one of enum lab_bench_lower */
    struct lab_rect bars;  /* wide */
    struct lab_rect rates;
    struct lab_rect slide;
    struct lab_rect profile;
    struct lab_rect kernel;
};

struct lab_bench_state {
    const struct lab_bench_model *model;
    struct lab_bench_data lab; /* the newest copy */
    int set;
    int size; /* an index of lab.sizes; -1: none */
    int64_t *shown;
    struct lab_table table;
    struct lab_table_ops ops; /* with `columns` */
    struct lab_table_column columns[LAB_TABLE_COLUMNS];
    enum lab_bench_lower lower;
    bool wide;    /* as it was drawn last: every view is on the screen */
    bool log;     /* the bars; the rates are the other way round */
    bool follow;  /* the size that is being measured */
    bool reading; /* the lesson's text instead of the lab, or where as it was */
    bool beside;  /* drawn last it had room for both: beside the table */
    bool drawn;   /* of a command with rows: the picture, not words (narrow) */
    struct lab_rect bars_at; /* as they were drawn last; w 0: they were not */
    struct lab_rect rates_at;
    int scrolling; /* the pane that moves; 0: the table, of a command the words */
    struct lab_doc text;
    struct lab_pager text_pager;
    struct lab_doc output; /* of a lab that is a command */
    struct lab_pager output_pager;
    struct lab_doc kernel;
    struct lab_pager kernel_pager;
    char kernel_of[96]; /* the file in it */
    char kernel_variant[32];
    char kernel_problem[LAB_BENCH_TEXT];
    struct lab_doc slides; /* the course's figures */
    struct lab_pager slide_pager;
    char slides_of[LAB_BENCH_NAME]; /* the size of the first ones */
};

LAB_C_BEGIN
/* `tall`: what is below a narrow screen's table takes rows of it. `lanes`: rows
 * below the bars (lab_bench_lanes_rows()). */
struct lab_bench_layout lab_bench_layout(struct lab_rect body, int variants,
                                         int slides, bool tall, int lanes);

/* The kernel of a variant in its file, the function of this symbol, else the one
 * that is named most like the variant: the line, from 1. `symbol` may be NULL. `name`
 * gets the function's name, "" where the file has none. */
int64_t lab_bench_kernel_find(const char *text, size_t bytes,
                              const char *symbol, const char *variant,
                              char *name, size_t cap);
LAB_C_END
