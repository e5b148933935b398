/* Times of steps by variant, named so that they hold for every network: what a
 * schedule chooses by without a choice. walk/tune.c measures them. */
#include "engine/tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct lab_tuning {
    struct lab_tune_time *times; /* by step, then time; NaN last */
    size_t n;
    size_t room;
    int waiting;
    int untimed;
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
static int by_step_and_time(const struct lab_tune_time *x,
                            const struct lab_tune_time *y)
{
    int order = strcmp(x->step, y->step);
    if (order)
        return order;
    if (isnan(x->ns) != isnan(y->ns))
        return isnan(x->ns) ? 1 : -1;
    if (x->ns != y->ns && !isnan(x->ns))
        return x->ns < y->ns ? -1 : 1;
    return strcmp(x->variant, y->variant);
}

/* The first time of a step, or of the steps behind it. */
static size_t first_of(const struct lab_tuning *t, const char *step)
{
    size_t from = 0;
    size_t to = t->n;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        if (strcmp(t->times[mid].step, step) < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return from;
}

static bool is_of(const struct lab_tuning *t, size_t i, const char *step)
{
    return i < t->n && strcmp(t->times[i].step, step) == 0;
}

static struct lab_tune_time *find(const struct lab_tuning *t, const char *step,
                                  const char *variant)
{
    for (size_t i = first_of(t, step); is_of(t, i, step); i++) {
        if (strcmp(t->times[i].variant, variant) == 0)
            return &t->times[i];
    }
    return NULL;
}

const struct lab_tune_time *lab_tuning_find(const struct lab_tuning *t,
                                            const char *step,
                                            const char *variant)
{
    return find(t, step, variant);
}

enum lab_status lab_tuning_add(struct lab_tuning *t,
                               const struct lab_tune_time *time)
{
    enum lab_status st = lab_grow(&t->times, t->n, &t->room, sizeof(*t->times),
                                  "variants' times");
    if (st)
        return st;
    struct lab_tune_time *old = find(t, time->step, time->variant);
    if (old) {
        size_t after = (size_t)(t->times + t->n - old) - 1;
        memmove(old, old + 1, after * sizeof(*old));
        t->n--;
    }
    size_t at = t->n;
    for (; at > 0 && by_step_and_time(time, &t->times[at - 1]) < 0; at--)
        t->times[at] = t->times[at - 1];
    t->times[at] = *time;
    t->n++;
    return LAB_OK;
}

int lab_tuning_waiting(const struct lab_tuning *t)
{
    return t->waiting;
}

void lab_tuning_set_waiting(struct lab_tuning *t, int names)
{
    t->waiting = names;
}

int lab_tuning_untimed(const struct lab_tuning *t)
{
    return t->untimed;
}

/* The times of a step are together, the numbers first. */
void lab_tuning_forget_untimed(struct lab_tuning *t, int steps)
{
    size_t n = 0;
    size_t end;
    for (size_t first = 0; first < t->n; first = end) {
        bool timed = !isnan(t->times[first].ns);
        for (end = first; is_of(t, end, t->times[first].step);)
            timed |= t->times[end++].is_new;
        if (timed && n < first)
            memmove(&t->times[n], &t->times[first],
                    (end - first) * sizeof(*t->times));
        n += timed ? end - first : 0;
    }
    t->n = n;
    t->untimed = steps;
}

const struct lab_tune_time *lab_tuning_time(const struct lab_tuning *t, int i)
{
    return (size_t)i < t->n ? &t->times[i] : NULL;
}

const struct lab_tune_time *lab_tuning_of(const struct lab_tuning *t,
                                          const char *key, int *n)
{
    size_t first = first_of(t, key);
    *n = 0;
    while (is_of(t, first + (size_t)*n, key))
        ++*n;
    return *n ? &t->times[first] : NULL;
}

/* A key is asked for at every step of every schedule that is tried: snprintf()
 * took a quarter of opening a lesson. What has no room is cut off. */
struct key {
    char *text;
    size_t len;
};

static void add_text(struct key *key, const char *text)
{
    while (*text && key->len + 1 < LAB_TUNE_KEY)
        key->text[key->len++] = *text++;
}

static void add_number(struct key *key, int64_t n)
{
    char digits[24];
    char *first = digits + sizeof(digits) - 1;
    *first = '\0';
    do
        *--first = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    add_text(key, first);
}

/* "128x784"; a tensor that is not there is "-". */
static void add_shape(struct key *key, const struct lab_plan *plan, int t)
{
    if (t < 0) {
        add_text(key, "-");
        return;
    }
    const struct lab_view v = lab_plan_view(plan, t, NULL);
    if (v.rank == 0)
        add_text(key, "1");
    for (int d = 0; d < v.rank; d++) {
        add_text(key, d ? "x" : "");
        add_number(key, v.dim[d]);
    }
}

void lab_tune_key(const struct lab_plan *plan, const struct lab_step *step,
                  char text[LAB_TUNE_KEY])
{
    struct key key = {text, 0};
    add_text(&key, step->op->name);
    add_text(&key, ".");
    add_text(&key, step->group ? "*" : step->kernel);
    add_text(&key, " ");
    add_text(&key, lab_phase_name(step->phase));
    add_text(&key, " ");
    for (int i = 0; i < step->n_in + step->n_out; i++) {
        int t = i < step->n_in ? step->in[i] : step->out[i - step->n_in];
        add_text(&key, i == step->n_in ? " > " : i ? "," : "");
        add_shape(&key, plan, t);
    }
    text[key.len] = '\0';
}

bool lab_tune_has(struct lab_backend *be, const char *step, const char *variant)
{
    char op[LAB_TUNE_NAME];
    char kernel[LAB_TUNE_NAME];
    char phase[LAB_TUNE_NAME];
    if (sscanf(step, "%31[^.].%31s %31s", op, kernel, phase) != 3)
        return false;
    for (int p = 0; p < LAB_PHASE_COUNT; p++) {
        if (strcmp(phase, lab_phase_name((enum lab_phase)p)) == 0)
            return lab_backend_variant(be, LAB_F32, op,
                                       strcmp(kernel, "*") == 0 ? NULL : kernel,
                                       (enum lab_phase)p, variant);
    }
    return false;
}

double lab_tune_flop(const struct lab_plan *plan)
{
    double flop = 0;
    for (int i = 0; i < plan->n_steps; i++)
        flop += isnan(plan->steps[i].flop) ? 0 : plan->steps[i].flop;
    return flop;
}

bool lab_tune_wanted(const struct lab_plan *plan)
{
    return lab_tune_flop(plan) >= LAB_TUNE_FLOP;
}

bool lab_tune_competes(const struct lab_variant *v)
{
    return v->precision == LAB_FP32 && !v->of_lab && !v->wrong_on_purpose;
}
