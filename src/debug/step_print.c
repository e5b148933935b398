/* step_print.c -- what a step did, as lines of text: for `step`, the walk without
 * a terminal and --plain. */
#include "debug/step_print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/mem.h"
#include "engine/sim_backend.h"
#include "report/course_values.h"
#include "report/print.h"
#include "trace/intern.h"

enum { FIRST_VALUES = 6, TERMS = 3 };

void lab_step_text_machine(const struct lab_options *o, const char *backend,
                           const char *device, const char *note,
                           const struct lab_plan *plan,
                           const struct lab_schedule *s)
{
    char rate[48] = "";
    if (o->lr > 0)
        snprintf(rate, sizeof(rate), ", learning rate %g", o->lr);
    lab_printf(stdout,
               "backend %s (%s)%s, seed %llu%s, batch %lld, %lld parameters, "
               "%d steps an iteration\n",
               backend, device, note, (unsigned long long)plan->seed, rate,
               (long long)plan->batch, (long long)plan->parameter_count,
               s->n_steps);
    const char *missing = strcmp(backend, "sim") == 0
                              ? lab_sim_backend_registers_missing()
                              : NULL;
    if (missing)
        lab_printf(stdout, "registers and occupancy n/a: %s\n", missing);
}

enum lab_status lab_step_text_run(struct lab_lesson_run *w)
{
    lab_print_wrap(lab_print_columns(), 0);
    lab_printf(stdout, "%s\n", w->lesson->title);
    lab_step_text_machine(w->options, lab_walk_backend(w->walk)->ops->name,
                          w->device.name, "", w->plan,
                          lab_walk_schedule(w->walk));
    return lab_print_check();
}

int64_t lab_step_text_time(struct lab_live *live, int index, int64_t exec,
                           int64_t wall_ns)
{
    struct lab_step_record r;
    return lab_live_step(live, index, &r) && r.exec == exec &&
                   r.time_ns != LAB_UNKNOWN
               ? r.time_ns
               : wall_ns;
}

static void first_values(const struct lab_tensor *t, const void *data)
{
    char value[LAB_FORMAT_BYTES];
    lab_printf(stdout, "      first:");
    for (int64_t i = 0; i < t->count && i < FIRST_VALUES; i++)
        lab_printf(stdout, " %s",
                   lab_format_value(lab_number_at(data, t->dtype, i), 10, value,
                                    sizeof(value)));
    lab_printf(stdout, "%s\n", t->count > FIRST_VALUES ? " ..." : "");
}

void lab_step_text_stats(const struct lab_tensor *t,
                         const struct lab_stats *stats)
{
    char shape[LAB_SHAPE_TEXT];
    lab_printf(stdout, "    %s %s  min %s  max %s  mean %s  std %s", t->name,
               lab_shape_text(&t->shape, shape), LAB_DIGITS_TEXT(stats->min, 5),
               LAB_DIGITS_TEXT(stats->max, 5), LAB_DIGITS_TEXT(stats->mean, 5),
               LAB_DIGITS_TEXT(stats->std, 5));
    if (stats->nan_count || stats->inf_count)
        lab_printf(stdout, "  %lld NaN, %lld infinite",
                   (long long)stats->nan_count, (long long)stats->inf_count);
    lab_printf(stdout, "\n");
}

/* The largest element tells more than the first, which is often 0. */
static int64_t largest(const struct lab_tensor *t, const void *data)
{
    int64_t found = 0;
    double most = -1;
    for (int64_t i = 0; i < t->count; i++) {
        double v = fabs(lab_number_at(data, t->dtype, i));
        if (v > most) {
            most = v;
            found = i;
        }
    }
    return found;
}

static void explain_one(struct lab_lesson_run *w, int tensor, const void *data)
{
    struct lab_explanation e;
    struct lab_str text;
    int64_t index = largest(&w->plan->tensors[tensor], data);
    if (lab_walk_explain(w->walk, tensor, index, &e))
        return;
    lab_str_init(&text);
    lab_explanation_text(&e, TERMS, &text);
    lab_printf(stdout, "      %s\n", lab_str_text(&text));
    lab_str_release(&text);
    lab_explanation_release(&e);
}

static enum lab_status print_tensor(struct lab_lesson_run *w, int tensor)
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    struct lab_stats stats;
    void *data;
    enum lab_status st = lab_lesson_run_read(w, tensor, &data);
    if (st)
        return st;
    lab_stats_compute(&stats, data, t->dtype, t->count);
    lab_step_text_stats(t, &stats);
    first_values(t, data);
    explain_one(w, tensor, data);
    lab_free(data);
    return LAB_OK;
}

static double kernel_ns(const struct lab_kernel_record *k)
{
    return k->end_ns == LAB_UNKNOWN ? (double)NAN
                                    : (double)(k->end_ns - k->start_ns);
}

static void print_kernels(struct lab_live *live, int64_t exec)
{
    enum { MOST = 8 };
    struct lab_kernel_record k[MOST];
    size_t n = lab_live_kernels(live, exec, k, MOST);
    for (size_t i = 0; i < n && i < MOST; i++)
        lab_printf(
            stdout,
            "    kernel %s  %s  grid %s  block %s  %s registers  "
            "occupancy %s\n",
            lab_intern_text(k[i].short_name), LAB_NS_TEXT(kernel_ns(&k[i])),
            LAB_DIMS_TEXT(k[i].launch.grid), LAB_DIMS_TEXT(k[i].launch.block),
            LAB_INT_TEXT(k[i].launch.registers_per_thread),
            LAB_SHARE_TEXT((double)k[i].occupancy_pct / 100));
}

void lab_step_text_head(const struct lab_schedule_step *s, int index,
                        int64_t time_ns, struct lab_live *live, int64_t exec)
{
    lab_printf(stdout, "%d. %s  (%s, %s)\n", index + 1, s->step->name,
               lab_phase_name(s->step->phase), s->variant->name);
    lab_printf(stdout, "    %s\n", s->step->formula);
    if (s->variant->wrong_on_purpose)
        lab_printf(stdout, "    %s computes it otherwise: %s\n",
                   s->variant->name, s->variant->wrong_on_purpose);
    lab_printf(stdout, "    %s, %s, %s\n", LAB_NS_TEXT(lab_to_real(time_ns)),
               LAB_FLOP_TEXT(s->step->flop), LAB_BYTES_TEXT(s->step->bytes));
    print_kernels(live, exec);
}

enum lab_status lab_step_text(struct lab_lesson_run *w, int index)
{
    const struct lab_schedule_step *s =
        &lab_walk_schedule(w->walk)->steps[index];
    int64_t exec;
    int64_t ns;
    enum lab_status st = LAB_OK;
    lab_walk_step_status(w->walk, index, &exec, &ns);
    lab_printf(stdout, "\n");
    lab_step_text_head(s, index, ns, lab_recording_live(w->recording), exec);
    for (int i = 0; i < s->step->n_out && !st; i++) {
        if (s->step->out[i] >= 0)
            st = print_tensor(w, s->step->out[i]);
    }
    return st ? st : lab_print_check();
}

enum lab_status lab_step_text_end(struct lab_lesson_run *w)
{
    enum lab_status st = LAB_OK;
    if (lab_walk_iteration(w->walk) == 0 && !lab_walk_was_given(w->walk) &&
        w->spec.n_printed > 0) {
        lab_printf(stdout, "\n");
        st = lab_course_values_print(w->walk, &w->spec);
    }
    lab_printf(stdout, "\nloss %s\n",
               LAB_DIGITS_TEXT(lab_walk_loss(w->walk), 9));
    return st ? st : lab_print_check();
}
