/* tests/ui/golden_screen.h -- screens in files, compared with those of
 * tests/ui/golden. LAB_GOLDEN_UPDATE=1 writes the golden files anew, to be read
 * before they are committed. Include after test.h. */
#pragma once
#include <sys/stat.h>
#include <unistd.h>

#include "file.h"

/* Makes a folder of the build for a test's screens and goes there. */
static inline void screens_go(const char *folder)
{
    mkdir(LAB_BINARY_DIR "/tests", 0777);
    mkdir(LAB_BINARY_DIR "/tests/ui", 0777);
    assert_int_equal(chdir(LAB_BINARY_DIR "/tests/ui"), 0);
    mkdir(folder, 0777);
    assert_int_equal(chdir(folder), 0);
}

/* The screen in the file `name` is the golden one; in ASCII it has no other
 * characters. The file is removed, so that no later run compares it again. */
static inline void screen_is_golden(const char *name, bool ascii)
{
    char golden[1024];
    snprintf(golden, sizeof(golden), LAB_SOURCE_DIR "/tests/ui/golden/%s",
             name);
    char *have = test_read(name);
    assert_int_equal(remove(name), 0);
    if (getenv("LAB_GOLDEN_UPDATE"))
        test_write(golden, have);
    char *want = test_read(golden);
    if (strcmp(want, have) != 0)
        fail_msg("%s differs; the screen now:\n%s", name, have);
    for (const char *p = have; ascii && *p; p++)
        assert_true((unsigned char)*p < 0x80);
    test_free(want);
    test_free(have);
}
