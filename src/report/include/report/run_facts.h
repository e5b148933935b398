/* run_facts.h -- what is known of a run, as rows of a table with two columns, a
 * name and its value: for `profile show` and for the page of a run. Threads:
 * one. */
#pragma once
#include "report/text_table.h"
#include "store/query.h"

/* Which run: its lesson, machine and program, where it was imported from. */
void lab_run_origin(struct lab_text_table *t, const struct lab_run_row *r);
/* How it was trained, how fast, and what came of it. */
void lab_run_figures(struct lab_text_table *t, const struct lab_run_row *r);
/* How it was timed and counted, and what of it is lost. */
void lab_run_recording(struct lab_text_table *t, const struct lab_run_row *r);
