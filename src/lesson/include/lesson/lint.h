/* lesson/lint.h -- what an author wants to know before a learner sees it.
 *
 * All that reading a lesson checks, and beyond it: headings that name no step,
 * node or phase; steps without a text; prerequisites that do not exist; two
 * lessons in one place of the course; tensors that are watched or printed and
 * that the network does not have; a lab of a lesson that does not exist, and,
 * where the CUDA module is there, variants that the ladder has not.
 * Threads: one at a time. */
#pragma once
#include "lesson/catalog.h"
#include "lesson/finding.h"

LAB_C_BEGIN
/* Adds the findings for the file at `path`, in the order of its lines.
 * catalog: the lessons beside it; NULL: what refers to others is not checked.
 * A prerequisite may also be one of the installed lessons: a changed copy of one
 * is alone in its folder.
 * LAB_OK also when there are findings: see found->errors.
 * Errors: LAB_E_NOMEM. */
enum lab_status lab_lesson_lint(const char *path,
                                const struct lab_catalog *catalog,
                                struct lab_findings *found);
LAB_C_END
