/* `lab index`: which element is a thread's, and a picture of the launch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/json_line.h"
#include "bench/lab_first.h"
#include "report/print.h"

enum { WIDTH = 78, MOST_RUN = 1 << 24 /* threads: launched and counted */ };

struct index {
    struct lab_first *f;
    int64_t threads;
    int64_t elements; /* -1: nobody said */
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
    const struct lab_first *f = x->f;
    int64_t at[6];
    int n = f->grid_rank + f->block_rank;
    x->at = -1;
    if (!f->options->at)
        return LAB_OK;
    enum lab_status st = read_place(f->options->at, at, n);
    if (st)
        return st;
    memcpy(x->block, at, (size_t)f->grid_rank * sizeof(*at));
    memcpy(x->thread, at + f->grid_rank, (size_t)f->block_rank * sizeof(*at));
    st = within("block", x->block, f->launch.grid);
    if (!st)
        st = within("thread", x->thread, f->launch.block);
    x->block_number = number_in(x->block, f->launch.grid);
    x->thread_number = number_in(x->thread, f->launch.block);
    x->at =
        x->thread_number + x->block_number * lab_first_count(f->launch.block);
    return st;
}

/* ---- telling ---- */

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
    const struct lab_first *f = x->f;
    add_place(out, "thread", x->thread, f->block_rank);
    add_place(out, " of block", x->block, f->grid_rank);
    lab_str_add(out, "\n");
    if (f->grid_rank > 1)
        add_number(out, "block", x->block, f->launch.grid, f->grid_rank);
    if (f->block_rank > 1)
        add_number(out, "thread", x->thread, f->launch.block, f->block_rank);
    lab_str_addf(out, "  %-8s%lld + %lld * %lld = %lld", "index",
                 (long long)x->thread_number, (long long)x->block_number,
                 (long long)lab_first_count(f->launch.block), (long long)x->at);
    if (x->elements >= 0 && x->at >= x->elements)
        lab_str_addf(out, ": beyond the last of %lld elements, it is idle",
                     (long long)x->elements);
    lab_str_add(out, "\n");
}

static void add_counts(const struct index *x, struct lab_str *out)
{
    const struct lab_first *f = x->f;
    int64_t block = lab_first_count(f->launch.block);
    int64_t blocks = lab_first_count(f->launch.grid);
    int64_t warps = (block + 31) / 32;
    lab_str_addf(out, "%lld blocks x %lld threads = %lld threads; ",
                 (long long)blocks, (long long)block, (long long)x->threads);
    lab_str_addf(out, "%lld warp%s a block", (long long)warps,
                 warps == 1 ? "" : "s");
    if (block % 32)
        lab_str_addf(out, ", the last with %lld of 32 threads",
                     (long long)(block % 32));
    lab_str_add(out, "\n");
    if (x->elements >= 0 && x->threads >= x->elements)
        lab_str_addf(out, "%lld elements: %lld threads are idle\n",
                     (long long)x->elements,
                     (long long)(x->threads - x->elements));
    else if (x->elements >= 0)
        lab_str_addf(out, "%lld elements: %lld of them have no thread\n",
                     (long long)x->elements,
                     (long long)(x->elements - x->threads));
}

static enum lab_status tell_text(const struct index *x)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_index_picture(&x->f->launch, x->at, x->elements, WIDTH, &text);
    add_counts(x, &text);
    if (x->at >= 0)
        add_thread(x, &text);
    enum lab_status st =
        text.failed ? lab_fail(LAB_E_NOMEM, "no memory for a picture") : LAB_OK;
    if (!st)
        fputs(lab_str_text(&text), stdout); /* longer than a lab_printf() */
    lab_str_release(&text);
    return st;
}

static enum lab_status tell_json(const struct index *x)
{
    json_t *line = lab_json_new("lab_index");
    bool at = x->at >= 0;
    bool n = x->elements >= 0;
    int64_t idle = x->threads - x->elements;
    lab_json_int(line, "threads", x->threads);
    lab_json_int(line, "elements", n ? x->elements : LAB_UNKNOWN);
    lab_json_int(line, "idle_threads", !n ? LAB_UNKNOWN : idle > 0 ? idle : 0);
    lab_json_int(line, "block_number", at ? x->block_number : LAB_UNKNOWN);
    lab_json_int(line, "thread_number", at ? x->thread_number : LAB_UNKNOWN);
    lab_json_int(line, "index", at ? x->at : LAB_UNKNOWN);
    return lab_json_print(line);
}

/* ---- counting on the device ---- */

static enum lab_status tell_hits(const struct index *x, int64_t once)
{
    if (x->f->options->json) {
        json_t *line = lab_json_new("lab_index_run");
        lab_json_int(line, "indices", x->threads);
        lab_json_int(line, "of_one_thread", once);
        enum lab_status st = lab_json_print(line);
        if (st)
            return st;
    } else {
        lab_printf(stdout,
                   "run: %lld of %lld indices belong to one thread and no "
                   "other\n",
                   (long long)once, (long long)x->threads);
    }
    return once == x->threads
               ? LAB_OK
               : lab_fail(LAB_E_CHECK, "two threads share an index");
}

static enum lab_status count_hits(struct index *x, int32_t *hits, void *device)
{
    struct lab_backend *be = x->f->backend;
    size_t bytes = (size_t)x->threads * sizeof(*hits);
    const struct lab_view out = {.data = device,
                                 .dtype = LAB_I32,
                                 .rank = 1,
                                 .dim = {x->threads},
                                 .count = x->threads};
    struct lab_call call = {.out = &out, .n_out = 1};
    int64_t once = 0;
    memset(hits, 0, bytes);
    enum lab_status st = lab_backend_upload(be, device, hits, bytes);
    if (!st)
        st = lab_first_launch_it(x->f, &call);
    if (!st)
        st = lab_backend_download(be, hits, device, bytes);
    for (int64_t i = 0; i < x->threads && !st; i++)
        once += hits[i] == 1;
    return st ? st : tell_hits(x, once);
}

/* Every thread counts at its index: is the formula right on the device? */
static enum lab_status run(struct index *x)
{
    void *device = NULL;
    if (x->threads > MOST_RUN) {
        if (!x->f->options->json)
            lab_printf(stdout, "not run: more than %d threads\n", MOST_RUN);
        return LAB_OK;
    }
    int32_t *hits = lab_alloc_array((size_t)x->threads, sizeof(*hits));
    enum lab_status st =
        hits ? lab_backend_alloc(x->f->backend,
                                 (size_t)x->threads * sizeof(*hits), &device)
             : lab_fail(LAB_E_NOMEM, "no memory to count threads");
    if (!st)
        st = count_hits(x, hits, device);
    if (device)
        lab_backend_free(x->f->backend, device);
    lab_free(hits);
    return st;
}

enum lab_status lab_first_do_index(struct lab_first *f)
{
    struct index x = {.f = f, .elements = -1};
    enum lab_status st = lab_first_check(f);
    if (!st &&
        __builtin_mul_overflow(lab_first_count(f->launch.grid),
                               lab_first_count(f->launch.block), &x.threads))
        st = lab_fail(LAB_E_USAGE, "more threads than can be counted: take a "
                                   "smaller grid");
    if (!st && f->options->elements)
        st = lab_first_number("--elements", f->options->elements, INT64_MAX,
                              &x.elements);
    if (!st)
        st = read_at(&x);
    if (!st)
        st = lab_first_head(f);
    if (!st)
        st = f->options->json ? tell_json(&x) : tell_text(&x);
    return st ? st : run(&x);
}
