#include "say.h"

#include <stdarg.h>
#include <string.h>

#include "base/command.h"
#include "base/mem.h"
#include "base/str.h"
#include "ui/glyph.h"

static bool ascii_only;
static bool lost; /* text of standard output, for want of memory */

void lab_say_ascii(bool only)
{
    ascii_only = only;
}

bool lab_say_is_ascii(void)
{
    return ascii_only;
}

void lab_say_lose(void)
{
    lost = true;
}

bool lab_say_lost(void)
{
    return lost;
}

void lab_say_bytes(FILE *out, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)bytes[i];
        putc(c == '\n' || c == '\t' || (c >= ' ' && c <= '~') ? c : '?', out);
    }
}

static bool put_ascii(FILE *out, const struct lab_str *text)
{
    enum { WIDEST = 8 }; /* a character's stand-in is no longer */
    size_t room = text->len * WIDEST + 1;
    char *plain = lab_alloc(room);
    if (!plain)
        return false;
    lab_text_to_ascii(lab_str_text(text), plain, room);
    fputs(plain, out);
    lab_free(plain);
    return true;
}

/* A message is printed without memory too, as far as it fits; of other output
 * main() reports that a part is missing. */
static void say_without_memory(FILE *out, const char *fmt, va_list args)
{
    char text[1024];
    if (out == stdout) {
        lost = true;
        return;
    }
    vsnprintf(text, sizeof(text), fmt, args);
    lab_say_bytes(out, text, strlen(text));
}

void lab_say(FILE *out, const char *fmt, ...)
{
    struct lab_str whole;
    struct lab_str spelt;
    struct lab_str safe;
    va_list args;
    va_list again;
    lab_str_init(&whole);
    lab_str_init(&spelt);
    lab_str_init(&safe);
    va_start(args, fmt);
    va_copy(again, args);
    lab_str_addv(&whole, fmt, args);
    lab_command_spell(&spelt, lab_str_text(&whole), "`", ascii_only);
    lab_str_add_visible(&safe, lab_str_text(&spelt), spelt.len, true);
    if (whole.failed || spelt.failed || safe.failed ||
        (ascii_only && !put_ascii(out, &safe)))
        say_without_memory(out, fmt, again);
    else if (!ascii_only)
        fputs(lab_str_text(&safe), out);
    va_end(again);
    va_end(args);
    lab_str_release(&whole);
    lab_str_release(&spelt);
    lab_str_release(&safe);
}
