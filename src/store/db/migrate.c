#include "store_priv.h"

/* Step i takes version i to version i + 1. A new database runs them all. Never
 * edit a step that has been released: add one. */
static const struct lab_migration migrations[] = {
    {lab_sql_schema},   {lab_sql_schema_2}, {lab_sql_schema_3},
    {lab_sql_schema_4}, {lab_sql_schema_5}, {lab_sql_schema_6},
    {lab_sql_schema_7},
};

const struct lab_migration *lab_database_migrations(int *count)
{
    *count = (int)(sizeof(migrations) / sizeof(migrations[0]));
    return migrations;
}

enum lab_status lab_database_migrate(struct lab_database *db,
                                     const struct lab_migration *steps,
                                     int count)
{
    int64_t version;
    char sql[128];
    enum lab_status st =
        lab_database_int(db, "PRAGMA user_version", 0, &version);
    if (st || version >= count)
        return st;
    st = lab_database_begin(db, "bringing it up to date");
    if (st)
        return st;
    /* Another process may have done it while we waited for the lock. */
    st = lab_database_int(db, "PRAGMA user_version", 0, &version);
    for (; st == LAB_OK && version < count; version++)
        st =
            lab_database_exec(db, steps[version].sql, "bringing it up to date");
    if (st == LAB_OK) {
        sqlite3_snprintf(sizeof(sql), sql,
                         "PRAGMA user_version = %d; PRAGMA application_id = %d",
                         count, LAB_APPLICATION_ID);
        st = lab_database_exec(db, sql, "bringing it up to date");
    }
    if (st == LAB_OK)
        st = lab_database_exec(db, "COMMIT", "bringing it up to date");
    if (st)
        lab_database_rollback(db);
    return st;
}
