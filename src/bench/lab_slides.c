/* The figures that the course prints, and what stands beside them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "bench/lab_feed.h"
#include "lesson/lesson.h"
#include "base/format.h"
#include "bench/lab_words.h"

/* FLOP/s or B/s of a figure; NaN where it is no rate of this ladder. */
static double rate_of(const struct lab_ui_lab *ui,
                      const struct lab_lesson_slide *s)
{
    static const struct {
        const char *name;
        enum lab_ui_lab_unit unit;
        double scale;
    } rates[] = {{"GFLOP/s", LAB_UI_LAB_FLOPS, 1e9},
                 {"TFLOP/s", LAB_UI_LAB_FLOPS, 1e12},
                 {"GB/s", LAB_UI_LAB_BYTES, 1e9},
                 {"TB/s", LAB_UI_LAB_BYTES, 1e12}};
    for (size_t i = 0; i < sizeof(rates) / sizeof(*rates); i++)
        if (rates[i].unit == ui->unit && strcmp(s->unit, rates[i].name) == 0)
            return s->value * rates[i].scale;
    return NAN;
}

enum lab_status lab_bench_model_slides(struct lab_ui_lab *ui,
                                       const struct lab_bench *lab)
{
    const struct lab_lesson_lab *from = lab->lesson ? &lab->lesson->lab : NULL;
    int n = from ? from->n_slides : 0;
    lab_free(ui->slides);
    ui->slide_count = 0;
    ui->slides = lab_alloc_array((size_t)n + 1, sizeof(*ui->slides));
    if (!ui->slides)
        return lab_fail(LAB_E_NOMEM, "no memory for the course's figures");
    for (int i = 0; i < n; i++) {
        const struct lab_lesson_slide *s = &from->slides[i];
        struct lab_ui_lab_slide *to = &ui->slides[ui->slide_count++];
        struct lab_ladder_size size = {.dim = {0}};
        *to = (struct lab_ui_lab_slide){.value = s->value,
                                        .rate = rate_of(ui, s)};
        snprintf(to->label, sizeof(to->label), "%s", s->label);
        snprintf(to->machine, sizeof(to->machine), "%s", s->machine);
        snprintf(to->source, sizeof(to->source), "%s", s->source);
        snprintf(to->size, sizeof(to->size), "%s", s->size);
        snprintf(to->unit, sizeof(to->unit), "%s", s->unit);
        snprintf(to->rung, sizeof(to->rung), "%s", s->rung ? s->rung : "");
        snprintf(to->precision, sizeof(to->precision), "%s",
                 s->precision ? s->precision : "");
        if (lab->ladder &&
            !lab_ladder_size(lab->ladder, s->size, strlen(s->size), &size))
            to->x = (double)size.dim[0];
    }
    return LAB_OK;
}

static bool same_size(const struct lab_operation *l, const char *a,
                      const char *b)
{
    struct lab_ladder_size p;
    struct lab_ladder_size q;
    return !lab_ladder_size(l, a, strlen(a), &p) &&
           !lab_ladder_size(l, b, strlen(b), &q) &&
           memcmp(p.dim, q.dim, sizeof(p.dim)) == 0;
}

/* Of a figure that names none: networks and most labs are fp32. */
static const char *usual_precision(const struct lab_ui_lab *ui)
{
    for (int64_t i = 0; i < ui->row_count; i++)
        if (strcmp(ui->rows[i].precision, "fp32") == 0)
            return "fp32";
    return "fp64";
}

/* The rung that the row names, else the fastest, in the same precision; what runs
 * here before what was
 * recorded elsewhere. */
static const struct lab_ui_lab_row *
find_beside(const struct lab_ui_lab *ui, const struct lab_operation *ladder,
            const struct lab_ui_lab_slide *slide, bool here)
{
    const struct lab_ui_lab_row *best = NULL;
    const char *precision =
        slide->precision[0] ? slide->precision : usual_precision(ui);
    for (int64_t i = 0; i < ui->row_count; i++) {
        const struct lab_ui_lab_row *r = &ui->rows[i];
        if (r->state != LAB_UI_LAB_DONE || ui->sets[r->set].runs != here ||
            strcmp(r->precision, precision) != 0 ||
            (slide->rung[0] && strcmp(r->rung, slide->rung) != 0) ||
            !same_size(ladder, slide->size, ui->sizes[r->size].text))
            continue;
        if (!best || r->median_ns < best->median_ns)
            best = r;
    }
    return best;
}

static void put_number(double v, const char *unit, char *out, size_t cap)
{
    snprintf(out, cap, v < 10000 ? "%.4g %s" : "%.0f %s", v, unit);
}

/* In the slide's own unit. */
static void put_figure(const struct lab_ui_lab *ui,
                       const struct lab_ui_lab_slide *s,
                       const struct lab_ui_lab_row *r, char *out, size_t cap)
{
    static const struct {
        const char *name;
        double ns;
    } times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    if (!isnan(s->rate)) {
        put_number(r->rate / (s->rate / s->value), s->unit, out, cap);
        return;
    }
    for (size_t i = 0; i < 4; i++) {
        if (strcmp(s->unit, times[i].name) == 0) {
            put_number(r->median_ns / times[i].ns, s->unit, out, cap);
            return;
        }
    }
    bool mb = strcmp(s->unit, "MB") == 0;
    if ((mb || strcmp(s->unit, "MiB") == 0) && isnan(r->workspace_bytes))
        snprintf(out, cap, "%s says none", r->rung);
    else if (mb || strcmp(s->unit, "MiB") == 0)
        put_number(r->workspace_bytes / (mb ? 1e6 : 1048576), s->unit, out,
                   cap);
    else
        lab_bench_rate_text(ui, r->rate, out, cap);
}

static void record_of(struct lab_ui_lab_slide *s,
                      const struct lab_ui_lab_set *set)
{
    snprintf(s->recorded_on, sizeof(s->recorded_on), "%s",
             set->device[0] ? set->device : "another machine");
}

void lab_bench_model_beside(struct lab_ui_lab *ui,
                            const struct lab_operation *ladder)
{
    for (int i = 0; i < ui->slide_count; i++) {
        struct lab_ui_lab_slide *s = &ui->slides[i];
        char figure[48];
        s->recorded_on[0] = '\0';
        const struct lab_ui_lab_row *r = find_beside(ui, ladder, s, true);
        const struct lab_ui_lab_row *there =
            r ? NULL : find_beside(ui, ladder, s, false);
        if (r || there) {
            const struct lab_ui_lab_row *of = r ? r : there;
            put_figure(ui, s, of, figure, sizeof(figure));
            snprintf(s->here, sizeof(s->here), "%.40s (%.40s)", figure,
                     of->rung);
            if (there)
                record_of(s, &ui->sets[of->set]);
        } else {
            snprintf(s->here, sizeof(s->here), "not measured at %.40s",
                     s->size);
        }
    }
}
