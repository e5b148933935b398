-- profiles/schema_6.sql -- from version 5 of a profile database to version 6:
-- what a run's times were taken under, and where in a long run its kernels'
-- largest and smallest values are.

-- never: CUPTI was not attached; on; kernels: on, without the host's calls; off:
-- attached and taken off; mixed. NULL: not recorded, or the host.
ALTER TABLE run ADD COLUMN traceState TEXT;

-- The kernels of a long run in the order of their rows, cut into zones: the
-- least and the greatest value of each column that kernels are sorted by
-- (`sort`: enum lab_kernel_sort; occupancy as the bits of its double), and the
-- names that occur in it. Rows of `sort` + 32 have those of 64 zones together; earlier
-- programs made none. Made when the run has ended (src/store/index/index.h).
CREATE TABLE kernel_zone (
    runId INTEGER NOT NULL,
    sort INTEGER NOT NULL,
    kernelRowFirst INTEGER NOT NULL,
    kernelRowLast INTEGER NOT NULL,
    least INTEGER NOT NULL,
    greatest INTEGER NOT NULL,
    PRIMARY KEY (runId, sort, kernelRowFirst)
) WITHOUT ROWID;
CREATE TABLE kernel_zone_name (
    runId INTEGER NOT NULL,
    nameId INTEGER NOT NULL,       -- StringIds
    kernelRowFirst INTEGER NOT NULL,
    PRIMARY KEY (runId, nameId, kernelRowFirst)
) WITHOUT ROWID;
