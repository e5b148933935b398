#include "md_reader.h"

#include <string.h>

#include "base/mem.h"
#include "lesson/texmath.h"

bool lab_md_grow(void **items, size_t *cap, size_t count, size_t bytes_each)
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

void lab_md_flush_span(struct lab_md_reader *r)
{
    if (r->text.failed)
        r->failed = true;
    if (r->failed || r->text.len == 0)
        return;
    void *spans = r->spans;
    if (!lab_md_grow(&spans, &r->cap_spans, r->n_spans, sizeof(*r->spans))) {
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

unsigned lab_md_current_style(const struct lab_md_reader *r)
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

void lab_md_set_style(struct lab_md_reader *r)
{
    unsigned style = lab_md_current_style(r);
    if (style != r->style)
        lab_md_flush_span(r);
    r->style = style;
}

/* Copies the collected spans to where they stay. */
const struct lab_md_span *lab_md_keep_spans(struct lab_md_reader *r,
                                            size_t *count)
{
    lab_md_flush_span(r);
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

int lab_md_enter_span(MD_SPANTYPE type, void *detail, void *user)
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
    lab_md_set_style(r);
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
    lab_md_flush_span(r);
    r->math = false;
}

int lab_md_leave_span(MD_SPANTYPE type, void *detail, void *user)
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
    lab_md_set_style(r);
    return r->failed;
}
