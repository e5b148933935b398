/* shell.c -- quotes a word for a shell, in commands that people paste. */
#include "base/shell.h"

#include <string.h>

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || (unsigned char)c >= 0x80 ||
           strchr("%+,-./:=@_", c);
}

/* Whether it is shown as it is, and so copied as it is. No memory to find out
 * is a failure of `out`. */
static bool is_shown(struct lab_str *out, const char *word, bool ascii)
{
    struct lab_str visible;
    size_t n = strlen(word);
    bool same = true;
    for (const char *p = word; *p && ascii; p++)
        same = same && (unsigned char)*p < 0x80;
    if (!same)
        return false;
    lab_str_init(&visible);
    lab_str_add_visible(&visible, word, n, false);
    out->failed = out->failed || visible.failed;
    same = !visible.failed && visible.len == n &&
           memcmp(lab_str_text(&visible), word, n) == 0;
    lab_str_release(&visible);
    return same;
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
    for (const char *p = word; *p; p++)
        plain = plain && is_plain(*p);
    if (!is_shown(out, word, ascii))
        add_octal(out, word);
    else if (plain && word[0] != '=') /* zsh: the path of a command */
        lab_str_add(out, word);
    else
        add_quoted(out, word);
}
