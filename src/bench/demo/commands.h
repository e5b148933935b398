/* commands.h -- the commands of `lab` that have options of their own. */
#pragma once

/* argv[0] is the word, or "conv". Return an exit code. */
int lab_demo_cmd_calls(int argc, char **argv);
int lab_demo_cmd_gflops(int argc, char **argv);
int lab_demo_cmd_offsets(int argc, char **argv);
