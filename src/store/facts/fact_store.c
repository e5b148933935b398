/* fact_store.c -- tables of facts that ship, and as tables of the database: SQL
 * then joins them with runs. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/datadir.h"
#include "base/error.h"
#include "db/row.h"
#include "store/fact_table.h"

static const char folder[] = "profiles/tables";

/* ---- those that ship ---- */

enum { MOST_TABLES = 200 };

/* By the row of the course, then by name. */
static bool is_before(const struct lab_fact_table *a,
                      const struct lab_fact_table *b)
{
    int way = strcmp(a->course, b->course);
    return way ? way < 0 : strcmp(a->name, b->name) < 0;
}

/* A file that is wrong takes no other away: the first error is returned when all
 * were read. */
static enum lab_status read_all(const char *dir, struct lab_fact_table **list,
                                int *count)
{
    DIR *d = opendir(dir);
    if (!d)
        return lab_fail(LAB_E_IO, "[table.directory] %s: cannot be read", dir);
    enum lab_status st = LAB_OK;
    enum lab_status wrong = LAB_OK;
    struct lab_kept_error why;
    struct lab_str path;
    struct lab_str course;
    lab_str_init(&path);
    lab_str_init(&course);
    for (struct dirent *e; !st && *count < MOST_TABLES && (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        if (n < 5 || strcmp(e->d_name + n - 4, ".csv") != 0)
            continue;
        lab_str_clear(&path);
        lab_str_addf(&path, "%s/%s", dir, e->d_name);
        struct lab_fact_table *t = NULL;
        st = lab_str_check(&path, "a path");
        if (!st)
            st = lab_fact_read(&t, lab_str_text(&path), &course);
        if (st == LAB_E_PARSE) {
            if (!wrong)
                lab_error_keep(&why);
            wrong = st;
            st = LAB_OK;
            continue;
        }
        if (st)
            break;
        int at = (*count)++;
        for (; at > 0 && is_before(t, list[at - 1]); at--)
            list[at] = list[at - 1];
        list[at] = t;
    }
    lab_str_release(&path);
    lab_str_release(&course);
    closedir(d);
    return !st && wrong ? lab_error_again(wrong, &why) : st;
}

enum lab_status lab_fact_all(lab_fact_each_fn *each, void *user)
{
    struct lab_fact_table *list[MOST_TABLES];
    int count = 0;
    struct lab_str dir;
    lab_str_init(&dir);
    struct lab_kept_error why;
    enum lab_status read = lab_data_path(folder, &dir);
    if (!read)
        read = read_all(lab_str_text(&dir), list, &count);
    lab_error_keep(&why);
    enum lab_status st = read == LAB_E_PARSE ? LAB_OK : read;
    for (int i = 0; i < count; i++) {
        if (!st)
            st = each(user, &list[i]);
        lab_fact_free(list[i]);
    }
    lab_str_release(&dir);
    return !st && read ? lab_error_again(read, &why) : st;
}

struct of_lesson {
    const char *lesson;
    lab_fact_each_fn *each;
    void *user;
};

static enum lab_status each_of_lesson(void *user, struct lab_fact_table **table)
{
    struct of_lesson *f = user;
    size_t n = strlen(f->lesson);
    for (const char *at = (*table)->lessons; *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        if (len == n && strncmp(at, f->lesson, n) == 0)
            return f->each(f->user, table);
        at += len;
    }
    return LAB_OK;
}

enum lab_status lab_fact_of_lesson(const char *lesson, lab_fact_each_fn *each,
                                   void *user)
{
    struct of_lesson f = {lesson, each, user};
    enum lab_status st = lab_fact_all(each_of_lesson, &f);
    return st == LAB_E_NOMEM ? st : LAB_OK;
}

struct search {
    const char *name;
    struct lab_fact_table *found;
    struct lab_str names;
};

/* "c3" is the row C03. */
static bool is_row(const char *course, const char *name)
{
    size_t zeros = 1 + strspn(name[0] ? name + 1 : name, "0");
    size_t skip = 1 + strspn(course[0] ? course + 1 : course, "0");
    return course[0] && name[0] && name[zeros] &&
           strncasecmp(course, name, 1) == 0 &&
           strcasecmp(course + skip, name + zeros) == 0;
}

static enum lab_status compare_name(void *user, struct lab_fact_table **t)
{
    struct search *s = user;
    const char *name = (*t)->name;
    lab_str_addf(&s->names, "%s%s", s->names.len ? " " : "", name);
    if (!s->found &&
        (strcmp(name, s->name) == 0 || is_row((*t)->course, s->name))) {
        s->found = *t;
        *t = NULL;
    }
    return LAB_OK;
}

/* `names`: of all tables, with blanks between. */
static enum lab_status no_table(const char *name, const char *names)
{
    enum { MOST = 256, WORD = 64 };
    char word[MOST][WORD];
    const char *list[MOST];
    size_t n = 0;
    for (const char *at = names; *at && n < MOST; n++) {
        size_t len = strcspn(at, " ");
        snprintf(word[n], WORD, "%.*s", (int)len, at);
        list[n] = word[n];
        at += len + strspn(at + len, " ");
    }
    const char *near = lab_nearest(name, list, n);
    return lab_fail(LAB_E_NOTFOUND,
                    "[table.missing] there is no table \"%s\"%s%s%s: %s", name,
                    near ? "; did you mean " : "", near ? near : "",
                    near ? "?" : "", names);
}

enum lab_status lab_fact_find(struct lab_fact_table **out, const char *name)
{
    if (strchr(name, '/') || strstr(name, ".csv"))
        return lab_fact_read(out, name, NULL);
    struct search s = {.name = name};
    lab_str_init(&s.names);
    enum lab_status st = lab_fact_all(compare_name, &s);
    if ((!st || st == LAB_E_PARSE) && s.found) {
        *out = s.found;
        s.found = NULL;
        st = LAB_OK;
    } else if (!st) {
        st = no_table(name, lab_str_text(&s.names));
    }
    lab_fact_free(s.found);
    lab_str_release(&s.names);
    return st;
}

/* ---- in the database ---- */

/* The statements that make the table, and what they hold: compared with what
 * was kept. Names are checked when the file is read: letters, digits, _. */
static void write_create(const struct lab_fact_table *t, struct lab_str *sql)
{
    lab_str_addf(sql, "CREATE TABLE course_%s (", t->name);
    for (int i = 0; i < t->columns; i++)
        lab_str_addf(sql, "%s\"%s\" %s", i ? ", " : "", t->column[i].sql,
                     !t->column[i].unit                        ? "TEXT"
                     : strcmp(t->column[i].unit, "count") == 0 ? "NUMERIC"
                                                               : "REAL");
    lab_str_add(sql, ")");
}

static void write_insert(const struct lab_fact_table *t, struct lab_str *sql)
{
    lab_str_addf(sql, "INSERT INTO course_%s VALUES (", t->name);
    for (int i = 0; i < t->columns; i++)
        lab_str_add(sql, i ? ", ?" : "?");
    lab_str_add(sql, ")");
}

static double stored(const struct lab_fact_cell *cell)
{
    double v = (double)cell->value;
    return isfinite(v) ? v : (double)NAN;
}

static enum lab_status insert_rows(struct lab_database *db,
                                   const struct lab_fact_table *t)
{
    struct lab_str sql;
    lab_str_init(&sql);
    write_insert(t, &sql);
    struct lab_stmt s = lab_stmt_built(db, &sql);
    for (int row = 0; !s.st && row < t->rows; row++) {
        for (int i = 0; i < t->columns; i++) {
            const struct lab_fact_cell *cell = lab_fact_at(t, row, i);
            if (t->column[i].unit)
                lab_bind_real(s.sql, i + 1, stored(cell));
            else
                lab_bind_text(s.sql, i + 1, cell->text);
        }
        while (lab_stmt_next(&s))
            ;
        if (!s.st)
            sqlite3_reset(s.sql);
    }
    return lab_stmt_end(&s);
}

/* Is the table kept, with the same columns and the same rows? */
static enum lab_status is_kept(struct lab_database *db,
                               const struct lab_fact_table *t,
                               const char *create, bool *kept)
{
    static const char find[] = "SELECT sql FROM sqlite_master WHERE "
                               "type = 'table' AND name = 'course_' || ?1";
    struct lab_stmt s = lab_stmt_new(db, find);
    *kept = false;
    if (!s.st)
        lab_bind_text(s.sql, 1, t->name);
    if (lab_stmt_next(&s)) {
        const char *sql = (const char *)sqlite3_column_text(s.sql, 0);
        *kept = sql && strcmp(sql, create) == 0;
    }
    enum lab_status st = lab_stmt_end(&s);
    if (st || !*kept)
        return st;
    struct lab_str sql;
    lab_str_init(&sql);
    lab_str_addf(&sql, "SELECT * FROM course_%s ORDER BY rowid", t->name);
    struct lab_stmt rows = lab_stmt_built(db, &sql);
    int row = 0;
    while (*kept && lab_stmt_next(&rows)) {
        for (int i = 0; *kept && row < t->rows && i < t->columns; i++) {
            const struct lab_fact_cell *cell = lab_fact_at(t, row, i);
            bool null = sqlite3_column_type(rows.sql, i) == SQLITE_NULL;
            const char *text = (const char *)sqlite3_column_text(rows.sql, i);
            if (t->column[i].unit)
                *kept =
                    null ? isnan(stored(cell))
                         : sqlite3_column_double(rows.sql, i) == stored(cell);
            else
                *kept =
                    null ? !cell->text
                         : cell->text && text && strcmp(text, cell->text) == 0;
        }
        row++;
    }
    *kept = *kept && row == t->rows;
    return lab_stmt_end(&rows);
}

static enum lab_status replace(struct lab_database *db,
                               const struct lab_fact_table *t,
                               const char *create)
{
    struct lab_str drop;
    lab_str_init(&drop);
    lab_str_addf(&drop, "DROP TABLE IF EXISTS course_%s", t->name);
    enum lab_status st = lab_str_check(&drop, "a table of facts");
    if (!st)
        st = lab_database_begin(db, "keeping a table of facts");
    if (!st)
        st = lab_database_exec(db, lab_str_text(&drop),
                               "keeping a table of facts");
    if (!st)
        st = lab_database_exec(db, create, "keeping a table of facts");
    if (!st)
        st = insert_rows(db, t);
    if (!st)
        st = lab_database_exec(db, "COMMIT", "keeping a table of facts");
    if (st)
        lab_database_rollback(db);
    lab_str_release(&drop);
    return st;
}

enum lab_status lab_fact_store(struct lab_database *db,
                               const struct lab_fact_table *t)
{
    struct lab_str create;
    bool kept = false;
    for (const char *p = t->name; *p; p++)
        if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789_", *p))
            return lab_fail(LAB_E_PARSE,
                            "[table.name] %s: the name of a table has small "
                            "letters, digits and _ only",
                            t->path);
    lab_str_init(&create);
    write_create(t, &create);
    enum lab_status st = lab_str_check(&create, "a table of facts");
    if (!st)
        st = is_kept(db, t, lab_str_text(&create), &kept);
    if (!st && !kept)
        st = replace(db, t, lab_str_text(&create));
    lab_str_release(&create);
    return st;
}
