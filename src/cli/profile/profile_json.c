#include "profile_json.h"

#include <math.h>
#include <stdio.h>

#include "report/json_line.h"
#include "store/limit_words.h"

static void add_figures(json_t *o, const struct lab_run_row *r)
{
    lab_json_int(o, "iterations", r->iterations);
    lab_json_int(o, "iteration_median_ns", r->iteration_median_ns);
    lab_json_int(o, "gpu_ns", r->gpu_ns);
    lab_json_real(o, "samples_per_s", r->samples_per_s);
    lab_json_real(o, "loss_first", r->loss_first);
    lab_json_real(o, "loss_last", r->loss_last);
    lab_json_real(o, "accuracy", r->accuracy);
    json_object_set_new(o, "figures_from_rows",
                        json_boolean(r->figures_from_rows));
}

json_t *lab_profile_run_object(const struct lab_run_row *r)
{
    json_t *o = lab_json_new("run");
    lab_json_int(o, "run", r->id);
    lab_json_text(o, "lesson", r->lesson);
    lab_json_text(o, "kind", r->kind);
    lab_json_text(o, "backend", r->backend);
    lab_json_text(o, "device", r->device);
    lab_json_text(o, "started", r->started);
    lab_json_text(o, "ended", r->ended);
    lab_json_text(o, "status", r->status);
    lab_json_text(o, "title", r->title);
    lab_json_text(o, "lesson_path", r->lesson_path);
    lab_json_text(o, "precision", r->precision);
    lab_json_text(o, "variants", r->variants);
    if ((int64_t)r->seed == LAB_UNKNOWN)
        lab_json_int(o, "seed", LAB_UNKNOWN);
    else
        lab_json_uint(o, "seed", r->seed);
    lab_json_int(o, "batch", r->batch);
    lab_json_real(o, "learning_rate", r->learning_rate);
    lab_json_real(o, "lesson_learning_rate", r->lesson_learning_rate);
    add_figures(o, r);
    lab_json_text(o, "time_source", r->time_source);
    lab_json_text(o, "trace", r->trace_state);
    lab_json_text(o, "counters", r->counters);
    lab_json_text(o, "counters_reason", r->counters_reason);
    lab_json_text(o, "chip", r->chip);
    lab_json_text(o, "compute_capability", r->compute_capability);
    lab_json_int(o, "sm_count", r->sm_count);
    lab_json_text(o, "driver", r->driver);
    lab_json_text(o, "runtime", r->runtime);
    lab_json_text(o, "version", r->version);
    lab_json_text(o, "commit", r->commit);
    lab_json_text(o, "hostname", r->hostname);
    lab_json_text(o, "user", r->user);
    lab_json_int(o, "rank", r->rank);
    lab_json_text(o, "uuid", r->uuid);
    lab_json_text(o, "label", r->label);
    lab_json_text(o, "imported_from", r->imported_from);
    lab_json_text(o, "imported", r->imported);
    lab_json_int(o, "ring_drops", r->ring_drops);
    lab_json_int(o, "ring_waits", r->ring_waits);
    lab_json_int(o, "ring_wait_ns", r->ring_wait_ns);
    lab_json_int(o, "write_errors", r->write_errors);
    lab_json_text(o, "write_error", r->write_error);
    return o;
}

static void add_counters(json_t *o, const struct lab_counted_item *item,
                         double formula)
{
    double values[LAB_COUNTED_COLUMNS];
    lab_counted_values(item, formula, values);
    for (int i = 0; i < LAB_COUNTED_COLUMNS; i++)
        lab_json_real(o, lab_counted_column(i), values[i]);
}

void lab_profile_add_rung(json_t *o, const struct lab_bench_name *rung)
{
    if (!rung)
        return;
    lab_json_text(o, "rung", rung->rung);
    lab_json_text(o, "precision", rung->precision[0] ? rung->precision : NULL);
    lab_json_text(o, "size", rung->size);
}

json_t *lab_profile_step_object(int64_t run, const struct lab_step_row *r,
                                const struct lab_counted_run *counted)
{
    json_t *o = lab_json_new("step");
    lab_json_int(o, "run", run);
    lab_json_int(o, "index", r->index);
    lab_json_text(o, "name", r->name);
    lab_profile_add_rung(o, r->rung);
    lab_json_text(o, "node", r->node);
    lab_json_text(o, "op", r->op);
    lab_json_text(o, "phase", r->phase);
    lab_json_text(o, "variant", r->variant);
    lab_json_text(o, "backend", r->backend);
    lab_json_int(o, "count", r->count);
    lab_json_int(o, "timed", r->timed);
    lab_json_int(o, "median_ns", r->median_ns);
    lab_json_int(o, "min_ns", r->min_ns);
    lab_json_int(o, "max_ns", r->max_ns);
    lab_json_int(o, "total_ns", r->total_ns);
    lab_json_int(o, "quarter_ns", r->quarter_ns);
    lab_json_int(o, "three_quarters_ns", r->three_quarters_ns);
    lab_json_int(o, "mad_ns", r->mad_ns);
    lab_json_real(o, "flop", r->flop);
    lab_json_real(o, "bytes", r->bytes);
    lab_json_real(o, "gflop_per_s", r->gflop_per_s);
    lab_json_real(o, "gbyte_per_s", r->gbyte_per_s);
    lab_json_int(o, "kernels", r->kernels);
    lab_json_text(o, "time_source", r->time_source);
    add_counters(o, lab_counted_step(counted, r->index, r->variant), r->flop);
    return o;
}

json_t *lab_profile_loss_object(int64_t run, const struct lab_loss_row *r)
{
    json_t *o = lab_json_new("loss");
    lab_json_int(o, "run", run);
    lab_json_int(o, "iteration", r->iteration);
    lab_json_real(o, "loss", r->loss);
    lab_json_real(o, "accuracy", r->accuracy);
    return o;
}

json_t *lab_profile_kernel_object(int64_t run, const struct lab_kernel_row *r,
                                  const struct lab_counted_run *counted)
{
    char limit[64];
    json_t *o = lab_json_new("kernel");
    lab_json_int(o, "run", run);
    lab_json_int(o, "exec", r->exec);
    lab_json_int(o, "iteration", r->iteration);
    lab_json_int(o, "step_index", r->step_index);
    lab_json_text(o, "step", r->step);
    lab_profile_add_rung(o, r->rung);
    lab_json_text(o, "phase", r->phase);
    lab_json_text(o, "name", r->name);
    lab_json_text(o, "short_name", r->short_name);
    lab_json_int(o, "start_ns", r->start_ns);
    lab_json_int(o, "end_ns", r->end_ns);
    lab_json_int(o, "time_ns", r->time_ns);
    lab_json_ints(o, "grid", r->grid, 3);
    lab_json_ints(o, "block", r->block, 3);
    lab_json_ints(o, "cluster", r->cluster, 3);
    lab_json_int(o, "registers_per_thread", r->registers_per_thread);
    lab_json_int(o, "static_shared_bytes", r->static_shared_bytes);
    lab_json_int(o, "dynamic_shared_bytes", r->dynamic_shared_bytes);
    lab_json_int(o, "shared_executed_bytes", r->shared_executed_bytes);
    lab_json_int(o, "local_per_thread_bytes", r->local_per_thread_bytes);
    lab_json_real(o, "occupancy_pct", r->occupancy_pct);
    lab_json_text(o, "occupancy_limit",
                  lab_limit_text(r->occupancy_limit, limit, sizeof(limit)));
    lab_json_int(o, "active_blocks_per_sm", r->active_blocks_per_sm);
    lab_json_int(o, "device", r->device);
    lab_json_int(o, "context", r->context);
    lab_json_int(o, "stream", r->stream);
    lab_json_int(o, "correlation", r->correlation);
    lab_json_int(o, "graph_node", r->graph_node);
    add_counters(o, lab_counted_kernel(counted, r->row), NAN);
    return o;
}
