/* ring.c -- the bounded queue between the threads that produce records and the
 * one that writes them: a ring of slots, one mutex, and two conditions. */
#include "base/ring.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"

/* Positions only grow; their low bits name a slot. A producer copies a
 * record in under the lock. The consumer copies out without it: what is between
 * `popped` and `pushed` is its own until it moves `popped` on. */
struct lab_ring {
    unsigned char *slots;
    size_t capacity; /* a power of two */
    size_t record_bytes;
    int64_t wait_ns;
    uint64_t first; /* the position that is slot 0 */

    pthread_mutex_t lock;
    pthread_cond_t not_empty;
    pthread_cond_t not_full;
    bool closed;
    bool consumer_sleeps;
    bool consumer_rests;
    bool hurried;
    int producers_sleep;
    struct lab_ring_stats stats;
};

static unsigned char *slot_at(const struct lab_ring *ring, uint64_t pos)
{
    return ring->slots + (size_t)((pos - ring->first) & (ring->capacity - 1)) *
                             ring->record_bytes;
}

static size_t filled(const struct lab_ring *ring)
{
    return (size_t)(ring->stats.pushed - ring->stats.popped);
}

/* Deadlines are on the clock that is never set. */
static enum lab_status init_sleepers(struct lab_ring *ring)
{
    pthread_condattr_t attr;
    int bad = pthread_condattr_init(&attr);
    if (bad)
        return lab_no_memory("the ring's conditions");
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    bad = pthread_mutex_init(&ring->lock, NULL) ||
          pthread_cond_init(&ring->not_empty, &attr) ||
          pthread_cond_init(&ring->not_full, &attr);
    pthread_condattr_destroy(&attr);
    return bad ? lab_no_memory("the ring's conditions") : LAB_OK;
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
    struct lab_ring *ring = lab_alloc(sizeof(*ring));
    size_t bytes = 0;
    /* In large pages, where the system has them: a small one would be mapped by the
     * producer, for every few records that it is ahead. */
    unsigned char *slots = lab_mul_size(rounded, record_bytes, &bytes)
                               ? lab_alloc_uncleared(bytes)
                               : NULL;
    enum lab_status st = LAB_OK;
    if (!ring || !slots)
        st = lab_fail(LAB_E_NOMEM,
                      "ring: no memory for %zu records of %zu bytes", rounded,
                      record_bytes);
    if (!st)
        st = init_sleepers(ring);
    if (st) {
        lab_free(slots);
        lab_free(ring);
        return st;
    }
    ring->slots = slots;
    ring->capacity = rounded;
    ring->record_bytes = record_bytes;
    ring->wait_ns = wait_ns;
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

/* Far deadlines would overflow; a century is far enough. */
static struct timespec deadline_in(int64_t ns)
{
    const int64_t century = INT64_C(100) * 365 * 24 * 3600 * 1000000000;
    int64_t at = lab_clock_monotonic_ns() + (ns > century ? century : ns);
    return (struct timespec){.tv_sec = (time_t)(at / 1000000000),
                             .tv_nsec = (long)(at % 1000000000)};
}

/* The ring was full: sleeps until the consumer has made room. */
static void wait_for_room(struct lab_ring *ring)
{
    int64_t begin = lab_clock_monotonic_ns();
    struct timespec deadline = deadline_in(ring->wait_ns);
    int timed_out = 0;
    ring->producers_sleep++;
    while (filled(ring) == ring->capacity && !ring->closed && !timed_out)
        timed_out =
            pthread_cond_timedwait(&ring->not_full, &ring->lock, &deadline);
    ring->producers_sleep--;
    ring->stats.waits++;
    ring->stats.wait_ns += lab_clock_monotonic_ns() - begin;
}

/* As many as end a rest: so producers have room while the consumer wakes. */
static bool half_full(const struct lab_ring *ring)
{
    return filled(ring) >= ring->capacity / 2;
}

bool lab_ring_push(struct lab_ring *ring, const void *record)
{
    pthread_mutex_lock(&ring->lock);
    if (filled(ring) == ring->capacity && !ring->closed)
        wait_for_room(ring);
    bool room = filled(ring) < ring->capacity && !ring->closed;
    if (room) {
        memcpy(slot_at(ring, ring->stats.pushed++), record, ring->record_bytes);
        if (filled(ring) > ring->stats.high_water)
            ring->stats.high_water = filled(ring);
        if (ring->consumer_sleeps || (ring->consumer_rests && half_full(ring)))
            pthread_cond_signal(&ring->not_empty);
    } else {
        ring->stats.dropped++;
    }
    pthread_mutex_unlock(&ring->lock);
    return room;
}

size_t lab_ring_pop(struct lab_ring *ring, void *records, size_t max,
                    int64_t timeout_ns)
{
    unsigned char *to = records;
    int timed_out = timeout_ns <= 0;
    struct timespec deadline = deadline_in(timeout_ns);
    pthread_mutex_lock(&ring->lock);
    ring->consumer_sleeps = true;
    while (max > 0 && filled(ring) == 0 && !ring->closed && !timed_out)
        timed_out =
            pthread_cond_timedwait(&ring->not_empty, &ring->lock, &deadline);
    ring->consumer_sleeps = false;
    uint64_t from = ring->stats.popped;
    size_t n = filled(ring) < max ? filled(ring) : max;
    pthread_mutex_unlock(&ring->lock);
    if (n == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        memcpy(to + i * ring->record_bytes, slot_at(ring, from + i),
               ring->record_bytes);
    pthread_mutex_lock(&ring->lock);
    ring->stats.popped += n;
    /* An empty ring begins at its first slot: memory that the caches have. */
    if (filled(ring) == 0)
        ring->first = ring->stats.pushed;
    if (ring->producers_sleep > 0)
        pthread_cond_broadcast(&ring->not_full);
    pthread_mutex_unlock(&ring->lock);
    return n;
}

void lab_ring_rest(struct lab_ring *ring, int64_t ns)
{
    int timed_out = 0;
    struct timespec deadline = deadline_in(ns);
    pthread_mutex_lock(&ring->lock);
    ring->consumer_rests = true;
    while (!ring->hurried && !half_full(ring) && !ring->closed && !timed_out)
        timed_out =
            pthread_cond_timedwait(&ring->not_empty, &ring->lock, &deadline);
    ring->consumer_rests = ring->hurried = false;
    pthread_mutex_unlock(&ring->lock);
}

void lab_ring_hurry(struct lab_ring *ring)
{
    pthread_mutex_lock(&ring->lock);
    ring->hurried = true;
    if (ring->consumer_rests)
        pthread_cond_signal(&ring->not_empty);
    pthread_mutex_unlock(&ring->lock);
}

void lab_ring_close(struct lab_ring *ring)
{
    pthread_mutex_lock(&ring->lock);
    ring->closed = true;
    pthread_cond_broadcast(&ring->not_empty);
    pthread_cond_broadcast(&ring->not_full);
    pthread_mutex_unlock(&ring->lock);
}

bool lab_ring_drained(struct lab_ring *ring)
{
    pthread_mutex_lock(&ring->lock);
    bool drained = ring->closed && filled(ring) == 0;
    pthread_mutex_unlock(&ring->lock);
    return drained;
}

void lab_ring_get_stats(struct lab_ring *ring, struct lab_ring_stats *out)
{
    pthread_mutex_lock(&ring->lock);
    *out = ring->stats;
    pthread_mutex_unlock(&ring->lock);
}
