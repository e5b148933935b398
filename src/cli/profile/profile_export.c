/* profile_export.c -- `profile export`: chooses format, rows and file. */
#include "report/html.h"
#include "store/export.h"

#include <errno.h>
#include <string.h>

#include "report/json_line.h"
#include "profile_cmd.h"
#include "report/missing.h"
#include "report/suggest.h"

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

/* What is asked for. */
struct export
{
    int format;
    int table;
};

static enum lab_status write_text(FILE *to, const struct export *e,
                                  const struct lab_options *o,
                                  struct lab_database *db, int64_t run)
{
    switch (e->format) {
    case JSONL:
        return lab_profile_print_lines(to, db, run, o->all);
    case TRACE:
        return lab_export_trace(to, db, run, o->all);
    case HTML:
        return lab_report_html(to, db, run);
    default:
        return lab_export_csv(to, db, run, (enum lab_export_table)e->table,
                              o->all);
    }
}

static enum lab_status read_words(const struct lab_options *o,
                                  struct export *out)
{
    *out = (struct export){CSV, LAB_EXPORT_ALL};
    if (!o->format || !o->output)
        return lab_fail(
            LAB_E_USAGE,
            "[export.format] export needs --format csv, jsonl, trace, nsys or "
            "html, and --output FILE (- is the standard output)");
    enum lab_status st =
        lab_find_word("format", o->format, format_names, FORMATS,
                      "--help lists them", &out->format);
    if (st == LAB_OK && o->table)
        st = lab_find_word("table", o->table, table_names, LAB_EXPORT_TABLES,
                           "--help lists them", &out->table);
    if (st == LAB_OK && o->table && out->format != CSV)
        st =
            lab_fail(LAB_E_USAGE, "[export.table] --table is for --format csv");
    if (st == LAB_OK && out->format == NSYS && strcmp(o->output, "-") == 0)
        st = lab_fail(LAB_E_USAGE, "[export.stdout-database] a database cannot "
                                   "go to the standard output; name a file");
    return st;
}

static enum lab_status export_file(const struct lab_options *o,
                                   struct lab_database *db, int64_t run,
                                   const struct export *e)
{
    struct lab_export_file file;
    enum lab_status st = lab_export_open(
        &file, o->output, lab_database_path(db), e->format != NSYS, o->force);
    if (st)
        return st;
    if (e->format == NSYS)
        st = lab_export_nsys(file.temporary, db, run, o->all);
    else
        st = write_text(file.stream, e, o, db, run);
    return lab_export_close(&file, st);
}

/* What a file would have had rows of, were they there. */
static unsigned wanted_by(const struct export *e)
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
    return e->format == TRACE || e->format == NSYS ? LAB_HAS_KERNELS
                                                   : of_table[e->table];
}

static enum lab_status run_export(const struct lab_options *o,
                                  struct lab_database *db)
{
    struct export e;
    int64_t run;
    enum lab_status st = lab_profile_find_run(db, o->words[0], &run);
    if (st == LAB_OK)
        st = read_words(o, &e);
    if (st)
        return st;
    if (strcmp(o->output, "-") != 0)
        st = export_file(o, db, run, &e);
    else
        st = write_text(stdout, &e, o, db, run);
    if (st == LAB_OK && fflush(stdout))
        st = lab_fail(LAB_E_IO, "[export.output] cannot write the export: %s",
                      strerror(errno));
    return st ? st : lab_warn_missing(db, run, wanted_by(&e));
}

const struct lab_profile_command lab_profile_export = {
    .name = "export",
    .run = run_export,
    .least = 1,
    .most = 1,
    .takes = "takes one run",
    .options = LAB_FOR_EXPORT,
    .args = "RUN",
    .doc =
        "The run as a file, for another program or a reader.\vExample:\n"
        "  lapenna-lab profile export last --format trace --output run.json\n"};
