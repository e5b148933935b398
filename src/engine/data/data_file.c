/* A data file, plain or gzip, as every reader of a source reads it: a regular
 * file only, with an end to what it may unpack to, and a look at the stop flag
 * before each piece. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "data_priv.h"

enum { CHUNK = 1 << 16 };

/* Opening a pipe would wait for its other end, and a device may act on it. */
static enum lab_status open_regular(struct lab_data_file *f, int *out)
{
    struct stat info;
    int fd = -1;
    do
        fd = open(f->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return lab_fail(LAB_E_IO, "%s: cannot open: %s", f->path,
                        strerror(errno));
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) {
        f->bytes = info.st_size;
        *out = fd;
        return LAB_OK;
    }
    const char *what = S_ISDIR(info.st_mode)    ? "a directory"
                       : S_ISFIFO(info.st_mode) ? "a pipe"
                                                : "a device or a socket";
    close(fd);
    return lab_fail(LAB_E_IO,
                    "%s: cannot be read: it is %s, not a regular file", f->path,
                    what);
}

enum lab_status lab_data_file_open(struct lab_data_file *f, const char *path,
                                   const struct lab_stop *stop)
{
    struct stat info;
    int fd = -1;
    *f = (struct lab_data_file){.path = path, .stop = stop};
    /* A device is not opened at all; a file that becomes one is closed. */
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) &&
        !S_ISDIR(info.st_mode) && !S_ISFIFO(info.st_mode))
        return lab_fail(LAB_E_IO,
                        "%s: cannot be read: it is a device or a socket, not a "
                        "regular file",
                        path);
    enum lab_status st = open_regular(f, &fd);
    if (st)
        return st;
    f->gz = gzdopen(fd, "rb");
    if (!f->gz) {
        close(fd);
        return lab_fail(LAB_E_NOMEM, "%s: no memory to read it", path);
    }
    gzbuffer(f->gz, 2 * CHUNK);
    return LAB_OK;
}

enum lab_status lab_data_file_read(struct lab_data_file *f, void *out,
                                   size_t room, size_t *got)
{
    if (lab_stop_asked(f->stop))
        return lab_fail(LAB_E_CANCELLED, "%s: reading was stopped", f->path);
    int n = gzread(f->gz, out, room > CHUNK ? CHUNK : (unsigned)room);
    if (n < 0) {
        int code = Z_OK;
        const char *why = gzerror(f->gz, &code);
        return lab_fail(LAB_E_IO, "%s: cannot be read: %s", f->path,
                        code == Z_ERRNO ? strerror(errno) : why);
    }
    f->read += n;
    if (f->read > LAB_DATA_MOST_BYTES)
        return lab_fail(LAB_E_RANGE, "%s: is longer than %d MiB%s", f->path,
                        LAB_DATA_MOST_BYTES >> 20,
                        gzdirect(f->gz) ? "" : ", unpacked");
    *got = (size_t)n;
    return LAB_OK;
}

enum lab_status lab_data_file_close(struct lab_data_file *f)
{
    int closed = f->gz ? gzclose(f->gz) : Z_OK;
    f->gz = NULL;
    return closed == Z_BUF_ERROR
               ? lab_fail(LAB_E_IO, "%s: is cut short", f->path)
               : LAB_OK;
}

enum lab_status lab_data_file_text(const char *path,
                                   const struct lab_stop *stop,
                                   struct lab_str *out)
{
    struct lab_data_file f;
    char *chunk = lab_alloc(CHUNK);
    size_t got = 1;
    if (!chunk)
        return lab_fail(LAB_E_NOMEM, "%s: no memory to read it", path);
    enum lab_status st = lab_data_file_open(&f, path, stop);
    while (!st && got > 0 && !out->failed) {
        st = lab_data_file_read(&f, chunk, CHUNK, &got);
        if (!st)
            lab_str_add_bytes(out, chunk, got);
    }
    lab_free(chunk);
    if (st) {
        if (f.gz)
            gzclose(f.gz);
        return st;
    }
    st = lab_data_file_close(&f);
    return !st && out->failed
               ? lab_fail(LAB_E_NOMEM, "%s: no memory for the text", path)
               : st;
}
