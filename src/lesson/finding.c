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
    for (size_t i = 0; i < f->count; i++)
        lab_free(f->items[i].message);
    lab_free(f->items);
    lab_free(f->file);
    lab_findings_init(f);
}

static char *visible(const char *text, size_t n)
{
    struct lab_str safe;
    lab_str_init(&safe);
    lab_str_add_visible(&safe, text, n, false);
    return lab_str_detach(&safe);
}

void lab_findings_of(struct lab_findings *f, const char *file)
{
    lab_free(f->file);
    f->file = visible(file, strlen(file));
    f->failed = f->failed || !f->file;
}

/* Messages quote the file, so they are made safe here, in one place. */
static char *message_text(const char *fmt, va_list args)
{
    char raw[1024];
    vsnprintf(raw, sizeof(raw), fmt, args);
    size_t n = strlen(raw);
    /* A cut inside a character would show as an escape: leave it out. */
    if (n == sizeof(raw) - 1)
        lab_utf8_trim(raw);
    return visible(raw, strlen(raw));
}

bool lab_findings_add(struct lab_findings *f, struct lab_place at,
                      enum lab_status status, const char *fmt, ...)
{
    f->errors += status != LAB_OK;
    f->failed = f->failed || status == LAB_E_NOMEM;
    if (f->count >= LAB_FINDINGS_MAX) {
        f->skipped++;
        return false;
    }
    va_list args;
    struct lab_finding item = {.at = at, .status = status};
    fmt = lab_error_wording(fmt, item.id);
    if (!item.id[0])
        snprintf(item.id, sizeof(item.id), "%s", lab_error_id());
    item.severity = status ? LAB_SEVERITY_ERROR : LAB_SEVERITY_WARNING;
    va_start(args, fmt);
    item.message = message_text(fmt, args);
    va_end(args);
    if (!item.message || lab_grow(&f->items, f->count, &f->cap,
                                  sizeof(*f->items), "a finding")) {
        lab_free(item.message);
        f->failed = true;
        return false;
    }
    f->items[f->count++] = item;
    return false;
}

static bool is_before(struct lab_place a, struct lab_place b)
{
    return a.line < b.line || (a.line == b.line && a.column < b.column);
}

/* Insertion sort: stable, so that findings of one place keep their order. */
void lab_findings_sort(struct lab_findings *f)
{
    for (size_t i = 1; i < f->count; i++) {
        struct lab_finding item = f->items[i];
        size_t j = i;
        for (; j > 0 && is_before(item.at, f->items[j - 1].at); j--)
            f->items[j] = f->items[j - 1];
        f->items[j] = item;
    }
}

void lab_finding_text(const struct lab_findings *f, size_t i,
                      struct lab_str *out)
{
    struct lab_place at = f->items[i].at;
    lab_str_add(out, f->file);
    if (at.line > 0)
        lab_str_addf(out, ":%d", at.line);
    if (at.line > 0 && at.column > 0)
        lab_str_addf(out, ":%d", at.column);
    lab_str_addf(out, ": %s", f->items[i].message);
}

const char *lab_severity_name(enum lab_severity severity)
{
    return severity == LAB_SEVERITY_ERROR ? "error" : "warning";
}
