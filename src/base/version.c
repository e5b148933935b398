#include "base/version.h"

const char *lab_version(void)
{
    return LAB_VERSION;
}

const char *lab_commit(void)
{
    return LAB_COMMIT;
}
