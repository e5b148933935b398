/* tests/ui/stepper_plan.h -- plans made by hand, without an engine. */
#pragma once
#include "engine/plan.h"

struct lab_plan *plan_small(void);
/* `steps` steps, two a node, nodes in blocks of fifty. */
struct lab_plan *plan_large(int steps);
/* One step, with tensors larger than a plane: big [3000,700], long [2097153]. */
struct lab_plan *plan_huge(void);
void plan_release(struct lab_plan *p);
/* fused: the first two steps are one. Free with free(s->steps), free(s). */
struct lab_schedule *plan_schedule(const struct lab_plan *p, bool fused);
const struct lab_variant *plan_variant(int k); /* naive, tiled, fused */
int plan_add_tensor(struct lab_plan *p, const char *name, int role, int rank,
                    const int64_t *dim);
int plan_add_node(struct lab_plan *p, const char *id, int op);
void plan_add_step(struct lab_plan *p, const char *name, int node,
                   enum lab_phase phase, const char *in, const char *out,
                   const char *formula, double flop);
