/* ceilings.c -- measured ceilings by device, kept and found again; and published peaks
 * of graphics cards, from profiles/devices.csv. */
#include "store/ceilings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/row.h"
#include "db/store_sql.h"
#include "store/devices.h"
#include "store/row_fields.h"
#include "store/time_sum.h"

/* ---- published peaks ---- */

enum { FIELDS = 15, FIELD_BYTES = 96 };

/* Takes one line apart; returns where the next one begins. */
static const char *read_line(const char *line, char field[FIELDS][FIELD_BYTES])
{
    int f = 0;
    size_t n = 0;
    memset(field, 0, sizeof(char[FIELDS][FIELD_BYTES]));
    for (; *line && *line != '\n'; line++) {
        if (*line == ',' && f < FIELDS - 1) {
            f++;
            n = 0;
        } else if (n < FIELD_BYTES - 1) {
            field[f][n++] = *line;
        }
    }
    return *line ? line + 1 : line;
}

static double giga(const char *text)
{
    return *text ? strtod(text, NULL) * 1e9 : (double)NAN;
}

static void copy_source(char out[LAB_PEAK_SOURCE], const char *text)
{
    size_t n = strnlen(text, LAB_PEAK_SOURCE - 1);
    memcpy(out, text, n);
    out[n] = '\0';
}

bool lab_device_peaks_find(const char *name, struct lab_device_peaks *out)
{
    static const char maker[] = "NVIDIA ";
    char field[FIELDS][FIELD_BYTES];
    *out = (struct lab_device_peaks){.fp32_flop_per_s = NAN,
                                     .dram_bytes_per_s = NAN,
                                     .tf32_flop_per_s = NAN,
                                     .bf16_flop_per_s = NAN,
                                     .fp16_flop_per_s = NAN};
    if (!name)
        return false;
    if (strncmp(name, maker, sizeof(maker) - 1) == 0)
        name += sizeof(maker) - 1;
    for (const char *line = lab_devices_csv; *line;) {
        line = read_line(line, field);
        if (field[0][0] == '#' || strcmp(field[0], name) != 0 ||
            strcmp(field[0], "name") == 0)
            continue;
        out->fp32_flop_per_s = giga(field[1]);
        out->dram_bytes_per_s = giga(field[3]);
        copy_source(out->fp32_source, field[2]);
        copy_source(out->dram_source, field[4]);
        out->tf32_flop_per_s = giga(field[9]);
        out->bf16_flop_per_s = giga(field[10]);
        out->fp16_flop_per_s = giga(field[11]);
        copy_source(out->tensor_source, field[12]);
        return true;
    }
    return false;
}

/* ---- measured ceilings ---- */

const char *const lab_roof_names[LAB_ROOF_NAMES] = {"copy", "fp32", "tf32",
                                                    "bf16", "fp16"};

const char *lab_roof_origin_text(enum lab_roof_origin origin)
{
    static const char *const texts[LAB_ROOF_ORIGINS] = {
        [LAB_ROOF_NONE] = "",
        [LAB_ROOF_MEASURED] = "measured",
        [LAB_ROOF_VARIANT] = "measured by a lab's variant",
        [LAB_ROOF_RUN] = "measured by this run",
        [LAB_ROOF_ALIKE] = "measured on another device of this name",
        [LAB_ROOF_DATASHEET] = "data sheet",
    };
    return (unsigned)origin < LAB_ROOF_ORIGINS ? texts[origin] : "";
}

#define FIELD(column, kind, member)                                            \
    LAB_FIELD(lab_ceiling_row, column, kind, member)
static const struct lab_field fields[] = {
    FIELD("backend", TEXT, backend),
    FIELD("device", TEXT, device),
    FIELD("uuid", TEXT, uuid),
    FIELD("hostname", TEXT, hostname),
    FIELD("name", TEXT, name),
    FIELD("best_per_s", REAL, best_per_s),
    FIELD("median_per_s", REAL, median_per_s),
    FIELD("worst_per_s", REAL, worst_per_s),
    FIELD("repeats", INT, repeats),
    FIELD("size", INT, size),
    FIELD("measured", TEXT, measured),
    FIELD("measured_ns", INT, measured_ns),
    FIELD("driver", TEXT, driver),
    FIELD("version", TEXT, version),
};
const struct lab_fields lab_ceiling_fields = {
    .table = "ceiling",
    .list = fields,
    .count = (int)(sizeof(fields) / sizeof(fields[0])),
    .row_bytes = sizeof(struct lab_ceiling_row)};

enum lab_status lab_ceiling_add(struct lab_database *db,
                                const struct lab_ceiling_row *row)
{
    char moment[32];
    struct lab_ceiling_row with = *row;
    lab_utc_text(row->measured_ns, moment);
    with.measured = moment;
    return lab_fields_add(db, LAB_UNKNOWN, &lab_ceiling_fields, &with);
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
    struct lab_ceiling_device d = {.backend = ""};
    struct lab_stmt s = lab_stmt_of_run(
        db,
        "SELECT backend, device, (SELECT uuid FROM TARGET_INFO_GPU AS g WHERE "
        "g.runId = run.id LIMIT 1), hostname FROM run WHERE id = ?1",
        run);
    if (lab_stmt_next(&s)) {
        copy_text(d.backend, sizeof(d.backend), lab_column_text(&s));
        copy_text(d.device, sizeof(d.device), lab_column_text(&s));
        copy_text(d.uuid, sizeof(d.uuid), lab_column_text(&s));
        copy_text(d.hostname, sizeof(d.hostname), lab_column_text(&s));
    }
    if (!s.st)
        *out = d;
    return lab_stmt_end(&s);
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

/* ?1 to ?4, and ?5: what the queries of a roof share. */
static struct lab_stmt prepare(struct lab_database *db, const char *sql,
                               const struct lab_ceiling_device *device,
                               const char *name)
{
    struct lab_stmt s = lab_stmt_new(db, sql);
    lab_bind_text(s.sql, 1, device->backend);
    lab_bind_text(s.sql, 2, device->device);
    lab_bind_text(s.sql, 3, device->uuid);
    lab_bind_text(s.sql, 4, device->hostname);
    lab_bind_text(s.sql, 5, name);
    return s;
}

static enum lab_status find_ceiling(struct lab_database *db,
                                    const struct lab_ceiling_device *device,
                                    const char *name, struct lab_roof *out)
{
    struct lab_stmt s = prepare(
        db,
        "SELECT best_per_s, iif(?3 <> '', ifnull(uuid, '') = ?3, uuid IS NULL "
        "AND ifnull(hostname, '') = ?4) AS mine, iif(name = 'fma', "
        "'multiply-adds in registers, ', '') || ifnull(measured, '') FROM "
        "ceiling WHERE backend = ?1 AND device = ?2 AND (name = ?5 OR (?5 = "
        "'fp32' AND name = 'fma')) AND best_per_s > 0 AND best_per_s < 9e99 "
        "ORDER BY mine DESC, "
        "best_per_s DESC, id DESC LIMIT 1",
        device, name);
    if (lab_stmt_next(&s)) {
        out->per_s = lab_column_real(&s);
        out->origin =
            lab_column_int(&s) == 1 ? LAB_ROOF_MEASURED : LAB_ROOF_ALIKE;
        copy_text(out->source, sizeof(out->source), lab_column_text(&s));
    }
    return lab_stmt_end(&s);
}

/* The fastest first: one with fewer FLOPs than its formula's, or that has
 * more than one core, does not count; nor do products of 8 bits: their rows
 * have fp32, and the run names the 8 bits. */
static enum lab_status
raise_by_variants(struct lab_database *db,
                  const struct lab_ceiling_device *device, const char *name,
                  struct lab_roof *roof)
{
    struct lab_stmt s = prepare(
        db,
        "SELECT rung, rate, run.id, lab, size FROM lab_row JOIN run ON run.id "
        "= runId WHERE backend = ?1 AND device = ?2 AND iif(?3 <> '', (SELECT "
        "uuid FROM TARGET_INFO_GPU AS g WHERE g.runId = run.id LIMIT 1) = ?3, "
        "ifnull(hostname, '') = ?4) AND lab_row.precision = ?5 AND "
        "ifnull(run.precision, '') <> 'int8' AND unit = 'FLOP/s' AND "
        "lab_row.status = 'done' AND rate > ?6 AND rate < 9e99 ORDER BY rate "
        "DESC",
        device, name);
    sqlite3_bind_double(s.sql, 6, roof->per_s);
    while (lab_stmt_next(&s)) {
        const char *variant = lab_column_text(&s);
        if (!variant || lab_variant_has_fewer_flop(variant) ||
            lab_variant_has_all_cores(variant))
            continue;
        double rate = lab_column_real(&s);
        int64_t run = lab_column_int(&s);
        const char *lab = lab_column_text(&s);
        const char *size = lab_column_text(&s);
        *roof = (struct lab_roof){.per_s = rate, .origin = LAB_ROOF_VARIANT};
        snprintf(roof->source, sizeof(roof->source), "run %lld: %.40s %.40s %s",
                 (long long)run, lab ? lab : "", variant, size ? size : "");
        break;
    }
    return lab_stmt_end(&s);
}

enum lab_status lab_roof_of_run(struct lab_database *db,
                                const struct lab_ceiling_device *device,
                                const struct lab_bench_names *bench_names,
                                const char *name, struct lab_roof *out)
{
    struct lab_roof roof = {.per_s = NAN};
    double own = strcmp(name, "copy") == 0   ? bench_names->copy_bytes_s
                 : strcmp(name, "fp32") == 0 ? bench_names->fp32_flop_s
                                             : (double)NAN;
    enum lab_status st = find_ceiling(db, device, name, &roof);
    double here = roof.origin == LAB_ROOF_MEASURED ? roof.per_s : 0;
    if (isfinite(own) && own > here)
        roof = (struct lab_roof){.per_s = own, .origin = LAB_ROOF_RUN};
    if (st == LAB_OK && (here > 0 || roof.origin == LAB_ROOF_RUN))
        st = raise_by_variants(db, device, name, &roof);
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
                                 double *kernel_ns, double *variant_ns)
{
    bool cpu = strcmp(device->backend, "cpu") == 0;
    struct lab_stmt s = prepare(
        db,
        "WITH mine AS (SELECT id FROM run WHERE backend = ?1 AND device = ?2 "
        "AND iif(?3 <> '', (SELECT uuid FROM TARGET_INFO_GPU AS g WHERE "
        "g.runId = run.id LIMIT 1) = ?3, ifnull(hostname, '') = ?4)) SELECT "
        "(SELECT min(median_ns) FROM time_sum WHERE runId IN mine AND level = "
        "?5 AND median_ns > 0), (SELECT min(median_ns) FROM lab_row WHERE "
        "runId IN mine AND status = 'done' AND median_ns > 0)",
        device, NULL);
    sqlite3_bind_int(s.sql, 5, cpu ? LAB_SUM_STEP : LAB_SUM_KERNEL);
    if (lab_stmt_next(&s)) {
        *kernel_ns = lab_column_real(&s);
        *variant_ns = lab_column_real(&s);
    }
    return lab_stmt_end(&s);
}
