/* ceiling.c -- names and units of a device's measured ceilings, and their
 * measurement through the backend. */
#include "engine/ceiling.h"

#include "base/quantile.h"

static const struct {
    const char *name;
    const char *text;
    const char *unit;
} ceilings[] = {
    [LAB_CEILING_COPY] = {"copy",
                          "memory, read and written: a copy, on a "
                          "processor y = 2 x + y too",
                          "B/s"},
    [LAB_CEILING_FP32] = {"fp32", "a product in fp32", "FLOP/s"},
    [LAB_CEILING_TF32] = {"tf32", "a product of fp32 on tensor cores (tf32)",
                          "FLOP/s"},
    [LAB_CEILING_BF16] = {"bf16", "a product in bf16, summed in fp32",
                          "FLOP/s"},
    [LAB_CEILING_FP16] = {"fp16", "a product in fp16, summed in fp32",
                          "FLOP/s"},
    [LAB_CEILING_FMA] = {"fma", "multiply-adds in fp32, in registers alone",
                         "FLOP/s"},
    [LAB_CEILING_INT8] = {"int8",
                          "a product in int8, summed in whole numbers of 32",
                          "FLOP/s"},
};

const char *lab_ceiling_name(enum lab_ceiling ceiling)
{
    return ceiling < LAB_CEILING_COUNT ? ceilings[ceiling].name : "";
}

const char *lab_ceiling_text(enum lab_ceiling ceiling)
{
    return ceiling < LAB_CEILING_COUNT ? ceilings[ceiling].text : "";
}

const char *lab_ceiling_unit(enum lab_ceiling ceiling)
{
    return ceiling < LAB_CEILING_COUNT ? ceilings[ceiling].unit : "";
}

static void summarize(struct lab_ceiling_result *out,
                      struct lab_ceiling_times *t)
{
    int n = t->n;
    lab_sort_reals(t->seconds, (size_t)n);
    double middle = lab_quantile(t->seconds, (size_t)n, 0.5);
    out->repeats = n;
    out->size = t->size;
    out->best = t->work / t->seconds[0];
    out->median = t->work / middle;
    out->worst = t->work / t->seconds[n - 1];
}

enum lab_status lab_backend_ceiling(struct lab_backend *be,
                                    enum lab_ceiling ceiling,
                                    struct lab_ceiling_result *out)
{
    struct lab_ceiling_times times = {.n = 0};
    *out = (struct lab_ceiling_result){0};
    if (!be->ops->ceiling)
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[backend.no-ceilings] %s has no ceilings",
                        be->ops->name);
    enum lab_status st = be->ops->ceiling(be, ceiling, &times);
    if (st || times.n == 0)
        return lab_fail(st ? st : LAB_E_INTERNAL, "%s, %s: %s", be->ops->name,
                        lab_ceiling_name(ceiling), be->ops->error());
    summarize(out, &times);
    return LAB_OK;
}
