/* The words after `lab` that are no ladder, and their commands. */
#include "lab_words.h"

#include <stddef.h>
#include <string.h>

#include "lab_calls.h"
#include "lab_gflops.h"
#include "lab_offsets.h"

static const struct {
    const char *word;
    int (*run)(int argc, char **argv);
} others[] = {
    {"offsets", lab_cmd_lab_offsets},
    {"gflops", lab_cmd_lab_gflops},
    {"calls", lab_cmd_lab_calls}, /* conv --calls, without the conv */
};

bool lab_lab_word(int argc, char **argv, int *code)
{
    for (size_t i = 0; argc > 1 && i < sizeof(others) / sizeof(others[0]);
         i++) {
        if (strcmp(argv[1], others[i].word) == 0) {
            *code = others[i].run(argc - 1, argv + 1);
            return true;
        }
    }
    for (int i = 2; i < argc && strcmp(argv[1], "conv") == 0; i++) {
        if (strcmp(argv[i], "--calls") == 0) {
            *code = lab_cmd_lab_calls(argc - 1, argv + 1);
            return true;
        }
    }
    return false;
}
