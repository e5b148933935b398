/* setup.c -- opens everything a walk needs: data, plan, backend, the check of
 * variants, the lesson's choices. */
#include "engine/setup.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "engine/sim_backend.h"

static const char no_gpu[] = "no GPU: ";

static enum lab_status open_named(const struct lab_setup *s, const char *name,
                                  struct lab_backend **out)
{
    enum lab_status st = lab_sim_backend_model(s->device_model);
    if (st)
        return st;
    if (s->prepare)
        s->prepare(s->user, name);
    return lab_backend_open(out, name, s->device);
}

static enum lab_status open_backend(const struct lab_setup *s,
                                    struct lab_backend **out,
                                    struct lab_str *notice)
{
    if (strcmp(s->backend, "auto") != 0)
        return open_named(s, s->backend, out);
    if (open_named(s, "cuda", out) == LAB_OK)
        return LAB_OK;
    lab_str_addf(notice, "%s%s\n", no_gpu, lab_error());
    if (s->prepare)
        s->prepare(s->user, "cpu");
    return lab_backend_open(out, "cpu", 0);
}

/* It is the first, and an error is one line. */
const char *lab_setup_notice_rest(const char *notice)
{
    if (strncmp(notice, no_gpu, sizeof(no_gpu) - 1) != 0)
        return notice;
    const char *end = strchr(notice, '\n');
    return end ? end + 1 : "";
}

/* The lesson's choices that the backend can follow, then the caller's. */
struct choices {
    struct lab_variant_choice list[LAB_MAX_CHOICES];
    int n;
};

static enum lab_status choose(const struct choices *c, struct lab_walk *walk)
{
    enum lab_status st = lab_walk_choose(walk, c->list, c->n);
    return st == LAB_E_NOTFOUND
               ? lab_fail_id(LAB_E_USAGE, lab_error_id(), "%s", lab_error())
               : st;
}

static void find_choices(const struct lab_setup *s, struct lab_walk *walk,
                         struct lab_str *notice, struct choices *out)
{
    out->n = 0;
    for (int i = 0; i < s->spec->n_variants; i++) {
        out->list[out->n].target = s->spec->variants[i].target;
        out->list[out->n].variant = s->spec->variants[i].variant;
        out->list[out->n].optional = false;
        if (lab_walk_choose(walk, out->list, out->n + 1) == LAB_OK)
            out->n++;
        else
            lab_str_addf(notice, "the lesson's choice is left out: %s\n",
                         lab_error());
    }
    for (int i = 0; i < s->n_choices; i++)
        out->list[out->n++] = s->choices[i];
}

/* Is a step left that may run as the fastest one? */
static bool any_open(const struct lab_walk *walk)
{
    const struct lab_schedule *all = lab_walk_schedule(walk);
    for (int i = 0; i < all->n_steps; i++)
        if (all->steps[i].by == LAB_BY_TABLE || all->steps[i].by == LAB_BY_TIME)
            return true;
    return false;
}

/* The walk follows the choices. Where they leave nothing open, kept times are read and
 * none is measured. */
static enum lab_status tune(const struct lab_setup *s, const struct choices *c,
                            struct lab_walk *w, struct lab_str *notice)
{
    if (!s->tune || lab_walk_backend(w)->untimed ||
        !lab_tune_wanted(lab_walk_plan(w)))
        return LAB_OK;
    struct lab_tuning *t = lab_tuning_new();
    enum lab_status st = t ? LAB_OK : lab_no_memory("variants' times");
    if (!st && s->tune->load)
        st = s->tune->load(s->tune->user, lab_walk_backend(w), t);
    if (!st && s->tune->budget_ns > 0 && any_open(w))
        st = lab_tune(w, t, s->tune);
    if (!st) {
        lab_walk_tune_with(w, t);
        return choose(c, w);
    }
    lab_tuning_free(t);
    if (st != LAB_E_CANCELLED || lab_stop_asked(&s->stop))
        return st;
    lab_str_add(notice, "measuring the variants was stopped: steps without a "
                        "chosen variant run by the fixed table\n");
    return choose(c, w);
}

/* How many times were measured, and how many the budget has left out. */
static int measured_now(const struct lab_walk *w, int *left_out)
{
    const struct lab_tuning *t = lab_walk_tuning(w);
    const struct lab_tune_time *time;
    int n = 0;
    *left_out = 0;
    for (int i = 0; t && (time = lab_tuning_time(t, i)); i++) {
        n += time->is_new;
        *left_out += time->is_new && isnan(time->ns);
    }
    return n;
}

/* "variants were measured: vector for 12 steps, blas for 3; 4 of 80 times are left out,
 * over the budget; 2 variants are measured at the next start" */
static void add_counts(const struct lab_schedule *s, int measured, int left_out,
                       int waiting, struct lab_str *out)
{
    const char *before = "variants were measured: ";
    for (int i = 0; i < s->n_steps; i++) {
        int first = 0;
        int n = 0;
        while (strcmp(s->steps[first].variant->name,
                      s->steps[i].variant->name) != 0)
            first++;
        if (first < i)
            continue;
        for (int k = i; k < s->n_steps; k++)
            n += strcmp(s->steps[k].variant->name, s->steps[i].variant->name) ==
                 0;
        lab_str_addf(out, "%s%s for %d step%s", before,
                     s->steps[i].variant->name, n, n == 1 ? "" : "s");
        before = ", ";
    }
    if (left_out > 0)
        lab_str_addf(out, "; %d of %d times are left out, over the budget",
                     left_out, measured);
    if (waiting > 0)
        lab_str_addf(out, "; %d variant%s measured at the next start", waiting,
                     waiting == 1 ? " is" : "s are");
    lab_str_add(out, "\n");
}

/* What was measured now, or why nothing was. */
static void note_measuring(const struct lab_walk *w, struct lab_str *notice)
{
    const struct lab_tuning *t = lab_walk_tuning(w);
    int waiting = t ? lab_tuning_waiting(t) : 0;
    int left_out;
    int measured = measured_now(w, &left_out);
    int untimed = t ? lab_tuning_untimed(t) : 0;
    if (untimed > 0)
        lab_str_addf(notice,
                     "%d step%s no kept time, by any variant: what was left "
                     "out there is measured again\n",
                     untimed, untimed == 1 ? " has" : "s have");
    if (measured > left_out)
        add_counts(lab_walk_schedule(w), measured, left_out, waiting, notice);
    else if (waiting > 0)
        lab_str_add(notice,
                    "no variant was measured: the time for it was over "
                    "before one had run; steps without a time run by the "
                    "fixed table, and the next start tries again\n");
    else if (left_out > 0)
        lab_str_addf(notice,
                     "no variant was measured: %d time%s left out, over the "
                     "budget\n",
                     left_out, left_out == 1 ? " is" : "s are");
}

static void note_stand_in(const struct lab_setup *s,
                          const struct lab_data *data, struct lab_str *notice)
{
    struct lab_data_facts facts;
    lab_data_get_facts(data, &facts);
    if (facts.stand_in)
        lab_str_addf(
            notice,
            "MNIST is not %s%s: these are digits that ship, made 28 by "
            "28; --data DIR reads MNIST\n",
            s->spec->data.path ? "in " : "here",
            s->spec->data.path ? s->spec->data.path : "");
}

enum lab_status lab_setup_open(const struct lab_setup *setup,
                               struct lab_walk **walk, struct lab_plan **plan,
                               struct lab_str *notice)
{
    struct lab_data *data = NULL;
    struct lab_backend *be = NULL;
    struct lab_plan *built = NULL;
    struct lab_walk *w = NULL;
    struct lab_data_shapes shapes;
    if (setup->n_choices + setup->spec->n_variants > LAB_MAX_CHOICES)
        return lab_fail(LAB_E_USAGE,
                        "[session.setup-variants] more than %d variants chosen",
                        LAB_MAX_CHOICES);
    enum lab_status st = lab_data_open(&data, setup->spec, setup->data,
                                       setup->batch, &setup->stop);
    if (st == LAB_E_IO && setup->data)
        lab_fail_id(st, lab_error_id(),
                    "%s; without --data the data that the lesson names are "
                    "read",
                    lab_error());
    if (!st) {
        lab_data_get_shapes(data, &shapes);
        st = lab_plan_build(&built, setup->spec, &shapes, LAB_F32);
    }
    if (!st)
        st = lab_data_check_labels(data, built);
    if (!st)
        note_stand_in(setup, data, notice);
    if (!st)
        st = open_backend(setup, &be, notice);
    if (!st && !setup->data && setup->spec->data.path_leaves)
        lab_str_addf(notice,
                     "this lesson reads %s, outside its own directory\n",
                     setup->spec->data.path);
    if (!st)
        st = lab_backend_check(be, built, notice);
    if (!st)
        st = lab_walk_new(&w, built, be, data, &setup->stop);
    if (st) {
        lab_data_free(data);
        lab_backend_close(be);
        lab_plan_free(built);
        return st;
    }
    st = setup->begin ? setup->begin(setup->user, w, notice) : LAB_OK;
    struct choices chosen = {.n = 0};
    if (!st) {
        find_choices(setup, w, notice, &chosen);
        st = choose(&chosen, w);
    }
    if (!st)
        st = tune(setup, &chosen, w, notice);
    if (!st && setup->kept) {
        memcpy(setup->kept, chosen.list,
               (size_t)chosen.n * sizeof(*chosen.list));
        *setup->n_kept = chosen.n;
    }
    if (!st)
        note_measuring(w, notice);
    if (st) {
        lab_walk_free(w);
        lab_plan_free(built);
        return st;
    }
    *walk = w;
    *plan = built;
    return LAB_OK;
}
