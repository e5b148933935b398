/* Any bytes as text: what cuts a text cuts between two characters, what shows
 * it shows nothing that steers a terminal, and never more columns than it was
 * given.
 *
 * The first byte is the room in bytes, the second the room in columns. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "lesson/markdown.h"
#include "ui/canvas.h"
#include "base/glyph.h"

static void check_safe(const char *text)
{
    size_t n = strlen(text);
    fuzz_check(lab_utf8_check(text, n) == (size_t)-1, "it is no UTF-8");
    for (size_t i = 0; i < n; i++)
        fuzz_check((unsigned char)text[i] >= 0x20 && text[i] != 0x7F,
                   "a control character is left");
}

static void check_ascii(const char *text)
{
    for (; *text; text++)
        fuzz_check(*text >= 0x20 && *text < 0x7F, "it is not ASCII");
}

/* A string that is safe, cut to `cap` bytes by each of the cutters. */
static void cut(const char *shown, size_t cap)
{
    size_t n = strlen(shown);
    char *out = malloc(cap);
    fuzz_check(out != NULL, "no memory");
    lab_visible_copy(out, cap, shown);
    check_safe(out);
    fuzz_check(strlen(out) < cap && strncmp(out, shown, strlen(out)) == 0,
               "a cut text is another text");
    fuzz_check(n >= cap || strcmp(out, shown) == 0,
               "a text that fits has been cut");
    fuzz_check(n < cap || strlen(out) + 4 >= cap, "too much has been cut");
    lab_text_to_ascii(shown, out, cap);
    fuzz_check(strlen(out) < cap, "an ASCII text is too long");
    check_ascii(out);
    free(out);
}

static void draw(const char *shown, int columns, bool ascii)
{
    enum { ROWS = 4 };
    struct lab_canvas c;
    struct lab_rect all = {0, 0, ROWS, columns};
    fuzz_check(!lab_canvas_init(&c, ROWS, columns, ascii), "no canvas");
    int used = lab_canvas_text(&c, 0, 0, -1, LAB_ROLE_NORMAL, shown);
    fuzz_check(used >= 0 && used <= columns, "a text is too wide");
    used = lab_canvas_text_cut(&c, 1, 0, columns / 2, LAB_ROLE_NORMAL, shown);
    fuzz_check(used <= columns / 2, "a cut text is too wide");
    all.y = 2;
    all.h = 2;
    fuzz_check(lab_canvas_paragraph(&c, all, LAB_ROLE_NORMAL, shown) <= 2,
               "a paragraph is too high");
    char *dump = lab_canvas_dump(&c);
    fuzz_check(dump != NULL, "no memory");
    for (char *line = strtok(dump, "\n"); line; line = strtok(NULL, "\n")) {
        check_safe(line);
        if (ascii)
            check_ascii(line);
        fuzz_check(lab_text_columns(line, strlen(line), ascii) <= columns,
                   "a line is too wide");
    }
    lab_free(dump);
    lab_canvas_release(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lab_str shown;
    struct lab_str again;
    size_t cap = 1 + fuzz_byte(&data, &size);
    int columns = 1 + (int)(fuzz_byte(&data, &size) % 100);
    const char *bytes = (const char *)data;
    if (size > 0)
        fuzz_accepted();
    lab_str_init(&shown);
    lab_str_init(&again);
    lab_str_add_visible(&shown, bytes, size, false);
    const char *text = lab_str_text(&shown);
    check_safe(text);
    lab_str_add_visible(&again, text, shown.len, false);
    fuzz_check(strcmp(lab_str_text(&again), text) == 0,
               "what is safe is changed");
    fuzz_check(lab_md_columns(text) ==
                   lab_text_columns(text, strlen(text), false),
               "two widths of one text");
    cut(text, cap);
    draw(text, columns, false);
    draw(text, columns, true);
    /* Bytes that nothing has made safe. */
    char *raw = fuzz_string(data, size);
    draw(raw, columns, false);
    draw(raw, columns, true);
    lab_utf8_trim(raw);
    fuzz_check(lab_utf8_check(bytes, strlen(raw)) != (size_t)-1 ||
                   lab_utf8_check(raw, strlen(raw)) == (size_t)-1,
               "a whole text is no UTF-8 after it was trimmed");
    free(raw);
    lab_str_release(&shown);
    lab_str_release(&again);
    return 0;
}
