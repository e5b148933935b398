/* store/row_fields.h -- the table of columns of a record: which member of a
 * struct is which column of the database, how JSON and CSV call it, and how a
 * table of text shows it. Rows are read, added, imported, exported and printed
 * from these tables, so that a new column is one line here. What the HTML
 * report and the screens show of labs is chosen there.
 *
 * Errors of all functions: LAB_E_DB; LAB_E_NOMEM. Threads: that of the
 * connection. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/str.h"
#include "store/database.h"

enum lab_field_kind {
    LAB_FIELD_INT,  /* int64_t, LAB_UNKNOWN is NULL */
    LAB_FIELD_TEXT, /* const char *, NULL is NULL */
    LAB_FIELD_REAL, /* double, NaN is NULL */
    LAB_FIELD_NS,   /* double; whole nanoseconds in exports */
    LAB_FIELD_DIMS, /* int64_t[3]; three columns of the database and of CSV */
    LAB_FIELD_UINT, /* uint64_t; LAB_UNKNOWN is NULL */
    LAB_FIELD_BOOL  /* in JSON alone */
};

/* How a value is written for a reader: base/format.h. */
enum lab_field_show {
    LAB_SHOW_PLAIN, /* an integer, a text, or a real of three digits */
    LAB_SHOW_NS,
    LAB_SHOW_BYTES,
    LAB_SHOW_PCT,   /* of 100 */
    LAB_SHOW_SHARE, /* of 1 */
    LAB_SHOW_BAR,   /* the same, on the screen with a bar of it */
    LAB_SHOW_DELTA, /* on the screen a bar to the left or right of zero */
    LAB_SHOW_FLOP,
    LAB_SHOW_FLOP_S,
    LAB_SHOW_BYTES_S,
    LAB_SHOW_RATE,   /* in the unit of its run */
    LAB_SHOW_TIMES,  /* "1.25 x" */
    LAB_SHOW_RATIO,  /* three digits, in lists too */
    LAB_SHOW_WHOLE,  /* three digits, from 1,000 on no fraction, in lists too */
    LAB_SHOW_NUMBER, /* which one it is: a run */
    LAB_SHOW_VERDICT /* a word that may alarm */
};

enum { LAB_FIELD_LISTS = 6, LAB_FIELD_ABSENT = 1000 };

/* A column of a list on the screen. */
struct lab_field_list {
    int place;                 /* among its columns, from 1; 0: not there */
    const char *title;         /* as `title` below */
    int least;                 /* columns of the screen */
    int weight;                /* of the room that is left */
    bool largest_first;        /* when it is sorted by this column */
    bool as_given;             /* sorted by it rows come as they are given */
    int drop[LAB_FIELD_LISTS]; /* of each kind of list of the record: the
                           highest goes first when the screen is narrow;
                           LAB_FIELD_ABSENT: it is not in this kind of list */
};

struct lab_field {
    const char *column; /* of the database, or what SELECT takes; NULL: made of
                           other members */
    enum lab_field_kind kind;
    size_t at;         /* in the struct */
    const char *key;   /* in JSON and CSV; NULL: lab_field_name(column), or no
                          member where `column` is NULL too; "": none */
    const char *csv;   /* in CSV, where that is not `key` */
    const char *title; /* in tables of text; NULL: not there. Begins with '>'
                          where values are on the right */
    int place;         /* among the columns of such a table, from 1 */
    enum lab_field_show show;
    int digits;          /* of a real; 0: three */
    const char *missing; /* an unknown text; NULL: n/a */
    struct lab_field_list list;
    /* Instead of the member, where it is not NULL. */
    double (*real)(const void *row);
    const char *(*text)(const void *row, char *out, size_t cap);
    const char *sort; /* as --sort calls it; NULL: no order */
};

struct lab_fields {
    const char *table;  /* has runId */
    const char *order;  /* a column; each run's rows come in its order */
    const char *prefix; /* of its columns where other tables' stand beside */
    const struct lab_field *list;
    int count;
    size_t row_bytes;
};

extern const struct lab_fields lab_bench_result_fields;
extern const struct lab_fields lab_run_fields;  /* of struct lab_run_row */
extern const struct lab_fields lab_step_fields; /* of struct lab_time_sum */
/* Of struct lab_time_sum too: all launches of a kernel in a step. */
extern const struct lab_fields lab_kernel_sum_fields;
extern const struct lab_fields lab_kernel_fields; /* of struct lab_kernel_row */
extern const struct lab_fields lab_compare_fields;  /* lab_compare_row */
extern const struct lab_fields lab_loss_row_fields; /* of struct lab_loss_row */
extern const struct lab_fields lab_sweep_row_fields;
extern const struct lab_fields lab_choice_row_fields;
extern const struct lab_fields lab_prediction_fields;
extern const struct lab_fields lab_gpu_fields;       /* of lab_run_device */
extern const struct lab_fields lab_ceiling_fields;   /* lab_ceiling_row */
extern const struct lab_fields lab_tuned_row_fields; /* of the run that tuned */

typedef bool lab_fields_row_fn(void *user, const void *row);

LAB_C_BEGIN
/* Adds a row of `run`. LAB_E_NOTFOUND: there is no such run. LAB_UNKNOWN: of no run, or
 * of the one that a member names, which need not be there. */
enum lab_status lab_fields_add(struct lab_database *db, int64_t run,
                               const struct lab_fields *fields,
                               const void *row);
/* The rows of `run`, until `each` returns false; a row and its texts are valid
 * during the call. LAB_E_NOTFOUND: there is no such run. */
enum lab_status lab_fields_read(struct lab_database *db, int64_t run,
                                const struct lab_fields *fields,
                                lab_fields_row_fn *each, void *user);
/* The same of `from`, what follows FROM in a SELECT of all columns. */
enum lab_status lab_fields_read_from(struct lab_database *db,
                                     const struct lab_fields *fields,
                                     const char *from, lab_fields_row_fn *each,
                                     void *user);
/* Makes every field of a row unknown. */
void lab_fields_clear(const struct lab_fields *fields, void *row);
/* The members that the database has, from the columns of a row that are left
 * of a statement of lab_fields_select(). */
struct lab_stmt;
void lab_fields_take(struct lab_stmt *s, const struct lab_fields *fields,
                     void *row);
/* Appends "SELECT " and the columns of the table. */
void lab_fields_select(struct lab_str *sql, const struct lab_fields *fields);
/* A value as a number (LAB_FIELD_NS: whole), and as a text; NaN and NULL where
 * it is unknown or of the other kind. */
double lab_field_real(const struct lab_field *f, const void *row);
const char *lab_field_text(const struct lab_field *f, const void *row,
                           char *out, size_t cap);
/* The column at a place of tables of text; NULL: none. */
const struct lab_field *lab_field_at(const struct lab_fields *fields,
                                     int place);
/* Appends the name in JSON, or in CSV; nothing where it is in neither. */
void lab_field_key(struct lab_str *out, const struct lab_field *f, bool csv);
/* Appends a column's name in the small letters of exports: threeQuarters_ns is
 * three_quarters_ns there. */
void lab_field_name(struct lab_str *out, const char *column);
LAB_C_END

/* A line of the list `fields` of a struct `row`. */
#define LAB_FIELD(row, column_, kind_, ...)                                    \
    {                                                                          \
        .column = column_, .kind = LAB_FIELD_##kind_,                          \
        LAB_FIELD_AT(row, __VA_ARGS__, .sort = NULL)                           \
    }
#define LAB_FIELD_AT(row, member, ...)                                         \
    .at = offsetof(struct row, member), __VA_ARGS__

/* Of such a line: in tables of text; and in lists on the screen, where the last
 * arguments are the numbers of `drop`. */
#define LAB_SHOWN(title_, place_, show_)                                       \
    .title = title_, .place = place_, .show = LAB_SHOW_##show_
#define LAB_LISTED(place_, title_, least_, weight_, largest_first_, ...)       \
    .list = {.place = place_,                                                  \
             .title = title_,                                                  \
             .least = least_,                                                  \
             .weight = weight_,                                                \
             .largest_first = largest_first_,                                  \
             .drop = {__VA_ARGS__}}

/* A table with a query of its own: SYMBOL, of a struct ROW. */
#define LAB_FIELDS_TABLE(symbol, row)                                          \
    const struct lab_fields symbol = {                                         \
        .list = fields,                                                        \
        .count = (int)(sizeof(fields) / sizeof(fields[0])),                    \
        .row_bytes = sizeof(struct row)}

/* After the list: ROW_fields, and the function `read`, which is
 * lab_fields_read() with the row's own type, ROW_fn. */
#define LAB_FIELDS(row, list, read, table, order, prefix)                      \
    const struct lab_fields row##_fields = {                                   \
        table,                                                                 \
        order,                                                                 \
        prefix,                                                                \
        list,                                                                  \
        (int)(sizeof(list) / sizeof(list[0])),                                 \
        sizeof(struct row)};                                                   \
    struct row##_reader {                                                      \
        row##_fn *each;                                                        \
        void *user;                                                            \
    };                                                                         \
    static bool row##_each(void *user, const void *r)                          \
    {                                                                          \
        const struct row##_reader *to = user;                                  \
        return to->each(to->user, r);                                          \
    }                                                                          \
    enum lab_status read(struct lab_database *db, int64_t run, row##_fn *each, \
                         void *user)                                           \
    {                                                                          \
        struct row##_reader to = {each, user};                                 \
        return lab_fields_read(db, run, &row##_fields, row##_each, &to);       \
    }
