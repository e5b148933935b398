/* ui/views.h -- the screens of this module, for lab_ui_push(), and the table of
 * those that a key opens. */
#pragma once
#include "ui/home_model.h"
#include "bench/model.h"
#include "ui/models.h"
#include "ui/screen.h"

extern const struct lab_screen_ops lab_view_home;     /* lab_home_model * */
extern const struct lab_screen_ops lab_view_runs;     /* lab_runs_model * */
extern const struct lab_screen_ops lab_view_run;      /* lab_run_args * */
extern const struct lab_screen_ops lab_view_compare;  /* lab_compare_args * */
extern const struct lab_screen_ops lab_view_roofline; /* lab_run_args * */
extern const struct lab_screen_ops lab_view_timeline; /* lab_run_args * */
extern const struct lab_screen_ops lab_view_flame;    /* lab_run_args * */
extern const struct lab_screen_ops lab_view_what_if;  /* lab_run_args * */
extern const struct lab_screen_ops lab_view_tables;   /* lab_tables_model * */
extern const struct lab_screen_ops lab_view_facts;    /* lab_fact_args * */
extern const struct lab_screen_ops lab_view_lab;      /* lab_bench_model * */
extern const struct lab_screen_ops lab_view_source;   /* lab_source_args * */
extern const struct lab_screen_ops lab_view_text;     /* lab_text_args * */

/* The table of the views that a key opens from each screen that has a run, a step
 * or a kernel under its cursor (lab_screen_ops.subject). A screen's keys list the
 * groups; `ops` is opened with a struct lab_run_args. */
#define LAB_VIEW(of, key, ops, name, help)                                     \
    {                                                                          \
        key, true, name, help, LAB_ACT_OWN, NULL, NULL, of, &(ops)             \
    }
#define LAB_VIEWS_OF_RUN                                                       \
    LAB_VIEW(LAB_OF_RUN, "T", lab_view_timeline, "timeline",                   \
             "what happened when"),                                            \
        LAB_VIEW(LAB_OF_RUN, "F", lab_view_flame, "flame",                     \
                 "where the time goes: nodes, steps, kernels")
#define LAB_VIEWS_OF_STEP                                                      \
    LAB_VIEW(LAB_OF_STEP, "R", lab_view_roofline, "roofline",                  \
             "what bounds each step")
#define LAB_VIEWS_OF_KERNEL                                                    \
    LAB_VIEW(                                                                  \
        LAB_OF_KERNEL, "O", lab_view_what_if, "what if",                       \
        "a kernel's occupancy with another block, registers, shared memory")
