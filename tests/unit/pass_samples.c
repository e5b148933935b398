#include "pass_samples.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "test.h"

#include "index/pass.h"
#include "store_samples.h"

enum { STEPS = 13, NAMES = 5 };

/* Values with ties, some unknown; a kernel of another step between two. */
static void push_kernel(const struct lab_sink *sink, int64_t exec,
                        uint64_t *seed, const uint32_t *names)
{
    struct lab_record r = sample_kernel(exec, exec * 1000, 0);
    struct lab_kernel_record *k = &r.u.kernel;
    bool timed = sample_random(seed) % 50 != 0;
    k->start_ns = timed ? k->start_ns + (int64_t)(sample_random(seed) % 900)
                        : LAB_UNKNOWN;
    k->end_ns = timed ? k->start_ns + (int64_t)(sample_random(seed) % 500)
                      : LAB_UNKNOWN;
    k->demangled_name = names[sample_random(seed) % NAMES];
    k->grid[0] = 1 + (int32_t)(sample_random(seed) % 40);
    k->registers_per_thread = 32;
    k->occupancy_pct = sample_random(seed) % 9 == 0
                           ? NAN
                           : (double)(sample_random(seed) % 32) - 3;
    sink->push(sink->user, &r);
}

/* Now and then an iteration runs in part, from its middle, or once more, as
 * after going back. */
static void push_steps(const struct lab_sink *sink, int64_t steps,
                       uint64_t seed, const uint32_t *names)
{
    int64_t exec = 1;
    for (int64_t iteration = 0; exec <= steps; iteration++) {
        int32_t from = sample_random(&seed) % 20 == 0 ? 4 : 0;
        int32_t to = sample_random(&seed) % 20 == 0 ? 9 : STEPS;
        int32_t hole = sample_random(&seed) % 20 == 0 ? 6 : -1;
        for (int32_t i = from; i < to; i++) {
            if (i == hole)
                continue;
            struct lab_record r =
                sample_step(exec, iteration, i, LAB_TIME_CUPTI, LAB_UNKNOWN);
            uint64_t kernels = sample_random(&seed) % 4;
            for (uint64_t k = 0; k < kernels; k++)
                push_kernel(sink, exec, &seed, names);
            if (sample_random(&seed) % 30 == 0)
                push_kernel(sink, exec - 1, &seed, names);
            sink->push(sink->user, &r);
            exec++;
        }
        if (sample_random(&seed) % 15 == 0 && iteration > 3)
            iteration -= 3;
    }
}

struct recorded {
    int64_t steps;
    uint64_t seed;
};

static void push_run(const struct lab_sink *sink, void *user)
{
    const struct recorded *r = user;
    uint32_t names[NAMES];
    sample_names(sink, names, NAMES, 3);
    push_steps(sink, r->steps, r->seed, names);
}

void sample_pass_run(const char *path, int64_t steps, uint64_t seed)
{
    struct recorded r = {steps, seed};
    sample_record(path, push_run, &r);
}

/* `passes` of `steps` each, a kernel to a step; `far`: the place in the
 * schedule of each pass's last one. */
struct even {
    int64_t passes;
    int32_t steps;
    int32_t far;
};

static void push_even(const struct lab_sink *sink, void *user)
{
    const struct even *e = user;
    uint32_t names[NAMES];
    uint64_t seed = 5;
    sample_names(sink, names, NAMES, 3);
    for (int64_t i = 0; i < e->passes * e->steps; i++) {
        int32_t at = (int32_t)(i % e->steps);
        struct lab_record r =
            sample_step(i + 1, i / e->steps, at, LAB_TIME_CUPTI, LAB_UNKNOWN);
        if (at == e->steps - 1)
            r.u.step.index = e->far;
        push_kernel(sink, i + 1, &seed, names);
        sink->push(sink->user, &r);
    }
}

void sample_even_run(const char *path, int64_t passes, int32_t steps,
                     int32_t far)
{
    struct even e = {passes, steps, far};
    sample_record(path, push_even, &e);
}

/* ---- iterations ---- */

static bool add_pass(void *user, const struct lab_iteration_row *row)
{
    struct sample_passes *p = user;
    assert_true(p->n < SAMPLE_PASSES_MOST);
    p->row[p->n++] = *row;
    return true;
}

void sample_list_passes(const char *path, int64_t run,
                        struct sample_passes *out)
{
    struct lab_database *db = sample_open(path);
    memset(out, 0, sizeof(*out));
    assert_int_equal(lab_query_iterations(db, run, add_pass, out), LAB_OK);
    lab_database_close(db);
}

static bool same_pass(const struct lab_iteration_row *a,
                      const struct lab_iteration_row *b)
{
    return a->iteration == b->iteration && a->start_ns == b->start_ns &&
           a->end_ns == b->end_ns && a->steps == b->steps &&
           a->kernels == b->kernels && a->exec_first == b->exec_first &&
           a->exec_last == b->exec_last &&
           a->kernel_row_first == b->kernel_row_first &&
           a->kernel_row_last == b->kernel_row_last;
}

void sample_compare_passes(const struct sample_passes *kept,
                           const struct sample_passes *read)
{
    assert_int_equal(kept->n, read->n);
    for (int i = 0; i < read->n; i++)
        if (!same_pass(&kept->row[i], &read->row[i]))
            fail_msg("pass %d is not that of the steps", i);
}

/* How many are kept and fit the run. */
size_t sample_load_passes(const char *path, int64_t run)
{
    struct lab_database *db = sample_open(path);
    struct lab_passes passes;
    assert_int_equal(lab_passes_load(&passes, db, run), LAB_OK);
    size_t n = passes.count;
    lab_passes_release(&passes);
    lab_database_close(db);
    return n;
}

/* ---- kernels ---- */

enum { FILTERS = SAMPLE_FILTERS, PAGES = SAMPLE_OFFSETS };
static const int64_t filters[FILTERS][2] = {/* step, iteration */
                                            {7, LAB_UNKNOWN},
                                            {12, LAB_UNKNOWN},
                                            {LAB_UNKNOWN, 5},
                                            {LAB_UNKNOWN, 400},
                                            {3, 400}};
static const int64_t pages[PAGES][2] = {/* offset, limit */
                                        {0, 50},
                                        {20, 60},
                                        {1100, 11}};

static bool add_row(void *user, const struct lab_kernel_row *row)
{
    struct sample_page *p = user;
    assert_true(p->n < SAMPLE_PAGE);
    p->row[p->n++] = row->row;
    return true;
}

void sample_list_pages(const char *path, int64_t run,
                       struct sample_page out[SAMPLE_PAGES])
{
    struct lab_database *db = sample_open(path);
    for (int i = 0; i < SAMPLE_PAGES; i++) {
        const int64_t *of = filters[i / PAGES % FILTERS];
        const struct lab_kernel_filter f = {
            .step_index = of[0],
            .iteration = of[1],
            .sort = (enum lab_kernel_sort)(i / (2 * FILTERS * PAGES)),
            .descending = i / (FILTERS * PAGES) % 2 == 1,
            .offset = pages[i % PAGES][0],
            .limit = pages[i % PAGES][1]};
        out[i].n = 0;
        assert_int_equal(lab_query_kernels(db, run, &f, add_row, &out[i]),
                         LAB_OK);
    }
    lab_database_close(db);
}

void sample_compare_pages(const struct sample_page kept[SAMPLE_PAGES],
                          const struct sample_page read[SAMPLE_PAGES])
{
    for (int i = 0; i < SAMPLE_PAGES; i++) {
        if (kept[i].n != read[i].n)
            fail_msg("case %d: %d rows, not %d", i, kept[i].n, read[i].n);
        for (int k = 0; k < read[i].n; k++)
            if (kept[i].row[k] != read[i].row[k])
                fail_msg("case %d: place %d has row %lld, not %lld", i, k,
                         (long long)kept[i].row[k], (long long)read[i].row[k]);
    }
}
