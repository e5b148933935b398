/* `profile list`: the runs, newest first. */
#include <string.h>

#include "cmd.h"
#include "base/format.h"
#include "report/suggest.h"
#include "report/json_line.h"
#include "profile_cmd.h"
#include "profile_json.h"
#include "profile_print.h"
#include "report/text_table.h"
#include "report/variant_words.h"

/* What the callbacks of one query share. */
struct listing {
    struct lab_text_table table;
    bool whose; /* somebody else's runs are among them */
    bool lost;  /* of some run not everything was stored */
    bool first; /* some run had one iteration */
    int64_t rows;
    enum lab_status st; /* of printing */
};

static bool print_run_json(void *user, const struct lab_run_row *r)
{
    struct listing *l = user;
    l->rows++;
    l->st = lab_json_print(lab_profile_run_object(r));
    return l->st == LAB_OK;
}

static bool is_imported(const struct lab_run_row *r)
{
    return r->label || r->imported_from;
}

static bool look_for_others(void *user, const struct lab_run_row *r)
{
    struct listing *l = user;
    l->whose |= is_imported(r);
    return !l->whose;
}

/* As the import was told, else who recorded it and where. */
static void add_whose(struct lab_text_table *t, const struct lab_run_row *r)
{
    if (r->label)
        lab_text_table_add(t, r->label);
    else if (is_imported(r) && r->hostname)
        lab_text_table_addf(t, "%s@%s", r->user ? r->user : LAB_NA,
                            r->hostname);
    else
        lab_text_table_add(t, is_imported(r) ? r->imported_from : "");
}

/* Records of it: the disk was full, the machine too slow. */
static bool has_lost(const struct lab_run_row *r)
{
    return r->ring_drops > 0 || r->write_errors > 0;
}

/* What one iteration took is no median of a run's. */
static void add_median(struct listing *l, const struct lab_run_row *r)
{
    char time[LAB_FORMAT_BYTES];
    if (r->iterations != 1 || r->iteration_median_ns == LAB_UNKNOWN) {
        lab_text_table_add_ns(&l->table, r->iteration_median_ns);
        return;
    }
    l->first = true;
    lab_text_table_addf(
        &l->table, "first: %s",
        lab_format_ns((double)r->iteration_median_ns, time, sizeof(time)));
}

static bool add_run_row(void *user, const struct lab_run_row *r)
{
    struct listing *l = user;
    char variants[LAB_VARIANT_WORDS];
    l->rows++;
    lab_text_table_add_int(&l->table, r->id);
    lab_text_table_add_moment(&l->table, r->started);
    lab_text_table_add(&l->table, r->lesson);
    lab_text_table_add(&l->table, lab_variant_words(r, variants));
    lab_text_table_add(&l->table, r->kind);
    lab_text_table_add(&l->table, r->backend);
    l->lost |= has_lost(r);
    lab_text_table_addf(&l->table, "%s%s", r->status ? r->status : LAB_NA,
                        has_lost(r) ? ", lost" : "");
    lab_text_table_add_int(&l->table, r->iterations);
    add_median(l, r);
    lab_text_table_add_ns(&l->table, r->gpu_ns);
    lab_text_table_add_real(&l->table, r->loss_last, 4);
    lab_text_table_add(&l->table, r->device);
    if (l->whose)
        add_whose(&l->table, r);
    return true;
}

static enum lab_status list_lines(const struct lab_profile_print *p,
                                  struct listing *l)
{
    enum lab_status st = lab_query_runs(p->db, print_run_json, l);
    return st ? st : l->st;
}

/* The words in the table that need a line. */
static enum lab_status explain(const struct lab_profile_print *p,
                               const struct listing *l)
{
    struct lab_str text;
    lab_str_init(&text);
    if (l->first)
        lab_str_add(&text, "first: the wall time of the only iteration; on a "
                           "GPU kernels and libraries are loaded in it\n");
    if (l->lost) {
        lab_str_add(&text, "lost: not all of it was stored; `");
        lab_suggest_command(&text, lab_suggest_db(p->db),
                            LAB_WORDS("profile", "show", "RUN"));
        lab_str_add(&text, "` says how much is missing, and why\n");
    }
    return lab_profile_put(&text, p->ascii);
}

static enum lab_status list_table(const struct lab_profile_print *p,
                                  struct listing *l)
{
    static const char *const heads[] = {
        ">run",    "started (UTC)", "lesson",      "variants", "kind",
        "backend", "status",        ">iterations", ">median",  ">GPU time",
        ">loss",   "device",        "user",        NULL};
    enum { OWN = sizeof(heads) / sizeof(*heads) - 2 }; /* all but "user" */
    const char *own[OWN + 1] = {0};
    memcpy(own, heads, OWN * sizeof(*own));
    enum lab_status st = lab_query_runs(p->db, look_for_others, l);
    if (st)
        return st;
    lab_text_table_init(&l->table, l->whose ? heads : own);
    st = lab_query_runs(p->db, add_run_row, l);
    if (st == LAB_OK && l->rows > 0) {
        st = lab_profile_put_table(&l->table, p->ascii);
        return st || !(l->lost || l->first) ? st : explain(p, l);
    }
    lab_text_table_release(&l->table);
    return st;
}

static void say_none(const struct lab_database *db)
{
    struct lab_str text;
    lab_str_init(&text);
    lab_str_addf(&text, "no run is in %s; ", lab_database_path(db));
    lab_suggest_in_text(&text, db, "`lapenna-lab run LESSON` records one");
    lab_warn("%s", lab_str_text(&text));
    lab_str_release(&text);
}

enum lab_status lab_profile_print_list(const struct lab_profile_print *p)
{
    struct listing l = {.st = LAB_OK};
    enum lab_status st = p->json ? list_lines(p, &l) : list_table(p, &l);
    if (st == LAB_OK && l.rows == 0)
        say_none(p->db);
    return st;
}
