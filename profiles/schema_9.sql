-- profiles/schema_9.sql -- from version 8 of a profile database to version 9:
-- how a run was trained, and what it took of the machine. A program of this version
-- reads databases of version 8 as they are.

-- NULL: recorded before version 9, or a lab; or not known.
ALTER TABLE run ADD COLUMN optimizer TEXT;       -- sgd, adam ...
-- "cosine over 100, warm-up 10"; "constant".
ALTER TABLE run ADD COLUMN rateSchedule TEXT;
ALTER TABLE run ADD COLUMN validation REAL;      -- share of the samples, 0 to 1
ALTER TABLE run ADD COLUMN earlyStop INTEGER;    -- evaluations; 0: none ends it
-- The most that the process had in memory until the run's end; on the CPU.
ALTER TABLE run ADD COLUMN memoryPeak_bytes INTEGER;
-- Processor time over wall time and threads; on the CPU.
ALTER TABLE run ADD COLUMN utilization_pct REAL;

-- Of the rows that are held back, for validation where there are such; NULL: not
-- evaluated here.
ALTER TABLE loss ADD COLUMN heldLoss REAL;
-- Of the iteration's update: a schedule and the stepper's `lr` change it.
ALTER TABLE loss ADD COLUMN learningRate REAL;
