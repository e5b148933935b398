#include "ui_priv.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

static bool too_small(const struct lab_ui *ui)
{
    return lab_frame_layout(ui->canvas.h, ui->canvas.w).small;
}

static bool may_close(struct lab_screen *s)
{
    return !s->ops->may_close || s->ops->may_close(s);
}

/* A screen that stays open may ask a question: those over it close first. */
static void quit(struct lab_ui *ui)
{
    for (int i = ui->depth - 1; i >= 0; i--) {
        struct lab_screen *s = &ui->stack[i].screen;
        if (may_close(s))
            continue;
        for (int k = i + 1; k < ui->depth; k++)
            ui->stack[k].closing = true;
        return;
    }
    lab_ui_quit(ui);
}

static void run_command(struct lab_ui *ui, const char *line)
{
    struct lab_ui_command cmd;
    struct lab_screen *s = &lab_ui_top(ui)->screen;
    if (lab_ui_command_parse(line, &cmd)) {
        lab_ui_error(ui);
        return;
    }
    if (cmd.kind == LAB_COMMAND_NONE ||
        (s->ops->command && s->ops->command(s, &cmd)))
        return;
    if (cmd.kind == LAB_COMMAND_HELP) {
        lab_ui_help(ui);
        s = &lab_ui_top(ui)->screen; /* help itself, unless memory is short */
        if (cmd.arg[0] && s->ops->answer)
            s->ops->answer(s, LAB_PROMPT_SEARCH, cmd.arg);
    } else if (cmd.kind == LAB_COMMAND_QUIT) {
        quit(ui);
    } else {
        lab_ui_message(ui, LAB_ROLE_WARN, "\"%s\" means nothing on this screen",
                       lab_ui_command_name(cmd.kind));
    }
}

static void finish_asking(struct lab_ui *ui, const char *answer)
{
    char text[LAB_PROMPT_BYTES];
    struct lab_screen *s = &lab_ui_top(ui)->screen;
    int id = ui->asking_id;
    ui->asking = LAB_ASK_NOTHING;
    if (answer)
        snprintf(text, sizeof(text), "%s", answer); /* it may ask again */
    if (id == LAB_PROMPT_COMMAND) {
        if (answer)
            run_command(ui, text);
    } else if (s->ops->answer) {
        s->ops->answer(s, id, answer ? text : NULL);
    }
}

/* The nth candidate for the word under the cursor. */
static const char *candidate(struct lab_ui *ui, int nth)
{
    struct lab_screen *s = &lab_ui_top(ui)->screen;
    size_t count;
    const struct lab_ui_command_word *words = lab_ui_command_words(&count);
    if (lab_prompt_word(&ui->prompt) == 0)
        return nth < (int)count ? words[nth].word : NULL;
    char line[LAB_PROMPT_BYTES];
    snprintf(line, sizeof(line), "%s", ui->prompt.text);
    line[strcspn(line, " ")] = '\0';
    for (size_t i = 0; i < count; i++)
        if (strncmp(words[i].word, line, strlen(line)) == 0 && s->ops->complete)
            return s->ops->complete(s, words[i].kind, nth);
    return NULL;
}

/* Adds a word to those over the prompt, "..." where there is no room. False:
 * it is there, as the step that another phase has too. */
static bool list_word(char *list, size_t cap, const char *word)
{
    char padded[LAB_PROMPT_BYTES + 2];
    size_t used = strlen(list);
    snprintf(padded, sizeof(padded), " %s ", word);
    if (strstr(list, padded))
        return false;
    if (used + strlen(padded) + strlen(" ...") < cap)
        snprintf(list + used, cap - used, "%s", padded);
    else if (!strstr(list, " ..."))
        snprintf(list + used, cap - used, " ...");
    return true;
}

/* As much as all candidates agree on; they are listed when there are more. */
static void complete(struct lab_ui *ui)
{
    enum { NTH_MOST = 10000 };
    char list[sizeof(ui->hint)] = "";
    char common[LAB_PROMPT_BYTES] = "";
    char start[LAB_PROMPT_BYTES];
    int found = 0;
    size_t from = lab_prompt_word(&ui->prompt);
    snprintf(start, sizeof(start), "%.*s", (int)(ui->prompt.at - from),
             ui->prompt.text + from);
    for (int nth = 0; nth < NTH_MOST; nth++) {
        const char *word = candidate(ui, nth);
        if (!word)
            break;
        if (strncmp(word, start, strlen(start)) != 0 ||
            !list_word(list, sizeof(list), word))
            continue;
        size_t same = 0;
        if (found++ == 0)
            snprintf(common, sizeof(common), "%s", word);
        while (common[same] && common[same] == word[same])
            same++;
        common[same] = '\0';
    }
    if (found == 0)
        return;
    if (found > 1)
        lab_ui_hint(ui, list);
    else
        strncat(common, " ", sizeof(common) - strlen(common) - 1);
    lab_prompt_complete(&ui->prompt, common);
}

static void key_while_asking(struct lab_ui *ui, int key)
{
    if (ui->asking == LAB_ASK_YES) {
        ui->message[0] = '\0';
        finish_asking(ui, key == 'y' || key == 'Y' ? "y" : NULL);
        return;
    }
    if (ui->asking_id == LAB_PROMPT_COMMAND)
        ui->hint[0] = '\0'; /* what the last Tab listed */
    if (key == LAB_KEY_TAB) {
        if (ui->asking_id == LAB_PROMPT_COMMAND)
            complete(ui);
        return;
    }
    enum lab_prompt_result r = lab_prompt_key(&ui->prompt, key);
    if (r == LAB_PROMPT_DONE)
        finish_asking(ui, ui->prompt.text);
    else if (r == LAB_PROMPT_CANCELLED)
        finish_asking(ui, NULL);
}

/* What an action means when the screen does not want it. */
static bool act_everywhere(struct lab_ui *ui, int action)
{
    struct lab_screen *s = &lab_ui_top(ui)->screen;
    switch (action) {
    case LAB_ACT_COMMAND:
        lab_ui_prompt(ui, LAB_PROMPT_COMMAND, ":", NULL);
        return true;
    case LAB_ACT_SEARCH:
        if (!s->ops->answer)
            return false;
        lab_ui_prompt(ui, LAB_PROMPT_SEARCH, "/", NULL);
        return true;
    case LAB_ACT_HELP:
        lab_ui_help(ui);
        return true;
    case LAB_ACT_BACK:
        if (may_close(s))
            lab_ui_pop(ui);
        return true;
    case LAB_ACT_CANCEL:
        return true; /* nothing to cancel is no mistake */
    case LAB_ACT_REDRAW:
        if (ui->terminal)
            lab_terminal_redraw(ui->terminal);
        return true;
    default:
        return false;
    }
}

void lab_ui_handle_key(struct lab_ui *ui, int key)
{
    struct lab_screen *s = &lab_ui_top(ui)->screen;
    char name[LAB_KEY_NAME_BYTES];
    ui->dirty = true;
    if (too_small(ui)) {
        /* What cannot be seen must not happen; the way out stays. */
        if (ui->asking != LAB_ASK_NOTHING) {
            if (key == 'q' || key == LAB_KEY_ESC)
                finish_asking(ui, NULL);
        } else if (key == 'q' && may_close(s)) {
            lab_ui_pop(ui);
        }
        return;
    }
    if (ui->asking != LAB_ASK_NOTHING) {
        key_while_asking(ui, key);
        return;
    }
    ui->message[0] = '\0';
    const struct lab_binding *b = lab_keymap_find(lab_ui_bindings(s), key);
    if (!b)
        b = lab_keymap_find(lab_global_keymap(s->ops->sideways), key);
    if (b && ((s->ops->action && s->ops->action(s, b->action)) ||
              act_everywhere(ui, b->action)))
        return;
    if (!b && s->ops->key && s->ops->key(s, key))
        return;
    lab_ui_message(ui, LAB_ROLE_WARN, "%s does nothing here: press ? for help",
                   lab_key_name(key, name));
}

void lab_ui_handle_mouse(struct lab_ui *ui, const struct lab_event *e)
{
    struct lab_screen *s = &lab_ui_top(ui)->screen;
    struct lab_frame f = lab_frame_layout(ui->canvas.h, ui->canvas.w);
    ui->dirty = true;
    if (f.small || ui->asking != LAB_ASK_NOTHING)
        return;
    if (lab_rect_has(f.bar, e->y, e->x) && e->mouse == LAB_MOUSE_CLICK) {
        for (int i = 0; i < ui->bar_count; i++) {
            if (e->x >= ui->bar[i].x && e->x < ui->bar[i].x + ui->bar[i].w) {
                lab_ui_handle_key(ui, ui->bar[i].key);
                return;
            }
        }
    } else if (lab_rect_has(f.body, e->y, e->x)) {
        if (s->ops->mouse && s->ops->mouse(s, e->mouse, e->y, e->x))
            return;
        if (e->mouse == LAB_MOUSE_WHEEL_UP)
            lab_ui_handle_key(ui, LAB_KEY_UP);
        else if (e->mouse == LAB_MOUSE_WHEEL_DOWN)
            lab_ui_handle_key(ui, LAB_KEY_DOWN);
    }
}
