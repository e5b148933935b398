/* fail_calls.c -- a library for LD_PRELOAD that makes the N-th call of a kind
 * fail, in the program and in every library it links. sweep.py starts a command
 * once for each N. It is built for the GNU C library alone.
 *
 *   LAB_FAULT=alloc:N       malloc, calloc, realloc, aligned ...: no memory
 *   LAB_FAULT=io:N:WHAT     open, read, write, rename ...: an error's number, or
 *                           "short": half of the bytes
 *             N+            that call and all that follow; 0: none
 *   LAB_FAULT_REPORT=FILE   "KIND N NAME" and the call stack of the first call
 *                           that failed
 *   LAB_FAULT_TRACE=FILE    a struct call for every call of the kind
 *
 * What stdio does inside the C library cannot be replaced: fread(), fwrite(),
 * fflush() and fclose() count as calls of their own. Standard error is spared:
 * it has to report what failed. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

enum { DEPTH = 24, MOST_MODULES = 64, STDIO_ERROR = 0x20 };

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *p, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);

/* What sweep.py reads: module << 48 | offset of each frame, the caller first;
 * 0 behind the last. Module 0 is the program. */
struct call {
    uint64_t n;
    char name[16];
    uint64_t frames[DEPTH];
};

enum kind { NONE, ALLOC, IO };

static enum kind kind;
static long nth;
static bool and_after;
static int error_number; /* 0: short */
static atomic_long counted;
static atomic_bool reported;
static int trace_fd = -1;
static int report_fd = -1;
static _Thread_local bool inside; /* this library's own calls do not count */

static struct module {
    uintptr_t base;
    uintptr_t end;
    const char *name;
} modules[MOST_MODULES];
static int n_modules;

static int note_module(struct dl_phdr_info *info, size_t size, void *user)
{
    struct module *m = &modules[n_modules];
    (void)size;
    (void)user;
    if (n_modules == MOST_MODULES)
        return 1;
    *m = (struct module){.base = info->dlpi_addr, .name = info->dlpi_name};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        uintptr_t end = info->dlpi_addr + h->p_vaddr + h->p_memsz;
        if (h->p_type == PT_LOAD && end > m->end)
            m->end = end;
    }
    n_modules++;
    return 0;
}

static int find_module(uintptr_t at)
{
    for (int look = 0; look < 2; look++) {
        for (int i = 0; i < n_modules; i++) {
            if (at >= modules[i].base && at < modules[i].end)
                return i;
        }
        n_modules = 0;
        dl_iterate_phdr(note_module, NULL);
    }
    return -1;
}

static void look_at(struct call *c, long n, const char *name)
{
    enum { OWN = 6 }; /* at most as many frames are this library's */
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    void *frames[DEPTH + OWN];
    int found = backtrace(frames, DEPTH + OWN);
    memset(c, 0, sizeof(*c));
    c->n = (uint64_t)n;
    snprintf(c->name, sizeof(c->name), "%s", name);
    pthread_mutex_lock(&lock);
    int own = find_module((uintptr_t)look_at);
    for (int i = 0, k = 0; i < found && k < DEPTH; i++) {
        uintptr_t at = (uintptr_t)frames[i] - 1; /* the call, not its return */
        int m = find_module(at);
        if (m >= 0 && (k > 0 || m != own))
            c->frames[k++] = (uint64_t)m << 48 | (at - modules[m].base);
    }
    pthread_mutex_unlock(&lock);
}

static void report(const struct call *c)
{
    char line[512];
    int n = snprintf(line, sizeof(line), "%s %llu %s\n",
                     kind == ALLOC ? "alloc" : "io", (unsigned long long)c->n,
                     c->name);
    syscall(SYS_write, report_fd, line, (size_t)n);
    for (int i = 0; i < DEPTH && c->frames[i]; i++) {
        const char *file = modules[c->frames[i] >> 48].name;
        n = snprintf(line, sizeof(line), "%s 0x%llx\n",
                     *file ? file : "program",
                     (unsigned long long)(c->frames[i] & 0xffffffffffff));
        syscall(SYS_write, report_fd, line, (size_t)n);
    }
}

/* Counts a call; true: it fails. */
static bool fails(enum kind of, const char *name)
{
    struct call c;
    if (kind != of || inside)
        return false;
    long n = atomic_fetch_add(&counted, 1) + 1;
    bool hit = nth > 0 && (n == nth || (and_after && n > nth));
    if (trace_fd < 0 && !(hit && !atomic_load(&reported)))
        return hit;
    int kept = errno;
    inside = true;
    look_at(&c, n, name);
    if (trace_fd >= 0)
        syscall(SYS_write, trace_fd, &c, sizeof(c));
    if (hit && report_fd >= 0 && !atomic_exchange(&reported, true))
        report(&c);
    inside = false;
    errno = kept;
    return hit;
}

static int open_for(const char *variable)
{
    const char *path = getenv(variable);
    return path ? (int)syscall(SYS_openat, AT_FDCWD, path,
                               O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)
                : -1;
}

__attribute__((constructor)) static void begin(void)
{
    void *first[2];
    const char *fault = getenv("LAB_FAULT");
    if (!fault)
        return;
    inside = true;
    backtrace(first, 2); /* loads what it needs before anything fails */
    trace_fd = open_for("LAB_FAULT_TRACE");
    report_fd = open_for("LAB_FAULT_REPORT");
    char *rest = NULL;
    nth = strtol(strchr(fault, ':') + 1, &rest, 10);
    and_after = *rest == '+';
    rest += and_after;
    error_number = *rest == ':' ? atoi(rest + 1) : 0; /* "short": 0 */
    inside = false;
    kind = strncmp(fault, "io", 2) == 0 ? IO : ALLOC;
}

/* ---- memory ---- */

#define REPLACES __attribute__((visibility("default")))

static bool no_memory(const char *name)
{
    if (!fails(ALLOC, name))
        return false;
    errno = ENOMEM;
    return true;
}

REPLACES void *malloc(size_t bytes)
{
    return no_memory("malloc") ? NULL : __libc_malloc(bytes);
}

REPLACES void *calloc(size_t n, size_t bytes)
{
    return no_memory("calloc") ? NULL : __libc_calloc(n, bytes);
}

REPLACES void *realloc(void *p, size_t bytes)
{
    return bytes && no_memory("realloc") ? NULL : __libc_realloc(p, bytes);
}

REPLACES void *memalign(size_t align, size_t bytes)
{
    return no_memory("memalign") ? NULL : __libc_memalign(align, bytes);
}

REPLACES void *aligned_alloc(size_t align, size_t bytes)
{
    return no_memory("aligned_alloc") ? NULL : __libc_memalign(align, bytes);
}

REPLACES int posix_memalign(void **out, size_t align, size_t bytes)
{
    if (no_memory("posix_memalign"))
        return ENOMEM;
    void *p = __libc_memalign(align, bytes);
    if (p)
        *out = p;
    return p ? 0 : ENOMEM;
}

/* ---- files ---- */

/* The function that is replaced, found once. */
#define REAL(name)                                                             \
    static __typeof__(&name) real;                                             \
    if (!real) {                                                               \
        bool before = inside;                                                  \
        inside = true;                                                         \
        real = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                     \
        inside = before;                                                       \
    }

/* A call without bytes fails; a "short" one has none to cut. */
static bool io_fails(const char *name)
{
    if ((kind == IO && nth > 0 && error_number == 0) || !fails(IO, name))
        return false;
    errno = error_number;
    return true;
}

/* The same for one that moves `*bytes`. */
static bool bytes_fail(const char *name, size_t *bytes)
{
    if (!fails(IO, name))
        return false;
    errno = error_number;
    if (error_number == 0 && *bytes > 1)
        *bytes /= 2;
    return error_number != 0;
}

#define OPENS(name)                                                            \
    REPLACES int name(const char *path, int flags, ...)                        \
    {                                                                          \
        va_list args;                                                          \
        REAL(name)                                                             \
        va_start(args, flags);                                                 \
        unsigned mode = va_arg(args, unsigned);                                \
        va_end(args);                                                          \
        return io_fails(#name) ? -1 : real(path, flags, mode);                 \
    }
#define OPENS_AT(name)                                                         \
    REPLACES int name(int dir, const char *path, int flags, ...)               \
    {                                                                          \
        va_list args;                                                          \
        REAL(name)                                                             \
        va_start(args, flags);                                                 \
        unsigned mode = va_arg(args, unsigned);                                \
        va_end(args);                                                          \
        return io_fails(#name) ? -1 : real(dir, path, flags, mode);            \
    }
OPENS(open)
OPENS(open64)
OPENS_AT(openat)
OPENS_AT(openat64)

/* What _FORTIFY_SOURCE makes of open() and read(). */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
ssize_t __read_chk(int fd, void *to, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *to, size_t bytes, off64_t at, size_t room);
size_t __fread_chk(void *to, size_t room, size_t each, size_t n, FILE *f);

REPLACES int __open_2(const char *path, int flags)
{
    REAL(__open_2)
    return io_fails("open") ? -1 : real(path, flags);
}

REPLACES int __open64_2(const char *path, int flags)
{
    REAL(__open64_2)
    return io_fails("open") ? -1 : real(path, flags);
}

REPLACES ssize_t read(int fd, void *to, size_t bytes)
{
    REAL(read)
    return bytes_fail("read", &bytes) ? -1 : real(fd, to, bytes);
}

REPLACES ssize_t __read_chk(int fd, void *to, size_t bytes, size_t room)
{
    REAL(__read_chk)
    return bytes_fail("read", &bytes) ? -1 : real(fd, to, bytes, room);
}

REPLACES ssize_t pread(int fd, void *to, size_t bytes, off_t at)
{
    REAL(pread)
    return bytes_fail("pread", &bytes) ? -1 : real(fd, to, bytes, at);
}

REPLACES ssize_t pread64(int fd, void *to, size_t bytes, off64_t at)
{
    REAL(pread64)
    return bytes_fail("pread", &bytes) ? -1 : real(fd, to, bytes, at);
}

REPLACES ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t at,
                             size_t room)
{
    REAL(__pread_chk)
    return bytes_fail("pread", &bytes) ? -1 : real(fd, to, bytes, at, room);
}

REPLACES ssize_t __pread64_chk(int fd, void *to, size_t bytes, off64_t at,
                               size_t room)
{
    REAL(__pread64_chk)
    return bytes_fail("pread", &bytes) ? -1 : real(fd, to, bytes, at, room);
}

REPLACES ssize_t write(int fd, const void *from, size_t bytes)
{
    REAL(write)
    return fd != STDERR_FILENO && bytes_fail("write", &bytes)
               ? -1
               : real(fd, from, bytes);
}

REPLACES ssize_t pwrite(int fd, const void *from, size_t bytes, off_t at)
{
    REAL(pwrite)
    return bytes_fail("pwrite", &bytes) ? -1 : real(fd, from, bytes, at);
}

REPLACES ssize_t pwrite64(int fd, const void *from, size_t bytes, off64_t at)
{
    REAL(pwrite64)
    return bytes_fail("pwrite", &bytes) ? -1 : real(fd, from, bytes, at);
}

REPLACES int fsync(int fd)
{
    REAL(fsync)
    return io_fails("fsync") ? -1 : real(fd);
}

REPLACES int fdatasync(int fd)
{
    REAL(fdatasync)
    return io_fails("fdatasync") ? -1 : real(fd);
}

REPLACES int ftruncate(int fd, off_t length)
{
    REAL(ftruncate)
    return io_fails("ftruncate") ? -1 : real(fd, length);
}

REPLACES int ftruncate64(int fd, off64_t length)
{
    REAL(ftruncate64)
    return io_fails("ftruncate") ? -1 : real(fd, length);
}

REPLACES int rename(const char *from, const char *to)
{
    REAL(rename)
    return io_fails("rename") ? -1 : real(from, to);
}

REPLACES int linkat(int a, const char *from, int b, const char *to, int flags)
{
    REAL(linkat)
    return io_fails("linkat") ? -1 : real(a, from, b, to, flags);
}

REPLACES int mkdir(const char *path, mode_t mode)
{
    REAL(mkdir)
    return io_fails("mkdir") ? -1 : real(path, mode);
}

REPLACES DIR *opendir(const char *path)
{
    REAL(opendir)
    return io_fails("opendir") ? NULL : real(path);
}

/* Linux closes the file also when it returns an error. */
REPLACES int close(int fd)
{
    REAL(close)
    bool failed = io_fails("close");
    int kept = errno;
    int rc = real(fd);
    if (failed)
        errno = kept;
    return failed ? -1 : rc;
}

REPLACES void *mmap(void *at, size_t bytes, int prot, int flags, int fd,
                    off_t offset)
{
    REAL(mmap)
    return fd >= 0 && io_fails("mmap")
               ? MAP_FAILED
               : real(at, bytes, prot, flags, fd, offset);
}

REPLACES void *mmap64(void *at, size_t bytes, int prot, int flags, int fd,
                      off64_t offset)
{
    REAL(mmap64)
    return fd >= 0 && io_fails("mmap")
               ? MAP_FAILED
               : real(at, bytes, prot, flags, fd, offset);
}

REPLACES FILE *fopen(const char *path, const char *mode)
{
    REAL(fopen)
    return io_fails("fopen") ? NULL : real(path, mode);
}

REPLACES FILE *fopen64(const char *path, const char *mode)
{
    REAL(fopen64)
    return io_fails("fopen") ? NULL : real(path, mode);
}

static bool stdio_fails(const char *name, FILE *f)
{
    if (f == stderr || !io_fails(name))
        return false;
    f->_flags |= STDIO_ERROR;
    return true;
}

REPLACES size_t fread(void *to, size_t each, size_t n, FILE *f)
{
    REAL(fread)
    return stdio_fails("fread", f) ? 0 : real(to, each, n, f);
}

REPLACES size_t __fread_chk(void *to, size_t room, size_t each, size_t n,
                            FILE *f)
{
    REAL(__fread_chk)
    return stdio_fails("fread", f) ? 0 : real(to, room, each, n, f);
}

REPLACES size_t fwrite(const void *from, size_t each, size_t n, FILE *f)
{
    REAL(fwrite)
    return stdio_fails("fwrite", f) ? 0 : real(from, each, n, f);
}

REPLACES int fflush(FILE *f)
{
    REAL(fflush)
    return f && stdio_fails("fflush", f) ? EOF : real(f);
}

REPLACES ssize_t getline(char **line, size_t *room, FILE *f)
{
    REAL(getline)
    return stdio_fails("getline", f) ? -1 : real(line, room, f);
}

REPLACES int fclose(FILE *f)
{
    REAL(fclose)
    bool failed = io_fails("fclose");
    int kept = errno;
    int rc = real(f);
    if (failed)
        errno = kept;
    return failed ? EOF : rc;
}
