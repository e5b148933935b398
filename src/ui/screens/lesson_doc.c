/* lesson_doc.c -- a lesson's Markdown and the source files it names, as
 * documents for a pager. */
#include "screens/lesson_doc.h"

#include <stdio.h>

#include "base/datadir.h"
#include "base/glyph.h"
#include "report/fact_text.h"

enum { SOURCE_BYTES = 4 << 20 };

static enum lab_role role_of(unsigned style)
{
    if (style & LAB_SPAN_HEADING)
        return LAB_ROLE_HEADING;
    if (style & LAB_SPAN_MATH)
        return LAB_ROLE_FORMULA;
    if (style & LAB_SPAN_CODE)
        return LAB_ROLE_CODE;
    if (style & LAB_SPAN_STRONG)
        return LAB_ROLE_TITLE;
    if (style & LAB_SPAN_FRAME)
        return LAB_ROLE_DIM;
    return LAB_ROLE_NORMAL;
}

enum lab_status lab_lesson_add(const struct lab_md *text, int columns,
                               bool ascii, struct lab_doc *out)
{
    struct lab_md_lines lines;
    enum lab_status st =
        lab_md_wrap(text, columns, ascii ? lab_glyph_ascii : NULL, &lines);
    if (st)
        return st;
    for (size_t i = 0; i < lines.count; i++) {
        lab_doc_para(out, 0, 0, false);
        for (size_t k = 0; k < lines.lines[i].n_spans; k++)
            lab_doc_add(out, role_of(lines.lines[i].spans[k].style),
                        lines.lines[i].spans[k].text);
    }
    lab_md_lines_release(&lines);
    return LAB_OK;
}

static void add_heading(const struct lab_lesson *lesson,
                        const struct lab_section *section, struct lab_doc *out)
{
    struct lab_str heading;
    lab_str_init(&heading);
    lab_section_heading(section, &heading);
    lab_doc_para(out, 0, 0, true);
    lab_doc_add(out, LAB_ROLE_HEADING,
                section->title[0] ? lab_str_text(&heading) : lesson->title);
    lab_doc_blank(out);
    lab_str_release(&heading);
}

enum lab_status lab_lesson_begin(const struct lab_lesson *lesson, int columns,
                                 int most, bool ascii, struct lab_doc *out)
{
    for (int i = 0; i < lesson->n_sections && out->para_count < (size_t)most;
         i++) {
        if (i > 0) {
            lab_doc_blank(out);
            add_heading(lesson, &lesson->sections[i], out);
        }
        enum lab_status st =
            lab_lesson_add(&lesson->sections[i].doc, columns, ascii, out);
        if (st)
            return st;
    }
    return lab_doc_check(out);
}

/* The course's tables that are of it. */
static enum lab_status add_tables(const struct lab_lesson *lesson,
                                  struct lab_doc *out)
{
    struct lab_str text;
    lab_str_init(&text);
    enum lab_status st = lab_fact_of_lesson_text(lesson->id, &text);
    if (!st && text.len) {
        lab_doc_blank(out);
        lab_doc_para(out, 0, 0, true);
        lab_doc_add(out, LAB_ROLE_NORMAL, lab_str_text(&text));
    }
    lab_str_release(&text);
    return st ? st : lab_doc_check(out);
}

enum lab_status lab_lesson_doc(const struct lab_lesson *lesson, bool ascii,
                               const struct lab_section *at,
                               struct lab_doc *out)
{
    enum { COLUMNS = 76 }; /* the narrowest usual terminal, with a margin */
    for (int i = 0; i < lesson->n_sections; i++) {
        const struct lab_section *section = &lesson->sections[i];
        if (i > 0)
            lab_doc_blank(out);
        if (section == at)
            out->first = out->para_count;
        add_heading(lesson, section, out);
        enum lab_status st = lab_lesson_add(&section->doc, COLUMNS, ascii, out);
        if (st)
            return st;
    }
    return add_tables(lesson, out);
}

static enum lab_status read_file(const char *path, struct lab_str *out)
{
    char chunk[4096];
    size_t n;
    FILE *f = fopen(path, "r");
    if (!f)
        return lab_fail(LAB_E_IO, "[screen.lesson-file] %s: cannot be read",
                        path);
    while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0 &&
           out->len < SOURCE_BYTES)
        lab_str_add_bytes(out, chunk, n);
    fclose(f);
    return out->failed ? lab_fail(LAB_E_NOMEM, "no memory for %s", path)
                       : LAB_OK;
}

enum lab_status lab_lesson_source(const char *file, struct lab_str *out)
{
    struct lab_str path;
    lab_str_init(&path);
    enum lab_status st = lab_data_path(file, &path);
    if (!st)
        st = read_file(lab_str_text(&path), out);
    lab_str_release(&path);
    return st;
}
