/* A lab's numbers as text. */
#include "bench/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lesson/lesson.h"
#include "base/format.h"

/* Four digits and the prefix of a thousand that fits. */
static const char *scaled(double v, const char *unit, char *out, size_t cap)
{
    static const char *const prefix[] = {"", "k", "M", "G", "T", "P"};
    int p = 0;
    while (v >= 999.95 && p < 5) {
        v /= 1000;
        p++;
    }
    snprintf(out, cap, "%.4g %s%s", v, prefix[p], unit);
    return out;
}

const char *lab_bench_rate_text(const struct lab_bench_data *data, double rate,
                                char *out, size_t cap)
{
    char time[LAB_FORMAT_BYTES];
    if (isnan(rate))
        snprintf(out, cap, "n/a");
    else if (data->unit == LAB_UNIT_TIME)
        snprintf(out, cap, "%s / %s",
                 lab_format_ns(rate * 1e9, time, sizeof(time)),
                 data->item && data->item[0] ? data->item : "item");
    else
        scaled(rate, data->unit == LAB_UNIT_FLOPS ? "FLOP/s" : "B/s", out, cap);
    return out;
}

static void add(char *out, size_t cap, const char *separator, const char *text)
{
    size_t n = strlen(out);
    if (text[0] && n < cap)
        snprintf(out + n, cap - n, "%s%s", n ? separator : "", text);
}

const char *lab_prediction_text(const struct lab_bench_data *data,
                                const struct lab_prediction *p, char *out,
                                size_t cap)
{
    char part[LAB_BENCH_NAME];
    if (cap)
        out[0] = '\0';
    if (!isnan(p->rate))
        add(out, cap, ", ",
            lab_bench_rate_text(data, p->rate, part, sizeof(part)));
    if (!isnan(p->time_ns))
        add(out, cap, ", ", lab_format_ns(p->time_ns, part, sizeof(part)));
    add(out, cap, ", ", p->bound ? p->bound : "");
    if (!isnan(p->occupancy_pct)) {
        snprintf(part, sizeof(part), "%.4g %%", p->occupancy_pct);
        add(out, cap, ", ", part);
    }
    return out;
}

/* A rate of LAB_UNIT_TIME is a time: there the smaller one is faster. */
double lab_prediction_ratio(enum lab_bench_unit unit,
                            const struct lab_prediction *p,
                            const struct lab_bench_result *row)
{
    if (row->state != LAB_BENCH_DONE)
        return NAN;
    if (!isnan(p->time_ns))
        return p->time_ns / row->median_ns;
    return unit == LAB_UNIT_TIME ? p->rate / row->rate : row->rate / p->rate;
}

const char *lab_prediction_ratio_short(enum lab_bench_unit unit,
                                       const struct lab_prediction *p,
                                       const struct lab_bench_result *row,
                                       char *out, size_t cap)
{
    double off = lab_prediction_ratio(unit, p, row);
    if (cap)
        out[0] = '\0';
    if (!isnan(off))
        snprintf(out, cap, off >= 100 ? "%.0f x" : "%.2f x", off);
    else if (row->state == LAB_BENCH_DONE && p->bound && row->bound)
        snprintf(out, cap,
                 strcmp(p->bound, row->bound) == 0 ? "right" : "wrong");
    return out;
}

static void add_speed(double off, char *out, size_t cap)
{
    char part[80];
    if (isnan(off))
        return;
    if (off > 1 / 1.1 && off < 1.1)
        snprintf(part, sizeof(part), "within 10 %% of what you said");
    else if (off >= 1)
        snprintf(part, sizeof(part), "%.3g times as fast as you said", off);
    else
        snprintf(part, sizeof(part), "%.3g times as slow as you said", 1 / off);
    add(out, cap, "; ", part);
}

const char *lab_prediction_ratio_text(enum lab_bench_unit unit,
                                      const struct lab_prediction *p,
                                      const struct lab_bench_result *row,
                                      char *out, size_t cap)
{
    char part[120];
    if (cap)
        out[0] = '\0';
    if (row->state != LAB_BENCH_DONE)
        return out;
    add_speed(lab_prediction_ratio(unit, p, row), out, cap);
    if (p->bound && !row->bound)
        add(out, cap, "; ", "what bounds it is not known");
    else if (p->bound) {
        snprintf(part, sizeof(part),
                 strcmp(p->bound, row->bound) == 0 ? "bound by %s, as you said"
                                                   : "bound by %s, you said %s",
                 row->bound, p->bound);
        add(out, cap, "; ", part);
    }
    if (!isnan(p->occupancy_pct)) {
        snprintf(part, sizeof(part), "occupancy %.4g %%, you said %.4g %%",
                 row->occupancy_pct, p->occupancy_pct);
        add(out, cap, "; ",
            isnan(row->occupancy_pct) ? "its occupancy is not known" : part);
    }
    return out;
}

/* What is faster by less than this is as fast. */
static const double noise = 1.02;
/* What is faster than memory by more than this comes from caches: the row is
 * "bound by cache" (LAB_ROOFLINE_ABOVE). */
static const double cached = 1.05;

const char *lab_bench_ceiling_passed(enum lab_bench_unit unit, double share)
{
    if (!(share > noise))
        return NULL;
    if (unit != LAB_UNIT_BYTES)
        return "what was measured is no ceiling at this size: this is faster";
    return share > cached ? "a copy is no ceiling at this size: caches serve a "
                            "part of the bytes"
                          : "a copy is no ceiling here: this mix of reads and "
                            "writes is faster";
}

bool lab_bench_ceiling_beaten(const struct lab_bench_data *data, int set,
                              int size)
{
    for (int64_t i = 0; i < data->row_count; i++) {
        const struct lab_bench_result *r = &data->rows[i];
        if (r->set == set && (size < 0 || r->size_index == size) &&
            lab_bench_ceiling_passed(data->unit, r->share))
            return true;
    }
    return false;
}

const char *lab_bench_model_passed(enum lab_bench_unit unit, double rate,
                                   double model, double bytes, double traffic)
{
    if (unit == LAB_UNIT_TIME)
        return model > noise * rate ? "an item takes less than the model has "
                                      "for it"
                                    : NULL;
    if (!(rate > noise * model))
        return NULL;
    if (unit == LAB_UNIT_FLOPS)
        return "the model counts each access of the kernel's text, and caches "
               "and registers serve some at once";
    return traffic > noise * bytes || rate > cached * model
               ? "caches serve a part of what the model charges to memory"
               : "the model has memory at a copy's rate, and this mix of "
                 "reads and writes is faster";
}

const char *lab_bench_slide_text(const struct lab_bench_slide *slide, char *out,
                                 size_t cap)
{
    const struct lab_lesson_slide *s = slide->course;
    bool there = slide->recorded_on[0];
    snprintf(out, cap, "%s at %s: slide, %s: %.6g %s; %s%s: %s", s->label,
             s->size, s->machine, s->value, s->unit,
             there ? "recorded on " : "this machine",
             there ? slide->recorded_on : "", slide->here);
    return out;
}

const char *lab_bench_state_text(enum lab_bench_progress state)
{
    static const char *const texts[] = {"not run", "checking", "timing", "",
                                        "failed"};
    return texts[state];
}
