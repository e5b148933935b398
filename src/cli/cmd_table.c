/* cmd_table.c -- lapenna-lab table [NAME]: the course's reference tables, with
 * the machine at hand, and formulas that follow a changed number. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cmd.h"
#include "debug/options.h"
#include "report/exit.h"
#include "report/fact_machine.h"
#include "report/fact_text.h"
#include "report/json_line.h"
#include "report/print.h"
#include "report/text_table.h"
#include "store/database.h"
#include "store/fact_table.h"

static void take_name(struct lab_options *o, struct argp_state *state)
{
    if (o->n_words > 1)
        lab_usage_error(
            state, "[usage.tables] one table at a time: '%s' is one too many",
            o->words[1]);
    if (o->n_words == 0 && (o->n_filters || o->n_changes || o->sort))
        lab_usage_error(state, "[usage.table-name] --filter, --set and --sort "
                               "are of one table: name it");
    if (o->csv && o->json)
        lab_usage_error(state,
                        "[option.csv-json] --csv or --json, one of them");
}

static const struct lab_command_line usage = {
    .name = "lapenna-lab table",
    .commands = LAB_FOR_TABLE,
    .args = "[NAME]",
    .doc =
        "The reference tables of the course: hardware, formats, networks, and "
        "calculators; with this machine as one more row.\v"
        "NAME is a table's name, its row of the course (C01), or a file: "
        "docs/tables.md has the format. Without NAME: the tables. They are "
        "also in the database, as course_NAME.\n\n"
        "  lapenna-lab table gpus --set A100:boost=1500\n"
        "  lapenna-lab table gpus --filter 'sms>60' --sort boost --reverse\n\n"
        "Exit status: 0 done, 2 wrong usage, 3 a table that is wrong.",
    .check = take_name};

/* ---- in the database ---- */

struct keeper {
    struct lab_database *db;
    const char *path;
};

static enum lab_status keep(void *user, struct lab_fact_table **t)
{
    const struct keeper *k = user;
    struct lab_str note;
    lab_str_init(&note);
    enum lab_status st = lab_fact_add_machine(*t, k->path, &note);
    lab_str_release(&note);
    return st ? st : lab_fact_store(k->db, *t);
}

/* Without a database the tables are shown all the same; one that was named
 * must do. */
static enum lab_status keep_all(const char *path)
{
    struct lab_str usual;
    struct keeper k = {.path = path};
    lab_str_init(&usual);
    enum lab_status st = path ? LAB_OK : lab_database_default_path(&usual);
    if (!st)
        st = lab_database_open(&k.db, path ? path : lab_str_text(&usual), NULL);
    if (!st)
        st = lab_fact_all(keep, &k);
    lab_database_close(k.db);
    lab_str_release(&usual);
    if (!st || path || st == LAB_E_PARSE)
        return st;
    lab_warn("the tables are not kept in the database: %s", lab_error());
    return LAB_OK;
}

/* ---- the list ---- */

struct list {
    const struct lab_options *o;
    struct lab_text_table table;
};

static enum lab_status add_to_list(void *user, struct lab_fact_table **table)
{
    struct list *l = user;
    const struct lab_fact_table *t = *table;
    if (l->o->json) {
        json_t *line = lab_json_new("table");
        lab_json_text(line, "name", t->name);
        lab_json_text(line, "course", t->course);
        lab_json_text(line, "title", t->title);
        lab_json_int(line, "rows", lab_fact_rows_with_machine(t));
        lab_json_int(line, "columns", t->columns);
        lab_json_text(line, "sql", t->name);
        return lab_json_print(line);
    }
    lab_text_table_add(&l->table, t->name);
    lab_text_table_add(&l->table, t->course);
    lab_text_table_add_int(&l->table, lab_fact_rows_with_machine(t));
    lab_text_table_add(&l->table, t->title);
    return LAB_OK;
}

static enum lab_status list_all(const struct lab_options *o)
{
    static const char *const heads[] = {"name", "row", ">rows", "what", NULL};
    struct list l = {.o = o};
    if (!o->json)
        lab_text_table_init(&l.table, heads);
    enum lab_status st = lab_fact_all(add_to_list, &l);
    if (o->json)
        return st;
    if (st == LAB_E_PARSE) { /* the others are listed */
        struct lab_kept_error why;
        lab_error_keep(&why);
        enum lab_status put = lab_text_table_put(&l.table, "");
        return put ? put : lab_error_again(st, &why);
    }
    if (st) {
        lab_text_table_release(&l.table);
        return st;
    }
    return lab_text_table_put(&l.table, "");
}

/* ---- one ---- */

static enum lab_status print_text(const struct lab_fact_table *t,
                                  const int *shown, int count, const char *note)
{
    size_t width = lab_print_columns(); /* 0 in a pipe: lines are not cut */
    struct lab_str text;
    lab_str_init(&text);
    lab_print_wrap(width, 0);
    lab_printf(stdout, "%s%s%s\n\n", t->title, t->course[0] ? ", " : "",
               t->course);
    lab_print_wrap(0, 0);
    enum lab_status st = lab_fact_grid(t, shown, count, width, &text);
    if (!st)
        st = lab_print_str(&text);
    if (st) {
        lab_str_release(&text);
        return st;
    }
    lab_str_init(&text);
    lab_str_add_char(&text, '\n');
    if (t->about[0])
        lab_str_addf(&text, "%s\n", t->about);
    if (note[0])
        lab_str_addf(&text, "%s\n", note);
    lab_fact_notes(t, shown, count, &text);
    if (t->lessons[0])
        lab_str_addf(&text, "used in: %s\n", t->lessons);
    lab_print_wrap(width, 2);
    lab_print_lines(&text);
    lab_print_wrap(0, 0);
    st = lab_str_check(&text, "the output");
    lab_str_release(&text);
    return st ? st : lab_print_check();
}

static enum lab_status print_rows(const struct lab_options *o,
                                  const struct lab_fact_table *t,
                                  const int *shown, int count, const char *note)
{
    if (o->csv) {
        struct lab_str text;
        lab_str_init(&text);
        lab_fact_csv(t, shown, count, &text);
        enum lab_status csv = lab_str_check(&text, "the output");
        if (!csv)
            lab_print_text(stdout, lab_str_text(&text)); /* no line breaks */
        lab_str_release(&text);
        return csv ? csv : lab_print_check();
    }
    if (!o->json)
        return print_text(t, shown, count, note);
    enum lab_status st = LAB_OK;
    for (int i = 0; !st && i < count; i++)
        st = lab_json_print(lab_fact_json(t, shown[i]));
    return st;
}

static enum lab_status find_sort(const struct lab_options *o,
                                 const struct lab_fact_table *t, int *column)
{
    *column = o->sort ? lab_fact_column(t, o->sort) : -1;
    if (!o->sort || *column >= 0)
        return LAB_OK;
    struct lab_str list;
    lab_str_init(&list);
    for (int i = 0; i < t->columns; i++)
        lab_str_addf(&list, " %s", t->column[i].name);
    enum lab_status st =
        lab_fail(LAB_E_USAGE, "[table.column] %s has no column \"%s\":%s",
                 t->name, o->sort, lab_str_text(&list));
    lab_str_release(&list);
    return st;
}

static enum lab_status show(const struct lab_options *o,
                            struct lab_fact_table *t)
{
    struct lab_str note;
    int *shown = NULL;
    int count = 0;
    int sort = -1;
    lab_str_init(&note);
    enum lab_status st = lab_fact_add_machine(t, o->db, &note);
    for (int i = 0; !st && i < o->n_changes; i++) {
        struct lab_fact_change change;
        st = lab_fact_change(t, o->changes[i], &change);
        /* A number that cannot be is a wrong word of the command line. */
        if (st == LAB_E_RANGE)
            st = LAB_E_USAGE;
        if (!st)
            st = lab_fact_set(t, &change);
    }
    if (!st)
        st = find_sort(o, t, &sort);
    if (!st)
        st = lab_fact_select(t, o->filters, o->n_filters, sort, o->reverse,
                             &shown, &count);
    if (!st)
        st = print_rows(o, t, shown, count, lab_str_text(&note));
    lab_free(shown);
    lab_str_release(&note);
    return st;
}

static int cmd_table(int argc, char **argv)
{
    struct lab_options o;
    struct lab_fact_table *t = NULL;
    lab_options_parse(&o, argc, argv, &usage);
    enum lab_status st = keep_all(o.db);
    if (st == LAB_E_PARSE) /* the table that is asked for may be right */
        st = LAB_OK;
    if (!st && o.n_words == 0)
        return lab_exit_error(list_all(&o));
    if (!st)
        st = lab_fact_find(&t, o.words[0]);
    if (!st)
        st = show(&o, t);
    lab_fact_free(t);
    return lab_exit_error(st);
}

const struct lab_cmd lab_cmd_table = {
    .name = "table",
    .run = cmd_table,
    .help = "[NAME]: the course's tables, with formulas"};
