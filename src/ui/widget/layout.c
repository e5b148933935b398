/* layout.c -- cuts rectangles of the screen. */
#include "ui/layout.h"

#include <stdint.h>
#include <string.h>

static int clamp(int n, int least, int most)
{
    return n < least ? least : n > most ? most : n;
}

struct lab_rect lab_rect_cut_top(struct lab_rect *r, int n)
{
    n = clamp(n, 0, r->h);
    struct lab_rect cut = {r->y, r->x, n, r->w};
    r->y += n;
    r->h -= n;
    return cut;
}

struct lab_rect lab_rect_cut_bottom(struct lab_rect *r, int n)
{
    n = clamp(n, 0, r->h);
    r->h -= n;
    return (struct lab_rect){r->y + r->h, r->x, n, r->w};
}

struct lab_rect lab_rect_cut_left(struct lab_rect *r, int n)
{
    n = clamp(n, 0, r->w);
    struct lab_rect cut = {r->y, r->x, r->h, n};
    r->x += n;
    r->w -= n;
    return cut;
}

struct lab_rect lab_rect_cut_right(struct lab_rect *r, int n)
{
    n = clamp(n, 0, r->w);
    r->w -= n;
    return (struct lab_rect){r->y, r->x + r->w, r->h, n};
}

struct lab_rect lab_rect_inner(struct lab_rect r)
{
    if (r.h < 2 || r.w < 2)
        return (struct lab_rect){r.y, r.x, 0, 0};
    return (struct lab_rect){r.y + 1, r.x + 1, r.h - 2, r.w - 2};
}

bool lab_rect_empty(struct lab_rect r)
{
    return r.h <= 0 || r.w <= 0;
}

bool lab_rect_overlap(struct lab_rect a, struct lab_rect b)
{
    if (lab_rect_empty(a) || lab_rect_empty(b))
        return false;
    return a.y < b.y + b.h && b.y < a.y + a.h && a.x < b.x + b.w &&
           b.x < a.x + a.w;
}

bool lab_rect_inside(struct lab_rect inner, struct lab_rect outer)
{
    if (inner.h < 0 || inner.w < 0)
        return false;
    if (lab_rect_empty(inner))
        return true;
    return inner.y >= outer.y && inner.x >= outer.x &&
           inner.y + inner.h <= outer.y + outer.h &&
           inner.x + inner.w <= outer.x + outer.w;
}

bool lab_rect_has(struct lab_rect r, int y, int x)
{
    return y >= r.y && y < r.y + r.h && x >= r.x && x < r.x + r.w;
}

/* The kept part that goes first when there is no room, or -1 for the last. */
static int worst_part(const struct lab_share *parts, const bool *kept,
                      int count)
{
    int worst = -1;
    int alive = 0;
    for (int i = 0; i < count; i++) {
        if (!kept[i])
            continue;
        alive++;
        if (worst < 0 || parts[i].drop >= parts[worst].drop)
            worst = i;
    }
    return alive > 1 ? worst : -1;
}

static void give_by_weight(int rest, const struct lab_share *parts, int count,
                           const bool *kept, int *out)
{
    int64_t weights = 0;
    for (int i = 0; i < count; i++)
        if (kept[i])
            weights += parts[i].weight;
    int64_t before = 0; /* running sums, so that rounding loses no cell */
    for (int i = 0; i < count && weights > 0; i++) {
        if (!kept[i])
            continue;
        int64_t after = before + parts[i].weight;
        out[i] += (int)(rest * after / weights - rest * before / weights);
        before = after;
    }
}

void lab_layout_share(int total, const struct lab_share *parts, int count,
                      int *out)
{
    enum { MOST = 64 };
    bool kept[MOST];
    int least = 0;
    total = total < 0 ? 0 : total;
    memset(out, 0, (size_t)count * sizeof(*out));
    count = count > MOST ? MOST : count;
    for (int i = 0; i < count; i++) {
        kept[i] = true;
        least += parts[i].least;
    }
    while (least > total) {
        int worst = worst_part(parts, kept, count);
        if (worst < 0)
            break;
        kept[worst] = false;
        least -= parts[worst].least;
    }
    int used = 0;
    for (int i = 0; i < count; i++) {
        out[i] = kept[i] ? clamp(parts[i].least, 0, total) : 0;
        used += out[i];
    }
    give_by_weight(total - used, parts, count, kept, out);
}

struct lab_frame lab_frame_layout(int h, int w)
{
    struct lab_frame f = {0};
    f.body = (struct lab_rect){0, 0, h < 0 ? 0 : h, w < 0 ? 0 : w};
    f.small = h < LAB_SCREEN_MIN_H || w < LAB_SCREEN_MIN_W;
    if (f.small)
        return f;
    f.title = lab_rect_cut_top(&f.body, 1);
    f.bar = lab_rect_cut_bottom(&f.body, 1);
    f.status = lab_rect_cut_bottom(&f.body, 1);
    return f;
}
