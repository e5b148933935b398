/* What `lapenna-lab lab` shows that is no ladder: which words there are, and the
 * command of each. */
#include "commands.h"
#include "bench/demo.h"

#include <stdio.h>
#include <string.h>

#include "labs/cpu_rungs.h"
#include "lesson/catalog.h"
#include "report/json_line.h"
#include "report/print.h"

/* With options of their own, where they have a command here. */
static const struct {
    const char *word;
    const char *takes;
    const char *text;
    int (*run)(int argc, char **argv);
} words[] = {
    {"offsets", "NxCxHxW", "where an element of an image tensor lies",
     lab_demo_cmd_offsets},
    {"gflops", "N", "the rate of a square product against its size",
     lab_demo_cmd_gflops},
    {"calls", "NxCxHxWxKxR", "cuDNN's calls of one convolution",
     lab_demo_cmd_calls}, /* conv --calls, without the conv */
    {"tune", "OPERATION", "keeps the fastest candidate of a tuned rung", NULL},
    {"batch-size", "LESSON", "a lesson at several batches", NULL},
    {"network-size", "LESSON", "a lesson at several widths", NULL},
    {"products", "LESSON", "the part of matrix products", NULL},
    {"backward", "LESSON", "forward, backward and update", NULL},
};

/* ---- which there are ---- */

enum lab_status lab_demo_list(bool json)
{
    const struct lab_variant *first;
    enum lab_status st = LAB_OK;
    for (int i = 0; !st && (first = lab_cpu_rung("first", i)); i++) {
        if (!json) {
            lab_printf(stdout, LAB_BENCH_LINE, first->name, "one kernel",
                       first->idea);
            continue;
        }
        json_t *line = lab_json_new("operation");
        lab_json_text(line, "lab", first->name);
        lab_json_text(line, "title", first->idea);
        lab_json_text(line, "shape", NULL);
        lab_json_text(line, "unit", NULL);
        st = lab_json_print(line);
    }
    for (size_t i = 0; !json && i < sizeof(words) / sizeof(words[0]); i++)
        lab_printf(stdout, LAB_BENCH_LINE, words[i].word, words[i].takes,
                   words[i].text);
    return st;
}

bool lab_demo_of(const char *name, char *kernel, size_t size)
{
    struct lab_lesson *lesson = NULL;
    const char *meant = lab_bench_is_one_kernel(name) ? name : NULL;
    if (!meant && !lab_lesson_open(&lesson, name) &&
        lesson->kind == LAB_LESSON_LAB &&
        lab_bench_is_one_kernel(lesson->lab.ladder))
        meant = lesson->lab.ladder;
    snprintf(kernel, size, "%s", meant ? meant : "");
    lab_lesson_free(lesson);
    return meant != NULL;
}

bool lab_demo_word(int argc, char **argv, int *code)
{
    const char *word = argc > 1 ? argv[1] : "";
    for (int i = 2; i < argc && strcmp(argv[1], "conv") == 0; i++)
        if (strcmp(argv[i], "--calls") == 0)
            word = "calls";
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (words[i].run && strcmp(word, words[i].word) == 0) {
            *code = words[i].run(argc - 1, argv + 1);
            return true;
        }
    }
    return false;
}
