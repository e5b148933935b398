/* view_text.c -- a screen that is one text in a pager. */
#include "view_text.h"

#include <stdio.h>

#include "ui/ui.h"
#include "ui/views.h"

enum lab_status lab_text_start(struct lab_text_state *st, const char *title)
{
    enum lab_status status = lab_doc_check(&st->doc);
    if (status) {
        lab_doc_release(&st->doc);
        return status;
    }
    snprintf(st->title, sizeof(st->title), "%s", title);
    lab_pager_init(&st->pager, &st->doc);
    if (st->doc.first > 0)
        lab_pager_goto(&st->pager, st->doc.first);
    return LAB_OK;
}

static enum lab_status text_init(struct lab_screen *s, const void *args)
{
    struct lab_text_state *st = s->state;
    const struct lab_text_args *a = args;
    lab_doc_init(&st->doc);
    enum lab_status status = a->write(a->user, &st->doc);
    if (status) {
        lab_doc_release(&st->doc);
        return status;
    }
    return lab_text_start(st, a->title);
}

void lab_text_release(struct lab_screen *s)
{
    struct lab_text_state *st = s->state;
    lab_pager_release(&st->pager);
    lab_doc_release(&st->doc);
}

void lab_text_draw(struct lab_screen *s, struct lab_canvas *c,
                   struct lab_rect body)
{
    struct lab_text_state *st = s->state;
    lab_pager_draw(&st->pager, c, body);
}

void lab_text_panes(struct lab_screen *s, struct lab_panes *out)
{
    struct lab_text_state *st = s->state;
    out->at[0].pager = &st->pager;
}

void lab_text_title(struct lab_screen *s, char *out, size_t cap)
{
    struct lab_text_state *st = s->state;
    char place[64];
    snprintf(out, cap, "%s (%s)", st->title,
             lab_pager_place(&st->pager, place, sizeof(place)));
}

static const struct lab_binding keys[] = {
    {"/ F3", true, "search", "search for text", LAB_ACT_SEARCH},
    {"n", true, "next", "to the next match", LAB_ACT_SEARCH_NEXT},
    {NULL}};

const struct lab_screen_ops lab_view_text = {
    .name = "text",
    .title = "Text",
    .state_bytes = sizeof(struct lab_text_state),
    .bindings = keys,
    .sideways = true,
    .init = text_init,
    .release = lab_text_release,
    .draw = lab_text_draw,
    .panes = lab_text_panes,
    .title_now = lab_text_title,
};
