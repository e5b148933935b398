/* record_list.h -- a list of records on the screen, by the record's table of
 * columns (store/row_fields.h). Threads: the UI's. */
#pragma once
#include "store/row_fields.h"
#include "ui/table.h"

struct lab_record_list {
    struct lab_table_ops ops;
    struct lab_table_column column[LAB_TABLE_COLUMNS];
    const struct lab_field *field[LAB_TABLE_COLUMNS];
    const struct lab_fields *fields;
    /* The colour of a row's bars, and the letter that has its meaning. */
    enum lab_role (*color)(const void *user, const void *row, char *letter);
    /* Rows that matter little recede. NULL: none. */
    bool (*faint)(const void *user, const void *row);
    const void *color_user; /* of both */
    double longest;         /* what a whole bar is: lab_record_list_scale() */
    const void *rows;       /* the caller's; set it before the table's count */
    const int64_t *shown;   /* indices of rows; NULL: all of them */
};

/* `kind`: of the lists of the record, as its table counts them. A table is
 * made of &list->ops and the list. */
void lab_record_list_init(struct lab_record_list *list,
                          const struct lab_fields *fields, int kind);
/* The same columns in another order of importance. */
void lab_record_list_turn(struct lab_record_list *list, int kind);
/* The column that shows `show`, the first of them; -1: none. */
int lab_record_list_column(const struct lab_record_list *list,
                           enum lab_field_show show);
/* The one of this title; -1: none, also of NULL. */
int lab_record_list_titled(const struct lab_record_list *list,
                           const char *title);
/* Bars of `count` rows fill their column where the value is the largest. */
void lab_record_list_scale(struct lab_record_list *list, int64_t count);
/* What lab_table_ops.cell does, for lists that add to it. */
void lab_record_cell(const void *list, int64_t row, int column, char *out,
                     size_t cap, enum lab_role *role);
