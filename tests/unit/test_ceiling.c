/* Ceilings of the CPU: measured, in order, and refused where there is none.
 * How fast they are is for docs/measurements.md. */
#include "test.h"

#include "base/mem.h"
#include "backend/cpu/cpu_sets.h"
#include "engine/ceiling.h"

TEST_CASE(what_the_cpu_can_do)
{
    struct lab_backend *be = NULL;
    assert_ok(lab_backend_open(&be, "cpu", 0));
    for (int i = 0; i < LAB_CEILING_COUNT; i++) {
        struct lab_ceiling_result r;
        enum lab_ceiling c = (enum lab_ceiling)i;
        enum lab_status st = lab_backend_ceiling(be, c, &r);
        bool has = c == LAB_CEILING_COPY || c == LAB_CEILING_FP32 ||
                   c == LAB_CEILING_FMA;
        assert_int_equal(st, has ? LAB_OK : LAB_E_UNSUPPORTED);
        if (st)
            continue;
        assert_true(r.repeats >= 5 && r.size > 0);
        assert_true(r.worst > 0);
        assert_true(r.best >= r.median && r.median >= r.worst);
    }
    lab_backend_close(be);
}

/* Every chain is computed, in registers of whatever width. */
TEST_CASE(multiply_adds_are_done)
{
    float last[LAB_CPU_CHAINS];
    for (int64_t steps = 0; steps < 40; steps += 13) {
        double flop = lab_cpu_multiply_adds(steps, last);
        assert_true(flop == 2.0 * LAB_CPU_CHAINS * (double)steps);
        for (int i = 0; i < LAB_CPU_CHAINS; i++) {
            float v = (float)i;
            for (int64_t s = 0; s < steps; s++)
                v = fmaf(v, 0.5f, 1.0f);
            assert_float_equal(last[i], v, 1e-5);
        }
    }
}

TEST_CASE(memory_may_be_short)
{
    struct lab_backend *be = NULL;
    struct lab_ceiling_result r;
    assert_ok(lab_backend_open(&be, "cpu", 0));
    for (int nth = 1; nth <= 2; nth++) {
        lab_mem_fail_from(nth);
        enum lab_status st = lab_backend_ceiling(be, LAB_CEILING_COPY, &r);
        lab_mem_fail_from(0);
        assert_int_equal(st, LAB_E_NOMEM);
    }
    lab_backend_close(be);
}

TEST_CASE(a_backend_without_any)
{
    struct lab_backend *be = NULL;
    struct lab_ceiling_result r;
    assert_ok(lab_backend_open(&be, "null", 0));
    assert_int_equal(lab_backend_ceiling(be, LAB_CEILING_FP32, &r),
                     LAB_E_UNSUPPORTED);
    lab_backend_close(be);
}

TEST_CASE(names_are_stable)
{
    static const char *const names[] = {"copy", "fp32", "tf32", "bf16",
                                        "fp16", "fma",  "int8"};
    for (int i = 0; i < LAB_CEILING_COUNT; i++) {
        assert_string_equal(lab_ceiling_name((enum lab_ceiling)i), names[i]);
        assert_true(lab_ceiling_text((enum lab_ceiling)i)[0] != '\0');
    }
    assert_string_equal(lab_ceiling_unit(LAB_CEILING_COPY), "B/s");
    assert_string_equal(lab_ceiling_name(LAB_CEILING_COUNT), "");
}

RUN_TESTS()
