/* new_file.c -- opens a file that must not exist yet, for what a user keeps:
 * pictures, recordings. */
#include "base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum lab_status lab_new_file(const char *path, FILE **out)
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
