/* unit/join_op.h -- an op for tests, in no table of the program: out = a + 2 b.
 *
 * It brings two readers of one tensor together again, so that a gradient comes
 * back from both. Its kernels are in a CPU backend with one more set; other
 * sets may be added to try what happens with a variant that is wrong. */
#pragma once
#include "unit/net.h"

extern const struct lab_op_def join_op;

/* A CPU backend that knows join; the caller's. */
struct lab_backend *join_backend(void);
/* Kernel sets that this process' join backends have besides; NULL: none. */
void join_backend_add(const struct lab_kernel_set *set);
/* "id from=a,b" */
void net_join(struct net *n, const char *text);
