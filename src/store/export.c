#include "store/export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export_priv.h"

static void add_json(struct lab_str *out, const struct lab_str *text)
{
    lab_str_add_char(out, '"');
    for (const char *p = lab_str_text(text); *p; p++) {
        if (*p == '"' || *p == '\\')
            lab_str_add_char(out, '\\');
        lab_str_add_char(out, *p);
    }
    lab_str_add_char(out, '"');
}

/* Spreadsheets take a field that begins like a formula for one, quoted or not,
 * and run it; with an apostrophe before it it is a text. */
static void add_csv(struct lab_str *out, const struct lab_str *text)
{
    const char *s = lab_str_text(text);
    bool formula = *s && strchr("=+-@", *s);
    if (!formula && !strpbrk(s, ",\"\r\n") && *s != ' ') {
        lab_str_add(out, s);
        return;
    }
    lab_str_add_char(out, '"');
    if (formula)
        lab_str_add_char(out, '\'');
    for (; *s; s++) {
        if (*s == '"')
            lab_str_add_char(out, '"');
        lab_str_add_char(out, *s);
    }
    lab_str_add_char(out, '"');
}

static void add_html(struct lab_str *out, const struct lab_str *text)
{
    for (const char *p = lab_str_text(text); *p; p++) {
        switch (*p) {
        case '&':
            lab_str_add(out, "&amp;");
            break;
        case '<':
            lab_str_add(out, "&lt;");
            break;
        case '>':
            lab_str_add(out, "&gt;");
            break;
        case '"':
            lab_str_add(out, "&quot;");
            break;
        case '\'':
            lab_str_add(out, "&#39;");
            break;
        default:
            lab_str_add_char(out, *p);
        }
    }
}

void lab_export_text(struct lab_str *out, const char *text, enum lab_escape how)
{
    struct lab_str visible;
    if (!text && how == LAB_ESCAPE_JSON)
        lab_str_add(out, "null");
    if (!text)
        return;
    lab_str_init(&visible);
    lab_str_add_visible(&visible, text, strlen(text), false);
    if (how == LAB_ESCAPE_JSON)
        add_json(out, &visible);
    else if (how == LAB_ESCAPE_CSV)
        add_csv(out, &visible);
    else
        add_html(out, &visible);
    out->failed |= visible.failed;
    lab_str_release(&visible);
}

enum lab_status lab_export_put(FILE *to, struct lab_str *text)
{
    enum lab_status st = LAB_OK;
    if (text->failed)
        st = lab_fail(LAB_E_NOMEM, "no memory for an export");
    else if (text->len && fwrite(text->data, 1, text->len, to) != text->len)
        st = lab_fail(LAB_E_IO, "cannot write the export: %s", strerror(errno));
    lab_str_clear(text);
    return st;
}

/* ---- a file that appears when it is whole ---- */

static void forget(struct lab_export_file *f)
{
    lab_free(f->path);
    lab_free(f->temporary);
    *f = (struct lab_export_file){0};
}

static enum lab_status name_temporary(struct lab_export_file *f,
                                      const char *path)
{
    struct lab_str name;
    const char *slash = strrchr(path, '/');
    lab_str_init(&name);
    if (slash)
        lab_str_add_bytes(&name, path, (size_t)(slash - path) + 1);
    lab_str_addf(&name, ".%.200s.XXXXXX", slash ? slash + 1 : path);
    f->path = lab_strdup(path);
    f->temporary = lab_str_detach(&name);
    if (f->path && f->temporary)
        return LAB_OK;
    return lab_fail(LAB_E_NOMEM, "no memory for a path");
}

static enum lab_status taken(const char *path)
{
    return lab_fail(LAB_E_IO,
                    "%s: there is such a file already; choose "
                    "another name, or overwrite it with --force",
                    path);
}

enum lab_status lab_export_open(struct lab_export_file *out, const char *path,
                                bool stream, bool force)
{
    struct lab_export_file f = {.force = force};
    struct stat info;
    bool there = stat(path, &info) == 0;
    if (there && S_ISDIR(info.st_mode))
        return lab_fail(LAB_E_IO, "%s: a directory; name a file", path);
    if (there && !force)
        return taken(path);
    enum lab_status st = name_temporary(&f, path);
    if (st) {
        forget(&f);
        return st;
    }
    int fd = mkstemp(f.temporary);
    if (fd < 0) {
        st = lab_fail(LAB_E_IO, "%s: cannot be written: %s", path,
                      strerror(errno));
        forget(&f);
        return st;
    }
    mode_t mask = umask(0); /* mkstemp's files are for their owner alone */
    umask(mask);
    fchmod(fd, there ? info.st_mode & 0777 : 0666 & ~mask);
    if (stream) {
        f.stream = fdopen(fd, "w");
        if (!f.stream) {
            close(fd);
            unlink(f.temporary);
            forget(&f);
            return lab_fail(LAB_E_NOMEM, "%s: no memory", path);
        }
    } else {
        close(fd);
    }
    *out = f;
    return LAB_OK;
}

/* Renames, but not onto a file that has come in the meantime. */
static enum lab_status give_place(const struct lab_export_file *f)
{
    int rc = 0;
    if (f->force) {
        rc = rename(f->temporary, f->path);
    } else {
        rc = renameat2(AT_FDCWD, f->temporary, AT_FDCWD, f->path,
                       RENAME_NOREPLACE);
        if (rc && (errno == EINVAL || errno == ENOSYS)) /* not here */
            rc = access(f->path, F_OK) == 0 ? (errno = EEXIST, -1)
                                            : rename(f->temporary, f->path);
    }
    if (rc && errno == EEXIST)
        return taken(f->path);
    if (rc)
        return lab_fail(LAB_E_IO, "%s: cannot be written: %s", f->path,
                        strerror(errno));
    return LAB_OK;
}

enum lab_status lab_export_close(struct lab_export_file *f, enum lab_status st)
{
    if (f->stream) {
        bool bad = fflush(f->stream) || fsync(fileno(f->stream));
        if (st == LAB_OK && bad)
            st = lab_fail(LAB_E_IO, "%s: cannot be written: %s", f->path,
                          strerror(errno));
        fclose(f->stream);
    }
    if (st == LAB_OK)
        st = give_place(f);
    if (st)
        unlink(f->temporary);
    forget(f);
    return st;
}
