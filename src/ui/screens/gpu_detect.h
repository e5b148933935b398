/* gpu_detect.h -- what this machine has, as far as it is known in a
 * millisecond, without waking a GPU. Threads: any. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct lab_gpu_state {
    bool gpu;       /* the CUDA module loads and the driver lists a GPU */
    char badge[64]; /* "NVIDIA H200" or "CPU" */
    char line[256]; /* one line for the home screen */
};

void lab_gpu_detect(struct lab_gpu_state *m, const char *backend);
