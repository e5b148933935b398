-- What run ?1 has rows of, and what says why it has no others.
SELECT EXISTS (SELECT 1 FROM step WHERE runId = ?1),
       EXISTS (SELECT 1 FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
               WHERE runId = ?1
                 AND kernelRow >= ifnull(r.kernelRowFirst, 0)
                 AND kernelRow <= ifnull(r.kernelRowLast, 0x7FFFFFFFFFFFFFFF)
                 AND NOT EXISTS (SELECT 1 FROM op_kernel AS o
                                 WHERE o.kernelRow = k.kernelRow
                                   AND o.stepExec = -1)),
       EXISTS (SELECT 1 FROM loss WHERE runId = ?1),
       EXISTS (SELECT 1 FROM lab_row WHERE runId = ?1),
       EXISTS (SELECT 1 FROM sweep_row WHERE runId = ?1),
       EXISTS (SELECT 1 FROM lab_said WHERE runId = ?1),
       EXISTS (SELECT 1 FROM lab_tuned WHERE runId = ?1),
       EXISTS (SELECT 1 FROM choice WHERE runId = ?1)
FROM run AS r
WHERE r.id = ?1
