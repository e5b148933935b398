/* module.h -- a module of the simulator: its PTX, the memory of its variables, and
 * the kernels that were lowered so far. */
#pragma once
#include <pthread.h>

#include "base/arena.h"
#include "base/str.h"
#include "exec.h"

/* A kernel that was lowered, and the arena that it is in. */
struct sim_kernel_room {
    struct lab_arena arena;
    struct lab_sim_kernel *kernel;
    struct sim_kernel_room *next;
};

struct lab_sim_module {
    struct lab_sim_memory *memory;
    struct lab_ptx *ptx;
    void **variables; /* of each variable of the PTX, NULL: not in memory */
    bool *has_shared; /* addresses in shared memory are in its initial value */
    struct lab_str given; /* what the command line defined, as lines #define */
    pthread_mutex_t lock; /* of the list of kernels */
    struct sim_kernel_room *kernels;
};

/* Where a variable of the module is; 0: not in memory. */
static inline uint64_t sim_module_address(const struct lab_sim_module *m,
                                          const struct lab_ptx_variable *v)
{
    ptrdiff_t k = v - m->ptx->variables;
    if (v < m->ptx->variables || k >= m->ptx->variable_count)
        return 0;
    return (uint64_t)(uintptr_t)m->variables[k];
}
/* Writes the address of a variable in shared memory into the initial value of `v`,
 * for a kernel that has it at `at`. Refused where another kernel has it elsewhere. */
enum lab_status sim_module_set_shared(struct lab_sim_module *m,
                                      const struct lab_ptx_variable *v,
                                      const struct lab_ptx_address *a,
                                      uint64_t at);
/* All of the kernel is in `arena`, also what is left of it after a failure. */
enum lab_status sim_lower_kernel(struct lab_sim_module *module,
                                 const struct lab_ptx_function *f,
                                 struct lab_arena *arena,
                                 struct lab_sim_kernel **out);
