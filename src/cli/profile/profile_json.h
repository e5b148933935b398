/* profile_json.h -- rows of the database as the objects of --json; NULL when
 * memory is short, which lab_json_print() and _write() take. */
#pragma once
#include <jansson.h>
#include "store/counted.h"
#include "store/query.h"

json_t *lab_profile_run_object(const struct lab_run_row *r);
/* With what the hardware counted; without counters that is null. */
json_t *lab_profile_step_object(int64_t run, const struct lab_time_sum *r,
                                const struct lab_counted_run *counted);
json_t *lab_profile_loss_object(int64_t run, const struct lab_loss_row *r);
json_t *lab_profile_kernel_object(int64_t run, const struct lab_kernel_row *r,
                                  const struct lab_counted_run *counted);
/* Keys rung, precision and size of what is a lab's; NULL: it is not, and gets
 * none. */
void lab_profile_add_rung(json_t *o, const struct lab_bench_name *rung);
/* What a lab measured: its rungs, what was said before, what it tuned, the
 * places of a sweep; nothing for another run. `put` takes each object over. */
typedef enum lab_status lab_json_line_fn(void *user, json_t *object);
enum lab_status lab_profile_lab_lines(struct lab_database *db, int64_t run,
                                      lab_json_line_fn *put, void *user);
