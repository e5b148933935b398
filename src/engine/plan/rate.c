/* rate.c -- learning rates that change, and clipping: the rate of an iteration,
 * and both in words. builder.c reads the optimizer's keys. */
#include "engine/plan.h"

#include <math.h>
#include <stdio.h>

#include "engine/explain.h"
#include "optimizer/optimizer.h"

const char *const lab_rate_names[] = {[LAB_RATE_CONSTANT] = "constant",
                                      [LAB_RATE_STEP] = "step",
                                      [LAB_RATE_EXPONENTIAL] = "exponential",
                                      [LAB_RATE_COSINE] = "cosine",
                                      [LAB_RATE_KINDS] = NULL};

double lab_rate_at(const struct lab_rate *r, double lr, int64_t i)
{
    const double pi = 3.14159265358979323846;
    if (i < r->warmup)
        return lr * (double)(i + 1) / (double)r->warmup;
    double k = (double)(i - r->warmup);
    double at = lr;
    double end = r->end < lr ? r->end : lr; /* lr may have been set below it */
    switch (r->kind) {
    case LAB_RATE_STEP:
        at = lr * pow(r->factor, floor(k / (double)r->every));
        break;
    case LAB_RATE_EXPONENTIAL:
        at = lr * pow(r->factor, k / (double)r->every);
        break;
    case LAB_RATE_COSINE:
        at = k >= (double)r->over
                 ? end
                 : end + (lr - end) * (1 + cos(pi * k / (double)r->over)) / 2;
        break;
    default:
        return lr;
    }
    return at > end ? at : end;
}

bool lab_rate_changes(const struct lab_rate *r)
{
    return r->kind != LAB_RATE_CONSTANT || r->warmup > 1;
}

const char *lab_rate_text(const struct lab_rate *r, char out[LAB_RATE_TEXT])
{
    char kind[80] = "";
    char end[32] = "";
    char warmup[40] = "";
    char clip[40] = "";
    if (r->end > 0)
        snprintf(end, sizeof(end), " to %g", r->end);
    if (r->kind == LAB_RATE_COSINE)
        snprintf(kind, sizeof(kind), "cosine%s over %lld", end,
                 (long long)r->over);
    else if (r->kind != LAB_RATE_CONSTANT)
        snprintf(kind, sizeof(kind), "%s, times %g %s %lld%s",
                 lab_rate_names[r->kind], r->factor,
                 r->kind == LAB_RATE_STEP ? "every" : "in", (long long)r->every,
                 end);
    if (r->warmup > 1)
        snprintf(warmup, sizeof(warmup), "warm-up %lld", (long long)r->warmup);
    if (r->clip > 0)
        snprintf(clip, sizeof(clip), "clipped at norm %g", r->clip);
    snprintf(out, LAB_RATE_TEXT, "%s%s%s%s%s", kind,
             *kind && *warmup ? ", " : "", warmup,
             *clip && (*kind || *warmup) ? ", " : "", clip);
    return out;
}

double lab_rate_explain_clip(struct lab_explainer *ex, double clip)
{
    if (clip <= 0 || !lab_explain_has_in(ex, 1))
        return 1;
    double norm = lab_explain_in(ex, 1, 0);
    double scale = lab_clip_scale(norm, clip);
    lab_explain_source(ex, 1, 0);
    if (scale != 1)
        lab_explain_where(ex,
                          "gradients are taken times clip_norm / norm = %g / "
                          "%.6g = %.6g",
                          clip, norm, scale);
    return scale;
}
