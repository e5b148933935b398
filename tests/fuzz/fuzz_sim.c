/* Kernels that are not one: every kernel of a PTX text that can be lowered is run
 * for a moment with all checks on. Nothing outside of its memory is touched, the
 * budget ends it, and the seed and the number of host threads change nothing.
 *
 * The first byte chooses the grid and the block. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"

enum { ARGS = 16, ARG_BYTES = 4096, BUFFER_BYTES = 1024, BUDGET = 4000 };

struct run {
    struct lab_sim_memory *memory;
    struct lab_sim_launch launch;
    uint64_t values[ARGS][ARG_BYTES / 8];
    const void *args[ARGS];
    unsigned char *buffers[ARGS];
};

/* A buffer for each parameter of 8 bytes, small numbers for the others. */
static bool make_args(struct run *r, const struct lab_ptx_function *f)
{
    memset(r->values, 0, sizeof(r->values));
    r->launch.arg_count = f->param_count;
    r->launch.args = r->args;
    if (f->param_count > ARGS)
        return false;
    for (int32_t i = 0; i < f->param_count; i++) {
        const struct lab_ptx_variable *v = &f->params[i];
        int64_t each = lab_ptx_type_bytes(v->type);
        if (v->elements > ARG_BYTES / each)
            return false;
        r->values[i][0] = (uint64_t)(5 + i);
        r->args[i] = r->values[i];
        if (each * v->elements != 8)
            continue;
        void *p;
        fuzz_check(!lab_sim_alloc(r->memory, BUFFER_BYTES, &p), "no memory");
        r->buffers[i] = p;
        memcpy(r->values[i], &p, sizeof(p));
    }
    return true;
}

static void fill(struct run *r)
{
    for (int i = 0; i < ARGS; i++) {
        if (!r->buffers[i])
            continue;
        for (int k = 0; k < BUFFER_BYTES; k++)
            r->buffers[i][k] = (unsigned char)(k * 7 + i);
        fuzz_check(!lab_sim_written(r->memory, r->buffers[i], BUFFER_BYTES / 2),
                   "its own buffer is not known");
    }
}

static void run_kernel(struct run *r, const struct lab_ptx_function *f)
{
    memset(r->buffers, 0, sizeof(r->buffers));
    if (make_args(r, f)) {
        struct lab_sim_counts counts = {0};
        for (int k = 0; k < 2; k++) {
            const struct lab_sim_options options = {
                .checks = (1u << LAB_SIM_CHECK_COUNT) - 1,
                .lines = true,
                .seed = 3,
                .budget = BUDGET,
                .threads = 1};
            struct lab_sim_result result;
            memset(&result, 0, sizeof(result));
            fill(r);
            enum lab_status st =
                lab_sim_run(r->memory, &r->launch, &options, &result);
            if (!st) {
                fuzz_accepted();
                fuzz_check(result.counts.warp_instructions <= BUDGET + 64,
                           "it ran past its budget");
                fuzz_check(k == 0 || memcmp(&counts, &result.counts,
                                            sizeof(counts)) == 0,
                           "other counts with the same seed");
                counts = result.counts;
                lab_sim_result_release(&result);
            }
        }
    }
    for (int i = 0; i < ARGS; i++)
        if (r->buffers[i])
            fuzz_check(!lab_sim_free(r->memory, r->buffers[i]),
                       "a buffer cannot be freed");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct run r;
    struct lab_sim_module *module = NULL;
    unsigned shape = fuzz_byte(&data, &size);
    r.launch = (struct lab_sim_launch){.grid = {1 + (shape & 1), 1, 1},
                                       .block = {1 + shape / 2, 1, 1},
                                       .shared_bytes = 512};
    fuzz_check(!lab_sim_memory_open(&r.memory), "no memory");
    if (!lab_sim_module_open(r.memory, (const char *)data, size, "fuzz.ptx",
                             &module)) {
        const struct lab_ptx *ptx = lab_sim_module_ptx(module);
        for (int32_t i = 0; i < ptx->function_count; i++) {
            const struct lab_ptx_function *f = &ptx->functions[i];
            if (f->entry && !f->declared &&
                !lab_sim_kernel_find(module, f->name, &r.launch.kernel))
                run_kernel(&r, f);
        }
    }
    lab_sim_module_close(module);
    lab_sim_memory_close(r.memory);
    return 0;
}
