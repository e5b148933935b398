/* md_reader.h -- what the callbacks of md4c share: blocks in md_read.c, spans
 * in md_span.c. Threads: one at a time. */
#pragma once
#include <md4c.h>
#include "md_read.h"

enum {
    LAB_MD_LIST_DEPTH = 16,
    /* md4c fills short rows up: without a limit a small file makes a table of
     * billions of cells. */
    LAB_MD_MAX_COLUMNS = 64,
    LAB_MD_MAX_CELLS = 100000
};

struct lab_md_list {
    bool ordered;
    bool tight;
    bool started; /* its first block has been seen */
    unsigned long next;
};

struct lab_md_reader {
    struct lab_arena *arena;
    const char *md;
    size_t size;
    int line;       /* of the byte at `counted` */
    size_t counted; /* bytes whose line ends are in `line` */

    struct lab_md_block *blocks;
    size_t n_blocks;
    size_t cap_blocks;
    struct lab_md_span *spans; /* of the open leaf or cell */
    size_t n_spans;
    size_t cap_spans;
    struct lab_md_cell *cells; /* of the open table */
    size_t n_cells;
    size_t cap_cells;

    bool open;                /* a leaf block takes text */
    struct lab_md_block leaf; /* that block */
    struct lab_str text;      /* of the open span */
    unsigned style;           /* of the open span */
    int strong;               /* nesting of spans */
    int emph;
    int code;
    int link;
    bool math;
    size_t displays; /* $$...$$ in the open leaf */
    const char *href;

    int quote;
    int depth; /* of lists */
    struct lab_md_list list[LAB_MD_LIST_DEPTH];
    const char *marker; /* waits for the first block of its item */
    bool too_large;     /* the open table */
    bool failed;
};

LAB_C_BEGIN
bool lab_md_grow(void **items, size_t *cap, size_t count, size_t each);
/* Ends the open span. */
void lab_md_flush_span(struct lab_md_reader *r);
/* The style of text that comes now; ends the open span when it changes. */
unsigned lab_md_current_style(const struct lab_md_reader *r);
void lab_md_set_style(struct lab_md_reader *r);
/* Copies the collected spans to where they stay. */
const struct lab_md_span *lab_md_keep_spans(struct lab_md_reader *r,
                                            size_t *count);
int lab_md_enter_span(MD_SPANTYPE type, void *detail, void *user);
int lab_md_leave_span(MD_SPANTYPE type, void *detail, void *user);
LAB_C_END
