-- When run ?1 made the calls :first to :last (correlation ids), in rows ?2 to
-- ?3.
SELECT r.correlationId, r.start, r.globalTid
FROM CUPTI_ACTIVITY_KIND_RUNTIME AS r
WHERE r.rowid BETWEEN ?2 AND ?3
  AND r.correlationId BETWEEN :first AND :last AND r.runId = ?1
