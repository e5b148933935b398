/* Loops on all threads: each item is computed once, in parts that depend on the
 * length and the number of threads alone, also within a part and from two threads
 * at a time. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "test.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/parallel.h"

enum { MOST = 5000 };

struct loop {
    atomic_int times[MOST]; /* how often an item was computed */
    int64_t part[MOST];     /* where its part begins */
    bool within;
};

static void count(const void *arg, int64_t from, int64_t to)
{
    struct loop *l = (struct loop *)(uintptr_t)arg;
    assert_true(from < to);
    for (int64_t i = from; i < to; i++) {
        atomic_fetch_add(&l->times[i], 1);
        l->part[i] = from;
    }
}

static struct loop *run(int64_t n, int64_t grain, int threads)
{
    struct loop *l = lab_alloc(sizeof(*l));
    assert_non_null(l);
    lab_threads_set(threads);
    lab_parallel(n, grain, count, l);
    for (int64_t i = 0; i < MOST; i++)
        assert_int_equal(atomic_load(&l->times[i]), i < n ? 1 : 0);
    return l;
}

TEST_CASE(each_item_is_computed_once)
{
    const int64_t lengths[] = {0, 1, 2, 15, 16, 17, 97, 1024, 4999};
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
        for (int64_t grain = 1; grain < 5000; grain = grain * 7 + 3)
            for (int threads = 1; threads <= 9; threads += 2)
                lab_free(run(lengths[i], grain, threads));
}

TEST_CASE(parts_depend_on_length_and_threads_alone)
{
    struct loop *first = run(4999, 10, 4);
    int parts = 0;
    for (int64_t i = 0; i < 4999; i++)
        parts += first->part[i] == i;
    assert_true(parts > 1 && parts <= 16);
    for (int turn = 0; turn < 20; turn++) {
        struct loop *again = run(4999, 10, 4);
        assert_memory_equal(first->part, again->part, sizeof(first->part));
        lab_free(again);
    }
    for (int64_t i = 0; i < 4999; i++)
        assert_int_equal(first->part[i] % 16, 0);
    lab_free(first);
}

TEST_CASE(a_part_is_never_smaller_than_the_grain_by_more_than_a_vector)
{
    struct loop *l = run(1000, 300, 8);
    int parts = 0;
    for (int64_t i = 0; i < 1000; i++)
        parts += l->part[i] == i;
    assert_int_equal(parts, 3);
    lab_free(l);
}

static void nested(const void *arg, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++)
        lab_parallel(16, 1, count, (const struct loop *)arg + i);
    assert_true(lab_in_part());
}

static void whole(const void *arg, int64_t from, int64_t to)
{
    (void)from;
    (void)to;
    assert_int_equal(lab_in_part(), *(const bool *)arg);
}

static void one_part(const void *arg, int64_t from, int64_t to)
{
    (void)from;
    (void)to;
    lab_parallel(1, 1, whole, arg);
}

/* A loop of one part has no other threads to give work to, and reports that only within one
 * of several. */
TEST_CASE(what_runs_in_a_part_is_known)
{
    static const bool yes = true;
    static const bool no = false;
    lab_threads_set(4);
    assert_false(lab_in_part());
    lab_parallel(1, 1, one_part, &no);
    lab_parallel(64, 1, one_part, &yes);
    assert_false(lab_in_part());
    lab_threads_set(1);
    lab_parallel(64, 1, one_part, &no);
}

TEST_CASE(a_loop_within_a_part_runs)
{
    enum { LOOPS = 32 };
    struct loop *l = lab_alloc(LOOPS * sizeof(*l));
    assert_non_null(l);
    lab_threads_set(4);
    lab_parallel(LOOPS, 1, nested, l);
    for (int i = 0; i < LOOPS; i++)
        for (int k = 0; k < 16; k++)
            assert_int_equal(atomic_load(&l[i].times[k]), 1);
    lab_free(l);
}

static void *many(void *unused)
{
    struct loop *l = lab_alloc(sizeof(*l));
    enum { TURNS = 300 };
    for (int turn = 0; l && turn < TURNS; turn++)
        lab_parallel(MOST, 100, count, l);
    for (int64_t i = 0; l && i < MOST; i++)
        if (atomic_load(&l->times[i]) != TURNS)
            unused = l; /* not NULL: wrong */
    lab_free(l);
    return unused;
}

TEST_CASE(two_threads_may_loop_at_a_time)
{
    pthread_t other;
    void *wrong = NULL;
    lab_threads_set(3);
    assert_int_equal(pthread_create(&other, NULL, many, NULL), 0);
    assert_null(many(NULL));
    assert_int_equal(pthread_join(other, &wrong), 0);
    assert_null(wrong);
}

TEST_CASE(the_number_of_threads_is_kept_in_its_range)
{
    lab_threads_set(0);
    assert_int_equal(lab_threads(), 1);
    lab_threads_set(1 << 20);
    assert_int_equal(lab_threads(), LAB_MAX_THREADS);
    assert_true(lab_cores() >= 1);
}

/* On a busy machine a thread may come late once, but not each time. */
TEST_CASE(sleeping_threads_are_woken)
{
    enum { THREADS = 2, TRIES = 2000 };
    const struct timespec asleep = {.tv_nsec = 5000000};
    int awake = 0;
    if (lab_cores() < THREADS)
        skip(); /* they would have to run at once */
    for (int i = 0; i < TRIES && awake < THREADS; i++) {
        lab_threads_set(1);
        assert_int_equal(lab_threads_wake(), 1);
        lab_threads_set(THREADS);
        nanosleep(&asleep, NULL);
        awake = lab_threads_wake();
        assert_in_range(awake, 1, THREADS);
    }
    assert_int_equal(awake, THREADS);
}

/* A loop of one part is not shared out. Workers sleep after the last one, and their time
 * asleep counts while they do. */
TEST_CASE(shared_loops_are_counted)
{
    enum { TRIES = 2000, IDLE_NS = 5000000 };
    const struct timespec idle = {.tv_nsec = IDLE_NS};
    int64_t first;
    int64_t last;
    lab_threads_set(3);
    int64_t before = lab_loops_shared(&first);
    lab_free(run(1, 1, 3));
    assert_int_equal(lab_loops_shared(&first), before);
    lab_free(run(64, 1, 3));
    lab_free(run(64, 1, 3));
    assert_int_equal(lab_loops_shared(&last), before + 2);
    for (int i = 0; i < TRIES && last - first < 2 * IDLE_NS; i++) {
        lab_loops_shared(&first);
        nanosleep(&idle, NULL);
        lab_loops_shared(&last);
    }
    assert_true(last - first >= 2 * IDLE_NS);
}

/* Of a worker that was woken the time asleep has ended, whether it has run since or not. */
TEST_CASE(woken_threads_are_not_asleep)
{
    enum { TRIES = 200 };
    const struct timespec idle = {.tv_nsec = 5000000};
    int64_t grown = -1;
    lab_threads_set(2);
    for (int i = 0; i < TRIES && grown != 0; i++) {
        int64_t first;
        int64_t last;
        nanosleep(&idle, NULL);
        lab_threads_wake();
        lab_loops_shared(&first);
        lab_loops_shared(&last);
        grown = last - first;
        assert_true(grown >= 0);
    }
    assert_int_equal(grown, 0);
}

/* A worker that has nothing to do looks for a millisecond and sleeps. */
TEST_CASE(idle_threads_take_no_processor_time)
{
    const struct timespec idle = {.tv_nsec = 200000000};
    lab_free(run(4999, 10, 4));
    int64_t before = lab_clock_process_ns();
    nanosleep(&idle, NULL);
    assert_in_range(lab_clock_process_ns() - before, 0, 50000000);
}

RUN_TESTS()
