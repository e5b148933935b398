/* dots.c -- pictures in dots: braille, half blocks or ASCII.
 *
 * A grid of 2 x 4 dots a cell (1 x 2 without braille), or pixels where the
 * terminal has them. chart.c and the roofline set dots and lines;
 * lab_dots_show() puts the cells onto the canvas. */
#include "dots.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

bool lab_dots_init(struct lab_dots *d, const struct lab_canvas *c,
                   struct lab_rect plot)
{
    size_t cells = (size_t)plot.h * (size_t)plot.w;
    bool halves = c->ascii || c->blocks;
    *d = (struct lab_dots){
        .plot = plot, .sx = halves ? 1 : 2, .sy = halves ? 2 : 4};
    d->w = plot.w * d->sx;
    d->h = plot.h * d->sy;
    d->dots = lab_alloc_array(cells, 2);
    if (d->dots)
        d->owner = d->dots + cells;
    d->px_h = plot.h * c->px_h;
    d->px_w = plot.w * c->px_w;
    if (d->dots && d->px_h > 0 && d->px_w > 0) /* without memory: dots alone */
        d->px = lab_alloc_array((size_t)d->px_h, (size_t)d->px_w);
    return d->dots != NULL;
}

void lab_dots_release(struct lab_dots *d)
{
    lab_free(d->dots);
    lab_free(d->px);
    *d = (struct lab_dots){.dots = NULL};
}

static void set_dot(struct lab_dots *d, int x, int y, int owner)
{
    if (x < 0 || y < 0 || x >= d->w || y >= d->h)
        return;
    size_t cell = (size_t)(y / d->sy) * (size_t)d->plot.w + (size_t)(x / d->sx);
    d->dots[cell] |= (unsigned char)(1u << (y % d->sy * 2 + x % d->sx));
    d->owner[cell] = (unsigned char)(owner + 1);
}

/* Two by two pixels, so that a line is seen. */
static void set_pixel(struct lab_dots *d, int x, int y, int owner)
{
    for (int i = 0; i < 4; i++) {
        int px = x + i % 2;
        int py = y + i / 2;
        if (px >= 0 && py >= 0 && px < d->px_w && py < d->px_h)
            d->px[(size_t)py * (size_t)d->px_w + (size_t)px] =
                (unsigned char)(owner + 1);
    }
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* From and to in pixels. */
static void pixel_line(struct lab_dots *d, double x0, double y0, double x1,
                       double y1, int owner)
{
    int steps = (int)larger(larger(fabs(x1 - x0), fabs(y1 - y0)), 1);
    for (int i = 0; i <= steps; i++)
        set_pixel(d, (int)lround(x0 + (x1 - x0) * i / steps),
                  (int)lround(y0 + (y1 - y0) * i / steps), owner);
}

void lab_dots_set(struct lab_dots *d, int x, int y, int owner)
{
    d->owners = owner < d->owners ? d->owners : owner + 1;
    set_dot(d, x, y, owner);
    if (d->px)
        set_pixel(d, x * d->px_w / d->w, y * d->px_h / d->h, owner);
}

void lab_dots_line(struct lab_dots *d, double x0, double y0, double x1,
                   double y1, int owner)
{
    d->owners = owner < d->owners ? d->owners : owner + 1;
    const int fx = (int)lround(x0);
    const int fy = (int)ceil(y0 - 0.5); /* halves go up, where y is smaller */
    const int dx = (int)lround(x1) - fx;
    const int dy = (int)ceil(y1 - 0.5) - fy;
    const int steps = (int)larger(larger(abs(dx), abs(dy)), 1);
    for (int i = 0; i <= steps; i++)
        set_dot(d, fx + (int)lround((double)dx * i / steps),
                fy + (int)lround((double)dy * i / steps), owner);
    if (d->px)
        pixel_line(d, (x0 + 0.5) * d->px_w / d->w, (y0 + 0.5) * d->px_h / d->h,
                   (x1 + 0.5) * d->px_w / d->w, (y1 + 0.5) * d->px_h / d->h,
                   owner);
}

static const char *cell_text(const struct lab_canvas *c, unsigned dots,
                             char out[8])
{
    /* Where Unicode puts the dots of a braille cell, by row and column. */
    static const unsigned char braille[8] = {0x01, 0x08, 0x02, 0x10,
                                             0x04, 0x20, 0x40, 0x80};
    static const char *const halves[4] = {" ", "▀", "▄", "█"};
    static const char *const ascii[4] = {" ", "'", ".", ":"};
    unsigned code = 0x2800;
    unsigned half = (dots & 1) | (dots >> 1 & 2);
    if (c->ascii || c->blocks)
        return c->ascii ? ascii[half] : halves[half];
    for (int i = 0; i < 8; i++)
        if (dots & 1u << i)
            code |= braille[i];
    lab_utf8_put(code, out);
    return out;
}

/* Over the characters, which stay for where no image can be. Of a million pixels
 * nearly all have no owner: they stay as they are, eight at once. */
static void show_pixels(const struct lab_dots *d, struct lab_canvas *c,
                        const enum lab_role *roles)
{
    const size_t n = (size_t)d->px_h * (size_t)d->px_w;
    const unsigned char *owner = d->px;
    unsigned char *px = owner ? lab_canvas_image(c, d->plot) : NULL;
    if (!px)
        return;
    for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
        const size_t end = n - i < sizeof(uint64_t) ? n : i + sizeof(uint64_t);
        uint64_t any = 0;
        memcpy(&any, owner + i, end - i);
        for (size_t k = i; any && k < end; k++)
            if (owner[k])
                px[k] =
                    (unsigned char)(LAB_PIXEL_OF_ROLE + roles[owner[k] - 1]);
    }
}

void lab_dots_show(const struct lab_dots *d, struct lab_canvas *c,
                   const enum lab_role *roles)
{
    for (int y = 0; y < d->plot.h; y++) {
        for (int x = 0; x < d->plot.w; x++) {
            size_t cell = (size_t)y * (size_t)d->plot.w + (size_t)x;
            char text[8];
            if (!d->dots[cell])
                continue;
            lab_canvas_text(c, d->plot.y + y, d->plot.x + x, 1,
                            roles[d->owner[cell] - 1],
                            cell_text(c, d->dots[cell], text));
        }
    }
    show_pixels(d, c, roles);
}
