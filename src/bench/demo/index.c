/* `lab index`: which element is a thread's, and a picture of the launch. */
#include "demo_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/json_line.h"
#include "report/print.h"

/* ---- the picture ---- */

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

/* ---- the launch ---- */

enum { WIDTH = 78, MOST_RUN = 1 << 24 /* threads: launched and counted */ };

struct index {
    struct lab_demo *d;
    int64_t elements; /* -1: not given */
    int64_t block[3]; /* of --at */
    int64_t thread[3];
    int64_t block_number;
    int64_t thread_number;
    int64_t at; /* -1: no --at */
};

static int64_t number_in(const int64_t *at, const int64_t *dim)
{
    return at[0] + (at[1] + at[2] * dim[1]) * dim[0];
}

/* ---- --at ---- */

static enum lab_status read_place(const char *text, int64_t *at, int n)
{
    const char *from = text;
    for (int i = 0; i < n; i++) {
        char *end = NULL;
        if (*from < '0' || *from > '9')
            return lab_fail(LAB_E_USAGE, "--at %s: whole numbers in decimal",
                            text);
        at[i] = strtoll(from, &end, 10);
        if (at[i] > INT32_MAX || *end != (i + 1 < n ? ',' : '\0'))
            return lab_fail(LAB_E_USAGE,
                            "--at %s: %d whole numbers with commas, the "
                            "block's place and then the thread's",
                            text, n);
        from = end + 1;
    }
    return LAB_OK;
}

static enum lab_status within(const char *what, const int64_t *at,
                              const int64_t *dim)
{
    for (int i = 0; i < 3; i++) {
        if (at[i] >= dim[i])
            return lab_fail(LAB_E_USAGE,
                            "--at: %s %lld in %c; there are %lld, counted from "
                            "0",
                            what, (long long)at[i], "xyz"[i],
                            (long long)dim[i]);
    }
    return LAB_OK;
}

static enum lab_status read_at(struct index *x)
{
    const struct lab_demo *d = x->d;
    int64_t at[6];
    int n = d->grid_rank + d->block_rank;
    x->at = -1;
    if (!d->options->at)
        return LAB_OK;
    enum lab_status st = read_place(d->options->at, at, n);
    if (st)
        return st;
    memcpy(x->block, at, (size_t)d->grid_rank * sizeof(*at));
    memcpy(x->thread, at + d->grid_rank, (size_t)d->block_rank * sizeof(*at));
    st = within("block", x->block, d->launch.grid);
    if (!st)
        st = within("thread", x->thread, d->launch.block);
    x->block_number = number_in(x->block, d->launch.grid);
    x->thread_number = number_in(x->thread, d->launch.block);
    x->at =
        x->thread_number + x->block_number * lab_first_count(d->launch.block);
    return st;
}

/* ---- output ---- */

/* "1 + 0 * 3 = 1": how a place of `rank` numbers is counted. */
static void add_number(struct lab_str *out, const char *what, const int64_t *at,
                       const int64_t *dim, int rank)
{
    int64_t step = 1;
    lab_str_addf(out, "  %-8s", what);
    for (int i = 0; i < rank; i++) {
        if (i == 0)
            lab_str_addf(out, "%lld", (long long)at[0]);
        else
            lab_str_addf(out, " + %lld * %lld", (long long)at[i],
                         (long long)step);
        step *= dim[i];
    }
    lab_str_addf(out, " = %lld\n", (long long)number_in(at, dim));
}

static void add_place(struct lab_str *out, const char *what, const int64_t *at,
                      int rank)
{
    lab_str_addf(out, "%s (", what);
    for (int i = 0; i < rank; i++)
        lab_str_addf(out, "%s%lld", i ? "," : "", (long long)at[i]);
    lab_str_add_char(out, ')');
}

static void add_thread(const struct index *x, struct lab_str *out)
{
    const struct lab_demo *d = x->d;
    add_place(out, "thread", x->thread, d->block_rank);
    add_place(out, " of block", x->block, d->grid_rank);
    lab_str_add(out, "\n");
    if (d->grid_rank > 1)
        add_number(out, "block", x->block, d->launch.grid, d->grid_rank);
    if (d->block_rank > 1)
        add_number(out, "thread", x->thread, d->launch.block, d->block_rank);
    lab_str_addf(out, "  %-8s%lld + %lld * %lld = %lld", "index",
                 (long long)x->thread_number, (long long)x->block_number,
                 (long long)lab_first_count(d->launch.block), (long long)x->at);
    if (x->elements >= 0 && x->at >= x->elements)
        lab_str_addf(out, ": beyond the last of %lld elements, it is idle",
                     (long long)x->elements);
    lab_str_add(out, "\n");
}

static void add_counts(const struct index *x, struct lab_str *out)
{
    const struct lab_demo *d = x->d;
    int64_t block = lab_first_count(d->launch.block);
    int64_t blocks = lab_first_count(d->launch.grid);
    int64_t warps = (block + 31) / 32;
    lab_str_addf(out, "%lld blocks x %lld threads = %lld threads; ",
                 (long long)blocks, (long long)block, (long long)x->d->threads);
    lab_str_addf(out, "%lld warp%s a block", (long long)warps,
                 warps == 1 ? "" : "s");
    if (block % 32)
        lab_str_addf(out, ", the last with %lld of 32 threads",
                     (long long)(block % 32));
    lab_str_add(out, "\n");
    if (x->elements >= 0 && x->d->threads >= x->elements)
        lab_str_addf(out, "%lld elements: %lld threads are idle\n",
                     (long long)x->elements,
                     (long long)(x->d->threads - x->elements));
    else if (x->elements >= 0)
        lab_str_addf(out, "%lld elements: %lld of them have no thread\n",
                     (long long)x->elements,
                     (long long)(x->elements - x->d->threads));
}

static enum lab_status print_text(const struct index *x)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_index_picture(&x->d->launch, x->at, x->elements, WIDTH, &text);
    add_counts(x, &text);
    if (x->at >= 0)
        add_thread(x, &text);
    enum lab_status st = lab_str_check(&text, "a picture");
    if (!st)
        fputs(lab_str_text(&text), stdout); /* longer than a lab_printf() */
    lab_str_release(&text);
    return st;
}

static enum lab_status print_json(const struct index *x)
{
    json_t *line = lab_json_new("lab_index");
    bool at = x->at >= 0;
    bool n = x->elements >= 0;
    int64_t idle = x->d->threads - x->elements;
    lab_json_int(line, "threads", x->d->threads);
    lab_json_int(line, "elements", n ? x->elements : LAB_UNKNOWN);
    lab_json_int(line, "idle_threads", !n ? LAB_UNKNOWN : idle > 0 ? idle : 0);
    lab_json_int(line, "block_number", at ? x->block_number : LAB_UNKNOWN);
    lab_json_int(line, "thread_number", at ? x->thread_number : LAB_UNKNOWN);
    lab_json_int(line, "index", at ? x->at : LAB_UNKNOWN);
    return lab_json_print(line);
}

/* ---- counting on the device ---- */

static enum lab_status print_hits(const struct index *x, int64_t once)
{
    if (x->d->options->json) {
        json_t *line = lab_json_new("lab_index_run");
        lab_json_int(line, "indices", x->d->threads);
        lab_json_int(line, "of_one_thread", once);
        enum lab_status st = lab_json_print(line);
        if (st)
            return st;
    } else {
        lab_printf(stdout,
                   "run: %lld of %lld indices belong to one thread and no "
                   "other\n",
                   (long long)once, (long long)x->d->threads);
    }
    return once == x->d->threads
               ? LAB_OK
               : lab_fail(LAB_E_CHECK, "two threads share an index");
}

static enum lab_status count_hits(struct index *x, int32_t *hits, void *device)
{
    struct lab_backend *be = x->d->backend;
    size_t bytes = (size_t)x->d->threads * sizeof(*hits);
    const struct lab_view out = lab_demo_view(device, LAB_I32, x->d->threads);
    struct lab_call call = {.out = &out, .n_out = 1};
    int64_t once = 0;
    memset(hits, 0, bytes);
    enum lab_status st = lab_backend_upload(be, device, hits, bytes);
    if (!st)
        st = lab_demo_launch(x->d, &call);
    if (!st)
        st = lab_backend_download(be, hits, device, bytes);
    for (int64_t i = 0; i < x->d->threads && !st; i++)
        once += hits[i] == 1;
    return st ? st : print_hits(x, once);
}

/* Every thread counts at its index: is the formula right on the device? */
static enum lab_status run(struct index *x)
{
    void *device = NULL;
    if (x->d->threads > MOST_RUN) {
        if (!x->d->options->json)
            lab_printf(stdout, "not run: more than %d threads\n", MOST_RUN);
        return LAB_OK;
    }
    int32_t *hits = lab_alloc_array((size_t)x->d->threads, sizeof(*hits));
    enum lab_status st =
        hits ? lab_backend_alloc(x->d->backend,
                                 (size_t)x->d->threads * sizeof(*hits), &device)
             : lab_fail(LAB_E_NOMEM, "no memory to count threads");
    if (!st)
        st = count_hits(x, hits, device);
    if (device)
        lab_backend_free(x->d->backend, device);
    lab_free(hits);
    return st;
}

enum lab_status lab_demo_index(struct lab_demo *d)
{
    struct index x = {.d = d, .elements = -1};
    enum lab_status st = lab_demo_check(d, INT64_MAX, "threads", "grid");
    if (!st && d->options->elements)
        st = lab_demo_number("--elements", d->options->elements, INT64_MAX,
                             &x.elements);
    if (!st)
        st = read_at(&x);
    if (!st)
        st = lab_demo_head(d);
    if (!st)
        st = d->options->json ? print_json(&x) : print_text(&x);
    return st ? st : run(&x);
}
