#include "profile_compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare_label.h"
#include "report/print.h"
#include "report/text_table.h"
#include "base/format.h"
#include "report/variant_words.h"

/* Columns of a name where a line has 80. */
enum { USUAL = 80, LABEL = 26, SHORT_LABEL = 22 };

/* ---- order ---- */

enum sort { BY_DIFFERENCE, BY_SHARE, BY_INDEX, BY_NAME, BY_P, SORTS };
static const char *const sort_names[SORTS] = {"difference", "share", "index",
                                              "name", "p"};

struct order {
    enum sort sort;
    int sign;
    const struct lab_compare_row *rows;
};

/* What one run alone has is different by all of its time. */
static double difference(const struct lab_compare_row *r)
{
    bool both = r->side[LAB_SIDE_A] && r->side[LAB_SIDE_B];
    return both ? r->difference_ns : lab_compare_either(r)->median_ns;
}

/* The largest first for differences and shares; NaN: unknown. */
static double sort_key(const struct lab_compare_row *r, enum sort sort)
{
    switch (sort) {
    case BY_DIFFERENCE:
        return -fabs(difference(r));
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

static enum lab_status find_order(const struct lab_profile_options *o,
                                  struct order *out)
{
    *out = (struct order){BY_DIFFERENCE, o->reverse ? -1 : 1, NULL};
    for (int i = 0; o->sort && i < SORTS; i++) {
        if (strcmp(o->sort, sort_names[i]) == 0) {
            out->sort = (enum sort)i;
            return LAB_OK;
        }
    }
    return o->sort ? lab_fail(LAB_E_USAGE,
                              "no column '%s' to sort by; compare has "
                              "difference, share, index, name and p",
                              o->sort)
                   : LAB_OK;
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

static int64_t whole(double ns)
{
    return isnan(ns) ? LAB_UNKNOWN : (int64_t)llround(ns);
}

static void add_side_ns(struct lab_text_table *t, const struct lab_time_sum *s,
                        bool spread)
{
    double ns = !s ? NAN : spread ? s->mad_ns : s->median_ns;
    if (s)
        lab_text_table_add_ns(t, whole(ns));
    else
        lab_text_table_add(t, "-");
}

void lab_compare_add_difference(struct lab_text_table *t, double ns)
{
    lab_text_table_add(t, isnan(ns) ? "-" : LAB_DIFFERENCE_TEXT(ns));
}

static void add_p(struct lab_text_table *t, double p)
{
    if (isnan(p))
        lab_text_table_add(t, "-");
    else if (p < 0.001)
        lab_text_table_add(t, "<0.001");
    else
        lab_text_table_addf(t, "%.3f", p);
}

/* What only one run has is of the run whose number heads the column. */
static void add_verdict(struct lab_text_table *t,
                        const struct lab_comparison *c,
                        enum lab_verdict verdict)
{
    if (verdict == LAB_VERDICT_ONLY_A || verdict == LAB_VERDICT_ONLY_B)
        lab_text_table_addf(
            t, "only %lld",
            (long long)c->run[verdict == LAB_VERDICT_ONLY_B].run);
    else
        lab_text_table_add(t, lab_verdict_name(verdict));
}

static void add_times_row(struct lab_text_table *t,
                          const struct lab_comparison *c,
                          const struct lab_compare_row *r, const char *label)
{
    lab_text_table_add(t, label);
    add_side_ns(t, r->side[LAB_SIDE_A], false);
    add_side_ns(t, r->side[LAB_SIDE_B], false);
    lab_compare_add_difference(t, r->difference_ns);
    if (isnan(r->speed_up))
        lab_text_table_add(t, "-");
    else
        lab_text_table_addf(t, r->speed_up < 99.95 ? "%.2fx" : "%.0fx",
                            r->speed_up);
    add_p(t, r->p);
    add_verdict(t, c, r->verdict);
}

static void add_rate(struct lab_text_table *t, const struct lab_time_sum *s)
{
    double rate = lab_time_sum_flop_per_s(s) * 1e-9;
    if (!s)
        lab_text_table_add(t, "-");
    else
        lab_text_table_add_real(t, rate, 3);
}

static void add_count(struct lab_text_table *t, const struct lab_time_sum *s)
{
    if (!s)
        lab_text_table_add(t, "-");
    else if (s->timed < 10000)
        lab_text_table_add_int(t, s->timed);
    else
        lab_text_table_addf(t, "%.0fk", (double)s->timed * 1e-3);
}

static void add_work_row(struct lab_text_table *t,
                         const struct lab_comparison *c,
                         const struct lab_compare_row *r, const char *label)
{
    (void)c;
    const struct lab_time_sum *a = r->side[LAB_SIDE_A];
    const struct lab_time_sum *b = r->side[LAB_SIDE_B];
    lab_text_table_add(t, label);
    add_count(t, a);
    add_count(t, b);
    add_side_ns(t, a, true);
    add_side_ns(t, b, true);
    if (r->level == LAB_SUM_KERNEL)
        return;
    lab_text_table_add_real(t, lab_compare_either(r)->flop, 3);
    add_rate(t, a);
    add_rate(t, b);
}

struct heads {
    char a[32];
    char b[32];
};

static void make_heads(struct heads *h, const struct lab_comparison *c)
{
    snprintf(h->a, sizeof(h->a), ">%lld", (long long)c->run[LAB_SIDE_A].run);
    snprintf(h->b, sizeof(h->b), ">%lld", (long long)c->run[LAB_SIDE_B].run);
}

enum lab_status lab_compare_put(struct lab_text_table *t, const char *above,
                                bool ascii)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_str_add(&text, above);
    enum lab_status st = lab_text_table_format(t, &text);
    lab_text_table_release(t);
    if (st) {
        lab_str_release(&text);
        return st;
    }
    return lab_profile_put(&text, ascii);
}

static size_t room_of(bool work)
{
    size_t room = work ? SHORT_LABEL : LABEL;
    size_t columns = lab_print_columns();
    if (columns == 0)
        return 0;
    return columns > USUAL ? room + columns - USUAL : room;
}

/* The rows of list[0..n). */
static enum lab_status put_rows(const struct lab_comparison *c,
                                enum lab_sum_level level, bool work,
                                const size_t *list, size_t n, bool ascii)
{
    struct lab_text_table t;
    struct lab_labels labels;
    struct heads h;
    char above[80];
    char spread[2][40];
    enum lab_status st =
        lab_labels_make(&labels, room_of(work), c->rows, list, n);
    if (st)
        return st;
    make_heads(&h, c);
    snprintf(spread[0], sizeof(spread[0]), ">n %s", h.a + 1);
    snprintf(spread[1], sizeof(spread[1]), ">n %s", h.b + 1);
    /* The steps of an iteration, added up: not its wall time. */
    const char *what =
        level == LAB_SUM_ITERATION ? "sum of steps" : lab_sum_level_name(level);
    const char *const times[] = {what, h.a,  h.b,       ">diff",
                                 ">x", ">p", "verdict", NULL};
    const char *const works[] = {
        what,       spread[0],  spread[1],
        ">MAD",     ">MAD",     level == LAB_SUM_KERNEL ? NULL : ">FLOP",
        ">GFLOP/s", ">GFLOP/s", NULL};
    lab_text_table_init(&t, work ? works : times);
    for (size_t i = 0; i < n; i++)
        (work ? add_work_row : add_times_row)(&t, c, &c->rows[list[i]],
                                              labels.items[i].text);
    lab_labels_release(&labels);
    snprintf(above, sizeof(above), "\n%s",
             work ? "Times that were taken, their spread, and work:\n" : "");
    return lab_compare_put(&t, above, ascii);
}

static enum lab_status put_level(const struct lab_profile_options *o,
                                 const struct lab_comparison *c,
                                 enum lab_sum_level level, bool work)
{
    struct order order;
    size_t n;
    enum lab_status st = find_order(o, &order);
    if (st)
        return st;
    size_t *list = sorted(c, level, order, &n);
    if (!list)
        return lab_no_memory("a table");
    if (o->limit > 0 && (int64_t)n > o->limit)
        n = (size_t)o->limit;
    if (n > 0)
        st = put_rows(c, level, work, list, n, o->ascii);
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

static void add_wall(struct lab_text_table *t, const struct lab_compared_run *r)
{
    char time[LAB_FORMAT_BYTES];
    if (r->iterations == 1 && r->iteration_median_ns != LAB_UNKNOWN)
        lab_text_table_addf(
            t, "%s (warm-up iteration)",
            lab_format_ns((double)r->iteration_median_ns, time, sizeof(time)));
    else
        lab_text_table_add_ns(t, r->iteration_median_ns);
}

static enum lab_status put_facts(const struct lab_comparison *c, bool ascii)
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
    lab_text_table_add(&t, "samples/s, mean");
    lab_text_table_add_real(&t, a->samples_per_s, 6);
    lab_text_table_add_real(&t, b->samples_per_s, 6);
    lab_text_table_add(&t, "last loss");
    lab_text_table_add_real(&t, a->loss_last, 6);
    lab_text_table_add_real(&t, b->loss_last, 6);
    const char *lesson = a->fact[LAB_FACT_LESSON];
    struct lab_str shown;
    lab_str_init(&shown);
    if (lesson)
        lab_str_add_visible(&shown, lesson, strlen(lesson), false);
    snprintf(above, sizeof(above), "Run %lld against run %lld (%.40s)\n\n",
             (long long)b->run, (long long)a->run,
             lesson ? lab_str_text(&shown) : "no lesson");
    lab_str_release(&shown);
    return lab_compare_put(&t, above, ascii);
}

static enum lab_status put_note(const struct lab_comparison *c, bool ascii)
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
                 "below %.2f,\nand medians %.0f %% and %d ns apart, more "
                 "than two runs of the same thing\nmostly differ by: record "
                 "both again to be sure. Each side needs at least %lld\ntimes",
                 (long long)c->run[LAB_SIDE_A].run, LAB_RANK_ALPHA,
                 100 * LAB_COMPARE_LEAST_SHARE, LAB_COMPARE_LEAST_NS,
                 (long long)lab_rank_least(LAB_RANK_ALPHA));
    if (tests > 1)
        lab_str_addf(
            &text, "; %lld for %zu steps, where both have equally many",
            (long long)lab_rank_least(LAB_RANK_ALPHA / (double)tests), tests);
    lab_str_add(&text, ".\n");
    return lab_profile_put(&text, ascii);
}

enum lab_status lab_profile_compare_text(const struct lab_profile_options *o,
                                         const struct lab_comparison *c)
{
    static const struct {
        enum lab_sum_level level;
        bool work;
    } tables[] = {
        {LAB_SUM_ITERATION, false}, {LAB_SUM_NODE, false},
        {LAB_SUM_STEP, false},      {LAB_SUM_STEP, true},
        {LAB_SUM_KERNEL, false},    {LAB_SUM_KERNEL, true},
    };
    enum lab_status st = put_facts(c, o->ascii);
    if (st == LAB_OK)
        st = lab_compare_wall_text(c, o->ascii);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !st; i++)
        st = put_level(o, c, tables[i].level, tables[i].work);
    return st ? st : put_note(c, o->ascii);
}

enum lab_status lab_profile_compare_check(const struct lab_profile_options *o)
{
    struct order order;
    return find_order(o, &order);
}
