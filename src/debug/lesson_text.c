/* lesson_text.c -- prints a lesson's text, wrapped, for --plain and the walk
 * without a terminal. */
#include "debug/lesson_text.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "debug/lesson_print.h"
#include "report/print.h"
#include "base/glyph.h"

static struct lab_options print_options(void)
{
    return (struct lab_options){.plain = true, .ascii = lab_print_is_ascii()};
}

static enum lab_status done(enum lab_status st)
{
    if (st == LAB_E_NOMEM)
        lab_print_lose();
    return !st && ferror(stdout) ? lab_fail(LAB_E_IO, "cannot write") : st;
}

enum lab_status lab_read_doc(const struct lab_md *doc)
{
    struct lab_options o = print_options();
    return done(lab_lesson_put_doc(&o, doc));
}

enum lab_status lab_read_paragraph(const char *text, int indent)
{
    struct lab_str safe;
    struct lab_md_lines lines;
    lab_str_init(&safe);
    lab_str_add_visible(&safe, text, strlen(text), false);
    struct lab_md_span span = {LAB_SPAN_PLAIN, lab_str_text(&safe)};
    struct lab_md_block block = {
        .kind = LAB_MD_PARAGRAPH, .spans = &span, .n_spans = 1};
    struct lab_md doc = {&block, 1};
    enum lab_status st =
        lab_md_wrap(&doc, lab_lesson_columns() - indent,
                    lab_print_is_ascii() ? lab_glyph_ascii : NULL, &lines);
    if (safe.failed || st) {
        if (!st)
            lab_md_lines_release(&lines);
        lab_str_release(&safe);
        return done(st ? st : lab_no_memory("a text"));
    }
    for (size_t i = 0; i < lines.count; i++) {
        lab_printf(stdout, "%*s", indent, "");
        for (size_t k = 0; k < lines.lines[i].n_spans; k++)
            lab_printf(stdout, "%s", lines.lines[i].spans[k].text);
        lab_printf(stdout, "\n");
    }
    lab_md_lines_release(&lines);
    lab_str_release(&safe);
    return done(LAB_OK);
}

enum lab_status lab_read_heading(const char *text, int level)
{
    struct lab_options o = print_options();
    return done(lab_lesson_put_heading(&o, text, level));
}

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
    return lab_read_doc(part);
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
