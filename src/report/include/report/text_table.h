/* text_table.h -- rows of text in columns, for a terminal or a pipe.
 *
 * Cells are made visible (base/str.h) as they are added, so that a recorded
 * name cannot send escape sequences. Widths count characters. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/str.h"
#include "store/row_fields.h"

enum { LAB_TEXT_TABLE_COLUMNS = 20 };

/* Rates in a table are numbers in the unit that heads them. */
struct lab_rate_unit {
    char title[48]; /* ">GFLOP/s"; ">rate": not known */
    double scale;
};

struct lab_text_table {
    int columns;
    bool right[LAB_TEXT_TABLE_COLUMNS]; /* numbers are on the right */
    char **cells; /* row by row; the first row is the head */
    size_t count;
    size_t room;
    bool failed;
    struct lab_rate_unit unit;
    size_t most;    /* columns of a line; 0: those of lab_print_columns() */
    bool bold_head; /* in ECMA-48, where lab_print_is_styled() */
};

/* `heads` ends with NULL; a head that begins with '>' is of a column of
 * numbers. */
void lab_text_table_init(struct lab_text_table *t, const char *const *heads);
void lab_text_table_release(struct lab_text_table *t);
void lab_text_table_add(struct lab_text_table *t,
                        const char *text); /* NULL: n/a */
void lab_text_table_addf(struct lab_text_table *t, const char *fmt, ...)
    LAB_PRINTF(2, 3);
/* Integers and reals; unknown is n/a. `digits` significant digits, more before
 * the point up to a million. */
void lab_text_table_add_int(struct lab_text_table *t, int64_t v);
void lab_text_table_add_real(struct lab_text_table *t, double v, int digits);
/* A duration in the unit that fits: "12.3 us". */
void lab_text_table_add_ns(struct lab_text_table *t, int64_t ns);
void lab_text_table_add_real_ns(struct lab_text_table *t, double ns);
/* "1.25 x" of 1.25; "12.5 %" of 0.125. NaN is n/a. */
void lab_text_table_add_times(struct lab_text_table *t, double v);
void lab_text_table_add_share(struct lab_text_table *t, double v);
/* A value by its column's unit. */
void lab_text_table_add_field(struct lab_text_table *t,
                              const struct lab_field *f, const void *row);
/* A table of the records of `fields`, with the columns that such tables have, and
 * its rows. `unit`: taken from the first row where that has one. */
void lab_text_table_begin(struct lab_text_table *t,
                          const struct lab_fields *fields, const void *row,
                          struct lab_rate_unit *unit);
void lab_text_table_add_row(struct lab_text_table *t,
                            const struct lab_fields *fields, const void *row);
/* Takes the last column off where no row has a text in it. */
void lab_text_table_drop_empty(struct lab_text_table *t);
/* The whole table, a line a row; releases it. One that is wider than the terminal
 * comes in parts, one below the other, each with the row's name in front. */
enum lab_status lab_text_table_format(struct lab_text_table *t,
                                      struct lab_str *out);
/* Text on standard output, in ASCII where that is asked for (print.h); releases
 * it. Errors: LAB_E_NOMEM, also of a text that has failed; LAB_E_IO. */
enum lab_status lab_print_str(struct lab_str *text);
/* The same of a table and the text above it. */
enum lab_status lab_text_table_put(struct lab_text_table *t, const char *above);
/* One '?' for each character that is not ASCII. */
void lab_table_make_ascii(struct lab_str *text);
