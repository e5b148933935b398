/* The instructions of a warp, and of four, on matrices: ldmatrix, stmatrix, movmatrix,
 * mma, wmma and wgmma. PTX ISA, "Warp Level Matrix Instructions" and "Asynchronous
 * Warpgroup Level Matrix Instructions".
 *
 * A product gathers its fragments from the lanes' registers into plain matrices,
 * multiplies, and scatters the sums. One function for each of A, B and D has
 * the position of a lane's element in its matrix; all shapes of all three families
 * follow from it.
 *
 * Sums: a product of two fp16, bf16, tf32 or fp8 numbers is exact in fp32 (save
 * where it leaves fp32's range: bf16 and tf32 only); they are added to the
 * accumulator one by one, k ascending, each sum rounded to nearest. The ISA leaves
 * order and rounding open. The tensor cores add several products at once, and cut
 * where fp32 would round. Either way an instruction of depth k is off by at most
 * about k units in the last place of the largest partial sum: a tolerance for sums
 * in fp32 covers both. Accumulators of fp16 are rounded once, at the end. fp64:
 * fma, k ascending, as the ISA has it. Integers are exact.
 *
 * wgmma's sums appear in the registers at once, though the ISA makes them valid only
 * after wait_group: a read before that is a finding. A compiler may move registers in
 * between, so a `mov` is none, and what it copied is such a sum, too. Shared memory,
 * which the ISA lets it read until the wait, is checked at both ends. */
#include "tensor/tensor.h"
#include "warp/code.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"

/* Of one warp: (m, k), (k, n), (m, n). */
enum { MAX_M = 32, MAX_N = 256, MAX_K = 32, MAX_A = MAX_M * MAX_K };
enum { MAX_B = MAX_K * MAX_N, MAX_C = 16 * MAX_N };

struct shape {
    int m;
    int n;
    int k;
};

/* ---- where an element is ----
 *
 * Lane l = 4 G + T. Element e of register r of a lane is at
 *     (row + row_g G + row_t T, col + col_g G + col_t T).
 * Registers of 32 bits hold E elements; where an element has 32 bits or more, E is
 * 1. Matrices are made of pieces, 16 rows of A (8 where it has only 8), 8 columns
 * of B, a piece of each for D. PTX ISA, "Matrix Fragments for mma.m16n8k..." (for
 * each shape), "Register Fragments for wgmma.mma_async.m64nNk..."; wmma's fragments
 * are left open by the ISA and are the same here, as they are on compute
 * capability 8.0 and later. */
struct place {
    int row, row_g, row_t;
    int col, col_g, col_t;
};

/* A (m, k): 8 rows down first, then 4 E further in k, then the next 16 rows. */
static struct place place_a(const struct shape *s, int E, int r, int e)
{
    int down = s->m < 16 ? 1 : 2;
    int each = down * s->k / (4 * E); /* registers of a piece */
    int in = r % each;
    struct place p = {.row = r / each * 16 + in % down * 8,
                      .row_g = 1,
                      .col = in / down * 4 * E + e,
                      .col_t = E};
    return p;
}

/* B (k, n): 4 E further in k first, then the next 8 columns. */
static struct place place_b(const struct shape *s, int E, int r, int e)
{
    int each = s->k / (4 * E);
    struct place p = {.row = r % each * 4 * E + e,
                      .row_t = E,
                      .col = r / each * 8,
                      .col_g = 1};
    return p;
}

/* C and D (m, n): two neighbours, 8 rows down, the next 8 columns, the next 16
 * rows. Element x of the lane; E of them are in a register. */
static struct place place_d(const struct shape *s, int E, int r, int e)
{
    int x = r * E + e;
    int each = s->m < 16 ? 2 : 4; /* elements of a piece */
    int across = s->n / 8;
    int piece = x / each;
    struct place p = {.row = piece / across * 16 + x % each / 2 * 8,
                      .row_g = 1,
                      .col = piece % across * 8 + x % 2,
                      .col_t = 2};
    return p;
}

typedef struct place place_fn(const struct shape *s, int E, int r, int e);

/* The element's index for lane 0, and what G and T add, where a row is `row` apart
 * and a column `col`. */
static void place_index(const struct place *p, int64_t row, int64_t col,
                        int64_t out[3])
{
    out[0] = p->row * row + p->col * col;
    out[1] = p->row_g * row + p->col_g * col;
    out[2] = p->row_t * row + p->col_t * col;
}

/* ---- numbers ---- */

static int element_bytes(enum lab_ptx_type t)
{
    switch (t) {
    case LAB_PTX_F64:
        return 8;
    case LAB_PTX_F32:
    case LAB_PTX_TF32:
    case LAB_PTX_S32:
    case LAB_PTX_B32:
        return 4;
    case LAB_PTX_F16:
    case LAB_PTX_BF16:
    case LAB_PTX_B16:
        return 2;
    case LAB_PTX_S8:
    case LAB_PTX_U8:
    case LAB_PTX_E4M3:
    case LAB_PTX_E5M2:
        return 1;
    default:
        return 0;
    }
}

/* Elements of a register of 32 bits. */
static int in_register(enum lab_ptx_type t)
{
    int bytes = element_bytes(t);
    return bytes >= 4 ? 1 : 4 / bytes;
}

static float of_bits(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static uint32_t to_bits(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static float from_half(uint32_t h)
{
    uint32_t bits = (h & 0x7fff) << 13;
    bits = (h & 0x7c00) == 0x7c00
               ? bits | 0x7f800000
               : to_bits(of_bits(bits) * 0x1p112f); /* also subnormals */
    return of_bits(bits | (h & 0x8000) << 16);
}

/* To nearest, ties to even; NaN is 0x7fff, as the hardware has it. */
static uint32_t to_half(float f)
{
    uint32_t bits = to_bits(f);
    uint32_t sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    if (bits > 0x7f800000)
        return 0x7fff;
    if (bits >= 0x477ff000) /* 65520 and more */
        return sign | 0x7c00;
    if (bits < 0x38800000) /* below 2^-14: a sum that ends at 2^-24 */
        return sign | (to_bits(of_bits(bits) + 0.5f) - 0x3f000000);
    return sign | (bits - 0x38000000 + 0xfff + (bits >> 13 & 1)) >> 13;
}

/* fp8: `mantissa` bits of it. e4m3 has no infinity, and NaN in all bits set. */
static float from_fp8(uint32_t x, int mantissa)
{
    uint32_t low = x & 0x7f;
    uint32_t sign = (x & 0x80) << 24;
    if (mantissa == 2) /* e5m2: the upper half of an fp16 */
        return from_half(x << 8);
    if (low == 0x7f)
        return of_bits(0x7fffffff);
    return of_bits(sign | to_bits(of_bits(low << 20) * 0x1p120f));
}

/* `count` elements that follow each other, as fp32: exact, but that of tf32 the
 * hardware reads the upper 19 bits alone. */
static void widen(enum lab_ptx_type t, const unsigned char *from, int count,
                  float *out)
{
    uint32_t word;
    uint16_t half;
    switch (t) {
    case LAB_PTX_F16:
    case LAB_PTX_BF16:
        for (int k = 0; k < count; k++) {
            memcpy(&half, from + 2 * k, sizeof half);
            out[k] = t == LAB_PTX_F16 ? from_half(half)
                                      : of_bits((uint32_t)half << 16);
        }
        break;
    case LAB_PTX_E4M3:
    case LAB_PTX_E5M2:
        for (int k = 0; k < count; k++)
            out[k] = from_fp8(from[k], t == LAB_PTX_E4M3 ? 3 : 2);
        break;
    case LAB_PTX_S8:
    case LAB_PTX_U8:
        for (int k = 0; k < count; k++)
            out[k] = from[k] - (t == LAB_PTX_S8 && from[k] > 127 ? 256.0f : 0);
        break;
    default:
        for (int k = 0; k < count; k++) {
            memcpy(&word, from + 4 * k, sizeof word);
            out[k] = of_bits(t == LAB_PTX_TF32 ? word & 0xffffe000 : word);
        }
    }
}

/* ---- fragments ---- */

struct fragment {
    const struct sim_operand *o;
    int count; /* registers of a lane */
};

/* A register's 32 lanes, of 4 or 8 bytes each; an immediate goes to `room`. */
static const unsigned char *lanes_of(const struct sim_warp *w,
                                     const struct sim_operand *o, int bytes,
                                     uint64_t room[SIM_LANES])
{
    if (o->source == SIM_SLOT && o->bytes == bytes)
        return w->regs + (size_t)o->slot * 128;
    sim_values(w, o, room);
    for (int l = 0; bytes == 4 && l < SIM_LANES; l++) {
        uint32_t low = (uint32_t)room[l];
        memcpy((unsigned char *)room + 4 * l, &low, sizeof low);
    }
    return (const unsigned char *)room;
}

/* The lanes' registers into a matrix with rows of `row` elements. */
static void gather(const struct sim_warp *w, const struct fragment *f,
                   enum lab_ptx_type t, const struct shape *s, place_fn *place,
                   int row, float *out)
{
    const int E = in_register(t);
    const int side = place == place_a   ? s->m * s->k
                     : place == place_b ? s->k * s->n
                                        : s->m * s->n;
    uint64_t room[SIM_LANES];
    float x[4 * SIM_LANES];
    for (int r = 0; r < side / (SIM_LANES * E); r++) {
        widen(t, lanes_of(w, &f->o[r], 4, room), E * SIM_LANES, x);
        for (int e = 0; e < E; e++) {
            struct place p = place(s, E, r, e);
            int64_t at[3];
            place_index(&p, row, 1, at);
            for (int l = 0; l < SIM_LANES; l++)
                out[at[0] + l / 4 * at[1] + l % 4 * at[2]] = x[l * E + e];
        }
    }
}

/* A matrix of sums to the lanes' registers; t: F32 or F16. */
static void scatter(struct sim_warp *w, const struct fragment *f,
                    enum lab_ptx_type t, const struct shape *s, const float *c)
{
    const int E = in_register(t);
    for (int r = 0; r < s->m * s->n / (SIM_LANES * E); r++) {
        uint32_t *to = sim_r32(w, f->o[r].slot);
        for (int e = 0; e < E; e++) {
            struct place p = place_d(s, E, r, e);
            int64_t at[3];
            place_index(&p, s->n, 1, at);
            for (int l = 0; l < SIM_LANES; l++) {
                float v = c[at[0] + l / 4 * at[1] + l % 4 * at[2]];
                if (t == LAB_PTX_F32)
                    to[l] = isnan(v) ? 0x7fffffff : to_bits(v);
                else if (e == 0)
                    to[l] = to_half(v);
                else
                    to[l] |= to_half(v) << 16;
            }
        }
    }
}

/* All of the warp's lanes must be here: false with a finding. Lanes that an earlier
 * finding ended are not looked for. */
static bool whole_warp(struct sim_warp *w, const struct sim_instr *i,
                       uint32_t mask)
{
    if ((mask | w->faulted) == 0xffffffff)
        return true;
    sim_end(
        w, i, mask, LAB_SIM_SHUFFLE,
        SIM_HINT("the condition around it: all 32 lanes have to execute it"),
        "%s needs all 32 lanes of a warp, %d execute it", i->ptx->opcode,
        __builtin_popcount(mask));
    return false;
}

/* ---- products ---- */

struct product {
    struct shape shape;
    enum lab_ptx_type type[4]; /* of D, A, B, C */
    struct fragment d;
    struct fragment a; /* count 0: by a descriptor */
    struct fragment b;
    struct fragment c;
    struct sim_operand desc_a;
    struct sim_operand desc_b;
    struct sim_operand keep; /* wgmma: scale-d */
    bool across[2];          /* wgmma: A, B transposed in shared memory */
    bool negate;
    bool saturate;
    bool sparse;             /* mma.sp: A has two of each four of k */
    bool ordered;            /* the second behind the first */
    struct sim_operand bits; /* where they were, */
    int selector;            /* in which lanes of each four */
};

/* c (m, n) += a (m, k) b (k, n); m and n are multiples of 8. */
SIM_CLONES
static void multiply(const struct shape *s, const float *a, const float *b,
                     float *c)
{
    for (int j = 0; j < s->n; j += 8)
        for (int i = 0; i < s->m; i += 4) {
            float sum[4][8];
            for (int u = 0; u < 4; u++)
                memcpy(sum[u], c + (i + u) * s->n + j, sizeof sum[u]);
            for (int k = 0; k < s->k; k++)
                for (int u = 0; u < 4; u++)
                    for (int v = 0; v < 8; v++)
                        sum[u][v] +=
                            a[(i + u) * s->k + k] * b[k * s->n + j + v];
            for (int u = 0; u < 4; u++)
                memcpy(c + (i + u) * s->n + j, sum[u], sizeof sum[u]);
        }
}

static void count_product(struct sim_warp *w, const struct shape *s)
{
    w->counts.flops_tensor += 2 * (int64_t)s->m * s->n * s->k;
}

/* What mma.sp keeps of A, `kept` (m, k / 2), to the positions that its bits name, with zeros
 * between: a (m, k). PTX ISA, "Sparse matrix storage": a lane has the bits of 16
 * columns of row G, and in its upper half of row G + 8; at a depth of 16 lane
 * `selector` of each four, at 32 lanes 2 selector and the next. false with a
 * finding. */
static bool put_back(struct sim_warp *w, const struct sim_instr *i,
                     const float *kept, float *a)
{
    const struct product *p = i->extra;
    const int k = p->shape.k;
    uint64_t bits[SIM_LANES];
    sim_values(w, &p->bits, bits);
    memset(a, 0, (size_t)(p->shape.m * k) * sizeof *a);
    for (int x = 0; x < p->shape.m * k / 4; x++) {
        const int row = x / (k / 4);
        const int four = x % (k / 4);
        const int lane = row % 8 * 4 + p->selector * (k / 16) + four / 4;
        const uint32_t at =
            (uint32_t)bits[lane] >> (row / 8 * 16 + four % 4 * 4) & 0xf;
        const uint32_t first = at & 3;
        const uint32_t second = at >> 2;
        if (first == second || (p->ordered && first > second)) {
            sim_end(w, i, 1u << lane, LAB_SIM_MEMORY,
                    SIM_HINT("the metadata: two bits for each number that is "
                             "kept, the second behind the first"),
                    "mma.sp: of columns %d to %d of row %d it keeps number %u "
                    "and then %u",
                    4 * four, 4 * four + 3, row, first, second);
            return false;
        }
        a[row * k + 4 * four + (int)first] = kept[row * k / 2 + 2 * four];
        a[row * k + 4 * four + (int)second] = kept[row * k / 2 + 2 * four + 1];
    }
    return true;
}

/* Integers: the sum of the products is below 2^24 and so exact in fp32; the
 * accumulator of 32 bits is added here, wrapping or held at its ends. */
static void scatter_integers(struct sim_warp *w, const struct product *p,
                             const struct fragment *to_add, const float *c)
{
    const int n = p->shape.n;
    for (int r = 0; r < p->d.count; r++) {
        struct place at = place_d(&p->shape, 1, r, 0);
        uint32_t *to = sim_r32(w, p->d.o[r].slot);
        uint64_t old[SIM_LANES] = {0};
        if (to_add)
            sim_values(w, &to_add->o[r], old);
        for (int l = 0; l < SIM_LANES; l++) {
            int64_t v = (int32_t)(uint32_t)old[l] +
                        (int64_t)c[(at.row + l / 4) * n + at.col + l % 4 * 2];
            if (p->saturate && v > INT32_MAX)
                v = INT32_MAX;
            if (p->saturate && v < INT32_MIN)
                v = INT32_MIN;
            to[l] = (uint32_t)v;
        }
    }
}

/* fp64: every lane's sums by themselves, from the lanes that have the factors. */
static void multiply_f64(struct sim_warp *w, const struct product *p)
{
    const struct shape *s = &p->shape;
    double a[16 * 16];
    double b[16 * 8];
    double c[16 * 8];
    const struct {
        const struct fragment *f;
        place_fn *place;
        double *to;
        int row;
    } parts[] = {{&p->a, place_a, a, s->k},
                 {&p->b, place_b, b, s->n},
                 {&p->c, place_d, c, s->n},
                 {&p->d, place_d, c, s->n}};
    for (int k = 0; k < 4; k++) {
        if (k == 3)
            for (int i = 0; i < s->m * s->n; i++)
                for (int x = 0; x < s->k; x++)
                    c[i] = fma(a[i / s->n * s->k + x], b[x * s->n + i % s->n],
                               c[i]);
        for (int r = 0; r < parts[k].f->count; r++) {
            struct place at = parts[k].place(s, 1, r, 0);
            uint64_t room[SIM_LANES];
            int64_t index[3];
            unsigned char *lanes =
                k == 3 ? (unsigned char *)sim_r64(w, p->d.o[r].slot)
                       : (unsigned char *)(uintptr_t)lanes_of(
                             w, &parts[k].f->o[r], 8, room);
            place_index(&at, parts[k].row, 1, index);
            for (int l = 0; l < SIM_LANES; l++) {
                double *x = parts[k].to + index[0] + l / 4 * index[1] +
                            l % 4 * index[2];
                if (k < 3)
                    memcpy(x, lanes + 8 * l, sizeof *x);
                else
                    memcpy(lanes + 8 * l, x, sizeof *x);
            }
        }
    }
}

/* mma and wmma.mma: everything from and to registers. */
static void run_product(struct sim_warp *w, const struct sim_instr *i,
                        uint32_t mask)
{
    const struct product *p = i->extra;
    const struct shape *s = &p->shape;
    float a[MAX_A];
    float b[MAX_B / 8];
    float c[MAX_A];
    if (!whole_warp(w, i, mask))
        return;
    if (p->sparse) {
        const struct shape half = {s->m, s->n, s->k / 2};
        float kept[MAX_A / 2];
        gather(w, &p->a, p->type[1], &half, place_a, half.k, kept);
        if (!put_back(w, i, kept, a))
            return;
        count_product(w, &half); /* those that are made */
    } else {
        count_product(w, s);
    }
    if (p->type[0] == LAB_PTX_F64) {
        multiply_f64(w, p);
        return;
    }
    if (!p->sparse)
        gather(w, &p->a, p->type[1], s, place_a, s->k, a);
    gather(w, &p->b, p->type[2], s, place_b, s->n, b);
    if (p->type[0] == LAB_PTX_S32)
        memset(c, 0, sizeof c);
    else
        gather(w, &p->c, p->type[3], s, place_d, s->n, c);
    multiply(s, a, b, c);
    if (p->type[0] == LAB_PTX_S32)
        scatter_integers(w, p, &p->c, c);
    else
        scatter(w, &p->d, p->type[0], s, c);
}

/* ---- wgmma ---- */

/* A matrix descriptor: how an operand is laid out in shared memory. PTX ISA,
 * "Matrix Descriptor Format" and "Shared Memory Matrix Layout". */
struct layout {
    uint32_t start;
    uint32_t leading;
    uint32_t stride;
    uint32_t base;
    uint32_t span; /* bytes that are swizzled together; 16: none */
};

static struct layout layout_of(uint64_t desc)
{
    static const uint8_t spans[] = {16, 128, 64, 32};
    struct layout d = {(uint32_t)(desc & 0x3fff) << 4,
                       (uint32_t)(desc >> 16 & 0x3fff) << 4,
                       (uint32_t)(desc >> 32 & 0x3fff) << 4,
                       (uint32_t)(desc >> 49 & 7), spans[desc >> 62]};
    return d;
}

/* Where 16 bytes of an operand are, that begin at row (of A; column of B) `mn` and
 * depth `k`. Eight rows that follow each other, `span` bytes apart, make a block.
 * With the depth side by side, blocks follow each other by `stride` down the rows;
 * `across` (transposed) a row of a block is rows of the operand at one depth. */
static uint32_t piece_at(const struct layout *d, bool across, int bytes,
                         uint32_t mn, uint32_t k)
{
    const bool plain = d->span == 16;
    const uint32_t pieces = d->span / 16 - 1;
    uint32_t at = d->start;
    if (!across) {
        at += mn / 8 * d->stride + mn % 8 * d->span;
        at += k * (uint32_t)bytes / 16 * (plain ? d->leading : 16);
    } else {
        uint32_t x = mn * (uint32_t)bytes;
        at += x / d->span * (plain ? d->stride : d->leading) + x % d->span;
        at += k % 8 * d->span + k / 8 * (plain ? d->leading : d->stride);
    }
    return at ^ (((at >> 7) - d->base) & pieces) << 4;
}

/* One operand of a warp's 16 rows: checks the reading, and reads it if `out` is not
 * NULL. A has the rows of this warp; all four warps read all of B, and each checks
 * a quarter of it. false with a finding. */
static bool read_operand(struct sim_warp *w, const struct sim_instr *i,
                         uint32_t mask, uint64_t desc, bool is_b, bool issued,
                         float *out)
{
    const struct product *p = i->extra;
    const struct layout d = layout_of(desc);
    const bool across = p->across[is_b];
    const enum lab_ptx_type type = p->type[1 + is_b];
    const int bytes = element_bytes(type);
    const int each = 16 / bytes;
    const int quarter = w->index % 4;
    const int side = is_b ? p->shape.n : 16;
    const int minor = across ? side : p->shape.k;
    const int pieces = side * p->shape.k / each;
    struct sim_access a = {.kind = SIM_LOAD,
                           .space = LAB_PTX_SHARED,
                           .bytes = 16,
                           .align = 16,
                           .async = true,
                           .proxy = true,
                           .issued = issued};
    unsigned char *at[SIM_LANES];
    float x[16];
    int lanes = 0;
    for (int n = 0; n < pieces; n++) {
        int x0 = n % (minor / each) * each; /* of the direction side by side */
        int y = n / (minor / each);
        int mn = across ? x0 : y;
        int k = across ? y : x0;
        uint32_t from =
            piece_at(&d, across, bytes,
                     (uint32_t)(mn + (is_b ? 0 : 16 * quarter)), (uint32_t)k);
        if ((int64_t)from + 16 > w->block->shared_bytes) {
            struct lab_sim_finding f = {
                .address = from, .bytes = 16, .argument = -1};
            sim_end(w, i, mask, LAB_SIM_MEMORY, &f,
                    "the descriptor of %c leads to byte %u of shared memory, "
                    "which has %lld",
                    "AB"[is_b], from, (long long)w -> block -> shared_bytes);
            return false;
        }
        if (out) {
            /* A is (16, k), B is (k, n). */
            const int down = is_b ? p->shape.n : p->shape.k;
            float *to = out + (is_b ? k * down + mn : mn * down + k);
            const int step = across == is_b ? 1 : down;
            widen(type, w->block->shared + from, each, x);
            for (int e = 0; e < each; e++)
                to[e * step] = x[e];
        }
        if (!is_b || n * 4 / pieces == quarter)
            a.addr[lanes++] = from;
        if (lanes == SIM_LANES || (lanes > 0 && n + 1 == pieces)) {
            a.mask = lanes == SIM_LANES ? ~0u : (1u << lanes) - 1;
            if (sim_check_access(w, i, &a, at) != a.mask)
                return false;
            lanes = 0;
        }
    }
    return true;
}

/* True in all lanes or in none; lane 0 tells. */
static bool holds(const struct sim_warp *w, const struct sim_operand *o)
{
    if (o->source == SIM_PREDICATE)
        return (w->preds[o->slot] & 1) != o->negated;
    return o->value != 0;
}

static void product_queue(struct sim_warp *w, const struct sim_instr *i,
                          uint64_t a, uint64_t b)
{
    struct sim_async *s = sim_async_of(w);
    if (!s || lab_grow(&s->products, s->product_count, &s->product_room,
                       sizeof *s->products, "products that are under way"))
        return; /* the reading was checked at its begin alone */
    struct sim_product q = {i, {a, b}, s->product_groups};
    s->products[s->product_count++] = q;
}

/* The sums of a product are on their way to its registers. */
static void sums_begin(struct sim_warp *w, const struct sim_instr *i)
{
    struct sim_async *s = sim_async_of(w);
    const struct lab_ptx_function *f = w->block->grid->kernel->function;
    const struct lab_ptx_operand *d = &i->ptx->operands[0];
    if (s && !s->sums)
        s->sums = lab_alloc_array((size_t)f->reg_count + 1, sizeof *s->sums);
    for (int k = 0; s && s->sums && k < d->part_count; k++)
        if (d->parts[k].kind == LAB_PTX_OPERAND_REG &&
            d->parts[k].reg < f->reg_count)
            s->sums[d->parts[k].reg] = s->product_groups + 1;
}

/* The sum in an operand's registers that is not there yet: its group + 1; 0: none. */
static int32_t sum_in(const struct sim_async *s,
                      const struct lab_ptx_operand *o)
{
    if (o->kind == LAB_PTX_OPERAND_REG && s->sums[o->reg] > s->groups_over)
        return s->sums[o->reg];
    for (int k = 0; k < o->part_count; k++) {
        int32_t group = sum_in(s, &o->parts[k]);
        if (group)
            return group;
    }
    return 0;
}

static void sums_set(struct sim_async *s, const struct lab_ptx_operand *o,
                     int32_t group)
{
    if (o->kind == LAB_PTX_OPERAND_REG)
        s->sums[o->reg] = group;
    for (int k = 0; k < o->part_count; k++)
        sums_set(s, &o->parts[k], group);
}

void sim_run_on_sums(struct sim_warp *w, const struct sim_instr *i,
                     uint32_t mask)
{
    struct sim_async *s = w->async;
    const struct lab_ptx_instr *in = i->ptx;
    const int count = in->operand_count;
    if (s && s->sums && s->product_count > 0 && count > 0) {
        const bool moves = strcmp(in->opcode, "mov") == 0;
        const bool stores = in->operands[0].kind == LAB_PTX_OPERAND_ADDRESS;
        int32_t group = 0;
        for (int k = stores ? 0 : 1; k < count && !group; k++)
            group = sum_in(s, &in->operands[k]);
        if (group && !moves &&
            !sim_repeats(w, i, __builtin_ctz(mask), LAB_SIM_UNINITIALISED,
                         LAB_PTX_LOCAL, 0))
            sim_find(w, i, mask, LAB_SIM_UNINITIALISED,
                     SIM_HINT("wgmma.commit_group and wgmma.wait_group before "
                              "the sums are used"),
                     "read of a sum that wgmma may still be computing: "
                     "wgmma.wait_group is missing before it");
        if (!stores)
            sums_set(s, &in->operands[0], moves ? group : 0);
    }
    i->then(w, i, mask);
}

static void run_wgmma(struct sim_warp *w, const struct sim_instr *i,
                      uint32_t mask)
{
    const struct product *p = i->extra;
    const struct shape s = {16, p->shape.n, p->shape.k};
    float a[16 * MAX_K];
    float b[MAX_B];
    float c[MAX_C];
    uint64_t desc_a[SIM_LANES] = {0};
    uint64_t desc_b[SIM_LANES];
    const bool keep = holds(w, &p->keep);
    if (!whole_warp(w, i, mask))
        return;
    if (w->index / 4 * 4 + 4 > w->block->warp_count) {
        sim_end(w, i, mask, LAB_SIM_SHUFFLE,
                SIM_HINT("the size of the block: a multiple of 128 threads"),
                "wgmma needs four warps, and the block ends in their midst");
        return;
    }
    sim_values(w, &p->desc_b, desc_b);
    if (!p->a.count)
        sim_values(w, &p->desc_a, desc_a);
    if (p->a.count)
        gather(w, &p->a, p->type[1], &s, place_a, s.k, a);
    else if (!read_operand(w, i, mask, desc_a[0], false, true, a))
        return;
    if (!read_operand(w, i, mask, desc_b[0], true, true, b))
        return;
    for (int x = 0; p->negate && x < s.m * s.k; x++)
        a[x] = -a[x];
    count_product(w, &s);
    if (keep && p->type[0] != LAB_PTX_S32)
        gather(w, &p->d, p->type[0], &s, place_d, s.n, c);
    else
        memset(c, 0, (size_t)(s.m * s.n) * sizeof *c);
    multiply(&s, a, b, c);
    if (p->type[0] == LAB_PTX_S32)
        scatter_integers(w, p, keep ? &p->d : NULL, c);
    else
        scatter(w, &p->d, p->type[0], &s, c);
    product_queue(w, i, desc_a[0], desc_b[0]);
    sums_begin(w, i);
}

static void run_wgmma_commit(struct sim_warp *w, const struct sim_instr *i,
                             uint32_t mask)
{
    struct sim_async *s = sim_async_of(w);
    if (whole_warp(w, i, mask) && s)
        s->product_groups++;
}

/* What a product read, it may have read until now. */
static void run_wgmma_wait(struct sim_warp *w, const struct sim_instr *i,
                           uint32_t mask)
{
    struct sim_async *s = w->async;
    size_t kept = 0;
    if (!whole_warp(w, i, mask) || !s)
        return;
    for (size_t k = 0; k < s->product_count; k++) {
        struct sim_product q = s->products[k];
        const struct product *p = q.i->extra;
        if (q.group >= s->product_groups - (int64_t)i->a.value) {
            s->products[kept++] = q;
            continue;
        }
        if (!p->a.count)
            read_operand(w, q.i, mask, q.desc[0], false, false, NULL);
        read_operand(w, q.i, mask, q.desc[1], true, false, NULL);
    }
    s->product_count = kept;
    if (s->product_groups - (int64_t)i->a.value > s->groups_over)
        s->groups_over = s->product_groups - (int32_t)i->a.value;
}

/* ---- ldmatrix, stmatrix, movmatrix ----
 *
 * 1, 2 or 4 matrices of 8 x 8 elements of 16 bits. Lane 8 q + r has the address of
 * row r of matrix q; in a register lane l has elements 2 (l % 4) and the next of row
 * l / 4, or of column l / 4 if transposed. */

enum { TRANSPOSED = 1, MATRIX_BYTES = 128 };

/* Between lanes' registers and rows of a matrix. */
static uint32_t pair_in(const unsigned char *matrix, int lane, bool transposed)
{
    const unsigned char *p = matrix + lane / 4 * 16 + lane % 4 * 4;
    if (transposed)
        p = matrix + lane % 4 * 32 + lane / 4 * 2;
    const unsigned char *q = p + (transposed ? 16 : 2);
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)q[0] << 16 |
           (uint32_t)q[1] << 24;
}

static void pair_out(unsigned char *matrix, int lane, bool transposed,
                     uint32_t pair)
{
    unsigned char *p = matrix + lane / 4 * 16 + lane % 4 * 4;
    if (transposed)
        p = matrix + lane % 4 * 32 + lane / 4 * 2;
    unsigned char *q = p + (transposed ? 16 : 2);
    p[0] = (unsigned char)(pair & 0xff);
    p[1] = (unsigned char)(pair >> 8 & 0xff);
    q[0] = (unsigned char)(pair >> 16 & 0xff);
    q[1] = (unsigned char)(pair >> 24);
}

/* a [row], more: registers; run for both directions. */
static void run_matrices(struct sim_warp *w, const struct sim_instr *i,
                         uint32_t mask, enum sim_access_kind kind)
{
    const bool transposed = i->flags & TRANSPOSED;
    const int rows = 8 * i->more_count;
    unsigned char matrix[4][MATRIX_BYTES];
    unsigned char *at[SIM_LANES];
    uint64_t room[SIM_LANES];
    struct sim_access a = {.kind = kind,
                           .space = (enum lab_ptx_space)i->space,
                           .mask = rows == 32 ? ~0u : (1u << rows) - 1,
                           .bytes = 16,
                           .align = 16};
    if (!whole_warp(w, i, mask))
        return;
    sim_addresses(w, &i->a, a.addr);
    if (sim_check_access(w, i, &a, at) != a.mask)
        return;
    for (int r = 0; kind == SIM_LOAD && r < rows; r++)
        memcpy(&matrix[r / 8][r % 8 * 16], at[r], 16);
    for (int q = 0; q < i->more_count; q++) {
        const unsigned char *from = lanes_of(w, &i->more[q], 4, room);
        for (int l = 0; l < SIM_LANES; l++) {
            uint32_t pair;
            memcpy(&pair, from + 4 * l, sizeof pair);
            if (kind == SIM_LOAD)
                sim_r32(w, i->more[q].slot)[l] =
                    pair_in(matrix[q], l, transposed);
            else
                pair_out(matrix[q], l, transposed, pair);
        }
    }
    for (int r = 0; kind == SIM_STORE && r < rows; r++)
        memcpy(at[r], &matrix[r / 8][r % 8 * 16], 16);
}

static void run_ldmatrix(struct sim_warp *w, const struct sim_instr *i,
                         uint32_t mask)
{
    run_matrices(w, i, mask, SIM_LOAD);
}

static void run_stmatrix(struct sim_warp *w, const struct sim_instr *i,
                         uint32_t mask)
{
    run_matrices(w, i, mask, SIM_STORE);
}

static void run_movmatrix(struct sim_warp *w, const struct sim_instr *i,
                          uint32_t mask)
{
    unsigned char matrix[MATRIX_BYTES];
    uint64_t pair[SIM_LANES];
    if (!whole_warp(w, i, mask))
        return;
    sim_values(w, &i->a, pair);
    for (int l = 0; l < SIM_LANES; l++)
        pair_out(matrix, l, false, (uint32_t)pair[l]);
    for (int l = 0; l < SIM_LANES; l++)
        pair[l] = pair_in(matrix, l, true);
    sim_set(w, &i->d, ~0u, pair);
}

/* ---- wmma.load, wmma.store ---- */

struct stripes {
    struct shape shape;
    place_fn *place;
    enum lab_ptx_type type;
    bool by_rows; /* in memory */
    int rows;     /* of the matrix */
    int cols;
    int used;        /* registers; later ones repeat them (fp16) */
    bool has_stride; /* b; else the matrix is dense */
    struct fragment f;
};

static uint64_t place_in(const struct stripes *p, uint64_t base,
                         uint64_t stride, int row, int col)
{
    const int slow = p->by_rows ? row : col;
    const int fast = p->by_rows ? col : row;
    return base + (uint64_t)element_bytes(p->type) *
                      ((uint64_t)slow * (uint32_t)stride + (uint64_t)fast);
}

/* Whether a register has a column of two of 8 x 8 elements that lie across in memory:
 * ptxas reads pairs that are neighbours there, four lanes a row, and has the warp turn
 * them (LDSM.T, MOVM). */
static bool is_turned(const struct stripes *p, const struct place *x)
{
    const bool rows = p->by_rows;
    return in_register(p->type) == 2 && element_bytes(p->type) == 2 &&
           p->by_rows == (p->place == place_b) &&
           (rows ? x->col_g : x->row_g) == 1 &&
           (rows ? x->col_t : x->row_t) == 0 &&
           (rows ? x->row_g : x->col_g) == 0 &&
           (rows ? x->row_t : x->col_t) == 2;
}

/* False: nothing was read. */
static bool load_turned(struct sim_warp *w, const struct sim_instr *i,
                        struct sim_access *a, const struct place *x,
                        const uint64_t *base, const uint64_t *stride,
                        unsigned char *lanes)
{
    const struct stripes *p = i->extra;
    unsigned char *at[SIM_LANES];
    a->bytes = a->align = 4;
    for (int l = 0; l < SIM_LANES; l++) {
        const int slow = l / 4;
        const int fast = l % 4 * 2;
        a->addr[l] =
            place_in(p, base[l], stride[l], x->row + (p->by_rows ? slow : fast),
                     x->col + (p->by_rows ? fast : slow));
    }
    if (sim_check_access(w, i, a, at) != a->mask)
        return false;
    for (int l = 0; l < SIM_LANES; l++)
        for (int e = 0; e < 2; e++) {
            const int slow = l % 4 * 2 + e;
            const int fast = l / 4;
            memcpy(lanes + l * 4 + e * 2,
                   at[slow * 4 + fast / 2] + fast % 2 * 2, 2);
        }
    return true;
}

/* a [matrix], b stride in elements */
static void run_stripes(struct sim_warp *w, const struct sim_instr *i,
                        uint32_t mask, enum sim_access_kind kind)
{
    const struct stripes *p = i->extra;
    const int bytes = element_bytes(p->type);
    const int E = in_register(p->type);
    /* Are the elements of a register neighbours in memory? */
    const bool joined = p->by_rows == (p->place != place_b);
    const int parts = joined ? 1 : E;
    uint64_t base[SIM_LANES];
    uint64_t stride[SIM_LANES];
    unsigned char *at[SIM_LANES];
    struct sim_access a = {.kind = kind,
                           .space = (enum lab_ptx_space)i->space,
                           .mask = ~0u,
                           .bytes = bytes * E / parts,
                           .align = bytes * E / parts};
    if (!whole_warp(w, i, mask))
        return;
    sim_addresses(w, &i->a, base);
    for (int l = 0; l < SIM_LANES; l++)
        stride[l] = (uint64_t)(p->by_rows ? p->cols : p->rows);
    if (p->has_stride)
        sim_values(w, &i->b, stride);
    for (int r = 0; r < p->f.count; r++) {
        unsigned char *lanes = w->regs + (size_t)p->f.o[r].slot * 128;
        const int step = bytes == 8 ? 8 : 4;
        if (r >= p->used) {
            memcpy(lanes, w->regs + (size_t)p->f.o[r % p->used].slot * 128,
                   128);
            continue;
        }
        const struct place first = p->place(&p->shape, E, r, 0);
        if (kind == SIM_LOAD && is_turned(p, &first)) {
            if (!load_turned(w, i, &a, &first, base, stride, lanes))
                return;
            continue;
        }
        for (int e = 0; e < parts; e++) {
            struct place x = p->place(&p->shape, E, r, e);
            for (int l = 0; l < SIM_LANES; l++)
                a.addr[l] = place_in(p, base[l], stride[l],
                                     x.row + l / 4 * x.row_g + l % 4 * x.row_t,
                                     x.col + l / 4 * x.col_g + l % 4 * x.col_t);
            if (sim_check_access(w, i, &a, at) != a.mask)
                return;
            for (int l = 0; l < SIM_LANES; l++) {
                unsigned char *reg = lanes + l * step + e * a.bytes;
                if (kind == SIM_LOAD)
                    memcpy(reg, at[l], (size_t)a.bytes);
                else
                    memcpy(at[l], reg, (size_t)a.bytes);
            }
        }
    }
}

static void run_wmma_load(struct sim_warp *w, const struct sim_instr *i,
                          uint32_t mask)
{
    run_stripes(w, i, mask, SIM_LOAD);
}

static void run_wmma_store(struct sim_warp *w, const struct sim_instr *i,
                           uint32_t mask)
{
    run_stripes(w, i, mask, SIM_STORE);
}

/* ---- one lane of a warp, one block of a cluster ---- */

/* d lane, c predicate, a lanes: the first of the lanes that are here. */
static void run_elect(struct sim_warp *w, const struct sim_instr *i,
                      uint32_t mask)
{
    uint64_t members[SIM_LANES];
    uint64_t leader[SIM_LANES];
    sim_values(w, &i->a, members);
    uint32_t named = (uint32_t)members[__builtin_ctz(mask)];
    if (named & ~(mask | w->faulted)) {
        sim_end(w, i, mask, LAB_SIM_SHUFFLE, NULL,
                "elect.sync names lanes %08x, of which only %08x are here",
                named, named & mask);
        return;
    }
    uint32_t first = named & mask & (~(named & mask) + 1);
    for (int l = 0; l < SIM_LANES; l++)
        leader[l] = first ? (uint64_t)__builtin_ctz(first) : 0;
    if (i->d.source == SIM_SLOT)
        sim_set(w, &i->d, mask, leader);
    if (i->c.source == SIM_PREDICATE)
        w->preds[i->c.slot] = (w->preds[i->c.slot] & ~mask) | first;
}

/* mapa: an address in shared memory of block b of the cluster, which has one. */
static void run_mapa(struct sim_warp *w, const struct sim_instr *i,
                     uint32_t mask)
{
    uint64_t address[SIM_LANES];
    uint64_t block[SIM_LANES];
    sim_values(w, &i->a, address);
    sim_values(w, &i->b, block);
    for (int l = 0; l < SIM_LANES; l++)
        if (mask >> l & 1 && (uint32_t)block[l] != 0) {
            sim_end(w, i, 1u << l, LAB_SIM_MEMORY, NULL,
                    "block %u of a cluster that has one block",
                    (uint32_t)block[l]);
            mask &= ~(1u << l);
        }
    if (mask)
        sim_set(w, &i->d, mask, address);
}

static void run_getctarank(struct sim_warp *w, const struct sim_instr *i,
                           uint32_t mask)
{
    uint64_t zero[SIM_LANES] = {0};
    sim_set(w, &i->d, mask, zero);
}

/* ---- lowering ---- */

/* `{a, b}`, or one register, of `count` registers of `bytes`; written ones must be
 * registers. */
static enum lab_status lower_fragment(struct sim_lowering *l,
                                      const struct lab_ptx_instr *in,
                                      const struct lab_ptx_operand *o,
                                      int count, int bytes, bool written,
                                      struct fragment *out)
{
    bool vector = o->kind == LAB_PTX_OPERAND_VECTOR;
    const struct lab_ptx_operand *parts = vector ? o->parts : o;
    if (count < 1 || (vector ? o->part_count : 1) != count)
        return sim_lower_refuse(l, in,
                                "a fragment has the wrong number of "
                                "registers");
    struct sim_operand *list = sim_lower_take(l, (size_t)count * sizeof *list);
    if (!list)
        return lab_no_memory("a kernel's operands");
    for (int k = 0; k < count; k++) {
        enum lab_status st = sim_lower_operand(l, &parts[k], &list[k]);
        if (st)
            return st;
        bool slot = list[k].source == SIM_SLOT && list[k].bytes == bytes;
        if (!slot && (written || list[k].source != SIM_IMMEDIATE))
            return sim_lower_refuse(l, in,
                                    "a register of a fragment has the "
                                    "wrong type");
    }
    out->o = list;
    out->count = count;
    return LAB_OK;
}

/* The shape, the types in their order, and the layouts that the modifiers name. */
struct named {
    struct shape shape;
    enum lab_ptx_type type[4];
    int types;
    bool by_rows[2]; /* .row, not .col */
    int layouts;
};

static struct named names_of(const struct lab_ptx_instr *in)
{
    struct named n = {.types = 0};
    for (int k = 0; k < in->modifier_count; k++) {
        const char *m = in->modifiers[k];
        enum lab_ptx_type t = lab_ptx_type_of(m);
        int shape[3];
        char end;
        if (t != LAB_PTX_NO_TYPE && n.types < 4)
            n.type[n.types++] = t;
        else if (sscanf(m, "m%3dn%3dk%3d%c", &shape[0], &shape[1], &shape[2],
                        &end) == 3)
            n.shape = (struct shape){shape[0], shape[1], shape[2]};
        else if ((strcmp(m, "row") == 0 || strcmp(m, "col") == 0) &&
                 n.layouts < 2)
            n.by_rows[n.layouts++] = m[0] == 'r';
    }
    return n;
}

static bool is_integer(enum lab_ptx_type t)
{
    return t == LAB_PTX_S8 || t == LAB_PTX_U8;
}

static bool is_fp8(enum lab_ptx_type t)
{
    return t == LAB_PTX_E4M3 || t == LAB_PTX_E5M2;
}

/* Do factors of these types make sums of that? */
static bool types_fit(enum lab_ptx_type sum, enum lab_ptx_type a,
                      enum lab_ptx_type b)
{
    if (is_integer(a))
        return is_integer(b) && sum == LAB_PTX_S32;
    if (a == LAB_PTX_F64)
        return b == a && sum == a;
    if (!is_fp8(a) || !is_fp8(b)) {
        bool factor =
            a == LAB_PTX_F16 || a == LAB_PTX_BF16 || a == LAB_PTX_TF32;
        if (!factor || a != b)
            return false;
    }
    return sum == LAB_PTX_F32 ||
           (sum == LAB_PTX_F16 && (a == LAB_PTX_F16 || is_fp8(a)));
}

/* Registers of a matrix of `elements` in a lane. */
static int registers_of(enum lab_ptx_type t, int elements)
{
    return elements / (SIM_LANES * in_register(t));
}

static int register_bytes(enum lab_ptx_type t)
{
    return t == LAB_PTX_F64 ? 8 : 4;
}

/* mma.sp's modifier: 0 none, 1 sp, 2 sp::ordered_metadata. */
static int sparse_of(const struct lab_ptx_instr *in)
{
    return lab_ptx_has_modifier(in, "sp::ordered_metadata") ? 2
           : lab_ptx_has_modifier(in, "sp")                 ? 1
                                                            : 0;
}

/* d, a, b, c from registers: mma and wmma.mma; mma.sp has two operands more. */
static enum lab_status lower_registers(struct sim_lowering *l,
                                       const struct lab_ptx_instr *in,
                                       const struct named *n, bool wmma,
                                       struct sim_instr *out)
{
    const struct shape *s = &n->shape;
    const struct lab_ptx_operand *o = in->operands;
    const int sparse = wmma ? 0 : sparse_of(in);
    const int side[4] = {s->m * s->n, s->m * s->k / (sparse ? 2 : 1),
                         s->k * s->n, s->m * s->n};
    struct product *p = sim_lower_take(l, sizeof *p);
    if (!p)
        return lab_no_memory("a kernel's operands");
    if (in->operand_count != (sparse ? 6 : 4))
        return sim_lower_refuse(l, in,
                                sparse ? "it needs four matrices, their "
                                         "metadata and a selector"
                                       : "it needs four matrices");
    struct fragment *f[4] = {&p->d, &p->a, &p->b, &p->c};
    for (int k = 0; k < 4; k++) {
        int count = registers_of(n->type[k], side[k]);
        /* wmma's fragments of fp16 have 8 registers whatever they hold. */
        if (wmma && n->type[k] == LAB_PTX_F16 && (k == 1 || k == 2))
            count = 8;
        enum lab_status st = lower_fragment(
            l, in, &o[k], count, register_bytes(n->type[k]), k == 0, f[k]);
        if (st)
            return st;
        p->type[k] = n->type[k];
    }
    p->shape = *s;
    p->saturate = lab_ptx_has_modifier(in, "satfinite");
    p->sparse = sparse > 0;
    p->ordered = sparse > 1;
    if (sparse) {
        int64_t selector;
        enum lab_status st = sim_lower_operand(l, &o[4], &p->bits);
        if (st)
            return st;
        if (!sim_number(&o[5], &selector) || selector < 0 ||
            selector >= 64 / s->k)
            return sim_lower_refuse(l, in, "its selector names no lanes");
        p->selector = (int)selector;
    }
    out->extra = p;
    out->run = run_product;
    return LAB_OK;
}

static enum lab_status lower_mma(struct sim_lowering *l,
                                 const struct lab_ptx_instr *in,
                                 struct sim_instr *out)
{
    struct named n = names_of(in);
    const struct shape *s = &n.shape;
    int bytes = s->k * element_bytes(n.type[1]); /* of a row of A */
    bool f64 = n.type[1] == LAB_PTX_F64;
    bool fits = s->n == 8 && n.types == 4 && n.layouts == 2 && n.by_rows[0] &&
                !n.by_rows[1] && types_fit(n.type[0], n.type[1], n.type[2]) &&
                types_fit(n.type[3], n.type[1], n.type[2]);
    if (s->m == 8)
        fits = fits && (f64 ? s->k == 4 : is_integer(n.type[1]) && bytes == 16);
    else
        fits =
            fits && s->m == 16 &&
            (bytes == 16 || bytes == 32 ||
             ((f64 || sparse_of(in)) && bytes == 64) || (f64 && bytes == 128));
    if (sparse_of(in)) /* of 16 bits; two of four */
        fits = fits && element_bytes(n.type[1]) == 2 && s->m == 16 &&
               (s->k == 16 || s->k == 32);
    /* A bit matrix and scaled ones have a modifier of their own. */
    for (int k = 0; fits && k < in->modifier_count; k++)
        fits = strncmp(in->modifiers[k], "kind", 4) != 0 &&
               (strncmp(in->modifiers[k], "sp", 2) != 0 || sparse_of(in));
    if (!fits)
        return sim_lower_refuse(l, in, "this shape or type is not simulated");
    return lower_registers(l, in, &n, false, out);
}

static bool wmma_shape(const struct shape *s, enum lab_ptx_type factor)
{
    if (factor == LAB_PTX_F64)
        return s->m == 8 && s->n == 8 && s->k == 4;
    if (factor == LAB_PTX_TF32)
        return s->m == 16 && s->n == 16 && s->k == 8;
    return s->k == 16 && s->m * s->n == 256 &&
           (s->m == 8 || s->m == 16 || s->m == 32);
}

static enum lab_status lower_wmma(struct sim_lowering *l,
                                  const struct lab_ptx_instr *in,
                                  struct sim_instr *out)
{
    struct named n = names_of(in);
    if (n.types == 2) { /* D and C: the factors are fp16 */
        n.type[3] = n.type[1];
        n.type[1] = n.type[2] = LAB_PTX_F16;
        n.types = 4;
    }
    if (n.types != 4 || n.layouts != 2 ||
        !types_fit(n.type[0], n.type[1], n.type[2]) ||
        !types_fit(n.type[3], n.type[1], n.type[2]) || is_fp8(n.type[1]) ||
        !wmma_shape(&n.shape, n.type[1]))
        return sim_lower_refuse(l, in, "this shape or type is not simulated");
    return lower_registers(l, in, &n, true, out);
}

/* wmma.load.a d, [matrix], stride; wmma.store.d [matrix], d, stride */
static enum lab_status lower_stripes(struct sim_lowering *l,
                                     const struct lab_ptx_instr *in,
                                     struct sim_instr *out)
{
    struct named n = names_of(in);
    const struct lab_ptx_operand *o = in->operands;
    const struct shape *s = &n.shape;
    bool store = strcmp(in->modifiers[0], "store") == 0;
    char which = in->modifier_count > 1 ? in->modifiers[1][0] : 0;
    struct stripes *p = sim_lower_take(l, sizeof *p);
    if (!p)
        return lab_no_memory("a kernel's operands");
    bool sum = which == 'c' || which == 'd';
    /* The factors that go with sums of this type and shape. */
    enum lab_ptx_type factor = sum && n.type[0] != LAB_PTX_F64
                                   ? (s->k == 8 ? LAB_PTX_TF32 : LAB_PTX_F16)
                                   : n.type[0];
    bool fits =
        n.types == 1 && n.layouts == 1 && wmma_shape(s, factor) &&
        in->operand_count >= 2 && in->operand_count <= 3 &&
        store == (which == 'd') && which != 0 &&
        strchr("abcd", which) != NULL &&
        (sum ? n.type[0] == LAB_PTX_F32 || n.type[0] == LAB_PTX_F16 ||
                   n.type[0] == LAB_PTX_S32 || n.type[0] == LAB_PTX_F64
             : element_bytes(n.type[0]) > 0 && !is_fp8(n.type[0]) &&
                   n.type[0] != LAB_PTX_F32 && n.type[0] != LAB_PTX_S32);
    if (!fits)
        return sim_lower_refuse(l, in, "this shape or type is not simulated");
    p->shape = *s;
    p->type = n.type[0];
    p->by_rows = n.by_rows[0];
    p->place = which == 'a' ? place_a : which == 'b' ? place_b : place_d;
    p->rows = which == 'b' ? s->k : s->m;
    p->cols = which == 'a' ? s->k : s->n;
    p->used = registers_of(p->type, p->rows * p->cols);
    p->has_stride = in->operand_count == 3;
    int count = !sum && p->type == LAB_PTX_F16 ? 8 : p->used;
    enum lab_status st = lower_fragment(l, in, &o[store], count,
                                        register_bytes(p->type), true, &p->f);
    if (!st)
        st = sim_lower_address(l, &o[!store], &out->a);
    if (!st && p->has_stride)
        st = sim_lower_operand(l, &o[2], &out->b);
    out->space =
        (uint8_t)(lab_ptx_has_modifier(in, "global") ? LAB_PTX_GLOBAL
                                                     : sim_space_of(in));
    out->extra = p;
    out->run = store ? run_wmma_store : run_wmma_load;
    return st;
}

static enum lab_status lower_matrices(struct sim_lowering *l,
                                      const struct lab_ptx_instr *in,
                                      struct sim_instr *out)
{
    bool store = strcmp(in->opcode, "stmatrix") == 0;
    int count = lab_ptx_has_modifier(in, "x1")   ? 1
                : lab_ptx_has_modifier(in, "x2") ? 2
                : lab_ptx_has_modifier(in, "x4") ? 4
                                                 : 0;
    struct fragment f;
    if (!lab_ptx_has_modifier(in, "m8n8") || !lab_ptx_has_modifier(in, "b16") ||
        count == 0 || in->operand_count != 2)
        return sim_lower_refuse(l, in, "this shape is not simulated");
    enum lab_status st =
        lower_fragment(l, in, &in->operands[store], count, 4, true, &f);
    if (st)
        return st;
    out->more = f.o;
    out->more_count = count;
    out->flags = lab_ptx_has_modifier(in, "trans") ? TRANSPOSED : 0;
    out->space = (uint8_t)sim_space_of(in);
    out->run = store ? run_stmatrix : run_ldmatrix;
    return sim_lower_address(l, &in->operands[!store], &out->a);
}

/* `count` operands: d, a, b */
static enum lab_status lower_plain(struct sim_lowering *l,
                                   const struct lab_ptx_instr *in, int count,
                                   sim_run_fn *run, struct sim_instr *out)
{
    struct sim_operand *to[3] = {&out->d, &out->a, &out->b};
    if (in->operand_count != count)
        return sim_lower_refuse(l, in, "it has not the operands it needs");
    for (int k = 0; k < count; k++) {
        enum lab_status st = sim_lower_operand(l, &in->operands[k], to[k]);
        if (st)
            return st;
    }
    if (out->d.source != SIM_SLOT)
        return sim_lower_refuse(l, in, "its result is no register");
    out->run = run;
    return LAB_OK;
}

static enum lab_status lower_movmatrix(struct sim_lowering *l,
                                       const struct lab_ptx_instr *in,
                                       struct sim_instr *out)
{
    return lower_plain(l, in, 2, run_movmatrix, out);
}

static enum lab_status lower_mapa(struct sim_lowering *l,
                                  const struct lab_ptx_instr *in,
                                  struct sim_instr *out)
{
    return lower_plain(l, in, 3, run_mapa, out);
}

static enum lab_status lower_getctarank(struct sim_lowering *l,
                                        const struct lab_ptx_instr *in,
                                        struct sim_instr *out)
{
    return lower_plain(l, in, 2, run_getctarank, out);
}

/* elect.sync lane|predicate, lanes */
static enum lab_status lower_elect(struct sim_lowering *l,
                                   const struct lab_ptx_instr *in,
                                   struct sim_instr *out)
{
    const struct lab_ptx_operand *o = in->operands;
    if (in->operand_count != 2 || o->kind != LAB_PTX_OPERAND_PAIR ||
        o->part_count != 2)
        return sim_lower_refuse(l, in, "it needs lane|predicate and a mask");
    enum lab_status st = sim_lower_operand(l, &o->parts[0], &out->d);
    if (!st)
        st = sim_lower_operand(l, &o->parts[1], &out->c);
    if (!st)
        st = sim_lower_operand(l, &o[1], &out->a);
    out->run = run_elect;
    return st;
}

static enum lab_status lower_wgmma_group(struct sim_lowering *l,
                                         const struct lab_ptx_instr *in,
                                         struct sim_instr *out)
{
    int64_t pending = 0;
    bool wait = lab_ptx_has_modifier(in, "wait_group");
    if (wait && (in->operand_count != 1 ||
                 !sim_number(&in->operands[0], &pending) || pending < 0))
        return sim_lower_refuse(l, in, "it needs a number of groups");
    out->a.source = SIM_IMMEDIATE;
    out->a.value = (uint64_t)pending;
    out->run = wait                                       ? run_wgmma_wait
               : lab_ptx_has_modifier(in, "commit_group") ? run_wgmma_commit
                                                          : sim_run_nothing;
    return LAB_OK;
}

/* d, a, b, scale-d {, sign of a, sign of b {, a transposed, b transposed}}; a in
 * registers has no flag of its own. */
static enum lab_status lower_wgmma(struct sim_lowering *l,
                                   const struct lab_ptx_instr *in,
                                   struct sim_instr *out)
{
    struct named n = names_of(in);
    const struct lab_ptx_operand *o = in->operands;
    const struct shape *s = &n.shape;
    const enum lab_ptx_type t = n.type[1];
    const bool half = t == LAB_PTX_F16 || t == LAB_PTX_BF16;
    const bool integer = is_integer(t);
    struct product *p = sim_lower_take(l, sizeof *p);
    if (!p)
        return lab_no_memory("a kernel's operands");
    if (n.types != 3 || !types_fit(n.type[0], t, n.type[2]) ||
        t == LAB_PTX_F64 || s->m != 64 || s->n < 8 || s->n > MAX_N ||
        s->n % 8 || s->k * element_bytes(t) != 32 ||
        lab_ptx_has_modifier(in, "sp"))
        return sim_lower_refuse(l, in, "this shape or type is not simulated");
    const bool registers =
        in->operand_count > 1 && o[1].kind == LAB_PTX_OPERAND_VECTOR;
    const int signs = integer ? 0 : 2;
    const int flags = half ? 2 - registers : 0;
    if (in->operand_count != 4 + signs + flags)
        return sim_lower_refuse(l, in, "it has not the operands it needs");
    memcpy(p->type, n.type, sizeof p->type);
    p->shape = *s;
    p->saturate = lab_ptx_has_modifier(in, "satfinite");
    enum lab_status st = lower_fragment(
        l, in, &o[0], registers_of(n.type[0], 16 * s->n), 4, true, &p->d);
    if (!st && registers)
        st = lower_fragment(l, in, &o[1], 4, 4, false, &p->a);
    else if (!st)
        st = sim_lower_operand(l, &o[1], &p->desc_a);
    if (!st)
        st = sim_lower_operand(l, &o[2], &p->desc_b);
    if (!st)
        st = sim_lower_operand(l, &o[3], &p->keep);
    if (!st && p->keep.source != SIM_PREDICATE &&
        p->keep.source != SIM_IMMEDIATE)
        return sim_lower_refuse(l, in, "scale-d is no predicate");
    for (int k = 0; !st && k < signs + flags; k++) {
        int64_t v;
        bool sign = k < signs;
        if (!sim_number(&o[4 + k], &v) ||
            (sign ? v != 1 && v != -1 : v != 0 && v != 1))
            return sim_lower_refuse(l, in,
                                    "a sign or a transposition is not "
                                    "the number it must be");
        if (sign)
            p->negate ^= v < 0;
        else
            p->across[k - signs + (flags == 1)] = v == 1;
    }
    out->extra = p;
    out->run = run_wgmma;
    return st;
}

enum lab_status sim_lower_tensor(struct sim_lowering *l,
                                 const struct lab_ptx_instr *in,
                                 struct sim_instr *out, bool *known)
{
    static const struct sim_form forms[] = {
        {"ldmatrix", {NULL}, lower_matrices},
        {"stmatrix", {NULL}, lower_matrices},
        {"movmatrix", {NULL}, lower_movmatrix},
        {"mma", {NULL}, lower_mma},
        {"wmma", {"mma"}, lower_wmma},
        {"wmma", {"load"}, lower_stripes},
        {"wmma", {"store"}, lower_stripes},
        {"wgmma", {"mma_async"}, lower_wgmma},
        {"wgmma", {NULL}, lower_wgmma_group},
        {"elect", {NULL}, lower_elect},
        {"mapa", {NULL}, lower_mapa},
        {"getctarank", {NULL}, lower_getctarank},
    };
    const struct sim_form *f =
        sim_form_find(forms, sizeof forms / sizeof forms[0], in);
    *known = f != NULL;
    return f ? f->lower(l, in, out) : sim_lower_async(l, in, out, known);
}
