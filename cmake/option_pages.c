/* option_pages.c -- writes the pages that list options, by the table of
 * debug/options.def: option_pages bash|zsh|man TEMPLATE PAGE. The line @options@
 * of the template is replaced; the rest stays. Runs at build time. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "debug/options.h"
#include "sim/sim.h"

static bool has_list(const struct lab_option *o) /* a closed list of values */
{
    return o->kind == LAB_KIND_CHOICE || o->kind == LAB_KIND_WORD;
}

/* The words that complete a value, NULL: none. Those of --device-model are the
 * simulator's devices, short: "h200 h100 ...". */
static const char *values_of(const struct lab_option *o)
{
    static char models[256];
    const struct lab_sim_device *d;
    if (o->values || strcmp(o->name, "device-model") != 0)
        return o->values;
    models[0] = '\0';
    for (int i = 0; (d = lab_sim_device_at(i)); i++) {
        size_t at = strlen(models);
        snprintf(models + at, sizeof(models) - at, "%s%s", i ? " " : "",
                 strrchr(d->name, ' ') + 1);
    }
    for (char *c = models; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return models;
}

static bool is_path(const struct lab_option *o)
{
    return o->kind == LAB_KIND_FILE || o->kind == LAB_KIND_DIRECTORY;
}

static bool has_value(const struct lab_option *o)
{
    return o->kind != LAB_KIND_FLAG;
}

/* The next option of any command. */
static const struct lab_option *next(const struct lab_option *at)
{
    return lab_option_next(at, ~UINT64_C(0));
}

static const char *argument(const struct lab_option *o)
{
    return lab_option_help(o, ~UINT64_C(0))->arg;
}

/* ---- bash ---- */

/* What the command and its first word have to be, as a pattern of bash. */
static const struct {
    const char *pattern;
    uint64_t commands;
} commands[] = {
    {"lesson:*", LAB_FOR_LESSON},
    {"step:*", LAB_FOR_STEP},
    {"run:*", LAB_FOR_RUN},
    {"doctor:*", LAB_FOR_DOCTOR},
    {"sim:*", LAB_FOR_SIM},
    {"table:*", LAB_FOR_TABLE},
    {"course:*", LAB_FOR_COURSE},
    {"config:*", LAB_FOR_CONFIG},
    {"lab:offsets", LAB_FOR_OFFSETS},
    {"lab:gflops", LAB_FOR_GFLOPS},
    {"lab:calls", LAB_FOR_LAB_CALLS},
    {"lab:*", LAB_FOR_LAB | LAB_FOR_LABS | LAB_FOR_LAB_CALLS},
    {"profile:list", LAB_FOR_RUNS},
    {"profile:show", LAB_FOR_SHOW},
    {"profile:kernels", LAB_FOR_KERNELS},
    {"profile:timeline", LAB_FOR_TIMELINE},
    {"profile:compare", LAB_FOR_COMPARE},
    {"profile:ceilings", LAB_FOR_CEILINGS},
    {"profile:roofline", LAB_FOR_ROOFLINE},
    {"profile:baseline", LAB_FOR_BASELINE},
    {"profile:export", LAB_FOR_EXPORT},
    {"profile:import | profile:merge", LAB_FOR_IMPORT},
    {"profile:delete | profile:vacuum", LAB_FOR_DELETE},
    {"profile:*", LAB_FOR_PROFILE},
    {"*", LAB_FOR_SCREEN},
};

/* "--a<between>--b" of what `wanted` accepts. */
static void put_names(bool (*wanted)(const struct lab_option *),
                      const char *between)
{
    const struct lab_option *o = NULL;
    for (int n = 0; (o = next(o));) {
        if (wanted(o))
            printf("%s--%s", n++ ? between : "", o->name);
    }
}

static void write_bash(void)
{
    const struct lab_option *o = NULL;
    printf("_lapenna_lab_takes='@(");
    put_names(has_value, "|");
    printf(")'\n_lapenna_lab_table() {\n    case $1 in\n");
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        printf("    %s) options='", commands[i].pattern);
        while ((o = lab_option_next(o, commands[i].commands)))
            printf("--%s ", o->name);
        printf("--help --usage%s' ;;\n",
               commands[i].commands == LAB_FOR_SCREEN ? " --version" : "");
    }
    printf("    esac\n    case $2 in\n");
    while ((o = next(o))) {
        if (values_of(o))
            printf("    --%s) words='%s' ;;\n", o->name, values_of(o));
    }
    printf("    ");
    put_names(is_path, " | ");
    printf(") path=yes ;;\n    esac\n}\n");
}

/* ---- zsh ---- */

/* "lab", "profile", "sim", "run", "step", "table" or "course" for an option of that command alone. */
static const char *only_of(const struct lab_option *o)
{
    uint64_t all = 0;
    for (const struct lab_option *h = o + 1; h->commands; h++)
        all |= h->commands;
    return !(all & ~(uint64_t)(LAB_FOR_LAB | LAB_FOR_LABS | LAB_FOR_DEMOS))
               ? "lab"
           : !(all & ~(uint64_t)LAB_FOR_PROFILES) ? "profile"
           : all == LAB_FOR_SIM                   ? "sim"
           : all == LAB_FOR_RUN                   ? "run"
           : all == LAB_FOR_STEP                  ? "step"
           : all == LAB_FOR_TABLE                 ? "table"
           : all == LAB_FOR_COURSE                ? "course"
                                                  : NULL;
}

static void put_zsh(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            printf("'\\''");
        else
            printf(strchr("[]:\\", *text) ? "\\%c" : "%c", *text);
    }
}

static void write_zsh(void)
{
    const struct lab_option *o = NULL;
    while ((o = next(o))) {
        const char *help = lab_option_help(o, ~UINT64_C(0))->help;
        const char *of = only_of(o);
        bool many = o->kind == LAB_KIND_TEXTS || o->kind == LAB_KIND_VARIANTS;
        printf("        '%s--%s%s[", many ? "*" : "", o->name,
               has_value(o) ? "=" : "");
        if (of) /* "export: where to" goes on from "profile" */
            printf("%s%s ", of,
                   *of == 'p' && islower((unsigned char)*help) ? "" : "\\:");
        put_zsh(help);
        printf("]");
        if (has_value(o))
            printf(":%s:", argument(o));
        if (o->kind == LAB_KIND_FILE)
            printf("_files");
        else if (o->kind == LAB_KIND_DIRECTORY)
            printf("_files -/");
        else if (values_of(o))
            printf("(%s)", values_of(o));
        printf("' \\\n");
    }
}

/* ---- the manual page ---- */

/* "NVIDIA H200, NVIDIA H100 ...": the devices that are simulated. */
static void put_models(void)
{
    const struct lab_sim_device *d;
    for (int i = 0; (d = lab_sim_device_at(i)); i++)
        printf("%s%s", i ? ", " : "", d->name);
}

/* `bold`, <italics>, {models}; a sentence a line. */
static void put_man(const char *text)
{
    static const char models[] = "{models}";
    bool bold = false;
    for (const char *c = text; *c; c++) {
        bool quote =
            *c == '\'' && (c == text || !isalnum((unsigned char)c[-1]) ||
                           !isalpha((unsigned char)c[1]));
        if (*c == '`')
            printf((bold = !bold) ? "\\fB" : "\\fR");
        else if (*c == '<' || *c == '>')
            printf(*c == '<' ? "\\fI" : "\\fR");
        else if (*c == '-' &&
                 (bold || c[1] == '-' || (c > text && c[-1] == '-')))
            printf("\\-");
        else if (strncmp(c, models, strlen(models)) == 0) {
            put_models();
            c += strlen(models) - 1;
        } else if (*c == '"' || quote)
            printf(*c == '"' ? "\\(dq" : "\\(aq");
        else
            putchar(*c == ' ' && c > text && c[-1] == '.' &&
                            !islower((unsigned char)c[1])
                        ? '\n'
                        : *c);
    }
    putchar('\n');
}

static void write_man(void)
{
    const struct lab_option *o = NULL;
    while ((o = next(o))) {
        printf(".TP\n.B%s ", has_list(o) ? "R" : has_value(o) ? "I" : "");
        for (const char *c = "--"; *c; c++)
            printf("\\-");
        for (const char *c = o->name; *c; c++)
            printf(*c == '-' ? "\\-" : "%c", *c);
        if (has_list(o)) {
            printf(" \" \" ");
            for (const char *c = o->values; *c; c++)
                printf(*c == ' ' ? " | " : "%c", *c);
        } else if (has_value(o)) {
            printf(" \" %s\"", argument(o));
        }
        putchar('\n');
        put_man(o->man ? o->man : lab_option_help(o, ~UINT64_C(0))->help);
    }
}

int main(int argc, char **argv)
{
    char line[1024];
    int written = 0;
    FILE *template = argc == 4 ? fopen(argv[2], "r") : NULL;
    if (!template || !freopen(argv[3], "w", stdout))
        return 1;
    while (fgets(line, sizeof(line), template)) {
        if (strcmp(line, "@options@\n") != 0) {
            fputs(line, stdout);
            continue;
        }
        written++;
        if (strcmp(argv[1], "bash") == 0)
            write_bash();
        else if (strcmp(argv[1], "zsh") == 0)
            write_zsh();
        else
            write_man();
    }
    return written != 1 || fclose(template) || fflush(stdout);
}
