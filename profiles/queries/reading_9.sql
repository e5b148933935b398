-- profiles/queries/reading_9.sql -- a database of version 9 where it is only read:
-- its table with the columns of version 10 (profiles/schema_10.sql), which are NULL.
PRAGMA temp_store = MEMORY;
CREATE TEMP VIEW run AS
SELECT *, NULL AS energy_j, NULL AS iteration_flop FROM main.run;
