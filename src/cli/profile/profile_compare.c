#include "report/compare_label.h"
#include "profile_compare.h"

#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "report/suggest.h"
#include "report/json_line.h"
#include "profile_missing.h"
#include "profiler/profiler.h"

/* ---- --fail-above ---- */

struct failures {
    double limit; /* NaN: none */
    int64_t slower;
    int64_t few;
    int64_t judged; /* rows with times enough */
    double worst;
    char worst_name[96];
};

static void count_failures(struct failures *f, const struct lab_comparison *c)
{
    for (size_t i = 0; !isnan(f->limit) && i < c->count; i++) {
        const struct lab_compare_row *r = &c->rows[i];
        f->few += r->verdict == LAB_VERDICT_FEW;
        f->judged += r->verdict <= LAB_VERDICT_SLOWER;
        if (r->verdict != LAB_VERDICT_SLOWER || !(r->share > f->limit))
            continue;
        f->slower++;
        if (r->share <= f->worst)
            continue;
        const struct lab_time_sum *s = lab_compare_either(r);
        f->worst = r->share;
        snprintf(f->worst_name, sizeof(f->worst_name), "%s%s%.60s",
                 lab_sum_level_name(r->level), *lab_compare_name(s) ? " " : "",
                 lab_compare_name(s));
    }
}

static enum lab_status verdict(const struct lab_profile_options *o,
                               const struct failures *f)
{
    enum lab_status st = LAB_OK;
    if (isnan(f->limit))
        return LAB_OK;
    if (o->json) {
        json_t *line = lab_json_new("verdict");
        json_object_set_new(line, "failed",
                            f->judged ? json_boolean(f->slower > 0)
                                      : json_null());
        lab_json_real(line, "fail_above", f->limit);
        lab_json_int(line, "slower", f->slower);
        lab_json_int(line, "too_few", f->few);
        st = lab_json_print(line);
    }
    if (st == LAB_OK && f->slower)
        st = lab_fail(LAB_E_CHECK,
                      "slower by more than %g %%, beyond the noise: %lld rows, "
                      "the worst is %s with %+.1f %%",
                      100 * f->limit, (long long)f->slower, f->worst_name,
                      100 * f->worst);
    else if (st == LAB_OK && f->judged == 0 && f->few == 0)
        st = lab_fail(LAB_E_RANGE, "--fail-above: the runs have no timed row "
                                   "in common that could be judged");
    else if (st == LAB_OK && f->judged == 0)
        st = lab_fail(LAB_E_RANGE,
                      "--fail-above: no row can be judged: record both runs "
                      "with more iterations, %lld at the least",
                      (long long)lab_rank_least(LAB_RANK_ALPHA));
    else if (st == LAB_OK && f->few)
        lab_warn("%lld rows have too few times for a verdict; record more "
                 "iterations",
                 (long long)f->few);
    return st;
}

/* A launch costs more while it is traced: times of short kernels differ by
 * that alone. */
static void warn_of_trace(const struct lab_comparison *c)
{
    const char *state[LAB_SIDES];
    for (int i = 0; i < LAB_SIDES; i++)
        state[i] = c->run[i].fact[LAB_FACT_TRACE];
    if (!state[LAB_SIDE_A] || !state[LAB_SIDE_B] ||
        strcmp(state[LAB_SIDE_A], state[LAB_SIDE_B]) == 0)
        return;
    lab_warn("run %lld was timed %s, run %lld %s: the difference of the "
             "iterations may be that of tracing",
             (long long)c->run[LAB_SIDE_A].run,
             lab_trace_state_text(lab_trace_state_find(state[LAB_SIDE_A])),
             (long long)c->run[LAB_SIDE_B].run,
             lab_trace_state_text(lab_trace_state_find(state[LAB_SIDE_B])));
}

/* `first`: nobody has said it of the reference yet. */
static enum lab_status say_empty(struct lab_database *db,
                                 const struct lab_comparison *c, bool first)
{
    const struct lab_compared_run *run = c->run;
    enum lab_status st = LAB_OK;
    if (first && c->sums[LAB_SIDE_A].count == 0)
        st = lab_profile_say_missing(db, run[LAB_SIDE_A].run, LAB_HAS_KERNELS);
    if (st == LAB_OK && c->sums[LAB_SIDE_B].count == 0 &&
        run[LAB_SIDE_B].run != run[LAB_SIDE_A].run)
        st = lab_profile_say_missing(db, run[LAB_SIDE_B].run, LAB_HAS_KERNELS);
    return st;
}

enum lab_status lab_profile_compare(const struct lab_profile_options *o,
                                    struct lab_database *db)
{
    struct failures f = {.limit = o->fail_above};
    int64_t a = 0;
    int64_t b;
    enum lab_status st = lab_profile_compare_check(o);
    if (st == LAB_OK)
        st = lab_profile_find_run(db, o->words[0], &a);
    for (int i = 1; i < o->n_words && st == LAB_OK; i++) {
        struct lab_comparison c;
        st = lab_profile_find_run(db, o->words[i], &b);
        if (st == LAB_OK)
            st = lab_comparison_load(&c, db, a, b);
        if (st)
            break;
        warn_of_trace(&c);
        st = say_empty(db, &c, i == 1);
        if (i > 1 && !o->json && putchar('\n') == EOF)
            st = lab_fail(LAB_E_IO, "cannot write the output");
        if (st == LAB_OK)
            st = o->json ? lab_profile_compare_lines(&c)
                         : lab_profile_compare_text(o, &c);
        count_failures(&f, &c);
        for (int side = 0; side < LAB_SIDES && st == LAB_OK; side++)
            if (!c.sums[side].stored)
                lab_time_sums_keep_later(lab_database_path(db),
                                         c.run[side].run);
        lab_comparison_release(&c);
    }
    return st ? st : verdict(o, &f);
}

/* ---- baselines ---- */

static bool print_baseline(void *user, const char *name, int64_t run)
{
    const struct lab_profile_options *o = user;
    if (o->json) {
        json_t *line = lab_json_new("baseline");
        lab_json_text(line, "name", name);
        lab_json_int(line, "run", run);
        return lab_json_print(line) == LAB_OK;
    }
    return printf("%-20s run %lld\n", name, (long long)run) > 0;
}

struct names {
    const struct lab_profile_options *options;
    int n;
};

static bool list_baseline(void *user, const char *name, int64_t run)
{
    struct names *names = user;
    struct lab_profile_options o = *names->options;
    names->n++;
    return print_baseline(&o, name, run);
}

static enum lab_status list_baselines(const struct lab_profile_options *o,
                                      struct lab_database *db)
{
    struct names names = {.options = o};
    enum lab_status st = lab_baseline_list(db, list_baseline, &names);
    if (st || names.n > 0)
        return st;
    struct lab_str give = lab_suggest_command_text(
        o->db, LAB_WORDS("profile", "baseline", "NAME", "RUN"));
    lab_warn("no run has a name yet; `%s` gives it one", lab_str_text(&give));
    lab_str_release(&give);
    return LAB_OK;
}

enum lab_status lab_profile_baseline(const struct lab_profile_options *o,
                                     struct lab_database *db)
{
    struct lab_profile_options copy = *o;
    int64_t run;
    enum lab_status st;
    if (o->n_words == 0)
        return list_baselines(o, db);
    const char *name = o->words[0];
    if (strncmp(name, "baseline:", 9) == 0)
        name += 9;
    if (o->remove)
        return lab_baseline_remove(db, name);
    if (o->n_words == 1) {
        st = lab_baseline_find(db, name, &run);
        if (st == LAB_OK)
            print_baseline(&copy, name, run);
        return st;
    }
    int64_t before;
    bool moved = lab_baseline_find(db, name, &before) == LAB_OK;
    st = lab_profile_find_run(db, o->words[1], &run);
    if (st == LAB_OK)
        st = lab_baseline_set(db, name, run);
    if (st == LAB_OK && moved && before != run)
        lab_warn("%s was run %lld and is now run %lld", name, (long long)before,
                 (long long)run);
    return st;
}
