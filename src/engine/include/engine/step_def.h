/* engine/step_def.h -- a step as an op declares it; lab_build_step() (op.h)
 * makes it one of the plan's. */
#pragma once
#include "engine/tensor.h"

struct lab_explainer;

enum { LAB_STEP_IN = 16, LAB_STEP_OUT = 6 };
enum { LAB_NO_TENSOR = -1 };

typedef void lab_explain_fn(struct lab_explainer *ex, int out_slot,
                            int64_t index);

struct lab_step_def {
    const char *name; /* within its node: "matmul" */
    bool numbered;    /* one of several, "gates.3": the kernel is "gates" */
    int number;
    enum lab_phase phase;
    int in[LAB_STEP_IN];
    int n_in;
    int out[LAB_STEP_OUT]; /* LAB_NO_TENSOR: not wanted */
    int n_out;
    const void *params; /* copied */
    size_t params_bytes;
    double flop;      /* 0: flop_each, or as the formula gives */
    double flop_each; /* for each element of the first input */
    double bytes;     /* 0: each input that `formula` names is read once, each
                   * output written once */
    const char *formula; /* engine/formula.h */
    const char *display; /* shown in its place, with "$o0" and "$i1"; or NULL */
    /* For the formula, static texts: the indices of a tensor without brackets,
     * "n,c,h,w"; short names of the inputs in explanations, "x mean rstd". */
    const char *axes;
    const char *names;
    lab_explain_fn *explain; /* of outputs that the formula does not give */
};

/* Fields of a lab_step_def: LAB_IN(x, W), LAB_OUT(y), LAB_PARAMS(p). */
#define LAB_IN(...)                                                            \
    .in = {__VA_ARGS__}, .n_in = sizeof((int[]){__VA_ARGS__}) / sizeof(int)
#define LAB_OUT(...)                                                           \
    .out = {__VA_ARGS__}, .n_out = sizeof((int[]){__VA_ARGS__}) / sizeof(int)
#define LAB_PARAMS(p) .params = &(p), .params_bytes = sizeof(p)

enum { LAB_GROUP_PARAMS = 64, LAB_GROUP_FORMULA = 400 };

struct lab_group_step {
    struct lab_step_def def; /* its params may point to `params`, its formula */
    char formula[LAB_GROUP_FORMULA]; /* here */
    union {
        double align;
        unsigned char bytes[LAB_GROUP_PARAMS];
    } params;
};
