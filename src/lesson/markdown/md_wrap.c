#include "md_wrap.h"

#include <string.h>

#include "base/mem.h"

enum { LEAST_COLUMNS = 20, ITEM_COLUMNS = 3, MAX_INDENT = 6, CODE_INDENT = 2 };
enum { TEXT_COLUMNS = 12 }; /* at least these stay for text */

/* ---- width ---- */

/* What must not reach a terminal takes the column of its stand-in there. */
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

bool lab_wrap_grow(void **items, size_t *cap, size_t count, size_t each)
{
    if (count < *cap)
        return true;
    size_t more = *cap ? *cap * 2 : 64;
    void *p = lab_realloc_array(*items, more, each);
    if (!p)
        return false;
    *items = p;
    *cap = more;
    return true;
}

static void flush_span(struct lab_wrapper *w)
{
    void *spans = w->spans;
    if (w->text.failed)
        w->failed = true;
    if (w->failed || w->text.len == 0)
        return;
    char *text = lab_arena_text(w->arena, w->text.data, w->text.len);
    if (!text ||
        !lab_wrap_grow(&spans, &w->cap_spans, w->n_spans, sizeof(*w->spans))) {
        w->failed = true;
        return;
    }
    w->spans = spans;
    w->spans[w->n_spans++] = (struct lab_md_span){w->style, text};
    lab_str_clear(&w->text);
}

void lab_wrap_put(struct lab_wrapper *w, unsigned style, const char *text,
                  size_t len)
{
    if (style != w->style)
        flush_span(w);
    w->style = style;
    lab_str_add_bytes(&w->text, text, len);
}

void lab_wrap_pad(struct lab_wrapper *w, unsigned style, const char *text,
                  int times)
{
    for (int i = 0; i < times; i++)
        lab_wrap_put(w, style, text, strlen(text));
}

void lab_wrap_end_line(struct lab_wrapper *w)
{
    void *lines = w->lines;
    /* Blanks at the end of a line only make it longer. */
    while (w->text.len > 0 && w->text.data[w->text.len - 1] == ' ' &&
           !(w->style & LAB_SPAN_CODE))
        w->text.data[--w->text.len] = '\0';
    flush_span(w);
    if (w->failed)
        return;
    struct lab_md_span *kept =
        lab_arena_array(w->arena, w->n_spans, sizeof(*kept));
    if (!kept ||
        !lab_wrap_grow(&lines, &w->cap_lines, w->n_lines, sizeof(*w->lines))) {
        w->failed = true;
        return;
    }
    w->lines = lines;
    if (w->n_spans)
        memcpy(kept, w->spans, w->n_spans * sizeof(*kept));
    w->lines[w->n_lines++] = (struct lab_md_line){kept, w->n_spans, w->block};
    w->n_spans = 0;
}

static void blank_line(struct lab_wrapper *w)
{
    int block = w->block;
    w->block = -1;
    lab_wrap_end_line(w);
    w->block = block;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Deep nesting must not eat the line: it is drawn flatter instead. */
static void indents(const struct lab_wrapper *w, int *quote, int *depth)
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

static int marker_columns(const struct lab_wrapper *w, int depth)
{
    const char *marker = w->first_line ? w->current->marker : NULL;
    int used = marker && depth > 0 ? lab_md_columns(marker) + 1 : 0;
    return used > ITEM_COLUMNS ? used : ITEM_COLUMNS;
}

int lab_wrap_width(const struct lab_wrapper *w)
{
    int quote;
    int depth;
    indents(w, &quote, &depth);
    int used = 2 * quote + ITEM_COLUMNS * depth;
    if (depth > 0)
        used += marker_columns(w, depth) - ITEM_COLUMNS;
    return w->columns - used > 1 ? w->columns - used : 1;
}

void lab_wrap_begin_line(struct lab_wrapper *w)
{
    int quote;
    int depth;
    indents(w, &quote, &depth);
    const char *marker = w->first_line ? w->current->marker : NULL;
    lab_wrap_pad(w, LAB_SPAN_FRAME, "│ ", quote);
    lab_wrap_pad(w, LAB_SPAN_PLAIN, " ", ITEM_COLUMNS * (depth - 1));
    if (depth > 0) {
        int room = marker_columns(w, depth);
        if (marker) {
            lab_wrap_put(w, LAB_SPAN_FRAME, marker, strlen(marker));
            room -= lab_md_columns(marker);
        }
        lab_wrap_pad(w, LAB_SPAN_PLAIN, " ", room);
    }
    w->first_line = false;
}

/* ---- glyphs ---- */

static void add_glyph(struct lab_wrapper *w, struct lab_glyph_list *out,
                      const char *bytes, size_t len, int columns,
                      unsigned style)
{
    void *items = out->items;
    if (!lab_wrap_grow(&items, &out->cap, out->count, sizeof(*out->items))) {
        w->failed = true;
        return;
    }
    out->items = items;
    out->items[out->count++] = (struct lab_glyph_run){
        bytes, (uint8_t)len, (uint8_t)columns, (uint8_t)style};
}

/* The ASCII text of a character, a glyph a byte. */
static void add_ascii(struct lab_wrapper *w, struct lab_glyph_list *out,
                      unsigned code, unsigned style)
{
    const char *text = w->ascii(code);
    for (text = text ? text : "?"; *text && !w->failed; text++)
        add_glyph(w, out, text, 1, 1, style);
}

void lab_wrap_collect(struct lab_wrapper *w, const struct lab_md_span *spans,
                      size_t n_spans, struct lab_glyph_list *out)
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

static bool is_blank(const struct lab_glyph_run *g)
{
    return g->len == 1 && *g->bytes == ' ';
}

static bool is_break(const struct lab_glyph_run *g)
{
    return g->len == 1 && *g->bytes == '\n';
}

/* Formulas and code hold together where other text can give way. */
static bool holds_together(const struct lab_glyph_run *g)
{
    return (g->style & (LAB_SPAN_MATH | LAB_SPAN_CODE)) != 0;
}

/* Where to end a line that is full at `end`: at the last blank, else at the
 * last blank inside a formula, else right there. */
static size_t break_before(const struct lab_glyph_list *list, size_t at,
                           size_t end)
{
    size_t inside = 0;
    for (size_t i = end; i > at; i--) {
        const struct lab_glyph_run *g = &list->items[i];
        if (i >= list->count || !is_blank(g))
            continue;
        if (!holds_together(g))
            return i;
        if (!inside)
            inside = i;
    }
    return inside ? inside : end;
}

bool lab_wrap_next(const struct lab_glyph_list *list, size_t at, int width,
                   struct lab_glyph_piece *out, size_t *next)
{
    const struct lab_glyph_run *g = list->items;
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
    *out = (struct lab_glyph_piece){at, end, columns};
    return true;
}

void lab_wrap_put_piece(struct lab_wrapper *w,
                        const struct lab_glyph_list *list,
                        const struct lab_glyph_piece *piece)
{
    for (size_t i = piece->first; i < piece->end; i++) {
        const struct lab_glyph_run *g = &list->items[i];
        lab_wrap_put(w, g->style, g->bytes, g->len);
    }
}

/* ---- blocks ---- */

static int put_text(struct lab_wrapper *w, const struct lab_md_block *b,
                    int indent)
{
    struct lab_glyph_piece piece;
    int widest = 0;
    lab_wrap_collect(w, b->spans, b->n_spans, &w->glyphs);
    size_t next = 0;
    while (!w->failed &&
           lab_wrap_next(&w->glyphs, next, lab_wrap_width(w) - indent, &piece,
                         &next)) {
        lab_wrap_begin_line(w);
        lab_wrap_pad(w, LAB_SPAN_PLAIN, " ", indent);
        lab_wrap_put_piece(w, &w->glyphs, &piece);
        lab_wrap_end_line(w);
        if (piece.columns > widest)
            widest = piece.columns;
    }
    if (b->n_spans == 0) { /* an item without text still shows its marker */
        lab_wrap_begin_line(w);
        lab_wrap_end_line(w);
    }
    return widest;
}

static void put_rule(struct lab_wrapper *w, int columns)
{
    lab_wrap_begin_line(w);
    lab_wrap_pad(w, LAB_SPAN_FRAME, "─", columns);
    lab_wrap_end_line(w);
}

/* Code keeps its blanks; a line that is too long goes on in the next. */
static void put_code(struct lab_wrapper *w, const struct lab_md_block *b)
{
    int width = lab_wrap_width(w) - CODE_INDENT;
    lab_wrap_collect(w, b->spans, b->n_spans, &w->glyphs);
    const struct lab_glyph_list *list = &w->glyphs;
    for (size_t i = 0; i < list->count && !w->failed;) {
        struct lab_glyph_piece piece = {i, i, 0};
        while (piece.end < list->count && !is_break(&list->items[piece.end]) &&
               piece.columns + list->items[piece.end].columns <= width)
            piece.columns += list->items[piece.end++].columns;
        lab_wrap_begin_line(w);
        lab_wrap_pad(w, LAB_SPAN_PLAIN, " ", CODE_INDENT);
        lab_wrap_put_piece(w, list, &piece);
        lab_wrap_end_line(w);
        i = piece.end;
        if (i < list->count && is_break(&list->items[i]))
            i++;
    }
}

static void put_block(struct lab_wrapper *w, const struct lab_md_block *b)
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
        lab_wrap_table(w, b);
        break;
    case LAB_MD_RULE:
        put_rule(w, lab_wrap_width(w));
        break;
    }
}

enum lab_status lab_md_wrap(const struct lab_md *doc, int columns,
                            lab_md_ascii_fn *ascii, struct lab_md_lines *out)
{
    struct lab_wrapper w = {0};
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
