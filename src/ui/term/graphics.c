/* graphics.c -- pixels as sixels, as kitty's graphics protocol has them and as PNG,
 * and the answers of a terminal that was asked for the first two. The colours of a
 * picture are few and known, so that nothing has to be quantized. */
#include "term/graphics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"

static const char *const NAMES[] = {"auto", "none", "sixel", "kitty"};
enum { N_NAMES = sizeof(NAMES) / sizeof(NAMES[0]), COLORS = 256, BAND = 6 };

bool lab_graphics_find(const char *name, enum lab_graphics *out)
{
    for (int i = 0; i < N_NAMES; i++) {
        if (strcmp(NAMES[i], name) != 0)
            continue;
        *out = (enum lab_graphics)i;
        return true;
    }
    return false;
}

/* ---- sixel: bands of six rows, colour by colour ---- */

static void add_runs(struct lab_str *out, const unsigned char *bits, int w)
{
    while (w > 0 && !bits[w - 1])
        w--;
    for (int x = 0, n; x < w; x += n) {
        char c = (char)('?' + bits[x]);
        for (n = 1; x + n < w && bits[x + n] == bits[x];)
            n++;
        if (n > 3)
            lab_str_addf(out, "!%d%c", n, c);
        else
            lab_str_add_bytes(out, (char[]){c, c, c}, (size_t)n);
    }
}

/* The colours of rows y to y+5, of which `bits` has w for each. */
static void add_band(struct lab_str *out, const struct lab_bitmap *b, int y,
                     unsigned char *bits)
{
    bool used[COLORS] = {false};
    bool first = true;
    size_t w = (size_t)b->w;
    for (int i = 0; i < BAND && y + i < b->h; i++) {
        const unsigned char *row = b->px + (size_t)(y + i) * w;
        for (size_t x = 0; x < w; x++) {
            if (!used[row[x]]) /* few are: most of `bits` is never touched */
                memset(bits + row[x] * w, 0, w);
            used[row[x]] = true;
            bits[row[x] * w + x] |= (unsigned char)(1u << i);
        }
    }
    for (int k = 0; k < COLORS; k++) {
        if (!used[k] || b->color[k] < 0)
            continue;
        lab_str_addf(out, first ? "#%d" : "$#%d", k);
        add_runs(out, bits + (size_t)k * w, b->w);
        first = false;
    }
}

void lab_sixel_add(struct lab_str *out, const struct lab_bitmap *b)
{
    bool used[COLORS] = {false};
    unsigned char *bits = lab_alloc_array((size_t)b->w, COLORS);
    if (!bits) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < (size_t)b->h * (size_t)b->w; i++)
        used[b->px[i]] = true;
    /* 1: pixels that are not set stay; then the shape of a pixel and the size. */
    lab_str_addf(out, "\033P0;1;0q\"1;1;%d;%d", b->w, b->h);
    for (int k = 0; k < COLORS; k++) {
        int rgb = b->color[k];
        if (used[k] && rgb >= 0)
            lab_str_addf(out, "#%d;2;%d;%d;%d", k,
                         ((rgb >> 16 & 0xFF) * 100 + 127) / 255,
                         ((rgb >> 8 & 0xFF) * 100 + 127) / 255,
                         ((rgb & 0xFF) * 100 + 127) / 255);
    }
    for (int y = 0; y < b->h; y += BAND) {
        add_band(out, b, y, bits);
        lab_str_add(out, y + BAND < b->h ? "-" : "");
    }
    lab_str_add(out, "\033\\");
    lab_free(bits);
}

/* ---- PNG ---- */

static void add_u32(struct lab_str *out, unsigned long v)
{
    const char bytes[4] = {(char)(v >> 24 & 0xFF), (char)(v >> 16 & 0xFF),
                           (char)(v >> 8 & 0xFF), (char)(v & 0xFF)};
    lab_str_add_bytes(out, bytes, sizeof(bytes));
}

static void add_chunk(struct lab_str *out, const char *type,
                      const unsigned char *bytes, size_t n)
{
    uLong sum = crc32(0, (const Bytef *)type, 4);
    if (n > 0)
        sum = crc32(sum, bytes, (uInt)n);
    add_u32(out, (unsigned long)n);
    lab_str_add_bytes(out, type, 4);
    lab_str_add_bytes(out, (const char *)bytes, n);
    add_u32(out, sum);
}

/* h rows of `row` bytes each, of w pixels of 8 bits in the kind of colour that PNG
 * calls `type`; `color`: the palette of type 3, else NULL. */
static void add_png(struct lab_str *out, const unsigned char *px, int h, int w,
                    size_t row, char type, const int *color)
{
    const char kind[5] = {8, type, 0, 0, 0};
    struct lab_str head;
    unsigned char *rows = lab_alloc_array((size_t)h, row + 1);
    uLongf size = compressBound((uLong)((size_t)h * (row + 1)));
    unsigned char *packed = lab_alloc(size);
    lab_str_init(&head);
    add_u32(&head, (unsigned long)w);
    add_u32(&head, (unsigned long)h);
    lab_str_add_bytes(&head, kind, sizeof(kind));
    for (int y = 0; rows && y < h;
         y++) /* each with filter 0, none, before it */
        memcpy(rows + (size_t)y * (row + 1) + 1, px + (size_t)y * row, row);
    if (!rows || !packed || head.failed ||
        compress2(packed, &size, rows, (uLong)((size_t)h * (row + 1)),
                  Z_BEST_SPEED) != Z_OK) {
        out->failed = true;
    } else {
        lab_str_add_bytes(out, "\x89PNG\r\n\x1a\n", 8);
        add_chunk(out, "IHDR", (const unsigned char *)head.data, head.len);
        if (color) {
            unsigned char rgb[COLORS * 3];
            unsigned char alpha[COLORS];
            for (int k = 0; k < COLORS; k++) {
                alpha[k] = color[k] < 0 ? 0 : 255;
                for (int i = 0; i < 3; i++)
                    rgb[3 * k + i] =
                        (unsigned char)(alpha[k]
                                            ? color[k] >> (16 - 8 * i) & 255
                                            : 0);
            }
            add_chunk(out, "PLTE", rgb, sizeof(rgb));
            add_chunk(out, "tRNS", alpha, sizeof(alpha));
        }
        add_chunk(out, "IDAT", packed, size);
        add_chunk(out, "IEND", NULL, 0);
    }
    lab_str_release(&head);
    lab_free(rows);
    lab_free(packed);
}

void lab_png_add(struct lab_str *out, const unsigned char *rgb, int h, int w)
{
    add_png(out, rgb, h, w, (size_t)w * 3, 2, NULL);
}

/* ---- kitty: a PNG with a palette, in pieces of base64 ---- */

static void add_base64(struct lab_str *out, const unsigned char *bytes,
                       size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        unsigned v = (unsigned)bytes[i] << 16 |
                     (i + 1 < n ? (unsigned)bytes[i + 1] << 8 : 0) |
                     (i + 2 < n ? bytes[i + 2] : 0);
        char four[4] = {digits[v >> 18], digits[v >> 12 & 63],
                        i + 1 < n ? digits[v >> 6 & 63] : '=',
                        i + 2 < n ? digits[v & 63] : '='};
        lab_str_add_bytes(out, four, sizeof(four));
    }
}

void lab_kitty_add(struct lab_str *out, const struct lab_bitmap *b, unsigned id,
                   int rows, int cols)
{
    enum { PIECE = 4096 / 4 * 3 }; /* bytes of what is sent at once */
    struct lab_str png;
    lab_str_init(&png);
    add_png(&png, b->px, b->h, b->w, (size_t)b->w, 3, b->color);
    out->failed |= png.failed;
    for (size_t at = 0; !png.failed && at < png.len; at += PIECE) {
        size_t n = png.len - at < PIECE ? png.len - at : PIECE;
        lab_str_add(out, "\033_G");
        if (at == 0)
            lab_str_addf(out, "a=T,q=2,C=1,i=%u,p=1,f=100,c=%d,r=%d,", id, cols,
                         rows);
        lab_str_addf(out, "m=%d;", at + n < png.len);
        add_base64(out, (const unsigned char *)png.data + at, n);
        lab_str_add(out, "\033\\");
    }
    lab_str_release(&png);
}

void lab_kitty_remove(struct lab_str *out, unsigned id)
{
    lab_str_addf(out, "\033_Ga=d,d=I,q=2,i=%u\033\\", id);
}

/* ---- questions and answers ---- */

static const char ask_cell[] = "\033[16t" LAB_GRAPHICS_ASK;
static const char ask_all[] =
    "\033_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\033\\\033[>0q"
    "\033[16t" LAB_GRAPHICS_ASK;

const char *lab_graphics_ask_more(struct lab_graphics_answer *a)
{
    a->named = a->level >= 62;
    return a->level >= 62 ? ask_all : a->sixel ? ask_cell : NULL;
}

bool lab_graphics_keeps(enum lab_graphics how,
                        const struct lab_graphics_answer *a, int images)
{
    return how != LAB_GRAPHICS_SIXEL || !a->few || images <= LAB_GRAPHICS_FEW;
}

/* "rgb:1e1e/1e/2" of one to four digits a color, or "rgba:" with one more. */
static void hear_paper(struct lab_graphics_answer *a, const char *text)
{
    int rgb = 0;
    const char *at = strchr(text, ':');
    if (strncmp(text, "rgb", 3) != 0 || !at)
        return;
    for (int i = 0; i < 3; i++) {
        char *end;
        unsigned long v = strtoul(at + 1, &end, 16);
        long digits = end - at - 1;
        if (digits < 1 || digits > 4 || (i < 2 && *end != '/'))
            return;
        rgb = rgb << 8 | (int)(v * 255 / ((1ul << 4 * digits) - 1));
        at = end;
    }
    a->paper = rgb;
    a->has_paper = true;
}

/* "62;4;22" between "\033[?" and "c". */
static void hear_attributes(struct lab_graphics_answer *a, const char *text)
{
    char *end;
    a->attributes = true;
    a->named = false; /* that has come before, or does not */
    a->level = (int)strtol(text, &end, 10);
    while (*end == ';')
        a->sixel |= strtol(end + 1, &end, 10) == 4;
}

int lab_graphics_hear(struct lab_graphics_answer *a, const char *bytes,
                      size_t n)
{
    static const char *const starts[] = {"\033[?", "\033[6;", "\033_G",
                                         "\033]11;", "\033P>|"};
    enum { ATTRIBUTES, CELL, KITTY, PAPER, NAME, KINDS, TEXT = 128 };
    char text[TEXT];
    int kind = KINDS;
    bool begun = false;
    for (int i = 0; i < KINDS && kind == KINDS; i++) {
        size_t len = strlen(starts[i]);
        size_t same = n < len ? n : len;
        if (memcmp(bytes, starts[i], same) != 0 || (i == NAME && !a->named))
            continue;
        begun = begun || n < len;
        kind = n < len ? KINDS : i;
    }
    if (kind == KINDS)
        return begun && n > 0 ? -1 : 0;
    size_t from = strlen(starts[kind]);
    size_t to = from;
    bool string = kind == KITTY || kind == PAPER || kind == NAME;
    if (string)
        while (to < n && bytes[to] != '\033' && bytes[to] != '\a')
            to++;
    else /* parameters and what may follow them */
        while (to < n && bytes[to] >= ' ' && bytes[to] <= '?')
            to++;
    if (to == n || (string && bytes[to] == '\033' && to + 1 == n))
        return -1;
    size_t len = to - from < TEXT ? to - from : TEXT - 1;
    memcpy(text, bytes + from, len);
    text[len] = '\0';
    if (kind == KITTY)
        a->kitty |= strncmp(text, "i=31", 4) == 0 && strstr(text, ";OK");
    else if (kind == PAPER)
        hear_paper(a, text);
    else if (kind == NAME)
        a->few = strncmp(text, "XTerm", 5) == 0;
    if (string)
        return (int)to + (bytes[to] == '\a' ? 1 : 2);
    if (bytes[to] < '@' || bytes[to] > '~' ||
        (kind == CELL && bytes[to] != 't'))
        return 0;
    if (kind == ATTRIBUTES && bytes[to] == 'c')
        hear_attributes(a, text);
    else if (kind == CELL && sscanf(text, "%d;%d", &a->cell_h, &a->cell_w) != 2)
        a->cell_h = a->cell_w = 0;
    return (int)to + 1;
}
