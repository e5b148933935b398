#include "profile_labs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profile_cmd.h"
#include "report/json_line.h"
#include "profile_json.h"
#include "store/bench.h"
#include "store/tuned.h"
#include "report/text_table.h"
#include "bench/text.h"

/* What the callbacks of one query share. */
struct labs {
    struct lab_text_table table;
    int rows;
    char unit[48]; /* of the rates, as a person reads them */
    double scale;
};

/* ---- rungs ---- */

/* Seconds an item are told in nanoseconds, rates in thousand millions. */
static void take_unit(struct labs *l, const char *unit)
{
    bool time = unit && strncmp(unit, "s/", 2) == 0;
    l->scale = time ? 1e-9 : 1e9;
    snprintf(l->unit, sizeof(l->unit), ">%c%.40s", time ? 'n' : 'G',
             unit ? unit : "");
}

static void begin_rungs(struct labs *l, const struct lab_bench_result *r)
{
    take_unit(l, r->unit);
    const char *const heads[] = {"size",     "rung",  "in",     "status",
                                 ">median",  l->unit, ">model", ">gain",
                                 ">model's", "note",  NULL};
    lab_text_table_init(&l->table, heads);
}

static enum lab_bench_unit unit_of(const struct lab_bench_result *r)
{
    return !r->unit                         ? LAB_UNIT_BYTES
           : strncmp(r->unit, "s/", 2) == 0 ? LAB_UNIT_TIME
           : strcmp(r->unit, "FLOP/s") == 0 ? LAB_UNIT_FLOPS
                                            : LAB_UNIT_BYTES;
}

/* What the rung said of itself, or why it has no times, and why it is faster
 * than its model. */
static void add_note(struct labs *l, const struct lab_bench_result *r)
{
    const char *note = r->note ? r->note : r->reason ? r->reason : "";
    const char *why = lab_bench_model_passed(unit_of(r), r->rate, r->rate_model,
                                             r->bytes, r->traffic_bytes);
    lab_text_table_addf(&l->table, "%s%s%s%s", note, why && note[0] ? "; " : "",
                        why ? "passed: " : "", why ? why : "");
}

static bool add_rung(void *user, const struct lab_bench_result *r)
{
    struct labs *l = user;
    if (l->rows++ == 0)
        begin_rungs(l, r);
    lab_text_table_add(&l->table, r->size);
    lab_text_table_add(&l->table, r->variant);
    lab_text_table_add(&l->table, r->precision);
    lab_text_table_add(&l->table, r->status);
    lab_text_table_add_real_ns(&l->table, r->median_ns);
    lab_text_table_add_real(&l->table, r->rate / l->scale, 4);
    lab_text_table_add_real(&l->table, r->rate_model / l->scale, 4);
    lab_text_table_add_times(&l->table, r->gain);
    lab_text_table_add_times(&l->table, r->gain_model);
    add_note(l, r);
    return true;
}

/* ---- sweeps ---- */

static bool add_sweep(void *user, const struct lab_sweep_row *r)
{
    static const char *const heads[] = {
        "lesson",      "on",      ">size",           "part",
        "status",      ">median", ">samples/s",      ">memory, B",
        ">parameters", ">share",  ">loss (samples)", ">loss (iterations)",
        NULL};
    struct labs *l = user;
    struct lab_text_table *t = &l->table;
    if (l->rows++ == 0)
        lab_text_table_init(t, heads);
    lab_text_table_add(t, r->lesson);
    lab_text_table_add(t, r->backend);
    lab_text_table_add_real(t, r->x, 10);
    lab_text_table_add(t, r->name ? r->name : "");
    lab_text_table_add(t, r->status);
    lab_text_table_add_real_ns(t, r->median_ns);
    lab_text_table_add_real(t, r->samples_per_s, 4);
    lab_text_table_add_int(t, r->memory_bytes);
    lab_text_table_add_int(t, r->parameters);
    lab_text_table_add_real(t, r->share, 3);
    lab_text_table_add_real(t, r->loss, 4);
    lab_text_table_add_real(t, r->loss_iterations, 4);
    return true;
}

/* ---- what was expected ---- */

/* In the unit of the rungs above it. */
static bool add_said(void *user, const struct lab_prediction *r)
{
    struct labs *l = user;
    struct lab_text_table *t = &l->table;
    if (l->rows++ == 0) {
        const char *const heads[] = {
            "expected of", "in",
            "size",        l->unit[0] ? l->unit : ">rate",
            ">time",       "bound by",
            ">occupancy",  NULL};
        lab_text_table_init(t, heads);
    }
    lab_text_table_add(t, r->variant ? r->variant : "");
    lab_text_table_add(t, r->precision ? r->precision : "any");
    lab_text_table_add(t, r->size ? r->size : "any");
    lab_text_table_add_real(t, r->rate / l->scale, 4);
    lab_text_table_add_real_ns(t, r->time_ns);
    lab_text_table_add(t, r->bound);
    if (isnan(r->occupancy_pct))
        lab_text_table_add(t, NULL);
    else
        lab_text_table_addf(t, "%.4g %%", r->occupancy_pct);
    return true;
}

/* ---- what was tuned ---- */

/* A run tunes one lab: its rows have one unit. */
static bool add_tuned(void *user, const struct lab_tuned_row *r)
{
    struct labs *l = user;
    struct lab_text_table *t = &l->table;
    if (l->rows++ == 0) {
        take_unit(l, r->unit);
        const char *const heads[] = {"lab",     "sizes", "in",
                                     "fastest", ">of",   "measured at",
                                     ">median", l->unit, NULL};
        lab_text_table_init(t, heads);
    }
    lab_text_table_add(t, r->lab);
    lab_text_table_add(t, r->size_class);
    lab_text_table_add(t, r->precision);
    lab_text_table_add(t, r->candidate);
    lab_text_table_add_int(t, r->candidates);
    lab_text_table_add(t, r->size);
    lab_text_table_add_real_ns(t, r->median_ns);
    lab_text_table_add_real(t, r->rate / l->scale, 4);
    return true;
}

/* ---- all of them ---- */

static enum lab_status end_rows(const struct lab_profile_print *p,
                                struct labs *l)
{
    struct lab_str text;
    if (l->rows == 0)
        return LAB_OK;
    lab_str_init(&text);
    lab_str_add_char(&text, '\n');
    enum lab_status st = lab_text_table_format(&l->table, &text);
    lab_text_table_release(&l->table);
    if (st) {
        lab_str_release(&text);
        return st;
    }
    return lab_profile_put(&text, p->ascii);
}

static enum lab_status print_tables(const struct lab_profile_print *p,
                                    int64_t run)
{
    struct labs rungs = {.scale = 1};
    struct labs tuned = {.scale = 1};
    struct labs sweeps = {0};
    enum lab_status st = lab_bench_results_read(p->db, run, add_rung, &rungs);
    enum lab_status ended = end_rows(p, &rungs);
    struct labs said = {.scale = rungs.scale};
    memcpy(said.unit, rungs.unit, sizeof(said.unit));
    st = st ? st : ended;
    if (!st) {
        st = lab_predictions_read(p->db, run, add_said, &said);
        ended = end_rows(p, &said);
    }
    st = st ? st : ended;
    if (!st) {
        st = lab_tuned_of_run(p->db, run, add_tuned, &tuned);
        ended = end_rows(p, &tuned);
    }
    st = st ? st : ended;
    if (!st) {
        st = lab_sweep_rows_read(p->db, run, add_sweep, &sweeps);
        ended = end_rows(p, &sweeps);
    }
    return st ? st : ended;
}

static enum lab_status print_line(void *user, json_t *object)
{
    (void)user;
    return lab_json_print(object);
}

enum lab_status lab_profile_print_labs(const struct lab_profile_print *p,
                                       int64_t run)
{
    return p->json ? lab_profile_lab_lines(p->db, run, print_line, NULL)
                   : print_tables(p, run);
}
