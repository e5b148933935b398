/* What an operation and a variant may ask of the engine: precisions, integers,
 * roles of tensors, times of an item, preparing, refusing, notes. */
#include "test.h"

#include "engine/ladder.h"

/* ---- an operation: y (n) += x (i (n)), s (n) is scratch, z (n) = n - i
 * ---- */

static int tensors(const int64_t *dim, enum lab_precision p,
                   struct lab_bench_tensor *out)
{
    enum lab_dtype t = lab_bench_dtype(p);
    if (dim[0] == 13) {
        lab_fail(LAB_E_USAGE, "13 is unlucky");
        return 0;
    }
    out[0] = (struct lab_bench_tensor){LAB_ROLE_IN, t, 1, {dim[0]}};
    out[1] = (struct lab_bench_tensor){LAB_ROLE_IN, LAB_I32, 1, {dim[0]}};
    out[2] = (struct lab_bench_tensor){LAB_ROLE_INOUT, t, 1, {dim[0]}};
    out[3] = (struct lab_bench_tensor){LAB_ROLE_OUT, LAB_I32, 1, {dim[0]}};
    out[4] = (struct lab_bench_tensor){LAB_ROLE_SCRATCH, t, 1, {dim[0]}};
    return 5;
}

static bool fill(const int64_t *dim, int k,
                 const struct lab_bench_tensor *tensor, uint64_t seed,
                 void *host)
{
    if (k != 1)
        return false;
    for (int64_t i = 0; i < dim[0]; i++)
        lab_number_put(host, tensor->dtype, i,
                       (double)((i * 7 + (int64_t)seed) % dim[0]));
    return true;
}

static struct lab_ladder_element element(const struct lab_bench_numbers *n,
                                         const int64_t *dim, int out, int64_t i)
{
    struct lab_bench_sum sum = {0};
    if (out == 1)
        return lab_bench_exact((double)(dim[0] - i), LAB_I32);
    int64_t from = (int64_t)lab_bench_number(n, 1, i);
    lab_bench_add(&sum, lab_bench_number(n, 0, from));
    lab_bench_add(&sum, lab_bench_number(n, 2, i));
    return lab_bench_sum_element(&sum, n->precision, n->tensor[2].dtype);
}

static double one_each(const int64_t *dim)
{
    return (double)dim[0];
}

static double bytes(const int64_t *dim, enum lab_precision p)
{
    return 3 * (double)dim[0] * (double)lab_dtype_bytes(lab_bench_dtype(p));
}

static const char *const checks[] = {"1", "5", "8", "1000", "4096", NULL};

static const struct lab_operation gather = {
    .name = "gather",
    .title = "y += x[i]",
    .shape = "N",
    .dims = 1,
    .unit = LAB_UNIT_TIME,
    .item = "access",
    .sizes_cpu = "100",
    .sizes_gpu = "100",
    .checks = checks,
    .tensors = tensors,
    .flop = one_each,
    .bytes = bytes,
    .items = one_each,
    .element = element,
    .fill = fill,
};

static void do_it(const struct lab_call *call)
{
    const int32_t *index = call->in[1].data;
    int64_t n = call->in[0].count;
    enum lab_dtype t = call->in[0].dtype;
    for (int64_t i = 0; i < n; i++) {
        double x = lab_number_at(call->in[0].data, t, index[i]);
        double y = lab_number_at(call->out[0].data, t, i);
        lab_number_put(call->out[2].data, t, i, x);
        lab_number_put(call->out[0].data, t, i, x + y);
        lab_number_put(call->out[1].data, LAB_I32, i, (double)(n - i));
    }
}

static enum lab_status right(const struct lab_call *call)
{
    do_it(call);
    return LAB_OK;
}

static enum lab_status past_the_scratch(const struct lab_call *call)
{
    do_it(call);
    lab_number_put(call->out[2].data, call->out[2].dtype, call->out[2].count,
                   1);
    return LAB_OK;
}

static enum lab_status forgets_the_second(const struct lab_call *call)
{
    do_it(call);
    lab_number_put(call->out[1].data, LAB_I32, call->out[1].count - 1, -1);
    return LAB_OK;
}

static int prepared;
static int released;

static enum lab_status fours_only(const struct lab_call *call)
{
    if (call->in[0].count % 4)
        return lab_fail(LAB_E_UNSUPPORTED, "n is no multiple of 4");
    assert_non_null(call->in[0].data);
    prepared++;
    return LAB_OK;
}

static enum lab_status give_back(const struct lab_call *call)
{
    (void)call;
    released++;
    return LAB_OK;
}

static enum lab_status never(const struct lab_call *call)
{
    (void)call;
    return lab_fail(LAB_E_UNSUPPORTED, "not on a Sunday");
}

static void say(const struct lab_call *call, struct lab_variant_note *out)
{
    snprintf(out->text, sizeof(out->text), "n is %lld",
             (long long)call->in[0].count);
    out->workspace_bytes = 4096;
}

/* ---- the tests ---- */

static struct lab_backend *cpu(void)
{
    struct lab_backend *be = NULL;
    assert_ok(lab_backend_open(&be, "cpu", 0));
    return be;
}

TEST_CASE(every_precision_is_compared)
{
    struct lab_backend *be = cpu();
    for (int p = 0; p < LAB_PRECISION_COUNT; p++) {
        const struct lab_variant variant = {
            .name = "right", .run = right, .precision = (enum lab_precision)p};
        double error = -1;
        if (lab_ladder_check(be, &gather, &variant, 5, &error))
            fail_msg("%s: %s", lab_precision_name(variant.precision),
                     lab_error());
        assert_true(error >= 0 && error <= 1);
    }
    lab_backend_close(be);
}

TEST_CASE(mistakes_are_found)
{
    const struct lab_variant wrong[] = {
        {.name = "scratch", .run = past_the_scratch, .precision = LAB_BF16},
        {.name = "second", .run = forgets_the_second}};
    struct lab_backend *be = cpu();
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        double error = -1;
        assert_int_equal(lab_ladder_check(be, &gather, &wrong[i], 5, &error),
                         LAB_E_CHECK);
    }
    lab_backend_close(be);
}

TEST_CASE(what_cannot_run_has_its_reason)
{
    const struct {
        struct lab_variant variant;
        const char *why;
    } cases[] = {
        {{.name = "never", .run = right, .prepare = never},
         "[unsupported] not on a Sunday"},
        {{.name = "hopper",
          .run = right,
          .capability = 90,
          .capability_only = true},
         "[lab.capability] Hopper GPU (compute capability 9.0)"},
        {{.name = "ampere", .run = right, .capability = 80},
         "[lab.capability] compute capability 8.0 or later"},
        {{.name = "unbuilt"}, "[lab.no-code] "},
    };
    struct lab_backend *be = cpu();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double error = -1;
        assert_int_equal(
            lab_ladder_check(be, &gather, &cases[i].variant, 5, &error),
            LAB_E_UNSUPPORTED);
        if (!error_is(cases[i].why))
            fail_msg("'%s' does not state '%s'", lab_error(), cases[i].why);
    }
    lab_backend_close(be);
}

TEST_CASE(integers_have_to_be_filled)
{
    struct lab_operation bare = gather;
    const struct lab_variant variant = {.name = "right", .run = right};
    struct lab_backend *be = cpu();
    double error = -1;
    bare.fill = NULL;
    assert_int_equal(lab_ladder_check(be, &bare, &variant, 5, &error),
                     LAB_E_STATE);
    lab_backend_close(be);
}

struct seen {
    struct lab_ladder_row rows[16];
    int n;
};

static enum lab_status see(void *user, const struct lab_ladder_row *row)
{
    struct seen *s = user;
    s->rows[s->n++] = *row;
    return LAB_OK;
}

static struct lab_ladder_size size_of(const char *text)
{
    struct lab_ladder_size s;
    assert_ok(lab_ladder_size(&gather, text, strlen(text), &s));
    return s;
}

static void climb(struct lab_backend *be,
                  const struct lab_variant *const *variants, int n,
                  struct seen *seen)
{
    const struct lab_ladder_size sizes[] = {
        size_of("1001"), size_of("99999999999"), size_of("2000")};
    struct lab_ladder_machine m = {.copy_bytes_s = 1e9, .flush_bytes = 64};
    lab_backend_info(be, &m.info);
    struct lab_ladder_run c = {.backend = be,
                               .ladder = &gather,
                               .machine = &m,
                               .variants = variants,
                               .n_variants = n,
                               .sizes = sizes,
                               .n_sizes = 3,
                               .repeats = LAB_LADDER_REPEATS_MIN,
                               .seed = 5,
                               .row = see,
                               .user = seen};
    assert_ok(lab_ladder_run(&c));
    assert_int_equal(seen->n, 3 * n);
}

/* Four variants at a size that one of them refuses, at one that no memory holds,
 * and at one that all serve. */
TEST_CASE(rows_carry_it)
{
    const struct lab_variant plain = {
        .name = "plain", .run = right, .model = {.item_ns = 6}};
    const struct lab_variant half = {.name = "half",
                                     .run = right,
                                     .precision = LAB_BF16,
                                     .model = {.item_ns = 2},
                                     .prepare = fours_only,
                                     .release = give_back,
                                     .note = say};
    const struct lab_variant library = {
        .name = "library", .run = right, .model = {.library = true}};
    const struct lab_variant last = {.name = "last",
                                     .run = right,
                                     .precision = LAB_BF16,
                                     .model = {.item_ns = 1}};
    const struct lab_variant *const variants[] = {&plain, &half, &library,
                                                  &last};
    struct lab_backend *be = cpu();
    struct seen s = {.n = 0};
    prepared = released = 0;
    climb(be, variants, 4, &s);
    assert_int_equal(s.rows[1].status, LAB_E_UNSUPPORTED);
    assert_non_null(strstr(s.rows[1].reason, "multiple of 4"));
    assert_ok(s.rows[2].status);
    for (int i = 4; i < 8; i++)
        assert_int_equal(s.rows[i].status, LAB_E_NOMEM);
    const struct lab_ladder_row *r = &s.rows[8];
    for (int i = 0; i < 4; i++) {
        assert_ok(r[i].status);
        /* seconds an item, and less is better */
        assert_true(fabs(r[i].rate - r[i].median_ns / 2000 / 1e9) < 1e-15);
        assert_true(isnan(r[i].share));
    }
    assert_true(fabs(r[0].rate_model - 6e-9) < 1e-18);
    /* the first of its precision */
    assert_true(isnan(r[1].gain) && isnan(r[1].gain_model));
    assert_true(r[1].bytes == 3 * 2 * 2000 && r[0].bytes == 3 * 4 * 2000);
    assert_string_equal(r[1].note.text, "n is 2000");
    assert_int_equal(r[1].note.workspace_bytes, 4096);
    assert_string_equal(r[0].note.text, "");
    assert_int_equal(r[0].note.workspace_bytes, -1);
    /* compared with `half`, not with the library */
    assert_true(fabs(r[3].gain - r[1].rate / r[3].rate) < 1e-9);
    assert_true(fabs(r[3].gain_model - 2) < 1e-9);
    assert_int_equal(prepared, 4); /* checks of 8, 1000, 4096; one size */
    assert_int_equal(released, prepared);
    lab_backend_close(be);
}

/* ---- stand-ins, launches ---- */

static const struct lab_variant stand_in = {
    .name = "4x4", .run = right, .family = "tuned", .model = {.item_ns = 4}};
static const struct lab_variant wrong_one = {
    .name = "5x5", .run = forgets_the_second, .family = "tuned"};

static const struct lab_variant *candidate(void *user,
                                           const struct lab_variant *tuned,
                                           const struct lab_ladder_size *size,
                                           struct lab_variant_note *note)
{
    (void)user;
    assert_true(tuned->tuned);
    if (size->dim[0] == 8)
        return NULL;
    snprintf(note->text, sizeof(note->text), "as found");
    return size->dim[0] == 9 ? &wrong_one : &stand_in;
}

TEST_CASE(a_candidate_replaces_the_tuned_variant)
{
    const struct lab_variant tuned = {
        .name = "tuned", .run = right, .tuned = true, .model = {.item_ns = 7}};
    const struct lab_variant *const variants[] = {&tuned};
    const struct lab_ladder_size sizes[] = {size_of("8"), size_of("9"),
                                            size_of("10")};
    struct lab_backend *be = cpu();
    struct lab_ladder_machine m = {.copy_bytes_s = 1e9, .flush_bytes = 64};
    struct seen s = {.n = 0};
    lab_backend_info(be, &m.info);
    struct lab_ladder_run c = {.backend = be,
                               .ladder = &gather,
                               .machine = &m,
                               .variants = variants,
                               .n_variants = 1,
                               .sizes = sizes,
                               .n_sizes = 3,
                               .repeats = LAB_LADDER_REPEATS_MIN,
                               .seed = 5,
                               .resolve_tuned = candidate,
                               .row = see,
                               .user = &s};
    assert_ok(lab_ladder_run(&c));
    assert_ptr_equal(s.rows[0].ran, &tuned);
    assert_true(fabs(s.rows[0].rate_model - 7e-9) < 1e-18);
    assert_int_equal(s.rows[1].status,
                     LAB_E_CHECK); /* checked like any variant */
    assert_ptr_equal(s.rows[2].variant, &tuned);
    assert_ptr_equal(s.rows[2].ran, &stand_in);
    assert_true(fabs(s.rows[2].rate_model - 4e-9) < 1e-18);
    assert_string_equal(s.rows[2].note.text, "as found");
    lab_backend_close(be);
}

TEST_CASE(size_classes)
{
    static const char *const pairs[][2] = {
        {"1", "~1"},       {"1000", "~1024"}, {"1448", "~1024"},
        {"1449", "~2048"}, {"3", "~4"},       {"6000", "~8192"}};
    char text[32];
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        const struct lab_ladder_size s = size_of(pairs[i][0]);
        lab_ladder_size_class(&gather, &s, text, sizeof(text));
        assert_string_equal(text, pairs[i][1]);
    }
}

static enum lab_status look_twice(void *user, lab_ladder_again_fn *again,
                                  void *launch)
{
    int *n = user;
    for (; *n < 2; ++*n)
        assert_ok(again(launch));
    return LAB_OK;
}

TEST_CASE(a_variant_is_launched_for_a_look)
{
    const struct lab_variant variant = {.name = "half",
                                        .run = right,
                                        .precision = LAB_FP16,
                                        .prepare = fours_only,
                                        .release = give_back};
    struct lab_backend *be = cpu();
    struct lab_ladder_size good = size_of("8");
    struct lab_ladder_size bad = size_of("9");
    int n = 0;
    prepared = released = 0;
    assert_ok(
        lab_ladder_launch(be, &gather, &variant, &good, 1, look_twice, &n));
    assert_int_equal(n, 2);
    assert_int_equal(prepared, 1);
    assert_int_equal(released, 1);
    n = 0;
    assert_int_equal(
        lab_ladder_launch(be, &gather, &variant, &bad, 1, look_twice, &n),
        LAB_E_UNSUPPORTED);
    assert_int_equal(n, 0);
    lab_backend_close(be);
}

TEST_CASE(sizes_without_a_meaning)
{
    struct lab_ladder_size s;
    assert_int_equal(lab_ladder_size(&gather, "13", 2, &s), LAB_E_USAGE);
    assert_true(error_is("[lab.size] unlucky"));
}

static int names_in(const char *names)
{
    int n = 0;
    for (const char *at = names ? names : ""; *at; n++) {
        size_t length = strcspn(at, " ");
        assert_true(length > 0);
        at += length + (at[length] == ' ');
    }
    return n;
}

static int tensors_of(const struct lab_operation *op, const int64_t *dim)
{
    struct lab_bench_tensor t[LAB_BENCH_TENSORS];
    int n = 0;
    for (int p = LAB_FP32; p <= LAB_FP64; p++) {
        int own = op->tensors(dim, (enum lab_precision)p, t);
        n = own > n ? own : n;
    }
    return n;
}

/* Every operation that ships: tensors in order in every precision that it has,
 * sizes that are sizes, a unit. */
TEST_CASE(operations_that_ship)
{
    for (int i = 0; lab_operation_at(i); i++) {
        const struct lab_operation *op = lab_operation_at(i);
        struct lab_ladder_size s;
        char unit[32];
        const char *lists[] = {op->sizes_cpu, op->sizes_gpu};
        assert_true(op->dims >= 1 && op->dims <= LAB_BENCH_DIMS);
        lab_ladder_unit(op, unit, sizeof(unit));
        assert_true(unit[0] && strlen(unit) < sizeof(unit) - 1);
        assert_true(op->unit != LAB_UNIT_TIME || (op->items && op->item));
        assert_non_null(op->checks[0]);
        for (int k = 0; op->checks[k]; k++) {
            const char *text = op->checks[k];
            if (lab_ladder_size(op, text, strlen(text), &s))
                fail_msg("%s: %s", op->name, lab_error());
            assert_true(lab_ladder_memory(op, &s, LAB_FP32, false) > 0);
            assert_true(op->bytes(s.dim, LAB_FP32) > 0);
            assert_true(op->flop(s.dim) >= 0);
            assert_true(names_in(op->names) >= tensors_of(op, s.dim));
        }
        for (int l = 0; l < 2; l++) {
            for (const char *at = lists[l]; at;) {
                size_t n = strcspn(at, ",");
                if (lab_ladder_size(op, at, n, &s))
                    fail_msg("%s: %s", op->name, lab_error());
                at = at[n] ? at + n + 1 : NULL;
            }
        }
    }
}

RUN_TESTS()
