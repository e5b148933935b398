/* The pool of threads that the loops of kernels on the CPU share, and how many
 * cores this process may use. */
#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/thread.h"

/* The line of this process's control group, "0::/user.slice/...". */
static int group_file(char *path, size_t size)
{
    char line[512];
    int found = 0;
    FILE *f = fopen("/proc/self/cgroup", "r");
    while (f && !found && fgets(line, sizeof(line), f)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "0::", 3) == 0)
            found = snprintf(path, size, "/sys/fs/cgroup%s/cpu.max", line + 3) <
                    (int)size;
    }
    if (f)
        fclose(f);
    return found;
}

/* "200000 100000": 200 ms of CPU time in every 100 ms are 2 cores. "max": any. */
static int group_cores(int most)
{
    char path[600];
    long long quota = 0;
    long long period = 0;
    if (!group_file(path, sizeof(path)))
        return most;
    FILE *f = fopen(path, "r");
    int read = f ? fscanf(f, "%lld %lld", &quota, &period) : 0;
    if (f)
        fclose(f);
    if (read != 2 || quota < 1 || period < 1)
        return most;
    long long cores = (quota + period - 1) / period;
    return cores < most ? (int)cores : most;
}

int lab_cores(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof(set), &set) == 0
                ? CPU_COUNT(&set)
                : (int)sysconf(_SC_NPROCESSORS_ONLN);
    n = group_cores(n);
    return n > 0 ? n : 1;
}

static atomic_int threads; /* 0: not set */

int lab_threads(void)
{
    if (atomic_load(&threads) == 0)
        lab_threads_set(lab_cores());
    return atomic_load(&threads);
}

void lab_threads_set(int n)
{
    int most = n < LAB_MAX_THREADS ? n : LAB_MAX_THREADS;
    atomic_store(&threads, most > 0 ? most : 1);
}

/* The loop that is shared out. Its members change only while no worker is inside;
 * `next` and `inside` are what the threads agree by. */
struct loop {
    lab_part_fn *run;
    const void *arg;
    int64_t n;
    int64_t parts;
    atomic_llong next; /* the first part that is not taken */
};

static struct {
    pthread_mutex_t caller; /* held by the owner of the loop */
    pthread_mutex_t lock;   /* of what follows */
    pthread_cond_t begun;
    pthread_cond_t left;
    struct loop loop;
    bool open;         /* workers may go in */
    atomic_int inside; /* changes under the lock */
    int asleep;
    int workers;
    atomic_uint begins; /* counts loops, for workers that look out */
} pool = {.caller = PTHREAD_MUTEX_INITIALIZER,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .begun = PTHREAD_COND_INITIALIZER,
          .left = PTHREAD_COND_INITIALIZER};

/* Where part i begins. */
static int64_t start_of(const struct loop *l, int64_t i)
{
    enum { ALIGN = 16 };
    int64_t at = l->n / l->parts * i + l->n % l->parts * i / l->parts;
    return i < l->parts && l->n >= l->parts * ALIGN ? at / ALIGN * ALIGN : at;
}

static void take_parts(struct loop *l)
{
    for (;;) {
        int64_t i = atomic_fetch_add(&l->next, 1);
        if (i >= l->parts)
            return;
        l->run(l->arg, start_of(l, i), start_of(l, i + 1));
    }
}

/* Sleeping and being woken takes longer than many a loop: first they look out for
 * some ten microseconds, a worker for the next loop ... */
enum { LOOKS = 4000 };

static void rest(void)
{
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

static void look_out(unsigned seen)
{
    for (int i = 0; i < LOOKS && atomic_load(&pool.begins) == seen; i++)
        rest();
}

/* ... and a caller for the last worker to leave. */
static void look_for_end(void)
{
    for (int i = 0; i < LOOKS && atomic_load(&pool.inside) > 0; i++)
        rest();
}

static void *work(void *unused)
{
    unsigned seen = 0;
    (void)unused;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (!pool.open || atomic_load(&pool.begins) == seen) {
            seen = pool.open ? seen : atomic_load(&pool.begins);
            pool.asleep++;
            pthread_cond_wait(&pool.begun, &pool.lock);
            pool.asleep--;
        }
        seen = atomic_load(&pool.begins);
        pool.inside++;
        pthread_mutex_unlock(&pool.lock);
        take_parts(&pool.loop);
        pthread_mutex_lock(&pool.lock);
        if (--pool.inside == 0)
            pthread_cond_signal(&pool.left);
        pthread_mutex_unlock(&pool.lock);
        look_out(seen);
        pthread_mutex_lock(&pool.lock);
    }
    return NULL;
}

/* Workers take no signals: those are for the program's own threads. */
static void start_workers(int wanted)
{
    sigset_t all;
    sigset_t old;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (pool.workers < wanted &&
           lab_thread_start(&thread, work, NULL) == LAB_OK) {
        pthread_detach(thread);
        pool.workers++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void share_out(void)
{
    pthread_mutex_lock(&pool.lock);
    if (pool.workers < lab_threads() - 1)
        start_workers(lab_threads() - 1);
    pool.open = true;
    atomic_fetch_add(&pool.begins, 1);
    if (pool.asleep > 0)
        pthread_cond_broadcast(&pool.begun);
    pthread_mutex_unlock(&pool.lock);
    take_parts(&pool.loop);
    pthread_mutex_lock(&pool.lock);
    pool.open = false;
    pthread_mutex_unlock(&pool.lock);
    look_for_end();
    pthread_mutex_lock(&pool.lock);
    while (pool.inside > 0)
        pthread_cond_wait(&pool.left, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
}

void lab_parallel(int64_t n, int64_t grain, lab_part_fn *run, const void *arg)
{
    /* More parts than threads: whoever is held up takes fewer. */
    enum { PARTS_A_THREAD = 4 };
    int64_t parts = grain > 0 ? n / grain : n;
    int64_t most = lab_threads() > 1 ? PARTS_A_THREAD * lab_threads() : 1;
    parts = parts < most ? parts : most;
    if (parts > 1 && pthread_mutex_trylock(&pool.caller) == 0) {
        pool.loop.run = run;
        pool.loop.arg = arg;
        pool.loop.n = n;
        pool.loop.parts = parts;
        atomic_store(&pool.loop.next, 0);
        share_out();
        pthread_mutex_unlock(&pool.caller);
        return;
    }
    struct loop alone = {.run = run, .arg = arg, .n = n, .parts = parts};
    if (parts > 1)
        take_parts(&alone);
    else if (n > 0)
        run(arg, 0, n);
}
