/* time_breakdown.c -- splits the wall time of an iteration into kernels,
 * copies, gaps and host time. */
#include "store/time_breakdown.h"

#include <stdlib.h>
#include <string.h>

#include "store/timeline.h"
#include "base/mem.h"

const char *lab_time_part_name(enum lab_time_part part)
{
    static const char *const names[LAB_WALL_PARTS] = {
        [LAB_WALL_KERNELS] = "kernels",
        [LAB_WALL_COPIES] = "copies, sets",
        [LAB_WALL_LAUNCH] = "launch latency",
        [LAB_WALL_STEPS] = "host in a step",
        [LAB_WALL_BETWEEN] = "between steps",
        [LAB_WALL_OUTSIDE] = "before, after",
    };
    return (unsigned)part < LAB_WALL_PARTS ? names[part] : "?";
}

const char *lab_time_part_id(enum lab_time_part part)
{
    static const char *const ids[LAB_WALL_PARTS] = {
        [LAB_WALL_KERNELS] = "kernels",
        [LAB_WALL_COPIES] = "copies",
        [LAB_WALL_LAUNCH] = "launch_latency",
        [LAB_WALL_STEPS] = "host_in_steps",
        [LAB_WALL_BETWEEN] = "between_steps",
        [LAB_WALL_OUTSIDE] = "before_and_after",
    };
    return (unsigned)part < LAB_WALL_PARTS ? ids[part] : "?";
}

/* ---- which iteration ---- */

struct pass {
    struct lab_iteration_row row;
    int64_t span_ns;
};

struct passes {
    struct pass *list;
    size_t count;
    size_t room;
    bool failed;
};

static bool add_pass(void *user, const struct lab_iteration_row *row)
{
    struct passes *p = user;
    if (row->steps == 0 || row->start_ns == LAB_UNKNOWN ||
        row->end_ns == LAB_UNKNOWN || row->end_ns < row->start_ns)
        return true;
    p->failed = lab_grow(&p->list, p->count, &p->room, sizeof(*p->list),
                         "the iterations of a run");
    if (!p->failed)
        p->list[p->count++] = (struct pass){*row, row->end_ns - row->start_ns};
    return !p->failed;
}

/* The best first: what was left in the middle, or ran without a record, is no
 * whole iteration. */
static int by_worth(const struct pass *a, const struct pass *b)
{
    int x = lab_iteration_prefer(&a->row, &b->row);
    int y = lab_iteration_prefer(&b->row, &a->row);
    if (x != y)
        return x - y;
    return (a->row.steps < b->row.steps) - (a->row.steps > b->row.steps);
}

static int compare_passes(const void *a, const void *b)
{
    const struct pass *x = a;
    const struct pass *y = b;
    int by = by_worth(x, y);
    return by ? by : (x->span_ns > y->span_ns) - (x->span_ns < y->span_ns);
}

/* The one in the middle of the *best, the shorter of two. */
static const struct pass *median_of(struct pass *list, size_t n, size_t *best)
{
    qsort(list, n, sizeof(*list), compare_passes);
    *best = 1;
    while (*best < n && by_worth(&list[0], &list[*best]) == 0)
        ++*best;
    return &list[(*best - 1) / 2];
}

/* ---- the run ---- */

struct facts {
    bool lab;
    bool cpu;
    bool simulated;
    bool untraced;
    int64_t iterations;
    int64_t median_ns;
};

static bool is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

static bool take_facts(void *user, const struct lab_run_row *r)
{
    struct facts *f = user;
    f->lab = is(r->kind, "lab");
    f->cpu = is(r->backend, "cpu");
    f->simulated = is(r->backend, "sim");
    f->untraced = is(r->trace_state, "off") || is(r->trace_state, "never");
    f->iterations = r->iterations;
    f->median_ns = r->iteration_median_ns;
    return true;
}

/* ---- the parts ---- */

static void unknown(struct lab_time_breakdown *w, enum lab_time_part part,
                    const char *why)
{
    w->part_ns[part] = LAB_UNKNOWN;
    w->why[part] = why;
}

static void none(struct lab_time_breakdown *w, const char *why)
{
    *w = (struct lab_time_breakdown){.iteration = LAB_UNKNOWN,
                                     .wall_ns = LAB_UNKNOWN};
    for (int i = 0; i < LAB_WALL_PARTS; i++)
        unknown(w, (enum lab_time_part)i, why);
}

/* Nothing of a GPU: what the host did is all there is. */
static void host_parts(struct lab_time_breakdown *w,
                       const struct lab_timeline_sums *s, const struct facts *f)
{
    const char *why = f->cpu        ? "it ran on the CPU"
                      : f->untraced ? "it was timed without the trace"
                                    : "no kernel was recorded";
    for (int i = LAB_WALL_KERNELS; i < LAB_WALL_STEPS; i++)
        unknown(w, (enum lab_time_part)i, why);
    w->part_ns[LAB_WALL_STEPS] = s->cover_ns[LAB_COVER_STEP];
    w->part_ns[LAB_WALL_BETWEEN] = s->cover_ns[LAB_COVER_REST];
}

/* Steps of a graph are where their nodes ran: the host was in none. */
static void device_parts(struct lab_time_breakdown *w,
                         const struct lab_timeline_sums *s)
{
    const int64_t *cover = s->cover_ns;
    w->part_ns[LAB_WALL_KERNELS] = cover[LAB_COVER_KERNEL];
    w->part_ns[LAB_WALL_COPIES] = cover[LAB_COVER_COPY];
    w->part_ns[LAB_WALL_LAUNCH] = cover[LAB_COVER_LAUNCH];
    w->part_ns[LAB_WALL_STEPS] = cover[LAB_COVER_STEP];
    w->part_ns[LAB_WALL_BETWEEN] = cover[LAB_COVER_REST];
    if (s->called == 0)
        unknown(w, LAB_WALL_LAUNCH,
                "no CUDA call was recorded: it takes --trace on");
    if (s->graph_kernels == 0)
        return;
    w->part_ns[LAB_WALL_STEPS] += cover[LAB_COVER_REST];
    unknown(w, LAB_WALL_BETWEEN, "its steps were launched as one CUDA graph");
}

static void unreported_parts(struct lab_time_breakdown *w, const char *why)
{
    for (int i = 0; i < LAB_WALL_OUTSIDE; i++)
        unknown(w, (enum lab_time_part)i, why);
}

/* Where there was but one iteration the run's wall time is its. */
static void outside_part(struct lab_time_breakdown *w, const struct facts *f,
                         bool only)
{
    if (f->median_ns == LAB_UNKNOWN)
        unknown(w, LAB_WALL_OUTSIDE, "the run measured no wall time");
    else if (f->iterations != 1 || !only)
        unknown(w, LAB_WALL_OUTSIDE,
                "the wall time is the median of all iterations");
    else if (f->median_ns < w->wall_ns)
        unknown(w, LAB_WALL_OUTSIDE,
                "the run's wall time is less than this iteration's");
    else {
        w->part_ns[LAB_WALL_OUTSIDE] = f->median_ns - w->wall_ns;
        w->wall_ns = f->median_ns;
    }
}

static void take_parts(struct lab_time_breakdown *w,
                       const struct lab_timeline *t, const struct facts *f,
                       bool only)
{
    const struct lab_timeline_sums *s = &t->sums;
    w->iteration = t->of.iteration;
    w->wall_ns = t->end_ns - t->start_ns;
    if (s->kernels_untimed)
        unreported_parts(w, "it has kernels without times");
    else if (s->cover_ns[LAB_COVER_REST] == LAB_UNKNOWN)
        unreported_parts(w, "its moments contradict each other");
    else if (s->kernels || s->copies)
        device_parts(w, s);
    else
        host_parts(w, s, f);
    outside_part(w, f, only);
}

static enum lab_status load_parts(struct lab_time_breakdown *w,
                                  struct lab_database *db, int64_t run,
                                  struct passes *p, const struct facts *f)
{
    const struct lab_timeline_filter filter = {
        .from_ns = LAB_UNKNOWN, .to_ns = LAB_UNKNOWN, .most = 1};
    struct lab_timeline *t;
    size_t best;
    const struct pass *pass = median_of(p->list, p->count, &best);
    enum lab_status st = lab_timeline_load(&t, db, run, &pass->row, &filter);
    if (st)
        return st;
    *w = (struct lab_time_breakdown){.recorded = (int64_t)best};
    take_parts(w, t, f, p->count == 1);
    lab_timeline_free(t);
    return LAB_OK;
}

enum lab_status lab_time_breakdown_load(struct lab_time_breakdown *out,
                                        struct lab_database *db, int64_t run)
{
    struct facts f = {.lab = false};
    struct passes p = {.failed = false};
    struct lab_time_breakdown w;
    enum lab_status st = lab_query_run(db, run, take_facts, &f);
    none(&w, f.lab         ? "a lab's repeats are no iterations"
             : f.simulated ? "it was simulated, and has no times"
                           : "no iteration was recorded");
    if (st == LAB_OK && !f.lab && !f.simulated)
        st = lab_query_iterations(db, run, add_pass, &p);
    if (st == LAB_OK && p.failed)
        st = lab_no_memory("the iterations of a run");
    if (st == LAB_OK && p.count)
        st = load_parts(&w, db, run, &p, &f);
    lab_free(p.list);
    if (st == LAB_OK)
        *out = w;
    return st;
}
