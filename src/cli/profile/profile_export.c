/* profile_export.c -- `profile export`: chooses format, rows and file. */
#include "report/html.h"
#include "store/export.h"

#include <errno.h>
#include <string.h>

#include "report/json_line.h"
#include "profile_cmd.h"
#include "report/missing.h"

/* ---- the command ---- */

enum format { CSV, JSONL, TRACE, HTML, NSYS, FORMATS };
static const char *const format_names[FORMATS] = {"csv", "jsonl", "trace",
                                                  "html", "nsys"};
static const char *const table_names[] = {
    [LAB_EXPORT_ALL] = "all",          [LAB_EXPORT_STEPS] = "steps",
    [LAB_EXPORT_KERNELS] = "kernels",  [LAB_EXPORT_LOSSES] = "losses",
    [LAB_EXPORT_RUNGS] = "rungs",      [LAB_EXPORT_SWEEPS] = "sweeps",
    [LAB_EXPORT_PREDICTIONS] = "said", [LAB_EXPORT_TUNED] = "tuned",
};

static enum lab_status find_word(const char *what, const char *word,
                                 const char *const *names, int n, int *out)
{
    for (int i = 0; i < n; i++) {
        if (strcmp(word, names[i]) == 0) {
            *out = i;
            return LAB_OK;
        }
    }
    const char *near = lab_nearest(word, names, (size_t)n);
    return lab_fail(LAB_E_USAGE, "no %s '%s'%s%s%s --help lists them", what,
                    word, near ? ": did you mean " : "", near ? near : "",
                    near ? "?" : ";");
}

static enum lab_status write_text(FILE *to, enum format format,
                                  const struct lab_options *o,
                                  struct lab_database *db, int64_t run)
{
    int table = LAB_EXPORT_ALL;
    if (o->table)
        find_word("table", o->table, table_names, LAB_EXPORT_TABLES, &table);
    switch (format) {
    case JSONL:
        return lab_profile_print_lines(to, db, run, o->all);
    case TRACE:
        return lab_export_trace(to, db, run, o->all);
    case HTML:
        return lab_report_html(to, db, run);
    default:
        return lab_export_csv(to, db, run, (enum lab_export_table)table,
                              o->all);
    }
}

static enum lab_status check(const struct lab_options *o, enum format *format)
{
    int found = CSV;
    int table;
    if (!o->format || !o->output)
        return lab_fail(LAB_E_USAGE,
                        "export needs --format csv, jsonl, trace, nsys or "
                        "html, and --output FILE (- is the standard output)");
    enum lab_status st =
        find_word("format", o->format, format_names, FORMATS, &found);
    if (st == LAB_OK && o->table)
        st = find_word("table", o->table, table_names, LAB_EXPORT_TABLES,
                       &table);
    if (st == LAB_OK && o->table && found != CSV)
        st = lab_fail(LAB_E_USAGE, "--table is for --format csv");
    if (st == LAB_OK && found == NSYS && strcmp(o->output, "-") == 0)
        st = lab_fail(LAB_E_USAGE, "a database cannot go to the standard "
                                   "output; name a file");
    *format = (enum format)found;
    return st;
}

static enum lab_status export_file(const struct lab_options *o,
                                   struct lab_database *db, int64_t run,
                                   enum format format)
{
    struct lab_export_file file;
    enum lab_status st = lab_export_open(
        &file, o->output, lab_database_path(db), format != NSYS, o->force);
    if (st)
        return st;
    if (format == NSYS)
        st = lab_export_nsys(file.temporary, db, run, o->all);
    else
        st = write_text(file.stream, format, o, db, run);
    return lab_export_close(&file, st);
}

/* What a file would have had rows of, were they there. */
static unsigned wanted_by(const struct lab_options *o, enum format format)
{
    static const unsigned of_table[LAB_EXPORT_TABLES] = {
        [LAB_EXPORT_STEPS] = LAB_HAS_STEPS,
        [LAB_EXPORT_KERNELS] = LAB_HAS_KERNELS,
        [LAB_EXPORT_LOSSES] = LAB_HAS_LOSSES,
        [LAB_EXPORT_RUNGS] = LAB_HAS_RUNGS,
        [LAB_EXPORT_SWEEPS] = LAB_HAS_SWEEPS,
        [LAB_EXPORT_PREDICTIONS] = LAB_HAS_PREDICTIONS,
        [LAB_EXPORT_TUNED] = LAB_HAS_TUNED,
    };
    int table = LAB_EXPORT_ALL;
    if (format == TRACE || format == NSYS)
        return LAB_HAS_KERNELS;
    if (o->table)
        find_word("table", o->table, table_names, LAB_EXPORT_TABLES, &table);
    return of_table[table];
}

enum lab_status lab_profile_export(const struct lab_options *o,
                                   struct lab_database *db)
{
    enum format format;
    int64_t run;
    enum lab_status st = lab_profile_find_run(db, o->words[0], &run);
    if (st == LAB_OK)
        st = check(o, &format);
    if (st)
        return st;
    if (strcmp(o->output, "-") != 0)
        st = export_file(o, db, run, format);
    else
        st = write_text(stdout, format, o, db, run);
    if (st == LAB_OK && fflush(stdout))
        st = lab_fail(LAB_E_IO, "cannot write the export: %s", strerror(errno));
    return st ? st : lab_warn_missing(db, run, wanted_by(o, format));
}
