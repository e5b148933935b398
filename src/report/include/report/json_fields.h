/* json_fields.h -- a row of a table of fields as the members of a JSON line.
 *
 * Every column of the table is a member, so that a new one is in the lines
 * without a word here: by the order of the table, and under the column's name
 * in exports (lab_field_name()). What is otherwise stands in a short list. */
#pragma once
#include <stddef.h>
#include "report/json_line.h"
#include "store/row_fields.h"

struct lab_json_field {
    const char *column;
    const char *key; /* NULL: as in other exports; "": no member of the line */
    const char *after; /* the column that it follows; NULL: in its place */
};

/* Adds a row to `object`, which it takes over and returns; NULL, and freed,
 * when memory is short. A column that is put `after` another has none after itself.
 * `row`: the struct that `fields` describe. */
json_t *lab_json_fields(json_t *object, const struct lab_fields *fields,
                        const void *row, const struct lab_json_field *but,
                        size_t n);
