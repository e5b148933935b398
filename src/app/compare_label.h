/* compare_label.h -- the names of a comparison's rows, cut to the room that a
 * line has without making two of them the same. Threads: any. */
#pragma once
#include <stddef.h>

#include "base/status.h"
#include "store/compare.h"

enum { LAB_COMPARE_LABEL = 512 };

/* What is too long keeps `head` bytes from its begin and its end, `room` with
 * the dots between them. `room` 0: nothing is cut. */
struct lab_label_cut {
    size_t room;
    size_t head;
};

/* Columns that a line may have: what COLUMNS says, else the terminal's; 0: as
 * many as it takes, for standard output is none. */
size_t lab_compare_width(void);
/* "fwd  fc1.matmul: gemm"; of a lab "wgmma bf16 4096, traced: gemm_wgmma" */
void lab_compare_label(const struct lab_time_sum *s,
                       char out[LAB_COMPARE_LABEL]);
/* The rows are rows[list[0..n)]. Where labels that differ would be cut to the
 * same text another place is cut, and where none helps the room grows.
 * Errors: LAB_E_NOMEM. */
enum lab_status lab_label_cut_find(struct lab_label_cut *out, size_t room,
                                   const struct lab_compare_row *rows,
                                   const size_t *list, size_t n);
/* `out` may not be `whole`. */
void lab_label_cut(const struct lab_label_cut *cut, const char *whole,
                   char out[LAB_COMPARE_LABEL]);
