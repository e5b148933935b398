/* contents.c -- which kinds of rows a run has.
 *
 * Asked before a command prints, so that a list that is empty comes with its
 * reason (report/missing.h). */
#include "store/contents.h"

#include "db/row.h"

enum lab_status lab_query_contents(struct lab_database *db, int64_t run,
                                   unsigned *out)
{
    struct lab_stmt s = lab_stmt_of_run(db, lab_sql_contents, run);
    unsigned bits = 0;
    if (lab_stmt_next(&s))
        for (int i = 0; i < LAB_CONTENTS; i++)
            bits |= sqlite3_column_int(s.sql, i) ? 1u << i : 0;
    if (!s.st)
        *out = bits;
    return lab_stmt_end(&s);
}
