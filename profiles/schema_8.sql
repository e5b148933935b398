-- profiles/schema_8.sql -- from version 7 of a profile database to version 8:
-- which variant of a step is the fastest, by measuring, and how many threads a
-- run computed with.

-- A step of a network, named by its op, phase and shapes, as one variant did it
-- on a device (src/engine/include/engine/tune.h). Written when a network is opened
-- that has steps without a time; the times of another version are measured again.
CREATE TABLE variant_time (
    backend TEXT NOT NULL,
    device TEXT NOT NULL,
    threads INTEGER NOT NULL,  -- that computed; 0: a GPU's
    precision TEXT NOT NULL,
    step TEXT NOT NULL,
    variant TEXT NOT NULL,
    time_ns REAL,              -- NULL: left out, as it takes too long
    measured TEXT,             -- UTC
    version TEXT,              -- of the program
    PRIMARY KEY (backend, device, threads, precision, step, variant)
) WITHOUT ROWID;

-- Of the pool of a run on the CPU. NULL: recorded before version 8, or a GPU.
ALTER TABLE run ADD COLUMN threads INTEGER;

-- measured: steps that none was chosen for ran the fastest variant; table: what
-- the fixed table has; chosen: one was chosen for every node. NULL: recorded before
-- version 8, or a lab.
ALTER TABLE run ADD COLUMN variantsFrom TEXT;
