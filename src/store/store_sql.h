/* store_sql.h -- the texts of profiles/, built into the program. */
#pragma once

extern const char lab_sql_schema[];
extern const char lab_devices_csv[];
extern const char lab_sql_runs[];
extern const char lab_sql_steps[];
extern const char lab_sql_kernels[];
extern const char lab_sql_losses[];
extern const char lab_sql_delete_run[];
extern const char lab_sql_timeline_passes[];
extern const char lab_sql_timeline_steps[];
extern const char lab_sql_timeline_ranges[];
extern const char lab_sql_timeline_calls[];
extern const char lab_sql_timeline_launches[];
extern const char lab_sql_timeline_kernels[];
extern const char lab_sql_timeline_copies[];
extern const char lab_sql_timeline_sets[];
extern const char lab_sql_timeline_memory[];
