#include "terminal_priv.h"

struct look {
    int style;
    int mono; /* the style without colour */
    int c8;
    int c16;
    int c256;
    int rgb;
};

/* Blue and orange for the two signs: told apart by most eyes, and the glyphs
 * differ as well. */
static const struct look LOOKS[LAB_ROLE_COUNT] = {
    [LAB_ROLE_NORMAL] = {0, 0, -1, -1, -1, -1},
    [LAB_ROLE_DIM] = {LAB_STYLE_DIM, LAB_STYLE_DIM, -1, -1, -1, -1},
    [LAB_ROLE_TITLE] = {LAB_STYLE_BOLD, LAB_STYLE_BOLD, -1, -1, -1, -1},
    [LAB_ROLE_HEADING] = {LAB_STYLE_BOLD, LAB_STYLE_BOLD, 6, 6, 37, 0x2AA1B3},
    [LAB_ROLE_KEY] = {LAB_STYLE_BOLD, LAB_STYLE_BOLD, 6, 6, 37, 0x2AA1B3},
    [LAB_ROLE_SELECTED] = {LAB_STYLE_REVERSE, LAB_STYLE_REVERSE, -1, -1, -1,
                           -1},
    [LAB_ROLE_CURSOR] = {LAB_STYLE_REVERSE | LAB_STYLE_BOLD,
                         LAB_STYLE_REVERSE | LAB_STYLE_BOLD, -1, -1, -1, -1},
    [LAB_ROLE_MARK] = {LAB_STYLE_UNDERLINE | LAB_STYLE_BOLD,
                       LAB_STYLE_UNDERLINE | LAB_STYLE_BOLD, 3, 3, 178,
                       0xD7AF00},
    [LAB_ROLE_GOOD] = {0, 0, 2, 2, 71, 0x5FAF5F},
    [LAB_ROLE_WARN] = {LAB_STYLE_BOLD, LAB_STYLE_BOLD, 3, 3, 178, 0xD7AF00},
    [LAB_ROLE_BAD] = {LAB_STYLE_BOLD, LAB_STYLE_BOLD, 1, 9, 203, 0xFF5F5F},
    [LAB_ROLE_CODE] = {0, 0, 2, 2, 108, 0x87AF87},
    [LAB_ROLE_FORMULA] = {0, 0, 5, 13, 140, 0xAF87D7},
    [LAB_ROLE_BADGE] = {LAB_STYLE_BOLD, LAB_STYLE_BOLD, 2, 10, 78, 0x5FD787},
    [LAB_ROLE_BORDER] = {LAB_STYLE_DIM, 0, -1, -1, -1, -1},
    [LAB_ROLE_NEGATIVE] = {0, LAB_STYLE_DIM, 6, 12, 68, 0x5F87D7},
    [LAB_ROLE_POSITIVE] = {0, LAB_STYLE_BOLD, 3, 3, 208, 0xFF8700},
    [LAB_ROLE_SERIES_1] = {0, 0, 6, 14, 44, 0x00D7D7},
    [LAB_ROLE_SERIES_2] = {0, 0, 3, 11, 214, 0xFFAF00},
    [LAB_ROLE_SERIES_3] = {0, 0, 5, 13, 176, 0xD787D7},
    [LAB_ROLE_SERIES_4] = {0, 0, 2, 10, 114, 0x87D787},
    [LAB_ROLE_SERIES_5] = {0, 0, 4, 12, 75, 0x5FAFFF},
    [LAB_ROLE_SERIES_6] = {0, 0, -1, -1, -1, -1},
};

struct lab_style lab_palette(enum lab_role role, int colors)
{
    unsigned at = (unsigned)role < LAB_ROLE_COUNT ? (unsigned)role : 0;
    const struct look *look = &LOOKS[at];
    if (colors < 8)
        return (struct lab_style){look->mono, -1};
    int color = colors >= 1 << 24 ? look->rgb
                : colors >= 256   ? look->c256
                : colors >= 16    ? look->c16
                                  : look->c8;
    return (struct lab_style){look->style, color};
}
