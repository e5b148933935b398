-- profiles/schema_4.sql -- what the kernel labs measured: a row for each
-- rung and size of a run. The single times are rows of `step` (op: the lab,
-- node: lab and size, variant: the rung), so that lists and comparisons of
-- runs know them too. A run that has rows here is a lab's.

CREATE TABLE lab_row (
    runId INTEGER NOT NULL,
    place INTEGER NOT NULL,  -- from 0, as they were measured
    lab TEXT,                -- gemm
    size TEXT,               -- 4096, 100x20
    rung TEXT,               -- naive
    precision TEXT,
    status TEXT,             -- done; else why there are no times
    reason TEXT,
    check_error REAL,        -- odd shapes: largest error / what is allowed
    sample_error REAL,       -- the same at this size
    repeats INTEGER,
    min_ns REAL,
    quarter_ns REAL,
    median_ns REAL,
    threeQuarters_ns REAL,
    max_ns REAL,
    flop REAL,               -- that the problem needs
    bytes REAL,
    traffic_bytes REAL,      -- that the rung asks for, by its model
    unit TEXT,               -- of the rates: FLOP/s, B/s
    rate REAL,               -- of the median
    rateModel REAL,          -- what the model promises at best
    ratePredicted REAL,      -- what the learner said before
    gain REAL,               -- over the rung before
    gainModel REAL,
    ceilingCopy_B_s REAL,    -- measured in the same run
    ceilingFp32_FLOP_s REAL,
    flush_bytes INTEGER,     -- copied before each repeat, to empty the caches
    smClockBefore_hz REAL,
    smClockAfter_hz REAL,
    memoryClock_hz REAL,
    temperature_c REAL,
    power_w REAL,
    PRIMARY KEY (runId, place)
) WITHOUT ROWID;
