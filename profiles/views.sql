-- profiles/views.sql -- readable views of a profile database.
--
-- They are TEMP: made for one connection, nothing is written to the file. A file
-- of schema 5 and later (PRAGMA user_version) has them all. In the sqlite3 shell:
--
--     sqlite3 -readonly FILE
--     .read profiles/views.sql
--     SELECT * FROM kernel_view WHERE run = 12 ORDER BY time_ns DESC LIMIT 10;
--
-- Times and moments are nanoseconds. Unknown is NULL.

-- A run: wall time of an iteration beside the time of its steps on the GPU.
CREATE TEMP VIEW run_view AS
SELECT r.id AS run, r.kind, r.lesson, r.backend, r.device, r.precision,
       r.batch, r.iterations, r.variants, r.status, r.started,
       r.iterationMedian_ns AS wall_ns,
       (SELECT t.median_ns FROM main.time_sum AS t
        WHERE t.runId = r.id AND t.level = 0 AND r.backend = 'cuda'
        LIMIT 1) AS gpu_ns,
       r.samples_per_s, r.loss_last, r.accuracy
FROM main.run AS r;

-- One execution of one step.
CREATE TEMP VIEW step_view AS
SELECT s.runId AS run, s.exec, s.iteration, s.stepIndex AS place,
       phase.name AS phase, name.value AS step, node.value AS node,
       op.value AS op, variant.value AS variant, s.start_ns, s.end_ns,
       s.time_ns, s.kernelCount AS kernels, s.flop, s.bytes,
       s.flop / s.time_ns AS gflop_per_s, s.bytes / s.time_ns AS gbyte_per_s
FROM main.step AS s
LEFT JOIN main.ENUM_LAB_PHASE AS phase ON phase.id = s.phase
LEFT JOIN main.StringIds AS name ON name.id = s.nameId
LEFT JOIN main.StringIds AS node ON node.id = s.nodeId
LEFT JOIN main.StringIds AS op ON op.id = s.opId
LEFT JOIN main.StringIds AS variant ON variant.id = s.variantId;

-- One launch of a kernel with its step. step NULL: it ran between steps (exec
-- is -1), or its step is not known (exec is NULL).
CREATE TEMP VIEW kernel_view AS
SELECT o.runId AS run, o.kernelRow AS kernel_row, o.stepExec AS exec,
       s.iteration, phase.name AS phase, step.value AS step,
       variant.value AS variant, short.value AS kernel,
       long.value AS full_name, k.start, k."end",
       k."end" - k.start AS time_ns, k.deviceId AS device,
       k.streamId AS stream, k.correlationId AS correlation,
       k.gridX, k.gridY, k.gridZ, k.blockX, k.blockY, k.blockZ,
       k.registersPerThread AS registers,
       k.staticSharedMemory + k.dynamicSharedMemory AS shared_bytes,
       o.occupancy_pct,
       (SELECT group_concat(e.name, '+') FROM main.ENUM_LAB_OCCUPANCY_LIMIT AS e
        WHERE o.occupancyLimit & e.id) AS occupancy_limit
FROM main.op_kernel AS o
JOIN main.CUPTI_ACTIVITY_KIND_KERNEL AS k ON k.kernelRow = o.kernelRow
LEFT JOIN main.step AS s ON s.runId = o.runId AND s.exec = o.stepExec
LEFT JOIN main.ENUM_LAB_PHASE AS phase ON phase.id = s.phase
LEFT JOIN main.StringIds AS step ON step.id = s.nameId
LEFT JOIN main.StringIds AS variant ON variant.id = s.variantId
LEFT JOIN main.StringIds AS short ON short.id = k.shortName
LEFT JOIN main.StringIds AS long ON long.id = k.demangledName;

-- The call that launched each kernel. Calls are put in order once, by process
-- and id: a subquery for each kernel would read all of them each time. Of a
-- runtime's call and the driver's under it the one that began first counts.
CREATE TEMP VIEW launch_view AS
WITH call AS MATERIALIZED (
    SELECT runId, correlationId, globalTid >> 24 AS process, min(start) AS start,
           "end", nameId
    FROM main.CUPTI_ACTIVITY_KIND_RUNTIME
    WHERE correlationId IS NOT NULL
    GROUP BY runId, correlationId, process)
SELECT k.runId AS run, k.kernelRow AS kernel_row, short.value AS kernel,
       name.value AS call, call.start AS call_start, k.start AS kernel_start,
       k.start - call.start AS latency_ns, k.start - call."end" AS queue_ns
FROM main.CUPTI_ACTIVITY_KIND_KERNEL AS k
CROSS JOIN call ON call.runId = +k.runId AND call.correlationId = k.correlationId
         AND call.process = k.globalPid >> 24
LEFT JOIN main.StringIds AS name ON name.id = call.nameId
LEFT JOIN main.StringIds AS short ON short.id = k.shortName;

-- When nothing ran on a device: from the end of all before to the next start.
-- `iteration` is that of the kernel that ends the gap; NULL where it is a copy.
CREATE TEMP VIEW gap_view AS
WITH work AS (
    SELECT k.runId, k.deviceId, k.start, k."end", o.stepExec AS exec
    FROM main.CUPTI_ACTIVITY_KIND_KERNEL AS k
    LEFT JOIN main.op_kernel AS o ON o.kernelRow = k.kernelRow
    UNION ALL
    SELECT runId, deviceId, start, "end", NULL
    FROM main.CUPTI_ACTIVITY_KIND_MEMCPY
    UNION ALL
    SELECT runId, deviceId, start, "end", NULL
    FROM main.CUPTI_ACTIVITY_KIND_MEMSET),
timed AS (
    SELECT *, max("end") OVER (PARTITION BY runId, deviceId
                               ORDER BY start, "end"
                               ROWS BETWEEN UNBOUNDED PRECEDING
                                        AND 1 PRECEDING) AS before
    FROM work WHERE start IS NOT NULL AND "end" >= start)
SELECT t.runId AS run, t.deviceId AS device, s.iteration, t.before AS start,
       t.start AS "end", t.start - t.before AS time_ns
FROM timed AS t
LEFT JOIN main.step AS s ON s.runId = t.runId AND s.exec = t.exec
WHERE t.start > t.before;

-- Hardware counters by their names at CUPTI, of each kernel of a step.
CREATE TEMP VIEW counter_view AS
SELECT m.runId AS run, m.stepExec AS exec, s.iteration, step.value AS step,
       m.kernelOrdinal AS kernel_ordinal, metric.value AS metric, m.value,
       m.passes
FROM main.metric_value AS m
LEFT JOIN main.step AS s ON s.runId = m.runId AND s.exec = m.stepExec
LEFT JOIN main.StringIds AS step ON step.id = s.nameId
LEFT JOIN main.StringIds AS metric ON metric.id = m.metricId;
