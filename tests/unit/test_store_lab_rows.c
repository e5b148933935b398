/* Rows of labs: stored, read as they were, unknown stays unknown, gone with
 * their run, and copied with it. */
#include "test.h"

#include "base/str.h"
#include "store/lab_names.h"
#include "store/bench.h"
#include "store/choice.h"
#include "store/contents.h"
#include "store/delete.h"
#include "store/row_fields.h"
#include "store/tuned.h"
#include "store_samples.h"

static struct lab_bench_result row_of(int64_t place)
{
    return (struct lab_bench_result){.place = place,
                                     .lab = "gemm",
                                     .size = "33x20x10",
                                     .variant = "naive",
                                     .precision = "fp32",
                                     .status = "done",
                                     .unit = "FLOP/s",
                                     .repeats = 21,
                                     .flush_bytes = 1 << 20,
                                     .min_ns = 1.5,
                                     .median_ns = 2.5,
                                     .rate = 5.25e9,
                                     .rate_predicted = NAN,
                                     .gain = NAN,
                                     .power_w = 300.5,
                                     .note = "algorithm 3",
                                     .idea = "a thread an element",
                                     .error = 2.5e-18,
                                     .workspace_bytes = 1 << 22,
                                     .traced_exec = LAB_UNKNOWN};
}

struct seen {
    int n;
    int stop_after;
};

static bool see(void *user, const struct lab_bench_result *row)
{
    struct seen *s = user;
    assert_int_equal(row->place, s->n);
    assert_string_equal(row->lab, "gemm");
    assert_string_equal(row->size, "33x20x10");
    assert_string_equal(row->variant, "naive");
    assert_string_equal(row->unit, "FLOP/s");
    assert_null(row->reason);
    assert_int_equal(row->repeats, 21);
    assert_int_equal(row->flush_bytes, 1 << 20);
    assert_true(row->min_ns == 1.5 && row->median_ns == 2.5);
    assert_string_equal(row->note, "algorithm 3");
    assert_string_equal(row->idea, "a thread an element");
    assert_int_equal(row->workspace_bytes, 1 << 22);
    assert_int_equal(row->traced_exec, LAB_UNKNOWN);
    assert_true(row->error == 2.5e-18);
    assert_true(row->rate == 5.25e9 && row->power_w == 300.5);
    assert_true(isnan(row->rate_predicted) && isnan(row->gain));
    s->n++;
    return s->n != s->stop_after;
}

static struct lab_database *filled(const char *path, int64_t *run)
{
    struct lab_database *db = NULL;
    assert_ok(sample_run(path, 2, 2, run));
    assert_ok(lab_database_open(&db, path, NULL));
    for (int i = 0; i < 3; i++) {
        struct lab_bench_result row = row_of(i);
        assert_ok(lab_bench_result_add(db, *run, &row));
    }
    return db;
}

TEST_CASE(there_and_back)
{
    int64_t run = 0;
    struct seen seen = {0};
    struct lab_database *db = filled(sample_path("labs.db"), &run);
    assert_ok(lab_bench_results_read(db, run, see, &seen));
    assert_int_equal(seen.n, 3);
    seen = (struct seen){.stop_after = 2};
    assert_ok(lab_bench_results_read(db, run, see, &seen));
    assert_int_equal(seen.n, 2);
    struct lab_bench_result again = row_of(0); /* the place is taken */
    assert_int_equal(lab_bench_result_add(db, run, &again), LAB_E_DB);
    assert_int_equal(lab_bench_result_add(db, run + 1, &again), LAB_E_NOTFOUND);
    assert_int_equal(lab_bench_results_read(db, run + 1, see, &seen),
                     LAB_E_NOTFOUND);
    lab_database_close(db);
    assert_rows(sample_path("labs.db"), 3,
                "lab_row WHERE reason IS NULL AND gain IS NULL");
}

TEST_CASE(gone_with_their_run)
{
    int64_t run = 0;
    struct lab_deleted deleted;
    struct lab_database *db = filled(sample_path("gone.db"), &run);
    assert_ok(lab_run_delete(db, run, &deleted));
    lab_database_close(db);
    assert_rows(sample_path("gone.db"), 0, "lab_row");
}

TEST_CASE(traced_rows)
{
    int64_t run = 0;
    struct lab_database *db = filled(sample_path("traced.db"), &run);
    assert_ok(lab_bench_result_traced(db, run, 1, 77));
    assert_int_equal(lab_bench_result_traced(db, run, 9, 77), LAB_E_NOTFOUND);
    lab_database_close(db);
    assert_sql(sample_path("traced.db"), 77,
               "SELECT tracedExec FROM lab_row WHERE place = 1");
    assert_rows(sample_path("traced.db"), 2,
                "lab_row WHERE tracedExec IS NULL");
}

/* ---- names ---- */

static void named(const struct lab_bench_names *n, int64_t index,
                  const char *variant, const char *name)
{
    const struct lab_bench_name *found = lab_bench_name_find(n, index);
    if (!found)
        fail_msg("step %lld has no name", (long long)index);
    assert_string_equal(found->variant, variant);
    assert_string_equal(found->name, name);
}

/* Execution 4 is the second iteration's step 1: here a traced launch. */
TEST_CASE(names_of_variants)
{
    int64_t run = 0;
    struct lab_bench_names n;
    const char *path = sample_path("names.db");
    struct lab_database *db = filled(path, &run);
    sample_sql(path, "UPDATE lab_row SET ceilingCopy_B_s = 4e12;"
                     "UPDATE step SET stepIndex = 8 WHERE exec = 4;"
                     "UPDATE lab_row SET rung = 'mma', tracedExec = 4 "
                     "WHERE place = 1");
    assert_ok(lab_bench_names_load(&n, db, run));
    assert_int_equal(n.count, 4);
    assert_true(n.copy_bytes_s == 4e12 && n.fp32_flop_s == 0);
    named(&n, 0, "naive", "naive 33x20x10"); /* one precision: not named */
    named(&n, 1, "mma", "mma 33x20x10");
    named(&n, 8, "mma", "mma 33x20x10, traced");
    lab_bench_names_say_precision(&n);
    named(&n, 8, "mma", "mma fp32 33x20x10, traced");
    assert_string_equal(lab_bench_name_find(&n, 8)->own,
                        "mma 33x20x10, traced");
    assert_null(lab_bench_name_find(&n, 7));
    lab_bench_names_release(&n);
    /* several precisions, an execution that is gone, a row without texts */
    sample_sql(path, "UPDATE lab_row SET precision = 'bf16' WHERE place = 1;"
                     "UPDATE lab_row SET tracedExec = 99 WHERE place = 0;"
                     "UPDATE lab_row SET rung = NULL, size = NULL, precision = "
                     "NULL WHERE place = 2");
    assert_ok(lab_bench_names_load(&n, db, run));
    assert_int_equal(n.count, 4);
    named(&n, 0, "naive", "naive fp32 33x20x10");
    named(&n, 8, "mma", "mma bf16 33x20x10, traced");
    assert_string_equal(lab_bench_name_find(&n, 8)->problem, "bf16 33x20x10");
    assert_string_equal(lab_bench_name_find(&n, 8)->precision, "bf16");
    assert_string_equal(lab_bench_name_find(&n, 8)->size, "33x20x10");
    assert_false(lab_bench_name_is(lab_bench_name_find(&n, 1),
                                   lab_bench_name_find(&n, 8)));
    assert_string_equal(lab_bench_name_find(&n, 2)->precision, "");
    assert_string_equal(lab_bench_name_text(lab_bench_name_find(&n, 8), "step"),
                        "mma bf16 33x20x10, traced");
    assert_string_equal(lab_bench_name_text(lab_bench_name_find(&n, 7), "step"),
                        "step");
    lab_bench_names_release(&n);
    assert_int_equal(lab_bench_names_load(&n, db, run + 1), LAB_E_NOTFOUND);
    /* not a lab's */
    sample_sql(path, "DELETE FROM lab_row");
    assert_ok(lab_bench_names_load(&n, db, run));
    assert_null(lab_bench_name_find(&n, 0));
    assert_true(isnan(n.copy_bytes_s));
    lab_bench_names_release(&n);
    lab_database_close(db);
}

/* A name that is too long ends with a whole character. */
TEST_CASE(long_names_of_variants)
{
    int64_t run = 0;
    struct lab_bench_names n;
    const char *path = sample_path("long.db");
    struct lab_database *db = filled(path, &run);
    for (int i = 0; i < 3; i++) {
        char sql[200];
        snprintf(sql, sizeof(sql),
                 "UPDATE lab_row SET rung = substr('xy', 1, %d) || "
                 "replace(hex(zeroblob(40)), '00', '\xE2\x82\xAC')",
                 i);
        sample_sql(path, sql);
        sample_sql(path, "UPDATE lab_row SET size = rung, precision = rung");
        assert_ok(lab_bench_names_load(&n, db, run));
        const struct lab_bench_name *name = lab_bench_name_find(&n, 0);
        assert_non_null(name);
        assert_int_equal(strlen(name->variant), i + 3 * ((63 - i) / 3));
        assert_int_equal(strlen(name->precision), i + 3 * ((15 - i) / 3));
        assert_int_equal(lab_utf8_check(name->name, strlen(name->name)),
                         (size_t)-1);
        lab_bench_names_release(&n);
    }
    lab_database_close(db);
}

/* A file may lack any number, and may be read in vain. */
TEST_CASE(names_of_what_is_not_there)
{
    int64_t run = 0;
    struct lab_bench_names n = {.count = 99};
    const char *path = sample_path("unnamed.db");
    struct lab_database *db = filled(path, &run);
    sample_sql(path, "UPDATE lab_row SET rung = 'mma', tracedExec = 4 WHERE "
                     "place = 1;"
                     "UPDATE step SET stepIndex = NULL WHERE exec = 4;"
                     "ALTER TABLE lab_row RENAME TO rows;"
                     "CREATE TABLE lab_row AS SELECT * FROM rows;"
                     "UPDATE lab_row SET place = NULL, precision = 'bf16' "
                     "WHERE place = 2");
    assert_ok(lab_bench_names_load(&n, db, run));
    assert_int_equal(n.count, 2);
    named(&n, 0, "naive", "naive 33x20x10"); /* not the traced variant's */
    named(&n, 1, "mma", "mma 33x20x10");
    assert_null(lab_bench_name_find(&n, LAB_UNKNOWN));
    lab_bench_names_release(&n);
    n.count = 99;
    sample_sql(path, "ALTER TABLE step RENAME TO steps;"
                     "CREATE VIEW step AS SELECT runId, exec, "
                     "abs(-0x7FFFFFFFFFFFFFFF - 1) AS stepIndex FROM steps");
    assert_int_equal(lab_bench_names_load(&n, db, run), LAB_E_DB);
    assert_int_equal(n.count, 99); /* untouched */
    lab_database_close(db);
}

/* ---- winners ---- */

static struct lab_tuned_row winner(const char *uuid, const char *host,
                                   const char *candidate, int64_t moment)
{
    return (struct lab_tuned_row){.backend = "cuda",
                                  .device = "a GPU",
                                  .uuid = uuid,
                                  .hostname = host,
                                  .lab = "gemm",
                                  .size_class = "~1024",
                                  .precision = "fp32",
                                  .candidate = candidate,
                                  .median_ns = 5,
                                  .rate = NAN,
                                  .candidates = 12,
                                  .run = LAB_UNKNOWN,
                                  .measured_ns = moment};
}

static void find_winner(struct lab_database *db, const char *uuid,
                        const char *host, const char *size_class,
                        const char *wanted)
{
    struct lab_ceiling_device d = {.backend = "cuda", .device = "a GPU"};
    struct lab_tuned_key key = {&d, "gemm", size_class, "fp32"};
    struct lab_tuned_found found;
    strcpy(d.uuid, uuid);
    strcpy(d.hostname, host);
    assert_ok(lab_tuned_find(db, &key, &found));
    assert_string_equal(found.candidate, wanted);
}

static bool count_winner(void *user, const struct lab_tuned_row *r)
{
    assert_string_equal(r->lab, "gemm");
    assert_true(isnan(r->rate));
    ++*(int *)user;
    return true;
}

/* The newest one of this very device counts. */
TEST_CASE(winners_of_a_device)
{
    struct lab_database *db = NULL;
    const struct lab_tuned_row rows[] = {
        winner("u1", "h1", "old", 10), winner("u1", "h1", "new", 30),
        winner("u1", "h1", "late in, early measured", 20),
        winner("u2", "h1", "other", 40), winner(NULL, "h1", "processor", 5)};
    int n = 0;
    assert_ok(lab_database_open(&db, sample_path("won.db"), NULL));
    find_winner(db, "u1", "h1", "~1024", "");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_ok(lab_tuned_add(db, &rows[i]));
    find_winner(db, "u1", "elsewhere", "~1024", "new");
    find_winner(db, "u2", "h1", "~1024", "other");
    find_winner(db, "u3", "h1", "~1024", "");
    find_winner(db, "u1", "h1", "~2048", "");
    find_winner(db, "", "h1", "~1024", "processor");
    find_winner(db, "", "h2", "~1024", "");
    assert_ok(lab_tuned_list(db, count_winner, &n));
    assert_int_equal(n, 3);
    lab_database_close(db);
}

/* ---- sweeps ---- */

static bool see_sweep(void *user, const struct lab_sweep_row *r)
{
    int *n = user;
    assert_int_equal(r->place, *n);
    assert_string_equal(r->sweep, "batch-size");
    assert_string_equal(r->reason, "no room");
    assert_null(r->name);
    assert_string_equal(r->variants, "fc1=vector");
    assert_string_equal(r->variants_from, "measured");
    assert_true(r->x == 64 && r->loss == 0.5 && isnan(r->share));
    assert_int_equal(r->memory_bytes, 4096);
    assert_int_equal(r->parameters, LAB_UNKNOWN);
    ++*n;
    return true;
}

TEST_CASE(sweeps_there_and_back)
{
    int64_t run = 0;
    int n = 0;
    struct lab_deleted deleted;
    struct lab_database *db = filled(sample_path("sweep.db"), &run);
    for (int i = 0; i < 3; i++) {
        const struct lab_sweep_row row = {.place = i,
                                          .sweep = "batch-size",
                                          .reason = "no room",
                                          .variants = "fc1=vector",
                                          .variants_from = "measured",
                                          .x = 64,
                                          .loss = 0.5,
                                          .share = NAN,
                                          .memory_bytes = 4096,
                                          .parameters = LAB_UNKNOWN};
        assert_ok(lab_sweep_row_add(db, run, &row));
        assert_int_equal(lab_sweep_row_add(db, run + 1, &row), LAB_E_NOTFOUND);
    }
    assert_ok(lab_sweep_rows_read(db, run, see_sweep, &n));
    assert_int_equal(n, 3);
    assert_ok(lab_run_delete(db, run, &deleted));
    lab_database_close(db);
    assert_rows(sample_path("sweep.db"), 0, "sweep_row");
}

/* ---- why variants were chosen ---- */

struct choices {
    const struct lab_choice_row *list;
    int n;
};

static bool see_choice(void *user, const struct lab_choice_row *r)
{
    struct choices *c = user;
    const struct lab_choice_row *is = &c->list[c->n++];
    assert_int_equal(r->place, is->place);
    assert_string_equal(r->step, is->step);
    assert_string_equal(r->node, "fc1");
    assert_string_equal(r->phase, "forward");
    assert_string_equal(r->variant, is->variant);
    assert_int_equal(r->steps, is->steps);
    assert_true(r->time_ns == is->time_ns);
    assert_true(is->next ? r->next_ns == is->next_ns : isnan(r->next_ns));
    if (is->next)
        assert_string_equal(r->next, is->next);
    else
        assert_null(r->next);
    return true;
}

static const char *why(const struct lab_choice_row *row, char *out, size_t cap)
{
    const struct lab_field *f = lab_field_at(&lab_choice_row_fields, 5);
    assert_string_equal(f->title, "why");
    return lab_field_text(f, row, out, cap);
}

/* They come with the run's row, and go with it. */
TEST_CASE(choices_there_and_back)
{
    static const struct lab_choice_row rows[] = {
        {0, "fc1.matmul", "fc1", "forward", "blas", 1, 1000, "vector", 2500},
        {1, "fc1.bias", "fc1", "forward", "vector", 1, 1000, "naive", 990},
        {2, "fc1", "fc1", "forward", "fused", 3, 1000, "naive", 500},
        {3, "fc1.relu", "fc1", "forward", "naive", 1, 70, NULL, NAN},
        {4, "fc1.bias", "fc1", "forward", "vector", 1, 1000, "naive", 1004},
        {5, "fc1.matmul", "fc1", "forward", "vector", 1, 1000, "blas", 900},
        {6, "fc1", "fc1", "forward", "fused", 1, 1000, "blas", 900}};
    enum { ROWS = sizeof(rows) / sizeof(rows[0]) };
    static const char *const words[ROWS] = {
        "vector takes 2.50 us, 2.5 times as long",
        "naive takes 990 ns: equal, and this one is preferred",
        "naive takes 500 ns, but this one saves more in the other phase",
        "no other has a time",
        "naive takes 1.00 us: equal, and this one is preferred",
        ("blas takes 900 ns: too near to decide, and this one is the best of "
         "most steps"),
        "blas takes 900 ns, but this one saves more in the other phase"};
    const char *path = sample_path("chosen.db");
    struct lab_run_info info;
    struct lab_run_summary summary;
    struct lab_deleted deleted;
    struct lab_writer *w = NULL;
    struct lab_database *db = NULL;
    struct choices seen = {rows, 0};
    char text[256];
    unsigned has = 0;
    lab_run_info_init(&info);
    lab_run_summary_init(&summary);
    info.choices = rows;
    info.n_choices = ROWS;
    assert_ok(lab_writer_new(&w, path, &info, NULL));
    int64_t run = lab_writer_run(w);
    assert_ok(lab_writer_finish(w, &summary));
    lab_writer_free(w);
    assert_ok(lab_database_open(&db, path, NULL));
    assert_ok(lab_choice_rows_read(db, run, see_choice, &seen));
    assert_int_equal(seen.n, ROWS);
    assert_ok(lab_query_contents(db, run, &has));
    assert_int_equal(has, LAB_HAS_CHOICES);
    for (int i = 0; i < ROWS; i++)
        assert_string_equal(why(&rows[i], text, sizeof(text)), words[i]);
    assert_ok(lab_run_delete(db, run, &deleted));
    lab_database_close(db);
    assert_rows(path, 0, "choice");
}

/* ---- fields ---- */

/* A value of its own for each member. */
static void set_field(void *row, const struct lab_fields *f, int i)
{
    static char texts[64][16];
    void *at = (char *)row + f->list[i].at;
    snprintf(texts[i], sizeof(texts[i]), "text %d", i);
    if (!f->list[i].column)
        return; /* made of other members */
    if (strcmp(f->list[i].column, "runId") == 0)
        *(int64_t *)at = 1;
    else if (f->list[i].kind == LAB_FIELD_INT)
        *(int64_t *)at = 100 + i;
    else if (f->list[i].kind == LAB_FIELD_TEXT)
        *(const char **)at = texts[i];
    else
        *(double *)at = i + 0.5;
}

struct expected {
    const struct lab_fields *fields;
    const void *row;
    int n;
};

static bool see_fields(void *user, const void *row)
{
    struct expected *e = user;
    for (int i = 0; i < e->fields->count; i++) {
        const struct lab_field *f = &e->fields->list[i];
        const void *is = (const char *)row + f->at;
        const void *was = (const char *)e->row + f->at;
        if (!f->column)
            continue;
        if (f->kind == LAB_FIELD_TEXT)
            assert_string_equal(*(const char *const *)is,
                                *(const char *const *)was);
        else
            assert_memory_equal(is, was, 8);
    }
    e->n++;
    return true;
}

/* Each member is written to and read from its own column, and each column of
 * the table has a member. */
TEST_CASE(every_column_is_a_member)
{
    static const struct lab_fields *const all[] = {
        &lab_bench_result_fields, &lab_sweep_row_fields, &lab_prediction_fields,
        &lab_tuned_row_fields, &lab_choice_row_fields};
    const char *path = sample_path("fields.db");
    struct lab_database *db;
    assert_ok(sample_run(path, 1, 1, NULL));
    assert_ok(lab_database_open(&db, path, NULL));
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
        const struct lab_fields *f = all[k];
        char sql[160];
        bool own = f == &lab_tuned_row_fields;
        int columns = 0;
        void *row = test_malloc(f->row_bytes);
        struct expected e = {f, row, 0};
        for (int i = 0; i < f->count; i++) {
            set_field(row, f, i);
            columns += f->list[i].column != NULL;
        }
        assert_ok(lab_fields_add(db, own ? LAB_UNKNOWN : 1, f, row));
        assert_ok(lab_fields_read(db, 1, f, see_fields, &e));
        assert_int_equal(e.n, 1);
        snprintf(sql, sizeof(sql),
                 "SELECT count(*) FROM pragma_table_info('%s') WHERE name NOT "
                 "IN ('id', 'runId')",
                 f->table);
        assert_sql(path, columns - own, sql);
        test_free(row);
    }
    lab_database_close(db);
}

TEST_CASE(work_for_power)
{
    struct lab_bench_result r;
    lab_bench_result_init(&r);
    assert_true(isnan(lab_bench_flop_per_j(&r)));
    r.power_w = 500;
    r.median_ns = 2e6;
    assert_true(isnan(lab_bench_flop_per_j(&r)));
    r.flop = 4e9; /* in two milliseconds, of a joule */
    assert_true(fabs(lab_bench_flop_per_j(&r) - 4e9) < 1);
    r.power_w = NAN;
    assert_true(isnan(lab_bench_flop_per_j(&r)));
}

RUN_TESTS_IN(NULL, sample_cleanup)
