/* view_text.h -- a screen that is one text in a pager; help and source are
 * made from it. Their state starts with struct lab_text_state. */
#pragma once
#include "report/doc.h"
#include "ui/pager.h"
#include "ui/screen.h"

struct lab_text_state {
    struct lab_doc doc;
    struct lab_pager pager;
    char title[128];
};

LAB_C_BEGIN
/* LAB_E_NOMEM when the doc is not whole; it is released then. */
enum lab_status lab_text_start(struct lab_text_state *st, const char *title);
void lab_text_release(struct lab_screen *s);
void lab_text_draw(struct lab_screen *s, struct lab_canvas *c,
                   struct lab_rect body);
void lab_text_panes(struct lab_screen *s, struct lab_panes *out);
void lab_text_title(struct lab_screen *s, char *out, size_t cap);
LAB_C_END
