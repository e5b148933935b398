-- The first moment of run ?1: its start, or what was recorded before it.
SELECT min(moment) FROM (
    SELECT started_ns AS moment FROM run WHERE id = ?1
    UNION ALL
    SELECT (SELECT start_ns FROM step WHERE runId = ?1 AND start_ns IS NOT NULL
            ORDER BY exec LIMIT 1)
    UNION ALL
    SELECT (SELECT min(start) FROM CUPTI_ACTIVITY_KIND_KERNEL
            WHERE runId = ?1
              AND kernelRow >= ifnull((SELECT kernelRowFirst FROM run
                                       WHERE id = ?1), 0)
              AND kernelRow <= ifnull((SELECT kernelRowLast FROM run
                                       WHERE id = ?1), 0x7FFFFFFFFFFFFFFF))
    UNION ALL
    SELECT min(start) FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE runId = ?1
    UNION ALL
    SELECT min(start) FROM CUPTI_ACTIVITY_KIND_MEMCPY WHERE runId = ?1
    UNION ALL
    SELECT min(start) FROM CUPTI_ACTIVITY_KIND_MEMSET WHERE runId = ?1
    UNION ALL
    SELECT min(start) FROM NVTX_EVENTS WHERE runId = ?1)
