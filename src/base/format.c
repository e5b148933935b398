/* Numbers and units as text, for every screen, table and report. There is one
 * rule for a duration, a size or a rate: three digits, and the unit that leaves
 * at least 1 before the point. */
#include "base/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/unknown.h"

static const char *unknown(char *out, size_t cap)
{
    snprintf(out, cap, LAB_NA);
    return out;
}

const char *lab_format_digits(double v, int digits, char *out, size_t cap)
{
    snprintf(out, cap, "%.*g", digits, isnan(v) ? (double)NAN : v);
    return out;
}

const char *lab_format_value(double v, int width, char *out, size_t cap)
{
    if (!isfinite(v))
        return lab_format_digits(v, 1, out, cap);
    width = width < 6 ? 6 : width;
    for (int digits = 9; digits > 0; digits--) {
        char text[40];
        snprintf(text, sizeof(text), "%.*g", digits, v);
        if ((int)strlen(text) > width && digits == 1) /* -0.0009 */
            snprintf(text, sizeof(text), "%.0e", v);
        if ((int)strlen(text) <= width || digits == 1) {
            snprintf(out, cap, "%s", text);
            break;
        }
    }
    return out;
}

/* v in the largest unit that keeps it at 1 or more, as it is rounded. */
static const char *scaled(double v, double base, const char *const *prefixes,
                          int count, const char *unit, char *out, size_t cap)
{
    int at = 0;
    if (isnan(v))
        return unknown(out, cap);
    for (; at + 1 < count && fabs(v) >= base - 0.5; at++)
        v /= base;
    int decimals = fabs(v) >= 99.95 ? 0 : fabs(v) >= 9.995 ? 1 : 2;
    if (at == 0 && v == floor(v))
        decimals = 0;
    snprintf(out, cap, "%.*f %s%s", decimals, v, prefixes[at], unit);
    return out;
}

const char *lab_format_ns(double ns, char *out, size_t cap)
{
    static const char *const units[] = {"n", "u", "m", ""};
    return scaled(ns, 1000, units, 4, "s", out, cap);
}

const char *lab_format_bytes(double bytes, char *out, size_t cap)
{
    static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti"};
    return scaled(bytes, 1024, units, 5, "B", out, cap);
}

const char *lab_format_size(double bytes, char *out, size_t cap)
{
    lab_format_bytes(bytes, out, cap);
    char *point = strchr(out, '.');
    if (point) {
        char *unit = point + strcspn(point, " ");
        char *end = unit;
        while (end[-1] == '0')
            end--;
        end -= end[-1] == '.';
        memmove(end, unit, strlen(unit) + 1);
    }
    return out;
}

const char *lab_format_energy(double joules, char *out, size_t cap)
{
    static const char *const units[] = {"n", "u", "m", "", "k", "M"};
    if (joules == 0)
        return scaled(0, 1000, units + 3, 3, "J", out, cap);
    return scaled(joules * 1e9, 1000, units, 6, "J", out, cap);
}

const char *lab_format_amount(double v, const char *unit, char *out, size_t cap)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    return scaled(v, 1000, prefixes, 6, unit, out, cap);
}

const char *lab_format_flop(double flop, char *out, size_t cap)
{
    return lab_format_amount(flop, "FLOP", out, cap);
}

const char *lab_format_flops(double flop, double ns, char *out, size_t cap)
{
    return lab_format_amount(ns > 0 ? flop / ns * 1e9 : (double)NAN, "FLOP/s",
                             out, cap);
}

const char *lab_format_rate(double bytes, double ns, char *out, size_t cap)
{
    return lab_format_amount(ns > 0 ? bytes / ns * 1e9 : (double)NAN, "B/s",
                             out, cap);
}

const char *lab_format_difference(double ns, char *out, size_t cap)
{
    char text[LAB_FORMAT_BYTES];
    if (isnan(ns))
        return unknown(out, cap);
    snprintf(out, cap, "%s%s", ns < 0 ? "-" : "+",
             lab_format_ns(fabs(ns), text, sizeof(text)));
    return out;
}

const char *lab_format_dims(const int64_t d[3], char *out, size_t cap)
{
    if (d[0] == LAB_UNKNOWN || d[1] == LAB_UNKNOWN || d[2] == LAB_UNKNOWN)
        return unknown(out, cap);
    size_t used = (size_t)snprintf(out, cap, "%" PRId64, d[0]);
    for (int i = 1; i < 3 && used < cap; i++)
        if (d[i] > 1 || (i == 1 && d[2] > 1))
            used += (size_t)snprintf(out + used, cap - used, "x%" PRId64, d[i]);
    return out;
}

const char *lab_format_share(double share, char *out, size_t cap)
{
    if (isnan(share))
        return unknown(out, cap);
    snprintf(out, cap, fabs(share) >= 0.9995 ? "%.0f %%" : "%.1f %%",
             share * 100);
    return out;
}

const char *lab_format_int(int64_t n, char *out, size_t cap)
{
    char digits[32];
    char text[48];
    size_t used = 0;
    if (n == LAB_UNKNOWN)
        return unknown(out, cap);
    snprintf(digits, sizeof(digits), "%" PRId64, n);
    size_t len = strlen(digits);
    for (size_t i = 0; i < len; i++) {
        text[used++] = digits[i];
        if (digits[i] != '-' && i + 1 < len && (len - 1 - i) % 3 == 0)
            text[used++] = ',';
    }
    text[used] = '\0';
    snprintf(out, cap, "%s", text);
    return out;
}

const char *lab_format_span(int64_t ns, char *out, size_t cap)
{
    int64_t s = (ns + 500000000) / 1000000000;
    if (ns < 0)
        return unknown(out, cap);
    if (s < 60)
        snprintf(out, cap, "%" PRId64 " s", s);
    else if (s < 3600)
        snprintf(out, cap, "%" PRId64 " min %" PRId64 " s", s / 60, s % 60);
    else
        snprintf(out, cap, "%" PRId64 " h %" PRId64 " min", s / 3600,
                 s % 3600 / 60);
    return out;
}

const char *lab_format_progress(int64_t done, int64_t total, int64_t elapsed_ns,
                                const char *unit, char *out, size_t cap)
{
    char a[LAB_FORMAT_BYTES];
    char b[LAB_FORMAT_BYTES];
    char left[LAB_FORMAT_BYTES];
    double rate = elapsed_ns > 0 ? (double)done * 1e9 / (double)elapsed_ns : 0;
    lab_format_int(done, a, sizeof(a));
    if (total <= 0) {
        snprintf(out, cap, "%s, %.3g %s/s", a, rate, unit);
        return out;
    }
    lab_format_int(total, b, sizeof(b));
    if (rate <= 0) {
        snprintf(out, cap, "%s/%s", a, b);
        return out;
    }
    double left_ns = (double)(total - done) / rate * 1e9;
    bool sane = left_ns >= 0 && left_ns < 9e18;
    snprintf(out, cap, "%s/%s, %.3g %s/s, %s left", a, b, rate, unit,
             lab_format_span(sane ? (int64_t)left_ns : -1, left, sizeof(left)));
    return out;
}
