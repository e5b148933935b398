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
#include "ui/settings.h"

static void no_words(struct lab_options *o, struct argp_state *state)
{
    if (o->n_words > 0)
        lab_usage_error(state, "[usage.config-word] it takes no word: '%s'",
                        o->words[0]);
}

static const struct lab_command_line usage = {
    .name = "lapenna-lab config",
    .commands = LAB_FOR_CONFIG,
    .takes = LAB_FOR_CONFIG,
    .refuses = true,
    .args = "",
    .doc = "The settings: theme, colors, keys, sizes of panes, defaults of "
           "options; the "
           "value of each, and where it comes from.\v"
           "They are in $XDG_CONFIG_HOME/lapenna-lab/config (without that "
           "variable, in ~/.config), a line each:\n\n"
           "  theme = light\n"
           "  color.forward = #38AFA4\n"
           "  key.F6 = v\n"
           "  backend = cpu\n"
           "  variant = dense=blas\n\n"
           "An option of the command line comes before the file's.\n\n"
           "Exit status: 0 done, 2 wrong usage, 3 a file that is wrong.",
    .check = no_words};

struct printer {
    const struct lab_config *config;
    bool json;
    struct lab_text_table table;
    enum lab_status st;
};

static void print(struct printer *p, const char *name, const char *value,
                  const struct lab_setting *from)
{
    if (p->st)
        return;
    if (!p->json) {
        lab_text_table_add(&p->table, name);
        lab_text_table_add(&p->table, value[0] ? value : "-");
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
        print(p, name, s ? s->value : without, s);
    }
    for (int i = 0; i < p->config->n; i++)
        if (strncmp(p->config->list[i].name, "key.", 4) == 0 ||
            strncmp(p->config->list[i].name, "color.", 6) == 0)
            print(p, p->config->list[i].name, p->config->list[i].value,
                  &p->config->list[i]);
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
            print(p, at->name, s->value, s);
            any = true;
        }
        const struct lab_setting *s =
            several ? NULL : lab_config_find(p->config, at->name);
        if (!any)
            print(p, at->name,
                  s ? s->value : lab_option_text(&o, at, text, sizeof(text)),
                  s);
    }
}

static int cmd_config(int argc, char **argv)
{
    static const char *const heads[] = {"setting", "value", "from", NULL};
    struct lab_options o;
    struct lab_ui_settings screens;
    lab_options_parse(&o, argc, argv, &usage);
    struct printer p = {.json = o.json};
    p.st = lab_config_get(&p.config);
    if (!p.st)
        p.st =
            lab_options_check_config(lab_ui_setting_known, lab_ui_setting_name);
    if (!p.st)
        p.st = lab_ui_settings_read(&screens);
    if (p.st)
        return lab_exit_error(p.st);
    lab_text_table_init(&p.table, heads);
    print_screens(&p);
    print_options(&p);
    if (!p.json && !p.st)
        p.st = lab_text_table_put(&p.table, "");
    if (!p.json && !p.st && p.config->n == 0 && p.config->path[0])
        lab_printf(stdout, "\nno settings in %s\n", p.config->path);
    lab_text_table_release(&p.table);
    return p.st ? lab_exit_error(p.st) : LAB_EXIT_DONE;
}

const struct lab_cmd lab_cmd_config = {
    .name = "config",
    .run = cmd_config,
    .help = "settings, and where each comes from"};
