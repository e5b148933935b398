/* tables_model.c -- what the screens of tables show: the files of
 * profiles/tables, read when they are first asked for. */
#include "screens/tables_model.h"

#include "base/mem.h"
#include "report/fact_machine.h"
#include "store/database.h"

/* One more table into the list, which takes a copy: it is read anew. */
static enum lab_status take(void *user, struct lab_fact_table *t)
{
    struct lab_tables_source *s = user;
    struct lab_fact_table *copy = NULL;
    struct lab_str note;
    size_t room = (size_t)s->count;
    lab_str_init(&note);
    enum lab_status st = lab_grow(&s->tables, (size_t)s->count, &room,
                                  sizeof(*s->tables), "the tables");
    if (!st)
        st = lab_fact_read(&copy, t->path);
    if (!st)
        st = lab_fact_add_machine(copy, s->db, &note);
    lab_str_release(&note);
    if (st) {
        lab_fact_free(copy);
        return st;
    }
    s->tables[s->count++] = copy;
    return LAB_OK;
}

/* They are shown where there is no database to keep them in, too. */
static void keep(const struct lab_tables_source *s)
{
    struct lab_str usual;
    struct lab_database *db = NULL;
    lab_str_init(&usual);
    enum lab_status st = s->db ? LAB_OK : lab_database_default_path(&usual);
    if (!st)
        st = lab_database_open(&db, s->db ? s->db : lab_str_text(&usual), NULL);
    for (int i = 0; !st && i < s->count; i++)
        st = lab_fact_store(db, s->tables[i]);
    lab_database_close(db);
    lab_str_release(&usual);
}

static enum lab_status load(void *user, struct lab_fact_table *const **tables,
                            int *count)
{
    struct lab_tables_source *s = user;
    if (!s->tables) {
        enum lab_status st = lab_fact_all(take, s);
        if (st) {
            lab_tables_source_release(s);
            return st;
        }
        keep(s);
    }
    *tables = s->tables;
    *count = s->count;
    return LAB_OK;
}

static enum lab_status open_one(void *user, const char *name,
                                struct lab_fact_table **out,
                                struct lab_str *note)
{
    const struct lab_tables_source *s = user;
    struct lab_fact_table *t = NULL;
    enum lab_status st = lab_fact_find(&t, name);
    if (!st)
        st = lab_fact_add_machine(t, s->db, note);
    if (st) {
        lab_fact_free(t);
        return st;
    }
    *out = t;
    return LAB_OK;
}

void lab_tables_source_init(struct lab_tables_source *s, const char *db)
{
    *s = (struct lab_tables_source){.db = db};
    s->model = (struct lab_tables_model){s, load, open_one};
}

void lab_tables_source_release(struct lab_tables_source *s)
{
    for (int i = 0; i < s->count; i++)
        lab_fact_free(s->tables[i]);
    lab_free(s->tables);
    s->tables = NULL;
    s->count = 0;
}
