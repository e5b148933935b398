/* intern.c -- gives each name a number, once for the process. */
#include "trace/intern.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

/* Texts live in chunks that never move, so that reading a name takes no lock;
 * the lock is for adding. The hash table holds ids, open addressing. */
enum { CHUNK = 1024, CHUNKS = 4096, FIRST_SLOTS = 1024 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char **_Atomic chunks[CHUNKS];
static _Atomic uint32_t count = 1; /* id 0 is "" */
static uint32_t *slots;
static uint32_t slot_count;
static atomic_bool lacks_memory;

static uint64_t hash_text(const char *text)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return h ^ (h >> 32);
}

const char *lab_intern_text(uint32_t id)
{
    if (id == 0 || id >= atomic_load_explicit(&count, memory_order_acquire))
        return "";
    return atomic_load_explicit(&chunks[id / CHUNK],
                                memory_order_acquire)[id % CHUNK];
}

uint32_t lab_intern_count(void)
{
    return atomic_load_explicit(&count, memory_order_acquire);
}

/* The slot that holds `text`, or the free one where it belongs. */
static uint32_t *find_slot(const char *text)
{
    uint32_t mask = slot_count - 1;
    uint32_t i = (uint32_t)hash_text(text) & mask;
    while (slots[i] && strcmp(lab_intern_text(slots[i]), text) != 0)
        i = (i + 1) & mask;
    return &slots[i];
}

static int grow_table(void)
{
    uint32_t want = slot_count ? slot_count * 2 : FIRST_SLOTS;
    uint32_t *old = slots;
    uint32_t *fresh = lab_alloc_array(want, sizeof(*fresh));
    if (!fresh)
        return 0;
    slots = fresh;
    slot_count = want;
    for (uint32_t id = 1; id < atomic_load(&count); id++)
        *find_slot(lab_intern_text(id)) = id;
    lab_free(old);
    return 1;
}

static uint32_t add_text(const char *text)
{
    uint32_t id = atomic_load(&count);
    if (id / CHUNK >= CHUNKS)
        return 0;
    if ((uint64_t)id * 2 >= slot_count && !grow_table())
        return 0;
    char **chunk = atomic_load(&chunks[id / CHUNK]);
    if (!chunk) {
        chunk = lab_alloc_array(CHUNK, sizeof(*chunk));
        if (!chunk)
            return 0;
        atomic_store_explicit(&chunks[id / CHUNK], chunk, memory_order_release);
    }
    chunk[id % CHUNK] = lab_strdup(text);
    if (!chunk[id % CHUNK])
        return 0;
    *find_slot(text) = id;
    atomic_store_explicit(&count, id + 1, memory_order_release);
    return id;
}

bool lab_intern_lacks_memory(void)
{
    return atomic_load(&lacks_memory);
}

uint32_t lab_intern(const char *text)
{
    uint32_t id = 0;
    if (!text || !*text)
        return 0;
    pthread_mutex_lock(&lock);
    if (slots)
        id = *find_slot(text);
    if (!id)
        id = add_text(text);
    if (!id)
        atomic_store(&lacks_memory, true);
    pthread_mutex_unlock(&lock);
    return id;
}

void lab_intern_release(void)
{
    pthread_mutex_lock(&lock);
    for (uint32_t id = 1; id < atomic_load(&count); id++)
        lab_free(chunks[id / CHUNK][id % CHUNK]);
    for (uint32_t i = 0; i < CHUNKS; i++) {
        lab_free(chunks[i]);
        atomic_store(&chunks[i], NULL);
    }
    lab_free(slots);
    slots = NULL;
    slot_count = 0;
    atomic_store(&count, 1);
    pthread_mutex_unlock(&lock);
}
