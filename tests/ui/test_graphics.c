/* Pictures in pixels: sixels, kitty's protocol and PNG are decoded here and compared
 * with what went in; answers of terminals; images over a canvas. */
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <zlib.h>

#include "test.h"

#include "base/mem.h"
#include "term/graphics.h"
#include "term/painter.h"
#include "ui/canvas.h"
#include "ui/heat.h"
#include "ui/picture.h"

enum { H = 14, W = 37 }; /* no multiple of a band */

static int colors[256];
static unsigned char pixels[H * W];

/* Runs, single pixels, and holes: value 0 is not drawn. */
static struct lab_bitmap sample(void)
{
    unsigned seed = 7;
    for (int i = 0; i < 256; i++)
        colors[i] = i == 0 ? -1 : (i * 7919) & 0xFFFFFF;
    for (int i = 0; i < H * W; i++) {
        seed = seed * 1103515245u + 12345u;
        pixels[i] = (unsigned char)(i % W < 12 ? 3 : (seed >> 16) % 5 * 50);
    }
    return (struct lab_bitmap){H, W, pixels, colors};
}

/* ---- the painter: images encoded by a thread ---- */

static struct lab_painting painted(int x, uint64_t sum)
{
    return (struct lab_painting){.at = {1, x, 1, 2}, .sum = sum};
}

static unsigned char *copy_of_pixels(void)
{
    unsigned char *px = lab_alloc_array(H, W);
    assert_non_null(px);
    memcpy(px, pixels, sizeof(pixels));
    return px;
}

/* Waits for the wake and for image `nth`. */
static struct lab_painting await_image(struct lab_painter *p, int wake, int nth)
{
    struct lab_painting out;
    struct pollfd fd = {.fd = wake, .events = POLLIN};
    uint64_t count;
    int got = lab_painter_take(p, &out);
    for (int i = 0; i < 100 && got < 0; i++) {
        assert_true(poll(&fd, 1, 10000) == 1);
        assert_int_equal(read(wake, &count, sizeof(count)), sizeof(count));
        got = lab_painter_take(p, &out);
    }
    assert_int_equal(got, nth);
    return out;
}

TEST_CASE(the_painter_encodes_what_it_is_given)
{
    const enum lab_graphics both[] = {LAB_GRAPHICS_SIXEL, LAB_GRAPHICS_KITTY};
    const struct lab_bitmap b = sample();
    for (int k = 0; k < 2; k++) {
        struct lab_painter *p;
        struct lab_str want;
        int wake = eventfd(0, EFD_NONBLOCK);
        const struct lab_painting what = painted(4, 77);
        assert_int_equal(lab_painter_new(&p, both[k], colors, wake), LAB_OK);
        lab_painter_give(p, 5, &what, copy_of_pixels(), H, W);
        struct lab_painting got = await_image(p, wake, 5);
        lab_str_init(&want);
        lab_str_add(&want, "\0337\033[2;5H");
        if (both[k] == LAB_GRAPHICS_SIXEL)
            lab_sixel_add(&want, &b);
        else
            lab_kitty_add(&want, &b, 6, 1, 2);
        lab_str_add(&want, "\0338");
        assert_string_equal(lab_str_text(&got.text), lab_str_text(&want));
        assert_true(got.sum == 77);
        assert_int_equal(lab_painter_take(p, &got), -1);
        lab_str_release(&want);
        lab_str_release(&got.text);
        lab_painter_free(p);
        close(wake);
    }
}

/* A newer image of a number replaces the older one, ready or not; one that is
 * dropped does not come; what is left at the end is freed. */
TEST_CASE(the_painter_keeps_the_newest_image)
{
    struct lab_painter *p;
    int wake = eventfd(0, EFD_NONBLOCK);
    sample();
    assert_int_equal(lab_painter_new(&p, LAB_GRAPHICS_SIXEL, colors, wake),
                     LAB_OK);
    for (int i = 1; i <= 50; i++) {
        const struct lab_painting dropped = painted(9, 1);
        const struct lab_painting what = painted(4, (uint64_t)i);
        lab_painter_give(p, 3, &dropped, copy_of_pixels(), H, W);
        lab_painter_drop(p, 3);
        lab_painter_give(p, 8, &what, copy_of_pixels(), H, W);
    }
    uint64_t last = 0;
    while (last < 50) {
        struct lab_painting got = await_image(p, wake, 8);
        assert_true(got.sum > last);
        last = got.sum;
        lab_str_release(&got.text);
    }
    for (int i = 0; i < 3; i++) {
        const struct lab_painting what = painted(4, 1);
        lab_painter_give(p, i, &what, copy_of_pixels(), H, W);
    }
    lab_painter_free(p);
    lab_painter_free(NULL);
    close(wake);
}

/* ---- sixel ---- */

/* A reader of its own, by the DEC manual: out[] gets colours, -1 where none is. */
static void read_sixel(const char *s, int *out, int h, int w)
{
    int palette[256];
    int color = 0;
    int x = 0;
    int y = 0;
    memset(palette, 0xFF, sizeof(palette));
    for (int i = 0; i < h * w; i++)
        out[i] = -1;
    assert_memory_equal(s, "\033P", 2);
    s = strchr(s, 'q') + 1;
    while (*s != '\033') {
        long n = 1;
        if (*s == '"') {
            long v[4];
            for (int i = 0; i < 4; i++)
                v[i] = strtol(s + 1, (char **)&s, 10);
            assert_int_equal(v[2], w);
            assert_int_equal(v[3], h);
            continue;
        }
        if (*s == '#') {
            color = (int)strtol(s + 1, (char **)&s, 10);
            if (*s == ';') {
                long v[4];
                for (int i = 0; i < 4; i++)
                    v[i] = strtol(s + 1, (char **)&s, 10);
                assert_int_equal(v[0], 2);
                palette[color] = (int)(v[1] << 16 | v[2] << 8 | v[3]);
            }
            continue;
        }
        if (*s == '$' || *s == '-') {
            y += *s == '-' ? 6 : 0;
            x = 0;
            s++;
            continue;
        }
        if (*s == '!')
            n = strtol(s + 1, (char **)&s, 10);
        assert_in_range(*s, '?', '~');
        for (; n > 0; n--, x++)
            for (int i = 0; i < 6; i++)
                if ((*s - '?') & 1 << i) {
                    assert_true(x < w && y + i < h);
                    out[(y + i) * w + x] = palette[color];
                }
        s++;
    }
    assert_string_equal(s, "\033\\");
}

static void assert_pixels(const int *got, const unsigned char *px, int n)
{
    for (int i = 0; i < n; i++) {
        int want = colors[px[i]];
        if (want < 0 || got[i] < 0)
            assert_int_equal(want, got[i]);
        for (int shift = 0; want >= 0 && shift < 24; shift += 8) {
            int part = (want >> shift & 0xFF) * 100;
            int off = (got[i] >> shift & 0xFF) * 255 - part;
            assert_in_range(off + 130, 0, 260); /* half of 1/100 */
        }
    }
}

TEST_CASE(sixels_have_every_pixel)
{
    struct lab_bitmap b = sample();
    struct lab_str text;
    int got[H * W];
    lab_str_init(&text);
    lab_sixel_add(&text, &b);
    read_sixel(lab_str_text(&text), got, H, W);
    assert_pixels(got, pixels, H * W);
    lab_str_release(&text);
}

enum { ROWS = 10, ROW_H = 8, HIGH = ROWS * ROW_H };

/* At most `most` pieces, of `rows_each` rows, and the last of what is left. */
static void cut_into(int most, int rows_each, int want_pieces)
{
    struct lab_painter *p;
    int wake = eventfd(0, EFD_NONBLOCK);
    static unsigned char want[HIGH * W];
    static int got[HIGH * W];
    unsigned char *px = lab_alloc_array(HIGH, W);
    const struct lab_painting what = {
        .at = {3, 4, ROWS, 2}, .sum = 1, .pieces = most};
    sample();
    assert_non_null(px);
    for (int i = 0; i < HIGH * W; i++) {
        px[i] = want[i] = pixels[i % (H * W)];
        got[i] = -1;
    }
    assert_int_equal(lab_painter_new(&p, LAB_GRAPHICS_SIXEL, colors, wake),
                     LAB_OK);
    lab_painter_give(p, 0, &what, px, HIGH, W);
    struct lab_painting image = await_image(p, wake, 0);
    const char *at = lab_str_text(&image.text);
    int pieces = 0;
    for (int row = 0; row < ROWS; pieces++) {
        int y = 0;
        int x = 0;
        int n = 0;
        int rows = ROWS - row < rows_each ? ROWS - row : rows_each;
        assert_int_equal(sscanf(at, "\0337\033[%d;%dH%n", &y, &x, &n), 2);
        assert_int_equal(y, 3 + row + 1);
        assert_int_equal(x, 4 + 1);
        const char *end = strstr(at, LAB_PIECE_END);
        assert_non_null(end);
        char *text = lab_alloc((size_t)(end - at) + 1);
        assert_non_null(text);
        memcpy(text, at + n, (size_t)(end - at - n));
        read_sixel(text, got + row * ROW_H * W, rows * ROW_H, W);
        lab_free(text);
        at = end + strlen(LAB_PIECE_END);
        row += rows;
    }
    assert_int_equal(*at, '\0');
    assert_int_equal(pieces, want_pieces);
    assert_pixels(got, want, HIGH * W);
    lab_str_release(&image.text);
    lab_painter_free(p);
    close(wake);
}

/* Sixels of many rows are in pieces, each whole and at its own rows, so that a key can
 * be read between two. They are no more than wanted, and of four rows at least. */
TEST_CASE(the_painter_cuts_sixels_into_pieces)
{
    cut_into(12, 4, 3);
    cut_into(2, 5, 2);
    cut_into(1, ROWS, 1);
}

/* ---- PNG ---- */

static unsigned long u32(const char *s)
{
    const unsigned char *b = (const unsigned char *)s;
    return (unsigned long)b[0] << 24 | (unsigned long)b[1] << 16 |
           (unsigned long)b[2] << 8 | b[3];
}

/* The rows of a file, which the caller frees; checks every chunk's sum. Of colour
 * type 2 (RGB) with palette NULL, else of type 3: *palette has 0xRRGGBB or -1. */
static unsigned char *read_png(const struct lab_str *file, unsigned long *h,
                               unsigned long *w, int palette[256])
{
    const unsigned long bytes = palette ? 1 : 3; /* of a pixel */
    unsigned char *rows = NULL;
    const char *s = file->data;
    assert_memory_equal(s, "\x89PNG\r\n\x1a\n", 8);
    for (s += 8; s < file->data + file->len;) {
        unsigned long n = u32(s);
        const char *body = s + 8;
        assert_int_equal(crc32(0, (const Bytef *)s + 4, (uInt)n + 4),
                         u32(body + n));
        if (memcmp(s + 4, "IHDR", 4) == 0) {
            *w = u32(body);
            *h = u32(body + 4);
            assert_memory_equal(
                body + 8,
                palette ? "\x08\x03\x00\x00\x00" : "\x08\x02\x00\x00\x00", 5);
        } else if (memcmp(s + 4, "PLTE", 4) == 0) {
            assert_int_equal(n, 3 * 256);
            for (int i = 0; i < 256; i++)
                palette[i] = (int)(u32(body + 3 * i) >> 8);
        } else if (memcmp(s + 4, "tRNS", 4) == 0) {
            for (unsigned long i = 0; i < n; i++)
                palette[i] = body[i] ? palette[i] : -1;
        } else if (memcmp(s + 4, "IDAT", 4) == 0) {
            uLongf size = *h * (*w * bytes + 1);
            rows = test_malloc(size);
            assert_int_equal(uncompress(rows, &size, (const Bytef *)body, n),
                             Z_OK);
            assert_int_equal(size, *h * (*w * bytes + 1));
        }
        s = body + n + 4;
    }
    assert_non_null(rows);
    return rows;
}

/* ---- kitty ---- */

static int digit_of(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

TEST_CASE(kitty_gets_every_pixel_in_pieces)
{
    enum { BIG_H = 120, BIG_W = 200 }; /* more than one piece */
    static unsigned char big[BIG_H * BIG_W];
    static unsigned char packed[BIG_H * BIG_W * 4];
    int palette[256];
    unsigned long h = 0;
    unsigned long w = 0;
    struct lab_str text;
    size_t n = 0;
    int pieces = 0;
    unsigned seed = 3;
    sample();
    for (int i = 0; i < BIG_H * BIG_W; i++) {
        seed = seed * 1103515245u + 12345u;
        big[i] = (unsigned char)(seed >> 16);
    }
    const struct lab_bitmap b = {BIG_H, BIG_W, big, colors};
    lab_str_init(&text);
    lab_kitty_add(&text, &b, 5, 6, 20);
    const char *s = lab_str_text(&text);
    assert_non_null(strstr(s, "i=5,"));
    assert_non_null(strstr(s, "f=100,c=20,r=6,"));
    for (; *s; pieces++) {
        assert_memory_equal(s, "\033_G", 3);
        const char *end = strstr(s, "\033\\");
        bool more = strstr(s, "m=1;") && strstr(s, "m=1;") < end;
        const char *data = strchr(s, ';') + 1;
        assert_true(end - data <= 4096);
        for (; data < end; data += 4) {
            int v = 0;
            for (int i = 0; i < 4; i++)
                v = v << 6 | (data[i] == '=' ? 0 : digit_of(data[i]));
            packed[n++] = (unsigned char)(v >> 16);
            if (data[2] != '=')
                packed[n++] = (unsigned char)(v >> 8);
            if (data[3] != '=')
                packed[n++] = (unsigned char)v;
        }
        s = end + 2;
        assert_int_equal(more, *s != '\0');
    }
    assert_true(pieces > 1);
    struct lab_str file = {.data = (char *)packed, .len = n};
    unsigned char *rows = read_png(&file, &h, &w, palette);
    assert_int_equal(h, BIG_H);
    assert_int_equal(w, BIG_W);
    for (int y = 0; y < BIG_H; y++)
        for (int x = 0; x < BIG_W; x++)
            assert_int_equal(palette[rows[y * (BIG_W + 1) + 1 + x]],
                             colors[big[y * BIG_W + x]]);
    test_free(rows);
    lab_str_release(&text);
}

/* ---- a file ---- */

TEST_CASE(a_png_has_every_pixel)
{
    unsigned char rgb[3 * 5 * 3];
    struct lab_str file;
    unsigned long h = 0;
    unsigned long w = 0;
    for (size_t i = 0; i < sizeof(rgb); i++)
        rgb[i] = (unsigned char)(i * 5);
    lab_str_init(&file);
    lab_png_add(&file, rgb, 3, 5);
    unsigned char *rows = read_png(&file, &h, &w, NULL);
    assert_int_equal(h, 3);
    assert_int_equal(w, 5);
    for (int y = 0; y < 3; y++) {
        assert_int_equal(rows[y * 16], 0); /* the filter */
        assert_memory_equal(rows + y * 16 + 1, rgb + y * 15, 15);
    }
    test_free(rows);
    lab_str_release(&file);
}

TEST_CASE(a_canvas_as_png_has_text_and_images)
{
    enum { CELL = 10 };
    struct lab_canvas c;
    struct lab_str file;
    struct lab_palette p;
    unsigned long h = 0;
    unsigned long w = 0;
    int inked = 0;
    if (!lab_picture_font())
        skip();
    assert_ok(lab_canvas_init(&c, 3, 8, false));
    c.tints = true;
    c.px_h = 2 * CELL;
    c.px_w = CELL;
    lab_canvas_text(&c, 0, 0, -1, LAB_ROLE_NORMAL, "M");
    unsigned char *px = lab_canvas_image(&c, (struct lab_rect){1, 2, 1, 2});
    assert_non_null(px);
    memset(px, LAB_TINT_MARK, 2 * CELL * 2 * CELL);
    lab_canvas_text(&c, 1, 3, 1, LAB_ROLE_NORMAL, " "); /* over the image */
    lab_str_init(&file);
    assert_ok(lab_picture_png(&file, &c, LAB_THEME_DARK));
    lab_palette_fill(&p, LAB_THEME_DARK, LAB_DEPTH_RGB);
    unsigned char *rows = read_png(&file, &h, &w, NULL);
    assert_int_equal(h, 60);
    assert_int_equal(w, 80);
    for (int y = 0; y < 60; y++)
        for (int x = 0; x < 80; x++) {
            const unsigned char *at = rows + y * 241 + 1 + x * 3;
            int rgb = at[0] << 16 | at[1] << 8 | at[2];
            bool image = y >= 20 && y < 40 && x >= 20 && x < 30;
            if (image)
                assert_int_equal(rgb, p.tint[LAB_TINT_MARK]);
            else if (y < 20 && x < 10)
                inked += at[0] > 0x80;
            else
                assert_int_equal(rgb, 0x14171c);
        }
    assert_in_range(inked, 15, 120); /* a letter, no block */
    test_free(rows);
    lab_str_release(&file);
    lab_canvas_release(&c);
}

/* ---- answers ---- */

static int hear(struct lab_graphics_answer *a, const char *bytes)
{
    return lab_graphics_hear(a, bytes, strlen(bytes));
}

TEST_CASE(answers_are_understood)
{
    struct lab_graphics_answer a = {.level = 0};
    assert_int_equal(hear(&a, "\033[?62;4;22cX"), 11);
    assert_true(a.attributes && a.sixel && !a.kitty);
    assert_non_null(strstr(lab_graphics_ask_more(&a), "\033_G"));
    assert_int_equal(hear(&a, "\033[6;20;10t"), 10);
    assert_int_equal(a.cell_h, 20);
    assert_int_equal(a.cell_w, 10);
    assert_int_equal(hear(&a, "\033_Gi=31;OK\033\\"), 12);
    assert_true(a.kitty);
}

/* Of another use, or of any length: no keys. */
TEST_CASE(answers_are_taken_whole)
{
    struct lab_graphics_answer a = {.level = 0};
    char text[300];
    assert_int_equal(hear(&a, "\033[?2026;2$yX"), 11);
    assert_int_equal(hear(&a, "\033[?1uX"), 5);
    assert_false(a.attributes);
    snprintf(text, sizeof(text), "\033_Gi=31;OK%0250d\033\\", 0);
    assert_int_equal(lab_graphics_hear(&a, text, 200), -1);
    assert_int_equal(hear(&a, text), strlen(text));
    assert_true(a.kitty);
    snprintf(text, sizeof(text), "\033[?62;4;%0250dcX", 0);
    assert_int_equal(hear(&a, text), strlen(text) - 1);
    assert_true(a.attributes && a.sixel);
}

TEST_CASE(a_terminal_that_cannot_gets_no_strings)
{
    struct lab_graphics_answer a = {.level = 0};
    assert_int_equal(hear(&a, "\033[?1;2c"), 7); /* as tmux or a VT100 */
    assert_true(a.attributes && !a.sixel);
    assert_null(lab_graphics_ask_more(&a));
    a = (struct lab_graphics_answer){.level = 0};
    hear(&a, "\033[?1;2;4c"); /* a tmux with sixels */
    assert_null(strchr(lab_graphics_ask_more(&a), '_'));
    a = (struct lab_graphics_answer){.level = 0};
    assert_int_equal(hear(&a, "\033_Gi=31;ENOTSUPPORTED:no\033\\"), 26);
    assert_false(a.kitty);
}

/* Its name, while it is awaited: Esc and P are keys otherwise. */
TEST_CASE(xterm_is_known_by_its_name)
{
    struct lab_graphics_answer a = {.level = 0};
    assert_int_equal(hear(&a, "\033P>|XTerm(379)\033\\"), 0);
    assert_int_equal(hear(&a, "\033[?64;4c"), 8);
    assert_non_null(strstr(lab_graphics_ask_more(&a), "\033[>0q"));
    assert_int_equal(hear(&a, "\033P"), -1);
    assert_int_equal(hear(&a, "\033P>|foot(1.16)\033\\"), 16);
    assert_false(a.few);
    assert_true(lab_graphics_keeps(LAB_GRAPHICS_SIXEL, &a, 32));
    assert_int_equal(hear(&a, "\033P>|XTerm(379)\033\\"), 16);
    assert_true(a.few);
    /* A sheet of 32 digits would lose the first 16. */
    assert_false(lab_graphics_keeps(LAB_GRAPHICS_SIXEL, &a, 32));
    assert_true(lab_graphics_keeps(LAB_GRAPHICS_SIXEL, &a, 12));
    assert_true(lab_graphics_keeps(LAB_GRAPHICS_KITTY, &a, 32));
    hear(&a, "\033[?64;4c");
    assert_int_equal(hear(&a, "\033P"), 0);
    assert_true(a.few);
}

TEST_CASE(a_background_is_understood)
{
    static const struct {
        const char *bytes;
        int paper; /* -1: none */
    } answers[] = {
        {"\033]11;rgb:ffff/ffff/ffff\033\\", 0xffffff},
        {"\033]11;rgb:1e1e/8080/0000\a", 0x1e8000},
        {"\033]11;rgb:f/0/8\a", 0xff0088},
        {"\033]11;rgba:00/ff/7f/ff\a", 0x00ff7f},
        {"\033]11;rgb:12/34\a", -1},
        {"\033]11;rgb:12345/0/0\a", -1},
        {"\033]11;white\a", -1},
    };
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct lab_graphics_answer a = {.level = 0};
        assert_int_equal(hear(&a, answers[i].bytes), strlen(answers[i].bytes));
        assert_int_equal(a.has_paper, answers[i].paper >= 0);
        assert_int_equal(a.paper, a.has_paper ? answers[i].paper : 0);
    }
}

TEST_CASE(keys_and_halves_are_no_answers)
{
    struct lab_graphics_answer a = {.level = 0};
    static const char *const keys[] = {"q",       "\033[A",    "\033OP",
                                       "\033[6~", "\033[6;5~", "\033[?1\r"};
    static const char *const halves[] = {
        "\033",   "\033[",          "\033[?62;", "\033[6;2",
        "\033_G", "\033_Gi=31\033", "\033]1",    "\033]11;rgb:ff\033"};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        assert_int_equal(hear(&a, keys[i]), 0);
    for (size_t i = 0; i < sizeof(halves) / sizeof(halves[0]); i++)
        assert_int_equal(hear(&a, halves[i]), -1);
    assert_int_equal(lab_graphics_hear(&a, "", 0), 0);
    assert_false(a.attributes);
}

/* ---- images ---- */

TEST_CASE(a_heat_map_shows_elements_that_share_a_cell)
{
    enum { SIDE = 16 };
    static double value[SIDE * SIDE];
    struct lab_canvas c;
    value[5 * SIDE + 3] = 1;
    assert_ok(lab_canvas_init(&c, 4, 8, false)); /* 2x2 elements a half cell */
    c.tints = true;
    lab_heat_picture(&c, (struct lab_rect){0, 0, 4, 8}, value, SIDE, SIDE,
                     true);
    assert_int_equal(c.n_images, 0);
    lab_canvas_clear(&c);
    c.px_h = 20;
    c.px_w = 10;
    lab_heat_picture(&c, (struct lab_rect){0, 0, 4, 8}, value, SIDE, SIDE,
                     true);
    assert_int_equal(c.n_images, 1);
    for (int y = 0; y < 80; y++)
        for (int x = 0; x < 80; x++) {
            bool on = y / 5 == 5 && x / 5 == 3;
            assert_int_equal(c.images[0].px[y * 80 + x],
                             lab_tint_sequential(on, 1));
        }
    assert_string_equal(c.cells[8 + 1].text, "▀"); /* blocks are under it */
    lab_canvas_release(&c);
}

/* The lower half of a character of 17 pixels has 8 of them. */
TEST_CASE(rows_of_an_image_are_those_of_its_characters)
{
    enum { SIDE = 16, CELL_H = 17, CELL_W = 9 };
    static double value[SIDE * SIDE];
    struct lab_canvas c;
    value[5 * SIDE + 3] = 1;
    value[15 * SIDE + 15] = 1;
    assert_ok(lab_canvas_init(&c, 4, 8, false));
    c.tints = true;
    c.px_h = CELL_H;
    c.px_w = CELL_W;
    lab_heat_picture(&c, (struct lab_rect){0, 0, 4, 8}, value, SIDE, SIDE,
                     true);
    assert_int_equal(c.n_images, 1);
    for (int y = 0; y < 4 * CELL_H; y++)
        for (int x = 0; x < 8 * CELL_W; x++) {
            bool on = y >= 22 && y < 26 && x >= 14 && x < 18;
            bool last = y >= 64 && x >= 68;
            assert_int_equal(c.images[0].px[y * 8 * CELL_W + x],
                             lab_tint_sequential(on || last, 1));
        }
    lab_canvas_release(&c);
}

static void cast_of_size(struct lab_cast **cast, int h, int w,
                         enum lab_theme theme)
{
    struct lab_canvas c;
    assert_ok(lab_canvas_init(&c, h, w, false));
    lab_canvas_text(&c, 0, 0, w, LAB_ROLE_TITLE, "a");
    if (!*cast)
        assert_ok(lab_cast_open(cast, "sizes.cast", &c, theme));
    lab_cast_frame(*cast, &c, theme);
    lab_canvas_release(&c);
}

/* A cast has an entry for each change of size, also where the theme changes in the
 * same frame, and no other entry. */
TEST_CASE(a_cast_has_its_sizes)
{
    struct lab_cast *cast = NULL;
    char line[1024];
    char sizes[64] = "";
    remove("sizes.cast");
    cast_of_size(&cast, 3, 20, LAB_THEME_DARK);
    cast_of_size(&cast, 4, 30, LAB_THEME_LIGHT);
    cast_of_size(&cast, 4, 30, LAB_THEME_DARK);
    cast_of_size(&cast, 5, 40, LAB_THEME_DARK);
    assert_ok(lab_cast_close(cast));
    FILE *f = fopen("sizes.cast", "r");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f)) {
        const char *size = strstr(line, "\"r\", ");
        if (size)
            strncat(sizes, size + 5, sizeof(sizes) - strlen(sizes) - 1);
    }
    fclose(f);
    remove("sizes.cast");
    assert_string_equal(sizes, "\"30x4\"]\n\"40x5\"]\n");
}

RUN_TESTS()
