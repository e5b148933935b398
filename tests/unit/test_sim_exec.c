/* The executor of the simulator: kernels as PTX texts, run and compared with what
 * C computes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <cmocka.h>

#include "sim/sim.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

enum { ALL_CHECKS = (1u << LAB_SIM_CHECK_COUNT) - 1 };

/* A module with one launch at a time. */
struct gpu {
    struct lab_sim_memory *memory;
    struct lab_sim_module *module;
    const struct lab_sim_kernel *kernel;
    struct lab_sim_options options;
    struct lab_sim_result result;
    char printed[1024];
};

static void print(void *arg, const char *text)
{
    struct gpu *g = arg;
    strncat(g->printed, text, sizeof(g->printed) - strlen(g->printed) - 1);
}

static void gpu_open(struct gpu *g, const char *ptx, const char *kernel)
{
    memset(g, 0, sizeof(*g));
    g->options.checks = ALL_CHECKS;
    g->options.threads = 1;
    g->options.lines = true;
    g->options.print = print;
    g->options.print_arg = g;
    assert_int_equal(lab_sim_memory_open(&g->memory), LAB_OK);
    if (lab_sim_module_open(g->memory, ptx, strlen(ptx), "test.ptx",
                            &g->module))
        fail_msg("%s", lab_error());
    if (lab_sim_kernel(g->module, kernel, &g->kernel))
        fail_msg("%s", lab_error());
}

static void gpu_close(struct gpu *g)
{
    lab_sim_result_release(&g->result);
    lab_sim_module_close(g->module);
    lab_sim_memory_close(g->memory);
}

static void *gpu_buffer(struct gpu *g, size_t bytes, const void *from)
{
    void *p = NULL;
    assert_int_equal(lab_sim_alloc(g->memory, bytes, &p), LAB_OK);
    if (from) {
        memcpy(p, from, bytes);
        assert_int_equal(lab_sim_written(g->memory, p, bytes), LAB_OK);
    }
    return p;
}

static enum lab_status gpu_try(struct gpu *g, uint32_t blocks, uint32_t threads,
                               int64_t shared, const void *const *args,
                               int count)
{
    struct lab_sim_launch launch = {.kernel = g->kernel,
                                    .grid = {blocks, 1, 1},
                                    .block = {threads, 1, 1},
                                    .shared_bytes = shared,
                                    .args = args,
                                    .arg_count = count};
    lab_sim_result_release(&g->result);
    memset(&g->result, 0, sizeof(g->result));
    return lab_sim_run(g->memory, &launch, &g->options, &g->result);
}

/* A launch without findings. */
static void gpu_run(struct gpu *g, uint32_t blocks, uint32_t threads,
                    int64_t shared, const void *const *args, int count)
{
    if (gpu_try(g, blocks, threads, shared, args, count))
        fail_msg("%s", lab_error());
    if (g->result.finding_count)
        fail_msg("%s", g->result.findings[0].message);
}

static const char saxpy[] =
    HEAD ".visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x,\n"
         "    .param .u64 y)\n"
         "{\n"
         "    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<5>;\n"
         "    .reg .b64 %rd<8>;\n"
         "    ld.param.u32 %r2, [n];\n"
         "    ld.param.f32 %f1, [a];\n"
         "    ld.param.u64 %rd1, [x];\n"
         "    ld.param.u64 %rd2, [y];\n"
         "    mov.u32 %r3, %ctaid.x;\n"
         "    mov.u32 %r4, %ntid.x;\n"
         "    mov.u32 %r5, %tid.x;\n"
         "    mad.lo.s32 %r1, %r3, %r4, %r5;\n"
         "    setp.ge.s32 %p1, %r1, %r2;\n"
         "    @%p1 bra $END;\n"
         "    cvta.to.global.u64 %rd3, %rd1;\n"
         "    mul.wide.s32 %rd4, %r1, 4;\n"
         "    add.s64 %rd5, %rd3, %rd4;\n"
         "    ld.global.f32 %f2, [%rd5];\n"
         "    cvta.to.global.u64 %rd6, %rd2;\n"
         "    add.s64 %rd7, %rd6, %rd4;\n"
         "    ld.global.f32 %f3, [%rd7];\n"
         "    fma.rn.f32 %f4, %f2, %f1, %f3;\n"
         "    st.global.f32 [%rd7], %f4;\n"
         "$END:\n"
         "    ret;\n"
         "}\n";

static void saxpy_equals_c(void **state)
{
    (void)state;
    enum { N = 1000 };
    struct gpu g;
    float x[N];
    float y[N];
    uint32_t n = N;
    float a = 1.7f;
    for (int i = 0; i < N; i++) {
        x[i] = (float)i * 0.37f;
        y[i] = 5.0f - (float)i;
    }
    gpu_open(&g, saxpy, "saxpy");
    void *dx = gpu_buffer(&g, sizeof(x), x);
    float *dy = gpu_buffer(&g, sizeof(y), y);
    const void *args[] = {&n, &a, &dx, &dy};
    gpu_run(&g, 8, 128, 0, args, 4);
    for (int i = 0; i < N; i++)
        assert_true(dy[i] == fmaf(x[i], a, y[i]));
    assert_int_equal(g.result.counts.divergent_branches, 1);
    assert_int_equal(g.result.counts.flops, 2 * N);
    /* Of 1024 lanes: 9 before the branch that 24 take, 9 of N, a ret. */
    assert_int_equal(g.result.counts.warp_instructions, 32 * 20);
    assert_int_equal(g.result.counts.lane_instructions,
                     9 * 1024 + 24 + 9 * N + 1024);
    gpu_close(&g);
}

/* The sum of a block's numbers through shared memory, then a warp's shuffles. */
static const char reduce[] =
    HEAD ".extern .shared .align 16 .b8 room[];\n"
         ".visible .entry reduce(.param .u64 x, .param .u64 y)\n"
         "{\n"
         "    .reg .pred %p<4>; .reg .b32 %r<12>; .reg .f32 %f<9>;\n"
         "    .reg .b64 %rd<6>;\n"
         "    ld.param.u64 %rd1, [x];\n"
         "    ld.param.u64 %rd2, [y];\n"
         "    mov.u32 %r1, %tid.x;\n"
         "    mov.u32 %r2, %ntid.x;\n"
         "    mov.u32 %r3, %ctaid.x;\n"
         "    mad.lo.s32 %r4, %r3, %r2, %r1;\n"
         "    mul.wide.u32 %rd3, %r4, 4;\n"
         "    add.s64 %rd4, %rd1, %rd3;\n"
         "    ld.global.f32 %f1, [%rd4];\n"
         "    mov.u32 %r5, room;\n"
         "    shl.b32 %r6, %r1, 2;\n"
         "    add.s32 %r7, %r5, %r6;\n"
         "    st.shared.f32 [%r7], %f1;\n"
         "    mov.u32 %r8, %r2;\n"
         "$LOOP:\n"
         "    shr.u32 %r8, %r8, 1;\n"
         "    bar.sync 0;\n"
         "    setp.ge.u32 %p1, %r1, %r8;\n"
         "    @%p1 bra $NEXT;\n"
         "    shl.b32 %r9, %r8, 2;\n"
         "    add.s32 %r10, %r7, %r9;\n"
         "    ld.shared.f32 %f2, [%r10];\n"
         "    ld.shared.f32 %f3, [%r7];\n"
         "    add.f32 %f4, %f2, %f3;\n"
         "    st.shared.f32 [%r7], %f4;\n"
         "$NEXT:\n"
         "    setp.gt.u32 %p2, %r8, 32;\n"
         "    @%p2 bra $LOOP;\n"
         "    setp.gt.u32 %p3, %r1, 31;\n"
         "    @%p3 bra $END;\n"
         "    ld.shared.f32 %f5, [%r7];\n"
         "    mov.u32 %r11, 16;\n"
         "$SHUFFLE:\n"
         "    shfl.sync.down.b32 %f6, %f5, %r11, 31, -1;\n"
         "    add.f32 %f5, %f5, %f6;\n"
         "    shr.u32 %r11, %r11, 1;\n"
         "    setp.ne.s32 %p1, %r11, 0;\n"
         "    @%p1 bra $SHUFFLE;\n"
         "    setp.ne.s32 %p1, %r1, 0;\n"
         "    @%p1 bra $END;\n"
         "    mul.wide.u32 %rd5, %r3, 4;\n"
         "    add.s64 %rd5, %rd2, %rd5;\n"
         "    st.global.f32 [%rd5], %f5;\n"
         "$END:\n"
         "    ret;\n"
         "}\n";

static void reduction_equals_c(void **state)
{
    (void)state;
    enum { BLOCKS = 5, THREADS = 256 };
    struct gpu g;
    float x[BLOCKS * THREADS];
    for (int i = 0; i < BLOCKS * THREADS; i++)
        x[i] = (float)((i * 7919) % 1000) * 0.01f;
    gpu_open(&g, reduce, "reduce");
    void *dx = gpu_buffer(&g, sizeof(x), x);
    float *dy = gpu_buffer(&g, BLOCKS * sizeof(float), NULL);
    const void *args[] = {&dx, &dy};
    for (uint64_t seed = 0; seed < 3; seed++) {
        g.options.seed = seed;
        g.options.threads = 1 + (int)seed;
        gpu_run(&g, BLOCKS, THREADS, THREADS * 4, args, 2);
        for (int b = 0; b < BLOCKS; b++) {
            float v[THREADS];
            memcpy(v, x + b * THREADS, sizeof(v));
            for (int half = THREADS / 2; half > 0; half /= 2)
                for (int t = 0; t < half; t++)
                    v[t] += v[t + half];
            assert_true(dy[b] == v[0]);
        }
        assert_int_equal(g.result.counts.barriers, BLOCKS * 8 * 3);
    }
    gpu_close(&g);
}

/* Each thread counts the steps of its number's Collatz sequence; odd threads end
 * early, and a switch by index chooses what is added. */
static const char divergent[] =
    HEAD ".visible .entry divergent(.param .u64 y)\n"
         "{\n"
         "    .reg .pred %p<6>; .reg .b32 %r<12>; .reg .b64 %rd<4>;\n"
         "    ld.param.u64 %rd1, [y];\n"
         "    mov.u32 %r1, %tid.x;\n"
         "    mul.wide.u32 %rd2, %r1, 4;\n"
         "    add.s64 %rd3, %rd1, %rd2;\n"
         "    and.b32 %r2, %r1, 7;\n"
         "    setp.eq.s32 %p1, %r2, 5;\n"
         "    mov.u32 %r3, 1000;\n"
         "    @%p1 st.global.u32 [%rd3], %r3;\n"
         "    @%p1 ret;\n"
         "    add.s32 %r4, %r1, 1;\n"
         "    mov.u32 %r5, 0;\n"
         "$TOP:\n"
         "    setp.eq.s32 %p2, %r4, 1;\n"
         "    @%p2 bra $OUT;\n"
         "    and.b32 %r6, %r4, 1;\n"
         "    setp.eq.b32 %p3, %r6, 0;\n"
         "    @%p3 bra $EVEN;\n"
         "    mad.lo.s32 %r4, %r4, 3, 1;\n"
         "    bra.uni $BOTH;\n"
         "$EVEN:\n"
         "    shr.u32 %r4, %r4, 1;\n"
         "$BOTH:\n"
         "    add.s32 %r5, %r5, 1;\n"
         "    bra.uni $TOP;\n"
         "$OUT:\n"
         "    rem.u32 %r7, %r1, 3;\n"
         "$list: .branchtargets $A, $B, $C;\n"
         "    brx.idx %r7, $list;\n"
         "$A: add.s32 %r5, %r5, 10000;\n"
         "    bra $MEET;\n"
         "$B: add.s32 %r5, %r5, 20000;\n"
         "    bra $MEET;\n"
         "$C: add.s32 %r5, %r5, 30000;\n"
         "$MEET:\n"
         "    st.global.u32 [%rd3], %r5;\n"
         "    ret;\n"
         "}\n";

static void divergent_kernel_equals_c(void **state)
{
    (void)state;
    enum { N = 100 };
    struct gpu g;
    gpu_open(&g, divergent, "divergent");
    uint32_t *y = gpu_buffer(&g, N * sizeof(*y), NULL);
    const void *args[] = {&y};
    gpu_run(&g, 1, N, 0, args, 1);
    for (uint32_t t = 0; t < N; t++) {
        uint32_t steps = 0;
        for (uint32_t v = t + 1; v != 1; steps++)
            v = v % 2 ? v * 3 + 1 : v / 2;
        steps += (t % 3 + 1) * 10000;
        assert_int_equal(y[t], t % 8 == 5 ? 1000 : steps);
    }
    gpu_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saxpy_equals_c),
        cmocka_unit_test(reduction_equals_c),
        cmocka_unit_test(divergent_kernel_equals_c),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
