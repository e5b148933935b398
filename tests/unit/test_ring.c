/* The ring between the threads that record and the writer: order and bytes are
 * kept, a full ring waits and then drops, closing wakes every sleeper. */
#include "test.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/ring.h"

struct item {
    uint32_t producer;
    uint32_t number;
    unsigned char filler[13]; /* an odd size */
};

static const int64_t MS = 1000000;

TEST_CASE(rejects_bad_arguments)
{
    struct lab_ring *ring = NULL;
    assert_int_equal(lab_ring_new(&ring, 0, 8, 0), LAB_E_ARG);
    assert_int_equal(lab_ring_new(&ring, 8, 0, 0), LAB_E_ARG);
    assert_int_equal(lab_ring_new(&ring, 8, 8, -1), LAB_E_ARG);
    assert_int_equal(lab_ring_new(&ring, SIZE_MAX, 8, 0), LAB_E_ARG);
    assert_int_equal(lab_ring_new(&ring, SIZE_MAX / 8, 64, 0), LAB_E_NOMEM);
    assert_null(ring);
    lab_ring_free(NULL);
}

TEST_CASE(keeps_order_and_bytes)
{
    struct lab_ring *ring;
    struct item out[7];
    struct lab_ring_stats stats;
    uint32_t next_in = 0;
    uint32_t next_out = 0;
    assert_ok(lab_ring_new(&ring, 5, sizeof(struct item), 0));
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 1 + round % 7; i++) {
            struct item in = {.producer = 1, .number = next_in};
            memset(in.filler, (int)(next_in & 0xFF), sizeof(in.filler));
            if (lab_ring_push(ring, &in))
                next_in++;
        }
        size_t n = lab_ring_pop(ring, out, (size_t)(1 + round % 5), 0);
        for (size_t i = 0; i < n; i++, next_out++) {
            assert_int_equal(out[i].number, next_out);
            assert_int_equal(out[i].filler[12], next_out & 0xFF);
        }
    }
    lab_ring_get_stats(ring, &stats);
    assert_int_equal(stats.pushed, next_in);
    assert_int_equal(stats.popped, next_out);
    assert_true(stats.dropped > 0); /* more went in than came out */
    assert_int_equal(stats.waits, stats.dropped);
    assert_int_equal(stats.high_water, 8); /* 5 rounded up, and it was full */
    lab_ring_free(ring);
}

/* Whatever was in it before it was empty: all its slots, in order. */
TEST_CASE(an_emptied_ring_holds_as_much)
{
    enum { SLOTS = 8 };
    struct lab_ring *ring;
    int64_t out[SLOTS];
    int64_t next = 0;
    int64_t want = 0;
    assert_ok(lab_ring_new(&ring, SLOTS, sizeof(next), 0));
    for (int before = 0; before < 2 * SLOTS; before++) {
        for (int i = 0; i < before % SLOTS; i++, next++)
            assert_true(lab_ring_push(ring, &next));
        want += (int64_t)lab_ring_pop(ring, out, SLOTS, 0);
        assert_int_equal(want, next);
        for (int i = 0; i < SLOTS; i++, next++)
            assert_true(lab_ring_push(ring, &next));
        assert_false(lab_ring_push(ring, &next));
        assert_int_equal(lab_ring_pop(ring, out, SLOTS / 2, 0), SLOTS / 2);
        assert_true(lab_ring_push(ring, &next));
        next++;
        assert_int_equal(lab_ring_pop(ring, out + SLOTS / 2, SLOTS / 2, 0),
                         SLOTS / 2);
        for (int i = 0; i < SLOTS; i++, want++)
            assert_int_equal(out[i], want);
        assert_int_equal(lab_ring_pop(ring, out, SLOTS, 0), 1);
        assert_int_equal(out[0], want++);
    }
    lab_ring_free(ring);
}

TEST_CASE(full_ring_waits_then_drops)
{
    struct lab_ring *ring;
    struct lab_ring_stats stats;
    int64_t x = 1;
    assert_ok(lab_ring_new(&ring, 2, sizeof(x), 20 * MS));
    assert_true(lab_ring_push(ring, &x));
    assert_true(lab_ring_push(ring, &x));
    int64_t begin = lab_clock_monotonic_ns();
    assert_false(lab_ring_push(ring, &x));
    int64_t took = lab_clock_monotonic_ns() - begin;
    assert_true(took >= 20 * MS);
    assert_true(took < 2000 * MS);
    lab_ring_get_stats(ring, &stats);
    assert_int_equal(stats.pushed, 2);
    assert_int_equal(stats.dropped, 1);
    assert_int_equal(stats.waits, 1);
    assert_true(stats.wait_ns >= 20 * MS);
    lab_ring_free(ring);
}

TEST_CASE(empty_ring_times_out)
{
    struct lab_ring *ring;
    int64_t x;
    assert_ok(lab_ring_new(&ring, 2, sizeof(x), 0));
    int64_t begin = lab_clock_monotonic_ns();
    assert_int_equal(lab_ring_pop(ring, &x, 1, 15 * MS), 0);
    assert_true(lab_clock_monotonic_ns() - begin >= 15 * MS);
    assert_int_equal(lab_ring_pop(ring, &x, 0, 15 * MS), 0);
    assert_false(lab_ring_drained(ring));
    lab_ring_free(ring);
}

TEST_CASE(closing_keeps_what_is_in_it)
{
    struct lab_ring *ring;
    int64_t x = 7;
    int64_t y = 0;
    struct lab_ring_stats stats;
    assert_ok(lab_ring_new(&ring, 4, sizeof(x), 1000 * MS));
    assert_true(lab_ring_push(ring, &x));
    lab_ring_close(ring);
    lab_ring_close(ring);
    assert_false(lab_ring_push(ring, &x)); /* at once, without waiting */
    assert_false(lab_ring_drained(ring));
    assert_int_equal(lab_ring_pop(ring, &y, 1, INT64_MAX), 1);
    assert_int_equal(y, 7);
    assert_true(lab_ring_drained(ring));
    assert_int_equal(lab_ring_pop(ring, &y, 1, INT64_MAX), 0);
    lab_ring_get_stats(ring, &stats);
    assert_int_equal(stats.pushed, 1);
    assert_int_equal(stats.popped, 1);
    assert_int_equal(stats.dropped, 1);
    lab_ring_free(ring);
}

enum { PRODUCERS = 4, EACH = 50000 };

struct producer {
    struct lab_ring *ring;
    uint32_t id;
    uint32_t refused;
};

static void *produce(void *arg)
{
    struct producer *p = arg;
    for (uint32_t i = 0; i < EACH; i++) {
        struct item in = {.producer = p->id, .number = i};
        p->refused += !lab_ring_push(p->ring, &in);
    }
    return NULL;
}

TEST_CASE(many_producers_lose_nothing)
{
    struct lab_ring *ring;
    struct producer p[PRODUCERS];
    pthread_t thread[PRODUCERS];
    uint32_t next[PRODUCERS] = {0};
    struct item out[33];
    uint32_t total = 0;
    assert_ok(lab_ring_new(&ring, 64, sizeof(struct item), 60000 * MS));
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        p[i] = (struct producer){.ring = ring, .id = i};
        assert_int_equal(pthread_create(&thread[i], NULL, produce, &p[i]), 0);
    }
    while (total < PRODUCERS * EACH) {
        size_t n = lab_ring_pop(ring, out, 33, 10000 * MS);
        assert_true(n > 0);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(out[i].number, next[out[i].producer]++);
        total += (uint32_t)n;
    }
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(p[i].refused, 0);
        assert_int_equal(next[i], EACH);
    }
    struct lab_ring_stats stats;
    lab_ring_get_stats(ring, &stats);
    assert_int_equal(stats.dropped, 0);
    assert_int_equal(stats.pushed, PRODUCERS * EACH);
    assert_int_equal(stats.popped, PRODUCERS * EACH);
    assert_true(stats.high_water <= 64);
    lab_ring_free(ring);
}

static void *close_soon(void *arg)
{
    struct timespec t = {0, 5000000};
    nanosleep(&t, NULL);
    lab_ring_close(arg);
    return NULL;
}

static void *hurry_soon(void *arg)
{
    struct timespec t = {0, 5000000};
    nanosleep(&t, NULL);
    lab_ring_hurry(arg);
    return NULL;
}

static void *push_soon(void *arg)
{
    struct timespec t = {0, 5000000};
    int64_t x = 1;
    nanosleep(&t, NULL);
    lab_ring_push(arg, &x);
    return NULL;
}

static int64_t rest_beside(struct lab_ring *ring, void *(*other)(void *),
                           int64_t ns)
{
    pthread_t thread;
    int64_t begin = lab_clock_monotonic_ns();
    assert_int_equal(pthread_create(&thread, NULL, other, ring), 0);
    lab_ring_rest(ring, ns);
    int64_t took = lab_clock_monotonic_ns() - begin;
    pthread_join(thread, NULL);
    return took;
}

TEST_CASE(a_rest_lets_records_come_together)
{
    struct lab_ring *ring;
    int64_t x = 0;
    assert_ok(lab_ring_new(&ring, 4, sizeof(x), 0));
    assert_true(rest_beside(ring, push_soon, 30 * MS) >= 30 * MS);
    assert_true(rest_beside(ring, push_soon, INT64_MAX) < 10000 * MS);
    assert_int_equal(lab_ring_pop(ring, &x, 1, 0), 1);
    assert_int_equal(lab_ring_pop(ring, &x, 1, 0), 1);
    assert_true(rest_beside(ring, hurry_soon, INT64_MAX) < 10000 * MS);
    lab_ring_hurry(ring); /* before the rest: this one, and not the next */
    lab_ring_rest(ring, INT64_MAX);
    assert_true(rest_beside(ring, push_soon, 30 * MS) >= 30 * MS);
    assert_true(rest_beside(ring, close_soon, INT64_MAX) < 10000 * MS);
    lab_ring_free(ring);
}

TEST_CASE(closing_wakes_sleepers)
{
    struct lab_ring *ring;
    pthread_t thread;
    int64_t x = 0;
    /* the consumer */
    assert_ok(lab_ring_new(&ring, 2, sizeof(x), 0));
    pthread_create(&thread, NULL, close_soon, ring);
    assert_int_equal(lab_ring_pop(ring, &x, 1, INT64_MAX), 0);
    pthread_join(thread, NULL);
    lab_ring_free(ring);
    /* a producer */
    assert_ok(lab_ring_new(&ring, 2, sizeof(x), INT64_MAX));
    lab_ring_push(ring, &x);
    lab_ring_push(ring, &x);
    pthread_create(&thread, NULL, close_soon, ring);
    assert_false(lab_ring_push(ring, &x));
    pthread_join(thread, NULL);
    lab_ring_free(ring);
}

/* Every record that push() took must come out, also of pushes that race with
 * the close. */
TEST_CASE(closing_races_with_pushes)
{
    for (int round = 0; round < 50; round++) {
        struct lab_ring *ring;
        struct producer p[2];
        pthread_t thread[2];
        struct item out[64];
        uint64_t total = 0;
        assert_ok(lab_ring_new(&ring, 128, sizeof(struct item), 1000 * MS));
        for (uint32_t i = 0; i < 2; i++) {
            p[i] = (struct producer){.ring = ring, .id = i};
            pthread_create(&thread[i], NULL, produce, &p[i]);
        }
        while (!lab_ring_drained(ring)) {
            total += lab_ring_pop(ring, out, 64, MS);
            if (total > 2000)
                lab_ring_close(ring);
        }
        pthread_join(thread[0], NULL);
        pthread_join(thread[1], NULL);
        assert_int_equal(total, 2 * EACH - p[0].refused - p[1].refused);
        lab_ring_free(ring);
    }
}

TEST_CASE(survives_short_memory)
{
    for (int64_t nth = 1; nth <= 3; nth++) {
        struct lab_ring *ring = NULL;
        lab_mem_fail_from(nth);
        enum lab_status st = lab_ring_new(&ring, 16, 8, 0);
        lab_mem_fail_from(0);
        assert_int_equal(st, nth < 3 ? LAB_E_NOMEM : LAB_OK);
        assert_int_equal(ring != NULL, st == LAB_OK);
        lab_ring_free(ring);
    }
}

RUN_TESTS()
