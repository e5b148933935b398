/* lesson_print.c -- prints lessons, wrapped: as text or JSON for `lapenna-lab
 * lesson`, and step by step for --plain and the walk without a terminal. */
#include "debug/lesson_print.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "report/json_line.h"
#include "report/print.h"
#include "base/glyph.h"

enum lab_status lab_lesson_put_json(const struct lab_options *o, json_t *object)
{
    char *line =
        json_dumps(object, JSON_COMPACT | (o->ascii ? JSON_ENSURE_ASCII : 0));
    json_decref(object);
    bool lacks = lab_json_lacks_memory() || !line;
    if (!lacks) {
        puts(line);
        fflush(stdout);
    }
    free(line);
    return lacks ? lab_fail(LAB_E_NOMEM, "no memory left") : LAB_OK;
}

void lab_lesson_put_text(const struct lab_options *o, FILE *out,
                         const char *text)
{
    if (!o->ascii) {
        fputs(text, out);
        return;
    }
    for (size_t i = 0, n = strlen(text); i < n;) {
        unsigned code = '?';
        size_t len = lab_utf8_next(text + i, n - i, &code);
        const char *stand_in = len > 1 ? lab_glyph_ascii(code) : NULL;
        if (len <= 1)
            fputc(text[i], out);
        else
            fputs(stand_in ? stand_in : "?", out);
        i += len ? len : 1;
    }
}

int lab_lesson_columns(void)
{
    enum { LEAST = 20, MOST = 100, USUAL = 80 };
    struct winsize size;
    const char *env = getenv("COLUMNS");
    int columns = USUAL;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        columns = size.ws_col;
    else if (env && atoi(env) > 0)
        columns = atoi(env);
    return columns < LEAST ? LEAST : columns > MOST ? MOST : columns;
}

static void put_span(const struct lab_options *o,
                     const struct lab_md_span *span, bool styles)
{
    bool bold = span->style & (LAB_SPAN_STRONG | LAB_SPAN_HEADING);
    bool line = span->style & LAB_SPAN_EMPH;
    if (styles && bold)
        fputs("\033[1m", stdout);
    if (styles && line)
        fputs("\033[4m", stdout);
    lab_lesson_put_text(o, stdout, span->text);
    if (styles && (bold || line))
        fputs("\033[0m", stdout);
}

enum lab_status lab_lesson_put_doc(const struct lab_options *o,
                                   const struct lab_md *doc)
{
    struct lab_md_lines lines;
    enum lab_status st = lab_md_wrap(doc, lab_lesson_columns(),
                                     o->ascii ? lab_glyph_ascii : NULL, &lines);
    bool styles =
        !o->plain && lab_print_color(o->color, isatty(STDOUT_FILENO),
                                     getenv("NO_COLOR"), getenv("TERM"));
    if (st)
        return st;
    for (size_t i = 0; i < lines.count; i++) {
        for (size_t k = 0; k < lines.lines[i].n_spans; k++)
            put_span(o, &lines.lines[i].spans[k], styles);
        putchar('\n');
    }
    lab_md_lines_release(&lines);
    return LAB_OK;
}

enum lab_status lab_lesson_put_heading(const struct lab_options *o,
                                       const char *text, int level)
{
    struct lab_md_span span = {LAB_SPAN_HEADING, text};
    struct lab_md_block block = {
        .kind = LAB_MD_HEADING, .level = level, .spans = &span, .n_spans = 1};
    struct lab_md doc = {&block, 1};
    return lab_lesson_put_doc(o, &doc);
}

/* ---- for --plain and the walk without a terminal ---- */

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
