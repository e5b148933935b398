/* pass_samples.h -- long runs for the tests of what is kept of their passes,
 * and what is read of them. A failure fails the test. */
#pragma once
#include <stddef.h>
#include "store/query.h"
#include "store/timeline.h"

#define SAMPLE_PASS_ROWS "FROM time_sum WHERE level = 5"
#define SAMPLE_RANGE_ROWS "FROM time_sum WHERE level = 6"

/* `steps` steps of iterations of 13: now and then one of them runs in part or
 * once more. Kernels with ties and unknown values, some of another step between
 * those of one. */
void sample_pass_run(const char *path, int64_t steps, uint64_t seed);
/* `passes` of `steps` steps, a kernel to each; `far`: the place in the schedule
 * of the last one of each pass. */
void sample_even_run(const char *path, int64_t passes, int32_t steps,
                     int32_t far);

enum { SAMPLE_PASSES_MOST = 9000 };
struct sample_passes {
    struct lab_iteration_row row[SAMPLE_PASSES_MOST];
    int n;
};
void sample_list_passes(const char *path, int64_t run,
                        struct sample_passes *out);
void sample_compare_passes(const struct sample_passes *kept,
                           const struct sample_passes *read);
/* How many are kept and fit the run. */
size_t sample_load_passes(const char *path, int64_t run);

/* Pages of kernels: each sort, both ways, of some steps and iterations, from
 * some places on. */
enum { SAMPLE_FILTERS = 5, SAMPLE_OFFSETS = 3, SAMPLE_PAGE = 60 };
enum {
    SAMPLE_PAGES = LAB_KERNEL_SORT_COUNT * 2 * SAMPLE_FILTERS * SAMPLE_OFFSETS
};
struct sample_page {
    int64_t row[SAMPLE_PAGE];
    int n;
};
void sample_list_pages(const char *path, int64_t run,
                       struct sample_page out[SAMPLE_PAGES]);
void sample_compare_pages(const struct sample_page kept[SAMPLE_PAGES],
                          const struct sample_page read[SAMPLE_PAGES]);
