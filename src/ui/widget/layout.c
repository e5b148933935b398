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

struct lab_home_layout lab_home_layout(struct lab_rect body)
{
    struct lab_home_layout l = {0};
    bool wide = body.w >= 120;
    l.badge = lab_rect_cut_top(&body, body.h >= 13 ? 1 : 0);
    if (wide) {
        l.lessons = lab_rect_cut_left(&body, body.w * 11 / 20);
        l.about = lab_rect_cut_top(&body, body.h / 2);
        l.runs = body;
        return l;
    }
    int rows[3];
    const struct lab_share parts[3] = {
        {5, 5, 0},  /* lessons */
        {4, 0, 2},  /* about: two lines and its border */
        {5, 1, 1}}; /* runs */
    lab_layout_share(body.h, parts, 3, rows);
    l.lessons = lab_rect_cut_top(&body, rows[0]);
    l.about = lab_rect_cut_top(&body, rows[1]);
    l.runs = lab_rect_cut_top(&body, rows[2]);
    return l;
}

/* Two lines of facts at least, where there are no kernels four. */
static int facts_rows(struct lab_rect body, const struct lab_run_want *want,
                      bool wide)
{
    enum { LEAST = 3, LEAST_CPU = 5, HEADS = 2, MOST = 10000 };
    int steps = (want->steps < MOST ? (int)want->steps : MOST) + HEADS;
    int kernels = (want->kernels < MOST ? (int)want->kernels : MOST) + HEADS;
    int facts = (want->facts < MOST ? (int)want->facts : MOST) + 1;
    int lists = !wide ? steps + kernels : steps > kernels ? steps : kernels;
    int room = body.h - lists > body.h / 5 ? body.h - lists : body.h / 5;
    facts = facts < room ? facts : room;
    int least = want->kernels > 0 ? LEAST : LEAST_CPU;
    return facts > least ? facts : least;
}

struct lab_run_layout lab_run_layout(struct lab_rect body,
                                     const struct lab_run_want *want)
{
    struct lab_run_layout l = {0};
    int rows[3];
    bool wide = body.w >= 180;
    bool gpu = want->kernels > 0;
    /* A step has one or two kernels. */
    const struct lab_share parts[3] = {{facts_rows(body, want, wide), 0, 2},
                                       {5, gpu ? 2 : 1, 0},
                                       {gpu ? 4 : 2, gpu ? 1 : 0, gpu ? 1 : 2}};
    lab_layout_share(body.h, parts, 3, rows);
    l.facts = lab_rect_cut_top(&body, rows[0]);
    if (wide) {
        l.steps = lab_rect_cut_left(&body, body.w * 9 / 20);
        l.kernels = body;
        return l;
    }
    l.steps = lab_rect_cut_top(&body, rows[1]);
    l.kernels = lab_rect_cut_top(&body, rows[2]);
    return l;
}
