/* plain.h -- the stepper as lines of text: commands come from standard input,
 * what happened goes to standard output. For screen readers, pipes and
 * scripts. */
#pragma once
#include "debug/options.h"

/* Until `quit` or the end of the input. Returns the exit code: a command that
 * fails is reported and is no failure of the session. */
int lab_plain_session(const struct lab_options *o, const char *lesson);
