/* export.c -- writes an export: formats, the files of windows, and a temporary
 * file that takes its name only when it is whole. */
#include "store/export.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
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
    else
        add_csv(out, &visible);
    out->failed |= visible.failed;
    lab_str_release(&visible);
}

enum lab_status lab_export_put(FILE *to, struct lab_str *text)
{
    enum lab_status st = LAB_OK;
    if (text->failed)
        st = lab_no_memory("an export");
    else if (text->len && fwrite(text->data, 1, text->len, to) != text->len)
        st = lab_fail(LAB_E_IO, "[export.write] cannot write the export: %s",
                      strerror(errno));
    lab_str_clear(text);
    return st;
}

enum lab_status lab_export_base(struct lab_database *db, int64_t run,
                                int64_t *out)
{
    return lab_database_int_of(db, lab_sql_run_base, run, 0, out);
}

/* ---- the time of the iterations ---- */

static enum lab_status add_window(struct lab_export_windows *w, size_t *room,
                                  int64_t from, int64_t to)
{
    if (from == LAB_UNKNOWN || to == LAB_UNKNOWN || to < from)
        return LAB_OK;
    if (w->count && from <= w->items[w->count - 1].to_ns) {
        if (to > w->items[w->count - 1].to_ns)
            w->items[w->count - 1].to_ns = to;
        return LAB_OK;
    }
    if (lab_grow(&w->items, w->count, room, sizeof(*w->items), "an export"))
        return LAB_E_NOMEM;
    w->items[w->count++] = (struct lab_export_window){from, to};
    return LAB_OK;
}

enum lab_status lab_export_windows_load(struct lab_export_windows *out,
                                        struct lab_database *db, int64_t run,
                                        bool lab)
{
    struct lab_export_windows w = {0};
    size_t room = 0;
    struct lab_stmt s = lab_stmt_new(db, lab_sql_export_windows);
    sqlite3_bind_int64(s.sql, 1, run);
    sqlite3_bind_int(s.sql, 2, lab);
    while (lab_stmt_next(&s)) {
        int64_t from = lab_column_int(&s);
        s.st = add_window(&w, &room, from, lab_column_int(&s));
    }
    if (s.st)
        lab_export_windows_release(&w);
    else
        *out = w;
    return lab_stmt_end(&s);
}

void lab_export_windows_release(struct lab_export_windows *w)
{
    lab_free(w->items);
    *w = (struct lab_export_windows){0};
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
    lab_str_addf(&name, ".%.200s.lapenna-XXXXXX", slash ? slash + 1 : path);
    f->path = lab_strdup(path);
    f->temporary = lab_str_detach(&name);
    if (f->path && f->temporary)
        return LAB_OK;
    return lab_no_memory("a path");
}

static enum lab_status taken(const char *path)
{
    return lab_fail(LAB_E_IO,
                    "[export.exists] %s: there is such a file already; choose "
                    "another name, or overwrite it with --force",
                    path);
}

/* Only a file is ever replaced: a rename would put one in the place of a
 * device or a pipe as well. */
static enum lab_status check_kind(const char *path, const struct stat *info)
{
    if (S_ISREG(info->st_mode))
        return LAB_OK;
    if (S_ISDIR(info->st_mode))
        return lab_fail(
            LAB_E_IO, "[export.directory] %s: a directory; name a file", path);
    return lab_fail(
        LAB_E_IO,
        "[export.not-file] %s: %s, not a file, and not overwritten; name a "
        "file",
        path,
        S_ISFIFO(info->st_mode)   ? "a pipe"
        : S_ISSOCK(info->st_mode) ? "a socket"
                                  : "a device");
}

/* Where a file would be, without links: its directory must be there. NULL: no
 * memory, or no such directory. To be freed with free(). */
static char *real_place(const char *path)
{
    char *real = realpath(path, NULL);
    if (real || errno != ENOENT)
        return real;
    const char *slash = strrchr(path, '/');
    struct lab_str s;
    lab_str_init(&s);
    if (slash)
        lab_str_add_bytes(&s, path, (size_t)(slash - path) + 1);
    else
        lab_str_add(&s, "./");
    char *directory = s.failed ? NULL : realpath(lab_str_text(&s), NULL);
    lab_str_clear(&s);
    if (directory)
        lab_str_addf(&s, "%s/%s", directory, slash ? slash + 1 : path);
    real = directory && !s.failed ? strdup(lab_str_text(&s)) : NULL;
    free(directory);
    lab_str_release(&s);
    return real;
}

/* Not the database that is read, by whatever name, nor what SQLite keeps beside
 * it, even where that is not there yet. */
static enum lab_status check_source(const char *path, const char *db)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    char *to = real_place(path);
    char *from = real_place(db);
    struct stat a;
    struct stat b;
    bool there = stat(path, &a) == 0;
    bool same = false;
    struct lab_str name;
    lab_str_init(&name);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]) && from; i++) {
        lab_str_clear(&name);
        lab_str_addf(&name, "%s%s", from, ends[i]);
        same |= to && strcmp(lab_str_text(&name), to) == 0;
        same |= there && stat(lab_str_text(&name), &b) == 0 &&
                a.st_dev == b.st_dev && a.st_ino == b.st_ino;
    }
    bool failed = name.failed;
    lab_str_release(&name);
    free(to);
    free(from);
    if (failed)
        return lab_no_memory("a path");
    if (same)
        return lab_fail(
            LAB_E_IO,
            "[export.own-database] %s: the database that is read, or a part of "
            "it: never overwritten; choose another name",
            path);
    return LAB_OK;
}

static enum lab_status check_place(const char *path, const char *db, bool force,
                                   mode_t *mode)
{
    struct stat info;
    bool there = stat(path, &info) == 0;
    enum lab_status st = there ? check_kind(path, &info) : LAB_OK;
    if (st == LAB_OK && db)
        st = check_source(path, db);
    if (st == LAB_OK && there && !force)
        st = taken(path);
    mode_t mask = umask(0); /* mkstemp's files are for their owner alone */
    umask(mask);
    *mode = there ? info.st_mode & 0777 : 0666 & ~mask;
    return st;
}

/* A link stays one: the file that it leads to is written. *target NULL: no
 * link; to be freed with free(). */
static enum lab_status follow_link(const char *path, char **target)
{
    struct stat info;
    *target = NULL;
    if (lstat(path, &info) || !S_ISLNK(info.st_mode))
        return LAB_OK;
    *target = realpath(path, NULL);
    if (*target)
        return LAB_OK;
    return lab_fail(LAB_E_IO,
                    "[export.link] %s: a link that leads to no file (%s); "
                    "remove it, or name another file",
                    path, strerror(errno));
}

/* A file without a name, beside where it will be: if the program is killed,
 * nothing of it stays. -1: not on this file system. */
static int open_nameless(const struct lab_export_file *f)
{
    const char *slash = strrchr(f->temporary, '/');
    size_t n = slash ? (size_t)(slash - f->temporary) + 1 : 0;
    char *dir = lab_strndup(n ? f->temporary : "./", n ? n : 2);
    int fd = -1;
    if (dir && access("/proc/self/fd", X_OK) == 0)
        fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    lab_free(dir);
    return fd;
}

/* Gives a file without a name its temporary one, for the moment before it is
 * renamed. */
static enum lab_status name_it(const struct lab_export_file *f)
{
    char from[64];
    int free_name = mkstemp(f->temporary);
    if (free_name >= 0) {
        close(free_name);
        unlink(f->temporary);
        snprintf(from, sizeof(from), "/proc/self/fd/%d", fileno(f->stream));
        if (linkat(AT_FDCWD, from, AT_FDCWD, f->temporary, AT_SYMLINK_FOLLOW) ==
            0)
            return LAB_OK;
    }
    return lab_fail(LAB_E_IO, "[export.create] %s: cannot be written: %s",
                    f->path, strerror(errno));
}

/* Removes what exports of this file left that were killed: temporary files of
 * its name that no process holds locked. Other programs name theirs like
 * `.NAME.XXXXXX` (rsync), so ours has a word of its own. */
static void remove_stale(const char *temporary)
{
    static const char alphanumeric[] = "abcdefghijklmnopqrstuvwxyz"
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const char *slash = strrchr(temporary, '/');
    const char *name = slash ? slash + 1 : temporary;
    size_t n = strlen(name) - 6; /* without XXXXXX */
    char *dir = slash ? lab_strndup(temporary, (size_t)(slash - temporary) + 1)
                      : lab_strdup(".");
    DIR *d = dir ? opendir(dir) : NULL;
    struct dirent *e;
    struct stat info;
    while (d && (e = readdir(d))) {
        if (strncmp(e->d_name, name, n) != 0 ||
            strspn(e->d_name + n, alphanumeric) != 6 || e->d_name[n + 6])
            continue;
        int fd = openat(dirfd(d), e->d_name,
                        O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
            continue;
        if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
            info.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0)
            unlinkat(dirfd(d), e->d_name, 0);
        close(fd);
    }
    if (d)
        closedir(d);
    lab_free(dir);
}

/* mkstemp(), and the lock that remove_stale() looks for. It may have taken the
 * new file for a stale one in between: then another is made. */
static int make_temporary(char *temporary)
{
    size_t n = strlen(temporary) - 6;
    struct stat info;
    for (;;) {
        memcpy(temporary + n, "XXXXXX", 6);
        int fd = mkstemp(temporary);
        if (fd < 0)
            return -1;
        if (flock(fd, LOCK_EX) || fstat(fd, &info) || info.st_nlink > 0)
            return fd;
        close(fd);
    }
}

enum lab_status lab_export_open(struct lab_export_file *out, const char *path,
                                const char *db, bool stream, bool force)
{
    struct lab_export_file f = {.lock = -1, .force = force};
    mode_t mode;
    enum lab_status st = check_place(path, db, force, &mode);
    if (st)
        return st;
    char *target = NULL;
    st = follow_link(path, &target);
    if (st == LAB_OK)
        st = name_temporary(&f, target ? target : path);
    free(target);
    if (st) {
        forget(&f);
        return st;
    }
    remove_stale(f.temporary);
    int fd = stream ? open_nameless(&f) : -1;
    f.nameless = fd >= 0;
    if (f.nameless)
        flock(fd, LOCK_EX);
    else
        fd = make_temporary(f.temporary);
    if (fd < 0) {
        st = lab_fail(LAB_E_IO, "[export.rename] %s: cannot be written: %s",
                      path, strerror(errno));
        forget(&f);
        return st;
    }
    fchmod(fd, mode);
    if (stream) {
        f.stream = fdopen(fd, "w");
        if (!f.stream) {
            close(fd);
            if (!f.nameless)
                unlink(f.temporary);
            forget(&f);
            return lab_fail(LAB_E_NOMEM, "%s: no memory", path);
        }
    } else {
        f.lock = fd;
    }
    *out = f;
    return LAB_OK;
}

/* Renames, but not onto a file that has come in the meantime. */
static enum lab_status give_place(const struct lab_export_file *f)
{
    int rc = 0;
    struct stat info;
    if (f->force) {
        enum lab_status st =
            stat(f->path, &info) == 0 ? check_kind(f->path, &info) : LAB_OK;
        if (st)
            return st;
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
        return lab_fail(LAB_E_IO, "[export.close] %s: cannot be written: %s",
                        f->path, strerror(errno));
    return LAB_OK;
}

enum lab_status lab_export_close(struct lab_export_file *f, enum lab_status st)
{
    if (f->stream) {
        bool bad = fflush(f->stream) || fsync(fileno(f->stream));
        if (st == LAB_OK && bad)
            st = lab_fail(LAB_E_IO, "[export.sync] %s: cannot be written: %s",
                          f->path, strerror(errno));
        if (st == LAB_OK && f->nameless)
            st = name_it(f);
        f->nameless = f->nameless && st;
    }
    if (st == LAB_OK)
        st = give_place(f);
    if (f->stream)
        fclose(f->stream); /* and the lock with it */
    if (st && !f->nameless)
        unlink(f->temporary);
    if (f->lock >= 0)
        close(f->lock);
    forget(f);
    return st;
}
