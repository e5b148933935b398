#include "profile_labs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "json_line.h"
#include "profile_cmd.h"
#include "store/lab_rows.h"
#include "store/sweeps.h"
#include "text_table.h"

/* What the callbacks of one query share. */
struct labs {
    struct lab_text_table table;
    enum lab_status st;
    int64_t run;
    int rows;
    char unit[48]; /* of the rates, as a person reads them */
    double scale;
};

static void add_times(struct lab_text_table *t, double v)
{
    if (isnan(v))
        lab_text_table_add(t, NULL);
    else
        lab_text_table_addf(t, "%.2f x", v);
}

static void add_ns(struct lab_text_table *t, double ns)
{
    lab_text_table_add_ns(t, isnan(ns) ? LAB_UNKNOWN : llround(ns));
}

/* ---- rungs ---- */

static bool json_lab(void *user, const struct lab_lab_row *r)
{
    struct labs *l = user;
    json_t *o = lab_json_new("lab_row");
    lab_json_int(o, "run", l->run);
    lab_json_int(o, "place", r->place);
    lab_json_text(o, "lab", r->lab);
    lab_json_text(o, "size", r->size);
    lab_json_text(o, "variant", r->rung);
    lab_json_text(o, "precision", r->precision);
    lab_json_text(o, "status", r->status);
    lab_json_text(o, "reason", r->reason);
    lab_json_text(o, "note", r->note);
    lab_json_int(o, "workspace_bytes", r->workspace_bytes);
    lab_json_int(o, "repeats", r->repeats);
    lab_json_real(o, "min_ns", r->min_ns);
    lab_json_real(o, "median_ns", r->median_ns);
    lab_json_text(o, "unit", r->unit);
    lab_json_real(o, "rate", r->rate);
    lab_json_real(o, "rate_model", r->rate_model);
    lab_json_real(o, "rate_predicted", r->rate_predicted);
    lab_json_real(o, "gain", r->gain);
    lab_json_real(o, "gain_model", r->gain_model);
    lab_json_int(o, "traced_exec", r->traced_exec);
    l->st = lab_json_print(o);
    return l->st == LAB_OK;
}

/* Seconds an item are told in nanoseconds, rates in thousand millions. */
static void begin_rungs(struct labs *l, const struct lab_lab_row *r)
{
    bool time = r->unit && strncmp(r->unit, "s/", 2) == 0;
    l->scale = time ? 1e-9 : 1e9;
    snprintf(l->unit, sizeof(l->unit), ">%c%.40s", time ? 'n' : 'G',
             r->unit ? r->unit : "");
    const char *const heads[] = {"size",      "rung",  "in",     "status",
                                 ">median",   l->unit, ">model", ">gain",
                                 ">promised", "note",  NULL};
    lab_text_table_init(&l->table, heads);
}

static bool add_rung(void *user, const struct lab_lab_row *r)
{
    struct labs *l = user;
    if (l->rows++ == 0)
        begin_rungs(l, r);
    lab_text_table_add(&l->table, r->size);
    lab_text_table_add(&l->table, r->rung);
    lab_text_table_add(&l->table, r->precision);
    lab_text_table_add(&l->table, r->status);
    add_ns(&l->table, r->median_ns);
    lab_text_table_add_real(&l->table, r->rate / l->scale, 4);
    lab_text_table_add_real(&l->table, r->rate_model / l->scale, 4);
    add_times(&l->table, r->gain);
    add_times(&l->table, r->gain_model);
    lab_text_table_add(&l->table, r->note     ? r->note
                                  : r->reason ? r->reason
                                              : "");
    return true;
}

/* ---- sweeps ---- */

static bool json_sweep(void *user, const struct lab_sweep_row *r)
{
    struct labs *l = user;
    json_t *o = lab_json_new("sweep_row");
    lab_json_int(o, "run", l->run);
    lab_json_int(o, "place", r->place);
    lab_json_text(o, "sweep", r->sweep);
    lab_json_text(o, "lesson", r->lesson);
    lab_json_text(o, "backend", r->backend);
    lab_json_text(o, "name", r->name);
    lab_json_real(o, "x", r->x);
    lab_json_text(o, "status", r->status);
    lab_json_text(o, "reason", r->reason);
    lab_json_int(o, "iterations", r->iterations);
    lab_json_real(o, "median_ns", r->median_ns);
    lab_json_real(o, "samples_per_s", r->samples_per_s);
    lab_json_int(o, "memory_bytes", r->memory_bytes);
    lab_json_int(o, "parameters", r->parameters);
    lab_json_real(o, "flop", r->flop);
    lab_json_real(o, "loss_equal_samples", r->loss);
    lab_json_real(o, "loss_equal_iterations", r->loss_iterations);
    lab_json_real(o, "share", r->share);
    l->st = lab_json_print(o);
    return l->st == LAB_OK;
}

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
    add_ns(t, r->median_ns);
    lab_text_table_add_real(t, r->samples_per_s, 4);
    lab_text_table_add_int(t, r->memory_bytes);
    lab_text_table_add_int(t, r->parameters);
    lab_text_table_add_real(t, r->share, 3);
    lab_text_table_add_real(t, r->loss, 4);
    lab_text_table_add_real(t, r->loss_iterations, 4);
    return true;
}

/* ---- both ---- */

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

enum lab_status lab_profile_print_labs(const struct lab_profile_print *p,
                                       int64_t run)
{
    struct labs rungs = {.run = run};
    struct labs sweeps = {.run = run};
    enum lab_status st =
        lab_lab_rows_read(p->db, run, p->json ? json_lab : add_rung, &rungs);
    if (!st)
        st = rungs.st;
    enum lab_status ended = end_rows(p, &rungs);
    if (!st)
        st = ended;
    if (!st)
        st = lab_sweep_rows_read(p->db, run, p->json ? json_sweep : add_sweep,
                                 &sweeps);
    if (!st)
        st = sweeps.st;
    ended = end_rows(p, &sweeps);
    return st ? st : ended;
}
