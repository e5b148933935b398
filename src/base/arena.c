/* arena.c -- memory of a lesson, taken in pieces from chunks and released at
 * once. */
#include "base/arena.h"

#include <stdalign.h>
#include <string.h>

#include "base/mem.h"
#include "mem_priv.h"

enum { CHUNK_BYTES = 16384 };

struct lab_arena_chunk {
    struct lab_arena_chunk *next;
    size_t used;
    size_t size;
    alignas(max_align_t) unsigned char bytes[];
};

static struct lab_arena_chunk *add_chunk(struct lab_arena *a, size_t need)
{
    size_t size = need > CHUNK_BYTES ? need : CHUNK_BYTES;
    size_t total;
    if (!lab_add_size(size, sizeof(struct lab_arena_chunk), &total))
        return NULL;
    struct lab_arena_chunk *c = lab_alloc(total);
    if (!c)
        return NULL;
    c->size = size;
    /* A large piece goes behind the open chunk, so that its rest is used. */
    if (a->head && size > CHUNK_BYTES) {
        c->next = a->head->next;
        a->head->next = c;
    } else {
        c->next = a->head;
        a->head = c;
    }
    return c;
}

void *lab_arena_take(struct lab_arena *a, size_t bytes)
{
    size_t align = alignof(max_align_t);
    size_t need;
    if (lab_mem_refused() || !lab_add_size(bytes ? bytes : 1, align - 1, &need))
        return NULL;
    need &= ~(align - 1);
    struct lab_arena_chunk *c = a->head;
    if (!c || c->size - c->used < need)
        c = add_chunk(a, need);
    if (!c)
        return NULL;
    void *p = c->bytes + c->used;
    c->used += need;
    return p;
}

void *lab_arena_array(struct lab_arena *a, size_t count, size_t bytes_each)
{
    size_t bytes;
    if (!lab_mul_size(count, bytes_each, &bytes))
        return NULL;
    return lab_arena_take(a, bytes);
}

char *lab_arena_text(struct lab_arena *a, const char *text, size_t n)
{
    size_t bytes;
    if (!lab_add_size(n, 1, &bytes))
        return NULL;
    char *copy = lab_arena_take(a, bytes);
    if (copy && n)
        memcpy(copy, text, n);
    return copy;
}

void lab_arena_release(struct lab_arena *a)
{
    while (a->head) {
        struct lab_arena_chunk *next = a->head->next;
        lab_free(a->head);
        a->head = next;
    }
}
