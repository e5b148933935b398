/* main.c -- lapenna-lab: which command, and nothing else.
 *
 * Sets the locale, finds the command in its table, and turns the command's
 * status into the exit code. Every command is a file cmd_*.c beside it. */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/version.h"
#include "cmd.h"
#include "report/json_line.h"
#include "debug/options.h"
#include "report/print.h"
#include "report/suggest.h"
#include "trace/intern.h"
#include "base/command.h"
#include "base/mem.h"

/* In the order of --help. */
static const struct lab_cmd *const commands[] = {
    &lab_cmd_lesson, &lab_cmd_step,    &lab_cmd_run,   &lab_cmd_lab,
    &lab_cmd_sim,    &lab_cmd_profile, &lab_cmd_table, &lab_cmd_course,
    &lab_cmd_config, &lab_cmd_doctor,
};

enum { N_COMMANDS = sizeof(commands) / sizeof(commands[0]) };

/* "--backend, --device ...", wrapped. */
static void add_options(struct lab_str *out)
{
    const struct lab_option *at = NULL;
    size_t column = strlen("Options of the screens:");
    while ((at = lab_option_next(at, LAB_FOR_SCREEN))) {
        size_t n = strlen(at->name) + strlen(" --,");
        bool fits = column + n < 80;
        lab_str_addf(out, "%s--%s%s", fits ? " " : "\n", at->name,
                     lab_option_next(at, LAB_FOR_SCREEN) ? "," : "");
        column = fits ? column + n : n - 1;
    }
}

static void print_help(void)
{
    struct lab_str command;
    lab_str_init(&command);
    lab_command_add(&command, lab_print_is_ascii());
    const char *name = lab_str_text(&command);
    lab_printf(stdout,
               "Usage: %s [OPTION...]            the home screen\n"
               "  or:  %s [OPTION...] LESSON     that lesson, in the stepper\n"
               "  or:  %s COMMAND [ARG...]\n"
               "  or:  %s help [COMMAND] | --help | --version\n\n"
               "A debugger for neural networks on a GPU, in a terminal.\n\n"
               "Commands (each has its own --help):\n",
               name, name, name, name);
    lab_str_release(&command);
    for (int i = 0; i < N_COMMANDS; i++)
        printf("  %-8s %s\n", commands[i]->name, commands[i]->help);
    struct lab_str options;
    lab_str_init(&options);
    add_options(&options);
    lab_printf(
        stdout,
        "\nLESSON is an id of `lapenna-lab lesson list` or the path of a "
        "lesson file.\n"
        "Options of the screens:%s\n"
        "(`lapenna-lab LESSON --help` explains them).\n\n"
        "Exit codes: 0 done; 1 a check or comparison failed; 2 wrong usage; "
        "3 bad input\n(lesson, data, database); 4 the machine lacks what was "
        "asked for; 128+n\nended by signal n.\n",
        lab_str_text(&options));
    lab_str_release(&options);
}

/* NULL: none; the nearest is in lab_error(). */
static const struct lab_cmd *find_command(const char *name)
{
    const char *names[N_COMMANDS];
    int at;
    for (int i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i]->name;
    return lab_find_word("command", name, names, N_COMMANDS,
                         "`lapenna-lab help` lists them", &at)
               ? NULL
               : commands[at];
}

static const char *nearest_command(const char *word)
{
    const char *names[N_COMMANDS];
    for (int i = 0; i < N_COMMANDS; i++)
        names[i] = commands[i]->name;
    return lab_nearest(word, names, N_COMMANDS);
}

static bool is_one_of(const char *word, const char *a, const char *b,
                      const char *c)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

static int run_command(const struct lab_cmd *c, int argc, char **argv)
{
    char name[64];
    snprintf(name, sizeof(name), "lapenna-lab %s", c->name);
    lab_warn_as(name);
    return c->run(argc, argv);
}

/* "help", "help COMMAND ..." and "COMMAND help ...": COMMAND ... --help.
 * `words` begin behind the program's name. */
static int help(int n, char **words)
{
    const struct lab_cmd *c = NULL;
    int code = LAB_EXIT_USAGE;
    char **argv = lab_alloc_array((size_t)n + 2, sizeof(*argv));
    int argc = 0;
    for (int i = 0; argv && i < n; i++) {
        if (strcmp(words[i], "help") != 0)
            argv[argc++] = words[i];
    }
    if (argc > 0)
        c = find_command(argv[0]);
    if (!argv) {
        code = lab_exit_error(lab_fail(LAB_E_NOMEM, "out of memory"));
    } else if (argc == 0) {
        print_help();
        code = LAB_EXIT_DONE;
    } else if (c) {
        argv[argc++] = (char[]){"--help"};
        code = run_command(c, argc, argv);
    } else {
        lab_warn_as("lapenna-lab help");
        lab_exit_with(LAB_EXIT_USAGE);
    }
    lab_free(argv);
    return code;
}

static int dispatch(int argc, char **argv)
{
    const struct lab_cmd *c = argc > 1 ? find_command(argv[1]) : NULL;
    if (argc > 1 && is_one_of(argv[1], "--help", "-h", "-?")) {
        print_help();
        return LAB_EXIT_DONE;
    }
    if (argc > 1 && (strcmp(argv[1], "help") == 0 ||
                     (c && argc > 2 && strcmp(argv[2], "help") == 0)))
        return help(argc - 1, argv + 1);
    if (argc > 1 &&
        (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
        printf("lapenna-lab %s%s%s\n", lab_version(),
               lab_commit()[0] ? " " : "", lab_commit());
        return LAB_EXIT_DONE;
    }
    return c ? run_command(c, argc - 1, argv + 1)
             : lab_cmd_open(argc, argv, nearest_command);
}

/* Has all of the output been written? */
static enum lab_status wrote_all(void)
{
    errno = 0;
    bool flushed = fflush(stdout) == 0;
    if (flushed && !ferror(stdout))
        return lab_print_lost() || lab_intern_lacks_memory()
                   ? lab_fail(LAB_E_NOMEM,
                              "out of memory: a text or a name is missing")
                   : LAB_OK;
    return errno ? lab_fail(LAB_E_IO, "[output.error] write error: %s",
                            strerror(errno))
                 : lab_fail(LAB_E_IO, "[output.error] write error");
}

static bool checked; /* by main(); argp ends the program elsewhere */

static void check_at_exit(void)
{
    enum lab_status st = checked ? LAB_OK : wrote_all();
    if (st)
        _exit(lab_exit_error(st));
}

int main(int argc, char **argv)
{
    atexit(check_at_exit);
    lab_json_watch_memory();
    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C"); /* 0.5 is written with a point everywhere */
    lab_print_ascii(strcmp(nl_langinfo(CODESET), "UTF-8") != 0);
    int code = dispatch(argc, argv);
    checked = true;
    enum lab_status st = wrote_all();
    if (st && code == LAB_EXIT_DONE)
        code = lab_exit_error(st);
    lab_intern_release();
    return code;
}
