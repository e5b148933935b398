/* json_sweep.h -- a row of a sweep as a JSON line, measured or recorded. */
#pragma once
#include "report/json_line.h"
#include "store/bench.h"

/* {"type":"sweep_row", ...} without its run and place; it keeps no text of
 * `row`. The caller owns it, and gives it to lab_json_print(); NULL, which that
 * takes, when memory is short. */
json_t *lab_json_sweep(const struct lab_sweep_row *row);
