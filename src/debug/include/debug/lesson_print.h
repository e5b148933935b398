/* lesson_print.h -- lessons on standard output, in ASCII where that is asked for
 * (report/print.h). Errors: LAB_E_NOMEM, LAB_E_IO. Threads: one. */
#pragma once
#include <stdbool.h>
#include "lesson/lesson.h"

/* Wrapped at the terminal's width, or $COLUMNS; lines of more than 100 columns
 * are hard to read. */
enum lab_status lab_lesson_put_doc(const struct lab_md *doc, bool styles);
/* A line of its own, underlined or marked as headings of `level` are. */
enum lab_status lab_lesson_put_heading(const char *text, int level,
                                       bool styles);
/* One paragraph of plain text, every line behind `indent` blanks. */
enum lab_status lab_lesson_put_paragraph(const char *text, int indent);
int lab_lesson_columns(void);

/* Which sections have been shown, and in which phases. */
struct lab_lesson_reader {
    const struct lab_lesson *lesson;
    unsigned *shown; /* of each section: bit 1 << phase */
};
/* LAB_E_NOMEM. */
enum lab_status lab_reader_init(struct lab_lesson_reader *r,
                                const struct lab_lesson *lesson);
void lab_reader_release(struct lab_lesson_reader *r);
/* The lesson's text for a step of a phase, each text once a phase: the phase's
 * own, then the step's part for it (else its node's), between blank lines.
 * Prints nothing when there is nothing new. */
enum lab_status lab_read_step(struct lab_lesson_reader *r, const char *step,
                              const char *node, enum lab_phase phase);
