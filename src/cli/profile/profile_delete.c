/* `profile delete`: removes runs, and `profile vacuum`: gives their room in the
 * file back to the disk. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"
#include "cmd.h"
#include "report/suggest.h"
#include "report/json_line.h"
#include "profile_cmd.h"
#include "store/compare.h"
#include "store/delete.h"
#include "base/format.h"

static enum lab_status print_deleted(const struct lab_options *o, int64_t run,
                                     const struct lab_deleted *d)
{
    if (o->json) {
        json_t *line = lab_json_new("deleted");
        lab_json_int(line, "run", run);
        lab_json_int(line, "steps", d->steps);
        lab_json_int(line, "kernels", d->kernels);
        lab_json_int(line, "rows", d->rows);
        return lab_json_print(line);
    }
    if (printf("deleted run %lld: %lld steps, %lld kernels, %lld rows in all\n",
               (long long)run, (long long)d->steps, (long long)d->kernels,
               (long long)d->rows) < 0)
        return lab_fail(LAB_E_IO, "cannot write the output");
    return LAB_OK;
}

/* The file keeps its size: SQLite fills the room with what comes next. */
static enum lab_status print_free(const struct lab_options *o,
                                  struct lab_database *db)
{
    char bytes[32];
    int64_t room;
    struct lab_str command;
    enum lab_status st = lab_database_free_bytes(db, &room);
    if (st || room == 0 || o->json)
        return st;
    lab_str_init(&command);
    lab_suggest_command(&command, o->db, LAB_WORDS("profile", "vacuum"));
    if (printf("%s of the file are free for new runs; `%s` gives them back to "
               "the disk\n",
               lab_format_bytes((double)room, bytes, sizeof(bytes)),
               lab_str_text(&command)) < 0)
        st = lab_fail(LAB_E_IO, "cannot write the output");
    lab_str_release(&command);
    return st;
}

struct named {
    int64_t run;
    struct lab_str names; /* its baselines: "a, b" */
};

static bool add_name(void *user, const char *name, int64_t run)
{
    struct named *n = user;
    if (run == n->run)
        lab_str_addf(&n->names, "%s%s", n->names.len ? ", " : "", name);
    return true;
}

/* A baseline goes with its run: said, since its name is used elsewhere. */
static enum lab_status delete_run(const struct lab_options *o,
                                  struct lab_database *db, int64_t run)
{
    struct lab_deleted deleted;
    struct named named = {.run = run};
    lab_str_init(&named.names);
    enum lab_status st = lab_baseline_list(db, add_name, &named);
    if (st == LAB_OK)
        st = lab_run_delete(db, run, &deleted);
    if (st == LAB_OK)
        st = print_deleted(o, run, &deleted);
    if (st == LAB_OK && named.names.len)
        lab_warn("run %lld was the baseline %s: that name is gone too",
                 (long long)run, lab_str_text(&named.names));
    lab_str_release(&named.names);
    return st;
}

/* All of them, each once, before the first is gone: a wrong word deletes
 * nothing, and `last` means the same for all. */
static enum lab_status find_runs(const struct lab_options *o,
                                 struct lab_database *db, int64_t *runs, int *n)
{
    enum lab_status st = LAB_OK;
    *n = 0;
    for (int i = 0; i < o->n_words && st == LAB_OK; i++) {
        int before = 0;
        st = lab_profile_find_run(db, o->words[i], &runs[*n]);
        if (st == LAB_OK)
            st = lab_profile_check_run(db, runs[*n]);
        while (st == LAB_OK && before < *n && runs[before] != runs[*n])
            before++;
        *n += st == LAB_OK && before == *n;
    }
    return st;
}

enum lab_status lab_profile_delete(const struct lab_options *o,
                                   struct lab_database *db)
{
    int n = 0;
    int64_t *runs = lab_alloc_array((size_t)o->n_words + 1, sizeof(*runs));
    if (!runs)
        return lab_no_memory("a list of runs");
    enum lab_status st = find_runs(o, db, runs, &n);
    for (int i = 0; i < n && st == LAB_OK; i++)
        st = delete_run(o, db, runs[i]);
    lab_free(runs);
    return st == LAB_OK ? print_free(o, db) : st;
}

static enum lab_status count_file(struct lab_database *db, int64_t *bytes)
{
    struct stat file;
    if (stat(lab_database_path(db), &file))
        return lab_fail(LAB_E_IO, "%s: %s", lab_database_path(db),
                        strerror(errno));
    *bytes = (int64_t)file.st_size;
    return LAB_OK;
}

enum lab_status lab_profile_vacuum(const struct lab_options *o,
                                   struct lab_database *db)
{
    char was[32];
    char is[32];
    int64_t before;
    int64_t after;
    enum lab_status st = count_file(db, &before);
    if (st == LAB_OK)
        st = lab_database_vacuum(db);
    if (st == LAB_OK)
        st = count_file(db, &after);
    if (st)
        return st;
    if (o->json) {
        json_t *line = lab_json_new("vacuum");
        lab_json_int(line, "before_bytes", before);
        lab_json_int(line, "after_bytes", after);
        return lab_json_print(line);
    }
    lab_format_bytes((double)before, was, sizeof(was));
    lab_format_bytes((double)after, is, sizeof(is));
    return printf("the file was %s and is %s\n", was, is) < 0
               ? lab_fail(LAB_E_IO, "cannot write the output")
               : LAB_OK;
}
