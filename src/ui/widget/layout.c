/* layout.c -- shares a length among parts, and a screen among a list and what it shows
 * of a row. */
#include "ui/layout.h"

#include <stdint.h>
#include <string.h>

static int clamp(int n, int least, int most)
{
    return n < least ? least : n > most ? most : n;
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
        kept[i] = parts[i].drop < LAB_SHARE_ABSENT;
        least += kept[i] ? parts[i].least : 0;
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

struct lab_list_layout lab_list_layout(struct lab_rect body, int64_t rows,
                                       int preview)
{
    enum { HIGH = 36, WIDE = 180, LEAST_H = 15, LIST = 5, HEAD = 2 };
    struct lab_list_layout l = {0};
    if (rows > 0 && body.h >= HIGH) {
        const int most = body.h - preview;
        const int all = rows + HEAD < most ? (int)rows + HEAD : most;
        l.list = lab_rect_cut_top(&body, all > LIST ? all : LIST);
        l.preview = body;
    } else if (rows > 0 && body.w >= WIDE && body.h >= LEAST_H) {
        l.list = lab_rect_cut_left(&body, body.w * 11 / 20);
        lab_rect_cut_left(&body, 1);
        l.preview = body;
    } else {
        l.list = body;
    }
    return l;
}
