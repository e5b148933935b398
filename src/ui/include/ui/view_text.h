/* ui/view_text.h -- what the screens of text are made of: the help of a screen,
 * the texts that a thread still writes, and the functions of a C or CUDA source,
 * found without a compiler. Pure, threads any, but for lab_text_end(). */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "report/doc.h"
#include "ui/screen.h"

/* init takes the `struct lab_screen *` that help is for. */
extern const struct lab_screen_ops lab_view_help;

struct lab_source_symbol {
    char name[96];
    int64_t line; /* from 1 */
};

LAB_C_BEGIN
/* Waits at most so long for the threads of texts whose screens were left before
 * they were written (lab_text_args). False: one still writes; only _exit() is safe
 * then, for it uses what `user` points to and what exit() takes down. The UI's
 * thread, when its screens are closed. */
bool lab_text_end(int most_ms);
/* Functions and kernels that the text defines, in order: their heads start at
 * the margin and end in a body. Fills at most `cap`; returns how many there
 * are. */
size_t lab_source_symbols(const char *text, size_t bytes,
                          struct lab_source_symbol *out, size_t cap);
/* The bytes of the first piece of a line, at least one where n > 0, and the role of
 * its text: comments, keywords and constants have theirs. *in_comment, false at the
 * start of a file, goes over line ends. */
size_t lab_source_piece(const char *line, size_t n, bool *in_comment,
                        enum lab_role *role);
/* The text as numbered lines of such pieces. */
void lab_source_write(struct lab_doc *doc, const char *text, size_t bytes,
                      bool wrap);
/* Help: this screen's keys first, then those that work everywhere and mean
 * nothing else here, then the `:` words when the screen takes them. */
void lab_help_write(struct lab_doc *doc, const struct lab_screen_ops *ops,
                    const struct lab_binding *bindings);
LAB_C_END
