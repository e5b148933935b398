/* cmd_config.c -- lapenna-lab config: each setting, its value, and where that
 * comes from. */
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "debug/config.h"
#include "debug/options.h"
#include "report/exit.h"
#include "report/json_line.h"
#include "report/print.h"
#include "report/text_table.h"
#include "base/unknown.h"
#include "ui/kernel.h"
#include "ui/settings.h"
#include "ui/stepper.h"
#include "ui/views.h"

static void one_word(struct lab_options *o, struct argp_state *state)
{
    for (int i = 0; i < o->n_words; i++)
        if (i > 0 || strcmp(o->words[0], "keys") != 0)
            lab_usage_error(state,
                            "[usage.config-word] it takes no word but keys: "
                            "'%s'",
                            o->words[i]);
}

static const struct lab_command_line usage = {
    .name = "lapenna-lab config",
    .commands = LAB_FOR_CONFIG,
    .args = "[keys]",
    .doc =
        "The settings: theme, colors, keys, sizes of panes, defaults of "
        "options; the "
        "value of each, and where it comes from. With `keys`: the keys of "
        "each screen, by the names that the file takes, and what they do.\v"
        "They are in $XDG_CONFIG_HOME/lapenna-lab/config (without that "
        "variable, in ~/.config), a line each:\n\n"
        "  theme = light\n"
        "  color.forward = #38AFA4\n"
        "  key.F6 = v\n"
        "  key.run.x = O\n"
        "  backend = cpu\n"
        "  variant = dense=blas\n\n"
        "`key.F6 = v` gives F6 the meaning of v, on every screen or on the one "
        "that is named. An option of the command line comes before the "
        "file's. A comment begins with # and has its own line.\n\n"
        "Exit status: 0 done, 2 wrong usage, 3 a file that is wrong.",
    .check = one_word};

struct printer {
    const struct lab_config *config;
    const struct lab_ui_settings *screens;
    bool json;
    struct lab_text_table table;
    enum lab_status st;
};

/* Without a value and an origin: what holds then, in words. */
static void print(struct printer *p, const char *name, const char *value,
                  const char *without, const struct lab_setting *from)
{
    if (p->st)
        return;
    if (!p->json) {
        lab_text_table_add(&p->table, name);
        lab_text_table_add(&p->table, value[0]  ? value
                                      : without ? without
                                                : "-");
        if (from)
            lab_text_table_addf(&p->table, "%s:%d", p->config->path,
                                from->line);
        else
            lab_text_table_add(&p->table, "built in");
        return;
    }
    json_t *line = lab_json_new("setting");
    lab_json_text(line, "name", name);
    lab_json_text(line, "value", value[0] ? value : NULL);
    lab_json_text(line, "without", without);
    lab_json_text(line, "origin", from ? "file" : "built in");
    lab_json_text(line, "file", from ? p->config->path : NULL);
    lab_json_int(line, "line", from ? from->line : LAB_UNKNOWN);
    p->st = lab_json_print(line);
}

static void print_screens(struct printer *p)
{
    const char *without;
    const char *name;
    for (int i = 0; (name = lab_ui_setting_name(i, &without)); i++) {
        const struct lab_setting *s = lab_config_find(p->config, name);
        print(p, name, s ? s->value : without, NULL, s);
    }
    for (int i = 0; i < p->config->n; i++)
        if (strncmp(p->config->list[i].name, "key.", 4) == 0 ||
            strncmp(p->config->list[i].name, "color.", 6) == 0)
            print(p, p->config->list[i].name, p->config->list[i].value, NULL,
                  &p->config->list[i]);
}

/* ---- the keys ---- */

static const struct lab_screen_ops *const with_keys[] = {&lab_view_home,
                                                         &lab_view_stepper,
                                                         &lab_view_train,
                                                         &lab_view_kernel,
                                                         &lab_view_lab,
                                                         &lab_view_runs,
                                                         &lab_view_run,
                                                         &lab_view_compare,
                                                         &lab_view_roofline,
                                                         &lab_view_timeline,
                                                         &lab_view_flame,
                                                         &lab_view_what_if,
                                                         &lab_view_tables,
                                                         &lab_view_facts,
                                                         &lab_view_source,
                                                         &lab_view_text,
                                                         NULL};

/* What the file sets that means one of these keys on the screen; NULL. */
static const struct lab_setting *set_for(const struct lab_ui_settings *set,
                                         const char *screen, const char *keys)
{
    for (int i = 0; i < set->n_keys; i++) {
        const struct lab_key_setting *k = &set->keys[i];
        if (lab_ui_setting_key(set, screen, k->from) != k)
            continue;
        for (const char *at = keys; *at; at += strspn(at, " ")) {
            size_t n = strcspn(at, " ");
            if (strlen(k->by->value) == n && memcmp(k->by->value, at, n) == 0)
                return k->by;
            at += n;
        }
    }
    return NULL;
}

static void print_key(struct printer *p, const char *screen,
                      const struct lab_binding *row)
{
    const struct lab_setting *s = set_for(p->screens, screen, row->keys);
    if (p->st)
        return;
    if (!p->json) {
        lab_text_table_add(&p->table, screen);
        lab_text_table_add(&p->table, row->keys);
        lab_text_table_add(&p->table, row->help);
        if (s)
            lab_text_table_addf(&p->table, "%s, line %d", s->name, s->line);
        else
            lab_text_table_add(&p->table, "");
        return;
    }
    json_t *line = lab_json_new("key");
    lab_json_text(line, "screen", screen);
    lab_json_text(line, "keys", row->keys);
    lab_json_text(line, "does", row->help);
    lab_json_text(line, "set", s ? s->name : NULL);
    p->st = lab_json_print(line);
}

/* Those that work everywhere as "all". */
static void print_keys(struct printer *p)
{
    for (const struct lab_binding *row = lab_global_keymap(false); row->keys;
         row++)
        print_key(p, "all", row);
    for (int i = 0; with_keys[i]; i++)
        for (const struct lab_binding *row = with_keys[i]->bindings; row->keys;
             row++)
            print_key(p, with_keys[i]->name, row);
}

/* Options of which there may be several have a line each. */
static void print_options(struct printer *p)
{
    struct lab_options o;
    char text[256];
    lab_options_init(&o);
    for (const struct lab_option *at = lab_option_rows;
         at->name || at->commands; at++) {
        bool several = at->kind == LAB_KIND_VARIANTS;
        bool any = false;
        if (!at->name || !at->setting)
            continue;
        for (int i = 0; several && i < p->config->n; i++) {
            const struct lab_setting *s = &p->config->list[i];
            if (strcmp(s->name, at->name) != 0)
                continue;
            print(p, at->name, s->value, NULL, s);
            any = true;
        }
        const struct lab_setting *s =
            several ? NULL : lab_config_find(p->config, at->name);
        if (!any)
            print(p, at->name,
                  s ? s->value : lab_option_text(&o, at, text, sizeof(text)),
                  at->without, s);
    }
}

static int cmd_config(int argc, char **argv)
{
    static const char *const heads[] = {"setting", "value", "from", NULL};
    static const char *const key_heads[] = {"screen", "keys", "what they do",
                                            "set by", NULL};
    struct lab_options o;
    struct lab_ui_settings screens;
    lab_options_parse(&o, argc, argv, &usage);
    struct printer p = {.json = o.json, .screens = &screens};
    p.st = lab_config_get(&p.config);
    if (!p.st)
        p.st =
            lab_options_check_config(lab_ui_setting_known, lab_ui_setting_name);
    if (!p.st)
        p.st = lab_ui_settings_read(&screens);
    if (p.st)
        return lab_exit_error(p.st);
    const bool keys = o.n_words > 0;
    lab_text_table_init(&p.table, keys ? key_heads : heads);
    if (keys) {
        print_keys(&p);
    } else {
        print_screens(&p);
        print_options(&p);
    }
    if (!p.json && !p.st)
        p.st = lab_text_table_put(&p.table, "");
    if (!p.json && !p.st && !keys)
        lab_printf(
            stdout,
            "\nkey.NEW = KEY, key.SCREEN.NEW = KEY: `config keys` has the "
            "keys of each screen\n");
    if (!p.json && !p.st && p.config->n == 0 && p.config->path[0])
        lab_printf(stdout, "\nno settings in %s\n", p.config->path);
    lab_text_table_release(&p.table);
    return p.st ? lab_exit_error(p.st) : LAB_EXIT_DONE;
}

const struct lab_cmd lab_cmd_config = {
    .name = "config",
    .run = cmd_config,
    .help = "settings, and where each comes from"};
