/* A thread of the program has a stack for signals: an overflow of its own one
 * reaches the handler. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#include "base/thread.h"

enum { HANDLED = 42 };

static void on_overflow(int number)
{
    (void)number;
    _exit(HANDLED);
}

static int (*volatile deeper)(volatile char *above);

static int go_deeper(volatile char *above)
{
    volatile char room[4096];
    room[0] = *above;
    return deeper(room) + room[0];
}

static void *overflow(void *user)
{
    volatile char start = 1;
    deeper = go_deeper;
    *(int *)user = go_deeper(&start);
    return user;
}

TEST_CASE(an_overflow_reaches_the_handler)
{
    pid_t child = fork();
    if (child == 0) {
        struct sigaction action = {.sa_handler = on_overflow,
                                   .sa_flags = SA_ONSTACK};
        const struct rlimit no_core = {0, 0};
        pthread_t thread;
        int result;
        setrlimit(RLIMIT_CORE, &no_core);
        sigaction(SIGSEGV, &action, NULL);
        if (lab_thread_start(&thread, overflow, &result))
            _exit(1);
        pthread_join(thread, NULL);
        _exit(2);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), HANDLED);
}

static void *return_it(void *user)
{
    return user;
}

TEST_CASE(a_thread_returns_what_it_returns)
{
    pthread_t thread;
    void *result = NULL;
    int here;
    assert_ok(lab_thread_start(&thread, return_it, &here));
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, &here);
}

static int nice_here(void)
{
    return getpriority(PRIO_PROCESS, (id_t)gettid());
}

static void *note_nice(void *user)
{
    *(int *)user = nice_here();
    return NULL;
}

static void *yield_and_start(void *user)
{
    int *nice = user;
    pthread_t thread;
    lab_thread_yield();
    note_nice(&nice[0]);
    if (lab_thread_start(&thread, note_nice, &nice[1]))
        return NULL;
    pthread_join(thread, NULL);
    return user;
}

/* It and those that it starts, no other. */
TEST_CASE(a_thread_leaves_cores_to_the_others)
{
    const int before = nice_here();
    int nice[2] = {before, before};
    pthread_t thread;
    void *result = NULL;
    assert_ok(lab_thread_start(&thread, yield_and_start, nice));
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, nice);
    assert_int_equal(nice_here(), before);
    assert_int_equal(nice[0], nice[1]);
    if (before < 19) /* the least priority that there is */
        assert_true(nice[0] > before);
}

RUN_TESTS()
