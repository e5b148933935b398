#include "ui_priv.h"

#include <stdio.h>
#include <string.h>

enum { BADGE_W = 40 };

static void draw_small(struct lab_ui *ui, struct lab_rect body)
{
    struct lab_canvas *c = &ui->canvas;
    char text[80];
    lab_rect_cut_top(&body, body.h > 4 ? body.h / 2 - 1 : 0);
    snprintf(text, sizeof(text), "Too small: %dx%d, needs %dx%d", c->w, c->h,
             LAB_SCREEN_MIN_W, LAB_SCREEN_MIN_H);
    lab_rect_cut_top(&body, lab_canvas_paragraph(c, body, LAB_ROLE_WARN, text));
    lab_canvas_paragraph(c, body, LAB_ROLE_NORMAL,
                         "Make it larger, or press q.");
}

static const char program[] = "lapenna-lab";
static const char arrow[] = " > ";
static const char left_out[] = "…";

static const char *title_of(struct lab_ui *ui, int i, char *text, size_t cap)
{
    struct lab_screen *s = &ui->stack[i].screen;
    snprintf(text, cap, "%s", s->ops->title);
    if (s->ops->title_now)
        s->ops->title_now(s, text, cap);
    return text;
}

/* The first screen of the path that is named in `room` columns: the one on top
 * always is, for its name may be a file's or a place in a text. */
static int first_title(struct lab_ui *ui, int room)
{
    const struct lab_canvas *c = &ui->canvas;
    char text[256];
    int first = ui->depth;
    int all = lab_canvas_columns(c, program);
    int used =
        all + lab_canvas_columns(c, arrow) + lab_canvas_columns(c, left_out);
    for (int i = ui->depth - 1; i >= 0; i--) {
        int w = lab_canvas_columns(c, arrow) +
                lab_canvas_columns(c, title_of(ui, i, text, sizeof(text)));
        all += w;
        used += w;
        if (used <= room || i == ui->depth - 1)
            first = i;
    }
    return all <= room ? 0 : first;
}

static void draw_title(struct lab_ui *ui, struct lab_rect row)
{
    struct lab_canvas *c = &ui->canvas;
    char text[256];
    if (ui->badge[0]) {
        int w = lab_canvas_columns(c, ui->badge) + 2;
        w = w > BADGE_W ? BADGE_W : w;
        struct lab_rect badge = lab_rect_cut_right(&row, w);
        snprintf(text, sizeof(text), "[%s]", ui->badge);
        lab_canvas_text(c, badge.y, badge.x, badge.w, LAB_ROLE_BADGE, text);
        lab_rect_cut_right(&row, 1);
    }
    struct lab_rect old = lab_canvas_clip(c, row);
    int x = row.x;
    int first = first_title(ui, row.w);
    x += lab_canvas_text(c, row.y, x, -1, LAB_ROLE_TITLE, program);
    if (first > 0) {
        x += lab_canvas_text(c, row.y, x, -1, LAB_ROLE_DIM, arrow);
        x += lab_canvas_text(c, row.y, x, -1, LAB_ROLE_DIM, left_out);
    }
    for (int i = first; i < ui->depth; i++) {
        x += lab_canvas_text(c, row.y, x, -1, LAB_ROLE_DIM, arrow);
        x += lab_canvas_text(c, row.y, x, -1,
                             i == ui->depth - 1 ? LAB_ROLE_TITLE
                                                : LAB_ROLE_NORMAL,
                             title_of(ui, i, text, sizeof(text)));
    }
    lab_canvas_unclip(c, old);
}

static int item_columns(const struct lab_canvas *c, const struct lab_binding *b)
{
    char key[LAB_KEY_NAME_BYTES];
    return lab_canvas_columns(c, lab_key_name(b->keys[0], key)) + 1 +
           lab_canvas_columns(c, b->name);
}

/* Returns the columns used, 0 when there is no room for the whole item. */
static int draw_item(struct lab_ui *ui, struct lab_rect row, int x,
                     const struct lab_binding *b)
{
    struct lab_canvas *c = &ui->canvas;
    char key[LAB_KEY_NAME_BYTES];
    int w = item_columns(c, b);
    if (x + w > row.x + row.w || ui->bar_count == LAB_UI_BAR_ITEMS)
        return 0;
    ui->bar[ui->bar_count].x = x;
    ui->bar[ui->bar_count].w = w;
    ui->bar[ui->bar_count].key = b->keys[0];
    ui->bar_count++;
    int used = lab_canvas_text(c, row.y, x, -1, LAB_ROLE_KEY,
                               lab_key_name(b->keys[0], key));
    lab_canvas_text(c, row.y, x + used + 1, -1, LAB_ROLE_NORMAL, b->name);
    return w + 2;
}

static void draw_bar(struct lab_ui *ui, struct lab_rect row)
{
    struct lab_screen *s = &lab_ui_top(ui)->screen;
    const struct lab_binding *own = lab_ui_bindings(s);
    const struct lab_binding *all = lab_global_keymap(s->ops->sideways);
    ui->bar_count = 0;
    if (ui->asking != LAB_ASK_NOTHING) {
        bool completes = ui->asking_id == LAB_PROMPT_COMMAND;
        lab_canvas_textf(&ui->canvas, row.y, row.x, row.w, LAB_ROLE_DIM,
                         ui->asking == LAB_ASK_YES
                             ? "y yes   any other key no"
                             : "Enter done   Esc cancel   Up Down history%s",
                         completes ? "   Tab complete" : "");
        return;
    }
    /* What works everywhere keeps its room: a reader must find help and the
     * way out. */
    int keep = 0;
    for (const struct lab_binding *b = all; b->action; b++)
        if (b->bar && !lab_keymap_action(own, b->action))
            keep += item_columns(&ui->canvas, b) + 2;
    struct lab_rect left = row;
    struct lab_rect right = lab_rect_cut_right(&left, keep);
    int x = left.x;
    for (const struct lab_binding *b = own; b && b->action; b++)
        if (b->bar)
            x += draw_item(ui, left, x, b);
    right.w += right.x - x;
    right.x = x;
    for (const struct lab_binding *b = all; b->action; b++)
        if (b->bar && !lab_keymap_action(own, b->action))
            x += draw_item(ui, right, x, b);
}

/* A long text goes on upwards, over the body: its end says what helps. `row` is
 * its last one. */
static void draw_upwards(struct lab_canvas *c, struct lab_rect row,
                         enum lab_role role, const char *text)
{
    enum { MOST = 4 };
    int rows = lab_canvas_paragraph_rows(c, row.w, MOST, text);
    if (rows == 0)
        return;
    row.y -= rows - 1;
    row.h = rows;
    lab_canvas_fill(c, row, " ", LAB_ROLE_NORMAL);
    lab_canvas_paragraph(c, row, role, text);
}

static void draw_status(struct lab_ui *ui, struct lab_rect row)
{
    if (ui->asking != LAB_ASK_LINE) {
        draw_upwards(&ui->canvas, row, ui->message_role, ui->message);
        return;
    }
    lab_prompt_draw(&ui->prompt, &ui->canvas, row);
    row.y--;
    draw_upwards(&ui->canvas, row, LAB_ROLE_DIM, ui->hint);
}

void lab_ui_draw(struct lab_ui *ui)
{
    struct lab_canvas *c = &ui->canvas;
    struct lab_frame f = lab_frame_layout(c->h, c->w);
    struct lab_ui_entry *top = lab_ui_top(ui);
    lab_canvas_clear(c);
    if (!top)
        return;
    if (f.small) {
        draw_small(ui, f.body);
    } else {
        struct lab_rect old = lab_canvas_clip(c, f.body);
        top->screen.ops->draw(&top->screen, c, f.body);
        lab_canvas_unclip(c, old);
        draw_title(ui, f.title); /* may tell of the place in the body */
        draw_status(ui, f.status);
        draw_bar(ui, f.bar);
    }
    if (ui->terminal)
        lab_terminal_show(ui->terminal, c);
}
