/* The text of a lesson, from Markdown to a screen: no column beyond the width,
 * nothing that steers a terminal, nothing beyond ASCII on an ASCII screen.
 *
 * The first byte is the width. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "lesson/lesson.h"
#include "screens/lesson_doc.h"
#include "base/glyph.h"
#include "ui/pager.h"

static const char head[] = "---\n"
                           "format: 1\n"
                           "title: a text\n"
                           "data: {source: inline, x: [[1]], y: [[1]]}\n"
                           "network: [{id: fc1, op: dense, units: 1}]\n"
                           "loss: {op: mse}\n"
                           "---\n";

static void check_text(const char *text, bool ascii)
{
    size_t n = strlen(text);
    fuzz_check(lab_utf8_check(text, n) == (size_t)-1, "it is no UTF-8");
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        fuzz_check((c >= 0x20 || c == '\n') && c != 0x7F,
                   "a control character is left");
        fuzz_check(!ascii || c < 0x80, "it is not ASCII");
    }
}

static void wrap(const struct lab_md *doc, int columns, bool ascii)
{
    struct lab_md_lines lines;
    fuzz_check(
        !lab_md_wrap(doc, columns, ascii ? lab_glyph_ascii : NULL, &lines),
        "it cannot be wrapped");
    for (size_t i = 0; i < lines.count; i++) {
        int used = 0;
        for (size_t k = 0; k < lines.lines[i].n_spans; k++)
            used += lab_md_columns(lines.lines[i].spans[k].text);
        fuzz_check(used <= (columns < 20 ? 20 : columns), "a line is too wide");
    }
    lab_md_lines_release(&lines);
}

static void draw(const struct lab_lesson *lesson, int columns, bool ascii)
{
    enum { ROWS = 20 };
    struct lab_doc doc;
    struct lab_pager pager;
    struct lab_canvas c;
    const struct lab_rect all = {0, 0, ROWS, columns};
    lab_doc_init(&doc);
    fuzz_check(!lab_lesson_doc(lesson, ascii, NULL, &doc) &&
                   !lab_canvas_init(&c, ROWS, columns, ascii),
               "no memory");
    lab_pager_init(&pager, &doc);
    for (int page = 0; page < 3; page++) {
        lab_canvas_clear(&c);
        lab_pager_draw(&pager, &c, all);
        char *dump = lab_canvas_dump(&c);
        fuzz_check(dump != NULL, "no memory");
        check_text(dump, ascii);
        lab_free(dump);
        lab_pager_action(&pager, LAB_ACT_PAGE_DOWN);
    }
    lab_pager_search(&pager, "e", 1);
    lab_pager_release(&pager);
    lab_canvas_release(&c);
    lab_doc_release(&doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lab_lesson *lesson = NULL;
    struct lab_findings found;
    struct lab_str text;
    int columns = 1 + (int)(fuzz_byte(&data, &size) % 160);
    lab_findings_init(&found);
    lab_str_init(&text);
    lab_str_add(&text, head);
    lab_str_add_bytes(&text, (const char *)data, size);
    lab_lesson_parse(&lesson, "fuzz.md", lab_str_text(&text), text.len, &found);
    if (lesson) {
        fuzz_accepted();
        for (int i = 0; i < lesson->n_sections; i++) {
            wrap(&lesson->sections[i].doc, columns, false);
            wrap(&lesson->sections[i].doc, columns, true);
            for (int p = 0; p < LAB_PHASE_COUNT; p++)
                wrap(&lesson->sections[i].in_phase[p], columns, true);
        }
        draw(lesson, columns, false);
        draw(lesson, columns, true);
    }
    lab_lesson_free(lesson);
    lab_findings_release(&found);
    lab_str_release(&text);
    return 0;
}
