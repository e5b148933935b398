/* Names to ids: three tables of open addressing, at most half full. */
#include <string.h>

#include "base/mem.h"
#include "plan_priv.h"

struct slot {
    const char *name; /* NULL: free */
    int id;
};

struct table {
    struct slot *slots;
    size_t room; /* a power of two */
    size_t used;
};

struct lab_names {
    struct table table[LAB_NAME_KINDS];
};

/* FNV-1a, 64 bits. */
static uint64_t hash(const char *name)
{
    uint64_t h = 14695981039346656037u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 1099511628211u;
    return h;
}

/* The slot that holds the name, or the free one where it belongs. */
static struct slot *place(const struct table *t, const char *name)
{
    size_t at = (size_t)hash(name) & (t->room - 1);
    while (t->slots[at].name && strcmp(t->slots[at].name, name) != 0)
        at = (at + 1) & (t->room - 1);
    return &t->slots[at];
}

static bool grow(struct table *t)
{
    struct table wider = {.room = t->room ? t->room * 2 : 64, .used = t->used};
    wider.slots = lab_alloc_array(wider.room, sizeof(*wider.slots));
    if (!wider.slots)
        return false;
    for (size_t i = 0; i < t->room; i++) {
        if (t->slots[i].name)
            *place(&wider, t->slots[i].name) = t->slots[i];
    }
    lab_free(t->slots);
    *t = wider;
    return true;
}

struct lab_names *lab_names_new(void)
{
    return lab_alloc(sizeof(struct lab_names));
}

void lab_names_free(struct lab_names *n)
{
    for (int k = 0; n && k < LAB_NAME_KINDS; k++)
        lab_free(n->table[k].slots);
    lab_free(n);
}

bool lab_names_add(struct lab_names *n, enum lab_name_kind kind,
                   const char *name, int id)
{
    struct table *t = &n->table[kind];
    if (2 * (t->used + 1) > t->room && !grow(t))
        return false;
    struct slot *s = place(t, name);
    if (!s->name) {
        *s = (struct slot){name, id};
        t->used++;
    }
    return true;
}

int lab_names_find(const struct lab_names *n, enum lab_name_kind kind,
                   const char *name)
{
    if (!n || n->table[kind].room == 0)
        return -1;
    const struct table *t = &n->table[kind];
    const struct slot *s = place(t, name);
    return s->name ? s->id : -1;
}
