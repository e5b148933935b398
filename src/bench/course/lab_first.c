/* The first kernels: which one, where it runs, and with which launch. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_line.h"
#include "labs/cpu_rungs.h"
#include "bench/lab_first.h"
#include "lesson/catalog.h"
#include "bench/course_commands.h"
#include "report/print.h"

struct kernel {
    const char *name;
    const char *symbol; /* as the source has it */
    enum lab_status (*run)(struct lab_first *f);
    struct lab_first_launch usual;
    int grid_rank;
    int block_rank;
};

static const struct kernel kernels[] = {
    {"hello",
     "hello_world",
     lab_first_do_hello,
     {{10, 1, 1}, {10, 1, 1}},
     1,
     1},
    {"scalar_add",
     "scalar_add",
     lab_first_do_scalar_add,
     {{1, 1, 1}, {1, 1, 1}},
     1,
     1},
    {"vectors",
     "vector_add",
     lab_first_do_vectors,
     {{1, 1, 1}, {256, 1, 1}},
     1,
     1},
    {"index", "index_hits", lab_first_do_index, {{3, 2, 1}, {4, 3, 1}}, 2, 2},
};

enum { KERNELS = sizeof(kernels) / sizeof(kernels[0]) };

const char *lab_first_name(int i)
{
    return i >= 0 && i < KERNELS ? kernels[i].name : NULL;
}

static const struct kernel *find(const char *name)
{
    for (int i = 0; i < KERNELS; i++) {
        if (strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    }
    return NULL;
}

bool lab_first_is(const char *name)
{
    return name && find(name);
}

enum lab_status lab_first_list(bool json)
{
    const struct lab_rung *first;
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
    return st;
}

bool lab_first_of(const char *name, char *kernel, size_t size)
{
    struct lab_lesson *lesson = NULL;
    const char *meant = lab_first_is(name) ? name : NULL;
    if (!meant && !lab_lesson_open(&lesson, name) &&
        lesson->kind == LAB_LESSON_LAB && lab_first_is(lesson->lab.ladder))
        meant = lesson->lab.ladder;
    snprintf(kernel, size, "%s", meant ? meant : "");
    lab_lesson_free(lesson);
    return meant != NULL;
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

enum lab_status lab_first_sides(const char *option, const char *text,
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

enum lab_status lab_first_number(const char *option, const char *text,
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

void lab_first_sides_text(struct lab_str *out, const int64_t *dim, int rank)
{
    for (int i = 0; i < rank; i++)
        lab_str_addf(out, "%s%lld", i ? "x" : "", (long long)dim[i]);
}

/* ---- running ---- */

static enum lab_status run_as(struct lab_first *f, lab_kernel_fn *run,
                              struct lab_call *call)
{
    const struct lab_variant variant = {.name = f->name, .run = run};
    call->params = &f->launch;
    return lab_backend_run(f->backend, &variant, call);
}

enum lab_status lab_first_check(struct lab_first *f)
{
    struct lab_call call = {0};
    return run_as(f, f->rung->prepare, &call);
}

enum lab_status lab_first_launch_it(struct lab_first *f, struct lab_call *call)
{
    enum lab_status st = run_as(f, f->rung->run, call);
    return st ? st : lab_backend_sync(f->backend);
}

static enum lab_status head_json(const struct lab_first *f)
{
    json_t *line = lab_json_new("lab_launch");
    lab_json_text(line, "lab", f->name);
    lab_json_text(line, "kernel", find(f->name)->symbol);
    lab_json_text(line, "source", f->rung->source);
    lab_json_text(line, "backend", f->backend->ops->name);
    lab_json_text(line, "device", f->info.name);
    lab_json_bool(line, "emulated", f->backend->host_memory);
    lab_json_ints(line, "grid", f->launch.grid, 3);
    lab_json_ints(line, "block", f->launch.block, 3);
    lab_json_int(line, "threads",
                 lab_first_count(f->launch.grid) *
                     lab_first_count(f->launch.block));
    return lab_json_print(line);
}

enum lab_status lab_first_head(const struct lab_first *f)
{
    int64_t blocks = lab_first_count(f->launch.grid);
    int64_t threads = lab_first_count(f->launch.block);
    struct lab_str text;
    if (f->options->json)
        return head_json(f);
    lab_str_init(&text);
    lab_str_addf(&text, "%s<<<", find(f->name)->symbol);
    lab_first_sides_text(&text, f->launch.grid, f->grid_rank);
    lab_str_add(&text, ", ");
    lab_first_sides_text(&text, f->launch.block, f->block_rank);
    lab_str_addf(&text, ">>>: %lld block%s of %lld thread%s, on %s (%s)\n",
                 (long long)blocks, blocks == 1 ? "" : "s", (long long)threads,
                 threads == 1 ? "" : "s", f->info.name, f->backend->ops->name);
    if (f->backend->host_memory)
        lab_str_add(&text, "no GPU is used: the launch is acted out on one "
                           "thread of the CPU\n");
    enum lab_status st =
        text.failed ? lab_fail(LAB_E_NOMEM, "no memory for a line") : LAB_OK;
    if (!st)
        lab_printf(stdout, "%s", lab_str_text(&text));
    lab_str_release(&text);
    return st;
}

/* ---- opening ---- */

static enum lab_status read_launch(struct lab_first *f, const struct kernel *k)
{
    const struct lab_bench_options *o = f->options;
    enum lab_status st = LAB_OK;
    f->launch = k->usual;
    f->grid_rank = k->grid_rank;
    f->block_rank = k->block_rank;
    if (o->grid)
        st = lab_first_sides("--grid", o->grid, f->launch.grid, &f->grid_rank);
    if (!st && o->block)
        st = lab_first_sides("--block", o->block, f->launch.block,
                             &f->block_rank);
    return st;
}

static enum lab_status open_backend(struct lab_first *f)
{
    const char *name = f->options->backend;
    int device = f->options->device;
    if (strcmp(name, "auto") != 0)
        return lab_backend_open(&f->backend, name, device);
    if (!lab_backend_open(&f->backend, "cuda", device))
        return LAB_OK;
    return lab_backend_open(&f->backend, "cpu", 0);
}

static enum lab_status find_rung(struct lab_first *f)
{
    for (int i = 0; (f->rung = lab_backend_rung(f->backend, "first", i)); i++) {
        if (strcmp(f->rung->name, f->name) == 0)
            return LAB_OK;
    }
    return lab_fail(LAB_E_NOT_BUILT, "the backend %s has no kernel %s",
                    f->backend->ops->name, f->name);
}

enum lab_status lab_first_run(const struct lab_bench_options *o,
                              const char *name)
{
    const struct kernel *k = find(name);
    struct lab_first f = {.options = o, .name = k->name};
    enum lab_status st = read_launch(&f, k);
    if (!st)
        st = open_backend(&f);
    if (!st)
        st = find_rung(&f);
    if (!st) {
        lab_backend_info(f.backend, &f.info);
        st = k->run(&f);
    }
    if (!st && fflush(stdout))
        st = lab_fail(LAB_E_IO, "cannot write");
    lab_backend_close(f.backend);
    return st;
}
