/* The fastest variant of every step, found by walking the network with each of
 * them: real tensors, and caches as they are in training. */
#include "engine/tune.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "engine/walk.h"

struct lab_tuning {
    struct lab_tune_time *times; /* by step, then time; NaN last */
    size_t n;
    size_t room;
    bool sorted;
};

struct lab_tuning *lab_tuning_new(void)
{
    return lab_alloc(sizeof(struct lab_tuning));
}

void lab_tuning_free(struct lab_tuning *t)
{
    if (t)
        lab_free(t->times);
    lab_free(t);
}

/* NaN after all numbers. */
static int by_step_and_time(const void *a, const void *b)
{
    const struct lab_tune_time *x = a;
    const struct lab_tune_time *y = b;
    int order = strcmp(x->step, y->step);
    if (order)
        return order;
    if (isnan(x->ns) != isnan(y->ns))
        return isnan(x->ns) ? 1 : -1;
    if (x->ns != y->ns && !isnan(x->ns))
        return x->ns < y->ns ? -1 : 1;
    return strcmp(x->variant, y->variant);
}

static void sort(const struct lab_tuning *t)
{
    /* The order is no part of what a tuning is: const for its readers. */
    struct lab_tuning *own = (struct lab_tuning *)(uintptr_t)t;
    if (!own->sorted && own->n > 0)
        qsort(own->times, own->n, sizeof(*own->times), by_step_and_time);
    own->sorted = true;
}

static struct lab_tune_time *find(const struct lab_tuning *t, const char *step,
                                  const char *variant)
{
    for (size_t i = 0; i < t->n; i++) {
        if (strcmp(t->times[i].step, step) == 0 &&
            strcmp(t->times[i].variant, variant) == 0)
            return &t->times[i];
    }
    return NULL;
}

enum lab_status lab_tuning_add(struct lab_tuning *t,
                               const struct lab_tune_time *time)
{
    struct lab_tune_time *at = find(t, time->step, time->variant);
    if (!at) {
        enum lab_status st = lab_grow(&t->times, t->n, &t->room,
                                      sizeof(*t->times), "variants' times");
        if (st)
            return st;
        at = &t->times[t->n++];
    }
    *at = *time;
    t->sorted = false;
    return LAB_OK;
}

const struct lab_tune_time *lab_tuning_time(const struct lab_tuning *t, int i)
{
    sort(t);
    return (size_t)i < t->n ? &t->times[i] : NULL;
}

const struct lab_tune_time *lab_tuning_of(const struct lab_tuning *t,
                                          const char *key, int *n)
{
    const struct lab_tune_time *first = NULL;
    *n = 0;
    sort(t);
    for (size_t i = 0; i < t->n; i++) {
        if (strcmp(t->times[i].step, key) != 0)
            continue;
        first = first ? first : &t->times[i];
        ++*n;
    }
    return first;
}

/* "128x784"; a tensor that is not there is "-". */
static int put_shape(char *out, size_t size, const struct lab_plan *plan, int t)
{
    int at = 0;
    if (t < 0)
        return snprintf(out, size, "-");
    const struct lab_view v = lab_plan_view(plan, t, NULL);
    if (v.rank == 0)
        return snprintf(out, size, "1");
    for (int d = 0; d < v.rank && at < (int)size; d++)
        at += snprintf(out + at, size - (size_t)at, "%s%lld", d ? "x" : "",
                       (long long)v.dim[d]);
    return at;
}

void lab_tune_key(const struct lab_plan *plan, const struct lab_step *step,
                  char key[LAB_TUNE_KEY])
{
    int at =
        snprintf(key, LAB_TUNE_KEY, "%s.%s %s ", step->op->name,
                 step->group ? "*" : step->kernel, lab_phase_name(step->phase));
    for (int i = 0; i < step->n_in + step->n_out && at < LAB_TUNE_KEY; i++) {
        int t = i < step->n_in ? step->in[i] : step->out[i - step->n_in];
        at += snprintf(key + at, LAB_TUNE_KEY - (size_t)at, "%s",
                       i == step->n_in ? " > " : (i ? "," : ""));
        if (at < LAB_TUNE_KEY)
            at += put_shape(key + at, LAB_TUNE_KEY - (size_t)at, plan, t);
    }
}

static double iteration_flop(const struct lab_plan *plan)
{
    double flop = 0;
    for (int i = 0; i < plan->n_steps; i++)
        flop += isnan(plan->steps[i].flop) ? 0 : plan->steps[i].flop;
    return flop;
}

bool lab_tune_wanted(const struct lab_plan *plan)
{
    return iteration_flop(plan) >= LAB_TUNE_FLOP;
}

/* The names that any step of the plan has. */
enum { MAX_NAMES = 64 };
struct names {
    const char *name[MAX_NAMES];
    int n;
    const char *reference; /* the first row's */
};

static void collect(const struct lab_plan *plan, struct lab_backend *be,
                    struct names *out)
{
    *out = (struct names){.n = 0};
    for (int i = 0; i < plan->n_steps; i++) {
        const char *own[MAX_NAMES];
        int n = lab_backend_variant_names(
            be, plan->real, plan->steps[i].op->name, own, MAX_NAMES);
        if (n > 0 && !out->reference)
            out->reference = own[0];
        for (int k = 0; k < n; k++) {
            int at = 0;
            while (at < out->n && strcmp(out->name[at], own[k]) != 0)
                at++;
            if (at == out->n && out->n < MAX_NAMES)
                out->name[out->n++] = own[k];
        }
    }
}

struct tuner {
    struct lab_walk *w;
    struct lab_tuning *t;
    const struct lab_tune_keeper *keeper;
    int64_t end_ns; /* of the budget */
};

bool lab_tune_competes(const struct lab_variant *v)
{
    return v->precision == LAB_FP32 && !v->of_lab;
}

/* Does this step of the schedule count for `name`? */
static bool counts(const struct lab_schedule_step *s, const char *name)
{
    return strcmp(s->variant->name, name) == 0 && lab_tune_competes(s->variant);
}

/* Is a time of `name` missing in the schedule that the walk has? */
static bool lacks_time(const struct tuner *u, const char *name)
{
    const struct lab_schedule *s = lab_walk_schedule(u->w);
    char key[LAB_TUNE_KEY];
    for (int i = 0; i < s->n_steps; i++) {
        lab_tune_key(lab_walk_plan(u->w), s->steps[i].step, key);
        if (counts(&s->steps[i], name) && !find(u->t, key, name))
            return true;
    }
    return false;
}

/* Keeps the smallest time of each step of `name`, or NaN for those without. */
static enum lab_status note(struct tuner *u, const char *name, bool ran)
{
    const struct lab_schedule *s = lab_walk_schedule(u->w);
    enum lab_status st = LAB_OK;
    for (int i = 0; i < s->n_steps && !st; i++) {
        struct lab_tune_time time = {.ns = NAN};
        int64_t exec;
        int64_t ns = 0;
        if (!counts(&s->steps[i], name))
            continue;
        lab_tune_key(lab_walk_plan(u->w), s->steps[i].step, time.step);
        snprintf(time.variant, sizeof(time.variant), "%s", name);
        if (ran) {
            lab_walk_step_status(u->w, i, &exec, &ns);
            time.ns = (double)ns;
        }
        const struct lab_tune_time *old = find(u->t, time.step, name);
        if (!old || isnan(old->ns) || time.ns < old->ns)
            st = lab_tuning_add(u->t, &time);
    }
    return st;
}

static enum lab_status walk_once(struct tuner *u)
{
    enum lab_status st = lab_walk_begin(u->w);
    while (!st) {
        st = lab_walk_step(u->w);
        if (st || lab_walk_at_end(u->w))
            break;
    }
    return st;
}

/* A warm-up iteration, then the timed ones. */
static enum lab_status measure(struct tuner *u, const char *name)
{
    enum { TIMED = 3 };
    enum lab_status st = LAB_OK;
    for (int i = 0; i <= TIMED && !st; i++) {
        if (lab_clock_monotonic_ns() > u->end_ns)
            return i <= 1 ? note(u, name, false) : LAB_OK;
        st = walk_once(u);
        if (!st && i > 0)
            st = note(u, name, true);
    }
    return st;
}

/* Hands what was found to the keeper. */
static void keep(const struct tuner *u, const char *name)
{
    for (size_t i = 0; u->keeper->keep && i < u->t->n; i++) {
        if (strcmp(u->t->times[i].variant, name) == 0)
            u->keeper->keep(u->keeper->user, &u->t->times[i]);
    }
}

/* The reference does 1e9 FLOPs a second at best. */
static bool too_large(const struct lab_plan *plan, int64_t budget_ns)
{
    enum { ITERATIONS = 4 };
    return iteration_flop(plan) * ITERATIONS > (double)budget_ns / 4;
}

enum lab_status lab_tune(struct lab_walk *w, struct lab_tuning *t,
                         const struct lab_tune_keeper *keeper)
{
    struct tuner u = {w, t, keeper,
                      lab_clock_monotonic_ns() + keeper->budget_ns};
    const struct lab_plan *plan = lab_walk_plan(w);
    struct names names;
    bool any = false;
    enum lab_status st = LAB_OK;
    collect(plan, lab_walk_backend(w), &names);
    lab_walk_time_with_events(w, true);
    for (int i = 0; i < names.n && !st; i++) {
        const char *name = names.name[i];
        const struct lab_variant_choice choice = {"*", name};
        if (lab_walk_choose(w, &choice, 1) != LAB_OK || !lacks_time(&u, name))
            continue;
        any = true;
        if (keeper->progress)
            keeper->progress(keeper->user, name, i, names.n);
        if (name == names.reference && too_large(plan, keeper->budget_ns))
            st = note(&u, name, false);
        else
            st = measure(&u, name);
        if (!st)
            keep(&u, name);
    }
    lab_walk_time_with_events(w, false);
    enum lab_status back = any ? lab_walk_restart(w) : LAB_OK;
    if (!back)
        back = lab_walk_choose(w, NULL, 0);
    return st ? st : back;
}
