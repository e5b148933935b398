/* replica.h -- a plan in double, on the CPU, run by the readable reference:
 * the truth that variants and gradients are held against. Threads: one at a
 * time. */
#pragma once
#include "engine/plan.h"

struct lab_replica {
    struct lab_plan *plan; /* f64: the tensors and steps of the f32 plan */
    struct lab_backend *cpu;
    char *arena;
};

enum lab_status lab_replica_open(struct lab_replica *r,
                                 const struct lab_network_spec *spec,
                                 const struct lab_data_shapes *shapes);
void lab_replica_close(struct lab_replica *r); /* zeroed is allowed */
/* The place of a tensor's elements. */
void *lab_replica_data(const struct lab_replica *r, int tensor);
/* Runs plan step i as in iteration `iteration`, in training. */
enum lab_status lab_replica_run(struct lab_replica *r, int i,
                                int64_t iteration);
