/* print.c -- prints text that may come from outside: made visible, ASCII when
 * asked, wrapped to the terminal. */
#include "report/print.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/command.h"
#include "base/mem.h"
#include "base/str.h"
#include "lesson/markdown.h"
#include "base/glyph.h"

static bool ascii_only;
static bool styled;
static bool lost; /* text of standard output, for want of memory */

void lab_print_ascii(bool only)
{
    ascii_only = only;
}

bool lab_print_is_ascii(void)
{
    return ascii_only;
}

void lab_print_styles(bool wanted)
{
    styled = wanted;
}

bool lab_print_is_styled(void)
{
    return styled;
}

enum lab_status lab_print_check(void)
{
    return fflush(stdout) || ferror(stdout)
               ? lab_fail(LAB_E_IO, "[output.write] cannot write the output")
               : LAB_OK;
}

void lab_print_lose(void)
{
    lost = true;
}

bool lab_print_lost(void)
{
    return lost;
}

bool lab_print_color(const char *mode, bool is_terminal, const char *no_color,
                     const char *term)
{
    if (mode && (strcmp(mode, "never") == 0 || strcmp(mode, "always") == 0))
        return mode[0] == 'a';
    return is_terminal && !(no_color && no_color[0]) && term && term[0] &&
           strcmp(term, "dumb") != 0;
}

void lab_print_bytes(FILE *out, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)bytes[i];
        putc(c == '\n' || c == '\t' || (c >= ' ' && c <= '~') ? c : '?', out);
    }
}

/* ---- lines that break between words ---- */

static struct {
    size_t columns; /* 0: none break */
    size_t hang;
    size_t at;      /* columns of this line that are written */
    size_t indent;  /* of the line */
    size_t blanks;  /* before the word, not written yet */
    bool begun;     /* the line has a word */
    bool quoted;    /* a backquote is open */
    size_t n;       /* bytes of the word so far */
    char word[512]; /* a longer one is written in parts */
} wrap;

size_t lab_print_columns(void)
{
    const char *given = getenv("COLUMNS");
    struct winsize size;
    if (given && atoi(given) > 0)
        return (size_t)atoi(given);
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
        return 0;
    return size.ws_col > 0 ? size.ws_col : 80;
}

static size_t columns_of(const char *word)
{
    static const char *const marks[] = {LAB_PRINT_BOLD, LAB_PRINT_PLAIN};
    size_t wide = (size_t)lab_md_columns(word);
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        for (const char *at = word; (at = strstr(at, marks[i])); at++)
            wide -= strlen(marks[i]);
    return wide;
}

/* A command that is wider than a line is continued as in a shell. Returns what is left
 * of the word. */
static const char *put_long_command(const char *word)
{
    enum { MARK_W = 2 }; /* " \\" */
    while (columns_of(word) > wrap.columns) {
        size_t cut = 0;
        char quote = '\0'; /* within which a backslash may be one of the text */
        for (size_t i = 0; word[i] && i + MARK_W <= wrap.columns; i++)
            if (word[i] == ' ' && !quote)
                cut = i;
            else if (word[i] == quote)
                quote = '\0';
            else if (!quote && (word[i] == '\'' || word[i] == '"'))
                quote = word[i];
        if (cut == 0)
            break;
        printf("%.*s \\\n", (int)cut, word);
        word += cut + 1;
    }
    return word;
}

static void put_word(void)
{
    const char *word = wrap.word;
    wrap.word[wrap.n] = '\0';
    size_t wide = columns_of(word);
    if (!wrap.begun)
        wrap.indent = wrap.blanks;
    if (wrap.begun && wrap.blanks > 0 &&
        wrap.at + wrap.blanks + wide > wrap.columns) {
        wrap.blanks = wrap.hang > 0 ? wrap.hang : wrap.indent + 2;
        if (word[0] == '`' && wrap.blanks + wide > wrap.columns)
            wrap.blanks = wide < wrap.columns ? wrap.columns - wide : 0;
        wrap.at = 0;
        putchar('\n');
        if (word[0] == '`') {
            word = put_long_command(word);
            wide = columns_of(word);
        }
    }
    printf("%*s%s", (int)wrap.blanks, "", word);
    wrap.at += wrap.blanks + wide;
    wrap.begun = true;
    wrap.blanks = wrap.n = 0;
}

void lab_print_wrap(size_t columns, size_t hang)
{
    if (wrap.n > 0)
        put_word();
    wrap.columns = columns;
    wrap.hang = hang;
    wrap.at = wrap.blanks = 0;
    wrap.begun = wrap.quoted = false;
}

static void put_wrapped(const char *text)
{
    for (; *text; text++) {
        bool blank = *text == ' ' && !wrap.quoted;
        if ((blank || *text == '\n') && wrap.n > 0)
            put_word();
        if (*text == '\n') {
            putchar('\n');
            wrap.at = wrap.blanks = 0;
            wrap.begun = wrap.quoted = false;
        } else if (blank) {
            wrap.blanks++;
        } else {
            wrap.quoted ^= *text == '`';
            wrap.word[wrap.n++] = *text;
        }
        if (wrap.n + 1 == sizeof(wrap.word))
            put_word();
    }
}

static void put(FILE *out, const char *text)
{
    if (out == stdout && wrap.columns > 0)
        put_wrapped(text);
    else
        fputs(text, out);
}

void lab_print_fitted(const char *text)
{
    const bool own = wrap.columns == 0; /* no width is set by the command */
    if (own)
        lab_print_wrap(lab_print_columns(), 0);
    put(stdout, text);
    if (own)
        lab_print_wrap(0, 0);
}

static bool put_ascii(FILE *out, const char *text)
{
    enum { WIDEST = 8 }; /* what replaces a character is no longer */
    size_t room = strlen(text) * WIDEST + 1;
    char *plain = lab_alloc(room);
    if (!plain)
        return false;
    lab_text_to_ascii(text, plain, room);
    put(out, plain);
    lab_free(plain);
    return true;
}

void lab_print_text(FILE *out, const char *text)
{
    if (!ascii_only)
        put(out, text);
    else if (!put_ascii(out, text))
        lab_print_bytes(out, text, strlen(text));
}

/* A message is printed without memory too, as far as it fits; of other output
 * main() reports that a part is missing. */
static void report_without_memory(FILE *out, const char *fmt, va_list args)
{
    char text[1024];
    if (out == stdout) {
        lost = true;
        return;
    }
    vsnprintf(text, sizeof(text), fmt, args);
    lab_print_bytes(out, text, strlen(text));
}

void lab_print_lines(struct lab_str *text)
{
    for (char *line = text->data; line && *line;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        lab_printf(stdout, "%s\n", line);
        line = end ? end + 1 : NULL;
    }
}

void lab_printf(FILE *out, const char *fmt, ...)
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
        (ascii_only && !put_ascii(out, lab_str_text(&safe))))
        report_without_memory(out, fmt, again);
    else if (!ascii_only)
        put(out, lab_str_text(&safe));
    va_end(again);
    va_end(args);
    lab_str_release(&whole);
    lab_str_release(&spelt);
    lab_str_release(&safe);
}
