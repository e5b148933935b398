-- profiles/nsys_schema.sql -- the tables of an Nsight Systems SQLite export
-- (schema 3.24.14) that an export of a run fills: those of schema.sql without
-- the columns that are ours, and TARGET_INFO_CUDA_DEVICE, by which tools find
-- a GPU's name. The ENUM_ tables and StringIds are filled too.
-- Like nsys, the export leaves out what has no rows.

CREATE TABLE StringIds (
    id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
    start INTEGER,
    end INTEGER,
    deviceId INTEGER,
    contextId INTEGER,
    greenContextId INTEGER,
    streamId INTEGER,
    correlationId INTEGER,
    globalPid INTEGER,
    demangledName INTEGER,
    shortName INTEGER,
    mangledName INTEGER,
    launchType INTEGER,
    cacheConfig INTEGER,
    registersPerThread INTEGER,
    gridX INTEGER,
    gridY INTEGER,
    gridZ INTEGER,
    blockX INTEGER,
    blockY INTEGER,
    blockZ INTEGER,
    staticSharedMemory INTEGER,
    dynamicSharedMemory INTEGER,
    localMemoryPerThread INTEGER,
    localMemoryTotal INTEGER,
    gridId INTEGER,
    sharedMemoryExecuted INTEGER,
    graphNodeId INTEGER,
    sharedMemoryLimitConfig INTEGER,
    graphId INTEGER,
    clusterX INTEGER,
    clusterY INTEGER,
    clusterZ INTEGER,
    clusterSchedulingPolicy INTEGER,
    maxPotentialClusterSize INTEGER,
    maxActiveClusters INTEGER
);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (
    start INTEGER,
    end INTEGER,
    eventClass INTEGER,
    globalTid INTEGER,
    correlationId INTEGER,
    nameId INTEGER,
    returnValue INTEGER,
    callchainId INTEGER
);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (
    start INTEGER,
    end INTEGER,
    deviceId INTEGER,
    contextId INTEGER,
    greenContextId INTEGER,
    streamId INTEGER,
    correlationId INTEGER,
    globalPid INTEGER,
    bytes INTEGER,
    copyKind INTEGER,
    deprecatedSrcId INTEGER,
    srcKind INTEGER,
    dstKind INTEGER,
    srcDeviceId INTEGER,
    srcContextId INTEGER,
    dstDeviceId INTEGER,
    dstContextId INTEGER,
    migrationCause INTEGER,
    graphNodeId INTEGER,
    virtualAddress INTEGER
);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (
    start INTEGER,
    end INTEGER,
    deviceId INTEGER,
    contextId INTEGER,
    greenContextId INTEGER,
    streamId INTEGER,
    correlationId INTEGER,
    globalPid INTEGER,
    value INTEGER,
    bytes INTEGER,
    graphNodeId INTEGER,
    memKind INTEGER
);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (
    start INTEGER,
    end INTEGER,
    deviceId INTEGER,
    contextId INTEGER,
    greenContextId INTEGER,
    streamId INTEGER,
    correlationId INTEGER,
    globalPid INTEGER,
    deprecatedSyncType INTEGER,
    syncType INTEGER,
    eventId INTEGER,
    eventSyncId INTEGER
);
CREATE TABLE NVTX_EVENTS (
    start INTEGER,
    end INTEGER,
    eventType INTEGER,
    rangeId INTEGER,
    category INTEGER,
    color INTEGER,
    text TEXT,
    globalTid INTEGER,
    endGlobalTid INTEGER,
    textId INTEGER,
    domainId INTEGER,
    uint64Value INTEGER,
    int64Value INTEGER,
    doubleValue REAL,
    uint32Value INTEGER,
    int32Value INTEGER,
    floatValue REAL,
    jsonTextId INTEGER,
    jsonText TEXT,
    binaryData TEXT
);
CREATE TABLE PROFILER_OVERHEAD (
    start INTEGER,
    end INTEGER,
    globalTid INTEGER,
    nameId INTEGER,
    returnValue INTEGER
);
CREATE TABLE TARGET_INFO_GPU (
    vmId INTEGER,
    id INTEGER,
    name TEXT,
    busLocation TEXT,
    isDiscrete INTEGER,
    l2CacheSize INTEGER,
    totalMemory INTEGER,
    memoryBandwidth INTEGER,
    clockRate INTEGER,
    smCount INTEGER,
    pwGpuId INTEGER,
    uuid TEXT,
    luid INTEGER,
    chipName TEXT,
    cuDevice INTEGER,
    ctxswDevPath TEXT,
    ctrlDevPath TEXT,
    revision INTEGER,
    nodeMask INTEGER,
    constantMemory INTEGER,
    maxIPC INTEGER,
    maxRegistersPerBlock INTEGER,
    maxShmemPerBlock INTEGER,
    maxShmemPerBlockOptin INTEGER,
    maxShmemPerSm INTEGER,
    maxRegistersPerSm INTEGER,
    threadsPerWarp INTEGER,
    asyncEngines INTEGER,
    maxWarpsPerSm INTEGER,
    maxBlocksPerSm INTEGER,
    maxThreadsPerBlock INTEGER,
    maxBlockDimX INTEGER,
    maxBlockDimY INTEGER,
    maxBlockDimZ INTEGER,
    maxGridDimX INTEGER,
    maxGridDimY INTEGER,
    maxGridDimZ INTEGER,
    computeMajor INTEGER,
    computeMinor INTEGER,
    smMajor INTEGER,
    smMinor INTEGER
);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (
    gpuId INTEGER,
    cudaId INTEGER,
    pid INTEGER,
    uuid TEXT,
    numMultiprocessors INTEGER
);
CREATE TABLE TARGET_INFO_SESSION_START_TIME (
    utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);
CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT);
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
CREATE TABLE ENUM_CUDA_MEMCPY_OPER (
    id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE ENUM_CUDA_MEM_KIND (
    id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE ENUM_CUDA_KERNEL_LAUNCH_TYPE (
    id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE ENUM_CUDA_FUNC_CACHE_CONFIG (
    id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG (
    id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE ENUM_CUPTI_SYNC_TYPE (
    id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE ENUM_NSYS_EVENT_TYPE (
    id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
CREATE TABLE ENUM_NSYS_EVENT_CLASS (
    id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
