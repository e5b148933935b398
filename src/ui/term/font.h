/* font.h -- characters as pixels, from a font of the system: for pictures in files.
 * Built without FreeType or Fontconfig there is none. Threads: one. */
#pragma once
#include <stdbool.h>
#include "base/status.h"

struct lab_font;

struct lab_glyph {
    int x; /* of its left upper corner in the cell, in pixels */
    int y;
    int h;
    int w;
    int stride;
    const unsigned char *ink; /* 0 to 255; the font's, until the next glyph */
};

/* The system's font of fixed width so that a character fits into h by w pixels.
 * LAB_E_UNSUPPORTED: none; LAB_E_NOMEM. */
enum lab_status lab_font_open(struct lab_font **out, int h, int w);
/* NULL is allowed. */
void lab_font_close(struct lab_font *f);
/* Its file. */
const char *lab_font_path(const struct lab_font *f);
/* false: the fonts do not have it. */
bool lab_font_glyph(struct lab_font *f, unsigned code, bool bold,
                    struct lab_glyph *out);
