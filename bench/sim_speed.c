/* How fast the simulator executes: lane-instructions a second on one core, for a
 * loop of fused multiply-adds, integer arithmetic, a comparison and a load, with
 * and without its checks. Not a test: cmake --build build/cpu --target sim_speed */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/status.h"
#include "sim/sim.h"

/* In each turn of the loop: 6 fma, 4 integer operations, 2 loads, a comparison
 * and the branch. */
static const char mix[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry mix(.param .u64 x, .param .u64 y, .param .u32 n)\n"
    "{\n"
    ".reg .pred %p<3>; .reg .b32 %r<12>; .reg .f32 %f<12>; .reg .b64 %rd<9>;\n"
    "ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "mul.wide.s32 %rd3, %r5, 4;\n"
    "add.s64 %rd4, %rd1, %rd3;\n"
    "add.s64 %rd5, %rd2, %rd3;\n"
    "mov.u32 %r6, 0;\n"
    "mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f3F000000;\n"
    "mov.f32 %f3, 0f3E800000; mov.f32 %f4, 0f3E000000;\n"
    "$TOP:\n"
    "ld.global.f32 %f5, [%rd4];\n"
    "and.b32 %r7, %r6, 7;\n"
    "mul.wide.u32 %rd6, %r7, 4;\n"
    "add.s64 %rd7, %rd1, %rd6;\n"
    "ld.global.f32 %f6, [%rd7];\n"
    "fma.rn.f32 %f1, %f5, %f6, %f1;\n"
    "fma.rn.f32 %f2, %f5, %f6, %f2;\n"
    "fma.rn.f32 %f3, %f5, %f1, %f3;\n"
    "fma.rn.f32 %f4, %f2, %f6, %f4;\n"
    "fma.rn.f32 %f1, %f5, 0f3DCCCCCD, %f1;\n"
    "fma.rn.f32 %f2, %f6, 0f3DCCCCCD, %f2;\n"
    "add.s32 %r6, %r6, 1;\n"
    "setp.lt.s32 %p1, %r6, %r1;\n"
    "@%p1 bra $TOP;\n"
    "add.f32 %f7, %f1, %f2; add.f32 %f8, %f3, %f4; add.f32 %f9, %f7, %f8;\n"
    "st.global.f32 [%rd5], %f9;\n"
    "ret;\n"
    "}\n";

/* Time of this thread: other work of the machine does not count. */
static int64_t cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int failed(void)
{
    fprintf(stderr, "sim_speed: %s\n", lab_error());
    return 1;
}

int main(int argc, char **argv)
{
    enum { BLOCKS = 64, THREADS = 256, N = BLOCKS * THREADS };
    const uint32_t turns = argc > 1 ? (uint32_t)atoi(argv[1]) : 1000;
    struct lab_sim_memory *memory;
    struct lab_sim_module *module;
    const struct lab_sim_kernel *kernel;
    void *x;
    void *y;
    if (lab_sim_memory_open(&memory) ||
        lab_sim_module_open(memory, mix, strlen(mix), "mix.ptx", &module) ||
        lab_sim_kernel_find(module, "mix", &kernel) ||
        lab_sim_alloc(memory, N * sizeof(float), &x) ||
        lab_sim_alloc(memory, N * sizeof(float), &y) ||
        lab_sim_written(memory, x, N * sizeof(float)))
        return failed();
    const void *args[] = {&x, &y, &turns};
    const struct lab_sim_launch launch = {.kernel = kernel,
                                          .grid = {BLOCKS, 1, 1},
                                          .block = {THREADS, 1, 1},
                                          .args = args,
                                          .arg_count = 3};
    for (int checked = 0; checked < 2; checked++) {
        const struct lab_sim_options options = {
            .checks = checked ? (1u << LAB_SIM_CHECK_COUNT) - 1
                              : 1u << LAB_SIM_MEMORY,
            .threads = 1,
            .lines = checked != 0};
        double best = 0.0;
        for (int k = 0; k < 5; k++) {
            struct lab_sim_result result = {.line_count = 0};
            int64_t start = cpu_ns();
            if (lab_sim_run(memory, &launch, &options, &result))
                return failed();
            double rate = (double)result.counts.lane_instructions /
                          (double)(cpu_ns() - start);
            best = rate > best ? rate : best;
            lab_sim_result_release(&result);
        }
        printf("%-12s %.2f billion lane-instructions a second\n",
               checked ? "all checks" : "bounds only", best);
    }
    lab_sim_module_close(module);
    lab_sim_memory_close(memory);
    return 0;
}
