/* export_csv.c -- steps, kernels, losses and lab rows as CSV.
 *
 * `profile export --format csv` calls it. All kinds of rows are in one table
 * with a column `type`; the columns are those of the records' tables of fields,
 * so that a new column of a record is one here as well. */
#include <math.h>
#include <string.h>

#include "export_priv.h"
#include "store/bench.h"
#include "store/counted.h"
#include "store/row_fields.h"

/* The columns of every kind of row, in one table: a kind leaves those empty
 * that it has not. */
enum { VARIANTS, LABS = 5 };
static const struct csv_table {
    const struct lab_fields *fields;
    const char *type; /* in the first column */
    enum lab_export_table table;
} lab_tables[LABS] = {
    [VARIANTS] = {&lab_bench_result_fields, "rung", LAB_EXPORT_VARIANTS},
    {&lab_sweep_row_fields, "sweep", LAB_EXPORT_SWEEPS},
    {&lab_prediction_fields, "said", LAB_EXPORT_PREDICTIONS},
    {&lab_tuned_row_fields, "tuned", LAB_EXPORT_TUNED},
    {&lab_choice_row_fields, "choice", LAB_EXPORT_CHOICES},
};

struct csv {
    FILE *to;
    struct lab_str line;
    enum lab_export_table table;
    int64_t run;
    bool first;      /* on this line */
    bool labs[LABS]; /* has columns for them */
    bool variants;   /* steps and kernels have columns of variants */
    int lab;         /* the table that is written */
    struct lab_counted_run counted;
    enum lab_status st;
};

static void separate(struct csv *c)
{
    if (!c->first)
        lab_str_add_char(&c->line, ',');
    c->first = false;
}

static void text(struct csv *c, const char *value)
{
    separate(c);
    lab_export_text(&c->line, value, LAB_ESCAPE_CSV);
}

static void integer(struct csv *c, int64_t v)
{
    separate(c);
    if (v != LAB_UNKNOWN)
        lab_str_addf(&c->line, "%lld", (long long)v);
}

static void real(struct csv *c, double v)
{
    separate(c);
    if (!isnan(v))
        lab_str_addf(&c->line, "%.17g", v);
}

static void nothing(struct csv *c, int columns)
{
    for (int i = 0; i < columns; i++)
        separate(c);
}

static void begin(struct csv *c, const char *type)
{
    c->first = true;
    if (c->table == LAB_EXPORT_ALL)
        text(c, type);
    integer(c, c->run);
}

static bool end(struct csv *c)
{
    lab_str_add(&c->line, "\r\n");
    c->st = lab_export_put(c->to, &c->line);
    return c->st == LAB_OK;
}

/* The columns of a record: those that have a name in CSV. */
static bool is_column(const struct lab_field *f)
{
    return f->csv || (f->key ? f->key[0] != '\0' : f->column != NULL);
}

static void put_fields_head(struct csv *c, const struct lab_fields *fields)
{
    static const char *const sides[] = {"", "_x", "_y", "_z"};
    for (int i = 0; i < fields->count; i++) {
        const struct lab_field *f = &fields->list[i];
        bool dims = f->kind == LAB_FIELD_DIMS;
        for (int d = dims; is_column(f) && d <= 3 * dims; d++) {
            separate(c);
            lab_field_key(&c->line, f, true);
            lab_str_add(&c->line, sides[d]);
        }
    }
}

static void put_fields(struct csv *c, const struct lab_fields *fields,
                       const void *row)
{
    char buffer[256];
    for (int i = 0; i < fields->count; i++) {
        const struct lab_field *f = &fields->list[i];
        const void *at = (const char *)row + f->at;
        if (!is_column(f))
            continue;
        if (f->text || f->kind == LAB_FIELD_TEXT)
            text(c, lab_field_text(f, row, buffer, sizeof(buffer)));
        else if (f->kind == LAB_FIELD_INT)
            integer(c, *(const int64_t *)at);
        else if (f->kind == LAB_FIELD_DIMS)
            for (int d = 0; d < 3; d++)
                integer(c, ((const int64_t *)at)[d]);
        else
            real(c, lab_field_real(f, row));
    }
}

/* The columns of `fields`, empty. */
static void nothing_of(struct csv *c, const struct lab_fields *fields)
{
    for (int i = 0; i < fields->count; i++)
        if (is_column(&fields->list[i]))
            nothing(c, fields->list[i].kind == LAB_FIELD_DIMS ? 3 : 1);
}

/* What steps and kernels of a lab are of: columns of its variants. */
static const char *const variant_columns[] = {"size", "rung", "precision"};
enum { VARIANT_COLUMNS = 3 };

static const char *text_of(const struct lab_bench_name *bench_name,
                           const char *column)
{
    if (!bench_name)
        return NULL;
    const char *const texts[VARIANT_COLUMNS] = {
        bench_name->size, bench_name->variant, bench_name->precision};
    for (int i = 0; i < VARIANT_COLUMNS; i++)
        if (strcmp(column, variant_columns[i]) == 0)
            return texts[i];
    return NULL;
}

/* Of the tables of labs before `to`, from `from`. */
static void nothing_of_labs(struct csv *c, int from, int to)
{
    for (int i = from; i < to; i++)
        if (c->labs[i])
            nothing_of(c, lab_tables[i].fields);
}

/* What both a step and a kernel may have, in columns that they share. */
static void put_counted(struct csv *c, const struct lab_counted_item *item,
                        double formula)
{
    const struct lab_counted_row row =
        lab_counted_row_of(&c->counted, item, formula);
    put_fields(c, &lab_counted_fields, &row);
}

/* The last columns of a step or kernel. */
static void put_variant(struct csv *c, const struct lab_bench_name *bench_name)
{
    const struct lab_fields *f = lab_tables[VARIANTS].fields;
    for (int i = 0; c->variants && i < VARIANT_COLUMNS; i++)
        text(c, text_of(bench_name, variant_columns[i]));
    for (int i = 0; c->labs[VARIANTS] && i < f->count; i++)
        text(c, text_of(bench_name, f->list[i].column));
    nothing_of_labs(c, VARIANTS + 1, LABS);
}

/* The records of a run beside each other; `row` is of `mine`. */
static void put_row(struct csv *c, const char *type,
                    const struct lab_fields *mine, const void *row)
{
    static const struct lab_fields *const all[] = {
        &lab_step_fields, &lab_kernel_fields, &lab_loss_row_fields};
    begin(c, type);
    for (int i = 0; i < 3; i++) {
        if (all[i] == mine)
            put_fields(c, mine, row);
        else if (c->table == LAB_EXPORT_ALL)
            nothing_of(c, all[i]);
    }
}

static bool put_step(void *user, const struct lab_time_sum *r)
{
    struct csv *c = user;
    put_row(c, "step", &lab_step_fields, r);
    put_counted(c, lab_counted_step(&c->counted, r->step_index, r->variant),
                r->flop);
    put_variant(c, r->bench_name);
    return end(c);
}

static bool put_kernel(void *user, const struct lab_kernel_row *r)
{
    struct csv *c = user;
    put_row(c, "kernel", &lab_kernel_fields, r);
    put_counted(c, lab_counted_kernel(&c->counted, r->row), NAN);
    put_variant(c, r->bench_name);
    return end(c);
}

static bool put_loss(void *user, const struct lab_loss_row *r)
{
    struct csv *c = user;
    put_row(c, "loss", &lab_loss_row_fields, r);
    if (c->table == LAB_EXPORT_ALL)
        nothing_of(c, &lab_counted_fields);
    nothing_of_labs(c, 0, LABS);
    return end(c);
}

/* ---- labs ---- */

/* All kernels of a variant's traced launch. */
static const struct lab_counted_item *
counted_variant(const struct lab_counted_run *counted, const void *row)
{
    const struct lab_bench_result *r = row;
    for (size_t i = 0; i < counted->count; i++)
        if (counted->items[i].exec == r->traced_exec &&
            counted->items[i].ordinal == LAB_UNKNOWN)
            return &counted->items[i];
    return NULL;
}

/* Variants alone have columns of counts where there are any. */
static bool has_counted_variants(const struct csv *c)
{
    return c->table == LAB_EXPORT_VARIANTS && c->counted.count > 0;
}

static bool put_lab_row(void *user, const void *row)
{
    struct csv *c = user;
    const struct csv_table *t = &lab_tables[c->lab];
    begin(c, t->type);
    if (c->table == LAB_EXPORT_ALL) {
        nothing_of(c, &lab_step_fields);
        nothing_of(c, &lab_kernel_fields);
        nothing_of(c, &lab_loss_row_fields);
        if (c->lab == VARIANTS)
            put_counted(c, counted_variant(&c->counted, row), NAN);
        else
            nothing_of(c, &lab_counted_fields);
        nothing_of_labs(c, 0, c->lab);
    }
    put_fields(c, t->fields, row);
    if (has_counted_variants(c))
        put_counted(c, counted_variant(&c->counted, row), NAN);
    nothing_of_labs(c, c->lab + 1, LABS);
    return end(c);
}

static bool note_row(void *user, const void *row)
{
    (void)row;
    *(bool *)user = true;
    return false;
}

static enum lab_status find_labs(struct csv *c, struct lab_database *db)
{
    enum lab_status st = LAB_OK;
    bool alone = c->table == LAB_EXPORT_STEPS || c->table == LAB_EXPORT_KERNELS;
    for (int i = 0; i < LABS && st == LAB_OK; i++) {
        c->labs[i] = c->table == lab_tables[i].table;
        if (c->table == LAB_EXPORT_ALL)
            st = lab_fields_read(db, c->run, lab_tables[i].fields, note_row,
                                 &c->labs[i]);
    }
    if (st == LAB_OK && alone)
        st = lab_fields_read(db, c->run, lab_tables[VARIANTS].fields, note_row,
                             &c->variants);
    return st;
}

static enum lab_status put_labs(struct csv *c, struct lab_database *db)
{
    enum lab_status st = LAB_OK;
    for (c->lab = 0; c->lab < LABS && !st && !c->st; c->lab++)
        if (c->labs[c->lab])
            st = lab_fields_read(db, c->run, lab_tables[c->lab].fields,
                                 put_lab_row, c);
    return st;
}

/* "lab_rung", but "lab" itself. */
static void put_lab_head(struct csv *c, const struct lab_fields *f)
{
    for (int i = 0; i < f->count; i++) {
        const char *column = f->list[i].column;
        if (!column)
            continue;
        size_t n = strlen(column);
        bool itself = strncmp(f->prefix, column, n) == 0 && f->prefix[n] == '_';
        lab_str_addf(&c->line, ",%s", itself ? "" : f->prefix);
        lab_field_name(&c->line, column);
    }
}

static enum lab_status put_head(struct csv *c)
{
    enum lab_export_table t = c->table;
    bool all = t == LAB_EXPORT_ALL;
    lab_str_add(&c->line, all ? "type,run" : "run");
    if (all || t == LAB_EXPORT_STEPS)
        put_fields_head(c, &lab_step_fields);
    if (all || t == LAB_EXPORT_KERNELS)
        put_fields_head(c, &lab_kernel_fields);
    if (all || t == LAB_EXPORT_LOSSES)
        put_fields_head(c, &lab_loss_row_fields);
    bool counts = all || t == LAB_EXPORT_STEPS || t == LAB_EXPORT_KERNELS;
    if (counts)
        put_fields_head(c, &lab_counted_fields);
    for (int i = 0; c->variants && i < VARIANT_COLUMNS; i++)
        lab_str_addf(&c->line, ",%s%s", lab_tables[VARIANTS].fields->prefix,
                     variant_columns[i]);
    for (int i = 0; i < LABS; i++)
        if (c->labs[i])
            put_lab_head(c, lab_tables[i].fields);
    if (has_counted_variants(c))
        put_fields_head(c, &lab_counted_fields);
    end(c);
    return c->st;
}

enum lab_status lab_export_csv(FILE *to, struct lab_database *db, int64_t run,
                               enum lab_export_table table, bool all)
{
    struct csv c = {.to = to, .table = table, .run = run};
    const struct lab_kernel_filter every = {.between = all};
    bool each = table == LAB_EXPORT_ALL;
    lab_str_init(&c.line);
    enum lab_status st = lab_query_require_run(db, run);
    if (st == LAB_OK)
        st = find_labs(&c, db);
    if (st == LAB_OK)
        st = lab_counted_load(&c.counted, db, run);
    if (st == LAB_OK)
        st = put_head(&c);
    if (st == LAB_OK && (each || table == LAB_EXPORT_STEPS))
        st = lab_query_steps(db, run, LAB_STEP_BY_INDEX, false, put_step, &c);
    if (st == LAB_OK && c.st == LAB_OK && (each || table == LAB_EXPORT_KERNELS))
        st = lab_query_kernels(db, run, &every, put_kernel, &c);
    if (st == LAB_OK && c.st == LAB_OK && (each || table == LAB_EXPORT_LOSSES))
        st = lab_query_losses(db, run, put_loss, &c);
    if (st == LAB_OK && c.st == LAB_OK)
        st = put_labs(&c, db);
    lab_counted_release(&c.counted);
    lab_str_release(&c.line);
    return st ? st : c.st;
}
