/* dots.c -- pictures in dots: braille, half blocks or ASCII. */
#include "dots.h"

#include <math.h>

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
    return d->dots != NULL;
}

void lab_dots_release(struct lab_dots *d)
{
    lab_free(d->dots);
    *d = (struct lab_dots){.dots = NULL};
}

void lab_dots_set(struct lab_dots *d, int x, int y, int owner)
{
    if (x < 0 || y < 0 || x >= d->w || y >= d->h)
        return;
    size_t cell = (size_t)(y / d->sy) * (size_t)d->plot.w + (size_t)(x / d->sx);
    d->dots[cell] |= (unsigned char)(1u << (y % d->sy * 2 + x % d->sx));
    d->owner[cell] = (unsigned char)(owner + 1);
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

void lab_dots_line(struct lab_dots *d, int x0, int y0, int x1, int y1,
                   int owner)
{
    int dx = x1 > x0 ? x1 - x0 : x0 - x1;
    int dy = y1 > y0 ? y1 - y0 : y0 - y1;
    int steps = larger(larger(dx, dy), 1);
    for (int i = 0; i <= steps; i++)
        lab_dots_set(d, x0 + (int)lround((double)(x1 - x0) * i / steps),
                     y0 + (int)lround((double)(y1 - y0) * i / steps), owner);
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
}
