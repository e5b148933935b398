-- profiles/nsys_schema.sql -- the tables of an Nsight Systems SQLite export
-- (schema 3.24.14) that an export of a run has beside those of schema.sql,
-- which it takes over without the columns that are ours
-- (src/store/nsys_schema.cmake), and that reports of nsys ask for:
-- TARGET_INFO_CUDA_DEVICE, by which tools find a GPU's name, PROCESSES and
-- ThreadNames. The ENUM_ tables and StringIds are filled too.
-- Like nsys, the export leaves out what has no rows.

CREATE TABLE TARGET_INFO_CUDA_DEVICE (
    gpuId INTEGER,
    cudaId INTEGER,
    pid INTEGER,
    uuid TEXT,
    numMultiprocessors INTEGER
);
CREATE TABLE PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
CREATE TABLE ThreadNames (nameId INTEGER, priority INTEGER, globalTid INTEGER);
