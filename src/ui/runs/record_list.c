/* record_list.c -- cells and order of a list of records on the screen: runs,
 * steps, kernels, a comparison, the points of a roofline, each by its own table
 * of columns. */
#include "record_list.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "store/launch.h"
#include "ui/layout.h"

static const void *record_at(const struct lab_record_list *list, int64_t row)
{
    int64_t at = list->shown ? list->shown[row] : row;
    return (const char *)list->rows + (size_t)at * list->fields->row_bytes;
}

static const int64_t *dims(const struct lab_field *f, const void *row)
{
    return (const int64_t *)(const void *)((const char *)row + f->at);
}

static double value(const struct lab_field *f, const void *row)
{
    if (f->kind == LAB_FIELD_DIMS)
        return lab_to_real(lab_launch_size(dims(f, row)));
    return lab_field_real(f, row);
}

static void put_number(const struct lab_field *f, double v, char *out,
                       size_t cap)
{
    switch (f->show) {
    case LAB_SHOW_NS:
        lab_format_ns(v, out, cap);
        break;
    case LAB_SHOW_BYTES:
        lab_format_bytes(v, out, cap);
        break;
    case LAB_SHOW_PCT:
        lab_format_share(v / 100, out, cap);
        break;
    case LAB_SHOW_SHARE:
    case LAB_SHOW_BAR:
        lab_format_share(v, out, cap);
        break;
    case LAB_SHOW_DELTA: /* the bar is all of it */
        out[0] = '\0';
        break;
    case LAB_SHOW_FLOP:
        lab_format_flop(v, out, cap);
        break;
    case LAB_SHOW_FLOP_S:
        lab_format_amount(v, "FLOP/s", out, cap);
        break;
    case LAB_SHOW_BYTES_S:
        lab_format_amount(v, "B/s", out, cap);
        break;
    default:
        if (isnan(v))
            snprintf(out, cap, LAB_NA);
        else if (f->show == LAB_SHOW_NUMBER)
            snprintf(out, cap, "%.0f", v);
        else if (f->show == LAB_SHOW_RATIO ||
                 (f->show == LAB_SHOW_WHOLE && fabs(v) < 999.5))
            snprintf(out, cap, "%.3g", v);
        else if (f->kind == LAB_FIELD_INT || f->show == LAB_SHOW_WHOLE)
            lab_format_int((int64_t)llround(v), out, cap);
        else
            lab_format_value(v, 8, out, cap);
    }
}

/* A run that was left is no fault: only one that failed alarms. */
static enum lab_role role_of(const char *verdict)
{
    static const struct {
        const char *word;
        enum lab_role role;
    } roles[] = {{"failed", LAB_ROLE_BAD},
                 {"running", LAB_ROLE_GOOD},
                 {"slower", LAB_ROLE_WARN},
                 {"faster", LAB_ROLE_GOOD}};
    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
        if (strcmp(verdict, roles[i].word) == 0)
            return roles[i].role;
    return LAB_ROLE_NORMAL;
}

void lab_record_cell(const void *user, int64_t row, int column, char *out,
                     size_t cap, enum lab_role *role)
{
    const struct lab_record_list *list = user;
    const struct lab_field *f = list->field[column];
    const void *record = record_at(list, row);
    char buffer[LAB_TABLE_CELL_BYTES];
    if (f->text || f->kind == LAB_FIELD_TEXT) {
        const char *text = lab_field_text(f, record, buffer, sizeof(buffer));
        snprintf(out, cap, "%s", text ? text : LAB_NA);
    } else if (f->kind == LAB_FIELD_DIMS) {
        lab_format_dims(dims(f, record), out, cap);
    } else {
        put_number(f, value(f, record), out, cap);
    }
    if (strcmp(out, LAB_NA) == 0 || strcmp(out, "-") == 0)
        *role = LAB_ROLE_DIM;
    else if (f->show == LAB_SHOW_VERDICT)
        *role = role_of(out);
    if (*role == LAB_ROLE_NORMAL && list->faint &&
        list->faint(list->color_user, record))
        *role = LAB_ROLE_DIM;
}

static bool bar(const void *user, int64_t row, int column,
                struct lab_table_bar *out)
{
    const struct lab_record_list *list = user;
    const struct lab_field *f = list->field[column];
    const void *record = record_at(list, row);
    if (f->show != LAB_SHOW_BAR && f->show != LAB_SHOW_DELTA)
        return false;
    *out = (struct lab_table_bar){.share = value(f, record) / list->longest,
                                  .sides = f->show == LAB_SHOW_DELTA,
                                  .role = LAB_ROLE_SERIES_1};
    if (list->color)
        out->role = list->color(list->color_user, record, &out->letter);
    return true;
}

int lab_record_list_column(const struct lab_record_list *list,
                           enum lab_field_show show)
{
    for (int i = 0; i < list->ops.column_count; i++)
        if (list->field[i]->show == show)
            return i;
    return -1;
}

int lab_record_list_titled(const struct lab_record_list *list,
                           const char *title)
{
    for (int i = 0; title && i < list->ops.column_count; i++)
        if (strcmp(list->column[i].title, title) == 0)
            return i;
    return -1;
}

void lab_record_list_scale(struct lab_record_list *list, int64_t count)
{
    int column = lab_record_list_column(list, LAB_SHOW_BAR);
    if (column < 0)
        column = lab_record_list_column(list, LAB_SHOW_DELTA);
    list->longest = 0;
    for (int64_t i = 0; i < count && column >= 0; i++) {
        double v = fabs(value(list->field[column], record_at(list, i)));
        list->longest = v > list->longest ? v : list->longest;
    }
}

static int compare(const void *user, int64_t a, int64_t b, int column,
                   bool turned)
{
    const struct lab_record_list *list = user;
    const struct lab_field *f = list->field[column];
    const void *p = record_at(list, a);
    const void *q = record_at(list, b);
    char s[LAB_TABLE_CELL_BYTES];
    char t[LAB_TABLE_CELL_BYTES];
    if (f->list.as_given)
        return (a > b) - (a < b);
    if (f->real || (!f->text && f->kind != LAB_FIELD_TEXT))
        return lab_table_compare_double(value(f, p), value(f, q), turned);
    const char *left = lab_field_text(f, p, s, sizeof(s));
    const char *right = lab_field_text(f, q, t, sizeof(t));
    return strcasecmp(left ? left : "", right ? right : "");
}

_Static_assert((int)LAB_FIELD_ABSENT == (int)LAB_SHARE_ABSENT,
               "a column that is not in a list");

void lab_record_list_turn(struct lab_record_list *list, int kind)
{
    for (int i = 0; i < list->ops.column_count; i++)
        list->column[i].drop = list->field[i]->list.drop[kind];
}

void lab_record_list_init(struct lab_record_list *list,
                          const struct lab_fields *fields, int kind)
{
    *list = (struct lab_record_list){.fields = fields};
    list->ops = (struct lab_table_ops){.columns = list->column,
                                       .cell = lab_record_cell,
                                       .bar = bar,
                                       .compare = compare};
    for (int i = 0; i < fields->count; i++) {
        const struct lab_field_list *l = &fields->list[i].list;
        if (l->place == 0)
            continue;
        bool right = l->title[0] == '>';
        list->field[l->place - 1] = &fields->list[i];
        list->column[l->place - 1] =
            (struct lab_table_column){.title = l->title + right,
                                      .least = l->least,
                                      .weight = l->weight,
                                      .right = right,
                                      .turned = l->largest_first};
        if (l->place > list->ops.column_count)
            list->ops.column_count = l->place;
    }
    lab_record_list_turn(list, kind);
}
