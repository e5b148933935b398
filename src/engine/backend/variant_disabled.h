/* variant_disabled.h -- the variants that this process does not offer, and which
 * backends have been checked (verify/verify.c fills it). Threads: any. */
#pragma once
#include "engine/backend.h"

bool lab_variant_disabled(const struct lab_variant *v);
/* Takes a variant out; for tests, brings all back (v NULL). LAB_E_NOMEM: it is still
 * offered. */
enum lab_status lab_variant_withdraw(const struct lab_variant *v);

/* Takes from *ops, bits of lab_op_table(), those that were checked on this backend;
 * are any left? A check that another thread has begun is waited for. After true comes
 * lab_variant_check_end() with the ops that were checked whole: 0 after a failure, then
 * the tally is dropped and the next check tries again. Of these, variants that served
 * none of the shapes are not offered: this device has no such kernel. No fault of theirs,
 * and nothing to say. */
bool lab_variant_check_begin(const struct lab_backend_ops *be, uint64_t *ops);
void lab_variant_check_end(const struct lab_backend_ops *be, uint64_t whole);
/* A variant that may refuse shapes (it has a `prepare`) has served one, or not.
 * LAB_E_NOMEM: not noted. */
enum lab_status lab_variant_tally(const struct lab_variant *v, bool served);
