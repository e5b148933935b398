-- All runs, or the one that ?1 names. The program adds their order.
SELECT id, lesson, lessonPath, title, backend, device, chip,
       computeCapability, smCount, driver, runtime, precision, seed, batch,
       iterations, variants, version, commitId, hostname, user, pid,
       processStart, started, ended, started_ns, ended_ns, status, timeSource,
       counters, countersReason, ringDrops, ringWaits, ringWait_ns,
       ringHighWater, writeErrors, writeError, samples_per_s,
       iterationMedian_ns, loss_first, loss_last, accuracy, rank,
       uuid, label, importedFrom, imported, kind, traceState,
       learningRate, lessonLearningRate,
       CASE WHEN backend = 'cuda' AND kind IS NOT 'lab' THEN
         (SELECT CAST(round(median_ns) AS INTEGER) FROM time_sum
          WHERE runId = run.id AND level = 0) END
FROM run
WHERE ?1 IS NULL OR id = ?1
