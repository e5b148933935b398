/* group.c -- reads the limits of the control group (cgroup v2) that this process
 * is in.
 *
 * A container may have fewer cores and less memory than the machine: the pool
 * of threads (parallel.c) and the budget of memory (mem.c) ask here. */
#include "base/group.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PATH = 1024 };

/* The group's path, "/user.slice/..." of the line "0::/user.slice/...". */
static bool group_path(const char *root, char *path, int size)
{
    char name[PATH];
    char line[PATH];
    bool found = false;
    snprintf(name, sizeof(name), "%s/proc/self/cgroup", root);
    FILE *f = fopen(name, "r");
    while (f && !found && fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\n")] = '\0';
        found = strncmp(line, "0::/", 4) == 0;
    }
    if (f)
        fclose(f);
    return found && snprintf(path, (size_t)size, "%s", line + 3) < size;
}

static double limit_of(const char *name)
{
    double most = 0;
    double period = 1;
    FILE *f = fopen(name, "r");
    int read = f ? fscanf(f, "%lf %lf", &most, &period) : 0;
    if (f)
        fclose(f);
    return read >= 1 && most > 0 && period > 0 ? most / period : 0;
}

double lab_group_limit(const char *root, const char *file)
{
    char path[PATH];
    char name[3 * PATH];
    double least = 0;
    if (!group_path(root, path, sizeof(path)))
        return 0;
    for (;;) {
        snprintf(name, sizeof(name), "%s/sys/fs/cgroup%s/%s", root, path, file);
        double limit = limit_of(name);
        if (limit > 0 && (least == 0 || limit < least))
            least = limit;
        char *last = strrchr(path, '/');
        if (!last)
            return least;
        *last = '\0';
    }
}
