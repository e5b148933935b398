/* wrap.c -- paragraphs and headings drawn on a canvas. */
#include <stdio.h>
#include <string.h>

#include "ui/canvas.h"
#include "ui/layout.h"

void lab_canvas_heading(struct lab_canvas *c, struct lab_rect *r,
                        const char *title, bool focused)
{
    struct lab_rect line = lab_rect_cut_top(r, 1);
    if (lab_rect_empty(line))
        return;
    lab_canvas_fill(c, line, focused ? "═" : "─",
                    focused ? LAB_ROLE_HEADING : LAB_ROLE_BORDER);
    if (line.w > 6)
        lab_canvas_textf(c, line.y, line.x + 2, line.w - 4,
                         focused ? LAB_ROLE_TITLE : LAB_ROLE_HEADING, " %s ",
                         title);
}

/* Bytes of the first row of `text`: up to a newline, or the last blank that
 * fits, or as much of a long word as fits. */
static size_t row_bytes(const struct lab_canvas *c, const char *text, int w)
{
    char piece[1024];
    size_t line = strcspn(text, "\n");
    size_t fits = 0;
    size_t blank = 0;
    for (size_t i = 0; i <= line && i < sizeof(piece) - 1; i++) {
        bool whole = ((unsigned char)text[i] & 0xC0) != 0x80;
        if (!whole)
            continue;
        snprintf(piece, i + 1, "%s", text);
        if (lab_canvas_columns(c, piece) > w)
            break;
        fits = i;
        if (i == line || text[i] == ' ')
            blank = i;
    }
    if (fits < line && blank > 0)
        return blank;
    if (fits == 0 && line > 0) /* too wide for the row: still go on */
        for (fits = 1; ((unsigned char)text[fits] & 0xC0) == 0x80;)
            fits++;
    return fits;
}

int lab_canvas_paragraph_rows(const struct lab_canvas *c, int w, int most,
                              const char *utf8)
{
    int rows = 0;
    for (; *utf8 && rows < most && w > 0; rows++) {
        utf8 += row_bytes(c, utf8, w);
        if (*utf8 == ' ' || *utf8 == '\n')
            utf8++;
    }
    return rows;
}

int lab_canvas_paragraph(struct lab_canvas *c, struct lab_rect r,
                         enum lab_role role, const char *utf8)
{
    int rows = 0;
    while (*utf8 && rows < r.h && r.w > 0) {
        char piece[1024];
        size_t n = row_bytes(c, utf8, r.w);
        bool last = rows + 1 == r.h;
        if (last && utf8[n] &&
            utf8[n] != '\n') /* more than fits: a mark shows it */
            n = strcspn(utf8, "\n");
        n = n < sizeof(piece) - 1 ? n : sizeof(piece) - 1;
        memcpy(piece, utf8, n);
        piece[n] = '\0';
        if (last)
            lab_canvas_text_cut(c, r.y + rows++, r.x, r.w, role, piece);
        else
            lab_canvas_text(c, r.y + rows++, r.x, r.w, role, piece);
        utf8 += n;
        if (*utf8 == ' ' || *utf8 == '\n')
            utf8++;
    }
    return rows;
}
