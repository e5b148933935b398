/* wrap.c -- rows of text, paragraphs and headings drawn on a canvas. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "ui/canvas.h"
#include "ui/layout.h"

int lab_canvas_add(struct lab_canvas *c, struct lab_rect *row,
                   enum lab_role role, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    int used = lab_canvas_text(c, row->y, row->x, -1, role, text);
    lab_rect_cut_left(row, used);
    return used;
}

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

size_t lab_wrap_row(const char *text, size_t n, int columns, int keep,
                    bool ascii)
{
    size_t blank = 0;
    int used = 0;
    for (size_t i = 0; i < n;) {
        unsigned code;
        size_t len = lab_utf8_next(text + i, n - i, &code);
        len = len ? len : 1;
        used += lab_text_columns(text + i, len, ascii);
        if (text[i] == ' ' && used > keep)
            blank = i + 1;
        if (used > columns && text[i] != ' ')
            return blank ? blank : i ? i : len;
        i += len;
    }
    return n;
}

/* Bytes of the next row that are shown; *text goes on behind it. */
static size_t take_row(const struct lab_canvas *c, const char **text, int w)
{
    size_t line = strcspn(*text, "\n");
    size_t n = lab_wrap_row(*text, line, w, 0, c->ascii);
    bool blank = n < line && n > 0 && (*text)[n - 1] == ' ';
    *text += n;
    if (**text == '\n' || (**text == ' ' && !blank))
        ++*text;
    return n - blank;
}

int lab_canvas_paragraph_rows(const struct lab_canvas *c, int w, int most,
                              const char *utf8)
{
    int rows = 0;
    for (; *utf8 && rows < most && w > 0; rows++)
        take_row(c, &utf8, w);
    return rows;
}

int lab_canvas_paragraph(struct lab_canvas *c, struct lab_rect r,
                         enum lab_role role, const char *utf8)
{
    int rows = 0;
    for (; *utf8 && rows < r.h && r.w > 0; rows++) {
        char piece[1024];
        const char *row = utf8;
        size_t n = take_row(c, &utf8, r.w);
        bool last = rows + 1 == r.h;
        if (last && row[n] && row[n] != '\n') /* a mark shows that it is cut */
            n = strcspn(row, "\n");
        n = n < sizeof(piece) - 1 ? n : sizeof(piece) - 1;
        memcpy(piece, row, n);
        piece[n] = '\0';
        if (last)
            lab_canvas_text_cut(c, r.y + rows, r.x, r.w, role, piece);
        else
            lab_canvas_text(c, r.y + rows, r.x, r.w, role, piece);
    }
    return rows;
}
