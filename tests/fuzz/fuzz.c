/* What the fuzz targets share: files in memory, and saying what is wrong. */
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 512, PATHS = 8 };

void fuzz_check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

static long accepted;

void fuzz_accepted(void)
{
    accepted++;
}

static void check_accepted(void)
{
    long need = atol(getenv("FUZZ_ACCEPT"));
    if (accepted >= need)
        return;
    fprintf(stderr, "fuzz: %ld of %ld good seeds were understood\n", accepted,
            need);
    _exit(1);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    if (getenv("FUZZ_ACCEPT"))
        atexit(check_accepted);
    return 0;
}

static char dir[PATH_BYTES / 2];

void fuzz_empty(void)
{
    DIR *d = opendir(fuzz_dir());
    fuzz_check(d != NULL, "its directory is gone");
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        if (e->d_name[0] != '.')
            unlink(fuzz_path(e->d_name));
    closedir(d);
}

static void remove_dir(void)
{
    fuzz_empty();
    rmdir(dir);
}

const char *fuzz_dir(void)
{
    const char *tmp = getenv("TMPDIR");
    if (dir[0])
        return dir;
    if (!tmp)
        tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(dir, sizeof(dir), "%s/fuzz.XXXXXX", tmp);
    fuzz_check(mkdtemp(dir) != NULL, "no directory for its files");
    atexit(remove_dir);
    return dir;
}

const char *fuzz_path(const char *name)
{
    static char paths[PATHS][PATH_BYTES];
    static int next;
    char *path = paths[next++ % PATHS];
    int n = snprintf(path, PATH_BYTES, "%s/%s", fuzz_dir(), name);
    fuzz_check(n > 0 && n < PATH_BYTES, "a path is too long");
    return path;
}

void fuzz_write(const char *name, const void *bytes, size_t n)
{
    int fd = open(fuzz_path(name), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    fuzz_check(fd >= 0 && write(fd, bytes, n) == (ssize_t)n,
               "an input cannot be written");
    close(fd);
}

char *fuzz_string(const uint8_t *data, size_t size)
{
    char *s = malloc(size + 1);
    fuzz_check(s != NULL, "no memory");
    if (size > 0)
        memcpy(s, data, size);
    s[size] = '\0';
    return s;
}

unsigned fuzz_byte(const uint8_t **data, size_t *size)
{
    if (*size == 0)
        return 0;
    (*size)--;
    return *(*data)++;
}
