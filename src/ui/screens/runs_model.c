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
#include "report/suggest.h"
#include "report/missing.h"
#include "store/launch.h"
#include "base/datadir.h"
#include "store/row_fields.h"
#include "store/delete.h"
#include "store/query.h"
#include "base/unknown.h"
#include "store/compare.h"
#include "ui/models.h"
#include "report/roofline.h"
#include "store/timeline.h"
#include "screens/whatif.h"
#include "store/counted.h"
#include "store/time_sum.h"

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
    struct lab_time_sums steps;
    struct rows kernels;
    struct lab_comparison compared;
    struct lab_roofline roofline;
    struct rows passes;
    struct lab_timeline *whole; /* of a pass, while parts are looked at */
    struct lab_timeline *part;
    struct lab_time_sums sums; /* of the kernels */
    struct lab_time_sums work;
    struct lab_roofline bounds; /* of the run of which there are steps */
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

static void name_fact(struct lab_doc *doc, const char *name)
{
    lab_doc_para(doc, 0, 14, true);
    lab_doc_addf(doc, LAB_ROLE_DIM, "%-14s", name);
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

static const char *keep(struct rows *r, const char *text)
{
    char *copy = text ? lab_strdup(text) : NULL;
    if (!text)
        return NULL;
    if (!copy || lab_grow(&r->texts, (size_t)r->n_texts, &r->text_room,
                          sizeof(*r->texts), "the list")) {
        lab_free(copy);
        r->failed = true;
        return NULL;
    }
    r->texts[r->n_texts++] = copy;
    return copy;
}

static enum lab_status check(const struct rows *r)
{
    return r->failed ? lab_no_memory("the list") : LAB_OK;
}

/* ---- a comparison ---- */

static void write_fact(struct lab_doc *doc, const char *name, const char *a,
                       const char *b)
{
    name_fact(doc, name);
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
        name_fact(doc, name);
        lab_doc_addf(doc, LAB_ROLE_NORMAL, "%.*s", n, at);
        at += n + (at[n] == '\n');
    }
    lab_str_release(&notes);
}

static void compare_facts(struct lab_doc *doc, const struct lab_comparison *c)
{
    const struct lab_compared_run *run = c->run;
    char wall[LAB_SIDES][LAB_FORMAT_BYTES + 24];
    for (int i = 0; i < LAB_SIDES; i++) {
        double ns = lab_to_real(run[i].iteration_median_ns);
        bool first = !isnan(ns) && run[i].iterations == 1;
        snprintf(wall[i], sizeof(wall[i]), "%s%s", LAB_NS_TEXT(ns),
                 first ? " (warm-up iteration)" : "");
    }
    write_fact(doc, "wall time", wall[0], wall[1]);
    for (int i = 0; i < LAB_FACT_COUNT; i++)
        if (lab_comparison_differs(c, (enum lab_run_fact)i))
            write_run_fact(doc, run, (enum lab_run_fact)i);
    write_wall(doc, c);
    name_fact(doc, "verdict");
    lab_doc_addf(doc, LAB_ROLE_NORMAL,
                 "Mann-Whitney U, two-sided, adjusted after Holm: p below "
                 "%.2f, and medians %.0f %% and %d ns apart",
                 LAB_RANK_ALPHA, 100 * LAB_COMPARE_LEAST_SHARE,
                 LAB_COMPARE_LEAST_NS);
}

/* ---- a roofline ---- */

static void write_note(const struct lab_roofline *line, const char *option,
                       struct lab_str *out)
{
    bool some = false;
    if (lab_roofline_measured(line))
        return;
    if (strcmp(line->device.backend, "sim") == 0) {
        lab_str_add(out, "A simulated GPU has no times, and no roofs.");
        return;
    }
    for (int i = 0; i < LAB_CEILING_ROOFS; i++)
        some = some || line->per_s[i] > 0;
    lab_str_add(out, some ? "The roofs are a data sheet's. `"
                          : "No roof is known: `");
    lab_suggest_command(out, option, LAB_WORDS("profile", "ceilings"));
    lab_str_add(out, some ? "`, on that device, measures what it reaches."
                          : "`, on that device, measures them.");
}

static enum lab_status load_roofline(void *user, int64_t run,
                                     const struct lab_roofline **out,
                                     struct lab_str *note)
{
    struct lab_runs_source *s = user;
    struct lab_database *db;
    lab_roofline_release(&s->roofline);
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && db)
        st = lab_roofline_load(&s->roofline, db, run);
    else if (!st)
        st = lab_fail(LAB_E_NOTFOUND,
                      "[screen.no-runs] nothing has been recorded");
    lab_database_close(db);
    if (st)
        return st;
    write_note(&s->roofline, s->db, note);
    *out = &s->roofline;
    return LAB_OK;
}

/* ---- a timeline ---- */

static void timelines_clear(struct lab_runs_source *s)
{
    rows_clear(&s->passes);
    lab_timeline_free(s->whole);
    lab_timeline_free(s->part);
    s->whole = s->part = NULL;
}

static bool add_pass(void *user, const struct lab_iteration_row *row)
{
    struct lab_iteration_row *out = add_row(user, sizeof(*out));
    if (out)
        *out = *row;
    return out != NULL;
}

static enum lab_status
timeline_load_passes(void *user, int64_t run,
                     const struct lab_iteration_row **rows, int64_t *count)
{
    struct lab_runs_source *s = user;
    struct lab_database *db;
    timelines_clear(s);
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && db)
        st = lab_query_iterations(db, run, add_pass, &s->passes);
    if (!st)
        st = check(&s->passes);
    if (!st && db && s->passes.n == 0)
        st = lab_fail_missing(db, run, LAB_HAS_KERNELS);
    lab_database_close(db);
    *rows = s->passes.items;
    *count = s->passes.n;
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
    struct lab_timeline **place = filter ? &s->part : &s->whole;
    struct lab_timeline *fresh = NULL;
    struct lab_database *db;
    if (!filter && is_of(s->whole, run, of)) {
        *out = s->whole;
        return LAB_OK;
    }
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && !db)
        st = lab_fail(LAB_E_NOTFOUND, "[screen.database-gone] %s is gone",
                      s->path);
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

/* A value of a launch is known of a sum where all of its launches agree. */
static bool launches_differ(const struct lab_time_sum *sum)
{
    return sum->count > 1 &&
           (lab_launch_size(sum->launch.grid) == LAB_UNKNOWN ||
            lab_launch_size(sum->launch.block) == LAB_UNKNOWN ||
            sum->launch.registers_per_thread == LAB_UNKNOWN ||
            sum->shared_bytes == LAB_UNKNOWN);
}

static enum lab_status load_newest(struct lab_database *db, int64_t run,
                                   const struct lab_time_sum *sum,
                                   struct lab_occupancy_args *out)
{
    char count[LAB_FORMAT_BYTES];
    int64_t row;
    enum lab_status st = lab_launch_last(db, run, sum->step_index, sum->variant,
                                         sum->kernel, &row);
    if (!st)
        st = lab_whatif_stored(db, run, row,
                               sum->counters.achieved_occupancy_pct, out);
    if (st || !launches_differ(sum))
        return st;
    snprintf(out->note, sizeof(out->note),
             "the newest of %s launches, which differ",
             lab_format_int(sum->count, count, sizeof(count)));
    return LAB_OK;
}

static enum lab_status whatif_load(void *user, int64_t run,
                                   const struct lab_time_sum *kernel,
                                   int64_t row, struct lab_occupancy_args *out)
{
    struct lab_runs_source *s = user;
    struct lab_database *db;
    enum lab_status st = runs_source_open(s, false, &db);
    if (st)
        return st;
    if (!db)
        return lab_fail(LAB_E_NOTFOUND, "[screen.database-gone] %s is gone",
                        s->path);
    if (kernel)
        st = load_newest(db, run, kernel, out);
    else if (row != LAB_UNKNOWN)
        st = lab_whatif_stored(db, run, row, (double)NAN, out);
    else
        st = lab_fail_missing(db, run, LAB_HAS_KERNELS);
    lab_database_close(db);
    return st;
}

/* ---- runs ---- */

/* The newest `most` of them; 0: all. */
struct taking {
    struct rows *rows;
    int most;
};

static bool take_run(void *user, const struct lab_run_row *row)
{
    const struct taking *t = user;
    struct rows *r = t->rows;
    struct lab_run_row *out = add_row(r, sizeof(*out));
    if (!out)
        return false;
    *out = *row;
    for (int i = 0; i < lab_run_fields.count; i++) {
        const struct lab_field *f = &lab_run_fields.list[i];
        const char **text = (const char **)(void *)((char *)out + f->at);
        if (f->column && f->kind == LAB_FIELD_TEXT)
            *text = keep(r, *text);
    }
    return !r->failed && r->n != t->most;
}

static enum lab_status read_runs(struct lab_runs_source *s, struct taking t,
                                 const struct lab_run_row **rows,
                                 int64_t *count)
{
    struct lab_database *db;
    rows_clear(t.rows);
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && db)
        st = lab_query_runs(db, take_run, &t);
    lab_database_close(db);
    *rows = t.rows->items;
    *count = t.rows->n;
    return st ? st : check(t.rows);
}

static enum lab_status load_runs(void *user, const struct lab_run_row **rows,
                                 int64_t *count)
{
    struct lab_runs_source *s = user;
    return read_runs(s, (struct taking){&s->runs, 0}, rows, count);
}

enum lab_status lab_runs_source_last(struct lab_runs_source *s, int most,
                                     const struct lab_run_row **rows,
                                     int64_t *count)
{
    return read_runs(s, (struct taking){&s->last, most}, rows, count);
}

/* ---- steps and kernels ---- */

/* The sums of some levels, a bit each, with what was counted. */
static enum lab_status load_sums(struct lab_runs_source *s, int64_t run,
                                 unsigned levels, struct lab_time_sums *sums)
{
    struct lab_database *db;
    struct lab_counted_run counted = {0};
    lab_time_sums_release(sums);
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && db)
        st = lab_time_sums_load(sums, db, run, levels);
    if (!st && db)
        st = lab_counted_load(&counted, db, run);
    lab_counted_fill(&counted, sums);
    lab_counted_release(&counted);
    bool kept = sums->stored || st || !db;
    lab_database_close(db);
    if (!kept)
        lab_time_sums_keep_later(s->path, run);
    return st;
}

/* What holds back each row: without it a list has one column less. */
static void load_bounds(struct lab_runs_source *s, int64_t run)
{
    struct lab_database *db;
    lab_roofline_release(&s->bounds);
    if (!runs_source_open(s, false, &db) && db &&
        lab_roofline_load(&s->bounds, db, run))
        s->bounds = (struct lab_roofline){0};
    lab_database_close(db);
}

static enum lab_status load_steps(void *user, int64_t run,
                                  const struct lab_time_sum **rows,
                                  int64_t *count)
{
    struct lab_runs_source *s = user;
    enum lab_status st = load_sums(s, run, 1u << LAB_SUM_STEP, &s->steps);
    if (!st)
        st = lab_time_sums_share(s->steps.items, s->steps.count);
    load_bounds(s, run);
    lab_roofline_bounds(&s->bounds, s->steps.items, s->steps.count);
    *rows = s->steps.items;
    *count = (int64_t)s->steps.count;
    return st;
}

static enum lab_status load_work(void *user, int64_t run,
                                 const struct lab_time_sum **rows,
                                 int64_t *count)
{
    struct lab_runs_source *s = user;
    enum lab_status st =
        load_sums(s, run, 1u << LAB_SUM_STEP | 1u << LAB_SUM_KERNEL, &s->work);
    if (s->bounds.run != run)
        load_bounds(s, run);
    lab_roofline_bounds(&s->bounds, s->work.items, s->work.count);
    *rows = s->work.items;
    *count = (int64_t)s->work.count;
    return st;
}

/* The steps of a lab are distinguished by their index alone. */
static bool of_step(const struct lab_time_sum *sum,
                    const struct lab_time_sum *step)
{
    if (sum->rung)
        return sum->step_index == step->step_index;
    return sum->name && sum->phase && step->name && step->phase &&
           strcmp(sum->name, step->name) == 0 &&
           strcmp(sum->phase, step->phase) == 0;
}

/* A row for all launches of a kernel in a step: a run may have millions. */
static enum lab_status load_kernels(void *user, int64_t run,
                                    const struct lab_time_sum *step,
                                    const struct lab_time_sum **rows,
                                    int64_t *count)
{
    struct lab_runs_source *s = user;
    struct lab_time_sums *sums = &s->sums;
    rows_clear(&s->kernels);
    enum lab_status st = load_sums(s, run, 1u << LAB_SUM_KERNEL, sums);
    for (size_t i = 0; i < sums->count; i++) {
        struct lab_time_sum *out = NULL;
        if (!step || of_step(&sums->items[i], step))
            out = add_row(&s->kernels, sizeof(*out));
        if (out)
            *out = sums->items[i];
    }
    if (!st)
        st = check(&s->kernels);
    if (!st)
        st = lab_time_sums_share(s->kernels.items, (size_t)s->kernels.n);
    if (!st && s->bounds.run == run)
        lab_roofline_bounds(&s->bounds, s->kernels.items, (size_t)s->kernels.n);
    *rows = s->kernels.items;
    *count = s->kernels.n;
    return st;
}

/* ---- facts, delete ---- */

static void fact(struct lab_doc *doc, const char *name, const char *value)
{
    if (!value || !value[0])
        return;
    name_fact(doc, name);
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
    fact(doc, lab_run_is_lab(row) ? "lab" : "lesson",
         row->title ? row->title : row->lesson);
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
    fact(doc, "owner", row->label ? row->label : row->user);
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
                                    const struct lab_compare_row **rows,
                                    int64_t *count, struct lab_doc *facts)
{
    struct lab_runs_source *s = user;
    struct lab_database *db;
    struct lab_comparison fresh = {0};
    enum lab_status st = runs_source_open(s, false, &db);
    if (!st && db)
        st = lab_comparison_load(&fresh, db, run[0], run[1]);
    lab_database_close(db);
    if (!st) {
        lab_comparison_release(&s->compared);
        s->compared = fresh;
        compare_facts(facts, &fresh);
    }
    *rows = s->compared.rows;
    *count = (int64_t)(s->compared.count + s->compared.walls);
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
                                       .load_work = load_work,
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
    lab_time_sums_release(&s->steps);
    rows_clear(&s->kernels);
    lab_comparison_release(&s->compared);
    lab_roofline_release(&s->roofline);
    timelines_clear(s);
    lab_time_sums_release(&s->sums);
    lab_roofline_release(&s->bounds);
    lab_time_sums_release(&s->work);
    lab_free(s->path);
    lab_free(s->db);
    lab_free(s);
}

const struct lab_runs_model *lab_runs_source_model(struct lab_runs_source *s)
{
    return &s->model;
}
