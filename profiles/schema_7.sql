-- profiles/schema_7.sql -- from version 6 of a profile database to version 7:
-- the learning rate of a run.

-- Of the optimizer that ran, and of the lesson as it was then: they differ where
-- --lr or the stepper's `lr` set another. NULL: recorded before version 7, or
-- nothing is updated (a lab, a lesson without parameters).
ALTER TABLE run ADD COLUMN learningRate REAL;
ALTER TABLE run ADD COLUMN lessonLearningRate REAL;

-- Values that no earlier version writes, in columns of schema.sql:
-- op_kernel.stepExec -1: the kernel ran between steps (values read back, an
-- evaluation); NULL is still: no step is known.
-- NVTX_EVENTS.category 5: the range of an evaluation.
