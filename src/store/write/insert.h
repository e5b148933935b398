/* insert.h -- records into rows; the writer's thread only. */
#pragma once
#include "store/writer.h"
#include "db/store_priv.h"

enum lab_insert_table {
    LAB_INTO_STEP,
    LAB_INTO_KERNEL,
    LAB_INTO_OP_KERNEL,
    LAB_INTO_MEMCPY,
    LAB_INTO_MEMSET,
    LAB_INTO_OP_MEMORY,
    LAB_INTO_API,
    LAB_INTO_SYNC,
    LAB_INTO_RANGE,
    LAB_INTO_OVERHEAD,
    LAB_INTO_LOSS,
    LAB_INTO_METRIC,
    LAB_INTO_COUNT
};

/* Rows are inserted 32 at a time: one statement for 32 costs about half of 32
 * statements of one row. What is left over goes one by one. */
enum { LAB_BULK = 32 };

struct lab_bulk_row {
    struct lab_record record;
    int64_t row; /* the rowid it shall have, where the table has a named one */
};

struct lab_bulk {
    sqlite3_stmt *many;
    sqlite3_stmt *one;
    int count;
    struct lab_bulk_row rows[LAB_BULK];
};

/* What the kernels of one execution add up to, until its step row has it. */
struct lab_exec_sum {
    int64_t exec;
    int64_t time_ns; /* LAB_UNKNOWN: one of them has no time */
    int64_t count;   /* 0: a free place */
    int64_t first_row;
    int64_t last_row;
};

struct lab_exec_sums {
    struct lab_exec_sum *place; /* open addressing by exec */
    size_t places;              /* a power of two */
    size_t used;
};

struct lab_insert {
    struct lab_database *db;
    int64_t run;
    int64_t global_pid;
    struct lab_bulk bulk[LAB_INTO_COUNT];
    int64_t *string_ids; /* by intern id; 0: not known yet */
    size_t n_string_ids;
    sqlite3_stmt *find_string;
    sqlite3_stmt *add_string;
    sqlite3_stmt *add_sum;
    sqlite3_stmt *last_row[3]; /* kernel, memcpy, memset */
    int64_t next_row[3];
    int64_t first_kernel_row; /* of the run; 0: none yet */
    int64_t last_kernel_row;
    bool range_seen;
    bool step_seen;
    struct lab_exec_sums sums;
};

/* `in` must not move afterwards. Release also after a failure. */
enum lab_status lab_insert_init(struct lab_insert *in, struct lab_database *db,
                                int64_t run);
void lab_insert_release(struct lab_insert *in);
/* Begins a transaction; the rowids that follow are then ours. */
enum lab_status lab_insert_begin(struct lab_insert *in);
enum lab_status lab_insert_record(struct lab_insert *in,
                                  const struct lab_record *record);
/* Writes the rows that wait for their 32. */
enum lab_status lab_insert_drain(struct lab_insert *in);
/* Gives steps the times of their kernels. After lab_insert_drain(). */
enum lab_status lab_insert_sums(struct lab_insert *in);
enum lab_status lab_insert_commit(struct lab_insert *in);

/* The row of `run` and what hangs on it. */
enum lab_status lab_run_row_begin(struct lab_database *db,
                                  const struct lab_run_info *info,
                                  int64_t *run);
struct lab_run_end {
    const struct lab_run_summary *summary;
    const struct lab_writer_state *state;
    int64_t first_kernel_row; /* 0: no kernels */
    int64_t last_kernel_row;
};
enum lab_status lab_run_row_end(struct lab_database *db, int64_t run,
                                const struct lab_run_end *end);
