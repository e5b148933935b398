/* doc.c -- styled text as paragraphs of spans, which a pager or a stream
 * wraps. */
#include "report/doc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

void lab_doc_init(struct lab_doc *d)
{
    *d = (struct lab_doc){0};
}

void lab_doc_release(struct lab_doc *d)
{
    lab_str_release(&d->text);
    lab_free(d->spans);
    lab_free(d->paras);
    lab_doc_init(d);
}

void lab_doc_clear(struct lab_doc *d)
{
    lab_str_clear(&d->text);
    d->span_count = 0;
    d->para_count = 0;
    d->first = 0;
    d->beside = 0;
    d->failed = false;
}

void lab_doc_para(struct lab_doc *d, int indent, int hang, bool wrap)
{
    if (d->failed || lab_grow(&d->paras, d->para_count, &d->para_cap,
                              sizeof(*d->paras), "the text")) {
        d->failed = true;
        return;
    }
    if (d->para_count > 0)
        lab_str_add_char(&d->text, '\n'); /* no match across paragraphs */
    d->paras[d->para_count++] =
        (struct lab_doc_para){.start = d->text.len,
                              .end = d->text.len,
                              .first_span = d->span_count,
                              .indent = indent,
                              .hang = hang,
                              .wrap = wrap};
}

void lab_doc_blank(struct lab_doc *d)
{
    lab_doc_para(d, 0, 0, true);
}

static void add_span(struct lab_doc *d, enum lab_role role)
{
    struct lab_doc_para *para = &d->paras[d->para_count - 1];
    struct lab_doc_span *last =
        d->span_count > para->first_span ? &d->spans[d->span_count - 1] : NULL;
    if (last && last->role == role) {
        last->end = d->text.len;
        para->end = d->text.len;
        return;
    }
    if (lab_grow(&d->spans, d->span_count, &d->span_cap, sizeof(*d->spans),
                 "the text")) {
        d->failed = true;
        return;
    }
    d->spans[d->span_count++] = (struct lab_doc_span){d->text.len, role};
    para->end = d->text.len;
}

static void add_tab(struct lab_doc *d)
{
    size_t column = d->text.len - d->paras[d->para_count - 1].start;
    do
        lab_str_add_char(&d->text, ' ');
    while (++column % 8 != 0);
}

void lab_doc_add_bytes(struct lab_doc *d, enum lab_role role, const char *text,
                       size_t n)
{
    if (d->para_count == 0)
        lab_doc_para(d, 0, 0, true);
    for (size_t i = 0; i < n && !d->failed;) {
        size_t len = 0;
        if (text[i] == '\n') {
            const struct lab_doc_para *p = &d->paras[d->para_count - 1];
            lab_doc_para(d, p->indent, p->hang, p->wrap);
            i++;
            continue;
        }
        while (i + len < n && text[i + len] != '\n' && text[i + len] != '\t')
            len++;
        if (len == 0) {
            add_tab(d);
            i++;
        }
        lab_str_add_visible(&d->text, text + i, len, false);
        d->failed = d->failed || d->text.failed;
        if (!d->failed)
            add_span(d, role);
        i += len;
    }
}

void lab_doc_add(struct lab_doc *d, enum lab_role role, const char *text)
{
    lab_doc_add_bytes(d, role, text, strlen(text));
}

void lab_doc_addf(struct lab_doc *d, enum lab_role role, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    lab_doc_add(d, role, text);
}

enum lab_status lab_doc_check(const struct lab_doc *d)
{
    return d->failed || d->text.failed ? lab_no_memory("the text") : LAB_OK;
}
