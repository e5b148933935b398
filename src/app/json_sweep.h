/* json_sweep.h -- a row of a sweep as a JSON line, measured or recorded. */
#pragma once
#include "json_line.h"
#include "store/sweeps.h"

/* {"type":"sweep_row", ...}, for lab_json_print(). */
json_t *lab_json_sweep(const struct lab_sweep_row *row);
