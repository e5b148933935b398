-- Which copies and sets belong to the steps :first to :last (exec) of run ?1, in rows
-- ?2 to ?3.
SELECT stepExec, memcpyRow, memsetRow
FROM op_memory
WHERE rowid BETWEEN ?2 AND ?3 AND runId = ?1 AND stepExec BETWEEN :first AND :last
