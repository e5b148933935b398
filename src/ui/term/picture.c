/* picture.c -- a canvas as SVG, as PNG or as the frames of an asciicast, for slides,
 * for reports and for recordings. It puts the theme's colours on cells as terminal.c
 * does, in full depth. */
#include "ui/picture.h"

#ifdef LAB_HAVE_FONTS
#include <dlfcn.h>
#include <fontconfig/fontconfig.h>
#include <ft2build.h>
#include FT_FREETYPE_H
#include <pthread.h>
#endif
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/file.h"
#include "term/graphics.h"

/* ---- characters as pixels: Fontconfig finds the fonts, FreeType draws. Without
 * them PNG files are refused, and pictures are SVG alone ---- */

struct font;

struct glyph {
    int x; /* of its left upper corner in the cell, in pixels */
    int y;
    int h;
    int w;
    int stride;
    const unsigned char *ink; /* 0 to 255; the font's, until the next glyph */
};

#ifdef LAB_HAVE_FONTS

/* FreeType and Fontconfig, loaded with the first picture: they and what they load
 * are six libraries, which no other start of the program needs. */
#define FREETYPE(F)                                                            \
    F(FT_Done_Face)                                                            \
    F(FT_Done_FreeType)                                                        \
    F(FT_Get_Char_Index)                                                       \
    F(FT_Init_FreeType)                                                        \
    F(FT_Load_Char)                                                            \
    F(FT_New_Face)                                                             \
    F(FT_Set_Pixel_Sizes)
#define FONTCONFIG(F)                                                          \
    F(FcConfigSubstitute)                                                      \
    F(FcDefaultSubstitute)                                                     \
    F(FcFini)                                                                  \
    F(FcFontSetDestroy)                                                        \
    F(FcFontSort)                                                              \
    F(FcNameParse)                                                             \
    F(FcPatternDestroy)                                                        \
    F(FcPatternGetInteger)                                                     \
    F(FcPatternGetString)

static struct {
    bool whole;
#define FUNCTION(name) __typeof__(name) *name;
    FREETYPE(FUNCTION)
    FONTCONFIG(FUNCTION)
#undef FUNCTION
} fonts;

static void load_fonts(void)
{
    void *lib = dlopen("libfreetype.so.6", RTLD_LAZY | RTLD_LOCAL);
    fonts.whole = lib != NULL;
    /* ISO C has no cast from void * to a function; POSIX promises that it works. */
#define FIND(name)                                                             \
    *(void **)&fonts.name = lib ? dlsym(lib, #name) : NULL;                    \
    fonts.whole = fonts.whole && fonts.name;
    FREETYPE(FIND)
    lib = dlopen("libfontconfig.so.1", RTLD_LAZY | RTLD_LOCAL);
    FONTCONFIG(FIND)
#undef FIND
}

/* The first of each weight is of fixed width; the others have what it lacks. */
enum { FACES = 6 };

struct font {
    FT_Library library;
    FT_Face faces[2][FACES]; /* normal and bold */
    int count[2];
    int h;
    int w;
    int baseline;
    char path[512];
};

/* The largest size at which a character of the first font fits. */
static bool size_faces(struct font *f, FT_Face *faces, int n)
{
    int size = f->h;
    for (; size > 3; size--) {
        fonts.FT_Set_Pixel_Sizes(faces[0], 0, (FT_UInt)size);
        const FT_Size_Metrics *m = &faces[0]->size->metrics;
        if (fonts.FT_Load_Char(faces[0], 'M', FT_LOAD_DEFAULT) == 0 &&
            (faces[0]->glyph->advance.x + 32) >> 6 <= f->w &&
            (m->ascender - m->descender) >> 6 <= f->h + 2)
            break;
    }
    const FT_Size_Metrics *m = &faces[0]->size->metrics;
    long high = (m->ascender - m->descender) >> 6;
    f->baseline = (int)((f->h - high) / 2 + (m->ascender >> 6));
    for (int i = 1; i < n; i++)
        fonts.FT_Set_Pixel_Sizes(faces[i], 0, (FT_UInt)size);
    return size > 3;
}

static void open_faces(struct font *f, int weight)
{
    FcResult result;
    FcPattern *p = fonts.FcNameParse(
        (const FcChar8 *)(weight ? "monospace:bold" : "monospace"));
    if (!p)
        return;
    fonts.FcConfigSubstitute(NULL, p, FcMatchPattern);
    fonts.FcDefaultSubstitute(p);
    FcFontSet *set = fonts.FcFontSort(NULL, p, FcTrue, NULL, &result);
    for (int i = 0; set && i < set->nfont && f->count[weight] < FACES; i++) {
        FcChar8 *path;
        int index = 0;
        FT_Face *face = &f->faces[weight][f->count[weight]];
        fonts.FcPatternGetInteger(set->fonts[i], FC_INDEX, 0, &index);
        if (fonts.FcPatternGetString(set->fonts[i], FC_FILE, 0, &path) !=
                FcResultMatch ||
            fonts.FT_New_Face(f->library, (const char *)path, index, face) != 0)
            continue;
        if (f->count[weight] == 0 && !FT_IS_FIXED_WIDTH(*face)) {
            fonts.FT_Done_Face(*face);
            continue;
        }
        if (f->count[weight]++ == 0 && weight == 0)
            snprintf(f->path, sizeof(f->path), "%s", (const char *)path);
    }
    if (set)
        fonts.FcFontSetDestroy(set);
    fonts.FcPatternDestroy(p);
}

/* NULL is allowed. */
static void font_close(struct font *f)
{
    if (!f)
        return;
    for (int weight = 0; weight < 2; weight++)
        for (int i = 0; i < f->count[weight]; i++)
            fonts.FT_Done_Face(f->faces[weight][i]);
    if (f->library)
        fonts.FT_Done_FreeType(f->library);
    lab_free(f);
    if (fonts.whole)
        fonts.FcFini(); /* pictures are rare, and its caches are large */
}

/* The system's font of fixed width so that a character fits into h by w pixels.
 * LAB_E_UNSUPPORTED: none; LAB_E_NOMEM. */
static enum lab_status font_open(struct font **out, int h, int w)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct font *f = lab_alloc(sizeof(*f));
    if (!f)
        return lab_no_memory("the font");
    pthread_once(&once, load_fonts);
    f->h = h;
    f->w = w;
    bool usable = fonts.whole && fonts.FT_Init_FreeType(&f->library) == 0;
    for (int weight = 0; usable && weight < 2; weight++)
        open_faces(f, weight);
    usable =
        usable && f->count[0] > 0 && size_faces(f, f->faces[0], f->count[0]);
    if (!usable) {
        font_close(f);
        return lab_fail(LAB_E_UNSUPPORTED,
                        "[recording.no-font] there is no font of fixed width "
                        "for text in a PNG: "
                        "install fonts-dejavu-core, or write a .svg");
    }
    if (f->count[1] > 0) {
        int baseline = f->baseline;
        size_faces(f, f->faces[1], f->count[1]);
        f->baseline = baseline;
    }
    *out = f;
    return LAB_OK;
}

/* Its file. */
static const char *font_path(const struct font *f)
{
    return f->path;
}

/* false: the fonts do not have it. */
static bool font_glyph(struct font *f, unsigned code, bool bold,
                       struct glyph *out)
{
    int weight = bold && f->count[1] > 0;
    for (int i = 0; i < f->count[weight]; i++) {
        FT_Face face = f->faces[weight][i];
        if (fonts.FT_Get_Char_Index(face, code) == 0 ||
            fonts.FT_Load_Char(face, code, FT_LOAD_RENDER) != 0 ||
            face->glyph->bitmap.pixel_mode != FT_PIXEL_MODE_GRAY)
            continue;
        const FT_Bitmap *b = &face->glyph->bitmap;
        *out = (struct glyph){
            .x = face->glyph->bitmap_left,
            .y = f->baseline - face->glyph->bitmap_top,
            .h = (int)b->rows,
            .w = (int)b->width,
            .stride = b->pitch,
            .ink = b->buffer,
        };
        return true;
    }
    return false;
}

#else

static enum lab_status font_open(struct font **out, int h, int w)
{
    (void)out;
    (void)h;
    (void)w;
    return lab_fail(LAB_E_UNSUPPORTED,
                    "[recording.not-built] this program was built without "
                    "fonts for text in a PNG: "
                    "install libfreetype-dev and libfontconfig-dev and build "
                    "again, or write a .svg");
}

static void font_close(struct font *f)
{
    (void)f;
}

static const char *font_path(const struct font *f)
{
    (void)f;
    return "";
}

static bool font_glyph(struct font *f, unsigned code, bool bold,
                       struct glyph *out)
{
    (void)f;
    (void)code;
    (void)bold;
    (void)out;
    return false;
}

#endif

/* ---- colours of a cell ---- */

struct look {
    int fg; /* 0xRRGGBB, or -1: the theme's own */
    int bg;
    unsigned attr; /* LAB_ATTR_*, without REVERSE */
};

static enum lab_theme drawn(enum lab_theme theme)
{
    return theme == LAB_THEME_TERMINAL ? LAB_THEME_DARK : theme;
}

static enum lab_depth depth_of(const struct lab_canvas *c)
{
    return c->mono ? LAB_DEPTH_MONO : LAB_DEPTH_RGB;
}

static int own_paper(enum lab_theme theme)
{
    return theme == LAB_THEME_LIGHT      ? 0xffffff
           : theme == LAB_THEME_CONTRAST ? 0x000000
                                         : 0x14171c;
}

static int own_ink(enum lab_theme theme)
{
    return theme == LAB_THEME_LIGHT      ? 0x1c1e21
           : theme == LAB_THEME_CONTRAST ? 0xffffff
                                         : 0xd5d9e0;
}

/* As a terminal shows it that turns reversed text itself. */
static struct look look_of(const struct lab_canvas *c,
                           const struct lab_palette *p,
                           const struct lab_cell *cell)
{
    struct lab_style s =
        lab_palette_cell(p, cell->role, c->tints ? cell->ink : LAB_TINT_NONE,
                         c->tints ? cell->paper : LAB_TINT_NONE);
    struct look l = {s.fg, s.bg, s.attr & ~(unsigned)LAB_ATTR_REVERSE};
    if (s.attr & LAB_ATTR_REVERSE) {
        l.fg = s.bg >= 0 ? s.bg : own_paper(p->theme);
        l.bg = s.fg >= 0 ? s.fg : own_ink(p->theme);
    }
    return l;
}

static bool same_look(struct look a, struct look b)
{
    return a.fg == b.fg && a.bg == b.bg && a.attr == b.attr;
}

static const struct lab_cell *cell_at(const struct lab_canvas *c, int y, int x)
{
    return &c->cells[(size_t)y * (size_t)c->w + (size_t)x];
}

/* ---- SVG ---- */

enum { CELL_W = 9, CELL_H = 18, BASELINE = 14, FONT = 15 };

/* A character that is drawn as a rectangle: its part of the cell in eighths. */
struct block {
    int x;
    int y;
    int w;
    int h;
    int percent; /* how much of the ink: shades */
};

static bool find_block(const char *utf8, struct block *out)
{
    const unsigned char *b = (const unsigned char *)utf8;
    if (b[0] != 0xE2 || b[1] != 0x96 || b[2] < 0x80 || b[2] > 0x95)
        return false;
    int n = b[2] - 0x80; /* of U+2580 */
    *out = (struct block){0, 0, 8, 8, 100};
    if (n == 0) /* upper half */
        out->h = 4;
    else if (n <= 8) /* from below, an eighth to all of it */
        *out = (struct block){0, 8 - n, 8, n, 100};
    else if (n <= 15) /* from the left, seven eighths to one */
        out->w = 16 - n;
    else if (n == 16) /* right half */
        *out = (struct block){4, 0, 4, 8, 100};
    else if (n == 20) /* upper eighth */
        out->h = 1;
    else if (n == 21) /* right eighth */
        *out = (struct block){7, 0, 1, 8, 100};
    else
        out->percent = 25 * (n - 16);
    return true;
}

/* Few fonts of one width have these, and few programs but browsers follow
 * textLength: a curve is drawn character by character, or it would run on. */
static bool is_braille(const struct lab_cell *cell)
{
    const unsigned char *b = (const unsigned char *)cell->text;
    return b[0] == 0xE2 && b[1] >= 0xA0 && b[1] <= 0xA3;
}

static void add_rect(struct lab_str *out, double x, double y, double w,
                     double h, int color)
{
    lab_str_addf(out,
                 "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" "
                 "fill=\"#%06x\"/>\n",
                 x, y, w, h, (unsigned)color);
}

static int mix(int a, int b, int percent)
{
    int out = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
        int x = a >> shift & 0xFF;
        int y = b >> shift & 0xFF;
        out |= (x + (y - x) * percent / 100) << shift;
    }
    return out;
}

static void add_escaped(struct lab_str *out, const char *text)
{
    for (; *text; text++) {
        switch (*text) {
        case '&':
            lab_str_add(out, "&amp;");
            break;
        case '<':
            lab_str_add(out, "&lt;");
            break;
        case '>':
            lab_str_add(out, "&gt;");
            break;
        default:
            lab_str_addf(out, "%c", *text);
        }
    }
}

static bool is_blank(const struct lab_cell *cell)
{
    return !cell->text[0] || strcmp(cell->text, " ") == 0;
}

/* Cells of one look, from `x` on: how many. */
static int run_of(const struct lab_canvas *c, const struct lab_palette *p,
                  int y, int x, struct look *look)
{
    int n = 1;
    *look = look_of(c, p, cell_at(c, y, x));
    while (x + n < c->w &&
           same_look(*look, look_of(c, p, cell_at(c, y, x + n))))
        n++;
    return n;
}

/* Text of cells x to end, but for blocks; spans of characters that follow each
 * other, so that a font of another width does not shift the next. */
static void add_texts(struct lab_str *out, const struct lab_canvas *c,
                      const struct lab_palette *p, int y, int x, int end,
                      struct look look)
{
    struct block b;
    int ink = look.fg >= 0 ? look.fg : own_ink(p->theme);
    while (x < end) {
        const struct lab_cell *cell = cell_at(c, y, x);
        if (is_blank(cell) || find_block(cell->text, &b)) {
            x++;
            continue;
        }
        int from = x++;
        while (x < end && !is_blank(cell_at(c, y, x)) &&
               !find_block(cell_at(c, y, x)->text, &b) && !is_braille(cell) &&
               !is_braille(cell_at(c, y, x)))
            x++;
        while (x < end && !cell_at(c, y, x)->text[0])
            x++; /* the right half of a wide one */
        if (look.attr & LAB_ATTR_DIM)
            ink = mix(look.bg >= 0 ? look.bg : own_paper(p->theme), ink, 65);
        lab_str_addf(out,
                     "<text x=\"%d\" y=\"%d\" textLength=\"%d\" "
                     "fill=\"#%06x\"%s%s>",
                     from * CELL_W, y * CELL_H + BASELINE, (x - from) * CELL_W,
                     (unsigned)ink,
                     look.attr & LAB_ATTR_BOLD ? " font-weight=\"bold\"" : "",
                     look.attr & LAB_ATTR_UNDERLINE
                         ? " text-decoration=\"underline\""
                         : "");
        for (int i = from; i < x; i++)
            add_escaped(out, cell_at(c, y, i)->text);
        lab_str_add(out, "</text>\n");
        if (look.attr & LAB_ATTR_DIM)
            ink = look.fg >= 0 ? look.fg : own_ink(p->theme);
    }
}

static void add_blocks(struct lab_str *out, const struct lab_canvas *c,
                       const struct lab_palette *p, int y, int x, int end,
                       struct look look)
{
    int ink = look.fg >= 0 ? look.fg : own_ink(p->theme);
    int paper = look.bg >= 0 ? look.bg : own_paper(p->theme);
    while (x < end) {
        struct block b;
        int n = 1;
        const char *text = cell_at(c, y, x)->text;
        if (!find_block(text, &b)) {
            x++;
            continue;
        }
        while (b.w == 8 && x + n < end &&
               strcmp(cell_at(c, y, x + n)->text, text) == 0)
            n++;
        add_rect(out, x * CELL_W + b.x * CELL_W / 8.0,
                 y * CELL_H + b.y * CELL_H / 8.0,
                 (n - 1) * CELL_W + b.w * CELL_W / 8.0, b.h * CELL_H / 8.0,
                 mix(paper, ink, b.percent));
        x += n;
    }
}

/* The canvas as an SVG document: blocks are rectangles, so that a heat map has no
 * gaps whatever the font is, and the rest is text that can be marked. */
static void write_svg(struct lab_str *out, const struct lab_canvas *c,
                      enum lab_theme theme)
{
    struct lab_palette p;
    lab_palette_fill(&p, drawn(theme), depth_of(c));
    int w = c->w * CELL_W;
    int h = c->h * CELL_H;
    lab_str_addf(out,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
                 "height=\"%d\" viewBox=\"0 0 %d %d\" "
                 "shape-rendering=\"crispEdges\" font-size=\"%d\" "
                 "font-family=\"DejaVu Sans Mono, Menlo, Consolas, "
                 "monospace\">\n",
                 w, h, w, h, FONT);
    add_rect(out, 0, 0, w, h, own_paper(p.theme));
    for (int y = 0; y < c->h; y++) {
        struct look look;
        for (int x = 0, n; x < c->w; x += n) {
            n = run_of(c, &p, y, x, &look);
            if (look.bg >= 0)
                add_rect(out, x * CELL_W, y * CELL_H, n * CELL_W, CELL_H,
                         look.bg);
            add_blocks(out, c, &p, y, x, x + n, look);
            add_texts(out, c, &p, y, x, x + n, look);
        }
    }
    lab_str_add(out, "</svg>\n");
}

/* ---- PNG ---- */

struct raster {
    unsigned char *rgb;
    int h;
    int w;
    int cell_h;
    int cell_w;
    struct font *font;
};

/* `percent` of a colour onto what is there. */
static void blend(struct raster *r, int y, int x, int color, int percent)
{
    if (y < 0 || x < 0 || y >= r->h || x >= r->w)
        return;
    unsigned char *px = r->rgb + ((size_t)y * (size_t)r->w + (size_t)x) * 3;
    int now = mix(px[0] << 16 | px[1] << 8 | px[2], color, percent);
    px[0] = (unsigned char)(now >> 16 & 0xFF);
    px[1] = (unsigned char)(now >> 8 & 0xFF);
    px[2] = (unsigned char)(now & 0xFF);
}

static void blend_rect(struct raster *r, struct lab_rect at, int color,
                       int percent)
{
    for (int y = at.y; y < at.y + at.h; y++)
        for (int x = at.x; x < at.x + at.w; x++)
            blend(r, y, x, color, percent);
}

/* Lines that must meet those of the next cell, which a font's need not. */
static bool draw_lines(struct raster *r, int y, int x, unsigned code, int ink)
{
    enum { LEFT = 1, RIGHT = 2, UP = 4, DOWN = 8 };
    static const struct {
        unsigned code;
        unsigned arms;
    } lines[] = {
        {0x2500, LEFT | RIGHT},
        {0x2502, UP | DOWN},
        {0x250C, RIGHT | DOWN},
        {0x2510, LEFT | DOWN},
        {0x2514, RIGHT | UP},
        {0x2518, LEFT | UP},
        {0x251C, RIGHT | UP | DOWN},
        {0x2524, LEFT | UP | DOWN},
        {0x252C, LEFT | RIGHT | DOWN},
        {0x2534, LEFT | RIGHT | UP},
        {0x253C, LEFT | RIGHT | UP | DOWN},
    };
    enum { N_LINES = sizeof(lines) / sizeof(lines[0]) };
    int i = 0;
    while (i < N_LINES && lines[i].code != code)
        i++;
    if (i == N_LINES)
        return false;
    const int h = r->cell_h / 2;
    const int w = r->cell_w / 2;
    const unsigned arms = lines[i].arms;
    if (arms & (LEFT | RIGHT)) {
        int from = arms & LEFT ? 0 : w;
        int to = arms & RIGHT ? r->cell_w : w + 1;
        blend_rect(r, (struct lab_rect){y + h, x + from, 1, to - from}, ink,
                   100);
    }
    if (arms & (UP | DOWN)) {
        int from = arms & UP ? 0 : h;
        int to = arms & DOWN ? r->cell_h : h + 1;
        blend_rect(r, (struct lab_rect){y + from, x + w, to - from, 1}, ink,
                   100);
    }
    return true;
}

static void draw_braille(struct raster *r, int y, int x, unsigned dots, int ink)
{
    /* The bit of each dot, row by row. */
    static const unsigned char bits[8] = {0x01, 0x08, 0x02, 0x10,
                                          0x04, 0x20, 0x40, 0x80};
    const int size = r->cell_w / 4 > 1 ? r->cell_w / 4 : 1;
    for (int i = 0; i < 8; i++)
        if (dots & bits[i])
            blend_rect(r,
                       (struct lab_rect){
                           y + (2 * (i / 2) + 1) * r->cell_h / 8 - size / 2,
                           x + (2 * (i % 2) + 1) * r->cell_w / 4 - size / 2,
                           size, size},
                       ink, 100);
}

static void draw_glyph(struct raster *r, int y, int x, unsigned code, bool bold,
                       int ink)
{
    struct glyph g;
    if (!font_glyph(r->font, code, bold, &g))
        return;
    for (int i = 0; i < g.h; i++)
        for (int k = 0; k < g.w; k++)
            blend(r, y + g.y + i, x + g.x + k, ink,
                  g.ink[i * g.stride + k] * 100 / 255);
}

static void draw_cell(struct raster *r, const struct lab_canvas *c,
                      const struct lab_palette *p, int cell_y, int cell_x)
{
    const struct lab_cell *cell = cell_at(c, cell_y, cell_x);
    const struct look l = look_of(c, p, cell);
    const int paper = l.bg >= 0 ? l.bg : own_paper(p->theme);
    const int y = cell_y * r->cell_h;
    const int x = cell_x * r->cell_w;
    int ink = l.fg >= 0 ? l.fg : own_ink(p->theme);
    struct block b;
    unsigned code = 0;
    if (l.attr & LAB_ATTR_DIM)
        ink = mix(paper, ink, 65);
    if (l.attr & LAB_ATTR_UNDERLINE)
        blend_rect(r, (struct lab_rect){y + r->cell_h - 2, x, 1, r->cell_w},
                   ink, 100);
    lab_utf8_next(cell->text, strlen(cell->text), &code);
    if (is_blank(cell))
        return;
    if (find_block(cell->text, &b)) {
        const int top = y + b.y * r->cell_h / 8;
        const int left = x + b.x * r->cell_w / 8;
        blend_rect(r,
                   (struct lab_rect){top, left,
                                     y + (b.y + b.h) * r->cell_h / 8 - top,
                                     x + (b.x + b.w) * r->cell_w / 8 - left},
                   ink, b.percent);
    } else if (is_braille(cell)) {
        draw_braille(r, y, x, code - 0x2800, ink);
    } else if (!draw_lines(r, y, x, code, ink)) {
        draw_glyph(r, y, x, code, l.attr & LAB_ATTR_BOLD, ink);
    }
}

static enum lab_status draw_image(struct raster *r, const struct lab_canvas *c,
                                  const struct lab_palette *p, int nth)
{
    const struct lab_rect at = c->images[nth - 1].at;
    const int w = at.w * c->px_w;
    int color[256];
    unsigned char *px = lab_canvas_image_pixels(c, nth);
    if (!px)
        return lab_no_memory("an image");
    lab_canvas_pixel_colors(p, color);
    for (int y = 0; y < at.h; y++)
        for (int x = 0; x < at.w; x++)
            if (cell_at(c, at.y + y, at.x + x)->image == nth)
                blend_rect(r,
                           (struct lab_rect){(at.y + y) * r->cell_h,
                                             (at.x + x) * r->cell_w, r->cell_h,
                                             r->cell_w},
                           own_paper(p->theme), 100);
    for (int y = 0; y < at.h * c->px_h; y++)
        for (int x = 0; x < w; x++) {
            int rgb = color[px[(size_t)y * (size_t)w + (size_t)x]];
            if (rgb >= 0)
                blend(r, at.y * r->cell_h + y, at.x * r->cell_w + x, rgb, 100);
        }
    lab_free(px);
    return LAB_OK;
}

enum lab_status lab_picture_png(struct lab_str *out, const struct lab_canvas *c,
                                enum lab_theme theme)
{
    struct lab_palette p;
    struct raster r = {.cell_h = c->px_h > 0 ? c->px_h : CELL_H,
                       .cell_w = c->px_w > 0 ? c->px_w : CELL_W};
    enum lab_status st = font_open(&r.font, r.cell_h, r.cell_w);
    if (st)
        return st;
    lab_palette_fill(&p, drawn(theme), depth_of(c));
    r.h = c->h * r.cell_h;
    r.w = c->w * r.cell_w;
    r.rgb = lab_alloc_array((size_t)r.h * (size_t)r.w, 3);
    if (!r.rgb)
        st = lab_no_memory("the picture");
    for (int y = 0; !st && y < c->h; y++)
        for (int x = 0; x < c->w; x++) { /* all papers before any character */
            struct look l = look_of(c, &p, cell_at(c, y, x));
            blend_rect(&r,
                       (struct lab_rect){y * r.cell_h, x * r.cell_w, r.cell_h,
                                         r.cell_w},
                       l.bg >= 0 ? l.bg : own_paper(p.theme), 100);
        }
    for (int y = 0; !st && y < c->h; y++)
        for (int x = 0; x < c->w; x++)
            draw_cell(&r, c, &p, y, x);
    for (int i = 1; !st && i <= c->n_images; i++)
        st = draw_image(&r, c, &p, i);
    if (!st)
        lab_png_add(out, r.rgb, r.h, r.w);
    lab_free(r.rgb);
    font_close(r.font);
    return st;
}

const char *lab_picture_font(void)
{
    static char path[512];
    struct font *font;
    if (font_open(&font, CELL_H, CELL_W))
        return NULL;
    snprintf(path, sizeof(path), "%s", font_path(font));
    font_close(font);
    return path;
}

/* ---- files ---- */

static bool ends_in(const char *path, const char *end)
{
    size_t n = strlen(path);
    size_t len = strlen(end);
    return n > len && strcmp(path + n - len, end) == 0;
}

void lab_picture_size(const char *path, struct lab_canvas *c)
{
    if (!ends_in(path, ".png")) {
        c->px_h = c->px_w = 0;
    } else if (c->px_h < 1) {
        c->px_h = CELL_H;
        c->px_w = CELL_W;
    }
}

enum lab_status lab_picture_write(const char *path, const struct lab_canvas *c,
                                  enum lab_theme theme)
{
    FILE *f;
    const bool png = ends_in(path, ".png");
    struct lab_str text;
    if (!png && !ends_in(path, ".svg"))
        return lab_fail(LAB_E_ARG,
                        "[recording.picture.name] %s: the name of a picture "
                        "ends in .svg or .png",
                        path);
    lab_str_init(&text);
    enum lab_status st = LAB_OK;
    if (png)
        st = lab_picture_png(&text, c, theme);
    else
        write_svg(&text, c, theme);
    if (!st && text.failed)
        st = lab_no_memory("the picture");
    if (!st)
        st = lab_file_create(path, &f);
    if (st) {
        lab_str_release(&text);
        return st;
    }
    if (fwrite(lab_str_text(&text), 1, text.len, f) < text.len)
        st = lab_fail(LAB_E_IO, "[recording.picture] %s: %s", path,
                      strerror(errno));
    if (fclose(f) != 0 && !st)
        st = lab_fail(LAB_E_IO, "[recording.picture] %s: %s", path,
                      strerror(errno));
    if (st)
        unlink(path);
    lab_str_release(&text);
    return st;
}

/* ---- asciicast ---- */

struct lab_cast {
    char path[256];
    FILE *file;
    enum lab_theme theme;
    struct lab_palette palette;
    int64_t start_ns;
    struct lab_cell *shown; /* the last frame, h by w cells */
    int h;
    int w;
    enum lab_status failed;
    int error;
};

static void take_theme(struct lab_cast *cast, const struct lab_canvas *c,
                       enum lab_theme theme)
{
    cast->theme = theme;
    lab_palette_fill(&cast->palette, drawn(theme), depth_of(c));
}

enum lab_status lab_cast_open(struct lab_cast **out, const char *path,
                              const struct lab_canvas *c, enum lab_theme theme)
{
    struct lab_cast *cast = lab_alloc(sizeof(*cast));
    if (!cast)
        return lab_no_memory("the asciicast");
    enum lab_status st = lab_file_create(path, &cast->file);
    if (st) {
        lab_free(cast);
        return st;
    }
    snprintf(cast->path, sizeof(cast->path), "%s", path);
    take_theme(cast, c, theme);
    cast->h = c->h;
    cast->w = c->w;
    cast->start_ns = lab_clock_monotonic_ns();
    fprintf(cast->file,
            "{\"version\": 2, \"width\": %d, \"height\": %d, "
            "\"timestamp\": %lld, \"title\": \"lapenna-lab\"}\n",
            c->w, c->h, (long long)time(NULL));
    *out = cast;
    return LAB_OK;
}

static void add_color(struct lab_str *out, int which, int color)
{
    if (color >= 0)
        lab_str_addf(out, ";%d;2;%d;%d;%d", which, color >> 16 & 0xFF,
                     color >> 8 & 0xFF, color & 0xFF);
}

static void add_look(struct lab_str *out, struct look l)
{
    lab_str_addf(out, "\033[0%s%s%s", l.attr & LAB_ATTR_BOLD ? ";1" : "",
                 l.attr & LAB_ATTR_DIM ? ";2" : "",
                 l.attr & LAB_ATTR_UNDERLINE ? ";4" : "");
    add_color(out, 38, l.fg);
    add_color(out, 48, l.bg);
    lab_str_add(out, "m");
}

/* A player has a ground of its own, which may be the other way round: the theme's
 * is sent with it, unless that is the terminal's. */
static struct look cast_look(const struct lab_cast *cast,
                             const struct lab_canvas *c,
                             const struct lab_cell *cell)
{
    struct look l = look_of(c, &cast->palette, cell);
    if (c->mono || cast->theme == LAB_THEME_TERMINAL)
        return l;
    l.fg = l.fg < 0 ? own_ink(cast->theme) : l.fg;
    l.bg = l.bg < 0 ? own_paper(cast->theme) : l.bg;
    return l;
}

/* The cells that differ from `shown`, as a terminal takes them. */
static void add_changes(struct lab_str *out, const struct lab_cast *cast,
                        const struct lab_canvas *c)
{
    struct look now = {-1, -1, 0};
    for (int y = 0; y < c->h; y++) {
        int at = -1; /* the column where the terminal's cursor is */
        for (int x = 0; x < c->w; x++) {
            const struct lab_cell *cell = cell_at(c, y, x);
            const struct lab_cell *old =
                &cast->shown[(size_t)y * (size_t)c->w + (size_t)x];
            if (!cell->text[0] || memcmp(cell, old, sizeof(*cell)) == 0)
                continue;
            struct look l = cast_look(cast, c, cell);
            if (at != x)
                lab_str_addf(out, "\033[%d;%dH", y + 1, x + 1);
            if (!same_look(l, now))
                add_look(out, l);
            now = l;
            lab_str_add(out, cell->text);
            at = x + 1; /* a wide one is followed by its empty half */
            if (x + 1 < c->w && !cell_at(c, y, x + 1)->text[0])
                at = x + 2;
        }
    }
    if (!same_look(now, (struct look){-1, -1, 0}))
        lab_str_add(out, "\033[0m");
}

/* A canvas of another size begins with an empty screen. */
static bool fit_shown(struct lab_cast *cast, const struct lab_canvas *c)
{
    size_t n = (size_t)c->h * (size_t)c->w;
    if (cast->shown && cast->h == c->h && cast->w == c->w)
        return true;
    if (cast->h != c->h || cast->w != c->w)
        fprintf(cast->file, "[%.6f, \"r\", \"%dx%d\"]\n",
                (double)(lab_clock_monotonic_ns() - cast->start_ns) / 1e9, c->w,
                c->h);
    lab_free(cast->shown);
    cast->shown = lab_alloc_array(n, sizeof(*cast->shown));
    cast->h = c->h;
    cast->w = c->w;
    return cast->shown != NULL;
}

void lab_cast_frame(struct lab_cast *cast, const struct lab_canvas *c,
                    enum lab_theme theme)
{
    struct lab_str out;
    if (cast->failed)
        return;
    if (theme != cast->theme) { /* all cells are others now */
        take_theme(cast, c, theme);
        lab_free(cast->shown);
        cast->shown = NULL;
    }
    bool first = !cast->shown || cast->h != c->h || cast->w != c->w;
    if (!fit_shown(cast, c)) {
        cast->failed = LAB_E_NOMEM;
        return;
    }
    lab_str_init(&out);
    if (first)
        lab_str_add(&out, "\033[?25l\033[0m\033[2J");
    add_changes(&out, cast, c);
    if (lab_str_text(&out)[0]) {
        json_t *text = json_string(lab_str_text(&out));
        char *line = text ? json_dumps(text, JSON_ENCODE_ANY) : NULL;
        if (!line || out.failed) {
            cast->failed = LAB_E_NOMEM;
        } else if (fprintf(cast->file, "[%.6f, \"o\", %s]\n",
                           (double)(lab_clock_monotonic_ns() - cast->start_ns) /
                               1e9,
                           line) < 0 ||
                   fflush(cast->file) != 0) {
            cast->failed = LAB_E_IO;
            cast->error = errno;
        }
        free(line);
        json_decref(text);
    }
    lab_str_release(&out);
    memcpy(cast->shown, c->cells,
           (size_t)c->h * (size_t)c->w * sizeof(*c->cells));
}

enum lab_status lab_cast_close(struct lab_cast *cast)
{
    if (!cast)
        return LAB_OK;
    enum lab_status st = LAB_OK;
    if (fclose(cast->file) != 0 && !cast->failed) {
        cast->failed = LAB_E_IO;
        cast->error = errno;
    }
    if (cast->failed == LAB_E_NOMEM)
        st = lab_no_memory("the asciicast");
    else if (cast->failed)
        st = lab_fail(LAB_E_IO,
                      "[recording.cast] %s: %s: the asciicast is not whole",
                      cast->path, strerror(cast->error));
    lab_free(cast->shown);
    lab_free(cast);
    return st;
}
