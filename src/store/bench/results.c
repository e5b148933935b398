/* The tables of a lab's run: results, predictions, points of a sweep. Each is a
 * list of columns; what adds, reads, imports and exports them follows from it. */
#include "store/bench.h"

#include <math.h>

#include "db/row.h"
#include "store/row_fields.h"

#define SHOWN LAB_SHOWN

/* ---- results ---- */

static const struct lab_field result_list[] = {
    LAB_FIELD(lab_bench_result, "place", INT, place),
    LAB_FIELD(lab_bench_result, "lab", TEXT, lab),
    LAB_FIELD(lab_bench_result, "size", TEXT, size, SHOWN("size", 1, PLAIN)),
    LAB_FIELD(lab_bench_result, "rung", TEXT, variant, .key = "variant",
              SHOWN("variant", 2, PLAIN)),
    LAB_FIELD(lab_bench_result, "precision", TEXT, precision,
              SHOWN("in", 3, PLAIN)),
    LAB_FIELD(lab_bench_result, "status", TEXT, status,
              SHOWN("status", 4, PLAIN)),
    LAB_FIELD(lab_bench_result, "reason", TEXT, reason),
    LAB_FIELD(lab_bench_result, "note", TEXT, note, SHOWN("note", 11, PLAIN)),
    LAB_FIELD(lab_bench_result, "repeats", INT, repeats),
    LAB_FIELD(lab_bench_result, "min_ns", REAL, min_ns),
    LAB_FIELD(lab_bench_result, "quarter_ns", REAL, quarter_ns),
    LAB_FIELD(lab_bench_result, "median_ns", REAL, median_ns,
              SHOWN(">median", 5, NS)),
    LAB_FIELD(lab_bench_result, "threeQuarters_ns", REAL, three_quarters_ns),
    LAB_FIELD(lab_bench_result, "max_ns", REAL, max_ns),
    LAB_FIELD(lab_bench_result, "unit", TEXT, unit),
    LAB_FIELD(lab_bench_result, "rate", REAL, rate, SHOWN(">rate", 6, RATE)),
    LAB_FIELD(lab_bench_result, "rateModel", REAL, rate_model,
              SHOWN(">model", 7, RATE)),
    LAB_FIELD(lab_bench_result, "ratePredicted", REAL, rate_predicted),
    LAB_FIELD(lab_bench_result, "gain", REAL, gain, SHOWN(">gain", 8, TIMES)),
    LAB_FIELD(lab_bench_result, "gainModel", REAL, gain_model,
              SHOWN(">model's", 9, TIMES)),
    LAB_FIELD(lab_bench_result, "check_error", REAL, check_error),
    LAB_FIELD(lab_bench_result, "sample_error", REAL, sample_error),
    LAB_FIELD(lab_bench_result, "error", REAL, error,
              SHOWN(">error", 10, PLAIN), .digits = 3),
    LAB_FIELD(lab_bench_result, "flop", REAL, flop),
    LAB_FIELD(lab_bench_result, "bytes", REAL, bytes),
    LAB_FIELD(lab_bench_result, "traffic_bytes", REAL, traffic_bytes),
    LAB_FIELD(lab_bench_result, "workspace_bytes", INT, workspace_bytes),
    LAB_FIELD(lab_bench_result, "flush_bytes", INT, flush_bytes),
    LAB_FIELD(lab_bench_result, "ceilingCopy_B_s", REAL, ceiling_copy,
              .key = "ceiling_copy_bytes_per_s"),
    LAB_FIELD(lab_bench_result, "ceilingFp32_FLOP_s", REAL, ceiling_fp32,
              .key = "ceiling_fp32_flop_per_s"),
    LAB_FIELD(lab_bench_result, "smClockBefore_hz", REAL, sm_clock_before_hz),
    LAB_FIELD(lab_bench_result, "smClockAfter_hz", REAL, sm_clock_after_hz),
    LAB_FIELD(lab_bench_result, "memoryClock_hz", REAL, memory_clock_hz),
    LAB_FIELD(lab_bench_result, "temperature_c", REAL, temperature_c),
    LAB_FIELD(lab_bench_result, "power_w", REAL, power_w),
    LAB_FIELD(lab_bench_result, "tracedExec", INT, traced_exec),
    LAB_FIELD(lab_bench_result, "idea", TEXT, idea,
              SHOWN("its idea", 12, PLAIN), .missing = ""),
};

LAB_FIELDS(lab_bench_result, result_list, lab_bench_results_read, "lab_row",
           "place", "lab_")

void lab_prediction_init(struct lab_prediction *p)
{
    *p = (struct lab_prediction){.place = LAB_UNKNOWN,
                                 .rate = NAN,
                                 .time_ns = NAN,
                                 .occupancy_pct = NAN};
}

void lab_bench_result_init(struct lab_bench_result *r)
{
    const struct lab_launch unknown = {
        .grid = {LAB_UNKNOWN, LAB_UNKNOWN, LAB_UNKNOWN},
        .block = {LAB_UNKNOWN, LAB_UNKNOWN, LAB_UNKNOWN},
        .cluster = {LAB_UNKNOWN, LAB_UNKNOWN, LAB_UNKNOWN},
        .registers_per_thread = LAB_UNKNOWN,
        .static_shared_bytes = LAB_UNKNOWN,
        .dynamic_shared_bytes = LAB_UNKNOWN};
    *r = (struct lab_bench_result){.share = NAN,
                                   .of_library = NAN,
                                   .kernel_ns = NAN,
                                   .occupancy_pct = NAN,
                                   .achieved_pct = NAN,
                                   .dram_bytes = NAN,
                                   .launch = unknown};
    lab_counters_init(&r->counted);
    lab_fields_clear(&lab_bench_result_fields, r);
    lab_prediction_init(&r->predicted);
}

double lab_bench_flop_per_j(const struct lab_bench_result *r)
{
    double joules = r->power_w * r->median_ns / 1e9;
    return r->flop > 0 && joules > 0 ? r->flop / joules : NAN;
}

enum lab_status lab_bench_result_add(struct lab_database *db, int64_t run,
                                     const struct lab_bench_result *row)
{
    return lab_fields_add(db, run, &lab_bench_result_fields, row);
}

enum lab_status lab_bench_result_traced(struct lab_database *db, int64_t run,
                                        int64_t place, int64_t exec)
{
    struct lab_stmt s = lab_stmt_new(
        db, "UPDATE lab_row SET tracedExec = ?3 WHERE runId = ?1 AND place = "
            "?2");
    sqlite3_bind_int64(s.sql, 1, run);
    sqlite3_bind_int64(s.sql, 2, place);
    sqlite3_bind_int64(s.sql, 3, exec);
    enum lab_status st = lab_stmt_once(&s, "storing a row");
    return st || sqlite3_changes(db->sql) == 1
               ? st
               : lab_fail(LAB_E_NOTFOUND,
                          "[run.no-row] %s: run %lld has no row %lld", db->path,
                          (long long)run, (long long)place);
}

/* ---- predictions ---- */

static const struct lab_field prediction_list[] = {
    LAB_FIELD(lab_prediction, "place", INT, place),
    LAB_FIELD(lab_prediction, "rung", TEXT, variant, .key = "variant",
              SHOWN("expected of", 1, PLAIN), .missing = ""),
    LAB_FIELD(lab_prediction, "precision", TEXT, precision,
              SHOWN("in", 2, PLAIN), .missing = "any"),
    LAB_FIELD(lab_prediction, "size", TEXT, size, SHOWN("size", 3, PLAIN),
              .missing = "any"),
    LAB_FIELD(lab_prediction, "rate", REAL, rate, SHOWN(">rate", 4, RATE)),
    LAB_FIELD(lab_prediction, "time_ns", REAL, time_ns, SHOWN(">time", 5, NS)),
    LAB_FIELD(lab_prediction, "bound", TEXT, bound,
              SHOWN("bound by", 6, PLAIN)),
    LAB_FIELD(lab_prediction, "occupancy_pct", REAL, occupancy_pct,
              SHOWN(">occupancy", 7, PCT), .digits = 4),
};

LAB_FIELDS(lab_prediction, prediction_list, lab_predictions_read, "lab_said",
           "place", "said_")

enum lab_status lab_prediction_add(struct lab_database *db, int64_t run,
                                   const struct lab_prediction *row)
{
    return lab_fields_add(db, run, &lab_prediction_fields, row);
}

/* The first column of the first row of a query with the parameters `text`, ?1 and on;
 * text[0] names what is looked for; *run is unchanged on failure. */
static enum lab_status first_run(struct lab_database *db, const char *sql,
                                 const char *const *text, int n, int64_t *run)
{
    struct lab_stmt s = lab_stmt_new(db, sql);
    for (int i = 0; i < n; i++)
        lab_bind_text(s.sql, i + 1, text[i]);
    int64_t id = lab_stmt_next(&s) ? lab_column_int(&s) : LAB_UNKNOWN;
    enum lab_status st = lab_stmt_end(&s);
    if (!st && id == LAB_UNKNOWN)
        st = lab_fail(LAB_E_NOTFOUND, "[run.no-lab] there is no run of %s",
                      text[0]);
    if (!st)
        *run = id;
    return st;
}

/* Candidates of a tuned variant, which tuning alone climbs, are named by their
 * tiles (64x64x8): they are no variants of the ladder. */
enum lab_status lab_bench_run_fullest(struct lab_database *db, const char *lab,
                                      const char *lesson, const char *but,
                                      int64_t *run)
{
    const char *const text[] = {lab, lesson, but};
    return first_run(
        db,
        "SELECT id FROM run JOIN lab_row AS l ON l.runId = id WHERE "
        "(?2 IS NULL OR lesson = ?2) AND (?3 IS NULL OR backend <> ?3) AND "
        "backend IS NOT 'sim' AND l.lab = ?1 AND l.status = 'done' GROUP BY id "
        "ORDER BY "
        "count(DISTINCT CASE WHEN rung GLOB '[0-9]*' THEN NULL ELSE rung END) "
        "DESC, count(DISTINCT size) DESC," LAB_SQL_NEWEST " LIMIT 1",
        text, 3, run);
}

enum lab_status lab_bench_run_with(struct lab_database *db, const char *lab,
                                   const char *variant, const char *size,
                                   const char *precision, int64_t *run)
{
    const char *const text[] = {lab, variant, size, precision};
    return first_run(
        db,
        "SELECT id FROM run JOIN lab_row AS l ON l.runId = id WHERE "
        "backend IS NOT 'sim' AND l.status = 'done' AND l.lab = ?1 AND "
        "l.rung = ?2 AND l.size = ?3 AND l.precision = ?4 ORDER "
        "BY " LAB_SQL_NEWEST " LIMIT 1",
        text, 4, run);
}

/* ---- sweeps ---- */

static const char *variants_text(const void *row, char *out, size_t cap)
{
    const char *variants = ((const struct lab_sweep_row *)row)->variants;
    (void)out;
    (void)cap;
    return variants && !variants[0] ? "naive" : variants;
}

static const struct lab_field sweep_list[] = {
    LAB_FIELD(lab_sweep_row, "place", INT, place),
    LAB_FIELD(lab_sweep_row, "sweep", TEXT, sweep),
    LAB_FIELD(lab_sweep_row, "lesson", TEXT, lesson, SHOWN("lesson", 1, PLAIN)),
    LAB_FIELD(lab_sweep_row, "backend", TEXT, backend, SHOWN("on", 2, PLAIN)),
    LAB_FIELD(lab_sweep_row, "name", TEXT, name, SHOWN("part", 4, PLAIN),
              .missing = ""),
    LAB_FIELD(lab_sweep_row, "x", REAL, x, SHOWN(">size", 3, PLAIN),
              .digits = 10),
    LAB_FIELD(lab_sweep_row, "status", TEXT, status, SHOWN("status", 5, PLAIN)),
    LAB_FIELD(lab_sweep_row, "reason", TEXT, reason),
    LAB_FIELD(lab_sweep_row, "iterations", INT, iterations),
    LAB_FIELD(lab_sweep_row, "samples", INT, samples),
    LAB_FIELD(lab_sweep_row, "median_ns", REAL, median_ns,
              SHOWN(">median", 6, NS)),
    LAB_FIELD(lab_sweep_row, "quarter_ns", REAL, quarter_ns),
    LAB_FIELD(lab_sweep_row, "threeQuarters_ns", REAL, three_quarters_ns),
    LAB_FIELD(lab_sweep_row, "samples_per_s", REAL, samples_per_s,
              SHOWN(">samples/s", 7, PLAIN), .digits = 4),
    LAB_FIELD(lab_sweep_row, "memory_bytes", INT, memory_bytes,
              SHOWN(">memory, B", 8, PLAIN)),
    LAB_FIELD(lab_sweep_row, "parameters", INT, parameters,
              SHOWN(">parameters", 9, PLAIN)),
    LAB_FIELD(lab_sweep_row, "flop", REAL, flop),
    LAB_FIELD(lab_sweep_row, "loss", REAL, loss, .key = "loss_equal_samples",
              SHOWN(">loss (samples)", 11, PLAIN), .digits = 4),
    LAB_FIELD(lab_sweep_row, "lossIterations", REAL, loss_iterations,
              .key = "loss_equal_iterations",
              SHOWN(">loss (iterations)", 12, PLAIN), .digits = 4),
    LAB_FIELD(lab_sweep_row, "share", REAL, share, SHOWN(">share", 10, PLAIN)),
    LAB_FIELD(lab_sweep_row, "variantsFrom", TEXT, variants_from),
    LAB_FIELD(lab_sweep_row, "variants", TEXT, variants),
    LAB_FIELD(lab_sweep_row, NULL, TEXT, variants, .key = "",
              SHOWN("variants", 13, PLAIN), .text = variants_text,
              .missing = ""),
};

LAB_FIELDS(lab_sweep_row, sweep_list, lab_sweep_rows_read, "sweep_row", "place",
           "sweep_")

enum lab_status lab_sweep_row_add(struct lab_database *db, int64_t run,
                                  const struct lab_sweep_row *row)
{
    return lab_fields_add(db, run, &lab_sweep_row_fields, row);
}

enum lab_status lab_sweep_run_newest(struct lab_database *db, const char *sweep,
                                     const char *lesson, int64_t *run)
{
    const char *const text[] = {sweep, lesson};
    return first_run(
        db,
        "SELECT id FROM run JOIN sweep_row AS s ON s.runId = id WHERE "
        "s.sweep = ?1 AND (?2 IS NULL OR s.lesson = ?2) AND "
        "s.status = 'done' GROUP BY id ORDER BY "
        "count(DISTINCT s.lesson) DESC," LAB_SQL_NEWEST " LIMIT 1",
        text, 2, run);
}
