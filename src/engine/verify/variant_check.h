/* variant_check.h -- a variant that disagrees with the reference is withdrawn.
 *
 * When a backend is opened for a session, every variant of every op is run on
 * a small odd shape and compared with the reference in double. One that is off
 * by more than 1e-5 * (1 + max|ref|), or fails, is never offered again in this
 * process. A variant may refuse some of the shapes (LAB_E_UNSUPPORTED).
 * Threads: lab_variant_check() from the engine's; the others any. */
#pragma once
#include "base/str.h"
#include "engine/backend.h"

/* Checks what has not been checked yet; appends a line a withdrawn variant to
 * `said`. LAB_OK also when variants were withdrawn. */
enum lab_status lab_variant_check(struct lab_backend *be, struct lab_str *said);
bool lab_variant_disabled(const struct lab_variant *v);
/* For tests: takes a variant out, or brings all back (v NULL). */
void lab_variant_withdraw(const struct lab_variant *v);

/* ---- variant_withdrawn.c, for lab_variant_check() ---- */

/* Is this backend still to be checked? A check that another thread has begun is
 * waited for. After true comes lab_variant_check_end(): `whole`, it has been
 * checked, else the next one tries again. Of a whole one, variants that served
 * none of the shapes are not offered: this device has no such kernel. No fault
 * of theirs, and nothing to say. */
bool lab_variant_check_begin(const struct lab_backend_ops *ops);
void lab_variant_check_end(const struct lab_backend_ops *ops, bool whole);
/* A variant that may refuse shapes (it has a `prepare`) has served one, or not. */
void lab_variant_tally(const struct lab_variant *v, bool served);
