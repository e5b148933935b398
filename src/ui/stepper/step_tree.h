/* step_tree.h -- the steps of a schedule as a tree that folds: phases, nodes
 * (nested where their names are: block1 > attn), steps.
 *
 * Items are in the order of the schedule, each header before what it holds,
 * so that the tree is one array and every question is answered by index. Made
 * for ten thousand steps: building and folding are linear, moving is constant.
 * Pure data, no drawing. Threads: one at a time. */
#pragma once
#include <stdbool.h>
#include "base/status.h"
#include "engine/plan.h"

struct lab_tree_item {
    int step;  /* schedule index, -1: a header */
    int first; /* schedule steps first .. end-1 belong to it */
    int end;
    int next;   /* index of the item after everything it holds */
    int parent; /* header it is under, -1: none */
    int depth;
    bool folded;   /* headers */
    char name[64]; /* cut names end in "..." */
};

struct lab_step_tree { /* zeros: an empty one */
    struct lab_tree_item *items;
    int count;
    size_t cap;
    int *rows; /* items in sight */
    int n_rows;
    int *of_step; /* schedule index -> item */
};

LAB_C_BEGIN
void lab_step_tree_release(struct lab_step_tree *t);
/* Builds the tree anew. Headers that were folded under the same name and in
 * the same phase stay so. On failure the tree is as it was. LAB_E_NOMEM. */
enum lab_status lab_step_tree_build(struct lab_step_tree *t,
                                    const struct lab_plan *plan,
                                    const struct lab_schedule *schedule);
/* The row of an item, or of the folded header that hides it; -1: none. */
int lab_step_tree_row(const struct lab_step_tree *t, int item);
void lab_step_tree_fold(struct lab_step_tree *t, int item, bool folded);
void lab_step_tree_fold_all(struct lab_step_tree *t, bool folded);
/* Unfolds what hides `item`. */
void lab_step_tree_reveal(struct lab_step_tree *t, int item);
LAB_C_END
