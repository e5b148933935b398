/* The executor of the simulator: kernels as PTX texts, run and compared with what
 * C computes. */
#include "test.h"

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
    if (lab_sim_kernel_find(g->module, kernel, &g->kernel))
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

TEST_CASE(saxpy_equals_c)
{
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

TEST_CASE(reduction_equals_c)
{
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

TEST_CASE(divergent_kernel_equals_c)
{
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

/* A kernel of one parameter, y, with the thread's number in %r1, its element's
 * address in %rd2 and registers to use. */
#define BODY(before, text)                                                     \
    HEAD before ".visible .entry k(.param .u64 y)\n{\n"                        \
                ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<20>;\n"       \
                ".reg .f32 %f<12>; .reg .f64 %d<4>; .reg .b64 %rd<12>;\n"      \
                "ld.param.u64 %rd1, [y];\n"                                    \
                "mov.u32 %r17, %ctaid.x; mov.u32 %r18, %ntid.x;\n"             \
                "mov.u32 %r19, %tid.x; mad.lo.u32 %r1, %r17, %r18, %r19;\n"    \
                "mad.wide.u32 %rd2, %r1, 4, %rd1;\n" text "ret;\n}\n"

/* Runs it over `count` elements that are set to 0. */
static uint32_t *run_body(struct gpu *g, const char *ptx, uint32_t blocks,
                          uint32_t threads, size_t count)
{
    uint32_t *zero = calloc(count, sizeof(*zero));
    gpu_open(g, ptx, "k");
    uint32_t *y = gpu_buffer(g, count * sizeof(*y), zero);
    const void *args[] = {&y};
    free(zero);
    if (gpu_try(g, blocks, threads, 0, args, 1))
        fail_msg("%s", lab_error());
    return y;
}

static void expect_no_finding(const struct gpu *g)
{
    if (g->result.finding_count)
        fail_msg("%s", g->result.findings[0].message);
}

TEST_CASE(lanes_of_a_warp_take_a_lock_in_turns)
{
    struct gpu g;
    const uint32_t *y = run_body(
        &g,
        BODY("", "$TRY: atom.global.acquire.gpu.cas.b32 %r2, [%rd1], 0, 1;\n"
                 "setp.ne.s32 %p1, %r2, 0;\n"
                 "@%p1 bra $TRY;\n"
                 "ld.volatile.global.u32 %r3, [%rd1+4];\n"
                 "add.s32 %r3, %r3, 1;\n"
                 "st.volatile.global.u32 [%rd1+4], %r3;\n"
                 "membar.gl;\n"
                 "atom.global.release.gpu.exch.b32 %r2, [%rd1], 0;\n"),
        2, 64, 256);
    expect_no_finding(&g);
    assert_int_equal(y[1], 2 * 64);
    gpu_close(&g);
}

/* Block 0 waits for what the last block writes. */
TEST_CASE(a_block_waits_for_a_later_one)
{
    struct gpu g;
    const uint32_t *y =
        run_body(&g,
                 BODY("", "setp.eq.u32 %p1, %r17, 0;\n"
                          "@!%p1 bra $WRITE;\n"
                          "$WAIT: ld.acquire.gpu.global.u32 %r2, [%rd1+400];\n"
                          "setp.eq.u32 %p2, %r2, 0;\n"
                          "@%p2 bra $WAIT;\n"
                          "st.global.u32 [%rd2], %r2;\n"
                          "ret;\n"
                          "$WRITE: setp.ne.u32 %p3, %r1, 99;\n"
                          "@%p3 ret;\n"
                          "mov.u32 %r3, 77;\n"
                          "st.release.gpu.global.u32 [%rd1+400], %r3;\n"),
                 50, 2, 128);
    expect_no_finding(&g);
    assert_int_equal(y[0], 77);
    assert_int_equal(y[1], 77);
    gpu_close(&g);
}

/* Sums of floats depend on their order, which is one for any number of threads. */
TEST_CASE(threads_of_the_host_change_no_bit)
{
    uint32_t first = 0;
    int64_t instructions = 0;
    for (int threads = 1; threads < 4; threads++) {
        struct gpu g;
        uint32_t *zero = calloc(64, 4);
        gpu_open(&g,
                 BODY("", "cvt.rn.f32.u32 %f1, %r1;\n"
                          "mul.f32 %f1, %f1, 0f3E99999A;\n"
                          "atom.global.add.f32 %f2, [%rd1], %f1;\n"),
                 "k");
        uint32_t *y = gpu_buffer(&g, 256, zero);
        const void *args[] = {&y};
        free(zero);
        g.options.threads = threads;
        g.options.seed = 5;
        gpu_run(&g, 40, 96, 0, args, 1);
        if (threads == 1) {
            first = y[0];
            instructions = g.result.counts.warp_instructions;
        }
        assert_int_equal(y[0], first);
        assert_int_equal(g.result.counts.warp_instructions, instructions);
        assert_int_equal(g.result.counts.atomics, 40 * 96);
        gpu_close(&g);
    }
}

/* Each block counts on from what it reads: a race, and blocks that ran side by side would
 * have lost some. */
TEST_CASE(threads_of_the_host_change_no_bit_of_a_race)
{
    enum { BLOCKS_THAT_RACE = 400 };
    int64_t instructions = 0;
    for (int threads = 1; threads < 5; threads++)
        for (int again = 0; again < 5; again++) {
            struct gpu g;
            uint32_t *zero = calloc(2, 4);
            gpu_open(&g,
                     BODY("", "ld.global.u32 %r2, [%rd1];\n"
                              "mov.u32 %r3, 0;\n"
                              "$LOOP: add.u32 %r3, %r3, 1;\n"
                              "setp.lt.u32 %p2, %r3, 300;\n"
                              "@%p2 bra $LOOP;\n"
                              "and.b32 %r4, %r2, 1;\n"
                              "setp.eq.u32 %p3, %r4, 0;\n"
                              "@%p3 bra $EVEN;\n"
                              "red.global.add.u32 [%rd1+4], 1;\n"
                              "$EVEN: add.u32 %r2, %r2, 1;\n"
                              "st.global.u32 [%rd1], %r2;\n"),
                     "k");
            uint32_t *y = gpu_buffer(&g, 8, zero);
            const void *args[] = {&y};
            free(zero);
            g.options.threads = threads;
            assert_ok(gpu_try(&g, BLOCKS_THAT_RACE, 1, 0, args, 1));
            if (threads == 1)
                instructions = g.result.counts.warp_instructions;
            assert_int_equal(y[0], BLOCKS_THAT_RACE);
            assert_int_equal(y[1], BLOCKS_THAT_RACE / 2);
            assert_int_equal(g.result.counts.warp_instructions, instructions);
            assert_int_equal(g.result.finding_count, 1);
            assert_int_equal(g.result.findings[0].check, LAB_SIM_RACE);
            gpu_close(&g);
        }
}

TEST_CASE(atomics_equal_c)
{
    struct gpu g;
    const uint32_t *y =
        run_body(&g,
                 BODY("", "add.u32 %r2, %r1, 3;\n"
                          "red.global.add.u32 [%rd1], %r2;\n"
                          "red.global.max.s32 [%rd1+4], %r2;\n"
                          "red.global.or.b32 [%rd1+8], %r2;\n"
                          "red.global.xor.b32 [%rd1+12], %r2;\n"
                          "red.global.inc.u32 [%rd1+16], 40;\n"
                          "cvta.to.global.u64 %rd3, %rd1;\n"
                          "cvt.u64.u32 %rd4, %r2;\n"
                          "red.global.add.u64 [%rd3+24], %rd4;\n"
                          "atom.min.u32 %r4, [%rd1+32], %r2;\n"
                          "mov.b32 %r5, 0x3C003C00;\n"
                          "red.global.add.noftz.f16x2 [%rd1+36], %r5;\n"),
                 2, 64, 64);
    expect_no_finding(&g);
    uint32_t sum = 0;
    uint32_t any = 0;
    uint32_t odd = 0;
    for (uint32_t v = 3; v < 131; v++) {
        sum += v;
        any |= v;
        odd ^= v;
    }
    assert_int_equal(y[0], sum);
    assert_int_equal(y[1], 130);
    assert_int_equal(y[2], any);
    assert_int_equal(y[3], odd);
    assert_int_equal(y[4], 128 % 41);
    assert_int_equal(y[6], sum);
    assert_int_equal(y[8], 0);
    assert_int_equal(y[9], 0x58005800); /* 128.0 */
    gpu_close(&g);
}

TEST_CASE(lanes_vote_and_match)
{
    struct gpu g;
    const uint32_t *y =
        run_body(&g,
                 BODY("", "and.b32 %r2, %r1, 3;\n"
                          "setp.eq.u32 %p1, %r2, 1;\n"
                          "vote.sync.ballot.b32 %r3, %p1, -1;\n"
                          "vote.sync.any.pred %p2, %p1, -1;\n"
                          "vote.sync.all.pred %p3, %p1, -1;\n"
                          "selp.u32 %r4, 1, 0, %p2;\n"
                          "selp.u32 %r5, 2, 0, %p3;\n"
                          "match.any.sync.b32 %r6, %r2, -1;\n"
                          "redux.sync.add.u32 %r7, %r1, -1;\n"
                          "shfl.sync.bfly.b32 %r8|%p4, %r1, 5, 31, -1;\n"
                          "shfl.sync.up.b32 %r9|%p5, %r1, 2, 0, -1;\n"
                          "selp.u32 %r9, %r9, 1000, %p5;\n"
                          "shfl.sync.idx.b32 %r10, %r1, 3, 0x181F, -1;\n"
                          "add.u32 %r11, %r4, %r5;\n"
                          "mad.lo.u32 %r12, %r1, 28, 0;\n"
                          "cvt.u64.u32 %rd3, %r12;\n"
                          "add.u64 %rd4, %rd1, %rd3;\n"
                          "st.global.u32 [%rd4], %r3;\n"
                          "st.global.u32 [%rd4+4], %r11;\n"
                          "st.global.u32 [%rd4+8], %r6;\n"
                          "st.global.u32 [%rd4+12], %r7;\n"
                          "st.global.u32 [%rd4+16], %r8;\n"
                          "st.global.u32 [%rd4+20], %r9;\n"
                          "st.global.u32 [%rd4+24], %r10;\n"),
                 1, 32, 32 * 7);
    expect_no_finding(&g);
    for (uint32_t l = 0; l < 32; l++) {
        const uint32_t *v = y + 7 * l;
        assert_int_equal(v[0], 0x22222222);
        assert_int_equal(v[1], 1);
        assert_int_equal(v[2], 0x11111111u << (l & 3));
        assert_int_equal(v[3], 31 * 16);
        assert_int_equal(v[4], l ^ 5);
        assert_int_equal(v[5], l < 2 ? 1000 : l - 2);
        assert_int_equal(v[6], (l & 24) + 3);
    }
    gpu_close(&g);
}

/* Constant memory has a cache of its own: what a lane loads there is no request. */
TEST_CASE(loads_of_constants_are_no_requests)
{
    struct gpu g;
    const uint32_t *y = run_body(
        &g,
        BODY(".const .align 4 .b8 table[8] = {1, 0, 0, 0, 44, 1, 0, 0};\n",
             "and.b32 %r2, %r1, 1;\n"
             "mul.wide.u32 %rd5, %r2, 4;\n"
             "mov.u64 %rd6, table;\n"
             "add.u64 %rd6, %rd6, %rd5;\n"
             "ld.const.u32 %r3, [%rd6];\n"
             "ld.const.u32 %r4, [table+4];\n"
             "add.u32 %r3, %r3, %r4;\n"
             "st.global.u32 [%rd2], %r3;\n"),
        1, 32, 32);
    assert_int_equal(y[0], 301);
    assert_int_equal(y[1], 600);
    assert_int_equal(g.result.counts.load_requests, 0);
    assert_int_equal(g.result.counts.load_sectors, 0);
    assert_int_equal(g.result.counts.store_requests, 1);
    assert_int_equal(g.result.counts.global_requests, 1);
    assert_int_equal(g.result.counts.global_bytes, 32 * 4);
    gpu_close(&g);
}

/* A function with parameters and a result, called by half of the lanes, one of a
 * library, vectors, local memory, a constant and a text. */
TEST_CASE(functions_are_called)
{
    struct gpu g;
    const uint32_t *y = run_body(
        &g,
        BODY(".const .align 4 .b8 table[8] = {1, 0, 0, 0, 44, 1, 0, 0};\n"
             ".global .align 1 .b8 text[12] = {108, 97, 110, 101, 32, 37, 100, "
             "32, 37, 102, 10, 0};\n"
             ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 "
             "b);\n"
             ".extern .func (.param .b32 r) tanhf(.param .b32 a);\n"
             ".func (.param .b32 r) twice(.param .b32 a, .param .b32 b)\n{\n"
             ".reg .b32 %r<4>; .reg .pred %p<2>;\n"
             "ld.param.u32 %r1, [a]; ld.param.u32 %r2, [b];\n"
             "setp.gt.u32 %p1, %r1, 20;\n"
             "mad.lo.u32 %r3, %r1, 2, %r2;\n"
             "st.param.b32 [r], %r3;\n"
             "@%p1 ret;\n"
             "add.u32 %r3, %r3, 1000;\n"
             "st.param.b32 [r], %r3;\n"
             "ret;\n}\n",
             ".local .align 16 .b8 depot[32];\n"
             "mov.u32 %r10, 7;\n"
             "and.b32 %r2, %r1, 1;\n"
             "setp.eq.u32 %p1, %r2, 0;\n"
             "@%p1 bra $SKIP;\n"
             "{ .param .b32 a0; .param .b32 a1; .param .b32 r0;\n"
             "st.param.b32 [a0], %r1;\n"
             "ld.const.u32 %r3, [table+4];\n"
             "st.param.b32 [a1], %r3;\n"
             "call.uni (r0), twice, (a0, a1);\n"
             "ld.param.b32 %r10, [r0]; }\n"
             "$SKIP:\n"
             "mov.u64 %rd5, depot;\n"
             "cvta.local.u64 %rd6, %rd5;\n"
             "mov.b64 %rd7, {%r10, %r1};\n"
             "mov.b64 {%r4, %r5}, %rd7;\n"
             "st.local.v2.u32 [%rd5+8], {%r4, %r5};\n"
             "ld.u32 %r6, [%rd6+12];\n"
             "ld.local.u32 %r7, [depot+8];\n"
             "add.u32 %r8, %r6, %r7;\n"
             "st.global.u32 [%rd2], %r8;\n"
             "{ .param .b32 a0; .param .b32 r0;\n"
             "mov.f32 %f1, 0f3F000000;\n"
             "st.param.f32 [a0], %f1;\n"
             "call.uni (r0), tanhf, (a0);\n"
             "ld.param.f32 %f2, [r0]; }\n"
             "setp.ne.u32 %p2, %r1, 3;\n"
             "@%p2 ret;\n"
             "st.local.u32 [depot+16], %r8;\n"
             "cvt.f64.f32 %d1, %f2;\n"
             "st.local.f64 [depot+24], %d1;\n"
             "add.u64 %rd8, %rd6, 16;\n"
             "mov.u64 %rd9, text;\n"
             "cvta.global.u64 %rd10, %rd9;\n"
             "{ .param .b64 a0; .param .b64 a1; .param .b32 r0;\n"
             "st.param.b64 [a0], %rd10;\n"
             "st.param.b64 [a1], %rd8;\n"
             "call.uni (r0), vprintf, (a0, a1); }\n"),
        1, 40, 40);
    expect_no_finding(&g);
    for (uint32_t t = 0; t < 40; t++) {
        uint32_t called = 2 * t + 300 + (t > 20 ? 0 : 1000);
        assert_int_equal(y[t], t + (t % 2 ? called : 7));
    }
    char text[64];
    snprintf(text, sizeof(text), "lane %d %f\n", 3 + 2 * 3 + 1300,
             (double)(float)tanh(0.5));
    assert_string_equal(g.printed, text);
    gpu_close(&g);
}

/* ---- what goes wrong ---- */

static void expect_finding(const char *ptx, uint32_t threads,
                           enum lab_sim_check check, const char *words)
{
    struct gpu g;
    uint32_t *zero = calloc(1024, 4);
    gpu_open(&g, ptx, "k");
    uint32_t *y = gpu_buffer(&g, 4096, zero);
    const void *args[] = {&y};
    free(zero);
    g.options.budget = 100000;
    if (gpu_try(&g, 1, threads, 0, args, 1))
        fail_msg("%s", lab_error());
    assert_int_equal(g.result.finding_count, 1);
    if (g.result.findings[0].check != check ||
        !strstr(g.result.findings[0].message, words))
        fail_msg("%s: %s", lab_sim_check_id(g.result.findings[0].check),
                 g.result.findings[0].message);
    gpu_close(&g);
}

#define BEFORE_VOLTA(text)                                                     \
    ".version 6.0\n.target sm_60\n.address_size 64\n"                          \
    ".visible .entry k(.param .u64 y)\n{\n"                                    \
    ".reg .pred %p<2>; .reg .b32 %r<2>; mov.u32 %r1, %tid.x;\n" text           \
    "ret;\n}\n"

/* A struct of 4 bytes and 1 in shared memory, of which a copy takes all 8. */
#define PADDED(from, text)                                                     \
    BODY("", ".shared .align 8 .b8 s[32];\nst.shared.u32 [s], %r1;\n"          \
             "cvt.u16.u32 %h1, %r1; st.shared.u8 [s+4], %h1;\n"                \
             "st.shared.u8 [s+12], %h1;\n"                                     \
             "ld.shared.u64 %rd3, [s+" #from "-8];\n" text                     \
             "st.global.u64 [%rd1], %rd3;\n")

TEST_CASE(faults_are_found)
{
    expect_finding(BODY("", "$A: bra $A;\n"), 32, LAB_SIM_BUDGET, "100000");
    expect_finding(BODY("", "setp.lt.u32 %p1, %r1, 16;\n"
                            "@%p1 bra $B;\nbra $E;\n$B: bar.sync 0;\n$E:\n"),
                   32, LAB_SIM_BARRIER, "not all threads");
    expect_finding(BODY("", "setp.lt.u32 %p1, %r1, 16;\n@%p1 bar.sync 0;\n"),
                   32, LAB_SIM_BARRIER, "not all threads");
    expect_finding(BODY("", "setp.lt.u32 %p1, %r1, 32;\n"
                            "@%p1 bra $B;\nbar.sync 0;\nbra $E;\n"
                            "$B: bar.sync 0;\n$E:\n"),
                   64, LAB_SIM_BARRIER, "another barrier");
    expect_finding(BEFORE_VOLTA("setp.ge.u32 %p1, %r1, 64;\n@%p1 ret;\n"
                                "bar.sync 0;\n"),
                   96, LAB_SIM_BARRIER, "32 threads never reach");
    expect_finding(BEFORE_VOLTA("setp.gt.u32 %p1, %r1, 40;\n@%p1 ret;\n"
                                "bar.sync 0;\n"),
                   64, LAB_SIM_BARRIER, "23 threads never reach");
    expect_finding(BODY("", "setp.ge.u32 %p1, %r1, 64;\n@%p1 ret;\n"
                            "bar.sync 0, 96;\n"),
                   96, LAB_SIM_BARRIER, "deadlock");
    expect_finding(PADDED(8, "add.u64 %rd3, %rd3, 1;\n"), 1,
                   LAB_SIM_UNINITIALISED, "byte 5");
    expect_finding(PADDED(24, ""), 1, LAB_SIM_UNINITIALISED, "byte 16");
    expect_finding(BODY("", "bar.sync 1, 96;\n"), 64, LAB_SIM_BARRIER,
                   "deadlock");
    expect_finding(BODY("", "mov.u32 %r2, 0; setp.lt.u32 %p1, %r1, 16;\n"
                            "@!%p1 bra $E;\n"
                            "shfl.sync.down.b32 %r2, %r1, 8, 31, -1;\n"
                            "$E: st.global.u32 [%rd2], %r2;\n"),
                   32, LAB_SIM_SHUFFLE, "mask");
    expect_finding(BODY("", "bar.warp.sync 0xFFFF;\n"), 32, LAB_SIM_SHUFFLE,
                   "does not name");
    expect_finding(BODY("", "st.global.u32 [%rd1+4096], %r1;\n"), 1,
                   LAB_SIM_MEMORY, "");
    expect_finding(BODY("", "trap;\n"), 32, LAB_SIM_MEMORY, "stopped itself");
    /* Registers that nothing wrote. */
    expect_finding(BODY("", "mov.u32 %r2, 0;\n"
                            "$A: add.f32 %f1, %f1, 0f3F800000;\n"
                            "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 5;\n"
                            "@%p1 bra $A;\nst.global.f32 [%rd2], %f1;\n"),
                   32, LAB_SIM_UNINITIALISED, "what it gives is stored");
    expect_finding(BODY("", "setp.lt.u32 %p1, %r1, 16;\n"
                            "@%p1 mov.u32 %r2, 5;\n"
                            "st.global.u32 [%rd2], %r2;\n"),
                   32, LAB_SIM_UNINITIALISED, "what it gives is stored");
    expect_finding(BODY("", "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra $E;\n$E:\n"),
                   32, LAB_SIM_UNINITIALISED, "decides a branch");
    /* Lane 0 gets it from lane 16. */
    expect_finding(BODY("", "setp.lt.u32 %p1, %r1, 16;\n"
                            "@%p1 mov.u32 %r2, 5;\n"
                            "shfl.sync.down.b32 %r3, %r2, 16, 31, -1;\n"
                            "setp.eq.u32 %p2, %r1, 0;\n"
                            "@%p2 st.global.u32 [%rd2], %r3;\n"),
                   32, LAB_SIM_UNINITIALISED, "what it gives is stored");
}

/* A lane that waits for others that come later, and barriers of
 * some warps are right. */
TEST_CASE(what_is_right_is_not_found)
{
    static const char *const texts[] = {
        BODY("", "setp.lt.u32 %p1, %r1, 64;\n@!%p1 bra $E;\nbar.sync 1, 64;\n"
                 "$E: bar.sync 0;\n"),
        BODY("", "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra $P;\n"
                 "bar.sync 2, 128;\nbra $E;\n$P: bar.arrive 2, 128;\n$E:\n"),
        BODY("", "and.b32 %r2, %r1, 31;\nsetp.lt.u32 %p1, %r2, 16;\n"
                 "@!%p1 bra $E;\n"
                 "shfl.sync.down.b32 %r3, %r1, 8, 0x101F, 0xFFFF;\n"
                 "bar.warp.sync 0xFFFF;\n$E:\n"),
        /* From Volta on, who has left is not waited for. */
        BODY("", "setp.gt.u32 %p1, %r1, 40;\n@%p1 ret;\nbar.sync 0;\n"),
        BODY("", "setp.ge.u32 %p1, %r1, 64;\n@%p1 ret;\nbarrier.sync 0;\n"),
        /* Written on one of two ways; computed with, and dropped; a part of a
         * vector, and of a word. */
        BODY("", "setp.lt.u32 %p1, %r1, 16;\n@%p1 mov.u32 %r2, 5;\n"
                 "@!%p1 mov.u32 %r2, 6;\nst.global.u32 [%rd2], %r2;\n"),
        BODY("", "setp.gt.u32 %p1, %r1, 1000;\nadd.u32 %r3, %r2, 1;\n"
                 "selp.u32 %r4, %r3, %r1, %p1;\n"
                 "st.global.u32 [%rd2], %r4;\n"),
        BODY("", "setp.ge.u32 %p1, %r1, 64;\n@%p1 ret;\n"
                 "mad.wide.u32 %rd3, %r1, 8, %rd1;\n"
                 "st.global.v2.u32 [%rd3], {%r1, %r2};\n"),
        BODY("", "prmt.b32 %r3, %r1, %r2, 0x3240;\n"
                 "st.global.u32 [%rd2], %r3;\n"),
    };
    for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
        struct gpu g;
        run_body(&g, texts[k], 2, 128, 256);
        expect_no_finding(&g);
        gpu_close(&g);
    }
}

/* The padding of a struct is not what nothing wrote, where it is copied. */
TEST_CASE(a_copy_of_a_struct_reads_its_padding)
{
    struct gpu g;
    run_body(&g, PADDED(8, ""), 1, 1, 256);
    expect_no_finding(&g);
    gpu_close(&g);
}

/* A thread that repeats its fault costs little, and is counted. */
TEST_CASE(a_fault_that_is_repeated_is_one)
{
    struct gpu g;
    run_body(&g,
             BODY("", ".shared .align 4 .b8 s[256];\n"
                      "st.shared.u32 [s], %r1; mov.u32 %r2, 0;\n"
                      "bar.warp.sync -1;\n$A: ld.shared.u32 %r3, [s];\n"
                      "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 5000;\n"
                      "@%p1 bra $A;\n"),
             1, 64, 256);
    assert_true(g.result.finding_count >= 1 && g.result.finding_count <= 3);
    int64_t times = 0;
    for (int k = 0; k < g.result.finding_count; k++)
        times += g.result.findings[k].times;
    assert_true(times >= 5000);
    gpu_close(&g);
}

/* Blocks 3 and 9 loop for longer than the others. */
TEST_CASE(one_budget_for_any_number_of_threads)
{
    static const int64_t budgets[] = {900, 4000, 20000};
    static const uint32_t blocks[] = {1, 3, 9};
    for (int k = 0; k < 3; k++)
        for (int threads = 1; threads < 5; threads++) {
            struct gpu g;
            gpu_open(&g,
                     BODY("", "setp.eq.u32 %p1, %r17, 3; mov.u32 %r2, 200;\n"
                              "setp.eq.u32 %p2, %r17, 9;\n"
                              "selp.u32 %r2, 3000, %r2, %p1;\n"
                              "selp.u32 %r2, 90000, %r2, %p2;\n"
                              "$A: sub.u32 %r2, %r2, 1;\n"
                              "setp.ne.u32 %p3, %r2, 0;\n@%p3 bra $A;\n"),
                     "k");
            void *y = NULL;
            const void *args[] = {&y};
            g.options.threads = threads;
            g.options.budget = budgets[k];
            if (gpu_try(&g, 20, 32, 0, args, 1))
                fail_msg("%s", lab_error());
            assert_int_equal(g.result.finding_count, 1);
            assert_int_equal(g.result.findings[0].check, LAB_SIM_BUDGET);
            assert_int_equal(g.result.findings[0].at.block[0], blocks[k]);
            gpu_close(&g);
        }
}

/* The n-th bit that is set, and a sign that is spread. */
TEST_CASE(bits_are_found_and_extended)
{
    struct gpu g;
    uint32_t *y = run_body(
        &g,
        BODY("",
             "fns.b32 %r2, 0x00010110, 4, 2; st.global.u32 [%rd1], %r2;\n"
             "fns.b32 %r2, 0x00010110, 31, -1; st.global.u32 [%rd1+4], %r2;\n"
             "fns.b32 %r2, 0x00010110, 4, 0; st.global.u32 [%rd1+8], %r2;\n"
             "fns.b32 %r2, 0x00010110, 5, 3; st.global.u32 [%rd1+12], %r2;\n"
             "mov.u32 %r3, 0xF8; szext.wrap.s32 %r2, %r3, 8;\n"
             "st.global.u32 [%rd1+16], %r2;\n"
             "szext.clamp.u32 %r2, %r3, 4; st.global.u32 [%rd1+20], %r2;\n"),
        1, 1, 8);
    expect_no_finding(&g);
    const uint32_t expected[] = {8, 16, 4, ~0u, 0xFFFFFFF8, 8};
    for (int k = 0; k < 6; k++)
        assert_int_equal(y[k], expected[k]);
    gpu_close(&g);
}

/* As many as the machine's code has: of a division five fused multiply-adds, of a root
 * of 0 none, near the ends of the range those of a function, or of what scales a number
 * and the result. */
TEST_CASE(flop_are_those_of_the_machine)
{
#define ONE "mov.f32 %f1, 0f3F800000;\n"
#define TINY "mov.f32 %f1, 0f00000001;\n"
#define LEAST "mov.f32 %f1, 0fC2FE0000;\n" /* -127 */
#define NAN_F32 "mov.f32 %f1, 0f7FC00000;\n"
#define LATER "add.f32 %f5, %f1, %f2;\n"
#define THREE "mov.f64 %d1, 0d4008000000000000;\n"
    static const struct {
        const char *text;
        int64_t flops;
        int64_t flops_f64;
    } cases[] = {
        {BODY("", "div.rn.f32 %f2, %f1, %f1;\n"), 10, 0},
        {BODY("", "div.full.f32 %f2, %f1, %f1;\n"), 1, 0},
        {BODY("", "mov.f32 %f1, 0f40000000; sqrt.rn.f32 %f2, %f1;\n"), 6, 0},
        {BODY("", "mov.f32 %f1, 0f00000000; sqrt.rn.f32 %f2, %f1;\n"), 0, 0},
        {BODY("", "rcp.rn.f32 %f2, %f1;\n"), 5, 0},
        {BODY("", "rcp.approx.ftz.f32 %f2, %f1;\n"), 0, 0},
        {BODY("", ONE "rsqrt.approx.f32 %f2, %f1;\n"), 0, 0},
        {BODY("", TINY "rsqrt.approx.f32 %f2, %f1;\n"), 2, 0},
        {BODY("", TINY "rsqrt.approx.ftz.f32 %f2, %f1;\n"), 0, 0},
        {BODY("", TINY "sqrt.approx.f32 %f2, %f1;\n"), 2, 0},
        {BODY("", TINY "lg2.approx.f32 %f2, %f1;\n"), 2, 0},
        {BODY("", TINY "ex2.approx.f32 %f2, %f1;\n"), 0, 0},
        {BODY("", LEAST "ex2.approx.f32 %f2, %f1;\n"), 2, 0},
        /* %f1 is read later: it is multiplied in another register, by all. */
        {BODY("", ONE "rsqrt.approx.f32 %f2, %f1;\n" LATER), 1 + 1, 0},
        {BODY("", TINY "rsqrt.approx.f32 %f2, %f1;\n" LATER), 2 + 1, 0},
        /* The comparison for a small number is false for NaN. */
        {BODY("", NAN_F32 "rsqrt.approx.f32 %f2, %f1;\n"), 0, 0},
        {BODY("", NAN_F32 "lg2.approx.f32 %f2, %f1;\n"), 0, 0},
        {BODY("", NAN_F32 "div.approx.f32 %f2, %f1, %f1;\n"), 1, 0},
        {BODY("", ONE "ex2.approx.f32 %f2, %f1;\n" LATER), 1 + 1, 0},
        {BODY("", ONE "neg.f32 %f3, %f1; ex2.approx.f32 %f2, %f3;\n"), 1, 0},
        {BODY("", ONE "div.approx.f32 %f2, %f1, %f1;\n"), 1, 0},
        {BODY("", TINY "div.approx.f32 %f2, %f1, %f1;\n"), 3, 0},
        {BODY("", TINY "div.approx.f32 %f2, 0f3F800000, %f1;\n"), 2, 0},
        {BODY("", ONE "div.approx.f32 %f2, %f1, %f1;\n" LATER), 3 + 1, 0},
        {BODY("", "fma.rn.f32 %f2, %f1, %f1, %f1;\n"), 2, 0},
        {BODY("", "mov.f64 %d1, 0d4008000000000000; mov.f64 %d2, "
                  "0d401C000000000000;\n"
                  "div.rn.f64 %d3, %d1, %d2;\n"),
         2, 15}, /* 3.0 / 7.0 */
        {BODY("", "mov.f64 %d1, 0d0000000000000000; mov.f64 %d2, "
                  "0d4000000000000000;\n"
                  "div.rn.f64 %d3, %d1, %d2;\n"),
         2, 32}, /* 0.0 / 2.0 */
        {BODY("", "mov.f64 %d1, 0d0000000000000000; mov.f64 %d2, "
                  "0d0000000000000000;\n"
                  "div.rn.f64 %d3, %d1, %d2;\n"),
         2, 33}, /* 0.0 / 0.0 */
        {BODY("", "mov.f64 %d1, 0d3FF0000000000000; mov.f64 %d2, "
                  "0d0000000000000000;\n"
                  "div.rn.f64 %d3, %d1, %d2;\n"),
         2, 31}, /* 1.0 / 0.0 */
        {BODY("", "mov.f64 %d1, 0d7FF0000000000000; mov.f64 %d2, "
                  "0d4008000000000000;\n"
                  "div.rn.f64 %d3, %d1, %d2;\n"),
         2, 30}, /* inf / 3.0 */
        {BODY("", "mov.f64 %d1, 0d01A56E1FC2F8F359; mov.f64 %d2, "
                  "0d4000000000000000;\n"
                  "div.rn.f64 %d3, %d1, %d2;\n"),
         2, 31}, /* 1e-300 / 2.0 */
        {BODY("", "mov.f64 %d1, 0d3FF0000000000000; mov.f64 %d2, "
                  "0d7FC55C576D815726;\n"
                  "div.rn.f64 %d3, %d1, %d2;\n"),
         2, 31}, /* 1.0 / 3e+307 */
        {BODY("", "mov.f64 %d1, 0d0170000000000000; mov.f64 %d2, "
                  "0d43B0000000000000;\n"
                  "div.rn.f64 %d3, %d1, %d2;\n"),
         2, 33}, /* 9.332636185032189e-302 / 1.152921504606847e+18 */
        {BODY("", "mov.f64 %d1, 0d01A792BC89AB7215; mov.f64 %d2, "
                  "0d4202A05F20000000;\n"
                  "div.rn.f64 %d3, %d1, %d2;\n"),
         2, 36}, /* 1.1e-300 / 10000000000.0 */
        {BODY("", "mov.f64 %d1, 0d00000000000007E8; mov.f64 %d2, "
                  "0d4008000000000000;\n"
                  "div.rn.f64 %d3, %d1, %d2;\n"),
         2, 38}, /* 1e-320 / 3.0 */
        {BODY("", "mov.f64 %d1, 0d4008000000000000;\n"
                  "rcp.rn.f64 %d3, %d1;\n"),
         0, 10}, /* rcp of 3.0 */
        {BODY("", "mov.f64 %d1, 0d0000000000000000;\n"
                  "rcp.rn.f64 %d3, %d1;\n"),
         0, 10}, /* rcp of 0.0 */
        {BODY("", "mov.f64 %d1, 0d7FE1CCF385EBC8A0;\n"
                  "rcp.rn.f64 %d3, %d1;\n"),
         0, 27}, /* rcp of 1e+308 */
        {BODY("", "mov.f64 %d1, 0d000012688B70E62B;\n"
                  "rcp.rn.f64 %d3, %d1;\n"),
         0, 22}, /* rcp of 1e-310 */
        {BODY("", "mov.f64 %d1, 0d4000000000000000;\n"
                  "sqrt.rn.f64 %d3, %d1;\n"),
         0, 13}, /* sqrt of 2.0 */
        {BODY("", "mov.f64 %d1, 0d0000000000000000;\n"
                  "sqrt.rn.f64 %d3, %d1;\n"),
         0, 14}, /* sqrt of 0.0 */
        {BODY("", "mov.f64 %d1, 0dBFF0000000000000;\n"
                  "sqrt.rn.f64 %d3, %d1;\n"),
         0, 13}, /* sqrt of -1.0 */
        {BODY("", "mov.f64 %d1, 0d01A56E1FC2F8F359;\n"
                  "sqrt.rn.f64 %d3, %d1;\n"),
         0, 17}, /* sqrt of 1e-300 */
        {BODY("", "mov.f64 %d1, 0d00000000000007E8;\n"
                  "sqrt.rn.f64 %d3, %d1;\n"),
         0, 27}, /* sqrt of 1e-320 */
        /* A sign is part of an operand, or a sum with zero. */
        {BODY("", THREE "abs.f64 %d2, %d1; add.f64 %d3, %d2, %d1;\n"), 0, 1},
        {BODY("", THREE "neg.f64 %d2, %d1; setp.gt.f64 %p1, %d2, %d1;\n"), 0,
         0},
        {BODY("", THREE "neg.f64 %d2, %d1; setp.gt.f64 %p1, %d2, %d1;\n"
                        "selp.f64 %d3, %d2, %d1, %p1;\n"),
         0, 1},
        {BODY("", THREE "abs.f64 %d2, %d1; mov.b64 %rd5, %d2;\n"), 0, 1},
        {BODY("", THREE "mov.f64 %d2, %d1; abs.f64 %d2, %d1;\n"), 0, 1},
        {BODY("", "cvt.sat.f32.f32 %f2, %f1;\n"), 1, 0},
        {BODY("", "add.f32 %f2, %f1, %f1; cvt.sat.f32.f32 %f3, %f2;\n"), 1, 0},
        {BODY("", "add.f32 %f2, %f1, %f1; cvt.sat.f32.f32 %f3, %f2;\n"
                  "add.f32 %f4, %f2, %f3;\n"),
         3, 0},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct gpu g;
        run_body(&g, cases[k].text, 1, 32, 8);
        assert_int_equal(g.result.counts.flops, 32 * cases[k].flops);
        assert_int_equal(g.result.counts.flops_f64, 32 * cases[k].flops_f64);
        gpu_close(&g);
    }
#undef ONE
#undef TINY
#undef LEAST
#undef LATER
#undef THREE
}

/* 32 lanes multiply or add, and 5 take the result: these alone do it where the other
 * value is in a register that may become the result's. */
TEST_CASE(a_sum_that_is_chosen_is_under_a_predicate)
{
#define VALUES                                                                 \
    "cvt.rn.f32.u32 %f1, %r1; cvt.rn.f32.u32 %f2, %r18;\n"                     \
    "setp.lt.u32 %p1, %r1, 5;\n"
#define SQUARE "mul.f32 %f3, %f1, %f1;\n"
#define SUM "add.f32 %f5, %f2, %f2;\n"
    static const struct {
        const char *text;
        int64_t muls;
        int64_t adds;
    } cases[] = {
        {BODY("", VALUES SQUARE "selp.f32 %f4, %f3, %f2, %p1;\n"), 5, 0},
        {BODY("", VALUES SQUARE "selp.f32 %f4, %f2, %f3, %p1;\n"), 27, 0},
        {BODY("", VALUES SQUARE "selp.f32 %f1, %f3, %f1, %p1;\n"), 5, 0},
        /* It is read later, has another sign, or is a constant. */
        {BODY("", VALUES SQUARE "selp.f32 %f4, %f3, %f2, %p1;\n" SUM), 32, 32},
        {BODY("",
              VALUES SQUARE "abs.f32 %f5, %f2; selp.f32 %f4, %f3, %f5, %p1;\n"),
         32, 0},
        {BODY("",
              VALUES SQUARE "neg.f32 %f5, %f2; selp.f32 %f4, %f3, %f5, %p1;\n"),
         32, 0},
        {BODY("", VALUES SQUARE "selp.f32 %f4, %f3, 0f3F800000, %p1;\n"), 32,
         0},
        {BODY("", VALUES SQUARE
              "mov.f32 %f5, 0f3F800000; selp.f32 %f4, %f3, %f5, %p1;\n"),
         32, 0},
        /* Of two, the later. */
        {BODY("", VALUES SUM SQUARE "selp.f32 %f4, %f3, %f5, %p1;\n"), 5, 32},
        {BODY("", VALUES SQUARE SUM "selp.f32 %f4, %f3, %f5, %p1;\n"), 32, 27},
        /* %f6 may be what nothing wrote, which is followed, too. */
        {BODY("", VALUES "setp.gt.u32 %p2, %r1, 99; @%p2 bra $L;\n"
                         "cvt.rn.f32.u32 %f6, %r18;\n$L:\n" SQUARE
                         "selp.f32 %f4, %f3, %f6, %p1;\n"),
         5, 0},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct gpu g;
        (void)run_body(&g, cases[k].text, 1, 32, 32);
        if (g.result.counts.f32_muls != cases[k].muls ||
            g.result.counts.f32_adds != cases[k].adds)
            fail_msg("case %zu: %lld products, %lld sums", k,
                     (long long)g.result.counts.f32_muls,
                     (long long)g.result.counts.f32_adds);
        gpu_close(&g);
    }
#undef VALUES
#undef SQUARE
#undef SUM
}

/* 256 threads read a value of their block, which the lanes of 40 elements use: ptxas has
 * the load behind the branch to the end, also where another value is loaded under a
 * condition between. */
TEST_CASE(a_value_of_a_block_is_loaded_behind_an_exit)
{
#define PART ".shared .align 8 .b8 part[8];\n"
#define STORE                                                                  \
    "cvt.rn.f32.u32 %f1, %r18; st.shared.f32 [part], %f1;\n"                   \
    "bar.sync 0; ld.shared.f32 %f2, [part];\n"
#define MAYBE                                                                  \
    "mov.f32 %f3, %f1; setp.eq.u32 %p2, %r18, 7; @%p2 bra $N;\n"               \
    "ld.global.f32 %f3, [%rd1];\n$N:\n"
#define LEAVE "setp.ge.u32 %p1, %r1, 40; @%p1 bra $E;\n"
#define KEEP "st.global.f32 [%rd2], %f2;\n$E:\n"
    static const struct {
        const char *text;
        int64_t wavefronts; /* 8 of the stores */
    } cases[] = {
        {BODY(PART, STORE LEAVE KEEP), 8 + 2},
        {BODY(PART, STORE MAYBE LEAVE KEEP), 8 + 2},
        {BODY(PART, STORE "add.f32 %f4, %f2, %f1;\n" LEAVE KEEP), 8 + 8},
        /* An address in a register may be another for each lane. */
        {BODY(PART, STORE
              "mov.u32 %r2, part; ld.shared.f32 %f2, [%r2];\n" LEAVE KEEP),
         8 + 8 + 8},
        /* Memory may change behind the load. */
        {BODY(PART,
              STORE "bar.sync 0; st.shared.f32 [part], %f1;\n" LEAVE KEEP),
         8 + 8 + 8},
    };
#undef PART
#undef STORE
#undef MAYBE
#undef LEAVE
#undef KEEP
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct gpu g;
        (void)run_body(&g, cases[k].text, 1, 256, 256);
        if (g.result.counts.shared_wavefronts != cases[k].wavefronts)
            fail_msg("case %zu: %lld wavefronts", k,
                     (long long)g.result.counts.shared_wavefronts);
        gpu_close(&g);
    }
}

/* 32 lanes add; 5 of them go on behind the branch to the end. */
TEST_CASE(a_sum_of_a_shuffle_comes_behind_an_exit)
{
#define SHUFFLED                                                               \
    "cvt.rn.f64.u32 %d1, %r1; mov.b64 {%r2, %r3}, %d1;\n"                      \
    "shfl.sync.bfly.b32 %r4|%p2, %r2, 1, 31, -1;\n"                            \
    "shfl.sync.bfly.b32 %r5|%p2, %r3, 1, 31, -1;\n"                            \
    "mov.b64 %d2, {%r4, %r5}; add.f64 %d3, %d1, %d2;\n"                        \
    "setp.ge.u32 %p1, %r1, 5;\n"
#define ROUND "cvt.rn.f32.f64 %f2, %d3;\n"
#define LEAVE "@%p1 bra $E;\n"
#define KEEP "st.global.f32 [%rd2], %f2;\n$E:\n"
    static const struct {
        const char *text;
        int64_t flops;
        int64_t flops_f64;
    } cases[] = {
        /* In fp64 where a load takes longer. */
        {BODY("", SHUFFLED LEAVE ROUND KEEP), 0, 32},
        {BODY("", SHUFFLED LEAVE "ld.global.f32 %f3, [%rd2];\n" ROUND KEEP), 0,
         5},
        {BODY("", SHUFFLED ROUND LEAVE "ld.global.f32 %f3, [%rd2];\n" KEEP), 0,
         5},
        {BODY("", SHUFFLED ROUND LEAVE KEEP), 0, 32},
        /* What lanes that end have read is theirs; what is written there again
         * is another value. */
        {BODY("", SHUFFLED ROUND "st.global.f32 [%rd1], %f2;\n" LEAVE
                                 "ld.global.f32 %f3, [%rd2];\n" KEEP),
         0, 32},
        {BODY("", SHUFFLED LEAVE "ld.global.f32 %f3, [%rd2];\n" ROUND
                                 "mov.f64 %d3, %d1;\n" KEEP),
         0, 5},
        {BODY("", "cvt.rn.f32.u32 %f1, %r1; mov.b32 %r2, %f1;\n"
                  "shfl.sync.bfly.b32 %r4|%p2, %r2, 1, 31, -1;\n"
                  "mov.b32 %f3, %r4; add.f32 %f2, %f1, %f3;\n"
                  "setp.ge.u32 %p1, %r1, 5;\n" LEAVE KEEP),
         5, 0},
    };
#undef SHUFFLED
#undef ROUND
#undef LEAVE
#undef KEEP
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct gpu g;
        float *y = (float *)run_body(&g, cases[k].text, 1, 32, 8);
        assert_int_equal(g.result.counts.flops, cases[k].flops);
        assert_int_equal(g.result.counts.flops_f64, cases[k].flops_f64);
        for (int n = 1; n < 5; n++)
            assert_float_equal(y[n], n + (n ^ 1), 0);
        gpu_close(&g);
    }
}

/* (1 + 2^-12) squared, less what it rounds to: fused the last bit is left. */
TEST_CASE(a_product_and_a_sum_are_fused_as_ptxas_does)
{
#define SQUARE(product, rest)                                                  \
    BODY("", "mov.f32 %f1, 0f3F800800; mov.f32 %f4, 0f3F801000;\n" product     \
             " %f2, %f1, %f1;\n" rest "st.global.f32 [%rd1], %f3;\n")
    static const struct {
        const char *text;
        float left;
        int64_t fmas; /* of a lane */
    } cases[] = {
        {SQUARE("mul.f32", "sub.f32 %f3, %f2, %f4;\n"), 0x1p-24F, 1},
        {SQUARE("mul.f32", "sub.f32 %f3, %f4, %f2;\n"), -0x1p-24F, 1},
        {SQUARE("mul.f32", "neg.f32 %f5, %f4; add.f32 %f3, %f5, %f2;\n"),
         0x1p-24F, 1},
        {SQUARE("mul.rn.f32", "sub.f32 %f3, %f2, %f4;\n"), 0, 0},
        {SQUARE("mul.f32", "sub.rn.f32 %f3, %f2, %f4;\n"), 0, 0},
        /* Read by another too; of another block; a factor that has changed. */
        {SQUARE("mul.f32", "sub.f32 %f3, %f2, %f4; max.f32 %f6, %f2, %f3;\n"),
         0, 0},
        {SQUARE("mul.f32", "bra NEXT;\nNEXT: sub.f32 %f3, %f2, %f4;\n"), 0, 0},
        {SQUARE("mul.f32", "mov.f32 %f1, %f4; sub.f32 %f3, %f2, %f4;\n"), 0, 0},
        {SQUARE("setp.lt.u32 %p1, %r1, 99; mul.f32",
                "@%p1 mov.f32 %f1, %f4; sub.f32 %f3, %f2, %f4;\n"),
         0, 0},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct gpu g;
        const uint32_t *y = run_body(&g, cases[k].text, 1, 32, 8);
        float left;
        memcpy(&left, &y[0], sizeof(left));
        expect_no_finding(&g);
        assert_true(left == cases[k].left);
        assert_int_equal(g.result.counts.f32_fmas, 32 * cases[k].fmas);
        gpu_close(&g);
    }
#undef SQUARE
}

/* What a step has left out is known, whatever the memory had before. */
TEST_CASE(what_was_written_can_be_forgotten)
{
    struct gpu g;
    int64_t first;
    gpu_open(&g, BODY("", "st.global.u32 [%rd2+4], %r1;\n"), "k");
    uint32_t zero[16] = {0};
    uint32_t *y = gpu_buffer(&g, sizeof(zero), zero);
    const void *args[] = {&y};
    assert_int_equal(lab_sim_count_unwritten(g.memory, y, 16, 4, &first), 0);
    assert_int_equal(lab_sim_unwritten(g.memory, y + 1, 14 * 4 - 1), LAB_OK);
    assert_int_equal(lab_sim_count_unwritten(g.memory, y, 16, 4, &first), 14);
    assert_int_equal(first, 1);
    gpu_run(&g, 1, 8, 0, args, 1);
    assert_int_equal(lab_sim_count_unwritten(g.memory, y, 16, 4, &first), 6);
    assert_int_equal(first, 9);
    assert_int_equal(y[15], 0);
    gpu_close(&g);
}

static void expect_refusal(const char *ptx, const char *words)
{
    struct lab_sim_memory *memory;
    struct lab_sim_module *module = NULL;
    const struct lab_sim_kernel *kernel;
    assert_int_equal(lab_sim_memory_open(&memory), LAB_OK);
    enum lab_status st =
        lab_sim_module_open(memory, ptx, strlen(ptx), "test.ptx", &module);
    if (!st)
        st = lab_sim_kernel_find(module, "k", &kernel);
    if (!st || !strstr(lab_error(), words))
        fail_msg("%s", st ? lab_error() : ptx);
    lab_sim_module_close(module);
    lab_sim_memory_close(memory);
}

TEST_CASE(what_is_not_known_is_refused)
{
    expect_refusal(BODY("", "frobnicate.s32 %r1, %r2;\n"), "frobnicate.s32");
    expect_refusal(BODY("", "add.s32 %r2, %rd1, %r1;\n"), "another size");
    expect_refusal(BODY("", "add.s32 %r2, %p1, %r1;\n"), "predicate");
    expect_refusal(BODY("", "add.s32 %r2, %r1;\n"), "operands");
    expect_refusal(BODY("", "add.s32 5, %r1, %r1;\n"), "no register");
    expect_refusal(BODY("", "ld.param.u64 %rd3, [y+4];\n"), "outside");
    expect_refusal(BODY("", "mov.u32 %r2, %nonsense;\n"), "nonsense");
    expect_refusal(BODY(".func f()\n{\ncall f;\nret;\n}\n", "call f;\n"),
                   "calls itself");
    expect_refusal(BODY(".extern .func magic();\n", "call magic;\n"), "magic");
    expect_refusal(BODY("", "st.global.v4.u32 [%rd1], {%r1, %r2};\n"),
                   "registers");
    /* 16 is no barrier of PTX, though the simulator keeps the cluster's there. */
    expect_refusal(BODY("", "bar.sync 16;\n"), "barrier 16; there are 0 to 15");
    expect_refusal(BODY("", "barrier.sync.aligned 16, 32;\n"),
                   "barrier 16; there are 0 to 15");
    expect_refusal(BODY("", "bar.arrive 17, 64;\n"), "barrier 17");
    expect_refusal(BODY("", "bar.red.popc.u32 %r2, 16, %p1;\n"), "barrier 16");
}

TEST_CASE(launches_have_limits)
{
    struct gpu g;
    atomic_bool stop = true;
    gpu_open(&g, BODY("", ""), "k");
    void *y = NULL;
    const void *args[] = {&y};
    assert_int_equal(gpu_try(&g, 1, 1025, 0, args, 1), LAB_E_ARG);
    assert_int_equal(gpu_try(&g, 0, 32, 0, args, 1), LAB_E_ARG);
    assert_int_equal(gpu_try(&g, 1, 32, 1 << 20, args, 1), LAB_E_ARG);
    assert_int_equal(gpu_try(&g, 1, 32, 0, args, 0), LAB_E_ARG);
    g.options.stop = &stop;
    assert_int_equal(gpu_try(&g, INT32_MAX, 1024, 0, args, 1), LAB_E_CANCELLED);
    g.options.stop = NULL;
    g.options.budget = 5000;
    assert_int_equal(gpu_try(&g, INT32_MAX, 1024, 0, args, 1), LAB_OK);
    assert_int_equal(g.result.findings[0].check, LAB_SIM_BUDGET);
    gpu_close(&g);
}

static bool past_two_million(void *user)
{
    return atomic_load((atomic_llong *)user) > 2000000;
}

/* Where a kernel was stopped, in as many instructions as it had executed. */
TEST_CASE(a_stop_names_the_place)
{
    struct gpu g;
    char words[64];
    static const int threads[] = {1, 3};
    for (int k = 0; k < 2; k++) {
        atomic_llong executed = 0;
        gpu_open(&g, BODY("", "$A: bra $A;\n"), "k");
        void *y = NULL;
        const void *args[] = {&y};
        g.options.threads = threads[k];
        g.options.executed = &executed;
        g.options.when = (struct lab_stop){past_two_million, &executed};
        assert_int_equal(gpu_try(&g, 8, 64, 0, args, 1), LAB_E_CANCELLED);
        assert_true(g.result.stopped);
        assert_int_equal(g.result.finding_count,
                         0); /* unless it is asked for */
        atomic_store(&executed, 0);
        g.options.stop_found = true;
        assert_int_equal(gpu_try(&g, 8, 64, 0, args, 1), LAB_E_CANCELLED);
        assert_int_equal(g.result.finding_count, 1);
        const struct lab_sim_finding *f = &g.result.findings[0];
        assert_int_equal(f->check, LAB_SIM_BUDGET);
        assert_true(atomic_load(&executed) > 2000000);
        assert_int_equal(g.result.counts.warp_instructions,
                         atomic_load(&executed));
        snprintf(words, sizeof(words), "stopped here, after %lld instructions",
                 (long long)g.result.counts.warp_instructions);
        if (!strstr(f->message, words))
            fail_msg("%s, not %s", f->message, words);
        gpu_close(&g);
    }
}

/* 32 lanes add what is in shared memory; 5 of them, or 1, go on behind the branch to the
 * end, where a load from global memory comes first, or none. */
TEST_CASE(a_sum_of_a_block_comes_behind_an_exit)
{
#define PART ".shared .align 16 .b8 part[128];\n"
#define STORE                                                                  \
    "cvt.rn.f32.u32 %f1, %r1; mov.u32 %r2, part;\n"                            \
    "mad.lo.u32 %r2, %r19, 4, %r2; st.shared.f32 [%r2], %f1;\n"                \
    "bar.sync 0;\n"
#define SUM                                                                    \
    "ld.shared.f32 %f2, [part]; ld.shared.f32 %f3, [part+4];\n"                \
    "add.f32 %f4, %f2, %f3; ld.shared.f32 %f5, [part+8];\n"                    \
    "add.f32 %f6, %f4, %f5; ld.shared.f32 %f7, [part+12];\n"                   \
    "add.f32 %f8, %f6, %f7;\n"
#define LEAVE(lanes) "setp.ge.u32 %p1, %r1, " lanes "; @%p1 bra $E;\n"
#define LOAD "ld.global.f32 %f9, [%rd2];\n"
#define KEEP "st.global.f32 [%rd2], %f8;\n$E:\n"
    static const struct {
        const char *text;
        int64_t flops;
        int64_t
            wavefronts; /* 1 of the store, and of the loads, which are one */
    } cases[] = {
        {BODY(PART, STORE SUM LEAVE("5") LOAD KEEP), 3 * 5, 1 + 2},
        {BODY(PART, STORE SUM LEAVE("1") LOAD KEEP), 3, 1 + 1},
        {BODY(PART, STORE SUM LEAVE("0") LOAD KEEP), 0, 1},
        {BODY(PART, STORE SUM LEAVE("5") KEEP), 3 * 32, 1 + 2},
        /* What lanes that end read is theirs, and so is what it is made of. */
        {BODY(PART,
              STORE SUM "st.global.f32 [%rd1], %f6;\n" LEAVE("5") LOAD KEEP),
         2 * 32 + 5, 1 + 2},
        /* Nothing of it was loaded. */
        {BODY(PART, STORE SUM "add.f32 %f8, %f1, %f1;\n" LEAVE("5") LOAD KEEP),
         4 * 32, 1 + 2},
    };
#undef PART
#undef STORE
#undef SUM
#undef LEAVE
#undef LOAD
#undef KEEP
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct gpu g;
        (void)run_body(&g, cases[k].text, 1, 32, 32);
        if (g.result.counts.flops != cases[k].flops ||
            g.result.counts.shared_wavefronts != cases[k].wavefronts)
            fail_msg("case %zu: %lld FLOP, %lld wavefronts", k,
                     (long long)g.result.counts.flops,
                     (long long)g.result.counts.shared_wavefronts);
        gpu_close(&g);
    }
}

/* Stores to neighbouring words are one, as ptxas makes them. */
TEST_CASE(neighbouring_stores_are_one)
{
#define ROWS ".shared .align 16 .b8 part[2048];\n"
#define ROW(bytes) "mov.u32 %r2, part; mad.lo.u32 %r2, %r1, " #bytes ", %r2;\n"
#define PUT(at) "st.shared.u32 [%r2+" #at "], %r1;\n"
#define TWO(at) "st.shared.v2.u32 [%r2+" #at "], {%r1, %r1};\n"
    /* Rows of 16 bytes: 4 passes for a store of 4, as for one of 16, but 2 for one of 8
     * would be 4 here, too: what is joined counts once. */
    static const struct {
        const char *text;
        int64_t wavefronts;
    } cases[] = {
        {BODY(ROWS, ROW(16) PUT(0)), 4},
        {BODY(ROWS, ROW(16) PUT(0) PUT(4)), 4},
        {BODY(ROWS, ROW(16) PUT(4) PUT(0)), 4},
        {BODY(ROWS, ROW(16) PUT(0) PUT(4) PUT(8) PUT(12)), 4},
        {BODY(ROWS, ROW(16) PUT(8) PUT(0) PUT(12) PUT(4)), 4},
        {BODY(ROWS, ROW(16) PUT(0) PUT(4) PUT(8)), 8},
        {BODY(ROWS, ROW(16) PUT(4) PUT(8) PUT(12)), 8},
        {BODY(ROWS, ROW(16) PUT(4) PUT(8)), 8},
        {BODY(ROWS, ROW(16) TWO(0) TWO(8)), 4},
        {BODY(ROWS, ROW(16) PUT(0) PUT(4) TWO(8)), 4},
        /* Not where one of a word is behind one of two. */
        {BODY(ROWS, ROW(16) TWO(0) PUT(8) PUT(12)), 12},
        /* A word that is written twice is written twice. */
        {BODY(ROWS, ROW(16) PUT(0) PUT(0) PUT(4)), 8},
        {BODY(ROWS, ROW(16) PUT(0) PUT(4) PUT(4)), 8},
        /* Another access to shared memory between, a barrier, a predicate; but one to
         * global memory is none. */
        {BODY(ROWS, ROW(16) PUT(0) "ld.shared.u32 %r3, [%r2+8];\n" PUT(4)), 12},
        {BODY(ROWS, ROW(16) PUT(0) "bar.sync 0;\n" PUT(4)), 8},
        {BODY(ROWS, ROW(16) "setp.ge.u32 %p1, %r1, 0;\n"
                            "@%p1 st.shared.u32 [%r2], %r1;\n"
                            "@%p1 st.shared.u32 [%r2+4], %r1;\n"),
         8},
        {BODY(ROWS, ROW(16) PUT(0) "st.global.u32 [%rd2], %r1;\n" PUT(4)), 4},
        /* Rows of 12 bytes are not aligned to 8: none is joined. */
        {BODY(ROWS, ROW(12) PUT(0) PUT(4)), 2},
        {BODY(ROWS, ROW(8) PUT(0) PUT(4)), 2},
        {BODY(ROWS, ROW(8) PUT(0)), 2},
        /* Elements of one width alone: a double, and a number with its padding. */
        {BODY(ROWS, ROW(16) "st.shared.f64 [%r2], 0d0000000000000000;\n" PUT(
                        8) "cvt.u16.u32 %h1, %r1;\n"
                           "st.shared.v4.u8 [%r2+12], {%h1, %h1, %h1, %h1};\n"),
         8},
        {BODY(ROWS,
              ROW(16) "st.shared.f64 [%r2], 0d0000000000000000;\n" TWO(8)),
         8},
        {BODY(ROWS,
              ROW(16) TWO(0) TWO(
                  8) "bar.sync 0;\n"
                     "ld.shared.f64 %d1, [%r2]; ld.shared.u32 %r3, [%r2+8];\n"
                     "ld.shared.v4.u8 {%h1, %h1, %h1, %h1}, [%r2+12];\n"),
         4 + 4 + 4},
    };
#undef ROWS
#undef ROW
#undef PUT
#undef TWO
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct gpu g;
        gpu_open(&g, cases[k].text, "k");
        uint32_t zero[64] = {0};
        uint32_t *y = gpu_buffer(&g, sizeof(zero), zero);
        const void *args[] = {&y};
        g.options.checks = 1u << LAB_SIM_MEMORY;
        assert_int_equal(gpu_try(&g, 1, 32, 0, args, 1), LAB_OK);
        expect_no_finding(&g);
        if (g.result.counts.shared_wavefronts != cases[k].wavefronts)
            fail_msg("case %zu: %lld wavefronts", k,
                     (long long)g.result.counts.shared_wavefronts);
        gpu_close(&g);
    }
}

/* A matrix of 16 x 16 halves with rows 48 bytes apart, so that 8 of them are in
 * different banks: four passes, also where a register has halves of two rows. */
TEST_CASE(a_matrix_that_lies_across_is_read_in_pairs)
{
#define MATRIX ".shared .align 32 .b8 part[768];\n"
#define FILL                                                                   \
    "mov.u32 %r2, part; mad.lo.u32 %r2, %r1, 16, %r2;\n"                       \
    "setp.lt.u32 %p1, %r1, 16; mov.u32 %r3, 24;\n"                             \
    "st.shared.v4.u32 [%r2], {%r1, %r1, %r1, %r1};\n"                          \
    "@%p1 st.shared.v4.u32 [%r2+512], {%r1, %r1, %r1, %r1};\n"                 \
    "bar.sync 0;\n"
#define FRAGMENT "{%r4,%r5,%r6,%r7,%r8,%r9,%r10,%r11}, [part], %r3;\n"
    static const char *const cases[] = {
        BODY(MATRIX, FILL
             "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " FRAGMENT),
        BODY(MATRIX, FILL
             "wmma.load.a.sync.aligned.col.m16n16k16.shared.f16 " FRAGMENT),
        BODY(MATRIX, FILL
             "wmma.load.b.sync.aligned.row.m16n16k16.shared.f16 " FRAGMENT),
        BODY(MATRIX, FILL
             "wmma.load.b.sync.aligned.col.m16n16k16.shared.f16 " FRAGMENT),
    };
#undef MATRIX
#undef FILL
#undef FRAGMENT
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct gpu g;
        (void)run_body(&g, cases[k], 1, 32, 32);
        expect_no_finding(&g);
        if (g.result.counts.shared_wavefronts != 4 + 2 + 4)
            fail_msg("case %zu: %lld wavefronts", k,
                     (long long)g.result.counts.shared_wavefronts);
        gpu_close(&g);
    }
}

/* Block 0 never ends, the others write out of memory. `first`: before that. */
#define ENDLESS_BLOCK(first)                                                   \
    BODY("", first "setp.eq.u32 %p1, %r17, 0; @%p1 bra $A;\n"                  \
                   "st.global.u32 [%rd2+400], %r1; ret;\n"                     \
                   "$A: bra $A;\n")

static int count_of(const struct gpu *g, enum lab_sim_check check)
{
    int n = 0;
    for (int32_t k = 0; k < g->result.finding_count; k++)
        n += g->result.findings[k].check == check;
    return n;
}

/* What other blocks did wrong meanwhile is found, too. Blocks that run in one order
 * take turns, so that the others have run whatever the host's load is. */
TEST_CASE(a_stop_keeps_what_blocks_behind_it_did)
{
    struct gpu g;
    gpu_open(&g, ENDLESS_BLOCK("atom.global.exch.b32 %r2, [%rd1], 1;\n"), "k");
    atomic_llong executed = 0;
    uint32_t zero[64] = {0};
    uint32_t *y = gpu_buffer(&g, sizeof(zero), zero);
    const void *args[] = {&y};
    g.options.threads = 1;
    g.options.executed = &executed;
    g.options.when = (struct lab_stop){past_two_million, &executed};
    g.options.stop_found = true;
    assert_int_equal(gpu_try(&g, 8, 32, 0, args, 1), LAB_E_CANCELLED);
    assert_int_equal(count_of(&g, LAB_SIM_BUDGET), 1);
    assert_int_equal(count_of(&g, LAB_SIM_MEMORY), 1);
    gpu_close(&g);
}

/* Block 0 writes out of memory on two lines, block 1 never ends. */
TEST_CASE(why_a_launch_ended_is_always_kept)
{
    for (int most = 1; most <= 3; most++) {
        struct gpu g;
        uint32_t zero[64] = {0};
        gpu_open(&g,
                 BODY(".file 1 \"k.cu\"\n",
                      "setp.ne.u32 %p1, %r17, 0; @%p1 bra $A;\n"
                      "setp.eq.u32 %p2, %r1, 0;\n"
                      ".loc 1 5 1\n@%p2 st.global.u32 [%rd2+400], %r1;\n"
                      ".loc 1 6 1\n@!%p2 st.global.u32 [%rd2+400], %r1;\n"
                      "ret;\n.loc 1 7 1\n$A: bra $A;\n"),
                 "k");
        uint32_t *y = gpu_buffer(&g, sizeof(zero), zero);
        const void *args[] = {&y};
        g.options.budget = 20000;
        g.options.max_findings = most;
        assert_int_equal(gpu_try(&g, 2, 32, 0, args, 1), LAB_OK);
        assert_int_equal(g.result.finding_count, most);
        assert_int_equal(g.result.findings_left_out, 3 - most);
        assert_int_equal(count_of(&g, LAB_SIM_BUDGET), 1);
        gpu_close(&g);
    }
}

/* The budget ends in block 0. Of blocks that run in one order those behind it have run
 * each time; else as many as there were threads, and they are left out. */
TEST_CASE(a_budget_keeps_what_always_ran)
{
    struct gpu g;
    uint32_t zero[64] = {0};
    for (int threads = 1; threads <= 2; threads++)
        for (int ordered = 0; ordered < 2; ordered++) {
            gpu_open(&g,
                     ordered ? ENDLESS_BLOCK(
                                   "atom.global.exch.b32 %r2, [%rd1], 1;\n")
                             : ENDLESS_BLOCK(""),
                     "k");
            uint32_t *y = gpu_buffer(&g, sizeof(zero), zero);
            const void *args[] = {&y};
            g.options.threads = threads;
            g.options.budget = 2000000;
            assert_int_equal(gpu_try(&g, 8, 32, 0, args, 1), LAB_OK);
            assert_int_equal(count_of(&g, LAB_SIM_BUDGET), 1);
            assert_int_equal(count_of(&g, LAB_SIM_MEMORY), ordered);
            gpu_close(&g);
        }
}

RUN_TESTS()
