/* Products in compiler vectors: a tile of 6 x 16 sums, or 12 x 32 where the processor
 * has vectors of 16 numbers, stays in registers while the program goes along
 * `inner`, and each number of the one factor meets as many of the other as lie
 * together (K. Goto, R. van de Geijn, 2008). So that they do, a block
 * of that factor is copied, "packed", into a buffer that stays in the cache. What
 * lies right already is read where it is: a packed number must be used often to be
 * worth its copy, and the batches of a lesson are small. What the next block needs
 * comes into the second cache while this one is summed: a tile's loads leave time for
 * that, and a block that is packed waits for every line. This file is compiled with
 * multiply-adds (kernels/CMakeLists.txt). */
#include <stdatomic.h>
#include <string.h>

#include "cpu/product.h"
#include "cpu/room.h"
#include "cpu/vector.h"

enum {
    INNER = 256, /* a block: packed b takes 256 KiB, a 96 */
    COLS = 256,
    ROWS = 96,
    EIGHT = 8,
    AHEAD = 8, /* rows that are fetched before they are packed */
    LINE = 16  /* numbers of a line of the cache */
};

/* FLOPs that are worth handing over: 5 to 10 microseconds. */
static const double WORTH_FLOP = 5e5;

#define INLINE static inline __attribute__((always_inline))

/* A factor of a tile: element (i, p) is at data[i * row + p * step]. */
struct strided {
    const float *data;
    int64_t row;
    int64_t step;
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What a product is added to: element (i, j) is at data[i * row + j * col]. */
struct base {
    const float *data; /* NULL: 0 */
    int64_t row;
    int64_t col;
};

INLINE struct base base_from(struct base m, int64_t i, int64_t j)
{
    if (m.data)
        m.data += i * m.row + j * m.col;
    return m;
}

/* Part of a product: rows i.., columns j.., of the sum p... */
struct block {
    int64_t i;
    int64_t j;
    int64_t p;
    int64_t rows;
    int64_t cols;
    int64_t inner;
};

/* Rows of at most two lines that are read or stored to later. */
struct fetch {
    const float *data;
    int64_t ld;
    int64_t rows;
    int64_t width;
};

/* A tile's share of the factors' next blocks, as they are stored. */
struct later {
    struct fetch a;
    struct fetch b;
};

/* The first numbers of the blocks of the factors that follow one, NULL: none, and the
 * product's rows, over which the fetching of b is spread. */
struct following {
    const float *a;
    const float *b;
    int64_t rows;
};

/* Asks for the first or the last line of a row; after the last one the next row is next.
 * What is stored to comes into the first cache. */
INLINE void fetch_line(struct fetch *f, bool last, bool stored)
{
    if (f->rows <= 0)
        return;
    const float *line = f->data + (last ? f->width - 1 : 0);
    if (stored)
        __builtin_prefetch(line, 1, 3);
    else
        __builtin_prefetch(line, 0, 2);
    if (last) {
        f->data += f->ld;
        f->rows--;
    }
}

/* What product_tile.inc has for one length of vectors. */
struct product_kernels {
    int lanes;
    void (*pack_b)(float *to, struct lab_matrix b, const struct block *at);
    void (*multiply_block)(struct lab_matrix c, struct lab_matrix a,
                           struct lab_matrix b, const float *packed,
                           const struct block *at, const struct following *next,
                           float alpha, struct base base);
    void (*multiply_in_place)(struct lab_matrix c, struct lab_matrix a,
                              struct lab_matrix b, const struct block *all,
                              float alpha, struct base base);
};

typedef float eight __attribute__((vector_size(32), aligned(4)));

#if defined(__GNUC__) && !defined(__clang__)
typedef int places __attribute__((vector_size(32)));

/* to[k * ld + j] = from[j][p + k], 8 x 8 numbers. */
INLINE void turn_eight(float *to, int64_t ld, const float *const *from,
                       int64_t p)
{
    eight r[EIGHT];
    eight t[EIGHT];
    for (int j = 0; j < EIGHT; j++)
        r[j] = *(const eight *)(from[j] + p);
    for (int j = 0; j < EIGHT; j += 2) {
        t[j] = __builtin_shuffle(r[j], r[j + 1],
                                 (places){0, 8, 1, 9, 4, 12, 5, 13});
        t[j + 1] = __builtin_shuffle(r[j], r[j + 1],
                                     (places){2, 10, 3, 11, 6, 14, 7, 15});
    }
    for (int j = 0; j < EIGHT; j += 4) {
        for (int k = 0; k < 2; k++) {
            r[j + 2 * k] = __builtin_shuffle(
                t[j + k], t[j + k + 2], (places){0, 1, 8, 9, 4, 5, 12, 13});
            r[j + 2 * k + 1] = __builtin_shuffle(
                t[j + k], t[j + k + 2], (places){2, 3, 10, 11, 6, 7, 14, 15});
        }
    }
    for (int j = 0; j < EIGHT / 2; j++) {
        *(eight *)(to + j * ld) = __builtin_shuffle(
            r[j], r[j + 4], (places){0, 1, 2, 3, 8, 9, 10, 11});
        *(eight *)(to + (j + 4) * ld) = __builtin_shuffle(
            r[j], r[j + 4], (places){4, 5, 6, 7, 12, 13, 14, 15});
    }
}
#else
INLINE void turn_eight(float *to, int64_t ld, const float *const *from,
                       int64_t p)
{
    for (int64_t k = 0; k < EIGHT; k++)
        for (int j = 0; j < EIGHT; j++)
            to[k * ld + j] = from[j][p + k];
}
#endif

#ifdef LAB_VECTOR_IS_CLONED
__attribute__((target_clones("avx2", "default")))
#endif
void lab_turn(float *to, int64_t ld, const float *from, int64_t from_ld,
              int64_t rows, int64_t cols)
{
    for (int64_t i = 0; i < rows; i += EIGHT) {
        const float *row[EIGHT];
        int64_t whole = rows - i >= EIGHT ? cols / EIGHT * EIGHT : 0;
        for (int64_t k = 0; k < EIGHT && whole > 0; k++)
            row[k] = from + (i + k) * from_ld;
        for (int64_t j = 0; j < whole; j += EIGHT)
            turn_eight(to + j * ld + i, ld, row, j);
        for (int64_t j = whole; j < cols; j++)
            for (int64_t k = i; k < rows && k < i + EIGHT; k++)
                to[j * ld + k] = from[k * from_ld + j];
    }
}

/* A tile, `ld` numbers from row to row, that c has in another order or in part. */
INLINE void put_tile(struct lab_matrix c, int64_t i, int64_t j,
                     const float *some, int64_t ld, int64_t rows, int64_t cols,
                     struct base base)
{
    int64_t down = c.flip ? 1 : c.ld;
    int64_t right = c.flip ? c.ld : 1;
    float *to = c.data + i * down + j * right;
    for (int64_t y = 0; y < cols; y++) {
        for (int64_t x = 0; x < rows; x++) {
            float from =
                base.data ? base.data[x * base.row + y * base.col] : 0.0f;
            to[x * down + y * right] = from + some[x * ld + y];
        }
    }
}

#define LANES 8
#define TILE_ROWS 6
#define NAME(x) x##_8
#ifdef LAB_VECTOR_IS_CLONED
#define TARGET __attribute__((target_clones("fma", "default")))
#else
#define TARGET
#endif
#include "cpu/product_tile.inc"

#ifdef LAB_VECTOR_IS_CLONED
#define LANES 16
#define TILE_ROWS 12
#define NAME(x) x##_16
#define TARGET __attribute__((target("avx512f")))
#include "cpu/product_tile.inc"
#endif

static atomic_int most_lanes = 16;

static const struct product_kernels *kernels(void)
{
#ifdef LAB_VECTOR_IS_CLONED
    if (atomic_load(&most_lanes) >= 16 && __builtin_cpu_supports("avx512f"))
        return &kernels_16;
#endif
    return &kernels_8;
}

int lab_vector_lanes(void)
{
    return kernels()->lanes;
}

void lab_vector_lanes_set(int most)
{
    atomic_store(&most_lanes, most);
}

/* `m` from row `i`, column `j` on, of the matrix as the product sees it. */
static const float *number_of(struct lab_matrix m, int64_t i, int64_t j)
{
    return m.data + (m.flip ? j * m.ld + i : i * m.ld + j);
}

/* The blocks after `at`: of a those of rows, then of the sum, then again from the first. */
static struct following following(struct lab_matrix a, struct lab_matrix b,
                                  const struct block *all,
                                  const struct block *at)
{
    int64_t p = at->p + INNER < all->inner ? at->p + INNER : 0;
    int64_t j = p > 0 ? at->j : at->j + COLS;
    bool more = j < all->cols;
    struct following next = {NULL, more ? number_of(b, p, j) : NULL, all->rows};
    if (at->i + ROWS < all->rows)
        next.a = number_of(a, at->i + ROWS, at->p);
    else if (more)
        next.a = number_of(a, 0, p);
    return next;
}

static void multiply_blocks(const struct product_kernels *k,
                            struct lab_matrix c, struct lab_matrix a,
                            struct lab_matrix b, const struct block *all,
                            float alpha, struct base base)
{
    const struct base sum = {c.data, c.flip ? 1 : c.ld, c.flip ? c.ld : 1};
    _Alignas(64) float packed[COLS * INNER];
    struct block at;
    for (at.j = 0; at.j < all->cols; at.j += COLS) {
        at.cols = least(all->cols - at.j, COLS);
        for (at.p = 0; at.p < all->inner; at.p += INNER) {
            at.inner = least(all->inner - at.p, INNER);
            k->pack_b(packed, b, &at);
            for (at.i = 0; at.i < all->rows; at.i += ROWS) {
                at.rows = least(all->rows - at.i, ROWS);
                struct following next = following(a, b, all, &at);
                k->multiply_block(c, a, b, packed, &at, &next, alpha,
                                  at.p > 0 ? sum : base);
            }
        }
    }
}

/* On the caller. Of few rows, and of few columns where a is stored the other way, as
 * a head of attention has, nothing is packed. Where few rows meet many columns that
 * are stored the other way, the transposed product packs the few: c^T = b^T a^T; it
 * stores c number by number, which a long sum is worth. */
static void multiply_here(struct lab_matrix c, struct lab_matrix a,
                          struct lab_matrix b, int64_t rows, int64_t cols,
                          int64_t inner, float alpha, float beta)
{
    enum { FEW = 48, NARROW = 32 };
    const struct product_kernels *k = kernels();
    struct block all = {.rows = rows, .cols = cols, .inner = inner};
    struct base base = {beta != 0 ? c.data : c.bias, beta != 0 ? c.ld : 0, 1};
    bool used_seldom =
        a.flip ? cols <= NARROW && (rows <= FEW || inner <= FEW) : rows <= FEW;
    if (used_seldom && !b.flip && cols % k->lanes == 0) {
        k->multiply_in_place(c, a, b, &all, alpha, base);
    } else if (b.flip && rows < cols / 2 && rows <= inner / 4) {
        all.rows = cols;
        all.cols = rows;
        c.flip = !c.flip;
        base = (struct base){base.data, base.col, base.row};
        multiply_blocks(k, c, (struct lab_matrix){b.data, b.ld},
                        (struct lab_matrix){a.data, a.ld, !a.flip}, &all, alpha,
                        base);
    } else {
        multiply_blocks(k, c, a, b, &all, alpha, base);
    }
}

/* ---- cut along the sum ---- */

struct product {
    lab_multiply_fn *multiply;
    struct lab_matrix c;
    struct lab_matrix a;
    struct lab_matrix b;
    int64_t rows;
    int64_t cols;
    int64_t inner;
    float alpha;
    float beta;
    bool by_rows;
};

/* `m` from row (or column) `at` on, of the matrix as the product sees it. */
static struct lab_matrix part_of(struct lab_matrix m, bool row, int64_t at)
{
    m.data += row != m.flip ? at * m.ld : at;
    if (m.bias && !row)
        m.bias += at;
    return m;
}

/* c = a b, of which each part sums some columns of a and rows of b: those that its core
 * has written, where a is stored the other way or b has been updated. */
struct summed {
    struct product of;
    int64_t parts;
    float *sums; /* of each part but the first: rows x cols */
};

static void sum_parts(const void *arg, int64_t from, int64_t to)
{
    const struct summed *s = arg;
    for (int64_t i = from; i < to; i++) {
        struct product p = s->of;
        int64_t first = p.inner * i / s->parts;
        int64_t end = p.inner * (i + 1) / s->parts;
        p.a = part_of(p.a, false, first);
        p.b = part_of(p.b, true, first);
        if (i > 0)
            p.c = (struct lab_matrix){s->sums + (i - 1) * p.rows * p.cols,
                                      p.cols};
        p.multiply(p.c, p.a, p.b, p.rows, p.cols, end - first, p.alpha,
                   i > 0 ? 0 : p.beta);
    }
}

struct addition {
    struct lab_matrix c;
    const float *sums;
    int64_t count;
    int64_t rows;
    int64_t cols;
};

/* Of elements, as they follow each other in the rows: one row has many threads, too. */
LAB_VECTOR static void add_sums(const void *arg, int64_t from, int64_t to)
{
    const struct addition *a = arg;
    for (int64_t i = 0; i < a->count; i++)
        for (int64_t at = from, n; at < to; at += n) {
            int64_t r = at / a->cols;
            int64_t k = at % a->cols;
            const float *sum = a->sums + i * a->rows * a->cols + at;
            float *row = a->c.data + r * a->c.ld + k;
            n = a->cols - k < to - at ? a->cols - k : to - at;
#pragma omp simd
            for (int64_t j = 0; j < n; j++)
                row[j] += sum[j];
        }
}

void lab_sums_add(struct lab_matrix c, const float *sums, int64_t count,
                  int64_t rows, int64_t cols)
{
    enum { ADDED = 8192 };
    struct addition a = {c, sums, count, rows, cols};
    lab_parallel(rows * cols, ADDED, add_sums, &a);
}

/* Is the sum long enough for each thread, and longer than what is added after it? In a
 * part of a loop, as one over heads of attention, no other thread would take a part. */
static bool is_long(int64_t rows, int64_t cols, int64_t inner)
{
    enum { EACH = 128 };
    return lab_threads() > 1 && !lab_in_part() &&
           inner >= EACH * lab_threads() &&
           2.0 * (double)rows * (double)cols * (double)inner >=
               WORTH_FLOP * lab_threads() &&
           (double)(rows + cols) * (double)inner >=
               2.0 * lab_threads() * (double)rows * (double)cols;
}

/* False: there is no memory for it. */
static bool multiply_along(struct lab_matrix c, struct lab_matrix a,
                           struct lab_matrix b, int64_t rows, int64_t cols,
                           int64_t inner, float alpha, float beta)
{
    int64_t parts = lab_threads();
    float *sums = lab_room_take((parts - 1) * rows * cols);
    struct summed s = {
        {multiply_here, c, a, b, rows, cols, inner, alpha, beta, false},
        parts,
        sums};
    if (!sums)
        return false;
    lab_parallel(parts, 1, sum_parts, &s);
    lab_sums_add(c, sums, parts - 1, rows, cols);
    lab_room_give(sums);
    return true;
}

void lab_vector_multiply(struct lab_matrix c, struct lab_matrix a,
                         struct lab_matrix b, int64_t rows, int64_t cols,
                         int64_t inner, float alpha, float beta)
{
    /* Each part of columns packs all of a, where that is packed, and each part of
     * rows all of b, which takes half as long. Where a is not packed, parts of rows
     * read what their core has written in the step before, and b is packed in vain
     * for few rows. A part of few columns would leave most of a vector empty. */
    enum { WORTH = 128 };
    bool many = rows >= WORTH * lab_threads();
    bool narrow = cols < LINE * lab_threads();
    bool by_rows = a.flip ? 2 * rows >= cols : rows >= cols && (many || narrow);
    bool along = !b.flip && (a.flip || !many);
    if (along && is_long(rows, cols, inner) &&
        multiply_along(c, a, b, rows, cols, inner, alpha, beta))
        return;
    lab_product_cut(multiply_here, by_rows, c, a, b, rows, cols, inner, alpha,
                    beta);
}

/* ---- over the pool ---- */

static void multiply_part(const void *arg, int64_t from, int64_t to)
{
    const struct product *p = arg;
    p->multiply(part_of(p->c, p->by_rows, from),
                p->by_rows ? part_of(p->a, true, from) : p->a,
                p->by_rows ? p->b : part_of(p->b, false, from),
                p->by_rows ? to - from : p->rows,
                p->by_rows ? p->cols : to - from, p->inner, p->alpha, p->beta);
}

int64_t lab_product_grain(int64_t n, int64_t each)
{
    int64_t parts = 2 * (int64_t)lab_threads();
    int64_t worth = 1 + (int64_t)(WORTH_FLOP / (2.0 * (double)each + 1));
    int64_t share = (n + parts - 1) / parts;
    return share > worth ? share : worth;
}

void lab_product_cut(lab_multiply_fn *multiply, bool by_rows,
                     struct lab_matrix c, struct lab_matrix a,
                     struct lab_matrix b, int64_t rows, int64_t cols,
                     int64_t inner, float alpha, float beta)
{
    if (rows == 0 || cols == 0)
        return;
    for (int64_t r = 0; inner == 0 && beta == 0 && r < rows; r++) {
        for (int64_t i = 0; i < cols; i++)
            c.data[r * c.ld + i] = c.bias ? c.bias[i] : 0;
    }
    if (inner == 0)
        return;
    struct product p = {multiply, c,     a,     b,    rows,
                        cols,     inner, alpha, beta, by_rows};
    int64_t n = p.by_rows ? rows : cols;
    int64_t grain = lab_product_grain(n, inner * (p.by_rows ? cols : rows));
    /* Each part packs the whole of b, or of both factors: one part a thread. */
    grain *= a.flip || by_rows ? 2 : 1;
    if (!by_rows && grain < LINE)
        grain = LINE;
    lab_parallel(n, grain, multiply_part, &p);
}
