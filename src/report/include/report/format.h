/* ui/format.h -- numbers as people read them. Pure; every function writes to
 * `out`, always ends it with NUL, and returns it. Unknown (LAB_UNKNOWN, NaN
 * where said so) reads "n/a". Bytes are ASCII. Threads: any. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"

enum { LAB_FORMAT_BYTES = 32 };

LAB_C_BEGIN
/* A value of a tensor, at most `width` characters (at least 6): as many digits
 * as fit, "nan", "inf", "-inf". */
const char *lab_format_value(double v, int width, char *out, size_t cap);
/* Four significant digits and a unit: "1.234 ms". NaN: n/a. */
const char *lab_format_ns(double ns, char *out, size_t cap);
const char *lab_format_bytes(double bytes, char *out, size_t cap); /* KiB */
const char *lab_format_flop(double flop, char *out, size_t cap);
/* "12.3 GFLOP/s", "4.5 GB/s" (10^9 bytes). */
const char *lab_format_flops(double flop, double ns, char *out, size_t cap);
const char *lab_format_rate(double bytes, double ns, char *out, size_t cap);
/* "12.3 %"; `share` is 0..1. NaN: n/a. */
const char *lab_format_share(double share, char *out, size_t cap);
/* "1,234,567", or n/a. */
const char *lab_format_int(int64_t n, char *out, size_t cap);
/* "[10,16]"; "[]" for a scalar. */
const char *lab_format_shape(const int64_t *shape, int rank, char *out,
                             size_t cap);
/* "5 s", "3 min 20 s", "2 h 5 min". */
const char *lab_format_span(int64_t ns, char *out, size_t cap);
/* "120/500, 24.1 it/s, 16 s left". total <= 0: without end. */
const char *lab_format_progress(int64_t done, int64_t total, int64_t elapsed_ns,
                                const char *unit, char *out, size_t cap);
LAB_C_END
