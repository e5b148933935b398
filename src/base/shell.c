/* shell.c -- quotes a word for a shell, in commands that people paste. */
#include "base/shell.h"

#include <string.h>

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || (unsigned char)c >= 0x80 ||
           strchr("%+,-./:=@_", c);
}

static void add_octal(struct lab_str *out, const char *word)
{
    lab_str_add(out, "$'");
    for (const char *p = word; *p; p++) {
        if (*p >= ' ' && *p <= '~' && *p != '\'' && *p != '\\')
            lab_str_add_char(out, *p);
        else
            lab_str_addf(out, "\\%03o", (unsigned char)*p);
    }
    lab_str_add_char(out, '\'');
}

static void add_quoted(struct lab_str *out, const char *word)
{
    lab_str_add_char(out, '\'');
    for (const char *p = word; *p; p++)
        if (*p == '\'')
            lab_str_add(out, "'\\''");
        else
            lab_str_add_char(out, *p);
    lab_str_add_char(out, '\'');
}

void lab_shell_add_word(struct lab_str *out, const char *word, bool ascii)
{
    bool plain = word[0] != '\0';
    bool shown = lab_is_visible(word, strlen(word), false);
    for (const char *p = word; *p; p++) {
        plain = plain && is_plain(*p);
        shown = shown && !(ascii && (unsigned char)*p >= 0x80);
    }
    if (!shown) /* and so it would not be copied as it is */
        add_octal(out, word);
    else if (plain && word[0] != '=') /* zsh: the path of a command */
        lab_str_add(out, word);
    else
        add_quoted(out, word);
}
