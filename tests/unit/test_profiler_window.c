/* The window of correlation ids: every kind of question, answers that are too
 * old, ids that wrap around, and readers beside the thread that notes. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "test.h"

#include "cupti_window.h"

enum { ROOM = (1 << 18) - 1 };

static uint32_t thread_seen(void)
{
    struct lab_cupti_view v;
    lab_cupti_window_view(&v);
    return v.thread;
}

static int64_t ask(uint32_t id)
{
    struct lab_cupti_view v;
    lab_cupti_window_view(&v);
    return lab_cupti_window_find(&v, id);
}

/* Exec i has the ids from first + 10 i on, and none after 5 of them. */
static void fill(uint32_t first, int n)
{
    for (int i = 1; i <= n; i++) {
        lab_cupti_window_push(i);
        lab_cupti_window_note(first + 10 * (uint32_t)i);
        lab_cupti_window_pop();
        lab_cupti_window_note(first + 10 * (uint32_t)i + 5);
    }
}

static int setup(void **state);

TEST_CASE_WITH(nothing_is_known_before_a_push, setup, NULL)
{
    assert_int_equal(ask(1), 0);
    assert_int_equal(thread_seen(), 0);
    lab_cupti_window_push(7);
    lab_cupti_window_note(100);
    assert_int_equal(thread_seen(), gettid());
    assert_int_equal(ask(99), 0);
    assert_int_equal(ask(100), 7);
    assert_int_equal(ask(1000), 7);
    lab_cupti_window_reset();
    assert_int_equal(ask(100), 0);
}

TEST_CASE_WITH(pushes_nest, setup, NULL)
{
    lab_cupti_window_pop();         /* one too many */
    for (int i = 1; i <= 20; i++) { /* deeper than is kept */
        lab_cupti_window_push(i);
        lab_cupti_window_note(10 * (uint32_t)i);
    }
    for (int i = 1; i <= 20; i++) {
        lab_cupti_window_pop();
        lab_cupti_window_note(200 + 10 * (uint32_t)i);
    }
    for (int i = 1; i <= 20; i++) {
        int deepest = i < 16 ? i : 16;
        int left = 20 - i < 16 ? 20 - i : 16;
        assert_int_equal(ask(10 * (uint32_t)i + 1), deepest);
        assert_int_equal(ask(200 + 10 * (uint32_t)i + 1), left);
    }
}

/* One view, asked in order, backwards and at random. */
TEST_CASE_WITH(any_order_has_the_same_answer, setup, NULL)
{
    enum { N = 5000 };
    struct lab_cupti_view v;
    uint64_t x = 7;
    fill(0, N);
    lab_cupti_window_view(&v);
    for (int pass = 0; pass < 3; pass++) {
        for (uint32_t i = 10; i < 10 * N + 10; i++) {
            uint32_t id = pass == 1 ? 10 * N + 19 - i : i;
            x = x * 6364136223846793005u + 1442695040888963407u;
            if (pass == 2)
                id = 10 + (uint32_t)((x >> 33) % (10 * N));
            assert_int_equal(lab_cupti_window_find(&v, id),
                             id % 10 < 5 ? id / 10 : 0);
        }
    }
}

TEST_CASE_WITH(ids_come_round, setup, NULL)
{
    enum { N = 1000 };
    struct lab_cupti_view v;
    const uint32_t first = UINT32_MAX - 5 * N;
    fill(first, N);
    lab_cupti_window_view(&v);
    for (uint32_t i = 10; i < 10 * N + 10; i++)
        assert_int_equal(lab_cupti_window_find(&v, first + i),
                         i % 10 < 5 ? i / 10 : 0);
    assert_int_equal(ask(first), 0);
}

/* Hours of launches between two marks, as while the trace is off. */
TEST_CASE_WITH(a_long_silence_is_no_way_back, setup, NULL)
{
    uint32_t id = 100;
    for (int i = 1; i <= 20; i++) {
        lab_cupti_window_push(i);
        lab_cupti_window_note(id);
        lab_cupti_window_pop();
        lab_cupti_window_note(id + 5);
        assert_int_equal(ask(id + 3), i);
        assert_int_equal(ask(id + 7), 0);
        id += 3000000000u;
    }
}

TEST_CASE_WITH(what_is_too_old_belongs_to_nothing, setup, NULL)
{
    enum { N = ROOM };
    struct lab_cupti_view v;
    fill(0, N); /* twice as many changes as there is room for */
    lab_cupti_window_view(&v);
    for (uint32_t i = 1; i <= N; i++) {
        bool there = i > N - ROOM / 2;
        assert_int_equal(lab_cupti_window_find(&v, 10 * i + 1), there ? i : 0);
    }
}

/* What is still kept is found by a view of before, too. */
TEST_CASE_WITH(a_view_that_was_half_overtaken_finds_the_other_half, setup, NULL)
{
    enum { N = ROOM / 2, GONE = ROOM / 4 };
    struct lab_cupti_view v;
    fill(0, N); /* all that there is room for */
    lab_cupti_window_view(&v);
    fill(10 * N, GONE);
    for (uint32_t i = 1; i < GONE; i++)
        assert_int_equal(lab_cupti_window_find(&v, 10 * i + 1), 0);
    for (uint32_t i = N; i > GONE + 1; i--)
        assert_int_equal(lab_cupti_window_find(&v, 10 * i + 1), i);
}

/* The view of a buffer that is read very late finds nothing false. */
TEST_CASE_WITH(a_view_that_was_overtaken_finds_nothing, setup, NULL)
{
    struct lab_cupti_view early;
    struct lab_cupti_view late;
    fill(0, 100);
    lab_cupti_window_view(&early);
    lab_cupti_window_view(&late);
    assert_int_equal(lab_cupti_window_find(&early, 501), 50);
    fill(1000, ROOM);
    for (uint32_t i = 1; i <= 100; i++)
        assert_int_equal(lab_cupti_window_find(&late, 10 * i + 1), 0);
    assert_int_equal(lab_cupti_window_find(&early, 101), 0);
}

static atomic_bool noting;

static void *note(void *user)
{
    (void)user;
    fill(0, 4000000);
    noting = false;
    return NULL;
}

/* How many of the newest 300,000 executions it finds; what it finds is right. */
static int look(void)
{
    struct lab_cupti_view v;
    int found = 0;
    lab_cupti_window_view(&v);
    for (uint32_t back = 0; v.end > 0 && back < 3000000; back += 999) {
        uint32_t id = (uint32_t)v.newest - back;
        int64_t exec = lab_cupti_window_find(&v, id);
        if (back >= (uint32_t)v.newest || exec == 0)
            continue;
        assert_int_equal(exec, id / 10);
        assert_true(id % 10 < 5);
        found++;
    }
    return found;
}

TEST_CASE_WITH(readers_never_wait, setup, NULL)
{
    pthread_t thread;
    noting = true;
    assert_int_equal(pthread_create(&thread, NULL, note, NULL), 0);
    while (noting)
        look();
    pthread_join(thread, NULL);
    /* 131,071 executions are there, and half of the ids are theirs. */
    assert_in_range(look(), 600, 700);
}

static int setup(void **state)
{
    (void)state;
    lab_cupti_window_reset();
    return 0;
}

RUN_TESTS()
