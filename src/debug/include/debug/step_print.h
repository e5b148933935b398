/* step_print.h -- what a step did: lines of text, for pipes and screen readers;
 * `step --json` (docs/design.md section 8 has the lines); `step --npy DIR`.
 *
 * NAME.npy is a tensor as the iteration left it; NAME.before.npy, of parameters
 * and optimizer state, as the iteration found it. Files are written beside
 * their name and renamed: none is there by half. */
#pragma once
#include <stdio.h>
#include "debug/lesson_run.h"

/* Title, machine, network: what is about to be walked. */
enum lab_status lab_step_text_run(struct lab_lesson_run *w, FILE *out);
/* Step `index`, which has just run: its name, formula, time, and what it
 * wrote, with the largest element explained. */
enum lab_status lab_step_text(struct lab_lesson_run *w, int index, FILE *out);
/* After the first iteration also what the course prints, beside it. */
enum lab_status lab_step_text_end(struct lab_lesson_run *w, FILE *out);

/* The parts of it, for who has no walk in hands: name, formula, time, work; the
 * kernels of an execution; a tensor's shape and figures. */
void lab_step_text_head(const struct lab_schedule_step *s, int index,
                        int64_t time_ns, FILE *out);
void lab_step_text_kernels(struct lab_live *live, int64_t exec, FILE *out);
void lab_step_text_stats(const struct lab_tensor *t,
                         const struct lab_stats *stats, FILE *out);

enum lab_status lab_step_json_run(struct lab_lesson_run *w);
/* Step `index` of the schedule, which has just run. */
enum lab_status lab_step_json(struct lab_lesson_run *w, int index);
enum lab_status lab_step_json_end(struct lab_lesson_run *w);

/* Makes DIR; LAB_E_IO when it cannot, or when DIR holds
 * something already. */
enum lab_status lab_npy_open(const char *dir);
/* The tensors of the walk with names that match one of `patterns` (fnmatch, with
 * commas between them; NULL: all).
 * `before`: the persistent ones, as NAME.before.npy. Adds to *count. */
enum lab_status lab_npy_write(struct lab_lesson_run *w, const char *dir,
                              const char *patterns, bool before,
                              int64_t *count);
