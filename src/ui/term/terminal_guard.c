#include "terminal_priv.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"

/* Handlers do three things only: set a flag, write the eventfd, and, in a
 * crash, write fixed bytes. Everything else happens in the loop. */

static const int ENDING[] = {SIGINT, SIGTERM, SIGHUP};
static const int CRASHING[] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL,
                               SIGABRT, SIGSYS, SIGTRAP, SIGQUIT};
enum {
    ENDING_COUNT = sizeof(ENDING) / sizeof(ENDING[0]),
    CRASHING_COUNT = sizeof(CRASHING) / sizeof(CRASHING[0]),
    LEAVE_BYTES = 512,
    ALT_STACK_BYTES = 64 * 1024,
    IMPATIENT = 3 /* signals before the loop answers: it hangs, so die */
};

static struct {
    bool open;
    int tty;
    int fd;
    struct termios modes;
    char leave[LEAVE_BYTES];
    size_t leave_len;
    struct sigaction old_ending[ENDING_COUNT];
    struct sigaction old_crashing[CRASHING_COUNT];
    struct sigaction old_stop;
    struct sigaction old_cont;
    struct sigaction old_winch;
    bool winch_chained;
    stack_t old_stack;
    void *stack;
} guard = {.fd = -1, .tty = -1};

static atomic_int quit_signal;
static atomic_int quit_count;
static atomic_int stop_wanted;
static atomic_int resumed;
static atomic_int crashed;

static void notify(void)
{
    int saved = errno;
    uint64_t one = 1;
    ssize_t n = write(guard.fd, &one, sizeof(one));
    (void)n; /* full: the loop is awake already */
    errno = saved;
}

static void restore_raw(void)
{
    atomic_store(&crashed, 1);
    ssize_t n = write(guard.tty, guard.leave, guard.leave_len);
    (void)n;
    tcsetattr(guard.tty, TCSANOW, &guard.modes);
    lab_stderr_spill();
}

static void on_ending(int sig)
{
    atomic_store(&quit_signal, sig);
    if (atomic_fetch_add(&quit_count, 1) + 1 >= IMPATIENT) {
        restore_raw();
        _exit(128 + sig);
    }
    notify();
}

static void on_stop(int sig)
{
    (void)sig;
    atomic_store(&stop_wanted, 1);
    notify();
}

static void on_cont(int sig)
{
    (void)sig;
    atomic_store(&resumed, 1);
    notify();
}

static void on_winch(int sig)
{
    if (guard.old_winch.sa_handler != SIG_DFL &&
        guard.old_winch.sa_handler != SIG_IGN)
        guard.old_winch.sa_handler(sig);
    notify();
}

static void on_crash(int sig, siginfo_t *info, void *context)
{
    (void)context;
    restore_raw();
    for (int i = 0; i < CRASHING_COUNT; i++)
        if (CRASHING[i] == sig)
            sigaction(sig, &guard.old_crashing[i], NULL);
    /* A fault of the processor comes again by itself, with its address. */
    if (info->si_code <= 0 || sig == SIGQUIT || sig == SIGABRT)
        raise(sig);
}

static void take(int sig, void (*handler)(int), struct sigaction *old)
{
    struct sigaction now;
    sigaction(sig, NULL, old);
    if (!(old->sa_flags & SA_SIGINFO) && old->sa_handler == SIG_IGN)
        return; /* nohup, or a shell without job control */
    memset(&now, 0, sizeof(now));
    now.sa_handler = handler;
    now.sa_flags = SA_RESTART;
    sigemptyset(&now.sa_mask);
    sigaction(sig, &now, NULL);
}

static void take_crashes(void)
{
    struct sigaction now;
    memset(&now, 0, sizeof(now));
    now.sa_sigaction = on_crash;
    now.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&now.sa_mask);
    guard.stack =
        lab_alloc(ALT_STACK_BYTES); /* a stack overflow needs another */
    if (guard.stack) {
        stack_t stack = {.ss_sp = guard.stack, .ss_size = ALT_STACK_BYTES};
        sigaltstack(&stack, &guard.old_stack);
    }
    for (int i = 0; i < CRASHING_COUNT; i++)
        sigaction(CRASHING[i], &now, &guard.old_crashing[i]);
}

enum lab_status lab_guard_open(int tty)
{
    if (guard.open)
        return lab_fail(LAB_E_STATE, "a terminal is open already");
    if (tcgetattr(tty, &guard.modes))
        return lab_fail(LAB_E_IO, "the terminal's settings: %s",
                        strerror(errno));
    guard.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (guard.fd < 0)
        return lab_fail(LAB_E_IO, "eventfd: %s", strerror(errno));
    guard.tty = tty;
    guard.leave_len = 0;
    guard.winch_chained = false;
    guard.open = true;
    atomic_store(&quit_signal, 0);
    atomic_store(&quit_count, 0);
    atomic_store(&stop_wanted, 0);
    atomic_store(&resumed, 0);
    for (int i = 0; i < ENDING_COUNT; i++)
        take(ENDING[i], on_ending, &guard.old_ending[i]);
    take(SIGTSTP, on_stop, &guard.old_stop);
    take(SIGCONT, on_cont, &guard.old_cont);
    take_crashes();
    return LAB_OK;
}

void lab_guard_close(void)
{
    if (!guard.open)
        return;
    for (int i = 0; i < ENDING_COUNT; i++)
        sigaction(ENDING[i], &guard.old_ending[i], NULL);
    for (int i = 0; i < CRASHING_COUNT; i++)
        sigaction(CRASHING[i], &guard.old_crashing[i], NULL);
    sigaction(SIGTSTP, &guard.old_stop, NULL);
    sigaction(SIGCONT, &guard.old_cont, NULL);
    if (guard.winch_chained)
        sigaction(SIGWINCH, &guard.old_winch, NULL);
    if (guard.stack)
        sigaltstack(&guard.old_stack, NULL);
    lab_free(guard.stack);
    guard.stack = NULL;
    close(guard.fd);
    guard.fd = -1;
    guard.open = false;
    int late = atomic_exchange(&quit_signal, 0);
    if (late)
        raise(late); /* the loop did not see it: it is for the old handler */
}

void lab_guard_set_leave(const char *bytes)
{
    size_t n = strlen(bytes);
    guard.leave_len = n < LEAVE_BYTES ? n : LEAVE_BYTES;
    memcpy(guard.leave, bytes, guard.leave_len);
}

void lab_guard_chain_winch(void)
{
    struct sigaction now;
    sigaction(SIGWINCH, NULL, &guard.old_winch);
    memset(&now, 0, sizeof(now));
    now.sa_handler = on_winch;
    now.sa_flags = SA_RESTART;
    sigemptyset(&now.sa_mask);
    sigaction(SIGWINCH, &now, NULL);
    guard.winch_chained = true;
}

int lab_guard_fd(void)
{
    return guard.fd;
}

struct lab_guard_progress lab_guard_take(void)
{
    uint64_t count;
    ssize_t n = read(guard.fd, &count, sizeof(count));
    (void)n; /* empty: flags are looked at all the same */
    struct lab_guard_progress news;
    news.quit = atomic_exchange(&quit_signal, 0);
    news.stop = atomic_exchange(&stop_wanted, 0) != 0;
    news.resume = atomic_exchange(&resumed, 0) != 0;
    if (news.quit)
        atomic_store(&quit_count, 0);
    return news;
}

bool lab_guard_crashed(void)
{
    return atomic_load(&crashed) != 0;
}

void lab_guard_stop(void)
{
    struct sigaction ours;
    struct sigaction plain;
    memset(&plain, 0, sizeof(plain));
    plain.sa_handler = SIG_DFL;
    sigemptyset(&plain.sa_mask);
    sigaction(SIGTSTP, &plain, &ours);
    kill(getpid(), SIGTSTP);
    sigaction(SIGTSTP, &ours, NULL);
    atomic_store(&resumed, 0);
}
