/* A lab's table, and its JSON Lines. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/json_line.h"
#include "bench/lab.h"
#include "lesson/lesson.h"
#include "report/print.h"
#include "report/text_table.h"
#include "bench/lab_words.h"

void lab_bench_print_head(const struct lab_bench *lab)
{
    const struct lab_ladder_machine *m = &lab->machine;
    char words[64];
    lab_print_wrap(lab_print_columns(), 0);
    lab_printf(stdout, "%s: %s, %s, on %s (%s)\n", lab->ladder->name,
               lab->title, lab_bench_precisions(lab, words, sizeof(words)),
               m->info.name, lab->backend->ops->name);
    lab_printf(stdout, "ceilings measured now: copy %.4g GB/s",
               m->copy_bytes_s / 1e9);
    for (int p = 0; p < LAB_PRECISION_COUNT; p++) {
        if (!isnan(m->flops[p]))
            lab_printf(stdout, ", %s %s %.4g GFLOP/s",
                       lab_precision_name((enum lab_precision)p),
                       p == LAB_FP32 && m->fp32_by_fma ? "multiply-adds"
                                                       : "product",
                       m->flops[p] / 1e9);
    }
    lab_printf(stdout, "\n");
    lab_printf(stdout,
               "%d repeats each; before each %.4g MiB are read, to evict the "
               "inputs from the caches; rungs are compared with double "
               "first\n",
               lab->repeats, (double)lab_bench_flushed(lab) / 1048576);
    lab_printf(stdout, "gain is over the previous hand-written rung; "
                       "the model counts the accesses of a kernel's "
                       "text and knows no cache, so a rung can pass it\n");
}

static void add_rate(struct lab_text_table *t, const struct lab_bench *lab,
                     double v)
{
    lab_text_table_add_real(t, v / lab_bench_scale(lab), 4);
}

static bool has_precisions(const struct lab_bench *lab)
{
    for (int i = 0; i < lab->n_rungs; i++) {
        if (lab->rungs[i]->precision != LAB_FP32)
            return true;
    }
    return false;
}

static bool has_errors(const struct lab_bench *lab)
{
    for (int i = 0; i < lab->n_rows; i++) {
        if (!isnan(lab->rows[i].error))
            return true;
    }
    return false;
}

/* The same row as the pictures have it. */
static const struct lab_ui_lab_row *shown_row(const struct lab_bench *lab,
                                              const struct lab_ladder_row *r)
{
    const char *precision = lab_precision_name(r->rung->precision);
    for (int64_t i = 0; i < lab->ui.row_count; i++) {
        const struct lab_ui_lab_row *u = &lab->ui.rows[i];
        if (strcmp(u->rung, r->rung->name) == 0 &&
            strcmp(u->precision, precision) == 0 &&
            strcmp(lab->ui.sizes[u->size].text, r->size.text) == 0)
            return u;
    }
    return NULL;
}

static void add_said(struct lab_text_table *t, const struct lab_bench *lab,
                     const struct lab_ladder_row *r)
{
    const struct lab_ui_lab_row *u = shown_row(lab, r);
    char text[120] = "";
    if (u)
        lab_prediction_text(&lab->ui, &u->said, text, sizeof(text));
    lab_text_table_add(t, text);
    if (u)
        lab_prediction_ratio_short(lab->ui.unit, &u->said, u, text,
                                   sizeof(text));
    lab_text_table_add(t, text);
}

static void add_row(struct lab_text_table *t, const struct lab_bench *lab,
                    const struct lab_ladder_row *r)
{
    lab_text_table_add(t, r->rung->name);
    if (has_precisions(lab))
        lab_text_table_add(t, lab_precision_name(r->rung->precision));
    lab_text_table_add_ns(t, r->status ? LAB_UNKNOWN : llround(r->median_ns));
    lab_text_table_add_ns(t, r->status ? LAB_UNKNOWN : llround(r->min_ns));
    lab_text_table_add_share(t, (r->three_quarters_ns - r->quarter_ns) /
                                    r->median_ns);
    add_rate(t, lab, r->rate);
    lab_text_table_add_share(t, r->share);
    const struct lab_ui_lab_row *u = shown_row(lab, r);
    lab_text_table_add_share(t, u ? u->of_library : (double)NAN);
    add_rate(t, lab, r->rate_model);
    lab_text_table_add_times(t, r->gain);
    lab_text_table_add_times(t, r->gain_model);
    if (has_errors(lab) && isnan(r->error))
        lab_text_table_add(t, NULL);
    else if (has_errors(lab))
        lab_text_table_addf(t, "%.1e", r->error);
    if (lab->n_said)
        add_said(t, lab, r);
    lab_text_table_add(t, r->rung->idea);
}

/* "workspace 72 MiB": beside the tensors. */
static void write_workspace(const struct lab_ladder_row *r, char *out,
                            size_t bytes)
{
    double mib = (double)r->note.workspace_bytes / (1024.0 * 1024.0);
    if (r->note.workspace_bytes < 0)
        out[0] = '\0';
    else if (r->note.workspace_bytes == 0)
        snprintf(out, bytes, "no workspace");
    else if (mib < 0.01)
        snprintf(out, bytes, "workspace %lld bytes",
                 (long long)r->note.workspace_bytes);
    else
        snprintf(out, bytes,
                 mib < 1000 ? "workspace %.3g MiB" : "workspace %.0f MiB", mib);
}

/* "1.71 times its model: caches serve ..." */
static void say_passed(const struct lab_bench *lab,
                       const struct lab_ladder_row *r)
{
    const char *why = lab_bench_model_passed(
        lab->ui.unit, r->rate, r->rate_model, r->bytes, r->traffic);
    bool time = lab->ui.unit == LAB_UI_LAB_TIME;
    if (why)
        lab_printf(stdout, "  %s: %.2f times as fast as its model: %s\n",
                   r->rung->name,
                   time ? r->rate_model / r->rate : r->rate / r->rate_model,
                   why);
}

/* Once for all rungs of a size. */
static void say_beaten(const struct lab_bench *lab)
{
    double share = NAN;
    for (int i = 0; i < lab->n_rows; i++)
        share = fmax(share, lab->rows[i].share);
    const char *why = lab_bench_ceiling_passed(lab->ui.unit, share);
    if (why)
        lab_printf(stdout, "  of ceiling: %s\n", why);
}

static void say_reasons(const struct lab_bench *lab)
{
    char workspace[64];
    for (int i = 0; i < lab->n_rows; i++) {
        const struct lab_ladder_row *r = &lab->rows[i];
        write_workspace(r, workspace, sizeof(workspace));
        const char *note = r->note.text;
        if (r->status)
            lab_printf(stdout, "  %s: %s\n", r->rung->name, r->reason);
        else if (note[0] || workspace[0])
            lab_printf(stdout, "  %s: %s%s%s\n", r->rung->name, note,
                       note[0] && workspace[0] ? ", " : "", workspace);
        if (!r->status)
            say_passed(lab, r);
    }
    say_beaten(lab);
}

static void say_off(const struct lab_bench *lab, const char *rung,
                    const struct lab_ui_prediction *said,
                    const struct lab_ui_lab_row *u)
{
    char text[320];
    struct lab_ui_prediction timed = *said;
    timed.occupancy_pct = NAN; /* known when its kernels were traced */
    lab_prediction_ratio_text(lab->ui.unit, &timed, u, text, sizeof(text));
    if (text[0])
        lab_printf(stdout, "  %s: %s\n", rung, text);
}

/* How far off the predictions were, those of the fastest last. */
static void say_predictions(const struct lab_bench *lab)
{
    const struct lab_ui_lab_row *u = NULL;
    char name[64];
    for (int i = 0; i < lab->n_rows; i++) {
        u = shown_row(lab, &lab->rows[i]);
        if (u)
            say_off(lab, u->rung, &u->said, u);
    }
    const struct lab_ui_lab_row *best =
        u ? lab_ui_lab_best(&lab->ui, u->size) : NULL;
    if (!best)
        return;
    snprintf(name, sizeof(name), "the fastest, %s", best->rung);
    say_off(lab, name, &lab->ui.sizes[best->size].best, best);
}

/* Clocks differ from row to row under a power limit: say between what. */
static void say_state(const struct lab_bench *lab)
{
    double least = INFINITY;
    double most = 0;
    double hot = NAN;
    for (int i = 0; i < lab->n_rows; i++) {
        least = fmin(least, lab->rows[i].after.sm_clock_hz);
        most = fmax(most, lab->rows[i].after.sm_clock_hz);
        hot = fmax(hot, lab->rows[i].after.temperature_c);
    }
    if (most > 0)
        lab_printf(stdout, "  SM clock %.0f to %.0f MHz, at most %.0f C\n",
                   least / 1e6, most / 1e6, hot);
}

/* A row's idea breaks under its head where there is room. */
static void print_table(struct lab_str *table)
{
    enum { ROOM = 16 };
    size_t columns = lab_print_columns();
    const char *idea = strstr(lab_str_text(table), "its idea");
    size_t at = idea ? (size_t)(idea - lab_str_text(table)) : 0;
    if (lab_print_is_ascii())
        lab_table_make_ascii(table);
    lab_print_wrap(columns, at + ROOM < columns ? at : 4);
    lab_print_text(lab_str_text(table));
    lab_print_wrap(columns, 0);
}

enum lab_status lab_bench_print_size(const struct lab_bench *lab)
{
    char unit[LAB_BENCH_UNIT + 2] = ">";
    const char *heads[16] = {"rung"};
    int n = 1;
    lab_bench_shown_unit(lab, unit + 1, sizeof(unit) - 1);
    if (has_precisions(lab))
        heads[n++] = "in";
    const char *const figures[] = {">median", ">min",        ">spread",
                                   unit,      ">of ceiling", ">of library",
                                   ">model",  ">gain",       ">model's"};
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
        heads[n++] = figures[i];
    if (has_errors(lab))
        heads[n++] = ">error";
    if (lab->n_said)
        heads[n++] = "predicted";
    if (lab->n_said)
        heads[n++] = ">vs. predicted";
    heads[n] = "its idea";
    struct lab_text_table t;
    struct lab_str text;
    lab_str_init(&text);
    lab_text_table_init(&t, heads);
    for (int i = 0; i < lab->n_rows; i++)
        add_row(&t, lab, &lab->rows[i]);
    enum lab_status st = lab_text_table_format(&t, &text);
    if (!st) {
        lab_printf(stdout, "\n%s %s\n", lab->ladder->shape,
                   lab->rows[0].size.text);
        print_table(&text);
        say_reasons(lab);
        say_predictions(lab);
        say_state(lab);
        if (fflush(stdout))
            st = lab_fail(LAB_E_IO, "cannot write");
    }
    lab_text_table_release(&t);
    lab_str_release(&text);
    return st;
}

/* ---- JSON ---- */

enum lab_status lab_bench_json_run(const struct lab_bench *lab)
{
    const struct lab_ladder_machine *m = &lab->machine;
    json_t *line = lab_json_new("lab");
    lab_json_text(line, "lab", lab->ladder->name);
    lab_json_text(line, "lesson", lab->lesson ? lab->lesson->id : NULL);
    lab_json_int(line, "run", lab->run ? lab->run : LAB_UNKNOWN);
    lab_json_text(line, "backend", lab->backend->ops->name);
    lab_json_text(line, "device", m->info.name);
    char words[64];
    lab_json_text(line, "precision",
                  lab_bench_precisions(lab, words, sizeof(words)));
    lab_json_uint(line, "seed", lab->options->seed);
    lab_json_int(line, "repeats", lab->repeats);
    lab_json_int(line, "flush_bytes", lab_bench_flushed(lab));
    lab_json_real(line, "copy_bytes_per_s", m->copy_bytes_s);
    for (int p = 0; p < LAB_FP64; p++) {
        char key[32];
        snprintf(key, sizeof(key), "%s_flop_per_s",
                 lab_precision_name((enum lab_precision)p));
        lab_json_real(line, key, m->flops[p]);
    }
    return lab_json_print(line);
}

static void add_predicted(json_t *line, const struct lab_bench *lab,
                          const struct lab_ladder_row *r)
{
    const struct lab_ui_lab_row *u = shown_row(lab, r);
    const struct lab_ui_prediction *said = u ? &u->said : NULL;
    lab_json_real(line, "rate_predicted", lab_bench_prediction(lab, r));
    lab_json_text(line, "bound", u && u->bound[0] ? u->bound : NULL);
    lab_json_text(line, "bound_predicted",
                  said && said->bound[0] ? said->bound : NULL);
    lab_json_real(line, "occupancy_predicted_pct",
                  said ? said->occupancy_pct : (double)NAN);
    lab_json_real(line, "speed_over_predicted",
                  said ? lab_prediction_ratio(lab->ui.unit, said, u)
                       : (double)NAN);
}

static void add_cost(json_t *line, const struct lab_bench *lab,
                     const struct lab_ladder_row *r)
{
    lab_json_real(line, "flop", r->flop);
    lab_json_real(line, "bytes", r->bytes);
    lab_json_real(line, "traffic_bytes_model", r->traffic);
    lab_json_text(line, "unit", lab->unit);
    lab_json_real(line, "rate", r->rate);
    lab_json_real(line, "rate_model", r->rate_model);
    add_predicted(line, lab, r);
    lab_json_real(line, "of_ceiling", r->share);
    lab_json_real(line, "gain", r->gain);
    lab_json_real(line, "gain_model", r->gain_model);
    lab_json_real(line, "sm_clock_before_hz", r->before.sm_clock_hz);
    lab_json_real(line, "sm_clock_after_hz", r->after.sm_clock_hz);
    lab_json_real(line, "memory_clock_hz", r->after.memory_clock_hz);
    lab_json_real(line, "temperature_c", r->after.temperature_c);
    lab_json_real(line, "power_w", r->after.power_w);
}

enum lab_status lab_bench_json_row(const struct lab_bench *lab,
                                   const struct lab_ladder_row *r)
{
    json_t *line = lab_json_new("lab_row");
    lab_json_text(line, "lab", lab->ladder->name);
    lab_json_text(line, "size", r->size.text);
    lab_json_text(line, "variant", r->rung->name);
    lab_json_text(line, "precision", lab_precision_name(r->rung->precision));
    lab_json_text(line, "idea", r->rung->idea);
    lab_json_text(line, "source", r->rung->source);
    lab_json_text(line, "status", lab_status_text(r->status));
    lab_json_text(line, "reason", r->reason[0] ? r->reason : NULL);
    lab_json_text(line, "note", r->note.text[0] ? r->note.text : NULL);
    lab_json_int(line, "workspace_bytes",
                 r->note.workspace_bytes < 0 ? LAB_UNKNOWN
                                             : r->note.workspace_bytes);
    if (r->rung->wrong_on_purpose) {
        lab_json_text(line, "wrong_on_purpose", r->rung->wrong_on_purpose);
        lab_json_int(line, "wrong_elements", r->wrong);
        lab_json_int(line, "compared_elements", r->compared);
    }
    lab_json_real(line, "check_error", r->check_error);
    lab_json_real(line, "sample_error", r->sample_error);
    lab_json_real(line, "error", r->error);
    lab_json_int(line, "repeats", r->repeats ? r->repeats : LAB_UNKNOWN);
    lab_json_real(line, "min_ns", r->min_ns);
    lab_json_real(line, "quarter_ns", r->quarter_ns);
    lab_json_real(line, "median_ns", r->median_ns);
    lab_json_real(line, "three_quarters_ns", r->three_quarters_ns);
    lab_json_real(line, "max_ns", r->max_ns);
    add_cost(line, lab, r);
    return lab_json_print(line);
}
