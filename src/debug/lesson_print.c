/* lesson_print.c -- prints lessons as text or JSON for `lapenna-lab lesson`. */
#include "debug/lesson_print.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/str.h"
#include "report/json_line.h"
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

static bool wants_styles(const struct lab_options *o)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    if (o->plain || strcmp(o->color, "never") == 0)
        return false;
    if (strcmp(o->color, "always") == 0)
        return true;
    return isatty(STDOUT_FILENO) && !(no_color && *no_color) && term && *term &&
           strcmp(term, "dumb") != 0;
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
    bool styles = wants_styles(o);
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
