/* ops/softmax_explain.h -- the step of softmax, softmax_cross_entropy and
 * bahdanau_attention that turns rows into shares. */
#pragma once
#include "engine/op.h"

#define LAB_SOFTMAX_FORMULA                                                    \
    "!$o0[r,c] = exp($i0[r,c] - max) / sum_k exp($i0[r,k] - max)"

lab_explain_fn lab_softmax_explain;
