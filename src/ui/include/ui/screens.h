/* screens.h -- the program on a terminal: home, stepper, training, runs. */
#pragma once
#include "debug/options.h"
#include "engine/snapshot.h"

/* Runs until the learner leaves. o->lesson NULL: the home screen. Returns the
 * exit code. */
int lab_open_screens(const struct lab_options *o);

/* What has become of a training that was left running. */
enum lab_background {
    LAB_BACKGROUND_NONE, /* none was left */
    LAB_BACKGROUND_RUNS,
    LAB_BACKGROUND_STOPPED, /* at a break, by an error: to be looked at */
    LAB_BACKGROUND_DONE
};
/* From a snapshot of the session that was left; `text` gets a line about one that
 * runs or has stopped. NULL ok. */
enum lab_background lab_background_of(const char *lesson,
                                      const struct lab_snapshot *snap,
                                      char *text, size_t cap);
