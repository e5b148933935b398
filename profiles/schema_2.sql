-- profiles/schema_2.sql -- from version 1 of a profile database to version 2:
-- who a run is, wherever it is copied to; named baselines; and what the times
-- of a run add up to, so that lists and comparisons need not read every row.

-- The same run has the same uuid in every database. Runs of version 1 get one
-- that every copy of theirs gets too.
ALTER TABLE run ADD COLUMN uuid TEXT;
ALTER TABLE run ADD COLUMN label TEXT;        -- whose it is, said at an import
ALTER TABLE run ADD COLUMN importedFrom TEXT; -- the file's name
ALTER TABLE run ADD COLUMN imported TEXT;     -- UTC
ALTER TABLE run ADD COLUMN summed INTEGER;    -- 1: time_sum holds its times
UPDATE run SET uuid = printf('v1-%x-%x-%x-%x', started_ns, pid, processStart,
                             id);
-- A run that has ended without kernels has them between 1 and 0; NULL means
-- that nobody has said.
UPDATE run SET kernelRowFirst = 1, kernelRowLast = 0
WHERE kernelRowFirst IS NULL AND status IN ('done', 'cancelled', 'failed');
CREATE UNIQUE INDEX run_uuid ON run (uuid);

CREATE TABLE baseline (
    name TEXT NOT NULL PRIMARY KEY,
    runId INTEGER NOT NULL
) WITHOUT ROWID;

-- The times of a run, put together when it ends, a row for each of
--   0 the iteration, 1 a phase of it, 2 a node in a phase (times of complete
--   iterations: the sums of their steps),
--   3 a step (its executions with one variant), 4 a kernel in a step.
-- What differs between the launches of a kernel is NULL. Of a long run also
--   5 the list of its iterations, packed (src/store/index/index.h). Older
--   programs stored more at level 6, which is not read.
CREATE TABLE time_sum (
    runId INTEGER NOT NULL,
    place INTEGER NOT NULL,     -- from 0
    level INTEGER NOT NULL,
    stepIndex INTEGER,
    phase INTEGER,              -- ENUM_LAB_PHASE
    nameId INTEGER,             -- StringIds, of the step
    nodeId INTEGER,
    opId INTEGER,
    variantId INTEGER,
    backendId INTEGER,
    timeSource INTEGER,         -- ENUM_LAB_TIME_SOURCE
    demangledName INTEGER,      -- StringIds, of the kernel
    shortName INTEGER,
    count INTEGER NOT NULL,     -- executions or launches
    timed INTEGER NOT NULL,     -- of these, with a time
    total_ns INTEGER,
    min_ns INTEGER,
    max_ns INTEGER,
    quarter_ns REAL,            -- a quarter of the times is below
    median_ns REAL,
    threeQuarters_ns REAL,
    mad_ns REAL,                -- median distance from the median
    flop REAL,                  -- of one execution
    bytes REAL,
    kernels INTEGER,            -- of the last execution
    gridX INTEGER,
    gridY INTEGER,
    gridZ INTEGER,
    blockX INTEGER,
    blockY INTEGER,
    blockZ INTEGER,
    registersPerThread INTEGER,
    shared_bytes INTEGER,       -- static and dynamic
    occupancy_pct REAL,
    occupancyLimit INTEGER,
    times BLOB,                 -- the distribution: src/store/sums/rank_test.c
    PRIMARY KEY (runId, place)
) WITHOUT ROWID;
