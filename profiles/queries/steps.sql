-- Every execution of every step of run ?1, in the order of their numbers. The
-- program adds them up by step (median and spread need every time).
SELECT s.stepIndex, s.phase, s.nameId, s.variantId, s.backendId, s.nodeId,
       s.opId, s.timeSource, s.time_ns, s.flop, s.bytes, s.kernelCount
FROM step AS s
WHERE s.runId = ?1
