/* Ladders: sizes as people write them, costs, variants that are right and variants
 * that are not, and a climb that goes on when one of them fails. */
#include "climb.h"
#include "file.h"

#include <stdatomic.h>

#include "base/mem.h"
#include "saxpy/saxpy.h"
#include "common/number.h"

static struct lab_backend *cpu(void)
{
    struct lab_backend *be = NULL;
    assert_ok(lab_backend_open(&be, "cpu", 0));
    return be;
}

TEST_CASE(sizes)
{
    static const char *const bad[] = {
        "",    "0",       "-1",  "x",      "4x",
        "4x4", "4a",      "4,4", " 4",     "0x4x4",
        "1e3", "4x4x4x4", "+4",  "4x-4x4", "99999999999999999999"};
    const struct lab_operation *gemm = operation_of("gemm");
    struct lab_ladder_size s = size_of(gemm, "30x20x10");
    assert_int_equal(s.dim[0], 30);
    assert_int_equal(s.dim[1], 20);
    assert_int_equal(s.dim[2], 10);
    assert_string_equal(s.text, "30x20x10");
    s = size_of(gemm, "7");
    assert_int_equal(s.dim[2], 7);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        if (lab_ladder_size(gemm, bad[i], strlen(bad[i]), &s) != LAB_E_USAGE)
            fail_msg("'%s' is taken", bad[i]);
    }
    assert_int_equal(lab_ladder_size(operation_of("saxpy"), "4x4", 3, &s),
                     LAB_E_USAGE);
}

TEST_CASE(costs)
{
    const struct lab_operation *gemm = operation_of("gemm");
    struct lab_ladder_size s = size_of(gemm, "30x20x10");
    assert_true(gemm->flop(s.dim) == 2.0 * 30 * 20 * 10);
    assert_true(gemm->bytes(s.dim, LAB_FP32) == 4.0 * (300 + 200 + 600));
    assert_int_equal(lab_ladder_memory(gemm, &s, LAB_FP32, false),
                     4 * (300 + 200 + 600));
    assert_int_equal(lab_ladder_memory(gemm, &s, LAB_BF16, false),
                     2 * (300 + 200 + 600));
    assert_int_equal(lab_ladder_memory(gemm, &s, LAB_FP64, false),
                     8 * (300 + 200 + 600));
    assert_int_equal(lab_ladder_memory(gemm, &s, LAB_FP32, true), 0);
    /* Inputs that the operation fills are kept on the host as well. */
    const struct lab_operation *softmax = operation_of("softmax");
    s = size_of(softmax, "30x20");
    assert_int_equal(lab_ladder_memory(softmax, &s, LAB_FP32, false),
                     2 * 4 * 600);
    assert_int_equal(lab_ladder_memory(softmax, &s, LAB_FP32, true), 4 * 600);
    const struct lab_operation *chase = operation_of("pointer_chase");
    s = size_of(chase, "4096");
    assert_int_equal(lab_ladder_memory(chase, &s, LAB_FP32, true), 4096);
    s = size_of(gemm, "100000000000"); /* 10^22 elements */
    assert_int_equal(lab_ladder_memory(gemm, &s, LAB_FP32, false), 0);
    const struct lab_operation *saxpy = operation_of("saxpy");
    s = size_of(saxpy, "50");
    assert_true(saxpy->flop(s.dim) == 100);
    assert_true(saxpy->bytes(s.dim, LAB_FP32) == 600);
}

TEST_CASE(names)
{
    const struct lab_operation *l = NULL;
    assert_int_equal(lab_ladder_find("gem", &l), LAB_E_NOTFOUND);
    assert_true(error_is("[lab.unknown] gemm"));
    assert_null(lab_operation_at(-1));
    assert_null(lab_operation_at(1000));
    for (int i = 0; lab_operation_at(i); i++)
        assert_ptr_equal(operation_of(lab_operation_at(i)->name),
                         lab_operation_at(i));
}

/* The model by hand: 8 bytes an element, 4.5 times that moved, at 10 B/s. */
TEST_CASE(models)
{
    const struct lab_operation *l = operation_of("transpose");
    struct lab_ladder_size s = size_of(l, "10");
    struct lab_variant variant = {.model = {.traffic = 4.5}};
    struct lab_ladder_machine m = {.copy_bytes_s = 10};
    assert_true(fabs(lab_ladder_model(&m, l, &variant, &s) - 10 / 4.5) < 1e-12);
    variant.model.library = true;
    assert_true(isnan(lab_ladder_model(&m, l, &variant, &s)));
    /* 2 accesses a multiply-add: an eighth of the peak. */
    l = operation_of("gemm");
    s = size_of(l, "1000");
    m = (struct lab_ladder_machine){.copy_bytes_s = 1e30,
                                    .info = {.peak_fp32_flops = 800}};
    variant = (struct lab_variant){
        .model = {
            .tile_m = 32, .tile_n = 32, .accesses = 2, .instructions = 3}};
    assert_true(fabs(lab_ladder_model(&m, l, &variant, &s) - 100) < 1e-9);
    /* q: A and B once for each 32 columns or rows, C once. */
    assert_true(lab_ladder_traffic(l, &variant, &s) == 4.0 * (2e6 * 32 + 1e6));
}

/* Where the lab's screen begins: a function of the variant's source. Without one it
 * looks for what is like the variant's name, and a file of several labs has two. */
static void has_its_function(const struct lab_variant *variant)
{
    char path[512];
    char call[128];
    if (!variant->symbol) {
        assert_null(strstr(variant->source, "conv2d"));
        return;
    }
    snprintf(path, sizeof(path), "%s/%s", LAB_SOURCE_DIR, variant->source);
    snprintf(call, sizeof(call), "%s(", variant->symbol);
    char *text = test_read(path);
    assert_non_null(strstr(text, call));
    test_free(text);
}

TEST_CASE(every_variant_of_the_cpu_is_right)
{
    struct lab_backend *be = cpu();
    int checked = 0;
    for (int i = 0; lab_operation_at(i); i++) {
        const struct lab_variant *variants[96];
        int n =
            lab_ladder_variants(be, lab_operation_at(i), NULL, variants, 96);
        assert_true(n >= 1);
        for (int r = 0, own = n; r < own; r++)
            if (variants[r]->tuned)
                n += lab_ladder_variants(be, lab_operation_at(i), variants[r],
                                         variants + n, 96 - n);
        for (int r = 0; r < n; r++) {
            double error = -1;
            enum lab_status st = lab_ladder_check(be, lab_operation_at(i),
                                                  variants[r], 7, &error);
            if (variants[r]->wrong_on_purpose) { /* see test_ladder_sweeps.c */
                assert_int_equal(st, LAB_E_CHECK);
                continue;
            }
            assert_ok(st);
            assert_true(error >= 0 && error <= 1);
            has_its_function(variants[r]);
            checked++;
        }
    }
    assert_true(checked >= 21);
    lab_backend_close(be);
}

/* ---- variants with mistakes ---- */

static enum lab_status forgets_last(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    for (int64_t i = 0; i + 1 < call->out[0].count; i++)
        y[i] += LAB_SAXPY_A * x[i];
    return LAB_OK;
}

static enum lab_status goes_too_far(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    int64_t n = call->out[0].count;
    for (int64_t i = 0; i < n; i++)
        y[i] += LAB_SAXPY_A * x[i];
    y[n] = 0;
    return LAB_OK;
}

static enum lab_status leaves_it(const struct lab_call *call)
{
    (void)call;
    return LAB_OK;
}

static enum lab_status refuses(const struct lab_call *call)
{
    (void)call;
    return lab_fail(LAB_E_UNSUPPORTED, "no such unit here");
}

static enum lab_status right(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++)
        y[i] += LAB_SAXPY_A * x[i];
    return LAB_OK;
}

static const struct lab_variant wrong[] = {
    {.name = "forgets", .run = forgets_last},
    {.name = "too_far", .run = goes_too_far},
    {.name = "leaves", .run = leaves_it},
};

TEST_CASE(a_wrong_variant_is_found)
{
    struct lab_backend *be = cpu();
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        double error = -1;
        assert_int_equal(
            lab_ladder_check(be, operation_of("saxpy"), &wrong[i], 1, &error),
            LAB_E_CHECK);
        assert_non_null(strstr(lab_error(), wrong[i].name));
        assert_true(error == -1);
    }
    lab_backend_close(be);
}

/* Right but for its factors, which it takes as fp32. */
static enum lab_status rounds_to_float(const struct lab_call *call)
{
    const double *a = call->in[0].data;
    const double *b = call->in[1].data;
    double *c = call->out[0].data;
    int64_t K = call->in[0].dim[1];
    int64_t N = call->in[1].dim[1];
    for (int64_t i = 0; i < call->out[0].count; i++) {
        c[i] = 0;
        for (int64_t k = 0; k < K; k++)
            c[i] += (double)(float)a[i / N * K + k] *
                    (double)(float)b[k * N + i % N];
    }
    return LAB_OK;
}

static atomic_int elements_asked; /* by several threads */

static struct lab_ladder_element
count_element(const struct lab_bench_numbers *n, const int64_t *dim, int out,
              int64_t i)
{
    elements_asked++;
    return operation_of("softmax")->element(n, dim, out, i);
}

/* An element of softmax reads its row twice: all of 40 rows are compared, of a
 * row of 100,000 only some, which would else take minutes. */
TEST_CASE(a_slow_reference_is_asked_less)
{
    static const char *const small[] = {"40x53", NULL};
    static const char *const wide[] = {"1x100000", NULL};
    struct lab_backend *be = cpu();
    struct lab_operation op = *operation_of("softmax");
    const struct lab_variant *variant = NULL;
    double error = -1;
    assert_true(lab_ladder_variants(be, operation_of("softmax"), NULL, &variant,
                                    1) >= 1);
    op.element = count_element;
    op.checks = small;
    assert_ok(lab_ladder_check(be, &op, variant, 1, &error));
    assert_int_equal(elements_asked, 40 * 53 + 1);
    elements_asked = 0;
    op.checks = wide;
    assert_ok(lab_ladder_check(be, &op, variant, 1, &error));
    assert_in_range(elements_asked, 64, 65);
    assert_true(error >= 0 && error <= 1);
    lab_backend_close(be);
}

TEST_CASE(fp64_inputs_do_not_fit_into_fp32)
{
    static const struct lab_variant rounds = {
        .name = "rounds", .precision = LAB_FP64, .run = rounds_to_float};
    struct lab_backend *be = cpu();
    double error = -1;
    assert_int_equal(
        lab_ladder_check(be, operation_of("dgemm"), &rounds, 1, &error),
        LAB_E_CHECK);
    lab_backend_close(be);
}

static enum lab_status copies_two_parts(const struct lab_call *call)
{
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    for (int64_t i = 0; i < call->out[0].count; i++) {
        double first = (double)lab_f16_value(lab_f16_of((double)x[i]));
        double rest = (double)x[i] - first;
        y[i] = (float)(first + (double)lab_f16_value(lab_f16_of(rest)));
    }
    return LAB_OK;
}

/* 24 bits are more than two fp16 hold: a copy through them has errors. */
TEST_CASE(fp32_inputs_do_not_fit_into_two_fp16)
{
    static const struct lab_variant parts = {.name = "parts",
                                             .run = copies_two_parts};
    struct lab_backend *be = cpu();
    double error = -1;
    assert_int_equal(
        lab_ladder_check(be, operation_of("warps_copy"), &parts, 1, &error),
        LAB_E_CHECK);
    lab_backend_close(be);
}

struct seen {
    int rows;
    int timed;
    int wrong;
    int refused;
    int no_memory;
    int stop_after; /* rows; 0: never */
    double gain;
    double gain_model;
    enum lab_status answer;
};

static enum lab_status see(void *user, const struct lab_ladder_row *row)
{
    struct seen *s = user;
    s->rows++;
    s->timed += row->status == LAB_OK;
    s->wrong += row->status == LAB_E_CHECK;
    s->refused += row->status == LAB_E_UNSUPPORTED;
    s->no_memory += row->status == LAB_E_NOMEM;
    if (row->status) {
        assert_true(row->reason[0] != '\0');
        assert_true(isnan(row->median_ns) && isnan(row->rate));
        return s->answer;
    }
    assert_int_equal(row->repeats, LAB_LADDER_REPEATS_MIN);
    assert_true(row->min_ns <= row->quarter_ns);
    assert_true(row->quarter_ns <= row->median_ns);
    assert_true(row->median_ns <= row->three_quarters_ns);
    assert_true(row->three_quarters_ns <= row->max_ns);
    assert_true(row->rate > 0 && row->check_error <= 1);
    assert_true(row->sample_error <= 1);
    assert_true(isnan(row->before.sm_clock_hz)); /* it is a CPU */
    s->gain = row->gain;
    s->gain_model = row->gain_model;
    return s->answer;
}

static bool enough(void *user)
{
    struct seen *s = user;
    return s->stop_after && s->rows >= s->stop_after;
}

static enum lab_status climb_of(struct lab_backend *be, struct seen *seen,
                                const struct lab_variant *const *variants,
                                int n_variants, int n_sizes)
{
    const struct lab_operation *l = operation_of("saxpy");
    struct lab_ladder_machine m = {.copy_bytes_s = NAN, .flush_bytes = 4096};
    lab_backend_info(be, &m.info);
    struct lab_ladder_size s[] = {size_of(l, "1001"), size_of(l, "99999999999"),
                                  size_of(l, "5")};
    struct lab_ladder_run c = {.backend = be,
                               .ladder = l,
                               .machine = &m,
                               .variants = variants,
                               .n_variants = n_variants,
                               .sizes = s,
                               .n_sizes = n_sizes,
                               .repeats = LAB_LADDER_REPEATS_MIN,
                               .seed = 3,
                               .row = see,
                               .stop = enough,
                               .user = seen};
    return lab_ladder_run(&c);
}

static enum lab_status climb(struct lab_backend *be, struct seen *seen)
{
    static const struct lab_variant good = {.name = "right", .run = right};
    static const struct lab_variant absent = {
        .name = "absent", .needs = "a unit", .run = refuses};
    const struct lab_variant *variants[] = {&good, &wrong[0], &absent, &good};
    return climb_of(be, seen, variants, 4, 3);
}

/* The kernel of another precision is not what a variant improves. */
TEST_CASE(the_first_variant_of_a_precision_gains_over_none)
{
    static const struct lab_variant one = {
        .name = "one", .run = right, .gain = 2};
    static const struct lab_variant next = {
        .name = "next", .run = right, .gain = 2};
    static const struct lab_variant other = {
        .name = "other", .run = right, .precision = LAB_TF32, .gain = 2};
    static const struct lab_variant library = {.name = "library",
                                               .run = right,
                                               .precision = LAB_TF32,
                                               .model.library = true};
    static const struct {
        const struct lab_variant *variants[2];
        int n;
        bool gains;
    } cases[] = {{{&one}, 1, false},
                 {{&one, &next}, 2, true},
                 {{&one, &other}, 2, false},
                 {{&one, &library}, 2, true}};
    struct lab_backend *be = cpu();
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct seen seen = {0};
        assert_ok(climb_of(be, &seen, cases[i].variants, cases[i].n, 1));
        assert_int_equal(seen.timed, cases[i].n);
        assert_int_equal(!isnan(seen.gain), cases[i].gains);
        if (cases[i].gains && !cases[i].variants[1]->model.library)
            assert_true(seen.gain_model == 2);
        else if (!cases[i].gains)
            assert_true(isnan(seen.gain_model));
    }
    lab_backend_close(be);
}

TEST_CASE(a_climb_goes_on)
{
    struct lab_backend *be = cpu();
    struct seen seen = {0};
    assert_ok(climb(be, &seen));
    assert_int_equal(seen.rows, 12);
    assert_int_equal(seen.wrong, 3);
    assert_int_equal(seen.refused, 3);
    assert_int_equal(seen.no_memory, 2); /* the two right ones of one size */
    assert_int_equal(seen.timed, 4);
    assert_true(seen.gain > 0); /* over the right one before, not a wrong one */
    lab_backend_close(be);
}

TEST_CASE(a_climb_can_be_ended)
{
    struct lab_backend *be = cpu();
    struct seen seen = {.stop_after = 2};
    assert_int_equal(climb(be, &seen), LAB_E_CANCELLED);
    assert_int_equal(seen.rows, 2);
    seen = (struct seen){.answer = LAB_E_IO};
    assert_int_equal(climb(be, &seen), LAB_E_IO);
    assert_int_equal(seen.rows, 1);
    lab_backend_close(be);
}

/* Every allocation once: the climb ends or a row reports it, and nothing leaks. */
TEST_CASE(memory_may_be_short)
{
    struct lab_backend *be = cpu();
    bool whole = false;
    for (int64_t nth = 1; !whole && nth < 400; nth += nth < 40 ? 1 : 17) {
        struct seen seen = {0};
        lab_mem_fail_from(nth);
        enum lab_status st = climb(be, &seen);
        lab_mem_fail_from(0);
        whole = !st && seen.timed == 4;
        if (!whole)
            assert_true(st == LAB_E_NOMEM || seen.no_memory > 0);
    }
    assert_true(whole);
    lab_backend_close(be);
}

RUN_TESTS()
