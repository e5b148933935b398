/* store_sql.h -- the texts of profiles/, built into the program. */
#pragma once

extern const char lab_sql_schema[];
extern const char lab_sql_schema_2[];
extern const char lab_sql_schema_3[];
extern const char lab_sql_schema_4[];
extern const char lab_sql_schema_5[];
extern const char lab_sql_schema_6[];
extern const char lab_sql_schema_7[];
extern const char lab_sql_schema_8[];
extern const char lab_sql_schema_9[];
extern const char lab_sql_schema_10[];
extern const char lab_sql_reading_8[];
extern const char lab_sql_reading_9[];
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
