/* run_facts.c -- the facts of a run, a line each.
 *
 * Where it comes from, its figures, how it was recorded: rows that `profile
 * show`, the HTML page and the screen of a run put into their tables. Unknown
 * facts have no row. */
#include "report/run_facts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "engine/machine_use.h"
#include "profiler/profiler.h"

/* No row of what is not known. */
static void add_fact(struct lab_text_table *t, const char *name,
                     const char *value)
{
    if (!value)
        return;
    lab_text_table_add(t, name);
    lab_text_table_add(t, value);
}

static void add_moment(struct lab_text_table *t, const char *name,
                       const char *iso)
{
    char text[32];
    lab_text_table_add(t, name);
    lab_text_table_add(t, lab_moment_text(iso, text, sizeof(text)));
}

void lab_run_origin(struct lab_text_table *t, const struct lab_run_row *r)
{
    bool cpu = r->backend && strcmp(r->backend, "cpu") == 0;
    add_fact(t, "lesson", r->lesson);
    add_fact(t, "kind", r->kind);
    add_fact(t, "title", r->title);
    add_fact(t, "path", r->lesson_path);
    add_fact(t, "status", r->status);
    add_moment(t, "started", r->started);
    add_moment(t, "ended", r->ended);
    add_fact(t, "backend", r->backend);
    add_fact(t, "device", r->device);
    add_fact(t, "chip", r->chip);
    add_fact(t, "capability", r->compute_capability);
    if (r->sm_count != LAB_UNKNOWN) {
        lab_text_table_add(t, cpu ? "cores" : "SMs");
        lab_text_table_add_int(t, r->sm_count);
    }
    add_fact(t, "driver", r->driver);
    add_fact(t, "runtime", r->runtime);
    lab_text_table_add(t, "machine");
    lab_text_table_addf(t, "%s, user %s", r->hostname ? r->hostname : LAB_NA,
                        r->user ? r->user : LAB_NA);
    add_fact(t, "label", r->label);
    add_fact(t, "imported from", r->imported_from);
    if (r->imported)
        add_moment(t, "imported", r->imported);
    add_fact(t, "uuid", r->uuid);
    add_fact(t, "version", r->version);
    add_fact(t, "commit", r->commit);
}

/* What a median of so few iterations, and a rate made of it, has in it: the
 * first, which loads kernels and libraries, decides. */
static void few_text(const struct lab_run_row *r, char *out, size_t cap)
{
    enum { FEW = 5 };
    bool gpu = r->backend && strcmp(r->backend, "cuda") == 0;
    bool one = r->iterations == 1;
    out[0] = '\0';
    if (r->iterations > 0 && r->iterations < FEW)
        snprintf(out, cap, " (of %lld iteration%s, the first%s%s)",
                 (long long)r->iterations, one ? "" : "s",
                 one ? "" : " among them",
                 !gpu  ? ""
                 : one ? ": loading kernels and libraries is in it"
                       : ": loading kernels and libraries is in that one");
}

static void add_speed(struct lab_text_table *t, const struct lab_run_row *r)
{
    char few[128];
    few_text(r, few, sizeof(few));
    lab_text_table_add(t, "iteration");
    if (r->iteration_median_ns == LAB_UNKNOWN && r->backend &&
        strcmp(r->backend, "sim") == 0)
        lab_text_table_add(t, "n/a: a simulation has no times");
    else if (r->iteration_median_ns == LAB_UNKNOWN)
        lab_text_table_add(t, NULL);
    else
        lab_text_table_addf(t, "%s%s",
                            LAB_NS_TEXT((double)r->iteration_median_ns), few);
    lab_text_table_add(t, "samples/s, mean");
    if (isnan(r->samples_per_s) || !few[0])
        lab_text_table_add_real(t, r->samples_per_s, 6);
    else
        lab_text_table_addf(t, "%.6g%s", r->samples_per_s, few);
}

/* Where energy is known. That of the whole run has the program's start, measuring and
 * counters in it: what an iteration took is counted over iterations alone. */
static void add_energy(struct lab_text_table *t, const struct lab_run_row *r)
{
    double seconds = (double)r->warm_ns / 1e9;
    double n = (double)r->warm_iterations;
    if (isnan(r->energy_j) && r->warm_ns == LAB_UNKNOWN)
        return; /* no counter */
    lab_text_table_add(t, "energy");
    if (r->energy_j > 0)
        lab_text_table_addf(t, "%s, of the whole run",
                            LAB_ENERGY_TEXT(r->energy_j));
    else
        lab_text_table_add(t, "n/a: the counter did not move, or failed");
    lab_text_table_add(t, "joules an iteration");
    if (r->warm_ns == LAB_UNKNOWN || r->warm_iterations == LAB_UNKNOWN) {
        lab_text_table_add(t, "n/a: not counted over iterations alone");
        return;
    }
    if (isnan(r->warm_energy_j)) {
        lab_text_table_addf(
            t, "n/a: %lld iteration%s after the second, %s; a counter needs %s",
            (long long)r->warm_iterations, r->warm_iterations == 1 ? "" : "s",
            LAB_NS_TEXT((double)r->warm_ns),
            LAB_NS_TEXT((double)LAB_ENERGY_LEAST_NS));
        return;
    }
    lab_text_table_addf(t, "%s, the mean of %lld in %s, at %s",
                        LAB_ENERGY_TEXT(r->warm_energy_j / n),
                        (long long)r->warm_iterations,
                        LAB_NS_TEXT((double)r->warm_ns),
                        LAB_AMOUNT_TEXT(r->warm_energy_j / seconds, "W"));
    if (isnan(r->iteration_flop) || r->warm_energy_j <= 0)
        return;
    lab_text_table_add(t, "work for energy");
    lab_text_table_addf(
        t, "%s per W",
        LAB_AMOUNT_TEXT(r->iteration_flop * n / r->warm_energy_j, "FLOP/s"));
}

void lab_run_figures(struct lab_text_table *t, const struct lab_run_row *r)
{
    char rate[LAB_RUN_LR_TEXT];
    bool gpu = r->backend && strcmp(r->backend, "cuda") == 0;
    add_fact(t, "precision", r->precision);
    add_fact(t, "variants", r->variants);
    if (r->variants_from)
        add_fact(t, "variants from",
                 strcmp(r->variants_from, "measured") == 0 ? "measuring"
                 : strcmp(r->variants_from, "table") == 0  ? "the fixed table"
                                                           : r->variants_from);
    if (r->threads != LAB_UNKNOWN) {
        lab_text_table_add(t, "threads");
        lab_text_table_add_int(t, r->threads);
    }
    lab_text_table_add(t, "seed");
    if ((int64_t)r->seed == LAB_UNKNOWN)
        lab_text_table_add(t, NULL);
    else
        lab_text_table_addf(t, "%llu", (unsigned long long)r->seed);
    if (*lab_run_lr_text(r, rate))
        add_fact(t, "learning rate", rate);
    if (r->rate_schedule)
        add_fact(t, "rate's schedule", r->rate_schedule);
    if (r->optimizer)
        add_fact(t, "optimizer", r->optimizer);
    if (r->validation > 0) {
        lab_text_table_add(t, "validation");
        lab_text_table_addf(t, "%.3g %% of the samples", 100 * r->validation);
    }
    if (r->early_stop > 0) {
        lab_text_table_add(t, "early stop");
        lab_text_table_addf(t, "after %lld evaluations without a lower loss",
                            (long long)r->early_stop);
    }
    lab_text_table_add(t, "batch");
    lab_text_table_add_int(t, r->batch);
    if (r->figures_from_rows)
        add_fact(t, "figures",
                 "of the stored losses: the run was ended before "
                 "it reported its own");
    lab_text_table_add(t, "iterations");
    lab_text_table_add_int(t, r->iterations);
    add_speed(t, r);
    lab_text_table_add(t, "first loss");
    lab_text_table_add_real(t, r->loss_first, 6);
    lab_text_table_add(t, "last loss");
    lab_text_table_add_real(t, r->loss_last, 6);
    lab_text_table_add(t, "accuracy");
    if (isnan(r->accuracy))
        lab_text_table_add(t, NULL);
    else
        lab_text_table_addf(t, "%.2f %%", 100 * r->accuracy);
    if (r->memory_peak_bytes != LAB_UNKNOWN) {
        lab_text_table_add(t, gpu ? "GPU memory, at most" : "memory, at most");
        lab_text_table_addf(t, "%s",
                            LAB_BYTES_TEXT(lab_to_real(r->memory_peak_bytes)));
    }
    if (!isnan(r->utilization_pct)) {
        lab_text_table_add(t, gpu ? "GPU busy" : "threads busy");
        lab_text_table_addf(t, "%.3g %%", r->utilization_pct);
    }
    add_energy(t, r);
}

void lab_run_recording(struct lab_text_table *t, const struct lab_run_row *r)
{
    const char *trace =
        lab_trace_state_text(lab_trace_state_find(r->trace_state));
    add_fact(t, "times from", r->time_source);
    if (*trace)
        add_fact(t, "times taken", trace);
    lab_text_table_add(t, "counters");
    lab_text_table_addf(t, "%s%s%s", r->counters ? r->counters : LAB_NA,
                        r->counters_reason ? ": " : "",
                        r->counters_reason ? r->counters_reason : "");
    lab_text_table_add(t, "records lost");
    if (r->ring_drops == LAB_UNKNOWN)
        lab_text_table_add(t, NULL);
    else
        lab_text_table_addf(t, "%lld (ring full), %lld (database)",
                            (long long)r->ring_drops,
                            (long long)r->write_errors);
    if (r->ring_waits > 0) {
        lab_text_table_add(t, "ring waits");
        lab_text_table_addf(t, "%lld, %s in all", (long long)r->ring_waits,
                            LAB_NS_TEXT(lab_to_real(r->ring_wait_ns)));
    }
    add_fact(t, "error", r->write_error);
}
