/* Records by their table of columns: SQL that reads and adds rows, and the
 * values for those who print, export or sort them. */
#include "store/row_fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "row.h"

static const void *member(const void *row, const struct lab_field *f)
{
    return (const char *)row + f->at;
}

static void add_columns(struct lab_str *sql, const struct lab_fields *fields)
{
    bool first = true;
    for (int i = 0; i < fields->count; i++) {
        const char *column = fields->list[i].column;
        if (column)
            lab_str_addf(sql, "%s%s", first ? "" : ", ", column);
        first = first && !column;
    }
}

void lab_fields_select(struct lab_str *sql, const struct lab_fields *fields)
{
    lab_str_add(sql, "SELECT ");
    add_columns(sql, fields);
}

/* ---- adding ---- */

struct lab_stmt lab_fields_insert(struct lab_database *db,
                                  const struct lab_fields *fields,
                                  const char *more)
{
    struct lab_str sql;
    int commas = 0;
    lab_str_init(&sql);
    lab_str_addf(&sql, "INSERT INTO %s (", fields->table);
    add_columns(&sql, fields);
    lab_str_add(&sql, more);
    for (const char *p = lab_str_text(&sql); *p; p++)
        commas += *p == ',';
    lab_str_add(&sql, ") VALUES (?");
    while (commas-- > 0)
        lab_str_add(&sql, ", ?");
    lab_str_add(&sql, ")");
    return lab_stmt_built(db, &sql);
}

int lab_fields_bind(struct lab_stmt *s, const struct lab_fields *fields,
                    const void *row)
{
    int n = 1;
    for (int i = 0; i < fields->count; i++) {
        const struct lab_field *f = &fields->list[i];
        const void *m = member(row, f);
        if (!f->column)
            continue;
        switch (f->kind) {
        case LAB_FIELD_TEXT:
            lab_bind_text(s->sql, n++, *(const char *const *)m);
            break;
        case LAB_FIELD_REAL:
        case LAB_FIELD_NS:
            lab_bind_real(s->sql, n++, *(const double *)m);
            break;
        case LAB_FIELD_DIMS:
            for (int d = 0; d < 3; d++)
                lab_bind_int(s->sql, n++, ((const int64_t *)m)[d]);
            break;
        default: /* the bits of an unsigned one */
            lab_bind_int(s->sql, n++, *(const int64_t *)m);
        }
    }
    return n;
}

enum lab_status lab_fields_add(struct lab_database *db, int64_t run,
                               const struct lab_fields *fields, const void *row)
{
    const bool of_run = run != LAB_UNKNOWN;
    enum lab_status st = of_run ? lab_query_require_run(db, run) : LAB_OK;
    if (st)
        return st;
    struct lab_stmt s = lab_fields_insert(db, fields, of_run ? ", runId" : "");
    int n = lab_fields_bind(&s, fields, row);
    if (of_run)
        sqlite3_bind_int64(s.sql, n, run);
    return lab_stmt_once(&s, "storing a row");
}

/* ---- reading ---- */

void lab_fields_take(struct lab_stmt *s, const struct lab_fields *fields,
                     void *row)
{
    for (int i = 0; i < fields->count; i++) {
        void *m = (char *)row + fields->list[i].at;
        if (!fields->list[i].column)
            continue;
        switch (fields->list[i].kind) {
        case LAB_FIELD_TEXT:
            *(const char **)m = lab_column_text(s);
            break;
        case LAB_FIELD_REAL:
        case LAB_FIELD_NS:
            *(double *)m = lab_column_real(s);
            break;
        case LAB_FIELD_DIMS:
            for (int d = 0; d < 3; d++)
                ((int64_t *)m)[d] = lab_column_int(s);
            break;
        case LAB_FIELD_UINT:
            *(uint64_t *)m = (uint64_t)lab_column_int(s);
            break;
        default:
            *(int64_t *)m = lab_column_int(s);
        }
    }
}

static enum lab_status select_from(struct lab_database *db, const int64_t *run,
                                   const struct lab_fields *fields,
                                   const char *from, lab_fields_row_fn *each,
                                   void *user)
{
    struct lab_str sql;
    void *row = lab_alloc(fields->row_bytes);
    if (!row)
        return lab_no_memory("a row");
    lab_str_init(&sql);
    lab_fields_select(&sql, fields);
    lab_str_addf(&sql, " FROM %s", from);
    struct lab_stmt s = lab_stmt_built(db, &sql);
    if (run)
        sqlite3_bind_int64(s.sql, 1, *run);
    for (bool more = true; more && lab_stmt_next(&s);) {
        lab_fields_take(&s, fields, row);
        more = each(user, row);
    }
    lab_free(row);
    return lab_stmt_end(&s);
}

enum lab_status lab_fields_read(struct lab_database *db, int64_t run,
                                const struct lab_fields *fields,
                                lab_fields_row_fn *each, void *user)
{
    char from[128];
    snprintf(from, sizeof(from), "%s WHERE runId = ?1 ORDER BY %s",
             fields->table, fields->order);
    enum lab_status st = lab_query_require_run(db, run);
    return st ? st : select_from(db, &run, fields, from, each, user);
}

enum lab_status lab_fields_read_from(struct lab_database *db,
                                     const struct lab_fields *fields,
                                     const char *from, lab_fields_row_fn *each,
                                     void *user)
{
    return select_from(db, NULL, fields, from, each, user);
}

void lab_fields_clear(const struct lab_fields *fields, void *row)
{
    for (int i = 0; i < fields->count; i++) {
        void *m = (char *)row + fields->list[i].at;
        switch (fields->list[i].kind) {
        case LAB_FIELD_TEXT:
            *(const char **)m = NULL;
            break;
        case LAB_FIELD_REAL:
        case LAB_FIELD_NS:
            *(double *)m = (double)NAN;
            break;
        case LAB_FIELD_BOOL:
            *(bool *)m = false;
            break;
        case LAB_FIELD_DIMS:
            for (int d = 0; d < 3; d++)
                ((int64_t *)m)[d] = LAB_UNKNOWN;
            break;
        default:
            *(int64_t *)m = LAB_UNKNOWN;
        }
    }
}

/* ---- values ---- */

double lab_field_real(const struct lab_field *f, const void *row)
{
    const void *m = member(row, f);
    if (f->real)
        return f->real(row);
    if (f->text)
        return (double)NAN;
    switch (f->kind) {
    case LAB_FIELD_INT:
        return lab_to_real(*(const int64_t *)m);
    case LAB_FIELD_NS:
        return trunc(*(const double *)m);
    case LAB_FIELD_REAL:
        return *(const double *)m;
    default:
        return (double)NAN;
    }
}

const char *lab_field_text(const struct lab_field *f, const void *row,
                           char *out, size_t cap)
{
    if (f->text)
        return f->text(row, out, cap);
    return f->kind == LAB_FIELD_TEXT ? *(const char *const *)member(row, f)
                                     : NULL;
}

const struct lab_field *lab_field_at(const struct lab_fields *fields, int place)
{
    for (int i = 0; i < fields->count; i++)
        if (fields->list[i].place == place)
            return &fields->list[i];
    return NULL;
}

/* ---- names ---- */

void lab_field_key(struct lab_str *out, const struct lab_field *f, bool csv)
{
    if (csv && f->csv)
        lab_str_add(out, f->csv);
    else if (f->key)
        lab_str_add(out, f->key);
    else if (f->column)
        lab_field_name(out, f->column);
}

void lab_field_name(struct lab_str *out, const char *column)
{
    for (const char *p = column; *p; p++) {
        bool turn = p > column && *p >= 'A' && *p <= 'Z' && p[-1] >= 'a' &&
                    p[-1] <= 'z';
        if (turn)
            lab_str_add_char(out, '_');
        lab_str_add_char(out, turn ? (char)(*p - 'A' + 'a') : *p);
    }
}
