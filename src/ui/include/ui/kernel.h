/* ui/kernel.h -- the inside of a kernel: its source line by line, the lanes of a
 * warp, what they touch, and the keys that walk it (debug/kernel_pause.h). */
#pragma once
#include "debug/kernel_text.h"
#include "ui/screen.h"

struct lab_kernel_args {
    /* Whether the step that was asked for is still to come or running. */
    bool (*running)(void *user);
    void *user;
    const char *what; /* "step", "variant": what launches the kernels */
    char
        element[160]; /* "fc1.xW[3,2]", offered where one is asked for; or "" */
    struct lab_kernel_goal goal; /* the block to run to its first finding */
};

extern const struct lab_screen_ops lab_view_kernel; /* lab_kernel_args * */
