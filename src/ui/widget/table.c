/* table.c -- a list of rows with columns: moving, sorting, searching.
 *
 * A widget: the rows stay with the caller; its functions (struct lab_table_ops)
 * give the text of a cell and compare two rows; the table keeps the order, the
 * filter, the cursor and the widths. Every list on a screen is one. */
#include "ui/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "trace/record.h"
#include "ui/chart.h"
#include "ui/keymap.h"

void lab_table_init(struct lab_table *t, const struct lab_table_ops *ops,
                    const void *user)
{
    *t = (struct lab_table){.ops = ops, .user = user, .sort = -1};
}

void lab_table_release(struct lab_table *t)
{
    lab_free(t->order);
    t->order = NULL;
    t->rows = t->count = 0;
}

static void cell_text(const struct lab_table *t, int64_t row, int column,
                      char out[LAB_TABLE_CELL_BYTES], enum lab_role *role)
{
    char raw[LAB_TABLE_CELL_BYTES] = "";
    t->ops->cell(t->user, row, column, raw, sizeof(raw), role);
    lab_visible_copy(out, LAB_TABLE_CELL_BYTES, raw);
}

int lab_table_compare_double(double a, double b, bool turned)
{
    if (isnan(a) || isnan(b)) {
        int order = isnan(a) - isnan(b);
        return turned ? -order : order;
    }
    return (a > b) - (a < b);
}

int lab_table_compare_int(int64_t a, int64_t b, bool turned)
{
    if (a == LAB_UNKNOWN || b == LAB_UNKNOWN) {
        int order = (a == LAB_UNKNOWN) - (b == LAB_UNKNOWN);
        return turned ? -order : order;
    }
    return (a > b) - (a < b);
}

/* For qsort_r(). */
static int compare_rows(const void *row_a, const void *row_b, void *table)
{
    const struct lab_table *t = table;
    int64_t a = *(const int64_t *)row_a;
    int64_t b = *(const int64_t *)row_b;
    int given = (a > b) - (a < b);
    int order = given;
    if (t->sort >= 0 && t->ops->compare) {
        order = t->ops->compare(t->user, a, b, t->sort, t->turned);
    } else if (t->sort >= 0) {
        char one[LAB_TABLE_CELL_BYTES];
        char two[LAB_TABLE_CELL_BYTES];
        enum lab_role role = LAB_ROLE_NORMAL;
        cell_text(t, a, t->sort, one, &role);
        cell_text(t, b, t->sort, two, &role);
        order = strcasecmp(one, two);
    }
    if (t->turned)
        order = -order;
    return order ? order : given;
}

static void scroll(struct lab_table *t)
{
    int64_t h = t->view_h > 0 ? t->view_h : 1;
    if (t->cursor >= t->count)
        t->cursor = t->count - 1;
    if (t->cursor < 0)
        t->cursor = 0;
    if (t->top > t->count - h)
        t->top = t->count - h;
    if (t->cursor < t->top)
        t->top = t->cursor;
    if (t->cursor >= t->top + h)
        t->top = t->cursor - h + 1;
    if (t->top < 0)
        t->top = 0;
}

static bool cells_have(const struct lab_table *t, int64_t row, const char *word,
                       size_t bytes)
{
    char text[LAB_TABLE_CELL_BYTES];
    char one[sizeof(t->filter)];
    snprintf(one, sizeof(one), "%.*s", (int)bytes, word);
    for (int i = 0; i < t->ops->column_count; i++) {
        enum lab_role role = LAB_ROLE_NORMAL;
        cell_text(t, row, i, text, &role);
        if (strcasestr(text, one))
            return true;
    }
    return false;
}

static bool is_shown(const struct lab_table *t, int64_t row)
{
    bool given = t->sort < 0 && !t->turned && !t->filter[0];
    if (t->ops->hidden && t->ops->hidden(t->user, row, given))
        return false;
    for (const char *word = t->filter; *word;) {
        size_t n = strcspn(word, " ");
        if (n > 0 && !cells_have(t, row, word, n))
            return false;
        word += n;
        word += strspn(word, " ");
    }
    return true;
}

static void resort(struct lab_table *t)
{
    t->count = 0;
    for (int64_t i = 0; i < t->rows; i++)
        if (is_shown(t, i))
            t->order[t->count++] = i;
    if (t->count > 1 && (t->sort >= 0 || t->turned))
        qsort_r(t->order, (size_t)t->count, sizeof(*t->order), compare_rows, t);
}

enum lab_status lab_table_set_count(struct lab_table *t, int64_t count)
{
    int64_t *order = lab_realloc_array(t->order, (size_t)count, sizeof(*order));
    if (!order)
        return lab_fail(LAB_E_NOMEM, "a list of %lld rows", (long long)count);
    t->order = order;
    t->rows = count;
    resort(t);
    scroll(t);
    return LAB_OK;
}

void lab_table_renew(struct lab_table *t)
{
    if (t->count > 0)
        t->kept = lab_table_row(t);
    resort(t);
    t->cursor = 0;
    lab_table_select(t, t->kept);
}

void lab_table_filter(struct lab_table *t, const char *text)
{
    snprintf(t->filter, sizeof(t->filter), "%s", text);
    lab_table_renew(t);
}

int64_t lab_table_row(const struct lab_table *t)
{
    return t->count > 0 ? t->order[t->cursor] : -1;
}

void lab_table_select(struct lab_table *t, int64_t row)
{
    for (int64_t i = 0; i < t->count; i++)
        if (t->order[i] == row)
            t->cursor = i;
    scroll(t);
}

void lab_table_sort(struct lab_table *t, int column, bool turned)
{
    int64_t row = lab_table_row(t);
    t->sort = column < t->ops->column_count ? column : -1;
    t->turned = turned;
    resort(t);
    if (row >= 0)
        lab_table_select(t, row);
}

static void widths_of(const struct lab_table *t, int w, int *out)
{
    struct lab_share parts[LAB_TABLE_COLUMNS];
    int n = t->ops->column_count;
    for (int i = 0; i < n; i++)
        parts[i] = (struct lab_share){t->ops->columns[i].least + 1,
                                      t->ops->columns[i].weight,
                                      t->ops->columns[i].drop};
    lab_layout_share(w - 1, parts, n, out);
}

/* The next column in sight. */
static void sort_next(struct lab_table *t)
{
    int widths[LAB_TABLE_COLUMNS];
    int column = t->sort;
    widths_of(t, t->view.w, widths);
    do
        column++;
    while (column < t->ops->column_count && widths[column] == 0);
    if (column >= t->ops->column_count)
        lab_table_sort(t, -1, false);
    else
        lab_table_sort(t, column, t->ops->columns[column].turned);
}

bool lab_table_action(struct lab_table *t, int action)
{
    int64_t to = lab_action_move(action, t->cursor, t->count, t->view_h);
    if (action == LAB_ACT_SORT)
        sort_next(t);
    else if (action == LAB_ACT_SORT_TURN)
        lab_table_sort(t, t->sort, !t->turned);
    else if (to < 0)
        return false;
    else
        t->cursor = to;
    scroll(t);
    return true;
}

static bool row_has(const struct lab_table *t, int64_t row)
{
    char text[LAB_TABLE_CELL_BYTES];
    for (int i = 0; i < t->ops->column_count; i++) {
        enum lab_role role = LAB_ROLE_NORMAL;
        cell_text(t, row, i, text, &role);
        if (strcasestr(text, t->search))
            return true;
    }
    return false;
}

bool lab_table_search(struct lab_table *t, const char *text, int dir)
{
    if (text[0])
        snprintf(t->search, sizeof(t->search), "%s", text);
    if (!t->search[0])
        return false;
    const int first = text[0] ? 0 : 1; /* again: from the next row on */
    for (int64_t k = first; k < t->count + first; k++) {
        int64_t at = ((t->cursor + dir * k) % t->count + t->count) % t->count;
        if (!row_has(t, t->order[at]))
            continue;
        t->cursor = at;
        scroll(t);
        return true;
    }
    return false;
}

static void draw_cell(struct lab_canvas *c, int y, int x, int w, bool right,
                      enum lab_role role, const char *text)
{
    int columns = lab_canvas_columns(c, text);
    if (right && columns < w)
        x += w - columns;
    lab_canvas_text_cut(c, y, x, w, role, text);
}

/* "F███▌     31.2 %": the text has the room of a share or a time. */
static void draw_bar(struct lab_canvas *c, int y, int x, int w,
                     const struct lab_table_bar *bar)
{
    if (bar->letter && w > 0) {
        lab_canvas_textf(c, y, x++, 1, bar->role, "%c", bar->letter);
        w--;
    }
    lab_bar_draw(c, y, x, w, bar->share, bar->sides ? -1 : 0, 1, bar->role);
}

static void draw_heading(struct lab_table *t, struct lab_canvas *c,
                         const int *widths)
{
    int x = t->view.x + 1;
    for (int i = 0; i < t->ops->column_count; i++) {
        const struct lab_table_column *column = &t->ops->columns[i];
        char text[64];
        const char *mark = i != t->sort ? "" : t->turned ? "▼" : "▲";
        snprintf(text, sizeof(text), "%s%s", column->title, mark);
        if (widths[i] > 1)
            draw_cell(c, t->view.y, x, widths[i] - 1, column->right,
                      LAB_ROLE_HEADING, text);
        x += widths[i];
    }
}

/* A text at the left goes on over the column behind it, where that is empty. */
static int room_of(const struct lab_table *t, int64_t row, int column,
                   const int *widths)
{
    char text[LAB_TABLE_CELL_BYTES] = "";
    enum lab_role role;
    int next = column + 1;
    if (t->ops->columns[column].right || next == t->ops->column_count)
        return widths[column] - 1;
    cell_text(t, row, next, text, &role);
    return widths[column] - 1 + (text[0] ? 0 : widths[next]);
}

static void draw_row(struct lab_table *t, struct lab_canvas *c, int y,
                     int64_t place, const int *widths, bool focused)
{
    enum { BAR_TEXT = 7 }; /* "12.3 %", or its blank */
    bool here = place == t->cursor;
    struct lab_table_bar bar;
    struct lab_rect line = {y, t->view.x, 1, t->view.w};
    int x = t->view.x + 1;
    for (int i = 0; i < t->ops->column_count; i++) {
        char text[LAB_TABLE_CELL_BYTES] = "";
        enum lab_role role = LAB_ROLE_NORMAL;
        if (widths[i] > 1) {
            cell_text(t, t->order[place], i, text, &role);
            draw_cell(c, y, x, room_of(t, t->order[place], i, widths),
                      t->ops->columns[i].right, role, text);
        }
        if (widths[i] > 1 && t->ops->bar &&
            t->ops->bar(t->user, t->order[place], i, &bar))
            draw_bar(c, y, x, widths[i] - 1 - (text[0] ? BAR_TEXT : 0), &bar);
        x += widths[i];
    }
    if (here && focused) {
        lab_canvas_paint(c, line, LAB_ROLE_SELECTED);
        lab_canvas_focus(c, y, t->view.x);
    }
    if (here)
        lab_canvas_text(c, y, t->view.x, 1,
                        focused ? LAB_ROLE_SELECTED : LAB_ROLE_KEY, ">");
}

/* There are rows beyond this one: at the right, or where a letter would be read as
 * the text's at the left. */
static void mark_hidden(const struct lab_table *t, struct lab_canvas *c,
                        int64_t place, const char *mark)
{
    bool left = c->ascii && place != t->cursor;
    lab_canvas_text(c, t->view.y + 1 + (int)(place - t->top),
                    left ? t->view.x : t->view.x + t->view.w - 1, 1,
                    LAB_ROLE_KEY, mark);
}

void lab_table_draw(struct lab_table *t, struct lab_canvas *c,
                    struct lab_rect r, bool focused)
{
    int widths[LAB_TABLE_COLUMNS];
    t->view = r;
    t->view_h = r.h - 1;
    scroll(t);
    if (lab_rect_empty(r))
        return;
    struct lab_rect old = lab_canvas_clip(c, r);
    widths_of(t, r.w, widths);
    draw_heading(t, c, widths);
    for (int i = 0; i < t->view_h && t->top + i < t->count; i++)
        draw_row(t, c, r.y + 1 + i, t->top + i, widths, focused);
    if (t->top > 0)
        mark_hidden(t, c, t->top, "▲");
    if (t->view_h > 0 && t->top + t->view_h < t->count)
        mark_hidden(t, c, t->top + t->view_h - 1, "▼");
    struct lab_rect rest = {r.y + 1, r.x + 1, r.h - 1, r.w - 1};
    if (t->count == 0 && t->empty)
        lab_canvas_paragraph(c, rest, LAB_ROLE_DIM, t->empty);
    lab_canvas_unclip(c, old);
}

int64_t lab_table_click(struct lab_table *t, int y, int x)
{
    int widths[LAB_TABLE_COLUMNS];
    int at = t->view.x + 1;
    if (!lab_rect_has(t->view, y, x))
        return -1;
    if (y > t->view.y) {
        int64_t place = t->top + y - t->view.y - 1;
        if (place >= t->count)
            return -1;
        t->cursor = place;
        return t->order[place];
    }
    widths_of(t, t->view.w, widths);
    for (int i = 0; i < t->ops->column_count; at += widths[i++])
        if (x >= at && x < at + widths[i])
            lab_table_sort(
                t, i, t->sort == i ? !t->turned : t->ops->columns[i].turned);
    return -1;
}
