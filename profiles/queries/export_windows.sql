-- When run ?1 was in its iterations: their ranges, else from the first step of
-- each to its last. Of a lab (?2) each traced launch, for what lies between them
-- sets the next one up.
SELECT n.start, n.end FROM NVTX_EVENTS AS n
WHERE n.runId = ?1 AND n.category = 1 AND n.eventType = 59 AND NOT ?2
  AND EXISTS (SELECT 1 FROM step WHERE step.runId = ?1)
UNION ALL
SELECT min(s.start_ns), max(s.end_ns) FROM step AS s
WHERE s.runId = ?1 AND s.start_ns IS NOT NULL AND s.end_ns IS NOT NULL
GROUP BY CASE WHEN ?2 THEN s.exec ELSE s.iteration END
ORDER BY 1, 2
