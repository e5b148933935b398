/* launch.c -- the launch of a kernel and its device, as the occupancy
 * calculator takes them. */
#include "store/launch.h"

#include <stdio.h>

#include "db/row.h"

static enum lab_status prepare(struct lab_database *db, int64_t run,
                               const char *sql, sqlite3_stmt **out)
{
    enum lab_status st = lab_query_require_run(db, run);
    if (st == LAB_OK)
        st = lab_database_prepare(db, sql, out);
    if (st == LAB_OK)
        sqlite3_bind_int64(*out, 1, run);
    return st;
}

/* ---- the GPU ---- */

static void read_gpu(sqlite3_stmt *stmt, struct lab_run_gpu *g)
{
    struct lab_columns c = {stmt, 0};
    const char *name = lab_column_text(&c);
    int64_t *const numbers[] = {&g->compute_major,
                                &g->compute_minor,
                                &g->sm_count,
                                &g->warp_size,
                                &g->max_warps_per_sm,
                                &g->max_blocks_per_sm,
                                &g->max_registers_per_sm,
                                &g->max_shared_per_sm_bytes,
                                &g->max_shared_per_block_optin_bytes};
    snprintf(g->name, sizeof(g->name), "%s", name ? name : "");
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        *numbers[i] = lab_column_int(&c);
}

enum lab_status lab_run_gpu_read(struct lab_database *db, int64_t run,
                                 int64_t device, struct lab_run_gpu *out)
{
    sqlite3_stmt *stmt;
    /* nsys numbers GPUs by itself, and gives CUDA's number beside it. */
    enum lab_status st = prepare(
        db, run,
        "SELECT name, computeMajor, computeMinor, smCount, threadsPerWarp, "
        "maxWarpsPerSm, maxBlocksPerSm, maxRegistersPerSm, maxShmemPerSm, "
        "maxShmemPerBlockOptin FROM TARGET_INFO_GPU WHERE runId = ?1 AND (?2 "
        "IS NULL OR ifnull(cuDevice, id) = ?2 OR (SELECT count(*) FROM "
        "TARGET_INFO_GPU WHERE runId = ?1) = 1) LIMIT 1",
        &stmt);
    if (st)
        return st;
    lab_bind_int(stmt, 2, device);
    int rc = sqlite3_step(stmt);
    bool found = rc == SQLITE_ROW;
    if (found)
        read_gpu(stmt, out);
    st = lab_query_end(db, stmt, rc);
    if (st || found)
        return st;
    return lab_fail(LAB_E_NOTFOUND,
                    "%s: the limits of the GPU of run %lld were not recorded",
                    db->path, (long long)run);
}

/* ---- the launch ---- */

enum lab_status lab_launch_last(struct lab_database *db, int64_t run,
                                int64_t step_index, const char *variant,
                                const char *kernel, int64_t *row)
{
    sqlite3_stmt *stmt;
    enum lab_status st = prepare(
        db, run,
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
        &stmt);
    if (st)
        return st;
    lab_bind_int(stmt, 2, step_index);
    lab_bind_text(stmt, 3, variant);
    lab_bind_text(stmt, 4, kernel);
    int rc = sqlite3_step(stmt);
    bool found = rc == SQLITE_ROW;
    if (found)
        *row = sqlite3_column_int64(stmt, 0);
    st = lab_query_end(db, stmt, rc);
    if (st || found)
        return st;
    return lab_fail(LAB_E_NOTFOUND, "%s: run %lld has no such launch", db->path,
                    (long long)run);
}
