-- profiles/schema_6.sql -- from version 5 of a profile database to version 6:
-- what a run's times were taken under, and where in a long run its kernels'
-- largest and smallest values are.

-- never: CUPTI was not attached; on; off: attached and taken off; mixed. NULL:
-- nobody has said, or the host.
ALTER TABLE run ADD COLUMN traceState TEXT;
