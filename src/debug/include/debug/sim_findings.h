/* debug/sim_findings.h -- what the checks of the backend "sim" found, as JSON.
 * Threads: the one that ran the step. */
#pragma once
#include <stdbool.h>
#include "base/status.h"

struct lab_backend;

LAB_C_BEGIN
/* A line on standard output for each finding of the backend's last call and, where there
 * is no finding, for each output of which no kernel wrote all. The error that is set
 * (lab_error()) stays. Another backend: nothing. `expected`: what is wrong on purpose in
 * what ran, NULL: nothing. */
void lab_sim_findings_print(struct lab_backend *be, const char *expected);
/* After a step that was stopped in a launch: what it had found, as text on stderr or
 * as lines of JSON. */
void lab_sim_findings_stopped(struct lab_backend *be, bool json);
LAB_C_END
