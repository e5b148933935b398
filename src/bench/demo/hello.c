/* `lab hello`: a line from every thread; `lab scalar_add`: 2 + 7. */
#include "demo_priv.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "report/json_line.h"
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

static enum lab_status print_line(const struct lab_demo *d, const char *text)
{
    if (!d->options->json) {
        lab_printf(stdout, "%s\n", text);
        return LAB_OK;
    }
    json_t *line = lab_json_new("lab_line");
    lab_json_text(line, "text", text);
    return lab_json_print(line);
}

static enum lab_status print_lines(const struct lab_demo *d, FILE *from,
                                   int64_t *lines)
{
    char text[128];
    enum lab_status st = LAB_OK;
    while (!st && fgets(text, sizeof(text), from)) {
        size_t n = 0;
        while (text[n] && text[n] != '\n')
            n++;
        text[n] = '\0';
        st = print_line(d, text);
        ++*lines;
    }
    return st;
}

static enum lab_status print_count(const struct lab_demo *d, int64_t lines)
{
    int64_t threads = d->threads;
    enum lab_status st = LAB_OK;
    if (d->options->json) {
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

enum lab_status lab_demo_hello(struct lab_demo *d)
{
    struct capture c = {.saved = -1};
    struct lab_call call = {0};
    int64_t lines = 0;
    enum lab_status st = lab_demo_check(d, LINES, "lines", "grid or block");
    if (!st)
        st = lab_demo_head(d);
    if (st)
        return st;
    st = capture_begin(&c);
    if (!st)
        st = lab_demo_launch(d, &call);
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
    int64_t since; /* when the step at hand began */
};

static enum lab_status print_step(struct scalars *s, const char *what,
                                  int bytes)
{
    double us = (double)(lab_clock_monotonic_ns() - s->since) / 1e3;
    if (!s->d->options->json) {
        lab_printf(stdout, "%-52s %9.1f us\n", what, us);
        return LAB_OK;
    }
    json_t *line = lab_json_new("lab_step");
    lab_json_text(line, "step", what);
    lab_json_int(line, "bytes", bytes);
    lab_json_real(line, "ns", us * 1e3);
    return lab_json_print(line);
}

static enum lab_status upload(struct scalars *s)
{
    struct lab_backend *be = s->d->backend;
    s->since = lab_clock_monotonic_ns();
    enum lab_status st = lab_backend_alloc(be, 12, (void **)&s->device);
    if (!st)
        st = print_step(s, "1. memory for a, b and c on the device: 12 bytes",
                        12);
    s->since = lab_clock_monotonic_ns();
    if (!st)
        st = lab_backend_upload(be, s->device, s->host, 8);
    if (!st)
        st = lab_backend_sync(be);
    return st ? st
              : print_step(s, "2. copy a = 2 and b = 7 to the device: 8 bytes",
                           8);
}

static enum lab_status add_and_download(struct scalars *s)
{
    const struct lab_view in[] = {lab_demo_view(s->device, LAB_I32, 1),
                                  lab_demo_view(s->device + 1, LAB_I32, 1)};
    const struct lab_view out[] = {lab_demo_view(s->device + 2, LAB_I32, 1)};
    struct lab_call call = {.in = in, .n_in = 2, .out = out, .n_out = 1};
    s->since = lab_clock_monotonic_ns();
    enum lab_status st = lab_demo_launch(s->d, &call);
    if (!st)
        st = print_step(s, "3. launch the kernel and wait: *c = *a + *b", 0);
    s->since = lab_clock_monotonic_ns();
    if (!st)
        st = lab_backend_download(s->d->backend, &s->host[2], s->device + 2, 4);
    return st ? st : print_step(s, "4. copy c back to the host: 4 bytes", 4);
}

static enum lab_status print_sum(const struct scalars *s)
{
    enum lab_status st = LAB_OK;
    if (s->d->options->json) {
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

enum lab_status lab_demo_scalar_add(struct lab_demo *d)
{
    struct scalars s = {.d = d, .host = {2, 7, -1}};
    enum lab_status st = lab_demo_check(d, ADDERS, "threads", "grid or block");
    if (!st)
        st = lab_demo_head(d);
    if (!st)
        st = upload(&s);
    if (!st)
        st = add_and_download(&s);
    if (!st)
        st = print_sum(&s);
    if (s.device)
        lab_backend_free(d->backend, s.device);
    return st;
}
