/* md_wrap.c -- breaks paragraphs and tables to a width in columns. */
#include "lesson/markdown.h"

#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/str.h"

/* One character of a text on its way into lines. */
struct glyph {
    const char *bytes;
    uint8_t len;
    uint8_t columns;
    uint8_t style;
};

struct glyphs {
    struct glyph *items;
    size_t count;
    size_t cap;
};

/* Part of a glyph list that fits into one line; blanks at the break are left
 * out. */
struct piece {
    size_t first;
    size_t end;
    int columns;
};

struct wrapper {
    struct lab_arena *arena;
    struct lab_md_line *lines;
    size_t n_lines;
    size_t cap_lines;
    struct lab_md_span *spans; /* of the open line */
    size_t n_spans;
    size_t cap_spans;
    struct lab_str text; /* of the open span */
    unsigned style;
    lab_md_ascii_fn *ascii; /* NULL: text stays Unicode */
    int columns;
    int block;
    const struct lab_md_block *current;
    bool first_line; /* of the block: the marker is there */
    struct glyphs glyphs;
    bool failed;
};

enum { LEAST_COLUMNS = 20, ITEM_COLUMNS = 3, MAX_INDENT = 6, CODE_INDENT = 2 };
enum { TEXT_COLUMNS = 12 }; /* at least these stay for text */

/* ---- width ---- */

/* What must not reach a terminal is replaced there by one column. */
static int width_of(unsigned code)
{
    int columns = lab_utf8_columns(code);
    return columns < 0 ? 1 : columns;
}

int lab_md_columns(const char *utf8)
{
    int columns = 0;
    size_t n = strlen(utf8);
    for (size_t i = 0; i < n;) {
        unsigned code = 0;
        size_t len = lab_utf8_next(utf8 + i, n - i, &code);
        columns += len ? width_of(code) : 1;
        i += len ? len : 1;
    }
    return columns;
}

/* ---- lines ---- */

static void flush_span(struct wrapper *w)
{
    if (w->text.failed)
        w->failed = true;
    if (w->failed || w->text.len == 0)
        return;
    char *text = lab_arena_text(w->arena, w->text.data, w->text.len);
    if (!text || lab_grow(&w->spans, w->n_spans, &w->cap_spans,
                          sizeof(*w->spans), "the text")) {
        w->failed = true;
        return;
    }
    w->spans[w->n_spans++] = (struct lab_md_span){w->style, text};
    lab_str_clear(&w->text);
}

static void put(struct wrapper *w, unsigned style, const char *text, size_t len)
{
    if (style != w->style)
        flush_span(w);
    w->style = style;
    lab_str_add_bytes(&w->text, text, len);
}

static void pad(struct wrapper *w, unsigned style, const char *text, int times)
{
    for (int i = 0; i < times; i++)
        put(w, style, text, strlen(text));
}

static void end_line(struct wrapper *w)
{
    /* Blanks at the end of a line only make it longer. */
    while (w->text.len > 0 && w->text.data[w->text.len - 1] == ' ' &&
           !(w->style & LAB_SPAN_CODE))
        w->text.data[--w->text.len] = '\0';
    flush_span(w);
    if (w->failed)
        return;
    struct lab_md_span *kept =
        lab_arena_array(w->arena, w->n_spans, sizeof(*kept));
    if (!kept || lab_grow(&w->lines, w->n_lines, &w->cap_lines,
                          sizeof(*w->lines), "the text")) {
        w->failed = true;
        return;
    }
    if (w->n_spans)
        memcpy(kept, w->spans, w->n_spans * sizeof(*kept));
    w->lines[w->n_lines++] = (struct lab_md_line){kept, w->n_spans, w->block};
    w->n_spans = 0;
}

static void blank_line(struct wrapper *w)
{
    int block = w->block;
    w->block = -1;
    end_line(w);
    w->block = block;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Deep nesting must not eat the line: it is drawn flatter instead. */
static void indents(const struct wrapper *w, int *quote, int *depth)
{
    *quote = least(w->current->quote, MAX_INDENT);
    *depth = least(w->current->indent, MAX_INDENT);
    while (2 * *quote + ITEM_COLUMNS * *depth > w->columns - TEXT_COLUMNS) {
        if (*quote > 1)
            --*quote;
        else
            --*depth;
    }
}

static int marker_columns(const struct wrapper *w, int depth)
{
    const char *marker = w->first_line ? w->current->marker : NULL;
    int used = marker && depth > 0 ? lab_md_columns(marker) + 1 : 0;
    return used > ITEM_COLUMNS ? used : ITEM_COLUMNS;
}

/* Columns that the next line of the current block has for text. */
static int width_left(const struct wrapper *w)
{
    int quote;
    int depth;
    indents(w, &quote, &depth);
    int used = 2 * quote + ITEM_COLUMNS * depth;
    if (depth > 0)
        used += marker_columns(w, depth) - ITEM_COLUMNS;
    return w->columns - used > 1 ? w->columns - used : 1;
}

/* Starts a line with the block's quote marks, indent and list marker. */
static void begin_line(struct wrapper *w)
{
    int quote;
    int depth;
    indents(w, &quote, &depth);
    const char *marker = w->first_line ? w->current->marker : NULL;
    pad(w, LAB_SPAN_FRAME, "│ ", quote);
    pad(w, LAB_SPAN_PLAIN, " ", ITEM_COLUMNS * (depth - 1));
    if (depth > 0) {
        int room = marker_columns(w, depth);
        if (marker) {
            put(w, LAB_SPAN_FRAME, marker, strlen(marker));
            room -= lab_md_columns(marker);
        }
        pad(w, LAB_SPAN_PLAIN, " ", room);
    }
    w->first_line = false;
}

/* ---- glyphs ---- */

static void add_glyph(struct wrapper *w, struct glyphs *out, const char *bytes,
                      size_t len, int columns, unsigned style)
{
    if (lab_grow(&out->items, out->count, &out->cap, sizeof(*out->items),
                 "the text")) {
        w->failed = true;
        return;
    }
    out->items[out->count++] =
        (struct glyph){bytes, (uint8_t)len, (uint8_t)columns, (uint8_t)style};
}

/* The ASCII text of a character, a glyph a byte. */
static void add_ascii(struct wrapper *w, struct glyphs *out, unsigned code,
                      unsigned style)
{
    const char *text = w->ascii(code);
    for (text = text ? text : "?"; *text && !w->failed; text++)
        add_glyph(w, out, text, 1, 1, style);
}

static void collect(struct wrapper *w, const struct lab_md_span *spans,
                    size_t n_spans, struct glyphs *out)
{
    out->count = 0;
    for (size_t k = 0; k < n_spans && !w->failed; k++) {
        const char *s = spans[k].text;
        size_t n = strlen(s);
        for (size_t i = 0; i < n && !w->failed;) {
            unsigned code = 0;
            size_t len = lab_utf8_next(s + i, n - i, &code);
            if (len == 0) { /* cannot be: the source is UTF-8 */
                i++;
                continue;
            }
            if (code == '\t')
                for (int t = 0; t < 4; t++)
                    add_glyph(w, out, " ", 1, 1, spans[k].style);
            else if (w->ascii && code >= 0x80)
                add_ascii(w, out, code, spans[k].style);
            else
                add_glyph(w, out, s + i, len, code == '\n' ? 0 : width_of(code),
                          spans[k].style);
            i += len;
        }
    }
}

static bool is_blank(const struct glyph *g)
{
    return g->len == 1 && *g->bytes == ' ';
}

static bool is_break(const struct glyph *g)
{
    return g->len == 1 && *g->bytes == '\n';
}

/* Formulas and code hold together where other text can give way. */
static bool holds_together(const struct glyph *g)
{
    return (g->style & (LAB_SPAN_MATH | LAB_SPAN_CODE)) != 0;
}

/* Where to end a line that is full at `end`: at the last blank, else at the
 * last blank inside a formula, else right there. */
static size_t break_before(const struct glyphs *list, size_t at, size_t end)
{
    size_t inside = 0;
    for (size_t i = end; i > at; i--) {
        const struct glyph *g = &list->items[i];
        if (i >= list->count || !is_blank(g))
            continue;
        if (!holds_together(g))
            return i;
        if (!inside)
            inside = i;
    }
    return inside ? inside : end;
}

/* The next line of at most `width` columns from glyph `at` on. false: there
 * is none. */
static bool next_line(const struct glyphs *list, size_t at, int width,
                      struct piece *out, size_t *next)
{
    const struct glyph *g = list->items;
    if (at >= list->count)
        return false;
    int columns = 0;
    size_t end = at;
    while (end < list->count && !is_break(&g[end]) &&
           (columns + g[end].columns <= width || end == at))
        columns += g[end++].columns;
    bool full = end < list->count && !is_break(&g[end]);
    if (full)
        end = break_before(list, at, end);
    *next = end;
    if (end < list->count && is_break(&g[end]))
        *next = end + 1;
    while (full && *next < list->count && is_blank(&g[*next]))
        ++*next;
    while (end > at && is_blank(&g[end - 1]))
        end--;
    columns = 0;
    for (size_t i = at; i < end; i++)
        columns += g[i].columns;
    *out = (struct piece){at, end, columns};
    return true;
}

static void put_piece(struct wrapper *w, const struct glyphs *list,
                      const struct piece *piece)
{
    for (size_t i = piece->first; i < piece->end; i++) {
        const struct glyph *g = &list->items[i];
        put(w, g->style, g->bytes, g->len);
    }
}

/* ---- blocks ---- */

static int put_text(struct wrapper *w, const struct lab_md_block *b, int indent)
{
    struct piece piece;
    int widest = 0;
    collect(w, b->spans, b->n_spans, &w->glyphs);
    size_t next = 0;
    while (!w->failed &&
           next_line(&w->glyphs, next, width_left(w) - indent, &piece, &next)) {
        begin_line(w);
        pad(w, LAB_SPAN_PLAIN, " ", indent);
        put_piece(w, &w->glyphs, &piece);
        end_line(w);
        if (piece.columns > widest)
            widest = piece.columns;
    }
    if (b->n_spans == 0) { /* an item without text still shows its marker */
        begin_line(w);
        end_line(w);
    }
    return widest;
}

static void put_rule(struct wrapper *w, int columns)
{
    begin_line(w);
    pad(w, LAB_SPAN_FRAME, "─", columns);
    end_line(w);
}

/* Code keeps its blanks; a line that is too long goes on in the next. */
static void put_code(struct wrapper *w, const struct lab_md_block *b)
{
    int width = width_left(w) - CODE_INDENT;
    collect(w, b->spans, b->n_spans, &w->glyphs);
    const struct glyphs *list = &w->glyphs;
    for (size_t i = 0; i < list->count && !w->failed;) {
        struct piece piece = {i, i, 0};
        while (piece.end < list->count && !is_break(&list->items[piece.end]) &&
               piece.columns + list->items[piece.end].columns <= width)
            piece.columns += list->items[piece.end++].columns;
        begin_line(w);
        pad(w, LAB_SPAN_PLAIN, " ", CODE_INDENT);
        put_piece(w, list, &piece);
        end_line(w);
        i = piece.end;
        if (i < list->count && is_break(&list->items[i]))
            i++;
    }
}

static void put_table(struct wrapper *w, const struct lab_md_block *b);

static void put_block(struct wrapper *w, const struct lab_md_block *b)
{
    int widest;
    w->current = b;
    w->first_line = true;
    switch (b->kind) {
    case LAB_MD_HEADING:
        widest = put_text(w, b, 0);
        if (b->level <= 2)
            put_rule(w, widest);
        break;
    case LAB_MD_PARAGRAPH:
        put_text(w, b, 0);
        break;
    case LAB_MD_MATH:
        put_text(w, b, 4);
        break;
    case LAB_MD_CODE:
        put_code(w, b);
        break;
    case LAB_MD_TABLE:
        put_table(w, b);
        break;
    case LAB_MD_RULE:
        put_rule(w, width_left(w));
        break;
    }
}

enum lab_status lab_md_wrap(const struct lab_md *doc, int columns,
                            lab_md_ascii_fn *ascii, struct lab_md_lines *out)
{
    struct wrapper w = {0};
    w.columns = columns > LEAST_COLUMNS ? columns : LEAST_COLUMNS;
    w.ascii = ascii;
    w.arena = lab_alloc(sizeof(*w.arena));
    w.failed = w.arena == NULL;
    lab_str_init(&w.text);
    for (size_t i = 0; i < doc->n_blocks && !w.failed; i++) {
        w.block = (int)i;
        if (i > 0 && !doc->blocks[i].tight)
            blank_line(&w);
        put_block(&w, &doc->blocks[i]);
    }
    lab_free(w.spans);
    lab_free(w.glyphs.items);
    lab_str_release(&w.text);
    if (w.failed) {
        lab_free(w.lines);
        if (w.arena)
            lab_arena_release(w.arena);
        lab_free(w.arena);
        return lab_fail(LAB_E_NOMEM, "no memory left to lay the text out");
    }
    *out = (struct lab_md_lines){w.lines, w.n_lines, w.arena};
    return LAB_OK;
}

void lab_md_lines_release(struct lab_md_lines *lines)
{
    struct lab_arena *arena = lines->memory;
    if (arena)
        lab_arena_release(arena);
    lab_free(arena);
    lab_free(lines->lines);
    *lines = (struct lab_md_lines){0};
}

/* ---- tables ---- */

enum { SEPARATOR_COLUMNS = 3, LEAST_CELL = 4 };

static const struct lab_md_cell *cell_at(const struct lab_md_block *b,
                                         size_t row, size_t column)
{
    return &b->cells[row * b->columns + column];
}

static int natural_width(struct wrapper *w, const struct lab_md_cell *cell)
{
    int columns = 0;
    collect(w, cell->spans, cell->n_spans, &w->glyphs);
    for (size_t i = 0; i < w->glyphs.count; i++)
        columns += w->glyphs.items[i].columns;
    return columns;
}

/* Every column as wide as its widest cell; while they do not fit together,
 * the widest one gives way. */
static void choose_widths(struct wrapper *w, const struct lab_md_block *b,
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

static void put_cell_line(struct wrapper *w, const struct glyphs *list,
                          int width, enum lab_md_align align, size_t *next)
{
    struct piece piece = {0};
    bool any = next_line(list, *next, width, &piece, next);
    int room = width - piece.columns;
    int before = align == LAB_MD_RIGHT    ? room
                 : align == LAB_MD_CENTER ? room / 2
                                          : 0;
    pad(w, LAB_SPAN_PLAIN, " ", before);
    if (any)
        put_piece(w, list, &piece);
    pad(w, LAB_SPAN_PLAIN, " ", room - before);
}

/* One row takes as many lines as its fullest cell needs. */
static void put_row(struct wrapper *w, const struct lab_md_block *b, size_t row,
                    const int *width, struct glyphs *lists, size_t *next)
{
    bool more = true;
    for (size_t c = 0; c < b->columns; c++) {
        const struct lab_md_cell *cell = cell_at(b, row, c);
        collect(w, cell->spans, cell->n_spans, &lists[c]);
        next[c] = 0;
    }
    while (more && !w->failed) {
        more = false;
        begin_line(w);
        for (size_t c = 0; c < b->columns; c++) {
            if (c > 0)
                pad(w, LAB_SPAN_FRAME, " │ ", 1);
            put_cell_line(w, &lists[c], width[c], b->align[c], &next[c]);
            more = more || next[c] < lists[c].count;
        }
        end_line(w);
    }
}

static void put_head_rule(struct wrapper *w, const struct lab_md_block *b,
                          const int *width)
{
    begin_line(w);
    for (size_t c = 0; c < b->columns; c++) {
        if (c > 0)
            pad(w, LAB_SPAN_FRAME, "─┼─", 1);
        pad(w, LAB_SPAN_FRAME, "─", width[c]);
    }
    end_line(w);
}

/* "head:" on one line and the cell under it. */
static void put_pair(struct wrapper *w, const struct lab_md_cell *head,
                     const struct lab_md_cell *cell, struct glyphs *list)
{
    struct piece piece;
    size_t next = 0;
    int width = width_left(w);
    collect(w, head->spans, head->n_spans, list);
    while (!w->failed && next_line(list, next, width - 1, &piece, &next)) {
        begin_line(w);
        put_piece(w, list, &piece);
        if (next >= list->count)
            pad(w, LAB_SPAN_FRAME, ":", 1);
        end_line(w);
    }
    collect(w, cell->spans, cell->n_spans, list);
    next = 0;
    while (!w->failed && next_line(list, next, width - 2, &piece, &next)) {
        begin_line(w);
        pad(w, LAB_SPAN_PLAIN, " ", 2);
        put_piece(w, list, &piece);
        end_line(w);
    }
}

/* Too many columns for the screen: every cell on lines of its own. */
static void put_as_list(struct wrapper *w, const struct lab_md_block *b,
                        struct glyphs *list)
{
    for (size_t r = 1; r < b->rows; r++) {
        for (size_t c = 0; c < b->columns && !w->failed; c++)
            put_pair(w, cell_at(b, 0, c), cell_at(b, r, c), list);
    }
}

static void put_table(struct wrapper *w, const struct lab_md_block *b)
{
    if (b->columns == 0 || b->rows == 0)
        return;
    int gaps = SEPARATOR_COLUMNS * ((int)b->columns - 1);
    int available = width_left(w) - gaps;
    struct glyphs *lists = lab_alloc_array(b->columns, sizeof(*lists));
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
