/* datadir.c -- finds the files that ship with the program: lessons, kernel
 * sources, recorded runs. */
#include "base/datadir.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The directory of the running program, without its last part ("bin"); false
 * when the system does not report it. */
static bool program_prefix(char *out, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", out, size - 1);
    if (n <= 0 || (size_t)n >= size - 1)
        return false;
    out[n] = '\0';
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(out, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
    return true;
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
    bool known = program_prefix(prefix, sizeof(prefix));
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
