/* The names of kernels for a person: demangled by the C++ library where there is
 * one, in full and shortened for a column. */
#include "base/kernel_name.h"

#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

typedef char *demangle_fn(const char *name, char *buffer, size_t *length,
                          int *status);
static demangle_fn *demangle;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The program is C and does not link the C++ library; it is there on every
 * machine that has CUDA, because libcublas and libcupti need it. */
static void find_demangler(void)
{
    void *symbol = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    if (!symbol) {
        void *lib = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
        symbol = lib ? dlsym(lib, "__cxa_demangle") : NULL;
    }
    memcpy(&demangle, &symbol, sizeof(demangle));
}

char *lab_kernel_demangle(const char *mangled)
{
    pthread_once(&once, find_demangler);
    if (!demangle || strncmp(mangled, "_Z", 2) != 0)
        return lab_strdup(mangled);
    int status = -1;
    char *text = demangle(mangled, NULL, NULL, &status);
    char *copy = lab_strdup(status == 0 && text ? text : mangled);
    free(text); /* malloc's, by the C++ ABI */
    return copy;
}

static void copy_part(char *out, size_t bytes, const char *from, size_t n)
{
    if (bytes == 0)
        return;
    if (n > bytes - 1)
        n = bytes - 1;
    memcpy(out, from, n);
    out[n] = '\0';
}

static bool identifier_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* "operator" and what follows it up to the parameters: <, >, () and the space
 * in it are no brackets and no scope. */
static size_t operator_length(const char *s)
{
    size_t n = strlen("operator");
    if (s[n] == '(' && s[n + 1] == ')')
        return n + 2;
    while (s[n] && s[n] != '(')
        n++;
    return n;
}

/* One pass: `start` is where the last part of the scope begins, `end` where
 * template arguments or parameters of that part begin. Stops at the parameter
 * list: the first '(' outside all brackets that follows a name. */
static void find_bare(const char *s, size_t *start, size_t *end)
{
    int depth = 0;
    size_t i = 0;
    bool cut = false; /* end is set for the part since start */
    *start = 0;
    while (s[i]) {
        bool word = i == 0 || !identifier_char(s[i - 1]);
        if (depth == 0 && word && strncmp(s + i, "operator", 8) == 0 &&
            !identifier_char(s[i + 8])) {
            *start = i;
            *end = i + operator_length(s + i);
            return;
        }
        char c = s[i];
        if (depth == 0 && c == '(' && i > *start)
            break;
        if (c == '<' || c == '(' || c == '{' || c == '[') {
            if (depth++ == 0 && !cut) {
                *end = i;
                cut = true;
            }
        } else if ((c == '>' || c == ')' || c == '}' || c == ']') &&
                   depth > 0) {
            depth--;
        } else if (depth == 0 && (c == ':' || c == ' ')) {
            *start = i + 1;
            cut = false;
        }
        i++;
    }
    if (!cut)
        *end = i;
}

/* "_Z<length><name>..." without a C++ library. */
static bool plain_mangled(const char *s, const char **name, size_t *n)
{
    if (strncmp(s, "_Z", 2) != 0 || !isdigit((unsigned char)s[2]))
        return false;
    char *rest;
    unsigned long length = strtoul(s + 2, &rest, 10);
    if (length == 0 || length > strlen(rest))
        return false;
    *name = rest;
    *n = length;
    return true;
}

void lab_kernel_short_name(char *out, size_t bytes, const char *demangled)
{
    const char *name;
    size_t n;
    if (plain_mangled(demangled, &name, &n)) {
        copy_part(out, bytes, name, n);
        return;
    }
    size_t start = 0;
    size_t end = 0;
    find_bare(demangled, &start, &end);
    if (end <= start) {
        copy_part(out, bytes, demangled, strlen(demangled));
        return;
    }
    copy_part(out, bytes, demangled + start, end - start);
}
