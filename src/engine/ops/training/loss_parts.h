/* ops/loss_parts.h -- what the losses share: checking that y fits, and the
 * step that brings the samples' losses to one number. */
#pragma once
#include "engine/op.h"

/* y must have the shape of what the loss reads, less its last axis when
 * `labels`. false: the builder has the error. */
bool lab_loss_check_target(struct lab_builder *b, bool labels);
/* Number of samples: the first dimension; all elements when 1-D. */
int64_t lab_loss_samples(const struct lab_shape *out);
/* The formula of loss.sample: `sum` ("sum", "1/2 sum") over the axes of a sample
 * of `each`, in which "@" is the index of an element; `read` is the shape of
 * what the loss reads. */
void lab_loss_formula(char *out, size_t cap, const char *sum, const char *each,
                      const struct lab_shape *read);
/* Declares loss.sample [samples] or, with `like`, of that shape. */
int lab_loss_sample(struct lab_builder *b, const struct lab_shape *shape);
/* The step `name`: loss = sum of the samples times 1 or 1/samples. */
void lab_loss_reduce(struct lab_builder *b, const char *name, int sample,
                     bool mean, const void *params, size_t params_bytes);
