/* compare_label.h -- the names of a comparison's rows, cut to the room that a
 * line has without making two of them the same. Threads: any. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "store/compare.h"

enum { LAB_COMPARE_LABEL = 512 };

struct lab_compare_label {
    char whole[LAB_COMPARE_LABEL]; /* "fwd  fc1.matmul: gemm" */
    char text[LAB_COMPARE_LABEL];  /* the same, cut */
};

struct lab_labels {
    struct lab_compare_label *items;
    size_t count;
};

/* Its step's, node's or kernel's name, or "". */
const char *lab_compare_name(const struct lab_time_sum *s);
/* "fwd  fc1.matmul: gemm"; of a lab "wgmma bf16 4096, traced: gemm_wgmma" */
void lab_compare_label(const struct lab_time_sum *s,
                       char out[LAB_COMPARE_LABEL]);
/* Of rows[list[0..n)], in that order, in at most `room` characters each (16 at
 * least; 0: whole). Rows of one name end in their variants. What is too long keeps its begin and its end with dots
 * between; names that would become the same are cut elsewhere, and where no place
 * helps they end in a number: "~7". Errors: LAB_E_NOMEM. */
enum lab_status lab_labels_make(struct lab_labels *out, size_t room,
                                const struct lab_compare_row *rows,
                                const size_t *list, size_t n);
void lab_labels_release(struct lab_labels *labels);
/* Which iterations they are; and why parts are not known: for each reason a
 * line, and one with the parts it is of. */
void lab_compare_wall_notes(const struct lab_comparison *c,
                            struct lab_str *out);
