/* ops/loss_parts.h -- what the losses share: checking that y fits, and the
 * step that brings the samples' losses to one number. */
#pragma once
#include "engine/explain.h"
#include "engine/op.h"

/* y must have the shape of what the loss reads, less its last axis when
 * `labels`. false: the builder has the error. */
bool lab_loss_check_target(struct lab_builder *b, bool labels);
/* Number of samples: the first dimension; all elements when 1-D. */
int64_t lab_loss_samples(const struct lab_shape *out);
/* How an explanation writes a sample's sum over what the loss reads: "sum_e "
 * and "3,e"; of one number a sample "" and "3". */
const char *lab_loss_sum(const struct lab_shape *out);
const char *lab_loss_at(const struct lab_shape *out, int64_t sample,
                        char buf[LAB_SHAPE_TEXT]);
/* Declares loss.sample [samples] or, with `like`, of that shape. */
int lab_loss_sample(struct lab_builder *b, const struct lab_shape *shape);
/* The step `name`: loss = sum of the samples times 1 or 1/samples. */
void lab_loss_reduce(struct lab_builder *b, const char *name, int sample,
                     bool mean, const void *params, size_t params_bytes);
