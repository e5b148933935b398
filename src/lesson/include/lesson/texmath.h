/* lesson/texmath.h -- formulas as text.
 *
 * Turns the TeX of a $...$ into Unicode that a terminal can show in one line:
 * \sum_{n} x_{n,3} is "∑ₙ x_{n,3}", \frac{a+b}{2} is "(a+b)/2", \hat{x} is "x̂".
 * What has no Unicode form stays readable: subscripts that cannot be lowered
 * are written _{...}, unknown commands by their name. Never fails on bad TeX:
 * it shows what is there. Pure. Threads: any. */
#pragma once
#include <stddef.h>
#include "base/status.h"
#include "base/str.h"

LAB_C_BEGIN
/* Appends the formula tex[n]; memory failures are in out->failed. */
void lab_texmath_add(struct lab_str *out, const char *tex, size_t n);
LAB_C_END
