/* core_distance [MS] -- how long a number takes from one core to another and back.
 *
 * Two threads, each on a core of its own, write one word in turn. Prints the
 * nanoseconds of a turn of both, the median of many, after every line of input; MS
 * milliseconds of measuring each (10). "nan": there is one core. Virtual cores share
 * a cache at some times and not at others, as their host moves them; what two threads
 * gain depends on it (docs/measurements.md). training_cpu.py reads it before and
 * after each measurement. */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/quantile.h"

enum { ROUNDS = 100, MOST = 20000, CORES = 2 };

/* Even: the first thread's turn. The word has a line of the cache. */
static _Alignas(64) atomic_uint turn;
static _Alignas(64) atomic_bool ends;
static int core[CORES];

static int find_cores(void)
{
    cpu_set_t all;
    int n = 0;
    if (sched_getaffinity(0, sizeof(all), &all))
        return 0;
    for (int c = 0; c < CPU_SETSIZE && n < CORES; c++) {
        if (CPU_ISSET(c, &all))
            core[n++] = c;
    }
    return n;
}

static void stay_on(int which)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core[which], &one);
    sched_setaffinity(0, sizeof(one), &one);
}

static void *answer(void *unused)
{
    (void)unused;
    stay_on(1);
    while (!atomic_load_explicit(&ends, memory_order_relaxed)) {
        unsigned now = atomic_load_explicit(&turn, memory_order_acquire);
        if (now % 2)
            atomic_store_explicit(&turn, now + 1, memory_order_release);
    }
    return NULL;
}

static double rounds(void)
{
    int64_t begin = lab_clock_monotonic_ns();
    for (int i = 0; i < ROUNDS; i++) {
        unsigned next = atomic_load_explicit(&turn, memory_order_relaxed) + 1;
        atomic_store_explicit(&turn, next, memory_order_release);
        while (atomic_load_explicit(&turn, memory_order_acquire) == next)
            continue;
    }
    return (double)(lab_clock_monotonic_ns() - begin) / ROUNDS;
}

/* The worker lives for one measurement alone: it keeps its core busy. */
static double measure(int64_t ns)
{
    static double found[MOST];
    size_t n = 0;
    pthread_t worker;
    atomic_store(&ends, false);
    if (pthread_create(&worker, NULL, answer, NULL))
        return NAN;
    rounds(); /* until the worker is there */
    int64_t end = lab_clock_monotonic_ns() + ns;
    while (n < MOST && (n == 0 || lab_clock_monotonic_ns() < end))
        found[n++] = rounds();
    atomic_store(&ends, true);
    pthread_join(worker, NULL);
    lab_sort_reals(found, n);
    return lab_quantile(found, n, 0.5);
}

int main(int argc, char **argv)
{
    enum { DEFAULT_MS = 10, LINE = 64 };
    long ms = argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_MS;
    char line[LINE];
    int n = find_cores();
    if (n == CORES)
        stay_on(0);
    while (fgets(line, sizeof(line), stdin)) {
        printf("%.1f\n", n == CORES ? measure((int64_t)ms * 1000000) : NAN);
        fflush(stdout);
    }
    return 0;
}
