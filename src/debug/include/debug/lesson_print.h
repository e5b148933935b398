/* lesson_print.h -- how `lapenna-lab lesson` prints. Threads: one. */
#pragma once
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include "debug/options.h"
#include "lesson/lesson.h"

/* Prints and drops `object`, one record a line. LAB_E_NOMEM also when it is
 * NULL. */
enum lab_status lab_lesson_put_json(const struct lab_options *o,
                                    json_t *object);
/* Text, in ASCII where that is asked for. */
void lab_lesson_put_text(const struct lab_options *o, FILE *out,
                         const char *text);
/* Wrapped at the terminal's width, or $COLUMNS; lines of more than 100 columns
 * are hard to read. */
enum lab_status lab_lesson_put_doc(const struct lab_options *o,
                                   const struct lab_md *doc);
enum lab_status lab_lesson_put_heading(const struct lab_options *o,
                                       const char *text, int level);
int lab_lesson_columns(void);

/* On standard output, without styles. */
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
