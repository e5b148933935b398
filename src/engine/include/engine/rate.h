/* engine/rate.h -- the learning rate of an iteration: a base rate and a schedule.
 *
 * It rises over the first `warmup` iterations, lr/warmup, 2 lr/warmup ... lr;
 * after them, k counting from 0:
 *     constant      lr
 *     step          lr factor^floor(k / every)
 *     exponential   lr factor^(k / every)
 *     cosine        lr_end + (lr - lr_end) (1 + cos(pi k / over)) / 2, and lr_end
 *                   from k = over on
 * and never less than lr_end. It depends on the iteration alone, so that going
 * back and forward again gives the same bits. Threads: any. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"

enum lab_rate_kind {
    LAB_RATE_CONSTANT,
    LAB_RATE_STEP,
    LAB_RATE_EXPONENTIAL,
    LAB_RATE_COSINE,
    LAB_RATE_KINDS
};

struct lab_rate {
    enum lab_rate_kind kind;
    int64_t warmup; /* iterations; 0: none */
    int64_t every;  /* step, exponential: iterations of a factor */
    double factor;
    int64_t over; /* cosine: iterations from lr to `end` */
    double end;
    double clip; /* of the norm of all gradients; 0: none */
};

enum { LAB_RATE_TEXT = 160 };

LAB_C_BEGIN
extern const char *const lab_rate_names[]; /* by kind; NULL behind the last */
struct lab_builder;
/* Reads the optimizer's keys, in update(); refuses one that its schedule does not
 * use. */
void lab_rate_read(struct lab_builder *b, struct lab_rate *out);
struct lab_explainer;
/* In an explanation of an update: what its gradient is multiplied by, and the text
 * where that is not 1. Inputs 0 and 1 are the gradient and the norm of all. */
double lab_rate_explain_clip(struct lab_explainer *ex, double clip);
/* From base rate lr, in iteration i (from 0). */
double lab_rate_at(const struct lab_rate *r, double lr, int64_t i);
/* Is it another one in some iteration? */
bool lab_rate_changes(const struct lab_rate *r);
/* "cosine over 100, warm-up 10, clipped at norm 1"; "" for a rate that stays and
 * gradients as they are. Returns out. */
const char *lab_rate_text(const struct lab_rate *r, char out[LAB_RATE_TEXT]);
LAB_C_END
