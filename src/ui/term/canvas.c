/* canvas.c -- a grid of character cells that views draw on: rectangles, text in
 * a row, headings and paragraphs. */
#include "ui/canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/glyph.h"

/* ---- rectangles ---- */

static int at_most(int n, int most)
{
    return n < 0 ? 0 : n > most ? most : n;
}

struct lab_rect lab_rect_cut_top(struct lab_rect *r, int n)
{
    n = at_most(n, r->h);
    struct lab_rect cut = {r->y, r->x, n, r->w};
    r->y += n;
    r->h -= n;
    return cut;
}

struct lab_rect lab_rect_cut_bottom(struct lab_rect *r, int n)
{
    n = at_most(n, r->h);
    r->h -= n;
    return (struct lab_rect){r->y + r->h, r->x, n, r->w};
}

struct lab_rect lab_rect_cut_left(struct lab_rect *r, int n)
{
    n = at_most(n, r->w);
    struct lab_rect cut = {r->y, r->x, r->h, n};
    r->x += n;
    r->w -= n;
    return cut;
}

struct lab_rect lab_rect_cut_right(struct lab_rect *r, int n)
{
    n = at_most(n, r->w);
    r->w -= n;
    return (struct lab_rect){r->y, r->x + r->w, r->h, n};
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

/* ---- cells ---- */

enum lab_status lab_canvas_init(struct lab_canvas *c, int h, int w, bool ascii)
{
    if (h < 0 || w < 0)
        return lab_fail(LAB_E_ARG, "canvas: %d by %d cells", w, h);
    size_t count;
    if (!lab_mul_size((size_t)h, (size_t)w, &count))
        return lab_fail(LAB_E_ARG, "canvas: %d by %d cells", w, h);
    struct lab_cell *cells = lab_alloc_array(count, sizeof(*cells));
    if (!cells)
        return lab_fail(LAB_E_NOMEM, "a screen of %d by %d cells", w, h);
    *c = (struct lab_canvas){.h = h, .w = w, .cells = cells, .ascii = ascii};
    lab_canvas_clear(c);
    return LAB_OK;
}

static void drop_images(struct lab_canvas *c)
{
    for (int i = 0; i < c->n_images; i++)
        lab_free(c->images[i].px);
    c->n_images = 0;
}

void lab_canvas_release(struct lab_canvas *c)
{
    drop_images(c);
    lab_free(c->cells);
    *c = (struct lab_canvas){0};
}

void lab_canvas_clear(struct lab_canvas *c)
{
    drop_images(c);
    c->clip = (struct lab_rect){0, 0, c->h, c->w};
    c->cursor_y = -1;
    c->cursor_x = -1;
    c->cursor_shown = false;
    lab_canvas_fill(c, c->clip, " ", LAB_ROLE_NORMAL);
}

static struct lab_rect intersect(struct lab_rect a, struct lab_rect b)
{
    int y0 = a.y > b.y ? a.y : b.y;
    int x0 = a.x > b.x ? a.x : b.x;
    int y1 = a.y + a.h < b.y + b.h ? a.y + a.h : b.y + b.h;
    int x1 = a.x + a.w < b.x + b.w ? a.x + a.w : b.x + b.w;
    return (struct lab_rect){y0, x0, y1 > y0 ? y1 - y0 : 0,
                             x1 > x0 ? x1 - x0 : 0};
}

struct lab_rect lab_canvas_clip(struct lab_canvas *c, struct lab_rect r)
{
    struct lab_rect old = c->clip;
    c->clip = intersect(old, r);
    return old;
}

void lab_canvas_unclip(struct lab_canvas *c, struct lab_rect old)
{
    c->clip = old;
}

static bool inside(const struct lab_canvas *c, int y, int x)
{
    return lab_rect_has(c->clip, y, x);
}

static struct lab_cell *cell_at(struct lab_canvas *c, int y, int x)
{
    return &c->cells[(size_t)y * (size_t)c->w + (size_t)x];
}

static void set_cell(struct lab_cell *cell, const char *bytes, size_t len,
                     enum lab_role role)
{
    memset(cell->text, 0, sizeof(cell->text));
    memcpy(cell->text, bytes, len);
    cell->role = (unsigned char)role;
    cell->ink = LAB_TINT_NONE;
    cell->image = 0;
}

/* Half of a wide character must not survive the other half. */
static void break_wide(struct lab_canvas *c, int y, int x)
{
    struct lab_cell *cell = cell_at(c, y, x);
    if (cell->text[0] == '\0' && x > 0)
        set_cell(cell - 1, " ", 1, (enum lab_role)cell[-1].role);
    if (x + 1 < c->w && cell[1].text[0] == '\0')
        set_cell(cell + 1, " ", 1, (enum lab_role)cell[1].role);
}

static void put(struct lab_canvas *c, int y, int x, const char *bytes,
                size_t len, int columns, enum lab_role role)
{
    if (!inside(c, y, x))
        return;
    if (columns == 2 && !inside(c, y, x + 1)) {
        bytes = " "; /* the right half would be cut: show neither */
        len = 1;
        columns = 1;
    }
    break_wide(c, y, x);
    if (columns == 2) {
        break_wide(c, y, x + 1);
        set_cell(cell_at(c, y, x + 1), "", 0, role);
    }
    set_cell(cell_at(c, y, x), bytes, len, role);
}

/* A mark goes onto the character before it when the cell has room. */
static void combine(struct lab_canvas *c, int y, int x, const char *bytes,
                    size_t len)
{
    if (!inside(c, y, x))
        return;
    struct lab_cell *cell = cell_at(c, y, x);
    size_t have = strlen(cell->text);
    if (have > 0 && have + len < sizeof(cell->text))
        memcpy(cell->text + have, bytes, len);
}

/* Plain ASCII, one column a byte; returns the columns written. */
static int put_ascii(struct lab_canvas *c, int y, int x, int room,
                     enum lab_role role, const char *text)
{
    int used = 0;
    for (; *text && used < room; text++, used++)
        put(c, y, x + used, text, 1, 1, role);
    return used;
}

static int write_in(struct lab_canvas *c, int y, int x, int room,
                    enum lab_role role, const char *utf8)
{
    int used = 0;
    size_t n = strlen(utf8);
    for (size_t i = 0; i < n && used < room;) {
        unsigned code = 0;
        size_t len = lab_utf8_next(utf8 + i, n - i, &code);
        const char *bytes = utf8 + i;
        int columns = len ? lab_utf8_columns(code) : -1;
        i += len ? len : 1;
        if (columns < 0) {
            used += put_ascii(c, y, x + used, room - used, role, "?");
        } else if (c->ascii && code >= 0x80) {
            const char *text = lab_glyph_ascii(code);
            used +=
                put_ascii(c, y, x + used, room - used, role, text ? text : "?");
        } else if (columns == 0) {
            if (used > 0)
                combine(c, y, x + used - 1, bytes, len);
        } else if (columns > room - used) {
            break;
        } else {
            put(c, y, x + used, bytes, len, columns, role);
            used += columns;
        }
    }
    return used;
}

int lab_canvas_text_cut(struct lab_canvas *c, int y, int x, int w,
                        enum lab_role role, const char *utf8)
{
    int used = write_in(c, y, x, w, role, utf8);
    if (utf8[0] && lab_canvas_columns(c, utf8) > w)
        put(c, y, x + w - 1, c->ascii ? "~" : "…", strlen(c->ascii ? "~" : "…"),
            1, role);
    return used;
}

int lab_canvas_text(struct lab_canvas *c, int y, int x, int w,
                    enum lab_role role, const char *utf8)
{
    int end = c->clip.x + c->clip.w;
    if (w >= 0)
        return write_in(c, y, x, w, role, utf8);
    if (x > end) /* more of a line that was cut before */
        x = end;
    return lab_canvas_text_cut(c, y, x, end - x, role, utf8);
}

int lab_canvas_textf(struct lab_canvas *c, int y, int x, int w,
                     enum lab_role role, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return lab_canvas_text(c, y, x, w, role, text);
}

void lab_canvas_fill(struct lab_canvas *c, struct lab_rect r, const char *cell,
                     enum lab_role role)
{
    char one[16];
    size_t len = strlen(cell);
    if (c->ascii) {
        lab_text_to_ascii(cell, one, sizeof(one));
        cell = one[0] ? one : " ";
        len = 1;
    }
    if (len == 0 || len > 4) {
        cell = " ";
        len = 1;
    }
    r = intersect(r, c->clip);
    for (int y = r.y; y < r.y + r.h; y++) {
        if (r.w > 0) {
            break_wide(c, y, r.x);
            break_wide(c, y, r.x + r.w - 1);
        }
        for (int x = r.x; x < r.x + r.w; x++) {
            set_cell(cell_at(c, y, x), cell, len, role);
            cell_at(c, y, x)->paper = LAB_TINT_NONE;
        }
    }
}

void lab_canvas_paint(struct lab_canvas *c, struct lab_rect r,
                      enum lab_role role)
{
    r = intersect(r, c->clip);
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++)
            cell_at(c, y, x)->role = (unsigned char)role;
}

void lab_canvas_paper(struct lab_canvas *c, struct lab_rect r,
                      enum lab_tint paper)
{
    r = intersect(r, c->clip);
    for (int y = r.y; y < r.y + r.h && c->tints; y++)
        for (int x = r.x; x < r.x + r.w; x++)
            cell_at(c, y, x)->paper = (unsigned char)paper;
}

void lab_canvas_ink(struct lab_canvas *c, struct lab_rect r, enum lab_tint ink)
{
    r = intersect(r, c->clip);
    for (int y = r.y; y < r.y + r.h && c->tints; y++)
        for (int x = r.x; x < r.x + r.w; x++)
            cell_at(c, y, x)->ink = (unsigned char)ink;
}

void lab_canvas_pixels(struct lab_canvas *c, int y, int x, enum lab_tint top,
                       enum lab_tint bottom)
{
    if (!c->tints || !inside(c, y, x) || (!top && !bottom))
        return;
    bool half = top != bottom;
    const char *text = !half ? " " : top ? "▀" : "▄";
    put(c, y, x, text, strlen(text), 1, LAB_ROLE_NORMAL);
    struct lab_cell *cell = cell_at(c, y, x);
    cell->ink = (unsigned char)(!half ? LAB_TINT_NONE : top ? top : bottom);
    cell->paper = (unsigned char)(top ? bottom : LAB_TINT_NONE);
}

/* ---- images ---- */

_Static_assert(LAB_PIXEL_OF_ROLE + LAB_ROLE_COUNT <= 256, "a pixel is a byte");

unsigned char *lab_canvas_image(struct lab_canvas *c, struct lab_rect cells)
{
    size_t h = (size_t)(cells.h * c->px_h);
    size_t w = (size_t)(cells.w * c->px_w);
    if (c->px_h < 1 || c->px_w < 1 || !c->tints || lab_rect_empty(cells) ||
        !lab_rect_inside(cells, c->clip) || c->n_images == LAB_CANVAS_IMAGES)
        return NULL;
    struct lab_pixels *image = &c->images[c->n_images];
    *image = (struct lab_pixels){cells, lab_alloc_array(h, w)};
    if (!image->px)
        return NULL;
    c->n_images++;
    for (int y = cells.y; y < cells.y + cells.h; y++)
        for (int x = cells.x; x < cells.x + cells.w; x++)
            cell_at(c, y, x)->image = (unsigned char)c->n_images;
    return image->px;
}

unsigned char *lab_canvas_image_pixels(const struct lab_canvas *c, int image)
{
    const struct lab_pixels *m = &c->images[image - 1];
    size_t row = (size_t)(m->at.w * c->px_w);
    unsigned char *out = lab_alloc_array((size_t)(m->at.h * c->px_h), row);
    for (int y = 0; out && y < m->at.h; y++) {
        const struct lab_cell *cells =
            c->cells + (size_t)(m->at.y + y) * (size_t)c->w + m->at.x;
        for (int x = 0, n; x < m->at.w; x += n) {
            bool covered = cells[x].image == image;
            for (n = 1;
                 x + n < m->at.w && (cells[x + n].image == image) == covered;)
                n++;
            for (int i = 0; covered && i < c->px_h; i++) {
                size_t at =
                    (size_t)(y * c->px_h + i) * row + (size_t)(x * c->px_w);
                memcpy(out + at, m->px + at, (size_t)(n * c->px_w));
            }
        }
    }
    return out;
}

void lab_canvas_pixel_colors(const struct lab_palette *p, int out[256])
{
    const int text = p->theme == LAB_THEME_LIGHT ? 0x1c1e21 : 0xd5d9e0;
    const int weak = 0x80858d;
    for (int i = 0; i < 256; i++) {
        int role = i - LAB_PIXEL_OF_ROLE;
        out[i] = -1;
        if (i < LAB_TINT_COUNT && p->tints)
            out[i] = i == LAB_TINT_NONE ? -1 : p->tint[i];
        else if (role >= 0 && role < LAB_ROLE_COUNT)
            out[i] = p->styles[role].fg >= 0               ? p->styles[role].fg
                     : p->styles[role].attr & LAB_ATTR_DIM ? weak
                                                           : text;
    }
}

struct lab_rect lab_canvas_box(struct lab_canvas *c, struct lab_rect r,
                               const char *title)
{
    const enum lab_role role = LAB_ROLE_HEADING;
    int bottom = r.y + r.h - 1;
    int right = r.x + r.w - 1;
    if (r.h < 2 || r.w < 2)
        return (struct lab_rect){r.y, r.x, 0, 0};
    lab_canvas_fill(c, r, "║", role);
    lab_canvas_fill(c, (struct lab_rect){r.y, r.x, 1, r.w}, "═", role);
    lab_canvas_fill(c, (struct lab_rect){bottom, r.x, 1, r.w}, "═", role);
    lab_canvas_text(c, r.y, r.x, 1, role, "╔");
    lab_canvas_text(c, r.y, right, 1, role, "╗");
    lab_canvas_text(c, bottom, r.x, 1, role, "╚");
    lab_canvas_text(c, bottom, right, 1, role, "╝");
    if (r.w > 6) {
        lab_canvas_text(c, r.y, r.x + 2, 1, role, " ");
        int used =
            lab_canvas_text(c, r.y, r.x + 3, r.w - 6, LAB_ROLE_TITLE, title);
        lab_canvas_text(c, r.y, r.x + 3 + used, 1, role, " ");
    }
    r = (struct lab_rect){r.y + 1, r.x + 1, r.h - 2, r.w - 2};
    lab_canvas_fill(c, r, " ", LAB_ROLE_NORMAL);
    return r;
}

int lab_text_columns(const char *utf8, size_t n, bool ascii)
{
    int columns = 0;
    for (size_t i = 0; i < n;) {
        unsigned code = 0;
        size_t len = lab_utf8_next(utf8 + i, n - i, &code);
        int one = len ? lab_utf8_columns(code) : -1;
        if (ascii && one >= 0 && code >= 0x80) {
            const char *text = lab_glyph_ascii(code);
            one = text ? (int)strlen(text) : 1;
        }
        columns += one < 0 ? 1 : one;
        i += len ? len : 1;
    }
    return columns;
}

int lab_canvas_columns(const struct lab_canvas *c, const char *utf8)
{
    return lab_text_columns(utf8, strlen(utf8), c->ascii);
}

/* ---- rows, headings, paragraphs ---- */

int lab_canvas_add(struct lab_canvas *c, struct lab_rect *row,
                   enum lab_role role, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    struct lab_rect old = lab_canvas_clip(c, *row);
    int used = lab_canvas_text(c, row->y, row->x, -1, role, text);
    lab_canvas_unclip(c, old);
    lab_rect_cut_left(row, used);
    return used;
}

void lab_canvas_rule(struct lab_canvas *c, struct lab_rect line, bool focused)
{
    if (c->tints) {
        lab_canvas_fill(c, line, " ", LAB_ROLE_NORMAL);
        lab_canvas_paper(c, line, focused ? LAB_TINT_FOCUS : LAB_TINT_PANEL);
        lab_canvas_text(c, line.y, line.x, 1, LAB_ROLE_TITLE,
                        focused ? ">" : " ");
    } else {
        lab_canvas_fill(c, line, focused ? "═" : "─",
                        focused ? LAB_ROLE_HEADING : LAB_ROLE_BORDER);
    }
}

void lab_canvas_heading(struct lab_canvas *c, struct lab_rect *r,
                        const char *title, bool focused)
{
    struct lab_rect line = lab_rect_cut_top(r, 1);
    if (lab_rect_empty(line))
        return;
    lab_canvas_rule(c, line, focused);
    if (line.w > 6)
        lab_canvas_textf(c, line.y, line.x + 2, line.w - 4,
                         focused ? LAB_ROLE_TITLE : LAB_ROLE_HEADING, " %s ",
                         title);
}

size_t lab_wrap_row(const char *text, size_t n, int columns, int keep,
                    bool ascii)
{
    size_t blank = 0;
    int used = 0;
    for (size_t i = 0; i < n;) {
        unsigned code;
        size_t len = lab_utf8_next(text + i, n - i, &code);
        len = len ? len : 1;
        used += lab_text_columns(text + i, len, ascii);
        if (text[i] == ' ' && used > keep)
            blank = i + 1;
        if (used > columns && text[i] != ' ')
            return blank ? blank : i ? i : len;
        i += len;
    }
    return n;
}

/* Bytes of the next row that are shown; *text goes on behind it. */
static size_t take_row(const struct lab_canvas *c, const char **text, int w)
{
    size_t line = strcspn(*text, "\n");
    size_t n = lab_wrap_row(*text, line, w, 0, c->ascii);
    bool blank = n < line && n > 0 && (*text)[n - 1] == ' ';
    *text += n;
    if (**text == '\n' || (**text == ' ' && !blank))
        ++*text;
    return n - blank;
}

int lab_canvas_paragraph_rows(const struct lab_canvas *c, int w, int most,
                              const char *utf8)
{
    int rows = 0;
    for (; *utf8 && rows < most && w > 0; rows++)
        take_row(c, &utf8, w);
    return rows;
}

int lab_canvas_paragraph(struct lab_canvas *c, struct lab_rect r,
                         enum lab_role role, const char *utf8)
{
    int rows = 0;
    for (; *utf8 && rows < r.h && r.w > 0; rows++) {
        char piece[1024];
        const char *row = utf8;
        size_t n = take_row(c, &utf8, r.w);
        bool last = rows + 1 == r.h;
        if (last && row[n] && row[n] != '\n') /* a mark shows that it is cut */
            n = strcspn(row, "\n");
        snprintf(piece, sizeof(piece), "%.*s", (int)n, row);
        if (last)
            lab_canvas_text_cut(c, r.y + rows, r.x, r.w, role, piece);
        else
            lab_canvas_text(c, r.y + rows, r.x, r.w, role, piece);
    }
    return rows;
}

/* ---- the cursor, and the whole as text ---- */

void lab_canvas_cursor(struct lab_canvas *c, int y, int x)
{
    if (!inside(c, y, x))
        return;
    c->cursor_y = y;
    c->cursor_x = x;
    c->cursor_shown = true;
}

void lab_canvas_focus(struct lab_canvas *c, int y, int x)
{
    if (c->cursor_shown || !inside(c, y, x))
        return;
    c->cursor_y = y;
    c->cursor_x = x;
}

/* A role in a terminal's own 8 colours. */
static void add_style(struct lab_str *out, enum lab_role role)
{
    struct lab_style style =
        lab_palette_style(LAB_THEME_TERMINAL, LAB_DEPTH_8, role);
    lab_str_add(out, "\033[0");
    if (style.attr & LAB_ATTR_BOLD)
        lab_str_add(out, ";1");
    if (style.attr & LAB_ATTR_DIM)
        lab_str_add(out, ";2");
    if (style.fg >= 0 && style.fg < 8)
        lab_str_addf(out, ";%d", 30 + style.fg);
    lab_str_add_char(out, 'm');
}

char *lab_canvas_dump_colored(const struct lab_canvas *c)
{
    struct lab_str s;
    lab_str_init(&s);
    for (int y = 0; y < c->h; y++) {
        const struct lab_cell *row = &c->cells[(size_t)y * (size_t)c->w];
        int role = LAB_ROLE_NORMAL;
        int end = c->w;
        while (end > 0 && strcmp(row[end - 1].text, " ") == 0)
            end--;
        for (int x = 0; x < end; x++) {
            if (row[x].role != role && strcmp(row[x].text, " ") != 0) {
                role = row[x].role;
                add_style(&s, (enum lab_role)role);
            }
            lab_str_add(&s, row[x].text);
        }
        lab_str_add(&s, role == LAB_ROLE_NORMAL ? "\n" : "\033[0m\n");
    }
    return lab_str_detach(&s);
}

char *lab_canvas_dump(const struct lab_canvas *c)
{
    struct lab_str s;
    lab_str_init(&s);
    for (int y = 0; y < c->h; y++) {
        const struct lab_cell *row = &c->cells[(size_t)y * (size_t)c->w];
        int end = c->w;
        while (end > 0 && strcmp(row[end - 1].text, " ") == 0)
            end--;
        for (int x = 0; x < end; x++)
            lab_str_add(&s, row[x].text);
        lab_str_add_char(&s, '\n');
    }
    return lab_str_detach(&s);
}
