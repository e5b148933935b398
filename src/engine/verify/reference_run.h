/* reference_run.h -- a plan in double, on the CPU, run by the readable reference:
 * the truth that variants and gradients are held against. Threads: one at a
 * time. */
#pragma once
#include "engine/plan.h"

struct lab_reference_run {
    struct lab_plan *plan; /* f64: the tensors and steps of the f32 plan */
    struct lab_backend *cpu;
    char *arena;
};

enum lab_status lab_reference_run_open(struct lab_reference_run *r,
                                       const struct lab_network_spec *spec,
                                       const struct lab_data_shapes *shapes);
void lab_reference_run_close(
    struct lab_reference_run *r); /* zeroed is allowed */
/* The place of a tensor's elements. */
void *lab_reference_run_data(const struct lab_reference_run *r, int tensor);
/* Runs plan step i as in iteration `iteration`, in training. */
enum lab_status lab_reference_run_step(struct lab_reference_run *r, int i,
                                       int64_t iteration);
