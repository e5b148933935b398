-- profiles/schema_10.sql -- from version 9 of a profile database to version 10:
-- what a run took of a GPU, and its energy. memoryPeak_bytes and utilization_pct of
-- version 9 now have a GPU's, too: the most memory in use on the device, and the mean
-- share of time in which a kernel ran, as NVML reports them.

-- Of the device (a CPU's packages), with what other programs took of it, from the
-- network's opening to the run's end. NULL: not known, or recorded before version 10.
ALTER TABLE run ADD COLUMN energy_j REAL;
-- Of one iteration, from the shapes. NULL: as above, or a lab.
ALTER TABLE run ADD COLUMN iteration_flop REAL;
