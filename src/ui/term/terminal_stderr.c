#include "terminal_priv.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

enum { REPLAY_BYTES = 64 * 1024 };

static int held = -1;  /* where stderr goes meanwhile */
static int saved = -1; /* the real one */

void lab_stderr_hold(void)
{
    if (held >= 0 || !isatty(STDERR_FILENO))
        return; /* 2>file does not harm the screen */
    fflush(stderr);
    held = memfd_create("stderr", MFD_CLOEXEC);
    saved = dup(STDERR_FILENO);
    if (held >= 0 && saved >= 0 && dup2(held, STDERR_FILENO) >= 0)
        return;
    if (held >= 0)
        close(held);
    if (saved >= 0)
        close(saved);
    held = saved = -1;
}

static void write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return;
        bytes += done;
        n -= (size_t)done;
    }
}

/* One libc stream and one descriptor point at the same file: read from the
 * place, not from the shared offset. */
static void replay(off_t size)
{
    struct lab_str text;
    off_t from = size > REPLAY_BYTES ? size - REPLAY_BYTES : 0;
    char *bytes = lab_alloc((size_t)(size - from));
    if (!bytes)
        return;
    ssize_t n = pread(held, bytes, (size_t)(size - from), from);
    lab_str_init(&text);
    if (from > 0)
        lab_str_addf(&text, "(%lld bytes of messages left out)\n",
                     (long long)from);
    if (n > 0)
        lab_str_add_visible(&text, bytes, (size_t)n, true);
    write_all(STDERR_FILENO, lab_str_text(&text), text.len);
    lab_str_release(&text);
    lab_free(bytes);
}

void lab_stderr_release(void)
{
    if (held < 0)
        return;
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    off_t size = lseek(held, 0, SEEK_END);
    if (size > 0)
        replay(size);
    close(held);
    held = saved = -1;
}

void lab_stderr_spill(void)
{
    char bytes[4096];
    off_t at = 0;
    ssize_t n;
    if (held < 0)
        return;
    dup2(saved, STDERR_FILENO);
    while ((n = pread(held, bytes, sizeof(bytes), at)) > 0) {
        write_all(STDERR_FILENO, bytes, (size_t)n);
        at += n;
    }
}
