/* lab_gflops.h -- `lapenna-lab lab gflops`: the course's LAB 2, Problem 4. */
#pragma once

/* argv[0] is "gflops". Returns an exit code. */
int lab_cmd_lab_gflops(int argc, char **argv);
