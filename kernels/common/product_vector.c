/* Products in compiler vectors: a tile of 6 x 16 sums stays in 12 registers while
 * the program goes along `inner`, and each number of the one factor meets 16 of the
 * other that lie together (K. Goto, R. van de Geijn, 2008). So that they do, a block
 * of that factor is copied, "packed", into a buffer that stays in the cache. What
 * lies right already is read where it is: a packed number must be used often to be
 * worth its copy, and the batches of a lesson are small. This file is compiled
 * with multiply-adds (kernels/CMakeLists.txt). */
#include <string.h>

#include "common/product.h"
#include "common/vector.h"

typedef float vec __attribute__((vector_size(32), aligned(4)));

enum {
    LANES = 8, /* of a vec */
    TILE_ROWS = 6,
    TILE_COLS = 2 * LANES,
    INNER = 256, /* a block: packed b takes 128 KiB, packed a 96 */
    COLS = 128,
    ROWS = 96
};

#ifdef LAB_VECTOR_IS_CLONED
#define LAB_PRODUCT_CLONES __attribute__((target_clones("fma", "default")))
#else
#define LAB_PRODUCT_CLONES
#endif
#define INLINE static inline __attribute__((always_inline))

/* A factor of a tile: element (i, p) is at data[i * row + p * step]. */
struct strided {
    const float *data;
    int64_t row;
    int64_t step;
};

/* c (rows, 16) = alpha a b, or c + alpha a b; b is (inner, 16). */
INLINE void tile(float *c, int64_t ldc, struct strided a, const float *b,
                 int64_t ldb, int64_t inner, int rows, float alpha, bool add)
{
    vec sum[TILE_ROWS][2];
    for (int i = 0; i < rows; i++)
        sum[i][0] = sum[i][1] = (vec){0};
    for (int64_t p = 0; p < inner; p++) {
        vec b0 = *(const vec *)(b + p * ldb);
        vec b1 = *(const vec *)(b + p * ldb + LANES);
#pragma GCC unroll 6
        for (int i = 0; i < rows; i++) {
            float x = a.data[i * a.row + p * a.step];
            vec v = {x, x, x, x, x, x, x, x};
            sum[i][0] += v * b0;
            sum[i][1] += v * b1;
        }
    }
    for (int i = 0; i < rows; i++) {
        for (int half = 0; half < 2; half++) {
            vec *to = (vec *)(c + i * ldc + half * LANES);
            vec scaled = alpha * sum[i][half];
            *to = add ? *to + scaled : scaled;
        }
    }
}

/* tile() with a constant number of rows. */
INLINE void tile_of(float *c, int64_t ldc, struct strided a, const float *b,
                    int64_t ldb, int64_t inner, int64_t rows, float alpha,
                    bool add)
{
    switch (rows) {
    case 6:
        tile(c, ldc, a, b, ldb, inner, 6, alpha, add);
        break;
    case 5:
        tile(c, ldc, a, b, ldb, inner, 5, alpha, add);
        break;
    case 4:
        tile(c, ldc, a, b, ldb, inner, 4, alpha, add);
        break;
    case 3:
        tile(c, ldc, a, b, ldb, inner, 3, alpha, add);
        break;
    case 2:
        tile(c, ldc, a, b, ldb, inner, 2, alpha, add);
        break;
    default:
        tile(c, ldc, a, b, ldb, inner, 1, alpha, add);
    }
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
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

#if defined(__GNUC__) && !defined(__clang__)
typedef int lanes __attribute__((vector_size(32)));

/* to[p * 16 + j] = from[j][p], 8 x 8 numbers. */
INLINE void turn_eight(float *to, const float *const *from, int64_t p)
{
    vec r[LANES];
    vec t[LANES];
    for (int j = 0; j < LANES; j++)
        r[j] = *(const vec *)(from[j] + p);
    for (int j = 0; j < LANES; j += 2) {
        t[j] = __builtin_shuffle(r[j], r[j + 1],
                                 (lanes){0, 8, 1, 9, 4, 12, 5, 13});
        t[j + 1] = __builtin_shuffle(r[j], r[j + 1],
                                     (lanes){2, 10, 3, 11, 6, 14, 7, 15});
    }
    for (int j = 0; j < LANES; j += 4) {
        for (int k = 0; k < 2; k++) {
            r[j + 2 * k] = __builtin_shuffle(t[j + k], t[j + k + 2],
                                             (lanes){0, 1, 8, 9, 4, 5, 12, 13});
            r[j + 2 * k + 1] = __builtin_shuffle(
                t[j + k], t[j + k + 2], (lanes){2, 3, 10, 11, 6, 7, 14, 15});
        }
    }
    for (int j = 0; j < LANES / 2; j++) {
        *(vec *)(to + (p + j) * TILE_COLS) = __builtin_shuffle(
            r[j], r[j + 4], (lanes){0, 1, 2, 3, 8, 9, 10, 11});
        *(vec *)(to + (p + j + 4) * TILE_COLS) = __builtin_shuffle(
            r[j], r[j + 4], (lanes){4, 5, 6, 7, 12, 13, 14, 15});
    }
}
#else
INLINE void turn_eight(float *to, const float *const *from, int64_t p)
{
    for (int64_t k = p; k < p + LANES; k++)
        for (int j = 0; j < LANES; j++)
            to[k * TILE_COLS + j] = from[j][k];
}
#endif

/* 16 columns of b that is stored the other way, those past `cols` zeros. */
INLINE void pack_turned(float *to, struct lab_matrix b, const struct block *at,
                        int64_t first, int64_t cols)
{
    static const float none[INNER];
    for (int64_t half = 0; half < TILE_COLS; half += LANES) {
        const float *from[LANES];
        int64_t p = 0;
        for (int64_t j = 0; j < LANES; j++)
            from[j] = half + j < cols
                          ? b.data + (first + half + j) * b.ld + at->p
                          : none;
        for (; p + LANES <= at->inner; p += LANES)
            turn_eight(to + half, from, p);
        for (; p < at->inner; p++)
            for (int j = 0; j < LANES; j++)
                to[p * TILE_COLS + half + j] = from[j][p];
    }
}

/* The block's columns of b, 16 at a time: (cols / 16, inner, 16). */
LAB_PRODUCT_CLONES static void pack_b(float *to, struct lab_matrix b,
                                      const struct block *at)
{
    int64_t whole = at->cols / TILE_COLS * TILE_COLS;
    if (b.flip) {
        for (int64_t j = 0; j < at->cols; j += TILE_COLS)
            pack_turned(to + j * at->inner, b, at, at->j + j,
                        least(at->cols - j, TILE_COLS));
        return;
    }
    for (int64_t p = 0; p < at->inner; p++, to += TILE_COLS) {
        const float *from = b.data + (at->p + p) * b.ld + at->j;
        for (int64_t j = 0; j < whole; j += TILE_COLS) {
            *(vec *)(to + j * at->inner) = *(const vec *)(from + j);
            *(vec *)(to + j * at->inner + LANES) =
                *(const vec *)(from + j + LANES);
        }
        for (int64_t j = whole; j < whole + TILE_COLS && whole < at->cols; j++)
            to[whole * at->inner + j - whole] = j < at->cols ? from[j] : 0;
    }
}

/* Six rows of a that is stored the other way, of `left` that there are: (inner, 6). */
INLINE void pack_a(float *to, struct lab_matrix a, const struct block *at,
                   int64_t first, int64_t left)
{
    const float *from = a.data + at->p * a.ld + first;
    for (int64_t p = 0; p < at->inner; p++, from += a.ld, to += TILE_ROWS) {
        if (left >= LANES) { /* the next overwrites the two too many */
            *(vec *)to = *(const vec *)from;
            continue;
        }
        for (int64_t i = 0; i < TILE_ROWS; i++)
            to[i] = i < left ? from[i] : 0;
    }
}

/* A tile that is no 6 x 16 in c's own order. */
INLINE void put_tile(struct lab_matrix c, int64_t i, int64_t j,
                     const float *some, int64_t rows, int64_t cols, bool add)
{
    int64_t down = c.flip ? 1 : c.ld;
    int64_t right = c.flip ? c.ld : 1;
    float *to = c.data + i * down + j * right;
    for (int64_t y = 0; y < cols; y++) {
        for (int64_t x = 0; x < rows; x++) {
            float *at = to + x * down + y * right;
            *at = (add ? *at : 0.0f) + some[x * TILE_COLS + y];
        }
    }
}

LAB_PRODUCT_CLONES static void
multiply_block(struct lab_matrix c, struct lab_matrix a, const float *packed,
               const struct block *at, float alpha, bool add)
{
    float packed_a[ROWS * INNER + LANES];
    for (int64_t i = 0; a.flip && i < at->rows; i += TILE_ROWS)
        pack_a(packed_a + i * at->inner, a, at, at->i + i, at->rows - i);
    for (int64_t j = 0; j < at->cols; j += TILE_COLS) {
        int64_t cols = least(at->cols - j, TILE_COLS);
        bool whole = cols == TILE_COLS && !c.flip;
        const float *b = packed + j * at->inner;
        for (int64_t i = 0; i < at->rows; i += TILE_ROWS) {
            int64_t rows = least(at->rows - i, TILE_ROWS);
            float some[TILE_ROWS * TILE_COLS];
            float *to = some;
            int64_t ld = TILE_COLS;
            if (whole) {
                to = c.data + (at->i + i) * c.ld + at->j + j;
                ld = c.ld;
            }
            if (a.flip)
                tile_of(
                    to, ld,
                    (struct strided){packed_a + i * at->inner, 1, TILE_ROWS}, b,
                    TILE_COLS, at->inner, rows, alpha, add && whole);
            else
                tile_of(to, ld,
                        (struct strided){a.data + (at->i + i) * a.ld + at->p,
                                         a.ld, 1},
                        b, TILE_COLS, at->inner, rows, alpha, add && whole);
            if (!whole)
                put_tile(c, at->i + i, at->j + j, some, rows, cols, add);
        }
    }
}

/* Nothing is packed: for few rows, which use a packed number too seldom. */
LAB_PRODUCT_CLONES static void
multiply_in_place(struct lab_matrix c, struct lab_matrix a, struct lab_matrix b,
                  const struct block *all, float alpha, bool add)
{
    for (int64_t j = 0; j < all->cols; j += TILE_COLS) {
        for (int64_t i = 0; i < all->rows; i += TILE_ROWS)
            tile_of(c.data + i * c.ld + j, c.ld,
                    (struct strided){a.data + i * a.ld, a.ld, 1}, b.data + j,
                    b.ld, all->inner, least(all->rows - i, TILE_ROWS), alpha,
                    add);
    }
}

static void multiply_blocks(struct lab_matrix c, struct lab_matrix a,
                            struct lab_matrix b, const struct block *all,
                            float alpha, bool add)
{
    float packed[COLS * INNER];
    struct block at;
    for (at.j = 0; at.j < all->cols; at.j += COLS) {
        at.cols = least(all->cols - at.j, COLS);
        for (at.p = 0; at.p < all->inner; at.p += INNER) {
            at.inner = least(all->inner - at.p, INNER);
            pack_b(packed, b, &at);
            for (at.i = 0; at.i < all->rows; at.i += ROWS) {
                at.rows = least(all->rows - at.i, ROWS);
                multiply_block(c, a, packed, &at, alpha, add || at.p > 0);
            }
        }
    }
}

/* On the caller. Where few rows meet many columns that are stored the other way,
 * the transposed product packs the few: c^T = b^T a^T. */
static void multiply_here(struct lab_matrix c, struct lab_matrix a,
                          struct lab_matrix b, int64_t rows, int64_t cols,
                          int64_t inner, float alpha, float beta)
{
    enum { FEW = 48 };
    struct block all = {.rows = rows, .cols = cols, .inner = inner};
    if (rows <= FEW && !a.flip && !b.flip && cols % TILE_COLS == 0) {
        multiply_in_place(c, a, b, &all, alpha, beta != 0);
    } else if (b.flip && rows < cols / 2) {
        all.rows = cols;
        all.cols = rows;
        c.flip = !c.flip;
        multiply_blocks(c, (struct lab_matrix){b.data, b.ld},
                        (struct lab_matrix){a.data, a.ld, !a.flip}, &all, alpha,
                        beta != 0);
    } else {
        multiply_blocks(c, a, b, &all, alpha, beta != 0);
    }
}

void lab_vector_multiply(struct lab_matrix c, struct lab_matrix a,
                         struct lab_matrix b, int64_t rows, int64_t cols,
                         int64_t inner, float alpha, float beta)
{
    /* Each part of columns packs all of a, where that is packed, and each part of
     * rows all of b, which takes half as long. */
    lab_product_cut(multiply_here, a.flip && 2 * rows >= cols, c, a, b, rows,
                    cols, inner, alpha, beta);
}

/* ---- over the pool ---- */

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
    return m;
}

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
    int64_t worth = 1 + (int64_t)(5e5 / (2.0 * (double)each + 1));
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
    for (int64_t r = 0; inner == 0 && beta == 0 && r < rows; r++)
        memset(c.data + r * c.ld, 0, (size_t)cols * sizeof(*c.data));
    if (inner == 0)
        return;
    struct product p = {multiply, c,     a,     b,    rows,
                        cols,     inner, alpha, beta, by_rows};
    int64_t n = p.by_rows ? rows : cols;
    lab_parallel(n, lab_product_grain(n, inner * (p.by_rows ? cols : rows)),
                 multiply_part, &p);
}
