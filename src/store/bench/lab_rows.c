#include "store/lab_rows.h"

#include "db/row.h"
#include "store/row_fields.h"

#define FIELD(column, kind, member)                                            \
    LAB_FIELD(lab_bench_row, column, kind, member)

static const struct lab_field fields[] = {
    FIELD("place", INT, place),
    FIELD("lab", TEXT, lab),
    FIELD("size", TEXT, size),
    FIELD("rung", TEXT, rung),
    FIELD("precision", TEXT, precision),
    FIELD("status", TEXT, status),
    FIELD("reason", TEXT, reason),
    FIELD("note", TEXT, note),
    FIELD("repeats", INT, repeats),
    FIELD("min_ns", REAL, min_ns),
    FIELD("quarter_ns", REAL, quarter_ns),
    FIELD("median_ns", REAL, median_ns),
    FIELD("threeQuarters_ns", REAL, three_quarters_ns),
    FIELD("max_ns", REAL, max_ns),
    FIELD("unit", TEXT, unit),
    FIELD("rate", REAL, rate),
    FIELD("rateModel", REAL, rate_model),
    FIELD("ratePredicted", REAL, rate_predicted),
    FIELD("gain", REAL, gain),
    FIELD("gainModel", REAL, gain_model),
    FIELD("check_error", REAL, check_error),
    FIELD("sample_error", REAL, sample_error),
    FIELD("flop", REAL, flop),
    FIELD("bytes", REAL, bytes),
    FIELD("traffic_bytes", REAL, traffic_bytes),
    FIELD("workspace_bytes", INT, workspace_bytes),
    FIELD("flush_bytes", INT, flush_bytes),
    FIELD("ceilingCopy_B_s", REAL, ceiling_copy),
    FIELD("ceilingFp32_FLOP_s", REAL, ceiling_fp32),
    FIELD("smClockBefore_hz", REAL, sm_clock_before_hz),
    FIELD("smClockAfter_hz", REAL, sm_clock_after_hz),
    FIELD("memoryClock_hz", REAL, memory_clock_hz),
    FIELD("temperature_c", REAL, temperature_c),
    FIELD("power_w", REAL, power_w),
    FIELD("tracedExec", INT, traced_exec),
};

LAB_FIELDS(lab_bench_row, lab_bench_rows_read, "lab_row", "place", "lab_")

enum lab_status lab_bench_row_add(struct lab_database *db, int64_t run,
                                  const struct lab_bench_row *row)
{
    return lab_fields_add(db, run, &lab_bench_row_fields, row);
}

enum lab_status lab_bench_row_traced(struct lab_database *db, int64_t run,
                                     int64_t place, int64_t exec)
{
    sqlite3_stmt *stmt;
    enum lab_status st = lab_database_prepare(
        db,
        "UPDATE lab_row SET tracedExec = ?3 WHERE runId = ?1 AND place = ?2",
        &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, run);
    sqlite3_bind_int64(stmt, 2, place);
    sqlite3_bind_int64(stmt, 3, exec);
    st = lab_query_end(db, stmt, sqlite3_step(stmt));
    return st || sqlite3_changes(db->sql) == 1
               ? st
               : lab_fail(LAB_E_NOTFOUND, "%s: run %lld has no row %lld",
                          db->path, (long long)run, (long long)place);
}
