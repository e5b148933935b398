/* thread.c -- starting a thread with a stack for its signals, and its priority.
 *
 * A stack overflow still reaches the handler that gives the terminal back.
 * lab_thread_yield() leaves cores to the screen's thread. */
#include "base/thread.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"

enum { SIGNAL_STACK_BYTES = 64 * 1024 };

struct start {
    void *(*run)(void *user);
    void *user;
    char signal_stack[SIGNAL_STACK_BYTES];
};

static void *run_with_stack(void *argument)
{
    struct start *s = argument;
    const stack_t stack = {.ss_sp = s->signal_stack,
                           .ss_size = SIGNAL_STACK_BYTES};
    const stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&stack, NULL);
    void *result = s->run(s->user);
    sigaltstack(&none, NULL);
    lab_free(s);
    return result;
}

enum lab_status lab_thread_start(pthread_t *out, void *(*run)(void *user),
                                 void *user)
{
    struct start *s = lab_alloc(sizeof(*s));
    if (s) {
        s->run = run;
        s->user = user;
        if (pthread_create(out, NULL, run_with_stack, s) == 0)
            return LAB_OK;
    }
    lab_free(s);
    return lab_no_memory("a thread");
}

/* Of this thread alone: Linux has a nice value for each. */
void lab_thread_yield(void)
{
    enum { NICER = 5 }; /* a third of the weight */
    const id_t self = (id_t)gettid();
    setpriority(PRIO_PROCESS, self, getpriority(PRIO_PROCESS, self) + NICER);
}
