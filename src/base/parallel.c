/* The pool of threads that the loops of kernels on the CPU share, and how many
 * cores this process may use. */
#include "base/parallel.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/group.h"
#include "base/thread.h"

int lab_cores(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof(set), &set) == 0
                ? CPU_COUNT(&set)
                : (int)sysconf(_SC_NPROCESSORS_ONLN);
    double limit = lab_group_limit("", "cpu.max");
    if (limit > 0 && limit < n)
        n = (int)ceil(limit);
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

/* The loop that is shared out. Its members change only while no part runs. */
struct loop {
    lab_part_fn *run;
    const void *arg;
    int64_t n;
    int64_t parts;
};

/* One word has what the threads agree by: the parts that are not taken, `first` to
 * `end` - 1, and how many run. A part is taken by one compare-and-swap, which also
 * counts it as running: from then on the loop stays as it is until the part has
 * ended. The caller takes parts from the front and workers from the back, so that
 * the same data meet the same core's cache in the next loop. */
enum { END_BITS = 16, FIRST_BITS = 16 };
#define ONE_FIRST (UINT64_C(1) << END_BITS)
#define ONE_RUNNING (UINT64_C(1) << (END_BITS + FIRST_BITS))

static struct {
    pthread_mutex_t caller; /* held by the owner of the loop */
    struct loop loop;
    /* Read by every thread at all times: a line of the cache for each. */
    _Alignas(64) _Atomic uint64_t word;
    /* Workers that sleep and were not woken since; changes under the lock. */
    _Alignas(64) atomic_int asleep;
    atomic_bool caller_sleeps;
    _Atomic int64_t shared; /* loops so far; changes under `caller` */
    pthread_mutex_t lock;
    int64_t asleep_ns;       /* of all workers, up to asleep_until_ns; */
    int64_t asleep_until_ns; /* both change under the lock */
    pthread_cond_t begun;
    pthread_cond_t ended;
    int workers; /* changes under `caller` */
} pool = {.caller = PTHREAD_MUTEX_INITIALIZER,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .begun = PTHREAD_COND_INITIALIZER,
          .ended = PTHREAD_COND_INITIALIZER};

static int64_t end_of(uint64_t word)
{
    return (int64_t)(word & (ONE_FIRST - 1));
}

static int64_t first_of(uint64_t word)
{
    return (int64_t)(word >> END_BITS & (ONE_FIRST - 1));
}

static bool has_parts(uint64_t word)
{
    return first_of(word) < end_of(word);
}

/* Where part i begins. */
static int64_t start_of(const struct loop *l, int64_t i)
{
    enum { ALIGN = 16 };
    int64_t at = l->n / l->parts * i + l->n % l->parts * i / l->parts;
    return i < l->parts && l->n >= l->parts * ALIGN ? at / ALIGN * ALIGN : at;
}

static _Thread_local bool in_part;

bool lab_in_part(void)
{
    return in_part;
}

static void run_part(const struct loop *l, int64_t i)
{
    const bool outer = in_part;
    in_part = outer || l->parts > 1;
    l->run(l->arg, start_of(l, i), start_of(l, i + 1));
    in_part = outer;
}

/* Wakes the caller where it sleeps and nothing runs any more. */
static void end_part(void)
{
    uint64_t word = atomic_fetch_sub(&pool.word, ONE_RUNNING) - ONE_RUNNING;
    if (word >= ONE_RUNNING || !atomic_load(&pool.caller_sleeps))
        return;
    pthread_mutex_lock(&pool.lock);
    pthread_cond_signal(&pool.ended);
    pthread_mutex_unlock(&pool.lock);
}

static void take_parts(bool caller)
{
    uint64_t word = atomic_load(&pool.word);
    while (has_parts(word)) {
        uint64_t taken =
            word + ONE_RUNNING + (caller ? ONE_FIRST : 0) - (caller ? 0 : 1);
        if (!atomic_compare_exchange_weak(&pool.word, &word, taken))
            continue;
        run_part(&pool.loop, caller ? first_of(word) : end_of(word) - 1);
        end_part();
        word = atomic_load(&pool.word);
    }
}

/* To sleep and be woken takes longer than most loops, and longer yet where the cores
 * share no cache: a thread first looks for a millisecond, a worker for the next loop, the
 * caller for the last part. The clock is read once in many turns, as a short wait needs
 * none. */
enum { LOOK_NS = 1000000, TURNS = 256 };
struct look {
    unsigned turns;
    int64_t end_ns; /* known after the first TURNS */
};

/* A turn; returns whether there is time for another one. */
static bool looks_on(struct look *l)
{
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
    if (++l->turns % TURNS != 0)
        return true;
    int64_t now = lab_clock_monotonic_ns();
    if (l->turns == TURNS)
        l->end_ns = now + LOOK_NS;
    return now < l->end_ns;
}

/* With the lock. */
static void set_asleep(int n)
{
    int64_t now = lab_clock_monotonic_ns();
    pool.asleep_ns += atomic_load(&pool.asleep) * (now - pool.asleep_until_ns);
    pool.asleep_until_ns = now;
    atomic_store(&pool.asleep, n);
}

/* Either the worker counts as asleep before the caller looks whether one is, or the
 * caller's parts are there before the worker looks for them. */
static void sleep_until_begun(void)
{
    pthread_mutex_lock(&pool.lock);
    do {
        set_asleep(atomic_load(&pool.asleep) + 1);
        if (has_parts(atomic_load(&pool.word)))
            set_asleep(atomic_load(&pool.asleep) - 1);
        else
            pthread_cond_wait(&pool.begun, &pool.lock);
    } while (!has_parts(atomic_load(&pool.word)));
    pthread_mutex_unlock(&pool.lock);
}

static void *work(void *unused)
{
    (void)unused;
    for (;;) {
        struct look look = {0};
        while (!has_parts(atomic_load(&pool.word)) && looks_on(&look))
            continue;
        if (!has_parts(atomic_load(&pool.word)))
            sleep_until_begun();
        take_parts(false);
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

/* Until no part runs. Parts that are not taken are none: the caller took them. */
static void wait_for_end(void)
{
    struct look look = {0};
    while (atomic_load(&pool.word) >= ONE_RUNNING && looks_on(&look))
        continue;
    if (atomic_load(&pool.word) < ONE_RUNNING)
        return;
    pthread_mutex_lock(&pool.lock);
    atomic_store(&pool.caller_sleeps, true);
    while (atomic_load(&pool.word) >= ONE_RUNNING)
        pthread_cond_wait(&pool.ended, &pool.lock);
    atomic_store(&pool.caller_sleeps, false);
    pthread_mutex_unlock(&pool.lock);
}

static void share_out(void)
{
    if (pool.workers < lab_threads() - 1)
        start_workers(lab_threads() - 1);
    atomic_store(&pool.word, (uint64_t)pool.loop.parts);
    if (atomic_load(&pool.asleep) > 0) {
        pthread_mutex_lock(&pool.lock);
        set_asleep(0);
        pthread_cond_broadcast(&pool.begun);
        pthread_mutex_unlock(&pool.lock);
    }
    take_parts(true);
    wait_for_end();
}

void lab_parallel(int64_t n, int64_t grain, lab_part_fn *run, const void *arg)
{
    /* More parts than threads: one that is held up takes fewer. */
    enum { PARTS_A_THREAD = 4 };
    _Static_assert(PARTS_A_THREAD * LAB_MAX_THREADS < 1 << END_BITS,
                   "the word counts all parts");
    int64_t parts = grain > 0 ? n / grain : n;
    int64_t most = lab_threads() > 1 ? PARTS_A_THREAD * lab_threads() : 1;
    parts = parts < most ? parts : most;
    if (parts > 1 && pthread_mutex_trylock(&pool.caller) == 0) {
        pool.loop = (struct loop){run, arg, n, parts};
        atomic_fetch_add(&pool.shared, 1);
        share_out();
        pthread_mutex_unlock(&pool.caller);
        return;
    }
    const struct loop alone = {run, arg, n, parts > 1 ? parts : 1};
    for (int64_t i = 0; i < alone.parts && n > 0; i++)
        run_part(&alone, i);
}

/* Threads wait here for one another. After the first of them has waited for a
 * millisecond, it is over: a thread takes what parts are left without waiting again. */
struct meeting {
    atomic_int here;
    atomic_bool over;
};

static void meet(const void *arg, int64_t from, int64_t to)
{
    struct meeting *m = (struct meeting *)(uintptr_t)arg;
    struct look look = {0};
    (void)from;
    (void)to;
    if (atomic_load(&m->over))
        return;
    atomic_fetch_add(&m->here, 1);
    while (atomic_load(&m->here) < lab_threads() && looks_on(&look))
        continue;
    atomic_store(&m->over, true);
}

int lab_threads_wake(void)
{
    struct meeting m = {0};
    lab_parallel(lab_threads(), 1, meet, &m);
    return atomic_load(&m.here);
}

int64_t lab_loops_shared(int64_t *asleep_ns)
{
    pthread_mutex_lock(&pool.lock);
    set_asleep(atomic_load(&pool.asleep));
    *asleep_ns = pool.asleep_ns;
    pthread_mutex_unlock(&pool.lock);
    return atomic_load(&pool.shared);
}
