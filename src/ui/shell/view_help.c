/* view_help.c -- the help page of a screen, made from its key table. */
#include "ui/view_help.h"

#include <stdio.h>
#include <string.h>

#include "ui/ui.h"
#include "view_text.h"

enum { KEYS_W = 22 };

/* The keys of a row that no other table has taken. */
static void key_list(const struct lab_binding *b,
                     const struct lab_binding *hidden_by, char *out, size_t cap)
{
    char name[LAB_KEY_NAME_BYTES];
    const char *keys = b->keys;
    size_t n = 0;
    out[0] = '\0';
    for (int key = lab_key_next(&keys); key; key = lab_key_next(&keys))
        if (!lab_keymap_find(hidden_by, key))
            n += (size_t)snprintf(out + n, cap - n, "%s%s", n ? " " : "",
                                  lab_key_name(key, name));
}

static void write_row(struct lab_doc *doc, const char *keys, const char *help)
{
    lab_doc_para(doc, 2, KEYS_W + 2, true);
    lab_doc_addf(doc, LAB_ROLE_KEY, "%-*s", KEYS_W - 1, keys);
    lab_doc_addf(doc, LAB_ROLE_NORMAL, " %s", help);
}

static void write_table(struct lab_doc *doc, const struct lab_binding *table,
                        const struct lab_binding *hidden_by)
{
    char keys[64];
    for (; table->keys; table++) {
        if (lab_keymap_action(hidden_by, table->action))
            continue;
        key_list(table, hidden_by, keys, sizeof(keys));
        if (keys[0])
            write_row(doc, keys, table->help);
    }
}

static void write_heading(struct lab_doc *doc, const char *text)
{
    if (doc->para_count)
        lab_doc_blank(doc);
    lab_doc_para(doc, 0, 0, true);
    lab_doc_add(doc, LAB_ROLE_HEADING, text);
}

static void write_words(struct lab_doc *doc)
{
    size_t count;
    const struct lab_ui_command_word *words = lab_ui_command_words(&count);
    write_heading(doc, "Commands, after \":\"; a word may be shortened");
    for (size_t i = 0; i < count; i++) {
        if (!words[i].help)
            continue;
        if (strlen(words[i].usage) < KEYS_W) {
            write_row(doc, words[i].usage, words[i].help);
            continue;
        }
        lab_doc_para(doc, 2, KEYS_W + 2, true);
        lab_doc_add(doc, LAB_ROLE_KEY, words[i].usage);
        write_row(doc, "", words[i].help);
    }
}

void lab_help_write(struct lab_doc *doc, const struct lab_screen_ops *ops,
                    const struct lab_binding *bindings)
{
    char heading[128];
    if (bindings) {
        snprintf(heading, sizeof(heading), "Keys of this screen (%s)",
                 ops->title);
        write_heading(doc, heading);
        write_table(doc, bindings, NULL);
    }
    const struct lab_sign *sign = ops->signs;
    if (sign)
        write_heading(doc, "Signs");
    for (; sign && sign->sign; sign++)
        write_row(doc, sign->sign, sign->means);
    write_heading(doc, "Everywhere");
    write_table(doc, lab_global_keymap(ops->sideways), bindings);
    write_row(doc, "^C", "end the program");
    write_row(doc, "^Z", "stop it; \"fg\" in the shell goes on");
    if (ops->command)
        write_words(doc);
}

static enum lab_status help_init(struct lab_screen *s, const void *args)
{
    struct lab_text_state *st = s->state;
    const struct lab_screen *of = args;
    lab_doc_init(&st->doc);
    lab_help_write(&st->doc, of->ops, lab_ui_keys(of));
    return lab_text_start(st, "Help");
}

static bool help_action(struct lab_screen *s, int action)
{
    if (action == LAB_ACT_HELP)
        lab_ui_pop(s->ui); /* the key that opened it closes it */
    return action == LAB_ACT_HELP;
}

const struct lab_screen_ops lab_view_help = {
    .name = "help",
    .title = "Help",
    .state_bytes = sizeof(struct lab_text_state),
    .init = help_init,
    .release = lab_text_release,
    .draw = lab_text_draw,
    .action = help_action,
    .panes = lab_text_panes,
    .title_now = lab_text_title,
};
