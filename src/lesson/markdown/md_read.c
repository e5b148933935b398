/* md_read.c -- Markdown through md4c: blocks and spans, entities, TeX. */
#include "md_read.h"

#include <md4c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lesson/texmath.h"

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
    struct list list[LIST_DEPTH];
    const char *marker; /* waits for the first block of its item */
    bool too_large;     /* the open table */
    bool failed;
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

/* Whether reading goes on: `got` is false when memory was short. */
static bool check(struct reader *r, bool got)
{
    r->failed = r->failed || !got;
    return !r->failed;
}

/* Ends the open span. */
static void flush_span(struct reader *r)
{
    if (!check(r, !r->text.failed) || r->text.len == 0 ||
        !check(r, !lab_grow(&r->spans, r->n_spans, &r->cap_spans,
                            sizeof(*r->spans), "the text")))
        return;
    char *text = lab_arena_text(r->arena, r->text.data, r->text.len);
    r->spans[r->n_spans] = (struct lab_md_span){r->style, text};
    r->n_spans += check(r, text != NULL);
    lab_str_clear(&r->text);
}

static unsigned current_style(const struct reader *r)
{
    return (r->strong ? LAB_SPAN_STRONG : 0u) | (r->emph ? LAB_SPAN_EMPH : 0u) |
           (r->code ? LAB_SPAN_CODE : 0u) | (r->link ? LAB_SPAN_LINK : 0u) |
           (r->math ? LAB_SPAN_MATH : 0u) |
           (r->leaf.kind == LAB_MD_HEADING ? LAB_SPAN_HEADING : 0u);
}

static void set_style(struct reader *r)
{
    unsigned style = current_style(r);
    if (style != r->style)
        flush_span(r);
    r->style = style;
}

/* Copies the collected spans to where they stay. */
static const struct lab_md_span *keep_spans(struct reader *r, size_t *count)
{
    flush_span(r);
    *count = 0;
    if (r->failed || r->n_spans == 0)
        return NULL;
    struct lab_md_span *kept =
        lab_arena_array(r->arena, r->n_spans, sizeof(*kept));
    if (!check(r, kept != NULL))
        return NULL;
    memcpy(kept, r->spans, r->n_spans * sizeof(*kept));
    *count = r->n_spans;
    r->n_spans = 0;
    return kept;
}

static void keep_href(struct reader *r, const MD_ATTRIBUTE *href)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_str_add_visible(&text, href->text, href->size, false);
    r->href = lab_arena_text(r->arena, lab_str_text(&text), text.len);
    check(r, !text.failed && r->href);
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
    set_style(r);
    return r->failed;
}

/* A link that only a pointer could follow shows where it leads. */
static void end_link(struct reader *r)
{
    const char *text = lab_str_text(&r->text);
    if (r->href && *r->href && *r->href != '#' && strcmp(text, r->href) != 0)
        lab_str_addf(&r->text, " (%s)", r->href);
    r->href = NULL;
}

static void end_math(struct reader *r)
{
    struct lab_str tex = r->text;
    lab_str_init(&r->text);
    lab_texmath_add(&r->text, lab_str_text(&tex), tex.len);
    r->text.failed |= tex.failed;
    lab_str_release(&tex);
    flush_span(r);
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
    set_style(r);
    return r->failed;
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
    r->n_spans = 0;
    r->displays = 0;
    r->style = current_style(r);
    lab_str_clear(&r->text);
}

static void add_block(struct reader *r)
{
    if (!r->failed &&
        check(r, !lab_grow(&r->blocks, r->n_blocks, &r->cap_blocks,
                           sizeof(*r->blocks), "the text")))
        r->blocks[r->n_blocks++] = r->leaf;
}

static void close_leaf(struct reader *r)
{
    if (!r->open)
        return;
    r->leaf.spans = keep_spans(r, &r->leaf.n_spans);
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
    r->marker = lab_arena_text(r->arena, marker, strlen(marker));
    check(r, r->marker != NULL);
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
        lab_arena_array(r->arena, t->col_count, sizeof(*align));
    check(r, align != NULL);
    r->leaf.align = align;
}

static void end_cell(struct reader *r, const MD_BLOCK_TD_DETAIL *td)
{
    if (!check(r, !lab_grow(&r->cells, r->n_cells, &r->cap_cells,
                            sizeof(*r->cells), "the text")))
        return;
    r->too_large = r->too_large || r->n_cells >= MAX_CELLS;
    struct lab_md_cell *cell = &r->cells[r->n_cells++];
    cell->spans = keep_spans(r, &cell->n_spans);
    enum lab_md_align *align = (enum lab_md_align *)r->leaf.align;
    if (r->n_cells <= r->leaf.columns)
        align[r->n_cells - 1] = td->align == MD_ALIGN_RIGHT    ? LAB_MD_RIGHT
                                : td->align == MD_ALIGN_CENTER ? LAB_MD_CENTER
                                                               : LAB_MD_LEFT;
}

static void end_table(struct reader *r)
{
    struct lab_md_cell *kept =
        lab_arena_array(r->arena, r->n_cells, sizeof(*kept));
    if (check(r, kept != NULL) && r->n_cells)
        memcpy(kept, r->cells, r->n_cells * sizeof(*kept));
    r->leaf.cells = kept;
    r->leaf.rows = r->leaf.columns ? r->n_cells / r->leaf.columns : 0;
    r->n_spans = 0;
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
        set_style(r);
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
        set_style(r);
        break;
    default:
        break;
    }
    return r->failed || (r->too_large && r->leaf.line);
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
        set_style(r);
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
    struct reader *r = user;
    if (!r->open) /* tight lists have text without a paragraph */
        open_leaf(r, LAB_MD_PARAGRAPH);
    note_line(r, s);
    set_style(r);
    switch (type) {
    case MD_TEXT_NULLCHAR:
        lab_str_add(&r->text, "\\x00");
        break;
    case MD_TEXT_BR:
        flush_span(r);
        lab_str_add_char(&r->text, '\n');
        flush_span(r);
        break;
    case MD_TEXT_SOFTBR:
        lab_str_add_char(&r->text, ' ');
        break;
    case MD_TEXT_ENTITY:
        add_entity(&r->text, s, n);
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
        .enter_span = enter_span,
        .leave_span = leave_span,
        .text = on_text};
    struct lab_str text;
    struct lab_md_block *kept = NULL;
    lab_str_init(&text);
    widen_rules(&text, md, n);
    struct reader r = {.arena = arena,
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
                        MAX_COLUMNS, MAX_CELLS);
    }
    if (!kept)
        return lab_fail(LAB_E_NOMEM, "no memory left for the lesson's text");
    return LAB_OK;
}
