/* report/role.h -- what a piece of styled text means. */
#pragma once

/* What a piece of text means; report/palette.h maps roles to colours, bold,
 * reverse or underline by the theme and by what the terminal can do. No role is
 * the only sign of a meaning. */
enum lab_role {
    LAB_ROLE_NORMAL,
    LAB_ROLE_DIM,
    LAB_ROLE_TITLE,
    LAB_ROLE_HEADING,
    LAB_ROLE_KEY, /* a key the reader may press */
    LAB_ROLE_SELECTED,
    LAB_ROLE_CURSOR,
    LAB_ROLE_MARK, /* source elements of the explained number */
    LAB_ROLE_GOOD,
    LAB_ROLE_WARN,
    LAB_ROLE_BAD,
    LAB_ROLE_CODE,
    LAB_ROLE_FORMULA,
    LAB_ROLE_BADGE,
    LAB_ROLE_BORDER,
    LAB_ROLE_NEGATIVE, /* numbers in characters: below zero ... */
    LAB_ROLE_POSITIVE, /* ... and above */
    LAB_ROLE_SERIES_1, /* chart lines */
    LAB_ROLE_SERIES_2,
    LAB_ROLE_SERIES_3,
    LAB_ROLE_SERIES_4,
    LAB_ROLE_SERIES_5,
    LAB_ROLE_SERIES_6,
    LAB_ROLE_FORWARD, /* in the order of enum lab_phase: lab_role_of_phase() */
    LAB_ROLE_LOSS,
    LAB_ROLE_BACKWARD,
    LAB_ROLE_UPDATE,
    LAB_ROLE_MEMORY, /* what bounds a step: lab_role_of_verdict() */
    LAB_ROLE_COMPUTE,
    LAB_ROLE_LATENCY,
    LAB_ROLE_HOST,
    LAB_ROLE_COUNT
};
