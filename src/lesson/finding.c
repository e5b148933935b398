/* finding.c -- mistakes of a file with line and column, collected and
 * sorted. */
#include "lesson/finding.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

void lab_findings_init(struct lab_findings *f)
{
    *f = (struct lab_findings){0};
}

void lab_findings_release(struct lab_findings *f)
{
    for (size_t i = 0; i < f->count; i++) {
        lab_free(f->items[i].file);
        lab_free(f->items[i].message);
    }
    lab_free(f->items);
    lab_findings_init(f);
}

/* Messages quote the file, so they are made safe here, in one place. */
static char *message_text(const char *fmt, va_list args)
{
    char raw[1024];
    struct lab_str safe;
    lab_str_init(&safe);
    vsnprintf(raw, sizeof(raw), fmt, args);
    size_t n = strlen(raw);
    /* A cut inside a character would show as an escape: leave it out. */
    if (n == sizeof(raw) - 1) {
        size_t bad = lab_utf8_check(raw, n);
        if (bad != (size_t)-1 && bad + 4 > n)
            n = bad;
    }
    lab_str_add_visible(&safe, raw, n, false);
    return lab_str_detach(&safe);
}

static char *file_text(const char *file)
{
    struct lab_str safe;
    lab_str_init(&safe);
    lab_str_add_visible(&safe, file, strlen(file), false);
    return lab_str_detach(&safe);
}

void lab_findings_add_v(struct lab_findings *f, const char *file, int line,
                        int column, enum lab_severity severity,
                        enum lab_status status, const char *fmt, va_list args)
{
    if (severity == LAB_SEVERITY_ERROR)
        f->errors++;
    if (status == LAB_E_NOMEM)
        f->failed = true;
    if (f->count >= LAB_FINDINGS_MAX) {
        f->skipped++;
        return;
    }
    if (lab_grow(&f->items, f->count, &f->cap, sizeof(*f->items),
                 "a finding")) {
        f->failed = true;
        return;
    }
    struct lab_finding item = {
        .line = line, .column = column, .severity = severity, .status = status};
    item.file = file_text(file);
    item.message = message_text(fmt, args);
    if (!item.file || !item.message) {
        lab_free(item.file);
        lab_free(item.message);
        f->failed = true;
        return;
    }
    f->items[f->count++] = item;
}

void lab_findings_add(struct lab_findings *f, const char *file, int line,
                      int column, enum lab_severity severity,
                      enum lab_status status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    lab_findings_add_v(f, file, line, column, severity, status, fmt, args);
    va_end(args);
}

/* Insertion sort: stable, so that findings of one place keep their order. */
void lab_findings_sort(struct lab_findings *f)
{
    for (size_t i = 1; i < f->count; i++) {
        struct lab_finding item = f->items[i];
        size_t j = i;
        while (j > 0 && (f->items[j - 1].line > item.line ||
                         (f->items[j - 1].line == item.line &&
                          f->items[j - 1].column > item.column))) {
            f->items[j] = f->items[j - 1];
            j--;
        }
        f->items[j] = item;
    }
}

void lab_finding_text(const struct lab_finding *f, struct lab_str *out)
{
    lab_str_add(out, f->file);
    if (f->line > 0)
        lab_str_addf(out, ":%d", f->line);
    if (f->line > 0 && f->column > 0)
        lab_str_addf(out, ":%d", f->column);
    lab_str_addf(out, ": %s", f->message);
}

enum lab_status lab_findings_status(const struct lab_findings *f)
{
    if (f->failed)
        return lab_fail(LAB_E_NOMEM, "no memory left to read the lesson");
    for (size_t i = 0; i < f->count; i++) {
        const struct lab_finding *item = &f->items[i];
        if (item->severity != LAB_SEVERITY_ERROR)
            continue;
        struct lab_str text;
        lab_str_init(&text);
        lab_finding_text(item, &text);
        enum lab_status st =
            text.failed ? lab_fail(LAB_E_NOMEM, "no memory left for a message")
                        : lab_fail(item->status, "%s", lab_str_text(&text));
        lab_str_release(&text);
        return st;
    }
    return LAB_OK;
}

const char *lab_severity_name(enum lab_severity severity)
{
    return severity == LAB_SEVERITY_ERROR ? "error" : "warning";
}
