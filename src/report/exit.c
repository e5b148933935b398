/* exit.c -- exit codes, and messages on standard error that begin with the
 * command. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/command.h"
#include "base/str.h"
#include "report/exit.h"
#include "report/json_line.h"
#include "report/print.h"
#include "base/signals.h"

int lab_exit_code(enum lab_status st)
{
    switch (st) {
    case LAB_OK:
        return LAB_EXIT_DONE;
    case LAB_E_ARG:
    case LAB_E_USAGE:
        return LAB_EXIT_USAGE;
    case LAB_E_IO:
    case LAB_E_PARSE:
    case LAB_E_SHAPE:
    case LAB_E_RANGE:
    case LAB_E_NOTFOUND:
    case LAB_E_DB:
    case LAB_E_NOT_BUILT: /* the lesson asks for it, not the machine */
        return LAB_EXIT_INPUT;
    case LAB_E_NOMEM:
    case LAB_E_UNSUPPORTED:
    case LAB_E_DEVICE:
        return LAB_EXIT_MACHINE;
    default:
        return LAB_EXIT_CHECK;
    }
}

/* The words of the command behind the program's name, with a blank before. */
static char words[64];

void lab_warn_as(const char *name)
{
    const char *rest = strchr(name, ' ');
    snprintf(words, sizeof(words), "%s", rest ? rest : "");
}

static void print_error(const char *text)
{
    struct lab_str name;
    lab_str_init(&name);
    lab_command_add(&name, lab_print_is_ascii());
    lab_printf(stderr, "%s%s: %s\n",
               name.failed ? "lapenna-lab" : lab_str_text(&name), words, text);
    lab_str_release(&name);
}

int lab_exit_error(enum lab_status st)
{
    if (st && lab_signals_caught()) /* it cut a write short, or a wait */
        return LAB_EXIT_SIGNAL + lab_signals_caught();
    if (st && lab_signals_reader_gone())
        return LAB_EXIT_SIGNAL + SIGPIPE;
    return st ? lab_exit_with(lab_exit_code(st)) : LAB_EXIT_DONE;
}

int lab_exit_with(int code)
{
    if (!lab_error_json(code))
        print_error(lab_error());
    return code;
}

bool lab_errors_are_json(void)
{
    const char *form = getenv("LAPENNA_LAB_ERRORS");
    return form && strcmp(form, "json") == 0;
}

bool lab_error_json(int code)
{
    if (!lab_errors_are_json())
        return false;
    json_t *line = lab_json_new("error");
    lab_json_text(line, "id", lab_error_id());
    lab_json_int(line, "exit", code);
    lab_json_text(line, "message", lab_error());
    return lab_json_write(stderr, line) == LAB_OK;
}

void lab_warn(const char *fmt, ...)
{
    struct lab_str text;
    va_list args;
    lab_str_init(&text);
    va_start(args, fmt);
    lab_str_addv(&text, fmt, args);
    va_end(args);
    if (text.failed) {
        char cut[1024];
        va_start(args, fmt);
        vsnprintf(cut, sizeof(cut), fmt, args);
        va_end(args);
        cut[strcspn(cut, "\n")] = '\0';
        print_error(cut);
    }
    while (text.len > 0 && text.data[text.len - 1] == '\n')
        text.data[--text.len] = '\0';
    if (!text.failed)
        print_error(lab_str_text(&text));
    lab_str_release(&text);
}

void lab_warn_lines(const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        lab_warn("%.*s", (int)n, text);
        text += n + (text[n] == '\n');
    }
}
