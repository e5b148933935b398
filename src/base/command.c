/* command.c -- how this program was started (`lapenna-lab` or `./lab`), so that
 * commands in messages can be typed as they are printed. */
#include "base/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/shell.h"

static const char usual[] = "lapenna-lab";

static bool is_command(const char *word)
{
    if (!word || !*word)
        return false;
    for (const char *p = word; *p; p++) {
        if ((unsigned char)*p < ' ' || *p == 0x7F)
            return false;
    }
    return true;
}

void lab_command_add(struct lab_str *out, bool ascii)
{
    const char *from_env = getenv("LAPENNA_LAB_COMMAND");
    lab_shell_add_word(out, is_command(from_env) ? from_env : usual, ascii);
}

void lab_command_spell(struct lab_str *out, const char *text, const char *lead,
                       bool ascii)
{
    size_t n_lead = strlen(lead);
    size_t n = sizeof(usual) - 1;
    for (const char *at = text; (at = strstr(at, lead));) {
        at += n_lead;
        if (strncmp(at, usual, n) != 0 || (at[n] != ' ' && at[n] != '`'))
            continue;
        lab_str_add_bytes(out, text, (size_t)(at - text));
        lab_command_add(out, ascii);
        text = at += n;
    }
    lab_str_add(out, text);
}
