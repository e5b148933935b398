#include "hint.h"

#include <stdio.h>

#include "base/shell.h"
#include "say.h"

static void add_word(struct lab_str *out, const char *word)
{
    lab_str_add_char(out, ' ');
    lab_shell_add_word(out, word, lab_say_is_ascii());
}

void lab_hint(struct lab_str *out, const char *db, const char *const *words)
{
    lab_str_add(out, "lapenna-lab");
    for (int i = 0; words[i]; i++)
        add_word(out, words[i]);
    if (!db)
        return;
    add_word(out, "--db");
    add_word(out, db);
}

struct lab_str lab_hint_text(const char *db, const char *const *words)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_hint(&text, db, words);
    return text;
}

void lab_hint_recorded(const char *db, int64_t run, bool whole)
{
    char number[32];
    snprintf(number, sizeof(number), "%lld", (long long)run);
    struct lab_str show =
        lab_hint_text(db, LAB_WORDS("profile", "show", number));
    lab_say(stdout, "recorded %s run %s: %s\n",
            whole ? "as" : "in part only, as", number, lab_str_text(&show));
    lab_str_release(&show);
}
