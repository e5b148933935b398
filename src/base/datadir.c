/* datadir.c -- finds the files that ship with the program: lessons, kernel
 * sources, recorded runs; names those of the user; and opens its modules (CUDA, oneDNN, vendor libraries)
 * at run time, with what was tried when one is missing. */
#include "base/datadir.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/module.h"

/* The directory of the running program, or the one `up` above it, without a
 * slash at its end; false: the system does not report it. */
static bool program_dir(char *out, size_t size, int up)
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
    bool known = program_dir(prefix, sizeof(prefix), 1);
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
        return lab_fail(
            LAB_E_NOTFOUND,
            "[data.dir.missing] %s is not in LAPENNA_LAB_DATA_DIR (%s)", sub,
            env);
    return lab_fail(LAB_E_NOTFOUND,
                    "[data.share.missing] %s is not in %s/share/lapenna-lab: "
                    "name its directory in LAPENNA_LAB_DATA_DIR",
                    sub, known ? prefix : "?");
}

int lab_user_path(const char *variable, const char *fallback, const char *file,
                  char *out, size_t size)
{
    const char *base = getenv(variable);
    const char *home = getenv("HOME");
    if (base && base[0] == '/')
        return snprintf(out, size, "%s/lapenna-lab/%s", base, file);
    if (home && home[0] == '/')
        return snprintf(out, size, "%s/%s/lapenna-lab/%s", home, fallback,
                        file);
    return -1;
}

/* ---- modules ---- */

#define MODULE_DIR_VARIABLE "LAPENNA_LAB_MODULE_DIR"

/* LAB_E_NOTFOUND without a detail: the caller knows all the folders. */
static enum lab_status open_in(const char *dir, const char *file, void **handle)
{
    char path[PATH_MAX];
    int n = snprintf(path, sizeof(path), "%s/%s", dir, file);
    if (n < 0 || n >= (int)sizeof(path) || access(path, F_OK) != 0)
        return LAB_E_NOTFOUND;
    void *opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!opened) {
        const char *why = dlerror();
        return lab_fail(LAB_E_UNSUPPORTED, "[module.load] cannot load %s: %s",
                        path, why ? why : "the loader gives no reason");
    }
    *handle = opened;
    return LAB_OK;
}

static enum lab_status open_beside_program(const char *file, void **handle)
{
    static const char *const places[] = {"../lib/lapenna-lab", "../lib"};
    char program[PATH_MAX];
    if (!program_dir(program, sizeof(program), 0))
        return lab_fail(LAB_E_NOTFOUND,
                        "[module.folder] module %s: the program's own folder "
                        "is unknown; set %s to the folder of the modules",
                        file, MODULE_DIR_VARIABLE);
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        char dir[PATH_MAX];
        int n = snprintf(dir, sizeof(dir), "%s/%s", program, places[i]);
        if (n < 0 || n >= (int)sizeof(dir))
            continue;
        enum lab_status st = open_in(dir, file, handle);
        if (st != LAB_E_NOTFOUND)
            return st;
    }
    return lab_fail(LAB_E_NOTFOUND,
                    "[module.missing] no module %s in %s/%s or %s/%s", file,
                    program, places[0], program, places[1]);
}

enum lab_status lab_module_open(const char *file, void **handle)
{
    if (!file || !*file || strchr(file, '/'))
        return lab_fail(LAB_E_ARG,
                        "[module.name] \"%s\" is not the name of a module",
                        file ? file : "");
    const char *dir = getenv(MODULE_DIR_VARIABLE);
    if (!dir || !*dir)
        return open_beside_program(file, handle);
    enum lab_status st = open_in(dir, file, handle);
    if (st == LAB_E_NOTFOUND)
        return lab_fail(st, "[module.file] no module %s in %s (%s)", file, dir,
                        MODULE_DIR_VARIABLE);
    return st;
}

enum lab_status lab_module_symbol(void *handle, const char *symbol,
                                  void *pointer)
{
    void *found = dlsym(handle, symbol);
    if (!found)
        return lab_fail(LAB_E_NOTFOUND,
                        "[module.entry] the module has no %s: it was built for "
                        "another version of the program",
                        symbol);
    /* POSIX promises that the bytes fit a function's, ISO C has no cast for it. */
    memcpy(pointer, &found, sizeof(found));
    return LAB_OK;
}

static FILE *open_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "rb")
                                                             : NULL;
}

FILE *lab_source_open(const char *beside, const char *path)
{
    static const char own[] = "kernels/";
    struct lab_str there;
    const char *slash = beside ? strrchr(beside, '/') : NULL;
    const char *tail = strstr(path, own);
    FILE *f = open_file(path);
    if (f)
        return f;
    lab_str_init(&there);
    if (slash && path[0] != '/') {
        lab_str_add_bytes(&there, beside, (size_t)(slash + 1 - beside));
        lab_str_add(&there, path);
        f = open_file(lab_str_text(&there));
    }
    for (; !f && tail; tail = strstr(tail + 1, own)) {
        lab_str_clear(&there);
        if ((tail == path || tail[-1] == '/') && !lab_data_path(tail, &there))
            f = open_file(lab_str_text(&there));
    }
    lab_str_release(&there);
    return f;
}
