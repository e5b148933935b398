/* fact_bars.c -- numbers of a table of facts as bars: below the columns of a table, and
 * beside the list of tables. */
#include "fact_bars.h"

#include <string.h>

#include "ui/chart.h"

static int row_of(const struct lab_fact_bars *b, int i)
{
    return b->shown ? b->shown[i] : i;
}

int lab_fact_key_width(const struct lab_fact_bars *b)
{
    enum { LEAST = 8, MOST = 24 };
    size_t most = LEAST;
    for (int i = 0; i < b->count; i++) {
        size_t n = strlen(lab_fact_key(b->t, row_of(b, i)));
        most = n > most ? n : most;
    }
    return most < MOST ? (int)most : MOST;
}

/* The first column that is computed, else the first of numbers. */
static int first_column(const struct lab_fact_table *t)
{
    for (int i = 1; i < t->columns; i++)
        if (t->column[i].unit && t->column[i].formula)
            return i;
    for (int i = 1; i < t->columns; i++)
        if (t->column[i].unit)
            return i;
    return t->columns;
}

/* The values between which bars are drawn; zero is among them. */
static void range_of(const struct lab_fact_bars *b, int column, double *least,
                     double *most)
{
    *least = 0;
    *most = 0;
    for (int i = 0; i < b->count; i++)
        lab_bar_widen((double)lab_fact_at(b->t, row_of(b, i), column)->value,
                      least, most);
}

/* A bar a row, the longest as wide as the place. */
static void draw_column(struct lab_canvas *c, struct lab_rect r,
                        const struct lab_fact_bars *b, int column)
{
    enum { VALUE_W = 14 };
    int name_w = lab_fact_key_width(b) + 2;
    double least;
    double most;
    range_of(b, column, &least, &most);
    char text[64];
    struct lab_str head;
    lab_str_init(&head);
    lab_fact_head(b->t, column, &head);
    lab_canvas_heading(c, &r, lab_str_text(&head), false);
    lab_str_release(&head);
    for (int i = 0; i < b->count && r.h > 0 && least < most; i++) {
        struct lab_rect row = lab_rect_cut_top(&r, 1);
        double v = (double)lab_fact_at(b->t, row_of(b, i), column)->value;
        bool here = row_of(b, i) == b->chosen;
        enum lab_role role = here ? LAB_ROLE_TITLE : LAB_ROLE_NORMAL;
        lab_canvas_text(c, row.y, row.x, 1, role, here ? ">" : " ");
        lab_canvas_text_cut(c, row.y, row.x + 1, name_w - 2, role,
                            lab_fact_key(b->t, row_of(b, i)));
        lab_rect_cut_left(&row, name_w);
        lab_fact_text(b->t, row_of(b, i), column, text, sizeof(text));
        lab_canvas_textf(c, row.y, row.x, VALUE_W - 2, role, "%*s", VALUE_W - 2,
                         text);
        lab_rect_cut_left(&row, VALUE_W);
        lab_bar_draw(c, row.y, row.x, row.w, v, least, most,
                     here ? LAB_ROLE_SERIES_2 : LAB_ROLE_SERIES_1);
    }
}

void lab_fact_bars_draw(struct lab_canvas *c, struct lab_rect r,
                        const struct lab_fact_bars *b, int first)
{
    const int each = b->count + 1; /* with its heading */
    double least;
    double most;
    if (first < 0)
        first = first_column(b->t);
    if (first == b->t->columns)
        return;
    draw_column(c, lab_rect_cut_top(&r, each), b, first);
    for (int computed = 1; computed >= 0; computed--)
        for (int i = 1; i < b->t->columns && r.h > each; i++) {
            const struct lab_fact_column *of = &b->t->column[i];
            if (i == first || !of->unit || (of->formula != NULL) != computed)
                continue;
            range_of(b, i, &least, &most);
            if (least >= most)
                continue;
            lab_rect_cut_top(&r, 1);
            draw_column(c, lab_rect_cut_top(&r, each), b, i);
        }
}
