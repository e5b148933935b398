/* lint_priv.h -- what lint.c and lint_lab.c share. */
#pragma once
#include "lesson/lint.h"

struct linter {
    const struct lab_lesson *lesson;
    const struct lab_catalog *catalog;
    const struct lab_plan *plan; /* NULL: the network could not be built */
    struct lab_findings *found;
};

void lab_lint_add(struct linter *l, struct lab_place at, enum lab_severity sev,
                  const char *fmt, ...) LAB_PRINTF(4, 5);
/* What a lab names: the lesson that it measures, and rungs. */
enum lab_status lab_lint_lab(struct linter *l);
