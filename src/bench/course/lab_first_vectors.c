/* `lab vectors`: the course's vector addition, with its numbers. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "bench/course_rand.h"
#include "report/json_line.h"
#include "bench/lab_first.h"
#include "report/print.h"

enum { USUAL_ELEMENTS = 50000, MOST_ELEMENTS = 1 << 26, FIRST = 4, LAST = 2 };

/* The sums that are asked for, on the host and on the device. */
struct vectors {
    struct lab_first *f;
    int64_t n;
    int64_t threads;
    float *a; /* on the host */
    float *b;
    float *c;
    int32_t idle;  /* counted by the kernel */
    float *device; /* a, b, c, and the counter */
};

static enum lab_status tell_pair(const struct vectors *v, int64_t i)
{
    if (!v->f->options->json) {
        lab_printf(stdout, "%.5f + %.5f = %.5f\n", (double)v->a[i],
                   (double)v->b[i], (double)v->c[i]);
        return LAB_OK;
    }
    json_t *line = lab_json_new("lab_pair");
    lab_json_int(line, "element", i);
    lab_json_value(line, "a", (double)v->a[i]);
    lab_json_value(line, "b", (double)v->b[i]);
    lab_json_value(line, "c", (double)v->c[i]);
    return lab_json_print(line);
}

static enum lab_status tell_pairs(const struct vectors *v)
{
    enum lab_status st = LAB_OK;
    if (!v->f->options->json)
        lab_printf(stdout, "    a + b = c\n");
    for (int64_t i = 0; i < v->n && !st; i++) {
        if (i >= FIRST && i < v->n - LAST) {
            if (!v->f->options->json)
                lab_printf(stdout, ".....\n");
            i = v->n - LAST;
        }
        st = tell_pair(v, i);
    }
    return st;
}

/* A thread too few leaves elements that nobody computes: NaN, as they began. */
static enum lab_status tell_all(const struct vectors *v)
{
    int64_t right = 0;
    int64_t without = 0;
    for (int64_t i = 0; i < v->n; i++) {
        right += v->c[i] == v->a[i] + v->b[i];
        without += isnan(v->c[i]);
    }
    int64_t missing = v->n > v->threads ? v->n - v->threads : 0;
    int64_t spare = v->threads > v->n ? v->threads - v->n : 0;
    if (v->f->options->json) {
        json_t *line = lab_json_new("lab_vectors");
        lab_json_int(line, "elements", v->n);
        lab_json_int(line, "threads", v->threads);
        lab_json_int(line, "idle_threads", v->idle);
        lab_json_int(line, "right", right);
        lab_json_int(line, "without_a_thread", without);
        enum lab_status st = lab_json_print(line);
        if (st)
            return st;
    } else {
        lab_printf(
            stdout,
            "%lld threads for %lld elements: %d idle; %lld sums are right",
            (long long)v->threads, (long long)v->n, (int)v->idle,
            (long long)right);
        if (without)
            lab_printf(stdout, ", %lld elements have no thread",
                       (long long)without);
        lab_printf(stdout, "\n");
    }
    if (right + missing == v->n && without == missing && v->idle == spare)
        return LAB_OK;
    return lab_fail(LAB_E_CHECK, "the device's sums or its idle threads are "
                                 "not what the launch says");
}

/* ---- the work ---- */

static struct lab_view view(void *at, enum lab_dtype dtype, int64_t n)
{
    return (struct lab_view){
        .data = at, .dtype = dtype, .rank = 1, .dim = {n}, .count = n};
}

static enum lab_status add(struct vectors *v)
{
    struct lab_backend *be = v->f->backend;
    size_t bytes = (size_t)v->n * sizeof(float);
    float *at = v->device;
    const struct lab_view in[] = {view(at, LAB_F32, v->n),
                                  view(at + v->n, LAB_F32, v->n)};
    const struct lab_view out[] = {view(at + 2 * v->n, LAB_F32, v->n),
                                   view(at + 3 * v->n, LAB_I32, 1)};
    struct lab_call call = {.in = in, .n_in = 2, .out = out, .n_out = 2};
    enum lab_status st = lab_backend_upload(be, at, v->a, bytes);
    if (!st)
        st = lab_backend_upload(be, at + v->n, v->b, bytes);
    if (!st)
        st = lab_backend_upload(be, at + 2 * v->n, v->c, bytes);
    if (!st)
        st = lab_backend_upload(be, at + 3 * v->n, &v->idle, sizeof(v->idle));
    if (!st)
        st = lab_first_launch_it(v->f, &call);
    if (!st)
        st = lab_backend_download(be, v->c, at + 2 * v->n, bytes);
    if (!st)
        st = lab_backend_download(be, &v->idle, at + 3 * v->n, sizeof(v->idle));
    return st;
}

static void fill(struct vectors *v)
{
    struct lab_course_rand r;
    lab_course_rand_init(&r, 1);
    for (int64_t i = 0; i < v->n; i++) {
        v->a[i] = (float)lab_course_rand_next(&r) / (float)LAB_COURSE_RAND_MAX;
        v->b[i] = (float)lab_course_rand_next(&r) / (float)LAB_COURSE_RAND_MAX;
        v->c[i] = NAN;
    }
}

static enum lab_status run(struct vectors *v)
{
    size_t n = (size_t)v->n;
    v->a = lab_alloc_array(n, sizeof(float));
    v->b = lab_alloc_array(n, sizeof(float));
    v->c = lab_alloc_array(n, sizeof(float));
    if (!v->a || !v->b || !v->c)
        return lab_fail(LAB_E_NOMEM, "no memory for %lld elements",
                        (long long)v->n);
    enum lab_status st = lab_backend_alloc(
        v->f->backend, (3 * n + 1) * sizeof(float), (void **)&v->device);
    if (st)
        return st;
    fill(v);
    st = lab_first_head(v->f);
    if (!st && !v->f->options->json)
        lab_printf(stdout,
                   "inputs: rand() of the GNU C library from seed 1, over "
                   "its largest number\n");
    if (!st)
        st = add(v);
    if (!st)
        st = tell_pairs(v);
    return st ? st : tell_all(v);
}

/* The grid that was asked for, or as many blocks as the elements need. */
static enum lab_status make_launch(struct vectors *v)
{
    struct lab_first *f = v->f;
    const struct lab_bench_options *o = f->options;
    enum lab_status st = LAB_OK;
    v->n = USUAL_ELEMENTS;
    if (o->elements)
        st = lab_first_number("--elements", o->elements, MOST_ELEMENTS, &v->n);
    int64_t block = lab_first_count(f->launch.block);
    if (!o->grid)
        f->launch.grid[0] = (v->n + block - 1) / block;
    if (!st)
        st = lab_first_check(f);
    if (!st && (__builtin_mul_overflow(lab_first_count(f->launch.grid), block,
                                       &v->threads) ||
                v->threads > INT32_MAX))
        st = lab_fail(LAB_E_USAGE, "more than %d threads: take a smaller grid",
                      INT32_MAX);
    return st;
}

enum lab_status lab_first_do_vectors(struct lab_first *f)
{
    struct vectors v = {.f = f};
    enum lab_status st = make_launch(&v);
    if (!st)
        st = run(&v);
    if (v.device)
        lab_backend_free(f->backend, v.device);
    lab_free(v.a);
    lab_free(v.b);
    lab_free(v.c);
    return st;
}
