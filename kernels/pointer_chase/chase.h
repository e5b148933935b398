/* kernels/pointer_chase/chase.h -- what all variants of the chase share, and
 * the launchers of the CUDA ones.
 *
 * The footprint is cut into lines of 128 bytes, and the first number of each
 * is the index, among the footprint's 4-byte numbers, of the line to visit
 * next. The lines form one cycle in an order without a pattern, so that no
 * address is known before the access before it has answered. */
#pragma once
#include "labs/sweep.h"

enum {
    LAB_CHASE_ACCESSES = 1 << 27, /* at most: minutes, in memory */
    LAB_CHASE_LINE = 32,          /* numbers from one line to the next */
    LAB_CHASE_BYTES = 128,        /* the same in bytes */
    LAB_CHASE_CONSTANT = 65536,   /* bytes that constant memory holds */
    LAB_CHASE_L1 = 196608         /* bytes that L1 is asked to keep, at most */
};

LAB_C_BEGIN
/* The line after `line` in the cycle of `lines`. Any thread. */
int64_t lab_chase_next(int64_t line, int64_t lines);

LAB_C_END
