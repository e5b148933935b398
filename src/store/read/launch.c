/* launch.c -- the launch of a kernel and its device, as the occupancy
 * calculator takes them. */
#include "store/launch.h"

#include <stdio.h>

#include "db/row.h"
#include "store/row_fields.h"

/* ---- the GPU ---- */

#define FIELD(column, kind, member)                                            \
    LAB_FIELD(lab_run_device, column, kind, member)
/* Of two columns that are one member, the last one counts when it is read. */
static const struct lab_field gpu_columns[] = {
    FIELD("name", TEXT, name),
    FIELD("chipName", TEXT, chip),
    FIELD("uuid", TEXT, uuid),
    FIELD("id", INT, device_id),
    FIELD("cuDevice", INT, device_id),
    FIELD("l2CacheSize", INT, l2_bytes),
    FIELD("totalMemory", INT, memory_bytes),
    FIELD("memoryBandwidth", INT, memory_bytes_per_s),
    FIELD("clockRate", INT, clock_hz),
    FIELD("smCount", INT, sm_count),
    FIELD("maxShmemPerBlockOptin", INT, max_shared_per_block_optin_bytes),
    FIELD("maxShmemPerSm", INT, max_shared_per_sm_bytes),
    FIELD("maxRegistersPerSm", INT, max_registers_per_sm),
    FIELD("threadsPerWarp", INT, warp_size),
    FIELD("maxWarpsPerSm", INT, max_warps_per_sm),
    FIELD("maxBlocksPerSm", INT, max_blocks_per_sm),
    FIELD("smMajor", INT, compute_major),
    FIELD("smMinor", INT, compute_minor),
    FIELD("computeMajor", INT, compute_major),
    FIELD("computeMinor", INT, compute_minor),
};
const struct lab_fields lab_gpu_fields = {
    .table = "TARGET_INFO_GPU",
    .list = gpu_columns,
    .count = (int)(sizeof(gpu_columns) / sizeof(gpu_columns[0]))};

enum lab_status lab_run_gpu_read(struct lab_database *db, int64_t run,
                                 int64_t device, struct lab_run_device *out,
                                 char name[LAB_GPU_NAME])
{
    struct lab_str sql;
    bool found = false;
    enum lab_status st = lab_query_require_run(db, run);
    if (st)
        return st;
    lab_str_init(&sql);
    lab_fields_select(&sql, &lab_gpu_fields);
    /* nsys numbers GPUs by itself, and gives CUDA's number beside it. */
    lab_str_add(&sql, " FROM TARGET_INFO_GPU WHERE runId = ?1 AND (?2 IS NULL "
                      "OR ifnull(cuDevice, id) = ?2 OR (SELECT count(*) FROM "
                      "TARGET_INFO_GPU WHERE runId = ?1) = 1) LIMIT 1");
    struct lab_stmt s = lab_stmt_built(db, &sql);
    sqlite3_bind_int64(s.sql, 1, run);
    lab_bind_int(s.sql, 2, device);
    if (lab_stmt_next(&s)) {
        found = true;
        *out = (struct lab_run_device){.gpu = true};
        lab_fields_take(&s, &lab_gpu_fields, out);
        snprintf(name, LAB_GPU_NAME, "%s", out->name ? out->name : "");
        out->name = name;
        out->chip = out->uuid = NULL; /* they end with the statement */
    }
    st = lab_stmt_end(&s);
    if (st || found)
        return st;
    return lab_fail(LAB_E_NOTFOUND,
                    "[run.no-limits] %s: the limits of the GPU of run %lld "
                    "were not recorded",
                    db->path, (long long)run);
}

/* ---- the launch ---- */

enum lab_status lab_launch_last(struct lab_database *db, int64_t run,
                                int64_t step_index, const char *variant,
                                const char *kernel, int64_t *row)
{
    struct lab_stmt s = lab_stmt_of_run(
        db,
        "SELECT o.kernelRow FROM op_kernel AS o JOIN "
        "CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.kernelRow = o.kernelRow LEFT "
        "JOIN step AS s ON s.runId = o.runId AND s.exec = o.stepExec WHERE "
        "o.kernelRow >= ifnull((SELECT kernelRowFirst FROM run WHERE id = ?1), "
        "0) AND o.kernelRow <= ifnull((SELECT kernelRowLast FROM run WHERE id "
        "= ?1), 0x7FFFFFFFFFFFFFFF) AND o.runId = ?1 AND o.stepExec IS NOT -1 "
        "AND s.stepIndex IS ?2 AND s.variantId IS ifnull((SELECT id FROM "
        "StringIds WHERE value = ?3), "
        "iif(?3 IS NULL, NULL, -1)) AND k.demangledName IS ifnull((SELECT id "
        "FROM StringIds WHERE value = ?4), iif(?4 IS NULL, NULL, -1)) ORDER BY "
        "o.kernelRow DESC LIMIT 1",
        run);
    lab_bind_int(s.sql, 2, step_index);
    lab_bind_text(s.sql, 3, variant);
    lab_bind_text(s.sql, 4, kernel);
    bool found = lab_stmt_next(&s);
    if (found)
        *row = lab_column_int(&s);
    enum lab_status st = lab_stmt_end(&s);
    if (st || found)
        return st;
    return lab_fail(LAB_E_NOTFOUND,
                    "[run.no-launch] %s: run %lld has no such launch", db->path,
                    (long long)run);
}
