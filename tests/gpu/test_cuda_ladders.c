/* Every CUDA rung of every ladder against the reference in double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "engine/ladder.h"
#include "split_errors.h"

static void every_cuda_rung_is_right(void **state)
{
    struct lab_backend *be = NULL;
    int checked = 0;
    (void)state;
    if (lab_backend_open(&be, "cuda", 0)) {
        print_message("%s\n", lab_error());
        skip();
    }
    for (int i = 0; lab_ladder_at(i); i++) {
        const struct lab_rung *rungs[96];
        int n = lab_ladder_rungs(be, lab_ladder_at(i), rungs, 96);
        for (int r = 0; r < n; r++) {
            double error = -1;
            enum lab_status st =
                lab_ladder_check(be, lab_ladder_at(i), rungs[r], 7, &error);
            bool may = rungs[r]->needs || rungs[r]->capability;
            if (st && !(may && st == LAB_E_UNSUPPORTED))
                fail_msg("%s: %s", rungs[r]->name, lab_error());
            checked += st == LAB_OK;
        }
    }
    assert_true(checked >= 24);
    lab_backend_close(be);
}

/* The tensor core adds less exactly than fp32: the order must still hold. */
static void errors_fall_as_parts_are_added(void **state)
{
    struct lab_backend *be = NULL;
    struct lab_device_info info;
    struct split_errors seen;
    (void)state;
    if (lab_backend_open(&be, "cuda", 0)) {
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cuda_rung_is_right),
        cmocka_unit_test(errors_fall_as_parts_are_added),
    };
    setenv("LAPENNA_LAB_MODULE_DIR", LAB_CUDA_MODULE_DIR, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
