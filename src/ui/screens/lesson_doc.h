/* lesson_doc.h -- a lesson's text for a pager, and the sources that it speaks
 * of. Threads: any. */
#pragma once
#include "base/str.h"
#include "lesson/lesson.h"
#include "report/doc.h"

/* A text in lines of `columns`; `ascii`: for an ASCII screen. LAB_E_NOMEM. */
enum lab_status lab_lesson_add(const struct lab_md *text, int columns,
                               bool ascii, struct lab_doc *out);
/* The whole text, section by section. A reader
 * begins at the section `at` of the lesson; NULL: at the top. LAB_E_NOMEM. */
enum lab_status lab_lesson_doc(const struct lab_lesson *lesson, bool ascii,
                               const struct lab_section *at,
                               struct lab_doc *out);
/* How it begins, without its title: `most` lines or some more. LAB_E_NOMEM. */
enum lab_status lab_lesson_begin(const struct lab_lesson *lesson, int columns,
                                 int most, bool ascii, struct lab_doc *out);
/* A file below the program's data: "kernels/gemm/tile.cu". Errors:
 * LAB_E_IO, LAB_E_NOMEM. */
enum lab_status lab_lesson_source(const char *file, struct lab_str *out);
