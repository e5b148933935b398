-- profiles/schema_11.sql -- from version 10 of a profile database to version 11:
-- the ideas of a lab's rungs, the variants of a sweep's points, by which times a run's
-- variants were chosen, and the energy of its iterations.

-- The rung's, as the lab's table and screen show it. NULL: recorded before version 11.
ALTER TABLE lab_row ADD COLUMN idea TEXT;

-- As in run: "fc1=vector", '' where every step ran the readable variant; and measured,
-- table or chosen. NULL: recorded before version 11, or the network did not open.
ALTER TABLE sweep_row ADD COLUMN variants TEXT;
ALTER TABLE sweep_row ADD COLUMN variantsFrom TEXT;

-- A step of a run that none was chosen for, and that ran the fastest variant by
-- measuring: as its run was opened. Steps of a node and phase that do the same, those of
-- several time steps, have one row.
CREATE TABLE choice (
    runId INTEGER NOT NULL,
    place INTEGER NOT NULL,  -- from 0, in the order of an iteration
    step TEXT,               -- fc1.matmul; of a group its node, fc1
    node TEXT,
    phaseName TEXT,          -- forward, backward ...
    variant TEXT,
    steps INTEGER,           -- of the network, that the variant does in one
    time_ns REAL,            -- of all of them
    nextVariant TEXT,        -- the fastest of the others; NULL: none has a time
    next_ns REAL,
    PRIMARY KEY (runId, place)
) WITHOUT ROWID;

-- Energy by a counter over the iterations after the second alone: how many, and their
-- time, evaluations left out. NULL: recorded before version 11, or no counter.
ALTER TABLE run ADD COLUMN warmIterations INTEGER;
ALTER TABLE run ADD COLUMN warm_ns INTEGER;
ALTER TABLE run ADD COLUMN warmEnergy_j REAL; -- NULL, too: less than 1 s
