/* screens.h -- the program on a terminal: home, stepper, training, runs. */
#pragma once
#include "debug/options.h"

/* Runs until the learner leaves. o->lesson NULL: the home screen. Returns the
 * exit code. */
int lab_open_screens(const struct lab_options *o);
