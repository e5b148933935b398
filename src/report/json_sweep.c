/* json_sweep.c -- a row of a sweep as a JSON line. */
#include "report/json_sweep.h"

#include "report/json_fields.h"

static const struct lab_json_field names[] = {
    {.column = "place", .key = ""},
    {.column = "loss", .key = "loss_equal_samples"},
    {.column = "lossIterations", .key = "loss_equal_iterations"},
};

json_t *lab_json_sweep(const struct lab_sweep_row *r)
{
    return lab_json_fields(lab_json_new("sweep_row"), &lab_sweep_row_fields, r,
                           names, sizeof(names) / sizeof(names[0]));
}
