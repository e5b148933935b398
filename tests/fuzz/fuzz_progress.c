/* Fuzz target: the file of what a learner has finished. It is read, written
 * again, or moved aside; every text of it ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz_driver.h"
#include "ui/progress.h"

static char dir[] = "/tmp/fuzz-progress-XXXXXX";
static char path[64];

static void clean(void)
{
    char bad[80];
    snprintf(bad, sizeof(bad), "%s.bad", path);
    unlink(path);
    unlink(bad);
}

static void remove_dir(void)
{
    clean();
    rmdir(dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lab_progress p = {.newer = false};
    if (!path[0]) {
        if (!mkdtemp(dir))
            abort();
        snprintf(path, sizeof(path), "%s/progress.json", dir);
        atexit(remove_dir);
    }
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f))
        abort();
    if (lab_progress_load(&p, path) == LAB_OK) {
        if (!memchr(p.note, 0, sizeof(p.note)))
            abort();
        for (size_t i = 0; i < p.count; i++)
            if (!memchr(p.entries[i].id, 0, sizeof(p.entries[i].id)))
                abort();
        lab_progress_save(&p);
        lab_progress_release(&p);
    }
    clean();
    return 0;
}
