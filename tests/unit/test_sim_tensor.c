/* mma, ldmatrix, wmma, wgmma and the copies beside the threads, against plain products
 * of matrices. Fragments are filled by the index lists of the PTX ISA, written out
 * here as the ISA has them. */
#include "test.h"
#include "tensor/tensor_map.h"
#include "sim/sim.h"

/* ---- numbers ---- */

enum type { F16, BF16, TF32, E4M3, E5M2, S8, U8, F64, F32, S32 };

static const struct {
    const char *name;
    int bits;
    int exponent; /* bits of it */
    int mantissa;
} types[] = {
    [F16] = {"f16", 16, 5, 10},   [BF16] = {"bf16", 16, 8, 7},
    [TF32] = {"tf32", 32, 8, 23}, [E4M3] = {"e4m3", 8, 4, 3},
    [E5M2] = {"e5m2", 8, 5, 2},   [S8] = {"s8", 8, 0, 0},
    [U8] = {"u8", 8, 0, 0},       [F64] = {"f64", 64, 11, 52},
    [F32] = {"f32", 32, 8, 23},   [S32] = {"s32", 32, 0, 0},
};

static uint64_t seed = 1;

static uint64_t any(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* The value of a finite number; tf32: of its upper 19 bits. */
static double value_of(enum type t, uint64_t x)
{
    if (t == S8)
        return (int8_t)(uint8_t)x;
    if (t == U8)
        return (uint8_t)x;
    if (t == S32)
        return (int32_t)(uint32_t)x;
    if (t == TF32)
        x &= 0xffffe000;
    int m = types[t].mantissa;
    int bias = (1 << (types[t].exponent - 1)) - 1;
    int e = (int)(x >> m & ((1u << types[t].exponent) - 1));
    double f = (double)(x & (((uint64_t)1 << m) - 1));
    double v =
        e ? ldexp(f + ldexp(1, m), e - bias - m) : ldexp(f, 1 - bias - m);
    return x >> (types[t].bits - 1) & 1 ? -v : v;
}

/* Within 2^-6 to 2^6 where the type has more; fp8 has zeros and subnormals. */
static uint64_t number(enum type t)
{
    uint64_t x = any();
    int e = types[t].exponent;
    if (types[t].bits < 64)
        x &= ((uint64_t)1 << types[t].bits) - 1;
    if (e == 0)
        return x;
    if (e == 4) /* e4m3 */
        return (x & 0x7f) == 0x7f ? 0 : x;
    uint64_t exponent = (uint64_t)((1 << (e - 1)) - 1 - 6) + any() % 13;
    uint64_t field = ((uint64_t)1 << e) - 1;
    int m = types[t].mantissa;
    return (x & ~(field << m)) | exponent << m;
}

/* ---- a matrix of numbers, by their bits ---- */

struct matrix {
    int rows;
    int cols;
    enum type type;
    uint64_t x[64 * 256];
};

static struct matrix A, B, C, D;

static void fill(struct matrix *m, int rows, int cols, enum type t)
{
    m->rows = rows;
    m->cols = cols;
    m->type = t;
    for (int k = 0; k < rows * cols; k++)
        m->x[k] = number(t);
}

static double get(const struct matrix *m, int row, int col)
{
    return value_of(m->type, m->x[row * m->cols + col]);
}

/* D = C + A B within what rounding in any order allows. */
static void check_product(const char *what, bool with_c)
{
    for (int i = 0; i < A.rows; i++)
        for (int j = 0; j < B.cols; j++) {
            double sum = with_c ? get(&C, i, j) : 0;
            double size = fabs(sum);
            for (int k = 0; k < A.cols; k++) {
                sum += get(&A, i, k) * get(&B, k, j);
                size += fabs(get(&A, i, k) * get(&B, k, j));
            }
            double got = get(&D, i, j);
            double slack = D.type == S32   ? 0
                           : D.type == F64 ? size * A.cols * 0x1p-52
                                           : size * A.cols * 0x1p-24;
            if (D.type == F16)
                slack += fabs(sum) * 0x1p-11 + 0x1p-25;
            if (D.type == F16 && fabs(sum) + slack >= 65504)
                continue; /* may be infinite */
            if (D.type == S32)
                sum = (int32_t)(uint32_t)(uint64_t)(int64_t)sum;
            if (!(fabs(got - sum) <= slack))
                fail_msg("%s: (%d, %d) is %.9g, not %.9g", what, i, j, got,
                         sum);
        }
}

/* ---- the ISA's lists: element i of a lane ---- */

static void isa_a(const struct matrix *m, int lane, int i, int *row, int *col)
{
    int G = lane / 4;
    int T = lane % 4;
    int bits = types[m->type].bits;
    if (bits == 16) {
        *row = i % 4 < 2 ? G : G + 8;
        *col = T * 2 + (i & 1) + (i >= 4 ? 8 : 0);
    } else if (bits == 8 && m->rows == 8) {
        *row = G;
        *col = T * 4 + i;
    } else if (bits == 8) {
        *row = i < 4 || (i >= 8 && i < 12) ? G : G + 8;
        *col = T * 4 + (i & 3) + (i >= 8 ? 16 : 0);
    } else if (m->rows == 8) {
        *row = G;
        *col = T;
    } else {
        *row = i % 2 == 0 ? G : G + 8;
        *col = T + i / 2 * 4;
    }
}

static void isa_b(const struct matrix *m, int lane, int i, int *row, int *col)
{
    int G = lane / 4;
    int T = lane % 4;
    int bits = types[m->type].bits;
    *col = G;
    if (bits == 16)
        *row = T * 2 + (i & 1) + i / 2 * 8;
    else if (bits == 8)
        *row = T * 4 + (i & 3) + (i >= 4 ? 16 : 0);
    else
        *row = T + 4 * i;
}

/* wgmma: lane of warp w of four, and every 8 columns anew. */
static void isa_d(const struct matrix *m, int lane, int i, int *row, int *col)
{
    (void)m;
    int in = lane % 32;
    *row = lane / 32 * 16 + in / 4 + (i % 4 < 2 ? 0 : 8);
    *col = i / 4 * 8 + in % 4 * 2 + (i & 1);
}

typedef void isa_fn(const struct matrix *m, int lane, int i, int *row,
                    int *col);

/* Hopper keeps the first bytes of shared memory for itself: here nothing uses them, so
 * that the same text runs on a GPU. */
enum { LOW = 1024 };

/* ---- what drives them: threads with registers %r0.. and %d0.., preset and read back,
 * and shared memory ---- */

struct bank {
    int warps;
    int n32;
    int n64;
    uint32_t *r; /* [thread][n32] */
    uint64_t *d; /* [thread][n64] */
    unsigned char *shared;
    int shared_bytes;
    bool unset; /* nothing has written shared memory yet */
    struct lab_sim_memory *memory;
    unsigned char *global; /* of it */
    struct lab_sim_result result;
};

static char text[1 << 17];
static size_t text_bytes;

static void line(const char *format, ...) LAB_PRINTF(1, 2);
static void line(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n =
        vsnprintf(text + text_bytes, sizeof text - text_bytes, format, args);
    va_end(args);
    assert_true(n >= 0 && text_bytes + (size_t)n < sizeof text);
    text_bytes += (size_t)n;
}

/* Words of shared memory, to it or from it, by all threads. */
static void copy_words(const char *label, int bytes, const char *body)
{
    line("shl.b32 %%t1, %%t0, 2; mov.u64 %%u3, %%u2;\n"
         "%s: setp.ge.u32 %%p0, %%t1, %d; @%%p0 bra %s_done;\n%s"
         "add.u32 %%t1, %%t1, %%t4; add.u64 %%u3, %%u3, %%u4; bra %s;\n"
         "%s_done:\n",
         label, bytes, label, body, label, label);
}

/* A kernel around `body`: registers and shared memory from global memory before it,
 * back to it after. */
static void write_kernel(const struct bank *b, const char *body)
{
    int low = b->shared_bytes < LOW ? b->shared_bytes : LOW;
    text_bytes = 0;
    line(".version 8.7\n.target sm_90a\n.address_size 64\n"
         ".extern .shared .align 1024 .b8 room[];\n"
         ".visible .entry k(.param .u64 pr, .param .u64 pd, .param .u64 ps)\n"
         "{\n.reg .pred %%p<9>; .reg .b32 %%r<%d>; .reg .b64 %%d<%d>;\n"
         ".reg .b32 %%t<5>; .reg .b64 %%u<5>;\n",
         b->n32 + 1, b->n64 + 1);
    line("ld.param.u64 %%u0, [pr]; ld.param.u64 %%u1, [pd];\n"
         "ld.param.u64 %%u2, [ps]; mov.u32 %%t0, %%tid.x;\n"
         "mov.u32 %%t4, %%ntid.x; shl.b32 %%t4, %%t4, 2;\n"
         "cvt.u64.u32 %%u4, %%t4; mad.wide.u32 %%u0, %%t0, %d, %%u0;\n"
         "mad.wide.u32 %%u1, %%t0, %d, %%u1;\n"
         "mad.wide.u32 %%u2, %%t0, 4, %%u2;\n",
         b->n32 * 4, b->n64 * 8);
    for (int k = 0; k < b->n32; k++)
        line("ld.global.u32 %%r%d, [%%u0+%d];\n", k, 4 * k);
    for (int k = 0; k < b->n64; k++)
        line("ld.global.u64 %%d%d, [%%u1+%d];\n", k, 8 * k);
    if (!b->unset)
        copy_words("in", b->shared_bytes - low,
                   "ld.global.u32 %t2, [%u3+1024]; "
                   "st.shared.u32 [%t1+1024], %t2;\n");
    line("bar.sync 0; fence.proxy.async; bar.sync 0;\n%s\nbar.sync 0;\n", body);
    if (!b->unset)
        copy_words("out", b->shared_bytes - low,
                   "ld.shared.u32 %t2, [%t1+1024]; "
                   "st.global.u32 [%u3+1024], %t2;\n");
    for (int k = 0; k < b->n32; k++)
        line("st.global.u32 [%%u0+%d], %%r%d;\n", 4 * k, k);
    for (int k = 0; k < b->n64; k++)
        line("st.global.u64 [%%u1+%d], %%d%d;\n", 8 * k, k);
    line("ret;\n}\n");
}

/* `bytes` of the device, with what is at `from`. */
static void *device(struct bank *b, const void *from, size_t bytes)
{
    void *p;
    assert_int_equal(lab_sim_alloc(b->memory, bytes, &p), LAB_OK);
    memcpy(p, from, bytes);
    assert_int_equal(lab_sim_written(b->memory, p, bytes), LAB_OK);
    return p;
}

static void global_new(struct bank *b, int bytes)
{
    void *zeros = calloc((size_t)bytes, 1);
    assert_non_null(zeros);
    b->global = device(b, zeros, (size_t)bytes);
    free(zeros);
}

static enum lab_status drive(struct bank *b, const char *body)
{
    struct lab_sim_module *module;
    const struct lab_sim_kernel *kernel;
    size_t threads = (size_t)b->warps * 32;
    write_kernel(b, body);
    lab_sim_result_release(&b->result);
    memset(&b->result, 0, sizeof b->result);
    enum lab_status st =
        lab_sim_module_open(b->memory, text, text_bytes, "t", &module);
    if (st)
        return st;
    st = lab_sim_kernel_find(module, "k", &kernel);
    if (!st) {
        size_t bytes[3] = {threads * (size_t)(b->n32 + 1) * 4,
                           threads * (size_t)(b->n64 + 1) * 8,
                           (size_t)b->shared_bytes + 1};
        void *host[3] = {b->r, b->d, b->shared};
        void *p[3];
        for (int k = 0; k < 3; k++)
            p[k] = device(b, host[k], bytes[k]);
        const void *args[3] = {&p[0], &p[1], &p[2]};
        struct lab_sim_launch launch = {.kernel = kernel,
                                        .grid = {1, 1, 1},
                                        .block = {(uint32_t)threads, 1, 1},
                                        .shared_bytes = b->shared_bytes,
                                        .args = args,
                                        .arg_count = 3};
        struct lab_sim_options options = {
            .checks = ~0u, .budget = 1 << 22, .threads = 1};
        st = lab_sim_run(b->memory, &launch, &options, &b->result);
        for (int k = 0; k < 3; k++) {
            memcpy(host[k], p[k], bytes[k]);
            lab_sim_free(b->memory, p[k]);
        }
    }
    lab_sim_module_close(module);
    return st;
}

static uint32_t *r32(const struct bank *b, int thread, int reg)
{
    return &b->r[thread * b->n32 + reg];
}

/* A fragment's elements between a matrix and the registers from `first` on. */
static void move(struct bank *b, struct matrix *m, isa_fn *at, int threads,
                 int first, bool in)
{
    int bits = types[m->type].bits;
    int count = m->rows * m->cols / threads; /* elements of a lane */
    for (int t = 0; t < threads; t++)
        for (int i = 0; i < count; i++) {
            int row;
            int col;
            at(m, t, i, &row, &col);
            uint64_t *x = &m->x[row * m->cols + col];
            if (bits == 64) {
                uint64_t *d = &b->d[t * b->n64 + first + i];
                *(in ? d : x) = *(in ? x : d);
                continue;
            }
            int each = 32 / bits;
            int shift = i % each * bits;
            uint32_t field = (uint32_t)(((uint64_t)1 << bits) - 1);
            uint32_t *r = r32(b, t, first + i / each);
            if (in)
                *r = (*r & ~(field << shift)) | (uint32_t)*x << shift;
            else
                *x = *r >> shift & field;
        }
}

static char words[1 << 16];

/* "{%r4, %r5}" */
static const char *group(char kind, int first, int count)
{
    static char room[8][4096];
    static int next;
    char *p = room[next++ % 8];
    size_t n = 0;
    for (int k = 0; k < count; k++)
        n += (size_t)snprintf(p + n, sizeof room[0] - n, "%s%%%c%d",
                              k ? ", " : "{", kind, first + k);
    snprintf(p + n, sizeof room[0] - n, "}");
    return p;
}

static struct bank *bank_new(int warps, int n32, int n64, int shared)
{
    static struct bank b;
    size_t threads = (size_t)warps * 32;
    b = (struct bank){
        .warps = warps, .n32 = n32, .n64 = n64, .shared_bytes = shared};
    assert_int_equal(lab_sim_memory_open(&b.memory), LAB_OK);
    b.r = calloc(threads * (size_t)(n32 + 1), 4);
    b.d = calloc(threads * (size_t)(n64 + 1), 8);
    b.shared = calloc((size_t)shared + 1, 1);
    assert_non_null(b.r);
    assert_non_null(b.d);
    assert_non_null(b.shared);
    return &b;
}

static void bank_free(struct bank *b)
{
    free(b->r);
    free(b->d);
    free(b->shared);
    lab_sim_result_release(&b->result);
    lab_sim_memory_close(b->memory);
}

static void drive_ok(struct bank *b, const char *body)
{
    enum lab_status st = drive(b, body);
    if (st)
        fail_msg("%.300s: %s", body, lab_error());
    if (b->result.finding_count)
        fail_msg("%.300s: %s", body, b->result.findings[0].message);
}

/* ---- mma ---- */

TEST_CASE(mma_matches_plain_products)
{
    static const struct {
        int m, n, k;
        enum type a, b, d;
    } cases[] = {
        {16, 8, 4, TF32, TF32, F32},  {16, 8, 8, TF32, TF32, F32},
        {16, 8, 8, F16, F16, F32},    {16, 8, 16, F16, F16, F32},
        {16, 8, 8, F16, F16, F16},    {16, 8, 16, F16, F16, F16},
        {16, 8, 8, BF16, BF16, F32},  {16, 8, 16, BF16, BF16, F32},
        {8, 8, 4, F64, F64, F64},     {16, 8, 4, F64, F64, F64},
        {16, 8, 8, F64, F64, F64},    {16, 8, 16, F64, F64, F64},
        {8, 8, 16, S8, U8, S32},      {16, 8, 16, U8, S8, S32},
        {16, 8, 32, S8, S8, S32},     {16, 8, 32, U8, U8, S32},
        {16, 8, 32, E4M3, E5M2, F32}, {16, 8, 32, E5M2, E4M3, F32},
        {16, 8, 16, E4M3, E4M3, F32}, {16, 8, 32, E4M3, E4M3, F16},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct bank *b = bank_new(1, 32, 32, 0);
        char what[128];
        bool wide = cases[k].a == F64;
        int each_a = wide ? 1 : 32 / types[cases[k].a].bits;
        int each_d = wide ? 1 : 32 / types[cases[k].d].bits;
        int m = cases[k].m;
        int n = cases[k].n;
        int depth = cases[k].k;
        fill(&A, m, depth, cases[k].a);
        fill(&B, depth, n, cases[k].b);
        fill(&C, m, n, cases[k].d);
        D = C;
        move(b, &A, isa_a, 32, 0, true);
        move(b, &B, isa_b, 32, 8, true);
        move(b, &C, isa_d, 32, 12, true);
        snprintf(what, sizeof what,
                 "mma.sync.aligned.m%dn%dk%d.row.col.%s.%s"
                 ".%s.%s",
                 m, n, depth, types[cases[k].d].name, types[cases[k].a].name,
                 types[cases[k].b].name, types[cases[k].d].name);
        char kind = wide ? 'd' : 'r';
        int nd = m * n / 32 / each_d;
        snprintf(words, sizeof words, "%s %s, %s, %s, %s;", what,
                 group(kind, 20, nd), group(kind, 0, m * depth / 32 / each_a),
                 group(kind, 8, depth * n / 32 / each_a), group(kind, 12, nd));
        drive_ok(b, words);
        move(b, &D, isa_d, 32, 20, false);
        check_product(what, true);
        assert_int_equal(b->result.counts.flops_tensor, 2 * m * n * depth);
        bank_free(b);
    }
}

/* ---- mma.sp ---- */

/* What is kept of A, and the bits, as the ISA distributes them: of 16 columns lane
 * 4 G + selector has those of rows G and G + 8; 32 columns are of two lanes. */
static struct matrix kept;

static void prune(struct bank *b, int meta, int selector)
{
    static const int pairs[][2] = {{0, 1}, {0, 2}, {0, 3},
                                   {1, 2}, {1, 3}, {2, 3}};
    kept = A;
    kept.cols = A.cols / 2;
    for (int x = 0; x < A.rows * A.cols / 4; x++) {
        int row = x / (A.cols / 4);
        int four = x % (A.cols / 4);
        const int *pair = pairs[any() % 6];
        uint64_t *a = &A.x[row * A.cols + 4 * four];
        int lane = row % 8 * 4 + selector * A.cols / 16 + four / 4;
        *r32(b, lane, meta) |= (uint32_t)(pair[0] | pair[1] << 2)
                               << (row / 8 * 16 + four % 4 * 4);
        for (int k = 0; k < 2; k++)
            kept.x[row * kept.cols + 2 * four + k] = a[pair[k]];
        for (int k = 0; k < 4; k++)
            if (k != pair[0] && k != pair[1])
                a[k] = 0;
    }
}

static const char *sparse_words(const char *sp, const char *type, int depth,
                                int selector)
{
    snprintf(words, sizeof words,
             "mma.%s.sync.aligned.m16n8k%d.row.col.f32.%s.%s.f32 %s, %s, %s, "
             "%s, %%r16, %d;",
             sp, depth, type, type, group('r', 20, 4), group('r', 0, depth / 8),
             group('r', 8, depth / 8), group('r', 12, 4), selector);
    return words;
}

TEST_CASE(mma_sp_matches_the_product_with_zeros)
{
    static const enum type kinds[] = {F16, BF16};
    for (int k = 0; k < 12; k++) {
        struct bank *b = bank_new(1, 32, 0, 0);
        int depth = k % 6 < 4 ? 16 : 32;
        int selector = k % 6 < 4 ? k % 6 : k % 6 - 4;
        enum type t = kinds[k / 6];
        fill(&A, 16, depth, t);
        fill(&B, depth, 8, t);
        fill(&C, 16, 8, F32);
        D = C;
        prune(b, 16, selector);
        move(b, &kept, isa_a, 32, 0, true);
        move(b, &B, isa_b, 32, 8, true);
        move(b, &C, isa_d, 32, 12, true);
        drive_ok(b, sparse_words(k % 2 ? "sp" : "sp::ordered_metadata",
                                 types[t].name, depth, selector));
        move(b, &D, isa_d, 32, 20, false);
        check_product(words, true);
        /* as a card: those of the product with zeros */
        assert_int_equal(b->result.counts.flops_tensor, 2 * 16 * 8 * depth);
        bank_free(b);
    }
}

/* Two numbers of one place, and with ordered metadata two in the wrong order. */
TEST_CASE(mma_sp_finds_metadata_that_cannot_be)
{
    static const struct {
        const char *sp;
        uint32_t bits; /* of the first four; the others 0 and 1 */
        size_t findings;
    } cases[] = {{"sp", 0x44444440, 1},
                 {"sp", 0x44444441, 0},
                 {"sp::ordered_metadata", 0x44444441, 1},
                 {"sp::ordered_metadata", 0x44444444, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct bank *b = bank_new(1, 32, 0, 0);
        for (int lane = 0; lane < 32; lane++)
            *r32(b, lane, 16) = lane == 4 ? cases[k].bits : 0x44444444;
        assert_int_equal(drive(b, sparse_words(cases[k].sp, "f16", 32, 0)),
                         LAB_OK);
        assert_int_equal(b->result.finding_count, cases[k].findings);
        if (cases[k].findings)
            assert_non_null(strstr(b->result.findings[0].message,
                                   "columns 0 to 3 of row 1"));
        bank_free(b);
    }
    struct bank *b = bank_new(1, 32, 0, 0);
    assert_int_not_equal(drive(b, sparse_words("sp", "f16", 32, 2)), LAB_OK);
    assert_non_null(strstr(lab_error(), "selector"));
    bank_free(b);
}

/* ---- ldmatrix, stmatrix, movmatrix ---- */

/* Row r of matrix q is at `row_at`; the rest of shared memory is noise. */
static int row_at(int q, int r)
{
    return LOW + ((r * 4 + q) * 7 % 32) * 32;
}

static uint16_t half_at(const unsigned char *p)
{
    uint16_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

TEST_CASE(ldmatrix_and_stmatrix_move_rows)
{
    static const int counts[] = {1, 2, 4};
    for (int n = 0; n < 3; n++)
        for (int trans = 0; trans < 2; trans++) {
            enum { BYTES = 1024 };
            struct bank *b = bank_new(1, 16, 0, LOW + 2 * BYTES);
            const char *t = trans ? ".trans" : "";
            int count = counts[n];
            for (int k = LOW; k < LOW + 2 * BYTES; k++)
                b->shared[k] = (unsigned char)any();
            for (int l = 0; l < 32; l++) {
                /* Lanes that give no address have one that is wrong. */
                bool used = l < 8 * count;
                int row = used ? row_at(l / 8, l % 8) : 1 << 20;
                *r32(b, l, 0) = (uint32_t)row;
            }
            snprintf(words, sizeof words,
                     "ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 %s, [%%r0];"
                     "stmatrix.sync.aligned.m8n8.x%d%s.shared::cta.b16 "
                     "[%%r0+%d], %s;"
                     "movmatrix.sync.aligned.m8n8.trans.b16 %%r8, %%r4;",
                     count, t, group('r', 4, count), count, t, BYTES,
                     group('r', 4, count));
            drive_ok(b, words);
            for (int q = 0; q < count; q++)
                for (int l = 0; l < 32; l++)
                    for (int e = 0; e < 2; e++) {
                        int i = l / 4;
                        int j = l % 4 * 2 + e;
                        int row = trans ? j : i;
                        int col = trans ? i : j;
                        int at = row_at(q, row) + 2 * col;
                        assert_int_equal(*r32(b, l, 4 + q) >> 16 * e & 0xffff,
                                         half_at(b->shared + at));
                        assert_int_equal(half_at(b->shared + at),
                                         half_at(b->shared + BYTES + at));
                        if (q > 0)
                            continue;
                        /* Element (i, j) of the turned one is (j, i). */
                        uint32_t from = *r32(b, j * 4 + i / 2, 4);
                        assert_int_equal(*r32(b, l, 8) >> 16 * e & 0xffff,
                                         from >> i % 2 * 16 & 0xffff);
                    }
            bank_free(b);
        }
}

/* ---- wmma: from and to memory, where the layout shows ---- */

static void put(struct bank *b, const struct matrix *m, int at, bool by_rows,
                int stride)
{
    size_t bytes = (size_t)types[m->type].bits / 8;
    for (int i = 0; i < m->rows; i++)
        for (int j = 0; j < m->cols; j++) {
            int k = by_rows ? i * stride + j : j * stride + i;
            memcpy(b->shared + at + (size_t)k * bytes, &m->x[i * m->cols + j],
                   bytes);
        }
}

static void take(struct matrix *m, const struct bank *b, int at, bool by_rows,
                 int stride)
{
    size_t bytes = (size_t)types[m->type].bits / 8;
    for (int i = 0; i < m->rows; i++)
        for (int j = 0; j < m->cols; j++) {
            int k = by_rows ? i * stride + j : j * stride + i;
            m->x[i * m->cols + j] = 0;
            memcpy(&m->x[i * m->cols + j], b->shared + at + (size_t)k * bytes,
                   bytes);
        }
}

static int wmma_registers(enum type t, int elements, bool factor)
{
    if (factor && t == F16)
        return 8;
    return types[t].bits == 64 ? elements / 32
                               : elements / 32 / (32 / types[t].bits);
}

TEST_CASE(wmma_matches_plain_products)
{
    static const struct {
        int m, n, k;
        enum type a, d;
    } cases[] = {
        {16, 16, 16, F16, F32},  {32, 8, 16, F16, F32},  {8, 32, 16, F16, F32},
        {16, 16, 16, F16, F16},  {32, 8, 16, F16, F16},  {8, 32, 16, F16, F16},
        {16, 16, 16, BF16, F32}, {32, 8, 16, BF16, F32}, {8, 32, 16, BF16, F32},
        {16, 16, 8, TF32, F32},  {8, 8, 4, F64, F64},    {16, 16, 16, S8, S32},
        {32, 8, 16, U8, S32},    {8, 32, 16, S8, S32},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0] * 8; k++) {
        enum { PART = 4096, AT_D = 4 * PART, ALL = 6 * PART, PAD = 8 };
        struct bank *b = bank_new(1, 40, 16, ALL);
        enum type ta = cases[k / 8].a;
        enum type td = cases[k / 8].d;
        bool rows_a = k & 1;
        bool rows_b = k & 2;
        bool rows_d = k & 4;
        int m = cases[k / 8].m;
        int n = cases[k / 8].n;
        int depth = cases[k / 8].k;
        char kind = ta == F64 ? 'd' : 'r';
        char shape[32];
        char tail[64];
        fill(&A, m, depth, ta);
        fill(&B, depth, n, ta);
        fill(&C, m, n, td);
        D = C;
        int pitch[3] = {(rows_a ? depth : m) + PAD, (rows_b ? n : depth) + PAD,
                        (rows_d ? n : m) + PAD};
        put(b, &A, LOW, rows_a, pitch[0]);
        put(b, &B, LOW + PART, rows_b, pitch[1]);
        put(b, &C, LOW + 2 * PART, rows_d, pitch[2]);
        for (int l = 0; l < 32; l++)
            for (int r = 0; r < 3; r++)
                *r32(b, l, r) = (uint32_t)pitch[r];
        for (int l = 0; l < 32; l++)
            for (int r = 0; r < 4; r++)
                *r32(b, l, 3 + r) = (uint32_t)(r < 3 ? LOW + r * PART : AT_D);
        const char *fa = group(kind, 8, wmma_registers(ta, m * depth, true));
        const char *fb = group(kind, 16 - 8 * (ta == F64),
                               wmma_registers(ta, depth * n, true));
        /* With doubles: %d8, %d8 would be one register. */
        if (ta == F64)
            fb = group(kind, 1, 1);
        const char *fc =
            group(kind, ta == F64 ? 2 : 24, wmma_registers(td, m * n, false));
        snprintf(shape, sizeof shape, "m%dn%dk%d", m, n, depth);
        if (ta == F16)
            snprintf(tail, sizeof tail, "%s.%s", types[td].name,
                     types[td].name);
        else
            snprintf(tail, sizeof tail, "%s.%s.%s.%s", types[td].name,
                     types[ta].name, types[ta].name, types[td].name);
        const char *ra = rows_a ? "row" : "col";
        const char *rb = rows_b ? "row" : "col";
        const char *rd = rows_d ? "row" : "col";
        snprintf(words, sizeof words,
                 "wmma.load.a.sync.aligned.%s.%s.shared.%s %s, [%%r3], %%r0;"
                 "wmma.load.b.sync.aligned.%s.%s.shared.%s %s, [%%r4], %%r1;"
                 "wmma.load.c.sync.aligned.%s.%s.shared.%s %s, [%%r5], %%r2;"
                 "wmma.mma.sync.aligned.%s.%s.%s.%s %s, %s, %s, %s;"
                 "wmma.store.d.sync.aligned.%s.%s.shared.%s [%%r6], %s, %%r2;",
                 ra, shape, types[ta].name, fa, rb, shape, types[ta].name, fb,
                 rd, shape, types[td].name, fc, ra, rb, shape, tail, fc, fa, fb,
                 fc, rd, shape, types[td].name, fc);
        drive_ok(b, words);
        take(&D, b, AT_D, rows_d, pitch[2]);
        check_product(words, true);
        bank_free(b);
    }
}

/* ---- wgmma ---- */

/* An operand of wgmma in shared memory at `start`: `span` bytes of a row together,
 * 16 for no swizzle; returns its descriptor. Element (row, depth) of `m`, or of its
 * transpose for B. */
static uint64_t wgmma_put(struct bank *b, const struct matrix *m, bool is_b,
                          int start, int span, bool across)
{
    int bytes = types[m->type].bits / 8;
    int depth = is_b ? m->rows : m->cols;
    int side = is_b ? m->cols : m->rows;
    /* Blocks of 8 rows of `span` bytes, one after the other: first those of one
     * eight of rows (or of depths), then the next. */
    int line = across ? depth : 32 / bytes;
    int lead = across ? line / 8 * 8 * span : 16;
    int stride = 8 * span;
    if (span == 16) {
        lead = 128;
        stride = 128 * (across ? depth / 8 : 2);
    }
    for (int i = 0; i < side; i++)
        for (int k = 0; k < depth; k++) {
            int x = across ? i * bytes : k * bytes; /* side by side */
            int y = across ? k : i;
            int at = start + x % span + y % 8 * span;
            if (span == 16)
                at += (across ? y / 8 : x / 16) * lead +
                      (across ? x / 16 : y / 8) * stride;
            else
                at += x / span * lead + y / 8 * stride;
            int piece = at / 16 % (span / 16);
            at += ((piece ^ at / 128 % (span / 16)) - piece) * 16;
            memcpy(b->shared + at,
                   &m->x[is_b ? k * m->cols + i : i * m->cols + k],
                   (size_t)bytes);
        }
    uint64_t mode = span == 128 ? 1 : span == 64 ? 2 : span == 32 ? 3 : 0;
    return (uint64_t)(start / 16) | (uint64_t)(lead / 16) << 16 |
           (uint64_t)(stride / 16) << 32 | mode << 62;
}

TEST_CASE(wgmma_matches_plain_products)
{
    static const struct {
        enum type a, b, d;
        int n;
    } cases[] = {
        {F16, F16, F32, 64},   {BF16, BF16, F32, 256}, {F16, F16, F16, 128},
        {TF32, TF32, F32, 24}, {E4M3, E5M2, F32, 32},  {S8, U8, S32, 16},
        {BF16, BF16, F32, 8},
    };
    static const int spans[] = {16, 32, 64, 128};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0] * 32; k++) {
        enum { AT_B = 16384, ALL = 3 * AT_B };
        enum type ta = cases[k / 32].a;
        enum type td = cases[k / 32].d;
        int span = spans[k % 4];
        bool half = types[ta].bits == 16;
        bool from_registers = k & 4;
        bool across_a = k & 8;
        bool across_b = k & 16;
        if ((!half && (across_a || across_b)) || (from_registers && across_a))
            continue;
        int n = cases[k / 32].n;
        int depth = 256 / types[ta].bits;
        int nd = 64 * n / 128 / (32 / types[td].bits);
        bool keep = any() & 1;
        bool minus = any() & 1 && td != S32;
        struct bank *b = bank_new(4, 160, 2, ALL);
        char tail[64] = "";
        fill(&A, 64, depth, ta);
        fill(&B, depth, n, cases[k / 32].b);
        fill(&C, 64, n, td);
        D = C;
        move(b, &C, isa_d, 128, 8, true);
        for (int t = 0; from_registers && t < 128; t++)
            for (int i = 0; i < 64 * depth / 128; i++) {
                int row;
                int col;
                int each = 32 / types[ta].bits;
                isa_a(&A, t % 32, i, &row, &col);
                *r32(b, t, i / each) |=
                    (uint32_t)A.x[(t / 32 * 16 + row) * depth + col]
                    << i % each * types[ta].bits;
            }
        uint64_t desc[2] = {0};
        if (!from_registers)
            desc[0] = wgmma_put(b, &A, false, LOW, span, across_a);
        desc[1] = wgmma_put(b, &B, true, AT_B, span, across_b);
        for (int t = 0; t < 128; t++)
            memcpy(&b->d[t * 2], desc, sizeof desc);
        if (half && from_registers)
            snprintf(tail, sizeof tail, ", %d, 1, %d", minus ? -1 : 1,
                     across_b);
        else if (half)
            snprintf(tail, sizeof tail, ", 1, %d, %d, %d", minus ? -1 : 1,
                     across_a, across_b);
        else if (td != S32)
            snprintf(tail, sizeof tail, ", %d, 1", minus ? -1 : 1);
        snprintf(words, sizeof words,
                 "wgmma.fence.sync.aligned;"
                 "wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s.%s %s, %s, %%d1,"
                 " %d%s; wgmma.commit_group.sync.aligned;"
                 "wgmma.wait_group.sync.aligned 0;",
                 n, depth, types[td].name, types[ta].name,
                 types[cases[k / 32].b].name, group('r', 8, nd),
                 from_registers ? group('r', 0, 4) : "%d0", keep, tail);
        drive_ok(b, words);
        move(b, &D, isa_d, 128, 8, false);
        for (int x = 0; minus && x < 64 * depth; x++)
            A.x[x] ^= (uint64_t)1 << (types[ta].bits - 1);
        check_product(words, keep);
        assert_int_equal(b->result.counts.flops_tensor, 2 * 64 * n * depth);
        bank_free(b);
    }
}

/* ---- cp.async ---- */

/* Lane l: %r0 = l, %r1 = 16 l, %d0 = its 16 bytes of global memory. */
static struct bank *copy_bank(bool unset)
{
    enum { BYTES = 4096 };
    struct bank *b = bank_new(1, 8, 4, BYTES);
    global_new(b, BYTES);
    b->unset = unset;
    for (int k = 0; k < BYTES; k++)
        b->global[k] = (unsigned char)any();
    for (int l = 0; l < 32; l++) {
        *r32(b, l, 0) = (uint32_t)l;
        *r32(b, l, 1) = (uint32_t)(16 * l);
        b->d[l * b->n64] = (uint64_t)(uintptr_t)(b->global + 16 * l);
    }
    return b;
}

static void copy_bank_free(struct bank *b)
{
    bank_free(b);
}

static uint32_t word_at(const unsigned char *p)
{
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return x;
}

TEST_CASE(cp_async_copies_and_fills_with_zeros)
{
    struct bank *b = copy_bank(false);
    for (int l = 0; l < 32; l++)
        *r32(b, l, 2) = (uint32_t)(l % 17);
    drive_ok(b, "setp.eq.s32 %p1, %r0, 5;"
                "cp.async.cg.shared.global [%r1+1024], [%d0], 16, %r2;"
                "cp.async.ca.shared.global [%r1+1536], [%d0], 8;"
                "cp.async.ca.shared.global [%r1+1544], [%d0+4], 4, 0;"
                "cp.async.ca.shared.global [%r1+2048], [%d0+8], 4;"
                "cp.async.cg.shared.global.L2::128B [%r1+2560], [%d0], 16, "
                "%p1;"
                "cp.async.wait_all;"
                "ld.shared.u32 %r3, [%r1+1024]; ld.shared.u32 %r4, [%r1+1544];"
                "ld.shared.u32 %r5, [%r1+2048];"
                "ld.shared.u32 %r6, [%r1+2572];");
    for (int l = 0; l < 32; l++) {
        const unsigned char *from = b->global + 16 * l;
        unsigned char padded[16] = {0};
        memcpy(padded, from, (size_t)(l % 17));
        assert_memory_equal(b->shared + LOW + 16 * l, padded, 16);
        assert_memory_equal(b->shared + LOW + 512 + 16 * l, from, 8);
        assert_int_equal(*r32(b, l, 3), word_at(padded));
        assert_int_equal(*r32(b, l, 4), 0);
        assert_int_equal(*r32(b, l, 5), word_at(from + 8));
        assert_int_equal(*r32(b, l, 6), l == 5 ? 0 : word_at(from + 12));
    }
    copy_bank_free(b);
}

/* What is not waited for is not there. */
TEST_CASE(cp_async_arrives_at_its_wait)
{
    static const struct {
        const char *wait;
        bool first; /* has come */
        bool second;
    } cases[] = {
        {"", false, false},
        {"cp.async.wait_group 2;", false, false},
        {"cp.async.wait_group 1;", true, false},
        {"cp.async.wait_group 0;", true, true},
        {"cp.async.wait_all;", true, true},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        for (int second = 0; second < 2; second++) {
            struct bank *b = copy_bank(true);
            snprintf(words, sizeof words,
                     "cp.async.cg.shared.global [%%r1+1024], [%%d0], 16;"
                     "cp.async.commit_group;"
                     "cp.async.cg.shared.global [%%r1+1536], [%%d0], 16;"
                     "cp.async.commit_group; %s"
                     "ld.shared.u32 %%r3, [%%r1+%d];",
                     cases[k].wait, LOW + second * 512);
            assert_int_equal(drive(b, words), LAB_OK);
            bool there = second ? cases[k].second : cases[k].first;
            assert_int_equal(b->result.finding_count > 0, !there);
            if (!there)
                assert_int_equal(b->result.findings[0].check,
                                 LAB_SIM_UNINITIALISED);
            copy_bank_free(b);
        }
}

/* ---- mbarrier ---- */

/* Only the first thread; an mbarrier that all see; its first phase is over; the same
 * asked once, into %r3. */
#define FIRST "setp.eq.s32 %p1, %r0, 0;"
#define INIT(count)                                                            \
    FIRST "@%p1 mbarrier.init.shared::cta.b64 [1032], " #count ";"             \
          "bar.warp.sync -1;"
#define WAIT                                                                   \
    "again: mbarrier.try_wait.parity.shared::cta.b64 %p2, [1032], 0;"          \
    "@!%p2 bra again;"
#define ASK                                                                    \
    "mbarrier.test_wait.parity.shared::cta.b64 %p2, [1032], 0;"                \
    "selp.b32 %r3, 1, 0, %p2;"

/* "?0": is the phase of parity 0 over; "?s": the one of the state in %d0. Every lane
 * must have the answers that are expected, in their order. */
static void ask(const char *init, const char *script, const char *expected)
{
    struct bank *b = bank_new(1, 16, 4, LOW + 64);
    int questions = 0;
    size_t n = (size_t)snprintf(words, sizeof words, "%s", init);
    for (const char *p = script; *p; p++) {
        if (*p != '?') {
            words[n++] = *p;
            continue;
        }
        p++;
        n +=
            (size_t)snprintf(words + n, sizeof words - n,
                             "mbarrier.test_wait%s.shared.b64 %%p2, [1032], %s;"
                             "selp.b32 %%r%d, 1, 0, %%p2",
                             *p == 's' ? "" : ".parity",
                             *p == 's'   ? "%d0"
                             : *p == '0' ? "0"
                                         : "1",
                             2 + questions++);
    }
    words[n] = '\0';
    for (int l = 0; l < 32; l++)
        *r32(b, l, 0) = (uint32_t)l;
    drive_ok(b, words);
    for (int l = 0; l < 32; l++)
        for (int q = 0; q < questions; q++)
            if ((*r32(b, l, 2 + q) == 1) != (expected[q] == '1'))
                fail_msg("%s: answer %d of lane %d is not %c", script, q, l,
                         expected[q]);
    bank_free(b);
}

TEST_CASE(mbarrier_phases_end_with_the_last_arrival)
{
    ask(INIT(32),
        "?0; ?1; mbarrier.arrive.shared.b64 %d0, [1032]; ?0; ?s; ?1;"
        "mbarrier.arrive.shared::cta.b64 _, [1032], 1; ?1;",
        "011101");
    /* Bytes are waited for besides arrivals. */
    ask(INIT(1),
        "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [1032], 96; ?0;"
        "@%p1 mbarrier.complete_tx.shared::cta.b64 [1032], 64; ?0;"
        "@%p1 mbarrier.complete_tx.shared::cta.b64 [1032], 32; ?0;",
        "001");
    /* Who drops out is not waited for in the next phase. */
    ask(INIT(33),
        "mbarrier.arrive.shared.b64 _, [1032]; ?0;"
        "@%p1 mbarrier.arrive_drop.shared.b64 _, [1032]; ?0;"
        "mbarrier.arrive.shared.b64 _, [1032]; ?1;",
        "011");
    ask(INIT(40),
        "@%p1 mbarrier.arrive.noComplete.shared.b64 %d0, [1032], 7; ?0;"
        "mbarrier.arrive.shared.b64 %d1, [1032]; ?0;"
        "@%p1 mbarrier.arrive.shared.b64 _, [1032]; ?0; bar.warp.sync -1;"
        "@%p1 mbarrier.inval.shared.b64 [1032];",
        "001");
}

/* cp.async arrives at an mbarrier when it has copied, and no sooner. */
TEST_CASE(cp_async_tells_an_mbarrier)
{
    static const char *const asks[] = {"", ASK};
    for (int noinc = 0; noinc < 2; noinc++)
        for (int asked = 0; asked < 2; asked++) {
            struct bank *b = copy_bank(true);
            snprintf(words, sizeof words,
                     "%s @%%p1 mbarrier.init.shared::cta.b64 [1032], %d;"
                     "bar.warp.sync -1;"
                     "cp.async.ca.shared.global [%%r1+1536], [%%d0], 16;"
                     "cp.async.mbarrier.arrive%s.shared.b64 [1032];%s"
                     "%s ld.shared.u32 %%r4, [%%r1+1536];",
                     FIRST, noinc ? 32 : 1, noinc ? ".noinc" : "",
                     noinc ? "" : "@%p1 mbarrier.arrive.shared.b64 _, [1032];",
                     asks[asked]);
            assert_int_equal(drive(b, words), LAB_OK);
            assert_int_equal(b->result.finding_count > 0, !asked);
            for (int l = 0; asked && l < 32; l++) {
                assert_int_equal(*r32(b, l, 3), 1);
                assert_int_equal(*r32(b, l, 4), word_at(b->global + 16 * l));
            }
            copy_bank_free(b);
        }
}

/* ---- cp.async.bulk ---- */

TEST_CASE(bulk_copies_wait_for_their_bytes)
{
    static const char load[] =
        INIT(1) "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [1032], 768;"
                "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::"
                "complete_tx::bytes [2048], [%d0], 512, [1032];"
                "@%p1 cp.async.bulk.shared::cta.global.mbarrier::"
                "complete_tx::bytes [2560], [%d0+512], 256, [1032];";
    for (int asked = 0; asked < 2; asked++) {
        struct bank *b = copy_bank(!asked);
        snprintf(words, sizeof words, "%s%s ld.shared.u32 %%r4, [%%r1+2048];",
                 load, asked ? ASK : "");
        assert_int_equal(drive(b, words), LAB_OK);
        assert_int_equal(b->result.finding_count > 0, !asked);
        if (asked) {
            assert_memory_equal(b->shared + 2048, b->global, 768);
            assert_int_equal(*r32(b, 31, 3), 1);
            assert_int_equal(*r32(b, 31, 4), word_at(b->global + 496));
        }
        copy_bank_free(b);
    }
}

/* What is overwritten before the copy has read it, is copied overwritten. */
TEST_CASE(bulk_stores_read_at_their_wait)
{
    static const char *const waits[] = {"", "cp.async.bulk.wait_group.read 1;",
                                        "cp.async.bulk.wait_group.read 0;",
                                        "cp.async.bulk.wait_group 0;"};
    for (int k = 0; k < 4; k++) {
        struct bank *b = copy_bank(false);
        snprintf(words, sizeof words,
                 "%s st.shared.u32 [%%r1+2048], %%r0;"
                 "bar.warp.sync -1; fence.proxy.async.shared::cta;"
                 "@%%p1 cp.async.bulk.global.shared::cta.bulk_group [%%d0], "
                 "[2048], 16;"
                 "@%%p1 st.shared.u32 [2052], %%r0;"
                 "@%%p1 st.shared.u32 [2056], %%r0;"
                 "@%%p1 st.shared.u32 [2060], %%r0;"
                 "@%%p1 cp.async.bulk.commit_group; %s"
                 "@%%p1 st.shared.u32 [2048], %%r2;"
                 "@%%p1 cp.async.bulk.wait_group 0;",
                 FIRST, waits[k]);
        *r32(b, 0, 2) = 99;
        drive(b, words);
        assert_int_equal(word_at(b->global), k < 2 ? 99 : 0);
        copy_bank_free(b);
    }
}

/* ---- tensor maps ---- */

static struct sim_tensor_map random_map(unsigned char *global, int bytes)
{
    static const int elements[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};
    struct sim_tensor_map m = {.magic = SIM_TENSOR_MAGIC,
                               .address = (uint64_t)(uintptr_t)global,
                               .rank = (uint8_t)(1 + any() % 5),
                               .swizzle = (uint8_t)(any() % 4),
                               .type = (uint8_t)(any() % 10)};
    int e = elements[m.type];
    int64_t stride = 1;
    for (int d = 0; d < m.rank; d++) {
        m.dim[d] = 1 + any() % (d == 0 ? 64 : 5);
        m.step[d] = (uint8_t)(d && any() % 3 == 0 ? 2 : 1);
        m.box[d] = (uint16_t)(1 + any() % 5);
        if (d == 0) {
            int row =
                16 * (1 + (int)(any() % (m.swizzle ? 1u << m.swizzle : 6)));
            m.box[0] = (uint16_t)(row / e);
            stride = ((int64_t)m.dim[0] * e + 15) / 16 * 16;
        } else {
            m.stride[d - 1] = (uint64_t)stride;
            stride = stride * (int64_t)m.dim[d] + 16 * (int64_t)(any() % 2);
        }
    }
    assert_true(stride <= bytes);
    assert_null(sim_tensor_map_wrong(&m));
    return m;
}

TEST_CASE(tensor_boxes_match_plain_loops)
{
    for (int round = 0; round < 150; round++) {
        enum { BYTES = 2 << 20, SHARED = 1 << 17, AT = 2048 };
        struct bank *b = bank_new(1, 16, 4, SHARED);
        int at[5];
        int sides[5] = {1, 1, 1, 1, 1};
        global_new(b, BYTES);
        struct sim_tensor_map m = random_map(b->global, BYTES - 256);
        unsigned char *map = b->global + BYTES - 128;
        int e = sim_tensor_map_element(m.type);
        int total = e;
        memcpy(map, &m, sizeof m);
        for (int k = 0; k < BYTES - 256; k += 8) {
            uint64_t x = any();
            memcpy(b->global + k, &x, sizeof x);
        }
        for (int k = 0; k < SHARED; k++)
            b->shared[k] = (unsigned char)k;
        for (int d = 0; d < m.rank; d++) {
            at[d] = (int)(any() % (m.dim[d] + 6)) - 3;
            sides[d] = (m.box[d] + m.step[d] - 1) / m.step[d];
            total *= sides[d];
        }
        bool store = round % 2;
        char coords[128] = "";
        for (int d = 0; d < m.rank; d++)
            snprintf(coords + strlen(coords), sizeof coords - strlen(coords),
                     "%s%%r%d", d ? ", " : "", 2 + d);
        for (int l = 0; l < 32; l++) {
            *r32(b, l, 0) = (uint32_t)l;
            *r32(b, l, 1) = (uint32_t)total;
            for (int d = 0; d < m.rank; d++)
                *r32(b, l, 2 + d) = (uint32_t)at[d];
            b->d[l * b->n64] = (uint64_t)(uintptr_t)map;
        }
        unsigned char *before = malloc(BYTES);
        assert_non_null(before);
        memcpy(before, b->global, BYTES);
        if (store)
            snprintf(words, sizeof words,
                     "%s @%%p1 cp.async.bulk.tensor.%dd.global.shared::cta."
                     "bulk_group [%%d0, {%s}], [%d];"
                     "@%%p1 cp.async.bulk.commit_group;"
                     "@%%p1 cp.async.bulk.wait_group 0;",
                     FIRST, m.rank, coords, AT);
        else
            snprintf(
                words, sizeof words,
                "%s @%%p1 mbarrier.arrive.expect_tx.shared::cta.b64 "
                "_, [1032], %%r1;"
                "@%%p1 cp.async.bulk.tensor.%dd.shared::cluster.global."
                "mbarrier::complete_tx::bytes [%d], [%%d0, {%s}], [1032];%s",
                INIT(1), m.rank, AT, coords, WAIT);
        drive_ok(b, words);
        for (int k = 0; k < total / e; k++) {
            int rest = k;
            bool inside = true;
            int64_t from = 0;
            for (int d = 0; d < m.rank; d++) {
                int x = at[d] + rest % sides[d] * m.step[d];
                rest /= sides[d];
                inside = inside && x >= 0 && x < (int)m.dim[d];
                from += d ? x * (int64_t)m.stride[d - 1] : x * e;
            }
            /* A row has a whole span; row r of 128 bytes: piece ^ r. */
            int row = m.box[0] * e;
            int span = 16 << m.swizzle;
            int to =
                AT + (m.swizzle ? k * e / row * span + k * e % row : k * e);
            int piece = to % span / 16;
            to += 16 * ((piece ^ (to / 128 % (span / 16))) - piece);
            static const unsigned char zeros[1032];
            if (!store)
                assert_memory_equal(b->shared + to,
                                    inside ? b->global + from : zeros, e);
            else if (inside)
                memcpy(before + from, b->shared + to, (size_t)e);
        }
        assert_memory_equal(before, b->global, BYTES);
        free(before);
        bank_free(b);
    }
}

/* ---- what is wrong is found, or refused ---- */

TEST_CASE(faults_are_found)
{
    static const struct {
        int warps;
        enum lab_sim_check check;
        const char *body;
    } cases[] = {
        {2, LAB_SIM_RACE, /* no barrier after init */
         FIRST "@%p1 mbarrier.init.shared::cta.b64 [1032], 64;"
               "mbarrier.arrive.shared.b64 _, [1032];"},
        {1, LAB_SIM_BARRIER, /* words that are no mbarrier */
         "mbarrier.arrive.shared.b64 _, [1040];"},
        {1, LAB_SIM_BARRIER,
         INIT(8) "mbarrier.arrive.shared.b64 _, [1032];"
                 "mbarrier.arrive.shared.b64 _, [1032], 9;"},
        {1, LAB_SIM_BARRIER, INIT(0)},
        {1, LAB_SIM_BARRIER,
         INIT(1) "@%p1 mbarrier.expect_tx.shared.b64 [1032], 1048575;"
                 "@%p1 mbarrier.expect_tx.shared.b64 [1032], 1048575;"},
        {1, LAB_SIM_BARRIER, INIT(40) WAIT},
        {1, LAB_SIM_MEMORY, "mbarrier.init.shared.b64 [1028], 1;"},
        {1, LAB_SIM_MEMORY, "mbarrier.init.shared.b64 [99992], 1;"},
        {1, LAB_SIM_MEMORY, "mbarrier.init.b64 [%d0], 1;"},
        {1, LAB_SIM_MEMORY, "cp.async.cg.shared.global [%r1+1032], [%d0], 16;"},
        {1, LAB_SIM_MEMORY,
         "cp.async.cg.shared.global [%r1+1024], [%d0+4096], 16;"},
        {1, LAB_SIM_MEMORY,
         INIT(1) "@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::"
                 "bytes [2048], [%d0], 24, [1032];"},
        {1, LAB_SIM_MEMORY,
         INIT(1) "@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::"
                 "bytes [2048], [%d0], 8192, [1032];"},
        {1, LAB_SIM_MEMORY, /* what is there is no map */
         INIT(1) "@%p1 cp.async.bulk.tensor.1d.shared::cta.global.mbarrier::"
                 "complete_tx::bytes [2048], [%d0, {%r0}], [1032];"},
        {1, LAB_SIM_RACE, /* the block ends before its copy has come */
         INIT(1) "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [1032], 16;"
                 "@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::"
                 "bytes [2048], [%d0], 16, [1032];"},
        {1, LAB_SIM_RACE,
         FIRST "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%d0], "
               "[2048], 16; @%p1 cp.async.bulk.commit_group;"},
        {1, LAB_SIM_SHUFFLE,
         FIRST "@%p1 ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [2048];"},
        {1, LAB_SIM_MEMORY,
         "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1+2056];"},
        {1, LAB_SIM_SHUFFLE,
         FIRST "@%p1 mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r2,%r3,"
               "%r4,%r5}, {%r6,%r7}, {%r6}, {%r2,%r3,%r4,%r5};"},
        {1, LAB_SIM_SHUFFLE, /* four warps are needed */
         "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r2,%r3,%r4,%r5},"
         "%d0, %d0, 0, 1, 1;"},
        {4, LAB_SIM_MEMORY, /* 256 KiB is beyond shared memory */
         "mov.u64 %d1, 0x3fff;"
         "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r2,%r3,%r4,%r5},"
         "%d1, %d1, 0, 1, 1;"},
        {4, LAB_SIM_RACE,             /* overwritten while wgmma may read it */
         "mov.u64 %d1, 0x4000000040;" /* from byte 1024, 1024 bytes of stride */
         "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r2,%r3,%r4,%r5},"
         "%d1, %d1, 0, 1, 1; wgmma.commit_group.sync.aligned;"
         "bar.sync 0; st.shared.u32 [%r1+1024], %r0; bar.sync 0;"
         "wgmma.wait_group.sync.aligned 0;"},
        {4, LAB_SIM_RACE, /* no wait_group */
         "mov.u64 %d1, 0x4000000040;"
         "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r2,%r3,%r4,%r5},"
         "%d1, %d1, 0, 1, 1; wgmma.commit_group.sync.aligned;"},
        {4, LAB_SIM_UNINITIALISED, /* a sum is read before its wait */
         "mov.u64 %d1, 0x4000000040;"
         "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r2,%r3,%r4,%r5},"
         "%d1, %d1, 0, 1, 1; wgmma.commit_group.sync.aligned;"
         "mov.b32 %r6, %r4; add.u32 %r7, %r6, 1;"
         "wgmma.wait_group.sync.aligned 0;"},
        {1, LAB_SIM_BARRIER, /* initialised twice */
         INIT(1) "@%p1 mbarrier.init.shared::cta.b64 [1032], 1;"},
        {1, LAB_SIM_RACE, /* no fence.proxy.async behind the store */
         FIRST "@%p1 st.shared.u32 [2048], %r0;"
               "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%d0], "
               "[2048], 16; @%p1 cp.async.bulk.commit_group;"
               "@%p1 cp.async.bulk.wait_group 0;"},
        {2, LAB_SIM_RACE, /* and none that the writers' barrier comes after */
         "st.shared.u32 [%r1+2048], %r0; bar.sync 0;" FIRST
         "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%d0], [2560], 16;"
         "@%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;"},
        {1, LAB_SIM_SHUFFLE, FIRST "@%p1 elect.sync %r2|%p2, -1;"},
        {1, LAB_SIM_MEMORY, "mapa.shared::cluster.u32 %r2, %r1, 1;"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct bank *b = bank_new(cases[k].warps, 8, 4, 8192);
        global_new(b, 4096);
        for (int t = 0; t < 32 * cases[k].warps; t++) {
            *r32(b, t, 0) = (uint32_t)t;
            *r32(b, t, 1) = (uint32_t)(16 * t);
            b->d[t * b->n64] = (uint64_t)(uintptr_t)b->global;
        }
        if (drive(b, cases[k].body))
            fail_msg("%s: %s", cases[k].body, lab_error());
        if (b->result.finding_count == 0)
            fail_msg("%s: nothing found", cases[k].body);
        /* A descriptor that leads outside is named before the race. */
        bool found = false;
        for (int i = 0; i < b->result.finding_count; i++)
            found = found || b->result.findings[i].check == cases[k].check;
        if (!found)
            fail_msg("%s: %s", cases[k].body, b->result.findings[0].message);
        bank_free(b);
    }
}

TEST_CASE(what_is_right_is_not_found)
{
    static const struct {
        int warps;
        const char *body;
    } cases[] = {
        {4, /* a compiler moves sums, and nothing reads them before the wait */
         "mov.u64 %d1, 0x4000000040;"
         "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r2,%r3,%r4,%r5},"
         "%d1, %d1, 0, 1, 1; wgmma.commit_group.sync.aligned;"
         "mov.b32 %r6, %r4; mov.b32 %r7, %r1; add.u32 %r7, %r7, 1;"
         "wgmma.wait_group.sync.aligned 0; add.u32 %r7, %r6, %r2;"},
        {4, /* of two products the first has ended */
         "mov.u64 %d1, 0x4000000040;"
         "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r2,%r3,%r4,%r5},"
         "%d1, %d1, 0, 1, 1; wgmma.commit_group.sync.aligned;"
         "mov.b32 %r6, %r2; wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 "
         "{%r2,%r3,%r4,%r5}, %d1, %d1, 0, 1, 1;"
         "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 1;"
         "add.u32 %r7, %r6, 1; wgmma.wait_group.sync.aligned 0;"},
        {1, /* inval ends an mbarrier */
         INIT(1) "@%p1 mbarrier.inval.shared::cta.b64 [1032];"
                 "@%p1 mbarrier.init.shared::cta.b64 [1032], 1;"},
        {2, /* the writers' fences, then the barrier */
         "st.shared.u32 [%r1+2048], %r0; fence.proxy.async.shared::cta;"
         "bar.sync 0;" FIRST
         "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%d0], [2560], 16;"
         "@%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;"},
        {2, /* the barrier, then the reader's fence */
         "st.shared.u32 [%r1+2048], %r0; bar.sync 0;" FIRST "fence.proxy.async;"
         "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%d0], [2560], 16;"
         "@%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct bank *b = bank_new(cases[k].warps, 8, 4, 16384);
        global_new(b, 4096);
        for (int t = 0; t < 32 * cases[k].warps; t++) {
            *r32(b, t, 0) = (uint32_t)t;
            *r32(b, t, 1) = (uint32_t)(16 * t);
            b->d[t * b->n64] = (uint64_t)(uintptr_t)b->global;
        }
        drive_ok(b, cases[k].body);
        bank_free(b);
    }
}

TEST_CASE(unknown_forms_are_refused)
{
    static const char *const bodies[] = {
        "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {%r0,%r1,%r2,%r3,%r4,"
        "%r5,%r6,%r7}, {%r0,%r1}, {%r0,%r1}, {%r0,%r1,%r2,%r3,%r4,%r5,%r6,"
        "%r7};",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.bf16.f32 {%r0,%r1,%r2,%r3}, "
        "{%r4,%r5}, {%r6}, {%r0,%r1,%r2,%r3};",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r0,%r1,%r2}, "
        "{%r4,%r5}, {%r6}, {%r0,%r1,%r2,%r3};",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r0,%r1,%r2,%r3}, "
        "{%r4,%d0}, {%r6}, {%r0,%r1,%r2,%r3};",
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%r0,%r1,%r2,%r3};",
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%r0,%r1,"
        "%r2,%r3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, {%r0,%r1,%r2,%r3};",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%r0,%r1,%r2,"
        "%r3}, {%r4,%r5,%r6,%r7}, {%r4,%r5,%r6,%r7}, {%r0,%r1,%r2,%r3}, %r0, "
        "0;",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r0,%r1,%r2,"
        "%r3}, {%r4,%r5}, {%r6,%r7}, {%r0,%r1,%r2,%r3};",
        "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r0}, [%r1], %r2;",
        "wmma.load.e.sync.aligned.row.m16n16k16.shared.f16 {%r0}, [%r1], %r2;",
        "ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r0,%r1,%r2}, [%r4];",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0,%r1,%r2}, [%r4];",
        "wgmma.mma_async.sync.aligned.m64n12k8.f32.tf32.tf32 {%r0,%r1,%r2,%r3},"
        "%d0, %d0, 0, 1, 1;",
        "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r0,%r1,%r2,%r3},"
        "%d0, %d0, 0, 2, 1;",
        "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%r0,%r1,%r2,%r3},"
        "%d0, %d0, 0, 1, 1, 1;",
        "wgmma.wait_group.sync.aligned -1;",
        "cp.async.cg.shared.global [%r0], [%d0], 8;",
        "cp.async.ca.shared.global [%r0], [%d0], 12;",
        "cp.async.ca.shared.global [%r0], [%d0];",
        "cp.async.wait_group;",
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
        " [%r0], [%r1], 16, [%r2];",
        "cp.async.bulk.tensor.3d.shared::cta.global.mbarrier::complete_tx::"
        "bytes [2048], [%d0, {%r0, %r1}], [1032];",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%d0], "
        "[%r0], 16;",
        "mbarrier.init.shared.b64 [1032];",
        "mbarrier.arrive.expect_tx.shared.b64 _, [1032];",
        "mbarrier.forget.shared.b64 [1032];",
        "mbarrier.test_wait.shared.b64 %r0, [1032], %d0;",
        "elect.sync %r0, -1;",
    };
    for (size_t k = 0; k < sizeof bodies / sizeof bodies[0]; k++) {
        struct bank *b = bank_new(1, 8, 4, 8192);
        enum lab_status st = drive(b, bodies[k]);
        if (st != LAB_E_UNSUPPORTED)
            fail_msg("%s: %d", bodies[k], st);
        bank_free(b);
    }
}

RUN_TESTS()
