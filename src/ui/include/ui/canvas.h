/* ui/canvas.h -- a grid of character cells that views draw on.
 *
 * No terminal and no curses here: a view is a pure function from its data to a
 * canvas, tests compare the canvas with golden text, and terminal.h alone puts
 * a canvas on the screen. A cell holds one character (up to 4 bytes of UTF-8;
 * wide ones take two cells) and a role, which colours its text; pictures and
 * panels may give it a tint as `paper` behind the text, and as `ink`
 * (report/palette.h). Without `tints` a terminal has roles alone: what a tint
 * shows has to be drawn in characters there. Where pixels can be shown, an image
 * may lie over cells that have the same in characters. Text from outside must have gone
 * through lab_str_add_visible(); a control character that arrives here anyway
 * is drawn as '?'. Drawing outside the clip rectangle is cut, never an error.
 * Threads: one at a time. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/status.h"
#include "report/palette.h"

struct lab_rect {
    int y;
    int x;
    int h;
    int w;
};

struct lab_cell {
    char text[5]; /* UTF-8, NUL-terminated; "" = right half of a wide one */
    unsigned char role;
    unsigned char ink;   /* enum lab_tint; LAB_TINT_NONE: the role's */
    unsigned char paper; /* LAB_TINT_NONE: the role's, or the terminal's */
    unsigned char
        image; /* an image lies over it: its number, from 1; 0: none */
};

/* A picture in pixels over some cells; each pixel is an enum lab_tint, or
 * LAB_PIXEL_OF_ROLE plus a role. */
struct lab_pixels {
    struct lab_rect at; /* cells */
    unsigned char *px;  /* at.h*px_h rows of at.w*px_w, owned */
};
enum { LAB_PIXEL_OF_ROLE = LAB_TINT_COUNT, LAB_CANVAS_IMAGES = 64 };

struct lab_canvas {
    int h;
    int w;
    struct lab_cell *cells; /* h*w, row-major, owned */
    struct lab_rect clip;
    bool ascii;  /* only bytes below 0x80: charts and borders fall back */
    bool blocks; /* charts in blocks: the console has no braille */
    bool tints;  /* papers and inks are shown */
    bool mono;   /* no colour at all, in pictures and casts too */
    int px_h;    /* pixels of a cell, where images are shown; 0: nowhere */
    int px_w;
    struct lab_pixels images[LAB_CANVAS_IMAGES]; /* of this frame */
    int n_images;
    int cursor_y; /* the terminal's cursor; -1: nowhere */
    int cursor_x;
    bool cursor_shown;
};

LAB_C_BEGIN
/* Takes a strip of at most n cells off one side of *r and returns it; *r keeps
 * the rest. n < 0 counts as 0. */
struct lab_rect lab_rect_cut_top(struct lab_rect *r, int n);
struct lab_rect lab_rect_cut_bottom(struct lab_rect *r, int n);
struct lab_rect lab_rect_cut_left(struct lab_rect *r, int n);
struct lab_rect lab_rect_cut_right(struct lab_rect *r, int n);
bool lab_rect_empty(struct lab_rect r);
bool lab_rect_overlap(struct lab_rect a, struct lab_rect b);
bool lab_rect_inside(struct lab_rect inner, struct lab_rect outer);
bool lab_rect_has(struct lab_rect r, int y, int x);

enum lab_status lab_canvas_init(struct lab_canvas *c, int h, int w, bool ascii);
void lab_canvas_release(struct lab_canvas *c);
/* Blank, NORMAL, clip = all. */
void lab_canvas_clear(struct lab_canvas *c);
/* Sets the clip to the part of `r` that lies inside the old one; returns the
 * old one for lab_canvas_unclip(). */
struct lab_rect lab_canvas_clip(struct lab_canvas *c, struct lab_rect r);
void lab_canvas_unclip(struct lab_canvas *c, struct lab_rect old);

/* Writes at (y, x), cut at `w` columns (w < 0: at the clip, where a cut ends in
 * "…"); returns the columns used. In an ascii canvas characters above 0x7F
 * are transliterated ("×" to "x", "Σ" to "sum", "─" to "-") or become
 * '?'. */
int lab_canvas_text(struct lab_canvas *c, int y, int x, int w,
                    enum lab_role role, const char *utf8);
/* The same, and a text of more than `w` columns ends in "…" (ascii: "~"): a
 * cut name must not pass for a whole one. */
int lab_canvas_text_cut(struct lab_canvas *c, int y, int x, int w,
                        enum lab_role role, const char *utf8);
int lab_canvas_textf(struct lab_canvas *c, int y, int x, int w,
                     enum lab_role role, const char *fmt, ...) LAB_PRINTF(6, 7);
/* Writes at the left of a row and takes the columns used, which it returns, off
 * it: the next text goes on behind. Cut where the row or the clip ends, with "…". */
int lab_canvas_add(struct lab_canvas *c, struct lab_rect *row,
                   enum lab_role role, const char *fmt, ...) LAB_PRINTF(4, 5);
void lab_canvas_fill(struct lab_canvas *c, struct lab_rect r, const char *cell,
                     enum lab_role role);
/* Changes the role of cells and keeps their text. */
void lab_canvas_paint(struct lab_canvas *c, struct lab_rect r,
                      enum lab_role role);
/* Gives cells a background and keeps what they show; text that is written later
 * keeps it too, lab_canvas_fill() does not. */
void lab_canvas_paper(struct lab_canvas *c, struct lab_rect r,
                      enum lab_tint paper);
/* The same for the colour of the text. */
void lab_canvas_ink(struct lab_canvas *c, struct lab_rect r, enum lab_tint ink);
/* One cell of a picture as two pixels, one over the other; LAB_TINT_NONE leaves
 * a half as it is. Needs tints, and where the halves differ no ascii. */
void lab_canvas_pixels(struct lab_canvas *c, int y, int x, enum lab_tint top,
                       enum lab_tint bottom);
/* An image over cells, all of them inside the clip, h*px_h rows of w*px_w pixels
 * to be filled, LAB_TINT_NONE at first; valid until the canvas is cleared. What is
 * written into its cells later is not covered. NULL: there are no images here, or
 * no more of them, or no memory; what the cells have is shown. */
unsigned char *lab_canvas_image(struct lab_canvas *c, struct lab_rect cells);
/* The pixels of image number 1 to n_images without those of cells that it covers
 * no longer: the caller's, lab_free(). NULL: no memory. */
unsigned char *lab_canvas_image_pixels(const struct lab_canvas *c, int image);
/* 0xRRGGBB of each value of a pixel, or -1: nothing is drawn. */
void lab_canvas_pixel_colors(const struct lab_palette *p, int out[256]);
/* An empty box with a border and a title in its top line; returns what is
 * inside. */
struct lab_rect lab_canvas_box(struct lab_canvas *c, struct lab_rect r,
                               const char *title);
/* The line that a pane begins with: an edge of colour, or one of characters,
 * double when focused. */
void lab_canvas_rule(struct lab_canvas *c, struct lab_rect line, bool focused);
/* One line, "── title ──────", double when focused, for a pane
 * without a border; takes the line off the top of *r. */
void lab_canvas_heading(struct lab_canvas *c, struct lab_rect *r,
                        const char *title, bool focused);
/* Text wrapped at blanks into the rectangle; returns the rows used. Newlines
 * break. What does not fit is cut, and the last row marks it. */
int lab_canvas_paragraph(struct lab_canvas *c, struct lab_rect r,
                         enum lab_role role, const char *utf8);
/* The rows that it takes, `w` columns each; `most` where it takes more. */
int lab_canvas_paragraph_rows(const struct lab_canvas *c, int w, int most,
                              const char *utf8);
/* Bytes of the first row of `n` bytes of text in so many columns: to behind the
 * last blank that fits (but for those in the first `keep` columns), or into a word
 * that is too long for a row. */
size_t lab_wrap_row(const char *text, size_t n, int columns, int keep,
                    bool ascii);
/* Columns that `n` bytes of UTF-8 take on the screen, or on an ASCII one. */
int lab_text_columns(const char *utf8, size_t n, bool ascii);
/* The same on this canvas: an ascii one may write "sum" for one character. */
int lab_canvas_columns(const struct lab_canvas *c, const char *utf8);
/* Shows the terminal's cursor at (y, x): where typing goes. Hidden again by
 * the next lab_canvas_clear(). */
void lab_canvas_cursor(struct lab_canvas *c, int y, int x);
/* Puts it there without showing it, unless it is shown elsewhere: on the chosen
 * row, where screen readers and magnifiers look. */
void lab_canvas_focus(struct lab_canvas *c, int y, int x);

/* The canvas as lines of text without styles, trailing blanks cut: golden
 * screens. NULL when memory is short; free with lab_free(). */
char *lab_canvas_dump(const struct lab_canvas *c);
/* The same with the roles' colours of 8, for lines on a terminal. */
char *lab_canvas_dump_colored(const struct lab_canvas *c);
LAB_C_END
