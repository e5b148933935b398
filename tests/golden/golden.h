/* golden/golden.h -- reads tests/golden/<case>.txt: tensors that were computed
 * in float64 elsewhere and checked three ways. A file that does not read fails
 * with its line; a test must not pass because its numbers were not there. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"

enum { GOLDEN_MAX_RANK = 6 };

struct golden_tensor {
    char name[32];
    char role[16]; /* input, upstream, forward, grad, state, update ... */
    bool is_int;   /* class labels, ids */
    int rank;
    int64_t dim[GOLDEN_MAX_RANK];
    int64_t count;
    double *data; /* count numbers, row-major */
};

struct golden_scalar {
    char name[32];
    double value;
};

struct golden {
    char name[64];
    char family[16];
    struct golden_tensor *tensors;
    int n_tensors;
    struct golden_scalar *scalars;
    int n_scalars;
};

/* Reads the case `name`; on success free *out with golden_free(). */
enum lab_status golden_load(const char *name, struct golden **out);
/* Reads one file; golden_load() with the path spelled out. */
enum lab_status golden_load_file(const char *path, struct golden **out);
void golden_free(struct golden *g); /* NULL allowed */

/* The tensor of that name, or NULL. Belongs to `g`. */
const struct golden_tensor *golden_tensor(const struct golden *g,
                                          const char *name);
/* NaN when there is no such scalar. */
double golden_scalar(const struct golden *g, const char *name);
