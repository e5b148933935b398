/* board.c -- a step's blackboard: the rectangles of its tensors, where widths and
 * heights share the place, the small ones whole and the large ones evenly; and how
 * they are drawn. The marks are at the edges: the pictures under them keep their
 * colours. */
#include "board.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/str.h"
#include "engine/plan.h"
#include "labels.h"
#include "ui/heat.h"

/* ---- where ---- */

enum {
    MARGIN = 1, /* the column of marks at the left */
    HEAD = 2,   /* title, and the line of marks */
    GAP = 2,
    LEAST_TITLE = 10,
    LARGEST = 24, /* columns of a cell */
    LEAST_CELLS = 2
};

static int64_t up(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* Shares `total` among n sizes: none gets more than it has. */
static void share(int64_t total, const int64_t *size, int n, int64_t *out)
{
    int64_t left = total < 0 ? 0 : total;
    int open = n;
    for (int i = 0; i < n; i++)
        out[i] = -1;
    while (open > 0) {
        int64_t fair = left / open;
        int closed = 0;
        for (int i = 0; i < n; i++) {
            if (out[i] >= 0 || size[i] > fair)
                continue;
            out[i] = size[i];
            left -= size[i];
            closed++;
        }
        open -= closed;
        if (closed)
            continue;
        for (int i = 0; i < n; i++)
            if (out[i] < 0)
                out[i] = fair;
        return;
    }
}

/* Parts that share a width or a height. */
struct line {
    int64_t size[LAB_BOARD_PARTS]; /* elements */
    int64_t cells[LAB_BOARD_PARTS];
    int title[LAB_BOARD_PARTS];  /* columns of the title; rows: 0 */
    int least[LAB_BOARD_PARTS];  /* and what it has at least */
    int given[LAB_BOARD_PARTS];  /* and what it has been given, too */
    int before[LAB_BOARD_PARTS]; /* columns or rows before the cells */
    int unit[LAB_BOARD_PARTS];   /* columns or half rows of a cell */
    int n;
};

/* Columns (or rows) that `cells` take. */
static int extent_of(int64_t cells, int unit, bool down)
{
    return (int)(down ? up(cells * unit, 2) : cells * unit);
}

/* With what is before them. */
static int slot_of(const struct line *l, int i, bool down)
{
    int w = l->before[i] + extent_of(l->cells[i], l->unit[i], down);
    return larger(w, larger(l->least[i], l->given[i]));
}

/* Of `room`, what the parts leave. */
static int rest_of(const struct line *l, int room, bool down)
{
    room -= down || l->n == 0 ? 0 : (l->n - 1) * GAP;
    for (int i = 0; i < l->n; i++)
        room -= slot_of(l, i, down);
    return room;
}

/* Titles take the columns that the cells leave. */
static void give_titles(struct line *l, int room)
{
    int left = rest_of(l, room, false);
    for (int i = 0; left > 0 && i < l->n; i++) {
        int slot = slot_of(l, i, false);
        int more = l->title[i] - slot < left ? l->title[i] - slot : left;
        if (more <= 0)
            continue;
        l->given[i] = slot + more;
        left -= more;
    }
}

/* Fits the line into `room`, which has GAP columns between two parts. */
static void fit_line(struct line *l, int room, int unit, bool down)
{
    int cells = room;
    for (int i = 0; i < l->n; i++) {
        cells -= l->before[i] + (!down && i ? GAP : 0);
        l->unit[i] = unit;
        l->given[i] = 0;
    }
    share(down ? (int64_t)cells * 2 / unit : cells / unit, l->size, l->n,
          l->cells);
    while (l->n > 0 && rest_of(l, room, down) < 0) {
        int most = 0;
        for (int i = 0; i < l->n; i++)
            most = l->cells[i] > l->cells[most] ? i : most;
        if (l->cells[most] <= 0)
            return;
        l->cells[most]--;
    }
    if (!down)
        give_titles(l, room);
}

/* The smallest share of a part that is drawn: 1 is whole. */
static double shown(const struct line *l)
{
    double least = 1;
    for (int i = 0; i < l->n; i++) {
        double part = (double)l->cells[i] / (double)l->size[i];
        bool few = l->cells[i] < LEAST_CELLS && l->cells[i] < l->size[i];
        if (few)
            return 0;
        least = part < least ? part : least;
    }
    return least;
}

/* ---- a size of the cells, tried ---- */

struct task {
    struct lab_rect r;
    const struct lab_board_want *want;
    int n;
    bool cross;
    bool halves;
};

struct trial {
    int cell_h; /* half rows */
    int cell_w;
    int shelves; /* rows of parts, where it is no product */
    bool titles; /* none is cut */
    double shown;
    int64_t cells;                       /* in all lines */
    int first[LAB_BOARD_PARTS + 1];      /* part of a shelf */
    struct line across[LAB_BOARD_PARTS]; /* of a product: one */
    int part_across[LAB_BOARD_PARTS];    /* of a product */
    int part_down[LAB_BOARD_PARTS];
    int64_t
        own_rows[LAB_BOARD_PARTS]; /* cells of a part beside a product, or in */
    int own_h[LAB_BOARD_PARTS];    /* a row of parts, and their half rows */
    struct line down; /* of a product: upper operands, the result */
};

static int margin_of(const struct lab_board_want *w)
{
    return larger(MARGIN, w->label_w);
}

static void add(struct line *l, int64_t size, int title, bool whole, int before)
{
    l->title[l->n] = title;
    l->least[l->n] = whole || title < LEAST_TITLE ? title : LEAST_TITLE;
    l->before[l->n] = before;
    l->size[l->n++] = size;
}

/* Left operands, the result and what is beside share the width; those above the
 * result have its columns, and share the height with it. */
static void fit_cross(struct trial *t, const struct task *k)
{
    static const enum lab_board_place order[] = {
        LAB_BOARD_LEFT, LAB_BOARD_RESULT, LAB_BOARD_BESIDE};
    const struct lab_board_want *want = k->want;
    int64_t tall = 0;
    int title = 0; /* at the crossing */
    int margin = 0;
    int head = 0;
    for (int i = 0; i < k->n; i++) {
        if (want[i].place == LAB_BOARD_ABOVE ||
            want[i].place == LAB_BOARD_RESULT) {
            title = larger(title, want[i].title_w);
            margin = larger(margin, margin_of(&want[i]));
        }
        if (want[i].place == LAB_BOARD_ABOVE) {
            t->part_down[t->down.n] = i;
            add(&t->down, want[i].rows, 0, true, HEAD + want[i].label_h);
        } else if (want[i].place != LAB_BOARD_BESIDE) {
            tall = want[i].rows > tall ? want[i].rows : tall;
            head = larger(head, want[i].label_h);
        }
    }
    add(&t->down, tall, 0, true, HEAD + head);
    for (int o = 0; o < 3; o++) {
        bool crossing = order[o] == LAB_BOARD_RESULT;
        for (int i = 0; i < k->n; i++) {
            if (want[i].place != order[o])
                continue;
            t->part_across[t->across[0].n] = i;
            add(&t->across[0], want[i].cols, crossing ? title : want[i].title_w,
                t->titles, crossing ? margin : margin_of(&want[i]));
        }
    }
    t->shelves = 1;
}

static void fit_shelves(struct trial *t, const struct task *k)
{
    const struct lab_board_want *want = k->want;
    int each = (k->n + t->shelves - 1) / t->shelves;
    t->shelves = 0;
    for (int i = 0; i < k->n; i += each) {
        int64_t tall = 0;
        int head = 0;
        t->first[t->shelves] = i;
        for (int m = i; m < k->n && m < i + each; m++) {
            add(&t->across[t->shelves], want[m].cols, want[m].title_w,
                t->titles, margin_of(&want[m]));
            tall = want[m].rows > tall ? want[m].rows : tall;
            head = larger(head, want[m].label_h);
        }
        t->shelves++;
        add(&t->down, tall, 0, true, HEAD + head);
    }
    t->first[t->shelves] = k->n;
}

/* The rows that a part has by itself. */
static void set_own(struct trial *t, const struct task *k)
{
    for (int i = 0; i < k->n; i++) {
        const int head = HEAD + k->want[i].label_h;
        const int64_t room = (int64_t)larger(k->r.h - head, 0) * 2 / t->cell_h;
        t->own_h[i] = t->cell_h;
        t->own_rows[i] = k->want[i].rows < room ? k->want[i].rows : room;
    }
    for (int s = 0; s < t->shelves && !k->cross; s++)
        for (int i = t->first[s]; i < t->first[s + 1]; i++)
            if (t->own_rows[i] > t->down.cells[s])
                t->own_rows[i] = t->down.cells[s];
}

static struct trial try_cells(const struct task *k, int shelves, bool titles,
                              int cell_h, int cell_w)
{
    struct trial t = {.cell_h = cell_h,
                      .cell_w = cell_w,
                      .shelves = shelves,
                      .titles = titles};
    if (k->cross)
        fit_cross(&t, k);
    else
        fit_shelves(&t, k);
    fit_line(&t.down, k->r.h, cell_h, true);
    t.shown = shown(&t.down);
    for (int i = 0; i < t.shelves; i++) {
        fit_line(&t.across[i], k->r.w, cell_w, false);
        double part = shown(&t.across[i]);
        t.shown = part < t.shown ? part : t.shown;
        for (int m = 0; m < t.across[i].n; m++)
            t.cells += t.across[i].cells[m];
    }
    for (int i = 0; i < t.down.n; i++)
        t.cells += t.down.cells[i];
    set_own(&t, k);
    return t;
}

/* ---- the largest cells ---- */

/* Square ones: a smaller cell may show more. */
static struct trial largest_square(const struct task *k, int shelves,
                                   bool titles)
{
    struct trial best = {.shown = 0};
    for (int unit = LARGEST;
         unit > 0 && best.shown<1; unit = unit> 2 ? unit - 2 : unit - 1) {
        if (unit == 1 && !k->halves)
            break;
        struct trial t = try_cells(k, shelves, titles, unit, unit);
        if (t.shown > best.shown)
            best = t;
    }
    return best;
}

static bool has_picture(const struct task *k)
{
    for (int i = 0; i < k->n; i++)
        if (k->want[i].picture)
            return true;
    return false;
}

/* Wider, then higher, as long as no part shows less; cells of a picture by a quarter
 * at most. */
static void stretch(struct trial *t, const struct task *k)
{
    bool picture = has_picture(k);
    int64_t cells = t->cells;
    int most = picture ? t->cell_h + t->cell_h / 4 : lab_heat_widest(t->cell_h);
    for (int w = most; w > t->cell_w; w--) {
        struct trial next = try_cells(k, t->shelves, t->titles, t->cell_h, w);
        if (next.cells >= cells)
            *t = next;
    }
    most = picture ? t->cell_w + t->cell_w / 4 : lab_heat_highest(t->cell_w);
    for (int h = most - most % 2; h > t->cell_h; h -= 2) {
        struct trial next = try_cells(k, t->shelves, t->titles, h, t->cell_w);
        if (next.cells >= cells)
            *t = next;
    }
}

static double size_of(const struct trial *t)
{
    bool numbers = lab_heat_has_numbers(t->cell_h, t->cell_w);
    return (numbers ? 2.0 : 1.0) * t->cell_h * t->cell_w;
}

static struct trial best_trial(const struct task *k, bool titles)
{
    struct trial best = {.shown = 0};
    for (int shelves = 1; shelves <= (k->cross ? 1 : k->n); shelves++) {
        struct trial t = largest_square(k, shelves, titles);
        if (t.shown > 0)
            stretch(&t, k);
        if (t.shown > best.shown || (t.shown > 0 && t.shown == best.shown &&
                                     size_of(&t) > size_of(&best)))
            best = t;
    }
    return best;
}

/* ---- from cells of one size: what parts share has one, the rest its own ---- */

/* Where the columns and the half rows of a part's cells are. */
struct sides {
    int *w;
    int *h;
};

/* Rows that A has beside those of C, and columns that B has above those of C, are as
 * high and as wide as these. */
static struct sides sides_of(struct trial *t, const struct task *k, int part)
{
    struct sides s = {NULL, &t->own_h[part]};
    const enum lab_board_place place = k->want[part].place;
    for (int i = 0; i < t->shelves && !k->cross; i++)
        if (part >= t->first[i] && part < t->first[i + 1])
            s.w = &t->across[i].unit[part - t->first[i]];
    if (!k->cross)
        return s;
    if (place != LAB_BOARD_BESIDE)
        s.h = &t->down.unit[t->down.n - 1];
    for (int i = 0; i < t->across[0].n; i++)
        if (t->part_across[i] == part ||
            (place == LAB_BOARD_ABOVE &&
             k->want[t->part_across[i]].place == LAB_BOARD_RESULT))
            s.w = &t->across[0].unit[i];
    for (int i = 0; i + 1 < t->down.n; i++)
        if (t->part_down[i] == part)
            s.h = &t->down.unit[i];
    return s;
}

/* Whether cells of this size are seen as such; a picture's are about square. */
static bool is_cell(bool picture, int h, int w)
{
    return h <= 2 * LARGEST && w <= 2 * LARGEST &&
           w <= (picture ? h + h / 4 : lab_heat_widest(h)) &&
           h <= (picture ? w + w / 4 : lab_heat_highest(w));
}

/* Rows of the cells of a row of parts. */
static int tallest(const struct trial *t, int shelf)
{
    int tall = 0;
    for (int i = t->first[shelf]; i < t->first[shelf + 1]; i++)
        tall = larger(tall, extent_of(t->own_rows[i], t->own_h[i], true));
    return tall;
}

static bool lines_fit(const struct trial *t, const struct task *k)
{
    int h = 0;
    for (int i = 0; i < t->shelves; i++) {
        if (rest_of(&t->across[i], k->r.w, false) < 0)
            return false;
        h += k->cross ? 0 : t->down.before[i] + tallest(t, i);
    }
    return h <= k->r.h && (!k->cross || rest_of(&t->down, k->r.h, true) >= 0);
}

static bool trial_fits(struct trial *t, const struct task *k)
{
    if (!lines_fit(t, k))
        return false;
    for (int i = 0; i < k->n; i++) {
        const struct lab_board_want *w = &k->want[i];
        const struct sides s = sides_of(t, k, i);
        if (!is_cell(w->picture, *s.h, *s.w) ||
            (w->place == LAB_BOARD_BESIDE &&
             HEAD + w->label_h + extent_of(t->own_rows[i], *s.h, true) >
                 k->r.h))
            return false;
    }
    return true;
}

static bool resize_sides(struct trial *t, const struct task *k, int part, int h,
                         int w)
{
    const struct sides s = sides_of(t, k, part);
    const int old_h = *s.h;
    const int old_w = *s.w;
    *s.h = h;
    *s.w = w;
    if (trial_fits(t, k))
        return true;
    *s.h = old_h;
    *s.w = old_w;
    return false;
}

/* The part with the smallest cells that can grow does, of equal ones the last, as
 * the result is; false: none can. */
static bool grow_smallest(struct trial *t, const struct task *k)
{
    bool tried[LAB_BOARD_PARTS] = {false};
    for (int left = k->n; left > 0; left--) {
        int next = -1;
        int least = 0;
        for (int i = 0; i < k->n; i++) {
            const struct sides s = sides_of(t, k, i);
            if (tried[i] || (next >= 0 && *s.h * *s.w > least))
                continue;
            next = i;
            least = *s.h * *s.w;
        }
        const struct sides s = sides_of(t, k, next);
        const int h = *s.h;
        const int w = *s.w;
        const int higher = h < 2 ? 2 : h + 2;
        if (resize_sides(t, k, next, higher, w + 1) ||
            resize_sides(t, k, next, h, w + 1) ||
            resize_sides(t, k, next, higher, w))
            return true;
        tried[next] = true;
    }
    return false;
}

/* Those parts of a line whose elements share cells, the most first, have the cells that
 * `room` is left for. */
static void add_cells(struct line *l, int room, bool down)
{
    for (;;) {
        int next = -1;
        double most = 1;
        for (int i = 0; i < l->n; i++) {
            const double each = (double)l->size[i] / (double)l->cells[i];
            if (l->cells[i] <= 0 || each <= most)
                continue;
            l->cells[i]++;
            if (rest_of(l, room, down) >= 0) {
                next = i;
                most = each;
            }
            l->cells[i]--;
        }
        if (next < 0)
            break;
        l->cells[next]++;
    }
    for (int i = 0; i < l->n; i++)
        l->cells[i] = lab_heat_cells(l->size[i], (int)l->cells[i]);
}

/* The columns of A, the rows of B, and the parts of a row grow each by itself. */
static void grow_parts(struct trial *t, const struct task *k)
{
    add_cells(&t->down, k->r.h, true);
    for (int i = 0; i < t->shelves; i++) {
        memset(t->across[i].given, 0, sizeof(t->across[i].given));
        add_cells(&t->across[i], k->r.w, false);
    }
    set_own(t, k);
    while (grow_smallest(t, k))
        ;
    for (int i = 0; i < t->shelves; i++)
        give_titles(&t->across[i], k->r.w);
}

/* ---- rectangles ---- */

/* Its corner is that of its title; `before`: columns and rows before its cells. */
static void put(struct lab_board_at *at, int y, int x, int slot_w,
                const struct lab_board_want *want, int64_t cells_h,
                int64_t cells_w, int cell_h, int cell_w, int before_w,
                int before_h)
{
    at->cells_h = (int)cells_h;
    at->cells_w = (int)cells_w;
    at->title = (struct lab_rect){y, x, 1, slot_w};
    at->cell_h = cell_h;
    at->cell_w = cell_w;
    at->cells = (struct lab_rect){y + before_h, x + before_w,
                                  extent_of(at->cells_h, cell_h, true),
                                  extent_of(at->cells_w, cell_w, false)};
    at->side = (struct lab_rect){at->cells.y, at->cells.x - want->label_w,
                                 at->cells.h, want->label_w};
    at->above = (struct lab_rect){at->cells.y - 1 - want->label_h, at->cells.x,
                                  want->label_h, at->cells.w};
}

static void place_cross(const struct trial *t, const struct task *k,
                        struct lab_board_layout *out)
{
    const struct lab_board_want *want = k->want;
    const struct line *across = &t->across[0];
    const struct line *down = &t->down;
    const int last = down->n - 1;
    int crossing = 0;
    int left = k->r.x;
    int top = k->r.y;
    for (int i = 0; i < across->n; i++)
        if (want[t->part_across[i]].place == LAB_BOARD_RESULT)
            crossing = i;
    for (int i = 0; i < crossing; i++)
        left += slot_of(across, i, false) + GAP;
    for (int i = 0; i < last; i++) {
        int part = t->part_down[i];
        put(&out->at[part], top, left, slot_of(across, crossing, false),
            &want[part], down->cells[i], across->cells[crossing], down->unit[i],
            across->unit[crossing], across->before[crossing], down->before[i]);
        top = out->at[part].cells.y + out->at[part].cells.h;
    }
    left = k->r.x;
    for (int i = 0; i < across->n; i++) {
        const int part = t->part_across[i];
        const struct lab_board_want *w = &want[part];
        int slot = slot_of(across, i, false);
        bool beside = w->place == LAB_BOARD_BESIDE;
        put(&out->at[part], beside ? k->r.y : top, left, slot, w,
            beside ? t->own_rows[part] : down->cells[last], across->cells[i],
            beside ? t->own_h[part] : down->unit[last], across->unit[i],
            across->before[i], beside ? HEAD + w->label_h : down->before[last]);
        left += slot + GAP;
    }
}

static void place_shelves(const struct trial *t, const struct task *k,
                          struct lab_board_layout *out)
{
    int top = k->r.y;
    for (int s = 0; s < t->shelves; s++) {
        int left = k->r.x;
        int tall = 0;
        for (int i = t->first[s]; i < t->first[s + 1]; i++) {
            int at = i - t->first[s];
            int slot = slot_of(&t->across[s], at, false);
            put(&out->at[i], top, left, slot, &k->want[i], t->own_rows[i],
                t->across[s].cells[at], t->own_h[i], t->across[s].unit[at],
                t->across[s].before[at], t->down.before[s]);
            tall = larger(tall, out->at[i].cells.h);
            left += slot + GAP;
        }
        top += t->down.before[s] + tall;
    }
}

/* ---- cells of their own sizes ---- */

/* Parts in rows, each whole. */
struct shelves {
    int n;                          /* rows */
    int first[LAB_BOARD_PARTS + 1]; /* in `part`, of each row */
    int part[LAB_BOARD_PARTS];
    bool titles;                 /* none is cut */
    int cell_h[LAB_BOARD_PARTS]; /* of each part */
    int cell_w[LAB_BOARD_PARTS];
    bool closed[LAB_BOARD_PARTS]; /* cannot grow any more */
    double filled;
};

static int least_title(const struct shelves *s, const struct lab_board_want *w)
{
    return s->titles || w->title_w < LEAST_TITLE ? w->title_w : LEAST_TITLE;
}

static int part_width(const struct shelves *s, const struct lab_board_want *w,
                      int i)
{
    int cells = margin_of(&w[i]) + extent_of(w[i].cols, s->cell_w[i], false);
    return larger(cells, least_title(s, &w[i]));
}

/* Rows of the titles, labels and marks above the cells of a row of parts. */
static int shelf_head(const struct shelves *s, const struct lab_board_want *w,
                      int row)
{
    int head = 0;
    for (int k = s->first[row]; k < s->first[row + 1]; k++)
        head = larger(head, w[s->part[k]].label_h);
    return HEAD + head;
}

static int shelf_cells(const struct shelves *s, const struct lab_board_want *w,
                       int row)
{
    int tall = 0;
    for (int k = s->first[row]; k < s->first[row + 1]; k++) {
        int i = s->part[k];
        tall = larger(tall, extent_of(w[i].rows, s->cell_h[i], true));
    }
    return tall;
}

static bool shelves_fit(const struct shelves *s, const struct task *k)
{
    int h = 0;
    for (int row = 0; row < s->n; row++) {
        int w = -GAP;
        for (int m = s->first[row]; m < s->first[row + 1]; m++)
            w += GAP + part_width(s, k->want, s->part[m]);
        h += shelf_head(s, k->want, row) + shelf_cells(s, k->want, row);
        if (w > k->r.w || h > k->r.h)
            return false;
    }
    return true;
}

static bool is_twin(const struct lab_board_want *a,
                    const struct lab_board_want *b)
{
    return a->rows == b->rows && a->cols == b->cols && a->picture == b->picture;
}

/* Part i and those of its shape; false, and nothing changes: there is no room, or
 * the cell would be too long. */
static bool resize(struct shelves *s, const struct task *k, int i, int h, int w)
{
    const struct shelves old = *s;
    if (!is_cell(k->want[i].picture, h, w))
        return false;
    for (int m = 0; m < k->n; m++)
        if (is_twin(&k->want[m], &k->want[i])) {
            s->cell_h[m] = h;
            s->cell_w[m] = w;
        }
    if (shelves_fit(s, k))
        return true;
    *s = old;
    return false;
}

/* A step larger: as a square if it can, else wider, else higher. */
static bool grow(struct shelves *s, const struct task *k, int i)
{
    int h = s->cell_h[i];
    int w = s->cell_w[i];
    int higher = h < 2 ? 2 : h + 2;
    return resize(s, k, i, higher, larger(w, higher)) ||
           resize(s, k, i, h, w + 1) || resize(s, k, i, higher, w);
}

/* The smallest cells grow first, so that those of a board differ only where one
 * has room that another one has no use for. */
static void grow_all(struct shelves *s, const struct task *k)
{
    for (;;) {
        int next = -1;
        for (int i = 0; i < k->n; i++)
            if (!s->closed[i] &&
                (next < 0 || s->cell_h[i] * s->cell_w[i] <
                                 s->cell_h[next] * s->cell_w[next]))
                next = i;
        if (next < 0)
            return;
        s->closed[next] = !grow(s, k, next);
    }
}

/* Columns and rows that are covered; a part whose cells have room for their
 * numbers counts more. */
static double filled_by(const struct shelves *s, const struct task *k)
{
    const double numbers = 1.3;
    double sum = 0;
    for (int i = 0; i < k->n; i++) {
        const struct lab_board_want *w = &k->want[i];
        double area = (double)extent_of(w->rows, s->cell_h[i], true) *
                      extent_of(w->cols, s->cell_w[i], false);
        bool has = lab_heat_has_numbers(s->cell_h[i], s->cell_w[i]);
        sum += has ? area * numbers : area;
    }
    return sum;
}

/* Bit i of `breaks`: a row ends behind the part. */
static struct shelves shelves_of(const struct task *k, const int *order,
                                 unsigned breaks, bool titles)
{
    struct shelves s = {.n = 1, .titles = titles};
    int unit = k->halves ? 1 : 2;
    for (int i = 0; i < k->n; i++) {
        s.part[i] = order[i];
        s.cell_h[i] = s.cell_w[i] = unit;
        if (i + 1 < k->n && breaks >> i & 1)
            s.first[s.n++] = i + 1;
    }
    s.first[s.n] = k->n;
    if (!shelves_fit(&s, k))
        return s;
    grow_all(&s, k);
    s.filled = filled_by(&s, k);
    return s;
}

/* Rows of one element, as a bias, first: the others may be side by side then. */
static bool thin_first(const struct task *k, int *order)
{
    int n = 0;
    for (int thin = 1; thin >= 0; thin--)
        for (int i = 0; i < k->n; i++)
            if ((k->want[i].rows == 1 && i + 1 < k->n) == (thin == 1))
                order[n++] = i;
    for (int i = 0; i < n; i++)
        if (order[i] != i)
            return true;
    return false;
}

static unsigned even_breaks(int n, int rows)
{
    unsigned breaks = 0;
    int each = (n + rows - 1) / rows;
    for (int i = each; i < n; i += each)
        breaks |= 1U << (i - 1);
    return breaks;
}

static void try_shelves(const struct task *k, const int *order, bool titles,
                        struct shelves *best)
{
    enum { ALL = 5 }; /* parts, whose rows are tried in every way */
    const double worth = 1.05;
    unsigned n = k->n <= ALL ? 1U << (k->n - 1) : (unsigned)k->n;
    for (unsigned i = 0; i < n; i++) {
        unsigned breaks = k->n <= ALL ? i : even_breaks(k->n, (int)i + 1);
        struct shelves s = shelves_of(k, order, breaks, titles);
        if (s.filled > worth * best->filled)
            *best = s;
    }
}

static struct shelves best_shelves(const struct task *k)
{
    enum { WORTH = 3 }; /* times larger cells, for titles that are cut */
    struct shelves best = {.filled = 0};
    struct shelves cut = {.filled = 0};
    int order[LAB_BOARD_PARTS];
    for (int i = 0; i < k->n; i++)
        order[i] = i;
    try_shelves(k, order, true, &best);
    try_shelves(k, order, false, &cut);
    if (thin_first(k, order)) {
        try_shelves(k, order, true, &best);
        try_shelves(k, order, false, &cut);
    }
    return cut.filled > WORTH * best.filled ? cut : best;
}

/* Columns of the largest index, and a blank. */
static int index_width(int64_t n)
{
    return 1 + snprintf(NULL, 0, "%lld", (long long)n - 1);
}

/* The parts with each vector in `rows` rows; false: there is none to fold, or a
 * matrix, whose columns or rows it may belong to. */
static bool fold_vectors(const struct task *k, int rows,
                         struct lab_board_want out[LAB_BOARD_PARTS],
                         int64_t fold[LAB_BOARD_PARTS])
{
    enum { LEAST = 3 }; /* elements of a row */
    bool any = false;
    for (int i = 0; i < k->n; i++) {
        const struct lab_board_want *w = &k->want[i];
        if (w->rows > 1 || w->picture)
            return false;
        out[i] = *w;
        fold[i] = 0;
        if (w->label_w || w->label_h || w->cols < (int64_t)LEAST * rows)
            continue;
        any = true;
        fold[i] = up(w->cols, rows);
        out[i].rows = up(w->cols, fold[i]);
        out[i].cols = fold[i];
        out[i].label_w = index_width(w->cols);
    }
    return any;
}

/* The title has the columns that are left in its row. */
static void place_own(const struct shelves *s, const struct task *k,
                      struct lab_board_layout *out)
{
    int y = k->r.y;
    for (int row = 0; row < s->n; row++) {
        int left = k->r.w + GAP;
        int x = k->r.x;
        int head = shelf_head(s, k->want, row);
        for (int m = s->first[row]; m < s->first[row + 1]; m++)
            left -= GAP + part_width(s, k->want, s->part[m]);
        for (int m = s->first[row]; m < s->first[row + 1]; m++) {
            int i = s->part[m];
            const struct lab_board_want *w = &k->want[i];
            int slot = part_width(s, k->want, i);
            int more = larger(0, w->title_w - slot);
            more = more < left ? more : left;
            left -= more;
            put(&out->at[i], y, x, slot + more, w, w->rows, w->cols,
                s->cell_h[i], s->cell_w[i], margin_of(w), head);
            x += slot + more + GAP;
        }
        y += head + shelf_cells(s, k->want, row);
    }
}

/* Each part whole, in cells of its own; false: there is no room. */
static bool place_best(const struct task *k, struct lab_board_layout *out)
{
    enum { MOST_ROWS = 8 };
    const double worth = 1.1; /* a vector in a row is read more easily */
    struct shelves best = best_shelves(k);
    struct lab_board_want want[LAB_BOARD_PARTS];
    int64_t fold[LAB_BOARD_PARTS] = {0};
    int rows = 1;
    for (int f = 2; f <= MOST_ROWS; f++) {
        struct task folded = *k;
        folded.want = want;
        if (!fold_vectors(k, f, want, fold))
            break;
        struct shelves s = best_shelves(&folded);
        if (s.filled <= worth * best.filled)
            continue;
        best = s;
        rows = f;
    }
    if (best.filled <= 0)
        return false;
    struct task chosen = *k;
    if (rows > 1 && fold_vectors(k, rows, want, fold))
        chosen.want = want;
    place_own(&best, &chosen, out);
    for (int i = 0; i < k->n && rows > 1; i++)
        out->at[i].fold = fold[i];
    out->fits = true;
    return true;
}

struct lab_board_layout lab_board_place(struct lab_rect r,
                                        const struct lab_board_want *want,
                                        int n, bool cross, bool halves)
{
    bool rows = false;
    for (int i = 0; i < n && i < LAB_BOARD_PARTS; i++)
        rows = rows || want[i].rows > 1;
    cross = cross && rows;
    struct lab_board_layout out = {.fits = false, .cross = cross};
    const struct task k = {r, want, n, cross, halves};
    enum { WORTH = 3 }; /* times smaller cells, for titles that are whole */
    if (n < 1 || n > LAB_BOARD_PARTS)
        return out;
    if (!cross && place_best(&k, &out))
        return out;
    struct trial t = best_trial(&k, true);
    if (t.shown < 1 || !lab_heat_has_numbers(t.cell_h, t.cell_w)) {
        struct trial cut = best_trial(&k, false);
        if (cut.shown > t.shown || size_of(&cut) > WORTH * size_of(&t))
            t = cut;
    }
    if (t.shown <= 0)
        return out;
    out.fits = true;
    grow_parts(&t, &k);
    if (cross)
        place_cross(&t, &k, &out);
    else
        place_shelves(&t, &k, &out);
    return out;
}

/* ---- drawing ---- */

int lab_board_part_of(const struct lab_board_view *b, int tensor)
{
    for (int i = 0; i < b->board.n; i++)
        if (b->board.part[i].tensor == tensor && b->layout.fits)
            return i;
    return -1;
}

const struct lab_plane *lab_board_plane(const struct lab_board_view *b,
                                        int part)
{
    const struct lab_show *want = &b->board.part[part].show;
    for (int i = 0; i < b->snap->n_board; i++) {
        const struct lab_plane *p = &b->snap->board[i];
        if (p->tensor == want->tensor && p->value && !p->show.sheet &&
            p->show.row_axis == want->row_axis &&
            p->show.col_axis == want->col_axis &&
            memcmp(p->show.fixed, want->fixed, sizeof(want->fixed)) == 0)
            return p;
    }
    return NULL;
}

static const struct lab_shape *shape_of(const struct lab_board_view *b, int i)
{
    return &b->snap->plan->tensors[b->board.part[i].tensor].shape;
}

static int64_t size_along(const struct lab_shape *shape, int axis)
{
    return axis >= 0 ? shape->dim[axis] : 1;
}

/* "relu1.outᵀ 16x10"; of more axes "x[<0>,1,↓,→]": what [ and ] change is in
 * angle brackets. */
static void title_of(const struct lab_board_view *b, int i, char *out,
                     size_t cap)
{
    const struct lab_show *show = &b->board.part[i].show;
    const struct lab_shape *shape = shape_of(b, i);
    const char *name = b->snap->plan->tensors[show->tensor].name;
    bool turned = show->col_axis >= 0 && show->row_axis > show->col_axis;
    struct lab_str s;
    lab_str_init(&s);
    lab_str_add(&s, name);
    if (shape->rank > 2) {
        for (int k = 0; k < shape->rank; k++) {
            lab_str_add(&s, k ? "," : "[");
            if (k == show->row_axis || k == show->col_axis)
                lab_str_add(&s, k == show->row_axis ? "↓" : "→");
            else
                lab_str_addf(&s,
                             k == b->hidden && show->tensor == b->cursor.tensor
                                 ? "<%lld>"
                                 : "%lld",
                             (long long)show->fixed[k]);
        }
        lab_str_add(&s, "]");
    } else {
        lab_str_addf(&s, "%s %lldx%lld", turned ? "ᵀ" : "",
                     (long long)size_along(shape, show->row_axis),
                     (long long)size_along(shape, show->col_axis));
    }
    snprintf(out, cap, "%s", lab_str_text(&s));
    lab_str_release(&s);
}

/* ---- one part ---- */

/* Whether a cell, of some that n elements share, holds lit ones. */
static bool is_lit(struct lab_reach lit, int64_t n, int cells, int cell)
{
    return lit.first < lab_heat_first(n, cells, cell + 1) &&
           lit.last >= lab_heat_first(n, cells, cell);
}

static void draw_marks(const struct lab_board_view *b, struct lab_canvas *c,
                       int i)
{
    const struct lab_board_at *at = &b->layout.at[i];
    const struct lab_board_part *p = &b->board.part[i];
    const struct lab_shape *shape = shape_of(b, i);
    int64_t rows = size_along(shape, p->show.row_axis);
    int64_t cols = size_along(shape, p->show.col_axis);
    int cell_h = at->cell_h;
    int cell_w = at->cell_w;
    struct lab_reach down;
    struct lab_reach across;
    for (int range = 0; range < p->n_lit; range++) {
        if (!lab_board_lit_range(p, range, &down, &across))
            continue;
        /* An axis that is lit all along has no marks: they would mean nothing. */
        bool marks_rows = rows > 1 && down.last - down.first + 1 < rows;
        bool marks_cols =
            cols > 1 && !at->fold && across.last - across.first + 1 < cols;
        for (int y = 0; marks_rows && y < at->cells_h; y++) {
            int first = y * cell_h / 2;
            int end = (y + 1) * cell_h / 2;
            if (is_lit(down, rows, at->cells_h, y))
                for (int k = first; k < end || k == first; k++)
                    lab_canvas_text(c, at->cells.y + k, at->cells.x - 1, 1,
                                    LAB_ROLE_MARK, "▸");
        }
        for (int x = 0; marks_cols && x < at->cells_w; x++)
            if (is_lit(across, cols, at->cells_w, x))
                for (int k = 0; k < cell_w; k++)
                    lab_canvas_text(c, at->cells.y - 1,
                                    at->cells.x + x * cell_w + k, 1,
                                    LAB_ROLE_MARK, "▾");
    }
}

struct lab_heat_grid lab_board_grid(const struct lab_board_view *b, int part,
                                    int64_t rows, int64_t cols)
{
    const struct lab_board_at *at = &b->layout.at[part];
    const struct lab_plane *p = lab_board_plane(b, part);
    const bool folded = at->fold > 0 && rows == 1;
    return (struct lab_heat_grid){
        .count = rows * cols,
        .mean = p && lab_board_mean(b->snap->plan, p->tensor, p->stats.min),
        .rows = folded ? up(cols, at->fold) : rows,
        .cols = folded ? at->fold : cols,
        .folded = folded,
        .cells_h = at->cells_h,
        .cells_w = at->cells_w,
        .cell_h = at->cell_h,
        .cell_w = at->cell_w};
}

/* The row and column of the plane where the cursor is; false: it is not. */
static bool cursor_in(const struct lab_board_view *b, int i, int64_t *row,
                      int64_t *col)
{
    const struct lab_show *show = &b->board.part[i].show;
    int64_t at[LAB_MAX_RANK] = {0};
    if (b->cursor.tensor != show->tensor || b->cursor.index < 0)
        return false;
    lab_shape_unravel(shape_of(b, i), b->cursor.index, at);
    *row = show->row_axis >= 0 ? at[show->row_axis] : 0;
    *col = show->col_axis >= 0 ? at[show->col_axis] : 0;
    return true;
}

/* Around the rows, the columns or the windows that belong to the cursor's element,
 * but not around a whole operand. */
static void outline_lit(const struct lab_board_view *b, struct lab_canvas *c,
                        int i, const struct lab_heat_grid *g)
{
    const struct lab_board_at *at = &b->layout.at[i];
    const struct lab_board_part *p = &b->board.part[i];
    struct lab_reach down;
    struct lab_reach across;
    for (int range = 0; range < p->n_lit; range++) {
        if (!lab_board_lit_range(p, range, &down, &across))
            continue;
        int64_t rows = down.last - down.first + 1;
        int64_t cols = across.last - across.first + 1;
        if (g->folded && cols > 1)
            continue;
        if (g->folded)
            lab_heat_place(g, across.first, &down.first, &across.first);
        if (rows < g->rows || cols < g->cols)
            lab_heat_outline(c, at->cells.y, at->cells.x, g, down.first,
                             across.first, rows, cols);
    }
}

/* Of a folded vector: the index of the first element of each row. */
static void draw_indices(struct lab_canvas *c, const struct lab_board_at *at,
                         const struct lab_heat_grid *g)
{
    for (int y = 0; y < g->cells_h; y++)
        if (lab_heat_rows(g, y) > 0)
            lab_canvas_textf(c, at->cells.y + lab_heat_top(g, y), at->side.x,
                             at->side.w, LAB_ROLE_DIM, "%*lld", at->side.w - 1,
                             (long long)(y * g->cols));
}

/* Whether `part` is in a list of words with one blank between them. */
static bool is_in(const char *list, const char *part, size_t n)
{
    while (list) {
        if (strncmp(list, part, n) == 0 && (list[n] == ' ' || !list[n]))
            return true;
        list = strchr(list, ' ');
        list = list ? list + 1 : NULL;
    }
    return false;
}

/* Of an op that gives sums of products, or numbers of both signs by its formula:
 * "out", the result, and the parts of it, as z of "lstm1.z" and of "lstm1.z.3". An op
 * that represents several nodes, as conv_block, has theirs. */
static const char *signed_parts(const char *op)
{
    static const struct {
        const char *op;
        const char *parts;
    } known[] = {{"dense", "out xW"},
                 {"conv2d", "out conv"},
                 {"layer_norm", "out xhat mean"},
                 {"batch_norm", "out xhat mean"},
                 {"local_contrast_norm", "out mean"},
                 {"embedding", "out"},
                 {"positional_embedding", "out"},
                 {"add", "out"},
                 {"tanh", "out"},
                 {"gelu", "out"},
                 {"swish", "out"},
                 {"elu", "out"},
                 {"leaky_relu", "out"},
                 {"rnn", "out z h"},
                 {"lstm", "out z a c h"},
                 {"scaled_dot_attention", "out scores"},
                 {"attention", "out q k v scores ctx"},
                 {"bahdanau_attention", "out u t e"}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (strcmp(known[i].op, op) == 0)
            return known[i].parts;
    return NULL;
}

/* Whether an op only chooses, joins or scales what it reads, which then has a sign
 * where that has one. */
static bool keeps_signs(const char *op)
{
    return is_in("flatten dropout concat multiply max_pool2d avg_pool2d "
                 "sequence_mean local_response_norm",
                 op, strlen(op));
}

bool lab_board_signed(const struct lab_plan *plan, int tensor, bool negative)
{
    const struct lab_tensor *t = &plan->tensors[tensor];
    if (negative || t->role == LAB_TENSOR_PARAM ||
        t->role == LAB_TENSOR_GRADIENT)
        return true;
    if (t->role != LAB_TENSOR_ACTIVATION || t->node < 0)
        return false;
    const struct lab_node *n = &plan->nodes[t->node];
    const size_t id = strlen(n->id);
    const char *part = "";
    if (strcmp(t->name, n->id) == 0)
        part = "out"; /* a result inside a block has the node's name */
    else if (strncmp(t->name, n->id, id) == 0 && t->name[id] == '.')
        part = t->name + id + 1;
    if (keeps_signs(n->op->name) && is_in("out", part, strlen(part))) {
        for (int i = 0; i < n->n_in; i++)
            if (lab_board_signed(plan, n->in[i], false))
                return true;
        return false;
    }
    return is_in(signed_parts(n->op->name), part, strcspn(part, "."));
}

bool lab_board_mean(const struct lab_plan *plan, int tensor, double least)
{
    const struct lab_tensor *t = &plan->tensors[tensor];
    return least >= 0 &&
           (t->role == LAB_TENSOR_DATA || lab_holds_pictures(plan, t));
}

/* Parts of one kind (activations, weights, gradients) of one recurrent node have one
 * scale: they are added to and multiplied with each other. Every other part has its own. */
double lab_board_scale(const struct lab_board_view *b, int part)
{
    const struct lab_plan *plan = b->snap->plan;
    const struct lab_plane *p = lab_board_plane(b, part);
    const struct lab_tensor *mine = &plan->tensors[p->tensor];
    if (mine->node < 0 || mine->role == LAB_TENSOR_DATA ||
        !is_in("lstm rnn", plan->nodes[mine->node].op->name,
               strlen(plan->nodes[mine->node].op->name)))
        return lab_heat_scale_alone(p->value, p->rows * p->cols);
    double most = lab_heat_scale(p->value, p->rows * p->cols);
    for (int k = 0; k < b->board.n; k++) {
        const struct lab_plane *other =
            k == part ? NULL : lab_board_plane(b, k);
        if (!other || !other->value || !other->written)
            continue;
        const struct lab_tensor *t = &plan->tensors[other->tensor];
        if (t->node == mine->node && t->role == mine->role)
            most = fmax(
                most, lab_heat_scale(other->value, other->rows * other->cols));
    }
    return most;
}

static void draw_cells(const struct lab_board_view *b, struct lab_canvas *c,
                       int i, const struct lab_plane *p)
{
    const struct lab_board_at *at = &b->layout.at[i];
    const bool negative = lab_heat_has_negative(p->value, p->rows * p->cols);
    struct lab_heat m = {
        .grid = lab_board_grid(b, i, p->rows, p->cols),
        .value = p->value,
        .most = lab_board_scale(b, i),
        .diverging = lab_board_signed(b->snap->plan,
                                      b->board.part[i].show.tensor, negative),
        .cursor = -1};
    int64_t row = -1;
    int64_t col = -1;
    if (cursor_in(b, i, &row, &col)) {
        if (m.grid.folded)
            lab_heat_place(&m.grid, col, &row, &col);
        m.cursor = lab_heat_index(&m.grid, row, col);
    }
    if (m.grid.folded)
        draw_indices(c, at, &m.grid);
    else
        lab_labels_draw(c, p, at->cells, &m.grid, at->side, at->above,
                        m.cursor);
    lab_heat_draw(c, at->cells.y, at->cells.x, &m);
    if (m.cursor < 0)
        outline_lit(b, c, i, &m.grid);
    if (m.cursor >= 0 && b->focused)
        lab_canvas_cursor(
            c,
            at->cells.y +
                lab_heat_top(&m.grid,
                             lab_heat_cell(m.grid.rows, at->cells_h, row)),
            at->cells.x +
                lab_heat_cell(m.grid.cols, at->cells_w, col) * at->cell_w);
}

static bool is_unwritten(const struct lab_plane *p)
{
    return p && !p->written;
}

/* Behind a title, where it has room: what a cell shows. The legend has it of the
 * cursor's tensor. */
static void draw_shares(const struct lab_board_view *b, struct lab_canvas *c,
                        int i, const struct lab_plane *p, int used)
{
    enum { BEFORE = 2 };
    const struct lab_board_at *at = &b->layout.at[i];
    const struct lab_heat_grid g = lab_board_grid(b, i, p->rows, p->cols);
    char text[48];
    if (lab_heat_shares(c, &g, text, sizeof(text)) &&
        used + BEFORE + lab_canvas_columns(c, text) <= at->title.w)
        lab_canvas_text(c, at->title.y, at->title.x + used + BEFORE, -1,
                        LAB_ROLE_DIM, text);
}

static void draw_part(const struct lab_board_view *b, struct lab_canvas *c,
                      int i, const char *title)
{
    const struct lab_board_at *at = &b->layout.at[i];
    const struct lab_plane *p = lab_board_plane(b, i);
    bool mine = b->board.part[i].tensor == b->cursor.tensor;
    if (is_unwritten(p)) {
        struct lab_rect row = at->title;
        lab_canvas_add(c, &row, mine ? LAB_ROLE_TITLE : LAB_ROLE_HEADING, "%s",
                       title);
        lab_canvas_add(c, &row, LAB_ROLE_DIM, "  not computed yet");
        return;
    }
    if (lab_rect_empty(at->cells))
        return;
    lab_canvas_text_cut(c, at->title.y, at->title.x, at->title.w,
                        mine ? LAB_ROLE_TITLE : LAB_ROLE_HEADING, title);
    if (p && !mine)
        draw_shares(b, c, i, p, lab_canvas_columns(c, title));
    draw_marks(b, c, i);
    if (!p)
        lab_canvas_text_cut(c, at->cells.y, at->cells.x, at->title.w,
                            LAB_ROLE_DIM, "...");
    else
        draw_cells(b, c, i, p);
}

/* Whether a part shows the rows and columns of pictures, not their samples or
 * channels. */
static bool shows_pictures(const struct lab_board_view *b, int i)
{
    const struct lab_plan *plan = b->snap->plan;
    const struct lab_show *show = &b->board.part[i].show;
    struct lab_show first;
    if (!lab_holds_pictures(plan, &plan->tensors[show->tensor]))
        return false;
    lab_show_first(plan, show->tensor, &first);
    return show->row_axis == first.row_axis && show->col_axis == first.col_axis;
}

/* What is not computed yet has a line at the bottom, and its room goes to the rest. */
static void place_written(struct lab_board_view *b, struct lab_rect r,
                          const struct lab_board_want *want, bool halves)
{
    struct lab_board_want written[LAB_BOARD_PARTS];
    int part[LAB_BOARD_PARTS];
    int n = 0;
    for (int i = 0; i < b->board.n; i++) {
        if (is_unwritten(lab_board_plane(b, i)))
            continue;
        written[n] = want[i];
        part[n++] = i;
    }
    struct lab_rect lines = lab_rect_cut_bottom(&r, b->board.n - n);
    if (n < b->board.n)
        lab_rect_cut_bottom(&r, 1);
    struct lab_board_layout l = {.fits = true};
    if (n > 0)
        l = lab_board_place(r, written, n, b->board.cross && n == b->board.n,
                            halves);
    b->layout = (struct lab_board_layout){
        .fits = l.fits && lines.h + n == b->board.n, .cross = l.cross};
    for (int i = 0; i < n; i++)
        b->layout.at[part[i]] = l.at[i];
    for (int i = 0; i < b->board.n; i++)
        if (is_unwritten(lab_board_plane(b, i)))
            b->layout.at[i].title = lab_rect_cut_top(&lines, 1);
}

/* ---- an LSTM's cell as one draws it: six columns, of which the gates have the four in
 * the middle, and the lines between them ---- */

enum {
    COLUMNS = 6,
    LEAST_COLUMN = 10, /* columns of the screen */
    LINES = 2          /* rows between the gates and z */
};

/* "f" and 3 of "lstm1.f.3" in node "lstm1"; the letter 0: it is none. */
static char letter_of(const char *name, const char *node, long *number)
{
    const size_t n = strlen(node);
    char *end;
    if (strncmp(name, node, n) != 0 || name[n] != '.' || !name[n + 1] ||
        name[n + 2] != '.')
        return '\0';
    *number = strtol(name + n + 3, &end, 10);
    return *end ? '\0' : name[n + 1];
}

static struct lab_lstm_cell find_cell(const struct lab_plan *plan,
                                      const struct lab_board *b)
{
    static const char letters[] = "?fiaochz"; /* as enum lab_lstm_part */
    const struct lab_lstm_cell none = {0};
    struct lab_lstm_cell cell = {.n = LAB_LSTM_PARTS};
    long now = -1;
    int home = -1; /* node: the state before may be another one's */
    if (b->n != LAB_LSTM_PARTS)
        return none;
    for (int i = 0; i < LAB_LSTM_PARTS; i++)
        cell.part[i] = -1;
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < b->n; i++) {
            const struct lab_tensor *t = &plan->tensors[b->part[i].tensor];
            const struct lab_node *node =
                t->node >= 0 ? &plan->nodes[t->node] : NULL;
            long number = -1;
            const char letter = node && strcmp(node->op->name, "lstm") == 0
                                    ? letter_of(t->name, node->id, &number)
                                    : '\0';
            const char *at = letter ? strchr(letters + 1, letter) : NULL;
            now = letter == 'h' ? number : now;
            home = letter == 'h' ? t->node : home;
            if (turn == 0)
                continue;
            int *slot = at && number == now && t->node == home
                            ? &cell.part[at - letters]
                            : &cell.part[LAB_LSTM_BEFORE];
            if (*slot >= 0)
                return none;
            *slot = i;
        }
    }
    return cell;
}

/* Rows of a cell from the top, with pictures of h rows. */
struct cell_rows {
    int state;  /* of the line from state to state, by their last rows */
    int in;     /* of the product of input gate and candidate */
    int out;    /* of the product with the output gate, h's first */
    int result; /* title of h */
    int gates;  /* titles */
    int lines;  /* below the gates */
    int z;      /* title */
    int end;    /* without z's picture */
};

static struct cell_rows cell_rows_of(int h)
{
    struct cell_rows y = {.state = HEAD + h - 1, .result = HEAD + h};
    y.out = y.result + HEAD;
    y.gates = y.out + 2;
    y.in = (y.state + y.gates) / 2;
    y.lines = y.gates + HEAD + h;
    y.z = y.lines + LINES;
    y.end = y.z + HEAD;
    return y;
}

/* A part in `box`, its title on top, with a column for marks at the left; its cells may
 * have the one that is free at the right of the box. */
static void put_cell_part(struct lab_board_at *at, struct lab_rect box,
                          const struct lab_board_want *want, bool halves)
{
    int before = 1;
    struct lab_heat_room room = {
        .h = box.h - HEAD, .w = box.w + 1 - before, .halves = halves};
    struct lab_heat_grid g = lab_heat_fit(want->rows, want->cols, 0, &room);
    if (g.folded) { /* the indices of its rows */
        before = 1 + (int)snprintf(NULL, 0, "%lld", (long long)want->cols);
        room.w = box.w + 1 - before;
        g = lab_heat_fit(want->rows, want->cols, 0, &room);
    }
    *at = (struct lab_board_at){.fold = g.folded ? g.cols : 0,
                                .cells_h = g.cells_h,
                                .cells_w = g.cells_w,
                                .cell_h = g.cell_h,
                                .cell_w = g.cell_w};
    at->title = (struct lab_rect){box.y, box.x, 1, box.w};
    at->cells = (struct lab_rect){box.y + HEAD, box.x + before,
                                  lab_heat_height(&g), g.cells_w * g.cell_w};
    at->side = (struct lab_rect){at->cells.y, box.x, at->cells.h,
                                 g.folded ? before : 0};
}

/* The columns of a column, one of them free at its right. */
static struct lab_rect column(struct lab_rect r, int k, int y, int h)
{
    const int from = r.w * k / COLUMNS;
    const int to = r.w * (k + 1) / COLUMNS;
    return (struct lab_rect){r.y + y, r.x + from, h, to - from - 1};
}

static void place_cell_parts(struct lab_rect r,
                             const struct lab_board_want *want,
                             const struct lab_lstm_cell *cell, bool halves,
                             int h, struct lab_board_layout *out)
{
    const struct cell_rows y = cell_rows_of(h);
    const int *part = cell->part;
    const int state = h + HEAD;
    const struct {
        enum lab_lstm_part part;
        struct lab_rect box;
    } boxes[] = {{LAB_LSTM_BEFORE, column(r, 0, 0, state)},
                 {LAB_LSTM_F, column(r, 1, y.gates, state)},
                 {LAB_LSTM_I, column(r, 2, y.gates, state)},
                 {LAB_LSTM_A, column(r, 3, y.gates, state)},
                 {LAB_LSTM_O, column(r, 4, y.gates, state)},
                 {LAB_LSTM_C, column(r, 5, 0, state)},
                 {LAB_LSTM_H, column(r, 5, y.result, state)},
                 {LAB_LSTM_Z, {r.y + y.z, r.x, r.h - y.z, r.w - 1}}};
    for (size_t i = 0; i < sizeof(boxes) / sizeof(boxes[0]); i++) {
        const int k = part[boxes[i].part];
        struct lab_rect box = boxes[i].box;
        if (box.h > state)
            box.h = state;
        put_cell_part(&out->at[k], box, &want[k], halves);
    }
}

bool lab_board_place_cell(struct lab_rect r, const struct lab_board_want *want,
                          const struct lab_lstm_cell *cell, bool halves,
                          struct lab_board_layout *out)
{
    enum { CELL_H = 3 }; /* rows of a cell, at most: more show nothing more */
    struct lab_board_layout l = {.fits = true, .drawn = true};
    const int64_t rows = want[cell->part[LAB_LSTM_C]].rows;
    int h = rows * CELL_H < r.h ? (int)rows * CELL_H : r.h;
    while (h > 0 && cell_rows_of(h).end + (h > 1 ? h : 1) > r.h)
        h--;
    if (h < 1 || r.w < COLUMNS * LEAST_COLUMN)
        return false;
    place_cell_parts(r, want, cell, halves, h, &l);
    h = 1; /* rows that the pictures leave are for something else */
    for (int i = 0; i < LAB_LSTM_PARTS; i++)
        if (l.at[cell->part[i]].cells.h > h)
            h = l.at[cell->part[i]].cells.h;
    place_cell_parts(r, want, cell, halves, h, &l);
    *out = l;
    return true;
}

static const enum lab_role WIRE = LAB_ROLE_DIM;

static void across(struct lab_canvas *c, int y, int from, int to)
{
    for (int x = from; x <= to; x++)
        lab_canvas_text(c, y, x, 1, WIRE, "─");
}

static void down(struct lab_canvas *c, int x, int from, int to)
{
    for (int y = from; y <= to; y++)
        lab_canvas_text(c, y, x, 1, WIRE, "│");
}

static void glyph(struct lab_canvas *c, int y, int x, const char *text)
{
    lab_canvas_text(c, y, x, 1, WIRE, text);
}

static void operation(struct lab_canvas *c, int y, int x, const char *text)
{
    lab_canvas_text(c, y, x - 1, 3, LAB_ROLE_HEADING, text);
}

/* Element (row, unit) of a part; NaN: it is not there. */
static double value_of(const struct lab_board_view *b,
                       const struct lab_lstm_cell *cell,
                       enum lab_lstm_part part, int64_t row, int64_t unit)
{
    const struct lab_plane *p = lab_board_plane(b, cell->part[part]);
    return p && p->written && row < p->rows && unit < p->cols
               ? p->value[row * p->cols + unit]
               : NAN;
}

/* With its middle at x, in the columns on both sides that are free. */
static void number(struct lab_canvas *c, int y, int x, int free, double v)
{
    enum { DIGITS = 6 };
    const char *text = LAB_VALUE_TEXT(v, DIGITS);
    const int w = lab_canvas_columns(c, text);
    if (!isnan(v) && w / 2 <= free)
        lab_canvas_text(c, y, x - w / 2, w, LAB_ROLE_NORMAL, text);
}

/* The values of the chosen element's unit at the operations. */
static void draw_values(const struct lab_board_view *b, struct lab_canvas *c,
                        const struct lab_lstm_cell *cell, struct cell_rows y,
                        const int *x, int sum)
{
    enum { SHORT = 6 }; /* columns of a number, as few as a value can have */
    int64_t at[LAB_MAX_RANK] = {0};
    const struct lab_plane *h = lab_board_plane(b, cell->part[LAB_LSTM_H]);
    if (b->cursor.tensor < 0 || b->cursor.index < 0 || !h)
        return;
    const struct lab_shape *shape =
        &b->snap->plan->tensors[b->cursor.tensor].shape;
    lab_shape_unravel(shape, b->cursor.index, at);
    const int64_t row = shape->rank > 1 ? at[shape->rank - 2] : 0;
    const int64_t unit = at[shape->rank - 1] % (h->cols > 0 ? h->cols : 1);
    const int half = (x[LAB_LSTM_I] - x[LAB_LSTM_F]) / 2;
    double v[LAB_LSTM_PARTS];
    for (int i = 0; i < LAB_LSTM_PARTS; i++)
        v[i] = value_of(b, cell, (enum lab_lstm_part)i, row, unit);
    number(c, y.state - 1, x[LAB_LSTM_F], half - 1,
           v[LAB_LSTM_F] * v[LAB_LSTM_BEFORE]);
    number(c, y.state - 1, sum, half - 1, v[LAB_LSTM_C]);
    number(c, y.in + 1, sum, half - 2, v[LAB_LSTM_I] * v[LAB_LSTM_A]);
    const char *text = LAB_VALUE_TEXT(tanh(v[LAB_LSTM_C]), SHORT);
    const int w = lab_canvas_columns(c, text);
    if (half >= 2 + w) /* whole, or not at all */
        lab_canvas_text(c, (y.state + y.out) / 2, x[LAB_LSTM_O] + 2, w,
                        LAB_ROLE_NORMAL, text);
}

/* The letters of the gates above the columns of z that go into them, over the marks: in
 * their colour where the column is marked. When the parts are drawn. */
static void name_sections(const struct lab_board_view *b, struct lab_canvas *c,
                          const struct lab_lstm_cell *cell)
{
    static const char *const name[] = {"a", "i", "f", "o"};
    const int part = cell->part[LAB_LSTM_Z];
    const struct lab_board_at *z = &b->layout.at[part];
    const int64_t cols = lab_board_plane(b, part)->cols;
    struct lab_reach rows;
    struct lab_reach lit;
    for (int i = 0; i < 4 && z->fold == 0; i++) {
        const int at = lab_heat_cell(cols, z->cells_w, cols / 4 * i);
        bool marked = false;
        for (int k = 0; k < b->board.part[part].n_lit; k++)
            marked =
                marked ||
                (lab_board_lit_range(&b->board.part[part], k, &rows, &lit) &&
                 lit.last - lit.first + 1 < cols &&
                 lit.first < lab_heat_first(cols, z->cells_w, at + 1) &&
                 lit.last >= lab_heat_first(cols, z->cells_w, at));
        lab_canvas_text(c, z->cells.y - 1, z->cells.x + at * z->cell_w, 1,
                        marked ? LAB_ROLE_MARK : LAB_ROLE_HEADING, name[i]);
    }
}

/* The lines between the parts, and beside the operations the values of the unit of the
 * chosen element. */
static void draw_cell(const struct lab_board_view *b, struct lab_canvas *c,
                      const struct lab_lstm_cell *cell)
{
    const struct lab_board_at *at[LAB_LSTM_PARTS];
    int x[LAB_LSTM_PARTS]; /* middles */
    for (int i = 0; i < LAB_LSTM_PARTS; i++) {
        at[i] = &b->layout.at[cell->part[i]];
        x[i] = at[i]->title.x + at[i]->title.w / 2;
    }
    const struct lab_board_at *before = at[LAB_LSTM_BEFORE];
    const int top = before->title.y;
    const int sum = (x[LAB_LSTM_I] + x[LAB_LSTM_A]) / 2;
    const struct lab_board_at *gate = at[LAB_LSTM_F];
    struct cell_rows y = cell_rows_of(at[LAB_LSTM_H]->title.y - top - HEAD);
    int *const row[] = {&y.state, &y.in,    &y.out, &y.result,
                        &y.gates, &y.lines, &y.z,   &y.end};
    for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
        *row[i] += top;
    /* The state, from the left to the right. */
    across(c, y.state, before->cells.x + before->cells.w + 1,
           at[LAB_LSTM_C]->cells.x - 2);
    glyph(c, y.state, x[LAB_LSTM_F] - 2, "▸");
    operation(c, y.state, x[LAB_LSTM_F], "(×)");
    glyph(c, y.state, sum - 2, "▸");
    operation(c, y.state, sum, "(+)");
    glyph(c, y.state, x[LAB_LSTM_O], "┬");
    glyph(c, y.state, at[LAB_LSTM_C]->cells.x - 2, "▸");
    /* What is kept of it, and what comes in. */
    down(c, x[LAB_LSTM_F], y.state + 2, y.gates - 1);
    glyph(c, y.state + 1, x[LAB_LSTM_F], "▴");
    down(c, sum, y.state + 2, y.in - 1);
    glyph(c, y.state + 1, sum, "▴");
    down(c, x[LAB_LSTM_I], y.in + 1, y.gates - 1);
    down(c, x[LAB_LSTM_A], y.in + 1, y.gates - 1);
    across(c, y.in, x[LAB_LSTM_I] + 1, x[LAB_LSTM_A] - 1);
    glyph(c, y.in, x[LAB_LSTM_I], "┌");
    glyph(c, y.in, x[LAB_LSTM_A], "┐");
    glyph(c, y.in, sum - 2, "▸");
    glyph(c, y.in, sum + 2, "◂");
    operation(c, y.in, sum, "(×)");
    /* What goes out. */
    down(c, x[LAB_LSTM_O], y.state + 1, y.gates - 1);
    lab_canvas_text(c, (y.state + y.out) / 2, x[LAB_LSTM_O] - 3, 4,
                    LAB_ROLE_HEADING, "tanh");
    glyph(c, y.out - 1, x[LAB_LSTM_O], "▾");
    operation(c, y.out, x[LAB_LSTM_O], "(×)");
    glyph(c, y.out + 1, x[LAB_LSTM_O], "▴");
    across(c, y.out, x[LAB_LSTM_O] + 2, at[LAB_LSTM_H]->cells.x - 2);
    glyph(c, y.out, at[LAB_LSTM_H]->cells.x - 2, "▸");
    /* From z to the gates. */
    y.lines = gate->cells.y + gate->cells.h;
    across(c, y.lines + 1, x[LAB_LSTM_F], x[LAB_LSTM_O]);
    for (int i = LAB_LSTM_F; i <= LAB_LSTM_O; i++) {
        glyph(c, y.lines, x[i], "▴");
        lab_canvas_text(c, y.lines, x[i] + 2, 7, LAB_ROLE_HEADING,
                        i == LAB_LSTM_A ? "tanh" : "σ");
        glyph(c, y.lines + 1, x[i],
              i == LAB_LSTM_F   ? "└"
              : i == LAB_LSTM_O ? "┘"
                                : "┴");
    }
    glyph(c, y.lines + 1, sum, "┬");
    draw_values(b, c, cell, y, x, sum);
}

/* ---- the whole ---- */

enum { TITLE_BYTES = 96 };

/* An LSTM's cell that has run; n 0: it is none. */
static struct lab_lstm_cell written_cell(const struct lab_board_view *b)
{
    const struct lab_lstm_cell none = {0};
    for (int i = 0; i < b->board.n; i++) {
        const struct lab_plane *p = lab_board_plane(b, i);
        if (!p || !p->written || p->rows * p->cols < 1)
            return none;
    }
    return find_cell(b->snap->plan, &b->board);
}

/* The name of the cell's node, which its titles begin with, is left out of them where one
 * has no room for it. The state before may be another node's: its title is whole. */
static void cut_titles(const struct lab_board_view *b,
                       const struct lab_canvas *c,
                       const struct lab_lstm_cell *cell,
                       char title[][TITLE_BYTES])
{
    char node[TITLE_BYTES];
    bool room = true;
    if (!b->layout.drawn)
        return;
    snprintf(node, sizeof(node), "%s", title[cell->part[LAB_LSTM_H]]);
    node[strcspn(node, ".")] = '\0';
    const size_t n = strlen(node);
    for (int i = 0; i < b->board.n; i++)
        room =
            room && lab_canvas_columns(c, title[i]) <= b->layout.at[i].title.w;
    for (int i = 0; i < b->board.n && !room; i++)
        if (strncmp(title[i], node, n) == 0 && title[i][n] == '.')
            memmove(title[i], title[i] + n + 1, strlen(title[i] + n + 1) + 1);
}

bool lab_board_draw(struct lab_board_view *b, struct lab_canvas *c,
                    struct lab_rect r)
{
    struct lab_board_want want[LAB_BOARD_PARTS];
    char title[LAB_BOARD_PARTS][TITLE_BYTES];
    enum { LABELS = 3 }; /* the most of the height that labels may take */
    for (int i = 0; i < b->board.n; i++) {
        const struct lab_board_part *p = &b->board.part[i];
        title_of(b, i, title[i], sizeof(title[i]));
        want[i] = (struct lab_board_want){
            .place = p->place,
            .rows = size_along(shape_of(b, i), p->show.row_axis),
            .cols = size_along(shape_of(b, i), p->show.col_axis),
            .title_w = lab_canvas_columns(c, title[i]),
            .picture = shows_pictures(b, i)};
        const struct lab_plane *plane = lab_board_plane(b, i);
        if (!plane || !plane->written)
            continue;
        want[i].label_w = lab_labels_width(plane, c);
        want[i].label_h = lab_labels_height(plane, r.h / LABELS);
    }
    const bool halves = c->tints && !c->ascii;
    const struct lab_lstm_cell cell = written_cell(b);
    if (cell.n > 0 && lab_board_place_cell(r, want, &cell, halves, &b->layout))
        draw_cell(b, c, &cell);
    else
        place_written(b, r, want, halves);
    cut_titles(b, c, &cell, title);
    for (int i = 0; i < b->board.n && b->layout.fits; i++)
        draw_part(b, c, i, title[i]);
    if (b->layout.drawn)
        name_sections(b, c, &cell);
    return b->layout.fits;
}

static int64_t area_of(struct lab_rect r)
{
    return (int64_t)r.h * r.w;
}

static void keep_free(struct lab_rect r, struct lab_rect *out, int *n)
{
    int at = *n;
    if (r.h <= 0 || r.w <= 0)
        return;
    for (; at > 0 && area_of(out[at - 1]) < area_of(r); at--)
        out[at] = out[at - 1];
    out[at] = r;
    (*n)++;
}

/* The last column of a part's title and cells, and one. */
static int right_of(const struct lab_board_at *at)
{
    return larger(at->title.x + at->title.w, at->cells.x + at->cells.w);
}

/* At the right of all rows of parts, where all leave so much that a list has room for
 * it, and of each of them, down to the next row, up to that. */
static void free_beside(const struct lab_board_view *b, struct lab_rect r,
                        int bottom, struct lab_rect *out, int *n)
{
    enum { LIST_W = 18 };
    int most = 0;
    int end_x = r.x + r.w;
    for (int i = 0; i < b->board.n; i++)
        most = larger(most, right_of(&b->layout.at[i]));
    if (end_x - most - GAP >= LIST_W) {
        keep_free((struct lab_rect){r.y, most + GAP, bottom - r.y,
                                    end_x - most - GAP},
                  out, n);
        end_x = most;
    }
    for (int i = 0; i < b->board.n; i++) {
        const struct lab_board_at *at = &b->layout.at[i];
        int right = 0;
        int end = bottom;
        bool first = true; /* of its row */
        for (int k = 0; k < b->board.n; k++) {
            const struct lab_board_at *other = &b->layout.at[k];
            if (other->title.y > at->title.y && other->title.y < end)
                end = other->title.y;
            if (other->title.y != at->title.y)
                continue;
            right = larger(right, right_of(other));
            first = first && k >= i;
        }
        if (first)
            keep_free((struct lab_rect){at->title.y, right + GAP,
                                        end - at->title.y, end_x - right - GAP},
                      out, n);
    }
}

/* The last row of a part's cells, and one. */
static int below(const struct lab_board_at *at)
{
    return at->cells.y + at->cells.h;
}

/* The next part at the left (or, with dir 1, at the right) in its row; -1: none. */
static int neighbour(const struct lab_board_view *b, int part, int dir)
{
    int next = -1;
    const struct lab_board_at *at = b->layout.at;
    for (int i = 0; i < b->board.n; i++)
        if (at[i].title.y == at[part].title.y &&
            (at[i].title.x - at[part].title.x) * dir > 0 &&
            (next < 0 || (at[i].title.x - at[next].title.x) * dir < 0))
            next = i;
    return next;
}

/* Below the parts that are shorter than their row of parts, neighbours that end in
 * the same row together. */
static void free_below(const struct lab_board_view *b, int bottom,
                       struct lab_rect *out, int *n)
{
    const struct lab_board_at *at = b->layout.at;
    for (int i = 0; i < b->board.n; i++) {
        const int left = neighbour(b, i, -1);
        int last = i;
        int end = bottom;
        if (left >= 0 && below(&at[left]) == below(&at[i]))
            continue;
        for (int k = neighbour(b, i, 1);
             k >= 0 && below(&at[k]) == below(&at[i]); k = neighbour(b, k, 1))
            last = k;
        for (int k = 0; k < b->board.n; k++)
            end = at[k].title.y > at[i].title.y && at[k].title.y < end
                      ? at[k].title.y
                      : end;
        const int top = below(&at[i]) + 1;
        keep_free((struct lab_rect){top, at[i].title.x, end - top,
                                    right_of(&at[last]) - at[i].title.x},
                  out, n);
    }
}

/* At the right of an upper operand of few columns. */
static void free_above(const struct lab_board_view *b, struct lab_rect *out,
                       int *n)
{
    int right = 0;
    for (int i = 0; i < b->board.n; i++)
        if (b->board.part[i].place == LAB_BOARD_ABOVE ||
            b->board.part[i].place == LAB_BOARD_RESULT)
            right = larger(right,
                           b->layout.at[i].cells.x + b->layout.at[i].cells.w);
    for (int i = 0; i < b->board.n; i++) {
        const struct lab_board_at *at = &b->layout.at[i];
        const int x = at->cells.x + at->cells.w + GAP;
        if (b->board.part[i].place == LAB_BOARD_ABOVE)
            keep_free((struct lab_rect){at->title.y + 1, x,
                                        below(at) - at->title.y - 1, right - x},
                      out, n);
    }
}

/* Of an LSTM's cell: below the state before, at its left end, down to z; and between
 * the states, above their line, which has numbers in the row above it and the result in
 * the one below it. */
static void free_in_cell(const struct lab_board_view *b, struct lab_rect r,
                         struct lab_rect *out, int *n)
{
    int end = r.y;
    int line = r.y + r.h;
    int from = r.x;
    int to = r.x + r.w;
    for (int i = 0; i < b->board.n; i++) {
        const struct lab_rect title = b->layout.at[i].title;
        end = larger(end, title.y);
        if (title.y > r.y && title.y - 1 < line)
            line = title.y - 1;
        if (title.y == r.y && title.x == r.x)
            from = title.x + title.w + GAP;
        else if (title.y == r.y)
            to = title.x - GAP;
    }
    keep_free((struct lab_rect){r.y, from, line - 2 - r.y, to - from}, out, n);
    for (int i = 0; i < b->board.n; i++) {
        const struct lab_board_at *at = &b->layout.at[i];
        const int top = below(at) + 1;
        if (at->title.y == r.y && at->title.x == r.x)
            keep_free((struct lab_rect){top, r.x, end - 1 - top, at->title.w},
                      out, n);
    }
}

/* Below all, at the right, and, of a product, above its left operand and below what
 * is beside it. */
static int free_places(const struct lab_board_view *b, struct lab_rect r,
                       struct lab_rect out[LAB_BOARD_FREE])
{
    int n = 0;
    int bottom = r.y;
    int right = r.x;
    int above = r.y + r.h;  /* the left operands' first row */
    int before = r.x + r.w; /* the upper operands' first column */
    for (int i = 0; i < b->board.n; i++) {
        const struct lab_board_at *at = &b->layout.at[i];
        bottom = larger(bottom, at->cells.y + at->cells.h);
        right = larger(right, right_of(at));
        if (b->board.part[i].place == LAB_BOARD_LEFT && at->title.y < above)
            above = at->title.y;
        if (b->board.part[i].place == LAB_BOARD_ABOVE && at->side.x < before)
            before = at->side.x;
        if (b->board.part[i].place == LAB_BOARD_ABOVE && at->title.x < before)
            before = at->title.x;
    }
    keep_free((struct lab_rect){bottom + 1, r.x, r.y + r.h - bottom - 1, r.w},
              out, &n);
    if (b->layout.drawn) {
        free_in_cell(b, r, out, &n);
        return n;
    }
    if (!b->layout.cross) {
        free_beside(b, r, bottom, out, &n);
        free_below(b, bottom, out, &n);
        return n;
    }
    if (before < r.x + r.w)
        keep_free((struct lab_rect){r.y, r.x, above - r.y, before - GAP - r.x},
                  out, &n);
    keep_free((struct lab_rect){r.y, right + GAP, bottom - r.y,
                                r.x + r.w - right - GAP},
              out, &n);
    free_above(b, out, &n);
    for (int i = 0; i < b->board.n; i++) {
        const struct lab_board_at *at = &b->layout.at[i];
        const int end = below(at);
        if (b->board.part[i].place == LAB_BOARD_BESIDE)
            keep_free((struct lab_rect){end + 1, at->title.x, bottom - end - 1,
                                        right_of(at) - at->title.x},
                      out, &n);
    }
    return n;
}

int lab_board_free(const struct lab_board_view *b, struct lab_rect r,
                   struct lab_rect out[LAB_BOARD_FREE])
{
    struct lab_board_view drawn = *b; /* without what has a line alone */
    int n = 0;
    int lines = 0;
    for (int i = 0; i < b->board.n; i++) {
        if (lab_rect_empty(b->layout.at[i].cells)) {
            lines += !lab_rect_empty(b->layout.at[i].title);
            continue;
        }
        drawn.board.part[n] = b->board.part[i];
        drawn.layout.at[n++] = b->layout.at[i];
    }
    drawn.board.n = n;
    lab_rect_cut_bottom(&r, lines > 0 ? lines + 1 : 0);
    if (n > 0)
        return free_places(&drawn, r, out);
    keep_free(r, out, &n);
    return n;
}

struct lab_element lab_board_hit(const struct lab_board_view *b, int y, int x)
{
    struct lab_element none = {-1, -1};
    for (int i = 0; i < b->board.n && b->layout.fits; i++) {
        const struct lab_board_at *at = &b->layout.at[i];
        const struct lab_show *show = &b->board.part[i].show;
        const struct lab_shape *shape = shape_of(b, i);
        int64_t place[LAB_MAX_RANK];
        if (!lab_rect_has(at->cells, y, x))
            continue;
        memcpy(place, show->fixed, sizeof(place));
        if (at->fold > 0 && show->col_axis >= 0) {
            place[show->col_axis] =
                (y - at->cells.y) * 2 / at->cell_h * at->fold +
                lab_heat_first(at->fold, at->cells_w,
                               (x - at->cells.x) / at->cell_w);
            if (place[show->col_axis] >= shape->dim[show->col_axis])
                return none;
            return (struct lab_element){
                show->tensor, lab_shape_ravel(shape, place, shape->rank)};
        }
        if (show->row_axis >= 0)
            place[show->row_axis] =
                lab_heat_first(shape->dim[show->row_axis], at->cells_h,
                               (y - at->cells.y) * 2 / at->cell_h);
        if (show->col_axis >= 0)
            place[show->col_axis] =
                lab_heat_first(shape->dim[show->col_axis], at->cells_w,
                               (x - at->cells.x) / at->cell_w);
        return (struct lab_element){show->tensor,
                                    lab_shape_ravel(shape, place, shape->rank)};
    }
    return none;
}
