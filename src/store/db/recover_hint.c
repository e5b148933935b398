/* Databases that are damaged: whether one is, and what can be saved of it. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/shell.h"
#include "store_priv.h"

int lab_database_schema_of(const char *path)
{
    enum { VERSION_AT = 60 };
    unsigned char v[4] = {0};
    int newest = lab_database_schema_version();
    FILE *f = fopen(path, "rb");
    bool read = f && fseek(f, VERSION_AT, SEEK_SET) == 0 &&
                fread(v, 1, sizeof(v), f) == sizeof(v);
    if (f)
        fclose(f);
    bool likely = read && !v[0] && !v[1] && !v[2] && v[3] && v[3] <= newest;
    return likely ? v[3] : newest;
}

/* .recover would find more, but needs a shell that was built with it: Debian
 * 12's answers "SQL logic error" to every file. .dump gives up a table where it
 * is damaged, and ends with ROLLBACK then. */
void lab_database_recover_hint(struct lab_str *out, const char *path)
{
    struct lab_str saved;
    lab_str_init(&saved);
    lab_str_addf(&saved, "%s.saved", path);
    lab_str_add(out, "save what is left with `sqlite3 ");
    lab_shell_add_word(out, path, true);
    lab_str_addf(out,
                 " .dump | sed 's/^ROLLBACK.*/COMMIT;/' | sqlite3 -cmd 'PRAGMA "
                 "application_id=%d' -cmd 'PRAGMA user_version=%d' ",
                 LAB_APPLICATION_ID, lab_database_schema_of(path));
    lab_shell_add_word(out, lab_str_text(&saved), true);
    lab_str_add(out, "`, or name another file with --db FILE");
    lab_str_release(&saved);
}

/* The first thing that SQLite complains of, without the line above it that
 * names the schema ("*** in database src ***"). */
static void first_complaint(const char *text, char *out, size_t size)
{
    while (strncmp(text, "***", 3) == 0 && strchr(text, '\n'))
        text = strchr(text, '\n') + 1;
    snprintf(out, size, "%.*s", (int)strcspn(text, "\n"), text);
}

enum lab_status lab_database_integrity(struct lab_database *db,
                                       const char *pragma, const char *path,
                                       const char *other)
{
    char complaint[200] = "no memory to say where";
    struct lab_str instead;
    sqlite3_stmt *stmt;
    enum lab_status st = lab_database_prepare(db, pragma, &stmt);
    if (st)
        return st;
    int rc = sqlite3_step(stmt);
    const char *text =
        rc == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    bool whole = text && strcmp(text, "ok") == 0;
    if (text)
        first_complaint(text, complaint, sizeof(complaint));
    if (rc != SQLITE_ROW)
        st = lab_database_error(db, "checking it");
    sqlite3_finalize(stmt);
    if (st || whole)
        return st;
    lab_str_init(&instead);
    if (other)
        lab_str_add(&instead, other);
    else
        lab_database_recover_hint(&instead, path);
    st = lab_fail(LAB_E_DB, "%s: damaged (%s); %s", path, complaint,
                  lab_str_text(&instead));
    lab_str_release(&instead);
    return st;
}

enum lab_status lab_database_check(struct lab_database *db)
{
    return lab_database_integrity(db, "PRAGMA integrity_check(1)", db->path,
                                  NULL);
}

enum lab_status lab_database_check_most(struct lab_database *db,
                                        int64_t most_bytes, bool *checked)
{
    struct stat info;
    *checked = stat(db->path, &info) == 0 && info.st_size <= most_bytes;
    return *checked ? lab_database_integrity(db, "PRAGMA quick_check(1)",
                                             db->path, NULL)
                    : LAB_OK;
}
