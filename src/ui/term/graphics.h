/* graphics.h -- pictures in pixels as a terminal takes them (sixel, the graphics
 * protocol of kitty) or a file (PNG), and what a terminal answers when it is asked
 * which of them it knows and what its background is. Pure; Threads: any. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/str.h"

enum lab_graphics {
    LAB_GRAPHICS_AUTO, /* ask the terminal */
    LAB_GRAPHICS_NONE, /* half blocks */
    LAB_GRAPHICS_SIXEL,
    LAB_GRAPHICS_KITTY
};

/* h by w pixels, row-major, each a number of `color`: 0xRRGGBB, or -1 where
 * nothing is drawn. Not owned. */
struct lab_bitmap {
    int h;
    int w;
    const unsigned char *px;
    const int *color; /* 256 of them */
};

/* What has come of the answers to LAB_GRAPHICS_ASK and lab_graphics_ask_more(). */
struct lab_graphics_answer {
    bool attributes; /* they have come: the last answer */
    int level;       /* of a VT terminal: 62 and more are a VT220's and later */
    bool sixel;
    bool kitty;
    int cell_h; /* pixels of a character; 0: unknown */
    int cell_w;
    bool has_paper; /* the color of its background has come */
    int paper;      /* 0xRRGGBB */
    bool
        named; /* its name was asked for: until then ESC P is a key behind another */
    bool few; /* it is xterm, which keeps 16 graphics and drops the oldest */
};

LAB_C_BEGIN
bool lab_graphics_find(const char *name, enum lab_graphics *out);

/* Appends the picture for where the cursor is. Sixels leave pixels without a colour
 * as they were; colours are rounded to 1/100. */
void lab_sixel_add(struct lab_str *out, const struct lab_bitmap *b);
/* The same over `rows` by `cols` characters; it takes the place of an earlier one
 * with this id (1 and more). The cursor does not move. */
void lab_kitty_add(struct lab_str *out, const struct lab_bitmap *b, unsigned id,
                   int rows, int cols);
void lab_kitty_remove(struct lab_str *out, unsigned id);
/* A PNG file of w by h pixels, three bytes each. */
void lab_png_add(struct lab_str *out, const unsigned char *rgb, int h, int w);

/* The question that any terminal answers or ignores. */
#define LAB_GRAPHICS_ASK "\033[c"
/* The questions behind an answer, or NULL: there are none. Only a VT220 and later
 * gets one with a string in it, which older ones would print. */
const char *lab_graphics_ask_more(struct lab_graphics_answer *a);
/* The question for the color of the background (OSC 11). It has a string in it. */
#define LAB_GRAPHICS_ASK_PAPER "\033]11;?\033\\"
/* xterm keeps 16 graphics, of which a piece of sixels is one: all images together
 * have fewer. */
enum { LAB_GRAPHICS_FEW = 12 };
/* Whether the terminal that answered so keeps that many images at once. */
bool lab_graphics_keeps(enum lab_graphics how,
                        const struct lab_graphics_answer *a, int images);
/* Reads one answer at the start of what came in: its bytes, also of one that has
 * another use; 0: it is none; -1: more has to come before that is known. */
int lab_graphics_hear(struct lab_graphics_answer *a, const char *bytes,
                      size_t n);
LAB_C_END
