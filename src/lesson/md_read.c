#include "md_read.h"

#include <md4c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "lesson/texmath.h"

enum { LIST_DEPTH = 16 };

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
    bool failed;
};

/* ---- spans ---- */

static bool grow(void **items, size_t *cap, size_t count, size_t bytes_each)
{
    if (count < *cap)
        return true;
    size_t more = *cap ? *cap * 2 : 32;
    void *p = lab_realloc_array(*items, more, bytes_each);
    if (!p)
        return false;
    *items = p;
    *cap = more;
    return true;
}

static void flush_span(struct reader *r)
{
    if (r->text.failed)
        r->failed = true;
    if (r->failed || r->text.len == 0)
        return;
    void *spans = r->spans;
    if (!grow(&spans, &r->cap_spans, r->n_spans, sizeof(*r->spans))) {
        r->failed = true;
        return;
    }
    r->spans = spans;
    char *text = lab_arena_text(r->arena, r->text.data, r->text.len);
    if (!text) {
        r->failed = true;
        return;
    }
    r->spans[r->n_spans++] = (struct lab_md_span){r->style, text};
    lab_str_clear(&r->text);
}

static unsigned current_style(const struct reader *r)
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
    if (!kept) {
        r->failed = true;
        return NULL;
    }
    memcpy(kept, r->spans, r->n_spans * sizeof(*kept));
    *count = r->n_spans;
    r->n_spans = 0;
    return kept;
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
    void *blocks = r->blocks;
    if (r->failed)
        return;
    if (!grow(&blocks, &r->cap_blocks, r->n_blocks, sizeof(*r->blocks))) {
        r->failed = true;
        return;
    }
    r->blocks = blocks;
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
    if (!r->marker)
        r->failed = true;
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
    r->leaf.rows = (size_t)t->head_row_count + t->body_row_count;
    r->n_cells = 0;
    enum lab_md_align *align =
        lab_arena_array(r->arena, t->col_count, sizeof(*align));
    if (!align)
        r->failed = true;
    r->leaf.align = align;
}

static void end_cell(struct reader *r, const MD_BLOCK_TD_DETAIL *td)
{
    void *cells = r->cells;
    if (!grow(&cells, &r->cap_cells, r->n_cells, sizeof(*r->cells)))
        r->failed = true;
    if (r->failed)
        return;
    r->cells = cells;
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
    return r->failed;
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
    return r->failed;
}

/* ---- inline ---- */

static void keep_href(struct reader *r, const MD_ATTRIBUTE *href)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_str_add_visible(&text, href->text, href->size, false);
    r->href = lab_arena_text(r->arena, lab_str_text(&text), text.len);
    if (text.failed || !r->href)
        r->failed = true;
    lab_str_release(&text);
}

static int enter_span(MD_SPANTYPE type, void *detail, void *user)
{
    struct reader *r = user;
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
    r->link--;
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
    set_style(r);
    return r->failed;
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
        lab_md_add_entity(&r->text, s, n);
        break;
    case MD_TEXT_LATEXMATH:
        lab_str_add_bytes(&r->text, s, n); /* texmath makes it safe */
        break;
    default:
        lab_str_add_visible(&r->text, s, n, r->leaf.kind == LAB_MD_CODE);
        break;
    }
    return r->failed;
}

enum lab_status lab_md_read(struct lab_arena *arena, const char *md, size_t n,
                            int first_line, struct lab_md *out)
{
    static const MD_PARSER parser = {
        .flags = MD_FLAG_TABLES | MD_FLAG_LATEXMATHSPANS | MD_FLAG_NOHTML,
        .enter_block = enter_block,
        .leave_block = leave_block,
        .enter_span = enter_span,
        .leave_span = leave_span,
        .text = on_text};
    struct reader r = {.arena = arena, .md = md, .size = n, .line = first_line};
    lab_str_init(&r.text);
    int rc = md_parse(md, (MD_SIZE)n, &parser, &r);
    struct lab_md_block *kept = NULL;
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
