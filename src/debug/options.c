/* options.c -- reads the command line by the table of options.def, with argp:
 * which options a command takes, what its --help shows, a setter for each kind
 * of value. A wrong word ends the program with a usage error. */
#include "debug/options.h"

#include <errno.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/command.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/parallel.h"
#include "report/exit.h"
#include "report/print.h"

/* ---- the table ---- */

const struct lab_option lab_option_rows[] = {
#define LAB_OPTION(f, n, k, ...)                                               \
    {.name = n,                                                                \
     .kind = LAB_KIND_##k,                                                     \
     .field = offsetof(struct lab_options, f),                                 \
     .given = offsetof(struct lab_options, given.f),                           \
     __VA_ARGS__},
#define LAB_HELP(c, g, a, ...)                                                 \
    {.commands = (c), .group = (g), .arg = (a), .help = __VA_ARGS__},
#include "debug/options.def"
    {0}};

enum {
    N_ROWS = sizeof(lab_option_rows) / sizeof(lab_option_rows[0]),
    KEY_FIRST = 256, /* plus the row */
    KEY_USAGE = KEY_FIRST + N_ROWS,
    LAB_OPTION_TEXT = 160
};

const struct lab_option *lab_option_help(const struct lab_option *option,
                                         uint64_t commands)
{
    for (option++; option->commands; option++) {
        if (option->commands & commands)
            return option;
    }
    return NULL;
}

const struct lab_option *lab_option_next(const struct lab_option *at,
                                         uint64_t commands)
{
    for (at = at ? at + 1 : lab_option_rows; at->name || at->commands; at++) {
        const struct lab_option *help =
            at->name ? lab_option_help(at, commands) : NULL;
        if (help && help->help)
            return at;
    }
    return NULL;
}

void lab_options_list(struct lab_str *out, uint64_t commands)
{
    const struct lab_option *at = NULL;
    for (int n = 0; (at = lab_option_next(at, commands)); n++)
        lab_str_addf(out, "%s--%s", n ? ", " : "", at->name);
}

const char *lab_options_foreign(const struct lab_options *o, uint64_t commands)
{
    for (int i = 0; i < N_ROWS; i++) {
        const struct lab_option *at = &lab_option_rows[i];
        size_t configured = at->given +
                            offsetof(struct lab_options, configured) -
                            offsetof(struct lab_options, given);
        if (at->name && *(const bool *)((const char *)o + at->given) &&
            !*(const bool *)((const char *)o + configured) &&
            !lab_option_help(at, commands))
            return at->name;
    }
    return NULL;
}

enum lab_status lab_options_check_model(const struct lab_options *o)
{
    const bool model = o->given.device_model && !o->configured.device_model;
    const bool budget = o->given.budget && !o->configured.budget;
    if ((!model && !budget) || (o->backend && strcmp(o->backend, "sim") == 0))
        return LAB_OK;
    if (!model)
        return lab_fail(
            LAB_E_USAGE,
            "[option.budget-alone] --budget needs --backend sim: it "
            "is of a simulated launch");
    return lab_fail(LAB_E_USAGE,
                    "[option.device-model-alone] --device-model needs "
                    "--backend sim: it is the GPU that is simulated");
}

bool lab_options_takes_next(const char *word, uint64_t commands)
{
    size_t n = strlen(word);
    if (n <= 2 || strncmp(word, "--", 2) != 0)
        return false;
    for (int i = 0; i < N_ROWS; i++) {
        const struct lab_option *at = &lab_option_rows[i];
        if (at->name && strncmp(at->name, word + 2, n - 2) == 0 &&
            lab_option_help(at, commands))
            return at->kind != LAB_KIND_FLAG;
    }
    return false;
}

/* ---- values ---- */

/* Of the configuration file, while its settings are taken; else NULL. */
static const struct lab_setting *setting_now;

/* Ends the program; lab_error() may be shorter than `text`. */
static void usage_error(struct argp_state *state, bool help, const char *text)
{
    if (lab_error_json(LAB_EXIT_USAGE))
        exit(LAB_EXIT_USAGE);
    if (help)
        argp_error(state, "%s", text);
    else
        argp_failure(state, LAB_EXIT_USAGE, 0, "%s", text);
}

void lab_usage_error(struct argp_state *state, const char *fmt, ...)
{
    char id[LAB_ERROR_ID_BYTES];
    struct lab_str text;
    va_list args;
    lab_str_init(&text);
    va_start(args, fmt);
    lab_str_addv(&text, lab_error_wording(fmt, id), args);
    va_end(args);
    lab_fail_id(LAB_E_USAGE, id, "%s", lab_str_text(&text));
    usage_error(state, true, lab_str_text(&text));
    lab_str_release(&text);
}

/* A value that is wrong: a usage error (with where help is, if `help`), or, of the
 * configuration file, bad input. */
static void LAB_PRINTF(3, 4)
    wrong(struct argp_state *state, bool help, const char *fmt, ...)
{
    char id[LAB_ERROR_ID_BYTES];
    struct lab_str text;
    va_list args;
    lab_str_init(&text);
    va_start(args, fmt);
    lab_str_addv(&text, lab_error_wording(fmt, id), args);
    va_end(args);
    const char *words = lab_str_text(&text);
    if (setting_now && strncmp(words, "--", 2) == 0)
        words += 2; /* in the file its name has none */
    lab_fail_id(LAB_E_USAGE, id, "%s", words);
    lab_str_release(&text);
    if (setting_now)
        exit(lab_exit_error(lab_config_fail_at(setting_now)));
    usage_error(state, help, lab_error());
}

static bool read_number(const char *text, int64_t *out)
{
    char *end = NULL;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (errno || end == text || *end)
        return false;
    *out = v;
    return true;
}

bool lab_arg_is_number(const char *text, int64_t *out)
{
    int64_t v;
    if (!read_number(text, &v) || v < 0)
        return false;
    *out = v;
    return true;
}

static bool is_too_large(const char *text)
{
    int64_t v;
    return text[0] && text[strspn(text, "0123456789")] == '\0' &&
           !read_number(text, &v);
}

static int64_t number(const struct lab_option *option,
                      const struct lab_option *help, const char *text,
                      struct argp_state *state)
{
    const struct lab_option *range = help->most ? help : option;
    int64_t most = range->most;
    int64_t v = range->least;
    bool right =
        read_number(text, &v) && v >= range->least && (most == 0 || v <= most);
    if (most == 0 && is_too_large(text))
        most = INT64_MAX;
    if (!right && most == 0)
        wrong(state, true,
              "[option.number-least] --%s '%s': a whole number from %lld is "
              "needed",
              option->name, text, (long long)range->least);
    else if (!right)
        wrong(
            state, true,
            "[option.number-range] --%s '%s': a whole number from %lld to %lld",
            option->name, text, (long long)range->least, (long long)most);
    return v;
}

static uint64_t seed(const char *text, struct argp_state *state)
{
    char *end = NULL;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno || end == text || *end || strchr(text, '-'))
        wrong(state, true,
              "[option.seed] --seed '%s': a whole number from 0 to 2^64 - 1 is "
              "needed",
              text);
    return v;
}

static double real(const struct lab_option *option, const char *text,
                   struct argp_state *state)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end ||
        !(v >= (double)option->least && v <= (double)option->most))
        wrong(state, false,
              "[option.real] --%s '%s': a number from %lld to %lld is needed",
              option->name, text, (long long)option->least,
              (long long)option->most);
    return v;
}

static double share(const struct lab_option *option, const char *text,
                    struct argp_state *state)
{
    char *end;
    double v = strtod(text, &end);
    bool right = end != text;
    if (*end == '%') {
        v /= 100;
        end++;
    }
    if (!right || *end || !(v >= 0 && v < 1e6))
        wrong(state, true,
              "[option.share] --%s takes a share such as 5%%, not '%s'",
              option->name, text);
    return v;
}

static const char *choice(const struct lab_option *option, const char *text,
                          struct argp_state *state)
{
    char names[5][16] = {"", "", "", "", ""};
    int n = sscanf(option->values, "%15s %15s %15s %15s %15s", names[0],
                   names[1], names[2], names[3], names[4]);
    struct lab_str list;
    for (int i = 0; i < n; i++) {
        if (strcmp(names[i], text) == 0)
            return text;
    }
    if (strcmp(option->name, "counters") == 0 && strchr(text, ':'))
        wrong(state, true,
              "[option.counters] --counters '%s': nothing follows a set: use "
              "off, basic or full, which count every step; `count step`, in "
              "the stepper, counts one",
              text);
    lab_str_init(&list);
    for (int i = 0; i < n; i++)
        lab_str_addf(&list, "%s%s",
                     i == 0                ? ""
                     : i == n - 1 && i > 1 ? " or "
                                           : ", ",
                     names[i]);
    wrong(state, true, "[option.choice] --%s '%s': use %s", option->name, text,
          lab_str_text(&list));
    lab_str_release(&list);
    return text;
}

static void add_choice(struct lab_options *o, char *text,
                       struct argp_state *state)
{
    char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1])
        wrong(state, false,
              "[option.variant] --variant '%s': write NODE=NAME or OP=NAME",
              text);
    if (o->n_choices == LAB_MAX_OPTION_CHOICES)
        wrong(state, false, "[option.variants] too many --variant");
    *equals = '\0';
    o->choices[o->n_choices++] =
        (struct lab_variant_choice){.target = text, .variant = equals + 1};
}

/* The list of a LAB_FIELD_TEXTS: what it holds, then how many. */
static void add_text(const char **list, const struct lab_option *option,
                     const char *text, struct argp_state *state)
{
    int *count = (int *)(void *)(list + LAB_MAX_OPTION_TEXTS);
    if (*count == LAB_MAX_OPTION_TEXTS)
        wrong(state, false, "[option.too-many] too many --%s", option->name);
    list[(*count)++] = text;
}

static void set(struct lab_options *o, const struct lab_option *option,
                const struct lab_option *help, char *arg,
                struct argp_state *state)
{
    void *field = (char *)o + option->field;
    switch (option->kind) {
    case LAB_KIND_FLAG:
        *(bool *)field = true;
        break;
    case LAB_KIND_TEXT:
    case LAB_KIND_WORD:
    case LAB_KIND_FILE:
    case LAB_KIND_DIRECTORY:
        *(const char **)field = arg;
        break;
    case LAB_KIND_CHOICE:
        *(const char **)field = choice(option, arg, state);
        break;
    case LAB_KIND_NUMBER:
        *(int64_t *)field = number(option, help, arg, state);
        break;
    case LAB_KIND_INT:
        *(int *)field = (int)number(option, help, arg, state);
        break;
    case LAB_KIND_SEED:
        *(uint64_t *)field = seed(arg, state);
        break;
    case LAB_KIND_REAL:
        *(double *)field = real(option, arg, state);
        break;
    case LAB_KIND_RATE:
        if (lab_lr_read(arg, field))
            wrong(state, true, "[option.rate] --%s: %s", option->name,
                  lab_error());
        break;
    case LAB_KIND_SHARE:
        *(double *)field = share(option, arg, state);
        break;
    case LAB_KIND_TEXTS:
        add_text(field, option, arg, state);
        break;
    case LAB_KIND_VARIANTS:
        add_choice(o, arg, state);
        break;
    }
    *(bool *)((char *)o + option->given) = true;
}

/* ---- argp ---- */

static struct {
    const struct lab_command_line *line;
    char **argv; /* argp's */
} parsing;

/* ---- the configuration file ---- */

/* A setting gives way to an option that was written and contradicts it. */
static const char *const CONTRARY[][2] = {
    {"json", "csv"},
    {"json", "npy"},
    {"iterations", "epochs"},
    {"seed", "continue"},
    {"plain", "record"},
    {"plain", "replay"},
    {"no-graph", "graph-nodes"},
    {"trace", "graph-nodes"},
};

static const struct lab_option *find_option(const char *name)
{
    for (int i = 0; i < N_ROWS; i++)
        if (lab_option_rows[i].name &&
            strcmp(lab_option_rows[i].name, name) == 0)
            return &lab_option_rows[i];
    return NULL;
}

static bool *given_of(struct lab_options *o, const struct lab_option *option)
{
    return (bool *)((char *)o + option->given);
}

static bool *configured_of(struct lab_options *o,
                           const struct lab_option *option)
{
    return (bool *)((char *)o + option->given +
                    (offsetof(struct lab_options, configured) -
                     offsetof(struct lab_options, given)));
}

static bool written(struct lab_options *o, const struct lab_option *option)
{
    return *given_of(o, option) && !*configured_of(o, option);
}

static bool gives_way(struct lab_options *o, const char *name)
{
    for (size_t i = 0; i < sizeof(CONTRARY) / sizeof(CONTRARY[0]); i++)
        for (int k = 0; k < 2; k++)
            if (strcmp(CONTRARY[i][k], name) == 0 &&
                written(o, find_option(CONTRARY[i][1 - k])))
                return true;
    return false;
}

static bool is_chosen(const struct lab_options *o, const char *target)
{
    for (int i = 0; i < o->n_choices; i++)
        if (!o->choices[i].optional &&
            (strcmp(o->choices[i].target, target) == 0 ||
             strcmp(o->choices[i].target, "*") == 0))
            return true;
    return false;
}

/* "NODE=NAME" for every lesson: where there is no such node, nothing is chosen. */
static void take_variant(struct lab_options *o, const char *value)
{
    static char texts[LAB_MAX_OPTION_CHOICES][LAB_OPTION_TEXT];
    int n = o->n_choices;
    if (n == LAB_MAX_OPTION_CHOICES || strlen(value) >= sizeof(texts[0]))
        wrong(NULL, false,
              n == LAB_MAX_OPTION_CHOICES
                  ? "[config.variants] too many variants"
                  : "[config.variant] the name of a variant is too long");
    snprintf(texts[n], sizeof(texts[n]), "%s", value);
    add_choice(o, texts[n], NULL);
    o->choices[n].optional = true; /* is_chosen() looks at the others alone */
    if (is_chosen(o, o->choices[n].target))
        o->n_choices = n;
}

/* "yes" and "no" of a flag. */
static bool is_yes(const struct lab_option *option, const char *value)
{
    static const char *const words[] = {"yes",   "no", "true",
                                        "false", "on", "off"};
    for (int i = 0; i < 6; i++)
        if (strcmp(value, words[i]) == 0)
            return i % 2 == 0;
    wrong(NULL, false, "[config.yes-no] %s '%s': use yes or no", option->name,
          value);
    return false;
}

/* A word that its command would refuse later, as wrong usage. */
static void check_word(const struct lab_option *option, const char *value)
{
    size_t n = strlen(value);
    const char *at = option->values;
    while (at && (strncmp(at, value, n) != 0 || (at[n] && at[n] != ' '))) {
        at = strchr(at, ' ');
        at += at != NULL;
    }
    if (!at)
        wrong(NULL, false, "[config.choice] %s '%s': use %s", option->name,
              value, option->values);
}

/* Both in the file: the second is the line that is wrong. */
static void check_lengths(const struct lab_options *o)
{
    if (o->iterations > 0 && o->epochs > 0)
        wrong(NULL, false,
              "[config.lengths] iterations and epochs exclude each other: take "
              "one of the two lines out");
}

static void take_setting(struct lab_options *o, const struct lab_option *option,
                         const struct lab_option *help,
                         const struct lab_setting *setting)
{
    setting_now = setting;
    if (option->kind == LAB_KIND_WORD)
        check_word(option, setting->value);
    if (option->kind == LAB_KIND_VARIANTS)
        take_variant(o, setting->value);
    else if (option->kind != LAB_KIND_FLAG || is_yes(option, setting->value))
        set(o, option, help, (char *)(uintptr_t)setting->value, NULL);
    *given_of(o, option) = true;
    *configured_of(o, option) = true;
    if (strcmp(option->name, "epochs") == 0 ||
        strcmp(option->name, "iterations") == 0)
        check_lengths(o);
    setting_now = NULL;
}

/* What was written comes first, and what contradicts it is left out. */
static void take_config(struct lab_options *o, uint64_t commands)
{
    const struct lab_config *config;
    enum lab_status st = lab_config_get(&config);
    if (st)
        exit(lab_exit_error(st));
    for (int i = 0; i < config->n; i++) {
        const struct lab_setting *s = &config->list[i];
        const struct lab_option *option = find_option(s->name);
        const struct lab_option *help =
            option ? lab_option_help(option, commands) : NULL;
        if (!option || !option->setting || !help || !help->help ||
            gives_way(o, s->name))
            continue;
        if (option->kind == LAB_KIND_VARIANTS || !written(o, option))
            take_setting(o, option, help, s);
    }
}

/* The screens' settings come from `other`, as lab_ui_setting_name(). */
static enum lab_status unknown_setting(const struct lab_setting *s,
                                       const char *(*other)(int i,
                                                            const char **value))
{
    enum { MOST = 128 };
    const char *names[MOST];
    const char *value;
    size_t n = 0;
    for (int i = 0; i < N_ROWS && n < MOST; i++)
        if (lab_option_rows[i].name && lab_option_rows[i].setting)
            names[n++] = lab_option_rows[i].name;
    for (int i = 0; n < MOST && (names[n] = other(i, &value)); i++)
        n++;
    const char *near = lab_nearest(s->name, names, n);
    return lab_config_fail_name(
        s, "[config.name] no setting \"%s\": %s%s%s", s->name,
        near ? "did you mean " : "`lapenna-lab config`, without this line, ",
        near ? near : "lists the settings", near ? "?" : "");
}

/* Of two lines the first would change nothing. */
static enum lab_status check_twice(const struct lab_config *config, int at)
{
    const struct lab_setting *s = &config->list[at];
    for (int i = 0; i < at; i++)
        if (strcmp(config->list[i].name, s->name) == 0)
            return lab_config_fail_name(
                s, "[config.twice] %s is set in line %d, too: take one out",
                s->name, config->list[i].line);
    return LAB_OK;
}

enum lab_status
lab_options_check_config(bool (*known)(const char *name),
                         const char *(*other)(int i, const char **value))
{
    const struct lab_config *config;
    struct lab_options o;
    enum lab_status st = lab_config_get(&config);
    lab_options_init(&o);
    for (int i = 0; !st && i < config->n; i++) {
        const struct lab_setting *s = &config->list[i];
        const struct lab_option *option = find_option(s->name);
        if (option && option->setting)
            take_setting(&o, option, lab_option_help(option, ~UINT64_C(0)), s);
        else if (option)
            st = lab_config_fail_name(
                s,
                "[config.command-only] %s is no setting: it belongs to one "
                "command",
                s->name);
        else if (!known(s->name))
            st = unknown_setting(s, other);
        if (!st && (!option || option->kind != LAB_KIND_VARIANTS))
            st = check_twice(config, i);
    }
    return st;
}

const char *lab_option_text(const struct lab_options *o,
                            const struct lab_option *option, char *out,
                            size_t cap)
{
    const void *field = (const char *)o + option->field;
    size_t used = 0;
    const char *text = "";
    out[0] = '\0';
    switch (option->kind) {
    case LAB_KIND_FLAG:
        snprintf(out, cap, "%s", *(const bool *)field ? "yes" : "no");
        break;
    case LAB_KIND_NUMBER:
        if (*(const int64_t *)field)
            snprintf(out, cap, "%lld", (long long)*(const int64_t *)field);
        break;
    case LAB_KIND_INT:
        if (*(const int *)field || option->least == 0)
            snprintf(out, cap, "%d", *(const int *)field);
        break;
    case LAB_KIND_SEED:
        snprintf(out, cap, "%llu",
                 (unsigned long long)*(const uint64_t *)field);
        break;
    case LAB_KIND_REAL:
    case LAB_KIND_RATE:
    case LAB_KIND_SHARE:
        if (*(const double *)field != 0)
            snprintf(out, cap, "%g", *(const double *)field);
        break;
    case LAB_KIND_VARIANTS:
        for (int i = 0; i < o->n_choices && used < cap; i++)
            used += (size_t)snprintf(out + used, cap - used, "%s%s=%s",
                                     i ? " " : "", o->choices[i].target,
                                     o->choices[i].variant);
        break;
    case LAB_KIND_TEXTS:
        break;
    default:
        text = *(const char *const *)field;
        snprintf(out, cap, "%s", text ? text : "");
    }
    return out;
}

static void one_lesson(struct lab_options *o, struct argp_state *state)
{
    if (o->n_words > 1)
        wrong(state, false,
              "[usage.lessons] one LESSON at a time: '%s' is one too many",
              o->words[1]);
    if (o->n_words > 0)
        o->lesson = o->words[0];
    if (o->precision && lab_precision_find(o->precision) == LAB_PRECISION_COUNT)
        wrong(
            state, false,
            "[option.precision] --precision '%s': use fp32, tf32, bf16 or fp16",
            o->precision);
}

/* The commands, as a refusal names them. */
static const struct {
    uint64_t commands;
    const char *name;
} command_names[] = {
    {LAB_FOR_LESSON, "lesson"},
    {LAB_FOR_STEP, "step"},
    {LAB_FOR_RUN, "run"},
    {LAB_FOR_SCREEN, "the screens"},
    {LAB_FOR_DOCTOR, "doctor"},
    {LAB_FOR_LAB | LAB_FOR_LABS | LAB_FOR_DEMOS | LAB_FOR_NETWORKS, "lab"},
    {LAB_FOR_RUNS, "profile list"},
    {LAB_FOR_SHOW, "profile show"},
    {LAB_FOR_KERNELS, "profile kernels"},
    {LAB_FOR_TIMELINE, "profile timeline"},
    {LAB_FOR_COMPARE, "profile compare"},
    {LAB_FOR_ROOFLINE, "profile roofline"},
    {LAB_FOR_EXPORT, "profile export"},
    {LAB_FOR_CEILINGS, "profile ceilings"},
    {LAB_FOR_BASELINE, "profile baseline"},
    {LAB_FOR_IMPORT, "profile import"},
    {LAB_FOR_DELETE, "profile delete"},
    {LAB_FOR_SIM, "sim"},
    {LAB_FOR_TABLE, "table"},
    {LAB_FOR_COURSE, "course"},
    {LAB_FOR_CONFIG, "config"},
};

/* "profile show and profile export": the commands that take an option; of
 * many, the first. */
static void add_users(struct lab_str *out, const struct lab_option *option)
{
    enum { MOST = 5 };
    const char *names[sizeof(command_names) / sizeof(command_names[0])];
    int n = 0;
    for (size_t i = 0; i < sizeof(command_names) / sizeof(command_names[0]);
         i++) {
        const struct lab_option *help =
            lab_option_help(option, command_names[i].commands);
        if (help && help->help)
            names[n++] = command_names[i].name;
    }
    if (n > MOST)
        names[(n = MOST) - 1] = "others";
    for (int i = 0; i < n; i++)
        lab_str_addf(out, "%s%s",
                     i == 0       ? ""
                     : i == n - 1 ? " and "
                                  : ", ",
                     names[i]);
}

/* An option of another command would change nothing: that is an error. */
static void refuse(const struct lab_option *option, struct argp_state *state)
{
    uint64_t here = parsing.line->commands;
    struct lab_str users;
    lab_str_init(&users);
    add_users(&users, option);
    if (option->trains && here == LAB_FOR_SCREEN)
        lab_usage_error(state,
                        "[usage.of-run] --%s belongs to `run`; in the stepper "
                        "the command `%s` does it",
                        option->name, option->name);
    else if (option->trains && here & (LAB_FOR_STEP | LAB_FOR_DOCTOR))
        lab_usage_error(state,
                        "[option.trains] nothing is trained here: --%s belongs "
                        "to `run`",
                        option->name);
    else
        lab_usage_error(state,
                        "[option.foreign] no --%s here: it belongs to %s",
                        option->name, lab_str_text(&users));
    lab_str_release(&users);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    const struct lab_command_line *line = parsing.line;
    struct lab_options *o = state->input;
    if (key >= KEY_FIRST && key < KEY_USAGE) {
        const struct lab_option *option = &lab_option_rows[key - KEY_FIRST];
        const struct lab_option *help = lab_option_help(option, line->commands);
        if (!help)
            refuse(option, state); /* which does not return */
        set(o, option, help, arg, state);
    } else if (key == ARGP_KEY_INIT) {
        state->argv = parsing.argv;
    } else if (key == ARGP_KEY_ARG) {
        o->words[o->n_words++] = arg;
    } else if (key == ARGP_KEY_END) {
        take_config(o, line->commands);
        (line->check ? line->check : one_lesson)(o, state);
    } else {
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static _Noreturn void out_of_memory(void)
{
    fputs("lapenna-lab: out of memory while reading the command line\n",
          stderr);
    exit(LAB_EXIT_MACHINE);
}

/* Commands in a help text, in its sentences and in its examples. argp frees
 * what is not `text`. */
static char *spell_help(int key, const char *text, void *input)
{
    struct lab_str quoted;
    struct lab_str all;
    (void)input;
    if (!text)
        return NULL;
    /* glibc reads a copy of several usages after it has freed it; there are no
     * commands in those. */
    if (key == ARGP_KEY_HELP_ARGS_DOC)
        return (char *)(uintptr_t)text;
    lab_str_init(&quoted);
    lab_str_init(&all);
    lab_command_spell(&quoted, text, "`", lab_print_is_ascii());
    lab_command_spell(&all, lab_str_text(&quoted), "\n  ",
                      lab_print_is_ascii());
    char *copy = all.failed ? NULL : strdup(lab_str_text(&all));
    lab_str_release(&quoted);
    lab_str_release(&all);
    if (!copy)
        out_of_memory();
    return copy;
}

/* argp's own --help has no -h. */
static error_t parse_help(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    if (key != 'h' && key != '?' && key != KEY_USAGE)
        return ARGP_ERR_UNKNOWN;
    argp_state_help(state, stdout,
                    key == KEY_USAGE ? ARGP_HELP_USAGE | ARGP_HELP_EXIT_OK
                                     : ARGP_HELP_STD_HELP);
    return 0;
}

static const struct argp_option help_options[] = {
    {"help", 'h', NULL, 0, "Give this help list", -1},
    {NULL, '?', NULL, OPTION_ALIAS, NULL, -1},
    {"usage", KEY_USAGE, NULL, 0, "Give a short usage message", -1},
    {0}};

/* "lapenna-lab run" as it has to be typed. */
static void spell_name(struct lab_str *out, const char *name)
{
    const char *rest = strchr(name, ' ');
    lab_command_add(out, lab_print_is_ascii());
    lab_str_add(out, rest ? rest : "");
}

/* What getopt() refuses: its words in the C locale, and the id. */
static const struct {
    const char *words;
    const char *id;
} getopt_errors[] = {
    {"unrecognized option", "[option.unknown] "},
    {"invalid option", "[option.letter] "},
    {"is ambiguous", "[option.ambiguous] "},
    {"requires an argument", "[option.value-missing] "},
    {"doesn't allow an argument", "[option.no-value] "},
};

/* "PROGRAM COMMAND: what is wrong", from getopt(): the last error. */
static bool take_getopt_error(const char *text)
{
    size_t name = strlen(parsing.argv[0]);
    char id[LAB_ERROR_ID_BYTES];
    if (strncmp(text, parsing.argv[0], name) != 0 ||
        strncmp(text + name, ": ", 2) != 0)
        return false;
    text += name + 2;
    for (size_t i = 0; i < sizeof(getopt_errors) / sizeof(getopt_errors[0]);
         i++) {
        if (!strstr(text, getopt_errors[i].words))
            continue;
        lab_error_wording(getopt_errors[i].id, id);
        lab_fail_id(LAB_E_USAGE, id, "%.*s", (int)strcspn(text, "\n"), text);
        return true;
    }
    return false;
}

/* Words of the command line are quoted in messages: their control characters
 * are shown, not sent to the terminal. Where errors are JSON, getopt()'s message
 * is one, and argp's hint at --help, which follows it, is left out. */
static ssize_t write_clean(void *to, const char *text, size_t n)
{
    static bool refused;
    struct lab_str safe;
    lab_str_init(&safe);
    lab_str_add_visible(&safe, text, n, true);
    if (safe.failed) {
        lab_print_bytes(to, text, n);
    } else if (!refused && lab_errors_are_json() &&
               take_getopt_error(lab_str_text(&safe))) {
        FILE *clean = stderr;
        refused = true;
        stderr = to;
        lab_error_json(LAB_EXIT_USAGE);
        stderr = clean;
    } else if (!refused) {
        fputs(lab_str_text(&safe), to);
    }
    lab_str_release(&safe);
    return (ssize_t)n;
}

/* The options of `line`: those that its --help does not show are hidden. */
static void take_options(const struct lab_command_line *line,
                         struct argp_option *shown)
{
    for (int i = 0; i < N_ROWS; i++) {
        const struct lab_option *option = &lab_option_rows[i];
        if (!option->name ||
            !lab_option_help(option, line->commands | line->knows))
            continue;
        const struct lab_option *help = lab_option_help(option, line->commands);
        bool hidden = !help || !help->help;
        if (!help)
            help = lab_option_help(option, line->knows);
        *shown++ = (struct argp_option){.name = option->name,
                                        .key = KEY_FIRST + i,
                                        .arg = help->arg,
                                        .flags = hidden ? OPTION_HIDDEN : 0,
                                        .doc = help->help,
                                        .group = help->group};
    }
}

/* Does `list`, words with spaces between, have an option that was written? */
static const char *written_of(struct lab_options *o, const char *list)
{
    for (int i = 0; list && i < N_ROWS; i++) {
        const char *name = lab_option_rows[i].name;
        const char *at = name ? strstr(list, name) : NULL;
        size_t n = name ? strlen(name) : 0;
        if (at && (at == list || at[-1] == ' ') && (!at[n] || at[n] == ' ') &&
            written(o, &lab_option_rows[i]))
            return name;
    }
    return NULL;
}

/* By .needs and .not_with of the table. */
static enum lab_status check_together(struct lab_options *o, uint64_t commands)
{
    for (int i = 0; i < N_ROWS; i++) {
        const struct lab_option *option = &lab_option_rows[i];
        const struct lab_option *help = option->name && written(o, option)
                                            ? lab_option_help(option, commands)
                                            : NULL;
        const char *other = help ? written_of(o, help->not_with) : NULL;
        if (other)
            return lab_fail(LAB_E_USAGE,
                            "[option.together] --%s and --%s exclude each "
                            "other: give one",
                            option->name, other);
        bool needs =
            help && help->needs && (!help->needing || help->needing & commands);
        if (needs && !*given_of(o, find_option(help->needs)))
            return lab_fail(LAB_E_USAGE,
                            "[option.together] --%s changes nothing without "
                            "--%s: give both",
                            option->name, help->needs);
    }
    return o->graph_nodes && o->no_trace
               ? lab_fail(LAB_E_USAGE,
                          "[option.together] --graph-nodes wants graphs and a "
                          "trace: leave out --trace off")
               : LAB_OK;
}

void lab_options_init(struct lab_options *o)
{
    *o = (struct lab_options){.backend = "auto",
                              .counters = "off",
                              .color = "auto",
                              .trace = "on",
                              .prompt = "",
                              .temperature = 0.8,
                              .seed = 1};
}

void lab_options_parse(struct lab_options *o, int argc, char **argv,
                       const struct lab_command_line *line)
{
    struct argp_option shown[N_ROWS] = {{0}};
    const struct argp_child children[] = {
        {.argp = &(struct argp){.options = help_options, .parser = parse_help}},
        {0}};
    const struct argp argp = {.options = shown,
                              .parser = parse,
                              .args_doc = line->args,
                              .doc = line->doc,
                              .children = children,
                              .help_filter = spell_help};
    struct lab_str name;
    char *before = program_invocation_short_name;
    char **words = lab_alloc_array((size_t)argc + 2, sizeof(*words));
    FILE *plain = stderr;
    FILE *clean =
        fopencookie(stderr, "w", (cookie_io_functions_t){.write = write_clean});
    lab_str_init(&name);
    spell_name(&name, line->name);
    if (!words || name.failed || argc < 1 || !clean)
        out_of_memory();
    setvbuf(clean, NULL, _IOLBF, BUFSIZ);
    memcpy(words, argv, (size_t)argc * sizeof(*words));
    words[argc] = NULL;
    words[0] = name.data;
    parsing.line = line;
    parsing.argv = words;
    take_options(line, shown);
    lab_options_init(o);
    o->words = argv + 1;
    lab_warn_as(line->name);
    argp_err_exit_status = LAB_EXIT_USAGE;
    program_invocation_short_name = name.data;
    char *first = argv[0];
    argv[0] = NULL;
    stderr = clean; /* getopt() and argp write what is wrong there */
    if (lab_errors_are_json())
        setlocale(LC_MESSAGES, "C"); /* getopt_errors has these words */
    int wrong = argp_parse(&argp, argc, argv, ARGP_NO_HELP, NULL, o);
    stderr = plain;
    fclose(clean);
    if (wrong == ENOMEM)
        out_of_memory();
    if (wrong)
        exit(LAB_EXIT_USAGE);
    program_invocation_short_name = before;
    argv[0] = first;
    lab_str_release(&name);
    lab_free(words);
    o->no_trace = strcmp(o->trace, "off") == 0;
    o->trace_kernels = strcmp(o->trace, "kernels") == 0;
    o->trace_asked = o->given.trace && !o->no_trace;
    o->walks_once = line->commands == LAB_FOR_STEP;
    if (o->threads > 0)
        lab_threads_set(o->threads);
    if (o->ascii)
        lab_print_ascii(true);
    lab_print_styles(!o->plain &&
                     lab_print_color(o->color, isatty(STDOUT_FILENO),
                                     getenv("NO_COLOR"), getenv("TERM")));
    enum lab_status st = check_together(o, line->commands);
    if (st)
        exit(lab_exit_error(st));
    int cores = lab_cores();
    if (o->threads > cores) /* allowed: their number decides the bits of sums */
        lab_warn("--threads %d: more than the %d core%s that this process may "
                 "use; threads take turns there",
                 o->threads, cores, cores == 1 ? "" : "s");
}
