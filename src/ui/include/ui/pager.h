/* ui/pager.h -- a window on a doc: wrapping, moving, searching.
 *
 * State and drawing, no curses. Threads: the UI's. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "report/doc.h"
#include "ui/canvas.h"
#include "ui/keymap.h"

struct lab_pager_row {
    size_t para;
    size_t start; /* bytes of the doc's text */
    size_t end;
    int indent;
};

struct lab_pager {
    const struct lab_doc *doc; /* the caller's; must outlive the pager */
    struct lab_pager_row *rows;
    size_t row_count;
    size_t row_cap;
    int width; /* what the rows were made for; -1: not made */
    bool ascii;
    size_t top;      /* first row in sight */
    size_t top_byte; /* where it is in the text: kept when the width changes */
    int left;        /* columns scrolled sideways */
    int view_h;      /* rows in sight, of all columns */
    int text_w; /* where a text is wide enough: its columns beside each other, of so
                   many characters at least; 0: one */
    char search[128];
    size_t match; /* byte of the current match, or SIZE_MAX */
    bool short_of_memory;
    bool renewed; /* the text is another one: `top` is kept, not its byte */
    bool upright; /* no moving sideways: what is too wide ends in "…", and the
                      last two columns are for the signs of more rows */
    size_t chosen; /* a paragraph that is marked and in sight, or SIZE_MAX */
};

LAB_C_BEGIN
void lab_pager_init(struct lab_pager *p, const struct lab_doc *doc);
void lab_pager_release(struct lab_pager *p);
/* Another doc, or the same one changed; goes to its start. */
void lab_pager_show(struct lab_pager *p, const struct lab_doc *doc);
/* The doc has been written anew: the rows in sight stay. */
void lab_pager_renew(struct lab_pager *p);
/* The paragraph in a row of the last drawing, counted from its top; SIZE_MAX. */
size_t lab_pager_para(const struct lab_pager *p, int row);
void lab_pager_draw(struct lab_pager *p, struct lab_canvas *c,
                    struct lab_rect r);
/* The lines that it takes at this width. */
size_t lab_pager_lines(struct lab_pager *p, int width, bool ascii);
/* Up, down, pages, ends, sideways; false for other actions. */
bool lab_pager_action(struct lab_pager *p, int action);
/* Puts the paragraph into sight, at the top where there is room below. */
void lab_pager_goto(struct lab_pager *p, size_t para);
/* Goes to the next place from the top that contains `text`, in any case, around
 * the end; dir -1 looks backwards. "": for the last text again, from behind the
 * current match. false: it is nowhere. */
bool lab_pager_search(struct lab_pager *p, const char *text, int dir);
/* "12-34 of 80", "all" ...; returns out. */
const char *lab_pager_place(const struct lab_pager *p, char *out, size_t cap);
LAB_C_END
