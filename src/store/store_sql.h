/* store_sql.h -- the texts of profiles/, built into the program. */
#pragma once

extern const char lab_sql_schema[];
extern const char lab_devices_csv[];
extern const char lab_sql_runs[];
extern const char lab_sql_steps[];
extern const char lab_sql_kernels[];
extern const char lab_sql_losses[];
extern const char lab_sql_delete_run[];
