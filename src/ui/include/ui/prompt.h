/* ui/prompt.h -- one line of typing with a history: the state and its keys.
 *
 * Keys: characters insert; Left, Right, Home, End, ^A, ^E, ^B, ^F move;
 * Backspace, Del, ^U, ^K, ^W delete; Up and Down walk the history.
 * No drawing of text from elsewhere, no curses. Threads: one at a time. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/status.h"
#include "ui/canvas.h"

enum { LAB_PROMPT_BYTES = 256, LAB_HISTORY_LINES = 50 };

struct lab_history {
    char line[LAB_HISTORY_LINES][LAB_PROMPT_BYTES]; /* oldest first */
    int count;
};

struct lab_prompt {
    char label[96];
    char text[LAB_PROMPT_BYTES];
    size_t at;                   /* byte offset of the cursor, at a character */
    struct lab_history *history; /* may be NULL; the caller's */
    int back;                    /* lines back in it; 0: the new line */
    char draft[LAB_PROMPT_BYTES]; /* the new line meanwhile */
};

enum lab_prompt_result {
    LAB_PROMPT_MORE,     /* go on */
    LAB_PROMPT_DONE,     /* Enter: `text` is the answer */
    LAB_PROMPT_CANCELLED /* Esc, or Backspace on an empty line */
};

LAB_C_BEGIN
void lab_prompt_start(struct lab_prompt *p, const char *label,
                      const char *initial, struct lab_history *history);
enum lab_prompt_result lab_prompt_key(struct lab_prompt *p, int key);
/* Replaces the word that ends at the cursor by `word`. */
void lab_prompt_complete(struct lab_prompt *p, const char *word);
/* Draws label and text in one row, scrolled so that the cursor is in sight,
 * and puts the canvas' cursor there. */
void lab_prompt_draw(const struct lab_prompt *p, struct lab_canvas *c,
                     struct lab_rect row);
/* Keeps a line, unless it is empty or the same as the last one. */
void lab_history_add(struct lab_history *h, const char *line);
LAB_C_END
