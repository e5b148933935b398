/* engine/tensor.h -- shapes, and the tensors of a plan.
 *
 * A tensor has a name, a shape, a type and one fixed place in the plan's
 * memory; its address is the same in every iteration. Row-major, outermost
 * dimension first. Sizes are elements (int64_t) or bytes (size_t). */
#pragma once
#include "common/kernel.h"

struct lab_shape {
    int rank; /* 0: a scalar */
    int64_t dim[LAB_MAX_RANK];
};

enum lab_tensor_role {
    LAB_TENSOR_DATA,  /* x, y and other inputs */
    LAB_TENSOR_PARAM, /* fc1.W */
    LAB_TENSOR_STATE, /* fc1.W.velocity, running_mean: kept over iterations */
    LAB_TENSOR_ACTIVATION, /* fc1.out, fc1.xW, loss */
    LAB_TENSOR_GRADIENT
};

struct lab_tensor {
    char *name;
    struct lab_shape shape;
    int64_t count;
    enum lab_dtype dtype;
    enum lab_tensor_role role;
    int node;         /* index of its node in the plan, or -1 (x, y) */
    int gradient_of;  /* tensor id, or -1 */
    int64_t id_limit; /* data of ids: they run from 0 to id_limit-1; else 0 */
    int alias_of;     /* shares that tensor's memory, or -1 */
    bool slice;       /* of alias_of's elements, count of them from `first` */
    int64_t first;
    bool sliced;     /* others are slices of this one */
    bool persistent; /* param or state: in the persistent part of the arena */
    size_t offset;   /* bytes from the arena's start; a multiple of 256, but
                        for slices */
};

enum { LAB_HISTOGRAM_BINS = 32 };

/* A tensor at a glance. Of the finite elements; count - nan_count - inf_count of them. */
struct lab_stats {
    int64_t count;
    int64_t nan_count;
    int64_t inf_count;
    int64_t zero_count;
    double min; /* NaN when no element is finite */
    double max;
    double mean;
    double std;                      /* of the population: divided by n */
    int64_t bin[LAB_HISTOGRAM_BINS]; /* equal parts of min..max */
};

LAB_C_BEGIN
struct lab_shape lab_shape_make(int rank, const int64_t *dim);
/* Number of elements. LAB_E_SHAPE: a dimension below 1, or more elements than
 * an int64_t or a size_t of bytes can hold. */
enum lab_status lab_shape_count(const struct lab_shape *s, int64_t *out);
size_t lab_tensor_bytes(const struct lab_tensor *t);
/* Another name of a tensor: a step that has it as an output writes nothing for
 * it. A slice is written. */
static inline bool lab_tensor_is_alias(const struct lab_tensor *t)
{
    return t->alias_of >= 0 && !t->slice;
}
bool lab_shape_equal(const struct lab_shape *a, const struct lab_shape *b);
/* "[10,16]"; at most 128 bytes. Returns buf. */
enum { LAB_SHAPE_TEXT = 128 };
const char *lab_shape_text(const struct lab_shape *s, char buf[LAB_SHAPE_TEXT]);
/* Flat index to coordinates and back. */
void lab_shape_unravel(const struct lab_shape *s, int64_t flat,
                       int64_t at[LAB_MAX_RANK]);
/* -1 when a coordinate is outside or the rank differs. */
int64_t lab_shape_ravel(const struct lab_shape *s, const int64_t *at, int n);
void lab_stats_compute(struct lab_stats *out, const void *data,
                       enum lab_dtype dtype, int64_t count);
/* Of n values, which it sorts; NaN for none. */
double lab_median(double *values, size_t n);
LAB_C_END
