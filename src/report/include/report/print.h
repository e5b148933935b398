/* print.h -- text from lessons and formulas on a stream, in what it can show.
 * Threads: one. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "base/status.h"

/* From now on only ASCII: --ascii, or a locale without UTF-8. */
void lab_print_ascii(bool only);
bool lab_print_is_ascii(void);
/* From now on bold and colours on standard output, or none, as before it is called. */
void lab_print_styles(bool wanted);
bool lab_print_is_styled(void);
/* Made safe for a terminal; newlines are kept. "`lapenna-lab ..." is spelt as
 * base/command.h has it. Without memory a message is printed as it is, in ASCII
 * and cut, and text for standard output is lost: lab_print_lost(). */
void lab_printf(FILE *out, const char *fmt, ...) LAB_PRINTF(2, 3);
/* A text on standard output, line by line: it may be long. */
struct lab_str;
void lab_print_lines(struct lab_str *text);
/* They take no columns in lines that break. */
#define LAB_PRINT_BOLD "\033[1m"
#define LAB_PRINT_PLAIN "\033[0m"
/* From now on lines of standard output that come by lab_printf() and
 * lab_print_text() break between words where they are longer than this; what is
 * in backquotes is one word. 0: they stay whole. What follows a break is
 * indented two columns further than its line, or to `hang` where it is > 0; a
 * command in backquotes as far as it has room, and one that is wider than a line
 * is continued with "\\" as in a shell. */
void lab_print_wrap(size_t columns, size_t hang);
/* The columns of standard output: COLUMNS, else the terminal's; 0: it is none. */
size_t lab_print_columns(void);
/* Text that is safe already, and ASCII where that is asked for: on a terminal, lines
 * that are wider break between words, unless lab_print_wrap() has set a width. */
void lab_print_fitted(const char *text);
/* Text that is safe already, as it is or in ASCII. */
void lab_print_text(FILE *out, const char *text);
/* LAB_E_IO: standard output takes no more. */
enum lab_status lab_print_check(void);
/* Text of standard output is missing for want of memory: main() reports it. */
void lab_print_lose(void);
bool lab_print_lost(void);
/* `n` bytes; what is no printable ASCII, newline or tab is a '?'. Takes no
 * memory. */
void lab_print_bytes(FILE *out, const char *bytes, size_t n);
/* Whether output may carry colour, for a screen and for plain text alike: `mode`
 * "never", or (for "auto" and NULL) a non-empty NO_COLOR, TERM=dumb or none, or
 * output that is not a terminal mean no; "always" overrides them. NULL is an
 * unset variable. */
bool lab_print_color(const char *mode, bool is_terminal, const char *no_color,
                     const char *term);
