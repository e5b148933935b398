/* md_table.c -- tables in lines of a given width. */
#include "md_wrap.h"

#include <string.h>

#include "base/mem.h"

enum { SEPARATOR_COLUMNS = 3, LEAST_CELL = 4 };

static const struct lab_md_cell *cell_at(const struct lab_md_block *b,
                                         size_t row, size_t column)
{
    return &b->cells[row * b->columns + column];
}

static int natural_width(struct lab_wrapper *w, const struct lab_md_cell *cell)
{
    int columns = 0;
    lab_wrap_collect(w, cell->spans, cell->n_spans, &w->glyphs);
    for (size_t i = 0; i < w->glyphs.count; i++)
        columns += w->glyphs.items[i].columns;
    return columns;
}

/* Every column as wide as its widest cell; while they do not fit together,
 * the widest one gives way. */
static void choose_widths(struct lab_wrapper *w, const struct lab_md_block *b,
                          int available, int *width)
{
    int total = 0;
    for (size_t c = 0; c < b->columns; c++) {
        width[c] = 1;
        for (size_t r = 0; r < b->rows; r++) {
            int n = natural_width(w, cell_at(b, r, c));
            n = n > available ? available : n;
            width[c] = n > width[c] ? n : width[c];
        }
        total += width[c];
    }
    while (total > available) {
        size_t widest = 0;
        for (size_t c = 1; c < b->columns; c++) {
            if (width[c] > width[widest])
                widest = c;
        }
        width[widest]--;
        total--;
    }
}

static void put_cell_line(struct lab_wrapper *w,
                          const struct lab_glyph_list *list, int width,
                          enum lab_md_align align, size_t *next)
{
    struct lab_glyph_piece piece = {0};
    bool any = lab_wrap_next(list, *next, width, &piece, next);
    int room = width - piece.columns;
    int before = align == LAB_MD_RIGHT    ? room
                 : align == LAB_MD_CENTER ? room / 2
                                          : 0;
    lab_wrap_pad(w, LAB_SPAN_PLAIN, " ", before);
    if (any)
        lab_wrap_put_piece(w, list, &piece);
    lab_wrap_pad(w, LAB_SPAN_PLAIN, " ", room - before);
}

/* One row takes as many lines as its fullest cell needs. */
static void put_row(struct lab_wrapper *w, const struct lab_md_block *b,
                    size_t row, const int *width, struct lab_glyph_list *lists,
                    size_t *next)
{
    bool more = true;
    for (size_t c = 0; c < b->columns; c++) {
        const struct lab_md_cell *cell = cell_at(b, row, c);
        lab_wrap_collect(w, cell->spans, cell->n_spans, &lists[c]);
        next[c] = 0;
    }
    while (more && !w->failed) {
        more = false;
        lab_wrap_begin_line(w);
        for (size_t c = 0; c < b->columns; c++) {
            if (c > 0)
                lab_wrap_pad(w, LAB_SPAN_FRAME, " │ ", 1);
            put_cell_line(w, &lists[c], width[c], b->align[c], &next[c]);
            more = more || next[c] < lists[c].count;
        }
        lab_wrap_end_line(w);
    }
}

static void put_head_rule(struct lab_wrapper *w, const struct lab_md_block *b,
                          const int *width)
{
    lab_wrap_begin_line(w);
    for (size_t c = 0; c < b->columns; c++) {
        if (c > 0)
            lab_wrap_pad(w, LAB_SPAN_FRAME, "─┼─", 1);
        lab_wrap_pad(w, LAB_SPAN_FRAME, "─", width[c]);
    }
    lab_wrap_end_line(w);
}

/* "head:" on one line and the cell under it. */
static void put_pair(struct lab_wrapper *w, const struct lab_md_cell *head,
                     const struct lab_md_cell *cell,
                     struct lab_glyph_list *list)
{
    struct lab_glyph_piece piece;
    size_t next = 0;
    int width = lab_wrap_width(w);
    lab_wrap_collect(w, head->spans, head->n_spans, list);
    while (!w->failed && lab_wrap_next(list, next, width - 1, &piece, &next)) {
        lab_wrap_begin_line(w);
        lab_wrap_put_piece(w, list, &piece);
        if (next >= list->count)
            lab_wrap_pad(w, LAB_SPAN_FRAME, ":", 1);
        lab_wrap_end_line(w);
    }
    lab_wrap_collect(w, cell->spans, cell->n_spans, list);
    next = 0;
    while (!w->failed && lab_wrap_next(list, next, width - 2, &piece, &next)) {
        lab_wrap_begin_line(w);
        lab_wrap_pad(w, LAB_SPAN_PLAIN, " ", 2);
        lab_wrap_put_piece(w, list, &piece);
        lab_wrap_end_line(w);
    }
}

/* Too many columns for the screen: every cell on lines of its own. */
static void put_as_list(struct lab_wrapper *w, const struct lab_md_block *b,
                        struct lab_glyph_list *list)
{
    for (size_t r = 1; r < b->rows; r++) {
        for (size_t c = 0; c < b->columns && !w->failed; c++)
            put_pair(w, cell_at(b, 0, c), cell_at(b, r, c), list);
    }
}

void lab_wrap_table(struct lab_wrapper *w, const struct lab_md_block *b)
{
    if (b->columns == 0 || b->rows == 0)
        return;
    int gaps = SEPARATOR_COLUMNS * ((int)b->columns - 1);
    int available = lab_wrap_width(w) - gaps;
    struct lab_glyph_list *lists = lab_alloc_array(b->columns, sizeof(*lists));
    int *width = lab_alloc_array(b->columns, sizeof(*width));
    size_t *next = lab_alloc_array(b->columns, sizeof(*next));
    if (!lists || !width || !next) {
        w->failed = true;
        goto out;
    }
    if (available < LEAST_CELL * (int)b->columns) {
        put_as_list(w, b, &lists[0]);
        goto out;
    }
    choose_widths(w, b, available, width);
    for (size_t r = 0; r < b->rows && !w->failed; r++) {
        put_row(w, b, r, width, lists, next);
        if (r == 0)
            put_head_rule(w, b, width);
    }
out:
    for (size_t c = 0; lists && c < b->columns; c++)
        lab_free(lists[c].items);
    lab_free(lists);
    lab_free(width);
    lab_free(next);
}
