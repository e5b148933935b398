#include "compare_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "report/compare_label.h"
#include "profile/profile_compare.h"
#include "base/format.h"
#include "report/variant_words.h"

void lab_compare_model_release(struct lab_compare_model *m)
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

static void write_facts(struct lab_doc *doc, const struct lab_comparison *c)
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

enum lab_status lab_compare_model_load(struct lab_compare_model *m,
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
        lab_compare_model_release(&fresh);
        return lab_no_memory("a comparison");
    }
    for (size_t i = 0; i < c->count; i++)
        fill(&fresh.rows[i], &c->rows[i]);
    fresh.count = (int64_t)c->count;
    fill_walls(&fresh);
    write_facts(facts, c);
    lab_compare_model_release(m);
    *m = fresh;
    return LAB_OK;
}
