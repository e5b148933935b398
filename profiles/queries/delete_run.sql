-- Everything of run ?1, in one transaction of the caller's; then the names that
-- nothing uses any more. The count of rows is that of all statements but the
-- last one.
DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL
WHERE runId = ?1
  AND kernelRow >= ifnull((SELECT kernelRowFirst FROM run WHERE id = ?1), 0)
  AND kernelRow <= ifnull((SELECT kernelRowLast FROM run WHERE id = ?1),
                          0x7FFFFFFFFFFFFFFF);
DELETE FROM op_kernel
WHERE runId = ?1
  AND kernelRow >= ifnull((SELECT kernelRowFirst FROM run WHERE id = ?1), 0)
  AND kernelRow <= ifnull((SELECT kernelRowLast FROM run WHERE id = ?1),
                          0x7FFFFFFFFFFFFFFF);
DELETE FROM step WHERE runId = ?1;
DELETE FROM op_memory WHERE runId = ?1;
DELETE FROM metric_value WHERE runId = ?1;
DELETE FROM loss WHERE runId = ?1;
DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE runId = ?1;
DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE runId = ?1;
DELETE FROM CUPTI_ACTIVITY_KIND_MEMSET WHERE runId = ?1;
DELETE FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION WHERE runId = ?1;
DELETE FROM NVTX_EVENTS WHERE runId = ?1;
DELETE FROM PROFILER_OVERHEAD WHERE runId = ?1;
DELETE FROM TARGET_INFO_GPU WHERE runId = ?1;
DELETE FROM TARGET_INFO_SESSION_START_TIME WHERE runId = ?1;
DELETE FROM META_DATA_CAPTURE WHERE runId = ?1;
DELETE FROM META_DATA_EXPORT WHERE runId = ?1;
DELETE FROM lab_row WHERE runId = ?1;
DELETE FROM sweep_row WHERE runId = ?1;
DELETE FROM lab_said WHERE runId = ?1;
DELETE FROM choice WHERE runId = ?1;
DELETE FROM time_sum WHERE runId = ?1;
DELETE FROM kernel_zone WHERE runId = ?1;
DELETE FROM kernel_zone_name WHERE runId = ?1;
DELETE FROM baseline WHERE runId = ?1;
DELETE FROM run WHERE id = ?1;
DELETE FROM StringIds WHERE id NOT IN (
    SELECT nameId FROM step WHERE nameId IS NOT NULL
    UNION SELECT nodeId FROM step WHERE nodeId IS NOT NULL
    UNION SELECT opId FROM step WHERE opId IS NOT NULL
    UNION SELECT variantId FROM step WHERE variantId IS NOT NULL
    UNION SELECT backendId FROM step WHERE backendId IS NOT NULL
    UNION SELECT metricId FROM metric_value
    UNION SELECT demangledName FROM CUPTI_ACTIVITY_KIND_KERNEL
          WHERE demangledName IS NOT NULL
    UNION SELECT shortName FROM CUPTI_ACTIVITY_KIND_KERNEL
          WHERE shortName IS NOT NULL
    UNION SELECT mangledName FROM CUPTI_ACTIVITY_KIND_KERNEL
          WHERE mangledName IS NOT NULL
    UNION SELECT nameId FROM CUPTI_ACTIVITY_KIND_RUNTIME
          WHERE nameId IS NOT NULL
    UNION SELECT textId FROM NVTX_EVENTS WHERE textId IS NOT NULL
    UNION SELECT nameId FROM PROFILER_OVERHEAD WHERE nameId IS NOT NULL);
