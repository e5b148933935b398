/* `lab hello`: a line from every thread; `lab scalar_add`: 2 + 7. */
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "report/json_line.h"
#include "bench/lab_first.h"
#include "report/print.h"

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
        return lab_fail(LAB_E_IO, "cannot make a temporary file for the "
                                  "kernel's output");
    c->saved = dup(STDOUT_FILENO);
    if (c->saved >= 0 && dup2(fileno(c->file), STDOUT_FILENO) >= 0)
        return LAB_OK;
    return lab_fail(LAB_E_IO, "cannot catch the kernel's output");
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

static enum lab_status show_line(const struct lab_first *f, const char *text)
{
    if (!f->options->json) {
        lab_printf(stdout, "%s\n", text);
        return LAB_OK;
    }
    json_t *line = lab_json_new("lab_line");
    lab_json_text(line, "text", text);
    return lab_json_print(line);
}

static enum lab_status show_lines(const struct lab_first *f, FILE *from,
                                  int64_t *lines)
{
    char text[128];
    enum lab_status st = LAB_OK;
    while (!st && fgets(text, sizeof(text), from)) {
        size_t n = 0;
        while (text[n] && text[n] != '\n')
            n++;
        text[n] = '\0';
        st = show_line(f, text);
        ++*lines;
    }
    return st;
}

static enum lab_status tell_lines(const struct lab_first *f, int64_t threads,
                                  int64_t lines)
{
    enum lab_status st = LAB_OK;
    if (f->options->json) {
        json_t *line = lab_json_new("lab_lines");
        lab_json_int(line, "threads", threads);
        lab_json_int(line, "lines", lines);
        st = lab_json_print(line);
    } else {
        lab_printf(stdout, "%lld threads, %lld lines\n", (long long)threads,
                   (long long)lines);
    }
    if (!st && lines != threads)
        st = lab_fail(LAB_E_CHECK, "%lld threads printed %lld lines",
                      (long long)threads, (long long)lines);
    return st;
}

enum lab_status lab_first_do_hello(struct lab_first *f)
{
    struct capture c = {.saved = -1};
    struct lab_call call = {0};
    int64_t lines = 0;
    enum lab_status st = lab_first_check(f);
    if (st)
        return st;
    int64_t block = lab_first_count(f->launch.block);
    int64_t threads = 0;
    if (__builtin_mul_overflow(lab_first_count(f->launch.grid), block,
                               &threads) ||
        threads > LINES)
        return lab_fail(LAB_E_USAGE,
                        "more than %d lines: take a smaller grid or block",
                        LINES);
    st = lab_first_head(f);
    if (!st)
        st = capture_begin(&c);
    if (!st)
        st = lab_first_launch_it(f, &call);
    capture_end(&c);
    if (!st)
        st = show_lines(f, c.file, &lines);
    if (!st)
        st = tell_lines(f, threads, lines);
    if (c.file)
        fclose(c.file);
    return st;
}

/* ---- scalar_add ---- */

enum { ADDERS = 1 << 24 }; /* threads that all write the same sum */

struct scalars {
    struct lab_first *f;
    int32_t *device; /* a, b, c */
    int32_t host[3];
    int64_t since; /* when the step at hand began */
};

static enum lab_status tell_step(struct scalars *s, const char *what, int bytes)
{
    double us = (double)(lab_clock_monotonic_ns() - s->since) / 1e3;
    if (!s->f->options->json) {
        lab_printf(stdout, "%-52s %9.1f us\n", what, us);
        return LAB_OK;
    }
    json_t *line = lab_json_new("lab_step");
    lab_json_text(line, "step", what);
    lab_json_int(line, "bytes", bytes);
    lab_json_real(line, "ns", us * 1e3);
    return lab_json_print(line);
}

static struct lab_view one_int(int32_t *at)
{
    return (struct lab_view){
        .data = at, .dtype = LAB_I32, .rank = 1, .dim = {1}, .count = 1};
}

static enum lab_status there(struct scalars *s)
{
    struct lab_backend *be = s->f->backend;
    s->since = lab_clock_monotonic_ns();
    enum lab_status st = lab_backend_alloc(be, 12, (void **)&s->device);
    if (!st)
        st = tell_step(s, "1. memory for a, b and c on the device: 12 bytes",
                       12);
    s->since = lab_clock_monotonic_ns();
    if (!st)
        st = lab_backend_upload(be, s->device, s->host, 8);
    if (!st)
        st = lab_backend_sync(be);
    return st ? st
              : tell_step(s, "2. copy a = 2 and b = 7 to the device: 8 bytes",
                          8);
}

static enum lab_status add_and_back(struct scalars *s)
{
    const struct lab_view in[] = {one_int(s->device), one_int(s->device + 1)};
    const struct lab_view out[] = {one_int(s->device + 2)};
    struct lab_call call = {.in = in, .n_in = 2, .out = out, .n_out = 1};
    s->since = lab_clock_monotonic_ns();
    enum lab_status st = lab_first_launch_it(s->f, &call);
    if (!st)
        st = tell_step(s, "3. launch the kernel and wait: *c = *a + *b", 0);
    s->since = lab_clock_monotonic_ns();
    if (!st)
        st = lab_backend_download(s->f->backend, &s->host[2], s->device + 2, 4);
    return st ? st : tell_step(s, "4. copy c back to the host: 4 bytes", 4);
}

static enum lab_status tell_sum(const struct scalars *s)
{
    enum lab_status st = LAB_OK;
    if (s->f->options->json) {
        json_t *line = lab_json_new("lab_sum");
        lab_json_int(line, "a", s->host[0]);
        lab_json_int(line, "b", s->host[1]);
        lab_json_int(line, "c", s->host[2]);
        st = lab_json_print(line);
    } else {
        lab_printf(stdout, "%d + %d = %d\n", (int)s->host[0], (int)s->host[1],
                   (int)s->host[2]);
    }
    if (!st && s->host[2] != s->host[0] + s->host[1])
        st = lab_fail(LAB_E_CHECK, "the device added wrongly");
    return st;
}

enum lab_status lab_first_do_scalar_add(struct lab_first *f)
{
    struct scalars s = {.f = f, .host = {2, 7, -1}};
    int64_t threads = 0;
    enum lab_status st = lab_first_check(f);
    if (st)
        return st;
    if (__builtin_mul_overflow(lab_first_count(f->launch.grid),
                               lab_first_count(f->launch.block), &threads) ||
        threads > ADDERS)
        return lab_fail(LAB_E_USAGE,
                        "more than %d threads: take a smaller grid or block",
                        ADDERS);
    st = lab_first_head(f);
    if (!st)
        st = there(&s);
    if (!st)
        st = add_and_back(&s);
    if (!st)
        st = tell_sum(&s);
    if (s.device)
        lab_backend_free(f->backend, s.device);
    return st;
}
