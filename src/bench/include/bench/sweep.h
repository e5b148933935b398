/* bench/sweep.h -- `lab batch-size`, `network-size`, `products` and `backward`: a
 * lesson's network trained for a moment at several sizes, through the engine as
 * `run` does, and what that took. */
#pragma once
#include "bench/bench.h"

enum lab_sweep_kind {
    LAB_SWEEP_BATCH,
    LAB_SWEEP_NETWORK,
    LAB_SWEEP_PRODUCTS,
    LAB_SWEEP_BACKWARD,
    LAB_SWEEP_KINDS
};

/* NULL: `word` is no sweep. */
const char *lab_sweep_name(enum lab_sweep_kind kind);
enum lab_sweep_kind lab_sweep_find(const char *word); /* KINDS: none */
/* All of it; returns the exit code. */
int lab_sweep_run(const struct lab_bench_options *o, enum lab_sweep_kind kind);
