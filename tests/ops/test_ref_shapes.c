/* Every reference kernel in float against its own build in double, on odd
 * shapes, with outputs poisoned and guarded; and the properties that hold for
 * a kernel whatever its numbers are. */
#include "test.h"
#include "file.h"

#include "dropout/dropout.h"
#include "flatten/flatten.h"
#include "ops/step_table.h"
#include "common/random.h"

TEST_CASE(float_matches_double)
{
    for (int i = 0; i < step_case_count; i++) {
        for (int s = 0; s < step_size_count; s++) {
            const struct step_case *c = &step_cases[i];
            char what[160];
            struct rig *got = rig_new(RIG_REF_F32);
            struct rig *ref = rig_new(RIG_REF_F64);
            step_describe(what, sizeof(what), c, &step_sizes[s]);
            step_fill(got, c, &step_sizes[s], (uint64_t)(100 * i + s));
            step_fill(ref, c, &step_sizes[s], (uint64_t)(100 * i + s));
            step_run(got, c);
            step_run(ref, c);
            step_compare(what, c, got, ref, 1e-5);
            rig_free(got);
            rig_free(ref);
        }
    }
}

/* Nothing depends on what was run before: the second run has the same bits. */
TEST_CASE(second_run_has_same_bits)
{
    const struct step_sizes sizes = {5, 33, 7};
    for (int i = 0; i < step_case_count; i++) {
        struct rig *first = rig_new(RIG_REF_F32);
        struct rig *second = rig_new(RIG_REF_F32);
        step_fill(first, &step_cases[i], &sizes, 1);
        step_fill(second, &step_cases[i], &sizes, 1);
        step_run(first, &step_cases[i]);
        step_run(second, &step_cases[i]);
        step_compare("second run", &step_cases[i], second, first, 0);
        rig_free(first);
        rig_free(second);
    }
}

/* Every row has a place in a source file where a learner finds it. */
TEST_CASE(every_row_names_its_source)
{
    static const char *const op[] = {
#define LAB_OP(id) #id,
#define LAB_OP_PLAN(id)
#include "ops.def"
#undef LAB_OP
    };
#define LAB_OP(id) extern const struct lab_kernel_set lab_ref_f32_##id;
#include "ops.def"
#undef LAB_OP
    static const struct lab_kernel_set *const set[] = {
#define LAB_OP(id) &lab_ref_f32_##id,
#include "ops.def"
#undef LAB_OP
    };
    for (size_t i = 0; i < sizeof(op) / sizeof(op[0]); i++) {
        char path[512];
        assert_string_equal(set[i]->op, op[i]);
        assert_true(set[i]->count > 0);
        for (int k = 0; k < set[i]->count; k++) {
            const struct lab_variant *row = &set[i]->variants[k];
            bool first = true; /* of its step: the reference */
            for (int j = 0; j < k; j++)
                first &= row[j - k].phase != row->phase ||
                         strcmp(row[j - k].step, row->step) != 0;
            assert_int_equal(strcmp(row->name, "naive") == 0, first);
            snprintf(path, sizeof(path), "%s/%s", LAB_SOURCE_DIR, row->source);
            char *text = test_read(path);
            assert_non_null(strstr(text, row->symbol));
            test_free(text);
        }
    }
}

enum { MANY = 100000 };

TEST_CASE(dropout_keeps_the_share_and_the_mean)
{
    const struct lab_dropout_params params = {.p = 0.25};
    const int64_t dim[] = {MANY};
    struct rig *r = rig_new(RIG_REF_F32);
    rig_add(r, "x", 1, dim);
    rig_add(r, "y", 1, dim);
    rig_add(r, "mask", 1, dim);
    rig_random(r, "x", 5, 1, 2);
    rig_run(r, "dropout", "dropout", LAB_FORWARD, "y mask", "x", &params);
    int kept = 0;
    for (int64_t i = 0; i < MANY; i++) {
        double mask = rig_get(r, "mask", i);
        assert_true(mask == 0 || mask == (double)(float)(1 / 0.75));
        kept += mask > 0;
    }
    /* six standard deviations of a binomial: 6 sqrt(n p (1-p)) = 822 */
    assert_in_range(kept, 75000 - 822, 75000 + 822);

    double before = rig_get(r, "mask", 0);
    int same = 0;
    struct rig *next = rig_new(RIG_REF_F32);
    rig_add(next, "x", 1, dim);
    rig_add(next, "y", 1, dim);
    rig_add(next, "mask", 1, dim);
    rig_random(next, "x", 5, 1, 2);
    rig_call(next)->iteration = 1; /* another iteration drops others */
    rig_run(next, "dropout", "dropout", LAB_FORWARD, "y mask", "x", &params);
    for (int64_t i = 0; i < MANY; i++)
        same += rig_get(r, "mask", i) == rig_get(next, "mask", i);
    /* p^2 + (1-p)^2 = 0.625 agree by chance */
    assert_in_range(same, 62500 - 920, 62500 + 920);
    rig_call(next)->iteration = 0;
    rig_run(next, "dropout", "dropout", LAB_FORWARD, "y mask", "x", &params);
    assert_true(rig_get(next, "mask", 0) == before);
    rig_compare_rigs("iteration 0 again", next, r, "mask", 0);
    rig_free(r);
    rig_free(next);
}

/* The double build of dropout drops the same elements, and evaluation none. */
TEST_CASE(dropout_is_the_same_in_double)
{
    static const double shares[] = {0, 0.1, 0.3, 0.5, 0.9, 1.0 / 3};
    const int64_t dim[] = {10007};
    for (size_t k = 0; k < sizeof(shares) / sizeof(shares[0]); k++) {
        const struct lab_dropout_params params = {.p = shares[k]};
        struct rig *rigs[2] = {rig_new(RIG_REF_F32), rig_new(RIG_REF_F64)};
        for (int j = 0; j < 2; j++) {
            rig_add(rigs[j], "x", 1, dim);
            rig_add(rigs[j], "y", 1, dim);
            rig_add(rigs[j], "mask", 1, dim);
            rig_random(rigs[j], "x", 5, -2, 2);
            rig_run(rigs[j], "dropout", "dropout", LAB_FORWARD, "y mask", "x",
                    &params);
        }
        for (int64_t i = 0; i < dim[0]; i++)
            assert_int_equal(rig_get(rigs[0], "mask", i) == 0,
                             rig_get(rigs[1], "mask", i) == 0);
        rig_call(rigs[0])->training = false;
        rig_run(rigs[0], "dropout", "dropout", LAB_FORWARD, "y mask", "x",
                &params);
        for (int64_t i = 0; i < dim[0]; i++) {
            assert_true(rig_get(rigs[0], "mask", i) == 1);
            assert_true(rig_get(rigs[0], "y", i) == rig_get(rigs[0], "x", i));
        }
        rig_free(rigs[0]);
        rig_free(rigs[1]);
    }
}

/* u >= p keeps, so an element whose u is exactly p is kept. */
TEST_CASE(dropout_keeps_at_the_threshold)
{
    const int64_t dim[] = {9};
    const int64_t at = 5;
    float u = lab_random_unit(lab_random_word(7, 3, 0, (uint64_t)at));
    assert_true(u > 0 && u < 1);
    const struct lab_dropout_params params[] = {
        {.p = (double)u}, {.p = (double)nextafterf(u, 1)}};
    for (int k = 0; k < 2; k++) {
        struct rig *r = rig_new(RIG_REF_F32);
        rig_add(r, "x", 1, dim);
        rig_add(r, "y", 1, dim);
        rig_add(r, "mask", 1, dim);
        rig_random(r, "x", 5, 1, 2);
        rig_run(r, "dropout", "dropout", LAB_FORWARD, "y mask", "x",
                &params[k]);
        assert_int_equal(rig_get(r, "mask", at) > 0, k == 0);
        rig_free(r);
    }
}

/* channel_first: y[n, (c*H + h)*W + w] = x[n, h, w, c], spelled out. */
TEST_CASE(flatten_orders_channels_first)
{
    enum { N = 2, H = 3, W = 5, C = 4, P = H * W * C };
    const struct lab_flatten_params params = {.permute = true};
    const int64_t image[] = {N, H, W, C};
    const int64_t row[] = {N, P};
    struct rig *r = rig_new(RIG_REF_F32);
    rig_add(r, "x", 4, image);
    rig_add(r, "y", 2, row);
    rig_add(r, "back", 4, image);
    rig_random(r, "x", 1, -1, 1);
    rig_run(r, "flatten", "flatten", LAB_FORWARD, "y", "x", &params);
    for (int n = 0; n < N; n++)
        for (int h = 0; h < H; h++)
            for (int w = 0; w < W; w++)
                for (int c = 0; c < C; c++)
                    assert_true(rig_get(r, "y", n * P + (c * H + h) * W + w) ==
                                rig_get(r, "x", ((n * H + h) * W + w) * C + c));
    rig_run(r, "flatten", "flatten", LAB_BACKWARD, "back", "y", &params);
    for (int64_t i = 0; i < N * P; i++)
        assert_true(rig_get(r, "back", i) == rig_get(r, "x", i));
    rig_free(r);
}

/* Sums of very many terms stay within the tolerance of design.md section 6. */
TEST_CASE(long_sums_stay_accurate)
{
    const struct step_sizes sizes = {60000, 3, 2};
    for (int i = 0; i < step_case_count; i++) {
        const struct step_case *c = &step_cases[i];
        char what[160];
        if (strcmp(c->op, "flatten") == 0)
            continue; /* moves numbers, adds none */
        struct rig *got = rig_new(RIG_REF_F32);
        struct rig *ref = rig_new(RIG_REF_F64);
        step_describe(what, sizeof(what), c, &sizes);
        step_fill(got, c, &sizes, 9);
        step_fill(ref, c, &sizes, 9);
        step_run(got, c);
        step_run(ref, c);
        step_compare(what, c, got, ref, 1e-5);
        rig_free(got);
        rig_free(ref);
    }
}

/* No rows, no columns, nothing to sum over: nothing is read or divided. */
TEST_CASE(empty_tensors_are_left_alone)
{
    static const struct step_sizes none[] = {{0, 3, 2}, {2, 3, 0}, {2, 0, 3}};
    for (int i = 0; i < step_case_count; i++) {
        const struct step_case *c = &step_cases[i];
        if (c->phase == LAB_LOSS)
            continue; /* the mean of no samples is no number */
        for (int s = 0; s < 3; s++) {
            struct rig *r = rig_new(RIG_REF_F32);
            step_fill(r, c, &none[s], 1);
            step_run(r, c);
            rig_free(r);
        }
    }
}

RUN_TESTS()
