/* kernels/common/number.h -- 16-bit floating point on the host.
 *
 *   f16   IEEE 754 binary16: 5 bits of exponent, 10 of fraction; largest number
 *         65504, smallest above zero 2^-24
 *   bf16  the upper half of an fp32: 8 bits of exponent, 7 of fraction
 *
 * Rounding goes to the nearest, ties to even, from a double in one step: there
 * is no second rounding over fp32. What is too large becomes an infinity, a NaN
 * stays one (quiet, its sign kept). Any thread. */
#pragma once
#include <stdint.h>
#include "base/status.h"

LAB_C_BEGIN
uint16_t lab_f16_of(double v);
uint16_t lab_bf16_of(double v);
float lab_f16_value(uint16_t bits); /* exact */
float lab_bf16_value(uint16_t bits);
LAB_C_END
