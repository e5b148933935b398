/* sim/compile.h -- CUDA C++ to PTX, by a compiler of this machine: nvcc, or clang
 * with headers of our own in place of NVIDIA's. Threads: one. */
#pragma once
#include "base/str.h"
#include "sim/sim.h"

/* What a text of PTX is made of. */
struct lab_sim_source {
    const char *path; /* FILE.cu, or FILE.ptx: read as it is */
    /* "nvcc", "clang", or a path; "auto": nvcc, or clang where there is no nvcc or
     * it has no host compiler. */
    const char *compiler;
    const char *const *include; /* directories; that of `path` is one, too */
    int include_count;
    const char *const *define; /* "NAME" or "NAME=VALUE" */
    int define_count;
    const struct lab_sim_device *device; /* NULL: the newest */
};

LAB_C_BEGIN
/* Appends the PTX to `ptx`, and to `words` what the compiler wrote: warnings, or
 * the errors of LAB_E_PARSE. Errors: LAB_E_IO; LAB_E_UNSUPPORTED, no compiler, with
 * the packages that have one; LAB_E_CANCELLED, a signal ended it. */
enum lab_status lab_sim_compile(const struct lab_sim_source *source,
                                struct lab_str *ptx, struct lab_str *words);
LAB_C_END
