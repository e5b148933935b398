/* What each sweep measures of a lesson, and its table and chart. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "bench/bench.h"
#include "report/print.h"
#include "base/signals.h"
#include "sweep_priv.h"
#include "report/text_table.h"

enum { ITERATIONS = 32, BAR = 40 };

static int64_t iterations_of(const struct lab_sweep *s)
{
    return s->options->repeat ? s->options->repeat : ITERATIONS;
}

static struct lab_sweep_point point_of(const struct lab_sweep *s,
                                       const struct lab_network_spec *spec,
                                       const char *backend)
{
    return (struct lab_sweep_point){.spec = spec,
                                    .backend = backend,
                                    .device = s->options->device,
                                    .iterations = iterations_of(s)};
}

/* ---- measuring ---- */

static enum lab_status sweep_batches(struct lab_sweep *s,
                                     const struct lab_lesson *l)
{
    struct lab_sweep_point p = point_of(s, &l->spec, s->backends[0]);
    int64_t own = 0;
    enum lab_status st = lab_sweep_own_batch(&p, &own);
    p.samples = own * p.iterations;
    for (int i = 0; i < s->n_sizes && !st && !lab_signals_caught(); i++) {
        struct lab_sweep_result r;
        p.batch = s->sizes[i];
        lab_sweep_speed(&p, &r);
        struct lab_sweep_row row = lab_sweep_row_of(l->id, p.backend, &r);
        row.x = (double)s->sizes[i];
        st = lab_sweep_take(s, &row, &r);
    }
    return st;
}

static enum lab_status sweep_widths(struct lab_sweep *s,
                                    const struct lab_lesson *l)
{
    struct lab_network_spec wide;
    enum lab_status st = LAB_OK;
    struct lab_node_spec *nodes =
        lab_alloc_array((size_t)l->spec.n_nodes + 1, sizeof(*nodes));
    if (!nodes)
        return lab_fail(LAB_E_NOMEM, "no memory for a wider network");
    if (lab_sweep_widen(&l->spec, 1, nodes, &wide) == 0)
        st = lab_fail(LAB_E_USAGE, "%s has no hidden layer to widen", l->id);
    for (int i = 0; i < s->n_sizes && !st; i++) {
        lab_sweep_widen(&l->spec, s->sizes[i], nodes, &wide);
        for (int b = 0; b < s->n_backends && !st && !lab_signals_caught();
             b++) {
            struct lab_sweep_point p = point_of(s, &wide, s->backends[b]);
            struct lab_sweep_result r;
            lab_sweep_speed(&p, &r);
            struct lab_sweep_row row = lab_sweep_row_of(l->id, p.backend, &r);
            row.x = (double)s->sizes[i];
            st = lab_sweep_take(s, &row, &r);
        }
    }
    lab_free(nodes);
    return st;
}

static enum lab_status take_part(struct lab_sweep *s, const char *lesson,
                                 const char *name, double ns, double flop,
                                 const struct lab_sweep_result *r)
{
    struct lab_sweep_row row = lab_sweep_row_of(lesson, s->backends[0], r);
    row.name = name;
    row.median_ns = ns;
    row.quarter_ns = row.three_quarters_ns = NAN;
    row.flop = flop;
    row.share = ns / r->median_ns;
    return lab_sweep_take(s, &row, r);
}

static enum lab_status sweep_parts(struct lab_sweep *s,
                                   const struct lab_lesson *l)
{
    struct lab_sweep_point p = point_of(s, &l->spec, s->backends[0]);
    struct lab_sweep_result r;
    lab_sweep_steps(&p, &r);
    if (s->kind == LAB_SWEEP_PRODUCTS) {
        enum lab_status st =
            take_part(s, l->id, "products", r.product_ns, r.product_flop, &r);
        return st ? st
                  : take_part(s, l->id, "the rest", r.median_ns - r.product_ns,
                              r.flop - r.product_flop, &r);
    }
    const double *ns = r.phase_ns;
    const double *flop = r.phase_flop;
    enum lab_status st =
        take_part(s, l->id, "forward", ns[LAB_FORWARD] + ns[LAB_LOSS],
                  flop[LAB_FORWARD] + flop[LAB_LOSS], &r);
    if (!st)
        st = take_part(s, l->id, "backward", ns[LAB_BACKWARD],
                       flop[LAB_BACKWARD], &r);
    return st ? st
              : take_part(s, l->id, "update", ns[LAB_UPDATE], flop[LAB_UPDATE],
                          &r);
}

enum lab_status lab_sweep_lesson(struct lab_sweep *s,
                                 const struct lab_lesson *lesson)
{
    switch (s->kind) {
    case LAB_SWEEP_BATCH:
        return sweep_batches(s, lesson);
    case LAB_SWEEP_NETWORK:
        return sweep_widths(s, lesson);
    default:
        return sweep_parts(s, lesson);
    }
}

/* ---- tables ---- */

static void add_bytes(struct lab_text_table *t, int64_t bytes)
{
    if (bytes == LAB_UNKNOWN)
        lab_text_table_add(t, NULL);
    else
        lab_text_table_addf(t, "%.4g MiB", (double)bytes / 1048576);
}

/* A bar as long as v is of `most`. */
static void add_bar(struct lab_text_table *t, double v, double most)
{
    char bar[3 * BAR + 1] = "";
    int n = most > 0 && v > 0 ? (int)lround(v / most * BAR) : 0;
    for (int i = 0; i < n && i < BAR; i++)
        strcat(bar, lab_print_is_ascii() ? "#" : "\u2588");
    lab_text_table_add(t, bar);
}

static double fastest(const struct lab_sweep *s)
{
    double most = 0;
    for (int i = 0; i < s->n_rows; i++)
        most = fmax(most, s->rows[i].row.samples_per_s);
    return most;
}

static void batch_rows(const struct lab_sweep *s, struct lab_text_table *t)
{
    double first = NAN;
    for (int i = 0; i < s->n_rows; i++) {
        const struct lab_sweep_row *r = &s->rows[i].row;
        if (isnan(first))
            first = r->samples_per_s;
        lab_text_table_addf(t, "%.0f", r->x);
        lab_text_table_add_real_ns(t, r->median_ns);
        lab_text_table_add_real(t, r->samples_per_s, 4);
        lab_text_table_add_times(t, r->samples_per_s / first);
        add_bytes(t, r->memory_bytes);
        lab_text_table_add_real(t, r->loss, 4);
        lab_text_table_add_real(t, r->loss_iterations, 4);
        add_bar(t, r->samples_per_s, fastest(s));
    }
}

/* The row of the same width on the other backend; NULL: none. */
static const struct lab_sweep_row *other(const struct lab_sweep *s, int i)
{
    for (int k = 0; k < s->n_rows; k++) {
        if (k != i && s->rows[k].row.x == s->rows[i].row.x)
            return &s->rows[k].row;
    }
    return NULL;
}

static void width_rows(const struct lab_sweep *s, struct lab_text_table *t)
{
    for (int i = 0; i < s->n_rows; i++) {
        const struct lab_sweep_row *r = &s->rows[i].row;
        const struct lab_sweep_row *o = other(s, i);
        lab_text_table_addf(t, "%.0f", r->x);
        lab_text_table_add(t, r->backend);
        lab_text_table_add_int(t, r->parameters);
        lab_text_table_add_real(t, r->flop / 1e6, 4);
        lab_text_table_add_real_ns(t, r->median_ns);
        lab_text_table_add_real(t, r->flop / r->median_ns, 4);
        add_bytes(t, r->memory_bytes);
        lab_text_table_add_times(t, o ? o->median_ns / r->median_ns : NAN);
        add_bar(t, r->samples_per_s, fastest(s));
    }
}

static void part_rows(const struct lab_sweep *s, struct lab_text_table *t)
{
    for (int i = 0; i < s->n_rows; i++) {
        const struct lab_sweep_row *r = &s->rows[i].row;
        const struct lab_sweep_result *all = &s->rows[i].result;
        lab_text_table_add(t, r->lesson);
        lab_text_table_add(t, r->name);
        lab_text_table_add_real_ns(t, r->median_ns);
        lab_text_table_add_share(t, r->share);
        lab_text_table_add_share(t, r->flop / all->flop);
        lab_text_table_add_real(t, r->flop / r->median_ns, 4);
        add_bar(t, r->share, 1);
    }
}

/* ---- what a table says ---- */

static void say_crossover(const struct lab_sweep *s)
{
    for (int i = 0; i < s->n_rows; i++) {
        const struct lab_sweep_row *r = &s->rows[i].row;
        const struct lab_sweep_row *o = other(s, i);
        bool gpu = strcmp(r->backend, "cuda") == 0;
        if (!gpu || !o || !(r->median_ns < o->median_ns))
            continue;
        lab_printf(stdout,
                   "from width %.0f on the GPU is the faster one: %.2f times, "
                   "%lld parameters\n",
                   r->x, o->median_ns / r->median_ns, (long long)r->parameters);
        return;
    }
    lab_printf(stdout, s->n_backends == 2
                           ? "the GPU is nowhere the faster one\n"
                           : "no GPU and CPU to compare: the crossover needs "
                             "both\n");
}

static void say_backward(const struct lab_sweep *s)
{
    for (int i = 0; i + 1 < s->n_rows; i++) {
        const struct lab_sweep_row *f = &s->rows[i].row;
        const struct lab_sweep_row *b = &s->rows[i + 1].row;
        if (s->rows[i].result.status || strcmp(f->name, "forward") != 0)
            continue;
        lab_printf(stdout,
                   "%s: backward takes %.2f times as long as forward, for %.2f "
                   "times the operations\n",
                   f->lesson, b->median_ns / f->median_ns, b->flop / f->flop);
    }
}

static void say_reasons(const struct lab_sweep *s)
{
    for (int i = 0; i < s->n_rows; i++) {
        const struct lab_sweep_row *r = &s->rows[i].row;
        bool told = i > 0 && r->name &&
                    strcmp(r->lesson, s->rows[i - 1].row.lesson) == 0;
        if (!r->reason || told)
            continue;
        if (r->name)
            lab_printf(stdout, "  %s: %s\n", r->lesson, r->reason);
        else
            lab_printf(stdout, "  %.0f on %s: %s\n", r->x, r->backend,
                       r->reason);
    }
}

static void say_head(const struct lab_sweep *s)
{
    const struct lab_sweep_result *r = &s->rows[0].result;
    if (s->recorded) {
        lab_printf(stdout, "\nrecorded on %s, run %lld: %lld iterations each\n",
                   r->device.name, (long long)s->run,
                   (long long)s->rows[0].row.iterations);
        return;
    }
    lab_printf(stdout, "%s of %s on %s (%s): %lld iterations each\n",
               lab_sweep_name(s->kind),
               s->lesson_id ? s->lesson_id : "all lessons",
               r->device.name[0] ? r->device.name : "this device",
               s->backends[0], (long long)iterations_of(s));
    if (s->kind >= LAB_SWEEP_PRODUCTS)
        lab_printf(stdout, "times of the steps: %s\n",
                   r->time_source == LAB_TIME_CUPTI ? "their kernels', by CUPTI"
                   : r->time_source == LAB_TIME_CUDA_EVENTS
                       ? "between two CUDA events, some microseconds too long"
                       : "the processor's clock");
    if (s->kind == LAB_SWEEP_BATCH)
        lab_printf(
            stdout,
            "losses of %s, after as many samples and after as many "
            "iterations as the lesson's batch sees; memory of the tensors\n",
            r->held_back ? "the held-back rows" : "the last batch");
}

enum lab_status lab_sweep_print(const struct lab_sweep *s)
{
    static const char *const heads[LAB_SWEEP_KINDS][10] = {
        {">batch", ">iteration", ">samples/s", ">gain", ">memory",
         ">loss (samples)", ">loss (iterations)", "samples/s"},
        {">width", "on", ">parameters", ">MFLOP", ">iteration", ">GFLOP/s",
         ">memory", ">over the other", "samples/s"},
        {"lesson", "part", ">time", ">of time", ">of FLOP", ">GFLOP/s",
         "of time"},
        {"lesson", "part", ">time", ">of time", ">of FLOP", ">GFLOP/s",
         "of time"},
    };
    struct lab_text_table t;
    struct lab_str text;
    if (s->n_rows == 0)
        return LAB_OK;
    lab_str_init(&text);
    lab_text_table_init(&t, heads[s->kind]);
    if (s->kind == LAB_SWEEP_BATCH)
        batch_rows(s, &t);
    else if (s->kind == LAB_SWEEP_NETWORK)
        width_rows(s, &t);
    else
        part_rows(s, &t);
    enum lab_status st = lab_text_table_format(&t, &text);
    if (!st) {
        say_head(s);
        if (lab_print_is_ascii())
            lab_table_make_ascii(&text);
        fputs(lab_str_text(&text), stdout);
        if (s->kind == LAB_SWEEP_NETWORK && !s->recorded)
            say_crossover(s);
        if (s->kind == LAB_SWEEP_BACKWARD)
            say_backward(s);
        say_reasons(s);
        if (fflush(stdout))
            st = lab_fail(LAB_E_IO, "cannot write");
    }
    lab_text_table_release(&t);
    lab_str_release(&text);
    return st;
}
