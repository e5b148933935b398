/* lapenna-lab lab batch-size|network-size|products|backward: a lesson's network
 * trained for a moment at several sizes, at speed or step by step, as a table, a
 * chart and JSON Lines, and as a run. Each point runs the variants that a `run` of
 * that network would, measured first where that is new, and has their names. */
#include "bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"

#include "base/format.h"
#include "base/mem.h"
#include "base/quantile.h"
#include "base/signals.h"
#include "engine/data.h"
#include "engine/setup.h"
#include "store/row_fields.h"
#include "debug/kept_times.h"
#include "debug/lesson_run.h"
#include "lesson/catalog.h"
#include "report/exit.h"
#include "report/json_line.h"
#include "report/print.h"
#include "report/suggest.h"
#include "report/text_table.h"
#include "store/query.h"
#include "trace/intern.h"
#include "engine/walk.h"
#include "lesson/lesson.h"

const char *lab_sweep_name(enum lab_sweep_kind kind)
{
    return lab_measure_name((enum lab_measure)(LAB_MEASURE_BATCH + (int)kind));
}

/* What is trained. */
struct lab_sweep_point {
    const struct lab_network_spec *spec;
    const struct lab_options *options;
    struct lab_kept_times *times; /* of variants */
    const char *where;            /* they are measured: at each of 5 sizes */
    struct lab_str *warned;       /* lines, each printed once */
    /* The options' choices; of several lessons optional. */
    const struct lab_variant_choice *choices;
    const char *backend;
    int64_t batch;      /* 0: the lesson's */
    int64_t iterations; /* that are timed, after a warm-up */
    int64_t samples;    /* the loss is also taken after so many; 0: not */
};

/* The parts of an iteration: its phases, and the matrix products in them. */
enum { PRODUCT = LAB_PHASE_COUNT, PARTS };

/* What came of it: the row that is stored, and what else is shown. */
struct lab_sweep_result {
    /* Lesson, name and x are the caller's; texts the lesson's, or interned. */
    struct lab_sweep_row row;
    enum lab_status status;
    char reason[LAB_LADDER_TEXT];
    char id[LAB_ERROR_ID_BYTES]; /* of the reason */
    struct lab_device_info device;
    bool opened; /* the network was, and these are known: */
    enum lab_variants_from variants_from; /* the row has both names, too */
    char variants[LAB_VARIANTS_TEXT];
    bool held_back;     /* the losses are of held-back rows */
    double lesson_flop; /* of all parts of an iteration */
    /* sweep_steps() only: medians of an iteration's parts. */
    enum lab_time_source time_source;
    double ns[PARTS];
    double flop[PARTS];
};

/* ---- one point: the network is opened, trained for a moment and closed ---- */

enum {
    WARM_UP = 3,  /* iterations that are not timed */
    BUDGET_S = 20 /* of one point; fewer iterations are timed then */
};

static void init(struct lab_sweep_result *r, const struct lab_sweep_point *p)
{
    *r = (struct lab_sweep_result){.status = LAB_OK};
    lab_fields_clear(&lab_sweep_row_fields, &r->row);
    r->row.backend = p->backend;
    r->row.samples = p->batch > 0 ? p->batch : LAB_UNKNOWN;
    for (int i = 0; i < PARTS; i++)
        r->ns[i] = r->flop[i] = NAN;
}

static void fail(struct lab_sweep_result *r, enum lab_status st)
{
    r->status = st;
    snprintf(r->reason, sizeof(r->reason), "%s", lab_error());
    snprintf(r->id, sizeof(r->id), "%s", lab_error_id());
}

/* Prints the lines that no point before has printed. */
static void warn_once(struct lab_str *warned, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        struct lab_str line;
        lab_str_init(&line);
        lab_str_addf(&line, "\n%.*s\n", (int)n, text);
        if (!strstr(lab_str_text(warned), lab_str_text(&line))) {
            lab_warn("%.*s", (int)n, text);
            lab_str_add(warned, lab_str_text(&line));
        }
        lab_str_release(&line);
        text += n + (text[n] == '\n');
    }
}

static enum lab_status open_network(const struct lab_sweep_point *p,
                                    struct lab_walk **walk,
                                    struct lab_plan **plan,
                                    struct lab_sweep_result *r)
{
    struct lab_str notice;
    struct lab_setup setup = {
        .spec = p->spec,
        .backend = p->backend,
        .device = p->options->device,
        .batch = p->batch,
        .stop = {lab_signals_asked, NULL},
        .choices = p->choices,
        .n_choices = p->options->n_choices,
        .tune = lab_kept_times_keeper(p->times, p->options, true, p->where)};
    lab_str_init(&notice);
    enum lab_status st = lab_setup_open(&setup, walk, plan, &notice);
    lab_kept_times_opened(p->times);
    warn_once(p->warned, lab_str_text(&notice));
    lab_str_release(&notice);
    if (st)
        return st;
    lab_kept_times_store(p->times);
    r->opened = true;
    r->variants_from = lab_variants_from(p->spec, p->options, *walk);
    lab_variants_text(*walk, r->variants);
    lab_backend_info(lab_walk_backend(*walk), &r->device);
    r->row.samples = (*plan)->batch;
    r->row.memory_bytes = (int64_t)(*plan)->arena_bytes;
    r->row.parameters = (*plan)->parameter_count;
    r->row.flop = 0;
    for (int i = 0; i < (*plan)->n_steps; i++)
        r->row.flop += (*plan)->steps[i].flop;
    return LAB_OK;
}

/* Of the lesson, without another one. */
static enum lab_status own_batch(const struct lab_network_spec *spec,
                                 int64_t *out)
{
    struct lab_data *data = NULL;
    struct lab_data_shapes shapes;
    enum lab_status st = lab_data_open(&data, spec, NULL, 0, NULL);
    if (st)
        return st;
    lab_data_get_shapes(data, &shapes);
    *out = shapes.batch;
    lab_data_free(data);
    return LAB_OK;
}

/* ---- at speed ---- */

struct speed {
    const struct lab_sweep_point *p;
    struct lab_walk *walk;
    struct lab_sweep_result *r;
    double *ns;
    int64_t n;
    int64_t done;           /* iterations */
    int64_t needed_samples; /* iterations for as many samples; 0: none */
    double last_loss;
    int64_t start_ns;
};

static void take_progress(struct speed *s)
{
    struct lab_iteration_progress now;
    while (lab_walk_poll(s->walk, &now)) {
        s->last_loss = now.loss;
        if (now.iteration >= WARM_UP && s->n < s->p->iterations)
            s->ns[s->n++] = (double)(now.end_ns - now.start_ns);
    }
}

/* Of the rows that were held back, where there are some: a training batch's
 * loss depends on which rows it drew. */
static enum lab_status take_loss(struct speed *s, double *out)
{
    double accuracy = NAN;
    double loss = NAN;
    enum lab_status st = lab_walk_drain(s->walk);
    if (!st)
        take_progress(s);
    if (!st)
        st = lab_walk_evaluate(s->walk, &accuracy, &loss);
    s->r->held_back = !isnan(loss);
    *out = isnan(loss) ? s->last_loss : loss;
    return st;
}

static bool over(const struct speed *s)
{
    int64_t spent = lab_clock_monotonic_ns() - s->start_ns;
    return spent > (int64_t)BUDGET_S * 1000000000 || lab_signals_caught() != 0;
}

static enum lab_status train(struct speed *s)
{
    int64_t timed = s->p->iterations + WARM_UP;
    int64_t target = s->needed_samples > timed ? s->needed_samples : timed;
    enum lab_status st = LAB_OK;
    while (!st && s->done < target && !over(s)) {
        st = lab_walk_iterate(s->walk);
        s->done++;
        if (!st)
            take_progress(s);
        if (!st && s->done == s->p->iterations)
            st = take_loss(s, &s->r->row.loss_iterations);
        if (!st && s->done == s->needed_samples)
            st = take_loss(s, &s->r->row.loss);
    }
    if (!st)
        st = lab_walk_drain(s->walk);
    take_progress(s);
    return st;
}

static void summarize(struct speed *s)
{
    struct lab_sweep_result *r = s->r;
    lab_sort_reals(s->ns, (size_t)s->n);
    r->row.iterations = s->n;
    r->row.median_ns = lab_quantile(s->ns, (size_t)s->n, 0.5);
    r->row.quarter_ns = lab_quantile(s->ns, (size_t)s->n, 0.25);
    r->row.three_quarters_ns = lab_quantile(s->ns, (size_t)s->n, 0.75);
    r->row.samples_per_s = (double)r->row.samples / (r->row.median_ns / 1e9);
    if (s->n > 0 && s->n == s->p->iterations)
        return;
    if (s->n == 0) {
        fail(r, lab_fail(LAB_E_CANCELLED, "no iteration was timed within %d s",
                         BUDGET_S));
        return;
    }
    snprintf(r->reason, sizeof(r->reason),
             "stopped after %d s: %lld of %lld iterations were timed", BUDGET_S,
             (long long)s->n, (long long)s->p->iterations);
}

static void sweep_speed(const struct lab_sweep_point *p,
                        struct lab_sweep_result *out)
{
    struct lab_plan *plan = NULL;
    struct speed s = {.p = p, .r = out, .last_loss = NAN};
    init(out, p);
    s.ns = lab_alloc_array((size_t)p->iterations, sizeof(*s.ns));
    enum lab_status st =
        s.ns ? open_network(p, &s.walk, &plan, out) : lab_no_memory("times");
    if (!st) {
        s.needed_samples =
            (p->samples + out->row.samples - 1) / out->row.samples;
        s.start_ns = lab_clock_monotonic_ns();
        st = train(&s);
    }
    if (st)
        fail(out, st);
    else
        summarize(&s);
    lab_walk_free(s.walk);
    lab_plan_free(plan);
    lab_free(s.ns);
}

/* ---- step by step ---- */

/* Is the step a matrix product, or a group with one in it? */
static bool is_product(const struct lab_step *step)
{
    static const char *const products[][2] = {
        {"dense", "matmul"},
        {"conv2d", "conv"},
        {"attention", "q"},
        {"attention", "k"},
        {"attention", "v"},
        {"attention", "output"},
        {"attention", "scores"},
        {"attention", "context"},
        {"scaled_dot_attention", "scores"},
        {"scaled_dot_attention", "context"},
        {"bahdanau_attention", "u"},
        {"bahdanau_attention", "e"},
        {"bahdanau_attention", "context"},
        {"rnn", "sum"},
        {"rnn", "weights"},
        {"lstm", "input"},
        {"lstm", "gates"},
        {"lstm", "weights"},
    };
    for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
        bool op = strcmp(step->op->name, products[i][0]) == 0;
        if (op && (step->group || !step->kernel ||
                   strcmp(step->kernel, products[i][1]) == 0))
            return step->phase != LAB_UPDATE && step->flop > 0;
    }
    return false;
}

struct parts {
    const struct lab_sweep_point *p;
    double *ns[PARTS]; /* of each iteration */
    double flop[PARTS];
    double now[PARTS]; /* of the iteration at hand */
    int64_t n;
    int64_t start_ns;
    bool first;
    /* On a GPU, where CUPTI can be had: a step's time is that of its kernels,
     * without what lies between them. Else it is closed. */
    struct lab_kernel_watch watch;
};

static void add_time(struct parts *t, const struct lab_step *step, double ns)
{
    t->now[step->phase] += ns;
    if (t->first)
        t->flop[step->phase] += step->flop;
    if (!is_product(step))
        return;
    t->now[PRODUCT] += ns;
    if (t->first)
        t->flop[PRODUCT] += step->flop;
}

/* ---- by the clock, or by CUDA events ---- */

static void step_begin(void *user, const struct lab_step_event *e)
{
    (void)e;
    ((struct parts *)user)->start_ns = lab_clock_monotonic_ns();
}

static void step_end(void *user, const struct lab_step_event *e)
{
    struct parts *t = user;
    double ns = (double)(lab_clock_monotonic_ns() - t->start_ns);
    if (e->device_ns != LAB_EVENT_NO_TIME)
        ns = (double)e->device_ns;
    add_time(t, e->step, ns);
}

/* ---- by CUPTI ---- */

/* Before the backend is opened. What cannot be traced is timed by events. */
static void open_trace(struct parts *t)
{
    if (strcmp(t->p->backend, "cuda") == 0)
        lab_kernel_watch_open(&t->watch, t->p->backend, NULL);
}

/* The kernels of the iteration that has run. */
static enum lab_status take_kernels(struct lab_walk *w, struct parts *t)
{
    const struct lab_schedule *s = lab_walk_schedule(w);
    enum lab_status st = lab_walk_sync(w);
    if (!st)
        st = lab_profiler_flush(t->watch.profiler);
    for (int i = 0; i < s->n_steps && !st; i++) {
        struct lab_step_record r;
        bool there = lab_live_step(t->watch.live, i, &r);
        /* A step without kernels, as a flatten, takes no time. */
        double ns = there && r.time_ns != LAB_UNKNOWN ? (double)r.time_ns : 0;
        add_time(t, s->steps[i].step, ns);
    }
    return st;
}

/* ---- both ---- */

static enum lab_status walk_iteration(struct lab_walk *w, struct parts *t)
{
    memset(t->now, 0, sizeof(t->now));
    enum lab_status st = lab_walk_step(w);
    while (!st && !lab_walk_at_end(w))
        st = lab_walk_step(w);
    if (!st && t->watch.profiler)
        st = take_kernels(w, t);
    t->first = false;
    return st;
}

static void observe(struct lab_walk *w, struct parts *t)
{
    struct lab_observer observer = {
        .user = t, .step_begin = step_begin, .step_end = step_end};
    bool gpu = !lab_walk_backend(w)->host_memory;
    t->first = true;
    if (t->watch.profiler) {
        lab_profiler_observer(t->watch.profiler, &observer);
        observer.synced = NULL; /* records are fetched once an iteration */
    }
    lab_walk_time_with_events(w, gpu && !t->watch.profiler);
    lab_walk_observe(w, &observer);
}

static enum lab_status walk_all(struct lab_walk *w, struct parts *t)
{
    int64_t began = lab_clock_monotonic_ns();
    enum lab_status st = LAB_OK;
    observe(w, t);
    lab_walk_run_begin(w, "parts");
    for (int64_t i = 0; i < t->p->iterations + WARM_UP && !st; i++) {
        int64_t spent = lab_clock_monotonic_ns() - began;
        bool enough = spent > (int64_t)BUDGET_S * 1000000000 && t->n > 0;
        if (enough || lab_signals_caught())
            break;
        st = walk_iteration(w, t);
        if (st || i < WARM_UP)
            continue;
        for (int k = 0; k < PARTS; k++)
            t->ns[k][t->n] = t->now[k];
        t->n++;
    }
    lab_walk_run_end(w);
    return st;
}

static void summarize_parts(struct parts *t, struct lab_sweep_result *r)
{
    if (t->n == 0) {
        fail(r, lab_fail(LAB_E_CANCELLED, "no iteration was timed"));
        return;
    }
    r->row.median_ns = 0;
    for (int k = 0; k < PARTS; k++) {
        r->ns[k] = lab_median(t->ns[k], (size_t)t->n);
        r->flop[k] = t->flop[k];
        r->row.median_ns += k == PRODUCT ? 0 : r->ns[k];
    }
    r->row.iterations = t->n;
    r->row.samples_per_s = (double)r->row.samples / (r->row.median_ns / 1e9);
}

static void sweep_steps(const struct lab_sweep_point *p,
                        struct lab_sweep_result *out)
{
    struct lab_walk *walk = NULL;
    struct lab_plan *plan = NULL;
    struct parts t = {.p = p};
    size_t n = (size_t)p->iterations;
    enum lab_status st = LAB_OK;
    init(out, p);
    double *all = lab_alloc_array(n * PARTS, sizeof(*all));
    for (size_t k = 0; k < PARTS && all; k++)
        t.ns[k] = all + k * n;
    if (all)
        open_trace(&t);
    st = all ? open_network(p, &walk, &plan, out) : lab_no_memory("times");
    if (!st)
        st = walk_all(walk, &t);
    bool gpu = walk && !lab_walk_backend(walk)->host_memory;
    out->time_source = t.watch.profiler ? LAB_TIME_CUPTI
                       : gpu            ? LAB_TIME_CUDA_EVENTS
                                        : LAB_TIME_CPU_CLOCK;
    if (st)
        fail(out, st);
    else
        summarize_parts(&t, out);
    lab_kernel_watch_close(&t.watch);
    lab_walk_free(walk);
    lab_plan_free(plan);
    lab_free(all);
}

/* ---- wider ---- */

/* The key of a layer's width; -1: it has none. */
static int width_key(const struct lab_node_spec *n)
{
    int units = lab_op_key(n->op, "units");
    return units >= 0 ? units : lab_op_key(n->op, "filters");
}

static int sweep_widen(const struct lab_network_spec *spec, int64_t factor,
                       struct lab_node_spec *nodes,
                       struct lab_network_spec *out)
{
    int last = -1;
    int n = 0;
    *out = *spec;
    out->nodes = nodes;
    out->n_parameters = 0; /* written ones have the old shapes */
    for (int i = 0; i < spec->n_nodes; i++) {
        nodes[i] = spec->nodes[i];
        if (width_key(&nodes[i]) >= 0)
            last = i; /* makes the result: its width is the data's */
    }
    for (int i = 0; i < last; i++) {
        int key = width_key(&nodes[i]);
        if (key < 0)
            continue;
        nodes[i].attr[key].i *= factor;
        n++;
    }
    return n;
}

/* ---- a sweep ---- */

enum { ROWS = 512, ITERATIONS = 32, BAR = 40, SHORT_BAR = 10, WIDE = 108 };
enum { WHERE_BYTES = 48 };

struct sweep {
    const struct lab_options *options;
    enum lab_sweep_kind kind;
    const char *lesson_id; /* NULL: several lessons */
    const char *backends[2];
    int n_backends;
    int64_t sizes[LAB_BENCH_SIZES];
    int n_sizes;
    struct lab_sweep_result rows[ROWS];
    int n_rows;
    int measured;
    bool tried_to_record;
    struct lab_writer *writer;
    struct lab_database *db;
    int64_t run;
    bool recorded; /* the rows are of a run elsewhere, `run` */
    enum lab_variants_from recorded_from; /* the variants of that run */
    struct lab_kept_times *times;
    struct lab_variant_choice choices[LAB_MAX_OPTION_CHOICES];
    char where[WHERE_BYTES];
    struct lab_str warned; /* what the setup of the networks has reported */
};

static const struct lab_sweep_row *row_at(const struct sweep *s, int i)
{
    return &s->rows[i].row;
}

/* ---- recording ---- */

/* Of the rows so far: measured where one of them is, else as the first one that was
 * opened. NULL: none was. */
static const char *run_variants_from(const struct sweep *s)
{
    const struct lab_sweep_result *found = NULL;
    for (int i = 0; i < s->n_rows; i++) {
        const struct lab_sweep_result *r = &s->rows[i];
        bool first = !found && r->opened;
        if (first || (r->opened && r->variants_from == LAB_VARIANTS_MEASURED))
            found = r;
    }
    return found ? lab_variants_from_name(found->variants_from) : NULL;
}

static enum lab_status open_run(struct sweep *s,
                                const struct lab_device_info *device)
{
    const char *name = lab_sweep_name(s->kind);
    struct lab_run_info info;
    lab_run_info_init(&info);
    info.row.lesson = s->lesson_id ? s->lesson_id : name;
    info.row.title = name;
    info.row.backend = s->backends[0];
    info.row.precision = "fp32";
    info.row.counters = "off";
    info.row.variants_from = run_variants_from(s);
    return lab_bench_writer_open(s->options, &info, device, &s->writer, &s->db,
                                 &s->run);
}

/* The usual place is a convenience, --db a demand. */
static enum lab_status record(struct sweep *s,
                              const struct lab_device_info *device,
                              const struct lab_sweep_row *row)
{
    enum lab_status st = LAB_OK;
    if (!s->tried_to_record) {
        s->tried_to_record = true;
        st = open_run(s, device);
    }
    if (!st && s->run)
        st = lab_sweep_row_add(s->db, s->run, row);
    if (!st || s->options->db)
        return st;
    lab_warn("the sweep is not recorded: %s", lab_error());
    s->run = 0;
    return LAB_OK;
}

static bool same_variants(const struct lab_sweep_result *a,
                          const struct lab_sweep_result *b)
{
    return a->opened && b->opened && a->variants_from == b->variants_from &&
           strcmp(a->row.backend, b->row.backend) == 0 &&
           strcmp(a->variants, b->variants) == 0;
}

/* Does the row have variants that no row before it has? */
static bool begins_variants(const struct sweep *s, int i)
{
    bool begins = s->rows[i].opened;
    for (int k = 0; k < i; k++)
        begins = begins && !same_variants(&s->rows[k], &s->rows[i]);
    return begins;
}

/* The sizes from row i on that ran the same variants, "4, 16 on cpu". */
static void add_sizes(const struct sweep *s, int i, struct lab_str *out)
{
    for (int k = i; k < s->n_rows; k++)
        if (same_variants(&s->rows[i], &s->rows[k]))
            lab_str_addf(out, "%s%.0f", k > i ? ", " : "", row_at(s, k)->x);
    if (s->n_backends > 1)
        lab_str_addf(out, " on %s", row_at(s, i)->backend);
}

/* What the run's row has of one lesson: "fc1=vector", "4, 16: fc1=vector; ...". */
static void add_run_variants(const struct sweep *s, struct lab_str *out)
{
    for (int i = 0; i < s->n_rows; i++) {
        if (!begins_variants(s, i) || !s->rows[i].variants[0])
            continue;
        lab_str_add(out, out->len ? "; " : "");
        if (s->kind <= LAB_SWEEP_NETWORK) {
            add_sizes(s, i, out);
            lab_str_add(out, ": ");
        }
        lab_str_add(out, s->rows[i].variants);
    }
}

static void end_run(struct sweep *s, enum lab_status st)
{
    struct lab_run_summary summary;
    struct lab_str variants;
    lab_str_init(&variants);
    if (s->lesson_id)
        add_run_variants(s, &variants);
    lab_run_summary_init(&summary);
    summary.status =
        lab_signals_caught() ? LAB_RUN_CANCELLED : lab_run_ended(st);
    summary.variants = lab_str_text(&variants);
    summary.variants_from = run_variants_from(s);
    lab_bench_writer_close(s->writer, s->db, &summary);
    lab_str_release(&variants);
}

/* ---- rows ---- */

static enum lab_status print_json(const struct lab_sweep_result *r)
{
    return lab_json_print(lab_json_fields(lab_json_new("sweep_row"),
                                          &lab_sweep_row_fields, &r->row));
}

/* Stores the row, prints it where lines are JSON, and keeps it. */
static enum lab_status take(struct sweep *s, const char *lesson,
                            const struct lab_sweep_result *r)
{
    if (s->n_rows == ROWS)
        return lab_fail(LAB_E_RANGE, "[sweep.rows] a sweep has at most %d rows",
                        ROWS);
    struct lab_sweep_result *kept = &s->rows[s->n_rows];
    *kept = *r;
    struct lab_sweep_row *row = &kept->row;
    row->lesson = lesson;
    row->place = s->n_rows++;
    row->sweep = lab_sweep_name(s->kind);
    row->status = lab_status_text(r->status);
    row->reason = r->reason[0] ? kept->reason : NULL;
    if (r->opened) {
        row->variants = kept->variants;
        row->variants_from = lab_variants_from_name(r->variants_from);
    }
    enum lab_status st = record(s, &r->device, row);
    if (!st && s->options->json)
        st = print_json(kept);
    s->measured += !r->status;
    return st;
}

static int64_t iterations_of(const struct sweep *s)
{
    return s->options->repeat ? s->options->repeat : ITERATIONS;
}

static struct lab_sweep_point point_of(struct sweep *s,
                                       const struct lab_network_spec *spec,
                                       const char *backend)
{
    return (struct lab_sweep_point){.spec = spec,
                                    .options = s->options,
                                    .times = s->times,
                                    .where = s->where,
                                    .warned = &s->warned,
                                    .choices = s->choices,
                                    .backend = backend,
                                    .iterations = iterations_of(s)};
}

/* ---- measuring ---- */

static enum lab_status sweep_batches(struct sweep *s,
                                     const struct lab_lesson *l)
{
    struct lab_sweep_point p = point_of(s, &l->spec, s->backends[0]);
    int64_t own = 0;
    enum lab_status st = own_batch(p.spec, &own);
    p.samples = own * p.iterations;
    for (int i = 0; i < s->n_sizes && !st && !lab_signals_caught(); i++) {
        struct lab_sweep_result r;
        p.batch = s->sizes[i];
        sweep_speed(&p, &r);
        r.row.x = (double)s->sizes[i];
        st = take(s, l->id, &r);
    }
    return st;
}

static enum lab_status sweep_widths(struct sweep *s, const struct lab_lesson *l)
{
    struct lab_network_spec wide;
    enum lab_status st = LAB_OK;
    struct lab_node_spec *nodes =
        lab_alloc_array((size_t)l->spec.n_nodes + 1, sizeof(*nodes));
    if (!nodes)
        return lab_no_memory("a wider network");
    if (sweep_widen(&l->spec, 1, nodes, &wide) == 0)
        st = lab_fail(LAB_E_USAGE,
                      "[sweep.no-hidden] %s has no hidden layer to widen",
                      l->id);
    for (int i = 0; i < s->n_sizes && !st; i++) {
        sweep_widen(&l->spec, s->sizes[i], nodes, &wide);
        for (int b = 0; b < s->n_backends && !st && !lab_signals_caught();
             b++) {
            struct lab_sweep_point p = point_of(s, &wide, s->backends[b]);
            struct lab_sweep_result r;
            sweep_speed(&p, &r);
            r.row.x = (double)s->sizes[i];
            st = take(s, l->id, &r);
        }
    }
    lab_free(nodes);
    return st;
}

static enum lab_status sweep_parts(struct sweep *s, const struct lab_lesson *l)
{
    struct lab_sweep_point p = point_of(s, &l->spec, s->backends[0]);
    struct lab_sweep_result all;
    sweep_steps(&p, &all);
    const double *ns = all.ns;
    const double *flop = all.flop;
    const struct {
        enum lab_sweep_kind kind;
        const char *name;
        double ns;
        double flop;
    } parts[] = {
        {LAB_SWEEP_PRODUCTS, "products", ns[PRODUCT], flop[PRODUCT]},
        {LAB_SWEEP_PRODUCTS, "the rest", all.row.median_ns - ns[PRODUCT],
         all.row.flop - flop[PRODUCT]},
        {LAB_SWEEP_BACKWARD, "forward", ns[LAB_FORWARD] + ns[LAB_LOSS],
         flop[LAB_FORWARD] + flop[LAB_LOSS]},
        {LAB_SWEEP_BACKWARD, "backward", ns[LAB_BACKWARD], flop[LAB_BACKWARD]},
        {LAB_SWEEP_BACKWARD, "update", ns[LAB_UPDATE], flop[LAB_UPDATE]}};
    enum lab_status st = LAB_OK;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]) && !st; i++) {
        struct lab_sweep_result r = all;
        r.lesson_flop = all.row.flop;
        r.row.name = parts[i].name;
        r.row.median_ns = parts[i].ns;
        r.row.flop = parts[i].flop;
        r.row.share = parts[i].ns / all.row.median_ns;
        if (parts[i].kind == s->kind)
            st = take(s, l->id, &r);
    }
    return st;
}

static enum lab_status measure_lesson(struct sweep *s,
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
    lab_text_table_add(t, LAB_BYTES_TEXT(lab_to_real(bytes)));
}

/* A bar as long as v is of `most`; a short one beside the numbers of a narrow
 * terminal. */
static void add_bar(struct lab_text_table *t, double v, double most)
{
    char bar[3 * BAR + 1] = "";
    size_t columns = lab_print_columns();
    int whole = columns > 0 && columns < WIDE ? SHORT_BAR : BAR;
    int n = most > 0 && v > 0 ? (int)lround(v / most * whole) : 0;
    for (int i = 0; i < n && i < whole; i++)
        strcat(bar, lab_print_is_ascii() ? "#" : "\u2588");
    lab_text_table_add(t, bar);
}

static double fastest(const struct sweep *s)
{
    double most = 0;
    for (int i = 0; i < s->n_rows; i++)
        most = fmax(most, row_at(s, i)->samples_per_s);
    return most;
}

static void batch_rows(const struct sweep *s, struct lab_text_table *t)
{
    double first = NAN;
    for (int i = 0; i < s->n_rows; i++) {
        const struct lab_sweep_row *r = row_at(s, i);
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
static const struct lab_sweep_row *other(const struct sweep *s, int i)
{
    for (int k = 0; k < s->n_rows; k++) {
        if (k != i && row_at(s, k)->x == row_at(s, i)->x)
            return row_at(s, k);
    }
    return NULL;
}

/* Some width was measured on both. */
static bool has_others(const struct sweep *s)
{
    for (int i = 0; i < s->n_rows; i++)
        if (other(s, i))
            return true;
    return false;
}

static void width_rows(const struct sweep *s, struct lab_text_table *t)
{
    bool both = has_others(s);
    for (int i = 0; i < s->n_rows; i++) {
        const struct lab_sweep_row *r = row_at(s, i);
        const struct lab_sweep_row *o = other(s, i);
        lab_text_table_addf(t, "%.0f", r->x);
        lab_text_table_add(t, r->backend);
        lab_text_table_add_int(t, r->parameters);
        lab_text_table_add_real(t, r->flop / 1e6, 4);
        lab_text_table_add_real_ns(t, r->median_ns);
        lab_text_table_add_real(t, r->flop / r->median_ns, 4);
        add_bytes(t, r->memory_bytes);
        if (both)
            lab_text_table_add_times(t, o ? o->median_ns / r->median_ns : NAN);
        add_bar(t, r->samples_per_s, fastest(s));
    }
}

static void part_rows(const struct sweep *s, struct lab_text_table *t)
{
    for (int i = 0; i < s->n_rows; i++) {
        const struct lab_sweep_row *r = row_at(s, i);
        lab_text_table_add(t, r->lesson);
        lab_text_table_add(t, r->name);
        lab_text_table_add_real_ns(t, r->median_ns);
        lab_text_table_add_share(t, r->share);
        lab_text_table_add_share(t, r->flop / s->rows[i].lesson_flop);
        lab_text_table_add_real(t, r->flop / r->median_ns, 4);
        add_bar(t, r->share, 1);
    }
}

/* Forward, backward and update of a lesson follow one another. */
static bool begins_lesson(const struct sweep *s, int i)
{
    return i + 2 < s->n_rows && strcmp(row_at(s, i)->name, "forward") == 0;
}

/* All lessons: a row for each, which has what print_backward() has in words. */
static void lesson_rows(const struct sweep *s, struct lab_text_table *t)
{
    double most = 0;
    for (int i = 0; i < s->n_rows; i++)
        if (begins_lesson(s, i))
            most = fmax(most,
                        row_at(s, i + 1)->median_ns / row_at(s, i)->median_ns);
    for (int i = 0; i < s->n_rows; i++) {
        if (!begins_lesson(s, i))
            continue;
        const struct lab_sweep_row *f = row_at(s, i);
        const struct lab_sweep_row *b = row_at(s, i + 1);
        lab_text_table_add(t, f->lesson);
        for (int k = i; k < i + 3; k++)
            lab_text_table_add_real_ns(t, row_at(s, k)->median_ns);
        lab_text_table_add_times(t, b->median_ns / f->median_ns);
        lab_text_table_add_times(t, b->flop / f->flop);
        add_bar(t, b->median_ns / f->median_ns, most);
    }
}

/* ---- what a table shows, in words ---- */

static const char neither[] =
    "no GPU and CPU to compare: the crossover needs both\n";

/* A CPU alone is compared with the recorded GPU below. */
static void print_crossover(const struct sweep *s)
{
    if (s->n_backends == 1 && strcmp(s->backends[0], "cpu") == 0)
        return;
    for (int i = 0; i < s->n_rows; i++) {
        const struct lab_sweep_row *r = row_at(s, i);
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
    lab_printf(stdout, "%s",
               s->n_backends == 2 ? "the GPU is nowhere the faster one\n"
                                  : neither);
}

/* The CPU's rows of this machine and those of a recorded GPU: a line for each
 * width that both have. */
static enum lab_status print_against(const struct sweep *here,
                                     const struct sweep *gpu)
{
    int lines = 0;
    lab_print_wrap(lab_print_columns(), 2);
    for (int i = 0; i < here->n_rows; i++)
        for (int k = 0; k < gpu->n_rows; k++) {
            double cpu_ns = row_at(here, i)->median_ns;
            double gpu_ns = row_at(gpu, k)->median_ns;
            bool cpu = cpu_ns < gpu_ns;
            if (row_at(here, i)->x != row_at(gpu, k)->x || isnan(cpu_ns) ||
                isnan(gpu_ns))
                continue;
            lab_printf(stdout,
                       "width %.0f: %s on this CPU, %s on that GPU: the %s is "
                       "%.2f times as fast\n",
                       row_at(here, i)->x, LAB_NS_TEXT(cpu_ns),
                       LAB_NS_TEXT(gpu_ns), cpu ? "CPU" : "GPU",
                       cpu ? gpu_ns / cpu_ns : cpu_ns / gpu_ns);
            lines++;
        }
    if (lines == 0)
        lab_printf(stdout, "%s", neither);
    lab_print_wrap(0, 0);
    return lab_print_check();
}

static void print_backward(const struct sweep *s)
{
    for (int i = 0; i + 1 < s->n_rows; i++) {
        const struct lab_sweep_row *f = row_at(s, i);
        const struct lab_sweep_row *b = row_at(s, i + 1);
        if (s->rows[i].status || strcmp(f->name, "forward") != 0)
            continue;
        lab_printf(stdout,
                   "%s: backward takes %.2f times as long as forward with the "
                   "loss, for %.2f times the operations\n",
                   f->lesson, b->median_ns / f->median_ns, b->flop / f->flop);
    }
}

static void print_reasons(const struct sweep *s)
{
    for (int i = 0; i < s->n_rows; i++) {
        const struct lab_sweep_row *r = row_at(s, i);
        bool printed = i > 0 && r->name &&
                       strcmp(r->lesson, row_at(s, i - 1)->lesson) == 0;
        if (!r->reason || printed)
            continue;
        if (r->name)
            lab_printf(stdout, "  %s: %s\n", r->lesson, r->reason);
        else
            lab_printf(stdout, "  %.0f on %s: %s\n", r->x, r->backend,
                       r->reason);
    }
}

static void print_chosen(const struct lab_options *o)
{
    for (int i = 0; i < o->n_choices; i++)
        lab_printf(stdout, "%s%s=%s",
                   i ? " " : "chosen: ", o->choices[i].target,
                   o->choices[i].variant);
    if (o->n_choices > 0)
        lab_printf(stdout, "\n");
}

/* One lesson: a line for each choice of variants, with the sizes that ran it. */
static void print_variants(const struct sweep *s)
{
    for (int i = 0; i < s->n_rows; i++) {
        const struct lab_sweep_result *r = &s->rows[i];
        struct lab_str sizes;
        if (!begins_variants(s, i))
            continue;
        lab_str_init(&sizes);
        if (s->kind <= LAB_SWEEP_NETWORK)
            add_sizes(s, i, &sizes);
        lab_printf(stdout, "variants%s%s: %s; forward: %s\n",
                   sizes.len ? " at " : "", lab_str_text(&sizes),
                   lab_variants_from_text(r->variants_from),
                   r->variants[0] ? r->variants : "naive");
        lab_str_release(&sizes);
    }
}

/* Several lessons: how many of each. */
static void print_variants_of_all(const struct sweep *s)
{
    int n[LAB_VARIANTS_CHOSEN + 1] = {0};
    const char *before = "variants: ";
    for (int i = 0; i < s->n_rows; i++) {
        bool new = i == 0 ||
                   strcmp(row_at(s, i)->lesson, row_at(s, i - 1)->lesson) != 0;
        if (new && s->rows[i].opened)
            n[s->rows[i].variants_from]++;
    }
    for (int i = 0; i <= LAB_VARIANTS_CHOSEN; i++) {
        if (n[i] == 0)
            continue;
        lab_printf(stdout, "%s%s in %d lesson%s", before,
                   lab_variants_from_text((enum lab_variants_from)i), n[i],
                   n[i] == 1 ? "" : "s");
        before = ", ";
    }
    if (before[0] == ',')
        lab_printf(stdout, "\n");
}

static void print_head(const struct sweep *s)
{
    const struct lab_sweep_result *r = &s->rows[0];
    if (s->recorded) {
        lab_printf(stdout,
                   "\nrecorded on %s, run %lld: %lld iterations each\n"
                   "variants of that run: %s\n",
                   r->device.name, (long long)s->run,
                   (long long)row_at(s, 0)->iterations,
                   lab_variants_from_text(s->recorded_from));
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

static enum lab_status print_sweep(const struct sweep *s)
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
    static const char *const alone[] = {">width",  "on",         ">parameters",
                                        ">MFLOP",  ">iteration", ">GFLOP/s",
                                        ">memory", "samples/s",  NULL};
    static const char *const lessons[] = {
        "lesson",        ">forward", ">backward",    ">update",
        ">by forward's", ">of FLOP", "by forward's", NULL};
    struct lab_text_table t;
    if (s->n_rows == 0)
        return LAB_OK;
    bool all = s->kind == LAB_SWEEP_BACKWARD && !s->lesson_id;
    bool one = s->kind == LAB_SWEEP_NETWORK && !has_others(s);
    lab_text_table_init(&t, all ? lessons : one ? alone : heads[s->kind]);
    if (s->kind == LAB_SWEEP_BATCH)
        batch_rows(s, &t);
    else if (s->kind == LAB_SWEEP_NETWORK)
        width_rows(s, &t);
    else if (all)
        lesson_rows(s, &t);
    else
        part_rows(s, &t);
    lab_print_wrap(lab_print_columns(), 2);
    print_head(s);
    lab_print_wrap(0, 0);
    enum lab_status st = lab_text_table_put(&t, "");
    if (st)
        return st;
    lab_print_wrap(lab_print_columns(), 2);
    if (!s->recorded)
        print_chosen(s->options);
    if (s->lesson_id) /* of a recorded one where its rows have them */
        print_variants(s);
    else
        print_variants_of_all(s);
    if (s->kind == LAB_SWEEP_NETWORK && !s->recorded)
        print_crossover(s);
    if (s->kind == LAB_SWEEP_BACKWARD && !all)
        print_backward(s);
    print_reasons(s);
    lab_print_wrap(0, 0);
    return lab_print_check();
}

/* ---- recorded elsewhere ---- */

static const char *keep(const char *text)
{
    return text ? lab_intern_text(lab_intern(text)) : NULL;
}

static bool take_recorded(void *user, const struct lab_sweep_row *row)
{
    struct sweep *s = user;
    const char *lesson = row->lesson ? row->lesson : "";
    if ((s->lesson_id && strcmp(lesson, s->lesson_id)) || s->n_rows == ROWS)
        return true;
    struct lab_sweep_result *r = &s->rows[s->n_rows++];
    r->row = *row;
    r->status = row->reason ? LAB_E_STATE : LAB_OK;
    r->row.lesson = keep(lesson);
    r->row.name = keep(row->name);
    r->row.reason = keep(row->reason);
    r->row.backend =
        row->backend && !strcmp(row->backend, "cpu") ? "cpu" : "cuda";
    r->row.variants_from = keep(row->variants_from);
    r->row.variants = keep(row->variants);
    r->opened = row->variants != NULL;
    r->variants_from = lab_variants_from_find(row->variants_from);
    snprintf(r->variants, sizeof(r->variants), "%s",
             row->variants ? row->variants : "");
    return true;
}

static bool take_device(void *user, const struct lab_run_row *run)
{
    struct sweep *s = user;
    struct lab_sweep_result *r = &s->rows[0];
    snprintf(r->device.name, sizeof(r->device.name), "%s",
             run->device ? run->device : "another machine");
    s->recorded_from = lab_variants_from_find(run->variants_from);
    return false;
}

/* Shares of FLOP are of a lesson's rows together. */
static void add_up_flop(struct sweep *s)
{
    for (int i = 0; i < s->n_rows; i++)
        for (int k = 0; k < s->n_rows; k++)
            if (strcmp(row_at(s, i)->lesson, row_at(s, k)->lesson) == 0)
                s->rows[i].lesson_flop += row_at(s, k)->flop;
}

static enum lab_status read_recorded(struct sweep *s)
{
    struct lab_database *db = NULL;
    enum lab_status st = lab_recorded_open(&db);
    if (!st)
        st = lab_sweep_run_newest(db, lab_sweep_name(s->kind), s->lesson_id,
                                  &s->run);
    if (!st)
        st = lab_sweep_rows_read(db, s->run, take_recorded, s);
    if (!st)
        st = lab_query_run(db, s->run, take_device, s);
    add_up_flop(s);
    lab_database_close(db);
    return st;
}

/* Without a GPU: what was recorded on one. It need not be there. */
static enum lab_status print_recorded(const struct sweep *here)
{
    bool gpu = strcmp(here->backends[0], "cuda") == 0;
    if (gpu || here->options->json)
        return LAB_OK;
    struct sweep *s = lab_alloc(sizeof(*s));
    if (!s)
        return lab_no_memory("a recorded sweep");
    s->options = here->options;
    s->kind = here->kind;
    s->lesson_id = here->lesson_id;
    s->recorded = true;
    enum lab_status read = read_recorded(s);
    if (read && read != LAB_E_NOTFOUND)
        lab_warn("the recorded sweep cannot be read: %s", lab_error());
    enum lab_status st = read ? LAB_OK : print_sweep(s);
    if (!st && here->kind == LAB_SWEEP_NETWORK)
        st = print_against(here, s);
    lab_free(s);
    return st;
}

/* ---- which ---- */

/* What opens; with auto network-size compares both. */
static enum lab_status find_backends(struct sweep *s)
{
    const char *asked = s->options->backend;
    struct lab_backend *be = NULL;
    enum lab_status st = lab_backend_open(&be, asked, s->options->device);
    if (st)
        return st;
    s->backends[s->n_backends++] = be->ops->name;
    if (strcmp(asked, "auto") == 0 && !be->host_memory &&
        s->kind == LAB_SWEEP_NETWORK)
        s->backends[s->n_backends++] = "cpu";
    lab_backend_close(be);
    return LAB_OK;
}

static enum lab_status read_sizes(struct sweep *s)
{
    bool gpu = strcmp(s->backends[0], "cuda") == 0;
    const char *at = s->options->sizes;
    if (!at)
        at = gpu ? s->options->lesson_sizes : s->options->lesson_cpu_sizes;
    if (!at && s->kind == LAB_SWEEP_BATCH)
        at = gpu ? "1,4,16,64,256,1024,4096" : "1,4,16,64,256";
    else if (!at)
        at = gpu ? "1,2,4,8,16,32" : "1,2,4,8";
    const char *whole = at;
    while (at) {
        char *end = NULL;
        long long v = strtoll(at, &end, 10);
        bool number = end != at && at[0] >= '0' && at[0] <= '9' &&
                      (*end == '\0' || *end == ',');
        if (!number || v < 1 || v > LAB_COUNT_MAX ||
            s->n_sizes == LAB_BENCH_SIZES)
            return lab_fail(LAB_E_USAGE,
                            "[sweep.sizes] --sizes %s: at most %d whole "
                            "numbers from 1 to %d, separated by commas",
                            whole, LAB_BENCH_SIZES, LAB_COUNT_MAX);
        s->sizes[s->n_sizes++] = v;
        at = *end ? end + 1 : NULL;
    }
    return LAB_OK;
}

static enum lab_status one_lesson(struct sweep *s, struct lab_lesson **lesson)
{
    enum lab_status st =
        lab_lesson_run_lesson(s->options->lesson, s->options->db, lesson);
    if (st)
        return st;
    if (s->options->given.seed)
        (*lesson)->spec.seed = s->options->seed;
    s->lesson_id = (*lesson)->id;
    return measure_lesson(s, *lesson);
}

/* Every lesson with a network that can be read. */
static enum lab_status all_lessons(struct sweep *s, struct lab_catalog **c)
{
    enum lab_status st = lab_catalog_load(c, NULL);
    for (size_t i = 0; !st && i < (*c)->count && !lab_signals_caught(); i++) {
        const struct lab_lesson *l = (*c)->items[i].lesson;
        if (l && l->kind == LAB_LESSON_NETWORK && l->spec.n_nodes > 0)
            st = measure_lesson(s, l);
    }
    return st;
}

/* Rows have texts of the lessons. */
static enum lab_status measure(struct sweep *s, bool all)
{
    struct lab_lesson *lesson = NULL;
    struct lab_catalog *c = NULL;
    enum lab_status st = all ? all_lessons(s, &c) : one_lesson(s, &lesson);
    if (!st && !s->options->json)
        st = print_sweep(s);
    if (!st)
        st = print_recorded(s);
    end_run(s, st);
    lab_lesson_free(lesson);
    lab_catalog_free(c);
    return st;
}

/* The times of variants are where the runs are; a choice for all lessons holds where
 * a lesson has its node. */
static enum lab_status prepare_variants(struct sweep *s, bool all)
{
    struct lab_str path;
    lab_str_init(&path);
    const bool there = lab_bench_db_path(s->options, &path) == LAB_OK;
    s->times = lab_kept_times_new(there ? lab_str_text(&path) : NULL, LAB_FP32);
    lab_str_release(&path);
    for (int i = 0; i < s->options->n_choices; i++) {
        s->choices[i] = s->options->choices[i];
        s->choices[i].optional = s->choices[i].optional || all;
    }
    if (all)
        snprintf(s->where, sizeof(s->where), ", in each lesson");
    else if (s->kind <= LAB_SWEEP_NETWORK && s->n_sizes > 1)
        snprintf(s->where, sizeof(s->where), ", at each of %d sizes",
                 s->n_sizes);
    return s->times ? LAB_OK : lab_no_memory("variants' times");
}

/* What of the kept times was not read, or not kept. */
static void warn_of_times(const struct sweep *s)
{
    struct lab_str note;
    lab_str_init(&note);
    lab_kept_times_note(s->times, &note);
    lab_warn_lines(lab_str_text(&note));
    lab_str_release(&note);
}

static enum lab_status sweep(struct sweep *s)
{
    bool all = strcmp(s->options->lesson, "all") == 0;
    enum lab_status st = find_backends(s);
    if (!st)
        st = read_sizes(s);
    if (!st)
        st = prepare_variants(s, all);
    if (!st && all && s->kind <= LAB_SWEEP_NETWORK)
        st = lab_fail(LAB_E_USAGE, "[sweep.lesson] %s takes one lesson",
                      lab_sweep_name(s->kind));
    if (!st)
        st = measure(s, all);
    if (s->times)
        warn_of_times(s);
    if (!st && s->measured == 0)
        st = s->n_rows ? lab_fail_id(s->rows[0].status, s->rows[0].id, "%s",
                                     s->rows[0].reason)
                       : lab_fail(LAB_E_NOTFOUND,
                                  "[sweep.nothing] nothing was measured");
    return st;
}

int lab_sweep_run(const struct lab_options *o, enum lab_sweep_kind kind)
{
    struct sweep *s = lab_alloc(sizeof(*s));
    if (!s)
        return lab_exit_error(lab_no_memory("a sweep"));
    s->options = o;
    s->kind = kind;
    lab_str_init(&s->warned);
    enum lab_status st = sweep(s);
    if (!st && !o->json && s->run) {
        lab_printf(stdout, "\n");
        lab_print_recorded(o->db, s->run, true);
    }
    lab_kept_times_free(s->times);
    lab_str_release(&s->warned);
    lab_free(s);
    return lab_signals_caught() ? LAB_EXIT_SIGNAL + lab_signals_caught()
                                : lab_exit_error(st);
}
