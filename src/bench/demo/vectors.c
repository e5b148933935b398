/* `lab vectors`: the course's vector addition, with its numbers. */
#include "demo_priv.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "report/json_line.h"
#include "report/print.h"

/* ---- the generator of its numbers ---- */

enum { DEGREE = 31, APART = 3, THROWN_AWAY = 10 * DEGREE };

/* The first 31 words: 16807 times the one before modulo 2^31 - 1, in signed
 * arithmetic by Schrage's method, as the library does it. */
static int32_t first_word(int32_t before)
{
    int32_t v = 16807 * (before % 127773) - 2836 * (before / 127773);
    return v < 0 ? v + LAB_COURSE_RAND_MAX : v;
}

void lab_course_rand_init(struct lab_course_rand *r, uint32_t seed)
{
    int32_t v = (int32_t)(seed ? seed : 1);
    for (int i = 0; i < DEGREE; i++) {
        r->word[i] = (uint32_t)v;
        v = first_word(v);
    }
    r->at = APART; /* the library begins there */
    for (int i = 0; i < THROWN_AWAY; i++)
        (void)lab_course_rand_next(r);
}

int32_t lab_course_rand_next(struct lab_course_rand *r)
{
    int near = (r->at + DEGREE - APART) % DEGREE;
    uint32_t v = r->word[r->at] + r->word[near];
    r->word[r->at] = v;
    r->at = (r->at + 1) % DEGREE;
    return (int32_t)(v >> 1);
}

/* ---- the addition ---- */

enum { USUAL_ELEMENTS = 50000, MOST_ELEMENTS = 1 << 26, FIRST = 4, LAST = 2 };

/* The sums that are asked for, on the host and on the device. */
struct vectors {
    struct lab_demo *d;
    int64_t n;
    float *a; /* on the host */
    float *b;
    float *c;
    int32_t idle;  /* counted by the kernel */
    float *device; /* a, b, c, and the counter */
};

static enum lab_status print_pair(const struct vectors *v, int64_t i)
{
    if (!v->d->options->json) {
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

static enum lab_status print_pairs(const struct vectors *v)
{
    enum lab_status st = LAB_OK;
    if (!v->d->options->json)
        lab_printf(stdout, "    a + b = c\n");
    for (int64_t i = 0; i < v->n && !st; i++) {
        if (i >= FIRST && i < v->n - LAST) {
            if (!v->d->options->json)
                lab_printf(stdout, ".....\n");
            i = v->n - LAST;
        }
        st = print_pair(v, i);
    }
    return st;
}

/* A thread too few leaves elements that nobody computes: NaN, as they began. */
static enum lab_status print_all(const struct vectors *v)
{
    int64_t right = 0;
    int64_t without = 0;
    for (int64_t i = 0; i < v->n; i++) {
        right += v->c[i] == v->a[i] + v->b[i];
        without += isnan(v->c[i]);
    }
    int64_t missing = v->n > v->d->threads ? v->n - v->d->threads : 0;
    int64_t spare = v->d->threads > v->n ? v->d->threads - v->n : 0;
    if (v->d->options->json) {
        json_t *line = lab_json_new("lab_vectors");
        lab_json_int(line, "elements", v->n);
        lab_json_int(line, "threads", v->d->threads);
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
            (long long)v->d->threads, (long long)v->n, (int)v->idle,
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

static enum lab_status add(struct vectors *v)
{
    struct lab_backend *be = v->d->backend;
    size_t bytes = (size_t)v->n * sizeof(float);
    float *at = v->device;
    const struct lab_view in[] = {lab_demo_view(at, LAB_F32, v->n),
                                  lab_demo_view(at + v->n, LAB_F32, v->n)};
    const struct lab_view out[] = {lab_demo_view(at + 2 * v->n, LAB_F32, v->n),
                                   lab_demo_view(at + 3 * v->n, LAB_I32, 1)};
    struct lab_call call = {.in = in, .n_in = 2, .out = out, .n_out = 2};
    enum lab_status st = lab_backend_upload(be, at, v->a, bytes);
    if (!st)
        st = lab_backend_upload(be, at + v->n, v->b, bytes);
    if (!st)
        st = lab_backend_upload(be, at + 2 * v->n, v->c, bytes);
    if (!st)
        st = lab_backend_upload(be, at + 3 * v->n, &v->idle, sizeof(v->idle));
    if (!st)
        st = lab_demo_launch(v->d, &call);
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
        v->d->backend, (3 * n + 1) * sizeof(float), (void **)&v->device);
    if (st)
        return st;
    fill(v);
    st = lab_demo_head(v->d);
    if (!st && !v->d->options->json)
        lab_printf(stdout,
                   "inputs: rand() of the GNU C library from seed 1, over "
                   "its largest number\n");
    if (!st)
        st = add(v);
    if (!st)
        st = print_pairs(v);
    return st ? st : print_all(v);
}

/* The grid that was asked for, or as many blocks as the elements need. */
static enum lab_status make_launch(struct vectors *v)
{
    struct lab_demo *d = v->d;
    const struct lab_bench_options *o = d->options;
    enum lab_status st = LAB_OK;
    v->n = USUAL_ELEMENTS;
    if (o->elements)
        st = lab_demo_number("--elements", o->elements, MOST_ELEMENTS, &v->n);
    int64_t block = lab_first_count(d->launch.block);
    if (!o->grid)
        d->launch.grid[0] = (v->n + block - 1) / block;
    return st ? st : lab_demo_check(d, INT32_MAX, "threads", "grid");
}

enum lab_status lab_demo_vectors(struct lab_demo *d)
{
    struct vectors v = {.d = d};
    enum lab_status st = make_launch(&v);
    if (!st)
        st = run(&v);
    if (v.device)
        lab_backend_free(d->backend, v.device);
    lab_free(v.a);
    lab_free(v.b);
    lab_free(v.c);
    return st;
}
