/* What a lab measured, as lines of JSON: of `profile show --json` and of an
 * export. */
#include "report/json_fields.h"
#include "report/json_line.h"
#include "report/json_sweep.h"
#include "profile_json.h"
#include "store/bench.h"
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

/* Keys of the lines that are not their columns' names, and members that stand
 * elsewhere than their columns. */
static const struct lab_json_field rung_names[] = {
    {.column = "rung", .key = "variant"},
    {.column = "workspace_bytes", .after = "note"},
    {.column = "flush_bytes", .after = "ceilingFp32_FLOP_s"},
    {.column = "ceilingCopy_B_s", .key = "ceiling_copy_bytes_per_s"},
    {.column = "ceilingFp32_FLOP_s", .key = "ceiling_fp32_flop_per_s"},
};
static const struct lab_json_field said_names[] = {
    {.column = "rung", .key = "variant"},
};
static const struct lab_json_field tuned_names[] = {
    {.column = "runId", .key = ""}, /* every line has its run */
    {.column = "rate", .after = "unit"},
    {.column = "uuid", .after = "measured"},
    {.column = "hostname", .after = "measured"},
    {.column = "driver", .after = "measured"},
    {.column = "version", .after = "measured"},
    {.column = "measured_ns", .after = "measured"},
};

static bool put_row(struct lines *l, const char *type,
                    const struct lab_fields *fields, const void *row,
                    const struct lab_json_field *names, size_t n)
{
    json_t *o = lab_json_new(type);
    lab_json_int(o, "run", l->run);
    return put(l, lab_json_fields(o, fields, row, names, n));
}

static bool put_rung(void *user, const struct lab_bench_result *r)
{
    return put_row(user, "lab_row", &lab_bench_result_fields, r, rung_names,
                   sizeof(rung_names) / sizeof(rung_names[0]));
}

static bool put_said(void *user, const struct lab_prediction *r)
{
    return put_row(user, "lab_said", &lab_prediction_fields, r, said_names,
                   sizeof(said_names) / sizeof(said_names[0]));
}

static bool put_tuned(void *user, const struct lab_tuned_row *r)
{
    return put_row(user, "lab_tuned", &lab_tuned_row_fields, r, tuned_names,
                   sizeof(tuned_names) / sizeof(tuned_names[0]));
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
    enum lab_status st = lab_bench_results_read(db, run, put_rung, &l);
    if (st == LAB_OK && l.st == LAB_OK)
        st = lab_predictions_read(db, run, put_said, &l);
    if (st == LAB_OK && l.st == LAB_OK)
        st = lab_tuned_of_run(db, run, put_tuned, &l);
    if (st == LAB_OK && l.st == LAB_OK)
        st = lab_sweep_rows_read(db, run, put_sweep, &l);
    return st ? st : l.st;
}
