/* base/format.h -- numbers as people read them. Pure; every function writes to
 * `out`, always ends it with NUL, and returns it. Unknown (LAB_UNKNOWN, NaN
 * where stated) reads "n/a". Bytes are ASCII. Threads: any. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"
#include "base/unknown.h"

enum { LAB_FORMAT_BYTES = 32, LAB_FORMAT_DIMS = 64 };

LAB_C_BEGIN
/* A value of a tensor, at most `width` characters (at least 6, and 7 of a negative one
 * with an exponent of three digits, which fp32 has not): as many digits as fit, "nan",
 * "inf", "-inf". */
const char *lab_format_value(double v, int width, char *out, size_t cap);
/* `digits` significant digits as %g has them; "nan" has no sign. */
const char *lab_format_digits(double v, int digits, char *out, size_t cap);
/* Three digits and a unit: "1.23 ms", "12.3 us", "412 ns". NaN: n/a. */
const char *lab_format_ns(double ns, char *out, size_t cap);
const char *lab_format_bytes(double bytes, char *out, size_t cap); /* KiB */
/* The same without zeros behind the point, for a size that was chosen: "72 MiB". */
const char *lab_format_size(double bytes, char *out, size_t cap);
/* "1.23 kJ", "12.3 mJ". */
const char *lab_format_energy(double joules, char *out, size_t cap);
const char *lab_format_flop(double flop, char *out, size_t cap);
/* 4.2e12 and "B/s": "4.20 TB/s", by powers of 1000. */
const char *lab_format_amount(double v, const char *unit, char *out,
                              size_t cap);
/* With its sign: "+12.3 us", "-1.00 us". */
const char *lab_format_difference(double ns, char *out, size_t cap);
/* Sides of a grid or block, "4x2x3"; sides of 1 at the end are left out. */
const char *lab_format_dims(const int64_t d[3], char *out, size_t cap);
/* "12.3 GFLOP/s", "4.5 GB/s" (10^9 bytes). */
const char *lab_format_flops(double flop, double ns, char *out, size_t cap);
const char *lab_format_rate(double bytes, double ns, char *out, size_t cap);
/* "12.3 %"; `share` is 0..1. NaN: n/a. */
const char *lab_format_share(double share, char *out, size_t cap);
/* "1,234,567", or n/a. */
const char *lab_format_int(int64_t n, char *out, size_t cap);
/* "5 s", "3 min 20 s", "2 h 5 min". */
const char *lab_format_span(int64_t ns, char *out, size_t cap);
/* "120/500, 24.1 it/s, 16 s left". total <= 0: without end. */
const char *lab_format_progress(int64_t done, int64_t total, int64_t elapsed_ns,
                                const char *unit, char *out, size_t cap);
LAB_C_END

/* The text in a buffer of the enclosing block. */
#define LAB_VALUE_TEXT(v, width)                                               \
    lab_format_value(v, width, (char[LAB_FORMAT_BYTES]){0}, LAB_FORMAT_BYTES)
#define LAB_DIGITS_TEXT(v, digits)                                             \
    lab_format_digits(v, digits, (char[LAB_FORMAT_BYTES]){0}, LAB_FORMAT_BYTES)
#define LAB_NS_TEXT(ns)                                                        \
    lab_format_ns(ns, (char[LAB_FORMAT_BYTES]){0}, LAB_FORMAT_BYTES)
#define LAB_BYTES_TEXT(bytes)                                                  \
    lab_format_bytes(bytes, (char[LAB_FORMAT_BYTES]){0}, LAB_FORMAT_BYTES)
#define LAB_SIZE_TEXT(bytes)                                                   \
    lab_format_size(bytes, (char[LAB_FORMAT_BYTES]){0}, LAB_FORMAT_BYTES)
#define LAB_ENERGY_TEXT(joules)                                                \
    lab_format_energy(joules, (char[LAB_FORMAT_BYTES]){0}, LAB_FORMAT_BYTES)
#define LAB_AMOUNT_TEXT(v, unit)                                               \
    lab_format_amount(v, unit, (char[LAB_FORMAT_BYTES]){0}, LAB_FORMAT_BYTES)
#define LAB_DIFFERENCE_TEXT(ns)                                                \
    lab_format_difference(ns, (char[LAB_FORMAT_BYTES]){0}, LAB_FORMAT_BYTES)
#define LAB_SHARE_TEXT(share)                                                  \
    lab_format_share(share, (char[LAB_FORMAT_BYTES]){0}, LAB_FORMAT_BYTES)
#define LAB_FLOP_TEXT(flop)                                                    \
    lab_format_flop(flop, (char[LAB_FORMAT_BYTES]){0}, LAB_FORMAT_BYTES)
#define LAB_INT_TEXT(n)                                                        \
    lab_format_int(n, (char[LAB_FORMAT_BYTES]){0}, LAB_FORMAT_BYTES)
#define LAB_DIMS_TEXT(d)                                                       \
    lab_format_dims(d, (char[LAB_FORMAT_DIMS]){0}, LAB_FORMAT_DIMS)
