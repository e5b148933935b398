/* The times of variants: kept, read back, and what is damaged or of another
 * device, number of threads or version of the program is not handed out. */
#include "test.h"

#include <math.h>

#include "store/variant_times.h"
#include "store_samples.h"

enum { MOST = 8 };
struct read {
    int n;
    char step[MOST][32];
    char variant[MOST][32];
    double ns[MOST];
    struct lab_variant_times_left left;
};

static const struct lab_variant_time_of here = {"cpu", "EPYC", "fp32", 2};

static enum lab_status see(void *user, const struct lab_variant_time *t)
{
    struct read *r = user;
    assert_true(r->n < MOST);
    snprintf(r->step[r->n], sizeof(r->step[0]), "%s", t->step);
    snprintf(r->variant[r->n], sizeof(r->variant[0]), "%s", t->variant);
    r->ns[r->n++] = t->ns;
    return LAB_OK;
}

static struct read read_of(const struct lab_variant_time_of *of)
{
    struct read r = {.n = 0};
    struct lab_database *db;
    assert_ok(lab_database_open(&db, sample_path("runs.db"), NULL));
    assert_ok(lab_variant_times_read(db, of, see, &r, &r.left));
    lab_database_close(db);
    return r;
}

static void keep(const struct lab_variant_time_of *of,
                 const struct lab_variant_time *times, size_t n)
{
    struct lab_database *db;
    assert_ok(lab_database_open(&db, sample_path("runs.db"), NULL));
    assert_ok(lab_variant_times_keep(db, of, times, n));
    lab_database_close(db);
}

TEST_CASE_WITH(times_come_back, NULL, sample_cleanup)
{
    static const struct lab_variant_time times[] = {
        {"relu 2", "naive", NAN},
        {"dense 1", "vector", 1.0 / 3},
        {"dense 1", "blas", 7e12},
        {"relu 2", "vector", 1}};
    keep(&here, times, 4);
    struct read r = read_of(&here);
    assert_int_equal(r.n, 4);
    assert_string_equal(r.step[0], "dense 1");
    assert_string_equal(r.variant[0], "blas");
    assert_true(r.ns[0] == 7e12 && r.ns[1] == 1.0 / 3 && r.ns[3] == 1);
    assert_true(isnan(r.ns[2]));
    assert_int_equal(r.left.damaged + r.left.foreign, 0);
    /* the newest time counts */
    keep(&here, &(struct lab_variant_time){"dense 1", "blas", 5}, 1);
    r = read_of(&here);
    assert_true(r.n == 4 && r.ns[0] == 5);
}

TEST_CASE_WITH(each_device_has_its_own, NULL, sample_cleanup)
{
    const struct lab_variant_time one = {"dense 1", "blas", 5};
    const struct lab_variant_time_of others[] = {{"cuda", "EPYC", "fp32", 2},
                                                 {"cpu", "Xeon", "fp32", 2},
                                                 {"cpu", "EPYC", "bf16", 2},
                                                 {"cpu", "EPYC", "fp32", 1}};
    struct lab_database *db;
    int64_t n = -1;
    keep(&here, &one, 1);
    for (int i = 0; i < 4; i++)
        assert_int_equal(read_of(&others[i]).n, 0);
    keep(&others[2], &one, 1);
    assert_ok(lab_database_open(&db, sample_path("runs.db"), NULL));
    assert_ok(lab_variant_times_count(db, &here, &n));
    assert_int_equal(n, 1);
    const struct lab_variant_time_of all = {"cpu", "EPYC", NULL, 2};
    assert_ok(lab_variant_times_count(db, &all, &n));
    assert_int_equal(n, 2);
    assert_ok(lab_variant_times_count(db, &others[3], &n));
    assert_int_equal(n, 0);
    lab_database_close(db);
}

SAMPLE_CASE(what_is_damaged_is_left_out)
{
    static const struct lab_variant_time times[] = {
        {"a", "1", 1}, {"b", "1", 1}, {"c", "1", 1},
        {"d", "1", 1}, {"e", "1", 1}, {"f", "1", 1},
        {"g", "1", 1}, {"h", "1", 1}, {"i", "1", 1}};
    keep(&here, times, 9);
    sample_sql(path,
               "UPDATE variant_time SET time_ns = -1 WHERE step = 'a';"
               "UPDATE variant_time SET time_ns = 9e999 WHERE step = 'b';"
               "UPDATE variant_time SET time_ns = 'x' WHERE step = 'c';"
               "UPDATE variant_time SET variant = '' WHERE step = 'd';"
               "UPDATE variant_time SET version = '0' WHERE step = 'e';"
               "UPDATE variant_time SET version = NULL WHERE step = 'f';"
               "UPDATE variant_time SET time_ns = 0 WHERE step = 'h';"
               "UPDATE variant_time SET time_ns = 8.64e13 WHERE step = 'i'");
    struct read r = read_of(&here);
    assert_int_equal(r.n, 1);
    assert_string_equal(r.step[0], "g");
    assert_int_equal(r.left.damaged, 6);
    assert_int_equal(r.left.foreign, 2);
    /* and goes when something is kept */
    keep(&here, &times[1], 1);
    r = read_of(&here);
    assert_int_equal(r.n, 2);
    assert_int_equal(r.left.damaged + r.left.foreign, 0);
    assert_rows(path, 2, "variant_time");
}

/* Of no precision, or no number of threads: counted, and deleted when something is kept;
 * another precision and the times of a GPU stay. */
SAMPLE_CASE(what_has_no_precision_is_counted)
{
    static const struct lab_variant_time times[] = {
        {"a", "1", 1}, {"b", "1", 1}, {"c", "1", 1}, {"d", "1", 1},
        {"e", "1", 1}, {"f", "1", 1}, {"g", "1", 1}};
    const struct lab_variant_time_of known = {"cpu", "EPYC", "fp32", 2,
                                              "fp32,tf32,bf16"};
    keep(&known, times, 7);
    sample_sql(path,
               "UPDATE variant_time SET precision = 'zz' WHERE step = 'a';"
               "UPDATE variant_time SET precision = -5 WHERE step = 'b';"
               "UPDATE variant_time SET precision = '' WHERE step = 'c';"
               "UPDATE variant_time SET threads = -5 WHERE step = 'd';"
               "UPDATE variant_time SET threads = 'x' WHERE step = 'e';"
               "UPDATE variant_time SET precision = 'tf32' WHERE step = 'f'");
    struct read r = read_of(&known);
    assert_int_equal(r.n, 1);
    assert_int_equal(r.left.unknown, 5);
    assert_int_equal(r.left.damaged + r.left.foreign + r.left.threads, 0);
    assert_int_equal(read_of(&here).left.unknown, 2); /* of threads alone */
    keep(&known, &times[0], 1);
    assert_int_equal(read_of(&known).left.unknown, 0);
    assert_rows(path, 3, "variant_time");
}

/* A table that is gone, or lacks a column, is an error where it is read, and made where
 * something is kept. */
SAMPLE_CASE(a_damaged_table_is_made_anew)
{
    static const char *const harm[] = {
        "DROP TABLE variant_time",
        "ALTER TABLE variant_time DROP COLUMN version",
        "DROP TABLE variant_time; CREATE TABLE variant_time (step)"};
    const struct lab_variant_time one = {"a", "1", 1};
    for (size_t i = 0; i < sizeof(harm) / sizeof(harm[0]); i++) {
        struct read r = {.n = 0};
        struct lab_database *db;
        keep(&here, &one, 1);
        sample_sql(path, harm[i]);
        assert_ok(lab_database_open(&db, path, NULL));
        assert_int_equal(lab_variant_times_read(db, &here, see, &r, &r.left),
                         LAB_E_DB);
        lab_database_close(db);
        keep(&here, &one, 1);
        assert_int_equal(read_of(&here).n, 1);
    }
}

/* A variant that is not there any more: its row goes with the next that are kept. */
TEST_CASE_WITH(what_is_gone_is_deleted, NULL, sample_cleanup)
{
    const struct lab_variant_time times[] = {{"a", "1", 1}, {"a", "2", 2}};
    const struct lab_variant_time then[] = {{"b", "1", 3},
                                            {"a", "2", NAN, true}};
    keep(&here, times, 2);
    keep(&here, then, 2);
    struct read r = read_of(&here);
    assert_int_equal(r.n, 2);
    assert_string_equal(r.step[0], "a");
    assert_string_equal(r.variant[0], "1");
    assert_string_equal(r.step[1], "b");
}

/* Where there are none for this number of threads, another that has some. */
TEST_CASE_WITH(another_number_of_threads_is_named, NULL, sample_cleanup)
{
    const struct lab_variant_time one = {"a", "1", 1};
    const struct lab_variant_time_of four = {"cpu", "EPYC", "fp32", 4};
    const struct lab_variant_time_of other = {"cpu", "Xeon", "fp32", 4};
    keep(&here, &one, 1);
    assert_int_equal(read_of(&four).left.threads, 2);
    assert_int_equal(read_of(&here).left.threads, 0);
    assert_int_equal(read_of(&other).left.threads, 0);
    sample_sql(sample_path("runs.db"), "UPDATE variant_time SET version = '0'");
    assert_int_equal(read_of(&four).left.threads, 0);
}

/* The program that has this version may measure by another rule than it did. */
TEST_CASE_WITH(the_rule_is_a_part_of_the_version, NULL, sample_cleanup)
{
    const struct lab_variant_time one = {"a", "1", NAN};
    keep(&here, &one, 1);
    assert_int_equal(read_of(&here).left.foreign, 0);
    sample_sql(sample_path("runs.db"),
               "UPDATE variant_time SET version = substr(version, 1, "
               "instr(version, ' rule ') - 1)");
    assert_int_equal(read_of(&here).left.foreign, 1);
}

SAMPLE_CASE(all_are_kept_or_none)
{
    static const struct lab_variant_time times[] = {{"a", "1", 1},
                                                    {NULL, "1", 1}};
    struct lab_database *db;
    assert_ok(lab_database_open(&db, path, NULL));
    assert_int_equal(lab_variant_times_keep(db, &here, times, 2), LAB_E_DB);
    assert_ok(lab_variant_times_keep(db, &here, times, 1));
    lab_database_close(db);
    assert_rows(path, 1, "variant_time");
}

RUN_TESTS()
