/* sample.c -- `sample KIND DATABASE [ITERATIONS STEPS]` adds a run of the tests'
 * samples to a database, for the golden files. What the machine and the moment
 * would say of it is always the same. */
#include "test.h"

#include "export_sample.h"
#include "lab_samples.h"
#include "store_samples.h"
#include "timeline_samples.h"
#include "trace/intern.h"

static const struct sample_variant variant = {"mma", "tf32", "64", 30000};

static const struct sample_variant both[] = {
    {"mma", "tf32", "64", 30000},
    {"mma", "bf16", "64", 15000},
    {"wg\"<mma>", "bf16", "64", 10000}};
static const struct sample_variant half[] = {{"wg\"<mma>", "bf16", "64", 10000},
                                             {"mma", "bf16", "64", 7500}};

static void facts(const char *path)
{
    char sql[512];
    unsigned file = 0;
    for (const char *p = path; *p; p++)
        file = file * 31 + (unsigned char)*p;
    snprintf(sql, sizeof(sql),
             "UPDATE run SET hostname = 'vm', user = 'anna', pid = 1, version "
             "= '0.1.0', commitId = 'c0ffee', uuid = '%x-' || id, started = "
             "'2026-01-02T03:04:05.006Z', ended = '2026-01-02T03:04:07.006Z', "
             "started_ns = 1767323045006000000, ended_ns = "
             "1767323047006000000",
             file);
    sample_sql(path, sql);
}

int main(int argc, char **argv)
{
    const char *kind = argc > 2 ? argv[1] : "";
    const char *path = argv[2];
    long iterations = argc > 4 ? strtol(argv[3], NULL, 10) : 1;
    int32_t steps = argc > 4 ? (int32_t)strtol(argv[4], NULL, 10) : 1;
    enum lab_status st = LAB_OK;
    if (strcmp(kind, "run") == 0)
        st = sample_run(path, iterations, steps, NULL);
    else if (strcmp(kind, "timeline") == 0)
        st = sample_timeline_run(path, NULL);
    else if (strcmp(kind, "timeline_cpu") == 0)
        st = sample_timeline_cpu(path, NULL);
    else if (strcmp(kind, "empty") == 0)
        st = sample_timeline_empty(path, NULL);
    else if (strcmp(kind, "lab") == 0 || strcmp(kind, "traced_lab") == 0)
        st = sample_lab(path, &variant, 1, kind[0] == 't', NULL);
    else if (strcmp(kind, "labs") == 0)
        st = sample_lab(path, both, 3, true, NULL)
                 ? LAB_E_DB
                 : sample_lab(path, half, 2, true, NULL);
    else if (strcmp(kind, "ladder") == 0)
        sample_ladder(path);
    else if (strcmp(kind, "sweep") == 0)
        sample_sweep(path);
    else if (strcmp(kind, "counters") == 0)
        sample_counters(path, 5);
    else if (strcmp(kind, "gpu") == 0)
        record_gpu_run(path);
    else
        return 2;
    if (st) {
        fprintf(stderr, "%s\n", lab_error());
        return 1;
    }
    facts(path);
    lab_intern_release();
    return 0;
}
