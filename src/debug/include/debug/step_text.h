/* step_text.h -- steps as lines of text, for pipes and screen readers. */
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
