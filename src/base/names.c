/* names.c -- a hash table of texts, with open addressing, at most half full.
 *
 * Numbers names in the order in which they come. The texts stay the caller's. A
 * plan finds its tensors with it, a vocabulary its words, intern.c its names. */
#include "base/names.h"

#include <string.h>

#include "base/mem.h"

struct lab_name_slot {
    const char *name; /* NULL: free */
    int64_t number;
};

/* FNV-1a, 64 bits. */
static uint64_t hash(const char *name)
{
    uint64_t h = 14695981039346656037u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 1099511628211u;
    return h ^ (h >> 32);
}

/* The slot that holds the name, or the free one where it belongs. */
static struct lab_name_slot *place(const struct lab_names *n, const char *name)
{
    size_t at = (size_t)hash(name) & (n->room - 1);
    while (n->slots[at].name && strcmp(n->slots[at].name, name) != 0)
        at = (at + 1) & (n->room - 1);
    return &n->slots[at];
}

static bool grow(struct lab_names *n)
{
    struct lab_names wider = {.room = n->room ? n->room * 2 : 64,
                              .used = n->used};
    wider.slots = lab_alloc_array(wider.room, sizeof(*wider.slots));
    if (!wider.slots)
        return false;
    for (size_t i = 0; i < n->room; i++) {
        if (n->slots[i].name)
            *place(&wider, n->slots[i].name) = n->slots[i];
    }
    lab_free(n->slots);
    *n = wider;
    return true;
}

bool lab_names_add(struct lab_names *n, const char *name, int64_t number)
{
    if (2 * (n->used + 1) > n->room && !grow(n))
        return false;
    struct lab_name_slot *s = place(n, name);
    if (!s->name) {
        *s = (struct lab_name_slot){name, number};
        n->used++;
    }
    return true;
}

int64_t lab_names_find(const struct lab_names *n, const char *name)
{
    const struct lab_name_slot *s = n->room ? place(n, name) : NULL;
    return s && s->name ? s->number : -1;
}

void lab_names_release(struct lab_names *n)
{
    lab_free(n->slots);
    *n = (struct lab_names){0};
}
