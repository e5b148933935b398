/* Imports a file into a database and adds up what the import reports and which
 * rows came of it; import_sample.h has the calls. */
#include "import_sample.h"

#include "test.h"

const char *here;
const char *theirs;

int import_setup(void **state)
{
    static struct seen seen;
    seen = (struct seen){0};
    here = sample_path("here.db");
    theirs = sample_path("theirs.db");
    *state = &seen;
    return 0;
}

void see_import(void *user, const struct lab_imported *r)
{
    struct seen *s = user;
    s->imported += !r->skipped;
    s->skipped += r->skipped;
    s->as = r->as;
    s->steps += r->steps;
    s->kernels += r->kernels;
    snprintf(s->uuid, sizeof(s->uuid), "%s", r->uuid ? r->uuid : "");
    snprintf(s->reason, sizeof(s->reason), "%s", r->reason ? r->reason : "");
    snprintf(s->user, sizeof(s->user), "%s", r->user ? r->user : "");
}

enum lab_status import(const char *db_path, const char *file,
                       const struct lab_import_options *options,
                       struct seen *seen)
{
    static const struct lab_import_options none = {NULL, false};
    struct lab_database *db;
    struct seen ignored;
    seen = seen ? seen : &ignored;
    *seen = (struct seen){0};
    assert_ok(lab_database_open(&db, db_path, NULL));
    enum lab_status st =
        lab_import_file(db, file, options ? options : &none, see_import, seen);
    lab_database_close(db);
    return st;
}

int64_t size_of(const char *path)
{
    static const char *const tables[] = {"run",
                                         "step",
                                         "op_kernel",
                                         "op_memory",
                                         "metric_value",
                                         "loss",
                                         "StringIds",
                                         "time_sum",
                                         "ceiling",
                                         "lab_row",
                                         "lab_said",
                                         "lab_tuned",
                                         "sweep_row",
                                         "choice",
                                         "CUPTI_ACTIVITY_KIND_KERNEL",
                                         "CUPTI_ACTIVITY_KIND_RUNTIME",
                                         "CUPTI_ACTIVITY_KIND_MEMCPY",
                                         "NVTX_EVENTS",
                                         "META_DATA_CAPTURE"};
    uint64_t all = 0; /* of so many tables it wraps */
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        char sql[128];
        snprintf(sql, sizeof(sql), "SELECT count(*) FROM \"%s\"", tables[i]);
        all = all * 31 + (uint64_t)sample_int(path, sql);
    }
    return (int64_t)all;
}
