/* base/ring.h -- a bounded queue of fixed-size records, many producers, one
 * consumer.
 *
 * The engine's thread, CUPTI's worker and the profiler put records in; the
 * writer's thread takes them out. Memory is taken once, at lab_ring_new().
 *
 * When the ring is full the policy is: the producer waits, at most `wait_ns`
 * altogether per record, until the consumer has made room; only then is the
 * record dropped. Both are counted (lab_ring_stats) and shown; neither is
 * silent. Records of one producer come out in the order they went in.
 * Threads: push, hurry and stats any; pop and rest one. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"

struct lab_ring;

struct lab_ring_stats {
    uint64_t pushed;
    uint64_t popped;
    uint64_t dropped;
    uint64_t waits;    /* pushes that found the ring full */
    int64_t wait_ns;   /* time that producers spent waiting, summed */
    size_t high_water; /* most records in the ring at once */
};

LAB_C_BEGIN
/* capacity is rounded up to a power of two.
 * Errors: LAB_E_ARG, LAB_E_NOMEM. */
enum lab_status lab_ring_new(struct lab_ring **out, size_t capacity,
                             size_t record_bytes, int64_t wait_ns);
void lab_ring_free(struct lab_ring *ring); /* NULL allowed */
/* Copies one record in. false: dropped (full for wait_ns, or closed). */
bool lab_ring_push(struct lab_ring *ring, const void *record);
/* Copies up to `max` records out; waits up to timeout_ns for the first one.
 * 0: nothing came, or the ring is closed and empty (lab_ring_drained). */
size_t lab_ring_pop(struct lab_ring *ring, void *records, size_t max,
                    int64_t timeout_ns);
/* The consumer lets records come together: returns after `ns`, or earlier when the
 * ring is half full, closed or hurried. A push in between wakes no thread, and so
 * costs its producer no call of the system. */
void lab_ring_rest(struct lab_ring *ring, int64_t ns);
/* Ends the rest of the consumer, or else its next one. */
void lab_ring_hurry(struct lab_ring *ring);
/* No more pushes; what is in it can still be taken out. */
void lab_ring_close(struct lab_ring *ring);
bool lab_ring_drained(struct lab_ring *ring); /* closed and empty */
void lab_ring_get_stats(struct lab_ring *ring, struct lab_ring_stats *out);
LAB_C_END
