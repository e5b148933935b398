/* commands.h -- words of `lab` that are no ladder. Those with options of their own
 * have a command in this folder, which ends with its row. */
#pragma once

struct lab_demo_row {
    const char *word;
    const char *takes;
    const char *text;
    /* argv[0] is the word, or "conv". Returns an exit code. NULL: it is a word of
     * the command `lab` itself. */
    int (*run)(int argc, char **argv);
};

extern const struct lab_demo_row lab_demo_row_calls, lab_demo_row_gflops,
    lab_demo_row_inference, lab_demo_row_layers, lab_demo_row_mixing,
    lab_demo_row_offsets;
