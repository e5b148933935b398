/* network_boxes.h -- the boxes of a plan's network: the data, its nodes, the loss;
 * a block or a recurrence as one box, or opened as those in it. Threads: the
 * UI's. */
#pragma once
#include "engine/snapshot.h"
#include "ui/diagram.h"

struct lab_network { /* zeros: an empty one */
    struct lab_diagram picture;
    struct lab_network_item {
        int first; /* plan nodes first .. end-1; first -1: the data */
        int end;
        int at;      /* the step in time of an opened recurrence; -1: all */
        int times;   /* of a folded recurrence: how many there are; 0: none */
        int part_of; /* the node that was opened to show it; -1: none was */
    } * items;       /* one for each box */
    int *of_step;    /* schedule index -> box */
    bool *open; /* by plan node, the first of a block: shown as its parts */
    int n_nodes;
};

LAB_C_BEGIN
void lab_network_release(struct lab_network *n);
/* Boxes anew; what was open stays so while the plan has as many nodes. On failure
 * it is as it was, or empty. LAB_E_NOMEM. */
enum lab_status lab_network_build(struct lab_network *n,
                                  const struct lab_plan *plan,
                                  const struct lab_schedule *schedule);
/* Opens the box, or closes what it is a part of; false: it is one node. */
bool lab_network_turn(struct lab_network *n, int box);
/* Shares of the time, and which box is lit: that of the schedule's step. */
void lab_network_update(struct lab_network *n, const struct lab_snapshot *snap,
                        int step);
/* The schedule's step to go to for a box: its first in `phase`, else in any; -1:
 * none. */
int lab_network_step(const struct lab_network *n, const struct lab_schedule *s,
                     int box, int phase);
LAB_C_END
