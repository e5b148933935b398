/* The commands' signals: none is lost, whichever thread runs the handler. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#include "base/signals.h"

int __real_poll(struct pollfd *fds, nfds_t n, int timeout);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout);

static pthread_t other;
static int before_poll; /* a signal for the other thread; 0: none */

/* The moment that cannot be had by chance: the flag has been looked at, the wait
 * has not begun, and another thread runs the handler. */
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout)
{
    if (before_poll) {
        pthread_kill(other, before_poll);
        before_poll = 0;
        while (!lab_signals_caught())
            usleep(1000);
    }
    return __real_poll(fds, n, timeout);
}

static void *sleeper(void *user)
{
    int *end = user;
    char byte;
    while (read(*end, &byte, 1) < 0)
        continue; /* a signal */
    return NULL;
}

TEST_CASE(a_signal_of_another_thread_wakes_the_wait)
{
    int quiet[2];
    int end[2];
    assert_int_equal(pipe(quiet), 0);
    assert_int_equal(pipe(end), 0);
    lab_signals_catch();
    assert_int_equal(pthread_create(&other, NULL, sleeper, &end[0]), 0);
    alarm(60); /* a wait that never ends is ended */
    for (int i = 0; i < 3; i++) {
        before_poll = SIGINT;
        assert_false(lab_signals_wait_input(quiet[0]));
        assert_int_equal(lab_signals_take(), SIGINT);
    }
    assert_int_equal(write(quiet[1], "x", 1), 1);
    assert_true(lab_signals_wait_input(quiet[0]));
    alarm(0);
    assert_int_equal(write(end[1], "x", 1), 1);
    assert_int_equal(pthread_join(other, NULL), 0);
}

/* A child sends one signal after another, each when the last was taken. */
TEST_CASE(take_loses_none)
{
    enum { ROUNDS = 30000 };
    int answer[2];
    assert_int_equal(pipe(answer), 0);
    lab_signals_catch();
    pid_t parent = getpid();
    pid_t child = fork();
    if (child == 0) {
        struct pollfd p = {.fd = answer[0], .events = POLLIN};
        char byte;
        for (int i = 0; i < ROUNDS; i++) {
            kill(parent, SIGINT);
            if (__real_poll(&p, 1, 20000) < 1 || read(answer[0], &byte, 1) != 1)
                _exit(1);
        }
        _exit(0);
    }
    int status = -1;
    int taken = 0;
    while (taken < ROUNDS && waitpid(child, &status, WNOHANG) == 0) {
        for (int i = 0; i < 10000 && taken < ROUNDS; i++) {
            if (!lab_signals_take())
                continue;
            taken++;
            assert_int_equal(write(answer[1], "x", 1), 1);
        }
    }
    if (status == -1)
        assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(taken, ROUNDS);
    assert_int_equal(status, 0);
}

TEST_CASE(the_handler_keeps_errno)
{
    int kept = dup(STDERR_FILENO);
    lab_signals_catch();
    lab_signals_say("words that cannot be written\n");
    close(STDERR_FILENO);
    errno = ERANGE;
    raise(SIGINT);
    int after = errno;
    dup2(kept, STDERR_FILENO);
    close(kept);
    assert_int_equal(after, ERANGE);
    assert_int_equal(lab_signals_take(), SIGINT);
    lab_signals_say(NULL);
}

TEST_CASE(after_a_term_the_next_one_ends)
{
    pid_t child = fork();
    if (child == 0) {
        lab_signals_catch();
        raise(SIGINT);
        if (lab_signals_take() != SIGINT)
            _exit(1);
        raise(SIGTERM); /* a first one: INT ends no session */
        if (lab_signals_take() != SIGTERM)
            _exit(2);
        raise(SIGTERM);
        _exit(3);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 128 + SIGTERM);
}

RUN_TESTS()
