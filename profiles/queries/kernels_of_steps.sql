-- As kernels.sql, for a run that has ended: its steps know between which rows
-- their kernels lie, so that only the rows of the wanted steps are read.
SELECT k.kernelRow, o.stepExec, s.iteration, s.stepIndex, stepName.value,
       phaseName.name, demangled.value, short.value, k.start, k.end,
       k.deviceId, k.contextId, k.streamId, k.correlationId, k.gridX, k.gridY,
       k.gridZ, k.blockX, k.blockY, k.blockZ, k.clusterX, k.clusterY,
       k.clusterZ, k.registersPerThread, k.staticSharedMemory,
       k.dynamicSharedMemory, k.sharedMemoryExecuted, k.localMemoryPerThread,
       k.graphNodeId, o.occupancy_pct, o.occupancyLimit, o.activeBlocksPerSm
FROM step AS s
CROSS JOIN op_kernel AS o ON o.kernelRow BETWEEN s.kernelRowFirst
                                             AND s.kernelRowLast
                         AND o.runId = s.runId AND o.stepExec = s.exec
JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.kernelRow = o.kernelRow
LEFT JOIN StringIds AS stepName ON stepName.id = s.nameId
LEFT JOIN ENUM_LAB_PHASE AS phaseName ON phaseName.id = s.phase
LEFT JOIN StringIds AS demangled ON demangled.id = k.demangledName
LEFT JOIN StringIds AS short ON short.id = k.shortName
WHERE s.runId = ?1
  AND (?2 IS NULL OR s.stepIndex = ?2)
  AND (?3 IS NULL OR s.iteration = ?3)
  AND o.kernelRow BETWEEN ?6 AND ?7
