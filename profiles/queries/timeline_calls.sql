-- Calls of the CUDA runtime and driver of run ?1 in rows ?2 to ?3,
-- from :from to :to.
SELECT r.rowid, r.start, r.end, r.globalTid, r.correlationId, name.value
FROM CUPTI_ACTIVITY_KIND_RUNTIME AS r
LEFT JOIN StringIds AS name ON name.id = r.nameId
WHERE r.rowid BETWEEN ?2 AND ?3
  AND r.start < :to AND r."end" > :from AND r.runId = ?1
