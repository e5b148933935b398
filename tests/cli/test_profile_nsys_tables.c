/* The tables of `profile export --format nsys`, column by column, as exports of
 * Nsight Systems have them (schema 3.24.14); $LAB_EXE is the program. */
#include "test.h"

#include "export_sample.h"
#include "profile_program.h"
#include "store_samples.h"

static const struct table {
    const char *name;
    const char *columns;
} tables[] = {
    {"StringIds", "id,value"},
    {"CUPTI_ACTIVITY_KIND_KERNEL",
     "start,end,deviceId,contextId,greenContextId,streamId,"
     "correlationId,globalPid,demangledName,shortName,mangledName,"
     "launchType,cacheConfig,registersPerThread,gridX,gridY,gridZ,"
     "blockX,blockY,blockZ,staticSharedMemory,dynamicSharedMemory,"
     "localMemoryPerThread,localMemoryTotal,gridId,sharedMemoryExecuted,"
     "graphNodeId,sharedMemoryLimitConfig,graphId,clusterX,clusterY,"
     "clusterZ,clusterSchedulingPolicy,maxPotentialClusterSize,"
     "maxActiveClusters"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME",
     "start,end,eventClass,globalTid,correlationId,nameId,returnValue,"
     "callchainId"},
    {"CUPTI_ACTIVITY_KIND_MEMCPY",
     "start,end,deviceId,contextId,greenContextId,streamId,"
     "correlationId,globalPid,bytes,copyKind,deprecatedSrcId,srcKind,"
     "dstKind,srcDeviceId,srcContextId,dstDeviceId,dstContextId,"
     "migrationCause,graphNodeId,virtualAddress"},
    {"CUPTI_ACTIVITY_KIND_MEMSET",
     "start,end,deviceId,contextId,greenContextId,streamId,"
     "correlationId,globalPid,value,bytes,graphNodeId,memKind"},
    {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
     "start,end,deviceId,contextId,greenContextId,streamId,"
     "correlationId,globalPid,deprecatedSyncType,syncType,eventId,"
     "eventSyncId"},
    {"NVTX_EVENTS",
     "start,end,eventType,rangeId,category,color,text,globalTid,"
     "endGlobalTid,textId,domainId,uint64Value,int64Value,doubleValue,"
     "uint32Value,int32Value,floatValue,jsonTextId,jsonText,binaryData"},
    {"PROFILER_OVERHEAD", "start,end,globalTid,nameId,returnValue"},
    {"TARGET_INFO_GPU",
     "vmId,id,name,busLocation,isDiscrete,l2CacheSize,totalMemory,"
     "memoryBandwidth,clockRate,smCount,pwGpuId,uuid,luid,chipName,"
     "cuDevice,ctxswDevPath,ctrlDevPath,revision,nodeMask,"
     "constantMemory,maxIPC,maxRegistersPerBlock,maxShmemPerBlock,"
     "maxShmemPerBlockOptin,maxShmemPerSm,maxRegistersPerSm,"
     "threadsPerWarp,asyncEngines,maxWarpsPerSm,maxBlocksPerSm,"
     "maxThreadsPerBlock,maxBlockDimX,maxBlockDimY,maxBlockDimZ,"
     "maxGridDimX,maxGridDimY,maxGridDimZ,computeMajor,computeMinor,"
     "smMajor,smMinor"},
    {"TARGET_INFO_CUDA_DEVICE", "gpuId,cudaId,pid,uuid,numMultiprocessors"},
    {"TARGET_INFO_SESSION_START_TIME", "utcEpochNs,utcTime,localTime"},
    {"META_DATA_CAPTURE", "name,value"},
    {"META_DATA_EXPORT", "name,value"},
};
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

static const char *const enums[] = {
    "ENUM_CUDA_MEMCPY_OPER",
    "ENUM_CUDA_MEM_KIND",
    "ENUM_CUDA_KERNEL_LAUNCH_TYPE",
    "ENUM_CUDA_FUNC_CACHE_CONFIG",
    "ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG",
    "ENUM_CUPTI_SYNC_TYPE",
    "ENUM_NSYS_EVENT_TYPE",
    "ENUM_NSYS_EVENT_CLASS",
};
enum { ENUMS = sizeof(enums) / sizeof(enums[0]) };

/* A table without rows would not be there. */
static const char *const more_rows[] = {
    "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET (runId) VALUES (1)",
    "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (runId) VALUES (1)",
    "INSERT INTO PROFILER_OVERHEAD (runId) VALUES (1)",
    "INSERT INTO META_DATA_CAPTURE (name, runId) VALUES ('x', 1)",
};

static const char *export_all(void)
{
    char args[1024];
    const char *db = sample_path("runs.db");
    const char *path = sample_path("x.sqlite");
    record_gpu_run(db);
    for (size_t i = 0; i < sizeof(more_rows) / sizeof(more_rows[0]); i++)
        sample_sql(db, more_rows[i]);
    snprintf(args, sizeof(args), "export 1 --format nsys --all --output '%s' @",
             path);
    assert_int_equal(profile(db, args), 0);
    return path;
}

TEST_CASE_WITH(columns_are_those_of_nsys, NULL, export_cleanup)
{
    const char *path = export_all();
    char sql[2048];
    for (int i = 0; i < TABLES; i++) {
        snprintf(sql, sizeof(sql),
                 "SELECT (SELECT group_concat(name, ',') FROM "
                 "pragma_table_info('%s')) = '%s'",
                 tables[i].name, tables[i].columns);
        if (sample_int(path, sql) != 1)
            fail_msg("%s has other columns", tables[i].name);
    }
    for (int i = 0; i < ENUMS; i++) {
        snprintf(sql, sizeof(sql),
                 "SELECT (SELECT group_concat(name, ',') FROM "
                 "pragma_table_info('%s')) = 'id,name,label' AND (SELECT "
                 "count(*) > 1 FROM %s)",
                 enums[i], enums[i]);
        if (sample_int(path, sql) != 1)
            fail_msg("%s has other columns, or no rows", enums[i]);
    }
}

/* nsys has no index, and its keys are those of names and enums alone. */
TEST_CASE_WITH(nothing_else_is_there, NULL, export_cleanup)
{
    const char *path = export_all();
    assert_rows(path, 0, "sqlite_master WHERE type <> 'table'");
    assert_rows(path, 0,
                "sqlite_master AS m, pragma_table_info(m.name) AS c WHERE c.pk "
                "> 0 AND m.name NOT LIKE 'ENUM_%' AND m.name <> 'StringIds'");
    assert_rows(path, 0,
                "sqlite_master AS m, pragma_table_info(m.name) AS c WHERE "
                "c.\"notnull\" AND NOT ((c.name = 'id' AND c.pk = 1) OR "
                "(m.name = 'StringIds' AND c.name = 'value') OR (m.name LIKE "
                "'META_DATA_%' AND c.name = 'name'))");
}

RUN_TESTS()
