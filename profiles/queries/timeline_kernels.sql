-- Kernels of run ?1 in rows ?2 to ?3: those of rows :first to :last, and what
-- else runs from :from to :to.
SELECT k.kernelRow, k.start, k.end, k.deviceId, k.streamId, k.correlationId,
       k.graphNodeId, k.globalPid, o.stepExec, ifnull(short.value, long.value)
FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
LEFT JOIN op_kernel AS o ON o.kernelRow = k.kernelRow
LEFT JOIN StringIds AS short ON short.id = k.shortName
LEFT JOIN StringIds AS long ON long.id = k.demangledName
-- The run's id comes last in a row: most rows are left before it is read.
WHERE k.kernelRow BETWEEN ?2 AND ?3
  AND (k.kernelRow BETWEEN :first AND :last
       OR (k.start < :to AND k."end" > :from))
  AND k.runId = ?1
