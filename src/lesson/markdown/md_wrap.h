/* md_wrap.h -- the parts that wrapping text and wrapping tables share.
 * Threads: one at a time. */
#pragma once
#include <stdint.h>
#include "base/arena.h"
#include "base/str.h"
#include "lesson/markdown.h"

/* One character of a text on its way into lines. */
struct lab_glyph_run {
    const char *bytes;
    uint8_t len;
    uint8_t columns;
    uint8_t style;
};

struct lab_glyph_list {
    struct lab_glyph_run *items;
    size_t count;
    size_t cap;
};

/* Part of a glyph list that fits into one line; blanks at the break are left
 * out. */
struct lab_glyph_piece {
    size_t first;
    size_t end;
    int columns;
};

struct lab_wrapper {
    struct lab_arena *arena;
    struct lab_md_line *lines;
    size_t n_lines;
    size_t cap_lines;
    struct lab_md_span *spans; /* of the open line */
    size_t n_spans;
    size_t cap_spans;
    struct lab_str text; /* of the open span */
    unsigned style;
    lab_md_ascii_fn *ascii; /* NULL: text stays Unicode */
    int columns;
    int block;
    const struct lab_md_block *current;
    bool first_line; /* of the block: the marker stands there */
    struct lab_glyph_list glyphs;
    bool failed;
};

LAB_C_BEGIN
LAB_C_END
