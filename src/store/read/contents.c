/* contents.c -- which kinds of rows a run has. */
#include "store/contents.h"

#include "db/row.h"

enum lab_status lab_query_contents(struct lab_database *db, int64_t run,
                                   unsigned *out)
{
    sqlite3_stmt *stmt;
    unsigned bits = 0;
    enum lab_status st = lab_query_require_run(db, run);
    if (st == LAB_OK)
        st = lab_database_prepare(db, lab_sql_contents, &stmt);
    if (st)
        return st;
    sqlite3_bind_int64(stmt, 1, run);
    int rc = sqlite3_step(stmt);
    for (int i = 0; i < LAB_CONTENTS && rc == SQLITE_ROW; i++)
        bits |= sqlite3_column_int(stmt, i) ? 1u << i : 0;
    st = lab_query_end(db, stmt, rc);
    if (st == LAB_OK)
        *out = bits;
    return st;
}
