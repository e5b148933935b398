/* walkthrough.h -- the bare program without a terminal: the default lesson,
 * walked once as text, trained, recorded. */
#pragma once
#include "debug/options.h"

#define LAB_DEFAULT_LESSON "mlp-digits"

/* Returns the exit code. */
int lab_walkthrough(const struct lab_options *o);
