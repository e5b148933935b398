/* A kernel that one walks: lines, instructions, barriers, back, breakpoints, what
 * lanes touch, and the thread that writes an element. */
#include "test.h"

#include "sim/debug.h"

/* Turns 64 numbers around in shared memory:
 * 3  int i = threadIdx.x;
 * 4  s[i] = in[i];
 * 5  __syncthreads();
 * 6  if (i < 48)
 * 7      out[i] = s[63 - i]; */
static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry turn(.param .u64 turn_0, .param .u64 turn_1)\n{\n"
    ".reg .pred %p<2>;\n.reg .f32 %f<3>;\n.reg .b32 %r<8>;\n"
    ".reg .b64 %rd<8>;\n.shared .align 4 .b8 s[256];\n"
    ".loc 1 3 5\n"
    "ld.param.u64 %rd1, [turn_0];\nld.param.u64 %rd2, [turn_1];\n"
    "mov.u32 %r1, %tid.x;\n"
    ".loc 1 4 5\n"
    "mul.wide.s32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
    "ld.global.f32 %f1, [%rd4];\n"
    "shl.b32 %r2, %r1, 2;\nmov.u32 %r3, s;\nadd.s32 %r4, %r3, %r2;\n"
    "st.shared.f32 [%r4], %f1;\n"
    ".loc 1 5 5\n"
    "bar.sync 0;\n"
    ".loc 1 6 5\n"
    "setp.gt.s32 %p1, %r1, 47;\n@%p1 bra $end;\n"
    ".loc 1 7 9\n"
    "sub.s32 %r5, 252, %r2;\nadd.s32 %r6, %r3, %r5;\n"
    "ld.shared.f32 %f2, [%r6];\n"
    ".loc 1 0 9\n" /* of no line: clang has many */
    "add.s64 %rd5, %rd1, %rd3;\n"
    ".loc 1 7 9\n"
    "st.global.f32 [%rd5], %f2;\n"
    "$end:\n"
    ".loc 1 8 1\n"
    "ret;\n}\n"
    ".file 1 \"/nowhere/turn.cu\"\n";

enum { N = 64, WRITTEN = 48 };

struct walk {
    struct lab_sim_memory *memory;
    struct lab_sim_module *module;
    float *out;
    float *in;
    const void *args[2];
    struct lab_sim_launch launch;
    struct lab_sim_debug *d;
};

static void name_it(struct walk *w, void *p, const char *name, int argument)
{
    struct lab_sim_label l = {
        .argument = argument, .element_bytes = 4, .rank = 2, .dim = {4, 16}};
    snprintf(l.name, sizeof(l.name), "%s", name);
    assert_ok(lab_sim_label(w->memory, p, N * sizeof(float), &l));
}

static void open_walk(struct walk *w)
{
    static const uint32_t first[3] = {0, 0, 0};
    void *p;
    *w = (struct walk){.launch = {.grid = {2, 1, 1}, .block = {N, 1, 1}}};
    assert_ok(lab_sim_memory_open(&w->memory));
    assert_ok(lab_sim_module_open(w->memory, text, sizeof(text) - 1, "turn.ptx",
                                  &w->module));
    assert_ok(lab_sim_kernel_find(w->module, "turn", &w->launch.kernel));
    assert_ok(lab_sim_alloc(w->memory, N * sizeof(float), &p));
    w->out = p;
    assert_ok(lab_sim_alloc(w->memory, N * sizeof(float), &p));
    w->in = p;
    for (int i = 0; i < N; i++)
        w->in[i] = (float)i;
    assert_ok(lab_sim_written(w->memory, w->in, N * sizeof(float)));
    name_it(w, w->out, "y", 0);
    name_it(w, w->in, "x", 1);
    w->args[0] = &w->out;
    w->args[1] = &w->in;
    w->launch.args = w->args;
    w->launch.arg_count = 2;
    const struct lab_sim_options options = {
        .checks = (1u << LAB_SIM_CHECK_COUNT) - 1, .threads = 1};
    assert_ok(
        lab_sim_debug_open(w->memory, &w->launch, &options, first, &w->d));
}

static void close_walk(struct walk *w)
{
    lab_sim_debug_close(w->d);
    lab_sim_module_close(w->module);
    lab_sim_memory_close(w->memory);
}

static int32_t line(const struct walk *w, int warp)
{
    struct lab_sim_warp_view v;
    lab_sim_debug_warp(w->d, warp, &v);
    return v.place < 0 ? -1
                       : lab_sim_module_ptx(w->module)->places[v.place].line;
}

static struct lab_sim_stop go(struct walk *w, enum lab_sim_move move)
{
    struct lab_sim_stop stop;
    assert_ok(lab_sim_debug_move(w->d, move, &stop));
    return stop;
}

/* An instruction of no line is shown with the line before it, and is no stop. */
TEST_CASE(an_instruction_without_a_line_is_passed)
{
    struct walk w;
    struct lab_sim_warp_view v;
    int stops[9] = {0};
    open_walk(&w);
    for (int k = 0; k < 40; k++) {
        go(&w, LAB_SIM_LINE);
        lab_sim_debug_warp(w.d, 0, &v);
        if (v.done)
            break;
        assert_true(v.place >= 0 && line(&w, 0) <= 8);
        stops[line(&w, 0)]++;
    }
    assert_true(v.done);
    assert_int_equal(stops[6], 1);
    assert_int_equal(stops[7], 1);
    close_walk(&w);
}

TEST_CASE(lines_and_instructions)
{
    struct walk w;
    open_walk(&w);
    assert_int_equal(line(&w, 0), 3);
    assert_int_equal(go(&w, LAB_SIM_INSTRUCTION).executed, 1);
    assert_int_equal(line(&w, 0), 3);
    assert_int_equal(go(&w, LAB_SIM_LINE).reason, LAB_SIM_STOPPED_MOVED);
    assert_int_equal(line(&w, 0), 4);
    go(&w, LAB_SIM_LINE);
    assert_int_equal(line(&w, 0), 5);
    struct lab_sim_counts c;
    lab_sim_debug_counts(w.d, 0, 4, &c);
    assert_int_equal(c.warp_instructions, 7);
    assert_int_equal(c.lane_instructions, 7 * 32);
    assert_true(c.global_sectors == 4 && c.shared_wavefronts == 1);
    lab_sim_debug_counts(w.d, 0, 0, &c);
    assert_int_equal(c.warp_instructions, 10);
    /* The access before: shared memory, a lane a word. */
    struct lab_sim_access_view a;
    lab_sim_debug_access(w.d, 0, &a);
    assert_true(a.write && a.space == LAB_PTX_SHARED);
    assert_int_equal(a.lanes, 0xffffffff);
    assert_int_equal(a.address[31] - a.address[0], 124);
    close_walk(&w);
}

TEST_CASE(a_barrier_waits_for_the_other_warp)
{
    struct walk w;
    struct lab_sim_warp_view v;
    int64_t bytes;
    open_walk(&w);
    go(&w, LAB_SIM_BARRIER_NEXT);
    assert_int_equal(line(&w, 0), 6);
    lab_sim_debug_warp(w.d, 1, &v);
    assert_true(v.executed >= 10);
    const unsigned char *shared = lab_sim_debug_shared(w.d, &bytes);
    assert_int_equal(bytes, 256);
    float last;
    memcpy(&last, shared + 252, sizeof(last));
    assert_true(last == 63.0f);
    close_walk(&w);
}

TEST_CASE(back_is_exact)
{
    struct walk w;
    struct lab_sim_stop stop;
    struct lab_sim_stop second;
    open_walk(&w);
    go(&w, LAB_SIM_LINE);
    second = go(&w, LAB_SIM_LINE);
    assert_int_equal(go(&w, LAB_SIM_CONTINUE).reason, LAB_SIM_STOPPED_END);
    assert_true(w.out[0] == 63.0f && w.out[WRITTEN - 1] == 16.0f);
    assert_ok(lab_sim_debug_back(w.d, &stop));
    assert_int_equal(stop.executed, second.executed);
    assert_int_equal(line(&w, 0), 5);
    assert_true(w.out[0] == 0.0f);
    assert_ok(lab_sim_debug_back(w.d, &stop));
    assert_ok(lab_sim_debug_back(w.d, &stop));
    assert_int_equal(line(&w, 0), 3);
    assert_int_equal(lab_sim_debug_back(w.d, &stop), LAB_E_STATE);
    go(&w, LAB_SIM_CONTINUE);
    assert_true(w.out[0] == 63.0f);
    close_walk(&w);
}

TEST_CASE(breakpoints)
{
    struct walk w;
    void *p;
    size_t bytes;
    open_walk(&w);
    assert_ok(lab_sim_debug_break(w.d, "turn.cu", 7));
    assert_int_equal(lab_sim_debug_break(w.d, NULL, 100), LAB_E_NOTFOUND);
    assert_true(error_is("[kernel.line-past] line 100"));
    assert_int_equal(lab_sim_debug_break(w.d, "other.cu", 7), LAB_E_NOTFOUND);
    /* Each warp once; half of the second is beyond 47. */
    int warps = 0;
    for (int i = 0; i < 2; i++) {
        struct lab_sim_stop hit = go(&w, LAB_SIM_CONTINUE);
        struct lab_sim_warp_view v;
        assert_int_equal(hit.reason, LAB_SIM_STOPPED_LINE);
        lab_sim_debug_warp(w.d, hit.warp, &v);
        assert_int_equal(line(&w, hit.warp), 7);
        assert_int_equal(v.active, hit.warp == 1 ? 0xffff : 0xffffffff);
        warps |= 1 << hit.warp;
    }
    assert_int_equal(warps, 3);
    lab_sim_debug_clear(w.d);
    assert_ok(lab_sim_debug_find(w.d, "y[2,8]", &p, &bytes));
    assert_true(p == &w.out[40] && bytes == 4);
    const uint32_t first[3] = {0, 0, 0};
    assert_ok(lab_sim_debug_block(w.d, first));
    lab_sim_debug_watch(w.d, p, bytes);
    struct lab_sim_stop stop = go(&w, LAB_SIM_CONTINUE);
    assert_int_equal(stop.reason, LAB_SIM_STOPPED_ACCESS);
    assert_int_equal(stop.warp, 1);
    assert_int_equal(go(&w, LAB_SIM_CONTINUE).reason, LAB_SIM_STOPPED_END);
    close_walk(&w);
}

TEST_CASE(the_thread_that_writes)
{
    struct walk w;
    struct lab_sim_stop stop;
    void *p;
    size_t bytes;
    int lane;
    uint32_t thread[3];
    open_walk(&w);
    assert_ok(lab_sim_debug_find(w.d, "0[2,8]", &p, &bytes));
    assert_ok(lab_sim_debug_writer(w.d, p, bytes, &stop, &lane));
    lab_sim_debug_thread_of(w.d, stop.warp, lane, thread);
    assert_int_equal(thread[0], 40);
    struct lab_sim_finding f;
    struct lab_sim_access_view a;
    lab_sim_debug_access(w.d, stop.warp, &a);
    assert_true(lab_sim_debug_element(w.d, a.address[lane], &f));
    assert_string_equal(f.name, "y");
    assert_true(f.rank == 2 && f.index[0] == 2 && f.index[1] == 8);
    assert_ok(lab_sim_debug_find(w.d, "y[3,15]", &p, &bytes));
    assert_int_equal(lab_sim_debug_writer(w.d, p, bytes, &stop, &lane),
                     LAB_E_NOTFOUND);
    assert_int_equal(lab_sim_debug_find(w.d, "y[4,0]", &p, &bytes),
                     LAB_E_RANGE);
    assert_int_equal(lab_sim_debug_find(w.d, "z", &p, &bytes), LAB_E_NOTFOUND);
    assert_true(error_is("[kernel.memory-name] x"));
    assert_int_equal(lab_sim_debug_find(w.d, "s[3]", &p, &bytes),
                     LAB_E_NOTFOUND);
    assert_true(error_is("[kernel.shared-name] s"));
    close_walk(&w);
}

TEST_CASE(back_returns_from_the_writer)
{
    struct walk w;
    struct lab_sim_stop stop;
    struct lab_sim_stop before;
    const uint32_t second[3] = {1, 0, 0};
    uint32_t block[3];
    void *p;
    size_t bytes;
    int lane;
    int warp;
    int warps;
    open_walk(&w);
    assert_ok(lab_sim_debug_block(w.d, second));
    go(&w, LAB_SIM_LINE);
    before = go(&w, LAB_SIM_LINE);
    assert_ok(lab_sim_debug_find(w.d, "y[2,8]", &p, &bytes));
    assert_ok(lab_sim_debug_writer(w.d, p, bytes, &stop, &lane));
    lab_sim_debug_where(w.d, block, &warp, &warps);
    assert_int_equal(block[0], 0);
    go(&w, LAB_SIM_CONTINUE);
    assert_ok(lab_sim_debug_back(w.d, &stop));
    assert_ok(lab_sim_debug_back(w.d, &stop));
    lab_sim_debug_where(w.d, block, &warp, &warps);
    assert_int_equal(block[0], 1);
    assert_int_equal(stop.executed, before.executed);
    assert_int_equal(line(&w, 0), 5);
    assert_true(w.out[0] == 0.0f);
    assert_ok(lab_sim_debug_find(w.d, "y[3,15]", &p, &bytes));
    assert_int_equal(lab_sim_debug_writer(w.d, p, bytes, &stop, &lane),
                     LAB_E_NOTFOUND);
    assert_int_equal(line(&w, 0), 5);
    close_walk(&w);
}

/* With options of its own, in place of those of open_walk(). */
static void open_again(struct walk *w, const struct lab_sim_options *options)
{
    static const uint32_t first[3] = {0, 0, 0};
    lab_sim_debug_close(w->d);
    assert_ok(lab_sim_debug_open(w->memory, &w->launch, options, first, &w->d));
}

/* Which bytes were written is not kept where all were. */
TEST_CASE(back_from_a_block_that_wrote_all)
{
    const struct lab_sim_options options = {
        .checks = (1u << LAB_SIM_CHECK_COUNT) - 1, .threads = 1};
    struct walk w;
    struct lab_sim_stop stop;
    int32_t n;
    open_walk(&w);
    assert_ok(lab_sim_written(w.memory, w.out + WRITTEN,
                              (N - WRITTEN) * sizeof(float)));
    open_again(&w, &options);
    for (int i = 0; i < 2; i++) {
        go(&w, LAB_SIM_CONTINUE);
        assert_ok(lab_sim_debug_back(w.d, &stop));
        assert_int_equal(line(&w, 0), 3);
    }
    (void)lab_sim_debug_findings(w.d, &n);
    assert_int_equal(n, 0);
    close_walk(&w);
}

/* What is stopped leaves a walk that goes on. */
/* Lanes that read what is no tensor's: the stop is before they do, with all that the
 * warp has, and they end when it goes on. */
TEST_CASE(a_stop_at_a_bad_access_keeps_the_state)
{
    enum { HAS = 40 };
    struct walk w;
    struct lab_sim_access_view a;
    struct lab_sim_warp_view v;
    struct lab_sim_stop stop;
    uint64_t values[32];
    enum lab_ptx_type type;
    int32_t found;
    char words[160];
    open_walk(&w);
    struct lab_sim_label l = {.name = "x",
                              .argument = 1,
                              .element_bytes = 4,
                              .rank = 1,
                              .dim = {HAS},
                              .bounded = true};
    assert_ok(lab_sim_label(w.memory, w.in, N * sizeof(float), NULL));
    assert_ok(lab_sim_label(w.memory, w.in, HAS * sizeof(float), &l));
    for (int pass = 0; pass < 2; pass++) {
        /* The second time it comes back to it. */
        if (pass == 0)
            stop = go(&w, LAB_SIM_CONTINUE);
        else
            assert_ok(lab_sim_debug_back(w.d, &stop));
        assert_int_equal(stop.reason, LAB_SIM_STOPPED_FINDING);
        assert_int_equal(stop.warp, 1);
        assert_int_equal(line(&w, 1), 4);
        lab_sim_debug_warp(w.d, 1, &v);
        assert_int_equal(v.active, 0xffffffff);
        assert_ok(lab_sim_debug_register(w.d, 1, "%r1", values, &type));
        assert_int_equal(values[8], HAS);
        lab_sim_debug_access(w.d, 1, &a);
        assert_int_equal(a.lanes, 0xffffffff);
        assert_int_equal(a.outside, 0xffffff00);
        lab_sim_debug_outside(w.d, &a, 9, words, sizeof(words));
        assert_string_equal(words, "4 bytes after the end of x");
        (void)lab_sim_debug_findings(w.d, &found);
        assert_int_equal(found, 24);
        if (pass == 0)
            (void)go(&w, LAB_SIM_INSTRUCTION);
    }
    assert_int_equal(line(&w, 1), 4);
    assert_int_equal(go(&w, LAB_SIM_INSTRUCTION).warp, 1);
    lab_sim_debug_warp(w.d, 1, &v);
    assert_int_equal(v.active, 0xff);
    while (go(&w, LAB_SIM_CONTINUE).reason != LAB_SIM_STOPPED_END)
        ;
    lab_sim_debug_warp(w.d, 1, &v);
    assert_true(v.done);
    close_walk(&w);
}

TEST_CASE(a_move_is_stopped)
{
    struct walk w;
    struct lab_sim_stop stop;
    struct lab_sim_stop second;
    atomic_bool ends = true;
    const struct lab_sim_options options = {.threads = 1, .stop = &ends};
    open_walk(&w);
    open_again(&w, &options);
    assert_int_equal(lab_sim_debug_move(w.d, LAB_SIM_CONTINUE, &stop),
                     LAB_E_CANCELLED);
    atomic_store(&ends, false);
    second = go(&w, LAB_SIM_LINE);
    go(&w, LAB_SIM_CONTINUE);
    atomic_store(&ends, true);
    assert_int_equal(lab_sim_debug_back(w.d, &stop), LAB_E_CANCELLED);
    assert_true(stop.executed <= second.executed);
    atomic_store(&ends, false);
    assert_int_equal(go(&w, LAB_SIM_CONTINUE).reason, LAB_SIM_STOPPED_END);
    assert_true(w.out[0] == 63.0f);
    close_walk(&w);
}

/* The lines of one thread, and the writers of shared memory. */
TEST_CASE(a_thread_is_followed)
{
    struct walk w;
    const uint32_t thread[3] = {33, 0, 0};
    const uint32_t none[3] = {0, 1, 0};
    int64_t words;
    open_walk(&w);
    const int32_t *writers = lab_sim_debug_shared_writers(w.d, &words);
    assert_int_equal(words, N);
    assert_int_equal(writers[33], -1);
    assert_int_equal(lab_sim_debug_break_thread(w.d, none), LAB_E_RANGE);
    assert_ok(lab_sim_debug_break_thread(w.d, thread));
    for (int at = 4; at <= 8; at++) {
        struct lab_sim_stop stop = go(&w, LAB_SIM_CONTINUE);
        assert_int_equal(stop.reason, LAB_SIM_STOPPED_LINE);
        assert_int_equal(stop.warp, 1);
        assert_int_equal(line(&w, 1), at);
    }
    writers = lab_sim_debug_shared_writers(w.d, &words);
    assert_int_equal(writers[33], 33);
    assert_false(lab_sim_debug_breaks(w.d, 0, 7));
    assert_ok(lab_sim_debug_break(w.d, NULL, 7));
    assert_true(lab_sim_debug_breaks(w.d, 0, 7));
    lab_sim_debug_unbreak(w.d, 0, 7);
    assert_false(lab_sim_debug_breaks(w.d, 0, 7));
    close_walk(&w);
}

TEST_CASE(the_elements_of_a_thread)
{
    struct walk w;
    struct lab_sim_touch t[8];
    int n;
    open_walk(&w);
    go(&w, LAB_SIM_LINE);
    go(&w, LAB_SIM_LINE);
    assert_ok(lab_sim_debug_thread_accesses(w.d, 1, 8, t, 8, &n));
    assert_int_equal(n, 2);
    assert_true(!t[0].write && t[0].address == (uintptr_t)&w.in[40]);
    assert_true(t[1].write && t[1].address == (uintptr_t)&w.out[40]);
    assert_int_equal(line(&w, 0), 5); /* as before */
    assert_true(w.out[0] == 0.0f);
    close_walk(&w);
}

TEST_CASE(registers_of_lanes)
{
    struct walk w;
    uint64_t values[32];
    enum lab_ptx_type type;
    const uint32_t second[3] = {1, 0, 0};
    const uint32_t thread[3] = {33, 0, 0};
    const uint32_t none[3] = {64, 0, 0};
    int lane;
    open_walk(&w);
    assert_ok(lab_sim_debug_block(w.d, second));
    assert_ok(lab_sim_debug_thread(w.d, thread, &lane));
    assert_int_equal(lane, 1);
    assert_int_equal(lab_sim_debug_thread(w.d, none, &lane), LAB_E_RANGE);
    go(&w, LAB_SIM_LINE);
    assert_int_equal(line(&w, 1), 4);
    assert_ok(lab_sim_debug_register(w.d, 1, "%r1", values, &type));
    for (int l = 0; l < 32; l++)
        assert_int_equal(values[l], 32 + l);
    assert_int_equal(lab_sim_debug_register(w.d, 1, "%f2", values, &type),
                     LAB_E_STATE);
    assert_int_equal(lab_sim_debug_register(w.d, 1, "%x", values, &type),
                     LAB_E_NOTFOUND);
    close_walk(&w);
}

RUN_TESTS()
