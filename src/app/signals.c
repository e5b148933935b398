#include "signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t caught;
static volatile sig_atomic_t reader_gone;
static const char *volatile first_words;

static void on_signal(int number)
{
    if (caught)
        _exit(128 + number); /* the loop did not end: the user insists */
    caught = number;
    const char *words = first_words;
    if (words && write(STDERR_FILENO, words, strlen(words)) < 0)
        first_words = NULL; /* nobody reads them */
}

static void on_signal_end(int number)
{
    _exit(128 + number);
}

static void on_pipe(int number)
{
    (void)number;
    reader_gone = 1; /* the write fails, and the loop ends as it should */
}

static void handle(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

void lab_signals_catch(void)
{
    struct sigaction action = {.sa_handler = on_pipe};
    handle(on_signal);
    sigemptyset(&action.sa_mask);
    sigaction(SIGPIPE, &action, NULL);
}

void lab_signals_say(const char *words)
{
    first_words = words;
}

void lab_signals_end_now(void)
{
    handle(on_signal_end);
}

int lab_signals_caught(void)
{
    return caught;
}

int lab_signals_take(void)
{
    int number = caught;
    caught = 0;
    return number;
}

bool lab_signals_reader_gone(void)
{
    return reader_gone;
}

static void mask(int how)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(how, &set, NULL);
}

void lab_signals_hold(void)
{
    mask(SIG_BLOCK);
}

void lab_signals_release(void)
{
    mask(SIG_UNBLOCK);
}

bool lab_signals_wait_input(int fd)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    sigset_t none;
    sigemptyset(&none);
    lab_signals_hold(); /* none slips in between the look and the wait */
    int rc = 0;
    while (!caught && rc == 0) {
        rc = ppoll(&poll_fd, 1, NULL, &none);
        if (rc < 0 && errno == EINTR)
            rc = 0;
    }
    lab_signals_release();
    return !caught;
}
