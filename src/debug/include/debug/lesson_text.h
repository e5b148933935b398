/* lesson_text.h -- a lesson's text on standard output, wrapped at the terminal's
 * width or $COLUMNS. No styles. Threads: one. */
#pragma once
#include "lesson/lesson.h"

enum lab_status lab_read_doc(const struct lab_md *doc);
/* One paragraph of plain text, every line behind `indent` blanks. */
enum lab_status lab_read_paragraph(const char *text, int indent);
/* A line of its own, underlined or marked as headings of `level` are. */
enum lab_status lab_read_heading(const char *text, int level);

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
