/* ceilings.c -- measured ceilings by device, kept and found again. */
#include "store/ceilings.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "db/row.h"
#include "store/devices.h"
#include "store/time_sum.h"

const char *const lab_roof_names[LAB_ROOF_NAMES] = {"copy", "fp32", "tf32",
                                                    "bf16", "fp16"};

const char *lab_roof_origin_text(enum lab_roof_origin origin)
{
    static const char *const texts[LAB_ROOF_ORIGINS] = {
        [LAB_ROOF_NONE] = "",
        [LAB_ROOF_MEASURED] = "measured",
        [LAB_ROOF_RUNG] = "measured by a lab's rung",
        [LAB_ROOF_RUN] = "measured by this run",
        [LAB_ROOF_ALIKE] = "measured on another device of this name",
        [LAB_ROOF_DATASHEET] = "data sheet",
    };
    return (unsigned)origin < LAB_ROOF_ORIGINS ? texts[origin] : "";
}

enum lab_status lab_ceiling_add(struct lab_database *db,
                                const struct lab_ceiling_row *row)
{
    sqlite3_stmt *stmt;
    char moment[32];
    enum lab_status st = lab_database_prepare(
        db,
        "INSERT INTO ceiling (backend, device, uuid, hostname, name, "
        "best_per_s, median_per_s, worst_per_s, repeats, size, measured, "
        "measured_ns, driver, version) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
        "?9, ?10, ?11, ?12, ?13, ?14)",
        &stmt);
    if (st)
        return st;
    lab_utc_text(row->measured_ns, moment);
    lab_bind_text(stmt, 1, row->backend);
    lab_bind_text(stmt, 2, row->device);
    lab_bind_text(stmt, 3, row->uuid);
    lab_bind_text(stmt, 4, row->hostname);
    lab_bind_text(stmt, 5, row->name);
    lab_bind_real(stmt, 6, row->best_per_s);
    lab_bind_real(stmt, 7, row->median_per_s);
    lab_bind_real(stmt, 8, row->worst_per_s);
    lab_bind_int(stmt, 9, row->repeats);
    lab_bind_int(stmt, 10, row->size);
    lab_bind_text(stmt, 11, moment);
    lab_bind_int(stmt, 12, row->measured_ns);
    lab_bind_text(stmt, 13, row->driver);
    lab_bind_text(stmt, 14, row->version);
    return lab_query_end(db, stmt, sqlite3_step(stmt));
}

/* ---- lists ---- */

static void read_ceiling(sqlite3_stmt *stmt, struct lab_ceiling_row *r)
{
    struct lab_columns c = {stmt, 0};
    r->backend = lab_column_text(&c);
    r->device = lab_column_text(&c);
    r->uuid = lab_column_text(&c);
    r->hostname = lab_column_text(&c);
    r->name = lab_column_text(&c);
    r->best_per_s = lab_column_real(&c);
    r->median_per_s = lab_column_real(&c);
    r->worst_per_s = lab_column_real(&c);
    r->repeats = lab_column_int(&c);
    r->size = lab_column_int(&c);
    r->measured = lab_column_text(&c);
    r->measured_ns = lab_column_int(&c);
    r->driver = lab_column_text(&c);
    r->version = lab_column_text(&c);
}

enum lab_status lab_ceiling_list(struct lab_database *db,
                                 lab_ceiling_row_fn *each, void *user)
{
    sqlite3_stmt *stmt;
    int rc;
    enum lab_status st = lab_database_prepare(
        db,
        "SELECT backend, device, uuid, hostname, name, best_per_s, "
        "median_per_s, worst_per_s, repeats, size, measured, measured_ns, "
        "driver, version FROM (SELECT *, row_number() OVER (PARTITION BY "
        "backend, device, uuid, iif(uuid IS NULL, hostname, NULL), name ORDER "
        "BY measured_ns DESC, id DESC) AS age FROM ceiling) WHERE age = 1 "
        "ORDER BY backend DESC, device, uuid, hostname, id",
        &stmt);
    if (st)
        return st;
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct lab_ceiling_row row;
        read_ceiling(stmt, &row);
        if (!each(user, &row)) {
            rc = SQLITE_DONE;
            break;
        }
    }
    return lab_query_end(db, stmt, rc);
}

/* ---- one device ---- */

static void copy_text(char *out, size_t cap, const char *text)
{
    snprintf(out, cap, "%s", text ? text : "");
}

void lab_ceiling_device_here(const char *backend, const char *device,
                             const char *uuid, struct lab_ceiling_device *out)
{
    *out = (struct lab_ceiling_device){.backend = ""};
    copy_text(out->backend, sizeof(out->backend), backend);
    copy_text(out->device, sizeof(out->device), device);
    copy_text(out->uuid, sizeof(out->uuid), uuid);
    lab_host_name(out->hostname, sizeof(out->hostname));
}

enum lab_status lab_ceiling_device_of_run(struct lab_database *db, int64_t run,
                                          struct lab_ceiling_device *out)
{
    sqlite3_stmt *stmt;
    struct lab_ceiling_device d = {.backend = ""};
    enum lab_status st = lab_query_require_run(db, run);
    if (st == LAB_OK)
        st = lab_database_prepare(
            db,
            "SELECT backend, device, (SELECT uuid FROM TARGET_INFO_GPU AS g "
            "WHERE g.runId = run.id LIMIT 1), hostname FROM run WHERE id = ?1",
            &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, run);
    int rc = sqlite3_step(stmt);
    struct lab_columns c = {stmt, 0};
    if (rc == SQLITE_ROW) {
        copy_text(d.backend, sizeof(d.backend), lab_column_text(&c));
        copy_text(d.device, sizeof(d.device), lab_column_text(&c));
        copy_text(d.uuid, sizeof(d.uuid), lab_column_text(&c));
        copy_text(d.hostname, sizeof(d.hostname), lab_column_text(&c));
    }
    st = lab_query_end(db, stmt, rc);
    if (st == LAB_OK)
        *out = d;
    return st;
}

void lab_roof_published(const char *device, const char *name,
                        struct lab_roof *out)
{
    struct lab_device_peaks peaks;
    *out = (struct lab_roof){.per_s = NAN};
    lab_device_peaks_find(device, &peaks);
    const struct {
        const char *name;
        double per_s;
        const char *source;
    } rows[] = {
        {"copy", peaks.dram_bytes_per_s, peaks.dram_source},
        {"fp32", peaks.fp32_flop_per_s, peaks.fp32_source},
        {"tf32", peaks.tf32_flop_per_s, peaks.tensor_source},
        {"bf16", peaks.bf16_flop_per_s, peaks.tensor_source},
        {"fp16", peaks.fp16_flop_per_s, peaks.tensor_source},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].name, name) != 0 || isnan(rows[i].per_s))
            continue;
        out->per_s = rows[i].per_s;
        out->origin = LAB_ROOF_DATASHEET;
        copy_text(out->source, sizeof(out->source), rows[i].source);
    }
}

/* Binds ?1 to ?4, and ?5: what the queries of a roof share. */
static void bind_device(sqlite3_stmt *stmt,
                        const struct lab_ceiling_device *device,
                        const char *name)
{
    lab_bind_text(stmt, 1, device->backend);
    lab_bind_text(stmt, 2, device->device);
    lab_bind_text(stmt, 3, device->uuid);
    lab_bind_text(stmt, 4, device->hostname);
    lab_bind_text(stmt, 5, name);
}

static enum lab_status find_ceiling(struct lab_database *db,
                                    const struct lab_ceiling_device *device,
                                    const char *name, struct lab_roof *out)
{
    sqlite3_stmt *stmt;
    enum lab_status st = lab_database_prepare(
        db,
        "SELECT best_per_s, iif(?3 <> '', ifnull(uuid, '') = ?3, uuid IS NULL "
        "AND ifnull(hostname, '') = ?4) AS mine, iif(name = 'fma', "
        "'multiply-adds in registers, ', '') || ifnull(measured, '') FROM "
        "ceiling WHERE backend = ?1 AND device = ?2 AND (name = ?5 OR (?5 = "
        "'fp32' AND name = 'fma')) AND best_per_s > 0 AND best_per_s < 9e99 "
        "ORDER BY mine DESC, "
        "best_per_s DESC, id DESC LIMIT 1",
        &stmt);
    if (st)
        return st;
    bind_device(stmt, device, name);
    int rc = sqlite3_step(stmt);
    struct lab_columns c = {stmt, 0};
    if (rc == SQLITE_ROW) {
        out->per_s = lab_column_real(&c);
        out->origin =
            lab_column_int(&c) == 1 ? LAB_ROOF_MEASURED : LAB_ROOF_ALIKE;
        copy_text(out->source, sizeof(out->source), lab_column_text(&c));
    }
    return lab_query_end(db, stmt, rc);
}

/* The fastest first: one whose FLOPs are fewer than its formula's, or that has
 * more than one core, does not count. */
static enum lab_status raise_by_rungs(struct lab_database *db,
                                      const struct lab_ceiling_device *device,
                                      const char *name, struct lab_roof *roof)
{
    sqlite3_stmt *stmt;
    int rc;
    enum lab_status st = lab_database_prepare(
        db,
        "SELECT rung, rate, run.id, lab, size FROM lab_row JOIN run ON run.id "
        "= runId WHERE backend = ?1 AND device = ?2 AND iif(?3 <> '', (SELECT "
        "uuid FROM TARGET_INFO_GPU AS g WHERE g.runId = run.id LIMIT 1) = ?3, "
        "ifnull(hostname, '') = ?4) AND lab_row.precision = ?5 AND unit = "
        "'FLOP/s' AND lab_row.status = 'done' AND rate > ?6 AND rate < 9e99 "
        "ORDER BY rate DESC",
        &stmt);
    if (st)
        return st;
    bind_device(stmt, device, name);
    sqlite3_bind_double(stmt, 6, roof->per_s);
    while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
        struct lab_columns c = {stmt, 0};
        const char *rung = lab_column_text(&c);
        if (!rung || lab_variant_has_fewer_flop(rung) ||
            lab_variant_has_all_cores(rung))
            continue;
        double rate = lab_column_real(&c);
        int64_t run = lab_column_int(&c);
        const char *lab = lab_column_text(&c);
        const char *size = lab_column_text(&c);
        *roof = (struct lab_roof){.per_s = rate, .origin = LAB_ROOF_RUNG};
        snprintf(roof->source, sizeof(roof->source), "run %lld: %.40s %.40s %s",
                 (long long)run, lab ? lab : "", rung, size ? size : "");
        rc = SQLITE_DONE;
        break;
    }
    return lab_query_end(db, stmt, rc);
}

enum lab_status lab_roof_of_run(struct lab_database *db,
                                const struct lab_ceiling_device *device,
                                const struct lab_bench_names *rungs,
                                const char *name, struct lab_roof *out)
{
    struct lab_roof roof = {.per_s = NAN};
    double own = strcmp(name, "copy") == 0   ? rungs->copy_bytes_s
                 : strcmp(name, "fp32") == 0 ? rungs->fp32_flop_s
                                             : (double)NAN;
    enum lab_status st = find_ceiling(db, device, name, &roof);
    double here = roof.origin == LAB_ROOF_MEASURED ? roof.per_s : 0;
    if (isfinite(own) && own > here)
        roof = (struct lab_roof){.per_s = own, .origin = LAB_ROOF_RUN};
    if (st == LAB_OK && (here > 0 || roof.origin == LAB_ROOF_RUN))
        st = raise_by_rungs(db, device, name, &roof);
    if (st)
        return st;
    if (roof.origin == LAB_ROOF_NONE)
        lab_roof_published(device->device, name, &roof);
    *out = roof;
    return LAB_OK;
}

enum lab_status lab_roof_find(struct lab_database *db,
                              const struct lab_ceiling_device *device,
                              const char *name, struct lab_roof *out)
{
    static const struct lab_bench_names none = {.copy_bytes_s = NAN,
                                                .fp32_flop_s = NAN};
    return lab_roof_of_run(db, device, &none, name, out);
}

enum lab_status lab_device_floor(struct lab_database *db,
                                 const struct lab_ceiling_device *device,
                                 double *kernel_ns, double *rung_ns)
{
    sqlite3_stmt *stmt;
    bool cpu = strcmp(device->backend, "cpu") == 0;
    enum lab_status st = lab_database_prepare(
        db,
        "WITH mine AS (SELECT id FROM run WHERE backend = ?1 AND device = ?2 "
        "AND iif(?3 <> '', (SELECT uuid FROM TARGET_INFO_GPU AS g WHERE "
        "g.runId = run.id LIMIT 1) = ?3, ifnull(hostname, '') = ?4)) SELECT "
        "(SELECT min(median_ns) FROM time_sum WHERE runId IN mine AND level = "
        "?5 AND median_ns > 0), (SELECT min(median_ns) FROM lab_row WHERE "
        "runId IN mine AND status = 'done' AND median_ns > 0)",
        &stmt);
    if (st)
        return st;
    bind_device(stmt, device, NULL);
    sqlite3_bind_int(stmt, 5, cpu ? LAB_SUM_STEP : LAB_SUM_KERNEL);
    int rc = sqlite3_step(stmt);
    struct lab_columns c = {stmt, 0};
    double kernel = lab_column_real(&c);
    double rung = lab_column_real(&c);
    st = lab_query_end(db, stmt, rc);
    if (st == LAB_OK) {
        *kernel_ns = kernel;
        *rung_ns = rung;
    }
    return st;
}
