/* glyph.c -- replaces characters above ASCII by ASCII text, for --ascii and
 * locales without UTF-8. */
#include "base/glyph.h"

#include <string.h>

#include "base/str.h"

struct replacement {
    unsigned code;
    const char *ascii;
};

/* Sorted by code. What the program itself writes: formulas, borders, charts,
 * and the letters of people's names. */
/* clang-format off */
static const struct replacement REPLACEMENTS[] = {
    {0x00A0, " "}, {0x00A3, "GBP"}, {0x00A7, "section"}, {0x00A9, "(c)"},
    {0x00AB, "<<"}, {0x00AC, "not "}, {0x00B0, "deg"}, {0x00B1, "+-"},
    {0x00B2, "^2"}, {0x00B3, "^3"}, {0x00B5, "u"}, {0x00B7, "*"},
    {0x00B9, "^1"}, {0x00BB, ">>"}, {0x00BC, "1/4"}, {0x00BD, "1/2"},
    {0x00BE, "3/4"}, {0x00C6, "AE"}, {0x00D7, "x"}, {0x00DF, "ss"},
    {0x00E6, "ae"}, {0x00F7, "/"}, {0x0152, "OE"}, {0x0153, "oe"},
    {0x02B0, "^h"}, {0x02B2, "^j"}, {0x02B3, "^r"}, {0x02B7, "^w"},
    {0x02B8, "^y"}, {0x02E1, "^l"}, {0x02E2, "^s"}, {0x02E3, "^x"},
    {0x0302, ""}, {0x0391, "Alpha"}, {0x0392, "Beta"}, {0x0393, "Gamma"},
    {0x0394, "Delta"}, {0x0395, "Epsilon"}, {0x0398, "Theta"},
    {0x039B, "Lambda"}, {0x039E, "Xi"}, {0x03A0, "prod"}, {0x03A3, "sum"},
    {0x03A6, "Phi"}, {0x03A8, "Psi"}, {0x03A9, "Omega"}, {0x03B1, "alpha"},
    {0x03B2, "beta"}, {0x03B3, "gamma"}, {0x03B4, "delta"}, {0x03B5, "eps"},
    {0x03B6, "zeta"}, {0x03B7, "eta"}, {0x03B8, "theta"}, {0x03B9, "iota"},
    {0x03BA, "kappa"}, {0x03BB, "lambda"}, {0x03BC, "mu"}, {0x03BD, "nu"},
    {0x03BE, "xi"}, {0x03C0, "pi"}, {0x03C1, "rho"}, {0x03C3, "sigma"},
    {0x03C4, "tau"}, {0x03C5, "upsilon"}, {0x03C6, "phi"}, {0x03C7, "chi"},
    {0x03C8, "psi"}, {0x03C9, "omega"}, {0x03D1, "theta"}, {0x1D2E, "^B"},
    {0x1D30, "^D"}, {0x1D34, "^H"}, {0x1D35, "^I"}, {0x1D37, "^K"},
    {0x1D38, "^L"}, {0x1D39, "^M"}, {0x1D3A, "^N"}, {0x1D3F, "^R"},
    {0x1D40, "^T"}, {0x1D43, "^a"}, {0x1D47, "^b"}, {0x1D48, "^d"},
    {0x1D49, "^e"}, {0x1D4D, "^g"}, {0x1D4F, "^k"}, {0x1D50, "^m"},
    {0x1D52, "^o"}, {0x1D56, "^p"}, {0x1D57, "^t"}, {0x1D58, "^u"},
    {0x1D5B, "^v"}, {0x1D5D, "^beta"}, {0x1D5E, "^gamma"}, {0x1D60, "^phi"},
    {0x1D61, "^chi"}, {0x1D62, "_i"}, {0x1D63, "_r"}, {0x1D64, "_u"},
    {0x1D65, "_v"}, {0x1D66, "_beta"}, {0x1D67, "_gamma"}, {0x1D68, "_rho"},
    {0x1D69, "_phi"}, {0x1D6A, "_chi"}, {0x1D9C, "^c"}, {0x1DA0, "^f"},
    {0x1DBB, "^z"}, {0x2002, " "}, {0x2003, " "}, {0x2009, " "}, {0x2010, "-"},
    {0x2011, "-"}, {0x2012, "-"}, {0x2013, "-"}, {0x2014, "--"}, {0x2016, "||"},
    {0x2018, "'"}, {0x2019, "'"}, {0x201C, "\""}, {0x201D, "\""}, {0x2020, "+"},
    {0x2022, "*"}, {0x2026, "..."}, {0x2032, "'"}, {0x2033, "''"},
    {0x2070, "^0"}, {0x2071, "^i"}, {0x2074, "^4"}, {0x2075, "^5"},
    {0x2076, "^6"}, {0x2077, "^7"}, {0x2078, "^8"}, {0x2079, "^9"},
    {0x207A, "^+"}, {0x207B, "^-"}, {0x207C, "^="}, {0x207D, "^("},
    {0x207E, "^)"}, {0x207F, "^n"}, {0x2080, "_0"}, {0x2081, "_1"},
    {0x2082, "_2"}, {0x2083, "_3"}, {0x2084, "_4"}, {0x2085, "_5"},
    {0x2086, "_6"}, {0x2087, "_7"}, {0x2088, "_8"}, {0x2089, "_9"},
    {0x208A, "_+"}, {0x208B, "_-"}, {0x208C, "_="}, {0x208D, "_("},
    {0x208E, "_)"}, {0x2090, "_a"}, {0x2091, "_e"}, {0x2092, "_o"},
    {0x2093, "_x"}, {0x2095, "_h"}, {0x2096, "_k"}, {0x2097, "_l"},
    {0x2098, "_m"}, {0x2099, "_n"}, {0x209A, "_p"}, {0x209B, "_s"},
    {0x209C, "_t"}, {0x20AC, "EUR"}, {0x2111, "Im "}, {0x2113, "l"},
    {0x211C, "Re "}, {0x211D, "R"}, {0x2190, "<-"}, {0x2191, "^"},
    {0x2192, "->"}, {0x2193, "v"}, {0x2194, "<->"}, {0x21A6, "|->"},
    {0x21D0, "<="}, {0x21D2, "=>"}, {0x21D4, "<=>"}, {0x2200, "all "},
    {0x2202, "d"}, {0x2203, "some "}, {0x2205, "{}"}, {0x2207, "grad "},
    {0x2208, " in "}, {0x2209, " not in "}, {0x220F, "prod"}, {0x2211, "sum"},
    {0x2212, "-"}, {0x2213, "-+"}, {0x2217, "*"}, {0x2218, "o"},
    {0x221A, "sqrt"}, {0x221D, "~"}, {0x221E, "inf"}, {0x2225, "||"},
    {0x2227, " and "}, {0x2228, " or "}, {0x2229, " & "}, {0x222A, " | "},
    {0x222B, "int "}, {0x223C, "~"}, {0x2248, "~="}, {0x2260, "!="},
    {0x2261, "=="}, {0x2264, "<="}, {0x2265, ">="}, {0x226A, "<<"},
    {0x226B, ">>"}, {0x2282, " in "}, {0x2295, "(+)"}, {0x2297, "(x)"},
    {0x2299, "*"}, {0x22A4, "^T"}, {0x22A5, "_|_"}, {0x22C5, "*"},
    {0x22C6, "*"}, {0x22EE, ":"}, {0x22EF, "..."}, {0x2308, "ceil("},
    {0x2309, ")"}, {0x230A, "floor("}, {0x230B, ")"}, {0x23CE, "Enter"},
    {0x2500, "-"}, {0x2501, "="}, {0x2502, "|"}, {0x2503, "|"}, {0x250C, "+"},
    {0x2510, "+"}, {0x2514, "+"}, {0x2518, "+"}, {0x251C, "+"}, {0x2524, "+"},
    {0x252C, "+"}, {0x2534, "+"}, {0x253C, "+"}, {0x2550, "="}, {0x2551, "|"},
    {0x2554, "+"}, {0x2557, "+"}, {0x255A, "+"}, {0x255D, "+"}, {0x256D, "+"},
    {0x256E, "+"}, {0x256F, "+"}, {0x2570, "+"}, {0x2580, "\""}, {0x2581, "_"},
    {0x2582, "_"}, {0x2583, "."}, {0x2584, "-"}, {0x2585, "="}, {0x2586, "+"},
    {0x2587, "*"}, {0x2588, "#"}, {0x2589, "#"}, {0x258A, "#"}, {0x258B, "="},
    {0x258C, "="}, {0x258D, "-"}, {0x258E, "-"}, {0x258F, "."}, {0x2590, "#"},
    {0x2591, "."}, {0x2592, ":"}, {0x2593, "%"}, {0x2594, "-"}, {0x2595, "|"},
    {0x25A0, "#"}, {0x25A1, "o"}, {0x25AA, "*"}, {0x25AE, "#"}, {0x25AF, "o"},
    {0x25B2, "^"}, {0x25B3, "^"}, {0x25B4, "^"}, {0x25B6, ">"}, {0x25B7, ">"},
    {0x25B8, ">"}, {0x25BA, ">"}, {0x25BC, "v"}, {0x25BE, "v"}, {0x25C0, "<"},
    {0x25C2, "<"}, {0x25C4, "<"}, {0x25C6, "*"}, {0x25C7, "o"}, {0x25CB, "o"},
    {0x25CF, "*"}, {0x25D0, "o"}, {0x2605, "*"}, {0x2610, "[ ]"},
    {0x2611, "[x]"}, {0x26A0, "!"}, {0x2713, "+"}, {0x2714, "+"}, {0x2717, "x"},
    {0x2718, "x"}, {0x27E8, "<"}, {0x27E9, ">"}, {0x2A00, "*"}, {0x2AFD, "//"},
    {0x2C7C, "_j"},
};
/* clang-format on */

/* Base letters of U+00C0..U+017F; '.' where there is no single one. */
static const char LATIN[] = "AAAAAA.CEEEEIIIIDNOOOOO.OUUUUYT."
                            "aaaaaa.ceeeeiiiidnooooo.ouuuuyty"
                            "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGg"
                            "GgGgHhHhIiIiIiIiIi..JjKkkLlLlLlL"
                            "lLlNnNnNnnNnOoOoOo..RrRrRrSsSsSs"
                            "SsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs";

static const char *latin_letter(unsigned code)
{
    static const char letters[] = "A\0B\0C\0D\0E\0F\0G\0H\0I\0J\0K\0L\0M\0N\0"
                                  "O\0P\0Q\0R\0S\0T\0U\0V\0W\0X\0Y\0Z\0"
                                  "a\0b\0c\0d\0e\0f\0g\0h\0i\0j\0k\0l\0m\0n\0"
                                  "o\0p\0q\0r\0s\0t\0u\0v\0w\0x\0y\0z";
    size_t at = code - 0xC0;
    if (code < 0xC0 || at >= sizeof(LATIN) - 1 || LATIN[at] == '.')
        return NULL;
    char c = LATIN[at];
    return c <= 'Z' ? &letters[2 * (c - 'A')] : &letters[52 + 2 * (c - 'a')];
}

const char *lab_glyph_ascii(unsigned code)
{
    size_t low = 0;
    size_t high = sizeof(REPLACEMENTS) / sizeof(REPLACEMENTS[0]);
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (REPLACEMENTS[mid].code == code)
            return REPLACEMENTS[mid].ascii;
        if (REPLACEMENTS[mid].code < code)
            low = mid + 1;
        else
            high = mid;
    }
    if (code >= 0x2800 && code <= 0x28FF) /* braille: how full the cell is */
        return code == 0x2800 ? " " : (code & 0x3F) ? ":" : ".";
    if (code >= 0x300 && lab_utf8_columns(code) == 0)
        return "";
    return latin_letter(code);
}

void lab_text_to_ascii(const char *utf8, char *out, size_t cap)
{
    size_t n = strlen(utf8);
    size_t used = 0;
    for (size_t i = 0; i < n;) {
        unsigned code = '?';
        size_t len = lab_utf8_next(utf8 + i, n - i, &code);
        char one[2] = {(char)code, '\0'};
        const char *text = one;
        if (len == 0 || code >= 0x80)
            text = len ? lab_glyph_ascii(code) : NULL;
        if (!text)
            text = "?";
        size_t add = strlen(text);
        if (used + add + 1 > cap)
            break;
        memcpy(out + used, text, add);
        used += add;
        i += len ? len : 1;
    }
    if (cap)
        out[used] = '\0';
}
