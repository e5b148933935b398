/* npy.h -- a file of NumPy's, read whole. */
#pragma once
#include <stdint.h>
#include "base/status.h"

struct sim_npy {
    char kind; /* 'f', 'i', 'u', 'b' */
    int bytes; /* of an element */
    int64_t count;
    void *data; /* row-major, of this machine's byte order; owned */
};

/* LAB_E_IO; LAB_E_PARSE: no .npy file, or one of other elements or order. */
enum lab_status sim_npy_read(const char *path, struct sim_npy *out);
/* Element i as a double. */
double sim_npy_at(const struct sim_npy *n, int64_t i);
void sim_npy_release(struct sim_npy *n);
