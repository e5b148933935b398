/* suggest.c -- spells the commands that messages suggest.
 *
 * With the program's name as it was typed, quoted for a shell, and with --db
 * where the database is not the default one, so that a command can be pasted as
 * it is printed. */
#include "report/suggest.h"

#include <stdio.h>
#include <string.h>

#include "base/command.h"
#include "base/datadir.h"
#include "base/shell.h"
#include "report/print.h"
#include "store/database.h"

static void add_word(struct lab_str *out, const char *word)
{
    lab_str_add_char(out, ' ');
    lab_shell_add_word(out, word, lab_print_is_ascii());
}

static void add_place(struct lab_str *out, const char *db)
{
    if (!db)
        return;
    add_word(out, "--db");
    add_word(out, db);
}

void lab_suggest_command(struct lab_str *out, const char *db,
                         const char *const *words)
{
    lab_command_add(out, lab_print_is_ascii());
    for (int i = 0; words[i]; i++)
        add_word(out, words[i]);
    add_place(out, db);
}

struct lab_str lab_suggest_command_text(const char *db,
                                        const char *const *words)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_suggest_command(&text, db, words);
    return text;
}

enum lab_status lab_recorded_open(struct lab_database **out)
{
    const struct lab_database_options options = {.read_only = true,
                                                 .busy_timeout_ms = 500};
    struct lab_str path;
    lab_str_init(&path);
    enum lab_status st = lab_data_path(LAB_RECORDED_RUNS, &path);
    if (!st)
        st = lab_database_open(out, lab_str_text(&path), &options);
    lab_str_release(&path);
    return st;
}

const char *lab_suggest_db(const struct lab_database *db)
{
    const char *path = lab_database_path(db);
    struct lab_str usual;
    struct lab_str ships;
    lab_str_init(&usual);
    lab_str_init(&ships);
    bool named = (lab_database_default_path(&usual) ||
                  strcmp(path, lab_str_text(&usual)) != 0) &&
                 (lab_data_path(LAB_RECORDED_RUNS, &ships) ||
                  strcmp(path, lab_str_text(&ships)) != 0);
    lab_str_release(&usual);
    lab_str_release(&ships);
    return named ? path : NULL;
}

void lab_suggest_in_text(struct lab_str *out, const struct lab_database *db,
                         const char *text)
{
    static const char program[] = "`lapenna-lab ";
    const char *place = lab_suggest_db(db);
    for (const char *at; (at = strstr(text, program));) {
        const char *end = strchr(at + 1, '`');
        if (!end)
            break;
        lab_str_add_bytes(out, text, (size_t)(end - text));
        add_place(out, place);
        lab_str_add_char(out, '`');
        text = end + 1;
    }
    lab_str_add(out, text);
}

enum lab_status lab_find_word(const char *what, const char *word,
                              const char *const *names, int n,
                              const char *there, int *out)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(word, names[i]) == 0) {
            *out = i;
            return LAB_OK;
        }
    }
    const char *near = lab_nearest(word, names, (size_t)n);
    if (near && near[0] != word[0])
        near = NULL; /* another word: `there` lists what exists */
    struct lab_str all;
    lab_str_init(&all);
    for (int i = 0; i < n && !there; i++)
        lab_str_addf(&all, "%s%s", i ? ", " : "there are ", names[i]);
    enum lab_status st =
        lab_fail(LAB_E_USAGE, "[usage.word] no %s '%s'%s%s%s %s", what, word,
                 near ? ": did you mean " : "", near ? near : "",
                 near ? "?" : ";", there ? there : lab_str_text(&all));
    lab_str_release(&all);
    return st;
}

void lab_print_recorded(const char *db, int64_t run, bool whole)
{
    char number[32];
    snprintf(number, sizeof(number), "%lld", (long long)run);
    struct lab_str show =
        lab_suggest_command_text(db, LAB_WORDS("profile", "show", number));
    lab_print_wrap(0, 0); /* the command can be pasted */
    lab_printf(stdout, "recorded %s run %s: %s\n",
               whole ? "as" : "in part only, as", number, lab_str_text(&show));
    lab_str_release(&show);
}
