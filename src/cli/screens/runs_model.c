#include "runs_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/datadir.h"
#include "base/mem.h"
#include "report/suggest.h"
#include "store/delete.h"
#include "store/limit_words.h"
#include "store/query.h"
#include "base/unknown.h"
#include "runs_model_priv.h"
#include "base/format.h"
#include "report/variant_words.h"

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

enum lab_status lab_runs_source_open(struct lab_runs_source *s, bool write,
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
    enum lab_status st = lab_runs_source_open(s, false, &db);
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
    enum lab_status st = lab_runs_source_open(s, false, &db);
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
    enum lab_status st = lab_runs_source_open(s, false, &db);
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
    enum lab_status st = lab_runs_source_open(s, false, &db);
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
    enum lab_status st = lab_runs_source_open(s, false, &db);
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
    enum lab_status st = lab_runs_source_open(s, true, &db);
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
    enum lab_status st = lab_runs_source_open(s, false, &db);
    if (!st && db)
        st = lab_compare_model_load(&s->compared, db, run, facts);
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
    enum lab_status st = lab_runs_source_open(s, false, &db);
    if (!st && db)
        st = lab_roofline_model_load(&s->roofline, db, run, s->db, out);
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
                                       .load_passes = lab_timeline_load_passes,
                                       .load_timeline = lab_timeline_load_pass,
                                       .load_occupancy = lab_whatif_load};
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
    lab_compare_model_release(&s->compared);
    lab_roofline_model_release(&s->roofline);
    lab_timeline_model_release(&s->timeline);
    lab_time_sums_release(&s->sums);
    lab_free(s->path);
    lab_free(s->db);
    lab_free(s);
}

const struct lab_runs_model *lab_runs_source_model(struct lab_runs_source *s)
{
    return &s->model;
}
