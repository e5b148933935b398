/* intern.c -- gives each name a number, once for the process.
 *
 * Records have fixed sizes and carry the number; a reader of the record asks
 * for the text. Adding takes a lock, reading takes none; any thread may do
 * both. */
#include "trace/intern.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/mem.h"
#include "base/names.h"

/* Texts live in chunks that never move, so that reading a name takes no lock;
 * the lock is for adding. */
enum { CHUNK = 1024, CHUNKS = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char **_Atomic chunks[CHUNKS];
static _Atomic uint32_t count = 1; /* id 0 is "" */
static struct lab_names ids;
static atomic_bool lacks_memory;

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

static uint32_t add_text(const char *text)
{
    uint32_t id = atomic_load(&count);
    if (id / CHUNK >= CHUNKS)
        return 0;
    char **chunk = atomic_load(&chunks[id / CHUNK]);
    if (!chunk) {
        chunk = lab_alloc_array(CHUNK, sizeof(*chunk));
        if (!chunk)
            return 0;
        atomic_store_explicit(&chunks[id / CHUNK], chunk, memory_order_release);
    }
    char *copy = lab_strdup(text);
    if (!copy || !lab_names_add(&ids, copy, id)) {
        lab_free(copy);
        return 0;
    }
    chunk[id % CHUNK] = copy;
    atomic_store_explicit(&count, id + 1, memory_order_release);
    return id;
}

bool lab_intern_lacks_memory(void)
{
    return atomic_load(&lacks_memory);
}

uint32_t lab_intern(const char *text)
{
    if (!text || !*text)
        return 0;
    pthread_mutex_lock(&lock);
    int64_t known = lab_names_find(&ids, text);
    uint32_t id = known > 0 ? (uint32_t)known : add_text(text);
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
    lab_names_release(&ids);
    atomic_store(&count, 1);
    pthread_mutex_unlock(&lock);
}
