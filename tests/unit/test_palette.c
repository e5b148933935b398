/* The picture language: scales that are even and safe for colour-blind eyes, text
 * that can be read, and the themes. */
#include <math.h>
#include "test.h"

#include "report/palette.h"

/* 0xRRGGBB of a colour as a terminal with 256 has it. */
static int shown(enum lab_depth depth, int color)
{
    static const int levels[6] = {0, 95, 135, 175, 215, 255};
    if (depth == LAB_DEPTH_RGB || color < 0)
        return color;
    assert_in_range(color, 16, 255);
    if (color >= 232)
        return (8 + 10 * (color - 232)) * 0x010101;
    color -= 16;
    return levels[color / 36] << 16 | levels[color / 6 % 6] << 8 |
           levels[color % 6];
}

static int tint(enum lab_theme theme, enum lab_depth depth, int i)
{
    return shown(depth, lab_palette_tint(theme, depth, (enum lab_tint)i));
}

static double luminance(int rgb)
{
    static const double weight[3] = {0.2126, 0.7152, 0.0722};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double v = (rgb >> (16 - 8 * i) & 255) / 255.0;
        sum += weight[i] *
               (v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4));
    }
    return sum;
}

/* L* of CIE 1976, 0 to 100. */
static double lightness(int rgb)
{
    const double y = luminance(rgb);
    return y > 216.0 / 24389 ? 116 * cbrt(y) - 16 : y * 24389 / 27;
}

/* Steps of the scale from tint first to tint last, where the colour changes, are
 * all of one direction; the largest is at most `most` times the smallest, in
 * lightness. */
static void check_steps(enum lab_theme theme, enum lab_depth depth, int first,
                        int last, int levels, double most)
{
    const int way = last > first ? 1 : -1;
    const double dir = lightness(tint(theme, depth, last)) >
                               lightness(tint(theme, depth, first))
                           ? 1
                           : -1;
    double least = INFINITY;
    double large = 0;
    int n = 1;
    for (int i = first; i != last; i += way) {
        const int x = tint(theme, depth, i);
        const int y = tint(theme, depth, i + way);
        const double d = dir * (lightness(y) - lightness(x));
        if (x == y)
            continue;
        n++;
        if (d <= 0)
            fail_msg("%s, depth %d: lightness turns at tint %d",
                     lab_theme_name(theme), (int)depth, i);
        least = d < least ? d : least;
        large = d > large ? d : large;
    }
    assert_true(n >= levels);
    if (large > most * least)
        fail_msg("%s, depth %d: from tint %d steps of L* %.2f to %.2f",
                 lab_theme_name(theme), (int)depth, first, least, large);
}

/* In OKLab, where a difference of colour counts too. */
static void check_distances(enum lab_theme theme, int first, int last)
{
    double least = INFINITY;
    double most = 0;
    for (int i = first; i < last; i++) {
        double d = lab_palette_distance(tint(theme, LAB_DEPTH_RGB, i),
                                        tint(theme, LAB_DEPTH_RGB, i + 1));
        least = d < least ? d : least;
        most = d > most ? d : most;
    }
    if (most > 1.7 * least)
        fail_msg("%s: steps from %.4f to %.4f", lab_theme_name(theme), least,
                 most);
}

TEST_CASE(scales_are_even)
{
    const int zero = LAB_TINT_DIVERGING + LAB_TINT_HALF;
    for (int t = 0; t < LAB_THEME_TERMINAL; t++) {
        const enum lab_theme theme = (enum lab_theme)t;
        const enum lab_depth rgb = LAB_DEPTH_RGB;
        const enum lab_depth few = LAB_DEPTH_256;
        const int low = LAB_TINT_SEQUENTIAL;
        const int high = LAB_TINT_SEQUENTIAL + LAB_TINT_STEPS - 1;
        check_steps(theme, rgb, low, high, LAB_TINT_STEPS, 3);
        check_steps(theme, few, low, high, 8, 2);
        for (int sign = -1; sign <= 1; sign += 2) {
            const int end = zero + sign * LAB_TINT_HALF;
            check_steps(theme, rgb, zero + 3 * sign, end, LAB_TINT_HALF - 2, 3);
            check_steps(theme, few, zero, end, 9, 2);
        }
        check_distances(theme, low, high);
        check_distances(theme, LAB_TINT_DIVERGING, zero - 3);
        check_distances(theme, zero + 3, zero + LAB_TINT_HALF);
    }
}

/* Degrees of a hue, from red over green to blue, 0 to 360; -1: grey. */
static double hue(int rgb)
{
    const int r = rgb >> 16 & 255;
    const int g = rgb >> 8 & 255;
    const int b = rgb & 255;
    const double angle =
        atan2(sqrt(3) * (g - b), 2 * r - g - b) * 180 / acos(-1);
    return r == g && g == b ? -1 : angle < 0 ? angle + 360 : angle;
}

/* Neither sign is louder: at each distance from zero both are equally light within
 * 4.5 of L*, both have a colour or both have none, and that is blue below zero and red
 * to orange above. */
TEST_CASE(signs_are_alike)
{
    static const enum lab_depth depths[] = {LAB_DEPTH_256, LAB_DEPTH_RGB};
    const int zero = LAB_TINT_DIVERGING + LAB_TINT_HALF;
    for (int t = 0; t < 2 * LAB_THEME_TERMINAL; t++) {
        const enum lab_theme theme = (enum lab_theme)(t / 2);
        const enum lab_depth depth = depths[t % 2];
        for (int k = 2; k <= LAB_TINT_HALF; k++) {
            const int below = tint(theme, depth, zero - k);
            const int above = tint(theme, depth, zero + k);
            const double l = lightness(below) - lightness(above);
            if (fabs(l) > 4.5)
                fail_msg("%s, depth %d: L* of -%d and %d differ by %.1f",
                         lab_theme_name(theme), (int)depth, k, k, l);
            assert_int_equal(below == tint(theme, depth, zero - k + 1),
                             above == tint(theme, depth, zero + k - 1));
            if (hue(below) < 170 || hue(below) > 265 || hue(above) < 0 ||
                (hue(above) > 45 && hue(above) < 340))
                fail_msg("%s, depth %d: hues %.0f and %.0f at %d",
                         lab_theme_name(theme), (int)depth, hue(below),
                         hue(above), k);
        }
    }
}

/* What eyes without the cones of red, green or blue see: Machado, Oliveira, Fernandes
 * 2009, in linear light; first those with all. */
enum { EYES = 4 };
static const double EYE[EYES][3][3] = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
                                       {{0.152286, 1.052583, -0.204868},
                                        {0.114503, 0.786281, 0.099216},
                                        {-0.003882, -0.048116, 1.051998}},
                                       {{0.367322, 0.860646, -0.227968},
                                        {0.280085, 0.672501, 0.047413},
                                        {-0.011820, 0.042940, 0.968881}},
                                       {{1.255528, -0.076749, -0.178779},
                                        {-0.078411, 0.930809, 0.147602},
                                        {0.004733, 0.691367, 0.303900}}};

static int seen(int rgb, const double m[3][3])
{
    double in[3];
    int out = 0;
    for (int i = 0; i < 3; i++) {
        double v = (rgb >> (16 - 8 * i) & 255) / 255.0;
        in[i] = v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
    }
    for (int i = 0; i < 3; i++) {
        double v = m[i][0] * in[0] + m[i][1] * in[1] + m[i][2] * in[2];
        v = fmin(fmax(v, 0), 1);
        v = v <= 0.0031308 ? 12.92 * v : 1.055 * pow(v, 1 / 2.4) - 0.055;
        out = out << 8 | (int)lround(255 * v);
    }
    return out;
}

TEST_CASE(colour_blind_eyes_see_the_sign)
{
    static const enum lab_depth depths[] = {LAB_DEPTH_256, LAB_DEPTH_RGB};
    const int zero = LAB_TINT_DIVERGING + LAB_TINT_HALF;
    for (int t = 0; t < 2 * LAB_THEME_TERMINAL; t++) {
        for (int e = 1; e < EYES; e++) {
            const enum lab_theme theme = (enum lab_theme)(t / 2);
            const enum lab_depth depth = depths[t % 2];
            for (int k = LAB_TINT_HALF / 2; k <= LAB_TINT_HALF; k++)
                assert_true(lab_palette_distance(
                                seen(tint(theme, depth, zero - k), EYE[e]),
                                seen(tint(theme, depth, zero + k), EYE[e])) >
                            0.08);
            for (int i = 0; i + 8 < LAB_TINT_STEPS; i++)
                assert_true(
                    lab_palette_lightness(
                        seen(tint(theme, depth, LAB_TINT_SEQUENTIAL + i + 8),
                             EYE[e])) >
                    lab_palette_lightness(seen(
                        tint(theme, depth, LAB_TINT_SEQUENTIAL + i), EYE[e])));
        }
    }
}

/* Colours that are beside each other in one picture. */
static void check_apart(enum lab_theme theme, enum lab_depth depth, int first,
                        int last, double least)
{
    for (int a = first; a <= last; a++) {
        for (int b = a + 1; b <= last; b++) {
            for (int e = 0; e < EYES; e++) {
                const int x = lab_palette_style(theme, depth, a).fg;
                const int y = lab_palette_style(theme, depth, b).fg;
                double d = lab_palette_distance(seen(shown(depth, x), EYE[e]),
                                                seen(shown(depth, y), EYE[e]));
                if (d < least)
                    fail_msg("%s, depth %d, eyes %d: roles %d and %d are %.3f "
                             "apart",
                             lab_theme_name(theme), (int)depth, e, a, b, d);
            }
        }
    }
}

/* A difference of 0.02 in OKLab is just seen. Four phases, four bounds, three verdicts
 * and five curves are four times and more apart for each kind of eye, and three
 * times in the nearest of 256 colours. The sixth curve has the colour of text. */
TEST_CASE(colour_blind_eyes_tell_roles_apart)
{
    static const struct {
        int first;
        int last;
    } groups[] = {{LAB_ROLE_FORWARD, LAB_ROLE_UPDATE},
                  {LAB_ROLE_MEMORY, LAB_ROLE_HOST},
                  {LAB_ROLE_GOOD, LAB_ROLE_BAD},
                  {LAB_ROLE_SERIES_1, LAB_ROLE_SERIES_5},
                  {LAB_ROLE_NEGATIVE, LAB_ROLE_POSITIVE}};
    for (int t = 0; t < LAB_THEME_TERMINAL; t++) {
        for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
            check_apart((enum lab_theme)t, LAB_DEPTH_RGB, groups[i].first,
                        groups[i].last, 0.078);
            check_apart((enum lab_theme)t, LAB_DEPTH_256, groups[i].first,
                        groups[i].last, 0.06);
        }
    }
}

static double contrast(int a, int b)
{
    double x = luminance(a);
    double y = luminance(b);
    return x > y ? (x + 0.05) / (y + 0.05) : (y + 0.05) / (x + 0.05);
}

/* Text of each role on the ground, on a panel and on the panel in focus. */
static void check_contrast(enum lab_theme theme, enum lab_depth depth,
                           int ground, double least)
{
    static const enum lab_tint papers[] = {LAB_TINT_NONE, LAB_TINT_PANEL,
                                           LAB_TINT_FOCUS};
    struct lab_palette p;
    lab_palette_fill(&p, theme, depth);
    for (unsigned role = 0; role < LAB_ROLE_COUNT; role++)
        for (size_t i = 0; i < sizeof(papers) / sizeof(papers[0]); i++) {
            const struct lab_style s =
                lab_palette_cell(&p, role, LAB_TINT_NONE, papers[i]);
            const int fg = shown(depth, s.fg);
            const int bg = s.bg >= 0 ? shown(depth, s.bg) : ground;
            const bool chosen =
                role == LAB_ROLE_SELECTED || role == LAB_ROLE_CURSOR;
            const bool title = role <= LAB_ROLE_KEY;
            if (fg < 0 || (chosen && papers[i] != LAB_TINT_NONE) ||
                (papers[i] == LAB_TINT_FOCUS && !title && least < 7))
                continue; /* the terminal's own; what is not on that paper */
            if (contrast(fg, bg) < least)
                fail_msg("%s, depth %d: role %u on paper %d has %.2f",
                         lab_theme_name(theme), (int)depth, role,
                         (int)papers[i], contrast(fg, bg));
        }
}

/* Black or white on a picture. */
static void check_ink(enum lab_theme theme, enum lab_depth depth, int paper)
{
    const int on = lab_palette_ink(theme, depth, (enum lab_tint)paper);
    const double has =
        contrast(tint(theme, depth, on), tint(theme, depth, paper));
    if (has < 4.5)
        fail_msg("%s, depth %d: tint %d has %.2f", lab_theme_name(theme),
                 (int)depth, paper, has);
}

/* WCAG 2: 4.5 to 1 for text, 7 to 1 in the theme that is made for it. On the middle
 * of a scale no colour has more than 4.58. */
TEST_CASE(text_can_be_read)
{
    static const int ground[LAB_THEME_TERMINAL] = {0x000000, 0xFFFFFF,
                                                   0x000000};
    for (int t = 0; t < LAB_THEME_TERMINAL; t++) {
        const double least = t == LAB_THEME_CONTRAST ? 7 : 4.5;
        check_contrast((enum lab_theme)t, LAB_DEPTH_RGB, ground[t], least);
        check_contrast((enum lab_theme)t, LAB_DEPTH_256, ground[t], least);
        for (int i = LAB_TINT_SEQUENTIAL; i < LAB_TINT_COUNT; i++) {
            check_ink((enum lab_theme)t, LAB_DEPTH_RGB, i);
            check_ink((enum lab_theme)t, LAB_DEPTH_256, i);
        }
    }
}

TEST_CASE(every_depth_has_a_colour)
{
    struct lab_style s;
    assert_int_equal(lab_palette_nearest(0x5FD787), 78);
    assert_int_equal(lab_palette_nearest(0x000000), 16);
    assert_int_equal(lab_palette_nearest(0x808080), 244);
    s = lab_palette_style(LAB_THEME_DARK, LAB_DEPTH_256, LAB_ROLE_BADGE);
    assert_int_equal(s.fg, 78);
    s = lab_palette_style(LAB_THEME_DARK, LAB_DEPTH_8, LAB_ROLE_BADGE);
    assert_int_equal(s.fg, 2);
    s = lab_palette_style(LAB_THEME_LIGHT, LAB_DEPTH_16, LAB_ROLE_BADGE);
    assert_int_equal(s.fg, 10);
    /* Selection is reverse where there is no background to give. */
    s = lab_palette_style(LAB_THEME_DARK, LAB_DEPTH_16, LAB_ROLE_SELECTED);
    assert_int_equal(s.attr, LAB_ATTR_REVERSE);
    s = lab_palette_style(LAB_THEME_DARK, LAB_DEPTH_MONO, LAB_ROLE_SELECTED);
    assert_int_equal(s.attr, LAB_ATTR_REVERSE);
    assert_int_equal(s.fg, -1);
    s = lab_palette_style(LAB_THEME_TERMINAL, LAB_DEPTH_RGB, LAB_ROLE_BADGE);
    assert_int_equal(s.fg, 10);
    assert_int_equal(
        lab_palette_tint(LAB_THEME_TERMINAL, LAB_DEPTH_RGB, LAB_TINT_PANEL),
        -1);
    assert_int_equal(
        lab_palette_tint(LAB_THEME_DARK, LAB_DEPTH_16, LAB_TINT_PANEL), -1);
}

/* The configuration file's colours replace those of every theme that has some. */
TEST_CASE(a_colour_is_replaced)
{
    const enum lab_tint tint_of = lab_tint_of_role(LAB_ROLE_BACKWARD);
    const struct lab_style own =
        lab_palette_style(LAB_THEME_DARK, LAB_DEPTH_RGB, LAB_ROLE_BACKWARD);
    assert_string_equal(lab_role_name(LAB_ROLE_BACKWARD), "backward");
    assert_null(lab_role_name(LAB_ROLE_NORMAL));
    lab_palette_set(LAB_ROLE_BACKWARD, 0x5FD787);
    for (int t = 0; t < LAB_THEME_TERMINAL; t++) {
        const enum lab_theme theme = (enum lab_theme)t;
        assert_int_equal(
            lab_palette_style(theme, LAB_DEPTH_RGB, LAB_ROLE_BACKWARD).fg,
            0x5FD787);
        assert_int_equal(
            lab_palette_style(theme, LAB_DEPTH_256, LAB_ROLE_BACKWARD).fg, 78);
        assert_int_equal(lab_palette_tint(theme, LAB_DEPTH_RGB, tint_of),
                         0x5FD787);
    }
    assert_int_equal(
        lab_palette_style(LAB_THEME_TERMINAL, LAB_DEPTH_RGB, LAB_ROLE_BACKWARD)
            .fg,
        3);
    lab_palette_set(LAB_ROLE_BACKWARD, -1);
    assert_int_equal(
        lab_palette_style(LAB_THEME_DARK, LAB_DEPTH_RGB, LAB_ROLE_BACKWARD).fg,
        own.fg);
}

TEST_CASE(values_have_tints)
{
    const int zero = LAB_TINT_DIVERGING + LAB_TINT_HALF;
    assert_int_equal(lab_tint_diverging(0, 1), zero);
    assert_int_equal(lab_tint_diverging(5, 1), zero + LAB_TINT_HALF);
    assert_int_equal(lab_tint_diverging(-1, 1), LAB_TINT_DIVERGING);
    assert_int_equal(lab_tint_diverging(0, 0), zero);
    assert_int_equal(lab_tint_diverging(NAN, 1), LAB_TINT_BAD);
    assert_int_equal(lab_tint_sequential(-INFINITY, 1), LAB_TINT_BAD);
    assert_int_equal(lab_tint_sequential(0, 1), LAB_TINT_SEQUENTIAL);
    assert_int_equal(lab_tint_sequential(2, 1),
                     LAB_TINT_SEQUENTIAL + LAB_TINT_STEPS - 1);
}

TEST_CASE(a_theme_by_name_or_by_the_terminal)
{
    enum lab_theme theme = LAB_THEMES;
    assert_true(lab_theme_find("contrast", "0;15", &theme));
    assert_int_equal(theme, LAB_THEME_CONTRAST);
    assert_true(lab_theme_find("auto", "0;15", &theme));
    assert_int_equal(theme, LAB_THEME_LIGHT);
    assert_true(lab_theme_find(NULL, "15;default;0", &theme));
    assert_int_equal(theme, LAB_THEME_DARK);
    assert_true(lab_theme_find(NULL, NULL, &theme));
    assert_int_equal(theme, LAB_THEME_DARK);
    assert_false(lab_theme_find("blue", NULL, &theme));
    assert_int_equal(lab_role_of_phase(LAB_UPDATE), LAB_ROLE_UPDATE);
    assert_int_equal(lab_role_of_verdict(LAB_ROOFLINE_LAUNCH), LAB_ROLE_HOST);
}

RUN_TESTS()
