/* Grid, blocks and threads, drawn in text. */
#include <stdio.h>

#include "bench/lab_first.h"

enum { THREADS_X = 8, THREADS_Y = 8, BLOCKS_Y = 3 };

/* The part of a row of `count` things that is drawn. */
struct part {
    int64_t from;
    int64_t to; /* not drawn any more */
    bool cut;
};

struct picture {
    const struct lab_first_launch *l;
    int64_t marked;
    int64_t elements;
    int digits;
    struct part block[2]; /* x and y of the grid */
    struct part thread[2];
    int64_t plane_block; /* z */
    int64_t plane_thread;
    struct lab_str *out;
};

static struct part part_of(int64_t count, int64_t most, int64_t wanted)
{
    struct part p = {0, count, false};
    if (count <= most)
        return p;
    p.from = wanted < most ? 0 : wanted - most + 1;
    p.to = p.from + most;
    p.cut = true;
    return p;
}

static int digits_of(int64_t v)
{
    int n = 1;
    for (; v >= 10; v /= 10)
        n++;
    return n;
}

static int block_width(const struct picture *p)
{
    return (int)(p->thread[0].to - p->thread[0].from) * (p->digits + 2) + 2;
}

/* The edge of all blocks of a row, with their places where it is the upper. */
static void add_edges(struct picture *p, int64_t by, bool upper)
{
    int width = block_width(p);
    for (int64_t bx = p->block[0].from; bx < p->block[0].to; bx++) {
        char name[64] = "";
        int n = upper ? snprintf(name, sizeof(name), "(%lld,%lld)",
                                 (long long)bx, (long long)by)
                      : 0;
        if (n > width - 2)
            n = 0;
        lab_str_add(p->out, bx > p->block[0].from ? " +" : "+");
        lab_str_add_bytes(p->out, name, (size_t)n);
        for (int i = n; i < width - 2; i++)
            lab_str_add_char(p->out, '-');
        lab_str_add_char(p->out, '+');
    }
    lab_str_add_char(p->out, '\n');
}

static void add_cell(struct picture *p, int64_t index)
{
    bool marked = index == p->marked;
    lab_str_add_char(p->out, marked ? '[' : ' ');
    if (p->elements >= 0 && index >= p->elements)
        lab_str_addf(p->out, "%*s", p->digits, ".");
    else
        lab_str_addf(p->out, "%*lld", p->digits, (long long)index);
    lab_str_add_char(p->out, marked ? ']' : ' ');
}

/* Row ty of the threads of every block of row by. */
static void add_row(struct picture *p, int64_t by, int64_t ty)
{
    const int64_t *grid = p->l->grid;
    const int64_t *block = p->l->block;
    for (int64_t bx = p->block[0].from; bx < p->block[0].to; bx++) {
        int64_t number = bx + (by + p->plane_block * grid[1]) * grid[0];
        int64_t row = (ty + p->plane_thread * block[1]) * block[0] +
                      number * lab_first_count(block);
        lab_str_add(p->out, bx > p->block[0].from ? " |" : "|");
        for (int64_t tx = p->thread[0].from; tx < p->thread[0].to; tx++)
            add_cell(p, row + tx);
        lab_str_add_char(p->out, '|');
    }
    lab_str_add_char(p->out, '\n');
}

static void add_cut(struct picture *p)
{
    const int64_t *grid = p->l->grid;
    const int64_t *block = p->l->block;
    if (p->block[0].cut || p->block[1].cut)
        lab_str_addf(p->out,
                     "blocks %lld to %lld of %lld in x, %lld to %lld of %lld "
                     "in y\n",
                     (long long)p->block[0].from, (long long)p->block[0].to - 1,
                     (long long)grid[0], (long long)p->block[1].from,
                     (long long)p->block[1].to - 1, (long long)grid[1]);
    if (p->thread[0].cut || p->thread[1].cut)
        lab_str_addf(p->out,
                     "of each block threads %lld to %lld of %lld in x, %lld to "
                     "%lld of %lld in y\n",
                     (long long)p->thread[0].from,
                     (long long)p->thread[0].to - 1, (long long)block[0],
                     (long long)p->thread[1].from,
                     (long long)p->thread[1].to - 1, (long long)block[1]);
    if (grid[2] > 1 || block[2] > 1)
        lab_str_addf(p->out, "in z: block %lld of %lld, thread %lld of %lld\n",
                     (long long)p->plane_block, (long long)grid[2],
                     (long long)p->plane_thread, (long long)block[2]);
}

/* The part to draw: all of it, or what fits around the marked thread. */
static void choose_parts(struct picture *p, int width)
{
    const int64_t *grid = p->l->grid;
    const int64_t *block = p->l->block;
    int64_t threads = lab_first_count(block);
    int64_t at = p->marked < 0 ? 0 : p->marked;
    int64_t b = at / threads;
    int64_t t = at % threads;
    p->digits = digits_of(threads * lab_first_count(grid) - 1);
    int64_t wide = (width - 2) / (p->digits + 2);
    p->thread[0] =
        part_of(block[0], wide < THREADS_X ? wide : THREADS_X, t % block[0]);
    p->thread[1] = part_of(block[1], THREADS_Y, t / block[0] % block[1]);
    p->plane_thread = t / (block[0] * block[1]);
    p->block[0] =
        part_of(grid[0], (width + 1) / (block_width(p) + 1), b % grid[0]);
    p->block[1] = part_of(grid[1], BLOCKS_Y, b / grid[0] % grid[1]);
    p->plane_block = b / (grid[0] * grid[1]);
}

void lab_index_picture(const struct lab_first_launch *launch, int64_t marked,
                       int64_t elements, int width, struct lab_str *out)
{
    struct picture p = {
        .l = launch, .marked = marked, .elements = elements, .out = out};
    choose_parts(&p, width);
    for (int64_t by = p.block[1].from; by < p.block[1].to; by++) {
        add_edges(&p, by, true);
        for (int64_t ty = p.thread[1].from; ty < p.thread[1].to; ty++)
            add_row(&p, by, ty);
        add_edges(&p, by, false);
    }
    add_cut(&p);
}
