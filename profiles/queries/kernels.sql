-- The kernels of run ?1 whose rows lie between ?6 and ?7; of the step at place
-- ?2 only, of iteration ?3 only, where these are not NULL; those between steps
-- only where ?8. The program adds ORDER BY, LIMIT ?4 OFFSET ?5.
SELECT k.kernelRow, o.stepExec, s.iteration, s.stepIndex, stepName.value,
       phaseName.name, demangled.value, short.value, k.start, k.end,
       k.deviceId, k.contextId, k.streamId, k.correlationId, k.gridX, k.gridY,
       k.gridZ, k.blockX, k.blockY, k.blockZ, k.clusterX, k.clusterY,
       k.clusterZ, k.registersPerThread, k.staticSharedMemory,
       k.dynamicSharedMemory, k.sharedMemoryExecuted, k.localMemoryPerThread,
       k.graphNodeId, o.occupancy_pct, o.occupancyLimit, o.activeBlocksPerSm
FROM op_kernel AS o
JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.kernelRow = o.kernelRow
LEFT JOIN step AS s ON s.runId = o.runId AND s.exec = o.stepExec
LEFT JOIN StringIds AS stepName ON stepName.id = s.nameId
LEFT JOIN ENUM_LAB_PHASE AS phaseName ON phaseName.id = s.phase
LEFT JOIN StringIds AS demangled ON demangled.id = k.demangledName
LEFT JOIN StringIds AS short ON short.id = k.shortName
WHERE o.kernelRow BETWEEN ?6 AND ?7
  AND o.runId = ?1
  AND (?8 OR o.stepExec IS NOT -1)
  AND (?2 IS NULL OR s.stepIndex = ?2)
  AND (?3 IS NULL OR s.iteration = ?3)
