/* direct.c -- direct colour for a terminal that is described with 256. Nearly
 * all terminals have direct colour and state it in COLORTERM; few machines have the
 * description that tells curses so. It is made here, of the loaded one, in the
 * format of term(5) with numbers of 32 bits, and is given to curses in TERMINFO. */
#include "term/direct.h"

#include <curses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <term.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

enum { MAGIC = 01036, DIRECT_COLORS = 1 << 24, DIRECT_PAIRS = 1 << 16 };
static const char variable[] = "TERMINFO";

/* The 16 colours of the terminal, then red, green, blue of 8 bits each. */
#define DIRECT(low, high, direct)                                              \
    "\033[%?%p1%{8}%<%t" low "%p1%d%e%p1%{16}%<%t" high "%p1%{8}%-%d%e" direct \
    ";2;%p1%{65536}%/%d;%p1%{256}%/%{255}%&%d;"                                \
    "%p1%{255}%&%d%;m"

static const struct {
    const char *name;
    const char *text; /* NULL: none */
} OTHER[] = {{"setaf", DIRECT("3", "9", "38")},
             {"setab", DIRECT("4", "10", "48")},
             {"setf", NULL},
             {"setb", NULL},
             {"initc", NULL},
             {"oc", NULL}};

static char *kept; /* TERMINFO as it was; NULL: it was not set */

bool lab_direct_wanted(const char *type, const char *color)
{
    if (tigetnum("colors") != 256 || (color && strcmp(color, "256") == 0))
        return false;
    if (color && strcmp(color, "direct") == 0)
        return true;
    const char *colors = getenv("COLORTERM");
    /* screen hands the variable on, and knows no direct colours; tmux does. */
    if (strncmp(type, "screen", 6) == 0 && !getenv("TMUX"))
        return false;
    return colors &&
           (strcmp(colors, "truecolor") == 0 || strcmp(colors, "24bit") == 0);
}

static void add_short(struct lab_str *out, int v)
{
    const char bytes[2] = {(char)(v & 0xFF), (char)(v >> 8 & 0xFF)};
    lab_str_add_bytes(out, bytes, sizeof(bytes));
}

static void add_number(struct lab_str *out, int v)
{
    add_short(out, v & 0xFFFF);
    add_short(out, v >> 16 & 0xFFFF);
}

static void align(struct lab_str *out)
{
    if (out->len % 2)
        lab_str_add_bytes(out, "", 1);
}

static const char *string_of(const char *name)
{
    for (size_t i = 0; i < sizeof(OTHER) / sizeof(OTHER[0]); i++)
        if (strcmp(OTHER[i].name, name) == 0)
            return OTHER[i].text;
    const char *text = tigetstr((char *)(uintptr_t)name);
    return text == (const char *)-1 ? NULL : text;
}

static int number_of(const char *name)
{
    return strcmp(name, "colors") == 0  ? DIRECT_COLORS
           : strcmp(name, "pairs") == 0 ? DIRECT_PAIRS
                                        : tigetnum((char *)(uintptr_t)name);
}

/* Names of one kind, in the order of the format. */
static int count(NCURSES_CONST char *const *names)
{
    int n = 0;
    while (names[n])
        n++;
    return n;
}

/* What the format has no place for: flags, RGB for direct colours among them; XM, how
 * the mouse is asked for; keys with Shift, Alt and Ctrl and those of the number pad:
 * their bytes would come as Esc and characters otherwise. */
enum {
    FLAGS = 3,
    PLAIN = 18,
    KEYS = 10,
    WITH = 5, /* "kUP3" to "kUP7" */
    NAME = 8,
    EXTENDED_MOST = PLAIN + KEYS * WITH
};

/* Their names, flags first, and how many there are. */
static int find_extended(char names[EXTENDED_MOST][NAME])
{
    static const char *const plain[PLAIN] = {
        "AX",    "RGB",   "XT",    "XM",    "kDN",   "kUP",
        "ka2",   "kb1",   "kb3",   "kc2",   "kpADD", "kpCMA",
        "kpDIV", "kpDOT", "kpMUL", "kpSUB", "kp5",   "kpZRO"};
    static const char *const keys[KEYS] = {"kDC",  "kDN",  "kEND", "kHOM",
                                           "kIC",  "kLFT", "kNXT", "kPRV",
                                           "kRIT", "kUP"};
    int n = 0;
    for (int i = 0; i < PLAIN; i++) {
        snprintf(names[n], NAME, "%s", plain[i]);
        n += i < FLAGS || string_of(names[n]);
    }
    for (int i = 0; i < KEYS * WITH; i++) {
        snprintf(names[n], NAME, "%s%d", keys[i / WITH], i % WITH + 3);
        n += string_of(names[n]) != NULL;
    }
    return n;
}

static void add_extended(struct lab_str *out)
{
    char names[EXTENDED_MOST][NAME];
    const int n = find_extended(names);
    const int strings = n - FLAGS;
    struct lab_str values;
    struct lab_str table;
    lab_str_init(&values);
    lab_str_init(&table);
    align(out);
    add_short(out, FLAGS);
    add_short(out, 0);
    add_short(out, strings);
    add_short(out, strings + n);
    for (int i = FLAGS; i < n; i++)
        lab_str_add_bytes(&values, string_of(names[i]),
                          strlen(string_of(names[i])) + 1);
    for (int i = 0; i < n; i++)
        lab_str_add_bytes(&table, names[i], strlen(names[i]) + 1);
    add_short(out, (int)(values.len + table.len));
    for (int i = 0; i < FLAGS; i++) {
        const bool is = strcmp(names[i], "RGB") == 0 || tigetflag(names[i]) > 0;
        lab_str_add_bytes(out, is ? "\1" : "\0", 1);
    }
    align(out);
    int at = 0;
    for (int i = FLAGS; i < n; i++) {
        add_short(out, at);
        at += (int)strlen(string_of(names[i])) + 1;
    }
    at = 0; /* names are counted from behind the values */
    for (int i = 0; i < n; i++) {
        add_short(out, at);
        at += (int)strlen(names[i]) + 1;
    }
    lab_str_add_bytes(out, lab_str_text(&values), values.len);
    lab_str_add_bytes(out, lab_str_text(&table), table.len);
    out->failed = out->failed || values.failed || table.failed;
    lab_str_release(&values);
    lab_str_release(&table);
}

static void add_description(struct lab_str *out, const char *type)
{
    const int bools = count(boolnames);
    const int numbers = count(numnames);
    const int strings = count(strnames);
    struct lab_str offsets;
    struct lab_str table;
    lab_str_init(&offsets);
    lab_str_init(&table);
    for (int i = 0; i < strings; i++) {
        const char *text = string_of(strnames[i]);
        add_short(&offsets, text ? (int)table.len : -1);
        if (text)
            lab_str_add_bytes(&table, text, strlen(text) + 1);
    }
    add_short(out, MAGIC);
    add_short(out, (int)strlen(type) + 1);
    add_short(out, bools);
    add_short(out, numbers);
    add_short(out, strings);
    add_short(out, (int)table.len);
    lab_str_add_bytes(out, type, strlen(type) + 1);
    for (int i = 0; i < bools; i++) {
        const bool is = strcmp(boolnames[i], "ccc") != 0 &&
                        tigetflag((char *)(uintptr_t)boolnames[i]) > 0;
        lab_str_add_bytes(out, is ? "\1" : "\0", 1);
    }
    align(out);
    for (int i = 0; i < numbers; i++) {
        const int v = number_of(numnames[i]);
        add_number(out, v >= 0 ? v : -1);
    }
    lab_str_add_bytes(out, lab_str_text(&offsets), offsets.len);
    lab_str_add_bytes(out, lab_str_text(&table), table.len);
    out->failed = out->failed || offsets.failed || table.failed;
    lab_str_release(&offsets);
    lab_str_release(&table);
    add_extended(out);
}

bool lab_direct_begin(const char *type, const char *color)
{
    struct lab_str bytes;
    struct lab_str hex;
    const char *old = getenv(variable);
    lab_str_init(&bytes);
    lab_str_init(&hex);
    const bool wanted = lab_direct_wanted(type, color);
    if (wanted)
        add_description(&bytes, type);
    lab_str_add(&hex, "hex:");
    for (size_t i = 0; i < bytes.len; i++)
        lab_str_addf(&hex, "%02x", (unsigned)(unsigned char)bytes.data[i]);
    kept = old ? lab_strdup(old) : NULL;
    const bool done = wanted && !bytes.failed && !hex.failed &&
                      (kept || !old) &&
                      setenv(variable, lab_str_text(&hex), 1) == 0;
    if (!done) {
        lab_free(kept);
        kept = NULL;
    }
    lab_str_release(&bytes);
    lab_str_release(&hex);
    return done;
}

void lab_direct_end(void)
{
    if (kept)
        setenv(variable, kept, 1);
    else
        unsetenv(variable);
    lab_free(kept);
    kept = NULL;
}
