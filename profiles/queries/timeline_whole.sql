-- From when to when kernels of run ?1 ran, and their rows: all that is known of
-- a run without steps, which another tool recorded.
SELECT min(k.start), max(k."end"), count(*), min(k.kernelRow),
       max(k.kernelRow)
FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
WHERE k.runId = ?1
  AND k.kernelRow >= ifnull((SELECT kernelRowFirst FROM run WHERE id = ?1), 0)
  AND k.kernelRow <= ifnull((SELECT kernelRowLast FROM run WHERE id = ?1),
                            0x7FFFFFFFFFFFFFFF)
