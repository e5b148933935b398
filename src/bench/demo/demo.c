/* The demonstrations of `lapenna-lab lab`: which there are, and those of one
 * kernel from their launch to their end. */
#include "demo_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "labs/cpu_rungs.h"
#include "lesson/catalog.h"
#include "report/json_line.h"
#include "report/print.h"

static const struct kernel {
    const char *name;
    const char *symbol;
    enum lab_status (*run)(struct lab_demo *d);
    struct lab_first_launch usual;
    int rank; /* of grid and block */
} kernels[] = {
    {"hello", "hello_world", lab_demo_hello, {{10, 1, 1}, {10, 1, 1}}, 1},
    {"scalar_add",
     "scalar_add",
     lab_demo_scalar_add,
     {{1, 1, 1}, {1, 1, 1}},
     1},
    {"vectors", "vector_add", lab_demo_vectors, {{1, 1, 1}, {256, 1, 1}}, 1},
    {"index", "index_hits", lab_demo_index, {{3, 2, 1}, {4, 3, 1}}, 2},
};

enum { KERNELS = sizeof(kernels) / sizeof(kernels[0]) };

/* With options of their own, where they have a command here. */
static const struct {
    const char *word;
    const char *takes;
    const char *text;
    int (*run)(int argc, char **argv);
} words[] = {
    {"offsets", "NxCxHxW", "where an element of an image tensor lies",
     lab_demo_cmd_offsets},
    {"gflops", "N", "the rate of a square product against its size",
     lab_demo_cmd_gflops},
    {"calls", "NxCxHxWxKxR", "cuDNN's calls of one convolution",
     lab_demo_cmd_calls}, /* conv --calls, without the conv */
    {"tune", "OPERATION", "keeps the fastest candidate of a tuned rung", NULL},
    {"batch-size", "LESSON", "a lesson at several batches", NULL},
    {"network-size", "LESSON", "a lesson at several widths", NULL},
    {"products", "LESSON", "the part of matrix products", NULL},
    {"backward", "LESSON", "forward, backward and update", NULL},
};

/* ---- which there are ---- */

const char *lab_demo_name(int i)
{
    return i >= 0 && i < KERNELS ? kernels[i].name : NULL;
}

static const struct kernel *find(const char *name)
{
    for (int i = 0; name && i < KERNELS; i++) {
        if (strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    }
    return NULL;
}

bool lab_demo_is(const char *name)
{
    return find(name) != NULL;
}

enum lab_status lab_demo_list(bool json)
{
    const struct lab_variant *first;
    enum lab_status st = LAB_OK;
    for (int i = 0; !st && (first = lab_cpu_rung("first", i)); i++) {
        if (!json) {
            lab_printf(stdout, LAB_BENCH_LINE, first->name, "one kernel",
                       first->idea);
            continue;
        }
        json_t *line = lab_json_new("operation");
        lab_json_text(line, "lab", first->name);
        lab_json_text(line, "title", first->idea);
        lab_json_text(line, "shape", NULL);
        lab_json_text(line, "unit", NULL);
        st = lab_json_print(line);
    }
    for (size_t i = 0; !json && i < sizeof(words) / sizeof(words[0]); i++)
        lab_printf(stdout, LAB_BENCH_LINE, words[i].word, words[i].takes,
                   words[i].text);
    return st;
}

bool lab_demo_of(const char *name, char *kernel, size_t size)
{
    struct lab_lesson *lesson = NULL;
    const char *meant = lab_demo_is(name) ? name : NULL;
    if (!meant && !lab_lesson_open(&lesson, name) &&
        lesson->kind == LAB_LESSON_LAB && lab_demo_is(lesson->lab.ladder))
        meant = lesson->lab.ladder;
    snprintf(kernel, size, "%s", meant ? meant : "");
    lab_lesson_free(lesson);
    return meant != NULL;
}

bool lab_demo_word(int argc, char **argv, int *code)
{
    const char *word = argc > 1 ? argv[1] : "";
    for (int i = 2; i < argc && strcmp(argv[1], "conv") == 0; i++)
        if (strcmp(argv[i], "--calls") == 0)
            word = "calls";
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (words[i].run && strcmp(word, words[i].word) == 0) {
            *code = words[i].run(argc - 1, argv + 1);
            return true;
        }
    }
    return false;
}

/* ---- numbers ---- */

static enum lab_status no_number(const char *option, const char *text,
                                 const char *why)
{
    return lab_fail(LAB_E_USAGE, "%s %s: %s", option, text, why);
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
        return lab_fail(LAB_E_USAGE, "%s %s: at most %lld", option, text,
                        (long long)most);
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

enum lab_status lab_demo_check(struct lab_demo *d, int64_t most,
                               const char *things, const char *part)
{
    struct lab_call call = {0};
    enum lab_status st = run_as(d, d->rung->prepare, &call);
    if (st)
        return st;
    bool over =
        __builtin_mul_overflow(lab_first_count(d->launch.grid),
                               lab_first_count(d->launch.block), &d->threads);
    if (over && most == INT64_MAX)
        return lab_fail(LAB_E_USAGE,
                        "more %s than can be counted: take a "
                        "smaller %s",
                        things, part);
    if (over || d->threads > most)
        return lab_fail(LAB_E_USAGE, "more than %lld %s: take a smaller %s",
                        (long long)most, things, part);
    return LAB_OK;
}

enum lab_status lab_demo_launch(struct lab_demo *d, struct lab_call *call)
{
    enum lab_status st = run_as(d, d->rung->run, call);
    return st ? st : lab_backend_sync(d->backend);
}

struct lab_view lab_demo_view(void *at, enum lab_dtype dtype, int64_t n)
{
    return (struct lab_view){
        .data = at, .dtype = dtype, .rank = 1, .dim = {n}, .count = n};
}

static enum lab_status head_json(const struct lab_demo *d)
{
    json_t *line = lab_json_new("lab_launch");
    lab_json_text(line, "lab", d->name);
    lab_json_text(line, "kernel", d->symbol);
    lab_json_text(line, "source", d->rung->source);
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

enum lab_status lab_demo_head(const struct lab_demo *d)
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
        lab_str_add(&text, "no GPU is used: the launch is acted out on one "
                           "thread of the CPU\n");
    enum lab_status st = lab_str_check(&text, "a line");
    if (!st)
        lab_printf(stdout, "%s", lab_str_text(&text));
    lab_str_release(&text);
    return st;
}

/* ---- opening ---- */

static enum lab_status read_launch(struct lab_demo *d, const struct kernel *k)
{
    const struct lab_bench_options *o = d->options;
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

static enum lab_status open_backend(struct lab_demo *d)
{
    const char *name = d->options->backend;
    int device = d->options->device;
    if (strcmp(name, "auto") != 0)
        return lab_backend_open(&d->backend, name, device);
    if (!lab_backend_open(&d->backend, "cuda", device))
        return LAB_OK;
    return lab_backend_open(&d->backend, "cpu", 0);
}

static enum lab_status find_rung(struct lab_demo *d)
{
    for (int i = 0; (d->rung = lab_backend_rung(d->backend, "first", i)); i++) {
        if (strcmp(d->rung->name, d->name) == 0)
            return LAB_OK;
    }
    return lab_fail(LAB_E_NOT_BUILT, "the backend %s has no kernel %s",
                    d->backend->ops->name, d->name);
}

enum lab_status lab_demo_run(const struct lab_bench_options *o,
                             const char *name)
{
    const struct kernel *k = find(name);
    struct lab_demo d = {.options = o, .name = k->name, .symbol = k->symbol};
    enum lab_status st = read_launch(&d, k);
    if (!st)
        st = open_backend(&d);
    if (!st)
        st = find_rung(&d);
    if (!st) {
        lab_backend_info(d.backend, &d.info);
        st = k->run(&d);
    }
    if (!st && fflush(stdout))
        st = lab_fail(LAB_E_IO, "cannot write");
    lab_backend_close(d.backend);
    return st;
}
