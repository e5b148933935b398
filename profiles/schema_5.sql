-- profiles/schema_5.sql -- from version 4 of a profile database to version 5:
-- what a run is, what a rung said of itself and which kernels it ran, the
-- winners of tuning, and what was measured of a lesson at several sizes.

-- lesson: a network was walked or trained. lab: kernels of one operation, or a
-- lesson at several sizes. NULL: another tool's run.
ALTER TABLE run ADD COLUMN kind TEXT;
UPDATE run SET kind = CASE WHEN id IN (SELECT runId FROM lab_row) THEN 'lab'
                           ELSE 'lesson' END
WHERE lesson IS NOT NULL OR importedFrom IS NULL;

ALTER TABLE lab_row ADD COLUMN note TEXT;
ALTER TABLE lab_row ADD COLUMN workspace_bytes INTEGER; -- beside the tensors
-- step.exec of the launch that was traced after the times were taken: its rows
-- of op_kernel are the rung's kernels. NULL: not traced.
ALTER TABLE lab_row ADD COLUMN tracedExec INTEGER;

-- The fastest candidate of a family of kernels on a device. Every tuning is
-- kept, and the newest one counts. A device is its uuid; one without (a
-- processor) is its name on its machine.
CREATE TABLE lab_tuned (
    id INTEGER PRIMARY KEY,
    backend TEXT NOT NULL,
    device TEXT NOT NULL,
    uuid TEXT,
    hostname TEXT,
    lab TEXT NOT NULL,       -- gemm
    sizeClass TEXT NOT NULL, -- which sizes it counts for
    precision TEXT NOT NULL,
    candidate TEXT NOT NULL, -- 128x128x16
    size TEXT,               -- that was measured
    median_ns REAL,
    rate REAL,
    unit TEXT,
    candidates INTEGER,      -- that were compared
    runId INTEGER,           -- which run measured it, when it is still there
    measured TEXT,           -- UTC
    measured_ns INTEGER,
    driver TEXT,
    version TEXT             -- of the program
);

-- A lesson at several sizes: a row for each place of the sweep.
CREATE TABLE sweep_row (
    runId INTEGER NOT NULL,
    place INTEGER NOT NULL,  -- from 0, as they were measured
    sweep TEXT,              -- batch-size, network-size, products, backward
    lesson TEXT,
    backend TEXT,
    name TEXT,               -- of a row that stands for no number
    x REAL,                  -- the batch, the width
    status TEXT,             -- done; else why there is nothing
    reason TEXT,
    iterations INTEGER,
    samples INTEGER,
    median_ns REAL,          -- of an iteration, or of the row's part of it
    quarter_ns REAL,
    threeQuarters_ns REAL,
    samples_per_s REAL,
    memory_bytes INTEGER,
    parameters INTEGER,
    flop REAL,
    loss REAL,               -- after as many samples as the others
    lossIterations REAL,     -- after as many iterations as the others
    share REAL,              -- of the whole, 0 to 1
    PRIMARY KEY (runId, place)
) WITHOUT ROWID;

-- What somebody expected of a lab's rungs before they were measured. rung
-- "best": of the fastest one; size NULL: of every size.
CREATE TABLE lab_said (
    runId INTEGER NOT NULL,
    place INTEGER NOT NULL,
    rung TEXT,
    precision TEXT,          -- NULL: any
    size TEXT,
    rate REAL,               -- in the lab's unit
    time_ns REAL,            -- of one call
    bound TEXT,              -- memory, arithmetic, latency
    occupancy_pct REAL,
    PRIMARY KEY (runId, place)
) WITHOUT ROWID;
