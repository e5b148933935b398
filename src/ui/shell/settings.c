/* settings.c -- reads the sizes of panes, the keys and the colours that the
 * configuration file sets. */
#include "ui/settings.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "debug/config.h"
#include "report/palette.h"
#include "ui/keymap.h"

static const struct {
    const char *name;
    const char *without;
    size_t at; /* in struct lab_pane_sizes */
    int least;
    int most;
} NAMES[] = {
    {"pane.steps", "by the width", offsetof(struct lab_pane_sizes, steps), 16,
     80},
    {"pane.text", "42", offsetof(struct lab_pane_sizes, text), 20, 60},
    {"pane.tensor", "58", offsetof(struct lab_pane_sizes, tensor), 30, 80},
    {"pane.focus", "none", offsetof(struct lab_pane_sizes, focus), 40, 80},
};
enum { N_NAMES = sizeof(NAMES) / sizeof(NAMES[0]) };
static const char key_prefix[] = "key.";
static const char color_prefix[] = "color.";

const char *lab_ui_setting_name(int i, const char **without)
{
    *without = i < N_NAMES ? NAMES[i].without : NULL;
    return i < N_NAMES ? NAMES[i].name : NULL;
}

static bool is_key(const char *name)
{
    return strncmp(name, key_prefix, sizeof(key_prefix) - 1) == 0;
}

static bool is_color(const char *name)
{
    return strncmp(name, color_prefix, sizeof(color_prefix) - 1) == 0;
}

const char *lab_ui_setting_screen(int i)
{
    /* By name: the screens are built on this module's part. */
    static const char *const names[] = {
        "home",   "stepper", "train",    "kernel",   "lab",   "runs",
        "run",    "compare", "roofline", "timeline", "flame", "what if",
        "tables", "facts",   "source",   "text",     NULL};
    return names[i];
}

/* Takes "run." off a name; NULL: there is no such part. */
static const char *screen_of(const char **name)
{
    const char *screen;
    for (int i = 0; (screen = lab_ui_setting_screen(i)); i++) {
        size_t n = strlen(screen);
        if (strncmp(*name, screen, n) != 0 || (*name)[n] != '.' ||
            !(*name)[n + 1])
            continue;
        *name += n + 1;
        return screen;
    }
    return NULL;
}

static int find(const char *name)
{
    int i = 0;
    while (i < N_NAMES && strcmp(name, NAMES[i].name) != 0)
        i++;
    return i;
}

bool lab_ui_setting_known(const char *name)
{
    return is_key(name) || is_color(name) || find(name) < N_NAMES;
}

static enum lab_status read_key(struct lab_ui_settings *out,
                                const struct lab_setting *s)
{
    const char *from = s->name + sizeof(key_prefix) - 1;
    int n = out->n_keys;
    if (n == LAB_KEYS_SET_MOST)
        return lab_config_fail(s, "more than %d keys", LAB_KEYS_SET_MOST);
    out->keys[n].by = s;
    out->keys[n].screen = screen_of(&from);
    out->keys[n].from = lab_key_parse(from);
    out->keys[n].to = lab_key_parse(s->value);
    static const char no_key[] =
        "\"%s\" is no key: write j, Space, Enter, F5, ^L, Up ...";
    if (out->keys[n].from == LAB_KEY_NONE)
        return lab_config_fail_name(s, no_key, from);
    if (out->keys[n].to == LAB_KEY_NONE)
        return lab_config_fail(s, no_key, s->value);
    out->n_keys++;
    return LAB_OK;
}

const struct lab_key_setting *
lab_ui_setting_key(const struct lab_ui_settings *s, const char *screen, int key)
{
    const struct lab_key_setting *found = NULL;
    for (int i = 0; i < s->n_keys; i++) {
        const struct lab_key_setting *k = &s->keys[i];
        if (k->from != key || (k->screen && strcmp(k->screen, screen) != 0))
            continue;
        if (k->screen)
            return k;
        found = k;
    }
    return found;
}

static enum lab_status no_color(const struct lab_setting *s)
{
    struct lab_str names;
    lab_str_init(&names);
    for (int role = 0; role < LAB_ROLE_COUNT; role++)
        if (lab_role_name(role))
            lab_str_addf(&names, "%s%s", names.len > 0 ? " " : "",
                         lab_role_name(role));
    enum lab_status st = lab_config_fail_name(
        s, "no colour \"%s\": one of %s", s->name + sizeof(color_prefix) - 1,
        lab_str_text(&names));
    lab_str_release(&names);
    return st;
}

static enum lab_status read_color(struct lab_ui_settings *out,
                                  const struct lab_setting *s)
{
    const char *name = s->name + sizeof(color_prefix) - 1;
    const char *digits = s->value + 1;
    int role = 0;
    while (role < LAB_ROLE_COUNT &&
           (!lab_role_name(role) || strcmp(lab_role_name(role), name) != 0))
        role++;
    if (role == LAB_ROLE_COUNT)
        return no_color(s);
    if (s->value[0] != '#' || strlen(digits) != 6 ||
        strspn(digits, "0123456789abcdefABCDEF") != 6)
        return lab_config_fail(s,
                               "%s '%s': write #RRGGBB, six hexadecimal "
                               "digits",
                               s->name, s->value);
    out->colors[role] = (int)strtol(digits, NULL, 16);
    return LAB_OK;
}

static enum lab_status read_size(struct lab_ui_settings *out,
                                 const struct lab_setting *s, int i)
{
    char *end;
    long v = strtol(s->value, &end, 10);
    if (end == s->value || *end || v < NAMES[i].least || v > NAMES[i].most)
        return lab_config_fail(s, "%s '%s': a whole number from %d to %d",
                               s->name, s->value, NAMES[i].least,
                               NAMES[i].most);
    *(int *)(void *)((char *)&out->panes + NAMES[i].at) = (int)v;
    return LAB_OK;
}

static enum lab_status read_setting(struct lab_ui_settings *out,
                                    const struct lab_setting *s)
{
    int i = find(s->name);
    if (is_key(s->name))
        return read_key(out, s);
    if (is_color(s->name))
        return read_color(out, s);
    if (i == N_NAMES)
        return LAB_OK; /* an option */
    return read_size(out, s, i);
}

enum lab_status lab_ui_settings_read(struct lab_ui_settings *out)
{
    const struct lab_config *config;
    enum lab_status st = lab_config_get(&config);
    *out = (struct lab_ui_settings){.n_keys = 0};
    for (int role = 0; role < LAB_ROLE_COUNT; role++)
        out->colors[role] = -1;
    for (int i = 0; !st && i < config->n; i++)
        st = read_setting(out, &config->list[i]);
    return st;
}
