/* `profile timeline`: an iteration as lists with times, lane by lane, or as
 * JSON Lines. */
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/mem.h"
#include "report/json_line.h"
#include "profile_cmd.h"
#include "report/missing.h"
#include "store/query.h"
#include "store/timeline.h"
#include "report/text_table.h"
#include "trace/intern.h"
#include "report/timeline_text.h"

enum { NAME_BYTES = 64 };

/* ---- what is printed ---- */

/* A list to print: everything is loaded, so that sums, gaps and steps are those
 * of the whole; --limit chooses what is listed of it. */
struct listing {
    struct lab_timeline *t;
    bool *listed; /* spans[i] */
    int64_t most; /* of a kind; 0: all */
    int64_t left_out;
    bool lab;
};

/* Kind by kind, the longest first. */
static int by_kind(const void *a, const void *b)
{
    const struct lab_span *x = *(const struct lab_span *const *)a;
    const struct lab_span *y = *(const struct lab_span *const *)b;
    int64_t s = lab_span_time(x);
    int64_t t = lab_span_time(y);
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return s != t ? (s < t) - (s > t) : (x > y) - (x < y);
}

/* The `most` longest of each kind. */
static enum lab_status choose(struct listing *l, int64_t most)
{
    struct lab_timeline *t = l->t;
    size_t count = (size_t)t->count;
    const struct lab_span **order = lab_alloc_array(count + 1, sizeof(*order));
    int64_t rank = 0; /* in its kind */
    l->most = most;
    l->listed = lab_alloc_array(count + 1, sizeof(*l->listed));
    if (!order || !l->listed) {
        lab_free(order);
        return lab_no_memory("a timeline");
    }
    for (size_t i = 0; i < count; i++)
        order[i] = &t->spans[i];
    qsort(order, count, sizeof(*order), by_kind);
    for (size_t i = 0; i < count; i++) {
        rank = i > 0 && order[i]->kind == order[i - 1]->kind ? rank + 1 : 0;
        bool listed = most == 0 || rank < most;
        l->listed[order[i] - t->spans] = listed;
        l->left_out += !listed;
    }
    lab_free(order);
    return LAB_OK;
}

/* ---- JSON Lines ---- */

static const char *name_of(const struct lab_timeline *t, int32_t span)
{
    return span < 0 ? NULL : lab_intern_text(t->spans[span].name);
}

static const char *step_name(const struct lab_span *s)
{
    if (s->exec == LAB_EXEC_BETWEEN)
        return "between steps";
    return s->step_name ? lab_intern_text(s->step_name) : NULL;
}

static json_t *devices_of(const struct lab_timeline *t)
{
    json_t *list = json_array();
    for (int32_t i = 0; i < t->device_count; i++) {
        const struct lab_timeline_device *d = &t->devices[i];
        json_t *o = json_object();
        lab_json_int(o, "device", d->device);
        lab_json_int(o, "busy_ns", d->busy_ns);
        lab_json_int(o, "gaps", d->gaps);
        lab_json_int(o, "gap_sum_ns", d->gap_sum_ns);
        lab_json_int(o, "gap_longest_ns", d->gap_longest_ns);
        json_array_append_new(list, o);
    }
    return list;
}

static enum lab_status print_sums(const struct listing *l)
{
    const struct lab_timeline *t = l->t;
    const struct lab_timeline_sums *s = &t->sums;
    json_t *o = lab_json_new("timeline");
    int64_t left_out = l->left_out;
    bool device = s->kernels || s->copies; /* else nothing is known of one */
    for (int k = 0; k < LAB_SPAN_KIND_COUNT; k++)
        left_out += t->left_out[k];
    lab_json_int(o, "run", t->run);
    lab_json_bool(o, "of_a_lab", l->lab);
    lab_json_int(o, "iteration", t->of.iteration);
    lab_json_int(o, "start_ns", t->start_ns);
    lab_json_int(o, "end_ns", t->end_ns);
    lab_json_int(o, "steps", t->of.steps);
    lab_json_int(o, "kernels", s->kernels);
    lab_json_int(o, "kernels_untimed", s->kernels_untimed);
    lab_json_int(o, "graph_kernels", s->graph_kernels);
    lab_json_int(o, "launches", s->launches);
    lab_json_int(o, "copies", s->copies);
    lab_json_int(o, "copied_bytes", s->copied_bytes);
    lab_json_int(o, "busy_ns", s->busy_ns);
    lab_json_int(o, "kernel_ns",
                 device ? s->cover_ns[LAB_COVER_KERNEL] : LAB_UNKNOWN);
    lab_json_int(o, "copy_ns",
                 device ? s->cover_ns[LAB_COVER_COPY] : LAB_UNKNOWN);
    lab_json_int(o, "launch_ns",
                 s->called ? s->cover_ns[LAB_COVER_LAUNCH] : LAB_UNKNOWN);
    lab_json_int(o, "in_steps_ns", s->cover_ns[LAB_COVER_STEP]);
    lab_json_int(o, "between_ns", s->cover_ns[LAB_COVER_REST]);
    lab_json_int(o, "gaps", s->gaps);
    lab_json_int(o, "gap_sum_ns", s->gap_sum_ns);
    lab_json_int(o, "gap_longest_ns", s->gap_longest_ns);
    lab_json_int(o, "gap_longest_start_ns", s->gap_start_ns);
    lab_json_text(o, "gap_longest_after",
                  s->gaps ? lab_intern_text(s->gap_after) : NULL);
    lab_json_text(o, "gap_longest_before",
                  s->gaps ? lab_intern_text(s->gap_before) : NULL);
    lab_json_int(o, "latency_median_ns", s->latency_median_ns);
    lab_json_int(o, "latency_max_ns", s->latency_max_ns);
    lab_json_int(o, "left_out", left_out);
    lab_json_int(o, "set_up", t->set_up);
    json_object_set_new(o, "devices", devices_of(t));
    return lab_json_print(o);
}

static enum lab_status print_span(const struct lab_timeline *t, int32_t span)
{
    const struct lab_span *s = &t->spans[span];
    char lane[NAME_BYTES];
    bool step = s->kind == LAB_SPAN_STEP;
    json_t *o = lab_json_new("span");
    lab_json_int(o, "run", t->run);
    lab_json_int(o, "iteration", t->of.iteration);
    lab_json_text(o, "kind", lab_span_kind_name(s->kind));
    lab_json_text(o, "lane", lab_lane_name(t, s->lane, lane, sizeof(lane)));
    lab_json_text(o, "name", name_of(t, span));
    lab_json_int(o, "start_ns", s->start_ns);
    lab_json_int(o, "end_ns", s->end_ns);
    lab_json_int(o, "time_ns", lab_span_time(s));
    lab_json_int(o, "gap_ns", s->gap_ns);
    lab_json_int(o, "exec", s->exec);
    lab_json_text(o, "step", step_name(s));
    lab_json_text(o, "phase", lab_timeline_phase(s->step_phase));
    if (s->kind == LAB_SPAN_RANGE)
        lab_json_int(o, "level", s->where);
    if (s->kind == LAB_SPAN_CALL)
        lab_json_int(o, "thread",
                     s->where < 0 ? LAB_UNKNOWN : s->where & 0xFFFFFF);
    if (!step && s->kind != LAB_SPAN_RANGE)
        lab_json_int(o, "correlation", s->correlation);
    if (s->kind >= LAB_SPAN_KERNEL) {
        lab_json_int(o, "device", s->device);
        lab_json_int(o, "stream", s->where);
        lab_json_int(o, "latency_ns", s->latency_ns);
        lab_json_text(o, "call", name_of(t, s->call));
        lab_json_int(o, "graph_node", s->graph_node);
    }
    if (s->kind >= LAB_SPAN_COPY)
        lab_json_int(o, "bytes", s->bytes);
    return lab_json_print(o);
}

static enum lab_status print_lines(const struct listing *l)
{
    enum lab_status st = print_sums(l);
    for (int32_t i = 0; i < l->t->count && st == LAB_OK; i++)
        if (l->listed[i])
            st = print_span(l->t, i);
    return st;
}

/* ---- text ---- */

static void add_line(void *user, const char *line)
{
    struct lab_str *out = user;
    lab_str_addf(out, "%s\n", line);
}

static void add_span(struct lab_text_table *table, const struct lab_timeline *t,
                     const struct lab_span *s)
{
    char text[NAME_BYTES];
    bool launched = s->kind >= LAB_SPAN_KERNEL;
    lab_text_table_add(table,
                       lab_timeline_moment(t, s->start_ns, text, sizeof(text)));
    lab_text_table_add_ns(table, lab_span_time(s));
    lab_text_table_add_ns(table, s->gap_ns);
    if (launched)
        lab_text_table_add_ns(table, s->latency_ns);
    lab_text_table_add(table, lab_intern_text(s->name));
    if (s->kind >= LAB_SPAN_CALL)
        lab_text_table_add(table, step_name(s) ? step_name(s) : "-");
    else if (s->kind == LAB_SPAN_STEP)
        lab_text_table_add(table, lab_timeline_phase(s->phase));
    if (s->kind == LAB_SPAN_KERNEL && s->graph_node == LAB_UNKNOWN)
        lab_text_table_add(table, "-");
    else if (launched)
        lab_text_table_add_int(table, s->kind == LAB_SPAN_KERNEL ? s->graph_node
                                                                 : s->bytes);
}

#define TIMES ">begins", ">lasts", ">gap"
static const char *const heads[LAB_SPAN_KIND_COUNT][8] = {
    [LAB_SPAN_STEP] = {TIMES, "step", "phase"},
    [LAB_SPAN_RANGE] = {TIMES, "range"},
    [LAB_SPAN_CALL] = {TIMES, "call", "step"},
    [LAB_SPAN_KERNEL] = {TIMES, ">latency", "kernel", "step", ">graph node"},
    [LAB_SPAN_COPY] = {TIMES, ">latency", "copy", "step", ">bytes"},
    [LAB_SPAN_SET] = {TIMES, ">latency", "copy", "step", ">bytes"},
};

static enum lab_status add_lane(struct lab_str *out, const struct listing *list,
                                int32_t lane)
{
    const struct lab_timeline *t = list->t;
    const struct lab_lane *l = &t->lanes[lane];
    int32_t listed = 0;
    struct lab_text_table table;
    char name[NAME_BYTES];
    for (int32_t i = l->first; i < l->first + l->count; i++)
        listed += list->listed[i];
    lab_str_addf(out, "\n%s: %d, busy %s",
                 lab_lane_name(t, lane, name, sizeof(name)), l->count,
                 LAB_NS_TEXT(l->timed ? (double)l->busy_ns : (double)NAN));
    if (listed < l->count)
        lab_str_addf(out, "; %d listed", listed);
    lab_str_add(out, "\n");
    if (listed == 0)
        return LAB_OK;
    lab_text_table_init(&table, heads[l->kind]);
    for (int32_t i = l->first; i < l->first + l->count; i++)
        if (list->listed[i])
            add_span(&table, t, &t->spans[i]);
    enum lab_status st = lab_text_table_format(&table, out);
    return st;
}

/* A lab's repeats are laid end to end: their times are of the device. */
static bool is_lab(void *user, const struct lab_run_row *r)
{
    *(bool *)user = r->kind && strcmp(r->kind, "lab") == 0;
    return true;
}

static enum lab_status print_text(const struct listing *l)
{
    const struct lab_timeline *t = l->t;
    struct lab_str out;
    enum lab_status st = LAB_OK;
    lab_str_init(&out);
    lab_str_addf(&out, "run %lld", (long long)t->run);
    if (t->of.iteration != LAB_UNKNOWN)
        lab_str_addf(&out, ", iteration %lld", (long long)t->of.iteration);
    lab_str_add(&out,
                l->lab ? " of a lab: the times of a repeat, one variant after "
                         "the other, not moments\n"
                       : "\n");
    lab_timeline_summary(t, &t->sums, add_line, &out);
    if (l->left_out && l->most == 1)
        lab_str_add(&out, "The longest of each kind is listed (--limit); the "
                          "figures are of all.\n");
    else if (l->left_out)
        lab_str_addf(&out,
                     "The %lld longest of each kind are listed (--limit); the "
                     "figures are of all.\n",
                     (long long)l->most);
    for (int32_t i = 0; i < t->lane_count && st == LAB_OK; i++)
        st = add_lane(&out, l, i);
    if (st == LAB_OK)
        return lab_print_str(&out);
    lab_str_release(&out);
    return st;
}

/* Why a run has none at all is known here. */
static enum lab_status find_iteration(struct lab_database *db, int64_t run,
                                      int64_t iteration,
                                      struct lab_iteration_row *of)
{
    enum { EITHER = LAB_HAS_STEPS | LAB_HAS_KERNELS };
    unsigned has = 0;
    enum lab_status st = lab_query_iteration(db, run, iteration, of);
    if (st != LAB_E_NOTFOUND || lab_query_contents(db, run, &has) ||
        (has & EITHER))
        return st;
    return lab_fail_missing(db, run, LAB_HAS_KERNELS);
}

static enum lab_status run_timeline(const struct lab_options *o,
                                    struct lab_database *db)
{
    struct lab_timeline_filter filter = {.from_ns = LAB_UNKNOWN,
                                         .to_ns = LAB_UNKNOWN};
    struct listing list = {.t = NULL};
    struct lab_iteration_row of;
    int64_t run;
    if (o->limit > LAB_TIMELINE_MOST)
        filter.most =
            o->limit < INT32_MAX / 4 ? (int32_t)o->limit : INT32_MAX / 4;
    enum lab_status st = lab_profile_find_run(db, o->words[0], &run);
    if (st == LAB_OK)
        st = lab_query_run(db, run, is_lab, &list.lab);
    if (st == LAB_OK)
        st = find_iteration(
            db, run, o->given.iteration ? o->iteration : LAB_UNKNOWN, &of);
    if (st == LAB_OK)
        st = lab_timeline_load(&list.t, db, run, &of, &filter);
    if (st == LAB_OK)
        st = choose(&list, o->limit);
    if (st == LAB_OK)
        st = o->json ? print_lines(&list) : print_text(&list);
    lab_timeline_free(list.t);
    lab_free(list.listed);
    return st;
}

const struct lab_profile_command lab_profile_timeline = {
    .name = "timeline",
    .run = run_timeline,
    .least = 1,
    .most = 1,
    .takes = "takes one run",
    .options = LAB_FOR_TIMELINE,
    .args = "RUN",
    .doc = "What happened when, in one iteration: steps, launches, kernels, "
           "copies, "
           "and the gaps between them.\vExample:\n"
           "  lapenna-lab profile timeline last --iteration 3\n"};
