/* step_text.c -- a step as lines of text: tensors, statistics, kernels. */
#include "debug/step_text.h"

#include <math.h>

#include "base/mem.h"
#include "report/course_values.h"
#include "report/print.h"
#include "trace/intern.h"
#include "base/format.h"

enum { FIRST_VALUES = 6, TERMS = 3 };

enum lab_status lab_step_text_run(struct lab_lesson_run *w, FILE *out)
{
    const struct lab_schedule *s = lab_walk_schedule(w->walk);
    char rate[LAB_WORK_LR_TEXT];
    lab_print_wrap(lab_print_columns(), 0);
    lab_printf(out, "%s\n", w->lesson->title);
    lab_printf(out,
               "backend %s (%s), seed %llu%s, batch %lld, %lld parameters, "
               "%d steps an iteration\n",
               lab_walk_backend(w->walk)->ops->name, w->device.name,
               (unsigned long long)w->plan->seed,
               lab_lesson_run_lr_text(w->options, rate),
               (long long)w->plan->batch, (long long)w->plan->parameter_count,
               s->n_steps);
    return ferror(out) ? lab_fail(LAB_E_IO, "cannot write") : LAB_OK;
}

static void first_values(FILE *out, const struct lab_tensor *t,
                         const void *data)
{
    char value[LAB_FORMAT_BYTES];
    lab_printf(out, "      first:");
    for (int64_t i = 0; i < t->count && i < FIRST_VALUES; i++)
        lab_printf(out, " %s",
                   lab_format_value(lab_number_at(data, t->dtype, i), 10, value,
                                    sizeof(value)));
    lab_printf(out, "%s\n", t->count > FIRST_VALUES ? " ..." : "");
}

void lab_step_text_stats(const struct lab_tensor *t,
                         const struct lab_stats *stats, FILE *out)
{
    char shape[LAB_SHAPE_TEXT];
    lab_printf(out, "    %s %s  min %.5g  max %.5g  mean %.5g  std %.5g",
               t->name, lab_shape_text(&t->shape, shape), stats->min,
               stats->max, stats->mean, stats->std);
    if (stats->nan_count || stats->inf_count)
        lab_printf(out, "  %lld NaN, %lld infinite",
                   (long long)stats->nan_count, (long long)stats->inf_count);
    lab_printf(out, "\n");
}

/* The largest element says more than the first, which is often 0. */
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

static void explain_one(struct lab_lesson_run *w, int tensor, const void *data,
                        FILE *out)
{
    struct lab_explanation e;
    struct lab_str text;
    int64_t index = largest(&w->plan->tensors[tensor], data);
    if (lab_walk_explain(w->walk, tensor, index, &e))
        return;
    lab_str_init(&text);
    lab_explanation_text(&e, TERMS, &text);
    lab_printf(out, "      %s\n", lab_str_text(&text));
    lab_str_release(&text);
    lab_explanation_release(&e);
}

static enum lab_status print_tensor(struct lab_lesson_run *w, int tensor,
                                    FILE *out)
{
    const struct lab_tensor *t = &w->plan->tensors[tensor];
    struct lab_stats stats;
    void *data = lab_alloc_array((size_t)t->count, lab_dtype_bytes(t->dtype));
    if (!data)
        return lab_fail(LAB_E_NOMEM, "no memory to print %s", t->name);
    enum lab_status st = lab_walk_read(w->walk, tensor, false, data);
    if (!st) {
        lab_stats_compute(&stats, data, t->dtype, t->count);
        lab_step_text_stats(t, &stats, out);
        first_values(out, t, data);
        explain_one(w, tensor, data, out);
    }
    lab_free(data);
    return st;
}

static const char *known_int(int32_t v, char *out, size_t size)
{
    if (v == INT32_MIN)
        snprintf(out, size, LAB_NA);
    else
        snprintf(out, size, "%d", v);
    return out;
}

void lab_step_text_kernels(struct lab_live *live, int64_t exec, FILE *out)
{
    enum { MOST = 8 };
    struct lab_kernel_record k[MOST];
    size_t n = lab_live_kernels(live, exec, k, MOST);
    for (size_t i = 0; i < n && i < MOST; i++) {
        char time[LAB_FORMAT_BYTES];
        char registers[LAB_FORMAT_BYTES];
        char share[LAB_FORMAT_BYTES];
        double ns = k[i].end_ns == LAB_UNKNOWN
                        ? NAN
                        : (double)(k[i].end_ns - k[i].start_ns);
        known_int(k[i].registers_per_thread, registers, sizeof(registers));
        lab_format_share((double)k[i].occupancy_pct / 100, share,
                         sizeof(share));
        lab_printf(out,
                   "    kernel %s  %s  grid %d,%d,%d  block %d,%d,%d  %s "
                   "registers  occupancy %s\n",
                   lab_intern_text(k[i].short_name),
                   lab_format_ns(ns, time, sizeof(time)), k[i].grid[0],
                   k[i].grid[1], k[i].grid[2], k[i].block[0], k[i].block[1],
                   k[i].block[2], registers, share);
    }
}

void lab_step_text_head(const struct lab_schedule_step *s, int index,
                        int64_t time_ns, FILE *out)
{
    char time[LAB_FORMAT_BYTES];
    char flop[LAB_FORMAT_BYTES];
    char bytes[LAB_FORMAT_BYTES];
    double ns = time_ns == LAB_UNKNOWN ? NAN : (double)time_ns;
    lab_printf(out, "%d. %s  (%s, %s)\n", index + 1, s->step->name,
               lab_phase_name(s->step->phase), s->variant->name);
    lab_printf(out, "    %s\n", s->step->formula);
    lab_printf(out, "    %s, %s, %s\n", lab_format_ns(ns, time, sizeof(time)),
               lab_format_flop(s->step->flop, flop, sizeof(flop)),
               lab_format_bytes(s->step->bytes, bytes, sizeof(bytes)));
}

enum lab_status lab_step_text(struct lab_lesson_run *w, int index, FILE *out)
{
    const struct lab_schedule_step *s =
        &lab_walk_schedule(w->walk)->steps[index];
    int64_t exec;
    int64_t ns;
    enum lab_status st = LAB_OK;
    lab_walk_step_status(w->walk, index, &exec, &ns);
    lab_printf(out, "\n");
    lab_step_text_head(s, index, ns, out);
    lab_step_text_kernels(lab_recording_live(w->recording), exec, out);
    for (int i = 0; i < s->step->n_out && !st; i++) {
        if (s->step->out[i] >= 0)
            st = print_tensor(w, s->step->out[i], out);
    }
    if (!st && ferror(out))
        st = lab_fail(LAB_E_IO, "cannot write");
    return st;
}

enum lab_status lab_step_text_end(struct lab_lesson_run *w, FILE *out)
{
    enum lab_status st = LAB_OK;
    if (lab_walk_iteration(w->walk) == 0 && w->spec.n_printed > 0) {
        lab_printf(out, "\n");
        st = lab_course_values_print(w->walk, &w->spec, out);
    }
    lab_printf(out, "\nloss %.9g\n", lab_walk_loss(w->walk));
    if (st)
        return st;
    return fflush(out) ? lab_fail(LAB_E_IO, "cannot write") : LAB_OK;
}
