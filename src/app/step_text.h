/* step_text.h -- steps as lines of text, for pipes and screen readers. */
#pragma once
#include <stdio.h>
#include "work.h"

/* Title, machine, network: what is about to be walked. */
enum lab_status lab_step_text_run(struct lab_work *w, FILE *out);
/* Step `index`, which has just run: its name, formula, time, and what it
 * wrote, with the first element explained. */
enum lab_status lab_step_text(struct lab_work *w, int index, FILE *out);
enum lab_status lab_step_text_end(struct lab_work *w, FILE *out);
