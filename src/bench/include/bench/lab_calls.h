/* lab_calls.h -- `lapenna-lab lab calls`: a convolution by cuDNN, call by
 * call. */
#pragma once
#include <stdbool.h>

/* argv[0] is "conv" or "calls". Returns an exit code. */
int lab_cmd_lab_calls(int argc, char **argv);
/* The same for a lesson; `size` NULL: the course's. */
int lab_calls_run(const char *size, int device, bool json);
