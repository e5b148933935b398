/* ui/views.h -- the screens of this module, for lab_ui_push(). */
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
extern const struct lab_screen_ops lab_view_lab;      /* lab_bench_model * */
extern const struct lab_screen_ops lab_view_source;   /* lab_source_args * */
extern const struct lab_screen_ops lab_view_text;     /* lab_text_args * */
