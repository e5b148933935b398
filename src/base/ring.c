/* ring.c -- the bounded queue between the threads that produce records and the
 * one that writes them. */
#include "base/ring.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"

/* A bounded queue with a turn number in every slot (Vyukov's scheme).
 *
 *   slot i, turn == pos      free for the push that owns position pos
 *           turn == pos + 1  holds the record of position pos
 *           turn == pos + capacity   free for the next round
 *
 * A producer takes its position with one compare-and-swap on `tail` and then
 * publishes the slot by its turn, so producers never wait for each other. The
 * top bit of `tail` is set when the ring is closed: the swap of a late push
 * then fails, and no record can slip in behind a consumer that has seen the
 * end. The mutex is only for sleeping. */

enum { CACHE_LINE = 64 };
#define CLOSED (UINT64_C(1) << 63)

struct slot {
    _Atomic uint64_t turn;
    unsigned char record[];
};

struct lab_ring {
    unsigned char *slots;
    size_t capacity; /* a power of two */
    size_t record_bytes;
    size_t stride;
    int64_t wait_ns;

    _Alignas(CACHE_LINE) _Atomic uint64_t tail;
    _Alignas(CACHE_LINE) _Atomic uint64_t head; /* written by the consumer */

    _Alignas(CACHE_LINE) pthread_mutex_t lock;
    pthread_cond_t not_empty;
    pthread_cond_t not_full;
    _Atomic int consumer_sleeps;
    _Atomic int producers_sleep;

    _Atomic uint64_t dropped;
    _Atomic uint64_t waits;
    _Atomic int64_t waited_ns;
    _Atomic size_t high_water;
};

static struct slot *slot_at(const struct lab_ring *ring, uint64_t pos)
{
    size_t i = (size_t)pos & (ring->capacity - 1);
    return (struct slot *)(void *)(ring->slots + i * ring->stride);
}

static enum lab_status sleepers_init(struct lab_ring *ring)
{
    pthread_condattr_t attr;
    if (pthread_condattr_init(&attr))
        return lab_fail(LAB_E_NOMEM, "ring: no condition variable");
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    int bad = pthread_mutex_init(&ring->lock, NULL);
    if (!bad && pthread_cond_init(&ring->not_empty, &attr)) {
        pthread_mutex_destroy(&ring->lock);
        bad = 1;
    }
    if (!bad && pthread_cond_init(&ring->not_full, &attr)) {
        pthread_cond_destroy(&ring->not_empty);
        pthread_mutex_destroy(&ring->lock);
        bad = 1;
    }
    pthread_condattr_destroy(&attr);
    if (bad)
        return lab_fail(LAB_E_NOMEM, "ring: no condition variable");
    return LAB_OK;
}

static enum lab_status take_memory(struct lab_ring **out, size_t capacity,
                                   size_t record_bytes)
{
    size_t bytes;
    size_t stride;
    struct lab_ring *ring = lab_alloc_aligned(sizeof(*ring));
    if (!ring)
        return lab_fail(LAB_E_NOMEM, "ring: no memory");
    if (!lab_add_size(sizeof(struct slot), record_bytes, &stride) ||
        !lab_add_size(stride, sizeof(struct slot) - 1, &stride))
        goto too_big;
    stride -= stride % sizeof(struct slot);
    if (!lab_mul_size(stride, capacity, &bytes))
        goto too_big;
    ring->slots = lab_alloc_aligned(bytes);
    if (!ring->slots)
        goto too_big;
    ring->capacity = capacity;
    ring->record_bytes = record_bytes;
    ring->stride = stride;
    *out = ring;
    return LAB_OK;
too_big:
    lab_free(ring);
    return lab_fail(LAB_E_NOMEM, "ring: no memory for %zu records of %zu bytes",
                    capacity, record_bytes);
}

enum lab_status lab_ring_new(struct lab_ring **out, size_t capacity,
                             size_t record_bytes, int64_t wait_ns)
{
    size_t rounded = 2;
    if (capacity < 1 || capacity > SIZE_MAX / 4 || record_bytes < 1 ||
        wait_ns < 0)
        return lab_fail(LAB_E_ARG, "ring: capacity %zu, record %zu bytes",
                        capacity, record_bytes);
    while (rounded < capacity)
        rounded *= 2;
    struct lab_ring *ring = NULL;
    enum lab_status st = take_memory(&ring, rounded, record_bytes);
    if (st)
        return st;
    st = sleepers_init(ring);
    if (st) {
        lab_free(ring->slots);
        lab_free(ring);
        return st;
    }
    ring->wait_ns = wait_ns;
    for (size_t i = 0; i < rounded; i++)
        atomic_init(&slot_at(ring, i)->turn, i);
    *out = ring;
    return LAB_OK;
}

void lab_ring_free(struct lab_ring *ring)
{
    if (!ring)
        return;
    pthread_cond_destroy(&ring->not_full);
    pthread_cond_destroy(&ring->not_empty);
    pthread_mutex_destroy(&ring->lock);
    lab_free(ring->slots);
    lab_free(ring);
}

static struct timespec deadline_at(int64_t ns)
{
    struct timespec t;
    t.tv_sec = (time_t)(ns / 1000000000);
    t.tv_nsec = (long)(ns % 1000000000);
    return t;
}

/* Far deadlines would overflow; a century is far enough. */
static int64_t after(int64_t ns)
{
    const int64_t century = INT64_C(100) * 365 * 24 * 3600 * 1000000000;
    return lab_clock_monotonic_ns() + (ns > century ? century : ns);
}

static void raise_high_water(struct lab_ring *ring, size_t seen)
{
    size_t old = atomic_load_explicit(&ring->high_water, memory_order_relaxed);
    while (seen > old &&
           !atomic_compare_exchange_weak(&ring->high_water, &old, seen))
        ;
}

enum claim { CLAIMED, FULL, SHUT };

static enum claim claim(struct lab_ring *ring, uint64_t *out)
{
    uint64_t pos = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    for (;;) {
        if (pos & CLOSED)
            return SHUT;
        uint64_t turn = atomic_load_explicit(&slot_at(ring, pos)->turn,
                                             memory_order_acquire);
        int64_t lead = (int64_t)(turn - pos);
        if (lead < 0) {
            uint64_t now =
                atomic_load_explicit(&ring->tail, memory_order_relaxed);
            if (now == pos)
                return FULL;
            pos = now;
        } else if (lead > 0) {
            pos = atomic_load_explicit(&ring->tail, memory_order_relaxed);
        } else if (atomic_compare_exchange_weak_explicit(
                       &ring->tail, &pos, pos + 1, memory_order_relaxed,
                       memory_order_relaxed)) {
            *out = pos;
            return CLAIMED;
        }
    }
}

/* The ring was full: sleep until the consumer has made room. */
static enum claim wait_for_room(struct lab_ring *ring, uint64_t *pos)
{
    int64_t begin = lab_clock_monotonic_ns();
    struct timespec deadline = deadline_at(after(ring->wait_ns));
    enum claim got;
    int timed_out = 0;
    raise_high_water(ring, ring->capacity);
    pthread_mutex_lock(&ring->lock);
    atomic_fetch_add(&ring->producers_sleep, 1);
    for (;;) {
        atomic_thread_fence(memory_order_seq_cst);
        got = claim(ring, pos);
        if (got != FULL || timed_out)
            break;
        timed_out =
            pthread_cond_timedwait(&ring->not_full, &ring->lock, &deadline);
    }
    atomic_fetch_sub(&ring->producers_sleep, 1);
    pthread_mutex_unlock(&ring->lock);
    atomic_fetch_add(&ring->waits, 1);
    atomic_fetch_add(&ring->waited_ns, lab_clock_monotonic_ns() - begin);
    return got;
}

bool lab_ring_push(struct lab_ring *ring, const void *record)
{
    uint64_t pos;
    enum claim got = claim(ring, &pos);
    if (got == FULL)
        got = wait_for_room(ring, &pos);
    if (got != CLAIMED) {
        atomic_fetch_add(&ring->dropped, 1);
        return false;
    }
    struct slot *slot = slot_at(ring, pos);
    memcpy(slot->record, record, ring->record_bytes);
    atomic_store_explicit(&slot->turn, pos + 1, memory_order_release);
    /* Either the consumer sees the record or we see that it sleeps. */
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&ring->consumer_sleeps, memory_order_relaxed)) {
        pthread_mutex_lock(&ring->lock);
        pthread_cond_signal(&ring->not_empty);
        pthread_mutex_unlock(&ring->lock);
    }
    return true;
}

static bool ready(const struct lab_ring *ring)
{
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    return atomic_load_explicit(&slot_at(ring, head)->turn,
                                memory_order_acquire) == head + 1;
}

/* Waits for the first record; false when none came. */
static bool wait_for_record(struct lab_ring *ring, int64_t timeout_ns)
{
    struct timespec deadline;
    bool got;
    int timed_out = 0;
    if (ready(ring))
        return true;
    if (timeout_ns <= 0)
        return false;
    deadline = deadline_at(after(timeout_ns));
    pthread_mutex_lock(&ring->lock);
    atomic_store(&ring->consumer_sleeps, 1);
    for (;;) {
        atomic_thread_fence(memory_order_seq_cst);
        got = ready(ring);
        if (got || timed_out || lab_ring_drained(ring))
            break;
        timed_out =
            pthread_cond_timedwait(&ring->not_empty, &ring->lock, &deadline);
    }
    atomic_store(&ring->consumer_sleeps, 0);
    pthread_mutex_unlock(&ring->lock);
    return got;
}

size_t lab_ring_pop(struct lab_ring *ring, void *records, size_t max,
                    int64_t timeout_ns)
{
    unsigned char *to = records;
    size_t n = 0;
    if (max == 0 || !wait_for_record(ring, timeout_ns))
        return 0;
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    raise_high_water(ring, (size_t)((tail & ~CLOSED) - head));
    while (n < max) {
        struct slot *slot = slot_at(ring, head);
        if (atomic_load_explicit(&slot->turn, memory_order_acquire) != head + 1)
            break;
        memcpy(to + n * ring->record_bytes, slot->record, ring->record_bytes);
        atomic_store_explicit(&slot->turn, head + ring->capacity,
                              memory_order_release);
        head++;
        n++;
    }
    atomic_store_explicit(&ring->head, head, memory_order_release);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&ring->producers_sleep, memory_order_relaxed)) {
        pthread_mutex_lock(&ring->lock);
        pthread_cond_broadcast(&ring->not_full);
        pthread_mutex_unlock(&ring->lock);
    }
    return n;
}

void lab_ring_close(struct lab_ring *ring)
{
    atomic_fetch_or(&ring->tail, CLOSED);
    pthread_mutex_lock(&ring->lock);
    pthread_cond_broadcast(&ring->not_empty);
    pthread_cond_broadcast(&ring->not_full);
    pthread_mutex_unlock(&ring->lock);
}

bool lab_ring_drained(const struct lab_ring *ring)
{
    uint64_t tail = atomic_load(&ring->tail);
    return tail == (atomic_load(&ring->head) | CLOSED);
}

void lab_ring_get_stats(const struct lab_ring *ring, struct lab_ring_stats *out)
{
    out->popped = atomic_load(&ring->head);
    out->pushed = atomic_load(&ring->tail) & ~CLOSED;
    out->dropped = atomic_load(&ring->dropped);
    out->waits = atomic_load(&ring->waits);
    out->wait_ns = atomic_load(&ring->waited_ns);
    out->high_water = atomic_load(&ring->high_water);
}
