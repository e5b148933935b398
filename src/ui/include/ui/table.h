/* ui/table.h -- a list of rows with columns: moving, sorting, searching.
 *
 * The rows belong to the caller, who gives functions that read them; the table
 * keeps an order, a cursor and a window. Sorting is stable, and unknown values
 * come last in both directions. State and drawing, no curses.
 * Threads: the UI's. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"
#include "ui/canvas.h"
#include "ui/layout.h"

enum { LAB_TABLE_COLUMNS = 24, LAB_TABLE_CELL_BYTES = 256 };

struct lab_table_column {
    const char *title;
    int least;   /* columns of the screen */
    int weight;  /* of the room that is left */
    int drop;    /* the highest goes first when the screen is narrow */
    bool right;  /* numbers */
    bool turned; /* sorts largest first when chosen */
};

/* A bar in a cell, before its text. */
struct lab_table_bar {
    double share; /* of the room, -1 to 1; NaN: empty */
    bool sides;   /* zero is in the middle: below it to the left */
    char letter;  /* before it: what the colour means; '\0': none */
    enum lab_role role;
};

struct lab_table_ops {
    const struct lab_table_column *columns;
    int column_count;
    /* The text of a cell, at most cap bytes; sets *role when it is special.
     * Text from outside need not be made visible: the table does it. */
    void (*cell)(const void *user, int64_t row, int column, char *out,
                 size_t cap, enum lab_role *role);
    /* < 0, 0, > 0 as qsort's, before turning; `turned` is handed on to
     * lab_table_compare_*(), which keep unknown values last in both
     * directions. NULL: the texts are compared. */
    int (*compare)(const void *user, int64_t a, int64_t b, int column,
                   bool turned);
    /* Rows that are not shown now; `given`: all rows are, in the order given.
     * NULL: none. */
    bool (*hidden)(const void *user, int64_t row, bool given);
    /* false: a cell of text alone. NULL: all are. */
    bool (*bar)(const void *user, int64_t row, int column,
                struct lab_table_bar *out);
};

struct lab_table {
    const struct lab_table_ops *ops;
    const void *user;
    int64_t rows;   /* the caller's */
    int64_t count;  /* those that are shown */
    int64_t *order; /* order[place] = row */
    int64_t cursor; /* a place */
    int64_t kept;   /* the row under it, while a filter shows none */
    int64_t top;
    int sort; /* a column, or -1: as given */
    bool turned;
    int view_h; /* rows in sight at the last drawing */
    struct lab_rect view;
    char search[128];
    char filter[128];  /* only rows with all its words are shown */
    const char *empty; /* shown when there are no rows; may be NULL */
};

LAB_C_BEGIN
void lab_table_init(struct lab_table *t, const struct lab_table_ops *ops,
                    const void *user);
void lab_table_release(struct lab_table *t);
/* The caller has `count` rows now; sorts them, keeps the cursor's place. */
enum lab_status lab_table_set_count(struct lab_table *t, int64_t count);
/* Shows the rows that have each word of `text` in some cell; "": all. The cursor
 * stays on its row, or goes to the first. */
void lab_table_filter(struct lab_table *t, const char *text);
/* Sorts again, after the caller has changed what is hidden. */
void lab_table_renew(struct lab_table *t);
/* The row under the cursor, or -1. */
int64_t lab_table_row(const struct lab_table *t);
void lab_table_select(struct lab_table *t, int64_t row);
/* Movement, and LAB_ACT_SORT... by the next column in sight, the other way
 * round; false for other actions. */
bool lab_table_action(struct lab_table *t, int action);
/* Sorts by `column` (-1: as given); the cursor stays on its row. */
void lab_table_sort(struct lab_table *t, int column, bool turned);
/* As lab_pager_search(): the next row with a cell that contains `text`. */
bool lab_table_search(struct lab_table *t, const char *text, int dir);
/* A heading and the rows. The cursor's row is reverse when `focused`, and
 * marked with '>' always. */
void lab_table_draw(struct lab_table *t, struct lab_canvas *c,
                    struct lab_rect r, bool focused);
/* The row at a place of the screen, which becomes the cursor's; a click on the
 * heading sorts. -1: none. */
int64_t lab_table_click(struct lab_table *t, int y, int x);
/* For compare functions: numbers with unknown ones (NaN; LAB_UNKNOWN) last. */
int lab_table_compare_double(double a, double b, bool turned);
int lab_table_compare_int(int64_t a, int64_t b, bool turned);
LAB_C_END
