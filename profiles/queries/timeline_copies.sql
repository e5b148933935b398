-- Copies of run ?1 in rows ?2 to ?3.
SELECT m.memcpyRow, m.start, m.end, m.deviceId, m.streamId, m.correlationId,
       m.graphNodeId, m.globalPid, m.bytes, kind.label
FROM CUPTI_ACTIVITY_KIND_MEMCPY AS m
LEFT JOIN ENUM_CUDA_MEMCPY_OPER AS kind ON kind.id = m.copyKind
WHERE m.memcpyRow BETWEEN ?2 AND ?3 AND m.runId = ?1
