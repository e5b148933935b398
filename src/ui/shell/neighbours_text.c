/* neighbours_text.c -- the answer to `:near` on the message line. */
#include "neighbours_text.h"

void lab_ui_say_near(struct lab_ui *ui, const struct lab_snapshot *snap)
{
    struct lab_str text;
    if (!snap->words)
        return;
    lab_str_init(&text);
    lab_near_text(snap->words, &snap->near, &text);
    if (text.failed)
        lab_ui_message(ui, LAB_ROLE_BAD, "no memory for the answer");
    else
        lab_ui_message(ui, LAB_ROLE_NORMAL, "%s", lab_str_text(&text));
    lab_str_release(&text);
}
