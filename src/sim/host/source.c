/* source.c -- a kernel's parameters as its source writes them: names, which PTX has
 * not, and types, which it has where a name is mangled only. The text is read as
 * words and brackets, before the preprocessor: what a macro makes is not known. */
#include "sim/argument.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/* ---- a text without comments, strings and lines of the preprocessor ---- */

static size_t comment_end(const char *p, size_t i, size_t n)
{
    bool line = p[i + 1] == '/';
    for (i += 2; i < n; i++) {
        if (line && p[i] == '\n')
            return i;
        if (!line && p[i - 1] == '*' && p[i] == '/')
            return i + 1;
    }
    return n;
}

static size_t quote_end(const char *p, size_t i, size_t n)
{
    char mark = p[i];
    for (i++; i < n && p[i] != mark && p[i] != '\n'; i++)
        i += p[i] == '\\';
    return i < n ? i + 1 : n;
}

static size_t directive_end(const char *p, size_t i, size_t n)
{
    while (i < n && p[i] != '\n')
        i += p[i] == '\\' && i + 1 < n ? 2 : 1;
    return i < n ? i : n;
}

static void blank(char *p, size_t n)
{
    bool starts = true; /* nothing but blanks on this line so far */
    for (size_t i = 0; i < n;) {
        size_t end = i + 1;
        /* 1'000 is a number. */
        bool quote =
            p[i] == '"' ||
            (p[i] == '\'' && !(i > 0 && isalnum((unsigned char)p[i - 1])));
        if (p[i] == '/' && i + 1 < n && (p[i + 1] == '/' || p[i + 1] == '*'))
            end = comment_end(p, i, n);
        else if (quote)
            end = quote_end(p, i, n);
        else if (p[i] == '#' && starts)
            end = directive_end(p, i, n);
        if (end > i + 1)
            memset(p + i, ' ', end - i);
        starts = p[i] == '\n' || (starts && isspace((unsigned char)p[i]));
        i = end;
    }
}

/* ---- a list of parameters ---- */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* What names no parameter: the last word of "const int". */
static bool is_type_word(const char *word, size_t n)
{
    static const char *const words[] = {
        "const",  "volatile", "__restrict__", "__restrict", "restrict",
        "struct", "enum",     "unsigned",     "signed",     "int",
        "long",   "short",    "char",         "bool",       "float",
        "double", "void",     "half",         "__half",     "typename"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strlen(words[i]) == n && memcmp(words[i], word, n) == 0)
            return true;
    return false;
}

/* Text from .. end with single blanks, and none at its ends. */
static void copy_words(char *out, size_t cap, const char *from, const char *end)
{
    size_t n = 0;
    for (; from < end && n + 1 < cap; from++) {
        bool space = isspace((unsigned char)*from);
        if (!space || (n > 0 && out[n - 1] != ' '))
            out[n++] = space ? ' ' : *from;
    }
    while (n > 0 && out[n - 1] == ' ')
        n--;
    out[n] = '\0';
}

/* "const float *x", "float (*x)[32]", "int n = 4". */
static void read_parameter(const char *from, const char *end,
                           struct lab_sim_parameter *out)
{
    const char *stop = memchr(from, '=', (size_t)(end - from));
    *out = (struct lab_sim_parameter){.name = ""};
    if (stop)
        end = stop;
    const char *turned = memmem(from, (size_t)(end - from), "(*", 2);
    stop = turned ? memchr(turned, ')', (size_t)(end - turned))
                  : memchr(from, '[', (size_t)(end - from));
    const char *last = stop ? stop : end;
    while (last > from && isspace((unsigned char)last[-1]))
        last--;
    const char *first = last;
    while (first > from && is_word(first[-1]))
        first--;
    size_t n = (size_t)(last - first);
    if (n > 0 && !isdigit((unsigned char)*first) && !is_type_word(first, n) &&
        n < sizeof(out->name))
        snprintf(out->name, sizeof(out->name), "%.*s", (int)n, first);
    if (turned)
        return;
    copy_words(out->type, sizeof(out->type) - 2, from,
               out->name[0] ? first : last);
    /* One word alone is a type. */
    if (!out->type[0]) {
        copy_words(out->type, sizeof(out->type) - 2, from, last);
        out->name[0] = '\0';
    }
    size_t used = strlen(out->type);
    if (stop)
        snprintf(out->type + used, sizeof(out->type) - used, " *");
}

/* From behind '(' on; the end of the list, or NULL: it is none of `count`. */
static const char *read_list(const char *p, const char *end,
                             struct lab_sim_parameter *out, int count)
{
    const char *from = p;
    int depth = 0;
    int n = 0;
    for (; p < end && *p != ';'; p++) {
        bool last = depth == 0 && *p == ')';
        if (last || (depth == 0 && *p == ',')) {
            char text[8];
            copy_words(text, sizeof(text), from, p);
            if (last && n == 0 && (!text[0] || strcmp(text, "void") == 0))
                return count == 0 ? p : NULL;
            if (n == count)
                return NULL;
            read_parameter(from, p, &out[n++]);
            from = p + 1;
        }
        if (last)
            return n == count ? p : NULL;
        depth += strchr("(<[{", *p) != NULL;
        depth -= depth > 0 && strchr(")>]}", *p) != NULL;
    }
    return NULL;
}

/* Is what stands before the name, from the end of what is before it, a kernel's? */
static bool is_kernel(const char *text, const char *name)
{
    static const char mark[] = "__global__";
    const size_t n = sizeof(mark) - 1;
    const char *p = name;
    while (p > text && !strchr(";{}", p[-1]))
        p--;
    return memmem(p, (size_t)(name - p), mark, n) != NULL;
}

bool lab_sim_source_parameters(const char *text, size_t bytes, const char *name,
                               struct lab_sim_parameter *out, int count)
{
    const size_t n = strlen(name);
    bool found = false;
    char *copy = lab_alloc(bytes + 1);
    struct lab_sim_parameter *now =
        lab_alloc_array((size_t)count + 1, sizeof(*now));
    if (copy && now && n > 0) {
        memcpy(copy, text, bytes);
        copy[bytes] = '\0';
        blank(copy, bytes);
    }
    const char *end = copy ? copy + bytes : NULL;
    for (const char *p = copy; copy && now && n > 0 && p < end; p++) {
        p = memmem(p, (size_t)(end - p), name, n);
        if (!p)
            break;
        const char *open = p + n;
        while (open < end && isspace((unsigned char)*open))
            open++;
        if (open == end || *open != '(' || (p > copy && is_word(p[-1])) ||
            !is_kernel(copy, p) || !read_list(open + 1, end, now, count))
            continue;
        /* Two of one name: what they agree on. */
        for (int i = 0; i < count; i++) {
            if (found && strcmp(out[i].name, now[i].name) != 0)
                now[i].name[0] = '\0';
            if (found && strcmp(out[i].type, now[i].type) != 0)
                now[i].type[0] = '\0';
            out[i] = now[i];
        }
        found = true;
    }
    lab_free(now);
    lab_free(copy);
    return found;
}
