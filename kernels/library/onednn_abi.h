/* kernels/library/onednn_abi.h -- what the program and the oneDNN module agree on.
 *
 * The module exports two functions, lab_onednn_sets and lab_onednn_report_to,
 * of the types below. It has its own copy of base/, and so its own lab_error():
 * failures reach the program through the function that it hands over first. */
#pragma once
#include "common/kernel.h"

#define LAB_ONEDNN_MODULE "lapenna-lab-onednn.so"
enum { LAB_ONEDNN_ABI = 5 };
/* A set with this before its name has variants of that lab, no rows of an op. */
#define LAB_ONEDNN_LAB "lab:"

/* Called on the thread of the failing call, before it returns `st`. */
typedef void lab_onednn_report_fn(enum lab_status st, const char *id,
                                  const char *text);
typedef void lab_onednn_report_to_fn(lab_onednn_report_fn *report);

/* The module's tables, or NULL after a report when oneDNN does not start. *abi
 * is LAB_ONEDNN_ABI of the module's build: where it differs, use nothing. */
typedef const struct lab_kernel_set *const *lab_onednn_sets_fn(int *count,
                                                               int *abi);
