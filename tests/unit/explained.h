/* unit/explained.h -- explanations that a reader can check: the terms' texts come to
 * the terms, they come by size and add up, each source is read by the step, each name
 * is a tensor, bound by a sum or defined, a tensor has an index for each of its axes,
 * brackets close, and the value agrees. Ends the cmocka test at the first that does
 * not hold. */
#pragma once
#include "unit/net.h"

/* An element of a tensor. Returns the step that computed it; -1: none. */
int net_explain(const struct net *n, int tensor, int64_t index);
/* Each element of what has been written, or of everything. */
void net_explain_all(const struct net *n, bool written_only);
