/* Any bytes are a lesson or refused; what is accepted can be laid out, and
 * no text of it can control the terminal. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "lesson/lesson.h"

static void check_visible(const char *text)
{
    struct lab_str shown;
    lab_str_init(&shown);
    lab_str_add_visible(&shown, text, strlen(text), true);
    if (strcmp(lab_str_text(&shown), text) != 0)
        abort();
    lab_str_release(&shown);
}

static void lay_out(const struct lab_md *doc, int columns)
{
    struct lab_md_lines lines;
    if (lab_md_wrap(doc, columns, NULL, &lines))
        abort();
    for (size_t i = 0; i < lines.count; i++) {
        int used = 0;
        for (size_t k = 0; k < lines.lines[i].n_spans; k++) {
            check_visible(lines.lines[i].spans[k].text);
            used += lab_md_columns(lines.lines[i].spans[k].text);
        }
        if (used > columns)
            abort();
    }
    lab_md_lines_release(&lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lab_lesson *lesson = NULL;
    struct lab_findings found;
    lab_findings_init(&found);
    enum lab_status st =
        lab_lesson_parse(&lesson, "fuzz.md", (const char *)data, size, &found);
    if ((st == LAB_OK) != (lesson != NULL) ||
        (st == LAB_OK) != (found.errors == 0))
        abort();
    if (lesson)
        fuzz_accepted();
    for (size_t i = 0; i < found.count; i++)
        check_visible(found.items[i].message);
    for (int i = 0; lesson && i < lesson->n_sections; i++) {
        lay_out(&lesson->sections[i].doc, 20);
        lay_out(&lesson->sections[i].doc, 80);
    }
    lab_lesson_free(lesson);
    lab_findings_release(&found);
    return 0;
}
