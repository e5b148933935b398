#include "ui/prompt.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "ui/keymap.h"

enum {
    CTRL_A = 1,
    CTRL_B = 2,
    CTRL_E = 5,
    CTRL_F = 6,
    CTRL_K = 11,
    CTRL_U = 21,
    CTRL_W = 23
};

void lab_history_add(struct lab_history *h, const char *line)
{
    if (!line[0] || (h->count > 0 && strcmp(h->line[h->count - 1], line) == 0))
        return;
    if (h->count == LAB_HISTORY_LINES) {
        memmove(h->line[0], h->line[1],
                sizeof(h->line[0]) * (LAB_HISTORY_LINES - 1));
        h->count--;
    }
    snprintf(h->line[h->count++], LAB_PROMPT_BYTES, "%s", line);
}

static void set_text(struct lab_prompt *p, const char *text)
{
    snprintf(p->text, sizeof(p->text), "%s", text);
    p->at = strlen(p->text);
}

void lab_prompt_start(struct lab_prompt *p, const char *label,
                      const char *initial, struct lab_history *history)
{
    *p = (struct lab_prompt){.history = history};
    snprintf(p->label, sizeof(p->label), "%s", label);
    set_text(p, initial ? initial : "");
}

static size_t before(const struct lab_prompt *p, size_t at)
{
    if (at == 0)
        return 0;
    at--;
    while (at > 0 && ((unsigned char)p->text[at] & 0xC0) == 0x80)
        at--;
    return at;
}

static size_t after(const struct lab_prompt *p, size_t at)
{
    unsigned code;
    size_t len = lab_utf8_next(p->text + at, strlen(p->text + at), &code);
    return at + (len ? len : p->text[at] != '\0');
}

static void cut(struct lab_prompt *p, size_t from, size_t to)
{
    memmove(p->text + from, p->text + to, strlen(p->text + to) + 1);
    p->at = from;
}

static void insert(struct lab_prompt *p, const char *bytes)
{
    size_t n = strlen(bytes);
    size_t have = strlen(p->text);
    if (have + n >= sizeof(p->text))
        return; /* full: typing has no effect */
    memmove(p->text + p->at + n, p->text + p->at, have - p->at + 1);
    memcpy(p->text + p->at, bytes, n);
    p->at += n;
}

size_t lab_prompt_word(const struct lab_prompt *p)
{
    size_t at = p->at;
    while (at > 0 && p->text[at - 1] != ' ')
        at--;
    return at;
}

void lab_prompt_complete(struct lab_prompt *p, const char *word)
{
    cut(p, lab_prompt_word(p), p->at);
    insert(p, word);
}

static void walk_history(struct lab_prompt *p, int step)
{
    int back = p->back + step;
    if (!p->history || back < 0 || back > p->history->count)
        return;
    if (p->back == 0)
        snprintf(p->draft, sizeof(p->draft), "%s", p->text);
    p->back = back;
    set_text(p,
             back == 0 ? p->draft : p->history->line[p->history->count - back]);
}

static void cut_word(struct lab_prompt *p)
{
    size_t from = p->at;
    while (from > 0 && p->text[from - 1] == ' ')
        from--;
    while (from > 0 && p->text[from - 1] != ' ')
        from--;
    cut(p, from, p->at);
}

static void edit(struct lab_prompt *p, int key)
{
    char name[LAB_KEY_NAME_BYTES];
    switch (key) {
    case LAB_KEY_LEFT:
    case CTRL_B:
        p->at = before(p, p->at);
        break;
    case LAB_KEY_RIGHT:
    case CTRL_F:
        p->at = after(p, p->at);
        break;
    case LAB_KEY_HOME:
    case CTRL_A:
        p->at = 0;
        break;
    case LAB_KEY_END:
    case CTRL_E:
        p->at = strlen(p->text);
        break;
    case LAB_KEY_DELETE:
        cut(p, p->at, after(p, p->at));
        break;
    case CTRL_K:
        p->text[p->at] = '\0';
        break;
    case CTRL_U:
        cut(p, 0, p->at);
        break;
    case CTRL_W:
        cut_word(p);
        break;
    default:
        if (key == ' ')
            insert(p, " ");
        else if (key > ' ' && key < LAB_KEY_UP)
            insert(p, lab_key_name(key, name));
    }
}

enum lab_prompt_result lab_prompt_key(struct lab_prompt *p, int key)
{
    size_t from;
    switch (key) {
    case LAB_KEY_ENTER:
        if (p->history)
            lab_history_add(p->history, p->text);
        return LAB_PROMPT_DONE;
    case LAB_KEY_ESC:
        return LAB_PROMPT_CANCELLED;
    case LAB_KEY_BACKSPACE:
        if (p->text[0] == '\0')
            return LAB_PROMPT_CANCELLED;
        from = before(p, p->at);
        cut(p, from, p->at);
        return LAB_PROMPT_MORE;
    case LAB_KEY_UP:
        walk_history(p, 1);
        return LAB_PROMPT_MORE;
    case LAB_KEY_DOWN:
        walk_history(p, -1);
        return LAB_PROMPT_MORE;
    default:
        edit(p, key);
        return LAB_PROMPT_MORE;
    }
}

void lab_prompt_draw(const struct lab_prompt *p, struct lab_canvas *c,
                     struct lab_rect row)
{
    char left[LAB_PROMPT_BYTES];
    int used = lab_canvas_text(c, row.y, row.x, row.w, LAB_ROLE_KEY, p->label);
    int room = row.w - used - 1; /* the cursor stands after the last one */
    size_t from = 0;
    if (room < 1)
        return;
    memcpy(left, p->text, p->at);
    left[p->at] = '\0';
    while (lab_canvas_columns(c, left + from) > room)
        from = after(p, from);
    lab_canvas_text(c, row.y, row.x + used, room + 1, LAB_ROLE_NORMAL,
                    p->text + from);
    lab_canvas_cursor(c, row.y,
                      row.x + used + lab_canvas_columns(c, left + from));
}
