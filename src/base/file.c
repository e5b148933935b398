/* file.c -- opens what a user names: a file to read, which has to be a regular
 * one, and a file to write, which must not exist yet. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *kind_of(mode_t mode)
{
    return S_ISDIR(mode)    ? "a directory"
           : S_ISFIFO(mode) ? "a pipe"
                            : "a device or a socket";
}

/* Not a device, even for a moment: opening one may do something. */
static bool is_device(const char *path, struct stat *info)
{
    return stat(path, info) == 0 && !S_ISREG(info->st_mode) &&
           !S_ISDIR(info->st_mode) && !S_ISFIFO(info->st_mode);
}

enum lab_status lab_file_open(const char *path, int *out, int64_t *bytes)
{
    struct stat info;
    int fd = -1;
    if (!is_device(path, &info)) {
        do
            fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        while (fd < 0 && errno == EINTR);
        if (fd < 0 || fstat(fd, &info)) {
            int why = errno;
            if (fd >= 0)
                close(fd);
            lab_fail(LAB_E_IO, "[file.open] %s: cannot open: %s", path,
                     strerror(why));
            errno = why;
            return LAB_E_IO;
        }
        if (S_ISREG(info.st_mode)) {
            *out = fd;
            *bytes = info.st_size;
            return LAB_OK;
        }
        close(fd);
    }
    errno = 0;
    return lab_fail(
        LAB_E_IO,
        "[file.kind] %s: cannot be read: it is %s, not a regular file", path,
        kind_of(info.st_mode));
}

enum lab_status lab_file_read(int fd, const char *path, int64_t from, void *to,
                              size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t got =
            pread(fd, (char *)to + at, n - at, (off_t)(from + (int64_t)at));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return lab_fail(LAB_E_IO, "[file.read] %s: cannot be read: %s",
                            path,
                            got ? strerror(errno) : "it has become shorter");
        at += (size_t)got;
    }
    return LAB_OK;
}

enum lab_status lab_file_create(const char *path, FILE **out)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST)
        return lab_fail(LAB_E_IO,
                        "[file.exists] %s is there already: choose another "
                        "name, or remove it",
                        path);
    *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (*out)
        return LAB_OK;
    enum lab_status st =
        lab_fail(LAB_E_IO, "[file.create] %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return st;
}
