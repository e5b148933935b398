/* Everything that reads, exports and imports a database, of a file that may
 * hold anything. */
#include "fuzz_read.h"

#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"
#include "store/ceilings.h"
#include "store/compare.h"
#include "store/counted.h"
#include "report/html.h"
#include "store/export.h"
#include "store/import.h"
#include "store/bench.h"
#include "store/timeline.h"
#include "store/tuned.h"

static struct lab_database *here; /* what is imported into */
static FILE *nowhere;

static void clean_up(void)
{
    lab_database_close(here);
    fclose(nowhere);
}

static void prepare(void)
{
    if (here)
        return;
    nowhere = fopen("/dev/null", "w");
    fuzz_check(nowhere && !lab_database_open(&here, fuzz_path("here.db"), NULL),
               "no database to import into");
    atexit(clean_up);
}

static bool see_run(void *user, const struct lab_run_row *row)
{
    *(int64_t *)user = row->id;
    return true;
}

static bool see_kernel(void *user, const struct lab_kernel_row *row)
{
    *(int64_t *)user += row->step_index != LAB_UNKNOWN;
    return true;
}

static bool see_pass(void *user, const struct lab_iteration_row *row)
{
    *(int64_t *)user += row->steps;
    return true;
}

static bool see_lab_row(void *user, const struct lab_bench_result *row)
{
    *(int64_t *)user += row->variant != NULL;
    return true;
}

static bool see_prediction(void *user, const struct lab_prediction *row)
{
    *(int64_t *)user += row->variant != NULL;
    return true;
}

static bool see_sweep_row(void *user, const struct lab_sweep_row *row)
{
    *(int64_t *)user += row->name != NULL;
    return true;
}

static bool see_tuned_row(void *user, const struct lab_tuned_row *row)
{
    *(int64_t *)user += row->unit != NULL;
    return true;
}

/* Sorted, all of them and the first ones. */
static void read_kernels(struct lab_database *db, int64_t run)
{
    int64_t seen = 0;
    for (int i = 0; i < LAB_KERNEL_SORT_COUNT * 2; i++) {
        const struct lab_kernel_filter f = {.sort =
                                                (enum lab_kernel_sort)(i / 2),
                                            .descending = i % 3 == 1,
                                            .limit = i % 2 == 1 ? 5 : 0};
        lab_query_kernels(db, run, &f, see_kernel, &seen);
    }
}

/* The iteration that a screen would open, and the middle of it. */
static void read_timeline(struct lab_database *db, int64_t run)
{
    struct lab_iteration_row of;
    struct lab_timeline *t;
    int64_t seen = 0;
    lab_query_iterations(db, run, see_pass, &seen);
    if (lab_query_iteration(db, run, LAB_UNKNOWN, &of))
        return;
    if (lab_timeline_load(&t, db, run, &of, NULL))
        return;
    const struct lab_timeline_filter part = {
        t->start_ns, t->start_ns / 2 + t->end_ns / 2, 3};
    lab_timeline_free(t);
    if (lab_timeline_load(&t, db, run, &of, &part) == LAB_OK)
        lab_timeline_free(t);
}

static void read_lab(struct lab_database *db, int64_t run)
{
    struct lab_ceiling_device device;
    struct lab_counted_run counted;
    struct lab_roof roof;
    int64_t seen = 0;
    lab_bench_results_read(db, run, see_lab_row, &seen);
    lab_predictions_read(db, run, see_prediction, &seen);
    lab_sweep_rows_read(db, run, see_sweep_row, &seen);
    lab_tuned_of_run(db, run, see_tuned_row, &seen);
    lab_tuned_list(db, see_tuned_row, &seen);
    lab_bench_run_fullest(db, "gemm", NULL, NULL, &seen);
    if (lab_ceiling_device_of_run(db, run, &device) == LAB_OK)
        lab_roof_find(db, &device, "copy", &roof);
    if (lab_counted_load(&counted, db, run) == LAB_OK)
        lab_counted_release(&counted);
}

/* Outputs are not read; what must hold is that nothing breaks. */
static void read_run(struct lab_database *db, int64_t run)
{
    struct lab_comparison c;
    read_kernels(db, run);
    read_timeline(db, run);
    read_lab(db, run);
    if (lab_comparison_load(&c, db, run, run) == LAB_OK)
        lab_comparison_release(&c);
    lab_export_csv(nowhere, db, run, LAB_EXPORT_ALL, true);
    lab_export_trace(nowhere, db, run, false);
    lab_report_html(nowhere, db, run);
}

static void see_import(void *user, const struct lab_imported *run)
{
    *(int64_t *)user += !run->skipped;
}

void fuzz_read_database(const char *file, const char *label)
{
    const struct lab_database_options reader = {.read_only = true};
    const struct lab_import_options dry = {label, true};
    struct lab_database *db;
    int64_t run = LAB_UNKNOWN;
    int64_t imported = 0;
    prepare();
    if (lab_database_open(&db, file, &reader) == LAB_OK) {
        lab_query_runs(db, see_run, &run);
        if (run != LAB_UNKNOWN)
            read_run(db, run);
        lab_database_close(db);
    }
    if (!lab_import_file(here, file, &dry, see_import, &imported) &&
        imported > 0)
        fuzz_accepted();
    fuzz_check(lab_query_last_run(here, &run) == LAB_E_NOTFOUND,
               "a dry import left something behind");
}
