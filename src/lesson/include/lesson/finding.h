/* lesson/finding.h -- what a reader found wrong with a file, and where.
 *
 * Reading a lesson goes on after a mistake where it can, so that its author
 * sees all of them at once. Lines and columns count from 1 in the file itself
 * (columns in characters); 0 means the file as a whole. Every text in here is
 * safe to print: nothing in it can steer a terminal. Threads: one at a time. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/error.h"
#include "base/str.h"
#include "engine/network.h"

enum lab_severity { LAB_SEVERITY_ERROR, LAB_SEVERITY_WARNING };

struct lab_finding {
    struct lab_place at;
    enum lab_severity severity;
    enum lab_status status; /* of an error; LAB_OK for a warning */
    char id[LAB_ERROR_ID_BYTES];
    char *message; /* what is wrong and what to do */
};

struct lab_findings {
    char *file; /* that they are about */
    struct lab_finding *items;
    size_t count;
    size_t cap;
    size_t errors;  /* all errors, those beyond the limit included */
    size_t skipped; /* findings beyond LAB_FINDINGS_MAX */
    bool failed;    /* memory was short: the list is not complete */
};

enum { LAB_FINDINGS_MAX = 200 };

LAB_C_BEGIN
void lab_findings_init(struct lab_findings *f);
void lab_findings_release(struct lab_findings *f);
/* The file that the next findings are about. */
void lab_findings_of(struct lab_findings *f, const char *file);
/* An error, or a warning where `status` is LAB_OK. Returns false, for the reader that
 * found it to return. The format begins with the id of the finding (base/error.h);
 * without one the text is that of lab_error(), and so is the id. */
bool lab_findings_add(struct lab_findings *f, struct lab_place at,
                      enum lab_status status, const char *fmt, ...)
    LAB_PRINTF(4, 5);
/* Puts the findings in the order of their place in the file. */
void lab_findings_sort(struct lab_findings *f);
/* "FILE:LINE:COLUMN: message", the form that editors jump to. */
void lab_finding_text(const struct lab_findings *f, size_t i,
                      struct lab_str *out);
/* The word of a severity: "error", "warning". */
const char *lab_severity_name(enum lab_severity severity);
LAB_C_END
