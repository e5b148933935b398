/* engine/board.h -- a step as one writes it on a blackboard: the tensors that an
 * output is computed from, the axes on which they meet, and in each of them the
 * elements that belong to one chosen element.
 *
 * All of it follows from the index notation of the step's formula. An input that
 * shares the result's row index is at its left, one that shares the column index
 * is above it: A left, B above, C = AB at the crossing. An input that has both is
 * beside it, as an image is beside the map that a window over it gives. What is
 * lit comes from the indices too: the chosen element fixes letters, and the other
 * letters run. So it is the same forward, backward, and from an input to the
 * outputs that it reaches.
 *
 * A step with a formula in words has its inputs beside the result; there the
 * terms of an explanation give what is lit. Pure. Threads: any. */
#pragma once
#include "engine/snapshot.h"

enum lab_board_place {
    LAB_BOARD_RESULT,
    LAB_BOARD_LEFT,  /* shares the result's rows */
    LAB_BOARD_ABOVE, /* shares the result's columns */
    LAB_BOARD_BESIDE
};

struct lab_reach { /* first .. last; none when last < first */
    int64_t first;
    int64_t last;
};

/* A tensor that the formula reads several times has that many ranges: an LSTM's
 * unit reads four columns of z. Further ones are joined to the last. */
enum { LAB_BOARD_RANGES = 4 };

struct lab_board_part {
    int tensor;
    enum lab_board_place place;
    bool summed;          /* a sum runs over one of its axes */
    struct lab_show show; /* the plane to draw */
    int n_lit;            /* ranges, apart from each other */
    /* A reach of each axis, in coordinates of the tensor. */
    struct lab_reach lit[LAB_BOARD_RANGES][LAB_MAX_RANK];
};

struct lab_board {
    struct lab_board_part part[LAB_BOARD_PARTS]; /* the result is the last */
    int n;                                       /* 0: there is none */
    bool cross; /* a product: operands at the left and above */
};

/* What the reader has chosen. */
struct lab_board_choice {
    int out_slot;
    struct lab_element cursor; /* in a tensor of the step; tensor -1: none */
    /* The axes of the result and the coordinates of hidden axes: overwrites
     * *show, which holds lab_show_first(). NULL: those. */
    void (*look)(void *user, int tensor, struct lab_show *show);
    void *user;
    const struct lab_explanation *explanation; /* for words; NULL: none */
};

LAB_C_BEGIN
/* How a tensor opens: the last axis runs across and the one before it down; of
 * pictures, their rows and columns. */
void lab_show_first(const struct lab_plan *plan, int tensor,
                    struct lab_show *show);
/* How many slices of so many elements a contact sheet has room for. */
int64_t lab_show_room(int64_t elements);
/* Images, feature maps and filters: four axes, two of them a picture's. */
bool lab_holds_pictures(const struct lab_plan *plan,
                        const struct lab_tensor *t);
/* Writes the board of an output of a step. out->n is 0 where the step has no
 * such output. LAB_E_NOMEM. */
enum lab_status lab_board_make(struct lab_board *out,
                               const struct lab_plan *plan,
                               const struct lab_step *step,
                               const struct lab_board_choice *choice);
/* Whether a plane shows any, and which, lit rows and columns of one range of a
 * part, 0 .. n_lit - 1. */
bool lab_board_lit_range(const struct lab_board_part *part, int range,
                         struct lab_reach *rows, struct lab_reach *cols);
/* Of all ranges that the plane shows: from the first to the last. */
bool lab_board_lit(const struct lab_board_part *part, struct lab_reach *rows,
                   struct lab_reach *cols);
LAB_C_END
