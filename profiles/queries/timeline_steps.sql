-- The steps ?2 to ?3 (exec) of run ?1.
SELECT s.exec, s.start_ns, s.end_ns, s.phase, name.value, s.stepIndex
FROM step AS s
LEFT JOIN StringIds AS name ON name.id = s.nameId
WHERE s.runId = ?1 AND s.exec BETWEEN ?2 AND ?3
ORDER BY s.exec
