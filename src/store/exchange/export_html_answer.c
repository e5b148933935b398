/* What the HTML report begins with: where the time of an iteration goes, and
 * the steps and kernels that take most of it. */
#include <math.h>
#include <stdlib.h>

#include "export_html_priv.h"
#include "store/time_breakdown.h"

enum { LONGEST = 10 };

static double known_total(const struct lab_time_sum *t)
{
    return t->total_ns == LAB_UNKNOWN || t->total_ns < 0 ? (double)NAN
                                                         : (double)t->total_ns;
}

/* The longest first; of equal ones as they ran. */
static int by_total(const void *a, const void *b)
{
    const struct lab_time_sum *x = *(const struct lab_time_sum *const *)a;
    const struct lab_time_sum *y = *(const struct lab_time_sum *const *)b;
    if (x->total_ns != y->total_ns)
        return x->total_ns < y->total_ns ? 1 : -1;
    return (x > y) - (x < y);
}

static void share_cell(struct lab_str *s, double of, double all)
{
    if (isnan(of) || !(all > 0))
        lab_str_add(s, "<td class=\"n\">n/a</td>");
    else
        lab_str_addf(s, "<td class=\"n\">%.3g %%</td>", 100 * of / all);
}

/* ---- the parts of an iteration ---- */

/* What a large part means. */
static const char *const meaning[LAB_WALL_PARTS] = {
    [LAB_WALL_KERNELS] = "the steps and kernels below are where to begin.",
    [LAB_WALL_COPIES] =
        "less to copy, or copies while kernels run, make it shorter.",
    [LAB_WALL_LAUNCH] =
        "fewer and larger kernels, or the iteration as one graph, make fewer "
        "launches.",
    [LAB_WALL_STEPS] = "the host works in the steps: it computes them, or "
                       "prepares the launches of a GPU that idles meanwhile.",
    [LAB_WALL_BETWEEN] = "the host's own work between two steps.",
    [LAB_WALL_OUTSIDE] =
        "the batch is fetched and records are collected; a first iteration "
        "also loads kernels and libraries. A run of more iterations is without "
        "most of it.",
};

static void put_largest(struct lab_str *s, const struct lab_time_breakdown *w)
{
    int largest = 0;
    for (int i = 1; i < LAB_WALL_PARTS; i++)
        if (w->part_ns[i] > w->part_ns[largest]) /* unknown is the least */
            largest = i;
    if (w->part_ns[largest] <= 0)
        return;
    lab_str_addf(s, "<p>The largest part is <b>%s</b>, %.3g %%: %s</p>\n",
                 lab_time_part_name((enum lab_time_part)largest),
                 100 * (double)w->part_ns[largest] / (double)w->wall_ns,
                 meaning[largest]);
}

static void put_wall(struct lab_report *r, const struct lab_time_breakdown *w)
{
    struct lab_str *s = &r->text;
    double wall = lab_to_real(w->wall_ns);
    if (!(wall > 0))
        return;
    put_largest(s, w);
    lab_str_addf(s, "<p>Iteration %lld took ", (long long)w->iteration);
    lab_str_add(s, LAB_NS_TEXT(wall));
    lab_str_add(s,
                ". Each moment of it counts once, for the first of these "
                "that went on then:</p>\n<table>\n<tr><th>part</th>"
                "<th class=\"n\">time</th><th class=\"n\">share</th></tr>\n");
    for (int i = 0; i < LAB_WALL_PARTS; i++) {
        double part = lab_to_real(w->part_ns[i]);
        lab_str_add(s, "<tr><td>");
        lab_export_text(s, lab_time_part_name((enum lab_time_part)i),
                        LAB_ESCAPE_HTML);
        if (isnan(part) && w->why[i]) {
            lab_str_add(s, " <span class=\"dim\">(");
            lab_export_text(s, w->why[i], LAB_ESCAPE_HTML);
            lab_str_add(s, ")</span>");
        }
        lab_str_add(s, "</td>");
        lab_report_ns_cell(s, part);
        share_cell(s, part, wall);
        lab_str_add(s, "</tr>\n");
    }
    lab_str_add(s, "</table>\n");
}

/* ---- what takes most of it ---- */

static void put_row(struct lab_str *s, const struct lab_time_sum *t, double all)
{
    bool kernel = t->level == LAB_SUM_KERNEL;
    const char *short_name = t->kernel_short ? t->kernel_short : t->kernel;
    lab_str_add(s, "<tr>");
    if (kernel)
        lab_report_word_cell(s, short_name);
    lab_report_word_cell(s, lab_time_sum_step(t));
    lab_report_word_cell(s, t->phase);
    if (!kernel)
        lab_report_word_cell(s, t->variant);
    lab_report_number_cell(s, (double)t->timed, "");
    lab_report_ns_cell(s, t->median_ns);
    share_cell(s, known_total(t), all);
    lab_str_add(s, "</tr>\n");
}

static void put_longest(struct lab_report *r, enum lab_sum_level level)
{
    struct lab_str *s = &r->text;
    bool kernel = level == LAB_SUM_KERNEL;
    const struct lab_time_sum **order =
        lab_alloc_array(r->sums.count + 1, sizeof(struct lab_time_sum *));
    size_t n = 0;
    double all = 0;
    if (!order) {
        r->st = lab_no_memory("a report");
        return;
    }
    for (size_t i = 0; i < r->sums.count; i++) {
        const struct lab_time_sum *t = &r->sums.items[i];
        if (t->level != level || isnan(known_total(t)) || t->timed < 1)
            continue;
        all += known_total(t);
        order[n++] = t;
    }
    if (n)
        qsort(order, n, sizeof(struct lab_time_sum *), by_total);
    if (n) {
        lab_str_addf(
            s,
            "<h3>The longest %s</h3>\n<div class=\"wide\"><table>\n"
            "<tr>%s<th>step</th><th>phase</th>%s"
            "<th class=\"n\">times</th><th class=\"n\">median</th>"
            "<th class=\"n\">share of all %s</th></tr>\n",
            kernel ? "kernels" : "steps", kernel ? "<th>kernel</th>" : "",
            kernel ? "" : "<th>variant</th>", kernel ? "kernels" : "steps");
        for (size_t i = 0; i < n && i < LONGEST; i++)
            put_row(s, order[i], all);
        lab_str_add(s, "</table></div>\n");
    }
    lab_free(order);
}

void lab_report_answer(struct lab_report *r)
{
    struct lab_time_breakdown wall;
    lab_str_add(&r->text, "<h2>Where the time goes</h2>\n");
    enum lab_status st = lab_time_breakdown_load(&wall, r->db, r->run);
    if (st) {
        r->st = st;
        return;
    }
    put_wall(r, &wall);
    put_longest(r, LAB_SUM_STEP);
    put_longest(r, LAB_SUM_KERNEL);
}
