/* lab_fixture.h -- a lab for the screens: four variants at three sizes on a CPU,
 * which "run" stops in the middle of, and ten recorded on an H200. */
#pragma once
#include "bench/model.h"

/* As it stands before anything ran; one at a time. */
const struct lab_bench_model *fixture_lab(void);
/* What it shows now, to be released. */
enum lab_status fixture_lab_data(struct lab_bench_data *out);
/* The climb goes on to the last row, which refuses. */
void fixture_lab_finish(void);
