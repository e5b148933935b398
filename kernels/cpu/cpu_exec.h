/* kernels/cpu/cpu_exec.h -- what a CPU kernel finds in call->exec; or NULL: nothing
 * stops it.
 *
 * A readable kernel may take minutes on large tensors. Its outer loop, where there are
 * products in it, asks lab_stopped() at every row and ends early when the answer is
 * true; what it returns does not matter then, as the backend makes LAB_E_CANCELLED of it.
 * What it leaves half written is overwritten whole by the next run of the step: no kernel
 * that updates its tensors may ask. Threads: the one that called the kernel. */
#pragma once
#include "base/clock.h"
#include "base/stop.h"
#include "common/kernel.h"

/* A call that takes no longer comes to its end. */
enum { LAB_CALL_PATIENCE_NS = 50000000 };

/* The CPU's struct lab_exec. */
struct lab_cpu_exec {
    struct lab_stop stop;
    int64_t ask_ns; /* by lab_clock_coarse_ns(): from then on it is asked */
    bool stopped;   /* in this call */
};

/* Some nanoseconds: a clock is read. */
static inline bool lab_stopped(const struct lab_call *call)
{
    struct lab_cpu_exec *exec = (struct lab_cpu_exec *)call->exec;
    if (exec && !exec->stopped && lab_clock_coarse_ns() >= exec->ask_ns)
        exec->stopped = lab_stop_asked(&exec->stop);
    return exec && exec->stopped;
}

/* The same for a loop over elements, asked where a row of `cols` of them begins. */
static inline bool lab_stopped_at(const struct lab_call *call, int64_t element,
                                  int64_t cols)
{
    return element % cols == 0 && lab_stopped(call);
}
