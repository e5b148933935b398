/* step_npy.h -- `step --npy DIR`: tensors as files of NumPy's format 1.0.
 *
 * NAME.npy is a tensor as the iteration left it; NAME.before.npy, of parameters
 * and optimizer state, as the iteration found it. Files are written beside
 * their name and renamed: none is there by half. */
#pragma once
#include "debug/lesson_run.h"

/* Makes DIR; LAB_E_IO when it cannot, or when DIR holds
 * something already. */
enum lab_status lab_npy_open(const char *dir);
/* The tensors of the walk whose names match one of `patterns` (fnmatch, with
 * commas between them; NULL: all).
 * `before`: the persistent ones, as NAME.before.npy. Adds to *count. */
enum lab_status lab_npy_write(struct lab_lesson_run *w, const char *dir,
                              const char *patterns, bool before,
                              int64_t *count);
