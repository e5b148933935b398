/* kernel_picture.c -- the pictures of a kernel that is walked: lanes, the source with
 * its counts, sectors and banks of an access, shared memory by writer, and the place
 * in the grid. They read the walk, and remember where they drew for clicks. */
#include "kernel_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "ui/layout.h"

enum { LANES = KERNEL_LANES, SECTOR = 32, BANKS = 32, WORD = 4 };

/* Warps of a block, a sign each. */
static const char signs[] = "0123456789abcdefghijklmnopqrstuv";

static int warp_of(const struct kernel_state *st, int *warps, uint32_t block[3])
{
    int warp;
    lab_sim_debug_where(st->at->debug, block, &warp, warps);
    return warp;
}

int kernel_focus(const struct kernel_state *st)
{
    uint32_t block[3];
    int warps;
    return warp_of(st, &warps, block);
}

/* ---- the two lines at the top ---- */

static void draw_head(const struct kernel_state *st, struct lab_canvas *c,
                      struct lab_rect row)
{
    uint32_t block[3];
    int warps;
    int warp = warp_of(st, &warps, block);
    struct lab_sim_warp_view v;
    lab_sim_debug_warp(st->at->debug, warp, &v);
    lab_canvas_add(c, &row, LAB_ROLE_HEADING, "%s", st->at->name);
    lab_canvas_add(c, &row, LAB_ROLE_NORMAL,
                   "  block (%u,%u,%u)  warp %d of %d  ", block[0], block[1],
                   block[2], warp, warps);
    if (v.done)
        lab_canvas_add(c, &row, LAB_ROLE_DIM, "has ended");
    else if (v.at_barrier)
        lab_canvas_add(c, &row, LAB_ROLE_WARN, "waits at a barrier");
    else if (v.waiting)
        lab_canvas_add(c, &row, LAB_ROLE_WARN, "waits for memory");
    else
        lab_canvas_add(c, &row, LAB_ROLE_NORMAL, "%d of %d lanes run",
                       __builtin_popcount(v.active),
                       __builtin_popcount(v.lanes));
}

/* "lanes ####....": which run the next instruction. */
static void draw_lanes(struct kernel_state *st, struct lab_canvas *c,
                       struct lab_rect row)
{
    enum { NAMED = 60 };
    struct lab_sim_warp_view v;
    uint32_t thread[3];
    int warp = kernel_focus(st);
    lab_sim_debug_warp(st->at->debug, warp, &v);
    lab_canvas_add(c, &row, LAB_ROLE_DIM, "lanes ");
    st->lanes = (struct lab_rect){row.y, row.x, 1, LANES};
    for (int l = 0; l < LANES; l++) {
        bool there = v.lanes >> l & 1;
        bool alive = v.alive >> l & 1;
        bool active = v.active >> l & 1;
        enum lab_role role = l == st->lane ? LAB_ROLE_CURSOR
                             : active      ? LAB_ROLE_GOOD
                                           : LAB_ROLE_DIM;
        lab_canvas_add(c, &row, role, "%s",
                       !there   ? " "
                       : !alive ? "."
                       : active ? "#"
                                : "-");
    }
    lab_sim_debug_thread_of(st->at->debug, warp, st->lane, thread);
    lab_canvas_add(c, &row, LAB_ROLE_DIM, "  lane %d is thread (%u,%u,%u)%s",
                   st->lane, thread[0], thread[1], thread[2],
                   row.w >= NAMED ? "   # runs  - waits  . ended" : "");
}

/* ---- source, and what its lines did ---- */

/* "4.0", marked where it is more than needed. */
static void ratio(struct lab_canvas *c, struct lab_rect cell, int64_t n,
                  int64_t of, bool bad)
{
    char text[16] = "";
    if (of > 0)
        snprintf(text, sizeof(text), "%.1f%s", lab_to_real(n) / lab_to_real(of),
                 bad ? "!" : " ");
    lab_canvas_textf(c, cell.y, cell.x, cell.w,
                     bad ? LAB_ROLE_BAD : LAB_ROLE_DIM, "%*s", cell.w, text);
}

struct gutter {
    int64_t all; /* instructions of the block so far */
    bool wide;   /* executions, too */
};

static void gutter_share(const struct gutter *g, const struct lab_sim_counts *n,
                         struct lab_canvas *c, struct lab_rect cell)
{
    if (n->warp_instructions > 0)
        lab_canvas_textf(
            c, cell.y, cell.x, cell.w, LAB_ROLE_DIM, "%*.0f%%", cell.w - 1,
            100.0 * lab_to_real(n->warp_instructions) / lab_to_real(g->all));
}

static void gutter_runs(const struct gutter *g, const struct lab_sim_counts *n,
                        struct lab_canvas *c, struct lab_rect cell)
{
    (void)g;
    if (n->warp_instructions > 0)
        lab_canvas_textf(c, cell.y, cell.x, cell.w, LAB_ROLE_DIM, "%*" PRId64,
                         cell.w, n->warp_instructions);
}

static void gutter_sectors(const struct gutter *g,
                           const struct lab_sim_counts *n, struct lab_canvas *c,
                           struct lab_rect cell)
{
    (void)g;
    /* Twice the sectors that the bytes would fill. */
    ratio(c, cell, n->global_sectors, n->global_requests,
          n->global_sectors * SECTOR >= 2 * n->global_bytes);
}

static void gutter_passes(const struct gutter *g,
                          const struct lab_sim_counts *n, struct lab_canvas *c,
                          struct lab_rect cell)
{
    (void)g;
    ratio(c, cell, n->shared_wavefronts, n->shared_requests,
          n->bank_conflicts > 0);
}

static void gutter_lanes(const struct gutter *g, const struct lab_sim_counts *n,
                         struct lab_canvas *c, struct lab_rect cell)
{
    (void)g;
    if (n->warp_instructions > 0)
        lab_canvas_textf(c, cell.y, cell.x, cell.w, LAB_ROLE_DIM, "%*.0f",
                         cell.w,
                         lab_to_real(n->lane_instructions) /
                             lab_to_real(n->warp_instructions));
}

static const struct gutter_column {
    const char *title;
    int w;
    bool wide;
    void (*draw)(const struct gutter *g, const struct lab_sim_counts *n,
                 struct lab_canvas *c, struct lab_rect cell);
} gutter_columns[] = {
    {"instr", 5, false, gutter_share},    {"runs", 8, true, gutter_runs},
    {"sec/rq", 7, false, gutter_sectors}, {"passes", 7, false, gutter_passes},
    {"lanes", 6, false, gutter_lanes},
};
enum {
    GUTTER = sizeof(gutter_columns) / sizeof(gutter_columns[0]),
    LINE_W = 7
};

static int gutter_width(const struct gutter *g)
{
    int w = 0;
    for (int i = 0; i < GUTTER; i++)
        w += gutter_columns[i].wide && !g->wide ? 0 : gutter_columns[i].w;
    return w;
}

static void draw_gutter(const struct gutter *g, const struct lab_sim_counts *n,
                        struct lab_canvas *c, struct lab_rect row)
{
    for (int i = 0; i < GUTTER; i++) {
        const struct gutter_column *column = &gutter_columns[i];
        if (column->wide && !g->wide)
            continue;
        struct lab_rect cell = lab_rect_cut_left(&row, column->w);
        if (n)
            column->draw(g, n, c, cell);
        else
            lab_canvas_textf(c, cell.y, cell.x, cell.w, LAB_ROLE_DIM, "%*s",
                             cell.w, column->title);
    }
}

static void draw_line(struct kernel_state *st, const struct gutter *g,
                      struct lab_canvas *c, struct lab_rect row, int32_t line)
{
    size_t n;
    struct lab_str text;
    struct lab_sim_counts counts;
    const char *at =
        lab_kernel_source_line(&st->source, st->at->ptx, st->file, line, &n);
    bool here = line == st->line;
    lab_sim_debug_counts(st->at->debug, st->file, line, &counts);
    lab_str_init(&text);
    for (size_t i = 0; i < n; i++) {
        if (at[i] == '\t')
            lab_str_add(&text, "    ");
        else
            lab_str_add_visible(&text, at + i, 1, false);
    }
    draw_gutter(g, &counts, c, lab_rect_cut_left(&row, gutter_width(g)));
    lab_canvas_textf(c, row.y, row.x, LINE_W,
                     here ? LAB_ROLE_TITLE : LAB_ROLE_DIM, "%c%c%4d ",
                     lab_sim_debug_breaks(st->at->debug, st->file, line) ? '*'
                                                                         : ' ',
                     here ? '>' : ' ', line);
    lab_canvas_text_cut(c, row.y, row.x + LINE_W, row.w - LINE_W,
                        here ? LAB_ROLE_TITLE : LAB_ROLE_CODE,
                        lab_str_text(&text));
    if (line == st->cursor) {
        lab_canvas_paint(c, row, LAB_ROLE_SELECTED);
        lab_canvas_focus(c, row.y, row.x);
    }
    lab_str_release(&text);
}

static void draw_source(struct kernel_state *st, struct lab_canvas *c,
                        struct lab_rect r)
{
    enum { WIDE = 90 };
    struct lab_sim_counts all;
    if (st->file < 0) {
        lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_DIM,
                        "the kernel has no source lines");
        return;
    }
    lab_sim_debug_counts(st->at->debug, 0, 0, &all);
    const struct gutter g = {all.warp_instructions, r.w >= WIDE};
    /* Reads the file, so that its length is known. */
    size_t n;
    (void)lab_kernel_source_line(&st->source, st->at->ptx, st->file, 1, &n);
    struct lab_rect head = lab_rect_cut_top(&r, 1);
    draw_gutter(&g, NULL, c, lab_rect_cut_left(&head, gutter_width(&g)));
    lab_canvas_textf(c, head.y, head.x + LINE_W, head.w - LINE_W,
                     LAB_ROLE_HEADING, "%s",
                     lab_kernel_source_name(st->at->ptx, st->file));
    int32_t top = st->cursor - r.h / 2;
    if (top > st->source.lines - r.h + 1)
        top = st->source.lines - r.h + 1;
    if (top < 1)
        top = 1;
    st->lines = r;
    st->first_line = top;
    for (int32_t i = 0; i < r.h && top + i <= st->source.lines; i++) {
        struct lab_rect row = {r.y + i, r.x, 1, r.w};
        draw_line(st, &g, c, row, top + i);
    }
}

/* ---- the last access ---- */

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;
    return (*x > *y) - (*x < *y);
}

/* The sectors that the lanes touch, in order; how many. */
static int sectors_of(const struct lab_sim_access_view *v,
                      uint64_t out[2 * LANES])
{
    int n = 0;
    int kept = 0;
    for (int l = 0; l < LANES; l++) {
        if (!(v->lanes >> l & 1))
            continue;
        uint64_t last = (v->address[l] + (uint64_t)v->bytes - 1) / SECTOR;
        out[n++] = v->address[l] / SECTOR;
        if (last != out[n - 1])
            out[n++] = last;
    }
    qsort(out, (size_t)n, sizeof(*out), by_number);
    for (int i = 0; i < n; i++)
        if (i == 0 || out[i] != out[i - 1])
            out[kept++] = out[i];
    return kept;
}

/* Which of the eight words of a sector are touched, bit a word. */
static unsigned words_touched(const struct lab_sim_access_view *v,
                              uint64_t sector)
{
    unsigned words = 0;
    for (int k = 0; k < SECTOR / WORD; k++) {
        uint64_t at = sector * SECTOR + (uint64_t)(k * WORD);
        for (int l = 0; l < LANES; l++)
            if (v->lanes >> l & 1 && v->address[l] < at + WORD &&
                at < v->address[l] + (uint64_t)v->bytes)
                words |= 1u << k;
    }
    return words;
}

/* Each sector as its eight words; where these do not fit, as the number of words
 * that are used of it. */
static void draw_sectors(const struct lab_sim_access_view *v,
                         struct lab_canvas *c, struct lab_rect r)
{
    enum { WORDS = SECTOR / WORD };
    uint64_t sectors[2 * LANES];
    int n = sectors_of(v, sectors);
    bool whole = n <= (r.w + 1) / (WORDS + 1) * r.h;
    int w = whole ? WORDS + 1 : 2;
    int a_row = (r.w + 1) / w;
    for (int i = 0; i < n && i / a_row < r.h; i++) {
        unsigned words = words_touched(v, sectors[i]);
        char cells[WORDS + 1] = "";
        for (int k = 0; k < WORDS; k++)
            cells[k] = words >> k & 1 ? '#' : '.';
        if (!whole)
            snprintf(cells, sizeof(cells), "%d", __builtin_popcount(words));
        lab_canvas_textf(c, r.y + i / a_row, r.x + i % a_row * w, w,
                         words == (1u << WORDS) - 1 ? LAB_ROLE_SERIES_1
                                                    : LAB_ROLE_WARN,
                         "%s", cells);
    }
}

/* How many lanes went to each of the 32 banks of shared memory. */
static void draw_banks(const struct lab_sim_access_view *v,
                       struct lab_canvas *c, struct lab_rect row)
{
    lab_canvas_add(c, &row, LAB_ROLE_DIM, "banks ");
    for (int b = 0; b < BANKS; b++) {
        uint64_t words[LANES];
        int n = 0;
        for (int l = 0; l < LANES; l++) {
            uint64_t word = v->address[l] / WORD;
            bool seen = !(v->lanes >> l & 1) || word % BANKS != (uint64_t)b;
            for (int i = 0; i < n; i++)
                seen = seen || words[i] == word;
            if (!seen)
                words[n++] = word;
        }
        char sign = n == 0 ? '.' : n < 10 ? (char)('0' + n) : '+';
        lab_canvas_add(c, &row, n > 1 ? LAB_ROLE_BAD : LAB_ROLE_SERIES_1, "%c",
                       sign);
    }
    lab_canvas_add(c, &row, LAB_ROLE_DIM,
                   "  words of a bank: over 1 is a "
                   "conflict");
}

static void draw_access(struct kernel_state *st, struct lab_canvas *c,
                        struct lab_rect r)
{
    struct lab_sim_access_view v;
    struct lab_str text;
    lab_sim_debug_access(st->at->debug, kernel_focus(st), &v);
    if (v.lanes == 0) {
        lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_DIM,
                        "the warp has touched no memory yet");
        return;
    }
    lab_str_init(&text);
    lab_kernel_access_add(&text, st->at->debug, st->at->ptx, &v);
    lab_rect_cut_top(
        &r, lab_canvas_paragraph(c, r, LAB_ROLE_NORMAL, lab_str_text(&text)));
    lab_str_clear(&text);
    if (v.lanes >> st->lane & 1) {
        struct lab_rect row = lab_rect_cut_top(&r, 1);
        lab_kernel_place_add(&text, st->at->debug, &v, st->lane);
        lab_canvas_add(c, &row, LAB_ROLE_DIM, "lane %d: %s", st->lane,
                       lab_str_text(&text));
    }
    lab_str_release(&text);
    if (lab_kernel_is_global(&v))
        draw_sectors(&v, c, r);
    else if (v.space == LAB_PTX_SHARED)
        draw_banks(&v, c, lab_rect_cut_top(&r, 1));
}

/* ---- shared memory ---- */

static bool is_touched(const struct lab_sim_access_view *v, int64_t word)
{
    uint64_t at = (uint64_t)word * WORD;
    for (int l = 0; v->space == LAB_PTX_SHARED && l < LANES; l++)
        if (v->lanes >> l & 1 && v->address[l] < at + WORD &&
            at < v->address[l] + (uint64_t)v->bytes)
            return true;
    return false;
}

/* A row of 32 words, a column a bank; each word as the warp that wrote it. */
static void draw_words(const struct kernel_state *st, struct lab_canvas *c,
                       struct lab_rect row, int64_t first, int64_t words,
                       const int32_t *writers,
                       const struct lab_sim_access_view *v)
{
    enum { COLOURS = 6 };
    int w = row.w >= 8 + 2 * BANKS ? 2 : 1;
    (void)st;
    lab_canvas_add(c, &row, LAB_ROLE_DIM, "%6" PRId64 "  ", first);
    for (int64_t k = first; k < first + BANKS && k < words; k++) {
        int warp = writers[k] < 0 ? -1 : writers[k] / LANES;
        enum lab_role role =
            is_touched(v, k) ? LAB_ROLE_CURSOR
            : warp < 0       ? LAB_ROLE_DIM
                       : (enum lab_role)(LAB_ROLE_SERIES_1 + warp % COLOURS);
        lab_canvas_add(c, &row, role, "%c",
                       warp < 0 ? '.' : signs[warp % LANES]);
        if (w == 2)
            lab_canvas_add(c, &row, LAB_ROLE_NORMAL, " ");
    }
}

static void draw_shared(struct kernel_state *st, struct lab_canvas *c,
                        struct lab_rect r)
{
    int64_t words;
    struct lab_sim_access_view v;
    const int32_t *writers =
        lab_sim_debug_shared_writers(st->at->debug, &words);
    int64_t rows = (words + BANKS - 1) / BANKS;
    lab_sim_debug_access(st->at->debug, kernel_focus(st), &v);
    if (words == 0) {
        lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_DIM,
                        "the kernel has no shared memory");
        return;
    }
    struct lab_rect head = lab_rect_cut_top(&r, 1);
    lab_canvas_text(c, head.y, head.x, head.w, LAB_ROLE_DIM,
                    head.w >= 92
                        ? "  word  a column a bank, 0 to 31; each word "
                          "as the warp that wrote it last, . none did"
                        : "  word  a bank a column; the warp that "
                          "wrote it");
    if (st->top > rows - r.h)
        st->top = rows - r.h;
    if (st->top < 0)
        st->top = 0;
    for (int64_t i = 0; i < r.h && st->top + i < rows; i++) {
        struct lab_rect row = {r.y + (int)i, r.x, 1, r.w};
        draw_words(st, c, row, (st->top + i) * BANKS, words, writers, &v);
    }
}

/* ---- the place in the grid ---- */

/* A rectangle of n[0] x n[1] things in at most h x w cells; how many things a cell
 * stands for, along x and y. */
static struct lab_rect scaled(struct lab_rect room, const uint32_t n[3],
                              int each[2])
{
    for (int k = 0; k < 2; k++) {
        uint32_t cells = (uint32_t)(k == 0 ? room.w : room.h);
        each[k] = 1; /* a power of two: warps begin at a cell */
        while (cells > 0 && (uint64_t)each[k] * cells < n[k] &&
               each[k] <= INT32_MAX / 2)
            each[k] *= 2;
    }
    room.w = (int)((n[0] + (uint32_t)each[0] - 1) / (uint32_t)each[0]);
    room.h = (int)((n[1] + (uint32_t)each[1] - 1) / (uint32_t)each[1]);
    return room;
}

static void draw_blocks(struct kernel_state *st, struct lab_canvas *c,
                        struct lab_rect r, const uint32_t block[3])
{
    struct lab_rect head = lab_rect_cut_top(&r, 1);
    lab_canvas_textf(c, head.y, head.x, head.w, LAB_ROLE_NORMAL,
                     "grid %ux%ux%u: block (%u,%u,%u)", st->at->grid[0],
                     st->at->grid[1], st->at->grid[2], block[0], block[1],
                     block[2]);
    st->blocks = scaled(r, st->at->grid, st->blocks_per_cell);
    lab_canvas_fill(c, st->blocks, ".", LAB_ROLE_DIM);
    int x = (int)block[0] / st->blocks_per_cell[0];
    int y = (int)block[1] / st->blocks_per_cell[1];
    lab_canvas_text(c, r.y + y, r.x + x, 1, LAB_ROLE_CURSOR, "#");
}

/* Each thread as the warp that it is of; the warp in focus is lit. */
static void draw_threads(struct kernel_state *st, struct lab_canvas *c,
                         struct lab_rect r, int warp, const uint32_t at[3])
{
    const uint32_t *n = st->at->block;
    struct lab_rect head = lab_rect_cut_top(&r, 1);
    lab_canvas_textf(c, head.y, head.x, head.w, LAB_ROLE_NORMAL,
                     "block %ux%ux%u: warp %d, thread (%u,%u,%u)", n[0], n[1],
                     n[2], warp, at[0], at[1], at[2]);
    st->threads = scaled(r, n, st->per_cell);
    for (int y = 0; y < st->threads.h; y++) {
        for (int x = 0; x < st->threads.w; x++) {
            uint32_t tx = (uint32_t)(x * st->per_cell[0]);
            uint32_t ty = (uint32_t)(y * st->per_cell[1]);
            int of = (int)((tx + n[0] * (ty + n[1] * at[2])) / LANES);
            bool here = (int)at[0] / st->per_cell[0] == x &&
                        (int)at[1] / st->per_cell[1] == y;
            lab_canvas_textf(c, st->threads.y + y, st->threads.x + x, 1,
                             here         ? LAB_ROLE_CURSOR
                             : of == warp ? LAB_ROLE_GOOD
                                          : LAB_ROLE_DIM,
                             "%c",
                             here         ? '@'
                             : of == warp ? '#'
                                          : signs[of % LANES]);
        }
    }
}

/* FLOP for each number that is moved, so far: the q of a tile. */
static void draw_work(const struct kernel_state *st, struct lab_canvas *c,
                      struct lab_rect row)
{
    struct lab_sim_counts n;
    lab_sim_debug_counts(st->at->debug, 0, 0, &n);
    int64_t flop = n.flops + n.flops_f64 + n.flops_f16 + n.flops_tensor;
    if (n.global_bytes < WORD)
        return;
    lab_canvas_add(c, &row, LAB_ROLE_DIM,
                   "q = FLOP / numbers moved = %s / %s = %.2f, in this block "
                   "so far",
                   LAB_INT_TEXT(flop), LAB_INT_TEXT(n.global_bytes / WORD),
                   lab_to_real(flop) / lab_to_real(n.global_bytes / WORD));
}

static void draw_place(struct kernel_state *st, struct lab_canvas *c,
                       struct lab_rect r)
{
    enum { GAP = 2 };
    uint32_t block[3];
    uint32_t thread[3];
    int warps;
    int warp = warp_of(st, &warps, block);
    lab_sim_debug_thread_of(st->at->debug, warp, st->lane, thread);
    draw_work(st, c, lab_rect_cut_bottom(&r, 1));
    struct lab_rect left = lab_rect_cut_left(&r, r.w * 2 / 5);
    lab_rect_cut_right(&left, GAP);
    draw_blocks(st, c, left, block);
    draw_threads(st, c, r, warp, thread);
}

/* ---- warps, findings ---- */

static void draw_warps(struct kernel_state *st, struct lab_canvas *c,
                       struct lab_rect r)
{
    enum { W = 26 };
    uint32_t block[3];
    int warps;
    int warp = warp_of(st, &warps, block);
    int columns = r.w / W > 0 ? r.w / W : 1;
    st->warps = r;
    for (int i = 0; i < warps && i / columns < r.h; i++) {
        struct lab_sim_warp_view v;
        struct lab_rect row = {r.y + i / columns, r.x + i % columns * W, 1, W};
        lab_sim_debug_warp(st->at->debug, i, &v);
        lab_canvas_add(c, &row, i == warp ? LAB_ROLE_TITLE : LAB_ROLE_NORMAL,
                       "%c%2d ", i == warp ? '>' : ' ', i);
        if (v.done)
            lab_canvas_add(c, &row, LAB_ROLE_DIM, "ended");
        else if (v.place >= 0)
            lab_canvas_add(c, &row, LAB_ROLE_NORMAL, "%s:%d",
                           lab_kernel_source_name(
                               st->at->ptx, st->at->ptx->places[v.place].file),
                           st->at->ptx->places[v.place].line);
        if (v.at_barrier)
            lab_canvas_add(c, &row, LAB_ROLE_WARN, " barrier");
    }
}

int32_t kernel_same_finding(const struct lab_sim_finding *f, int32_t n,
                            int32_t i)
{
    int32_t k = i + 1;
    while (k < n && f[k].check == f[i].check && f[k].at.place == f[i].at.place)
        k++;
    return k;
}

static void draw_findings(struct kernel_state *st, struct lab_canvas *c,
                          struct lab_rect r)
{
    int32_t n;
    const struct lab_sim_finding *f = lab_sim_debug_findings(st->at->debug, &n);
    if (n == 0)
        lab_canvas_text(c, r.y, r.x, r.w, LAB_ROLE_DIM,
                        "the checks have found nothing in this block so far");
    if (st->finding >= n)
        st->finding = n > 0 ? n - 1 : 0;
    for (int32_t i = st->finding; i < n && r.h > 0;) {
        struct lab_str text;
        int32_t same = kernel_same_finding(f, n, i);
        lab_str_init(&text);
        lab_kernel_finding_add(&text, st->at->ptx, &f[i]);
        if (same - i > 1)
            lab_str_addf(&text, " (%d times here)", same - i);
        lab_rect_cut_top(
            &r, lab_canvas_paragraph(
                    c, r, i == st->finding ? LAB_ROLE_BAD : LAB_ROLE_NORMAL,
                    lab_str_text(&text)));
        lab_str_release(&text);
        i = same;
    }
}

/* ---- all of it ---- */

static const struct pane {
    const char *title;
    void (*draw)(struct kernel_state *st, struct lab_canvas *c,
                 struct lab_rect r);
} panes[KERNEL_TABS] = {
    [KERNEL_ACCESS] = {"1 access", draw_access},
    [KERNEL_SHARED] = {"2 shared", draw_shared},
    [KERNEL_PLACE] = {"3 grid", draw_place},
    [KERNEL_WARPS] = {"4 warps", draw_warps},
    [KERNEL_FOUND] = {"5 findings", draw_findings},
};

static void draw_pane(struct kernel_state *st, struct lab_canvas *c,
                      struct lab_rect r)
{
    int32_t n;
    struct lab_rect row = lab_rect_cut_top(&r, 1);
    (void)lab_sim_debug_findings(st->at->debug, &n);
    lab_canvas_fill(c, row, "─", LAB_ROLE_BORDER);
    lab_rect_cut_left(&row, 1);
    for (int i = 0; i < KERNEL_TABS; i++) {
        bool open = i == (int)st->tab;
        st->tabs[i] = row;
        st->tabs[i].w =
            lab_canvas_add(c, &row, open ? LAB_ROLE_TITLE : LAB_ROLE_HEADING,
                           open ? "[%s]" : " %s ", panes[i].title);
        if (i == KERNEL_FOUND && n > 0)
            st->tabs[i].w += lab_canvas_add(c, &row, LAB_ROLE_BAD, "%d ", n);
    }
    st->pane = r;
    panes[st->tab].draw(st, c, r);
}

static void draw_beside(struct kernel_state *st, struct lab_canvas *c,
                        struct lab_rect r)
{
    static const enum kernel_tab beside[] = {KERNEL_PLACE, KERNEL_SHARED};
    for (int i = 0; i < 2; i++) {
        struct lab_rect part = i == 0 ? lab_rect_cut_top(&r, r.h * 2 / 5) : r;
        if (beside[i] == st->tab)
            continue;
        lab_canvas_heading(c, &part, panes[beside[i]].title + 2, false);
        panes[beside[i]].draw(st, c, part);
    }
}

void kernel_draw(struct kernel_state *st, struct lab_canvas *c,
                 struct lab_rect body)
{
    enum { WIDE = 130, ACCESS_H = 6 };
    struct lab_rect empty = {0, 0, 0, 0};
    st->threads = st->blocks = st->warps = empty;
    draw_head(st, c, lab_rect_cut_top(&body, 1));
    draw_lanes(st, c, lab_rect_cut_top(&body, 1));
    struct lab_rect note = lab_rect_cut_bottom(
        &body, lab_canvas_paragraph_rows(c, body.w, 2, st->note));
    lab_canvas_paragraph(c, note, LAB_ROLE_NORMAL, st->note);
    if (body.w >= WIDE) {
        struct lab_rect right = lab_rect_cut_right(&body, body.w * 2 / 5);
        lab_rect_cut_right(&body, 2);
        draw_beside(st, c, right);
    }
    int h = st->tab == KERNEL_ACCESS ? ACCESS_H : body.h / 2;
    draw_pane(st, c, lab_rect_cut_bottom(&body, h));
    draw_source(st, c, body);
}
