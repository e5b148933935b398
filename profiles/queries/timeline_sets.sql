-- Memory that run ?1 set to a value, in rows ?2 to ?3.
SELECT m.memsetRow, m.start, m.end, m.deviceId, m.streamId, m.correlationId,
       m.graphNodeId, m.globalPid, m.bytes, 'memset'
FROM CUPTI_ACTIVITY_KIND_MEMSET AS m
WHERE m.memsetRow BETWEEN ?2 AND ?3 AND m.runId = ?1
