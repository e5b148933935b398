#include "say.h"

#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "ui/glyph.h"

static bool ascii_only;

void lab_say_ascii(bool only)
{
    ascii_only = only;
}

bool lab_say_is_ascii(void)
{
    return ascii_only;
}

static void put_ascii(FILE *out, const struct lab_str *text)
{
    enum { WIDEST = 8 }; /* a character's stand-in is no longer */
    size_t room = text->len * WIDEST + 1;
    char *plain = lab_alloc(room);
    if (!plain)
        return;
    lab_text_to_ascii(lab_str_text(text), plain, room);
    fputs(plain, out);
    lab_free(plain);
}

void lab_say(FILE *out, const char *fmt, ...)
{
    struct lab_str whole;
    struct lab_str safe;
    va_list args;
    lab_str_init(&whole);
    va_start(args, fmt);
    lab_str_addv(&whole, fmt, args);
    va_end(args);
    lab_str_init(&safe);
    lab_str_add_visible(&safe, lab_str_text(&whole), whole.len, true);
    lab_str_release(&whole);
    if (ascii_only)
        put_ascii(out, &safe);
    else
        fputs(lab_str_text(&safe), out);
    lab_str_release(&safe);
}
