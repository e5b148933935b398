/* report/palette.h -- the picture language: a colour for each role, the scales of
 * heat maps, and the themes, for every depth of colour.
 *
 * A role colours text. A tint colours a picture or a background: a step of a
 * scale, or a panel. Scales are even to the eye and safe for colour-blind ones;
 * palette.c names their sources. Terminals below 256 colours, and the theme
 * "terminal", have no tints: pictures are made of characters there. Pure.
 * Threads: any. */
#pragma once
#include <stdbool.h>
#include "engine/op.h"
#include "profiler/roofline.h"
#include "report/role.h"

enum lab_theme {
    LAB_THEME_DARK,
    LAB_THEME_LIGHT,
    LAB_THEME_CONTRAST,
    LAB_THEME_TERMINAL, /* the terminal's own 16 colours */
    LAB_THEMES
};

/* What a terminal can show. */
enum lab_depth {
    LAB_DEPTH_MONO,
    LAB_DEPTH_8,
    LAB_DEPTH_16,
    LAB_DEPTH_256,
    LAB_DEPTH_RGB
};

enum { /* attributes, a bit each */
       LAB_ATTR_BOLD = 1,
       LAB_ATTR_DIM = 2,
       LAB_ATTR_UNDERLINE = 4,
       LAB_ATTR_REVERSE = 8
};

/* Colours are 0 to 7, 15 or 255 of the terminal's palette, or 0xRRGGBB by the
 * depth; -1: the terminal's own. */
struct lab_style {
    unsigned attr;
    int fg;
    int bg;
};

/* Both fit into a byte. */
enum lab_tint {
    LAB_TINT_NONE,
    LAB_TINT_PANEL, /* a background one step from the terminal's */
    LAB_TINT_FOCUS, /* of the panel in focus */
    LAB_TINT_SELECTED,
    LAB_TINT_CURSOR, /* what is chosen where the focus is not */
    LAB_TINT_BLACK,  /* text on a light tint ... */
    LAB_TINT_WHITE,  /* ... and on a dark one */
    LAB_TINT_MARK,   /* outlines over a picture */
    LAB_TINT_BAD,    /* NaN and infinity */
    LAB_TINT_SEQUENTIAL,
    LAB_TINT_STEPS = 64, /* of the sequential scale */
    LAB_TINT_DIVERGING = LAB_TINT_SEQUENTIAL + LAB_TINT_STEPS,
    LAB_TINT_HALF = 32, /* steps of each side of zero */
    /* Of each phase, then of each bound: as its role, for backgrounds. */
    LAB_TINT_ROLE = LAB_TINT_DIVERGING + 2 * LAB_TINT_HALF + 1,
    /* Of what has no order, as names: each with black text. */
    LAB_TINT_NAME = LAB_TINT_ROLE + LAB_ROLE_COUNT - LAB_ROLE_FORWARD,
    LAB_TINT_NAMES = 8,
    LAB_TINT_OTHER = LAB_TINT_NAME + LAB_TINT_NAMES, /* of all further ones */
    LAB_TINT_COUNT
};

/* A theme at a depth, looked up once: a frame has thousands of cells. */
struct lab_palette {
    enum lab_theme theme;
    enum lab_depth depth;
    bool tints;
    struct lab_style styles[LAB_ROLE_COUNT];
    int on_panel[LAB_ROLE_COUNT]; /* colours of text on a panel */
    int tint[LAB_TINT_COUNT];
    unsigned char on[LAB_TINT_COUNT]; /* tints of text on a tint */
};

LAB_C_BEGIN
/* "dark", "light", "contrast", "terminal". */
const char *lab_theme_name(enum lab_theme theme);
/* A name, or "auto" or NULL: by `colorfgbg`, the variable COLORFGBG, light where
 * the terminal states a light background, else dark. False: no such theme. */
bool lab_theme_find(const char *name, const char *colorfgbg,
                    enum lab_theme *out);

/* "heading", "forward" ...: of the roles that the themes have a colour for; NULL: of
 * another role; text of it has the terminal's own. */
const char *lab_role_name(enum lab_role role);
/* A colour, 0xRRGGBB, in place of each theme's own, at 256 colours the nearest; the
 * theme "terminal" keeps its 16. -1: the theme's own again. Before the first
 * lab_palette_fill(). */
void lab_palette_set(enum lab_role role, int rgb);

struct lab_style lab_palette_style(enum lab_theme theme, enum lab_depth depth,
                                   enum lab_role role);
void lab_palette_fill(struct lab_palette *out, enum lab_theme theme,
                      enum lab_depth depth);
/* A cell of a role, with tints for its text and its background or LAB_TINT_NONE.
 * On a scale's tint a role has its weight alone: the colour is one that is legible
 * there. */
struct lab_style lab_palette_cell(const struct lab_palette *p, unsigned role,
                                  unsigned ink, unsigned paper);
/* -1: none. */
int lab_palette_tint(enum lab_theme theme, enum lab_depth depth,
                     enum lab_tint tint);
/* LAB_TINT_BLACK or LAB_TINT_WHITE: what is legible on it. */
enum lab_tint lab_palette_ink(enum lab_theme theme, enum lab_depth depth,
                              enum lab_tint tint);
/* The nearest of the 240 fixed colours of a terminal with 256. */
int lab_palette_nearest(int rgb);
/* Lightness of a colour in OKLab, 0 to 1, and how far two are apart. */
double lab_palette_lightness(int rgb);
double lab_palette_distance(int rgb, int other);

/* The tint of a value: 0 to `most` on the sequential scale, -most to most on the
 * diverging one. Values beyond are cut; NaN and infinity are LAB_TINT_BAD. */
enum lab_tint lab_tint_sequential(double v, double most);
enum lab_tint lab_tint_diverging(double v, double most);

/* Of the role of a phase or a bound; LAB_TINT_NONE: another role. */
enum lab_tint lab_tint_of_role(enum lab_role role);
enum lab_role lab_role_of_phase(enum lab_phase phase);
enum lab_role lab_role_of_verdict(enum lab_roofline_verdict verdict);
/* "F", "L", "B", "U": of a phase where there is no room for its name. */
const char *lab_phase_letter(enum lab_phase phase);
/* "M", "C", "L", "H"; "" for an unknown one. */
const char *lab_verdict_letter(enum lab_roofline_verdict verdict);
LAB_C_END
