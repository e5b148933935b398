/* Starting a thread with a stack for its signals. */
#include "base/thread.h"

#include <signal.h>

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
