-- profiles/schema.sql -- the tables of a profile database, version 1.
--
-- The program embeds this file and runs it on an empty database. A later
-- version does not edit it: it adds one step to the list of migrations in
-- src/store/db/migrate.c, so that a new database and a migrated one are the same.
--
-- Unknown is NULL, never 0. Units stand in names: _ns, _bytes, _flop, _pct.
-- Moments are nanoseconds since 1970-01-01 UTC.
--
-- Two families of tables:
--   own tables (lower case): run, step, op_kernel, op_memory, metric_value,
--   loss;
--   tables of an Nsight Systems SQLite export (schema 3.24), with its names,
--   columns and types, and one column more, runId, because a database here
--   holds many runs. NOT NULL is left out: what was not observed is NULL. The
--   tables that own tables point into have their rowid as a named last column,
--   so that VACUUM keeps it.
--
-- No index slows the writer down, and none is made after a run. `step` and
-- `loss` are stored in the order of their keys. The wide tables only grow at
-- their end: run and step rows keep the first and last kernelRow that is
-- theirs, and queries read that stretch.

-- ------------------------------------------------------------- own tables

CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT, -- never used twice
    lesson TEXT,           -- id
    lessonPath TEXT,
    title TEXT,
    backend TEXT,          -- cpu, cuda, null
    device TEXT,
    chip TEXT,
    computeCapability TEXT,
    smCount INTEGER,       -- CPU: logical cores
    driver TEXT,
    runtime TEXT,
    precision TEXT,        -- fp32, tf32, bf16, fp16
    seed INTEGER,          -- the bits of an unsigned number
    batch INTEGER,
    iterations INTEGER,    -- done
    variants TEXT,         -- what was chosen: "fc1=tiled relu=fused"
    version TEXT,          -- of the program
    commitId TEXT,
    hostname TEXT,
    user TEXT,
    pid INTEGER,
    processStart INTEGER,  -- with pid: which process records this run
    started TEXT,          -- UTC, 2026-01-31T09:30:00.123Z
    ended TEXT,
    started_ns INTEGER,
    ended_ns INTEGER,
    status TEXT NOT NULL   -- running until somebody says otherwise
        CHECK (status IN
               ('running', 'done', 'cancelled', 'failed', 'interrupted')),
    timeSource TEXT,       -- of the steps: cpu_clock, cupti, cuda_events
    counters TEXT,         -- hardware counters: off, basic, full, refused
    countersReason TEXT,
    ringDrops INTEGER,     -- records lost because the ring was full
    ringWaits INTEGER,     -- times that a producer had to wait for room
    ringWait_ns INTEGER,
    ringHighWater INTEGER,
    writeErrors INTEGER,   -- records lost because the database refused them
    writeError TEXT,
    samples_per_s REAL,
    iterationMedian_ns INTEGER,
    loss_first REAL,
    loss_last REAL,
    accuracy REAL,         -- held-back share right, 0 to 1
    rank INTEGER NOT NULL DEFAULT 0,
    kernelRowFirst INTEGER,
    kernelRowLast INTEGER
);

-- One execution of one step.
CREATE TABLE step (
    runId INTEGER NOT NULL,
    exec INTEGER NOT NULL,      -- unique in the run
    iteration INTEGER,
    stepIndex INTEGER,          -- place in the iteration's schedule
    phase INTEGER,              -- ENUM_LAB_PHASE
    nameId INTEGER,             -- StringIds: fc1.matmul
    nodeId INTEGER,             -- fc1
    opId INTEGER,               -- dense
    variantId INTEGER,
    backendId INTEGER,
    start_ns INTEGER,
    end_ns INTEGER,
    time_ns INTEGER,            -- of the work; CUPTI: sum of its kernels
    timeSource INTEGER,         -- ENUM_LAB_TIME_SOURCE
    flop REAL,                  -- analytic, from the shapes
    bytes REAL,                 -- analytic, from the shapes
    kernelCount INTEGER,
    kernelRowFirst INTEGER,     -- its rows of op_kernel lie between these two
    kernelRowLast INTEGER,
    PRIMARY KEY (runId, exec)
) WITHOUT ROWID;

-- Which kernel belongs to which step, and what the launch says of occupancy.
CREATE TABLE op_kernel (
    kernelRow INTEGER PRIMARY KEY, -- CUPTI_ACTIVITY_KIND_KERNEL.kernelRow
    runId INTEGER NOT NULL,
    stepExec INTEGER,              -- step.exec; NULL: no step is known
    occupancy_pct REAL,            -- theoretical
    occupancyLimit INTEGER,        -- bits of ENUM_LAB_OCCUPANCY_LIMIT
    activeBlocksPerSm INTEGER
);

-- Which copy or memset belongs to which step: one of the two rows is NULL.
CREATE TABLE op_memory (
    runId INTEGER NOT NULL,
    stepExec INTEGER NOT NULL,
    memcpyRow INTEGER,
    memsetRow INTEGER
);

-- Hardware counters of a step, or of one kernel of it.
CREATE TABLE metric_value (
    runId INTEGER NOT NULL,
    stepExec INTEGER NOT NULL,
    kernelOrdinal INTEGER,         -- in the step; NULL: the whole step
    metricId INTEGER NOT NULL,     -- StringIds
    value REAL,
    passes INTEGER
);

CREATE TABLE loss (
    runId INTEGER NOT NULL,
    iteration INTEGER NOT NULL,
    loss REAL,                     -- NULL: not a number
    accuracy REAL,                 -- NULL: not evaluated here
    moment_ns INTEGER,
    PRIMARY KEY (runId, iteration)
) WITHOUT ROWID;

CREATE TABLE ENUM_LAB_PHASE (
    id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_LAB_PHASE VALUES
    (0, 'forward', 'Forward'), (1, 'loss', 'Loss'),
    (2, 'backward', 'Backward'), (3, 'update', 'Update');

CREATE TABLE ENUM_LAB_TIME_SOURCE (
    id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_LAB_TIME_SOURCE VALUES
    (0, 'none', 'Not measured'), (1, 'cpu_clock', 'CPU clock'),
    (2, 'cupti', 'CUPTI kernel records'), (3, 'cuda_events', 'CUDA events');

CREATE TABLE ENUM_LAB_OCCUPANCY_LIMIT (
    id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_LAB_OCCUPANCY_LIMIT VALUES
    (1, 'warps', 'Warps'), (2, 'blocks', 'Blocks'),
    (4, 'registers', 'Registers'), (8, 'shared', 'Shared memory'),
    (16, 'barriers', 'Barriers'), (32, 'grid', 'Grid too small');

-- ------------------------------------------------- Nsight Systems' tables

CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE UNIQUE INDEX StringIds_value ON StringIds (value);

CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
    start INTEGER,
    end INTEGER,
    deviceId INTEGER,
    contextId INTEGER,
    greenContextId INTEGER,
    streamId INTEGER,
    correlationId INTEGER,
    globalPid INTEGER,
    demangledName INTEGER,         -- StringIds
    shortName INTEGER,             -- StringIds
    mangledName INTEGER,           -- StringIds
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
    maxActiveClusters INTEGER,
    runId INTEGER NOT NULL,
    kernelRow INTEGER PRIMARY KEY
);

-- Runtime and driver calls together, told apart by eventClass.
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (
    start INTEGER,
    end INTEGER,
    eventClass INTEGER,
    globalTid INTEGER,
    correlationId INTEGER,
    nameId INTEGER,
    returnValue INTEGER,
    callchainId INTEGER,
    runId INTEGER NOT NULL
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
    virtualAddress INTEGER,
    runId INTEGER NOT NULL,
    memcpyRow INTEGER PRIMARY KEY
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
    memKind INTEGER,
    runId INTEGER NOT NULL,
    memsetRow INTEGER PRIMARY KEY
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
    eventSyncId INTEGER,
    runId INTEGER NOT NULL
);

CREATE TABLE NVTX_EVENTS (
    start INTEGER,
    end INTEGER,
    eventType INTEGER,             -- 59 push/pop range, 75 a domain's name
    rangeId INTEGER,
    category INTEGER,              -- 0 run 1 iteration 2 phase 3 node 4 step
    color INTEGER,
    text TEXT,
    globalTid INTEGER,
    endGlobalTid INTEGER,
    textId INTEGER,                -- StringIds
    domainId INTEGER,
    uint64Value INTEGER,
    int64Value INTEGER,
    doubleValue REAL,
    uint32Value INTEGER,
    int32Value INTEGER,
    floatValue REAL,
    jsonTextId INTEGER,
    jsonText TEXT,
    binaryData TEXT,
    runId INTEGER NOT NULL
);

CREATE TABLE PROFILER_OVERHEAD (
    start INTEGER,
    end INTEGER,
    globalTid INTEGER,
    nameId INTEGER,
    returnValue INTEGER,
    runId INTEGER NOT NULL
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
    smMinor INTEGER,
    runId INTEGER NOT NULL
);

CREATE TABLE TARGET_INFO_SESSION_START_TIME (
    utcEpochNs INTEGER,
    utcTime TEXT,
    localTime TEXT,
    runId INTEGER NOT NULL
);

CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT, runId INTEGER);

-- Rows without a run describe the database itself.
CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT, runId INTEGER);
INSERT INTO META_DATA_EXPORT VALUES
    ('EXPORT_PRODUCT_NAME', 'lapenna-lab', NULL),
    ('EXPORT_SCHEMA_VERSION', '3.24.14', NULL),
    ('EXPORT_SCHEMA_VERSION_MAJOR', '3', NULL),
    ('EXPORT_SCHEMA_VERSION_MINOR', '24', NULL),
    ('EXPORT_SCHEMA_VERSION_MICRO', '14', NULL);

CREATE TABLE ENUM_CUDA_MEMCPY_OPER (
    id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES
    (0, 'CUDA_MEMCPY_KIND_UNKNOWN', 'Unknown'),
    (1, 'CUDA_MEMCPY_KIND_HTOD', 'Host-to-Device'),
    (2, 'CUDA_MEMCPY_KIND_DTOH', 'Device-to-Host'),
    (3, 'CUDA_MEMCPY_KIND_HTOA', 'Host-to-Array'),
    (4, 'CUDA_MEMCPY_KIND_ATOH', 'Array-to-Host'),
    (5, 'CUDA_MEMCPY_KIND_ATOA', 'Array-to-Array'),
    (6, 'CUDA_MEMCPY_KIND_ATOD', 'Array-to-Device'),
    (7, 'CUDA_MEMCPY_KIND_DTOA', 'Device-to-Array'),
    (8, 'CUDA_MEMCPY_KIND_DTOD', 'Device-to-Device'),
    (9, 'CUDA_MEMCPY_KIND_HTOH', 'Host-to-Host'),
    (10, 'CUDA_MEMCPY_KIND_PTOP', 'Peer-to-Peer'),
    (11, 'CUDA_MEMCPY_KIND_UVM_HTOD', 'Unified Host-to-Device'),
    (12, 'CUDA_MEMCPY_KIND_UVM_DTOH', 'Unified Device-to-Host'),
    (13, 'CUDA_MEMCPY_KIND_UVM_DTOD', 'Unified Device-to-Device');

CREATE TABLE ENUM_CUDA_MEM_KIND (
    id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_MEM_KIND VALUES
    (0, 'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE', 'Pageable'),
    (1, 'CUDA_MEMOPR_MEMORY_KIND_PINNED', 'Pinned'),
    (2, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE', 'Device'),
    (3, 'CUDA_MEMOPR_MEMORY_KIND_ARRAY', 'Array'),
    (4, 'CUDA_MEMOPR_MEMORY_KIND_MANAGED', 'Managed'),
    (5, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC', 'Device Static'),
    (6, 'CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC', 'Managed Static'),
    (7, 'CUDA_MEMOPR_MEMORY_KIND_UNKNOWN', 'Unknown');

CREATE TABLE ENUM_CUDA_KERNEL_LAUNCH_TYPE (
    id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_KERNEL_LAUNCH_TYPE VALUES
    (0, 'CUDA_KERNEL_LAUNCH_TYPE_UNKNOWN', 'Unknown'),
    (1, 'CUDA_KERNEL_LAUNCH_TYPE_REGULAR', 'Regular'),
    (2, 'CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE',
     'Coop Single Device'),
    (3, 'CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_MULTI_DEVICE',
     'Coop Multi Device');

CREATE TABLE ENUM_CUDA_FUNC_CACHE_CONFIG (
    id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_FUNC_CACHE_CONFIG VALUES
    (0, 'CU_FUNC_CACHE_PREFER_NONE', 'None'),
    (1, 'CU_FUNC_CACHE_PREFER_SHARED', 'Shared'),
    (2, 'CU_FUNC_CACHE_PREFER_L1', 'L1'),
    (3, 'CU_FUNC_CACHE_PREFER_EQUAL', 'Equal');

CREATE TABLE ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG (
    id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_SHARED_MEM_LIMIT_CONFIG VALUES
    (0, 'CUDA_SHARED_MEM_LIMIT_DEFAULT', 'Default'),
    (1, 'CUDA_SHARED_MEM_LIMIT_OPTIN', 'Opt in');

CREATE TABLE ENUM_CUPTI_SYNC_TYPE (
    id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUPTI_SYNC_TYPE VALUES
    (0, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN', 'Unknown'),
    (1, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE',
     'Event sync'),
    (2, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT',
     'Stream wait sync'),
    (3, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE',
     'Stream sync'),
    (4, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE',
     'Context sync');

CREATE TABLE ENUM_NSYS_EVENT_TYPE (
    id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_NSYS_EVENT_TYPE VALUES
    (33, 'NvtxCategory', 'NvtxCategory'),
    (34, 'NvtxMark', 'NvtxMark'),
    (39, 'NvtxThread', 'NvtxThread'),
    (59, 'NvtxPushPopRange', 'NvtxPushPopRange'),
    (60, 'NvtxStartEndRange', 'NvtxStartEndRange'),
    (75, 'NvtxDomainCreate', 'NvtxDomainCreate'),
    (76, 'NvtxDomainDestroy', 'NvtxDomainDestroy');

CREATE TABLE ENUM_NSYS_EVENT_CLASS (
    id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_NSYS_EVENT_CLASS VALUES
    (0, 'TRACE_PROCESS_EVENT_CUDA_RUNTIME', 'CUDA runtime'),
    (1, 'TRACE_PROCESS_EVENT_CUDA_DRIVER', 'CUDA driver');
