/* Rows of the database as the objects of --json. */
#include "profile_json.h"

#include <math.h>

#include "report/json_fields.h"

json_t *lab_profile_run_object(const struct lab_run_row *r)
{
    return lab_json_fields(lab_json_new("run"), &lab_run_fields, r, NULL, 0);
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

static json_t *row_object(const char *type, int64_t run,
                          const struct lab_fields *fields, const void *row)
{
    json_t *o = lab_json_new(type);
    lab_json_int(o, "run", run);
    return lab_json_fields(o, fields, row, NULL, 0);
}

json_t *lab_profile_step_object(int64_t run, const struct lab_time_sum *r,
                                const struct lab_counted_run *counted)
{
    json_t *o = row_object("step", run, &lab_step_fields, r);
    lab_profile_add_rung(o, r->rung);
    add_counters(o, lab_counted_step(counted, r->step_index, r->variant),
                 r->flop);
    return o;
}

json_t *lab_profile_loss_object(int64_t run, const struct lab_loss_row *r)
{
    return row_object("loss", run, &lab_loss_fields, r);
}

json_t *lab_profile_kernel_object(int64_t run, const struct lab_kernel_row *r,
                                  const struct lab_counted_run *counted)
{
    json_t *o = row_object("kernel", run, &lab_kernel_fields, r);
    lab_profile_add_rung(o, r->rung);
    add_counters(o, lab_counted_kernel(counted, r->row), NAN);
    return o;
}
