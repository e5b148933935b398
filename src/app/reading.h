/* reading.h -- a lesson's text on standard output, wrapped at the terminal's
 * width or $COLUMNS. No styles. Threads: one. */
#pragma once
#include "lesson/lesson.h"

/* The whole text, or its first `blocks` blocks (0: all). */
enum lab_status lab_read_doc(const struct lab_md *doc, size_t blocks);
/* One paragraph of plain text, every line behind `indent` blanks. */
enum lab_status lab_read_paragraph(const char *text, int indent);
/* A line of its own, underlined or marked as headings of `level` are. */
enum lab_status lab_read_heading(const char *text, int level);

/* Which sections have been shown. */
struct lab_reader {
    const struct lab_lesson *lesson;
    bool *shown; /* lesson->n_sections of them */
};
/* LAB_E_NOMEM. */
enum lab_status lab_reader_init(struct lab_reader *r,
                                const struct lab_lesson *lesson);
void lab_reader_release(struct lab_reader *r);
/* What the lesson says where a step comes: the phase's text when it has not
 * been shown, then the step's (else its node's), the same, between blank lines.
 * Prints nothing when there is nothing new. */
enum lab_status lab_read_step(struct lab_reader *r, const char *step,
                              const char *node, const char *phase);
