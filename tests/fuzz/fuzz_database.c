/* Any file is a database or refused: what is accepted can be listed, compared,
 * exported and imported, whatever is in it. */
#include "fuzz_driver.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/compare.h"
#include "store/export.h"
#include "store/import.h"
#include "trace/record.h"

static char directory[] = "/tmp/lab_fuzz_database.XXXXXX";
static char file[64];
static char target[64];
static struct lab_database *here; /* what is imported into */
static FILE *nowhere;

static void clean_up(void)
{
    static const char *const ends[] = {"", "-wal", "-shm", "-journal"};
    char path[96];
    lab_database_close(here);
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof(path), "%s%s", file, ends[i]);
        unlink(path);
        snprintf(path, sizeof(path), "%s%s", target, ends[i]);
        unlink(path);
    }
    rmdir(directory);
    fclose(nowhere);
}

static void prepare(void)
{
    if (here)
        return;
    nowhere = fopen("/dev/null", "w");
    if (!nowhere || !mkdtemp(directory))
        abort();
    snprintf(file, sizeof(file), "%s/in.db", directory);
    snprintf(target, sizeof(target), "%s/here.db", directory);
    if (lab_database_open(&here, target, NULL))
        abort();
    atexit(clean_up);
}

static void write_input(const uint8_t *data, size_t size)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
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

/* Outputs are for nobody; what must hold is that nothing breaks. */
static void read_run(struct lab_database *db, int64_t run)
{
    struct lab_comparison c;
    int64_t seen = 0;
    for (int i = 0; i < LAB_KERNEL_SORT_COUNT * 2; i++) {
        const struct lab_kernel_filter f = {
            .step_index = i % 2 ? 1 : LAB_UNKNOWN,
            .iteration = LAB_UNKNOWN,
            .sort = (enum lab_kernel_sort)(i / 2),
            .limit = 5};
        lab_query_kernels(db, run, &f, see_kernel, &seen);
    }
    if (lab_comparison_load(&c, db, run, run) == LAB_OK)
        lab_comparison_release(&c);
    lab_export_csv(nowhere, db, run, LAB_EXPORT_ALL);
    lab_export_trace(nowhere, db, run);
    lab_export_html(nowhere, db, run);
}

static void see_import(void *user, const struct lab_imported *run)
{
    *(int64_t *)user += run->skipped;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct lab_database_options reader = {.read_only = true};
    const struct lab_import_options dry = {NULL, true};
    struct lab_database *db;
    int64_t run = LAB_UNKNOWN;
    prepare();
    write_input(data, size);
    if (lab_database_open(&db, file, &reader) == LAB_OK) {
        lab_query_runs(db, see_run, &run);
        if (run != LAB_UNKNOWN)
            read_run(db, run);
        lab_database_close(db);
    }
    lab_import_file(here, file, &dry, see_import, &run);
    if (lab_query_last_run(here, &run) != LAB_E_NOTFOUND)
        abort(); /* a dry run left something behind */
    return 0;
}
