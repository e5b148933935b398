#include "profile_compare.h"

#include "report/json_line.h"
#include "profile_json.h"

static void add_side(json_t *o, const char *key, const struct lab_time_sum *s)
{
    if (!s) {
        json_object_set_new(o, key, json_null());
        return;
    }
    json_t *side = json_object();
    lab_json_text(side, "variant", s->variant);
    lab_json_text(side, "backend", s->backend);
    lab_json_int(side, "index", s->step_index);
    lab_json_int(side, "count", s->count);
    lab_json_int(side, "timed", s->timed);
    lab_json_real(side, "median_ns", s->median_ns);
    lab_json_real(side, "mad_ns", s->mad_ns);
    lab_json_real(side, "quarter_ns", s->quarter_ns);
    lab_json_real(side, "three_quarters_ns", s->three_quarters_ns);
    lab_json_int(side, "min_ns", s->min_ns);
    lab_json_int(side, "max_ns", s->max_ns);
    lab_json_int(side, "total_ns", s->total_ns);
    lab_json_real(side, "flop", s->flop);
    lab_json_real(side, "flop_per_s", lab_time_sum_flop_per_s(s));
    json_object_set_new(o, key, side);
}

static enum lab_status print_row(const struct lab_comparison *c,
                                 const struct lab_compare_row *r)
{
    const struct lab_time_sum *s =
        r->side[LAB_SIDE_A] ? r->side[LAB_SIDE_A] : r->side[LAB_SIDE_B];
    json_t *o = lab_json_new("comparison");
    lab_json_text(o, "level", lab_sum_level_name(r->level));
    lab_json_int(o, "a", c->run[LAB_SIDE_A].run);
    lab_json_int(o, "b", c->run[LAB_SIDE_B].run);
    lab_json_text(o, "phase", s->phase);
    lab_json_text(o, "node", s->node);
    lab_json_text(o, "name", s->name);
    lab_profile_add_rung(o, s->rung);
    lab_json_text(o, "kernel", s->kernel);
    lab_json_real(o, "difference_ns", r->difference_ns);
    lab_json_real(o, "difference_share", r->share);
    lab_json_real(o, "speed_up", r->speed_up);
    lab_json_real(o, "p", r->p);
    lab_json_int(o, "tests", (int64_t)c->tests[r->level]);
    lab_json_text(o, "verdict", lab_verdict_name(r->verdict));
    add_side(o, "run_a", r->side[LAB_SIDE_A]);
    add_side(o, "run_b", r->side[LAB_SIDE_B]);
    return lab_json_print(o);
}

static enum lab_status print_head(const struct lab_comparison *c)
{
    const struct lab_compared_run *a = &c->run[LAB_SIDE_A];
    const struct lab_compared_run *b = &c->run[LAB_SIDE_B];
    json_t *o = lab_json_new("compare");
    lab_json_int(o, "a", a->run);
    lab_json_int(o, "b", b->run);
    lab_json_text(o, "lesson", a->fact[LAB_FACT_LESSON]);
    lab_json_text(o, "test", "mann-whitney-u");
    lab_json_text(o, "adjustment", "holm");
    lab_json_real(o, "alpha", LAB_RANK_ALPHA);
    lab_json_real(o, "least_share", LAB_COMPARE_LEAST_SHARE);
    lab_json_int(o, "least_ns", LAB_COMPARE_LEAST_NS);
    lab_json_int(o, "least_count", lab_rank_least(LAB_RANK_ALPHA));
    lab_json_int(o, "iteration_median_ns_a", a->iteration_median_ns);
    lab_json_int(o, "iteration_median_ns_b", b->iteration_median_ns);
    lab_json_real(o, "samples_per_s_a", a->samples_per_s);
    lab_json_real(o, "samples_per_s_b", b->samples_per_s);
    lab_json_real(o, "loss_last_a", a->loss_last);
    lab_json_real(o, "loss_last_b", b->loss_last);
    enum lab_status st = lab_json_print(o);
    for (int i = 0; i < LAB_FACT_COUNT && st == LAB_OK; i++) {
        if (!lab_comparison_differs(c, (enum lab_run_fact)i))
            continue;
        o = lab_json_new("difference");
        lab_json_text(o, "what", lab_run_fact_name((enum lab_run_fact)i));
        lab_json_text(o, "a", a->fact[i]);
        lab_json_text(o, "b", b->fact[i]);
        st = lab_json_print(o);
    }
    return st;
}

enum lab_status lab_profile_compare_lines(const struct lab_comparison *c)
{
    enum lab_status st = print_head(c);
    if (st == LAB_OK)
        st = lab_compare_wall_lines(c);
    for (size_t i = 0; i < c->count && st == LAB_OK; i++)
        st = print_row(c, &c->rows[i]);
    return st;
}
