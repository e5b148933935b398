/* machine.h -- what this machine has, as far as it can be told in a
 * millisecond, without waking a GPU. Threads: any. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct lab_machine {
    bool gpu;       /* the CUDA module loads and the driver lists a GPU */
    char badge[64]; /* "NVIDIA H200" or "CPU" */
    char line[256]; /* one line for the home screen */
};

void lab_machine_look(struct lab_machine *m, const char *backend);
