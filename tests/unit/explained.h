/* unit/explained.h -- an explanation that a reader can check: the terms' texts
 * come to the terms, each name is a tensor, bound by a sum or defined, a tensor
 * has an index for each of its axes, brackets close, and the value agrees. Ends
 * the cmocka test at the first that does not hold. */
#pragma once
#include "unit/net.h"

void net_explained(const struct net *n, const struct lab_explanation *e);
