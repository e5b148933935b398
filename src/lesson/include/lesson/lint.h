/* lesson/lint.h -- what an author wants to know before a learner sees it.
 *
 * All that reading a lesson checks, and beyond it: headings that name no step,
 * node or phase; steps without a text; prerequisites that do not exist; two
 * lessons in one place of the course; tensors that are watched or printed and
 * that the network does not have. Threads: one at a time. */
#pragma once
#include "lesson/catalog.h"
#include "lesson/finding.h"

LAB_C_BEGIN
/* Adds the findings for the file at `path`, in the order of its lines.
 * catalog: the other lessons; NULL: what refers to them is not checked.
 * LAB_OK also when there are findings: see found->errors.
 * Errors: LAB_E_NOMEM. */
enum lab_status lab_lesson_lint(const char *path,
                                const struct lab_catalog *catalog,
                                struct lab_findings *found);
LAB_C_END
