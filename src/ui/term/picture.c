/* picture.c -- a canvas as SVG or as the frames of an asciicast, for slides, for
 * reports and for recordings. It puts the theme's colours on cells as terminal.c
 * does, in full depth. */
#include "ui/picture.h"

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
    if (b[0] != 0xE2 || b[1] != 0x96 || b[2] < 0x80 || b[2] > 0x93)
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

void lab_picture_svg(struct lab_str *out, const struct lab_canvas *c,
                     enum lab_theme theme)
{
    struct lab_palette p;
    lab_palette_fill(&p, drawn(theme), LAB_DEPTH_RGB);
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

/* ---- files ---- */

enum lab_status lab_picture_write(const char *path, const struct lab_canvas *c,
                                  enum lab_theme theme)
{
    size_t n = strlen(path);
    FILE *f;
    if (n < 5 || strcmp(path + n - 4, ".svg") != 0)
        return lab_fail(LAB_E_ARG, "%s: the name of a picture ends in .svg",
                        path);
    enum lab_status st = lab_file_create(path, &f);
    if (st)
        return st;
    struct lab_str text;
    lab_str_init(&text);
    lab_picture_svg(&text, c, theme);
    if (text.failed)
        st = lab_no_memory("the picture");
    else if (fputs(lab_str_text(&text), f) < 0)
        st = lab_fail(LAB_E_IO, "%s: %s", path, strerror(errno));
    if (fclose(f) != 0 && !st)
        st = lab_fail(LAB_E_IO, "%s: %s", path, strerror(errno));
    if (st)
        unlink(path);
    lab_str_release(&text);
    return st;
}

/* ---- asciicast ---- */

struct lab_cast {
    char path[256];
    FILE *file;
    struct lab_palette palette;
    int64_t start_ns;
    struct lab_cell *shown; /* the last frame, h by w cells */
    int h;
    int w;
    enum lab_status failed;
    int error;
};

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
    lab_palette_fill(&cast->palette, drawn(theme), LAB_DEPTH_RGB);
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
            struct look l = look_of(c, &cast->palette, cell);
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
    if (cast->shown)
        fprintf(cast->file, "[%.6f, \"r\", \"%dx%d\"]\n",
                (double)(lab_clock_monotonic_ns() - cast->start_ns) / 1e9, c->w,
                c->h);
    lab_free(cast->shown);
    cast->shown = lab_alloc_array(n, sizeof(*cast->shown));
    cast->h = c->h;
    cast->w = c->w;
    return cast->shown != NULL;
}

void lab_cast_frame(struct lab_cast *cast, const struct lab_canvas *c)
{
    bool first = !cast->shown || cast->h != c->h || cast->w != c->w;
    struct lab_str out;
    if (cast->failed)
        return;
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
        st = lab_fail(LAB_E_IO, "%s: %s: the asciicast is not whole",
                      cast->path, strerror(cast->error));
    lab_free(cast->shown);
    lab_free(cast);
    return st;
}
