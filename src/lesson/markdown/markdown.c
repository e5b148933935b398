/* markdown.c -- a lesson's text: Markdown through md4c into blocks of spans
 * (entities, TeX), and the blocks broken into lines of a width. */
#include "lesson/markdown.h"

#include <limits.h>
#include <md4c.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/command.h"
#include "base/mem.h"
#include "base/str.h"
#include "lesson/texmath.h"

/* ---- spans on their way: text of one style at a time ---- */

struct spans {
    struct lab_arena *arena; /* where they stay */
    struct lab_md_span *items;
    size_t n;
    size_t cap;
    struct lab_str text; /* of the open span */
    unsigned style;      /* of the open span */
    bool failed;         /* without memory */
};

/* Whether reading goes on: `got` is false when memory was short. */
static bool check(struct spans *s, bool got)
{
    s->failed = s->failed || !got;
    return !s->failed;
}

/* Ends the open span. */
static void flush_span(struct spans *s)
{
    if (!check(s, !s->text.failed) || s->text.len == 0 ||
        !check(s, !lab_grow(&s->items, s->n, &s->cap, sizeof(*s->items),
                            "the text")))
        return;
    char *text = lab_arena_text(s->arena, s->text.data, s->text.len);
    s->items[s->n] = (struct lab_md_span){s->style, text};
    s->n += check(s, text != NULL);
    lab_str_clear(&s->text);
}

static void set_style(struct spans *s, unsigned style)
{
    if (style != s->style)
        flush_span(s);
    s->style = style;
}

/* Copies the collected spans to where they stay. */
static const struct lab_md_span *keep_spans(struct spans *s, size_t *count)
{
    flush_span(s);
    *count = 0;
    if (s->failed || s->n == 0)
        return NULL;
    struct lab_md_span *kept = lab_arena_array(s->arena, s->n, sizeof(*kept));
    if (!check(s, kept != NULL))
        return NULL;
    memcpy(kept, s->items, s->n * sizeof(*kept));
    *count = s->n;
    s->n = 0;
    return kept;
}

/* ---- Markdown into blocks ---- */

enum {
    LIST_DEPTH = 16,
    /* md4c fills short rows up: without a limit a small file makes a table of
     * billions of cells. */
    MAX_COLUMNS = 64,
    MAX_CELLS = 100000
};

struct list {
    bool ordered;
    bool tight;
    bool started; /* its first block has been seen */
    unsigned long next;
};

struct reader {
    struct spans out; /* of the open leaf or cell */
    const char *md;
    size_t size;
    int line;       /* of the byte at `counted` */
    size_t counted; /* bytes with their line ends in `line` */

    struct lab_md_block *blocks;
    size_t n_blocks;
    size_t cap_blocks;
    struct lab_md_cell *cells; /* of the open table */
    size_t n_cells;
    size_t cap_cells;

    bool open;                /* a leaf block takes text */
    struct lab_md_block leaf; /* that block */
    int strong;               /* nesting of spans */
    int emph;
    int code;
    int link;
    bool math;
    size_t displays; /* $$...$$ in the open leaf */
    const char *href;

    int quote;
    int depth; /* of lists */
    struct list list[LIST_DEPTH];
    const char *marker; /* waits for the first block of its item */
    bool too_large;     /* the open table */
};

/* ---- tables as md4c 0.4 wants them ----
 *
 * Under the head of a table it wants three dashes a column, where one is enough
 * (GitHub, CommonMark's table extension, later md4c). Lines stay lines. */

static bool is_fence(const char *s, size_t len)
{
    size_t i = strspn(s, " ");
    return i + 3 <= len && i <= 3 &&
           (memcmp(s + i, "```", 3) == 0 || memcmp(s + i, "~~~", 3) == 0);
}

/* "|-|:-:|": nothing but bars, dashes, colons and blanks. */
static bool is_table_rule(const char *s, size_t len)
{
    bool bar = false;
    bool dash = false;
    for (size_t i = 0; i < len; i++) {
        if (!strchr("|-: \t\r", s[i]))
            return false;
        bar = bar || s[i] == '|';
        dash = dash || s[i] == '-';
    }
    return bar && dash;
}

static void add_widened(struct lab_str *out, const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool first = s[i] == '-' && (i == 0 || s[i - 1] != '-');
        lab_str_add_char(out, s[i]);
        if (first)
            lab_str_add(out, "--");
    }
}

static void widen_rules(struct lab_str *out, const char *md, size_t n)
{
    bool code = false;
    bool head = false; /* the line before has a bar */
    for (size_t i = 0; i < n;) {
        const char *end = memchr(md + i, '\n', n - i);
        size_t len = end ? (size_t)(end - (md + i)) : n - i;
        if (is_fence(md + i, len))
            code = !code;
        if (!code && head && is_table_rule(md + i, len))
            add_widened(out, md + i, len);
        else
            lab_str_add_bytes(out, md + i, len);
        if (end)
            lab_str_add_char(out, '\n');
        head = memchr(md + i, '|', len) != NULL;
        i += len + (end != NULL);
    }
}

/* ---- spans ---- */

/* "&lt;", "&#955;", "&#x3bb;". Unknown ones stay as they are written. */
static void add_entity(struct lab_str *out, const char *s, size_t n)
{
    static const struct {
        const char *name;
        const char *text;
    } known[] = {{"&amp;", "&"},    {"&lt;", "<"},     {"&gt;", ">"},
                 {"&quot;", "\""},  {"&apos;", "'"},   {"&nbsp;", " "},
                 {"&times;", "×"},  {"&mdash;", "—"},  {"&ndash;", "–"},
                 {"&hellip;", "…"}, {"&middot;", "·"}, {"&minus;", "−"}};
    char text[16] = {0};
    if (n > 3 && n < sizeof(text) && s[1] == '#') {
        bool hex = s[2] == 'x' || s[2] == 'X';
        memcpy(text, s, n);
        unsigned long code = strtoul(text + (hex ? 3 : 2), NULL, hex ? 16 : 10);
        lab_utf8_put(code > 0x10FFFF ? UINT_MAX : (unsigned)code, text);
        lab_str_add_visible(out, text, strlen(text), false);
        return;
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (strlen(known[i].name) == n && memcmp(known[i].name, s, n) == 0) {
            lab_str_add(out, known[i].text);
            return;
        }
    }
    lab_str_add_visible(out, s, n, false);
}

static unsigned current_style(const struct reader *r)
{
    return (r->strong ? LAB_SPAN_STRONG : 0u) | (r->emph ? LAB_SPAN_EMPH : 0u) |
           (r->code ? LAB_SPAN_CODE : 0u) | (r->link ? LAB_SPAN_LINK : 0u) |
           (r->math ? LAB_SPAN_MATH : 0u) |
           (r->leaf.kind == LAB_MD_HEADING ? LAB_SPAN_HEADING : 0u);
}

static void take_style(struct reader *r)
{
    set_style(&r->out, current_style(r));
}

static void keep_href(struct reader *r, const MD_ATTRIBUTE *href)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_str_add_visible(&text, href->text, href->size, false);
    r->href = lab_arena_text(r->out.arena, lab_str_text(&text), text.len);
    check(&r->out, !text.failed && r->href);
    lab_str_release(&text);
}

/* The nesting of a kind of span, or NULL. */
static int *depth_of(struct reader *r, MD_SPANTYPE type)
{
    return type == MD_SPAN_EM       ? &r->emph
           : type == MD_SPAN_STRONG ? &r->strong
           : type == MD_SPAN_CODE   ? &r->code
           : type == MD_SPAN_A      ? &r->link
                                    : NULL;
}

static bool is_math(MD_SPANTYPE type)
{
    return type == MD_SPAN_LATEXMATH || type == MD_SPAN_LATEXMATH_DISPLAY;
}

static int enter_span(MD_SPANTYPE type, void *detail, void *user)
{
    struct reader *r = user;
    int *depth = depth_of(r, type);
    if (depth)
        ++*depth;
    if (type == MD_SPAN_A)
        keep_href(r, &((MD_SPAN_A_DETAIL *)detail)->href);
    r->math = r->math || is_math(type);
    r->displays += type == MD_SPAN_LATEXMATH_DISPLAY;
    take_style(r);
    return r->out.failed;
}

/* A link that only a pointer could follow shows where it leads. */
static void end_link(struct reader *r)
{
    const char *text = lab_str_text(&r->out.text);
    if (r->href && *r->href && *r->href != '#' && strcmp(text, r->href) != 0)
        lab_str_addf(&r->out.text, " (%s)", r->href);
    r->href = NULL;
}

static void end_math(struct reader *r)
{
    struct lab_str tex = r->out.text;
    lab_str_init(&r->out.text);
    lab_texmath_add(&r->out.text, lab_str_text(&tex), tex.len);
    r->out.text.failed |= tex.failed;
    lab_str_release(&tex);
    flush_span(&r->out);
    r->math = false;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *user)
{
    struct reader *r = user;
    int *depth = depth_of(r, type);
    (void)detail;
    if (type == MD_SPAN_A)
        end_link(r);
    if (is_math(type))
        end_math(r);
    if (depth)
        --*depth;
    take_style(r);
    return r->out.failed;
}

/* ---- leaf blocks ---- */

/* NULL outside of lists and in lists too deep to be drawn apart. */
static struct list *current_list(struct reader *r)
{
    return r->depth > 0 && r->depth <= LIST_DEPTH ? &r->list[r->depth - 1]
                                                  : NULL;
}

static void open_leaf(struct reader *r, enum lab_md_kind kind)
{
    struct list *l = current_list(r);
    bool tight = l && l->tight && (l->started || r->depth > 1);
    if (l)
        l->started = true;
    r->leaf = (struct lab_md_block){.kind = kind,
                                    .quote = r->quote,
                                    .indent = r->depth,
                                    .marker = r->marker,
                                    .tight = tight};
    r->marker = NULL;
    r->open = true;
    r->out.n = 0;
    r->displays = 0;
    r->out.style = current_style(r);
    lab_str_clear(&r->out.text);
}

static void add_block(struct reader *r)
{
    if (!r->out.failed &&
        check(&r->out, !lab_grow(&r->blocks, r->n_blocks, &r->cap_blocks,
                                 sizeof(*r->blocks), "the text")))
        r->blocks[r->n_blocks++] = r->leaf;
}

static void close_leaf(struct reader *r)
{
    if (!r->open)
        return;
    r->leaf.spans = keep_spans(&r->out, &r->leaf.n_spans);
    if (r->leaf.kind == LAB_MD_PARAGRAPH && r->displays == 1 &&
        r->leaf.n_spans == 1)
        r->leaf.kind = LAB_MD_MATH;
    add_block(r);
    r->open = false;
}

/* Counts on from the last place: text arrives in the file's order. */
static void note_line(struct reader *r, const char *text)
{
    if (r->leaf.line || text < r->md || text >= r->md + r->size)
        return;
    size_t at = (size_t)(text - r->md);
    for (; r->counted < at; r->counted++)
        r->line += r->md[r->counted] == '\n';
    r->leaf.line = r->line;
}

static void begin_item(struct reader *r)
{
    char marker[32] = "•";
    struct list *l = current_list(r);
    if (l && l->ordered)
        snprintf(marker, sizeof(marker), "%lu.", l->next++);
    r->marker = lab_arena_text(r->out.arena, marker, strlen(marker));
    check(&r->out, r->marker != NULL);
}

static void begin_list(struct reader *r, bool ordered, unsigned first,
                       bool tight)
{
    close_leaf(r);
    r->depth++;
    struct list *l = current_list(r);
    if (l)
        *l = (struct list){.ordered = ordered, .tight = tight, .next = first};
}

static void begin_table(struct reader *r, const MD_BLOCK_TABLE_DETAIL *t)
{
    open_leaf(r, LAB_MD_TABLE);
    r->leaf.columns = t->col_count;
    r->too_large = t->col_count > MAX_COLUMNS;
    r->leaf.rows = (size_t)t->head_row_count + t->body_row_count;
    r->n_cells = 0;
    enum lab_md_align *align =
        lab_arena_array(r->out.arena, t->col_count, sizeof(*align));
    check(&r->out, align != NULL);
    r->leaf.align = align;
}

static void end_cell(struct reader *r, const MD_BLOCK_TD_DETAIL *td)
{
    if (!check(&r->out, !lab_grow(&r->cells, r->n_cells, &r->cap_cells,
                                  sizeof(*r->cells), "the text")))
        return;
    r->too_large = r->too_large || r->n_cells >= MAX_CELLS;
    struct lab_md_cell *cell = &r->cells[r->n_cells++];
    cell->spans = keep_spans(&r->out, &cell->n_spans);
    enum lab_md_align *align = (enum lab_md_align *)r->leaf.align;
    if (r->n_cells <= r->leaf.columns)
        align[r->n_cells - 1] = td->align == MD_ALIGN_RIGHT    ? LAB_MD_RIGHT
                                : td->align == MD_ALIGN_CENTER ? LAB_MD_CENTER
                                                               : LAB_MD_LEFT;
}

static void end_table(struct reader *r)
{
    struct lab_md_cell *kept =
        lab_arena_array(r->out.arena, r->n_cells, sizeof(*kept));
    if (check(&r->out, kept != NULL) && r->n_cells)
        memcpy(kept, r->cells, r->n_cells * sizeof(*kept));
    r->leaf.cells = kept;
    r->leaf.rows = r->leaf.columns ? r->n_cells / r->leaf.columns : 0;
    r->out.n = 0;
    add_block(r);
    r->open = false;
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *user)
{
    struct reader *r = user;
    switch (type) {
    case MD_BLOCK_QUOTE:
        close_leaf(r);
        r->quote++;
        break;
    case MD_BLOCK_UL:
        begin_list(r, false, 0, ((MD_BLOCK_UL_DETAIL *)detail)->is_tight);
        break;
    case MD_BLOCK_OL:
        begin_list(r, true, ((MD_BLOCK_OL_DETAIL *)detail)->start,
                   ((MD_BLOCK_OL_DETAIL *)detail)->is_tight);
        break;
    case MD_BLOCK_LI:
        close_leaf(r);
        begin_item(r);
        break;
    case MD_BLOCK_HR:
        open_leaf(r, LAB_MD_RULE);
        break;
    case MD_BLOCK_H:
        open_leaf(r, LAB_MD_HEADING);
        r->leaf.level = (int)((MD_BLOCK_H_DETAIL *)detail)->level;
        break;
    case MD_BLOCK_CODE:
        close_leaf(r);
        open_leaf(r, LAB_MD_CODE);
        r->code++;
        take_style(r);
        break;
    case MD_BLOCK_P:
        open_leaf(r, LAB_MD_PARAGRAPH);
        break;
    case MD_BLOCK_TABLE:
        close_leaf(r);
        begin_table(r, detail);
        break;
    case MD_BLOCK_TH:
        r->strong++;
        take_style(r);
        break;
    default:
        break;
    }
    return r->out.failed || (r->too_large && r->leaf.line);
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *user)
{
    struct reader *r = user;
    switch (type) {
    case MD_BLOCK_QUOTE:
        close_leaf(r);
        r->quote--;
        break;
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        r->depth--;
        break;
    case MD_BLOCK_LI:
        if (r->marker && !r->open) /* an item without text */
            open_leaf(r, LAB_MD_PARAGRAPH);
        close_leaf(r);
        break;
    case MD_BLOCK_CODE:
        close_leaf(r);
        r->code--;
        break;
    case MD_BLOCK_HR:
    case MD_BLOCK_H:
    case MD_BLOCK_P:
        close_leaf(r);
        break;
    case MD_BLOCK_TABLE:
        end_table(r);
        break;
    case MD_BLOCK_TH:
        end_cell(r, detail);
        r->strong--;
        take_style(r);
        break;
    case MD_BLOCK_TD:
        end_cell(r, detail);
        break;
    default:
        break;
    }
    return r->out.failed || (r->too_large && r->leaf.line);
}

/* How many bytes at the beginning of a code span, or of a line of a code block, are the
 * program's name, as the first word of a command. */
static MD_SIZE command_name(const struct reader *r, const MD_CHAR *s, MD_SIZE n)
{
    static const char name[] = "lapenna-lab";
    const MD_SIZE bytes = sizeof(name) - 1;
    const bool is_first =
        r->code > 0 && n >= bytes && memcmp(s, name, bytes) == 0;
    return is_first && (n == bytes || s[bytes] == ' ') ? bytes : 0;
}

static int on_text(MD_TEXTTYPE type, const MD_CHAR *s, MD_SIZE n, void *user)
{
    struct reader *r = user;
    MD_SIZE named;
    if (!r->open) /* tight lists have text without a paragraph */
        open_leaf(r, LAB_MD_PARAGRAPH);
    note_line(r, s);
    take_style(r);
    switch (type) {
    case MD_TEXT_NULLCHAR:
        lab_str_add(&r->out.text, "\\x00");
        break;
    case MD_TEXT_BR:
        flush_span(&r->out);
        lab_str_add_char(&r->out.text, '\n');
        flush_span(&r->out);
        break;
    case MD_TEXT_SOFTBR:
        lab_str_add_char(&r->out.text, ' ');
        break;
    case MD_TEXT_ENTITY:
        add_entity(&r->out.text, s, n);
        break;
    case MD_TEXT_LATEXMATH:
        lab_str_add_bytes(&r->out.text, s, n); /* texmath makes it safe */
        break;
    default:
        /* A command can be typed as it is shown: `./lab run`, from a clone. */
        named = command_name(r, s, n);
        if (named > 0)
            lab_command_add(&r->out.text, false);
        lab_str_add_visible(&r->out.text, s + named, n - named,
                            r->leaf.kind == LAB_MD_CODE);
        break;
    }
    return r->out.failed || r->too_large;
}

enum lab_status lab_md_read(struct lab_arena *arena, const char *md, size_t n,
                            int first_line, struct lab_md *out, int *bad_line)
{
    static const MD_PARSER parser = {
        .flags = MD_FLAG_TABLES | MD_FLAG_LATEXMATHSPANS | MD_FLAG_NOHTML,
        .enter_block = enter_block,
        .leave_block = leave_block,
        .enter_span = enter_span,
        .leave_span = leave_span,
        .text = on_text};
    struct lab_str text;
    struct lab_md_block *kept = NULL;
    lab_str_init(&text);
    widen_rules(&text, md, n);
    struct reader r = {.out = {.arena = arena, .failed = text.failed},
                       .md = lab_str_text(&text),
                       .size = text.len,
                       .line = first_line};

    int rc = r.out.failed ? -1 : md_parse(r.md, (MD_SIZE)r.size, &parser, &r);
    if (rc == 0 && !r.out.failed)
        kept = lab_arena_array(arena, r.n_blocks, sizeof(*kept));
    if (kept) {
        if (r.n_blocks)
            memcpy(kept, r.blocks, r.n_blocks * sizeof(*kept));
        out->blocks = kept;
        out->n_blocks = r.n_blocks;
    }
    lab_free(r.blocks);
    lab_free(r.out.items);
    lab_free(r.cells);
    lab_str_release(&r.out.text);
    lab_str_release(&text);
    if (r.too_large && !r.out.failed) {
        *bad_line = r.leaf.line;
        return lab_fail(
            LAB_E_RANGE,
            "[lesson.table.large] a table of more than %d columns or %d cells",
            MAX_COLUMNS, MAX_CELLS);
    }
    if (!kept)
        return lab_fail(LAB_E_NOMEM, "no memory left for the lesson's text");
    return LAB_OK;
}

/* ---- blocks into lines of a width ---- */

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
    struct spans out; /* of the open line */
    struct lab_md_line *lines;
    size_t n_lines;
    size_t cap_lines;
    lab_md_ascii_fn *ascii; /* NULL: text stays Unicode */
    int columns;
    int block;
    const struct lab_md_block *current;
    bool first_line; /* of the block: the marker is there */
    struct glyphs glyphs;
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

static void put(struct wrapper *w, unsigned style, const char *text, size_t len)
{
    set_style(&w->out, style);
    lab_str_add_bytes(&w->out.text, text, len);
}

static void pad(struct wrapper *w, unsigned style, const char *text, int times)
{
    for (int i = 0; i < times; i++)
        put(w, style, text, strlen(text));
}

static void end_line(struct wrapper *w)
{
    struct lab_str *text = &w->out.text;
    struct lab_md_line line = {.block = w->block};
    /* Blanks at the end of a line only make it longer. */
    while (text->len > 0 && text->data[text->len - 1] == ' ' &&
           !(w->out.style & LAB_SPAN_CODE))
        text->data[--text->len] = '\0';
    line.spans = keep_spans(&w->out, &line.n_spans);
    if (!w->out.failed &&
        check(&w->out, !lab_grow(&w->lines, w->n_lines, &w->cap_lines,
                                 sizeof(*w->lines), "the text")))
        w->lines[w->n_lines++] = line;
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
        w->out.failed = true;
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
    for (text = text ? text : "?"; *text && !w->out.failed; text++)
        add_glyph(w, out, text, 1, 1, style);
}

static void collect(struct wrapper *w, const struct lab_md_span *spans,
                    size_t n_spans, struct glyphs *out)
{
    out->count = 0;
    for (size_t k = 0; k < n_spans && !w->out.failed; k++) {
        const char *s = spans[k].text;
        size_t n = strlen(s);
        for (size_t i = 0; i < n && !w->out.failed;) {
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
    while (!w->out.failed &&
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

/* The end of a row of code that goes on: behind a blank in its second half, so that
 * words stay whole; else `end`. */
static size_t code_break(const struct glyphs *list, size_t at, size_t end)
{
    for (size_t i = end; i > at + (end - at) / 2; i--)
        if (is_blank(&list->items[i - 1]))
            return i;
    return end;
}

static int columns_of(const struct glyphs *list, size_t from, size_t end)
{
    int columns = 0;
    while (from < end)
        columns += list->items[from++].columns;
    return columns;
}

/* The backslash that joins a line to the next is as far right as those of the lines
 * around it: where that is too far, one blank before it is enough. Returns the end. */
static size_t draw_in_backslash(struct glyphs *list, size_t from, size_t end)
{
    const struct glyph *last = end > from ? &list->items[end - 1] : NULL;
    size_t text = end;
    if (!last || last->len != 1 || *last->bytes != '\\')
        return end;
    for (text = end - 1; text > from && is_blank(&list->items[text - 1]);)
        text--;
    if (text + 2 > end) /* no blank, or one alone */
        return end;
    const size_t cut = end - 1 - (text + 1);
    memmove(&list->items[text + 1], &list->items[end - 1],
            (list->count - (end - 1)) * sizeof(*list->items));
    list->count -= cut;
    return end - cut;
}

/* Code keeps its blanks; a line that is too long goes on in the next, after a mark, with
 * its indentation. */
static void put_code(struct wrapper *w, const struct lab_md_block *b)
{
    enum { MARK = 2 }; /* columns */
    const char *mark = w->ascii ? "~ " : "… ";
    const int width = width_left(w) - CODE_INDENT;
    struct glyphs *list = &w->glyphs;
    collect(w, b->spans, b->n_spans, list);
    for (size_t i = 0; i < list->count && !w->out.failed;) {
        size_t end = i;
        int indent = 0;
        while (end < list->count && !is_break(&list->items[end]))
            end++;
        while (i + (size_t)indent < end && is_blank(&list->items[i + indent]))
            indent++;
        indent = indent < width / 2 - MARK ? indent : width / 2 - MARK;
        if (columns_of(list, i, end) > width)
            end = draw_in_backslash(list, i, end);
        bool more = false;
        do {
            const int room = more ? width - indent - MARK : width;
            struct piece piece = {i, i, 0};
            while (piece.end < end &&
                   piece.columns + list->items[piece.end].columns <= room)
                piece.columns += list->items[piece.end++].columns;
            if (piece.end < end)
                piece.end = code_break(list, i, piece.end);
            begin_line(w);
            pad(w, LAB_SPAN_PLAIN, " ", CODE_INDENT + (more ? indent : 0));
            if (more)
                pad(w, LAB_SPAN_FRAME, mark, 1);
            put_piece(w, list, &piece);
            end_line(w);
            i = piece.end;
            more = true;
        } while (i < end && !w->out.failed);
        i = end + 1;
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
    struct wrapper w = {.columns =
                            columns > LEAST_COLUMNS ? columns : LEAST_COLUMNS,
                        .ascii = ascii,
                        .out.arena = lab_alloc(sizeof(struct lab_arena))};
    check(&w.out, w.out.arena != NULL);
    for (size_t i = 0; i < doc->n_blocks && !w.out.failed; i++) {
        w.block = (int)i;
        if (i > 0 && !doc->blocks[i].tight)
            blank_line(&w);
        put_block(&w, &doc->blocks[i]);
    }
    lab_free(w.out.items);
    lab_free(w.glyphs.items);
    lab_str_release(&w.out.text);
    struct lab_md_lines lines = {w.lines, w.n_lines, w.out.arena};
    if (w.out.failed) {
        lab_md_lines_release(&lines);
        return lab_fail(LAB_E_NOMEM, "no memory left to lay the text out");
    }
    *out = lines;
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

/* A column, and the cell of the current row in it. */
struct column {
    int width;
    struct glyphs cell;
    size_t next; /* glyph of the cell */
};

/* Every column as wide as its widest cell; while they do not fit together,
 * the widest one gives way. False: even with each at LEAST_CELL, or at its widest
 * cell where that is less, they do not. */
static bool choose_widths(struct wrapper *w, const struct lab_md_block *b,
                          int available, struct column *columns)
{
    int total = 0;
    int smallest = 0;
    for (size_t c = 0; c < b->columns; c++) {
        columns[c].width = 1;
        for (size_t r = 0; r < b->rows; r++) {
            int n = least(natural_width(w, cell_at(b, r, c)), available);
            columns[c].width = n > columns[c].width ? n : columns[c].width;
        }
        total += columns[c].width;
        smallest += least(columns[c].width, LEAST_CELL);
    }
    if (smallest > available)
        return false;
    for (; total > available; total--) {
        struct column *widest = columns;
        for (size_t c = 1; c < b->columns; c++) {
            if (columns[c].width > widest->width)
                widest = &columns[c];
        }
        widest->width--;
    }
    return true;
}

static void put_cell_line(struct wrapper *w, struct column *c,
                          enum lab_md_align align)
{
    struct piece piece = {0};
    bool any = next_line(&c->cell, c->next, c->width, &piece, &c->next);
    int room = c->width - piece.columns;
    int before = align == LAB_MD_RIGHT    ? room
                 : align == LAB_MD_CENTER ? room / 2
                                          : 0;
    pad(w, LAB_SPAN_PLAIN, " ", before);
    if (any)
        put_piece(w, &c->cell, &piece);
    pad(w, LAB_SPAN_PLAIN, " ", room - before);
}

/* One row takes as many lines as its fullest cell needs. */
static void put_row(struct wrapper *w, const struct lab_md_block *b, size_t row,
                    struct column *columns)
{
    bool more = true;
    for (size_t c = 0; c < b->columns; c++) {
        const struct lab_md_cell *cell = cell_at(b, row, c);
        collect(w, cell->spans, cell->n_spans, &columns[c].cell);
        columns[c].next = 0;
    }
    while (more && !w->out.failed) {
        more = false;
        begin_line(w);
        for (size_t c = 0; c < b->columns; c++) {
            if (c > 0)
                pad(w, LAB_SPAN_FRAME, " │ ", 1);
            put_cell_line(w, &columns[c], b->align[c]);
            more = more || columns[c].next < columns[c].cell.count;
        }
        end_line(w);
    }
}

static void put_head_rule(struct wrapper *w, const struct lab_md_block *b,
                          const struct column *columns)
{
    begin_line(w);
    for (size_t c = 0; c < b->columns; c++) {
        if (c > 0)
            pad(w, LAB_SPAN_FRAME, "─┼─", 1);
        pad(w, LAB_SPAN_FRAME, "─", columns[c].width);
    }
    end_line(w);
}

/* A cell in lines of its own; the head ends in ":". */
static void put_cell(struct wrapper *w, const struct lab_md_cell *cell,
                     bool head)
{
    struct piece piece;
    size_t next = 0;
    int width = width_left(w) - (head ? 1 : 2);
    collect(w, cell->spans, cell->n_spans, &w->glyphs);
    while (!w->out.failed &&
           next_line(&w->glyphs, next, width, &piece, &next)) {
        begin_line(w);
        pad(w, LAB_SPAN_PLAIN, " ", head ? 0 : 2);
        put_piece(w, &w->glyphs, &piece);
        if (head && next >= w->glyphs.count)
            pad(w, LAB_SPAN_FRAME, ":", 1);
        end_line(w);
    }
}

/* Too wide for the screen: every cell under its head. */
static void put_as_list(struct wrapper *w, const struct lab_md_block *b)
{
    for (size_t r = 1; r < b->rows; r++) {
        for (size_t c = 0; c < b->columns && !w->out.failed; c++) {
            put_cell(w, cell_at(b, 0, c), true);
            put_cell(w, cell_at(b, r, c), false);
        }
    }
}

static void put_table(struct wrapper *w, const struct lab_md_block *b)
{
    if (b->columns == 0 || b->rows == 0)
        return;
    int gaps = SEPARATOR_COLUMNS * ((int)b->columns - 1);
    struct column *columns = lab_alloc_array(b->columns, sizeof(*columns));
    if (!check(&w->out, columns != NULL))
        return;
    bool fits = choose_widths(w, b, width_left(w) - gaps, columns);
    if (!fits)
        put_as_list(w, b);
    for (size_t r = 0; fits && r < b->rows && !w->out.failed; r++) {
        put_row(w, b, r, columns);
        if (r == 0)
            put_head_rule(w, b, columns);
    }
    for (size_t c = 0; c < b->columns; c++)
        lab_free(columns[c].cell.items);
    lab_free(columns);
}
