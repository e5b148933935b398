/* What a lab measured, as lines of JSON: of `profile show --json` and of an
 * export. */
#include "json_line.h"
#include "json_sweep.h"
#include "profile_json.h"
#include "store/lab_rows.h"
#include "store/lab_said.h"
#include "store/sweeps.h"
#include "store/tuned.h"

struct lines {
    int64_t run;
    lab_json_line_fn *put;
    void *user;
    enum lab_status st;
};

static bool put(struct lines *l, json_t *object)
{
    l->st = l->put(l->user, object);
    return l->st == LAB_OK;
}

static json_t *new_line(const struct lines *l, const char *type, int64_t place)
{
    json_t *o = lab_json_new(type);
    lab_json_int(o, "run", l->run);
    if (place != LAB_UNKNOWN)
        lab_json_int(o, "place", place);
    return o;
}

static bool put_rung(void *user, const struct lab_lab_row *r)
{
    json_t *o = new_line(user, "lab_row", r->place);
    lab_json_text(o, "lab", r->lab);
    lab_json_text(o, "size", r->size);
    lab_json_text(o, "variant", r->rung);
    lab_json_text(o, "precision", r->precision);
    lab_json_text(o, "status", r->status);
    lab_json_text(o, "reason", r->reason);
    lab_json_text(o, "note", r->note);
    lab_json_int(o, "workspace_bytes", r->workspace_bytes);
    lab_json_int(o, "repeats", r->repeats);
    lab_json_real(o, "min_ns", r->min_ns);
    lab_json_real(o, "quarter_ns", r->quarter_ns);
    lab_json_real(o, "median_ns", r->median_ns);
    lab_json_real(o, "three_quarters_ns", r->three_quarters_ns);
    lab_json_real(o, "max_ns", r->max_ns);
    lab_json_text(o, "unit", r->unit);
    lab_json_real(o, "rate", r->rate);
    lab_json_real(o, "rate_model", r->rate_model);
    lab_json_real(o, "rate_predicted", r->rate_predicted);
    lab_json_real(o, "gain", r->gain);
    lab_json_real(o, "gain_model", r->gain_model);
    lab_json_real(o, "check_error", r->check_error);
    lab_json_real(o, "sample_error", r->sample_error);
    lab_json_real(o, "flop", r->flop);
    lab_json_real(o, "bytes", r->bytes);
    lab_json_real(o, "traffic_bytes", r->traffic_bytes);
    lab_json_real(o, "ceiling_copy_bytes_per_s", r->ceiling_copy);
    lab_json_real(o, "ceiling_fp32_flop_per_s", r->ceiling_fp32);
    lab_json_int(o, "flush_bytes", r->flush_bytes);
    lab_json_real(o, "sm_clock_before_hz", r->sm_clock_before_hz);
    lab_json_real(o, "sm_clock_after_hz", r->sm_clock_after_hz);
    lab_json_real(o, "memory_clock_hz", r->memory_clock_hz);
    lab_json_real(o, "temperature_c", r->temperature_c);
    lab_json_real(o, "power_w", r->power_w);
    lab_json_int(o, "traced_exec", r->traced_exec);
    return put(user, o);
}

static bool put_said(void *user, const struct lab_said_row *r)
{
    json_t *o = new_line(user, "lab_said", r->place);
    lab_json_text(o, "variant", r->rung);
    lab_json_text(o, "precision", r->precision);
    lab_json_text(o, "size", r->size);
    lab_json_real(o, "rate", r->rate);
    lab_json_real(o, "time_ns", r->time_ns);
    lab_json_text(o, "bound", r->bound);
    lab_json_real(o, "occupancy_pct", r->occupancy_pct);
    return put(user, o);
}

static bool put_tuned(void *user, const struct lab_tuned_row *r)
{
    json_t *o = new_line(user, "lab_tuned", LAB_UNKNOWN);
    lab_json_text(o, "lab", r->lab);
    lab_json_text(o, "size_class", r->size_class);
    lab_json_text(o, "precision", r->precision);
    lab_json_text(o, "candidate", r->candidate);
    lab_json_text(o, "size", r->size);
    lab_json_real(o, "median_ns", r->median_ns);
    lab_json_text(o, "unit", r->unit);
    lab_json_real(o, "rate", r->rate);
    lab_json_int(o, "candidates", r->candidates);
    lab_json_text(o, "backend", r->backend);
    lab_json_text(o, "device", r->device);
    lab_json_text(o, "measured", r->measured);
    return put(user, o);
}

static bool put_sweep(void *user, const struct lab_sweep_row *r)
{
    const struct lines *l = user;
    json_t *o = lab_json_sweep(r);
    lab_json_int(o, "run", l->run);
    lab_json_int(o, "place", r->place);
    return put(user, o);
}

enum lab_status lab_profile_lab_lines(struct lab_database *db, int64_t run,
                                      lab_json_line_fn *to, void *user)
{
    struct lines l = {run, to, user, LAB_OK};
    enum lab_status st = lab_lab_rows_read(db, run, put_rung, &l);
    if (st == LAB_OK && l.st == LAB_OK)
        st = lab_said_rows_read(db, run, put_said, &l);
    if (st == LAB_OK && l.st == LAB_OK)
        st = lab_tuned_of_run(db, run, put_tuned, &l);
    if (st == LAB_OK && l.st == LAB_OK)
        st = lab_sweep_rows_read(db, run, put_sweep, &l);
    return st ? st : l.st;
}
