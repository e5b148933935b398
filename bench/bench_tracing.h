/* bench_tracing.h -- what bench_tracing.cu launches for bench_tracing.c. */
#pragma once
#include <stdint.h>
#include "base/status.h"

LAB_C_BEGIN
int bench_open(void); /* 0: there is no device */
/* Microseconds of wall time a launch of an empty kernel, until the device has
 * done all n. `push` and `pop` around each step's; NULL: none. */
double bench_launches(int n, int per_step, void (*push)(int64_t),
                      void (*pop)(void));
/* The same for a node of a CUDA graph; the best of five. */
double bench_graph(int nodes, int launches, int *failed);
LAB_C_END
