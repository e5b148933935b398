/* kernel_pause.c -- a launch that waits for a screen: the handshake of two
 * threads.
 *
 * The engine's thread is about to launch a kernel on the simulator; while a
 * screen or --plain has armed the pause, the launch is offered to it and waits
 * until it lets go. One pause a process. */
#include "debug/kernel_pause.h"

#include <pthread.h>
#include <string.h>
#include "debug/kernel_text.h"
#include "engine/sim_backend.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool armed;
    bool waiting;
    bool let_go;
    void (*wake)(void *user);
    void *user;
    struct lab_kernel_pause now;
} pause = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .changed = PTHREAD_COND_INITIALIZER};

/* A launch that cannot be walked runs. */
void lab_kernel_pause_offer(void *user, const struct lab_sim_gpu_call *of)
{
    static const uint32_t first[3] = {0, 0, 0};
    struct lab_sim_debug *d;
    (void)user;
    pthread_mutex_lock(&pause.lock);
    bool armed = pause.armed;
    pthread_mutex_unlock(&pause.lock);
    if (!armed ||
        lab_sim_debug_open(of->memory, of->launch, of->options, first, &d))
        return;
    pthread_mutex_lock(&pause.lock);
    pause.now.debug = d;
    memcpy(pause.now.grid, of->launch->grid, sizeof(pause.now.grid));
    memcpy(pause.now.block, of->launch->block, sizeof(pause.now.block));
    pause.now.ptx = of->ptx;
    pause.now.number++;
    pause.now.launch = of->number;
    lab_kernel_name(of->kernel, pause.now.name, sizeof(pause.now.name));
    pause.waiting = true;
    pause.let_go = false;
    if (pause.wake)
        pause.wake(pause.user);
    while (pause.armed && !pause.let_go)
        pthread_cond_wait(&pause.changed, &pause.lock);
    pause.waiting = false;
    pthread_mutex_unlock(&pause.lock);
    /* What runs then begins where the walk began. */
    (void)lab_sim_debug_block(d, first);
    lab_sim_debug_close(d);
}

void lab_kernel_pause_arm(void (*wake)(void *user), void *user)
{
    pthread_mutex_lock(&pause.lock);
    pause.armed = true;
    pause.wake = wake;
    pause.user = user;
    pause.now.number = 0;
    pthread_mutex_unlock(&pause.lock);
    lab_sim_backend_before(lab_kernel_pause_offer, NULL);
}

void lab_kernel_pause_disarm(void)
{
    pthread_mutex_lock(&pause.lock);
    pause.armed = false;
    pause.wake = NULL;
    pthread_cond_broadcast(&pause.changed);
    pthread_mutex_unlock(&pause.lock);
}

const struct lab_kernel_pause *lab_kernel_pause_now(void)
{
    pthread_mutex_lock(&pause.lock);
    bool there = pause.waiting && !pause.let_go && pause.armed;
    pthread_mutex_unlock(&pause.lock);
    return there ? &pause.now : NULL;
}

void lab_kernel_pause_next(void)
{
    pthread_mutex_lock(&pause.lock);
    pause.let_go = true;
    pthread_cond_broadcast(&pause.changed);
    pthread_mutex_unlock(&pause.lock);
}
