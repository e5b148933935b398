/* The words after `lab` that are no ladder, and their commands. */
#include "bench/course_commands.h"

#include <stddef.h>
#include <string.h>

#include "bench/lab_calls.h"
#include "bench/lab_gflops.h"
#include "bench/lab_offsets.h"
#include "report/print.h"

static const struct {
    const char *word;
    int (*run)(int argc, char **argv);
} others[] = {
    {"offsets", lab_cmd_lab_offsets},
    {"gflops", lab_cmd_lab_gflops},
    {"calls", lab_cmd_lab_calls}, /* conv --calls, without the conv */
};

/* They have no ladder, and therefore are not of --list --json. */
void lab_bench_words_list(void)
{
    static const char *const lines[][3] = {
        {"offsets", "NxCxHxW", "where an element of an image tensor lies"},
        {"gflops", "N", "the rate of a square product against its size"},
        {"calls", "NxCxHxWxKxR", "cuDNN's calls of one convolution"},
        {"tune", "OPERATION", "keeps the fastest candidate of a tuned rung"},
        {"batch-size", "LESSON", "a lesson at several batches"},
        {"network-size", "LESSON", "a lesson at several widths"},
        {"products", "LESSON", "the part of matrix products"},
        {"backward", "LESSON", "forward, backward and update"},
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        lab_printf(stdout, LAB_BENCH_LINE, lines[i][0], lines[i][1],
                   lines[i][2]);
}

bool lab_bench_word(int argc, char **argv, int *code)
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
