#include <string.h>

#include "base/mem.h"
#include "join_priv.h"
#include "profiler/kernel_name.h"

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
    struct lab_kernel_names next = {0};
    next.capacity = n->capacity ? n->capacity * 2 : FIRST_CAPACITY;
    next.slots = lab_alloc_array(next.capacity, sizeof(*next.slots));
    if (!next.slots)
        return 0;
    for (size_t i = 0; i < n->capacity; i++) {
        if (n->slots[i].mangled != 0)
            *find(&next, n->slots[i].mangled) = n->slots[i];
    }
    next.count = n->count;
    lab_free(n->slots);
    *n = next;
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

void lab_kernel_names_fill(struct lab_kernel_names *names,
                           const struct lab_sink *sink, const char *mangled,
                           struct lab_kernel_record *k)
{
    k->mangled_name = mangled ? sink->intern(sink->user, mangled) : 0;
    k->demangled_name = 0;
    k->short_name = 0;
    if (k->mangled_name == 0)
        return;
    struct lab_kernel_name name = {0};
    if (names->capacity > 0)
        name = *find(names, k->mangled_name);
    if (name.mangled == 0) {
        name = make_name(sink, k->mangled_name, mangled);
        if (make_room(names)) {
            *find(names, name.mangled) = name;
            names->count++;
        }
    }
    k->demangled_name = name.demangled;
    k->short_name = name.short_name;
}

void lab_kernel_names_release(struct lab_kernel_names *names)
{
    lab_free(names->slots);
    memset(names, 0, sizeof(*names));
}
