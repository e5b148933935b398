/* version.c -- the version and the commit, set by the build. */
#include "base/version.h"

#include "lab_commit.h"

const char *lab_version(void)
{
    return LAB_VERSION;
}

const char *lab_commit(void)
{
    return LAB_COMMIT;
}
