/* base/thread.h -- threads of the program.
 *
 * Each gets a stack for signals beside its own, so that a stack overflow on it
 * still reaches the handler that gives the terminal back. Threads: any. */
#pragma once
#include <pthread.h>

#include "base/status.h"

LAB_C_BEGIN
/* As pthread_create() with default attributes. LAB_E_NOMEM. */
enum lab_status lab_thread_start(pthread_t *out, void *(*run)(void *user),
                                 void *user);
/* The calling thread, and those that it starts from now on, leave cores to the others
 * of the program: a key is drawn before what computes behind the screen goes on. */
void lab_thread_yield(void);
LAB_C_END
