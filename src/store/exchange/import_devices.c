#include <string.h>

#include "import_priv.h"

/* Tables whose rows belong to a device, and only name the run that measured
 * them. Two rows are the same when `same` is; the first `needed` of those
 * columns always have a value. */
enum { SAME = 9 };
static const struct table {
    const char *name;
    int since; /* which schema of ours has it */
    struct lab_import_columns columns;
    int needed;
    const char *same[SAME];
} tables[] = {
    {"ceiling",
     3,
     {.list = "tbackend tdevice tuuid thostname tname rbest_per_s "
              "rmedian_per_s rworst_per_s irepeats isize tmeasured "
              "imeasured_ns tdriver tversion"},
     3,
     {"backend", "device", "name", "uuid", "hostname", "measured_ns"}},
    {"lab_tuned",
     5,
     {.fields = &lab_tuned_row_fields},
     6,
     {"backend", "device", "lab", "sizeClass", "precision", "candidate", "uuid",
      "hostname", "measured_ns"}},
};
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

/* The number that a run of theirs has here; NULL: it did not come. */
#define RUN_HERE                                                               \
    "(SELECT ifnull(m.new, c.here) FROM temp.candidate AS c LEFT JOIN "        \
    "temp.run_map AS m ON m.old = c.old WHERE c.old = t.runId)"

/* ---- checking ---- */

static enum lab_status check_same(struct lab_import *in, const struct table *t)
{
    bool there = true;
    enum lab_status st = LAB_OK;
    for (int i = 0; i < SAME && t->same[i] && st == LAB_OK && there; i++) {
        st = lab_import_column(in, t->name, t->same[i], &there);
        if (st == LAB_OK && !there)
            st = lab_fail(LAB_E_DB, "%s: %s has no column %s: refused",
                          in->path, t->name, t->same[i]);
    }
    return st;
}

enum lab_status lab_import_check_devices(struct lab_import *in)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < TABLES && st == LAB_OK && !in->nsys; i++) {
        const struct table *t = &tables[i];
        bool there;
        st = lab_import_find_table(in, t->name, t->since, &there);
        if (st == LAB_OK && there)
            st = check_same(in, t);
        if (st == LAB_OK && there)
            st = lab_import_check_columns(in, t->name, t->columns);
    }
    return st;
}

/* ---- copying ---- */

/* `h`, a row here, is the same as `t`, one of theirs. */
static void add_same(struct lab_str *sql, const struct table *t)
{
    for (int i = 0; i < SAME && t->same[i]; i++)
        lab_str_addf(sql, "%sh.%s IS t.%s", i ? " AND " : "", t->same[i],
                     t->same[i]);
}

static enum lab_status run_sql(struct lab_import *in, const struct lab_str *sql)
{
    if (sql->failed)
        return lab_no_memory("a query");
    return lab_import_exec(in, lab_str_text(sql));
}

/* A winner may be here without its run: that was deleted, or was still being
 * recorded when the file came before. Now the run is here, and is named. */
static enum lab_status name_runs(struct lab_import *in, const struct table *t)
{
    struct lab_str sql;
    lab_str_init(&sql);
    lab_str_addf(&sql,
                 "CREATE TEMP TABLE found (id INTEGER PRIMARY KEY, run);"
                 "INSERT INTO temp.found SELECT h.id, max(" RUN_HERE
                 ") FROM src.%s AS t JOIN main.%s AS h ON ",
                 t->name, t->name);
    add_same(&sql, t);
    lab_str_addf(&sql,
                 " WHERE NOT EXISTS (SELECT 1 FROM main.run AS r WHERE r.id = "
                 "h.runId) GROUP BY h.id;"
                 "UPDATE main.%s SET runId = (SELECT run FROM temp.found AS f "
                 "WHERE f.id = %s.id) WHERE id IN (SELECT id FROM temp.found "
                 "WHERE run IS NOT NULL);"
                 "DROP TABLE temp.found",
                 t->name, t->name);
    enum lab_status st = run_sql(in, &sql);
    lab_str_release(&sql);
    return st;
}

/* Adds the columns to insert into, and what is inserted. */
static enum lab_status list_columns(struct lab_import *in,
                                    const struct table *t, struct lab_str *to,
                                    struct lab_str *from, bool *run)
{
    struct lab_import_columns c = t->columns;
    bool there;
    enum lab_status st = LAB_OK;
    *run = false;
    while (st == LAB_OK && lab_import_next_column(&c)) {
        st = lab_import_column(in, t->name, c.name, &there);
        if (st || !there)
            continue;
        bool is_run = strcmp(c.name, "runId") == 0;
        lab_str_addf(to, "%s%s", to->len ? ", " : "", c.name);
        lab_str_addf(from, "%s%s%s", from->len ? ", " : "",
                     is_run ? RUN_HERE : "t.", is_run ? "" : c.name);
        *run |= is_run;
    }
    return st;
}

/* Of those that are alike in the file the first. They are joined with ours, not
 * looked for one by one: for a join SQLite makes an index. */
static enum lab_status copy_new(struct lab_import *in, const struct table *t,
                                const struct lab_str *to,
                                const struct lab_str *from)
{
    struct lab_str sql;
    lab_str_init(&sql);
    lab_str_addf(&sql,
                 "INSERT INTO main.%s (%s) SELECT %s FROM src.%s AS t LEFT "
                 "JOIN main.%s AS h ON ",
                 t->name, lab_str_text(to), lab_str_text(from), t->name,
                 t->name);
    add_same(&sql, t);
    lab_str_add(&sql, " WHERE h.id IS NULL");
    for (int i = 0; i < t->needed; i++)
        lab_str_addf(&sql, " AND t.%s IS NOT NULL", t->same[i]);
    for (int i = 0; i < SAME && t->same[i]; i++)
        lab_str_addf(&sql, "%s t.%s", i ? "," : " GROUP BY", t->same[i]);
    lab_str_add(&sql, " ORDER BY min(t.rowid)");
    sql.failed |= to->failed || from->failed;
    enum lab_status st = run_sql(in, &sql);
    lab_str_release(&sql);
    return st;
}

static enum lab_status copy_table(struct lab_import *in, const struct table *t)
{
    struct lab_str to;
    struct lab_str from;
    bool run;
    lab_str_init(&to);
    lab_str_init(&from);
    enum lab_status st = list_columns(in, t, &to, &from, &run);
    if (st == LAB_OK && run)
        st = name_runs(in, t);
    if (st == LAB_OK)
        st = copy_new(in, t, &to, &from);
    lab_str_release(&to);
    lab_str_release(&from);
    return st;
}

enum lab_status lab_import_copy_devices(struct lab_import *in)
{
    enum lab_status st = LAB_OK;
    for (int i = 0; i < TABLES && st == LAB_OK && !in->nsys; i++) {
        bool there;
        st = lab_import_has_table(in, tables[i].name, &there);
        if (st == LAB_OK && there)
            st = copy_table(in, &tables[i]);
    }
    return st;
}
