-- profiles/queries/reading_8.sql -- a database of version 8 where it is only read:
-- its tables with the columns of versions 9 and 10 (profiles/schema_9.sql,
-- schema_10.sql), which are NULL.
PRAGMA temp_store = MEMORY;
CREATE TEMP VIEW run AS
SELECT *, NULL AS optimizer, NULL AS rateSchedule, NULL AS validation,
    NULL AS earlyStop, NULL AS memoryPeak_bytes, NULL AS utilization_pct,
    NULL AS energy_j, NULL AS iteration_flop
FROM main.run;
CREATE TEMP VIEW loss AS
SELECT *, NULL AS heldLoss, NULL AS learningRate FROM main.loss;
