#!/usr/bin/env python3
"""finish.py FILE: makes a database of runs one that ships. make.sh calls it.

Paths of lessons lie below the data, and serial numbers of GPUs are gone. A lesson's run
keeps the kernels, copies, calls, ranges and steps of its first KEEP iterations, so that
two are neither the first nor the one that is counted, nothing of the evaluation behind
them, and at most LOSSES losses, besides those with an accuracy. A lab's keeps the steps
of as many repeats, and kernels, copies and counters of the executions that its rows name;
one with more than MANY kernels those of executions with up to FEW. The times of all
iterations and repeats stay as they are in time_sum.
"""
import sqlite3
import sys

KEEP = {False: 3, True: 4}  # iterations to look at, without or with counters
MANY, FEW = 20000, 200  # kernels of a lab, of one execution
LOSSES = 1024  # as many as a screen reads of a run
EVENTS = ("CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
          "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "CUPTI_ACTIVITY_KIND_RUNTIME",
          "NVTX_EVENTS")
d = sqlite3.connect(sys.argv[1], isolation_level=None)
d.execute("BEGIN")
# Lessons are found below the data, wherever that is; these runs are the file's
# own, from wherever they were merged.
d.execute("""UPDATE run SET lessonPath =
             substr(lessonPath, instr(lessonPath, 'lessons/'))
             WHERE instr(lessonPath, 'lessons/') > 0""")
d.execute("""UPDATE sweep_row SET reason =
             substr(reason, instr(reason, 'lessons/'))
             WHERE instr(reason, '/lessons/') > 0""")
# Lessons whose data do not ship have nothing to show in a sweep of all.
d.execute("DELETE FROM sweep_row WHERE reason LIKE '%: has no file %'")
d.execute("UPDATE run SET importedFrom = NULL, imported = NULL")
# Which of the GPUs it was is still known; their serial numbers are their owner's. So
# files are merged first and finished then: two finished ones have the same numbers for
# other GPUs.
gpus = [u for (u,) in d.execute("""SELECT uuid FROM TARGET_INFO_GPU UNION
        SELECT uuid FROM ceiling UNION SELECT uuid FROM lab_tuned""") if u]
for n, uuid in enumerate(sorted(gpus), 1):
    for table in "TARGET_INFO_GPU", "ceiling", "lab_tuned":
        d.execute(f"UPDATE {table} SET uuid = ? WHERE uuid = ?",
                  (f"GPU-00000000-0000-0000-0000-{n:012d}", uuid))

# What a lesson's run keeps ends where the next iteration begins, or with its last one.
d.execute(f"""CREATE TEMP TABLE limits AS SELECT id AS runId, kind,
              iif(counters IN ('basic', 'full'), {KEEP[True]}, {KEEP[False]}) AS keep
              FROM run""")
d.execute("CREATE UNIQUE INDEX temp.limits_run ON limits (runId)")
d.execute("""CREATE TEMP TABLE late AS SELECT runId,
             coalesce(min(start) FILTER (WHERE n > keep), max(end)) AS start FROM (SELECT
             t.runId, t.start, t.end, keep, row_number() OVER (PARTITION BY t.runId
             ORDER BY t.start) AS n FROM NVTX_EVENTS AS t JOIN limits USING (runId)
             WHERE category = 1 AND kind = 'lesson') GROUP BY runId""")
# The executions of a lab with a kernel that is looked at.
d.execute(f"""CREATE TEMP TABLE much AS SELECT runId, stepExec FROM op_kernel AS o
              JOIN limits USING (runId) WHERE kind = 'lab'
              GROUP BY runId, stepExec HAVING count(*) > {FEW} AND (SELECT count(*)
              FROM op_kernel AS k WHERE k.runId = o.runId) > {MANY}""")
d.execute("""UPDATE lab_row SET tracedExec = NULL
             WHERE (runId, tracedExec) IN (SELECT runId, stepExec FROM much)""")
d.execute("""CREATE TEMP TABLE kept AS
             SELECT runId, exec FROM step JOIN limits USING (runId)
             WHERE kind = 'lesson' AND iteration < keep
             UNION SELECT runId, tracedExec FROM lab_row WHERE tracedExec IS NOT NULL""")
d.execute("CREATE UNIQUE INDEX temp.kept_exec ON kept (runId, exec)")
d.execute("CREATE UNIQUE INDEX temp.late_run ON late (runId)")
GONE = """NOT EXISTS (SELECT 1 FROM kept WHERE kept.runId = t.runId
          AND kept.exec = t.stepExec)"""
d.execute(f"""DELETE FROM step AS t WHERE {GONE.replace("stepExec", "exec")} AND
              iteration >= (SELECT keep FROM limits WHERE limits.runId = t.runId)""")
# A lesson's kernels of no step (values read back) go by their time, as its copies do.
d.execute(f"""DELETE FROM op_kernel AS t WHERE {GONE} AND NOT (ifnull(stepExec, -1) < 0
              AND ifnull((SELECT k.start FROM CUPTI_ACTIVITY_KIND_KERNEL AS k
              WHERE k.kernelRow = t.kernelRow) <
              (SELECT start FROM late WHERE late.runId = t.runId), 0))""")
for table in "op_memory", "metric_value":
    d.execute(f"DELETE FROM {table} AS t WHERE {GONE}")
d.execute("""DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL
             WHERE kernelRow NOT IN (SELECT kernelRow FROM op_kernel)""")
for table in EVENTS:
    d.execute(f"""DELETE FROM {table} AS t WHERE start >= (SELECT start FROM late
                  WHERE late.runId = t.runId)""")
LABS = "runId IN (SELECT runId FROM limits WHERE kind = 'lab')"
for row, table in ("memcpyRow", EVENTS[0]), ("memsetRow", EVENTS[1]):
    d.execute(f"""DELETE FROM {table} WHERE {LABS} AND {row} NOT IN
                  (SELECT {row} FROM op_memory WHERE {row} IS NOT NULL)""")
# They list kernels that are gone; few are left, and read as fast without.
for table in "kernel_zone", "kernel_zone_name":
    d.execute(f"DELETE FROM {table}")
d.execute(f"""CREATE TEMP TABLE thin AS SELECT runId, max(iteration) AS last,
              (max(iteration) + {LOSSES}) / {LOSSES} AS every FROM loss GROUP BY runId""")
d.execute("CREATE UNIQUE INDEX temp.thin_run ON thin (runId)")
d.execute("""DELETE FROM loss WHERE accuracy IS NULL AND heldLoss IS NULL AND EXISTS
             (SELECT 1 FROM thin WHERE thin.runId = loss.runId AND every > 1
             AND iteration % every != 0 AND iteration != last)""")
d.execute("COMMIT")
d.execute("PRAGMA journal_mode = DELETE")
d.execute("VACUUM")
