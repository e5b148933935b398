/* Every CUDA rung of every ladder against the reference in double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "engine/ladder.h"

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
        for (int r = 0, own = n; r < own; r++)
            if (rungs[r]->tuned)
                n += lab_ladder_candidates(be, lab_ladder_at(i), rungs[r],
                                           rungs + n, 96 - n);
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
    assert_true(checked >= 37);
    lab_backend_close(be);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cuda_rung_is_right),
    };
    setenv("LAPENNA_LAB_MODULE_DIR", LAB_CUDA_MODULE_DIR, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
