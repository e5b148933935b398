/* What `lapenna-lab lab` shows that is no ladder: which words there are, and the
 * command of each. */
#include "commands.h"
#include "bench/demo.h"

#include <stdio.h>
#include <string.h>

#include "labs/cpu_variants.h"
#include "lesson/catalog.h"
#include "report/json_line.h"
#include "report/print.h"

static const struct lab_demo_row
    tune = {.word = "tune",
            .takes = "OPERATION",
            .text = "keeps the fastest candidate of a tuned variant"},
    batch_size = {.word = "batch-size",
                  .takes = "LESSON",
                  .text = "a lesson at several batches"},
    network_size = {.word = "network-size",
                    .takes = "LESSON",
                    .text = "a lesson at several widths"},
    products = {.word = "products",
                .takes = "LESSON",
                .text = "the part of matrix products"},
    backward = {.word = "backward",
                .takes = "LESSON",
                .text = "forward, backward and update"};

static const struct lab_demo_row *const words[] = {&lab_demo_row_offsets,
                                                   &lab_demo_row_gflops,
                                                   &lab_demo_row_calls,
                                                   &lab_demo_row_layers,
                                                   &lab_demo_row_inference,
                                                   &lab_demo_row_mixing,
                                                   &tune,
                                                   &batch_size,
                                                   &network_size,
                                                   &products,
                                                   &backward};

/* ---- which there are ---- */

enum lab_status lab_demo_list(bool json)
{
    const struct lab_variant *first;
    enum lab_status st = LAB_OK;
    for (int i = 0; !st && (first = lab_cpu_variant("first", i)); i++) {
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
        lab_printf(stdout, LAB_BENCH_LINE, words[i]->word, words[i]->takes,
                   words[i]->text);
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
        if (words[i]->run && strcmp(word, words[i]->word) == 0) {
            *code = words[i]->run(argc - 1, argv + 1);
            return true;
        }
    }
    return false;
}
