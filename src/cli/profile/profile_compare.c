/* profile_compare.c -- two runs or more side by side: the wall time, the tables of
 * differences, the same as lines of JSON, and baselines. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_line.h"
#include "report/compare_label.h"
#include "report/print.h"
#include "report/text_table.h"
#include "base/format.h"
#include "store/query.h"
#include "cmd.h"
#include "report/suggest.h"
#include "report/missing.h"
#include "profiler/profiler.h"
#include "profile_cmd.h"
#include "store/compare.h"
#include "store/counted.h"

/* ---- where the wall time of an iteration goes, in each of two runs ---- */

/* A part, or after the last one all of it, which is unknown for the reason of the
 * first. */
static int64_t part_ns(const struct lab_comparison *c, int side, int part)
{
    const struct lab_time_breakdown *w = &c->wall[side];
    return part < LAB_WALL_PARTS ? w->part_ns[part] : w->wall_ns;
}

static const char *why_unknown(const struct lab_comparison *c, int side,
                               int part)
{
    const struct lab_time_breakdown *w = &c->wall[side];
    return part < LAB_WALL_PARTS       ? w->why[part]
           : w->wall_ns == LAB_UNKNOWN ? w->why[0]
                                       : NULL;
}

static double part_difference(const struct lab_comparison *c, int part)
{
    return lab_to_real(part_ns(c, LAB_SIDE_B, part)) -
           lab_to_real(part_ns(c, LAB_SIDE_A, part));
}

static void add_part(struct lab_text_table *t, const struct lab_comparison *c,
                     int part)
{
    double difference = part_difference(c, part);
    lab_text_table_add(t, part < LAB_WALL_PARTS
                              ? lab_time_part_name((enum lab_time_part)part)
                              : "all of it");
    for (int side = 0; side < LAB_SIDES; side++) {
        double ns = lab_to_real(part_ns(c, side, part));
        double all = lab_to_real(c->wall[side].wall_ns);
        if (isnan(ns)) {
            lab_text_table_add(t, "-");
            lab_text_table_add(t, "-");
        } else {
            lab_text_table_add_real_ns(t, ns);
            lab_text_table_add(t, LAB_SHARE_TEXT(ns / (all > 0 ? all : NAN)));
        }
    }
    lab_text_table_add(t, isnan(difference) ? "-"
                                            : LAB_DIFFERENCE_TEXT(difference));
}

static enum lab_status put_wall(const struct lab_comparison *c)
{
    static const char above[] = "\nWhere one iteration's time goes:\n";
    struct lab_text_table t;
    struct lab_str notes;
    char head[LAB_SIDES][32];
    for (int i = 0; i < LAB_SIDES; i++)
        snprintf(head[i], sizeof(head[i]), ">%lld", (long long)c->run[i].run);
    const char *const heads[] = {"wall time", head[0], ">share", head[1],
                                 ">share",    ">diff", NULL};
    lab_str_init(&notes);
    if (c->wall[LAB_SIDE_A].wall_ns != LAB_UNKNOWN ||
        c->wall[LAB_SIDE_B].wall_ns != LAB_UNKNOWN) {
        lab_text_table_init(&t, heads);
        for (int i = 0; i <= LAB_WALL_PARTS; i++)
            add_part(&t, c, i);
        enum lab_status st = lab_text_table_put(&t, above);
        if (st)
            return st;
    } else {
        lab_str_add(&notes, above); /* and why there is nothing to show */
    }
    lab_compare_wall_notes(c, &notes);
    return lab_print_str(&notes);
}

static enum lab_status print_part(const struct lab_comparison *c, int part)
{
    json_t *o = lab_json_new("wall");
    lab_json_int(o, "a", c->run[LAB_SIDE_A].run);
    lab_json_int(o, "b", c->run[LAB_SIDE_B].run);
    lab_json_text(o, "part",
                  part < LAB_WALL_PARTS
                      ? lab_time_part_id((enum lab_time_part)part)
                      : "all");
    lab_json_int(o, "iteration_a", c->wall[LAB_SIDE_A].iteration);
    lab_json_int(o, "iteration_b", c->wall[LAB_SIDE_B].iteration);
    lab_json_int(o, "ns_a", part_ns(c, LAB_SIDE_A, part));
    lab_json_int(o, "ns_b", part_ns(c, LAB_SIDE_B, part));
    lab_json_real(o, "difference_ns", part_difference(c, part));
    lab_json_text(o, "why_a", why_unknown(c, LAB_SIDE_A, part));
    lab_json_text(o, "why_b", why_unknown(c, LAB_SIDE_B, part));
    return lab_json_print(o);
}

/* Columns of a name where a line has 80. */
enum { USUAL = 80, LABEL = 26, SHORT_LABEL = 22, SHORTEST_LABEL = 14 };

/* Tables of rows: the times of both runs; how many were taken, their spread, and
 * work, which kernels have none of; and what was counted. Places are those of
 * lab_compare_fields. */
enum part { TIMES, WORK, COUNTED };
static const struct {
    int first;
    int last;
    size_t room;
    const char *above;
} parts[] = {
    [TIMES] = {2, 7, LABEL, "\n"},
    [WORK] = {8, 14, SHORT_LABEL,
              "\nTimes that were taken, their spread, and work:\n"},
    [COUNTED] = {LAB_COMPARE_COUNTED,
                 LAB_COMPARE_COUNTED + LAB_COMPARE_COUNTED_COLUMNS - 1,
                 SHORTEST_LABEL,
                 "\nWhat was counted: FLOP, sectors of 32 bytes a load of a "
                 "warp, conflicts of banks:\n"},
};
enum { WORK_OF_KERNELS = 11, MOST = 8 };

/* ---- order ---- */

enum sort { BY_DIFFERENCE, BY_SHARE, BY_INDEX, BY_NAME, BY_P, SORTS };
static const char *const sort_names[SORTS] = {"difference", "share", "index",
                                              "name", "p"};

struct order {
    enum sort sort;
    int sign;
    const struct lab_compare_row *rows;
};

/* The largest first for differences and shares; NaN: unknown. */
static double sort_key(const struct lab_compare_row *r, enum sort sort)
{
    switch (sort) {
    case BY_DIFFERENCE:
        return -fabs(lab_compare_difference(r));
    case BY_SHARE:
        return -fabs(r->share);
    case BY_P:
        return r->p;
    default:
        return 0;
    }
}

static int compare_rows(const void *a, const void *b, void *user)
{
    const struct order *order = user;
    size_t i = *(const size_t *)a;
    size_t k = *(const size_t *)b;
    const struct lab_compare_row *x = &order->rows[i];
    const struct lab_compare_row *y = &order->rows[k];
    double s = sort_key(x, order->sort);
    double t = sort_key(y, order->sort);
    int by = 0;
    if (isnan(s) || isnan(t))
        by = (isnan(s) != 0) - (isnan(t) != 0);
    else
        by = order->sign * ((s > t) - (s < t));
    if (order->sort == BY_NAME)
        by = order->sign * strcmp(lab_compare_name(lab_compare_either(x)),
                                  lab_compare_name(lab_compare_either(y)));
    if (order->sort == BY_INDEX)
        by = order->sign * ((i > k) - (i < k));
    return by ? by : (i > k) - (i < k);
}

static enum lab_status find_order(const struct lab_options *o,
                                  struct order *out)
{
    int sort = BY_DIFFERENCE;
    enum lab_status st = LAB_OK;
    if (o->sort)
        st = lab_find_word("column", o->sort, sort_names, SORTS,
                           "compare has difference, share, index, name and p",
                           &sort);
    *out = (struct order){(enum sort)sort, o->reverse ? -1 : 1, NULL};
    return st;
}

/* The rows of a table in their order, `*n` indices. The iteration and its
 * phases are one table. */
static size_t *sorted(const struct lab_comparison *c, enum lab_sum_level level,
                      struct order order, size_t *n)
{
    size_t *list = calloc(c->count + 1, sizeof(*list));
    *n = 0;
    for (size_t i = 0; list && i < c->count; i++)
        if (c->rows[i].level == level ||
            (level == LAB_SUM_ITERATION && c->rows[i].level == LAB_SUM_PHASE))
            list[(*n)++] = i;
    order.rows = c->rows;
    if (list && *n)
        qsort_r(list, *n, sizeof(*list), compare_rows, &order);
    return list;
}

/* ---- text ---- */

static size_t room_of(enum part part)
{
    size_t room = parts[part].room;
    size_t columns = lab_print_columns();
    if (columns == 0)
        return 0;
    return columns > USUAL ? room + columns - USUAL : room;
}

/* The columns of a side that have its run's number for a head, or in it. */
static const char *head_of(const struct lab_comparison *c, int place,
                           char out[32])
{
    const char *title = lab_field_at(&lab_compare_fields, place)->title;
    size_t n = strlen(title);
    bool counted = place >= LAB_COMPARE_COUNTED;
    bool first = place == parts[TIMES].first || place == parts[WORK].first ||
                 (counted && (place - LAB_COMPARE_COUNTED) % 2 == 0);
    int side = first ? LAB_SIDE_A : LAB_SIDE_B;
    if (n > 1 && title[n - 1] != ' ')
        return title;
    snprintf(out, 32, "%s%lld", title, (long long)c->run[side].run);
    return out;
}

/* The rows of list[0..n). */
static enum lab_status put_rows(const struct lab_comparison *c,
                                enum lab_sum_level level, enum part part,
                                const size_t *list, size_t n)
{
    struct lab_text_table t;
    struct lab_labels labels;
    bool of_kernels = part == WORK && level == LAB_SUM_KERNEL;
    int first = parts[part].first;
    int last = of_kernels ? WORK_OF_KERNELS : parts[part].last;
    const char *heads[MOST + 1] = {NULL};
    char numbers[MOST][32];
    enum lab_status st =
        lab_labels_make(&labels, room_of(part), c->rows, list, n);
    if (st)
        return st;
    /* The steps of an iteration, added up: not its wall time. */
    heads[0] =
        level == LAB_SUM_ITERATION ? "sum of steps" : lab_sum_level_name(level);
    for (int place = first; place <= last; place++)
        heads[1 + place - first] = head_of(c, place, numbers[place - first]);
    lab_text_table_init(&t, heads);
    for (size_t i = 0; i < n; i++) {
        lab_text_table_add(&t, labels.items[i].text);
        for (int place = first; place <= last; place++)
            lab_text_table_add_field(&t,
                                     lab_field_at(&lab_compare_fields, place),
                                     &c->rows[list[i]]);
    }
    lab_labels_release(&labels);
    return lab_text_table_put(&t, parts[part].above);
}

static enum lab_status put_level(const struct order *order, int64_t limit,
                                 const struct lab_comparison *c,
                                 enum lab_sum_level level, enum part part)
{
    size_t n;
    size_t *list = sorted(c, level, *order, &n);
    enum lab_status st = list ? LAB_OK : lab_no_memory("a table");
    if (limit > 0 && (int64_t)n > limit)
        n = (size_t)limit;
    if (n > 0)
        st = put_rows(c, level, part, list, n);
    free(list);
    return st;
}

enum { FACT_ROOM = 30 };

/* The facts that differ; a long one is cut, so that a line fits. */
static void add_cut(struct lab_text_table *t, const char *text)
{
    if (text && strlen(text) > FACT_ROOM)
        lab_text_table_addf(t, "%.*s..", FACT_ROOM - 2, text);
    else
        lab_text_table_add(t, text);
}

static void add_reals(struct lab_text_table *t, const char *name, double a,
                      double b)
{
    lab_text_table_add(t, name);
    lab_text_table_add_real(t, a, 6);
    lab_text_table_add_real(t, b, 6);
}

static void add_wall(struct lab_text_table *t, const struct lab_compared_run *r)
{
    if (r->iterations == 1 && r->iteration_median_ns != LAB_UNKNOWN)
        lab_text_table_addf(t, "%s (warm-up iteration)",
                            LAB_NS_TEXT((double)r->iteration_median_ns));
    else
        lab_text_table_add_ns(t, r->iteration_median_ns);
}

static enum lab_status put_facts(const struct lab_comparison *c)
{
    struct lab_text_table t;
    char heads[2][32];
    char above[160];
    char words[LAB_SIDES][LAB_VARIANT_WORDS];
    const struct lab_compared_run *a = &c->run[LAB_SIDE_A];
    const struct lab_compared_run *b = &c->run[LAB_SIDE_B];
    snprintf(heads[0], sizeof(heads[0]), "run %lld", (long long)a->run);
    snprintf(heads[1], sizeof(heads[1]), "run %lld", (long long)b->run);
    const char *const names[] = {"", heads[0], heads[1], NULL};
    lab_text_table_init(&t, names);
    for (int i = 0; i < LAB_FACT_COUNT; i++) {
        if (!lab_comparison_differs(c, (enum lab_run_fact)i))
            continue;
        lab_text_table_add(&t, lab_run_fact_name((enum lab_run_fact)i));
        const char *fact[LAB_SIDES] = {a->fact[i], b->fact[i]};
        if (i == LAB_FACT_VARIANTS)
            lab_variant_words_beside(fact, words);
        add_cut(&t, fact[LAB_SIDE_A]);
        add_cut(&t, fact[LAB_SIDE_B]);
    }
    lab_text_table_add(&t, "iterations");
    lab_text_table_add_int(&t, a->iterations);
    lab_text_table_add_int(&t, b->iterations);
    lab_text_table_add(&t, "wall time of one");
    add_wall(&t, a);
    add_wall(&t, b);
    add_reals(&t, "samples/s, mean", a->samples_per_s, b->samples_per_s);
    add_reals(&t, "last loss", a->loss_last, b->loss_last);
    const char *lesson = a->fact[LAB_FACT_LESSON];
    char shown[64];
    lab_visible_copy(shown, sizeof(shown), lesson ? lesson : "no lesson");
    snprintf(above, sizeof(above), "Run %lld against run %lld (%.40s)\n\n",
             (long long)b->run, (long long)a->run, shown);
    return lab_text_table_put(&t, above);
}

static enum lab_status put_note(const struct lab_comparison *c)
{
    struct lab_str text;
    size_t tests = 0;
    for (size_t i = 0; i < c->count; i++)
        tests += c->rows[i].level == LAB_SUM_STEP &&
                 c->rows[i].side[LAB_SIDE_A] && c->rows[i].side[LAB_SIDE_B];
    lab_str_init(&text);
    lab_str_addf(&text,
                 "\nRun %lld is the reference; x above 1 is faster. MAD: "
                 "median distance from\nthe median. p: Mann-Whitney U, "
                 "two-sided, normal approximation, corrected for\nties, and "
                 "adjusted after Holm over the rows of a level. Verdict: p "
                 "below %.2f,\nand medians %.0f %% and %s apart, more "
                 "than two runs of the same thing\nmostly differ by: record "
                 "both again to be sure. Each side needs at least %lld\ntimes",
                 (long long)c->run[LAB_SIDE_A].run, LAB_RANK_ALPHA,
                 100 * LAB_COMPARE_LEAST_SHARE,
                 LAB_NS_TEXT(LAB_COMPARE_LEAST_NS),
                 (long long)lab_rank_least(LAB_RANK_ALPHA));
    if (tests > 1)
        lab_str_addf(
            &text, "; %lld for %zu steps, where both have equally many",
            (long long)lab_rank_least(LAB_RANK_ALPHA / (double)tests), tests);
    lab_str_add(&text, ".\n");
    return lab_print_str(&text);
}

static enum lab_status put_counted_by(const struct lab_comparison *c)
{
    struct lab_str text;
    lab_str_init(&text);
    for (int side = 0; side < LAB_SIDES; side++)
        if (c->counted_by[side])
            lab_str_addf(&text, "%srun %lld counted by %s",
                         text.len ? ", " : "\n", (long long)c->run[side].run,
                         c->counted_by[side]);
    if (text.len)
        lab_str_add(&text, "\n");
    return lab_print_str(&text);
}

/* A simulated run has none. */
static bool has_times(const struct lab_comparison *c)
{
    for (size_t i = 0; i < c->count; i++)
        for (int side = 0; side < LAB_SIDES; side++)
            if (c->rows[i].side[side] && c->rows[i].side[side]->timed > 0)
                return true;
    return false;
}

static enum lab_status profile_compare_text(const struct order *order,
                                            int64_t limit,
                                            const struct lab_comparison *c)
{
    static const struct {
        enum lab_sum_level level;
        enum part part;
    } tables[] = {
        {LAB_SUM_ITERATION, TIMES}, {LAB_SUM_NODE, TIMES},
        {LAB_SUM_STEP, TIMES},      {LAB_SUM_STEP, WORK},
        {LAB_SUM_STEP, COUNTED},    {LAB_SUM_KERNEL, TIMES},
        {LAB_SUM_KERNEL, WORK},     {LAB_SUM_KERNEL, COUNTED},
    };
    const bool counted = lab_comparison_simulated(c);
    const bool timed = !counted || has_times(c);
    enum lab_status st = put_facts(c);
    if (st == LAB_OK)
        st = put_wall(c);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !st; i++)
        if (tables[i].part == COUNTED ? counted : timed)
            st = put_level(order, limit, c, tables[i].level, tables[i].part);
    if (!st && counted)
        st = put_counted_by(c);
    return st || !timed ? st : put_note(c);
}

/* What was counted of it; null where nothing was. */
static json_t *counted_json(const struct lab_time_sum *s, const char *by)
{
    struct lab_counted_row row = {
        .counters = s->counters, .formula = s->flop, .by = by};
    if (!by || s->level < LAB_SUM_STEP)
        return json_null();
    if (s->level == LAB_SUM_KERNEL)
        row.formula = NAN;
    return lab_json_fields(json_object(), &lab_counted_fields, &row);
}

static void add_side(json_t *o, const char *key, const struct lab_time_sum *s,
                     const char *by)
{
    if (!s) {
        json_object_set_new(o, key, json_null());
        return;
    }
    json_t *side = json_object();
    lab_json_text(side, "variant", s->variant);
    lab_json_text(side, "backend", s->backend);
    lab_json_int(side, "index", s->step_index);
    lab_json_int(side, "count", s->count);
    lab_json_int(side, "timed", s->timed);
    lab_json_real(side, "median_ns", s->median_ns);
    lab_json_real(side, "mad_ns", s->mad_ns);
    lab_json_real(side, "quarter_ns", s->quarter_ns);
    lab_json_real(side, "three_quarters_ns", s->three_quarters_ns);
    lab_json_int(side, "min_ns", s->min_ns);
    lab_json_int(side, "max_ns", s->max_ns);
    lab_json_int(side, "total_ns", s->total_ns);
    lab_json_real(side, "flop", s->flop);
    lab_json_real(side, "flop_per_s", lab_time_sum_flop_per_s(s));
    json_object_set_new(side, "counted", counted_json(s, by));
    json_object_set_new(o, key, side);
}

static enum lab_status print_row(const struct lab_comparison *c,
                                 const struct lab_compare_row *r)
{
    const struct lab_time_sum *s =
        r->side[LAB_SIDE_A] ? r->side[LAB_SIDE_A] : r->side[LAB_SIDE_B];
    json_t *o = lab_json_new("comparison");
    lab_json_text(o, "level", lab_sum_level_name(r->level));
    lab_json_int(o, "a", c->run[LAB_SIDE_A].run);
    lab_json_int(o, "b", c->run[LAB_SIDE_B].run);
    lab_json_text(o, "phase", s->phase);
    lab_json_text(o, "node", s->node);
    lab_json_text(o, "name", s->name);
    lab_profile_add_bench_name(o, s->bench_name);
    lab_json_text(o, "kernel", s->kernel);
    lab_json_real(o, "difference_ns", r->difference_ns);
    lab_json_real(o, "difference_share", r->share);
    lab_json_real(o, "speed_up", r->speed_up);
    lab_json_real(o, "p", r->p);
    lab_json_int(o, "tests", (int64_t)c->tests[r->level]);
    lab_json_text(o, "verdict", lab_verdict_name(r->verdict));
    add_side(o, "run_a", r->side[LAB_SIDE_A], c->counted_by[LAB_SIDE_A]);
    add_side(o, "run_b", r->side[LAB_SIDE_B], c->counted_by[LAB_SIDE_B]);
    return lab_json_print(o);
}

static enum lab_status print_head(const struct lab_comparison *c)
{
    const struct lab_compared_run *a = &c->run[LAB_SIDE_A];
    const struct lab_compared_run *b = &c->run[LAB_SIDE_B];
    json_t *o = lab_json_new("compare");
    lab_json_int(o, "a", a->run);
    lab_json_int(o, "b", b->run);
    lab_json_text(o, "lesson", a->fact[LAB_FACT_LESSON]);
    lab_json_text(o, "test", "mann-whitney-u");
    lab_json_text(o, "adjustment", "holm");
    lab_json_real(o, "alpha", LAB_RANK_ALPHA);
    lab_json_real(o, "least_share", LAB_COMPARE_LEAST_SHARE);
    lab_json_int(o, "least_ns", LAB_COMPARE_LEAST_NS);
    lab_json_int(o, "least_count", lab_rank_least(LAB_RANK_ALPHA));
    lab_json_int(o, "iteration_median_ns_a", a->iteration_median_ns);
    lab_json_int(o, "iteration_median_ns_b", b->iteration_median_ns);
    lab_json_real(o, "samples_per_s_a", a->samples_per_s);
    lab_json_real(o, "samples_per_s_b", b->samples_per_s);
    lab_json_real(o, "loss_last_a", a->loss_last);
    lab_json_real(o, "loss_last_b", b->loss_last);
    enum lab_status st = lab_json_print(o);
    for (int i = 0; i < LAB_FACT_COUNT && st == LAB_OK; i++) {
        if (!lab_comparison_differs(c, (enum lab_run_fact)i))
            continue;
        o = lab_json_new("difference");
        lab_json_text(o, "what", lab_run_fact_name((enum lab_run_fact)i));
        lab_json_text(o, "a", a->fact[i]);
        lab_json_text(o, "b", b->fact[i]);
        st = lab_json_print(o);
    }
    return st;
}

static enum lab_status profile_compare_lines(const struct lab_comparison *c)
{
    enum lab_status st = print_head(c);
    if (st == LAB_OK)
        for (int i = 0; i <= LAB_WALL_PARTS && !st; i++)
            st = print_part(c, i);
    for (size_t i = 0; i < c->count && st == LAB_OK; i++)
        st = print_row(c, &c->rows[i]);
    return st;
}

/* ---- --fail-above ---- */

struct failures {
    double limit; /* NaN: none */
    int64_t slower;
    int64_t few;
    int64_t judged; /* rows with times enough */
    double worst;
    char worst_name[96];
};

static void count_failures(struct failures *f, const struct lab_comparison *c)
{
    for (size_t i = 0; !isnan(f->limit) && i < c->count; i++) {
        const struct lab_compare_row *r = &c->rows[i];
        f->few += r->verdict == LAB_VERDICT_FEW;
        f->judged += r->verdict <= LAB_VERDICT_SLOWER;
        if (r->verdict != LAB_VERDICT_SLOWER || !(r->share > f->limit))
            continue;
        f->slower++;
        if (r->share <= f->worst)
            continue;
        const struct lab_time_sum *s = lab_compare_either(r);
        f->worst = r->share;
        snprintf(f->worst_name, sizeof(f->worst_name), "%s%s%.60s",
                 lab_sum_level_name(r->level), *lab_compare_name(s) ? " " : "",
                 lab_compare_name(s));
    }
}

static enum lab_status verdict(const struct lab_options *o,
                               const struct failures *f)
{
    enum lab_status st = LAB_OK;
    if (isnan(f->limit))
        return LAB_OK;
    if (o->json) {
        json_t *line = lab_json_new("verdict");
        json_object_set_new(line, "failed",
                            f->judged ? json_boolean(f->slower > 0)
                                      : json_null());
        lab_json_real(line, "fail_above", f->limit);
        lab_json_int(line, "slower", f->slower);
        lab_json_int(line, "too_few", f->few);
        st = lab_json_print(line);
    }
    if (st == LAB_OK && f->slower)
        st = lab_fail(LAB_E_CHECK,
                      "[compare.slower] slower by more than %g %%, beyond the "
                      "noise: %lld rows, the worst is %s with %+.1f %%",
                      100 * f->limit, (long long)f->slower, f->worst_name,
                      100 * f->worst);
    else if (st == LAB_OK && f->judged == 0 && f->few == 0)
        st = lab_fail(LAB_E_RANGE,
                      "[compare.no-common-row] --fail-above: the runs have no "
                      "timed row in common that could be judged");
    else if (st == LAB_OK && f->judged == 0)
        st = lab_fail(
            LAB_E_RANGE,
            "[compare.no-judged-row] --fail-above: no row can be judged: "
            "record both runs with more iterations, %lld at the least",
            (long long)lab_rank_least(LAB_RANK_ALPHA));
    else if (st == LAB_OK && f->few)
        lab_warn("%lld rows have too few times for a verdict; record more "
                 "iterations",
                 (long long)f->few);
    return st;
}

/* A launch costs more while it is traced: times of short kernels differ by
 * that alone. */
static void warn_of_trace(const struct lab_comparison *c)
{
    const char *state[LAB_SIDES];
    for (int i = 0; i < LAB_SIDES; i++)
        state[i] = c->run[i].fact[LAB_FACT_TRACE];
    if (!state[LAB_SIDE_A] || !state[LAB_SIDE_B] ||
        strcmp(state[LAB_SIDE_A], state[LAB_SIDE_B]) == 0)
        return;
    lab_warn("run %lld was timed %s, run %lld %s: the difference of the "
             "iterations may be that of tracing",
             (long long)c->run[LAB_SIDE_A].run,
             lab_trace_state_text(lab_trace_state_find(state[LAB_SIDE_A])),
             (long long)c->run[LAB_SIDE_B].run,
             lab_trace_state_text(lab_trace_state_find(state[LAB_SIDE_B])));
}

/* `first`: the reference is reported too. */
static enum lab_status warn_empty(struct lab_database *db,
                                  const struct lab_comparison *c, bool first)
{
    const struct lab_compared_run *run = c->run;
    enum lab_status st = LAB_OK;
    if (first && c->sums[LAB_SIDE_A].count == 0)
        st = lab_warn_missing(db, run[LAB_SIDE_A].run, LAB_HAS_KERNELS);
    if (st == LAB_OK && c->sums[LAB_SIDE_B].count == 0 &&
        run[LAB_SIDE_B].run != run[LAB_SIDE_A].run)
        st = lab_warn_missing(db, run[LAB_SIDE_B].run, LAB_HAS_KERNELS);
    return st;
}

/* What is of times alone would change nothing: a check that cannot fail. */
static enum lab_status refuse_of_times(const struct lab_options *o)
{
    const char *name = o->given.fail_above && !o->configured.fail_above
                           ? "fail-above"
                       : o->given.limit && !o->configured.limit ? "limit"
                       : o->given.sort                          ? "sort"
                       : o->given.reverse                       ? "reverse"
                                                                : NULL;
    return name ? lab_fail(LAB_E_USAGE,
                           "[compare.loss-times] --loss compares no times: "
                           "leave --%s out",
                           name)
                : LAB_OK;
}

static enum lab_status run_compare(const struct lab_options *o,
                                   struct lab_database *db)
{
    struct failures f = {.limit = o->given.fail_above ? o->fail_above : NAN};
    int64_t a = 0;
    int64_t b;
    struct order order;
    if (o->loss) {
        enum lab_status refused = refuse_of_times(o);
        return refused ? refused : lab_profile_losses(o, db);
    }
    enum lab_status st = find_order(o, &order);
    if (st == LAB_OK)
        st = lab_profile_find_run(db, o->words[0], &a);
    for (int i = 1; i < o->n_words && st == LAB_OK; i++) {
        struct lab_comparison c;
        st = lab_profile_find_run(db, o->words[i], &b);
        if (st == LAB_OK)
            st = lab_comparison_load(&c, db, a, b);
        if (st)
            break;
        warn_of_trace(&c);
        if (a == b)
            lab_warn("run %lld is compared with itself", (long long)a);
        st = warn_empty(db, &c, i == 1);
        if (i > 1 && !o->json && putchar('\n') == EOF)
            st = lab_print_check();
        if (st == LAB_OK)
            st = o->json ? profile_compare_lines(&c)
                         : profile_compare_text(&order, o->limit, &c);
        count_failures(&f, &c);
        for (int side = 0; side < LAB_SIDES && st == LAB_OK; side++)
            if (!c.sums[side].stored)
                lab_time_sums_keep_later(lab_database_path(db),
                                         c.run[side].run);
        lab_comparison_release(&c);
    }
    return st ? st : verdict(o, &f);
}

const struct lab_profile_command lab_profile_compare = {
    .name = "compare",
    .run = run_compare,
    .least = 2,
    .most = INT_MAX,
    .takes = "takes two runs or more",
    .options = LAB_FOR_COMPARE,
    .args = "RUN RUN...",
    .doc =
        "Every run against the first: where an iteration's wall time goes, "
        "steps "
        "and kernels, and which differences are more than noise.\vExample, in "
        "a "
        "script:\n"
        "  lapenna-lab profile compare baseline:good last --fail-above 5%\n"
        "Runs of several optimizers, their losses over each other:\n"
        "  lapenna-lab profile compare 1 2 3 --loss\n"};
