#include "json_sweep.h"

json_t *lab_json_sweep(const struct lab_sweep_row *r)
{
    json_t *o = lab_json_new("sweep_row");
    lab_json_text(o, "sweep", r->sweep);
    lab_json_text(o, "lesson", r->lesson);
    lab_json_text(o, "backend", r->backend);
    lab_json_text(o, "name", r->name);
    lab_json_real(o, "x", r->x);
    lab_json_text(o, "status", r->status);
    lab_json_text(o, "reason", r->reason);
    lab_json_int(o, "iterations", r->iterations);
    lab_json_int(o, "samples", r->samples);
    lab_json_real(o, "median_ns", r->median_ns);
    lab_json_real(o, "quarter_ns", r->quarter_ns);
    lab_json_real(o, "three_quarters_ns", r->three_quarters_ns);
    lab_json_real(o, "samples_per_s", r->samples_per_s);
    lab_json_int(o, "memory_bytes", r->memory_bytes);
    lab_json_int(o, "parameters", r->parameters);
    lab_json_real(o, "flop", r->flop);
    lab_json_real(o, "loss_equal_samples", r->loss);
    lab_json_real(o, "loss_equal_iterations", r->loss_iterations);
    lab_json_real(o, "share", r->share);
    return o;
}
