/* From PTX text to memory: programs that are made at random, with branches, loops,
 * switches and calls in one another, run by the simulator and by a walk over the
 * same program in C, thread by thread; and small kernels of what those leave out. */
#include "test.h"

#include "base/str.h"
#include "sim/sim.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

enum {
    ALL_CHECKS = (1u << LAB_SIM_CHECK_COUNT) - 1,
    REGS = 6,
    MOST_NODES = 400,
    MOST_DEPTH = 4,
    MOST_THREADS = 3 * 97,
};

/* ---- running ---- */

struct device {
    struct lab_sim_memory *memory;
    struct lab_sim_module *module;
    const struct lab_sim_kernel *kernel;
    struct lab_sim_result result;
    char printed[256];
};

static void print(void *arg, const char *text)
{
    struct device *d = arg;
    strncat(d->printed, text, sizeof(d->printed) - strlen(d->printed) - 1);
}

static void open_kernel(struct device *d, const char *text)
{
    memset(d, 0, sizeof(*d));
    assert_ok(lab_sim_memory_open(&d->memory));
    enum lab_status st = lab_sim_module_open(d->memory, text, strlen(text),
                                             "test.ptx", &d->module);
    if (!st)
        st = lab_sim_kernel_find(d->module, "k", &d->kernel);
    if (st)
        print_error("%s\n%s\n", lab_error(), text);
    assert_ok(st);
}

static void close_kernel(struct device *d)
{
    lab_sim_result_release(&d->result);
    lab_sim_module_close(d->module);
    lab_sim_memory_close(d->memory);
}

static void *buffer(struct device *d, size_t bytes, const void *from)
{
    void *p = NULL;
    assert_ok(lab_sim_alloc(d->memory, bytes, &p));
    if (from) {
        memcpy(p, from, bytes);
        assert_ok(lab_sim_written(d->memory, p, bytes));
    }
    return p;
}

static void launch(struct device *d, const uint32_t grid[3],
                   const uint32_t block[3], uint64_t seed, int threads,
                   const void *const *args, int count)
{
    const struct lab_sim_options options = {.checks = ALL_CHECKS,
                                            .seed = seed,
                                            .threads = threads,
                                            .print = print,
                                            .print_arg = d};
    struct lab_sim_launch l = {
        .kernel = d->kernel, .args = args, .arg_count = count};
    memcpy(l.grid, grid, sizeof(l.grid));
    memcpy(l.block, block, sizeof(l.block));
    lab_sim_result_release(&d->result);
    memset(&d->result, 0, sizeof(d->result));
    assert_ok(lab_sim_run(d->memory, &l, &options, &d->result));
    if (d->result.finding_count)
        fail_msg("%s", d->result.findings[0].message);
}

/* ---- programs at random ---- */

static uint32_t gcd(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static uint32_t bits_reversed(uint32_t v)
{
    uint32_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= (v >> i & 1) << (31 - i);
    return r;
}

static int32_t s32(uint32_t v)
{
    int32_t s;
    memcpy(&s, &v, sizeof(s));
    return s;
}

/* The value of `length` bits of `v` from `from` on. */
static uint32_t bit_field(uint32_t v, uint32_t from, uint32_t length)
{
    from &= 255;
    length &= 255;
    uint64_t cut = from > 31 ? 0 : v >> from;
    return (uint32_t)(length > 31 ? cut : cut & (((uint64_t)1 << length) - 1));
}

/* A byte of the eight of b and a, with its sign if bit 3 is set. */
static uint32_t permuted(uint32_t a, uint32_t b, uint32_t choice)
{
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t out = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t c = choice >> (4 * i);
        uint32_t byte = (uint32_t)(both >> ((c & 7) * 8)) & 255;
        if (c & 8)
            byte = byte & 128 ? 255 : 0;
        out |= byte << (8 * i);
    }
    return out;
}

static uint32_t of_float(float f)
{
    uint32_t v;
    memcpy(&v, &f, sizeof(v));
    return v;
}

/* As cvt.rzi.s32.f64: at most what fits. */
static uint32_t to_s32(double v)
{
    v = v < -2147483648.0 ? -2147483648.0 : v > 2147483647.0 ? 2147483647.0 : v;
    return (uint32_t)(int32_t)v;
}

static uint32_t divided(uint32_t a, uint32_t b)
{
    /* Of more than one that does not fit, and by 0, nothing is reported. */
    int32_t by = s32(b & 0xFFFF) + 1;
    return (uint32_t)(s32(a) / by);
}

/* d = op(a, b, c): the PTX, where %% is a percent sign; what C makes of it. */
#define OPERATIONS(X)                                                          \
    X("add.u32 %d, %a, %b", a + b)                                             \
    X("sub.s32 %d, %a, %b", a - b)                                             \
    X("mul.lo.u32 %d, %a, %b", a *b)                                           \
    X("mul.hi.u32 %d, %a, %b", (uint32_t)((uint64_t)a * b >> 32))              \
    X("mul.hi.s32 %d, %a, %b",                                                 \
      (uint32_t)((uint64_t)((int64_t)s32(a) * s32(b)) >> 32))                  \
    X("mad.lo.s32 %d, %a, %b, %c", a *b + c)                                   \
    X("or.b32 %%t1, %b, 1; div.u32 %d, %a, %%t1", a / (b | 1))                 \
    X("or.b32 %%t1, %b, 1; rem.u32 %d, %a, %%t1", a % (b | 1))                 \
    X("and.b32 %%t1, %b, 65535; add.s32 %%t1, %%t1, 1; div.s32 %d, %a, %%t1",  \
      divided(a, b))                                                           \
    X("and.b32 %d, %a, %b", a &b)                                              \
    X("or.b32 %d, %a, %b", a | b)                                              \
    X("xor.b32 %d, %a, %b", a ^ b)                                             \
    X("lop3.b32 %d, %a, %b, %c, 0xE8", (a & b) | (a & c) | (b & c))            \
    X("not.b32 %d, %a", ~a)                                                    \
    X("neg.s32 %d, %a", 0 - a)                                                 \
    X("shl.b32 %d, %a, %b", b > 31 ? 0 : a << b)                               \
    X("shr.u32 %d, %a, %b", b > 31 ? 0 : a >> b)                               \
    X("shr.s32 %d, %a, %b", (uint32_t)(s32(a) >> (b > 31 ? 31 : b)))           \
    X("shf.l.wrap.b32 %d, %a, %b, %c",                                         \
      (uint32_t)(((uint64_t)b << 32 | a) << (c & 31) >> 32))                   \
    X("min.u32 %d, %a, %b", a < b ? a : b)                                     \
    X("max.s32 %d, %a, %b", s32(a) > s32(b) ? a : b)                           \
    X("sad.u32 %d, %a, %b, %c", (a > b ? a - b : b - a) + c)                   \
    X("popc.b32 %d, %a", (uint32_t)__builtin_popcount(a))                      \
    X("clz.b32 %d, %a", a ? (uint32_t)__builtin_clz(a) : 32)                   \
    X("brev.b32 %d, %a", bits_reversed(a))                                     \
    X("bfe.u32 %d, %a, %b, %c", bit_field(a, b, c))                            \
    X("prmt.b32 %d, %a, %b, %c", permuted(a, b, c))                            \
    X("cvt.s32.s8 %d, %a", (a & 255) - ((a & 128) << 1))                       \
    X("cvt.u32.u16 %d, %a", a & 0xFFFF)                                        \
    X("setp.lt.s32 %%p1, %a, %b; selp.b32 %d, %c, %a, %%p1",                   \
      s32(a) < s32(b) ? c : a)                                                 \
    X("mul.wide.u32 %%w1, %a, %b; shr.u64 %%w1, %%w1, 13;\n"                   \
      "cvt.u32.u64 %d, %%w1",                                                  \
      (uint32_t)((uint64_t)a * b >> 13))                                       \
    X("mov.b64 %%w1, {%a, %c}; mul.lo.u64 %%w1, %%w1, %%w1;\n"                 \
      "mov.b64 {_, %d}, %%w1",                                                 \
      (uint32_t)(((uint64_t)c << 32 | a) * ((uint64_t)c << 32 | a) >> 32))     \
    X("mov.b64 %%w1, {%a, %c}; cvt.s64.s32 %%w2, %a;\n"                        \
      "setp.lt.s64 %%p1, %%w1, %%w2; selp.u32 %d, 1, 0, %%p1",                 \
      s32(c) < (s32(a) < 0 ? -1 : 0))                                          \
    X("cvt.rn.f32.u32 %%f1, %a; cvt.rn.f32.s32 %%f2, %c;\n"                    \
      "fma.rn.f32 %%f1, %%f1, %%f2, %%f1; mov.b32 %d, %%f1",                   \
      of_float(fmaf((float)a, (float)s32(c), (float)a)))                       \
    X("cvt.rn.f32.u32 %%f1, %a; cvt.rn.f32.u32 %%f2, %c;\n"                    \
      "add.f32 %%f2, %%f2, 0f3F800000; div.rn.f32 %%f1, %%f1, %%f2;\n"         \
      "sqrt.rn.f32 %%f1, %%f1; mov.b32 %d, %%f1",                              \
      of_float(sqrtf((float)a / ((float)c + 1.0f))))                           \
    X("cvt.rn.f64.s32 %%w1, %a; cvt.rn.f64.s32 %%w2, %c;\n"                    \
      "mul.f64 %%w1, %%w1, %%w2; mul.f64 %%w1, %%w1, 0d3F00000000000000;\n"    \
      "cvt.rzi.s32.f64 %d, %%w1",                                              \
      to_s32((double)s32(a) * (double)s32(c) * 0x1p-15))                       \
    X("call gcd %d, %a, %b", gcd(a, b))

static const char *const operations[] = {
#define X(text, value) text,
    OPERATIONS(X)
#undef X
};

enum { OPERATION_COUNT = sizeof(operations) / sizeof(operations[0]) };

static uint32_t compute(int operation, uint32_t a, uint32_t b, uint32_t c)
{
    int i = 0;
#define X(text, value)                                                         \
    if (i++ == operation)                                                      \
        return value;
    OPERATIONS(X)
#undef X
    return 0;
}

enum kind { ASSIGN, IF, LOOP, SWITCH, BREAK, CONTINUE, LEAVE, EXCHANGE };

struct node {
    enum kind kind;
    int operation; /* of ASSIGN; of a condition: less than, equal, above */
    int d;
    int a; /* registers */
    int b;
    int c;
    uint32_t number; /* in the place of register b, if b < 0 */
    int body[4];     /* then and else, cases; -1: none */
    int next;        /* -1: the last of its body */
};

struct program {
    struct node nodes[MOST_NODES];
    int count;
    int first;
    uint64_t state;
    bool leaves; /* some threads end early: no barrier after that */
    struct lab_str text;
    int labels;
};

static uint32_t random_below(struct program *p, uint32_t n)
{
    p->state = p->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(p->state >> 33) % n;
}

static int make_body(struct program *p, int depth, bool in_loop, int length)
{
    int first = -1;
    int *link = &first;
    for (int i = 0; i < length && p->count < MOST_NODES; i++) {
        struct node *n = &p->nodes[p->count];
        uint32_t choice = random_below(p, 20);
        *n = (struct node){.body = {-1, -1, -1, -1}, .next = -1};
        n->operation = (int)random_below(p, OPERATION_COUNT);
        n->d = (int)random_below(p, REGS);
        n->a = (int)random_below(p, REGS);
        n->b = random_below(p, 4) ? (int)random_below(p, REGS) : -1;
        n->c = (int)random_below(p, REGS);
        n->number = random_below(p, 2) ? random_below(p, 40)
                                       : random_below(p, UINT32_MAX);
        *link = p->count++;
        int bodies = 0;
        if (choice < 11 || (depth == MOST_DEPTH && !in_loop)) {
            n->kind =
                depth == 0 && choice < 2 && !p->leaves ? EXCHANGE : ASSIGN;
        } else if (choice < 14 && in_loop) {
            n->kind = choice == 11 ? CONTINUE : BREAK;
        } else if (choice == 14 && p->leaves) {
            n->kind = LEAVE;
        } else if (depth < MOST_DEPTH) {
            n->kind = choice < 16 ? LOOP : choice < 19 ? IF : SWITCH;
            bodies = n->kind == LOOP ? 1 : n->kind == IF ? 2 : 4;
        }
        for (int k = 0; k < bodies; k++) {
            /* Of an if without else, of empty cases: none. */
            int most = k ? 4 : 5;
            int body = make_body(p, depth + 1, in_loop || n->kind == LOOP,
                                 (int)random_below(p, (uint32_t)most) + !k);
            n->body[k] = body;
        }
        link = &n->next;
    }
    return first;
}

/* With the next thread through shared memory, and in a warp. */
static const char *const exchanges[] = {
    "st.shared.u32 [%%mine], %a;\nbar.sync 0;\nld.shared.u32 %d, [%%next];\n"
    "bar.sync 0",
    "xor.b32 %%t1, %%lane, 5; min.u32 %%t1, %%t1, %%last;\n"
    "shfl.sync.idx.b32 %d, %a, %%t1, 31, %%mask",
    "and.b32 %%t1, %a, 1; setp.eq.u32 %%p1, %%t1, 1;\n"
    "vote.sync.ballot.b32 %d, %%p1, %%mask",
    "redux.sync.add.u32 %d, %a, %%mask",
};

static const char *const conditions[] = {"lt.u32", "eq.u32", "gt.s32"};

static bool holds(const struct node *n, uint32_t a, uint32_t b)
{
    switch (n->operation % 3) {
    case 0:
        return a < b;
    case 1:
        return a == b;
    default:
        return s32(a) > s32(b);
    }
}

/* %a of a text as a register, %b as one or a number. */
static void write_operation(struct program *p, const struct node *n,
                            const char *text)
{
    for (; *text; text++) {
        if (*text != '%') {
            lab_str_add_char(&p->text, *text);
            continue;
        }
        text++;
        if (*text == '%') {
            lab_str_add_char(&p->text, '%');
            continue;
        }
        int reg = *text == 'd' ? n->d : *text == 'a' ? n->a : n->c;
        if (*text == 'b')
            reg = n->b;
        if (reg < 0)
            lab_str_addf(&p->text, "%u", n->number);
        else
            lab_str_addf(&p->text, "%%v%d", reg);
    }
    lab_str_add(&p->text, ";\n");
}

/* Sets predicate %p1 to the condition of `n`. */
static void write_condition(struct program *p, const struct node *n)
{
    lab_str_addf(&p->text, "setp.%s ", conditions[n->operation % 3]);
    write_operation(p, n, "%%p1, %a, %b");
}

static void write_body(struct program *p, int at, int depth, int loop);

static void write_switch(struct program *p, const struct node *n, int depth,
                         int loop, int label)
{
    lab_str_addf(&p->text,
                 "T%d: .branchtargets C%d_0, C%d_1, C%d_2, C%d_3;\n"
                 "and.b32 %%t1, %%v%d, 3;\nbrx.idx %%t1, T%d;\n",
                 label, label, label, label, label, n->a, label);
    for (int k = 0; k < 4; k++) {
        lab_str_addf(&p->text, "C%d_%d:\n", label, k);
        write_body(p, n->body[k], depth + 1, loop);
        if (k != 1) /* which goes on in the next case */
            lab_str_addf(&p->text, "bra END%d;\n", label);
    }
    lab_str_addf(&p->text, "END%d:\n", label);
}

static void write_node(struct program *p, const struct node *n, int depth,
                       int loop)
{
    struct lab_str *t = &p->text;
    int label = ++p->labels;
    const char *operation = operations[n->operation];
    switch (n->kind) {
    case ASSIGN:
        if (strncmp(operation, "call", 4) == 0) {
            lab_str_add(t, "{ .param .b32 a0; .param .b32 a1; .param .b32 r0;\n"
                           "st.param.b32 [a0+0], ");
            write_operation(p, n, "%a");
            lab_str_add(t, "st.param.b32 [a1+0], ");
            write_operation(p, n, "%b");
            lab_str_add(t, "call (r0), gcd, (a0, a1);\nld.param.b32 ");
            write_operation(p, n, "%d, [r0+0]");
            lab_str_add(t, "}\n");
        } else {
            write_operation(p, n, operation);
        }
        break;
    case EXCHANGE:
        write_operation(p, n, exchanges[n->operation % 4]);
        break;
    case IF:
        write_condition(p, n);
        lab_str_addf(t, "@!%%p1 bra ELSE%d;\n", label);
        write_body(p, n->body[0], depth + 1, loop);
        if (n->body[1] >= 0)
            lab_str_addf(t, "bra END%d;\n", label);
        lab_str_addf(t, "ELSE%d:\n", label);
        write_body(p, n->body[1], depth + 1, loop);
        lab_str_addf(t, "END%d:\n", label);
        break;
    case LOOP:
        lab_str_addf(t,
                     "and.b32 %%n%d, %%v%d, 7;\nTOP%d:\n"
                     "setp.eq.u32 %%p1, %%n%d, 0;\n@%%p1 bra OUT%d;\n"
                     "sub.u32 %%n%d, %%n%d, 1;\n",
                     depth, n->a, label, depth, label, depth, depth);
        write_body(p, n->body[0], depth + 1, label);
        lab_str_addf(t, "bra TOP%d;\nOUT%d:\n", label, label);
        break;
    case SWITCH:
        write_switch(p, n, depth, loop, label);
        break;
    default:
        write_condition(p, n);
        if (n->kind == LEAVE)
            lab_str_add(t, "@%p1 bra LEAVE;\n");
        else
            lab_str_addf(t, "@%%p1 bra %s%d;\n",
                         n->kind == BREAK ? "OUT" : "TOP", loop);
    }
}

static void write_body(struct program *p, int at, int depth, int loop)
{
    for (; at >= 0; at = p->nodes[at].next)
        write_node(p, &p->nodes[at], depth, loop);
}

static const char before[] = HEAD
    ".func (.param .b32 r) gcd(.param .b32 a, .param .b32 b)\n{\n"
    ".reg .pred %p<2>; .reg .b32 %r<5>;\n"
    "ld.param.b32 %r1, [a];\nld.param.b32 %r2, [b];\n"
    "TOP:\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra DONE;\n"
    "rem.u32 %r3, %r1, %r2;\nmov.u32 %r1, %r2;\nmov.u32 %r2, %r3;\n"
    "bra TOP;\n"
    "DONE:\nst.param.b32 [r], %r1;\nret;\n}\n"
    ".entry k(.param .u64 in, .param .u64 out)\n{\n"
    ".reg .pred %p<2>; .reg .b32 %v<6>, %t<9>, %n<9>, %mine, %next;\n"
    ".reg .b32 %mask, %lane, %last;\n"
    "activemask.b32 %mask; mov.u32 %lane, %laneid; popc.b32 %last, %mask;\n"
    "sub.u32 %last, %last, 1;\n"
    ".reg .b64 %rd<9>, %w<3>; .reg .f32 %f<3>; .shared .b32 room[128];\n"
    "mov.u32 %t2, %tid.x; mov.u32 %t3, %ntid.x; mov.u32 %t4, %ctaid.x;\n"
    "mad.lo.u32 %t5, %t4, %t3, %t2; mul.wide.u32 %rd1, %t5, 24;\n"
    "ld.param.u64 %rd2, [in]; ld.param.u64 %rd3, [out];\n"
    "add.u64 %rd2, %rd2, %rd1; add.u64 %rd3, %rd3, %rd1;\n"
    "mov.u32 %t6, room; shl.b32 %t7, %t2, 2; add.u32 %mine, %t6, %t7;\n"
    "add.u32 %t8, %t2, 1; rem.u32 %t8, %t8, %t3; shl.b32 %t8, %t8, 2;\n"
    "add.u32 %next, %t6, %t8;\n"
    "ld.global.v2.u32 {%v0, %v1}, [%rd2];\n"
    "ld.global.v2.u32 {%v2, %v3}, [%rd2+8];\n"
    "ld.global.v2.u32 {%v4, %v5}, [%rd2+16];\n";

static const char after[] = "LEAVE:\n"
                            "st.global.v2.u32 [%rd3], {%v0, %v1};\n"
                            "st.global.v2.u32 [%rd3+8], {%v2, %v3};\n"
                            "st.global.v2.u32 [%rd3+16], {%v4, %v5};\n"
                            "ret;\n}\n";

/* ---- the same in C ---- */

enum how { GOES_ON, BREAKS, CONTINUES, LEAVES };

static enum how run_body(const struct program *p, int at, uint32_t *v);

static enum how run_node(const struct program *p, const struct node *n,
                         uint32_t *v)
{
    uint32_t a = v[n->a];
    uint32_t b = n->b < 0 ? n->number : v[n->b];
    enum how how = GOES_ON;
    switch (n->kind) {
    case ASSIGN:
        v[n->d] = compute(n->operation, a, b, v[n->c]);
        break;
    case IF:
        how = run_body(p, n->body[holds(n, a, b) ? 0 : 1], v);
        break;
    case LOOP:
        for (uint32_t left = a & 7; left > 0; left--) {
            how = run_body(p, n->body[0], v);
            if (how == BREAKS || how == LEAVES)
                break;
        }
        how = how == LEAVES ? LEAVES : GOES_ON;
        break;
    case SWITCH:
        how = run_body(p, n->body[a & 3], v);
        if ((a & 3) == 1 && how == GOES_ON)
            how = run_body(p, n->body[2], v);
        break;
    case BREAK:
        return holds(n, a, b) ? BREAKS : GOES_ON;
    case CONTINUE:
        return holds(n, a, b) ? CONTINUES : GOES_ON;
    case LEAVE:
        return holds(n, a, b) ? LEAVES : GOES_ON;
    case EXCHANGE:
        break;
    }
    return how;
}

static enum how run_body(const struct program *p, int at, uint32_t *v)
{
    enum how how = GOES_ON;
    for (; at >= 0 && how == GOES_ON; at = p->nodes[at].next)
        how = run_node(p, &p->nodes[at], v);
    return how;
}

/* What thread `t` of a block has in register `d` after an exchange. */
static uint32_t exchanged(const struct node *n, int threads, int t,
                          uint32_t v[][REGS])
{
    int first = t / 32 * 32; /* of the warp */
    int last = first + 31 < threads ? first + 31 : threads - 1;
    int from = first + ((t % 32) ^ 5);
    uint32_t sum = 0;
    switch (n->operation % 4) {
    case 0:
        return v[(t + 1) % threads][n->a];
    case 1:
        return v[from < last ? from : last][n->a];
    default:
        for (int i = first; i <= last; i++)
            sum += n->operation % 4 == 2 ? (v[i][n->a] & 1) << (i - first)
                                         : v[i][n->a];
        return sum;
    }
}

/* A statement of the outermost body at a time, for all threads of a block. */
static void run_block(const struct program *p, int threads, uint32_t v[][REGS])
{
    bool gone[MOST_THREADS] = {false};
    uint32_t next[MOST_THREADS];
    for (int at = p->first; at >= 0; at = p->nodes[at].next) {
        const struct node *n = &p->nodes[at];
        for (int t = 0; t < threads; t++) {
            if (n->kind == EXCHANGE)
                next[t] = exchanged(n, threads, t, v);
            else if (!gone[t])
                gone[t] = run_node(p, n, v[t]) == LEAVES;
        }
        for (int t = 0; t < threads && n->kind == EXCHANGE; t++)
            v[t][n->d] = next[t];
    }
}

static void check_program(uint64_t seed)
{
    static struct program p;
    static uint32_t want[MOST_THREADS][REGS];
    memset(&p, 0, sizeof(p));
    p.state = seed * 0x9E3779B97F4A7C15u + 1;
    p.leaves = seed % 2;
    p.first = make_body(&p, 0, false, 12);
    lab_str_init(&p.text);
    lab_str_add(&p.text, before);
    write_body(&p, p.first, 0, 0);
    lab_str_add(&p.text, after);

    const uint32_t grid[3] = {1 + random_below(&p, 3), 1, 1};
    const uint32_t block[3] = {1 + random_below(&p, 97), 1, 1};
    int threads = (int)(grid[0] * block[0]);
    for (int t = 0; t < threads; t++)
        for (int i = 0; i < REGS; i++)
            want[t][i] = random_below(&p, 3) ? random_below(&p, 40)
                                             : random_below(&p, UINT32_MAX);
    size_t bytes = (size_t)threads * sizeof(want[0]);
    struct device d;
    open_kernel(&d, lab_str_text(&p.text));
    void *in = buffer(&d, bytes, want);
    for (uint32_t b = 0; b < grid[0]; b++)
        run_block(&p, (int)block[0], want + b * block[0]);

    struct lab_sim_counts counts = {0};
    for (int run = 0; run < 2; run++) {
        uint32_t(*out)[REGS] = buffer(&d, bytes, NULL);
        const void *args[] = {&in, &out};
        launch(&d, grid, block, seed + (uint64_t)run, 1 + run, args, 2);
        for (int t = 0; t < threads; t++)
            for (int i = 0; i < REGS; i++)
                if (out[t][i] != want[t][i]) {
                    print_error("%s\n", lab_str_text(&p.text));
                    fail_msg("program %d, thread %d, %%v%d: %u, expected %u",
                             (int)seed, t, i, out[t][i], want[t][i]);
                }
        if (run)
            assert_memory_equal(&counts, &d.result.counts, sizeof(counts));
        counts = d.result.counts;
    }
    close_kernel(&d);
    lab_str_release(&p.text);
}

TEST_CASE(programs_at_random_equal_c)
{
    for (uint64_t seed = 0; seed < 150; seed++)
        check_program(seed);
}

/* ---- what those leave out ---- */

TEST_CASE(indices_of_three_dimensions)
{
    struct device d;
    const uint32_t grid[3] = {2, 3, 2};
    const uint32_t block[3] = {5, 3, 2};
    enum { THREADS = 12 * 30 };
    open_kernel(
        &d, HEAD
        ".entry k(.param .u64 out)\n{\n.reg .b32 %r<20>; .reg .b64 %rd<4>;\n"
        "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;\n"
        "mov.u32 %r4, %ntid.x; mov.u32 %r5, %ntid.y; mov.u32 %r6, %ntid.z;\n"
        "mov.u32 %r7, %ctaid.x; mov.u32 %r8, %ctaid.y;\n"
        "mov.u32 %r9, %ctaid.z; mov.u32 %r10, %nctaid.x;\n"
        "mov.u32 %r11, %nctaid.y; mov.u32 %r12, %nctaid.z;\n"
        "mad.lo.u32 %r13, %r9, %r11, %r8; mad.lo.u32 %r13, %r13, %r10, %r7;\n"
        "mad.lo.u32 %r13, %r13, %r6, %r3; mad.lo.u32 %r13, %r13, %r5, %r2;\n"
        "mad.lo.u32 %r13, %r13, %r4, %r1;\n"
        "mul.lo.u32 %r14, %r12, 1000; add.u32 %r14, %r14, %r13;\n"
        "ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r13, 4;\n"
        "add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r14;\nret;\n}\n");
    uint32_t *out = buffer(&d, THREADS * sizeof(*out), NULL);
    const void *args[] = {&out};
    launch(&d, grid, block, 1, 2, args, 1);
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(out[i], 2000 + i);
    close_kernel(&d);
}

TEST_CASE(initial_values_and_addresses_of_variables)
{
    struct device d;
    const uint32_t one[3] = {1, 1, 1};
    open_kernel(
        &d, HEAD
        ".const .f32 c[4] = {1.5, 0f40000000, 3};\n"
        ".global .u32 g[3] = {7, 0xFFFFFFFF};\n"
        ".global .u64 p[2] = {g + 4, generic(c)};\n"
        ".entry k(.param .align 8 .b8 s[24])\n{\n"
        ".local .align 8 .b8 depot[16];\n"
        ".reg .b32 %r<9>; .reg .f32 %f<5>; .reg .b64 %rd<9>;\n"
        "ld.param.u64 %rd1, [s+16];\nld.param.u32 %r1, [s+4];\n"
        "st.global.u32 [%rd1], %r1;\n"
        "ld.const.f32 %f1, [c+4];\nst.global.f32 [%rd1+4], %f1;\n"
        "ld.global.u64 %rd2, [p];\nld.global.u32 %r2, [%rd2];\n"
        "st.global.u32 [%rd1+8], %r2;\n"
        "ld.global.u64 %rd3, [p+8];\nld.f32 %f2, [%rd3];\n"
        "st.global.f32 [%rd1+12], %f2;\n"
        "mov.u64 %rd4, depot;\ncvta.local.u64 %rd5, %rd4;\n"
        "st.local.u32 [%rd4+8], %r1;\nld.u32 %r3, [%rd5+8];\n"
        "st.u32 [%rd1+16], %r3;\n"
        "ld.global.u32 %r4, [g+8];\nst.global.u32 [%rd1+20], %r4;\nret;\n}\n");
    uint32_t *out = buffer(&d, 24, NULL);
    unsigned char s[24] = {0, 0, 0, 0, 1, 2, 3, 4};
    memcpy(s + 16, &out, sizeof(out));
    const void *args[] = {s};
    launch(&d, one, one, 0, 1, args, 1);
    float f[2];
    memcpy(&f[0], &out[1], 4);
    memcpy(&f[1], &out[3], 4);
    assert_int_equal(out[0], 0x04030201);
    assert_true(f[0] == 2.0f && f[1] == 1.5f);
    assert_int_equal(out[2], 0xFFFFFFFF);
    assert_int_equal(out[4], 0x04030201);
    assert_int_equal(out[5], 0);
    close_kernel(&d);
}

/* clang writes such a table for `int *const lists[] = {a, b}` over shared arrays, and
 * moves the arrays into the kernel behind it. */
#define TABLE                                                                  \
    ".shared .align 4 .b8 m[16];\n"                                            \
    ".global .u64 t[3] = {generic(b), generic(a)+8, generic(m)};\n"            \
    ".global .u64 twice[2] = {generic(t)+8, b};\n"
#define TABLE_BODY                                                             \
    "(.param .u64 out)\n{\n.reg .b64 %rd<9>; .reg .b32 %r<9>;\n"               \
    ".shared .align 4 .b8 a[16]; .shared .align 4 .b8 b[16];\n"                \
    "mov.u32 %r0, 5;\nst.shared.u32 [a+8], %r0;\n"                             \
    "mov.u32 %r1, 6;\nst.shared.u32 [b], %r1;\n"                               \
    "ld.param.u64 %rd0, [out];\nld.global.u64 %rd1, [twice];\n"                \
    "ld.u64 %rd2, [%rd1];\nld.u32 %r2, [%rd2];\nst.global.u32 [%rd0], %r2;\n"  \
    "ld.global.u64 %rd3, [twice+8];\nld.shared.u32 %r3, [%rd3];\n"             \
    "st.global.u32 [%rd0+4], %r3;\nld.u64 %rd4, [%rd1+8];\n"                   \
    "st.u32 [%rd4+12], %r1;\nld.u32 %r4, [%rd4+12];\n"                         \
    "st.global.u32 [%rd0+8], %r4;\nret;\n}\n"

TEST_CASE(an_initial_value_names_shared_memory)
{
    struct device d;
    const uint32_t one[3] = {1, 1, 1};
    open_kernel(&d, HEAD TABLE ".entry k" TABLE_BODY);
    uint32_t *out = buffer(&d, 12, NULL);
    const void *args[] = {&out};
    launch(&d, one, one, 0, 1, args, 1);
    assert_int_equal(out[0], 5);
    assert_int_equal(out[1], 6);
    assert_int_equal(out[2], 6);
    close_kernel(&d);
}

TEST_CASE(a_table_serves_kernels_with_one_place_alone)
{
    struct device d;
    const struct lab_sim_kernel *other = NULL;
    const char *same = HEAD TABLE ".entry k" TABLE_BODY ".entry o" TABLE_BODY;
    open_kernel(&d, same);
    assert_ok(lab_sim_kernel_find(d.module, "o", &other));
    close_kernel(&d);
    open_kernel(&d, HEAD
                ".shared .b32 x;\n.shared .b32 y;\n"
                ".global .u64 t = generic(x);\n"
                ".entry k()\n{\n.reg .b64 %rd<2>;\n"
                "ld.global.u64 %rd1, [t];\nret;\n}\n"
                ".entry o()\n{\n.reg .b64 %rd<2>; .reg .b32 %r<2>;\n"
                "ld.shared.u32 %r1, [y];\nld.global.u64 %rd1, [t];\nret;\n}\n");
    assert_int_equal(lab_sim_kernel_find(d.module, "o", &other),
                     LAB_E_UNSUPPORTED);
    assert_string_equal(lab_error_id(), "ptx.shared-address");
    close_kernel(&d);
}

TEST_CASE(sums_by_atomics_are_whole)
{
    struct device d;
    const uint32_t grid[3] = {7, 1, 1};
    const uint32_t block[3] = {45, 1, 1};
    open_kernel(&d,
                HEAD ".entry k(.param .u64 out)\n{\n.reg .b32 %r<9>;\n"
                     ".reg .pred %p<2>; .reg .b64 %rd<4>; .shared .u32 sum;\n"
                     "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n"
                     "setp.ne.u32 %p1, %r1, 0;\n@!%p1 st.shared.u32 [sum], 0;\n"
                     "bar.sync 0;\natom.shared.add.u32 %r2, [sum], %r1;\n"
                     "bar.sync 0;\n@%p1 bra END;\nld.shared.u32 %r3, [sum];\n"
                     "red.global.add.u32 [%rd1], %r3;\nEND:\nret;\n}\n");
    const uint32_t zero = 0;
    for (int threads = 1; threads < 4; threads++) {
        uint32_t *out = buffer(&d, sizeof(*out), &zero);
        const void *args[] = {&out};
        launch(&d, grid, block, (uint64_t)threads, threads, args, 1);
        assert_int_equal(*out, 7 * 44 * 45 / 2);
    }
    close_kernel(&d);
}

TEST_CASE(a_kernel_prints)
{
    struct device d;
    const uint32_t one[3] = {1, 1, 1};
    const uint32_t two[3] = {2, 1, 1};
    open_kernel(
        &d, HEAD
        ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
        ".global .align 1 .b8 text[] = \"%d of %s: %.2f\\n\";\n"
        ".global .align 1 .b8 name[] = \"k\";\n"
        ".entry k()\n{\n.local .align 8 .b8 room[24];\n"
        ".reg .b32 %r<4>; .reg .b64 %rd<6>;\n"
        "mov.u64 %rd1, room;\ncvta.local.u64 %rd2, %rd1;\n"
        "mov.u32 %r1, %tid.x;\nst.local.u32 [%rd1], %r1;\n"
        "mov.u64 %rd3, name;\ncvta.global.u64 %rd4, %rd3;\n"
        "st.local.u64 [%rd1+8], %rd4;\n"
        "st.local.f64 [%rd1+16], 0d3FF8000000000000;\n"
        "mov.u64 %rd3, text;\ncvta.global.u64 %rd4, %rd3;\n"
        "{ .param .b64 param0; .param .b64 param1; .param .b32 retval0;\n"
        "st.param.b64 [param0+0], %rd4;\nst.param.b64 [param1+0], %rd2;\n"
        "call.uni (retval0), vprintf, (param0, param1);\n"
        "ld.param.b32 %r2, [retval0+0];\n}\nret;\n}\n");
    launch(&d, one, two, 0, 1, NULL, 0);
    assert_string_equal(d.printed, "0 of k: 1.50\n1 of k: 1.50\n");
    close_kernel(&d);
}

RUN_TESTS()
