/* test_network.h -- one network on which variants are tried, for
 * variant_check.c and variant_judge.c. */
#pragma once
#include "base/str.h"
#include "engine/network.h"
#include "reference_run.h"

enum { LAB_TRIAL_UNITS = 3, LAB_TRIAL_NODES = 64 };

struct lab_variant_test_network {
    struct lab_network_spec spec;
    struct lab_node_spec nodes[LAB_TRIAL_NODES];
    char ids[LAB_TRIAL_NODES][32];
    struct lab_tensor_spec data[5];
    char *from[4];
    struct lab_plan *plan;          /* float */
    struct lab_reference_run truth; /* double: the same tensors and steps */
    struct lab_backend *be;
    void *arena;  /* of plan, on be */
    char *before; /* truth's persistent part before the step */
    char *first;  /* the same before the phase: groups start there */
    bool group;   /* a group is being judged */
    float *host;  /* room for the largest tensor */
    struct lab_str *report;
};
