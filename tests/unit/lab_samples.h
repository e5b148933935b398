/* lab_samples.h -- a lab's run as the program records it, for tests. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "store/writer.h"

enum { SAMPLE_REPEATS = 12 };

struct sample_variant {
    const char *name;
    const char *precision;
    const char *size;
    int64_t time_ns; /* of a repeat, which jitters by up to 8 ns */
};

/* A run of the lab "lab-gemm", whose steps are named after their size alone.
 * `traced`: each variant is launched once more, and has a kernel. Every kernel is
 * called gemm. */
enum lab_status sample_lab(const char *path,
                           const struct sample_variant *variants, int n,
                           bool traced, int64_t *run);
