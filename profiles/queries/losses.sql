-- The loss of run ?1, iteration by iteration.
SELECT iteration, loss, accuracy, moment_ns
FROM loss
WHERE runId = ?1
ORDER BY iteration
