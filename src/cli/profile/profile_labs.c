/* What a lab measured, as `profile show` has it: the results of a ladder, what
 * was predicted of them, what a tuning found fastest, the points of a sweep. A
 * table of text, or lines of JSON, which an export has too. */
#include "profile_labs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/text.h"
#include "profile_cmd.h"
#include "profile_json.h"
#include "report/json_fields.h"
#include "report/json_line.h"
#include "report/json_sweep.h"
#include "report/text_table.h"
#include "store/bench.h"
#include "store/tuned.h"

/* ---- tables ---- */

enum format {
    TEXT,
    BLANK, /* a text; unknown: nothing */
    ANY,   /* a text; unknown: any */
    COUNT,
    REAL,
    NS,
    RATE, /* in the unit of the run */
    TIMES,
    PERCENT,
    NOTE /* of a result */
};

struct column {
    const char *head; /* NULL: the unit of the rates */
    enum format format;
    size_t at;
    int digits;
};

#define AT(member) offsetof(struct lab_bench_result, member)
static const struct column result_columns[] = {
    {"size", TEXT, AT(size), 0},
    {"rung", TEXT, AT(variant), 0},
    {"in", TEXT, AT(precision), 0},
    {"status", TEXT, AT(status), 0},
    {">median", NS, AT(median_ns), 0},
    {NULL, RATE, AT(rate), 0},
    {">model", RATE, AT(rate_model), 0},
    {">gain", TIMES, AT(gain), 0},
    {">model's", TIMES, AT(gain_model), 0},
    {"note", NOTE, 0, 0},
};
#undef AT
#define AT(member) offsetof(struct lab_prediction, member)
static const struct column prediction_columns[] = {
    {"expected of", BLANK, AT(variant), 0},
    {"in", ANY, AT(precision), 0},
    {"size", ANY, AT(size), 0},
    {NULL, RATE, AT(rate), 0},
    {">time", NS, AT(time_ns), 0},
    {"bound by", TEXT, AT(bound), 0},
    {">occupancy", PERCENT, AT(occupancy_pct), 0},
};
#undef AT
#define AT(member) offsetof(struct lab_tuned_row, member)
static const struct column tuned_columns[] = {
    {"lab", TEXT, AT(lab), 0},         {"sizes", TEXT, AT(size_class), 0},
    {"in", TEXT, AT(precision), 0},    {"fastest", TEXT, AT(candidate), 0},
    {">of", COUNT, AT(candidates), 0}, {"measured at", TEXT, AT(size), 0},
    {">median", NS, AT(median_ns), 0}, {NULL, RATE, AT(rate), 0},
};
#undef AT
#define AT(member) offsetof(struct lab_sweep_row, member)
static const struct column sweep_columns[] = {
    {"lesson", TEXT, AT(lesson), 0},
    {"on", TEXT, AT(backend), 0},
    {">size", REAL, AT(x), 10},
    {"part", BLANK, AT(name), 0},
    {"status", TEXT, AT(status), 0},
    {">median", NS, AT(median_ns), 0},
    {">samples/s", REAL, AT(samples_per_s), 4},
    {">memory, B", COUNT, AT(memory_bytes), 0},
    {">parameters", COUNT, AT(parameters), 0},
    {">share", REAL, AT(share), 3},
    {">loss (samples)", REAL, AT(loss), 4},
    {">loss (iterations)", REAL, AT(loss_iterations), 4},
};
#undef AT

/* ---- JSON ---- */

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
    const struct column *columns;
    size_t n_columns;
    const struct lab_json_field *names;
    size_t n_names;
    size_t unit; /* where the row has the unit of its rates */
} records[] = {
    {"lab_row", &lab_bench_result_fields, LIST(result_columns),
     LIST(result_names), offsetof(struct lab_bench_result, unit)},
    /* In the unit of the results above them. */
    {"lab_said", &lab_prediction_fields, LIST(prediction_columns),
     LIST(prediction_names), 0},
    {"lab_tuned", &lab_tuned_row_fields, LIST(tuned_columns), LIST(tuned_names),
     offsetof(struct lab_tuned_row, unit)},
    {"sweep_row", &lab_sweep_row_fields, LIST(sweep_columns), NULL, 0, 0},
};
enum { RECORDS = sizeof(records) / sizeof(records[0]) };

struct printing {
    const struct record *record;
    struct lab_text_table table;
    int rows;
    char unit[48]; /* of the rates, as a person reads them; ">rate" */
    double scale;
    int64_t run;
    lab_json_line_fn *put;
    void *user;
    enum lab_status st;
};

static const char *text_at(const void *row, size_t at)
{
    return *(const char *const *)(const void *)((const char *)row + at);
}

static double real_at(const void *row, size_t at)
{
    return *(const double *)(const void *)((const char *)row + at);
}

/* Seconds an item are shown in nanoseconds, rates in thousand millions. */
static void take_unit(struct printing *p, const char *unit)
{
    bool time = unit && strncmp(unit, "s/", 2) == 0;
    p->scale = time ? 1e-9 : 1e9;
    snprintf(p->unit, sizeof(p->unit), ">%c%.40s", time ? 'n' : 'G',
             unit ? unit : "");
}

/* What the variant reports, or why it has no times, and why it is faster than its
 * model. */
static void add_note(struct lab_text_table *t, const struct lab_bench_result *r)
{
    enum lab_bench_unit unit = !r->unit                         ? LAB_UNIT_BYTES
                               : strncmp(r->unit, "s/", 2) == 0 ? LAB_UNIT_TIME
                               : strcmp(r->unit, "FLOP/s") == 0
                                   ? LAB_UNIT_FLOPS
                                   : LAB_UNIT_BYTES;
    const char *note = r->note ? r->note : r->reason ? r->reason : "";
    const char *why = lab_bench_model_passed(unit, r->rate, r->rate_model,
                                             r->bytes, r->traffic_bytes);
    lab_text_table_addf(t, "%s%s%s%s", note, why && note[0] ? "; " : "",
                        why ? "passed: " : "", why ? why : "");
}

static void add_cell(struct printing *p, const struct column *c,
                     const void *row)
{
    struct lab_text_table *t = &p->table;
    const char *text = c->format <= ANY ? text_at(row, c->at) : NULL;
    double v =
        c->format >= REAL && c->format < NOTE ? real_at(row, c->at) : NAN;
    if (c->format <= ANY)
        lab_text_table_add(t, text                ? text
                              : c->format == ANY  ? "any"
                              : c->format == TEXT ? NULL
                                                  : "");
    else if (c->format == COUNT)
        lab_text_table_add_int(
            t, *(const int64_t *)(const void *)((const char *)row + c->at));
    else if (c->format == NS)
        lab_text_table_add_real_ns(t, v);
    else if (c->format == TIMES)
        lab_text_table_add_times(t, v);
    else if (c->format == NOTE)
        add_note(t, row);
    else if (c->format == RATE)
        lab_text_table_add_real(t, v / p->scale, 4);
    else if (c->format == REAL || isnan(v))
        lab_text_table_add_real(t, v, c->digits);
    else
        lab_text_table_addf(t, "%.4g %%", v);
}

static bool add_row(void *user, const void *row)
{
    struct printing *p = user;
    const struct record *r = p->record;
    if (p->rows++ == 0) {
        const char *heads[LAB_TEXT_TABLE_COLUMNS + 1] = {NULL};
        if (r->unit)
            take_unit(p, text_at(row, r->unit));
        for (size_t i = 0; i < r->n_columns; i++)
            heads[i] = r->columns[i].head ? r->columns[i].head : p->unit;
        lab_text_table_init(&p->table, heads);
    }
    for (size_t i = 0; i < r->n_columns; i++)
        add_cell(p, &r->columns[i], row);
    return true;
}

static enum lab_status end_table(struct printing *p, bool ascii)
{
    struct lab_str text;
    if (p->rows == 0)
        return LAB_OK;
    lab_str_init(&text);
    lab_str_add_char(&text, '\n');
    enum lab_status st = lab_text_table_format(&p->table, &text);
    lab_text_table_release(&p->table);
    p->rows = 0;
    if (!st)
        return lab_profile_put(&text, ascii);
    lab_str_release(&text);
    return st;
}

static enum lab_status print_tables(const struct lab_profile_print *to,
                                    int64_t run)
{
    struct printing p = {.unit = ">rate", .scale = 1};
    enum lab_status st = LAB_OK;
    for (int i = 0; i < RECORDS && !st; i++) {
        p.record = &records[i];
        st = lab_fields_read(to->db, run, p.record->fields, add_row, &p);
        enum lab_status ended = end_table(&p, to->ascii);
        st = st ? st : ended;
    }
    return st;
}

static bool put_row(void *user, const void *row)
{
    struct printing *p = user;
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
    p->st = p->put(p->user, o);
    return p->st == LAB_OK;
}

enum lab_status lab_profile_lab_lines(struct lab_database *db, int64_t run,
                                      lab_json_line_fn *to, void *user)
{
    struct printing p = {.run = run, .put = to, .user = user};
    enum lab_status st = LAB_OK;
    for (int i = 0; i < RECORDS && !st && !p.st; i++) {
        p.record = &records[i];
        st = lab_fields_read(db, run, p.record->fields, put_row, &p);
    }
    return st ? st : p.st;
}

static enum lab_status print_line(void *user, json_t *object)
{
    (void)user;
    return lab_json_print(object);
}

enum lab_status lab_profile_print_labs(const struct lab_profile_print *p,
                                       int64_t run)
{
    return p->json ? lab_profile_lab_lines(p->db, run, print_line, NULL)
                   : print_tables(p, run);
}
