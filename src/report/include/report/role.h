/* report/role.h -- what a piece of styled text means. */
#pragma once

/* What a piece of text means; terminal.h maps roles to colours, bold, reverse
 * or underline by what the terminal can do. No role is the only sign of a meaning. */
enum lab_role {
    LAB_ROLE_NORMAL,
    LAB_ROLE_DIM,
    LAB_ROLE_TITLE,
    LAB_ROLE_HEADING,
    LAB_ROLE_KEY,      /* a key the reader may press */
    LAB_ROLE_SELECTED, /* reverse video, everywhere */
    LAB_ROLE_CURSOR,
    LAB_ROLE_MARK, /* source elements of the explained number */
    LAB_ROLE_GOOD,
    LAB_ROLE_WARN,
    LAB_ROLE_BAD,
    LAB_ROLE_CODE,
    LAB_ROLE_FORMULA,
    LAB_ROLE_BADGE,
    LAB_ROLE_BORDER,
    LAB_ROLE_NEGATIVE, /* diverging scale of heat maps: below zero ... */
    LAB_ROLE_POSITIVE, /* ... and above */
    LAB_ROLE_SERIES_1, /* chart lines */
    LAB_ROLE_SERIES_2,
    LAB_ROLE_SERIES_3,
    LAB_ROLE_SERIES_4,
    LAB_ROLE_SERIES_5,
    LAB_ROLE_SERIES_6,
    LAB_ROLE_COUNT
};
