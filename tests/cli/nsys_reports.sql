-- tests/cli/nsys_reports.sql -- the reports and rules that `nsys stats`,
-- `nsys analyze` and `nsys recipe` (2024.7) run on an SQLite export, by their
-- names there: the tables, columns and joins of each, written anew. What nsys
-- adds to SQLite (median, stdev, quartiles, rtree_scale) is left out.
--
-- "-- NAME: ROWS" states how many rows the export of the test's run gives.

-- cuda_gpu_kern_sum: 2
SELECT names.value AS name, sum(k.end - k.start) AS total_ns, count(*) AS n,
       avg(k.end - k.start) AS average, min(k.end - k.start) AS least,
       max(k.end - k.start) AS most
FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
JOIN StringIds AS names ON names.id = coalesce(k.demangledName, k.shortName)
GROUP BY 1 HAVING total_ns > 0 ORDER BY 2 DESC;

-- cuda_gpu_kern_gb_sum: 2
SELECT names.value, printf('%4d %4d %4d', k.gridX, k.gridY, k.gridZ) AS grid,
       printf('%4d %4d %4d', k.blockX, k.blockY, k.blockZ) AS block,
       sum(k.end - k.start) AS total_ns
FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
JOIN StringIds AS names ON names.id = coalesce(k.mangledName, k.demangledName,
                                               k.shortName)
GROUP BY 1, 2, 3;

-- cuda_kern_exec_sum: 1
SELECT r.globalTid >> 24 & 0x00FFFFFF AS pid, r.globalTid & 0x00FFFFFF AS tid,
       k.deviceId, count(*) AS n, avg(max(r.end, k.end) - r.start) AS total,
       count(iif(k.start - r.end >= 0, k.start - r.end, NULL)) AS queued,
       substr(call.value, 1, length(call.value) - 6) AS call,
       kernel.value AS kernel
FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r
  ON k.correlationId = r.correlationId
 AND k.globalPid = r.globalTid & 0xFFFFFFFFFF000000
LEFT JOIN StringIds AS call ON call.id = r.nameId
LEFT JOIN StringIds AS kernel ON kernel.id = k.shortName
GROUP BY 1, 2, 3, 7, 8 HAVING call = 'cudaLaunchKernel';

-- cuda_api_sum: 3
SELECT call.value, sum(r.end - r.start) AS total_ns, count(*) AS n
FROM CUPTI_ACTIVITY_KIND_RUNTIME AS r
LEFT JOIN StringIds AS call ON call.id = r.nameId
GROUP BY r.nameId HAVING call.value LIKE 'cuda%';

-- cuda_api_trace: 14
SELECT api.start, api.end - api.start AS time_ns, call.value, api.returnValue,
       api.correlationId, api.globalTid >> 24 & 0xFFFFFF AS pid,
       api.globalTid & 0xFFFFFF AS tid, thread.priority, name.value AS thread
FROM CUPTI_ACTIVITY_KIND_RUNTIME AS api
LEFT JOIN StringIds AS call ON call.id = api.nameId
LEFT JOIN ThreadNames AS thread ON thread.globalTid = api.globalTid
LEFT JOIN StringIds AS name ON name.id = thread.nameId
WHERE name.value = 'thread 78';

-- cuda_gpu_trace: 38
SELECT start, end - start AS time_ns, gridX, blockX, registersPerThread,
       staticSharedMemory, dynamicSharedMemory, NULL AS bytes, NULL AS source,
       printf('%s (%d)', gpu.name, deviceId) AS device, contextId,
       nullif(greenContextId, 0), streamId, name.value AS name, correlationId
FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
LEFT JOIN StringIds AS name ON name.id = k.shortName
LEFT JOIN TARGET_INFO_GPU AS gpu ON gpu.id = k.deviceId
UNION ALL
SELECT start, end - start, NULL, NULL, NULL, NULL, NULL, bytes, source.label,
       printf('%s (%d)', gpu.name, deviceId), contextId,
       nullif(greenContextId, 0), streamId,
       '[CUDA memcpy ' || kind.label || ']', correlationId
FROM CUPTI_ACTIVITY_KIND_MEMCPY
LEFT JOIN ENUM_CUDA_MEMCPY_OPER AS kind ON kind.id = copyKind
LEFT JOIN ENUM_CUDA_MEM_KIND AS source ON source.id = srcKind
LEFT JOIN ENUM_CUDA_MEM_KIND AS target ON target.id = dstKind
LEFT JOIN TARGET_INFO_GPU AS gpu ON gpu.id = deviceId
UNION ALL
SELECT start, end - start, NULL, NULL, NULL, NULL, NULL, bytes, kind.label,
       printf('%s (%d)', gpu.name, deviceId), contextId,
       nullif(greenContextId, 0), streamId, '[CUDA memset]', correlationId
FROM CUPTI_ACTIVITY_KIND_MEMSET
LEFT JOIN ENUM_CUDA_MEM_KIND AS kind ON kind.id = memKind
LEFT JOIN TARGET_INFO_GPU AS gpu ON gpu.id = deviceId;

-- cuda_gpu_mem_time_sum: 3
SELECT name, sum(time_ns) AS total_ns, count(*) AS n
FROM (SELECT '[CUDA memcpy ' || kind.label || ']' AS name,
             end - start AS time_ns
      FROM CUPTI_ACTIVITY_KIND_MEMCPY
      JOIN ENUM_CUDA_MEMCPY_OPER AS kind ON kind.id = copyKind
      UNION ALL
      SELECT '[CUDA memset]', end - start FROM CUPTI_ACTIVITY_KIND_MEMSET)
GROUP BY name HAVING total_ns > 0;

-- cuda_gpu_mem_size_sum: 3
SELECT name, sum(bytes) / 1e6 AS total_mb, count(*) AS n, min(bytes), max(bytes)
FROM (SELECT '[CUDA memcpy ' || kind.label || ']' AS name, bytes
      FROM CUPTI_ACTIVITY_KIND_MEMCPY
      JOIN ENUM_CUDA_MEMCPY_OPER AS kind ON kind.id = copyKind
      UNION ALL
      SELECT '[CUDA memset]', bytes FROM CUPTI_ACTIVITY_KIND_MEMSET)
GROUP BY name HAVING total_mb > 0;

-- nvtx_sum: 1
WITH domains AS (
    SELECT min(ne.start), ne.domainId AS id, ne.globalTid AS globalTid,
           coalesce(sid.value, ne.text) AS name
    FROM NVTX_EVENTS AS ne
    LEFT JOIN StringIds AS sid ON sid.id = ne.textId
    WHERE ne.eventType = 75 GROUP BY 2, 3)
SELECT coalesce(d.name, '') || ':' || coalesce(sid.value, ne.text, '') AS name,
       CASE ne.eventType WHEN 59 THEN 'PushPop' WHEN 60 THEN 'StartEnd' END
           AS style,
       sum(ne.end - ne.start) AS total_ns, count(*) AS n
FROM NVTX_EVENTS AS ne
LEFT JOIN domains AS d
  ON d.id = ne.domainId AND ne.globalTid & 0x0000FFFFFF000000 =
                            d.globalTid & 0x0000FFFFFF000000
LEFT JOIN StringIds AS sid ON sid.id = ne.textId
WHERE ne.eventType IN (59, 60, 70, 71)
GROUP BY 1, 2 HAVING style = 'PushPop';

-- nvtx_pushpop_sum: 1
WITH domains AS (
    SELECT min(start), domainId AS id, globalTid, text AS name
    FROM NVTX_EVENTS WHERE eventType = 75 GROUP BY 2, 3)
SELECT coalesce(d.name, '') || ':' || ne.text AS name,
       sum(ne.end - ne.start) AS total_ns, count(*) AS n
FROM NVTX_EVENTS AS ne
LEFT JOIN domains AS d
  ON d.id = ne.domainId AND ne.globalTid & 0x0000FFFFFF000000 =
                            d.globalTid & 0x0000FFFFFF000000
WHERE ne.eventType = 59 AND ne.text IS NOT NULL
GROUP BY 1;

-- nvtx_pushpop_trace: 12
SELECT child.rowid, parent.rowid AS parent, child.start,
       child.end - child.start AS time_ns
FROM NVTX_EVENTS AS child
LEFT JOIN NVTX_EVENTS AS parent
  ON parent.rowid <> child.rowid AND parent.globalTid = child.globalTid
 AND parent.start <= child.start AND parent.end >= child.end
 AND parent.eventType IN (59, 70)
WHERE child.eventType IN (59, 70) GROUP BY child.rowid;

-- nvtx_gpu_proj_trace: 12
SELECT sid.value AS name, min(op.start) AS start,
       max(op.end) - min(op.start) AS time_ns,
       count(DISTINCT r.correlationId) AS operations
FROM (SELECT start, end, correlationId, globalPid
      FROM CUPTI_ACTIVITY_KIND_KERNEL
      UNION ALL
      SELECT start, end, correlationId, globalPid
      FROM CUPTI_ACTIVITY_KIND_MEMCPY
      UNION ALL
      SELECT start, end, correlationId, globalPid
      FROM CUPTI_ACTIVITY_KIND_MEMSET) AS op
JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r
  ON op.correlationId = r.correlationId
 AND op.globalPid = r.globalTid & 0xFFFFFFFFFF000000
JOIN NVTX_EVENTS AS range
  ON range.start <= r.start AND range.end >= r.end
 AND range.globalTid = r.globalTid AND range.endGlobalTid IS NULL
LEFT JOIN StringIds AS sid ON sid.id = range.textId
WHERE range.eventType IN (59, 60, 70, 71)
GROUP BY range.rowid HAVING name IS NOT NULL;

-- cuda_memcpy_async: 1
SELECT m.end - m.start AS time_ns, source.label, target.label, m.bytes,
       m.globalPid >> 24 & 0x00FFFFFF AS pid, m.deviceId, m.contextId,
       nullif(m.greenContextId, 0), m.streamId, call.value
FROM CUPTI_ACTIVITY_KIND_MEMCPY AS m
JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r ON r.correlationId = m.correlationId
JOIN StringIds AS call ON call.id = r.nameId
LEFT JOIN ENUM_CUDA_MEM_KIND AS source ON source.id = m.srcKind
LEFT JOIN ENUM_CUDA_MEM_KIND AS target ON target.id = m.dstKind
WHERE call.value LIKE 'cudaMemcpy%Async%'
  AND (source.label = 'Pageable' OR target.label = 'Pageable');

-- cuda_memcpy_sync: 0
SELECT m.end - m.start AS time_ns, call.value
FROM CUPTI_ACTIVITY_KIND_MEMCPY AS m
JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r ON r.correlationId = m.correlationId
JOIN StringIds AS call ON call.id = r.nameId
WHERE call.value LIKE 'cudaMemcpy%' AND call.value NOT LIKE '%Async%'
  AND NOT (m.bytes <= 64000 AND m.copyKind = 1)
  AND NOT (m.srcDeviceId IS NOT NULL AND m.srcDeviceId = m.dstDeviceId);

-- cuda_memset_sync: 0
SELECT m.end - m.start AS time_ns, kind.label, m.bytes, call.value
FROM CUPTI_ACTIVITY_KIND_MEMSET AS m
JOIN CUPTI_ACTIVITY_KIND_RUNTIME AS r ON r.correlationId = m.correlationId
JOIN StringIds AS call ON call.id = r.nameId
LEFT JOIN ENUM_CUDA_MEM_KIND AS kind ON kind.id = m.memKind
WHERE call.value LIKE 'cudaMemset%' AND call.value NOT LIKE '%async%';

-- cuda_api_sync: 1
SELECT s.end - s.start AS time_ns, kind.label, s.syncType, s.streamId, s.eventId
FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION AS s
JOIN ENUM_CUPTI_SYNC_TYPE AS kind ON kind.id = s.syncType;

-- gpu_gaps: 36
WITH ops AS (
    SELECT start, end, deviceId, globalPid >> 24 & 0xFFFFFF AS pid
    FROM CUPTI_ACTIVITY_KIND_KERNEL
    UNION ALL
    SELECT start, end, deviceId, globalPid >> 24 & 0xFFFFFF
    FROM CUPTI_ACTIVITY_KIND_MEMCPY
    UNION ALL
    SELECT start, end, NULL, globalTid >> 24 & 0xFFFFFF
    FROM PROFILER_OVERHEAD),
starts AS (
    SELECT row_number() OVER (ORDER BY pid, deviceId, start) AS row, start, pid,
           deviceId FROM ops),
ends AS (
    SELECT row_number() OVER (ORDER BY pid, deviceId, end) AS row, end, pid,
           deviceId FROM ops)
SELECT start - end AS gap_ns, ends.pid, ends.deviceId
FROM starts
JOIN ends ON starts.row - 1 = ends.row AND starts.deviceId = ends.deviceId
         AND starts.pid = ends.pid
WHERE gap_ns > 0;

-- gpu_time_util: 1
SELECT k.deviceId, k.globalPid >> 24 & 0xFFFFFF AS pid, gpu.name,
       100.0 * sum(k.end - k.start) / (max(k.end) - min(k.start)) AS used_pct
FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
JOIN TARGET_INFO_CUDA_DEVICE AS cuda ON cuda.cudaId = k.deviceId
JOIN TARGET_INFO_GPU AS gpu ON gpu.id = cuda.gpuId
GROUP BY 1, 2 HAVING used_pct > 0;

-- processes: 1
SELECT p.pid, p.name, count(DISTINCT t.globalTid) AS threads
FROM PROCESSES AS p
LEFT JOIN ThreadNames AS t ON t.globalTid & 0xFFFFFFFFFF000000 = p.globalPid
GROUP BY p.globalPid HAVING p.name = 'lapenna-lab';
