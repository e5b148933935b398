/* lab_calls.h -- `lapenna-lab lab conv --calls`: a convolution by cuDNN, call by
 * call. */
#pragma once

/* argv[0] is "conv". Returns an exit code. */
int lab_cmd_lab_calls(int argc, char **argv);
