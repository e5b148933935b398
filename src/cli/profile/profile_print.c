/* profile_print.c -- runs, steps, kernels, losses and labs as text and as lines of
 * JSON, and what the commands of `profile` share. */

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/json_fields.h"
#include "bench/text.h"
#include "profile_cmd.h"
#include "report/json_line.h"
#include "report/json_sweep.h"
#include "report/text_table.h"
#include "store/bench.h"
#include "store/tuned.h"
#include "cmd.h"
#include "debug/options.h"
#include "store/compare.h"
#include "report/missing.h"
#include "report/run_facts.h"
#include "store/row_fields.h"
#include "base/format.h"
#include "report/suggest.h"
#include "store/variant_words.h"
#include "store/counted.h"
#include "store/query.h"

/* Rows of the database as the objects of --json. */

static json_t *run_object(const struct lab_run_row *r)
{
    return lab_json_fields(lab_json_new("run"), &lab_run_fields, r, NULL, 0);
}

static void add_counters(json_t *o, const struct lab_counted_item *item,
                         double formula)
{
    double values[LAB_COUNTED_COLUMNS];
    lab_counted_values(item, formula, values);
    for (int i = 0; i < LAB_COUNTED_COLUMNS; i++)
        lab_json_real(o, lab_counted_column(i), values[i]);
}

void lab_profile_add_rung(json_t *o, const struct lab_bench_name *rung)
{
    if (!rung)
        return;
    lab_json_text(o, "rung", rung->rung);
    lab_json_text(o, "precision", rung->precision[0] ? rung->precision : NULL);
    lab_json_text(o, "size", rung->size);
}

static json_t *row_object(const char *type, int64_t run,
                          const struct lab_fields *fields, const void *row)
{
    json_t *o = lab_json_new(type);
    lab_json_int(o, "run", run);
    return lab_json_fields(o, fields, row, NULL, 0);
}

static json_t *step_object(int64_t run, const struct lab_time_sum *r,
                           const struct lab_counted_run *counted)
{
    json_t *o = row_object("step", run, &lab_step_fields, r);
    lab_profile_add_rung(o, r->rung);
    add_counters(o, lab_counted_step(counted, r->step_index, r->variant),
                 r->flop);
    return o;
}

static json_t *kernel_object(int64_t run, const struct lab_kernel_row *r,
                             const struct lab_counted_run *counted)
{
    json_t *o = row_object("kernel", run, &lab_kernel_fields, r);
    lab_profile_add_rung(o, r->rung);
    add_counters(o, lab_counted_kernel(counted, r->row), NAN);
    return o;
}

/* What a lab measured, as `profile show` has it: the results of a ladder, what
 * was predicted of them, what a tuning found fastest, the points of a sweep. A
 * table of text, or lines of JSON, which an export has too. */

/* Keys of the lines that are not their columns' names, and members that are
 * not in the place of their columns. */
static const struct lab_json_field result_names[] = {
    {.column = "rung", .key = "variant"},
    {.column = "workspace_bytes", .after = "note"},
    {.column = "flush_bytes", .after = "ceilingFp32_FLOP_s"},
    {.column = "ceilingCopy_B_s", .key = "ceiling_copy_bytes_per_s"},
    {.column = "ceilingFp32_FLOP_s", .key = "ceiling_fp32_flop_per_s"},
};
static const struct lab_json_field prediction_names[] = {
    {.column = "rung", .key = "variant"},
};
static const struct lab_json_field tuned_names[] = {
    {.column = "runId", .key = ""}, /* every line has its run */
    {.column = "rate", .after = "unit"},
    {.column = "uuid", .after = "measured"},
    {.column = "hostname", .after = "measured"},
    {.column = "driver", .after = "measured"},
    {.column = "version", .after = "measured"},
    {.column = "measured_ns", .after = "measured"},
};

/* ---- the records of a lab's run ---- */

#define LIST(list) list, sizeof(list) / sizeof((list)[0])
static const struct record {
    const char *type; /* of its lines */
    const struct lab_fields *fields;
    const struct lab_json_field *names;
    size_t n_names;
} records[] = {
    {"lab_row", &lab_bench_result_fields, LIST(result_names)},
    {"lab_said", &lab_prediction_fields, LIST(prediction_names)},
    {"lab_tuned", &lab_tuned_row_fields, LIST(tuned_names)},
    {"sweep_row", &lab_sweep_row_fields, NULL, 0},
};
enum { RECORDS = sizeof(records) / sizeof(records[0]) };

struct labs_printing {
    const struct record *record;
    struct lab_text_table table;
    int rows;
    struct lab_rate_unit unit; /* predictions have that of the results */
    int64_t run;
    FILE *to; /* of lines; NULL: standard output, flushed line by line */
    enum lab_status st;
};

/* What the variant reports, or why it has no times, and why it is faster than its
 * model. */
static void add_result(struct lab_text_table *t,
                       const struct lab_bench_result *r)
{
    char note[512];
    struct lab_bench_result shown = *r;
    enum lab_bench_unit unit = !r->unit                         ? LAB_UNIT_BYTES
                               : strncmp(r->unit, "s/", 2) == 0 ? LAB_UNIT_TIME
                               : strcmp(r->unit, "FLOP/s") == 0
                                   ? LAB_UNIT_FLOPS
                                   : LAB_UNIT_BYTES;
    const char *text = r->note ? r->note : r->reason ? r->reason : "";
    const char *why = lab_bench_model_passed(unit, r->rate, r->rate_model,
                                             r->bytes, r->traffic_bytes);
    snprintf(note, sizeof(note), "%s%s%s%s", text, why && text[0] ? "; " : "",
             why ? "passed: " : "", why ? why : "");
    shown.note = note;
    lab_text_table_add_row(t, &lab_bench_result_fields, &shown);
}

static bool add_lab_row(void *user, const void *row)
{
    struct labs_printing *p = user;
    const struct lab_fields *fields = p->record->fields;
    if (p->rows++ == 0)
        lab_text_table_begin(&p->table, fields, row, &p->unit);
    if (fields == &lab_bench_result_fields)
        add_result(&p->table, row);
    else
        lab_text_table_add_row(&p->table, fields, row);
    return true;
}

static enum lab_status print_tables(struct lab_database *db, int64_t run)
{
    struct labs_printing p = {.unit = {">rate", 1}};
    enum lab_status st = LAB_OK;
    for (int i = 0; i < RECORDS && !st; i++) {
        p.record = &records[i];
        st = lab_fields_read(db, run, p.record->fields, add_lab_row, &p);
        enum lab_status ended =
            p.rows ? lab_text_table_put(&p.table, "\n") : LAB_OK;
        p.rows = 0;
        st = st ? st : ended;
    }
    return st;
}

static enum lab_status put_line(FILE *to, json_t *object)
{
    return to ? lab_json_write(to, object) : lab_json_print(object);
}

static bool put_row(void *user, const void *row)
{
    struct labs_printing *p = user;
    const struct record *r = p->record;
    json_t *o = NULL;
    if (!r->names) {
        o = lab_json_sweep(row);
        lab_json_int(o, "run", p->run);
        lab_json_int(o, "place", ((const struct lab_sweep_row *)row)->place);
    } else {
        o = lab_json_new(r->type);
        lab_json_int(o, "run", p->run);
        o = lab_json_fields(o, r->fields, row, r->names, r->n_names);
    }
    p->st = put_line(p->to, o);
    return p->st == LAB_OK;
}

static enum lab_status lab_lines(struct lab_database *db, int64_t run, FILE *to)
{
    struct labs_printing p = {.run = run, .to = to};
    enum lab_status st = LAB_OK;
    for (int i = 0; i < RECORDS && !st && !p.st; i++) {
        p.record = &records[i];
        st = lab_fields_read(db, run, p.record->fields, put_row, &p);
    }
    return st ? st : p.st;
}

/* What the callbacks of one query share. */
struct printing {
    struct lab_text_table table;
    enum lab_status st;
    int64_t run;
    int64_t rows;
    int64_t rows_left; /* of a table; 0: it has no end */
    bool cut;          /* there were more */
    FILE *to;          /* as in struct labs_printing */
    struct lab_counted_run counted;
};

/* The query's own error comes first, then that of printing a row. */
static enum lab_status end_query(enum lab_status query, struct printing *p)
{
    if (query || p->st) {
        lab_text_table_release(&p->table);
        return query ? query : p->st;
    }
    return LAB_OK;
}

static bool print_run_json(void *user, const struct lab_run_row *r)
{
    struct printing *p = user;
    p->st = put_line(p->to, run_object(r));
    return p->st == LAB_OK;
}

/* ------------------------------------------------------------ one run */

static bool add_run_facts(void *user, const struct lab_run_row *r)
{
    struct lab_text_table *t = &((struct printing *)user)->table;
    const char *heads[] = {"run", NULL, NULL};
    char number[32];
    snprintf(number, sizeof(number), "%lld", (long long)r->id);
    heads[1] = number;
    lab_text_table_init(t, heads);
    lab_run_origin(t, r);
    lab_run_figures(t, r);
    lab_run_recording(t, r);
    return true;
}

/* Three columns, where the run was counted at all. */
static void add_counted(struct printing *p, const struct lab_counted_item *item,
                        double formula)
{
    struct lab_text_table *t = &p->table;
    char text[LAB_FORMAT_BYTES];
    struct lab_counters none;
    if (p->counted.count == 0)
        return;
    lab_counters_init(&none);
    const struct lab_counters *c = item ? &item->counters : &none;
    lab_text_table_add(t, lab_format_share(c->achieved_occupancy_pct / 100,
                                           text, sizeof(text)));
    lab_text_table_add(
        t, lab_format_bytes(c->dram_read_bytes + c->dram_write_bytes, text,
                            sizeof(text)));
    lab_text_table_add(t, lab_format_flop(lab_counters_flop_beside(c, formula),
                                          text, sizeof(text)));
}

enum { PLACES = LAB_TEXT_TABLE_COLUMNS };

/* Counters are in the first places that the record itself leaves free. */
static void begin_table(struct printing *p, const struct lab_fields *fields)
{
    static const char *const counted[] = {">achieved", ">DRAM", ">counted"};
    const char *heads[PLACES + 1];
    int n = 0;
    int c = p->counted.count > 0 ? 0 : 3;
    for (int place = 1; place <= PLACES; place++) {
        const struct lab_field *f = lab_field_at(fields, place);
        if (f)
            heads[n++] = f->title;
        else if (c < 3)
            heads[n++] = counted[c++];
    }
    heads[n] = NULL;
    lab_text_table_init(&p->table, heads);
}

static void add_row(struct printing *p, const struct lab_fields *fields,
                    const void *row, const struct lab_counted_item *item,
                    double formula)
{
    bool counted = false;
    p->rows++;
    for (int place = 1; place <= PLACES; place++) {
        const struct lab_field *f = lab_field_at(fields, place);
        if (f)
            lab_text_table_add_field(&p->table, f, row);
        else if (!counted)
            add_counted(p, item, formula);
        counted = counted || !f;
    }
}

/* Why there are no such columns, in a line after the table. */
static bool say_uncounted(void *user, const struct lab_run_row *r)
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

static enum lab_status end_table(const struct lab_profile_print *p,
                                 struct printing *printing)
{
    struct lab_str text;
    enum lab_status st = lab_text_table_put(&printing->table, "");
    if (st || printing->counted.count > 0)
        return st;
    lab_str_init(&text);
    st = lab_query_run(p->db, printing->run, say_uncounted, &text);
    if (st) {
        lab_str_release(&text);
        return st;
    }
    return lab_print_str(&text);
}

static bool add_step_row(void *user, const struct lab_time_sum *r)
{
    struct printing *p = user;
    add_row(p, &lab_step_fields, r,
            lab_counted_step(&p->counted, r->step_index, r->variant), r->flop);
    return true;
}

static bool print_step_json(void *user, const struct lab_time_sum *r)
{
    struct printing *p = user;
    p->st = put_line(p->to, step_object(p->run, r, &p->counted));
    return p->st == LAB_OK;
}

static bool print_loss_json(void *user, const struct lab_loss_row *r)
{
    struct printing *p = user;
    p->st = put_line(p->to, row_object("loss", p->run, &lab_loss_fields, r));
    return p->st == LAB_OK;
}

/* A sweep has points instead. */
static enum lab_status say_no_steps(const struct lab_profile_print *p,
                                    int64_t run)
{
    unsigned has;
    enum lab_status st = lab_query_contents(p->db, run, &has);
    return st || (has & LAB_HAS_SWEEPS)
               ? st
               : lab_warn_missing(p->db, run, LAB_HAS_STEPS);
}

/* The run, its steps, its losses and what a lab measured. */
static enum lab_status put_run(struct lab_database *db, enum lab_step_sort sort,
                               bool descending, struct printing *p)
{
    enum lab_status st = lab_counted_load(&p->counted, db, p->run);
    if (st == LAB_OK)
        st = end_query(lab_query_run(db, p->run, print_run_json, p), p);
    if (st == LAB_OK)
        st = end_query(
            lab_query_steps(db, p->run, sort, descending, print_step_json, p),
            p);
    if (st == LAB_OK)
        st = end_query(lab_query_losses(db, p->run, print_loss_json, p), p);
    return st ? st : lab_lines(db, p->run, p->to);
}

static enum lab_status print_run_lines(const struct lab_profile_print *p,
                                       int64_t run)
{
    struct printing printing = {.run = run};
    enum lab_status st = put_run(p->db, p->step_sort, p->descending, &printing);
    lab_counted_release(&printing.counted);
    return st ? st : say_no_steps(p, run);
}

static enum lab_status print_steps(const struct lab_profile_print *p,
                                   struct printing *steps)
{
    begin_table(steps, &lab_step_fields);
    enum lab_status st =
        end_query(lab_query_steps(p->db, steps->run, p->step_sort,
                                  p->descending, add_step_row, steps),
                  steps);
    if (st)
        return st;
    if (steps->rows == 0) {
        lab_text_table_release(&steps->table);
        return LAB_OK;
    }
    if (putchar('\n') == EOF)
        return lab_fail(LAB_E_IO, "cannot write the output");
    return end_table(p, steps);
}

enum lab_status lab_profile_print_run(const struct lab_profile_print *p,
                                      int64_t run)
{
    struct printing facts = {.st = LAB_OK};
    struct printing steps = {.st = LAB_OK, .run = run};
    if (p->json)
        return print_run_lines(p, run);
    enum lab_status st =
        end_query(lab_query_run(p->db, run, add_run_facts, &facts), &facts);
    if (st == LAB_OK)
        st = lab_text_table_put(&facts.table, "");
    if (st == LAB_OK)
        st = print_tables(p->db, run);
    if (st == LAB_OK)
        st = lab_counted_load(&steps.counted, p->db, run);
    if (st == LAB_OK)
        st = print_steps(p, &steps);
    lab_counted_release(&steps.counted);
    return st ? st : say_no_steps(p, run);
}

/* ------------------------------------------------------------ kernels */

static bool print_kernel_json(void *user, const struct lab_kernel_row *r)
{
    struct printing *p = user;
    p->st = put_line(p->to, kernel_object(p->run, r, &p->counted));
    return p->st == LAB_OK;
}

enum lab_status lab_profile_print_lines(FILE *to, struct lab_database *db,
                                        int64_t run, bool all)
{
    struct printing p = {.run = run, .to = to};
    const struct lab_kernel_filter every = {.between = all};
    enum lab_status st = put_run(db, LAB_STEP_BY_INDEX, false, &p);
    if (st == LAB_OK)
        st = end_query(
            lab_query_kernels(db, run, &every, print_kernel_json, &p), &p);
    lab_counted_release(&p.counted);
    return st;
}

static bool add_kernel_row(void *user, const struct lab_kernel_row *r)
{
    struct printing *p = user;
    if (p->rows_left > 0 && --p->rows_left == 0) {
        p->rows++;
        p->cut = true;
        return false;
    }
    add_row(p, &lab_kernel_fields, r, lab_counted_kernel(&p->counted, r->row),
            NAN);
    return !p->table.failed;
}

enum lab_status lab_profile_print_kernels(const struct lab_profile_print *p,
                                          int64_t run)
{
    struct printing printing = {.st = LAB_OK, .run = run};
    struct lab_kernel_filter filter = p->kernels;
    filter.descending = p->descending;
    if (p->table_rows > 0)
        printing.rows_left = filter.limit = p->table_rows + 1;
    enum lab_status st = lab_counted_load(&printing.counted, p->db, run);
    if (st)
        return st;
    if (!p->json)
        begin_table(&printing, &lab_kernel_fields);
    st = end_query(lab_query_kernels(
                       p->db, run, &filter,
                       p->json ? print_kernel_json : add_kernel_row, &printing),
                   &printing);
    if (st == LAB_OK && !p->json && printing.rows > 0)
        st = end_table(p, &printing);
    else if (st == LAB_OK && !p->json)
        lab_text_table_release(&printing.table);
    if (st == LAB_OK)
        st = lab_warn_missing(p->db, run, LAB_HAS_KERNELS);
    if (printing.cut)
        lab_warn("run %lld has more kernels than the %lld shown: --limit 0 "
                 "shows all of them, --json writes them as they are read",
                 (long long)run, (long long)p->table_rows);
    lab_counted_release(&printing.counted);
    return st;
}

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
                    "'%s' is not a run: give a number, last, or baseline:NAME",
                    word);
}

static bool look_no_further(void *user, const struct lab_run_row *r)
{
    (void)user;
    (void)r;
    return false;
}

enum lab_status lab_profile_check_run(struct lab_database *db, int64_t run)
{
    return lab_query_run(db, run, look_no_further, NULL);
}

/* `profile list`: the runs, newest first. */

/* What the callbacks of one query share. */
struct listing {
    struct lab_text_table table;
    bool others; /* runs of another user are among them */
    bool lost;   /* of some run not everything was stored */
    bool first;  /* some run had one iteration */
    int64_t rows;
    enum lab_status st; /* of printing */
};

static bool list_run_json(void *user, const struct lab_run_row *r)
{
    struct listing *l = user;
    l->rows++;
    l->st = lab_json_print(run_object(r));
    return l->st == LAB_OK;
}

static bool look_for_others(void *user, const struct lab_run_row *r)
{
    struct listing *l = user;
    l->others |= lab_run_is_imported(r);
    return !l->others;
}

static bool add_run_row(void *user, const struct lab_run_row *r)
{
    struct listing *l = user;
    l->rows++;
    l->lost |= lab_run_has_lost(r);
    l->first |= lab_run_has_one(r);
    for (int place = 1; place < LAB_RUN_OWNER_PLACE + l->others; place++)
        lab_text_table_add_field(&l->table,
                                 lab_field_at(&lab_run_fields, place), r);
    return true;
}

static enum lab_status list_lines(const struct lab_profile_print *p,
                                  struct listing *l)
{
    enum lab_status st = lab_query_runs(p->db, list_run_json, l);
    return st ? st : l->st;
}

/* The words in the table that need a line. */
static enum lab_status explain(const struct lab_profile_print *p,
                               const struct listing *l)
{
    struct lab_str text;
    lab_str_init(&text);
    if (l->first)
        lab_str_add(&text, "first: the wall time of the only iteration; on a "
                           "GPU kernels and libraries are loaded in it\n");
    if (l->lost) {
        lab_str_add(&text, "lost: not all of it was stored; `");
        lab_suggest_command(&text, lab_suggest_db(p->db),
                            LAB_WORDS("profile", "show", "RUN"));
        lab_str_add(&text, "` reports how much is missing, and why\n");
    }
    return lab_print_str(&text);
}

static enum lab_status list_table(const struct lab_profile_print *p,
                                  struct listing *l)
{
    const char *heads[LAB_RUN_OWNER_PLACE + 1] = {NULL};
    enum lab_status st = lab_query_runs(p->db, look_for_others, l);
    if (st)
        return st;
    for (int i = 0; i < LAB_RUN_OWNER_PLACE - !l->others; i++)
        heads[i] = lab_field_at(&lab_run_fields, i + 1)->title;
    lab_text_table_init(&l->table, heads);
    st = lab_query_runs(p->db, add_run_row, l);
    if (st == LAB_OK && l->rows > 0) {
        st = lab_text_table_put(&l->table, "");
        return st || !(l->lost || l->first) ? st : explain(p, l);
    }
    lab_text_table_release(&l->table);
    return st;
}

static void say_none(const struct lab_database *db)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_str_addf(&text, "no run is in %s; ", lab_database_path(db));
    lab_suggest_in_text(&text, db, "`lapenna-lab run LESSON` records one");
    lab_warn("%s", lab_str_text(&text));
    lab_str_release(&text);
}

enum lab_status lab_profile_print_list(const struct lab_profile_print *p)
{
    struct listing l = {.st = LAB_OK};
    enum lab_status st = p->json ? list_lines(p, &l) : list_table(p, &l);
    if (st == LAB_OK && l.rows == 0)
        say_none(p->db);
    return st;
}
