/* place.h -- a directory of its own that a test's files are written to: fixtures
 * around all cases of a file. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char test_place[] = "test-place-XXXXXX";

static inline int place_make(void **state)
{
    (void)state;
    return mkdtemp(test_place) && chdir(test_place) == 0 ? 0 : -1;
}

static inline int place_remove(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", test_place);
    return chdir("..") || system(command) ? -1 : 0;
}
