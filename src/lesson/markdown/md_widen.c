/* md_widen.c -- the one place where md4c 0.4 and Markdown as people write it
 * differ: under the head of a table it wants three dashes a column, where one
 * is enough (GitHub, CommonMark's table extension, later md4c). */
#include "md_read.h"

#include <string.h>

static bool is_fence(const char *s, size_t len)
{
    size_t i = strspn(s, " ");
    return i + 3 <= len && i <= 3 &&
           (memcmp(s + i, "```", 3) == 0 || memcmp(s + i, "~~~", 3) == 0);
}

/* "|-|:-:|": nothing but bars, dashes, colons and blanks. */
static bool is_table_rule(const char *s, size_t len)
{
    bool bar = false;
    bool dash = false;
    for (size_t i = 0; i < len; i++) {
        if (!strchr("|-: \t\r", s[i]))
            return false;
        bar = bar || s[i] == '|';
        dash = dash || s[i] == '-';
    }
    return bar && dash;
}

static void add_widened(struct lab_str *out, const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool first = s[i] == '-' && (i == 0 || s[i - 1] != '-');
        lab_str_add_char(out, s[i]);
        if (first)
            lab_str_add(out, "--");
    }
}

void lab_md_widen_rules(struct lab_str *out, const char *md, size_t n)
{
    bool code = false;
    bool head = false; /* the line before has a bar */
    for (size_t i = 0; i < n;) {
        const char *end = memchr(md + i, '\n', n - i);
        size_t len = end ? (size_t)(end - (md + i)) : n - i;
        if (is_fence(md + i, len))
            code = !code;
        if (!code && head && is_table_rule(md + i, len))
            add_widened(out, md + i, len);
        else
            lab_str_add_bytes(out, md + i, len);
        if (end)
            lab_str_add_char(out, '\n');
        head = memchr(md + i, '|', len) != NULL;
        i += len + (end != NULL);
    }
}
