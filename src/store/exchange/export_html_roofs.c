/* The roofs of a run's device in the HTML report, and the steps under them. */
#include <math.h>
#include <string.h>

#include "export_html_priv.h"

enum { WIDTH = LAB_REPORT_WIDTH, RIGHT = 20, COPY = 0, FP32 = 1 };

/* ---- roofs ---- */

/* A file may hold any number: a height without an end is none. */
static void keep_finite(struct lab_roof *roof)
{
    if (!isfinite(roof->per_s) || roof->per_s <= 0)
        *roof = (struct lab_roof){.per_s = NAN};
}

enum lab_status lab_report_roofs_find(struct lab_report *r)
{
    struct lab_ceiling_device device;
    enum lab_status st = lab_ceiling_device_of_run(r->db, r->run, &device);
    for (int i = 0; i < LAB_ROOF_NAMES && st == LAB_OK; i++) {
        st = lab_roof_of_run(r->db, &device, &r->sums.rungs, lab_roof_names[i],
                             &r->roofs[i]);
        lab_roof_published(device.device, lab_roof_names[i], &r->published[i]);
        keep_finite(&r->roofs[i]);
        keep_finite(&r->published[i]);
    }
    return st;
}

double lab_report_roof(const struct lab_report *r, const char *name)
{
    for (int i = 0; i < LAB_ROOF_NAMES; i++)
        if (strcmp(lab_roof_names[i], name) == 0)
            return r->roofs[i].per_s;
    return NAN;
}

static const char *unit_of(int roof)
{
    return roof == COPY ? "B/s" : "FLOP/s";
}

/* Its name is in our words, its source in the database's. */
static void add_origin(struct lab_str *s, const struct lab_roof *roof)
{
    lab_str_add(s, lab_roof_origin_text(roof->origin));
    if (roof->source[0])
        lab_str_add(s, ", ");
    lab_export_text(s, roof->source, LAB_ESCAPE_HTML);
}

static void add_table(struct lab_report *r)
{
    struct lab_str *s = &r->text;
    lab_str_add(s, "<table>\n<tr><th>roof</th><th class=\"n\">height</th>"
                   "<th>from</th><th class=\"n\">data sheet</th></tr>\n");
    for (int i = 0; i < LAB_ROOF_NAMES; i++) {
        if (isnan(r->roofs[i].per_s))
            continue;
        lab_str_addf(s, "<tr><td>%s</td>", lab_roof_names[i]);
        lab_report_amount_cell(s, r->roofs[i].per_s, unit_of(i));
        lab_str_add(s, "<td>");
        add_origin(s, &r->roofs[i]);
        lab_str_add(s, "</td>");
        lab_report_amount_cell(s, r->published[i].per_s, unit_of(i));
        lab_str_add(s, "</tr>\n");
    }
    lab_str_add(s, "</table>\n");
}

/* ---- what is drawn ---- */

/* "tf32, bf16" has the words of a lab's rungs. */
static bool has_word(const char *words, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = words; (p = strstr(p, word)); p++)
        if ((p == words || p[-1] == ' ') && (p[n] == '\0' || p[n] == ','))
            return true;
    return false;
}

/* Of the arithmetics fp32, and what the run was in. */
static bool is_drawn(const struct lab_report *r, const struct lab_roof *roofs,
                     int i)
{
    return i != COPY && !isnan(roofs[i].per_s) &&
           (i == FP32 || has_word(r->precision, lab_roof_names[i]));
}

/* Whether the data sheet says something else. */
static bool has_sheet(const struct lab_report *r)
{
    bool other = false;
    for (int i = 0; i < LAB_ROOF_NAMES; i++)
        other = other || ((i == COPY || is_drawn(r, r->roofs, i)) &&
                          r->roofs[i].origin != LAB_ROOF_DATASHEET);
    return other && !isnan(r->published[COPY].per_s) &&
           !isnan(r->published[FP32].per_s);
}

/* Both axes are powers of ten. */
struct axes {
    double x0; /* log10 of FLOP per byte */
    double x1;
    double y0; /* log10 of FLOP/s */
    double y1;
};

enum { TOP = 10, HEIGHT = 320, FROM = 70 };

static double place_x(const struct axes *a, double x)
{
    return FROM + (log10(x) - a->x0) / (a->x1 - a->x0) * (WIDTH - FROM - RIGHT);
}

static double place_y(const struct axes *a, double y)
{
    return TOP + (a->y1 - log10(y)) / (a->y1 - a->y0) * HEIGHT;
}

/* A file may hold any number: what has no place on the axes is no point. */
static bool is_point(const struct lab_time_sum *s)
{
    double per_byte = s->flop / s->bytes;
    double per_s = s->flop / s->median_ns * 1e9;
    return s->level == LAB_SUM_STEP && per_byte > 0 && isfinite(per_byte) &&
           per_s > 0 && isfinite(per_s) && s->flop > 0 && s->median_ns > 0;
}

/* What has to be in the picture. */
struct extent {
    double x[2];
    double y[2];
};

static void include(struct extent *e, double x, double y)
{
    e->x[0] = fmin(e->x[0], x);
    e->x[1] = fmax(e->x[1], x);
    e->y[0] = fmin(e->y[0], y);
    e->y[1] = fmax(e->y[1], y);
}

/* With a part of the slope before the first ridge. */
static void include_roofs(struct extent *e, const struct lab_report *r,
                          const struct lab_roof *roofs)
{
    for (int i = 0; i < LAB_ROOF_NAMES; i++) {
        double ridge = roofs[i].per_s / roofs[COPY].per_s;
        if (!is_drawn(r, roofs, i))
            continue;
        include(e, ridge / 4, roofs[i].per_s);
        include(e, ridge, roofs[i].per_s);
    }
}

static void find_axes(const struct lab_report *r, struct axes *a)
{
    struct extent e = {{INFINITY, -INFINITY}, {INFINITY, -INFINITY}};
    include_roofs(&e, r, r->roofs);
    if (has_sheet(r))
        include_roofs(&e, r, r->published);
    double high_y = e.y[1];
    for (size_t i = 0; i < r->sums.count; i++) {
        const struct lab_time_sum *s = &r->sums.items[i];
        if (is_point(s))
            include(&e, s->flop / s->bytes, s->flop / s->median_ns * 1e9);
    }
    *a = (struct axes){floor(log10(e.x[0])), ceil(log10(e.x[1])) + 1,
                       floor(log10(e.y[0])), ceil(log10(high_y))};
}

/* The slope of the memory up to the highest arithmetic, and a line for each. */
static void add_lines(struct lab_report *r, const struct axes *a,
                      const struct lab_roof *roofs, const char *look)
{
    struct lab_str *s = &r->text;
    double bytes = roofs[COPY].per_s;
    double begin = fmax(pow(10, a->x0), pow(10, a->y0) / bytes);
    double highest = 0;
    for (int i = 0; i < LAB_ROOF_NAMES; i++)
        if (is_drawn(r, roofs, i))
            highest = fmax(highest, roofs[i].per_s);
    lab_str_addf(s, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f", look,
                 place_x(a, begin), place_y(a, begin * bytes),
                 place_x(a, highest / bytes), place_y(a, highest));
    for (int i = 0; i < LAB_ROOF_NAMES; i++)
        if (is_drawn(r, roofs, i))
            lab_str_addf(s, "M%.1f %.1fL%.1f %.1f",
                         place_x(a, roofs[i].per_s / bytes),
                         place_y(a, roofs[i].per_s), place_x(a, pow(10, a->x1)),
                         place_y(a, roofs[i].per_s));
    lab_str_add(s, "\"/>\n");
}

static void add_label(struct lab_report *r, int roof, double x, double y,
                      const char *anchor)
{
    const struct lab_roof *of = &r->roofs[roof];
    const char *from = of->origin == LAB_ROOF_DATASHEET
                           ? of->source
                           : lab_roof_origin_text(of->origin);
    struct lab_str label;
    lab_str_init(&label);
    lab_str_add(&label, LAB_AMOUNT_TEXT(of->per_s, unit_of(roof)));
    lab_str_addf(&label, " %s (%s)", lab_roof_names[roof], from);
    lab_report_text(&r->text, x, y, anchor, lab_str_text(&label));
    r->text.failed |= label.failed;
    lab_str_release(&label);
}

/* Below those that would be written over it. */
static double find_free(double y, const double *used, int n)
{
    enum { LINE = 13 };
    for (int i = 0; i < n; i++) {
        if (y > used[i] - LINE && y < used[i] + LINE) {
            y = used[i] + LINE;
            i = -1; /* it may lie on another one now */
        }
    }
    return y;
}

/* Names stand below their lines. */
static void add_labels(struct lab_report *r, const struct axes *a)
{
    double bytes = r->roofs[COPY].per_s;
    double begin = fmax(pow(10, a->x0), pow(10, a->y0) / bytes);
    double used[LAB_ROOF_NAMES];
    int n = 0;
    add_label(r, COPY, place_x(a, begin) + 48, place_y(a, begin * bytes) + 4,
              "start");
    for (int i = 0; i < LAB_ROOF_NAMES; i++) {
        if (!is_drawn(r, r->roofs, i))
            continue;
        used[n] = find_free(place_y(a, r->roofs[i].per_s) + 15, used, n);
        add_label(r, i, WIDTH - RIGHT, used[n++], "end");
    }
}

static void add_sheet_words(struct lab_report *r)
{
    struct lab_str *s = &r->text;
    lab_str_add(s, "<p class=\"dim\">Dashed, what the data sheet says: ");
    lab_str_add(s, LAB_AMOUNT_TEXT(r->published[COPY].per_s, unit_of(COPY)));
    lab_str_add(s, " copy");
    for (int i = 0; i < LAB_ROOF_NAMES; i++) {
        if (!is_drawn(r, r->published, i))
            continue;
        lab_str_add(s, ", ");
        lab_str_add(s, LAB_AMOUNT_TEXT(r->published[i].per_s, unit_of(i)));
        lab_str_addf(s, " %s", lab_roof_names[i]);
    }
    lab_str_add(s, " (");
    lab_export_text(s, r->published[FP32].source, LAB_ESCAPE_HTML);
    lab_str_add(s, ").</p>\n");
}

static void add_axes(struct lab_report *r, const struct axes *a)
{
    struct lab_str *s = &r->text;
    char label[48];
    for (double x = a->x0; x <= a->x1; x++) {
        double at = place_x(a, pow(10, x));
        lab_str_addf(s,
                     "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" "
                     "y2=\"%d\"/>\n",
                     at, at, (int)TOP, TOP + HEIGHT);
        snprintf(label, sizeof(label), "%g", pow(10, x));
        lab_report_text(s, at, TOP + HEIGHT + 16, "middle", label);
    }
    for (double y = a->y0; y <= a->y1; y++) {
        double at = place_y(a, pow(10, y));
        lab_str_addf(s,
                     "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" "
                     "y2=\"%.1f\"/>\n",
                     (int)FROM, WIDTH - RIGHT, at, at);
        snprintf(label, sizeof(label), "1e%d", (int)y);
        lab_report_text(s, FROM - 6, at + 4, "end", label);
    }
    lab_report_text(s, WIDTH / 2.0, TOP + HEIGHT + 34, "middle",
                    "FLOP per byte (analytic); upwards FLOP/s");
}

static void add_points(struct lab_report *r, const struct axes *a)
{
    struct lab_str *s = &r->text;
    for (size_t i = 0; i < r->sums.count; i++) {
        const struct lab_time_sum *p = &r->sums.items[i];
        if (!is_point(p))
            continue;
        lab_str_addf(s,
                     "<circle class=\"p%d\" cx=\"%.1f\" cy=\"%.1f\" "
                     "r=\"4\"><title>",
                     (int)(p->phase_id & 3), place_x(a, p->flop / p->bytes),
                     place_y(a, p->flop / p->median_ns * 1e9));
        lab_export_text(s, p->phase, LAB_ESCAPE_HTML);
        lab_str_add_char(s, ' ');
        lab_export_text(s, lab_time_sum_step(p), LAB_ESCAPE_HTML);
        lab_str_add(s, "</title></circle>\n");
    }
}

void lab_report_roofline(struct lab_report *r)
{
    struct lab_str *s = &r->text;
    struct axes a;
    if (isnan(r->roofs[FP32].per_s) || isnan(r->roofs[COPY].per_s)) {
        lab_str_add(s,
                    "<p>No roofline: the peaks of this device are not known; "
                    "`lapenna-lab profile ceilings` on it measures "
                    "them.</p>\n");
        return;
    }
    add_table(r);
    find_axes(r, &a);
    lab_report_begin(s, TOP + HEIGHT + 44, "roofline");
    add_axes(r, &a);
    if (has_sheet(r))
        add_lines(r, &a, r->published, "sheet");
    add_lines(r, &a, r->roofs, "roof");
    add_labels(r, &a);
    add_points(r, &a);
    lab_report_end(s);
    if (has_sheet(r))
        add_sheet_words(r);
}
