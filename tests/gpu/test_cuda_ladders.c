/* Every CUDA variant of every ladder against the reference in double.
 *
 *     test_cuda_ladders [OPERATION...]: the variants of these alone, for
 *     compute-sanitizer, which takes minutes for an operation. */
#include "split_errors.h"

#ifdef LAB_GPU_SIMULATED /* tests/sim */
#define LAB_GPU_BACKEND "sim"
#else
#define LAB_GPU_BACKEND "cuda"
#endif

/* Without `needs` a variant serves every GPU of its capability. */
static bool may_refuse(const struct lab_variant *variant,
                       const struct lab_device_info *info)
{
    int has = info->compute_major * 10 + info->compute_minor;
    return variant->needs || has < variant->capability ||
           (variant->capability_only && has / 10 != variant->capability / 10);
}

static char **only; /* operations, NULL at the end; NULL: all */

static bool is_wanted(const char *operation)
{
    if (!only)
        return true;
    for (char **name = only; *name; name++) {
        if (strcmp(*name, operation) == 0)
            return true;
    }
    return false;
}

/* And what a tuned variant chooses from. */
static int all_variants(struct lab_backend *be, const struct lab_operation *of,
                        const struct lab_variant **variants, int most)
{
    int own = lab_ladder_variants(be, of, NULL, variants, most);
    int n = own;
    for (int r = 0; r < own; r++) {
        if (variants[r]->tuned)
            n += lab_ladder_variants(be, of, variants[r], variants + n,
                                     most - n);
    }
    return n;
}

TEST_CASE(every_cuda_variant_is_right)
{
    struct lab_backend *be = NULL;
    struct lab_device_info info;
    const struct lab_operation *of;
    int checked = 0;
    int refused = 0;
    if (lab_backend_open(&be, LAB_GPU_BACKEND, 0)) {
        print_message("%s\n", lab_error());
        skip();
    }
    lab_backend_info(be, &info);
    for (int i = 0; (of = lab_operation_at(i)); i++) {
        const struct lab_variant *variants[96];
        int n = is_wanted(of->name) ? all_variants(be, of, variants, 96) : 0;
        for (int r = 0; r < n; r++) {
            double error = -1;
            enum lab_status st =
                lab_ladder_check(be, of, variants[r], 7, &error);
            if (variants[r]->wrong_on_purpose)
                continue;
            if (st &&
                !(may_refuse(variants[r], &info) && st == LAB_E_UNSUPPORTED))
                fail_msg("%s: %s", variants[r]->name, lab_error());
            if (st)
                print_message("%s %s: %s\n", of->name, variants[r]->name,
                              lab_error());
            checked += st == LAB_OK;
            refused += st != LAB_OK;
        }
    }
    print_message("%d variants are right, %d refused\n", checked, refused);
    assert_true(checked > 0);
    lab_backend_close(be);
}

/* ---- a variant that is wrong on purpose ---- */

#ifdef LAB_GPU_SIMULATED
/* The simulator does not depend on luck: the race is found whatever was read. */
TEST_CASE(without_its_barrier_the_race_is_found)
{
    struct lab_backend *be = NULL;
    const struct lab_operation *stencil = operation_of("stencil");
    const struct lab_variant *variants[32];
    double error;
    int wrong = 0;
    assert_ok(lab_backend_open(&be, LAB_GPU_BACKEND, 0));
    int n = lab_ladder_variants(be, stencil, NULL, variants, 32);
    for (int i = 0; i < n; i++) {
        if (!variants[i]->wrong_on_purpose)
            continue;
        assert_int_equal(lab_ladder_check(be, stencil, variants[i], 7, &error),
                         LAB_E_CHECK);
        print_message("%s\n", lab_error());
        assert_non_null(strstr(lab_error(), "race in "));
        assert_non_null(strstr(lab_error(), "kernels/stencil/"));
        wrong++;
    }
    assert_true(wrong > 0);
    lab_backend_close(be);
}
#else
enum { TRIES = 8 }; /* a race may be won by luck */

struct seen {
    int right;
    int64_t wrong;
};

static enum lab_status see(void *user, const struct lab_ladder_row *row)
{
    struct seen *s = user;
    if (!row->variant->wrong_on_purpose) {
        if (row->status)
            fail_msg("%s: %s", row->variant->name, row->reason);
        s->right++;
        return LAB_OK;
    }
    assert_int_equal(row->status, LAB_E_CHECK);
    assert_int_equal(row->repeats, 0);
    assert_true(row->compared > 0);
    s->wrong += row->wrong;
    return LAB_OK;
}

TEST_CASE(without_its_barrier_the_stencil_is_wrong)
{
    struct lab_backend *be = NULL;
    struct seen seen = {0};
    if (lab_backend_open(&be, LAB_GPU_BACKEND, 0)) {
        print_message("%s\n", lab_error());
        skip();
    }
    for (int i = 0; i < TRIES && seen.wrong == 0; i++) {
        seen = (struct seen){0};
        int variants =
            climb_at((struct lab_ladder_run){.backend = be,
                                             .ladder = operation_of("stencil"),
                                             .row = see,
                                             .user = &seen},
                     "1000003");
        assert_int_equal(seen.right, variants - 1);
    }
    lab_backend_close(be);
    if (seen.wrong == 0) {
        print_message("the race was won %d times: nothing was wrong\n", TRIES);
        skip();
    }
}

/* What a variant states of itself needs the device: its call has one. */
static enum lab_status see_note(void *user, const struct lab_ladder_row *row)
{
    int *seen = user;
    if (row->status == LAB_E_UNSUPPORTED)
        return LAB_OK;
    assert_ok(row->status);
    assert_true(row->note.workspace_bytes >= 0);
    *seen += 1;
    return LAB_OK;
}

TEST_CASE(notes_have_the_device)
{
    struct lab_backend *be = NULL;
    const struct lab_operation *conv = operation_of("conv");
    const struct lab_variant *all[64];
    const struct lab_variant *noted[64];
    int seen = 0;
    int n = 0;
    if (lab_backend_open(&be, LAB_GPU_BACKEND, 0)) {
        print_message("%s\n", lab_error());
        skip();
    }
    int count = lab_ladder_variants(be, conv, NULL, all, 64);
    for (int i = 0; i < count; i++) {
        if (all[i]->note)
            noted[n++] = all[i];
    }
    climb_at((struct lab_ladder_run){.backend = be,
                                     .ladder = conv,
                                     .variants = noted,
                                     .n_variants = n,
                                     .row = see_note,
                                     .user = &seen},
             "1x4x8x8x4x3");
    assert_true(seen >= 1); /* im2col needs no library */
    lab_backend_close(be);
}
#endif

/* ---- rows ---- */

static enum lab_status see_rows(void *user, const struct lab_ladder_row *row)
{
    int *right = user;
    struct lab_device_info any = {0};
    if (row->status == LAB_E_UNSUPPORTED && may_refuse(row->variant, &any))
        return LAB_OK;
    if (row->status)
        fail_msg("%s: %s", row->variant->name, row->reason);
    assert_true(row->sample_error <= 1);
    *right += 1;
    return LAB_OK;
}

/* In blocks of 16 rows more than the 65,535 that a grid may have in y: on the
 * simulator, which takes longer, for the first variant; on a GPU for all, in blocks of
 * 64. */
TEST_CASE(products_take_many_rows)
{
#ifdef LAB_GPU_SIMULATED
#define ROWS "1048577"
    enum { VARIANTS = 1 };
#else
#define ROWS "4194305"
    enum { VARIANTS = 64 };
#endif
    static const char *const products[][2] = {{"gemm_full", ROWS "x1x1x1x1x1"},
                                              {"gemm_int8", ROWS "x1x1"},
                                              {"gemm_sparse", ROWS "x1x32"}};
    struct lab_backend *be = NULL;
    if (lab_backend_open(&be, LAB_GPU_BACKEND, 0)) {
        print_message("%s\n", lab_error());
        skip();
    }
    for (int i = 0; i < 3; i++) {
        int right = 0;
        climb_at((struct lab_ladder_run){.backend = be,
                                         .ladder = operation_of(products[i][0]),
                                         .n_variants = VARIANTS,
                                         .row = see_rows,
                                         .user = &right},
                 products[i][1]);
        assert_true(right >= 1);
    }
    lab_backend_close(be);
}

/* The tensor core adds less exactly than fp32: the order must still hold. */
TEST_CASE(errors_fall_as_parts_are_added)
{
    struct lab_backend *be = NULL;
    struct lab_device_info info;
    struct split_errors seen;
    if (lab_backend_open(&be, LAB_GPU_BACKEND, 0)) {
        print_message("%s\n", lab_error());
        skip();
    }
    lab_backend_info(be, &info);
    split_errors_measure(be, "140x270x200", &seen);
    lab_backend_close(be);
    assert_true(seen.fp32 > 0 && seen.fp32 < 1e-6);
    if (seen.tf32 == 0) {
        print_message("%s has no tensor core for fp32\n", info.name);
        skip();
    }
    assert_true(seen.tf32 > 100 * seen.fp32);
    assert_true(seen.tf32 < 1e-3);
    if (seen.bf16[0] == 0) {
        print_message("%s is no Hopper GPU\n", info.name);
        skip();
    }
    split_errors_expect(&seen);
}

int main(int argc, char **argv)
{
    setenv("LAPENNA_LAB_MODULE_DIR", LAB_CUDA_MODULE_DIR, 0);
    if (argc > 1) {
        only = argv + 1;
        cmocka_set_test_filter("every_cuda_variant_is_right");
    }
    return test_run_all(NULL, NULL);
}
