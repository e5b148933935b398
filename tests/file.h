/* file.h -- whole files, for tests. Include after test.h. */
#pragma once
#include <unistd.h>

static inline void test_write_bytes(const char *path, const void *bytes,
                                    size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static inline void test_write(const char *path, const char *text)
{
    test_write_bytes(path, text, strlen(text));
}

/* The bytes of a file, *n of them and a NUL; test_free() them. */
static inline char *test_read_bytes(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("no file %s", path);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    *n = (size_t)ftell(f);
    rewind(f);
    char *bytes = test_malloc(*n + 1);
    assert_int_equal(fread(bytes, 1, *n, f), *n);
    bytes[*n] = '\0';
    fclose(f);
    return bytes;
}

static inline char *test_read(const char *path)
{
    size_t n;
    return test_read_bytes(path, &n);
}

/* The `path` of a new empty file: RUN_TESTS_IN(make_path, remove_path). */
#define TEST_PATH                                                              \
    static char path[] = "/tmp/lapenna-lab-test-XXXXXX";                       \
    static int make_path(void **state __attribute__((unused)))                 \
    {                                                                          \
        int fd = mkstemp(path);                                                \
        return fd < 0 ? -1 : close(fd);                                        \
    }                                                                          \
    static int remove_path(void **state __attribute__((unused)))               \
    {                                                                          \
        (void)unlink(path);                                                    \
        return 0;                                                              \
    }
