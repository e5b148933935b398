/* lesson_print.c -- prints lessons, wrapped: for `lapenna-lab lesson`, and step by
 * step for --plain and the walk without a terminal. */
#include "debug/lesson_print.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "report/print.h"
#include "base/glyph.h"

int lab_lesson_columns(void)
{
    enum { LEAST = 20, MOST = 100, USUAL = 80 };
    size_t columns = lab_print_columns();
    return columns == 0      ? USUAL
           : columns < LEAST ? LEAST
           : columns > MOST  ? MOST
                             : (int)columns;
}

static void put_span(const struct lab_md_span *span, bool styles)
{
    bool bold = span->style & (LAB_SPAN_STRONG | LAB_SPAN_HEADING);
    bool line = span->style & LAB_SPAN_EMPH;
    if (styles && bold)
        lab_print_text(stdout, "\033[1m");
    if (styles && line)
        lab_print_text(stdout, "\033[4m");
    lab_print_text(stdout, span->text);
    if (styles && (bold || line))
        lab_print_text(stdout, "\033[0m");
}

static enum lab_status put_doc(const struct lab_md *doc, int indent,
                               bool styles)
{
    struct lab_md_lines lines;
    enum lab_status st =
        lab_md_wrap(doc, lab_lesson_columns() - indent,
                    lab_print_is_ascii() ? lab_glyph_ascii : NULL, &lines);
    if (st == LAB_E_NOMEM)
        lab_print_lose();
    if (st)
        return st;
    for (size_t i = 0; i < lines.count; i++) {
        for (int k = 0; k < indent; k++)
            lab_print_text(stdout, " ");
        for (size_t k = 0; k < lines.lines[i].n_spans; k++)
            put_span(&lines.lines[i].spans[k], styles);
        lab_print_text(stdout, "\n");
    }
    lab_md_lines_release(&lines);
    return lab_print_check();
}

enum lab_status lab_lesson_put_doc(const struct lab_md *doc, bool styles)
{
    return put_doc(doc, 0, styles);
}

/* A document of one text. */
static enum lab_status put_one(enum lab_md_kind kind, int level, unsigned style,
                               const char *text, int indent, bool styles)
{
    struct lab_md_span span = {style, text};
    struct lab_md_block block = {
        .kind = kind, .level = level, .spans = &span, .n_spans = 1};
    struct lab_md doc = {&block, 1};
    return put_doc(&doc, indent, styles);
}

enum lab_status lab_lesson_put_heading(const char *text, int level, bool styles)
{
    return put_one(LAB_MD_HEADING, level, LAB_SPAN_HEADING, text, 0, styles);
}

enum lab_status lab_lesson_put_paragraph(const char *text, int indent)
{
    struct lab_str safe;
    lab_str_init(&safe);
    lab_str_add_visible(&safe, text, strlen(text), false);
    enum lab_status st = lab_str_check(&safe, "a text");
    if (st)
        lab_print_lose();
    else
        st = put_one(LAB_MD_PARAGRAPH, 0, LAB_SPAN_PLAIN, lab_str_text(&safe),
                     indent, false);
    lab_str_release(&safe);
    return st;
}

/* ---- step by step ---- */

enum lab_status lab_reader_init(struct lab_lesson_reader *r,
                                const struct lab_lesson *lesson)
{
    r->lesson = lesson;
    r->shown = lab_alloc_array((size_t)lesson->n_sections, sizeof(*r->shown));
    return r->shown ? LAB_OK : lab_no_memory("the lesson's text");
}

void lab_reader_release(struct lab_lesson_reader *r)
{
    lab_free(r->shown);
    r->shown = NULL;
}

static enum lab_status show(struct lab_lesson_reader *r,
                            const struct lab_section *s, enum lab_phase phase,
                            bool *any)
{
    const struct lab_md *part = s ? &s->in_phase[phase] : NULL;
    unsigned *shown = s ? &r->shown[s - r->lesson->sections] : NULL;
    if (!s || *shown & 1u << phase || part->n_blocks == 0)
        return LAB_OK;
    *shown |= 1u << phase;
    *any = true;
    lab_printf(stdout, "\n");
    return lab_lesson_put_doc(part, false);
}

enum lab_status lab_read_step(struct lab_lesson_reader *r, const char *step,
                              const char *node, enum lab_phase phase)
{
    const char *name = lab_phase_name(phase);
    bool any = false;
    enum lab_status st = show(
        r, lab_lesson_section(r->lesson, LAB_SECTION_PHASE, name), phase, &any);
    if (!st)
        st = show(r, lab_lesson_text_for(r->lesson, step, node, name), phase,
                  &any);
    if (any)
        lab_printf(stdout, "\n");
    return st;
}
