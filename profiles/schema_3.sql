-- profiles/schema_3.sql -- from version 2 of a profile database to version 3:
-- what devices can do at best, as the program measured it there.

-- Every measurement is kept; the newest one of a device counts. A device is
-- its uuid; one without (a processor) is its name on its machine.
CREATE TABLE ceiling (
    id INTEGER PRIMARY KEY,
    backend TEXT NOT NULL,  -- cpu, cuda
    device TEXT NOT NULL,
    uuid TEXT,
    hostname TEXT,
    name TEXT NOT NULL,     -- copy, fp32, tf32, bf16, fp16
    best_per_s REAL,        -- bytes read and written, or FLOPs
    median_per_s REAL,
    worst_per_s REAL,
    repeats INTEGER,
    size INTEGER,           -- bytes copied, or the side of square matrices
    measured TEXT,          -- UTC
    measured_ns INTEGER,
    driver TEXT,
    version TEXT            -- of the program
);

-- Counters are few rows beside the kernels', and are asked for by their run.
CREATE INDEX metric_value_run ON metric_value (runId, stepExec);
