/* The checks and counts of the simulator: accesses are made by hand, a lane's
 * address by a formula, and what is reported is compared with what was planted. */
#include "test.h"

#include "base/mem.h"
#include "check/check.h"

enum { LINES = 40, MOST_WARPS = 8 };

/* A launch whose instructions are made by the test: instruction n is line n + 1. */
struct bench {
    struct lab_sim_memory *memory;
    struct lab_sim_module *module;
    struct lab_sim_kernel kernel;
    struct lab_sim_launch launch;
    struct lab_sim_options options;
    struct sim_grid grid;
    struct sim_block block;
    struct sim_warp warps[MOST_WARPS];
    struct sim_instr instrs[LINES];
    struct sim_tally tally[LINES];
    struct lab_sim_counts counts[LINES];
    unsigned char shared[4096];
    unsigned char local[MOST_WARPS * SIM_LANES * 16];
    unsigned char params[64];
    struct lab_sim_result result;
    unsigned char *at[SIM_LANES];
};

static void text_of(char *text, size_t room, const char *instr)
{
    size_t n = (size_t)snprintf(
        text, room,
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry k(.param .u64 p0, .param .u64 p1)\n{\n"
        ".reg .b64 %%rd<4>;\n.reg .b32 %%r<4>;\n.reg .b16 %%h<4>;\n");
    for (int line = 1; line <= LINES; line++)
        n += (size_t)snprintf(text + n, room - n, ".loc 1 %d 3\n%s\n", line,
                              instr);
    snprintf(text + n, room - n, "ret;\n}\n.file 1 \"/home/me/kernel.cu\"\n");
}

/* `narrow`: the kernel accesses global memory byte by byte. */
static struct bench *bench_open(int warps, unsigned checks, bool narrow)
{
    static char text[8192];
    struct bench *b = calloc(1, sizeof(*b));
    assert_non_null(b);
    text_of(text, sizeof(text),
            narrow ? "ld.global.u8 %h1, [%rd1];"
                   : "ld.global.u32 %r1, [%rd1];");
    assert_ok(lab_sim_memory_open(&b->memory));
    assert_ok(lab_sim_module_open(b->memory, text, strlen(text), "k.ptx",
                                  &b->module));
    const struct lab_ptx *ptx = lab_sim_module_ptx(b->module);
    const struct lab_ptx_function *f = lab_ptx_function(ptx, "k");
    assert_non_null(f);
    for (int k = 0; k < LINES; k++)
        b->instrs[k].ptx = &f->instrs[k];
    b->kernel = (struct lab_sim_kernel){.module = b->module,
                                        .ptx = ptx,
                                        .function = f,
                                        .instrs = b->instrs,
                                        .instr_count = LINES,
                                        .local_bytes = 16};
    b->options = (struct lab_sim_options){.checks = checks, .lines = true};
    b->launch.kernel = &b->kernel;
    b->launch.grid[0] = 4;
    b->launch.block[0] = (uint32_t)(warps * SIM_LANES);
    for (int d = 1; d < 3; d++)
        b->launch.grid[d] = b->launch.block[d] = 1;
    b->grid = (struct sim_grid){.memory = b->memory,
                                .launch = &b->launch,
                                .options = &b->options,
                                .kernel = &b->kernel,
                                .params = b->params,
                                .params_bytes = sizeof(b->params)};
    b->block = (struct sim_block){.grid = &b->grid,
                                  .warp_count = warps,
                                  .warps = b->warps,
                                  .shared = b->shared,
                                  .shared_bytes = sizeof(b->shared),
                                  .tally = b->tally,
                                  .counts = b->counts};
    for (int w = 0; w < warps; w++)
        b->warps[w] = (struct sim_warp){.block = &b->block,
                                        .index = w,
                                        .lanes = SIM_FULL,
                                        .alive = SIM_FULL,
                                        .active = SIM_FULL,
                                        .local = b->local + w * SIM_LANES * 16};
    return b;
}

/* Begins a launch, and its block 0. */
static void begin(struct bench *b)
{
    assert_ok(sim_check_begin(&b->grid));
    b->block.number = b->block.index[0] = 0;
    assert_ok(sim_check_block_begin(&b->block));
}

static void next_block(struct bench *b, uint32_t number)
{
    sim_check_block_end(&b->block);
    b->block.number = b->block.index[0] = number;
    for (int w = 0; w < b->block.warp_count; w++)
        b->warps[w].faulted = 0;
    assert_ok(sim_check_block_begin(&b->block));
}

static void end(struct bench *b)
{
    sim_check_block_end(&b->block);
    lab_sim_result_release(&b->result);
    assert_ok(sim_check_end(&b->grid, b->tally, b->counts, &b->result));
}

static void bench_close(struct bench *b)
{
    lab_sim_result_release(&b->result);
    lab_sim_module_close(b->module);
    lab_sim_memory_close(b->memory);
    free(b);
}

static void findings_are(const struct bench *b, int n)
{
    const struct lab_sim_result *r = &b->result;
    if (r->finding_count == n)
        return;
    for (int k = 0; k < r->finding_count; k++)
        print_message("%s: %s\n", lab_sim_check_id(r->findings[k].check),
                      r->findings[k].message);
    assert_int_equal(r->finding_count, n);
}

static int line_of(const struct bench *b, const struct lab_sim_where *w)
{
    assert_true(w->place >= 0);
    return lab_sim_module_ptx(b->module)->places[w->place].line;
}

/* Finding n is this. */
static const struct lab_sim_finding *found(const struct bench *b, int n,
                                           enum lab_sim_check check, int line,
                                           uint32_t block, uint32_t thread,
                                           const char *words)
{
    const struct lab_sim_finding *f = &b->result.findings[n];
    if (f->check != check || line_of(b, &f->at) != line ||
        f->at.block[0] != block || f->at.thread[0] != thread ||
        !strstr(f->message, words))
        fail_msg("%s at line %d, block %u, thread %u: %s",
                 lab_sim_check_id(f->check), line_of(b, &f->at), f->at.block[0],
                 f->at.thread[0], f->message);
    return f;
}

/* Lane l of `mask` accesses `bytes` at base + l * stride. */
static struct sim_access access_of(enum sim_access_kind kind,
                                   enum lab_ptx_space space, uint32_t mask,
                                   int bytes, uint64_t base, int64_t stride)
{
    struct sim_access a = {.kind = kind,
                           .space = space,
                           .mask = mask,
                           .bytes = bytes,
                           .align = bytes,
                           .synchronises = kind == SIM_ATOMIC};
    for (int lane = 0; lane < SIM_LANES; lane++)
        a.addr[lane] = base + (uint64_t)(lane * stride);
    return a;
}

static uint32_t do_access(struct bench *b, int warp, int line,
                          enum sim_access_kind kind, enum lab_ptx_space space,
                          uint32_t mask, int bytes, uint64_t base,
                          int64_t stride)
{
    struct sim_access a = access_of(kind, space, mask, bytes, base, stride);
    return sim_check_access(&b->warps[warp], &b->instrs[line - 1], &a, b->at);
}

static uint32_t load(struct bench *b, int warp, int line, uint64_t base)
{
    return do_access(b, warp, line, SIM_LOAD, LAB_PTX_SHARED, SIM_FULL, 4, base,
                     4);
}

/* Stores 4 bytes of value(lane) at base + lane * stride, as the executor does. */
static void store_values(struct bench *b, int warp, int line,
                         enum lab_ptx_space space, uint32_t mask, uint64_t base,
                         int64_t stride, const uint32_t values[SIM_LANES])
{
    struct sim_access a = access_of(SIM_STORE, space, mask, 4, base, stride);
    const unsigned char *data[SIM_LANES];
    uint32_t ok =
        sim_check_access(&b->warps[warp], &b->instrs[line - 1], &a, b->at);
    for (int lane = 0; lane < SIM_LANES; lane++)
        data[lane] = (const unsigned char *)&values[lane];
    a.mask = ok;
    if (a.overlap)
        sim_same(&b->warps[warp], &b->instrs[line - 1], &a, data);
    for (int lane = 0; lane < SIM_LANES; lane++)
        if (ok >> lane & 1)
            memcpy(b->at[lane], data[lane], 4);
}

static uint32_t serial = 1;

static void store(struct bench *b, int warp, int line, uint64_t base)
{
    uint32_t values[SIM_LANES];
    for (int lane = 0; lane < SIM_LANES; lane++)
        values[lane] = serial++;
    store_values(b, warp, line, LAB_PTX_SHARED, SIM_FULL, base, 4, values);
}

static float *tensor(struct bench *b, size_t bytes, const char *name,
                     int argument, int64_t rows, int64_t columns, bool written)
{
    void *p;
    struct lab_sim_label l = {.argument = argument,
                              .element_bytes = 4,
                              .rank = 2,
                              .dim = {rows, columns}};
    snprintf(l.name, sizeof(l.name), "%s", name);
    assert_ok(lab_sim_alloc(b->memory, bytes, &p));
    assert_int_equal((uintptr_t)p % 256, 0);
    assert_ok(lab_sim_label(b->memory, p, bytes, &l));
    if (written)
        assert_ok(lab_sim_written(b->memory, p, bytes));
    return p;
}

static const unsigned ALL = (1u << LAB_SIM_CHECK_COUNT) - 1;

/* ---- memory ---- */

TEST_CASE(an_access_within_memory_is_no_finding)
{
    struct bench *b = bench_open(1, ALL, false);
    float *x = tensor(b, 4096, "x", 0, 8, 128, true);
    begin(b);
    assert_int_equal(do_access(b, 0, 1, SIM_LOAD, LAB_PTX_GLOBAL, SIM_FULL, 4,
                               (uintptr_t)x, 4),
                     SIM_FULL);
    assert_ptr_equal(b->at[3], x + 3);
    do_access(b, 0, 2, SIM_STORE, LAB_PTX_GENERIC, SIM_FULL, 16,
              (uintptr_t)(x + 128), 16);
    do_access(b, 0, 3, SIM_STORE, LAB_PTX_GENERIC, 1, 4,
              SIM_SHARED_WINDOW + 4092, 0);
    do_access(b, 0, 4, SIM_LOAD, LAB_PTX_GENERIC, 1, 8, SIM_PARAM_WINDOW + 56,
              0);
    do_access(b, 0, 5, SIM_STORE, LAB_PTX_GENERIC, SIM_FULL, 8,
              SIM_LOCAL_WINDOW + 8, 0);
    assert_ptr_equal(b->at[2], b->local + 2 * 16 + 8);
    end(b);
    findings_are(b, 0);
    bench_close(b);
}

TEST_CASE(consecutive_lanes_are_reported_as_a_row)
{
    struct bench *b = bench_open(1, ALL, false);
    float *x = tensor(b, 4096, "x", 0, 8, 128, true);
    const struct {
        enum lab_ptx_space space;
        uint64_t base;
        uint32_t mask;
        int64_t stride;
        bool row;
    } cases[] = {
        {LAB_PTX_GLOBAL, (uintptr_t)x, SIM_FULL, 4, true},
        {LAB_PTX_GENERIC, (uintptr_t)x, 0xff, 4, true},
        {LAB_PTX_GENERIC, SIM_SHARED_WINDOW + 64, SIM_FULL, 4, true},
        {LAB_PTX_GLOBAL, (uintptr_t)x, SIM_FULL, 8, false},
        {LAB_PTX_GLOBAL, (uintptr_t)x, 0xfe, 4, false},
        {LAB_PTX_GLOBAL, (uintptr_t)(x + 1000), SIM_FULL, 4, false},
        {LAB_PTX_LOCAL, 0, 7, 4, false},
        {LAB_PTX_GENERIC, SIM_LOCAL_WINDOW, 7, 4, false},
    };
    begin(b);
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct sim_access a =
            access_of(SIM_STORE, cases[k].space, cases[k].mask, 4,
                      cases[k].base, cases[k].stride);
        sim_check_access(&b->warps[0], &b->instrs[k], &a, b->at);
        assert_int_equal(a.row, cases[k].row);
        if (a.row)
            assert_ptr_equal(b->at[5], b->at[0] + 20);
    }
    /* Lane 0 in shared memory, the others in a tensor. */
    struct sim_access a =
        access_of(SIM_STORE, LAB_PTX_GENERIC, SIM_FULL, 4, (uintptr_t)x, 4);
    a.addr[0] = SIM_SHARED_WINDOW;
    assert_int_equal(sim_check_access(&b->warps[0], &b->instrs[20], &a, b->at),
                     SIM_FULL);
    assert_false(a.row);
    assert_ptr_equal(b->at[0], b->shared);
    end(b);
    bench_close(b);
}

TEST_CASE(an_access_past_a_tensor_names_it)
{
    struct bench *b = bench_open(1, ALL, false);
    float *x = tensor(b, 10 * 4 * 4, "fc1.W", 2, 10, 4, true);
    begin(b);
    /* Lanes 0 to 27 are within, 28 is 3 elements after the end. */
    uint32_t ok = do_access(b, 0, 7, SIM_LOAD, LAB_PTX_GLOBAL, SIM_FULL, 4,
                            (uintptr_t)(x + 15), 4);
    assert_int_equal(ok, (1u << 25) - 1);
    assert_int_equal(b->warps[0].faulted, ~((1u << 25) - 1));
    do_access(b, 0, 9, SIM_STORE, LAB_PTX_GLOBAL, 1, 4, (uintptr_t)(x - 3), 4);
    end(b);
    findings_are(b, 2);
    const struct lab_sim_finding *f = found(
        b, 0, LAB_SIM_MEMORY, 9, 0, 0,
        "write of 4 bytes outside of memory: 12 bytes before the start of "
        "fc1.W");
    assert_int_equal(f->argument, 2);
    f = found(b, 1, LAB_SIM_MEMORY, 7, 0, 25,
              "read of 4 bytes outside of memory: 0 bytes after the end of "
              "fc1.W");
    assert_int_equal(f->times, 7);
    assert_int_equal(f->rank, 2);
    assert_int_equal(f->index[0], 10);
    assert_int_equal(f->index[1], 0);
    bench_close(b);
}

TEST_CASE(every_wrong_address_is_explained)
{
    struct bench *b = bench_open(1, ALL, false);
    float *x = tensor(b, 1024, "x", 0, 16, 16, true);
    float *old = tensor(b, 1024, "old", -1, 16, 16, true);
    float *in = tensor(b, 1024, "in", 1, 16, 16, true);
    struct lab_sim_label read_only = {.name = "in",
                                      .argument = 1,
                                      .element_bytes = 4,
                                      .rank = 1,
                                      .dim = {256},
                                      .read_only = true};
    assert_ok(lab_sim_label(b->memory, in, 1024, &read_only));
    assert_ok(lab_sim_free(b->memory, old));
    const struct {
        enum sim_access_kind kind;
        enum lab_ptx_space space;
        int bytes;
        uint64_t addr;
        const char *words;
    } wrong[] = {
        {SIM_LOAD, LAB_PTX_GLOBAL, 4, 0, "the NULL pointer"},
        {SIM_LOAD, LAB_PTX_GLOBAL, 4, 48, "48 bytes after the NULL pointer"},
        {SIM_LOAD, LAB_PTX_GLOBAL, 16, (uintptr_t)(x + 1),
         "misaligned read of 16 bytes: x[0,1], is 4 bytes past a multiple of "
         "16"},
        {SIM_LOAD, LAB_PTX_GLOBAL, 4, (uintptr_t)(old + 17),
         "old[1,1], which was freed"},
        {SIM_STORE, LAB_PTX_GLOBAL, 4, (uintptr_t)(in + 3),
         "to what is only read: in[3]"},
        {SIM_STORE, LAB_PTX_SHARED, 4, 4096,
         "shared memory, byte 4096 of 4096"},
        {SIM_STORE, LAB_PTX_GENERIC, 4, SIM_SHARED_WINDOW + 4094,
         "misaligned write of 4 bytes: shared memory, byte 4094 of 4096"},
        {SIM_ATOMIC, LAB_PTX_LOCAL, 8, 16, "local memory, byte 16 of 16"},
        {SIM_STORE, LAB_PTX_PARAM, 4, 8, "which is only read"},
        {SIM_LOAD, LAB_PTX_GLOBAL, 4, 0x123456789000, "in no allocation"},
        {SIM_LOAD, LAB_PTX_GLOBAL, 4, UINT64_MAX - 3, "in no allocation"},
    };
    enum { COUNT = sizeof(wrong) / sizeof(wrong[0]) };
    begin(b);
    for (int k = 0; k < COUNT; k++)
        assert_int_equal(do_access(b, 0, k + 1, wrong[k].kind, wrong[k].space,
                                   1u << k, wrong[k].bytes, wrong[k].addr, 0),
                         0);
    end(b);
    findings_are(b, COUNT);
    for (int k = 0; k < COUNT; k++)
        found(b, k, LAB_SIM_MEMORY, k + 1, 0, (uint32_t)k, wrong[k].words);
    bench_close(b);
}

/* Tensors in one allocation: memory between them is of no tensor. */
TEST_CASE(a_bounded_tensor_ends_where_it_ends)
{
    struct bench *b = bench_open(1, ALL, false);
    void *p;
    assert_ok(lab_sim_alloc(b->memory, 4096, &p));
    assert_ok(lab_sim_written(b->memory, p, 4096));
    float *all = p;
    struct lab_sim_label l = {.name = "W",
                              .element_bytes = 4,
                              .rank = 2,
                              .dim = {8, 32},
                              .bounded = true};
    assert_ok(lab_sim_label(b->memory, all + 64, 1024, &l));
    snprintf(l.name, sizeof(l.name), "b");
    l.rank = 1;
    l.dim[0] = 64;
    assert_ok(lab_sim_label(b->memory, all + 384, 256, &l));
    begin(b);
    /* Whole rows of each, a row over the end, and one between the two. */
    assert_int_equal(do_access(b, 0, 1, SIM_LOAD, LAB_PTX_GLOBAL, SIM_FULL, 4,
                               (uintptr_t)(all + 64), 4),
                     SIM_FULL);
    assert_int_equal(do_access(b, 0, 2, SIM_STORE, LAB_PTX_GLOBAL, SIM_FULL, 4,
                               (uintptr_t)(all + 416), 4),
                     SIM_FULL);
    assert_int_equal(do_access(b, 0, 3, SIM_LOAD, LAB_PTX_GLOBAL, SIM_FULL, 4,
                               (uintptr_t)(all + 64 + 256 - 8), 4),
                     0xff);
    assert_int_equal(do_access(b, 0, 4, SIM_STORE, LAB_PTX_GLOBAL, 1, 4,
                               (uintptr_t)(all + 62), 4),
                     0);
    /* Just before a tensor, the gap's other end is of another one; and amid it. */
    assert_int_equal(do_access(b, 0, 6, SIM_STORE, LAB_PTX_GLOBAL, 1, 4,
                               (uintptr_t)(all + 383), 4),
                     0);
    assert_int_equal(do_access(b, 0, 7, SIM_LOAD, LAB_PTX_GLOBAL, 1, 4,
                               (uintptr_t)(all + 330), 4),
                     0);
    /* Lanes in different tensors. */
    assert_int_equal(do_access(b, 0, 5, SIM_LOAD, LAB_PTX_GLOBAL, 3, 4,
                               (uintptr_t)(all + 64), 1280),
                     3);
    end(b);
    findings_are(b, 4);
    found(b, 0, LAB_SIM_MEMORY, 4, 0, 0, "8 bytes before the start of W");
    found(b, 1, LAB_SIM_MEMORY, 6, 0, 0,
          "outside of memory: 4 bytes before the start of b");
    assert_null(strstr(b->result.findings[1].message, "W"));
    found(b, 2, LAB_SIM_MEMORY, 7, 0, 0,
          "40 bytes after the end of W, 216 bytes before the start of b");
    found(b, 3, LAB_SIM_MEMORY, 3, 0, 8, "0 bytes after the end of W");
    bench_close(b);
}

/* x[i - 1u]: its message is the same in each run. */
TEST_CASE(an_address_far_from_memory_names_the_nearest)
{
    struct bench *b = bench_open(1, ALL, false);
    float *x = tensor(b, 32 * 4, "x", 0, 1, 32, false);
    begin(b);
    assert_int_equal(do_access(b, 0, 1, SIM_LOAD, LAB_PTX_GLOBAL, 1, 4,
                               (uintptr_t)x + 4 * (uint64_t)UINT32_MAX, 4),
                     0);
    end(b);
    findings_are(b, 1);
    found(b, 0, LAB_SIM_MEMORY, 1, 0, 0,
          "in no allocation, 17179869052 bytes after the end of x");
    bench_close(b);
}

TEST_CASE(memory_knows_its_own_allocations_only)
{
    struct lab_sim_memory *m;
    void *p;
    int other;
    assert_ok(lab_sim_memory_open(&m));
    assert_ok(lab_sim_alloc(m, 100, &p));
    assert_int_equal(lab_sim_written(m, p, 101), LAB_E_RANGE);
    assert_int_equal(lab_sim_written(m, &other, 4), LAB_E_RANGE);
    assert_int_equal(lab_sim_free(m, (char *)p + 4), LAB_E_ARG);
    assert_ok(lab_sim_free(m, p));
    assert_int_equal(lab_sim_free(m, p), LAB_E_ARG);
    assert_true(error_is("[argument] it was freed"));
    assert_int_equal(lab_sim_written(m, p, 4), LAB_E_RANGE);
    assert_ok(lab_sim_free(m, NULL));
    /* Freed ones are not kept for ever. */
    for (int k = 0; k < 1000; k++) {
        assert_ok(lab_sim_alloc(m, 1 << 20, &p));
        assert_ok(lab_sim_free(m, p));
    }
    assert_true(m->freed_bytes <= 64 << 20);
    assert_true(m->count < 100);
    /* As much as the machine has leaves no room for what the checks keep. */
    assert_int_equal(lab_sim_alloc(m, (size_t)lab_host_memory() / 10 * 7, &p),
                     LAB_E_NOMEM);
    assert_true(error_is("[sim.memory-most] all of it"));
    lab_sim_memory_close(m);
}

/* ---- what was written ---- */

TEST_CASE(a_read_of_what_nothing_wrote_is_found)
{
    struct bench *b = bench_open(1, ALL, false);
    float *y = tensor(b, 1024, "y", 0, 16, 16, false);
    const uint64_t at = (uintptr_t)y;
    begin(b);
    do_access(b, 0, 1, SIM_STORE, LAB_PTX_GLOBAL, SIM_FULL, 4, at, 4);
    do_access(b, 0, 2, SIM_LOAD, LAB_PTX_GLOBAL, SIM_FULL, 4, at, 4);
    /* Half of a word was written. */
    do_access(b, 0, 3, SIM_STORE, LAB_PTX_GLOBAL, 1, 2, at + 128, 4);
    do_access(b, 0, 4, SIM_LOAD, LAB_PTX_GLOBAL, 1, 2, at + 128, 4);
    do_access(b, 0, 5, SIM_LOAD, LAB_PTX_GLOBAL, 1, 4, at + 128, 4);
    /* The rest of the tensor. */
    do_access(b, 0, 6, SIM_LOAD, LAB_PTX_GLOBAL, 2, 4, at + 256, 4);
    do_access(b, 0, 7, SIM_LOAD, LAB_PTX_SHARED, 4, 4, 0, 4);
    do_access(b, 0, 8, SIM_LOAD, LAB_PTX_LOCAL, 8, 4, 0, 4);
    do_access(b, 0, 9, SIM_STORE, LAB_PTX_LOCAL, 8, 4, 0, 0);
    do_access(b, 0, 10, SIM_LOAD, LAB_PTX_LOCAL, 8, 4, 0, 0);
    end(b);
    findings_are(b, 4);
    found(b, 0, LAB_SIM_UNINITIALISED, 5, 0, 0, "y[2,0] + 2 bytes");
    found(b, 1, LAB_SIM_UNINITIALISED, 6, 0, 1, "y[4,1]");
    found(b, 2, LAB_SIM_UNINITIALISED, 7, 0, 2, "shared memory, byte 8 of");
    found(b, 3, LAB_SIM_UNINITIALISED, 8, 0, 3, "local memory, byte 12 of 16");
    /* What a launch wrote, the next may read; shared memory is new. */
    begin(b);
    do_access(b, 0, 11, SIM_LOAD, LAB_PTX_GLOBAL, SIM_FULL, 4, at, 4);
    do_access(b, 0, 12, SIM_STORE, LAB_PTX_SHARED, 1, 4, 0, 4);
    next_block(b, 1);
    do_access(b, 0, 13, SIM_LOAD, LAB_PTX_SHARED, 1, 4, 0, 4);
    end(b);
    findings_are(b, 1);
    found(b, 0, LAB_SIM_UNINITIALISED, 13, 1, 0, "what nothing wrote");
    bench_close(b);
}

/* A variable that nothing wrote was stored: who reads it is shown where. What the
 * block before left is not taken for it. */
TEST_CASE(an_unwritten_variable_in_shared_memory_has_the_line_of_its_store)
{
    struct bench *b = bench_open(1, ALL, false);
    begin(b);
    do_access(b, 0, 3, SIM_STORE, LAB_PTX_SHARED, SIM_FULL, 4, 0, 4);
    sim_shared_unset(&b->warps[0], &b->instrs[2], 8, 4);
    do_access(b, 0, 4, SIM_LOAD, LAB_PTX_SHARED, 3, 4, 0, 4);
    do_access(b, 0, 5, SIM_LOAD, LAB_PTX_SHARED, 4, 4, 0, 4);
    next_block(b, 1);
    do_access(b, 0, 6, SIM_LOAD, LAB_PTX_SHARED, 4, 4, 0, 4);
    do_access(b, 0, 7, SIM_STORE, LAB_PTX_SHARED, SIM_FULL, 4, 0, 4);
    do_access(b, 0, 8, SIM_LOAD, LAB_PTX_SHARED, SIM_FULL, 4, 0, 4);
    end(b);
    findings_are(b, 2);
    found(b, 0, LAB_SIM_UNINITIALISED, 5, 0, 2,
          "read of a variable that nothing wrote, which line 3 stored: shared "
          "memory, byte 8 of");
    found(b, 1, LAB_SIM_UNINITIALISED, 6, 1, 2, "read of what nothing wrote");
    bench_close(b);
}

TEST_CASE(a_tensor_that_is_all_written_needs_no_bits)
{
    struct bench *b = bench_open(1, ALL, false);
    float *y = tensor(b, 128 + 8, "y", 0, 1, 34, false);
    struct sim_alloc *a = sim_memory_before(b->memory, (uintptr_t)y);
    begin(b);
    do_access(b, 0, 1, SIM_STORE, LAB_PTX_GLOBAL, SIM_FULL, 4, (uintptr_t)y, 4);
    end(b);
    assert_false(a->whole);
    begin(b);
    do_access(b, 0, 1, SIM_STORE, LAB_PTX_GLOBAL, 1, 8, (uintptr_t)(y + 32), 4);
    end(b);
    assert_true(a->whole);
    assert_null(a->set);
    bench_close(b);
}

/* ---- races within a block ---- */

enum sync { NOTHING, WARP, BLOCK };

static void synchronise(struct bench *b, enum sync how)
{
    if (how == BLOCK)
        sim_block_synchronised(&b->block, (1u << b->block.warp_count) - 1);
    else if (how == WARP)
        sim_warp_synchronised(&b->warps[0], SIM_FULL);
}

TEST_CASE(two_warps_need_a_barrier)
{
    for (int k = 0; k < 6; k++) {
        /* write then read, read then write, write then write */
        const enum sync how = k % 2 ? BLOCK : WARP;
        struct bench *b = bench_open(2, ALL, false);
        begin(b);
        store(b, 0, 1, 0);
        synchronise(b, BLOCK);
        if (k / 2 == 1)
            load(b, 0, 3, 0);
        else
            store(b, 0, 3, 0);
        synchronise(b, how);
        if (k / 2 == 0)
            load(b, 1, 5, 0);
        else
            store(b, 1, 5, 0);
        end(b);
        findings_are(b, how == BLOCK ? 0 : 1);
        if (how == WARP) {
            const struct lab_sim_finding *f =
                found(b, 0, LAB_SIM_RACE, 5, 0, 32, "at kernel.cu:3");
            assert_true(f->has_other);
            assert_int_equal(line_of(b, &f->other), 3);
            assert_int_equal(f->other.thread[0], 0);
            assert_int_equal(f->times, 32);
        }
        bench_close(b);
    }
}

TEST_CASE(two_lanes_need_a_warp_barrier)
{
    for (int k = 0; k < 4; k++) {
        const enum sync how = k % 2 ? WARP : NOTHING;
        struct bench *b = bench_open(1, ALL, false);
        begin(b);
        store(b, 0, 1, 0);
        store(b, 0, 1, 128);
        synchronise(b, WARP);
        if (k / 2)
            store(b, 0, 2, 4);
        else
            load(b, 0, 2, 4);
        synchronise(b, how);
        if (k / 2)
            load(b, 0, 3, 0);
        else
            store(b, 0, 3, 0);
        end(b);
        findings_are(b, how == WARP ? 0 : 1);
        if (how == NOTHING)
            found(b, 0, LAB_SIM_RACE, 3, 0, 1, "at kernel.cu:2");
        bench_close(b);
    }
}

TEST_CASE(a_thread_is_in_order_with_itself)
{
    struct bench *b = bench_open(2, ALL, false);
    begin(b);
    for (int k = 0; k < 3; k++)
        for (int w = 0; w < 2; w++) {
            store(b, w, 1, (uint64_t)w * 128);
            load(b, w, 2, (uint64_t)w * 128);
        }
    end(b);
    findings_are(b, 0);
    bench_close(b);
}

TEST_CASE(lanes_that_wait_in_parts_are_in_order_in_parts)
{
    struct bench *b = bench_open(1, ALL, false);
    begin(b);
    store(b, 0, 1, 0);
    sim_warp_synchronised(&b->warps[0], 0x0000ffff);
    sim_warp_synchronised(&b->warps[0], 0xffff0000);
    /* Lane l reads what lane l ^ 1 wrote: in its own half. */
    struct sim_access a =
        access_of(SIM_LOAD, LAB_PTX_SHARED, SIM_FULL, 4, 0, 4);
    for (uint64_t lane = 0; lane < SIM_LANES; lane++)
        a.addr[lane] = 4 * (lane ^ 1);
    sim_check_access(&b->warps[0], &b->instrs[1], &a, b->at);
    end(b);
    findings_are(b, 0);
    begin(b);
    store(b, 0, 1, 0);
    sim_warp_synchronised(&b->warps[0], 0x0000ffff);
    sim_warp_synchronised(&b->warps[0], 0xffff0000);
    for (uint64_t lane = 0; lane < SIM_LANES; lane++)
        a.addr[lane] = 4 * (lane ^ 16);
    sim_check_access(&b->warps[0], &b->instrs[2], &a, b->at);
    end(b);
    findings_are(b, 1);
    found(b, 0, LAB_SIM_RACE, 3, 0, 0, "thread (16,0,0)");
    bench_close(b);
}

TEST_CASE(the_same_value_in_one_place_is_no_race)
{
    for (int differs = 0; differs < 2; differs++)
        for (int space = 0; space < 2; space++) {
            struct bench *b = bench_open(2, ALL, false);
            float *x = tensor(b, 128, "x", 0, 1, 32, true);
            uint32_t values[SIM_LANES];
            for (uint32_t lane = 0; lane < SIM_LANES; lane++)
                values[lane] = 7;
            values[9] += (uint32_t)differs;
            begin(b);
            /* All lanes of both warps write one flag. */
            for (int w = 0; w < 2; w++)
                store_values(b, w, 4, space ? LAB_PTX_GLOBAL : LAB_PTX_SHARED,
                             SIM_FULL, space ? (uintptr_t)x : 64, 0, values);
            end(b);
            findings_are(b, differs);
            if (differs)
                found(b, 0, LAB_SIM_RACE, 4, 0, 9, "write of");
            bench_close(b);
        }
}

TEST_CASE(bytes_beside_each_other_are_no_race)
{
    struct bench *b = bench_open(2, ALL, true);
    float *x = tensor(b, 1024, "x", 0, 16, 16, true);
    for (int space = 0; space < 2; space++) {
        const enum lab_ptx_space s = space ? LAB_PTX_GLOBAL : LAB_PTX_SHARED;
        const uint64_t base = space ? (uintptr_t)x : 0;
        begin(b);
        /* Words first: the cells are split later. */
        do_access(b, 0, 1, SIM_STORE, s, 1, 4, base + 512, 4);
        do_access(b, 0, 2, SIM_STORE, s, SIM_FULL, 1, base, 2);
        do_access(b, 1, 3, SIM_STORE, s, SIM_FULL, 1, base + 1, 2);
        synchronise(b, BLOCK);
        do_access(b, 1, 4, SIM_LOAD, s, 0xffff, 4, base, 4);
        do_access(b, 1, 5, SIM_LOAD, s, 1, 1, base + 515, 4);
        do_access(b, 0, 6, SIM_STORE, s, 1, 1, base + 3, 1);
        end(b);
        findings_are(b, 1);
        found(b, 0, LAB_SIM_RACE, 6, 0, 0, "at kernel.cu:4");
    }
    bench_close(b);
}

TEST_CASE(atomics_race_with_plain_accesses_only)
{
    struct bench *b = bench_open(2, ALL, false);
    begin(b);
    store(b, 0, 1, 0);
    synchronise(b, BLOCK);
    for (int w = 0; w < 2; w++)
        do_access(b, w, 2, SIM_ATOMIC, LAB_PTX_SHARED, SIM_FULL, 4, 0, 0);
    end(b);
    findings_are(b, 0);
    begin(b);
    store(b, 0, 1, 0);
    synchronise(b, BLOCK);
    for (int w = 0; w < 2; w++)
        do_access(b, w, 2, SIM_ATOMIC, LAB_PTX_SHARED, SIM_FULL, 4, 0, 0);
    load(b, 0, 3, 0);
    end(b);
    findings_are(b, 1);
    found(b, 0, LAB_SIM_RACE, 3, 0, 0, "thread (63,0,0)");
    bench_close(b);
}

/* Two arrays on one line are two faults; an access past the one that the instruction
 * names is of that one, whatever lies there. */
TEST_CASE(faults_of_arrays_in_shared_memory_are_counted_apart)
{
    struct sim_variable arrays[] = {{.name = "a", .from = 0, .end = 128},
                                    {.name = "b", .from = 128, .end = 256}};
    struct bench *b = bench_open(2, ALL, false);
    b->kernel.variables = arrays;
    b->kernel.variable_count = 2;
    b->instrs[1].variable = 1;
    begin(b);
    for (int k = 0; k < 3; k++) {
        load(b, 0, 1, 128);
        load(b, 0, 1, 0);
    }
    do_access(b, 1, 2, SIM_STORE, LAB_PTX_SHARED, SIM_FULL, 4, 128, 8);
    end(b);
    findings_are(b, 3);
    for (int n = 0; n < 2; n++) {
        const struct lab_sim_finding *f =
            found(b, n, LAB_SIM_UNINITIALISED, 1, 0, 0,
                  n ? "shared memory b, byte 0" : "shared memory a, byte 0");
        assert_int_equal(f->times, 3 * 32);
    }
    assert_int_equal(
        found(b, 2, LAB_SIM_MEMORY, 2, 0, 32, "0 bytes after the end of a")
            ->times,
        32);
    bench_close(b);
}

/* Races in global memory are reported when the block has ended. A thread that was ended
 * before the race is its cause; one that was ended after it is not. */
TEST_CASE(a_race_is_behind_what_ended_its_thread)
{
    enum { NEVER, BEFORE, AFTER };
    for (int ends = NEVER; ends <= AFTER; ends++) {
        struct bench *b = bench_open(2, ALL, false);
        float *x = tensor(b, 256, "x", 0, 1, 64, true);
        begin(b);
        do_access(b, 1, 1, SIM_STORE, LAB_PTX_GLOBAL, SIM_FULL, 4,
                  (uintptr_t)(x + 32), 4);
        if (ends == BEFORE)
            do_access(b, 1, 2, SIM_STORE, LAB_PTX_GLOBAL, SIM_FULL, 4,
                      (uintptr_t)(x + 64), 4);
        do_access(b, 0, 3, SIM_LOAD, LAB_PTX_GLOBAL, SIM_FULL, 4,
                  (uintptr_t)(x + 32), 4);
        if (ends == AFTER)
            do_access(b, 1, 2, SIM_STORE, LAB_PTX_GLOBAL, SIM_FULL, 4,
                      (uintptr_t)(x + 64), 4);
        sim_check_block_end(&b->block);
        memset(&b->block, 0xa5, sizeof(b->block));
        memset(b->warps, 0xa5, sizeof(b->warps));
        assert_ok(sim_check_end(&b->grid, b->tally, b->counts, &b->result));
        findings_are(b, ends == NEVER ? 1 : 2);
        found(b, ends == BEFORE, LAB_SIM_RACE, 3, 0, 0, "thread (32,0,0)");
        if (ends != NEVER)
            found(b, ends == AFTER, LAB_SIM_MEMORY, 2, 0, 32, "end of x");
        bench_close(b);
    }
}

/* Producer and consumer: a named barrier, arrived at by one, waited at by another. */
TEST_CASE(a_barrier_puts_in_order_those_who_use_it)
{
    for (int third = 0; third < 2; third++) {
        struct bench *b = bench_open(3, ALL, false);
        struct sim_clock barrier = {{0}};
        begin(b);
        store(b, 0, 1, 0);
        sim_release(&b->warps[0], &barrier);
        sim_acquire(&b->warps[1], &barrier);
        load(b, 1 + third, 2, 0);
        end(b);
        findings_are(b, third);
        bench_close(b);
    }
}

TEST_CASE(a_fence_and_a_flag_put_in_order)
{
    for (int fence = 0; fence < 2; fence++) {
        struct bench *b = bench_open(2, ALL, false);
        begin(b);
        store(b, 0, 1, 0);
        do_access(b, 0, 1, SIM_STORE, LAB_PTX_SHARED, 1, 4, 512, 4);
        synchronise(b, BLOCK);
        store(b, 0, 2, 0);
        if (fence)
            sim_fence(&b->warps[0], SIM_FULL, true);
        do_access(b, 0, 3, SIM_ATOMIC, LAB_PTX_SHARED, 1, 4, 512, 4);
        do_access(b, 1, 4, SIM_ATOMIC, LAB_PTX_SHARED, 1, 4, 512, 4);
        load(b, 1, 5, 0);
        end(b);
        findings_are(b, !fence);
        bench_close(b);
    }
}

/* ---- copies beside the threads ---- */

static void copy(struct bench *b, int warp, int line, enum sim_access_kind kind,
                 bool issued)
{
    struct sim_access a = access_of(kind, LAB_PTX_SHARED, 1, 512, 0, 0);
    a.align = 16;
    a.async = true;
    a.issued = issued;
    assert_int_equal(
        sim_check_access(&b->warps[warp], &b->instrs[line - 1], &a, b->at), 1);
}

/* A ring of one stage, as TMA and mbarriers fill and empty it. */
TEST_CASE(a_ring_of_copies_and_mbarriers_is_clean)
{
    for (int fault = 0; fault < 3; fault++) {
        struct bench *b = bench_open(3, ALL, false);
        const uint32_t full = 2048;
        const uint32_t empty = 2056;
        begin(b);
        for (int round = 0; round < 3; round++) {
            if (round > 0 && fault != 1)
                sim_mbarrier_passed(&b->warps[0], 1, empty);
            copy(b, 0, 2, SIM_STORE, true);
            if (fault == 2 && round == 1)
                load(b, 1, 3, 0); /* too early */
            copy(b, 0, 2, SIM_STORE, false);
            sim_mbarrier_arrived(&b->warps[0], 1, full);
            for (int w = 1; w < 3; w++) {
                sim_mbarrier_passed(&b->warps[w], SIM_FULL, full);
                load(b, w, 4, 128);
                copy(b, w, 5, SIM_LOAD, true);
                copy(b, w, 5, SIM_LOAD, false);
            }
            for (int w = 1; w < 3; w++)
                sim_mbarrier_arrived(&b->warps[w], 1, empty);
        }
        end(b);
        findings_are(b, fault > 0);
        if (fault == 1)
            found(b, 0, LAB_SIM_RACE, 2, 0, 0, "at kernel.cu:");
        if (fault == 2)
            found(b, 0, LAB_SIM_UNINITIALISED, 3, 0, 32,
                  "what an asynchronous copy has yet to write");
        bench_close(b);
    }
}

TEST_CASE(a_copy_that_reads_keeps_its_source)
{
    for (int early = 0; early < 2; early++) {
        struct bench *b = bench_open(1, ALL, false);
        begin(b);
        for (uint64_t k = 0; k < 4; k++)
            store(b, 0, 1, 128 * k);
        synchronise(b, WARP);
        copy(b, 0, 2, SIM_LOAD, true);
        if (early) /* by the thread itself, before it waited */
            do_access(b, 0, 3, SIM_STORE, LAB_PTX_SHARED, 1, 4, 0, 0);
        copy(b, 0, 2, SIM_LOAD, false);
        synchronise(b, WARP);
        do_access(b, 0, 4, SIM_STORE, LAB_PTX_SHARED, 1, 4, 0, 0);
        end(b);
        findings_are(b, early);
        if (early)
            found(b, 0, LAB_SIM_RACE, 3, 0, 0,
                  "the read that is under way of thread (0,0,0)");
        bench_close(b);
    }
}

/* ---- races between blocks ---- */

TEST_CASE(blocks_that_write_one_word_are_found_in_any_order)
{
    for (int order = 0; order < 2; order++) {
        struct bench *b = bench_open(1, ALL, false);
        float *x = tensor(b, 1024, "x", 0, 16, 16, true);
        float *y = tensor(b, 1024, "y", 1, 16, 16, true);
        begin(b);
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t number = order ? 3 - k : k;
            next_block(b, number);
            do_access(b, 0, 1, SIM_LOAD, LAB_PTX_GLOBAL, SIM_FULL, 4,
                      (uintptr_t)x, 4);
            /* A row a block, and the first word of the next. */
            do_access(b, 0, 2, SIM_STORE, LAB_PTX_GLOBAL, 0x1ffff, 4,
                      (uintptr_t)(y + 16 * number), 4);
            do_access(b, 0, 3, SIM_LOAD, LAB_PTX_GLOBAL, 2, 4,
                      (uintptr_t)(y + 16 * number), 4);
        }
        end(b);
        findings_are(b, 1);
        const struct lab_sim_finding *f = found(
            b, 0, LAB_SIM_RACE, 2, 1, 0, "thread (16,0,0) of block (0,0,0)");
        assert_int_equal(f->times, 3);
        assert_int_equal(f->index[0], 1);
        assert_int_equal(f->index[1], 0);
        assert_int_equal(f->argument, 1);
        bench_close(b);
    }
}

TEST_CASE(blocks_may_write_the_same_value)
{
    for (int differs = 0; differs < 2; differs++) {
        struct bench *b = bench_open(1, ALL, false);
        float *x = tensor(b, 1024, "x", 0, 16, 16, true);
        for (uint32_t launch = 0; launch < 3; launch++) {
            begin(b);
            for (uint32_t k = 0; k < 4; k++) {
                uint32_t values[SIM_LANES];
                next_block(b, k);
                for (int lane = 0; lane < SIM_LANES; lane++)
                    values[lane] = launch + (differs && k == 2);
                store_values(b, 0, 8, LAB_PTX_GLOBAL, 0xff, (uintptr_t)x, 0,
                             values);
            }
            end(b);
            findings_are(b, differs);
        }
        bench_close(b);
    }
}

TEST_CASE(a_block_that_reads_what_another_writes_is_found)
{
    for (int order = 0; order < 2; order++) {
        struct bench *b = bench_open(1, ALL, false);
        float *x = tensor(b, 1024, "x", 0, 16, 16, true);
        begin(b);
        for (uint32_t k = 0; k < 4; k++) {
            uint32_t number = order ? 3 - k : k;
            next_block(b, number);
            do_access(b, 0, number == 2 ? 6 : 5,
                      number == 2 ? SIM_STORE : SIM_LOAD, LAB_PTX_GLOBAL, 2, 4,
                      (uintptr_t)x, 4);
        }
        end(b);
        findings_are(b, 1);
        const struct lab_sim_finding *f =
            found(b, 0, LAB_SIM_RACE, 6, 2, 1,
                  "read of thread (1,0,0) of block (0,0,0)");
        assert_int_equal(line_of(b, &f->other), 5);
        bench_close(b);
    }
}

/* Bytes from .. end of an allocation. */
static void name_part(struct bench *b, char *base, size_t from, size_t end,
                      const char *name, bool read_only)
{
    struct lab_sim_label l = {.element_bytes = 4,
                              .rank = 1,
                              .dim = {(int64_t)(end - from) / 4},
                              .read_only = read_only,
                              .bounded = true};
    snprintf(l.name, sizeof(l.name), "%s", name);
    assert_ok(lab_sim_label(b->memory, base + from, end - from, &l));
}

static bool has_marks(const struct bench *b, const void *p)
{
    struct sim_alloc *a = sim_memory_before(b->memory, (uintptr_t)p);
    return atomic_load(&a->races) != NULL;
}

/* Reads of what no launch may write leave no marks; what another tensor of the launch
 * may write is looked at as ever, also by a store that reaches over an end. */
TEST_CASE(what_no_launch_can_write_has_no_marks)
{
    static const struct {
        size_t first_end; /* of the tensor that is written */
        size_t store;     /* 16 bytes */
        int findings;
        bool marks;
    } rows[] = {{0, 1024, 0, false},  /* only y is stored */
                {256, 240, 0, true},  /* up to the first byte that is read */
                {256, 248, 1, true},  /* over the end of it */
                {272, 256, 1, true}}; /* the two overlap */
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        struct bench *b = bench_open(1, ALL, false);
        void *p;
        assert_ok(lab_sim_alloc(b->memory, 4096, &p));
        assert_ok(lab_sim_written(b->memory, p, 4096));
        char *all = p;
        name_part(b, all, 0, 512, "both", true);
        name_part(b, all, 256, 768, "x", true);
        name_part(b, all, 1024, 2048, "y", false);
        if (rows[k].first_end > 0)
            name_part(b, all, 0, rows[k].first_end, "z", false);
        begin(b);
        do_access(b, 0, 1, SIM_LOAD, LAB_PTX_GLOBAL, SIM_FULL, 4,
                  (uintptr_t)all + 256, 4);
        do_access(b, 0, 2, SIM_LOAD, LAB_PTX_GLOBAL, 0x11, 8,
                  (uintptr_t)all + 264, 40);
        assert_int_equal(has_marks(b, all), rows[k].marks);
        next_block(b, 1);
        struct sim_access a = access_of(SIM_STORE, LAB_PTX_GLOBAL, 1, 16,
                                        (uintptr_t)all + rows[k].store, 0);
        a.align = 4;
        assert_int_equal(
            sim_check_access(&b->warps[0], &b->instrs[2], &a, b->at), 1);
        end(b);
        findings_are(b, rows[k].findings);
        if (rows[k].findings)
            found(b, 0, LAB_SIM_RACE, 3, 1, 0, "races with the read of thread");
        bench_close(b);
    }
}

/* In the allocation of both, y has bytes that nothing wrote; x has them or not. */
TEST_CASE(an_input_that_is_not_all_written_is_looked_at)
{
    for (int hole = 0; hole < 2; hole++) {
        struct bench *b = bench_open(1, ALL, false);
        void *p;
        assert_ok(lab_sim_alloc(b->memory, 1024, &p));
        assert_ok(lab_sim_written(b->memory, p, 1024));
        char *all = p;
        assert_ok(lab_sim_unwritten(b->memory, all + 512, 512));
        if (hole)
            assert_ok(lab_sim_unwritten(b->memory, all + 84, 1));
        name_part(b, all, 0, 256, "x", true);
        name_part(b, all, 512, 1024, "y", false);
        begin(b);
        assert_int_equal(do_access(b, 0, 1, SIM_LOAD, LAB_PTX_GLOBAL, SIM_FULL,
                                   4, (uintptr_t)all, 4),
                         SIM_FULL);
        do_access(b, 0, 2, SIM_LOAD, LAB_PTX_GLOBAL, 1, 4,
                  (uintptr_t)all + 1020, 4);
        end(b);
        findings_are(b, 1 + hole);
        if (hole)
            found(b, 1, LAB_SIM_UNINITIALISED, 1, 0, 21, "x[21]");
        found(b, 0, LAB_SIM_UNINITIALISED, 2, 0, 0, "y[127]");
        bench_close(b);
    }
}

TEST_CASE(atomics_of_many_blocks_are_clean)
{
    struct bench *b = bench_open(1, ALL, false);
    float *x = tensor(b, 1024, "x", 0, 16, 16, true);
    begin(b);
    for (uint32_t k = 0; k < 4; k++) {
        next_block(b, k);
        do_access(b, 0, 1, SIM_ATOMIC, LAB_PTX_GLOBAL, SIM_FULL, 4,
                  (uintptr_t)x, 0);
    }
    end(b);
    findings_are(b, 0);
    assert_int_equal(b->result.counts.atomics, 128);
    begin(b);
    for (uint32_t k = 0; k < 4; k++) {
        next_block(b, k);
        do_access(b, 0, 1, k == 1 ? SIM_STORE : SIM_ATOMIC, LAB_PTX_GLOBAL, 1,
                  4, (uintptr_t)x, 0);
    }
    end(b);
    findings_are(b, 1);
    bench_close(b);
}

/* Atomics of scope .cta are atomic to the threads of their block. */
TEST_CASE(atomics_of_a_block_are_not_those_of_others)
{
    for (int order = 0; order < 2; order++) {
        struct bench *b = bench_open(2, ALL, false);
        float *x = tensor(b, 1024, "x", 0, 16, 16, true);
        b->kernel.in_order = order;
        for (uint32_t blocks = 1; blocks < 3; blocks++) {
            begin(b);
            for (uint32_t k = 0; k < blocks; k++) {
                next_block(b, k);
                for (int w = 0; w < 2; w++) {
                    struct sim_access a = access_of(SIM_ATOMIC, LAB_PTX_GLOBAL,
                                                    1, 4, (uintptr_t)x, 0);
                    a.narrow = true;
                    sim_check_access(&b->warps[w], &b->instrs[2], &a, b->at);
                }
            }
            end(b);
            findings_are(b, blocks == 2);
            if (blocks == 2)
                assert_int_equal(b->result.findings[0].at.block[0], 1);
        }
        bench_close(b);
    }
}

/* The last block adds up what all have written: kernels/reduction/once.cu. */
TEST_CASE(the_last_block_may_read_after_fence_and_atomic)
{
    enum { NONE, OF_BLOCK, OF_GPU };
    for (int fence = NONE; fence <= OF_GPU; fence++) {
        struct bench *b = bench_open(2, ALL, false);
        float *sums = tensor(b, 16, "sums", 0, 1, 4, false);
        float *count = tensor(b, 4, "count", 1, 1, 1, true);
        b->kernel.in_order = true;
        begin(b);
        for (uint32_t k = 0; k < 4; k++) {
            next_block(b, k);
            do_access(b, 1, 1, SIM_STORE, LAB_PTX_GLOBAL, 1, 4,
                      (uintptr_t)(sums + k), 4);
            synchronise(b, BLOCK);
            if (fence)
                sim_fence(&b->warps[0], 1, fence == OF_BLOCK);
            do_access(b, 0, 3, SIM_ATOMIC, LAB_PTX_GLOBAL, 1, 4,
                      (uintptr_t)count, 4);
            synchronise(b, BLOCK);
        }
        do_access(b, 1, 4, SIM_LOAD, LAB_PTX_GLOBAL, 15, 4, (uintptr_t)sums, 4);
        end(b);
        findings_are(b, fence != OF_GPU);
        if (!fence) {
            const struct lab_sim_finding *f = found(
                b, 0, LAB_SIM_RACE, 4, 3, 32,
                "write of thread (32,0,0) of block (0,0,0) at kernel.cu:1");
            assert_int_equal(f->times, 3);
        }
        bench_close(b);
    }
}

/* ---- findings ---- */

TEST_CASE(findings_are_sorted_and_bounded)
{
    struct bench *b = bench_open(1, ALL, false);
    b->options.max_findings = 3;
    begin(b);
    for (uint32_t k = 3; k < 4; k--) {
        next_block(b, k);
        for (int line = 10; line > 10 - 5; line--)
            do_access(b, 0, line, SIM_LOAD, LAB_PTX_GLOBAL, 1u << k, 4, 0, 4);
    }
    end(b);
    findings_are(b, 3);
    assert_int_equal(b->result.findings_left_out, 2);
    for (int k = 0; k < 3; k++)
        assert_int_equal(
            found(b, k, LAB_SIM_MEMORY, 6 + k, 0, 0, "NULL")->times, 4);
    bench_close(b);
}

TEST_CASE(checks_that_are_off_find_nothing_but_bounds)
{
    struct bench *b = bench_open(2, 0, false);
    float *y = tensor(b, 128, "y", 0, 1, 32, false);
    begin(b);
    store(b, 0, 1, 0);
    store(b, 1, 2, 0);
    synchronise(b, BLOCK);
    do_access(b, 0, 3, SIM_LOAD, LAB_PTX_GLOBAL, SIM_FULL, 4, (uintptr_t)y, 4);
    do_access(b, 0, 4, SIM_LOAD, LAB_PTX_GLOBAL, 1, 4, 0, 4);
    end(b);
    findings_are(b, 1);
    found(b, 0, LAB_SIM_MEMORY, 4, 0, 0, "NULL");
    bench_close(b);
}

/* ---- counts ---- */

TEST_CASE(sectors_are_those_that_lanes_touch)
{
    static const struct {
        int bytes;
        int64_t offset;
        int64_t stride;
        uint32_t mask;
        int sectors;
    } cases[] = {
        {4, 0, 4, SIM_FULL, 4},          {4, 4, 4, SIM_FULL, 5},
        {4, 0, 8, SIM_FULL, 8},          {4, 0, 32, SIM_FULL, 32},
        {4, 0, 128, SIM_FULL, 32},       {4, 0, 0, SIM_FULL, 1},
        {8, 0, 8, SIM_FULL, 8},          {16, 0, 16, SIM_FULL, 16},
        {1, 0, 1, SIM_FULL, 1},          {2, 30, 2, SIM_FULL, 3},
        {4, 31 * 32, -32, SIM_FULL, 32}, {4, 0, 4, 0xff, 1},
        {4, 0, 4, 0x80000001, 2},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct bench *b = bench_open(1, 0, false);
        float *x = tensor(b, 8192, "x", 0, 1, 2048, true);
        begin(b);
        do_access(b, 0, 3, SIM_LOAD, LAB_PTX_GLOBAL, cases[k].mask,
                  cases[k].bytes, (uintptr_t)x + (uint64_t)cases[k].offset,
                  cases[k].stride);
        b->tally[2].warps = 1;
        end(b);
        findings_are(b, 0);
        assert_int_equal(b->result.counts.global_requests, 1);
        assert_int_equal(b->result.counts.global_sectors, cases[k].sectors);
        assert_int_equal(b->result.counts.global_bytes,
                         cases[k].bytes * __builtin_popcount(cases[k].mask));
        assert_int_equal(b->result.line_count, 1);
        assert_int_equal(b->result.lines[0].line, 3);
        assert_int_equal(b->result.lines[0].counts.global_sectors,
                         cases[k].sectors);
        bench_close(b);
    }
}

/* What a cp.async of 16 bytes fetches for two quarters of a warp is two sectors, as an
 * H200 counted. */
TEST_CASE(sectors_of_a_cp_async_are_those_of_quarters)
{
    static const struct {
        int align;
        int bytes; /* of the source */
        int64_t offset;
        int64_t stride;
        uint32_t mask;
        int sectors;
        int by_ld; /* of as many bytes */
    } cases[] = {
        {16, 16, 0, 2, 0x01010101, 4, 2},   {16, 16, 0, 16, SIM_FULL, 16, 16},
        {16, 16, 16, 16, SIM_FULL, 20, 17}, {16, 16, 0, 0, SIM_FULL, 4, 1},
        {16, 8, 0, 2, 0x01010101, 4, 2},    {16, 16, 0, 32, 0xff, 8, 8},
        {4, 4, 0, 0, SIM_FULL, 1, 1},       {4, 4, 0, 4, SIM_FULL, 4, 4},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
        for (int async = 0; async < 2; async++) {
            struct bench *b = bench_open(1, 0, false);
            float *x = tensor(b, 8192, "x", 0, 1, 2048, true);
            struct sim_access a = access_of(
                SIM_LOAD, LAB_PTX_GLOBAL, cases[k].mask, cases[k].bytes,
                (uintptr_t)x + cases[k].offset, cases[k].stride);
            a.async = a.issued = async;
            a.align = async ? cases[k].align : cases[k].bytes;
            begin(b);
            sim_check_access(&b->warps[0], &b->instrs[2], &a, b->at);
            end(b);
            findings_are(b, 0);
            assert_int_equal(b->result.counts.load_requests, 1);
            if (b->result.counts.load_sectors !=
                (async ? cases[k].sectors : cases[k].by_ld))
                fail_msg("case %zu, %d: %lld sectors", k, async,
                         (long long)b->result.counts.load_sectors);
            bench_close(b);
        }
}

TEST_CASE(wavefronts_are_the_most_words_of_a_bank)
{
    static const struct {
        int bytes;
        int64_t stride;
        uint32_t mask;
        int wavefronts;
        int conflicts;
    } cases[] = {
        {4, 4, SIM_FULL, 1, 0},   {4, 0, SIM_FULL, 1, 0},
        {4, 8, SIM_FULL, 2, 1},   {4, 128, SIM_FULL, 32, 31},
        {4, 132, SIM_FULL, 1, 0}, {4, 128, 0xf, 4, 3},
        {2, 2, SIM_FULL, 1, 0},   {1, 128, SIM_FULL, 32, 31},
        {8, 8, SIM_FULL, 2, 0},   {8, 0, SIM_FULL, 1, 0},
        {8, 16, SIM_FULL, 4, 2},  {8, 8, 0xffff, 1, 0},
        {16, 16, SIM_FULL, 4, 0}, {16, 0, SIM_FULL, 2, 0},
        {16, 32, SIM_FULL, 8, 4},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        struct bench *b = bench_open(1, 0, false);
        b->block.shared_bytes = 1 << 13;
        b->block.shared = calloc(1, 1 << 13);
        begin(b);
        do_access(b, 0, 1, SIM_STORE, LAB_PTX_SHARED, cases[k].mask,
                  cases[k].bytes, 0, cases[k].stride);
        end(b);
        findings_are(b, 0);
        assert_int_equal(b->result.counts.shared_requests, 1);
        assert_int_equal(b->result.counts.shared_wavefronts,
                         cases[k].wavefronts);
        assert_int_equal(b->result.counts.bank_conflicts, cases[k].conflicts);
        free(b->block.shared);
        bench_close(b);
    }
}

/* One lane of each half, or quarter: read together, and written one after the other, as
 * an H200 counted. */
TEST_CASE(wavefronts_of_a_store_are_of_halves)
{
    static const struct {
        int bytes;
        uint32_t mask;
        int load;
        int store;
    } cases[] = {{8, 0x00020001, 1, 2},
                 {16, 0x00000201, 1, 2},
                 {16, 0x02010201, 2, 4},
                 {8, 0x00010000, 1, 1},
                 {4, 0x00020001, 1, 1}};
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
        for (int store = 0; store < 2; store++) {
            struct bench *b = bench_open(1, 0, false);
            b->block.shared_bytes = 1 << 13;
            b->block.shared = calloc(1, 1 << 13);
            begin(b);
            do_access(b, 0, 1, store ? SIM_STORE : SIM_LOAD, LAB_PTX_SHARED,
                      cases[k].mask, cases[k].bytes, 0, cases[k].bytes);
            end(b);
            if (b->result.counts.shared_wavefronts !=
                (store ? cases[k].store : cases[k].load))
                fail_msg("case %zu, %d: %lld wavefronts", k, store,
                         (long long)b->result.counts.shared_wavefronts);
            assert_int_equal(b->result.counts.bank_conflicts, 0);
            free(b->block.shared);
            bench_close(b);
        }
}

/* ---- many random cases ---- */

static uint64_t random_state = 88172645463325252u;

static uint32_t rnd(uint32_t n)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state >> 33) % n;
}

/* Between barriers each word has one writer, who alone reads it, or any readers
 * and no writer: nothing is to be found. `fault`: one barrier is left out. */
static void random_case(struct bench *b, bool global, float *x)
{
    enum { WORDS = 64, ROUNDS = 6 };
    const enum lab_ptx_space space = global ? LAB_PTX_GLOBAL : LAB_PTX_SHARED;
    const uint64_t base = global ? (uintptr_t)x : 0;
    const int warps = b->block.warp_count;
    for (uint64_t k = 0; k < WORDS * 4 / 128; k++)
        do_access(b, 0, 1, SIM_STORE, space, SIM_FULL, 4, base + 128 * k, 4);
    for (int round = 0; round < ROUNDS; round++) {
        int owner[WORDS];
        synchronise(b, BLOCK);
        for (int k = 0; k < WORDS; k++)
            owner[k] = (int)rnd((uint32_t)(warps * SIM_LANES + 20));
        for (int n = 0; n < 40; n++) {
            const int warp = (int)rnd((uint32_t)warps);
            const bool write = rnd(2);
            const int bytes = 4 << rnd(3);
            struct sim_access a = access_of(write ? SIM_STORE : SIM_LOAD, space,
                                            0, bytes, base, 4);
            for (int lane = 0; lane < SIM_LANES; lane++) {
                const int thread = warp * SIM_LANES + lane;
                const int word = (int)rnd(WORDS) & ~(bytes / 4 - 1);
                bool may = true;
                for (int k = word; k < word + bytes / 4; k++)
                    may &= owner[k] == thread ||
                           (!write && owner[k] >= warps * SIM_LANES);
                a.addr[lane] += 4 * (uint64_t)(word - lane);
                if (may)
                    a.mask |= 1u << lane;
            }
            if (a.mask)
                sim_check_access(&b->warps[warp], &b->instrs[rnd(LINES)], &a,
                                 b->at);
        }
    }
}

TEST_CASE(random_accesses_between_barriers_are_clean)
{
    struct bench *b = bench_open(3, ALL, false);
    float *x = tensor(b, 256, "x", 0, 8, 8, true);
    for (int k = 0; k < 10000; k++) {
        if (k % 100 == 0) {
            if (k > 0)
                end(b);
            findings_are(b, 0);
            begin(b);
        } else {
            next_block(b, 0);
        }
        random_case(b, k % 2, x);
    }
    end(b);
    findings_are(b, 0);
    bench_close(b);
}

/* ---- whole launches ---- */

/* y[i % wrap] = x of the thread that is 32 further in the block of 64, through
 * shared memory. `barrier`: between its store and its load. */
static const char exchange[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 x, .param .u64 y, .param .u32 wrap)\n{\n"
    ".reg .b32 %%r<9>; .reg .b64 %%rd<9>; .reg .f32 %%f<3>;\n"
    ".shared .align 4 .b8 s[256];\n"
    "ld.param.u64 %%rd1, [x]; ld.param.u64 %%rd2, [y];\n"
    "ld.param.u32 %%r1, [wrap];\n"
    "mov.u32 %%r2, %%tid.x; mov.u32 %%r3, %%ctaid.x;\n"
    "mad.lo.u32 %%r4, %%r3, 64, %%r2;\n"
    "mul.wide.u32 %%rd3, %%r4, 4; add.u64 %%rd4, %%rd1, %%rd3;\n"
    ".loc 1 11 1\nld.global.f32 %%f1, [%%rd4];\n"
    "shl.b32 %%r5, %%r2, 2; mov.u32 %%r6, s; add.u32 %%r6, %%r6, %%r5;\n"
    ".loc 1 12 1\nst.shared.f32 [%%r6], %%f1;\n"
    ".loc 1 13 1\n%s\n"
    "xor.b32 %%r5, %%r5, 128; mov.u32 %%r6, s; add.u32 %%r6, %%r6, %%r5;\n"
    ".loc 1 14 1\nld.shared.f32 %%f2, [%%r6];\n"
    "rem.u32 %%r7, %%r4, %%r1;\n"
    "mul.wide.u32 %%rd5, %%r7, 4; add.u64 %%rd6, %%rd2, %%rd5;\n"
    ".loc 1 15 1\nst.global.f32 [%%rd6], %%f2;\nret;\n}\n"
    ".file 1 \"exchange.cu\"\n";

enum { BLOCKS = 24, ELEMENTS = BLOCKS * 64 };

/* Each finding is a line of `text`, which has `room`; the rest of it. */
static char *add_findings(char *text, size_t room,
                          const struct lab_sim_module *module,
                          const struct lab_sim_result *r)
{
    const struct lab_ptx *source = lab_sim_module_ptx(module);
    size_t n = 0;
    text[0] = '\0';
    for (int k = 0; k < r->finding_count; k++) {
        const struct lab_sim_finding *f = &r->findings[k];
        n += (size_t)snprintf(
            text + n, room - n, "%s line %d block %u thread %u times %d: %s\n",
            lab_sim_check_id(f->check), source->places[f->at.place].line,
            f->at.block[0], f->at.thread[0], (int)f->times, f->message);
    }
    return text + n;
}

/* Runs it. */
static int run_exchange(const char *barrier, uint32_t wrap, int elements,
                        int threads, uint64_t seed, char *text, size_t room)
{
    char ptx[4096];
    struct lab_sim_memory *m;
    struct lab_sim_module *module;
    struct lab_sim_result r = {0};
    struct lab_sim_options o = {
        .checks = ALL, .threads = threads, .seed = seed, .lines = true};
    struct lab_sim_launch l = {.grid = {BLOCKS, 1, 1}, .block = {64, 1, 1}};
    float *x;
    void *px;
    void *py;
    snprintf(ptx, sizeof(ptx), exchange, barrier);
    assert_ok(lab_sim_memory_open(&m));
    assert_ok(lab_sim_alloc(m, sizeof(float) * (size_t)elements, &px));
    assert_ok(lab_sim_alloc(m, sizeof(float) * ELEMENTS, &py));
    x = px;
    for (int k = 0; k < elements; k++)
        x[k] = (float)k;
    assert_ok(lab_sim_written(m, px, sizeof(float) * (size_t)elements));
    assert_ok(lab_sim_module_open(m, ptx, strlen(ptx), "t.ptx", &module));
    assert_ok(lab_sim_kernel_find(module, "k", &l.kernel));
    l.args = (const void *const[]){&px, &py, &wrap};
    l.arg_count = 3;
    assert_ok(lab_sim_run(m, &l, &o, &r));
    add_findings(text, room, module, &r);
    int found_count = r.finding_count;
    if (found_count == 0)
        for (int k = 0; k < ELEMENTS; k++)
            assert_true(((float *)py)[k] == (float)(k ^ 32));
    lab_sim_result_release(&r);
    lab_sim_module_close(module);
    lab_sim_memory_close(m);
    return found_count;
}

TEST_CASE(findings_of_a_launch_are_the_same_on_any_number_of_threads)
{
    static const struct {
        const char *barrier;
        uint32_t wrap;
        int elements;
        const char *first;
    } cases[] = {
        {"bar.sync 0;", ELEMENTS, ELEMENTS, ""},
        {"bar.warp.sync -1;", ELEMENTS, ELEMENTS,
         "race line 14 block 0 thread "},
        {"bar.sync 0;", 64, ELEMENTS,
         "race line 15 block 1 thread 0 times 64: write of argument 1, byte 0 "
         "races with the write of thread (0,0,0) of block (0,0,0) at "
         "exchange.cu:15"},
        {"bar.sync 0;", 96, ELEMENTS, "race line 15 block "},
        {"bar.sync 0;", 16, ELEMENTS, "race line 15 block 1 thread "},
        {"bar.sync 0;", ELEMENTS, ELEMENTS - 70,
         "memory line 11 block 22 thread 58 times 70: read of 4 bytes outside "
         "of memory: 0 bytes after the end of argument 0"},
    };
    static char one[16384];
    static char more[16384];
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        run_exchange(cases[k].barrier, cases[k].wrap, cases[k].elements, 1, 3,
                     one, sizeof(one));
        if (cases[k].first[0] ? !strstr(one, cases[k].first) : one[0] != '\0')
            fail_msg("case %d: %s", (int)k, one);
        for (int threads = 2; threads <= 5; threads++)
            for (int again = 0; again < 3; again++) {
                run_exchange(cases[k].barrier, cases[k].wrap, cases[k].elements,
                             threads, 3, more, sizeof(more));
                assert_string_equal(one, more);
            }
    }
}

/* y[2500 + t] = 3 y[2500 + t] + block, by every block: they race, so the launch is taken
 * back and run again in the order of the blocks. */
static const char together[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 y)\n{\n"
    ".reg .b32 %r<9>; .reg .b64 %rd<5>;\n"
    "ld.param.u64 %rd1, [y]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;\n"
    ".loc 1 5 1\nld.global.u32 %r3, [%rd3+10000];\n"
    "mad.lo.u32 %r4, %r3, 3, %r2;\n"
    ".loc 1 6 1\nst.global.u32 [%rd3+10000], %r4;\nret;\n}\n"
    ".file 1 \"together.cu\"\n";

/* Launches on two memories in turn, both of which the host changes in between; findings
 * and values of all of them are in `text`. */
static void run_together(int threads, char *text, size_t room)
{
    enum { COUNT = 3000, AT = 2500, LANES = 64, LAST = 4 };
    struct lab_sim_memory *m;
    struct lab_sim_module *module;
    struct lab_sim_options o = {
        .checks = ALL, .threads = threads, .seed = 3, .lines = true};
    struct lab_sim_launch l = {.grid = {BLOCKS, 1, 1}, .block = {LANES, 1, 1}};
    void *both[2];
    char *end = text + room;
    assert_ok(lab_sim_memory_open(&m));
    for (int i = 0; i < 2; i++)
        assert_ok(lab_sim_alloc(m, sizeof(uint32_t) * COUNT, &both[i]));
    assert_ok(
        lab_sim_module_open(m, together, strlen(together), "t.ptx", &module));
    assert_ok(lab_sim_kernel_find(module, "k", &l.kernel));
    l.arg_count = 1;
    for (int launch = 0; launch <= LAST; launch++) {
        struct lab_sim_result r = {0};
        l.args = (const void *const[]){&both[launch % 2]};
        for (int i = 0; i < 2; i++) {
            uint32_t *y = both[i];
            assert_ok(lab_sim_written(m, y, sizeof(*y) * COUNT));
            for (int k = 0; k < LANES; k++)
                y[AT + k] = launch == 2 ? 0 : (uint32_t)(launch + k);
            /* Other bytes each time, and none in the last. */
            if (launch < LAST)
                assert_ok(lab_sim_unwritten(m, &y[AT + 7 * launch],
                                            (size_t)(8 + launch) * sizeof(*y)));
        }
        assert_ok(lab_sim_run(m, &l, &o, &r));
        text = add_findings(text, (size_t)(end - text), module, &r);
        assert_true(r.finding_count == (launch < LAST ? 2 : 1));
        for (int k = 0; k < 2 * LANES; k++)
            text += snprintf(text, (size_t)(end - text), "%u ",
                             ((uint32_t *)both[k / LANES])[AT + k % LANES]);
        lab_sim_result_release(&r);
    }
    lab_sim_module_close(module);
    lab_sim_memory_close(m);
}

TEST_CASE(a_launch_that_is_taken_back_finds_the_memory_of_its_beginning)
{
    static char one[16384];
    static char more[16384];
    run_together(1, one, sizeof(one));
    for (int threads = 2; threads <= 5; threads++) {
        run_together(threads, more, sizeof(more));
        assert_string_equal(one, more);
    }
}

TEST_CASE(a_correct_kernel_is_clean_in_any_order_of_warps)
{
    static char text[4096];
    for (uint64_t seed = 0; seed < 200; seed++)
        if (run_exchange("bar.sync 0;", ELEMENTS, ELEMENTS, 2, seed, text,
                         sizeof(text)))
            fail_msg("seed %d: %s", (int)seed, text);
}

RUN_TESTS()
