/* The first kernels of a course: hello, scalar_add, vectors and index. Each is
 * one launch: its grid and block are edited, and its output is shown. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/json_line.h"
#include "report/print.h"
#include "base/clock.h"
#include "base/format.h"
#include "base/mem.h"
#include "bench/demo.h"

struct lab_demo {
    const struct lab_options *options;
    const char *name;
    const char *symbol; /* as the source has it */
    struct lab_backend *backend;
    struct lab_device_info info;
    const struct lab_variant *variant;
    struct lab_first_launch launch;
    int grid_rank; /* numbers that were written */
    int block_rank;
    int64_t threads; /* of the launch */
};

/* ---- numbers ---- */

static enum lab_status no_number(const char *option, const char *text,
                                 const char *why)
{
    return lab_fail(LAB_E_USAGE, "[demo.value] %s %s: %s", option, text, why);
}

static const char *read_number(const char **at, int64_t most, int64_t *out)
{
    char *end = NULL;
    if (**at < '0' || **at > '9')
        return "whole numbers in decimal, as in 4 or 3x2";
    errno = 0;
    long long v = strtoll(*at, &end, 10);
    if (v == 0 && *end == 'x' && !errno)
        return "a side is 1 or more (and 0x.. is not read as hexadecimal)";
    if (v == 0)
        return "a side is 1 or more";
    if (errno || v > most)
        return "larger than any grid";
    *at = end;
    *out = v;
    return NULL;
}

enum lab_status lab_demo_sides(const char *option, const char *text,
                               int64_t *dim, int *rank)
{
    int64_t v[3] = {1, 1, 1};
    const char *at = text;
    int n = 0;
    for (;;) {
        if (n == 3)
            return no_number(option, text, "at most three sides: x, y and z");
        const char *why = read_number(&at, INT32_MAX, &v[n++]);
        if (why)
            return no_number(option, text, why);
        if (*at != 'x')
            break;
        at++;
    }
    if (*at)
        return no_number(option, text,
                         "whole numbers in decimal, as in 4 or 3x2");
    memcpy(dim, v, sizeof(v));
    *rank = n;
    return LAB_OK;
}

enum lab_status lab_demo_number(const char *option, const char *text,
                                int64_t most, int64_t *out)
{
    const char *at = text;
    int64_t v = 0;
    const char *why = read_number(&at, INT64_MAX, &v);
    if (!why && *at)
        why = "a whole number in decimal";
    if (why)
        return no_number(option, text, why);
    if (v > most)
        return lab_fail(LAB_E_USAGE, "[demo.most] %s %s: at most %lld", option,
                        text, (long long)most);
    *out = v;
    return LAB_OK;
}

static void add_sides(struct lab_str *out, const int64_t *dim, int rank)
{
    for (int i = 0; i < rank; i++)
        lab_str_addf(out, "%s%lld", i ? "x" : "", (long long)dim[i]);
}

/* ---- running ---- */

static enum lab_status run_as(struct lab_demo *d, lab_kernel_fn *run,
                              struct lab_call *call)
{
    const struct lab_variant variant = {.name = d->name, .run = run};
    call->params = &d->launch;
    return lab_backend_run(d->backend, &variant, call);
}

static enum lab_status demo_check(struct lab_demo *d, int64_t most,
                                  const char *things, const char *part)
{
    struct lab_call call = {0};
    enum lab_status st = run_as(d, d->variant->prepare, &call);
    if (st)
        return st;
    bool over =
        __builtin_mul_overflow(lab_first_count(d->launch.grid),
                               lab_first_count(d->launch.block), &d->threads);
    if (over && most == INT64_MAX)
        return lab_fail(
            LAB_E_USAGE,
            "[demo.count] more %s than can be counted: take a smaller %s",
            things, part);
    if (over || d->threads > most)
        return lab_fail(LAB_E_USAGE,
                        "[demo.threads] more than %lld %s: take a smaller %s",
                        (long long)most, things, part);
    return LAB_OK;
}

static enum lab_status demo_launch(struct lab_demo *d, struct lab_call *call)
{
    enum lab_status st = run_as(d, d->variant->run, call);
    return st ? st : lab_backend_sync(d->backend);
}

static struct lab_view demo_view(void *at, enum lab_dtype dtype, int64_t n)
{
    return (struct lab_view){
        .data = at, .dtype = dtype, .rank = 1, .dim = {n}, .count = n};
}

static enum lab_status put(const struct lab_demo *d, json_t *line,
                           const char *fmt, ...) LAB_PRINTF(3, 4);

/* The line with --json, else the text; takes the line over. */
static enum lab_status put(const struct lab_demo *d, json_t *line,
                           const char *fmt, ...)
{
    char text[256];
    va_list args;
    if (d->options->json)
        return lab_json_print(line);
    json_decref(line);
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    lab_printf(stdout, "%s", text);
    return LAB_OK;
}

static enum lab_status head_json(const struct lab_demo *d)
{
    json_t *line = lab_json_new("lab_launch");
    lab_json_text(line, "lab", d->name);
    lab_json_text(line, "kernel", d->symbol);
    lab_json_text(line, "source", d->variant->source);
    lab_json_text(line, "backend", d->backend->ops->name);
    lab_json_text(line, "device", d->info.name);
    lab_json_bool(line, "emulated", d->backend->host_memory);
    lab_json_ints(line, "grid", d->launch.grid, 3);
    lab_json_ints(line, "block", d->launch.block, 3);
    lab_json_int(line, "threads",
                 lab_first_count(d->launch.grid) *
                     lab_first_count(d->launch.block));
    return lab_json_print(line);
}

static enum lab_status demo_head(const struct lab_demo *d)
{
    int64_t blocks = lab_first_count(d->launch.grid);
    int64_t threads = lab_first_count(d->launch.block);
    struct lab_str text;
    if (d->options->json)
        return head_json(d);
    lab_str_init(&text);
    lab_str_addf(&text, "%s<<<", d->symbol);
    add_sides(&text, d->launch.grid, d->grid_rank);
    lab_str_add(&text, ", ");
    add_sides(&text, d->launch.block, d->block_rank);
    lab_str_addf(&text, ">>>: %lld block%s of %lld thread%s, on %s (%s)\n",
                 (long long)blocks, blocks == 1 ? "" : "s", (long long)threads,
                 threads == 1 ? "" : "s", d->info.name, d->backend->ops->name);
    if (d->backend->host_memory)
        lab_str_add(&text, "no GPU is used: the launch is simulated on one "
                           "thread of the CPU\n");
    enum lab_status st = lab_str_check(&text, "a line");
    lab_print_wrap(lab_print_columns(), 0);
    if (!st)
        lab_printf(stdout, "%s", lab_str_text(&text));
    lab_print_wrap(0, 0);
    lab_str_release(&text);
    return st;
}

/* ---- the launch as a picture ----
 *
 * A row is a block, its warps one beside the other. A cell is one lane, or as many
 * as it takes for a block to have room. */

enum { WARP = 32, PICTURE_CELLS = 66, PICTURE_FIRST = 3 };

enum lane { LANE_EMPTY, LANE_IDLE, LANE_BUSY, LANES };

static const char *lane_sign(enum lane lane)
{
    static const char *const signs[LANES][2] = {
        {".", "\u00b7"}, {"o", "\u2592"}, {"#", "\u2588"}};
    return signs[lane][lab_print_is_ascii() ? 0 : 1];
}

/* What lane `lane` of a block does; `elements` below 0: every thread has work. */
static enum lane lane_of(const struct lab_demo *d, int64_t block, int64_t lane,
                         int64_t elements)
{
    int64_t threads = lab_first_count(d->launch.block);
    if (lane >= threads)
        return LANE_EMPTY;
    return elements < 0 || block * threads + lane < elements ? LANE_BUSY
                                                             : LANE_IDLE;
}

static void add_block(const struct lab_demo *d, struct lab_str *out,
                      int64_t block, int64_t elements, int lanes)
{
    int64_t warps = (lab_first_count(d->launch.block) + WARP - 1) / WARP;
    lab_str_addf(out, "block %6lld  ", (long long)block);
    for (int64_t lane = 0; lane < warps * WARP; lane += lanes) {
        enum lane most = LANE_EMPTY;
        for (int i = 0; i < lanes; i++) {
            enum lane one = lane_of(d, block, lane + i, elements);
            most = one > most ? one : most;
        }
        lab_str_add(out, lane > 0 && lane % WARP == 0 ? " " : "");
        lab_str_add(out, lane_sign(most));
    }
    lab_str_add(out, "\n");
}

static enum lab_status print_launch(const struct lab_demo *d, int64_t elements)
{
    int64_t blocks = lab_first_count(d->launch.grid);
    int64_t threads = lab_first_count(d->launch.block);
    int64_t warps = (threads + WARP - 1) / WARP;
    int lanes = 1;
    struct lab_str out;
    if (d->options->json)
        return LAB_OK;
    while (lanes < WARP && warps * (WARP / lanes + 1) > PICTURE_CELLS)
        lanes *= 2;
    lab_str_init(&out);
    for (int64_t b = 0; b < blocks; b++) {
        if (b == PICTURE_FIRST && blocks > PICTURE_FIRST + 1) {
            lab_str_add(&out, "...\n");
            b = blocks - 1;
        }
        add_block(d, &out, b, elements, lanes);
    }
    lab_str_addf(&out, "a group is a warp, a cell %d lane%s: %s thread", lanes,
                 lanes == 1 ? "" : "s", lane_sign(LANE_BUSY));
    if (elements >= 0 && elements < blocks * threads)
        lab_str_addf(&out, ", %s without an element", lane_sign(LANE_IDLE));
    if (warps * WARP - threads >= lanes)
        lab_str_addf(&out, ", %s no thread", lane_sign(LANE_EMPTY));
    lab_str_add(&out, "\n");
    enum lab_status st = lab_str_check(&out, "a picture of the launch");
    if (!st)
        lab_print_text(stdout, lab_str_text(&out));
    lab_str_release(&out);
    return st;
}

/* `lab hello`: a line from every thread; `lab scalar_add`: 2 + 7. */

/* ---- hello ---- */

enum { LINES = 10000 }; /* as many as the device's buffer surely holds */

/* What a kernel prints comes out of the process's standard output when the
 * host waits for it; it is caught in a file, so that it can be counted. */
struct capture {
    FILE *file;
    int saved; /* standard output; -1: not redirected */
};

static enum lab_status capture_begin(struct capture *c)
{
    fflush(stdout);
    c->saved = -1;
    c->file = tmpfile();
    if (!c->file)
        return lab_fail(LAB_E_IO, "[demo.output-file] cannot make a temporary "
                                  "file for the kernel's output");
    c->saved = dup(STDOUT_FILENO);
    if (c->saved >= 0 && dup2(fileno(c->file), STDOUT_FILENO) >= 0)
        return LAB_OK;
    return lab_fail(LAB_E_IO, "[demo.output] cannot catch the kernel's output");
}

static void capture_end(struct capture *c)
{
    fflush(stdout);
    if (c->saved >= 0) {
        dup2(c->saved, STDOUT_FILENO);
        close(c->saved);
    }
    c->saved = -1;
    if (c->file)
        rewind(c->file);
}

static enum lab_status print_lines(const struct lab_demo *d, FILE *from,
                                   int64_t *lines)
{
    char text[128];
    enum lab_status st = LAB_OK;
    while (!st && fgets(text, sizeof(text), from)) {
        text[strcspn(text, "\n")] = '\0';
        json_t *line = lab_json_new("lab_line");
        lab_json_text(line, "text", text);
        st = put(d, line, "%s\n", text);
        ++*lines;
    }
    return st;
}

static enum lab_status print_count(const struct lab_demo *d, int64_t lines)
{
    json_t *line = lab_json_new("lab_lines");
    lab_json_int(line, "threads", d->threads);
    lab_json_int(line, "lines", lines);
    enum lab_status st = put(d, line, "%lld threads, %lld lines\n",
                             (long long)d->threads, (long long)lines);
    if (!st && lines != d->threads)
        st = lab_fail(LAB_E_CHECK,
                      "[demo.lines] %lld threads printed %lld lines",
                      (long long)d->threads, (long long)lines);
    return st;
}

static enum lab_status demo_hello(struct lab_demo *d)
{
    struct capture c = {.saved = -1};
    struct lab_call call = {0};
    int64_t lines = 0;
    enum lab_status st = demo_check(d, LINES, "lines", "grid or block");
    if (!st)
        st = demo_head(d);
    if (!st)
        st = print_launch(d, -1);
    if (st)
        return st;
    st = capture_begin(&c);
    if (!st)
        st = demo_launch(d, &call);
    capture_end(&c);
    if (!st)
        st = print_lines(d, c.file, &lines);
    if (!st)
        st = print_count(d, lines);
    if (c.file)
        fclose(c.file);
    return st;
}

/* ---- scalar_add ---- */

enum { ADDERS = 1 << 24 }; /* threads that all write the same sum */

struct scalars {
    struct lab_demo *d;
    int32_t *device; /* a, b, c */
    int32_t host[3];
};

/* What was done, and how long it took if it went well. */
static enum lab_status step(const struct scalars *s, enum lab_status st,
                            int64_t since, int bytes, const char *what)
{
    bool untimed = s->d->backend->untimed;
    double ns =
        untimed ? (double)NAN : (double)(lab_clock_monotonic_ns() - since);
    if (st)
        return st;
    json_t *line = lab_json_new("lab_step");
    lab_json_text(line, "step", what);
    lab_json_int(line, "bytes", bytes);
    lab_json_real(line, "ns", ns);
    return put(s->d, line, "%-52s %12s\n", what, LAB_NS_TEXT(ns));
}

static enum lab_status upload(struct scalars *s)
{
    enum lab_status st = lab_backend_upload(s->d->backend, s->device, s->host,
                                            2 * sizeof(*s->host));
    return st ? st : lab_backend_sync(s->d->backend);
}

static enum lab_status launch(struct scalars *s)
{
    const struct lab_view in[] = {demo_view(s->device, LAB_I32, 1),
                                  demo_view(s->device + 1, LAB_I32, 1)};
    const struct lab_view out[] = {demo_view(s->device + 2, LAB_I32, 1)};
    struct lab_call call = {.in = in, .n_in = 2, .out = out, .n_out = 1};
    return demo_launch(s->d, &call);
}

static enum lab_status add_scalars(struct scalars *s)
{
    struct lab_backend *be = s->d->backend;
    int64_t since = lab_clock_monotonic_ns();
    enum lab_status st =
        step(s, lab_backend_alloc(be, 12, (void **)&s->device), since, 12,
             "1. memory for a, b and c on the device: 12 bytes");
    for (size_t i = 0; i < 3 && !st; i++)
        lab_backend_label(be, s->device, i * sizeof(*s->device),
                          i == 0   ? "a"
                          : i == 1 ? "b"
                                   : "c",
                          true);
    since = lab_clock_monotonic_ns();
    if (!st)
        st = step(s, upload(s), since, 8,
                  "2. copy a = 2 and b = 7 to the device: 8 bytes");
    since = lab_clock_monotonic_ns();
    if (!st)
        st = step(s, launch(s), since, 0,
                  "3. launch the kernel and wait: *c = *a + *b");
    since = lab_clock_monotonic_ns();
    if (!st)
        st = step(s, lab_backend_download(be, &s->host[2], s->device + 2, 4),
                  since, 4, "4. copy c back to the host: 4 bytes");
    return st;
}

static enum lab_status print_sum(const struct scalars *s)
{
    const int32_t *v = s->host;
    json_t *line = lab_json_new("lab_sum");
    lab_json_int(line, "a", v[0]);
    lab_json_int(line, "b", v[1]);
    lab_json_int(line, "c", v[2]);
    enum lab_status st =
        put(s->d, line, "%d + %d = %d\n", (int)v[0], (int)v[1], (int)v[2]);
    if (!st && v[2] != v[0] + v[1])
        st = lab_fail(LAB_E_CHECK, "[demo.sum] the device added wrongly");
    return st;
}

static enum lab_status demo_scalar_add(struct lab_demo *d)
{
    struct scalars s = {.d = d, .host = {2, 7, -1}};
    enum lab_status st = demo_check(d, ADDERS, "threads", "grid or block");
    if (!st)
        st = demo_head(d);
    if (!st)
        st = print_launch(d, -1);
    if (!st)
        st = add_scalars(&s);
    if (!st)
        st = print_sum(&s);
    if (s.device)
        lab_backend_free(d->backend, s.device);
    return st;
}

/* `lab vectors`: the course's vector addition, with its numbers. */

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
    float *a; /* on the host: a, b, c, and a counter */
    float *b;
    float *c;
    int32_t *idle; /* counted by the kernel */
    float *device; /* the same there */
};

static enum lab_status print_pair(const struct vectors *v, int64_t i)
{
    double a = (double)v->a[i];
    double b = (double)v->b[i];
    double c = (double)v->c[i];
    json_t *line = lab_json_new("lab_pair");
    lab_json_int(line, "element", i);
    lab_json_value(line, "a", a);
    lab_json_value(line, "b", b);
    lab_json_value(line, "c", c);
    return put(v->d, line, "%.5f + %.5f = %.5f\n", a, b, c);
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

/* A thread too few leaves elements that no thread computes: NaN, as they
 * began. */
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
    json_t *line = lab_json_new("lab_vectors");
    lab_json_int(line, "elements", v->n);
    lab_json_int(line, "threads", v->d->threads);
    lab_json_int(line, "idle_threads", *v->idle);
    lab_json_int(line, "right", right);
    lab_json_int(line, "without_a_thread", without);
    char more[64] = "";
    if (without)
        snprintf(more, sizeof(more), ", %lld elements have no thread",
                 (long long)without);
    enum lab_status st =
        put(v->d, line,
            "%lld threads for %lld elements: %d idle; %lld sums are right%s\n",
            (long long)v->d->threads, (long long)v->n, (int)*v->idle,
            (long long)right, more);
    if (st)
        return st;
    if (right + missing == v->n && without == missing && *v->idle == spare)
        return LAB_OK;
    return lab_fail(LAB_E_CHECK, "[demo.sums] the device's sums or its idle "
                                 "threads are not what the launch states");
}

/* ---- the work ---- */

static enum lab_status add(struct vectors *v)
{
    struct lab_backend *be = v->d->backend;
    size_t bytes = (3 * (size_t)v->n + 1) * sizeof(float);
    float *at = v->device;
    const struct lab_view in[] = {demo_view(at, LAB_F32, v->n),
                                  demo_view(at + v->n, LAB_F32, v->n)};
    const struct lab_view out[] = {demo_view(at + 2 * v->n, LAB_F32, v->n),
                                   demo_view(at + 3 * v->n, LAB_I32, 1)};
    struct lab_call call = {.in = in, .n_in = 2, .out = out, .n_out = 2};
    enum lab_status st = lab_backend_upload(be, at, v->a, bytes);
    if (!st)
        st = demo_launch(v->d, &call);
    return st ? st : lab_backend_download(be, v->a, at, bytes);
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

static void label(const struct vectors *v)
{
    static const char *const names[] = {"a", "b", "c", "idle"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        lab_backend_label(v->d->backend, v->device,
                          i * (size_t)v->n * sizeof(float), names[i], true);
}

static enum lab_status run(struct vectors *v)
{
    size_t n = 3 * (size_t)v->n + 1;
    v->a = lab_alloc_array(n, sizeof(float));
    if (!v->a)
        return lab_fail(LAB_E_NOMEM, "no memory for %lld elements",
                        (long long)v->n);
    enum lab_status st = lab_backend_alloc(v->d->backend, n * sizeof(float),
                                           (void **)&v->device);
    if (st)
        return st;
    label(v);
    v->b = v->a + v->n;
    v->c = v->b + v->n;
    v->idle = (int32_t *)(void *)(v->c + v->n);
    fill(v);
    st = demo_head(v->d);
    if (!st)
        st = print_launch(v->d, v->n);
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
    const struct lab_options *o = d->options;
    enum lab_status st = LAB_OK;
    v->n = USUAL_ELEMENTS;
    if (o->elements)
        st = lab_demo_number("--elements", o->elements, MOST_ELEMENTS, &v->n);
    int64_t block = lab_first_count(d->launch.block);
    if (!o->grid)
        d->launch.grid[0] = (v->n + block - 1) / block;
    return st ? st : demo_check(d, INT32_MAX, "threads", "grid");
}

static enum lab_status demo_vectors(struct lab_demo *d)
{
    struct vectors v = {.d = d};
    enum lab_status st = make_launch(&v);
    if (!st)
        st = run(&v);
    if (v.device)
        lab_backend_free(d->backend, v.device);
    lab_free(v.a);
    return st;
}

/* `lab index`: which element is a thread's, and a picture of the launch. */

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
    p->digits = snprintf(NULL, 0, "%lld",
                         (long long)(threads * lab_first_count(grid) - 1));
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
            return lab_fail(
                LAB_E_USAGE,
                "[demo.at-number] --at %s: whole numbers in decimal", text);
        at[i] = strtoll(from, &end, 10);
        if (at[i] > INT32_MAX || *end != (i + 1 < n ? ',' : '\0'))
            return lab_fail(LAB_E_USAGE,
                            "[demo.at-count] --at %s: %d whole numbers with "
                            "commas, the block's place and then the thread's",
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
                            "[demo.at-range] --at: %s %lld in %c; there are "
                            "%lld, counted from 0",
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
    json_t *line = lab_json_new("lab_index_run");
    lab_json_int(line, "indices", x->d->threads);
    lab_json_int(line, "of_one_thread", once);
    enum lab_status st =
        put(x->d, line,
            "run: %lld of %lld indices belong to one thread and no other\n",
            (long long)once, (long long)x->d->threads);
    if (st)
        return st;
    return once == x->d->threads
               ? LAB_OK
               : lab_fail(LAB_E_CHECK,
                          "[demo.index-shared] two threads share an index");
}

static enum lab_status count_hits(struct index *x, int32_t *hits, void *device)
{
    struct lab_backend *be = x->d->backend;
    size_t bytes = (size_t)x->d->threads * sizeof(*hits);
    const struct lab_view out = demo_view(device, LAB_I32, x->d->threads);
    struct lab_call call = {.out = &out, .n_out = 1};
    int64_t once = 0;
    memset(hits, 0, bytes);
    enum lab_status st = lab_backend_upload(be, device, hits, bytes);
    if (!st)
        st = demo_launch(x->d, &call);
    if (!st)
        st = lab_backend_download(be, hits, device, bytes);
    for (int64_t i = 0; i < x->d->threads && !st; i++)
        once += hits[i] == 1;
    return st ? st : print_hits(x, once);
}

/* Every thread counts at its index: is the formula right on the device? */
static enum lab_status index_run(struct index *x)
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
    if (!st) {
        lab_backend_label(x->d->backend, device, 0, "hits", true);
        st = count_hits(x, hits, device);
    }
    if (device)
        lab_backend_free(x->d->backend, device);
    lab_free(hits);
    return st;
}

static enum lab_status demo_index(struct lab_demo *d)
{
    struct index x = {.d = d, .elements = -1};
    enum lab_status st = demo_check(d, INT64_MAX, "threads", "grid");
    if (!st && d->options->elements)
        st = lab_demo_number("--elements", d->options->elements, INT64_MAX,
                             &x.elements);
    if (!st)
        st = read_at(&x);
    if (!st)
        st = demo_head(d);
    if (!st)
        st = d->options->json ? print_json(&x) : print_text(&x);
    return st ? st : index_run(&x);
}

/* ---- opening ---- */

static const struct kernel {
    const char *name;
    const char *symbol;
    enum lab_status (*run)(struct lab_demo *d);
    struct lab_first_launch usual;
    int rank; /* of grid and block */
} kernels[] = {
    {"hello", "hello_world", demo_hello, {{10, 1, 1}, {10, 1, 1}}, 1},
    {"scalar_add", "scalar_add", demo_scalar_add, {{1, 1, 1}, {1, 1, 1}}, 1},
    {"vectors", "vector_add", demo_vectors, {{1, 1, 1}, {256, 1, 1}}, 1},
    {"index", "index_hits", demo_index, {{3, 2, 1}, {4, 3, 1}}, 2},
};

enum { KERNELS = sizeof(kernels) / sizeof(kernels[0]) };

static const struct kernel *find(const char *name)
{
    for (int i = 0; name && i < KERNELS; i++) {
        if (strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    }
    return NULL;
}

static enum lab_status read_launch(struct lab_demo *d, const struct kernel *k)
{
    const struct lab_options *o = d->options;
    enum lab_status st = LAB_OK;
    d->launch = k->usual;
    d->grid_rank = d->block_rank = k->rank;
    if (o->grid)
        st = lab_demo_sides("--grid", o->grid, d->launch.grid, &d->grid_rank);
    if (!st && o->block)
        st = lab_demo_sides("--block", o->block, d->launch.block,
                            &d->block_rank);
    return st;
}

static enum lab_status find_variant(struct lab_demo *d)
{
    for (int i = 0;
         (d->variant = lab_backend_variant_at(d->backend, "first", i)); i++) {
        if (strcmp(d->variant->name, d->name) == 0)
            return LAB_OK;
    }
    return lab_fail(LAB_E_NOT_BUILT,
                    "[demo.backend] the backend %s has no kernel %s",
                    d->backend->ops->name, d->name);
}

enum lab_status lab_demo_run(const struct lab_options *o, const char *name)
{
    const struct kernel *k = find(name);
    struct lab_demo d = {.options = o, .name = k->name, .symbol = k->symbol};
    enum lab_status st = read_launch(&d, k);
    if (!st)
        st = lab_backend_open(&d.backend, o->backend, o->device);
    if (!st)
        st = find_variant(&d);
    if (!st) {
        lab_backend_info(d.backend, &d.info);
        st = k->run(&d);
    }
    if (!st)
        st = lab_print_check();
    lab_backend_close(d.backend);
    return st;
}
