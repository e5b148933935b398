/* source.c -- reads a lesson file into memory and checks its bytes. */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

/* Where in the file a byte stands. */
struct place {
    int line;
    int column;
};

/* True when a terminal shows the character as it is. The list of what is not
 * shown stands in base/str.c alone. */
static bool is_visible(const char *s, size_t len, struct lab_str *scratch)
{
    lab_str_clear(scratch);
    lab_str_add_visible(scratch, s, len, true);
    return !scratch->failed && scratch->len == len &&
           memcmp(lab_str_text(scratch), s, len) == 0;
}

static void report_hidden(const struct lab_source *src, struct place at,
                          unsigned code, struct lab_findings *found)
{
    const char *what = "character that hides or reorders text";
    if (code == 0x1B)
        what = "terminal escape sequence";
    else if (code < 0xA0)
        what = "control character";
    lab_findings_add(found, src->name, at.line, at.column, LAB_SEVERITY_ERROR,
                     LAB_E_PARSE, "%s (U+%04X) in the text: remove it", what,
                     code);
}

/* Walks the whole file once. A file that is not UTF-8 gets one message: the
 * bytes behind the first bad one say nothing new. */
static enum lab_status check_text(const struct lab_source *src,
                                  struct lab_findings *found)
{
    struct place at = {1, 1};
    struct lab_str scratch;
    lab_str_init(&scratch);
    lab_str_add(&scratch, "        "); /* so that no later append can fail */
    if (scratch.failed)
        return lab_fail(LAB_E_NOMEM, "no memory left to read the lesson");
    for (size_t i = 0; i < src->size;) {
        const char *s = src->bytes + i;
        unsigned code;
        size_t len = lab_utf8_next(s, src->size - i, &code);
        if (len == 0) {
            lab_findings_add(found, src->name, at.line, at.column,
                             LAB_SEVERITY_ERROR, LAB_E_PARSE,
                             "not UTF-8: byte 0x%02X at offset %zu; save the "
                             "file as UTF-8",
                             (unsigned char)s[0], i);
            break;
        }
        bool crlf = code == '\r' && i + 1 < src->size && s[1] == '\n';
        bool bom = code == 0xFEFF && i == 0;
        if ((code < 0x20 || code >= 0x7F) && !crlf && !bom &&
            !is_visible(s, len, &scratch))
            report_hidden(src, at, code, found);
        at.column++;
        if (code == '\n') {
            at.line++;
            at.column = 1;
        }
        i += len;
    }
    lab_str_release(&scratch);
    return LAB_OK;
}

/* The length of the line at `s` without its end; *next is where the next one
 * starts. */
static size_t line_length(const char *s, size_t n, size_t *next)
{
    const char *end = memchr(s, '\n', n);
    size_t len = end ? (size_t)(end - s) : n;
    *next = end ? len + 1 : n;
    while (len > 0 &&
           (s[len - 1] == '\r' || s[len - 1] == ' ' || s[len - 1] == '\t'))
        len--;
    return len;
}

static bool is_fence(const char *s, size_t len)
{
    return len == 3 && memcmp(s, "---", 3) == 0;
}

static void split(struct lab_source *src, struct lab_findings *found)
{
    static const char bom[] = "\xEF\xBB\xBF";
    const char *s = src->bytes;
    size_t n = src->size;
    size_t next = 0;
    if (n >= 3 && memcmp(s, bom, 3) == 0) {
        s += 3;
        n -= 3;
    }
    size_t len = line_length(s, n, &next);
    if (!is_fence(s, len)) {
        lab_findings_add(found, src->name, 1, 1, LAB_SEVERITY_ERROR,
                         LAB_E_PARSE,
                         "a lesson starts with a line --- and its front "
                         "matter; this file does not");
        return;
    }
    src->yaml = s + next;
    src->yaml_line = 2;
    int line = 2;
    for (size_t i = next; i < n; line++) {
        len = line_length(s + i, n - i, &next);
        if (is_fence(s + i, len)) {
            src->yaml_size = (size_t)(s + i - src->yaml);
            src->body = s + i + next;
            src->body_size = n - i - next;
            src->body_line = line + 1;
            return;
        }
        i += next;
    }
    src->yaml = NULL;
    lab_findings_add(found, src->name, 1, 1, LAB_SEVERITY_ERROR, LAB_E_PARSE,
                     "the front matter has no end: add a line --- behind it");
}

static enum lab_status finish(struct lab_source *src,
                              struct lab_findings *found)
{
    enum lab_status st = check_text(src, found);
    if (st)
        return st;
    if (!found->errors)
        split(src, found);
    return LAB_OK;
}

static enum lab_status too_large(const struct lab_source *src,
                                 struct lab_findings *found)
{
    lab_findings_add(found, src->name, 0, 0, LAB_SEVERITY_ERROR, LAB_E_RANGE,
                     "larger than %d MiB, the most that a lesson may have: "
                     "put its data into a file of its own (data: source: csv)",
                     LAB_SOURCE_MAX_BYTES >> 20);
    return lab_fail(LAB_E_RANGE, "%s is too large", src->name);
}

enum lab_status lab_source_copy(struct lab_source *src, const char *name,
                                const char *bytes, size_t size,
                                struct lab_findings *found)
{
    *src = (struct lab_source){.name = name};
    if (size > LAB_SOURCE_MAX_BYTES)
        return too_large(src, found);
    src->bytes = lab_strndup(bytes, size);
    if (!src->bytes)
        return lab_fail(LAB_E_NOMEM, "no memory left to read %s", name);
    src->size = size;
    enum lab_status st = finish(src, found);
    if (st)
        lab_source_release(src);
    return st;
}

/* Reads to the end or one byte beyond the limit, whichever is first: a device
 * or a pipe has no size to ask for. */
static enum lab_status read_all(struct lab_source *src, int fd, size_t *cap)
{
    for (;;) {
        if (src->size + 1 >= *cap) {
            size_t more = *cap ? *cap * 2 : 32768;
            char *grown = lab_realloc_array(src->bytes, more, 1);
            if (!grown)
                return lab_fail(LAB_E_NOMEM, "no memory left to read %s",
                                src->name);
            src->bytes = grown;
            *cap = more;
        }
        ssize_t n = read(fd, src->bytes + src->size, *cap - src->size - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return lab_fail(LAB_E_IO, "%s", strerror(errno));
        src->size += (size_t)n;
        src->bytes[src->size] = '\0';
        if (n == 0 || src->size > LAB_SOURCE_MAX_BYTES)
            return LAB_OK;
    }
}

static enum lab_status cannot_read(const struct lab_source *src,
                                   const char *why, struct lab_findings *found)
{
    lab_findings_add(found, src->name, 0, 0, LAB_SEVERITY_ERROR, LAB_E_IO,
                     "cannot read it: %s", why);
    return lab_fail(LAB_E_IO, "%s: cannot read it", src->name);
}

enum lab_status lab_source_read(struct lab_source *src, const char *path,
                                struct lab_findings *found)
{
    *src = (struct lab_source){.name = path};
    size_t cap = 0;
    int fd = -1;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return cannot_read(src, strerror(errno), found);
    enum lab_status st = read_all(src, fd, &cap);
    close(fd);
    if (st == LAB_E_IO)
        st = cannot_read(src, lab_error(), found);
    else if (!st && src->size > LAB_SOURCE_MAX_BYTES)
        st = too_large(src, found);
    else if (!st)
        st = finish(src, found);
    if (st)
        lab_source_release(src);
    return st;
}

void lab_source_release(struct lab_source *src)
{
    lab_free(src->bytes);
    *src = (struct lab_source){0};
}
