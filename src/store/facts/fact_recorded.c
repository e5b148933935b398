/* fact_recorded.c -- numbers of a table that runs which ship have measured: a cell
 * "@LESSON/VARIANT/SIZE/WHAT" is read from their database, never typed in. Of a lesson that
 * trains VARIANT is "iteration" and SIZE its batch: the mean of those with a known energy. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/row.h"
#include "store/fact_table.h"

enum { PARTS = 4, PART_BYTES = 64 };

/* What a row of a lab has, in seconds, bytes, FLOPs, hertz and watts, what an iteration
 * has of it (NULL: it has none), and the kinds of units that it may be in: a rate may be
 * seconds an item. */
static const struct recorded_column {
    const char *what;
    const char *of_row;
    const char *of_iteration;
    double factor;
    const char *kinds;
} columns[] = {
    {"time", "l.median_ns", "r.warm_ns * 1.0 / r.warmIterations", 1e-9, "t"},
    {"rate", "l.rate", NULL, 1, "tbf"},
    {"power", "l.power_w", "r.warmEnergy_j * 1e9 / r.warm_ns", 1, "w"},
    {"clock", "l.smClockAfter_hz", NULL, 1, "h"},
    {"flop", "l.flop", "r.iteration_flop", 1, "F"},
    {"bytes", "l.bytes", NULL, 1, "B"},
    {"copy", "l.ceilingCopy_B_s", NULL, 1, "b"}};

static const struct {
    const char *unit;
    long double factor;
    char kind;
} units[] = {
    {"s", 1, 't'},          {"ms", 1e-3L, 't'},      {"us", 1e-6L, 't'},
    {"ns", 1e-9L, 't'},     {"GB/s", 1e9L, 'b'},     {"TB/s", 1e12L, 'b'},
    {"GFLOP/s", 1e9L, 'f'}, {"TFLOP/s", 1e12L, 'f'}, {"MHz", 1e6L, 'h'},
    {"GHz", 1e9L, 'h'},     {"W", 1, 'w'},           {"GFLOP", 1e9L, 'F'},
    {"B", 1, 'B'}};

static bool split(const char *text, char part[PARTS][PART_BYTES])
{
    int n = 0;
    for (text++; n < PARTS; n++) {
        size_t bytes = strcspn(text, "/");
        if (bytes == 0 || bytes >= PART_BYTES)
            return false;
        memcpy(part[n], text, bytes);
        part[n][bytes] = '\0';
        text += bytes;
        if (!*text)
            return n == PARTS - 1;
        text++;
    }
    return false;
}

static bool of_iteration(char part[PARTS][PART_BYTES])
{
    return strcmp(part[1], "iteration") == 0;
}

/* The newest run of the lesson that has the row, or an iteration with a known energy;
 * one with variants that a user chose only where no other has it. NaN: none. */
static enum lab_status find_value(struct lab_database *db,
                                  char part[PARTS][PART_BYTES],
                                  const char *column, double *value,
                                  int64_t *run)
{
    struct lab_str sql;
    lab_str_init(&sql);
    lab_str_addf(
        &sql,
        of_iteration(part)
            ? "SELECT %s, r.id FROM run r WHERE r.lesson = ?1 AND "
              "?2 = 'iteration' AND CAST(r.batch AS TEXT) = ?3 AND r.status = "
              "'done' AND r.warmEnergy_j > 0"
            : "SELECT %s, r.id FROM run r JOIN lab_row l ON l.runId = "
              "r.id WHERE r.lesson = ?1 AND l.rung = ?2 AND l.size = "
              "?3 AND l.status = 'done'",
        column);
    lab_str_add(&sql,
                " ORDER BY r.variantsFrom IS 'chosen', r.id DESC LIMIT 1");
    struct lab_stmt s = lab_stmt_built(db, &sql);
    for (int i = 0; !s.st && i < 3; i++)
        lab_bind_text(s.sql, i + 1, part[i]);
    *value = (double)NAN;
    if (lab_stmt_next(&s)) {
        *value = lab_column_real(&s);
        *run = lab_column_int(&s);
    }
    return lab_stmt_end(&s);
}

/* Columns of a row that have their number from one place; "" and none at first. */
struct source {
    char columns[160];
    char from[160];
};

/* The line of the columns so far. */
static void end_source(struct source *s, const struct lab_fact_table *t,
                       int row, struct lab_str *note)
{
    if (s->columns[0])
        lab_str_addf(note, "%s, %s: %s.\n", lab_fact_key(t, row), s->columns,
                     s->from);
    *s = (struct source){.columns = ""};
}

static enum lab_status take_cell(const struct lab_fact_table *t, int row,
                                 int column, struct lab_database *db,
                                 struct source *source, struct lab_str *note)
{
    struct lab_fact_cell *cell = lab_fact_at(t, row, column);
    char part[PARTS][PART_BYTES];
    const char *name = NULL;
    double factor = 1;
    const char *kinds = "";
    long double unit = 0;
    bool good = split(cell->recorded, part);
    for (size_t i = 0; good && i < sizeof(columns) / sizeof(columns[0]); i++)
        if (strcmp(columns[i].what, part[3]) == 0) {
            name = of_iteration(part) ? columns[i].of_iteration
                                      : columns[i].of_row;
            factor = columns[i].factor;
            kinds = columns[i].kinds;
        }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcmp(units[i].unit, t->column[column].unit) == 0 &&
            strchr(kinds, units[i].kind))
            unit = units[i].factor;
    if (!name || unit <= 0)
        return lab_fail(
            LAB_E_PARSE,
            "[table.recorded] %s:%d: column %s: \"%s\" is no recorded number: "
            "@LESSON/VARIANT/SIZE/WHAT, with time, rate, power, clock, flop, "
            "bytes or copy, in a unit of it; or @LESSON/iteration/BATCH/WHAT, "
            "with time, power or flop",
            t->path, t->line[row], t->column[column].name, cell->recorded);
    double value = (double)NAN;
    int64_t run = 0;
    enum lab_status st = find_value(db, part, name, &value, &run);
    if (st)
        return st;
    cell->value = (long double)value * (long double)factor / unit;
    if (isnan(value)) {
        lab_str_addf(note, "%s: no run that ships has %s.\n",
                     lab_fact_key(t, row), cell->recorded + 1);
        return LAB_OK;
    }
    char from[sizeof(source->from)];
    snprintf(from, sizeof(from), "recorded run %lld, %s, %s %s %s",
             (long long)run, part[0], of_iteration(part) ? "the mean" : part[1],
             of_iteration(part) ? "iteration at a batch of" : "at", part[2]);
    if (strcmp(from, source->from) != 0)
        end_source(source, t, row, note);
    memcpy(source->from, from, sizeof(from));
    size_t used = strlen(source->columns);
    snprintf(source->columns + used, sizeof(source->columns) - used, "%s%s",
             used ? ", " : "", t->column[column].name);
    return LAB_OK;
}

static bool has_recorded(const struct lab_fact_table *t)
{
    for (int row = 0; row < t->rows; row++)
        for (int i = 0; i < t->columns; i++)
            if (lab_fact_at(t, row, i)->recorded)
                return true;
    return false;
}

enum lab_status lab_fact_take_recorded(struct lab_fact_table *t,
                                       const char *path, struct lab_str *note)
{
    const struct lab_database_options options = {.read_only = true};
    struct lab_database *db = NULL;
    if (!has_recorded(t))
        return LAB_OK;
    enum lab_status st = lab_database_open(&db, path, &options);
    for (int row = 0; !st && row < t->rows; row++) {
        struct source source = {.columns = ""};
        for (int i = 0; !st && i < t->columns; i++)
            if (lab_fact_at(t, row, i)->recorded)
                st = take_cell(t, row, i, db, &source, note);
        end_source(&source, t, row, note);
    }
    lab_database_close(db);
    return st ? st : lab_fact_compute(t);
}

enum lab_status lab_fact_recorded_run(const char *path, const char *lesson,
                                      const char *backend, int64_t *run)
{
    /* A lesson's name is also that of the sweeps over it. Variants that a user chose
     * are beside those of the lesson, and a run without a trace has times alone. A lab
     * may have a run of some sizes beside one of all. */
    static const char usual[] =
        "SELECT id FROM run WHERE lesson = ?1 AND backend = ?2 ORDER BY kind "
        "IS 'lab', "
        "variantsFrom IS 'chosen', traceState IS 'never', (SELECT count(*) "
        "FROM lab_row WHERE runId = id) + (SELECT count(*) FROM sweep_row "
        "WHERE runId = id) DESC," LAB_SQL_NEWEST " LIMIT 1";
    const struct lab_database_options options = {.read_only = true};
    struct lab_database *db = NULL;
    enum lab_status st = lab_database_open(&db, path, &options);
    if (st)
        return st;
    struct lab_stmt s = lab_stmt_new(db, usual);
    if (!s.st) {
        lab_bind_text(s.sql, 1, lesson);
        lab_bind_text(s.sql, 2, backend);
    }
    if (lab_stmt_next(&s))
        *run = lab_column_int(&s);
    st = lab_stmt_end(&s);
    lab_database_close(db);
    return st;
}
