/* INT, TERM and HUP for the commands without a screen. The handler sets a flag
 * and writes a pipe: whichever thread runs it, a thread that waits for input
 * also waits for the pipe and wakes up. */
#include "base/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static atomic_int caught;
static atomic_bool ending; /* one that ends the program was taken */
static atomic_bool reader_gone;
static const char *_Atomic first_words;
static int wake[2] = {-1, -1};

static void on_signal(int number)
{
    int saved = errno;
    int none = 0;
    bool first = atomic_compare_exchange_strong(&caught, &none, number);
    if (!first && number == SIGHUP && none == SIGHUP)
        return; /* a terminal that closes sends it more than once */
    if (atomic_load(&ending) || !first)
        _exit(128 + number); /* the loop did not end: the user insists */
    const char *words = atomic_load(&first_words);
    if (words && write(STDERR_FILENO, words, strlen(words)) < 0)
        atomic_store(&first_words, NULL); /* stderr has no reader */
    if (wake[1] >= 0 && write(wake[1], "", 1) < 0)
        errno = 0; /* full: the waiting thread is awake already */
    errno = saved;
}

static void on_signal_end(int number)
{
    _exit(128 + number);
}

static void on_pipe(int number)
{
    (void)number;
    atomic_store(&reader_gone, true); /* the write fails, the loop ends */
}

static void handle(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

/* Without the pipe a wait for input only looks at the flag now and then. */
static void open_wake(void)
{
    int fds[2];
    if (wake[0] >= 0 || pipe(fds))
        return;
    for (int i = 0; i < 2; i++) {
        fcntl(fds[i], F_SETFD, FD_CLOEXEC);
        fcntl(fds[i], F_SETFL, O_NONBLOCK);
        wake[i] = fds[i];
    }
}

void lab_signals_catch(void)
{
    struct sigaction action = {.sa_handler = on_pipe};
    open_wake();
    handle(on_signal);
    sigemptyset(&action.sa_mask);
    sigaction(SIGPIPE, &action, NULL);
}

void lab_signals_say(const char *words)
{
    atomic_store(&first_words, words);
}

void lab_signals_end_now(int after)
{
    static atomic_bool closed;
    if (after == SIGHUP)
        atomic_store(&closed, true);
    handle(on_signal_end);
    if (atomic_load(&closed))
        (void)signal(SIGHUP, SIG_IGN);
}

int lab_signals_caught(void)
{
    return atomic_load(&caught);
}

bool lab_signals_asked(void *unused)
{
    (void)unused;
    return lab_signals_caught() != 0;
}

int lab_signals_take(void)
{
    int number = atomic_exchange(&caught, 0);
    if (number && number != SIGINT)
        atomic_store(&ending, true);
    return number;
}

bool lab_signals_reader_gone(void)
{
    return atomic_load(&reader_gone);
}

bool lab_signals_wait_input(int fd)
{
    enum { WITHOUT_PIPE_MS = 50 };
    struct pollfd fds[2] = {{.fd = fd, .events = POLLIN},
                            {.fd = wake[0], .events = POLLIN}};
    char bytes[64];
    while (!lab_signals_caught()) {
        int rc = poll(fds, 2, wake[0] < 0 ? WITHOUT_PIPE_MS : -1);
        if (rc < 0 && errno != EINTR)
            break;
        if (rc > 0 && fds[1].revents) {
            while (read(wake[0], bytes, sizeof(bytes)) > 0)
                continue; /* of a signal that was taken, or is caught now */
            continue;
        }
        if (rc > 0)
            return !lab_signals_caught();
    }
    return !lab_signals_caught();
}
