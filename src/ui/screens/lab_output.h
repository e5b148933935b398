/* lab_output.h -- this program with other words, as a process of its own: what a lab
 * that is no ladder prints, for its screen. Threads: any, one run each. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/status.h"

struct lab_output {
    const char *const *words; /* behind the program's name; NULL ends */
    int columns;              /* of a line */
    /* Asked several times a second; true ends the process. */
    bool (*stop)(void *user);
    /* What it prints, on both streams, as it comes. */
    void (*text)(void *user, const char *bytes, size_t n);
    void *user;
};

LAB_C_BEGIN
/* Until the process has ended: *code is its exit status, 128 and the signal's number
 * where one ended it. LAB_E_CANCELLED: stopped. LAB_E_IO: it cannot be started. */
enum lab_status lab_output_run(const struct lab_output *o, int *code);
LAB_C_END
