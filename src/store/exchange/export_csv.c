#include <math.h>
#include <string.h>

#include "export_priv.h"
#include "store/counted.h"
#include "store/limit_words.h"
#include "store/row_fields.h"

/* The columns of every kind of row, in one table: a kind leaves those empty
 * that it has not. */
enum { RUNGS, LABS = 4 };
static const struct lab_table {
    const struct lab_fields *fields;
    const char *type; /* in the first column */
    enum lab_export_table table;
} lab_tables[LABS] = {
    [RUNGS] = {&lab_bench_result_fields, "rung", LAB_EXPORT_RUNGS},
    {&lab_sweep_row_fields, "sweep", LAB_EXPORT_SWEEPS},
    {&lab_prediction_fields, "said", LAB_EXPORT_PREDICTIONS},
    {&lab_tuned_row_fields, "tuned", LAB_EXPORT_TUNED},
};

struct csv {
    FILE *to;
    struct lab_str line;
    enum lab_export_table table;
    int64_t run;
    bool first;      /* on this line */
    bool labs[LABS]; /* has columns for them */
    bool rungs;      /* a lab's steps or kernels alone say what they are of */
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

static const char step_head[] =
    "index,phase,step,node,op,variant,backend,count,timed,median_ns,min_ns,"
    "max_ns,total_ns,quarter_ns,three_quarters_ns,mad_ns,flop,bytes,"
    "gflop_per_s,gbyte_per_s,kernels,time_source";
enum { STEP_COLUMNS = 22 };
static const char kernel_head[] =
    "exec,iteration,step_index,step_of,phase_of,kernel,kernel_short,start_ns,"
    "end_ns,time_ns,device,context,stream,correlation,grid_x,grid_y,grid_z,"
    "block_x,block_y,block_z,cluster_x,cluster_y,cluster_z,"
    "registers_per_thread,static_shared_bytes,dynamic_shared_bytes,"
    "shared_executed_bytes,local_per_thread_bytes,graph_node,occupancy_pct,"
    "occupancy_limit,active_blocks_per_sm";
enum { KERNEL_COLUMNS = 32 };
static const char loss_head[] = "loss_iteration,loss,accuracy,moment_ns";
enum { LOSS_COLUMNS = 4 };

/* What comes before the columns of labs, for rows that have none of it. */
enum {
    OTHER_COLUMNS =
        STEP_COLUMNS + KERNEL_COLUMNS + LOSS_COLUMNS + LAB_COUNTED_COLUMNS
};

/* What steps and kernels of a lab are of: columns of its rungs. */
static const char *const rung_columns[] = {"size", "rung", "precision"};
enum { RUNG_COLUMNS = 3 };

static const char *text_of(const struct lab_bench_name *rung,
                           const char *column)
{
    if (!rung)
        return NULL;
    const char *const texts[RUNG_COLUMNS] = {rung->size, rung->rung,
                                             rung->precision};
    for (int i = 0; i < RUNG_COLUMNS; i++)
        if (strcmp(column, rung_columns[i]) == 0)
            return texts[i];
    return NULL;
}

/* Of the tables of labs before `to`, from `from`. */
static void nothing_of_labs(struct csv *c, int from, int to)
{
    for (int i = from; i < to; i++)
        if (c->labs[i])
            nothing(c, lab_tables[i].fields->count);
}

/* What both a step and a kernel may have, in columns that they share. */
static void put_counted(struct csv *c, const struct lab_counted_item *item,
                        double formula)
{
    double values[LAB_COUNTED_COLUMNS];
    lab_counted_values(item, formula, values);
    for (int i = 0; i < LAB_COUNTED_COLUMNS; i++)
        real(c, values[i]);
}

/* The last columns of a step or kernel. */
static void put_rung(struct csv *c, const struct lab_bench_name *rung)
{
    const struct lab_fields *f = lab_tables[RUNGS].fields;
    for (int i = 0; c->rungs && i < RUNG_COLUMNS; i++)
        text(c, text_of(rung, rung_columns[i]));
    for (int i = 0; c->labs[RUNGS] && i < f->count; i++)
        text(c, text_of(rung, f->list[i].column));
    nothing_of_labs(c, RUNGS + 1, LABS);
}

static bool put_step(void *user, const struct lab_step_row *r)
{
    struct csv *c = user;
    begin(c, "step");
    integer(c, r->index);
    text(c, r->phase);
    text(c, r->name);
    text(c, r->node);
    text(c, r->op);
    text(c, r->variant);
    text(c, r->backend);
    const int64_t times[] = {
        r->count,    r->timed,      r->median_ns,         r->min_ns, r->max_ns,
        r->total_ns, r->quarter_ns, r->three_quarters_ns, r->mad_ns};
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        integer(c, times[i]);
    real(c, r->flop);
    real(c, r->bytes);
    real(c, r->gflop_per_s);
    real(c, r->gbyte_per_s);
    integer(c, r->kernels);
    text(c, r->time_source);
    if (c->table == LAB_EXPORT_ALL)
        nothing(c, KERNEL_COLUMNS + LOSS_COLUMNS);
    put_counted(c, lab_counted_step(&c->counted, r->index, r->variant),
                r->flop);
    put_rung(c, r->rung);
    return end(c);
}

static bool put_kernel(void *user, const struct lab_kernel_row *r)
{
    struct csv *c = user;
    char limit[64];
    begin(c, "kernel");
    if (c->table == LAB_EXPORT_ALL)
        nothing(c, STEP_COLUMNS);
    integer(c, r->exec);
    integer(c, r->iteration);
    integer(c, r->step_index);
    text(c, r->step);
    text(c, r->phase);
    text(c, r->name);
    text(c, r->short_name);
    const int64_t facts[] = {r->start_ns, r->end_ns, r->time_ns,    r->device,
                             r->context,  r->stream, r->correlation};
    for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
        integer(c, facts[i]);
    for (int i = 0; i < 3; i++)
        integer(c, r->grid[i]);
    for (int i = 0; i < 3; i++)
        integer(c, r->block[i]);
    for (int i = 0; i < 3; i++)
        integer(c, r->cluster[i]);
    const int64_t launch[] = {
        r->registers_per_thread,   r->static_shared_bytes,
        r->dynamic_shared_bytes,   r->shared_executed_bytes,
        r->local_per_thread_bytes, r->graph_node};
    for (size_t i = 0; i < sizeof(launch) / sizeof(launch[0]); i++)
        integer(c, launch[i]);
    real(c, r->occupancy_pct);
    text(c, lab_limit_text(r->occupancy_limit, limit, sizeof(limit)));
    integer(c, r->active_blocks_per_sm);
    if (c->table == LAB_EXPORT_ALL)
        nothing(c, LOSS_COLUMNS);
    put_counted(c, lab_counted_kernel(&c->counted, r->row), NAN);
    put_rung(c, r->rung);
    return end(c);
}

static bool put_loss(void *user, const struct lab_loss_row *r)
{
    struct csv *c = user;
    begin(c, "loss");
    if (c->table == LAB_EXPORT_ALL)
        nothing(c, STEP_COLUMNS + KERNEL_COLUMNS);
    integer(c, r->iteration);
    real(c, r->loss);
    real(c, r->accuracy);
    integer(c, r->moment_ns);
    if (c->table == LAB_EXPORT_ALL)
        nothing(c, LAB_COUNTED_COLUMNS);
    nothing_of_labs(c, 0, LABS);
    return end(c);
}

/* ---- labs ---- */

static bool put_lab_row(void *user, const void *row)
{
    struct csv *c = user;
    const struct lab_table *t = &lab_tables[c->lab];
    begin(c, t->type);
    if (c->table == LAB_EXPORT_ALL) {
        nothing(c, OTHER_COLUMNS);
        nothing_of_labs(c, 0, c->lab);
    }
    for (int i = 0; i < t->fields->count; i++) {
        const struct lab_field *f = &t->fields->list[i];
        const void *at = (const char *)row + f->at;
        if (f->kind == LAB_FIELD_INT)
            integer(c, *(const int64_t *)at);
        else if (f->kind == LAB_FIELD_TEXT)
            text(c, *(const char *const *)at);
        else
            real(c, *(const double *)at);
    }
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
        st = lab_fields_read(db, c->run, lab_tables[RUNGS].fields, note_row,
                             &c->rungs);
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
        lab_str_addf(&c->line, ",%s", step_head);
    if (all || t == LAB_EXPORT_KERNELS)
        lab_str_addf(&c->line, ",%s", kernel_head);
    if (all || t == LAB_EXPORT_LOSSES)
        lab_str_addf(&c->line, ",%s", loss_head);
    bool counts = all || t == LAB_EXPORT_STEPS || t == LAB_EXPORT_KERNELS;
    for (int i = 0; counts && i < LAB_COUNTED_COLUMNS; i++)
        lab_str_addf(&c->line, ",%s", lab_counted_column(i));
    for (int i = 0; c->rungs && i < RUNG_COLUMNS; i++)
        lab_str_addf(&c->line, ",%s%s", lab_tables[RUNGS].fields->prefix,
                     rung_columns[i]);
    for (int i = 0; i < LABS; i++)
        if (c->labs[i])
            put_lab_head(c, lab_tables[i].fields);
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
