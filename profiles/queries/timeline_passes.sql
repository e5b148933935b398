-- What tells the passes of run ?1 through its iterations apart.
SELECT exec, iteration, start_ns, end_ns, kernelCount, kernelRowFirst,
       kernelRowLast
FROM step
WHERE runId = ?1
ORDER BY exec
