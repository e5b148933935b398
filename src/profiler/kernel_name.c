/* kernel_name.c -- a kernel's demangled name, in full and shortened for a column. */
#include "profiler/kernel_name.h"

#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "join_priv.h"
#include "trace/intern.h"

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

_Static_assert(LAB_KERNEL_POINTERS == 1 << 8, "the top 8 bits of a hash");

enum { FIRST_CAPACITY = 64, SHORT_BYTES = 256 };

static struct lab_kernel_name *find(const struct lab_kernel_names *n,
                                    uint32_t mangled)
{
    size_t i = (mangled * 2654435761u) & (n->capacity - 1);
    while (n->slots[i].mangled != 0 && n->slots[i].mangled != mangled)
        i = (i + 1) & (n->capacity - 1);
    return &n->slots[i];
}

/* Keeps at least half of the slots empty; false: no memory for one more. */
static int make_room(struct lab_kernel_names *n)
{
    if (n->count * 2 < n->capacity)
        return 1;
    size_t old_capacity = n->capacity;
    struct lab_kernel_name *old = n->slots;
    size_t capacity = old_capacity ? old_capacity * 2 : FIRST_CAPACITY;
    struct lab_kernel_name *slots = lab_alloc_array(capacity, sizeof(*slots));
    if (!slots)
        return 0;
    n->slots = slots;
    n->capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++) {
        if (old[i].mangled != 0)
            *find(n, old[i].mangled) = old[i];
    }
    lab_free(old);
    return 1;
}

static struct lab_kernel_name make_name(uint32_t id, const char *mangled)
{
    char bare[SHORT_BYTES];
    char *text = lab_kernel_demangle(mangled);
    lab_kernel_short_name(bare, sizeof(bare), text ? text : mangled);
    struct lab_kernel_name name = {
        .mangled = id,
        .demangled = text ? lab_intern(text) : id,
        .short_name = lab_intern(bare),
    };
    lab_free(text);
    return name;
}

static struct lab_kernel_name look_up(struct lab_kernel_names *names,
                                      const char *mangled)
{
    struct lab_kernel_name name = {0};
    uint32_t id = lab_intern(mangled);
    if (id == 0)
        return name;
    if (names->capacity > 0)
        name = *find(names, id);
    if (name.mangled != 0)
        return name;
    name = make_name(id, mangled);
    if (make_room(names)) {
        *find(names, id) = name;
        names->count++;
    }
    return name;
}

static struct lab_kernel_pointer *recent(struct lab_kernel_names *names,
                                         const char *mangled)
{
    uint64_t hash = (uint64_t)(uintptr_t)mangled * UINT64_C(0x9E3779B97F4A7C15);
    return &names->recent[hash >> 56];
}

void lab_kernel_names_fill(struct lab_kernel_names *names, const char *mangled,
                           struct lab_kernel_record *k)
{
    struct lab_kernel_name name = {0};
    struct lab_kernel_pointer *r = recent(names, mangled);
    /* What a pointer points to may be another kernel's name one day. */
    if (mangled && r->at == mangled && r->text && !strcmp(r->text, mangled)) {
        name = r->name;
    } else if (mangled) {
        name = look_up(names, mangled);
        lab_free(r->text);
        *r = (struct lab_kernel_pointer){mangled, lab_strdup(mangled), name};
    }
    k->mangled_name = name.mangled;
    k->demangled_name = name.demangled;
    k->short_name = name.short_name;
}

void lab_kernel_names_release(struct lab_kernel_names *names)
{
    for (int i = 0; i < LAB_KERNEL_POINTERS; i++)
        lab_free(names->recent[i].text);
    lab_free(names->slots);
    memset(names, 0, sizeof(*names));
}
