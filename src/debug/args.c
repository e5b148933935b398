/* args.c -- reads the values of options and ends the program with a usage error
 * when one is wrong. */
#include "debug/args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/command.h"
#include "base/mem.h"
#include "report/exit.h"
#include "report/print.h"

enum { KEY_USAGE = 0x10000 }; /* no command has so many options */

static struct {
    argp_parser_t parser;
    char **argv;
} parsing;

/* Of an argv[0] argp takes what follows the last slash for the name; of a
 * program without one, program_invocation_short_name. getopt() wants one. */
static error_t parse_named(int key, char *arg, struct argp_state *state)
{
    if (key == ARGP_KEY_INIT)
        state->argv = parsing.argv;
    return parsing.parser(key, arg, state);
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
    struct lab_str said;
    struct lab_str all;
    (void)key;
    (void)input;
    if (!text)
        return NULL;
    lab_str_init(&said);
    lab_str_init(&all);
    lab_command_spell(&said, text, "`", lab_print_is_ascii());
    lab_command_spell(&all, lab_str_text(&said), "\n  ", lab_print_is_ascii());
    char *copy = all.failed ? NULL : strdup(lab_str_text(&all));
    lab_str_release(&said);
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

/* Words of the command line are quoted in messages: their control characters
 * are shown, not sent to the terminal. */
static ssize_t write_clean(void *to, const char *text, size_t n)
{
    struct lab_str safe;
    lab_str_init(&safe);
    lab_str_add_visible(&safe, text, n, true);
    if (safe.failed)
        lab_print_bytes(to, text, n);
    else
        fputs(lab_str_text(&safe), to);
    lab_str_release(&safe);
    return (ssize_t)n;
}

int lab_args_parse(const struct argp *argp, int argc, char **argv,
                   const char *name, void *input)
{
    static const struct argp help = {.options = help_options,
                                     .parser = parse_help};
    const struct argp_child children[] = {{.argp = &help}, {0}};
    struct argp named = *argp;
    struct lab_str spelt;
    char *before = program_invocation_short_name;
    char **words = lab_alloc_array((size_t)argc + 2, sizeof(*words));
    lab_str_init(&spelt);
    spell_name(&spelt, name);
    FILE *plain = stderr;
    FILE *clean =
        fopencookie(stderr, "w", (cookie_io_functions_t){.write = write_clean});
    if (!words || spelt.failed || argc < 1 || !clean)
        out_of_memory();
    setvbuf(clean, NULL, _IOLBF, BUFSIZ);
    memcpy(words, argv, (size_t)argc * sizeof(*words));
    words[argc] = NULL;
    words[0] = spelt.data;
    parsing.parser = argp->parser;
    parsing.argv = words;
    named.parser = parse_named;
    named.help_filter = spell_help;
    named.children = children;
    lab_warn_as(name);
    argp_err_exit_status = LAB_EXIT_USAGE;
    program_invocation_short_name = spelt.data;
    char *first = argv[0];
    argv[0] = NULL;
    stderr = clean; /* getopt() and argp write what is wrong there */
    int wrong = argp_parse(&named, argc, argv, ARGP_NO_HELP, NULL, input);
    stderr = plain;
    fclose(clean);
    if (wrong == ENOMEM)
        out_of_memory();
    program_invocation_short_name = before;
    memcpy(argv, words, (size_t)argc * sizeof(*words));
    argv[0] = first;
    lab_str_release(&spelt);
    lab_free(words);
    return wrong;
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

int64_t lab_arg_number(const char *text, const char *option, int64_t least,
                       int64_t most, struct argp_state *state)
{
    int64_t v = least;
    bool right = read_number(text, &v) && v >= least && v <= most;
    if (!right && most == INT64_MAX)
        argp_error(state, "--%s '%s': a whole number from %lld is needed",
                   option, text, (long long)least);
    else if (!right)
        argp_error(state, "--%s '%s': a whole number from %lld to %lld", option,
                   text, (long long)least, (long long)most);
    return v;
}

int lab_arg_device(const char *text, struct argp_state *state)
{
    enum { MOST_DEVICES = 1024 };
    return (int)lab_arg_number(text, "device", 0, MOST_DEVICES - 1, state);
}

uint64_t lab_arg_seed(const char *text, struct argp_state *state)
{
    char *end = NULL;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 10);
    if (errno || end == text || *end || strchr(text, '-'))
        argp_error(state,
                   "--seed '%s': a whole number from 0 to 2^64 - 1 is needed",
                   text);
    return v;
}

const char *lab_arg_one_of(const char *text, const char *const *names,
                           const char *option, struct argp_state *state)
{
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], text) == 0)
            return text;
    }
    argp_error(state, "--%s '%s': use %s, %s%s%s", option, text, names[0],
               names[1], names[2] ? " or " : "", names[2] ? names[2] : "");
    return text;
}

const char *lab_arg_backend(const char *text, struct argp_state *state)
{
    static const char *const backends[] = {"auto", "cpu", "cuda", NULL};
    return lab_arg_one_of(text, backends, "backend", state);
}

const char *lab_arg_counters(const char *text, struct argp_state *state)
{
    static const char *const sets[] = {"off", "basic", "full", NULL};
    if (strchr(text, ':'))
        argp_error(state,
                   "--counters '%s': nothing follows a set: use off, basic or "
                   "full, which count every step; `count step`, in the "
                   "stepper, counts one",
                   text);
    return lab_arg_one_of(text, sets, "counters", state);
}
