/* palette.c -- one table of roles, and the scales of heat maps, in every depth of
 * colour.
 *
 * Sources of the scales: viridis (N. Smith, S. van der Walt, E. Firing, for
 * matplotlib; CC0), cividis (Nunez, Anderton, Renslow 2018), berlin and vik (F.
 * Crameri, Scientific colour maps, version 8; MIT); of names "light" (P. Tol, Colour
 * schemes, SRON 2021; BSD). Of each, a few control points
 * are kept; what lies between is interpolated in OKLab (B. Ottosson 2020) at
 * equal distances, so that equal steps look equal. With 256 colours the nearest
 * entries would be uneven: these scales are chosen by hand from the entries. */
#include "report/palette.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- the roles ---- */

enum { COLORED_THEMES = LAB_THEME_TERMINAL };

static const struct row {
    unsigned attr;
    unsigned mono; /* without colour */
    int ansi8;     /* of terminals with 8 colours; -1: their own */
    int ansi16;
    int rgb[COLORED_THEMES]; /* dark, light, contrast */
} ROLES[LAB_ROLE_COUNT] = {
    [LAB_ROLE_NORMAL] = {0, 0, -1, -1, {-1, -1, 0xFFFFFF}},
    [LAB_ROLE_DIM] = {LAB_ATTR_DIM, LAB_ATTR_DIM, -1, -1, {-1, -1, 0xC8C8C8}},
    [LAB_ROLE_TITLE] =
        {LAB_ATTR_BOLD, LAB_ATTR_BOLD, -1, -1, {-1, -1, 0xFFFFFF}},
    [LAB_ROLE_HEADING] =
        {LAB_ATTR_BOLD, LAB_ATTR_BOLD, 6, 6, {0x40C0D2, 0x00677A, 0x00FFFF}},
    [LAB_ROLE_KEY] =
        {LAB_ATTR_BOLD, LAB_ATTR_BOLD, 6, 6, {0x40C0D2, 0x00677A, 0x00FFFF}},
    [LAB_ROLE_SELECTED] = {LAB_ATTR_REVERSE,
                           LAB_ATTR_REVERSE,
                           -1,
                           -1,
                           {0xFFFFFF, 0x101418, 0x000000}},
    [LAB_ROLE_CURSOR] = {LAB_ATTR_REVERSE | LAB_ATTR_BOLD,
                         LAB_ATTR_REVERSE | LAB_ATTR_BOLD,
                         -1,
                         -1,
                         {0xFFFFFF, 0x101418, 0x000000}},
    [LAB_ROLE_MARK] = {LAB_ATTR_UNDERLINE | LAB_ATTR_BOLD,
                       LAB_ATTR_UNDERLINE | LAB_ATTR_BOLD,
                       3,
                       3,
                       {0xD7AF00, 0x8A5A00, 0xFFFF00}},
    [LAB_ROLE_GOOD] = {0, 0, 2, 2, {0x33AB7A, 0x446C4E, 0x6BE91F}},
    [LAB_ROLE_WARN] =
        {LAB_ATTR_BOLD, LAB_ATTR_BOLD, 3, 3, {0xD5B000, 0x4F3B02, 0xFBFD7A}},
    [LAB_ROLE_BAD] =
        {LAB_ATTR_BOLD, LAB_ATTR_BOLD, 1, 9, {0xFB5749, 0xC12E13, 0xFBA1A0}},
    [LAB_ROLE_CODE] = {0, 0, 2, 2, {0x87AF87, 0x3A6B3A, 0x90FF90}},
    [LAB_ROLE_FORMULA] = {0, 0, 5, 13, {0xAF87D7, 0x6A3FA0, 0xE0B0FF}},
    [LAB_ROLE_BADGE] =
        {LAB_ATTR_BOLD, LAB_ATTR_BOLD, 2, 10, {0x5FD787, 0x00693A, 0x00FF80}},
    [LAB_ROLE_BORDER] = {LAB_ATTR_DIM, 0, -1, -1, {-1, -1, 0xFFFFFF}},
    [LAB_ROLE_NEGATIVE] =
        {0, LAB_ATTR_DIM, 6, 12, {0x77A2F0, 0x1D4F9C, 0x80C0FF}},
    [LAB_ROLE_POSITIVE] =
        {0, LAB_ATTR_BOLD, 3, 3, {0xF2938A, 0x9A4200, 0xFFB000}},
    [LAB_ROLE_SERIES_1] = {0, 0, 6, 14, {0x58C3BE, 0x25625A, 0x74E8FD}},
    [LAB_ROLE_SERIES_2] = {0, 0, 3, 11, {0xE3A82D, 0x7A5817, 0xF7C743}},
    [LAB_ROLE_SERIES_3] = {0, 0, 5, 13, {0xBE82E0, 0x9C12A2, 0xFD95CD}},
    [LAB_ROLE_SERIES_4] = {0, 0, 2, 10, {0x86F083, 0x304716, 0xACF49D}},
    [LAB_ROLE_SERIES_5] = {0, 0, 4, 12, {0xA5BEFF, 0x2C5ED6, 0x8EC1FF}},
    [LAB_ROLE_SERIES_6] = {0, 0, -1, -1, {-1, -1, 0xFFFFFF}},
    [LAB_ROLE_FORWARD] = {0, 0, 6, 14, {0x38AFA4, 0x336E76, 0x4CE5B9}},
    [LAB_ROLE_LOSS] =
        {0, LAB_ATTR_UNDERLINE, 5, 13, {0xB49AF3, 0x7941C0, 0xD5B8FD}},
    [LAB_ROLE_BACKWARD] =
        {0, LAB_ATTR_BOLD, 3, 3, {0xF4851B, 0x9C5200, 0xF6A937}},
    [LAB_ROLE_UPDATE] = {0,
                         LAB_ATTR_UNDERLINE | LAB_ATTR_BOLD,
                         2,
                         10,
                         {0x7DCE7C, 0x2F4C22, 0xB1F95D}},
    [LAB_ROLE_MEMORY] = {0, 0, 4, 12, {0x74A3EF, 0x194E9F, 0x7EC4F8}},
    [LAB_ROLE_COMPUTE] =
        {0, LAB_ATTR_BOLD, 1, 9, {0xEF5357, 0x96082A, 0xFB9CA4}},
    [LAB_ROLE_LATENCY] =
        {0, LAB_ATTR_DIM, -1, 7, {0xA9A7A7, 0x686373, 0xE0E1E0}},
    [LAB_ROLE_HOST] =
        {0, LAB_ATTR_UNDERLINE, 3, 11, {0xDBA150, 0x925A28, 0xF8C97A}},
};

static const char *const ROLE_NAMES[LAB_ROLE_COUNT] = {
    [LAB_ROLE_HEADING] = "heading",   [LAB_ROLE_KEY] = "key",
    [LAB_ROLE_MARK] = "mark",         [LAB_ROLE_GOOD] = "good",
    [LAB_ROLE_WARN] = "warn",         [LAB_ROLE_BAD] = "bad",
    [LAB_ROLE_CODE] = "code",         [LAB_ROLE_FORMULA] = "formula",
    [LAB_ROLE_BADGE] = "badge",       [LAB_ROLE_NEGATIVE] = "negative",
    [LAB_ROLE_POSITIVE] = "positive", [LAB_ROLE_SERIES_1] = "series1",
    [LAB_ROLE_SERIES_2] = "series2",  [LAB_ROLE_SERIES_3] = "series3",
    [LAB_ROLE_SERIES_4] = "series4",  [LAB_ROLE_SERIES_5] = "series5",
    [LAB_ROLE_SERIES_6] = "series6",  [LAB_ROLE_FORWARD] = "forward",
    [LAB_ROLE_LOSS] = "loss",         [LAB_ROLE_BACKWARD] = "backward",
    [LAB_ROLE_UPDATE] = "update",     [LAB_ROLE_MEMORY] = "memory",
    [LAB_ROLE_COMPUTE] = "compute",   [LAB_ROLE_LATENCY] = "latency",
    [LAB_ROLE_HOST] = "host"};

static struct {
    bool set;
    int rgb;
} chosen[LAB_ROLE_COUNT]; /* by lab_palette_set() */

const char *lab_role_name(enum lab_role role)
{
    return ROLE_NAMES[role];
}

void lab_palette_set(enum lab_role role, int rgb)
{
    chosen[role].set = rgb >= 0;
    chosen[role].rgb = rgb;
}

static int role_rgb(enum lab_theme theme, enum lab_role role)
{
    return chosen[role].set ? chosen[role].rgb : ROLES[role].rgb[theme];
}

/* The panels' backgrounds, and text that has no colour of its own on them. */
static const struct ground {
    int text;
    int background; /* of everything; -1: the terminal's */
    int panel;
    int focus;
    int selected;
    int cursor;
    int mark;
    int bad;
} GROUNDS[COLORED_THEMES] = {
    [LAB_THEME_DARK] = {0xD8DEE9, -1, 0x1C222B, 0x1F3B4D, 0x264F78, 0x39424F,
                        0xFFD75F, 0xD70087},
    [LAB_THEME_LIGHT] = {0x1F2328, -1, 0xE6EAF0, 0xC6DDEF, 0xB5D3F0, 0xCBD2DA,
                         0x5F3A00, 0xD70087},
    [LAB_THEME_CONTRAST] = {0xFFFFFF, 0x000000, 0x1C1C1C, 0x002468, 0xFFFF00,
                            0xFFFFFF, 0xFFFFFF, 0xFF00AF},
};

static const char *const NAMES[LAB_THEMES] = {"dark", "light", "contrast",
                                              "terminal"};

const char *lab_theme_name(enum lab_theme theme)
{
    return NAMES[theme];
}

bool lab_theme_find(const char *name, const char *colorfgbg,
                    enum lab_theme *out)
{
    if (!name || strcmp(name, "auto") == 0) {
        /* "15;0", or "15;default;0": the last is the background. 7 and 9 to 15
         * are light. */
        const char *last = colorfgbg ? strrchr(colorfgbg, ';') : NULL;
        int ground = last ? atoi(last + 1) : 0;
        *out = ground == 7 || ground > 8 ? LAB_THEME_LIGHT : LAB_THEME_DARK;
        return true;
    }
    for (int i = 0; i < LAB_THEMES; i++) {
        if (strcmp(name, NAMES[i]) == 0) {
            *out = (enum lab_theme)i;
            return true;
        }
    }
    return false;
}

/* ---- colour arithmetic ---- */

struct lab_color { /* in OKLab */
    double l;
    double a;
    double b;
};

static double linear(int byte)
{
    double v = byte / 255.0;
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

static int byte_of(double v)
{
    v = v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055;
    v = v < 0 ? 0 : v > 1 ? 1 : v;
    return (int)lround(255 * v);
}

static struct lab_color color_of(int rgb)
{
    double r = linear(rgb >> 16 & 255);
    double g = linear(rgb >> 8 & 255);
    double b = linear(rgb & 255);
    double l = cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    double m = cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    double s = cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    return (struct lab_color){
        0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

static int rgb_of(struct lab_color c)
{
    double l = pow(c.l + 0.3963377774 * c.a + 0.2158037573 * c.b, 3);
    double m = pow(c.l - 0.1055613458 * c.a - 0.0638541728 * c.b, 3);
    double s = pow(c.l - 0.0894841775 * c.a - 1.2914855480 * c.b, 3);
    int r = byte_of(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
    int g = byte_of(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
    int b = byte_of(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s);
    return r << 16 | g << 8 | b;
}

static double apart(struct lab_color x, struct lab_color y)
{
    double l = x.l - y.l;
    double a = x.a - y.a;
    double b = x.b - y.b;
    return sqrt(l * l + a * a + b * b);
}

double lab_palette_lightness(int rgb)
{
    return color_of(rgb).l;
}

double lab_palette_distance(int rgb, int other)
{
    return apart(color_of(rgb), color_of(other));
}

/* Colours 16 to 231 are a cube, 232 to 255 greys. */
static int fixed_rgb(int index)
{
    static const int levels[6] = {0, 95, 135, 175, 215, 255};
    if (index >= 232) {
        int grey = 8 + 10 * (index - 232);
        return grey << 16 | grey << 8 | grey;
    }
    index -= 16;
    return levels[index / 36] << 16 | levels[index / 6 % 6] << 8 |
           levels[index % 6];
}

enum { FIRST_FIXED = 16, FIXED = 240 };
static struct lab_color fixed_colors[FIXED];
static pthread_once_t fixed_once = PTHREAD_ONCE_INIT;

/* Once: a theme looks for 200 of its colours among them. */
static void fill_fixed(void)
{
    for (int i = 0; i < FIXED; i++)
        fixed_colors[i] = color_of(fixed_rgb(FIRST_FIXED + i));
}

int lab_palette_nearest(int rgb)
{
    struct lab_color want = color_of(rgb);
    double best = INFINITY;
    int nearest = 0;
    pthread_once(&fixed_once, fill_fixed);
    for (int i = 0; i < FIXED; i++) {
        double d = apart(want, fixed_colors[i]);
        if (d < best) {
            best = d;
            nearest = i;
        }
    }
    return FIRST_FIXED + nearest;
}

static int at_depth(enum lab_depth depth, int rgb)
{
    return rgb < 0 || depth == LAB_DEPTH_RGB ? rgb : lab_palette_nearest(rgb);
}

/* ---- scales ---- */

enum { MOST_POINTS = 13 };

struct scale {
    int n;
    int rgb[MOST_POINTS];
};

static const struct scale VIRIDIS = {10,
                                     {0x440154, 0x482878, 0x3E4A89, 0x31688E,
                                      0x26828E, 0x1F9E89, 0x35B779, 0x6DCD59,
                                      0xB4DE2C, 0xFDE725}};
static const struct scale CIVIDIS = {10,
                                     {0x00204D, 0x00336F, 0x39486B, 0x575C6D,
                                      0x707173, 0x8A8779, 0xA69D75, 0xC4B56C,
                                      0xE4CF5B, 0xFFEA46}};
/* Of diverging scales, the middle one is zero. It is a step from the terminal's
 * black, so that a tensor of small values has an edge. */
static const struct scale BERLIN = {
    13,
    {0x9EB0FF, 0x6CA9E6, 0x3E90BC, 0x286886, 0x214556, 0x26343B, 0x272625,
     0x392A24, 0x4E2416, 0x7B321C, 0xA65948, 0xD2837A, 0xFFADAD}};
static const struct scale VIK = {
    13,
    {0x001261, 0x023376, 0x06548B, 0x307DA6, 0x71A8C4, 0xB3D1DF, 0xECE5E0,
     0xE4BFAA, 0xD39774, 0xC37243, 0xAB4814, 0x7E1D06, 0x590008}};

/* The same in the fixed colours of a terminal with 256. A diverging scale has zero,
 * then a blue and a red for each level: both have the same lightness within 4.5 of
 * CIE L*, and both begin at the same value. */
enum { LEVELS = 8, MOST_LEVELS = 9 };
static const struct {
    unsigned char below[LEVELS];
    unsigned char above[LEVELS];
} SIGNED_256 = {{19, 20, 24, 27, 32, 105, 75, 81},
                {52, 88, 124, 160, 167, 203, 210, 217}};
enum { ZERO_DARK = 234, ZERO_LIGHT = 254 };

static const struct levels {
    int n;
    unsigned char color[MOST_LEVELS];
} VIRIDIS_256 = {8, {53, 55, 24, 30, 36, 42, 185, 227}},
  CIVIDIS_256 = {9, {234, 236, 238, 241, 244, 247, 179, 185, 227}};

/* The colour at `share` of the way along the points first to last. */
static struct lab_color along(const int *rgb, int n, double share)
{
    struct lab_color at[MOST_POINTS];
    double length = 0;
    for (int i = 0; i < n; i++)
        at[i] = color_of(rgb[i]);
    for (int i = 1; i < n; i++)
        length += apart(at[i - 1], at[i]);
    double left = share * length;
    for (int i = 1; i < n; i++) {
        double piece = apart(at[i - 1], at[i]);
        if (left <= piece || i == n - 1) {
            double t = left < piece ? left / piece : 1;
            return (struct lab_color){at[i - 1].l + t * (at[i].l - at[i - 1].l),
                                      at[i - 1].a + t * (at[i].a - at[i - 1].a),
                                      at[i - 1].b +
                                          t * (at[i].b - at[i - 1].b)};
        }
        left -= piece;
    }
    return at[0];
}

/* Each side of zero has its own way, so that both are even, and the lightness of
 * both, so that neither sign is louder. */
static int diverging(const struct scale *s, int step)
{
    int middle = s->n / 2;
    double share = fabs((double)step / LAB_TINT_HALF - 1);
    struct lab_color below = along(s->rgb, middle + 1, 1 - share);
    struct lab_color above = along(s->rgb + middle, middle + 1, share);
    struct lab_color c = step < LAB_TINT_HALF ? below : above;
    c.l = (below.l + above.l) / 2;
    return rgb_of(c);
}

/* A tint of a scale as one of 256 colours; -1: no tint of a scale. */
static int scale_256(enum lab_theme theme, enum lab_tint tint)
{
    const bool light = theme == LAB_THEME_LIGHT;
    const struct levels *s =
        theme == LAB_THEME_CONTRAST ? &CIVIDIS_256 : &VIRIDIS_256;
    if (tint < LAB_TINT_SEQUENTIAL || tint >= LAB_TINT_ROLE)
        return -1;
    if (tint < LAB_TINT_DIVERGING)
        return s
            ->color[((int)tint - LAB_TINT_SEQUENTIAL) * s->n / LAB_TINT_STEPS];
    const int step = (int)tint - LAB_TINT_DIVERGING - LAB_TINT_HALF;
    const int level = (abs(step) * LEVELS + LAB_TINT_HALF / 2) / LAB_TINT_HALF;
    if (level == 0)
        return light ? ZERO_LIGHT : ZERO_DARK;
    return (step < 0 ? SIGNED_256.below
                     : SIGNED_256.above)[light ? LEVELS - level : level - 1];
}

/* The last is of all that have none. */
static const int NAMED[LAB_TINT_NAMES + 1] = {0x77AADD, 0xEE8866, 0x44BB99,
                                              0xEEDD88, 0xFFAABB, 0xBBCC33,
                                              0x99DDFF, 0xAAAA00, 0xBBBBBB};

static int tint_rgb(enum lab_theme theme, enum lab_tint tint)
{
    const struct ground *g = &GROUNDS[theme];
    int step = (int)tint - LAB_TINT_SEQUENTIAL;
    if (tint >= LAB_TINT_NAME)
        return NAMED[(int)tint - LAB_TINT_NAME];
    if (tint >= LAB_TINT_ROLE)
        return role_rgb(theme, LAB_ROLE_FORWARD + (int)tint - LAB_TINT_ROLE);
    if (tint >= LAB_TINT_DIVERGING)
        return diverging(theme == LAB_THEME_LIGHT ? &VIK : &BERLIN,
                         (int)tint - LAB_TINT_DIVERGING);
    if (tint >= LAB_TINT_SEQUENTIAL) {
        const struct scale *s =
            theme == LAB_THEME_CONTRAST ? &CIVIDIS : &VIRIDIS;
        return rgb_of(along(s->rgb, s->n, (double)step / (LAB_TINT_STEPS - 1)));
    }
    switch (tint) {
    case LAB_TINT_PANEL:
        return g->panel;
    case LAB_TINT_FOCUS:
        return g->focus;
    case LAB_TINT_SELECTED:
        return g->selected;
    case LAB_TINT_CURSOR:
        return g->cursor;
    case LAB_TINT_BLACK:
        return 0x000000;
    case LAB_TINT_WHITE:
        return 0xFFFFFF;
    case LAB_TINT_MARK:
        return g->mark;
    case LAB_TINT_BAD:
        return g->bad;
    default:
        return g->background;
    }
}

/* ---- what a terminal is sent ---- */

/* Whether a theme has tints at that depth. */
static bool has_tints(enum lab_theme theme, enum lab_depth depth)
{
    return theme != LAB_THEME_TERMINAL && depth >= LAB_DEPTH_256;
}

struct lab_style lab_palette_style(enum lab_theme theme, enum lab_depth depth,
                                   enum lab_role role)
{
    const struct row *row = &ROLES[role];
    if (depth == LAB_DEPTH_MONO)
        return (struct lab_style){row->mono, -1, -1};
    if (!has_tints(theme, depth))
        return (struct lab_style){
            row->attr, depth >= LAB_DEPTH_16 ? row->ansi16 : row->ansi8, -1};
    struct lab_style s = {row->attr, at_depth(depth, role_rgb(theme, role)),
                          at_depth(depth, GROUNDS[theme].background)};
    if (role == LAB_ROLE_SELECTED || role == LAB_ROLE_CURSOR) {
        s.attr = LAB_ATTR_BOLD;
        s.bg =
            at_depth(depth, role == LAB_ROLE_CURSOR ? GROUNDS[theme].cursor
                                                    : GROUNDS[theme].selected);
    }
    if (theme == LAB_THEME_CONTRAST)
        s.attr &= ~(unsigned)LAB_ATTR_DIM;
    return s;
}

/* Of text on a panel: never the terminal's own colour, which may not be legible
 * there. */
static int on_panel(enum lab_theme theme, enum lab_depth depth,
                    enum lab_role role)
{
    int fg = lab_palette_style(theme, depth, role).fg;
    return fg >= 0 || theme == LAB_THEME_TERMINAL
               ? fg
               : at_depth(depth, GROUNDS[theme].text);
}

int lab_palette_tint(enum lab_theme theme, enum lab_depth depth,
                     enum lab_tint tint)
{
    const int entry = scale_256(theme, tint);
    if (!has_tints(theme, depth))
        return -1;
    return depth == LAB_DEPTH_256 && entry >= 0
               ? entry
               : at_depth(depth, tint_rgb(theme, tint));
}

enum lab_tint lab_palette_ink(enum lab_theme theme, enum lab_depth depth,
                              enum lab_tint tint)
{
    if (!has_tints(theme, depth))
        return LAB_TINT_WHITE;
    /* Where black has the larger contrast, as WCAG 2 computes it. */
    const int entry = depth == LAB_DEPTH_256 ? scale_256(theme, tint) : -1;
    int rgb = entry >= 0 ? fixed_rgb(entry) : tint_rgb(theme, tint);
    double luminance = 0.2126 * linear(rgb >> 16 & 255) +
                       0.7152 * linear(rgb >> 8 & 255) +
                       0.0722 * linear(rgb & 255);
    return luminance > 0.179 ? LAB_TINT_BLACK : LAB_TINT_WHITE;
}

void lab_palette_fill(struct lab_palette *out, enum lab_theme theme,
                      enum lab_depth depth)
{
    *out = (struct lab_palette){.theme = theme, .depth = depth};
    out->tints = has_tints(theme, depth);
    for (int i = 0; i < LAB_ROLE_COUNT; i++) {
        out->styles[i] = lab_palette_style(theme, depth, (enum lab_role)i);
        out->on_panel[i] = on_panel(theme, depth, (enum lab_role)i);
    }
    for (int i = 0; i < LAB_TINT_COUNT; i++) {
        out->tint[i] = lab_palette_tint(theme, depth, (enum lab_tint)i);
        out->on[i] =
            (unsigned char)lab_palette_ink(theme, depth, (enum lab_tint)i);
    }
}

struct lab_style lab_palette_cell(const struct lab_palette *p, unsigned role,
                                  unsigned ink, unsigned paper)
{
    role = role < LAB_ROLE_COUNT ? role : 0;
    struct lab_style s = p->styles[role];
    bool picture = paper >= LAB_TINT_SELECTED;
    if (p->tints && paper) {
        s.bg = p->tint[paper];
        s.fg = picture ? p->tint[p->on[paper]] : p->on_panel[role];
        s.attr &= picture ? ~(unsigned)LAB_ATTR_REVERSE : ~0U;
    }
    if (p->tints && ink)
        s.fg = p->tint[ink];
    return s;
}

/* ---- which tint, which role ---- */

static int step_of(double share, int steps)
{
    int step = (int)lround(share * steps);
    return step < 0 ? 0 : step > steps ? steps : step;
}

enum lab_tint lab_tint_sequential(double v, double most)
{
    if (!isfinite(v))
        return LAB_TINT_BAD;
    return (enum lab_tint)(
        LAB_TINT_SEQUENTIAL +
        step_of(most > 0 ? fmin(fmax(v / most, 0), 1) : 0, LAB_TINT_STEPS - 1));
}

enum lab_tint lab_tint_diverging(double v, double most)
{
    if (!isfinite(v))
        return LAB_TINT_BAD;
    double share = most > 0 ? fmin(fmax(v / most, -1), 1) : 0;
    return (enum lab_tint)(LAB_TINT_DIVERGING +
                           step_of((share + 1) / 2, 2 * LAB_TINT_HALF));
}

enum lab_tint lab_tint_of_role(enum lab_role role)
{
    return role < LAB_ROLE_FORWARD || role >= LAB_ROLE_COUNT
               ? LAB_TINT_NONE
               : (enum lab_tint)(LAB_TINT_ROLE +
                                 (int)(role - LAB_ROLE_FORWARD));
}

enum lab_role lab_role_of_phase(enum lab_phase phase)
{
    return (enum lab_role)(LAB_ROLE_FORWARD + (int)phase);
}

const char *lab_phase_letter(enum lab_phase phase)
{
    static const char *const letters[] = {[LAB_FORWARD] = "F",
                                          [LAB_LOSS] = "L",
                                          [LAB_BACKWARD] = "B",
                                          [LAB_UPDATE] = "U"};
    return letters[phase];
}

static const struct {
    enum lab_role role;
    const char *letter;
} VERDICTS[LAB_ROOFLINE_VERDICTS] = {
    [LAB_ROOFLINE_UNKNOWN] = {LAB_ROLE_NORMAL, ""},
    [LAB_ROOFLINE_MEMORY] = {LAB_ROLE_MEMORY, "M"},
    [LAB_ROOFLINE_COMPUTE] = {LAB_ROLE_COMPUTE, "C"},
    [LAB_ROOFLINE_CACHE] = {LAB_ROLE_MEMORY, "M"},
    [LAB_ROOFLINE_LAUNCH] = {LAB_ROLE_HOST, "H"},
    [LAB_ROOFLINE_LATENCY] = {LAB_ROLE_LATENCY, "L"},
};

enum lab_role lab_role_of_verdict(enum lab_roofline_verdict verdict)
{
    return VERDICTS[verdict].role;
}

const char *lab_verdict_letter(enum lab_roofline_verdict verdict)
{
    return VERDICTS[verdict].letter;
}
