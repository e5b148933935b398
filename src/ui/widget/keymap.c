/* keymap.c -- keys by name, and looking up what they are bound to. */
#include "ui/keymap.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"

#define MOVES                                                                  \
    {{LAB_KEY_UP, 'k'}, LAB_ACT_UP, "up", "move up", false},                   \
        {{LAB_KEY_DOWN, 'j'}, LAB_ACT_DOWN, "down", "move down", false},       \
        {{LAB_KEY_PAGE_UP, 2},                                                 \
         LAB_ACT_PAGE_UP,                                                      \
         "page up",                                                            \
         "a page up",                                                          \
         false},                                                               \
        {{LAB_KEY_PAGE_DOWN, 6},                                               \
         LAB_ACT_PAGE_DOWN,                                                    \
         "page down",                                                          \
         "a page down",                                                        \
         false},                                                               \
        {{LAB_KEY_HOME, 'g'}, LAB_ACT_FIRST, "first", "to the first", false},  \
        {{LAB_KEY_END, 'G'}, LAB_ACT_LAST, "last", "to the last", false},      \
        {{LAB_KEY_TAB}, LAB_ACT_NEXT_PANE, "pane", "to the next pane", false}, \
        {{LAB_KEY_BACKTAB},                                                    \
         LAB_ACT_PREV_PANE,                                                    \
         "pane back",                                                          \
         "to the pane before",                                                 \
         false},                                                               \
        {{LAB_KEY_ENTER}, LAB_ACT_OPEN, "open", "open what is chosen", false}, \
        {{'/', LAB_KEY_F1 + 2},                                                \
         LAB_ACT_SEARCH,                                                       \
         "search",                                                             \
         "search for text",                                                    \
         false},                                                               \
        {{'n'}, LAB_ACT_SEARCH_NEXT, "next", "to the next match", false},      \
        {{'N'},                                                                \
         LAB_ACT_SEARCH_PREV,                                                  \
         "previous",                                                           \
         "to the match before",                                                \
         false},                                                               \
        {{':'},                                                                \
         LAB_ACT_COMMAND,                                                      \
         "command",                                                            \
         "type a command; an empty line cancels",                              \
         false},                                                               \
        {{LAB_KEY_ESC}, LAB_ACT_CANCEL, "cancel", "cancel", false},            \
    {                                                                          \
        {LAB_KEY_CTRL_L}, LAB_ACT_REDRAW, "redraw", "draw the screen again",   \
            false                                                              \
    }

#define ENDS                                                                   \
    {{'q', LAB_KEY_F1 + 9},                                                    \
     LAB_ACT_BACK,                                                             \
     "back",                                                                   \
     "close this screen; the last one ends the program",                       \
     true},                                                                    \
    {                                                                          \
        {0}, LAB_ACT_NONE, NULL, NULL, false                                   \
    }

static const struct lab_binding SIDEWAYS[] = {
    MOVES,
    {{LAB_KEY_LEFT, 'h'}, LAB_ACT_LEFT, "left", "move left", false},
    {{LAB_KEY_RIGHT, 'l'}, LAB_ACT_RIGHT, "right", "move right", false},
    {{'?', LAB_KEY_F1}, LAB_ACT_HELP, "help", "all keys of this screen", true},
    ENDS};

static const struct lab_binding UPRIGHT[] = {
    MOVES,
    {{LAB_KEY_LEFT}, LAB_ACT_LEFT, "left", "move left", false},
    {{LAB_KEY_RIGHT, 'l'}, LAB_ACT_RIGHT, "right", "move right", false},
    {{'?', LAB_KEY_F1, 'h'},
     LAB_ACT_HELP,
     "help",
     "all keys of this screen",
     true},
    ENDS};

const struct lab_binding *lab_global_keymap(bool sideways)
{
    return sideways ? SIDEWAYS : UPRIGHT;
}

static bool binds(const struct lab_binding *b, int key)
{
    for (int i = 0; i < LAB_BINDING_KEYS; i++)
        if (b->keys[i] == key)
            return true;
    return false;
}

const struct lab_binding *lab_keymap_find(const struct lab_binding *table,
                                          int key)
{
    if (!table || key == LAB_KEY_NONE)
        return NULL;
    for (; table->action != LAB_ACT_NONE; table++)
        if (binds(table, key))
            return table;
    return NULL;
}

const struct lab_binding *lab_keymap_action(const struct lab_binding *table,
                                            int action)
{
    if (!table)
        return NULL;
    for (; table->action != LAB_ACT_NONE; table++)
        if (table->action == action)
            return table;
    return NULL;
}

size_t lab_keymap_count(const struct lab_binding *table)
{
    size_t n = 0;
    if (table)
        while (table[n].action != LAB_ACT_NONE)
            n++;
    return n;
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

static void put_utf8(unsigned code, char *out)
{
    if (code < 0x80) {
        *out++ = (char)code;
    } else if (code < 0x800) {
        *out++ = (char)(0xC0 | (code >> 6));
        *out++ = (char)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        *out++ = (char)(0xE0 | (code >> 12));
        *out++ = (char)(0x80 | ((code >> 6) & 0x3F));
        *out++ = (char)(0x80 | (code & 0x3F));
    } else {
        *out++ = (char)(0xF0 | (code >> 18));
        *out++ = (char)(0x80 | ((code >> 12) & 0x3F));
        *out++ = (char)(0x80 | ((code >> 6) & 0x3F));
        *out++ = (char)(0x80 | (code & 0x3F));
    }
    *out = '\0';
}

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
        put_utf8((unsigned)key, out);
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

static bool is_function_key(int key)
{
    return key >= LAB_KEY_F1 && key <= LAB_KEY_F12;
}

static enum lab_status check_row(const struct lab_binding *table,
                                 const struct lab_binding *row)
{
    bool function = false;
    bool letter = false;
    char name[LAB_KEY_NAME_BYTES];
    if (!row->name || !row->help || !row->name[0] || !row->help[0])
        return lab_fail(LAB_E_CHECK, "the binding of action %d has no text",
                        row->action);
    for (int i = 0; i < LAB_BINDING_KEYS; i++) {
        int key = row->keys[i];
        if (key == LAB_KEY_NONE)
            continue;
        function = function || is_function_key(key);
        letter = letter || !is_function_key(key);
        if (lab_keymap_find(table, key) != row)
            return lab_fail(LAB_E_CHECK, "%s is bound twice, again as \"%s\"",
                            lab_key_name(key, name), row->name);
    }
    if (!function && !letter)
        return lab_fail(LAB_E_CHECK, "\"%s\" has no key", row->name);
    if (function && !letter)
        return lab_fail(LAB_E_CHECK, "\"%s\" has an F key and no letter",
                        row->name);
    return LAB_OK;
}

enum lab_status lab_keymap_check(const struct lab_binding *table)
{
    size_t count = lab_keymap_count(table);
    for (size_t i = 0; i < count; i++) {
        enum lab_status st = check_row(table, &table[i]);
        if (st)
            return st;
    }
    return LAB_OK;
}
