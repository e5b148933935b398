/* live.c -- the newest steps and kernels in memory, for the screen.
 *
 * A sink beside the database's: it keeps the newest few thousand records under
 * a lock and hands each on. The stepper, --plain and labs read a step's kernels
 * here at once, without asking the database. */
#include "store/live.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "trace/intern.h"

enum { KERNELS = 4096, STEPS = 4096, METRICS = 65536, STEP_KERNELS = 64 };

struct lab_live {
    pthread_mutex_t lock;
    struct lab_sink next;
    /* Kernels in a circle; the numbers of their executions apart, so that a
     * search touches little memory. */
    struct lab_kernel_record *kernels;
    int64_t *execs;
    size_t capacity;
    uint64_t seen;                 /* kernels ever noted */
    struct lab_step_record *steps; /* by index; exec 0: none */
    bool *has_step;
    size_t n_steps;
    struct lab_metric_record *metrics; /* in a circle */
    size_t metric_capacity;
    uint64_t metrics_seen;
};

enum lab_status lab_live_new(struct lab_live **out,
                             const struct lab_live_limits *limits)
{
    struct lab_live *live = lab_alloc(sizeof(*live));
    if (!live)
        return lab_no_memory("the newest records");
    live->capacity = limits && limits->kernels ? limits->kernels : KERNELS;
    live->n_steps = limits && limits->steps ? limits->steps : STEPS;
    live->metric_capacity =
        limits && limits->metrics ? limits->metrics : METRICS;
    pthread_mutex_init(&live->lock, NULL);
    live->kernels = lab_alloc_array(live->capacity, sizeof(*live->kernels));
    live->execs = lab_alloc_array(live->capacity, sizeof(*live->execs));
    live->steps = lab_alloc_array(live->n_steps, sizeof(*live->steps));
    live->has_step = lab_alloc_array(live->n_steps, sizeof(*live->has_step));
    live->metrics =
        lab_alloc_array(live->metric_capacity, sizeof(*live->metrics));
    if (!live->kernels || !live->execs || !live->steps || !live->has_step ||
        !live->metrics) {
        lab_live_free(live);
        return lab_no_memory("the newest records");
    }
    *out = live;
    return LAB_OK;
}

void lab_live_free(struct lab_live *live)
{
    if (!live)
        return;
    pthread_mutex_destroy(&live->lock);
    lab_free(live->kernels);
    lab_free(live->execs);
    lab_free(live->steps);
    lab_free(live->has_step);
    lab_free(live->metrics);
    lab_free(live);
}

static void note(struct lab_live *live, const struct lab_record *record)
{
    if (record->kind == LAB_RECORD_KERNEL) {
        /* An evaluation has more than there is room for. */
        if (record->u.kernel.exec == LAB_EXEC_BETWEEN)
            return;
        size_t at = (size_t)(live->seen++ % live->capacity);
        live->kernels[at] = record->u.kernel;
        live->execs[at] = record->u.kernel.exec;
    } else if (record->kind == LAB_RECORD_METRIC) {
        size_t at = (size_t)(live->metrics_seen++ % live->metric_capacity);
        live->metrics[at] = record->u.metric;
    } else if (record->kind == LAB_RECORD_STEP) {
        int32_t index = record->u.step.index;
        if (index < 0 || (size_t)index >= live->n_steps)
            return;
        live->steps[index] = record->u.step;
        live->has_step[index] = true;
    }
}

static int note_and_pass(void *user, const struct lab_record *record)
{
    struct lab_live *live = user;
    pthread_mutex_lock(&live->lock);
    note(live, record);
    pthread_mutex_unlock(&live->lock);
    /* Outside the lock: it may wait for room. */
    return live->next.push ? live->next.push(live->next.user, record) : 1;
}

struct lab_sink lab_live_tee(struct lab_live *live, const struct lab_sink *next)
{
    live->next = next ? *next : (struct lab_sink){0};
    return (struct lab_sink){.user = live, .push = note_and_pass};
}

/* Calls of the lock's holder: the window's kernels from the oldest on. */
static uint64_t oldest(const struct lab_live *live)
{
    return live->seen > live->capacity ? live->seen - live->capacity : 0;
}

size_t lab_live_kernels(struct lab_live *live, int64_t exec,
                        struct lab_kernel_record *out, size_t max)
{
    size_t found = 0;
    pthread_mutex_lock(&live->lock);
    for (uint64_t i = oldest(live); i < live->seen; i++) {
        size_t at = (size_t)(i % live->capacity);
        if (live->execs[at] != exec)
            continue;
        if (found < max)
            out[found] = live->kernels[at];
        found++;
    }
    pthread_mutex_unlock(&live->lock);
    return found;
}

static int64_t kernel_time(const struct lab_live *live, int64_t exec)
{
    int64_t sum = LAB_UNKNOWN;
    for (uint64_t i = oldest(live); i < live->seen; i++) {
        const struct lab_kernel_record *k;
        size_t at = (size_t)(i % live->capacity);
        if (live->execs[at] != exec)
            continue;
        k = &live->kernels[at];
        if (k->start_ns == LAB_UNKNOWN || k->end_ns == LAB_UNKNOWN ||
            (k->start_ns == 0 && k->end_ns == 0))
            return LAB_UNKNOWN;
        sum = (sum == LAB_UNKNOWN ? 0 : sum) + k->end_ns - k->start_ns;
    }
    return sum;
}

bool lab_live_step(struct lab_live *live, int32_t index,
                   struct lab_step_record *out)
{
    bool found;
    pthread_mutex_lock(&live->lock);
    found =
        index >= 0 && (size_t)index < live->n_steps && live->has_step[index];
    if (found) {
        *out = live->steps[index];
        if (out->time_source == LAB_TIME_CUPTI)
            out->time_ns = kernel_time(live, out->exec);
    }
    pthread_mutex_unlock(&live->lock);
    return found;
}

/* One metric for each column, one kernel for each row, as they come. */
struct counter_table {
    const char *names[LAB_MAX_METRICS];
    uint32_t ids[LAB_MAX_METRICS];
    int n_metrics;
    int n_kernels;
    double value[STEP_KERNELS][LAB_MAX_METRICS];
};

static int column_of(struct counter_table *t, uint32_t metric)
{
    int m = 0;
    while (m < t->n_metrics && t->ids[m] != metric)
        m++;
    if (m == t->n_metrics && m < LAB_MAX_METRICS) {
        t->ids[m] = metric;
        t->names[m] = lab_intern_text(metric);
        for (int k = 0; k < STEP_KERNELS; k++)
            t->value[k][m] = NAN;
        t->n_metrics++;
    }
    return m;
}

static void fill_table(struct lab_live *live, int64_t exec, int64_t ordinal,
                       struct counter_table *t)
{
    uint64_t seen = live->metrics_seen;
    uint64_t first =
        seen > live->metric_capacity ? seen - live->metric_capacity : 0;
    t->n_metrics = t->n_kernels = 0;
    for (uint64_t i = first; i < seen; i++) {
        const struct lab_metric_record *r =
            &live->metrics[i % live->metric_capacity];
        if (r->exec != exec ||
            (ordinal != LAB_UNKNOWN && r->kernel_ordinal != ordinal))
            continue;
        int64_t row = ordinal == LAB_UNKNOWN ? r->kernel_ordinal : 0;
        int m = column_of(t, r->metric);
        if (row < 0 || row >= STEP_KERNELS || m == LAB_MAX_METRICS)
            continue;
        t->value[row][m] = r->value;
        if (row >= t->n_kernels)
            t->n_kernels = (int)row + 1;
    }
}

bool lab_live_counters(struct lab_live *live, int64_t exec, int64_t ordinal,
                       struct lab_counters *out)
{
    struct counter_table *t = lab_alloc(sizeof(*t));
    lab_counters_init(out);
    if (!t)
        return false;
    pthread_mutex_lock(&live->lock);
    fill_table(live, exec, ordinal, t);
    pthread_mutex_unlock(&live->lock);
    bool found = t->n_kernels > 0;
    if (found)
        lab_counters_compute(out, t->names, t->n_metrics, &t->value[0][0],
                             LAB_MAX_METRICS, t->n_kernels);
    lab_free(t);
    return found;
}
