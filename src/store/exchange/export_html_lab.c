/* The part of the HTML report that a lab has: its ladder with bars under the
 * peak, what was said before, the winners of its tuning, and a sweep. */
#include <math.h>
#include <string.h>

#include "export_html_priv.h"
#include "store/bench.h"
#include "store/tuned.h"

enum { RUNG = 24, PRECISION = 8 }; /* characters of a bar's name */

struct bar {
    char name[4 * (RUNG + PRECISION) + 12]; /* the rung, and its precision */
    double rate;
    double peak; /* NaN: not known */
};

/* The rungs of one size, or the places of a sweep. */
struct part {
    struct lab_report *r;
    char head[160]; /* the lab and its size */
    char unit[48];
    struct bar bars[LAB_REPORT_BARS]; /* the first */
    size_t n;                         /* of all */
    bool open;                        /* a table */
    bool ladder;                      /* its head is there */
};

/* ---- cells ---- */

static void cell(struct lab_str *s, const char *text)
{
    lab_str_add(s, "<td>");
    lab_export_text(s, text, LAB_ESCAPE_HTML);
    lab_str_add(s, "</td>");
}

/* Seconds an item are told in nanoseconds. */
static void add_rate(struct lab_str *s, double rate, const char *unit)
{
    if (strncmp(unit, "s/", 2) == 0 && !isnan(rate))
        lab_str_addf(s, "%.4g n%s", rate * 1e9, unit);
    else
        lab_str_add(s, LAB_AMOUNT_TEXT(rate, unit));
}

static void rate_cell(struct lab_str *s, double rate, const char *unit)
{
    struct lab_str text;
    lab_str_init(&text);
    add_rate(&text, rate, unit);
    lab_str_add(s, "<td class=\"n\">");
    lab_export_text(s, lab_str_text(&text), LAB_ESCAPE_HTML);
    lab_str_add(s, "</td>");
    s->failed |= text.failed;
    lab_str_release(&text);
}

/* ---- bars ---- */

static double longest(const struct part *p, size_t shown)
{
    double most = 0;
    for (size_t i = 0; i < shown; i++) {
        most = fmax(most, p->bars[i].rate);
        most = fmax(most, p->bars[i].peak);
    }
    return most;
}

static void add_bar(struct part *p, const struct bar *b, double y, double most)
{
    struct lab_str label;
    struct lab_report_bar bar = {
        .name = b->name,
        .end = lab_report_bar_x(b->rate, most),
        .stroke = b->peak > 0,
        .x1 = lab_report_bar_x(b->peak, most),
        .x2 = lab_report_bar_x(b->peak, most),
        .y1 = 1,
        .y2 = LAB_REPORT_BAR - 1,
        .label = &label,
    };
    lab_str_init(&label);
    add_rate(&label, b->rate, p->unit);
    if (b->peak > 0)
        lab_str_addf(&label, ", %.3g %%", 100 * b->rate / b->peak);
    lab_report_bar(&p->r->text, &bar, y);
    lab_str_release(&label);
}

static void add_bars(struct part *p)
{
    struct lab_str *s = &p->r->text;
    if (p->n == 0)
        return;
    size_t shown = lab_report_bars_begin(s, p->n, "first", p->head);
    double most = longest(p, shown);
    for (size_t i = 0; i < shown; i++)
        add_bar(p, &p->bars[i], 4 + (double)i * LAB_REPORT_BAR, most);
    lab_report_end(s);
}

/* A rate that has no length has no bar. */
static void note_bar(struct part *p, const char *name, const char *of,
                     double rate, double peak)
{
    char rung[4 * RUNG + 4];
    char precision[4 * PRECISION + 4];
    if (!(rate > 0) || !isfinite(rate) || p->n++ >= LAB_REPORT_BARS)
        return;
    struct bar *bar = &p->bars[p->n - 1];
    lab_report_clip(rung, sizeof(rung), name ? name : "", RUNG);
    lab_report_clip(precision, sizeof(precision), of ? of : "", PRECISION);
    snprintf(bar->name, sizeof(bar->name), "%s%s%s", rung, of ? " " : "",
             precision);
    bar->rate = rate;
    bar->peak = peak;
}

/* ---- tables ---- */

static void end_table(struct part *p)
{
    if (p->open)
        lab_str_add(&p->r->text, "</table></div>\n");
    p->open = false;
    add_bars(p);
    p->n = 0;
}

/* Another size begins another table. */
static void begin_table(struct part *p, const char *head, const char *columns)
{
    struct lab_str *s = &p->r->text;
    if (p->open && strcmp(p->head, head) == 0)
        return;
    end_table(p);
    p->open = true;
    snprintf(p->head, sizeof(p->head), "%s", head);
    lab_str_add(s, "<h3>");
    lab_export_text(s, head, LAB_ESCAPE_HTML);
    lab_str_addf(s, "</h3>\n<div class=\"wide\"><table>\n%s\n", columns);
}

/* The roof that the rung's rate is held against; NaN: unknown. */
static double find_peak(const struct part *p, const struct lab_bench_result *r)
{
    if (strcmp(p->unit, "B/s") == 0)
        return lab_report_roof(p->r, "copy");
    if (strcmp(p->unit, "FLOP/s") == 0 && r->precision)
        return lab_report_roof(p->r, r->precision);
    return NAN;
}

static bool put_rung(void *user, const struct lab_bench_result *r)
{
    struct part *p = user;
    struct lab_str *s = &p->r->text;
    char head[sizeof(p->head)];
    if (!p->ladder)
        lab_str_add(s, "<h2>Ladder</h2>\n<p>A bar is the rate at the median, "
                       "the line the roof of the device in that precision "
                       "(below: Roofline).</p>\n");
    p->ladder = true;
    snprintf(head, sizeof(head), "%.60s, %.60s", r->lab ? r->lab : "?",
             r->size ? r->size : "?");
    begin_table(p, head,
                "<tr><th>rung</th><th>in</th><th>status</th>"
                "<th class=\"n\">median</th><th class=\"n\">rate</th>"
                "<th class=\"n\">of the roof</th><th class=\"n\">gain</th>"
                "<th class=\"n\">promised</th><th>note</th></tr>");
    snprintf(p->unit, sizeof(p->unit), "%s", r->unit ? r->unit : "");
    double peak = find_peak(p, r);
    lab_str_add(s, "<tr>");
    lab_report_word_cell(s, r->variant);
    lab_report_word_cell(s, r->precision);
    lab_report_word_cell(s, r->status);
    lab_report_ns_cell(s, r->median_ns);
    rate_cell(s, r->rate, p->unit);
    lab_report_number_cell(s, peak > 0 ? 100 * r->rate / peak : (double)NAN,
                           " %");
    lab_report_number_cell(s, r->gain, " x");
    lab_report_number_cell(s, r->gain_model, " x");
    cell(s, r->note ? r->note : r->reason);
    lab_str_add(s, "</tr>\n");
    note_bar(p, r->variant, r->precision, r->rate, peak);
    return p->r->st == LAB_OK;
}

static bool put_said(void *user, const struct lab_prediction *r)
{
    struct part *p = user;
    struct lab_str *s = &p->r->text;
    begin_table(p, "Expected before",
                "<tr><th>rung</th><th>in</th><th>size</th>"
                "<th class=\"n\">rate</th><th class=\"n\">time</th>"
                "<th>bound by</th><th class=\"n\">occupancy</th></tr>");
    lab_str_add(s, "<tr>");
    lab_report_word_cell(s, r->variant);
    lab_report_word_cell(s, r->precision ? r->precision : "any");
    cell(s, r->size ? r->size : "any");
    rate_cell(s, r->rate, p->unit);
    lab_report_ns_cell(s, r->time_ns);
    cell(s, r->bound ? r->bound : LAB_NA);
    lab_report_number_cell(s, r->occupancy_pct, " %");
    lab_str_add(s, "</tr>\n");
    return true;
}

static bool put_tuned(void *user, const struct lab_tuned_row *r)
{
    struct part *p = user;
    struct lab_str *s = &p->r->text;
    begin_table(p, "Tuned",
                "<tr><th>lab</th><th>sizes</th><th>in</th><th>fastest</th>"
                "<th class=\"n\">of</th><th>measured at</th>"
                "<th class=\"n\">median</th><th class=\"n\">rate</th></tr>");
    lab_str_add(s, "<tr>");
    cell(s, r->lab);
    cell(s, r->size_class);
    lab_report_word_cell(s, r->precision);
    cell(s, r->candidate);
    lab_report_number_cell(s, lab_to_real(r->candidates), "");
    cell(s, r->size);
    lab_report_ns_cell(s, r->median_ns);
    rate_cell(s, r->rate, r->unit ? r->unit : "");
    lab_str_add(s, "</tr>\n");
    return true;
}

static bool put_sweep(void *user, const struct lab_sweep_row *r)
{
    struct part *p = user;
    struct lab_str *s = &p->r->text;
    char name[48];
    char head[sizeof(p->head)];
    snprintf(head, sizeof(head), "%.60s of %.60s", r->sweep ? r->sweep : "?",
             r->lesson ? r->lesson : "?");
    snprintf(name, sizeof(name), "%.10g", r->x);
    begin_table(p, head,
                "<tr><th>on</th><th class=\"n\">size</th><th>part</th>"
                "<th>status</th><th class=\"n\">median</th>"
                "<th class=\"n\">samples/s</th><th class=\"n\">memory, B</th>"
                "<th class=\"n\">parameters</th><th class=\"n\">share</th>"
                "<th class=\"n\">loss (samples)</th>"
                "<th class=\"n\">loss (iterations)</th></tr>");
    lab_str_add(s, "<tr>");
    lab_report_word_cell(s, r->backend);
    lab_report_number_cell(s, r->x, "");
    cell(s, r->name ? r->name : "");
    lab_report_word_cell(s, r->status);
    lab_report_ns_cell(s, r->median_ns);
    lab_report_number_cell(s, r->samples_per_s, "");
    lab_report_number_cell(s, lab_to_real(r->memory_bytes), "");
    lab_report_number_cell(s, lab_to_real(r->parameters), "");
    lab_report_number_cell(s, 100 * r->share, " %");
    lab_report_number_cell(s, r->loss, "");
    lab_report_number_cell(s, r->loss_iterations, "");
    lab_str_add(s, "</tr>\n");
    snprintf(p->unit, sizeof(p->unit), "samples/s");
    note_bar(p, r->name ? r->name : name, r->backend, r->samples_per_s, NAN);
    return true;
}

void lab_report_lab(struct lab_report *r)
{
    struct part p = {.r = r};
    enum lab_status st = lab_bench_results_read(r->db, r->run, put_rung, &p);
    end_table(&p);
    if (st == LAB_OK)
        st = lab_predictions_read(r->db, r->run, put_said, &p);
    end_table(&p);
    if (st == LAB_OK)
        st = lab_tuned_of_run(r->db, r->run, put_tuned, &p);
    end_table(&p);
    if (st == LAB_OK)
        st = lab_sweep_rows_read(r->db, r->run, put_sweep, &p);
    end_table(&p);
    r->st = r->st ? r->st : st;
}
