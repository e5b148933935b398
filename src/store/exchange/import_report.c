#include "import_priv.h"

/* The texts of a run, in the order of the query's columns. */
enum { TEXTS = 4 };

static void list_texts(struct lab_imported *r, const char **out[TEXTS])
{
    out[0] = &r->uuid;
    out[1] = &r->lesson;
    out[2] = &r->hostname;
    out[3] = &r->user;
}

static struct lab_imported *add_run(struct lab_import_report *report)
{
    if (lab_grow(&report->runs, report->count, &report->room,
                 sizeof(*report->runs), "what was imported"))
        return NULL;
    struct lab_imported *run = &report->runs[report->count++];
    *run = (struct lab_imported){0};
    return run;
}

static enum lab_status read_run(struct lab_import_report *report,
                                const struct lab_import *in, sqlite3_stmt *stmt)
{
    struct lab_columns c = {stmt, 0};
    struct lab_imported *run = add_run(report);
    const char **texts[TEXTS];
    if (!run)
        return lab_no_memory("what was imported");
    run->run = lab_column_int(&c);
    run->as = lab_column_int(&c);
    run->skipped = lab_column_int(&c) != 0;
    bool alive = lab_column_int(&c) != 0;
    run->reason = !run->skipped ? NULL
                  : alive       ? "it is still being recorded"
                                : "it is here already";
    list_texts(run, texts);
    for (int i = 0; i < TEXTS; i++) {
        const char *text = lab_column_text(&c);
        if (text && !(*texts[i] = lab_strdup(text)))
            return lab_no_memory("what was imported");
    }
    run->steps = lab_column_int(&c);
    run->kernels = lab_column_int(&c);
    if (in->nsys)
        run->run = LAB_UNKNOWN;
    return LAB_OK;
}

enum lab_status lab_import_report_load(struct lab_import_report *report,
                                       struct lab_import *in)
{
    sqlite3_stmt *stmt;
    int rc = SQLITE_DONE;
    enum lab_status st = lab_database_prepare(
        in->db,
        "SELECT c.old, ifnull(m.new, c.here), m.new IS NULL, c.alive, c.uuid, "
        "r.lesson, r.hostname, ifnull(r.label, r.user), "
        "(SELECT count(*) FROM main.step AS s WHERE s.runId = m.new), "
        "(SELECT ifnull(sum(t.count), 0) FROM main.time_sum AS t WHERE t.runId "
        "= m.new AND t.level = 4) FROM temp.candidate AS c LEFT JOIN "
        "temp.run_map AS m ON m.old = c.old LEFT JOIN main.run AS r ON r.id = "
        "ifnull(m.new, c.here) ORDER BY c.old",
        &stmt);
    if (st)
        return st;
    while (st == LAB_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
        st = read_run(report, in, stmt);
    enum lab_status end = lab_query_end(in->db, stmt, rc);
    return st ? st : end;
}

void lab_import_report_release(struct lab_import_report *report)
{
    const char **texts[TEXTS];
    for (size_t i = 0; i < report->count; i++) {
        list_texts(&report->runs[i], texts);
        for (int k = 0; k < TEXTS; k++)
            lab_free((void *)*texts[k]);
    }
    lab_free(report->runs);
    *report = (struct lab_import_report){0};
}
