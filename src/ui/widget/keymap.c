/* keymap.c -- keys by name, and looking up what they are bound to.
 *
 * Each view has a table of its keys; here are the keys that work everywhere,
 * names such as "PgUp" and "^B", the bar at the foot, and the check that no two
 * bindings of a view collide. The shell (ui.c) turns a key into an action with
 * it. */
#include "ui/keymap.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

/* The keys that work everywhere: h moves left, or opens help. */
#define EVERYWHERE(left, help)                                                 \
    {                                                                          \
        {"Up k", false, "up", "move up", LAB_ACT_UP},                          \
            {"Down j", false, "down", "move down", LAB_ACT_DOWN},              \
            {"PgUp ^B", false, "page up", "a page up", LAB_ACT_PAGE_UP},       \
            {"PgDn ^F", false, "page down", "a page down", LAB_ACT_PAGE_DOWN}, \
            {"Home g", false, "first", "to the first", LAB_ACT_FIRST},         \
            {"End G", false, "last", "to the last", LAB_ACT_LAST},             \
            {"Tab", false, "pane", "to the next pane", LAB_ACT_NEXT_PANE},     \
            {"Shift-Tab", false, "pane back", "to the pane before",            \
             LAB_ACT_PREV_PANE},                                               \
            {"Enter", false, "open", "open what is chosen", LAB_ACT_OPEN},     \
            {"/ F3", false, "search", "search for text", LAB_ACT_SEARCH},      \
            {"n", false, "next", "to the next match", LAB_ACT_SEARCH_NEXT},    \
            {"N", false, "previous", "to the match before",                    \
             LAB_ACT_SEARCH_PREV},                                             \
            {":", false, "command", "type a command; an empty line cancels",   \
             LAB_ACT_COMMAND},                                                 \
            {"Esc", false, "cancel", "cancel", LAB_ACT_CANCEL},                \
            {"^L", false, "redraw", "draw the screen again", LAB_ACT_REDRAW},  \
            {left, false, "left", "move left", LAB_ACT_LEFT},                  \
            {"Right l", false, "right", "move right", LAB_ACT_RIGHT},          \
            {help, true, "help", "all keys of this screen", LAB_ACT_HELP},     \
            {"q F10", true, "back",                                            \
             "close this screen; the last one ends the program",               \
             LAB_ACT_BACK},                                                    \
        {                                                                      \
            NULL                                                               \
        }                                                                      \
    }

static const struct lab_binding SIDEWAYS[] = EVERYWHERE("Left h", "? F1");
static const struct lab_binding UPRIGHT[] = EVERYWHERE("Left", "? F1 h");

const struct lab_binding *lab_global_keymap(bool sideways)
{
    return sideways ? SIDEWAYS : UPRIGHT;
}

int lab_key_next(const char **names)
{
    char name[LAB_KEY_NAME_BYTES];
    *names += strspn(*names, " ");
    size_t n = strcspn(*names, " ");
    snprintf(name, sizeof(name), "%.*s", (int)n, *names);
    int key = lab_key_parse(name);
    *names += key ? n : 0;
    return key;
}

const struct lab_binding *lab_keymap_find(const struct lab_binding *table,
                                          int key)
{
    for (; table && key != LAB_KEY_NONE && table->keys; table++) {
        const char *names = table->keys;
        for (int k = lab_key_next(&names); k; k = lab_key_next(&names))
            if (k == key)
                return table;
    }
    return NULL;
}

const struct lab_binding *lab_keymap_action(const struct lab_binding *table,
                                            int action)
{
    for (; table && action != LAB_ACT_OWN && table->keys; table++)
        if (table->action == action)
            return table;
    return NULL;
}

const struct lab_binding *lab_keymap_bar(const struct lab_binding *table,
                                         const char *bar,
                                         struct lab_binding *out)
{
    size_t n = strlen(bar);
    unsigned taken = 0; /* "L" comes before "Left" */
    for (;; table++) {
        const char *at = table->keys ? strchr(bar, table->keys[0]) : NULL;
        at = at && !(taken >> (at - bar) & 1) ? at : NULL;
        taken |= at ? 1u << (at - bar) : 0;
        struct lab_binding *to = at ? &out[at - bar] : &out[n++];
        *to = *table;
        to->bar = at != NULL;
        if (!table->keys)
            return out;
    }
}

int64_t lab_action_move(int action, int64_t at, int64_t count, int64_t page)
{
    page = page > 2 ? page - 1 : 1;
    switch (action) {
    case LAB_ACT_UP:
        at--;
        break;
    case LAB_ACT_DOWN:
        at++;
        break;
    case LAB_ACT_PAGE_UP:
        at -= page;
        break;
    case LAB_ACT_PAGE_DOWN:
        at += page;
        break;
    case LAB_ACT_FIRST:
        at = 0;
        break;
    case LAB_ACT_LAST:
        at = count - 1;
        break;
    default:
        return -1;
    }
    at = at < count ? at : count - 1;
    return at > 0 ? at : 0;
}

static const struct {
    int key;
    const char *name;
} NAMES[] = {
    {' ', "Space"},
    {LAB_KEY_TAB, "Tab"},
    {LAB_KEY_ENTER, "Enter"},
    {LAB_KEY_ESC, "Esc"},
    {LAB_KEY_BACKSPACE, "Backspace"},
    {LAB_KEY_UP, "Up"},
    {LAB_KEY_DOWN, "Down"},
    {LAB_KEY_LEFT, "Left"},
    {LAB_KEY_RIGHT, "Right"},
    {LAB_KEY_PAGE_UP, "PgUp"},
    {LAB_KEY_PAGE_DOWN, "PgDn"},
    {LAB_KEY_HOME, "Home"},
    {LAB_KEY_END, "End"},
    {LAB_KEY_INSERT, "Ins"},
    {LAB_KEY_DELETE, "Del"},
    {LAB_KEY_BACKTAB, "Shift-Tab"},
};

enum { NAME_COUNT = sizeof(NAMES) / sizeof(NAMES[0]) };

const char *lab_key_name(int key, char out[LAB_KEY_NAME_BYTES])
{
    for (int i = 0; i < NAME_COUNT; i++) {
        if (NAMES[i].key == key) {
            snprintf(out, LAB_KEY_NAME_BYTES, "%s", NAMES[i].name);
            return out;
        }
    }
    if (key >= LAB_KEY_F1 && key <= LAB_KEY_F12)
        snprintf(out, LAB_KEY_NAME_BYTES, "F%d", key - LAB_KEY_F1 + 1);
    else if (key > 0 && key < 0x20)
        snprintf(out, LAB_KEY_NAME_BYTES, "^%c", key + '@');
    else if (key > 0 && key < 0x110000)
        lab_utf8_put((unsigned)key, out);
    else
        snprintf(out, LAB_KEY_NAME_BYTES, "key %d", key);
    return out;
}

int lab_key_parse(const char *name)
{
    size_t n = strlen(name);
    unsigned code;
    for (int i = 0; i < NAME_COUNT; i++)
        if (strcmp(NAMES[i].name, name) == 0)
            return NAMES[i].key;
    int number;
    char rest;
    if (sscanf(name, "F%d%c", &number, &rest) == 1 && number >= 1 &&
        number <= 12)
        return LAB_KEY_F1 + number - 1;
    if (n == 2 && name[0] == '^' && name[1] >= '@' && name[1] <= '_')
        return name[1] - '@';
    if (n > 0 && lab_utf8_next(name, n, &code) == n && code >= 0x20)
        return (int)code;
    return LAB_KEY_NONE;
}

/* Whether the key means what it does on all screens. Esc and q end what there is
 * to end, Enter is what a screen does first, h is left or help; n may be gdb's: in a
 * search the shell takes it for the matches, and shows that. */
static bool means(const struct lab_binding *row, const struct lab_binding *all,
                  int key)
{
    return row->action == all->action || key == LAB_KEY_ESC || key == 'q' ||
           key == LAB_KEY_ENTER ||
           (key == 'h' && row->action == LAB_ACT_LEFT) ||
           (key == 'n' && (row->act || row->act_with));
}

static enum lab_status check_row(const struct lab_binding *table,
                                 const struct lab_binding *row)
{
    bool function = false;
    bool letter = false;
    const char *keys = row->keys;
    if (!row->name || !row->help || !row->name[0] || !row->help[0])
        return lab_fail(LAB_E_CHECK, "the binding of %s has no text", keys);
    for (int key = lab_key_next(&keys); key; key = lab_key_next(&keys)) {
        bool f = key >= LAB_KEY_F1 && key <= LAB_KEY_F12;
        char name[LAB_KEY_NAME_BYTES];
        function = function || f;
        letter = letter || !f;
        const struct lab_binding *all =
            lab_keymap_find(lab_global_keymap(false), key);
        if (all && key < LAB_KEY_F1 && !means(row, all, key))
            return lab_fail(LAB_E_CHECK, "%s of \"%s\" is \"%s\" elsewhere",
                            lab_key_name(key, name), row->name, all->name);
        if (lab_keymap_find(table, key) != row)
            return lab_fail(LAB_E_CHECK, "%s is bound twice, again as \"%s\"",
                            lab_key_name(key, name), row->name);
    }
    if (*keys || (!function && !letter))
        return lab_fail(LAB_E_CHECK, "\"%s\" has no such key: \"%s\"",
                        row->name, row->keys);
    if (function && !letter)
        return lab_fail(LAB_E_CHECK, "\"%s\" has an F key and no letter",
                        row->name);
    return LAB_OK;
}

enum lab_status lab_keymap_check(const struct lab_binding *table)
{
    enum lab_status st = LAB_OK;
    for (const struct lab_binding *b = table; !st && b && b->keys; b++)
        st = check_row(table, b);
    return st;
}
