/* store_sql.h -- the texts of profiles/, built into the program. */
#pragma once

/* Step i takes version i to version i + 1; a new database runs them all. The first is
 * lab_sql_schema. Never edit a step that has been released: add one. */
struct lab_migration {
    const char *sql;
};
extern const struct lab_migration lab_sql_migrations[];
extern const int lab_sql_migration_count;
/* The oldest version that is read as it is, and what gives a connection that only
 * reads, from that version on, the columns of later ones: temporary views. */
extern const int lab_sql_oldest_read;
extern const char *const lab_sql_readings[];

extern const char lab_sql_schema[];
extern const char lab_sql_nsys_schema[];
extern const char lab_devices_csv[];
extern const char lab_sql_kernels[];
extern const char lab_sql_kernel_times[];
extern const char lab_sql_delete_run[];
extern const char lab_sql_timeline_passes[];
extern const char lab_sql_timeline_whole[];
extern const char lab_sql_timeline_steps[];
extern const char lab_sql_timeline_ranges[];
extern const char lab_sql_timeline_calls[];
extern const char lab_sql_timeline_launches[];
extern const char lab_sql_timeline_kernels[];
extern const char lab_sql_timeline_copies[];
extern const char lab_sql_timeline_sets[];
extern const char lab_sql_timeline_memory[];
extern const char lab_sql_export_windows[];
extern const char lab_sql_run_base[];
extern const char lab_sql_trace[];
extern const char lab_sql_contents[];
