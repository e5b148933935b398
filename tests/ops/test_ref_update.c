/* The optimizers over many steps, against the formulas of optimizer.h written
 * a second time, for one number, in double; weight decay included, which the
 * golden cases have in adamw alone. */
#include "test.h"

#include "ops/kernel_rig.h"
#include "optimizer/optimizer.h"

enum { STEPS = 40, COUNT = 3 };

/* The gradient of a bowl around 0.3 with a ripple, so that its sign changes. */
static double slope(double p, int t)
{
    return 2 * (p - 0.3) + 0.5 * sin(t + 1);
}

static void sgd_by_hand(const struct lab_sgd_params *a, double *p)
{
    double velocity = 0;
    for (int t = 0; t < STEPS; t++) {
        double d = slope(*p, t) + a->weight_decay * *p;
        if (a->momentum != 0) {
            velocity = a->momentum * velocity + d;
            d = a->nesterov ? d + a->momentum * velocity : velocity;
        }
        *p -= a->lr * d;
    }
}

static void adam_by_hand(const struct lab_adam_params *a, bool decoupled,
                         double *p)
{
    double m = 0;
    double v = 0;
    for (int t = 0; t < STEPS; t++) {
        double g = slope(*p, t);
        if (decoupled)
            *p -= a->lr * a->weight_decay * *p;
        else
            g += a->weight_decay * *p;
        m = a->beta1 * m + (1 - a->beta1) * g;
        v = a->beta2 * v + (1 - a->beta2) * g * g;
        *p -= a->lr * (m / (1 - pow(a->beta1, t + 1))) /
              (sqrt(v / (1 - pow(a->beta2, t + 1))) + a->eps);
    }
}

static void check(const char *op, const char *outs, const void *params,
                  const double *want)
{
    static const double start[COUNT] = {2, -1, 0.7};
    static const double zeros[COUNT] = {0};
    static const int64_t dim[] = {COUNT};
    const char *const names[] = {"p", "m", "v", "g"};
    for (enum rig_kind kind = RIG_REF_F32; kind <= RIG_REF_F64; kind++) {
        struct rig *r = rig_new(kind);
        for (int i = 0; i < 4; i++) {
            rig_add(r, names[i], 1, dim);
            rig_set(r, names[i], i == 0 ? start : zeros);
        }
        for (int t = 0; t < STEPS; t++) {
            for (int i = 0; i < COUNT; i++)
                rig_put(r, "g", i, slope(rig_get(r, "p", i), t));
            rig_call(r)->iteration = (uint64_t)t;
            rig_run(r, op, "update", LAB_UPDATE, outs, "g", params);
        }
        rig_compare(op, r, "p", want, COUNT,
                    kind == RIG_REF_F64 ? 1e-12 : 1e-5);
        rig_free(r);
    }
}

TEST_CASE(sgd_follows_its_formula)
{
    static const struct lab_sgd_params params[] = {
        {.lr = 0.05, .weight_decay = 0.2},
        {.lr = 0.05, .momentum = 0.8, .weight_decay = 0.2},
        {.lr = 0.05, .momentum = 0.8, .weight_decay = 0.2, .nesterov = true},
    };
    for (int i = 0; i < 3; i++) {
        double want[COUNT] = {2, -1, 0.7};
        for (int k = 0; k < COUNT; k++)
            sgd_by_hand(&params[i], &want[k]);
        check("sgd", i == 0 ? "+p -" : "+p +v", &params[i], want);
    }
}

TEST_CASE(adam_follows_its_formula)
{
    static const struct lab_adam_params params[] = {
        {.lr = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8},
        {.lr = 0.1,
         .beta1 = 0.8,
         .beta2 = 0.95,
         .eps = 1e-3,
         .weight_decay = 0.2},
    };
    for (int i = 0; i < 2; i++) {
        for (int decoupled = 0; decoupled < 2; decoupled++) {
            double want[COUNT] = {2, -1, 0.7};
            for (int k = 0; k < COUNT; k++)
                adam_by_hand(&params[i], decoupled, &want[k]);
            check(decoupled ? "adamw" : "adam", "+p +m +v", &params[i], want);
        }
    }
}

RUN_TESTS()
