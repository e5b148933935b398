#!/usr/bin/env python3
"""finish.py FILE: makes a database of runs one that ships. make.sh calls it.

Paths of lessons lie below the data, serial numbers of GPUs are gone, and of the
kernels, copies, ranges and steps of a lesson's run those of the first iterations are
left; the times of all its iterations stay as they are in time_sum. A lab keeps no
kernels that belong to no step (those of its comparison with double), and one with more
than MANY keeps those of its executions with up to FEW.
"""
import sqlite3
import sys

KEEP = 4  # iterations to look at
MANY, FEW = 20000, 200  # kernels of a lab, of one execution
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

LESSONS = "runId IN (SELECT id FROM run WHERE kind = 'lesson')"
d.execute("CREATE TEMP TABLE gone AS SELECT runId, exec FROM step "
          f"WHERE iteration >= {KEEP} AND {LESSONS}")
d.execute(f"""CREATE TEMP TABLE late AS SELECT runId, start FROM (SELECT runId,
              start, row_number() OVER (PARTITION BY runId ORDER BY start) n
              FROM NVTX_EVENTS WHERE category = 1 AND {LESSONS})
              WHERE n = {KEEP + 1}""")
d.execute("""DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE kernelRow IN (SELECT
             kernelRow FROM op_kernel WHERE (runId, stepExec) IN gone)""")
for table in "op_kernel", "op_memory", "metric_value":
    d.execute(f"DELETE FROM {table} WHERE (runId, stepExec) IN gone")
d.execute("DELETE FROM step WHERE (runId, exec) IN gone")
for table in ("CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
              "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
              "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"):
    d.execute(f"""DELETE FROM {table} AS t WHERE start >= (SELECT start FROM late
                  WHERE late.runId = t.runId)""")
LABS = "runId IN (SELECT id FROM run WHERE kind = 'lab')"
d.execute(f"""CREATE TEMP TABLE much AS SELECT runId, stepExec FROM op_kernel
              WHERE {LABS} GROUP BY runId, stepExec HAVING stepExec IS NULL
              OR stepExec < 0 OR (count(*) > {FEW} AND (SELECT count(*) FROM
              op_kernel AS k WHERE k.runId = op_kernel.runId) > {MANY})""")
d.execute("""UPDATE lab_row SET tracedExec = NULL
             WHERE (runId, tracedExec) IN much""")
d.execute("""CREATE TEMP TABLE lost AS SELECT kernelRow FROM op_kernel
             WHERE (runId, ifnull(stepExec, -1)) IN
             (SELECT runId, ifnull(stepExec, -1) FROM much)""")
d.execute("""DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL
             WHERE kernelRow IN (SELECT kernelRow FROM lost)""")
d.execute("DELETE FROM op_kernel WHERE kernelRow IN (SELECT kernelRow FROM lost)")
d.execute("""DELETE FROM metric_value WHERE kernelOrdinal IS NOT NULL AND
             (runId, ifnull(stepExec, -1)) IN
             (SELECT runId, ifnull(stepExec, -1) FROM much)""")
d.execute("COMMIT")
d.execute("PRAGMA journal_mode = DELETE")
d.execute("VACUUM")
