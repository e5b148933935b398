/* datadir.c -- finds the files that ship with the program: lessons, kernel
 * sources, recorded runs. */
#include "base/datadir.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool lab_program_dir(char *out, size_t size, int up)
{
    ssize_t n = readlink("/proc/self/exe", out, size - 1);
    char *slash = NULL;
    out[n > 0 && (size_t)n < size - 1 ? n : 0] = '\0';
    for (; up >= 0 && (slash = strrchr(out, '/')); up--)
        *slash = '\0';
    return slash != NULL;
}

/* Appends and keeps dir/middle/sub when it is there. */
static bool try_directory(struct lab_str *out, const char *dir,
                          const char *middle, const char *sub)
{
    size_t before = out->len;
    lab_str_addf(out, "%s%s/%s", dir, middle, sub);
    if (!out->failed && access(out->data, F_OK) == 0)
        return true;
    if (!out->failed) {
        out->len = before;
        out->data[before] = '\0';
    }
    return false;
}

enum lab_status lab_data_path(const char *sub, struct lab_str *out)
{
    char prefix[PATH_MAX];
    const char *env = getenv("LAPENNA_LAB_DATA_DIR");
    bool known = lab_program_dir(prefix, sizeof(prefix), 1);
    bool found;
    if (env && *env)
        found = try_directory(out, env, "", sub);
    else
        found = known && try_directory(out, prefix, "/share/lapenna-lab", sub);
    if (out->failed)
        return lab_fail(LAB_E_NOMEM, "no memory left for a path");
    if (found)
        return LAB_OK;
    if (env && *env)
        return lab_fail(LAB_E_NOTFOUND,
                        "%s is not in LAPENNA_LAB_DATA_DIR (%s)", sub, env);
    return lab_fail(LAB_E_NOTFOUND,
                    "%s is not in %s/share/lapenna-lab: name its directory in "
                    "LAPENNA_LAB_DATA_DIR",
                    sub, known ? prefix : "?");
}
