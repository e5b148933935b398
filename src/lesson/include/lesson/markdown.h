/* lesson/markdown.h -- a lesson's text as blocks, and as lines of a given
 * width.
 *
 * Markdown is read once, by md4c (tables and $math$ included), into blocks of
 * styled spans; formulas are Unicode text by then. lab_md_wrap() is a pure
 * function from blocks to lines: the screen and `lesson show` both use it. No
 * text in here can steer a terminal. Threads: any number may read. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/arena.h"
#include "base/status.h"

/* What a piece of text is; several may hold at once. */
enum lab_md_style {
    LAB_SPAN_PLAIN = 0,
    LAB_SPAN_STRONG = 1,
    LAB_SPAN_EMPH = 2,
    LAB_SPAN_CODE = 4,
    LAB_SPAN_MATH = 8,
    LAB_SPAN_LINK = 16,
    LAB_SPAN_HEADING = 32,
    LAB_SPAN_FRAME = 64 /* list markers, rules, borders of tables */
};

struct lab_md_span {
    unsigned style;   /* enum lab_md_style, or-ed */
    const char *text; /* UTF-8; "\n" alone is a hard line break */
};

enum lab_md_kind {
    LAB_MD_HEADING,
    LAB_MD_PARAGRAPH, /* also the text of a list item */
    LAB_MD_CODE,      /* one span, lines end in \n */
    LAB_MD_TABLE,
    LAB_MD_MATH, /* a formula of its own line */
    LAB_MD_RULE
};

enum lab_md_align { LAB_MD_LEFT, LAB_MD_CENTER, LAB_MD_RIGHT };

struct lab_md_cell {
    const struct lab_md_span *spans;
    size_t n_spans;
};

struct lab_md_block {
    enum lab_md_kind kind;
    int level;          /* headings: 1 to 6 */
    int quote;          /* depth of quotation */
    int indent;         /* depth of lists; 0: not in a list */
    const char *marker; /* "•" or "3." before the first block of an item */
    bool tight;         /* no blank line before it */
    int line;           /* in the file; 0: not known */
    const struct lab_md_span *spans;
    size_t n_spans;
    /* Tables: cells of rows x columns, the first row is the head. */
    const struct lab_md_cell *cells;
    const enum lab_md_align *align;
    size_t rows;
    size_t columns;
};

/* A run of blocks. Borrowed: it lives as long as what it was taken from. */
struct lab_md {
    const struct lab_md_block *blocks;
    size_t n_blocks;
};

struct lab_md_line {
    const struct lab_md_span *spans;
    size_t n_spans;
    int block; /* index of the block it came from, -1: a blank line */
};

struct lab_md_lines {
    struct lab_md_line *lines;
    size_t count;
    void *memory; /* private */
};

/* The ASCII text for a character above 0x7F; NULL: none is known. */
typedef const char *lab_md_ascii_fn(unsigned code);

LAB_C_BEGIN
/* Reads md[n], from line `first_line` of the file on. "lapenna-lab" as the first word of
 * a command in code becomes what base/command.h has. Everything in *out lives in `arena`. Any text is valid Markdown. Errors: LAB_E_NOMEM;
 * LAB_E_RANGE, a table at *bad_line is too large. One thread at a time. */
enum lab_status lab_md_read(struct lab_arena *arena, const char *md, size_t n,
                            int first_line, struct lab_md *out, int *bad_line);
/* Lines of at most `columns` columns (at least 20 are used). Long words and
 * code lines are cut into several; tables shrink their widest columns.
 * `ascii`, or NULL, replaces every character above 0x7F before the lines are
 * laid out: its text may be longer than the character.
 * Errors: LAB_E_NOMEM. Release with lab_md_lines_release(). */
enum lab_status lab_md_wrap(const struct lab_md *doc, int columns,
                            lab_md_ascii_fn *ascii, struct lab_md_lines *out);
void lab_md_lines_release(struct lab_md_lines *lines);
/* Columns of a UTF-8 text on a terminal: wide characters take two, combining
 * marks none. */
int lab_md_columns(const char *utf8);
LAB_C_END
