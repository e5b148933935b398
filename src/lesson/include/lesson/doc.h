/* lesson/doc.h -- a lesson's text as blocks, and as lines of a given width.
 *
 * Markdown is read once, by md4c (tables and $math$ included), into blocks of
 * styled spans; formulas are Unicode text by then. lab_doc_wrap() is a pure
 * function from blocks to lines: the screen and `lesson show` both use it. No
 * text in here can steer a terminal. Threads: any number may read. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/status.h"

/* What a piece of text is; several may hold at once. */
enum lab_text_style {
    LAB_TEXT_PLAIN = 0,
    LAB_TEXT_STRONG = 1,
    LAB_TEXT_EMPH = 2,
    LAB_TEXT_CODE = 4,
    LAB_TEXT_MATH = 8,
    LAB_TEXT_LINK = 16,
    LAB_TEXT_HEADING = 32,
    LAB_TEXT_FRAME = 64 /* list markers, rules, borders of tables */
};

struct lab_span {
    unsigned style;   /* enum lab_text_style, or-ed */
    const char *text; /* UTF-8; "\n" alone is a hard line break */
};

enum lab_block_kind {
    LAB_BLOCK_HEADING,
    LAB_BLOCK_PARAGRAPH, /* also the text of a list item */
    LAB_BLOCK_CODE,      /* one span, lines end in \n */
    LAB_BLOCK_TABLE,
    LAB_BLOCK_MATH, /* a formula of its own line */
    LAB_BLOCK_RULE
};

enum lab_align { LAB_ALIGN_LEFT, LAB_ALIGN_CENTER, LAB_ALIGN_RIGHT };

struct lab_doc_cell {
    const struct lab_span *spans;
    size_t n_spans;
};

struct lab_block {
    enum lab_block_kind kind;
    int level;          /* headings: 1 to 6 */
    int quote;          /* depth of quotation */
    int indent;         /* depth of lists; 0: not in a list */
    const char *marker; /* "•" or "3." before the first block of an item */
    bool tight;         /* no blank line before it */
    int line;           /* in the file; 0: not known */
    const struct lab_span *spans;
    size_t n_spans;
    /* Tables: cells of rows x columns, the first row is the head. */
    const struct lab_doc_cell *cells;
    const enum lab_align *align;
    size_t rows;
    size_t columns;
};

/* A run of blocks. Borrowed: it lives as long as what it was taken from. */
struct lab_doc {
    const struct lab_block *blocks;
    size_t n_blocks;
};

struct lab_doc_line {
    const struct lab_span *spans;
    size_t n_spans;
    int block; /* index of the block it came from, -1: a blank line */
};

struct lab_doc_lines {
    struct lab_doc_line *lines;
    size_t count;
    void *memory; /* private */
};

LAB_C_BEGIN
/* Lines of at most `columns` columns (at least 20 are used). Long words and
 * code lines are cut into several; tables shrink their widest columns.
 * Errors: LAB_E_NOMEM. Release with lab_doc_lines_release(). */
enum lab_status lab_doc_wrap(const struct lab_doc *doc, int columns,
                             struct lab_doc_lines *out);
void lab_doc_lines_release(struct lab_doc_lines *lines);
/* Columns of a UTF-8 text on a terminal: wide characters take two, combining
 * marks none. */
int lab_doc_columns(const char *utf8);
LAB_C_END
