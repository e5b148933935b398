/* pager.c -- a window on a document: wrapping, moving, searching.
 *
 * A widget over a lab_doc of its caller: it keeps the wrapped rows for the
 * width that was drawn last, the top row and the text that is searched for.
 * Lessons, help and the facts of a run are read in it. */
#include "ui/pager.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

enum { COLUMN_GAP = 3 }; /* between two columns of text */

void lab_pager_init(struct lab_pager *p, const struct lab_doc *doc)
{
    *p = (struct lab_pager){
        .doc = doc, .width = -1, .match = SIZE_MAX, .chosen = SIZE_MAX};
}

void lab_pager_release(struct lab_pager *p)
{
    lab_free(p->rows);
    lab_pager_init(p, NULL);
}

void lab_pager_show(struct lab_pager *p, const struct lab_doc *doc)
{
    p->doc = doc;
    p->width = -1;
    p->row_count = 0;
    p->top = 0;
    p->top_byte = 0;
    p->left = 0;
    p->match = SIZE_MAX;
}

void lab_pager_renew(struct lab_pager *p)
{
    p->width = -1;
    p->renewed = true;
}

size_t lab_pager_para(const struct lab_pager *p, int row)
{
    size_t at = p->top + (size_t)(row < 0 ? 0 : row);
    return row >= 0 && at < p->row_count ? p->rows[at].para : SIZE_MAX;
}

static bool add_row(struct lab_pager *p, struct lab_pager_row row)
{
    if (lab_grow(&p->rows, p->row_count, &p->row_cap, sizeof(*p->rows),
                 "the rows"))
        return false;
    p->rows[p->row_count++] = row;
    return true;
}

static bool wrap_para(struct lab_pager *p, size_t at)
{
    const struct lab_doc_para *para = &p->doc->paras[at];
    size_t from = para->start;
    int indent = para->indent;
    int width = p->width - (p->upright ? 2 : 0);
    do {
        if (width - indent < 8)
            indent = 0; /* no room for the indent: the text matters more */
        int room = width - indent < 1 ? 1 : width - indent;
        int keep = from == para->start ? para->hang - indent : 0;
        size_t end = para->end;
        if (para->wrap)
            end = from + lab_wrap_row(lab_str_text(&p->doc->text) + from,
                                      end - from, room, keep, p->ascii);
        if (!add_row(p, (struct lab_pager_row){at, from, end, indent}))
            return false;
        from = end;
        indent = para->hang;
    } while (from < para->end);
    return true;
}

/* The row that holds a byte of the text. */
static size_t row_of(const struct lab_pager *p, size_t byte)
{
    size_t low = 0;
    size_t high = p->row_count;
    while (low + 1 < high) {
        size_t mid = low + (high - low) / 2;
        if (p->rows[mid].start <= byte)
            low = mid;
        else
            high = mid;
    }
    /* Empty rows start where the next one does: take the first of them. */
    while (low > 0 && p->rows[low].start == byte &&
           p->rows[low - 1].start == byte)
        low--;
    return low;
}

static void layout(struct lab_pager *p, int width, bool ascii)
{
    if (p->width == width && p->ascii == ascii)
        return;
    p->width = width;
    p->ascii = ascii;
    p->row_count = 0;
    p->short_of_memory = false;
    for (size_t i = 0; p->doc && i < p->doc->para_count; i++) {
        if (!wrap_para(p, i)) {
            p->short_of_memory = true;
            break;
        }
    }
}

size_t lab_pager_lines(struct lab_pager *p, int width, bool ascii)
{
    layout(p, width, ascii);
    return p->row_count;
}

static size_t last_top(const struct lab_pager *p)
{
    size_t h = p->view_h > 0 ? (size_t)p->view_h : 1;
    return p->row_count > h ? p->row_count - h : 0;
}

static void set_top(struct lab_pager *p, size_t top)
{
    size_t last = last_top(p);
    p->top = top < last ? top : last;
    p->top_byte = p->row_count ? p->rows[p->top].start : 0;
}

/* Length of the match at text[i], or 0. */
static size_t match_at(const char *text, size_t i, size_t end,
                       const char *search)
{
    size_t n = strlen(search);
    if (n == 0 || i + n > end)
        return 0;
    return strncasecmp(text + i, search, n) == 0 ? n : 0;
}

static int columns_between(const struct lab_pager *p, size_t from, size_t to)
{
    return lab_text_columns(lab_str_text(&p->doc->text) + from, to - from,
                            p->ascii);
}

static void mark_matches(const struct lab_pager *p, struct lab_canvas *c,
                         const struct lab_pager_row *row, int y, int x)
{
    const char *text = lab_str_text(&p->doc->text);
    const struct lab_doc_para *para = &p->doc->paras[row->para];
    for (size_t i = para->start; p->search[0] && i < row->end; i++) {
        size_t n = match_at(text, i, para->end, p->search);
        size_t from = i > row->start ? i : row->start;
        size_t to = i + n < row->end ? i + n : row->end;
        if (n == 0 || to <= from)
            continue;
        lab_canvas_paint(
            c,
            (struct lab_rect){y, x + columns_between(p, row->start, from), 1,
                              columns_between(p, from, to)},
            i == p->match ? LAB_ROLE_CURSOR : LAB_ROLE_MARK);
        if (i == p->match && from == i)
            lab_canvas_focus(c, y, x + columns_between(p, row->start, from));
    }
}

static void draw_row(const struct lab_pager *p, struct lab_canvas *c,
                     const struct lab_pager_row *row, int y, int x)
{
    const char *text = lab_str_text(&p->doc->text);
    const struct lab_doc_para *para = &p->doc->paras[row->para];
    size_t at = row->start;
    int start = x + row->indent - (para->wrap ? 0 : p->left);
    int here = start;
    int right = c->clip.x + c->clip.w;
    for (size_t s = para->first_span; at < row->end; s++) {
        char piece[512];
        size_t end = p->doc->spans[s].end;
        end = end < row->end ? end : row->end;
        while (at < end) {
            size_t n =
                end - at < sizeof(piece) - 1 ? end - at : sizeof(piece) - 1;
            while (n < end - at && ((unsigned char)text[at + n] & 0xC0) == 0x80)
                n--; /* not through the middle of a character */
            memcpy(piece, text + at, n);
            piece[n] = '\0';
            if (p->upright && here < right)
                here += lab_canvas_text_cut(c, y, here, right - here,
                                            p->doc->spans[s].role, piece);
            else if (!p->upright)
                here += lab_canvas_text(c, y, here, INT_MAX / 2,
                                        p->doc->spans[s].role, piece);
            at += n;
        }
    }
    mark_matches(p, c, row, y, start);
    if (here > right && !para->wrap &&
        !p->upright) /* there is more to the right */
        lab_canvas_text(c, y, right - 1, 1, LAB_ROLE_DIM, ">");
}

/* The first row of a paragraph. */
static size_t row_of_para(const struct lab_pager *p, size_t para)
{
    size_t row = row_of(p, p->doc->paras[para].start);
    while (row + 1 < p->row_count && p->rows[row].para < para)
        row++;
    return row;
}

static void into_sight(struct lab_pager *p, size_t para)
{
    size_t row = row_of_para(p, para);
    size_t h = (size_t)p->view_h;
    if (row < p->top)
        set_top(p, row);
    else if (row >= p->top + h)
        set_top(p, row - h + 1);
}

static int column_width(struct lab_rect r, int n)
{
    return (r.w + COLUMN_GAP) / n - COLUMN_GAP;
}

/* The row that the second of two columns begins with, where the text has a
 * paragraph for it and both hold all of it; 0: it flows. */
static size_t second_column(struct lab_pager *p, struct lab_rect r, bool ascii)
{
    const size_t h = (size_t)r.h;
    if (!p->doc || p->doc->beside == 0 ||
        p->doc->beside >= p->doc->para_count || p->text_w == 0 ||
        column_width(r, 2) < p->text_w)
        return 0;
    layout(p, column_width(r, 2), ascii);
    size_t row = row_of_para(p, p->doc->beside);
    return row <= h && p->row_count - row <= h ? row : 0;
}

/* So many beside each other fit, where one would not hold it all. */
static int columns_of(struct lab_pager *p, struct lab_rect r, bool ascii)
{
    int n = p->text_w > 0 ? (r.w + COLUMN_GAP) / (p->text_w + COLUMN_GAP) : 0;
    if (n > 1)
        layout(p, column_width(r, n), ascii);
    return n > 1 && p->row_count > (size_t)r.h ? n : 1;
}

static void draw_column(const struct lab_pager *p, struct lab_canvas *c,
                        struct lab_rect r, size_t top, size_t end)
{
    struct lab_rect old = lab_canvas_clip(c, r);
    for (int i = 0; i < r.h; i++) {
        size_t at = top + (size_t)i;
        if (at < end)
            draw_row(p, c, &p->rows[at], r.y + i, r.x);
        if (at < end && p->rows[at].para == p->chosen)
            lab_canvas_paint(c, (struct lab_rect){r.y + i, r.x, 1, r.w},
                             LAB_ROLE_SELECTED);
    }
    lab_canvas_unclip(c, old);
}

static void mark_more(const struct lab_pager *p, struct lab_canvas *c,
                      struct lab_rect r)
{
    size_t h = (size_t)r.h;
    if (p->top > 0 && r.w > 4)
        lab_canvas_text(c, r.y, r.x + r.w - 1, 1, LAB_ROLE_DIM, "▲");
    if (p->top + h < p->row_count && r.w > 4)
        lab_canvas_text(c, r.y + r.h - 1, r.x + r.w - 1, 1, LAB_ROLE_DIM, "▼");
}

void lab_pager_draw(struct lab_pager *p, struct lab_canvas *c,
                    struct lab_rect r)
{
    if (r.h < 1 || r.w < 1)
        return;
    size_t second = second_column(p, r, c->ascii);
    int n = second ? 2 : columns_of(p, r, c->ascii);
    int w = column_width(r, n);
    p->view_h = r.h * n;
    layout(p, w, c->ascii);
    /* From the byte, which only the reader moves: a larger screen in between
     * must not lose the place. */
    size_t top = p->top_byte > 0 ? row_of(p, p->top_byte) : 0;
    if (p->renewed)
        set_top(p, p->top);
    else
        p->top = top < last_top(p) ? top : last_top(p);
    p->renewed = false;
    if (p->row_count > 0 && p->chosen < p->doc->para_count)
        into_sight(p, p->chosen);
    struct lab_rect old = lab_canvas_clip(c, r);
    for (int i = 0; i < n; i++) {
        struct lab_rect column = {r.y, r.x + i * (w + COLUMN_GAP), r.h, w};
        for (int y = 0; i > 0 && y < r.h; y++)
            lab_canvas_text(c, r.y + y, column.x - 2, 1, LAB_ROLE_BORDER, "│");
        draw_column(p, c, column,
                    second && i > 0 ? second : p->top + (size_t)(i * r.h),
                    second && i == 0 ? second : p->row_count);
    }
    if (p->upright)
        mark_more(p, c, r);
    if (p->short_of_memory)
        lab_canvas_text(c, r.y + r.h - 1, r.x, r.w, LAB_ROLE_BAD,
                        "(cut here: out of memory)");
    lab_canvas_unclip(c, old);
}

bool lab_pager_action(struct lab_pager *p, int action)
{
    int64_t to = lab_action_move(action, (int64_t)p->top,
                                 (int64_t)last_top(p) + 1, p->view_h);
    if (to >= 0)
        set_top(p, (size_t)to);
    switch (action) {
    case LAB_ACT_FIRST:
        p->left = 0;
        return true;
    case LAB_ACT_LEFT:
        p->left = p->left > 8 ? p->left - 8 : 0;
        return true;
    case LAB_ACT_RIGHT:
        p->left += p->left < 10000 && !p->upright ? 8 : 0;
        return true;
    default:
        return to >= 0;
    }
}

void lab_pager_goto(struct lab_pager *p, size_t para)
{
    if (!p->doc || para >= p->doc->para_count)
        return;
    p->top_byte = p->doc->paras[para].start;
    if (p->width < 0)
        return; /* the first drawing finds the row */
    set_top(p, row_of_para(p, para));
}

static size_t find(const struct lab_pager *p, size_t from, int dir)
{
    const char *text = lab_str_text(&p->doc->text);
    size_t n = p->doc->text.len;
    for (size_t k = 0; k < n; k++) {
        size_t i = dir > 0 ? (from + k) % n : (from + n - k) % n;
        if (match_at(text, i, n, p->search))
            return i;
    }
    return SIZE_MAX;
}

bool lab_pager_search(struct lab_pager *p, const char *text, int dir)
{
    if (text[0])
        snprintf(p->search, sizeof(p->search), "%s", text);
    if (!p->search[0] || !p->doc || p->doc->text.len == 0)
        return false;
    size_t n = p->doc->text.len;
    size_t from = p->top_byte % n;
    if (!text[0] && p->match != SIZE_MAX)
        from = dir > 0 ? (p->match + 1) % n : (p->match + n - 1) % n;
    p->match = find(p, from, dir);
    if (p->match == SIZE_MAX)
        return false;
    if (p->width < 0) {
        p->top_byte = p->match;
        return true;
    }
    size_t row = row_of(p, p->match);
    size_t h = p->view_h > 0 ? (size_t)p->view_h : 1;
    if (row < p->top || row >= p->top + h)
        set_top(p, row > h / 3 ? row - h / 3 : 0);
    return true;
}

const char *lab_pager_place(const struct lab_pager *p, char *out, size_t cap)
{
    size_t h = p->view_h > 0 ? (size_t)p->view_h : 1;
    if (p->row_count <= h)
        snprintf(out, cap, "all");
    else
        snprintf(out, cap, "%zu-%zu of %zu", p->top + 1, p->top + h,
                 p->row_count);
    return out;
}
