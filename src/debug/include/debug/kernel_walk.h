/* debug/kernel_walk.h -- a kernel walked by words: the debugger of a step's inside,
 * for standard input and for the stepper's `into`.
 *
 * Lines of words come in, as gdb's users know them (`step`, `break 12`, `print
 * %f3`), lines of text go to standard output. Threads: one. */
#pragma once
#include "debug/kernel_pause.h"
#include "engine/backend.h"
#include "sim/debug.h"

struct lab_kernel_walk {
    struct lab_sim_debug *debug; /* the caller's */
    const struct lab_ptx *ptx;   /* of the kernel's module */
    const char *name;            /* of the kernel, as a person calls it */
    int launch; /* of the step, from 1: `kernel` goes to the next; 0: no step's */
    const char *path;   /* of its source, as the person gave it; or NULL */
    const char *beside; /* see debug/kernel_text.h; or NULL */
    bool prompts;       /* a prompt before each line */
    /* A line into `line`; false: there is none any more. NULL: standard input. */
    bool (*read)(void *user, char *line, size_t cap);
    void *read_user;
    bool found; /* out: the checks found something meanwhile */
    bool left;  /* out: `quit`, and the step's other kernels are not walked */
};

LAB_C_BEGIN
/* Reads words until `quit` or the end. LAB_E_IO: standard output takes no more. */
enum lab_status lab_kernel_walk(struct lab_kernel_walk *w);
/* LAB_E_UNSUPPORTED: the kernels of this backend cannot be walked; with which can. */
enum lab_status lab_kernel_walk_possible(const char *backend);
/* The same for --into on a command line. LAB_E_USAGE: with --json, which it has not. */
enum lab_status lab_kernel_walk_option(const char *backend, bool json);
/* From now on the kernels that the backend launches are walked by words from
 * standard input before they run, up to a `quit`; `prompts` as above. `on` false: no
 * longer.
 * LAB_E_UNSUPPORTED: a backend without kernels to walk, and which has some. The
 * walk is on the thread that runs the step. */
enum lab_status lab_kernel_walk_launches(struct lab_backend *be, bool on,
                                         bool prompts);
LAB_C_END
