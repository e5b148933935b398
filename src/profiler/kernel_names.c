#include <string.h>

#include "base/mem.h"
#include "join_priv.h"
#include "profiler/kernel_name.h"

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

static struct lab_kernel_name make_name(const struct lab_sink *sink,
                                        uint32_t id, const char *mangled)
{
    char bare[SHORT_BYTES];
    char *text = lab_kernel_demangle(mangled);
    lab_kernel_short_name(bare, sizeof(bare), text ? text : mangled);
    struct lab_kernel_name name = {
        .mangled = id,
        .demangled = text ? sink->intern(sink->user, text) : id,
        .short_name = sink->intern(sink->user, bare),
    };
    lab_free(text);
    return name;
}

static struct lab_kernel_name look_up(struct lab_kernel_names *names,
                                      const struct lab_sink *sink,
                                      const char *mangled)
{
    struct lab_kernel_name name = {0};
    uint32_t id = sink->intern(sink->user, mangled);
    if (id == 0)
        return name;
    if (names->capacity > 0)
        name = *find(names, id);
    if (name.mangled != 0)
        return name;
    name = make_name(sink, id, mangled);
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

void lab_kernel_names_fill(struct lab_kernel_names *names,
                           const struct lab_sink *sink, const char *mangled,
                           struct lab_kernel_record *k)
{
    struct lab_kernel_name name = {0};
    struct lab_kernel_pointer *r = recent(names, mangled);
    /* What a pointer points to may be another kernel's name one day. */
    if (mangled && r->at == mangled && r->text && !strcmp(r->text, mangled)) {
        name = r->name;
    } else if (mangled) {
        name = look_up(names, sink, mangled);
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
