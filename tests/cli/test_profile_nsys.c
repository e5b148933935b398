/* `profile export --format nsys`, and SQL recipes; $LAB_EXE is the program. */
#include "test.h"
#include "file.h"

#include "export_sample.h"
#include "profile_program.h"
#include "store_samples.h"

/* ---- nsys ---- */

static void check_columns(const char *path, const char *table,
                          const char *columns)
{
    char sql[1024];
    snprintf(sql, sizeof(sql),
             "SELECT (SELECT group_concat(name, ',') FROM "
             "pragma_table_info('%s')) = '%s'",
             table, columns);
    if (sample_int(path, sql) != 1)
        fail_msg("%s has other columns", table);
}

static void nothing_of_ours(const char *path)
{
    assert_sql(path, 0, "PRAGMA user_version");
    assert_sql(path, 0, "PRAGMA application_id");
    /* nothing of ours: no column, no table */
    assert_rows(path, 0,
                "sqlite_master AS m, pragma_table_info(m.name) AS c WHERE "
                "c.name IN ('runId', 'kernelRow', 'memcpyRow', 'memsetRow')");
    assert_rows(
        path, 0,
        "sqlite_master WHERE name IN ('run', 'step', 'loss', 'op_kernel', "
        "'baseline', 'time_sum') OR name LIKE 'ENUM_LAB%'");
    /* tables without rows are not made */
    assert_rows(path, 0,
                "sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_MEMSET'");
    /* but for the two that other readers look into without asking */
    assert_rows(path, 2,
                "sqlite_master WHERE name IN ('NVTX_EVENTS', "
                "'CUPTI_ACTIVITY_KIND_RUNTIME')");
}

static void rows_are_those_of_the_run(const char *path)
{
    assert_rows(path, 25, "CUPTI_ACTIVITY_KIND_KERNEL");
    assert_rows(path, 1,
                "META_DATA_EXPORT WHERE name = 'EXPORT_SCHEMA_VERSION' AND "
                "value = '3.24.14'");
    /* moments count from the start: 20000 is that of the second step */
    assert_sql(path, 1,
               "SELECT min(start) >= 0 FROM CUPTI_ACTIVITY_KIND_RUNTIME");
    assert_rows(
        path, 0,
        "StringIds WHERE value = 'fc1.matmul'"); /* names that nothing here uses stay away */
}

TEST_CASE_OF(nsys_has_its_tables, sample_setup, export_cleanup, const char *db)
{
    static const struct {
        const char *name;
        const char *columns;
    } tables[] = {
        {"CUPTI_ACTIVITY_KIND_KERNEL",
         "start,end,deviceId,contextId,greenContextId,streamId,correlationId,"
         "globalPid,demangledName,shortName,mangledName,launchType,cacheConfig,"
         "registersPerThread,gridX,gridY,gridZ,blockX,blockY,blockZ,"
         "staticSharedMemory,dynamicSharedMemory,localMemoryPerThread,"
         "localMemoryTotal,gridId,sharedMemoryExecuted,graphNodeId,"
         "sharedMemoryLimitConfig,graphId,clusterX,clusterY,clusterZ,"
         "clusterSchedulingPolicy,maxPotentialClusterSize,maxActiveClusters"},
        {"CUPTI_ACTIVITY_KIND_RUNTIME",
         "start,end,eventClass,globalTid,correlationId,nameId,returnValue,"
         "callchainId"},
        {"TARGET_INFO_CUDA_DEVICE", "gpuId,cudaId,pid,uuid,numMultiprocessors"},
        {"StringIds", "id,value"},
        {"META_DATA_EXPORT", "name,value"},
        {"META_DATA_CAPTURE", "name,value"},
    };
    assert_ok(sample_run(db, 2, 2, NULL)); /* another run */
    record_gpu_run(db);
    assert_int_equal(profile(db, "export 2 --format nsys --output - @"), 2);
    char args[1024];
    const char *path = sample_path("x.sqlite");
    snprintf(args, sizeof(args), "export 2 --format nsys --output '%s' @",
             path);
    assert_int_equal(profile(db, args), 0);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        check_columns(path, tables[i].name, tables[i].columns);
    nothing_of_ours(path);
    rows_are_those_of_the_run(path);
}

/* A GPU's name is found by way of the CUDA device. */
static void nsys_names_the_gpu(const char *path)
{
    assert_rows(path, 25,
                "TARGET_INFO_GPU AS g JOIN TARGET_INFO_CUDA_DEVICE AS c ON "
                "g.id = c.gpuId JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON "
                "k.deviceId = c.cudaId WHERE g.name = 'NVIDIA H200'");
}

/* Recipes that are written for exports of Nsight Systems: its own report
 * cuda_gpu_kern_sum, and two of its manual's examples. */
PROFILE_CASE(nsys_recipes_run)
{
    test_free(export_as(db, "nsys", "x.sqlite"));
    const char *path = sample_path("x.sqlite");
    nsys_names_the_gpu(path);
    assert_sql(
        path, 3 * (1000 + 1001 + 1002 + 1003) + 12 * 500 + 700,
        "WITH summary AS (SELECT shortName AS nameId, count(*) AS num, sum(end "
        "- start) AS total, min(end - start) AS least, max(end - start) AS "
        "most FROM CUPTI_ACTIVITY_KIND_KERNEL GROUP BY 1) SELECT summary.total "
        "FROM summary JOIN StringIds AS ids ON ids.id = summary.nameId WHERE "
        "ids.value = 'matmul' AND summary.num = 25");
    /* kernel names onto the calls that launched them */
    sample_sql(path,
               "ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME ADD COLUMN name TEXT;"
               "ALTER TABLE CUPTI_ACTIVITY_KIND_RUNTIME ADD COLUMN kernelName "
               "TEXT;"
               "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET kernelName = (SELECT "
               "value FROM StringIds JOIN CUPTI_ACTIVITY_KIND_KERNEL AS "
               "cuda_gpu ON cuda_gpu.shortName = StringIds.id AND "
               "CUPTI_ACTIVITY_KIND_RUNTIME.correlationId = "
               "cuda_gpu.correlationId);"
               "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET name = (SELECT value "
               "FROM StringIds WHERE nameId = StringIds.id)");
    assert_rows(path, 12,
                "CUPTI_ACTIVITY_KIND_RUNTIME WHERE kernelName = 'matmul' AND "
                "name LIKE 'cudaLaunchKernel%' AND globalTid / 0x1000000 % "
                "0x1000000 = 77 AND globalTid % 0x1000000 = 78");
    /* the ranges of a thread, whose text is in text or in textId */
    assert_rows(path, 12,
                "NVTX_EVENTS AS e LEFT JOIN StringIds AS s ON s.id = e.textId "
                "WHERE e.eventType = 59 AND coalesce(e.text, s.value) IS NOT "
                "NULL AND e.end > e.start");
}

/* The SQL of docs/profiles.md: every block runs on the database, and those on
 * the tables of nsys on an export too; with rows. */
PROFILE_CASE(recipes_of_the_docs_run)
{
    int blocks = 0;
    int exported = 0;
    char args[1024];
    snprintf(args, sizeof(args), "export 1 --format nsys --output '%s' @",
             sample_path("x.sqlite"));
    assert_int_equal(profile(db, args), 0);
    char *text = test_read(LAB_SOURCE_DIR "/docs/profiles.md");
    for (char *p = text; (p = strstr(p, "```sql\n")); blocks++) {
        char sql[4096];
        char *begin = p + 7;
        char *end = strstr(begin, ";\n```");
        assert_non_null(end);
        p = end + 1;
        *end = '\0';
        snprintf(sql, sizeof(sql), "SELECT count(*) FROM (%s)", begin);
        for (char *twelve; (twelve = strstr(sql, "runId = 12"));)
            memcpy(twelve, "runId = +1", 10);
        if (sample_int(db, sql) < 1)
            fail_msg("no row: %s", begin);
        if (strstr(begin, "runId") || strstr(begin, "FROM run"))
            continue;
        exported++;
        if (sample_int(sample_path("x.sqlite"), sql) < 1)
            fail_msg("no row in the export: %s", begin);
    }
    assert_int_equal(blocks, 6);
    assert_int_equal(exported, 3);
    test_free(text);
}

/* What the sample has not: a memset, waiting for a stream, and calls with the
 * numbers of what they started. */
static void add_what_reports_read(const char *db)
{
    sample_sql(
        db,
        "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = 77 << 24,"
        " deviceId = 0, correlationId = start, mangledName = NULL;"
        "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET globalPid = 77 << 24,"
        " deviceId = 0, correlationId = 900000 + memcpyRow;"
        "UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET srcKind = 0, copyKind = 2 WHERE"
        " memcpyRow = (SELECT min(memcpyRow) FROM CUPTI_ACTIVITY_KIND_MEMCPY);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (start, end, deviceId,"
        " contextId, streamId, correlationId, globalPid, value, bytes, memKind,"
        " runId) VALUES (15000, 15100, 0, 1, 7, 7777, 77 << 24, 0, 64, 2, 1);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId,"
        " streamId, globalPid, syncType, runId) VALUES"
        " (16000, 17000, 0, 7, 77 << 24, 3, 1);"
        "INSERT INTO PROFILER_OVERHEAD (start, end, globalTid, runId) VALUES"
        " (1000, 1100, (77 << 24) + 78, 1);"
        "INSERT INTO StringIds (value) VALUES ('cudaMemcpyAsync_v3020'),"
        " ('cudaMemsetAsync_v3020');"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid,"
        " correlationId, nameId, runId) SELECT 12500, 12600, (77 << 24) + 78,"
        " min(900000 + memcpyRow), (SELECT id FROM StringIds WHERE value ="
        " 'cudaMemcpyAsync_v3020'), 1 FROM CUPTI_ACTIVITY_KIND_MEMCPY;"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid,"
        " correlationId, nameId, runId) SELECT 14000, 14100, (77 << 24) + 78,"
        " 7777, id, 1 FROM StringIds WHERE value = 'cudaMemsetAsync_v3020'");
}

/* The reports of nsys itself, as nsys_reports.sql has them. */
PROFILE_CASE(reports_of_nsys_run)
{
    int reports = 0;
    add_what_reports_read(db);
    test_free(export_as(db, "nsys", "x.sqlite"));
    char *text = test_read(LAB_SOURCE_DIR "/tests/cli/nsys_reports.sql");
    for (char *p = strstr(text, "\n\n-- "); p; reports++) {
        char name[64];
        char sql[8192];
        int rows;
        assert_int_equal(sscanf(p, "\n\n-- %63[a-z_]: %d", name, &rows), 2);
        char *end = strstr(p, ";\n");
        assert_non_null(end);
        *end = '\0';
        snprintf(sql, sizeof(sql), "SELECT count(*) FROM (%s)",
                 strchr(p + 2, '\n'));
        int64_t found = sample_int(sample_path("x.sqlite"), sql);
        if (found != rows)
            fail_msg("%s: %d rows, not %d", name, (int)found, rows);
        p = strstr(end + 1, "\n\n-- ");
    }
    assert_int_equal(reports, 19);
    test_free(text);
}

static int64_t calls_in_ranges(const char *db)
{
    test_free(export_as(db, "nsys", "t.sqlite"));
    int64_t n =
        sample_count(sample_path("t.sqlite"),
                     "NVTX_EVENTS AS n JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r "
                     "ON r.globalTid = n.globalTid AND r.start >= n.start AND "
                     "r.end <= n.end WHERE n.eventType = 59");
    remove(sample_path("t.sqlite"));
    return n;
}

/* Older versions gave the calls of the one thread another number. */
PROFILE_CASE(calls_and_ranges_share_a_thread)
{
    assert_int_equal(calls_in_ranges(db), 12);
    sample_sql(db, "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = "
                   "(77 << 24) + 4711");
    assert_int_equal(calls_in_ranges(db), 12);
    /* two threads cannot be distinguished; nor of what nsys recorded */
    sample_sql(db, "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = "
                   "(77 << 24) + 4712 WHERE start < 50000");
    assert_int_equal(calls_in_ranges(db), 0);
    sample_sql(db, "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = "
                   "(77 << 24) + 4711;"
                   "UPDATE run SET uuid = 'nsys-1-2'");
    assert_int_equal(calls_in_ranges(db), 0);
}

RUN_TESTS()
