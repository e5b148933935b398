-- profiles/schema_12.sql -- from version 11 of a profile database to version 12:
-- the error of a lab's result, where that is a result too.

-- In the operation's unit: |PA - LU| / (n |A|) of an LU factorisation, as MAGMA's testers
-- print it. NULL: recorded before version 12, or an operation that has none.
ALTER TABLE lab_row ADD COLUMN error REAL;
