/* view_kernel.c -- inside a kernel: one warp of one block, walked on the simulator by
 * line, instruction and barrier, and back. The step's launch waits meanwhile. What
 * may take long runs on a thread of its own, so that Esc can stop it; the walk
 * belongs to that thread until it ends. */

#include <stdatomic.h>
#include <pthread.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <stdlib.h>

#include "ui/kernel.h"
#include "debug/kernel_text.h"
#include "debug/kernel_value.h"
#include "debug/kernel_pause.h"
#include "base/error.h"
#include "base/str.h"
#include "ui/ui.h"
#include "ui/view_text.h"
#include "base/format.h"

enum { KERNEL_LANES = 32 };

/* The part below the source; in a wide window some of it is beside. */
enum kernel_tab {
    KERNEL_ACCESS,
    KERNEL_SHARED,
    KERNEL_PLACE,
    KERNEL_WARPS,
    KERNEL_FOUND,
    KERNEL_OUTPUT,
    KERNEL_VALUES,
    KERNEL_TABS
};

/* What runs on a thread of its own, so that Esc can stop it. */
enum kernel_job {
    KERNEL_MOVE,
    KERNEL_BACK,
    KERNEL_WRITER,
    KERNEL_ELEMENTS,
    KERNEL_BLOCK,
    KERNEL_FINDING /* the block, and on to a finding */
};

struct kernel_work {
    enum kernel_job job;
    enum lab_sim_move move;
    void *p; /* of an element */
    size_t bytes;
    uint32_t block[3];
    int warp; /* of a thread */
    int lane; /* the writer's, afterwards */
    struct lab_str text;
    struct lab_sim_stop stop;
    enum lab_status status;
    struct lab_kept_error error;
    bool running; /* its thread is to be joined */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool done;
    atomic_bool ends; /* it is to stop */
};

struct kernel_state {
    struct lab_kernel_args of;
    const struct lab_kernel_pause *at; /* NULL: none waits now */
    int number;                        /* of the launch that is shown */
    struct lab_kernel_source source;
    struct lab_kernel_values values;
    bool values_old; /* the warp has moved since they were read */
    int32_t file;
    int32_t line;   /* of the next instruction; 0: not known */
    int32_t cursor; /* the line under the cursor */
    int lane;
    enum kernel_tab tab;
    int64_t top;    /* first row of shared memory, or of the list, shown */
    int32_t found;  /* findings of the block at the stop before */
    int finding;    /* chosen */
    bool of_thread; /* the note is of the thread in focus */
    bool stays;     /* K: also where the step has no other kernel */
    bool over;      /* it has none */
    char search[64];
    char note[512]; /* why it stopped */
    struct kernel_work work;
    /* Where things were drawn, for clicks. */
    struct lab_rect tabs[KERNEL_TABS];
    struct lab_rect lanes;
    struct lab_rect lines; /* its first row is line `first_line` */
    int32_t first_line;
    struct lab_rect pane;
    struct lab_rect threads; /* a cell a group of threads */
    int per_cell[2];         /* threads along x and y */
    struct lab_rect blocks;
    int blocks_per_cell[2];
    struct lab_rect warps;
    int warp_w; /* columns of one of them */
};

/* ---- the pictures ---- */

enum { LANES = KERNEL_LANES, SECTOR = 32, BANKS = 32, WORD = 4 };

/* Warps of a block, a sign each. */
static const char signs[] = "0123456789abcdefghijklmnopqrstuv";

static int warp_of(const struct kernel_state *st, int *warps, uint32_t block[3])
{
    int warp;
    lab_sim_debug_where(st->at->debug, block, &warp, warps);
    return warp;
}

static int kernel_focus(const struct kernel_state *st)
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
    int64_t all;  /* instructions of the block so far; 0: there are no counts */
    double lanes; /* of the line: lab_sim_debug_lanes() */
    bool wide;    /* executions, too, and room between the columns */
    bool shared;  /* the kernel has shared memory */
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
    if (n->warp_instructions > 0)
        lab_canvas_textf(c, cell.y, cell.x, cell.w, LAB_ROLE_DIM, "%*.0f",
                         cell.w, g->lanes);
}

/* `narrow`: columns where the source has little room; 0: none there. */
static const struct gutter_column {
    const char *title;
    int w;
    const char *short_title;
    int narrow;
    bool of_shared;
    void (*draw)(const struct gutter *g, const struct lab_sim_counts *n,
                 struct lab_canvas *c, struct lab_rect cell);
} gutter_columns[] = {
    {"instr", 5, "inst", 4, false, gutter_share},
    {"runs", 8, "", 0, false, gutter_runs},
    {"sec/rq", 7, "s/rq", 5, false, gutter_sectors},
    {"passes", 7, "pass", 5, true, gutter_passes},
    {"lanes", 6, "ln", 3, false, gutter_lanes},
};
enum {
    GUTTER = sizeof(gutter_columns) / sizeof(gutter_columns[0]),
    LINE_W = 7
};

/* Columns of counts: none before the first instruction, none of shared memory where
 * the kernel has none. */
static int gutter_column_width(const struct gutter *g,
                               const struct gutter_column *column)
{
    if (g->all == 0 || (column->of_shared && !g->shared))
        return 0;
    return g->wide ? column->w : column->narrow;
}

static int gutter_width(const struct gutter *g)
{
    int w = 0;
    for (int i = 0; i < GUTTER; i++)
        w += gutter_column_width(g, &gutter_columns[i]);
    return w;
}

static void draw_gutter(const struct gutter *g, const struct lab_sim_counts *n,
                        struct lab_canvas *c, struct lab_rect row)
{
    for (int i = 0; i < GUTTER; i++) {
        const struct gutter_column *column = &gutter_columns[i];
        int w = gutter_column_width(g, column);
        if (w == 0)
            continue;
        struct lab_rect cell = lab_rect_cut_left(&row, w);
        if (n)
            column->draw(g, n, c, cell);
        else
            lab_canvas_textf(c, cell.y, cell.x, cell.w, LAB_ROLE_DIM, "%*s",
                             cell.w,
                             g->wide ? column->title : column->short_title);
    }
}

/* A line in the colours of a source; all of it in the mark's where the next
 * instruction is. */
static void draw_code(struct lab_canvas *c, struct lab_rect row,
                      const char *line, size_t n, bool here, bool *in_comment)
{
    struct lab_str text;
    struct lab_rect rest = row;
    lab_str_init(&text);
    for (size_t at = 0, piece; at < n; at += piece) {
        enum lab_role role;
        piece = lab_source_piece(line + at, n - at, in_comment, &role);
        lab_str_clear(&text);
        for (size_t i = at; i < at + piece; i++) {
            if (line[i] == '\t')
                lab_str_add(&text, "    ");
            else
                lab_str_add_visible(&text, line + i, 1, false);
        }
        int w = lab_canvas_columns(c, lab_str_text(&text));
        lab_canvas_text(c, rest.y, rest.x, rest.w, here ? LAB_ROLE_TITLE : role,
                        lab_str_text(&text));
        if (w > rest.w)
            lab_canvas_text(c, row.y, row.x + row.w - 1, 1, LAB_ROLE_DIM, "…");
        lab_rect_cut_left(&rest, w);
    }
    lab_str_release(&text);
}

static void draw_line(struct kernel_state *st, const struct gutter *of,
                      struct lab_canvas *c, struct lab_rect row, int32_t line,
                      bool *in_comment)
{
    struct gutter g = *of;
    size_t n;
    struct lab_sim_counts counts;
    const char *at =
        lab_kernel_source_line(&st->source, st->at->ptx, st->file, line, &n);
    bool here = line == st->line;
    lab_sim_debug_counts(st->at->debug, st->file, line, &counts);
    g.lanes = lab_sim_debug_lanes(st->at->debug, st->file, line);
    draw_gutter(&g, &counts, c, lab_rect_cut_left(&row, gutter_width(&g)));
    struct lab_rect code = row;
    lab_rect_cut_left(&code, LINE_W);
    lab_canvas_textf(c, row.y, row.x, LINE_W,
                     here ? LAB_ROLE_TITLE : LAB_ROLE_DIM, "%c%c%4d ",
                     lab_sim_debug_breaks(st->at->debug, st->file, line) ? '*'
                                                                         : ' ',
                     here ? '>' : ' ', line);
    draw_code(c, code, at, n, here, in_comment);
    if (line == st->cursor) {
        lab_canvas_paint(c, row, LAB_ROLE_SELECTED);
        lab_canvas_focus(c, row.y, row.x);
    }
}

/* Whether a comment that began above the line goes on in it. */
static bool begins_in_comment(const struct kernel_state *st, const char *line)
{
    const char *at = lab_str_text(&st->source.text);
    bool in_comment = false;
    while (at < line) {
        const char *end = memchr(at, '\n', (size_t)(line - at));
        const char *stop = end ? end : line;
        enum lab_role role;
        while (at < stop)
            at += lab_source_piece(at, (size_t)(stop - at), &in_comment, &role);
        at = end ? end + 1 : line;
    }
    return in_comment;
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
    int64_t words;
    (void)lab_sim_debug_shared_writers(st->at->debug, &words);
    const struct gutter g = {all.warp_instructions, 0, r.w >= WIDE, words > 0};
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
    if (st->source.lines == 0) {
        struct lab_str path;
        lab_str_init(&path);
        lab_kernel_source_missing_add(&path, st->at->ptx, st->file);
        lab_canvas_paragraph(c, r, LAB_ROLE_WARN, lab_str_text(&path));
        lab_str_release(&path);
    }
    bool in_comment =
        begins_in_comment(st, lab_kernel_source_line(&st->source, st->at->ptx,
                                                     st->file, top, &n));
    for (int32_t i = 0; i < r.h && top + i <= st->source.lines; i++) {
        struct lab_rect row = {r.y + i, r.x, 1, r.w};
        draw_line(st, &g, c, row, top + i, &in_comment);
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
        if (!(lab_kernel_inside(v) >> l & 1))
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
            if (lab_kernel_inside(v) >> l & 1 && v->address[l] < at + WORD &&
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
            bool seen =
                !(lab_kernel_inside(v) >> l & 1) || word % BANKS != (uint64_t)b;
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
        if (lab_kernel_inside(v) >> l & 1 && v->address[l] < at + WORD &&
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
 * shows, along x and y. */
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

/* Threads along x and y as they are drawn: a row a warp, where they are numbered
 * along x alone. */
static void thread_shape(const struct kernel_state *st, uint32_t n[3])
{
    memcpy(n, st->at->block, 3 * sizeof(*n));
    if (n[1] > 1 || n[2] > 1 || n[0] <= LANES)
        return;
    n[1] = (n[0] + LANES - 1) / LANES;
    n[0] = LANES;
}

/* Each thread as the warp that it is of; the warp in focus is lit. */
static void draw_threads(struct kernel_state *st, struct lab_canvas *c,
                         struct lab_rect r, int warp, const uint32_t at[3])
{
    const uint32_t *block = st->at->block;
    uint32_t n[3];
    struct lab_rect head = lab_rect_cut_top(&r, 1);
    lab_canvas_textf(c, head.y, head.x, head.w, LAB_ROLE_NORMAL,
                     "block %ux%ux%u: warp %d, thread (%u,%u,%u)", block[0],
                     block[1], block[2], warp, at[0], at[1], at[2]);
    thread_shape(st, n);
    const uint32_t here_x = at[0] % n[0];
    const uint32_t here_y = at[1] + at[0] / n[0];
    st->threads = scaled(r, n, st->per_cell);
    for (int y = 0; y < st->threads.h; y++) {
        for (int x = 0; x < st->threads.w; x++) {
            uint32_t tx = (uint32_t)(x * st->per_cell[0]);
            uint32_t ty = (uint32_t)(y * st->per_cell[1]);
            if (n[0] != block[0] && tx + n[0] * ty >= block[0])
                continue; /* the last warp is not full */
            int of = (int)((tx + n[0] * (ty + n[1] * at[2])) / LANES);
            bool here = (int)here_x / st->per_cell[0] == x &&
                        (int)here_y / st->per_cell[1] == y;
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

/* ---- the output, by who wrote it ---- */

static void draw_output(struct kernel_state *st, struct lab_canvas *c,
                        struct lab_rect r)
{
    enum { COLOURS = 6, NAMED = 60 };
    const struct lab_sim_written *t = lab_sim_debug_written(st->at->debug);
    struct lab_rect head = lab_rect_cut_top(&r, 1);
    struct lab_rect foot = lab_rect_cut_bottom(&r, 1);
    struct lab_kernel_picture p;
    struct lab_str text;
    if (!t) {
        lab_canvas_text(c, head.y, head.x, head.w, LAB_ROLE_DIM,
                        "nothing is written to a tensor yet");
        return;
    }
    lab_str_init(&text);
    lab_kernel_picture_make(&p, st->at->debug, t, r.w, r.h);
    lab_kernel_picture_head(&text, &p, t);
    lab_canvas_text_cut(c, head.y, head.x, head.w, LAB_ROLE_NORMAL,
                        lab_str_text(&text));
    lab_str_release(&text);
    for (int y = 0; y < p.h && y < r.h; y++)
        for (int x = 0; x < p.w && x < r.w; x++) {
            int warp;
            bool now;
            char sign = lab_kernel_picture_sign(&p, st->at->debug, t, x, y,
                                                &warp, &now);
            enum lab_role role =
                now ? LAB_ROLE_CURSOR
                : warp >= 0
                    ? (enum lab_role)(LAB_ROLE_SERIES_1 + warp % COLOURS)
                    : LAB_ROLE_DIM;
            lab_canvas_textf(c, r.y + y, r.x + x, 1, role, "%c", sign);
        }
    lab_canvas_text_cut(c, foot.y, foot.x, foot.w, LAB_ROLE_DIM,
                        foot.w >= NAMED
                            ? "0 to v the warp of this block, # several, "
                              "+ x * = other blocks walked"
                            : "0 to v its warp, # several, + x * = others");
}

/* ---- variables and registers ---- */

static void read_values(struct kernel_state *st)
{
    if (!st->values_old)
        return;
    st->values_old = false;
    if (lab_kernel_values_read(&st->values, st->at->debug, kernel_focus(st)))
        st->values.count = 0;
}

/* A row that is shown from `top` on; its number, of all rows. */
struct value_rows {
    struct lab_canvas *c;
    struct lab_rect room;
    int64_t top;
    int64_t count;
};

static bool next_value_row(struct value_rows *v, struct lab_rect *row)
{
    int64_t at = v->count++ - v->top;
    if (at < 0 || at >= v->room.h)
        return false;
    *row = (struct lab_rect){v->room.y + (int)at, v->room.x, 1, v->room.w};
    return true;
}

/* How many rows there are. */
static int64_t value_rows(struct kernel_state *st)
{
    struct lab_str none;
    int64_t rows = 0;
    bool gone = false;
    for (int i = 0; i < st->values.count; i++) {
        bool held = st->values.all[i].held != LAB_SIM_HELD_NOT;
        rows += held;
        gone = gone || !held;
    }
    lab_str_init(&none);
    rows += lab_kernel_unnamed_add(&none, &st->values, st->at->debug, st->lane,
                                   0, 0);
    lab_str_release(&none);
    return rows + gone;
}

enum { VALUE_NAME = 14, VALUE_W = 16 };

static void draw_variable(struct kernel_state *st, struct value_rows *v,
                          const struct lab_sim_variable *x)
{
    const struct lab_ptx_function *f = lab_sim_debug_function(st->at->debug);
    struct lab_rect row;
    struct lab_str text;
    if (x->held == LAB_SIM_HELD_NOT || !next_value_row(v, &row))
        return;
    lab_str_init(&text);
    lab_canvas_add(v->c, &row, LAB_ROLE_TITLE, "%-*s ", VALUE_NAME, x->name);
    lab_kernel_value_add(&text, st->at->debug, x, st->lane);
    lab_canvas_add(v->c, &row, LAB_ROLE_NORMAL, "%-*s ", VALUE_W,
                   lab_str_text(&text));
    lab_str_clear(&text);
    lab_kernel_value_range_add(&text, x);
    lab_canvas_add(v->c, &row, LAB_ROLE_DIM, "%s%s%s  %s", x->type,
                   x->held == LAB_SIM_HELD_REGISTER ? " in " : "",
                   x->held == LAB_SIM_HELD_REGISTER ? f->regs[x->reg].name : "",
                   lab_str_text(&text));
    lab_str_release(&text);
}

static void draw_gone(struct kernel_state *st, struct value_rows *v)
{
    struct lab_rect row;
    bool any = false;
    for (int i = 0; i < st->values.count; i++) {
        if (st->values.all[i].held != LAB_SIM_HELD_NOT)
            continue;
        if (!any && !next_value_row(v, &row))
            return;
        lab_canvas_add(
            v->c, &row, LAB_ROLE_DIM, "%s%s",
            any ? ", " : "in no known register: ", st->values.all[i].name);
        any = true;
    }
}

static void draw_unnamed(struct kernel_state *st, struct value_rows *v)
{
    const int64_t above = v->top - v->count;
    struct lab_str text;
    struct lab_rect row;
    lab_str_init(&text);
    lab_kernel_unnamed_add(&text, &st->values, st->at->debug, st->lane,
                           above > 0 ? (int)above : 0, v->room.h);
    v->count = above > 0 ? v->top : v->count;
    for (const char *line = lab_str_text(&text); *line;) {
        char one[256];
        size_t bytes = strcspn(line, "\n");
        snprintf(one, sizeof(one), "%.*s", (int)bytes, line);
        if (next_value_row(v, &row))
            lab_canvas_text_cut(v->c, row.y, row.x, row.w, LAB_ROLE_NORMAL,
                                one);
        line += bytes + (line[bytes] == '\n');
    }
    lab_str_release(&text);
}

/* The variables that can be seen at the line, in the lane in focus and in the warp;
 * then registers without a name, by the line that computed them. */
static void draw_values(struct kernel_state *st, struct lab_canvas *c,
                        struct lab_rect r)
{
    int64_t rows;
    read_values(st);
    rows = value_rows(st);
    if (st->tab == KERNEL_VALUES && st->top > rows - r.h)
        st->top = rows - r.h;
    if (st->top < 0)
        st->top = 0;
    struct value_rows v = {c, r, st->tab == KERNEL_VALUES ? st->top : 0, 0};
    for (int i = 0; i < st->values.count; i++)
        draw_variable(st, &v, &st->values.all[i]);
    draw_gone(st, &v);
    draw_unnamed(st, &v);
}

/* ---- warps, findings ---- */

/* "line 33"; in another file than the one that is shown "reduce.cuh:47". */
static int warp_place(const struct kernel_state *st,
                      const struct lab_sim_warp_view *v, char *out, size_t cap)
{
    const struct lab_ptx_place *p = &st->at->ptx->places[v->place];
    if (p->file == st->file)
        return snprintf(out, cap, "line %d", p->line);
    return snprintf(out, cap, "%s:%d",
                    lab_kernel_source_name(st->at->ptx, p->file), p->line);
}

/* Columns of a warp in the list: its number, its place whole, " barrier". */
static int warp_columns(const struct kernel_state *st)
{
    enum { LEAST = 26, BESIDE = 14 };
    uint32_t block[3];
    int warps;
    int most = LEAST;
    (void)warp_of(st, &warps, block);
    for (int i = 0; i < warps; i++) {
        struct lab_sim_warp_view v;
        char place[256];
        lab_sim_debug_warp(st->at->debug, i, &v);
        if (v.done || v.place < 0)
            continue;
        int w = warp_place(st, &v, place, sizeof(place)) + BESIDE;
        most = w > most ? w : most;
    }
    return most;
}

static void draw_warps(struct kernel_state *st, struct lab_canvas *c,
                       struct lab_rect r)
{
    uint32_t block[3];
    int warps;
    int warp = warp_of(st, &warps, block);
    int w = warp_columns(st);
    int columns = r.w / w > 0 ? r.w / w : 1;
    st->warps = r;
    st->warp_w = w;
    for (int i = 0; i < warps && i / columns < r.h; i++) {
        struct lab_sim_warp_view v;
        char place[256];
        struct lab_rect row = {r.y + i / columns, r.x + i % columns * w, 1,
                               w < r.w ? w : r.w};
        lab_sim_debug_warp(st->at->debug, i, &v);
        lab_canvas_add(c, &row, i == warp ? LAB_ROLE_TITLE : LAB_ROLE_NORMAL,
                       "%c%2d ", i == warp ? '>' : ' ', i);
        if (v.done)
            lab_canvas_add(c, &row, LAB_ROLE_DIM, "ended");
        else if (v.place >= 0) {
            (void)warp_place(st, &v, place, sizeof(place));
            lab_canvas_add(c, &row, LAB_ROLE_NORMAL, "%s", place);
        }
        if (v.at_barrier)
            lab_canvas_add(c, &row, LAB_ROLE_WARN, " barrier");
    }
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
        int32_t same = lab_kernel_same_finding(f, n, i);
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
    [KERNEL_OUTPUT] = {"6 output", draw_output},
    [KERNEL_VALUES] = {"7 values", draw_values},
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
                           open ? "[%s" : " %s", panes[i].title);
        if (i == KERNEL_FOUND && n > 0)
            st->tabs[i].w += lab_canvas_add(c, &row, LAB_ROLE_BAD, " %d", n);
        st->tabs[i].w +=
            lab_canvas_add(c, &row, open ? LAB_ROLE_TITLE : LAB_ROLE_HEADING,
                           open ? "]" : " ");
    }
    st->pane = r;
    panes[st->tab].draw(st, c, r);
}

/* "fc1.xW", of "fc1.xW[3,2]", where one of the places is longer than `room`; else, and
 * of lanes in several tensors or arrays, "". */
static void name_touched(const struct kernel_state *st,
                         const struct lab_sim_access_view *v, int room,
                         char *out, size_t cap)
{
    struct lab_str text;
    bool longer = false;
    out[0] = '\0';
    lab_str_init(&text);
    for (int l = 0; l < LANES; l++) {
        if (!(lab_kernel_inside(v) >> l & 1))
            continue;
        lab_str_clear(&text);
        lab_kernel_place_add(&text, st->at->debug, v, l);
        const char *place = lab_str_text(&text);
        size_t n = strcspn(place, "[");
        bool other =
            out[0] && (strlen(out) != n || strncmp(out, place, n) != 0);
        if (!place[n] || n >= cap || other) {
            out[0] = '\0';
            break;
        }
        snprintf(out, cap, "%.*s", (int)n, place);
        longer = longer || strlen(place) > (size_t)room;
    }
    if (!longer)
        out[0] = '\0';
    lab_str_release(&text);
}

enum { LANE_W = 40, PLACE_W = 24 };

static int touched_columns(struct lab_rect r)
{
    return r.w / LANE_W > 0 ? r.w / LANE_W : 1;
}

/* Of the lanes with their heading, at most all of them. */
static int touched_rows(struct lab_rect r)
{
    int columns = touched_columns(r);
    int rows = 1 + (LANES + columns - 1) / columns;
    return rows < r.h ? rows : r.h;
}

/* What each lane of the last access touched, and in which sector or bank. */
static void draw_touched(struct kernel_state *st, struct lab_canvas *c,
                         struct lab_rect r)
{
    char name[64];
    char head[128];
    struct lab_sim_access_view v;
    struct lab_str text;
    uint64_t sectors[2 * LANES];
    lab_sim_debug_access(st->at->debug, kernel_focus(st), &v);
    bool global = lab_kernel_is_global(&v);
    int n = global ? sectors_of(&v, sectors) : 0;
    int columns = touched_columns(r);
    int rows = (LANES + columns - 1) / columns;
    /* A name that all have is in the heading: the indices have their room. */
    name_touched(st, &v, PLACE_W, name, sizeof(name));
    snprintf(head, sizeof(head), "lanes: what they %s last%s%s",
             v.write ? "wrote" : "read", name[0] ? ", of " : "", name);
    lab_canvas_heading(c, &r, head, false);
    lab_str_init(&text);
    for (int l = 0; l < LANES; l++) {
        struct lab_rect row = {r.y + l % rows, r.x + l / rows * LANE_W, 1,
                               LANE_W - 1};
        if (!(v.lanes >> l & 1) || l % rows >= r.h)
            continue;
        lab_str_clear(&text);
        lab_kernel_place_add(&text, st->at->debug, &v, l);
        const bool outside = v.outside >> l & 1;
        const char *place = lab_str_text(&text);
        if (!outside)
            place += strlen(name);
        int at = outside ? n : 0;
        while (at < n && sectors[at] != v.address[l] / SECTOR)
            at++;
        lab_canvas_add(c, &row,
                       l == st->lane ? LAB_ROLE_TITLE : LAB_ROLE_NORMAL,
                       "%c%2d %-*.*s ", l == st->lane ? '>' : ' ', l, PLACE_W,
                       PLACE_W, place);
        if (at < n)
            lab_canvas_add(c, &row,
                           at % 2 ? LAB_ROLE_SERIES_2 : LAB_ROLE_SERIES_1,
                           "sector %d", at);
        else if (v.space == LAB_PTX_SHARED && !outside)
            lab_canvas_add(c, &row, LAB_ROLE_DIM, "bank %d",
                           (int)(v.address[l] / WORD % BANKS));
    }
    lab_str_release(&text);
}

/* The instructions around the next one, each with its line of the source. */
static void draw_instructions(struct kernel_state *st, struct lab_canvas *c,
                              struct lab_rect r)
{
    struct lab_sim_warp_view v;
    struct lab_str text;
    int32_t next;
    lab_sim_debug_warp(st->at->debug, kernel_focus(st), &v);
    const struct lab_ptx_function *f =
        lab_kernel_instruction(st->at->ptx, v.text_line, &next);
    if (!f)
        return;
    lab_canvas_heading(c, &r, "instructions: source line, PTX", false);
    int32_t top = next - r.h / 2;
    if (top > f->instr_count - r.h)
        top = f->instr_count - r.h;
    if (top < 0)
        top = 0;
    lab_str_init(&text);
    int32_t above = 0;
    for (int32_t i = top; i < f->instr_count && i < top + r.h; i++) {
        struct lab_rect row = {r.y + i - top, r.x, 1, r.w};
        const struct lab_ptx_instr *in = &f->instrs[i];
        const int32_t at = lab_ptx_user_place(st->at->ptx, in->place);
        const struct lab_ptx_place *p =
            at < 0 ? NULL : &st->at->ptx->places[at];
        int32_t line = p && p->file == st->file ? p->line : 0;
        bool here = i == next;
        lab_str_clear(&text);
        lab_kernel_instruction_add(&text, f, in);
        if (line > 0 && line != above)
            lab_canvas_add(c, &row, LAB_ROLE_DIM, "%c%4d  ", here ? '>' : ' ',
                           line);
        else
            lab_canvas_add(c, &row, LAB_ROLE_DIM, "%c      ", here ? '>' : ' ');
        lab_canvas_text_cut(c, row.y, row.x, row.w,
                            here                             ? LAB_ROLE_TITLE
                            : line > 0 && line == st->cursor ? LAB_ROLE_CODE
                                                             : LAB_ROLE_DIM,
                            lab_str_text(&text));
        above = line;
    }
    lab_str_release(&text);
}

/* Rows that a pane fills, at most `most`. */
static int rows_wanted(struct kernel_state *st, enum kernel_tab tab, int w,
                       int most)
{
    enum { ACCESS_H = 5, HEADS = 2 };
    uint32_t block[3];
    uint32_t shape[3];
    int warps;
    int each[2];
    int64_t words;
    int32_t found;
    int64_t rows = ACCESS_H;
    int columns = w / warp_columns(st) > 0 ? w / warp_columns(st) : 1;
    struct lab_rect room = {0, 0, most - HEADS, w * 2 / 5};
    (void)warp_of(st, &warps, block);
    (void)lab_sim_debug_shared_writers(st->at->debug, &words);
    (void)lab_sim_debug_findings(st->at->debug, &found);
    if (tab == KERNEL_PLACE) {
        thread_shape(st, shape);
        int blocks = scaled(room, st->at->grid, each).h;
        room.w = w - room.w;
        int threads = scaled(room, shape, each).h;
        rows = (blocks > threads ? blocks : threads) + HEADS;
    } else if (tab == KERNEL_WARPS) {
        rows = (warps + columns - 1) / columns;
    } else if (tab == KERNEL_SHARED) {
        rows = (words + BANKS - 1) / BANKS + 1;
    } else if (tab == KERNEL_FOUND) {
        rows = found > 0 ? most : 1;
    } else if (tab == KERNEL_OUTPUT) {
        const struct lab_sim_written *t = lab_sim_debug_written(st->at->debug);
        struct lab_kernel_picture p = {.h = 0};
        if (t)
            lab_kernel_picture_make(&p, st->at->debug, t, w, room.h);
        rows = p.h + HEADS;
    } else if (tab == KERNEL_VALUES) {
        read_values(st);
        rows = value_rows(st);
    }
    return rows < most ? (int)rows : most;
}

static void draw_one_beside(struct kernel_state *st, struct lab_canvas *c,
                            struct lab_rect *r, enum kernel_tab tab)
{
    if (tab == st->tab)
        return;
    struct lab_rect at =
        lab_rect_cut_top(r, rows_wanted(st, tab, r->w, r->h / 2) + 1);
    lab_canvas_heading(c, &at, panes[tab].title + 2, false);
    panes[tab].draw(st, c, at);
}

/* The grid and the warps; shared memory, where the kernel has some; the output, once
 * something of it is written; the lanes; the instructions. */
static void draw_beside(struct kernel_state *st, struct lab_canvas *c,
                        struct lab_rect r)
{
    enum { LEAST = 9 };
    struct lab_sim_access_view v;
    int64_t words;
    (void)lab_sim_debug_shared_writers(st->at->debug, &words);
    lab_sim_debug_access(st->at->debug, kernel_focus(st), &v);
    draw_one_beside(st, c, &r, KERNEL_PLACE);
    draw_one_beside(st, c, &r, KERNEL_WARPS);
    if (words > 0)
        draw_one_beside(st, c, &r, KERNEL_SHARED);
    if (r.h >= LEAST)
        draw_one_beside(st, c, &r, KERNEL_VALUES);
    if (lab_sim_debug_written(st->at->debug) && r.h >= LEAST)
        draw_one_beside(st, c, &r, KERNEL_OUTPUT);
    if (v.lanes != 0 && r.h >= LEAST)
        draw_touched(st, c, lab_rect_cut_top(&r, touched_rows(r)));
    if (r.h >= LEAST)
        draw_instructions(st, c, r);
}

static void draw_all(struct kernel_state *st, struct lab_canvas *c,
                     struct lab_rect body)
{
    enum { WIDE = 130 };
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
    int h = rows_wanted(st, st->tab, body.w, body.h / 2 - 1) + 1;
    draw_pane(st, c, lab_rect_cut_bottom(&body, h));
    draw_source(st, c, body);
}

enum {
    ASK_THREAD = 1,
    ASK_BLOCK,
    ASK_ELEMENT,
    ASK_ACCESS,
    SOON_NS = 40000000 /* a move this short shows no "runs" */
};

/* ---- where it is ---- */

/* Values and notes of one thread are not those of another. */
static void other_thread(struct kernel_state *st)
{
    if (st->of_thread)
        st->note[0] = '\0';
    st->of_thread = false;
}

/* The source line of the warp in focus, and the cursor on it. */
static void look(struct kernel_state *st)
{
    enum { ABOVE = 2 };
    struct lab_sim_warp_view v;
    struct lab_sim_access_view a;
    other_thread(st);
    st->values_old = true;
    lab_sim_debug_warp(st->at->debug, kernel_focus(st), &v);
    if (v.place >= 0) {
        const struct lab_ptx_place *p = &st->at->ptx->places[v.place];
        st->file = p->file;
        st->line = p->line;
        st->cursor = p->line;
    } else
        st->line = 0;
    /* The picture of shared memory follows what was touched. */
    lab_sim_debug_access(st->at->debug, kernel_focus(st), &a);
    if (a.lanes && a.space == LAB_PTX_SHARED)
        st->top =
            (int64_t)(a.address[__builtin_ctz(a.lanes)] / 4 / BANKS) - ABOVE;
}

/* Of the findings from `from` on, those since the stop before, the one that most
 * threads have; of as many the last. */
static int32_t main_finding(const struct lab_sim_finding *f, int32_t from,
                            int32_t n)
{
    int32_t most = 0;
    int32_t found = 0;
    for (int32_t i = 0; i < n;) {
        int32_t next = lab_kernel_same_finding(f, n, i);
        if (next > from || from >= n) {
            found = next - i >= most ? i : found;
            most = next - i >= most ? next - i : most;
        }
        i = next;
    }
    return found;
}

/* The line of a finding, and its warp. */
static bool go_to_finding(struct kernel_state *st)
{
    int32_t n;
    const struct lab_sim_finding *f = lab_sim_debug_findings(st->at->debug, &n);
    if (st->finding >= n)
        return false;
    f += st->finding;
    (void)lab_sim_debug_thread(st->at->debug, f->at.thread, &st->lane);
    int32_t place = lab_ptx_user_place(st->at->ptx, f->at.place);
    look(st);
    if (f->at.place >= 0 && place >= 0) {
        st->file = st->at->ptx->places[place].file;
        st->cursor = st->at->ptx->places[place].line;
    }
    return true;
}

static void note_stop(struct kernel_state *st, const struct lab_sim_stop *stop)
{
    static const char *const why[] = {
        [LAB_SIM_STOPPED_MOVED] = "",
        [LAB_SIM_STOPPED_LINE] = "breakpoint; ",
        [LAB_SIM_STOPPED_ACCESS] = "the element was touched; ",
        [LAB_SIM_STOPPED_FINDING] = "",
        [LAB_SIM_STOPPED_WARP_DONE] = "the warp has ended; ",
        [LAB_SIM_STOPPED_END] = "all warps of the block have ended; "};
    int32_t n;
    const struct lab_sim_finding *f = lab_sim_debug_findings(st->at->debug, &n);
    st->of_thread = false; /* look() keeps this note */
    if (stop->reason == LAB_SIM_STOPPED_FINDING && n > 0) {
        st->finding = main_finding(f, st->found, n);
        f += st->finding;
        snprintf(st->note, sizeof(st->note), "%s: %s",
                 lab_sim_check_id(f->check), f->message);
    } else
        snprintf(st->note, sizeof(st->note),
                 "%s%" PRId64 " instructions of warps in this block",
                 why[stop->reason], stop->executed);
    st->found = n;
    look(st);
    if (stop->reason == LAB_SIM_STOPPED_FINDING)
        (void)go_to_finding(st);
}

static bool ready(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    if (!st->at)
        lab_ui_message(s->ui, LAB_ROLE_DIM,
                       st->over ? "no kernel is left: q goes back"
                                : "no kernel waits to be walked yet");
    return st->at != NULL;
}

/* ---- work on a thread of its own ---- */

static bool goes_on(void *user)
{
    struct kernel_work *w = user;
    return !atomic_load(&w->ends);
}

static enum lab_status do_work(struct lab_sim_debug *d, struct kernel_work *w)
{
    switch (w->job) {
    case KERNEL_MOVE:
        return lab_sim_debug_move(d, w->move, &w->stop);
    case KERNEL_BACK:
        return lab_sim_debug_back(d, &w->stop);
    case KERNEL_WRITER:
        return lab_sim_debug_writer(d, w->p, w->bytes, &w->stop, &w->lane);
    case KERNEL_BLOCK:
        return lab_sim_debug_block(d, w->block);
    case KERNEL_FINDING: {
        enum lab_status st = lab_sim_debug_block(d, w->block);
        return st ? st : lab_sim_debug_move(d, LAB_SIM_CONTINUE, &w->stop);
    }
    default:
        return lab_kernel_elements_add(&w->text, d, w->warp, w->lane, "; ");
    }
}

static void *work(void *arg)
{
    struct lab_screen *s = arg;
    struct kernel_state *st = s->state;
    struct kernel_work *w = &st->work;
    enum lab_status status = do_work(st->at->debug, w);
    pthread_mutex_lock(&w->lock);
    w->status = status;
    lab_error_keep(&w->error);
    w->done = true;
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->lock);
    lab_ui_wake(s->ui);
    return NULL;
}

/* What was done is shown. */
static void work_ended(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    struct kernel_work *w = &st->work;
    pthread_join(w->thread, NULL);
    w->running = false;
    bool stopped = w->status == LAB_E_CANCELLED;
    if (w->job == KERNEL_ELEMENTS && !w->status) {
        uint32_t at[3];
        lab_sim_debug_thread_of(st->at->debug, w->warp, w->lane, at);
        snprintf(st->note, sizeof(st->note), "thread (%u,%u,%u) %.*s", at[0],
                 at[1], at[2], w->text.len > 2 ? (int)w->text.len - 2 : 0,
                 lab_str_text(&w->text));
        st->of_thread = true;
        return;
    }
    if (w->job == KERNEL_WRITER && !w->status)
        st->lane = w->lane;
    if (w->job == KERNEL_BLOCK)
        w->stop = (struct lab_sim_stop){.executed = 0};
    if (!w->status || (stopped && w->job <= KERNEL_BACK))
        note_stop(st, &w->stop);
    else
        look(st);
    if (stopped)
        lab_ui_message(s->ui, LAB_ROLE_WARN,
                       w->job == KERNEL_MOVE ? "stopped here; c goes on"
                                             : "stopped");
    else if (w->status) {
        (void)lab_error_again(w->status, &w->error);
        lab_ui_error(s->ui);
    }
}

static bool work_done(struct kernel_work *w)
{
    pthread_mutex_lock(&w->lock);
    bool done = w->done;
    pthread_mutex_unlock(&w->lock);
    return done;
}

/* Waits a moment: most moves are over at once. */
static enum lab_status start_work(struct lab_screen *s, enum kernel_job job)
{
    struct kernel_state *st = s->state;
    struct kernel_work *w = &st->work;
    struct timespec until;
    w->job = job;
    w->done = false;
    atomic_store(&w->ends, false);
    lab_str_clear(&w->text);
    lab_sim_debug_poll(st->at->debug, goes_on, w);
    if (pthread_create(&w->thread, NULL, work, s))
        return lab_fail(LAB_E_NOMEM, "no thread to walk a kernel");
    w->running = true;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += SOON_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&w->lock);
    while (!w->done &&
           pthread_cond_timedwait(&w->ended, &w->lock, &until) != ETIMEDOUT)
        ;
    bool done = w->done;
    pthread_mutex_unlock(&w->lock);
    if (done)
        work_ended(s);
    return LAB_OK;
}

static void stop_work(struct kernel_work *w)
{
    atomic_store(&w->ends, true);
}

/* ---- opening and closing ---- */

static enum lab_status init(struct lab_screen *s, const void *args)
{
    struct kernel_state *st = s->state;
    st->of = *(const struct lab_kernel_args *)args;
    st->file = -1;
    lab_kernel_source_init(&st->source, NULL);
    lab_kernel_values_init(&st->values, NULL);
    lab_str_init(&st->work.text);
    pthread_mutex_init(&st->work.lock, NULL);
    pthread_cond_init(&st->work.ended, NULL);
    lab_kernel_pause_arm(lab_ui_wake, s->ui);
    return LAB_OK;
}

static void release(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    struct kernel_work *w = &st->work;
    if (w->running) {
        stop_work(w);
        lab_sim_debug_leave(st->at->debug);
        pthread_join(w->thread, NULL);
    }
    lab_kernel_pause_disarm();
    lab_kernel_source_release(&st->source);
    lab_kernel_values_release(&st->values);
    lab_str_release(&w->text);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->ended);
}

/* The launch of the finding that the screen was opened for; others run. */
static void go_to_goal(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    struct lab_kernel_goal *goal = &st->of.goal;
    if (goal->launch != st->at->launch ||
        strcmp(goal->name, st->at->name) != 0) {
        st->at = NULL;
        lab_kernel_pause_next();
        return;
    }
    memcpy(st->work.block, goal->block, sizeof(goal->block));
    goal->name[0] = '\0';
    st->tab = KERNEL_FOUND;
    if (start_work(s, KERNEL_FINDING))
        lab_ui_error(s->ui);
}

/* A launch waits now, or the step is over, or a move is. */
static bool tick(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    if (st->work.running) {
        bool done = work_done(&st->work);
        if (done)
            work_ended(s);
        return done;
    }
    const struct lab_kernel_pause *now = lab_kernel_pause_now();
    if (now && (st->at != now || st->number != now->number)) {
        st->at = now;
        st->number = now->number;
        st->lane = 0;
        st->top = 0;
        st->finding = 0;
        st->found = 0;
        st->of_thread = false;
        snprintf(st->note, sizeof(st->note), "before its first instruction");
        look(st);
        if (st->of.goal.name[0])
            go_to_goal(s);
        return true;
    }
    if (!now && st->number > 0 && st->at) {
        st->at = NULL;
        return true;
    }
    if (!now && !st->of.running(st->of.user) && st->stays) {
        bool first = !st->over;
        st->over =
            true; /* a key for a kernel is not one for the screen before */
        return first;
    }
    if (!now && !st->of.running(st->of.user)) {
        lab_ui_message(s->ui, LAB_ROLE_NORMAL, "the %s %s", st->of.what,
                       st->number > 0 ? "has run"
                                      : "launched no kernel of ours");
        lab_ui_pop(s->ui);
        return true;
    }
    return false;
}

static void draw(struct lab_screen *s, struct lab_canvas *c,
                 struct lab_rect body)
{
    struct kernel_state *st = s->state;
    if (!st->at && st->over)
        lab_canvas_textf(c, body.y, body.x, body.w, LAB_ROLE_NORMAL,
                         "the %s has run: it has no kernel behind this one; q "
                         "goes back",
                         st->of.what);
    else if (!st->at)
        lab_canvas_textf(c, body.y, body.x, body.w, LAB_ROLE_DIM,
                         "the %s runs; its next kernel stops here ...",
                         st->of.what);
    else if (st->work.running)
        lab_canvas_text(c, body.y, body.x, body.w, LAB_ROLE_WARN,
                        "the block runs ... Esc stops it");
    else
        draw_all(st, c, body);
}

/* Esc and q need not wait for a move. */
static bool waits(struct lab_screen *s, int key)
{
    struct kernel_state *st = s->state;
    return st->work.running && key != LAB_KEY_ESC && key != 'q';
}

/* ---- keys ---- */

static enum lab_status move(struct lab_screen *s, int how)
{
    struct kernel_state *st = s->state;
    st->work.move = (enum lab_sim_move)how;
    return start_work(s, KERNEL_MOVE);
}

static enum lab_status back(struct lab_screen *s)
{
    return start_work(s, KERNEL_BACK);
}

static enum lab_status break_here(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    struct lab_sim_debug *d = st->at->debug;
    if (st->file >= 0 && lab_sim_debug_breaks(d, st->file, st->cursor)) {
        lab_sim_debug_unbreak(d, st->file, st->cursor);
        lab_ui_message(s->ui, LAB_ROLE_NORMAL, "no breakpoint at line %d",
                       st->cursor);
        return LAB_OK;
    }
    enum lab_status failed = lab_sim_debug_break(
        d, st->file >= 0 ? st->at->ptx->files[st->file] : NULL, st->cursor);
    if (!failed)
        lab_ui_message(s->ui, LAB_ROLE_NORMAL,
                       "c stops where a warp comes to line %d", st->cursor);
    return failed;
}

static enum lab_status break_thread(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    uint32_t thread[3];
    lab_sim_debug_thread_of(st->at->debug, kernel_focus(st), st->lane, thread);
    enum lab_status failed = lab_sim_debug_break_thread(st->at->debug, thread);
    if (!failed)
        lab_ui_message(s->ui, LAB_ROLE_NORMAL,
                       "c stops at each line that thread (%u,%u,%u) comes to",
                       thread[0], thread[1], thread[2]);
    return failed;
}

static enum lab_status clear_breaks(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    lab_sim_debug_clear(st->at->debug);
    lab_ui_message(s->ui, LAB_ROLE_NORMAL, "no breakpoints any more");
    return LAB_OK;
}

static enum lab_status to_warp(struct kernel_state *st, int warp)
{
    enum lab_status failed = lab_sim_debug_focus(st->at->debug, warp);
    if (!failed)
        look(st);
    return failed;
}

static enum lab_status next_warp(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    uint32_t block[3];
    int warps;
    int warp;
    lab_sim_debug_where(st->at->debug, block, &warp, &warps);
    return to_warp(st, (warp + 1) % warps);
}

static enum lab_status next_lane(struct lab_screen *s, int by)
{
    struct kernel_state *st = s->state;
    st->lane = (st->lane + by + KERNEL_LANES) % KERNEL_LANES;
    other_thread(st);
    return LAB_OK;
}

static enum lab_status elements(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    st->work.warp = kernel_focus(st);
    st->work.lane = st->lane;
    return start_work(s, KERNEL_ELEMENTS);
}

static enum lab_status ask(struct lab_screen *s, int what)
{
    static const char *const labels[] = {[ASK_THREAD] = "thread x,y,z",
                                         [ASK_BLOCK] = "block x,y,z",
                                         [ASK_ELEMENT] = "which thread writes",
                                         [ASK_ACCESS] =
                                             "stop when this is touched"};
    const struct kernel_state *st = s->state;
    bool element =
        (what == ASK_ELEMENT || what == ASK_ACCESS) && st->of.element[0];
    char label[160];
    snprintf(label, sizeof(label), "%s%s%.60s%s: ", labels[what],
             element ? " (Enter: " : "", element ? st->of.element : "",
             element ? ")" : "");
    lab_ui_prompt(s->ui, what, label, NULL);
    return LAB_OK;
}

static enum lab_status next_kernel(struct lab_screen *s)
{
    struct kernel_state *st = s->state;
    st->at = NULL;
    st->stays = true;
    lab_kernel_pause_next();
    lab_ui_redraw(s->ui);
    return LAB_OK;
}

static enum lab_status show_tab(struct lab_screen *s, int tab)
{
    struct kernel_state *st = s->state;
    st->tab = (enum kernel_tab)tab;
    return LAB_OK;
}

static enum lab_status next_tab(struct lab_screen *s, int by)
{
    struct kernel_state *st = s->state;
    return show_tab(s, ((int)st->tab + by + KERNEL_TABS) % KERNEL_TABS);
}

static enum lab_status find(struct kernel_state *st, const char *text)
{
    return lab_sim_debug_find(st->at->debug, text, &st->work.p,
                              &st->work.bytes);
}

static enum lab_status watch(struct lab_screen *s, const char *text)
{
    struct kernel_state *st = s->state;
    enum lab_status failed = find(st, text);
    if (failed)
        return failed;
    lab_sim_debug_watch(st->at->debug, st->work.p, st->work.bytes);
    return move(s, LAB_SIM_CONTINUE);
}

static enum lab_status take_answer(struct lab_screen *s, int id,
                                   const char *text)
{
    struct kernel_state *st = s->state;
    uint32_t three[3];
    enum lab_status failed = LAB_OK;
    if ((id == ASK_ACCESS || id == ASK_ELEMENT) && !text[0])
        text = st->of.element;
    if (id == ASK_ACCESS)
        return watch(s, text);
    if (id == ASK_ELEMENT) {
        failed = find(st, text);
        return failed ? failed : start_work(s, KERNEL_WRITER);
    }
    failed = lab_kernel_read_three(text, three);
    if (!failed && id == ASK_THREAD)
        failed = lab_sim_debug_thread(st->at->debug, three, &st->lane);
    if (failed || id == ASK_THREAD) {
        look(st);
        return failed;
    }
    memcpy(st->work.block, three, sizeof(three));
    return start_work(s, KERNEL_BLOCK);
}

static void answer(struct lab_screen *s, int id, const char *text)
{
    struct kernel_state *st = s->state;
    if (text && st->at && take_answer(s, id, text))
        lab_ui_error(s->ui);
}

static void next_finding(struct kernel_state *st, int by)
{
    int32_t n;
    int32_t before = 0;
    const struct lab_sim_finding *f = lab_sim_debug_findings(st->at->debug, &n);
    int32_t next =
        st->finding < n ? lab_kernel_same_finding(f, n, st->finding) : n;
    if (by > 0) {
        st->finding = next < n ? next : st->finding;
        return;
    }
    for (int32_t i = 0; i < st->finding; i = lab_kernel_same_finding(f, n, i))
        before = i;
    st->finding = before;
}

static void scroll(struct kernel_state *st, int by)
{
    if (st->tab == KERNEL_FOUND)
        next_finding(st, by);
    else
        st->top += by;
}

static enum lab_status scroll_pane(struct lab_screen *s, int by)
{
    scroll(s->state, by);
    return LAB_OK;
}

/* The next line of the source that has the text, around its end; a new text from
 * the cursor's own line on. */
static bool search_source(struct lab_screen *s, const char *text, int dir)
{
    struct kernel_state *st = s->state;
    char line[1024];
    size_t bytes;
    if (text[0])
        snprintf(st->search, sizeof(st->search), "%s", text);
    if (!st->at || st->file < 0 || !st->search[0])
        return false;
    /* Reads the file, so that its length is known. */
    (void)lab_kernel_source_line(&st->source, st->at->ptx, st->file, 1, &bytes);
    int32_t n = st->source.lines;
    for (int32_t i = text[0] ? 0 : 1; i <= n; i++) {
        int32_t at = (st->cursor - 1 + dir * i + 2 * n) % n + 1;
        const char *found = lab_kernel_source_line(&st->source, st->at->ptx,
                                                   st->file, at, &bytes);
        snprintf(line, sizeof(line), "%.*s", (int)bytes, found);
        if (!strcasestr(line, st->search))
            continue;
        st->cursor = at;
        return true;
    }
    return false;
}

/* "sum  float, in %f29: lane 3 has 0.5; 0 to 4.5 in the warp". */
static enum lab_status print(struct kernel_state *st, const char *word)
{
    const struct lab_sim_variable *x = NULL;
    struct lab_str text;
    struct lab_str lanes;
    lab_str_init(&text);
    lab_str_init(&lanes);
    /* It reads the values again, and reports what is wrong. */
    enum lab_status failed = lab_kernel_print_add(
        &lanes, &st->values, st->at->debug, kernel_focus(st), word);
    for (int i = 0; !failed && i < st->values.count; i++)
        if (strcmp(st->values.all[i].name, word) == 0)
            x = &st->values.all[i];
    if (x) {
        lab_str_addf(&text, "%s = ", word);
        lab_kernel_value_add(&text, st->at->debug, x, st->lane);
        lab_str_addf(&text, " in lane %d; ", st->lane);
        lab_kernel_value_range_add(&text, x);
    } else { /* a register: all lanes */
        for (const char *p = lab_str_text(&lanes); *p; p++)
            lab_str_add_char(&text, *p == '\n' ? ' ' : *p);
    }
    if (!failed)
        snprintf(st->note, sizeof(st->note), "%s", lab_str_text(&text));
    st->tab = KERNEL_VALUES;
    lab_str_release(&text);
    lab_str_release(&lanes);
    return failed;
}

/* The words of the kernel itself, as in --plain. */
static bool line(struct lab_screen *s, const char *text)
{
    struct kernel_state *st = s->state;
    char word[16] = "";
    char name[64] = "";
    char more[2] = "";
    int n = sscanf(text, "%15s %63s %1s", word, name, more);
    bool prints = strcmp(word, "print") == 0 || strcmp(word, "p") == 0;
    if (!st->at || st->work.running || n < 1 || n > 2 ||
        (!prints && (strcmp(word, "registers") != 0 || n > 1)))
        return false;
    if (!prints) {
        st->tab = KERNEL_VALUES;
        st->top = 0;
    } else if (print(st, name))
        lab_ui_error(s->ui);
    return true;
}

static bool action(struct lab_screen *s, int act)
{
    struct kernel_state *st = s->state;
    if (act == LAB_ACT_CANCEL && st->work.running) {
        stop_work(&st->work);
        return true;
    }
    if (!st->at || st->work.running)
        return false;
    if (act == LAB_ACT_OPEN)
        return st->tab == KERNEL_FOUND && go_to_finding(st);
    int64_t to = lab_action_move(act, st->cursor - 1, st->source.lines, 16);
    if (to >= 0)
        st->cursor = (int32_t)to + 1;
    return to >= 0;
}

/* ---- the mouse ---- */

static bool click_thread(struct kernel_state *st, int y, int x)
{
    uint32_t block[3];
    uint32_t thread[3];
    int warp;
    int warps;
    lab_sim_debug_where(st->at->debug, block, &warp, &warps);
    lab_sim_debug_thread_of(st->at->debug, warp, st->lane, thread);
    uint32_t n[3];
    thread_shape(st, n);
    thread[0] = (uint32_t)((x - st->threads.x) * st->per_cell[0]);
    thread[1] = (uint32_t)((y - st->threads.y) * st->per_cell[1]);
    if (n[0] != st->at->block[0]) {
        thread[0] += n[0] * thread[1];
        thread[1] = 0;
    }
    if (!lab_sim_debug_thread(st->at->debug, thread, &st->lane))
        look(st);
    return true;
}

static bool click_block(struct lab_screen *s, int y, int x)
{
    struct kernel_state *st = s->state;
    st->work.block[0] = (uint32_t)((x - st->blocks.x) * st->blocks_per_cell[0]);
    st->work.block[1] = (uint32_t)((y - st->blocks.y) * st->blocks_per_cell[1]);
    st->work.block[2] = 0;
    if (start_work(s, KERNEL_BLOCK))
        lab_ui_error(s->ui);
    return true;
}

static bool click_warp(struct kernel_state *st, int y, int x)
{
    int columns = st->warps.w / st->warp_w > 0 ? st->warps.w / st->warp_w : 1;
    int column = (x - st->warps.x) / st->warp_w;
    return column < columns &&
           to_warp(st, (y - st->warps.y) * columns + column) == LAB_OK;
}

static bool click(struct lab_screen *s, int y, int x)
{
    struct kernel_state *st = s->state;
    for (int i = 0; i < KERNEL_TABS; i++) {
        if (lab_rect_has(st->tabs[i], y, x)) {
            st->tab = (enum kernel_tab)i;
            return true;
        }
    }
    if (lab_rect_has(st->lanes, y, x)) {
        st->lane = x - st->lanes.x;
        other_thread(st);
        return true;
    }
    if (lab_rect_has(st->threads, y, x))
        return click_thread(st, y, x);
    if (lab_rect_has(st->blocks, y, x))
        return click_block(s, y, x);
    if (lab_rect_has(st->lines, y, x)) {
        int32_t line = st->first_line + y - st->lines.y;
        st->cursor = line < st->source.lines ? line : st->source.lines;
        return true;
    }
    if (st->tab == KERNEL_WARPS && lab_rect_has(st->warps, y, x))
        return click_warp(st, y, x);
    return st->tab == KERNEL_FOUND && lab_rect_has(st->pane, y, x) &&
           go_to_finding(st);
}

static bool mouse(struct lab_screen *s, enum lab_mouse what, int y, int x)
{
    enum { LINES = 3 };
    struct kernel_state *st = s->state;
    int by = what == LAB_MOUSE_WHEEL_UP ? -1 : 1;
    if (!st->at || st->work.running)
        return false;
    if (what == LAB_MOUSE_CLICK)
        return click(s, y, x);
    if (!lab_rect_has(st->lines, y, x)) {
        scroll(st, by);
        return true;
    }
    int64_t line = st->cursor + by * LINES;
    line = line < 1 ? 1 : line;
    st->cursor = (int32_t)(line < st->source.lines ? line : st->source.lines);
    return true;
}

static const struct lab_binding bindings[] = {
    {"n F8", true, "line",
     "to the next source line of this warp; in a search the next match",
     LAB_ACT_OWN, NULL, move, LAB_SIM_LINE},
    {"s F7", true, "instr", "the next instruction of this warp", LAB_ACT_OWN,
     NULL, move, LAB_SIM_INSTRUCTION},
    {"b", true, "barrier", "past this warp's next barrier", LAB_ACT_OWN, NULL,
     move, LAB_SIM_BARRIER_NEXT},
    {"f", false, "finish",
     "to the end of the inlined function, or of the kernel for this warp",
     LAB_ACT_OWN, NULL, move, LAB_SIM_FINISH},
    {"c F5", true, "cont", "to a breakpoint, a finding, or the block's end",
     LAB_ACT_OWN, NULL, move, LAB_SIM_CONTINUE},
    {"r Backspace", true, "back", "to the stop before, exactly", LAB_ACT_OWN,
     back},
    {"B F9", true, "break",
     "a breakpoint at the line under the cursor, or none any more", LAB_ACT_OWN,
     break_here},
    {"w", true, "warp", "the next warp of the block", LAB_ACT_OWN, next_warp},
    {"e", true, "element", "go to the thread that writes an element",
     LAB_ACT_OWN, NULL, ask, ASK_ELEMENT},
    {"t", true, "thread", "look at a thread", LAB_ACT_OWN, NULL, ask,
     ASK_THREAD},
    {"K", true, "kernel", "the next kernel", LAB_ACT_OWN, next_kernel},
    {"Tab", true, "pane", "the next pane below the source", LAB_ACT_NEXT_PANE,
     NULL, next_tab, 1},
    {"Shift-Tab", false, "pane before", "the pane before", LAB_ACT_PREV_PANE,
     NULL, next_tab, -1},
    {"1", false, "access", "what the warp touched last, as sectors or banks",
     LAB_ACT_OWN, NULL, show_tab, KERNEL_ACCESS},
    {"2", false, "shared",
     "shared memory: a column a bank, each word as the warp that wrote it",
     LAB_ACT_OWN, NULL, show_tab, KERNEL_SHARED},
    {"3", false, "grid", "grid, block, warp and thread, and FLOP a number",
     LAB_ACT_OWN, NULL, show_tab, KERNEL_PLACE},
    {"4", false, "warps", "where the block's warps are", LAB_ACT_OWN, NULL,
     show_tab, KERNEL_WARPS},
    {"5", false, "findings",
     "what the checks have found here; Enter goes to the line", LAB_ACT_OWN,
     NULL, show_tab, KERNEL_FOUND},
    {"6", false, "output", "the output: each element as who wrote it",
     LAB_ACT_OWN, NULL, show_tab, KERNEL_OUTPUT},
    {"7", false, "values",
     "variables of the source, and registers; :print sum, :registers",
     LAB_ACT_OWN, NULL, show_tab, KERNEL_VALUES},
    {"[", false, "up", "the pane: up by a row", LAB_ACT_OWN, NULL, scroll_pane,
     -1},
    {"]", false, "down", "the pane: down by a row", LAB_ACT_OWN, NULL,
     scroll_pane, 1},
    {"a", false, "access to", "go on until an element is touched", LAB_ACT_OWN,
     NULL, ask, ASK_ACCESS},
    {"E", false, "elements", "what this thread reads and writes in all",
     LAB_ACT_OWN, elements},
    {"T", false, "follow", "stop at each line that this thread comes to",
     LAB_ACT_OWN, break_thread},
    {"o", false, "block", "go to the beginning of another block", LAB_ACT_OWN,
     NULL, ask, ASK_BLOCK},
    {"Left h", false, "lane", "the lane before", LAB_ACT_LEFT, NULL, next_lane,
     -1},
    {"Right l", false, "lane", "the next lane", LAB_ACT_RIGHT, NULL, next_lane,
     1},
    {"D", false, "clear", "no breakpoints any more", LAB_ACT_OWN, clear_breaks},
    {NULL}};

static void title_now(struct lab_screen *s, char *out, size_t cap)
{
    const struct kernel_state *st = s->state;
    char launch[32];
    lab_sim_launch_text(st->at ? st->at->launch : 0, launch, sizeof(launch));
    snprintf(out, cap, "Kernel%s%s%s", st->at ? " " : "",
             st->at ? st->at->name : "", launch);
}

static const struct lab_sign drawn_with[] = {
    {"#", "a lane that runs, a word of a sector that is used, this warp"},
    {"-", "a lane that waits"},
    {".", "a lane that has ended; a word that is not used, or not written"},
    {"0-9 a-v", "a warp of the block: the thread's, or the writer's"},
    {"@", "the thread in focus"},
    {"!", "more sectors or passes than the bytes need"},
    {"*", "a breakpoint"},
    {NULL, NULL}};

const struct lab_screen_ops lab_view_kernel = {
    .name = "kernel",
    .title = "Kernel",
    .state_bytes = sizeof(struct kernel_state),
    .bindings = bindings,
    .sideways = true,
    .init = init,
    .release = release,
    .draw = draw,
    .action = action,
    .ready = ready,
    .tick = tick,
    .waits = waits,
    .answer = answer,
    .line = line,
    .mouse = mouse,
    .search = search_source,
    .place = "source",
    .title_now = title_now,
    .signs = drawn_with,
};
