/* mem.c -- all allocation of the program: sizes checked for overflow, zeroed, and
 * able to fail at the Nth call for the fault tests; and arenas, memory taken in pieces
 * from chunks and released at once. */
#include "base/mem.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/group.h"

static _Atomic int64_t tried;
static _Atomic int64_t fail_from;

/* Counts a piece of memory; true: it is to fail. */
static bool refused(void)
{
    /* A counter and no more: it must not order the threads that allocate. */
    int64_t n = atomic_fetch_add_explicit(&tried, 1, memory_order_relaxed) + 1;
    int64_t from = atomic_load_explicit(&fail_from, memory_order_relaxed);
    return from > 0 && n >= from;
}

void lab_mem_fail_from(int64_t nth)
{
    atomic_store(&tried, 0);
    atomic_store(&fail_from, nth);
}

int64_t lab_mem_count(void)
{
    return atomic_load(&tried);
}

int lab_mul_size(size_t a, size_t b, size_t *out)
{
    if (a != 0 && b > SIZE_MAX / a)
        return 0;
    *out = a * b;
    return 1;
}

int lab_add_size(size_t a, size_t b, size_t *out)
{
    if (b > SIZE_MAX - a)
        return 0;
    *out = a + b;
    return 1;
}

void *lab_alloc(size_t bytes)
{
    if (refused())
        return NULL;
    return calloc(1, bytes ? bytes : 1);
}

void *lab_alloc_array(size_t count, size_t bytes_each)
{
    size_t bytes;
    if (!lab_mul_size(count, bytes_each, &bytes))
        return NULL;
    return lab_alloc(bytes);
}

void *lab_realloc_array(void *p, size_t count, size_t bytes_each)
{
    size_t bytes;
    if (!lab_mul_size(count, bytes_each, &bytes) || refused())
        return NULL;
    return realloc(p, bytes ? bytes : 1);
}

enum lab_status lab_grow(void *list, size_t count, size_t *room, size_t each,
                         const char *what)
{
    enum { FIRST = 32 };
    void *items;
    if (count < *room)
        return LAB_OK;
    size_t more = *room ? *room * 2 : FIRST;
    memcpy(&items, list, sizeof(items)); /* a pointer of any type */
    items = lab_realloc_array(items, more, each);
    if (!items)
        return lab_no_memory(what);
    memcpy(list, &items, sizeof(items));
    *room = more;
    return LAB_OK;
}

enum { LARGE_PAGE = 2 << 20 };

/* In pages of 2 MiB, where the system has them: a page of 4 KiB is mapped when it is
 * first written, which takes as long as to copy it. */
static void *alloc_pages(size_t bytes)
{
    void *p = NULL; /* aligned_alloc() takes whole pages only */
    if (posix_memalign(&p, LARGE_PAGE, bytes) != 0)
        return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(p, bytes, MADV_HUGEPAGE);
#endif
    return p;
}

void *lab_alloc_uncleared(size_t bytes)
{
    enum { ALIGN = 64 };
    size_t padded;
    if (!lab_add_size(bytes ? bytes : 1, ALIGN - 1, &padded) || refused())
        return NULL;
    padded &= ~(size_t)(ALIGN - 1);
    return padded >= LARGE_PAGE ? alloc_pages(padded)
                                : aligned_alloc(ALIGN, padded);
}

void *lab_alloc_aligned(size_t bytes)
{
    void *p = lab_alloc_uncleared(bytes);
    if (p)
        memset(p, 0, bytes);
    return p;
}

void lab_free(void *p)
{
    free(p);
}

void *lab_map(uint64_t at, size_t bytes)
{
    if (refused())
        return NULL;
    /* A wish: the system keeps to it where the addresses are free. */
    void *p = mmap((void *)(uintptr_t)at, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void lab_unmap(void *p, size_t bytes)
{
    if (p)
        munmap(p, bytes);
}

char *lab_strndup(const char *s, size_t bytes)
{
    char *copy = lab_alloc(bytes + 1);
    if (copy)
        memcpy(copy, s, bytes);
    return copy;
}

char *lab_strdup(const char *s)
{
    return lab_strndup(s, strlen(s));
}

int64_t lab_host_memory(void)
{
    int64_t pages = sysconf(_SC_PHYS_PAGES);
    int64_t page = sysconf(_SC_PAGESIZE);
    double limit = lab_group_limit("", "memory.max");
    int64_t has = pages > 0 && page > 0 ? pages * page : 0;
    return limit > 0 && (has == 0 || limit < (double)has) ? (int64_t)limit
                                                          : has;
}

/* ---- arenas ---- */

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
    if (refused() || !lab_add_size(bytes ? bytes : 1, align - 1, &need))
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
