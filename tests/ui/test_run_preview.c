/* What the list of runs shows of one small: read from databases that the writer made,
 * and drawn. */
#include "test.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "bench/model.h"
#include "lab_samples.h"
#include "store/bench.h"
#include "store_samples.h"
#include "trace/intern.h"
#include "ui/pager.h"
#include "ui/run_preview.h"

static bool take_run(void *user, const struct lab_run_row *row)
{
    struct lab_run_row *out = user;
    *out = *row;
    out->lesson = lab_intern_text(lab_intern(row->lesson));
    out->kind = row->kind ? lab_intern_text(lab_intern(row->kind)) : NULL;
    out->status = lab_intern_text(lab_intern(row->status));
    return true;
}

static struct lab_run_row row_of(struct lab_database *db, int64_t run)
{
    struct lab_run_row row = {0};
    assert_ok(lab_query_run(db, run, take_run, &row));
    return row;
}

static struct lab_run_preview load(struct lab_database *db, int64_t run)
{
    struct lab_run_preview p = {0};
    const struct lab_run_row row = row_of(db, run);
    assert_ok(lab_run_preview_load(&p, db, &row));
    return p;
}

/* As text; the caller's. */
static char *drawn(struct lab_database *db, int h, int w,
                   const struct lab_preview_picture *p, const char *facts)
{
    struct lab_canvas c;
    struct lab_doc doc;
    struct lab_pager pager;
    struct lab_run_row row = row_of(db, p->of[0]->run);
    struct lab_preview_picture picture = *p;
    lab_doc_init(&doc);
    lab_doc_add(&doc, LAB_ROLE_NORMAL, facts);
    lab_pager_init(&pager, &doc);
    picture.run = &row;
    picture.facts = &pager;
    assert_ok(lab_canvas_init(&c, h, w, false));
    lab_run_preview_draw(&c, (struct lab_rect){0, 0, h, w}, &picture);
    char *text = lab_canvas_dump(&c);
    lab_canvas_release(&c);
    lab_pager_release(&pager);
    lab_doc_release(&doc);
    assert_non_null(text);
    return text;
}

#define assert_shows(text, what)                                               \
    do {                                                                       \
        if (!strstr(text, what))                                               \
            fail_msg("no \"%s\" in:\n%s", what, text);                         \
    } while (0)

/* ---- reading ---- */

SAMPLE_CASE(losses_are_thinned_and_evaluations_are_not_lost)
{
    enum { LOSSES = 5000, EVERY = 500 };
    assert_ok(sample_run(path, 1, 2, NULL));
    sample_sql(path,
               "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n "
               "WHERE i < 4999) INSERT INTO loss(runId, iteration, loss, "
               "accuracy, heldLoss) SELECT 1, i, 1.0 / (1 + i), "
               "CASE WHEN i % 500 = 499 THEN i / 5000.0 END, "
               "CASE WHEN i % 500 = 499 THEN 2.0 * i END FROM n");
    sample_sql(path, "UPDATE run SET validation = 0.2");
    sample_sql(path, "UPDATE loss SET heldLoss = NULL WHERE iteration = 0");
    struct lab_run_preview p = load(sample_database(path), 1);
    assert_true(p.summed && !p.lab && p.run == 1);
    assert_true(p.loss.n > LAB_PREVIEW_POINTS / 2 &&
                p.loss.n <= LAB_PREVIEW_POINTS + 1);
    for (int i = 0; i < p.loss.n; i++)
        assert_float_equal((float)p.loss.value[i],
                           1.0 / (1 + (double)p.loss.iteration[i]), 1e-6);
    assert_int_equal(p.held.n, LOSSES / EVERY);
    assert_int_equal(p.accuracy.n, LOSSES / EVERY);
    for (int i = 0; i < p.held.n; i++) {
        assert_int_equal(p.held.iteration[i], (i + 1) * EVERY - 1);
        assert_true(p.held.value[i] == 2.0 * (double)p.held.iteration[i]);
    }
    lab_run_preview_release(&p);
}

/* A run that was not added up: its steps would be put together from its rows. */
SAMPLE_CASE(a_run_that_was_not_added_up_is_marked)
{
    assert_ok(sample_run(path, 3, 2, NULL));
    sample_sql(path, "UPDATE run SET summed = NULL");
    struct lab_run_preview p = load(sample_database(path), 1);
    assert_false(p.summed);
    assert_int_equal(p.loss.n, 3);
    assert_int_equal(p.held.n, 0);
    lab_run_preview_release(&p);
}

SAMPLE_CASE(a_damaged_run_leaves_nothing_behind)
{
    struct lab_run_preview p = {0};
    assert_ok(sample_run(path, 3, 2, NULL));
    struct lab_run_row row = row_of(sample_database(path), 1);
    sample_sql(path, "DROP TABLE loss");
    struct lab_database *db = sample_open(path);
    assert_int_equal(lab_run_preview_load(&p, db, &row), LAB_E_DB);
    assert_true(p.run == 0 && !p.loss.value && !p.lab);
    row.id = 7;
    assert_int_equal(lab_run_preview_load(&p, db, &row), LAB_E_NOTFOUND);
    lab_database_close(db);
}

static const struct sample_variant VARIANTS[] = {
    {"tile", "fp32", "512", 400000},
    {"cublas", "fp32", "512", 100000},
    {"tile", "fp32", "1024", 900000},
    {"cublas", "fp32", "1024", 200000}};

SAMPLE_CASE(a_lab_has_its_rates)
{
    int64_t run;
    assert_ok(sample_lab(path, VARIANTS, 4, true, &run));
    struct lab_database *db = sample_database(path);
    struct lab_run_preview p = load(db, run);
    assert_non_null(p.lab);
    assert_int_equal(p.lab->row_count, 4);
    assert_int_equal(p.lab->size_count, 2);
    assert_int_equal(p.lab->unit, LAB_UNIT_FLOPS);
    assert_true(p.lab->rows[3].library && !p.lab->rows[2].library);
    const struct lab_preview_picture picture = {
        .of = {&p}, .count = 1, .problem = ""};
    char *text = drawn(db, 40, 160, &picture, "a fact");
    assert_shows(text, "Rates: GFLOP/s against the size");
    assert_shows(text, "size 1024");
    assert_shows(text, "size 512");
    assert_shows(text, "a fact");
    lab_free(text);
    lab_run_preview_release(&p);
}

SAMPLE_CASE(a_lab_that_measured_nothing)
{
    int64_t run;
    assert_ok(sample_lab(path, VARIANTS, 0, false, &run));
    struct lab_database *db = sample_database(path);
    struct lab_run_preview p = load(db, run);
    const struct lab_preview_picture picture = {
        .of = {&p}, .count = 1, .problem = ""};
    char *text = drawn(db, 20, 120, &picture, "a fact");
    assert_shows(text, "measured nothing that can be drawn");
    assert_shows(text, "a fact");
    lab_free(text);
    lab_run_preview_release(&p);
}

SAMPLE_CASE(a_sweep_has_its_points)
{
    int64_t run;
    assert_ok(sample_lab(path, VARIANTS, 0, false, &run));
    struct lab_database *db = NULL;
    assert_ok(lab_database_open(&db, path, NULL));
    for (int i = 0; i < 3; i++) {
        const struct lab_sweep_row row = {.place = i,
                                          .sweep = "batch-size",
                                          .lesson = "mlp-digits",
                                          .backend = "cuda",
                                          .status = "done",
                                          .x = 16 << i,
                                          .median_ns = 1000 + i,
                                          .samples_per_s = 1e6,
                                          .share = NAN,
                                          .loss = NAN,
                                          .memory_bytes = 4096,
                                          .parameters = LAB_UNKNOWN};
        assert_ok(lab_sweep_row_add(db, run, &row));
    }
    struct lab_run_preview p = load(db, run);
    assert_int_equal(p.lab->row_count, 3);
    assert_true(p.lab->by_size && p.lab->sizes[2].x == 64);
    assert_string_equal(p.lab->item, "sample");
    lab_run_preview_release(&p);
    lab_database_close(db);
}

/* ---- drawing ---- */

/* At every size, with all that it can have and with nothing. */
SAMPLE_CASE(it_fits_every_size)
{
    static const struct lab_time_sum steps[] = {
        {.name = "fc1.matmul",
         .op = "dense",
         .share = 0.75,
         .median_ns = 750,
         .bound = "memory"},
        {.name = "sgd", .phase_id = 3, .share = 0.25, .median_ns = 250}};
    assert_ok(sample_run(path, 40, 2, NULL));
    struct lab_database *db = sample_database(path);
    struct lab_run_preview p = load(db, 1);
    struct lab_run_preview none = {.run = 1};
    struct lab_preview_picture picture = {.of = {&p, &p, &p},
                                          .count = 3,
                                          .problem = "",
                                          .steps = steps,
                                          .n_steps = 2};
    for (int h = 0; h < 60; h += 3)
        for (int w = 0; w < 200; w += 17) {
            picture.of[0] = h % 2 ? &p : &none;
            lab_free(drawn(db, h + 1, w + 1, &picture, "a fact"));
        }
    char *text = drawn(db, 50, 190, &picture, "a fact");
    assert_shows(text, "Run 1 mlp-digits");
    assert_shows(text, "Loss of these runs");
    assert_shows(text, " F fc1.matmul");
    assert_shows(text, "75.0 %   750 ns");
    assert_shows(text, "Time by what bounds it");
    assert_shows(text, "[fc1]");
    lab_free(text);
    lab_run_preview_release(&p);
}

SAMPLE_CASE(a_run_without_anything)
{
    assert_ok(sample_run(path, 1, 1, NULL));
    struct lab_database *db = sample_database(path);
    struct lab_run_preview none = {.run = 1};
    struct lab_preview_picture picture = {
        .of = {&none}, .count = 1, .problem = ""};
    char *text = drawn(db, 20, 120, &picture, "a fact");
    assert_shows(text, "Its times have not been added up");
    assert_shows(text, "a fact");
    lab_free(text);
    picture.problem = "the disk is malformed";
    text = drawn(db, 20, 120, &picture, "a fact");
    assert_shows(text, "the disk is malformed");
    assert_null(strstr(text, "a fact"));
    lab_free(text);
}

RUN_TESTS()
