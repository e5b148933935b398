/* report/doc.h -- styled text that a pager wraps: paragraphs of spans.
 *
 * Built once, drawn at any width. Text from outside is made visible here:
 * control characters cannot reach the terminal. A failed allocation sets
 * `failed` and turns later calls into no-ops. Threads: one at a time. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/status.h"
#include "base/str.h"
#include "report/role.h"

struct lab_doc_span {
    size_t end; /* byte offset in the text; starts where the last one ended */
    enum lab_role role;
};

struct lab_doc_para {
    size_t start; /* bytes of the text, no newline inside */
    size_t end;
    size_t first_span; /* of doc->spans, those that cover start..end */
    int indent;        /* columns before the first row ... */
    int hang;          /* ... and before the others */
    bool wrap;         /* false: one row, the pager moves sideways */
};

struct lab_doc {
    struct lab_str text;
    struct lab_doc_span *spans;
    size_t span_count;
    size_t span_cap;
    struct lab_doc_para *paras;
    size_t para_count;
    size_t para_cap;
    size_t first; /* the paragraph that a reader begins at */
    size_t
        beside; /* the one that a second column begins with, where two hold all
                      of it; 0: none */
    bool failed;
};

LAB_C_BEGIN
void lab_doc_init(struct lab_doc *d);
void lab_doc_release(struct lab_doc *d);
void lab_doc_clear(struct lab_doc *d);
/* Starts a paragraph; it stays empty until text is added. */
void lab_doc_para(struct lab_doc *d, int indent, int hang, bool wrap);
/* Adds to the last paragraph (one is started when there is none). A newline
 * starts another like it; a tab becomes blanks up to the next 8th column of
 * the paragraph. */
void lab_doc_add(struct lab_doc *d, enum lab_role role, const char *text);
void lab_doc_add_bytes(struct lab_doc *d, enum lab_role role, const char *text,
                       size_t n);
void lab_doc_addf(struct lab_doc *d, enum lab_role role, const char *fmt, ...)
    LAB_PRINTF(3, 4);
/* An empty paragraph. */
void lab_doc_blank(struct lab_doc *d);
/* LAB_E_NOMEM when something could not be kept. */
enum lab_status lab_doc_check(const struct lab_doc *d);
LAB_C_END
