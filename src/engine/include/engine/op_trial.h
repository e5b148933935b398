/* engine/op_trial.h -- how an op is tried that does not fit into a chain of
 * layers over [5,7].
 *
 * The check of the variants (and the tests that walk every op) build a network
 * of this one node: inputs of these shapes, what it gives weighed and summed.
 * Ids are drawn from 0..2. Constant data; any thread. */
#pragma once
#include "engine/tensor.h"

struct lab_op_test_network {
    struct lab_shape in[4]; /* rank 0: no further input */
    struct lab_shape out;
    struct {
        const char *key;
        double value;
    } keys[4];
};
