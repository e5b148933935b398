/* runs_model.c -- the runs screens' data from the database: lists of runs, steps
 * and kernels, a comparison, a roofline, a timeline, a kernel's what-if. */
#include "screens/runs_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "report/compare_label.h"
#include "base/format.h"
#include "report/variant_words.h"
#include "engine/ceiling.h"
#include "report/suggest.h"
#include "report/missing.h"
#include "store/launch.h"
#include "base/datadir.h"
#include "store/delete.h"
#include "store/limit_words.h"
#include "store/query.h"
#include "base/unknown.h"
#include "store/compare.h"
#include "ui/models.h"
#include "report/roofline.h"
#include "store/timeline.h"
#include "screens/whatif.h"
#include "store/counted.h"
#include "store/time_sum.h"

/* Owns what the rows point to. */
struct lab_compare_model {
    struct lab_ui_compare_row *rows;
    int64_t count;
    struct lab_comparison comparison;
};

struct lab_roofline_model {
    struct lab_roofline line;
    struct lab_ui_roof roofs[LAB_CEILING_ROOFS];
    char height[LAB_CEILING_ROOFS][32];
    struct lab_ui_roof_point *points;
    char **texts; /* made safe for a terminal */
    size_t text_count;
    struct lab_str note;
};

/* Owns what it hands out. The whole of a pass is kept while parts of it are
 * looked at. */
struct lab_timeline_model {
    struct lab_iteration_row *passes;
    int64_t count;
    size_t room;
    bool failed; /* no memory for a pass */
    struct lab_timeline *whole;
    struct lab_timeline *part;
};

/* Rows of one kind, with the texts that they point to. */
struct rows {
    void *items;
    int64_t n;
    size_t room;
    char **texts;
    int64_t n_texts;
    size_t text_room;
    bool failed;
};

struct lab_runs_source {
    struct lab_runs_model model;
    char *path;
    char *db;      /* as it was named; NULL: the usual place */
    bool recorded; /* the runs that ship with the program */
    struct rows runs;
    struct rows last;
    struct rows steps;
    struct rows kernels;
    struct lab_counted_run counted; /* while rows are read */
    struct lab_compare_model compared;
    struct lab_roofline_model roofline;
    struct lab_timeline_model timeline;
    struct lab_time_sums sums; /* of the kernels, for lab_ui_kernel_row.place */
    struct lab_whatif whatif;
    int most; /* for the query that runs now */
};

/* *db NULL: there is none yet. */
static enum lab_status runs_source_open(struct lab_runs_source *s, bool write,
                                        struct lab_database **db)
{
    struct lab_database_options options = {.read_only = !write,
                                           .busy_timeout_ms = 500};
    *db = NULL;
    if (access(s->path, F_OK))
        return LAB_OK; /* nothing has been recorded yet */
    enum lab_status st = lab_database_open(db, s->path, &options);
    if (st != LAB_E_STATE || write)
        return st;
    options.read_only = false; /* an older schema is brought up to date */
    return lab_database_open(db, s->path, &options);
}

/* ---- a comparison ---- */

static void compare_model_release(struct lab_compare_model *m)
{
    lab_free(m->rows);
    lab_comparison_release(&m->comparison);
    *m = (struct lab_compare_model){0};
}

static const char *text(const char *s)
{
    return s ? s : "";
}

static void fill(struct lab_ui_compare_row *out,
                 const struct lab_compare_row *row)
{
    const struct lab_time_sum *any = lab_compare_either(row);
    const char *name =
        row->level == LAB_SUM_NODE ? any->node : lab_time_sum_step(any);
    const char *shown = any->kernel_short ? any->kernel_short : any->kernel;
    if (row->level == LAB_SUM_PHASE)
        name = any->phase;
    if (row->level == LAB_SUM_ITERATION)
        name = "all steps";
    *out = (struct lab_ui_compare_row){
        .level = lab_sum_level_name(row->level),
        .phase = text(any->phase),
        .name = text(name),
        .kernel = text(shown),
        .verdict = lab_verdict_name(row->verdict),
        .difference_ns = row->difference_ns,
        .speed_up = row->speed_up,
        .p = row->p,
    };
    for (int i = 0; i < LAB_SIDES; i++) {
        const struct lab_time_sum *s = row->side[i];
        out->there[i] = s != NULL;
        out->count[i] = s ? s->timed : 0;
        out->median_ns[i] = s ? s->median_ns : (double)NAN;
        out->mad_ns[i] = s ? s->mad_ns : (double)NAN;
        out->flop[i] = s ? s->flop : (double)NAN;
        out->step[i] = s && s->rung ? s->rung->own : NULL;
    }
}

/* A part of an iteration's wall time: one figure a run, and so no verdict. */
static void fill_wall(struct lab_ui_compare_row *out, const char *name,
                      int64_t a, int64_t b)
{
    const int64_t ns[LAB_SIDES] = {a, b};
    *out = (struct lab_ui_compare_row){
        .level = "wall",
        .phase = "wall",
        .name = name,
        .kernel = "",
        .verdict = "-",
        .difference_ns = lab_compare_wall_difference(a, b),
        .speed_up = a == LAB_UNKNOWN || b == LAB_UNKNOWN || b == 0
                        ? (double)NAN
                        : (double)a / (double)b,
        .p = NAN,
    };
    for (int i = 0; i < LAB_SIDES; i++) {
        out->there[i] = ns[i] != LAB_UNKNOWN;
        out->count[i] = LAB_UNKNOWN;
        out->median_ns[i] = out->there[i] ? (double)ns[i] : (double)NAN;
        out->mad_ns[i] = out->flop[i] = NAN;
    }
}

static void fill_walls(struct lab_compare_model *m)
{
    const struct lab_time_breakdown *a = &m->comparison.wall[LAB_SIDE_A];
    const struct lab_time_breakdown *b = &m->comparison.wall[LAB_SIDE_B];
    if (a->wall_ns == LAB_UNKNOWN && b->wall_ns == LAB_UNKNOWN)
        return;
    for (int i = 0; i < LAB_WALL_PARTS; i++)
        fill_wall(&m->rows[m->count++],
                  lab_time_part_name((enum lab_time_part)i), a->part_ns[i],
                  b->part_ns[i]);
    fill_wall(&m->rows[m->count++], "all of it", a->wall_ns, b->wall_ns);
}

static void write_fact(struct lab_doc *doc, const char *name, const char *a,
                       const char *b)
{
    lab_doc_para(doc, 0, 14, true);
    lab_doc_addf(doc, LAB_ROLE_DIM, "%-14s", name);
    lab_doc_add(doc, LAB_ROLE_NORMAL, a ? a : LAB_NA);
    lab_doc_add(doc, LAB_ROLE_DIM, " -> ");
    lab_doc_add(doc, LAB_ROLE_NORMAL, b ? b : LAB_NA);
}

static void write_run_fact(struct lab_doc *doc,
                           const struct lab_compared_run run[LAB_SIDES],
                           enum lab_run_fact i)
{
    char words[LAB_SIDES][LAB_VARIANT_WORDS];
    const char *fact[LAB_SIDES] = {run[0].fact[i], run[1].fact[i]};
    if (i == LAB_FACT_VARIANTS)
        lab_variant_words_beside(fact, words);
    write_fact(doc, lab_run_fact_name(i), fact[0], fact[1]);
}

/* Of which iterations the parts are, and what keeps some from being known. */
static void write_wall(struct lab_doc *doc, const struct lab_comparison *c)
{
    struct lab_str notes;
    if (c->wall[LAB_SIDE_A].wall_ns == LAB_UNKNOWN &&
        c->wall[LAB_SIDE_B].wall_ns == LAB_UNKNOWN)
        return;
    lab_str_init(&notes);
    lab_compare_wall_notes(c, &notes);
    const char *at = lab_str_text(&notes);
    for (const char *name = "its parts"; *at; name = "") {
        int n = (int)strcspn(at, "\n");
        lab_doc_para(doc, 0, 14, true);
        lab_doc_addf(doc, LAB_ROLE_DIM, "%-14s", name);
        lab_doc_addf(doc, LAB_ROLE_NORMAL, "%.*s", n, at);
        at += n + (at[n] == '\n');
    }
    lab_str_release(&notes);
}

static void compare_facts(struct lab_doc *doc, const struct lab_comparison *c)
{
    const struct lab_compared_run *run = c->run;
    char wall[2][LAB_FORMAT_BYTES + 16];
    for (int i = 0; i < LAB_SIDES; i++) {
        bool known = run[i].iteration_median_ns != LAB_UNKNOWN;
        char time[LAB_FORMAT_BYTES];
        lab_format_ns(known ? (double)run[i].iteration_median_ns : (double)NAN,
                      time, sizeof(time));
        snprintf(wall[i], sizeof(wall[i]), "%s%s", time,
                 known && run[i].iterations == 1 ? " (warm-up iteration)" : "");
    }
    write_fact(doc, "wall time", wall[0], wall[1]);
    for (int i = 0; i < LAB_FACT_COUNT; i++)
        if (lab_comparison_differs(c, (enum lab_run_fact)i))
            write_run_fact(doc, run, (enum lab_run_fact)i);
    write_wall(doc, c);
    lab_doc_para(doc, 0, 14, true);
    lab_doc_addf(doc, LAB_ROLE_DIM, "%-14s", "verdict");
    lab_doc_addf(doc, LAB_ROLE_NORMAL,
                 "Mann-Whitney U, two-sided, adjusted after Holm: p below "
                 "%.2f, and medians %.0f %% and %d ns apart",
                 LAB_RANK_ALPHA, 100 * LAB_COMPARE_LEAST_SHARE,
                 LAB_COMPARE_LEAST_NS);
}

static enum lab_status compare_model_load(struct lab_compare_model *m,
                                          struct lab_database *db,
                                          const int64_t run[2],
                                          struct lab_doc *facts)
{
    struct lab_compare_model fresh = {0};
    enum lab_status st =
        lab_comparison_load(&fresh.comparison, db, run[0], run[1]);
    if (st)
        return st;
    const struct lab_comparison *c = &fresh.comparison;
    fresh.rows =
        lab_alloc_array(c->count + LAB_WALL_PARTS + 1, sizeof(*fresh.rows));
    if (!fresh.rows) {
        compare_model_release(&fresh);
        return lab_no_memory("a comparison");
    }
    for (size_t i = 0; i < c->count; i++)
        fill(&fresh.rows[i], &c->rows[i]);
    fresh.count = (int64_t)c->count;
    fill_walls(&fresh);
    compare_facts(facts, c);
    compare_model_release(m);
    *m = fresh;
    return LAB_OK;
}

enum { TEXTS_A_POINT = 4 };

/* ---- a roofline ---- */

static void roofline_model_release(struct lab_roofline_model *m)
{
    for (size_t i = 0; i < m->text_count; i++)
        lab_free(m->texts[i]);
    lab_free(m->texts);
    lab_free(m->points);
    lab_roofline_release(&m->line);
    lab_str_release(&m->note);
    *m = (struct lab_roofline_model){.points = NULL};
}

/* Room was made for every text. NULL: no memory. */
static const char *keep_point_text(struct lab_roofline_model *m,
                                   const char *text)
{
    struct lab_str s;
    if (!text || !text[0])
        return "";
    lab_str_init(&s);
    lab_str_add_visible(&s, text, strlen(text), false);
    char *copy = lab_str_detach(&s);
    if (copy)
        m->texts[m->text_count++] = copy;
    return copy;
}

static int fill_roofs(struct lab_roofline_model *m)
{
    int n = 0;
    for (int i = 0; i < LAB_CEILING_ROOFS; i++) {
        enum lab_ceiling ceiling = (enum lab_ceiling)i;
        if (!(m->line.per_s[i] > 0))
            continue;
        lab_format_amount(m->line.per_s[i], lab_ceiling_unit(ceiling),
                          m->height[n], sizeof(m->height[n]));
        m->roofs[n] = (struct lab_ui_roof){
            .name = lab_ceiling_name(ceiling),
            .memory = ceiling == LAB_CEILING_COPY,
            .per_s = m->line.per_s[i],
            .height = m->height[n],
            .from = lab_roof_origin_text(m->line.roofs[i].origin),
        };
        n++;
    }
    return n;
}

static bool fill_point(struct lab_roofline_model *m, size_t i)
{
    const struct lab_roofline_row *row = &m->line.rows[i];
    const struct lab_roofline_point *p = &row->point;
    m->points[i] = (struct lab_ui_roof_point){
        .kernel = lab_roofline_is_kernel(row),
        .name = keep_point_text(m, lab_roofline_name(row)),
        .phase = keep_point_text(m, row->sum->phase),
        .variant = keep_point_text(m, row->sum->variant),
        .median_ns = row->sum->median_ns,
        .flop = row->work.flop,
        .counted_flop = p->counted_flop,
        .counted_least = p->counted_least,
        .dram_bytes = p->dram_bytes,
        .intensity = p->intensity,
        .counted_intensity = p->counted_intensity,
        .flop_s = p->flop_s,
        .roof_flop_s = p->allowed_flop_s,
        .roof = lab_ceiling_name(p->roof),
        .share = p->share,
        .bound = lab_roofline_verdict_name(p->verdict),
        .sentence = keep_point_text(m, row->sentence),
        .flop_reason = row->flop_reason,
    };
    const struct lab_ui_roof_point *q = &m->points[i];
    return q->name && q->phase && q->variant && q->sentence;
}

static void write_note(struct lab_roofline_model *m, const char *option)
{
    bool some = false;
    if (lab_roofline_measured(&m->line))
        return;
    for (int i = 0; i < LAB_CEILING_ROOFS; i++)
        some = some || m->line.per_s[i] > 0;
    lab_str_add(&m->note, some ? "The roofs are a data sheet's. `"
                               : "No roof is known: `");
    lab_suggest_command(&m->note, option, LAB_WORDS("profile", "ceilings"));
    lab_str_add(&m->note, some ? "`, on that device, measures what it reaches."
                               : "`, on that device, measures them.");
}

static enum lab_status roofline_model_load(struct lab_roofline_model *m,
                                           struct lab_database *db, int64_t run,
                                           const char *option,
                                           struct lab_ui_roofline *out)
{
    roofline_model_release(m);
    enum lab_status st = lab_roofline_load(&m->line, db, run);
    if (st)
        return st;
    size_t n = m->line.count;
    m->points = lab_alloc_array(n + 1, sizeof(*m->points));
    m->texts = lab_alloc_array(TEXTS_A_POINT * n + 1, sizeof(*m->texts));
    bool ok = m->points && m->texts;
    for (size_t i = 0; i < n && ok; i++)
        ok = fill_point(m, i);
    const char *device = ok ? keep_point_text(m, m->line.device.device) : NULL;
    if (!device) {
        roofline_model_release(m);
        return lab_no_memory("the roofline of a run");
    }
    write_note(m, option);
    *out = (struct lab_ui_roofline){.device = device[0] ? device
                                                        : "an unknown device",
                                    .note = lab_str_text(&m->note),
                                    .roofs = m->roofs,
                                    .roof_count = fill_roofs(m),
                                    .points = m->points,
                                    .point_count = (int64_t)n};
    return LAB_OK;
}

/* ---- a timeline ---- */

static void timeline_model_release(struct lab_timeline_model *m)
{
    lab_free(m->passes);
    lab_timeline_free(m->whole);
    lab_timeline_free(m->part);
    *m = (struct lab_timeline_model){0};
}

static bool add_pass(void *user, const struct lab_iteration_row *row)
{
    struct lab_timeline_model *m = user;
    m->failed = lab_grow(&m->passes, (size_t)m->count, &m->room, sizeof(*row),
                         "the passes");
    if (m->failed)
        return false;
    m->passes[m->count++] = *row;
    return true;
}

static enum lab_status
timeline_load_passes(void *user, int64_t run,
                     const struct lab_iteration_row **rows, int64_t *count)
{
    struct lab_runs_source *s = user;
    struct lab_timeline_model *m = &s->timeline;
    struct lab_database *db;
    timeline_model_release(m);
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && db)
        st = lab_query_iterations(db, run, add_pass, m);
    if (!st && m->failed)
        st = lab_no_memory("the iterations of a run");
    else if (!st && db && m->count == 0)
        st = lab_fail_missing(db, run, LAB_HAS_KERNELS);
    lab_database_close(db);
    *rows = m->passes;
    *count = m->count;
    return st;
}

static bool is_of(const struct lab_timeline *t, int64_t run,
                  const struct lab_iteration_row *of)
{
    return t && t->run == run && t->of.exec_first == of->exec_first;
}

static enum lab_status
timeline_load_pass(void *user, int64_t run, const struct lab_iteration_row *of,
                   const struct lab_timeline_filter *filter,
                   const struct lab_timeline **out)
{
    struct lab_runs_source *s = user;
    struct lab_timeline_model *m = &s->timeline;
    struct lab_timeline **place = filter ? &m->part : &m->whole;
    struct lab_timeline *fresh = NULL;
    struct lab_database *db;
    if (!filter && is_of(m->whole, run, of)) {
        *out = m->whole;
        return LAB_OK;
    }
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && !db)
        st = lab_fail(LAB_E_NOTFOUND, "%s is gone", s->path);
    if (!st)
        st = lab_timeline_load(&fresh, db, run, of, filter);
    lab_database_close(db);
    if (!st)
        st = lab_timeline_close_pauses(fresh);
    if (st) {
        lab_timeline_free(fresh);
        return st;
    }
    lab_timeline_free(*place);
    *place = fresh;
    *out = fresh;
    return LAB_OK;
}

/* What a launch says is known of a sum where all of its launches agree. */
static bool launches_differ(const struct lab_time_sum *sum)
{
    return sum->count > 1 && (lab_launch_size(sum->grid) == LAB_UNKNOWN ||
                              lab_launch_size(sum->block) == LAB_UNKNOWN ||
                              sum->registers_per_thread == LAB_UNKNOWN ||
                              sum->shared_bytes == LAB_UNKNOWN);
}

static enum lab_status load_newest(struct lab_runs_source *s,
                                   struct lab_database *db, int64_t run,
                                   const struct lab_ui_kernel_row *kernel,
                                   struct lab_occupancy_args *out)
{
    char count[LAB_FORMAT_BYTES];
    struct lab_whatif *w = &s->whatif;
    const struct lab_time_sum *sum = &s->sums.items[kernel->place];
    int64_t row;
    enum lab_status st = lab_launch_last(db, run, sum->step_index, sum->variant,
                                         sum->kernel, &row);
    if (!st)
        st = lab_whatif_stored(w, db, run, row, 100 * kernel->achieved, out);
    if (st || !launches_differ(sum))
        return st;
    snprintf(w->note, sizeof(w->note),
             "the newest of %s launches, which differ",
             lab_format_int(sum->count, count, sizeof(count)));
    out->note = w->note;
    return LAB_OK;
}

static enum lab_status whatif_load(void *user, int64_t run,
                                   const struct lab_ui_kernel_row *kernel,
                                   int64_t row, struct lab_occupancy_args *out)
{
    struct lab_runs_source *s = user;
    struct lab_database *db;
    enum lab_status st = runs_source_open(s, false, &db);
    if (st)
        return st;
    if (!db)
        return lab_fail(LAB_E_NOTFOUND, "%s is gone", s->path);
    if (kernel)
        st = load_newest(s, db, run, kernel, out);
    else if (row != LAB_UNKNOWN)
        st = lab_whatif_stored(&s->whatif, db, run, row, (double)NAN, out);
    else
        st = lab_fail_missing(db, run, LAB_HAS_KERNELS);
    lab_database_close(db);
    return st;
}

/* ---- rows ---- */

static void rows_clear(struct rows *r)
{
    for (int64_t i = 0; i < r->n_texts; i++)
        lab_free(r->texts[i]);
    lab_free(r->texts);
    lab_free(r->items);
    *r = (struct rows){0};
}

static void *add_row(struct rows *r, size_t each)
{
    r->failed = r->failed ||
                lab_grow(&r->items, (size_t)r->n, &r->room, each, "the list");
    if (r->failed)
        return NULL;
    char *row = (char *)r->items + (size_t)r->n * each;
    memset(row, 0, each);
    r->n++;
    return row;
}

/* Texts of a database come from anywhere: made safe for the terminal. */
static const char *keep(struct rows *r, const char *text)
{
    struct lab_str s;
    if (!text)
        return "";
    lab_str_init(&s);
    lab_str_add_visible(&s, text, strlen(text), false);
    char *copy = lab_str_detach(&s);
    if (!copy || lab_grow(&r->texts, (size_t)r->n_texts, &r->text_room,
                          sizeof(*r->texts), "the list")) {
        lab_free(copy);
        r->failed = true;
        return "";
    }
    r->texts[r->n_texts++] = copy;
    return copy;
}

static enum lab_status check(const struct rows *r)
{
    return r->failed ? lab_no_memory("the list") : LAB_OK;
}

/* ---- runs ---- */

static void convert_run(struct rows *r, const struct lab_run_row *row,
                        struct lab_ui_run_row *out)
{
    char started[20] = "";
    if (row->started) /* "2025-06-01T14:03:00Z" without the T and the seconds */
        snprintf(started, sizeof(started), "%.10s %.5s", row->started,
                 strlen(row->started) > 11 ? row->started + 11 : "");
    *out = (struct lab_ui_run_row){.run = row->id,
                                   .seed = (int64_t)row->seed,
                                   .iterations = row->iterations,
                                   .loss_first = row->loss_first,
                                   .loss_last = row->loss_last,
                                   .accuracy = row->accuracy,
                                   .median_ns =
                                       lab_to_real(row->iteration_median_ns),
                                   .gpu_ns = lab_to_real(row->gpu_ns),
                                   .samples_per_s = row->samples_per_s};
    char lab[96];
    char variants[LAB_VARIANT_WORDS];
    snprintf(lab, sizeof(lab), "%.80s (lab)", row->lesson ? row->lesson : "");
    bool is_lab = row->kind && strcmp(row->kind, "lab") == 0;
    out->lesson = keep(r, is_lab ? lab : row->lesson);
    out->backend = keep(r, row->backend);
    out->device = keep(r, row->device);
    out->precision = keep(r, row->precision);
    out->started = keep(r, started);
    out->status = keep(r, row->status);
    out->kind = keep(r, row->kind);
    out->variants = keep(r, lab_variant_words(row, variants));
}

static bool take_run(struct rows *r, const struct lab_run_row *row)
{
    struct lab_ui_run_row *out = add_row(r, sizeof(*out));
    if (out)
        convert_run(r, row, out);
    return !r->failed;
}

static bool each_run(void *user, const struct lab_run_row *row)
{
    struct lab_runs_source *s = user;
    return take_run(&s->runs, row);
}

static bool each_last(void *user, const struct lab_run_row *row)
{
    struct lab_runs_source *s = user;
    return take_run(&s->last, row) && s->last.n < s->most;
}

static enum lab_status load_runs(void *user, const struct lab_ui_run_row **rows,
                                 int64_t *count)
{
    struct lab_runs_source *s = user;
    struct lab_database *db;
    rows_clear(&s->runs);
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && db)
        st = lab_query_runs(db, each_run, s);
    lab_database_close(db);
    *rows = s->runs.items;
    *count = s->runs.n;
    return st ? st : check(&s->runs);
}

enum lab_status lab_runs_source_last(struct lab_runs_source *s, int most,
                                     const struct lab_ui_run_row **rows,
                                     int64_t *count)
{
    struct lab_database *db;
    rows_clear(&s->last);
    s->most = most;
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && db)
        st = lab_query_runs(db, each_last, s);
    lab_database_close(db);
    *rows = s->last.items;
    *count = s->last.n;
    return st ? st : check(&s->last);
}

/* ---- steps and kernels ---- */

static bool each_step(void *user, const struct lab_time_sum *row)
{
    struct lab_runs_source *s = user;
    struct rows *r = &s->steps;
    struct lab_ui_step_row *out = add_row(r, sizeof(*out));
    if (!out)
        return false;
    *out = (struct lab_ui_step_row){.index = row->step_index,
                                    .count = row->count,
                                    .min_ns = lab_to_real(row->min_ns),
                                    .median_ns = row->median_ns,
                                    .spread_ns = NAN,
                                    .flop = row->flop,
                                    .bytes = row->bytes,
                                    .kernels = row->kernels};
    const struct lab_counted_item *item =
        lab_counted_step(&s->counted, row->step_index, row->variant);
    struct lab_counters none;
    lab_counters_init(&none);
    const struct lab_counters *c = item ? &item->counters : &none;
    out->achieved = c->achieved_occupancy_pct / 100;
    out->dram_bytes = c->dram_read_bytes + c->dram_write_bytes;
    out->counted_flop = lab_counters_flop_beside(c, row->flop);
    out->spread_ns = row->three_quarters_ns - row->quarter_ns;
    out->name = keep(r, lab_bench_name_text(row->rung, row->name));
    out->op = keep(r, row->op);
    out->phase = keep(r, row->phase);
    out->variant = keep(r, row->variant);
    out->backend = keep(r, row->backend);
    return !r->failed;
}

static enum lab_status load_steps(void *user, int64_t run,
                                  const struct lab_ui_step_row **rows,
                                  int64_t *count)
{
    struct lab_runs_source *s = user;
    struct lab_database *db;
    rows_clear(&s->steps);
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && db)
        st = lab_counted_load(&s->counted, db, run);
    if (!st && db)
        st = lab_query_steps(db, run, LAB_STEP_BY_INDEX, false, each_step, s);
    lab_counted_release(&s->counted);
    lab_database_close(db);
    *rows = s->steps.items;
    *count = s->steps.n;
    return st ? st : check(&s->steps);
}

/* The steps of a lab are told apart by their index alone. */
static bool of_step(const struct lab_time_sum *sum,
                    const struct lab_ui_step_row *step)
{
    if (sum->rung)
        return sum->step_index == step->index;
    return sum->name && sum->phase && strcmp(sum->name, step->name) == 0 &&
           strcmp(sum->phase, step->phase) == 0;
}

static void take_kernel(struct lab_runs_source *s, size_t place)
{
    const struct lab_time_sum *sum = &s->sums.items[place];
    char limit[64];
    struct lab_counters c;
    struct rows *r = &s->kernels;
    struct lab_ui_kernel_row *out = add_row(r, sizeof(*out));
    if (!out)
        return;
    lab_limit_words(sum->occupancy_limit, ", ", limit, sizeof(limit));
    *out = (struct lab_ui_kernel_row){.count = sum->count,
                                      .median_ns = sum->median_ns,
                                      .registers = sum->registers_per_thread,
                                      .shared_bytes = sum->shared_bytes,
                                      .occupancy = sum->occupancy_pct / 100,
                                      .place = (int64_t)place};
    lab_counted_launch(&s->counted, sum->step_index, sum->variant, sum->kernel,
                       &c);
    out->achieved = c.achieved_occupancy_pct / 100;
    out->dram_bytes = c.dram_read_bytes + c.dram_write_bytes;
    out->counted_flop = lab_counters_flop(&c);
    memcpy(out->grid, sum->grid, sizeof(out->grid));
    memcpy(out->block, sum->block, sizeof(out->block));
    out->name = keep(r, sum->kernel_short ? sum->kernel_short : sum->kernel);
    out->step = keep(r, lab_time_sum_step(sum));
    out->phase = keep(r, sum->phase);
    out->limit = keep(r, limit);
}

/* A row for all launches of a kernel in a step: a run may have millions. */
static enum lab_status load_kernels(void *user, int64_t run,
                                    const struct lab_ui_step_row *step,
                                    const struct lab_ui_kernel_row **rows,
                                    int64_t *count)
{
    struct lab_runs_source *s = user;
    struct lab_database *db;
    struct lab_time_sums *sums = &s->sums;
    rows_clear(&s->kernels);
    lab_time_sums_release(sums);
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && db)
        st = lab_time_sums_load(sums, db, run, 1u << LAB_SUM_KERNEL);
    if (!st && db)
        st = lab_counted_load(&s->counted, db, run);
    for (size_t i = 0; i < sums->count && !s->kernels.failed; i++)
        if (!step || of_step(&sums->items[i], step))
            take_kernel(s, i);
    lab_counted_release(&s->counted);
    bool kept = sums->stored || st || !db;
    lab_database_close(db);
    if (!kept)
        lab_time_sums_keep_later(s->path, run);
    *rows = s->kernels.items;
    *count = s->kernels.n;
    return st ? st : check(&s->kernels);
}

/* ---- facts, delete ---- */

static void fact(struct lab_doc *doc, const char *name, const char *value)
{
    if (!value || !value[0])
        return;
    lab_doc_para(doc, 0, 14, true);
    lab_doc_addf(doc, LAB_ROLE_DIM, "%-14s", name);
    lab_doc_add(doc, LAB_ROLE_NORMAL, value);
}

/* A lab has no batch and no iterations. */
static void run_fact(struct lab_doc *doc, const struct lab_run_row *row)
{
    struct lab_str text;
    char rate[LAB_RUN_LR_TEXT];
    lab_str_init(&text);
    lab_str_addf(&text, "seed %llu", (unsigned long long)row->seed);
    if (row->batch != LAB_UNKNOWN)
        lab_str_addf(&text, ", batch %lld", (long long)row->batch);
    if (row->iterations != LAB_UNKNOWN)
        lab_str_addf(&text, ", %lld iteration%s", (long long)row->iterations,
                     row->iterations == 1 ? "" : "s");
    if (row->precision)
        lab_str_addf(&text, ", %s", row->precision);
    if (*lab_run_lr_text(row, rate))
        lab_str_addf(&text, ", lr %s", rate);
    fact(doc, "run", lab_str_text(&text));
    lab_str_release(&text);
}

/* What a reader asks first comes first: a small screen has room for two. */
static bool each_fact(void *user, const struct lab_run_row *row)
{
    struct lab_doc *doc = user;
    char text[160];
    bool is_lab = row->kind && strcmp(row->kind, "lab") == 0;
    fact(doc, is_lab ? "lab" : "lesson", row->title ? row->title : row->lesson);
    snprintf(text, sizeof(text), "%s on %s", row->backend ? row->backend : "?",
             row->device ? row->device : "an unknown device");
    fact(doc, "machine", text);
    fact(doc, "trouble", row->write_error);
    fact(doc, "variants", row->variants);
    run_fact(doc, row);
    fact(doc, "times from", row->time_source);
    fact(doc, "counters",
         row->counters_reason ? row->counters_reason : row->counters);
    snprintf(text, sizeof(text), "%s to %s (%s)",
             row->started ? row->started : "?", row->ended ? row->ended : "?",
             row->status ? row->status : "?");
    fact(doc, "time", text);
    fact(doc, "whose", row->label ? row->label : row->user);
    fact(doc, "imported from", row->imported_from);
    fact(doc, "host", row->hostname);
    fact(doc, "driver", row->driver);
    fact(doc, "program", row->version);
    return true;
}

static enum lab_status write_facts(void *user, int64_t run, struct lab_doc *out)
{
    struct lab_runs_source *s = user;
    struct lab_database *db;
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && db)
        st = lab_query_run(db, run, each_fact, out);
    lab_database_close(db);
    return st ? st : lab_doc_check(out);
}

static enum lab_status delete_run(void *user, int64_t run)
{
    struct lab_runs_source *s = user;
    struct lab_database *db;
    struct lab_deleted deleted;
    enum lab_status st = runs_source_open(s, true, &db);
    if (!st && db)
        st = lab_run_delete(db, run, &deleted);
    lab_database_close(db);
    return st;
}

static enum lab_status load_compare(void *user, const int64_t run[2],
                                    const struct lab_ui_compare_row **rows,
                                    int64_t *count, struct lab_doc *facts)
{
    struct lab_runs_source *s = user;
    struct lab_database *db;
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && db)
        st = compare_model_load(&s->compared, db, run, facts);
    lab_database_close(db);
    *rows = s->compared.rows;
    *count = s->compared.count;
    return st;
}

static enum lab_status load_roofline(void *user, int64_t run,
                                     struct lab_ui_roofline *out)
{
    struct lab_runs_source *s = user;
    struct lab_database *db;
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && db)
        st = roofline_model_load(&s->roofline, db, run, s->db, out);
    else if (!st)
        st = lab_fail(LAB_E_NOTFOUND, "nothing has been recorded");
    lab_database_close(db);
    return st;
}

/* The runs that ship are no database that a command may write to. */
static void hint(void *user, const char *const *words, struct lab_str *out)
{
    const struct lab_runs_source *s = user;
    lab_suggest_command(out, s->db, words);
    if (s->recorded)
        lab_str_add(out, " --recorded");
}

/* ---- life ---- */

enum lab_status lab_runs_source_new(struct lab_runs_source **out,
                                    const char *path)
{
    struct lab_runs_source *s = lab_alloc(sizeof(*s));
    struct lab_str text;
    enum lab_status st = LAB_OK;
    if (!s)
        return lab_no_memory("the list of runs");
    lab_str_init(&text);
    s->db = path ? lab_strdup(path) : NULL;
    if (path)
        lab_str_add(&text, path);
    else
        st = lab_database_default_path(&text);
    s->path = lab_str_detach(&text);
    if (!st && (!s->path || (path && !s->db)))
        st = lab_no_memory("the list of runs");
    if (st) {
        lab_runs_source_free(s);
        return st;
    }
    s->model = (struct lab_runs_model){.user = s,
                                       .hint = hint,
                                       .load_runs = load_runs,
                                       .load_steps = load_steps,
                                       .load_kernels = load_kernels,
                                       .write_facts = write_facts,
                                       .delete_run = delete_run,
                                       .load_compare = load_compare,
                                       .load_roofline = load_roofline,
                                       .load_passes = timeline_load_passes,
                                       .load_timeline = timeline_load_pass,
                                       .load_occupancy = whatif_load};
    *out = s;
    return LAB_OK;
}

enum lab_status lab_runs_source_recorded(struct lab_runs_source **out)
{
    struct lab_str path;
    lab_str_init(&path);
    enum lab_status st = lab_data_path(LAB_RECORDED_RUNS, &path);
    if (!st)
        st = lab_runs_source_new(out, lab_str_text(&path));
    lab_str_release(&path);
    if (st)
        return st;
    lab_free((*out)->db);
    (*out)->db = NULL;
    (*out)->recorded = true;
    (*out)->model.delete_run = NULL;
    (*out)->model.title = "Recorded runs";
    (*out)->model.badge = "recorded on " LAB_RECORDED_DEVICE;
    return LAB_OK;
}

void lab_runs_source_free(struct lab_runs_source *s)
{
    if (!s)
        return;
    rows_clear(&s->runs);
    rows_clear(&s->last);
    rows_clear(&s->steps);
    rows_clear(&s->kernels);
    compare_model_release(&s->compared);
    roofline_model_release(&s->roofline);
    timeline_model_release(&s->timeline);
    lab_time_sums_release(&s->sums);
    lab_free(s->path);
    lab_free(s->db);
    lab_free(s);
}

const struct lab_runs_model *lab_runs_source_model(struct lab_runs_source *s)
{
    return &s->model;
}
