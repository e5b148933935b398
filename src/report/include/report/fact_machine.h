/* report/fact_machine.h -- the machine at hand in a table of facts.
 *
 * What a table takes is its key "machine":
 *   processor  a row "this machine" of the GPU, else of the CPU: each column
 *              with a name and a unit that are known here gets its value, the
 *              others stay unknown
 *   formats    the columns measured_... of each number format, by arithmetic
 * Threads: one. */
#pragma once
#include "store/fact_table.h"

extern const char lab_fact_machine_row[]; /* "this machine" */

LAB_C_BEGIN
/* The rows that the table has once lab_fact_add_machine() was there. */
int lab_fact_rows_with_machine(const struct lab_fact_table *t);
/* Adds to the table, recorded numbers too, and computes. `db`: where measured ceilings are kept, NULL:
 * the usual database. `note` gets where the numbers come from and why some are
 * missing. LAB_E_PARSE: the table asks for what is none of these. */
enum lab_status lab_fact_add_machine(struct lab_fact_table *t, const char *db,
                                     struct lab_str *note);
LAB_C_END
