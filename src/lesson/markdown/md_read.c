/* md_read.c -- Markdown through md4c: blocks and spans, entities, TeX. */
#include "md_read.h"

#include <md4c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lesson/texmath.h"

enum {
    LAB_MD_LIST_DEPTH = 16,
    /* md4c fills short rows up: without a limit a small file makes a table of
     * billions of cells. */
    LAB_MD_MAX_COLUMNS = 64,
    LAB_MD_MAX_CELLS = 100000
};

struct lab_md_list {
    bool ordered;
    bool tight;
    bool started; /* its first block has been seen */
    unsigned long next;
};

struct lab_md_reader {
    struct lab_arena *arena;
    const char *md;
    size_t size;
    int line;       /* of the byte at `counted` */
    size_t counted; /* bytes whose line ends are in `line` */

    struct lab_md_block *blocks;
    size_t n_blocks;
    size_t cap_blocks;
    struct lab_md_span *spans; /* of the open leaf or cell */
    size_t n_spans;
    size_t cap_spans;
    struct lab_md_cell *cells; /* of the open table */
    size_t n_cells;
    size_t cap_cells;

    bool open;                /* a leaf block takes text */
    struct lab_md_block leaf; /* that block */
    struct lab_str text;      /* of the open span */
    unsigned style;           /* of the open span */
    int strong;               /* nesting of spans */
    int emph;
    int code;
    int link;
    bool math;
    size_t displays; /* $$...$$ in the open leaf */
    const char *href;

    int quote;
    int depth; /* of lists */
    struct lab_md_list list[LAB_MD_LIST_DEPTH];
    const char *marker; /* waits for the first block of its item */
    bool too_large;     /* the open table */
    bool failed;
};

static void add_code_point(struct lab_str *out, unsigned long code)
{
    char s[5] = {0};
    if (code < 0x80) {
        s[0] = (char)code;
    } else if (code < 0x800) {
        s[0] = (char)(0xC0 | code >> 6);
        s[1] = (char)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        s[0] = (char)(0xE0 | code >> 12);
        s[1] = (char)(0x80 | (code >> 6 & 0x3F));
        s[2] = (char)(0x80 | (code & 0x3F));
    } else if (code <= 0x10FFFF) {
        s[0] = (char)(0xF0 | code >> 18);
        s[1] = (char)(0x80 | (code >> 12 & 0x3F));
        s[2] = (char)(0x80 | (code >> 6 & 0x3F));
        s[3] = (char)(0x80 | (code & 0x3F));
    }
    lab_str_add_visible(out, s, strlen(s), false);
}

/* "&lt;", "&#955;", "&#x3bb;". Unknown ones stay as they are written. */
static void md_add_entity(struct lab_str *out, const char *s, size_t n)
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
        add_code_point(out, strtoul(text + (hex ? 3 : 2), NULL, hex ? 16 : 10));
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

/* Ends the open span. */
static void md_flush_span(struct lab_md_reader *r)
{
    if (r->text.failed)
        r->failed = true;
    if (r->failed || r->text.len == 0)
        return;
    if (lab_grow(&r->spans, r->n_spans, &r->cap_spans, sizeof(*r->spans),
                 "the text")) {
        r->failed = true;
        return;
    }
    char *text = lab_arena_text(r->arena, r->text.data, r->text.len);
    if (!text) {
        r->failed = true;
        return;
    }
    r->spans[r->n_spans++] = (struct lab_md_span){r->style, text};
    lab_str_clear(&r->text);
}

static unsigned md_current_style(const struct lab_md_reader *r)
{
    unsigned style = LAB_SPAN_PLAIN;
    if (r->strong)
        style |= LAB_SPAN_STRONG;
    if (r->emph)
        style |= LAB_SPAN_EMPH;
    if (r->code)
        style |= LAB_SPAN_CODE;
    if (r->link)
        style |= LAB_SPAN_LINK;
    if (r->math)
        style |= LAB_SPAN_MATH;
    if (r->leaf.kind == LAB_MD_HEADING)
        style |= LAB_SPAN_HEADING;
    return style;
}

static void md_set_style(struct lab_md_reader *r)
{
    unsigned style = md_current_style(r);
    if (style != r->style)
        md_flush_span(r);
    r->style = style;
}

/* Copies the collected spans to where they stay. */
static const struct lab_md_span *md_keep_spans(struct lab_md_reader *r,
                                               size_t *count)
{
    md_flush_span(r);
    *count = 0;
    if (r->failed || r->n_spans == 0)
        return NULL;
    struct lab_md_span *kept =
        lab_arena_array(r->arena, r->n_spans, sizeof(*kept));
    if (!kept) {
        r->failed = true;
        return NULL;
    }
    memcpy(kept, r->spans, r->n_spans * sizeof(*kept));
    *count = r->n_spans;
    r->n_spans = 0;
    return kept;
}

static void keep_href(struct lab_md_reader *r, const MD_ATTRIBUTE *href)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_str_add_visible(&text, href->text, href->size, false);
    r->href = lab_arena_text(r->arena, lab_str_text(&text), text.len);
    if (text.failed || !r->href)
        r->failed = true;
    lab_str_release(&text);
}

static int md_enter_span(MD_SPANTYPE type, void *detail, void *user)
{
    struct lab_md_reader *r = user;
    switch (type) {
    case MD_SPAN_EM:
        r->emph++;
        break;
    case MD_SPAN_STRONG:
        r->strong++;
        break;
    case MD_SPAN_CODE:
        r->code++;
        break;
    case MD_SPAN_A:
        r->link++;
        keep_href(r, &((MD_SPAN_A_DETAIL *)detail)->href);
        break;
    case MD_SPAN_LATEXMATH_DISPLAY:
        r->math = true;
        r->displays++;
        break;
    case MD_SPAN_LATEXMATH:
        r->math = true;
        break;
    default:
        break;
    }
    md_set_style(r);
    return r->failed;
}

/* A link that only a pointer could follow shows where it leads. */
static void end_link(struct lab_md_reader *r)
{
    const char *text = lab_str_text(&r->text);
    if (r->href && *r->href && *r->href != '#' && strcmp(text, r->href) != 0)
        lab_str_addf(&r->text, " (%s)", r->href);
    r->href = NULL;
    r->link--;
}

static void end_math(struct lab_md_reader *r)
{
    struct lab_str tex = r->text;
    lab_str_init(&r->text);
    lab_texmath_add(&r->text, lab_str_text(&tex), tex.len);
    r->text.failed |= tex.failed;
    lab_str_release(&tex);
    md_flush_span(r);
    r->math = false;
}

static int md_leave_span(MD_SPANTYPE type, void *detail, void *user)
{
    struct lab_md_reader *r = user;
    (void)detail;
    switch (type) {
    case MD_SPAN_EM:
        r->emph--;
        break;
    case MD_SPAN_STRONG:
        r->strong--;
        break;
    case MD_SPAN_CODE:
        r->code--;
        break;
    case MD_SPAN_A:
        end_link(r);
        break;
    case MD_SPAN_LATEXMATH:
    case MD_SPAN_LATEXMATH_DISPLAY:
        end_math(r);
        break;
    default:
        break;
    }
    md_set_style(r);
    return r->failed;
}

/* ---- leaf blocks ---- */

/* NULL outside of lists and in lists too deep to be drawn apart. */
static struct lab_md_list *current_list(struct lab_md_reader *r)
{
    return r->depth > 0 && r->depth <= LAB_MD_LIST_DEPTH
               ? &r->list[r->depth - 1]
               : NULL;
}

static void open_leaf(struct lab_md_reader *r, enum lab_md_kind kind)
{
    struct lab_md_list *l = current_list(r);
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
    r->n_spans = 0;
    r->displays = 0;
    r->style = md_current_style(r);
    lab_str_clear(&r->text);
}

static void add_block(struct lab_md_reader *r)
{
    if (r->failed)
        return;
    if (lab_grow(&r->blocks, r->n_blocks, &r->cap_blocks, sizeof(*r->blocks),
                 "the text")) {
        r->failed = true;
        return;
    }
    r->blocks[r->n_blocks++] = r->leaf;
}

static void close_leaf(struct lab_md_reader *r)
{
    if (!r->open)
        return;
    r->leaf.spans = md_keep_spans(r, &r->leaf.n_spans);
    if (r->leaf.kind == LAB_MD_PARAGRAPH && r->displays == 1 &&
        r->leaf.n_spans == 1)
        r->leaf.kind = LAB_MD_MATH;
    add_block(r);
    r->open = false;
}

/* Counts on from the last place: text arrives in the file's order. */
static void note_line(struct lab_md_reader *r, const char *text)
{
    if (r->leaf.line || text < r->md || text >= r->md + r->size)
        return;
    size_t at = (size_t)(text - r->md);
    for (; r->counted < at; r->counted++)
        r->line += r->md[r->counted] == '\n';
    r->leaf.line = r->line;
}

static void begin_item(struct lab_md_reader *r)
{
    char marker[32] = "•";
    struct lab_md_list *l = current_list(r);
    if (l && l->ordered)
        snprintf(marker, sizeof(marker), "%lu.", l->next++);
    r->marker = lab_arena_text(r->arena, marker, strlen(marker));
    if (!r->marker)
        r->failed = true;
}

static void begin_list(struct lab_md_reader *r, bool ordered, unsigned first,
                       bool tight)
{
    close_leaf(r);
    r->depth++;
    struct lab_md_list *l = current_list(r);
    if (l)
        *l = (struct lab_md_list){
            .ordered = ordered, .tight = tight, .next = first};
}

static void begin_table(struct lab_md_reader *r, const MD_BLOCK_TABLE_DETAIL *t)
{
    open_leaf(r, LAB_MD_TABLE);
    r->leaf.columns = t->col_count;
    r->too_large = t->col_count > LAB_MD_MAX_COLUMNS;
    r->leaf.rows = (size_t)t->head_row_count + t->body_row_count;
    r->n_cells = 0;
    enum lab_md_align *align =
        lab_arena_array(r->arena, t->col_count, sizeof(*align));
    if (!align)
        r->failed = true;
    r->leaf.align = align;
}

static void end_cell(struct lab_md_reader *r, const MD_BLOCK_TD_DETAIL *td)
{
    if (lab_grow(&r->cells, r->n_cells, &r->cap_cells, sizeof(*r->cells),
                 "the text"))
        r->failed = true;
    if (r->failed)
        return;
    r->too_large = r->too_large || r->n_cells >= LAB_MD_MAX_CELLS;
    struct lab_md_cell *cell = &r->cells[r->n_cells++];
    cell->spans = md_keep_spans(r, &cell->n_spans);
    enum lab_md_align *align = (enum lab_md_align *)r->leaf.align;
    if (r->n_cells <= r->leaf.columns)
        align[r->n_cells - 1] = td->align == MD_ALIGN_RIGHT    ? LAB_MD_RIGHT
                                : td->align == MD_ALIGN_CENTER ? LAB_MD_CENTER
                                                               : LAB_MD_LEFT;
}

static void end_table(struct lab_md_reader *r)
{
    struct lab_md_cell *kept =
        lab_arena_array(r->arena, r->n_cells, sizeof(*kept));
    if (!kept)
        r->failed = true;
    if (!r->failed && r->n_cells)
        memcpy(kept, r->cells, r->n_cells * sizeof(*kept));
    r->leaf.cells = kept;
    r->leaf.rows = r->leaf.columns ? r->n_cells / r->leaf.columns : 0;
    r->n_spans = 0;
    add_block(r);
    r->open = false;
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *user)
{
    struct lab_md_reader *r = user;
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
        md_set_style(r);
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
        md_set_style(r);
        break;
    default:
        break;
    }
    return r->failed || (r->too_large && r->leaf.line);
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *user)
{
    struct lab_md_reader *r = user;
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
        md_set_style(r);
        break;
    case MD_BLOCK_TD:
        end_cell(r, detail);
        break;
    default:
        break;
    }
    return r->failed || (r->too_large && r->leaf.line);
}

static int on_text(MD_TEXTTYPE type, const MD_CHAR *s, MD_SIZE n, void *user)
{
    struct lab_md_reader *r = user;
    if (!r->open) /* tight lists have text without a paragraph */
        open_leaf(r, LAB_MD_PARAGRAPH);
    note_line(r, s);
    md_set_style(r);
    switch (type) {
    case MD_TEXT_NULLCHAR:
        lab_str_add(&r->text, "\\x00");
        break;
    case MD_TEXT_BR:
        md_flush_span(r);
        lab_str_add_char(&r->text, '\n');
        md_flush_span(r);
        break;
    case MD_TEXT_SOFTBR:
        lab_str_add_char(&r->text, ' ');
        break;
    case MD_TEXT_ENTITY:
        md_add_entity(&r->text, s, n);
        break;
    case MD_TEXT_LATEXMATH:
        lab_str_add_bytes(&r->text, s, n); /* texmath makes it safe */
        break;
    default:
        lab_str_add_visible(&r->text, s, n, r->leaf.kind == LAB_MD_CODE);
        break;
    }
    return r->failed || r->too_large;
}

enum lab_status lab_md_read(struct lab_arena *arena, const char *md, size_t n,
                            int first_line, struct lab_md *out, int *bad_line)
{
    static const MD_PARSER parser = {
        .flags = MD_FLAG_TABLES | MD_FLAG_LATEXMATHSPANS | MD_FLAG_NOHTML,
        .enter_block = enter_block,
        .leave_block = leave_block,
        .enter_span = md_enter_span,
        .leave_span = md_leave_span,
        .text = on_text};
    struct lab_str text;
    struct lab_md_block *kept = NULL;
    lab_str_init(&text);
    lab_md_widen_rules(&text, md, n);
    struct lab_md_reader r = {.arena = arena,
                              .md = lab_str_text(&text),
                              .size = text.len,
                              .line = first_line,
                              .failed = text.failed};
    lab_str_init(&r.text);
    int rc = r.failed ? -1 : md_parse(r.md, (MD_SIZE)r.size, &parser, &r);
    if (rc == 0 && !r.failed)
        kept = lab_arena_array(arena, r.n_blocks, sizeof(*kept));
    if (kept) {
        if (r.n_blocks)
            memcpy(kept, r.blocks, r.n_blocks * sizeof(*kept));
        out->blocks = kept;
        out->n_blocks = r.n_blocks;
    }
    lab_free(r.blocks);
    lab_free(r.spans);
    lab_free(r.cells);
    lab_str_release(&r.text);
    lab_str_release(&text);
    if (r.too_large && !r.failed) {
        *bad_line = r.leaf.line;
        return lab_fail(LAB_E_RANGE,
                        "a table of more than %d columns or %d cells",
                        LAB_MD_MAX_COLUMNS, LAB_MD_MAX_CELLS);
    }
    if (!kept)
        return lab_fail(LAB_E_NOMEM, "no memory left for the lesson's text");
    return LAB_OK;
}

char *lab_md_plain(struct lab_arena *arena, const struct lab_md_span *spans,
                   size_t n_spans)
{
    struct lab_str text;
    lab_str_init(&text);
    for (size_t i = 0; i < n_spans; i++)
        lab_str_add(&text, spans[i].text);
    char *copy = text.failed
                     ? NULL
                     : lab_arena_text(arena, lab_str_text(&text), text.len);
    lab_str_release(&text);
    return copy;
}
