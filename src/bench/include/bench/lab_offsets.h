/* lab_offsets.h -- offsets of the elements of an image tensor. Pure functions
 * but for the command. */
#pragma once
#include <stdint.h>
#include "base/status.h"

enum { LAB_OFFSET_RANK = 4 };

/* Everywhere else in the order n, c, h, w. */
struct lab_offsets {
    int64_t dim[LAB_OFFSET_RANK];
    int64_t stride[LAB_OFFSET_RANK]; /* in elements */
    int order[LAB_OFFSET_RANK];      /* by falling stride: 0 is n, 1 is c ... */
    int64_t count;
};

/* A dense tensor whose letters stand in the order of falling strides: "nchw".
 * LAB_E_USAGE: not these letters each once, a side below 1, too many. */
enum lab_status lab_offsets_of(const char *layout, const int64_t *dim,
                               struct lab_offsets *out);
/* LAB_E_USAGE: outside. */
enum lab_status lab_offsets_at(const struct lab_offsets *o, const int64_t *at,
                               int64_t *offset);
enum lab_status lab_offsets_find(const struct lab_offsets *o, int64_t offset,
                                 int64_t *at);
/* `lapenna-lab lab offsets`; argv[0] is "offsets". Returns an exit code. */
int lab_cmd_lab_offsets(int argc, char **argv);
