/* Styled lines: what the panes of the stepper scroll through. */
#include <string.h>

#include "base/mem.h"
#include "ui/stepper.h"
#include "stepper_priv.h"

void lab_stepper_text_init(struct lab_stepper_text *t, bool ascii)
{
    memset(t, 0, sizeof(*t));
    t->ascii = ascii;
    lab_str_init(&t->text);
}

void lab_stepper_text_release(struct lab_stepper_text *t)
{
    lab_str_release(&t->text);
    lab_free(t->spans);
    lab_free(t->lines);
    memset(t, 0, sizeof(*t));
}

void lab_stepper_text_clear(struct lab_stepper_text *t)
{
    lab_str_clear(&t->text);
    t->span_count = 0;
    t->line_count = 0;
    t->failed = false;
}

void lab_stepper_text_line(struct lab_stepper_text *t)
{
    if (t->failed || lab_grow(&t->lines, t->line_count, &t->line_cap,
                              sizeof(*t->lines), "a line")) {
        t->failed = true;
        return;
    }
    t->lines[t->line_count++] =
        (struct lab_stepper_line){.first_span = t->span_count};
}

static void add_bytes(struct lab_stepper_text *t, enum lab_role role,
                      const char *text, size_t n)
{
    if (t->line_count == 0)
        lab_stepper_text_line(t);
    if (t->failed || lab_grow(&t->spans, t->span_count, &t->span_cap,
                              sizeof(*t->spans), "a line")) {
        t->failed = true;
        return;
    }
    size_t start = t->text.len;
    lab_str_add_visible(&t->text, text, n, false);
    if (t->text.failed) {
        t->failed = true;
        return;
    }
    t->spans[t->span_count++] =
        (struct lab_stepper_span){role, start, t->text.len};
    t->lines[t->line_count - 1].span_count++;
}

void lab_stepper_text_add(struct lab_stepper_text *t, enum lab_role role,
                          const char *text)
{
    add_bytes(t, role, text, strlen(text));
}

/* Bytes of the longest start of `text` that fits `columns`, cut at a blank
 * where there is one; at least one character. */
static size_t fitting(const char *text, int columns, bool ascii)
{
    size_t n = strlen(text);
    size_t at = 0;
    size_t blank = 0;
    int used = 0;
    while (at < n) {
        unsigned code;
        char one[8] = {0};
        size_t len = lab_utf8_next(text + at, n - at, &code);
        len = len ? len : 1;
        memcpy(one, text + at, len);
        int w = lab_text_columns(one, ascii);
        if (used + w > columns && at > 0)
            return text[at] == ' ' || !blank ? at : blank;
        if (text[at] == ' ')
            blank = at;
        used += w;
        at += len;
    }
    return n;
}

static int line_columns(const struct lab_stepper_text *t)
{
    if (t->line_count == 0 || t->failed)
        return 0;
    const struct lab_stepper_line *l = &t->lines[t->line_count - 1];
    if (l->span_count == 0)
        return 0;
    return lab_text_columns(
        lab_str_text(&t->text) + t->spans[l->first_span].start, t->ascii);
}

/* Columns of the first word and the blanks before it. */
static int word_columns(const char *text, bool ascii)
{
    char word[128];
    size_t n = strspn(text, " ");
    n += strcspn(text + n, " ");
    n = n < sizeof(word) - 1 ? n : sizeof(word) - 1;
    memcpy(word, text, n);
    word[n] = '\0';
    return lab_text_columns(word, ascii);
}

void lab_stepper_text_flow(struct lab_stepper_text *t, enum lab_role role,
                           const char *text, int columns, int hang)
{
    static const char blanks[] = "                ";
    int used = line_columns(t);
    columns = columns < 8 ? 8 : columns;
    hang = hang < 0 || hang > 16 || hang > columns / 2 ? 0 : hang;
    int word = word_columns(text, t->ascii);
    bool full = used > hang && used + word > columns && hang + word <= columns;
    for (bool first = !full; first || *text; first = false) {
        if (full)
            text += strspn(text, " ");
        if (!first) {
            lab_stepper_text_line(t);
            add_bytes(t, role, blanks, (size_t)hang);
            used = hang;
        }
        size_t n = fitting(text, columns - used, t->ascii);
        add_bytes(t, role, text, n);
        text += n;
        while (*text == ' ')
            text++;
    }
}

void lab_stepper_text_wrap(struct lab_stepper_text *t, enum lab_role role,
                           const char *text, int columns, int hang)
{
    lab_stepper_text_line(t);
    lab_stepper_text_flow(t, role, text, columns, hang);
}

static void draw_line(struct lab_canvas *c, struct lab_rect row,
                      const struct lab_stepper_text *t, int64_t line)
{
    const struct lab_stepper_line *l = &t->lines[line];
    const char *text = lab_str_text(&t->text);
    char piece[512];
    int x = row.x;
    for (size_t i = 0; i < l->span_count && x < row.x + row.w; i++) {
        const struct lab_stepper_span *s = &t->spans[l->first_span + i];
        size_t n = s->end - s->start;
        n = n < sizeof(piece) - 1 ? n : sizeof(piece) - 1;
        memcpy(piece, text + s->start, n);
        piece[n] = '\0';
        x +=
            lab_canvas_text_cut(c, row.y, x, row.x + row.w - x, s->role, piece);
    }
}

void lab_stepper_draw_lines(struct lab_canvas *c, struct lab_rect r,
                            const struct lab_stepper_text *lines, int64_t *top,
                            int64_t chosen, bool focused)
{
    int64_t n = (int64_t)lines->line_count;
    if (chosen >= 0 && chosen < *top)
        *top = chosen;
    if (chosen >= *top + r.h)
        *top = chosen - r.h + 1;
    if (*top > n - r.h)
        *top = n - r.h;
    if (*top < 0)
        *top = 0;
    for (int y = 0; y < r.h && *top + y < n; y++) {
        struct lab_rect row = {r.y + y, r.x, 1, r.w};
        draw_line(c, row, lines, *top + y);
        if (*top + y == chosen && focused)
            lab_canvas_paint(c, row, LAB_ROLE_SELECTED);
    }
    if (n > r.h && r.w > 4) { /* there is more above or below */
        if (*top > 0)
            lab_canvas_text(c, r.y, r.x + r.w - 1, 1, LAB_ROLE_DIM, "▲");
        if (*top + r.h < n)
            lab_canvas_text(c, r.y + r.h - 1, r.x + r.w - 1, 1, LAB_ROLE_DIM,
                            "▼");
    }
}
