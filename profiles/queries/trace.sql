-- What a trace of run ?1 shows, a statement for each kind of row: steps,
-- kernels, copies and memsets, calls, NVTX ranges (of a run with steps those
-- between steps alone: the others say the same), and the lanes of the last four. Rows of a lane come by their
-- start, of equal starts the longest first, so that what lies inside another
-- follows it.
SELECT s.exec, s.iteration, s.phase, s.nodeId, s.start_ns, s.end_ns, s.time_ns,
       s.flop, s.bytes, stepName.value, phaseName.name, node.value,
       variant.value, s.stepIndex
FROM step AS s
LEFT JOIN StringIds AS stepName ON stepName.id = s.nameId
LEFT JOIN ENUM_LAB_PHASE AS phaseName ON phaseName.id = s.phase
LEFT JOIN StringIds AS node ON node.id = s.nodeId
LEFT JOIN StringIds AS variant ON variant.id = s.variantId
WHERE s.runId = ?1
ORDER BY s.start_ns, s.end_ns DESC, s.exec;
SELECT k.kernelRow, o.stepExec, s.start_ns, k.start, k.end, k.deviceId, k.streamId,
       ifnull(demangled.value, short.value), k.gridX, k.gridY, k.gridZ,
       k.blockX, k.blockY, k.blockZ, k.registersPerThread, k.correlationId,
       k.graphNodeId, s.stepIndex
FROM op_kernel AS o
JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.kernelRow = o.kernelRow
LEFT JOIN step AS s ON s.runId = o.runId AND s.exec = o.stepExec
LEFT JOIN StringIds AS demangled ON demangled.id = k.demangledName
LEFT JOIN StringIds AS short ON short.id = k.shortName
WHERE o.kernelRow >= ifnull((SELECT kernelRowFirst FROM run WHERE id = ?1), 0)
  AND o.kernelRow <= ifnull((SELECT kernelRowLast FROM run WHERE id = ?1),
                            0x7FFFFFFFFFFFFFFF)
  AND o.runId = ?1
ORDER BY k.start, k.end DESC;
SELECT CASE copyKind WHEN 1 THEN 'Memcpy HtoD' WHEN 2 THEN 'Memcpy DtoH'
                     WHEN 8 THEN 'Memcpy DtoD'
                     ELSE 'Memcpy ' || ifnull(kind.label, '') END,
       start, end, deviceId, streamId, bytes, correlationId, 0
FROM CUPTI_ACTIVITY_KIND_MEMCPY
LEFT JOIN ENUM_CUDA_MEMCPY_OPER AS kind ON kind.id = copyKind
WHERE runId = ?1
UNION ALL
SELECT 'Memset', start, end, deviceId, streamId, bytes, correlationId, 1
FROM CUPTI_ACTIVITY_KIND_MEMSET WHERE runId = ?1
ORDER BY 2, 3 DESC;
SELECT name.value, start, end, globalTid, correlationId
FROM CUPTI_ACTIVITY_KIND_RUNTIME
LEFT JOIN StringIds AS name ON name.id = nameId
WHERE runId = ?1
ORDER BY start, end DESC;
SELECT ifnull(text, name.value), start, end, globalTid
FROM NVTX_EVENTS
LEFT JOIN StringIds AS name ON name.id = textId
WHERE runId = ?1 AND eventType IN (59, 60, 70, 71)
  AND (category = 5 OR NOT EXISTS (SELECT 1 FROM step WHERE step.runId = ?1))
ORDER BY start, end DESC;
SELECT DISTINCT 0, deviceId, streamId FROM CUPTI_ACTIVITY_KIND_KERNEL
WHERE runId = ?1
  AND kernelRow >= ifnull((SELECT kernelRowFirst FROM run WHERE id = ?1), 0)
  AND kernelRow <= ifnull((SELECT kernelRowLast FROM run WHERE id = ?1),
                          0x7FFFFFFFFFFFFFFF)
UNION
SELECT DISTINCT 1, deviceId, streamId FROM CUPTI_ACTIVITY_KIND_MEMCPY
WHERE runId = ?1
UNION
SELECT DISTINCT 1, deviceId, streamId FROM CUPTI_ACTIVITY_KIND_MEMSET
WHERE runId = ?1
UNION
SELECT DISTINCT 2, NULL, ifnull(globalTid & 0xFFFFFF, 0)
FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE runId = ?1
UNION
SELECT DISTINCT 3, NULL, ifnull(globalTid & 0xFFFFFF, 0)
FROM NVTX_EVENTS
WHERE runId = ?1 AND eventType IN (59, 60, 70, 71)
  AND (category = 5 OR NOT EXISTS (SELECT 1 FROM step WHERE step.runId = ?1))
