/* What a lab measured elsewhere: on the GPU whose runs ship with the program, or
 * earlier on this machine. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/datadir.h"
#include "base/str.h"
#include "bench/lab_feed.h"
#include "lesson/lesson.h"
#include "report/suggest.h"
#include "store/predictions.h"
#include "store/query.h"

enum { LAUNCHES = 1024 };

struct taking {
    struct lab_ui_lab *ui;
    const struct lab_bench *lab;
    const char *name; /* of the set; NULL: by its backend */
    const char *but;  /* not on this backend; NULL: on any */
    int set;
    enum lab_status status;
    struct launch {
        int64_t exec;
        int64_t row; /* of ui->rows */
    } launches[LAUNCHES];
    int n_launches;
};

static bool take_kernel(void *user, const struct lab_kernel_row *k)
{
    struct taking *t = user;
    for (int i = 0; i < t->n_launches; i++)
        if (t->launches[i].exec == k->exec)
            lab_bench_model_stored_kernel(t->ui, t->launches[i].row, k);
    return true;
}

static bool take_row(void *user, const struct lab_bench_row *row)
{
    struct taking *t = user;
    int64_t at = -1;
    if (row->lab && strcmp(row->lab, t->lab->ladder->name) == 0)
        t->status =
            lab_bench_model_stored(t->ui, t->set, t->lab->ladder, row, &at);
    if (at >= 0 && row->traced_exec != LAB_UNKNOWN && t->n_launches < LAUNCHES)
        t->launches[t->n_launches++] = (struct launch){row->traced_exec, at};
    return t->status == LAB_OK;
}

static bool take_run(void *user, const struct lab_run_row *run)
{
    struct taking *t = user;
    struct lab_str device;
    lab_str_init(&device);
    lab_str_add_visible(&device, run->device ? run->device : "",
                        run->device ? strlen(run->device) : 0, false);
    bool cpu = run->backend && strcmp(run->backend, "cpu") == 0;
    t->set = lab_bench_model_add_set(t->ui,
                                     t->name ? t->name
                                     : cpu   ? "CPU"
                                             : "GPU",
                                     lab_str_text(&device));
    if (t->set >= 0) {
        struct lab_ui_lab_set *set = &t->ui->sets[t->set];
        snprintf(set->badge, sizeof(set->badge), "%s on %.40s",
                 t->name ? t->name : "measured", lab_str_text(&device));
        snprintf(set->note, sizeof(set->note), "run %lld of %.10s",
                 (long long)run->id, run->started ? run->started : "");
    }
    lab_str_release(&device);
    return false;
}

/* Of this lesson, else of any of the ladder. */
static enum lab_status find_run(struct lab_database *db,
                                const struct lab_bench *lab, const char *but,
                                int64_t *run)
{
    const char *ladder = lab->ladder->name;
    enum lab_status st = LAB_E_NOTFOUND;
    if (lab->lesson)
        st = lab_bench_run_fullest(db, ladder, lab->lesson->id, but, run);
    if (st == LAB_E_NOTFOUND)
        st = lab_bench_run_fullest(db, ladder, NULL, but, run);
    return st;
}

static enum lab_status read_run(struct taking *t, struct lab_database *db)
{
    int64_t run = 0;
    enum lab_status st = find_run(db, t->lab, t->but, &run);
    if (!st)
        st = lab_query_run(db, run, take_run, t);
    if (!st && t->set < 0)
        st = lab_fail(LAB_E_NOTFOUND, "there is no such run");
    if (!st)
        st = lab_bench_rows_read(db, run, take_row, t);
    const struct lab_kernel_filter all = {.limit = 0};
    if (!st && t->n_launches)
        st = lab_query_kernels(db, run, &all, take_kernel, t);
    return st ? st : t->status;
}

static enum lab_status read_file(struct taking *t, const char *path)
{
    struct lab_database_options options = {.read_only = true,
                                           .busy_timeout_ms = 500};
    struct lab_database *db = NULL;
    t->set = -1;
    if (access(path, R_OK))
        return lab_fail(LAB_E_NOTFOUND, "%s is not there", path);
    enum lab_status st = lab_database_open(&db, path, &options);
    if (!st)
        st = read_run(t, db);
    lab_database_close(db);
    return st;
}

enum lab_status lab_bench_model_recorded(struct lab_ui_lab *ui,
                                         const struct lab_bench *lab)
{
    struct taking t = {.ui = ui, .lab = lab, .name = "recorded"}; /* 17 KiB */
    struct lab_str path;
    lab_str_init(&path);
    enum lab_status st = lab_data_path(LAB_RECORDED_RUNS, &path);
    if (!st)
        st = read_file(&t, lab_str_text(&path));
    lab_str_release(&path);
    return st;
}

enum lab_status lab_bench_model_earlier(struct lab_ui_lab *ui,
                                        const struct lab_bench *lab)
{
    struct taking t = {.ui = ui, .lab = lab, .but = lab->backend->ops->name};
    struct lab_str path;
    enum lab_status st = LAB_OK;
    lab_str_init(&path);
    if (lab->options->db)
        lab_str_add(&path, lab->options->db);
    else
        st = lab_database_default_path(&path);
    if (!st)
        st = read_file(&t, lab_str_text(&path));
    lab_str_release(&path);
    return st;
}
