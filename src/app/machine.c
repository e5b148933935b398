#include "machine.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "engine/backend.h"

#define GPU_DIR "/proc/driver/nvidia/gpus"

/* The driver's own list; asking CUDA would make a context first. */
static int read_gpus(char *model, size_t size)
{
    DIR *dir = opendir(GPU_DIR);
    struct dirent *entry;
    int count = 0;
    while (dir && (entry = readdir(dir))) {
        char path[sizeof(GPU_DIR) + 280];
        char line[256];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), GPU_DIR "/%s/information", entry->d_name);
        FILE *f = fopen(path, "r");
        while (f && fgets(line, sizeof(line), f)) {
            if (strncmp(line, "Model:", 6) == 0 && count == 0) {
                line[strcspn(line, "\n")] = '\0';
                snprintf(model, size, "%s", line + 6 + strspn(line + 6, " \t"));
            }
        }
        if (f)
            fclose(f);
        count++;
    }
    if (dir)
        closedir(dir);
    return count;
}

void lab_machine_look(struct lab_machine *m, const char *backend)
{
    const struct lab_cuda_module *module;
    char model[64] = "GPU";
    *m = (struct lab_machine){.badge = "CPU"};
    if (strcmp(backend, "cpu") == 0) {
        snprintf(m->line, sizeof(m->line),
                 "Steps run on the CPU, as --backend cpu asks; g has runs "
                 "recorded on GPUs.");
        return;
    }
    if (lab_cuda_load(&module)) {
        snprintf(m->line, sizeof(m->line),
                 "No GPU: steps run on the CPU; d says why. g has runs "
                 "recorded on GPUs.");
        return;
    }
    int count = read_gpus(model, sizeof(model));
    m->gpu = count > 0;
    if (count == 0) {
        snprintf(m->line, sizeof(m->line),
                 "No GPU was found: steps run on the CPU; d says more. g "
                 "has runs recorded on GPUs.");
        return;
    }
    snprintf(m->badge, sizeof(m->badge), "%s", model);
    snprintf(m->line, sizeof(m->line), "%d GPU%s: %s.", count,
             count == 1 ? "" : "s", model);
}
