#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "run_columns.h"
#include "base/format.h"

static const struct lab_table_column COMPARE_TABLE[LAB_COMPARE_COLUMNS] = {
    [LAB_COMPARE_LEVEL] = {"level", 9, 0, 13, false, false},
    [LAB_COMPARE_PHASE] = {"phase", 8, 0, 4, false, false},
    [LAB_COMPARE_NAME] = {"what", 14, 4, 0, false, false},
    [LAB_COMPARE_MEDIAN] = {"run", 8, 0, 3, true, true},
    [LAB_COMPARE_OTHER] = {"run", 8, 0, 2, true, true},
    [LAB_COMPARE_DIFFERENCE] = {"difference", 11, 0, 0, true, true},
    [LAB_COMPARE_SPEED_UP] = {"x", 6, 0, 1, true, true},
    [LAB_COMPARE_P] = {"p", 6, 0, 5, true, false},
    [LAB_COMPARE_VERDICT] = {"verdict", 9, 0, 0, false, false},
    [LAB_COMPARE_COUNT] = {"n", 7, 0, 8, true, true},
    [LAB_COMPARE_OTHER_COUNT] = {"n", 7, 0, 7, true, true},
    [LAB_COMPARE_MAD] = {"MAD", 9, 0, 10, true, true},
    [LAB_COMPARE_OTHER_MAD] = {"MAD", 9, 0, 9, true, true},
    [LAB_COMPARE_RATE] = {"FLOP/s", 12, 0, 12, true, true},
    [LAB_COMPARE_OTHER_RATE] = {"FLOP/s", 12, 0, 11, true, true},
};

static void put_difference(double ns, char *out, size_t cap)
{
    char text[LAB_FORMAT_BYTES];
    lab_format_ns(fabs(ns), text, sizeof(text));
    snprintf(out, cap, "%s%s", isnan(ns) ? "" : ns < 0 ? "-" : "+", text);
}

static void put_p(double p, char *out, size_t cap)
{
    if (isnan(p))
        snprintf(out, cap, LAB_NA);
    else if (p < 0.001)
        snprintf(out, cap, "<0.001");
    else
        snprintf(out, cap, "%.3f", p);
}

static void put_name(const struct lab_ui_compare_row *r, char *out, size_t cap)
{
    bool kernel = strcmp(r->level, "kernel") == 0;
    if (kernel && r->name[0])
        snprintf(out, cap, "%s, %s", r->kernel, r->name);
    else
        snprintf(out, cap, "%s", kernel ? r->kernel : r->name);
}

static void put_side(const struct lab_ui_compare_row *r, int side, int column,
                     char *out, size_t cap)
{
    if (!r->there[side]) {
        snprintf(out, cap, "-");
        return;
    }
    switch (column) {
    case LAB_COMPARE_MEDIAN:
        lab_format_ns(r->median_ns[side], out, cap);
        break;
    case LAB_COMPARE_COUNT:
        lab_format_int(r->count[side], out, cap);
        break;
    case LAB_COMPARE_MAD:
        lab_format_ns(r->mad_ns[side], out, cap);
        break;
    default:
        lab_format_flops(r->flop[side], r->median_ns[side], out, cap);
    }
}

static bool in_one_run(const struct lab_ui_compare_row *r)
{
    return r->there[0] != r->there[1] && strcmp(r->level, "wall") != 0;
}

static void put_verdict(const struct lab_compare_list *list,
                        const struct lab_ui_compare_row *r, char *out,
                        size_t cap, enum lab_role *role)
{
    if (in_one_run(r))
        snprintf(out, cap, "only %" PRId64, list->run[r->there[1]]);
    else
        snprintf(out, cap, "%s", r->verdict);
    if (strcmp(r->verdict, "slower") == 0)
        *role = LAB_ROLE_WARN;
    else if (strcmp(r->verdict, "faster") == 0)
        *role = LAB_ROLE_GOOD;
}

static void compare_cell(const void *user, int64_t row, int column, char *out,
                         size_t cap, enum lab_role *role)
{
    const struct lab_compare_list *list = user;
    const struct lab_ui_compare_row *r = &list->rows[list->shown[row]];
    switch (column) {
    case LAB_COMPARE_LEVEL:
        snprintf(out, cap, "%s", r->level);
        break;
    case LAB_COMPARE_PHASE:
        snprintf(out, cap, "%s", r->phase);
        break;
    case LAB_COMPARE_NAME:
        put_name(r, out, cap);
        break;
    case LAB_COMPARE_DIFFERENCE:
        put_difference(r->difference_ns, out, cap);
        break;
    case LAB_COMPARE_SPEED_UP:
        snprintf(out, cap, isnan(r->speed_up) ? LAB_NA : "%.2f", r->speed_up);
        break;
    case LAB_COMPARE_P:
        put_p(r->p, out, cap);
        break;
    case LAB_COMPARE_VERDICT:
        put_verdict(list, r, out, cap, role);
        break;
    case LAB_COMPARE_OTHER:
    case LAB_COMPARE_OTHER_COUNT:
    case LAB_COMPARE_OTHER_MAD:
    case LAB_COMPARE_OTHER_RATE:
        put_side(r, 1,
                 column == LAB_COMPARE_OTHER ? LAB_COMPARE_MEDIAN : column - 1,
                 out, cap);
        break;
    default:
        put_side(r, 0, column, out, cap);
    }
    if (strcmp(out, LAB_NA) == 0 || strcmp(out, "-") == 0)
        *role = LAB_ROLE_DIM;
}

/* NaN: unknown. */
static double number(const struct lab_ui_compare_row *r, int column)
{
    switch (column) {
    case LAB_COMPARE_MEDIAN:
        return r->median_ns[0];
    case LAB_COMPARE_OTHER:
        return r->median_ns[1];
    case LAB_COMPARE_DIFFERENCE:
        /* What one run alone has is different by all of its time. */
        if (r->there[0] != r->there[1])
            return r->median_ns[r->there[1]];
        return fabs(r->difference_ns);
    case LAB_COMPARE_SPEED_UP:
        return r->speed_up;
    case LAB_COMPARE_P:
        return r->p;
    case LAB_COMPARE_COUNT:
        return r->there[0] ? (double)r->count[0] : (double)NAN;
    case LAB_COMPARE_OTHER_COUNT:
        return r->there[1] ? (double)r->count[1] : (double)NAN;
    case LAB_COMPARE_MAD:
        return r->mad_ns[0];
    case LAB_COMPARE_OTHER_MAD:
        return r->mad_ns[1];
    case LAB_COMPARE_RATE:
        return r->flop[0] / r->median_ns[0];
    default:
        return r->flop[1] / r->median_ns[1];
    }
}

static int compare_compare(const void *user, int64_t a, int64_t b, int column,
                           bool turned)
{
    const struct lab_compare_list *list = user;
    const struct lab_ui_compare_row *p = &list->rows[list->shown[a]];
    const struct lab_ui_compare_row *q = &list->rows[list->shown[b]];
    char s[LAB_TABLE_CELL_BYTES];
    char t[LAB_TABLE_CELL_BYTES];
    switch (column) {
    case LAB_COMPARE_LEVEL:
    case LAB_COMPARE_PHASE: /* as they run: rows come in that order */
        return lab_table_compare_int(list->shown[a], list->shown[b], turned);
    case LAB_COMPARE_NAME:
        put_name(p, s, sizeof(s));
        put_name(q, t, sizeof(t));
        return strcasecmp(s, t);
    case LAB_COMPARE_VERDICT:
        return strcmp(p->verdict, q->verdict);
    default:
        return lab_table_compare_double(number(p, column), number(q, column),
                                        turned);
    }
}

void lab_compare_columns(struct lab_compare_columns *out, const int64_t run[2])
{
    out->ops = (struct lab_table_ops){out->column, LAB_COMPARE_COLUMNS,
                                      compare_cell, compare_compare};
    memcpy(out->column, COMPARE_TABLE, sizeof(COMPARE_TABLE));
    for (int i = 0; i < LAB_COMPARE_COLUMNS; i++) {
        bool median = i == LAB_COMPARE_MEDIAN || i == LAB_COMPARE_OTHER;
        int pair = i >= LAB_COMPARE_COUNT ? i - LAB_COMPARE_COUNT
                                          : i - LAB_COMPARE_MEDIAN;
        if (!median && i < LAB_COMPARE_COUNT)
            continue;
        snprintf(out->title[i], sizeof(out->title[i]), "%s %" PRId64,
                 COMPARE_TABLE[i].title, run[pair % 2]);
        out->column[i].title = out->title[i];
    }
}
