#!/usr/bin/env python3
"""finish.py FILE: makes a database of runs one that ships. make.sh calls it.

Paths of lessons lie below the data, and serial numbers of GPUs are gone. A lesson's run
keeps the kernels, copies, calls, ranges and steps of its first KEEP iterations, of which
the last takes what the others of the run do, and nothing after them. A lab's keeps the
steps of as many repeats, and kernels, copies and counters of the executions that its rows
name; one with more than MANY kernels those of executions with up to FEW. The times of all
iterations and repeats stay as they are in time_sum, and all losses. A file that is
finished stays as it is.
"""
import sqlite3
import sys

# Iterations to look at. On an H200 the second takes 6 times the median of its run, the
# third 1.8 times, the fourth 0.99 (67 runs without counters).
KEEP = 4
MANY, FEW = 20000, 200  # kernels of a lab, of one execution
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

# What a lesson's run keeps ends with its last iteration that is kept.
d.execute(f"""CREATE TEMP TABLE late AS SELECT runId, max(end) AS start FROM (SELECT
              runId, end, row_number() OVER (PARTITION BY runId ORDER BY start) AS n
              FROM NVTX_EVENTS WHERE category = 1 AND runId IN
              (SELECT id FROM run WHERE kind = 'lesson')) WHERE n <= {KEEP}
              GROUP BY runId""")
d.execute("CREATE UNIQUE INDEX temp.late_run ON late (runId)")
LABS = "runId IN (SELECT id FROM run WHERE kind = 'lab')"
# The executions of a lab with a kernel that is looked at.
d.execute(f"""CREATE TEMP TABLE much AS SELECT runId, stepExec FROM op_kernel AS o
              WHERE {LABS} GROUP BY runId, stepExec HAVING count(*) > {FEW}
              AND (SELECT count(*) FROM op_kernel AS k WHERE k.runId = o.runId) > {MANY}""")
d.execute("""UPDATE lab_row SET tracedExec = NULL
             WHERE (runId, tracedExec) IN (SELECT runId, stepExec FROM much)""")
d.execute(f"""CREATE TEMP TABLE kept AS
             SELECT runId, exec FROM step WHERE NOT {LABS} AND iteration < {KEEP}
             UNION SELECT runId, tracedExec FROM lab_row WHERE tracedExec IS NOT NULL""")
d.execute("CREATE UNIQUE INDEX temp.kept_exec ON kept (runId, exec)")
GONE = """NOT EXISTS (SELECT 1 FROM kept WHERE kept.runId = t.runId
          AND kept.exec = t.stepExec)"""
d.execute(f"""DELETE FROM step AS t WHERE {GONE.replace("stepExec", "exec")} AND
              iteration >= {KEEP}""")
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
for row, table in ("memcpyRow", EVENTS[0]), ("memsetRow", EVENTS[1]):
    d.execute(f"""DELETE FROM {table} WHERE {LABS} AND {row} NOT IN
                  (SELECT {row} FROM op_memory WHERE {row} IS NOT NULL)""")
# They list kernels that are gone; few are left, and read as fast without.
for table in "kernel_zone", "kernel_zone_name":
    d.execute(f"DELETE FROM {table}")
d.execute("COMMIT")
d.execute("PRAGMA journal_mode = DELETE")
d.execute("VACUUM")
