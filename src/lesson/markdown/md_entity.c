#include "md_read.h"

#include <stdlib.h>
#include <string.h>

static void add_code_point(struct lab_str *out, unsigned long code)
{
    char s[5] = {0};
    if (code < 0x80) {
        s[0] = (char)code;
    } else if (code < 0x800) {
        s[0] = (char)(0xC0 | code >> 6);
        s[1] = (char)(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
        s[0] = (char)(0xE0 | code >> 12);
        s[1] = (char)(0x80 | (code >> 6 & 0x3F));
        s[2] = (char)(0x80 | (code & 0x3F));
    } else if (code <= 0x10FFFF) {
        s[0] = (char)(0xF0 | code >> 18);
        s[1] = (char)(0x80 | (code >> 12 & 0x3F));
        s[2] = (char)(0x80 | (code >> 6 & 0x3F));
        s[3] = (char)(0x80 | (code & 0x3F));
    }
    lab_str_add_visible(out, s, strlen(s), false);
}

/* "&lt;", "&#955;", "&#x3bb;". Unknown ones stay as they are written. */
void lab_md_add_entity(struct lab_str *out, const char *s, size_t n)
{
    static const struct {
        const char *name;
        const char *text;
    } known[] = {{"&amp;", "&"},    {"&lt;", "<"},     {"&gt;", ">"},
                 {"&quot;", "\""},  {"&apos;", "'"},   {"&nbsp;", " "},
                 {"&times;", "×"},  {"&mdash;", "—"},  {"&ndash;", "–"},
                 {"&hellip;", "…"}, {"&middot;", "·"}, {"&minus;", "−"}};
    char text[16] = {0};
    if (n > 3 && n < sizeof(text) && s[1] == '#') {
        bool hex = s[2] == 'x' || s[2] == 'X';
        memcpy(text, s, n);
        add_code_point(out, strtoul(text + (hex ? 3 : 2), NULL, hex ? 16 : 10));
        return;
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
        if (strlen(known[i].name) == n && memcmp(known[i].name, s, n) == 0) {
            lab_str_add(out, known[i].text);
            return;
        }
    }
    lab_str_add_visible(out, s, n, false);
}
