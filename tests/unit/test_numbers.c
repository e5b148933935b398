/* 16-bit numbers: every pattern there and back, and every place between two
 * neighbours rounded to the nearer, ties to the even one. */
#include "test.h"

#include "common/kernel.h"
#include "common/number.h"

struct half {
    const char *name;
    enum lab_dtype dtype;
    uint16_t (*of)(double v);
    float (*value)(uint16_t bits);
    int infinity;
};

static const struct half halves[] = {
    {"f16", LAB_F16, lab_f16_of, lab_f16_value, 0x7c00},
    {"bf16", LAB_BFLOAT16, lab_bf16_of, lab_bf16_value, 0x7f80}};
enum { HALVES = sizeof(halves) / sizeof(halves[0]) };

TEST_CASE(every_pattern_comes_back)
{
    for (int h = 0; h < HALVES; h++) {
        for (int bits = 0; bits < 65536; bits++) {
            float v = halves[h].value((uint16_t)bits);
            uint16_t back = halves[h].of((double)v);
            bool nan = (bits & 0x7fff) > halves[h].infinity;
            assert_int_equal(isnan(v) != 0, nan);
            if (nan) {
                assert_true((back & 0x7fff) > halves[h].infinity);
                assert_int_equal(back & 0x8000, bits & 0x8000);
            } else if (back != bits) {
                fail_msg("%s %04x is %g, which is %04x", halves[h].name,
                         (unsigned)bits, (double)v, (unsigned)back);
            }
        }
    }
}

/* Between a pattern and the next: the middle goes to the even one, a hair off
 * to the nearer. The last step is to infinity. */
TEST_CASE(between_two_the_nearer)
{
    for (int h = 0; h < HALVES; h++) {
        for (int bits = 0; bits < halves[h].infinity; bits++) {
            double low = (double)halves[h].value((uint16_t)bits);
            double high = (double)halves[h].value((uint16_t)(bits + 1));
            if (isinf(high)) /* where the next number would be */
                high = 2 * low - (double)halves[h].value((uint16_t)(bits - 1));
            double middle = (low + high) / 2;
            int even = bits & 1 ? bits + 1 : bits;
            assert_int_equal(halves[h].of(middle), even);
            assert_int_equal(halves[h].of(nextafter(middle, 0)), bits);
            assert_int_equal(halves[h].of(nextafter(middle, 1e300)), bits + 1);
            assert_int_equal(halves[h].of(-middle), even | 0x8000);
        }
    }
}

TEST_CASE(known_values)
{
    assert_int_equal(lab_f16_of(1), 0x3c00);
    assert_int_equal(lab_f16_of(65504), 0x7bff);
    assert_int_equal(lab_f16_of(65520), 0x7c00);
    assert_int_equal(lab_f16_of(ldexp(1, -24)), 1);
    assert_int_equal(lab_f16_of(ldexp(1, -25)), 0); /* a tie */
    assert_int_equal(lab_f16_of(0.1), 0x2e66);
    assert_int_equal(lab_f16_of(1e300), 0x7c00);
    assert_int_equal(lab_bf16_of(1), 0x3f80);
    assert_int_equal(lab_bf16_of(-2), 0xc000);
    assert_int_equal(lab_bf16_of(0.1), 0x3dcd);
    assert_int_equal(lab_bf16_of(3.4e38), 0x7f80);
    assert_int_equal(lab_bf16_of(-0.0), 0x8000);
    assert_int_equal(lab_f16_of(-INFINITY), 0xfc00);
}

/* Over fp32 this would be rounded twice: 1 + 2^-11 + 2^-30 is a tie there. */
TEST_CASE(rounds_once)
{
    assert_int_equal(lab_f16_of(1 + ldexp(1, -11) + ldexp(1, -30)), 0x3c01);
    assert_int_equal(lab_bf16_of(1 + ldexp(1, -8) + ldexp(1, -40)), 0x3f81);
}

/* Every kind of NaN, the one that CUDA's arithmetic makes (0x7fffffff) too. */
TEST_CASE(nan_stays_nan)
{
    static const uint32_t nans[] = {0x7fffffff, 0xffffffff, 0x7fc00000,
                                    0xffc00000, 0x7f800001, 0x7fbfffff};
    for (size_t i = 0; i < sizeof(nans) / sizeof(nans[0]); i++) {
        float v;
        memcpy(&v, &nans[i], sizeof(v));
        assert_true(isnan(lab_f16_value(lab_f16_of(v))));
        assert_true(isnan(lab_bf16_value(lab_bf16_of(v))));
        assert_int_equal(lab_f16_of(v) >> 15, nans[i] >> 31);
        assert_int_equal(lab_bf16_of(v) >> 15, nans[i] >> 31);
        for (int d = 0; d < LAB_DTYPE_COUNT; d++) {
            double stored[1];
            if (d == LAB_I32)
                continue;
            lab_number_put(stored, (enum lab_dtype)d, 0, v);
            assert_true(isnan(lab_number_at(stored, (enum lab_dtype)d, 0)));
        }
    }
}

TEST_CASE(dtypes)
{
    unsigned char memory[64];
    assert_string_equal(lab_dtype_name(LAB_F16), "f16");
    assert_string_equal(lab_dtype_name(LAB_BFLOAT16), "bf16");
    for (int d = 0; d < LAB_DTYPE_COUNT; d++) {
        enum lab_dtype dtype = (enum lab_dtype)d;
        memset(memory, 0xff, sizeof(memory));
        lab_number_put(memory, dtype, 1, -3);
        assert_true(lab_number_at(memory, dtype, 1) == -3);
        size_t each = lab_dtype_bytes(dtype);
        assert_int_equal(memory[each - 1], 0xff);
        assert_int_equal(memory[2 * each], 0xff);
    }
}

RUN_TESTS()
