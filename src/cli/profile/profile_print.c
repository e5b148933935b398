/* profile_print.c -- `profile list`, `show`, `kernels` and `export`: runs, steps,
 * kernels, losses and what labs measured, as tables, as lines of JSON and as files. */

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/model.h"
#include "profile_cmd.h"
#include "report/json_line.h"
#include "report/text_table.h"
#include "store/bench.h"
#include "store/tuned.h"
#include "cmd.h"
#include "debug/options.h"
#include "store/compare.h"
#include "report/missing.h"
#include "report/run_facts.h"
#include "store/row_fields.h"
#include "report/suggest.h"
#include "store/counted.h"
#include "store/query.h"
#include "report/html.h"
#include "store/export.h"

enum lab_status lab_profile_find_run(struct lab_database *db, const char *word,
                                     int64_t *run)
{
    if (strcmp(word, "last") == 0)
        return lab_query_last_run(db, run);
    if (strncmp(word, "baseline:", 9) == 0)
        return lab_baseline_find(db, word + 9, run);
    if (lab_arg_is_number(word, run))
        return LAB_OK;
    return lab_fail(LAB_E_USAGE,
                    "[profile.run-name] '%s' is not a run: give a number, "
                    "last, or baseline:NAME",
                    word);
}

/* ---- records as the objects of --json ---- */

struct record {
    const char *type; /* of its lines */
    const struct lab_fields *fields;
};

static const struct record run_record = {"run", &lab_run_fields};
static const struct record step_record = {"step", &lab_step_fields};
static const struct record loss_record = {"loss", &lab_loss_row_fields};
static const struct record kernel_record = {"kernel", &lab_kernel_fields};
/* What a lab measured: the results of a ladder, what was predicted of them, what
 * a tuning found fastest, the points of a sweep; and why a lesson ran its variants. */
static const struct record lab_records[] = {
    {"lab_row", &lab_bench_result_fields}, {"lab_said", &lab_prediction_fields},
    {"lab_tuned", &lab_tuned_row_fields},  {"sweep_row", &lab_sweep_row_fields},
    {"choice", &lab_choice_row_fields},
};
enum { LAB_RECORDS = sizeof(lab_records) / sizeof(lab_records[0]) };

/* What the callbacks of queries share. */
struct printing {
    struct lab_database *db;
    int64_t run;
    FILE *to; /* of lines; NULL: standard output, flushed line by line */
    const struct record *record; /* of lab_records */
    struct lab_text_table table;
    struct lab_rate_unit unit; /* predictions have that of the results */
    struct lab_counted_run counted;
    int64_t rows;
    int64_t most;       /* of a table; 0: all */
    bool cut;           /* there were more */
    bool no_registers;  /* of some kernel they are not known */
    enum lab_status st; /* of printing */
};

/* The query's own error comes first, then that of printing a row. */
static enum lab_status end_query(enum lab_status query,
                                 const struct printing *p)
{
    return query ? query : p->st;
}

/* What a result's variant multiplies: its precision, or what its lab calls fp32. */
static const char *arithmetic_of(const struct lab_bench_result *r)
{
    struct lab_bench_data data = {.arithmetic = NULL};
    for (int i = 0; r->lab; i++) {
        const struct lab_operation *op = lab_operation_at(i);
        if (!op)
            break;
        if (strcmp(op->name, r->lab) == 0)
            data.arithmetic = op->arithmetic;
    }
    return r->precision ? lab_bench_precision_text(&data, r) : NULL;
}

static json_t *object_of(const struct printing *p, const struct record *r,
                         const void *row)
{
    json_t *o = lab_json_new(r->type);
    if (r != &run_record)
        lab_json_int(o, "run", p->run);
    lab_json_fields(o, r->fields, row);
    if (r->fields == &lab_bench_result_fields) {
        const struct lab_bench_result *result = row;
        const char *arithmetic = arithmetic_of(result);
        if (arithmetic && strcmp(arithmetic, result->precision) != 0)
            lab_json_text(o, "arithmetic", arithmetic);
    }
    return o;
}

static bool put_line(struct printing *p, json_t *o)
{
    p->st = p->to ? lab_json_write(p->to, o) : lab_json_print(o);
    return p->st == LAB_OK;
}

void lab_profile_add_bench_name(json_t *o,
                                const struct lab_bench_name *bench_name)
{
    if (!bench_name)
        return;
    lab_json_text(o, "rung", bench_name->variant);
    lab_json_text(o, "precision",
                  bench_name->precision[0] ? bench_name->precision : NULL);
    lab_json_text(o, "size", bench_name->size);
}

static bool put_counted(struct printing *p, json_t *o,
                        const struct lab_bench_name *bench_name,
                        const struct lab_counted_item *item, double formula)
{
    const struct lab_counted_row row =
        lab_counted_row_of(&p->counted, item, formula);
    lab_profile_add_bench_name(o, bench_name);
    return put_line(p, lab_json_fields(o, &lab_counted_fields, &row));
}

static bool run_line(void *user, const struct lab_run_row *r)
{
    struct printing *p = user;
    p->rows++;
    return put_line(p, object_of(p, &run_record, r));
}

static bool step_line(void *user, const struct lab_time_sum *r)
{
    struct printing *p = user;
    return put_counted(p, object_of(p, &step_record, r), r->bench_name,
                       lab_counted_step(&p->counted, r->step_index, r->variant),
                       r->flop);
}

static bool loss_line(void *user, const struct lab_loss_row *r)
{
    struct printing *p = user;
    return put_line(p, object_of(p, &loss_record, r));
}

static bool kernel_line(void *user, const struct lab_kernel_row *r)
{
    struct printing *p = user;
    return put_counted(p, object_of(p, &kernel_record, r), r->bench_name,
                       lab_counted_kernel(&p->counted, r->row), NAN);
}

static bool lab_line(void *user, const void *row)
{
    struct printing *p = user;
    return put_line(p, object_of(p, p->record, row));
}

/* The run, its steps, its losses and what a lab measured. */
static enum lab_status put_run_lines(struct printing *p,
                                     enum lab_step_sort sort, bool descending)
{
    enum lab_status st = lab_counted_load(&p->counted, p->db, p->run);
    if (st == LAB_OK)
        st = end_query(lab_query_run(p->db, p->run, run_line, p), p);
    if (st == LAB_OK)
        st = end_query(
            lab_query_steps(p->db, p->run, sort, descending, step_line, p), p);
    if (st == LAB_OK)
        st = end_query(lab_query_losses(p->db, p->run, loss_line, p), p);
    for (int i = 0; i < LAB_RECORDS && !st; i++) {
        p->record = &lab_records[i];
        st = end_query(
            lab_fields_read(p->db, p->run, p->record->fields, lab_line, p), p);
    }
    return st;
}

/* Everything of a run as JSON Lines, `all`: also outside of its iterations. */
static enum lab_status print_lines(FILE *to, struct lab_database *db,
                                   int64_t run, bool all)
{
    struct printing p = {.db = db, .run = run, .to = to};
    const struct lab_kernel_filter every = {.between = all};
    enum lab_status st = put_run_lines(&p, LAB_STEP_BY_INDEX, false);
    if (st == LAB_OK)
        st = end_query(lab_query_kernels(db, run, &every, kernel_line, &p), &p);
    lab_counted_release(&p.counted);
    return st;
}

/* ---- the tables of a lab ---- */

/* What the variant reports, or why it has no times, its workspace, and why it is faster
 * than its model. */
static void add_result(struct lab_text_table *t,
                       const struct lab_bench_result *r)
{
    char note[512];
    char workspace[64];
    struct lab_bench_result shown = *r;
    enum lab_bench_unit unit = !r->unit                         ? LAB_UNIT_BYTES
                               : strncmp(r->unit, "s/", 2) == 0 ? LAB_UNIT_TIME
                               : strcmp(r->unit, "FLOP/s") == 0
                                   ? LAB_UNIT_FLOPS
                                   : LAB_UNIT_BYTES;
    const char *text = r->note ? r->note : r->reason ? r->reason : "";
    const char *why = lab_bench_model_passed(unit, r->rate, r->rate_model,
                                             r->bytes, r->traffic_bytes);
    lab_bench_workspace_text(r->workspace_bytes, workspace, sizeof(workspace));
    snprintf(note, sizeof(note), "%s%s%s%s%s%s", text,
             text[0] && workspace[0] ? ", " : "", workspace,
             why && (text[0] || workspace[0]) ? "; " : "",
             why ? "passed: " : "", why ? why : "");
    shown.note = note;
    shown.precision = arithmetic_of(r);
    lab_text_table_add_row(t, &lab_bench_result_fields, &shown);
}

static bool add_lab_row(void *user, const void *row)
{
    struct printing *p = user;
    const struct lab_fields *fields = p->record->fields;
    if (p->rows++ == 0)
        lab_text_table_begin(&p->table, fields, row, &p->unit);
    if (fields == &lab_bench_result_fields)
        add_result(&p->table, row);
    else
        lab_text_table_add_row(&p->table, fields, row);
    return true;
}

static enum lab_status put_lab_tables(struct printing *p)
{
    enum lab_status st = LAB_OK;
    p->unit = (struct lab_rate_unit){">rate", 1};
    for (int i = 0; i < LAB_RECORDS && !st; i++) {
        p->record = &lab_records[i];
        p->rows = 0;
        st = lab_fields_read(p->db, p->run, p->record->fields, add_lab_row, p);
        if (!st && p->rows) {
            lab_text_table_drop_empty(&p->table);
            st = lab_text_table_put(&p->table, "\n");
        }
    }
    return st;
}

/* ---- tables with what was counted ---- */

/* The columns of what was counted, where the run was counted at all: of hardware,
 * or of a simulation, which counts other things. `number` from 0; NULL: no more. */
static const struct lab_field *counted_column(const struct printing *p,
                                              int number)
{
    int first = p->counted.simulated ? LAB_COUNTED_SIMULATED : 1;
    return p->counted.count > 0
               ? lab_field_at(&lab_counted_fields, first + number)
               : NULL;
}

static void add_counted(struct printing *p, const struct lab_counted_item *item,
                        double formula)
{
    const struct lab_field *f;
    const struct lab_counted_row row =
        lab_counted_row_of(&p->counted, item, formula);
    for (int i = 0; (f = counted_column(p, i)); i++)
        lab_text_table_add_field(&p->table, f, &row);
}

enum { PLACES = LAB_TEXT_TABLE_COLUMNS };

/* Counters are in the first place that the record itself leaves free. */
static void begin_table(struct printing *p, const struct lab_fields *fields)
{
    const char *heads[PLACES + 1];
    const struct lab_field *f;
    int n = 0;
    bool counted = false;
    for (int place = 1; place <= PLACES; place++) {
        f = lab_field_at(fields, place);
        if (f)
            heads[n++] = f->title;
        for (int i = 0; !f && !counted && n < PLACES && counted_column(p, i);
             i++)
            heads[n++] = counted_column(p, i)->title;
        counted = counted || !f;
    }
    heads[n] = NULL;
    lab_text_table_init(&p->table, heads);
}

static bool add_row(struct printing *p, const struct lab_fields *fields,
                    const void *row, const struct lab_counted_item *item,
                    double formula)
{
    bool counted = false;
    p->cut = p->most > 0 && p->rows == p->most;
    if (p->cut)
        return false;
    p->rows++;
    for (int place = 1; place <= PLACES; place++) {
        const struct lab_field *f = lab_field_at(fields, place);
        if (f)
            lab_text_table_add_field(&p->table, f, row);
        else if (!counted)
            add_counted(p, item, formula);
        counted = counted || !f;
    }
    return !p->table.failed;
}

static bool add_step_row(void *user, const struct lab_time_sum *r)
{
    struct printing *p = user;
    return add_row(p, &lab_step_fields, r,
                   lab_counted_step(&p->counted, r->step_index, r->variant),
                   r->flop);
}

static bool add_kernel_row(void *user, const struct lab_kernel_row *r)
{
    struct printing *p = user;
    p->no_registers |= r->launch.registers_per_thread == LAB_UNKNOWN;
    return add_row(p, &lab_kernel_fields, r,
                   lab_counted_kernel(&p->counted, r->row), NAN);
}

/* Why there are no such columns, in a line after the table. */
static bool report_uncounted(void *user, const struct lab_run_row *r)
{
    struct lab_str *out = user;
    const char *reason = r->counters_reason ? r->counters_reason : "";
    lab_str_addf(out, "hardware counters: n/a (%s",
                 r->counters ? r->counters : "not taken");
    if (reason[0])
        lab_str_add(out, ": ");
    lab_str_add_visible(out, reason, strlen(reason), false);
    lab_str_add(out, ")\n");
    return true;
}

/* A table without rows is none. */
static enum lab_status end_table(struct printing *p, const char *above)
{
    struct lab_str text;
    if (p->rows == 0)
        return LAB_OK;
    enum lab_status st = lab_text_table_put(&p->table, above);
    lab_str_init(&text);
    if (!st && p->counted.simulated) {
        lab_str_add(&text, LAB_COUNTED_BY_SIMULATION "\n");
        if (p->no_registers)
            lab_str_add(&text, "registers and occupancy: n/a where no ptxas "
                               "has counted a kernel's registers for the "
                               "device (`lapenna-lab doctor`)\n");
        return lab_print_str(&text);
    }
    if (st || p->counted.count > 0)
        return st;
    st = lab_query_run(p->db, p->run, report_uncounted, &text);
    if (!st)
        return lab_print_str(&text);
    lab_str_release(&text);
    return st;
}

/* ---- show ---- */

static bool add_run_facts(void *user, const struct lab_run_row *r)
{
    struct lab_text_table *t = &((struct printing *)user)->table;
    char number[32];
    snprintf(number, sizeof(number), "%lld", (long long)r->id);
    const char *const heads[] = {"run", number, NULL};
    lab_text_table_init(t, heads);
    lab_run_origin(t, r);
    lab_run_figures(t, r);
    lab_run_recording(t, r);
    return true;
}

static enum lab_status put_run_tables(struct printing *p,
                                      enum lab_step_sort sort, bool descending)
{
    enum lab_status st = lab_query_run(p->db, p->run, add_run_facts, p);
    if (st == LAB_OK)
        st = lab_text_table_put(&p->table, "");
    if (st == LAB_OK)
        st = put_lab_tables(p);
    if (st == LAB_OK)
        st = lab_counted_load(&p->counted, p->db, p->run);
    if (st)
        return st;
    p->rows = 0;
    begin_table(p, &lab_step_fields);
    st = lab_query_steps(p->db, p->run, sort, descending, add_step_row, p);
    return st ? st : end_table(p, "\n");
}

/* A sweep has points instead. */
static enum lab_status report_no_steps(struct lab_database *db, int64_t run)
{
    unsigned has;
    enum lab_status st = lab_query_contents(db, run, &has);
    return st || (has & LAB_HAS_SWEEPS)
               ? st
               : lab_warn_missing_below(db, run, LAB_HAS_STEPS);
}

static enum lab_status run_show(const struct lab_options *o,
                                struct lab_database *db)
{
    struct printing p = {.db = db};
    const char *names[LAB_STEP_SORT_COUNT];
    int sort = 0;
    for (int i = 0; i < LAB_STEP_SORT_COUNT; i++)
        names[i] = lab_step_sort_name((enum lab_step_sort)i);
    enum lab_status st = LAB_OK;
    if (o->sort)
        st = lab_find_word("column", o->sort, names, LAB_STEP_SORT_COUNT,
                           "--help lists them", &sort);
    if (st == LAB_OK)
        st = lab_profile_find_run(db, o->words[0], &p.run);
    if (st == LAB_OK)
        st = (o->json ? put_run_lines : put_run_tables)(
            &p, (enum lab_step_sort)sort, o->reverse);
    lab_text_table_release(&p.table);
    lab_counted_release(&p.counted);
    return st ? st : report_no_steps(db, p.run);
}

/* ---- kernels ---- */

/* A longer table is not read, and a run may have millions. */
enum { KERNEL_ROWS = 1000 };

static enum lab_status put_kernels(struct printing *p,
                                   const struct lab_options *o,
                                   const struct lab_kernel_filter *filter)
{
    enum lab_status st = lab_counted_load(&p->counted, p->db, p->run);
    if (st)
        return st;
    if (o->json)
        return end_query(
            lab_query_kernels(p->db, p->run, filter, kernel_line, p), p);
    begin_table(p, &lab_kernel_fields);
    st = lab_query_kernels(p->db, p->run, filter, add_kernel_row, p);
    return st ? st : end_table(p, "");
}

static enum lab_status run_kernels(const struct lab_options *o,
                                   struct lab_database *db)
{
    struct printing p = {.db = db,
                         .most = o->json || o->given.limit ? 0 : KERNEL_ROWS};
    struct lab_kernel_filter filter = {.limit = p.most ? p.most + 1 : o->limit,
                                       .descending = o->reverse};
    const char *names[LAB_KERNEL_SORT_COUNT];
    int sort = 0;
    for (int i = 0; i < LAB_KERNEL_SORT_COUNT; i++)
        names[i] = lab_kernel_sort_name((enum lab_kernel_sort)i);
    enum lab_status st = LAB_OK;
    if (o->sort)
        st = lab_find_word("column", o->sort, names, LAB_KERNEL_SORT_COUNT,
                           "--help lists them", &sort);
    filter.sort = (enum lab_kernel_sort)sort;
    if (st == LAB_OK)
        st = lab_profile_find_run(db, o->words[0], &p.run);
    if (st == LAB_OK)
        st = put_kernels(&p, o, &filter);
    lab_text_table_release(&p.table);
    lab_counted_release(&p.counted);
    if (st == LAB_OK)
        st = lab_warn_missing(db, p.run, LAB_HAS_KERNELS);
    if (p.cut)
        lab_warn("run %lld has more kernels than the %lld shown: --limit 0 "
                 "shows all of them, --json writes them as they are read",
                 (long long)p.run, (long long)p.most);
    return st;
}

/* ---- list: the runs, newest first ---- */

struct listing {
    struct printing p;
    bool others; /* runs of another user are among them */
    bool lost;   /* of some run not everything was stored */
    bool first;  /* some run had one iteration */
};

static bool look_for_others(void *user, const struct lab_run_row *r)
{
    struct listing *l = user;
    l->others |= lab_run_is_imported(r);
    return !l->others;
}

static bool add_run_row(void *user, const struct lab_run_row *r)
{
    struct listing *l = user;
    l->p.rows++;
    l->lost |= lab_run_has_lost(r);
    l->first |= lab_run_has_one(r);
    lab_text_table_add_row(&l->p.table, &lab_run_fields, r);
    return true;
}

/* The words in the table that need a line. */
static enum lab_status explain(const struct listing *l)
{
    struct lab_str text;
    lab_str_init(&text);
    if (l->first)
        lab_str_add(&text, "first: the wall time of the only iteration; on a "
                           "GPU kernels and libraries are loaded in it\n");
    if (l->lost) {
        lab_str_add(&text, "lost: not all of it was stored; `");
        lab_suggest_command(&text, lab_suggest_db(l->p.db),
                            LAB_WORDS("profile", "show", "RUN"));
        lab_str_add(&text, "` reports how much is missing, and why\n");
    }
    return lab_print_str(&text);
}

static enum lab_status list_table(struct listing *l)
{
    const char *heads[LAB_RUN_OWNER_PLACE + 1] = {NULL};
    enum lab_status st = lab_query_runs(l->p.db, look_for_others, l);
    if (st)
        return st;
    for (int i = 0; i < LAB_RUN_OWNER_PLACE - !l->others; i++)
        heads[i] = lab_field_at(&lab_run_fields, i + 1)->title;
    lab_text_table_init(&l->p.table, heads);
    st = lab_query_runs(l->p.db, add_run_row, l);
    if (st == LAB_OK && l->p.rows > 0)
        st = lab_text_table_put(&l->p.table, "");
    lab_text_table_release(&l->p.table);
    return st || !(l->lost || l->first) ? st : explain(l);
}

static void report_none(const struct lab_database *db)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_str_addf(&text, "no run is in %s; ", lab_database_path(db));
    lab_suggest_in_text(&text, db, "`lapenna-lab run LESSON` records one");
    lab_warn("%s", lab_str_text(&text));
    lab_str_release(&text);
}

static enum lab_status run_list(const struct lab_options *o,
                                struct lab_database *db)
{
    struct listing l = {.p = {.db = db}};
    enum lab_status st =
        o->json ? end_query(lab_query_runs(db, run_line, &l.p), &l.p)
                : list_table(&l);
    if (st == LAB_OK && l.p.rows == 0)
        report_none(db);
    return st;
}

const struct lab_profile_command lab_profile_list = {
    .name = "list",
    .run = run_list,
    .takes = "takes no run",
    .options = LAB_FOR_RUNS,
    .doc = "The runs, newest first.\vExample:\n"
           "  lapenna-lab profile list --json\n"};

const struct lab_profile_command lab_profile_show = {
    .name = "show",
    .run = run_show,
    .least = 1,
    .most = 1,
    .takes = "takes one run",
    .options = LAB_FOR_SHOW,
    .args = "RUN",
    .doc =
        "One run: its facts, and its steps with their times; of a lab its rows."
        "\vExample:\n  lapenna-lab profile show last --sort total --reverse\n"};

const struct lab_profile_command lab_profile_kernels = {
    .name = "kernels",
    .run = run_kernels,
    .least = 1,
    .most = 1,
    .takes = "takes one run",
    .options = LAB_FOR_KERNELS,
    .args = "RUN",
    .doc = "The kernels of a run: when, how long, with which launch, of which "
           "step."
           "\vExample:\n"
           "  lapenna-lab profile kernels last --sort time --reverse --limit "
           "10\n"};

/* ---- export: format, rows and file ---- */

enum format { CSV, JSONL, TRACE, HTML, NSYS, FORMATS };
static const char *const format_names[FORMATS] = {"csv", "jsonl", "trace",
                                                  "html", "nsys"};
static const char *const table_names[] = {
    [LAB_EXPORT_ALL] = "all",          [LAB_EXPORT_STEPS] = "steps",
    [LAB_EXPORT_KERNELS] = "kernels",  [LAB_EXPORT_LOSSES] = "losses",
    [LAB_EXPORT_VARIANTS] = "rungs",   [LAB_EXPORT_SWEEPS] = "sweeps",
    [LAB_EXPORT_PREDICTIONS] = "said", [LAB_EXPORT_TUNED] = "tuned",
    [LAB_EXPORT_CHOICES] = "choices",
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
        return print_lines(to, db, run, o->all);
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
    enum lab_status st = lab_find_word("format", o->format, format_names,
                                       FORMATS, NULL, &out->format);
    if (st == LAB_OK && o->table)
        st = lab_find_word("table", o->table, table_names, LAB_EXPORT_TABLES,
                           NULL, &out->table);
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
        [LAB_EXPORT_VARIANTS] = LAB_HAS_VARIANTS,
        [LAB_EXPORT_SWEEPS] = LAB_HAS_SWEEPS,
        [LAB_EXPORT_PREDICTIONS] = LAB_HAS_PREDICTIONS,
        [LAB_EXPORT_TUNED] = LAB_HAS_TUNED,
        [LAB_EXPORT_CHOICES] = LAB_HAS_CHOICES,
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
