-- Every kernel of run ?1 with its step and what its launch says, as they lie
-- in the file; not those between steps.
SELECT o.stepExec, k.demangledName, k.shortName, k.start, k.end, k.gridX,
       k.gridY, k.gridZ, k.blockX, k.blockY, k.blockZ, k.registersPerThread,
       k.staticSharedMemory, k.dynamicSharedMemory, o.occupancy_pct,
       o.occupancyLimit, o.kernelRow
FROM op_kernel AS o
JOIN CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.kernelRow = o.kernelRow
WHERE o.kernelRow >= ifnull((SELECT kernelRowFirst FROM run WHERE id = ?1), 0)
  AND o.kernelRow <= ifnull((SELECT kernelRowLast FROM run WHERE id = ?1),
                            0x7FFFFFFFFFFFFFFF)
  AND o.runId = ?1
  AND o.stepExec IS NOT -1
