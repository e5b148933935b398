/* version.c -- the version, set by the build; lab_commit() is written by commit.cmake. */
#include "base/version.h"

const char *lab_version(void)
{
    return LAB_VERSION;
}
