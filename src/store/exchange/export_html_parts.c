/* What the tables and pictures of the HTML report are made of. */
#include <math.h>
#include <string.h>

#include "export_html_priv.h"

enum { NAMES = 190, LABELS = 150, BAR = LAB_REPORT_BAR };

/* ---- cells ---- */

void lab_report_word_cell(struct lab_str *s, const char *text)
{
    lab_str_add(s, "<td class=\"w\">");
    lab_export_text(s, text ? text : LAB_NA, LAB_ESCAPE_HTML);
    lab_str_add(s, "</td>");
}

void lab_report_text_cell(struct lab_str *s, const char *text)
{
    lab_str_addf(s, "<td class=\"n\">%s</td>", text);
}

void lab_report_ns_cell(struct lab_str *s, double ns)
{
    lab_report_text_cell(s, LAB_NS_TEXT(ns));
}

void lab_report_number_cell(struct lab_str *s, double v, const char *unit)
{
    if (isnan(v))
        lab_str_add(s, "<td class=\"n\">" LAB_NA "</td>");
    else
        lab_str_addf(s, "<td class=\"n\">%.4g%s</td>", v, unit);
}

void lab_report_amount_cell(struct lab_str *s, double v, const char *unit)
{
    lab_report_text_cell(s, LAB_AMOUNT_TEXT(v, unit));
}

/* ---- pictures ---- */

void lab_report_begin(struct lab_str *s, int height, const char *label)
{
    lab_str_addf(s,
                 "<div class=\"wide\"><svg viewBox=\"0 0 %d %d\" role=\"img\" "
                 "aria-label=\"",
                 (int)LAB_REPORT_WIDTH, height);
    lab_export_text(s, label, LAB_ESCAPE_HTML);
    lab_str_add(s, "\">\n");
}

void lab_report_end(struct lab_str *s)
{
    lab_str_add(s, "</svg></div>\n");
}

void lab_report_text(struct lab_str *s, double x, double y, const char *anchor,
                     const char *text)
{
    lab_str_addf(s, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y,
                 anchor);
    lab_export_text(s, text, LAB_ESCAPE_HTML);
    lab_str_add(s, "</text>\n");
}

void lab_report_clip(char *out, size_t size, const char *text, size_t most)
{
    size_t n = strlen(text);
    size_t used = 0;
    unsigned code;
    for (size_t i = 0; i < most && used < n; i++) {
        size_t bytes = lab_utf8_next(text + used, n - used, &code);
        used += bytes ? bytes : 1;
    }
    snprintf(out, size, "%.*s%s", (int)used, text,
             used < n ? "\xE2\x80\xA6" : "");
}

/* ---- bars ---- */

size_t lab_report_bars_begin(struct lab_str *s, size_t bars, const char *which,
                             const char *label)
{
    size_t shown = bars > LAB_REPORT_BARS ? LAB_REPORT_BARS : bars;
    if (shown < bars)
        lab_str_addf(s,
                     "<p>The %s %zu of %zu, in the order they ran; the table "
                     "has all.</p>\n",
                     which, shown, bars);
    lab_report_begin(s, (int)shown * BAR + 8, label);
    return shown;
}

double lab_report_bar_x(double value, double most)
{
    return NAMES + value / most * (LAB_REPORT_WIDTH - NAMES - LABELS);
}

void lab_report_bar(struct lab_str *s, const struct lab_report_bar *bar,
                    double y)
{
    enum { MOST = 30 }; /* what lies left of the picture is not seen */
    char name[4 * MOST + 8];
    double x = lab_report_bar_x(0, 1);
    lab_report_clip(name, sizeof(name), bar->name ? bar->name : LAB_NA, MOST);
    lab_report_text(s, x - 6, y + 13, "end", name);
    lab_str_addf(s,
                 "<rect class=\"p%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                 "height=\"%d\"/>\n",
                 (int)(bar->phase & 3), x, y + 2, bar->end - x, BAR - 4);
    if (bar->stroke)
        lab_str_addf(s,
                     "<line class=\"box\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" "
                     "y2=\"%.1f\"/>\n",
                     bar->x1, bar->x2, y + bar->y1, y + bar->y2);
    x = bar->stroke ? fmax(bar->end, bar->x2) : bar->end;
    lab_report_text(s, x + 6, y + 13, "start", lab_str_text(bar->label));
    s->failed |= bar->label->failed;
}
