-- NVTX ranges of run ?1 in rows ?2 to ?3.
SELECT n.rowid, n.start, n.end, n.category, ifnull(n.text, name.value)
FROM NVTX_EVENTS AS n
LEFT JOIN StringIds AS name ON name.id = n.textId
WHERE n.rowid BETWEEN ?2 AND ?3 AND n.runId = ?1 AND n.eventType IN (59, 60)
