/* gpu_detect.c -- looks for a GPU driver without opening a device, for the
 * badge of the home screen. */
#include "screens/gpu_detect.h"

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

/* Whole on a screen of 80 columns, which begins the line with a blank. */
enum { LINE_MOST = 79 };
static const char as_asked[] = "Steps run on the CPU, as --backend cpu asks; g "
                               "has runs recorded on GPUs.";
static const char no_module[] = "No GPU: steps run on the CPU; d says why. g "
                                "has runs recorded on GPUs.";
static const char not_found[] = "No GPU was found: steps run on the CPU; d "
                                "says more. g has recorded runs.";
_Static_assert(sizeof(as_asked) - 1 <= LINE_MOST, "it is cut");
_Static_assert(sizeof(no_module) - 1 <= LINE_MOST, "it is cut");
_Static_assert(sizeof(not_found) - 1 <= LINE_MOST, "it is cut");

void lab_gpu_detect(struct lab_gpu_state *m, const char *backend)
{
    const struct lab_cuda_module *module;
    char model[64] = "GPU";
    const char *cpu = NULL;
    int count = 0;
    if (strcmp(backend, "cpu") == 0)
        cpu = as_asked;
    else if (lab_cuda_load(&module))
        cpu = no_module;
    else if ((count = read_gpus(model, sizeof(model))) == 0)
        cpu = not_found;
    *m = (struct lab_gpu_state){.badge = "CPU", .gpu = cpu == NULL};
    if (cpu) {
        snprintf(m->line, sizeof(m->line), "%s", cpu);
        return;
    }
    snprintf(m->badge, sizeof(m->badge), "%s", model);
    snprintf(m->line, sizeof(m->line), "%d GPU%s: %s.", count,
             count == 1 ? "" : "s", model);
}
